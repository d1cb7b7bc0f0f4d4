"""Transfer: exact leakage under another prior, bounds that hold, and what is said without any."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import get_args

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liftlock as ll
from liftlock import Ball, Channel, Family, Intervals, Joint, Prior
from liftlock.errors import CountError, InputError, LabelError, NotDefined
from liftlock.exact.budget import Budget
from liftlock.model.confidence import RadiusForm, variation_radius
from liftlock.model.structured import UnaryChannel
from liftlock.notions import ALIP, LDP, LIP
from liftlock.transfer import Transfer, transfer, transfer_from_samples, transfer_within
from liftlock.transfer.exact import within_ratio
from liftlock.transfer.samples import By
from tests.theorems import worlds
from tests.theorems.worlds import Masses, World

USUAL = Prior.from_counts({"none": 70, "cold": 20, "flu": 10})
MILD = Prior.from_counts({"none": 80, "cold": 15, "flu": 5})
BIT = Channel.from_rows({"no": {0: "3/4", 1: "1/4"}, "yes": {0: "1/4", 1: "3/4"}})


def holds_for(found: Transfer, ratio: Fraction | None) -> bool:
    """Tell whether every bound that may be chosen allows a true leakage (None: infinite)."""
    chosen = [line for line in found.bounds if line.given in found.eligible]
    return all(
        line.value.upper is None or Budget.of(line.value.upper).allows(ratio) for line in chosen
    )


# --- another prior --------------------------------------------------------------------------------


@st.composite
def moves(draw: st.DrawFn) -> tuple[World, Masses]:
    """Draw a world, and another prior of its symbols; both may have zeros."""
    world = draw(worlds.worlds(zeros=True))
    size = len(world.masses)
    numbers = draw(st.lists(st.integers(0, 20), min_size=size, max_size=size).filter(any))
    before = draw(st.lists(st.integers(0, 3), min_size=size, max_size=size).filter(any))
    if draw(st.booleans()):
        return world, worlds.normalised(numbers)
    return World(worlds.normalised(before), world.rows), worlds.normalised(numbers)


def lip_with_zeros(masses: Masses, rows: worlds.Rows) -> Fraction | None:
    """Return e^L_LIP over the symbols that occur, from its definition."""
    largest = Fraction(1)
    for y in range(len(rows[0])):
        total = sum((p * row[y] for p, row in zip(masses, rows, strict=True)), Fraction(0))
        for p, row in zip(masses, rows, strict=True):
            if p and total:
                if not row[y]:
                    return None
                largest = max(largest, row[y] / total, total / row[y])
    return largest


@settings(max_examples=40, deadline=None)
@given(moves())
def test_the_level_is_exact_and_every_bound_holds(drawn: tuple[World, Masses]) -> None:
    world, masses = drawn
    actual = worlds.prior_of(masses)
    true = lip_with_zeros(masses, world.rows)
    found = transfer(world.channel, actual, designed=world.prior)
    assert found.exact is not None
    assert found.exact.ratio == true
    assert found.level == found.exact.value
    assert holds_for(found, true)
    fresh = tuple(
        label
        for label, p, q in zip(actual.labels, world.masses, masses, strict=True)
        if q and not p
    )
    assert found.unprotected == fresh
    before = lip_with_zeros(world.masses, world.rows)
    if before is not None:
        alone = transfer(LIP(Budget.from_ratio(before)), actual, designed=world.prior)
        assert holds_for(alone, true)
        assert alone.level.is_infinite == bool(fresh)


def test_numbers_that_are_known() -> None:
    fair, rare = Prior.from_counts({"no": 5, "yes": 5}), Prior.from_counts({"no": 7, "yes": 3})
    found = transfer(LIP("1"), rare, designed=fair)
    e = mpmath.e
    expected = {
        "log ratio": 1 + mpmath.log(mpmath.mpf(5) / 3),
        "total variation": 1 + mpmath.log(1 + mpmath.mpf(2) / 3),
        "twice": mpmath.mpf(2),
        "rarest symbol": mpmath.log((e - 0.5) / 0.5),
        "back from ratios": mpmath.log(mpmath.mpf("0.3") + mpmath.mpf("0.7") * (2 * e - 1)),
    }
    for name, value in expected.items():
        assert float(found.bound(name).value) == pytest.approx(float(value), abs=1e-12)
    assert found.least.name == "back from ratios"
    # The published condition of Corollary 6 would call eta + eps the smallest here; it is not.
    assert found.bound("log ratio").value.lower > (found.bound("rarest symbol").value.upper or 0)
    assert "total variation 0.2; up to 0.189636" in found.remarks[0]
    exact = transfer(BIT, rare, designed=fair)
    assert exact.exact is not None
    assert exact.exact.ratio == Fraction(12, 5)
    assert exact.least.value.lower <= exact.level.lower + Fraction(1, 10**30)


def test_the_sides_apart_are_less_for_alip() -> None:
    found = transfer(ALIP(lower="1", upper="0.2"), MILD, designed=USUAL)
    apart, whole = found.bound("both sides apart"), found.bound("log ratio")
    # eps_upper + ln(10/5) and eps_lower + ln(80/70)
    assert float(apart.value) == pytest.approx(1 + math.log(8 / 7))
    assert float(whole.value) == pytest.approx(1 + math.log(2))
    assert float(found.bound("twice").value) == pytest.approx(1.2)


def test_ldp_is_carried_everywhere() -> None:
    hidden = Prior.from_counts({"none": 7, "cold": 3, "flu": 0})
    found = transfer(LDP("1"), USUAL, designed=hidden)
    assert found.unprotected == ("flu",)
    assert [line.name for line in found.bounds if not line.value.is_infinite] == [
        "LDP",
        "back from ratios",
    ]
    assert float(found.level) == pytest.approx(math.log(0.1 + 0.9 * math.e))


def test_a_mechanism_brings_its_prior() -> None:
    mechanism = ll.design(USUAL, LIP("1"), method="safe-response")
    found = transfer(mechanism, MILD)
    assert found.before == "a prior on 3 symbols"
    assert found.exact == LIP.measure(mechanism.channel, MILD)
    assert str(found).startswith("under P1, a prior on 3 symbols: 1 nats\nunder P2")
    data = json.loads(json.dumps(found.to_data()))
    assert data["format"] == "liftlock.transfer"
    assert data["level"]["value"] == pytest.approx(float(found.level))
    assert {line["name"] for line in data["bounds"]} >= {"log ratio", "twice", "LDP"}


def test_encodings_are_carried_too() -> None:
    encoding = UnaryChannel.of(("none", "cold", "flu"), own=8, other=4, bits=4)
    found = transfer(encoding, MILD, designed=USUAL)
    assert found.exact is not None
    assert found.exact.ratio == LIP.measure(encoding.to_dense(), MILD).ratio
    assert holds_for(found, found.exact.ratio)
    near = transfer_within(encoding, total_variation="0.02", designed=USUAL)
    assert near.level.upper is not None
    assert near.level.upper > found.designed.lower


def test_local_hashing_has_a_bound_only() -> None:
    found = transfer(ll.design(USUAL, LDP("1"), method="hashing"), MILD)
    assert not found.tight
    assert "under P2, a prior on 3 symbols: at most 0.96788372" in str(found)
    assert "exactly" in str(transfer(ll.design(USUAL, LDP("1"), method="k-rr"), MILD))


def test_what_is_outside_the_support() -> None:
    hidden = Prior.from_counts({"none": 7, "cold": 3, "flu": 0})
    found = transfer(LIP("1"), USUAL, designed=hidden)
    assert found.level.is_infinite
    assert found.unprotected == ("flu",)
    assert all("'flu'" in line.note or "probability 0" in line.note for line in found.bounds)
    assert "no bound" in str(found)
    assert "NOT covered, because P1 calls it impossible: 'flu'" in str(found)
    # The other way round nothing is left unprotected, but ratios say nothing.
    back = transfer(LIP("1"), hidden, designed=USUAL)
    assert back.unprotected == ()
    assert back.bound("log ratio").note == "'flu' may have probability 0 under P2"
    assert back.least.name == "back from ratios"
    assert back.remarks == ("P2 calls 'flu' impossible: the level says nothing of it",)


def test_symbols_that_a_mechanism_leaves_out() -> None:
    hidden = Prior.from_counts({"none": 7, "cold": 3, "flu": 0})
    mechanism = ll.design(hidden, LIP("1"), method="safe-response")
    assert mechanism.channel.inputs.labels == ("none", "cold")
    moved = Prior.from_counts({"flu": 0, "cold": 4, "none": 6})
    assert transfer(mechanism, moved, designed=hidden).exact is not None
    with pytest.raises(LabelError, match="a symbol that the mechanism does not accept: 'flu'"):
        transfer(mechanism, USUAL, designed=hidden)


def test_refusals() -> None:
    with pytest.raises(InputError, match="the prior of the design is not known"):
        transfer(BIT, Prior.uniform(["no", "yes"]))
    joint = Joint.from_counts({"s": {"no": 1, "yes": 2}, "t": {"no": 2, "yes": 1}})
    with pytest.raises(NotDefined, match="audit the channel in the other context"):
        transfer(BIT, Prior.uniform(["no", "yes"]), designed=joint)  # type: ignore[arg-type]
    with pytest.raises(NotDefined, match="transfer of maximal_leakage"):
        transfer(ll.notions.registry.parse_claim("maximal_leakage=1"), MILD, designed=USUAL)
    with pytest.raises(InputError, match="one distance is needed"):
        transfer_within(LIP("1"), designed=USUAL)
    with pytest.raises(InputError, match="one distance is needed"):
        transfer_within(LIP("1"), total_variation=0, log_ratio=0, designed=USUAL)
    with pytest.raises(NotDefined, match="a distance"):
        transfer_within(
            LIP("1"),
            total_variation="0.1",
            designed=Family.of([USUAL, MILD]),  # type: ignore[arg-type]
        )
    with pytest.raises(InputError, match="no such bound"):
        transfer(LIP("1"), MILD, designed=USUAL).bound("magic")


# --- sets of priors -------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(worlds.worlds(), st.fractions(0, Fraction(1, 3)), st.data())
def test_a_distance_covers_every_prior_within(
    world: World, distance: Fraction, data: st.DataObject
) -> None:
    size = len(world.masses)
    towards = worlds.normalised(
        data.draw(st.lists(st.integers(0, 9), min_size=size, max_size=size).filter(any))
    )
    far = sum((abs(a - b) for a, b in zip(world.masses, towards, strict=True)), Fraction(0)) / 2
    step = min(Fraction(1), distance / far) if far else Fraction(0)
    inside = tuple((1 - step) * a + step * b for a, b in zip(world.masses, towards, strict=True))
    found = transfer_within(world.channel, total_variation=distance, designed=world.prior)
    true = lip_with_zeros(inside, world.rows)
    assert found.exact is not None
    assert found.exact.ratio is None or (true is not None and true <= found.exact.ratio)
    assert holds_for(found, true)
    ratios = max(max(a / b, b / a) for a, b in zip(world.masses, inside, strict=True) if b)
    if all(inside):
        near = transfer_within(
            world.channel, log_ratio=Budget.from_ratio(ratios), designed=world.prior
        )
        assert near.exact is not None
        assert near.exact.ratio is None or (true is not None and true <= near.exact.ratio)
        assert holds_for(near, near.exact.ratio)


def test_the_worst_case_of_a_distance_is_attained() -> None:
    fair = Prior.uniform(["no", "yes"])
    ball = transfer_within(BIT, total_variation="0.2", designed=fair)
    edge = transfer(BIT, Prior.from_counts({"no": 7, "yes": 3}), designed=fair)
    assert ball.level == edge.level
    ratio = transfer_within(BIT, log_ratio="ln 5/3", designed=fair)
    assert ratio.level == edge.level
    assert within_ratio(fair, "ln 5/3").symbol_ranges[0] == (Fraction(3, 10),) * 2


def test_a_guarantee_within_a_distance() -> None:
    near = transfer_within(LIP("1"), total_variation="0.02", designed=USUAL)
    assert near.exact is None
    assert float(near.level) == pytest.approx(1 + math.log(1 + 0.02 / 0.08))
    assert near.least.formula == "eps + ln(1 + d/(P_min - d))"
    far = transfer_within(LIP("1"), total_variation="0.1", designed=USUAL)
    assert far.bound("log ratio").value.is_infinite
    assert float(far.level) == pytest.approx(2)
    assert float(transfer_within(LIP("1"), log_ratio="0.3", designed=USUAL).level) <= 1.3 + 1e-12


def test_inside_the_set_of_the_design_the_guarantee_holds() -> None:
    ranges = Intervals.of({"none": ("0.6", "0.8"), "cold": ("0.1", "0.3"), "flu": ("0.05", "0.2")})
    ball = Ball.of(USUAL, "0.1")
    family = Family.of([USUAL, MILD])
    for designed, inside in ((ranges, MILD), (ball, MILD), (ball, family), (family, MILD)):
        found = transfer(LIP("1"), inside, designed=designed)
        assert found.least.name == "within the design"
        assert float(found.level) == 1
    outside = Prior.from_counts({"none": 1, "cold": 1, "flu": 1})
    for designed in (ranges, ball, family):
        found = transfer(LIP("1"), outside, designed=designed)
        assert "within the design" not in {line.name for line in found.bounds}
        assert 1 < float(found.level) <= 2
    assert (
        transfer(LIP("1"), Ball.of(USUAL, "0.05"), designed=ball).least.name == "within the design"
    )


def test_a_family_without_the_same_symbols() -> None:
    hidden = Prior.from_counts({"none": 7, "cold": 3, "flu": 0})
    found = transfer(LIP("1"), USUAL, designed=Family.of([hidden, hidden]))
    assert found.unprotected == ("flu",)
    assert found.level.is_infinite
    assert found.bound("log ratio").note == "no prior of the family has the same symbols"


# --- samples --------------------------------------------------------------------------------------

SEEN = {"none": 700, "cold": 200, "flu": 100}
FEW = {"none": 40, "cold": 7, "flu": 3}


def test_what_samples_give_is_the_worst_case_over_the_set() -> None:
    mechanism = ll.design(Prior.from_counts(SEEN), LIP("1"), method="safe-response")
    found = transfer_from_samples(mechanism, SEEN, confidence="0.99")
    box = Intervals.from_counts(SEEN, confidence="0.99")
    worst = LIP.measure(mechanism.channel, box).value
    assert (found.least.name, found.least.given, found.level) == ("worst case", "intervals", worst)
    assert found.exact is None
    assert found.confidence == Fraction(99, 100)
    forms: tuple[tuple[str, RadiusForm], ...] = (("ball", "sets"), ("ball, 000", "000"))
    for name, form in forms:
        radius = variation_radius(1000, 3, Fraction(1, 100), form=form)
        ball = Ball(Prior.from_counts(SEEN), radius)
        assert found.bound("worst case", name).value == LIP.measure(mechanism.channel, ball).value
    assert "with probability 0.99" in str(found)


def test_the_published_bound_in_its_corrected_form() -> None:
    found = transfer_from_samples(LIP("1"), SEEN, confidence="0.99")
    d = math.sqrt(2 / 1000 * (3 - math.log(0.01))) / 2
    assert d < 0.1
    line = found.bound("log ratio", "ball, 000")
    assert float(line.value) == pytest.approx(1 + math.log(1 + d / (0.1 - d)), rel=1e-4)
    assert line.value.lower > 1 + math.log(1 + d / (0.1 - d)) - 1e-12
    box = Intervals.from_counts(SEEN, confidence="0.99")
    masses = [Fraction(7, 10), Fraction(1, 5), Fraction(1, 10)]
    eta = max(
        max(p / low, high / p) for p, low, high in zip(masses, box.lower, box.upper, strict=True)
    )
    assert float(found.level) == pytest.approx(1 + math.log(eta), abs=1e-12)


def test_hardly_seen_symbols_are_named() -> None:
    found = transfer_from_samples(LIP("1"), FEW, confidence="0.99")
    assert found.bound("log ratio", "ball, 000").value.is_infinite
    assert found.remarks[1].startswith("'flu' was seen 3 times in 50 observations: with a total")
    assert "000 Cor 7 gives no bound" in found.remarks[1]
    assert float(found.level) < 2
    unseen = transfer_from_samples(LIP("1"), {"a": 49, "b": 1, "c": 0}, confidence="0.99")
    assert unseen.level.is_infinite
    assert unseen.unprotected == ("c",)
    said = " ".join(unseen.remarks)
    assert "'b' was seen once" in said
    assert "'c' was never seen" in said
    known = transfer_from_samples(
        ll.design(Prior.uniform("abc"), LDP("1"), method="k-rr"),
        {"a": 49, "b": 1, "c": 0},
        confidence="0.99",
    )
    assert float(known.level) <= 1 + 1e-9
    assert known.unprotected == ()


def test_many_rare_symbols_are_summed_up() -> None:
    found = transfer_from_samples(LIP("1"), dict.fromkeys(range(20), 1), confidence="0.9")
    assert found.remarks[3] == "likewise for 17 more"


def test_the_smaller_result_is_not_chosen_after_looking() -> None:
    """Ten equal symbols: the ball is smaller in total variation than the box."""
    seen = dict.fromkeys("abcdefghij", 1000)
    channel = ll.design(Prior.uniform("abcdefghij"), LIP("1"), method="safe-response").channel
    results = {
        by: transfer_from_samples(channel, seen, confidence="0.99", by=by) for by in get_args(By)
    }
    plain = results["intervals"]
    least = {given: plain.bound("worst case", given).value for given in ("intervals", "ball")}
    chosen = "ball" if float(least["ball"]) < float(least["intervals"]) else "intervals"
    assert results["ball"].level == least["ball"]
    assert plain.level == least["intervals"]
    # With both the error is divided, so each of them is a little larger.
    for name, value in least.items():
        assert float(results["both"].bound("worst case", name).value) > float(value)
    assert float(results["both"].level) > float(least[chosen])
    other = "intervals" if chosen == "ball" else "ball"
    assert any("would give less" in said for said in results[other].remarks)
    assert not any("would give less" in said for said in results["both"].remarks)


def test_the_true_prior_in_the_set_leaks_no_more() -> None:
    channel = ll.design(Prior.from_counts(SEEN), LIP("1"), method="safe-response").channel
    found = transfer_from_samples(channel, SEEN, confidence="0.99")
    box = Intervals.from_counts(SEEN, confidence="0.99")
    for flu in (box.lower[2], box.upper[2]):
        for cold in (box.lower[1], box.upper[1]):
            masses = {"none": 1 - flu - cold, "cold": cold, "flu": flu}
            if not box.lower[0] <= masses["none"] <= box.upper[0]:
                continue
            truth = Prior.from_probabilities(masses)
            assert holds_for(found, LIP.measure(channel, truth).ratio)


def test_refusals_of_samples() -> None:
    with pytest.raises(InputError, match="unknown set"):
        transfer_from_samples(LIP("1"), SEEN, confidence="0.99", by="luck")  # type: ignore[arg-type]
    with pytest.raises(CountError, match="not a number of observations"):
        transfer_from_samples(LIP("1"), {"a": "0.5", "b": "0.5"}, confidence="0.99")
    with pytest.raises(LabelError, match="label"):
        transfer_from_samples(BIT, {"no": 3, "yes": 4, "maybe": 0}, confidence="0.99")
