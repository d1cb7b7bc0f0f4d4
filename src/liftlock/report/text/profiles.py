"""Mechanisms for profiles and audits of graphs as text for a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from liftlock.designs.baselines import ProfileBaseline
from liftlock.designs.comparison import Comparison
from liftlock.errors import InputError
from liftlock.exact.enclosure import Enclosure
from liftlock.mechanism import Mechanism
from liftlock.model import ProfileGraph
from liftlock.model.alphabet import Label
from liftlock.notions.audit import ProfileAudit
from liftlock.notions.measurement import Measurement
from liftlock.notions.profile import EdgeLoss, worst_edge
from liftlock.report.format import (
    amount,
    counted,
    grid_of,
    loss_text,
    printable,
    several,
    shown,
    shown_pair,
    title_of,
)
from liftlock.report.text.audit import WIDE, certificate_lines, exact_text
from liftlock.utility.profile_utility import ProfileErrors, profile_errors

if TYPE_CHECKING:
    from rich.table import Table as Grid

MOST_ROWS = 20
"""Longer tables are cut, and say by how much."""

_DECIMALS = 6
_CRUMB = 1e-12
_NAME = 24
_NUMBER = 10
"""The cells that the longest number takes."""
_NOT_COVERED = (
    "the same observation released twice: losses do not add up then, and may have no bound",
    "values that come from another distribution than the profile says",
)
_NOT_JOINED = (
    "profiles that no edge joins: k steps apart they may differ by k times the budget, and without "
    "a path by anything"
)


def profile_report(made: Mechanism, rows: Sequence[ProfileBaseline] = ()) -> RenderableType:
    """Return the certificate, what each profile gets, what it costs, and what else there is."""
    audit = made.audit()
    assert isinstance(audit, ProfileAudit)
    graph = audit.graph
    parts: list[RenderableType] = [
        certificate_lines(made.certificate),
        Text(),
        Text(printable(audit.worst_case()), style="bold"),
    ]
    origin = made.origin
    if origin is not None:
        words = f"{title_of(origin.utility, origin.title)}: {amount(origin.objective)}"
        words += f", {origin.describe_gap()}" if origin.describe_gap() else ""
        parts.append(Text(words, style="bold"))
    own = graph.uses_profile(made.channel.inputs)
    whose = "one matrix for each profile" if own else "one matrix for all profiles"
    about = f"{counted(len(graph), 'profile')}, {made.channel.outputs_text}; {whose}"
    parts.append(Text(about if origin is None else f"{about}; method: {origin.method}"))
    if origin is not None:
        parts += [Text(printable(remark), style="dim") for remark in origin.remarks]
    found = _errors(made, graph)
    parts += [Text(), *_profiles(audit, found)]
    if found is None:
        parts.append(
            Text("its outputs are not the values, so errors are not measured", style="dim")
        )
    else:
        parts += [Text(), *_costs(found)]
    if rows:
        title = "" if origin is None else title_of(origin.utility, origin.title)
        parts += [Text(), *_comparison(rows, title)]
    parts += [Text(), Text("The guarantee does not cover")]
    parts += [Text(f"- {line}") for line in _NOT_COVERED]
    if len(graph.edges) < len(graph) * (len(graph) - 1) // 2:
        parts.append(Text(f"- {_NOT_JOINED}"))
    return Group(*parts)


def unprotected_text(pairs: Sequence[Label]) -> str:
    """Say how many pairs (profile, value) have no guarantee.

    >>> unprotected_text([("ann", "idle")])
    '1 pair (profile, value) of probability 0 is not protected'
    """
    verb = "is" if len(pairs) == 1 else "are"
    return f"{counted(len(pairs), 'pair')} (profile, value) of probability 0 {verb} not protected"


def _pairs(pairs: Sequence[Label], most: int = 5) -> str:
    listed = ", ".join(shown_pair(pair) for pair in pairs[:most])
    return listed if len(pairs) <= most else f"{listed} and {len(pairs) - most:,} more"


def _errors(made: Mechanism, graph: ProfileGraph) -> ProfileErrors | None:
    try:
        return profile_errors(made.table, graph)
    except InputError:
        return None


def _add_numbers(grid: Grid, header: str, max_width: int | None = None) -> None:
    """Add a column of numbers; where room is scarce its header is wrapped, and no number is."""
    least = max(_NUMBER, *(len(word) for word in header.split()))
    grid.add_column(header, justify="right", min_width=least, max_width=max_width)


def _nats(loss: Enclosure) -> str:
    """Write a loss so that it can be promised."""
    return "infinite" if loss.is_infinite else loss_text(loss, digits=_DECIMALS)


def _share(number: float) -> str:
    """Write a probability; what rounding leaves over is nothing."""
    return amount(number if number > _CRUMB else 0.0, 4)


def _more(left: int, noun: str) -> list[RenderableType]:
    return [Text(f"and {counted(left, noun)} more", style="dim")] if left > 0 else []


def _profiles(audit: ProfileAudit, found: ProfileErrors | None) -> list[RenderableType]:
    """List the profiles: how often a value is changed, and the costliest edge of each."""
    graph = audit.graph
    edges: dict[Label, list[EdgeLoss]] = {name: [] for name in graph.profiles.labels}
    for edge in audit.edges:
        edges[edge.more].append(edge)
        edges[edge.less].append(edge)
    places = list(range(len(graph)))
    if len(places) > MOST_ROWS:
        # Of many, those that pay most.
        paid = [0.0] * len(graph) if found is None else found.wrong.tolist()
        places.sort(key=lambda place: (-round(paid[place], 12), place))
    grid = grid_of()
    grid.add_column("profile", no_wrap=True)
    if found is not None:
        _add_numbers(grid, "chance of a wrong value")
    _add_numbers(grid, "largest loss of its edges")
    grid.add_column("against", overflow="fold")
    for place in places[:MOST_ROWS]:
        name = graph.profiles.labels[place]
        worst = worst_edge(tuple(edges[name]))
        chance = [] if found is None else [_share(float(found.wrong[place]))]
        against = ""
        if worst is not None:
            against = shown(worst.less if worst.more == name else worst.more, _NAME)
        grid.add_row(
            Text(shown(name, _NAME)),
            *chance,
            "no edge" if worst is None else _nats(worst.nats),
            Text(against),
            style="dim" if worst is None else None,
        )
    left = len(places) - MOST_ROWS
    if left > 0 and found is not None:
        said = f"and {counted(left, 'profile')} more, none changed more often"
        return [grid, Text(said, style="dim")]
    return [grid, *_more(left, "profile")]


def _costs(found: ProfileErrors) -> list[RenderableType]:
    """List by how much the frequency of each value is off, at worst over the profiles."""
    order = list(range(len(found.values)))
    if len(order) > MOST_ROWS:
        order.sort(key=lambda value: (-found.marginal[value], value))
    grid = grid_of()
    grid.add_column("value", no_wrap=True)
    _add_numbers(grid, "largest error of its frequency over the profiles")
    for value in order[:MOST_ROWS]:
        error = _share(float(found.marginal[value]))
        grid.add_row(Text(shown(found.values[value], _NAME)), error)
    return [grid, *_more(len(order) - MOST_ROWS, "value")]


def _comparison(rows: Sequence[ProfileBaseline], title: str) -> list[RenderableType]:
    """List every design that fits, the best first."""
    grid = grid_of()
    grid.add_column("compared with", no_wrap=True)
    _add_numbers(grid, title or "aim", max_width=24)
    _add_numbers(grid, "mean wrong")
    grid.add_column("loss", justify="right", no_wrap=True)
    grid.add_column("the profile is", min_width=len("profile"))
    failed = []
    for row in rows:
        if row.objective is None or row.mean_wrong is None or row.loss is None:
            failed.append(row)
            continue
        grid.add_row(
            row.name,
            amount(row.objective),
            _share(row.mean_wrong),
            _nats(row.loss)
            + (" *" if row.unprotected else "")
            + ("" if row.certified else " (over)"),
            "used" if row.uses_profile else "ignored",
            style=None if row.certified else "red",
        )
    said: list[RenderableType] = [grid]
    if any(row.unprotected for row in rows):
        note = "* not for values that occur although their profile calls them impossible"
        said.append(Text(note, style="dim"))
    said += [Text(printable(f"{row.name}: {row.reason}"), style="dim") for row in failed]
    return said


def profile_audit_report(audit: ProfileAudit, width: int = WIDE) -> RenderableType:
    """Return the audit of a graph: the worst case in words, then the edges, worst first."""
    graph = audit.graph
    whose = (
        "uses the profile" if graph.uses_profile(audit.channel.inputs) else "ignores the profile"
    )
    parts: list[RenderableType] = [
        Text(f"{audit.channel.outputs_text}, {whose}; {graph.describe()}"),
        Text(),
        Text(printable(audit.worst_case()), style="bold"),
    ]
    if audit.edges:
        parts += [Text(), *_edges(audit, width)]
    if graph.isolated:
        parts.append(Text(f"No edge, no promise: {several(graph.isolated, 5)}."))
    if audit.unprotected:
        parts.append(
            Text(
                "NOT protected (probability 0, but would give away more than any edge): "
                f"{_pairs(audit.unprotected)}",
                style="bold red",
            )
        )
    parts.append(
        Text(
            f"channel {audit.channel.fingerprint[:16]}, context {graph.fingerprint[:16]}",
            style="dim",
        )
    )
    return Group(*parts)


def _edges(audit: ProfileAudit, width: int) -> list[RenderableType]:
    wide = width >= WIDE
    # Exact ratios decide which edge is worse; None is infinite.
    order = sorted(
        range(len(audit.edges)),
        key=lambda k: (audit.edges[k].ratio is not None, -(audit.edges[k].ratio or 0), k),
    )
    drawn = [audit.edges[k] for k in order[:MOST_ROWS]]
    exactly = [exact_text(Measurement.of_ratio("profile", edge.ratio, None)) for edge in drawn]
    # Long fractions are only counted, which says nothing by itself.
    wide = wide and any(text and "(" not in text for text in exactly)
    grid = grid_of()
    grid.add_column("edge: more likely, less likely", overflow="fold")
    grid.add_column("loss in nats", justify="right", no_wrap=True)
    if wide:
        grid.add_column("exactly", no_wrap=True)
    grid.add_column("seeing", overflow="fold")
    for edge, text in zip(drawn, exactly, strict=True):
        grid.add_row(
            Text(f"{shown(edge.more, _NAME)}, {shown(edge.less, _NAME)}"),
            _nats(edge.nats),
            *([text] if wide else []),
            Text("nothing" if edge.output is None else shown(edge.output, _NAME)),
            style="red" if edge.ratio is None else None,
        )
    left = len(order) - MOST_ROWS
    if left <= 0:
        return [grid]
    next_worst = _nats(audit.edges[order[MOST_ROWS]].nats)
    return [grid, Text(f"and {counted(left, 'edge')} more, none above {next_worst}", style="dim")]


def released_table(found: Comparison) -> Grid:
    """Return how often values are turned into wrong ones, for every method and budget."""
    grid = grid_of(f"{found.context}: probability of releasing a wrong value")
    grid.add_column("method", no_wrap=True)
    for name in ("epsilon", "largest chance of one wrong value", "mean chance", "loss in nats"):
        grid.add_column(name, justify="right")
    for curve in found.curves:
        for place, point in enumerate(curve.points):
            assert point.errors is not None
            grid.add_row(
                curve.method if place == 0 else "",
                f"{point.epsilon:g}",
                f"{point.errors.largest:.4f}",
                f"{point.errors.mean_wrong:.4f}",
                f"{math.ceil(point.needed * 1e6) / 1e6:.6f}",  # never below the truth
            )
    return grid
