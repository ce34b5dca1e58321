"""Columns of tables as rows of examples: schema, cells, words, dates, dictionaries."""
