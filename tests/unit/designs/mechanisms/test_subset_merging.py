"""Subset merging: Algorithm 1 step by step, against brute force, and for every notion."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from liftlock import Joint, Prior
from liftlock.designs import lock, subset_merging, watchdog
from liftlock.designs.mechanisms.watchdog import Pool, equivocation, printed_risk, safe_subsets
from liftlock.errors import NotCertified
from liftlock.exact.integers import Floats
from liftlock.notions import ALIP, LDP, LIP, MaxLift, Notion
from tests.unit.designs.mechanisms.test_merging import NOTIONS, exact_verdict, random_joint


def partitions(items: list[int]) -> Iterator[list[list[int]]]:
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for found in partitions(rest):
        yield [[first], *found]
        for i in range(len(found)):
            yield [*found[:i], [first, *found[i]], *found[i + 1 :]]


@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_every_notion_is_kept_and_the_watchdog_is_never_better(notion: Notion) -> None:
    rng = np.random.default_rng(8)
    better = 0
    for number in range(20):
        joint = random_joint(rng, 3, 8, number % 2)
        draft = subset_merging(joint, notion)
        assert lock(draft, notion, joint).blend == 0
        groups = [np.flatnonzero(column).tolist() for column in draft.matrix.T]
        crowd = [np.flatnonzero(column).tolist() for column in watchdog(joint, notion).matrix.T]
        pool = Pool.of(joint, notion)
        assert equivocation(pool, groups) <= equivocation(pool, crowd) + 1e-12
        better += equivocation(pool, groups) < equivocation(pool, crowd) - 1e-9
    assert better


def test_greedy_is_near_the_best_partition() -> None:
    """All 4140 partitions of 8 symbols: what the greedy one loses is little, and it is safe."""
    rng = np.random.default_rng(9)
    notion = LIP("0.5")
    lost = []
    for _ in range(3):
        joint = random_joint(rng, 2, 8, 1)
        pool = Pool.of(joint, notion)
        groups = safe_subsets(pool, *pool.split())
        assert all(exact_verdict(joint, group, notion) for group in groups)
        verdicts: dict[tuple[int, ...], bool] = {}

        def safe(group: list[int], joint: Joint = joint, known: dict = verdicts) -> bool:  # type: ignore[type-arg]
            key = tuple(sorted(group))
            if key not in known:
                known[key] = exact_verdict(joint, list(key), notion)
            return bool(known[key])

        best = min(
            equivocation(pool, found)
            for found in partitions(list(range(8)))
            if all(safe(group) for group in found)
        )
        found = equivocation(pool, groups)
        assert found >= best - 1e-12
        entropy = -float(pool.masses @ np.log(pool.masses))
        lost.append((found - best) / entropy)
    assert max(lost) < 0.25


def test_subsets_grow_from_the_highest_risk() -> None:
    """Lifts of a and b are mirror images, so are those of c and d: two pairs."""
    joint = Joint.from_counts(
        {"s": {"a": 30, "b": 5, "c": 20, "d": 45}, "t": {"a": 5, "b": 30, "c": 45, "d": 20}}
    )
    assert subset_merging(joint, LIP("0.3")).outputs.labels == ("a | b", "c | d")
    assert len(watchdog(joint, LIP("0.3")).outputs) == 1


def test_the_printed_algorithm_does_not_merge_in_subsets_and_may_leak() -> None:
    joint = Joint.from_counts(
        {"s": {"a": 30, "b": 5, "c": 20, "d": 45}, "t": {"a": 5, "b": 30, "c": 45, "d": 20}}
    )
    assert len(subset_merging(joint, LIP("0.3"), as_published=True).outputs) == 1
    leaks = Joint.from_counts({"s": {"a": 25, "b": 23, "c": 2}, "t": {"a": 20, "b": 20, "c": 10}})
    published = subset_merging(leaks, LIP("0.4"), as_published=True)
    assert "does not keep the budget" in published.remarks[-1]
    with pytest.raises(NotCertified):
        lock(published, LIP("0.4"), leaks)
    assert lock(subset_merging(leaks, LIP("0.4")), LIP("0.4"), leaks).certificate.holds


def test_when_the_secret_is_x_itself() -> None:
    prior = Prior.from_counts({"a": 1, "b": 1, "c": 1, "d": 1, "e": 8})
    draft = subset_merging(prior, MaxLift("ln 6"))
    assert draft.outputs.labels == ("a | b", "c | d", "e")
    assert lock(draft, MaxLift("ln 6"), prior).certificate.holds
    assert len(subset_merging(prior, LIP("5")).outputs) == 1


def test_ldp_zero_cells_and_a_single_symbol() -> None:
    joint = Joint.from_counts({"s": {"a": 4, "b": 0, "c": 2}, "t": {"a": 0, "b": 4, "c": 2}})
    assert subset_merging(joint, LDP("0.1")).outputs.labels == ("a | b", "c")
    alone = Joint.from_counts({"s": {"a": 1}, "t": {"a": 2}})
    assert subset_merging(alone, LIP("0.1")).matrix.tolist() == [[1.0]]


def test_large_joints() -> None:
    rng = np.random.default_rng(10)
    joint = random_joint(rng, 15, 200, 1)
    draft = subset_merging(joint, LIP("0.6"))
    assert lock(draft, LIP("0.6"), joint).certificate.holds
    assert len(draft.outputs) > 20


def test_the_printed_risks() -> None:
    """002 section 4.1: max-lift + min-lift for ALIP, their ratio for LDP, the larger logarithm."""
    joint = Joint.from_counts(
        {"s": {"a": 40, "b": 10, "c": 25, "d": 25}, "t": {"a": 10, "b": 15, "c": 55, "d": 20}}
    )
    lifts = np.array([[1.6, 0.8, 0.625, 10 / 9], [0.4, 1.2, 1.375, 8 / 9]])
    most, least = lifts.max(axis=0), lifts.min(axis=0)
    printed: tuple[tuple[Notion, Floats], ...] = (
        (LIP("0.1"), np.maximum(most, 1 / least)),
        (ALIP(lower="0.1", upper="0.1"), np.maximum(most, 1 / least)),
        (ALIP(lower="0.2", upper="0.1"), most + least),
        (LDP("0.1"), most / least),
    )
    for notion, expected in printed:
        pool = Pool.of(joint, notion)
        found = printed_risk(pool, notion)(pool.amounts)
        assert np.argsort(found).tolist() == np.argsort(expected).tolist()
        assert found == pytest.approx(expected)
