"""Streaming analyses by linear models within a byte budget: explanations, deltoids, mutual information."""
