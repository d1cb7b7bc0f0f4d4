"""From counted cells to what a mechanism knows: labels, missing and rare values, numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from liftlock.alphabet import Label
from liftlock.contexts import Joint, Prior
from liftlock.contexts.columns import (
    MISSING,
    MISSING_LABEL,
    OTHER_LABEL,
    UNSEEN,
    Missing,
    Unseen,
)
from liftlock.errors import InputError, LabelError
from liftlock.exact.numbers import exact
from liftlock.notions.base import Notion
from liftlock.tables.formats.base import TableSource
from liftlock.utility.utility import Utility


@dataclass(frozen=True)
class Policy:
    """What becomes of missing, rare and unseen values."""

    missing: Missing = "category"
    unseen: Unseen = "refuse"
    rare: int = 0
    """Values in fewer rows than this are merged."""
    spelled: tuple[str, ...] = ()
    """Texts that mean a missing cell."""
    smooth: object = 0
    """What is added to every count of a joint or a prior that is learned."""

    def __post_init__(self) -> None:
        for name, value, known in (
            ("missing", self.missing, MISSING),
            ("unseen", self.unseen, UNSEEN),
        ):
            if value not in known:
                raise InputError(
                    f"unknown policy for {name} values",
                    value=value,
                    remedy=f"use {', '.join(known)}",
                )
        for text in self.spelled:
            if text.strip() in (MISSING_LABEL, OTHER_LABEL):
                # It would be counted as missing, and released as what it is called.
                raise _reserved("a text for missing cells", text.strip())
        if self.rare < 0:
            raise InputError(
                "rare is not a number of rows", value=self.rare, remedy="give 0 or more"
            )
        if exact(self.smooth, name="smooth") < 0:
            raise InputError("smooth is negative", value=self.smooth, remedy="give 0 or more")


@dataclass(frozen=True)
class ColumnSpec:
    """One column to be replaced by what may be seen of it."""

    column: str
    notion: Notion
    secret: str | None = None
    """The column that must not be inferred; None is the value itself."""
    context: Joint | Prior | None = None
    """A public joint or prior; None is counted in the table."""
    utility: str | Utility | None = None
    method: str | None = None
    policy: Policy = field(default_factory=Policy)
    numbers: bool = False
    """Whether cells are numbers; columns of floating-point numbers are so in any case."""
    domain: Any = None
    cells: int | None = None
    local: Mapping[Label, str] = field(default_factory=dict)
    """For a prior of each row's own: the column that holds the probability of each value."""
    local_budgets: str | None = None
    """The column that holds the budget of each row, where these differ; it is public."""

    def __post_init__(self) -> None:
        if self.secret == self.column:
            raise InputError(
                "a column is its own secret",
                value=self.column,
                remedy="leave out the secret to protect the values themselves",
            )
        if self.local_budgets is not None and not self.local:
            raise InputError(
                "budgets of rows that have no priors of their own",
                value=self.local_budgets,
                remedy="name the columns of probabilities too (--local-priors)",
            )
        if self.local and (self.secret is not None or self.context is not None or self.numbers):
            raise InputError(
                "a prior of each row's own leaves no place for a secret, a joint or numbers",
                value=self.column,
                remedy="protect the value itself, or leave out the columns of probabilities",
            )
        cut = self.numbers or self.domain is not None or self.cells is not None
        if self.context is not None and cut:
            raise InputError(
                "cells of numbers are counted in the table, and a joint or prior is given",
                value=self.column,
                remedy="leave out one of them",
            )
        if isinstance(self.context, Joint) and self.secret is None:
            raise InputError(
                "a joint without the name of its secret",
                value=self.column,
                remedy="name the secret (--secret); give a prior to protect the value itself",
            )
        if isinstance(self.context, Prior) and self.secret is not None:
            raise InputError(
                "a prior says nothing about a secret",
                value=self.secret,
                remedy="give a joint of the secret and the column",
            )


def check_together(specs: Sequence[ColumnSpec]) -> None:
    """Refuse what columns that are one value cannot have each for themselves."""
    first = specs[0]
    if len(specs) < 2:
        raise InputError(
            "one column is not several", value=first.column, remedy="leave out --together"
        )
    for spec in specs:
        for what, same in (
            ("secret", spec.secret == first.secret),
            ("guarantee", str(spec.notion) == str(first.notion)),
            ("utility", spec.utility == first.utility),
        ):
            if not same:
                raise InputError(
                    f"columns that are protected as one value have one {what}",
                    value=spec.column,
                    remedy="leave out --together, or give them the same",
                )
        if spec.local or spec.context is not None:
            raise InputError(
                "columns that are protected as one value are counted in the table",
                value=spec.column,
                remedy="leave out --together, or what is said of the prior",
            )
        if spec.policy.missing == "keep":
            raise InputError(
                "columns that are protected as one value keep no cell missing",
                value=spec.column,
                remedy="make missing values a category (--missing category)",
            )


def is_numeric(source: TableSource, spec: ColumnSpec) -> bool:
    """Tell whether the cells of a column are numbers that are cut into cells."""
    kind = source.type_of(spec.column)
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    typed = pa.types.is_floating(inner) or pa.types.is_decimal(inner)
    return spec.numbers or spec.domain is not None or spec.cells is not None or typed


def _reserved(what: str, label: str) -> LabelError:
    return LabelError(
        f"{what} is called {label!r}, which has a meaning of its own here", remedy="rename it"
    )
