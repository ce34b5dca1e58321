"""Handlers of requests, one for each endpoint; they are thin layers over `Served`."""
