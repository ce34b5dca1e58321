"""Readers of line formats."""
