"""What each command prints with --json, as JSON schemas."""
