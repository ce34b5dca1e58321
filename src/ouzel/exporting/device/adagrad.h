/* AdaGrad, diagonal: Duchi, Hazan & Singer (2011), Figure 1. A slot has its weight and its sum of squares; under an l1
   penalty also the round up to which that is paid, and its dose a round. */
typedef struct {
    float table[OUZEL_SLOTS][OUZEL_NUMBERS];
    double seen[2]; /* examples; rounds since all slots were last paid up */
} ouzel_column;

static inline float ouzel_weight(const ouzel_column *column, uint32_t slot, float now) {
    float weight = column->table[slot][0];
#if OUZEL_NUMBERS == 4
    float owed = (now - column->table[slot][2]) * column->table[slot][3];
    float most = weight > -owed ? weight : -owed;
    weight -= most < owed ? most : owed;
#else
    (void)now;
#endif
    return weight;
}

static inline double ouzel_column_margin(const ouzel_column *column, const ouzel_feature *x, size_t n) {
    float now = (float)column->seen[1];
    double margin = OUZEL_INTERCEPT ? ouzel_weight(column, 0, now) : 0.0, wide;
    wide = margin;
    for (size_t k = 0; k < n; k++) {
        if (x[k].id < OUZEL_SLOTS - 1u) {
            float weight = ouzel_weight(column, x[k].id + 1u, now);
            margin += x[k].value * weight;
            wide += (double)x[k].value * weight;
        }
    }
    return ouzel_finite(margin) ? margin : wide;
}

/* total + increment, or where that is below the spacing of such numbers one spacing more or none. */
static inline float ouzel_dithered(float total, float rounded, float increment, float dither) {
    ouzel_single bits, spacing;
    bits.number = total;
    spacing.bits = bits.bits & 0x7F800000u;
    spacing.number *= FLT_EPSILON;
    bits.bits += increment > dither * spacing.number;
    return increment < spacing.number ? bits.number : rounded;
}

static inline void ouzel_learn_slot(ouzel_column *column, uint32_t slot, float value, float slope, float dither) {
    float *numbers = column->table[slot];
    float weight = ouzel_weight(column, slot, (float)column->seen[1]);
    float gradient = slope * value, before = numbers[1];
    float squared = ouzel_dithered(before, before + gradient * gradient, slope * gradient * value, dither);
    float scale = OUZEL_DAMPING + OUZEL_SQRTF(squared);
    int sound = squared <= FLT_MAX && scale > 0.0f;
    float step = (sound ? OUZEL_RATE : 0.0f) / (sound ? scale : 1.0f);
    weight -= step * (sound ? gradient : 0.0f);
    numbers[1] = sound ? squared : before;
#if OUZEL_NUMBERS == 4
    {
        double owed = step * OUZEL_L1;
        numbers[2] = (float)(column->seen[1] + 1.0);
        numbers[3] = (float)owed;
        weight = (float)(weight - ouzel_cut(weight, -owed, owed));
    }
#endif
    numbers[0] = weight;
}

static inline double ouzel_column_learn(
    ouzel_column *column, const ouzel_feature *x, size_t n, double target, float importance) {
    double margin, turns;
    float slope;
    if (importance == 0.0f) {
        return ouzel_column_margin(column, x, n);
    }
#if OUZEL_NUMBERS == 4
    if (column->seen[1] >= 16777216.0) {
        for (uint32_t slot = 0; slot < OUZEL_SLOTS; slot++) {
            column->table[slot][0] = ouzel_weight(column, slot, (float)column->seen[1]);
            column->table[slot][2] = 0.0f;
        }
        column->seen[1] = 0.0;
    }
#endif
    margin = ouzel_column_margin(column, x, n);
    slope = (float)((double)importance * ouzel_slope(margin, target));
    if (slope != 0.0f && ouzel_finite(slope)) {
        turns = column->seen[0] * 0.6180339887498949; /* over the golden ratio */
        turns -= (double)(uint64_t)turns;
        for (size_t k = !OUZEL_INTERCEPT; k <= n; k++) { /* the constant is the first */
            uint32_t slot = k ? x[k - 1].id + 1u : 0;
            if (slot < OUZEL_SLOTS && (slot || !k)) {
                ouzel_learn_slot(column, slot, k ? x[k - 1].value : 1.0f, slope, (float)turns);
            }
        }
    }
    column->seen[0] += 1.0;
    column->seen[1] += 1.0;
    return margin;
}

static inline int ouzel_pass_column(ouzel_pass *pass, ouzel_column *column) {
    for (uint32_t slot = 0; slot < OUZEL_SLOTS; slot++) {
        for (int k = 0; k < OUZEL_NUMBERS; k++) {
            ouzel_pass_single(pass, &column->table[slot][k]);
        }
    }
    ouzel_pass_double(pass, &column->seen[0]);
    ouzel_pass_double(pass, &column->seen[1]);
    return 1;
}
