"""Streams: files, pipes and data in memory as blocks of examples."""
