"""The lift table as a picture: where an output raises a belief, and where it lowers one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.cells import cell_len

from liftlock.errors import InputError
from liftlock.model import Context, Joint, Prior
from liftlock.model.alphabet import Alphabet
from liftlock.notions.audit import Audit
from liftlock.report.format import told_apart
from liftlock.report.plots.figure import HIGHEST, WIDEST, check_picture, picture

_MOST_LABELS, _MOST_POINTS = 64, 32
"""Names cannot be guessed from their neighbours; numbers in a row can, and fewer are readable."""
_MOST_NUMBERS = 16
_LABEL_CELLS = 24
_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
_COLOURED = 0.99
LEAST_REACH = 0.1
"""Nats at which the colours are full, at least: nearly equal lifts should look nearly equal."""

COLOURS = [
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
RULED_OUT = "#3c3c3c"


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
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    table = result.table
    lifts = table.floats()
    with np.errstate(divide="ignore"):
        logs = np.log(lifts)
    finite = np.isfinite(logs)
    rows, columns = logs.shape
    numbered = rows <= _MOST_NUMBERS and columns <= _MOST_NUMBERS
    # In a large table a few extreme cells would leave all others white.
    share = 1.0 if numbered else _COLOURED
    reach = max(float(np.quantile(np.abs(logs[finite]), share)), LEAST_REACH)
    width, height = min(4.4 + 0.62 * columns, WIDEST), min(2.6 + 0.46 * rows, HIGHEST)
    with picture(path, width, height) as figure:
        axes = figure.add_subplot()
        plain = LinearSegmentedColormap.from_list("lift", COLOURS)
        colours = plain.with_extremes(bad=RULED_OUT)
        scale = ScalarMappable(Normalize(-reach, reach), colours)
        axes.imshow(
            # Coloured here, cell by cell; matplotlib would do it dot by dot.
            scale.to_rgba(np.ma.masked_invalid(logs), bytes=True),
            aspect="auto",
            # Many cells fall on few dots: let them be averaged rather than left out.
            interpolation="nearest" if max(rows, columns) <= 500 else "antialiased",
        )
        _name(axes, table.outputs, "output", along_x=True)
        _name(axes, table.secrets, "secret", along_x=False)
        if numbered:
            _numbers(axes, lifts, logs, reach)
        lines = ["Lift of each secret at each output"]
        for remark in _about(result, all_possible=bool(finite.all())):
            room = len(lines) > 1 and len(lines[-1]) + len(remark) <= 12 * width - 24
            lines[-1:] = [f"{lines[-1]}; {remark}"] if room else [lines[-1], remark]
        axes.set_title("\n".join(lines), fontsize=10)
        bar = figure.colorbar(
            scale,
            ax=axes,
            shrink=0.95,
            pad=0.02,
            aspect=max(10.0, 4 * height),
            extend="neither" if numbered else "both",
        )
        bar.set_label("log-lift in nats (+ raises the belief)", fontsize=9)
        bar.ax.tick_params(labelsize=8)
        if not _flat(result):
            _frames(axes, result)


def _flat(result: Audit) -> bool:
    return result.lifts.largest.lift == result.lifts.smallest.lift == 1


def _about(result: Audit, *, all_possible: bool) -> list[str]:
    if _flat(result):
        return ["LIP 0 nats", "no output changes any belief"]
    lip = result["lip"].value
    value = "infinite" if lip.is_infinite else f"{float(lip):.4g} nats"
    about = [f"LIP {value}", "framed: the largest and the smallest lift"]
    return about if all_possible else [*about, "dark: ruled out (lift 0)"]


def _name(axes: Any, alphabet: Alphabet, what: str, *, along_x: bool) -> None:
    """Name every row or column, or every tenth if they are too many."""
    names = told_apart(alphabet.labels, _LABEL_CELLS)
    numeric = alphabet.coordinates is not None or all(
        isinstance(label, int | float) for label in alphabet.labels
    )
    most = _MOST_POINTS if numeric else _MOST_LABELS
    step = next((s for s in _STEPS if s * most >= len(names)), _STEPS[-1])
    places = range(0, len(names), step)
    texts = [names[place] for place in places]
    longest = max(cell_len(text) for text in texts)
    axis = axes.xaxis if along_x else axes.yaxis
    axis.set_ticks(
        places, texts, fontsize=9 if len(places) <= 24 else 7 if len(places) <= 40 else 6
    )
    crowded = along_x and longest * len(places) > 90
    for tick in axis.get_ticklabels():
        # A label may hold dollar signs, which would be read as mathematics.
        tick.set_parse_math(False)
        if crowded and len(places) > 24:
            tick.set(rotation=90, rotation_mode="anchor", ha="right", va="center")
        elif crowded or (along_x and longest > 8):
            tick.set(rotation=45, rotation_mode="anchor", ha="right", va="top")
    name = what if step == 1 else f"{what} (1 in {step} is named)"
    (axes.set_xlabel if along_x else axes.set_ylabel)(name)


def _numbers(
    axes: Any, lifts: npt.NDArray[np.float64], logs: npt.NDArray[np.float64], reach: float
) -> None:
    for (s, y), lift in np.ndenumerate(lifts):
        dark = not np.isfinite(logs[s, y]) or abs(logs[s, y]) > 0.6 * reach
        colour = "white" if dark else "#222222"
        axes.text(y, s, lift_text(lift), ha="center", va="center", fontsize=8, color=colour)


def lift_text(lift: float) -> str:
    """Write a lift shortly.

    >>> lift_text(2.71828), lift_text(0.0), lift_text(1e-7), lift_text(123456.0)
    ('2.72', '0', '1e-07', '1e+05')
    """
    return f"{lift:.3g}" if lift == 0 or 1e-3 <= lift < 1e4 else f"{lift:.0e}"


def _frames(axes: Any, result: Audit) -> None:
    from matplotlib.patches import Rectangle

    table = result.table
    rows, columns = len(table.secrets), len(table.outputs)
    # A frame of a cell that is smaller than a few dots could not be seen.
    high, wide = max(1.0, rows / 60), max(1.0, columns / 80)
    # White around black is seen on every colour.
    for colour, line in (("white", 4.0), ("black", 1.8)):
        for extreme in (result.lifts.largest, result.lifts.smallest):
            s, y = extreme.witness.secret, extreme.witness.output
            if s is None or y is None:
                continue
            row, column = table.secrets.index(s), table.outputs.index(y)
            corner = (column - wide / 2, row - high / 2)
            axes.add_patch(
                Rectangle(corner, wide, high, fill=False, edgecolor=colour, linewidth=line)
            )
