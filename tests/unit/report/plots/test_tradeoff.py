"""The picture of a comparison: drawn in every format, and no two names on top of each other."""

from __future__ import annotations

import itertools
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import liftlock as ll
from liftlock.designs import compare
from liftlock.report.plots.figure import spread
from liftlock.report.plots.tradeoff import draw_tradeoff

RARE = ll.Prior.from_probabilities({1: "0.1", 2: "0.2", 3: "0.7"})


@given(st.lists(st.floats(-0.5, 1.5), min_size=1, max_size=12))
def test_names_do_not_touch(wanted: list[float]) -> None:
    heights = spread(wanted, 0.05)
    for left, right in itertools.combinations(range(len(wanted)), 2):
        assert abs(heights[left] - heights[right]) >= 0.05 - 1e-9
        if wanted[left] < wanted[right]:
            assert heights[left] < heights[right]
    assert min(heights) >= -1e-9
    assert max(heights) <= 1 + 1e-9


def test_names_with_room_stay_where_they_are() -> None:
    assert spread([0.1, 0.9, 0.5], 0.05) == pytest.approx([0.1, 0.9, 0.5])


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_pictures(tmp_path: Path, kind: str) -> None:
    found = compare(RARE, ll.LIP, ["safe-response", "response"], ["0.5", "1"])
    path = tmp_path / f"curve.{kind}"
    draw_tradeoff(found, path)
    start = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[kind]
    assert path.read_bytes().startswith(start)


def test_a_curve_without_a_finite_budget_is_left_out_and_said(tmp_path: Path) -> None:
    joint = ll.Joint.from_counts({"s": {"a": 5, "b": 0}, "t": {"a": 5, "b": 5}})
    found = compare(joint, ll.LIP, ["watchdog:published", "k-rr"], ["5"], at="epsilon")
    draw_tradeoff(found, tmp_path / "curve.svg")
    text = (tmp_path / "curve.svg").read_text()
    assert "points that no budget covers are left out" in text
    assert "watchdog" not in text


def test_no_release_has_no_line_where_its_error_is_infinite(tmp_path: Path) -> None:
    found = compare(RARE, ll.LIP, ["optimal", "k-rr"], ["0.5", "2"], "frequencies")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw_tradeoff(found, tmp_path / "curve.svg")
    text = (tmp_path / "curve.svg").read_text()
    assert "no noise" in text
    assert "no release" not in text
