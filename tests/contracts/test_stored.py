"""The contract of everything that is kept in a file: what was written is read, all else refused."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import liftlock as ll
from liftlock._runtime.storage import StoredObject
from liftlock.errors import FileError, LiftlockError

PRIOR = ll.Prior.from_counts({"no": 3, "yes": 1})
GRAPH = ll.ProfileGraph.bernoulli(["0.2", "0.8"])


def mechanism() -> ll.Mechanism:
    return ll.design(PRIOR, ll.LIP("1"))


def aggregate() -> ll.Aggregate:
    return mechanism().aggregate(["no", "yes", "no"])


def weighted() -> ll.Aggregate:
    return mechanism().aggregate(["no", "yes", "no"], weights=[1.0, 0.5, 2.0])


def ledger() -> ll.Ledger:
    made = mechanism()
    book = ll.Ledger.new().record(made, who="staff", about="smokes")
    return book.record(made, people=["ann", "bob"], about="smokes", note="wave 2")


def per_user() -> ll.Mechanism:
    return ll.design(["no", "yes"], ll.LIP("1"), method="arc")


def per_user_aggregate() -> StoredObject:
    made = per_user()
    priors = ll.PerUserPriors.of(["no", "yes"], np.array([[0.6, 0.4], [0.3, 0.7]]))
    return made.aggregate(made.simulate(["no", "yes"], priors, seed=1), priors)


STORED: dict[str, Callable[[], StoredObject]] = {
    "mechanism": mechanism,
    "profile mechanism": lambda: ll.design(GRAPH, ll.ProfilePrivacy("1")),
    "aggregate": aggregate,
    "weighted aggregate": weighted,
    "ledger": ledger,
    "empty ledger": ll.Ledger.new,
    "per-user mechanism": per_user,
    "per-user aggregate": per_user_aggregate,
}

each = pytest.mark.parametrize("make", STORED.values(), ids=STORED)


def kinds(of: type[StoredObject] = StoredObject) -> set[type[StoredObject]]:
    """Return every kind of stored thing of the library."""
    found = {kind for kind in of.__subclasses__() if kind.__module__.startswith("liftlock.")}
    return found.union(*(kinds(kind) for kind in found))


def test_every_kind_is_under_contract() -> None:
    assert {type(make()) for make in STORED.values()} == kinds()


def test_no_two_kinds_share_a_format() -> None:
    formats = [kind.FORMAT for kind in kinds()]
    assert len(set(formats)) == len(formats)
    assert all(name.startswith("liftlock.") for name in formats)


@each
def test_what_was_written_is_read(make: Callable[[], StoredObject], tmp_path: Path) -> None:
    stored, path = make(), tmp_path / "stored.json"
    stored.save(path)
    again = type(stored).load(path)
    assert again.to_data() == stored.to_data() == json.loads(path.read_text(encoding="utf-8"))
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


@each
def test_format_and_version_come_first(make: Callable[[], StoredObject], tmp_path: Path) -> None:
    """A reader sees at once what a file is, however long it is."""
    stored = make()
    assert list(stored.to_data())[:2] == ["format", "version"]
    stored.save(tmp_path / "stored.json")
    assert stored.FORMAT in (tmp_path / "stored.json").read_text(encoding="utf-8")[:60]


@each
@pytest.mark.parametrize(
    "change",
    [
        {"version": 0},
        {"version": 3},
        {"version": "1"},
        {"version": None},
        {"format": "liftlock.other"},
        {"format": None},
    ],
    ids=str,
)
def test_other_formats_and_versions_are_refused(
    make: Callable[[], StoredObject], change: dict[str, Any], tmp_path: Path
) -> None:
    stored, path = make(), tmp_path / "stored.json"
    path.write_text(json.dumps(stored.to_data() | change), encoding="utf-8")
    with pytest.raises(FileError) as refused:
        type(stored).load(path)
    assert str(path) in str(refused.value)
    assert refused.value.remedy


@each
def test_content_of_the_wrong_shape_is_refused(make: Callable[[], StoredObject]) -> None:
    """Whatever stands where, a file is refused in one line; one that is proved is proved again."""
    stored = make()
    data = stored.to_data()
    for key in data:
        for odd in (None, 7, "x", [], {}, [None], {"x": None}):
            if odd != data[key]:
                assert_refused_or_same(stored, data | {key: odd})
        left = copy.deepcopy(data)
        del left[key]
        assert_refused_or_same(stored, left)
    for other in (None, 7, "x", [], [data]):
        with pytest.raises(FileError):
            type(stored).from_data(other)


OPTIONAL = {"origin", "column", "group"}
"""What a mechanism need not say."""


def assert_refused_or_same(stored: StoredObject, data: dict[str, Any]) -> None:
    try:
        found = type(stored).from_data(data)
    except LiftlockError:
        return
    if "aggregate" in stored.FORMAT:
        return  # sums prove nothing: whoever estimates from them compares the fingerprint
    changed = {key for key, value in stored.to_data().items() if found.to_data().get(key) != value}
    assert changed <= OPTIONAL


@each
def test_an_interrupted_write_leaves_the_old_file(
    make: Callable[[], StoredObject], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored, path = make(), tmp_path / "stored.json"
    stored.save(path)
    before = path.read_bytes()

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(FileError, match="No space left"):
        stored.save(path)
    assert path.read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == ["stored.json"]


@each
def test_what_is_not_there_is_named(make: Callable[[], StoredObject], tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no such file"):
        type(make()).load(tmp_path / "none.json")
