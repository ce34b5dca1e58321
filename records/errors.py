"""Cases of broken input: the one line that the command line, Python or the service answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import scipy.sparse as sparse

import ouzel
from records.broken import ARGUMENTS, CSV, FILES, GOOD, JSON, LEARN, VW
from records.commands import command, last_line, plain
from records.contents import Content
from records.readings import Case
from records.serving import Server


def cases(folder: Path) -> Iterator[Case]:
    """All cases of broken input."""
    for name, data in {"g.svm": GOOD, "g.csv": CSV, "g.jsonl": JSON, "g.vw": VW}.items():
        (folder / name).write_bytes(data)
    (folder / "p").mkdir()
    for name, (file, content) in FILES.items():
        yield f"error/train/{name}", partial(_file, file, content, folder)
        yield f"error/read/{name}", partial(_read, file, content, folder)
    for name, words in ARGUMENTS.items():
        yield f"error/command/{name}", partial(_command, words, folder)
    for name, call in _calls(folder).items():
        yield f"error/python/{name}", partial(_call, call, folder)
    server = Server(folder, {"model": ("--learner", "adagrad", "--numeric", "n")})
    try:
        for name, (kind, body) in LEARN.items():
            for action in ("learn", "predict"):
                yield f"error/http/{action}/{name}", partial(_response, server, f"/v1/{action}", body, kind)
        for name, (path, text) in {
            "label of nothing": ("/v1/label", '{"id": "none", "label": 1}'),
            "label without id": ("/v1/label", '{"label": 1}'),
            "no such model": ("/v1/models/none/learn", '{"label": 1}'),
            "no such path": ("/v1/nothing", "{}"),
            "explain no JSON": ("/v1/explain", "{"),
            "infer nothing": ("/v2/models/model/infer", "{}"),
        }.items():
            yield f"error/http/{name}", partial(_response, server, path, text.encode(), "application/json")
    finally:
        server.close()


def _file(name: str, content: bytes, folder: Path) -> Content:
    (folder / name).write_bytes(content)
    return {"line": [last_line(command("train", name, "--learner", "ogd", folder=folder), folder)]}


def _read(name: str, content: bytes, folder: Path) -> Content:
    path = folder / name
    path.write_bytes(content)
    return _call(lambda: sum(block.rows for block in ouzel.read(path)), folder)


def _command(words: tuple[str, ...], folder: Path) -> Content:
    if "m.ouzel" in words:
        command("train", "g.svm", "--learner", "ogd", "-m", "m.ouzel", folder=folder)
    return {"line": [last_line(command(*words, folder=folder), folder)]}


def _call(call: Callable[[], Any], folder: Path) -> Content:
    try:
        said = f"gives {call()!r}"
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
    return {"line": [plain(said, folder)]}


def _response(server: Server, path: str, body: bytes, kind: str) -> Content:
    answer = server.ask("POST", path, body, kind)
    return {"line": [f"{answer.status} {' / '.join(answer.body.decode().splitlines())}"]}


def _calls(folder: Path) -> dict[str, Callable[[], Any]]:
    """Calls of Python that are refused."""
    X, y = np.eye(3), [0, 1, 1]
    pairs = [({"a": 1.0}, 1), ({"a": "x"}, 0)]
    damaged = sparse.csr_matrix(np.eye(3))
    damaged.indices[0] = 9

    def rows(*given: Any, **options: Any) -> int:
        return sum(block.rows for block in ouzel.blocks_from(*given, **options))

    def read(name: str, **options: Any) -> int:
        return sum(block.rows for block in ouzel.read(folder / name, **options))

    def fitted() -> Any:
        return ouzel.OnlineClassifier("ogd").fit(X, y)

    def forged() -> Any:
        (folder / "x.ouzel").write_bytes(b"\x10\0\0\0\0\0\0\0{}              ")
        return ouzel.load(folder / "x.ouzel")

    return {
        "read option": lambda: read("g.csv", lable="a"),
        "read bits": lambda: read("g.csv", bits=0),
        "read bits of words": lambda: read("g.csv", bits="many"),
        "read seed": lambda: read("g.csv", seed=-1),
        "read format": lambda: read("g.csv", format="excel"),
        "read missing": lambda: read("g.csv", missing="zero"),
        "read on_error": lambda: read("g.csv", on_error="ignore"),
        "read delimiter": lambda: read("g.csv", delimiter="::"),
        "read text": lambda: read("g.csv", text=7),
        "read crosses": lambda: read("g.csv", crosses=["a*"]),
        "read ngrams": lambda: read("g.csv", ngrams=["b=99"]),
        "read bins": lambda: read("g.csv", bins={"a": 1}),
        "read limits": lambda: read("g.csv", limits={"lines": "1GB"}),
        "read a size": lambda: read("g.csv", limits={"line": "much"}),
        "read space": lambda: read("g.csv", space="known"),
        "read twice": lambda: read("g.csv", label="a", weight="a"),
        "read query": lambda: read("g.svm", query=str(folder / "absent")),
        "read columns of json": lambda: read("g.jsonl", columns=["a"]),
        "array of one dimension": lambda: rows(np.ones(3)),
        "array of nan": lambda: rows(np.array([[np.nan]])),
        "array of text": lambda: rows(np.array([["a"]])),
        "array with columns": lambda: rows(X, y, text="a"),
        "labels too few": lambda: rows(X, [1]),
        "weights negative": lambda: rows(X, y, weights=[-1, 0, 1]),
        "weights too few": lambda: rows(X, y, weights=[1]),
        "damaged matrix": lambda: rows(damaged, y),
        "no data": lambda: rows(7),
        "pairs alone": lambda: rows([{"a": 1}]),
        "dictionary of nan": lambda: rows([({"a": float("inf")}, 1)]),
        "dictionary of objects": lambda: rows([({"a": object()}, 1)]),
        "dictionary delimiter": lambda: rows(pairs, delimiter=";"),
        "dictionary labels": lambda: rows([({"a": 1}, [1])]),
        "frame without label": lambda: rows(pyarrow.table({"a": [1, 2]}), label="z"),
        "frame sample": lambda: rows(pyarrow.table({"a": [1, 2]}), sample=3),
        "frame infinite": lambda: rows(pyarrow.table({"a": [1.0, float("inf")]})),
        "frame nested": lambda: rows(pyarrow.table({"a": [[{"b": 1}]]})),
        "learner": lambda: ouzel.OnlineClassifier("adagrid").fit(X, y),
        "setting": lambda: ouzel.OnlineClassifier("ogd", learning_rat=1),
        "setting of words": lambda: ouzel.OnlineClassifier("ogd", learning_rate="fast").fit(X, y),
        "loss": lambda: ouzel.OnlineClassifier("ogd", loss="hinged").fit(X, y),
        "not fitted": lambda: ouzel.OnlineClassifier("ogd").predict(X),
        "other columns": lambda: fitted().predict(np.eye(4)),
        "other kind": lambda: fitted().predict_one({"a": 1}),
        "nan in fit": lambda: ouzel.OnlineClassifier("ogd").fit([[np.nan]], [1]),
        "one class": lambda: ouzel.OnlineClassifier("ogd").fit(X, [1, 1, 1]).predict(X).tolist(),
        "target of words": lambda: ouzel.OnlineRegressor("ogd").fit(X, ["a", "b", "c"]),
        "budget": lambda: ouzel.AWMSketchClassifier(budget="8 elephants").fit(X, y),
        "load nothing": lambda: ouzel.load(folder / "absent"),
        "load data": lambda: ouzel.load(folder / "g.csv"),
        "load forged": forged,
        "merge nothing": lambda: ouzel.merge([]),
        "merge others": lambda: ouzel.merge([fitted(), ouzel.OnlineClassifier("adagrad").fit(X, y)]),
        "convert": lambda: ouzel.convert(ouzel.read(folder / "g.csv"), folder / "g.xls"),
        "write svmlight of names": lambda: ouzel.write_svmlight(
            ouzel.read(folder / "g.csv"), folder / "nowhere" / "g.svm"
        ),
        "info of data": lambda: ouzel.info(folder / "g.csv"),
        "model": lambda: ouzel.Model("adagrid"),
        "client": lambda: ouzel.Client("nowhere").predict({"a": 1}),
    }
