"""Skewed contexts: no crash, no raw error, and a gap or a refusal each time."""

from __future__ import annotations

import subprocess
import sys

import pytest

from liftlock import Joint
from liftlock.designs import design
from liftlock.notions import LIP
from tests.contracts import skewed
from tests.docs.pages import ROOT


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_contexts_of_all_kinds_end_with_a_gap_or_a_refusal(first: int) -> None:
    ends = {skewed.run(seed) for seed in range(first, first + 20)}
    assert ends <= {"proved", "open", "no gap", "refused", "no context"}


def test_prices_that_no_box_admits_do_not_crash_the_solver() -> None:
    """The box of the prices grew without end, until HiGHS wrote out of bounds."""
    joint = Joint.from_counts(
        {
            "s0": {"a": 1, "b": 10**12, "c": 14285714, "d": 54},
            "s1": {"a": 3, "b": 3, "c": 7, "d": 9},
        }
    )
    for epsilon in ("0.5", "1", "2", "4"):
        for how in ("auto", "generation"):
            made = design(joint, LIP(epsilon), utility="histogram", how=how)
            assert made.certificate.holds
            assert made.origin is not None
            assert made.origin.gap is not None
            assert 0 <= made.origin.gap <= 1


def test_a_crash_is_noticed() -> None:
    crash = "s.run = lambda _: os.abort(); s.main(['--batch', '0', '1'])"
    code = f"import os, tests.contracts.skewed as s; {crash}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, cwd=ROOT)
    assert done.returncode != 0
