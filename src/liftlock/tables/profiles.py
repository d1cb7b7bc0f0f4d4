"""A column whose rows are observations of profiles, which another column may name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from liftlock.accounting.account import INSIST, MOST_NATS, useless_text
from liftlock.accounting.composition import edge_budget
from liftlock.errors import (
    CellError,
    InputError,
    NotComposable,
    NotDefined,
    listed,
)
from liftlock.mechanism import Mechanism
from liftlock.model import ProfileGraph
from liftlock.model.alphabet import Label
from liftlock.model.columns import ColumnEncoding
from liftlock.notions.lift import Impossible, check_impossible
from liftlock.report.format import shown, shown_pair
from liftlock.sampling.release import coded_rows
from liftlock.tables.cells import CellEncoder
from liftlock.tables.randomiser import ColumnRandomiser

if TYPE_CHECKING:
    import pyarrow as pa

_LISTED = 3
_MOST_KNOWN = 8


@dataclass(frozen=True)
class ProfileColumn(ColumnRandomiser):
    """A mechanism for a graph of profiles at work on a column of values, and one of profiles.

    The column of profiles comes last in what is read, and is not released. Without one, the
    mechanism must ignore the profile, and must protect every value of every profile.

    >>> import pyarrow as pa
    >>> from liftlock import ProfilePrivacy, design
    >>> made = design(ProfileGraph.bernoulli({"a": "0.2", "b": "0.4"}), ProfilePrivacy("1"))
    >>> column = ProfileColumn(made, None, ("bit",), profiles="who")
    >>> (reports,) = column.release([pa.array([0, 1]), pa.array(["a", "b"])])
    >>> set(reports.to_pylist()) <= {0, 1}, column.rows_of()
    (True, {'a': 1, 'b': 1})
    """

    profiles: Any = None
    """The column that says whose each value is."""
    impossible: Impossible = "refuse"
    """What becomes of values that their profile calls impossible, and that nothing protects."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_impossible(self.impossible)
        if self.profiles is not None:
            if self.profiles in self.names:
                raise InputError(
                    "the values and their profiles are the same column",
                    value=self.profiles,
                    remedy="name two",
                )
            return
        if self.graph.uses_profile(self.mechanism.channel.inputs):
            raise InputError(
                "no profiles, and the mechanism uses the profile of each value",
                remedy="name their column: --profile-column, profiles= in Python",
            )
        bare = self.mechanism.certificate.unprotected
        if bare and self.impossible == "refuse":
            raise InputError(
                "values that some profiles call impossible, and that would give them away",
                value=", ".join(map(shown_pair, bare[:_LISTED])),
                remedy="give --profile-column to have it checked that none occurs, or say that "
                "none does (--impossible ignore); profiles= and impossible= in Python",
            )

    @property
    def graph(self) -> ProfileGraph:
        """The profiles, and which of them must not be told apart."""
        context = self.mechanism.context
        if not isinstance(context, ProfileGraph):
            raise NotDefined(
                "releasing a column by profiles",
                context.describe(),
                "leave the profiles out: it knows none",
            )
        return context

    @property
    def needs(self) -> tuple[Any, ...]:
        """The columns that are read: that of the values, and that of the profiles."""
        return self.names if self.profiles is None else (*self.names, self.profiles)

    @property
    def hides(self) -> tuple[Any, ...]:
        """The column of the profiles, which are what is to be hidden."""
        return () if self.profiles is None else (self.profiles,)

    @cached_property
    def observed(self) -> npt.NDArray[np.int64]:
        """How many rows each pair (profile, value) has had so far, if profiles are read."""
        return np.zeros(len(self.graph.pairs), dtype=np.int64)

    def rows_of(self) -> dict[Label, int]:
        """Return how many rows each profile has had so far, most first."""
        totals = self.observed.reshape(len(self.graph), -1).sum(axis=1).tolist()
        found = zip(self.graph.profiles.labels, totals, strict=True)
        return dict(sorted(((name, rows) for name, rows in found if rows), key=lambda of: -of[1]))

    def refuse_useless(self) -> None:
        """Refuse so many rows of a profile that they protect nothing together.

        Source: 004 Obs 4.
        """
        alone = set(self.graph.isolated)
        name, most = next((of for of in self.rows_of().items() if of[0] not in alone), ("", 0))
        lost = edge_budget(self.mechanism).scaled(most)
        if most > 1 and not lost.is_infinite and lost.lower > MOST_NATS:
            why = useless_text(f"the {most:,} rows of {shown(name)} lose", lost)
            raise NotComposable(f"{why}; release fewer rows of a profile, or insist ({INSIST})")

    def unprotected_rows(self) -> int:
        """Return how many rows so far have a value that nothing protects under their profile."""
        return int(self.observed[self._bare].sum())

    def inputs(self, columns: Sequence[pa.Array | pa.ChunkedArray]) -> npt.NDArray[Any]:
        """Return the input of each row, its value under its profile, and count the pairs."""
        codes = _read(self._values, columns[0], "value")
        if self.profiles is None:
            return coded_rows(self.mechanism.channel, self.graph, codes)
        whose = _read(self._names, columns[1], "profile").astype(np.int64)
        pairs = whose * len(self.graph.inputs) + codes
        if self.impossible == "refuse" and len(self._bare):
            for row in np.flatnonzero(np.isin(pairs, self._bare))[:1]:
                raise CellError(
                    "a value that its profile calls impossible, which has no guarantee",
                    int(row),
                    str(self.names[0]),
                    value=shown_pair(self.graph.pairs.labels[int(pairs[row])]),
                    remedy="design with smoothed profiles, drop the row, or release it without a "
                    "guarantee (--impossible ignore)",
                )
        self.observed[:] += np.bincount(pairs, minlength=len(self.observed))
        return coded_rows(self.mechanism.channel, self.graph, codes, whose)

    @cached_property
    def _values(self) -> CellEncoder:
        return CellEncoder(ColumnEncoding(str(self.names[0])), self.graph.inputs)

    @cached_property
    def _names(self) -> CellEncoder:
        return CellEncoder(ColumnEncoding(str(self.profiles)), self.graph.profiles)

    @cached_property
    def _bare(self) -> npt.NDArray[np.int64]:
        """The pairs that the certificate does not cover."""
        bare = self.mechanism.certificate.unprotected
        return np.array([self.graph.pairs.index(pair) for pair in bare], dtype=np.int64)

    def _check_profiles(self) -> None:
        """They are looked at."""


def _read(cells: CellEncoder, column: pa.Array | pa.ChunkedArray, what: str) -> npt.NDArray[Any]:
    """Return the position of each cell; what is none of the known labels is named."""
    try:
        return cells.codes(column)
    except CellError as refusal:
        raise CellError(
            f"no {what}" if refusal.value is None else f"unknown {what}",
            refusal.row,
            refusal.column,
            value=refusal.value,
            remedy=f"the mechanism knows {listed(cells.inputs.labels, _MOST_KNOWN)}",
        ) from None


def column_worker(
    mechanism: Mechanism,
    column: Any,
    unseen: str | None = None,
    profiles: Any = None,
    impossible: Impossible = "refuse",
) -> ColumnRandomiser:
    """Return what releases a column: by its profiles, if that is what the mechanism is for."""
    found = ColumnRandomiser.of(mechanism, column, unseen)
    if isinstance(mechanism.context, ProfileGraph):
        return ProfileColumn(mechanism, unseen, found.names, profiles, impossible)
    if profiles is not None:
        raise InputError(
            "profiles for a mechanism that knows none",
            value=mechanism.certificate.guarantee,
            remedy="leave them out",
        )
    return found
