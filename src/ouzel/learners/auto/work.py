"""Room to work in for the default learner, one example at a time; part of its states, as kernels do not allocate."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ouzel.layout import float32, float64, uint32
from ouzel.learners.auto.newton_block import MOST


class Work(NamedTuple):
    slots: np.ndarray  # (d,) uint32  scratch: slots of an example as the models see it
    values: np.ndarray  # (d,) float32  scratch: their z
    raw: np.ndarray  # (d,) float32  x of the dense features of an example, 0 between examples
    z: np.ndarray  # (128,) float64  scratch: z of the block's members
    v: np.ndarray  # (128,) float64  scratch: S z
    chosen: np.ndarray  # (128,) uint32  scratch: places of the members present
    margins: np.ndarray  # (E,) float64  scratch: margins as the mixture sees them
    chances: np.ndarray  # (E + 1,) float64  scratch: probabilities by the models and the mixture
    step: np.ndarray  # (E,) float64  scratch
    root: np.ndarray  # (E, E) float64  scratch: Cholesky's root of A


class JointWork(NamedTuple):
    slots: np.ndarray  # (d,) uint32  scratch: slots of an example as the models see it
    values: np.ndarray  # (d,) float32  scratch: their z
    raw: np.ndarray  # (d,) float32  x of the dense features of an example, 0 between examples
    z: np.ndarray  # (128,) float64  scratch: z of the block's members
    v: np.ndarray  # (128,) float64  scratch: S z
    chosen: np.ndarray  # (128,) uint32  scratch: places of the members present
    scores: np.ndarray  # (E + 4, K) float64  scratch: the models' scores, and four rows to work in
    margins: np.ndarray  # (K, E) float64  scratch: scores as the mixture sees them
    chances: np.ndarray  # (E + 1, K) float64  scratch: probabilities by the models and the mixture
    told: np.ndarray  # (E + 1,) float64  scratch
    step: np.ndarray  # (E,) float64  scratch
    root: np.ndarray  # (E, E) float64  scratch: Cholesky's root of A
    slope: np.ndarray  # (E,) float64  scratch


def layout(dimension: int, models: int) -> Any:
    """The room for so many slots and models E of one margin."""
    return Work(
        slots=uint32(dimension, scratch=True),
        values=float32(dimension, scratch=True),
        raw=float32(dimension, least=0.0, most=0.0),
        z=float64(MOST, scratch=True),
        v=float64(MOST, scratch=True),
        chosen=uint32(MOST, scratch=True),
        margins=float64(models, scratch=True),
        chances=float64(models + 1, scratch=True),
        step=float64(models, scratch=True),
        root=float64(models, models, scratch=True),
    )


def joint_layout(dimension: int, models: int, classes: int) -> Any:
    """The room for so many slots, and models E of so many classes K."""
    return JointWork(
        slots=uint32(dimension, scratch=True),
        values=float32(dimension, scratch=True),
        raw=float32(dimension, least=0.0, most=0.0),
        z=float64(MOST, scratch=True),
        v=float64(MOST, scratch=True),
        chosen=uint32(MOST, scratch=True),
        scores=float64(models + 4, classes, scratch=True),
        margins=float64(classes, models, scratch=True),
        chances=float64(models + 1, classes, scratch=True),
        told=float64(models + 1, scratch=True),
        step=float64(models, scratch=True),
        root=float64(models, models, scratch=True),
        slope=float64(models, scratch=True),
    )
