/* The row of a feature in the tables, 0 if it has none. */
static inline uint32_t ouzel_row(uint32_t id) {
#if OUZEL_LISTED
    uint32_t low = 1, high = OUZEL_ROWS;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (ouzel_ids[middle] < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < OUZEL_ROWS && ouzel_ids[low] == id ? low : 0;
#else
    return id < OUZEL_ROWS - 1u ? id + 1u : 0;
#endif
}

#if OUZEL_STANDARDISED
/* What the models see of a value that is centred and scaled, the example itself in the moments. */
static inline double ouzel_standardised(const double *about, double x) {
    double change = x - about[0], mean = change * OUZEL_PART + about[0], gap = x - mean;
    double variance = (change * gap + about[1]) * OUZEL_PART, square = mean * mean, unit;
    if (!(variance > square * OUZEL_CONSTANT) || (OUZEL_WATCHED && ouzel_size(change) > about[2])) {
        return 0.0;
    }
    unit = OUZEL_SQRT(OUZEL_CENTRED ? variance : variance + square);
    return ouzel_cut((OUZEL_CENTRED ? gap : x) / unit, -OUZEL_FURTHEST, OUZEL_FURTHEST);
}
#endif

static inline void ouzel_sums(const ouzel_feature *x, size_t n, double *sums) {
    for (int k = 0; k < OUZEL_SUMS; k++) {
        sums[k] = ouzel_base[k];
    }
    for (size_t j = 0; j < n; j++) {
        uint32_t row = ouzel_row(x[j].id);
        double value = x[j].value;
        if (!row) {
            continue;
        }
#if OUZEL_STANDARDISED
        if (ouzel_dense[row]) { /* the sums have it as a value of 0 already */
            const double *about = ouzel_moments[ouzel_dense[row] - 1];
            value = ouzel_standardised(about, value);
#if OUZEL_REACHING
            value = ouzel_cut(value, -ouzel_reach[row], ouzel_reach[row]);
#endif
            value -= about[3];
        } else {
            double size = ouzel_size(value) > ouzel_sizes[row][0] ? ouzel_size(value) : ouzel_sizes[row][0];
#if OUZEL_FAR
            double rare = OUZEL_SQRT((value * value + ouzel_sizes[row][1]) * OUZEL_PART);
            size *= OUZEL_FAR_PART;
            size = rare > size ? rare : size;
#endif
#if OUZEL_LIMITED
            size = size > OUZEL_LIMIT ? size : 1.0;
#endif
            value = size > 0.0 ? value / size : 0.0;
#if OUZEL_REACHING
            value = ouzel_cut(value, -ouzel_reach[row], ouzel_reach[row]);
#endif
        }
#else
#if OUZEL_LIMITED
        value = ouzel_cut(value, -OUZEL_LIMIT, OUZEL_LIMIT);
#endif
#if OUZEL_REACHING
        value = ouzel_cut(value, -ouzel_reach[row], ouzel_reach[row]);
#endif
#endif
        for (int k = 0; k < OUZEL_SUMS; k++) {
            sums[k] += value * ouzel_weights[row][k];
        }
    }
}
