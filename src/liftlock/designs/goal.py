"""Goals: what a mechanism is to be good for in its context, and how good a channel is for that."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from liftlock._solver.problem import Optimality, allows_nothing, relative_gap
from liftlock.channel import Table
from liftlock.contexts import Context, Prior, ProfileGraph, representative
from liftlock.designs.base import Draft
from liftlock.designs.encoded_cost import encoded_cost
from liftlock.designs.readings import with_readings
from liftlock.errors import InputError
from liftlock.exact.integers import Floats
from liftlock.forms import SupportChannel
from liftlock.line.grid import GridPrior
from liftlock.notions.base import Notion
from liftlock.utility.profile_utility import ProfileUtility, blocks_of
from liftlock.utility.registry import make_utility
from liftlock.utility.utility import (
    Utility,
    cost_of_nothing,
    doubt,
    mean_cost,
    restricted,
    value_of_nothing,
    value_of_truth,
)

AnyUtility = str | Utility | ProfileUtility | Callable[[Floats], float]
"""A name, an object, or a concave function of a posterior."""
Weights = Prior | Mapping[Any, Any] | None
"""How much each profile of a graph counts; all alike if None."""


@dataclass(frozen=True)
class Worth:
    """How good a channel is, the best that any could be, and the proved gap between them."""

    objective: float
    bound: float | None = None
    gap: float | None = None
    remark: str = ""


class Goal(ABC):
    """A utility in a context: under one prior, or on the matrices of all profiles."""

    context: Context
    utility: Any
    """What a design is asked to be good for."""
    tells_gap: ClassVar[bool]
    """Whether it is said of the integers that a search stopped early, or missed its gap."""

    @property
    @abstractmethod
    def ends(self) -> tuple[float, float]:
        """The utility of no release and that of no noise."""

    @abstractmethod
    def measure(self, channel: Any, notion: Notion, proof: Optimality | None) -> Worth:
        """Measure the integers of a channel, and compare them with what a search has proved."""

    def read(self, draft: Draft) -> Draft:
        """Name the outputs of a draft by what they stand for."""
        return draft


@dataclass(frozen=True)
class PriorGoal(Goal):
    """A cost of posteriors, under the prior of the context or one inside its set of priors."""

    context: Context
    utility: Utility
    tells_gap = True

    @property
    def masses(self) -> Floats:
        """The masses of the prior."""
        return representative(self.context).floats()

    @property
    def ends(self) -> tuple[float, float]:
        """The utility of no release and that of no noise."""
        masses = self.masses
        return value_of_nothing(self.utility, masses), value_of_truth(self.utility, masses)

    def measure(
        self, channel: Table | SupportChannel, notion: Notion, proof: Optimality | None
    ) -> Worth:
        """Measure a channel; an encoding that has too many reports is simulated.

        Bound and gap are rounded to the safe side: by what the floats of the costs may be off.
        """
        utility, masses = self.utility, self.masses
        if isinstance(channel, SupportChannel):
            cost, remark = encoded_cost(utility, channel, masses)
            return Worth(utility.shown(cost, masses), remark=remark)
        rows = [channel.inputs.index(label) for label in self.context.inputs.labels]
        matrix = channel.floats()[rows]
        cost = mean_cost(utility, matrix, masses)
        objective = utility.shown(cost, masses)
        if proof is None:
            return Worth(objective)
        if allows_nothing(notion):
            return Worth(objective, objective, 0.0)
        nothing = cost_of_nothing(utility, masses)
        off = float(doubt(utility, nothing, len(masses), matrix.shape[1]))
        gap = relative_gap(cost + 2 * off, proof.bound, nothing - off)
        if math.isinf(gap):
            return Worth(objective)
        # What is shown may be a difference of the two, such as an information.
        bound = utility.shown(proof.bound, masses) + (off if utility.larger_is_better else 0.0)
        return Worth(objective, bound, gap)

    def read(self, draft: Draft) -> Draft:
        """Name outputs on a grid by the numbers they stand for."""
        if isinstance(self.context, GridPrior):
            return with_readings(draft, self.context, self.utility)
        return draft


@dataclass(frozen=True)
class ProfileGoal(Goal):
    """An aim for a graph of profiles; what stopped a search is in the remarks of its draft."""

    context: ProfileGraph
    utility: ProfileUtility
    tells_gap = False

    @property
    def ends(self) -> tuple[float, float]:
        """The utility of no release and that of no noise."""
        laws = self.context.laws
        return self.utility.of_nothing(laws), self.utility.of_truth(laws)

    def measure(self, channel: Table, notion: Notion, proof: Optimality | None) -> Worth:  # noqa: ARG002
        """Measure the matrices of a channel; a proof of another aim says nothing of this one."""
        utility = self.utility
        objective = utility.value(self.context.laws, blocks_of(channel, self.context))
        if proof is None or proof.utility != utility.name:
            return Worth(objective)
        larger, reference = utility.larger_is_better, proof.reference
        bound = reference - proof.bound if larger else proof.bound
        apart = bound - objective if larger else objective - bound
        return Worth(objective, bound, max(0.0, apart) / reference if reference > 0 else 0.0)


def usual_utility(context: Context) -> str:
    """Return the utility that is meant when none is named: the squared error for numbers."""
    if context.kind == "profiles":
        return "minimax"
    return "mean" if isinstance(context, GridPrior) else "mutual-information"


def read_goal(
    context: Context,
    utility: AnyUtility | None = None,
    *,
    loss: Any = None,
    weights: Weights = None,
    whole: Context | None = None,
) -> Goal:
    """Make the goal that is meant, for the inputs of a context, or for some of a `whole`.

    A utility for other symbols is refused.
    """
    if isinstance(context, ProfileGraph):
        made = ProfileUtility.of(context, utility, loss=loss, weights=weights)
        return ProfileGoal(context, made)
    for name, given in (("loss", loss), ("weights", weights)):
        if given is not None:
            raise InputError(
                f"{name} without a graph of profiles",
                value=context.describe(),
                remedy="give a utility, such as Distortion.of(...), or leave it out",
            )
    if isinstance(utility, ProfileUtility):
        raise InputError(
            "a utility of profiles", value=context.describe(), remedy="give another utility"
        )
    utility = usual_utility(context) if utility is None else utility
    if not isinstance(utility, str):
        utility = make_utility(utility, (whole or context).inputs)
    asked = make_utility(utility, context.inputs)
    if whole is not None and asked is utility:
        places = [whole.inputs.index(label) for label in context.inputs.labels]
        asked = restricted(asked, places, len(whole.inputs))
    goal = PriorGoal(context, asked)
    asked.costs(goal.masses[None, :])
    return goal
