"""A promise for a person who has several rows: the budget divided, or one report repeated.

Of m rows whose values may have anything in common, a channel that is L-LDP in each tells at most
m L nats of anything about the person: for every secret s of the person and all reports y,

    P(y | s) / P(y | s') <= max over x_1..x_m, x'_1..x'_m of prod_j W(y_j | x_j) / W(y_j | x'_j).

So with L <= eps / m the promise is kept. One report of one value of the person, repeated in all of
the rows, tells what that report tells, however many they are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from liftlock._runtime.progress import Progress, Step
from liftlock.accounting.account import account
from liftlock.accounting.release import measure_levels
from liftlock.errors import InputError, LiftlockError, NotDefined
from liftlock.exact.budget import decimal_text
from liftlock.exact.decimals import GLUE
from liftlock.mechanism import Mechanism
from liftlock.model import Conditional, Joint, Prior
from liftlock.model.channel import Channel
from liftlock.model.person import PER_PERSON, PerPerson, PersonRule
from liftlock.notions.ldp import LDP
from liftlock.report.format import counted, percent
from liftlock.tables.formats.base import TableSource
from liftlock.tables.people import OneValueEach, PersonCounter, count_people
from liftlock.tables.protect.count import to_countable
from liftlock.tables.protect.design import design_column
from liftlock.tables.protect.inspect import LOOKED_AT
from liftlock.tables.protect.learn import learn_columns
from liftlock.tables.protect.result import PersonCost, PersonPromise, RepeatingColumn
from liftlock.tables.protect.spec import BINS_WITH_SECRET, ColumnSpec, is_numeric
from liftlock.tables.randomiser import ColumnRandomiser

_FOR_THE_CHOICE = 0.25
"""The share of the time in which both ways are tried."""
_FINE = Fraction(1, 10**12)
MOST_COUNTED = 1_000_000
"""More values are not told from people any more."""


@dataclass(frozen=True)
class PersonPlan:
    """How several rows of a person are protected: what is learned from, and what is asked for."""

    mode: PerPerson
    people: PersonCounter
    source: TableSource
    """What is counted: the rows, or one row for each person."""
    specs: tuple[ColumnSpec, ...]
    """What is wanted of each column there."""
    asked: tuple[ColumnSpec, ...]
    """What is promised for a person."""
    costs: tuple[PersonCost, ...] = ()

    @property
    def column(self) -> str:
        """The column that names people."""
        return self.people.person

    def rows_of(self, source: TableSource) -> TableSource:
        """Return the table of which the rows that go out tell."""
        if self.mode == "divide":
            return source
        names = tuple(spec.column for spec in self.asked)
        return OneValueEach(source, replace(self.people, columns=names))

    def ruled(self, made: Mechanism, spec: ColumnSpec) -> Mechanism:
        """Have a mechanism know whose rows it promises something about."""
        rules = made.encoding
        assert rules is not None
        notion = spec.notion if self.mode == "divide" else made.notion
        rows = self.people.most_rows
        whose = PersonRule(self.column, self.mode, rows, notion.name, dict(notion.budgets))
        # What is hidden was no part of the design where the budget is divided: everything is.
        columns = tuple(
            code if code.secret is not None else replace(code, secret=spec.secret)
            for code in rules.columns
        )
        return replace(made, encoding=replace(rules, person=whose, columns=columns))

    def notes(self) -> list[str]:
        """Say what became of people, and what each way to protect their rows costs."""
        people = self.people
        said = [
            f"{people.people:,} people by {self.column!r}, up to "
            f"{counted(people.most_rows, 'row')} each: "
            + (
                "each row gets an equal part of the budget, so all rows of a person together keep "
                "the promise, whatever they have in common"
                if self.mode == "divide"
                else "one report each, the same in all rows of a person, about the person's most "
                "frequent value (the median of numbers)"
            )
        ]
        for cost in self.costs:
            words = "budget divided" if cost.mode == "divide" else "one report each"
            chosen = " (chosen)" if cost.mode == self.mode and len(self.costs) > 1 else ""
            if cost.kept is None:
                said.append(f"{words}: refused, {cost.reason}")
                continue
            text = f"{words}{chosen}: a row keeps {_percent(cost.kept)} of what its value tells"
            if cost.mode == "divide":
                text += f", {' and '.join(cost.notions)} for each row"
            elif cost.same < 1:
                text += f"; {100 * cost.same:.3g} % of rows hold the value of their person"
            said.append(text)
        return said

    def promise(self, source: TableSource, stays: Sequence[str]) -> PersonPromise:
        """Say what was promised, and beside which kept columns rows are several."""
        people = self.people
        beside = tuple(name for name in stays if name != self.column)
        if people.most_rows < 2:
            beside = ()
        elif self.mode == "repeat":
            beside = _varying(source, self.column, beside)
        return PersonPromise(
            self.column, self.mode, people.people, people.most_rows, self.costs, beside
        )


def plan_people(
    source: TableSource,
    specs: Sequence[ColumnSpec],
    person: str,
    mode: PerPerson | None,
    seconds: float,
    watch: Progress,
) -> PersonPlan:
    """Count people, and take the way that keeps more of the columns, or the one that is asked for.

    Source: 000 Thm 1 converse, Cor 5 (of rows that may have anything in common).
    """
    if mode is not None and mode not in PER_PERSON:
        raise InputError(
            "unknown way to protect several rows of a person",
            value=mode,
            remedy=f"use {' or '.join(PER_PERSON)}",
        )
    source.type_of(person)
    names = [spec.column for spec in specs]
    for spec in specs:
        if spec.local:
            raise NotDefined(
                "a promise for a person",
                f"{spec.column!r}, whose priors are per user",
                "leave out --person, or the columns of probabilities",
            )
        if person in (spec.column, spec.secret):
            raise InputError(
                "the column of people is protected itself, or a secret",
                value=person,
                remedy="name another column that says whose each row is",
            )
    numeric = {
        spec.column: spec.policy.spelled
        for spec in specs
        if is_numeric(spec, source.type_of(spec.column))
    }
    secrets = list(
        dict.fromkeys(
            spec.secret
            for spec in specs
            if spec.secret is not None and spec.secret in source.columns
        )
    )
    watch(Step("counting people"))
    people = count_people(source, person, [*names, *secrets], numeric, watch)
    if not people.people:
        raise InputError("no rows", remedy="give a table with at least one")
    ways: dict[PerPerson, PersonPlan | LiftlockError] = {}
    for way, make in (("divide", _divide), ("repeat", _repeat)):
        if mode in (None, way):
            try:
                ways[way] = make(source, specs, people, secrets)  # type: ignore[index]
            except LiftlockError as refusal:
                ways[way] = refusal  # type: ignore[index]
    possible = [plan for plan in ways.values() if isinstance(plan, PersonPlan)]
    if not possible:
        raise next(each for each in ways.values() if isinstance(each, LiftlockError))
    found: list[tuple[PersonPlan, PersonCost]] = []
    costs: list[PersonCost] = []
    for way, plan in ways.items():
        cost = (
            PersonCost(way, None, str(plan))
            if isinstance(plan, LiftlockError)
            else _cost(plan, _FOR_THE_CHOICE * seconds / (2 * len(specs)), watch)
        )
        costs.append(cost)
        if isinstance(plan, PersonPlan) and cost.kept is not None:
            found.append((plan, cost))
    if not found:
        raise NotDefined(
            "a promise for a person",
            f"these columns by {person!r}",
            "; ".join(f"{cost.mode}: {cost.reason}" for cost in costs),
        )
    best, _ = max(found, key=lambda pair: (round(pair[1].kept or 0.0, 9), pair[0].mode == "repeat"))
    return replace(best, costs=tuple(costs))


def _divide(
    source: TableSource,
    specs: Sequence[ColumnSpec],
    people: PersonCounter,
    secrets: Sequence[str],  # noqa: ARG001
) -> PersonPlan:
    """Give each row an equal part of the budget, in LDP: rows may have anything in common."""
    found = []
    for spec in specs:
        limits = spec.notion.lift_limits()
        told = [spec.notion.ratio_limit] if limits is None else list(limits)
        budgets = [budget for budget in told if budget is not None]
        if not budgets:
            raise NotDefined(
                f"dividing {spec.notion} among rows",
                "people with several rows",
                "ask for lip, alip or ldp, or for one report each (--per-person repeat)",
            )
        least = min(budget.nats().lower for budget in budgets)
        each = math.floor(least / people.most_rows / _FINE) * _FINE
        context = spec.context.prior if isinstance(spec.context, Joint) else spec.context
        bins = spec.bins
        if (
            bins is None
            and spec.secret is not None
            and is_numeric(spec, source.type_of(spec.column))
        ):
            bins = BINS_WITH_SECRET
        found.append(
            replace(spec, notion=LDP(decimal_text(each)), secret=None, context=context, bins=bins)
        )
    return PersonPlan("divide", people, source, tuple(found), tuple(specs))


def _repeat(
    source: TableSource,  # noqa: ARG001
    specs: Sequence[ColumnSpec],
    people: PersonCounter,
    secrets: Sequence[str],
) -> PersonPlan:
    """Take one value of each person for what is released, and count people instead of rows."""
    for secret in secrets:
        if not people.is_constant(secret):
            raise NotDefined(
                "one report for all rows of a person",
                f"a secret {secret!r} that differs between the rows of a person",
                "divide the budget (--per-person divide), which holds for everything about a "
                "person",
            )
    return PersonPlan("repeat", people, people.source(), tuple(specs), tuple(specs))


def _cost(plan: PersonPlan, seconds: float, watch: Progress) -> PersonCost:
    """Design for each column in a short time, and measure what a row still tells of its value."""
    try:
        learned, _ = learn_columns(plan.source, plan.specs, watch)
        shares = []
        for spec, each in zip(plan.specs, learned, strict=True):
            assert each is not None
            made = design_column(
                each,
                spec.notion,
                utility=spec.utility,
                method=spec.method,
                seconds=max(1.0, seconds),
                watch=watch,
            ).mechanism
            shares.append(_kept_of_rows(made, plan.people, spec.column, plan.mode))
    except LiftlockError as refusal:
        return PersonCost(plan.mode, None, str(refusal))
    same = 1.0
    if plan.mode == "repeat":
        same = min(_same_share(plan.people, spec.column) for spec in plan.specs)
    notions = [str(spec.notion) for spec in plan.specs]
    return PersonCost(plan.mode, sum(shares) / len(shares), "", tuple(notions), same)


def _kept_of_rows(made: Mechanism, people: PersonCounter, column: str, mode: PerPerson) -> float:
    """Return I(X; Y) / H(X) of a row's value X and what stands in it, over all rows."""
    table = people.cells(column)
    person, rows = table.column("person").to_numpy(), table.column("rows").to_numpy()
    cells = table.column("cell")
    worker = ColumnRandomiser(made)
    if mode == "repeat":
        entries = cells.combine_chunks().dictionary_encode(null_encoding="encode")
        known: Any = entries.chunks[0] if isinstance(entries, pa.ChunkedArray) else entries
        values = known.indices.to_numpy(zero_copy_only=False)
        inputs = worker.inputs([people.values(column)])[person]
    else:
        values = inputs = worker.inputs([cells])
    told = inputs >= 0
    values, inputs, rows = values[told], inputs[told], rows[told]
    pairs, at = np.unique(np.stack([values, inputs]), axis=1, return_inverse=True)
    masses = np.bincount(at.reshape(-1), weights=rows) / rows.sum()
    first, place = np.unique(pairs[0], return_inverse=True)
    joint = np.zeros((len(first), made.table.weights.shape[1]))
    np.add.at(joint, place.reshape(-1), masses[:, None] * made.table.floats()[pairs[1]])
    whole = _entropy(joint.sum(axis=1))
    told_by = whole + _entropy(joint.sum(axis=0)) - _entropy(joint.ravel())
    return min(max(told_by / whole, 0.0), 1.0) if whole > 0 else 1.0


def _varying(source: TableSource, person: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns that differ between the rows of a person; all where that is not known."""
    try:
        people = count_people(source, person, names)
    except (LiftlockError, pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return names  # lists and structures, or too many values to be kept
    return tuple(name for name in names if not people.is_constant(name))


def _percent(share: float) -> str:
    return percent(share, 2).replace(GLUE, " ")


def _entropy(masses: npt.NDArray[np.float64]) -> float:
    some = masses[masses > 0]
    return float(-(some * np.log(some)).sum())


def _same_share(people: PersonCounter, column: str) -> float:
    """Return the share of rows that hold the value that was taken for their person."""
    table = people.cells(column)
    person = table.column("person").to_numpy()
    values = people.values(column).take(pa.array(person))
    cells = table.column("cell").combine_chunks()
    cells = cells.chunk(0) if isinstance(cells, pa.ChunkedArray) else cells
    same = np.array([a == b for a, b in zip(cells.to_pylist(), values.to_pylist(), strict=True)])
    rows = table.column("rows").to_numpy()
    return float(rows[same].sum() / rows.sum())


# --- columns that repeat like people ------------------------------------------------------------

_PEOPLE = (
    "user|person|patient|customer|client|member|subject|participant|respondent|employee|visitor|"
    "household|account|who|pseudonym|student|pupil|resident|citizen"
)
_LIKE_IDS = re.compile(
    r"(^|[\W_])(ids?|uid|uuid|guid|pid|ssn|e-?mail)([\W_]|\d|$)"
    rf"|({_PEOPLE})s?[\W_]*(id|no|nr|num|number|key|code|name|hash|ref)?s?[\W_]*\d*$",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"[a-z](Id|ID|No|Nr|Uid|UUID)$")
_FEWEST = 20
"""Fewer values are categories, whatever they are called."""
_ENOUGH = 10_000
"""After so many rows a column of few values is one of categories."""
_MOST_SHARE = 0.1
"""A value in more of the rows is no person."""
_SEVERAL = 2
_MANY = 100
"""Values in more rows than this on average are categories, unless they are called like ids."""
_EVEN = 100
"""So many values in equally many rows each are people; fewer may be hours or weeks."""
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?|\d\d?[./]\d\d?[./]\d\d")
_AGREE = 0.8
"""Rows of one value agree in a secret, so much beyond chance, if they are of one person."""
_SAMPLED = 64
"""What so many equal rows tell is computed exactly where it can be."""


def find_repeating(
    source: TableSource,
    columns: Sequence[str],
    targets: Sequence[str],
    mechanisms: Sequence[Mechanism],
) -> tuple[RepeatingColumn, ...]:
    """Return columns that look like people with several rows, and what these lose at most.

    A column does if it has many values, none of them in many rows, and its name looks like an id,
    or its values are in a hundred rows each at most, and very many values are all in equally
    many rows, or these agree in a secret or a released column far beyond chance: a person's sex is
    the same in all rows, and that of a region is not. Numbers with a point are measurements.
    """
    tallies = {
        name: PersonCounter(name, tuple(target for target in targets if target != name))
        for name in columns
    }
    wanted = {*columns, *targets}
    rows = 0
    for piece in source.batches([name for name in source.columns if name in wanted]):
        for name, tally in list(tallies.items()):
            if not _take(tally, piece.batch):
                del tallies[name]
        rows += piece.batch.num_rows
        if rows >= LOOKED_AT or not tallies:
            break
    found: list[RepeatingColumn] = []
    for name, people in tallies.items():
        most = people.most_rows
        if people.people < _FEWEST or most < 2 or most > _MOST_SHARE * people.rows:
            continue
        reason = _reason(people)
        if reason:
            loss, same = _loss(mechanisms, most)
            rules = mechanisms[0].encoding
            secret = None if rules is None else rules.secret
            found.append(RepeatingColumn(name, people.people, most, reason, loss, same, secret))
    return tuple(found)


def _take(tally: PersonCounter, batch: pa.RecordBatch) -> bool:
    """Count the rows of a batch that have a value; tell whether these can still be people."""
    try:
        cells = to_countable(batch.column(tally.person), tally.person)
        if _is_measured(cells):
            return False
        some = pc.is_valid(cells)
        if pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type):
            some = pc.and_(some, pc.fill_null(pc.not_equal(cells, ""), False))
        tally.add(batch.filter(some))
    except (InputError, pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return False  # lists and structures name nobody
    few = tally.people < _FEWEST and tally.rows > _ENOUGH
    return not few and tally.people <= MOST_COUNTED


def _is_measured(cells: pa.Array) -> bool:
    """Tell whether cells are numbers with a point, which name nobody."""
    if pa.types.is_floating(cells.type) or pa.types.is_decimal(cells.type):
        numbers = pc.drop_null(cells).to_numpy(zero_copy_only=False).astype(float)
        whole = bool((numbers == np.rint(numbers)).all())
        return len(numbers) > 0 and not whole
    if pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type):
        points = pc.sum(pc.match_substring_regex(cells, r"^-?[0-9]*\.[0-9]+$")).as_py() or 0
        return bool(2 * points > len(cells))
    return bool(pa.types.is_boolean(cells.type) or pa.types.is_nested(cells.type))


def _reason(tally: PersonCounter) -> str:
    """Say why a column looks like people; empty if it does not."""
    if _LIKE_IDS.search(tally.person) or _CAMEL.search(tally.person):
        return "its name looks like an id"
    if tally.rows < _SEVERAL * tally.people:
        return ""  # most of its values are in one row: weights and amounts are so by chance
    if tally.rows > _MANY * tally.people:
        return ""  # a ward has one department, too
    if _is_even(tally):
        return f"each value is in {tally.most_rows} rows"
    agreeing = [target for target in tally.columns if _agreement(tally, target) >= _AGREE]
    return f"rows with the same value agree in {agreeing[0]!r}" if agreeing else ""


def _is_even(tally: PersonCounter) -> bool:
    """Tell whether all of very many values are in equally many rows, which chance does not do.

    Hours, weeks and days are not of people either.
    """
    return (
        tally.people >= _EVEN
        and tally.rows == tally.people * tally.most_rows
        and not all(_DATE.match(str(value)) for value in tally.rows_each)
    )


def _agreement(tally: PersonCounter, target: str) -> float:
    """Return how often two rows of one value agree in a column: 0 as by chance, 1 always."""
    table = tally.cells(target)
    person, rows = table.column("person").to_numpy(), table.column("rows").to_numpy()
    sizes = np.bincount(person, weights=rows)
    pairs = float((sizes * (sizes - 1)).sum())
    total = float(sizes.sum())
    each = table.group_by("cell").aggregate([("rows", "sum")]).column("rows_sum").to_numpy()
    chance = float((each * (each - 1.0)).sum() / (total * (total - 1)))
    if not pairs or chance >= 1:
        return 0.0
    return (float((rows * (rows - 1.0)).sum()) / pairs - chance) / (1 - chance)


def _loss(mechanisms: Sequence[Mechanism], rows: int) -> tuple[float, float | None]:
    """Bound what so many rows tell together, and what they do if nothing but the secret is shared.

    Rows that are independent given the secret s have the product of P(y | s); without a secret, or
    with secrets that differ, rows that share all of it hold the same value.
    """
    given = any(isinstance(made.context, Conditional) for made in mechanisms)
    levels = [_ldp_of_rows(made) for made in mechanisms]
    known = [level for level in levels if level is not None]
    loss = float(rows * sum(known)) if len(known) == len(levels) else math.inf
    first = mechanisms[0].context
    joint = isinstance(first, Joint)
    alike = all(
        isinstance(made.context, Joint) == joint
        and (not joint or made.context.secrets == first.secrets)
        for made in mechanisms
    )
    if given or not alike or rows > _SAMPLED or (not joint and len(mechanisms) > 1):
        return loss, None
    try:
        if isinstance(first, Joint):
            told = [_given_secret(made) for made in mechanisms]
            sizes = zip(first.secrets.labels, map(sum, first.counts), strict=True)
            prior = Prior.from_counts({secret: size for secret, size in sizes if size})
            found = account(told * rows, prior)["lip"].value.upper
        else:
            found = account(list(mechanisms) * rows)["lip"].value.upper
    except LiftlockError:
        return loss, None
    return loss, None if found is None else min(loss, float(found))


def _ldp_of_rows(made: Mechanism) -> Fraction | None:
    """Return the LDP of one row, whatever is given; None for infinity."""
    if isinstance(made.context, Conditional):
        return measure_levels(made.channel, made.context).log("ldp").upper
    return LDP.measure(made.channel).value.upper


def _given_secret(made: Mechanism) -> Channel:
    """Return the channel from the secret to the report."""
    joint, table = made.context, made.table
    assert isinstance(joint, Joint)
    # What cannot occur is no input of the mechanism, and no secret of anybody.
    inputs = [(at, label) for at, label in enumerate(joint.inputs.labels) if label in table.inputs]
    rows: dict[Any, dict[Any, Fraction]] = {}
    for secret, counts in zip(joint.secrets.labels, joint.counts, strict=True):
        total = sum(counts)
        if total:
            weighted = [0] * len(table.outputs)
            for at, label in inputs:
                line = table.weights[table.inputs.index(label)].tolist()
                weighted = [w + counts[at] * each for w, each in zip(weighted, line, strict=True)]
            rows[secret] = {
                label: Fraction(weight, total * (1 << table.bits))
                for label, weight in zip(table.outputs.labels, weighted, strict=True)
            }
    return Channel.from_rows(rows)
