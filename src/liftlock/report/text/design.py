"""Designed mechanisms, the list of designs, and comparisons of methods as text for a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.text import Text

from liftlock._solver.problem import Step
from liftlock.designs.base import LIFT_NOTIONS, PRIOR_KINDS, Design
from liftlock.designs.baselines import Baseline
from liftlock.designs.comparison import Comparison, Curve, Point
from liftlock.mechanism import Mechanism
from liftlock.report.format import amount, counted, grid_of, printable, title_of
from liftlock.report.text.audit import certificate_lines
from liftlock.report.text.numbers import number_lines

if TYPE_CHECKING:
    from rich.table import Table as Grid

_FEW = 2
_HEADING = 44
"""The longest line of a heading over numbers that are short."""
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
        certificate_lines(made.certificate),
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
    for other in others:
        grid.add_row(other.name, amount(other.objective), other.guarantee)
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
    }
    for name, text in rows.items():
        if text:
            grid.add_row(name, Text(text))
    for name, text in options.items():
        grid.add_row("option", Text(f"{name}: {text}" if text else name))
    return grid


def comparison_table(found: Comparison) -> RenderableType:
    """Return the utility of every method at every budget; published ones with their true budget."""
    epsilons = sorted({point.epsilon for curve in found.curves for point in curve.points})
    better = "more is better" if found.larger_is_better else "less is better"
    columns = [
        (heading(curve), [_cell(curve, epsilon) for epsilon in epsilons]) for curve in found.curves
    ]
    parts: list[RenderableType] = [
        Text(f"{title_of(found.utility, found.title)} ({better}), {found.context}"),
        Text(
            f"no release {amount(found.nothing)}, no noise {amount(found.truth)}; "
            f"an epsilon of 1 means {found.notion}"
        ),
        Text(),
        _Blocks("epsilon", [f"{epsilon:.4g}" for epsilon in epsilons], columns),
    ]
    if not all(curve.keeps for curve in found.curves):
        parts += [
            Text(),
            Text("* published formula; in brackets the budget it actually needs", style="dim"),
        ]
    return Group(*parts)


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


def _cell(curve: Curve, epsilon: float) -> str:
    point = next((p for p in curve.points if p.epsilon == epsilon), None)
    if point is None:
        return ""
    return amount(point.objective) + ("" if curve.keeps else f" ({needed_text(point)})")


def needed_text(point: Point) -> str:
    """Write the budget that a mechanism truly needs."""
    return "infinite" if math.isinf(point.needed) else f"{point.needed:.4g}"
