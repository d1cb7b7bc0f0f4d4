"""The ledger: every observation once, whatever happens in between."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from decimal import Decimal
from pathlib import Path

import pytest

import liftlock as ll
from liftlock.errors import FileError, InputError, NotComposable
from liftlock.notions.profile import ProfilePrivacy
from liftlock.profile_graph import ProfileGraph
from liftlock.profiles.ledger import ProfileLedger


@pytest.fixture(scope="module")
def flip() -> ll.Mechanism:
    graph = ProfileGraph.bernoulli({"a": "0.9", "b": "1"})
    return ll.design(graph, ProfilePrivacy("1"), method="cluster")


def test_round_trip(tmp_path: Path, flip: ll.Mechanism) -> None:
    path = tmp_path / "ledger.json"
    with ProfileLedger.opened(path) as ledger:
        ledger.with_release(flip, ["x", "y"]).save(path)
    with ProfileLedger.opened(path) as ledger:
        assert "x" in ledger
        assert "z" not in ledger
        ledger.with_release(flip, ["z"]).save(path)
    found = ProfileLedger.load(path)
    assert len(found) == 3
    assert [len(entry.digests) for entry in found.entries] == [2, 1]
    assert {entry.mechanism for entry in found.entries} == {flip.channel.fingerprint}
    assert {p.name for p in tmp_path.iterdir()} == {"ledger.json"}


def test_ids_are_not_in_the_file(tmp_path: Path, flip: ll.Mechanism) -> None:
    path = tmp_path / "ledger.json"
    ProfileLedger.new().with_release(flip, ["ann@example"]).save(path)
    assert "ann" not in path.read_text()
    first, second = ProfileLedger.new(), ProfileLedger.new()
    assert first.digest("ann") != second.digest("ann")
    assert first.digest("ann") == first.digest("ann")
    assert first.digest(7) == first.digest("7")


def test_a_second_release(flip: ll.Mechanism) -> None:
    ledger = ProfileLedger.new().with_release(flip, ["x"])
    with pytest.raises(NotComposable, match=r"'x' at t.csv, line 3 was released before: .*3\.5252"):
        ledger.with_release(flip, ["w", "x"], lambda number: f"t.csv, line {number + 2}")
    with pytest.raises(NotComposable, match="'y' at number 2 is given twice: no rule") as caught:
        ledger.with_release(flip, ["y", "y"])
    assert caught.value.together is not None
    assert len(ledger) == 1


def test_another_mechanism_is_named(flip: ll.Mechanism) -> None:
    graph = ProfileGraph.bernoulli({"a": "0.9", "b": "1"})
    other = ll.design(graph, ProfilePrivacy("2"), method="cluster")
    ledger = ProfileLedger.new().with_release(flip, ["x"])
    said = f"by mechanism {flip.channel.fingerprint[:16]}, profile\\(budget=1\\)"
    with pytest.raises(NotComposable, match=said) as caught:
        ledger.with_release(other, ["x"])
    # What two releases by `other` lose is another number than what these two lose.
    assert caught.value.together is None
    assert "nats" not in str(caught.value)
    assert "what the two lose together is not known; release each" in str(caught.value)


def test_the_same_channel_under_another_budget(flip: ll.Mechanism) -> None:
    """The loss would be the same, but not the sum of the budgets beside it."""
    graph = ProfileGraph.bernoulli({"a": "0.9", "b": "1"})
    other = ll.lock(flip.table, ProfilePrivacy("2"), graph)
    assert other.channel.fingerprint == flip.channel.fingerprint
    ledger = ProfileLedger.new().with_release(other, ["x"])
    with pytest.raises(NotComposable, match=r"profile\(budget=2\), which differs") as caught:
        ledger.with_release(flip, ["x"])
    assert "nats" not in str(caught.value)


def test_an_empty_id(flip: ll.Mechanism) -> None:
    with pytest.raises(InputError, match="an observation without an id at number 2"):
        ProfileLedger.new().with_release(flip, ["x", ""])


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
        ProfileLedger.new().with_release(flip, ["x", missing])


@pytest.mark.parametrize(
    ("first", "second"),
    [("x", " x\t"), (7, "7"), ("caf\N{LATIN SMALL LETTER E WITH ACUTE}", "cafe\u0301")],
)
def test_ids_that_are_the_same(flip: ll.Mechanism, first: object, second: object) -> None:
    ledger = ProfileLedger.new().with_release(flip, [first])
    assert second in ledger
    with pytest.raises(NotComposable, match="was released before"):
        ledger.with_release(flip, [second])
    with pytest.raises(NotComposable, match="is given twice"):
        ProfileLedger.new().with_release(flip, [second, first])


def test_ids_are_text(flip: ll.Mechanism) -> None:
    different = ["1", "01", 1.0, "x", "X", "a b", "ab"]
    assert len(ProfileLedger.new().with_release(flip, different)) == 7


def test_two_at_once(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    with (
        ProfileLedger.opened(path),
        pytest.raises(FileError, match="in use by another release"),
        ProfileLedger.opened(path),
    ):
        pass
    with ProfileLedger.opened(path) as ledger:
        assert len(ledger) == 0


def test_failures_leave_no_lock(tmp_path: Path, flip: ll.Mechanism) -> None:
    path = tmp_path / "ledger.json"
    with pytest.raises(NotComposable), ProfileLedger.opened(path) as ledger:
        ledger.with_release(flip, ["x", "x"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "version"),
        ({"format": "liftlock.mechanism"}, "format|liftlock.profile-ledger"),
        ({"salt": ""}, "without its salt"),
        ({"salt": "xyz"}, "wrong shape"),
        ({"releases": [{"mechanism": "m"}]}, "wrong shape"),
        ({"releases": None}, "wrong shape"),
    ],
)
def test_damaged_ledgers(
    tmp_path: Path, flip: ll.Mechanism, change: dict[str, object], message: str
) -> None:
    path = tmp_path / "ledger.json"
    data = ProfileLedger.new().with_release(flip, ["x"]).to_data()
    path.write_text(json.dumps(data | change))
    with pytest.raises(FileError, match=message) as caught:
        ProfileLedger.load(path)
    assert str(path) in str(caught.value)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with (
        pytest.raises(FileError, match="no such folder"),
        ProfileLedger.opened(tmp_path / "none" / "ledger.json"),
    ):
        pass


# --- one ledger under several names ---------------------------------------------------------------


def test_a_ledger_behind_a_link(tmp_path: Path, flip: ll.Mechanism) -> None:
    (tmp_path / "real").mkdir()
    real, link = tmp_path / "real" / "ledger.json", tmp_path / "link.json"
    link.symlink_to(Path("real") / "ledger.json")
    with ProfileLedger.opened(link) as ledger:  # leads to nothing yet
        ledger.with_release(flip, ["x"]).save(link)
    assert link.is_symlink()
    assert list(real.parent.iterdir()) == [real]
    for path in (link, real):
        with ProfileLedger.opened(path) as ledger, pytest.raises(NotComposable):
            ledger.with_release(flip, ["x"])
    for first, second in ((link, real), (real, link)):
        with (
            ProfileLedger.opened(first),
            pytest.raises(FileError, match="in use by another release"),
            ProfileLedger.opened(second),
        ):
            pass


def test_a_ledger_with_two_names(tmp_path: Path, flip: ll.Mechanism) -> None:
    path, other = tmp_path / "ledger.json", tmp_path / "other.json"
    ledger = ProfileLedger.new().with_release(flip, ["x"])
    ledger.save(path)
    other.hardlink_to(path)
    before = path.read_text()
    for name in (path, other):
        with (
            pytest.raises(FileError, match=r"a ledger with 2 names \(hard links\) at"),
            ProfileLedger.opened(name),
        ):
            pass
        with pytest.raises(FileError, match="hard links"):
            ledger.with_release(flip, ["y"]).save(name)
    assert path.read_text() == before
    assert {p.name for p in tmp_path.iterdir()} == {"ledger.json", "other.json"}
    other.unlink()
    with ProfileLedger.opened(path) as found:
        assert len(found) == 1


def test_the_folder_is_on_the_disk_too(
    tmp_path: Path, flip: ll.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[bool] = []
    monkeypatch.setattr(
        os, "fsync", lambda handle: synced.append(stat.S_ISDIR(os.fstat(handle).st_mode))
    )
    ProfileLedger.new().with_release(flip, ["x"]).save(tmp_path / "ledger.json")
    assert synced == [False, True]


def test_the_hash_is_the_one_of_the_format() -> None:
    """Ledgers must be readable by other versions: HMAC-SHA256 of the text, its first 16 bytes."""
    found = ProfileLedger(bytes(16)).digest(" ann ")
    inner = hashlib.sha256(b"\x36" * 64 + b"ann").digest()
    assert found == hashlib.sha256(b"\x5c" * 64 + inner).hexdigest()[:32]


def test_an_older_ledger_does_not_replace_a_newer_one(tmp_path: Path, flip: ll.Mechanism) -> None:
    path = tmp_path / "ledger.json"
    first = ProfileLedger.new().with_release(flip, ["a"])
    first.save(path)
    second = first.with_release(flip, ["b"])
    second.save(path)
    for stale in (first, first.with_release(flip, ["c"]), ProfileLedger.new()):
        with pytest.raises(FileError, match="holds a release that this ledger lacks"):
            stale.save(path)
    assert ProfileLedger.load(path) == second
