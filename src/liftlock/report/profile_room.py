"""Where on the sheet of a graph there is room for a name or a number."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from liftlock.exact.integers import Floats
from liftlock.report.profile_sheet import Sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.text import Text

Booleans = npt.NDArray[np.bool_]
Box = tuple[float, float, float, float]
"""Left, low, right, high."""

_ALONG = (0.5, 0.44, 0.56, 0.38, 0.62, 0.33, 0.67, 0.28, 0.72, 0.23, 0.77)


def along(sheet: Sheet) -> Floats:
    """Return points along every edge, of shape (edges, points, 2)."""
    ends = sheet.places[sheet.audit.graph.edge_array]
    shares = np.linspace(0.0, 1.0, 60)[None, :, None]
    points: Floats = ends[:, :1] * (1.0 - shares) + ends[:, 1:] * shares
    return points


def measured(figure: Figure, text: Text) -> tuple[float, float]:
    """Return the width and height of a text in inches."""
    canvas: Any = figure.canvas
    extent = text.get_window_extent(canvas.get_renderer())
    return extent.width / figure.dpi, extent.height / figure.dpi


def box_of(centre: tuple[float, float], size: tuple[float, float]) -> Box:
    """Return the box of a size about a centre."""
    (x, y), (wide, high) = centre, size
    return x - wide / 2, y - high / 2, x + wide / 2, y + high / 2


def freest(
    tried: list[tuple[float, float]],
    size: tuple[float, float],
    boxes: Floats,
    points: Floats,
    sheet: Sheet,
    own: int | None = None,
) -> tuple[float, float] | None:
    """Return the first of the places that covers nothing, and as few edges as possible."""
    found: tuple[float, float] | None = None
    least = math.inf
    for centre in tried:
        left, low, right, high = box_of(centre, size)
        if left < 0.05 or right > sheet.width - 0.05:
            continue
        covers = (
            (boxes[:, 0] < right)
            & (boxes[:, 2] > left)
            & (boxes[:, 1] < high)
            & (boxes[:, 3] > low)
        )
        if covers.any():
            continue
        inside: Booleans = (
            (points[..., 0] > left)
            & (points[..., 0] < right)
            & (points[..., 1] > low)
            & (points[..., 1] < high)
        )
        within = np.flatnonzero(inside.any(axis=1))
        crossed = int((within != -1 if own is None else within != own).sum())
        if crossed < least:
            found, least = centre, crossed
        if not crossed:
            break
    return found


def on_edge(first: Floats, second: Floats) -> list[tuple[float, float]]:
    """Return places on an edge, from its middle outwards."""
    return [(float(x), float(y)) for x, y in (first * (1 - t) + second * t for t in _ALONG)]


def beside_edge(
    first: Floats, second: Floats, size: tuple[float, float]
) -> list[tuple[float, float]]:
    """Return places where a text just touches an edge, on either side."""
    way = second - first
    across = np.array([-way[1], way[0]]) / max(float(np.hypot(*way)), 1e-9)
    away = 0.5 * (abs(across[0]) * size[0] + abs(across[1]) * size[1]) + 0.01
    return [
        (x + side * float(across[0]), y + side * float(across[1]))
        for x, y in on_edge(first, second)
        for side in (away, -away)
    ]
