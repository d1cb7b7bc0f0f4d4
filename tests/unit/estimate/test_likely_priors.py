"""The set of priors that reports allow: its ends on fractions, and what it is refused for."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import liftlock as ll
from liftlock.estimate import Aggregate
from liftlock.estimate.likely_priors import ReportScores, Round, bet_interval, likely_priors
from liftlock.files import read_priors

LABELS = list("abcde")


def made(method: str, size: int = 5, epsilon: str = "1") -> ll.Mechanism:
    return ll.design(ll.Prior.uniform(LABELS[:size]), ll.LDP(epsilon), method=method)


@pytest.mark.parametrize("method", ["k-rr", "subset-selection", "oue"])
def test_ends_are_clopper_pearson_pulled_back(method: str) -> None:
    """At each end the reports are as unlikely as beta / 2 m, by scipy's binomial."""
    mechanism = made(method)
    people = np.random.default_rng(1).choice(LABELS, 600, p=[0.5, 0.3, 0.1, 0.1, 0.0]).tolist()
    reports = mechanism.simulate(people, seed=2)
    near = ll.Prior.from_estimate(mechanism.estimate(reports), "0.95")
    assert near.confidence == Fraction(19, 20)
    for place in range(5):
        if method == "oue":
            seen = mechanism.aggregate(reports).counts[place]
            channel = mechanism.channel
            own, other = float(channel.hit), float(channel.miss)  # type: ignore[union-attr]
        else:
            rows = mechanism.table.floats()
            chosen = rows[place] > 1.5 * rows.min(axis=0)
            chances = rows @ chosen
            own, other = chances[place], np.delete(chances, place).mean()
            outputs = mechanism.table.outputs
            seen = int(chosen[outputs.encode(reports)].sum())
        low, high = float(near.lower[place]), float(near.upper[place])
        if low > 0:
            assert binom.sf(seen - 1, 600, other + (own - other) * low) == pytest.approx(
                0.005, 0.05
            )
        if seen > 600 * other:
            assert binom.cdf(seen, 600, other + (own - other) * high) == pytest.approx(0.005, 0.05)
        assert high > 0


def test_bets_are_won_with_the_right_probability() -> None:
    """Of all numbers of reports that can be, those whose interval misses the share are rare."""
    values, alpha = np.array([-0.5, 1.5]), Fraction(1, 40)
    for share in (0.05, 0.3, 0.5, 0.9):
        missed = [0.0, 0.0]
        for seen in range(101):
            chance = float(binom.pmf(seen, 100, 0.25 + share / 2))
            if chance < 1e-9:
                continue
            counts = np.array([100.0 - seen, seen])
            scores = type("Scores", (), {})()
            scores.values, scores.counts, scores.spread, scores.off = values, counts, 1.0, 0.0
            low, high = bet_interval([scores], alpha)
            missed[0] += chance * (share < low)
            missed[1] += chance * (share > high)
        assert max(missed) <= float(alpha)


def test_two_rounds_say_more_than_one() -> None:
    optimal = ll.design(
        ll.Prior.from_counts(dict(zip(LABELS[:3], (6, 3, 2), strict=True))),
        ll.LIP("1"),
        method="arc",
    )
    response = made("k-rr", 3)
    shares = np.array([0.5, 0.3, 0.2])
    rounds = []
    for mechanism in (optimal, response):
        rows = mechanism.table.floats()
        seen = np.rint(4000 * shares @ rows).astype(int)
        seen[0] += 4000 - seen.sum()
        sums = Aggregate(mechanism.channel.fingerprint, tuple(seen.tolist()), 4000)
        rounds.append(Round(mechanism.table, sums, mechanism.known_prior))
    widths = [
        [float(b - a) for a, b in zip(near.lower, near.upper, strict=True)]
        for near in (likely_priors(rounds, "0.99"), *(likely_priors([r], "0.99") for r in rounds))
    ]
    assert all(x < min(y, z) for x, y, z in zip(*widths, strict=True))


def test_reports_that_do_not_determine_the_shares() -> None:
    """The LDP optimum for a histogram has two outputs: what it says is little, and true."""
    prior = ll.Prior.from_counts({"a": 6, "b": 3, "c": 2})
    two = ll.lock(
        ll.Draft.of("abc", [0, 1], [[0.7, 0.3], [0.3, 0.7], [0.3, 0.7]]), ll.LDP("1"), prior
    )
    near = ll.Prior.from_estimate(two.estimate([0] * 500 + [1] * 500))
    assert all(a <= p <= b for a, p, b in zip(near.lower, (0.5, 0.2, 0.3), near.upper, strict=True))
    assert float(near.upper[1]) > 0.5


def test_a_set_is_stored_with_its_confidence(tmp_path: Path) -> None:
    found = made("k-rr", 3).estimate(["a"] * 500 + ["b"] * 300 + ["c"] * 200)
    near = ll.Prior.from_estimate(found, "0.99")
    path = tmp_path / "next.json"
    path.write_text(json.dumps(near.to_data()), encoding="utf-8")
    again = read_priors(path)
    assert again == near
    assert again.fingerprint == near.fingerprint
    assert "confidence 99 % (1,000 reports)" in again.describe()
    mechanism = ll.design(near, ll.LIP("1"), method="k-rr")
    assert "with confidence 99 % over 1,000 reports, lip(epsilon=1)" in str(mechanism)
    assert "at worst ldp=" in str(mechanism)
    mechanism.save(tmp_path / "made.json")
    assert ll.Mechanism.load(tmp_path / "made.json") == mechanism
    forged = json.loads(mechanism.to_json())
    forged["context"]["confidence"] = "999/1000"
    with pytest.raises(ll.InputError, match="another context"):
        ll.Mechanism.from_data(forged)
    turned = near.reordered(ll.Alphabet.of("cba"))
    assert (turned.confidence, turned.lower[0]) == (near.confidence, near.lower[2])


def test_a_point_is_refused_with_the_reason() -> None:
    found = made("k-rr", 3).estimate(["a"] * 10)
    with pytest.raises(ll.InputError, match="an estimate is not a prior"):
        ll.Prior.from_estimate(found, confidence=None)
    with pytest.raises(ll.InputError, match="certainty"):
        ll.Prior.from_estimate(found, confidence=1)
    with pytest.raises(ll.InputError, match="not an estimate"):
        ll.Prior.from_estimate({"a": 0.5})
    weighted = made("k-rr", 3).estimate(["a"] * 10, weights=2.0)
    with pytest.raises(ll.NotDefined, match="weighted"):
        ll.Prior.from_estimate(weighted)
    # Reports that no prior explains: nobody supports anything.
    channel: Any = made("oue").channel
    silent = Round(channel, Aggregate(channel.fingerprint, (0,) * 5, 5000))
    with pytest.raises(ll.InputError, match="no prior explains"):
        likely_priors([silent], "0.99")


def test_bets_of_a_round_do_not_depend_on_later_tables() -> None:
    """A later table may follow from earlier reports: one that says nothing changes no bet."""
    coin = ReportScores(np.array([-0.5, 1.5]), np.array([600.0, 400.0]), 1.0, 0.0)
    silent = [
        ReportScores(np.array([0.0, 1.0]), np.array([0.0, 0.0]), spread, 0.0)
        for spread in (0.01, 1.0, 100.0)
    ]
    ends = {bet_interval([coin, later], Fraction(1, 40), 2000) for later in silent}
    assert ends == {bet_interval([coin], Fraction(1, 40), 2000)}
