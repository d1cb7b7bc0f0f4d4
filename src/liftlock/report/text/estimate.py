"""Estimates as text: numbers with their intervals, and how they were found."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from liftlock.estimate.question import COUNTS
from liftlock.estimate.result import Answer, Estimate
from liftlock.report.format import counted, grid_of, printable, shown

_MOST_ROWS = 40


def estimate_report(found: Estimate) -> RenderableType:
    """Return the answers, how they were found, and what to beware of."""
    counts = found.of in COUNTS
    grid = grid_of()
    grid.add_column({"sum": "asked", "mean": "asked", "profiles": "profile"}.get(found.of, "value"))
    grid.add_column("estimate", justify="right", no_wrap=True)
    grid.add_column(f"{100 * found.level:g} % interval", justify="right", no_wrap=True)
    if counts:
        grid.add_column("share", justify="right", no_wrap=True)
        grid.add_column("interval", justify="right", no_wrap=True)
    beside = found.beside
    if beside is not None:
        grid.add_column(beside.holds, justify="right")
    for place, answer in enumerate(found.answers[:_MOST_ROWS]):
        cells = [_number(found, answer.value), _interval(found, answer)]
        if counts:
            cells += [_percent(found, answer.value), _shares(found, answer)]
        if beside is not None:
            other = beside.answers[place]
            known = other.low is not None
            cells.append(_interval(found, other) if known else _number(found, other.value))
        grid.add_row(Text(shown(answer.name)), *cells)
    parts: list[RenderableType] = [
        Text(f"{counted(found.reports, 'report')}, {_about(found)}", style="bold"),
        Text(),
        grid,
    ]
    more = len(found.answers) - _MOST_ROWS
    parts += [Text(f"and {more:,} more; --json lists all", style="dim")] if more > 0 else []
    parts += [Text(), Text(f"by {found.method}: {printable(found.why)}")]
    parts += [Text(f"{found.interval} intervals: {found.promise}")] if found.promise else []
    parts += [Text(f"assumed: {printable(found.assumes)}")] if found.assumes else []
    parts += [Text(found.prior_test)] if found.prior_test else []
    parts += [Text(printable(remark), style="dim") for remark in found.remarks]
    parts += [Text(f"WARNING: {printable(text)}", style="bold red") for text in found.warnings]
    return Group(*parts)


def _about(found: Estimate) -> str:
    return (
        "about the people who reported"
        if found.about == "people"
        else "about the population that they are a sample of"
    )


def _number(found: Estimate, value: float) -> str:
    if found.of in COUNTS:
        return f"{value + 0.0:,.1f}"
    return f"{value:,.6g}"


def _interval(found: Estimate, answer: Answer) -> str:
    if answer.low is None or answer.high is None:
        return "-"
    return f"{_number(found, answer.low)} to {_number(found, answer.high)}"


def _percent(found: Estimate, value: float) -> str:
    return f"{100 * value / found.total:.2f} %" if found.total else "-"


def _shares(found: Estimate, answer: Answer) -> str:
    if answer.low is None or answer.high is None:
        return "-"
    return f"{_percent(found, answer.low)} to {_percent(found, answer.high)}"
