"""Compiled parts that readers share: numbers, delimiters, hashes of names, names seen before, the order of a row."""
