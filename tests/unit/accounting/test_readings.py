"""Readings: the same value, different values, independent ones, by brute force over joints."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liftlock as ll
from liftlock import Channel, Prior
from liftlock.accounting import Ledger, LedgerAccount, Release, account
from liftlock.errors import InputError, NotComposable, NotDefined
from liftlock.model.columns import ColumnEncoding, TableEncoding
from liftlock.notions import parse_claim

PRIOR = Prior.from_counts({"no": 3, "yes": 1})
FLIP = Channel.from_rows({"no": {0: "3/4", 1: "1/4"}, "yes": {0: "1/4", 1: "3/4"}})


def for_column(name: str, budget: str = "ln 2") -> ll.Mechanism:
    made = ll.design(PRIOR, ll.LIP(budget), method="binary")
    return replace(made, encoding=TableEncoding((ColumnEncoding(name),)))


def joints(number: int) -> Iterator[dict[tuple[str, ...], Fraction]]:
    """Give joints of values with the marginals of the prior, extreme ones among them."""
    share = {"no": Fraction(3, 4), "yes": Fraction(1, 4)}
    yield {t: math.prod((share[x] for x in t), start=Fraction(1)) for t in tuples(number)}
    yield {(x,) * number: share[x] for x in share}
    if number == 2:
        yield {
            ("no", "yes"): Fraction(1, 4),
            ("yes", "no"): Fraction(1, 4),
            ("no", "no"): Fraction(1, 2),
        }
        for part in (Fraction(1, 100), Fraction(1, 8), Fraction(1, 5)):
            yield {
                ("yes", "yes"): part,
                ("yes", "no"): Fraction(1, 4) - part,
                ("no", "yes"): Fraction(1, 4) - part,
                ("no", "no"): Fraction(1, 2) + part,
            }


def tuples(number: int) -> list[tuple[str, ...]]:
    return list(itertools.product(("no", "yes"), repeat=number))


def worst(joint: dict[tuple[str, ...], Fraction], secret: Any) -> float:
    """Return LIP of secret(tuple), from one report of each value, by enumeration."""
    number = len(next(iter(joint)))
    found = 0.0
    for reports in itertools.product((0, 1), repeat=number):
        chance = {
            t: math.prod(
                (FLIP.probability(x, y) for x, y in zip(t, reports, strict=True)), start=Fraction(1)
            )
            for t in joint
        }
        total = sum((mass * chance[t] for t, mass in joint.items()), start=Fraction(0))
        for s in {secret(t) for t, mass in joint.items() if mass}:
            own = sum((m for t, m in joint.items() if secret(t) == s), start=Fraction(0))
            given_s = sum(
                (m * chance[t] for t, m in joint.items() if secret(t) == s), start=Fraction(0)
            )
            found = max(found, abs(math.log(given_s / own / total)))
    return found


@pytest.mark.parametrize("number", [2, 3])
def test_no_joint_leaks_more_than_is_said_of_different_values(number: int) -> None:
    bound = float(account([FLIP] * number, PRIOR, reading="different")["lip"])
    for joint in joints(number):
        assert worst(joint, lambda t: t) <= bound + 1e-12
        for k in range(number):
            assert worst(joint, lambda t, k=k: t[k]) <= bound + 1e-12


@pytest.mark.parametrize("number", [2, 3])
def test_independent_values_leak_what_is_said(number: int) -> None:
    found = account([FLIP] * number, PRIOR, reading="independent")
    independent = next(joints(number))
    assert float(found["lip"]) == pytest.approx(worst(independent, lambda t: t), abs=1e-12)
    assert found.is_exact("lip")


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 20), min_size=2, max_size=3), st.integers(2, 4), st.data())
def test_different_values_are_never_less_than_one_value(
    counts: list[int], number: int, data: st.DataObject
) -> None:
    """They may be one and the same; so the reading that assumes nothing is the safe one."""
    prior = Prior.from_counts(dict(enumerate(counts)))
    rows = {}
    for x in range(len(counts)):
        weight = data.draw(st.integers(1, 9))
        rows[x] = {0: Fraction(weight, 10), 1: 1 - Fraction(weight, 10)}
    channel = Channel.from_rows(rows)
    same, different, independent = (
        account([channel] * number, prior, reading=kind)
        for kind in ("same", "different", "independent")
    )
    for name in ("lip", "eps_lower", "eps_upper", "ldp"):
        most = different[name].value.upper
        assert most is not None
        assert same[name].value.lower <= most
        assert independent[name].value.lower <= most


def test_five_questions_are_told_apart_by_their_columns() -> None:
    five = [for_column(f"q{k}") for k in range(5)]
    found = account(five)
    assert str(found.reading) == "5 different values, whatever they have in common"
    assert found.reading.told
    assert set(found.values) == {f"q{k}" for k in range(5)}
    once = float(found.values["q0"]["lip"])
    same = account(five, reading="same")
    assert str(found).splitlines()[0] == f"5 releases of {found.reading}"
    assert str(same).splitlines()[0] == "5 releases of the same value, a prior on 2 symbols"
    assert same.reading.told
    assert same.other_reading() == ""
    independent = account(five, reading="independent")
    assert float(independent["lip"]) == pytest.approx(5 * once)
    assert float(independent["lip"]) < float(same["lip"]) < float(found["lip"])
    for each in (found, same, independent):
        data = each.to_data()["read_as"]
        assert (data["kind"], data["text"]) == (each.reading.kind, str(each.reading))
    again = account([*five, five[0]])
    assert len(again.values["q0"]) == 2
    assert again.reading.values == 5


def test_what_nobody_told_is_said() -> None:
    found = account([FLIP, FLIP], PRIOR)
    assert (found.reading.kind, found.reading.told) == ("same", False)
    other = account([FLIP, FLIP], PRIOR, reading="different")["lip"].value
    assert f"lip is at most {float(other):.6g}" in found.other_reading()
    assert found.other_reading() in str(found)
    assert account([FLIP], PRIOR).other_reading() == ""
    named = account({"smokes": [FLIP, FLIP]}, PRIOR)
    assert (named.reading.kind, named.reading.told) == ("same", True)
    mixed = account([for_column("q"), ll.design(PRIOR, ll.LIP("ln 2"), method="binary")])
    assert (mixed.reading.kind, mixed.reading.told) == ("same", False)


def test_values_of_other_symbols_are_named() -> None:
    letters = Channel.from_rows({"a": {0: "3/4", 1: "1/4"}, "b": {0: "1/2", 1: "1/2"}})
    with pytest.raises(InputError, match="name different values"):
        account([FLIP, letters])
    one = Release.of(FLIP, PRIOR)
    two = Release.of(letters, Prior.uniform("ab"))
    both = account({"smokes": one, "letter": two})
    assert both["ldp"].ratio == 3 * 2
    smokes, letter = (both.values[name]["eps_lower"].ratio for name in ("smokes", "letter"))
    assert smokes is not None
    assert letter is not None
    assert both["eps_lower"].ratio == min(smokes * 2, letter * 3)


def test_limits_of_different_values() -> None:
    found = account({"a": FLIP, "b": FLIP}, PRIOR)
    most = found["lip"].value.upper
    assert most is not None
    assert found.allows(ll.LIP(most + Fraction(1, 10**6)))
    assert not found.allows(ll.LIP("1/10"))
    with pytest.raises(NotDefined, match="2 different values"):
        found.certify(ll.LIP("1"))
    with pytest.raises(InputError, match="unknown reading"):
        account([FLIP], PRIOR, reading="other")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no releases"):
        account({}, PRIOR, reading="different")
    graph = ll.ProfileGraph.bernoulli(["0.2", "0.8"])
    made = ll.design(graph, ll.ProfilePrivacy("1"))
    with pytest.raises(InputError, match="different values of profiles"):
        account([made, made], reading="different")


def test_items_of_a_ledger_are_read_as_asked() -> None:
    made = for_column("smokes")
    ledger = Ledger.new().record(made, people=["ann"], about="smokes")
    ledger = ledger.record(for_column("drinks"), people=["ann"], about="drinks")
    (any_group,) = LedgerAccount(ledger).groups
    (free,) = LedgerAccount(ledger, independent=True).groups
    assert any_group.together is not None
    assert free.together is not None
    assert (any_group.reading.kind, free.reading.kind) == ("different", "independent")
    assert float(free.together["lip"]) < float(any_group.together["lip"])
    data = LedgerAccount(ledger, independent=True).to_data()["groups"][0]
    assert data["together"]["read_as"]["text"] == "2 different values, assumed independent"
    assert [item["read_as"]["kind"] for item in data["items"]] == ["same", "same"]


def test_a_mechanism_for_another_column_is_another_value() -> None:
    ledger = Ledger.new().record(for_column("q1"), who="staff", about="survey")
    with pytest.raises(InputError, match="for the column 'q1', this one is for another") as refused:
        ledger.record(for_column("q2"), who="staff", about="survey")
    assert "same_value=True" in refused.value.remedy
    assert len(ledger.record(for_column("q2"), who="staff", about="q2")) == 2
    again = ledger.record(for_column("q2"), who="staff", about="survey", same_value=True)
    assert [entry.column for entry in Ledger.from_data(again.to_data()).entries] == ["q1", "q2"]
    assert len(again.account("survey", who="staff")) == 2


def test_whoever_is_in_a_cohort_and_listed_by_id_has_spent_both() -> None:
    made = ll.design(PRIOR, ll.LIP("ln 2"), method="binary")
    ledger = Ledger.new().record(made, who="staff", about="smokes")
    ledger = ledger.record(made, people=["ann"], about="smokes")
    (overlap,) = LedgerAccount(ledger).overlaps
    assert overlap.account is not None
    assert float(overlap.account["lip"]) == float(account([made, made])["lip"])
    assert "in the cohort 'staff' and listed by id" in str(overlap)
    apart = Ledger.new().record(made, who="staff", about="smokes")
    assert LedgerAccount(apart.record(made, people=["ann"], about="drinks")).overlaps == ()
    many = Ledger.new().record(made, people=["ann"], about="smokes")
    for number in range(101):
        many = many.record(made, who=f"team {number + 1000}", about="smokes")
    (unknown,) = LedgerAccount(many).overlaps
    assert "not accounted for" in str(unknown)


# --- what protects nothing ------------------------------------------------------------------------


def test_releases_that_protect_nothing_are_refused_unless_insisted_on() -> None:
    made = ll.design(PRIOR, ll.LIP("1"), method="binary")
    ledger = Ledger.new()
    for _ in range(6):
        ledger = ledger.record(made, who="staff", about="smokes")
    with pytest.raises(NotComposable, match="protect nothing: odds of 1 to 148") as refused:
        ledger.record(made, who="staff", about="smokes")
    assert "insist=True" in str(refused.value)
    before = ledger.account("smokes", who="staff")
    assert before["lip"].value.upper is not None
    assert before["lip"].value.upper <= 10
    assert before.useless == ""
    more = ledger.record(made, who="staff", about="smokes", insist=True)
    after = more.account("smokes", who="staff")
    assert after["lip"].value.lower > 10
    assert "WARNING" in str(after)
    assert after.useless in str(after)
    assert after.to_data()["useless"] == after.useless
    assert len(ledger.record(made, who="staff", about="smokes", limit=ll.LIP("30"))) == len(more)
    assert len(ledger.record(made, people=["ann"], about="smokes")) == len(more)


def test_a_single_release_is_what_was_asked_for() -> None:
    made = ll.design(PRIOR, ll.LDP("12"), method="k-rr")
    ledger = Ledger.new().record(made, who="staff", about="smokes")
    with pytest.raises(NotComposable, match="protect nothing"):
        ledger.record(made, who="staff", about="smokes")


def test_notions_that_bound_no_lift_have_no_such_limit() -> None:
    """What one release leaks without bound was certified in another sense, on purpose."""
    made = ll.lock(Channel.identity(["no", "yes"]), parse_claim("mutual_information=1"), PRIOR)
    ledger = Ledger.new().record(made, who="staff", about="smokes")
    assert len(ledger.record(made, who="staff", about="smokes")) == 2


def test_observations_of_a_profile_that_protect_nothing() -> None:
    """200 observations at 0.3 add up to 60 nats."""
    graph = ll.ProfileGraph.bernoulli(["0.9", "1"])
    made = ll.design(graph, ll.ProfilePrivacy("0.3"), method="cluster")
    with pytest.raises(NotComposable, match="200 samples of one profile lose up to 60") as refused:
        ll.accounting.compose([made] * 200)
    assert refused.value.together is not None
    assert float(ll.accounting.compose([made] * 200, insist=True).loss) == pytest.approx(60)
    assert float(ll.accounting.compose([made] * 33).loss) < 10
