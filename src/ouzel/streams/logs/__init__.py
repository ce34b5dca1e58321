"""Logs (Kafka, Redis, NATS, growing tables) as streams of blocks, read from the position that a model stores."""
