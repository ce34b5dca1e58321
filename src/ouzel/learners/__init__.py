"""Learners: one paper's algorithm a file; `catalogue` names them all."""
