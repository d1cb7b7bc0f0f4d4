"""`liftlock collect demo`: a small one, over real HTTP; nothing is left behind."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest

from liftlock.collect.survey.example import DEMO_TRUTHS
from tests.unit.cli.conftest import Run


def test_two_rounds_and_nothing_left(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    done = run("collect", "demo", "--people", "400", "--seconds", "1")
    assert (done.code, done.err, done.made) == (0, "", frozenset())
    assert list((tmp_path / "scratch").iterdir()) == []
    assert len(re.findall(r"^600 reports, each acknowledged", done.out, re.MULTILINE)) == 2
    rows = re.findall(
        r"^(\w+) +\S+ +[\d.]+( %)? +[\d.]+( %)? +[\d.]+ to [\d.]+", done.out, re.MULTILINE
    )
    assert {row[0] for row in rows} == DEMO_TRUTHS.keys()
    said = " ".join(done.out.split())
    assert "which hold the shares of the population with confidence 99 % over 200 reports" in said
    assert re.search(
        r"^operators +http://127.0.0.1:\d+/ +with the token ll_", done.out, re.MULTILINE
    )
