"""Panels: unbiased by enumeration, and intervals that hold for fixed truths."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import liftlock as ll
from liftlock.errors import InputError
from liftlock.estimate.panel import PanelTable, count_panel, estimate_panel
from liftlock.estimate.question import ask

VALUES = ll.Alphabet.of(["a", "b", "c"], [0, 1, 5])
PRIORS = [
    ll.Prior(VALUES, counts)
    for counts in [(5, 3, 2), (1, 8, 1), (2, 2, 6), (4, 4, 2), (30, 2, 1), (1, 1, 1), (3, 1, 6)]
]


@pytest.fixture(scope="module")
def tables() -> list[tuple[ll.Table, PanelTable]]:
    made = [
        ll.design(prior, ll.LIP("3/2"), utility="frequencies", gap=0.01).table for prior in PRIORS
    ]
    return [(each, PanelTable.of(each, prior)) for each, prior in zip(made, PRIORS, strict=True)]


@pytest.mark.parametrize("truth", list(itertools.product(range(3), repeat=3)))
def test_the_estimate_is_right_on_average(
    truth: tuple[int, ...], tables: list[tuple[ll.Table, PanelTable]]
) -> None:
    """Of three people with a table each, every combination of reports, with its chance."""
    three = tables[:3]
    mean, total = np.zeros(3), 0.0
    for outputs in itertools.product(*(range(each.rows.shape[1]) for _, each in three)):
        chance = 1.0
        counts = []
        for (_, each), x, y in zip(three, truth, outputs, strict=True):
            chance *= each.rows[x, y]
            counts.append((each, np.eye(each.rows.shape[1], dtype=int)[y].tolist()))
        counted = count_panel(counts, ask(VALUES, "histogram"))
        assert counted.scores is not None
        sums = np.array([[float(x) for x in each.sums] for each in counted.scores]).sum(axis=0)
        variances = np.array([[float(x) for x in each.variances] for each in counted.scores])
        mean += chance * sums
        total += chance * variances.sum()
    assert mean == pytest.approx(np.bincount(truth, minlength=3), abs=1e-9)
    # The variance is estimated without bias too: that of the sum of all three answers.
    exact = 0.0
    for (_, each), x in zip(three, truth, strict=True):
        scores = each.inverse.matrix
        means = each.rows[x] @ scores
        exact += float((each.rows[x] @ (scores - means) ** 2).sum())
    assert total == pytest.approx(exact)


def test_one_table_for_all_says_what_its_inverse_says(
    tables: list[tuple[ll.Table, PanelTable]],
) -> None:
    channel, table = tables[0]
    counts = [90 + 11 * place for place in range(table.rows.shape[1])]
    found = estimate_panel([(table, counts)], channel, "histogram")
    assert [answer.raw for answer in found.answers] == pytest.approx(
        (np.array(counts) @ table.inverse.matrix).tolist()
    )
    total = estimate_panel([(table, counts)], channel, "sum")
    assert total.answer.raw == pytest.approx(np.array(counts) @ table.inverse.matrix @ [0, 1, 5])


def test_people_who_share_a_table_may_be_counted_apart(
    tables: list[tuple[ll.Table, PanelTable]],
) -> None:
    channel, table = tables[1]
    counts = [[3, 5] + [2] * (table.rows.shape[1] - 2), [4, 0] + [1] * (table.rows.shape[1] - 2)]
    apart = estimate_panel([(table, each) for each in counts], channel)
    joined = estimate_panel([(table, [a + b for a, b in zip(*counts, strict=True)])], channel)
    for one, other in zip(apart.answers, joined.answers, strict=True):
        assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))


def draw(rng: np.random.Generator, table: PanelTable, number: Any) -> list[int]:
    """Return how often each output is reported by so many people with each value."""
    drawn = [rng.multinomial(n, row / row.sum()) for n, row in zip(number, table.rows, strict=True)]
    return [int(count) for count in np.sum(drawn, axis=0)]


@pytest.mark.parametrize("of", ["histogram", "mean"])
@pytest.mark.parametrize("which", ["all a", "least likely", "by the priors"])
def test_intervals_hold_whatever_the_truth(
    of: str, which: str, tables: list[tuple[ll.Table, PanelTable]]
) -> None:
    """280 people of seven priors, 250 times: at least 95 % of the intervals, but for chance."""
    rng, each_has, rounds = np.random.default_rng(7), 40, 250
    truths = []
    for _, table in tables:
        shares = table.masses
        number = {
            "all a": np.array([each_has, 0, 0]),
            "least likely": each_has * np.eye(3, dtype=int)[shares.argmin()],
            "by the priors": rng.multinomial(each_has, shares / shares.sum()),
        }[which]
        truths.append(number)
    people = np.sum(truths, axis=0)
    true = people if of == "histogram" else np.array([people @ [0, 1, 5] / people.sum()])
    held = np.zeros(len(true))
    for _ in range(rounds):
        counts = [
            (table, draw(rng, table, number))
            for (_, table), number in zip(tables, truths, strict=True)
        ]
        found = estimate_panel(counts, tables[0][0], of)
        for place, answer in enumerate(found.answers):
            assert answer.low is not None
            assert answer.high is not None
            held[place] += answer.low - 1e-9 <= true[place] <= answer.high + 1e-9
    # Fewer than 228 of 250 have a chance of 0.3 % at a level of 95 %.
    assert held.min() >= 228, held


def test_tables_that_determine_nothing_are_not_read() -> None:
    prior = ll.Prior.uniform(["a", "b"])
    blind = ll.Channel.from_rows({"a": {"r1": 1}, "b": {"r1": 1}})
    clear = ll.design(prior, ll.LIP("1"), method="safe-response").table
    pair = [(PanelTable.of(blind, prior), [50]), (PanelTable.of(clear, prior), [30, 20])]
    found = estimate_panel(pair, clear)
    assert found.reports == 100
    for answer in found.answers:
        assert answer.low is not None
        assert answer.high is not None
        # Of the 50 who say nothing, any number may have the value.
        assert answer.high - answer.low >= 50


def test_counts_must_fit(tables: list[tuple[ll.Table, PanelTable]]) -> None:
    with pytest.raises(InputError, match="do not fit the outputs"):
        estimate_panel([(tables[0][1], [1])], tables[0][0])
    size = tables[0][1].rows.shape[1]
    with pytest.raises(InputError, match="no reports"):
        estimate_panel([(tables[0][1], [0] * size)], tables[0][0])
