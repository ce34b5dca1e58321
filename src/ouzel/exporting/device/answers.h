#if OUZEL_COLUMNS == 1
/* Above 0 for the second of two classes; or what comes before the link of the loss. */
static inline double ouzel_margin(STATE const ouzel_feature *x, size_t n) {
    double margin;
    ouzel_margins(PASSED x, n, &margin);
    return margin;
}
#endif

#if !OUZEL_CLASSES
/* The number predicted; of a ranking, the score of an example. */
static inline double ouzel_predict(STATE const ouzel_feature *x, size_t n) {
    double margin = ouzel_margin(PASSED x, n);
#if OUZEL_POISSON
    margin = OUZEL_EXP(margin < 30.0 ? margin : 30.0);
#endif
    return margin;
}
#elif OUZEL_COLUMNS == 1
/* The class predicted, by its place in `ouzel_labels`. */
static inline int ouzel_predict(STATE const ouzel_feature *x, size_t n) {
    return ouzel_margin(PASSED x, n) > 0.0 ? OUZEL_CLASSES - 1 : 0;
}
#else
/* The class predicted, by its place in `ouzel_labels`. */
static inline int ouzel_predict(STATE const ouzel_feature *x, size_t n) {
    double margins[OUZEL_COLUMNS];
    int best = 0;
    ouzel_margins(PASSED x, n, margins);
    for (int k = 1; k < OUZEL_COLUMNS; k++) {
        best = margins[k] > margins[best] ? k : best;
    }
    return best;
}
#endif

#if OUZEL_PROBABILISTIC
/* The probability of the second of two classes; of one class against the rest. */
static inline double ouzel_probability(double margin) {
    double part = OUZEL_EXP(-ouzel_size(margin));
    return (margin > 0.0 ? 1.0 : part) / (1.0 + part);
}
#if OUZEL_COLUMNS > 1
/* Turn the margins of all classes into their probabilities. */
static inline void ouzel_probabilities(double *margins) {
    double total = 0.0, most = margins[0];
    for (int k = 1; k < OUZEL_COLUMNS; k++) {
        most = margins[k] > most ? margins[k] : most;
    }
    for (int k = 0; k < OUZEL_COLUMNS; k++) {
        margins[k] = OUZEL_JOINT ? OUZEL_EXP(margins[k] - most) : ouzel_probability(margins[k]);
        total += margins[k];
    }
    for (int k = 0; k < OUZEL_COLUMNS; k++) {
        margins[k] = total > 0.0 ? margins[k] / total : 1.0 / OUZEL_COLUMNS;
    }
}
#endif
#endif
