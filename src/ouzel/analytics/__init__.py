"""Questions about streams that a linear model within a byte budget answers."""
