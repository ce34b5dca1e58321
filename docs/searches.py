"""Check that searches in ordinary words find the page meant among the first three, in a site that is built.

`python docs/searches.py site` searches the site's own index with lunr, whose ranking is nearly that of the page: words
are parted as there (`separator` of mkdocs.yml), without their markup, with the `boost` of docs/search_order.py;
the page also takes beginnings of words.
A search has the page that a reader wants, or several where each would do.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from lunr import lunr

MEANT = {
    # first steps
    "install": "install",
    "pip": "install",
    "conda": "install",
    "python version": "install",
    "windows": "how-to/windows-and-macos",
    "macos": "how-to/windows-and-macos",
    "jupyter notebook": "install tutorials/python",
    "tutorial": "tutorials/python",
    "where to get data": "how-to/where-data-come-from",
    "example dataset": "how-to/where-data-come-from",
    "error message": "troubleshooting",
    "bibtex": "cite",
    "license": "cite",
    "gpu": "faq",
    "spark": "faq",
    "deep learning": "faq",
    "random forest": "faq defaults",
    "ensemble": "faq",
    "anomaly detection": "faq",
    "clustering": "faq",
    "multilabel": "faq",
    "bandit": "faq why",
    "tf-idf": "faq",
    "sgd": "faq",
    "vowpal wabbit": "vowpal-wabbit",
    "sklearn": "from-scikit-learn",
    "river": "from-river",
    "svm": "learners which-learner faq from-scikit-learn",
    "logistic regression": "learners which-learner how-to/regression",
    "ftrl": "learners",
    "second order": "sketched-newton which-learner",
    "word embeddings": "faq",
    "semi-supervised": "faq",
    "geospatial latitude": "crosses streams faq",
    "config file yaml": "settings faq commands",
    "contributing": "developer/style developer/add_a_learner",
    "progress bar": "evaluation first-runs troubleshooting faq",
    # data
    "csv": "streams",
    "parquet": "streams",
    "json lines": "streams troubleshooting",
    "handle missing values": "streams",
    "imputation": "streams",
    "categorical features": "streams tutorials/clicks",
    "one-hot encoding": "streams",
    "pandas": "data-frames",
    "polars": "data-frames",
    "dates timestamps": "streams",
    "kafka": "logs",
    "redis": "logs",
    "database": "logs",
    "interactions": "crosses",
    "cross features": "crosses",
    "feature engineering": "crosses",
    "standardize features": "standardising",
    "feature scaling": "standardising",
    "normalization": "standardising",
    "sparse matrix": "from-scikit-learn",
    "scipy sparse csr": "from-scikit-learn data-frames",
    "large csv files out of memory": "streams",
    "excel": "streams faq",
    "ordinal features": "streams",
    "high cardinality": "how-to/model-size streams tutorials/clicks",
    "spam filter": "tutorials/text",
    "bag of words": "tutorials/text",
    "mqtt": "logs faq",
    "airflow": "faq how-to/retrain-and-rollback",
    # learning
    "learning rate": "how-to/hyperparameters",
    "hyperparameter": "how-to/hyperparameters",
    "hyperparameter tuning": "how-to/hyperparameters",
    "grid search": "how-to/hyperparameters",
    "random seed": "how-to/hyperparameters",
    "reproducibility": "how-to/hyperparameters",
    "batch size": "how-to/hyperparameters",
    "regression": "how-to/regression",
    "linear regression": "how-to/regression",
    "quantile regression": "how-to/regression",
    "time series": "how-to/time-series",
    "forecasting": "how-to/time-series",
    "text classification": "tutorials/text",
    "multiclass": "multiclass",
    "learning to rank": "evaluation",
    "class imbalance": "imbalanced",
    "imbalanced classes": "imbalanced",
    "class weight": "imbalanced",
    "sample weight": "imbalanced",
    "overfitting": "how-to/overfitting",
    "regularisation": "how-to/overfitting",
    "regularization": "how-to/overfitting",
    "early stopping": "how-to/overfitting",
    "epochs passes": "how-to/overfitting",
    "feature selection": "how-to/overfitting",
    "half-life": "forgetting",
    "decay": "forgetting",
    "concept drift": "forgetting",
    "detect drift": "forgetting guarantees",
    "hash collision bits": "how-to/model-size",
    "hashing trick": "how-to/model-size",
    "custom loss": "own-learner",
    "distributed training": "many-machines",
    "dask": "many-machines",
    "learning rate schedule": "how-to/hyperparameters settings",
    "partial_fit": "from-scikit-learn tutorials/python",
    "warm start": "from-scikit-learn models",
    "out-of-core learning": "from-scikit-learn streams",
    "lag features": "how-to/time-series",
    "moving average": "how-to/time-series",
    "elastic net": "how-to/overfitting adagrad",
    "count sketch": "budgets",
    "heavy hitters": "deltoids budgets",
    "diverge": "which-learner evaluation",
    "convergence": "which-learner",
    "oversampling smote": "imbalanced",
    "plugin": "own-learner",
    # models and answers
    "metrics": "evaluation",
    "cross validation": "evaluation",
    "train test split": "evaluation",
    "confusion matrix": "evaluation gallery",
    "roc auc": "evaluation",
    "statistical significance": "evaluation",
    "threshold": "how-to/threshold",
    "calibration": "guarantees",
    "prediction interval": "guarantees",
    "conformal prediction": "guarantees",
    "uncertainty": "guarantees",
    "feature importance": "how-to/feature-importance",
    "which features matter": "how-to/feature-importance",
    "shap": "how-to/feature-importance",
    "explain prediction": "models how-to/feature-importance",
    "save model": "models",
    "load model": "models",
    "checkpoint": "models",
    "resume training": "models",
    "onnx": "models",
    "mlflow": "models",
    "pickle": "faq",
    "pipeline": "from-scikit-learn data-frames",
    "rollback": "how-to/retrain-and-rollback",
    "model version": "how-to/retrain-and-rollback",
    "retraining": "how-to/retrain-and-rollback",
    "memory of a model": "how-to/model-size",
    "embedded": "devices",
    "microcontroller": "devices",
    "training-serving skew": "how-to/training-serving-skew",
    "nanoseconds a feature": "speed",
    "backwards compatibility": "stability",
    "prequential": "evaluation",
    "holdout": "evaluation how-to/overfitting",
    "stratified": "imbalanced evaluation",
    "ndcg": "evaluation",
    "log loss": "evaluation",
    "coefficients weights": "models how-to/feature-importance",
    "partial dependence": "models how-to/feature-importance",
    "confidence interval": "guarantees",
    "regret bound": "evaluation",
    "collocations": "pmi",
    "pmml": "models faq",
    "arduino": "devices tutorials/device",
    "c header": "devices",
    "model registry": "how-to/retrain-and-rollback models",
    # running
    "rest api": "service",
    "authentication": "service",
    "backup": "service",
    "docker": "how-to/kubernetes",
    "kubernetes": "how-to/kubernetes",
    "reverse proxy nginx": "how-to/kubernetes",
    "monitoring": "how-to/monitoring",
    "logging": "how-to/monitoring",
    "prometheus alerts": "how-to/monitoring",
    "grafana dashboard": "how-to/monitoring",
    "capacity": "how-to/capacity",
    "throughput latency": "how-to/capacity",
    "requests per second": "how-to/capacity",
    "upgrade": "how-to/upgrade-a-service",
    "delete user data": "how-to/delete-a-person",
    "privacy": "how-to/delete-a-person",
    "GDPR erasure": "how-to/delete-a-person",
    "helm chart": "how-to/kubernetes",
    "canary deployment": "service how-to/retrain-and-rollback",
    "crash recovery": "reliability",
    "disk full": "service reliability",
    "openapi": "service",
    "delayed feedback": "service logs evaluation",
    "iot sensor": "tutorials/sensors",
}
FIRST = 3


def check(site: Path) -> list[str]:
    """Return a line for each search that does not find its page among the first."""
    stored = json.loads((site / "search" / "search_index.json").read_text())
    parts = re.compile(rf"<[^>]+>|{stored['config']['separator']}")
    documents = [
        ({"location": part["location"], **_plain(part, parts)}, {"boost": part.get("boost", 1)})
        for part in stored["docs"]
    ]
    index = lunr(ref="location", fields=[{"field_name": "title", "boost": 10}, "text"], documents=documents)
    failed = []
    for words, pages in MEANT.items():
        results = (result["ref"].partition("#")[0].rstrip("/") for result in index.search(parts.sub(" ", words)))
        first = list(dict.fromkeys(results))[:FIRST]
        if not set(first) & set(pages.split()):
            failed.append(f"{words}: {pages} is not among {', '.join(first)}")
    return failed


def _plain(part: dict[str, str], parts: re.Pattern[str]) -> dict[str, str]:
    """Return the title and the text of a section as words with blanks between them."""
    return {field: parts.sub(" ", part[field]) for field in ("title", "text")}


if __name__ == "__main__":
    missed = check(Path(sys.argv[1]))
    print("\n".join([*missed, f"{len(MEANT) - len(missed)} of {len(MEANT)} searches find their page"]))
    sys.exit(bool(missed))
