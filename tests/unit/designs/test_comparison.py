"""Curves and yardsticks, against closed forms."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import pytest

import liftlock as ll
from liftlock import Step
from liftlock.designs import DESIGNS, asymmetric, compare, design, measure_baselines
from liftlock.designs.baselines import CONTEXT_FREE
from liftlock.designs.calibration import MakeNotion, MechanismLeakage
from liftlock.designs.comparison import FOR_NUMBERS, fitting_methods, implying_ldp
from liftlock.errors import InputError, NotDefined
from liftlock.notions import MaxLift, MinLift
from liftlock.utility import CustomUtility

RARE = ll.Prior.from_probabilities({1: "0.1", 2: "0.2", 3: "0.7"})
JOINT = ll.Joint.from_counts({"s": {"a": 25, "b": 23, "c": 2}, "t": {"a": 20, "b": 20, "c": 10}})


def test_true_leakage_of_a_published_formula() -> None:
    """It needs ln((E - 1 + P)/P) - epsilon (000 eq. (19) with the limit that it lacks)."""
    found = compare(RARE, ll.LIP, ["response"], ["0.5", "1", "3"], "histogram", at="epsilon")
    (curve,) = found.curves
    assert not curve.keeps
    for point in curve.points:
        ratio = math.exp(point.epsilon)
        expected = max(point.epsilon, math.log((ratio - 1 + 0.1) / 0.1) - point.epsilon)
        assert point.needed == pytest.approx(expected, abs=1e-12)


def test_every_point_of_an_honest_method_keeps_its_budget() -> None:
    found = compare(RARE, ll.LIP, ["safe-response", "arc", "k-rr"], ["0.01", "1", "8"])
    for curve in found.curves:
        for point in curve.points:
            assert point.needed <= point.epsilon
            assert found.nothing - 1e-12 <= point.objective <= found.truth + 1e-12


def test_data_is_json_even_when_a_leakage_is_infinite() -> None:
    joint = ll.Joint.from_counts({"s": {"a": 5, "b": 0}, "t": {"a": 5, "b": 5}})
    found = compare(joint, ll.LIP, ["watchdog:published"], ["5"], at="epsilon")
    text = json.dumps(found.to_data(), allow_nan=False)
    assert json.loads(text)["curves"][0]["points"][0]["needed"] == "inf"


def test_ldp_only_at_the_smaller_side() -> None:
    assert str(implying_ldp(ll.ALIP(lower="2", upper="0.5"))) == "ldp(0.5)"
    assert str(implying_ldp(MaxLift("0.5"))) == "ldp(0.5)"
    split = asymmetric(Fraction(1, 4))
    found = compare(RARE, split, ["optimal:ldp"], ["2"], at="epsilon").curves[0].points[0]
    assert (found.parameter, found.guarantee) == ("ldp(0.5)", "ldp(budget=0.5)")
    # Which leaves room: what it truly leaks is less than either side allows.
    kept = compare(RARE, split, ["optimal:ldp"], ["2"]).curves[0].points[0]
    assert kept.guarantee == "alip(lower=0.5, upper=1.5)"
    assert kept.eps_lower is not None
    assert kept.eps_lower <= 0.5
    assert found.objective < kept.objective


def test_needed_budget_of_each_kind() -> None:
    leak = MechanismLeakage(lower=0.6, upper=0.3, ldp=0.9)
    assert leak.smallest_epsilon(ll.LIP("1"), 1.0) == 0.6
    assert leak.smallest_epsilon(MaxLift("1"), 1.0) == 0.3
    assert leak.smallest_epsilon(MinLift("2"), 2.0) == 0.6
    # lower = 0.75 epsilon, upper = 0.25 epsilon: the upper side decides.
    assert leak.smallest_epsilon(asymmetric(Fraction(3, 4))("2"), 2.0) == pytest.approx(1.2)
    assert math.isinf(leak.smallest_epsilon(ll.LIP("0"), 0.0))
    assert MechanismLeakage(0.0, 0.0, 0.0).smallest_epsilon(ll.LIP("0"), 0.0) == 0.0


def test_averages_are_not_compared() -> None:
    with pytest.raises(NotDefined, match="compare lip"):
        MechanismLeakage(0.1, 0.1, 0.2).smallest_epsilon(ll.notions.MutualInformation("1"), 1.0)


def test_methods_that_fit() -> None:
    assert fitting_methods(RARE, ll.LIP("1"))[0] == "optimal"
    assert "watchdog" not in fitting_methods(RARE, ll.LIP("1"))
    assert "watchdog" in fitting_methods(JOINT, ll.LIP("1"))
    assert not any(name.endswith(":ldp") for name in fitting_methods(RARE, ll.LDP("1")))
    wide = ll.Prior.uniform(range(50))
    assert "optimal:ldp" not in fitting_methods(wide, ll.LIP("1"))


def test_yardsticks_of_a_prior() -> None:
    made = ll.design(RARE, ll.LIP("1"), utility="histogram")
    rows = {row.name: row.objective for row in measure_baselines(made, "histogram")}
    assert rows["this mechanism (optimal)"] == pytest.approx(0.3287611726, abs=1e-9)
    assert rows["the optimum under LDP, same epsilon"] == pytest.approx(0.3993282019, abs=1e-9)
    assert rows["the optimum under LDP, same LDP"] == pytest.approx(0.2829163581, abs=1e-9)
    assert rows["no release"] == pytest.approx(0.46)
    assert rows["no noise"] == pytest.approx(0.0)


def test_only_what_was_proved_is_called_an_optimum() -> None:
    prior = ll.Prior.from_counts({k: k + 1 for k in range(11)})
    made = design(prior, ll.LIP("1"), utility="histogram", method="safe-response")
    names = [row.name for row in measure_baselines(made, "histogram", seconds=1e-6)]
    assert "the best found under LDP, same epsilon" in names
    assert not any("optimum" in name for name in names)


def test_many_symbols_are_compared_with_randomised_response() -> None:
    wide = ll.Prior.uniform(range(21))
    made = ll.design(wide, ll.LIP("1"), utility="histogram", method="arc")
    rows = {row.name: row.objective for row in measure_baselines(made, "histogram")}
    assert rows["k-ary randomised response, same epsilon"] == pytest.approx(0.94693, abs=5e-6)


def test_yardsticks_of_ldp_and_of_a_budget_of_zero() -> None:
    for notion in (ll.LDP("1"), ll.LIP("0")):
        made = ll.design(RARE, notion)
        names = [row.name for row in measure_baselines(made, "mutual-information")]
        assert names == ["this mechanism (optimal)", "no release", "no noise"]


def test_a_users_own_utility_can_be_compared() -> None:
    gini = CustomUtility(lambda v: 1 - (v**2).sum(), symbols=3)
    ours = compare(RARE, ll.LIP, ["safe-response"], ["1"], gini)
    theirs = compare(RARE, ll.LIP, ["safe-response"], ["1"], "histogram")
    assert ours.curves[0].points[0].objective == pytest.approx(theirs.curves[0].points[0].objective)


def test_progress_is_told() -> None:
    steps: list[Step] = []
    compare(
        RARE,
        ll.LIP,
        ["safe-response", "k-rr"],
        ["1", "2"],
        progress=steps.append,
    )
    assert [(step.done, step.total) for step in steps] == [(0, 4), (1, 4), (2, 4), (3, 4)]
    assert steps[0].stage == "safe-response at 1"


@pytest.mark.parametrize(
    ("methods", "epsilons", "message"),
    [([], ["1"], "no methods"), (["arc"], [], "no budgets"), (["arc"], ["-1"], "negative")],
)
def test_bad_input(methods: list[str], epsilons: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        compare(RARE, ll.LIP, methods, epsilons)


# --- numbers --------------------------------------------------------------------------------------

WAGES = ll.continuous.from_data([20, 22, 25, 30, 31, 40, 44, 60, 80, 200], domain=(0, 100))


def test_a_prior_on_the_line_is_cut_once() -> None:
    found = compare(WAGES, ll.LIP, ["sampling"], ["1", "2"], bins=5)
    cut = WAGES.discretise(5)
    assert found.context == cut.describe()
    assert found.utility == "mean"
    expected = [design(cut, ll.LIP(e), method="sampling").origin for e in ("1", "2")]
    assert [p.objective for p in found.curves[0].points] == [o.objective for o in expected if o]
    with pytest.raises(InputError, match="only a continuous prior is discretised"):
        compare(ll.Prior.uniform("ab"), ll.LIP, ["k-rr"], ["1"], bins=5)


def test_methods_for_numbers() -> None:
    names = fitting_methods(WAGES.discretise(5), ll.LIP("1"))
    assert names == [key for key in FOR_NUMBERS if key in DESIGNS and key in names]
    assert {"optimal", "sampling"} <= set(names)
    assert "k-rr" not in names
    small = fitting_methods(WAGES.discretise(5), ll.ApproximateLIP("1", "0.01"))
    assert {"optimal", "sampling"} <= set(small)


def test_where_a_delta_is_allowed_a_method_may_do_without() -> None:
    def make(epsilon: object) -> ll.ApproximateLIP:
        return ll.ApproximateLIP(epsilon, "0.01")

    found = compare(WAGES, make, ["optimal", "k-rr:ldp"], ["1"], bins=5)
    assert [curve.notion for curve in found.curves] == ["lip", "ldp"]
    point = found.curves[0].points[0]
    assert point.guarantee == "lip_ediv(epsilon=1, delta=0.01)"
    assert float(point.parameter[4:-1]) > 1  # some of the delta is used
    assert all(curve.points[0].needed <= 1 for curve in found.curves)


@pytest.mark.parametrize(
    "make",
    [
        lambda e: ll.ApproximateLIP(e, "0.05"),
        lambda e: ll.ApproximateLIP(e, "0.05", "def5"),
        lambda e: ll.ApproximateLDP(e, "0.05"),
    ],
)
def test_what_a_delta_needs(make: MakeNotion) -> None:
    found = compare(WAGES, make, ["sampling"], ["1"], bins=5).curves[0].points[0]
    assert 0.9 < found.needed <= 1


def test_yardsticks_of_numbers() -> None:
    made = design(WAGES, ll.LIP("1"), method="sampling", bins=5)
    found = measure_baselines(made, "mean")
    assert found[0].name == "this mechanism (sampling)"
    assert [each.name for each in found][-2:] == ["no release", "no noise"]
    if CONTEXT_FREE in DESIGNS:
        free = next(row for row in found if row.name.startswith("Laplace"))
        assert free.lip == pytest.approx(1, abs=2e-6)
        assert float(free.guarantee[4:-1]) > 1
        # Noise of scale (u - l) / epsilon, whatever the prior: hardly better than nothing.
        assert found[0].objective < free.objective <= found[-2].objective
    zero = design(WAGES, ll.LIP("0"), bins=5)
    assert [each.name for each in measure_baselines(zero, "mean")][1:] == ["no release", "no noise"]
