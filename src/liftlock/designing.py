"""The friendly face of design: from a context and a notion to a certified mechanism."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

import numpy as np

from liftlock._solver.optimality import Optimality, relative_gap
from liftlock._solver.outputs import without_room
from liftlock._solver.problem import Problem, Task, allows_nothing, limits, rows_of, supported
from liftlock.alphabet import Alphabet, Label
from liftlock.channel import Table
from liftlock.context import Context, Joint, Kind, PriorSet, representative
from liftlock.designs.catalogue import DESIGNS, designs_for
from liftlock.designs.draft import Draft, FormDraft
from liftlock.designs.lock import MOST_BLEND, Locked, LockedForm, rounded
from liftlock.designs.lock import lock as lock_channel
from liftlock.designs.mechanisms.optimal import GAP, draft_of
from liftlock.designs.origin import Origin
from liftlock.designs.readings import with_readings
from liftlock.designs.registry import (
    Design,
    check_fits,
    check_matrices,
    check_memory,
    check_options,
    find_design,
    option_names,
)
from liftlock.errors import (
    InputError,
    LiftlockError,
    NotCertified,
    NotDefined,
    UnprotectedInput,
)
from liftlock.estimate.model import Dense
from liftlock.estimate.question import Question
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot
from liftlock.exact.weights import DEFAULT_BITS
from liftlock.forms import USER_CHANNELS, AnyChannel, SupportChannel, dense
from liftlock.line.grid import DEFAULT_CELLS, GridPrior, LinePrior
from liftlock.mechanism import Mechanism, lock_users
from liftlock.notions.base import Notion, safe_text
from liftlock.notions.lift import Impossible, extremes
from liftlock.notions.lip import lift_notion, lower_reading, upper_reading
from liftlock.notions.profile import ProfilePrivacy
from liftlock.per_user import AnyUserPrior, PerUserPriors
from liftlock.prior import Prior
from liftlock.profile_graph import ProfileGraph
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

_LISTED = 5
_PEOPLE = 4096
_ONE_PRIOR = {
    "family": "the even mixture of the priors",
    "intervals": "one prior in the middle of the intervals",
    "ball": "the centre of the ball",
}
_MORE_BLEND = Fraction(1, 256)
_TINY_ROOM = 1e-6
"""Where lifts may move by less than this, rounding alone can ask for any blend."""
_COMPARED = 128
"""Whether more values than this can be told apart is not looked at."""
_AS_PUBLISHED = "design_as_published(...), on the command line --as-published"


def design(
    context: Context | LinePrior | Alphabet | Sequence[Any],
    notion: Notion | object,
    *,
    utility: AnyUtility | None = None,
    loss: Any = None,
    weights: Weights = None,
    method: str | None = None,
    bits: int = DEFAULT_BITS,
    cells: int | None = None,
    spacing: str | None = None,
    **options: Any,
) -> Mechanism:
    """Design a mechanism for a context, prove it, and say how good it is.

    Inputs that cannot occur are left out, and a remark says so. What the method proposes is locked:
    rounded to integers and audited exactly, so a mechanism that is returned keeps the notion.

    Without a method it is the optimum, where one is known for the notion, else the best of all
    that fit. Without a utility it is mutual information, for a prior on the line the squared
    error, for a graph of profiles the largest chance of any one wrong value. A prior on the line
    is cut into `cells` (512) of equal mass, or equal width if `spacing` is ``width``.

    For a graph of profiles the notion may be just a budget; `weights` say how much each profile
    counts, and `loss` is the matrix of the utility ``distortion``.

    For users with a prior each, the context is `PerUserPriors`, or the labels alone: the law is the
    same for all, by ``arc`` or ``safe-response``, and no prior is stored. Where users have budgets
    of their own (those of the priors, or `budgets`) there is a law for each.

    >>> from liftlock.notions.lip import LIP
    >>> prior = Prior.from_counts({"none": 700, "cold": 200, "flu": 100})
    >>> mechanism = design(prior, LIP("1"), utility="histogram", method="safe-response")
    >>> mechanism.certificate.holds, round(mechanism.origin.objective, 4)
    (True, 0.4432)
    >>> flip = design(ProfileGraph.bernoulli(["0.8", "0.9"]), "0.5", method="cluster")
    >>> flip.certificate.guarantee, round(flip.origin.objective, 4)
    ('profile(budget=0.5)', 0.0489)
    """
    users = user_context(context, method)
    if users is not None:
        refuse_cells(users, cells, spacing)
        return design_users(users, notion, utility=utility, method=method, **options)
    context = cut(cast("Context | LinePrior", context), cells, spacing)
    asked = read_notion(notion, context.kind)
    aim: dict[str, Any] = {"utility": utility, "loss": loss, "weights": weights}
    method = usual_method(asked, context.kind) if method is None else method
    if method is None:
        return best(context, asked, **aim, bits=bits, **options)
    request = request_for(context, asked, method, options, **aim)
    draft = request.constant() if request.nothing_allowed else request.draft()
    return request.lock(draft, bits)


def user_context(context: object, method: str | None) -> PerUserPriors | AnyUserPrior | None:
    """Return the context of users with a prior each; None for others.

    An alphabet stands for any priors, and so does a list of labels if the method is one of users'.
    """
    if isinstance(context, PerUserPriors | AnyUserPrior):
        return context
    if isinstance(context, Alphabet):
        return AnyUserPrior(context)
    if isinstance(context, Sequence) and method in USER_CHANNELS:
        return AnyUserPrior(Alphabet.of(context))
    return None


def design_users(
    context: PerUserPriors | AnyUserPrior,
    notion: Notion | object,
    *,
    utility: AnyUtility | None = None,
    method: str | None = None,
    budgets: Sequence[Any] | None = None,
    **options: Any,
) -> Mechanism:
    """Make a law for users with a prior each; without a method, the one with the smaller error.

    Of labels alone, and of sets of priors, nothing is known that could compare the methods: ``arc``
    is taken, or ``safe-response`` for sets.

    >>> from liftlock.notions.lip import LIP
    >>> priors = PerUserPriors.of("ab", [[0.5, 0.5], [0.4, 0.6]])
    >>> print(design(priors, LIP("1")).channel)
    safe-response on 2 symbols, a prior for each user
    """
    asked = read_notion(notion, context.kind)
    if utility is not None or options:
        raise InputError(
            "a law for users with a prior each has no such option",
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
        assert priors is not None
        return float(np.sum(np.square(made.expected_error(priors).errors)))

    return min((lock_users(context.inputs, asked, key, limits) for key in USER_CHANNELS), key=error)


def best(
    context: Context | LinePrior,
    notion: Notion | object,
    *,
    utility: AnyUtility | None = None,
    loss: Any = None,
    weights: Weights = None,
    bits: int = DEFAULT_BITS,
    cells: int | None = None,
    spacing: str | None = None,
    watch: Callable[[str], None] | None = None,
    **options: Any,
) -> Mechanism:
    """Make every mechanism that fits, and return the best of those that could be certified.

    Options go to those methods that take them. A remark says how the others did. A mechanism that
    keeps epsilon outright keeps it with any delta, so where a delta is allowed the optimum without
    one is tried as well. `outage`, which gives the value itself away now and then, has to be named.

    >>> from liftlock.notions.approximate import ApproximateLIP
    >>> from liftlock.prior import Prior
    >>> prior = Prior.from_counts({"none": 700, "cold": 200, "flu": 100})
    >>> best(prior, ApproximateLIP("1", "0.05")).certificate.guarantee
    'lip_ediv(epsilon=1, delta=0.05)'
    """
    context = cut(context, cells, spacing)
    if isinstance(context, PerUserPriors | AnyUserPrior):
        return design_users(context, notion, utility=utility, **options)
    notion = read_notion(notion, context.kind)
    pure = None if notion.delta_limit() is None else notion.without_delta
    of_kind = designs_for(context.kind)
    entries = [
        entry
        for entry in of_kind.values()
        if entry.keeps
        and not entry.on_request
        and entry.fits(context)
        and (notion.name in entry.notions or (pure is not None and entry.key == "optimal"))
    ]
    known = {name for entry in entries for name in option_names(entry)}
    for name in options:
        if name not in known:
            raise InputError(
                "no method that fits has an option of this name",
                value=name,
                remedy=f"they take {', '.join(sorted(known)) or 'none'}",
            )
    found: list[Mechanism] = []
    refused: list[tuple[str, LiftlockError]] = []
    for entry in entries:
        if watch is not None:
            watch(f"trying {entry.key}")
        chosen = {name: value for name, value in options.items() if entry.accepts(name)}
        asked = notion if notion.name in entry.notions or pure is None else pure
        try:
            made = design(
                context,
                asked,
                utility=utility,
                loss=loss,
                weights=weights,
                method=entry.key,
                bits=bits,
                **chosen,
            )
            found.append(made if asked is notion else _relaxed(made, notion))
        except LiftlockError as error:
            refused.append((entry.key, error))
    if not found:
        if refused:
            raise refused[0][1]
        raise NotDefined(
            "designing",
            f"the notion {notion.name} for {context.describe()}",
            f"design for {', '.join(next(iter(of_kind.values())).notions)}",
        )
    larger = read_utility(context, utility, loss=loss, weights=weights).larger_is_better
    ordered = sorted(found, key=_objective, reverse=larger)
    others = [
        f"{each.origin.method} {each.origin.objective:.6g}" for each in ordered[1:] if each.origin
    ]
    chosen_one = ordered[0]
    assert chosen_one.origin is not None
    if not others:
        return chosen_one
    said = f"the best of {len(ordered)} that could be certified; others: {', '.join(others)}"
    origin = replace(chosen_one.origin, remarks=(*chosen_one.origin.remarks, said))
    return replace(chosen_one, origin=origin)


def _relaxed(made: Mechanism, notion: Notion) -> Mechanism:
    """Certify a mechanism for a weaker notion than it was designed for."""
    certificate = notion.certify(made.channel, made.context)
    if not certificate.holds or made.origin is None:
        raise NotCertified(certificate, notion.smallest(made.channel, made.context))
    said = f"it keeps {made.notion} as well: delta is not used"
    # The bound is that of the stronger notion; a mechanism that uses delta might be better.
    origin = replace(
        made.origin, bound=None, gap=None, warning="", remarks=(*made.origin.remarks, said)
    )
    return replace(made, certificate=certificate, origin=origin)


def _objective(mechanism: Mechanism) -> float:
    assert mechanism.origin is not None
    return mechanism.origin.objective


def cut(
    context: Context | LinePrior, cells: int | None = None, spacing: str | None = None
) -> Context:
    """Cut a prior on the line into cells; any other context is already finite."""
    if isinstance(context, LinePrior):
        return context.grid(
            DEFAULT_CELLS if cells is None else cells, "mass" if spacing is None else spacing
        )
    if not hasattr(context, "kind"):
        raise InputError(
            "not a prior, a joint, a set of priors or a graph of profiles",
            value=type(context).__name__,
            remedy="make one, such as Prior.from_counts(...), line.from_data(...), line.from_scipy",
        )
    refuse_cells(context, cells, spacing)
    return context


def refuse_cells(context: Context, cells: int | None, spacing: str | None) -> None:
    """Refuse to cut what is already finite."""
    if cells is not None or spacing is not None:
        raise InputError(
            "only a prior on the line is cut into cells",
            value=context.describe(),
            remedy="leave out cells and spacing",
        )


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


def usual_method(notion: Notion, kind: Kind = "prior") -> str | None:
    """Return the method that is meant when none is named; None is the best of all that fit."""
    first = next(iter(designs_for(kind).values()))
    return first.key if notion.name in first.notions else None


def read_utility(
    context: Context,
    utility: AnyUtility | None = None,
    *,
    loss: Any = None,
    weights: Weights = None,
) -> Utility | ProfileUtility:
    """Make the utility that is meant, for the inputs of a context."""
    if isinstance(context, ProfileGraph):
        return ProfileUtility.of(context, utility, loss=loss, weights=weights)
    return make_utility(_of_a_prior(context, utility, loss, weights), context.inputs)


def _of_a_prior(
    context: Context, utility: AnyUtility | None, loss: Any, weights: Weights
) -> str | Utility:
    """Return the utility that is meant; one of profiles is refused."""
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
    return usual_goal(context) if utility is None else utility


def design_as_published(
    context: Context | LinePrior,
    notion: Notion,
    *,
    utility: str | Utility | None = None,
    method: str,
    bits: int = DEFAULT_BITS,
    cells: int | None = None,
    spacing: str | None = None,
    **options: Any,
) -> Mechanism:
    """Make a mechanism exactly as a method proposes it, certified for what it truly guarantees.

    Some published formulas leak more than the budget they were published for. The certificate of
    the result names the smallest asymmetric budgets that its integers do keep (for LDP the smallest
    LDP budget), rounded up in the tenth decimal; a remark says what was asked for.

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.prior import Prior
    >>> prior = Prior.from_counts({"none": 700, "cold": 200, "flu": 100})
    >>> design_as_published(prior, LIP("1"), method="safe-response").certificate.guarantee
    'alip(lower=0.2118577304, upper=1.0000000001)'
    """
    context = cut(context, cells, spacing)
    if context.kind == "profiles":
        raise NotDefined(
            "designing as published", context.describe(), "every method for profiles keeps its word"
        )
    asked = read_notion(notion, context.kind)
    if find_design(method, DESIGNS).accepts("as_published"):
        options = {"as_published": True} | options
    request = request_for(context, asked, method, options, utility=utility)
    draft = request.draft()
    true, remark = true_guarantee(rounded(draft, bits=bits), asked, request.whole)
    locked: Locked | LockedForm = lock_channel(draft, true, request.whole, bits=bits)
    return request.mechanism(replace(draft, remarks=(*draft.remarks, remark)), locked)


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


# --- requests -------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class DesignRequest(ABC):
    """What was asked for, read and checked: one way for every context from there to a mechanism."""

    entry: Design
    notion: Notion
    whole: Context
    """What the guarantee is proved for: for LDP with every input, also those that never occur."""
    options: Mapping[str, Any]

    @property
    def nothing_allowed(self) -> bool:
        """Whether the budget is 0, so that only the constant mechanism is left."""
        return False

    @abstractmethod
    def constant(self) -> Draft:
        """Return the mechanism that says nothing."""

    @abstractmethod
    def draft(self) -> Draft | FormDraft:
        """Ask the design."""

    @property
    @abstractmethod
    def more_blends(self) -> tuple[Fraction, ...]:
        """How much blending is tried where the usual is not enough.

        The units of a table may be coarse for so small a budget, or for so rare an output.
        """

    def impossible(self, draft: Draft | FormDraft) -> Impossible:  # noqa: ARG002
        """Whether inputs that cannot occur, and that nothing protects, are refused or listed."""
        return "refuse"

    def refused(
        self,
        draft: Draft | FormDraft,  # noqa: ARG002
        refusal: NotCertified | UnprotectedInput,
        bits: int,  # noqa: ARG002
    ) -> NotCertified | UnprotectedInput:
        """Return the error for a draft that is not to be softened."""
        return refusal

    def lock(self, draft: Draft | FormDraft, bits: int) -> Mechanism:
        """Round and certify a draft, with more blending than usual where that is what it takes."""
        softens = (
            self.entry.keeps
            and not self.options.get("as_published")
            and isinstance(draft, Draft)
            and not draft.faithful
        )
        blends = (MOST_BLEND, *self.more_blends)
        for blend in blends:
            try:
                locked: Locked | LockedForm = lock_channel(
                    draft,
                    self.notion,
                    self.whole,
                    bits=bits,
                    most_blend=blend,
                    impossible=self.impossible(draft),
                )
            except (NotCertified, UnprotectedInput) as refusal:
                if not softens:
                    raise self.refused(draft, refusal, bits) from None
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

    @abstractmethod
    def mechanism(self, draft: Draft | FormDraft, locked: Locked | LockedForm) -> Mechanism:
        """Put the locked channel together with what is to be said of it."""


def request_for(
    context: Context,
    notion: Notion,
    method: str,
    options: Mapping[str, Any],
    *,
    utility: AnyUtility | None = None,
    loss: Any = None,
    weights: Weights = None,
) -> DesignRequest:
    """Read a request: the method fits the context and the notion, and takes the options."""
    entry = find_design(method, DESIGNS)
    check_fits(entry, context, notion)
    check_options(entry, options)
    if isinstance(context, ProfileGraph):
        goal = ProfileUtility.of(context, utility, loss=loss, weights=weights)
        return ProfileRequest.of(entry, context, notion, goal, options)
    wanted = _of_a_prior(context, utility, loss, weights)
    return PriorRequest.of(entry, context, notion, wanted, options)


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
        return (Fraction(1) if self.room < _TINY_ROOM else _MORE_BLEND,)

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


@dataclass(frozen=True, kw_only=True)
class ProfileRequest(DesignRequest):
    """A request for a graph of profiles."""

    graph: ProfileGraph
    goal: ProfileUtility

    @classmethod
    def of(
        cls,
        entry: Design,
        graph: ProfileGraph,
        notion: Notion,
        goal: ProfileUtility,
        options: Mapping[str, Any],
    ) -> ProfileRequest:
        """Refuse what would take hours, and what promises nothing."""
        if not graph.edges:
            raise InputError(
                "a graph without edges promises nothing",
                value=graph.describe(),
                remedy="join the profiles that must not be told apart",
            )
        check_matrices(entry, graph)
        return cls(entry=entry, notion=notion, whole=graph, options=options, graph=graph, goal=goal)

    def constant(self) -> Draft:
        """Ask the design: what it makes of a budget of 0 depends on the parts of the graph."""
        return self.draft()

    def draft(self) -> Draft:
        """Ask the design."""
        made: Draft = self.entry.make(self.graph, self.notion, utility=self.goal, **self.options)
        return made

    @property
    def more_blends(self) -> tuple[Fraction, ...]:
        """Tables may be too coarse for a tiny budget or a rare output."""
        return _MORE_BLEND, Fraction(1)

    def impossible(self, draft: Draft | FormDraft) -> Impossible:
        """List values that a profile calls impossible if all profiles share one matrix."""
        shared = isinstance(draft, Draft) and draft.inputs.labels == self.graph.inputs.labels
        return "ignore" if shared else "refuse"

    def mechanism(self, draft: Draft | FormDraft, locked: Locked | LockedForm) -> Mechanism:
        """Measure the locked table on the graph."""
        assert isinstance(locked, Locked)
        graph, goal = self.graph, self.goal
        objective = goal.value(graph.laws, blocks_of(locked.channel, graph))
        proved = draft.optimality
        bound = gap = None
        if proved is not None and proved.utility == goal.name:
            bound = proved.reference - proved.bound if goal.larger_is_better else proved.bound
            apart = bound - objective if goal.larger_is_better else objective - bound
            gap = max(0.0, apart) / proved.reference if proved.reference > 0 else 0.0
        origin = Origin(
            self.entry.key,
            goal.name,
            objective,
            bound,
            gap,
            (*draft.remarks, *self._remarks(locked.channel)),
            title=goal.title,
            nothing=goal.of_nothing(graph.laws),
            truth=goal.of_truth(graph.laws),
            kind=self.entry.kind,
        )
        return Mechanism(locked.channel, locked.certificate, graph, origin)

    def _remarks(self, channel: Table) -> list[str]:
        """Say what a user should know that the numbers do not show."""
        said = []
        if self.graph.isolated:
            said.append(f"no edge, so no promise, for {_listed(self.graph.isolated)}")
        silent = [label for label in self.graph.inputs.labels if label not in channel.outputs]
        if silent:
            said.append(f"never released: {_listed(silent)}")
        if self.graph.uses_profile(channel.inputs):
            said.append("it uses the profile of each value: who releases must know it, and keep it")
        return said


def _listed(labels: Sequence[Label]) -> str:
    names = ", ".join(str(label) for label in labels[:_LISTED])
    more = len(labels) - _LISTED
    return f"{names} and {more} more" if more > 0 else names


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
