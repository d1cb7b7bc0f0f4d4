"""Observations of a graph of profiles: every one once, whatever happens in between."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import liftlock as ll
from liftlock import ProfileGraph
from liftlock.accounting import Ledger, account
from liftlock.accounting import ledger as module
from liftlock.errors import FileError, InputError, NotComposable, NotDefined
from liftlock.notions import ProfilePrivacy


@pytest.fixture(scope="module")
def flip() -> ll.Mechanism:
    graph = ProfileGraph.bernoulli({"a": "0.9", "b": "1"})
    return ll.design(graph, ProfilePrivacy("1"), method="cluster")


def released(
    ledger: Ledger,
    mechanism: ll.Mechanism,
    observations: Iterable[object],
    place: Callable[[int], str] | None = None,
) -> Ledger:
    return ledger.record(mechanism, people=observations, about="observation", place=place)


def holds(ledger: Ledger, observation: object) -> bool:
    return bool(ledger.history("observation", person=observation))


def number_of(ledger: Ledger) -> int:
    return sum(len(entry.people) for entry in ledger.entries)


def old_data(flip: ll.Mechanism) -> dict[str, object]:
    """Return a ledger as it was when it held nothing but observations."""
    salt = bytes(range(16))
    return {
        "format": "liftlock.profile-ledger",
        "version": 1,
        "salt": salt.hex(),
        "releases": [
            {
                "mechanism": flip.channel.fingerprint,
                "guarantee": flip.certificate.guarantee,
                "digests": [Ledger(salt).digest(name) for name in ("x", "y")],
            }
        ],
    }


def test_round_trip(tmp_path: Path, flip: ll.Mechanism) -> None:
    path = tmp_path / "ledger.json"
    with Ledger.open(path) as ledger:
        released(ledger, flip, ["x", "y"]).save(path)
    with Ledger.open(path) as ledger:
        assert holds(ledger, "x")
        assert not holds(ledger, "z")
        released(ledger, flip, ["z"]).save(path)
    found = Ledger.load(path)
    assert number_of(found) == 3
    assert [len(entry.people) for entry in found.entries] == [2, 1]
    assert {entry.channel for entry in found.entries} == {flip.channel.fingerprint}
    assert {p.name for p in tmp_path.iterdir()} == {"ledger.json"}


def test_ids_are_not_in_the_file(tmp_path: Path, flip: ll.Mechanism) -> None:
    path = tmp_path / "ledger.json"
    released(Ledger.new(), flip, ["dora@example"]).save(path)
    assert "dora" not in path.read_text()
    first, second = Ledger.new(), Ledger.new()
    assert first.digest("ann") != second.digest("ann")
    assert first.digest("ann") == first.digest("ann")
    assert first.digest(7) == first.digest("7")


def test_a_second_release(flip: ll.Mechanism) -> None:
    ledger = released(Ledger.new(), flip, ["x"])
    with pytest.raises(NotComposable, match=r"'x' at t.csv, line 3 was released before: .*3\.5252"):
        released(ledger, flip, ["w", "x"], lambda number: f"t.csv, line {number + 2}")
    with pytest.raises(NotComposable, match="'y' at number 2 is given twice: no rule") as caught:
        released(ledger, flip, ["y", "y"])
    assert caught.value.together is not None
    assert number_of(ledger) == 1


def test_another_mechanism_is_named(flip: ll.Mechanism) -> None:
    graph = ProfileGraph.bernoulli({"a": "0.9", "b": "1"})
    other = ll.design(graph, ProfilePrivacy("2"), method="cluster")
    ledger = released(Ledger.new(), flip, ["x"])
    said = f"by mechanism {flip.channel.fingerprint[:16]}, profile\\(budget=1\\)"
    with pytest.raises(NotComposable, match=said) as caught:
        released(ledger, other, ["x"])
    # What two releases by `other` lose is another number than what these two lose.
    assert caught.value.together is None
    assert "nats" not in str(caught.value)
    assert "what the two lose together is not known; release each" in str(caught.value)


def test_the_same_channel_under_another_budget(flip: ll.Mechanism) -> None:
    """The loss would be the same, but not the sum of the budgets beside it."""
    graph = ProfileGraph.bernoulli({"a": "0.9", "b": "1"})
    other = ll.lock(flip.table, ProfilePrivacy("2"), graph)
    assert other.channel.fingerprint == flip.channel.fingerprint
    ledger = released(Ledger.new(), other, ["x"])
    with pytest.raises(NotComposable, match=r"profile\(budget=2\), which differs") as caught:
        released(ledger, flip, ["x"])
    assert "nats" not in str(caught.value)


def test_an_empty_id(flip: ll.Mechanism) -> None:
    with pytest.raises(InputError, match="an observation without an id at number 2"):
        released(Ledger.new(), flip, ["x", ""])


class Missing:
    """A stand-in for the missing value of pandas, which cannot be compared."""

    def __str__(self) -> str:
        return "<NA>"

    def __eq__(self, other: object) -> bool:
        raise TypeError("ambiguous")

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    "missing",
    [" ", "\t\n", "\N{NO-BREAK SPACE}", None, float("nan"), Decimal("NaN"), "nan", Missing()],
)
def test_what_is_no_id(flip: ll.Mechanism, missing: object) -> None:
    with pytest.raises(InputError, match="an observation without an id at number 2"):
        released(Ledger.new(), flip, ["x", missing])


@pytest.mark.parametrize(
    ("first", "second"),
    [("x", " x\t"), (7, "7"), ("caf\N{LATIN SMALL LETTER E WITH ACUTE}", "cafe\u0301")],
)
def test_ids_that_are_the_same(flip: ll.Mechanism, first: object, second: object) -> None:
    ledger = released(Ledger.new(), flip, [first])
    assert holds(ledger, second)
    with pytest.raises(NotComposable, match="was released before"):
        released(ledger, flip, [second])
    with pytest.raises(NotComposable, match="is given twice"):
        released(Ledger.new(), flip, [second, first])


def test_ids_are_text(flip: ll.Mechanism) -> None:
    different = ["1", "01", "x", "X", "a b", "ab"]
    assert number_of(released(Ledger.new(), flip, different)) == 6


@pytest.mark.parametrize("same", [1.0, "1.0", "\uff11", " 1 "])
def test_an_observation_is_released_once_however_its_id_is_written(
    flip: ll.Mechanism, same: object
) -> None:
    ledger = released(Ledger.new(), flip, ["1"])
    with pytest.raises(NotComposable, match="was released before"):
        released(ledger, flip, [same])


def test_an_observation_is_not_hidden_by_what_cannot_be_seen(flip: ll.Mechanism) -> None:
    for odd in ("o1\u200b", "o1\ufe0f", "o1\u3164"):
        with pytest.raises(InputError, match="cannot be seen"):
            released(Ledger.new(), flip, [odd])


def test_two_at_once(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    with (
        Ledger.open(path),
        pytest.raises(FileError, match="in use by another release"),
        Ledger.open(path),
    ):
        pass
    with Ledger.open(path) as ledger:
        assert number_of(ledger) == 0


def test_failures_leave_no_lock(tmp_path: Path, flip: ll.Mechanism) -> None:
    path = tmp_path / "ledger.json"
    with pytest.raises(NotComposable), Ledger.open(path) as ledger:
        released(ledger, flip, ["x", "x"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "version"),
        ({"format": "liftlock.mechanism"}, "another file format"),
        ({"salt": ""}, "without its salt"),
        ({"salt": "xyz"}, "wrong shape"),
        ({"releases": [{"mechanism": "m"}]}, "wrong shape"),
        ({"releases": None}, "wrong shape"),
        ({"releases": [{"mechanism": "m", "guarantee": "?", "digests": []}]}, "not a guarantee"),
    ],
)
def test_damaged_ledgers(
    tmp_path: Path, flip: ll.Mechanism, change: dict[str, object], message: str
) -> None:
    path = tmp_path / "ledger.json"
    path.write_text(json.dumps(old_data(flip) | change))
    with pytest.raises(FileError, match=message) as caught:
        Ledger.load(path)
    assert str(path) in str(caught.value)


def test_a_ledger_of_observations_alone_is_still_read(tmp_path: Path, flip: ll.Mechanism) -> None:
    path = tmp_path / "ledger.json"
    path.write_text(json.dumps(old_data(flip)))
    found = Ledger.load(path)
    assert [holds(found, name) for name in ("x", "y", "z")] == [True, True, False]
    (entry,) = found.entries
    assert (entry.channel, entry.certified) == (flip.channel.fingerprint, "profile(budget=1)")
    assert (entry.when, entry.context) == ("", "")
    with pytest.raises(NotComposable, match=r"'y' at number 1 was released before: .*3\.5252"):
        released(found, flip, ["y"])
    with Ledger.open(path) as ledger:
        released(ledger, flip, ["z"]).save(path)
    again = Ledger.load(path)
    assert json.loads(path.read_text())["format"] == "liftlock.ledger"
    assert again.entries[0] == entry
    assert [holds(again, name) for name in ("x", "y", "z")] == [True, True, True]
    with pytest.raises(NotComposable, match="was released before"):
        released(again, flip, ["x"])


def test_an_old_ledger_is_not_replaced_by_another(tmp_path: Path, flip: ll.Mechanism) -> None:
    path = tmp_path / "ledger.json"
    path.write_text(json.dumps(old_data(flip)))
    before = path.read_text()
    for other in (Ledger.new(), Ledger(bytes(range(16))), released(Ledger.new(), flip, ["x"])):
        with pytest.raises(FileError, match="holds a release that this ledger lacks"):
            other.save(path)
    assert path.read_text() == before


def test_a_second_release_within_a_limit(flip: ll.Mechanism) -> None:
    """What all releases of an observation lose together is exact, so it can keep a limit."""
    graph = ProfileGraph.bernoulli({"a": "0.9", "b": "0.99"})
    made = ll.design(graph, ProfilePrivacy("1"), method="cluster")
    ledger = released(Ledger.new(), made, ["x", "y"])
    truth = float(account([made, made])["profile"])
    assert truth > 2
    again: dict[str, Any] = {"people": ["y"], "about": "observation"}
    with pytest.raises(NotComposable, match=r"exceeds profile\(2\): after 2 releases"):
        ledger.record(made, limit=ProfilePrivacy("2"), **again)
    twice = ledger.record(made, limit=ProfilePrivacy(f"{truth + 0.01:.4f}"), **again)
    found = twice.account("observation", person="y")
    assert found.is_exact("profile")
    assert float(found["profile"]) == truth
    assert float(twice.account("observation", person="x")["profile"]) == pytest.approx(1)
    assert "budgets of the same observation do not add up" in found.warning()
    with pytest.raises(InputError, match="calls impossible"):
        released(Ledger.new(), flip, ["x"]).record(
            flip, people=["x"], about="observation", limit=ProfilePrivacy("9")
        )


def test_a_cohort_is_released_once(flip: ll.Mechanism) -> None:
    ledger = Ledger.new().record(flip, who="staff", about="use")
    with pytest.raises(NotComposable, match=r"'staff' was released before: .*3\.5252"):
        ledger.record(flip, who="staff", about="use")
    assert len(ledger.record(flip, who="guests", about="use")) == 2


def test_a_graph_that_is_too_large_is_not_kept(
    flip: ll.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_CONTEXT_CELLS", 3)
    ledger = released(Ledger.new(), flip, ["x"])
    assert (ledger.contexts, ledger.mechanisms) == ({}, {})
    again = Ledger.from_data(ledger.to_data())
    assert again == ledger
    with pytest.raises(NotComposable, match="was released before"):
        released(again, flip, ["x"])


def test_what_was_promised_in_a_graph_that_was_not_kept(flip: ll.Mechanism) -> None:
    """An old ledger kept the guarantee of each release, which holds for its one release."""
    old = Ledger.from_data(old_data(flip))
    found = old.account("observation", person="x")
    assert (found.headline, set(found.best)) == ("profile", {"profile"})
    assert not found.is_exact("profile")
    assert float(found["profile"]) == 1
    assert found.allows(ProfilePrivacy("1"))
    assert not found.allows(ProfilePrivacy("0.99"))
    for limit in (ll.LDP("9"), ll.LIP("9")):
        with pytest.raises(NotDefined, match="ldp is not defined for 1 release"):
            found.allows(limit)
    # Nothing bounds a second release: not the sum of both budgets, and no level of LDP.
    twice = account(old.releases(old.entries * 2))
    assert not twice.best
    assert "release each observation once" in twice.refused["tight"]
    with pytest.raises(NotDefined):
        twice.allows(ProfilePrivacy("9"))
    with pytest.raises(NotDefined, match=r"LDP bounds it by inf nats, which is above profile\(9\)"):
        old.record(flip, people=["y"], about="observation", limit=ProfilePrivacy("9"))


def test_levels_of_a_graph_that_was_not_kept(
    flip: ll.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = ProfileGraph.bernoulli({"a": "0.9", "b": "0.99"})
    made = ll.design(graph, ProfilePrivacy("1"), method="cluster")
    kept = released(Ledger.new(), made, ["x"]).account("observation", person="x")
    monkeypatch.setattr(module, "MOST_CONTEXT_CELLS", 3)
    for mechanism in (made, flip):
        found = released(Ledger.new(), mechanism, ["x"]).account("observation", person="x")
        assert found["profile"].ratio == account([mechanism])["profile"].ratio
    found = released(Ledger.new(), made, ["x"]).account("observation", person="x")
    assert found["ldp"].ratio == kept["ldp"].ratio


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with (
        pytest.raises(FileError, match="no such folder"),
        Ledger.open(tmp_path / "none" / "ledger.json"),
    ):
        pass


# --- one ledger under several names ---------------------------------------------------------------


def test_a_ledger_behind_a_link(tmp_path: Path, flip: ll.Mechanism) -> None:
    (tmp_path / "real").mkdir()
    real, link = tmp_path / "real" / "ledger.json", tmp_path / "link.json"
    link.symlink_to(Path("real") / "ledger.json")
    with Ledger.open(link) as ledger:  # leads to nothing yet
        released(ledger, flip, ["x"]).save(link)
    assert link.is_symlink()
    assert list(real.parent.iterdir()) == [real]
    for path in (link, real):
        with Ledger.open(path) as ledger, pytest.raises(NotComposable):
            released(ledger, flip, ["x"])
    for first, second in ((link, real), (real, link)):
        with (
            Ledger.open(first),
            pytest.raises(FileError, match="in use by another release"),
            Ledger.open(second),
        ):
            pass


def test_a_ledger_with_two_names(tmp_path: Path, flip: ll.Mechanism) -> None:
    path, other = tmp_path / "ledger.json", tmp_path / "other.json"
    ledger = released(Ledger.new(), flip, ["x"])
    ledger.save(path)
    other.hardlink_to(path)
    before = path.read_text()
    for name in (path, other):
        with (
            pytest.raises(FileError, match=r"a ledger with 2 names \(hard links\) at"),
            Ledger.open(name),
        ):
            pass
        with pytest.raises(FileError, match="hard links"):
            released(ledger, flip, ["y"]).save(name)
    assert path.read_text() == before
    assert {p.name for p in tmp_path.iterdir()} == {"ledger.json", "other.json"}
    other.unlink()
    with Ledger.open(path) as found:
        assert number_of(found) == 1


def test_the_folder_is_on_the_disk_too(
    tmp_path: Path, flip: ll.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[bool] = []
    monkeypatch.setattr(
        os, "fsync", lambda handle: synced.append(stat.S_ISDIR(os.fstat(handle).st_mode))
    )
    released(Ledger.new(), flip, ["x"]).save(tmp_path / "ledger.json")
    assert synced == [False, True]


def test_the_hash_is_the_one_of_the_format() -> None:
    """Ledgers must be readable by other versions: HMAC-SHA256 of the text, its first 16 bytes."""
    found = Ledger(bytes(16)).digest(" ann ")
    inner = hashlib.sha256(b"\x36" * 64 + b"ann").digest()
    assert found == hashlib.sha256(b"\x5c" * 64 + inner).hexdigest()[:32]


def test_an_older_ledger_does_not_replace_a_newer_one(tmp_path: Path, flip: ll.Mechanism) -> None:
    path = tmp_path / "ledger.json"
    first = released(Ledger.new(), flip, ["a"])
    first.save(path)
    second = released(first, flip, ["b"])
    second.save(path)
    for stale in (first, released(first, flip, ["c"]), Ledger.new()):
        with pytest.raises(FileError, match="holds a release that this ledger lacks"):
            stale.save(path)
    assert Ledger.load(path) == second
