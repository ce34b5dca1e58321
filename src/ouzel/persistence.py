"""A model in one file: safetensors arrays with JSON metadata.

The file holds every setting and all of the state, so that learning k examples, saving, loading and learning the rest
gives the bits of learning them all at once, and the same run writes the same bytes. It is written beside its place,
synced and renamed: whatever happens, the place holds the old file or the new one, whole. Reading it runs no code, and a
digest over everything catches damage.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors import numpy as safetensors

from ouzel.errors import OuzelError
from ouzel.files import write_atomically
from ouzel.learners import catalogue
from ouzel.models import SLOT_LIMIT, Model
from ouzel.streams.features import FeatureNames
from ouzel.terms.names import from_json, to_json

FORMAT = 3  # 1: before the default took safe steps; 2: when sketched Newton kept D
KEY = "ouzel"  # under which the metadata lie
NAME_RULE = "murmur3-32"  # how names become ids


def save(model: Model, path: str | Path, notes: dict[str, Any] | None = None) -> None:
    """Write a model to one file. `notes` are JSON values that `load_notes` gives back: how the stream was read, say."""
    arrays = {
        f"state.{place}.{name}": np.ascontiguousarray(array)
        for place, state in enumerate(model.states)
        for name, array in _flat(state)
    }
    described = json.dumps(_describe(model, notes or {}), ensure_ascii=False)
    metadata = {KEY: described, "digest": _digest(described, arrays)}
    header, data = _in_order(safetensors.save(arrays, metadata))
    with write_atomically(path) as file:
        file.write(header)
        file.write(data)


def _in_order(content: bytes) -> tuple[bytes, memoryview]:
    """The header and the data of a safetensors file; the library writes the entries of the header in random order."""
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.dumps(
        json.loads(content[8:start]), sort_keys=True, ensure_ascii=False, separators=(",", ":")
    ).encode()
    header += b" " * (-len(header) % 8)  # the arrays are aligned
    return len(header).to_bytes(8, "little") + header, memoryview(content)[start:]


def load_model(path: str | Path) -> Model:
    """The model that `save` wrote."""
    return load_notes(path)[0]


def load_notes(path: str | Path) -> tuple[Model, dict[str, Any]]:
    """The model that `save` wrote, and the notes saved with it."""
    path = Path(path)
    metadata, arrays = _read(path)
    try:
        described = json.loads(metadata[KEY])
        if described["format"] != FORMAT:
            raise OuzelError(
                f"{path}: is a model of format {described['format']}, this version reads format {FORMAT}; "
                "use the version of Ouzel that wrote it"
            )
        if _digest(metadata[KEY], arrays) != metadata["digest"]:
            raise OuzelError(f"{path}: the model file is damaged (its digest does not match); copy or train it again")
        return _rebuild(described, arrays), described["notes"]
    except OuzelError as error:
        raise OuzelError(str(error) if str(error).startswith(str(path)) else f"{path}: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, MemoryError) as error:
        raise OuzelError(f"{path}: not a model this version can use ({error!r}); train it again") from None


def _describe(model: Model, notes: dict[str, Any]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "learner": model.learner.name,
        "settings": to_json(model.settings),
        "task": model.task,
        "intercept": model.intercept,
        "classes": list(model.classes.known),
        "closed": model.classes.closed,
        "names_hashed_by": NAME_RULE,
        "bits": model.bits,
        "seed": model.seed,
        "pairs": model.pairs,
        "examples": model.examples,
        "unlabelled": model.unlabelled,
        "dimension": model.dimension,
        "room": model.room,
        "states": len(model.states),
        "names": model.names.to_json(),
        "notes": notes,
    }


def _rebuild(described: dict[str, Any], arrays: dict[str, np.ndarray]) -> Model:
    """The model of checked parts: every array has the shape and type that the learner itself would give it."""
    learner = catalogue.find(described["learner"])
    if described["names_hashed_by"] != NAME_RULE:
        raise OuzelError(f"names were hashed by {described['names_hashed_by']!r}, this version knows {NAME_RULE!r}")
    settings = from_json(learner.module.Settings, described["settings"])
    model = Model(
        learner.name,
        intercept=described["intercept"],
        classes=described["classes"] if described["closed"] else None,
        task=described["task"],
        bits=described["bits"],
        seed=described["seed"],
        pairs=described.get("pairs", 0),
        **({"loss": settings.loss} if hasattr(settings, "loss") else {}),
    )
    model.settings = settings
    if not described["closed"]:
        for label in described["classes"]:
            model.classes.position(label)
        model.states, model.room = [], 0  # those made above have the sizes of other settings
        model.make_states(len(model.classes))
    model.examples, model.unlabelled = int(described["examples"]), int(described["unlabelled"])
    model.dimension, model.room = int(described["dimension"]), int(described["room"])
    if not 1 <= model.dimension <= SLOT_LIMIT + 1 or len(model.states) != described["states"]:
        raise ValueError(f"{described['states']} states of dimension {model.dimension}")
    shape = (model.capacity, model.room) if learner.multiclass else (model.capacity,)
    for place in range(len(model.states)):
        model.states[place] = _restore(learner.module.init(*shape, model.settings), f"state.{place}", arrays)
    model.names = FeatureNames.from_json(described["names"])
    return model


def _flat(state: Any, prefix: str = "") -> list[tuple[str, np.ndarray]]:
    """The arrays of a state by name; a state within a state is a dotted name."""
    found: list[tuple[str, np.ndarray]] = []
    for name, part in state._asdict().items():
        found += _flat(part, f"{prefix}{name}.") if isinstance(part, tuple) else [(prefix + name, part)]
    return found


def _restore(fresh: Any, prefix: str, arrays: dict[str, np.ndarray]) -> Any:
    """A state like `fresh`, with the arrays of the file."""
    parts = []
    for name, part in fresh._asdict().items():
        if isinstance(part, tuple):
            parts.append(_restore(part, f"{prefix}.{name}", arrays))
            continue
        stored = arrays[f"{prefix}.{name}"]
        if stored.shape != part.shape or stored.dtype != part.dtype:
            raise ValueError(f"{prefix}.{name} is {stored.dtype} {stored.shape}, not {part.dtype} {part.shape}")
        parts.append(stored)
    return type(fresh)(*parts)


def _read(path: Path) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    try:
        with safe_open(path, framework="np") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 not a dictionary
    except FileNotFoundError:
        raise OuzelError(f"{path}: there is no such model file; `ouzel train … --model {path}` makes one") from None
    except SafetensorError as error:
        raise OuzelError(f"{path}: not a model file, or one cut short ({error})") from None
    except OSError as error:
        raise OuzelError(f"{path}: cannot be read ({error.strerror or error})") from None
    if KEY not in metadata:
        raise OuzelError(f"{path}: a safetensors file, but not one that Ouzel wrote")
    return metadata, arrays


def _digest(described: str, arrays: dict[str, np.ndarray]) -> str:
    digest = hashlib.sha256(described.encode())
    for name in sorted(arrays):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(arrays[name]).data.cast("B") if arrays[name].size else b"")
    return digest.hexdigest()
