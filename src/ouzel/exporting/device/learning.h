/* All that a model has learnt: put one into RAM to learn on, `ouzel_state state = ouzel_start;`. */
typedef struct {
    ouzel_column column[OUZEL_COLUMNS];
} ouzel_state;

/* Learn an example whose features are in the order of `ouzel_sort`. `margins` takes the OUZEL_COLUMNS margins from before,
   unless it is NULL. An importance of 1 is an example, of 0 none. */
static inline void ouzel_learn(
    ouzel_state *state, const ouzel_feature *x, size_t n, ouzel_label label, float importance, double *margins) {
    for (int k = 0; k < OUZEL_COLUMNS; k++) {
        double margin = ouzel_column_learn(&state->column[k], x, n, OUZEL_TARGET(label, k), importance);
        if (margins) {
            margins[k] = OUZEL_SHOWN(margin);
        }
    }
}

static inline void ouzel_margins(const ouzel_state *state, const ouzel_feature *x, size_t n, double *margins) {
    for (int k = 0; k < OUZEL_COLUMNS; k++) {
        margins[k] = OUZEL_SHOWN(ouzel_column_margin(&state->column[k], x, n));
    }
}

static inline int ouzel_pass_state(ouzel_pass *pass, ouzel_state *state) {
    uint32_t head[3] = {0x4C5A554Fu, 1u, OUZEL_FINGERPRINT}, sum, told;
    int sound = 1;
    pass->sum = 2166136261u;
    for (int k = 0; k < 3; k++) {
        uint32_t word = head[k];
        ouzel_pass_word(pass, &word);
        sound = sound && word == head[k];
    }
    for (int k = 0; sound && k < OUZEL_COLUMNS; k++) {
        sound = ouzel_pass_column(pass, &state->column[k]);
    }
    sum = told = pass->sum;
    ouzel_pass_word(pass, &told);
    return sound && !pass->failed && told == sum;
}

/* Write the OUZEL_DUMP_BYTES bytes of a state, little-endian on any device: what `ouzel import` takes. */
static inline void ouzel_save(const ouzel_state *state, void (*put)(void *to, uint8_t byte), void *to) {
    ouzel_pass pass = {put, NULL, to, 0, 0};
    ouzel_pass_state(&pass, (ouzel_state *)(uintptr_t)state);
}

/* Read them again: 1 if they are such bytes of this model, else 0, and then the state is none. */
static inline int ouzel_load(ouzel_state *state, int (*get)(void *from), void *from) {
    ouzel_pass pass = {NULL, get, from, 0, 0};
    return ouzel_pass_state(&pass, state);
}
