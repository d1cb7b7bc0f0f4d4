"""The results that are kept: of a full run, by the code that is here, and what the pages show."""

from __future__ import annotations

from pathlib import Path

import pytest

from liftlock_papers import FIGURES, Figure, Result, Verdict
from liftlock_papers.exhibits import rooms
from liftlock_papers.gallery import gallery
from liftlock_papers.running import code_of, read_result

KEPT = Path(__file__).parents[2] / "papers"
EVERY = [pytest.param(figure, id=key) for key, figure in FIGURES.items()]
LONGEST = 60 * 60
"""Seconds that a full run may take on two cores."""


def kept(figure: Figure) -> Result:
    result = read_result(figure, KEPT / "figures")
    assert result is not None, f"run: liftlock papers run {figure.key}"
    return result


@pytest.mark.parametrize("figure", EVERY)
def test_it_is_from_a_full_run_of_this_code(figure: Figure) -> None:
    result = kept(figure)
    assert not result.quick
    assert result.record["code"] == code_of(figure), f"run again: liftlock papers run {figure.key}"
    assert bool(result.record["data"]) == bool(figure.needs)


@pytest.mark.parametrize("figure", EVERY)
def test_a_claim_that_does_not_simply_hold_has_a_reason(figure: Figure) -> None:
    for found in kept(figure).findings:
        assert found.verdict is Verdict.CONFIRMED or found.why, found.claim


@pytest.mark.parametrize("figure", EVERY)
def test_numbers_in_the_text_of_the_paper_come_out(figure: Figure) -> None:
    for number in figure.stated:
        ours = kept(figure).points.at(number.panel, number.curve, number.x)
        assert abs(ours - number.number) <= number.tolerance, number


def test_the_full_run_fits_in_an_hour() -> None:
    assert sum(kept(figure).seconds for figure in FIGURES.values()) < LONGEST


def test_the_gallery_shows_what_is_kept() -> None:
    page = (KEPT / "index.html").read_text(encoding="utf-8")
    assert page == gallery(rooms(KEPT / "figures")), "run: liftlock papers run all"
