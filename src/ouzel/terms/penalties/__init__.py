"""Penalties and domains: proximal maps over single weights and whole vectors, and projections."""
