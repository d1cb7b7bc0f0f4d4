"""What is known and what is released: priors, joints, profiles, users; channels of every form.

Six kinds of context exist:

- a `Prior`: the secret is the value itself (S = X);
- a `Joint`: the secret S is another attribute, correlated with the value X;
- a set of priors (`Family`, `Intervals`, `Ball`): the prior is not known exactly, and a guarantee
  must hold for every prior of the set;
- a `ProfileGraph`: the secret is which distribution the data comes from;
- `Conditional`: for each value k of something that observers see too, a joint or a prior; a
  guarantee must hold for every k by itself;
- `PerUserPriors`: each user has a prior, or a set of priors, of their own, and a guarantee must
  hold for each of them (`AnyUserPrior` if it holds whatever these are).

Notions, designs and verbs dispatch on these kinds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from liftlock.errors import CountError, NotDefined
from liftlock.model.conditional import Conditional
from liftlock.model.context import Context, Kind
from liftlock.model.joint import Joint
from liftlock.model.per_user import AnyUserPrior, PerUserPriors
from liftlock.model.prior import Prior
from liftlock.model.prior_sets import Ball, Family, Intervals, PriorSet
from liftlock.model.profiles import ProfileGraph

__all__ = [
    "STORED",
    "AnyUserPrior",
    "Ball",
    "Conditional",
    "Context",
    "Family",
    "Intervals",
    "Joint",
    "Kind",
    "PerUserPriors",
    "Prior",
    "PriorSet",
    "ProfileGraph",
    "context_from_data",
    "representative",
]

STORED: dict[str, Callable[[Any], Context]] = {
    "prior": Prior.from_json,
    "joint": Joint.from_json,
    "family": Family.from_json,
    "intervals": Intervals.from_json,
    "ball": Ball.from_json,
    "profiles": ProfileGraph.from_json,
    "per-user": AnyUserPrior.from_json,
    "given": Conditional.from_json,
}
"""How the JSON form of each kind is read; `liftlock.model.continuous` adds its priors on a grid."""


def context_from_data(data: Any) -> Context:
    """Read the JSON form of any context."""
    kind = data.get("kind") if isinstance(data, dict) else None
    if not isinstance(kind, str) or kind not in STORED:
        raise CountError(
            "unknown kind of context", value=kind, remedy=f"known kinds are {', '.join(STORED)}"
        )
    return STORED[kind](data)


def representative(context: Context) -> Prior:
    """Return one prior of the context: the data's own, or one inside the set of priors."""
    if isinstance(context, Prior | Joint | Conditional):
        return context.prior
    if isinstance(context, PriorSet):
        return context.representative()
    raise NotDefined(
        "one prior of X", context.describe(), "give a prior, a joint or a set of priors"
    )
