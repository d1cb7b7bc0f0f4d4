"""What rows tell, against fractions from raw rows."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

from liftlock.notions import LDP, LIP
from liftlock.tables.protect import Protection, RowLeak
from liftlock.tables.protect import rows as looking
from liftlock.tables.protect.plan import prepare
from liftlock.tables.protect.spec import ColumnSpec, Policy
from liftlock.transfer.bets import ERROR_RATE
from tests.published_rows import (
    TABLES,
    Row,
    RowLifts,
    clinic,
    hospital,
    law_of_file,
    row_lifts,
    sites,
    xor,
)
from tests.unit.tables.protect.memory import Memory

RELEASED = {"xor": "code", "sites": "code", "clinic": "dept", "hospital": "department"}


def memory(rows: Sequence[Mapping[str, Any]], size: int = 700) -> Memory:
    return Memory.of(size, **{name: [row[name] for row in rows] for name in rows[0]})


def prepared(rows: Sequence[Mapping[str, Any]], *specs: ColumnSpec, **how: Any) -> Protection:
    return prepare(memory(rows), specs, curve=False, **how)


def law(protection: Protection, at: int = 0) -> Any:
    column = protection.columns[at]
    draw = law_of_file(json.loads(column.mechanism.to_json()))
    return lambda row: draw(row[column.name])


def leak_of(protection: Protection, *kept: str, secret: str = "hiv") -> RowLeak:
    (found,) = [leak for leak in protection.rows_out if leak.kept == kept and leak.secret == secret]
    return found


def assert_same(leak: RowLeak, truth: RowLifts) -> None:
    for found, extremes in (
        (leak.population, truth.population),
        (leak.beyond, truth.beyond),
        (leak.alone, truth.alone),
    ):
        for side, exact in (
            (found.eps_lower, extremes.eps_lower),
            (found.eps_upper, extremes.eps_upper),
        ):
            assert side == exact or exact <= side * (1 + 1e-12) <= exact * (1 + 1e-11) + 1e-12


@pytest.mark.parametrize("name", TABLES)
def test_ratios_in_the_table_are_those_of_raw_rows(name: str) -> None:
    rows = TABLES[name]()
    protection = prepared(
        rows,
        ColumnSpec(RELEASED[name], LIP("0.3"), "hiv"),
        drop=("age",) if name == "hospital" else (),
    )
    draw = law(protection)
    (leak,) = protection.rows_out
    assert_same(leak, row_lifts(rows, "hiv", leak.kept, draw))
    assert leak.released == (RELEASED[name],)
    assert protection.not_measured == (
        ("'clinic' in 20 % of the rows, where its values are too rare to be told from chance",)
        if name == "clinic"
        else ()
    )


def test_the_secret_is_known_exactly_beside_the_team() -> None:
    leak = leak_of(prepared(xor(), ColumnSpec("code", LIP("0.1"), "hiv")), "team")
    assert leak.beyond.eps_lower == leak.at_most.eps_lower == math.inf
    assert leak.at_least.eps_lower > 3
    assert math.log(2) - 0.1 < leak.at_least.eps_upper < math.log(2) < leak.beyond.eps_upper
    assert leak.unbounded_share == 1
    witness = leak.witness
    assert witness is not None
    # Nobody with this secret, beside this team, has a code that gives this output.
    code = str(witness.released[0])
    assert not any(
        (row["hiv"], row["team"], row["code"]) == (witness.secret, witness.kept[0], code)
        for row in xor()
    )


def test_two_sites_that_code_the_other_way_round() -> None:
    leak = leak_of(prepared(sites(), ColumnSpec("code", LIP("0.1"), "hiv")), "site")
    lower, upper = leak.beyond
    assert leak.at_least.eps_lower < lower < leak.at_most.eps_lower < lower + 0.6
    assert leak.at_least.eps_upper < upper < leak.at_most.eps_upper < upper + 0.1
    assert leak.at_least.eps_lower > 0.7 * lower
    assert leak.at_least.eps_upper > 0.8 * upper
    assert leak.unbounded_share == 0


def test_each_kept_column_pairs_and_all_are_measured() -> None:
    draw = random.Random(5)
    rows = [{**row, "sex": draw.choice("fm"), "ward": draw.choice("123")} for row in hospital(900)]
    for row in rows:
        del row["age"]
    protection = prepared(rows, ColumnSpec("department", LIP("0.5"), "hiv"))
    kept = [leak.kept for leak in protection.rows_out]
    every = ("region", "sex", "ward")
    pairs = [("region", "sex"), ("region", "ward"), ("sex", "ward")]
    assert kept == [("region",), ("sex",), ("ward",), every, *pairs]
    for leak in protection.rows_out:
        assert_same(leak, row_lifts(rows, "hiv", leak.kept, law(protection)))


def test_the_value_itself_as_the_secret() -> None:
    rows = [{"region": row["region"], "department": row["department"]} for row in hospital(900)]
    protection = prepared(rows, ColumnSpec("department", LDP("1")))
    (leak,) = protection.rows_out
    assert leak.secret == "department"
    assert_same(leak, row_lifts(rows, "department", ["region"], law(protection)))
    # LDP bounds what a row adds under every joint: no rows are needed for that.
    assert max(leak.beyond) <= max(leak.at_most) <= 1
    assert leak.unbounded_share == 0


def test_columns_that_go_out_together() -> None:
    draw = random.Random(6)
    rows = [
        {"hiv": s, "k": draw.choice("uv"), "a": draw.choice(s + "xy"), "b": draw.choice(s + "xyz")}
        for s in draw.choices("st", (1, 2), k=600)
    ]
    protection = prepared(
        rows, ColumnSpec("a", LIP("0.5"), "hiv"), ColumnSpec("b", LIP("0.4"), "hiv")
    )
    (leak,) = protection.rows_out
    assert leak.released == ("a", "b")
    first, second = law(protection), law(protection, 1)

    def both(row: Mapping[str, Any]) -> dict[Any, Fraction]:
        pairs = product(first(row).items(), second(row).items())
        return {(y, z): p * q for (y, p), (z, q) in pairs}

    assert_same(leak, row_lifts(rows, "hiv", ["k"], both))


def test_too_many_combinations_of_released_columns_are_looked_at_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(looking, "MOST_TUPLES", 3)
    rows = [{**row, "other": row["department"][:1]} for row in hospital(600)]
    specs = [ColumnSpec(name, LIP("0.5"), "hiv") for name in ("department", "other")]
    protection = prepared(rows, *specs, drop=("age",))
    assert [leak.released for leak in protection.rows_out] == [("department",), ("other",)]
    said = "\n".join(protection.not_measured)
    assert "'department', 'other' together beside kept columns" in said
    for at, leak in enumerate(protection.rows_out):
        assert_same(leak, row_lifts(rows, "hiv", ["region"], law(protection, at)))


def test_numbers_are_looked_at_in_bands() -> None:
    rows = hospital(2000)
    protection = prepared(rows, ColumnSpec("department", LIP("0.5"), "hiv"), drop=("region",))
    (leak,) = protection.rows_out
    assert (leak.banded, leak.values) == (("age",), 20)
    ends = sorted({int(row["age"]) for row in rows})
    assert leak.witness is not None
    assert "to" in str(leak.witness.kept[0])
    assert ends[0] >= 18


def test_missing_cells_that_stay_missing_are_an_output() -> None:
    rows: list[dict[str, Any]] = [dict(row) for row in hospital(900)]
    for at, row in enumerate(rows):
        del row["age"]
        row["department"] = None if at % 9 == 0 else row["department"]
    spec = ColumnSpec("department", LIP("1"), None, policy=Policy(missing="keep"))
    protection = prepared(rows, spec, drop=("hiv",))
    (leak,) = protection.rows_out
    assert leak.beyond.eps_lower == math.inf  # who has no value is seen to have none
    known = law_of_file(json.loads(protection.columns[0].mechanism.to_json()))

    def draw(row: Mapping[str, Any]) -> dict[Any, Fraction]:
        cell = row["department"]
        return {"(missing)": Fraction(1)} if cell is None else dict(known(cell))

    def own(row: Mapping[str, Any]) -> Any:
        return row["department"] or "(missing)"

    assert_same(leak, row_lifts(rows, own, ["region"], draw))


def test_what_is_not_looked_at_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "MOST_CELLS", 20)
    monkeypatch.setattr(looking, "MOST_WORK", 6 * 600)
    draw = random.Random(6)
    rows = [
        {**row, "sex": draw.choice("fm"), "ward": draw.choice("123"), "name": f"p{at}"}
        for at, row in enumerate(hospital(600))
    ]
    protection = prepared(rows, ColumnSpec("department", LIP("0.5"), "hiv"))
    said = "\n".join(protection.not_measured)
    for words in (
        "'name': almost every value is unique",
        "5 of 6 pairs of kept columns",
        "combinations of three or more kept columns",
        "'age' beside 'department': more than 20 combinations",
    ):
        assert words in said
    assert {leak.kept for leak in protection.rows_out} == {("sex",)}


def test_rows_in_any_batches_say_the_same() -> None:
    rows = hospital(1500)
    spec = ColumnSpec("department", LIP("0.5"), "hiv")
    one, other = (prepare(memory(rows, size), [spec], curve=False).rows_out for size in (97, 1500))
    assert one == other


def test_independent_kept_columns_are_no_alarm() -> None:
    """Y tells of S, and K of nothing: beyond Y's own lift nothing is found in 99 of 100 tables."""
    draw, wrong, tables = np.random.default_rng(8), 0, 60
    for _ in range(tables):
        secret = draw.random(800) < 0.3
        value = np.where(draw.random(800) < 0.6, secret, draw.random(800) < 0.5)
        rows = [
            {"hiv": str(s), "x": str(x), "k": str(k)}
            for s, x, k in zip(secret, value, draw.integers(0, 3, 800), strict=True)
        ]
        protection = prepared(rows, ColumnSpec("x", LIP("2"), "hiv"))
        chances = law(protection)
        (leak,) = protection.rows_out
        joint = {
            (s, x): (0.3 if s else 0.7) * (0.6 * (s == x) + 0.2) for s in (0, 1) for x in (0, 1)
        }
        mass: dict[Any, float] = {}
        for (s, x), chance in joint.items():
            for y, weight in chances({"x": str(bool(x))}).items():
                mass[s, y] = mass.get((s, y), 0.0) + chance * float(weight)
        lifts = [mass[s, y] / (mass[0, y] + mass[1, y]) / (0.3 if s else 0.7) for s, y in mass]
        lower, upper = -math.log(min(lifts)), math.log(max(lifts))
        wrong += leak.at_least.eps_lower > lower or leak.at_least.eps_upper > upper
    assert wrong <= stats.binom.isf(1e-6, tables, ERROR_RATE)


def test_rare_values_of_a_kept_column_are_not_measured_as_nothing() -> None:
    rows: list[Row] = clinic()
    leak = leak_of(prepared(rows, ColumnSpec("dept", LIP("0.5"), "hiv")), "clinic")
    assert leak.unbounded_share > 0.49
    assert leak.population.eps_lower == math.inf


def test_bands_of_long_numbers_are_not_joined() -> None:
    draw = random.Random(3)
    rows = []
    for _ in range(4000):
        hiv, late = draw.random() < 0.5, draw.random() < 0.5
        when = 1_700_000_000 + 100 * late + draw.randrange(100)
        rows.append({"hiv": "ny"[hiv], "when": when, "code": "uv"[hiv != late]})
    leak = leak_of(prepared(rows, ColumnSpec("code", LIP("0.1"), secret="hiv")), "when")
    assert (leak.values, leak.banded) == (20, ("when",))
    assert leak.beyond.eps_lower == math.inf
    assert leak.witness is not None
    assert leak.witness.kept[0].startswith("17000000")


def test_columns_of_too_many_inputs_are_looked_at_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(looking, "_MOST_INPUTS", 4)
    draw = random.Random(5)
    rows = [
        {name: draw.choice("abc") for name in ("hiv", "site", "code", "dept")} for _ in "abc" * 99
    ]
    specs = [ColumnSpec(name, LIP("0.5"), secret="hiv") for name in ("code", "dept")]
    found = prepared(rows, *specs)
    assert [leak.released for leak in found.rows_out] == [("code",), ("dept",)]
