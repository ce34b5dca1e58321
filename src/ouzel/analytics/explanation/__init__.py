"""Streaming explanation: attributes that outliers have in common."""
