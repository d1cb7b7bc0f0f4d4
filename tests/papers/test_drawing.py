"""How figures are drawn: legends beside the curves, rings where budgets break, both themes."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from liftlock_papers import Curve, Figure, Panel, Point, Points, Result
from liftlock_papers.drawing import DARK, LIGHT, draw, follow_the_page, sheet_of, styled

CURVES = (
    Curve("as published", "orange", marker="o"),
    Curve("optimum", "blue", width=2.2),
    Curve("LDP", "grey", "dashed"),
)
PANELS = tuple(Panel(key, "ε (nats)", "error", title=f"({key})") for key in "abc")
FIGURE = Figure(
    "000-fig0", "Fig. 0", "A title that is long enough to need more than one line, were it alone",
    "says", lambda _: [], lambda _: [], PANELS, CURVES,
)  # fmt: skip


def points() -> Points:
    rows = []
    for panel, (place, curve) in itertools.product("abc", enumerate(CURVES)):
        for step in range(1, 9):
            breaks = curve.colour == "orange" and step > 5
            leakage = 1.5 * step if breaks else 0.5 * step
            rows.append(Point(panel, curve.name, step, 1 / (step + place), None, leakage, step))
    return Points(tuple(rows))


def result(found: Points, figure: Figure = FIGURE) -> Result:
    return Result(figure, found, {"quick": False, "seconds": 0.0}, kept=False)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_legend_and_the_title_stand_beside_the_axes(number: int) -> None:
    with styled():
        sheet = sheet_of(result(points(), replace(FIGURE, panels=PANELS[:number])))
        sheet.canvas.draw()
        boxes = [axes.get_tightbbox() for axes in sheet.axes]
        legend = sheet.legends[0].get_window_extent()
        title = sheet.texts[0].get_window_extent()
        whole = sheet.bbox
    assert len(boxes) == number
    for box in boxes:
        assert box is not None
        assert not box.overlaps(legend)
        assert not box.overlaps(title)
    for one, other in itertools.combinations([box for box in boxes if box is not None], 2):
        assert not one.overlaps(other)
    for box in (legend, title):
        assert whole.x0 <= box.x0
        assert box.x1 <= whole.x1
        assert whole.y0 <= box.y0
        assert box.y1 <= whole.y1


def test_every_broken_budget_has_a_ring_and_some_a_number() -> None:
    with styled():
        sheet = sheet_of(result(points()))
        axes = sheet.axes[0]
        rings = [line for line in axes.lines if line.get_markeredgecolor() == LIGHT["red"]]
        assert np.concatenate([line.get_xdata() for line in rings]).tolist() == [6, 7, 8]
        assert {text.get_text() for text in axes.texts} == {"9.00", "10.50", "12.00"}
        names = [text.get_text() for text in sheet.legends[0].get_texts()]
    assert names == ["as published", "optimum", "LDP", "breaks its budget (true leakage, nats)"]


def test_without_a_broken_budget_nothing_speaks_of_one() -> None:
    kept = Points(tuple(row._replace(leakage=0.1) for row in points()))
    with styled():
        sheet = sheet_of(result(kept))
        assert len(sheet.legends[0].get_texts()) == 3
        assert not any(axes.texts for axes in sheet.axes)


def test_equal_points_give_equal_files_and_are_drawn_once(tmp_path: Path) -> None:
    figure = replace(FIGURE, panels=PANELS[:1])
    for name in ("one", "two"):
        draw(result(points(), figure), tmp_path / name)
    for kind in ("svg", "png"):
        one, two = (tmp_path / name / f"000-fig0.{kind}" for name in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()
    before = (tmp_path / "one/000-fig0.svg").stat().st_mtime_ns
    draw(result(points(), figure), tmp_path / "one")
    assert (tmp_path / "one/000-fig0.svg").stat().st_mtime_ns == before
    draw(result(Points(points().rows[1:])), tmp_path / "one")
    text = (tmp_path / "one/000-fig0.svg").read_text(encoding="utf-8")
    assert text != (tmp_path / "two/000-fig0.svg").read_text(encoding="utf-8")
    # What knows no other colours takes the light ones.
    ElementTree.fromstring(text)
    assert f"stroke: {LIGHT['blue']}; stroke: var(--blue)" in text
    assert "@media screen and (prefers-color-scheme:dark)" in text
    assert "http://" not in text.replace("http://www.w3.org", "")


def test_other_colours_stay_as_they_are() -> None:
    assert follow_the_page('<svg><path style="fill: #123456"/></svg>').count("var(") == 0


def luminance(colour: str) -> float:
    """Return the relative luminance of WCAG 2.1."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_every_colour_can_be_read_on_its_page(theme: dict[str, str]) -> None:
    page = luminance(theme["page"])
    for name in set(theme) - {"page", "rule"}:
        other = luminance(theme[name])
        contrast = (max(page, other) + 0.05) / (min(page, other) + 0.05)
        assert contrast >= 4.5, name
    assert len(set(theme.values())) == len(theme)
