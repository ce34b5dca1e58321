"""A model of words and numbers in onnxruntime: names become ids as the page beside the graph says."""

import json
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime
from sklearn.utils import murmurhash3_32

import ouzel

days = [({"sun": 7.5, "city": "Rome"}, "dry"), ({"sun": 0.5, "city": "Oslo"}, "wet")] * 50
model = ouzel.OnlineClassifier()
for features, label in days:
    model.learn_one(features, label)

path = Path(tempfile.mkdtemp(), "weather.onnx")
ouzel.export(model, path)
rule = json.loads(path.with_name("weather.onnx.json").read_text())


def feature_id(name: str) -> int:
    return murmurhash3_32(name, rule["seed"], positive=True) & (1 << rule["bits"]) - 1


session = onnxruntime.InferenceSession(str(path))
ids = np.array([[feature_id("sun"), feature_id("city=Oslo")]])
values = np.array([[3.0, 1.0]], np.float32)
label, margin, probability = session.run(None, {"ids": ids, "values": values})

print(f"the graph: {label[0]}, {dict(zip(rule['classes'], probability[0].round(6).tolist(), strict=True))}")
print(f"the model: {model.predict_proba_one({'sun': 3.0, 'city': 'Oslo'})}")
