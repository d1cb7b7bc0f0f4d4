"""The picture of repeated releases: the truth above the sum, for every kind of mechanism."""

from __future__ import annotations

from pathlib import Path

import pytest

import liftlock as ll
from liftlock import Channel, Prior
from liftlock.accounting import Ledger, LedgerAccount, Release
from liftlock.errors import FileError, InputError
from liftlock.report.plots.account import Repetition, draw_spent, drawable

FAIR = Prior.uniform([0, 1])
FLIP = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})


def test_curves_are_drawn(tmp_path: Path) -> None:
    path = tmp_path / "spent.svg"
    draw_spent(Repetition(Release.of(FLIP), FAIR), path, most=3)
    drawn = path.read_text(encoding="utf-8")
    assert "<svg" in drawn
    draw_spent(Repetition(Release.from_guarantee(ll.LIP("1"), FAIR), FAIR), path, most=2)
    assert path.read_text(encoding="utf-8") != drawn


def test_what_cannot_be_drawn(tmp_path: Path) -> None:
    identity = Repetition(Release.of(Channel.identity([0, 1])), FAIR)
    assert identity.after(2)["lip"].value.is_infinite
    lower = Release.of(Channel.from_rows({0: {0: 1, 1: 0}, 1: {0: "1/2", 1: "1/2"}}))
    with pytest.raises(InputError, match="the leakage is infinite"):
        draw_spent(Repetition(lower, FAIR), tmp_path / "a.png", most=2)
    with pytest.raises(FileError, match="unknown picture format"):
        draw_spent(identity, tmp_path / "a.txt")
    with pytest.raises(InputError, match="record a release first"):
        drawable(LedgerAccount(Ledger.new()))
    assert not list(tmp_path.iterdir())


def test_the_last_release_is_drawn() -> None:
    first = ll.lock(FLIP.table(), ll.LIP("1"), FAIR, bits=2)
    second = ll.lock(FLIP.table(), ll.LDP("2"), FAIR, bits=2)
    ledger = Ledger.new().record(first, who="x", about="a").record(second, who="x", about="b")
    assert str(drawable(LedgerAccount(ledger)).release.guarantee) == "ldp(2)"
    assert str(drawable(LedgerAccount(ledger, about="a")).release.guarantee) == "lip(1)"
    skewed = Prior.from_counts({0: 1, 1: 3})
    assert drawable(LedgerAccount(ledger, skewed)).context == skewed
