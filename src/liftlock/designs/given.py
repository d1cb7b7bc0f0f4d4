"""Designs that use a value that observers see too: a table for each k, one mechanism, one proof.

For each value k of what is given the design is that of a joint of its own. The rest, of whose
members nothing is known, gets the best table that keeps the LDP of X which implies the notion under
every joint; where no LDP does, its table says nothing.

What holds for every k says nothing of observers who do not see k: to them W is a mixture over k. If
the law of Y is the same for all k, the one implies the other. Otherwise every row is mixed with the
law of all reports,

    (1 - t) W(y | x, k) + t P(y),

which pulls the lifts of both towards 1: the smallest t is taken for which both are proved.

Source: math kept columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from liftlock._runtime.progress import Progress, Step, ignore_progress
from liftlock.designs.base import labels_text
from liftlock.designs.goal import AnyUtility, Goal, read_goal
from liftlock.designs.lock import _least_blend, _mixer, lock
from liftlock.errors import InputError, NotCertified, NotDefined
from liftlock.estimate.expected import margins_text
from liftlock.estimate.models.given import lift_question, model_given, of_those_there
from liftlock.estimate.question import Question
from liftlock.exact.budget import Budget
from liftlock.exact.decimals import round_up_text
from liftlock.exact.integers import Integers
from liftlock.exact.reproducible import dot
from liftlock.exact.rounding import DEFAULT_BITS, round_rows
from liftlock.mechanism import Mechanism
from liftlock.model import Conditional, Context
from liftlock.model.alphabet import Alphabet, Label
from liftlock.model.channel import Table
from liftlock.model.conditional import REST
from liftlock.model.provenance import Provenance
from liftlock.notions.base import Notion
from liftlock.notions.given import rest_budget
from liftlock.notions.guarantee import Guarantee, Wanted
from liftlock.notions.ldp import LDP
from liftlock.notions.lift import extreme_lifts
from liftlock.utility.base import Utility, mean_cost

Make = Callable[[Context, Notion, tuple[Wanted, ...]], Mechanism]
"""Designs for a prior or a joint, and for what is wanted besides."""

_MEASURED = 512
"""How precise answers from tables of more values will be is not computed unasked."""
_REFINEMENTS = 10
_WITHOUT = "for whoever does not see the given value"


@dataclass(frozen=True)
class _Piece:
    """The table of one group: integers over outputs, or nothing said."""

    name: Label
    inputs: tuple[Label, ...]
    made: Mechanism | None
    """None: it says nothing, and draws like all the others together."""


def design_given(
    context: Conditional,
    notion: Notion,
    make: Make,
    *,
    also: Sequence[Wanted] = (),
    utility: AnyUtility | None = None,
    blind: bool = False,
    about: str | None = None,
    bits: int = DEFAULT_BITS,
    watch: Progress | None = None,
) -> Mechanism:
    """Design for each given value by `make`, put the tables together, and prove the whole.

    With `also` each table keeps these guarantees too, under contexts with the same given values.

    With `blind` the given value does not go out with the report, so the guarantee must hold for
    those who do not see it too; without, it is proved if it holds, and a remark says what does.
    """
    tell = ignore_progress if watch is None else watch
    wanted = (Wanted(notion, context, about), *also)
    for each in also:
        _check_same_given(context, each)
    pieces = []
    for place, name in enumerate(context.names):
        tell(Step(f"given {name}", place, len(context.names)))
        pieces.append(_piece(context, name, wanted, make))
    table = _assemble(context, pieces, bits)
    goal = read_goal(context, utility)
    remarks = _remarks(context, wanted, pieces)
    if blind:
        tell(Step("without the given value"))
        blend, table = _blended(table, wanted)
        if blend:
            share = f"{100 * float(blend):.2g} %"
            remarks.append(
                f"{share} of every row is the law of all reports, so that the guarantee holds "
                f"{_WITHOUT} too"
            )
    made = Mechanism.prove(table, notion, context, also=also)
    more = []
    for each in wanted:
        whole = _without(each)
        certificate = whole.notion.certify(table, whole.context, impossible="ignore")
        if certificate.holds:
            more.append(Guarantee.prove(table, whole, impossible="ignore"))
        else:
            remarks.append(f"NOT kept {_WITHOUT}: {certificate.refusal()}")
    made = replace(made, also=(*made.also, *more))
    return replace(made, origin=_origin(made, pieces, goal, remarks))


def _without(wanted: Wanted) -> Wanted:
    """Return what is wanted for those who do not see the given value."""
    assert isinstance(wanted.context, Conditional)
    return wanted._replace(context=wanted.context.whole)


def _check_same_given(context: Conditional, wanted: Wanted) -> None:
    """Refuse a context of other given values, or of other masses of values."""
    other = wanted.context
    if not isinstance(other, Conditional):
        raise NotDefined(
            "several guarantees at once",
            f"{context.describe()} and {other.describe()}",
            "give a Conditional with the same given values for each of them",
        )
    same = (context.given, context.values, context.groups, context.rest) == (
        other.given,
        other.values,
        other.groups,
        other.rest,
    )
    if not same or context.whole.prior != other.whole.prior:
        raise InputError(
            "the contexts of several guarantees differ in more than the secret",
            value=other.describe(),
            remedy="count all of them in the same rows, with groups of their own",
        )


# --- the tables of the groups -------------------------------------------------------------------


def _piece(context: Conditional, name: Label, wanted: Sequence[Wanted], make: Make) -> _Piece:
    """Design the table of one group."""
    notion = wanted[0].notion
    inputs = tuple(x for group, x in context.pair_list if group == name)
    if context.rest and name == REST:
        budget = _rest_budget(wanted)
        if budget is None:
            return _Piece(name, inputs, None)
        prior = context.context_of(REST).prior.restrict(inputs)
        return _said(name, inputs, make(prior, LDP(budget), ()))
    members = [k for k in context.given.labels if context.group_of(k) == name]
    shared = context.shared_by(name)
    if len(inputs) == 1:
        return _Piece(name, inputs, None)
    more = tuple(
        each._replace(context=each.context.shared_by(name))
        for each in wanted[1:]
        if isinstance(each.context, Conditional)
    )
    made = make(shared, notion, more)
    if len(members) > 1:
        made = _for_all(made, wanted, members)
    return _said(name, inputs, made)


def _said(name: Label, inputs: tuple[Label, ...], made: Mechanism) -> _Piece:
    if not isinstance(made.channel, Table):
        raise NotDefined(
            "a design for each given value",
            f"{made.channel}, which has no table",
            "name another method",
        )
    return _Piece(name, inputs, None if len(made.table.outputs) == 1 else made)


def _rest_budget(wanted: Sequence[Wanted]) -> Budget | None:
    """Return the LDP that keeps everything under every joint; None if only silence does."""
    budgets = [rest_budget(each.notion) for each in wanted]
    known = [budget for budget in budgets if budget is not None]
    return min(known, key=float) if len(known) == len(budgets) else None


def _for_all(made: Mechanism, wanted: Sequence[Wanted], members: Sequence[Label]) -> Mechanism:
    """Soften the table of a group of several values until it holds for each of them."""
    table = made.table
    first, *more = (
        each._replace(context=each.context.restricted(members))
        for each in wanted
        if isinstance(each.context, Conditional)
    )
    assert isinstance(first.context, Conditional)
    pairs = Alphabet.of((first.context.names[0], x) for x in table.inputs.labels)
    found = lock(
        replace(table, inputs=pairs),
        first.notion,
        first.context,
        bits=table.bits,
        most_blend=Fraction(1),
        also=more,
    )
    if not found.blend:
        return made
    softer = replace(found.channel, inputs=table.inputs)
    said = f"blended with weight {float(found.blend):.2g} to hold for every value of its group"
    origin = made.origin
    if origin is not None:
        origin = replace(origin, bound=None, gap=None, remarks=(*origin.remarks, said))
    return Mechanism.prove(softer, first.notion, made.context, origin)


def _assemble(context: Conditional, pieces: Sequence[_Piece], bits: int) -> Table:
    """Put the tables of all groups under one another."""
    outputs: dict[Label, None] = {}
    for piece in pieces:
        if piece.made is not None:
            outputs |= dict.fromkeys(piece.made.table.outputs.labels)
    if not outputs:
        likeliest = context.prior.labels[int(np.argmax(context.prior.floats()))]
        outputs[likeliest] = None
    columns = _ordered(outputs, context)
    usual = _usual_row(context, pieces, columns, bits)
    rows: dict[Label, Integers] = {}
    for piece in pieces:
        for x in piece.inputs:
            row = usual
            if piece.made is not None:
                own = piece.made.table
                row = np.zeros(len(columns), dtype=own.weights.dtype)
                places = [columns.index(y) for y in own.outputs.labels]
                row[places] = own.weights[own.inputs.index(x)] << (bits - own.bits)
            rows[piece.name, x] = row
    weights = np.stack([rows[pair] for pair in context.pairs.labels])
    return Table.of(context.pairs, columns, weights, bits)


def _ordered(outputs: Iterable[Label], context: Conditional) -> Alphabet:
    """Return the outputs in the order of the values, others last; with their numbers."""
    known = list(outputs)
    first = [x for x in context.values.labels if x in known]
    labels = [*first, *(y for y in known if y not in context.values)]
    points = context.values.coordinates
    if points is None or len(first) < len(labels):
        return Alphabet.of(labels)
    return context.values.subset([context.values.index(x) for x in labels])


def _usual_row(
    context: Conditional, pieces: Sequence[_Piece], columns: Alphabet, bits: int
) -> Integers:
    """Return the law of the reports of all groups that say something."""
    law = np.zeros(len(columns))
    for piece in pieces:
        if piece.made is None:
            continue
        own = piece.made.table
        places = [columns.index(y) for y in own.outputs.labels]
        masses = context.shared_by(piece.name).prior
        size = sum(
            total
            for k, total in zip(context.given.labels, context.totals, strict=True)
            if context.group_of(k) == piece.name
        )
        chances = np.array(
            [float(masses[x]) if x in masses.alphabet else 0.0 for x in piece.inputs]
        )
        order = [own.inputs.index(x) for x in piece.inputs]
        law[places] += max(size, 1e-9) * dot(chances, own.floats()[order])
    if not law.any():
        law[0] = 1.0
    found: Integers = round_rows((law / law.sum())[None, :], bits)[0]
    return found


# --- observers who do not see k -----------------------------------------------------------------


def _blended(table: Table, wanted: Sequence[Wanted]) -> tuple[Fraction, Table]:
    """Mix every row with the law of all reports, as little as all guarantees need."""
    first = _without(wanted[0])

    def attempt(blend: Fraction) -> tuple[Table, tuple[Guarantee, ...]] | None:
        channel = mixer.table(blend)
        found = []
        for each in (*map(_without, wanted), *wanted):
            certificate = each.notion.certify(channel, each.context, impossible="ignore")
            if not certificate.holds:
                return None
            found.append(Guarantee(certificate, each.context, each.about))
        return channel, tuple(found)

    mixer = _mixer(table, first.context, 0.0, table.bits)
    if attempt(Fraction(0)) is not None:
        return Fraction(0), table
    found = _least_blend(attempt, Fraction(1), table.bits, _REFINEMENTS)
    if found is None:
        certificate = first.notion.certify(table, first.context, impossible="ignore")
        raise NotCertified(certificate, "", first.about or "")
    blend, channel, _ = found
    assert isinstance(channel, Table)
    return blend, channel


# --- what is said of it -------------------------------------------------------------------------


def _remarks(context: Conditional, wanted: Sequence[Wanted], pieces: Sequence[_Piece]) -> list[str]:
    listed = [k for k in context.given.labels if not (context.rest and k == REST)]
    remarks = []
    if listed:
        tables = len(context.names) - context.rest
        shared = "" if tables == len(listed) else f" ({tables:,} tables)"
        remarks.append(f"designed for each of {len(listed):,} given values by itself{shared}")
    if context.rest:
        budget = _rest_budget(wanted)
        what = "says nothing" if budget is None else f"keeps ldp({budget}) of the value itself"
        remarks.append(f"given any other value it {what}, which holds whatever the joint there")
    silent = [p.name for p in pieces if p.made is None and not (context.rest and p.name == REST)]
    if silent:
        remarks.append(f"it says nothing given {labels_text(silent, str)}")
    return remarks


def _origin(
    made: Mechanism, pieces: Sequence[_Piece], goal: Goal, remarks: Sequence[str]
) -> Provenance:
    """Say how it was made and how good it is: means over the given values."""
    context = made.context
    assert isinstance(context, Conditional)
    objective = goal.measure(made.channel, made.notion, None).objective
    nothing, truth = goal.ends
    methods: list[str] = []
    warnings: list[str] = []
    bounds: list[float | None] = []
    gap = 0.0
    for piece in pieces:
        share = sum(
            float(mass)
            for k, mass in zip(context.given.labels, context.masses.floats(), strict=True)
            if context.group_of(k) == piece.name
        )
        origin = None if piece.made is None else piece.made.origin
        if origin is None:
            # It says nothing because nothing can be said, or because nothing is known of it.
            if share and len(piece.inputs) > 1:
                bounds.append(None)
            continue
        methods.append(origin.method)
        warnings += [f"given {piece.name}: {origin.warning}"] if origin.warning else []
        bounds.append(None if origin.bound is None else share * origin.bound)
        gap = max(gap, 0.0 if origin.gap is None else origin.gap)
    known = [bound for bound in bounds if bound is not None]
    one_each = len(set(context.groups)) == len(context.given)
    bound = sum(known) if len(known) == len(bounds) and one_each else None
    if bound is not None:
        apart = abs(bound - objective)
        size = abs(truth - nothing)
        gap = apart / size if size and np.isfinite(size) else 0.0
    return Provenance(
        " and ".join(dict.fromkeys(methods)) or "none",
        goal.utility.name,
        objective,
        bound,
        None if bound is None else gap,
        (*remarks, *_margins(made)),
        title=f"{goal.utility.title}, for whoever knows the given value",
        nothing=nothing,
        truth=truth,
        kind="" if bound is None else "mechanism that treats each given value by itself",
        warning="; ".join(warnings),
    )


def _margins(made: Mechanism) -> list[str]:
    """Say how precise answers will be."""
    context = made.context
    assert isinstance(context, Conditional)
    if len(context.pairs) > _MEASURED:
        return []
    asked = lift_question(Question.histogram(context.values), context)
    sizes = dict.fromkeys(context.names, 0)
    for k, rows in zip(context.given.labels, context.totals, strict=True):
        sizes[context.group_of(k)] += rows
    asked = of_those_there(asked, context, np.array([*sizes.values()], dtype=object))
    return [margins_text(model_given(made.channel, context), asked)]


# --- what it costs ------------------------------------------------------------------------------


def cost_text(made: Mechanism, plain: Mechanism, utility: AnyUtility | None, whose: str) -> str:
    """Compare a design for given values with one that is the same for all: in worth and in leakage.

    Both are compared as they are to whoever knows the given value, and to whoever does not.
    """
    context = made.context
    assert isinstance(context, Conditional)
    goal = read_goal(context, utility)
    nothing, truth = goal.ends
    known = [goal.measure(each.channel, made.notion, None).objective for each in (made, plain)]
    hidden = [_worth_unseen(each, context, goal.utility) for each in (made, plain)]
    listed = [k for k in context.given.labels if not (context.rest and k == REST)]
    leaked = ""
    if listed:
        seen = context.restricted(listed)
        lifts = extreme_lifts(plain.table.restrict(seen.values.labels), seen)
        lower, upper = (
            "without limit" if side.upper is None else f"by up to {round_up_text(side.upper)} nats"
            for side in (lifts.eps_lower().value, lifts.eps_upper().value)
        )
        leaked = f"; by one table, beliefs given {whose} would fall {lower} and rise {upper}"
    return (
        f"{goal.utility.title}: {known[0]:.4g} for whoever sees {whose} ({known[1]:.4g} by one "
        f"table for all values; no release {nothing:.4g}, no noise {truth:.4g}), {hidden[0]:.4g} "
        f"for whoever does not ({hidden[1]:.4g} by one table){leaked}"
    )


def _worth_unseen(made: Mechanism, context: Conditional, utility: Utility) -> float:
    """Return what reports are worth to whoever does not know the given value."""
    prior = context.prior
    masses, floats = prior.floats(), made.table.floats()
    if not context.uses_given(made.table.inputs):
        rows = floats[[made.table.inputs.index(x) for x in prior.labels]]
    else:
        shares = context.whole.prior.reordered(made.table.inputs).floats()
        rows = np.zeros((len(prior.labels), floats.shape[1]))
        for (_, x), pair in zip(context.pair_list, context.pairs.labels, strict=True):
            at = made.table.inputs.index(pair)
            rows[prior.alphabet.index(x)] += shares[at] * floats[at]
        sums = rows.sum(axis=1, keepdims=True)
        rows = np.where(sums > 0, rows / np.where(sums > 0, sums, 1.0), 1.0 / floats.shape[1])
    return utility.objective(mean_cost(utility, rows, masses), masses)
