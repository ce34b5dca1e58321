"""A classifier in 2 KB: features by the thousand, memory that does not grow, a file to take it elsewhere."""

import tempfile
from pathlib import Path

import numpy as np

import ouzel

rng = np.random.default_rng(0)
model = ouzel.AWMSketchClassifier(budget="2KB")
right = 0
for _ in range(3000):
    sensors = {f"sensor={k}": 1.0 for k in rng.zipf(1.3, 8) if k < 10_000}
    alarm = "sensor=1" in sensors and "sensor=2" not in sensors
    right += model.predict_one(sensors) == alarm
    model.learn_one(sensors, alarm)

print(f"{right / 3000:.0%} right in {model.bytes_used_} bytes")
print(model.top_weights(2))

file = Path(tempfile.mkdtemp(), "device.ouzel")
model.save(file)
print(ouzel.load(file).predict_one({"sensor=1": 1.0}))
