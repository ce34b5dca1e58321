"""Rules of second order for several classes: a Gaussian over the weights."""
