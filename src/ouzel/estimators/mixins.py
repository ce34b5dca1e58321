"""Mixins of named estimators: attributes of a sketch, rules between parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.estimators.named import Named

PLAIN = {"loss": "logistic", "l1": 0.0, "per_feature": False, "cell_bits": 32}  # of noise-contrastive estimation


class Sketched(Named):
    """Attributes of the sketch; with three or more classes, of the sketch of the first class."""

    @property
    def eigenvalues_(self) -> np.ndarray:
        """Estimated leading eigenvalues (sketch_size,) of the mean outer product of what is sketched, largest first."""
        return np.sort(self.model_.module.eigenvalues(self.model_.states[0]))[::-1]

    @property
    def directions_(self) -> np.ndarray:
        """The eigenvectors (sketch_size, 1 + features) to `eigenvalues_`, the constant first.

        Rows are orthonormal, over features as the sketch sees them: scaled if `diagonal`. A sketch larger than what it
        has seen of features ends in rows of zeros.
        """
        state, width = self.model_.states[0], self.model_.dimension
        order = np.argsort(-self.model_.module.eigenvalues(state), kind="stable")
        return self.model_.module.directions(state)[order, :width]

    @property
    def condition_number_(self) -> float:
        """Effective condition number: that of the metric A which the sketch stands for."""
        return self.model_.module.condition_number(self.model_.states[0], self.model_.settings)


class ActiveSet(Named):
    """The learner of many classes, by noise-contrastive estimation, where `noise` is not 0."""

    noise: int

    @classmethod
    def choice(cls, learner: str) -> dict[str, Any] | None:
        """Return the parameters, other than settings, that choose a learner of the catalogue; None if none do."""
        return {} if learner in ("awm", "awm-nce") else None

    def _learner_name(self) -> str:
        return "awm-nce" if self.noise else "awm"

    def _settings(self) -> dict[str, Any]:
        settings = super()._settings()
        if not self.noise:
            del settings["noise"]
            return settings
        for name, only in PLAIN.items():
            if settings.pop(name) != only:
                given = getattr(self, name)
                raise OuzelError(f"noise-contrastive estimation has {name}={only!r}: that, or noise=0; got {given!r}")
        return settings


class PassiveAggressive(Named):
    """Only the first variant takes another loss than the hinge."""

    variant: str
    loss: Any

    def _settings(self) -> dict[str, Any]:
        if self.variant != "pa1" and self.loss != "hinge":
            raise OuzelError(f"only variant='pa1' takes another loss than the hinge; got {self.loss!r}")
        return super()._settings()


class ConfidenceWeighted(Named):
    """Learner that fits every example, the wrongly labelled too."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags
