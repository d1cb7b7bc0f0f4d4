"""What a figure of a paper is: where its points come from, how they look, what they are to show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Literal

from liftlock.report.format import amount
from liftlock_papers.points import Point, Points

if TYPE_CHECKING:
    from liftlock_papers.setting import Setting

Colour = Literal["blue", "orange", "grey", "green", "purple", "teal", "red", "gold"]
"""Blue is what is certified (the optimum, if any), orange what was published, grey LDP."""
Line = Literal["solid", "dashed", "dotted", "dashdot", "none"]
Marker = Literal["", "o", "s", "^", "v", "D", "x", "+"]
Kind = Literal["line", "steps", "area", "bars"]


class Verdict(Enum):
    """Whether a claim of a paper holds.

    What a paper states in general (a guarantee, a bound, a theorem) is refuted by one
    counterexample within what it allows; the reason names the condition under which it holds. What
    it sees in its curves is judged point by point. What hangs on data that are not at hand, or on
    choices that the paper does not state, is neither.
    """

    CONFIRMED = "confirmed"
    CONDITION = "confirmed under a condition"
    REFUTED = "refuted"
    OPEN = "not reproducible"

    @classmethod
    def of(cls, truths: bool | Iterable[bool]) -> Verdict:
        """Confirm what holds everywhere, refute what holds nowhere; else there is a condition.

        >>> Verdict.of(2 > 1).value, Verdict.of([True, False]).value
        ('confirmed', 'confirmed under a condition')
        """
        every = [bool(truth) for truth in (truths if isinstance(truths, Iterable) else [truths])]
        if not every:
            raise ValueError("nothing to judge by: a claim about no points is not confirmed")
        if all(every):
            return cls.CONFIRMED
        return cls.CONDITION if any(every) else cls.REFUTED


def sentence(text: str, end: str = "") -> str:
    """Begin a text with a capital, unless it begins with a letter of the mathematics.

    >>> sentence("the error falls", "."), sentence("k-ary response"), sentence("η falls")
    ('The error falls.', 'k-ary response', 'η falls')
    """
    first = text[:2]
    if first.isascii() and first.islower() and first.isalpha():
        text = text[0].upper() + text[1:]
    return text + end if end and text and not text.endswith((end, "…", ":")) else text


@dataclass(frozen=True)
class Finding:
    """A claim of a paper, and what was found."""

    claim: str
    """What the paper says, in our words."""
    verdict: Verdict
    ours: str
    """Our numbers."""
    why: str = ""
    """The condition, or what is wrong; needed unless the claim is confirmed."""
    timed: bool = False
    """Whether it is about measured times, which differ between machines and runs."""


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    key: str
    x: str
    """The label of the axis, with its unit."""
    y: str
    title: str = ""
    x_scale: Literal["linear", "log"] = "linear"
    y_scale: Literal["linear", "log"] = "linear"
    x_limits: tuple[float, float] | None = None
    y_limits: tuple[float | None, float | None] | None = None
    ticks: Mapping[float, str] = field(default_factory=dict)
    """Names along the x axis, where it has no numbers."""
    mark: float | None = None
    """A thin upright line, as the paper draws one."""


@dataclass(frozen=True)
class Curve:
    """How a curve looks, in every panel that has it."""

    name: str
    colour: Colour
    line: Line = "solid"
    marker: Marker = ""
    width: float = 1.6
    kind: Kind = "line"
    label: str | None = None
    """The text in the legend: the name, unless it is given; empty for none."""
    shade: float = 0.0
    """How far its colour fades into the page, from 0 to 1: for many curves in an order."""


@dataclass(frozen=True)
class Stated:
    """A number that the text of a paper states, and how near ours must come."""

    panel: str
    curve: str
    x: float
    number: float
    tolerance: float
    where: str
    """Where the paper says so."""
    what: str
    """What the number is."""

    def finding(self, points: Points) -> Finding:
        """Compare with what was computed."""
        ours = points.at(self.panel, self.curve, self.x)
        near = abs(ours - self.number) <= self.tolerance
        return Finding(
            claim=f"{self.what} is {self.number:g} ({self.where})",
            verdict=Verdict.of(near),
            ours=amount(ours, 4),
            why="" if near else f"further away than {self.tolerance:g}",
        )


@dataclass(frozen=True)
class Figure:
    """A figure or a table of a paper."""

    key: str
    """Such as 002-fig4."""
    name: str
    """As the paper calls it."""
    title: str
    says: str
    """What the paper says about it, in our words."""
    compute: Callable[[Setting], Iterable[Point]]
    judge: Callable[[Points], Sequence[Finding]]
    panels: tuple[Panel, ...]
    curves: tuple[Curve, ...]
    needs: tuple[str, ...] = ()
    """The data sets it is computed from, by their keys in `liftlock_papers.data`."""
    notes: str = ""
    """What the paper leaves open and how it was read; where the data differ."""
    leaks: str = "true leakage, nats"
    """What the numbers beside rings are: in the unit of the budget."""
    columns: int = 3
    """How many panels stand side by side."""
    stated: tuple[Stated, ...] = ()
    """Numbers from the paper's text."""

    def findings(self, points: Points) -> tuple[Finding, ...]:
        """Return all claims about the figure, with what was found."""
        return (*(number.finding(points) for number in self.stated), *self.judge(points))


@dataclass(frozen=True)
class Statement:
    """A theorem or a formula that no figure shows, judged by computing it on the spot."""

    key: str
    """Such as 001-thm2."""
    name: str
    """Where it stands."""
    judge: Callable[[], Finding]


@dataclass(frozen=True)
class Paper:
    """A paper, with its figures in order, and statements that none of them shows."""

    key: str
    title: str
    figures: tuple[Figure, ...]
    statements: tuple[Statement, ...] = ()
