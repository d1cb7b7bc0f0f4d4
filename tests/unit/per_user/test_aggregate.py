"""Sums of posteriors: exact, the same in any order, and nothing partly counted."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from liftlock import PerUserPriors, design
from liftlock.errors import FileError, InputError, LabelError
from liftlock.estimate import PerUserAggregate
from liftlock.notions import ALIP, LIP
from liftlock.sampling import prior_counts
from tests.unit.per_user.worlds import (
    LABELS,
    METHODS,
    exact_posteriors,
    posteriors_of,
    some_masses,
    world,
)

NOTIONS = [LIP("1"), ALIP(lower="2", upper="0.4"), LIP("ln 4")]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_sums_are_exact(method: Any, notion: LIP | ALIP) -> None:
    mechanism, priors, reports = world(method, notion=notion)
    assert priors.masses is not None
    found = mechanism.aggregate(reports, priors, coded=True)
    exact = exact_posteriors(mechanism, priors.masses, reports)
    counts = prior_counts(priors.masses)
    for symbol in range(len(LABELS)):
        column = [row[symbol] for row in exact]
        assert found.posteriors[symbol] == sum(column) * 2**64
        squares = sum((value**2 for value in column), Fraction(0))
        assert abs(float(squares - Fraction(found.squares[symbol], 2**42))) < 40 * 2.0**-42
        variance = sum((value * (1 - value) for value in column), Fraction(0))
        assert found.variances()[symbol] == pytest.approx(float(variance), rel=1e-9, abs=1e-11)
        assert found.priors[symbol] == counts[:, symbol].sum()
        masses = [Fraction(count, 2**32) for count in counts[:, symbol].tolist()]
        farthest = max(abs(a - b) for a, b in zip(column, masses, strict=True))
        assert farthest * 2**32 <= found.reaches[symbol] <= 2**32
    assert len(found) == found.reports == 40


@pytest.mark.parametrize("method", METHODS)
def test_variances_of_posteriors(method: Any) -> None:
    """`spreads` against all outputs of each user: symbols, or a grid of 2^16 starts."""
    mechanism, priors, reports = world(method, users=12)
    assert priors.masses is not None
    found = mechanism.aggregate(reports, priors, coded=True)
    expected = np.zeros(len(LABELS))
    for user in range(12):
        row = priors.masses[user : user + 1]
        outputs: npt.NDArray[Any]
        if method == "arc":
            outputs = np.arange(0, 2**32, 2**16, dtype=np.uint64).astype(np.uint32)
            chances = np.full(len(outputs), 2.0**-16)
        else:
            outputs = np.flatnonzero(row[0])
            chances = row[0][outputs]
        each = np.repeat(row, len(outputs), axis=0)
        posteriors = posteriors_of(mechanism, each, outputs)
        means = chances @ posteriors
        assert means == pytest.approx(row[0], abs=1e-8)
        expected += chances @ (posteriors - means) ** 2
    assert found.floats("spreads") == pytest.approx(expected, rel=1e-7, abs=1e-10)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("asked", [{}, {"of": "survey", "value": ["a", "c"]}], ids=["all", "some"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_merging_in_any_order_gives_the_same_bits(
    method: Any, asked: dict[str, Any], weighted: bool
) -> None:
    users = 3000  # several blocks of the sampler
    mechanism, priors, reports = world(method, users)
    rng = np.random.default_rng(5)
    numbers = {
        "weights": rng.normal(size=users) * 10.0 ** rng.integers(-9, 9, users),
        "offsets": rng.normal(size=users),
    }
    if not weighted:
        numbers = {}

    def part(some: Any) -> PerUserAggregate:
        assert priors.masses is not None
        return mechanism.aggregate(
            reports[some],
            PerUserPriors.of(LABELS, priors.masses[some]),
            coded=True,
            **asked,
            **{name: values[some] for name, values in numbers.items()},
        )

    whole = part(slice(None)).to_json()
    assert part(rng.permutation(users)).to_json() == whole
    cuts = [0, 1, 700, 1725, 2999, users]
    pieces = [part(slice(a, b)) for a, b in pairwise(cuts)]
    assert reduce(add, pieces).to_json() == whole
    a, b, c, d, e = pieces
    assert ((d + (b + e)) + (c + a)).to_json() == whole
    nothing = PerUserAggregate.empty(mechanism.users_fingerprint, len(LABELS))
    assert (nothing + part(slice(None)) + nothing).to_json() == whole
    assert PerUserAggregate.from_data(json.loads(whole)).to_json() == whole


def test_files(tmp_path: Path) -> None:
    mechanism, priors, reports = world("arc")
    found = mechanism.aggregate(
        reports, priors, "survey", value=["a", "b"], weights=np.arange(40) / 3
    )
    found.save(tmp_path / "sums.json")
    assert PerUserAggregate.load(tmp_path / "sums.json") == found
    for key, value in (
        ("reports", 41),
        ("posteriors", [0] * 5),
        ("squares", [-1, 0, 0, 0, 0]),
        ("priors", [1]),
        ("asked", {"columns": []}),
        ("version", 2),
    ):
        with pytest.raises(FileError):
            PerUserAggregate.from_data(found.to_data() | {key: value})


@pytest.mark.parametrize("method", METHODS)
def test_refusals(method: Any) -> None:
    mechanism, priors, reports = world(method)
    good = mechanism.aggregate(reports, priors, coded=True)
    with pytest.raises(InputError, match="no reports"):
        mechanism.aggregate([], PerUserPriors.of(LABELS, np.empty((0, 5))))
    with pytest.raises(InputError, match="39 reports for 40 priors"):
        mechanism.aggregate(reports[:39], priors, coded=True)
    with pytest.raises(InputError, match="weight is not a finite number at user 4"):
        mechanism.aggregate(
            reports, priors, coded=True, weights=np.where(np.arange(40) == 3, np.nan, 1.0)
        )
    with pytest.raises(InputError, match="offsets of shape"):
        mechanism.aggregate(reports, priors, coded=True, offsets=[1.0])
    with pytest.raises(InputError, match="weights are not numbers"):
        mechanism.aggregate(reports, priors, coded=True, weights=["x"] * 40)
    with pytest.raises(InputError, match="too large"):
        mechanism.aggregate(reports, priors, coded=True, weights=[1e200] * 40)
    other = design(LABELS, LIP("2"), method=method)
    with pytest.raises(InputError, match="different mechanisms"):
        good + other.aggregate(reports, priors, coded=True)
    with pytest.raises(InputError, match="different questions"):
        good + mechanism.aggregate(reports, priors, coded=True, weights=np.ones(40))
    with pytest.raises(InputError, match="another mechanism"):
        other.estimate(good)
    with pytest.raises(InputError, match="another question"):
        mechanism.estimate(good, of="survey", value=["a", "b"])
    with pytest.raises(InputError, match="reports have no per-user priors"):
        mechanism.estimate(reports)
    with pytest.raises(InputError, match="which contains them"):
        mechanism.estimate(good, priors=priors)


def test_refused_reports() -> None:
    masses = some_masses(40)
    priors = PerUserPriors.of(LABELS, masses)
    arc = design(LABELS, LIP("1"), method="arc")
    with pytest.raises(InputError, match="outside the circle"):
        arc.aggregate(np.full(40, 2**32), priors)
    with pytest.raises(InputError, match="whole numbers"):
        arc.aggregate(np.ones(40), priors)
    safe = design(LABELS, LIP("1"), method="safe-response")
    with pytest.raises(LabelError, match="unknown label"):
        safe.aggregate(["z"] * 40, priors)
    with pytest.raises(InputError, match="outside the output alphabet"):
        safe.aggregate(np.full(40, 5), priors, coded=True)
    with pytest.raises(InputError, match="probability 0 under the user's prior at report 21"):
        safe.aggregate(["b"] * 40, priors)
