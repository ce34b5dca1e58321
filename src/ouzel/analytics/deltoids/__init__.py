"""Relative deltoids: items that are far more frequent in one stream than in another."""
