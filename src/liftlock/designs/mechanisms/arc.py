"""The arc mechanism: a window on a circle of symbols, for any prior, in closed form."""

from __future__ import annotations

import random

import numpy as np

from liftlock._solver.problem import Problem
from liftlock.designs.base import LIFT_NOTIONS, Design, Draft
from liftlock.errors import InputError
from liftlock.exact.integers import Floats
from liftlock.model import Context
from liftlock.notions.base import Notion

LARGEST_LIFT = 2.0**20
"""Looser limits are not used up: below a millionth, cells come near the last bit of a table."""

MOST_ORDERS = 64

OUTPUTS = 256
"""Most outputs of a table whose cells are cut into parts, unless told otherwise."""


def arc(
    context: Context,
    notion: Notion,
    *,
    parts: int | None = None,
    orders: int = 1,
) -> Draft:
    """Lay the symbols on a circle, symbol x an arc of length P(x), and report a window's cell.

    A point T is uniform on the arc of the true symbol. The start u of a window of length
    p* = (1 - L) / (U - L) has density U where the window covers T and L elsewhere, for lifts in
    [L, U]. Then u is uniform, and the lift of x at u is

        L + (U - L) (share of the arc of x inside the window),

    so it lies in [L, U] for every prior. The circle is cut where the set of symbols that the window
    touches changes: at most 2 m cells, and reporting the cell of u is a finite channel. Cut into
    several `parts` each, the cells say more, up to what u itself would say; unless told, there are
    as many parts as 256 outputs allow. Symbols keep the order of their alphabet, so windows are
    intervals of neighbours.

    Reports of windows tell neighbours apart badly, so unbiased estimates of a histogram are poor.
    With several `orders` the symbols are laid out anew, in an order that everybody knows, and a
    report says in which order its window is meant, each with the same chance. Every order keeps the
    lifts, so their mixture does, and 16 of them tell all symbols apart.

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.model import Prior
    >>> draft = arc(Prior.uniform("abc"), LIP("1"), parts=1)
    >>> draft.matrix.shape, float((draft.matrix * 3 / draft.matrix.sum(axis=0)).max().round(4))
    ((3, 6), 2.2642)
    """
    if parts is not None and parts < 1:
        raise InputError("no parts", value=parts, remedy="use 1 part or more")
    if not 1 <= orders <= MOST_ORDERS:
        raise InputError(
            "orders out of range", value=orders, remedy=f"use 1 to {MOST_ORDERS} orders"
        )
    problem = Problem.of(context, notion)
    lower, upper = max(problem.lower, 1 / LARGEST_LIFT), min(problem.upper, LARGEST_LIFT)
    width = window(lower, upper)
    if parts is None and orders > 1:
        parts = 1
    blocks = []
    for order in circle_orders(len(problem.masses), orders):
        laid = _one_order(problem.masses[order], lower, upper, width, parts)
        block = np.empty_like(laid)
        block[order] = laid
        blocks.append(block)
    matrix = np.hstack(blocks)
    matrix /= matrix.sum(axis=1, keepdims=True)
    names = [
        f"window {cell + 1}" if orders == 1 else f"order {order + 1}, window {cell + 1}"
        for order, block in enumerate(blocks)
        for cell in range(block.shape[1])
    ]
    remarks = [f"each report points at a window with {width:.6g} of the prior mass"]
    if orders > 1:
        remarks.append(f"the symbols are laid out in {orders} orders, each as likely as the others")
    return Draft.of(problem.inputs, names, matrix, remarks=remarks)


def circle_orders(symbols: int, orders: int) -> list[list[int]]:
    """Return the orders in which symbols are laid on the circle: their own, and shuffled ones.

    The shuffles are always the same, so that everybody can repeat them.

    >>> circle_orders(4, 3)
    [[0, 1, 2, 3], [3, 0, 2, 1], [1, 2, 3, 0]]
    """
    found = [list(range(symbols))]
    for number in range(1, orders):
        order = list(range(symbols))
        random.Random(number).shuffle(order)
        found.append(order)
    return found


def _one_order(
    masses: Floats, lower: float, upper: float, width: float, parts: int | None
) -> Floats:
    """Return the cells of windows when symbols lie on the circle in this order."""
    cuts = np.concatenate([[0.0], np.cumsum(masses)])
    cuts[-1] = 1.0
    if width == 0:
        starts = np.array([0.0])
    else:
        starts = np.unique(np.mod(np.concatenate([cuts[:-1], cuts[:-1] - width]), 1.0))
    if parts is None:
        parts = max(1, OUTPUTS // len(starts)) if width else 1
    lengths = np.diff(np.append(starts, 1.0 + starts[0])) / parts
    starts = (starts[:, None] + lengths[:, None] * np.arange(parts)).reshape(-1)
    lengths = np.repeat(lengths, parts)
    ends = starts + lengths
    # The covered share is linear inside a cell, so its mean is that of both ends.
    share = (_overlaps(cuts, starts, width) + _overlaps(cuts, ends, width)) / 2
    share /= masses[:, None]
    found: Floats = lengths * (lower + (upper - lower) * share)
    return found


def window(lower: float, upper: float) -> float:
    """Return the length p* of the window; 0 when a limit allows no lift but 1.

    >>> round(window(1 / 2, 2.0), 4), window(1.0, 2.0)
    (0.3333, 0.0)
    """
    if lower >= 1 or upper <= 1:
        return 0.0
    return (1.0 - lower) / (upper - lower)


def _overlaps(cuts: Floats, starts: Floats, width: float) -> Floats:
    """Return how much of each arc lies inside the window from each start, around the circle."""
    low, high = cuts[:-1, None], cuts[1:, None]
    total = np.zeros((len(cuts) - 1, len(starts)))
    for turn in (-1.0, 0.0, 1.0):
        begin = starts[None, :] + turn
        total += np.clip(np.minimum(high, begin + width) - np.maximum(low, begin), 0.0, None)
    return total


DESIGN = Design(
    key="arc",
    make=arc,
    summary="a window on a circle of symbols: closed form, thousands of symbols, any prior",
    promises="at most 2 m outputs per part; near the optimum when no symbol is likely",
    source="derived for liftlock; not in the papers",
    notions=LIFT_NOTIONS,
    contexts=("prior",),
    options={
        "parts": "number of parts of each of the 2 m cells",
        "orders": "number of orders of the symbols; 16 for unbiased histograms",
    },
)
