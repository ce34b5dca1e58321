#include <float.h>
#include <stddef.h>
#include <stdint.h>

#if FLT_EVAL_METHOD != 0 && !defined(OUZEL_ANY_ROUNDING)
#error "numbers are kept in more digits than they have: compile with -msse2 -mfpmath=sse, or define OUZEL_ANY_ROUNDING"
#endif
typedef char ouzel_check_numbers[sizeof(float) == 4 && sizeof(double) == 8 ? 1 : -1];

/* Roots are taken without a library, rounded as IEEE 754 says. A processor with an instruction for them gives the same
   bits: define OUZEL_SQRT and OUZEL_SQRTF, as __builtin_sqrt and __builtin_sqrtf say. */
#ifndef OUZEL_SQRT
#define OUZEL_SQRT(x) ouzel_sqrt(x)
#endif
#ifndef OUZEL_SQRTF
#define OUZEL_SQRTF(x) ouzel_sqrtf(x)
#endif
#ifndef OUZEL_EXP
double exp(double);
#define OUZEL_EXP(x) exp(x)
#endif

/* A feature of an example: its id, and its value. */
typedef struct {
    uint32_t id;
    float value;
} ouzel_feature;

typedef union {
    uint32_t bits;
    float number;
} ouzel_single;

typedef union {
    uint64_t bits;
    double number;
} ouzel_double;

static inline double ouzel_size(double x) {
    return x < 0.0 ? -x : x;
}

static inline float ouzel_sizef(float x) {
    return x < 0.0f ? -x : x;
}

static inline int ouzel_finite(double x) {
    return x - x == 0.0;
}

static inline double ouzel_cut(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

/* The first `steps` bits of the root of m / 2^(bits - 2), m < 2^bits, bits even; what is cut off is not 0. */
static inline uint64_t ouzel_root(uint64_t m, int bits, int steps) {
    uint64_t root = 0, rest = 0;
    for (int k = 0; k < steps; k++) {
        bits -= 2;
        rest = (rest << 2) | (bits >= 0 ? (m >> bits) & 3u : 0u);
        root <<= 1;
        if (rest > root << 1) {
            rest -= (root << 1) | 1u;
            root |= 1u;
        }
    }
    return root;
}

/* A root is never half way between two numbers, so one more bit than it has rounds it. */
static inline double ouzel_sqrt(double x) {
    ouzel_double in;
    uint64_t m;
    int exponent;
    in.number = x;
    if (!(x > 0.0) || !ouzel_finite(x)) {
        return x;
    }
    m = in.bits & 0xFFFFFFFFFFFFFu;
    exponent = (int)(in.bits >> 52);
    if (exponent) {
        m |= (uint64_t)1 << 52;
    } else {
        for (exponent = 1; !(m >> 52); exponent--) {
            m <<= 1;
        }
    }
    exponent -= 1023;
    if (exponent & 1) {
        m <<= 1;
        exponent -= 1;
    }
    m = (ouzel_root(m, 54, 54) + 1) >> 1;
    in.bits = ((uint64_t)(exponent / 2 + 1022) << 52) + m;
    return in.number;
}

static inline float ouzel_sqrtf(float x) {
    ouzel_single in;
    uint32_t m;
    int exponent;
    in.number = x;
    if (!(x > 0.0f) || !ouzel_finite(x)) {
        return x;
    }
    m = in.bits & 0x7FFFFFu;
    exponent = (int)(in.bits >> 23);
    if (exponent) {
        m |= (uint32_t)1 << 23;
    } else {
        for (exponent = 1; !(m >> 23); exponent--) {
            m <<= 1;
        }
    }
    exponent -= 127;
    if (exponent & 1) {
        m <<= 1;
        exponent -= 1;
    }
    m = (uint32_t)((ouzel_root((uint64_t)m << 1, 26, 25) + 1) >> 1);
    in.bits = ((uint32_t)(exponent / 2 + 126) << 23) + m;
    return in.number;
}

/* Order the features of an example by id, as Ouzel does: values of one id add up, and zeros are left out.
   Returns how many are left. Sums, and what is learnt, have Ouzel's bits only of features in this order. */
static inline size_t ouzel_sort(ouzel_feature *x, size_t n) {
    size_t end = 0;
    for (size_t k = 1; k < n; k++) {
        ouzel_feature one = x[k];
        size_t j = k;
        for (; j > 0 && x[j - 1].id > one.id; j--) {
            x[j] = x[j - 1];
        }
        x[j] = one;
    }
    for (size_t k = 0; k < n; k++) {
        if (end > 0 && x[end - 1].id == x[k].id) {
            x[end - 1].value = (float)ouzel_cut(x[end - 1].value + x[k].value, -OUZEL_LARGEST, OUZEL_LARGEST);
        } else {
            if (end > 0 && x[end - 1].value == 0.0f) {
                end--;
            }
            x[end++] = x[k];
        }
    }
    return end > 0 && x[end - 1].value == 0.0f ? end - 1 : end;
}
