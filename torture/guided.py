"""Coverage-guided fuzzing of one target by Atheris, where it is installed: `python -m torture guided csv --minutes 5`.

Kernels run as Python here (NUMBA_DISABLE_JIT=1), so that their branches are seen too, and an index out of bounds, which
compiled code would follow into foreign memory, is an IndexError.
"""

from __future__ import annotations

import os
import sys
import warnings
import zlib
from pathlib import Path

ABSENT = "Atheris is not installed; `pip install atheris` has wheels for Linux and Python 3.11 to 3.13"


def fuzz(target_name: str, seconds: int) -> None:
    """Give this process to libFuzzer for so long; failures are kept as files that `replay` takes."""
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    warnings.simplefilter("ignore")  # hashes overflow by design; NumPy says so of what kernels do in silence
    try:
        import atheris
    except ImportError:
        sys.exit(f"torture: {ABSENT}")
    with atheris.instrument_imports(include=["ouzel"], enable_loader_override=False):
        import ouzel.estimators
        import ouzel.model.model
        import ouzel.streams.formats.batches
        import ouzel.streams.formats.idx
        import ouzel.streams.formats.svmlight
        import ouzel.streams.formats.vw  # noqa: F401
    from torture.journal import FAILURES, HERE, keep
    from torture.names import Name
    from torture.targets import TARGETS
    from torture.targets.base import SCRATCH
    from torture.verdicts import FINE, judge

    target = TARGETS[target_name]()
    target.start()
    folder = os.environ[SCRATCH]
    corpus = HERE / "corpus" / target_name
    corpus.mkdir(parents=True, exist_ok=True)
    for seed in range(40):
        Path(folder, f"seed-{seed}").write_bytes(target.data(Name(target_name, (seed,))))
    known: set[str] = set()

    def once(data: bytes) -> None:
        name = Name(target_name, (zlib.crc32(data),))
        verdict = judge(lambda: target.run(data, name.randomness("run")))
        if verdict.kind not in FINE and verdict.signature not in known:
            known.add(verdict.signature)
            print(f"{verdict.kind}: {verdict.signature}\n  {keep(name, data)}", flush=True)

    limits = [f"-max_total_time={seconds}", "-max_len=4096", "-timeout=60", "-rss_limit_mb=2048", "-verbosity=0"]
    failures = FAILURES / target_name
    failures.mkdir(parents=True, exist_ok=True)
    limits.append(f"-artifact_prefix={failures}/")
    atheris.Setup([sys.argv[0], *limits, str(corpus), folder], once)
    atheris.Fuzz()


if __name__ == "__main__":
    fuzz(sys.argv[1], int(float(sys.argv[2])))
