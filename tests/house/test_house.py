"""The measuring tape measures: toy code of known size, and the journeys as they are."""

from __future__ import annotations

import liftlock as ll
from tests.house.rooms import asks_for, layers, modules, notion_classes, sizes, tuning
from tests.house.tracer import traced


def test_rooms_hold_all_files() -> None:
    assert sum(files for files, _ in sizes().values()) == len(modules())
    assert {"LIP", "ALIP", "LDP", "MaxLift", "ProfilePrivacy"} <= notion_classes()
    assert "mechanism" in layers()


def test_one_reader_of_small_csv_files() -> None:
    """Tables of any size are found in their bytes; whatever else is CSV goes through one reader."""
    reading = [name for name, path in modules().items() if "csv.reader" in path.read_text("utf-8")]
    assert reading == ["files/sheet"]


def test_type_tests_are_counted() -> None:
    source = """
if isinstance(notion, LIP | notions.ALIP) or isinstance(x, (int, LDP)) or isinstance(x, int):
    pass
match notion:
    case LIP(): ...
    case str(): ...
"""
    assert asks_for(source, {"LIP", "ALIP", "LDP"}) == 3
    namesake = "from liftlock.utility import LDP" + source
    assert asks_for(namesake, {"LIP", "ALIP", "LDP"}) == 2


def test_tuning_constants_are_counted() -> None:
    source = """
MOST = 3
_STEPS: float = 1e-3
FEW, _MANY = 3, (4, 5)
LOW, HIGH = 0, 1
NAME = "7"
FLAG = True
ROWS = (lambda x: x + 1,)
SAME = MOST
lower = 3
class Limits:
    cells: int = 128
    name: str = "x"
class Other:
    cells: int = 128
"""
    assert tuning(source) == ["MOST", "_STEPS", "FEW", "_MANY", "cells"]


def test_a_way_is_counted_by_first_visits() -> None:
    prior = ll.Prior.from_counts({"a": 3, "b": 1})
    channel = ll.Channel.from_rows({"a": {"y": 1}, "b": {"y": 1}})
    with traced() as first:
        ll.LIP("1").certify(channel, prior)
    names = [name for _, name in first.functions]
    assert len(names) == len(set(first.functions))
    assert "LIP.__init__" in names
    assert first.back <= first.switches
    assert first.room_switches <= first.switches < len(names)
    assert {"notions/lip", "model/channel"} <= set(first.modules)
