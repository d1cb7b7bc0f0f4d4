"""Columns that stay and that a mechanism uses: what rows tell then, from raw rows."""

from __future__ import annotations

import bisect
import json
import math
import random
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import liftlock as ll
from liftlock.cli import main
from liftlock.errors import CellError, InputError, LiftlockError
from liftlock.tables import aggregate, release
from liftlock.tables.randomiser import ColumnRandomiser
from tests import published_rows
from tests.published_rows import TABLES, Row, law_of_given_file, row_lifts

HAIR = 1e-9


def frame(rows: list[Row]) -> pd.DataFrame:
    return pd.DataFrame(rows)


def protected(rows: list[Row], column: str, secret: str, given: Any, **how: Any) -> Any:
    return ll.protect(frame(rows), column, ll.LIP("0.5"), secret=secret, given=given, **how)


CASES = [
    ("xor", "code", "hiv", "team"),
    ("sites", "code", "hiv", "site"),
    ("clinic", "dept", "hiv", "clinic"),
    ("hospital", "department", "hiv", "region"),
]


@pytest.mark.parametrize(("table", "column", "secret", "given"), CASES)
def test_the_published_row_keeps_the_promise(
    table: str, column: str, secret: str, given: str
) -> None:
    """In fractions from raw rows: what y tells beyond the given column is within budget."""
    rows = TABLES[table]()
    made = protected(rows, column, secret, given).mechanisms[column]
    data = json.loads(made.to_json())
    found = row_lifts(rows, secret, [given], law_of_given_file(data))
    assert found.beyond.eps_lower <= 0.5 + HAIR
    assert found.beyond.eps_upper <= 0.5 + HAIR
    measured = made.certificate.nats
    if not made.context.rest:  # which is measured under every joint, not under the table's own
        assert found.beyond.eps_lower == pytest.approx(float(measured["eps_lower"]), abs=HAIR)
        assert found.beyond.eps_upper == pytest.approx(float(measured["eps_upper"]), abs=HAIR)
    worst = max(found.released.eps_lower, found.released.eps_upper)
    assert made.holds_without_given == (worst <= 0.5)
    if made.also:
        levels = made.also[0].certificate.nats
        assert found.released.eps_lower == pytest.approx(float(levels["eps_lower"]), abs=HAIR)
        assert found.released.eps_upper == pytest.approx(float(levels["eps_upper"]), abs=HAIR)
    plain = ll.protect(frame(rows), column, ll.LIP("0.5"), secret=secret).mechanisms[column]
    law = published_rows.law_of_file(json.loads(plain.to_json()))
    before = row_lifts(rows, secret, [given], lambda row: law(row[column]))
    assert max(before.beyond.eps_lower, before.beyond.eps_upper) > 0.6


def test_as_good_as_splitting_by_hand() -> None:
    rows = TABLES["hospital"]()
    made = protected(rows, "department", "hiv", "region").mechanisms["department"]
    total = 0.0
    for region, number in Counter(row["region"] for row in rows).items():
        part = [row for row in rows if row["region"] == region]
        own = ll.design(
            ll.Joint.from_columns([r["hiv"] for r in part], [r["department"] for r in part]),
            ll.LIP("0.5"),
        )
        assert own.origin is not None
        total += number / len(rows) * own.origin.objective
    assert made.origin.objective == pytest.approx(total, rel=1e-9)


@pytest.mark.parametrize("table", ["hospital", "clinic"])
def test_a_given_column_that_goes_must_not_be_needed(table: str) -> None:
    """Where the given column is left out, the promise holds for those who do not see it."""
    column, secret, given = next(case[1:] for case in CASES if case[0] == table)
    rows = TABLES[table]()
    done = protected(rows, column, secret, given, drop=[given])
    made = done.mechanisms[column]
    assert given not in done.frame.columns
    assert made.holds_without_given
    found = row_lifts(rows, secret, [given], law_of_given_file(json.loads(made.to_json())))
    for told in (found.released, found.beyond):
        assert max(told.eps_lower, told.eps_upper) <= 0.5 + HAIR


def test_the_rest_holds_whatever_the_joint() -> None:
    """LDP of the shared table, from the integers, and lifts under joints that nobody has seen."""
    rows = TABLES["clinic"]()
    done = protected(rows, "dept", "hiv", "clinic")
    made = done.mechanisms["dept"]
    data = json.loads(made.to_json())
    law = law_of_given_file(data)
    laws = [law({"clinic": "never seen", "dept": dept}) for dept in "abcd"]
    for y in laws[0]:
        chances = [each[y] for each in laws]
        assert not max(chances) or math.log(max(chances) / min(chances)) <= 0.5 + HAIR
    draw = random.Random(1)
    for _ in range(50):
        joint = {(s, x): Fraction(draw.randrange(1, 50)) for s in "01" for x in range(4)}
        total = sum(joint.values())
        for s in "01":
            of_s = sum(n for (told, _), n in joint.items() if told == s)
            for y in laws[0]:
                whole = sum(n * laws[x][y] for (_, x), n in joint.items()) / total
                given_s = sum(joint[s, x] * laws[x][y] for x in range(4)) / of_s
                if whole:
                    assert abs(math.log(given_s / whole)) <= 0.5 + HAIR
    assert any("share one table" in note for note in done.protection.columns[0].notes)
    assert len(made.encoding.given.merged) > 1000


def test_numbers_are_given_in_bands() -> None:
    rows = TABLES["hospital"]()
    done = protected(rows, "department", "hiv", ["region", "age"], given_rows=60)
    made = done.mechanisms["department"]
    data = json.loads(made.to_json())
    age = data["given"]["columns"][1]
    assert len(age["cells"]) == 20
    edges = age["edges"][1:-1]
    banded = [
        row | {"age": age["cells"][bisect.bisect_right(edges, float(row["age"]))]} for row in rows
    ]
    sizes = Counter(row["age"] for row in banded)
    assert max(sizes.values()) < 2 * min(sizes.values())
    found = row_lifts(banded, "hiv", ["region", "age"], law_of_given_file(data))
    assert max(found.beyond.eps_lower, found.beyond.eps_upper) <= 0.5 + HAIR
    notes = " ".join(done.protection.columns[0].notes)
    assert "not for whoever knows the number" in notes
    # Bands are rules: other numbers in a band go the same way.
    work = ColumnRandomiser.of(made)
    cells = [pa.array(["eyes", "eyes"]), pa.array(["north", "north"])]
    one, other = work.inputs([*cells, pa.array([edges[3], edges[4] - 1e-6])])
    assert one == other


def test_the_value_itself_may_be_the_secret() -> None:
    rows = TABLES["hospital"]()
    made = ll.protect(frame(rows), "department", ll.LIP("1"), given="region").mechanisms[
        "department"
    ]
    found = row_lifts(rows, "department", ["region"], law_of_given_file(json.loads(made.to_json())))
    assert found.beyond.eps_lower == pytest.approx(float(made.certificate.nats["eps_lower"]))
    assert max(found.beyond.eps_lower, found.beyond.eps_upper) <= 1 + HAIR


def test_columns_together_beside_a_given_one() -> None:
    rows = [row | {"half": str(int(row["age"]) // 50)} for row in TABLES["hospital"]()]
    done = ll.protect(
        frame(rows),
        ["department", "half"],
        ll.LIP("0.5"),
        secret="hiv",
        given="region",
        together=True,
    )
    (made,) = done.mechanisms.values()
    data = json.loads(made.to_json())
    channel, listed = data["channel"], data["context"]["given"]
    table = {
        (group, *map(str, cells)): [Fraction(int(w), 1 << channel["bits"]) for w in row]
        for (group, cells), row in zip(channel["inputs"], channel["weights"], strict=True)
    }
    assert listed == ["east", "north", "south", "west"]
    found = row_lifts(
        rows,
        "hiv",
        ["region"],
        lambda row: dict(enumerate(table[row["region"], row["department"], row["half"]])),
    )
    assert max(found.beyond.eps_lower, found.beyond.eps_upper) <= 0.5 + HAIR
    assert set(done.frame["region"]) == set(listed)


def test_several_secrets_beside_a_given_column() -> None:
    """Each secret, and the value itself, keeps its own budget given every region."""
    draw = random.Random(5)
    rows = [
        row | {"sex": "fm"[draw.random() < (0.7 if row["department"] == "heart" else 0.4)]}
        for row in TABLES["hospital"]()
    ]
    done = ll.protect(
        frame(rows),
        "department",
        ll.LIP("0.5"),
        secret=["hiv", "sex"],
        given="region",
        budget_of={"sex": "lip=0.2"},
        value_budget="lip=2",
    )
    made = done.mechanisms["department"]
    law = law_of_given_file(json.loads(made.to_json()))
    for secret, budget in (("hiv", 0.5), ("sex", 0.2), ("department", 2)):
        found = row_lifts(rows, secret, ["region"], law)
        assert max(found.beyond.eps_lower, found.beyond.eps_upper) <= budget + HAIR
    given = [each for each in made.guarantees if isinstance(each.context, ll.Conditional)]
    assert [each.about for each in given] == ["hiv", "sex", None]
    again = ll.Mechanism.from_data(json.loads(made.to_json()))
    assert again.guarantees == made.guarantees
    assert made.secrets == ("hiv", "sex")


# --- releasing and estimating -------------------------------------------------------------------


def test_release_uses_the_table_of_each_row() -> None:
    """Frequencies of outputs by (given, value) are those of the table; chi-squared, level 1e-6."""
    rows = TABLES["sites"]()
    made = protected(rows, "code", "hiv", "site").mechanisms["code"]
    law = law_of_given_file(json.loads(made.to_json()))
    many = pd.DataFrame([row for row in rows for _ in range(20)]).drop(columns="hiv")
    safe = release(many, made)
    assert safe["site"].equals(many["site"])
    statistic, freedom = 0.0, 0
    for (site, code), part in many.groupby(["site", "code"]):
        seen = Counter(safe.loc[part.index, "code"])
        for y, chance in law({"site": site, "code": code}).items():
            expected = float(chance) * len(part)
            statistic += (seen[y] - expected) ** 2 / expected
        freedom += len(law({"site": site, "code": code})) - 1
    assert statistic < freedom + 5 * math.sqrt(2 * freedom) + 15


def test_frames_keep_their_kind_and_the_given_column() -> None:
    rows = TABLES["hospital"]()
    made = protected(rows, "department", "hiv", "region").mechanisms["department"]
    table = pa.Table.from_pylist(rows).drop_columns(["hiv"])
    frames: list[Any] = [table, pl.from_arrow(table), table.to_pandas()]
    for given in frames:
        safe = release(given, made)
        assert type(safe) is type(given)
        assert list(safe["region"]) == list(given["region"])


def test_estimates_add_up_over_groups_and_hold() -> None:
    """Intervals of the unbiased estimate hold in at least 85 % of 40 releases (95 % promised).

    With 40 releases and 5 answers that fails with a chance below 1e-6, if they hold at 95 %.
    """
    rows = TABLES["hospital"]()
    made = protected(rows, "department", "hiv", "region").mechanisms["department"]
    regions = [row["region"] for row in rows]
    values = [row["department"] for row in rows]
    truth = Counter(values)
    held = 0
    for seed in range(40):
        reports = made.simulate(values, regions, seed=seed)
        found = made.estimate(reports, given=regions)
        for answer in found.answers:
            assert answer.low is not None
            assert answer.high is not None
            held += answer.low <= truth[answer.name] <= answer.high
    assert held >= 0.85 * 5 * 40
    counted = made.aggregate(reports, given=regions)
    again = type(counted).from_data(json.loads(counted.to_json()))
    assert made.estimate(again).answers == found.answers
    halves = [
        made.aggregate(reports[part], given=regions[part])
        for part in (slice(0, 99), slice(99, None))
    ]
    assert sum(halves) == counted
    asked = made.estimate(counted, "survey", value=["eyes", "heart"], method="bayes")
    assert asked.answer.low < truth["eyes"] + truth["heart"] < asked.answer.high


def test_a_frame_of_reports_is_counted_with_its_given_column() -> None:
    rows = TABLES["hospital"]()
    done = protected(rows, "department", "hiv", "region")
    made = done.mechanisms["department"]
    counted = aggregate(done.frame, made)
    assert counted.reports == len(rows)
    assert counted == made.aggregate(
        list(done.frame["department"]), given=list(done.frame["region"])
    )
    with pytest.raises(InputError, match="given"):
        made.aggregate(list(done.frame["department"]))
    with pytest.raises(LiftlockError):
        aggregate(done.frame.drop(columns="region"), made)


def test_commands_release_and_estimate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = published_rows.write_csv(tmp_path / "t.csv", TABLES["hospital"]())
    safe, more, file = (
        tmp_path / "safe.csv",
        tmp_path / "more.csv",
        tmp_path / "safe.mechanism.json",
    )
    ask = ["protect", str(table), "--column", "department", "--secret", "hiv", "--epsilon", "0.5"]
    assert main([*ask, "--given", "region", "-o", str(safe), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (
        data["columns"][0]["certificate"]["claims"][0]["witness"]["given"]
        in "south east north west"
    )
    assert main(["release", str(file), str(table), "-o", str(more)]) == 0
    assert main(["estimate", str(file), str(safe), str(more), "--json"]) == 0
    found = json.loads(capsys.readouterr().out.partition("{")[2].join(["{", ""]))
    assert found["reports"] == 16_000
    before = published_rows.read_csv(table)
    after = published_rows.read_csv(more)
    assert [row["region"] for row in before] == [row["region"] for row in after]
    assert "hiv" not in after[0]
    # Left out, the given column would leave a promise for those who do not see it: there is none.
    refused = ["release", str(file), str(table), "--drop", "region", "-o", str(tmp_path / "no.csv")]
    assert main(refused) == 2
    assert "for those who see it" in capsys.readouterr().err
    assert not (tmp_path / "no.csv").exists()


# --- unseen and missing cells -------------------------------------------------------------------


def test_unseen_given_values_follow_the_policy() -> None:
    rows = TABLES["sites"]()
    people = frame(rows)
    other = pd.DataFrame({"site": ["E"], "code": ["u"]})
    strict = protected(rows, "code", "hiv", "site").mechanisms["code"]
    with pytest.raises(CellError, match=r"given value.*'E'.*unseen map"):
        release(other, strict)
    with pytest.raises(InputError, match="design it with --unseen map"):
        release(other, strict, unseen="map")
    made = ll.protect(
        people, "code", ll.LIP("0.5"), secret="hiv", given="site", unseen="map"
    ).mechanisms["code"]
    assert isinstance(made.context, ll.Conditional)
    assert made.context.rest
    assert len(release(other, made)) == 1
    code = ColumnRandomiser.of(made).inputs([pa.array(["u"]), pa.array(["E"])])
    assert made.table.inputs.labels[int(code[0])] == ("(other)", "u")
    with pytest.raises(CellError, match="'E'"):
        release(other, made, unseen="refuse")


def test_values_that_never_occurred_beside_a_given_one() -> None:
    rows = [
        row
        for row in TABLES["hospital"]()
        if (row["region"], row["department"]) != ("west", "eyes")
    ]
    one = pd.DataFrame({"region": ["west"], "department": ["eyes"]})
    made = protected(rows, "department", "hiv", "region").mechanisms["department"]
    with pytest.raises(CellError, match="never occurred beside"):
        release(one, made)
    made = protected(rows, "department", "hiv", "region", unseen="map").mechanisms["department"]
    code = ColumnRandomiser.of(made).inputs([pa.array(["eyes"]), pa.array(["west"])])
    assert made.table.inputs.labels[int(code[0])] == ("(other)", "eyes")


def test_missing_given_cells_are_a_value() -> None:
    rows: list[Any] = [dict(row) for row in TABLES["sites"]()]
    for at, row in enumerate(rows):
        row["site"] = None if at % 4 == 0 else row["site"]
    done = protected(rows, "code", "hiv", "site")
    made = done.mechanisms["code"]
    assert "(missing)" in made.context.given.labels
    assert done.frame["site"].isna().sum() == 1000
    for told in ("", "  ", None):
        code = ColumnRandomiser.of(made).inputs([pa.array(["u"]), pa.array([told], pa.string())])
        assert made.table.inputs.labels[int(code[0])] == ("(missing)", "u")


# --- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "how", "said"),
    [
        ("hiv", {}, "is the secret"),
        ("department", {}, "released one"),
        (["region", "region"], {}, "given twice"),
        ("nowhere", {}, "nowhere"),
        ("region", {"given_rows": 0}, "number of rows"),
        (["region", "age"], {"drop": ["age"]}, "some given columns stay"),
        ("region", {"missing": "keep"}, None),
    ],
)
def test_what_makes_no_sense_is_refused(given: Any, how: Any, said: str | None) -> None:
    rows = TABLES["hospital"]()
    if said is None:
        for row in rows[::9]:
            row["department"] = ""
        said = "stay missing"
    with pytest.raises(LiftlockError, match=said) as caught:
        protected(rows, "department", "hiv", given, **how)
    assert "\n" not in str(caught.value)


def test_a_file_that_was_changed_is_refused() -> None:
    made = protected(TABLES["sites"](), "code", "hiv", "site").mechanisms["code"]
    data = json.loads(made.to_json())
    assert ll.Mechanism.from_data(data) == made
    data["given"]["columns"][0]["name"] = "elsewhere"
    with pytest.raises(InputError, match="were changed"):
        ll.Mechanism.from_data(data)
    data = json.loads(made.to_json())
    data["channel"]["weights"][0][:2] = data["channel"]["weights"][0][1::-1]
    with pytest.raises(LiftlockError):
        ll.Mechanism.from_data(data)


def test_smoothed_counts_are_compared_with_the_table() -> None:
    done = protected(TABLES["hospital"](), "department", "hiv", "region", smooth=5)
    (column,) = done.protection.columns
    assert column.in_table is not None
    made = column.mechanism
    found = row_lifts(
        TABLES["hospital"](), "hiv", ["region"], law_of_given_file(json.loads(made.to_json()))
    )
    assert column.in_table.eps_lower == pytest.approx(found.beyond.eps_lower, abs=HAIR)
    assert column.in_table.eps_upper == pytest.approx(found.beyond.eps_upper, abs=HAIR)


def test_reports_are_written_for_given_columns(tmp_path: Path) -> None:
    done = protected(TABLES["hospital"](), "department", "hiv", ["region", "age"])
    done.report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "This is what the released value adds to" in text
    assert "the band is meant" in text


def test_numbers_are_released_beside_a_given_column() -> None:
    draw = np.random.default_rng(1)
    region = draw.choice(["n", "s"], 3000)
    sick = draw.random(3000) < np.where(region == "n", 0.2, 0.5)
    pay = np.round(draw.normal(3000 + 400 * sick * np.where(region == "n", 1, -1), 500))
    people = pd.DataFrame({"region": region, "sick": np.where(sick, "y", "n"), "pay": pay})
    done = ll.protect(
        people,
        "pay",
        ll.LIP("0.5"),
        secret="sick",
        given="region",
        bins={"pay": 12},
        domain="0:9000",
    )
    made = done.mechanisms["pay"]
    assert made.certificate.holds
    assert (done.frame["pay"] == done.frame["pay"].round()).all()
    assert made.encoding is not None
    code = made.encoding.columns[0]
    edges = code.edges[1:-1]
    rows = [
        {"region": r, "sick": s, "pay": code.bins[bisect.bisect_right(edges, p)]}
        for r, s, p in zip(region, people["sick"], pay, strict=True)
    ]
    found = row_lifts(rows, "sick", ["region"], law_of_given_file(json.loads(made.to_json())))
    assert max(found.beyond.eps_lower, found.beyond.eps_upper) <= 0.5 + HAIR


def coded_by(codes: list[str], rows: int = 4000) -> list[Row]:
    """Return rows whose result is illness under some codes and health under others."""
    draw = random.Random(7)
    found: list[Row] = []
    for place in range(rows):
        ill, at = draw.random() < 0.3, place % len(codes)
        seen = ill if draw.random() < 0.9 else not ill
        result = "+-"[seen == bool(at % 2)]
        found.append({"code": codes[at], "illness": "ny"[ill], "result": result})
    return found


def test_without_the_given_column_every_guarantee_is_needed() -> None:
    """One secret keeps its promise without the region, the other does not: the region must stay."""
    draw = random.Random(5)
    rows: list[Row] = []
    for _ in range(4000):
        north = draw.random() < 0.5
        one, other = draw.random() < 0.4, draw.random() < (0.15 if north else 0.75)
        often = (0.2 if north else 0.8) + (0.1 if one else -0.05)
        value = "xyz"[(draw.random() < often) + (draw.random() < often)]
        rows.append({"region": "SN"[north], "dep": value, "a": "ny"[one], "b": "ny"[other]})
    table = frame(rows)
    done = ll.protect(table, "dep", ll.LIP("0.4"), secret=["a", "b"], given="region")
    made = done.mechanisms["dep"]
    law = law_of_given_file(json.loads(made.to_json()))
    released = {name: row_lifts(rows, name, ["region"], law).released for name in "ab"}
    assert max(released["a"].eps_lower, released["a"].eps_upper) < 0.4
    assert max(released["b"].eps_lower, released["b"].eps_upper) > 0.4
    assert not made.holds_without_given
    with pytest.raises(InputError, match="the guarantee is for those who see it"):
        release(table, made, drop=["region"])


def test_a_guarantee_says_what_is_given() -> None:
    made = protected(TABLES["xor"](), "code", "hiv", "team").mechanisms["code"]
    assert made.guarantee == (
        "lip(epsilon=0.5) about hiv given 'team' and "
        "lip(epsilon=0.5) about hiv for whoever does not see 'team'"
    )
    plain = ll.design(ll.Conditional.of({0: ll.Prior.uniform("ab")}), ll.LIP("1"))
    assert "lip(epsilon=1) about the value" not in plain.guarantee
    assert plain.guarantee.startswith("lip(epsilon=1) given what is given")


def test_a_given_column_is_not_released() -> None:
    table = frame(TABLES["xor"]())
    made = ll.protect(table, "code", ll.LIP("0.5"), secret="hiv", given="team").mechanisms["code"]
    with pytest.raises(InputError, match="a column is both given and released"):
        release(table, made, "team")


def test_a_promise_given_bands_says_so() -> None:
    """Within each band the code changes from number to number, which nobody has measured."""
    rows = coded_by([str(number) for number in range(20, 90)], rows=7000)
    done = protected(rows, "result", "illness", "code")
    assert done.verdict.level == "conditional"
    assert 'about "illness" given the band of "code"' in done.verdict.sentence
    assert "whoever reads the number itself may learn more" in done.verdict.findings[0].sentence


def test_blanks_that_go_out_may_tell_something() -> None:
    """Cells are read without the blanks around them, and go out with them."""
    rows = coded_by(["N", "N "])
    done = protected(rows, "result", "illness", "code")
    assert done.mechanisms["result"].context.given.labels == ("N",)
    assert done.frame["code"].tolist() == [row["code"] for row in rows]
    assert done.verdict.level == "broken"
    assert protected(coded_by(["N", "S"]), "result", "illness", "code").verdict.level == "kept"


def test_many_combinations_of_given_values_need_no_memory() -> None:
    """Three columns of 3,000 values have 2.7e10 combinations, seven more than 64 bits can say."""
    draw = random.Random(3)
    names = [f"k{at}" for at in range(7)]
    rows = [
        {
            **{name: f"v{draw.randrange(3000)}" for name in names},
            "s": "yn"[at % 2],
            "x": "ab"[at % 3 % 2],
        }
        for at in range(9000)
    ]
    done = protected(rows, "x", "s", names[:3])
    assert len(done.mechanisms["x"].context.given) == 1
    assert release(frame(rows), done.mechanisms["x"], drop=names[3:]).shape == (9000, 4)
    with pytest.raises(InputError, match="more combinations of given values"):
        protected(rows, "x", "s", names)


def test_a_rest_that_nobody_is_in_costs_no_answer() -> None:
    """The shared table confuses values, but for reports that are there it was not used."""
    rows = TABLES["hospital"]()
    done = ll.protect(
        frame(rows), "department", ll.LIP("0.1"), secret="hiv", given="region", unseen="map"
    )
    made = done.mechanisms["department"]
    counted = aggregate(done.frame, made)
    with pytest.raises(LiftlockError, match="give the same reports"):
        made.estimate(counted, about="population", method="unbiased")
    told, regions = [row["department"] for row in rows], [row["region"] for row in rows]
    truth: Counter[Any] = Counter(told)
    inside = 0
    for seed in range(40):
        found = made.estimate(made.simulate(told, regions, seed=seed), given=regions)
        answers: list[Any] = list(found.answers)
        assert found.method == "unbiased"
        assert sum(each.raw for each in answers) == pytest.approx(len(rows))
        inside += sum(each.low <= truth[each.name] <= each.high for each in answers)
    assert inside >= 0.9 * 40 * len(truth)


def test_some_of_the_given_columns_are_no_row() -> None:
    """A rare tuple tells all: what one of its columns tells beside y is not for anybody."""
    draw = random.Random(4)
    rows: list[Row] = []
    for at in range(3000):
        ill, ward = draw.random() < 0.4, draw.choice("vw")
        region = "rare" if at < 1 else draw.choice("NS")
        result = "+-"[draw.random() < (0.7 if ill else 0.3)]
        rows.append({"region": region, "ward": ward, "ill": "ny"[ill], "result": result})
    done = protected(rows, "result", "ill", ["region", "ward"])
    assert done.mechanisms["result"].context.rest
    assert done.verdict.level == "kept" or {each.kind for each in done.verdict.findings} == {
        "outside"
    }


@pytest.mark.parametrize("first", [0, 1_700_000_000_000, 10**17])
@pytest.mark.parametrize("given", [(), "code"])
def test_bands_of_large_numbers_are_told_apart(first: int, given: Any) -> None:
    """Times in milliseconds differ in their last digits: each band has a name of its own."""
    rows = coded_by([str(first + 100_000 * place) for place in range(100)])
    done = protected(rows, "result", "illness", given)
    (row,) = done.protection.rows_out
    assert row.values == 20
    if given:
        assert len(done.mechanisms["result"].context.given) == 20
