"""The report in a real browser: nothing sticks out or is cut off, nothing is loaded, dark is dark.

One run of the browser shows every page in frames of several widths, and a script in the page around
them measures what people would see. What the browser prints to its log shows errors of the pages.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from liftlock.report.html import html_report
from tests.browser.chromium import DARK, Seen, brightness, looked_at, needs_chromium
from tests.unit.report.html import examples

WIDTHS = (360, 1280)
pytestmark = needs_chromium

MEASURE = """
const near = 1.5;
function measured(frame) {
  const page = frame.contentDocument, root = page.documentElement;
  const scrolls = node => node.closest('.scroll, thead') !== null;
  const outside = [...page.querySelectorAll('body *')].filter(node => !scrolls(node) &&
    node.getBoundingClientRect().right > root.clientWidth + near);
  const cut = [], crowded = [];
  for (const text of page.querySelectorAll('svg[viewBox] text')) {
    const box = text.getBoundingClientRect();
    const all = text.closest('svg').getBoundingClientRect();
    if (box.left < all.left - near || box.right > all.right + near ||
        box.top < all.top - near || box.bottom > all.bottom + near) cut.push(text.textContent);
  }
  for (const text of page.querySelectorAll('.cell text')) {
    const box = text.getBoundingClientRect();
    const room = text.parentNode.querySelector('rect').getBoundingClientRect();
    if (box.left < room.left - near || box.right > room.right + near)
      crowded.push(text.textContent);
  }
  const style = frame.contentWindow.getComputedStyle(page.body);
  return {
    width: frame.width, scroll: root.scrollWidth, client: root.clientWidth,
    outside: outside.map(node => node.outerHTML.slice(0, 120)), cut: cut, crowded: crowded,
    background: style.backgroundColor, ink: style.color,
    loaded: frame.contentWindow.performance.getEntriesByType('resource').map(entry => entry.name),
    height: root.scrollHeight,
  };
}
addEventListener('load', () => {
  const found = {};
  for (const frame of document.querySelectorAll('iframe')) found[frame.id] = measured(frame);
  document.getElementById('found').textContent = JSON.stringify(found);
});
"""

STICKING_OUT = (
    "<!DOCTYPE html><html lang=en><body><div style='width:900px'>wide</div>"
    "<img src='http://nowhere.invalid/missing.png' alt=''>"
    "<svg viewBox='0 0 50 20' width=50 height=20><text x=30 y=15>cut off here</text></svg>"
)


@cache
def pages() -> dict[str, str]:
    tables = (examples.everyday, examples.odd, examples.numbers, examples.many)
    return {table.__name__: html_report(table()) for table in tables}


def shown_in_frames(folder: Path, shown: Mapping[str, str], *options: str) -> Seen:
    """Show pages at all widths, and measure them."""
    frames = []
    for name, page in shown.items():
        for width in WIDTHS:
            source = html.escape(page, quote=True)
            frames.append(
                f'<iframe id="{name}-{width}" width="{width}" height="600" srcdoc="{source}">'
                "</iframe>"
            )
    return looked_at(folder, "".join(frames), MEASURE, *options)


@pytest.fixture(scope="module")
def light(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    return shown_in_frames(tmp_path_factory.mktemp("light"), pages() | {"bad": STICKING_OUT})


def frames_of(seen: Seen) -> dict[str, Any]:
    return {name: frame for name, frame in seen.found.items() if not name.startswith("bad")}


def test_the_measure_finds_what_is_bad(light: Seen) -> None:
    frame = light.found["bad-360"]
    assert frame["scroll"] > frame["client"]
    assert frame["outside"]
    assert frame["cut"] == ["cut off here"]
    assert any("missing.png" in name for name in frame["loaded"])


def test_no_page_scrolls_sideways(light: Seen) -> None:
    found = frames_of(light)
    assert len(found) == 8
    for name, frame in found.items():
        assert frame["height"] > 2000, name
        assert frame["scroll"] <= frame["client"], name
        assert frame["outside"] == [], name


def test_no_text_is_cut_off_or_crowded(light: Seen) -> None:
    for name, frame in frames_of(light).items():
        assert frame["cut"] == [], name
        assert frame["crowded"] == [], name


def test_nothing_is_loaded_and_nothing_complains(light: Seen) -> None:
    for name, frame in frames_of(light).items():
        assert frame["loaded"] == [], name
    said = [line for line in light.log.splitlines() if "CONSOLE" in line]
    assert [line for line in said if "missing.png" not in line] == []


def test_dark_is_dark(light: Seen, tmp_path: Path) -> None:
    page = {"everyday": pages()["everyday"]}
    dark = shown_in_frames(tmp_path, page, DARK)
    assert len(dark.found) == 2
    for name, frame in frames_of(dark).items():
        assert brightness(frame["background"]) < 0.15, name
        assert brightness(frame["ink"]) > 0.85, name
        assert brightness(light.found[name]["background"]) > 0.95, name
        assert brightness(light.found[name]["ink"]) < 0.2, name
