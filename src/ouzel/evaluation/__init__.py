"""Evaluation: progressive validation, metrics, and comparing learners in one reading."""
