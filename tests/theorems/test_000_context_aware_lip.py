"""Paper 000, Context-Aware Local Information Privacy: its statements in their true form.

Budgets are logarithms of rationals E = e^epsilon, so that every comparison is exact.
"""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from liftlock import Channel, Family, Intervals, Joint, Prior
from liftlock.exact.budget import Budget
from liftlock.notions import (
    LDP,
    LIP,
    ApproximateLDP,
    ApproximateLIP,
    Identifiability,
    MaximalLeakage,
    MaxLift,
    MutualInformation,
    approximate,
    e_divergence,
    worst_case,
)
from liftlock.notions.lift import extreme_lifts
from tests.theorems import worlds
from tests.theorems.worlds import Masses, World

ONE = Fraction(1)


def leakage(channel: Channel, context: Prior | Joint | Family | Intervals) -> Fraction | None:
    """Return e^L_LIP as audited; None is infinite."""
    return LIP.measure(channel, context).ratio


def finite(ratio: Fraction | None) -> Fraction:
    assert ratio is not None
    return ratio


def no_more(ratio: Fraction | None, other: Fraction | None) -> bool:
    """Compare two ratios, None being infinite."""
    return other is None or (ratio is not None and ratio <= other)


def nats(ratio: Fraction) -> Budget:
    return Budget.from_ratio(ratio)


# --- the audit itself -----------------------------------------------------------------------------


@settings(max_examples=80, deadline=None)
@given(worlds.worlds(zeros=True))
def test_definitions_1_3_4_and_equation_8(world: World) -> None:
    prior, channel = world.prior, world.channel
    assert leakage(channel, prior) == worlds.lip_ratio(world)
    assert LDP.measure(channel).ratio == worlds.ldp_ratio(world)
    assert Identifiability.measure(channel, prior).ratio == worlds.odds_ratio(world)
    assert MaximalLeakage.measure(channel, prior).ratio == worlds.guessing_ratio(world)


@settings(max_examples=30, deadline=None)
@given(worlds.worlds(zeros=True))
def test_definition_2(world: World) -> None:
    found = MutualInformation.measure(world.channel, world.prior).value
    assert found.upper is not None
    true = worlds.mutual_information(world)
    assert found.lower - worlds.ROUNDING <= true <= found.upper + worlds.ROUNDING
    assert found.width < Fraction(1, 2**100)


@settings(max_examples=40, deadline=None)
@given(worlds.worlds(zeros=True), worlds.ratios(one=True))
def test_definitions_1_and_5_are_about_sets_of_outputs(world: World, ratio: Fraction) -> None:
    channel, prior = world.channel, world.prior
    found = ApproximateLDP.measure(channel, prior, nats(ratio)).value
    assert found.is_exact
    assert found.lower == worlds.delta_ldp(world, ratio)
    for form in approximate.FORMS:
        value = ApproximateLIP.measure(channel, prior, nats(ratio), form).value
        assert value.lower == value.upper == worlds.delta(world, ratio, form)


@settings(max_examples=60, deadline=None)
@given(worlds.worlds())
def test_corollary_1_every_set_of_outputs_and_symbols_stays_within(world: World) -> None:
    ratio = finite(leakage(world.channel, world.prior))
    output = worlds.output_masses(world)
    for xs in worlds.subsets(len(world.masses)):
        for ys in worlds.subsets(len(output)):
            before = sum((world.masses[x] for x in xs), Fraction(0))
            seen = sum((output[y] for y in ys), Fraction(0))
            both = sum((world.masses[x] * world.rows[x][y] for x in xs for y in ys), Fraction(0))
            if before and seen:
                assert 1 / ratio <= both / (before * seen) <= ratio


# --- Lemma 1 --------------------------------------------------------------------------------------


@settings(max_examples=80, deadline=None)
@given(worlds.worlds(zeros=True))
def test_lemma_1_part_1_symmetry(world: World) -> None:
    turned = worlds.reversed_world(world)
    forward, backward = (extreme_lifts(each.channel, each.prior) for each in (world, turned))
    assert leakage(world.channel, world.prior) == leakage(turned.channel, turned.prior)
    assert forward.largest.lift == backward.largest.lift
    assert forward.smallest.lift == backward.smallest.lift


@settings(max_examples=80, deadline=None)
@given(worlds.worlds(), st.data())
def test_lemma_1_part_2_zero_means_independent(world: World, data: st.DataObject) -> None:
    independent = all(row == world.rows[0] for row in world.rows)
    assert (leakage(world.channel, world.prior) == 1) == independent
    copied = World(world.masses, (world.rows[0],) * len(world.masses))
    assert leakage(copied.channel, copied.prior) == 1
    # The smallest change of one entry is noticed.
    row = list(copied.rows[0])
    assume(len(row) > 1)
    step = min(row) / 10**30
    row[0] += step
    row[1] -= step
    nearly = World(world.masses, (tuple(row), *copied.rows[1:]))
    found = LIP.measure(nearly.channel, nearly.prior)
    assert finite(found.ratio) > 1
    assert found.value.lower > 0


@settings(max_examples=60, deadline=None)
@given(worlds.worlds(), st.data())
def test_lemma_1_part_3_a_zero_entry_is_infinite(world: World, data: st.DataObject) -> None:
    x = data.draw(st.integers(0, len(world.rows) - 1))
    y = data.draw(st.integers(0, len(world.rows[0]) - 1))
    row = list(world.rows[x])
    row[(y + 1) % len(row)] += row[y]
    row[y] = Fraction(0)
    broken = World(world.masses, (*world.rows[:x], tuple(row), *world.rows[x + 1 :]))
    found = LIP.measure(broken.channel, broken.prior)
    assert found.value.is_infinite
    assert found.witness is not None
    assert broken.channel.probability(found.witness.secret, found.witness.output) == 0
    assert not LIP("1000").certify(broken.channel, broken.prior).holds


@settings(max_examples=60, deadline=None)
@given(worlds.worlds(zeros=True), st.data())
def test_lemma_1_part_4_post_processing(world: World, data: st.DataObject) -> None:
    after = worlds.channel_of(data.draw(worlds.rows(len(world.rows[0]), zeros=True)))
    processed = world.channel.then(after)
    before, behind = (extreme_lifts(channel, world.prior) for channel in (world.channel, processed))
    assert finite(behind.largest.lift) <= finite(before.largest.lift)
    assert finite(behind.smallest.lift) >= finite(before.smallest.lift)
    assert no_more(leakage(processed, world.prior), leakage(world.channel, world.prior))


@settings(max_examples=60, deadline=None)
@given(worlds.joints(), st.data())
def test_lemma_1_part_5_linkage(cells: tuple[tuple[int, ...], ...], data: st.DataObject) -> None:
    joint = worlds.joint_of(cells)
    channel = worlds.channel_of(data.draw(worlds.rows(len(cells[0]), zeros=True)))
    assert no_more(leakage(channel, joint), leakage(channel, joint.prior))


@settings(max_examples=40, deadline=None)
@given(worlds.worlds(zeros=True))
def test_lemma_1_part_5_is_tight_when_the_secret_is_the_data(world: World) -> None:
    size = len(world.masses)
    cells = [[world.masses[x] if s == x else 0 for x in range(size)] for s in range(size)]
    assert leakage(world.channel, worlds.joint_of(cells)) == leakage(world.channel, world.prior)


# --- Lemma 2 --------------------------------------------------------------------------------------


@st.composite
def families(draw: st.DrawFn) -> tuple[tuple[Masses, ...], Masses, worlds.Rows]:
    """Draw priors of the same support, weights to mix them with, and a channel."""
    size = draw(st.integers(2, 4))
    count = draw(st.integers(2, 3))
    members = tuple(draw(worlds.masses(least=size, most=size)) for _ in range(count))
    weights = worlds.normalised(draw(st.lists(st.integers(1, 9), min_size=count, max_size=count)))
    extreme = draw(worlds.ratios())
    rows = draw(
        st.one_of(
            worlds.rows(size, zeros=True, most=4),
            st.permutations(range(size)).map(
                lambda order: worlds.extremal(members[0], 1 / extreme, extreme, order).rows
            ),
        )
    )
    return members, weights, rows


@settings(max_examples=60, deadline=None)
@given(families(), worlds.ratios(one=True))
def test_lemma_2_mixtures_of_priors_with_the_same_support(
    drawn: tuple[tuple[Masses, ...], Masses, worlds.Rows], ratio: Fraction
) -> None:
    members, weights, rows = drawn
    priors = [worlds.prior_of(masses) for masses in members]
    mixed = Prior.mixture(priors, list(weights))
    channel = worlds.channel_of(rows)
    leaks = [leakage(channel, prior) for prior in priors]
    assert any(no_more(leakage(channel, mixed), leak) for leak in leaks)
    for form in ("def5", "ediv"):
        deltas = [
            ApproximateLIP.measure(channel, prior, nats(ratio), form).value.lower
            for prior in priors
        ]
        value = ApproximateLIP.measure(channel, mixed, nats(ratio), form).value.lower
        assert value <= max(deltas)
        family = ApproximateLIP.measure(channel, Family.of(priors), nats(ratio), form)
        assert family.value.lower == max(deltas)


# --- Theorem 1, Proposition 1, Theorem 2, Corollary 2 ---------------------------------------------


def omega(ratio: Fraction, smallest: Fraction) -> Fraction:
    """Return e^omega(eps) of Proposition 1."""
    return min(ratio**2, (ratio - 1 + smallest) / smallest)


def exact_ldp(ratio: Fraction, masses: Masses) -> Fraction:
    """Return the largest e^L_LDP of an eps-LIP channel (math, Theorem 1 forward)."""
    p = min(masses)
    if len(masses) == 2 and p < 1 / (ratio + 1):
        return max(ratio * (1 - p) / (1 - ratio * p), (ratio - p) / (1 - p))
    return omega(ratio, p)


@settings(max_examples=100, deadline=None)
@given(worlds.worlds())
def test_theorem_1_forward_and_proposition_1(world: World) -> None:
    ratio = finite(leakage(world.channel, world.prior))
    found = finite(LDP.measure(world.channel).ratio)
    assert found <= exact_ldp(ratio, world.masses) <= omega(ratio, world.smallest)


@settings(max_examples=80, deadline=None)
@given(worlds.masses(), worlds.ratios())
def test_theorem_1_forward_is_attained(masses: Masses, ratio: Fraction) -> None:
    ranked = sorted(range(len(masses)), key=lambda x: masses[x])
    rest = ranked[2:]
    found = Fraction(1)
    for first, last in ((ranked[0], ranked[1]), (ranked[1], ranked[0])):
        world = worlds.extremal(masses, 1 / ratio, ratio, [first, *rest, last])
        assert LIP(nats(ratio)).certify(world.channel, world.prior).holds
        found = max(found, finite(LDP.measure(world.channel).ratio))
    assert found == exact_ldp(ratio, masses)


@settings(max_examples=60, deadline=None)
@given(worlds.masses(least=3))
def test_proposition_1_is_exact_for_three_symbols_or_more(masses: Masses) -> None:
    ratio = Fraction(3)
    assert exact_ldp(ratio, masses) == omega(ratio, min(masses))


@settings(max_examples=100, deadline=None)
@given(worlds.worlds())
def test_theorem_1_converse_is_two_sided(world: World) -> None:
    ratio, p = finite(LDP.measure(world.channel).ratio), world.smallest
    found = extreme_lifts(world.channel, world.prior)
    assert finite(found.largest.lift) <= 1 / (p + (1 - p) / ratio)
    assert finite(found.smallest.lift) >= 1 / (p + ratio * (1 - p))


@settings(max_examples=60, deadline=None)
@given(worlds.masses(), worlds.ratios())
def test_theorem_1_converse_is_tight(masses: Masses, ratio: Fraction) -> None:
    p = min(masses)
    world = worlds.staircase(masses, ratio, [masses.index(p)])
    assert LDP.measure(world.channel).ratio == ratio
    found = extreme_lifts(world.channel, world.prior)
    assert found.largest.lift == 1 / (p + (1 - p) / ratio)
    assert found.smallest.lift == 1 / (p + ratio * (1 - p))


@settings(max_examples=60, deadline=None)
@given(families())
def test_theorem_2_bounded_priors(
    drawn: tuple[tuple[Masses, ...], Masses, worlds.Rows],
) -> None:
    members, _, rows = drawn
    channel = worlds.channel_of(rows)
    family = Family.of(worlds.prior_of(masses) for masses in members)
    found = leakage(channel, family)
    ratio = LDP.measure(channel).ratio
    assert (found is None) == (ratio is None)
    if found is not None and ratio is not None:
        least = min(min(masses) for masses in members)
        best = max(min(masses) for masses in members)
        assert found <= least + ratio * (1 - least)
        assert ratio <= omega(found, best)


@settings(max_examples=60, deadline=None)
@given(families())
def test_definition_6_needs_the_extreme_priors_only(
    drawn: tuple[tuple[Masses, ...], Masses, worlds.Rows],
) -> None:
    members, weights, rows = drawn
    channel = worlds.channel_of(rows)
    priors = [worlds.prior_of(masses) for masses in members]
    found = leakage(channel, Family.of(priors))
    each = [worlds.lip_ratio(World(masses, rows)) for masses in members]
    assert found == (None if None in each else max(finite(value) for value in each))
    assert no_more(leakage(channel, Prior.mixture(priors, list(weights))), found)


@settings(max_examples=60, deadline=None)
@given(worlds.worlds(zeros=True))
def test_corollary_2_worst_case_lip_is_ldp(world: World) -> None:
    ratio = worlds.ldp_ratio(world)
    assert leakage(world.channel, Intervals.all_priors(range(len(world.masses)))) == ratio
    found = worst_case(world.channel)
    if ratio is not None:
        assert found.largest.lift == ratio
        assert found.smallest.lift == 1 / ratio


@settings(max_examples=40, deadline=None)
@given(worlds.worlds())
def test_corollary_2_as_a_supremum_over_full_support(world: World) -> None:
    witness = LDP.measure(world.channel).witness
    assert witness is not None
    ratio = finite(worlds.ldp_ratio(world))
    tiny = Fraction(1, 10**12)
    size = len(world.masses)
    # Nearly all mass on the symbol that makes the output most (least) likely.
    masses = tuple(1 - (size - 1) * tiny if x == witness.secret else tiny for x in range(size))
    near = World(masses, world.rows)
    assert ratio * (1 - size * tiny * ratio) <= finite(leakage(near.channel, near.prior)) <= ratio


# --- the three deltas, Corollary 3, Proposition 3, Corollary 9 ------------------------------------


@settings(max_examples=60, deadline=None)
@given(worlds.worlds(zeros=True), worlds.ratios(one=True))
def test_the_three_deltas_are_ordered(world: World, ratio: Fraction) -> None:
    def5, ediv, joint = (
        ApproximateLIP.measure(world.channel, world.prior, nats(ratio), form).value.lower
        for form in ("def5", "ediv", "joint")
    )
    assert def5 <= ediv <= ratio * def5
    assert joint <= max(world.masses) * ediv
    assert ediv <= joint / world.smallest


@settings(max_examples=60, deadline=None)
@given(worlds.worlds(zeros=True), worlds.ratios(one=True))
def test_corollary_3_forward(world: World, ratio: Fraction) -> None:
    delta = ApproximateLDP.measure(world.channel, world.prior, nats(ratio)).value.lower
    for form in ("def5", "ediv"):
        found = ApproximateLIP.measure(world.channel, world.prior, nats(ratio), form).value.lower
        assert found <= (1 - world.smallest) * delta


@settings(max_examples=40, deadline=None)
@given(worlds.masses(), worlds.ratios(one=True))
def test_corollary_3_forward_is_tight(masses: Masses, ratio: Fraction) -> None:
    world = worlds.identity(masses)
    assert ApproximateLDP.measure(world.channel, world.prior, nats(ratio)).value.lower == 1
    for form in ("def5", "ediv"):
        found = ApproximateLIP.measure(world.channel, world.prior, nats(ratio), form).value.lower
        assert found == 1 - min(masses)


@settings(max_examples=60, deadline=None)
@given(worlds.worlds(zeros=True), worlds.ratios(one=True))
def test_corollary_3_converse_corrected(world: World, ratio: Fraction) -> None:
    found = ApproximateLDP.measure(world.channel, world.prior, nats(ratio**2)).value.lower
    def5, ediv = (
        ApproximateLIP.measure(world.channel, world.prior, nats(ratio), form).value.lower
        for form in ("def5", "ediv")
    )
    assert found <= (ratio + 1) * ediv
    assert found <= 2 * ratio * def5


@settings(max_examples=40, deadline=None)
@given(worlds.ratios(), st.fractions(Fraction(1, 10**6), Fraction(1, 10**3)))
def test_corollary_3_converse_is_tight_for_ediv(ratio: Fraction, delta: Fraction) -> None:
    first = 1 / (1 + ratio)
    loud = (1 + ratio) * delta
    world = World((first, 1 - first), ((loud, 1 - loud), (Fraction(0), ONE)))
    found = ApproximateLIP.measure(world.channel, world.prior, nats(ratio), "ediv")
    assert found.value.lower == delta
    twice = ApproximateLDP.measure(world.channel, world.prior, nats(ratio**2))
    assert twice.value.lower == (ratio + 1) * delta


@settings(max_examples=40, deadline=None)
@given(worlds.ratios(), st.fractions(Fraction(1, 10**6), Fraction(1, 10**3)))
def test_corollary_3_converse_is_tight_for_def5(ratio: Fraction, delta: Fraction) -> None:
    first = 1 / (2 * ratio)
    loud = 2 * ratio * delta
    world = World((first, 1 - first), ((loud, 1 - loud), (Fraction(0), ONE)))
    found = ApproximateLIP.measure(world.channel, world.prior, nats(ratio), "def5")
    assert found.value.lower == delta
    twice = ApproximateLDP.measure(world.channel, world.prior, nats(ratio**2))
    assert twice.value.lower == 2 * ratio * delta


def divergence(p: Masses, q: Masses, gamma: Fraction) -> Fraction:
    value = e_divergence.measure(worlds.prior_of(p), worlds.prior_of(q), gamma).value
    assert value.is_exact
    return value.lower


@settings(max_examples=80, deadline=None)
@given(worlds.worlds(zeros=True), worlds.ratios(one=True))
def test_definition_8_and_proposition_3(world: World, ratio: Fraction) -> None:
    output = worlds.output_masses(world)
    for row in world.rows:
        direct = divergence(row, output, ratio)
        assert direct == worlds.excess(row, output, ratio)
        assert direct == ratio * divergence(output, row, 1 / ratio) - ratio + 1
        assert (
            divergence(output, row, ratio) == ratio * divergence(row, output, 1 / ratio) - ratio + 1
        )


@settings(max_examples=60, deadline=None)
@given(worlds.worlds(zeros=True), worlds.ratios(one=True))
def test_corollary_9_and_its_exact_form(world: World, ratio: Fraction) -> None:
    output = worlds.output_masses(world)
    up = max(divergence(row, output, ratio) for row in world.rows)
    down = max(divergence(output, row, ratio) for row in world.rows)
    def5, ediv = (
        ApproximateLIP.measure(world.channel, world.prior, nats(ratio), form).value.lower
        for form in ("def5", "ediv")
    )
    assert ediv == max(up, down)
    assert def5 == max(up / ratio, down)


# --- Theorem 3 ------------------------------------------------------------------------------------


@settings(max_examples=80, deadline=None)
@given(worlds.worlds())
def test_theorem_3_part_1_identifiability(world: World) -> None:
    ratio = finite(leakage(world.channel, world.prior))
    odds = finite(Identifiability.measure(world.channel, world.prior).ratio)
    spread = max(world.masses) / world.smallest
    assert odds <= ratio**2 * spread
    assert ratio <= world.smallest + (1 - world.smallest) * odds * spread
    # Equation (10), exactly: the largest v(x')/v(x) over the polytope of posteriors.
    top, bottom = max(world.masses), world.smallest
    most = min(ratio * top, 1 - (1 - top) / ratio)
    least = max(bottom / ratio, 1 - (1 - bottom) * ratio)
    assert odds <= most / least


@settings(max_examples=60, deadline=None)
@given(worlds.masses(), worlds.ratios())
def test_theorem_3_part_1_equation_10_is_attained(masses: Masses, ratio: Fraction) -> None:
    ranked = sorted(range(len(masses)), key=lambda x: masses[x])
    world = worlds.extremal(masses, 1 / ratio, ratio, ranked[::-1])
    top, bottom = max(masses), min(masses)
    most = min(ratio * top, 1 - (1 - top) / ratio)
    least = max(bottom / ratio, 1 - (1 - bottom) * ratio)
    assert Identifiability.measure(world.channel, world.prior).ratio == most / least


def test_theorem_3_part_1_speaks_of_singletons() -> None:
    """With sets of symbols a constant channel on a fair bit would have DI = ln 2 (000 Def 3)."""
    constant = worlds.channel_of([[1], [1]])
    fair = Prior.uniform(range(2))
    posterior = constant.posterior(fair, 0)
    assert sum(posterior.fractions) / posterior[0] == 2
    assert Identifiability.measure(constant, fair).ratio == 1
    assert Identifiability.measure(constant, Prior.from_counts({0: 1, 1: 3})).ratio == 3


@settings(max_examples=50, deadline=None)
@given(worlds.worlds())
def test_theorem_3_part_2_mutual_information(world: World) -> None:
    ratio = finite(leakage(world.channel, world.prior))
    tight = worlds.natural_log(ratio) * (ratio - 1) / (ratio + 1)
    found = MutualInformation.measure(world.channel, world.prior).value
    assert found.lower <= tight + worlds.ROUNDING


@pytest.mark.parametrize("ratio", [2, 3, 5])
def test_theorem_3_part_2_is_tight(ratio: int) -> None:
    """E + 1 equally likely symbols: each output raises one of them to E, the others to 1/E."""
    world = worlds.extremal(
        worlds.normalised([1] * (ratio + 1)), Fraction(1, ratio), Fraction(ratio), range(ratio + 1)
    )
    tight = worlds.natural_log(Fraction(ratio)) * (ratio - 1) / (ratio + 1)
    found = MutualInformation.measure(world.channel, world.prior).value
    assert found.lower - worlds.ROUNDING <= tight <= finite(found.upper) + worlds.ROUNDING


@settings(max_examples=60, deadline=None)
@given(worlds.worlds())
def test_theorem_3_part_3_maximal_leakage(world: World) -> None:
    upper = finite(MaxLift.measure(world.channel, world.prior).ratio)
    assert finite(MaximalLeakage.measure(world.channel, world.prior).ratio) <= upper
    assert upper <= finite(leakage(world.channel, world.prior))


@pytest.mark.parametrize("ratio", [2, 3, 5])
def test_theorem_3_part_3_is_tight(ratio: int) -> None:
    world = worlds.extremal(
        worlds.normalised([1] * (ratio + 1)), Fraction(1, ratio), Fraction(ratio), range(ratio + 1)
    )
    assert MaximalLeakage.measure(world.channel, world.prior).ratio == ratio


@pytest.mark.parametrize("share", [Fraction(1, 10), Fraction(1, 10**6)])
def test_theorem_3_converses_do_not_exist(share: Fraction) -> None:
    """Information and maximal leakage tend to 0 while the lift stays infinite."""
    channel = worlds.channel_of([[1 - share, share], [1, 0]])
    fair = Prior.uniform(range(2))
    assert MaximalLeakage.measure(channel, fair).ratio == 1 + share
    found = MutualInformation.measure(channel, fair).value
    assert 0 < found.lower < finite(found.upper) < share
    assert LIP.measure(channel, fair).value.is_infinite


# --- composition: Theorem 4 and the tight bound ---------------------------------------------------


def theorem_4(ratios: list[Fraction], smallest: Fraction) -> Fraction:
    total = ONE
    for ratio in ratios:
        total *= omega(ratio, smallest)
    return smallest + total * (1 - smallest)


def tight_composition(ratios: list[Fraction], smallest: Fraction) -> Fraction:
    """Return min_j of P_min + (E_j - P_min) prod_{k != j} e^omega_k (math, Theorem 4)."""
    values = []
    for j, chosen in enumerate(ratios):
        others = ONE
        for k, ratio in enumerate(ratios):
            if k != j:
                others *= omega(ratio, smallest)
        values.append(smallest + (chosen - smallest) * others)
    return min(values)


@st.composite
def repeated(draw: st.DrawFn) -> list[World]:
    """Draw two or three channels for the same prior."""
    masses = draw(worlds.masses(most=4))
    found = []
    for _ in range(draw(st.integers(2, 3))):
        if draw(st.booleans()):
            ratio = draw(worlds.ratios())
            order = draw(st.permutations(range(len(masses))))
            found.append(worlds.extremal(masses, 1 / ratio, ratio, order))
        else:
            found.append(World(masses, draw(worlds.rows(len(masses), most=3))))
    return found


@settings(max_examples=60, deadline=None)
@given(repeated())
def test_theorem_4_and_the_tight_composition_bound(released: list[World]) -> None:
    prior, p = released[0].prior, released[0].smallest
    channel = released[0].channel
    for world in released[1:]:
        channel = channel.product(world.channel)
    ratios = [finite(leakage(world.channel, prior)) for world in released]
    found = finite(leakage(channel, prior))
    assert found <= tight_composition(ratios, p) <= theorem_4(ratios, p)
    assert tight_composition(ratios[:1], p) == ratios[0]


@settings(max_examples=40, deadline=None)
@given(repeated())
def test_ldp_composition_is_additive_on_product_channels(released: list[World]) -> None:
    """The remark on accounting: sum the LDP levels, then convert once."""
    prior, p = released[0].prior, released[0].smallest
    channel, total = released[0].channel, finite(worlds.ldp_ratio(released[0]))
    for world in released[1:]:
        channel = channel.product(world.channel)
        total *= finite(worlds.ldp_ratio(world))
    assert finite(LDP.measure(channel).ratio) <= total
    assert finite(leakage(channel, prior)) <= p + total * (1 - p)


@settings(max_examples=40, deadline=None)
@given(repeated())
def test_product_channels_are_exact(released: list[World]) -> None:
    first, second = released[:2]
    product = first.channel.product(second.channel)
    expected = worlds.product(first, second)
    assert leakage(product, first.prior) == worlds.lip_ratio(expected)


# --- transfer: Lemma 3 and equation (12) ----------------------------------------------------------


@settings(max_examples=80, deadline=None)
@given(families())
def test_lemma_3_with_the_largest_log_ratio(
    drawn: tuple[tuple[Masses, ...], Masses, worlds.Rows],
) -> None:
    (first, second), rows = drawn[0][:2], drawn[2]
    here, there = World(first, rows), World(second, rows)
    eta = max(max(a / b, b / a) for a, b in zip(first, second, strict=True))
    distance = sum(abs(a - b) for a, b in zip(first, second, strict=True)) / 2
    assert eta <= 1 + distance / min(*first, *second)
    one, two = leakage(here.channel, here.prior), leakage(there.channel, there.prior)
    assert (one is None) == (two is None)
    if one is not None and two is not None:
        assert one <= eta * two
        assert two <= eta * one
        # Equation (12): at most the LDP level that LIP under the first prior implies.
        assert two <= omega(one, min(first))


@settings(max_examples=40, deadline=None)
@given(worlds.ratios())
def test_lemma_3_is_attained(factor: Fraction) -> None:
    """Only a rare symbol gives the loud output: its lift moves as its prior does."""
    rare, tiny = Fraction(1, 10**9), Fraction(1, 10**15)
    rows = ((Fraction(1, 2), Fraction(1, 2)), (tiny, 1 - tiny))
    here = World((rare, 1 - rare), rows)
    there = World((factor * rare, 1 - factor * rare), rows)
    one, two = (finite(leakage(each.channel, each.prior)) for each in (here, there))
    assert factor * (1 - Fraction(1, 10**5)) < one / two <= factor
