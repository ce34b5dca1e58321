"""Numbers as categories, by bins of like size, and as hinges, by edges that the first examples tell."""
