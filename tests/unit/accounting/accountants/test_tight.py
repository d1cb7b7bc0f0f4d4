"""No bound is ever below the truth, and each is as good as it says."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liftlock import Channel, Context, Family, Intervals, Joint, Prior
from liftlock.accounting import LeakageLevels, Release
from liftlock.accounting.accountants import (
    LdpSumAccountant,
    PairsAccountant,
    PairwiseAccountant,
    PublishedAccountant,
    TightAccountant,
)
from liftlock.accounting.accountants import pairwise as module
from liftlock.accounting.accountants.pairwise import MOST_PAIRS
from liftlock.accounting.accountants.tight import ComposedLevels, lower_bound, upper_bound
from liftlock.errors import NotDefined
from liftlock.notions import ALIP, LDP, LIP, MutualInformation, Notion
from tests import strategies
from tests.theorems import worlds
from tests.unit.accounting import brute_force

Ratio = Fraction | None

tight, published = TightAccountant().bound, PublishedAccountant().bound
pairs_ldp, pairwise, ldp_sum = (
    PairsAccountant().bound,
    PairwiseAccountant().bound,
    LdpSumAccountant().bound,
)


@st.composite
def situations(
    draw: st.DrawFn, *, kinds: tuple[str, ...] = ("prior", "joint", "set")
) -> tuple[list[Release], Context, Ratio, Ratio, Ratio]:
    """Return releases in a context, and the true 1/min-lift, max-lift and ratio of all of them."""
    size = draw(st.integers(2, 4))
    zeros = draw(st.booleans())
    rows = [draw(strategies.rows(size, draw(st.integers(1, 3)), zeros=zeros)) for _ in range(2)]
    channels = draw(st.lists(st.sampled_from(rows), min_size=1, max_size=3))
    kind = draw(st.sampled_from(kinds))
    releases = [Release.of(strategies.make_channel(each)) for each in channels]
    if kind == "prior":
        masses, prior = draw(strategies.priors(size, zeros=True))
        found = brute_force.extreme_lifts(brute_force.likelihoods(channels), [masses])
        return releases, prior, *found, brute_force.ratio(brute_force.likelihoods(channels))
    if kind == "set":
        vertices, priors = draw(strategies.prior_sets(size))
        found = brute_force.extreme_lifts(brute_force.likelihoods(channels), vertices)
        return releases, priors, *found, brute_force.ratio(brute_force.likelihoods(channels))
    cells = draw(strategies.counts(size * 2))
    table = [cells[:size], cells[size:]]
    joint = [[Fraction(cell) for cell in row] for row in table]
    secret = [Fraction(sum(row), sum(cells)) for row in table if any(row)]
    columns = list(brute_force.secret_likelihoods(channels, joint))
    found = brute_force.extreme_lifts(iter(columns), [secret])
    context = strategies.joint_case(table, channels[0]).context
    return releases, context, *found, brute_force.ratio(iter(columns))


def at_least(bound: Ratio, truth: Ratio) -> bool:
    return bound is None or (truth is not None and bound >= truth)


@settings(max_examples=60, deadline=None)
@given(situations())
def test_no_bound_is_below_the_truth(
    made: tuple[list[Release], Context, Ratio, Ratio, Ratio],
) -> None:
    releases, context, lower, upper, ratio = made
    for found in (
        tight(releases, context),
        ldp_sum(releases, context),
        pairwise(releases, context),
    ):
        assert at_least(found["eps_lower"].ratio, lower), found.accountant
        assert at_least(found["eps_upper"].ratio, upper), found.accountant
        assert not found.exact
    assert at_least(ldp_sum(releases, context)["ldp"].ratio, ratio)
    pairs = pairs_ldp(releases, context)
    assert at_least(pairs["ldp"].ratio, ratio)
    assert pairs.exact == (not isinstance(context, Joint))
    if pairs.exact:
        assert pairs["ldp"].ratio == ratio


@settings(max_examples=40, deadline=None)
@given(situations(kinds=("prior", "set")))
def test_pairs_are_never_worse_than_the_sum(
    made: tuple[list[Release], Context, Ratio, Ratio, Ratio],
) -> None:
    releases, context, *_ = made
    pairs, total = pairwise(releases, context), ldp_sum(releases, context)
    # Sets of priors take weights that are rounded by 2^-256.
    room = 1 + Fraction(1, 1 << 200)
    for side in ("eps_lower", "eps_upper"):
        ours, theirs = pairs[side].ratio, total[side].ratio
        assert theirs is None or (ours is not None and ours <= theirs * room)


@settings(max_examples=40, deadline=None)
@given(situations(kinds=("prior",)))
def test_tight_is_at_most_theorem_4(
    made: tuple[list[Release], Context, Ratio, Ratio, Ratio],
) -> None:
    releases, context, lower, upper, _ = made
    ours, theirs = tight(releases, context), published(releases, context)
    assert at_least(theirs["lip"].ratio, ours["lip"].ratio)
    assert not theirs.valid
    if len(releases) == 1:
        assert (ours["eps_lower"].ratio, ours["eps_upper"].ratio) == (lower, upper)


@settings(max_examples=25, deadline=None)
@given(worlds.masses(most=4), st.lists(worlds.ratios(), min_size=1, max_size=3), st.data())
def test_promises_alone_bound_what_keeps_them(
    masses: worlds.Masses, ratios: list[Fraction], data: st.DataObject
) -> None:
    """Of a mechanism only the budget is known: the bound holds for the extremal ones too."""
    prior = worlds.prior_of(masses)
    made = []
    for ratio in ratios:
        order = data.draw(st.permutations(range(len(masses))))
        made.append(worlds.extremal(masses, 1 / ratio, ratio, order))
    promised = [Release.from_guarantee(LIP(f"ln {ratio}"), prior) for ratio in ratios]
    rows = [[list(row) for row in world.rows] for world in made]
    lower, upper = brute_force.extreme_lifts(brute_force.likelihoods(rows), [list(masses)])
    for found in (tight(promised, prior), ldp_sum(promised, prior)):
        assert at_least(found["eps_lower"].ratio, lower)
        assert at_least(found["eps_upper"].ratio, upper)
    if len(ratios) == 1:
        assert tight(promised, prior)["lip"].ratio == ratios[0]


def test_one_release_costs_what_it_costs() -> None:
    """Theorem 4 says 1.735 of a single release of 1."""
    e = Fraction("2.71828182845904523536")
    p = 1 / (1 + e)
    prior = Prior.from_probabilities({0: p, 1: 1 - p})
    flip = Channel.from_rows({0: {0: 1 - p, 1: p}, 1: {0: p**2 / (1 - p), 1: 1 - p**2 / (1 - p)}})
    once = [Release.from_guarantee(LIP("1"), prior)]
    assert float(tight(once, prior)["lip"]) == pytest.approx(1, abs=1e-12)
    assert float(published(once, prior)["lip"]) == pytest.approx(1.735, abs=5e-4)
    assert prior.smallest == p
    assert tight([Release.of(flip)], prior)["lip"].ratio is not None


def test_infinite_levels() -> None:
    """One release with a zero: it plays the part of j, so that its ratios are not needed."""
    fair = Prior.uniform([0, 1])
    hard = Channel.from_rows({0: {0: 1, 1: 0}, 1: {0: "1/2", 1: "1/2"}})
    soft = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    both = [Release.of(hard), Release.of(soft)]
    found = tight(both, fair)
    assert found["eps_lower"].value.is_infinite
    # A lift never exceeds 1 / P_min, whatever the ratios.
    assert found["eps_upper"].ratio == 2
    assert ldp_sum(both, fair)["ldp"].value.is_infinite
    assert pairwise(both, fair)["eps_upper"].ratio == 2
    assert lower_bound(Fraction(1, 2), Fraction(3), None) is None
    assert upper_bound(Fraction(0), None, Fraction(2)) is None
    assert lower_bound(Fraction(1), Fraction(1), None) == 1


def test_all_budgets_zero() -> None:
    fair = Prior.uniform([0, 1])
    promised = [Release.from_guarantee(LIP("0"), fair)] * 5
    for found in (tight(promised, fair), ldp_sum(promised, fair), published(promised, fair)):
        assert found["lip"].ratio == 1


def test_a_symbol_that_never_occurs() -> None:
    """Lifts speak of what can occur; LDP of every row."""
    channel = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}, 2: {0: 1, 1: 0}})
    prior = Prior.from_counts({0: 1, 1: 1, 2: 0})
    levels = Release.of(channel).levels(prior)
    assert levels.ldp is None
    assert levels.spread == 3
    found = ldp_sum([Release.of(channel)] * 2, prior)
    assert found["ldp"].value.is_infinite
    assert found["eps_lower"].ratio == 5
    promised = Release.from_guarantee(LIP("ln 2"), prior)
    assert promised.levels(prior).ldp is None
    assert promised.levels(prior).spread == 3
    assert Release.from_guarantee(LDP("ln 2"), prior).levels(prior).ldp == 2


def test_levels_count_only_where_they_were_proved() -> None:
    fair, other = Prior.uniform([0, 1]), Prior.from_counts({0: 1, 1: 9})
    promised = Release.from_guarantee(ALIP(lower="ln 2", upper="ln 3/2"), fair)
    assert promised.levels(fair) == LeakageLevels(
        Fraction(2), Fraction(3, 2), Fraction(3), Fraction(3)
    )
    assert promised.levels(other) == LeakageLevels(None, None, Fraction(3), Fraction(3))
    assert promised.levels(None) == LeakageLevels(None, None, Fraction(3), Fraction(3))
    # What is promised of a secret says nothing of the data behind it.
    joint = Joint.from_counts({"s": {0: 1, 1: 2}, "t": {0: 2, 1: 1}})
    assert Release.from_guarantee(LIP("1"), joint).levels(joint).spread is None
    secret = Release.from_guarantee(LDP("ln 2"), joint).levels(joint)
    assert secret.lower is not None
    assert Fraction(3, 2) <= secret.lower < Fraction(3, 2) + Fraction(1, 10**30)
    assert (secret.ldp, secret.spread) == (None, None)
    with pytest.raises(NotDefined, match="bounds no lift"):
        Release.from_guarantee(MutualInformation("1"), fair)


def test_a_promise_of_ldp_is_about_every_input() -> None:
    """Of one possible symbol nothing leaks, but under another prior the promise is all there is."""
    certain = Prior.from_counts({"a": 1, "b": 0})
    promised = Release.from_guarantee(LDP("ln 3"), certain)
    assert promised.levels(certain).spread == 1
    assert promised.levels(certain).ldp == 3
    assert promised.levels(Prior.uniform("ab")).ldp == 3


def test_sets_of_priors_use_the_least_mass() -> None:
    box = Intervals.of({0: ("0.1", "0.5"), 1: ("0.5", "0.9")})
    assert box.smallest == Fraction(1, 10)
    assert Intervals.all_priors([0, 1]).smallest == 0
    assert ComposedLevels.of([Release.from_guarantee(LIP("ln 2"), box)], box).product(
        "spread"
    ) == Fraction(7, 2)
    # Half-way into both intervals, at 3/10 and 7/10: 2 against (1 - 2 * 3/10) / (7/10).


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_what_a_promise_for_a_set_of_priors_leaves_of_the_ratios(data: st.DataObject) -> None:
    """The lifts hold under every prior of the set, so each of them bounds the ratios."""
    size = data.draw(st.integers(2, 4))
    vertices, priors = data.draw(strategies.prior_sets(size))
    table = data.draw(strategies.rows(size, data.draw(st.integers(1, 3)), zeros=False))
    lower, upper = brute_force.extreme_lifts(brute_force.likelihoods([table]), vertices)
    assert lower is not None
    assert upper is not None
    notion = ALIP(lower=f"ln {lower}", upper=f"ln {upper}")
    found = Release.from_guarantee(notion, priors).levels(priors).spread
    possible = [x for x in range(size) if any(masses[x] for masses in vertices)]
    columns = [[column[x] for x in possible] for column in brute_force.likelihoods([table])]
    assert at_least(found, brute_force.ratio(iter(columns)))
    assert found is not None
    assert found <= lower * upper
    if isinstance(priors, Family):
        for prior in priors.priors:
            alone = Release.from_guarantee(notion, prior).levels(prior).spread
            assert sum(count > 0 for count in prior.counts) < len(possible) or at_least(
                alone, found
            )


def test_a_family_costs_no_more_than_corollary_4() -> None:
    """000 Cor 4 takes the largest P_min of the set, which for large budgets is below 2 eps."""
    even, rare = Prior.uniform("ab"), Prior.from_counts({"a": 1, "b": 99})
    family, lift = Family.of([even, rare]), Fraction(8)
    corollary = min(lift**2, (lift - 1 + even.smallest) / even.smallest)
    assert corollary == 15
    once = Release.from_guarantee(LIP("ln 8"), family)
    found = once.levels(family).spread
    # The rare symbol rises to 8 at most, and then the other falls to (1 - 8/100) / (99/100).
    assert found == lift * Fraction(99, 92) < corollary
    assert once.levels(family).ldp == found
    p = rare.smallest
    assert tight([once, once], family)["lip"].ratio == p + (lift - p) * found
    truth = Channel.from_rows(
        {"a": {0: found / 20, 1: 1 - found / 20}, "b": {0: "1/20", 1: "19/20"}}
    )
    measured = Release.of(truth).levels(family)
    assert measured.ldp == found
    assert measured.upper == lift


def test_too_many_pairs() -> None:
    from liftlock.model.structured import UnaryChannel

    bits = Release.of(UnaryChannel.of(range(101), own=8, other=4, bits=4))
    with pytest.raises(NotDefined, match=f"at most {MOST_PAIRS:,} pairs"):
        pairwise([bits, bits], Prior.uniform(range(101)))
    found = tight([bits, bits], Prior.uniform(range(101)))
    assert not found["lip"].value.is_infinite


@settings(max_examples=40, deadline=None)
@given(situations(), st.sampled_from(["lip", "alip", "ldp"]))
def test_promises_in_decimals_bound_what_keeps_them(
    situation: tuple[list[Release], Context, Ratio, Ratio, Ratio], kind: str
) -> None:
    """A budget with three decimals, just above what a channel leaks: no sum of them is too low."""
    releases, context, *truth = situation
    promises = []
    for release in releases:
        levels = release.levels(context)
        budgets = [above(ratio) for ratio in (levels.lower, levels.upper, levels.ldp)]
        if None in budgets:
            return
        lower, upper, ldp = budgets
        notion: Notion = LDP(ldp)
        if kind == "lip":
            notion = LIP(max(lower or 0, upper or 0))
        elif kind == "alip":
            notion = ALIP(lower=lower, upper=upper)
        promises.append(Release.from_guarantee(notion, context))
    for found in (tight(promises, context), ldp_sum(promises, context)):
        for name, ratio in zip(("eps_lower", "eps_upper", "ldp"), truth, strict=True):
            most = found[name].value.upper if name in found.measurements else None
            if most is not None:
                assert ratio is not None
                assert mpmath.mpf(most.numerator) / most.denominator >= logarithm(ratio) - 1e-12
            if most is not None and name != "ldp":
                assert found["lip"].value.upper is None or found["lip"].value.upper >= most


def above(ratio: Ratio) -> Fraction | None:
    return None if ratio is None else Fraction(math.ceil(logarithm(ratio) * 1000 + 1), 1000)


def logarithm(ratio: Fraction) -> mpmath.mpf:
    return mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)


@pytest.mark.parametrize("seed", range(6))
def test_means_over_a_set_of_priors_are_never_too_small(seed: int) -> None:
    """Ratios are cut to binary digits, which must not make a bound smaller than it is."""
    chance = random.Random(seed)
    priors = [Prior.from_counts({x: chance.randint(1, 9) for x in "abc"}) for _ in range(3)]
    ratios: list[Fraction | None] = [Fraction(chance.randint(301, 900), 299) for _ in "abc"]
    known = [ratio for ratio in ratios if ratio is not None]
    family = Family.of(priors)
    means = [
        sum((p * r for p, r in zip(prior.fractions, known, strict=True)), Fraction(0))
        for prior in priors
    ]
    inverses = [
        1 / sum((p / r for p, r in zip(prior.fractions, known, strict=True)), Fraction(0))
        for prior in priors
    ]
    hair = 1 + Fraction(1, 1 << 40)
    mean, inverse = (f(family, ratios, [0, 1, 2]) for f in (module._set_sum, module._set_inverse))
    assert mean is not None
    assert inverse is not None
    assert max(means) <= mean <= max(means) * hair
    assert max(inverses) <= inverse <= max(inverses) * hair
    endless = [None, *ratios[1:]]
    assert module._set_sum(family, endless, [0, 1, 2]) is None
    some = module._set_inverse(family, endless, [0, 1, 2])
    assert some is not None
    assert some >= max(
        1 / sum((p / r for p, r in list(zip(prior.fractions, known, strict=True))[1:]), Fraction(0))
        for prior in priors
    )
