"""Guarantees for every given value, against brute force in fractions."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from liftlock import Channel
from liftlock.errors import NotDefined, UnprotectedInput
from liftlock.exact.budget import Budget
from liftlock.model import Conditional, Joint, Prior
from liftlock.model.alphabet import Label
from liftlock.notions import (
    ALIP,
    LDP,
    LIP,
    ApproximateLIP,
    CrowdMass,
    Identifiability,
    MaxLift,
    MutualInformation,
    NoBreach,
    Notion,
    audit,
)
from liftlock.notions.given import REST_CLAIM, rest_budget


def some_context(draw: random.Random, *, rest: bool = False) -> Conditional:
    def joint() -> Joint:
        return Joint.from_counts(
            {s: {x: draw.randrange(1, 30) for x in "abc"} for s in ("ill", "well")}
        )

    known = {k: joint() for k in "kmn"}
    return Conditional.of(known, rest=joint() if rest else None)


def some_channel(draw: random.Random, context: Conditional, spread: int = 30) -> Channel:
    rows = {}
    for pair in context.pair_list:
        weights = [draw.randrange(10, 10 + spread) for _ in "yz"]
        rows[pair] = {y: Fraction(w, sum(weights)) for y, w in zip("yz", weights, strict=True)}
    return Channel.from_fractions(
        context.pairs,
        Channel.identity("yz").outputs,
        [[rows[pair][y] for y in "yz"] for pair in context.pair_list],
    )


def lifts_by_hand(channel: Channel, context: Conditional) -> dict[object, list[Fraction]]:
    found: dict[object, list[Fraction]] = {}
    for k in context.given.labels:
        if context.rest and k == "(other)":
            continue
        joint = context.context_of(k)
        assert isinstance(joint, Joint)
        group = context.group_of(k)
        for y in channel.outputs.labels:
            chance: dict[Label, Fraction] = {
                x: channel.probability((group, x), y) for x in joint.inputs.labels
            }
            joined = [
                sum((count * chance[x] for x, count in cells), Fraction(0))
                for cells in (
                    list(zip(joint.inputs.labels, row, strict=True)) for row in joint.counts
                )
            ]
            total = sum(joined, Fraction(0)) / joint.total
            for row, each in zip(joint.counts, joined, strict=True):
                found.setdefault(k, []).append(each / sum(row) / total)
    return found


@pytest.mark.parametrize("seed", range(20))
def test_lifts_are_the_worst_of_all_given_values(seed: int) -> None:
    draw = random.Random(seed)
    context = some_context(draw)
    channel = some_channel(draw, context)
    lifts = lifts_by_hand(channel, context)
    largest = max(max(each) for each in lifts.values())
    smallest = min(min(each) for each in lifts.values())
    certificate = ALIP(lower="5", upper="5").certify(channel, context)
    top, bottom = certificate.claims
    assert (top.measured.lower, bottom.measured.lower) == (largest, smallest)
    assert top.witness is not None
    assert max(lifts[top.witness.given]) == largest
    found = audit(channel, context)
    assert found.lifts.largest.lift == largest
    assert found.lifts.smallest.lift == smallest
    # Just enough, and a hair too little.
    for notion, holds in (
        (MaxLift(f"ln {largest}"), True),
        (MaxLift(f"ln {largest * (1 - Fraction(1, 10**9))}"), False),
    ):
        assert notion.certify(channel, context).holds is holds


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "notion",
    [
        LIP("5"),
        LDP("5"),
        MutualInformation("1"),
        ApproximateLIP("0.1", "0.5"),
        CrowdMass("0.01"),
        Identifiability("9"),
        NoBreach("0.1", "0.99"),
    ],
    ids=lambda notion: notion.name,
)
def test_every_notion_is_that_of_the_worst_part(notion: Notion, seed: int) -> None:
    """What is claimed of all is what the same notion claims of the worst k by itself."""
    draw = random.Random(seed)
    context = some_context(draw)
    channel = some_channel(draw, context)
    together = notion.certify(channel, context)
    single = [notion.certify(part.channel, part.context) for part in context.parts(channel)]
    assert together.holds == all(each.holds for each in single)
    for place, claim in enumerate(together.claims):
        values = [each.claims[place].measured for each in single]
        if claim.relation == "<=":
            assert claim.measured.lower == max(value.lower for value in values)
        else:
            assert claim.measured.lower == min(value.lower for value in values)
    for name, value in together.nats.items():
        assert value.upper == max(each.nats[name].upper or 0 for each in single)


def test_the_same_law_for_all_implies_the_guarantee_without_it() -> None:
    """If the law of Y is the same given every k, so is what holds for those who do not see k."""
    draw = random.Random(3)
    for _ in range(50):
        keep = Fraction(draw.randrange(1, 9), 10)
        context = Conditional.of(
            {
                k: Joint.from_counts(
                    {
                        "ill": {"a": draw.randrange(1, 9), "b": draw.randrange(1, 9)},
                        "well": {"a": draw.randrange(1, 9), "b": draw.randrange(1, 9)},
                    }
                )
                for k in "km"
            }
        )
        rows = []
        for k, x in context.pair_list:
            # Mixed with a row that makes P(y | k) one half for every k.
            mass = context.context_of(k).prior["a"]
            low, high = (Fraction(1, 2) - (1 - mass) * keep) / mass, keep
            one = low if x == "a" else high
            rows.append([one, 1 - one])
        if any(not 0 <= value <= 1 for row in rows for value in row):
            continue
        channel = Channel.from_fractions(context.pairs, Channel.identity("yz").outputs, rows)
        given, without = audit(channel, context).lifts, audit(channel, context.whole).lifts
        assert without.largest.lift is not None
        assert given.largest.lift is not None
        assert without.largest.lift <= given.largest.lift
        assert without.smallest.lift is not None
        assert given.smallest.lift is not None
        assert without.smallest.lift >= given.smallest.lift


def test_a_mixture_may_tell_more_than_every_part() -> None:
    """Given k nothing is told, without k all: y is k, and k goes with the secret."""
    always = {"ill": {"a": 9, "b": 9}, "well": {"a": 1, "b": 1}}
    never = {"ill": {"a": 1, "b": 1}, "well": {"a": 9, "b": 9}}
    context = Conditional.of({"k": Joint.from_counts(always), "m": Joint.from_counts(never)})
    channel = Channel.from_rows(
        {pair: {k: int(k == pair[0]) for k in "km"} for pair in context.pair_list}
    )
    assert LIP("0").certify(channel, context).holds
    assert not LIP("0.5").certify(channel, context.whole).holds


@pytest.mark.parametrize("seed", range(8))
def test_the_rest_keeps_its_ldp(seed: int) -> None:
    draw = random.Random(seed)
    context = some_context(draw, rest=True)
    channel = some_channel(draw, context)
    rows = [channel.probability(pair, y) for pair in context.pair_list[-3:] for y in "yz"]
    ratios = [max(rows[at::2]) / min(rows[at::2]) for at in (0, 1)]
    certificate = ALIP(lower="9", upper=f"ln {max(ratios)}").certify(channel, context)
    (claim,) = [each for each in certificate.claims if each.quantity == REST_CLAIM]
    assert claim.holds
    less = ALIP(lower="9", upper=f"ln {max(ratios) * Fraction(999999, 1000000)}")
    (claim,) = [
        each for each in less.certify(channel, context).claims if each.quantity == REST_CLAIM
    ]
    assert not claim.holds
    found = audit(channel, context)
    beside = max(max(each) for each in lifts_by_hand(channel, context).values())
    assert found.lifts.largest.lift == max(beside, *ratios)


def test_a_notion_that_no_ldp_implies_needs_silence() -> None:
    context = some_context(random.Random(1), rest=True)
    channel = some_channel(random.Random(2), context)
    assert rest_budget(MutualInformation("1")) is None
    assert rest_budget(ApproximateLIP("0.3", "0.1")) == Budget.of("0.3")
    assert not MutualInformation("1").certify(channel, context).holds
    weights = channel.weights.copy()
    totals = list(channel.totals)
    for at in range(-3, 0):
        weights[at], totals[at] = weights[-1], totals[-1]
    silent = Channel(channel.inputs, channel.outputs, weights, tuple(totals))
    assert MutualInformation("1").certify(silent, context).holds
    with pytest.raises(NotDefined, match="ask for LIP"):
        Identifiability("9").certify(silent, context)


def test_values_that_cannot_occur_are_refused() -> None:
    context = Conditional.of({"k": Prior.from_counts({"a": 1, "b": 0}), "m": Prior.uniform("ab")})
    channel = Channel.from_rows(
        {x: {"y": Fraction(1 + (x == "a"), 3), "z": Fraction(2 - (x == "a"), 3)} for x in "ab"}
    )
    with pytest.raises(UnprotectedInput):
        LIP("1").certify(channel, context)
    found = LIP("1").certify(channel, context, impossible="ignore")
    assert found.holds
    assert found.unprotected == (("k", "b"),)
    assert LDP("1").certify(channel, context).claims[0].measured.lower > 0
