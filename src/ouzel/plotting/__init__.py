"""Axes, lines and files: what every plot is drawn with."""
