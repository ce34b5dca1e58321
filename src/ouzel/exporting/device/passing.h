/* Bytes of a state on their way out, to `put`, or in, from `get`, which gives -1 where there are no more. */
typedef struct {
    void (*put)(void *other, uint8_t byte);
    int (*get)(void *other);
    void *other;
    uint32_t sum; /* FNV-1a of what has passed */
    int failed;
} ouzel_pass;

static inline void ouzel_pass_word(ouzel_pass *pass, uint32_t *word) {
    uint32_t read = 0;
    for (int shift = 0; shift < 32; shift += 8) {
        int byte = (int)(*word >> shift & 255u);
        if (pass->put) {
            pass->put(pass->other, (uint8_t)byte);
        } else {
            byte = pass->failed ? -1 : pass->get(pass->other);
            if (byte < 0) {
                pass->failed = 1;
                return;
            }
            read |= (uint32_t)byte << shift;
        }
        pass->sum = (pass->sum ^ (uint32_t)byte) * 16777619u;
    }
    if (!pass->put) {
        *word = read;
    }
}

static inline void ouzel_pass_single(ouzel_pass *pass, float *number) {
    ouzel_single both;
    both.number = *number;
    ouzel_pass_word(pass, &both.bits);
    *number = both.number;
}

static inline void ouzel_pass_double(ouzel_pass *pass, double *number) {
    ouzel_double both;
    uint32_t low, high;
    both.number = *number;
    low = (uint32_t)both.bits;
    high = (uint32_t)(both.bits >> 32);
    ouzel_pass_word(pass, &low);
    ouzel_pass_word(pass, &high);
    both.bits = (uint64_t)high << 32 | low;
    *number = both.number;
}
