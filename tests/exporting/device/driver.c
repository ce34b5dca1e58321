/* Reads examples from stdin, learns them and writes their margins to stdout; then the state to the file told. */
#include "model.h"
#include <stdio.h>

static void put(void *to, uint8_t byte) {
    putc(byte, (FILE *)to);
}

static int get(void *from) {
    return getc((FILE *)from);
}

int main(int count, char **words) {
    static ouzel_feature x[1 << 16];
    double margins[OUZEL_COLUMNS];
    uint32_t n;
#ifdef LEARNS
    static ouzel_state state;
    state = ouzel_start;
    if (count > 2) {
        FILE *file = fopen(words[2], "rb");
        if (!ouzel_load(&state, get, file)) {
            return 3;
        }
        fclose(file);
    }
#else
    (void)get, (void)put, (void)count, (void)words;
#endif
    while (fread(&n, 4, 1, stdin) == 1) {
        double label;
        float importance;
        if (fread(&label, 8, 1, stdin) != 1 || fread(&importance, 4, 1, stdin) != 1 || fread(x, 8, n, stdin) != n) {
            return 2;
        }
        n = (uint32_t)ouzel_sort(x, n);
#ifdef LEARNS
        if (importance < 0.0f) {
            ouzel_margins(&state, x, n, margins);
        } else {
            ouzel_learn(&state, x, n, (ouzel_label)label, importance, margins);
        }
        label = ouzel_predict(&state, x, n);
#else
        ouzel_margins(x, n, margins);
        label = ouzel_predict(x, n);
#endif
        fwrite(margins, 8, OUZEL_COLUMNS, stdout);
        fwrite(&label, 8, 1, stdout);
    }
#ifdef LEARNS
    if (count > 1) {
        FILE *file = fopen(words[1], "wb");
        ouzel_save(&state, put, file);
        fclose(file);
    }
#endif
    return 0;
}
