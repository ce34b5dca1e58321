"""A service in this process, as its tests ask it."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from ouzel.service.app import application
from ouzel.service.folder import Folder, begin
from ouzel.service.limits import ServiceLimits
from ouzel.service.metrics import Metrics
from ouzel.service.served import Served
from ouzel.service.service import Service
from ouzel.service.shadowing import Shadowing
from ouzel.service.tokens import Tokens

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Starlette's own client is about to change what it is built on
    from starlette.testclient import TestClient

Start = Callable[..., TestClient]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """`start(...)`: a client of a service of the model in `tmp_path / "model"`, which ends with the test."""
    with ExitStack() as stack:

        def begun(
            *,
            limits: ServiceLimits | None = None,
            tokens: Tokens | None = None,
            learner: str = "adagrad",
            names: tuple[str, ...] = ("model",),
            settings: dict | None = None,
            reading: dict | None = None,
            class_weight: str | dict | None = None,
            interval: float | None = None,
            standardize: bool | str = "auto",
            shadow: bool = False,
            on_alarm: bool = False,
            say: Callable[[str], None] = lambda line: None,
        ) -> TestClient:
            metrics, limits = Metrics(), limits or ServiceLimits()
            models = {}
            for name in names:
                folder = Folder(tmp_path / name)
                if not folder.begun:
                    begin(
                        folder,
                        None,
                        learner,
                        settings or {},
                        reading or {},
                        {"class_weight": class_weight, "interval": interval, "standardize": standardize},
                    )
                models[name] = Served(folder, limits, 3600.0, say, metrics=metrics)
            shadowing = Shadowing(*models.values(), on_alarm) if shadow else None
            app = application(Service(models, limits, metrics, shadowing), tokens)
            return stack.enter_context(TestClient(app, "http://localhost"))

        yield begun


@pytest.fixture
def client(start: Start) -> TestClient:
    """A client of a new service."""
    return start()
