"""Experiments of Luo et al. (2016), "Efficient Second Order Online Learning by Sketching"."""
