"""Time and bytes of a header of C (`ouzel export MODEL model.h`), on this machine.

`python benchmarks/device.py FILE` learns a file but for its first rows, compiles the header with gcc -O2, and counts
ticks of the processor's clock (rdtsc) for each of those rows, predicted and learnt: the least of 25 rounds. Code and
tables are those of gcc -Os.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import ouzel
from ouzel.exporting.export import export
from ouzel.model.model import Model

ROWS = 1000
LEARNERS = [("awm", {"budget": "8KB"}), ("awm", {"budget": "1KB"}), ("adagrad", {}), ("ftrl-proximal", {})]
BY_INSTRUCTION = ["-DOUZEL_SQRT=__builtin_sqrt", "-DOUZEL_SQRTF=__builtin_sqrtf", "-fno-math-errno"]
TIMED = """
#include "model.h"
#include <stdio.h>
#include <x86intrin.h>

static ouzel_feature x[1000][4096];
static uint32_t n[1000];
static int label[1000];
static ouzel_state state;

int main(void) {
    unsigned long long least[2] = {~0ull, ~0ull};
    volatile double kept = 0.0;
    uint32_t rows = 0;
    while (rows < 1000 && fread(&n[rows], 4, 1, stdin) == 1) {
        if (fread(&label[rows], 4, 1, stdin) != 1 || fread(x[rows], 8, n[rows], stdin) != n[rows]) {
            return 2;
        }
        rows++;
    }
    for (int round = 0; round < 25; round++) {
        unsigned long long begun, between, ended;
        state = ouzel_start;
        begun = __rdtsc();
        for (uint32_t i = 0; i < rows; i++) {
            kept += ouzel_margin(&state, x[i], n[i]);
        }
        between = __rdtsc();
        for (uint32_t i = 0; i < rows; i++) {
            ouzel_learn(&state, x[i], n[i], label[i], 1.0f, NULL);
        }
        ended = __rdtsc();
        least[0] = between - begun < least[0] ? between - begun : least[0];
        least[1] = ended - between < least[1] ? ended - between : least[1];
    }
    printf("%.0f %.0f %u", (double)least[0] / rows, (double)least[1] / rows, (unsigned)sizeof(ouzel_state));
    return 0;
}
"""
BARE = """
#include "model.h"

double margin(const ouzel_state *state, const ouzel_feature *x, size_t n) {
    return ouzel_margin(state, x, n);
}

void learn(ouzel_state *state, const ouzel_feature *x, size_t n, int label) {
    ouzel_learn(state, x, n, label, 1.0f, NULL);
}
"""


def sent(block):
    """The first rows of a block as the program reads them, and the mean number of features."""
    parts, ends = [], block.offsets[: ROWS + 1].astype(int)
    for k in range(ROWS):
        here = slice(ends[k], ends[k + 1])
        features = np.empty(here.stop - here.start, [("id", "<u4"), ("value", "<f4")])
        features["id"], features["value"] = block.indices[here], block.values[here]
        parts += [np.uint32(len(features)).tobytes(), np.int32(block.labels[k] > 0).tobytes(), features.tobytes()]
    return b"".join(parts), (ends[-1] - ends[0]) / ROWS


def main(path):
    """Print a line for each learner, and for each way to take roots."""
    first, *rest = ouzel.read(path)
    data, size = sent(first)
    print(f"{size:.1f} features an example of {Path(path).name}")
    print("learner        budget  roots        ticks: predict    learn  code and tables    state")
    for name, settings in LEARNERS:
        model = Model(name, **settings)
        for block in [first.select(np.arange(ROWS, first.rows)), *rest]:
            model.learn(block)
        for options in [[], BY_INSTRUCTION] if name != "awm" else [[]]:
            with tempfile.TemporaryDirectory() as folder:
                line(model, name, settings.get("budget", "-"), options, data, Path(folder))


def line(model, name, budget, options, data, folder):
    """Print the line of one header."""
    export(model, folder / "model.h")
    (folder / "timed.c").write_text(TIMED)
    (folder / "bare.c").write_text(BARE)
    gcc = ["gcc", "-std=c99", f"-I{folder}", *options]
    subprocess.run([*gcc, "-O2", folder / "timed.c", "-o", folder / "timed", "-lm"], check=True)
    subprocess.run([*gcc, "-Os", "-c", folder / "bare.c", "-o", folder / "bare.o"], check=True)
    ran = subprocess.run([folder / "timed"], input=data, capture_output=True, check=True)
    predict, learn, state = ran.stdout.decode().split()
    size = subprocess.run(["size", folder / "bare.o"], capture_output=True, text=True, check=True)
    code = int(size.stdout.split("\n")[1].split()[0])
    roots = "-" if name == "awm" else "instruction" if options else "integers"
    print(f"{name:<15}{budget:<8}{roots:<12}{predict:>15}{learn:>9}{code:>17,}{int(state):>9,}")


if __name__ == "__main__":
    main(sys.argv[1])
