"""Streaming explanation: what outliers have in common."""
