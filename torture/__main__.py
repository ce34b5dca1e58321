"""`python -m torture`."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # workers are forked, which a process with threads should not be
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "agg")

from torture.command import main

main()
