"""Mistake-driven and margin-driven rules of several classes, of first order."""
