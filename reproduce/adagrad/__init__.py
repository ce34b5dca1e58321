"""Experiments of Duchi, Hazan & Singer (2011), "Adaptive Subgradient Methods"."""
