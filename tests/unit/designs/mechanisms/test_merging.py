"""Merged symbols: gauges agree with the exact notions, repair ends in safe sets."""

from __future__ import annotations

import math

import numpy as np
import pytest

from liftlock import Alphabet, Channel, Joint, Prior
from liftlock.designs.mechanisms import watchdog
from liftlock.designs.mechanisms.watchdog import Pool
from liftlock.errors import InputError, NotDefined
from liftlock.notions import (
    ALIP,
    LDP,
    LIP,
    AlphaLift,
    AlphaLiftInverse,
    Chi2Lift,
    Chi2LiftInverse,
    L1Lift,
    L1LiftInverse,
    MaxLift,
    MinLift,
    Notion,
)

NOTIONS: list[Notion] = [
    LIP("0.4"),
    ALIP(lower="0.8", upper="0.3"),
    MaxLift("0.3"),
    MinLift("0.6"),
    LDP("0.9"),
    L1Lift("0.3"),
    L1LiftInverse("0.4"),
    Chi2Lift("0.12"),
    Chi2LiftInverse("0.2"),
    AlphaLift("1.5", "1.05"),
    AlphaLift("100", "1.3"),
    AlphaLift("inf", "1.3"),
    AlphaLiftInverse("2", "1.1"),
    AlphaLiftInverse("inf", "1.6"),
]
by_notion = pytest.mark.parametrize("notion", NOTIONS, ids=str)


def random_joint(rng: np.random.Generator, secrets: int, inputs: int, least: int = 0) -> Joint:
    cells = rng.integers(least, 6, (secrets, inputs))
    cells[0, cells.sum(axis=0) == 0] = 1
    cells[cells.sum(axis=1) == 0, 0] = 1
    labels = Alphabet.of([f"x{i}" for i in range(inputs)])
    return Joint.from_rows(Alphabet.of(range(secrets)), labels, cells.tolist())


def conditioned(joint: Joint, subset: list[int]) -> tuple[Channel, Joint | Prior]:
    """Return a channel whose every output has the lifts of the subset.

    A copy of the symbols is added that makes up for the subset, so that one output stands for the
    subset and the other for the rest; the verdict on the first alone is wanted.
    """
    rows = {
        label: {"in": int(i in subset), "out": int(i not in subset)}
        for i, label in enumerate(joint.inputs.labels)
    }
    return Channel.from_rows(rows), joint


def exact_verdict(joint: Joint, subset: list[int], notion: Notion) -> bool:
    """Judge one set by fractions and plain floats, from the counts alone."""
    total = joint.total
    size = sum(row[i] for row in joint.counts for i in subset)
    pairs = [
        (sum(row) / total, sum(row[i] for i in subset) * total / (sum(row) * size))
        for row in joint.counts
    ]
    lifts = [lift for _, lift in pairs]
    top, bottom = max(lifts), min(lifts)
    inverse = [(p, 1 / lift if lift else math.inf) for p, lift in pairs]
    if isinstance(notion, LIP):
        e = math.exp(float(notion.epsilon))
        return top <= e and bottom >= 1 / e
    if isinstance(notion, ALIP):
        return top <= math.exp(float(notion.upper)) and bottom >= math.exp(-float(notion.lower))
    budget = float(notion.budget)  # type: ignore[attr-defined]
    if isinstance(notion, MaxLift):
        return top <= math.exp(budget)
    if isinstance(notion, MinLift):
        return bottom >= math.exp(-budget)
    if isinstance(notion, LDP):
        return bottom > 0 and top / bottom <= math.exp(budget)
    values = inverse if "inverse" in notion.name else pairs
    if "l1" in notion.name:
        return sum(p * abs(v - 1) for p, v in values) <= budget
    if "chi2" in notion.name:
        return sum(p * (v - 1) ** 2 for p, v in values) <= budget
    order = notion.alpha  # type: ignore[attr-defined]
    if order is None:
        return max(v for _, v in values) <= budget
    alpha = float(order)
    return bool(sum(p * v**alpha for p, v in values) ** (1 / alpha) <= budget)


@by_notion
def test_sets_are_judged_as_the_notion_judges_them(notion: Notion) -> None:
    rng = np.random.default_rng(1)
    seen = {True: 0, False: 0}
    for number in range(150):
        joint = random_joint(rng, int(rng.integers(1, 5)), int(rng.integers(2, 7)), number % 2)
        subset = np.flatnonzero(rng.random(len(joint.inputs)) < 0.7).tolist() or [0]
        verdict = exact_verdict(joint, subset, notion)
        assert Pool.of(joint, notion).is_safe(subset) == verdict
        seen[verdict] += 1
    assert min(seen.values()) > 5


@by_notion
def test_a_prior_is_a_joint_of_x_with_itself(notion: Notion) -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        counts = rng.integers(1, 9, 4)
        prior = Prior.from_counts((f"x{i}", int(c)) for i, c in enumerate(counts))
        diagonal = Joint.from_rows(prior.alphabet, prior.alphabet, np.diag(counts).tolist())
        for subset in ([0], [1, 2], [0, 1, 3], [0, 1, 2, 3]):
            alone = Pool.of(prior, notion).is_safe(subset)
            assert alone == Pool.of(diagonal, notion).is_safe(subset)
            assert alone or len(subset) < 4


@by_notion
def test_repair_keeps_the_symbols_and_ends_safe(notion: Notion) -> None:
    rng = np.random.default_rng(3)
    repaired = 0
    for number in range(60):
        joint = random_joint(rng, 3, 8, number % 2)
        pool = Pool.of(joint, notion)
        low, high = pool.split()
        for start in filter(None, (high, high[:1])):
            others = [[x] for x in range(8) if x not in start]
            *rest, crowd = watchdog.absorb_until_safe(pool, start, others)
            assert sorted([*crowd, *(x for group in rest for x in group)]) == list(range(8))
            assert set(start) <= set(crowd)
            assert exact_verdict(joint, crowd, notion)
            repaired += len(crowd) > len(start)
            # Nothing superfluous: no symbol that was absorbed could be given back.
            for x in set(crowd) - set(start):
                assert not exact_verdict(joint, [y for y in crowd if y != x], notion)
        assert all(exact_verdict(joint, [x], notion) for x in low)
    assert repaired


def test_several_notions_at_once_are_the_tightest_of_them() -> None:
    rng = np.random.default_rng(4)
    both = [L1Lift("0.3"), L1LiftInverse("0.2")]
    for _ in range(50):
        joint = random_joint(rng, 3, 5, 1)
        pool = Pool.of(joint, *both)
        for x in range(5):
            expected = all(Pool.of(joint, notion).is_safe([x]) for notion in both)
            assert pool.is_safe([x]) == expected


def test_equivocation_is_the_entropy_left() -> None:
    joint = Joint.from_counts({"s": {"a": 1, "b": 2, "c": 1}, "t": {"a": 1, "b": 0, "c": 3}})
    pool = Pool.of(joint, LIP("1"))
    a, b, c = 2 / 8, 2 / 8, 4 / 8
    expected = -(a * np.log(a / (a + b)) + b * np.log(b / (a + b)))
    assert watchdog.equivocation(pool, [[0, 1], [2]]) == pytest.approx(expected, abs=1e-15)
    assert watchdog.equivocation(pool, [[0], [1], [2]]) == pytest.approx(0, abs=1e-15)
    assert c == pool.masses[2]


def test_names_stay_different() -> None:
    inputs = Alphabet.of(["a", "b", "a | b", "c"])
    assert watchdog.names_of(inputs, [[0, 1], [2], [3]]) == ["a | b (2)", "a | b", "c"]
    many = Alphabet.of(range(40))
    names = watchdog.names_of(many, [list(range(20)), list(range(20, 40))])
    assert names == ["0 | 1 | 2 | 3 | 15 more | 19", "20 | 21 | 22 | 23 | 15 more | 39"]


def test_orders_and_budgets_without_meaning_are_refused() -> None:
    prior = Prior.uniform("ab")
    with pytest.raises(InputError, match="smallest feasible budget is 1"):
        Pool.of(prior, AlphaLift("2", "0.9"))
    with pytest.raises(NotDefined, match="order of 1 or more"):
        Pool.of(prior, AlphaLift("1/2", "1.1"))
    with pytest.raises(InputError, match="probability 0"):
        Pool.of(Prior.from_counts({"a": 1, "b": 0}), LIP("1"))


def test_the_oracle_of_this_file_agrees_with_the_audit() -> None:
    """A set and its complement are both judged by the channel that tells them apart."""
    rng = np.random.default_rng(5)
    for _ in range(40):
        joint = random_joint(rng, 3, 5, 1)
        channel, context = conditioned(joint, [0, 1])
        audited = ALIP(lower="0.4", upper="0.4").certify(channel, context).holds
        sides = [exact_verdict(joint, side, LIP("0.4")) for side in ([0, 1], [2, 3, 4])]
        assert audited == all(sides)
