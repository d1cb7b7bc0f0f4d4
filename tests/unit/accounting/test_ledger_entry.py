"""One entry of a ledger: what it says comes back, and what it cannot say is refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import liftlock as ll
from liftlock import Prior
from liftlock.accounting import Ledger, LedgerEntry
from liftlock.errors import FileError, LiftlockError


@pytest.fixture(scope="module")
def entry() -> LedgerEntry:
    flip = ll.design(Prior.uniform(["no", "yes"]), ll.LIP("1"), method="binary")
    return Ledger.new().record(flip, who="all", about="smokes").entries[0]


def changed(entry: LedgerEntry, *path: str, to: object) -> dict[str, Any]:
    data = inner = entry.to_data()
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = to
    return data


def test_what_is_written_comes_back(entry: LedgerEntry) -> None:
    assert LedgerEntry.from_data(entry.to_data()) == entry
    endless = LedgerEntry.from_data(changed(entry, "levels", "ldp", to="inf"))
    assert endless.levels.ldp is None
    assert endless.to_data()["levels"]["ldp"] == "inf"
    assert LedgerEntry.from_data(changed(entry, "levels", "ldp", to="1")).levels.ldp == Fraction(1)


@pytest.mark.parametrize("level", ["eps_lower", "eps_upper", "ldp", "spread"])
@pytest.mark.parametrize("ratio", ["1/2", "0", "-3", "0.999999"])
def test_a_level_below_1_is_refused(entry: LedgerEntry, level: str, ratio: str) -> None:
    """It would count as negative leakage, and make room in a budget."""
    with pytest.raises(FileError, match="a level below 1"):
        LedgerEntry.from_data(changed(entry, "levels", level, to=ratio))


@pytest.mark.parametrize("key", ["number", "unprotected"])
@pytest.mark.parametrize("value", [-1, 1.5, True, "1", None])
def test_what_is_no_whole_number_is_refused(entry: LedgerEntry, key: str, value: object) -> None:
    with pytest.raises(FileError, match="not a whole number"):
        LedgerEntry.from_data(changed(entry, key, to=value))
    assert LedgerEntry.from_data(changed(entry, "unprotected", to=0)).unprotected == 0


def test_other_keys_are_refused(entry: LedgerEntry) -> None:
    for data in (
        changed(entry, "more", to=1),
        changed(entry, "who", to={"cohort": "a", "people": []}),
    ):
        with pytest.raises(LiftlockError, match="other keys than an entry has"):
            LedgerEntry.from_data(data)
