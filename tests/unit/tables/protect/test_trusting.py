"""Other budgets."""

from __future__ import annotations

from fractions import Fraction

import pytest

from liftlock import Alphabet, Joint, Prior
from liftlock.designs import design
from liftlock.notions import ALIP, LIP, ApproximateLIP, MaxLift, Notion
from liftlock.tables.protect.design import trace_curve

JOINT = Joint.from_rows(
    Alphabet.of(["s", "t"]), Alphabet.of([*"abc"]), [[50, 20, 10], [10, 30, 40]]
)
PRIOR = Prior.from_counts({"a": 50, "b": 30, "c": 20})


# --- other budgets ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("notion", "expected"),
    [
        (LIP("1"), "lip(0.5)"),
        (LIP("ln 2"), None),
        (MaxLift("3/4"), "eps_upper(0.375)"),
        (ALIP(lower="1.3", upper="0.7"), "alip(lower=0.65, upper=0.35)"),
        (ApproximateLIP(epsilon="1", delta="0.1"), None),
    ],
)
def test_budgets_are_scaled_and_nothing_else(notion: Notion, expected: str | None) -> None:
    half = notion.scaled(Fraction(1, 2))
    assert type(half) is type(notion)
    if expected is not None:
        assert str(half) == expected
    if "delta" in notion.budgets:
        assert half.budgets["delta"] == notion.budgets["delta"]


@pytest.mark.parametrize("utility", [None, "histogram"])
def test_a_looser_budget_is_never_worse(utility: str | None) -> None:
    made = design(JOINT, LIP("0.3"), utility=utility, method="optimal")
    curve = trace_curve(made, JOINT, LIP("0.3"), utility=utility, method="optimal", seconds=60)
    assert curve is not None
    assert [point.scale for point in curve.points] == [0.25, 0.5, 0.75, 1, 1.5, 2, 4]
    worth = [point.utility for point in curve.points]
    better = sorted(worth, reverse=not curve.larger_is_better)
    assert worth == pytest.approx(better, abs=1e-9)
    ends = sorted([curve.nothing, curve.truth])
    assert all(ends[0] - 1e-9 <= each <= ends[1] + 1e-9 for each in worth)


def test_without_time_there_is_no_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    made = design(JOINT, LIP("0.3"), method="optimal")
    clock = iter(range(0, 10_000, 100))
    monkeypatch.setattr("liftlock.tables.protect.design.time.monotonic", lambda: float(next(clock)))
    assert trace_curve(made, JOINT, LIP("0.3"), seconds=50) is None
