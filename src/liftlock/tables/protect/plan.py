"""Protecting the columns of a table: learn, design, prove, account; then release."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from liftlock._runtime.progress import Progress, Step, ignore_progress
from liftlock.designs.given import cost_text
from liftlock.errors import InputError, LiftlockError, NotCertified, NotDefined
from liftlock.exact.numbers import exact
from liftlock.files.sheet import DIVIDED
from liftlock.mechanism import Mechanism, lock_users
from liftlock.model import Conditional
from liftlock.model.columns import ColumnEncoding, TableEncoding
from liftlock.model.person import PerPerson
from liftlock.notions.base import Notion
from liftlock.tables.cells import CellEncoder
from liftlock.tables.formats.base import TableSource, cell_errors_in
from liftlock.tables.per_user import distinct_budgets
from liftlock.tables.protect.context import LearnedColumn
from liftlock.tables.protect.design import (
    SECONDS,
    ColumnDesign,
    check_design,
    choose_design,
    design_column,
    trace_curve,
    with_remark,
)
from liftlock.tables.protect.given import is_hidden, learn_given
from liftlock.tables.protect.inspect import LOOKED_AT, OtherColumns, inspect_other_columns
from liftlock.tables.protect.leakage import CountedTuples, combined_leaks, empirical_leakage
from liftlock.tables.protect.learn import learn_columns, learn_group
from liftlock.tables.protect.person import find_repeating, plan_people
from liftlock.tables.protect.result import (
    BudgetShare,
    CombinedLeak,
    Curve,
    KeptColumn,
    ProtectedColumn,
    Protection,
    RepeatingColumn,
    TotalBudget,
)
from liftlock.tables.protect.rows import row_leaks
from liftlock.tables.protect.spec import BINS_TOGETHER, ColumnSpec, check_group, is_numeric
from liftlock.tables.protect.total import TotalSplit, check_total, read_weights

_WORTH_SAYING = 0.01
"""In fewer rows values may be too rare to be judged without a word."""

_FOR_THE_DESIGN = 0.6
"""The share of the time that goes into the mechanism itself; the rest draws the curve."""


def prepare(
    source: TableSource,
    specs: Sequence[ColumnSpec],
    *,
    name: str = "table",
    drop: Iterable[str] = (),
    keep: Iterable[str] = (),
    seconds: float = SECONDS,
    curve: bool = True,
    together: bool = False,
    total: Notion | None = None,
    weights: Mapping[str, object] | None = None,
    person: str | None = None,
    per_person: PerPerson | None = None,
    watch: Progress = ignore_progress,
) -> Protection:
    """Learn, design, prove and account for what is wanted; nothing is released yet.

    With `together` all columns are protected as one value, by one mechanism. Secrets, and priors of
    each row's own, are left out of the output unless they are in `keep`, which is also for columns
    that tell a secret or a protected column value by value; `drop` names others to leave out.

    A `total` is what all columns together may tell about each secret: it is split by `weights`, or
    so that the columns keep the most, and what they were to keep each by themselves does not count.

    With `person`, a column that names people, every promise is for all rows of a person: the budget
    is divided among them, or each has one report, as `per_person` says, or as keeps more. That
    column is left out unless it is in `keep`.
    """
    dropped, kept = _check_columns(source, specs, tuple(drop), tuple(keep))
    if per_person is not None and person is None:
        raise InputError(
            "a way to protect people, and no column that names them",
            value=per_person,
            remedy="name it (--person)",
        )
    plan = None
    if person is not None:
        for spec in specs:
            if spec.also:
                raise NotDefined(
                    "several guarantees for one column",
                    "people with several rows",
                    f"give {spec.column!r} one secret, or leave out the people (--person)",
                )
        if total is not None:
            if per_person == "divide":
                raise NotDefined(
                    "dividing a total budget among rows",
                    "people with several rows",
                    "give each column its budget, or each person one report (--per-person repeat)",
                )
            per_person = "repeat"
        if any(spec.given for spec in specs):
            raise InputError(
                "a promise for each person is not proved given other columns",
                value=person,
                remedy="leave out --given, or --person if everybody has one row",
            )
        plan = plan_people(source, specs, person, per_person, seconds, watch)
        if person not in (*dropped, *keep):
            dropped = (*dropped, person)
    asked = specs
    # What is counted: rows, or one row for each person.
    counting = source
    if plan is not None:
        counting, specs = plan.source, plan.specs
    if total is not None:
        for spec in specs:
            if spec.given:
                raise InputError(
                    "a total budget beside given columns",
                    value=", ".join(spec.given),
                    remedy="give each column a budget of its own, or leave out --given",
                )
        check_total(total, specs, together=together)
        specs = [replace(spec, notion=total) for spec in specs]
    shares = read_weights(weights, specs)
    parts = specs
    if together:
        check_group(specs)
        parts = [_group_part_spec(counting, spec) for spec in specs]
    watch(Step("counting"))
    counted, rows = learn_columns(counting, parts, watch)
    # A column is a group of one.
    groups: list[tuple[Sequence[ColumnSpec], LearnedColumn | None]]
    groups = [([spec], learned) for spec, learned in zip(specs, counted, strict=True)]
    if together:
        watch(Step(f"{_name(specs)}: counting combinations"))
        learnt = [each for each in counted if each is not None]
        groups = [(specs, learn_group(counting, specs, learnt, watch))]
    replaced = [spec.column for spec in specs]
    hidden_given = [is_hidden(group[0], dropped, replaced) for group, _ in groups]
    groups = [
        (group, learned if learned is None else _learn_beside(counting, group, learned, watch))
        for group, learned in groups
    ]
    # What can be refused without a design is refused before the first of them.
    for group, learned in groups:
        _check_group_design(counting, group, learned, watch)
    watch(Step("inspecting the other columns"))
    hidden = [each for spec in asked for each in _protected_targets(spec) if each in source.columns]
    look = inspect_other_columns(
        source,
        [column for column in source.columns if column not in dropped],
        [secret for secret in dict.fromkeys(hidden) if secret not in keep],
        [spec.column for spec in specs],
        allowed=tuple(keep),
    )
    bound = None
    noises: dict[str, Fraction] = {}
    if total is not None:
        learnt = [each for each in counted if each is not None]
        bound, short = _split_total(counting, specs, learnt, total, shares, seconds, watch)
        seconds *= 1 - _FOR_THE_SPLIT
        notions = {each.column: each.notion for each in bound}
        noises = {each.column: each.noise for each in bound}
        specs = [replace(spec, notion=notions[spec.column]) for spec in specs]
        groups = [([spec], learned) for spec, learned in zip(specs, counted, strict=True)]
    limits = [seconds / len(groups)]
    if bound is not None:
        # What a longer search finds may tell more together; what the split audited does not.
        limits.append(short / _FOR_THE_DESIGN if curve else short)
    told = [[each for each, _ in spec.hidden] for spec in asked if not spec.local]
    for limit in limits:
        columns = []
        for (group, learned), blind in zip(groups, hidden_given, strict=True):
            noise = noises.get(group[0].column, Fraction(0))
            made = _protect_column(
                counting, group, learned, limit, curve, watch, blind=blind, noise=noise
            )
            columns.append(_remember_dropped(made, dropped))
        released = [column for column in columns if not column.mechanism.per_user]
        if len(released) > 1:
            watch(Step("accounting for all columns together"))
        combined, missed = combined_leaks(counting, released, told, watch)
        if total is None or all(leak.keeps(total) for leak in combined):
            break
    alone = [column.name for column in columns if column.mechanism.per_user]
    if alone and len(columns) > 1:
        missed.append(
            f"{', '.join(map(repr, alone))}: the joint leakage with the other columns was not "
            "accounted for, because its priors are per user"
        )
    going = source
    if plan is not None:
        rows, going = plan.people.rows, plan.rows_of(source)
        columns = [
            replace(each, secret=spec.secret, mechanism=plan.ruled(each.mechanism, spec))
            for each, spec in zip(columns, asked, strict=False)
        ]
        released = columns
    leaks, unseen = row_leaks(going, released, look.values, rows, watch=watch)
    notes = [*missed, *_kept_notes(look, kept)]
    wanted = asked if total is None else [replace(spec, notion=total) for spec in asked]
    beyond = tuple(leak for leak in look.leaks if _exceeds_budget(leak, wanted))
    if bound is not None:
        said = f"one of {len(columns)} columns that keep {total} together, in its table"
        columns = [replace(each, mechanism=with_remark(each.mechanism, said)) for each in columns]
    repeating: tuple[RepeatingColumn, ...] = ()
    if plan is not None:
        notes += plan.notes()
    elif released:
        watch(Step("looking for people with several rows"))
        repeating = find_repeating(
            source,
            [each for each in source.columns if each not in {*replaced, *hidden}],
            [*hidden, *replaced],
            [each.mechanism for each in released],
        )
    stays = tuple(each for each in source.columns if each not in {*dropped, *replaced})
    return Protection(
        name,
        rows,
        tuple(columns),
        tuple(combined),
        beyond,
        dropped,
        notes=tuple(notes),
        stays=stays,
        insisted=tuple(kept),
        ordered=look.ordered,
        identities=look.identities,
        rows_out=tuple(leaks),
        not_measured=(*_not_measured(look, columns, source, rows), *unseen),
        total=None
        if total is None or bound is None
        else TotalBudget(total, bound, tuple(combined), weighted=bool(shares)),
        person=None if plan is None else plan.promise(source, stays),
        repeating=repeating,
    )


# --- what is asked for --------------------------------------------------------------------------


def _check_columns(
    source: TableSource, specs: Sequence[ColumnSpec], drop: tuple[str, ...], keep: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Check the names of columns; return those that are left out, and those insisted on."""
    if not specs:
        raise InputError("no column to protect", remedy="name at least one")
    for spec in specs:
        budgets = () if spec.local_budgets is None else (spec.local_budgets,)
        for column in (spec.column, *spec.local.values(), *budgets, *spec.given):
            source.type_of(column)
        # With a joint that is given, nobody needs to hold the secret.
        for secret in spec.secrets:
            if spec.context is None or secret in source.columns:
                source.type_of(secret)
    for column in (*drop, *keep):
        source.type_of(column)
    columns = [spec.column for spec in specs]
    twice = [column for column in columns if columns.count(column) > 1]
    if twice:
        raise InputError("a column is protected twice", value=twice[0], remedy="name it once")
    both = [column for column in drop if column in keep]
    if both:
        raise InputError("a column is both kept and dropped", value=both[0])
    for column in drop:
        if column in columns:
            raise InputError(
                "a protected column is dropped", value=column, remedy="leave out --drop for it"
            )
    secrets = [each for spec in specs for each in spec.secrets if each in source.columns]
    # A model's opinion of a person is a statement about that person, too.
    models = [name for spec in specs for name in spec.local.values()]
    out = [*drop, *(name for name in (*secrets, *models) if name not in (*keep, *columns))]
    return tuple(dict.fromkeys(out)), keep


def _protected_targets(spec: ColumnSpec) -> list[str]:
    """Return the columns that kept ones are measured against: secrets, or the column itself."""
    if spec.local:
        return []
    return [spec.column if secret is None else secret for secret, _ in spec.hidden]


# --- designing ----------------------------------------------------------------------------------


def _check_group_design(
    source: TableSource, specs: Sequence[ColumnSpec], learned: LearnedColumn | None, watch: Progress
) -> None:
    """Refuse what needs no design to be refused: what does not fit, and cells that are no input."""
    spec = specs[0]
    if learned is None:
        _lock_users(source, spec)
        return
    check_design(learned, spec.notion, also=spec.also, utility=spec.utility, method=spec.method)
    if spec.context is not None and learned.alone is not None:
        reader = CellEncoder(learned.alone, learned.context.inputs)
        for piece in source.batches([spec.column], watch):
            with cell_errors_in(source, piece):
                reader.codes(piece.batch.column(0))


def _learn_beside(
    source: TableSource, specs: Sequence[ColumnSpec], learned: LearnedColumn, watch: Progress
) -> LearnedColumn:
    """Count what was learned again, for each value of the given columns, if there are any."""
    if not specs[0].given:
        return learned
    watch(Step(f"{_name(specs)}: counting by {', '.join(specs[0].given)}"))
    return learn_given(source, specs, learned, watch)


def _protect_column(
    source: TableSource,
    specs: Sequence[ColumnSpec],
    learned: LearnedColumn | None,
    seconds: float,
    curve: bool,
    watch: Progress,
    *,
    blind: bool = False,
    noise: Fraction = Fraction(0),
) -> ProtectedColumn:
    """Make the mechanism of a column, or of several that are one value.

    With `blind` the columns that are given do not go out.
    """
    spec = specs[0]
    if learned is None:
        return _protect_per_user(source, spec)
    name = _name(specs)

    def say(step: Step) -> None:
        watch(Step(f"{name}: {step}"))

    start = time.monotonic()
    plan = design_column(
        learned,
        spec.notion,
        also=spec.also,
        noise=noise,
        utility=spec.utility,
        method=spec.method,
        seconds=_FOR_THE_DESIGN * seconds if curve else seconds,
        blind=blind,
        about=spec.secret,
        watch=say,
    )
    counted = spec.context is None
    notes, own = learned.notes, None
    if isinstance(learned.context, Conditional):
        say(Step("comparing with one table for all"))
        notes = (*notes, *_cost_of_given(plan, spec, seconds))
    smoothed = exact(spec.policy.smooth, name="smooth")
    if learned.alone is not None and (smoothed or not counted):
        say(Step("measuring the empirical leakage"))
        own = empirical_leakage(source, plan.mechanism, spec.secret, watch)
        if own is not None and own.mapped:
            became = learned.alone.other
            notes = (
                *notes,
                f"{own.mapped:,} unseen values of {spec.column!r} were mapped to {became!r}",
            )
    return ProtectedColumn(
        name,
        spec.secret,
        plan.mechanism,
        counted,
        notes,
        _curve(plan, spec, seconds - (time.monotonic() - start), say)
        if curve and not noise
        else None,
        in_table=own,
    )


def _cost_of_given(plan: ColumnDesign, spec: ColumnSpec, seconds: float) -> tuple[str, ...]:
    """Say what the design for given values costs, and what one table for all would leak."""
    context = plan.context
    assert isinstance(context, Conditional)
    whose = " and ".join(map(repr, spec.given))
    try:
        plain = choose_design(
            context.pooled,
            plan.notion,
            also=[
                each._replace(context=each.context.pooled)
                for each in plan.also
                if isinstance(each.context, Conditional)
            ],
            utility=plan.utility,
            method=spec.method,
            seconds=seconds,
        )
        return (cost_text(plan.core, plain, plan.utility, whose),)
    except LiftlockError as error:
        return (f"one table for all values of {whose} cannot be made: {error}",)


_FOR_THE_SPLIT = 0.5
"""The share of the time in which a total budget is split, by designs at many budgets."""
_DESIGNS = 24
"""About so many designs of a column the split takes."""


def _split_total(
    source: TableSource,
    specs: Sequence[ColumnSpec],
    learned: Sequence[LearnedColumn],
    total: Notion,
    weights: Sequence[Fraction],
    seconds: float,
    watch: Progress,
) -> tuple[tuple[BudgetShare, ...], float]:
    """Share out a total budget; return the shares, and the time limit of a design that kept it."""
    each = max(1.0, _FOR_THE_SPLIT * seconds / (_DESIGNS * len(specs)))
    counted: CountedTuples | None = None
    told = [[spec.secret] for spec in specs]

    def make(at: int, notion: Notion, noise: Fraction) -> Mechanism:
        spec = specs[at]
        return design_column(
            learned[at],
            notion,
            noise=noise,
            utility=spec.utility,
            method=spec.method,
            seconds=each,
            watch=watch,
        ).mechanism

    def audit(mechanisms: Sequence[Mechanism]) -> Sequence[CombinedLeak]:
        nonlocal counted
        if counted is None or counted.inputs != tuple(made.channel.inputs for made in mechanisms):
            names = [spec.column for spec in specs]
            counted = CountedTuples.of(source, names, mechanisms, told, watch)
        leaks, missed = counted.leaks(mechanisms)
        if missed:
            raise NotDefined(
                f"a total of {total}",
                "these columns",
                f"{missed[0]}; merge rare values (--rare), or use fewer bins (--bins)",
            )
        return leaks

    names = [spec.column for spec in specs]
    split = TotalSplit(total, names, make, audit, watch)
    return split.split(weights), each


def _remember_dropped(column: ProtectedColumn, dropped: Sequence[str]) -> ProtectedColumn:
    """Have the mechanism know what is left out of the table besides its secrets."""
    made = column.mechanism
    rules = made.encoding
    if rules is None:
        return column
    more = tuple(name for name in dropped if name not in made.secrets)
    return replace(column, mechanism=replace(made, encoding=replace(rules, dropped=more)))


def _name(specs: Sequence[ColumnSpec]) -> str:
    """Return what columns that are one value are called together: one has its own name."""
    return " + ".join(spec.column for spec in specs)


def _group_part_spec(source: TableSource, spec: ColumnSpec) -> ColumnSpec:
    """Return what is wanted of a column that is a part: rare are combinations, cells are few."""
    bins = (
        BINS_TOGETHER
        if spec.bins is None and is_numeric(spec, source.type_of(spec.column))
        else spec.bins
    )
    return replace(spec, bins=bins, policy=replace(spec.policy, rare=0))


def _curve(plan: ColumnDesign, spec: ColumnSpec, seconds: float, say: Progress) -> Curve | None:
    origin = plan.core.origin
    return trace_curve(
        plan.core,
        plan.context,
        plan.notion,
        also=plan.also,
        utility=plan.utility,
        method=origin.method if origin is not None else spec.method,
        seconds=max(1.0, seconds),
        watch=say,
    )


def _lock_users(source: TableSource, spec: ColumnSpec) -> tuple[Mechanism, list[str]]:
    """Return the mechanism for users with a prior each, and their budgets."""
    notion = spec.notion
    limits = notion.lift_limits()
    if limits is None or None in limits:
        raise InputError(
            "per-user priors go with lip or alip",
            value=notion.name,
            remedy="give --epsilon, or --epsilon-lower and --epsilon-upper",
        )
    method = "safe-response" if spec.method in (None, "auto") else spec.method
    budgets = [] if spec.local_budgets is None else distinct_budgets(source, spec.local_budgets)
    try:
        return lock_users(list(spec.local), notion, method, budgets), budgets
    except NotCertified:
        raise InputError(
            "a user's budget exceeds the guarantee",
            value=f"{', '.join(budgets[:8])} for {notion.guarantee}",
            remedy="raise the guarantee to the largest budget",
        ) from None


def _protect_per_user(source: TableSource, spec: ColumnSpec) -> ProtectedColumn:
    made, budgets = _lock_users(source, spec)
    notes = [f"per-user priors are read from {len(spec.local)} columns of the table"]
    if spec.normalise:
        notes.append(f"the probabilities of each row are {DIVIDED}")
    if spec.local_budgets is not None:
        notes.append(
            f"per-user budgets are read from {spec.local_budgets!r} ({len(budgets)} distinct); "
            "this column is public and kept"
        )
    code = TableEncoding((ColumnEncoding(spec.column),))
    return ProtectedColumn(spec.column, None, replace(made, encoding=code), False, tuple(notes))


# --- what is worth saying -----------------------------------------------------------------------


def _exceeds_budget(leak: KeptColumn, specs: Sequence[ColumnSpec]) -> bool:
    """Tell whether a kept column tells more about a secret than a released one may."""
    return any(
        leak.exceeds(notion)
        for spec in specs
        for secret, notion in spec.hidden
        if leak.secret == (spec.column if secret is None else secret)
    )


def _kept_notes(look: OtherColumns, kept: tuple[str, ...]) -> Iterable[str]:
    if look.identities:
        yield (
            f"{_listed(look.identities)}: almost every value is unique, so the column identifies "
            "rows"
        )
    if look.unknown:
        yield (
            f"{_listed(look.unknown)}: too many values, too few rows of each, or unsupported "
            "types, to measure the leakage; kept unchanged"
        )
    if look.ordered:
        yield (
            f"the rows are sorted or grouped by {_listed(look.ordered)}, and their order is kept, "
            "which reveals it: shuffle them first"
        )
    for name in kept:
        yield f"{name!r} is kept by --keep, even if it reveals the secret"


def _not_measured(
    look: OtherColumns, columns: Sequence[ProtectedColumn], source: TableSource, rows: int
) -> Iterable[str]:
    """Say what of the output was not looked at, beside what the rows' own measure says."""
    beside = [name for name in look.identities if name not in look.values]
    if beside:
        yield f"{_listed(beside)}: almost every value is unique, which identifies rows"
    others = [name for name in look.unknown if name not in (*look.values, *look.identities)]
    if others:
        yield f"{_listed(others)}: too many values, or lists and structures"
    for name, share in look.skipped.items():
        if share > _WORTH_SAYING:
            yield (
                f"{name!r} in {100 * share:.2g} % of the rows, where its values are too rare to be "
                "told from chance"
            )
    if rows > LOOKED_AT:
        yield (
            f"kept columns by themselves and the order of rows after the first {LOOKED_AT:,} rows"
        )
    hidden = {column.secret for column in columns if column.secret is not None}
    for secret in sorted(hidden - set(source.columns)):
        yield f"rows about {secret!r}, which is not in the table"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:4]))
    return f"{shown} and {len(names) - 4} more" if len(names) > 4 else shown
