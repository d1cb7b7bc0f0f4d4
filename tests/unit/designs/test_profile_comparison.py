"""The paper's experiments, against formulas and linear programs of their own."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from liftlock import ProfileGraph, Step
from liftlock.designs import Comparison, Point, compare
from liftlock.errors import InputError
from liftlock.model.profile_examples import bernoulli_chain, example
from liftlock.report.plots.released import usual_methods
from liftlock.utility import ProfileErrors
from liftlock_papers.paper_004.couplet_curve import couplet_curve


def sweep(graph: ProfileGraph, epsilons: list[str], methods: list[str] | None = None) -> Comparison:
    return compare(graph, None, methods or usual_methods(graph), epsilons)


def errors_of(point: Point) -> ProfileErrors:
    assert point.errors is not None
    return point.errors


def least_flip(low: float, high: float, epsilon: float) -> float:
    """Return the least probability of flipping a bit that hides which of two profiles it is."""
    grown = math.exp(epsilon)

    def hidden(flip: float) -> bool:
        ones = [p * (1 - flip) + (1 - p) * flip for p in (low, high)]
        return max(ones) <= grown * min(ones) and 1 - min(ones) <= grown * (1 - max(ones))

    start, end = 0.0, 0.5
    if hidden(start):
        return 0.0
    for _ in range(60):
        middle = (start + end) / 2
        start, end = (start, middle) if hidden(middle) else (middle, end)
    return end


def least_largest_flip(parameters: list[float], epsilon: float) -> float:
    """Return the optimum of the program of Smooth One Bit, built here from its definition."""
    size, grown = len(parameters), math.exp(epsilon)
    rows, limits = [], []
    for i in range(size - 1):
        for one, other in ((i, i + 1), (i + 1, i)):
            for bit in (0, 1):
                # P(bit) = c + flip * (1 - 2 c) with c the profile's own probability of it.
                c, d = (p if bit else 1 - p for p in (parameters[one], parameters[other]))
                row = np.zeros(size + 1)
                row[one] += 1 - 2 * c
                row[other] -= grown * (1 - 2 * d)
                rows.append(row)
                limits.append(grown * d - c)
    for i in range(size):
        row = np.zeros(size + 1)
        row[i], row[-1] = 1.0, -1.0
        rows.append(row)
        limits.append(0.0)
    costs = np.zeros(size + 1)
    costs[-1] = 1.0
    found = linprog(costs, np.array(rows), limits, bounds=[(0, 1)] * (size + 1))
    assert found.success
    assert found.fun is not None
    return float(found.fun)


@pytest.mark.parametrize("size", [6, 21])
def test_chains_of_bits(size: int) -> None:
    graph = bernoulli_chain(size)
    parameters = [place / (size - 1) for place in range(size)]
    found = sweep(graph, ["0.1", "0.2", "1", "3"])
    baseline, ours = found.curves
    assert [curve.method for curve in found.curves] == ["randomised-response", "smooth-one-bit"]
    for epsilon, warner, smooth in zip(
        (0.1, 0.2, 1.0, 3.0), baseline.points, ours.points, strict=True
    ):
        assert warner.epsilon == smooth.epsilon == epsilon
        flip = 1 / (1 + math.exp(epsilon))
        assert errors_of(warner).released[:, 1] == pytest.approx(
            [p * (1 - flip) + (1 - p) * flip for p in parameters], abs=1e-7
        )
        assert errors_of(warner).largest == pytest.approx(flip, abs=1e-7)
        best = least_largest_flip(parameters, epsilon)
        assert errors_of(smooth).largest == pytest.approx(best, abs=1e-6)
        assert errors_of(smooth).largest <= errors_of(warner).largest
        assert errors_of(smooth).mean_wrong <= errors_of(warner).mean_wrong
        assert smooth.needed <= epsilon
        ratios = errors_of(smooth).released[1:] / errors_of(smooth).released[:-1]
        assert np.abs(np.log(ratios)).max() == pytest.approx(smooth.needed, abs=1e-9)
        assert errors_of(smooth).marginal == pytest.approx(
            np.abs(errors_of(smooth).released - graph.distributions).max(axis=0), abs=1e-12
        )


def test_spread_at_the_marked_budget_is_that_of_the_picture() -> None:
    """Warner's is tanh(epsilon / 2) however many profiles; ours is wider."""
    (warner, ours) = sweep(bernoulli_chain(6), ["0.2"]).curves
    assert np.ptp(errors_of(warner.points[0]).released[:, 1]) == pytest.approx(
        math.tanh(0.1), abs=1e-7
    )
    assert np.ptp(errors_of(ours.points[0]).released[:, 1]) > 3 * math.tanh(0.1)


def test_k_ary_response_on_the_categorical_chain() -> None:
    graph = example("categorical-chain")
    found = sweep(graph, ["0.5"], methods=["randomised-response", "cluster"])
    kept = math.exp(0.5) / (math.exp(0.5) + 3)
    other = (1 - kept) / 3
    distributions = np.array([[2, 3, 4, 1], [3, 3, 3, 1], [4, 4, 1, 1]]) / 10
    released = distributions * kept + (1 - distributions) * other
    point = found["randomised-response"].points[0]
    assert errors_of(point).released == pytest.approx(released, abs=1e-7)
    assert errors_of(point).marginal == pytest.approx(
        np.abs(released - distributions).max(axis=0), abs=1e-7
    )
    assert errors_of(found["cluster"].points[0]).largest < errors_of(point).largest


def test_usual_methods() -> None:
    assert usual_methods(example("couplet")) == ("randomised-response", "smooth-one-bit")
    assert usual_methods(example("workstation")) == ("randomised-response", "smooth-categorical")


def test_points_are_told_and_written() -> None:
    told: list[Step] = []
    graph = example("couplet")
    found = compare(graph, None, ["cluster"], ["0.5", "1"], progress=told.append)
    assert told == [Step("cluster at 0.5", 0, 2), Step("cluster at 1", 1, 2)]
    rows = found.rows()
    assert [row["epsilon"] for row in rows] == [0.5, 1.0]
    assert {"needed", "largest", "mean_wrong", "cost of 0", "cost of 1"} < set(rows[0])
    assert not any(isinstance(cell, list | dict) for row in rows for cell in row.values())
    data = found.to_data()
    assert data["graph"]["fingerprint"] == graph.fingerprint
    for row, point in zip(rows, data["curves"][0]["points"], strict=True):
        assert row["largest"] == point["errors"]["largest"]
        assert [row["cost of 0"], row["cost of 1"]] == point["errors"]["costs"]
        assert np.sum(point["errors"]["released"], axis=1) == pytest.approx([1.0, 1.0])


def test_what_was_not_compared() -> None:
    found = sweep(example("couplet"), ["1"], methods=["randomised-response"])
    with pytest.raises(InputError, match="the method was not compared: 'cluster'"):
        found["cluster"]


@pytest.mark.parametrize("epsilon", ["0.3", "1"])
@pytest.mark.parametrize("lowest", [None, "0", "1/3"])
def test_two_profiles_apart(epsilon: str, lowest: str | None) -> None:
    furthest = 1.0 if lowest is None else 1 - float(Fraction(lowest))
    gaps = [Fraction(place, 8) for place in range(9) if place / 8 <= furthest]
    found = couplet_curve(epsilon, gaps, lowest=lowest, method="cluster")
    for gap, flip in zip(gaps, found.flips, strict=True):
        low = (1 - float(gap)) / 2 if lowest is None else float(Fraction(lowest))
        assert flip == pytest.approx(least_flip(low, low + float(gap), float(epsilon)), abs=1e-7)
    assert found.warner == pytest.approx(1 / (1 + math.exp(float(epsilon))))
    assert (np.diff(found.flips) >= -1e-12).all()
    assert (found.flips <= found.warner + 1e-8).all()


def test_smooth_flips_no_more_than_one_flip_for_both() -> None:
    gaps = ["0.2", "0.6", "1"]
    both = [couplet_curve("0.5", gaps, method=m).flips for m in ("smooth-one-bit", "cluster")]
    assert (both[0] <= both[1] + 1e-9).all()


def test_the_usual_gaps_reach_as_far_as_they_can() -> None:
    found = couplet_curve("1", lowest="0.8", method="cluster")
    assert (found.gaps[0], found.gaps[-1], len(found.gaps)) == (0.0, pytest.approx(0.2), 51)


@pytest.mark.parametrize(("gap", "lowest"), [("-0.1", None), ("1.1", None), ("0.3", "0.8")])
def test_gaps_that_no_parameters_have(gap: str, lowest: str | None) -> None:
    with pytest.raises(InputError, match="a difference that no two parameters have"):
        couplet_curve("1", [gap], lowest=lowest, method="cluster")


def test_alike_profiles_are_released_as_they_are() -> None:
    graph = ProfileGraph.bernoulli({"a": "0.3", "b": "0.3"})
    found = sweep(graph, ["0.1"], methods=["cluster"])
    assert errors_of(found["cluster"].points[0]).released[0] == pytest.approx([0.7, 0.3])
