"""Models as headers of C99 for devices of kilobytes, and states that come back from there."""
