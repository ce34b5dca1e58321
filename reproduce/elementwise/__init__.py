"""Experiments of the paper on the online Newton step by element-wise multiplication."""
