"""Crosses of features: products of a feature of one column, or namespace, with one of another."""
