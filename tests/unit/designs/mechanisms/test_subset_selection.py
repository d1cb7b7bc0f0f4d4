"""Subset selection: its distribution counted subset by subset, the size, and what is refused."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from liftlock import Prior, design
from liftlock.designs import k_rr, subset_selection
from liftlock.errors import InputError
from liftlock.notions import LDP, LIP
from liftlock.utility import make_utility, value


def test_law() -> None:
    draft = subset_selection(Prior.uniform("abcde"), LDP("1"), size=2)
    subsets = list(itertools.combinations("abcde", 2))
    assert draft.outputs.labels == tuple("{" + ", ".join(s) + "}" for s in subsets)
    weights = np.array([[math.e if x in s else 1.0 for s in subsets] for x in "abcde"])
    assert draft.matrix == pytest.approx(weights / weights.sum(axis=1, keepdims=True))


def test_one_symbol_is_randomised_response() -> None:
    prior = Prior.uniform("abc")
    assert subset_selection(prior, LDP("1"), size=1).matrix == pytest.approx(
        k_rr(prior, LDP("1")).matrix
    )


def test_size_is_the_better_neighbour() -> None:
    """For the utility that is asked for, no other size is better under a uniform prior."""
    prior = Prior.uniform(range(9))
    goal = make_utility("mutual-information", prior.alphabet)
    masses = prior.floats()
    values = [
        value(goal, subset_selection(prior, LDP("1"), size=w).matrix, masses) for w in range(1, 9)
    ]
    chosen = subset_selection(prior, LDP("1"), utility=goal)
    assert value(goal, chosen.matrix, masses) == pytest.approx(max(values))


@pytest.mark.parametrize("notion", [LDP("1"), LIP("0.01"), LIP("8")], ids=str)
def test_kept(notion: LDP | LIP) -> None:
    mechanism = design(
        Prior.from_counts({"a": 1, "b": 2, "c": 7, "d": 3}), notion, method="subset-selection"
    )
    assert mechanism.certificate.holds


def test_labels_that_look_like_subsets() -> None:
    draft = subset_selection(Prior.uniform(["a", "b", "a, b", "c", "b, c"]), LDP("1"), size=2)
    assert len(set(draft.outputs.labels)) == 10


def test_refusals() -> None:
    with pytest.raises(InputError, match="too many for a table"):
        subset_selection(Prior.uniform(range(40)), LDP("0.5"))
    with pytest.raises(InputError, match="impossible size"):
        subset_selection(Prior.uniform("abc"), LDP("1"), size=4)
