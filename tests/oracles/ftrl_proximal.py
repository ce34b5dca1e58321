"""Algorithm 1 of McMahan et al. (2013), as printed: dense, per coordinate."""

from math import sqrt

import numpy as np


class FTRLProximal:
    def __init__(self, dimension, alpha, beta, l1, l2):
        self.z, self.n = np.zeros(dimension), np.zeros(dimension)
        self.alpha, self.beta, self.l1, self.l2 = alpha, beta, l1, l2

    def weights(self):
        w = np.zeros(len(self.z))
        for i in range(len(w)):
            if abs(self.z[i]) > self.l1:
                step = (self.beta + sqrt(self.n[i])) / self.alpha + self.l2
                w[i] = -(self.z[i] - np.sign(self.z[i]) * self.l1) / step
        return w

    def learn(self, x, derivative):
        w = self.weights()
        margin = x @ w
        for i in np.flatnonzero(x):
            g = derivative(margin) * x[i]
            sigma = (sqrt(self.n[i] + g**2) - sqrt(self.n[i])) / self.alpha
            self.z[i] += g - sigma * w[i]
            self.n[i] += g**2
        return margin
