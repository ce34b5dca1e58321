"""Where bytes come from: files, pipes, archives, addresses, databases; chunks, prefetch."""
