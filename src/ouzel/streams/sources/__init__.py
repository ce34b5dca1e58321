"""Where bytes come from: files, pipes, archives."""
