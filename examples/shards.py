"""Two workers, two parts of a stream, one model: states merge."""

from sklearn.datasets import load_breast_cancer

import ouzel
from ouzel.learners import catalogue

X, y = load_breast_cancer(return_X_y=True)
X = X / X.max(axis=0)
workers = [ouzel.Model("adagrad-rda") for _ in range(2)]
for k, worker in enumerate(workers):
    for block in ouzel.blocks_from(X[k::2], y[k::2]):
        worker.learn(block)

merged = ouzel.Model("adagrad-rda", classes=workers[0].classes.known)
merged.make_room(X.shape[1] - 1)
learner = catalogue.find("adagrad-rda")
merged.states = [learner.module.merge([worker.states[0] for worker in workers], merged.settings)]

report = merged.judge(next(ouzel.blocks_from(X, y)))
print(f"the merged model is right on {((report.margins > 0) == (report.targets == 1)).mean():.0%}")
