"""What all pictures share: which files can be written, and how a figure gets there."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from liftlock._runtime.storage import check_writable, open_atomically
from liftlock.errors import FileError, extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KINDS = (".png", ".svg", ".pdf")
DOTS_PER_INCH = 200
COLOURS = ("#1b4f8a", "#b3500a", "#3d7a35", "#8a2f6b", "#5b5b5b", "#0f7f86", "#9a7d0a", "#6a3fa0")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""One of each for every curve, in turn."""
WIDEST, HIGHEST = 11.5, 8.2
"""Inches: a sheet of paper on its side, so that what is readable on a screen is so in print."""

_LINE_HEIGHT = 0.052
"""The least distance of two names, as a share of the height of the axes."""

_FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Source Han Sans",
    "WenQuanYi Zen Hei",
    "Microsoft YaHei",
    "Hiragino Sans",
    "Arial Unicode MS",
)
"""Asked, in this order, for what the first font lacks; only those that are installed."""


def check_picture(path: Path, *needed: str) -> None:
    """Refuse a picture that could not be drawn, before any work is done."""
    if path.suffix.lower() not in KINDS:
        raise FileError(
            "unknown picture format",
            where=str(path),
            value=path.suffix or None,
            remedy=f"give it a name that ends in {', '.join(KINDS[:-1])} or {KINDS[-1]}",
        )
    check_writable(path)
    with extra("plot"):
        for module in ("matplotlib", *needed):
            import_module(module)


def tidy(axes: Axes) -> None:
    """Draw a faint grid below everything, and no frame above and at the right."""
    axes.grid(visible=True, color="#e3e3e3", linewidth=0.7)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def plain_number(number: float, _: object = None) -> str:
    """Write a number on an axis, thousands apart.

    >>> plain_number(120000.0), plain_number(0.25), plain_number(-0.0)
    ('120,000', '0.25', '0')
    """
    return f"{number + 0.0:,.10g}".replace("-", "\N{MINUS SIGN}")


@cache
def _sheet() -> type[Figure]:
    """Return a figure that is drawn once: its layout needs no drawing before."""
    with extra("plot"):
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine

    class Sheet(Figure):
        def draw(self, renderer: Any) -> None:
            engine = self.get_layout_engine()
            if not isinstance(engine, ConstrainedLayoutEngine):
                super().draw(renderer)
            elif self.axes:
                # Saving draws a figure without ink for its layout, turns the layout off and draws
                # it again.
                with suppress(ValueError):
                    engine.execute(self)

    return Sheet


@contextmanager
def picture(path: Path, width: float, height: float) -> Iterator[Figure]:
    """Give an empty figure, and write it, completely or not at all, when it has been drawn."""
    with extra("plot"):
        import matplotlib
        from matplotlib import font_manager
        from matplotlib.backends.backend_agg import FigureCanvasAgg

    installed = set(font_manager.get_font_names())
    settings: Any = {
        "font.family": ["DejaVu Sans", *(name for name in _FONTS if name in installed)],
        "pdf.fonttype": 42,
        "svg.hashsalt": "liftlock",
    }
    kind = path.suffix.lower()[1:]
    # The same picture for the same audit: no date, no random names inside the file.
    metadata: Any = {
        "png": {"Software": None},
        "svg": {"Date": None},
        "pdf": {"CreationDate": None},
    }[kind]
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        # A script that no font has is drawn as boxes; the audit itself names the label.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
        # Made without pyplot, so that no window system is touched.
        figure = _sheet()(figsize=(width, height), layout="constrained", facecolor="white")
        FigureCanvasAgg(figure)
        yield figure
        with open_atomically(path) as stream:
            figure.savefig(stream, format=kind, dpi=DOTS_PER_INCH, metadata=metadata)


def write_names(axes: Axes, names: list[tuple[float, float, str, str]]) -> None:
    """Write each name to the right of the axes, as near to the end of its curve as possible."""
    scale = axes.yaxis.get_transform().transform
    low, high = scale(np.array(axes.get_ylim()))
    right = axes.get_xlim()[1]
    wanted = [float(scale(level) - low) / (high - low) for _, level, _, _ in names]
    for place, height in enumerate(spread(wanted, _LINE_HEIGHT)):
        across, level, text, colour = names[place]
        start = right if math.isnan(across) else across
        axes.annotate(
            text,
            xy=(start, level),
            xytext=(1.025, height),
            textcoords="axes fraction",
            color=colour,
            fontsize=9,
            va="center",
            ha="left",
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.6, "alpha": 0.55},
        )


def spread(wanted: list[float], least: float) -> list[float]:
    """Move heights apart until any two differ by at least so much, and stay between 0 and 1.

    >>> [round(height, 2) for height in spread([0.5, 0.5, 0.9], 0.1)]
    [0.45, 0.55, 0.9]
    """
    order = sorted(range(len(wanted)), key=lambda k: wanted[k])
    # Neighbours that are too close form a block around their mean, as in isotonic regression.
    blocks: list[list[float]] = []
    for position, k in enumerate(order):
        blocks.append([wanted[k] - least * position, 1.0])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            mean, size = blocks.pop()
            before, count = blocks[-1]
            blocks[-1] = [(before * count + mean * size) / (count + size), count + size]
    bases = [mean for mean, size in blocks for _ in range(int(size))]
    top = 1.0 - least * (len(wanted) - 1)
    heights = [0.0] * len(wanted)
    for position, k in enumerate(order):
        heights[k] = min(max(bases[position], 0.0), max(top, 0.0)) + least * position
    return heights
