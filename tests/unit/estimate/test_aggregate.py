"""Aggregates: merged in any order they are the same bits, and nothing is partly counted."""

from __future__ import annotations

import json
import pickle
import random
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock import Channel
from liftlock.errors import FileError, InputError, LabelError
from liftlock.estimate import Aggregate
from liftlock.exact.budget import Budget
from liftlock.model.structured import HashingChannel, UnaryChannel
from tests.unit.estimate.worlds import ILL

UNARY = UnaryChannel.optimal(range(5), Budget.of("1"))
LABELS = ILL.outputs.labels
WEIGHTS = st.floats(-1e100, 1e100)
REPORTS = st.lists(st.tuples(st.sampled_from(LABELS), WEIGHTS), min_size=1, max_size=12)


def merged(parts: list[Aggregate], choices: random.Random) -> Aggregate:
    """Merge in any order and grouping: two at a time, chosen at random."""
    parts = list(parts)
    while len(parts) > 1:
        left = parts.pop(choices.randrange(len(parts)))
        right = parts.pop(choices.randrange(len(parts)))
        parts.append(left + right)
    return parts[0]


@given(REPORTS, st.randoms(use_true_random=False), st.booleans())
def test_any_order_and_grouping_gives_the_same_bits(
    reports: list[tuple[Any, float]], choices: random.Random, weighted: bool
) -> None:
    def of(some: list[tuple[Any, float]]) -> Aggregate:
        column = [label for label, _ in some]
        if not weighted:
            return Aggregate.of(ILL, column)
        numbers = [weight for _, weight in some]
        return Aggregate.of(ILL, column, weights=numbers, offsets=numbers[::-1])

    whole = of(reports)
    shuffled = list(reports)
    choices.shuffle(shuffled)
    cuts = sorted(choices.sample(range(len(reports) + 1), k=min(3, len(reports))))
    pieces = [shuffled[a:b] for a, b in zip([0, *cuts], [*cuts, len(reports)], strict=True)]
    parts = [of(piece) for piece in pieces if piece] + [Aggregate.empty(ILL)]
    assert merged(parts, choices).to_json() == whole.to_json()
    assert Aggregate.from_data(json.loads(whole.to_json())) == whole
    assert whole.counts == tuple(Counter(label for label, _ in reports)[y] for y in LABELS)


def test_weights_add_up_exactly() -> None:
    found = Aggregate.of(ILL, ["flu", "flu", "cold"], weights=[0.1, 0.2, -1e-30], offsets=0.5)
    assert found.weights is not None
    assert found.weights.sums == (Fraction(0), Fraction(-1e-30), Fraction(0.1) + Fraction(0.2))
    assert found.weights.offset == Fraction(3, 2)
    assert found.weights.least == Fraction(-1e-30)
    assert found.weights.total == sum(found.weights.sums)
    assert found.weights.squares[2] == Fraction(0.1**2) + Fraction(0.2**2)


@pytest.mark.parametrize("channel", [UNARY, HashingChannel.optimal(range(5), Budget.of("1"))])
def test_encodings_count_support(channel: UnaryChannel | HashingChannel) -> None:
    generator = np.random.default_rng(4)
    high = 32 if isinstance(channel, UnaryChannel) else channel.buckets
    packed = generator.integers(0, 256, size=(50, channel.report_bytes), dtype=np.uint8)
    packed[:, -1] = generator.integers(0, high, size=50)
    sets = channel.support_matrix(packed)
    weights = generator.normal(size=50)
    whole = Aggregate.of(channel, packed, weights=weights)
    assert whole.counts == tuple(sets.sum(axis=0).tolist())
    parts = Aggregate.of(channel, packed[30:], weights=weights[30:]) + Aggregate.of(
        channel, packed[:30], weights=weights[:30]
    )
    assert parts.to_json() == whole.to_json()
    assert whole.amounts() == pytest.approx(weights @ sets)
    assert whole.weights is not None
    assert whole.weights.total == sum((Fraction(w) for w in weights.tolist()), Fraction(0))


@pytest.mark.parametrize(
    ("reports", "options", "message"),
    [
        (["flu", "plague"], {}, "plague"),
        ([], {}, "no reports"),
        ("flu", {}, "one text instead of a column"),
        (["flu", "cold"], {"weights": [1.0, np.nan]}, r"weight is not a finite number at report 2"),
        (["flu", "cold"], {"weights": [np.inf, 1.0]}, r"report 1: inf"),
        (["flu", "cold"], {"weights": [1.0]}, "give one weight for each report"),
        (["flu", "cold"], {"weights": [[1.0, 2.0]]}, "give one weight for each report"),
        (["flu", "cold"], {"weights": ["x", "y"]}, "weights are not numbers"),
        (["flu", "cold"], {"weights": [True, False]}, "weights are not numbers"),
        (["flu", "cold"], {"weights": [1e200, 1.0]}, "too large to be squared"),
        (["flu", "cold"], {"offsets": [0.0, -np.inf]}, "offset is not a finite number at report 2"),
    ],
)
def test_refused_and_nothing_counted(reports: Any, options: dict[str, Any], message: str) -> None:
    before = Aggregate.of(ILL, ["none"])
    kept = before.to_json()
    with pytest.raises(InputError, match=message):
        before += Aggregate.of(ILL, reports, **options)
    assert before.to_json() == kept


def test_a_batch_that_is_refused_leaves_the_rest_as_it_was() -> None:
    with pytest.raises(LabelError):
        Aggregate.from_batches(ILL, [["flu"], ["flu", "plague"]])
    with pytest.raises(InputError, match="no reports"):
        Aggregate.from_batches(ILL, [["flu"], []])
    assert Aggregate.from_batches(ILL, []) == Aggregate.empty(ILL)


def test_codes_and_outputs_that_never_come() -> None:
    channel = Channel.from_rows({0: {"l": 1, "r": 0}, 1: {"l": 1, "r": 0}})
    with pytest.raises(InputError, match="probability 0 under the channel at report 2: 'r'"):
        Aggregate.of(channel, ["l", "r"])
    with pytest.raises(InputError, match="outside the output alphabet at report 1: 7"):
        Aggregate.of_codes(ILL, np.array([7, 1]))
    with pytest.raises(InputError, match="whole numbers"):
        Aggregate.of_codes(ILL, np.array([0.5, 1.0]))


def test_other_mechanisms_are_not_mixed_in() -> None:
    other = Channel.identity(ILL.outputs.labels)
    with pytest.raises(InputError, match="different mechanisms"):
        Aggregate.of(ILL, ["flu"]) + Aggregate.of(other, ["flu"])
    with pytest.raises(InputError, match="come from another mechanism"):
        Aggregate.of(other, ["flu"]).check_channel(ILL)
    with pytest.raises(InputError, match="one aggregate has weights"):
        Aggregate.of(ILL, ["flu"]) + Aggregate.of(ILL, ["flu"], weights=2.0)
    with pytest.raises(InputError, match="no reports"):
        Aggregate.empty(ILL).check_channel(ILL)
    with pytest.raises(TypeError):
        Aggregate.of(ILL, ["flu"]) + 1  # type: ignore[operator]


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "reports.json"
    whole = Aggregate.of(ILL, ["flu", "none"], weights=[5e-324, -1.5e150], offsets=[0.1, 1e-300])
    whole.save(path)
    assert Aggregate.load(path) == whole
    assert Aggregate.load(path).to_json() == whole.to_json()
    for change in ({"counts": [1, 1]}, {"counts": [-1, 2, 1]}, {"reports": 0}, {"version": 9}):
        path.write_text(json.dumps({**whole.to_data(), **change}))
        with pytest.raises(FileError, match=r"reports\.json"):
            Aggregate.load(path)


def test_damaged_counts_are_found_out() -> None:
    whole = Aggregate.of(ILL, ["flu", "none"])
    for counts, reports in (((1, 1), 2), ((1, 0, 0), 2), ((1, 1, 1), 2)):
        with pytest.raises(InputError, match="count the reports again"):
            Aggregate(whole.channel, counts, reports).check_channel(ILL)
    assert len(whole.check_channel(ILL)) == 2


def test_parts_travel_between_processes() -> None:
    whole = Aggregate.of(ILL, ["none", "flu", "cold"], weights=[0.1, 2.5, -1.0], offsets=1.0)
    assert pickle.loads(pickle.dumps(whole)) == whole
    assert sum([whole, whole]).reports == 6  # type: ignore[union-attr]
