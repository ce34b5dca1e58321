"""User interface of commands: progress, metrics, tables and interruption."""
