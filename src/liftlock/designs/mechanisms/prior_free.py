"""Responses that ignore the prior: k-ary randomised response, subsets, and hashes of symbols."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from liftlock._solver.problem import ldp_budget
from liftlock.designs.base import (
    LIFT_NOTIONS,
    PRIOR_KINDS,
    Design,
    Draft,
    StructuredDraft,
    few_outputs_memory,
)
from liftlock.errors import InputError
from liftlock.exact.integers import Floats
from liftlock.model import Context, representative
from liftlock.model.alphabet import Alphabet, Label
from liftlock.model.structured import HashingChannel
from liftlock.model.structured.hashing_channel import MOST_SYMBOLS
from liftlock.notions.base import Notion
from liftlock.utility.base import Utility, mean_cost


def remarks_on_ldp(notion: Notion) -> tuple[str, ...]:
    """Say of an LDP mechanism that it serves for a lift notion, if it does."""
    if notion.ratio_limit is not None:
        return ()
    return ("it is LDP with the smaller budget, which implies the notion under every prior",)


def k_rr(context: Context, notion: Notion) -> Draft:
    """Say the truth with probability E / (E + k - 1), any other symbol with 1 / (E + k - 1).

    E = e^epsilon, k symbols. The prior plays no part. A factor E between the likelihoods of any two
    symbols keeps every lift between 1/E and E whatever the prior, and by data processing the
    same holds for any secret behind X; so it serves for lift notions too, with the smaller of
    their budgets. It is a baseline and not the best LDP mechanism for most utilities.

    Source: 000 section V; 001 section V, without its claim to be optimal.

    >>> from liftlock.notions.ldp import LDP
    >>> from liftlock.model import Prior
    >>> k_rr(Prior.uniform("abc"), LDP("ln 2")).matrix.round(4)[0].tolist()
    [0.5, 0.25, 0.25]
    """
    size = len(context.inputs)
    other = 1.0 / float(ldp_budget(notion).exp())
    matrix = np.full((size, size), other)
    np.fill_diagonal(matrix, 1.0)
    matrix /= 1.0 + (size - 1) * other
    remarks = [f"the truth is told with probability {matrix[0, 0]:.6g}", *remarks_on_ldp(notion)]
    return Draft.of(context.inputs, context.inputs, matrix, remarks=remarks)


K_RR = Design(
    key="k-rr",
    make=k_rr,
    summary="k-ary randomised response: the truth, or any other symbol with equal probability",
    promises="nothing beyond LDP; a baseline that is good for few symbols or large budgets",
    source="000 section V; 001 section V",
    published=("ldp",),
    notions=("ldp", *LIFT_NOTIONS),
    contexts=PRIOR_KINDS,
    prior_free=True,
)


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
    >>> from liftlock.model import Prior
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
    remarks = [f"reports are subsets of {size} of {len(inputs)} symbols", *remarks_on_ldp(notion)]
    return Draft.of(
        inputs,
        _names(inputs.labels, size),
        _matrix(len(inputs), size, other),
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


SUBSET_SELECTION = Design(
    key="subset-selection",
    make=subset_selection,
    summary="report a set of symbols that holds the true one with a probability e^epsilon as large",
    promises="nothing beyond LDP; a good baseline for histograms of a moderate alphabet",
    source="LDP literature; not in the papers",
    notions=("ldp", *LIFT_NOTIONS),
    contexts=PRIOR_KINDS,
    prior_free=True,
    needs=f"at most {MOST_OUTPUTS:,} subsets",
    options={"size": "size of a reported subset"},
)


def hashing(
    context: Context,
    notion: Notion,
    *,
    buckets: int | None = None,
) -> StructuredDraft:
    """Report a random hash function and a noisy bucket of the value, of about E + 1 buckets.

    As accurate as optimal unary encoding in a report of five bytes. The lifts are proved for the
    worst hash function there could be, so they hold for each; a report is public and says which
    hash function was drawn, which does not depend on the value.

    >>> from liftlock.notions.ldp import LDP
    >>> from liftlock.model import Prior
    >>> draft = hashing(Prior.uniform(range(1024)), LDP("1"))
    >>> draft.channel.buckets, draft.channel.report_bytes
    (4, 5)
    """
    channel = HashingChannel.optimal(context.inputs, ldp_budget(notion), buckets=buckets)
    said = f"a report is {channel.report_size}: a seed and one of {channel.buckets} buckets"
    return StructuredDraft(channel, remarks=(said, *remarks_on_ldp(notion)))


HASHING = Design(
    key="hashing",
    make=hashing,
    summary="optimal local hashing: each user draws a hash and reports a noisy bucket; no table",
    promises="nothing beyond LDP; as accurate as oue in a much shorter report",
    source="LDP literature; not in the papers",
    notions=("ldp", *LIFT_NOTIONS),
    contexts=PRIOR_KINDS,
    prior_free=True,
    needs=f"at most {MOST_SYMBOLS:,} symbols",
    options={"buckets": "number of buckets of the hash"},
    memory=few_outputs_memory,
)
