"""What is minimised: losses, penalties and step sizes, each a NamedTuple of its parameters.

Importing this loads no kernels: the names of losses stand here, so that help and completion need not wait for them.
"""

LOSSES_OF_CLASSES = {
    "logistic": "Logistic",
    "hinge": "Hinge",
    "smoothed-hinge": "SmoothedHinge",
    "squared-hinge": "SquaredHinge",
}
"""Losses whose targets are -1 and +1: classes of `losses.py` by the names that users give them."""

LOSSES_OF_NUMBERS = {
    "squared": "Squared",
    "absolute": "Absolute",
    "quantile": "Quantile",
    "poisson": "Poisson",
}
"""Losses whose targets are numbers, likewise."""
