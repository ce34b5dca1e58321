"""A model goes on learning in 8 KB of a device, in C, and what it learns there comes back."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import ouzel
from ouzel.exporting.device.dump import resume

folder = Path(tempfile.mkdtemp())
model = ouzel.AWMSketchClassifier(budget="8KB")
for host, path, malicious in [("a.example", "news", "no"), ("c.example", "login", "yes")] * 20:
    model.learn_one({"host": host, "path": path, "length": 3.0}, malicious)

print(ouzel.export(model, folder / "gate.h", prefix="gate"))

compiler = shutil.which("gcc") or shutil.which("cc")
if compiler is not None:  # in place of the device's own
    source = Path(__file__).with_name("gateway.c")
    subprocess.run([compiler, "-std=c99", f"-I{folder}", source, "-o", folder / "gateway", "-lm"], check=True)
    ran = subprocess.run([folder / "gateway", folder / "state.bin"], capture_output=True, text=True, check=True)
    print(ran.stdout.strip())
    print(resume(model.model_, folder / "state.bin"), "examples came back")
    print(model.predict_one({"host": "b.example", "path": "login", "length": 1.0}))
