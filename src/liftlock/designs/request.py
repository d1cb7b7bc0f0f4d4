"""A request for a design: from what was asked for to a locked mechanism, for every context.

`DesignRequest.of` reads and checks, `draft` asks the design, `lock` makes certified integers of
the draft, and `mechanism` puts them together with what is to be said of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

import numpy as np

from liftlock._solver.outputs import release_nothing
from liftlock._solver.problem import Problem, Task, limits, restrict_to_support, shared_rows
from liftlock.designs.base import (
    PRIOR_KINDS,
    Design,
    Draft,
    StructuredDraft,
    check_fits,
    check_options,
    check_size,
    draft_of,
    labels_text,
)
from liftlock.designs.catalogue import check_published
from liftlock.designs.goal import Goal, read_goal
from liftlock.designs.lock import MOST_BLEND, LockedChannel, round_draft
from liftlock.designs.lock import lock as lock_channel
from liftlock.designs.mechanisms.optimal import GAP
from liftlock.designs.utility_range import UtilityRange
from liftlock.errors import (
    InputError,
    LiftlockError,
    NotCertified,
    NotDefined,
    UnprotectedInput,
)
from liftlock.estimate.expected import margins_text
from liftlock.estimate.models import Dense, Model
from liftlock.estimate.models.support import Encoding
from liftlock.estimate.question import Question
from liftlock.exact.rounding import DEFAULT_BITS
from liftlock.mechanism import Mechanism
from liftlock.model import (
    AnyUserPrior,
    Conditional,
    Context,
    Joint,
    Kind,
    Prior,
    PriorSet,
    ProfileGraph,
    representative,
)
from liftlock.model.alphabet import Alphabet, Label
from liftlock.model.channel import Table
from liftlock.model.continuous.grid import DEFAULT_BINS, ContinuousPrior, GridPrior
from liftlock.model.provenance import Provenance
from liftlock.model.structured import USER_CHANNELS, AnyChannel, SupportChannel, to_dense
from liftlock.notions.base import Notion, safe_text
from liftlock.notions.guarantee import Wanted
from liftlock.notions.lift import Impossible, extreme_lifts
from liftlock.notions.lip import lift_notion
from liftlock.notions.profile import ProfilePrivacy

_MORE_BLEND = Fraction(1, 256)
"""How much of the mean row may be mixed in where the usual share is not enough."""

_TINY_ROOM = 1e-6
"""Where lifts may move by less than this, rounding alone can ask for any blend."""
_MEASURED = 512
"""How precise answers from tables of more values will be is not computed unasked."""
_AS_PUBLISHED = "design_as_published(...), on the command line --as-published"


def read_context(context: object, method: object) -> Context | ContinuousPrior:
    """Return the context that is meant: labels alone stand for any priors of users.

    An alphabet is enough; a list of labels needs a method for users with a prior each.
    """
    if isinstance(context, Alphabet):
        return AnyUserPrior(context)
    if isinstance(context, Sequence) and isinstance(method, str) and method in USER_CHANNELS:
        return AnyUserPrior(Alphabet.of(context))
    return cast("Context | ContinuousPrior", context)


def discretise(
    context: Context | ContinuousPrior, bins: int | None = None, spacing: str | None = None
) -> Context:
    """Discretise a continuous prior into bins; any other context is already finite."""
    if isinstance(context, ContinuousPrior):
        return context.discretise(
            DEFAULT_BINS if bins is None else bins, "mass" if spacing is None else spacing
        )
    if not hasattr(context, "kind"):
        raise InputError(
            "not a prior, a joint, a set of priors or a graph of profiles",
            value=type(context).__name__,
            remedy="make one, such as Prior.from_counts(...), continuous.from_data(...), "
            "continuous.from_scipy",
        )
    refuse_bins(context, bins, spacing)
    return context


def refuse_bins(context: Context, bins: int | None, spacing: str | None) -> None:
    """Refuse to discretise what is already finite."""
    if bins is not None or spacing is not None:
        raise InputError(
            "only a continuous prior is discretised",
            value=context.describe(),
            remedy="leave out bins and spacing",
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


@dataclass(frozen=True)
class DesignRequest:
    """What was asked for, read and checked: one way for every context from there to a mechanism."""

    entry: Design
    notion: Notion
    whole: Context
    """What the guarantee is proved for: for LDP with every input, also those that never occur."""
    context: Context
    """What the design and the utility see: inputs that occur."""
    goal: Goal
    options: Mapping[str, Any]
    dropped: tuple[Label, ...] = ()
    also: tuple[Wanted, ...] = ()
    """Further guarantees, on the inputs that the design sees."""

    @classmethod
    def of(
        cls,
        entry: Design,
        context: Context,
        notion: Notion,
        options: Mapping[str, Any],
        also: Sequence[Wanted] = (),
        **aim: Any,
    ) -> DesignRequest:
        """Check that the method fits, leave out what cannot occur, and make the goal."""
        check_fits(entry, context, notion)
        if also:
            check_fits_all(entry, also)
        check_options(entry, options)
        if options.get("as_published"):
            check_published(entry, notion, options)
        seen: Context = context
        dropped: tuple[Label, ...] = ()
        prior_free = entry.prior_free and notion.ratio_limit is not None
        if context.kind in PRIOR_KINDS and not prior_free:
            seen, dropped = restrict_to_support(context)
        goal = read_goal(seen, **aim, whole=context)
        further = tuple(_on_inputs(each, context, seen) for each in also)
        check_size(entry, seen, notion, goal.utility, further)
        # With other guarantees, which say nothing of inputs that never occur, none accepts them.
        whole = seen if notion.ratio_limit is None or also else context
        return cls(entry, notion, whole, seen, goal, options, dropped, further)

    def make(self, bits: int) -> Mechanism:
        """Draft and lock a mechanism; a budget of 0 leaves only the one that says nothing."""
        return self.lock(self.draft() if self.room else self.constant(), bits)

    # --- drafts -----------------------------------------------------------------------------------

    @property
    def room(self) -> float:
        """How far lifts may be from 1, on the narrowest side; 0 for a budget of 0."""
        return min(_room(notion) for notion in (self.notion, *(each.notion for each in self.also)))

    def draft(self) -> Draft | StructuredDraft:
        """Ask the design."""
        further: dict[str, Any] = {"beside": self.also} if self.also else {}
        made = self.entry.draft(
            self.context, self.notion, self.goal.utility, **self.options, **further
        )
        if isinstance(made, StructuredDraft):
            return made
        return self._complete(made if self.entry.face_value else self.goal.name_outputs(made))

    def constant(self) -> Draft:
        """Return the mechanism that says nothing; where the secret is X itself, none is better."""
        problem = Problem.of_several(self.context, self.notion, self.also)
        task = Task(problem, self.goal.utility, explain=self.options.get("explain"))
        made = draft_of(release_nothing(task), self.context.inputs)
        if not task.allows_nothing_of_itself:  # independent outputs might be better
            made = replace(made, optimality=None)
        return self._complete(self.goal.name_outputs(made))

    def _complete(self, draft: Draft) -> Draft:
        """Give inputs that never occur a row: that of the likeliest one."""
        if self.whole is self.context:
            return draft
        rows = shared_rows(self.whole.inputs, representative(self.context))
        return replace(draft, inputs=self.whole.inputs, matrix=draft.matrix[rows].copy())

    # --- locking ----------------------------------------------------------------------------------

    def lock(self, draft: Draft | StructuredDraft, bits: int) -> Mechanism:
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
                    also=self.also,
                )
            except (NotCertified, UnprotectedInput) as refusal:
                if not softens:
                    raise self._refusal(draft, refusal, bits) from None
                if bits < DEFAULT_BITS and isinstance(refusal, NotCertified):
                    few = f"{refusal.smallest}, of this very table; or round less, with more bits"
                    raise NotCertified(refusal.certificate, few, refusal.about) from None
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

    def _impossible(self, draft: Draft | StructuredDraft) -> Impossible:
        """List values that a profile calls impossible if all profiles share one matrix."""
        shared = draft.inputs.labels == self.context.inputs.labels
        return "ignore" if self.context.kind == "profiles" and shared else "refuse"

    def _refusal(
        self, draft: Draft | StructuredDraft, refusal: NotCertified | UnprotectedInput, bits: int
    ) -> NotCertified | UnprotectedInput:
        """Say what a published formula, which is not to be softened, does guarantee."""
        honest = self.entry.keeps and not isinstance(draft, Draft)
        if honest or isinstance(refusal, UnprotectedInput) or self.context.kind == "profiles":
            return refusal
        true, _ = true_guarantee(round_draft(draft, bits=bits), self.notion, self.whole)
        how = f"; to make it under that: {_AS_PUBLISHED}" if self._is_published() else ""
        return NotCertified(refusal.certificate, f"{true}{how}")

    def _is_published(self) -> bool:
        """Tell whether this can be asked for as published, with these options."""
        if not self.entry.accepts("as_published"):
            return True
        options = {**self.options, "as_published": True}
        try:
            check_published(self.entry, self.notion, options)
            replace(self, options=options).draft()
        except LiftlockError:
            return False
        return True

    # --- what is said of the mechanism ------------------------------------------------------------

    def mechanism(self, draft: Draft | StructuredDraft, locked: LockedChannel[Any]) -> Mechanism:
        """Put the locked channel together with what is to be said of it."""
        proof, utility = draft.optimality, self.goal.utility
        worth = self.goal.measure(locked.channel, self.notion, proof)
        remarks = [*draft.remarks, *self._remarks(locked.channel, draft.remarks)]
        remarks += [worth.remark] if worth.remark else []
        remarks += self._margins(locked.channel)
        if self.goal.tells_gap and proof is not None:
            # With the gap of the integers: rounding may have widened that of the draft.
            remarks = [*proof.early_stop_remarks(worth.gap), *remarks]
        nothing, truth = self.goal.ends
        origin = Provenance(
            self.entry.key,
            utility.name,
            worth.objective,
            worth.bound,
            worth.gap,
            tuple(remarks),
            title=utility.title,
            nothing=nothing,
            truth=truth,
            kind=self.entry.kind,
        )
        if self.goal.tells_gap:
            asked = float(self.options.get("gap", GAP))
            origin = replace(origin, warning=origin.gap_warning(asked))
        return Mechanism(locked.channel, locked.certificate, self.whole, origin, also=locked.also)

    def _margins(self, channel: AnyChannel) -> list[str]:
        """Say how precise answers will be without the prior, and if it is exactly right."""
        context = self.context
        if isinstance(context, ProfileGraph) or _is_constant(channel):
            return []
        prior = representative(context)
        masses, inputs = prior.floats(), context.inputs
        model: Model
        if isinstance(channel, SupportChannel):
            model = Encoding(channel, prior.reordered(channel.inputs).floats())
        elif isinstance(channel, Table) and len(inputs) <= _MEASURED:
            rows = [channel.inputs.index(label) for label in inputs.labels]
            model = Dense(inputs, channel.outputs, channel.floats()[rows], masses)
        else:
            return []
        numbers = isinstance(context, GridPrior)
        asked = Question.mean(inputs) if numbers else Question.histogram(inputs)
        return [margins_text(model, asked)]

    def _remarks(self, channel: AnyChannel, known: Sequence[str]) -> list[str]:
        """Say what a user should know that the numbers do not show."""
        remarks = []
        if self.dropped:
            said = "left out because they never occur"
            if self.whole is not self.context:
                model = int(np.argmax(representative(self.context).floats()))
                like = repr(self.context.inputs.labels[model])
                said = f"they never occur, and would be answered like {like}"
            remarks.append(f"{said}: {labels_text(self.dropped)}")
        allowed = self.notion.delta_limit()
        if allowed is not None and allowed.form != "ldp" and isinstance(channel, Table):
            remarks.append(_remark_on_outright_leaks(channel, self.whole, self.notion))
        if isinstance(self.context, ProfileGraph):
            return remarks + _remarks_on_profiles(channel, self.context)
        if isinstance(self.context, GridPrior):
            remarks += self.context.resolution()
        if isinstance(self.context, PriorSet):
            remarks.append(_remark_on_the_prior(self.context, self.goal.range_of(channel)))
        if _is_constant(channel) and not any("constant" in text for text in (*known, *remarks)):
            remarks.append("the mechanism is constant: its output says nothing about the value")
        return remarks


def _room(notion: Notion) -> float:
    """Return how far lifts may be from 1 under a notion, on the narrower side."""
    try:
        lower, upper, ratio = limits(notion)
    except NotDefined:  # with a delta, and of profiles
        return 1.0
    return min(1.0 - lower, upper - 1.0, np.inf if ratio is None else ratio - 1.0)


# --- several guarantees ---------------------------------------------------------------------------


def read_guarantees(context: Context, asked: Sequence[object]) -> tuple[Notion, tuple[Wanted, ...]]:
    """Read a list of guarantees: the first is about the context itself, others may name theirs.

    Each is a notion, about the same context, or (notion, context), or (notion, context, name of the
    secret). All contexts give the same probabilities to the same inputs.

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.notions.ldp import LDP
    >>> joint = Joint.from_counts({"s": {"a": 3, "b": 1}, "t": {"a": 1, "b": 3}})
    >>> first, also = read_guarantees(joint, [LIP("1"), (LDP("2"), joint.prior)])
    >>> str(first), str(also[0].notion), also[0].context.describe()
    ('lip(1)', 'ldp(2)', 'a prior on 2 symbols')
    """
    wanted = [_read_guarantee(context, each) for each in asked]
    if not wanted:
        raise InputError("no guarantee", remedy='give one such as LIP("1"), or several')
    place = next((at for at, each in enumerate(wanted) if each.context is context), None)
    if place is None:
        raise InputError(
            "none of the guarantees is about the context of the design",
            value=context.describe(),
            remedy="give one of them as a notion alone",
        )
    first = wanted.pop(place)
    for each in wanted:
        _check_same_inputs(context, each)
    return first.notion, tuple(wanted)


def _read_guarantee(context: Context, asked: object) -> Wanted:
    if not isinstance(asked, tuple):
        return Wanted(read_notion(asked, context.kind), context)
    if len(asked) not in (2, 3) or not hasattr(asked[1], "kind"):
        raise InputError(
            "not a guarantee",
            value=asked,
            remedy='give a notion, or a pair such as (LDP("1"), joint.prior)',
        )
    known, about = cast("Context", asked[1]), asked[2] if len(asked) > 2 else None
    return Wanted(read_notion(asked[0], known.kind), known, about)


def _check_same_inputs(context: Context, wanted: Wanted) -> None:
    """Refuse a context that is not about the same inputs, with the same probabilities."""
    if isinstance(context, Conditional):
        return  # which `design_given` looks at
    for known in (context, wanted.context):
        if not isinstance(known, Prior | Joint):
            raise NotDefined(
                "several guarantees at once", known.describe(), "give a prior, or joints"
            )
    mine, other = representative(context), representative(wanted.context)
    if set(mine.inputs.labels) != set(other.inputs.labels):
        raise InputError(
            "the contexts of several guarantees are on different inputs",
            value=labels_text(sorted(set(mine.labels) ^ set(other.labels), key=str)),
            remedy="count all of them in the same rows",
        )
    other = other.reordered(mine.inputs)
    for label, here, there in zip(mine.labels, mine.fractions, other.fractions, strict=True):
        if here != there:
            raise InputError(
                "the contexts of several guarantees give an input different probabilities",
                where=repr(label),
                value=f"{float(here):.6g} and {float(there):.6g}",
                remedy="count all of them in the same rows",
            )


def check_fits_all(entry: Design, also: Sequence[Wanted]) -> None:
    """Refuse a method that makes mechanisms for one guarantee only."""
    if not entry.accepts("beside"):
        raise NotDefined(
            f"the method {entry.key}", "several guarantees at once", "use the method optimal"
        )
    for notion, known, _ in also:
        check_fits(entry, known, notion)


def _on_inputs(wanted: Wanted, whole: Context, seen: Context) -> Wanted:
    """Return a guarantee about the inputs that occur, in the order of the design's context."""
    known = wanted.context
    assert isinstance(known, Prior | Joint)
    if known.inputs.labels != whole.inputs.labels:
        known = known.reordered(whole.inputs)
    if seen is not whole:
        known = known.restrict(seen.inputs.labels)
    return wanted._replace(context=known)


# --- remarks --------------------------------------------------------------------------------------


def _remark_on_the_prior(context: PriorSet, found: UtilityRange | None) -> str:
    """Say under which prior of a set the utility is, and what it is under the others."""
    said = f"the utility is that under {context.middle}, which is liftlock's choice"
    if found is None:
        return f"{said}; its range over the set is not known"
    return f"{said}; over the set it is {found}, for whoever knows which prior is true"


def _remark_on_outright_leaks(channel: Table, context: Context, notion: Notion) -> str:
    """Say what leaks where delta lets the budget be broken, if it does."""
    found = extreme_lifts(channel, context)
    sides = [found.eps_lower().value, found.eps_upper().value]
    lower, upper = ("infinite" if side.is_infinite else f"{float(side):.4g}" for side in sides)
    if notion.without_delta.certify(channel, context).holds:
        return f"it leaks eps_lower {lower} and eps_upper {upper}: delta is not used"
    return f"where delta lets it, it leaks eps_lower {lower} and eps_upper {upper}"


def _remarks_on_profiles(channel: AnyChannel, graph: ProfileGraph) -> list[str]:
    """Say who is promised nothing, what is never released, and who must know the profile."""
    assert isinstance(channel, Table)
    said = []
    if graph.isolated:
        said.append(f"no edge, so no promise, for {labels_text(graph.isolated, str)}")
    silent = [label for label in graph.inputs.labels if label not in channel.outputs]
    if silent:
        said.append(f"never released: {labels_text(silent, str)}")
    if graph.uses_profile(channel.inputs):
        said.append("it uses the profile of each value: who releases must know it, and keep it")
    return said


def _is_constant(channel: AnyChannel) -> bool:
    if isinstance(channel, SupportChannel):
        return channel.levels[0] == channel.levels[1]
    floats = to_dense(channel).floats()
    return bool((floats == floats[:1]).all())


# --- what a published formula truly guarantees ----------------------------------------------------


def true_guarantee(channel: AnyChannel, asked: Notion, context: Context) -> tuple[Notion, str]:
    """Return the smallest guarantee of the kind asked for that a channel keeps, and say it.

    Lifts that fall to 0 leave no lower budget: then only the rise of beliefs is bounded.
    """
    attained = asked.smallest_guarantee(channel, context)
    if attained is not None:
        return attained, _describe(asked, attained)
    if asked.ratio_limit is not None:
        raise _no_guarantee("an output that some secret never gives reveals it", asked)
    found = extreme_lifts(channel, context)
    lower, upper = found.eps_lower().value, found.eps_upper().value
    if upper.is_infinite:
        raise _no_guarantee("a belief can rise without bound", asked)
    if lower.is_infinite:
        risen = lift_notion(upper=safe_text(upper))
        return risen, _describe(asked, risen) + "; an output rules some secret out altogether"
    true = lift_notion(lower=safe_text(lower), upper=safe_text(upper))
    return true, _describe(asked, true)


def _describe(asked: Notion, true: Notion) -> str:
    return f"asked for {asked}, its true guarantee is {true}"


def _no_guarantee(why: str, asked: Notion) -> InputError:
    return InputError(
        f"the published mechanism keeps no finite budget: {why}",
        value=str(asked),
        remedy="choose a method that keeps its budget",
    )
