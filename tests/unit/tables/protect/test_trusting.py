"""Other tables, and other budgets."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from liftlock import Alphabet, Joint, Prior
from liftlock.designs import design
from liftlock.notions import ALIP, LDP, LIP, ApproximateLIP, MaxLift, Notion
from liftlock.tables.protect.design import trace_curve
from liftlock.tables.protect.leakage import bootstrap_leakage
from tests.unit.tables.protect.memory import lifts, rows_of

JOINT = Joint.from_rows(
    Alphabet.of(["s", "t"]), Alphabet.of([*"abc"]), [[50, 20, 10], [10, 30, 40]]
)
PRIOR = Prior.from_counts({"a": 50, "b": 30, "c": 20})


@pytest.mark.parametrize("context", [JOINT, PRIOR])
def test_tables_drawn_anew_leak_what_enumeration_says(context: Joint | Prior) -> None:
    made = design(context, LIP("1/2"), method="optimal")
    found = bootstrap_leakage(made, 160, tables=30)
    assert found is not None
    random = np.random.default_rng(0)
    distribution = rows_of(made)
    lows, highs = [], []
    counts = (
        np.diag(np.array(context.counts))
        if isinstance(context, Prior)
        else np.array(context.counts)
    )
    masses = counts[counts > 0] if isinstance(context, Prior) else counts.reshape(-1)
    for _ in range(30):
        drawn = random.multinomial(160, masses / counts.sum())
        table = np.diag(drawn) if isinstance(context, Prior) else drawn.reshape(counts.shape)
        rows = {
            (s, made.table.inputs.labels[x]): int(n) for (s, x), n in np.ndenumerate(table) if n
        }
        least, most = lifts(rows, distribution.__getitem__)
        assert least is not None
        lows.append(-math.log(least))
        highs.append(math.log(most))
    for spread, values in ((found.lower, lows), (found.upper, highs)):
        assert spread[0] == pytest.approx(float(np.median(values)))
        assert spread[1] == pytest.approx(sorted(values)[math.ceil(0.95 * 29)])
        assert spread[2] == pytest.approx(max(values))
    held = [low <= 0.5 and high <= 0.5 for low, high in zip(lows, highs, strict=True)]
    assert found.kept == pytest.approx(sum(held) / 30)
    assert bootstrap_leakage(made, 160, tables=30) == found  # the seed is fixed


def test_more_rows_are_trusted_more() -> None:
    made = design(JOINT, LIP("1/2"), method="optimal")
    few, many = bootstrap_leakage(made, 160), bootstrap_leakage(made, 160_000)
    assert few is not None
    assert many is not None
    assert many.upper[1] < few.upper[1]
    assert many.lower[2] == pytest.approx(0.5, abs=0.05)


def test_levels_without_lifts_are_not_drawn_anew() -> None:
    made = design(PRIOR, LDP("1"), method="k-rr")
    assert bootstrap_leakage(made, 100) is None


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
