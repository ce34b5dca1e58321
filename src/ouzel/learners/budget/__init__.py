"""Linear classifiers within a byte budget, and what they are measured by."""
