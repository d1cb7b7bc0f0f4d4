"""Designed mechanisms, the list of designs, and comparisons of methods as text for a terminal."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.text import Text

from liftlock._solver.problem import Step
from liftlock.designs.base import LIFT_NOTIONS, PRIOR_KINDS, Design
from liftlock.designs.baselines import Baseline
from liftlock.designs.calibration import EPSILON
from liftlock.designs.comparison import Comparison, Curve, Point
from liftlock.exact.decimals import round_up_text
from liftlock.mechanism import Mechanism
from liftlock.report.format import amount, counted, grid_of, printable, title_of
from liftlock.report.text.audit import guarantee_lines
from liftlock.report.text.numbers import number_lines

if TYPE_CHECKING:
    from rich.table import Table as Grid

_FEW = 2
_HEADING = 44
"""The longest line of a heading over numbers that are short."""
_LEAK_DIGITS = 4
_BETWEEN = 2
"""Blanks between two columns of a table in the house style."""


def design_report(made: Mechanism, others: Sequence[Baseline]) -> RenderableType:
    """Return the certificate, what the mechanism is worth, and what it is compared with."""
    origin = made.origin
    assert origin is not None
    inputs, outputs = len(made.channel.inputs), made.channel.outputs_text
    title = title_of(origin.utility, origin.title)
    words = f"{title}: {amount(origin.objective)}"
    if origin.describe_gap():
        words += f", {origin.describe_gap()}"
    confidence = made.describe_confidence()
    parts: list[RenderableType] = [
        *guarantee_lines(made),
        *([Text(confidence)] if confidence else []),
        Text(),
        Text(words, style="bold"),
        Text(f"{counted(inputs, 'input')}, {outputs}; method: {origin.method}"),
    ]
    crowd = made.describe_crowd()
    parts += [Text(crowd)] if crowd else []
    parts += number_lines(made)
    parts += [Text(printable(remark), style="dim") for remark in origin.remarks]
    if others:
        parts += [Text(), _yardsticks(title, others)]
    return Group(*parts)


def explanation(steps: Sequence[Step]) -> RenderableType:
    """Return the two tables of the solver: what was taken, and why the rest was not."""
    grid = grid_of()
    grid.add_column("how it was solved", no_wrap=True)
    grid.add_column("", no_wrap=True)
    grid.add_column("what it did, or why not", overflow="fold")
    for step in steps:
        grid.add_row(
            f"{step.part} {step.name}",
            "taken" if step.taken else "",
            step.summary,
            style="" if step.taken else "dim",
        )
    return Group(Text(), grid)


def _yardsticks(title: str, others: Sequence[Baseline]) -> Grid:
    grid = grid_of()
    grid.add_column("compared with", no_wrap=True)
    grid.add_column(title, justify="right", max_width=_HEADING)
    grid.add_column("protects", overflow="fold")
    grid.add_column("LIP", justify="right", no_wrap=True)
    grid.add_column("LDP", justify="right", no_wrap=True)
    for other in others:
        leaks = leak_text(other.lip), leak_text(other.ldp)
        grid.add_row(other.name, amount(other.objective), other.guarantee, *leaks)
    return grid


def designs_table(designs: Mapping[str, Design]) -> Grid:
    """List the designs: what each does and promises, for which notions and contexts."""
    grid = grid_of()
    grid.add_column("method", no_wrap=True)
    grid.add_column("what it does")
    grid.add_column("what it promises")
    grid.add_column("notions", max_width=13)
    grid.add_column("contexts", max_width=10)
    for key, entry in designs.items():
        grid.add_row(
            key if entry.keeps else f"{key} *",
            entry.summary + (f" (needs {entry.needs})" if entry.needs and entry.keeps else ""),
            entry.promises,
            short_notions(entry.notions),
            "any" if set(entry.contexts) == set(PRIOR_KINDS) else ", ".join(entry.contexts),
        )
    return grid


def short_notions(notions: Sequence[str]) -> str:
    """List notions in a few words; the four kinds of limits on lifts go together.

    >>> short_notions(("lip", "alip", "eps_upper", "eps_lower", "ldp"))
    'lifts, ldp'
    """
    rest = [name for name in notions if name not in LIFT_NOTIONS]
    found = (
        ["lifts"] if set(LIFT_NOTIONS) <= set(notions) else [n for n in notions if n not in rest]
    )
    found += rest[:_FEW]
    return ", ".join(found) + (f" and {len(rest) - _FEW} more" if len(rest) > _FEW else "")


def design_page(entry: Design, options: Mapping[str, str]) -> Grid:
    """Show everything there is to know of one design."""
    grid = grid_of(header=False)
    grid.add_column("what", no_wrap=True, style="bold")
    grid.add_column("text", overflow="fold")
    rows = {
        "method": entry.key,
        "does": entry.summary,
        "promises": entry.promises,
        "budget": "kept" if entry.keeps else "NOT always kept: a published formula, for comparison",
        "needs": entry.needs,
        "utility": "optimised for" if entry.uses_utility else "measured only",
        "notions": ", ".join(entry.notions),
        "contexts": ", ".join(entry.contexts),
        "source": entry.source,
        "as published": f"for {', '.join(entry.published)}" if entry.published else "",
    }
    for name, text in rows.items():
        if text:
            grid.add_row(name, Text(text))
    for name, text in options.items():
        grid.add_row("option", Text(f"{name}: {text}" if text else name))
    return grid


def comparison_table(found: Comparison) -> RenderableType:
    """Return the utility of every method at every level, and what else each mechanism leaks."""
    levels = sorted({point.epsilon for curve in found.curves for point in curve.points})
    better = "more is better" if found.larger_is_better else "less is better"
    rows = [f"{level:.4g}" for level in levels]
    parts: list[RenderableType] = [
        Text(f"{title_of(found.utility, found.title)} ({better}), {found.context}"),
        Text(f"no release {amount(found.nothing)}, no noise {amount(found.truth)}"),
        Text(level_text(found)),
        *(
            [Text(f"the utility is that under {found.prior}, which is liftlock's choice")]
            if found.prior
            else []
        ),
        Text(),
        _Blocks(found.at, rows, _columns(found, levels, _cell)),
    ]
    for name, leak in _other_leaks(found).items():
        parts += [Text(), Text(f"{name} that these mechanisms have:"), Text()]
        parts.append(_Blocks(found.at, rows, _columns(found, levels, leak)))
    if any(point.over_set for curve in found.curves for point in curve.points):
        ends = _columns(found, levels, lambda _, point: str(point.over_set or "not known"))
        parts += [Text(), Text("the utility over the set of priors:"), Text()]
        parts.append(_Blocks(found.at, rows, ends))
    notes = []
    if any(_is_off(point) for curve in found.curves for point in curve.points):
        notes.append(f"in brackets what a mechanism truly leaks ({found.leaked})")
    if found.unreached:
        notes.append("none: no parameter was found that keeps the level")
    if not all(curve.keeps for curve in found.curves):
        notes.append("* published formula, which may exceed the budget it is given")
    parts += [Text(), *(Text(note, style="dim") for note in notes)] if notes else []
    return Group(*parts)


def level_text(found: Comparison) -> str:
    """Say what the mechanisms that stand side by side have in common.

    "at epsilon" is the budget that was asked for, which protects more in one notion than another.
    """
    if found.at == EPSILON:
        return f"every method was asked for the same epsilon (1 means {found.notion})"
    return f"every mechanism truly leaks no more than its row says (1 means {found.notion})"


_Write = Callable[[Curve, Point], str]


def _columns(
    found: Comparison, levels: Sequence[float], write: _Write
) -> list[tuple[str, list[str]]]:
    columns = []
    for curve in found.curves:
        points = {point.epsilon: point for point in curve.points}
        cells = [write(curve, points[e]) if e in points else "none" for e in levels]
        columns.append((heading(curve), cells))
    return columns


def _other_leaks(found: Comparison) -> dict[str, _Write]:
    """Return LIP and LDP as far as the levels do not say them; profiles have neither."""
    if found.graph is not None:
        return {}
    every: dict[str, tuple[str, _Write]] = {
        "lip": ("LIP", lambda _, point: leak_text(point.lip)),
        "ldp": ("LDP", lambda _, point: leak_text(point.ldp)),
    }
    return {name: write for key, (name, write) in every.items() if key != found.at}


@dataclass(frozen=True)
class _Blocks:
    """A table that goes on below itself where it is too wide: no number is cut in two."""

    first: str
    rows: Sequence[str]
    columns: Sequence[tuple[str, Sequence[str]]]

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        for place, block in enumerate(self._split(options.max_width)):
            if place:
                yield Text()
            grid = grid_of()
            grid.add_column(self.first, justify="right", no_wrap=True)
            for name, _cells in block:
                grid.add_column(name, justify="right", no_wrap=True)
            for row, name in enumerate(self.rows):
                grid.add_row(name, *(cells[row] for _, cells in block))
            yield grid

    def _split(self, width: int) -> list[list[tuple[str, Sequence[str]]]]:
        start = max(cell_len(text) for text in (self.first, *self.rows))
        blocks: list[list[tuple[str, Sequence[str]]]] = [[]]
        used = start
        for name, cells in self.columns:
            wide = _BETWEEN + max(cell_len(text) for text in (name, *cells))
            if blocks[-1] and used + wide > width:
                blocks.append([])
                used = start
            blocks[-1].append((name, cells))
            used += wide
        return blocks


def heading(curve: Curve) -> str:
    """Name a curve: its method, the notion if it is another, a star if it may break its budget."""
    key, _, form = curve.method.partition(":")
    name = f"{key} (LDP)" if form == "ldp" else key
    return name if curve.keeps else f"{name} *"


def _cell(_: Curve, point: Point) -> str:
    return amount(point.objective) + (f" ({leak_text(point.needed)})" if _is_off(point) else "")


def _is_off(point: Point) -> bool:
    """Tell whether a mechanism leaks something else than its level, as far as four digits show."""
    return leak_text(point.needed) != leak_text(point.epsilon)


def leak_text(nats: float | None) -> str:
    """Write what a mechanism leaks in four digits, never less than it is.

    >>> leak_text(1.69971), leak_text(2.0), leak_text(0.999999), leak_text(math.inf)
    ('1.7', '2', '1', 'infinite')
    """
    if nats is None:
        return ""
    return "infinite" if math.isinf(nats) else round_up_text(Fraction(nats), _LEAK_DIGITS)
