"""What columns tell together, against enumeration of every row and every pair of outputs."""

from __future__ import annotations

import datetime
import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from liftlock import Alphabet, Joint, Mechanism, Prior, Table
from liftlock.accounting import Account, account
from liftlock.designs import design
from liftlock.errors import NotDefined
from liftlock.model.columns import MISSING_LABEL, ColumnEncoding, TableEncoding
from liftlock.notions import LIP, MaxLift
from liftlock.tables.protect import ProtectedColumn
from liftlock.tables.protect import leakage as combined
from liftlock.tables.protect.leakage import combined_leaks
from tests.unit.tables.protect.memory import Leak, Memory, lifts, rows_of

Distribution = dict[Any, dict[Any, Fraction]]


def released(name: str, values: str, weights: list[list[int]], **rules: Any) -> ProtectedColumn:
    """Make a mechanism of plain integers; its own guarantee is of no concern here."""
    bits = 4
    inputs = Alphabet.of([*values])
    table = Table.of(
        inputs, Alphabet.of([f"{name}{at}" for at in range(len(weights[0]))]), weights, bits=bits
    )
    prior = Prior.uniform([*values])
    notion = MaxLift("50")
    made = Mechanism(table, notion.certify(table, prior), prior, None)
    code = ColumnEncoding(name, **rules)
    whole = Mechanism(made.channel, made.certificate, prior, None, encoding=TableEncoding((code,)))
    return ProtectedColumn(name, None, whole, True)


def distribution_of(each: ProtectedColumn) -> Distribution:
    distribution: Distribution = rows_of(each.mechanism)
    distribution[None] = {"stays missing": Fraction(1)}
    return distribution


def together(people: list[tuple[Any, ...]], distributions: list[Distribution]) -> Leak:
    """Enumerate: each person's columns are randomised on their own."""

    def outputs(*cells: Any) -> dict[Any, Fraction]:
        lines = [
            distribution[cell].items()
            for distribution, cell in zip(distributions, cells, strict=True)
        ]
        return {
            tuple(output for output, _ in each): math.prod(
                (chance for _, chance in each), start=Fraction(1)
            )
            for each in itertools.product(*lines)
        }

    return lifts(Counter(people), outputs)


def check(account: Account, expected: Leak) -> None:
    least, most = expected
    assert account.is_exact("eps_lower")
    assert account.is_exact("eps_upper")
    assert account["eps_upper"].ratio == most
    assert account["eps_lower"].ratio == (None if least is None else 1 / least)


def weights(draw: st.DrawFn, inputs: int, outputs: int) -> list[list[int]]:
    lines = []
    for _ in range(inputs):
        cuts = sorted(draw(st.integers(1, 15)) for _ in range(outputs - 1))
        line = [high - low for low, high in itertools.pairwise([0, *cuts, 16])]
        lines.append(line)
    return lines


@st.composite
def settings_of_two(draw: st.DrawFn) -> tuple[list[tuple[Any, ...]], list[ProtectedColumn]]:
    cell = st.tuples(st.sampled_from("stu"), st.sampled_from([*"ab", None]), st.sampled_from("xyz"))
    people = draw(st.lists(cell, min_size=4, max_size=20))
    for at in range(3):
        assume(len({person[at] for person in people}) > 1)
    first = released("p", "ab", weights(draw, 2, 2), keeps_missing=True)
    second = released("q", "xyz", weights(draw, 3, draw(st.integers(2, 3))))
    return people, [first, second]


def source_of(people: list[tuple[Any, ...]], kind: pa.DataType | None = None) -> Memory:
    told, p, q = (list(column) for column in zip(*people, strict=True))
    return Memory.of(3, s=pa.array(told, kind), p=p, q=q)


@settings(max_examples=15)
@given(settings_of_two())
def test_two_columns_and_one_secret(
    drawn: tuple[list[tuple[Any, ...]], list[ProtectedColumn]],
) -> None:
    people, both = drawn
    found, missed = combined_leaks(source_of(people), both, ["s", "s"])
    assert not missed
    (leak,) = found
    assert (leak.secret, leak.columns) == ("s", ("p", "q"))
    check(leak.account, together(people, [distribution_of(each) for each in both]))


@settings(max_examples=10)
@given(settings_of_two())
def test_each_column_is_its_own_secret(
    drawn: tuple[list[tuple[Any, ...]], list[ProtectedColumn]],
) -> None:
    people, both = drawn
    found, missed = combined_leaks(source_of(people), both, [None, None])
    assert not missed
    assert [leak.secret for leak in found] == ["p", "q"]
    for at, leak in enumerate(found):
        own = [(person[1 + at], *person[1:]) for person in people]
        check(leak.account, together(own, [distribution_of(each) for each in both]))


def test_different_secrets_are_accounted_for_over_all_columns() -> None:
    people: list[tuple[Any, ...]] = [
        ("s", "a", "x"),
        ("t", "b", "x"),
        ("s", "a", "y"),
        ("t", "a", "y"),
        ("u", "b", "x"),
    ]
    extra = ["old", "old", "young", None, ""]
    source = Memory.of(
        2,
        s=[person[0] for person in people],
        p=[person[1] for person in people],
        q=[person[2] for person in people],
        age=extra,
    )
    both = [
        released("p", "ab", [[12, 4], [4, 12]]),
        released("q", "xy", [[9, 7], [1, 15]]),
    ]
    found, missed = combined_leaks(source, both, ["s", "age"])
    assert not missed
    distributions = [distribution_of(each) for each in both]
    by_name = {leak.secret: leak.account for leak in found}
    assert set(by_name) == {"s", "age"}
    check(by_name["s"], together(people, distributions))
    aged = [(age or None, *person[1:]) for age, person in zip(extra, people, strict=True)]
    check(by_name["age"], together(aged, distributions))


@pytest.mark.parametrize(
    "secrets",
    [
        pa.array(["s", "t", None, "s", ""]),
        pa.array(["s", " t", None, "s ", None]).dictionary_encode(),
        pa.array(["s", "t", None, "s", None]).cast(pa.string_view()),
        pa.array([1.5, 2.5, math.nan, 1.5, None]),
        pa.array([datetime.date(2024, 1, day) if day else None for day in (1, 2, 0, 1, 0)]),
        pa.array([True, False, None, True, None]),
    ],
)
def test_secrets_of_any_type_are_told_apart_and_missing_ones_are_one(secrets: pa.Array) -> None:
    source = Memory.of(1, s=secrets, p=[*"abaab"], q=[*"xxyyx"])
    both = [
        released("p", "ab", [[12, 4], [4, 12]]),
        released("q", "xy", [[9, 7], [1, 15]]),
    ]
    found, missed = combined_leaks(source, both, ["s", "s"])
    assert not missed
    people = [*zip("st?s?", "abaab", "xxyyx", strict=True)]
    check(found[0].account, together(people, [distribution_of(each) for each in both]))


def test_the_product_may_leak_more_than_the_budgets_add_up_to() -> None:
    prior = Prior.from_counts({"a": 1, "b": 1})
    made = design(prior, LIP("1"), method="safe-response")
    both = [ProtectedColumn(name, None, made, True) for name in ("p", "q")]
    source = Memory.of(p=["a", "b"] * 4, q=["a", "b"] * 4)
    (first, second), _ = combined_leaks(source, both, [None, None])
    assert float(first.account["lip"].value) > 2
    assert first.account["lip"].ratio == second.account["lip"].ratio


def test_one_column_alone_is_not_accounted_for() -> None:
    one = released("p", "ab", [[12, 4], [4, 12]])
    assert combined_leaks(Memory.of(p=["a"]), [one], [None]) == ([], [])


def test_too_many_combinations_are_said_not_to_be_accounted_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(combined, "MOST_TUPLES", 3)
    both = [
        released("p", "ab", [[12, 4], [4, 12]]),
        released("q", "xy", [[9, 7], [1, 15]]),
    ]
    source = Memory.of(p=[*"aabb"], q=[*"xyxy"], s=[*"stst"])
    found, missed = combined_leaks(source, both, ["s", None])
    assert not found
    assert "not accounted for" in missed[0]


def test_a_secret_that_cannot_be_accounted_for_is_named_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The others are accounted for all the same."""

    def refusing(channels: list[Table], joint: Joint) -> Account:
        if "t" in joint.secrets:
            raise NotDefined("the account", "this secret", "choose another")
        return account(channels, joint)

    monkeypatch.setattr(combined, "account", refusing)
    both = [released("p", "ab", [[12, 4], [4, 12]]), released("q", "xy", [[9, 7], [1, 15]])]
    source = Memory.of(p=[*"aabb"], q=[*"xyxy"], s=[*"stst"], u=[*"vvww"])
    found, missed = combined_leaks(source, both, ["s", "u"])
    assert [leak.secret for leak in found] == ["u"]
    assert len(missed) == 1
    assert missed[0].startswith("joint leakage about 's': not accounted for (the account")
    assert "choose another" in missed[0]


def test_a_secret_that_the_table_does_not_have_is_named_once() -> None:
    both = [released("p", "ab", [[12, 4], [4, 12]]), released("q", "xy", [[9, 7], [1, 15]])]
    source = Memory.of(p=[*"aabb"], q=[*"xyxy"], s=[*"stst"])
    found, missed = combined_leaks(source, both, ["gone", "gone", "s"])
    assert [leak.secret for leak in found] == ["s"]
    assert len(missed) == 1
    assert missed[0].startswith("the table has no column 'gone'")


def test_a_secret_called_missing_is_refused_rather_than_joined() -> None:
    both = [released("p", "ab", [[12, 4], [4, 12]]), released("q", "xy", [[9, 7], [1, 15]])]
    source = Memory.of(p=[*"ab"], q=[*"xy"], s=[MISSING_LABEL, None])
    with pytest.raises(ValueError, match="a reserved name"):
        combined_leaks(source, both, ["s", "s"])
