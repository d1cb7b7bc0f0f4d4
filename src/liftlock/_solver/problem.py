"""What a design must respect, in floats: masses, the law of the secret, and the limits.

Designs work with these floats and are not trusted; `lock` proves the result with exact numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from liftlock.alphabet import Alphabet, Label
from liftlock.context import Ball, Context, Family, Intervals, Joint, PriorSet, representative
from liftlock.errors import InputError, NotDefined
from liftlock.exact.budget import Budget
from liftlock.exact.integers import Floats
from liftlock.exact.rounding import UNIT
from liftlock.notions.notion import Notion
from liftlock.prior import Prior

MOST_RATIO = 2.0**62
"""Beyond this ratio (43 nats) nothing is gained: a table has at most 62 bits."""

_HAIR = 16 * UNIT
"""Lifts in floats are quotients of five rounded numbers, and the limits are rounded too."""


@dataclass(frozen=True)
class Problem:
    """A context and a notion as numbers that a solver can read.

    >>> from liftlock.notions.lip import LIP
    >>> problem = Problem.of(Prior.from_counts({"a": 1, "b": 3}), LIP("ln 2"))
    >>> problem.masses.tolist(), problem.lower, problem.upper, problem.given is None
    ([0.25, 0.75], 0.5, 2.0, True)
    """

    context: Context
    notion: Notion
    inputs: Alphabet
    masses: Floats
    """P_X; for a set of priors that of one prior inside it."""
    secret_masses: Floats
    """P_S; equal to `masses` when the secret is X itself."""
    given: Floats | None
    """P(S | X), rows secrets, columns inputs; None when the secret is X itself."""
    lower: float
    """The smallest lift allowed, 0 if any is; for LDP see `ratio`."""
    upper: float
    """The largest lift allowed, inf if any is."""
    ratio: float | None
    """For LDP: the largest ratio of two likelihoods; None for lift notions."""

    @classmethod
    def of(cls, context: Context, notion: Notion) -> Problem:
        """Read a context whose symbols all have positive probability, and a lift notion or LDP."""
        if notion.ratio_limit is None:
            refuse_never(context)
        prior = representative(context)
        masses = prior.floats()
        given = None
        secret_masses = masses
        if isinstance(context, Joint):
            counts = np.array(
                [[float(Fraction(c, context.total)) for c in row] for row in context.counts]
            )
            given = np.divide(counts, masses, out=np.zeros_like(counts), where=masses > 0)
            # A secret that never occurs constrains nothing.
            laws = np.array([float(Fraction(sum(row), context.total)) for row in context.counts])
            given, secret_masses = given[laws > 0], laws[laws > 0]
        lower, upper, ratio = limits(notion)
        return cls(
            context, notion, prior.alphabet, masses, secret_masses, given, lower, upper, ratio
        )

    def widened(self) -> Problem:
        """Return the same with limits a hair wider than what rounding could make of them.

        Every mechanism that the exact numbers allow keeps these limits in floats as well, so what
        is proved of all that keep these holds for it; locking takes the hair back.
        """
        ratio = None if self.ratio is None else self.ratio * (1.0 + _HAIR)
        return replace(
            self, lower=self.lower * (1.0 - _HAIR), upper=self.upper * (1.0 + _HAIR), ratio=ratio
        )

    @property
    def capped(self) -> bool:
        """Whether the budget is larger than solvers can bear, so that they work with a smaller."""
        return MOST_RATIO in (self.upper, self.ratio) or self.lower == 1 / MOST_RATIO

    @property
    def uncertain(self) -> bool:
        """Whether the context is a set of priors."""
        return isinstance(self.context, PriorSet)


def limits(notion: Notion) -> tuple[float, float, float | None]:
    """Return the smallest and largest lift that a notion allows, or (0, inf, ratio) for LDP.

    >>> from liftlock.notions.alip import ALIP
    >>> from liftlock.notions.ldp import LDP
    >>> limits(ALIP(lower="ln 4", upper="ln 2"))
    (0.25, 2.0, None)
    >>> limits(LDP("ln 3"))
    (0.0, inf, 3.0)
    """
    if notion.ratio_limit is not None:
        return 0.0, np.inf, _ratio(notion.ratio_limit)
    allowed = notion.lift_limits()
    if allowed is not None:
        lower = 0.0 if allowed.lower is None else 1 / _ratio(allowed.lower)
        return lower, np.inf if allowed.upper is None else _ratio(allowed.upper), None
    raise NotDefined(
        "designing", f"the notion {notion.name}", "design for lip, alip, eps_upper, eps_lower, ldp"
    )


def allows_nothing(notion: Notion) -> bool:
    """Tell whether a budget is 0 exactly, not only too small for floats to tell.

    >>> from liftlock.notions.ldp import LDP
    >>> from liftlock.notions.lip import LIP
    >>> allows_nothing(LIP("0")), allows_nothing(LIP("1e-30")), allows_nothing(LDP("ln 1"))
    (True, False, True)
    """
    budgets = [getattr(notion, name, None) for name in ("epsilon", "lower", "upper", "budget")]
    return any(isinstance(budget, Budget) and not budget.nats().upper for budget in budgets)


def _ratio(budget: Budget) -> float:
    """Return e^epsilon, but no more than solvers can bear: a smaller budget is a safe one."""
    return min(float(budget.exp()), MOST_RATIO)


def ldp_budget(notion: Notion) -> Budget:
    """Return the LDP budget that implies a notion under every prior: the smaller of its budgets.

    Source: 000 Thm 1 converse, Cor 2.

    >>> from liftlock.notions.alip import ALIP
    >>> str(ldp_budget(ALIP(lower="1.3", upper="0.7")))
    '0.7'
    """
    if notion.ldp_budget is not None:
        return notion.ldp_budget
    raise NotDefined(
        "designing", f"the notion {notion.name}", "design for lip, alip, eps_upper, eps_lower, ldp"
    )


def never(context: Context) -> tuple[Label, ...]:
    """Return the inputs that have probability 0 (under every prior of a set)."""
    if isinstance(context, PriorSet):
        possible = context.possible.tolist()
    else:
        prior = representative(context)
        possible = [count > 0 for count in prior.counts]
    return tuple(
        label for label, can in zip(context.inputs.labels, possible, strict=True) if not can
    )


def refuse_never(context: Context) -> None:
    """Refuse a context with an input that cannot occur."""
    zero = never(context)
    if zero:
        raise InputError(
            "the prior gives an input probability 0",
            value=zero[0],
            remedy="drop it with supported(context), or smooth the prior",
        )


def supported(context: Context) -> tuple[Context, tuple[Label, ...]]:
    """Drop the inputs that cannot occur; return what is left, and what was dropped.

    >>> kept, dropped = supported(Prior.from_counts({"a": 1, "b": 0, "c": 1}))
    >>> kept.inputs.labels, dropped
    (('a', 'c'), ('b',))
    """
    dropped = never(context)
    if not dropped:
        return context, ()
    gone = set(dropped)
    kept: Sequence[Label] = [label for label in context.inputs.labels if label not in gone]
    if isinstance(context, Prior | Joint):
        return context.restricted(kept), dropped
    if isinstance(context, Family):
        return Family.of(prior.restricted(kept) for prior in context.priors), dropped
    if isinstance(context, Ball):
        return Ball(context.centre.restricted(kept), context.radius), dropped
    assert isinstance(context, Intervals)
    place = [context.inputs.index(label) for label in kept]
    return (
        Intervals(
            context.inputs.subset(place),
            tuple(context.lower[i] for i in place),
            tuple(context.upper[i] for i in place),
        ),
        dropped,
    )
