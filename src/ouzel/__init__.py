"""Ouzel learns linear models from data streams."""
