"""Columns at work: outputs follow the channel, counts are true, and places are named.

False alarms: chi-square tests at 1e-6 each; about 10 of them, so once in 100,000 runs.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from scipy import stats

from liftlock import Mechanism, design
from liftlock.errors import FileError
from liftlock.model.columns import MISSING_LABEL
from liftlock.notions import LIP
from liftlock.tables.formats.base import RowBatch
from liftlock.tables.per_user import PerUserRandomiser
from liftlock.tables.protect.context import learn_labels
from liftlock.tables.protect.count import count_columns
from liftlock.tables.protect.design import design_column
from liftlock.tables.protect.spec import Policy
from liftlock.tables.randomiser import ColumnRandomiser
from liftlock.tables.releases import ColumnRelease, make_change
from tests.unit.tables.protect.memory import Memory, rows_of

ALARM = 1e-6


def release_of(
    made: Mechanism, column: str, source: Memory, unseen: str | None = None
) -> ColumnRelease:
    return ColumnRelease(ColumnRandomiser.of(made, column, unseen), source)


def all_released(work: ColumnRelease) -> list[Any]:
    change = make_change(work.source, [work])
    found: list[Any] = []
    for piece in work.source.batches(work.columns):
        (array,) = change.apply_to(piece)
        found += array.to_pylist()
    return found


def made_for(source: Memory, policy: Policy | None = None, secret: str | None = None) -> Mechanism:
    (counts,), _ = count_columns(source, [(secret, "x")])
    learned = learn_labels("x", counts, policy, secret=secret)
    return design_column(learned, LIP("0.8"), seconds=5).mechanism


def follows(counts: Counter[tuple[Any, Any]], made: Mechanism) -> bool:
    """Compare how often each input gave each output with the channel, by chi-square."""
    for label, distribution in rows_of(made).items():
        seen = {output: n for (cell, output), n in counts.items() if cell == label}
        total = sum(seen.values())
        if not set(seen) <= set(distribution):
            return False
        if total and len(distribution) > 1:
            expected = [float(chance) * total for chance in distribution.values()]
            found = [seen.get(output, 0) for output in distribution]
            if stats.chisquare(found, expected).pvalue < ALARM:
                return False
    return True


@pytest.mark.parametrize("dictionary", [False, True])
def test_outputs_follow_the_channel_and_are_counted(dictionary: bool) -> None:
    cells = pa.array(["a", "b ", None, "a", "c", "a"] * 4000)
    column = cells.dictionary_encode() if dictionary else cells
    source = Memory.of(1000, x=column, s=[*"stsstt"] * 4000)
    made = made_for(source)
    work = release_of(made, "x", source)
    found = [MISSING_LABEL if cell is None else cell for cell in all_released(work)]
    inputs = [MISSING_LABEL if cell is None else cell.strip() for cell in cells.to_pylist()]
    assert follows(Counter(zip(inputs, found, strict=True)), made)
    assert {k: n for k, n in work.counts.items() if n} == Counter(found)
    assert work.kept == 0
    assert work.gives()["x"] == column.type


def test_two_releases_differ() -> None:
    source = Memory.of(100, x=[*"aabbc"] * 100)
    made = made_for(source)
    first, second = (all_released(release_of(made, "x", source)) for _ in range(2))
    assert first != second


def test_kept_cells_stay_where_they_are() -> None:
    cells = ["a", None, "b", "", "a"] * 60
    source = Memory.of(11, x=cells)
    made = made_for(source, Policy("keep"))
    work = release_of(made, "x", source)
    found = all_released(work)
    assert [cell is None for cell in found] == [not cell for cell in cells]
    assert work.kept == 120
    assert sum(work.counts.values()) == 180


def test_kept_cells_beside_a_secret_come_out_and_no_others_do() -> None:
    cells: list[Any] = ["a", None, "b", "c", "a", "b", None, "c", "b"] * 60
    source = Memory.of(50, x=cells, s=[*"stssttsst"] * 60)
    made = made_for(source, Policy("keep"), "s")
    work = release_of(made, "x", source)
    assert [cell is None for cell in all_released(work)] == [cell is None for cell in cells]
    assert work.counts[MISSING_LABEL] == 120


def test_rare_values_are_randomised_like_the_merged_ones_and_unseen_ones_are_refused() -> None:
    cells = ["a"] * 300 + ["b"] * 200 + ["c", "d", "e"] * 20
    source = Memory.of(100, x=cells)
    made = made_for(source, Policy(rare=30))
    assert set(all_released(release_of(made, "x", source))) <= {"a", "b", "(other)"}
    new = Memory.of(10, x=["a"] * 17 + ["new"])
    with pytest.raises(
        FileError, match=r"not an input of the mechanism at row 18, column 'x': 'new'"
    ):
        all_released(release_of(made, "x", new))
    assert len(all_released(release_of(made, "x", new, "map"))) == 18


def test_a_mechanism_works_on_a_column_of_another_name() -> None:
    made = made_for(Memory.of(x=["a", "b"] * 20))
    other = Memory.of(4, y=["a", "b"] * 3 + ["new"])
    with pytest.raises(FileError, match="row 7, column 'y'"):
        all_released(release_of(made, "y", other))


# --- priors of each row's own -------------------------------------------------------------------


def local(method: Any = "safe-response", epsilon: str = "1") -> PerUserRandomiser:
    made = design(["no", "yes"], LIP(epsilon), method=method)
    return PerUserRandomiser(made, "x", {"no": "p no", "yes": "p yes"})


def batch_of(cells: Any, likely: Any) -> pa.RecordBatch:
    yes = np.asarray(likely, dtype=float)
    return pa.record_batch({"x": cells, "p no": 1 - yes, "p yes": yes})


def test_each_row_is_randomised_under_its_own_prior() -> None:
    column = local()
    for yes in (0.5, 0.1):
        rows = 40_000
        cells = ["yes"] * (rows // 2) + ["no"] * (rows // 2)
        reports = column.release(batch_of(cells, [yes] * rows)).to_pylist()
        # The largest t with 1 - t >= 1 / e and 1 - t + t / p <= e for the rarer value's p.
        stays = min(1 - 1 / math.e, (math.e - 1) / (1 / min(yes, 1 - yes) - 1))
        for cell, part in (("yes", reports[: rows // 2]), ("no", reports[rows // 2 :])):
            prior = {"yes": yes, "no": 1 - yes}
            lied = {label: (1 - stays) * prior[label] for label in prior}
            lied[cell] += stays
            expected = [lied["yes"] * len(part), lied["no"] * len(part)]
            assert stats.chisquare([part.count("yes"), part.count("no")], expected).pvalue > ALARM


@pytest.mark.parametrize(
    ("cells", "likely", "what"),
    [
        (["yes", "yes"], [0.5, 0.0], "probability 0 in the user's prior"),
        (["yes", "no"], [0.5, 1.0], "probability 0 in the user's prior"),
        (["yes", None], [0.5, 0.5], "missing value"),
        (["yes", "maybe"], [0.5, 0.5], "not an input of the mechanism"),
        (["yes", "no"], [0.5, np.nan], "not a prior"),
        (["yes", "no"], [0.5, 1.5], "not a prior"),
    ],
)
def test_rows_that_nothing_could_protect_are_refused(
    cells: list[Any], likely: list[float], what: str
) -> None:
    with pytest.raises(ValueError, match=f"{what}.* at row 2"):
        local().release(batch_of(cells, likely))


def test_probabilities_must_sum_to_one() -> None:
    batch = pa.record_batch({"x": ["yes"], "p no": [0.6], "p yes": [0.3]})
    with pytest.raises(ValueError, match="the probabilities of the row are not a prior"):
        local().release(batch)


@pytest.mark.parametrize("kind", [pa.string(), pa.dictionary(pa.int8(), pa.string())])
def test_types_stay_and_the_arc_reports_numbers(kind: pa.DataType) -> None:
    cells = pa.array(["yes", "no", "no"]).cast(kind)
    assert local().release(batch_of(cells, [0.5, 0.2, 0.9])).type == kind
    assert local("arc").release(batch_of(cells, [0.5, 0.2, 0.9])).type == pa.uint32()


def test_types_that_arrow_cannot_take_from_are_released_all_the_same() -> None:
    """A view of texts keeps its type; runs of equal cells come out one by one."""
    views = pa.array(["yes", "no", "no"]).cast(pa.string_view())
    assert local().release(batch_of(views, [0.5, 0.2, 0.9])).type == pa.string_view()
    runs = pc.run_end_encode(pa.array(["yes", "no", "no"]))
    assert local().release(batch_of(runs, [0.5, 0.2, 0.9])).type == pa.string()


def test_a_value_without_a_column_of_its_own_is_refused() -> None:
    made = design(["no", "yes"], LIP("1"), method="safe-response")
    with pytest.raises(ValueError, match="no column holds the probability of a value"):
        PerUserRandomiser(made, "x", {"no": "p no"})


def test_pieces_name_rows_of_the_whole_table() -> None:
    source = Memory.of(2, x=["a", "b", "b", "a", "zzz"])
    work = release_of(made_for(Memory.of(x=["a", "b"] * 20)), "x", source)
    batch = pa.record_batch({"x": ["zzz"]})
    with pytest.raises(FileError, match="row 5"):
        make_change(work.source, [work]).apply_to(RowBatch(batch, 4))
