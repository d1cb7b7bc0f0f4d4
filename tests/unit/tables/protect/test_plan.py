"""From specs to mechanisms that are proved, before anything is released."""

from __future__ import annotations

import datetime
import decimal
import itertools
import json
import math
import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from liftlock import Alphabet, Joint, Mechanism, Prior, Step
from liftlock.errors import InputError, LiftlockError
from liftlock.model.columns import MISSING_LABEL
from liftlock.notions import ALIP, LDP, LIP, Notion
from liftlock.tables.protect import Protection
from liftlock.tables.protect.plan import prepare
from liftlock.tables.protect.spec import ColumnSpec, Policy
from liftlock.tables.randomiser import ColumnRandomiser
from liftlock.tables.releases import TableRelease
from tests.unit.tables.protect.memory import Memory, lifts, rows_of, within


def people(rows: int = 300) -> list[tuple[str, str | None, str]]:
    chance = random.Random(6)
    found = []
    for _ in range(rows):
        told = chance.choices("stu", (3, 2, 1))[0]
        x = chance.choices(
            ["a", "b", "c", None], {"s": (4, 1, 2, 1), "t": (1, 4, 2, 1)}.get(told, (2, 2, 2, 1))
        )
        z = chance.choices("pq", (3, 1) if told == "s" else (2, 3))
        found.append((told, x[0], z[0]))
    return found


PEOPLE = people()
SOURCE = Memory.of(
    64,
    s=[row[0] for row in PEOPLE],
    x=[row[1] for row in PEOPLE],
    z=[row[2] for row in PEOPLE],
    k=["k", "l", "m"] * 100,
)  # fmt: skip


def prepared(*specs: ColumnSpec, source: Memory = SOURCE, **options: Any) -> Protection:
    return prepare(source, specs, **({"seconds": 8, "curve": False} | options))


def made(protection: Protection, at: int = 0) -> Mechanism:
    found = protection.columns[at].mechanism
    assert isinstance(found, Mechanism)
    return found


@pytest.mark.parametrize("policy", ["category", "keep"])
@pytest.mark.parametrize("notion", [LIP("0.6"), ALIP(lower="1.1", upper="0.3")])
def test_what_is_promised_holds_in_the_table(policy: Any, notion: Notion) -> None:
    spec = ColumnSpec("x", notion, "s", policy=Policy(policy))
    mechanism = made(prepared(spec))
    distribution = rows_of(mechanism)
    rows = Counter((told, x or MISSING_LABEL) for told, x, _ in PEOPLE)
    budgets = [float(str(value)) for value in notion.budgets.values()]
    assert within(lifts(rows, distribution.__getitem__), budgets[0], budgets[-1])


def test_numbers_promise_what_holds_in_the_table() -> None:
    chance = np.random.default_rng(1)
    for numbers in (
        chance.integers(18, 70, 500).astype(float),
        np.where(chance.random(500) < 0.6, 0, chance.exponential(50, 500)),
    ):
        source = Memory.of(100, pay=numbers)
        mechanism = made(prepared(ColumnSpec("pay", LIP("1"), bins=12), source=source))
        codes = ColumnRandomiser(mechanism).inputs([pa.array(numbers)])
        labels = mechanism.table.inputs.labels
        rows = Counter((labels[code], labels[code]) for code in codes.tolist())
        assert within(lifts(rows, rows_of(mechanism).__getitem__), 1, 1)


def test_columns_that_are_one_value_keep_one_promise() -> None:
    specs = [ColumnSpec(name, LIP("0.5"), "s") for name in ("x", "z")]
    protection = prepared(*specs, together=True)
    mechanism = made(protection)
    distribution = rows_of(mechanism)
    rows = Counter((told, (x or MISSING_LABEL, z)) for told, x, z in PEOPLE)
    assert within(lifts(rows, distribution.__getitem__), 0.5, 0.5)
    # What is read in the released cells is no more than the output itself.
    (piece,) = Memory(SOURCE.table, 1000).batches(["x", "z"])
    arrays = TableRelease(protection, SOURCE, []).change().apply_to(piece)
    shown = {(x, z) for x, z in zip(*(array.to_pylist() for array in arrays), strict=True)}
    assert shown <= set(itertools.product(["a", "b", "c", None], ["p", "q"]))


def test_secrets_are_left_out_and_others_stay() -> None:
    assert prepared(ColumnSpec("x", LIP("1"), "s")).dropped == ("s",)
    assert prepared(ColumnSpec("x", LIP("1"), "s"), keep=["s"]).dropped == ()
    assert prepared(ColumnSpec("x", LIP("1"), "s"), drop=["k"]).dropped == ("k", "s")
    both = prepared(ColumnSpec("x", LIP("1"), "z"), ColumnSpec("z", LIP("1")))
    assert both.dropped == ()  # it is replaced itself
    assert [leak.secret for leak in both.combined] == ["z", "z"]


def test_notes_on_what_was_and_was_not_counted() -> None:
    protection = prepared(ColumnSpec("x", LIP("1"), "s"), keep=["k"])
    assert any("is kept by --keep" in note for note in protection.notes)
    assert protection.columns[0].learned
    smooth = prepared(ColumnSpec("x", LIP("1"), "s", policy=Policy(smooth=1)))
    assert any("smoothed" in note for note in smooth.columns[0].notes)


def test_a_kept_column_that_tells_too_much_is_named() -> None:
    source = Memory(
        SOURCE.table.append_column(
            "spy", pa.array([row[0] + "12"[at % 2] for at, row in enumerate(PEOPLE)])
        )
    )
    protection = prepared(ColumnSpec("x", LIP("0.5"), "s"), source=source)
    assert ("spy", "s") in [(leak.name, leak.secret) for leak in protection.kept]
    assert not prepared(ColumnSpec("x", LIP("0.5"), "s"), source=source, drop=["spy", "z"]).kept
    own = Memory(
        SOURCE.table.append_column(
            "spy", pa.array([f"{row[1]}{at % 2}" for at, row in enumerate(PEOPLE)])
        )
    )
    protection = prepared(ColumnSpec("x", LIP("1.5")), source=own, drop=["s"])
    assert ("spy", "x") in [(leak.name, leak.secret) for leak in protection.kept]


@pytest.mark.parametrize(("notion", "named"), [(LDP("1.5"), False), (LDP("0.1"), True)])
def test_levels_of_ldp_are_limits_of_what_stays(notion: Notion, named: bool) -> None:
    protection = prepared(ColumnSpec("x", notion, "s"), drop=["k"])
    assert [leak.name for leak in protection.kept] == (["z"] if named else [])


def test_local_priors_are_not_accounted_for_and_that_is_said() -> None:
    yes = np.linspace(0.2, 0.8, 300)
    table = SOURCE.table.append_column("p p", pa.array(1 - yes)).append_column("p q", pa.array(yes))
    local = ColumnSpec("z", LIP("1"), local={"p": "p p", "q": "p q"})
    protection = prepared(ColumnSpec("x", LIP("1")), local, source=Memory(table))
    assert isinstance(protection.columns[1].mechanism, Mechanism)
    assert any("'z'" in note and "not accounted for" in note for note in protection.notes)
    with pytest.raises(InputError, match="go with lip or alip"):
        prepared(ColumnSpec("z", LDP("1"), local=dict(local.local)), source=Memory(table))


JOINT = Joint.from_rows(
    Alphabet.of(["s", "t", "u"]),
    Alphabet.of([*"abc", MISSING_LABEL]),
    [[4, 1, 2, 1], [1, 4, 2, 1], [2, 2, 2, 1]],
)


def test_a_public_joint_must_know_every_secret() -> None:
    protection = prepared(ColumnSpec("x", LIP("0.6"), "s", JOINT))
    assert not protection.columns[0].learned
    less = Joint.from_rows(Alphabet.of(["s", "t"]), JOINT.inputs, JOINT.counts[:2])
    never = Joint.from_rows(JOINT.secrets, JOINT.inputs, [*JOINT.counts[:2], [0, 0, 0, 0]])
    for wrong in (less, never):
        with pytest.raises(InputError, match=r"secret 's' is not in the joint.*'u'"):
            prepared(ColumnSpec("x", LIP("0.6"), "s", wrong))


def test_a_missing_secret_may_be_any_that_the_joint_knows() -> None:
    table = SOURCE.table.set_column(0, "s", pa.array([None, *(row[0] for row in PEOPLE[1:])]))
    assert prepared(ColumnSpec("x", LIP("0.6"), "s", JOINT), source=Memory(table)).rows == 300


def test_the_rules_of_a_public_prior() -> None:
    prior = Prior.from_counts({"a": 3, "b": 2, "c": 1})
    with_missing = Prior.from_counts({"a": 3, "b": 2, "c": 1, MISSING_LABEL: 1})
    code = made(prepared(ColumnSpec("x", LIP("1"), context=prior, policy=Policy("keep")))).encoding
    assert code is not None
    assert code.columns[0].keeps_missing
    code = made(prepared(ColumnSpec("x", LIP("1"), context=with_missing))).encoding
    assert code is not None
    assert code.columns[0].missing == MISSING_LABEL
    for context in (prior, with_missing):
        with pytest.raises(InputError, match="missing value at row 13, column 'x'"):
            prepared(ColumnSpec("x", LIP("1"), context=context, policy=Policy("refuse")))
    with pytest.raises(InputError, match="missing cells are kept"):
        prepared(ColumnSpec("x", LIP("1"), context=with_missing, policy=Policy("keep")))
    few = Prior.from_counts({"a": 3, "b": 2})
    mapped = prepared(ColumnSpec("x", LIP("1"), context=few, policy=Policy("keep", unseen="map")))
    assert any("'a', the most likely" in note for note in mapped.columns[0].notes)
    unknown = SOURCE.table["x"].to_pylist().count("c")
    assert f"{unknown:,} unseen values of 'x' were mapped to 'a'" in mapped.columns[0].notes


def test_what_is_given_is_measured_in_the_table() -> None:
    """A joint that calls secret and column independent: by the table's own counts it is wrong."""
    table = pa.table({"x": [*"aab" * 40, *"abb" * 30], "s": ["m"] * 120 + ["f"] * 90})
    joint = Joint.from_counts({"m": {"a": 1, "b": 1}, "f": {"a": 1, "b": 1}})
    spec = ColumnSpec("x", LIP("0.1"), "s", joint)
    found = prepared(spec, source=Memory(table)).columns[0]
    assert found.in_table is not None
    assert not found.in_table.holds
    rows = Counter(zip(table["s"].to_pylist(), table["x"].to_pylist(), strict=True))
    weights = made(prepared(spec, source=Memory(table))).table
    shares = {
        (s, y): sum(n * weights.probability(x, y) for (t, x), n in rows.items() if t == s)
        for s in "mf"
        for y in weights.outputs.labels
    }
    sizes = {"m": 120, "f": 90}
    exact = [
        shares[s, y] * 210 / (sizes[s] * sum(shares[t, y] for t in "mf"))
        for s in "mf"
        for y in weights.outputs.labels
    ]
    assert found.in_table.eps_upper == pytest.approx(math.log(max(exact)), rel=1e-12)
    assert found.in_table.eps_lower == pytest.approx(-math.log(min(exact)), rel=1e-12)
    # Nobody needs to hold the secret when the joint is given.
    without = prepared(spec, source=Memory(table.select(["x"]))).columns[0]
    assert without.in_table is None
    assert without.secret == "s"


@pytest.mark.parametrize(
    ("specs", "options", "what"),
    [
        ([], {}, "no column to protect"),
        ([ColumnSpec("x", LIP("1")), ColumnSpec("x", LIP("1"))], {}, "protected twice"),
        ([ColumnSpec("x", LIP("1"))], {"drop": ["x"]}, "protected column is dropped"),
        ([ColumnSpec("x", LIP("1"))], {"drop": ["k"], "keep": ["k"]}, "both kept and dropped"),
        ([ColumnSpec("none", LIP("1"))], {}, "none"),
        ([ColumnSpec("x", LIP("1"), "none")], {}, "none"),
        ([ColumnSpec("x", LIP("1"))], {"drop": ["none"]}, "none"),
        ([ColumnSpec("x", LIP("1"))], {"keep": ["none"]}, "none"),
        ([ColumnSpec("x", LIP("1"))], {"together": True}, "--together needs several columns"),
    ],
)
def test_contradictions_are_refused(specs: Any, options: Any, what: str) -> None:
    with pytest.raises(InputError, match=what):
        prepared(*specs, **options)


COPIES = Memory.of(
    64,
    s=[row[0] for row in PEOPLE],
    x=[row[1] for row in PEOPLE],
    copy=[None if row[1] is None else f"_{row[1]}" for row in PEOPLE],
)


@pytest.mark.parametrize(
    ("spec", "what"),
    [
        (ColumnSpec("x", LIP("1"), "s"), "the kept column 'copy' determines the protected column"),
        (ColumnSpec("x", LIP("1"), utility="mean"), "a label is not a number"),
        (ColumnSpec("x", LIP("1"), method="cluster"), "cluster"),
        (ColumnSpec("x", LDP("1"), method="arc"), "arc"),
        (ColumnSpec("x", LDP("1"), "s", policy=Policy("keep")), "keeping cells missing"),
        (
            ColumnSpec("x", LIP("1"), context=Prior.uniform([*"ab"])),
            "not an input of the mechanism at row 1",
        ),
        (ColumnSpec("x", LIP("1"), policy=Policy(rare=500)), "every value of 'x' is rarer"),
        (ColumnSpec("x", LDP("1"), local={"a": "s", "b": "s"}), "go with lip or alip"),
    ],
)
def test_what_needs_no_design_is_refused_without_one(
    spec: ColumnSpec, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("a design was made")

    monkeypatch.setattr("liftlock.tables.protect.design.design", never)
    monkeypatch.setattr("liftlock.tables.protect.plan.design_column", never)
    # A first column that fits would be designed for before the second is looked at.
    source = Memory(COPIES.table.append_column("fine", pa.array(["k", "l"] * 150)))
    with pytest.raises(LiftlockError, match=what):
        prepared(ColumnSpec("fine", LIP("1")), spec, source=source)


def test_whole_numbers_stay_whole() -> None:
    chance = np.random.default_rng(5)
    ages = chance.integers(18, 70, 400)
    for kind, ends in ((pa.int16(), None), (pa.float64(), None), (pa.int64(), "18:69")):
        table = pa.table({"s": [*"fm"] * 200, "age": pa.array(ages).cast(kind)})
        for secret in (None, "s"):
            spec = ColumnSpec("age", LIP("1"), secret, bins=9, domain=ends, method="safe-response")
            if secret is not None:
                spec = replace(spec, method=None)
            source = Memory(table)
            protection = prepared(spec, source=source)
            labels = made(protection).table.outputs.labels
            assert all(type(label) is int and 18 <= label <= 69 for label in labels), labels
            assert len(set(labels)) == len(labels)
            change = TableRelease(protection, source, [spec]).change()
            assert change.gives == {"age": kind}
            released = pa.concat_arrays(
                [change.apply_to(piece)[0] for piece in source.batches(change.needs)]
            )
            assert released.type == kind
            assert set(released.to_pylist()) <= set(labels)


def test_decimals_are_those_that_are_asked_for() -> None:
    halves = Memory.of(64, s=[*"fm"] * 100, pay=[number / 2 for number in range(200)])
    whole = Memory.of(64, s=[*"fm"] * 100, pay=[float(number) for number in range(200)])
    for source, decimals, most in (
        (halves, None, 9),
        (halves, 1, 1),
        (whole, 2, 2),
        (halves, 0, 0),
    ):
        spec = ColumnSpec("pay", LIP("1"), bins=6, decimals=decimals)
        found = made(prepared(spec, source=source))
        written = [str(number).partition(".")[2] for number in found.table.outputs.labels]
        assert max(map(len, written)) <= most
        # Only names are others: the channel is that of the same column without rounding.
        assert found.origin is not None
        assert any("released as" in said for said in found.origin.remarks) is (decimals is not None)
    for wrong in (-1, 13):
        with pytest.raises(InputError, match="not a number of decimals"):
            ColumnSpec("pay", LIP("1"), decimals=wrong)


def test_numbers_of_a_group_stay_whole() -> None:
    ages = [20 + (7 * row) % 40 for row in range(400)]
    source = Memory.of(64, age=ages, sex=[*"fmmf"] * 100)
    specs = [
        ColumnSpec(name, LIP("1"), bins=4 if name == "age" else None, method="safe-response")
        for name in ("age", "sex")
    ]
    protection = prepared(*specs, source=source, together=True)
    change = TableRelease(protection, source, specs).change()
    assert change.gives["age"] == pa.int64()
    again = Mechanism.from_data(json.loads(made(protection).to_json()))
    assert ColumnRandomiser(again).released_types([pa.null(), pa.null()])[0] == pa.int64()


def test_wishes_that_cannot_be() -> None:
    prior = Prior.uniform([*"ab"])
    for wrong in (
        {"secret": "x"},
        {"context": JOINT},
        {"secret": "s", "context": prior},
        {"secret": "s", "local": {"a": "p a"}},
        {"numbers": True, "local": {"a": "p a"}},
        {"numbers": True, "context": prior},
        {"bins": 4, "secret": "s", "context": JOINT},
    ):
        with pytest.raises(InputError):
            ColumnSpec("x", LIP("1"), **wrong)


def test_somebody_is_told_what_is_being_done() -> None:
    told: list[Step] = []
    prepared(ColumnSpec("x", LIP("1"), "s"), ColumnSpec("z", LIP("1"), "s"), watch=told.append)
    said = [step.stage for step in told if step.done is None]
    steps = [(step.done, step.total) for step in told]
    assert said[0] == "counting"
    assert any(text.startswith("x: designing") for text in said)
    assert "accounting for all columns together" in said
    assert (300, 300) in steps


def test_the_fractions_of_a_public_joint_are_not_rounded() -> None:
    thirds = Joint.from_rows(
        Alphabet.of(["s", "t", "u"]),
        JOINT.inputs,
        [[Fraction(1, 3), 1, 1, 1], [1, Fraction(1, 7), 1, 1], [1, 1, 1, 1]],
    )
    mechanism = made(prepared(ColumnSpec("x", LIP("0.2"), "s", thirds)))
    rows = {
        (told, x): count
        for told, row in zip(thirds.secrets.labels, thirds.counts, strict=True)
        for x, count in zip(thirds.inputs.labels, row, strict=True)
    }
    assert within(lifts(rows, rows_of(mechanism).__getitem__), 0.2, 0.2)


DAYS = [datetime.date(2024, 1, 1 + at % 3) for at in range(90)]
TEXTS = pa.array(["a", "b\u3000", " a", "b", None] * 18)


@pytest.mark.parametrize(
    "cells",
    [
        pa.array([True, False, None] * 30),
        pa.array([0, 3, 3] * 30, pa.uint8()),
        pa.array([2**63, 2**63 + 1] * 45, pa.uint64()),
        pa.array(DAYS),
        pa.array(DAYS).cast(pa.timestamp("us", "UTC")),
        pa.array([decimal.Decimal(at % 7).scaleb(-1) for at in range(90)], pa.decimal128(4, 1)),
        pa.array([b"a", b"b", b"b"] * 30),
        TEXTS.cast(pa.string_view()),
        TEXTS.dictionary_encode(),
        pc.run_end_encode(TEXTS),
        pa.array(["nan", "None", "null"] * 30),
        pa.array(["1", "1.0", "01"] * 30),
    ],
    ids=lambda cells: str(cells.type),
)
@pytest.mark.parametrize("secret", [None, "s"])
def test_what_is_learned_is_what_is_released(cells: pa.Array, secret: str | None) -> None:
    source = Memory(pa.table({"x": cells, "s": ([*"sttstss"] * 13)[:90]}), 40)
    protection = prepared(
        ColumnSpec("x", LIP("3"), secret, bins=4 if "decimal" in str(cells.type) else None),
        source=source,
    )
    change = TableRelease(protection, source, []).change()
    arrays = [change.apply_to(piece)[0] for piece in source.batches(["x"])]
    assert sum(map(len, arrays)) == 90
    assert not any("(missing)" in array.to_pylist() for array in arrays)
