"""Numbers in bands: equal shares, nothing lost, and no alarm by chance alone."""

from __future__ import annotations

import random
from collections import Counter

from liftlock.tables.protect.chance import Crossing
from liftlock.tables.protect.inspect import BANDS, measure_leak, merge_into_bands


def test_bands_hold_about_as_many_rows_each_and_keep_the_order() -> None:
    chance = random.Random(3)
    counts = Counter(
        (chance.choice("ab"), chance.choice((str(chance.random()), 7, 7.5, None, "unknown")))
        for _ in range(4_000)
    )
    joined = merge_into_bands(counts)
    assert joined is not None
    assert sum(joined.values()) == sum(counts.values())
    sizes = Counter[object]()
    for (_, band), number in joined.items():
        sizes[band] += number
    numbers = sum(number for (_, value), number in counts.items() if value not in (None, "unknown"))
    # The number 7 is the largest and in a band of its own with those just below.
    bands = [sizes[band] for band in range(BANDS) if sizes[band]]
    assert sum(bands) == numbers
    assert sizes[None] + sizes["unknown"] == 4_000 - numbers


def test_few_numbers_and_texts_stay_as_they_are() -> None:
    assert merge_into_bands({("a", number): 3 for number in range(50)}) is None
    assert merge_into_bands({("a", f"name {number}"): 1 for number in range(500)}) is None
    assert merge_into_bands({("a", True): 5, ("a", False): 5}) is None


def test_what_tells_nothing_hardly_ever_raises_an_alarm() -> None:
    """At most 1 of 100 tables does, so more than 6 of 50 with probability below 1e-6."""
    chance = random.Random(5)
    alarms = 0
    for _ in range(50):
        rows = [(chance.choices("abcd", (3, 3, 3, 1))[0], chance.random()) for _ in range(2_000)]
        joined = merge_into_bands(Counter(rows))
        assert joined is not None
        alarms += measure_leak(Crossing(joined)) != (0.0, 0.0)
    assert alarms <= 6


def test_what_tells_is_found_although_every_number_is_rare() -> None:
    chance = random.Random(7)
    rows = []
    for _ in range(2_000):
        secret = chance.choice("ab")
        rows.append((secret, chance.gauss(0 if secret == "a" else 1.5, 1)))
    joined = merge_into_bands(Counter(rows))
    assert joined is not None
    lower, upper = measure_leak(Crossing(joined))
    assert lower > 1
    assert 0.5 < upper <= 0.7  # a belief of one half can rise to one: ln 2
