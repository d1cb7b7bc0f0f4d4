"""Draw a figure from its points: one style for all papers, for paper, light and dark pages.

The legend stands below the axes and never on a curve. A point whose mechanism leaks more than it
was made for has a ring, and some of them say how much. A picture is an SVG whose colours follow the
page (light unless it is dark, and always light in print) and whose text is text, and a white PNG.
"""

from __future__ import annotations

import hashlib
import math
import re
import textwrap
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from liftlock import InputError
from liftlock._runtime.storage import open_atomically, write_atomically
from liftlock.report.plots.figure import check_picture
from liftlock_papers.figure import Curve, Panel
from liftlock_papers.points import Point, Points, to_csv
from liftlock_papers.running import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure as Sheet
    from matplotlib.lines import Line2D
    from matplotlib.transforms import BboxBase

LIGHT: Mapping[str, str] = {
    "page": "#fffffe",
    "ink": "#1f2430",
    "soft": "#5d6675",
    "rule": "#e2e5ea",
    "blue": "#1f5fa8",
    "orange": "#b8560a",
    "grey": "#6f7680",
    "green": "#2c7a3f",
    "purple": "#7a3f99",
    "teal": "#0b7f86",
    "red": "#c0263a",
    "gold": "#8c7008",
}
DARK: Mapping[str, str] = {
    "page": "#1c1f26",
    "ink": "#e7eaf0",
    "soft": "#a4adbb",
    "rule": "#343a46",
    "blue": "#7db5f0",
    "orange": "#f2a25c",
    "grey": "#a9b1bd",
    "green": "#7fcf92",
    "purple": "#c99be6",
    "teal": "#5fcdd3",
    "red": "#ff7d8c",
    "gold": "#dcc04f",
}
"""Each at least 4.5 to 1 against its page, but for the rules."""

DOTS_PER_INCH, QUICK_DOTS_PER_INCH = 170, 100
PANEL_WIDTH, PANEL_HEIGHT = 3.7, 3.0
SHOWN_LEAKAGES = 3
"""So many rings of a curve in a panel say their number."""
LEGEND_COLUMNS = {1: 2, 2: 3, 3: 4}
FEW_RINGS = 9
"""Rings are small where a curve has more of them."""
_OFFSETS = ((0, 10), (0, -10), (17, 6), (-17, 6), (17, -7), (-17, -7), (0, 19), (0, -19))
"""Where a number may stand beside its ring, in points, the best place first."""
_FEW_DECADES = 10**2.4
"""From the least to the largest number of an axis that is labelled at 1, 2 and 5."""
_PLAIN = (1e-3, 1e5)
"""Between these a number on an axis needs no power of ten."""
_BEYOND = 6.0
"""So many dots a number may stand out of its panel, to the right or above."""

_BACKING: Any = {"boxstyle": "round,pad=0.1", "fc": LIGHT["page"], "ec": "none", "alpha": 0.75}
_NO_METADATA: Any = dict.fromkeys(("Creator", "Date", "Format", "Type"))
_DASHES: Mapping[str, Any] = {
    "solid": "-",
    "dashed": (0, (5, 2)),
    "dotted": (0, (1.2, 1.6)),
    "dashdot": (0, (6, 1.8, 1.2, 1.8)),
    "none": "none",
}


def check_drawing(folder: Path) -> None:
    """Refuse to begin what could not be drawn or kept; make the folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            "cannot make this folder",
            where=str(folder),
            value=error.strerror,
            remedy="give another one with --out",
        ) from None
    check_picture(folder / "figure.svg")


def draw(result: Result, folder: Path) -> None:
    """Write `KEY.svg` and `KEY.png`, unless the same pictures are there already."""
    figure = result.figure
    vector, dots = (folder / f"{figure.key}.{kind}" for kind in ("svg", "png"))
    made_from = f"<!-- made from {_made_from(result)} -->\n"
    if dots.exists() and vector.exists() and _begins(vector, made_from):
        return
    with styled():
        sheet = sheet_of(result)
        as_dots, as_vector = BytesIO(), BytesIO()
        dots_per_inch = QUICK_DOTS_PER_INCH if result.quick else DOTS_PER_INCH
        sheet.savefig(as_dots, format="png", dpi=dots_per_inch, metadata={"Software": None})
        sheet.savefig(as_vector, format="svg", metadata=_NO_METADATA)
    folder.mkdir(parents=True, exist_ok=True)
    with open_atomically(dots) as stream:
        stream.write(as_dots.getvalue())
    text = follow_the_page(as_vector.getvalue().decode(), figure.title)
    write_atomically(vector, made_from + text)


def _made_from(result: Result) -> str:
    """Return a fingerprint of all that a picture shows."""
    import matplotlib

    figure = result.figure
    parts = (
        figure.name,
        figure.title,
        figure.panels,
        figure.curves,
        figure.columns,
        figure.leaks,
        result.quick,
        to_csv(result.points),
        matplotlib.__version__,
        Path(__file__).read_text(encoding="utf-8"),
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _begins(path: Path, text: str) -> bool:
    with path.open(encoding="utf-8") as file:
        return file.read(len(text)) == text


@contextmanager
def styled() -> Iterator[None]:
    """Give the style of all pictures while the block runs."""
    import matplotlib

    settings: Any = {
        "font.family": ["DejaVu Sans"],
        "font.size": 8.5,
        "axes.titlesize": 9.5,
        "axes.labelsize": 8.5,
        "axes.edgecolor": LIGHT["soft"],
        "axes.labelcolor": LIGHT["ink"],
        "axes.facecolor": LIGHT["page"],
        "figure.facecolor": LIGHT["page"],
        "text.color": LIGHT["ink"],
        "xtick.color": LIGHT["soft"],
        "ytick.color": LIGHT["soft"],
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.linewidth": 0.8,
        "legend.frameon": False,
        "lines.solid_capstyle": "round",
        "svg.fonttype": "none",
        "svg.hashsalt": "liftlock",
    }
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def sheet_of(result: Result) -> Sheet:
    """Return the drawn figure, laid out."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Sheet

    figure, points = result.figure, result.points
    columns = min(figure.columns, len(figure.panels))
    rows = math.ceil(len(figure.panels) / columns)
    shown = [curve for curve in figure.curves if curve.label != ""]
    marked = bool(points.broken())
    width = PANEL_WIDTH * columns + (1.1 if columns == 1 else 0.3)
    per_row = LEGEND_COLUMNS.get(columns, 4)
    lines = math.ceil((len(shown) + marked) / per_row)
    height = PANEL_HEIGHT * rows + 0.62 + 0.2 * lines
    sheet = Sheet(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(sheet)
    grid = sheet.subplots(rows, columns, squeeze=False).ravel().tolist()
    for axes in grid[len(figure.panels) :]:
        axes.set_visible(False)
    handles: dict[str, Any] = {}
    for axes, panel in zip(grid, figure.panels, strict=False):
        _panel(axes, panel, figure.curves, points, handles)
    if marked:
        handles[f"breaks its budget ({figure.leaks})"] = _ring()
    title = f"{figure.key[:3]} {figure.name}: {figure.title}"
    wide = int(width * 10.8)
    sheet.suptitle(
        "\n".join(textwrap.wrap(title + (" (quick run)" if result.quick else ""), wide)),
        fontsize=11,
        fontweight="bold",
        x=0.01,
        ha="left",
    )
    if handles:
        sheet.legend(
            handles.values(),
            handles.keys(),
            loc="outside lower center",
            ncols=min(per_row, len(handles)),
            fontsize=8,
            handlelength=2.6,
            columnspacing=1.6,
        )
    # Laid out once, for both pictures; only then is it known which numbers would touch.
    layout = sheet.get_layout_engine()
    if layout is not None:
        layout.execute(sheet)
    sheet.set_layout_engine("none")
    for axes, panel in zip(grid, figure.panels, strict=False):
        _leakages(axes, [points.of(panel.key, curve.name) for curve in figure.curves])
    return sheet


def _panel(
    axes: Axes, panel: Panel, curves: Sequence[Curve], points: Points, handles: dict[str, Any]
) -> None:
    axes.set_axisbelow(True)
    axes.grid(visible=True, color=LIGHT["rule"], linewidth=0.7)
    present = points.curves(panel.key)
    bars = [curve for curve in curves if curve.kind == "bars" and curve.name in present]
    for curve in curves:
        if curve.name not in present:
            continue
        rows = [row for row in points.of(panel.key, curve.name) if math.isfinite(row.y)]
        drawn = _curve(axes, curve, rows, bars)
        label = curve.name if curve.label is None else curve.label
        if label:
            handles.setdefault(label, drawn)
    axes.set_xscale(panel.x_scale)
    axes.set_yscale(panel.y_scale)
    if panel.x_limits is not None:
        axes.set_xlim(*panel.x_limits)
    if panel.y_limits is not None:
        axes.set_ylim(*panel.y_limits)
    if panel.ticks:
        axes.set_xticks(list(panel.ticks), list(panel.ticks.values()))
    if panel.mark is not None:
        axes.axvline(panel.mark, color=LIGHT["soft"], linewidth=0.9, linestyle=(0, (2, 2)))
    for axis, scale in ((axes.xaxis, panel.x_scale), (axes.yaxis, panel.y_scale)):
        if scale == "log":
            _few_decades(axis)
    axes.set_xlabel(panel.x)
    axes.set_ylabel(panel.y)
    if panel.title:
        axes.set_title(panel.title, loc="left")
    axes.tick_params(length=3, width=0.8, which="major")
    axes.tick_params(length=0, which="minor")
    for curve in curves:
        rows = [row for row in points.of(panel.key, curve.name) if row.broken]
        axes.add_line(_ring([row.x for row in rows], [row.y for row in rows]))


def _few_decades(axis: Axis) -> None:
    """Give a logarithmic axis over a few decades plain numbers at 1, 2 and 5."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = sorted(axis.get_view_interval())
    if low > _PLAIN[0] and high < _PLAIN[1] and high / low < _FEW_DECADES:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())


def _curve(axes: Axes, curve: Curve, rows: list[Point], bars: list[Curve]) -> Any:
    colour = LIGHT[curve.colour]
    # Seen through, a faded colour follows the page; a mixed one would not.
    shown = 1.0 - curve.shade
    x = np.array([row.x for row in rows])
    y = np.array([row.y for row in rows])
    if curve.kind == "bars":
        wide = 0.8 / len(bars)
        shift = (bars.index(curve) - (len(bars) - 1) / 2) * wide
        return axes.bar(x + shift, y, wide * 0.92, color=colour, linewidth=0, alpha=shown)
    if curve.kind in ("steps", "area"):
        step: Any = "mid" if curve.kind == "steps" else None
        filled: Any = axes.fill_between(x, y, step=step, color=colour, alpha=0.22, linewidth=0)
        style = "steps-mid" if step else "default"
        axes.plot(x, y, color=colour, linewidth=1.0, drawstyle=style)
        return filled
    (drawn,) = axes.plot(
        x,
        y,
        color=colour,
        alpha=shown,
        linestyle=_DASHES[curve.line],
        linewidth=curve.width,
        marker=curve.marker or "None",
        markersize=3.6,
        markeredgewidth=0.9,
    )
    low = np.array([row.y - (row.error or 0.0) for row in rows])
    high = np.array([row.y + (row.error or 0.0) for row in rows])
    if np.any(high > low):
        axes.fill_between(x, low, high, color=colour, alpha=0.16, linewidth=0)
    return drawn


def _ring(x: Sequence[float] = (), y: Sequence[float] = ()) -> Line2D:
    from matplotlib.lines import Line2D

    return Line2D(
        x,
        y,
        linestyle="none",
        marker="o",
        markersize=6.5 if len(x) <= FEW_RINGS else 4.2,
        markerfacecolor="none",
        markeredgecolor=LIGHT["red"],
        markeredgewidth=1.0 if len(x) <= FEW_RINGS else 0.8,
    )


def _leakages(axes: Axes, curves: Sequence[Sequence[Point]]) -> None:
    """Write beside some of the rings what the mechanism truly leaks, where there is room."""
    whole = axes.get_window_extent()
    taken: list[BboxBase] = []
    for rows in curves:
        broken = [row for row in rows if row.broken and _is_inside(axes, row)]
        for row in _some(broken, SHOWN_LEAKAGES):
            for offset in _OFFSETS:
                label = axes.annotate(
                    said(row.leakage),
                    (row.x, row.y),
                    xytext=offset,
                    textcoords="offset points",
                    color=LIGHT["red"],
                    fontsize=7,
                    ha="center",
                    va="center",
                    bbox=_BACKING,
                )
                box = label.get_window_extent()
                free = not any(box.overlaps(other) for other in taken)
                if free and _holds(whole, box):
                    taken.append(box)
                    break
                label.remove()


def _some(rows: list[Point], most: int) -> list[Point]:
    """Choose some of many, evenly, with both ends."""
    if len(rows) <= most:
        return rows
    return [rows[round(place)] for place in np.linspace(0, len(rows) - 1, most)]


def _holds(whole: BboxBase, box: BboxBase) -> bool:
    """Say whether a number stays in its panel, or nearly so."""
    sideways = whole.x0 <= box.x0 and box.x1 <= whole.x1 + _BEYOND
    return sideways and whole.y0 <= box.y0 and box.y1 <= whole.y1 + _BEYOND


def _is_inside(axes: Axes, row: Point) -> bool:
    (left, right), (low, high) = sorted(axes.get_xlim()), sorted(axes.get_ylim())
    return left <= row.x <= right and low <= row.y <= high


def said(leakage: float | None) -> str:
    """Write a leakage in two digits or so.

    >>> said(1.9004), said(0.00123), said(math.inf)
    ('1.90', '0.0012', '∞')
    """
    if leakage is None or leakage == math.inf:
        return "∞"
    return f"{leakage:.2f}" if leakage >= 0.1 else f"{leakage:.2g}"


def follow_the_page(text: str, title: str = "") -> str:
    """Let the colours of an SVG follow the page it is on.

    What does not know custom properties keeps the light colours, which stand before them.

    >>> follow_the_page('<svg><path style="fill: #1f2430"/></svg>').count("var(--ink)")
    1
    """
    names = {colour: name for name, colour in LIGHT.items()}

    def follow(found: re.Match[str]) -> str:
        name = names.get(found[2])
        return found[0] if name is None else f"{found[0]}; {found[1]}: var(--{name})"

    text = re.sub(r"(fill|stroke): (#[0-9a-f]{6})", follow, text)
    light, dark = (
        "".join(f"--{name}:{colour};" for name, colour in colours.items())
        for colours in (LIGHT, DARK)
    )
    sheet = (
        f"<style>svg{{{light}}}"
        f"@media screen and (prefers-color-scheme:dark){{svg{{{dark}}}}}"
        "text{font-family:system-ui,'Segoe UI','DejaVu Sans',sans-serif}</style>"
    )
    named = f"<title>{escape(title)}</title>" if title else ""
    text = text[text.index("<svg") :]
    return re.sub(r"(<svg[^>]*>)", lambda found: found[1] + named + sheet, text, count=1)
