"""Plots: everything that is drawn."""
