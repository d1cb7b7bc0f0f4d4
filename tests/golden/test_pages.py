"""Reports say what they said: a change of a template changes no word that was not meant."""

from __future__ import annotations

import pytest

from liftlock.report.html import html_report
from tests.golden.pages import FOLDER, PAGES, lines_of, style_of


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_as_it_was(name: str) -> None:
    assert lines_of(html_report(PAGES[name]())).splitlines() == (
        (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    )


def test_the_style_sheet_is_as_it_was() -> None:
    sheet = style_of(html_report(PAGES["odd"]()))
    assert sheet == (FOLDER / "style.txt").read_text(encoding="utf-8")


def test_every_page_that_was_recorded_is_still_made() -> None:
    assert sorted(path.stem for path in FOLDER.iterdir()) == sorted([*PAGES, "style"])
