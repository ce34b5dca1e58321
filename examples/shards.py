"""Two workers, two parts of a stream, one model."""

from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

import ouzel

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
workers = [ouzel.AdaGradClassifier(update="dual-averaging").fit(X[k::2], y[k::2]) for k in range(2)]

merged = ouzel.merge(workers)
print(f"workers {workers[0].score(X, y):.3f} and {workers[1].score(X, y):.3f}, merged {merged.score(X, y):.3f}")
