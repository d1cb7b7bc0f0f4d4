"""Files that were written before are read, proved again, and say what they said, if unchanged."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import liftlock as ll
from liftlock.errors import FileError, LiftlockError
from tests.compatibility.stored import FILES, READERS, names, said, says
from tests.golden.journeys import differences


@pytest.mark.parametrize("name", names())
def test_a_file_says_what_it_said(name: str) -> None:
    assert list(differences(said()[name], says(name))) == []


def test_what_was_said_belongs_to_a_file() -> None:
    assert set(said()) == set(names())


def read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FILES / f"{name}.json").read_text(encoding="utf-8"))
    return found


def changed(data: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return a mechanism file as somebody might have changed it, in one place each."""
    for place, value in (
        (("version",), 99),
        (("format",), "liftlock.other"),
        (("certificate", "version"), 99),
        (("channel", "version"), 99),
        (("certificate", "channel"), "0" * 64),
        (("certificate", "context"), "0" * 64),
        (("certificate", "holds"), False),
    ):
        other = copy.deepcopy(data)
        inner = other
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = value
        yield ".".join(place), other
    for name in data["certificate"]["budgets"]:
        other = copy.deepcopy(data)
        other["certificate"]["budgets"][name] = "1/12345"
        yield f"budget {name}", other
    for name in ("inputs", "outputs"):
        if name in data["channel"]:
            other = copy.deepcopy(data)
            listed = other["channel"][name]
            labels = listed["labels"] if isinstance(listed, dict) else listed
            labels[0], labels[-1] = labels[-1], labels[0]
            yield f"order of {name}", other
    if "weights" in data["channel"]:
        other = copy.deepcopy(data)
        row = next(row for row in other["channel"]["weights"] if len(set(map(str, row))) > 1)
        first = next(place for place in range(1, len(row)) if row[place] != row[0])
        row[0], row[first] = row[first], row[0]
        yield "weights", other


MECHANISMS = [name for name in names() if name.startswith("mechanism-")]


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_changed_mechanism_is_refused(name: str) -> None:
    data = read(name)
    ll.Mechanism.from_data(data)
    for what, other in changed(data):
        with pytest.raises(LiftlockError):
            print(f"changed {what}: {ll.Mechanism.from_data(other)}")


# A context has the version of the file that holds it.
VERSIONED = [name for name in names() if "version" in read(name)]


@pytest.mark.parametrize("name", VERSIONED)
def test_a_later_version_is_refused(name: str, tmp_path: Path) -> None:
    data = read(name)
    path = tmp_path / f"{name}.json"
    path.write_text(json.dumps(data | {"version": 99}), encoding="utf-8")
    with pytest.raises(FileError, match="unknown version of") as refused:
        READERS[data["format"]](path)
    assert refused.value.remedy
