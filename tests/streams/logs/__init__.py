"""Logs read from real servers, which each test starts and kills."""
