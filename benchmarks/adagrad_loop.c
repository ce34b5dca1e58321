/* The plain loop that benchmarks/adagrad.py measures against: diagonal AdaGrad on the logistic loss, no penalty. */
#include <math.h>
#include <stdint.h>

void adagrad_pass(const uint64_t *offsets, const uint32_t *indices, const float *values, const double *labels,
                  uint64_t rows, float (*table)[2], float rate, float damping, double *margins)
{
    for (uint64_t i = 0; i < rows; i++) {
        double margin = 0.0;
        for (uint64_t k = offsets[i]; k < offsets[i + 1]; k++)
            margin += (double)values[k] * table[indices[k]][0];
        margins[i] = margin;
        float slope = (float)(-labels[i] / (1.0 + exp(labels[i] * margin)));
        for (uint64_t k = offsets[i]; k < offsets[i + 1]; k++) {
            float *row = table[indices[k]];
            float gradient = slope * values[k];
            row[1] += gradient * gradient;
            row[0] -= rate * gradient / (damping + sqrtf(row[1]));
        }
    }
}
