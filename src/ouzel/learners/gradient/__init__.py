"""Gradient methods: one step size for all features, one a feature, or a metric over them."""
