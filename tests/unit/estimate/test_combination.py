"""Several collections: groups add up, rounds pool, both against sums and formulas made by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import liftlock as ll
from liftlock.estimate import Aggregate, combine

LABELS = ["none", "cold", "flu"]
NORTH = ll.Prior.from_counts({"none": 7, "cold": 2, "flu": 1})
SOUTH = ll.Prior.from_counts({"flu": 2, "none": 5, "cold": 3})


def response(prior: ll.Prior, epsilon: str, method: str = "k-rr") -> ll.Mechanism:
    return ll.design(prior, ll.LDP(epsilon), method=method)


def counted(mechanism: ll.Mechanism, shares: Any, people: int, seed: int = 1) -> Aggregate:
    """Reports of people who are drawn from the shares of `LABELS`."""
    values = np.random.default_rng(seed).choice(LABELS, people, p=shares).tolist()
    return mechanism.aggregate(mechanism.simulate(values, seed=seed))


def test_groups_add_up() -> None:
    """The estimates of groups, in whatever order their values are, and their variances."""
    north, south = response(NORTH, "1"), response(SOUTH, "2")
    assert north.channel.inputs.labels != south.channel.inputs.labels
    one, two = counted(north, [0.6, 0.3, 0.1], 2000), counted(south, [0.2, 0.3, 0.5], 1000, 2)
    both = combine([(north, one), (south, two)], interval="normal")
    assert both.reports == both.total == 3000
    for label in LABELS:
        alone = [m.estimate(a, interval="normal")[label] for m, a in ((north, one), (south, two))]
        assert both[label].value == pytest.approx(sum(answer.value for answer in alone))
        error = both[label].error
        assert error is not None
        assert error**2 == pytest.approx(sum((x.error or 0) ** 2 for x in alone), rel=0.05)
    assert both.holds == "whatever the truth"
    assert "2 groups of different people, whose answers add up" in both.remarks
    assert both.beside is not None
    assert both.fit is not None
    parts = ((NORTH, north.estimate(one)), (SOUTH, south.estimate(two)))
    for drift in both.fit.drifts:
        label, number = str(drift.name).split(" in collection ")
        prior, single = parts[int(number) - 1]
        assert single.fit is not None
        assert drift.expected == pytest.approx(float(prior[label]))
        own = {each.name: each.found for each in single.fit.drifts}
        assert drift.found == pytest.approx(own[label])
    posterior = sum(
        m.estimate(a, method="bayes")["flu"].value for m, a in ((north, one), (south, two))
    )
    assert dict(zip(LABELS, both.beside.answers, strict=True))["flu"].value == pytest.approx(
        posterior
    )


def test_means_and_weights_of_groups() -> None:
    ages = ll.Prior.from_counts({20: 3, 30: 4, 40: 3})
    parts = []
    total = weight = 0.0
    for seed, epsilon in enumerate(("1", "2")):
        made = response(ages, epsilon)
        people = np.random.default_rng(seed).choice([20, 30, 40], 500).tolist()
        weights = np.random.default_rng(seed + 5).uniform(0.5, 2, 500)
        sums = made.aggregate(made.simulate(people, seed=seed), weights=weights)
        own = made.estimate(sums, "sum").answer
        total += own.value if own.raw is None else own.raw
        weight += weights.sum()
        parts.append((made, sums))
    assert combine(parts, "sum").value == pytest.approx(total)
    assert combine(parts, "mean").value == pytest.approx(total / weight)
    plain = (parts[0][0], parts[0][0].aggregate([20] * 10))
    assert combine([parts[1], plain], "sum").total == pytest.approx(
        np.random.default_rng(6).uniform(0.5, 2, 500).sum() + 10
    )


def test_rounds_are_pooled_with_the_least_variance() -> None:
    """Scores and variance against (sum_r n_r J_r)^-1, with numpy's own inverse."""
    first, second = response(NORTH, "1"), ll.design(SOUTH, ll.LIP("1"), method="arc")
    sizes = (3000, 1500)
    shares = np.array([0.5, 0.3, 0.2])
    sums = [counted(m, shares, n, 3) for m, n in zip((first, second), sizes, strict=True)]
    found = combine([(first, sums[0]), (second, sums[1])], rounds=True, interval="normal")
    assert found.about == "population"
    nominal = sum(
        n * np.array([float(p[label]) for label in LABELS])
        for p, n in ((NORTH, sizes[0]), (SOUTH, sizes[1]))
    ) / sum(sizes)
    information = np.zeros((3, 3))
    score = np.zeros(3)
    for made, size, seen in zip((first, second), sizes, sums, strict=True):
        order = [made.channel.inputs.index(label) for label in LABELS]
        rows = made.table.floats()[order]
        information += size * rows / (nominal @ rows) @ rows.T
        score += rows @ (np.array(seen.counts) / (nominal @ rows))
    expected = np.linalg.solve(information, score) * sum(sizes)
    values = [a.value if a.raw is None else a.raw for a in found.answers]
    assert values == pytest.approx(expected.tolist())
    # No round by itself is as precise, nor are both together if each is read by itself.
    for label in LABELS:
        alone = [
            (m.estimate(a, interval="normal", about="population")[label].error or 0) / n
            for m, a, n in zip((first, second), sums, sizes, strict=True)
        ]
        own = (found[label].error or 0) / sum(sizes)
        assert own < min(alone)
        assert own <= (1 / sum(error**-2 for error in alone)) ** 0.5 * 1.03


def test_rounds_that_tell_nothing_alone_can_do_so_together() -> None:
    """Two questions with two answers each determine three shares."""
    rows = {"a": [0.8, 0.2], "b": [0.2, 0.8], "c": [0.2, 0.8]}
    other = {"a": [0.3, 0.7], "b": [0.3, 0.7], "c": [0.8, 0.2]}
    uniform = ll.Prior.uniform("abc")
    made = [
        ll.lock(ll.Draft.of("abc", [0, 1], list(table.values())), ll.LDP("2"), uniform)
        for table in (rows, other)
    ]
    sums = [m.aggregate([0] * 400 + [1] * 600) for m in made]
    for mechanism, seen in zip(made, sums, strict=True):
        assert mechanism.estimate(seen).method == "range"
    both = combine(zip(made, sums, strict=True), rounds=True)
    assert both.method == "unbiased"
    assert [a.value for a in both.answers] == pytest.approx(
        [2000 / 3, 2000 * (1 - 1 / 3 - 0.2), 400]
    )


@pytest.mark.parametrize("rounds", [False, True])
def test_encodings_beside_tables(rounds: bool) -> None:
    table, encoding = response(NORTH, "1"), response(SOUTH, "1", "oue")
    parts: list[Any] = [(table, counted(table, [0.5, 0.3, 0.2], 800))]
    values = np.random.default_rng(3).choice(LABELS, 900, p=[0.5, 0.3, 0.2]).tolist()
    parts.append((encoding, encoding.aggregate(encoding.simulate(values, seed=4))))
    found = combine(parts, rounds=rounds)
    assert [answer.name for answer in found.answers] == LABELS
    if not rounds:
        alone = [m.estimate(a, method="unbiased") for m, a in parts]
        for label in LABELS:
            assert found[label].value == pytest.approx(sum(e[label].value for e in alone))
    with pytest.raises(ll.NotDefined, match="survey of one value"):
        combine(parts, "survey", value=["cold", "flu"])


def test_users_of_two_mechanisms_add_up() -> None:
    rng = np.random.default_rng(8)
    parts, total = [], 0.0
    for seed, (method, epsilon) in enumerate((("arc", "1"), ("safe-response", "2"))):
        made = ll.design(LABELS, ll.LIP(epsilon), method=method)
        masses = rng.dirichlet(np.full(3, 30.0), 400)
        priors = ll.PerUserPriors.of(LABELS, masses)
        people = rng.choice(LABELS, 400).tolist()
        sums = made.aggregate(made.simulate(people, priors, seed=seed), priors)
        parts.append((made, sums))
        total += made.estimate(sums)["flu"].value
    found = combine(parts)
    assert found["flu"].value == pytest.approx(total)
    with pytest.raises(ll.NotDefined, match="not one population"):
        combine(parts, rounds=True)
    table = response(NORTH, "1")
    with pytest.raises(ll.InputError, match="beside counts"):
        combine([parts[0], (table, table.aggregate(["flu"]))])


def test_refusals() -> None:
    north = response(NORTH, "1")
    seen = north.aggregate(["flu", "cold"])
    other = response(ll.Prior.uniform(["a", "b", "c"]), "1")
    with pytest.raises(ll.InputError, match="no collections"):
        combine([])
    with pytest.raises(ll.InputError, match="different values"):
        combine([(north, seen), (other, ["a"])])
    with pytest.raises(ll.InputError, match="another mechanism"):
        combine([(response(NORTH, "2"), seen)])
    with pytest.raises(ll.InputError, match="given twice"):
        combine([(north, seen), (north, seen)])
    reports = ["flu", "cold"]
    with pytest.raises(ll.InputError, match="given twice"):
        combine([(north, reports), (north, reports)])
    with pytest.raises(ll.InputError, match="samples of one population"):
        combine([(north, seen), (north, ["flu"])], rounds=True, about="people")
    with pytest.raises(ll.InputError, match="not a mechanism"):
        combine([("north", seen)])  # type: ignore[list-item]
    weighted = north.aggregate(["flu"], weights=2.0)
    with pytest.raises(ll.NotDefined, match="weighted reports"):
        combine([(north, seen), (north, weighted)], rounds=True)


@pytest.mark.parametrize("rounds", [False, True])
def test_encodings_hold_together(rounds: bool) -> None:
    """Intervals that are to hold at once share the error, and those of two values too."""
    made = ll.design(ll.Prior.uniform("ab"), ll.LDP("1"), method="oue")
    parts = [(made, made.aggregate(made.simulate(list("ab") * 100, seed=s))) for s in (1, 2)]
    both = combine(parts, rounds=rounds, together=True)
    each = combine(parts, rounds=rounds, level="0.975")
    assert both.promise.startswith("both intervals hold together at 95 %")
    assert [(x.low, x.high) for x in both.answers] == [(x.low, x.high) for x in each.answers]
    alone = made.estimate(parts[0][1], together=True)
    wider = made.estimate(parts[0][1], level="0.975")
    assert [(x.low, x.high) for x in alone.answers] == [(x.low, x.high) for x in wider.answers]


def test_intervals_of_encodings_hold_together() -> None:
    made = ll.design(NORTH, ll.LDP("1"), method="oue")
    parts = [(made, counted(made, [0.6, 0.3, 0.1], 2000, seed)) for seed in (1, 2)]
    together = combine(parts, together=True)
    third = combine(parts, level=1 - 0.05 / 3)
    assert together.promise == "all 3 intervals hold together at 95 % whatever the truth"
    for one, other in zip(together.answers, third.answers, strict=True):
        assert (one.low, one.high) == (other.low, other.high)
