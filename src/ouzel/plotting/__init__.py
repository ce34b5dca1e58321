"""Axes, lines and files of all plots."""
