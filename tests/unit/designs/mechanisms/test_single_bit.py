"""The two-profile mechanism: its closed form, what it ignores, and what it refuses."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from liftlock import ProfileGraph
from liftlock.designs import design, single_bit
from liftlock.errors import InputError
from liftlock.notions import ProfilePrivacy
from liftlock.utility import ProfileUtility
from tests.profile_oracles import flip_rows, solved


def test_published_example() -> None:
    graph = ProfileGraph.bernoulli(["0.8", "0.9"])
    mechanism = design(graph, "0.5", method="single-bit")
    assert mechanism.origin is not None
    assert mechanism.origin.objective == pytest.approx(0.04886, abs=5e-6)
    assert mechanism.origin.gap == pytest.approx(0.0, abs=1e-8)
    # It does not ask for the profile.
    assert mechanism.channel.inputs.labels == (0, 1)


def test_certain_profiles_need_warner() -> None:
    for epsilon in ("0.1", "1", "ln 3"):
        graph = ProfileGraph.bernoulli({"never": 0, "always": 1})
        draft = single_bit(graph, ProfilePrivacy(epsilon))
        value = math.log(3) if epsilon == "ln 3" else float(epsilon)
        assert draft.matrix[0, 1] == pytest.approx(1 / (1 + math.exp(value)), abs=1e-8)
        assert design(graph, epsilon, method="single-bit").certificate.holds


def test_the_flip_is_the_least_one_that_serves_both_profiles() -> None:
    source = np.random.default_rng(1)
    for _ in range(200):
        p, q = (Fraction(int(n), 1000) for n in source.integers(0, 1001, 2))
        epsilon = float(source.choice([0.1, 0.5, 1, 2]))
        graph = ProfileGraph.bernoulli({"p": p, "q": q})
        flip = float(single_bit(graph, ProfilePrivacy(str(epsilon))).matrix[0, 1])
        rows, ends = flip_rows(graph, math.exp(epsilon))
        # One flip for both.
        least, _ = solved([1.0], (rows.sum(axis=1, keepdims=True), ends), most=0.5)
        assert flip == pytest.approx(least, abs=5e-9)
        assert flip >= least - 1e-9


def test_every_flip_is_certified() -> None:
    source = np.random.default_rng(2)
    for _ in range(40):
        p, q = (Fraction(int(n), 10**9) for n in source.integers(0, 10**9, 2))
        if source.random() < 0.3:
            p /= 10**8
        graph = ProfileGraph.bernoulli({"p": p, "q": q})
        for epsilon in ("0", "0.01", "1", "5", "60"):
            mechanism = design(graph, epsilon, method="single-bit", utility="hamming")
            assert mechanism.certificate.holds


def test_profiles_that_are_near_enough_are_left_alone() -> None:
    draft = single_bit(ProfileGraph.bernoulli(["0.9", "0.95"]), ProfilePrivacy("1"))
    assert (draft.matrix == np.eye(2)).all()


def test_the_optimum_is_claimed_only_for_aims_that_a_flip_minimises() -> None:
    graph = ProfileGraph.bernoulli(["0.8", "0.9"])
    notion = ProfilePrivacy("0.5")
    for aim in ("minimax", "hamming"):
        proved = single_bit(graph, notion, utility=ProfileUtility.of(graph, aim)).optimality
        assert proved is not None
        assert proved.bound <= proved.cost
        assert proved.gap < 1e-8
    assert single_bit(graph, notion, utility=ProfileUtility.of(graph, "squared")).optimality is None


@pytest.mark.parametrize(
    ("graph", "remedy"),
    [
        (ProfileGraph.bernoulli(["0.1", "0.2", "0.3"]), "smooth-one-bit or cluster"),
        (ProfileGraph.chain({"a": {0: 1, 1: 1, 2: 1}, "b": {0: 1}}), "smooth-categorical"),
    ],
)
def test_other_graphs_are_refused_with_the_remedy(graph: ProfileGraph, remedy: str) -> None:
    with pytest.raises(InputError, match=remedy):
        design(graph, "1", method="single-bit")
