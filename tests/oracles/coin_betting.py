"""Coin betting by coordinate, by many small bets (Chen, Langford & Orabona 2022): the equation itself, dense."""

import numpy as np

BETS = 4000  # of an example, each by the rule of the midpoint


class CoinBetting:
    def __init__(self, dimension):
        self.theta, self.sizes = np.zeros(dimension), np.zeros(dimension)  # sums of gradients, and of their sizes
        self.wealth, self.widest, self.steepest = np.ones(dimension), np.zeros(dimension), 0.0

    def share(self, theta, sizes):
        """The part of each wealth that is bet."""
        time = self.widest * self.steepest + sizes
        return np.divide(theta, time, out=np.zeros(len(theta)), where=time > 0.0)

    def weights(self):
        largest = self.widest * self.steepest
        bets = self.wealth * self.share(self.theta, self.sizes)
        return np.divide(bets, largest, out=np.zeros(len(bets)), where=largest > 0.0)

    def learn(self, x, value, derivative):
        """Bet on the gradient until the linear model of the loss is 0, or for a time of 1."""
        before = self.weights()
        margin = x @ before
        slope = derivative(margin)
        if slope == 0.0:
            return margin
        self.wealth[(self.widest == 0.0) & (x != 0.0)] = np.count_nonzero(x) ** -0.5
        self.widest = np.maximum(self.widest, np.abs(x))
        self.steepest = max(self.steepest, 1.0, abs(slope))
        gradient, dh = slope * x, 1.0 / BETS
        unit = np.where(self.widest > 0.0, self.widest * self.steepest, 1.0)
        for _ in range(BETS):
            if value(margin) + gradient @ (self.weights() - before) <= 0.0:
                break
            halfway = self.share(self.theta - 0.5 * dh * gradient, self.sizes + 0.5 * dh * np.abs(gradient))
            self.wealth *= np.exp(-dh * gradient / unit * halfway)
            self.theta, self.sizes = self.theta - dh * gradient, self.sizes + dh * np.abs(gradient)
        return margin
