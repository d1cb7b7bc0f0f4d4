"""Designed mechanisms, the list of designs, and comparisons of methods as text for a terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from liftlock.comparison import Comparison, Curve, Point, Yardstick
from liftlock.designs.registry import ALL_KINDS, LIFT_NOTIONS, Design
from liftlock.designs.solver.oracle import Progress
from liftlock.mechanism import Mechanism
from liftlock.report.labels import printable
from liftlock.report.released import number_lines
from liftlock.report.text import certificate_lines, grid_of

if TYPE_CHECKING:
    from rich.table import Table as Grid

_FEW = 2


def design_report(made: Mechanism, others: Sequence[Yardstick]) -> RenderableType:
    """Return the certificate, what the mechanism is worth, and what it is compared with."""
    origin = made.origin
    assert origin is not None
    inputs, outputs = len(made.channel.inputs), made.channel.outputs_text
    words = f"{origin.title}: {origin.objective:.10g}"
    if origin.closeness():
        words += f", {origin.closeness()}"
    parts: list[RenderableType] = [
        certificate_lines(made.certificate),
        Text(),
        Text(words, style="bold"),
        Text(f"{_count(inputs, 'input')}, {outputs}; made by {origin.method}"),
    ]
    crowd = made.crowd()
    parts += [Text(crowd)] if crowd else []
    parts += number_lines(made)
    parts += [Text(printable(remark), style="dim") for remark in origin.remarks]
    return Group(*parts, Text(), _yardsticks(origin.title, others))


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _yardsticks(title: str, others: Sequence[Yardstick]) -> Grid:
    grid = grid_of()
    grid.add_column("compared with", no_wrap=True)
    grid.add_column(title, justify="right")
    grid.add_column("protects", overflow="fold")
    for other in others:
        grid.add_row(other.name, _worth(other.objective), other.guarantee)
    return grid


def _worth(objective: float) -> str:
    """Write a utility; those of salaries are large, and nobody reads their sixth decimal.

    >>> _worth(0.3287611726), _worth(66154321.123), _worth(1234.5)
    ('0.328761', '66,154,321', '1,234.50')
    """
    if abs(objective) < 100:
        return f"{objective:.6f}"
    return f"{objective:,.0f}" if abs(objective) >= 1e5 else f"{objective:,.2f}"


def progress_text(state: Progress) -> str:
    """Say where a search stands."""
    if not state.columns:
        return state.stage
    return (
        f"{state.stage}, gap {state.gap:.2g}, bound {state.bound:.6g}, "
        f"{state.columns:,} candidates, {state.seconds:.0f} s"
    )


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
            entry.says + (f" (needs {entry.needs})" if entry.needs and entry.keeps else ""),
            entry.promises,
            short_notions(entry.notions),
            "any" if set(entry.contexts) == set(ALL_KINDS) else ", ".join(entry.contexts),
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
        "does": entry.says,
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
    grid = grid_of()
    grid.add_column("epsilon", justify="right", no_wrap=True)
    for curve in found.curves:
        grid.add_column(heading(curve), justify="right", overflow="fold")
    for epsilon in epsilons:
        cells = [_cell(curve, epsilon) for curve in found.curves]
        grid.add_row(f"{epsilon:.4g}", *cells)
    parts: list[RenderableType] = [
        Text(f"{found.title} ({better}), {found.context}"),
        Text(
            f"no release {found.nothing:.6g}, no noise {found.truth:.6g}; "
            f"an epsilon of 1 means {found.notion}"
        ),
        Text(),
        grid,
    ]
    if not all(curve.keeps for curve in found.curves):
        parts += [
            Text(),
            Text("* published formula; in brackets the budget that it truly needs", style="dim"),
        ]
    return Group(*parts)


def heading(curve: Curve) -> str:
    """Name a curve: its method, the notion if it is another, a star if it may break its budget."""
    key, _, form = curve.method.partition(":")
    name = f"{key} (LDP)" if form == "ldp" else key
    return name if curve.keeps else f"{name} *"


def _cell(curve: Curve, epsilon: float) -> str:
    point = next((p for p in curve.points if p.epsilon == epsilon), None)
    if point is None:
        return ""
    return _worth(point.objective) + ("" if curve.keeps else f" ({needed_text(point)})")


def needed_text(point: Point) -> str:
    """Write the budget that a mechanism truly needs."""
    return "infinite" if math.isinf(point.needed) else f"{point.needed:.4g}"
