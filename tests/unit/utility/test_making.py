"""Utilities by name, from numbers, losses and functions; and those that are refused."""

from __future__ import annotations

import numpy as np
import pytest

from liftlock import Alphabet
from liftlock.errors import InputError
from liftlock.utility import CustomUtility, Distortion, Histogram, Mean, make_utility, restrict


def test_names_are_forgiving_and_objects_pass_through() -> None:
    assert make_utility(" Mutual_Information ", Alphabet.of("ab")).name == "mutual-information"
    own = Histogram()
    assert make_utility(own, Alphabet.of("ab")) is own
    with pytest.raises(InputError, match="unknown utility: 'joy'; use one of mutual-information"):
        make_utility("joy", Alphabet.of("ab"))


@pytest.mark.parametrize("name", ["hamming", "absolute", "squared"])
def test_a_named_distortion_keeps_its_name(name: str) -> None:
    goal = make_utility(name, Alphabet.of([1, 2]))
    assert goal.name == name
    assert name in goal.title


def test_numbers_come_from_coordinates_or_labels() -> None:
    assert Mean.of(Alphabet.of(["1", "2.5", "1/4"])).points == (1.0, 2.5, 0.25)
    assert Mean.of(Alphabet.of("ab", [7, 9])).points == (7.0, 9.0)
    for label in ("old", True):
        with pytest.raises(InputError, match="needs numbers, but a label is not a number"):
            Mean.of(Alphabet.of([label, 3]))


def test_a_large_offset_does_not_drown_the_variance() -> None:
    goal = Mean.of(Alphabet.of([10**9, 10**9 + 1]))
    assert goal.costs(np.array([[0.5, 0.5]]))[0] == pytest.approx(0.25, abs=1e-12)


def test_losses_that_cannot_be() -> None:
    with pytest.raises(InputError, match="one column for each reproduction"):
        Distortion.of([[0, 1]], "abc")
    with pytest.raises(InputError, match="not a finite number"):
        Distortion.of([[0, np.inf]], "ab")
    with pytest.raises(InputError, match="unknown loss: 'cubic'"):
        Distortion.from_name("cubic", Alphabet.of([1, 2]))
    with pytest.raises(InputError, match="posteriors of 3 symbols, losses for 2"):
        Distortion.of(np.zeros((2, 2)), "ab").costs(np.full((1, 3), 1 / 3))
    with pytest.raises(InputError, match="posteriors of 3 symbols, numbers for 2"):
        Mean((0.0, 1.0)).costs(np.full((1, 3), 1 / 3))


def test_an_own_cost_must_be_concave_and_finite() -> None:
    with pytest.raises(InputError, match="not concave"):
        CustomUtility(lambda v: float((v**2).sum()), symbols=3)
    with pytest.raises(InputError, match="not a finite number"):
        CustomUtility(lambda v: float("nan"), symbols=3)
    gini = CustomUtility(lambda v: float(1 - (v**2).sum()), symbols=3, name="gini", title="Gini")
    rows = np.random.default_rng(1).dirichlet(np.ones(3), 9)
    np.testing.assert_allclose(gini.costs(rows), Histogram().costs(rows), atol=1e-15)
    np.testing.assert_allclose(gini.slopes(rows), Histogram().slopes(rows), atol=1e-5)


def test_restricting_to_some_symbols() -> None:
    loss = np.array([[0.0, 4.0], [2.0, 1.0], [3.0, 0.0]])
    rows = np.array([[0.25, 0.75], [1.0, 0.0]])
    wide = np.array([[0.25, 0.0, 0.75], [1.0, 0.0, 0.0]])
    for goal in (
        Histogram(),
        Mean((1.0, 7.0, 3.0)),
        Distortion.of(loss, "yz"),
        CustomUtility(lambda v: float(1 - (v**2).sum()), symbols=3),
    ):
        narrow = restrict(goal, [0, 2], 3)
        np.testing.assert_allclose(narrow.costs(rows), goal.costs(wide), atol=1e-15)
        assert restrict(goal, [0, 1, 2], 3) is goal


def test_numbers_whose_squares_floats_cannot_hold() -> None:
    with pytest.raises(InputError, match="too large to be squared"):
        make_utility("mean", Alphabet.of([0, 10**200]))
    assert make_utility("absolute", Alphabet.of([0, 10**200])).name == "absolute"
