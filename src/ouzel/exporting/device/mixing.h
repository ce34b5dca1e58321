/* log(x) of 0 < x < infinity by exp: from the exponent of x, and three steps of Halley's method. */
static inline double ouzel_log(double x) {
    ouzel_double bits;
    double log = 0.0;
    bits.number = x;
    log = ((double)(int)(bits.bits >> 52) - 1023.0 + (double)(bits.bits & 0xFFFFFFFFFFFFFu) / 4503599627370496.0) *
          0.6931471805599453;
    for (int k = 0; k < 3; k++) {
        double power = OUZEL_EXP(log);
        log += 2.0 * ((x - power) / (x + power));
    }
    return log;
}
