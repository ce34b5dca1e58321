"""Cases of learning: the model files of every learner and task, of estimators, and what commands print of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import ouzel
from records import adapter, tables
from records.commands import Ran, command, figures, file_parts, last_line, plain
from records.contents import Content
from records.option_sets import OF_TABLES
from records.readings import Case

COUNT = 240
TASKS: dict[str, tuple[str, ...]] = {
    "two classes": ("--label", "mark"),
    "several classes": ("--label", "city"),
    "numbers": ("--label", "amount", "--loss", "squared"),
    "ranking": ("--label", "amount", "--group", "query", "--task", "ranking"),
}
SETS = {
    "words": ("price", "size", "temp", "code", "flag", "review", "city", "mark", "amount", "query", "weight"),
    "numbers": ("price", "size", "temp", "weight", "city", "mark", "amount", "query"),
}
EXTRAS: dict[str, tuple[str, ...]] = {
    "standardised": ("--standardize",),
    "forgetting": ("--half-life", "50"),
    "weights": ("--weight", "weight"),
    "no intercept": ("--no-intercept",),
    "two passes": ("--passes", "2"),
    "holdout": ("--holdout-every", "5"),
    "crosses": ("--cross", "city*code"),
    "n-grams": ("--text", "review", "--ngrams", "2"),
    "bins": ("--bins", "price=4"),
    "indicator": ("--missing", "indicator"),
    "penalty": ("--l2", "0.001"),
    "workers": ("--workers", "2"),
}
CUBIC = "adagrad-full"  # a root of a matrix for each example: of words it would take as long as all others
FEW = ("auto", "ogd", "adagrad", "arow", "pa1", "son-oja", "awm", "ftrl-proximal")


def cases(folder: Path) -> Iterator[Case]:
    """All cases of learning."""
    for name, columns in SETS.items():
        _write(folder / f"{name}.csv", columns)
    (folder / "t.svm").write_bytes(tables.svmlight(tables.table("plain")))
    for learner in adapter.LEARNERS:
        for task, options in TASKS.items():
            several = SETS if task in ("two classes", "numbers") else ("words",)
            for name in ("numbers",) if learner.startswith(CUBIC) else several:
                yield f"model/{learner}/{task}/{name}", partial(trained, learner, options, name, folder)
        yield f"model/{learner}/two classes/ids", partial(trained, learner, (), "t.svm", folder)
    for learner in FEW:
        for name, extra in EXTRAS.items():
            options = (*TASKS["two classes"], *extra)
            yield f"model/{learner}/{name}", partial(trained, learner, options, "words", folder)
        yield f"estimator/{learner}/fit", partial(fitted, learner, folder)
        yield f"estimator/{learner}/learn_one", partial(learnt_one_by_one, learner, folder)
        yield f"estimator/{learner}/merge", partial(merged, learner, folder)
    for name in ("roles", "text", "everything", "indicator"):
        yield f"estimator/adagrad/learn_one/{name}", partial(learnt_one_by_one, "adagrad", folder, name)
    yield from _commands(folder)


def _write(path: Path, columns: tuple[str, ...]) -> None:
    rows = tables.table("plain", COUNT)
    path.write_bytes(tables.delimited([{name: row[name] for name in columns} for row in rows]))


def trained(learner: str, options: tuple[str, ...], name: str, folder: Path) -> Content:
    """The file of a model that `ouzel train` has learnt, and what it printed; or why there is none."""
    model = folder / "m.ouzel"
    model.unlink(missing_ok=True)
    path = name if "." in name else f"{name}.csv"
    left_out = [column for column in ("weight", "query", "mark", "amount") if column not in options and "." not in name]
    given = [part for column in left_out for part in ("--ignore", column)]
    ran = command("train", path, "--learner", learner, *options, *given, "-m", model.name, "--json", folder=folder)
    return _of_file(ran, model, folder)


def _of_file(ran: Ran, model: Path, folder: Path) -> Content:
    if not model.exists() or ran.status:
        return {"said": [last_line(ran, folder)]}
    printed = [plain(line, folder) for line in figures(ran.out)]
    return {**file_parts(model), "printed": printed, "said": [plain(line, folder) for line in ran.err.splitlines()]}


def answering(make: Callable[[], Content]) -> Content:
    """What is made, or why it is refused."""
    try:
        return make()
    except ouzel.OuzelError as error:
        return {"said": [f"refused: {error}"]}


def fitted(learner: str, folder: Path) -> Content:
    """An estimator that has learnt an array, in two parts: its file, and its answers."""

    def make() -> Content:
        rows = tables.table("numbers", COUNT)
        X = np.array([[row["price"], row["size"], row["temp"]] for row in rows])
        y = np.array([row["label"] for row in rows])
        model = ouzel.OnlineClassifier(learner)
        model.partial_fit(X[:100], y[:100], classes=np.unique(y))
        model.partial_fit(X[100:], y[100:])
        return {**_saved(model, folder), "margins": [repr(float(margin)) for margin in model.decision_function(X)]}

    return answering(make)


def learnt_one_by_one(learner: str, folder: Path, name: str | None = None) -> Content:
    """An estimator that has learnt dictionaries one by one, each predicted before it was learnt."""

    def make() -> Content:
        taken = ("bits", "seed", "text", "categorical", "numeric", "dates", "missing", "crosses", "ngrams", "skips")
        given: dict[str, Any] = {}
        if name is not None:
            given = {option: value for option, value in OF_TABLES[name].items() if option in taken}
        model, answers = ouzel.OnlineClassifier(learner, **given), []
        for row in tables.table("odd"):
            features = {column: value for column, value in row.items() if column not in ("label", "amount", "mark")}
            answers.append(_answer(model, features) if answers else "")
            model.learn_one(features, row["label"] == "yes")
        return {**_saved(model, folder), "answers": answers}

    return answering(make)


def _answer(model: Any, features: dict[str, Any]) -> str:
    try:
        return repr(model.predict_proba_one(features))
    except NotImplementedError:  # of a loss without probabilities
        return repr(model.predict_one(features))


def merged(learner: str, folder: Path) -> Content:
    """Models of two halves of a table as one."""

    def make() -> Content:
        rows = tables.table("plain", COUNT)
        pairs = [({name: row[name] for name in ("price", "size", "code", "review")}, row["label"]) for row in rows]
        parts = []
        for half in (pairs[: COUNT // 2], pairs[COUNT // 2 :]):
            model = ouzel.OnlineClassifier(learner)
            for features, label in half:
                model.learn_one(features, label)
            parts.append(model)
        return _saved(ouzel.merge(parts), folder)

    return answering(make)


def _saved(model: Any, folder: Path) -> Content:
    path = folder / "e.ouzel"
    model.save(path)
    return file_parts(path)


def _commands(folder: Path) -> Iterator[Case]:
    """What commands print of models and files."""
    label = ("--label", "mark", "--ignore", "weight", "--ignore", "query", "--ignore", "amount")
    usual = ("train", "words.csv", *label, "--learner", "adagrad", "-m", "c.ouzel")
    later: dict[str, tuple[str, ...]] = {
        "top": ("top", "c.ouzel", "--json"),
        "info": ("info", "c.ouzel", "--json"),
        "predict": ("predict", "c.ouzel", "words.csv", "-o", "OUT.csv"),
        "predict, explained": ("predict", "c.ouzel", "words.csv", "--explain", "3", "-o", "OUT.jsonl"),
        "test": ("test", "c.ouzel", "words.csv", *label[:2], "--json"),
        "resume": (*usual[:-2], "-m", "OUT.ouzel", "--resume", "c.ouzel", "--relearn", "--json"),
        "compare": ("compare", "words.csv", *label, "--learners", "adagrad,arow,ogd", "--json"),
        "explain": ("explain", "words.csv", "--outlier", "price > p80", "--json"),
        "pmi": ("pmi", "words.csv", "--column", "review", "--json"),
        "export": ("export", "c.ouzel", "OUT.onnx"),
    }
    for name, words in later.items():
        yield f"command/{name}", partial(_printed, usual, words, folder)
    for name in ("train", "predict", "convert", "compare"):
        yield f"command/{name} --help", partial(_printed, (), (name, "--help"), folder)
    yield "command/learners", partial(_printed, (), ("learners", "--json"), folder)


def _printed(before: tuple[str, ...], words: tuple[str, ...], folder: Path) -> Content:
    if before:
        command(*before, folder=folder)
    for path in folder.glob("OUT.*"):
        path.unlink()
    ran = command(*words, folder=folder)
    found: Content = {"status": [str(ran.status)], "printed": [plain(line, folder) for line in figures(ran.out)]}
    if ran.status:
        found["said"] = [last_line(ran, folder)]
    for path in folder.glob("OUT.*"):
        if path.suffix == ".ouzel":
            found |= file_parts(path)
        elif path.suffix == ".onnx":
            found["size"] = [str(path.stat().st_size)]
        else:
            found["written"] = path.read_text().splitlines()
    return found
