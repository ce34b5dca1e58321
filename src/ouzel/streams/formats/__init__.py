"""Formats of examples: their catalogue, and a reader and writer of each."""
