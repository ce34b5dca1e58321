"""svmlight text read slowly and obviously."""

import numpy as np


def read_lines(text):
    """Pairs (label, {id: value}) of text without mistakes; repeated ids add up, and what is 0 is no feature."""
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if not words:
            continue
        label = float("nan") if ":" in words[0] else float(words.pop(0))
        features = {}
        for word in words:
            name, value = word.split(":")
            if name != "qid":
                features[int(name)] = np.float32(features.get(int(name), np.float32(0)) + np.float32(float(value)))
        yield label, {name: value for name, value in sorted(features.items()) if value != 0}
