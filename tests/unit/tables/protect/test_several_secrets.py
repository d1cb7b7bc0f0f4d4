"""Several secrets of one column, and a cap on its value: from raw rows, in fractions."""

from __future__ import annotations

import csv
import gzip
import json
import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import liftlock as ll
from liftlock import Mechanism
from liftlock.errors import InputError, NotDefined
from liftlock.notions import LDP, LIP, Notion, parse_claim
from liftlock.tables.protect.spec import ColumnSpec, Hidden, column_specs
from liftlock.tables.releases import release_frame
from tests.published_rows import Law, Row, hospital, law_of_file, row_lifts

ADULT = Path(__file__).parents[5] / "shared" / "data" / "adult" / "adult.data.gz"


def patients() -> list[Row]:
    """The hospital table with a second secret, which goes with the department too."""
    draw = random.Random(8)
    return [
        row | {"smokes": "ny"[draw.random() < (0.6 if row["department"] == "heart" else 0.25)]}
        for row in hospital(3000)
    ]


PATIENTS = patients()
FRAME = pa.Table.from_pylist(PATIENTS).select(["department", "hiv", "smokes", "region"])


def lifts_kept(rows: Sequence[Any], secret: Any, law: Any, notion: Notion) -> None:
    """Prove a guarantee of lifts from raw rows."""
    found = row_lifts(rows, secret, [], law).population
    limits = notion.lift_limits()
    assert limits is not None
    assert limits.upper is None or limits.upper.allows(found.largest)
    assert limits.lower is None or limits.lower.allows(1 / found.smallest)


def ratios_kept(law: Any, values: Sequence[str], notion: Notion) -> None:
    """Prove LDP of the value from the law of each."""
    assert notion.ratio_limit is not None
    chances: dict[Any, list[Fraction]] = {}
    for value in values:
        for y, chance in law({"department": value}).items():
            chances.setdefault(y, []).append(chance)
    for some in chances.values():
        if max(some):
            assert notion.ratio_limit.allows(max(some) / min(some))


def law_of(made: Mechanism) -> Any:
    law = law_of_file(json.loads(made.to_json()))
    return lambda row: law(row["department"])


# --- one column -----------------------------------------------------------------------------------


def test_each_secret_is_proved_with_its_own_budget_and_the_value_is_capped() -> None:
    done = ll.protect(
        FRAME,
        "department",
        "lip=0.2",
        secret=["hiv", "smokes"],
        budget_of={"smokes": "alip=0.05,0.1"},
        value_budget="ldp=2",
    )
    made = done.mechanisms["department"]
    assert made.secrets == ("hiv", "smokes")
    assert [str(each.notion) for each in made.guarantees] == [
        "lip(0.2)",
        "alip(lower=0.05, upper=0.1)",
        "ldp(2)",
    ]
    law = law_of(made)
    lifts_kept(PATIENTS, "hiv", law, parse_claim("lip=0.2"))
    lifts_kept(PATIENTS, "smokes", law, parse_claim("alip=0.05,0.1"))
    ratios_kept(law, sorted({row["department"] for row in PATIENTS}), LDP("2"))
    assert made.origin is not None
    assert made.origin.gap is not None
    assert made.origin.gap < 1e-5
    # Neither secret is beside what is released.
    assert done.frame.column_names == ["department", "region"]
    assert done.protection.dropped == ("hiv", "smokes")


def test_one_guarantee_for_all_secrets_is_that_of_each() -> None:
    done = ll.protect(FRAME, "department", 0.1, secret={"department": ["hiv", "smokes"]})
    made = done.mechanisms["department"]
    for secret in ("hiv", "smokes"):
        lifts_kept(PATIENTS, secret, law_of(made), LIP("0.1"))
    alone = ll.protect(FRAME, "department", 0.1, secret="hiv").mechanisms["department"]
    found = row_lifts(PATIENTS, "smokes", [], law_of(alone)).population
    assert not parse_claim("lip=0.1").lift_limits().upper.allows(found.largest)  # type: ignore[union-attr]
    assert alone.origin is not None
    assert made.origin is not None
    assert alone.origin.objective > made.origin.objective


def test_the_stored_mechanism_releases_beside_none_of_its_secrets(tmp_path: Path) -> None:
    done = ll.protect(FRAME, "department", "lip=0.2", secret=["hiv", "smokes"])
    path = tmp_path / "m.json"
    done.mechanisms["department"].save(path)
    made = Mechanism.load(path)
    safe = release_frame(FRAME, made)
    assert safe.column_names == ["department", "region"]
    left = release_frame(FRAME, made, keep=["smokes"])
    assert left.column_names == ["department", "smokes", "region"]


def test_numbers_have_several_secrets() -> None:
    draw = random.Random(3)
    rows: list[Any] = [
        row | {"pay": round(20 + 9 * (row["hiv"] != "negative") + draw.gauss(0, 6), 2)}
        for row in PATIENTS
    ]
    table = pa.Table.from_pylist(rows).select(["pay", "hiv", "smokes"])
    done = ll.protect(
        table, "pay", "lip=0.2", secret=["hiv", "smokes"], value_budget="lip=2", bins={"pay": 8}
    )
    made = done.mechanisms["pay"]
    code = made.encoding
    assert code is not None
    (rule,) = code.columns
    laws = law_of_file(json.loads(made.to_json()))

    def law(row: Any) -> Law:
        place = sum(row["pay"] >= edge for edge in rule.edges[1:-1])
        return laws(str(rule.bins[place]))

    for secret in ("hiv", "smokes"):
        lifts_kept(rows, secret, law, LIP("0.2"))
    lifts_kept(rows, lambda row: sum(row["pay"] >= e for e in rule.edges[1:-1]), law, LIP("2"))


def test_missing_and_rare_values_are_counted_alike_for_all_secrets() -> None:
    rows: list[Any] = [
        row | {"department": None if place % 11 == 0 else row["department"]}
        for place, row in enumerate(PATIENTS)
    ]
    for place in range(6):
        rows[place] = rows[place] | {"department": "chapel", "smokes": None}
    table = pa.Table.from_pylist(rows).select(["department", "hiv", "smokes"])
    done = ll.protect(table, "department", "lip=0.2", secret=["hiv", "smokes"], rare=9)
    made = done.mechanisms["department"]
    laws = law_of_file(json.loads(made.to_json()))

    def law(row: Any) -> Law:
        name = row["department"]
        return laws("(missing)" if name is None else "(other)" if name == "chapel" else name)

    for secret in ("hiv", "smokes"):
        lifts_kept(rows, secret, law, LIP("0.2"))


# --- several columns ------------------------------------------------------------------------------


def test_columns_that_are_one_value_share_their_secrets() -> None:
    done = ll.protect(
        FRAME,
        ["department", "region"],
        "lip=0.1",
        secret={"department": ["hiv", "smokes"], "region": ["hiv", "smokes"]},
        together=True,
    )
    (made,) = done.mechanisms.values()
    data = json.loads(made.to_json())
    table = {
        tuple(label): {json.dumps(y): Fraction(w, 1 << data["channel"]["bits"])}
        | {
            json.dumps(each): Fraction(weight, 1 << data["channel"]["bits"])
            for each, weight in zip(data["channel"]["outputs"], row, strict=True)
        }
        for label, row in zip(data["channel"]["inputs"], data["channel"]["weights"], strict=True)
        for y, w in [(data["channel"]["outputs"][0], row[0])]
    }
    for secret in ("hiv", "smokes"):
        lifts_kept(
            PATIENTS, secret, lambda row: table[row["department"], row["region"]], LIP("0.1")
        )
    with pytest.raises(InputError, match="share one secret"):
        ll.protect(
            FRAME,
            ["department", "region"],
            "lip=0.1",
            secret={"department": ["hiv", "smokes"], "region": ["hiv"]},
            together=True,
        )


def test_all_columns_together_are_accounted_for_about_each_secret() -> None:
    done = ll.protect(
        FRAME,
        ["department", "region"],
        "lip=0.3",
        secret={"department": ["hiv", "smokes"], "region": "hiv"},
    )
    assert [leak.secret for leak in done.protection.combined] == ["hiv", "smokes"]
    laws = [
        law_of_file(json.loads(done.mechanisms[name].to_json()))
        for name in ("department", "region")
    ]

    def both(row: Any) -> dict[Any, Fraction]:
        one, other = laws[0](row["department"]), laws[1](row["region"])
        return {(y, z): p * q for y, p in one.items() for z, q in other.items() if p * q}

    for leak in done.protection.combined:
        found = row_lifts(PATIENTS, leak.secret, [], both).population
        assert float(leak.account["eps_upper"].value) == pytest.approx(found.eps_upper, abs=1e-9)
        assert float(leak.account["eps_lower"].value) == pytest.approx(found.eps_lower, abs=1e-9)


# --- Adult ----------------------------------------------------------------------------------------


@pytest.mark.skipif(not ADULT.exists(), reason="the Adult table is not there")
def test_sex_and_race_behind_occupation() -> None:
    with gzip.open(ADULT, "rt") as stream:
        lines = [row for row in csv.reader(stream, skipinitialspace=True) if len(row) == 15]
    rows = [{"department": row[6], "race": row[8], "sex": row[9]} for row in lines]
    done = ll.protect(
        pa.Table.from_pylist(rows),
        "department",
        "lip=0.5",
        secret=["sex", "race"],
        budget_of={"race": "lip=0.3"},
        value_budget="lip=2",
        seconds=30,
    )
    made = done.mechanisms["department"]
    law = law_of(made)
    lifts_kept(rows, "sex", law, LIP("0.5"))
    lifts_kept(rows, "race", law, LIP("0.3"))
    lifts_kept(rows, "department", law, LIP("2"))
    assert made.origin is not None
    assert made.origin.gap is not None
    assert made.origin.gap < 1e-4
    assert Counter(done.frame.column_names) == {"department": 1}


# --- what is refused ------------------------------------------------------------------------------


def test_what_is_not_counted_for_several_secrets_is_refused() -> None:
    asked: dict[str, Any] = {"secret": ["hiv", "smokes"]}
    for how in ({"missing": "keep"}, {"smooth": 1}):
        with pytest.raises(InputError, match="several guarantees for one column"):
            column_specs("department", "lip=1", **asked, **how)
    joint = ll.Joint.from_columns(["a", "b"], ["x", "y"])
    with pytest.raises(InputError, match="all are counted in the table"):
        column_specs("department", "lip=1", **asked, context=joint)
    with pytest.raises(InputError, match="a budget of what is not a secret"):
        column_specs("department", "lip=1", **asked, budget_of={"sex": "lip=1"})
    with pytest.raises(InputError, match="a column that is not protected"):
        column_specs("department", "lip=1", {"region": ["hiv"]})
    with pytest.raises(InputError, match="2 secrets for 3 columns"):
        column_specs(["a", "b", "c"], "lip=1", ["d", "e"])
    with pytest.raises(InputError, match="its own secret"):
        column_specs("department", "lip=1", ["hiv", "department"])
    with pytest.raises(InputError, match="named before a secret"):
        ColumnSpec("a", LIP("1"), None, also=(Hidden("b", LIP("1")),))
    with pytest.raises(NotDefined, match="several guarantees"):
        ll.protect(
            FRAME,
            ["department", "region"],
            secret={"department": ["hiv", "smokes"], "region": "hiv"},
            total="lip=1",
        )
    with pytest.raises(NotDefined, match="several guarantees"):
        ll.protect(FRAME, "department", "lip=1", **asked, person="region")
    with pytest.raises(NotDefined, match="use the method optimal"):
        ll.protect(FRAME, "department", "lip=1", **asked, method="watchdog")
    with pytest.raises(NotDefined, match="chi2"):
        ll.protect(FRAME, "department", "lip=1", **asked, budget_of={"hiv": "chi2=1"})


def test_a_value_may_have_two_guarantees_and_no_secret() -> None:
    done = ll.protect(FRAME.select(["department"]), "department", "lip=0.5", value_budget="ldp=0.8")
    made = done.mechanisms["department"]
    assert made.guarantee == "lip(epsilon=0.5) and ldp(budget=0.8)"
    law = law_of(made)
    lifts_kept(PATIENTS, "department", law, LIP("0.5"))
    ratios_kept(law, sorted({row["department"] for row in PATIENTS}), LDP("0.8"))
