"""The sheet on which a graph of profiles is drawn: what goes where, and what is said about it."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from liftlock.contexts import ProfileGraph
from liftlock.exact.enclosure import Enclosure
from liftlock.exact.integers import Floats
from liftlock.notions.audit import ProfileAudit
from liftlock.report.format import shown, told_apart
from liftlock.report.pictures import HIGHEST, WIDEST
from liftlock.report.profile_layout import cleared, layout, overlapping, packed, parted

MOST_CHARTS, MOST_NAMES, MOST_NUMBERS = 24, 60, 60
"""Up to so many profiles have a chart, or a name; up to so many edges have their number."""

# Inches.
MARGIN, LINE = 0.22, 0.17
CHART, NAME = 0.42, 0.17
CELL = 0.075
"""The width of a character of a name."""
_BOTTOM, _AIR = 0.62, 0.10
_NARROWEST = 5.2
_NUMBER = np.array([0.42, 0.16])
_STRETCHED = 1.4
_LISTED = 8
_MOST_DIGITS = 9


def loss_text(loss: Enclosure, budget: float | None = None, *, digits: int = 3) -> str:
    """Write a loss with so many decimals, rounded up; with more if it would seem over the budget.

    >>> loss_text(Enclosure.of(Fraction(1, 3))), loss_text(Enclosure.of(0))
    ('0.334', '0')
    >>> loss_text(Enclosure.of(Fraction("0.99996")), 0.99999), loss_text(Enclosure.infinity())
    ('0.99996', '∞')
    """
    if loss.upper is None:
        return "∞"
    if loss.upper == 0:
        return "0"
    if loss.upper < Fraction(1, 10**digits):
        exponent = math.floor(math.log10(float(loss.upper) or 1e-300)) - 1
        unit = Fraction(10) ** exponent
        return f"{float(math.ceil(loss.upper / unit) * unit):.2g}"
    while True:
        rounded = Fraction(math.ceil(loss.upper * 10**digits), 10**digits)
        fits = budget is None or float(rounded) <= budget or loss.upper > budget
        if fits or digits >= _MOST_DIGITS:
            return f"{float(rounded):.{digits}f}"
        digits += 1


def over_budget(loss: Enclosure, budget: float | None) -> bool:
    """Tell whether a loss is drawn as above the budget (a float, so a hair is allowed for)."""
    if budget is None or loss.is_infinite:
        return loss.is_infinite
    return float(loss.lower) > budget * (1 + 1e-12)


@dataclass(frozen=True, eq=False)
class Sheet:
    """What is drawn where, in inches."""

    audit: ProfileAudit
    budget: float | None
    places: Floats
    charts: bool
    names: tuple[str, ...] | None
    chart_width: float
    title: tuple[str, ...]
    caption: tuple[str, ...]
    isolated_from: float | None
    """The height of the line under which profiles without an edge are."""
    width: float
    height: float
    base: float
    """Where the drawing begins, above the colour bar and the captions."""

    @classmethod
    def of(cls, audit: ProfileAudit, budget: float | None) -> Sheet:
        """Find a place for everything."""
        graph = audit.graph
        charts = len(graph) <= MOST_CHARTS
        names = tuple(told_apart(graph.profiles.labels, 14)) if len(graph) <= MOST_NAMES else None
        chart_width = min(max(0.1 * columns_of(audit), 0.4), 0.75)
        longest = max((len(name) for name in names), default=0) if names else 0
        if charts:
            box = np.array([max(chart_width, CELL * longest) + _AIR, CHART + NAME + _AIR])
            target = 1.5
        elif names:
            box, target = np.array([0.3, 0.46]), 1.1
        else:
            box, target = np.array([0.16, 0.16]), 0.8
        room = np.array([WIDEST - 2 * MARGIN, HIGHEST - 2 * MARGIN - _BOTTOM - 6 * LINE])
        alone = [part[0] for part in graph.components if len(part) == 1]
        cell = box + (0.0 if charts else [CELL * longest, 0.14 if names else 0.06])
        across = max(1, min(len(alone), int(room[0] / cell[0])))
        deep = math.ceil(len(alone) / across) if alone else 0
        below = deep * cell[1] + (0.3 if alone else 0.0)
        joined = _joined(graph, box, room - [0.0, below], target)
        width, high = (joined.max(axis=0) - joined.min(axis=0) + box) if len(joined) else (0.0, 0.0)
        if len(alone) > 1:
            width = max(width, min(across, len(alone)) * cell[0])
        full = min(max(width + 2 * MARGIN, _NARROWEST), WIDEST)
        caption = _wrapped(_caption(audit, charts=charts, budget=budget), full)
        title = _wrapped(_about(audit, budget), full)
        base = MARGIN + LINE * len(caption) + (_BOTTOM if graph.edges else 0.0)
        places = np.zeros((len(graph), 2))
        rest = [place for part in graph.components if len(part) > 1 for place in part]
        if rest:
            corner = joined.min(axis=0) - box / 2
            places[rest] = joined - corner + [(full - width) / 2, base + below]
            spare = width - (joined.max(axis=0) - joined.min(axis=0) + box)[0]
            places[rest, 0] += spare / 2
        for number, place in enumerate(alone):
            row, column = divmod(number, across)
            start = (full - min(across, len(alone)) * cell[0]) / 2
            places[place] = start + (column + 0.5) * cell[0], base + (deep - row - 0.5) * cell[1]
        return cls(
            audit,
            budget,
            places,
            charts,
            names,
            chart_width,
            title,
            caption,
            base + below - 0.06 if alone else None,
            full,
            base + below + high + LINE * (1 + len(title)) + 0.12 + MARGIN,
            base,
        )


def _joined(graph: ProfileGraph, box: Floats, room: Floats, target: float) -> Floats:
    """Return the places of all profiles with an edge, part after part, in inches."""
    parts = [part for part in graph.components if len(part) > 1]
    if not parts:
        return np.zeros((0, 2))
    part_of = {place: number for number, part in enumerate(parts) for place in part}
    inside: list[list[tuple[int, int]]] = [[] for _ in parts]
    position = {place: k for part in parts for k, place in enumerate(part)}
    for first, second in graph.edges:
        inside[part_of[first]].append((position[first], position[second]))
    drawn = [layout(len(part), edges) for part, edges in zip(parts, inside, strict=True)]
    gap = np.maximum(box / target, 0.4) + 0.22
    places = np.concatenate(packed(drawn, (float(gap[0]), float(gap[1]))))
    dense = len(graph.edges) / (1.5 * len(places))
    extent = np.maximum(places.max(axis=0) - places.min(axis=0), 1e-9)
    fit = (room - box) / extent
    scale = np.full(2, min(target * max(1.0, math.sqrt(dense)), *fit))
    numbered = len(places) <= MOST_NAMES and len(graph.edges) <= MOST_NUMBERS
    if numbered and any(len(edges) > len(part) for part, edges in zip(parts, inside, strict=True)):
        # Entangled edges need room for their numbers, even if lengths then depend on the way.
        scale = np.minimum(_STRETCHED * scale, fit)
    found: Floats = places * scale
    if len(places) > MOST_NAMES:
        return found
    order = {place: k for k, place in enumerate(place for part in parts for place in part)}
    pairs = [(order[first], order[second]) for first, second in graph.edges]
    for spare in (_NUMBER, 0.5 * _NUMBER, 0.0 * _NUMBER):
        apart = box + spare if numbered else box
        for _ in range(3):
            if not overlapping(found, *apart):
                return _fitted(cleared(found, pairs, *box), box, room) if numbered else found
            found = _fitted(parted(found, *apart), box, room)
    return found


def _fitted(places: Floats, box: Floats, room: Floats) -> Floats:
    """Shrink places until they fit the sheet."""
    extent = np.maximum(places.max(axis=0) - places.min(axis=0), 1e-9)
    fitted: Floats = places * np.minimum(1.0, (room - box) / extent)
    return fitted


def columns_of(audit: ProfileAudit) -> int:
    """Return how many bars the chart of a profile has."""
    return len(audit.graph.inputs) if same_values(audit) else len(audit.laws.outputs)


def same_values(audit: ProfileAudit) -> bool:
    """Tell whether outputs are values, so that truth and release share their columns."""
    return all(label in audit.graph.inputs for label in audit.laws.outputs.labels)


def _wrapped(texts: list[str], width: float) -> tuple[str, ...]:
    """Join remarks into lines that fit; one that is too long by itself is broken."""
    letters = int((width - 2 * MARGIN) / 0.066)
    lines: list[str] = []
    for text in texts:
        if lines and len(lines[-1]) + len(text) + 2 <= letters:
            lines[-1] += f"; {text}"
        else:
            lines += textwrap.wrap(text, letters)
    return tuple(lines)


def _about(audit: ProfileAudit, budget: float | None) -> list[str]:
    graph = audit.graph
    said = [graph.describe().removeprefix("a graph of ")]
    worst = audit.worst
    if worst is not None:
        largest = f"largest loss {loss_text(worst.nats, budget)}"
        largest += "" if worst.ratio is None else " nats"
        if worst.output is not None:
            largest += f", between {shown(worst.more, 14)} and {shown(worst.less, 14)}"
        said.append(largest)
    return said if budget is None else [*said, f"budget {budget:.6g}"]


def _caption(audit: ProfileAudit, *, charts: bool, budget: float | None) -> list[str]:
    said = []
    if charts:
        same = same_values(audit)
        labels = (audit.graph.inputs if same else audit.laws.outputs).labels
        names = ", ".join(told_apart(labels[:_LISTED], 12))
        more = f" and {len(labels) - _LISTED} more" if len(labels) > _LISTED else ""
        drawn = "outlined: the profile; filled: what it releases" if same else "what it releases"
        said += [drawn, f"{'values' if same else 'outputs'} from the left: {names}{more}"]
    elif len(audit.graph) > MOST_NAMES:
        said.append(f"each dot is one of {len(audit.graph):,} profiles")
        if audit.worst is not None and audit.worst.output is not None:
            said.append("named: the two with the largest loss")
    if any(over_budget(edge.nats, budget) for edge in audit.edges):
        over = "above the budget" if budget is not None else "infinite"
        said.append(f"dashed, orange: the loss is {over}")
    return said
