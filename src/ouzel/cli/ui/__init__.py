"""What people see of a command: progress, figures, tables, and how it is interrupted."""
