"""A mechanism at work on the columns that it releases: one, or several that are one value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from liftlock.errors import InputError
from liftlock.estimate.aggregate import Aggregate
from liftlock.mechanism import Mechanism
from liftlock.tables.encoding import ArrowColumn, ArrowGroup

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Worker:
    """What tasks do with a mechanism; nothing random is in it."""

    names: tuple[str, ...]
    work: ArrowColumn | ArrowGroup

    @classmethod
    def of(cls, mechanism: Mechanism, column: str | None, unseen: str | None = None) -> Worker:
        """Take the column that is named, or those that the mechanism was made for."""
        if not isinstance(mechanism, Mechanism):
            raise InputError(
                "not a mechanism",
                value=type(mechanism).__name__,
                remedy="make one with liftlock.design(...), or load it with Mechanism.load(...)",
            )
        group = mechanism.group
        if group is not None:
            if column is not None:
                raise InputError(
                    "a mechanism for several columns at once",
                    value=", ".join(group.names),
                    remedy="leave the column out",
                )
            return cls(group.names, ArrowGroup(mechanism, unseen))
        own = mechanism.column.name if mechanism.column is not None else ""
        name = column if column is not None else own
        if not name:
            raise InputError(
                "no column", remedy="name one: the mechanism was made for none of its own"
            )
        return cls((name,), ArrowColumn(mechanism, unseen))

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism."""
        return self.work.mechanism

    def types(self, before: Sequence[pa.DataType]) -> list[pa.DataType]:
        """Return the types of the columns once they are released."""
        if isinstance(self.work, ArrowGroup):
            return self.work.released_types(before)
        return [self.work.released_type(before[0])]

    def may_be_missing(self, place: int) -> bool:
        """Tell whether a column may have missing cells once it is released."""
        if isinstance(self.work, ArrowGroup):
            return self.work.may_be_none(place)
        return self.work.code.keeps_missing or self.work.may_be_none

    def released(self, cells: Sequence[pa.Array]) -> list[pa.Array]:
        """Randomise the rows of a batch."""
        if isinstance(self.work, ArrowGroup):
            return self.work.released(cells)
        return [self.work.released(cells[0])]

    def counted(self, cells: Sequence[pa.Array], **numbers: Any) -> Aggregate:
        """Count the reports of a batch."""
        if isinstance(self.work, ArrowGroup):
            return self.work.counted(cells, **numbers)
        return self.work.counted(cells[0], **numbers)
