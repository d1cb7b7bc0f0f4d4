"""What protecting a table came to, in words and as data."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace

import pytest
from rich.console import Console

from liftlock import LIP, Prior, design
from liftlock.accounting import account
from liftlock.report.text.protect import protection_data, protection_report
from liftlock.tables.protect import (
    CombinedLeak,
    Curve,
    CurvePoint,
    KeptColumn,
    ProtectedColumn,
    Protection,
)

PRIOR = Prior.from_counts({"a": 3, "b": 2, "c": 1})
MADE = design(PRIOR, LIP("1"), method="optimal")
COLUMN = ProtectedColumn(
    "job",
    "health",
    MADE,
    True,
    ("a note",),
    Curve("worth", True, (CurvePoint(0.5, "lip(epsilon=0.5)", 0.1),), 0.0, 1.0),
    "safe.json",
    {"a": 4, "b": 2},
)
WHOLE = Protection(
    "people.csv",
    6,
    (COLUMN, replace(COLUMN, name="pay", secret=None, curve=None)),
    (CombinedLeak("health", ("job", "pay"), account([MADE, MADE], PRIOR)),),
    (KeptColumn("town", "health", 4, math.inf, 0.75),),
    ("health",),
    "safe.csv",
)


def text_of(protection: Protection) -> str:
    stream = io.StringIO()
    Console(file=stream, width=200).print(protection_report(protection), markup=False)
    return stream.getvalue()


def test_everything_that_was_promised_and_found_is_said() -> None:
    text = text_of(WHOLE)
    assert '"job", hiding "health"' in text
    assert '"pay", hiding its own value' in text
    assert text.count("CERTIFIED: lip(epsilon=1)") == 2
    assert "method: optimal" in text
    assert "learned from this table: proved for its rows, not for the people that they" in text
    assert '6 rows: "job", "pay" replaced, "health" left out' in text


def test_leakage_together_is_that_of_the_account_and_larger_than_of_each() -> None:
    leak = WHOLE.combined[0].account
    text = text_of(WHOLE)
    assert f"{float(leak['eps_lower'].value):.6g}" in text
    assert f"{float(leak['eps_upper'].value):.6g}" in text
    assert float(leak["lip"].value) > 1
    assert "exact" in text
    assert "WARNING: together they reveal more about" in text


def test_columns_that_stay_and_tell_too_much_are_a_warning() -> None:
    text = text_of(WHOLE)
    assert "WARNING: a kept column reveals more about a secret than the budget allows" in text
    assert "unlimited" in text
    assert "0.75" in text
    assert "WARNING" not in text_of(replace(WHOLE, kept=(), combined=()))
    two = replace(WHOLE, kept=WHOLE.kept * 2)
    assert "kept columns reveal more" in text_of(two)


def test_a_prior_for_each_row_has_a_guarantee_but_no_table() -> None:
    local = design(["no", "yes"], LIP("1"), method="safe-response")
    whole = Protection("t.csv", 3, (ProtectedColumn("x", None, local, False),))
    assert "lip(epsilon=1) for every user under every prior" in text_of(whole)
    (column,) = protection_data(whole)["columns"]
    assert (column["guarantee"], column["method"]) == ("lip(epsilon=1)", "safe-response")


def test_names_cannot_write_on_the_terminal() -> None:
    evil = replace(WHOLE, columns=(replace(COLUMN, name="x\x1b[2Jy"),), dropped=("a\nb",))
    text = text_of(evil)
    assert "\x1b" not in text
    assert '"a\nb"' not in text


def test_the_data_are_json_without_infinities() -> None:
    data = protection_data(WHOLE)
    text = json.dumps(data, allow_nan=False)
    assert json.loads(text) == data
    assert (data["format"], data["table"], data["output"]) == (
        "liftlock.protection",
        "people.csv",
        "safe.csv",
    )
    assert data["kept"] == [
        {
            "name": "town",
            "secret": "health",
            "eps_lower": "infinity",
            "eps_upper": 0.75,
            "pooled": 0.0,
        }
    ]
    first = data["columns"][0]
    assert first["curve"] == [{"scale": 0.5, "guarantee": "lip(epsilon=0.5)", "utility": 0.1}]
    assert first["certificate"]["holds"] is True
    assert data["combined"][0]["columns"] == ["job", "pay"]
    assert float(data["combined"][0]["account"]["spent"]["lip"]["value"]) == pytest.approx(
        float(WHOLE.combined[0].account["lip"].value)
    )
