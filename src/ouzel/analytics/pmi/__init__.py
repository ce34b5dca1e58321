"""Pointwise mutual information of pairs in a stream."""
