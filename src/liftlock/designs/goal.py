"""Goals: what a mechanism is to be good for in its context, and how good a channel is for that."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from liftlock._solver.problem import Optimality, allows_nothing, relative_gap
from liftlock.designs.base import Draft
from liftlock.designs.output_values import label_by_value
from liftlock.designs.utility_range import UtilityRange, utility_range
from liftlock.errors import InputError, NotDefined
from liftlock.estimate.models.support import Encoding
from liftlock.estimate.question import Question
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot
from liftlock.model import (
    Conditional,
    Context,
    Prior,
    PriorSet,
    ProfileGraph,
    representative,
)
from liftlock.model.alphabet import Label
from liftlock.model.channel import Table
from liftlock.model.continuous.grid import GridPrior
from liftlock.model.structured import SupportChannel, to_dense
from liftlock.notions.base import Notion
from liftlock.sampling import SimulationBits, draw_reports
from liftlock.utility.base import (
    Utility,
    cost_error,
    cost_of_no_noise,
    cost_of_no_release,
    mean_cost,
    restrict,
    value_of_no_noise,
    value_of_no_release,
)
from liftlock.utility.frequencies import Frequencies
from liftlock.utility.profile_utility import ProfileUtility, blocks_of
from liftlock.utility.registry import make_utility

_PEOPLE = 4096


def encoded_cost(goal: Utility, channel: SupportChannel, masses: Floats) -> tuple[float, str]:
    """Return the mean cost of an encoding under a prior, and how sure it is.

    Unbiased shares come from the counts of what reports support, in closed form. For the rest,
    with few symbols every report is summed over; otherwise it is the mean over simulated reports:
    the posterior v given a report is the prior P times the two likelihoods, and needs no table.
    As E v = P, a supergradient at P may be taken off, c(v) - slope . (v - P), without bias: it
    takes most of the noise with it, and no term is then above c(P), the cost of no release.
    """
    if isinstance(goal, Frequencies):  # reports are counted by what they support
        asked = Question.histogram(channel.inputs)
        try:
            each = Encoding(channel, masses).expected_errors(asked, "unbiased", "population")
        except NotDefined:  # a budget of 0
            return math.inf, ""
        return goal.of_variances(each), ""
    try:
        return mean_cost(goal, channel.to_dense().floats(), masses), ""
    except NotDefined:
        pass
    people = np.random.default_rng(_PEOPLE).choice(len(masses), size=_PEOPLE, p=masses)
    reports = draw_reports(channel, people, SimulationBits("the worth of an encoding"))
    high, low = channel.levels
    slope = goal.slopes(masses[None, :])[0]
    costs = []
    for part in np.array_split(reports, max(1, len(masses) * _PEOPLE >> 20)):
        weights = np.where(channel.support_matrix(part), 1.0, low / high) * masses
        posteriors = weights / weights.sum(axis=1, keepdims=True)
        costs.append(goal.costs(posteriors) - dot(posteriors - masses, slope))
    every = np.concatenate(costs)
    error = float(every.std() / np.sqrt(_PEOPLE))
    least = cost_of_no_noise(goal, masses)
    return max(float(every.mean()), least), (
        f"its utility is the mean over {_PEOPLE:,} simulated reports, standard error {error:.2g}"
    )


AnyUtility = str | Utility | ProfileUtility | Callable[[Floats], float]
"""A name, an object, or a concave function of a posterior."""
Weights = Prior | Mapping[Any, Any] | None
"""How much each profile of a graph counts; all alike if None."""


@dataclass(frozen=True)
class Evaluation:
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
    def measure(self, channel: Any, notion: Notion, proof: Optimality | None) -> Evaluation:
        """Measure the integers of a channel, and compare them with what a search has proved."""

    def name_outputs(self, draft: Draft) -> Draft:
        """Name the outputs of a draft by what they stand for."""
        return draft

    def range_of(self, channel: Any) -> UtilityRange | None:  # noqa: ARG002
        """Bound the utility over a set of priors; None where there is none, or it is not known."""
        return None


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
        return value_of_no_release(self.utility, masses), value_of_no_noise(self.utility, masses)

    def measure(
        self, channel: Table | SupportChannel, notion: Notion, proof: Optimality | None
    ) -> Evaluation:
        """Measure a channel; an encoding that has too many reports is simulated.

        Bound and gap are rounded to the safe side: by what the floats of the costs may be off.
        """
        utility, masses = self.utility, self.masses
        if isinstance(channel, SupportChannel):
            cost, remark = encoded_cost(utility, channel, masses)
            return Evaluation(utility.objective(cost, masses), remark=remark)
        rows = [channel.inputs.index(label) for label in self.context.inputs.labels]
        matrix = channel.floats()[rows]
        cost = mean_cost(utility, matrix, masses)
        objective = utility.objective(cost, masses)
        if proof is None:
            return Evaluation(objective)
        if allows_nothing(notion):
            return Evaluation(objective, objective, 0.0)
        nothing = cost_of_no_release(utility, masses)
        size = nothing if math.isfinite(nothing) else cost
        off = float(cost_error(utility, size, len(masses), matrix.shape[1]))
        gap = relative_gap(cost + 2 * off, proof.bound, nothing - off)
        if math.isinf(gap):
            return Evaluation(objective)
        # What is shown may be a difference of the two, such as an information.
        bound = utility.objective(proof.bound, masses) + (off if utility.larger_is_better else 0.0)
        return Evaluation(objective, bound, gap)

    def range_of(self, channel: Table | SupportChannel) -> UtilityRange | None:
        """Bound the utility over a set of priors."""
        if not isinstance(self.context, PriorSet):
            return None
        try:
            table = to_dense(channel)
        except NotDefined:  # an encoding of too many reports
            return None
        labels = self.context.inputs.labels
        if not all(label in table.inputs for label in labels):  # some never occur
            return None
        rows = [table.inputs.index(label) for label in labels]
        return utility_range(self.utility, table.floats()[rows], self.context)

    def name_outputs(self, draft: Draft) -> Draft:
        """Name outputs on a grid by the numbers they stand for."""
        if isinstance(self.context, GridPrior):
            return label_by_value(draft, self.context, self.utility)
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
        distributions = self.context.distributions
        return self.utility.value_of_no_release(distributions), self.utility.value_of_no_noise(
            distributions
        )

    def measure(self, channel: Table, notion: Notion, proof: Optimality | None) -> Evaluation:  # noqa: ARG002
        """Measure the matrices of a channel; a proof of another aim says nothing of this one."""
        utility = self.utility
        objective = utility.value(self.context.distributions, blocks_of(channel, self.context))
        if proof is None or proof.utility != utility.name:
            return Evaluation(objective)
        larger, reference = utility.larger_is_better, proof.reference
        bound = reference - proof.bound if larger else proof.bound
        apart = bound - objective if larger else objective - bound
        return Evaluation(objective, bound, max(0.0, apart) / reference if reference > 0 else 0.0)


@dataclass(frozen=True)
class ConditionalGoal(Goal):
    """The mean over k of a cost of posteriors: what a report is worth to whoever knows k.

    sum_k P(k) I(X; Y | K = k) for mutual information
    """

    context: Conditional
    utility: Utility
    tells_gap = True

    @cached_property
    def _shares(self) -> list[tuple[Label, float]]:
        """The mass of each k that somebody has."""
        given = zip(self.context.given.labels, self.context.masses.floats(), strict=True)
        return [(label, float(mass)) for label, mass in given if mass]

    @property
    def ends(self) -> tuple[float, float]:
        """The utility of no release and that of no noise."""
        nothing = truth = 0.0
        for label, mass in self._shares:
            none, all_of_it = PriorGoal(self.context.context_of(label), self.utility).ends
            nothing, truth = nothing + mass * none, truth + mass * all_of_it
        return nothing, truth

    def measure(
        self,
        channel: Table,
        notion: Notion,  # noqa: ARG002
        proof: Optimality | None,  # noqa: ARG002 - each k has its own
    ) -> Evaluation:
        """Measure a channel, that of each k by the values there; it may ignore k, too."""
        uses = self.context.uses_given(channel.inputs)
        floats, total = channel.floats(), 0.0
        for label, mass in self._shares:
            prior, group = self.context.context_of(label).prior, self.context.group_of(label)
            matrix = np.full((len(prior.labels), floats.shape[1]), 1.0 / floats.shape[1])
            for at, (x, count) in enumerate(zip(prior.labels, prior.counts, strict=True)):
                if count:  # others have no row, and no weight
                    matrix[at] = floats[channel.inputs.index((group, x) if uses else x)]
            masses = prior.floats()
            cost = mean_cost(self.utility, matrix, masses)
            total += mass * self.utility.objective(cost, masses)
        return Evaluation(total)


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
    if isinstance(context, Conditional):
        known = usual_utility(context) if utility is None else utility
        return ConditionalGoal(context, make_utility(known, context.inputs))
    utility = usual_utility(context) if utility is None else utility
    if not isinstance(utility, str):
        utility = make_utility(utility, (whole or context).inputs)
    asked = make_utility(utility, context.inputs)
    if whole is not None and asked is utility:
        places = [whole.inputs.index(label) for label in context.inputs.labels]
        asked = restrict(asked, places, len(whole.inputs))
    goal = PriorGoal(context, asked)
    asked.costs(goal.masses[None, :])
    return goal
