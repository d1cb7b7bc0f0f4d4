"""Unary encodings: a noisy bit for each symbol, optimal (OUE) and symmetric (SUE)."""

from __future__ import annotations

from liftlock._solver.problem import ldp_budget
from liftlock.designs.base import (
    LIFT_NOTIONS,
    PRIOR_KINDS,
    Design,
    StructuredDraft,
    few_outputs_memory,
)
from liftlock.designs.mechanisms.prior_free import remarks_on_ldp
from liftlock.model import Context
from liftlock.model.structured import UnaryChannel
from liftlock.notions.base import Notion


def oue(context: Context, notion: Notion) -> StructuredDraft:
    """Report one bit for each symbol: the true one is 1 with probability 1/2, others 1 / (E + 1).

    Per person, the frequency of a symbol of share f is estimated with variance 4E / (E - 1)^2 + f,
    so a histogram of d symbols from n people with n (4 d E / (E - 1)^2 + 1).

    Source: 000 section V; 001 section V with the term f that it lacks.

    >>> from liftlock.notions.ldp import LDP
    >>> from liftlock.model import Prior
    >>> draft = oue(Prior.uniform(range(1024)), LDP("ln 3"))
    >>> draft.channel.hit, draft.channel.miss, draft.channel.report_bytes
    (Fraction(1, 2), Fraction(1, 4), 128)
    """
    return _unary(UnaryChannel.optimal(context.inputs, ldp_budget(notion)), notion)


def sue(context: Context, notion: Notion) -> StructuredDraft:
    """Report one bit for each symbol, each flipped with probability 1 / (sqrt(E) + 1).

    >>> from liftlock.notions.ldp import LDP
    >>> from liftlock.model import Prior
    >>> draft = sue(Prior.uniform(range(8)), LDP("ln 9"))
    >>> draft.channel.hit, draft.channel.miss
    (Fraction(3, 4), Fraction(1, 4))
    """
    return _unary(UnaryChannel.symmetric(context.inputs, ldp_budget(notion)), notion)


def _unary(channel: UnaryChannel, notion: Notion) -> StructuredDraft:
    said = f"a report is {channel.report_size}, a bit for each symbol"
    return StructuredDraft(channel, remarks=(said, *remarks_on_ldp(notion)))


OUE = Design(
    key="oue",
    make=oue,
    summary="optimal unary encoding: a noisy bit for each symbol, packed; no table",
    promises="nothing beyond LDP; near the least variance for rare symbols of a large alphabet",
    source="000 section V; 001 section V",
    published=("ldp",),
    notions=("ldp", *LIFT_NOTIONS),
    contexts=PRIOR_KINDS,
    prior_free=True,
    memory=few_outputs_memory,
)

SUE = Design(
    key="sue",
    make=sue,
    summary="symmetric unary encoding: every bit of the unary code flipped alike, packed; no table",
    promises="nothing beyond LDP; a baseline",
    source="LDP literature; not in the papers",
    notions=("ldp", *LIFT_NOTIONS),
    contexts=PRIOR_KINDS,
    prior_free=True,
    memory=few_outputs_memory,
)
