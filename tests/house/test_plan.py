"""The plan of the house in docs/design.md: one picture of the layers, one line for each room."""

from __future__ import annotations

import ast
import re
import runpy

import pytest

from tests.house.rooms import ROOT, layers
from tests.house.tracer import SOURCE

PAGE = (ROOT / "docs/design.md").read_text(encoding="utf-8")
PICTURES = runpy.run_path(str(ROOT / "docs/pictures.py"))


def rooms() -> dict[str, str]:
    """Return the top-level modules and packages of the library: the first line of each."""
    found = {}
    for path in sorted(SOURCE.iterdir()):
        source = path / "__init__.py" if path.is_dir() else path
        name = path.stem
        if source.suffix == ".py" and source.exists() and not name.startswith("__"):
            text = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
            found[name] = text.split("\n")[0]
    return found


def table() -> dict[str, str]:
    """Return the rooms of the page, with what it says of them."""
    part = PAGE.split("## The house", 1)[1].split("\n## ", 1)[0]
    return dict(re.findall(r"^\| `(\w+)` \| (.+?) \|$", part, re.M))


def test_the_page_has_one_line_for_each_room() -> None:
    assert table() == rooms()


def test_every_room_is_on_one_floor() -> None:
    floors = PICTURES["floors"]()
    assert len(floors) == len(layers())
    assert sorted(room for floor in floors for room in floor) == sorted(rooms())


@pytest.mark.parametrize("theme", ["LIGHT", "DARK"])
def test_the_picture_is_that_of_the_layers(theme: str) -> None:
    colours = PICTURES[theme]
    stored = ROOT / f"docs/pictures/house-{colours.name}.svg"
    assert stored.read_text(encoding="utf-8") == PICTURES["house"](colours)
    assert f"pictures/{stored.name}" in PAGE


def test_the_house_is_small() -> None:
    assert len(layers()) <= 11
    assert len(rooms()) <= 21
