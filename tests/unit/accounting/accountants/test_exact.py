"""The exact accountant against all outputs one by one, in every kind of context."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liftlock import Alphabet, Channel, Joint, Prior, Table
from liftlock.accounting import Release
from liftlock.accounting.accountants import ExactAccountant, PrivacyLoss
from liftlock.accounting.accountants import exact as product
from liftlock.accounting.accountants.exact import ReleaseProduct, product_channel
from liftlock.errors import NotDefined
from liftlock.model.structured import UnaryChannel
from liftlock.notions import ApproximateLIP, Measurement, MutualInformation
from tests import strategies
from tests.strategies import Row, Rows
from tests.unit.accounting import brute_force


@st.composite
def released(draw: st.DrawFn, *, zeros: bool = True) -> list[strategies.Rows]:
    """Return one to four releases, often by the same channel."""
    size = draw(st.integers(1, 4))
    kinds = [draw(strategies.rows(size, draw(st.integers(1, 3)), zeros=zeros)) for _ in range(2)]
    return draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=4))


def releases_of(channels: list[strategies.Rows]) -> list[Release]:
    return [Release.of(strategies.make_channel(rows)) for rows in channels]


@settings(max_examples=60, deadline=None)
@given(released(), st.data())
def test_a_prior(channels: list[strategies.Rows], data: st.DataObject) -> None:
    masses, prior = data.draw(strategies.priors(len(channels[0]), zeros=True))
    found = ExactAccountant().bound(releases_of(channels), prior)
    lower, upper = brute_force.extreme_lifts(brute_force.likelihoods(channels), [masses])
    assert (found["eps_lower"].ratio, found["eps_upper"].ratio) == (lower, upper)
    assert found["ldp"].ratio == brute_force.ratio(brute_force.likelihoods(channels))
    larger = None if lower is None or upper is None else max(lower, upper)
    assert found["lip"].ratio == larger
    check_witnesses(channels, found, masses)


def outputs_named(measurement: Measurement, channels: list[strategies.Rows]) -> list[int]:
    """Return the output of each release that a witness names."""
    assert measurement.witness is not None
    named: Any = measurement.witness.output
    told = [named] if len(channels) == 1 else named
    assert len(told) == len(channels)
    return [int(str(output)[1:]) for output in told]


def likelihood_named(measurement: Measurement, channels: list[strategies.Rows]) -> list[Fraction]:
    """Return P(the outputs that a witness names | x) for every x."""
    outputs = outputs_named(measurement, channels)
    return [
        math.prod(
            (rows[x][y] for rows, y in zip(channels, outputs, strict=True)), start=Fraction(1)
        )
        for x in range(len(channels[0]))
    ]


def attained(name: str, own: Fraction, mean: Fraction, other: Fraction | None) -> Fraction | None:
    """Return the ratio of a measurement at its witness; None is infinite."""
    top, bottom = own, mean
    if name == "eps_lower":
        top, bottom = mean, own
    elif name == "ldp":
        assert other is not None
        bottom = other
    assert top or bottom
    return top / bottom if bottom else None


def place(label: object) -> int:
    return int(str(label)[1:])


def check_witnesses(
    channels: list[strategies.Rows], found: PrivacyLoss, masses: Row, joint: Rows | None = None
) -> None:
    """Whoever is named attains what is said: with the input as the secret, or one behind it."""
    for name in ("eps_lower", "eps_upper", "ldp", "lip"):
        measurement = found[name]
        witness = measurement.witness
        assert witness is not None
        given_each = likelihood_named(measurement, channels)
        if joint is not None:
            given_each = [
                sum((c * q for c, q in zip(row, given_each, strict=True)), Fraction(0))
                / (sum(row) or 1)
                for row in joint
            ]
        mean = sum((p * q for p, q in zip(masses, given_each, strict=True)), Fraction(0))
        own = given_each[place(witness.secret)]
        other = None if witness.other is None else given_each[place(witness.other)]
        sides = (name,) if name != "lip" else ("eps_lower", "eps_upper")
        assert measurement.ratio in [attained(side, own, mean, other) for side in sides]


@settings(max_examples=40, deadline=None)
@given(released(), st.data())
def test_a_secret_behind_the_data(channels: list[strategies.Rows], data: st.DataObject) -> None:
    size = len(channels[0])
    number = data.draw(st.integers(1, 3))
    cells = data.draw(strategies.counts(size * number))
    table = [cells[s * size : (s + 1) * size] for s in range(number)]
    case = strategies.joint_case(table, channels[0])
    assert isinstance(case.context, Joint)
    found = ExactAccountant().bound(releases_of(channels), case.context)
    joint = [[Fraction(cell) for cell in row] for row in table]
    total = sum(cells)
    masses = [Fraction(sum(row), total) for row in table if any(row)]
    lower, upper = brute_force.extreme_lifts(
        brute_force.secret_likelihoods(channels, joint), [masses]
    )
    assert (found["eps_lower"].ratio, found["eps_upper"].ratio) == (lower, upper)
    assert found["ldp"].ratio == brute_force.ratio(brute_force.secret_likelihoods(channels, joint))
    check_witnesses(channels, found, [Fraction(sum(row), total) for row in table], joint)


@settings(max_examples=60, deadline=None)
@given(released(), st.data())
def test_sets_of_priors(channels: list[strategies.Rows], data: st.DataObject) -> None:
    """000 Cor 4: the extreme priors of the set suffice, which the oracle lists."""
    vertices, priors = data.draw(strategies.prior_sets(len(channels[0])))
    found = ExactAccountant().bound(releases_of(channels), priors)
    lower, upper = brute_force.extreme_lifts(brute_force.likelihoods(channels), vertices)
    assert (found["eps_lower"].ratio, found["eps_upper"].ratio) == (lower, upper)
    for name in ("eps_lower", "eps_upper"):
        measurement = found[name]
        assert measurement.witness is not None
        worst = measurement.witness.prior
        assert worst is not None
        masses = [worst[label] for label in strategies.inputs_of(len(channels[0]))]
        assert masses in vertices
        given_each = likelihood_named(measurement, channels)
        mean = sum((p * q for p, q in zip(masses, given_each, strict=True)), Fraction(0))
        own = given_each[place(measurement.witness.secret)]
        assert measurement.ratio == attained(name, own, mean, None)


@settings(max_examples=60, deadline=None)
@given(strategies.near_ties(size=3, joints=False), st.integers(1, 3))
def test_near_ties_are_decided_by_integers(case: strategies.Case, times: int) -> None:
    found = ExactAccountant().bound([Release.of(case.channel)] * times, case.context)
    columns = brute_force.likelihoods([case.rows] * times)
    lower, upper = brute_force.extreme_lifts(columns, [case.prior])
    assert (found["eps_lower"].ratio, found["eps_upper"].ratio) == (lower, upper)
    check_witnesses([case.rows] * times, found, case.prior)


def test_results_without_order_are_the_whole_product() -> None:
    a = Channel.from_rows({0: {0: "1/2", 1: "1/3", 2: "1/6"}, 1: {0: "1/5", 1: "3/5", 2: "1/5"}})
    b = Channel.from_rows({0: {0: "1/2", 1: "1/2"}, 1: {0: "1/5", 1: "4/5"}})
    prior = Prior.from_counts({0: 2, 1: 3})
    small = product_channel([Release.of(c) for c in (a, b, a)])
    whole = a.product(b).product(a)
    # C(4, 2) x 2 instead of 18 outputs, and every measure is the same.
    assert (len(small.outputs), len(whole.outputs)) == (12, 18)
    left, right = (MutualInformation.measure(c, prior).value for c in (small, whole))
    assert float(left) == pytest.approx(float(right), rel=1e-12)
    first, second = (ApproximateLIP.measure(c, prior, "1/2", "def5") for c in (small, whole))
    assert float(first) == pytest.approx(float(second), rel=1e-12)


def test_outputs_that_say_the_same_count_once() -> None:
    split = Channel.from_rows(
        {0: {0: "1/4", 1: "1/2", 2: "1/4"}, 1: {0: "1/8", 1: "1/4", 2: "5/8"}}
    )
    made = ReleaseProduct.of([Release.of(split)] * 4, split.inputs)
    assert made.needs() == "10 cells: 2 inputs x C(5, 4)"
    constant = Channel.from_rows({0: {0: "1/4", 1: "3/4"}, 1: {0: "1/4", 1: "3/4"}})
    found = ExactAccountant().bound([Release.of(constant)] * 1000, Prior.uniform([0, 1]))
    assert found["lip"].ratio == 1


def test_sums_of_columns_do_not_overflow() -> None:
    """Two columns of 63 bits each say the same under a prior that excludes the other rows."""
    large = 256578305461161597
    rows = [
        [Fraction(0), Fraction(2, 5), Fraction(3, 5)],
        [Fraction(1, 4), Fraction(3, 8), Fraction(3, 8)],
        [Fraction(0), Fraction(1, large), Fraction(large - 1, large)],
    ]
    channel = strategies.make_channel(rows)
    for counts in ([1, 0, 0], [1, 1, 0], [1, 1, 1]):
        prior = strategies.make_prior(counts)
        found = ExactAccountant().bound([Release.of(channel)] * 2, prior)
        masses = strategies.fractions(counts)
        truth = brute_force.extreme_lifts(brute_force.likelihoods([rows] * 2), [masses])
        assert (found["eps_lower"].ratio, found["eps_upper"].ratio) == truth


def test_the_size_is_said() -> None:
    rng = np.random.default_rng(3)
    weights = rng.integers(1, 1000, size=(20, 300))
    weights[:, 0] += 2**20 - weights.sum(axis=1)
    table = Table.of(Alphabet.of(range(20)), Alphabet.of(range(300)), weights, 20)
    with pytest.raises(
        NotDefined, match=r"20 inputs x C\(302, 3\); it is for at most 4,000,000 cells"
    ):
        ExactAccountant().bound([Release.of(table)] * 3, Prior.uniform(range(20)))
    with pytest.raises(NotDefined, match=r"need about 1e\d+"):
        ExactAccountant().bound([Release.of(table)] * 30, Prior.uniform(range(20)))


def test_encodings_take_part_when_they_are_small() -> None:
    bits = UnaryChannel.of("abc", own=8, other=4, bits=4)
    prior = Prior.from_counts({"a": 1, "b": 1, "c": 2})
    found = ExactAccountant().bound([Release.of(bits)] * 2, prior)
    table = bits.to_dense()
    same = ExactAccountant().bound([Release.of(table)] * 2, prior)
    assert found["eps_lower"].ratio == same["eps_lower"].ratio
    assert found["ldp"].ratio == 9
    large = UnaryChannel.of(range(40), own=8, other=4, bits=4)
    with pytest.raises(NotDefined, match="a table of all reports"):
        ExactAccountant().bound([Release.of(large)], Prior.uniform(range(40)))


def test_hundreds_of_releases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Closed form: of r equal answers, P(x) + P(x') LR^r against x."""
    bit = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    found = ExactAccountant().bound([Release.of(bit)] * 300, Prior.uniform([0, 1]))
    assert found["eps_lower"].ratio == Fraction(1, 2) + Fraction(3**300, 2)
    assert found["eps_upper"].ratio == 2 / (1 + Fraction(1, 3**300))
    monkeypatch.setattr(product, "MOST_RELEASES", 299)
    with pytest.raises(NotDefined, match="and 299 releases"):
        ExactAccountant().bound([Release.of(bit)] * 300, Prior.uniform([0, 1]))


def test_too_many_near_ties(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mechanism that says next to nothing: all lifts are nearly 1."""
    unit = 1 << 60
    rows = {x: {y: Fraction(unit + x * y, 3 * unit + 3 * x) for y in range(3)} for x in range(2)}
    channel = Channel.from_rows(rows)
    releases = [Release.of(channel)] * 3
    assert ExactAccountant().bound(releases, Prior.uniform([0, 1]))["lip"].ratio != 1
    monkeypatch.setattr(product, "MOST_CANDIDATES", 5)
    with pytest.raises(NotDefined, match="10 results that floats cannot tell apart"):
        ExactAccountant().bound(releases, Prior.uniform([0, 1]))


def test_levels_alone_have_no_product() -> None:
    from liftlock.notions import LIP

    fair = Prior.uniform([0, 1])
    with pytest.raises(NotDefined, match="only the levels are known"):
        ExactAccountant().bound([Release.from_guarantee(LIP("1"), fair)], fair)
