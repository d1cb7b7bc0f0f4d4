"""What a row of the released table tells, and the verdict on it, as finished words and numbers."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from liftlock.exact import enclosure
from liftlock.exact.decimals import GLUE, fold_text, round_down_text, round_up_text
from liftlock.report.format import counted, percent
from liftlock.report.html.markup import Content, Markup, listed, markup, named, tag

if TYPE_CHECKING:
    from liftlock.notions.lift import LeakRange
    from liftlock.tables.protect.result import Protection, RowLeak
    from liftlock.tables.protect.verdict import Finding, Verdict

Rows = list[list[Content]]

_SMALLEST = Fraction(1, 10**5)
"""A smaller share is nothing, for all that there is room to say."""
_MOST_FINDINGS = 24
_MOST_ROWS = 24
_KINDS = {
    "broken": "Certainly more than promised.",
    "open": "Not excluded.",
    "outside": "Not part of the promise.",
}


# --- the verdict ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class VerdictView:
    """The verdict, what is against the promise, and what answers it."""

    verdict: Verdict

    @property
    def level(self) -> str:
        """The level, as a word of the style sheet."""
        return self.verdict.level

    @property
    def words(self) -> str:
        """The level in words."""
        return self.verdict.words.capitalize()

    @property
    def sentence(self) -> str:
        """The verdict in one sentence."""
        return _sentence(self.verdict.sentence)

    @property
    def worst(self) -> str:
        """The worst finding; empty if there is none."""
        found = self.verdict.findings
        return _sentence(found[0].sentence) if found else ""

    @property
    def number(self) -> str:
        """How many findings there are."""
        return counted(len(self.verdict.findings), "finding")

    @property
    def left_out(self) -> int:
        """How many findings are not listed."""
        return max(0, len(self.verdict.findings) - _MOST_FINDINGS)

    @property
    def findings(self) -> list[FindingView]:
        """The findings, the worst first."""
        return [FindingView(self.verdict, each) for each in self.verdict.findings[:_MOST_FINDINGS]]

    @property
    def command(self) -> Markup | None:
        """What to run to answer all that decides the level; None if it is in the findings."""
        several = sum(bool(each.remedies) for each in self.verdict.decisive) > 1
        return _command(self.verdict.command_for()) if several else None

    def remedy_for(self, columns: Sequence[str]) -> Markup | None:
        """Return the command that answers what is found of these columns; None if there is none."""
        chosen = [
            each for each in self.verdict.findings if each.columns and {*each.columns} <= {*columns}
        ]
        return _command(self.verdict.command_for(chosen))


@dataclass(frozen=True)
class FindingView:
    """One finding, with its remedies."""

    verdict: Verdict
    finding: Finding

    @property
    def kind(self) -> str:
        """What kind it is, as a word of the style sheet."""
        return self.finding.kind

    @property
    def title(self) -> str:
        """What kind it is, in words."""
        return _KINDS[self.finding.kind]

    @property
    def sentence(self) -> str:
        """What was found."""
        return _sentence(self.finding.sentence)

    @property
    def remedies(self) -> list[Markup]:
        """What answers it, each with the command to run, or the argument in Python."""
        found = []
        for each in self.finding.remedies:
            command = _command(self.verdict.command_with([each]))
            if command is None and each.python and not self.verdict.command:
                command = markup("in Python ", tag("code", each.python))
            words = each.words[:1].upper() + each.words[1:]
            found.append(markup(words, ": ", command) if command else markup(words, "."))
        return found


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _command(text: str) -> Markup | None:
    """Write a command so that lines break between its words, not at their hyphens."""
    words = (tag("span", shlex.quote(word)) for word in shlex.split(text))
    return tag("code", Markup(" ").join(words), class_="command") if text else None


# --- what a row tells -----------------------------------------------------------------------------


@dataclass(frozen=True)
class RowsView:
    """What released columns and kept ones beside them tell about one secret."""

    secret: str
    released: tuple[str, ...]
    leaks: tuple[RowLeak, ...]

    @classmethod
    def of(cls, protection: Protection) -> list[RowsView]:
        """Return one for each secret and released columns, in their order."""
        found: dict[tuple[str, tuple[str, ...]], list[RowLeak]] = {}
        for leak in protection.rows_out:
            found.setdefault((leak.secret, leak.released), []).append(leak)
        return [cls(*key, tuple(leaks)) for key, leaks in found.items()]

    @property
    def caption(self) -> Markup:
        """What the table is about."""
        more = len(self.leaks) - _MOST_ROWS
        return markup(
            "What the released ",
            listed(self.released),
            " and kept columns beside it tell about ",
            named(self.secret),
            f"; the {_MOST_ROWS} lines that tell most of {len(self.leaks)}" if more > 0 else None,
            ". ↑ is the largest factor of a probability, ↓ the smallest share of it that is left",
        )

    @property
    def rows(self) -> Rows:
        """A row for each set of kept columns."""
        chosen = set(sorted(self.leaks, key=_size, reverse=True)[:_MOST_ROWS])
        return [
            [
                _kept(leak),
                _moved(leak.alone),
                _moved(leak.population),
                _moved(leak.beyond),
                _surely(leak.at_least),
                _bounded(leak),
            ]
            for leak in self.leaks
            if leak in chosen
        ]

    @property
    def banded(self) -> list[str]:
        """The kept columns that were measured in bands."""
        return list(dict.fromkeys(name for leak in self.leaks for name in leak.banded))


def _size(leak: RowLeak) -> tuple[float, float]:
    return max(leak.at_least), max(leak.beyond)


def _kept(leak: RowLeak) -> Markup:
    """Name kept columns, and say what is special about their cells."""
    notes = [counted(leak.values, "value" if len(leak.kept) == 1 else "combination")]
    if leak.banded:
        notes.append("in bands")
    worst = leak.witness
    at: Content = None
    if worst is not None:
        cells = ", ".join(map(str, (*worst.kept, *worst.released)))
        at = markup(
            tag("br"), tag("small", "most: ", named(worst.secret, 40), " at ", named(cells))
        )
    return markup(listed(leak.kept), tag("br"), tag("small", "; ".join(notes)), at)


def _moved(leak: LeakRange) -> Content:
    """Say how far beliefs rise and fall, never less than they do."""
    if not any(leak):
        return "nothing"
    rise = None if math.isinf(leak.eps_upper) else _factor(leak.eps_upper, up=True)
    share = Fraction(0) if math.isinf(leak.eps_lower) else 1 / _factor(leak.eps_lower, up=True)
    left = round_down_text(100 * share) if share >= _SMALLEST else "0"
    return _both(fold_text(rise), f"{left}{GLUE}%")


def _surely(leak: LeakRange) -> Content:
    """Say how far beliefs move beyond chance, never more than that."""
    if not any(leak):
        return "nothing beyond chance"
    rise, left = "without limit", Fraction(0)
    if math.isfinite(leak.eps_upper):
        rise = f"{round_down_text(_factor(leak.eps_upper, up=False))}-fold"
    if math.isfinite(leak.eps_lower):
        left = 100 / _factor(leak.eps_lower, up=False)
    return _both(rise, f"{round_up_text(left)}{GLUE}%")


def _bounded(leak: RowLeak) -> Content:
    """Say what people like these may learn at most, or that rows are too few to say."""
    share = leak.unbounded_share
    if not share:
        return _moved(leak.at_most)
    rare = f"unbounded for {percent(share)} of the rows"
    return markup(tag("strong", rare))


def _both(rise: str, left: str) -> Markup:
    # Arrows, as there are many of them; the head of the table says what they are.
    lines = (tag("span", words, class_="whole") for words in (f"↑ {rise}", f"↓ {left}"))
    # On a narrow page they share a line, with the blank between them.
    return markup(markup(tag("br"), " ").join(lines))


def _factor(nats: float, *, up: bool) -> Fraction:
    """Return a factor that is not smaller, or not larger, than e to this power."""
    value = enclosure.exp(Fraction(nats))
    if not up:
        return value.lower
    assert value.upper is not None
    return value.upper
