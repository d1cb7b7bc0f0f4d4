"""Registries: order, names that are taken, plug-ins that are broken, and when they are found."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import pytest

import liftlock as ll
from liftlock._runtime.registry import PluginWarning, Registry, View, name_of
from liftlock.accounting.accountants import ACCOUNTANTS
from liftlock.designs import DESIGNS
from liftlock.errors import InputError
from liftlock.estimate import ESTIMATORS
from liftlock.notions.registry import NOTIONS, TITLES
from liftlock.tables.formats import FORMATS
from liftlock.utility import REGISTRY as UTILITIES

ALL: list[Registry[Any]] = [NOTIONS, DESIGNS, UTILITIES, ESTIMATORS, ACCOUNTANTS, FORMATS]


@dataclass(frozen=True)
class Thing:
    key: str


def things(*keys: str) -> Registry[Thing]:
    return Registry(
        "thing",
        "liftlock.things",
        map(Thing, keys),
        names=lambda thing: [thing.key, f"{thing.key}2"],
        fault=lambda thing: "" if isinstance(thing, Thing) else "give a Thing",
    )


class Point:
    """An entry point, as far as it is looked at."""

    class dist:
        name, version = "somebodys-package", "1.2"

    def __init__(self, name: str, made: object) -> None:
        self.name, self.made = name, made

    def load(self) -> object:
        if isinstance(self.made, Exception):
            raise self.made
        return self.made


def offered(monkeypatch: pytest.MonkeyPatch, *points: Point) -> list[str]:
    """Let these entry points be installed; return the groups that are asked for."""
    asked: list[str] = []

    def entry_points(*, group: str) -> list[Point]:
        asked.append(group)
        return list(points)

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    return asked


def test_entries_come_in_order_and_those_of_plug_ins_last(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = offered(monkeypatch, Point("z", Thing("z")), Point("a", Thing("a")))
    found = things("m", "b")
    assert not asked
    assert list(found.registered) == ["m", "b"]
    assert not asked
    assert list(found) == ["m", "b", "a", "z"]
    assert len(found) == 4
    assert asked == ["liftlock.things"]
    assert found["z"] == Thing("z")


def test_a_name_is_given_once(monkeypatch: pytest.MonkeyPatch) -> None:
    offered(monkeypatch)
    found = things("a")
    for taken in ("a", "a2"):
        with pytest.raises(
            InputError, match=f"a thing of this name is registered already: '{taken}'"
        ):
            found.register(Thing(taken))
    with pytest.raises(InputError, match="not a thing: 'int'; give a Thing"):
        found.register(3)  # type: ignore[arg-type]
    found.unregister("a")
    found.register(Thing("a"))
    assert list(found) == ["a"]


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (ImportError("No module named 'gone'"), "ImportError: No module named 'gone'"),
        (3, "InputError: not a thing: 'int'; give a Thing"),
        (Thing("own"), "InputError: a thing of this name is registered already: 'own'; give"),
        (RuntimeError("two\nlines"), "RuntimeError: two lines"),
    ],
)
def test_a_broken_plug_in_is_left_out_in_one_line(
    monkeypatch: pytest.MonkeyPatch, made: object, words: str
) -> None:
    offered(monkeypatch, Point("bad", made), Point("good", Thing("good")))
    found = things("own")
    with pytest.warns(PluginWarning) as told:
        assert list(found) == ["own", "good"]
    (one,) = told
    text = str(one.message)
    assert text.startswith("the thing 'bad' of somebodys-package 1.2 is left out: " + words)
    assert "\n" not in text
    assert list(found) == ["own", "good"]


def test_a_view_follows_its_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    offered(monkeypatch, Point("p", Thing("p")))
    found = things("a")
    lengths = View(found, lambda thing: [(thing.key, len(thing.key))])
    assert dict(lengths) == {"a": 1, "p": 1}
    found.register(Thing("long"))
    assert lengths["long"] == 4
    found.unregister("a")
    assert list(lengths) == ["p", "long"]


def test_the_six_registries_have_a_group_each() -> None:
    assert [each.group for each in ALL] == [
        f"liftlock.{name}"
        for name in ("notions", "designs", "utilities", "estimators", "accountants", "formats")
    ]
    for each in ALL:
        with pytest.raises(InputError, match=f"not an? {each.what}"):
            each.register(3)
        with pytest.raises(InputError, match="registered already"):
            each.register(next(iter(each.values())))


def test_a_notion_that_lacks_something_is_told_what() -> None:
    class Half(ll.notions.Notion):
        key = "half"

    with pytest.raises(InputError, match="it lacks title, summary, decide, smallest_text"):
        NOTIONS.register(Half)  # type: ignore[type-abstract]
    assert "half" not in TITLES


def test_importing_looks_for_no_plug_ins() -> None:
    code = (
        "import importlib.metadata as m\n"
        "real = m.entry_points\n"
        "def refuse(*, group):\n"
        "    assert group == 'liftlock.commands', group\n"
        "    return real(group=group)\n"
        "m.entry_points = refuse\n"
        "import liftlock, liftlock.cli.main, liftlock.tables.formats, liftlock.estimate\n"
        "from liftlock.cli import main\n"
        "assert main(['--help']) == 0\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)


def test_names() -> None:
    assert name_of(test_names).endswith("test_registry.test_names")
    assert name_of(Thing("a")) == "Thing"
