/* A gateway that learns which addresses are malicious, in the 8 KB of its header: what an interrupt would call. */
#include "gate.h"
#include <stdio.h>

static gate_state state; /* in RAM; gate_start stays in flash */

static void put(void *to, uint8_t byte) {
    putc(byte, (FILE *)to); /* on a device: a byte to its radio, or to flash */
}

int main(int count, char **words) {
    FILE *file = count > 1 ? fopen(words[1], "wb") : NULL;
    int right = 0;
    state = gate_start;
    for (int k = 0; k < 200; k++) {
        int malicious = k % 3 == 0;
        gate_feature x[3]; /* a place for each feature that an example can have */
        size_t n = 0;
        x[n].id = gate_word_id("path", malicious ? "login" : "news");
        x[n++].value = 1.0f;
        x[n].id = gate_word_id("host", k % 2 ? "a.example" : "b.example");
        x[n++].value = 1.0f;
        x[n].id = gate_id("length");
        x[n++].value = (float)(k % 7);
        n = gate_sort(x, n);
        right += gate_predict(&state, x, n) == malicious;
        gate_learn(&state, x, n, malicious, 1.0f, NULL);
    }
    printf("%d of 200 right, %u bytes of state, labels %s and %s\n", right, (unsigned)sizeof(gate_state), gate_labels[0],
           gate_labels[1]);
    if (file) {
        gate_save(&state, put, file);
        fclose(file);
    }
    return 0;
}
