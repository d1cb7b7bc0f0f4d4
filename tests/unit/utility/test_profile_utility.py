"""What a mechanism is worth, against people counted one by one with fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from liftlock import Channel, Prior, ProfileGraph
from liftlock.errors import InputError
from liftlock.utility import ProfileUtility, profile_errors
from liftlock.utility.profile_utility import blocks_of

GRAPH = ProfileGraph.chain(
    {
        "a": {"x": 1, "y": 2, "z": 3},
        "b": {"x": 3, "y": 1, "z": 0},
    }
)
ROWS: dict[tuple[str, str], dict[str, Any]] = {
    ("a", "x"): {"x": "1/2", "y": "1/4", "z": "1/4"},
    ("a", "y"): {"x": "1/8", "y": "3/4", "z": "1/8"},
    ("a", "z"): {"x": 0, "y": "1/5", "z": "4/5"},
    ("b", "x"): {"x": "9/10", "y": "1/20", "z": "1/20"},
    ("b", "y"): {"x": "1/3", "y": "1/3", "z": "1/3"},
    ("b", "z"): {"x": 1, "y": 0, "z": 0},
}


def exactly() -> tuple[dict[str, Fraction], dict[tuple[str, str], Fraction]]:
    """Return the chance of a wrong value, and what is released, in fractions."""
    wrong = {"a": Fraction(0), "b": Fraction(0)}
    released: dict[tuple[str, str], Fraction] = {}
    for (name, value), row in ROWS.items():
        mass = GRAPH.distribution(name)[value]
        for output, chance in row.items():
            part = mass * Fraction(chance)
            released[name, output] = released.get((name, output), Fraction(0)) + part
            wrong[name] += part if output != value else 0
    return wrong, released


def test_a_matrix_for_each_profile() -> None:
    found = profile_errors(Channel.from_rows(ROWS), GRAPH)
    wrong, released = exactly()
    assert found.wrong.tolist() == pytest.approx([float(wrong[name]) for name in "ab"])
    assert found.mean_wrong == pytest.approx(float((wrong["a"] + wrong["b"]) / 2))
    assert found.released == pytest.approx(
        np.array([[float(released[name, value]) for value in "xyz"] for name in "ab"])
    )
    costs = [
        max(abs(GRAPH.distribution(name)[value] - released[name, value]) for name in "ab")
        for value in "xyz"
    ]
    assert found.marginal.tolist() == pytest.approx([float(cost) for cost in costs])
    # z never occurs under b, so that its row corrupts nothing.
    assert found.largest == pytest.approx(1 / 3)


def test_profiles_may_count_differently() -> None:
    weights = Prior.from_counts({"a": 3, "b": 1})
    wrong, _ = exactly()
    found = profile_errors(Channel.from_rows(ROWS), GRAPH, weights)
    assert found.mean_wrong == pytest.approx(float((3 * wrong["a"] + wrong["b"]) / 4))


def test_the_order_of_rows_and_outputs_does_not_matter() -> None:
    turned = {pair: dict(reversed(list(ROWS[pair].items()))) for pair in reversed(list(ROWS))}
    one, other = (profile_errors(Channel.from_rows(rows), GRAPH) for rows in (ROWS, turned))
    assert one.released == pytest.approx(other.released)
    assert one.wrong == pytest.approx(other.wrong)


def test_one_matrix_for_all() -> None:
    channel = Channel.identity("xyz")
    assert blocks_of(channel, GRAPH).shape == (1, 3, 3)
    found = profile_errors(channel, GRAPH)
    assert found.largest == 0.0
    assert found.mean_wrong == pytest.approx(0.0, abs=1e-15)
    distribution = np.array([[1 / 6, 1 / 3, 1 / 2], [3 / 4, 1 / 4, 0]]).mean(axis=0)
    assert found.information == pytest.approx(-float((distribution * np.log(distribution)).sum()))


def test_outputs_that_are_not_values() -> None:
    channel = Channel.from_rows({value: {"other": 1} for value in "xyz"})
    with pytest.raises(InputError, match="an output that is not a value of the profiles"):
        profile_errors(channel, GRAPH)


def test_weights_may_be_shares_in_the_order_of_the_profiles() -> None:
    channel = Channel.from_rows(ROWS)
    named = profile_errors(channel, GRAPH, {"a": 1, "b": 3})
    shares = profile_errors(channel, GRAPH, np.array([0.25, 0.75]))
    assert shares.mean_wrong == named.mean_wrong
    for wrong in ([0.5, 0.25, 0.25], [0.5, 0.6], [1.5, -0.5], [np.nan, 1.0]):
        with pytest.raises(InputError, match="the weights are not shares of the profiles"):
            profile_errors(channel, GRAPH, np.array(wrong))


def test_a_utility_that_is_made_passes_through() -> None:
    made = ProfileUtility.of(GRAPH, "hamming", weights={"a": 1, "b": 3})
    assert ProfileUtility.of(GRAPH, made) is made
    other = ProfileGraph.bernoulli(["0.1", "0.2", "0.3"])
    with pytest.raises(InputError, match="the utility is for another graph"):
        ProfileUtility.of(other, made)
    with pytest.raises(InputError, match="a loss or weights are given with it"):
        ProfileUtility.of(GRAPH, made, weights={"a": 1, "b": 1})
