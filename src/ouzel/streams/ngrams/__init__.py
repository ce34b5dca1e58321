"""N-grams of words: those of a text, or of a namespace, together with the ones that follow."""
