"""The first run on a fresh machine compiles, and gives the same files as the second."""

from __future__ import annotations

import csv
import os
import random
import subprocess
import sys
from pathlib import Path

from tests.docs.pages import ROOT


def liftlock(folder: Path, *arguments: str) -> str:
    """Run a command with compiled code in a folder of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "liftlock", *arguments],
        cwd=folder,
        env=os.environ | {"NUMBA_CACHE_DIR": str(folder / "numba")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_the_first_design_and_protection_are_the_second(tmp_path: Path) -> None:
    source = random.Random(1)
    with (tmp_path / "joint.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["", *range(150)])
        for secret in "abcdef":
            writer.writerow([secret, *(source.randint(1, 200) for _ in range(150))])
    people = (ROOT / "docs" / "examples" / "people.csv").read_bytes()
    (tmp_path / "people.csv").write_bytes(people)
    for name in ("first", "second"):
        said = liftlock(
            tmp_path, "design", "--joint", "joint.csv", "--epsilon", "0.5",
            "--utility", "histogram", "--seconds", "0.2", "-o", f"{name}.json",
        )  # fmt: skip
        # It is the work that ends the search, however long the compiler took.
        assert "limit of work" in said
        liftlock(
            tmp_path, "protect", "people.csv", "--column", "pay", "--numbers", "pay",
            "--secret", "household", "--drop", "person", "--epsilon", "0.5",
            "--seconds", "20", "-o", f"{name}.csv",
        )  # fmt: skip
    for kind in ("json", "mechanism.json"):
        one, other = ((tmp_path / f"{name}.{kind}").read_bytes() for name in ("first", "second"))
        assert one == other, kind
