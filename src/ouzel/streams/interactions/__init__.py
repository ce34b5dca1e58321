"""Features made of others: crosses, n-grams, bins and hinges; one transform makes them of every stream."""
