"""Which cells are more than chance, against exact fractions."""

from __future__ import annotations

import math
import random
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

from liftlock.tables.protect.chance import Crossing, RarePools, tail_within


def tail(both: int, marked: int, drawn: int, rows: int) -> Fraction:
    """P(X >= both) by counting subsets."""
    ways = sum(
        math.comb(marked, hits) * math.comb(rows - marked, drawn - hits)
        for hits in range(both, min(marked, drawn) + 1)
        if drawn - hits <= rows - marked
    )
    return Fraction(ways, math.comb(rows, drawn))


def test_tails_are_those_of_fractions() -> None:
    chance = random.Random(3)
    decided = Counter[bool]()
    for _ in range(2_000):
        rows = chance.randint(2, 300)
        marked, drawn = chance.randint(1, rows - 1), chance.randint(1, rows - 1)
        both = chance.randint(max(0, marked + drawn - rows), min(marked, drawn))
        if both * rows <= marked * drawn:
            continue
        exact = tail(both, marked, drawn, rows)
        for level in (1e-2, 1e-4, 1e-6, float(exact) * 1.0001, float(exact) * 0.9999):
            assert tail_within(level, both, marked, drawn, rows) == (exact <= level)
            decided[exact <= level] += 1
    assert min(decided.values()) > 500


def test_a_large_tail_is_summed_and_not_judged_by_its_first_term() -> None:
    # 2,000 of 8,000 by half of them: each term is near the next.
    exact = float(tail(1_090, 2_000, 4_000, 8_000))
    assert tail_within(exact * 1.0001, 1_090, 2_000, 4_000, 8_000)
    assert not tail_within(exact * 0.9999, 1_090, 2_000, 4_000, 8_000)


@pytest.mark.parametrize("seed", range(20))
def test_cells_that_stand_out_are_those_of_fractions(seed: int) -> None:
    chance = random.Random(seed)
    pairs = []
    for _ in range(chance.randint(50, 600)):
        secret = chance.choice("rstu")
        tells = chance.random() < 0.5
        pairs.append((secret, secret.upper() if tells else chance.choice("RSTUVW")))
    counts = Counter(pairs)
    secrets, values = Counter(s for s, _ in pairs), Counter(v for _, v in pairs)
    rows, level = len(pairs), Fraction(1, 100) / (2 * len(secrets) * len(values))
    expected = set()
    for secret, marked in secrets.items():
        for value, drawn in values.items():
            both = counts[secret, value]
            above = tail(both, marked, drawn, rows)
            below = tail(drawn - both, rows - marked, drawn, rows)
            if min(above, below) <= level:
                expected.add((secret, value, both, marked * drawn / rows))
    assert set(Crossing(counts).stand_out()) == expected
    assert expected


def test_a_secret_that_nearly_all_have_is_missed_where_it_is_not() -> None:
    counts = {("well", "a"): 990, ("ill", "b"): 4, ("ill", "a"): 6}
    assert set(Crossing(counts).stand_out()) == {
        ("ill", "b", 4, 0.04),
        ("ill", "a", 6, 9.96),
        ("well", "b", 0, 3.96),
        ("well", "a", 990, 986.04),
    }


def test_a_rise_of_two_nats_is_seen_in_ten_rows() -> None:
    # One in e^2 has the secret; ten rows of a value all have it, and 50 other values say nothing.
    counts: dict[tuple[str, Any], int] = {("s", "told"): 10}
    for value in range(50):
        counts["s", value], counts["t", value] = 27, 173
    found = list(Crossing(counts).stand_out())
    assert [(secret, value) for secret, value, *_ in found] == [("s", "told"), ("t", "told")]
    both, expected = found[0][2:]
    assert math.log(both / expected) == pytest.approx(2, abs=0.01)
    # Its exact tail is 2e-9; of 4 rows it is 3e-4, which one of 102 cells may well have.
    assert list(Crossing(counts | {("s", "told"): 4}).stand_out()) == []


def test_values_are_too_rare_to_judge_where_not_even_certainty_would_stand_out() -> None:
    few = {(secret, value): 6 for secret in "st" for value in range(20)}
    assert Crossing(few).share_of(Crossing(few).rare) == 1
    mixed = few | {(secret, "large"): 240 for secret in "st"}
    assert Crossing(mixed).rare == tuple(range(20))
    assert Crossing(mixed).share_of(range(20)) == pytest.approx(1 / 3)
    assert Crossing({}).rare == ()


def test_rare_values_that_go_with_the_secret_stand_out_together() -> None:
    told = {(secret, f"{secret}{at}"): 3 for secret in "st" for at in range(40)}
    told |= {(secret, "large"): 500 for secret in "st"} | {("s", "single"): 1}
    seen = RarePools.of(Crossing(told))
    # One row of three names the secret, and two are counted.
    assert {cell[:3] for cell in seen.stand_out()} == {
        ("s", "s", 80),
        ("t", "t", 80),
        ("s", "t", 0),
        ("t", "s", 0),
    }
    assert seen.judged == pytest.approx(240 / 1241)
    assert seen.skipped == pytest.approx(1 / 1241)


def test_the_row_that_names_a_pool_is_not_counted_in_it() -> None:
    # Values of two rows each: had both been counted, every pool would look full of its secret.
    chance = random.Random(2)
    counts = Counter((chance.choice("st"), at // 2) for at in range(2000))
    seen = RarePools.of(Crossing(counts))
    assert list(seen.stand_out()) == []
    assert seen.judged == 1
    assert sum(seen.crossing.counts.values()) == 1000


def test_pools_that_are_rare_themselves_judge_nothing() -> None:
    seen = RarePools.of(Crossing({("s", "a"): 2, ("t", "b"): 2, ("s", "c"): 300, ("t", "c"): 300}))
    assert seen.judged == 0
    assert seen.skipped == pytest.approx(4 / 604)


def test_the_same_rows_in_another_order_make_the_same_pools() -> None:
    chance = random.Random(2)
    counts = Counter((chance.choice("st"), at // 4) for at in range(400))
    backwards = dict(reversed(list(counts.items())))
    one, other = (RarePools.of(Crossing(each)).crossing for each in (counts, backwards))
    assert sorted(one.values.values()) == sorted(other.values.values())
