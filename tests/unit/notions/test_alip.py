"""ALIP: each side of the lift against its own budget."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock.errors import NumberError
from liftlock.notions import ALIP, MaxLift, MinLift
from tests import oracles, replay
from tests.checks import (
    TINY,
    check_ratio_budgets,
    check_smallest,
    is_ratio,
    nats_around,
    smallest_values,
)
from tests.strategies import Case, cases, near_ties

ANY = st.one_of(cases(), near_ties())


def sides(case: Case) -> tuple[Fraction | None, Fraction]:
    """Return e^eps_lower (None: infinite) and e^eps_upper."""
    bottom = oracles.min_lift(case.model)
    return (1 / bottom if bottom else None), oracles.max_lift(case.model)


@given(ANY)
def test_both_sides_are_measured(case: Case) -> None:
    lower, upper = sides(case)
    down = MinLift.measure(case.channel, case.context)
    up = MaxLift.measure(case.channel, case.context)
    assert is_ratio(down, lower)
    assert is_ratio(up, upper)
    assert up.witness is not None
    assert down.witness is not None
    assert case.lift(up.witness.secret, up.witness.output) == upper
    assert case.lift(down.witness.secret, down.witness.output) == oracles.min_lift(case.model)


@given(ANY)
def test_decisions_at_the_boundary(case: Case) -> None:
    lower, upper = sides(case)

    def holds(low: object, high: object) -> bool:
        notion = ALIP(lower=low, upper=high)
        return notion.certify(case.channel, case.context, impossible="ignore").holds

    enough = "99" if lower is None else f"ln {lower}"
    assert holds(enough, f"ln {upper}") == (lower is not None)
    if lower is None:
        return
    if upper > 1:
        assert not holds(enough, f"ln {1 + (upper - 1) * (1 - TINY)}")
        assert not holds(enough, nats_around(upper)[0])
    if lower > 1:
        assert not holds(f"ln {1 + (lower - 1) * (1 - TINY)}", f"ln {upper}")
        assert not holds(nats_around(lower)[0], f"ln {upper}")
        assert holds(nats_around(lower)[1], f"ln {upper}")


@given(ANY)
def test_the_smallest_budgets_suffice(case: Case) -> None:
    budgets = smallest_values(ALIP(lower=0, upper=0), case)
    if not budgets:
        assert sides(case)[0] is None
        certificate = ALIP(lower=50, upper=50).certify(
            case.channel, case.context, impossible="ignore"
        )
        assert [claim.holds for claim in certificate.claims] == [True, False]
        return
    low, high = budgets
    notion = ALIP(lower=low, upper=high)
    assert notion.certify(case.channel, case.context, impossible="ignore").holds


@given(ANY)
def test_one_sided_guarantees(case: Case) -> None:
    lower, upper = sides(case)
    check_ratio_budgets(MaxLift, case, upper)
    check_ratio_budgets(MinLift, case, lower)
    check_smallest(MaxLift, case)
    check_smallest(MinLift, case)


def test_words_and_refusals() -> None:
    notion = ALIP(lower="1.3", upper="ln 2")
    assert str(notion) == "alip(lower=1.3, upper=ln 2)"
    assert notion.budgets == {"lower": "1.3", "upper": "ln 2"}
    assert notion.name == "alip"
    with pytest.raises(NumberError, match="upper budget is negative"):
        ALIP(lower=1, upper=-1)
    with pytest.raises(TypeError):
        ALIP(1, 2)  # type: ignore[call-arg]


# --- for the contracts ----------------------------------------------------------------------------


def fall(case: Case) -> Fraction | None:
    smallest = oracles.min_lift(case.model)
    return 1 / smallest if smallest else None


TRUTHS: replay.Truths = {
    "alip": lambda case, _: {
        "max-lift": oracles.max_lift(case.model),
        "min-lift": oracles.min_lift(case.model),
    },
    "eps_upper": lambda case, _: {"eps_upper": replay.log(oracles.max_lift(case.model))},
    "eps_lower": lambda case, _: {"eps_lower": replay.log(fall(case))},
}
ATTAINED: replay.Attained = {
    "alip": {"max-lift": replay.lift_attained, "min-lift": replay.lift_attained},
    "eps_upper": {"eps_upper": lambda at: replay.log_ratio(*at.lift())},
    "eps_lower": {"eps_lower": lambda at: replay.log_ratio(*at.lift()[::-1])},
}
