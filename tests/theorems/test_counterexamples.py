"""Published numbers that are not what they claim: the audit must find the true ones.

Every number is checked to the digits that are given here. e is replaced by a rational
within 1e-58 of it, on the side that is named.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest

from liftlock import Channel, Context, Family, Intervals, Joint, Prior
from liftlock.errors import NotDefined
from liftlock.notions import (
    ALIP,
    LDP,
    LIP,
    AlphaLift,
    ApproximateLDP,
    ApproximateLIP,
    Certificate,
    Chi2,
    Chi2Lift,
    Chi2LiftInverse,
    Identifiability,
    L1Lift,
    L1LiftInverse,
    MaximalLeakage,
    MutualInformation,
    Sibson,
    TotalVariation,
    audit,
    e_divergence,
    implications,
)
from tests.theorems import worlds
from tests.theorems.worlds import Masses, World, agrees

TINY = Fraction(1, 10**58)
BELOW_E = worlds.exponential(1) - TINY
ABOVE_E = worlds.exponential(1) + TINY
SKEWED: Masses = (Fraction(1, 10), Fraction(1, 5), Fraction(7, 10))
HALF = Fraction(1, 2)


def binary(first: Fraction) -> Masses:
    return (first, 1 - first)


def published_response(masses: Masses, ratio: Fraction) -> World:
    """000 eq. (19): q(y|x) = P(y)/E, the rest on y = x."""
    return worlds.randomized_response(masses, 1 - 1 / ratio)


def leakage(channel: Channel, context: Context) -> float:
    return float(LIP.measure(channel, context))


def refused(certificate: Certificate) -> bool:
    """Tell whether a guarantee was refused, with a witness."""
    broken = [claim for claim in certificate.claims if not claim.holds]
    return not certificate.holds and all(claim.witness is not None for claim in broken)


# --- 000 and 001: the published optimal randomised response ---------------------------------------


def test_the_published_optimal_response_leaks_nearly_twice_its_budget() -> None:
    world = published_response(SKEWED, BELOW_E)
    assert agrees(leakage(world.channel, world.prior), "1.90048")
    certificate = LIP("1").certify(world.channel, world.prior)
    assert refused(certificate)
    upper, lower = certificate.claims
    assert upper.quantity == "max-lift"
    assert upper.witness is not None
    assert (upper.witness.secret, upper.witness.output) == (0, 0)
    assert upper.measured.lower == (1 - 1 / BELOW_E) / SKEWED[0] + 1 / BELOW_E
    assert lower.holds
    assert LIP("1.90049").certify(world.channel, world.prior).holds
    assert not LIP("1.90047").certify(world.channel, world.prior).holds


@pytest.mark.parametrize(
    ("masses", "true"),
    [
        (worlds.normalised([1] * 4), "1.06346"),
        (worlds.normalised([1] * 21), "2.613"),
        (SKEWED, "1.900"),
        (binary(Fraction(1, 10)), "1.90048"),  # 001 Prop 5, one user of five
    ],
)
def test_the_published_response_leaks_the_logarithm_of_its_max_lift(
    masses: Masses, true: str
) -> None:
    world = published_response(masses, BELOW_E)
    assert agrees(leakage(world.channel, world.prior), true)
    assert refused(LIP("1").certify(world.channel, world.prior))


@pytest.mark.parametrize("size", [4, 21])
def test_the_published_response_needs_a_budget_of_the_logarithm_of_m_minus_1(size: int) -> None:
    uniform = worlds.normalised([1] * size)
    enough = published_response(uniform, Fraction(size - 1))
    assert LIP(f"ln {size - 1}").certify(enough.channel, enough.prior).holds
    less = Fraction(size - 1) * (1 - Fraction(1, 10**9))
    world = published_response(uniform, less)
    assert refused(LIP(f"ln {less}").certify(world.channel, world.prior))


def test_the_published_response_is_safe_when_no_symbol_is_rare() -> None:
    masses = (Fraction(3, 10), Fraction(3, 10), Fraction(2, 5))  # 1/(e+1) = .2689
    world = published_response(masses, BELOW_E)
    assert LIP("1").certify(world.channel, world.prior).holds
    # The wrong rounding of 1/e is refused: the bound is met with equality.
    assert refused(LIP("1").certify(*_pair(published_response(masses, ABOVE_E))))


def _pair(world: World) -> tuple[Channel, Prior]:
    return world.channel, world.prior


def test_information_of_the_published_and_of_the_safe_response() -> None:
    """I(X;Y) in nats."""
    published = published_response(SKEWED, BELOW_E)
    assert agrees(MutualInformation.measure(*_pair(published)), "0.28515")
    keep = (BELOW_E - 1) * SKEWED[0] / (1 - SKEWED[0])
    safe = worlds.randomized_response(SKEWED, keep)
    assert LIP("1").certify(*_pair(safe)).holds
    assert agrees(MutualInformation.measure(*_pair(safe)), "0.03005")


def test_the_corrected_binary_channel_is_within_budget() -> None:
    """001 Thm 2 outside 1/(1+E) <= P1 <= E/(1+E)."""
    p, ratio = Fraction(1, 10), BELOW_E
    rare, common = 1 / (1 + ratio), (1 - p * ratio) / ((1 - p) * (1 + ratio))
    world = World(binary(p), ((1 - rare, rare), (common, 1 - common)))
    assert LIP("1").certify(*_pair(world)).holds
    assert LIP.measure(*_pair(world)).ratio == ratio


def between(low: Fraction, high: Fraction) -> Intervals:
    return Intervals.of({0: (1 - high, 1 - low), 1: (low, high)})


@pytest.mark.parametrize(
    ("low", "high", "true"),
    [(Fraction(1, 10), Fraction(1, 5), "1.64075"), (Fraction(0), HALF, "1.48988")],
)
def test_the_published_response_to_an_uncertain_prior(
    low: Fraction, high: Fraction, true: str
) -> None:
    ratio = BELOW_E
    to_one, to_zero = high / (high - low + ratio), (1 - low) / (high - low + ratio)
    channel = worlds.channel_of([[1 - to_one, to_one], [to_zero, 1 - to_zero]])
    context = between(low, high)
    assert agrees(leakage(channel, context), true)
    certificate = LIP("1").certify(channel, context)
    assert refused(certificate)
    worst = next(claim.witness for claim in certificate.claims if not claim.holds)
    assert worst is not None
    assert worst.prior is not None
    assert low <= worst.prior[1] <= high


def test_the_corrected_response_to_an_uncertain_prior() -> None:
    low, high, ratio = Fraction(1, 10), Fraction(1, 5), BELOW_E
    assert low * ratio + high < 1
    to_zero, to_one = 1 / (1 + ratio), (1 - low * ratio) / ((1 - low) * (1 + ratio))
    channel = worlds.channel_of([[1 - to_one, to_one], [to_zero, 1 - to_zero]])
    assert LIP("1").certify(channel, between(low, high)).holds
    assert LIP.measure(channel, between(low, high)).ratio == ratio


# --- 000: LIP and LDP -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("p", "true"), [(Fraction(1, 10), "1.21186"), (Fraction(1, 100), "1.0175")]
)
def test_proposition_1_is_loose_for_a_skewed_bit(p: Fraction, true: str) -> None:
    found = 0.0
    for order in ((0, 1), (1, 0)):
        world = worlds.extremal(binary(p), 1 / BELOW_E, BELOW_E, order)
        assert LIP("1").certify(*_pair(world)).holds
        found = max(found, float(LDP.measure(world.channel)))
    assert agrees(found, true)
    lines = {line.target: line for line in implications(LIP("1"), worlds.prior_of(binary(p)))}
    bound = lines["ldp"].bound
    assert bound is not None
    assert agrees(bound, true)
    assert found <= float(bound)


def test_a_more_skewed_prior_leaks_more_ldp_with_three_symbols_and_less_with_two() -> None:
    """000 Fig 2, text."""

    def level(masses: Masses) -> float:
        lines = {line.target: line for line in implications(LIP("1"), worlds.prior_of(masses))}
        bound = lines["ldp"].bound
        assert bound is not None
        return float(bound)

    rare = [Fraction(3, 10), Fraction(1, 4), Fraction(1, 10), Fraction(1, 1000)]
    three = [level((p, (1 - p) / 2, (1 - p) / 2)) for p in rare]
    two = [level(binary(p)) for p in rare]
    assert three == sorted(three)
    assert three[-1] == 2.0
    assert two[1:] == sorted(two[1:], reverse=True)
    assert 1 < two[-1] < 1.01


def test_theorem_2_a_rarer_symbol_leaks_more_lip_from_the_same_ldp() -> None:
    """The inequality quoted after 000 Thm 2 is reversed: P + E(1-P) falls in P."""
    leaks = []
    for p in (Fraction(3, 10), Fraction(1, 10), Fraction(1, 100)):
        world = worlds.staircase((p, 1 - p), Fraction(3), [0])
        assert LDP.measure(world.channel).ratio == 3
        leaks.append(LIP.measure(*_pair(world)).ratio)
    assert leaks == [p + 3 * (1 - p) for p in (Fraction(3, 10), Fraction(1, 10), Fraction(1, 100))]


def test_identifiability_of_a_constant_channel() -> None:
    constant = worlds.channel_of([[1], [1]])
    assert Identifiability.measure(constant, Prior.uniform(range(2))).ratio == 1
    assert LIP.measure(constant, Prior.uniform(range(2))).ratio == 1


def test_corollary_3_converse_needs_2_e_delta() -> None:
    first = 1 / (2 * ABOVE_E)
    loud = Fraction(2, 100) * BELOW_E
    world = World(binary(first), ((loud, 1 - loud), (Fraction(0), Fraction(1))))
    assert ApproximateLIP("1", "0.01", "def5").certify(*_pair(world)).holds
    found = ApproximateLDP.measure(*_pair(world), "2")
    assert agrees(found, "0.0543656")
    assert agrees((1 + BELOW_E) / 100, "0.0371828")
    published = ApproximateLDP("2", (1 + ABOVE_E) / 100).certify(*_pair(world))
    assert refused(published)
    assert ApproximateLDP("2", 2 * ABOVE_E / 100).certify(*_pair(world)).holds
    lines = {line.target: line for line in implications(ApproximateLIP("1", "0.01", "def5"))}
    bound = lines["ldp_delta"].bound
    assert bound is not None
    assert agrees(bound, "0.0543656")


def test_corollary_9_is_sufficient_only() -> None:
    """Def 5 with delta .01, yet the E-divergence is e times that."""
    first = 1 / (2 * BELOW_E)
    loud = Fraction(2, 100) * BELOW_E
    world = World(binary(first), ((loud, 1 - loud), (Fraction(0), Fraction(1))))
    assert agrees(ApproximateLIP.measure(*_pair(world), "1", "def5"), "0.01")
    assert agrees(ApproximateLIP.measure(*_pair(world), "1", "ediv"), "0.0271828")


def test_equation_4_is_not_equivalent_to_equation_3() -> None:
    """A bit with one of a hundred tags: each output exceeds by .005, all of them reveal the bit."""
    tags = 100
    rows = [
        [Fraction(1, tags)] * tags + [Fraction(0)] * tags,
        [Fraction(0)] * tags + [Fraction(1, tags)] * tags,
    ]
    channel, fair = worlds.channel_of(rows), Prior.uniform(range(2))
    output = Fraction(1, 2 * tags)
    ratio = worlds.exponential("1/2")
    pointwise = max(
        max(output - ratio * q, q / ratio - output) for q in (Fraction(0), Fraction(1, tags))
    )
    assert pointwise == Fraction(5, 1000)
    for form in ("def5", "ediv"):
        assert ApproximateLIP.measure(channel, fair, "0.5", form).value.lower == HALF
    certificate = ApproximateLIP("0.5", "0.005", "def5").certify(channel, fair)
    assert refused(certificate)
    witness = certificate.claims[0].witness
    assert witness is not None
    assert witness.outputs is not None
    assert len(witness.outputs) == tags
    assert LIP.measure(channel, fair).value.is_infinite


def test_small_maximal_leakage_with_infinite_lip() -> None:
    channel = worlds.channel_of([["0.999", "0.001"], ["1", "0"]])
    fair = Prior.uniform(range(2))
    assert MaximalLeakage.measure(channel, fair).ratio == Fraction(1001, 1000)
    assert agrees(MaximalLeakage.measure(channel, fair), "0.001")
    found = LIP.measure(channel, fair)
    assert found.value.is_infinite
    assert found.witness is not None
    assert (found.witness.secret, found.witness.output) == (1, 1)
    for guarantee in (LIP("1000"), LDP("1000")):
        assert refused(guarantee.certify(channel, fair))


# --- 000 Lemma 2 and 003 Def 4: mixtures ----------------------------------------------------------


def test_lemma_2_fails_for_disjoint_supports() -> None:
    identity = Channel.identity(range(2))
    sure = [Prior.from_counts({0: 1, 1: 0}), Prior.from_counts({0: 0, 1: 1})]
    for prior in sure:
        certificate = LIP("0").certify(identity, prior, impossible="ignore")
        assert certificate.holds
        assert len(certificate.unprotected) == 1
    mixed = Prior.mixture(sure, [HALF, HALF])
    assert LIP.measure(identity, mixed).value.is_infinite
    # A family protects every symbol that one of its priors can give.
    assert LIP.measure(identity, Family.of(sure)).value.is_infinite
    assert refused(LIP("1000").certify(identity, Family.of(sure)))
    assert ApproximateLIP.measure(identity, Family.of(sure), "1000", "ediv").value.lower == 1


def test_lemma_2_fails_for_the_joint_delta() -> None:
    identity = Channel.identity(range(2))
    priors = [Prior.from_counts({0: 9, 1: 1}), Prior.from_counts({0: 1, 1: 9})]
    for prior in priors:
        found = ApproximateLIP.measure(identity, prior, "0.5", "joint")
        assert found.value.lower == found.value.upper == Fraction(9, 100)
    mixed = Prior.mixture(priors, [HALF, HALF])
    assert ApproximateLIP.measure(identity, mixed, "0.5", "joint").value.lower == Fraction(1, 4)
    with pytest.raises(NotDefined, match="use def5 or ediv"):
        ApproximateLIP.measure(identity, Family.of(priors), "0.5", "joint")


# --- 000: composition and transfer ----------------------------------------------------------------


def test_composition_is_not_additive() -> None:
    p = 1 / (1 + BELOW_E)
    once = published_response(binary(p), BELOW_E)
    assert LIP("1").certify(*_pair(once)).holds
    twice = once.channel.product(once.channel)
    assert agrees(leakage(twice, once.prior), "2.735326")
    assert refused(LIP("2").certify(twice, once.prior))
    # 2 eps + ln(2 cosh eps - 1), exactly.
    ratio = BELOW_E
    assert LIP.measure(twice, once.prior).ratio == ratio**2 * (ratio + 1 / ratio - 1)
    # Theorem 4 is valid but loose: one release costs 1, not 1.735.
    bound = p + ratio**2 * (1 - p)
    assert agrees(worlds.natural_log(bound), "1.735")
    assert LIP.measure(*_pair(once)).ratio == ratio < bound


def test_the_slope_of_composition_is_twice_the_budget() -> None:
    p = 1 / (1 + BELOW_E)
    once = published_response(binary(p), BELOW_E)
    channel, levels = once.channel, []
    for _ in range(5):
        levels.append(leakage(channel, once.prior))
        channel = channel.product(once.channel)
    steps = [after - before for before, after in pairwise(levels)]
    assert all(1.7 < step <= 2 for step in steps)
    assert agrees(steps[-1], "2.00")


def test_corollary_6_the_condition_lacks_a_logarithm() -> None:
    here, there = binary(HALF), binary(Fraction(3, 10))
    ratio = BELOW_E
    eta = max(max(a / b, b / a) for a, b in zip(here, there, strict=True))
    assert agrees(worlds.natural_log(eta * ratio), "1.5108")
    omega = (ratio - 1 + HALF) / HALF
    assert agrees(worlds.natural_log(omega), "1.4899")
    # Phi as printed, without its logarithm, calls eta + eps the smallest bound.
    distance = sum(abs(a - b) for a, b in zip(here, there, strict=True)) / 2
    phi = omega - 1
    assert distance <= min(*here, *there) * (worlds.exponential(min(Fraction(1), phi)) - 1)
    world = published_response(here, ratio)
    moved = LIP.measure(world.channel, worlds.prior_of(there))
    assert moved.ratio is not None
    assert moved.ratio <= omega < eta * ratio
    assert LDP.measure(world.channel).ratio == omega


# --- 002: asymmetric lifts ------------------------------------------------------------------------


@pytest.fixture
def low_lifts() -> World:
    """S uniform on three; each output lowers one symbol to .1 and raises two to 1.45."""
    third = Fraction(1, 3)
    parts = []
    for y in range(3):
        lifts = tuple(Fraction("0.1") if x == y else Fraction("1.45") for x in range(3))
        parts.append((third, tuple(third * lift for lift in lifts)))
    return worlds.from_posteriors((third,) * 3, parts)


def test_proposition_1_part_2_fails_when_the_lower_budget_is_larger(low_lifts: World) -> None:
    channel, prior = _pair(low_lifts)
    assert TotalVariation.measure(channel, prior).value.lower == Fraction("0.3")
    assert Chi2.measure(channel, prior).value.lower == Fraction("0.405")
    published = Fraction("1.45") - 1
    assert not TotalVariation(published / 2).certify(channel, prior).holds  # .225
    assert not Chi2(published**2).certify(channel, prior).holds  # .2025
    assert published / 2 == Fraction("0.225")
    assert published**2 == Fraction("0.2025")


def test_proposition_3_fails_on_the_same_channel(low_lifts: World) -> None:
    channel, prior = _pair(low_lifts)
    assert L1Lift.measure(channel, prior).value.lower == Fraction("0.6")
    assert Chi2Lift.measure(channel, prior).value.lower == Fraction("0.405")
    assert refused(L1Lift("0.45").certify(channel, prior))
    assert refused(Chi2Lift("0.2025").certify(channel, prior))


def test_the_relations_know_the_corrected_forms(low_lifts: World) -> None:
    assert worlds.smallest_lift(low_lifts) == Fraction("0.1")
    assert worlds.largest_lift(low_lifts) == Fraction("1.45")
    guarantee = ALIP(lower="ln 10", upper="ln 1.45")
    assert guarantee.certify(*_pair(low_lifts)).holds
    lines = {line.target: line for line in implications(guarantee)}
    for target, true in (
        ("total_variation", "0.3"),
        ("chi2", "0.405"),
        ("l1_lift", "0.6"),
        ("chi2_lift", "0.405"),
    ):
        bound = lines[target].bound
        assert bound is not None
        assert bound.lower == Fraction(true)


def test_proposition_1_part_3_as_printed_is_negative_below_order_1() -> None:
    world = worlds.randomized_response(binary(HALF), HALF)
    order = HALF
    found = Sibson.measure(*_pair(world), order)
    printed = order / (order - 1) * worlds.natural_log(worlds.largest_lift(world))
    assert printed < 0 < found.value.lower


@pytest.fixture
def watchdog() -> Joint:
    return worlds.joint_of([["0.25", "0.23", "0.02"], ["0.2", "0.2", "0.1"]])


def test_the_watchdog_does_not_test_what_it_merges(watchdog: Joint) -> None:
    identity = Channel.identity(range(3))
    lifts = audit(identity, watchdog).table
    budget = LIP("0.4").epsilon
    risky = [
        x
        for x in range(3)
        if not (budget.allows(lifts.max_lift(x)) and budget.allows(1 / lifts.min_lift(x)))
    ]
    assert risky == [2]
    merged = identity.relabelled({2: "merged"})  # X-invariant randomisation of one symbol
    found = LIP.measure(merged, watchdog)
    assert found.ratio == 3
    assert agrees(found, "1.0986")
    assert found.witness is not None
    assert found.witness.output == "merged"
    assert refused(LIP("0.4").certify(merged, watchdog))


def test_absorbing_a_safe_symbol_repairs_the_watchdog(watchdog: Joint) -> None:
    merged = Channel.identity(range(3)).relabelled({1: "merged", 2: "merged"})
    assert LIP("0.4").certify(merged, watchdog).holds


@pytest.fixture
def high_lifts() -> World:
    rows = tuple(
        tuple(Fraction(value) for value in row) for row in (("0.09", "0.91"), ("0.16", "0.84"))
    )
    return World((Fraction(6, 7), Fraction(1, 7)), rows)


def test_proposition_5_fails_when_the_upper_budget_is_larger(high_lifts: World) -> None:
    channel, prior = _pair(high_lifts)
    assert worlds.smallest_lift(high_lifts) == Fraction("0.9")
    assert worlds.largest_lift(high_lifts) == Fraction("1.6")
    assert agrees(L1LiftInverse.measure(channel, prior), "0.14881")
    assert agrees(Chi2LiftInverse.measure(channel, prior), "0.030671")
    published = 1 / Fraction("0.9") - 1
    assert agrees(published, "0.11111")
    assert agrees(published**2, "0.012346")
    assert refused(L1LiftInverse(published).certify(channel, prior))
    assert refused(Chi2LiftInverse(published**2).certify(channel, prior))


def test_the_l1_inverse_constraint_is_not_convex() -> None:
    masses = tuple(Fraction(value) for value in ("0.2", "0.2", "0.6"))
    first = tuple(Fraction(value) for value in ("0.5", "0.2", "0.3"))
    second = tuple(Fraction(value) for value in ("0.2", "0.5", "0.3"))
    middle = tuple((a + b) / 2 for a, b in zip(first, second, strict=True))
    found = []
    for posterior in (first, second, middle):
        world = worlds.with_posterior(masses, posterior, Fraction(1, 10**6))
        measurement = L1LiftInverse.measure(*_pair(world))
        assert measurement.witness is not None
        assert measurement.witness.output == 0
        found.append(measurement)
    assert found[0].value.lower == found[1].value.lower == Fraction("0.72")
    assert agrees(found[2], "0.7714")
    # Merging the two outputs (post-processing) therefore raises the measure.
    share = Fraction(1, 100)
    rest = tuple(
        (m - share * (a + b)) / (1 - 2 * share)
        for m, a, b in zip(masses, first, second, strict=True)
    )
    world = worlds.from_posteriors(masses, [(share, first), (share, second), (1 - 2 * share, rest)])
    merged = world.channel.relabelled({0: "both", 1: "both"})
    before = L1LiftInverse.measure(*_pair(world)).value.lower
    assert L1LiftInverse.measure(merged, world.prior).value.lower > before


def test_the_alpha_lift_constraint_is_convex_from_order_1_on_only() -> None:
    """At order 1/2 two sharp outputs measure .8; merged they say nothing and measure 1."""
    world = World(
        (HALF, HALF),
        ((Fraction(9, 10), Fraction(1, 10)), (Fraction(1, 10), Fraction(9, 10))),
    )
    merged = world.channel.relabelled({0: "both", 1: "both"})
    for order, apart in ((HALF, "0.8"), (Fraction(2), "1.2806")):
        assert agrees(AlphaLift.measure(*_pair(world), order), apart)
        assert agrees(AlphaLift.measure(merged, world.prior, order), "1.0000")


def test_e_divergence_of_the_tagged_bit_is_a_sum_over_outputs() -> None:
    tags = 100
    tagged = Prior.from_counts({y: 1 if y < tags else 0 for y in range(2 * tags)})
    output = Prior.uniform(range(2 * tags))
    assert e_divergence.measure(output, tagged, 3).value.lower == HALF
    assert e_divergence.measure(tagged, output, 1).value.lower == HALF
