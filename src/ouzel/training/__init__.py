"""Training that can be stopped and resumed: sessions, and the records of sources and logs in a model file."""
