"""From what was learned of a column to the mechanism that releases it."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from liftlock._runtime.clock import Clock
from liftlock._runtime.progress import Progress, Step, ignore_progress
from liftlock._solver.problem import restrict_to_support
from liftlock.designs.api import best_of, design
from liftlock.designs.base import Design
from liftlock.designs.catalogue import DESIGNS, find_design
from liftlock.designs.given import design_given
from liftlock.designs.goal import read_goal
from liftlock.designs.request import DesignRequest
from liftlock.errors import InputError, LiftlockError, NotDefined
from liftlock.exact import enclosure
from liftlock.exact.budget import Budget, decimal_text
from liftlock.exact.integers import Floats
from liftlock.mechanism import Mechanism
from liftlock.model import Conditional, Context, Joint
from liftlock.model.alphabet import Alphabet, Label
from liftlock.model.channel import Table
from liftlock.model.columns import ColumnEncoding
from liftlock.model.continuous.grid import GridPrior, number_labels, round_numbers
from liftlock.model.structured import SupportChannel
from liftlock.notions.base import LiftLimits, Notion
from liftlock.notions.guarantee import Guarantee, Wanted
from liftlock.notions.lip import lift_notion
from liftlock.tables.protect.context import LearnedColumn
from liftlock.tables.protect.result import Curve, CurvePoint
from liftlock.tables.protect.spec import Hidden
from liftlock.utility.base import Utility
from liftlock.utility.registry import make_utility

SECONDS = 60.0
"""How long is searched unless told otherwise."""


_FOR_THE_OPTIMUM = 0.75
"""The share of the work that the search for the optimum may take before others are tried."""


def choose_design(
    context: Context,
    notion: Notion,
    *,
    also: Sequence[Wanted] = (),
    utility: str | Utility | None = None,
    method: str | None = None,
    seconds: float = SECONDS,
    blind: bool = False,
    about: str | None = None,
    watch: Progress | None = None,
) -> Mechanism:
    """Design with one method, or with all that fit until the time is up, and take the best.

    For given values each has its share of the time; `blind` and `about` are as in `design_given`.

    The optimum comes first: once it is proved, nothing else can be better. If time runs out
    before, its best mechanism so far competes with those of all other methods. Methods that report
    sets of values are left out: a column has one value in each cell. With `also` the mechanism
    keeps these guarantees too; methods that cannot do that are left out.

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.model import Prior
    >>> made = choose_design(Prior.from_counts({"none": 7, "cold": 2, "flu": 1}), LIP("1"))
    >>> made.origin.method, made.certificate.holds
    ('optimal', True)
    """
    tell = ignore_progress if watch is None else watch
    if isinstance(context, Conditional):
        each = seconds / len(context.names)
        return design_given(
            context,
            notion,
            lambda known, wanted, more: choose_design(
                known,
                wanted,
                also=more,
                utility=utility,
                method=method if wanted is notion else None,
                seconds=each,
                watch=watch,
            ),
            also=also,
            utility=utility,
            blind=blind,
            about=about,
            watch=watch,
        )
    if method is not None and method != "auto":
        made = _design_with(method, context, (notion, *also), utility, seconds, tell)
        if isinstance(made.channel, SupportChannel):
            raise NotDefined(
                f"the method {method}",
                "a column of a table",
                "choose another method: this one reports sets of values",
            )
        return made
    end = time.monotonic() + seconds - Clock.paused
    found: list[Mechanism] = []
    refused: list[LiftlockError] = []
    best: Design = DESIGNS["optimal"]
    fitting = _fitting(context, notion, also)
    others = [entry for entry in fitting if entry is not best and not entry.on_request]
    # Fixed shares, so that what is chosen does not depend on how fast the machine is.
    searching = sum(entry.accepts("seconds") for entry in others)
    each = (1.0 - _FOR_THE_OPTIMUM) * seconds / max(searching, 1)
    for entry in (*(e for e in fitting if e is best), *others):
        if found and time.monotonic() > end + Clock.paused:
            continue
        limit = _FOR_THE_OPTIMUM * seconds if entry is best else each
        try:
            made = _design_with(entry.key, context, (notion, *also), utility, max(1.0, limit), tell)
        except LiftlockError as error:
            refused.append(error)
            continue
        if isinstance(made.channel, SupportChannel):
            continue
        found.append(made)
        if entry is best and _is_proved_optimal(made):
            return made
    if not found:
        if refused:
            raise refused[0]
        raise _no_design_error(context, notion)
    return best_of(found, read_goal(context, utility), "methods in the time given")


def _design_with(
    key: str,
    context: Context,
    asked: Sequence[Notion | Wanted],
    utility: str | Utility | None,
    seconds: float,
    tell: Progress,
) -> Mechanism:
    tell(Step(f"designing ({key})"))
    entry = DESIGNS.get(key)
    options: dict[str, Any] = {}
    if entry is not None and entry.accepts("seconds"):
        options["seconds"] = seconds
    if entry is not None and entry.accepts("watch"):
        options["watch"] = lambda step: tell(Step(f"designing ({key}): {step}"))
    only = asked[0] if len(asked) == 1 else asked
    return design(context, only, utility=utility, method=key, **options)


def _is_proved_optimal(made: Mechanism) -> bool:
    """Tell whether nothing better than this is left to be found, up to the gap of the search."""
    origin = made.origin
    return origin is not None and origin.gap is not None and origin.gap <= 1e-5


@dataclass(frozen=True)
class ColumnDesign:
    """What was learned of a column, or of several as one value, and what was designed for it."""

    learned: LearnedColumn
    mechanism: Mechanism
    """With the rules of the column."""
    core: Mechanism
    """As it was designed: without cells that stay missing, and before outputs were named."""
    context: Context
    notion: Notion
    """What the core was designed for: what missing cells leave of the budget."""
    utility: str | Utility | None
    also: tuple[Wanted, ...] = ()
    """What the core keeps besides."""


def check_design(
    learned: LearnedColumn,
    notion: Notion,
    *,
    also: Sequence[Hidden] = (),
    utility: str | Utility | None = None,
    method: str | None = None,
) -> None:
    """Refuse what no search is needed to refuse: a utility, a method or a notion that do not fit.

    >>> from liftlock.notions.ldp import LDP
    >>> from liftlock.tables.protect.context import learn_labels
    >>> jobs = learn_labels("job", {(None, "nurse"): 6, (None, "cook"): 3})
    >>> check_design(jobs, LDP("1"), method="arc")
    Traceback (most recent call last):
    liftlock.errors.NotDefined: ...
    """
    context, asked, utility = _problem(learned, notion, utility)
    more = _wanted(learned, also)
    if isinstance(context, Conditional):
        context = context.pooled
        more = tuple(_pooled(each) for each in more)
    if method is not None and method != "auto":
        DesignRequest.of(find_design(method), context, asked, {}, more, utility=utility)
        return
    read_goal(restrict_to_support(context)[0], utility, whole=context)
    if not _fitting(context, asked, more):
        raise _no_design_error(context, asked)
    for each in more:
        if not _fitting(each.context, each.notion, more):
            raise _no_design_error(each.context, each.notion)


def _pooled(wanted: Wanted) -> Wanted:
    """Return what is wanted as if nothing was given."""
    assert isinstance(wanted.context, Conditional)
    return wanted._replace(context=wanted.context.pooled)


def _wanted(learned: LearnedColumn, also: Sequence[Hidden]) -> tuple[Wanted, ...]:
    """Return what else is wanted, with what was learned of it."""
    pairs = zip(also, learned.also, strict=True)
    return tuple(Wanted(notion, context, secret) for (secret, notion), context in pairs)


def _problem(
    learned: LearnedColumn, notion: Notion, utility: str | Utility | None
) -> tuple[Context, Notion, str | Utility | None]:
    """Return what is designed for: without cells that stay missing, and the mean of numbers."""
    context: Context = learned.context
    if learned.fixed is not None:
        assert isinstance(learned.context, Joint)
        context, notion = without_missing(learned.context, learned.fixed, notion)
    code = learned.alone
    numeric = code is not None and code.numeric
    if utility is None and numeric and learned.context.inputs.coordinates is not None:
        utility = "mean"
    return context, notion, utility


def _fitting(context: Context, notion: Notion, also: Sequence[Wanted] = ()) -> list[Design]:
    """Return the designs that release a column in this context under these notions."""
    return [
        entry
        for entry in DESIGNS.values()
        if entry.keeps
        and context.kind in entry.contexts
        and notion.name in entry.notions
        and (not also or entry.accepts("beside"))
    ]


def _no_design_error(context: Context, notion: Notion) -> NotDefined:
    return NotDefined(
        "protecting a column",
        f"the notion {notion.name} for {context.describe()}",
        f"ask for {', '.join(DESIGNS['optimal'].notions)}",
    )


def design_column(
    learned: LearnedColumn,
    notion: Notion,
    *,
    also: Sequence[Hidden] = (),
    noise: Fraction = Fraction(0),
    utility: str | Utility | None = None,
    method: str | None = None,
    seconds: float = SECONDS,
    blind: bool = False,
    about: str | None = None,
    watch: Progress | None = None,
) -> ColumnDesign:
    """Design for a column, or for several as one value, prove the whole, and add its rules.

    With `noise`, so many of the rows get a report that is drawn without looking at the value.

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.tables.protect.context import learn_labels
    >>> jobs = learn_labels("job", {(None, "nurse"): 6, (None, "cook"): 3, (None, None): 1})
    >>> made = design_column(jobs, LIP("1")).mechanism
    >>> made.certificate.guarantee, made.encoding.alone.missing
    ('lip(epsilon=1)', '(missing)')
    """
    context, asked, utility = _problem(learned, notion, utility)
    code, more = learned.alone, _wanted(learned, also)
    core = choose_design(
        context,
        asked,
        also=more,
        utility=utility,
        method=method,
        seconds=seconds,
        blind=blind,
        about=about,
        watch=watch,
    )
    if noise:
        core = with_noise(core, noise, utility)
    whole = core
    if learned.fixed is not None:
        assert isinstance(learned.context, Joint)
        whole = with_missing(core, learned.context, learned.fixed, notion)
    if code is None:
        whole = with_tuples(whole)
    elif code.numeric:
        whole = with_numbers(whole, code, np.array(learned.points))
    if code is not None and learned.decimals is not None:
        whole = with_decimals(whole, learned.decimals, code)
    whole = replace(whole, encoding=learned.encoding)
    return ColumnDesign(learned, whole, core, context, asked, utility, more)


def with_tuples(made: Mechanism) -> Mechanism:
    """Name each output by a combination of cells.

    An output that has no combination for a name gets the likeliest one that leads to it, and a
    number to tell it from others.
    """
    table = made.table
    values, masses = _values_of(made)
    known = set(values)
    if not known.issuperset(table.outputs.labels):
        joint = table.floats() * masses[:, None]
        names: list[Label] = []
        for place, label in enumerate(table.outputs.labels):
            likeliest = values[int(np.argmax(joint[:, place]))]
            assert isinstance(likeliest, tuple)
            names.append(label if label in known else (*likeliest, place + 1))
        table = Table.of(table.inputs, Alphabet.of(names), table.weights, bits=table.bits)
        made = _prove_again(made, table)
    return made


def _values_of(made: Mechanism) -> tuple[list[Label], Floats]:
    """Return the value of each input, beside a given one or not, and how likely the input is."""
    context, inputs = made.context, made.table.inputs
    given = isinstance(context, Conditional) and made.uses_given
    prior = context.whole.prior if isinstance(context, Conditional) and given else made.known_prior
    assert prior is not None
    return list(made.input_values), prior.reordered(inputs).floats()


def _prove_again(made: Mechanism, table: Table) -> Mechanism:
    """Return a mechanism with other names for its outputs, or some of them joined, proved again."""
    found = Mechanism.prove(table, made.notion, made.context, made.origin)
    also = tuple(
        Guarantee.prove(table, each.wanted, impossible=each.treatment) for each in made.also
    )
    return replace(found, also=also)


_FINE = Fraction(1, 10**9)
"""Budgets that are made smaller are rounded down to multiples of this."""


def without_missing(joint: Joint, missing: Label, notion: Notion) -> tuple[Joint, Notion]:
    """Return the joint of those who have a value, and the budget that is left for it.

    With M the event that the value is missing, every lift of an output y other than "missing" is

        P(y | s) / P(y) = [P(y | s, not M) / P(y | not M)] * [P(not M | s) / P(not M)],

    so the mechanism for those who have a value gets what the second factor leaves. The output
    "missing" has the lift P(M | s) / P(M), which must keep the budget by itself.
    """
    falls, rises = _limits(notion)
    place = joint.inputs.index(missing)
    rows = [row for row in joint.counts if sum(row)]
    gone = Fraction(sum(row[place] for row in rows), joint.total)
    chances = [Fraction(row[place], sum(row)) for row in rows]
    lower = upper = None
    if falls is not None:
        if not min(chances) or max(chances) == 1:
            raise _no_budget_error(missing)
        _remaining_budget(falls, gone / min(chances), missing)
        lower = _remaining_budget(falls, (1 - gone) / (1 - max(chances)), missing)
    if rises is not None:
        _remaining_budget(rises, max(chances) / gone, missing)
        upper = _remaining_budget(rises, (1 - min(chances)) / (1 - gone), missing)
    left = lift_notion(lower=lower, upper=upper)
    rest = joint.restrict(label for label in joint.inputs.labels if label != missing)
    return rest, left


def with_missing(made: Mechanism, joint: Joint, missing: Label, notion: Notion) -> Mechanism:
    """Add the missing cells that stay as they are, and prove the whole."""
    table = made.table
    bits = table.bits
    rows, columns = table.weights.shape
    weights = np.zeros((rows + 1, columns + 1), dtype=table.weights.dtype)
    weights[:rows, :columns] = table.weights
    weights[rows, columns] = 1 << bits
    inputs = Alphabet.of([*table.inputs.labels, missing])
    outputs = Alphabet.of([*table.outputs.labels, missing])
    whole = Table.of(inputs, outputs, weights.tolist(), bits=bits)
    context = joint.restrict(inputs.labels)
    origin = made.origin
    if origin is not None:
        said = "designed for rows with a value; missing cells stay missing"
        # The bound was for a smaller budget, and says nothing about other ways to keep this one.
        origin = replace(origin, bound=None, gap=None, remarks=(*origin.remarks, said))
    return Mechanism.prove(whole, notion, context, origin)


def with_numbers(made: Mechanism, code: ColumnEncoding, points: Floats) -> Mechanism:
    """Name each output of a mechanism on cells by the mean of the numbers that give it.

    `points` are the means of the cells. An output that mostly means "missing" stays missing.
    """
    table = made.table
    labels_in, masses = _values_of(made)
    joint = table.floats() * masses[:, None]
    numeric = np.array([label in set(code.bins) for label in labels_in])
    value_of_bin = dict(zip(code.bins, points.tolist(), strict=True))
    values = np.array([value_of_bin[label] for label in labels_in if label in value_of_bin])
    there = joint[numeric].sum(axis=0)
    empty = joint[~numeric].sum(axis=0) > there
    means = (joint[numeric] * values[:, None]).sum(axis=0) / np.where(there > 0, there, 1.0)
    order = np.argsort(np.where(empty, np.inf, means), kind="stable")
    step = 1e-3 * float(np.ptp(values)) if len(values) > 1 else 1.0
    numbers = means[order][~empty[order]].tolist()
    labels, coordinates = number_labels(numbers, step) if numbers else ([], [])
    names: list[Label] = []
    for label in labels:
        names.append(label if label not in names else f"{label!r} ({len(names)})")
    weights = table.weights[:, order]
    number = len(names)
    if empty.any():
        # All outputs that mean "missing" are one: what is joined tells less, never more.
        assert code.missing is not None
        joined = weights[:, number:].sum(axis=1, keepdims=True)
        weights = np.concatenate([weights[:, :number], joined], axis=1)
        names.append(code.missing)
    outputs = Alphabet.of(names, None if empty.any() else coordinates)
    whole = Table.of(table.inputs, outputs, weights.tolist(), bits=table.bits)
    return _prove_again(made, whole)


def with_noise(made: Mechanism, noise: Fraction, utility: str | Utility | None = None) -> Mechanism:
    """Draw the report of so many rows without looking at the value, and prove the whole.

    With lambda(y) the distribution of reports, W'(y | x) = (1 - t) W(y | x) + t lambda(y): every
    lift moves towards 1, by itself and beside other columns.

    >>> from liftlock import LIP, Prior
    >>> made = design(Prior.uniform("ab"), LIP("1"))
    >>> less = with_noise(made, Fraction(1, 2))
    >>> less.certificate.guarantee, bool(less.origin.objective < made.origin.objective / 3)
    ('lip(epsilon=1)', True)
    """
    table, prior = made.table, made.known_prior
    assert prior is not None
    rows = [[int(weight) for weight in row] for row in table.weights]
    masses = [prior.counts[prior.inputs.index(label)] for label in table.inputs.labels]
    whole = 1 << table.bits
    mean = [sum(m * w for m, w in zip(masses, y, strict=True)) for y in zip(*rows, strict=True)]
    drawn = _whole_parts([Fraction(each, sum(masses)) for each in mean], whole)
    mixed = [
        _whole_parts([(1 - noise) * w + noise * n for w, n in zip(row, drawn, strict=True)], whole)
        for row in rows
    ]
    channel = Table.of(table.inputs, table.outputs, mixed, bits=table.bits)
    origin = made.origin
    if origin is not None:
        seen = restrict_to_support(made.context)[0]
        goal = read_goal(seen, origin.utility if utility is None else utility, whole=made.context)
        worth = goal.measure(channel, made.notion, None).objective
        said = f"{100 * float(noise):.3g} % of the reports are noise"
        # The bound was for a mechanism without noise.
        remarks = (*origin.remarks, said)
        origin = replace(origin, objective=worth, bound=None, gap=None, remarks=remarks)
    also = [each.wanted for each in made.also]
    return Mechanism.prove(channel, made.notion, made.context, origin, also=also)


def _whole_parts(parts: Sequence[Fraction], whole: int) -> list[int]:
    """Round parts of a whole down, and give what is left to the largest."""
    found = [math.floor(part) for part in parts]
    found[found.index(max(found))] += whole - sum(found)
    return found


def with_decimals(made: Mechanism, decimals: int, code: ColumnEncoding) -> Mechanism:
    """Round the numbers that outputs are named by, each to one of its own; the rest is the same.

    The channel is the same under other names, so what it proves and what its reports are worth is
    the same too; what is released at face value is the rounded number.
    """
    outputs = made.table.outputs
    grid = made.context.grid if isinstance(made.context, GridPrior) else None
    ends = code.edges if grid is None else grid.edges
    told = [label for label in outputs.labels if label != code.missing]
    if outputs.coordinates is not None:
        numbers = [float(each) for each in outputs.coordinates]
    else:
        numbers = [float(str(label).split(" (")[0]) for label in told]
    order = np.argsort(numbers, kind="stable").tolist()
    rounded = round_numbers([numbers[at] for at in order], decimals, (ends[0], ends[-1]))
    if rounded is None:
        return with_remark(
            made, f"more outputs than numbers of {decimals} decimals: they were not rounded"
        )
    names: list[Label] = list(outputs.labels)
    places = [at for at, label in enumerate(names) if label != code.missing]
    for at, number in zip(order, rounded, strict=True):
        names[places[at]] = number
    points = None if outputs.coordinates is None else names
    named = Table.of(
        made.table.inputs, Alphabet.of(names, points), made.table.weights, bits=made.table.bits
    )
    moved = max(abs(numbers[at] - number) for at, number in zip(order, rounded, strict=True))
    what = f"numbers of {decimals} decimals" if decimals else "whole numbers"
    return with_remark(
        _prove_again(made, named),
        f"released as {what}, at most {moved:.2g} from the best reading of each output",
    )


def with_remark(made: Mechanism, remark: str) -> Mechanism:
    """Add a remark to where a mechanism comes from."""
    if made.origin is None:
        return made
    return replace(made, origin=replace(made.origin, remarks=(*made.origin.remarks, remark)))


def _limits(notion: Notion) -> LiftLimits:
    limits = notion.lift_limits()
    if limits is None:
        raise NotDefined(
            "keeping cells missing",
            f"the notion {notion.name}",
            "make missing values a category (--missing category)",
        )
    return limits


def _remaining_budget(budget: Budget | None, taken: Fraction, missing: Label) -> str:
    """Return what is left of a budget, rounded down."""
    assert budget is not None
    spent = enclosure.log(taken).upper
    assert spent is not None
    rest = math.floor((budget.nats().lower - spent) / _FINE) - 1
    if rest <= 0:
        raise _no_budget_error(missing)
    return decimal_text(rest * _FINE)


def _no_budget_error(missing: Label) -> InputError:
    return InputError(
        f"whether the cell is {missing} reveals more about the secret than the budget allows",
        remedy="make missing values a category (--missing category), or allow more",
    )


SCALES = tuple(Fraction(scale) for scale in ("1/4", "1/2", "3/4", "3/2", "2", "4"))


def trace_curve(
    made: Mechanism,
    context: Context,
    notion: Notion,
    *,
    also: Sequence[Wanted] = (),
    utility: str | Utility | None = None,
    method: str | None = None,
    seconds: float = 10.0,
    watch: Progress | None = None,
) -> Curve | None:
    """Design at other budgets in the time given; None if there was time for none.

    Of several guarantees all budgets are scaled, and the first one is told.
    """
    origin = made.origin
    if origin is None or origin.nothing is None or origin.truth is None:
        return None
    goal = make_utility(origin.utility if utility is None else utility, context.inputs)
    points = [CurvePoint(1.0, made.certificate.guarantee, origin.objective)]
    end = time.monotonic() + seconds
    for done, scale in enumerate(SCALES):
        left = end - time.monotonic()
        if left <= 0:
            break
        if watch is not None:
            watch(Step(f"designing at {float(scale):g} times the budget"))
        try:
            other = choose_design(
                context,
                notion.scaled(scale),
                also=[each._replace(notion=each.notion.scaled(scale)) for each in also],
                utility=utility,
                method=method,
                seconds=left / (len(SCALES) - done),
            )
        except LiftlockError:
            continue
        if other.origin is not None:
            points.append(
                CurvePoint(float(scale), other.certificate.guarantee, other.origin.objective)
            )
    if len(points) < 2:
        return None
    ordered = tuple(sorted(points, key=lambda point: point.scale))
    return Curve(
        origin.title or origin.utility, goal.larger_is_better, ordered, origin.nothing, origin.truth
    )
