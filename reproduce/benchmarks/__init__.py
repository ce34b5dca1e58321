"""Public benchmarks of online learners: figures of others' models compared with the default."""
