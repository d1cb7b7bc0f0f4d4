"""Paper 000, section III.C: transfer to another prior, in its true form.

Budgets are logarithms of rationals E = e^epsilon, so that every comparison is exact.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from liftlock import Ball, Family
from liftlock.exact import enclosure
from liftlock.exact.budget import Budget
from liftlock.exact.enclosure import Enclosure
from liftlock.notions import LIP
from liftlock.transfer import transfer, transfer_within
from liftlock.transfer.bounds import LiftLevel, variation_threshold
from tests.theorems import worlds
from tests.theorems.worlds import Masses, World

Pair = tuple[Masses, Masses]


def pairs() -> st.SearchStrategy[Pair]:
    """Draw two priors of the same support."""
    return st.integers(2, 4).flatmap(
        lambda size: st.tuples(*[worlds.masses(least=size, most=size)] * 2)
    )


def apart(first: Masses, second: Masses) -> Fraction:
    return sum((abs(a - b) for a, b in zip(first, second, strict=True)), Fraction(0)) / 2


def farthest(first: Masses, second: Masses) -> Fraction:
    """Return e^eta, the largest ratio of the two priors."""
    return max(max(a / b, b / a) for a, b in zip(first, second, strict=True))


def guarantee(ratio: Fraction) -> LIP:
    return LIP(Budget.from_ratio(ratio))


def encloses(value: Enclosure, ratio: Fraction) -> bool:
    """Tell whether a value is ln(ratio), within its own width."""
    true = enclosure.log(ratio, 256)
    assert value.upper is not None
    assert true.upper is not None
    return value.lower <= true.upper and true.lower <= value.upper and value.width < 1e-30


@settings(max_examples=25, deadline=None)
@given(pairs(), worlds.ratios(), st.data())
def test_lemma_3_and_equation_12(pair: Pair, ratio: Fraction, data: st.DataObject) -> None:
    first, second = pair
    order = data.draw(st.permutations(range(len(first))))
    world = worlds.extremal(first, 1 / ratio, ratio, order)
    true = worlds.lip_ratio(World(second, world.rows))
    assert true is not None
    found = transfer(guarantee(ratio), worlds.prior_of(second), designed=worlds.prior_of(first))
    p = min(first)
    expected = {
        "log ratio": ratio * farthest(first, second),
        "total variation": ratio * (1 + apart(first, second) / min(*first, *second)),
        "twice": ratio**2,
        "rarest symbol": (ratio - 1 + p) / p,
    }
    for name, bound in expected.items():
        assert encloses(found.bound(name).value, bound)
        assert true <= bound
    for line in found.bounds:
        assert line.value.upper is None or Budget.of(line.value.upper).allows(true)


@settings(max_examples=50, deadline=None)
@given(pairs(), worlds.ratios())
def test_corollary_6_with_its_logarithm(pair: Pair, ratio: Fraction) -> None:
    first, second = pair
    p, c, distance = min(first), min(*first, *second), apart(first, second)
    smallest = ratio * (1 + distance / c) <= min(ratio**2, (ratio - 1 + p) / p)
    designed, actual = worlds.prior_of(first), worlds.prior_of(second)
    limit = variation_threshold(
        LiftLevel.of_guarantee(guarantee(ratio), designed), designed, actual
    )
    assert limit.is_exact
    assert (distance <= limit.lower) == smallest


@settings(max_examples=25, deadline=None)
@given(worlds.masses(), worlds.ratios(), st.fractions(0, Fraction(1, 2)), st.data())
def test_corollary_7_corrected(
    masses: Masses, ratio: Fraction, radius: Fraction, data: st.DataObject
) -> None:
    """Its event is a ball of total variation around the frequencies; this is what follows."""
    order = data.draw(st.permutations(range(len(masses))))
    world = worlds.extremal(masses, 1 / ratio, ratio, order)
    p = min(masses)
    worst = LIP.measure(world.channel, Ball(world.prior, radius)).ratio
    assert worst is not None
    line = transfer_within(guarantee(ratio), total_variation=radius, designed=world.prior).bound(
        "log ratio"
    )
    if radius < p:
        assert worst <= ratio * (1 + radius / (p - radius))
        assert encloses(line.value, ratio * (1 + radius / (p - radius)))
    else:
        assert line.value.is_infinite
    assert worst <= min(ratio**2, (ratio - 1 + p) / p)
    # The true P_min is unknown: at worst it is that of the frequencies minus the radius.
    if 0 < radius < p:
        place = masses.index(p)
        other = (place + 1) % len(masses)
        moved = list(masses)
        moved[place] -= radius
        moved[other] += radius
        assert farthest(masses, tuple(moved)) >= 1 + radius / (p - radius)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(2, 3).flatmap(lambda size: st.tuples(*[worlds.masses(least=size, most=size)] * 3)),
    st.data(),
)
def test_corollary_8_families(drawn: tuple[Masses, Masses, Masses], data: st.DataObject) -> None:
    first, second, true = drawn
    rows = data.draw(worlds.rows(len(first), most=3))
    family = Family.of([worlds.prior_of(first), worlds.prior_of(second)])
    levels = [worlds.lip_ratio(World(masses, rows)) for masses in (first, second)]
    after = worlds.lip_ratio(World(true, rows))
    assume(after is not None and None not in levels)
    assert after is not None
    inside = max(level for level in levels if level is not None)
    channel = worlds.channel_of(rows)
    found = transfer(channel, worlds.prior_of(true), designed=family)
    assert found.exact is not None
    assert found.exact.ratio == after
    near = min(farthest(first, true), farthest(second, true))
    c = min(*first, *second, *true)
    printed = inside * (1 + max(apart(first, true), apart(second, true)) / c)
    assert after <= inside * near <= printed
    assert encloses(found.bound("log ratio").value, inside * near)
    assert encloses(found.bound("total variation").value, printed)
    # The other way round: made for one prior, true is one of the family.
    back = transfer(channel, family, designed=worlds.prior_of(true))
    assert back.exact is not None
    assert back.exact.ratio == inside <= after * max(farthest(first, true), farthest(second, true))
