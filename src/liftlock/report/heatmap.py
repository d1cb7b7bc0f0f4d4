"""The lift table as a picture: where an output raises a belief, and where it lowers one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from liftlock.context import Joint
from liftlock.errors import FileError, InputError
from liftlock.notions.audit import Audit
from liftlock.prior import Prior

if TYPE_CHECKING:
    from liftlock.alphabet import Alphabet

KINDS = (".png", ".svg", ".pdf")
_MOST_LABELS = 40
_MOST_NUMBERS = 16


def check_picture(path: Path) -> None:
    """Refuse a picture that could not be drawn, before any work is done."""
    if path.suffix.lower() not in KINDS:
        raise FileError(
            "unknown kind of picture", where=str(path), remedy=f"end the name in {', '.join(KINDS)}"
        )
    if not path.parent.is_dir():
        raise FileError("no such folder", where=str(path.parent), remedy="make it first")
    try:
        import matplotlib  # noqa: F401 - an optional dependency
    except ImportError:
        raise InputError(
            "pictures need matplotlib", remedy="pip install 'liftlock[plot]'"
        ) from None


def draw_lifts(result: Audit, path: Path) -> None:
    """Draw log-lifts in nats: blue raises a belief, orange lowers it, white changes nothing."""
    check_picture(path)
    if not isinstance(result.context, Prior | Joint):
        raise InputError(
            "a heat map needs one prior", remedy="give --prior or --joint instead of a family"
        )
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.colors import LinearSegmentedColormap, TwoSlopeNorm
    from matplotlib.figure import Figure

    table = result.table
    with np.errstate(divide="ignore"):
        logs = np.log(table.floats())
    finite = logs[np.isfinite(logs)]
    reach = max(float(np.abs(finite).max()) if finite.size else 0.0, 1e-6)
    rows, columns = logs.shape
    width = min(3.6 + 0.62 * columns, 16)
    height = min(2.4 + 0.46 * rows, 12)
    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    colours = LinearSegmentedColormap.from_list(
        "lift", ["#b35806", "#f1a340", "#fee0b6", "#f7f7f7", "#d1e5f0", "#67a9cf", "#2166ac"]
    )
    colours.set_bad("#4d4d4d")
    shown = np.where(np.isfinite(logs), logs, np.nan)
    image = axes.imshow(
        shown,
        cmap=colours,
        norm=TwoSlopeNorm(0.0, -reach, reach),
        aspect="auto",
        interpolation="nearest",
    )
    _ticks(axes, table.secrets, table.outputs)
    if rows <= _MOST_NUMBERS and columns <= _MOST_NUMBERS:
        _numbers(axes, table.floats(), logs, reach)
    for extreme, colour in ((result.lifts.largest, "#053061"), (result.lifts.smallest, "#7f3b08")):
        s, y = extreme.witness.secret, extreme.witness.output
        if s is not None and y is not None:
            _frame(axes, table.secrets.index(s), table.outputs.index(y), colour)
    axes.set_xlabel("output")
    axes.set_ylabel("secret")
    lip = result["lip"].value
    title = "infinite" if lip.is_infinite else f"{float(lip):.4f} nats"
    axes.set_title(f"lift of each secret at each output — LIP {title}", fontsize=11)
    bar = figure.colorbar(image, ax=axes, shrink=0.9)
    bar.set_label("log-lift (nats): lowered | raised")
    if not np.isfinite(logs).all():
        axes.annotate(
            "dark cells: ruled out (lift 0)",
            (1.0, 1.01),
            xycoords="axes fraction",
            fontsize=8,
            ha="right",
            va="bottom",
            color="#4d4d4d",
        )
        axes.set_title(axes.get_title(), fontsize=11, loc="left")
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise FileError("cannot write", where=str(path), value=error.strerror) from None


def _ticks(axes: Any, secrets: Alphabet, outputs: Alphabet) -> None:
    for labels, put, turned in (
        (outputs.labels, axes.set_xticks, True),
        (secrets.labels, axes.set_yticks, False),
    ):
        if len(labels) > _MOST_LABELS:
            continue
        long = turned and max(len(str(label)) for label in labels) > 6
        extra = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if long else {}
        put(range(len(labels)), [_cut(str(label)) for label in labels], fontsize=9, **extra)


def _cut(text: str) -> str:
    return text if len(text) <= 24 else text[:23] + "…"


def _numbers(axes: Any, lifts: Any, logs: Any, reach: float) -> None:
    for (s, y), lift in np.ndenumerate(lifts):
        dark = not np.isfinite(logs[s, y]) or abs(logs[s, y]) > 0.65 * reach
        axes.text(
            y,
            s,
            f"{lift:.3g}",
            ha="center",
            va="center",
            fontsize=8,
            color="white" if dark else "#222222",
        )


def _frame(axes: Any, s: int, y: int, colour: str) -> None:
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((y - 0.5, s - 0.5), 1, 1, fill=False, edgecolor=colour, linewidth=2.5))
