"""Designs for users with a prior each: one law for all, or one for each budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from liftlock.contexts import AnyUserPrior, PerUserPriors
from liftlock.designs.goal import AnyUtility
from liftlock.designs.request import read_notion
from liftlock.errors import InputError, NotDefined
from liftlock.forms import USER_CHANNELS
from liftlock.mechanism import Mechanism, lock_users
from liftlock.notions.base import Notion


def design_users(
    context: PerUserPriors | AnyUserPrior,
    notion: Notion | object,
    *,
    utility: AnyUtility | None = None,
    method: object = None,
    budgets: Sequence[Any] | None = None,
    **options: Any,
) -> Mechanism:
    """Make a law for users with a prior each; without a method, the one with the smaller error.

    Of labels alone, and of sets of priors, nothing is known that could compare the methods: ``arc``
    is taken, or ``safe-response`` for sets.

    >>> from liftlock.notions.lip import LIP
    >>> priors = PerUserPriors.of("ab", [[0.5, 0.5], [0.4, 0.6]])
    >>> print(design_users(priors, LIP("1")).channel)
    safe-response on 2 symbols, a prior for each user
    """
    asked = read_notion(notion, context.kind)
    if method is not None and not isinstance(method, str):
        raise NotDefined(
            "a method of your own", context.describe(), f"name one of {', '.join(USER_CHANNELS)}"
        )
    if utility is not None or options:
        raise InputError(
            "a method for per-user priors has no such option",
            value=next(iter(options), "utility"),
            remedy="give a method and budgets; expected_error(priors) says how good it is",
        )
    priors = context if isinstance(context, PerUserPriors) else None
    limits = (() if priors is None else priors.budgets) if budgets is None else budgets
    if priors is not None and priors.are_sets and method is None:
        method = "safe-response"
    if method is not None or priors is None or not priors.users or (limits and not priors.budgets):
        return lock_users(context.inputs, asked, method or "arc", limits)

    def error(made: Mechanism) -> float:
        return float(np.sum(np.square(made.expected_error(priors).errors)))

    return min((lock_users(context.inputs, asked, key, limits) for key in USER_CHANNELS), key=error)
