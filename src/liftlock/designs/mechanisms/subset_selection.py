"""Subset selection: report a set of symbols that holds the true one more often than not."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from liftlock._solver.problem import ldp_budget
from liftlock.alphabet import Alphabet, Label
from liftlock.context import Context, representative
from liftlock.designs.base import LIFT_NOTIONS, PRIOR_KINDS, Design, Draft
from liftlock.designs.mechanisms.k_rr import WIDER
from liftlock.errors import InputError
from liftlock.exact.integers import Floats
from liftlock.notions.base import Notion
from liftlock.utility.utility import Utility, mean_cost

MOST_OUTPUTS = 25_000
"""A table with more outputs than this is refused: an encoding does as well without a table."""


def subset_selection(
    context: Context, notion: Notion, *, utility: Utility | None = None, size: int | None = None
) -> Draft:
    """Report one of the subsets of `size` symbols; those with the true symbol are E times likelier.

        P(Z | x) = E / c  if x in Z,  else 1 / c,      c = E C(d-1, w-1) + C(d-1, w)

    for d symbols and subsets of w. Without a size, w is a neighbour of d / (E + 1): the one that is
    better for the utility, or else the one whose unbiased frequencies have the smaller variance.
    For w = 1 it is k-ary randomised response. Like that, it serves for lift notions too.

    >>> from liftlock.notions.ldp import LDP
    >>> from liftlock.prior import Prior
    >>> draft = subset_selection(Prior.uniform("abcd"), LDP("ln 2"), size=2)
    >>> draft.outputs.labels[0], draft.matrix.round(4)[0].tolist()
    ('{a, b}', [0.2222, 0.2222, 0.2222, 0.1111, 0.1111, 0.1111])
    """
    inputs = context.inputs
    other = 1.0 / float(ldp_budget(notion).exp())
    if size is None:
        size = _best_size(context, other, utility)
    elif not 1 <= size <= len(inputs):
        raise InputError(
            "subsets of an impossible size",
            value=size,
            remedy=f"use 1 to {len(inputs)} symbols",
        )
    outputs = math.comb(len(inputs), size)
    if outputs > MOST_OUTPUTS:
        raise InputError(
            f"{outputs:,} subsets of {size} of {len(inputs)} symbols are too many for a table",
            remedy="use the method oue or hashing, which need no table, or a smaller size",
        )
    remarks = [f"reports are subsets of {size} of {len(inputs)} symbols"]
    if notion.ratio_limit is None:
        remarks.append(WIDER)
    return Draft.of(
        inputs,
        _names(inputs.labels, size),
        _matrix(len(inputs), size, other),
        method=DESIGN.key,
        remarks=remarks,
    )


def _best_size(context: Context, other: float, utility: Utility | None) -> int:
    symbols = len(context.inputs)
    ideal = symbols * other / (1.0 + other)
    sizes = sorted({max(1, math.floor(ideal)), min(max(1, math.ceil(ideal)), max(1, symbols - 1))})
    fitting = [w for w in sizes if math.comb(symbols, w) <= MOST_OUTPUTS] or sizes[:1]
    if len(fitting) == 1:
        return fitting[0]
    if utility is None:
        return min(fitting, key=lambda w: _variance(symbols, w, other))
    masses = representative(context).floats()
    return min(fitting, key=lambda w: mean_cost(utility, _matrix(symbols, w, other), masses))


def _variance(symbols: int, size: int, other: float) -> float:
    """Return the variance of an unbiased rare frequency, for one report: q (1 - q) / (p - q)^2."""
    hit = size / (size + (symbols - size) * other)
    false = (hit * (size - 1) + (1 - hit) * size) / (symbols - 1)
    return false * (1 - false) / (hit - false) ** 2 if hit > false else math.inf


def _members(symbols: int, size: int) -> list[tuple[int, ...]]:
    return list(itertools.combinations(range(symbols), size))


def _matrix(symbols: int, size: int, other: float) -> Floats:
    members = np.array(_members(symbols, size))
    matrix = np.full((symbols, len(members)), other)
    matrix[members, np.arange(len(members))[:, None]] = 1.0
    return matrix / (math.comb(symbols - 1, size - 1) + other * math.comb(symbols - 1, size))


def _names(labels: Sequence[Label], size: int) -> Alphabet:
    """Name each subset by its symbols, quoted if that alone would be ambiguous."""
    groups = _members(len(labels), size)
    for shown in ([str(label) for label in labels], [repr(label) for label in labels]):
        names = ["{" + ", ".join(shown[i] for i in group) + "}" for group in groups]
        if len(set(names)) == len(names):
            break
    return Alphabet.of(names)


DESIGN = Design(
    key="subset-selection",
    make=subset_selection,
    says="report a set of symbols that holds the true one with a probability e^epsilon as large",
    promises="nothing beyond LDP; a good baseline for histograms of a moderate alphabet",
    source="LDP literature; not in the papers",
    notions=("ldp", *LIFT_NOTIONS),
    contexts=PRIOR_KINDS,
    prior_free=True,
    needs=f"at most {MOST_OUTPUTS:,} subsets",
    options={"size": "how many symbols a reported subset has"},
)
