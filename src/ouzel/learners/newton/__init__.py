"""Online Newton steps, with the whole matrix or a sketch of it."""
