"""Pictures: every size and kind can be drawn, says what it shows, and is written whole."""

from __future__ import annotations

import functools
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from liftlock import Alphabet, Ball, Channel, Context, Family, Intervals, Joint, Prior, Step
from liftlock.errors import FileError, InputError
from liftlock.notions import Audit, audit
from liftlock.report.plots import delta_curve as curve
from liftlock.report.plots import figure as pictures
from liftlock.report.plots import lifts as heatmap
from liftlock.report.plots.delta_curve import check_curve, draw_curve
from liftlock.report.plots.figure import check_picture
from liftlock.report.plots.lifts import check_drawable, draw_lifts

PRIOR = Prior.from_counts({"a": 7, "b": 2, "c": 1})
STARTS = {".png": b"\x89PNG\r\n", ".svg": b"<?xml", ".pdf": b"%PDF-"}


@pytest.fixture(autouse=True)
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw few dots, for speed."""
    monkeypatch.setattr(pictures, "DOTS_PER_INCH", 40)


def audited(rows: dict[Any, dict[Any, Any]], context: Context = PRIOR) -> Audit:
    return audit(Channel.from_rows(rows), context)


def plain() -> Audit:
    return audited(
        {
            "a": {"u": "0.7", "v": "0.2", "w": "0.1"},
            "b": {"u": "0.3", "v": "0.5", "w": "0.2"},
            "c": {"u": "0.1", "v": "0.2", "w": "0.7"},
        }
    )


@functools.cache
def square(size: int, *names: str) -> Audit:
    """Return a large audit that is quick to make."""
    labels = Alphabet.of(names or [f"symbol {i}" for i in range(size)])
    rows = np.eye(size, dtype=int) * 3 + 1
    channel = Channel(labels, labels, rows, (size + 3,) * size)
    return audit(channel, Prior.uniform(labels.labels))


def texts(path: Path) -> str:
    """Return what an SVG says (matplotlib keeps every text as a comment)."""
    content = path.read_text()
    ElementTree.fromstring(content)
    return content


@pytest.mark.parametrize("kind", pictures.KINDS)
@pytest.mark.parametrize("draw", [draw_lifts, draw_curve])
def test_every_kind_of_file_is_the_same_each_time(tmp_path: Path, kind: str, draw: Any) -> None:
    first, second = tmp_path / f"one{kind}", tmp_path / f"two{kind.upper()}"
    draw(plain(), first)
    draw(plain(), second)
    assert first.read_bytes().startswith(STARTS[kind])
    assert first.read_bytes() == second.read_bytes()
    assert sorted(tmp_path.iterdir()) == sorted([first, second])


SIZES: dict[str, Any] = {
    "plain": plain,
    "one cell": lambda: audited({"a": {"u": 1}}, Prior.uniform("a")),
    "two by two": lambda: square(2),
    "sixty by sixty": lambda: square(60),
    "many outputs": lambda: audit(
        Channel.from_rows({x: {f"y{i}": "1/70" for i in range(70)} for x in "abc"}), PRIOR
    ),
    "all lifts 1": lambda: audited({x: {"u": "1/2", "v": "1/2"} for x in "abc"}),
    "everything revealed": lambda: audit(Channel.identity("abc"), PRIOR),
    "joint": lambda: audit(
        Channel.identity("xy"), Joint.from_counts({"s": {"x": 1, "y": 0}, "t": {"x": 2, "y": 3}})
    ),
    "long labels": lambda: square(5, *(f"{'a long label ' * 9}{i}" for i in range(5))),
    "strange labels": lambda: square(
        5, "$x$^2 and $", "漢字", "two\nlines", r"\frac{1}{2}", "👩\u200d💻"
    ),
    "impossible input": lambda: audit(
        Channel.identity("abc"), Prior.from_counts({"a": 1, "b": 1, "c": 0}), impossible="ignore"
    ),
}


class PosteriorDraws(NamedTuple):
    """What the two pictures of an audit say."""

    lifts: str
    curve: str


Gallery = Callable[[str], PosteriorDraws]


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Gallery:
    """Return the pictures of a size by its name, each drawn once."""
    folder = tmp_path_factory.mktemp("gallery")

    @functools.cache
    def drawn(name: str) -> PosteriorDraws:
        result = SIZES[name]()
        draw_lifts(result, folder / "lifts.svg")
        draw_curve(result, folder / "curve.svg")
        return PosteriorDraws(texts(folder / "lifts.svg"), texts(folder / "curve.svg"))

    return drawn


@pytest.mark.parametrize("name", SIZES)
def test_every_size_can_be_drawn(gallery: Gallery, name: str) -> None:
    assert "output" in gallery(name).lifts
    assert "epsilon (nats)" in gallery(name).curve


def test_a_heat_map_says_what_it_shows(gallery: Gallery) -> None:
    content = gallery("plain").lifts
    for text in ("Lift of each secret at each output", "framed", "secret", "output", "log-lift"):
        assert text in content
    assert "LIP 1.723 nats" in content


def test_dark_cells_are_explained(gallery: Gallery) -> None:
    content = gallery("everything revealed").lifts
    assert "LIP infinite" in content
    assert "dark: ruled out (lift 0)" in content


def test_many_symbols_are_named_in_steps(tmp_path: Path) -> None:
    draw_lifts(square(130), tmp_path / "lifts.svg")
    content = texts(tmp_path / "lifts.svg")
    assert "output (1 in 5 is named)" in content
    assert "symbol 125" in content
    assert "symbol 126" not in content


def test_a_page_is_not_exceeded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[float, float]] = []
    true = pictures.picture

    def spied(path: Path, width: float, height: float) -> Any:
        seen.append((width, height))
        return true(path, width, height)

    monkeypatch.setattr(heatmap, "picture", spied)
    for size in (2, 130):
        draw_lifts(square(size), tmp_path / "lifts.png")
    assert all(width <= pictures.WIDEST and height <= pictures.HIGHEST for width, height in seen)


def test_the_curves_are_the_three_forms(gallery: Gallery, tmp_path: Path) -> None:
    content = gallery("plain").curve
    for text in ("def5", "ediv", "joint", "smallest delta", "LIP 1.723: delta 0"):
        assert text in content
    family = Family.of([PRIOR, Prior.uniform("abc")])
    result = audit(plain().channel, family)
    draw_curve(result, tmp_path / "family.svg")
    assert "joint (003 Def 4)" not in texts(tmp_path / "family.svg")


def test_a_curve_without_leakage_says_so(gallery: Gallery) -> None:
    assert "delta is 0 at every epsilon" in gallery("all lifts 1").curve


def test_progress_is_told(tmp_path: Path) -> None:
    steps: list[Step] = []
    draw_curve(plain(), tmp_path / "curve.png", steps.append)
    assert steps == [Step(f"curve of delta_{form}") for form in ("def5", "ediv", "joint")]


@pytest.mark.parametrize(
    "context", [Ball.of(PRIOR, "0.1"), Intervals.all_priors("abc"), Family.of([PRIOR])]
)
def test_contexts_without_one_table(tmp_path: Path, context: Any) -> None:
    with pytest.raises(InputError, match="a heat map needs one prior"):
        check_drawable(context)
    with pytest.raises(InputError, match="a heat map needs one prior"):
        draw_lifts(audit(plain().channel, context), tmp_path / "lifts.png")
    if not isinstance(context, Family):
        with pytest.raises(InputError, match="a curve of delta needs"):
            check_curve(context)
        with pytest.raises(InputError, match="a curve of delta needs"):
            draw_curve(audit(plain().channel, context), tmp_path / "curve.png")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["lifts", "lifts.gif", "lifts.png.txt", "nowhere/lifts.png"])
def test_pictures_that_cannot_be_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileError):
        check_picture(tmp_path / name)


def test_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(InputError, match="pip install 'liftlock"):
        check_picture(tmp_path / "lifts.png")


def test_an_interrupted_drawing_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(heatmap, "_frames", interrupt)
    with pytest.raises(KeyboardInterrupt):
        draw_lifts(plain(), tmp_path / "lifts.png")
    assert list(tmp_path.iterdir()) == []


def test_the_last_change_of_delta() -> None:
    assert curve._last_change(plain()) == pytest.approx(1.7228, abs=1e-3)
    assert curve._last_change(audit(Channel.identity("abc"), PRIOR)) == pytest.approx(
        1.05 * np.log(10)
    )


def test_numbers_in_a_row_are_thinned_out_and_names_are_not(tmp_path: Path) -> None:
    for labels, said in ((range(64), True), ([f"town {k}" for k in range(64)], False)):
        draw_lifts(audit(Channel.identity(labels), Prior.uniform(labels)), tmp_path / "m.svg")
        content = (tmp_path / "m.svg").read_text(encoding="utf-8")
        assert ("output (1 in 2 is named)" in content) == said
