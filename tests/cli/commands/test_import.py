"""`ouzel import`, of what a device has learnt from the header that `ouzel export` wrote."""

import subprocess

from tests.exporting.device.compiled import compile_c

PROGRAM = """
#include "gate.h"
#include <stdio.h>

static void put(void *to, uint8_t byte) {
    putc(byte, (FILE *)to);
}

int main(int count, char **words) {
    static gate_state state;
    gate_feature x[2] = {{GATE_ID, 1.0f}, {2, -1.0f}};
    FILE *file = fopen(words[count - 1], "wb");
    state = gate_start;
    for (int k = 0; k < 5; k++) {
        gate_learn(&state, x, gate_sort(x, 2), k % 2, 1.0f, NULL);
    }
    gate_save(&state, put, file);
    fclose(file);
    return 0;
}
"""


def test_what_a_device_has_learnt_is_a_model_again(ouzel, small, tmp_path):
    ouzel("train", small, "--learner", "awm", "--budget", "1KB", "--model", tmp_path / "m")
    told = ouzel("export", tmp_path / "m", tmp_path / "gate.h", "--prefix", "gate").out
    assert "which gives gate_margins, gate_predict" in told
    assert "it goes on learning on the device" in told
    (tmp_path / "p.c").write_text(PROGRAM.replace("GATE_ID", "1"))
    program = compile_c(tmp_path / "p.c", tmp_path / "p", f"-I{tmp_path}")
    subprocess.run([str(program), str(tmp_path / "state.bin")], check=True)

    ran = ouzel("import", tmp_path / "m", tmp_path / "state.bin", tmp_path / "back", "--json")

    assert ran.json["examples"] == 5
    assert ouzel("info", tmp_path / "back", "--json").json["examples"] == 1005
    assert "5 examples that" in ouzel("import", tmp_path / "m", tmp_path / "state.bin", tmp_path / "back").out
    assert ouzel("predict", tmp_path / "back", small).status == 0


def test_what_cannot_come_back_is_one_line(ouzel, small, tmp_path):
    ouzel("train", small, "--learner", "awm", "--budget", "1KB", "--model", tmp_path / "m")
    (tmp_path / "state.bin").write_bytes(b"nothing")

    ran = ouzel("import", tmp_path / "m", tmp_path / "state.bin", tmp_path / "back")

    assert ran.status == 2
    assert ran.err.count("\n") == 1
    assert "begins otherwise" in ran.err
    assert not (tmp_path / "back").exists()
