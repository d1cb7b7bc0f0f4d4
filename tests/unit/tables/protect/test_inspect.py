"""Columns that stay: copies are refused, and what others tell is measured."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from typing import Any

import pytest

from liftlock.errors import InputError
from liftlock.tables.protect import inspect as kept
from liftlock.tables.protect.chance import Crossing
from liftlock.tables.protect.inspect import inspect_other_columns, measure_leak
from tests.published_rows import clinic
from tests.unit.tables.protect.memory import Memory

SECRET = ["f", "m", "f", None, "m", "f"] * 40


def other_names(values: list[Any], names: dict[Any, Any]) -> list[Any]:
    return [names[value] for value in values]


@pytest.mark.parametrize(
    "names",
    [
        {"f": "f", "m": "m", None: None},
        {"f": "1", "m": "2", None: "unknown"},
        {"f": 1.5, "m": None, None: 0.5},
        {"f": 1.5, "m": math.nan, None: 0.5},
        {"f": True, "m": False, None: None},
    ],
)
@pytest.mark.parametrize("protected", [True, False])
def test_copies_under_any_names_are_refused(names: dict[Any, Any], protected: bool) -> None:
    source = Memory.of(50, x=[*"abc"] * 80, code=other_names(SECRET, names), s=SECRET)
    secrets, replaced = ([], ["s"]) if protected else (["s"], ["x"])
    with pytest.raises(InputError, match=r"'code' determines the (secret|protected column) 's'"):
        inspect_other_columns(source, ["x", "code"], secrets, replaced)
    look = inspect_other_columns(source, ["x", "code"], secrets, replaced, allowed=["code"])
    assert not look.identities


def test_a_refinement_is_no_copy_but_tells_everything() -> None:
    detail = [None if told is None else f"{told}{at % 2}" for at, told in enumerate(SECRET)]
    source = Memory.of(50, x=[*"abc"] * 80, detail=detail, s=SECRET)
    look = inspect_other_columns(source, ["x", "detail"], ["s"], ["x"])
    (leak,) = look.leaks
    assert (leak.name, leak.secret, leak.eps_lower) == ("detail", "s", math.inf)
    assert leak.eps_upper == pytest.approx(math.log(6))  # "none" is one in six


def test_protected_values_are_measured_against_too() -> None:
    detail = [f"{value}{at % 2}" for at, value in enumerate([*"aabbc"] * 60)]
    source = Memory.of(64, x=[*"aabbc"] * 60, detail=detail)
    (leak,) = inspect_other_columns(source, ["x", "detail"], ["x"], ["x"]).leaks
    assert (leak.name, leak.secret, leak.eps_lower) == ("detail", "x", math.inf)


def test_leaks_are_those_of_plain_counting() -> None:
    chance = random.Random(8)
    people = [
        (told, chance.choices("uvw", {"s": (5, 3, 1), "t": (1, 3, 5)}[told])[0])
        for told in chance.choices("st", (2, 3), k=900)
    ]
    counts = Counter(people)
    lower = upper = 0.0
    for told, value in itertools.product("st", "uvw"):
        joint = sum(1 for person in people if person == (told, value)) / 900
        alone = sum(person[0] == told for person in people) / 900
        here = sum(person[1] == value for person in people) / 900
        lift = math.log(joint / (alone * here))
        lower, upper = max(lower, -lift), max(upper, lift)
    assert measure_leak(Crossing(counts)) == pytest.approx((lower, upper))
    source = Memory.of(100, s=[p[0] for p in people], k=[p[1] for p in people], x=[*"ab"] * 450)
    (leak,) = inspect_other_columns(source, ["k", "x"], ["s"], ["x"]).leaks
    assert (leak.eps_lower, leak.eps_upper) == pytest.approx((lower, upper))


def test_chance_is_no_leak() -> None:
    few = {("s", "u"): 100, ("t", "u"): 100, ("t", "v"): 9, ("rare", "u"): 1}
    assert measure_leak(Crossing(few)) == (0.0, 0.0)


def test_rows_with_a_value_of_their_own_are_identities() -> None:
    source = Memory.of(64, name=[f"p{at}" for at in range(240)], x=[*"ab"] * 120, s=SECRET)
    look = inspect_other_columns(source, ["name", "x"], ["s"], ["x"])
    assert look.identities == ("name",)
    assert not look.leaks


def test_columns_of_different_numbers_are_no_copies_of_each_other() -> None:
    numbers = [at * 0.37 for at in range(240)]
    source = Memory.of(64, id=list(range(240)), pay=numbers, same=numbers)
    assert inspect_other_columns(source, ["id", "pay"], [], ["pay"]).identities == ("id",)
    with pytest.raises(InputError, match="'same' determines the protected column 'pay'"):
        inspect_other_columns(source, ["same", "pay"], [], ["pay"])


def test_numbers_that_are_protected_do_not_hide_what_others_tell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kept, "_MOST_PAIRS", 50)
    town = ["u" if told == "f" else "v" for told in SECRET]
    source = Memory.of(16, town=town, pay=[at / 7 for at in range(240)], s=SECRET)
    look = inspect_other_columns(source, ["town", "pay"], ["s"], ["pay"])
    assert not look.identities
    assert [(leak.name, leak.eps_lower) for leak in look.leaks] == [("town", math.inf)]


def test_what_cannot_be_measured_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_MOST_PAIRS", 10)
    street = [f"street {at % 40}" for at in range(240)]
    source = Memory.of(120, street=street, tags=[[1]] * 240, x=[*"ab"] * 120, s=SECRET)
    look = inspect_other_columns(source, ["street", "tags", "x"], ["s"], ["x"])
    assert look.unknown == ("street", "tags")
    assert not look.identities


def test_values_in_few_rows_each_are_not_called_harmless() -> None:
    street = [f"{told} {at // 24}" for at, told in enumerate(SECRET)]
    source = Memory.of(120, street=street, x=[*"ab"] * 120, s=SECRET)
    look = inspect_other_columns(source, ["street", "x"], ["s"], ["x"])
    (leak,) = look.leaks
    assert not look.unknown
    assert look.skipped["street"] == pytest.approx(0, abs=0.2)
    # They give the secret away together; half of the rows are in values of 4 or 8 rows each.
    assert leak.eps_lower == math.inf
    assert leak.pooled == pytest.approx(0.5)


def test_a_clinic_for_two_patients_gives_them_away() -> None:
    rows = clinic()
    source = Memory.of(500, **{name: [row[name] for row in rows] for name in rows[0]})
    look = inspect_other_columns(source, ["clinic", "dept"], ["hiv"], ["dept"])
    (leak,) = look.leaks
    share = sum(row["hiv"] == "1" for row in rows) / len(rows)
    assert leak.eps_lower == math.inf
    assert leak.eps_upper == pytest.approx(-math.log(share), abs=0.1)
    assert 0.25 < leak.pooled < 0.49  # of the 49 %, those whose clinic has another row
    assert leak.pooled + look.skipped["clinic"] == pytest.approx(0.49, abs=0.01)


def test_protected_numbers_are_measured_against_in_bands() -> None:
    drawn = random.Random(7)
    pay = [drawn.uniform(0, 100) for _ in range(1200)]
    band = [str(int(number // 20)) for number in pay]
    town = [drawn.choice("uv") for _ in pay]
    source = Memory.of(500, band=band, town=town, pay=pay)
    look = inspect_other_columns(source, ["band", "town", "pay"], ["pay"], ["pay"])
    leaks = {leak.name: (leak.eps_lower, leak.eps_upper) for leak in look.leaks}
    assert leaks["band"][0] == math.inf
    assert 1.4 < leaks["band"][1] < 1.8  # about log 5: the number is in one fifth of all
    assert leaks["town"] == (0.0, 0.0)


def test_only_the_first_rows_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "LOOKED_AT", 100)
    code = [*SECRET[:120], *["f"] * 120]
    source = Memory.of(50, code=code, x=[*"ab"] * 120, s=SECRET)
    with pytest.raises(InputError, match="determines"):
        inspect_other_columns(source, ["code", "x"], ["s"], ["x"])


def test_what_a_number_tells_is_not_hidden_by_its_band() -> None:
    told = [random.Random(at).random() < 0.5 for at in range(9000)]
    pay = [2 * (at % 60) + each for at, each in enumerate(told)]  # odd for one secret
    source = Memory.of(500, pay=pay, x=[*"abc"] * 3000, s=["yn"[each] for each in told])
    (leak,) = inspect_other_columns(source, ["pay", "x"], ["s"], ["x"]).leaks
    assert (leak.eps_lower, leak.values) == (math.inf, 20)


def test_blanks_tell_what_goes_out_with_them() -> None:
    chance = random.Random(2)
    told = [chance.random() < 0.5 for _ in range(900)]
    for cells in (
        [chance.choice("ab") + " " * each for each in told],
        [chance.choice([1.0, math.nan if each else None]) for each in told],
    ):
        source = Memory.of(100, town=cells, x=[*"abc"] * 300, s=["yn"[each] for each in told])
        (leak,) = inspect_other_columns(source, ["town", "x"], ["s"], ["x"]).leaks
        assert leak.eps_lower == math.inf
