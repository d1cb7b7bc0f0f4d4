"""What is wanted of a column: what it must not tell, how much it may, and how to read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from liftlock.alphabet import Label
from liftlock.contexts import Context, Joint, Prior
from liftlock.errors import InputError, NotDefined
from liftlock.notions.base import Notion
from liftlock.protection.rules import Policy
from liftlock.utility.utility import Utility


@dataclass(frozen=True)
class Wish:
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
        known: Any = self.context
        if isinstance(known, Context) and not isinstance(known, Joint | Prior):
            raise NotDefined(
                "protecting a column",
                known.describe(),
                "give a prior or a joint; or design a mechanism for it, and release the column "
                "with that",
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
