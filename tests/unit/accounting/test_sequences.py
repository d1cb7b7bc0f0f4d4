"""Sequences of different data, against all tuples and outputs one by one."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liftlock import Alphabet, Channel, Prior
from liftlock.accounting import account_independent, account_sequence, markov_chain, product_prior
from liftlock.errors import InputError, LabelError, NotDefined, UnprotectedInput
from liftlock.model.structured import UnaryChannel
from tests import strategies
from tests.unit.accounting import brute_force


def channel_of(rows: strategies.Rows) -> Channel:
    return Channel.from_fractions(
        Alphabet.of(range(len(rows))), Alphabet.of(range(len(rows[0]))), rows
    )


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_the_whole_and_each_datum(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=2, max_size=3))
    channels = [data.draw(strategies.rows(size, data.draw(st.integers(1, 2)))) for size in sizes]
    tuples = list(itertools.product(*(range(size) for size in sizes)))
    counts = data.draw(strategies.counts(len(tuples)))
    prior = Prior.from_counts(list(zip(tuples, counts, strict=True)))
    found = account_sequence(prior, [channel_of(rows) for rows in channels], impossible="ignore")

    lifted = [[rows[label[k]] for label in tuples] for k, rows in enumerate(channels)]
    total = sum(counts)
    masses = [Fraction(count, total) for count in counts]
    truth = brute_force.extreme_lifts(brute_force.likelihoods(lifted), [masses])
    whole = found.whole
    assert (whole["eps_lower"].ratio, whole["eps_upper"].ratio) == truth
    assert whole.is_exact("lip")
    for bound in whole.spent:
        if "eps_lower" in bound.measurements:
            for side, exact in zip(("eps_lower", "eps_upper"), truth, strict=True):
                ratio = bound[side].ratio
                assert ratio is None or (exact is not None and ratio >= exact)
    for k, size in enumerate(sizes):
        joint = [
            [
                mass if label[k] == value else Fraction(0)
                for label, mass in zip(tuples, masses, strict=True)
            ]
            for value in range(size)
        ]
        own = [sum(row, Fraction(0)) for row in joint if any(row)]
        truth = brute_force.extreme_lifts(brute_force.secret_likelihoods(lifted, joint), [own])
        linked = found.total[k]
        assert (linked["eps_lower"].ratio, linked["eps_upper"].ratio) == truth
    possible = [
        len({t[k] for t, c in zip(tuples, counts, strict=True) if c}) for k in range(len(sizes))
    ]
    number = 1
    for size in possible:
        number *= size
    assert found.impossible == number - sum(1 for count in counts if count)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_independent_data_keep_their_own(data: st.DataObject) -> None:
    parts = []
    for _ in range(data.draw(st.integers(1, 3))):
        size = data.draw(st.integers(1, 2))
        rows = data.draw(strategies.rows(size, 2))
        counts = data.draw(strategies.counts(size, zeros=False))
        parts.append((channel_of(rows), Prior.from_counts(dict(enumerate(counts)))))
    added = account_independent(parts)
    written = account_sequence(product_prior([prior for _, prior in parts]), [c for c, _ in parts])
    for side in ("eps_lower", "eps_upper", "ldp"):
        assert added[side].ratio == written.whole[side].ratio
    for levels, linked in zip(written.own, written.total, strict=True):
        assert (linked["eps_lower"].ratio, linked["eps_upper"].ratio) == (
            levels.lower,
            levels.upper,
        )


def test_a_chain() -> None:
    sticky = Channel.from_rows({0: {0: "9/10", 1: "1/10"}, 1: {0: "1/5", 1: "4/5"}})
    first = Prior.from_counts({0: 2, 1: 1})
    three = markov_chain(first, [sticky, sticky])
    assert three[(0, 0, 1)] == Fraction(2, 3) * Fraction(9, 10) * Fraction(1, 10)
    assert sum(three.fractions) == 1
    flip = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    found = account_sequence(three, [flip] * 3)
    # The neighbours of a datum tell of it: more than its own release, less than three of it.
    alone = found.own[1].lower
    linked = found.total[1]["eps_lower"].ratio
    assert alone is not None
    assert linked is not None
    assert alone < linked
    assert found.impossible == 0


def test_a_chain_that_forgets_nothing_is_one_datum() -> None:
    flip = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    copies = markov_chain(Prior.uniform([0, 1]), [Channel.identity([0, 1])] * 2)
    found = account_sequence(copies, [flip] * 3)
    assert found.whole["eps_lower"].ratio == found.total[2]["eps_lower"].ratio == 14
    assert found.impossible == 6


def test_large_sequences_are_bounded() -> None:
    """000 eq. (11) as a minimum over j, with P_min of the joint."""
    bits = UnaryChannel.of(range(40), own=8, other=4, bits=4)
    fair = Prior.uniform(range(40))
    stay = Channel.from_rows(
        {x: {y: "1/2" if x == y else Fraction(1, 78) for y in range(40)} for x in range(40)}
    )
    found = account_sequence(markov_chain(fair, [stay]), [bits, bits])
    assert not found.whole.is_exact("lip")
    p = Fraction(1, 40) * Fraction(1, 78)
    high, low = bits.levels
    own = (low + (high - low) * Fraction(39, 40)) / Fraction(low)
    assert found.whole["eps_lower"].ratio == p + (own - p) * Fraction(high, low)
    assert found.total[0]["ldp"].ratio == 9


def test_what_is_refused() -> None:
    flip = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    pair = product_prior([Prior.uniform([0, 1])] * 2)
    with pytest.raises(InputError, match="not over tuples of 3"):
        account_sequence(pair, [flip] * 3)
    with pytest.raises(LabelError, match=r"does not accept at datum 2: 1"):
        account_sequence(pair, [flip, flip.restrict([0])])
    with pytest.raises(UnprotectedInput):
        account_sequence(Prior.from_counts({(0, 0): 1, (0, 1): 1}), [flip, flip])
    with pytest.raises(LabelError, match="step 1: 1"):
        markov_chain(Prior.uniform([0, 1]), [flip.restrict([0])])
    with pytest.raises(NotDefined, match="use account_independent"):
        product_prior([Prior.uniform(range(10))] * 6)
    with pytest.raises(InputError, match="no releases"):
        account_independent([])


def test_ldp_compares_tuples_that_never_occur_too() -> None:
    rise = Channel.from_rows({0: {0: "1/100", 1: "99/100"}, 1: {0: "1/10", 1: "9/10"}})
    fall = Channel.from_rows({0: {0: "1/10", 1: "9/10"}, 1: {0: "1/100", 1: "99/100"}})
    copy = markov_chain(Prior.uniform([0, 1]), [Channel.identity([0, 1])])
    found = account_sequence(copy, [rise, fall])
    # (1, 0) against (0, 1), of which neither occurs: 10 times 10.
    assert found.whole["ldp"].ratio == 100
    assert found.whole.is_exact("ldp")
    assert found.impossible == 2
