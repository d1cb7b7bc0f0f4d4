"""Arimoto information: enclosed at every order, by both routes."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liftlock import Channel, Prior
from liftlock.notions import Arimoto, MutualInformation, lift_table
from liftlock.notions.information import FLOAT_CELLS
from tests import oracles, replay
from tests.checks import check_ratio_budgets, check_real_budgets, check_smallest, contains, is_ratio
from tests.strategies import Case, cases, make_channel, near_ties, prior_case, random_case

ANY = st.one_of(cases(), near_ties())
ORDERS = st.sampled_from(
    [Fraction(v) for v in ("1/10", "1/2", "9/10", "1.001", "3/2", "2", "3", "64", "65", "100.5")]
)


@given(ANY, ORDERS)
def test_it_is_the_definition(case: Case, order: Fraction) -> None:
    found = Arimoto.measure(case.channel, case.context, order)
    assert contains(found.value, oracles.arimoto(case.model, order))
    assert found.value.lower >= 0


@given(ANY)
def test_order_infinity_is_exact(case: Case) -> None:
    found = Arimoto.measure(case.channel, case.context, "inf")
    assert is_ratio(found, oracles.arimoto_infinite(case.model))
    check_ratio_budgets(
        lambda budget: Arimoto("inf", budget), case, oracles.arimoto_infinite(case.model)
    )


@given(ANY)
def test_order_1_is_the_mutual_information(case: Case) -> None:
    found = Arimoto.measure(case.channel, case.context, 1)
    assert found.value == MutualInformation.measure(case.channel, case.context).value


@settings(max_examples=25)
@given(ANY)
def test_it_tends_to_its_limits(case: Case) -> None:
    top = mp.log(oracles.real(oracles.arimoto_infinite(case.model)))
    high = Arimoto.measure(case.channel, case.context, "1e9").value
    assert abs(oracles.real(high.lower) - top) < 1e-6
    middle = oracles.mutual_information(case.model)
    for order in ("0.99999999", "1.00000001"):
        near = Arimoto.measure(case.channel, case.context, order).value
        assert abs(oracles.real(near.lower) - middle) < 1e-5


@settings(max_examples=25)
@given(cases(), st.sampled_from(["1/2", "2", "5/2", "40"]))
def test_decisions_at_the_boundary(case: Case, order: str) -> None:
    true = oracles.arimoto(case.model, Fraction(order))
    if true > mp.mpf(10) ** -40:
        check_real_budgets(lambda budget: Arimoto(order, budget), case, true)
    check_smallest(lambda budget: Arimoto(order, budget), case)


@pytest.mark.parametrize(
    "order", ["1e-12", "1e-3", "0.01", "100", "1000", "1e6", "1e7", "1e12", "1e100"]
)
def test_extreme_orders(order: str) -> None:
    rows = [
        [Fraction(1, 100), Fraction(99, 100), Fraction(0)],
        [Fraction(1, 5), Fraction(3, 5), Fraction(1, 5)],
        [Fraction(1, 1000), Fraction(0), Fraction(999, 1000)],
    ]
    channel = make_channel(rows)
    prior = Prior.from_counts({"x0": 1, "x1": 20, "x2": 300})
    model = oracles.of_prior([Fraction(n, 321) for n in (1, 20, 300)], rows)
    found = Arimoto.measure(channel, prior, order).value
    with mp.workdps(80 if len(order) < 5 else 300):
        true = oracles.arimoto(model, Fraction(order))
        assert contains(found, true)


@pytest.mark.parametrize("order", ["0.001", "0.01", "0.3", "20", "1000", "1e6"])
def test_revealing_everything_of_a_uniform_secret(order: str) -> None:
    # ln m at every order; the sums on the way there are as small as 50^-1000.
    labels = range(50)
    found = Arimoto.measure(Channel.identity(labels), Prior.uniform(labels), order).value
    assert contains(found, mp.log(50))


@pytest.mark.parametrize("name", ["large", "large_joint", "ties"])
@pytest.mark.parametrize("order", ["1/2", "3", "200"])
def test_large_tables_take_floats_with_a_margin(
    name: str, order: str, request: pytest.FixtureRequest
) -> None:
    case: Case = request.getfixturevalue(name)
    table = lift_table(case.channel, case.context)
    assert len(table.secrets) * len(table.outputs) > FLOAT_CELLS
    with mp.workdps(30):
        true = oracles.arimoto(case.model, Fraction(order))
        assert contains(Arimoto.of_table(table, Fraction(order)).value, true, width=1e-10)


@pytest.mark.parametrize("order", ["1/50", "50", "1000", "100000"])
def test_floats_do_not_lose_a_rare_secret(order: str) -> None:
    # Half of the outputs are given by one rare secret only, whose tilted weight is no float at
    # high orders: as a plain sum these outputs would vanish.
    size = 150
    rows = [
        [Fraction(1, size) if y < size // 2 else Fraction(0) for y in range(size)]
        for _ in range(size - 1)
    ]
    rows = [[2 * v for v in row] for row in rows]
    rows.append([Fraction(0) if y < size // 2 else Fraction(2, size) for y in range(size)])
    case = prior_case([1000 + x for x in range(size - 1)] + [1], rows)
    with mp.workdps(40):
        true = oracles.arimoto(case.model, Fraction(order))
        found = Arimoto.measure(case.channel, case.context, order).value
        assert contains(found, true, width=1e-9)


@pytest.mark.parametrize("order", ["1e-400", "1e-30", "1e30", "1" + "0" * 400])
def test_orders_that_no_float_holds_on_a_large_table(order: str, ties: Case) -> None:
    found = Arimoto.measure(ties.channel, ties.context, order).value
    assert found.upper is not None
    if order.startswith("1e-"):
        assert found.upper < Fraction(1, 10**20)
    else:
        top = mp.log(oracles.real(oracles.leakage(ties.model)))
        assert abs(oracles.real(found.upper) - top) < 1e-20


def test_floats_with_zeros() -> None:
    case = random_case(160, 130, seed=8, zeros=True)
    for order in ("1/4", "4"):
        with mp.workdps(30):
            true = oracles.arimoto(case.model, Fraction(order))
        found = Arimoto.measure(case.channel, case.context, order).value
        assert contains(found, true, width=1e-10)


def test_words() -> None:
    notion = Arimoto("7/3", "ln 2")
    assert str(notion) == "arimoto(7/3, ln 2)"
    assert notion.budgets == {"alpha": "7/3", "budget": "ln 2"}
    assert notion != Arimoto("8/3", "ln 2")


# --- for the contracts ----------------------------------------------------------------------------

TRUTHS: replay.Truths = {
    "arimoto": lambda case, _: {"arimoto": oracles.arimoto(case.model, replay.ALPHA)}
}
