"""Logs as streams: what a broker keeps in order can be read again from any place, so a model can note its own."""
