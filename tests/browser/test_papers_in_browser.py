"""The papers' pictures and their gallery in a real browser, light and dark."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from liftlock_papers import FIGURES, PAPERS
from tests.browser.chromium import DARK, Seen, brightness, looked_at, needs_chromium

pytestmark = needs_chromium

KEPT = Path(__file__).parents[2] / "papers"

MEASURE = """
const near = 1.5;
function inside(box, all) {
  return box.left >= all.left - near && box.right <= all.right + near &&
         box.top >= all.top - near && box.bottom <= all.bottom + near;
}
function shared(one, two) {
  const wide = Math.min(one.right, two.right) - Math.max(one.left, two.left);
  const high = Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top);
  if (wide <= 0 || high <= 0) return 0;
  return wide * high / Math.min(one.width * one.height, two.width * two.height);
}
function measured(svg) {
  const all = svg.getBoundingClientRect(), texts = [...svg.querySelectorAll('text')];
  const boxes = texts.map(text => text.getBoundingClientRect());
  const cut = texts.filter((text, place) => !inside(boxes[place], all)).map(t => t.textContent);
  const over = [];
  for (let i = 0; i < texts.length; i++) for (let j = 0; j < i; j++)
    if (shared(boxes[i], boxes[j]) > 0.25) over.push(texts[i].textContent + ' / ' +
                                                     texts[j].textContent);
  const page = svg.querySelector('path');
  return {cut: cut, over: over, texts: texts.length,
          page: getComputedStyle(page).fill, ink: getComputedStyle(texts.at(-1)).fill};
}
addEventListener('load', () => {
  const found = {};
  for (const part of document.querySelectorAll('section'))
    found[part.id] = measured(part.querySelector('svg'));
  document.getElementById('found').textContent = JSON.stringify(found);
});
"""


def pictures() -> dict[str, str]:
    """Return the pictures that are kept, each with names of its own."""
    found = {}
    for key in FIGURES:
        text = (KEPT / "figures" / f"{key}.svg").read_text(encoding="utf-8")
        found[key] = re.sub(r'(id="|url\(#|xlink:href="#)', rf"\g<1>k{key}-", text)
    return found


def shown(folder: Path, *options: str) -> Seen:
    body = "".join(f'<section id="{key}">{text}</section>' for key, text in pictures().items())
    return looked_at(folder, body, MEASURE, *options)


@pytest.fixture(scope="module")
def light(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return shown(tmp_path_factory.mktemp("light")).found


def test_no_text_of_a_picture_is_cut_off_or_covers_another(light: dict[str, Any]) -> None:
    assert set(light) == set(FIGURES)
    for key, found in light.items():
        assert found["texts"] > 5, key
        assert found["cut"] == [], key
        assert found["over"] == [], key


def test_pictures_follow_the_page(light: dict[str, Any], tmp_path: Path) -> None:
    dark = shown(tmp_path, DARK).found
    for key in FIGURES:
        assert brightness(light[key]["page"]) > 0.95, key
        assert brightness(light[key]["ink"]) < 0.4, key
        assert brightness(dark[key]["page"]) < 0.2, key
        assert brightness(dark[key]["ink"]) > 0.6, key


GALLERY = """
addEventListener('load', () => {
  const frame = document.querySelector('iframe'), page = frame.contentDocument;
  const images = [...page.querySelectorAll('img')];
  images.forEach(image => image.loading = 'eager');
  const root = page.documentElement;
  document.getElementById('found').textContent = JSON.stringify({
    images: images.length, scroll: root.scrollWidth, client: root.clientWidth,
    articles: page.querySelectorAll('article').length,
  });
});
"""


@pytest.mark.parametrize("width", [360, 1280])
def test_the_gallery_fits_its_page(width: int, tmp_path: Path) -> None:
    import html

    text = html.escape((KEPT / "index.html").read_text(encoding="utf-8"), quote=True)
    frame = f'<iframe width="{width}" height="900" srcdoc="{text}"></iframe>'
    found = looked_at(tmp_path, frame, GALLERY).found
    stated = sum(bool(paper.statements) for paper in PAPERS)
    assert found["articles"] == len(FIGURES) + stated
    assert found["images"] == len(FIGURES)
    assert found["scroll"] <= found["client"]
