"""The utility over a set of priors, against many priors of the set and closed forms."""

from __future__ import annotations

import re

import numpy as np
import pytest

import liftlock as ll
from liftlock.designs.utility_range import utility_range
from liftlock.model import Ball, Family, Intervals, PriorSet
from liftlock.utility import CustomUtility, Utility, make_utility, value

DEMO = ll.Prior.from_counts({0: 700, 1: 200, 2: 100})
FAR = ll.Prior.from_counts({0: 1, 1: 1, 2: 1})
BOX = Intervals.of({0: ("0.5", "0.8"), 1: ("0.1", "0.4"), 2: (0, "0.2")})
SETS = [
    Family.of([DEMO, FAR]),
    BOX,
    Ball.of(DEMO, "0.05"),
    Ball.of(DEMO, "0.15"),  # more than the rarest has
    Ball.of(ll.Prior.from_counts({0: 9, 1: 1, 2: 0}), "0.2"),
]
UTILITIES = ["histogram", "mutual-information", "guess", "mean", "absolute", "squared"]


def drawn(
    context: PriorSet, count: int, seed: int
) -> list[np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """Priors of a set: mixtures of the extreme ones of random directions."""
    generator = np.random.default_rng(seed)
    columns = generator.integers(0, 1000, size=(3 * count, 3))
    corners = np.array([context.extreme(c, least=False).floats() for c in columns])
    shares = generator.dirichlet([0.3] * 3, size=count)
    mixed = np.einsum("ck,ckx->cx", shares, corners.reshape(count, 3, 3))
    return [*corners, *mixed]


@pytest.mark.parametrize("name", UTILITIES)
@pytest.mark.parametrize("place", range(len(SETS)))
def test_every_prior_of_the_set_lies_within_and_the_ends_are_attained(
    name: str, place: int
) -> None:
    context = SETS[place]
    utility: Utility = make_utility(name, context.inputs)
    generator = np.random.default_rng(place)
    matrix = generator.dirichlet([0.5] * 4, size=3)
    found = utility_range(utility, matrix, context)
    assert found is not None
    values = [value(utility, matrix, masses) for masses in drawn(context, 500, place)]
    slack = 1e-12
    assert found.least - slack <= min(values)
    assert max(values) <= found.most + slack
    if found.attained:
        size = max(abs(found.most), 1e-3)
        assert min(values) <= found.least + 0.05 * size
        assert max(values) >= found.most - 0.05 * size


def test_hamming_under_a_family_by_hand() -> None:
    """Truth with 3/4: guesses err in 1/4, or in P(b) where always guessing "a" is better."""
    flip = np.array([[0.75, 0.25], [0.25, 0.75]])
    pair = Family.of([ll.Prior.from_counts({"a": 9, "b": 1}), ll.Prior.uniform("ab")])
    found = utility_range(make_utility("guess", pair.inputs), flip, pair)
    assert found is not None
    assert found.least == pytest.approx(0.1, rel=1e-8)
    assert found.most == pytest.approx(0.25, rel=1e-5)
    assert (found.least <= 0.1, found.most >= 0.25) == (True, True)


def test_the_capacity_of_a_flip_is_its_most_information() -> None:
    """Over all priors I(X; Y) of a flip is from 0 to ln 2 - h(p), at the even one."""
    p = 0.2
    flip = np.array([[1 - p, p], [p, 1 - p]])
    every = Intervals.all_priors("ab")
    found = utility_range(make_utility("mutual-information", every.inputs), flip, every)
    assert found is not None
    capacity = np.log(2) + p * np.log(p) + (1 - p) * np.log(1 - p)
    assert found.least == 0
    assert capacity <= found.most <= capacity * (1 + 1e-5)


def test_too_many_vertices_leave_bounds() -> None:
    many = Intervals.of(dict.fromkeys(range(20), ("0.02", "0.1")))
    utility = make_utility("histogram", many.inputs)
    matrix = np.eye(20) * 0.5 + 0.5 / 20
    found = utility_range(utility, matrix, many)
    assert found is not None
    assert not found.attained
    assert str(found).startswith("between ")
    generator = np.random.default_rng(1)
    for _ in range(200):
        prior = many.extreme(generator.integers(0, 9, size=20), least=True).floats()
        assert found.least <= value(utility, matrix, prior) <= found.most


def test_of_somebodys_own_cost_no_range_is_claimed() -> None:
    gini = CustomUtility(lambda v: 1 - (v**2).sum(), symbols=3)
    assert utility_range(gini, np.eye(3), SETS[0]) is None
    made = ll.design(SETS[0], ll.LIP("1"), utility=gini, method="k-rr")
    assert made.origin is not None
    assert any("its range over the set is not known" in text for text in made.origin.remarks)


def test_the_choice_and_the_range_are_said() -> None:
    made = ll.design(Ball.of(DEMO, "0.02"), ll.LIP("1"), utility="histogram", method="k-rr")
    assert made.origin is not None
    (said,) = [text for text in made.origin.remarks if "the utility is that under" in text]
    assert said.startswith("the utility is that under the centre of the ball, which is liftlock's")
    least, most = map(float, re.findall(r"[0-9][0-9.]+[0-9]", said))
    assert least < made.origin.objective < most
    found = ll.compare(Ball.of(DEMO, "0.02"), ll.LIP, ["k-rr"], ["1"], "histogram")
    ends = found.curves[0].points[0].over_set
    assert ends is not None
    assert ends.least < found.curves[0].points[0].objective < ends.most
    assert found.to_data()["prior"] == "the centre of the ball"
