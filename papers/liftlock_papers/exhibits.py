"""What a folder of results has to show: every figure with its result, and how the claims fared."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from liftlock_papers.catalogue import PAPERS
from liftlock_papers.figure import Figure, Finding, Paper, Statement, Verdict
from liftlock_papers.running import Result, code_of, read_result


@dataclass(frozen=True)
class Exhibit:
    """A figure, with its result if there is one."""

    figure: Figure
    result: Result | None
    drawn: bool = True
    """Whether its picture is there."""


@dataclass(frozen=True)
class Room:
    """A paper, with what there is of its figures."""

    paper: Paper
    exhibits: tuple[Exhibit, ...]

    @property
    def shown(self) -> list[tuple[Figure, Result]]:
        """The figures that have a result."""
        return [(each.figure, each.result) for each in self.exhibits if each.result is not None]

    @property
    def undrawn(self) -> frozenset[str]:
        """The keys of figures whose picture is missing."""
        return frozenset(each.figure.key for each in self.exhibits if not each.drawn)

    @property
    def missing(self) -> list[Figure]:
        """The figures that have none."""
        return [each.figure for each in self.exhibits if each.result is None]

    @functools.cached_property
    def stated(self) -> list[tuple[Statement, Finding]]:
        """The statements that no figure shows, judged now."""
        return [(each, each.judge()) for each in self.paper.statements]

    @property
    def claims(self) -> list[tuple[Figure | Statement, Finding]]:
        """Every claim of the paper: where it stands, and what was found."""
        found: list[tuple[Figure | Statement, Finding]] = [
            (figure, finding) for figure, result in self.shown for finding in result.findings
        ]
        return [*found, *self.stated]

    @property
    def verdicts(self) -> Counter[Verdict]:
        """How many claims of the paper hold, hold under a condition, or do not."""
        return verdicts(finding for _, finding in self.claims)


def verdicts(findings: Iterable[Finding]) -> Counter[Verdict]:
    """Count the verdicts of some findings."""
    return Counter(finding.verdict for finding in findings)


def counted_verdicts(found: Counter[Verdict]) -> str:
    """Write the counts; that of claims which cannot be reproduced only where there are some.

    >>> counted_verdicts(Counter({Verdict.CONFIRMED: 3, Verdict.REFUTED: 1}))
    '3 claims confirmed, 0 confirmed under a condition, 1 refuted'
    """
    first, *others = Verdict
    noun = "claim" if found[first] == 1 else "claims"
    texts = [f"{found[first]} {noun} {first.value}"]
    texts += [f"{found[v]} {v.value}" for v in others if found[v] or v is not Verdict.OPEN]
    return ", ".join(texts)


def rooms(folder: Path) -> list[Room]:
    """Read what a folder of results holds; one of another code is as good as none."""
    return [
        Room(paper, tuple(_exhibit(each, folder) for each in paper.figures)) for paper in PAPERS
    ]


def _exhibit(figure: Figure, folder: Path) -> Exhibit:
    drawn = (folder / f"{figure.key}.svg").exists()
    return Exhibit(figure, _current(figure, folder), drawn)


def _current(figure: Figure, folder: Path) -> Result | None:
    result = read_result(figure, folder)
    return result if result is not None and result.record["code"] == code_of(figure) else None
