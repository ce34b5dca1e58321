/* AWM-Sketch: Tai, Sharan, Bailis & Valiant (2018), Algorithm 2. The budget: ids and weights of the heaviest features,
   and the rows of the sketch. */
typedef struct {
    uint32_t keys[OUZEL_HEAP];
    float heavy[OUZEL_HEAP];
    float cells[OUZEL_DEPTH * OUZEL_WIDTH];
} ouzel_sketch;
typedef char ouzel_check_budget[sizeof(ouzel_sketch) * OUZEL_COLUMNS == OUZEL_BUDGET ? 1 : -1];

/* Beyond the budget, 24 bytes a column. */
typedef struct {
    ouzel_sketch sketch;
    double scale, seen; /* what weights are multiplied by; examples learnt */
    uint32_t taken;     /* keys in use */
    float least;        /* no |heavy| is below this */
} ouzel_column;
typedef char ouzel_check_column[sizeof(ouzel_column) == sizeof(ouzel_sketch) + 24 ? 1 : -1];

static inline uint32_t ouzel_find(const ouzel_column *column, uint32_t slot) {
    uint32_t k = 0;
    while (k < column->taken && column->sketch.keys[k] != slot) {
        k++;
    }
    return k < column->taken ? k : OUZEL_HEAP;
}

static inline uint32_t ouzel_cell(uint32_t slot, uint32_t row, float *sign) {
    const uint32_t (*table)[256] = ouzel_tables[row];
    uint32_t word = table[0][slot & 255u] ^ table[1][(slot >> 8) & 255u] ^ table[2][(slot >> 16) & 255u] ^
                    table[3][slot >> 24];
    *sign = word & 1u ? -1.0f : 1.0f;
    return row * OUZEL_WIDTH + (uint32_t)(((uint64_t)(word >> 1) * OUZEL_WIDTH) >> 31);
}

/* What the sketch says of a slot: the mean over its rows for predictions, else the median. */
static inline float ouzel_mean(const ouzel_column *column, uint32_t slot) {
    float sign, total = 0.0f;
    for (uint32_t row = 0; row < OUZEL_DEPTH; row++) {
        uint32_t cell = ouzel_cell(slot, row, &sign);
        total += sign * column->sketch.cells[cell];
    }
    return total / (float)OUZEL_DEPTH;
}

static inline float ouzel_query(const ouzel_column *column, uint32_t slot) {
    float sign, low = 0.0f, high = 0.0f, said[OUZEL_DEPTH];
    for (uint32_t row = 0; row < OUZEL_DEPTH; row++) {
        uint32_t cell = ouzel_cell(slot, row, &sign);
        said[row] = sign * column->sketch.cells[cell];
    }
    for (int row = 0; row < OUZEL_DEPTH; row++) {
        int less = 0, equal = 0;
        for (int other = 0; other < OUZEL_DEPTH; other++) {
            less += said[other] < said[row];
            equal += said[other] == said[row];
        }
        if (less <= (OUZEL_DEPTH - 1) / 2 && (OUZEL_DEPTH - 1) / 2 < less + equal) {
            low = said[row];
        }
        if (less <= OUZEL_DEPTH / 2 && OUZEL_DEPTH / 2 < less + equal) {
            high = said[row];
        }
    }
    return 0.5f * (low + high);
}

static inline void ouzel_update(ouzel_column *column, uint32_t slot, float change) {
    float sign;
    for (uint32_t row = 0; row < OUZEL_DEPTH; row++) {
        uint32_t cell = ouzel_cell(slot, row, &sign);
        column->sketch.cells[cell] += sign * change;
    }
}

static inline void ouzel_set(ouzel_column *column, uint32_t entry, float weight) {
    column->sketch.heavy[entry] = weight;
    if (ouzel_sizef(weight) < column->least) {
        column->least = ouzel_sizef(weight);
    }
}

/* The entry of smallest |weight|, the first of several. */
static inline uint32_t ouzel_smallest(ouzel_column *column) {
    uint32_t entry = 0;
    for (uint32_t k = 1; k < OUZEL_HEAP; k++) {
        if (ouzel_sizef(column->sketch.heavy[k]) < ouzel_sizef(column->sketch.heavy[entry])) {
            entry = k;
        }
    }
    column->least = ouzel_sizef(column->sketch.heavy[entry]);
    return entry;
}

/* Move the weight of a slot by -factor value; most often that is all, the slot staying where it is. */
static inline void ouzel_change(ouzel_column *column, uint32_t slot, float factor, float value) {
    uint32_t entry = ouzel_find(column, slot);
    float weight, change;
#if OUZEL_DEPTH == 1
    float sign, *cell = &column->sketch.cells[ouzel_cell(slot, 0, &sign)];
#endif
    if (entry < OUZEL_HEAP) {
        ouzel_set(column, entry, column->sketch.heavy[entry] - factor * value);
        return;
    }
#if OUZEL_DEPTH == 1
    weight = *cell - factor * (sign * value);
    if (column->taken == OUZEL_HEAP && ouzel_sizef(weight) < column->least) {
        *cell = weight;
        return;
    }
#endif
    change = -factor * value;
    weight = ouzel_query(column, slot) + change;
    if (column->taken < OUZEL_HEAP) {
        column->sketch.keys[column->taken] = slot;
        ouzel_set(column, column->taken++, weight);
        return;
    }
    if (ouzel_sizef(weight) > column->least) {
        entry = ouzel_smallest(column);
        if (ouzel_sizef(weight) > column->least) {
            uint32_t evicted = column->sketch.keys[entry];
            float last = column->sketch.heavy[entry];
            column->sketch.keys[entry] = slot;
            ouzel_set(column, entry, weight);
            ouzel_update(column, evicted, last - ouzel_query(column, evicted));
            return;
        }
    }
    ouzel_update(column, slot, change);
}

static inline double ouzel_product(const ouzel_column *column, uint32_t slot, float value) {
    uint32_t entry = ouzel_find(column, slot);
    float weight = entry < OUZEL_HEAP ? column->sketch.heavy[entry] : ouzel_mean(column, slot);
    return ouzel_cut(value * weight, -FLT_MAX, FLT_MAX);
}

static inline double ouzel_column_margin(const ouzel_column *column, const ouzel_feature *x, size_t n) {
    double margin = OUZEL_INTERCEPT ? 0.0 + ouzel_product(column, 0, 1.0f) : 0.0;
    for (size_t k = 0; k < n; k++) {
        margin += ouzel_product(column, x[k].id + 1u, x[k].value);
    }
    return margin * column->scale;
}

static inline double ouzel_column_learn(
    ouzel_column *column, const ouzel_feature *x, size_t n, double target, float importance) {
    double margin = ouzel_column_margin(column, x, n), slope, step;
    float factor, largest = OUZEL_INTERCEPT ? 1.0f : 0.0f;
    slope = (double)importance * ouzel_slope(margin, target);
    if (importance == 0.0f || !ouzel_finite(slope)) {
        return margin;
    }
    step = OUZEL_STEP(column->seen);
    column->seen += 1.0;
    column->scale *= 1.0 - OUZEL_L2 * step > 0.0 ? 1.0 - OUZEL_L2 * step : 0.0;
    if (column->scale < OUZEL_SMALLEST_SCALE) {
        float by = (float)column->scale;
        for (uint32_t k = 0; k < OUZEL_HEAP; k++) {
            column->sketch.heavy[k] *= by;
        }
        for (uint32_t k = 0; k < OUZEL_DEPTH * OUZEL_WIDTH; k++) {
            column->sketch.cells[k] *= by;
        }
        column->least = 0.0f;
        column->scale = 1.0;
    }
    for (size_t k = 0; k < n; k++) {
        largest = ouzel_sizef(x[k].value) > largest ? ouzel_sizef(x[k].value) : largest;
    }
    factor = (float)(step * slope / column->scale);
    if (factor == 0.0f || !(ouzel_sizef(factor) * largest * column->seen < OUZEL_LARGEST_CHANGE)) {
        return margin;
    }
    for (size_t k = !OUZEL_INTERCEPT; k <= n; k++) { /* the constant is the first */
        ouzel_change(column, k ? x[k - 1].id + 1u : 0, factor, k ? x[k - 1].value : 1.0f);
    }
    return margin;
}

static inline int ouzel_pass_column(ouzel_pass *pass, ouzel_column *column) {
    ouzel_pass_word(pass, &column->taken);
    for (uint32_t k = 0; k < OUZEL_HEAP; k++) {
        ouzel_pass_word(pass, &column->sketch.keys[k]);
    }
    for (uint32_t k = 0; k < OUZEL_HEAP; k++) {
        ouzel_pass_single(pass, &column->sketch.heavy[k]);
    }
    for (uint32_t k = 0; k < OUZEL_DEPTH * OUZEL_WIDTH; k++) {
        ouzel_pass_single(pass, &column->sketch.cells[k]);
    }
    ouzel_pass_double(pass, &column->scale);
    ouzel_pass_double(pass, &column->seen);
    if (!pass->put) {
        column->least = 0.0f;
    }
    return column->taken <= OUZEL_HEAP;
}
