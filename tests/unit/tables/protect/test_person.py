"""A promise for a person with several rows: both ways against enumeration of all rows."""

from __future__ import annotations

import itertools
import json
import math
import random
from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

import liftlock as ll
from liftlock import LIP, Mechanism
from liftlock.errors import InputError, LiftlockError, NotDefined
from liftlock.model.person import PerPerson, PersonRule
from liftlock.notions import ALIP, LDP, Notion, parse_claim
from liftlock.tables.people import PersonColumn, PersonCounter
from liftlock.tables.protect import Protection
from liftlock.tables.protect.person import find_repeating
from liftlock.tables.protect.plan import prepare
from liftlock.tables.protect.spec import ColumnSpec, Hidden, Policy
from liftlock.tables.randomiser import ColumnRandomiser
from liftlock.tables.releases import TableRelease
from tests.unit.tables.protect.memory import Memory, lifts, rows_of, within


def visits(people: int = 60, most: int = 3, seed: int = 1) -> list[tuple[str, str, str]]:
    """Return rows of people in no order: who, the secret (one per person), and a value."""
    chance = random.Random(seed)
    found = []
    for number in range(people):
        told = chance.choice("fm")
        usual = chance.choices("abc", [4, 2, 1] if told == "f" else [1, 2, 4])[0]
        for _ in range(1 + number % most):
            value = usual if chance.random() < 0.8 else chance.choice("abc")
            found.append((f"u{number}", told, value))
    chance.shuffle(found)
    return found


ROWS = visits()
SOURCE = Memory.of(
    7,
    user=[row[0] for row in ROWS],
    s=[row[1] for row in ROWS],
    x=[row[2] for row in ROWS],
    k=[number % 2 for number in range(len(ROWS))],
)


def protect(notion: Notion, secret: str | None = "s", **options: Any) -> Protection:
    wanted: Any = {"person": "user", "seconds": 6, "curve": False} | options
    return prepare(SOURCE, [ColumnSpec("x", notion, secret)], **wanted)


def released(protection: Protection, source: Memory = SOURCE) -> list[Any]:
    specs = [ColumnSpec(each.name, LIP("1")) for each in protection.columns]
    change = TableRelease(protection, source, specs).change()
    pieces = [change.apply_to(piece)[0] for piece in source.batches(change.needs)]
    return list(itertools.chain.from_iterable(piece.to_pylist() for piece in pieces))


def by_person(rows: list[tuple[str, str, str]]) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return the secret and all values of each person."""
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    for user, told, value in rows:
        found[user] = (told, (*found.get(user, ("", ()))[1], value))
    return found


# --- divided --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("notion", "lower", "upper"),
    [(LIP("0.6"), 0.6, 0.6), (ALIP(lower="0.9", upper="0.3"), 0.9, 0.3), (LDP("0.6"), 0.6, 0.6)],
)
def test_all_rows_of_a_person_keep_the_promise(notion: Notion, lower: float, upper: float) -> None:
    """Enumerate all reports of all rows of each person, and count people by their secret."""
    protection = protect(notion, per_person="divide")
    made = protection.columns[0].mechanism
    chances = rows_of(made)
    people = by_person(ROWS)
    counts = Counter((told, *values) for told, values in people.values())

    def reports(*values: str) -> dict[Any, Fraction]:
        each = [chances[value].items() for value in values]
        return {
            tuple(y for y, _ in drawn): math.prod((p for _, p in drawn), start=Fraction(1))
            for drawn in itertools.product(*each)
        }

    assert within(lifts(counts, reports), lower, upper)
    # Whatever the rows have in common: a world in which the values of a person say the secret.
    worst = Counter({("f", "a", "a", "a"): 1, ("m", "c", "c", "c"): 999, ("m", "b", "b", "b"): 999})
    assert within(lifts(worst, reports), lower, upper)
    rule = made.person
    assert rule is not None
    assert (rule.mode, rule.rows, made.promised) == ("divide", 3, notion)
    assert protection.person is not None
    assert protection.person.people == len(people)
    assert "user" in protection.dropped
    assert "s" in protection.dropped


def test_a_file_that_promises_more_than_its_rows_keep_is_refused() -> None:
    made = protect(LIP("0.6"), per_person="divide").columns[0].mechanism
    data = json.loads(made.to_json())
    assert Mechanism.from_data(data) == made
    data["person"]["rows"] = 4
    del data["fingerprint"]
    with pytest.raises(InputError, match="4 rows of a person may tell more than"):
        Mechanism.from_data(data)
    rules = made.encoding
    assert rules is not None
    wrong = PersonRule("user", "repeat", 3, "lip", {"epsilon": "0.1"})
    with pytest.raises(InputError, match="keeps what is certified"):
        replace(made, encoding=replace(rules, person=wrong))


def test_more_rows_than_were_proved_are_refused() -> None:
    protection = protect(LIP("0.6"), per_person="divide")
    more = visits(60, 4)
    source = Memory.of(5, user=[r[0] for r in more], s=[r[1] for r in more], x=[r[2] for r in more])
    with pytest.raises(InputError, match="more rows than the 3 that the promise covers"):
        released(protection, source)
    assert len(released(protection)) == len(ROWS)


# --- repeated -------------------------------------------------------------------------------------


def test_one_report_for_all_rows_of_a_person() -> None:
    protection = protect(LIP("0.6"), per_person="repeat")
    made = protection.columns[0].mechanism
    out = released(protection)
    assert len(out) == len(ROWS)
    reports = defaultdict(set)
    for (user, _, _), report in zip(ROWS, out, strict=True):
        reports[user].add(report)
    assert all(len(each) == 1 for each in reports.values())
    # What stands in the rows is one draw about the most frequent value, the first of equals.
    people = by_person(ROWS)
    counts: Counter[Any] = Counter()
    for told, values in people.values():
        often = Counter(values)
        counts[told, min(often, key=lambda value: (-often[value], value))] += 1
    assert within(lifts(counts, rows_of(made).__getitem__), 0.6, 0.6)
    assert protection.person is not None
    assert protection.person.most_rows == 3


def test_rows_that_go_out_hold_the_report_of_their_person() -> None:
    """What they tell is that of the value that was taken for the person, not of the row."""
    protection = protect(LIP("0.6"), per_person="repeat")
    chances = rows_of(protection.columns[0].mechanism)
    usual = {}
    for user, (_, values) in by_person(ROWS).items():
        often = Counter(values)
        usual[user] = min(often, key=lambda value: (-often[value], value))
    rows = Counter((told, usual[user], at % 2) for at, (user, told, _) in enumerate(ROWS))
    least, most = lifts(rows, lambda x, k: {(y, k): p for y, p in chances[x].items()})
    assert least is not None
    (seen,) = [each for each in protection.rows_out if each.kept == ("k",)]
    assert seen.population.eps_upper == pytest.approx(math.log(most), rel=1e-9)
    assert seen.population.eps_lower == pytest.approx(-math.log(least), rel=1e-9)


def test_reports_are_drawn_anew_and_by_the_table() -> None:
    """The share of each report among people is that of the table, to 6 standard errors."""
    protection = protect(LIP("0.6"), None, per_person="repeat")
    made = protection.columns[0].mechanism
    people = by_person(ROWS)
    seen: Counter[str] = Counter()
    runs = 40
    for _ in range(runs):
        reports = dict(zip((row[0] for row in ROWS), released(protection), strict=True))
        seen.update(reports.values())
    values = []
    for _, mine in people.values():
        often = Counter(mine)
        values.append(min(often, key=lambda value: (-often[value], value)))
    chances = rows_of(made)
    for report in made.table.outputs.labels:
        each = [float(chances[value].get(report, Fraction(0))) for value in values]
        mean, variance = runs * sum(each), runs * sum(p * (1 - p) for p in each)
        assert abs(seen[str(report)] - mean) <= 6 * math.sqrt(variance) + 1e-9


def test_numbers_are_the_median_of_a_person() -> None:
    tally = PersonCounter("user", ("pay", "job"), {"pay": ()})
    batch = pa.record_batch(
        {
            "user": ["a", "b", "a", "a", "b", "c", "b"],
            "pay": [3.0, 5.0, 9.0, 4.0, None, None, 7.0],
            "job": ["z", "y", "y", "z", None, None, "x"],
        }
    )
    for at in range(len(batch)):
        tally.add(batch.slice(at, 1))
    assert tally.values("pay").to_pylist() == [4.0, 5.0, None]
    assert tally.values("job").to_pylist() == ["z", "x", None]
    assert (tally.people, tally.rows, tally.most_rows) == (3, 7, 3)
    assert not tally.is_constant("job")
    assert tally.source().columns == ("pay", "job")


def test_a_secret_that_changes_within_a_person_is_not_repeated() -> None:
    told = ["m" if number % 5 < 2 else "f" for number in range(len(ROWS))]
    table = SOURCE.table.set_column(1, "s", pa.array(told))
    specs = [ColumnSpec("x", LIP("0.6"), "s")]
    with pytest.raises(NotDefined, match="differs between the rows of a person"):
        prepare(Memory(table), specs, person="user", per_person="repeat", curve=False, seconds=5)
    found = prepare(Memory(table), specs, person="user", curve=False, seconds=5).person
    assert found is not None
    assert found.mode == "divide"
    assert [cost.kept is None for cost in found.costs] == [False, True]


def test_the_better_way_is_taken_and_both_are_said() -> None:
    protection = protect(LIP("0.6"))
    whose = protection.person
    assert whose is not None
    divided, repeated = whose.costs
    assert divided.kept is not None
    assert repeated.kept is not None
    assert whose.mode == ("repeat" if repeated.kept >= divided.kept else "divide")
    assert 0 < repeated.same < 1
    assert any("one report each (chosen)" in note for note in protection.notes)
    assert any(note.startswith("budget divided: a row keeps") for note in protection.notes)


# --- everywhere -----------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["divide", "repeat"])
def test_frames_are_protected_and_released_by_people(way: Any) -> None:
    table = SOURCE.table
    done = ll.protect(table, "x", LIP("0.6"), secret="s", person="user", per_person=way, seconds=5)
    assert done.frame.column_names == ["x", "k"]
    again = ll.tables.release(table, done.mechanisms["x"])
    assert again.column_names == ["x", "k"]
    assert again["k"].equals(table["k"])
    if way == "repeat":
        reports = defaultdict(set)
        for user, report in zip(table["user"].to_pylist(), again["x"].to_pylist(), strict=True):
            reports[user].add(report)
        assert all(len(each) == 1 for each in reports.values())
    kept = ll.protect(
        table, "x", LIP("0.6"), secret="s", person="user", per_person=way, seconds=5, keep=["user"]
    )
    assert "user" in kept.frame.column_names


def test_rows_are_not_released_without_their_people() -> None:
    made = protect(LIP("0.6"), per_person="repeat").columns[0].mechanism
    with pytest.raises(NotDefined, match="releasing rows one by one"):
        ColumnRandomiser(made).release([pa.array(["a"])])
    with pytest.raises(InputError, match="not counted"):
        PersonColumn.of(made).draw_outputs([pa.array(["a"]), pa.array(["u1"])])
    with pytest.raises(LiftlockError, match="user"):
        ll.tables.release(SOURCE.table.drop(["user", "s"]), made)


@pytest.mark.parametrize("empty", [None, ""])
def test_rows_of_nobody_are_refused(empty: str | None) -> None:
    users = [*SOURCE.table["user"].to_pylist()[:-1], empty]
    table = SOURCE.table.set_column(0, "user", pa.array(users))
    with pytest.raises(InputError, match=f"no person in the column 'user' at row {len(ROWS)}"):
        prepare(Memory(table), [ColumnSpec("x", LIP("1"))], person="user", curve=False)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"person": "nobody"}, "no such column"),
        ({"person": "x"}, "the column of people is protected itself"),
        ({"person": None, "per_person": "divide"}, "no column that names them"),
        ({"per_person": "both"}, "unknown way"),
        ({"total": LIP("1"), "per_person": "divide"}, "dividing a total"),
    ],
)
def test_wishes_that_cannot_be(options: Any, what: str) -> None:
    with pytest.raises(LiftlockError, match=what):
        protect(LIP("1"), **options)
    with pytest.raises(NotDefined, match="ask for lip, alip or ldp"):
        protect(parse_claim("mutual-information=1"), per_person="divide")


# --- columns that look like people ---------------------------------------------------------------


def test_people_with_several_rows_are_noticed_and_places_are_not() -> None:
    rows = visits(120, 6, seed=4)
    chance = random.Random(2)
    source = Memory.of(
        100,
        visitor=[row[0] for row in rows],
        code=[f"c{row[0]}" for row in rows],
        region=[chance.choice("NESW") for _ in rows],
        zip=[f"z{chance.randrange(60)}" for _ in rows],
        age=[chance.randrange(18, 80) for _ in rows],
        paid=[chance.randrange(100) for _ in rows],
        height=[chance.gauss(170, 10) for _ in rows],
        s=[row[1] for row in rows],
        x=[row[2] for row in rows],
    )
    protection = prepare(source, [ColumnSpec("x", LIP("0.6"), "s")], curve=False, seconds=5)
    assert [each.name for each in protection.repeating] == ["visitor", "code"]
    seen = protection.repeating[0]
    assert (seen.values, seen.most_rows) == (120, 6)
    assert seen.reason == "its name looks like an id"
    assert protection.repeating[1].reason == "rows with the same value agree in 's'"
    made = protection.columns[0].mechanism
    level = max(
        math.log(float(one[y] / other[y])) if other.get(y) else math.inf
        for one, other in itertools.product(rows_of(made).values(), repeat=2)
        for y in one
    )
    assert seen.loss == pytest.approx(6 * level, rel=1e-9)
    findings = [
        each for each in protection.verdict.findings if "may identify people" in each.sentence
    ]
    assert [each.columns for each in findings] == [("code",), ("visitor",)]
    assert findings[1].remedies[0].add == ("--person", "visitor")


@pytest.mark.parametrize("mode", ["divide", "repeat", None])
def test_a_table_without_rows_has_no_people(mode: PerPerson | None) -> None:
    source = Memory(SOURCE.table.slice(0, 0))
    with pytest.raises(InputError, match="no rows"):
        prepare(source, [ColumnSpec("x", LIP("1"), "s")], person="user", per_person=mode)


@pytest.mark.parametrize("mode", ["divide", "repeat"])
def test_nobody_is_released_without_a_row(mode: PerPerson) -> None:
    made = protect(LIP("0.9"), per_person=mode).columns[0].mechanism
    work = PersonColumn.of(made)
    assert isinstance(work, PersonColumn)
    work.look_at(Memory(SOURCE.table.slice(0, 0)))
    (out,) = work.release([pa.nulls(0, pa.string()), pa.nulls(0, pa.string())])
    assert len(out) == 0


def test_columns_that_each_divide_the_budget_are_not_said_to_keep_it_together() -> None:
    """Six reports of two columns that tell the same: 0.9 nats for a person, where 0.5 is asked."""
    secrets = ["m" if number % 8 == 0 else "f" for number in range(160)]
    rows = [(f"u{number}", told) for number, told in enumerate(secrets) for _ in range(3)]
    random.Random(3).shuffle(rows)
    told = [row[1] for row in rows]
    source = Memory.of(100, user=[row[0] for row in rows], s=told, x=told, z=told)
    specs = [ColumnSpec(name, LIP("0.5"), "s") for name in ("x", "z")]
    options: Any = {"person": "user", "per_person": "divide", "curve": False, "seconds": 4}
    protection = prepare(source, specs, **options)
    laws = [rows_of(each.mechanism) for each in protection.columns]
    shares = {each: Fraction(secrets.count(each), len(secrets)) for each in "fm"}
    least = 1.0
    for drawn in itertools.product(itertools.product("fm", "fm"), repeat=3):
        likely = {
            each: math.prod(laws[at][each][y[at]] for y in drawn for at in range(2))
            for each in "fm"
        }
        mean = sum(shares[each] * likely[each] for each in "fm")
        least = min(least, *(float(each / mean) for each in likely.values()))
    assert -math.log(least) > 0.8
    (finding,) = protection.verdict.findings
    assert protection.verdict.level == "conditional"
    assert '3 rows of one "user" tell up to 1 nats about "s"' in finding.sentence
    assert finding.remedies[0].add == ("--together",)
    assert len(finding.remedies) == 1  # a total is not divided
    assert prepare(source, specs, together=True, **options).verdict.level == "kept"


@pytest.mark.parametrize(("mode", "beside"), [("divide", ("k", "home")), ("repeat", ("k",))])
def test_kept_cells_of_several_rows_are_said_to_be_measured_row_by_row(
    mode: PerPerson, beside: tuple[str, ...]
) -> None:
    """They differ between the rows of a person, or stand beside several reports."""
    home = pa.array(["north" if int(row[0][1:]) % 3 else "south" for row in ROWS])
    source = Memory(SOURCE.table.append_column("home", home))
    spec = ColumnSpec("x", LIP("0.9"), "s")
    protection = prepare(
        source,
        [spec],
        person="user",
        per_person=mode,
        seconds=4,
        curve=False,
    )
    found = [each for each in protection.verdict.findings if "row by row" in each.sentence]
    assert [each.columns for each in found] == [beside]
    # No promise for a person is given kept columns: that command would be refused.
    offered = [r.add for each in protection.verdict.findings for r in each.remedies]
    assert not any("--given" in add for add in offered)


def test_a_promise_for_people_is_offered_only_where_it_can_be_made() -> None:
    rows = visits(120, 6, seed=4)
    source = Memory.of(
        100, user=[r[0] for r in rows], s=[r[1] for r in rows], x=[r[2] for r in rows]
    )
    spec = ColumnSpec("x", LIP("0.6"), "s", also=(Hidden(None, LDP("2")),))
    protection = prepare(source, [spec], curve=False, seconds=4)
    found = [each for each in protection.verdict.findings if "may identify people" in each.sentence]
    assert [each.columns for each in found] == [("user",)]
    assert [each.add for each in found[0].remedies] == [()]


def test_what_rows_tell_that_share_nothing_but_the_secret() -> None:
    """Six rows that are independent given the secret, by enumeration of all their reports."""
    rows = visits(120, 6, seed=4)
    source = Memory.of(
        100, user=[r[0] for r in rows], s=[r[1] for r in rows], x=[r[2] for r in rows]
    )
    protection = prepare(source, [ColumnSpec("x", LIP("0.6"), "s")], curve=False, seconds=5)
    (seen,) = protection.repeating
    chances = rows_of(protection.columns[0].mechanism)
    sizes = Counter(row[1] for row in rows)
    given: dict[str, Counter[Any]] = {told: Counter() for told in sizes}
    for _, told, value in rows:
        for y, p in chances[value].items():
            given[told][y] += p / sizes[told]  # type: ignore[assignment]
    total = sum(sizes.values())
    worst = 0.0
    for drawn in itertools.combinations_with_replacement(sorted(given["f"], key=str), 6):
        likely = {told: math.prod(given[told][y] for y in drawn) for told in sizes}
        mean = sum(Fraction(sizes[told], total) * likely[told] for told in sizes)
        worst = max(worst, *(abs(math.log(float(each / mean))) for each in likely.values()))
    assert seen.same == pytest.approx(worst, rel=1e-9)


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("user", True), ("customerID", True), ("user_2", True), ("client-hash", True),
        ("patient id", True), ("who", True), ("pupil_no", True), ("e-mail", True),
        ("account no", True), ("visitors", True),
        ("client_age", False), ("user_rating", False), ("member_since", False),
        ("patient_weight", False), ("employee count", False), ("width", False),
    ],
)  # fmt: skip
def test_what_is_said_of_people_is_not_called_like_them(name: str, named: bool) -> None:
    chance = random.Random(4)
    cells = [chance.randrange(18, 80) for _ in range(400)]
    made = ll.design(ll.Prior.uniform("ab"), LIP("1"))
    found = find_repeating(Memory.of(50, **{name: cells}), [name], [], [made])
    assert [each.name for each in found] == [name] * named


def test_an_id_of_few_or_of_everybody_is_no_person_with_several_rows() -> None:
    rows = [f"u{number}" for number in range(300)]
    table = pa.table({"user": rows, "group_id": [f"g{number % 8}" for number in range(300)]})
    found = find_repeating(Memory(table), ["user", "group_id"], [], [])
    assert found == ()
    assert Policy().missing == "category"


@pytest.mark.parametrize(
    ("name", "rows", "named"), [("ward", 150, False), ("ward", 50, True), ("patient", 150, True)]
)
def test_a_ward_of_one_department_is_no_person(name: str, rows: int, named: bool) -> None:
    cells = [f"w{number}" for number in range(40) for _ in range(rows)]
    departments = ["abcd"[int(cell[1:]) % 4] for cell in cells]
    made = ll.design(ll.Prior.uniform("abcd"), LIP("1"))
    source = Memory.of(700, **{name: cells, "x": departments})
    found = find_repeating(source, [name], ["x"], [made])
    assert [each.name for each in found] == [name] * named


@pytest.mark.parametrize(
    ("cell", "values", "uneven", "named"),
    [
        ("p{:03}", 400, False, True), ("{}", 400, False, True), ("p{:03}", 400, True, False),
        ("w{}", 52, False, False), ("{:04}-05-01", 400, False, False),
    ],
)  # fmt: skip
def test_many_values_in_equally_many_rows_are_people(
    cell: str, values: int, uneven: bool, named: bool
) -> None:
    cells = [cell.format(number) for number in range(values) for _ in range(25)][uneven:]
    chance = random.Random(8)
    drawn = [chance.choice("abc") for _ in cells]
    made = ll.design(ll.Prior.uniform("abc"), LIP("1"))
    found = find_repeating(Memory.of(700, c=cells, x=drawn), ["c"], ["x"], [made])
    assert [(each.name, each.reason) for each in found] == [
        ("c", "each value is in 25 rows")
    ] * named
