"""A draft: what a design proposes, in floating point, not to be trusted until it is locked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from liftlock._solver.optimality import Optimality
from liftlock._solver.profile_problem import ProfileProblem
from liftlock.alphabet import Alphabet
from liftlock.errors import RowError
from liftlock.exact.integers import Floats
from liftlock.forms import SupportChannel

SUM_TOLERANCE = 1e-6
NEGATIVE_TOLERANCE = 1e-9


@dataclass(frozen=True)
class FormDraft:
    """A proposed channel of a form of its own, in integers that are still to be certified."""

    channel: SupportChannel
    method: str = ""
    """The key of the design in the registry."""
    optimality: Optimality | None = None
    remarks: tuple[str, ...] = ()
    """What a user should know of how it was made, one sentence each."""

    @property
    def inputs(self) -> Alphabet:
        """The symbols it accepts."""
        return self.channel.inputs


@dataclass(frozen=True)
class Draft:
    """A proposed channel P(y | x) in floats; rows may be off 1 by what a solver leaves.

    >>> Draft.of(["a", "b"], ["a", "b"], [[0.75, 0.25], [0.25, 0.75]]).matrix.shape
    (2, 2)
    """

    inputs: Alphabet
    outputs: Alphabet
    matrix: Floats
    method: str = ""
    """The key of the design in the registry."""
    optimality: Optimality | None = None
    remarks: tuple[str, ...] = ()
    """What a user should know of how it was made, one sentence each."""
    faithful: bool = False
    """Whether it is somebody's formula, to be locked as it is or refused, never softened."""

    @classmethod
    def of(
        cls,
        inputs: Iterable[Any] | Alphabet,
        outputs: Iterable[Any] | Alphabet,
        matrix: Any,
        *,
        method: str = "",
        optimality: Optimality | None = None,
        remarks: Iterable[str] = (),
        faithful: bool = False,
    ) -> Draft:
        """Make a draft from labels and a matrix, one row for each input."""
        rows = inputs if isinstance(inputs, Alphabet) else Alphabet.of(inputs)
        columns = outputs if isinstance(outputs, Alphabet) else Alphabet.of(outputs)
        array = np.array(matrix, dtype=np.float64)
        return cls(rows, columns, array, method, optimality, tuple(remarks), faithful)

    @classmethod
    def from_rows(cls, rows: Mapping[Any, Mapping[Any, float]]) -> Draft:
        """Make a draft from a table input -> output -> probability."""
        first = next(iter(rows.values()))
        return cls.of(rows, first, [[row[y] for y in first] for row in rows.values()])

    def __post_init__(self) -> None:
        shape = (len(self.inputs), len(self.outputs))
        if self.matrix.shape != shape:
            raise RowError(f"matrix of shape {self.matrix.shape}, labels for {shape}")
        bad = np.argwhere(~np.isfinite(self.matrix) | (self.matrix < -NEGATIVE_TOLERANCE))
        if len(bad):
            x, y = (int(i) for i in bad[0])
            raise RowError(
                "probability is not a number of 0 or more",
                where=f"input {self.inputs.labels[x]!r}, output {self.outputs.labels[y]!r}",
                value=float(self.matrix[x, y]),
            )
        sums = self.matrix.sum(axis=1)
        off = np.flatnonzero(np.abs(sums - 1) > SUM_TOLERANCE)
        if len(off):
            x = int(off[0])
            raise RowError(
                "row does not sum to 1",
                where=f"input {self.inputs.labels[x]!r}",
                value=float(sums[x]),
                remedy=f"a draft may be off by at most {SUM_TOLERANCE:g}",
            )
        self.matrix.setflags(write=False)


def draft_of_blocks(
    problem: ProfileProblem,
    blocks: Floats,
    method: str,
    *,
    optimality: Optimality | None = None,
    remarks: tuple[str, ...] = (),
    faithful: bool = False,
) -> Draft:
    """Make the draft of a channel for profiles, in blocks; its outputs are the values."""
    graph = problem.graph
    shared = len(blocks) == 1 and len(graph) != 1
    rows = np.clip(blocks if shared else problem.covered(blocks), 0.0, None)
    rows = rows / rows.sum(axis=2, keepdims=True)
    return Draft.of(
        graph.inputs if shared else graph.pairs,
        graph.inputs,
        rows.reshape(-1, problem.values),
        method=method,
        optimality=optimality,
        remarks=remarks,
        faithful=faithful,
    )
