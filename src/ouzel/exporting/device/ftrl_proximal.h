/* FTRL-Proximal: McMahan et al. (2013), Algorithm 1. A slot has z and n. */
typedef struct {
    double table[OUZEL_SLOTS][2];
    double seen;
} ouzel_column;

static inline double ouzel_weight(const ouzel_column *column, uint32_t slot) {
    double total = column->table[slot][0];
    if (ouzel_size(total) <= OUZEL_L1) {
        return 0.0;
    }
    return -(total > 0.0 ? total - OUZEL_L1 : total + OUZEL_L1) /
           ((OUZEL_DAMPING + OUZEL_SQRT(column->table[slot][1])) / OUZEL_RATE + OUZEL_L2);
}

static inline double ouzel_column_margin(const ouzel_column *column, const ouzel_feature *x, size_t n) {
    double margin = OUZEL_INTERCEPT ? ouzel_weight(column, 0) : 0.0;
    for (size_t k = 0; k < n; k++) {
        if (x[k].id < OUZEL_SLOTS - 1u) {
            margin += (double)x[k].value * ouzel_weight(column, x[k].id + 1u);
        }
    }
    return margin;
}

static inline void ouzel_learn_slot(ouzel_column *column, uint32_t slot, float value, double slope) {
    double gradient = slope * (double)value, before = column->table[slot][1], after, weight;
    if (0.0 < gradient * gradient && gradient * gradient <= (double)FLT_MAX) {
        weight = ouzel_weight(column, slot);
        after = before + gradient * gradient;
        column->table[slot][0] += gradient - (OUZEL_SQRT(after) - OUZEL_SQRT(before)) / OUZEL_RATE * weight;
        column->table[slot][1] = after;
    }
}

static inline double ouzel_column_learn(
    ouzel_column *column, const ouzel_feature *x, size_t n, double target, float importance) {
    double margin = ouzel_column_margin(column, x, n), slope;
    if (importance == 0.0f) {
        return margin;
    }
    slope = (double)importance * ouzel_slope(margin, target);
    for (size_t k = !OUZEL_INTERCEPT; k <= n; k++) { /* the constant is the first */
        uint32_t slot = k ? x[k - 1].id + 1u : 0;
        if (slot < OUZEL_SLOTS && (slot || !k)) {
            ouzel_learn_slot(column, slot, k ? x[k - 1].value : 1.0f, slope);
        }
    }
    column->seen += 1.0;
    return margin;
}

static inline int ouzel_pass_column(ouzel_pass *pass, ouzel_column *column) {
    for (uint32_t slot = 0; slot < OUZEL_SLOTS; slot++) {
        ouzel_pass_double(pass, &column->table[slot][0]);
        ouzel_pass_double(pass, &column->table[slot][1]);
    }
    ouzel_pass_double(pass, &column->seen);
    return 1;
}
