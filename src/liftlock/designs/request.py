"""A request for a design: from what was asked for to a locked mechanism, for every context."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

import numpy as np

from liftlock._solver.outputs import without_room
from liftlock._solver.problem import (
    Optimality,
    Problem,
    Task,
    allows_nothing,
    limits,
    relative_gap,
    rows_of,
    supported,
)
from liftlock.alphabet import Label
from liftlock.channel import Table
from liftlock.contexts import Context, Joint, Kind, Prior, PriorSet, ProfileGraph, representative
from liftlock.designs.base import (
    Design,
    Draft,
    FormDraft,
    check_fits,
    check_graph,
    check_memory,
    check_options,
)
from liftlock.designs.lock import MOST_BLEND, Locked, rounded
from liftlock.designs.lock import lock as lock_channel
from liftlock.designs.mechanisms.optimal import GAP, draft_of
from liftlock.designs.readings import with_readings
from liftlock.errors import InputError, NotCertified, NotDefined, UnprotectedInput
from liftlock.estimate.models import Dense
from liftlock.estimate.question import Question
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot
from liftlock.exact.weights import DEFAULT_BITS
from liftlock.forms import AnyChannel, SupportChannel, dense
from liftlock.line.grid import GridPrior
from liftlock.mechanism import Mechanism
from liftlock.notions.base import Notion, safe_text
from liftlock.notions.lift import Impossible, extremes
from liftlock.notions.lip import lift_notion
from liftlock.notions.profile import ProfilePrivacy
from liftlock.provenance import Provenance
from liftlock.sampling import SimulationBits, draw_reports
from liftlock.utility.profile_utility import ProfileUtility, blocks_of
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

AnyUtility = str | Utility | ProfileUtility
Weights = Prior | Mapping[Any, Any] | None
"""How much each profile of a graph counts; all alike if None."""

_MORE_BLEND = Fraction(1, 256)
"""How much of the mean row may be mixed in where the usual share is not enough."""

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


def read_notion(notion: Notion | object, kind: Kind) -> Notion:
    """Return a notion; a bare budget says what it bounds only for profiles, which have one.

    >>> str(read_notion("0.5", "profiles"))
    'profile(0.5)'
    """
    if hasattr(notion, "certify"):
        return cast("Notion", notion)
    if kind == "profiles":
        return ProfilePrivacy(notion)
    raise InputError("not a notion of privacy", value=notion, remedy='give one such as LIP("1")')


def usual_goal(context: Context) -> str:
    """Return the utility that is meant when none is named: the squared error for numbers."""
    if context.kind == "profiles":
        return "minimax"
    return "mean" if isinstance(context, GridPrior) else "mutual-information"


def read_utility(
    context: Context,
    utility: AnyUtility | None = None,
    *,
    loss: Any = None,
    weights: Weights = None,
    whole: Context | None = None,
) -> Utility | ProfileUtility:
    """Make the utility that is meant, for the inputs of a context, or for some of a `whole`."""
    if isinstance(context, ProfileGraph):
        return ProfileUtility.of(context, utility, loss=loss, weights=weights)
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
    goal = make_utility(usual_goal(context) if utility is None else utility, context.inputs)
    if whole is None or goal is not utility:
        return goal
    places = [whole.inputs.index(label) for label in context.inputs.labels]
    return restricted(goal, places, len(whole.inputs))


def ends(goal: Utility | ProfileUtility, context: Context) -> tuple[float, float]:
    """Return the utility of no release and that of no noise."""
    if isinstance(goal, ProfileUtility):
        assert isinstance(context, ProfileGraph)
        return goal.of_nothing(context.laws), goal.of_truth(context.laws)
    masses = representative(context).floats()
    return value_of_nothing(goal, masses), value_of_truth(goal, masses)


@dataclass(frozen=True)
class DesignRequest:
    """What was asked for, read and checked: one way for every context from there to a mechanism."""

    entry: Design
    notion: Notion
    whole: Context
    """What the guarantee is proved for: for LDP with every input, also those that never occur."""
    context: Context
    """What the design and the utility see: inputs that occur."""
    goal: Utility | ProfileUtility
    options: Mapping[str, Any]
    dropped: tuple[Label, ...] = ()

    @classmethod
    def of(
        cls,
        entry: Design,
        context: Context,
        notion: Notion,
        options: Mapping[str, Any],
        **aim: Any,
    ) -> DesignRequest:
        """Check that the method fits, leave out what cannot occur, and make the utility."""
        check_fits(entry, context, notion)
        check_options(entry, options)
        if isinstance(context, ProfileGraph):
            goal = read_utility(context, **aim)
            check_graph(entry, context)
            return cls(entry, notion, context, context, goal, options)
        whole: Context = context
        dropped: tuple[Label, ...] = ()
        if notion.ratio_limit is None or not entry.prior_free:
            context, dropped = supported(context)
        goal = read_utility(context, **aim, whole=whole)
        assert not isinstance(goal, ProfileUtility)
        check_memory(entry, context, notion, goal)
        # A utility for other symbols is refused before any work is done.
        goal.costs(representative(context).floats()[None, :])
        if notion.ratio_limit is None:
            whole = context
        return cls(entry, notion, whole, context, goal, options, dropped)

    # --- drafts -----------------------------------------------------------------------------------

    @property
    def room(self) -> float:
        """How far lifts may be from 1, on the narrower side; 0 for a budget of 0."""
        try:
            lower, upper, ratio = limits(self.notion)
        except NotDefined:  # with a delta, and of profiles
            return 1.0
        return min(1.0 - lower, upper - 1.0, np.inf if ratio is None else ratio - 1.0)

    def draft(self) -> Draft | FormDraft:
        """Ask the design."""
        return self._named(
            self.entry.make(self.context, self.notion, utility=self.goal, **self.options)
        )

    def constant(self) -> Draft | FormDraft:
        """Return the mechanism that says nothing; where the secret is X itself, none is better."""
        problem, explain = Problem.of(self.context, self.notion), self.options.get("explain")
        assert not isinstance(self.goal, ProfileUtility)
        solution = without_room(Task(problem, self.goal, explain=explain))
        made = draft_of(solution, self.context.inputs, self.entry.key)
        if isinstance(self.context, Joint):  # independent outputs might be better
            made = replace(made, optimality=None)
        return self._named(made, constant=True)

    def _named(self, draft: Draft | FormDraft, *, constant: bool = False) -> Draft | FormDraft:
        """Name outputs by the numbers they stand for; give inputs that never occur a row."""
        context = self.context
        if isinstance(draft, FormDraft):
            return draft
        if isinstance(context, GridPrior) and (constant or not self.entry.face_value):
            assert not isinstance(self.goal, ProfileUtility)
            return with_readings(draft, context, self.goal)
        if self.whole is context:
            return draft
        rows = rows_of(self.whole.inputs, representative(context))
        return replace(draft, inputs=self.whole.inputs, matrix=draft.matrix[rows].copy())

    # --- locking ----------------------------------------------------------------------------------

    def lock(self, draft: Draft | FormDraft, bits: int) -> Mechanism:
        """Round and certify a draft, with more blending than usual where that is what it takes."""
        softens = (
            self.entry.keeps
            and not self.options.get("as_published")
            and isinstance(draft, Draft)
            and not draft.faithful
        )
        blends = self._blends()
        for blend in blends:
            try:
                locked = lock_channel(
                    draft,
                    self.notion,
                    self.whole,
                    bits=bits,
                    most_blend=blend,
                    impossible=self._impossible(draft),
                )
            except (NotCertified, UnprotectedInput) as refusal:
                if not softens:
                    raise self._refused(draft, refusal, bits) from None
                if bits < DEFAULT_BITS and isinstance(refusal, NotCertified):
                    few = f"{refusal.smallest}, of this very table; or round less, with more bits"
                    raise NotCertified(refusal.certificate, few) from None
                if blend is blends[-1]:
                    raise
                continue
            if blend is not MOST_BLEND:
                share = f"{float(locked.blend):.2g}"
                said = f"blended with weight {share} to keep the budget once rounded"
                draft = replace(draft, remarks=(*draft.remarks, said))
            return self.mechanism(draft, locked)
        raise AssertionError("one blend or the other was tried")

    def _blends(self) -> tuple[Fraction, ...]:
        """How much blending is tried: more than usual where the units of a table are too coarse.

        They are for a tiny budget, and for outputs of profiles that are rare.
        """
        if self.context.kind == "profiles":
            return MOST_BLEND, _MORE_BLEND, Fraction(1)
        return MOST_BLEND, Fraction(1) if self.room < _TINY_ROOM else _MORE_BLEND

    def _impossible(self, draft: Draft | FormDraft) -> Impossible:
        """List values that a profile calls impossible if all profiles share one matrix."""
        graph = self.context
        shared = isinstance(graph, ProfileGraph) and draft.inputs.labels == graph.inputs.labels
        return "ignore" if shared else "refuse"

    def _refused(
        self, draft: Draft | FormDraft, refusal: NotCertified | UnprotectedInput, bits: int
    ) -> NotCertified | UnprotectedInput:
        """Say what a published formula, which is not to be softened, does guarantee."""
        honest = self.entry.keeps and not isinstance(draft, Draft)
        if honest or isinstance(refusal, UnprotectedInput) or self.context.kind == "profiles":
            return refusal
        true, _ = true_guarantee(rounded(draft, bits=bits), self.notion, self.whole)
        return NotCertified(refusal.certificate, f"{true}; to make it under that: {_AS_PUBLISHED}")

    # --- what is said of the mechanism ------------------------------------------------------------

    def mechanism(self, draft: Draft | FormDraft, locked: Locked[Any]) -> Mechanism:
        """Put the locked channel together with what is to be said of it."""
        channel, goal, proved = locked.channel, self.goal, draft.optimality
        remarks = [*draft.remarks]
        if isinstance(goal, ProfileUtility):
            assert isinstance(self.context, ProfileGraph)
            remarks += _remarks_on_profiles(channel, self.context)
            objective, bound, gap = _measured_on_profiles(channel, self.context, goal, proved)
        else:
            remarks += self._remarks(channel, remarks)
            objective, bound, gap, remark = self._measured(channel, goal, proved)
            remarks += [remark] if remark else []
        nothing, truth = ends(goal, self.context)
        origin = Provenance(
            self.entry.key,
            goal.name,
            objective,
            bound,
            gap,
            tuple(remarks),
            title=goal.title,
            nothing=nothing,
            truth=truth,
            kind=self.entry.kind,
        )
        if not isinstance(goal, ProfileUtility):
            # With the gap of the integers: rounding may have widened that of the draft.
            early = () if proved is None else proved.stopped_early(gap)
            warning = origin.not_within(float(self.options.get("gap", GAP)))
            origin = replace(origin, remarks=(*early, *origin.remarks), warning=warning)
        return Mechanism(channel, locked.certificate, self.whole, origin)

    def _remarks(self, channel: AnyChannel, known: Sequence[str]) -> list[str]:
        """Say what a user should know that the numbers do not show."""
        remarks = []
        if self.dropped:
            shown = _listed([repr(label) for label in self.dropped])
            said = "left out because they never occur"
            if self.whole is not self.context:
                model = int(np.argmax(representative(self.context).floats()))
                like = repr(self.context.inputs.labels[model])
                said = f"they never occur, and would be answered like {like}"
            remarks.append(f"{said}: {shown}")
        allowed = self.notion.delta_limit()
        if allowed is not None and allowed.form != "ldp" and isinstance(channel, Table):
            remarks.append(_outright(channel, self.whole, self.notion))
        if isinstance(self.context, GridPrior):
            remarks += _resolution(self.context)
        if isinstance(self.context, PriorSet):
            remarks.append(f"the utility is that under {_ONE_PRIOR[self.context.kind]}")
            if isinstance(channel, Table) and not _tells_apart(channel):
                remarks.append(
                    "the reports do not tell all values apart: estimates of a histogram will need "
                    "a prior; the method k-rr tells them apart"
                )
        if _is_constant(channel) and not any("constant" in text for text in (*known, *remarks)):
            remarks.append("the mechanism is constant: its output says nothing about the value")
        return remarks

    def _measured(
        self, channel: Table | SupportChannel, goal: Utility, proved: Optimality | None
    ) -> tuple[float, float | None, float | None, str]:
        """Return the utility of a channel, the bound, the gap of its integers, and a remark.

        Bound and gap are rounded to the safe side: by what the floats of the costs may be off.
        """
        masses = representative(self.context).floats()
        if isinstance(channel, SupportChannel):
            cost, remark = encoded_cost(goal, channel, masses)
            return goal.shown(cost, masses), None, None, remark
        rows = [channel.inputs.index(label) for label in self.context.inputs.labels]
        matrix = channel.floats()[rows]
        cost = mean_cost(goal, matrix, masses)
        objective = goal.shown(cost, masses)
        if proved is None:
            return objective, None, None, ""
        if allows_nothing(self.notion):
            return objective, objective, 0.0, ""
        nothing = cost_of_nothing(goal, masses)
        off = float(doubt(goal, nothing, len(masses), matrix.shape[1]))
        gap = relative_gap(cost + 2 * off, proved.bound, nothing - off)
        if math.isinf(gap):
            return objective, None, None, ""
        # What is shown may be a difference of the two, such as an information.
        shown = goal.shown(proved.bound, masses) + (off if goal.larger_is_better else 0.0)
        return objective, shown, gap, ""


def _measured_on_profiles(
    channel: Table, graph: ProfileGraph, goal: ProfileUtility, proved: Optimality | None
) -> tuple[float, float | None, float | None]:
    """Return the utility of a channel for profiles, and the bound and the gap of what was asked."""
    objective = goal.value(graph.laws, blocks_of(channel, graph))
    if proved is None or proved.utility != goal.name:
        return objective, None, None
    bound = proved.reference - proved.bound if goal.larger_is_better else proved.bound
    apart = bound - objective if goal.larger_is_better else objective - bound
    return objective, bound, max(0.0, apart) / proved.reference if proved.reference > 0 else 0.0


def _remarks_on_profiles(channel: Table, graph: ProfileGraph) -> list[str]:
    """Say what a user should know that the numbers do not show."""
    said = []
    if graph.isolated:
        said.append(f"no edge, so no promise, for {_listed(graph.isolated)}")
    silent = [label for label in graph.inputs.labels if label not in channel.outputs]
    if silent:
        said.append(f"never released: {_listed(silent)}")
    if graph.uses_profile(channel.inputs):
        said.append("it uses the profile of each value: who releases must know it, and keep it")
    return said


def _listed(labels: Sequence[Label]) -> str:
    names = ", ".join(str(label) for label in labels[:_LISTED])
    more = len(labels) - _LISTED
    return f"{names} and {more} more" if more > 0 else names


def _outright(channel: Table, context: Context, notion: Notion) -> str:
    """Say what leaks where delta lets the budget be broken, if it does."""
    found = extremes(channel, context)
    sides = [found.eps_lower().value, found.eps_upper().value]
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
    lower, upper = found.eps_lower().value, found.eps_upper().value
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
