"""The report in a real browser: nothing sticks out or is cut off, nothing is loaded, dark is dark.

One run of the browser shows every page in frames of several widths, and a script in the page around
them measures what people would see. What the browser prints to its log shows errors of the pages.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from liftlock.report.html import html_report
from tests.unit.report.html import examples

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
WIDTHS = (360, 1280)
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--enable-logging=stderr",
    # Whatever is asked for by name is not found.
    "--host-resolver-rules=MAP * ~NOTFOUND",
)

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on this machine")

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


@dataclass(frozen=True)
class Seen:
    """What was measured in each frame, and what the browser logged."""

    frames: dict[str, Any]
    log: str


@cache
def pages() -> dict[str, str]:
    tables = (examples.everyday, examples.odd, examples.numbers, examples.many)
    return {table.__name__: html_report(table()) for table in tables}


def looked_at(folder: Path, shown: Mapping[str, str], *options: str) -> Seen:
    """Show pages at all widths, and measure them."""
    frames = []
    for name, page in shown.items():
        for width in WIDTHS:
            source = html.escape(page, quote=True)
            frames.append(
                f'<iframe id="{name}-{width}" width="{width}" height="600" srcdoc="{source}">'
                "</iframe>"
            )
    around = folder / "around.html"
    around.write_text(
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"></head><body>'
        f'<pre id="found"></pre>{"".join(frames)}<script>{MEASURE}</script></body></html>',
        encoding="utf-8",
    )
    assert CHROMIUM is not None
    ended = subprocess.run(
        [
            CHROMIUM,
            *OPTIONS,
            *options,
            f"--user-data-dir={folder / 'profile'}",
            "--dump-dom",
            around.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    found = re.search('<pre id="found">(.*?)</pre>', ended.stdout, re.DOTALL)
    assert found is not None
    return Seen(json.loads(html.unescape(found[1])), ended.stderr)


@pytest.fixture(scope="module")
def light(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    return looked_at(tmp_path_factory.mktemp("light"), pages() | {"bad": STICKING_OUT})


def frames_of(seen: Seen) -> dict[str, Any]:
    return {name: frame for name, frame in seen.frames.items() if not name.startswith("bad")}


def test_the_measure_finds_what_is_bad(light: Seen) -> None:
    frame = light.frames["bad-360"]
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
    dark = looked_at(tmp_path, page, "--blink-settings=preferredColorScheme=0")
    assert len(dark.frames) == 2
    for name, frame in frames_of(dark).items():
        assert brightness(frame["background"]) < 0.15, name
        assert brightness(frame["ink"]) > 0.85, name
        assert brightness(light.frames[name]["background"]) > 0.95, name
        assert brightness(light.frames[name]["ink"]) < 0.2, name


def brightness(colour: str) -> float:
    """Return how bright a colour of a style is, from 0 to 1."""
    parts = [float(part) for part in re.findall(r"[\d.]+", colour)[:3]]
    return sum(parts) / 3 / 255
