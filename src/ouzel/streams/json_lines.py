"""JSON lines as a stream: an object a line, its members the features."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ouzel.classes import Label
from ouzel.errors import DataError
from ouzel.sketches.hashing import MOST_ID
from ouzel.streams.block import Block
from ouzel.streams.chunks import chunks_of
from ouzel.streams.labels import as_sign, find_label, group_id, label_of
from ouzel.streams.lines import Problem
from ouzel.streams.memory import blocks_from
from ouzel.streams.options import Options
from ouzel.streams.sources import Source

WORD = re.compile(rb"[A-Za-z0-9'\x80-\xff]+")  # as `cells.read_tokens` parts text
LARGEST = float(np.finfo(np.float32).max)


def read_json_lines(source: Source, options: Options, skipped: Callable[[int], None]) -> Iterator[Block]:
    """Blocks of a file of JSON objects; blank lines do not count."""
    lines = 0
    label: str | None = None
    for data, start, stop in chunks_of(source):
        examples: list[tuple[dict[Any, Any], Label | None, float]] = []
        groups: list[int] = []
        problem = None
        text = bytes(data[start:stop]).split(b"\n")
        for number, line in enumerate(text):
            if not line.strip():
                continue
            try:
                row = _object(line)
                if label is None:
                    label = find_label(options, list(row), f"{source.name}:{lines + number + 1}")
                group = 0 if options.group is None else _group(row, options)
                examples.append(_example(row, label, options))
                groups.append(group)
            except ValueError as error:
                if isinstance(error, DataError):
                    raise
                if options.on_error == "skip":
                    skipped(1)
                    continue
                column = error.colno if isinstance(error, json.JSONDecodeError) else 1
                problem = Problem(number, column, *_said(error))
                break
        given = 0
        for block in blocks_from(examples, bits=options.bits, seed=options.seed):
            here = np.array(groups[given : given + block.rows], np.int64)
            yield block if options.group is None else block._replace(groups=here)
            given += block.rows
        if problem is not None:
            raise problem.error(source.name, lines)
        lines += len(text) - 1


def _said(error: ValueError) -> tuple[str, str]:
    """What was found, and what was expected."""
    if isinstance(error, json.JSONDecodeError):
        return f"no JSON ({error.msg})", 'expected an object such as {"label": 1, "price": 2.5}'
    if isinstance(error, UnicodeDecodeError):
        return "bytes that are no UTF-8", "expected JSON text; save the file as UTF-8"
    found, _, expected = str(error).partition("; ")
    return found, expected


def _object(line: bytes) -> dict[str, Any]:
    row = json.loads(line)
    if not isinstance(row, dict):
        raise ValueError(f'a {type(row).__name__}; expected an object such as {{"label": 1, "price": 2.5}}')
    return row


def _group(row: dict[str, Any], options: Options) -> int:
    group = row.pop(str(options.group), None)
    if group is None or isinstance(group, (dict, list)):
        raise ValueError(f"{options.group!r}: {group}; expected the name or number of a group")
    return group_id(group, options.seed)


def _example(row: dict[str, Any], label: str | None, options: Options) -> tuple[dict[Any, Any], Label | None, float]:
    """Features, label and weight of one object; objects inside it give names such as `outer.inner`."""
    given = None if label is None else row.pop(label, None)
    if isinstance(given, (dict, list)):
        raise ValueError(f"{label!r}: {given}; expected a label, a number or a name")
    target = label_of(given)
    if options.label_positive is not None:
        target = as_sign(target, options.label_positive)
    weight = 1.0
    if options.weight is not None:
        found = row.pop(options.weight, None)
        weight = float(found) if isinstance(found, (int, float)) else math.nan
        if not 0.0 <= weight <= LARGEST:
            raise ValueError(f"{options.weight!r}: {found}; expected a weight, a finite number of 0 or more")
    features: dict[Any, Any] = {}
    for name, value in row.items():
        if name in options.text and value is not None:
            prefix = f"{name}=" if len(options.text) > 1 else ""
            for word in WORD.findall(str(value).encode()):
                token = prefix + word.lower().decode()
                features[token] = features.get(token, 0.0) + 1.0
        elif name not in options.ignore:
            _flatten(_id(name) if name.isdigit() else name, value, features)
    return features, target, weight


def _id(name: str) -> int:
    if int(name) > MOST_ID:
        raise ValueError(f"the feature {name}; expected an id of at most {MOST_ID}, or a name")
    return int(name)


def _flatten(name: Any, value: Any, features: dict[Any, Any]) -> None:
    if isinstance(value, dict):
        for inner, more in value.items():
            _flatten(f"{name}.{inner}", more, features)
    elif isinstance(value, list):
        for more in value:
            features[f"{name}={more}"] = 1.0
    elif value is not None:
        if not isinstance(value, str) and not abs(value) <= LARGEST:
            raise ValueError(f"{name!r}: {value}; expected a finite number that fits 32-bit floating point")
        features[name] = value
