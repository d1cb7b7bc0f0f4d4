"""`liftlock collect demo`: a small one, over real HTTP; nothing is left behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import urllib.request
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


def test_ctrl_c_ends_what_is_kept_open(tmp_path: Path) -> None:
    """The page is opened by a browser that only tells its address; then somebody presses Ctrl-C."""
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" >{tmp_path}/opened\n')
    browser.chmod(0o755)
    demo = subprocess.Popen(
        [sys.executable, "-m", "liftlock", "collect", "demo", "--people", "200", "--open"],
        env=os.environ | {"BROWSER": str(browser), "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    assert demo.stdout is not None
    said = ""
    for line in demo.stdout:
        said += line
        if line.startswith("Stop it with Ctrl-C"):
            break
    address = (tmp_path / "opened").read_text().strip()
    assert address.endswith("/s/town/results")
    with urllib.request.urlopen(address, timeout=60) as page:
        assert "Health in our town" in page.read().decode()
    os.killpg(demo.pid, signal.SIGINT)
    rest, _ = demo.communicate(timeout=60)
    assert (demo.returncode, rest) == (0, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["browser", "opened"]
