"""Sketches of a matrix whose rows are a stream: its leading directions."""
