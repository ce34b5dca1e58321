"""Experiments of Tai, Sharan, Bailis & Valiant (2018), "Sketching Linear Classifiers over Data Streams"."""
