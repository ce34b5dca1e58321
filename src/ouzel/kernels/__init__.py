"""Kernels: compiling, vector instructions and sorting, below everything that computes."""
