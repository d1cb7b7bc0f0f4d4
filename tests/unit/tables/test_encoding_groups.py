"""Several columns as one value, in Arrow arrays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from liftlock import LIP, Alphabet, Prior, lock
from liftlock.designs import Draft
from liftlock.errors import InputError
from liftlock.model.columns import ColumnEncoding, TableEncoding
from liftlock.tables.randomiser import ColumnRandomiser

PAIRS = [("cook", "A"), ("cook", "B"), ("nurse", "A")]
GROUP = TableEncoding(
    (ColumnEncoding("job"), ColumnEncoding("town")),
    (Alphabet.of(["cook", "nurse"]), Alphabet.of(["A", "B"])),
)


def group_of(outputs: list[Any]) -> ColumnRandomiser:
    """Return a group that releases any of its outputs, each as often."""
    prior = Prior.from_counts(dict.fromkeys(PAIRS, 1))
    rows = [[1 / len(outputs)] * len(outputs)] * len(PAIRS)
    made = lock(Draft.of(PAIRS, outputs, rows), LIP("1"), prior)
    return ColumnRandomiser(replace(made, encoding=GROUP))


def columns(rows: list[tuple[str, str]]) -> list[pa.Array]:
    """Return rows as two columns."""
    return [pa.array(cells) for cells in zip(*rows, strict=True)]


def test_an_output_with_a_number_is_written_as_its_parts() -> None:
    group = group_of([("cook", "A"), ("nurse", "A", 2)])
    released = group.release(columns(PAIRS * 20))
    seen = set(zip(*(cells.to_pylist() for cells in released), strict=True))
    # Each of the two is missing among 60 draws with probability 2^-60.
    assert seen == {("cook", "A"), ("nurse", "A")}
    reports = columns([("nurse", "A"), ("cook", "A"), ("nurse", "A")])
    assert group.count_reports(reports).counts == (1, 2)


def test_outputs_that_are_written_the_same_are_not_counted() -> None:
    group = group_of([("nurse", "A"), ("nurse", "A", 2)])
    with pytest.raises(InputError, match="two outputs have the same text"):
        group.count_reports(columns([("nurse", "A")]))
