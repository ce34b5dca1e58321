"""Readers of tables: CSV, Parquet, Arrow and Feather."""
