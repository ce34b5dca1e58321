"""JSON lines."""

from __future__ import annotations

from collections.abc import Sequence

from torture.targets.delimited import Csv

SAMPLES = (
    b'{"label": 1, "city": "Rome", "a": 0.5, "b": "x"}\n{"label": 0, "city": "Bonn", "a": -2e3, "b": null}\n' * 9,
    b'{"y":"yes","a":1,"b":true,"id":"k1"}\n{"y":"no","a":null,"b":false,"id":"k2"}\r\n{"y":"no"}\n',
    b'{"label": 1, "price": 2.5, "tags": ["a", "b"]}\n{"label": 0, "price": -1, "tags": []}\n' * 3,
    b'{"y": "yes", "outer": {"inner": 1, "deep": {"x": "w"}}, "t": true}\n{"y": "no", "outer": null}\n',
    b'{"label": 1.5, "text": "the quick \\u00e9 \\n fox", "weight": 0.5}\n{"label": null, "text": ""}\n',
    b'{"label": 1, "indices": [1, 5, 9], "values": [0.5, 2, -1]}\n{"label": 0, "indices": [], "values": []}\n',
    b'{"label": 12345678901234567890, "a": 1e300, "b": [1, "x", null, [2]]}\n',
    b'{"label": 1, "a": 1}\n{"label": 0, "a": "word"}\n{"label": 1, "b": [{"c": 1}]}\n',
    b'{"group": "q1", "label": 2, "a": 0.5}\n{"group": 7, "label": 1, "a": 2}\n',
    b'{"label": 1, "a": ' + b"[" * 40 + b"]" * 40 + b"}\n",
    b'{"label": 1, "a": ' + b'{"a": ' * 40 + b"1" + b"}" * 40 + b"}\n",
)


class JsonLines(Csv):
    name = "jsonl"
    weight = 14
    about = "JSON lines"
    format = "jsonl"
    suffixes = (".jsonl", ".ndjson", "")

    def samples(self) -> Sequence[bytes]:
        return SAMPLES
