"""Relative deltoids: what one stream has and another has not."""
