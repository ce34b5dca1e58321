"""Check that searches in ordinary words find the page meant among the first three, in a site that is built.

`python docs/searches.py site` searches the site's own index with lunr, whose ranking is nearly that of the page:
that one also takes beginnings of words.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from lunr import lunr

MEANT = {
    "feature importance": "how-to/feature-importance",
    "which features matter": "how-to/feature-importance",
    "interactions": "crosses",
    "cross features": "crosses",
    "half-life": "forgetting",
    "concept drift": "forgetting",
    "overfitting": "how-to/overfitting",
    "regularisation": "how-to/overfitting",
    "epochs passes": "how-to/overfitting",
    "class imbalance": "imbalanced",
    "imbalanced classes": "imbalanced",
    "class weight": "imbalanced",
    "threshold": "how-to/threshold",
    "calibration": "guarantees",
    "prediction interval": "guarantees",
    "rollback": "how-to/retrain-and-rollback",
    "model version": "how-to/retrain-and-rollback",
    "retraining": "how-to/retrain-and-rollback",
    "upgrade": "how-to/upgrade-a-service",
    "hash collision bits": "how-to/model-size",
    "memory of a model": "how-to/model-size",
    "training-serving skew": "how-to/training-serving-skew",
    "where to get data": "how-to/where-data-come-from",
    "capacity": "how-to/capacity",
    "requests per second": "how-to/capacity",
    "delete user data": "how-to/delete-a-person",
    "GDPR erasure": "how-to/delete-a-person",
    "monitoring": "how-to/monitoring",
    "prometheus alerts": "how-to/monitoring",
    "grafana dashboard": "how-to/monitoring",
    "kubernetes": "how-to/kubernetes",
    "reverse proxy nginx": "how-to/kubernetes",
    "backwards compatibility": "stability",
    "windows": "how-to/windows-and-macos",
    "macos": "how-to/windows-and-macos",
    "missing values": "streams",
    "standardize features": "standardising",
    "kafka": "logs",
    "early stopping": "how-to/overfitting",
    "decay": "forgetting",
    "multiclass": "multiclass",
    "nanoseconds a feature": "speed",
}
FIRST = 3


def check(site: Path) -> list[str]:
    """Return a line for each search that does not find its page among the first."""
    documents = json.loads((site / "search" / "search_index.json").read_text())["docs"]
    index = lunr(ref="location", fields=[{"field_name": "title", "boost": 10}, "text"], documents=documents)
    failed = []
    for words, page in MEANT.items():
        found = dict.fromkeys(result["ref"].partition("#")[0].rstrip("/") for result in index.search(words))
        if page not in list(found)[:FIRST]:
            failed.append(f"{words}: {page} is not among {', '.join(list(found)[:FIRST])}")
    return failed


if __name__ == "__main__":
    missed = check(Path(sys.argv[1]))
    print("\n".join([*missed, f"{len(MEANT) - len(missed)} of {len(MEANT)} searches find their page"]))
    sys.exit(bool(missed))
