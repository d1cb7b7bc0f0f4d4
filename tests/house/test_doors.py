"""Tests of a package come in through its door."""

from __future__ import annotations

from tests.house.doors import files, side_doors
from tests.house.rooms import ROOT


def test_what_a_package_offers_is_imported_from_it() -> None:
    found = {
        path.relative_to(ROOT).as_posix(): side_doors(path.read_text(encoding="utf-8"))
        for path in files()
    }
    assert {path: taken for path, taken in found.items() if taken} == {}


def test_side_doors_are_found() -> None:
    source = """
from liftlock.notions.lip import LIP
from liftlock.model.channel import _private, Table
def late():
    from liftlock._solver.limits import LIMITS, _private
    from liftlock.errors import InputError
"""
    assert side_doors(source) == [
        "line 2: import LIP from liftlock.notions, not from liftlock.notions.lip",
        "line 3: _private is private to liftlock.model.channel",
        "line 3: import Table from liftlock, not from liftlock.model.channel",
    ]
    assert side_doors("from liftlock.notions import LIP\nfrom liftlock import Table") == []
