"""What all pictures share: which files can be written, and how a figure gets there."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from liftlock.errors import FileError, extra
from liftlock.storage import check_writable, written_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = (".png", ".svg", ".pdf")
DOTS_PER_INCH = 200
WIDEST, HIGHEST = 11.5, 8.2
"""Inches: a sheet of paper on its side, so that what is readable on a screen is so in print."""

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
            "unknown kind of picture",
            where=str(path),
            value=path.suffix or None,
            remedy=f"end the name in {', '.join(KINDS[:-1])} or {KINDS[-1]}",
        )
    check_writable(path)
    with extra("plot"):
        for module in ("matplotlib", *needed):
            import_module(module)


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
        with written_atomically(path) as fresh:
            figure.savefig(fresh, format=kind, dpi=DOTS_PER_INCH, metadata=metadata)
