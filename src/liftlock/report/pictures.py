"""What all pictures share: which files can be written, and how a figure gets there."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from liftlock.errors import FileError, InputError
from liftlock.mechanism import check_writable, written_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = (".png", ".svg", ".pdf")
DOTS_PER_INCH = 150


def check_picture(path: Path) -> None:
    """Refuse a picture that could not be drawn, before any work is done."""
    if path.suffix.lower() not in KINDS:
        raise FileError(
            "unknown kind of picture",
            where=str(path),
            value=path.suffix or None,
            remedy=f"end the name in {', '.join(KINDS[:-1])} or {KINDS[-1]}",
        )
    check_writable(path)
    try:
        import matplotlib  # noqa: F401 - an optional dependency
    except ImportError:
        raise InputError(
            "pictures need matplotlib", remedy="pip install 'liftlock[plot]'"
        ) from None


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure; made without pyplot, so that no window system is touched."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure completely or not at all."""
    import matplotlib

    kind = path.suffix.lower()[1:]
    # The same picture for the same audit: no date, no random names inside the file.
    metadata: dict[str, Any] = {
        "png": {"Software": None},
        "svg": {"Date": None},
        "pdf": {"CreationDate": None},
    }[kind]
    with (
        warnings.catch_warnings(),
        matplotlib.rc_context({"svg.hashsalt": "liftlock", "pdf.fonttype": 42}),
        written_atomically(path) as fresh,
    ):
        # A script that the font lacks is drawn as boxes; the audit itself names the label.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
        figure.savefig(fresh, format=kind, dpi=DOTS_PER_INCH, metadata=metadata)
