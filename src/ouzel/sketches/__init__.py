"""Sketches: small summaries of long streams, of use on their own."""
