"""What a service can be asked, a handler for each; thin over `Served`."""
