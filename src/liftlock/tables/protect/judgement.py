"""The verdict on the table that goes out: is what was promised kept in its rows?

A promise is about one released column. What goes out is a row: kept columns beside the released
ones. For every promise about a secret the row is judged by three ratios, which `RowLeak` has:

    P(s | k) / P(s)   what kept cells k tell alone,
    P(s | k, y) / P(s | k)   what the released cells y add to them,
    P(s | k, y) / P(s)   what both tell.

All three are exact in the table, rounded up. A finding is *broken* if a lower confidence bound is
above the budget; it is *open* if the number in the table is above, but chance would explain it, or
if nothing could be measured. Floats are compared as the rationals they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from liftlock.accounting.account import limited_quantities
from liftlock.errors import LiftlockError
from liftlock.exact.budget import Budget
from liftlock.exact.decimals import GLUE, round_up_text
from liftlock.exact.enclosure import Enclosure
from liftlock.model.conditional import FEWEST
from liftlock.notions.ldp import LDP
from liftlock.notions.lift import LeakRange
from liftlock.report.format import least_nats, moved_by, percent, shown
from liftlock.tables.protect.inspect import LOOKED_AT
from liftlock.tables.protect.result import RowLeak
from liftlock.tables.protect.verdict import BUDGETS, Finding, Kind, Level, Remedy, Verdict

if TYPE_CHECKING:
    from liftlock.notions.base import Notion
    from liftlock.tables.protect.result import (
        CombinedLeak,
        KeptColumn,
        PersonPromise,
        ProtectedColumn,
        Protection,
    )

_SURE = Fraction(1, 10**9)
"""Floats are this near to the numbers that they stand for, relative to 1 or to themselves."""


# --- promises -------------------------------------------------------------------------------------


class _Limits(NamedTuple):
    """How far beliefs about a secret may fall and rise; None on both sides: not said in lifts."""

    lower: Budget | None
    upper: Budget | None
    notion: Notion
    given: tuple[str, ...] = ()
    """The columns that it is given: it is for whoever knows them, beyond what they tell."""
    released: tuple[str, ...] = ()
    """The columns that promise it: those of one mechanism."""

    @property
    def sides(self) -> tuple[Budget | None, Budget | None]:
        return self.lower, self.upper

    @property
    def texts(self) -> tuple[str | None, str | None]:
        return (
            None if self.lower is None else str(self.lower),
            None if self.upper is None else str(self.upper),
        )

    @property
    def in_lifts(self) -> bool:
        """Whether the promise limits the change of single beliefs."""
        return self.lower is not None or self.upper is not None


def _limits_of(
    notion: Notion, given: tuple[str, ...] = (), released: tuple[str, ...] = ()
) -> _Limits:
    return _Limits(*notion.belief_limits(), notion, given, released)


def _names(column: ProtectedColumn) -> tuple[str, ...]:
    """Return the columns that are replaced: several, if they are one value."""
    encoding = column.mechanism.encoding
    names = () if encoding is None else tuple(name for name in encoding.names if name)
    return names or (column.name,)


class _Promise(NamedTuple):
    """What one guarantee promises."""

    about: tuple[str, ...]
    """The column that must not be inferred; of an own value all names that it has."""
    notion: Notion
    given: tuple[str, ...]
    """The columns that it is given."""
    banded: tuple[str, ...]
    """Those of them whose numbers are given by their band only."""

    @property
    def text(self) -> str:
        """The subject in words, such as ``"hiv" given "region" and the band of "age"``."""
        name = shown(self.about[0])
        known = ["the band of " * (each in self.banded) + shown(each) for each in self.given]
        return f"{name} given {_joined(known)}" if known else name


def _promises(column: ProtectedColumn, stays: Sequence[str]) -> list[_Promise]:
    """Return what a column promises to whoever has the rows.

    If they hold the given columns, it is what holds given these; else what holds without them.
    """
    encoding = column.mechanism.encoding
    rules = None if encoding is None else encoding.given
    given = () if rules is None else rules.names
    banded = () if rules is None else tuple(code.name for code in rules.columns if code.numeric)
    seen = set(given) <= set(stays)
    own = tuple(dict.fromkeys((column.name, *_names(column))))
    every = []
    for place, each in enumerate(column.mechanism.guarantees):
        about = column.secret if each.about is None and not place else each.about
        rests = given if each.context.kind == "given" else ()
        # For a person with several rows the promise is not that of a single row.
        notion = each.notion if place else column.mechanism.promised
        every.append(_Promise(own if about is None else (about,), notion, rests, banded))
    chosen = {each.about for each in every if bool(each.given) == seen}
    return [each for each in every if bool(each.given) == seen or each.about not in chosen]


def _within(value: float, budget: Budget | None) -> bool:
    """Tell whether a number that is rounded up is certainly no more than a budget."""
    if budget is None:
        return True
    return math.isfinite(value) and Fraction(value) <= budget.nats().lower


def _beyond(value: float, budget: Budget | None) -> bool:
    """Tell whether a number that floats came near to is certainly more than a budget."""
    if budget is None:
        return False
    if math.isinf(value):
        return True
    upper = budget.nats().upper
    assert upper is not None
    number = Fraction(value)
    return number - _SURE * max(Fraction(1), number) > upper


def _any_beyond(leak: Iterable[float], limits: _Limits) -> bool:
    return any(map(_beyond, leak, limits.sides))


def _all_within(leak: Iterable[float], limits: _Limits) -> bool:
    return all(map(_within, leak, limits.sides))


def _excess(leak: Iterable[float], limits: _Limits) -> float:
    return max(
        value - float(budget)
        for value, budget in zip(leak, limits.sides, strict=True)
        if budget is not None
    )


# --- the judge ------------------------------------------------------------------------------------


def judge(protection: Protection) -> Verdict:
    """Judge whether the rows that go out keep what was promised of the released columns.

    >>> from liftlock import LIP, Prior, design
    >>> from liftlock.tables.protect.result import ProtectedColumn, Protection
    >>> made = design(Prior.uniform("ab"), LIP("1"))
    >>> column = ProtectedColumn("answer", None, made, True)
    >>> alone = Protection("answers.csv", 9, (column,))
    >>> print(judge(alone))
    kept: every row that goes out keeps lip(1) about "answer", in this table of 9 rows
    >>> print(judge(Protection("answers.csv", 9, (column,), stays=("age",))).words)
    kept with conditions
    """
    court = _Court(protection)
    found = sorted(
        court.findings(), key=lambda each: (_ORDER.index(each.kind), -each.excess, each.sentence)
    )
    kinds = {finding.kind for finding in found}
    level: Level = "broken" if "broken" in kinds else "conditional" if kinds else "kept"
    return Verdict(level, tuple(found), _promise(protection), protection.rows, court.command)


_ORDER: tuple[Kind, ...] = ("broken", "open", "outside")


def _promise(protection: Protection) -> str:
    """Say what was promised about which secrets: ``lip(0.5) about "hiv"``."""
    said: dict[str, list[str]] = {}
    for column in protection.columns:
        for each in _promises(column, protection.stays):
            asked = each.notion if protection.total is None else protection.total.notion
            about = said.setdefault(str(asked), [])
            if each.text not in about:
                about.append(each.text)
    text = " and ".join(f"{notion} about {', '.join(names)}" for notion, names in said.items())
    whose = protection.person
    return text if whose is None else f"{text} for all rows of one {shown(whose.column)}"


@dataclass(frozen=True)
class _Court:
    """All that is looked at for one verdict."""

    protection: Protection

    @property
    def command(self) -> tuple[str, ...]:
        """The command that was run; what it has written may be overwritten by the next one."""
        words = self.protection.command
        if words and self.protection.output is not None and "--force" not in words:
            return (*words, "--force")
        return words

    def findings(self) -> Iterator[Finding]:
        """Give everything that is against the promise, in no order."""
        yield from self._secrets_that_stay()
        yield from self._single_columns()
        yield from self._combined()
        rows = list(self._rows())
        yield from rows
        yield from self._bands()
        yield from self._order_of_rows()
        yield from self._not_measured(rows)
        yield from self._people()

    @cached_property
    def limits(self) -> dict[str, list[_Limits]]:
        """What was promised about each secret."""
        found: dict[str, list[_Limits]] = {}
        for column in self.protection.columns:
            for each in _promises(column, self.protection.stays):
                total = self.protection.total
                asked = each.notion if total is None else total.notion
                limits = _limits_of(asked, each.given, _names(column))
                for secret in each.about:
                    found.setdefault(secret, []).append(limits)
        return found

    def limits_for(self, secret: str, released: Sequence[str] = ()) -> list[_Limits]:
        """Return the promises of released columns about a secret; of all, if these have none."""
        promised = self.limits.get(secret, [])
        own = [limits for limits in promised if set(limits.released) <= set(released)]
        return own or promised

    def _people(self) -> Iterator[Finding]:
        """Look at people who have several rows, of whom single rows are protected only."""
        columns = self.protection.columns
        single = all(
            len({about for about, _ in each.promises}) == 1 and not each.mechanism.per_user
            for each in columns
        )
        for column in self.protection.repeating:
            name = shown(column.name)
            words = f"protect all rows of a person together ({name})"
            no_people = Remedy(f"take {name} out of the table if it identifies nobody")
            whole = Remedy(words, ("--person", column.name), (), f"person={column.name!r}")
            if self._given:  # a promise for each person is not proved given columns
                left = tuple(name for name in sorted(self._given) if name in self.protection.stays)
                words += f", without --given and {_listed(left)}" if left else ", without --given"
                whole = Remedy(
                    words,
                    (*whole.add, *(word for name in left for word in ("--drop", name))),
                    (("--given",),),
                    f"{whole.python}, given=[], drop={list(left)!r}",
                )
            yield Finding(
                "open",
                column.sentence,
                column.secret,
                (column.name,),
                LeakRange(column.loss, column.loss),
                remedies=(whole, no_people) if single else (no_people,),
            )
        whose = self.protection.person
        if whose is not None and whose.beside:
            yield Finding(
                "open",
                f"what {_listed(whose.beside)} tell{'s' * (len(whose.beside) == 1)} in several "
                f"rows of one {shown(whose.column)} together was measured row by row only",
                columns=whose.beside,
                remedies=self._drops(whose.beside),
            )
        if whose is not None and whose.mode == "divide" and len(columns) >= _SEVERAL:
            yield from self._rows_together(whose)

    def _rows_together(self, whose: PersonPromise) -> Iterator[Finding]:
        """Add up what all released columns tell in all rows: each divided the budget by itself."""
        columns = self.protection.columns
        levels = [LDP.measure(column.mechanism.channel).value.upper for column in columns]
        told = whose.most_rows * sum((level for level in levels if level is not None), Fraction(0))
        nats = round_up_text(told)
        for secret in self.limits:
            for limits in self.limits_for(secret):
                given = [each for each in limits.sides if each is not None]
                if all(told <= each.nats().lower for each in given):
                    continue
                yield Finding(
                    "open",
                    f"{_listed([each.name for each in columns])} together: {whose.most_rows:,} "
                    f"rows of one {shown(whose.column)} tell up to {nats} nats about "
                    f"{shown(secret)}, if they have everything in common (promised: "
                    f"{_budgets(limits)})",
                    secret,
                    tuple(each.name for each in columns),
                    promised=limits.texts,
                    remedies=self._together(),
                    excess=float(told) - min(map(float, given)),
                )
                break

    # --- secrets and columns ----------------------------------------------------------------------

    def _secrets_that_stay(self) -> Iterator[Finding]:
        for secret in self.limits:
            if secret in self.protection.stays:
                limits = self.limits_for(secret)[0]
                yield Finding(
                    "broken",
                    f"the secret {shown(secret)} itself is in the output{self._insisted(secret)}",
                    secret,
                    (secret,),
                    LeakRange(math.inf, math.inf),
                    LeakRange(math.inf, math.inf),
                    limits.texts,
                    self._unkept(secret),
                    math.inf,
                )

    def _single_columns(self) -> Iterator[Finding]:
        """Look at what rests on statistics that were not counted here, or are of each row."""
        for column in self.protection.columns:
            made, secret = column.mechanism, column.secret or column.name
            limits = _limits_of(made.notion)
            name = shown(column.name)
            if made.per_user:
                if self.protection.stays:
                    yield Finding(
                        "open",
                        f"{name} rests on a prior for each row: what the kept columns tell beside "
                        "it was not measured",
                        secret,
                        (column.name,),
                        promised=limits.texts,
                        remedies=self._drops(self.protection.stays),
                    )
                continue
            if made.certificate.unprotected:
                listed = ", ".join(map(shown, made.certificate.unprotected[:3]))
                yield Finding(
                    "open",
                    f"nothing is promised about {listed}, which the given statistics call "
                    "impossible",
                    secret,
                    (column.name,),
                    promised=limits.texts,
                    remedies=_recount(column),
                )
            own = column.in_table
            if own is not None and not own.holds:
                yield self._given_too_far(column, secret, limits)
            elif not column.learned and own is None and _rests_on_statistics(column):
                yield Finding(
                    "open",
                    f"the promise of {name} rests on statistics that were given, and the table has "
                    f"no {shown(secret)} to compare them with",
                    secret,
                    (column.name,),
                    promised=limits.texts,
                    remedies=(Remedy(f"compare them with a table that has {shown(secret)}"),),
                )

    def _given_too_far(self, column: ProtectedColumn, secret: str, limits: _Limits) -> Finding:
        own = column.in_table
        assert own is not None
        leak = LeakRange(own.eps_lower, own.eps_upper)
        certain = own.at_least
        broken = certain is not None and _any_beyond(certain, limits)
        origin = "its counts were smoothed" if column.learned else "its statistics were given"
        return self._about_leak(
            "broken" if broken else "open",
            f"{shown(column.name)} by the table's own counts ({origin})",
            secret,
            (column.name,),
            (leak, certain),
            limits,
            _recount(column),
        )

    def _combined(self) -> Iterator[Finding]:
        """Look at what all released columns tell together."""
        columns = [column for column in self.protection.columns if not column.mechanism.per_user]
        if len(columns) < _SEVERAL:
            return
        seen = {leak.secret for leak in self.protection.combined}
        for leak in self.protection.combined:
            told = self.protection.limits_of(leak).values()
            broken = (each for notions in told for each in notions if not leak.keeps(each))
            notion = next(broken, None)
            if notion is not None:
                yield self._too_much_together(leak, notion)
        names = tuple(column.name for column in columns)
        own = {
            each.about[0] for column in columns for each in _promises(column, self.protection.stays)
        }
        for secret in self.limits:
            if secret not in seen and secret in own:
                yield Finding(
                    "open",
                    f"what {_listed(names)} tell together about {shown(secret)} was not measured",
                    secret,
                    names,
                    remedies=self._together(),
                )

    def _too_much_together(self, leak: CombinedLeak, notion: Notion) -> Finding:
        limits = _limits_of(notion)
        told = LeakRange(*(_nats_of(leak, side) for side in ("eps_lower", "eps_upper")))
        sides = [
            side
            for side, budget in zip(("eps_lower", "eps_upper"), limits.sides, strict=True)
            if budget is not None
        ]
        exact = all(leak.account.is_exact(side) for side in sides)
        kind: Kind = "broken" if exact and _refuses(leak, notion) else "open"
        return self._about_leak(
            kind,
            f"{_listed(leak.columns)} together",
            leak.secret,
            leak.columns,
            (told, told if kind == "broken" else None),
            limits,
            self._together(),
        )

    def _together(self) -> tuple[Remedy, ...]:
        """Return the remedy that protects columns as one value, where that is possible."""
        columns = self.protection.columns
        alike = {tuple((about, str(told)) for about, told in each.promises) for each in columns}
        simple = all(
            column.learned
            and not column.mechanism.per_user
            and (code := column.mechanism.encoding) is not None
            and not code.columns[0].keeps_missing
            for column in columns
        )
        if len(alike) > 1 or not simple:
            return ()
        words, files = "protect them as one value", (("--mechanism",),)
        one = Remedy(words, ("--together",), files, "together=True")
        notion = columns[0].mechanism.notion
        whose = self.protection.person
        divided = whose is not None and whose.mode == "divide"
        if self.protection.total is not None or divided or not limited_quantities(notion):
            return (one,)
        claim = f"{notion.name}={','.join(notion.budgets.values())}"
        budgets = tuple((name,) for name in BUDGETS)
        words = "share one budget among them"
        return (one, Remedy(words, ("--total", claim), budgets, f'total="{claim}"'))

    # --- rows -------------------------------------------------------------------------------------

    def _rows(self) -> Iterator[Finding]:
        """Look at what kept columns tell, alone and beside released ones; the fewest that do."""
        found: list[Finding] = []
        for leak in self.protection.kept:
            finding = self._kept(leak)
            if finding is not None:
                found.append(finding)
        for row in sorted(self.protection.rows_out, key=lambda row: len(row.kept)):
            if row.secret in row.kept:
                continue  # that it stays is said already
            finding = self._row(row)
            if finding is not None and not any(_explains(each, finding) for each in found):
                found.append(finding)
        worse = {(each.secret, each.columns) for each in found if each.kind == "broken"}
        for finding in found:
            if finding.kind == "broken" or (finding.secret, finding.columns) not in worse:
                yield finding

    def _kept(self, leak: KeptColumn) -> Finding | None:
        """Judge what a kept column tells alone; what chance would explain was left out of it."""
        found = [self._kept_against(leak, limits) for limits in self.limits_for(leak.secret)]
        return _worst(each for each in found if each is not None)

    def _kept_against(self, leak: KeptColumn, limits: _Limits) -> Finding | None:
        told = LeakRange(leak.eps_lower, leak.eps_upper)
        rare = _share(leak.pooled)
        pooled = f" (rare values, in {rare} of the rows, taken together)" if leak.pooled else ""
        subject = f"{shown(leak.name)} alone{pooled}"
        columns = (leak.name,)
        if not limits.in_lifts:
            return self._not_in_lifts(subject, leak.secret, columns, told, limits)
        if not _any_beyond(told, limits):
            return None
        if limits.given and leak.name in limits.given:
            return self._outside(subject, leak.secret, columns, told, limits)
        sure = _without_given(told, self._told_by(leak.secret, limits.given))
        kind: Kind = "broken" if _any_beyond(sure, limits) else "open"
        least = sure if limits.given else told
        drops = self._answers(columns)
        return self._about_leak(kind, subject, leak.secret, columns, (told, least), limits, drops)

    def _told_by(self, secret: str, given: Sequence[str]) -> LeakRange:
        """Return what given columns tell alone, exactly in the table; infinity if unknown."""
        if not given:
            return LeakRange(0.0, 0.0)
        for row in self.protection.rows_out:
            if row.secret == secret and set(row.kept) == set(given):
                return row.alone
        return LeakRange(math.inf, math.inf)

    def _row(self, row: RowLeak) -> Finding | None:
        """Judge one row leak by every promise; the worst is said."""
        found = [
            finding
            for limits in self.limits_for(row.secret, row.released)
            if (finding := self._row_against(row, limits)) is not None
        ]
        return _worst(found)

    def _row_against(self, row: RowLeak, limits: _Limits) -> Finding | None:
        beside = _listed(row.kept)
        what = f"{_listed(row.released)} beside {beside}"
        if not limits.in_lifts:
            if not any(row.population):
                return None
            return self._not_in_lifts(what, row.secret, row.kept, row.population, limits)
        if row.values == 1:  # what never changes tells nothing: the certificate decides
            return None
        if set(row.kept) < set(limits.given):  # whoever has the row sees all that is given
            return None
        given = set(row.kept) == set(limits.given)
        # Of one mechanism, not of several, it is proved what is added to what it is given; unless
        # cells that are read alike go out unlike.
        proved = given and set(row.released) <= set(limits.released)
        measures = self._measures(row, limits)
        for each in measures:
            if _any_beyond(each.least, limits):
                return self._measured("broken", row, each, limits)
        for each in reversed(measures):
            if _any_beyond(each.leak, limits) if proved else not _all_within(each.leak, limits):
                return self._measured("open", row, each, limits)
        if row.unbounded_share and not proved and set(limits.given) <= set(row.kept):
            return Finding(
                "open",
                f"{what}: in {_share(row.unbounded_share)} of the rows the values of {beside} "
                f"are too rare to bound what the row tells about {shown(row.secret)}",
                row.secret,
                row.kept,
                LeakRange(math.inf, math.inf),
                promised=limits.texts,
                remedies=self._answers(row.kept),
            )
        if given and not _all_within(row.alone, limits):
            return self._outside(f"{beside} alone", row.secret, row.kept, row.alone, limits)
        return None

    def _measures(self, row: RowLeak, limits: _Limits) -> list[_Measure]:
        """Return what a row tells in the ways that a promise is about, the root last."""
        beside = _listed(row.kept)
        what = f"{_listed(row.released)} beside {beside}"
        beyond = _Measure(
            f"{what}, beyond what that tells alone", row.beyond, row.at_least, given=True
        )
        if not limits.given:
            return [
                beyond,
                _Measure(what, row.population, row.population_at_least, given=True),
                _Measure(f"{beside} alone", row.alone, LeakRange(0.0, 0.0)),
            ]
        # Of P(s|k,y) / P(s|given) only bounds are known: what was given is taken off, or added.
        told = self._told_by(row.secret, limits.given)
        tell = "tells" if len(limits.given) == 1 else "tell"
        subject = f"{what}, beyond what {_listed(limits.given)} {tell}"
        least = _without_given(row.population_at_least, told)
        if set(limits.given) == set(row.kept):
            return [beyond]
        if not set(limits.given) <= set(row.kept):  # whoever has the row sees the given cells too
            unknown = any(map(math.isinf, told))
            return [_Measure(subject, told if unknown else least, least)]
        low, up = row.population
        most = LeakRange(low + told.eps_upper, up + told.eps_lower)
        return [beyond, _Measure(subject, most, least)]

    def _measured(self, kind: Kind, row: RowLeak, each: _Measure, limits: _Limits) -> Finding:
        answers = self._answers(row.kept, given=each.given)
        measured = each.leak, each.least
        return self._about_leak(kind, each.subject, row.secret, row.kept, measured, limits, answers)

    def _outside(
        self,
        subject: str,
        secret: str,
        columns: tuple[str, ...],
        leak: LeakRange,
        limits: _Limits,
    ) -> Finding:
        """Say what given columns tell, which the promise does not limit."""
        words = _moves(leak, limits.sides, f"beliefs about {shown(secret)}")
        return Finding(
            "outside",
            f"{subject}: {words}, which the promise, made given "
            f"{_listed(limits.given)}, does not limit",
            secret,
            columns,
            leak,
            promised=limits.texts,
            remedies=self._drops(columns),
            excess=_excess(leak, limits),
        )

    def _not_in_lifts(
        self,
        subject: str,
        secret: str,
        columns: tuple[str, ...],
        leak: LeakRange,
        limits: _Limits,
    ) -> Finding:
        """Say that a promise of another kind does not cover rows."""
        about = f"beliefs about {shown(secret)}"
        return Finding(
            "open",
            f"{subject}: {_moves(leak, (None, None), about)}, and {limits.notion} does not limit "
            "single beliefs",
            secret,
            columns,
            leak,
            remedies=self._drops(columns),
            excess=max(leak),
        )

    @cached_property
    def _given_bands(self) -> dict[str, str]:
        """The numbers that a promise is given by their band only, with the secret of it."""
        return {
            name: each.about[0]
            for column in self.protection.columns
            for each in _promises(column, self.protection.stays)
            for name in each.banded
            if name in each.given
        }

    def _bands(self) -> Iterator[Finding]:
        """Look at given numbers, which go out themselves although the promise knows their band."""
        for name, secret in self._given_bands.items():
            yield Finding(
                "open",
                f"{shown(name)} goes out as it is, and the promise is given its band: whoever "
                f"reads the number itself may learn more about {shown(secret)}",
                secret,
                (name,),
                remedies=self._drops((name,)),
            )

    def _answers(self, names: Sequence[str], *, given: bool = False) -> tuple[Remedy, ...]:
        """Return what answers a finding about kept columns; the promise given them first, or not.

        Given kept columns a promise can be proved that is about what the released ones add.
        """
        # What is told beyond given columns, the others tell.
        others = [name for name in names if name not in self._given]
        drops, gives = self._drops(others or names), self._gives(names)
        return (*gives, *drops) if given else (*drops, *gives)

    def _drops(self, names: Sequence[str]) -> tuple[Remedy, ...]:
        """Return the remedy that leaves kept columns out."""
        insisted = [name for name in names if name in self.protection.insisted]
        given = [name for name in names if name in self._given]
        return (
            Remedy(
                f"leave {_listed(names)} out",
                tuple(word for name in names for word in ("--drop", name)),
                (
                    *(("--keep", name) for name in insisted),
                    *(("--given", name) for name in given),
                ),
                f"drop={list(names)!r}",
            ),
        )

    @cached_property
    def _given(self) -> set[str]:
        """The columns that any promise is given, whether they stay or not."""
        rules = [each.mechanism.encoding for each in self.protection.columns]
        return {name for each in rules if each and each.given for name in each.given.names}

    def _gives(self, names: Sequence[str]) -> tuple[Remedy, ...]:
        """Return the remedy that makes the promise one given kept columns, if there are few."""
        fresh = [name for name in names if name not in self._given]
        if not {*self.limits, *self.protection.identities}.isdisjoint(fresh):
            return ()  # secrets are never given, and identities would have no rows
        sizes = (row.values for row in self.protection.rows_out if set(row.kept) == set(names))
        if FEWEST * max(sizes, default=math.inf) > self.protection.rows:
            return ()  # most of their values have too few rows for tables of their own
        counted = all(
            column.learned and not column.mechanism.per_user for column in self.protection.columns
        )
        other = self.protection.total is not None or self.protection.person is not None
        if not fresh or not counted or len(names) > _FEW or other:
            return ()
        return (
            Remedy(
                f"make the promise given {_listed(fresh)}",
                tuple(word for name in fresh for word in ("--given", name)),
                (),
                f"given={fresh!r}",
            ),
        )

    def _unkept(self, secret: str) -> tuple[Remedy, ...]:
        """Return the remedy that lets a secret be dropped, as it is unless it is kept."""
        return (Remedy(f"leave {shown(secret)} out", (), (("--keep", secret),), "keep=[]"),)

    def _order_of_rows(self) -> Iterator[Finding]:
        for name in self.protection.ordered:
            yield Finding(
                "open",
                f"the rows are sorted or grouped by {shown(name)}, and their order is kept, which "
                "reveals it",
                name,
                (name,),
                remedies=(Remedy("shuffle the rows before they are protected"),),
            )

    def _not_measured(self, judged: Sequence[Finding]) -> Iterator[Finding]:
        """Say what could not be looked at: every kept column owes a measure for every secret."""
        rows = self.protection.rows_out
        measured = {(row.secret, row.kept[0]) for row in rows if len(row.kept) == 1}
        measured |= {(each.secret or "", name) for each in judged for name in each.columns}
        own = {each.name for each in self.protection.columns if each.mechanism.per_user}
        groups: dict[tuple[str, ...], list[str]] = {}
        for name in self.protection.stays:
            missing = tuple(
                secret
                for secret in self.limits
                if (secret, name) not in measured and secret not in (name, *own)
            )
            if missing:
                groups.setdefault(missing, []).append(name)
        for missing, names in groups.items():
            yield Finding(
                "open",
                f"what {_listed(names)} tell{'s' * (len(names) == 1)} about {_listed(missing)} "
                f"could not be measured{self._insisted(*names)}",
                missing[0],
                tuple(names),
                remedies=self._drops(names),
            )
        against = [each for each in judged if each.kind != "outside"]
        found = {name for each in against for name in each.columns}.union(*groups.values())
        unique = [name for name in self.protection.identities if name not in found]
        if unique:
            yield Finding(
                "open",
                f"almost every value of {_listed(unique)} is unique: it identifies rows, and was "
                "measured in bands only",
                columns=tuple(unique),
                remedies=self._drops(unique),
            )
        # What chance would explain of bands is no answer to what single numbers tell.
        said = {*self.protection.identities, *self._given_bands}.union(*groups.values())
        said |= {name for each in against if each.kind == "broken" for name in each.columns}
        banded = dict.fromkeys(name for row in rows for name in row.banded)
        if numbers := [name for name in banded if name not in said]:
            yield Finding(
                "open",
                f"the numbers of {_listed(numbers)} were measured in bands only: a single one may "
                "tell more than its band",
                columns=tuple(numbers),
                remedies=self._drops(numbers),
            )
        if self.protection.not_measured and not self._seen_whole(judged):
            yield Finding("open", f"not measured: {'; '.join(self.protection.not_measured)}")

    def _seen_whole(self, judged: Sequence[Finding]) -> bool:
        """Tell whether rows were measured with all that is kept, and nothing was found.

        Then parts of a row, which are mixtures of whole ones, tell no more of a secret.
        """
        whole = {
            row.secret
            for row in self.protection.rows_out
            if set(row.kept) == set(self.protection.stays)
        }
        return (
            not any(each.kind != "outside" for each in judged)
            and whole >= self.limits.keys()
            and self.protection.rows <= LOOKED_AT
        )

    # --- words ------------------------------------------------------------------------------------

    def _about_leak(
        self,
        kind: Kind,
        subject: str,
        secret: str,
        columns: tuple[str, ...],
        measured: tuple[LeakRange, LeakRange | None],
        limits: _Limits,
        remedies: tuple[Remedy, ...],
    ) -> Finding:
        """Say how far beliefs move, how much of that is no chance, and what was promised."""
        leak, least = measured
        about = f"beliefs about {shown(secret)}"
        words = f"{subject}: {_moves(leak, limits.sides, about)}"
        if kind == "open" and least is not None:
            words += ", which may be chance"
        elif least is not None and least != leak:
            words += _surely(least, limits)
        kept = [name for name in columns if name in self.protection.insisted]
        words += f" (promised: {_budgets(limits)})" if limits.in_lifts else ""
        words += self._insisted(*kept) if kept else ""
        return Finding(
            kind,
            words,
            secret,
            columns,
            leak,
            least,
            limits.texts,
            remedies,
            _excess(leak if least is None or kind == "open" else least, limits),
        )

    def _insisted(self, *names: str) -> str:
        return "; kept on purpose (--keep)" if set(names) & set(self.protection.insisted) else ""


_SEVERAL = 2
_FEW = 3
"""Given more columns than this, hardly any rows are left for each combination of their values."""


class _Measure(NamedTuple):
    """One way in which a row is measured."""

    subject: str
    leak: LeakRange
    """In the table, not less than it is."""
    least: LeakRange
    """What is certain of it."""
    given: bool = False
    """Whether a promise given the kept columns answers it."""


def _without_given(leak: LeakRange, told: LeakRange) -> LeakRange:
    """Return how far beliefs certainly move beyond what given columns tell.

    P(s|k) / P(s) is a mean of P(s|k,g) / P(s|g) times P(s|g) / P(s), so that one factor is as far.
    """
    return LeakRange(
        *(
            max(0.0, value - given) if math.isfinite(given) else 0.0
            for value, given in zip(leak, told, strict=True)
        )
    )


def _worst(found: Iterable[Finding]) -> Finding | None:
    return min(found, key=lambda each: (_ORDER.index(each.kind), -each.excess), default=None)


def _explains(one: Finding, other: Finding) -> bool:
    """Tell whether a finding of fewer columns says what one of more columns would say again."""
    if one.secret != other.secret or not set(one.columns) <= set(other.columns):
        return False
    return _ORDER.index(one.kind) <= _ORDER.index(other.kind)


def _recount(column: ProtectedColumn) -> tuple[Remedy, ...]:
    """Return the remedy that takes the statistics of the table itself, as they are."""
    if column.learned:
        return (Remedy("count without smoothing", (), (("--smooth",),), "smooth=0"),)
    if column.in_table is None:
        return ()
    option = "--prior" if column.secret is None else "--joint"
    return (Remedy("count this table instead", (), ((option,),), "context=None"),)


def _rests_on_statistics(column: ProtectedColumn) -> bool:
    return not column.mechanism.notion.context_free or column.secret is not None


def _refuses(leak: CombinedLeak, notion: Notion) -> bool:
    """Tell whether a guarantee is refused by numbers, not for want of them."""
    try:
        return not leak.account.allows(notion)
    except LiftlockError:
        return False


def _nats_of(leak: CombinedLeak, side: str) -> float:
    if side not in leak.account:
        return math.inf
    value: Enclosure = leak.account[side].value
    if value.upper is None:
        return math.inf
    found = float(value.upper)
    return found if Fraction(found) >= value.upper else math.nextafter(found, math.inf)


def _listed(names: Sequence[str]) -> str:
    """Name columns: the first few, and how many more there are."""
    return _joined([shown(name) for name in names])


def _joined(every: Sequence[str]) -> str:
    most = 4
    if len(every) > most:
        return f"{', '.join(every[:most])} and {len(every) - most} more"
    if len(every) < _SEVERAL:
        return "".join(every)
    return f"{', '.join(every[:-1])} and {every[-1]}"


def _moves(leak: LeakRange, sides: tuple[Budget | None, Budget | None], about: str) -> str:
    """Say how far beliefs move on the sides that exceed their budgets; on both if none does."""
    far = [not _within(value, budget) for value, budget in zip(leak, sides, strict=True)]
    if not any(far):
        far = [True, True]
    words = [
        f"{verb} {moved_by(value, sign='up to ')}"
        for verb, value, said in zip(("fall", "rise"), leak, far, strict=True)
        if said
    ]
    return f"{about} {' and '.join(words)}"


def _share(share: float) -> str:
    """Write a share with a blank that is one everywhere."""
    return percent(share).replace(GLUE, " ")


def _surely(least: LeakRange, limits: _Limits) -> str:
    """Say how much of a leak is no chance, on the sides where that exceeds the budget."""
    values = [
        value for value, budget in zip(least, limits.sides, strict=True) if _beyond(value, budget)
    ]
    if math.inf in values:  # how far beliefs move says so already
        return ", which chance does not explain"
    return f", at least {' and '.join(map(least_nats, values))} beyond chance"


def _budgets(limits: _Limits) -> str:
    lower, upper = limits.texts
    if lower == upper:
        return str(lower)
    if lower is None or upper is None:
        return f"{upper} up" if lower is None else f"{lower} down"
    return f"{lower} down, {upper} up"
