"""A mechanism for places as a map: where people are, what is reported, and how far that is off."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from liftlock.errors import InputError
from liftlock.exact.integers import Floats
from liftlock.mechanism import Mechanism
from liftlock.model import Prior
from liftlock.report.plots.figure import check_picture, picture, plain_number
from liftlock.utility.distortion import places_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PEOPLE, _REPORT, _MOVE = "#7aa6d1", "#b3500a", "#173f6b"
_LARGEST = 700.0
"""Square points of the disc of the likeliest place."""
_SEEN = 0.02
"""Moves are drawn that are at least so likely, compared with the likeliest."""
_BROAD = 1.6
"""A map that is broader than high by more has its two panels one below the other."""


def draw_map(made: Mechanism, path: Path) -> None:
    """Draw the prior with the moves from places to reports, and the mean distance of a report."""
    check_picture(path)
    prior = made.context
    if not isinstance(prior, Prior) or places_of(prior.inputs) is None:
        raise InputError(
            "a map is for places, symbols such as (3, 5)",
            value=prior.describe(),
            remedy="draw the lifts instead: liftlock audit --plot",
        )
    places, matrix = places_of(made.table.inputs), made.table.floats()
    reports = places_of(made.table.outputs)
    if places is None or places.shape[1] != 2 or reports is None or reports.shape[1] != 2:
        raise InputError(
            "a map is for places of the plane that are reported as such",
            value=made.channel.outputs_text,
            remedy="design with --utility distance, or draw the lifts: liftlock audit --plot",
        )
    rows = made.table.inputs.positions_in(prior.inputs, whose="the channel", other_name="the prior")
    masses = prior.floats()[rows]
    away = np.hypot(*(places[:, None, axis] - reports[None, :, axis] for axis in (0, 1)))
    broad, high = (max(float(np.ptp(places[:, axis])), 1e-12) for axis in (0, 1))
    below = broad > _BROAD * high
    size = (7.6, 2.0 + 2 * 7.0 * high / broad) if below else (10.4, 1.4 + 4.6 * high / broad)
    with picture(path, size[0], min(max(size[1], 4.0), 12.0)) as figure:
        shape = (2, 1) if below else (1, 2)
        people, error = np.ravel(np.array(figure.subplots(*shape, sharex=True, sharey=True)))
        _draw_people(people, places, reports, masses, matrix)
        drawn: Any = error.scatter(
            places[:, 0],
            places[:, 1],
            c=(matrix * away).sum(axis=1),
            s=_sizes(masses),
            cmap="viridis_r",
            linewidths=0.4,
            edgecolors="#555555",
        )
        mean = float((masses[:, None] * matrix * away).sum())
        error.set_title(f"Mean distance of a report from each place\n({mean:.3g} on average)")
        figure.colorbar(drawn, ax=error, shrink=0.8)
        for axes in (people, error):
            axes.set_aspect("equal")
            axes.title.set_fontsize(10)
            axes.xaxis.set_major_formatter(plain_number)
            axes.yaxis.set_major_formatter(plain_number)
            axes.margins(0.12)


def _sizes(masses: Floats) -> Floats:
    """Return the areas of discs, in proportion to probabilities."""
    areas: Floats = _LARGEST * masses / masses.max()
    return areas * min(1.0, 30.0 / len(masses))


def _draw_people(
    axes: Axes, places: Floats, reports: Floats, masses: Floats, matrix: Floats
) -> None:
    """Draw where people are, and the likeliest moves from there to what is reported."""
    axes.scatter(
        places[:, 0],
        places[:, 1],
        s=_sizes(masses),
        color=_PEOPLE,
        zorder=2,
        label="people (the prior)",
    )
    moves = masses[:, None] * matrix
    moves = np.where((places[:, None] == reports[None]).all(axis=2), 0.0, moves)
    for x, y in np.argwhere(moves >= _SEEN * max(float(moves.max()), 1e-300)):
        axes.plot(
            *zip(places[x], reports[y], strict=True),
            color=_MOVE,
            linewidth=2.2 * moves[x, y] / moves.max(),
            alpha=0.55,
            zorder=3,
        )
    axes.scatter(
        reports[:, 0],
        reports[:, 1],
        marker="x",
        s=42,
        color=_REPORT,
        linewidths=1.8,
        zorder=4,
        label="reports",
    )
    axes.set_title(f"Where people are, and the {len(reports)} places that are reported")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=2, frameon=False, fontsize=9)
