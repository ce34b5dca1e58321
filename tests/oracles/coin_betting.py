"""Coin betting by many small bets (Chen, Langford & Orabona 2022): the differential equation itself, dense."""

from math import exp

import numpy as np

BETS = 4000  # of an example, each by the rule of the midpoint


class CoinBetting:
    def __init__(self, dimension):
        self.theta, self.log_wealth, self.time = np.zeros(dimension), 0.0, 1.0  # theta in units of the largest gradient
        self.largest = 0.0

    def weights(self, theta=None, log_wealth=None, time=None):
        if self.largest == 0.0:
            return np.zeros(len(self.theta))
        theta = self.theta if theta is None else theta
        log_wealth = self.log_wealth if log_wealth is None else log_wealth
        return exp(log_wealth) * theta / ((self.time if time is None else time) * self.largest)

    def learn(self, x, value, derivative):
        """Bet on the gradient until the linear model of the loss is 0, or for a time of 1."""
        before = self.weights()
        margin = x @ before
        raw = derivative(margin) * x
        largest = max(self.largest, np.linalg.norm(raw))
        if largest == 0.0:
            return margin
        self.theta *= self.largest / largest
        self.largest, g, dh = largest, raw / largest, 1.0 / BETS
        for _ in range(BETS):
            if value(margin) + raw @ (self.weights() - before) <= 0.0:
                break
            halfway = self.theta - 0.5 * dh * g, self.time + 0.5 * dh
            self.log_wealth -= dh * (g @ halfway[0]) / halfway[1]  # the share of the wealth that is bet is theta / H
            self.theta, self.time = self.theta - dh * g, self.time + dh
        return margin
