"""A model file as one of MLflow's: whatever serves a pyfunc serves it."""

import tempfile
from pathlib import Path

import mlflow.pyfunc
import pandas

import ouzel

folder = Path(tempfile.mkdtemp())
frame = pandas.DataFrame({"city": ["Rome", "Oslo"] * 50, "sun": [7.5, 0.5] * 50})
ouzel.OnlineClassifier().fit(frame, ["dry", "wet"] * 50).save(folder / "weather.ouzel")


class OuzelModel(mlflow.pyfunc.PythonModel):
    """A file that `ouzel train` or `save` has written, loaded where it is served."""

    def load_context(self, context):
        self.model = ouzel.load(context.artifacts["model"])

    def predict(self, context, model_input, params=None):
        return self.model.predict(model_input)


mlflow.pyfunc.save_model(
    path=folder / "mlflow",
    python_model=OuzelModel(),
    artifacts={"model": str(folder / "weather.ouzel")},
    pip_requirements=["ouzel"],
)
print(mlflow.pyfunc.load_model(str(folder / "mlflow")).predict(frame[:2]))
