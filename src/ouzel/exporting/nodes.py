"""Nodes and constants of an ONNX graph, as they are added."""

from __future__ import annotations

from typing import Any

import numpy as np


class Graph:
    """Nodes as they are added, `graph("Add", "x", 1.0)`; a node is called by what it gives, constants are arrays."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def __call__(self, operator: str, *inputs: Any, name: str = "", **attributes: Any) -> str:
        from onnx import helper

        name = name or f"{operator}_{len(self.nodes)}"
        names = [given if isinstance(given, str) else self._constant(given) for given in inputs]
        self.nodes.append(helper.make_node(operator, names, [name], name=name, **attributes))
        return name

    def _constant(self, value: Any) -> str:
        from onnx import numpy_helper

        name = f"constant_{len(self.constants)}"
        array = np.asarray(value)
        self.constants.append(numpy_helper.from_array(array.astype(object) if array.dtype.kind == "U" else array, name))
        return name
