"""The ledger: every observation once, whatever happens in between."""

from __future__ import annotations

import json
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
    with pytest.raises(NotComposable, match=said):
        ledger.with_release(other, ["x"])


def test_an_empty_id(flip: ll.Mechanism) -> None:
    with pytest.raises(InputError, match="an observation without an id at number 2"):
        ProfileLedger.new().with_release(flip, ["x", ""])


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
