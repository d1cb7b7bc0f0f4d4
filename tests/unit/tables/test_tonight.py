"""What a mechanism leaks in the table to be released, against fractions from the raw rows."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

import liftlock as ll
import liftlock.tables
from liftlock import ALIP, LDP, LIP, Alphabet, Joint, Mechanism, Prior, design, lock
from liftlock.designs import Draft
from liftlock.errors import InputError, NotCertified
from liftlock.model.columns import ColumnEncoding, TableEncoding
from liftlock.notions import Notion
from liftlock.notions.guarantee import Wanted
from liftlock.tables.randomiser import ColumnRandomiser
from liftlock.tables.tonight import TableLeak, TonightsLeaks, measure_table
from tests.published_rows import (
    Extremes,
    Row,
    hospital,
    law_of_file,
    law_of_given_file,
    row_lifts,
)
from tests.unit.tables.protect.memory import Memory


def made_for(
    rows: Sequence[Row], notion: Notion | None = None, secret: str = "hiv", **rules: Any
) -> Mechanism:
    joint = Joint.from_columns([r[secret] for r in rows], [r["department"] for r in rows])
    made = design(joint, LIP("0.5") if notion is None else notion, method="optimal", seconds=20)
    code = ColumnEncoding("department", secret=secret, **rules)
    return replace(made, encoding=TableEncoding((code,)))


def leaks_of(
    made: Mechanism, rows: Sequence[Row], secrets: Sequence[str | None] = ("hiv",)
) -> TonightsLeaks:
    columns = {name: [row[name] or None for row in rows] for name in rows[0]}
    return measure_table(Memory.of(97, **columns), ColumnRandomiser.of(made), secrets)


def only(found: TonightsLeaks) -> TableLeak:
    (leak,) = found.leaks
    assert not found.unchecked
    return leak


def ends(leak: TableLeak) -> tuple[Fraction | None, Fraction | None]:
    return leak.lifts.smallest.lift, leak.lifts.largest.lift


def truth(made: Mechanism, rows: Sequence[Row], secret: str) -> Extremes:
    law = law_of_file(json.loads(made.to_json()))
    return row_lifts(rows, secret, [], lambda row: law(row["department"])).released


def moved(seed: int, share: float) -> list[Row]:
    """A night on which the department tells more of hiv."""
    draw = random.Random(seed)
    return [
        {**row, "department": "infection"}
        if row["hiv"] == "positive" and draw.random() < share
        else row
        for row in hospital(4000, seed)
    ]


FIRST = hospital(4000, 4)
MADE = made_for(FIRST)


@pytest.mark.parametrize("rows", [FIRST, hospital(4000, 9), moved(11, 0.4), hospital(50, 3)])
def test_it_is_what_fractions_say(rows: list[Row]) -> None:
    leak, expected = only(leaks_of(MADE, rows)), truth(MADE, rows, "hiv")
    assert leak.lifts.smallest.lift == expected.smallest
    assert leak.lifts.largest.lift == expected.largest
    limit = Fraction(math.exp(0.5))
    assert leak.holds == (expected.largest <= limit and expected.smallest >= 1 / limit)
    assert leak.rows == len(rows)
    if not expected.smallest:
        assert leak.smallest == ""
    elif not leak.holds:
        worst = max(expected.eps_lower, expected.eps_upper)
        assert float(leak.smallest.removeprefix("lip=")) == pytest.approx(worst, abs=1e-9)


def test_the_table_it_was_made_for_is_within_the_promise() -> None:
    leak = only(leaks_of(MADE, FIRST))
    assert leak.holds
    assert leak.more_than_chance is None


def test_a_joint_that_moved_is_told_from_chance() -> None:
    """At the error rate of 1 % for each; the seeds are fixed, so it fails always or never."""
    same = [only(leaks_of(MADE, hospital(4000, seed))) for seed in range(20, 28)]
    broken = [leak for leak in same if not leak.holds]
    assert broken
    assert not any(leak.more_than_chance for leak in broken)
    assert "no more than chance explains (error rate 1 %)" in broken[0].describe_chance()
    night = only(leaks_of(MADE, moved(11, 0.6)))
    assert night.more_than_chance
    assert night.at_least is not None
    exact = night.lifts
    assert 0.5 < night.at_least.eps_upper < float(exact.eps_upper().value)
    with pytest.raises(NotCertified, match=r"about 'hiv': lip.* more than chance explains"):
        leaks_of(MADE, moved(11, 0.6)).require_kept()


def test_a_rare_value_that_is_not_there_may_be_chance() -> None:
    """One in 200 people has it; of tables of 200 rows every third has nobody who has."""
    counts = {"ill": [200, 0, 0], "well": [0, 198, 2]}
    joint = Joint.from_rows(
        Alphabet.of(counts), Alphabet.of(["often", "never", "always"]), [*counts.values()]
    )
    noisy = Draft.of(joint.inputs.labels, "yn", [[0.01, 0.99], [0, 1], [1, 0]])
    code = ColumnEncoding("department", secret="hiv")
    made = replace(lock(noisy, LIP("0.01"), joint), encoding=TableEncoding((code,)))
    rows = [{"hiv": "ill", "department": "often"}, {"hiv": "well", "department": "never"}] * 100
    leak = only(leaks_of(made, rows))
    assert not leak.holds
    assert leak.more_than_chance is False


def test_secrets_that_the_promise_does_not_know_are_counted_and_named() -> None:
    rows = [
        {**row, "hiv": "unclear"} if at % 40 == 0 else row | {"hiv": f" {row['hiv'].upper()}"}
        for at, row in enumerate(FIRST)
    ]
    leak = only(leaks_of(MADE, rows))
    assert dict(leak.unknown) == {"unclear": 100}
    expected = truth(MADE, rows, "hiv")
    assert ends(leak) == tuple(expected)


def test_secrets_that_differ_only_in_case_are_not_one() -> None:
    rows = [{"hiv": hiv, "department": x} for hiv in "aA" for x in ("eyes", "heart")] * 50
    made = made_for(rows)
    tonight = [
        {"hiv": row["hiv"], "department": ("eyes", "heart")[row["hiv"] == "a"]} for row in rows
    ]
    leak = only(leaks_of(made, tonight))
    assert ends(leak) == tuple(truth(made, tonight, "hiv"))
    assert not leak.holds


def test_missing_secrets_are_a_secret_of_their_own() -> None:
    rows = [{**row, "hiv": ""} if at % 40 == 0 else row for at, row in enumerate(FIRST)]
    leak = only(leaks_of(MADE, rows))
    assert dict(leak.unknown) == {"(missing)": 100}
    expected = truth(MADE, rows, "hiv")
    assert ends(leak) == tuple(expected)


def test_a_cell_that_stays_missing_is_told_to_everybody() -> None:
    made = made_for(FIRST, keeps_missing=True)
    rows = [
        {**row, "department": ""} if row["hiv"] == "positive" and at % 3 == 0 else row
        for at, row in enumerate(FIRST)
    ]
    leak = only(leaks_of(made, rows))
    law = law_of_file(json.loads(made.to_json()))
    expected = row_lifts(
        rows,
        "hiv",
        [],
        lambda row: law(row["department"]) if row["department"] else {"gone": Fraction(1)},
    ).released
    assert ends(leak) == tuple(expected)
    assert expected.smallest == 0
    assert leak.missing == sum(not row["department"] for row in rows) > 0
    assert leak.smallest == ""


@pytest.mark.parametrize("share", [0.0, 0.7])
def test_the_value_itself(share: float) -> None:
    values = [row["department"] for row in FIRST]
    prior = Prior.from_counts({label: values.count(label) for label in sorted(set(values))})
    made = replace(
        design(prior, ALIP(lower="1", upper="0.6"), method="optimal", seconds=20),
        encoding=TableEncoding((ColumnEncoding("department", keeps_missing=True),)),
    )
    draw = random.Random(1)
    rows = [
        {**row, "department": "dental" if draw.random() < share else row["department"]}
        for row in FIRST
    ]
    gone = [{**rows[0], "department": ""}] * 5
    leak = only(leaks_of(made, [*rows, *gone], ()))
    law = law_of_file(json.loads(made.to_json()))
    expected = row_lifts(rows, "department", [], lambda row: law(row["department"])).released
    assert ends(leak) == tuple(expected)
    assert (leak.secret, leak.missing, leak.holds) == (None, 5, share == 0.0)
    assert leak.more_than_chance is (None if leak.holds else True)


def test_every_guarantee_is_looked_at() -> None:
    values = [row["department"] for row in FIRST]
    hiv, region = (Joint.from_columns([r[n] for r in FIRST], values) for n in ("hiv", "region"))
    channel = design(hiv.prior, LIP("1"), method="safe-response").channel
    also = [Wanted(LIP("1"), region, "region"), Wanted(LIP("1"), hiv.prior)]
    made = replace(Mechanism.prove(channel, LIP("1"), hiv, also=also), encoding=MADE.encoding)
    rows = hospital(4000, 9)
    first, second, third = leaks_of(made, rows, ("hiv", "region")).leaks
    assert [each.secret for each in (first, second, third)] == ["hiv", "region", None]
    for leak, name in ((first, "hiv"), (second, "region"), (third, "department")):
        expected = truth(made, rows, name)
        assert ends(leak) == tuple(expected)
    found = leaks_of(made, rows, (None, "region"))
    assert [leak.secret for leak in found.leaks] == ["region", None]
    (said,) = found.unchecked
    assert "does not say what the secret 'hiv' of each row is" in said
    with pytest.raises(InputError, match="cannot be checked"):
        found.require_kept()


def test_encodings_are_measured_by_their_closed_form() -> None:
    values = [row["department"] for row in FIRST]
    prior = Prior.from_counts({label: values.count(label) for label in sorted(set(values))})
    made = design(prior, LDP("1"), method="sue")
    named = replace(made, encoding=TableEncoding((ColumnEncoding("department"),)))
    leak = only(leaks_of(named, moved(11, 0.6), ()))
    assert leak.holds
    assert 0 < float(leak.lifts.eps_upper().value) <= 1


def test_nothing_to_measure() -> None:
    empty = Memory.of(hiv=pa.array([], pa.string()), department=pa.array([], pa.string()))
    found = measure_table(empty, ColumnRandomiser.of(MADE), ("hiv",))
    assert (found.leaks, found.unchecked, found.empty) == ((), (), True)
    found.require_kept()
    one = only(leaks_of(MADE, [row for row in FIRST if row["hiv"] == "positive"]))
    assert one.holds
    assert one.lifts.largest.lift == one.lifts.smallest.lift == 1
    same = only(leaks_of(MADE, [{**row, "department": "eyes"} for row in FIRST]))
    assert same.lifts.largest.lift == same.lifts.smallest.lift == 1


def test_too_many_secrets_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("liftlock.tables.tonight.MOST_VALUES", 100)
    rows = [{**row, "hiv": f"{row['hiv']} {at}"} for at, row in enumerate(FIRST)]
    found = leaks_of(MADE, rows)
    assert found.leaks == ()
    assert found.unchecked == ("'hiv' has more than 100 values: not counted",)


def test_frames_are_checked_when_asked() -> None:
    def frame(rows: Sequence[Row]) -> pa.Table:
        return pa.table({name: [row[name] for row in rows] for name in ("department", "hiv")})

    assert liftlock.tables.release(frame(FIRST), MADE, check=True).column_names == ["department"]
    with pytest.raises(NotCertified, match="in this table of 4,000 rows"):
        liftlock.tables.release(frame(moved(11, 0.6)), MADE, check=True)
    with pytest.raises(InputError, match="cannot be checked"):
        liftlock.tables.release(frame(FIRST).drop(["hiv"]), MADE, check=True)


# --- beside what is given -------------------------------------------------------------------------


def made_given(rows: Sequence[Row], **how: Any) -> Mechanism:
    table = pa.table(
        {name: [row[name] for row in rows] for name in ("region", "department", "hiv")}
    )
    done = ll.protect(table, "department", LIP("0.5"), secret="hiv", given="region", **how)
    return done.mechanisms["department"]


GIVEN = made_given(FIRST, seconds=10)


@pytest.mark.parametrize("rows", [FIRST, hospital(4000, 9), moved(11, 0.4)])
def test_what_is_promised_given_a_column_is_measured_for_each_of_its_values(
    rows: list[Row],
) -> None:
    leaks = leaks_of(GIVEN, rows, ("hiv",) * len(GIVEN.guarantees)).leaks
    law = law_of_given_file(json.loads(GIVEN.to_json()))
    expected = row_lifts(rows, "hiv", ["region"], law)
    first, *others = leaks
    assert first.given == ("region",)
    assert ends(first) == tuple(expected.beyond)
    for leak in others:
        assert leak.given == ()
        assert ends(leak) == tuple(expected.released)


def test_chance_is_told_from_more_beside_what_is_given() -> None:
    """Each region at its share of 1 %; the seeds are fixed."""
    names = ("hiv",) * len(GIVEN.guarantees)
    calm = [leaks_of(GIVEN, hospital(4000, seed), names).leaks[0] for seed in range(30, 34)]
    assert any(not leak.holds for leak in calm)
    assert not any(leak.more_than_chance for leak in calm)
    night = leaks_of(GIVEN, moved(11, 0.6), names).leaks[0]
    assert night.more_than_chance
    assert night.at_least is not None
    assert 0.5 < night.at_least.eps_upper < float(night.lifts.eps_upper().value)


def test_one_region_that_moved_is_seen() -> None:
    rows = [
        other if row["region"] == "north" else row
        for row, other in zip(hospital(4000, 11), moved(11, 0.9), strict=True)
    ]
    names = ("hiv",) * len(GIVEN.guarantees)
    leak = leaks_of(GIVEN, rows, names).leaks[0]
    assert leak.more_than_chance
    law = law_of_given_file(json.loads(GIVEN.to_json()))
    assert ends(leak) == tuple(row_lifts(rows, "hiv", ["region"], law).beyond)


def test_a_missing_cell_beside_what_is_given_is_told_to_everybody() -> None:
    rules = GIVEN.encoding
    assert rules is not None
    code = replace(rules.columns[0], keeps_missing=True)
    made = replace(GIVEN, encoding=replace(rules, columns=(code,)))
    rows = [
        {**row, "department": ""} if row["hiv"] == "positive" and at % 3 == 0 else row
        for at, row in enumerate(FIRST)
    ]
    law = law_of_given_file(json.loads(made.to_json()))
    expected = row_lifts(
        rows, "hiv", ["region"], lambda row: law(row) if row["department"] else {None: Fraction(1)}
    )
    first = leaks_of(made, rows, ("hiv",) * len(made.guarantees)).leaks[0]
    assert ends(first) == tuple(expected.beyond)


def test_values_beside_what_is_given_are_their_own_secret() -> None:
    table = pa.table({name: [row[name] for row in FIRST] for name in ("region", "department")})
    done = ll.protect(table, "department", LIP("1"), given="region", seconds=10)
    made = done.mechanisms["department"]
    rows = moved(11, 0.5)
    law = law_of_given_file(json.loads(made.to_json()))
    expected = row_lifts(rows, "department", ["region"], law)
    first, *others = leaks_of(made, rows, ()).leaks
    assert ends(first) == tuple(expected.beyond)
    assert all(ends(leak) == tuple(expected.released) for leak in others)
