"""The lift table as a picture: where an output raises a belief, and where it lowers one."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from liftlock.alphabet import Alphabet, Label
from liftlock.context import Context, Joint
from liftlock.errors import InputError
from liftlock.notions.audit import Audit
from liftlock.prior import Prior
from liftlock.report.labels import cut, printable
from liftlock.report.pictures import check_picture, new_figure, save_figure

_MOST_LABELS = 64
_MOST_NUMBERS = 16
_LABEL_CELLS = 24
_LEAST_REACH = 0.1
"""Nats at which the colours are full, at least: nearly equal lifts should look nearly equal."""

_COLOURS = [
    "#7f3b08",
    "#c96f17",
    "#f1a340",
    "#fee0b6",
    "#f7f7f7",
    "#d1e5f0",
    "#67a9cf",
    "#2a74b0",
    "#053061",
]
_RULED_OUT = "#3c3c3c"


def check_drawable(context: Context) -> None:
    """Refuse a context whose lifts are not one table."""
    if not isinstance(context, Prior | Joint):
        raise InputError(
            "a heat map needs one prior",
            value=context.describe(),
            remedy="give --prior or --joint, without --radius",
        )


def draw_lifts(result: Audit, path: Path) -> None:
    """Draw log-lifts in nats: blue raises a belief, orange lowers it, white changes nothing."""
    check_picture(path)
    check_drawable(result.context)
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    table = result.table
    lifts = table.floats()
    with np.errstate(divide="ignore"):
        logs = np.log(lifts)
    finite = np.isfinite(logs)
    reach = max(float(np.abs(logs[finite]).max()), _LEAST_REACH)
    rows, columns = logs.shape
    width, height = min(4.4 + 0.62 * columns, 16.0), min(2.6 + 0.46 * rows, 13.0)
    figure = new_figure(width, height)
    axes = figure.add_subplot()
    colours = LinearSegmentedColormap.from_list("lift", _COLOURS)
    colours.set_bad(_RULED_OUT)
    image = axes.imshow(
        np.where(finite, logs, np.nan),
        cmap=colours,
        norm=Normalize(-reach, reach),
        aspect="auto",
        # Many cells fall on few dots: let them be averaged rather than left out.
        interpolation="nearest" if max(rows, columns) <= 500 else "antialiased",
    )
    _name(axes, table.outputs, "output", along_x=True)
    _name(axes, table.secrets, "secret", along_x=False)
    if rows <= _MOST_NUMBERS and columns <= _MOST_NUMBERS:
        _numbers(axes, lifts, logs, reach)
    _frames(axes, result)
    lip = result["lip"].value
    about = [
        f"LIP {'infinite' if lip.is_infinite else f'{float(lip):.4g} nats'}",
        "framed: the largest and the smallest lift",
    ]
    if not finite.all():
        about.append("dark: ruled out (lift 0)")
    lines = textwrap.wrap("; ".join(about), max(30, int(11 * width)))
    figure.suptitle("Lift of each secret at each output", fontsize=12)
    axes.set_title("\n".join(lines), fontsize=9, color="#444444")
    bar = figure.colorbar(image, ax=axes, shrink=0.95, pad=0.02, aspect=max(10.0, 4 * height))
    bar.set_label("log-lift in nats (+ raises the belief)", fontsize=9)
    bar.ax.tick_params(labelsize=8)
    save_figure(figure, path)


def _name(axes: Any, alphabet: Alphabet, what: str, *, along_x: bool) -> None:
    """Name every row or column, or every tenth if they are too many."""
    labels = alphabet.labels
    step = max(1, -(-len(labels) // _MOST_LABELS))
    step = next((s for s in (1, 2, 5, 10, 20, 50, 100) if s >= step), step)
    places = range(0, len(labels), step)
    texts = [_short(labels[i]) for i in places]
    size = 9 if len(places) <= 24 else 7 if len(places) <= 40 else 6
    axis = axes.xaxis if along_x else axes.yaxis
    axis.set_ticks(places, texts, fontsize=size)
    for tick in axis.get_ticklabels():
        # A label may hold dollar signs, which would be read as mathematics.
        tick.set_parse_math(False)
        if along_x and (max(map(len, texts)) > 5 or len(places) > 24):
            long = max(map(len, texts)) <= 4 or len(places) > 30
            tick.set(rotation=90 if long else 45, rotation_mode="anchor", ha="right")
            tick.set_va("center" if long else "top")
    name = what if step == 1 else f"{what} (every {step}th is named)"
    (axes.set_xlabel if along_x else axes.set_ylabel)(name)


def _short(label: Label) -> str:
    return cut(printable(str(label)), _LABEL_CELLS)


def _numbers(
    axes: Any, lifts: npt.NDArray[np.float64], logs: npt.NDArray[np.float64], reach: float
) -> None:
    for (s, y), lift in np.ndenumerate(lifts):
        dark = not np.isfinite(logs[s, y]) or abs(logs[s, y]) > 0.6 * reach
        colour = "white" if dark else "#222222"
        axes.text(y, s, _figure(lift), ha="center", va="center", fontsize=8, color=colour)


def _figure(lift: float) -> str:
    """Write a lift in at most five characters where that is possible."""
    return f"{lift:.3g}" if lift == 0 or 1e-3 <= lift < 1e4 else f"{lift:.0e}"


def _frames(axes: Any, result: Audit) -> None:
    from matplotlib.patches import Rectangle

    table = result.table
    rows, columns = len(table.secrets), len(table.outputs)
    for extreme in (result.lifts.largest, result.lifts.smallest):
        s, y = extreme.witness.secret, extreme.witness.output
        if s is None or y is None:
            continue
        row, column = table.secrets.index(s), table.outputs.index(y)
        # A frame of a cell that is smaller than a few dots could not be seen.
        high, wide = max(1.0, rows / 60), max(1.0, columns / 80)
        corner = (column - wide / 2, row - high / 2)
        axes.add_patch(
            Rectangle(
                corner, wide, high, fill=False, edgecolor="black", linewidth=1.8, clip_on=False
            )
        )
