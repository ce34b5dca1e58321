"""Derived features: crosses, n-grams, bins and hinges, made by transforms behind all readers."""
