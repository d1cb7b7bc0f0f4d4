"""The ledger: nothing is lost, nothing is changed unnoticed, and limits are kept."""

from __future__ import annotations

import copy
import json
import os
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import liftlock as ll
from liftlock import Alphabet, Channel, Prior, Table
from liftlock.accounting import Ledger, LedgerAccount, account
from liftlock.accounting import ledger as module
from liftlock.accounting.account import combine_accounts
from liftlock.accounting.ledger_entry import group_histories
from liftlock.accounting.salted_ids import salted_hash
from liftlock.errors import FileError, InputError, NotComposable, NotDefined
from liftlock.exact.fingerprint import fingerprint
from liftlock.model.columns import ColumnEncoding, TableEncoding
from liftlock.model.person import PersonRule

WHEN = "2030-01-31T12:00:00Z"
FAIR = Prior.uniform(["no", "yes"])


@pytest.fixture(scope="module")
def flip() -> ll.Mechanism:
    """Likelihoods 3 : 1, so that two releases leak ln 5 exactly."""
    table = Channel.from_rows(
        {"no": {"no": "3/4", "yes": "1/4"}, "yes": {"no": "1/4", "yes": "3/4"}}
    ).table()
    return ll.lock(table, ll.LIP("ln 2"), FAIR, bits=2)


@pytest.fixture(scope="module")
def large() -> ll.Mechanism:
    """More cells than a ledger keeps."""
    rng = np.random.default_rng(7)
    weights = rng.integers(900, 1000, size=(60, 1100))
    weights[:, 0] += 2**21 - weights.sum(axis=1)
    table = Table.of(Alphabet.of(range(60)), Alphabet.of(range(1100)), weights, 21)
    return ll.lock(table, ll.LIP("7"), Prior.uniform(range(60)), bits=21)


def test_round_trip(tmp_path: Path, flip: ll.Mechanism) -> None:
    path = tmp_path / "ledger.json"
    with Ledger.open(path) as ledger:
        ledger.record(flip, who="staff", about="smokes", note="pilot").save(path)
    with Ledger.open(path) as ledger:
        more = ledger.record(flip, people=["ann", "bob"], about="smokes", when=WHEN)
        more.record(flip, people=["bob"], about="smokes").save(path)
    found = Ledger.load(path)
    assert [entry.number for entry in found.entries] == [1, 2, 3]
    assert (found.entries[0].note, found.entries[1].when) == ("pilot", WHEN)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", found.entries[0].when)
    assert len(found.mechanisms) == len(found.contexts) == 1
    assert found.account("smokes", person="bob")["lip"].ratio == 5
    assert found.account("smokes", person=" ann ")["lip"].ratio == 2
    assert found.account("smokes", who="staff").is_exact("lip")
    assert {p.name for p in tmp_path.iterdir()} == {"ledger.json"}
    assert found.to_data() == Ledger.from_data(json.loads(path.read_text())).to_data()


def test_ids_are_not_in_the_file(flip: ll.Mechanism) -> None:
    ledger = Ledger.new().record(flip, people=["ann@example", "Zoë"], about="smokes")
    text = json.dumps(ledger.to_data(), ensure_ascii=False)
    assert "ann@" not in text
    assert "Zoë" not in text
    assert Ledger.new().digest("ann") != ledger.digest("ann")
    # Composed or not, it is the same person.
    assert ledger.account("smokes", person="Zoe\u0308")["lip"].ratio == 2


def test_groups_and_items(flip: ll.Mechanism) -> None:
    ledger = Ledger.new().record(flip, who="日本 staff", about="smokes")
    ledger = ledger.record(flip, people=["a", "b", "c"], about="smokes")
    ledger = ledger.record(flip, people=["b", "c"], about="drinks")
    found = {history.name: history for history in group_histories(ledger.entries)}
    assert set(found) == {"日本 staff", "1 person", "2 people"}
    assert list(found["2 people"].items) == ["smokes", "drinks"]
    groups = LedgerAccount(ledger).groups
    both = next(group for group in groups if group.history.people == 2)
    # Each item by itself leaks ln 2; of both at once ln 2 + ln 3, whatever they have in common.
    assert [item.account["lip"].ratio for item in both.items] == [2, 2]
    assert both.together is not None
    assert both.together["eps_lower"].ratio == 6
    assert both.together["eps_upper"].ratio == Fraction(9, 2)
    assert both.together["ldp"].ratio == 9
    assert all(group.together is None for group in groups if group is not both)


def test_what_all_items_leak_is_bounded_whatever_they_share(flip: ll.Mechanism) -> None:
    """Two items that are equal: the truth of two releases of one datum is below the bound."""
    ledger = Ledger.new().record(flip, who="x", about="one").record(flip, who="x", about="two")
    (group,) = LedgerAccount(ledger).groups
    assert group.together is not None
    bound, truth = group.together["lip"].ratio, account([flip, flip])["lip"].ratio
    assert bound is not None
    assert truth is not None
    assert bound >= truth


def test_one_more_release(flip: ll.Mechanism) -> None:
    ledger = Ledger.new().record(flip, who="staff", about="smokes")
    (group,) = LedgerAccount(ledger).groups
    (item,) = group.items
    (name,) = item.one_more
    assert name.startswith("lip(ln 2) ")
    assert item.one_more[name]["lip"].ratio == 5
    (asked,) = LedgerAccount(ledger, one_more={"again": flip}).groups
    assert asked.items[0].one_more["again"]["ldp"].ratio == 9


def test_limits(flip: ll.Mechanism) -> None:
    ledger = Ledger.new().record(flip, who="staff", about="smokes", limit=ll.LIP("ln 5"))
    ledger = ledger.record(flip, who="staff", about="smokes", limit=ll.LIP("ln 5"))
    said = (
        r"^release 3 about 'smokes' of 'staff' exceeds lip\(ln 5\): "
        r"after 3 releases lip is 2\.63906 nats$"
    )
    with pytest.raises(NotComposable, match=said):
        ledger.record(flip, who="staff", about="smokes", limit=ll.LIP("ln 5"))
    assert len(ledger) == 2
    # Others, and other items, have their own.
    ledger.record(flip, who="guests", about="smokes", limit=ll.LIP("ln 5"))
    ledger.record(flip, who="staff", about="drinks", limit=ll.LIP("ln 5"))
    people = Ledger.new().record(flip, people=["a", "b"], about="smokes")
    with pytest.raises(NotComposable, match="of 1 of the 2 people"):
        people.record(flip, people=["b", "c"], about="smokes", limit=ll.LIP("1"))
    people.record(flip, people=["c"], about="smokes", limit=ll.LIP("1"))


def test_large_mechanisms_are_kept_as_levels(tmp_path: Path, large: ll.Mechanism) -> None:
    ledger = Ledger.new().record(large, who="staff", about="place")
    ledger = ledger.record(large, who="staff", about="place")
    assert not ledger.mechanisms
    assert not ledger.entries[0].embedded
    path = tmp_path / "ledger.json"
    ledger.save(path)
    found = Ledger.load(path).account("place", who="staff")
    assert not found.is_exact("lip")
    levels = ledger.entries[0].levels
    assert levels.lower is not None
    assert levels.spread is not None
    p = Fraction(1, 60)
    assert found["eps_lower"].ratio == p + (levels.lower - p) * levels.spread
    assert "only the levels are known" in found.refused["exact"]
    assert LedgerAccount(ledger).groups[0].items[0].one_more == {}


def test_different_contexts(flip: ll.Mechanism) -> None:
    skewed = Prior.from_counts({"no": 9, "yes": 1})
    other = ll.lock(flip.table, ll.LIP("2"), skewed, bits=2)
    ledger = (
        Ledger.new().record(flip, who="x", about="smokes").record(other, who="x", about="smokes")
    )
    found = ledger.account("smokes", who="x")
    assert set(found.best) == {"ldp"}
    with pytest.raises(NotDefined, match="different contexts"):
        found["lip"]
    # Three releases of ln 3 in LDP: every prior keeps ln 27, and of less nothing is known.
    ledger.record(flip, who="x", about="smokes", limit=ll.LIP("ln 27"))
    with pytest.raises(NotDefined, match=r"LDP bounds it by 3\.29584 nats.*under="):
        ledger.record(flip, who="x", about="smokes", limit=ll.LIP("3.2"))
    under = ledger.account("smokes", who="x", under=skewed)
    assert under.is_exact("lip")
    product = flip.table.product(flip.table)
    assert under["lip"].ratio == ll.notions.LIP.measure(product, skewed).ratio
    ledger.record(flip, who="x", about="smokes", limit=ll.LIP("9"), under=skewed)


def test_what_does_not_go_in(flip: ll.Mechanism) -> None:
    ledger = Ledger.new().record(flip, who="x", about="smokes")
    other = ll.design(Prior.uniform(["a", "b"]), ll.LIP("1"), method="binary")
    with pytest.raises(InputError, match="other values than release 1 about 'smokes' had"):
        ledger.record(other, who="y", about="smokes")
    for bad, message in (
        ({}, "neither a cohort nor people"),
        ({"who": "x", "people": ["y"]}, "both a cohort and people"),
        ({"who": " "}, "no cohort"),
        ({"who": "two\nlines"}, "cannot be seen"),
        ({"people": []}, "no people"),
        ({"people": "ann"}, "not a list of ids of people"),
        ({"who": "x", "note": "half \ud800"}, "note with characters that cannot be seen"),
        ({"people": ["a", "", "b"]}, "a person without an id at number 2"),
        ({"people": ["a", float("nan")]}, "a person without an id at number 2: 'nan'"),
        ({"people": ["7", 7]}, "a person given twice at number 2"),
        ({"who": "x", "when": "yesterday"}, "not a time in UTC"),
        ({"who": "x", "when": "2030-02-31T12:00:00Z"}, "not a time in UTC"),
    ):
        with pytest.raises(InputError, match=message):
            ledger.record(flip, about="smokes", **bad)
    with pytest.raises(InputError, match="no about"):
        ledger.record(flip, who="x", about="")
    with pytest.raises(InputError, match="nothing was released"):
        ledger.account("smokes", who="nobody")


def test_what_is_accounted_for_in_part_only_is_refused(flip: ll.Mechanism) -> None:
    """A limit would be said to be kept, and not be looked at for the other secret."""
    several = ll.lock(flip.table, [ll.LIP("ln 2"), (ll.LDP("ln 3"), FAIR, "drinks")], FAIR)
    with pytest.raises(NotDefined, match="an account of several guarantees"):
        Ledger.new().record(several, who="x", about="smokes")
    rule = PersonRule("user", "divide", 2, "lip", {"epsilon": "ln 9"})
    rules = TableEncoding((ColumnEncoding("smokes"),), person=rule)
    with pytest.raises(NotDefined, match="an account of rows that share a budget"):
        Ledger.new().record(replace(flip, encoding=rules), who="x", about="smokes")


# --- tampering ------------------------------------------------------------------------------------


def three(flip: ll.Mechanism) -> Any:
    ledger = Ledger.new()
    for who in ("a", "b", "c"):
        ledger = ledger.record(flip, who=who, about="smokes", when=WHEN)
    return ledger.to_data()


def changed(data: Any, change: Any) -> Any:
    fresh = copy.deepcopy(data)
    change(fresh)
    return fresh


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["entries"].pop(1), "changed, removed or moved before this one at entry 2"),
        (lambda d: d["entries"].pop(0), "before this one at entry 1"),
        (lambda d: d["entries"].pop(), "the last entries were changed or removed at entry 2"),
        (lambda d: d["entries"].reverse(), "before this one at entry 1"),
        (lambda d: d["entries"][0]["who"].update(cohort="z"), "before this one at entry 2"),
        (lambda d: d["entries"][2].update(about="z"), "the last entries were changed"),
        (lambda d: d["entries"][1].update(when="2031-01-31T12:00:00Z"), "at entry 3"),
        (
            lambda d: d["entries"][1]["levels"].update(ldp="2"),
            r"entries\[1\].levels.ldp does not follow",
        ),
        (lambda d: d["entries"][1].update(number=7), "at entry 2"),
        (lambda d: d["entries"][1].update(surprise=7), "other keys"),
        (lambda d: d["entries"][1]["who"].update(people=[]), "other keys"),
        (lambda d: d["entries"][1].pop("note"), "other keys"),
        (lambda d: d["mechanisms"].clear(), "the mechanism of an entry is gone at entry 1"),
        (lambda d: d["contexts"].clear(), "wrong shape"),
        (lambda d: d.update(salt="00" * 16), "before this one at entry 1"),
        (lambda d: d.update(salt="00"), "without its salt"),
        (lambda d: d.update(head="0" * 64), "the last entries"),
        (lambda d: d.pop("head"), "the last entries"),
        (lambda d: d.update(version=3), "unknown version"),
        (lambda d: d.update(version=1), "an entry was changed"),
    ],
)
def test_changes_are_noticed(flip: ll.Mechanism, change: Any, message: str) -> None:
    with pytest.raises(FileError, match=message):
        Ledger.from_data(changed(three(flip), change))


def test_a_mechanism_is_proved_again(flip: ll.Mechanism) -> None:
    data = three(flip)
    (stored,) = data["mechanisms"].values()
    stored["channel"]["weights"] = [[4, 0], [0, 4]]
    with pytest.raises(FileError, match="speaks of another channel"):
        Ledger.from_data(data)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("context_kind", "every prior"),
        ("unprotected", 3),
        ("embedded", False),
        ("levels", {"eps_lower": "1", "eps_upper": "1", "ldp": "1", "spread": "1"}),
    ],
)
def test_what_can_be_computed_is_compared_even_if_all_hashes_are_new(
    flip: ll.Mechanism, field: str, value: object
) -> None:
    data = three(flip)
    data["entries"][0][field] = value
    before = data["entries"][0]["previous"]
    for entry in data["entries"]:
        entry["previous"] = before
        before = fingerprint(entry)
    data["head"] = before
    with pytest.raises(FileError, match=rf"entries\[0\]\.{field}.* does not follow"):
        Ledger.from_data(data)


def test_another_mechanism_under_the_same_key(flip: ll.Mechanism) -> None:
    data = three(flip)
    looser = ll.lock(flip.table, ll.LIP("1"), FAIR, bits=2)
    (key,) = data["mechanisms"]
    data["mechanisms"][key]["certificate"] = looser.certificate.to_data()
    with pytest.raises(FileError, match=r"entries\[0\].budgets.epsilon does not follow"):
        Ledger.from_data(data)


def test_the_head_tells_a_ledger_that_was_written_anew(flip: ll.Mechanism) -> None:
    """Who can write the file can write a consistent one: the head kept elsewhere differs."""
    data = three(flip)
    ledger = Ledger.from_data(data)
    shorter = changed(data, lambda d: d["entries"].pop())
    shorter["head"] = fingerprint(shorter["entries"][-1])
    assert Ledger.from_data(shorter).head != ledger.head
    assert data["entries"][1]["previous"] == fingerprint(data["entries"][0])


# --- files ----------------------------------------------------------------------------------------


def test_two_at_a_time(tmp_path: Path, flip: ll.Mechanism) -> None:
    path = tmp_path / "ledger.json"
    link = tmp_path / "link.json"
    with Ledger.open(path) as ledger:
        ledger.record(flip, who="x", about="smokes").save(path)
        link.symlink_to(path)
        with pytest.raises(FileError, match="in use by another release"), Ledger.open(link):
            pass
    with Ledger.open(link) as ledger:
        assert len(ledger) == 1
        ledger.record(flip, who="x", about="smokes").save(link)
    assert link.is_symlink()
    assert len(Ledger.load(path)) == 2
    os.link(path, tmp_path / "copy.json")
    with pytest.raises(FileError, match="2 names"), Ledger.open(path):
        pass


def test_a_context_that_is_too_large(flip: ll.Mechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CONTEXT_CELLS", 1)
    with pytest.raises(InputError, match="too large for a ledger"):
        Ledger.new().record(flip, who="x", about="smokes")


def test_encodings_and_secrets(tmp_path: Path) -> None:
    prior = Prior.uniform("abc")
    oue = ll.design(prior, ll.LDP("1"), method="oue")
    joint = ll.Joint.from_counts({"s": {"no": 3, "yes": 1}, "t": {"no": 1, "yes": 2}})
    secret = ll.design(joint, ll.LIP("1/2"))
    ledger = Ledger.new().record(oue, who="x", about="letter").record(oue, who="x", about="letter")
    ledger = ledger.record(secret, who="x", about="answer")
    path = tmp_path / "ledger.json"
    ledger.save(path)
    (group,) = LedgerAccount(Ledger.load(path)).groups
    letter, answer = group.items
    assert letter.account.is_exact("lip")
    assert answer.account["lip"].ratio == ll.notions.LIP.measure(secret.channel, joint).ratio
    # The second item protects another secret: of both only LDP of the data can be said.
    assert group.together is not None
    assert set(group.together.measurements) == {"ldp"}
    assert combine_accounts([letter.account] * 2, "different")["lip"].value.upper is not None


def test_an_older_ledger_does_not_replace_a_newer_one(tmp_path: Path, flip: ll.Mechanism) -> None:
    path = tmp_path / "ledger.json"
    first = Ledger.new().record(flip, who="staff", about="smokes")
    first.save(path)
    second = first.record(flip, who="staff", about="smokes")
    second.save(path)
    second.save(path)  # the same once more loses nothing
    other = first.record(flip, who="guests", about="smokes")
    for stale in (first, other, other.record(flip, who="guests", about="smokes"), Ledger.new()):
        with pytest.raises(FileError, match="holds a release that this ledger lacks"):
            stale.save(path)
    assert Ledger.load(path).head == second.head
    mine = tmp_path / "mine.json"
    mine.write_text('{"format": "something else"}')
    with pytest.raises(FileError):
        first.save(mine)
    assert "something else" in mine.read_text()


def test_slips_of_the_pen_do_not_begin_a_new_history(flip: ll.Mechanism) -> None:
    ledger = Ledger.new().record(flip, who="staff", about="smokes")
    for who, about in (("Staff", "smokes"), ("staff", "SMOKES")):
        with pytest.raises(InputError, match="spelt differently"):
            ledger.record(flip, who=who, about=about)
    with pytest.raises(InputError, match="cannot be seen at number 2"):
        ledger.record(flip, people=["ann", "ann\u200b"], about="smokes")


LOOKALIKES = {
    "Cyrillic": "sm\u043ek\u0435s",
    "all in Cyrillic": "\u0455m\u043e\u043a\u0435\u0455",
    "Greek": "sm\u03bfkes",
    "full-width": "\uff53moke\uff53",
    "mathematical": "\U0001d42c\U0001d426okes",
    "circled": "\u24e2mokes",
    "small capitals": "sm\u1d0f\u1d0bes",
    "Armenian": "sm\u0585kes",
    "capitals of three alphabets": "S\u039cO\u041a\ua4f0S",
    "a digit": "sm0kes",
}


@pytest.mark.parametrize("name", LOOKALIKES.values(), ids=LOOKALIKES)
def test_a_name_that_looks_like_a_known_one_is_refused(flip: ll.Mechanism, name: str) -> None:
    ledger = Ledger.new().record(flip, who="smokes", about="smokes")
    for who, about in (("smokes", name), (name, "smokes")):
        with pytest.raises(InputError, match="the ledger has 'smokes', which looks the same"):
            ledger.record(flip, who=who, about=about)
        assert len(ledger.record(flip, who=who, about=about, new_name=True)) == 2
    with pytest.raises(InputError, match="looks the same"):
        Ledger.new().record(flip, who="x", about=name, new_name=True).record(
            flip, who="x", about="smokes"
        )


def test_a_word_of_two_alphabets_is_refused_unless_insisted_on(flip: ll.Mechanism) -> None:
    word = "sm\u043bkes"  # with a letter that looks like no Latin one
    with pytest.raises(InputError, match="in letters of Cyrillic and Latin"):
        Ledger.new().record(flip, who="x", about=word)
    assert Ledger.new().record(flip, who="x", about=word, new_name=True).items == (word,)
    for name in (
        "\u043e\u043a 2 go",
        "\u6771\u4eac tokyo",
        "\u6771\u4eac\u30bf\u30ef\u30fc",
        "na\u00efve",
    ):
        assert Ledger.new().record(flip, who="x", about=name).items == (name,)


def test_what_selects_a_variant_cannot_be_seen(flip: ll.Mechanism) -> None:
    for odd in ("smokes\ufe0f", "smokes\U000e0101", "smo\u034fkes", "smokes\u3164"):
        with pytest.raises(InputError, match="cannot be seen"):
            Ledger.new().record(flip, who="x", about=odd)
        with pytest.raises(InputError, match="cannot be seen"):
            Ledger.new().record(flip, people=[odd], about="smokes")


@pytest.mark.parametrize("same", ["\u0430nn", "\uff41nn", "\U0001d41ann", "\u03b1nn", " ann\t"])
def test_a_person_is_the_same_however_the_id_is_written(flip: ll.Mechanism, same: str) -> None:
    ledger = Ledger.new().record(flip, people=["ann", "bob"], about="smokes")
    again = ledger.record(flip, people=[same], about="smokes")
    assert len(again.history("smokes", person="ann")) == 2
    assert len(again.history("smokes", person="bob")) == 1


def test_two_people_who_look_alike_are_named(flip: ll.Mechanism) -> None:
    with pytest.raises(InputError, match="an id that looks like 'ann' at number 2") as refused:
        Ledger.new().record(flip, people=["ann", "\u0430nn"], about="smokes")
    assert "id that looks different" in refused.value.remedy
    both = Ledger.new().record(flip, people=["ann", "Ann", "l1", "11", "7", "07"], about="smokes")
    assert len(both.people) == 6


def test_ledgers_of_version_1_know_ids_by_their_text(flip: ll.Mechanism, tmp_path: Path) -> None:
    """Their hashes cannot be made anew; an id that looks like a known one is refused."""
    cyrillic = "\u0430nn"
    old = Ledger(Ledger.new().salt, as_written=True)
    old = old.record(flip, people=["ann"], about="smokes")
    data = old.to_data()
    assert data["version"] == 1
    assert data["entries"][0]["who"]["people"] == [salted_hash(old.salt, "ann", as_written=True)]
    again = Ledger.from_data(data)
    assert again.as_written
    with pytest.raises(InputError, match="looks like one that the ledger has"):
        again.record(flip, people=[cyrillic], about="smokes")
    theirs = Ledger(old.salt, as_written=True).record(flip, people=[cyrillic], about="smokes")
    assert len(theirs.record(flip, people=[cyrillic], about="smokes").people) == 1
    path = tmp_path / "old.json"
    old.save(path)
    with pytest.raises(FileError, match="holds a release that this ledger lacks"):
        Ledger(old.salt).save(path)


def test_secrets_behind_different_items_may_be_shared_in_any_way() -> None:
    """X = S1 xor S2 for both items: each alone says nothing of its secret, both say much of all."""
    joint = ll.Joint.from_counts({0: {0: 1, 1: 1}, 1: {0: 1, 1: 1}})
    noisy = Channel.from_rows({0: {0: "9/10", 1: "1/10"}, 1: {0: "1/10", 1: "9/10"}})
    made = ll.lock(noisy, ll.LDP("0.1"), joint)
    ledger = Ledger.new()
    for about in ("a", "b"):
        ledger = ledger.record(made, people=["ann"], about=about)
    (group,) = LedgerAccount(ledger).groups
    assert group.items[0].account["ldp"].ratio == 1
    assert group.together is not None
    ratio = group.together["ldp"].ratio
    # The rows were rounded to 52 bits.
    assert ratio is not None
    assert abs(float(ratio) - 81) < 1e-9
    assert "lip" not in group.together.measurements


def test_no_limit_is_kept_by_calling_a_symbol_impossible(
    flip: ll.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    certain = Prior.from_counts({"no": 1, "yes": 0})
    # Known with its channel, and by its levels alone.
    for cells in (65_536, 0):
        monkeypatch.setattr("liftlock.accounting.ledger.MOST_CELLS", cells)
        ledger = Ledger.new().record(flip, who="x", about="smokes")
        with pytest.raises(
            InputError, match=r"lip\(1\) says nothing of .*: \['yes'\]; .*limit ldp"
        ):
            ledger.record(flip, who="x", about="smokes", limit=ll.LIP("1"), under=certain)
        ledger.record(flip, who="x", about="smokes", limit=ll.LDP("ln 9"), under=certain)
        with pytest.raises(NotComposable, match="ldp"):
            ledger.record(flip, who="x", about="smokes", limit=ll.LDP("2"), under=certain)
        shown = ledger.account("smokes", who="x", under=certain)
        assert "NOT protected (prior probability 0): 'yes'" in str(shown)
        assert "NOT protected" in shown.loss_text()
    # What the certificate left out from the start is no surprise.
    alone = ll.lock(flip.table, ll.LIP("1"), certain, bits=2, impossible="ignore")
    ledger = Ledger.new().record(alone, who="x", about="smokes", limit=ll.LIP("1"))
    ledger = ledger.record(alone, who="x", about="smokes", limit=ll.LIP("1"))
    assert "'yes'" in str(ledger.account("smokes", who="x"))


def test_a_refusal_says_of_whom(flip: ll.Mechanism) -> None:
    ledger = Ledger.new().record(flip, people=["bob", "cyd"], about="x")
    ledger = ledger.record(flip, people=["bob"], about="other")
    everybody = ["ann", "bob", "dan", "cyd"]
    with pytest.raises(
        NotComposable, match=r"release 2 about 'x' of 2 of the 4 people \(the first is number 2\)"
    ):
        ledger.record(flip, people=everybody, about="x", limit=ll.LIP("ln 2"))
    with pytest.raises(NotComposable, match="release 2 about 'x' of 2 people exceeds"):
        ledger.record(flip, people=["cyd", "bob"], about="x", limit=ll.LIP("ln 2"))
    with pytest.raises(InputError, match=r"nothing was released of person 'eve': 'x'; .*'other'\]"):
        ledger.account("x", person="eve")
    with pytest.raises(InputError, match="nothing was released of cohort 'staff'"):
        ledger.account("x", who="staff")
