"""Requests for a prior, a joint or a set of priors, and what is said of their mechanisms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from liftlock._solver.optimality import Optimality, relative_gap
from liftlock._solver.outputs import without_room
from liftlock._solver.problem import Problem, Task, allows_nothing, limits, rows_of, supported
from liftlock.alphabet import Label
from liftlock.channel import Table
from liftlock.context import Context, Joint, PriorSet, representative
from liftlock.designing.request import MORE_BLEND, DesignRequest
from liftlock.designs.base import Design, Draft, FormDraft, Origin, check_memory
from liftlock.designs.lock import Locked, LockedForm, rounded
from liftlock.designs.mechanisms.optimal import GAP, draft_of
from liftlock.designs.readings import with_readings
from liftlock.errors import (
    InputError,
    NotCertified,
    NotDefined,
    UnprotectedInput,
)
from liftlock.estimate.model import Dense
from liftlock.estimate.question import Question
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot
from liftlock.forms import AnyChannel, SupportChannel, dense
from liftlock.line.grid import GridPrior
from liftlock.mechanism import Mechanism
from liftlock.notions.base import Notion, safe_text
from liftlock.notions.lift import extremes
from liftlock.notions.lip import lift_notion, lower_reading, upper_reading
from liftlock.sampling import SimulationBits, draw_reports
from liftlock.utility.registry import make_utility
from liftlock.utility.utility import (
    Utility,
    cost_of_nothing,
    cost_of_truth,
    doubt,
    mean_cost,
    restricted,
    value_of_nothing,
    value_of_truth,
)

_LISTED = 5
_PEOPLE = 4096
_ONE_PRIOR = {
    "family": "the even mixture of the priors",
    "intervals": "one prior in the middle of the intervals",
    "ball": "the centre of the ball",
}
_TINY_ROOM = 1e-6
"""Where lifts may move by less than this, rounding alone can ask for any blend."""
_COMPARED = 128
"""Whether more values than this can be told apart is not looked at."""
_AS_PUBLISHED = "design_as_published(...), on the command line --as-published"


@dataclass(frozen=True, kw_only=True)
class PriorRequest(DesignRequest):
    """A request for a prior, a joint, or a set of priors."""

    context: Context
    """What the design and the utility see: inputs that occur."""
    goal: Utility
    dropped: tuple[Label, ...]

    @classmethod
    def of(
        cls,
        entry: Design,
        context: Context,
        notion: Notion,
        wanted: str | Utility,
        options: Mapping[str, Any],
    ) -> PriorRequest:
        """Leave out what cannot occur, and make the utility for what is left."""
        whole, everything = context, context.inputs
        dropped: tuple[Label, ...] = ()
        if notion.ratio_limit is None or not entry.prior_free:
            context, dropped = supported(context)
        if notion.ratio_limit is None:
            whole = context
        if isinstance(wanted, str):
            goal = make_utility(wanted, context.inputs)
        else:
            places = [everything.index(label) for label in context.inputs.labels]
            goal = restricted(wanted, places, len(everything))
        check_memory(entry, context, notion, goal)
        # A utility for other symbols is refused before any work is done.
        goal.costs(representative(context).floats()[None, :])
        return cls(
            entry=entry,
            notion=notion,
            whole=whole,
            options=options,
            context=context,
            goal=goal,
            dropped=dropped,
        )

    @property
    def nothing_allowed(self) -> bool:
        """Whether the budget is 0 on either side, so that no belief may move at all."""
        try:
            lower, upper, ratio = limits(self.notion)
        except NotDefined:
            return False
        return 1.0 in (lower, upper, ratio)

    @property
    def room(self) -> float:
        """How far lifts may be from 1, on the narrower side."""
        try:
            lower, upper, ratio = limits(self.notion)
        except NotDefined:
            return 1.0
        return min(1.0 - lower, upper - 1.0, np.inf if ratio is None else ratio - 1.0)

    @property
    def more_blends(self) -> tuple[Fraction, ...]:
        """More blending: any where lifts may hardly move at all."""
        return (Fraction(1) if self.room < _TINY_ROOM else MORE_BLEND,)

    def refused(
        self,
        draft: Draft | FormDraft,
        refusal: NotCertified | UnprotectedInput,
        bits: int,
    ) -> NotCertified | UnprotectedInput:
        """Say what a published formula does guarantee."""
        honest = self.entry.keeps and not isinstance(draft, Draft)
        if honest or isinstance(refusal, UnprotectedInput):
            return refusal
        true, _ = true_guarantee(rounded(draft, bits=bits), self.notion, self.whole)
        return NotCertified(refusal.certificate, f"{true}; to make it under that: {_AS_PUBLISHED}")

    def constant(self) -> Draft:
        """Return the mechanism that says nothing; where the secret is X itself, none is better."""
        explain = self.options.get("explain")
        task = Task(Problem.of(self.context, self.notion), self.goal, explain=explain)
        made = draft_of(without_room(task), self.context.inputs, self.entry.key)
        if isinstance(self.context, Joint):  # independent outputs might be better
            made = replace(made, optimality=None)
        if isinstance(self.context, GridPrior):
            return with_readings(made, self.context, self.goal)
        return self._widened(made)

    def draft(self) -> Draft | FormDraft:
        """Ask the design."""
        made = self.entry.make(self.context, self.notion, utility=self.goal, **self.options)
        if not isinstance(made, Draft | FormDraft):
            raise InputError(
                f"the method {self.entry.key} makes {type(made).__name__}, which is not one table",
                remedy=f"call {self.entry.make.__module__}.{self.entry.make.__name__} itself",
            )
        if isinstance(made, FormDraft):
            return made
        if isinstance(self.context, GridPrior) and not self.entry.face_value:
            return with_readings(made, self.context, self.goal)
        return self._widened(made)

    @property
    def _model(self) -> int:
        """The place of the likeliest input, whose row those that never occur share under LDP."""
        return int(np.argmax(representative(self.context).floats()))

    def _widened(self, draft: Draft) -> Draft:
        """Give inputs that never occur the row of another: no two likelihoods differ by more."""
        if self.whole is self.context:
            return draft
        rows = rows_of(self.whole.inputs, representative(self.context))
        return replace(draft, inputs=self.whole.inputs, matrix=draft.matrix[rows].copy())

    def mechanism(self, draft: Draft | FormDraft, locked: Locked | LockedForm) -> Mechanism:
        """Put the locked channel together with what is to be said of it."""
        remarks = [*draft.remarks]
        if self.dropped:
            shown = ", ".join(repr(label) for label in self.dropped[:_LISTED])
            more = len(self.dropped) - _LISTED
            shown += f" and {more} more" if more > 0 else ""
            like = repr(self.context.inputs.labels[self._model])
            said = "left out because they never occur"
            if self.whole is not self.context:
                said = f"they never occur, and would be answered like {like}"
            remarks.append(f"{said}: {shown}")
        allowed = self.notion.delta_limit()
        if allowed is not None and allowed.form != "ldp" and isinstance(locked, Locked):
            remarks.append(_outright(locked.channel, self.whole, self.notion))
        if isinstance(self.context, GridPrior):
            remarks += _resolution(self.context)
        if isinstance(self.context, PriorSet):
            remarks.append(f"the utility is that under {_ONE_PRIOR[self.context.kind]}")
            if isinstance(locked, Locked) and not _tells_apart(locked.channel):
                remarks.append(
                    "the reports do not tell all values apart: estimates of a histogram will need "
                    "a prior; the method k-rr tells them apart"
                )
        if _is_constant(locked.channel) and not any("constant" in text for text in remarks):
            remarks.append("the mechanism is constant: its output says nothing about the value")
        origin = self._origin(draft.optimality, locked, tuple(remarks))
        if draft.optimality is not None:
            # With the gap of the integers: rounding may have widened that of the draft.
            early = draft.optimality.stopped_early(origin.gap)
            origin = replace(origin, remarks=(*early, *origin.remarks))
        warning = origin.not_within(float(self.options.get("gap", GAP)))
        origin = replace(origin, warning=warning)
        return Mechanism(locked.channel, locked.certificate, self.whole, origin)

    def _origin(
        self, proved: Optimality | None, locked: Locked | LockedForm, remarks: tuple[str, ...]
    ) -> Origin:
        goal, masses = self.goal, representative(self.context).floats()
        bound = gap = None
        if isinstance(locked, LockedForm):
            cost, remark = encoded_cost(goal, locked.channel, masses)
            remarks += (remark,) if remark else ()
        else:
            rows = [locked.channel.inputs.index(label) for label in self.context.inputs.labels]
            matrix = locked.channel.floats()[rows]
            cost = mean_cost(goal, matrix, masses)
            if proved is not None:
                bound, gap = self._closeness(proved.bound, cost, matrix.shape[1])
        return Origin(
            self.entry.key,
            goal.name,
            goal.shown(cost, masses),
            bound,
            gap,
            remarks,
            title=goal.title,
            nothing=value_of_nothing(goal, masses),
            truth=value_of_truth(goal, masses),
        )

    def _closeness(
        self, bound: float, cost: float, outputs: int
    ) -> tuple[float | None, float | None]:
        """Return the bound as people read it, and the gap to the cost of the integers themselves.

        Both are rounded to the safe side: by what the floats of the costs may be off.
        """
        goal, masses = self.goal, representative(self.context).floats()
        if allows_nothing(self.notion):
            return goal.shown(cost, masses), 0.0
        nothing = cost_of_nothing(goal, masses)
        off = float(doubt(goal, nothing, len(masses), outputs))
        gap = relative_gap(cost + 2 * off, bound, nothing - off)
        if math.isinf(gap):
            return None, None
        # What is shown may be a difference of the two, such as an information.
        return goal.shown(bound, masses) + (off if goal.larger_is_better else 0.0), gap


def _outright(channel: Table, context: Context, notion: Notion) -> str:
    """Say what leaks where delta lets the budget be broken, if it does."""
    found = extremes(channel, context)
    sides = [side(found).value for side in (lower_reading, upper_reading)]
    lower, upper = ("infinite" if side.is_infinite else f"{float(side):.4g}" for side in sides)
    if notion.without_delta.certify(channel, context).holds:
        return f"it leaks eps_lower {lower} and eps_upper {upper}: delta is not used"
    return f"where delta lets it, it leaks eps_lower {lower} and eps_upper {upper}"


def _resolution(prior: GridPrior) -> list[str]:
    """Say how finely the line was cut, what that costs, what lies outside, and what is in doubt."""
    said = [prior.grid.describe()]
    masses = prior.floats()
    # Squares of numbers far from 0, such as times in seconds, would cancel each other.
    away = prior.points - dot(masses, prior.points)
    whole = float(dot(masses, away**2)) + prior.inner_variance
    said.append(
        f"cutting adds {prior.inner_variance:.3g} to the squared error, "
        f"{100 * prior.inner_variance / whole:.2g} % of the variance of X"
    )
    return [*said, *(text for text in (prior.grid.clamped(), prior.grid.doubt) if text)]


def _tells_apart(channel: Table) -> bool:
    """Tell whether shares of the values can be estimated from the reports without a prior."""
    if len(channel.inputs) > _COMPARED:
        return True  # not looked at, so nothing is said
    return Dense.of(channel).identifies(Question.histogram(channel.inputs))


def _is_constant(channel: AnyChannel) -> bool:
    if isinstance(channel, SupportChannel):
        return channel.levels[0] == channel.levels[1]
    floats = dense(channel).floats()
    return bool((floats == floats[:1]).all())


def encoded_cost(goal: Utility, channel: SupportChannel, masses: Floats) -> tuple[float, str]:
    """Return the mean cost of an encoding under a prior, and how sure it is.

    With few symbols every report is summed over. Otherwise it is the mean over simulated reports:
    the posterior v given a report is the prior P times the two likelihoods, and needs no table.
    As E v = P, a supergradient at P may be taken off, c(v) - slope . (v - P), without bias: it
    takes most of the noise with it, and no term is then above c(P), the cost of no release.
    """
    try:
        return mean_cost(goal, channel.expanded().floats(), masses), ""
    except NotDefined:
        pass
    people = np.random.default_rng(_PEOPLE).choice(len(masses), size=_PEOPLE, p=masses)
    reports = draw_reports(channel, people, SimulationBits("the worth of an encoding"))
    high, low = channel.levels
    slope = goal.slopes(masses[None, :])[0]
    costs = []
    for part in np.array_split(reports, max(1, len(masses) * _PEOPLE >> 20)):
        weights = np.where(channel.supported(part), 1.0, low / high) * masses
        posteriors = weights / weights.sum(axis=1, keepdims=True)
        costs.append(goal.costs(posteriors) - dot(posteriors - masses, slope))
    every = np.concatenate(costs)
    error = float(every.std() / np.sqrt(_PEOPLE))
    least = cost_of_truth(goal, masses)
    return max(float(every.mean()), least), (
        f"its worth is the mean over {_PEOPLE:,} simulated reports, standard error {error:.2g}"
    )


def true_guarantee(channel: AnyChannel, asked: Notion, context: Context) -> tuple[Notion, str]:
    """Return the smallest guarantee of the kind asked for that a channel keeps, and say it.

    Lifts that fall to 0 leave no lower budget: then only the rise of beliefs is bounded.
    """
    attained = asked.attained(channel, context)
    if attained is not None:
        return attained, _said(asked, attained)
    if asked.ratio_limit is not None:
        raise _no_guarantee("an output that some secret never gives reveals it", asked)
    found = extremes(channel, context)
    lower, upper = lower_reading(found).value, upper_reading(found).value
    if upper.is_infinite:
        raise _no_guarantee("a belief can rise without bound", asked)
    if lower.is_infinite:
        risen = lift_notion(upper=safe_text(upper))
        return risen, _said(asked, risen) + "; an output rules some secret out altogether"
    true = lift_notion(lower=safe_text(lower), upper=safe_text(upper))
    return true, _said(asked, true)


def _said(asked: Notion, true: Notion) -> str:
    return f"as published: asked for {asked}, its true guarantee is {true}"


def _no_guarantee(why: str, asked: Notion) -> InputError:
    return InputError(
        f"the published mechanism keeps no finite budget: {why}",
        value=str(asked),
        remedy="choose a method that keeps its budget",
    )
