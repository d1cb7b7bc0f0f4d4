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
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from liftlock.errors import LiftlockError
from liftlock.exact.budget import Budget
from liftlock.exact.decimals import round_down_text, round_up_text
from liftlock.exact.enclosure import Enclosure
from liftlock.report.format import percent, shown
from liftlock.tables.protect.result import LeakRange, RowLeak

if TYPE_CHECKING:
    from liftlock.notions.base import Notion
    from liftlock.tables.protect.result import (
        CombinedLeak,
        KeptColumn,
        ProtectedColumn,
        Protection,
    )

Level = Literal["kept", "conditional", "broken"]
Kind = Literal["broken", "open", "outside"]

WORDS: dict[Level, str] = {
    "kept": "kept",
    "conditional": "kept with conditions",
    "broken": "not kept",
}
"""How a level is said to people."""

_SURE = Fraction(1, 10**9)
"""Floats are this near to the numbers that they stand for, relative to 1 or to themselves."""


# --- what a verdict is ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Remedy:
    """A change of what was asked for that answers a finding."""

    words: str
    """What it does, as an order: ``leave "pay" out``."""
    add: tuple[str, ...] = ()
    """The options that are added to the command."""
    remove: tuple[tuple[str, ...], ...] = ()
    """The options that are taken out of it, each with its values; without values, all of them."""
    python: str = ""
    """The arguments of ``ll.protect`` that do the same."""


@dataclass(frozen=True)
class Finding:
    """One thing that breaks the promise, may break it, or lies outside of it."""

    kind: Kind
    sentence: str
    secret: str | None = None
    columns: tuple[str, ...] = ()
    """The columns that it is about."""
    leak: LeakRange | None = None
    """How far beliefs fall and rise in the table, in nats, rounded up."""
    at_least: LeakRange | None = None
    """How far they do beyond chance, rounded down."""
    promised: tuple[str | None, str | None] = (None, None)
    """The budgets of a fall and of a rise, as exact text; None is no limit."""
    remedies: tuple[Remedy, ...] = ()
    """What answers it, the most certain first."""
    excess: float = 0.0
    """By how much the budget is exceeded, in nats: findings are sorted by it."""


@dataclass(frozen=True)
class Verdict:
    """Whether the promise is kept in the rows that go out; the worst finding is the first."""

    level: Level
    findings: tuple[Finding, ...]
    promise: str
    """What was promised, in short."""
    rows: int
    command: tuple[str, ...] = ()
    """The words of the command that was run, after ``liftlock``; empty if there was none."""

    @property
    def words(self) -> str:
        """The level in words."""
        return WORDS[self.level]

    @property
    def proved(self) -> bool:
        """Whether every row that goes out keeps the promise in this table, as far as it goes."""
        return all(finding.kind == "outside" for finding in self.findings)

    @property
    def sentence(self) -> str:
        """The verdict in one sentence."""
        what = f"{self.promise}, in the {self.rows:,} rows of this table"
        if self.level == "kept":
            return f"every row keeps {what}"
        if self.level == "broken":
            return f"published rows tell more than {what}"
        if self.proved:
            return f"every row keeps {what}; what lies outside of the promise is listed"
        return f"nothing certain is against {what}, but not everything is proved"

    @cached_property
    def decisive(self) -> tuple[Finding, ...]:
        """The findings that decide the level."""
        return tuple(each for each in self.findings if each.kind == self.findings[0].kind)

    def command_for(self, findings: Iterable[Finding] | None = None) -> str:
        """Return the command that answers findings by their first remedies; empty if none does.

        Without findings, those that decide the level.
        """
        chosen = self.decisive if findings is None else findings
        return self.command_with([each.remedies[0] for each in chosen if each.remedies])

    def command_with(self, remedies: Iterable[Remedy]) -> str:
        """Return the command that was run, changed; empty if none was run or nothing changes."""
        every = list(remedies)
        if not self.command or not any(each.add or each.remove for each in every):
            return ""
        return shlex.join(["liftlock", *_changed(self.command, every)])

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "level": self.level,
            "words": self.words,
            "sentence": self.sentence,
            "command": self.command_for() or None,
            "findings": [self._finding_data(finding) for finding in self.findings],
        }

    def _finding_data(self, finding: Finding) -> dict[str, Any]:
        return {
            "kind": finding.kind,
            "sentence": finding.sentence,
            "secret": finding.secret,
            "columns": list(finding.columns),
            "leak": _range_data(finding.leak),
            "at_least": _range_data(finding.at_least),
            "promised": {"lower": finding.promised[0], "upper": finding.promised[1]},
            "remedies": [
                {"words": each.words, "command": self.command_with([each]) or None}
                for each in finding.remedies
            ],
        }

    def __str__(self) -> str:
        return f"{self.words}: {self.sentence}"


def _range_data(leak: LeakRange | None) -> dict[str, float | str] | None:
    if leak is None:
        return None
    sides = {"eps_lower": leak.eps_lower, "eps_upper": leak.eps_upper}
    return {name: value if math.isfinite(value) else "infinity" for name, value in sides.items()}


def _changed(command: Sequence[str], remedies: Sequence[Remedy]) -> list[str]:
    """Take options out of a command and add others, each once.

    >>> drop = Remedy("", ("--drop", "a"), (("--keep", "a"),))
    >>> _changed(["protect", "t.csv", "--keep=a", "--keep", "b"], [drop, drop])
    ['protect', 't.csv', '--keep', 'b', '--drop', 'a']
    """
    words = list(command)
    for option, *values in dict.fromkeys(each for remedy in remedies for each in remedy.remove):
        words = list(_without(words, option, values))
    added: list[tuple[str, ...]] = []
    for remedy in remedies:
        for pair in _pairs(remedy.add):
            if pair not in added and not _holds(words, pair):
                added.append(pair)
    return [*words, *(word for pair in added for word in pair)]


def _pairs(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Give options with their values."""
    found: list[str] = []
    for word in words:
        if word.startswith("--") and found:
            yield tuple(found)
            found = []
        found.append(word)
    if found:
        yield tuple(found)


def _holds(words: Sequence[str], pair: tuple[str, ...]) -> bool:
    return any(tuple(words[at : at + len(pair)]) == pair for at in range(len(words)))


def _without(words: Sequence[str], option: str, values: Sequence[str]) -> Iterator[str]:
    """Give the words without an option of one value: that value, or any."""
    at = 0
    while at < len(words):
        word = words[at]
        name, equals, value = word.partition("=")
        if name == option and equals:
            at += 1
            if values and value != values[0]:
                yield word
            continue
        following = words[at + 1] if at + 1 < len(words) else ""
        if word == option and (not values or following == values[0]):
            at += 2
            continue
        yield word
        at += 1


# --- promises -------------------------------------------------------------------------------------


class _Limits(NamedTuple):
    """How far beliefs about a secret may fall and rise; None on both sides: not said in lifts."""

    lower: Budget | None
    upper: Budget | None
    notion: Notion

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


def _limits_of(notion: Notion) -> _Limits:
    return _Limits(*notion.belief_limits(), notion)


def _guarded(column: ProtectedColumn) -> tuple[str, ...]:
    """Return what a column was protected so that it is not inferred: a column of the table."""
    if column.secret is not None:
        return (column.secret,)
    encoding = column.mechanism.encoding
    names = () if encoding is None else encoding.names
    return tuple(dict.fromkeys((column.name, *(name for name in names if name))))


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
    return number - _SURE * max(1, number) > upper


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
    kept: every row keeps lip(1) about "answer", in the 9 rows of this table
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
        about = said.setdefault(str(column.mechanism.notion), [])
        name = shown(column.name if column.secret is None else column.secret)
        if name not in about:
            about.append(name)
    return " and ".join(f"{notion} about {', '.join(names)}" for notion, names in said.items())


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
        yield from self._order_of_rows()
        yield from self._not_measured(rows)

    @cached_property
    def limits(self) -> dict[str, dict[str, _Limits]]:
        """What was promised about each secret, by the released column."""
        found: dict[str, dict[str, _Limits]] = {}
        for column in self.protection.columns:
            for secret in _guarded(column):
                found.setdefault(secret, {})[column.name] = _limits_of(column.mechanism.notion)
        return found

    def limits_for(self, secret: str, released: Sequence[str]) -> list[_Limits]:
        """Return the promises of released columns about a secret; of all, if these have none."""
        promised = self.limits.get(secret, {})
        own = [limits for name, limits in promised.items() if name in released]
        return own or list(promised.values())

    # --- secrets and columns ----------------------------------------------------------------------

    def _secrets_that_stay(self) -> Iterator[Finding]:
        for secret, promised in self.limits.items():
            if secret in self.protection.stays:
                limits = next(iter(promised.values()))
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
                )

    def _given_too_far(self, column: ProtectedColumn, secret: str, limits: _Limits) -> Finding:
        own = column.in_table
        assert own is not None
        leak = LeakRange(own.eps_lower, own.eps_upper)
        certain = getattr(own, "at_least", None)
        broken = certain is not None and _any_beyond(certain, limits)
        if column.learned:
            origin = "its counts were smoothed"
            remedy = Remedy("count without smoothing", (), (("--smooth",),), "smooth=0")
        else:
            option = "--prior" if column.secret is None else "--joint"
            origin = "its statistics were given"
            remedy = Remedy("count this table instead", (), ((option,),), "no context")
        return self._about_leak(
            "broken" if broken else "open",
            f"{origin}: by the table's own counts {shown(column.name)}",
            secret,
            (column.name,),
            (leak, certain),
            limits,
            (remedy,),
        )

    def _combined(self) -> Iterator[Finding]:
        """Look at what all released columns tell together."""
        columns = [column for column in self.protection.columns if not column.mechanism.per_user]
        if len(columns) < _SEVERAL:
            return
        seen = {leak.secret for leak in self.protection.combined}
        for leak in self.protection.combined:
            for name, notion in self.protection.limits_of(leak).items():
                if not leak.keeps(notion):
                    yield self._too_much_together(leak, name, notion)
                    break
        names = tuple(column.name for column in columns)
        for secret, promised in self.limits.items():
            if secret not in seen and promised.keys() & set(names):
                yield Finding(
                    "open",
                    f"what {_listed(names)} tell together about {shown(secret)} was not measured",
                    secret,
                    names,
                    remedies=self._together(),
                )

    def _too_much_together(self, leak: CombinedLeak, name: str, notion: Notion) -> Finding:
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
        alike = {(column.secret, str(column.mechanism.notion)) for column in columns}
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
        return (Remedy(words, ("--together",), files, "together=True"),)

    # --- rows -------------------------------------------------------------------------------------

    def _rows(self) -> Iterator[Finding]:
        """Look at what kept columns tell, alone and beside released ones; the fewest that do."""
        found: list[Finding] = []
        for leak in self.protection.kept:
            finding = self._kept(leak)
            if finding is not None:
                found.append(finding)
        for row in sorted(self.protection.rows_out, key=lambda row: len(row.kept)):
            finding = self._row(row)
            if finding is not None and not any(_explains(each, finding) for each in found):
                found.append(finding)
        worse = {(each.secret, each.columns) for each in found if each.kind == "broken"}
        for finding in found:
            if finding.kind == "broken" or (finding.secret, finding.columns) not in worse:
                yield finding

    def _kept(self, leak: KeptColumn) -> Finding | None:
        """Judge what a kept column tells alone; what chance would explain was left out of it."""
        told = LeakRange(leak.eps_lower, leak.eps_upper)
        found = [
            self._kept_against(leak, told, limits)
            for limits in self.limits_for(leak.secret, ())
            if _any_beyond(told, limits) or not limits.in_lifts
        ]
        return _worst(found)

    def _kept_against(self, leak: KeptColumn, told: LeakRange, limits: _Limits) -> Finding:
        rare = percent(leak.pooled)
        pooled = f" (rare values, in {rare} of the rows, taken together)" if leak.pooled else ""
        subject = f"{shown(leak.name)} alone{pooled}"
        drops = self._drops((leak.name,))
        if limits.in_lifts:
            return self._about_leak(
                "broken", subject, leak.secret, (leak.name,), (told, told), limits, drops
            )
        return self._not_in_lifts(subject, leak.secret, (leak.name,), told, limits)

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
        drops = self._drops(row.kept)
        nothing = LeakRange(0.0, 0.0)
        certified = row.values == 1  # what never changes tells nothing: the certificate decides
        measures = [
            (f"{what}, beyond what {beside} alone tells,", row.beyond, row.at_least),
            (what, row.population, row.population_at_least),
            (f"{beside} alone", row.alone, nothing),
        ]
        for subject, leak, least in measures:
            if not certified and _any_beyond(least, limits):
                return self._about_leak(
                    "broken", subject, row.secret, row.kept, (leak, least), limits, drops
                )
        for subject, leak, least in reversed(measures):
            if not certified and not _all_within(leak, limits):
                return self._about_leak(
                    "open", subject, row.secret, row.kept, (leak, least), limits, drops
                )
        if row.unbounded_share and not certified:
            return Finding(
                "open",
                f"{what}: in {percent(row.unbounded_share)} of the rows the values of {beside} "
                f"are too rare to bound what the row tells about {shown(row.secret)}",
                row.secret,
                row.kept,
                LeakRange(math.inf, math.inf),
                promised=limits.texts,
                remedies=drops,
            )
        return None

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
            f"{subject} {_moves(leak, (None, None), about)}, and {limits.notion} does not limit "
            "single beliefs",
            secret,
            columns,
            leak,
            remedies=self._drops(columns),
            excess=max(leak),
        )

    def _drops(self, names: Sequence[str]) -> tuple[Remedy, ...]:
        """Return the remedy that leaves kept columns out."""
        insisted = [name for name in names if name in self.protection.insisted]
        return (
            Remedy(
                f"leave {_listed(names)} out",
                tuple(word for name in names for word in ("--drop", name)),
                tuple(("--keep", name) for name in insisted),
                f"drop={list(names)!r}",
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
        measured = {(row.secret, *row.kept) for row in rows if len(row.kept) == 1}
        measured |= {(each.secret, name) for each in judged for name in each.columns}
        own = {each.name for each in self.protection.columns if each.mechanism.per_user}
        said = set()
        for name in self.protection.stays:
            missing = [
                secret
                for secret in self.limits
                if (secret, name) not in measured and secret not in (name, *own)
            ]
            if missing:
                said.add(name)
                yield Finding(
                    "open",
                    f"what {shown(name)} tells about {_listed(missing)} could not be measured"
                    f"{self._insisted(name)}",
                    missing[0],
                    (name,),
                    remedies=self._drops((name,)),
                )
        for sentence in self.protection.not_measured:
            if not any(repr(name) in sentence or shown(name) in sentence for name in said):
                yield Finding("open", sentence)

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
        words = f"{subject} {_moves(leak, limits.sides, about)}"
        if kind == "open" and least is not None:
            words += ", which may be chance"
        elif least is not None and least != leak:
            words += f", {_surely(least, limits)} beyond chance"
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


def _worst(found: Iterable[Finding]) -> Finding | None:
    return min(found, key=lambda each: (_ORDER.index(each.kind), -each.excess), default=None)


def _explains(one: Finding, other: Finding) -> bool:
    """Tell whether a finding of fewer columns says what one of more columns would say again."""
    if one.secret != other.secret or not set(one.columns) <= set(other.columns):
        return False
    return _ORDER.index(one.kind) <= _ORDER.index(other.kind)


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
    most = 4
    every = [shown(name) for name in names]
    if len(every) > most:
        return f"{', '.join(every[:most])} and {len(every) - most} more"
    if len(every) < _SEVERAL:
        return "".join(every)
    return f"{', '.join(every[:-1])} and {every[-1]}"


def _moves(
    leak: LeakRange, sides: tuple[Budget | None, Budget | None], about: str = "beliefs"
) -> str:
    """Say how far beliefs move on the sides that exceed their budgets; on both if none does."""
    far = [not _within(value, budget) for value, budget in zip(leak, sides, strict=True)]
    if not any(far):
        far = [True, True]
    parts = []
    for verb, value, said in zip(("lowers", "raises"), leak, far, strict=True):
        if said:
            parts.append(f"{verb} {'them' if parts else about} by {_up_to(value)}")
    return " and ".join(parts)


def _up_to(value: float) -> str:
    if math.isinf(value):
        return "any amount"
    return f"up to {round_up_text(Fraction(value))} nats"


def _surely(least: LeakRange, limits: _Limits) -> str:
    """Say how much of a leak is no chance, on the sides where that exceeds the budget."""
    values = [
        value
        for value, budget in zip(least, limits.sides, strict=True)
        if _beyond(value, budget)
    ]
    return f"at least {' and '.join(map(_at_least, values))}"


def _at_least(value: float) -> str:
    return "any amount" if math.isinf(value) else round_down_text(Fraction(value))


def _budgets(limits: _Limits) -> str:
    lower, upper = limits.texts
    if lower == upper:
        return str(lower)
    if lower is None or upper is None:
        return f"rises of {upper}" if lower is None else f"falls of {lower}"
    return f"falls of {lower}, rises of {upper}"
