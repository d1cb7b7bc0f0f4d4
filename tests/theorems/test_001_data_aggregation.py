"""Paper 001, Context-aware Data Aggregation with LIP: its statements about notions."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from liftlock.exact.budget import Budget
from liftlock.notions import LDP, LIP, MutualInformation
from tests.theorems import worlds
from tests.theorems.worlds import Masses, World


@settings(max_examples=40, deadline=None)
@given(worlds.worlds())
def test_proposition_1_lip_implies_mutual_information_privacy(world: World) -> None:
    ratio = LIP.measure(world.channel, world.prior).ratio
    assert ratio is not None
    guarantee = MutualInformation(Budget.from_ratio(ratio))
    assert guarantee.certify(world.channel, world.prior).holds


@settings(max_examples=60, deadline=None)
@given(worlds.worlds())
def test_theorem_1_lip_implies_twice_the_ldp_and_ldp_implies_lip(world: World) -> None:
    ratio = LIP.measure(world.channel, world.prior).ratio
    assert ratio is not None
    assert LDP(Budget.from_ratio(ratio**2)).certify(world.channel, world.prior).holds
    local = LDP.measure(world.channel).ratio
    assert local is not None
    assert LIP(Budget.from_ratio(local)).certify(world.channel, world.prior).holds


@settings(max_examples=40, deadline=None)
@given(worlds.masses(least=3), worlds.ratios())
def test_theorem_1_the_factor_two_is_needed(masses: Masses, ratio: Fraction) -> None:
    """A symbol rarer than 1/(E+1) can be raised to E while another one falls to 1/E."""
    rare = min(masses)
    if rare > 1 / (ratio + 1):
        ratio = 1 / rare - 1
    ranked = sorted(range(len(masses)), key=lambda x: masses[x])
    order = [ranked[0], *ranked[2:], ranked[1]]
    world = worlds.extremal(masses, 1 / ratio, ratio, order)
    assert LIP.measure(world.channel, world.prior).ratio == ratio
    assert LDP.measure(world.channel).ratio == ratio**2


@settings(max_examples=60, deadline=None)
@given(worlds.joints(), st.data())
def test_theorem_6_a_secret_function_of_the_data_leaks_no_more(
    cells: tuple[tuple[int, ...], ...], data: st.DataObject
) -> None:
    """Correlated information privacy is the linkage inequality, for each side of the lift."""
    joint = worlds.joint_of(cells)
    channel = worlds.channel_of(data.draw(worlds.rows(len(cells[0]))))
    ratio = LIP.measure(channel, joint.prior).ratio
    assert ratio is not None
    assert LIP(Budget.from_ratio(ratio)).certify(channel, joint).holds
