"""Several columns as one value: one guarantee for all, checked by exact enumeration."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from liftlock import Alphabet, Mechanism
from liftlock.errors import CellError, FileError, InputError
from liftlock.model.columns import ColumnEncoding, TableEncoding
from liftlock.notions import LIP
from liftlock.tables.example import HEADER, people
from liftlock.tables.protect.plan import prepare
from liftlock.tables.protect.spec import ColumnSpec, Policy
from liftlock.tables.randomiser import ColumnRandomiser
from liftlock.tables.releases import TableRelease
from tests.unit.tables.protect.memory import Memory

ROWS = people(1_500)
TABLE = pa.table(
    {
        name: pa.array(
            [
                int(cell) if name in ("person", "schooling", "pay") else cell or None
                for cell in cells
            ]
        )
        for name, cells in zip(HEADER, zip(*ROWS, strict=True), strict=True)
    }
)
SOURCE = Memory(TABLE, 400)


def made(*columns: str, rare: int = 10, secret: str | None = "household", **more: Any) -> Mechanism:
    policy = Policy(rare=rare, **more)
    specs = [ColumnSpec(name, LIP("0.5"), secret, policy=policy) for name in columns]
    found = prepare(SOURCE, specs, together=True, curve=False, drop=["pay"])
    (column,) = found.columns
    assert column.name == " + ".join(columns)
    assert not found.combined  # nothing else is released
    assert isinstance(column.mechanism, Mechanism)
    return column.mechanism


def tuples(labels: Any) -> list[tuple[Any, ...]]:
    return list(labels)


PAIR = made("job", "schooling")


def test_the_guarantee_is_for_all_columns_at_once() -> None:
    """Every lift of the whole tuple, from the rows of the table and the integers of the channel."""
    group = PAIR.encoding
    assert group is not None
    work = ColumnRandomiser(PAIR)
    codes = work.inputs([TABLE["job"].combine_chunks(), TABLE["schooling"].combine_chunks()])
    told = TABLE["household"].to_pylist()
    counts = Counter(zip(told, codes.tolist(), strict=True))
    weights = PAIR.table.weights
    seen: dict[Any, list[int]] = {}
    for (secret, code), number in counts.items():
        row = seen.setdefault(secret, [0] * weights.shape[1])
        for y in range(weights.shape[1]):
            row[y] += number * int(weights[code, y])
    people_of = Counter(told)
    total = [sum(row[y] for row in seen.values()) for y in range(weights.shape[1])]
    lifts = [
        Fraction(row[y] * len(told), people_of[secret] * total[y])
        for secret, row in seen.items()
        for y in range(weights.shape[1])
    ]
    assert float(max(lifts)) <= math.exp(0.5) * (1 + 1e-12)
    assert float(min(lifts)) >= math.exp(-0.5) * (1 - 1e-12)
    assert max(float(max(lifts)), 1 / float(min(lifts))) > 1.6  # the budget is used


def test_rare_combinations_become_similar_ones() -> None:
    group = PAIR.encoding
    assert group is not None
    sizes = Counter(zip(TABLE["job"].to_pylist(), TABLE["schooling"].to_pylist(), strict=True))
    named = {(job or "(missing)", years): number for (job, years), number in sizes.items()}
    rare = {key for key, number in named.items() if number < 10}
    assert {one for one, _ in group.merged} == rare
    for one, other in group.merged:
        job, years = other
        assert named[str(job), years] >= 10
        # Nobody who shares more columns was frequent enough.
        shared = sum(a == b for a, b in zip(one, other, strict=True))
        best = max(
            sum(a == b for a, b in zip(one, key, strict=True))
            for key, number in named.items()
            if number >= 10
        )
        assert shared == best


def test_released_columns_are_written_in_their_own_types_and_counted_again() -> None:
    work = ColumnRandomiser(PAIR)
    columns = [TABLE["job"].combine_chunks(), TABLE["schooling"].combine_chunks()]
    arrays = work.release(columns)
    assert [array.type for array in arrays] == [pa.string(), pa.int64()]
    pairs = {
        tuple(None if part == "(missing)" else part for part in label)
        for label in tuples(PAIR.table.outputs.labels)
    }
    released = list(zip(*(array.to_pylist() for array in arrays), strict=True))
    assert set(released) <= pairs
    counted = work.count_reports(arrays)
    by_label = dict(zip(PAIR.table.outputs.labels, counted.counts, strict=True))
    for (job, years), number in Counter(released).items():
        assert by_label[job or "(missing)", years] == number
    with pytest.raises(CellError, match="not an output of the mechanism"):
        work.count_reports([pa.array(["cook"]), pa.array([12])])


def test_outputs_follow_the_channel() -> None:
    """One combination, a hundred thousand times; false alarms 1 in 10^6."""
    prior = PAIR.known_prior
    assert prior is not None
    label = max(tuples(prior.labels), key=lambda each: prior[each])
    row = PAIR.table.inputs.index(label)
    job, years = label
    number = 100_000
    work = ColumnRandomiser(PAIR)
    cells = [pa.array([None if job == "(missing)" else job] * number), pa.array([years] * number)]
    counts = np.array(work.count_reports(work.release(cells)).counts)
    expected = PAIR.table.floats()[row] * number
    common = expected > 10
    assert (np.abs(counts - expected)[common] < 6 * np.sqrt(expected[common])).all()
    assert counts[expected == 0].sum() == 0


def test_the_mechanism_survives_its_file(tmp_path: Path) -> None:
    PAIR.save(tmp_path / "pair.json")
    again = Mechanism.load(tmp_path / "pair.json")
    assert again.encoding == PAIR.encoding
    assert again.channel == PAIR.channel


def test_unseen_combinations_are_refused_or_become_the_likeliest() -> None:
    cells = [pa.array(["craft", "student"]), pa.array([11, 22])]
    with pytest.raises(CellError, match="combination of values is not an input") as told:
        ColumnRandomiser(PAIR).inputs(cells)
    assert told.value.row == 1
    mapping = made("job", "region", unseen="map")
    assert mapping.encoding is not None
    work = ColumnRandomiser(mapping)
    codes = work.inputs([pa.array(["craft", "cook"]), pa.array(["north", "north"])])
    # An unseen job is the most frequent one, in the region that was told.
    assert tuples(mapping.table.inputs.labels)[int(codes[1])][1] == "north"
    with pytest.raises(InputError, match="no input for unseen"):
        ColumnRandomiser(PAIR, "map").inputs(cells)


def test_numbers_are_parts_too() -> None:
    policy = Policy(rare=5)
    specs = [
        ColumnSpec("job", LIP("1"), "household", policy=policy),
        ColumnSpec("pay", LIP("1"), "household", None, policy=policy, domain="0:150000", bins=4),
    ]
    found = prepare(SOURCE, specs, together=True, curve=False, drop=["schooling"])
    mechanism = found.columns[0].mechanism
    assert isinstance(mechanism, Mechanism)
    assert mechanism.encoding is not None
    assert len(mechanism.encoding.parts[1]) == 4
    change = TableRelease(found, SOURCE, []).change()
    piece, *_ = SOURCE.batches(change.needs)
    jobs, pays = change.apply_to(piece)
    assert pays.type in (pa.int64(), pa.float64())
    assert len(set(pays.to_pylist())) <= 4
    assert jobs.null_count == 0 or "(missing)" in mechanism.encoding.parts[0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"secret": "region"}, "share one secret"),
        ({"notion": LIP("1")}, "share one guarantee"),
        ({"utility": "guess"}, "share one utility"),
        ({"policy": Policy(missing="keep")}, "cannot keep cells missing"),
        ({"local": {"craft": "pay"}, "secret": None}, "one secret"),
    ],
)
def test_what_parts_cannot_have_for_themselves(change: dict[str, Any], said: str) -> None:
    specs = [
        ColumnSpec("job", LIP("0.5"), "household"),
        ColumnSpec("schooling", LIP("0.5"), "household"),
    ]
    specs[1] = replace(specs[1], **change)
    with pytest.raises(InputError, match=said):
        prepare(SOURCE, specs, together=True)


def test_one_column_and_too_many_combinations() -> None:
    with pytest.raises(InputError, match="--together needs several columns"):
        prepare(SOURCE, [ColumnSpec("job", LIP("0.5"), "household")], together=True)
    several = [ColumnSpec(name, LIP("0.5"), "household") for name in ("job", "schooling", "region")]
    numbers = ColumnSpec("pay", LIP("0.5"), "household", numbers=True, bins=40, domain="0:150000")
    with pytest.raises(InputError, match="combinations of values in 1,500 rows"):
        prepare(SOURCE, [*several, numbers], together=True)
    with pytest.raises(InputError, match="every combination of values is rarer"):
        made("job", "schooling", rare=1_000)


def test_a_group_is_of_two_columns_or_more() -> None:
    assert PAIR.encoding is not None
    with pytest.raises(InputError, match="two columns or more"):
        TableEncoding(PAIR.encoding.columns[:1], PAIR.encoding.parts[:1])
    with pytest.raises(InputError, match="not as many parts"):
        TableEncoding(PAIR.encoding.columns)
    stored = PAIR.encoding.to_data()
    one = {"group": {"columns": stored["group"]["columns"][:1]}}
    with pytest.raises(FileError, match="two columns or more"):
        TableEncoding.from_data(one)
    with pytest.raises(FileError, match="of one column and of several"):
        TableEncoding.from_data(stored | {"column": {"name": "job"}})
    assert TableEncoding.from_data({}) is None


def test_the_stored_forms_of_one_column_and_of_several() -> None:
    """They are those of every file so far: a key of its own for each."""
    job = TableEncoding((ColumnEncoding("job", missing="?"),))
    assert job.to_data() == {"column": {"name": "job", "missing": "?", "unseen": "refuse"}}
    assert (job.alone, job.names) == (job.columns[0], ("job",))
    town = ColumnEncoding("town")
    both = TableEncoding((*job.columns, town), (Alphabet.of(["cook", "?"]), Alphabet.of(["A"])))
    assert both.to_data() == {
        "group": {
            "columns": [
                {"name": "job", "missing": "?", "unseen": "refuse", "labels": ["cook", "?"]},
                {"name": "town", "unseen": "refuse", "labels": ["A"]},
            ]
        }
    }
    assert both.alone is None
