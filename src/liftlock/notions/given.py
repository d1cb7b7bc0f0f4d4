"""Guarantees for every value k of what is given: each part of a channel under its own joint.

A notion holds for a `Conditional` context if it holds for every k, for W(y | x, k) under the joint
of k. Of the rest, whose members may have any joint, LDP of X is asked: the LDP that implies the
notion under every prior, or, where none does, rows that are all equal and so say nothing.

Source: math kept columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from liftlock.errors import NotDefined, UnprotectedInput
from liftlock.exact.budget import Budget
from liftlock.exact.enclosure import Enclosure
from liftlock.model import Conditional, Context, Intervals, Prior
from liftlock.model.alphabet import Alphabet
from liftlock.model.channel import Channel
from liftlock.model.conditional import Part
from liftlock.model.structured import AnyChannel, to_dense
from liftlock.notions.certificate import Certificate, Claim, make_certificate
from liftlock.notions.measurement import Measurement, Witness

if TYPE_CHECKING:
    from liftlock.notions.base import Notion
    from liftlock.notions.lift import Impossible

REST_CLAIM = "ldp given any other value"
"""What is claimed of the rest."""

_RARE = 10**9
_OF_BELIEFS = ("eps_lower", "eps_upper", "lip", "ldp")
"""What LDP bounds under every joint, and attains in the limit."""


def parts_of(channel: AnyChannel, context: Conditional, *, every: bool = False) -> Iterator[Part]:
    """Give the part of each k; of the rest only if its rows say anything."""
    for part in context.parts(to_dense(channel), every=every):
        if not (part.open and is_silent(part.channel)):
            yield part


def is_silent(channel: Channel) -> bool:
    """Tell whether all rows are equal, exactly.

    >>> is_silent(Channel.from_rows({0: {"y": "0.5", "z": "0.5"}, 1: {"y": "1/2", "z": "1/2"}}))
    True
    """
    factors = np.array(channel.row_factors, dtype=object)[:, None]
    rows = channel.weights.astype(object) * factors
    return bool((rows == rows[:1]).all())


def certify_given(
    notion: Notion, channel: AnyChannel, context: Conditional, impossible: Impossible
) -> Certificate:
    """Audit exactly whether a guarantee holds for every k; the worst one is the witness."""
    table = to_dense(channel)
    unprotected = () if notion.context_free else context.unprotected(table)
    if unprotected and impossible == "refuse":
        raise UnprotectedInput(unprotected)
    claims: list[Claim] = []
    nats: dict[str, Enclosure] = {}
    anyway: Measurement | None = None
    for part in context.parts(table, every=notion.context_free):
        if part.open:
            own, shown = _rest_claim(notion, part), {}
            found: list[Claim] = [own]
            if rest_budget(notion) is not None:
                shown = {name: own.measured for name in _OF_BELIEFS if name in nats}
        else:
            decided, measured = notion.decide(part.channel, part.context)
            found, shown = [_given(each, part) for each in decided], dict(measured)
        claims = _worst_claims(claims, found)
        for name, value in shown.items():
            nats[name] = value.maximum(nats[name]) if name in nats else value
        within = part.context.prior if part.open else part.context
        beside = notion.measure_anyway(part.channel, within)
        if beside is not None:
            anyway = worse_measurement(anyway, beside)
    return make_certificate(
        notion.name, notion.budgets, channel, context, claims, nats, unprotected, anyway
    )


def _rest_claim(notion: Notion, part: Part) -> Claim:
    """Compare the LDP of the rest with what implies the notion under every joint."""
    from liftlock.notions.ldp import LDP

    budget = rest_budget(notion)
    if budget is None and not silence_keeps(notion, part):
        raise NotDefined(
            notion.name,
            "given values of which nothing is known: no mechanism keeps it under every joint",
            "ask for LIP, ALIP or LDP, or list every given value",
        )
    (claim,), _ = LDP("0" if budget is None else budget).decide(part.channel, part.context.prior)
    return replace(claim, quantity=REST_CLAIM)


def rest_budget(notion: Notion) -> Budget | None:
    """Return the LDP that the rest must keep; None: its rows must be equal.

    >>> from liftlock.notions.lip import ALIP
    >>> print(rest_budget(ALIP(lower="1.3", upper="0.7")))
    0.7
    """
    found = notion.ldp_budget
    return notion.without_delta.ldp_budget if found is None else found


def silence_keeps(notion: Notion, part: Part) -> bool:
    """Tell whether a channel that says nothing keeps a notion, also under a very skewed prior."""
    one = Alphabet.of(["silence"])
    inputs = part.context.inputs
    if len(inputs) < 2:
        inputs = Alphabet.of(["one", "other"])
    weights = np.ones((len(inputs), 1), dtype=np.int64)
    silent = Channel(inputs, one, weights, (1,) * len(inputs))
    skewed = Prior(inputs, (_RARE, *(1,) * (len(inputs) - 1)))
    claims, _ = notion.decide(silent, skewed)
    return not any(claim.is_broken for claim in claims)


def _given(claim: Claim, part: Part) -> Claim:
    return replace(claim, witness=replace(claim.witness or Witness(), given=part.label))


def _worst_claims(claims: list[Claim], found: Iterable[Claim]) -> list[Claim]:
    """Return for each quantity the claim that is broken, or nearest to it; the first of equals."""
    worst = {claim.quantity: claim for claim in claims}
    for claim in found:
        before = worst.get(claim.quantity)
        worst[claim.quantity] = claim if before is None else _worse(before, claim)
    return list(worst.values())


def _worse(before: Claim, claim: Claim) -> Claim:
    if before.is_broken != claim.is_broken:
        return claim if claim.is_broken else before
    one, other = before.measured, claim.measured
    if claim.relation == ">=":
        return claim if other.lower < one.lower else before
    if one.upper is None or other.upper is None:
        return claim if one.upper is not None else before
    return claim if other.upper > one.upper else before


def worst_given(
    channel: AnyChannel,
    context: Conditional,
    measure: Callable[[AnyChannel, Context], Measurement],
    *,
    every: bool = False,
    least: bool = False,
) -> Measurement:
    """Measure every part, and return the worst: the largest, or the least; of the rest under any.

    >>> from liftlock.notions.ldp import LDP
    >>> both = Conditional.of({"a": Prior.uniform([0, 1]), "b": Prior.from_counts({0: 1, 1: 3})})
    >>> bit = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> LDP.measure(bit, both).ratio
    Fraction(3, 1)
    """
    worst: Measurement | None = None
    for part in parts_of(channel, context, every=every):
        within: Context = part.context
        if part.open:
            within = Intervals.all_priors(part.channel.inputs.labels)
        found = measure(part.channel, within)
        found = replace(found, witness=replace(found.witness or Witness(), given=part.label))
        worst = worse_measurement(worst, found, least=least)
    if worst is None:  # a rest alone, whose rows say nothing
        part = next(context.parts(to_dense(channel)))
        return measure(part.channel, part.context)
    return worst


def worse_measurement(
    before: Measurement | None, found: Measurement, *, least: bool = False
) -> Measurement:
    """Return the worse of two measurements, with the enclosure of the worse value."""
    if before is None:
        return found
    if least:
        return found if found.value.lower < before.value.lower else before
    if before.ratio is not None and found.ratio is not None:
        return found if found.ratio > before.ratio else before
    if before.value.upper is None:
        return before
    if found.value.upper is None or found.value.lower > before.value.lower:
        return replace(found, value=found.value.maximum(before.value))
    return replace(before, value=found.value.maximum(before.value))
