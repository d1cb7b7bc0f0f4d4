"""Whose each row is, where a person has several: what is promised of all of them together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from liftlock.errors import FileError, InputError

PerPerson = Literal["divide", "repeat"]
PER_PERSON: tuple[PerPerson, ...] = get_args(PerPerson)


@dataclass(frozen=True)
class PersonRule:
    """The column that names the person of each row, and what all rows of a person keep together.

    ``divide``: every row is randomised by itself, and the levels of LDP of so many `rows` add up to
    no more than the promise, whatever the rows have in common. ``repeat``: a person has one report,
    which stands in all rows of that person, however many these are.

    >>> rule = PersonRule("user", "divide", 25, "lip", {"epsilon": "0.5"})
    >>> PersonRule.from_data(rule.to_data()) == rule
    True
    """

    column: str
    mode: PerPerson
    rows: int
    """With ``divide``: no person may have more rows. With ``repeat``: the most that any had."""
    notion: str
    """The promise for a person, by the key of its notion."""
    budgets: Mapping[str, str]

    def __post_init__(self) -> None:
        if self.mode not in PER_PERSON:
            raise InputError(
                "unknown way to protect several rows of a person",
                value=self.mode,
                remedy=f"use {' or '.join(PER_PERSON)}",
            )
        if self.rows < 1:
            raise InputError("a person has less than one row", value=self.rows)

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "column": self.column,
            "mode": self.mode,
            "rows": self.rows,
            "notion": self.notion,
            "budgets": dict(self.budgets),
        }

    @classmethod
    def from_data(cls, data: Any) -> PersonRule:
        """Read the JSON form."""
        keys = {"column", "mode", "rows", "notion", "budgets"}
        if not isinstance(data, Mapping) or set(data) != keys:
            raise FileError("the rule for the rows of a person is not complete", value=data)
        rows, budgets = data["rows"], data["budgets"]
        if isinstance(rows, bool) or not isinstance(rows, int):
            raise FileError("the rows of a person are not a whole number", value=rows)
        if not isinstance(budgets, Mapping):
            raise FileError("the promise for a person has no budgets", value=budgets)
        texts = {str(name): str(value) for name, value in budgets.items()}
        return cls(str(data["column"]), data["mode"], rows, str(data["notion"]), texts)
