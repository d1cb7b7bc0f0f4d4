"""Paper 002, On the Lift (ALIP): its statements in their corrected form, and how tight they are.

L = e^-eps_lower is the smallest lift, U = e^eps_upper the largest one.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import mpmath
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from liftlock.exact.budget import Budget
from liftlock.exact.enclosure import Enclosure
from liftlock.notions import (
    ALIP,
    LDP,
    AlphaLift,
    AlphaLiftInverse,
    Arimoto,
    Chi2,
    Chi2Lift,
    Chi2LiftInverse,
    L1Lift,
    L1LiftInverse,
    MutualInformation,
    NoBreach,
    Sibson,
    TotalVariation,
    find_breaches,
)
from liftlock.notions.lift import extreme_lifts
from tests.theorems import worlds
from tests.theorems.worlds import Masses, World

ONE = Fraction(1)
ORDERS = [Fraction(1, 2), Fraction(3, 2), Fraction(2), Fraction(7)]


def lift_range(world: World) -> tuple[Fraction, Fraction]:
    """Return the audited smallest and largest lift."""
    found = extreme_lifts(world.channel, world.prior)
    assert found.smallest.lift is not None
    assert found.largest.lift is not None
    return found.smallest.lift, found.largest.lift


def exactly(value: Enclosure) -> Fraction:
    assert value.is_exact
    return value.lower


def at_most(value: Enclosure, bound: Fraction) -> bool:
    """Tell whether an enclosed leakage may be at most a bound known to many digits."""
    return value.lower <= bound + worlds.ROUNDING


def reaches(value: Enclosure, bound: Fraction) -> bool:
    assert value.upper is not None
    return value.upper >= bound - worlds.ROUNDING


PAIRS = [
    (Fraction(1, 2), Fraction(2)),
    (Fraction(1, 10), Fraction(29, 20)),  # eps_lower > eps_upper
    (Fraction(9, 10), Fraction(8, 5)),  # eps_lower < eps_upper
    (Fraction(1, 4), Fraction(4)),
]
each_pair = pytest.mark.parametrize(("low", "high"), PAIRS)


# --- Proposition 1: average measures and LDP ------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(worlds.worlds())
def test_proposition_1_part_1_mutual_information(world: World) -> None:
    low, high = lift_range(world)
    found = MutualInformation.measure(world.channel, world.prior).value
    if low == high:
        assert found == Enclosure.of(0)
    else:
        logs = worlds.natural_log(high), worlds.natural_log(1 / low)
        bound = (high * logs[0] * (1 - low) - low * logs[1] * (high - 1)) / (high - low)
        assert at_most(found, bound)
        assert bound <= logs[0] + worlds.ROUNDING


@each_pair
def test_proposition_1_part_1_is_tight(low: Fraction, high: Fraction) -> None:
    world = worlds.two_points(low, high)
    assert lift_range(world) == (low, high)
    logs = worlds.natural_log(high), worlds.natural_log(1 / low)
    bound = (high * logs[0] * (1 - low) - low * logs[1] * (high - 1)) / (high - low)
    found = MutualInformation.measure(world.channel, world.prior).value
    assert at_most(found, bound)
    assert reaches(found, bound)


@settings(max_examples=80, deadline=None)
@given(worlds.worlds(zeros=True))
def test_proposition_1_part_2_total_variation_and_chi2(world: World) -> None:
    low, high = lift_range(world)
    variation = exactly(TotalVariation.measure(world.channel, world.prior).value)
    squared = exactly(Chi2.measure(world.channel, world.prior).value)
    assert variation == worlds.total_variation(world)
    assert squared == worlds.chi2(world)
    assert variation * (high - low) <= (high - 1) * (1 - low)
    assert squared <= (high - 1) * (1 - low)
    # The published bounds need e^eps_upper + e^-eps_lower >= 2.
    if high + low >= 2:
        assert variation <= (high - 1) / 2
        assert squared <= (high - 1) ** 2


@each_pair
def test_proposition_1_part_2_is_tight(low: Fraction, high: Fraction) -> None:
    world = worlds.two_points(low, high)
    variation = exactly(TotalVariation.measure(world.channel, world.prior).value)
    squared = exactly(Chi2.measure(world.channel, world.prior).value)
    assert variation == (high - 1) * (1 - low) / (high - low)
    assert squared == (high - 1) * (1 - low)
    # ... so the published ones fail exactly when the condition fails.
    assert (variation > (high - 1) / 2) == (high + low < 2)
    assert (squared > (high - 1) ** 2) == (high + low < 2)


@settings(max_examples=40, deadline=None)
@given(worlds.worlds(zeros=True), st.sampled_from(ORDERS))
def test_proposition_1_part_3_sibson_and_arimoto(world: World, order: Fraction) -> None:
    _, high = lift_range(world)
    bound = worlds.natural_log(high)
    for module, oracle in ((Sibson, worlds.sibson), (Arimoto, worlds.arimoto)):
        found = module.measure(world.channel, world.prior, order).value
        true = oracle(world, order)
        assert at_most(found, true)
        assert reaches(found, true)
        assert at_most(found, bound)


def test_proposition_1_part_3_is_tight_without_the_factor() -> None:
    """A symbol of tiny mass raised to U by one of many outputs: I_alpha tends to eps_upper."""
    size = 50
    world = worlds.identity(worlds.normalised([1] * size))
    for module in (Sibson, Arimoto):
        found = module.measure(world.channel, world.prior, 2).value
        assert reaches(found, worlds.natural_log(Fraction(size)) - Fraction(1, 10**20))


@settings(max_examples=80, deadline=None)
@given(worlds.worlds())
def test_proposition_1_part_4_ldp(world: World) -> None:
    low, high = lift_range(world)
    assert LDP(Budget.from_ratio(high / low)).certify(world.channel, world.prior).holds
    # Equation (4): the ratio is max-lift over min-lift, output by output.
    ratio = max(max(lifts) / min(lifts) for _, lifts in worlds.columns(world))
    assert LDP.measure(world.channel).ratio == ratio


@each_pair
def test_proposition_1_part_4_is_tight(low: Fraction, high: Fraction) -> None:
    world = worlds.two_points(low, high)
    assert LDP.measure(world.channel).ratio == high / low


# --- Propositions 3 and 4: lift-based measures ----------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(worlds.worlds(zeros=True))
def test_proposition_3_parts_1_and_2(world: World) -> None:
    low, high = lift_range(world)
    absolute = exactly(L1Lift.measure(world.channel, world.prior).value)
    squared = exactly(Chi2Lift.measure(world.channel, world.prior).value)
    assert absolute == worlds.l1_lift(world)
    assert squared == worlds.chi2_lift(world)
    assert absolute * (high - low) <= 2 * (high - 1) * (1 - low)
    assert squared <= (high - 1) * (1 - low)


@each_pair
def test_proposition_3_parts_1_and_2_are_tight(low: Fraction, high: Fraction) -> None:
    world = worlds.two_points(low, high)
    absolute = exactly(L1Lift.measure(world.channel, world.prior).value)
    squared = exactly(Chi2Lift.measure(world.channel, world.prior).value)
    assert absolute == 2 * (high - 1) * (1 - low) / (high - low)
    assert squared == (high - 1) * (1 - low)
    assert (absolute > high - 1) == (high + low < 2)


def real_power(base: Fraction, exponent: Fraction) -> Fraction:
    with mpmath.workdps(worlds.DIGITS):
        return worlds.rational(worlds.real(base) ** worlds.real(exponent))


@settings(max_examples=40, deadline=None)
@given(worlds.worlds(zeros=True), st.sampled_from(ORDERS))
def test_proposition_3_part_3(world: World, order: Fraction) -> None:
    _, high = lift_range(world)
    found = AlphaLift.measure(world.channel, world.prior, order).value
    true = worlds.alpha_lift(world, order)
    assert at_most(found, true)
    assert reaches(found, true)
    bound = real_power(high, (order - 1) / order) if order > 1 else ONE
    assert at_most(found, bound)


def test_proposition_3_part_3_is_tight() -> None:
    """A posterior on few symbols: U = 1/P and alpha-lift = U^((alpha-1)/alpha)."""
    world = worlds.identity(worlds.normalised([1] * 8))
    found = AlphaLift.measure(world.channel, world.prior, 3).value
    assert at_most(found, Fraction(4))
    assert reaches(found, Fraction(4))  # 8^(2/3)


@settings(max_examples=60, deadline=None)
@given(worlds.worlds(zeros=True))
def test_proposition_4_parts_1_and_2(world: World) -> None:
    low, high = lift_range(world)
    p = world.smallest
    absolute = exactly(L1Lift.measure(world.channel, world.prior).value)
    squared = exactly(Chi2Lift.measure(world.channel, world.prior).value)
    assert high <= 1 + absolute / (2 * p)
    assert (high - 1) ** 2 <= squared * (1 - p) / p
    # The lift-based measures bound the min-lift too, as far as the numbers are small enough.
    assert low >= 1 - absolute / (2 * p)
    assert (1 - low) ** 2 <= squared * (1 - p) / p


@settings(max_examples=60, deadline=None)
@given(worlds.masses(least=3), st.integers(2, 50))
def test_proposition_4_parts_1_and_2_are_tight(masses: Masses, part: int) -> None:
    """Move mass to (from) the rarest symbol, evenly from (to) all others."""
    x = masses.index(min(masses))
    step = masses[x] / part
    for sign in (1, -1):
        posterior = tuple(
            mass + sign * (step if i == x else -step * mass / (1 - masses[x]))
            for i, mass in enumerate(masses)
        )
        world = worlds.with_posterior(masses, posterior, Fraction(1, 10**9))
        low, high = lift_range(world)
        extreme = high - 1 if sign > 0 else 1 - low
        absolute = exactly(L1Lift.measure(world.channel, world.prior).value)
        squared = exactly(Chi2Lift.measure(world.channel, world.prior).value)
        assert extreme == absolute / (2 * masses[x])
        assert extreme**2 == squared * (1 - masses[x]) / masses[x]


@settings(max_examples=40, deadline=None)
@given(worlds.worlds(zeros=True), st.sampled_from(ORDERS))
def test_proposition_4_part_3(world: World, order: Fraction) -> None:
    _, high = lift_range(world)
    found = AlphaLift.measure(world.channel, world.prior, order).value
    assert found.upper is not None
    assert high <= found.upper / real_power(world.smallest, 1 / order) + worlds.ROUNDING


def test_proposition_4_part_3_is_tight() -> None:
    world = worlds.identity(worlds.normalised([1, 3]))
    found = AlphaLift.measure(world.channel, world.prior, 2).value  # at the rare output: 2
    assert at_most(found, Fraction(2))
    assert reaches(found, Fraction(2))
    assert lift_range(world)[1] == 4 == 2 / real_power(Fraction(1, 4), Fraction(1, 2))


@settings(max_examples=40, deadline=None)
@given(worlds.masses())
def test_lift_based_measures_are_void_for_the_min_lift_when_large(masses: Masses) -> None:
    """An l1-lift of 2 P(s) is enough to rule a symbol out."""
    x = masses.index(min(masses))
    posterior = tuple(
        Fraction(0) if i == x else mass / (1 - masses[x]) for i, mass in enumerate(masses)
    )
    world = worlds.with_posterior(masses, posterior, Fraction(1, 10**9))
    assert lift_range(world)[0] == 0
    assert exactly(L1Lift.measure(world.channel, world.prior).value) == 2 * masses[x]


@settings(max_examples=30, deadline=None)
@given(worlds.masses(), worlds.ratios())
def test_equation_a1_is_tight(masses: Masses, ratio: Fraction) -> None:
    """A property and its complement, flipped with odds 1 : ratio: the odds do grow by the ratio."""
    world = worlds.staircase(masses, ratio, [0])
    odds = ratio * masses[0] / (1 - masses[0])
    found = NoBreach.measure(world.channel, world.prior, masses[0])
    assert exactly(found.value) >= odds / (1 + odds)
    assert found.witness is not None


# --- Propositions 5 and 6: lift-inverse measures --------------------------------------------------


def two_point_supremum(
    low: Fraction, high: Fraction, function: Callable[[Fraction], Fraction]
) -> Fraction:
    """Return sup over t in (1, U] of ((t-1) f(L) + (1-L) f(t)) / (t-L), by ternary search.

    The mean over s of f(lift) is largest on two points, L and t; as a function of t it rises to
    one maximum and falls afterwards.
    """

    def value(t: Fraction) -> Fraction:
        return ((t - 1) * function(low) + (1 - low) * function(t)) / (t - low)

    left, right = ONE, high
    for _ in range(110):
        third = (right - left) / 3
        a, b = (Fraction(round(point * 10**50), 10**50) for point in (left + third, right - third))
        if value(a) < value(b):
            left = a
        else:
            right = b
    return max(value(right), value(high))


def absolute_inverse(lift: Fraction) -> Fraction:
    return abs(1 / lift - 1)


def squared_inverse(lift: Fraction) -> Fraction:
    return (1 / lift - 1) ** 2


@settings(max_examples=30, deadline=None)
@given(worlds.worlds())
def test_proposition_5_parts_1_and_2(world: World) -> None:
    low, high = lift_range(world)
    absolute = exactly(L1LiftInverse.measure(world.channel, world.prior).value)
    squared = exactly(Chi2LiftInverse.measure(world.channel, world.prior).value)
    assert absolute == worlds.l1_lift_inverse(world)
    assert squared == worlds.chi2_lift_inverse(world)
    assume(low < 1)
    margin = 1 + Fraction(1, 10**20)  # of the ternary search
    assert absolute <= two_point_supremum(low, high, absolute_inverse) * margin
    assert squared <= two_point_supremum(low, high, squared_inverse) * margin
    crude = max(1 / low - 1, 1 - 1 / high)
    assert absolute <= crude
    assert squared <= crude**2
    # The published bounds need e^eps_lower + e^-eps_upper >= 2.
    if 1 / low + 1 / high >= 2:
        assert absolute <= 1 / low - 1
        assert squared <= (1 / low - 1) ** 2


@each_pair
@pytest.mark.parametrize("function", [absolute_inverse, squared_inverse])
def test_proposition_5_parts_1_and_2_are_tight(
    low: Fraction, high: Fraction, function: Callable[[Fraction], Fraction]
) -> None:
    """Some two-point distribution within the range comes as close to the supremum as one likes."""
    bound = two_point_supremum(low, high, function)
    module = L1LiftInverse if function is absolute_inverse else Chi2LiftInverse
    best = Fraction(0)
    for step in range(1, 61):
        t = 1 + (high - 1) * step / 60
        crowd = (1 - low) / (t - low)  # the mass that is raised to t
        # The other output has to be quieter, and it is: with little mass here it hardly speaks.
        world = worlds.with_posterior(
            (crowd, 1 - crowd), (crowd * t, 1 - crowd * t), Fraction(1, 10**6)
        )
        best = max(best, exactly(module.measure(world.channel, world.prior).value))
    assert bound * (1 - Fraction(1, 1000)) < best <= bound * (1 + Fraction(1, 10**20))


@settings(max_examples=30, deadline=None)
@given(worlds.worlds(), st.sampled_from(ORDERS))
def test_proposition_5_part_3(world: World, order: Fraction) -> None:
    low, _ = lift_range(world)
    found = AlphaLiftInverse.measure(world.channel, world.prior, order).value
    true = worlds.alpha_lift_inverse(world, order)
    assert true is not None
    assert at_most(found, true)
    assert reaches(found, true)
    assert at_most(found, 1 / low)


def test_proposition_5_part_3_is_tight() -> None:
    """Nearly all symbols fall to L, one of tiny mass takes the rest."""
    low, rare = Fraction(1, 2), Fraction(1, 10**9)
    posterior = (1 - low * (1 - rare), low * (1 - rare))
    world = worlds.with_posterior((rare, 1 - rare), posterior, Fraction(1, 10**6))
    found = AlphaLiftInverse.measure(world.channel, world.prior, 2).value
    assert reaches(found, 1 / low - Fraction(1, 10**8))


@settings(max_examples=60, deadline=None)
@given(worlds.worlds())
def test_proposition_6_parts_1_and_2(world: World) -> None:
    low, _ = lift_range(world)
    p = world.smallest
    absolute = exactly(L1LiftInverse.measure(world.channel, world.prior).value)
    squared = exactly(Chi2LiftInverse.measure(world.channel, world.prior).value)
    assert low >= p / (absolute + p)
    assert (1 / low - 1) ** 2 <= squared / p


@settings(max_examples=30, deadline=None)
@given(worlds.worlds(), st.sampled_from(ORDERS))
def test_proposition_6_part_3(world: World, order: Fraction) -> None:
    low, _ = lift_range(world)
    found = AlphaLiftInverse.measure(world.channel, world.prior, order).value
    assert found.upper is not None
    assert 1 / low <= found.upper / real_power(world.smallest, 1 / order) + worlds.ROUNDING


def test_proposition_6_is_nearly_attained() -> None:
    """A symbol that all but vanishes carries nearly the whole inverse measure."""
    p, low = Fraction(1, 10), Fraction(1, 10**9)
    world = worlds.with_posterior((p, 1 - p), (p * low, 1 - p * low), Fraction(1, 10**6))
    absolute = exactly(L1LiftInverse.measure(world.channel, world.prior).value)
    squared = exactly(Chi2LiftInverse.measure(world.channel, world.prior).value)
    near = 1 + Fraction(1, 10**8)
    assert 1 < low * (1 + absolute / p) < near
    assert 1 < low**2 * squared / p * (1 + 3 * low) < near


# --- section 6.2: which constraint sets are convex ------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(worlds.worlds(), st.sampled_from(ORDERS))
def test_merging_outputs_never_raises_a_convex_measure(world: World, order: Fraction) -> None:
    """l1-, chi2-, alpha-lift (alpha >= 1) and alpha-inverse are convex in the posterior."""
    channel, prior = world.channel, world.prior
    assume(len(channel.outputs) > 1)
    merged = channel.relabelled({0: "both", 1: "both"})
    pairs = [
        (L1Lift.measure(c, prior).value, Chi2Lift.measure(c, prior).value)
        for c in (channel, merged)
    ]
    assert exactly(pairs[1][0]) <= exactly(pairs[0][0])
    assert exactly(pairs[1][1]) <= exactly(pairs[0][1])
    inverse = [AlphaLiftInverse.measure(c, prior, order).value for c in (channel, merged)]
    assert reaches(inverse[0], inverse[1].lower)
    if order >= 1:
        norms = [AlphaLift.measure(c, prior, order).value for c in (channel, merged)]
        assert reaches(norms[0], norms[1].lower)


# --- appendix A: privacy breaches -----------------------------------------------------------------


@st.composite
def levels(draw: st.DrawFn) -> tuple[Fraction, Fraction]:
    low = draw(st.fractions(Fraction(1, 50), Fraction(9, 10), max_denominator=50))
    high = draw(st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50))
    assume(low != high)
    return min(low, high), max(low, high)


def posterior_extremes(world: World, rho1: Fraction, rho2: Fraction) -> tuple[Fraction, Fraction]:
    """Search all properties: the highest posterior from rho1 down, the lowest from rho2 up."""
    highest, lowest = Fraction(0), ONE
    for _, lifts in worlds.columns(world):
        for chosen in worlds.subsets(len(world.masses)):
            before = sum((world.masses[s] for s in chosen), Fraction(0))
            after = sum((world.masses[s] * lifts[s] for s in chosen), Fraction(0))
            if before <= rho1:
                highest = max(highest, after)
            if before >= rho2:
                lowest = min(lowest, after)
    return highest, lowest


@settings(max_examples=80, deadline=None)
@given(worlds.worlds(zeros=True), levels())
def test_definition_a1_by_searching_every_property(
    world: World, rho: tuple[Fraction, Fraction]
) -> None:
    report = find_breaches(world.channel, world.prior, *rho)
    highest, lowest = posterior_extremes(world, *rho)
    assert exactly(report.upward.value) == highest
    assert exactly(report.downward.value) == lowest
    assert report.possible == (highest > rho[1] or lowest < rho[0])


@settings(max_examples=80, deadline=None)
@given(worlds.worlds(), levels())
def test_equation_a1_ldp_prevents_breaches(world: World, rho: tuple[Fraction, Fraction]) -> None:
    rho1, rho2 = rho
    ratio = LDP.measure(world.channel).ratio
    assert ratio is not None
    if ratio <= rho2 * (1 - rho1) / (rho1 * (1 - rho2)):
        assert not find_breaches(world.channel, world.prior, rho1, rho2).possible
    # The level that (A1) allows with equality: the odds grow by the ratio.
    odds = ratio * rho1 / (1 - rho1)
    if ratio > 1:
        assert not find_breaches(world.channel, world.prior, rho1, odds / (1 + odds)).possible


@settings(max_examples=80, deadline=None)
@given(worlds.worlds(), levels())
def test_proposition_a1(world: World, rho: tuple[Fraction, Fraction]) -> None:
    rho1, rho2 = rho
    low, high = lift_range(world)
    up, down = high <= rho2 / rho1, low >= (1 - rho2) / (1 - rho1)
    report = find_breaches(world.channel, world.prior, rho1, rho2)
    if up or down:  # either bound alone stops the upward breach
        assert exactly(report.upward.value) <= rho2
    # Which one stops the downward breach depends on which level is farther from one half.
    if (up and rho2 * (1 - rho2) <= rho1 * (1 - rho1)) or (
        down and rho2 * (1 - rho2) >= rho1 * (1 - rho1)
    ):
        assert exactly(report.downward.value) >= rho1
    if up and down:
        assert not report.possible


@settings(max_examples=60, deadline=None)
@given(worlds.worlds(), st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50))
def test_proposition_a1_at_the_boundary(world: World, rho1: Fraction) -> None:
    """Take the levels the audited lifts allow, with equality."""
    low, high = lift_range(world)
    for rho2 in (high * rho1, 1 - low * (1 - rho1)):
        if rho1 < rho2 < 1:
            assert exactly(NoBreach.measure(world.channel, world.prior, rho1).value) <= rho2


def test_proposition_a1_one_bound_alone_does_not_stop_the_downward_breach() -> None:
    """Max-lift within rho2/rho1, yet a property of prior .5 falls below .2."""
    world = World(
        (Fraction(1, 2), Fraction(1, 2)),
        ((Fraction(1, 10), Fraction(9, 10)), (Fraction(9, 10), Fraction(1, 10))),
    )
    low, high = lift_range(world)
    assert (low, high) == (Fraction(1, 5), Fraction(9, 5))
    rho1, rho2 = Fraction(1, 4), Fraction(1, 2)
    assert high <= rho2 / rho1
    assert low < (1 - rho2) / (1 - rho1)
    report = find_breaches(world.channel, world.prior, rho1, rho2)
    assert exactly(report.upward.value) <= rho2
    assert exactly(report.downward.value) == Fraction(1, 10) < rho1


@settings(max_examples=60, deadline=None)
@given(worlds.worlds(zeros=True))
def test_definition_3_is_certified_exactly_at_the_measured_lifts(world: World) -> None:
    low, high = lift_range(world)
    assume(low > 0)
    budgets = {"lower": Budget.from_ratio(1 / low), "upper": Budget.from_ratio(high)}
    assert ALIP(**budgets).certify(world.channel, world.prior).holds
    for name, ratio in (("lower", 1 / low), ("upper", high)):
        if ratio > 1:
            less = Budget.from_ratio(1 + (ratio - 1) * (1 - Fraction(1, 10**30)))
            refused = ALIP(**{**budgets, name: less}).certify(world.channel, world.prior)
            assert not refused.holds
            assert sum(not claim.holds for claim in refused.claims) == 1
