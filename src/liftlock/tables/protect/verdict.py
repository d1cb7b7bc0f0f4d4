"""A verdict on the table that goes out: what is against the promise, and what answers it."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from liftlock.notions.lift import LeakRange
from liftlock.report.format import counted

Level = Literal["kept", "conditional", "broken"]
Kind = Literal["broken", "open", "outside"]

WORDS: dict[Level, str] = {
    "kept": "kept",
    "conditional": "kept with conditions",
    "broken": "not kept",
}
"""How a level is said to people."""


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

    @property
    def changes(self) -> bool:
        """Whether it changes the command, and not the table."""
        return bool(self.add or self.remove)

    def excludes(self, other: Remedy) -> bool:
        """Tell whether one command cannot have both.

        >>> age, drop = Remedy("", ("--given", "age")), Remedy("", ("--drop", "age"))
        >>> person = Remedy("", ("--person", "name"))
        >>> age.excludes(drop), person.excludes(age), person.excludes(drop)
        (True, True, False)
        """
        mine, others = set(_pairs(self.add)), set(_pairs(other.add))
        return any(
            {one[0], two[0]} == {"--person", "--given"}
            or (one[0] == two[0] == "--person" and one != two)
            or ({one[0], two[0]} == {"--drop", "--given"} and one[1:] == two[1:])
            for one in mine
            for two in others
        )


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
        what = f"{self.promise}, in this table of {counted(self.rows, 'row')}"
        if self.level == "broken":
            return f"the rows that go out do not keep {what}"
        if self.proved:
            return f"every row that goes out keeps {what}"
        return f"as far as could be measured, the rows that go out keep {what}"

    @cached_property
    def decisive(self) -> tuple[Finding, ...]:
        """The findings that decide the level."""
        return tuple(each for each in self.findings if each.kind == self.findings[0].kind)

    def command_for(self, findings: Iterable[Finding] | None = None) -> str:
        """Return the command that answers findings by their first remedies; empty if none does.

        Without findings, those that decide the level.
        """
        chosen = [
            each for each in (self.decisive if findings is None else findings) if each.remedies
        ]
        # Findings with one remedy come first: the others can do without theirs.
        taken: dict[int, Remedy] = {}
        for place in sorted(range(len(chosen)), key=lambda place: len(chosen[place].remedies)):
            fits = (
                remedy
                for remedy in chosen[place].remedies
                if remedy.changes and not any(map(remedy.excludes, taken.values()))
            )
            if (remedy := next(fits, None)) is not None:
                taken[place] = remedy
        return self.command_with([taken[place] for place in sorted(taken)])

    def command_with(self, remedies: Iterable[Remedy]) -> str:
        """Return the command that was run, changed; empty if none was run or nothing changes."""
        every = list(remedies)
        if not self.command or not any(each.changes for each in every):
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


BUDGETS = (
    "--notion",
    "--epsilon",
    "--epsilon-lower",
    "--epsilon-upper",
    "--delta",
    "--form",
    "--budget",
)
"""The options that say what each column promises by itself."""

_VALUES = {"--budget": 2}
"""How many values options take, where that is not one."""


def _without(words: Sequence[str], option: str, values: Sequence[str]) -> Iterator[str]:
    """Give the words without an option: with one value, or with any."""
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
            at += 1 + _VALUES.get(option, 1)
            continue
        yield word
        at += 1
