"""A training that can be stopped and resumed: what was read, what is on disk."""
