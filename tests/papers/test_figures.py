"""Every figure, in a quick run through the command: complete, drawn, judged."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path
from xml.etree import ElementTree

import pytest

from liftlock.cli import main
from liftlock_papers import FIGURES, PAPERS, Figure, Points, Result, Setting, run
from liftlock_papers.catalogue import find_figures
from liftlock_papers.data import DataFolder
from liftlock_papers.drawing import LIGHT, draw
from liftlock_papers.running import read_result
from tests.papers.conftest import skip_without_data

KEPT = Path(__file__).parents[2] / "papers" / "figures"
LISTED = {
    "000": ("fig2", "fig4", "fig5", "fig6", "fig7", "fig8", "fig9", "fig10", "fig11", "fig12"),
    "001": ("fig2", "fig5", "fig6", "fig7", "fig8", "fig9a", "fig9b"),
    "002": tuple(f"fig{number}" for number in range(1, 14)),
    "003": ("fig3",),
    "004": ("fig2", "fig3", "table1"),
}
"""Every figure and table that shows numbers."""
PANELS = {
    "000-fig2": 2, "000-fig4": 2, "000-fig5": 3, "000-fig6": 3, "000-fig7": 2, "000-fig11": 4,
    "000-fig12": 4, "001-fig6": 2, "001-fig8": 3, "002-fig8": 4, "004-fig2": 3, "004-fig3": 4,
    **{f"002-fig{number}": 3 for number in (2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13)},
}  # fmt: skip
"""How many panels the papers' figures have, where it is more than one."""
EVERY = [pytest.param(figure, id=key) for key, figure in FIGURES.items()]


def test_every_figure_of_the_papers_is_there() -> None:
    found = {paper.key: tuple(f.key[4:] for f in paper.figures) for paper in PAPERS}
    assert {key: set(names) for key, names in found.items()} == {
        key: set(names) for key, names in LISTED.items()
    }
    assert [figure.key for figure in find_figures(["all"])] == list(FIGURES)
    for key, number in PANELS.items():
        assert len(FIGURES[key].panels) >= number, key


def test_all_is_run_by_one_command(quick_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["papers", "run", "all", "--quick", "--json", "--out", str(quick_folder)]) == 0
    said = capsys.readouterr()
    done = [entry["figure"] for entry in json.loads(said.out)]
    left_out = [key for key, figure in FIGURES.items() if f"{key} was left out" in said.err]
    assert sorted([*done, *left_out]) == sorted(FIGURES)
    for key in left_out:
        assert not all(DataFolder().has(name) for name in FIGURES[key].needs)
    page = (quick_folder / "index.html").read_text(encoding="utf-8")
    for key in done:
        assert f'id="{key}"' in page
        assert (quick_folder / "figures" / f"{key}.svg").exists()


@pytest.fixture(params=EVERY)
def result(request: pytest.FixtureRequest, quick_folder: Path) -> Result:
    figure: Figure = request.param
    skip_without_data(figure)
    found = run(figure, quick_folder / "figures", Setting(quick=True))
    draw(found, quick_folder / "figures")
    return found


def test_a_figure(result: Result, quick_folder: Path) -> None:
    figure, points = result.figure, result.points
    check_points(figure, points)
    check_company(figure, points)
    check_words(figure)
    for number in figure.stated:
        ours = points.at(number.panel, number.curve, number.x)
        assert abs(ours - number.number) <= number.tolerance, number
    check_verdicts(result)
    check_pictures(figure, quick_folder / "figures")


def check_verdicts(result: Result) -> None:
    """The claims, in order, and what is found of them, are those of the full run."""
    full = read_result(result.figure, KEPT)
    assert full is not None
    assert result.findings
    assert [each.claim for each in result.findings] == [each.claim for each in full.findings]
    for quick, kept in zip(result.findings, full.findings, strict=True):
        assert quick.verdict is kept.verdict or quick.timed, quick.claim


def check_points(figure: Figure, points: Points) -> None:
    """All points are on declared curves in declared panels; no curve and no panel is empty."""
    declared = {curve.name for curve in figure.curves}
    assert {row.curve for row in points} == declared
    assert {row.panel for row in points} == {panel.key for panel in figure.panels}
    for row in points:
        assert math.isfinite(row.x)
        assert not math.isnan(row.y), row
        if row.budget is not None:
            assert row.leakage is not None, row
            assert row.leakage >= -1e-12
    for panel in figure.panels:
        for curve in points.curves(panel.key):
            assert any(math.isfinite(y) for y in points.y(panel.key, curve)), (panel.key, curve)


def check_company(figure: Figure, points: Points) -> None:
    """What breaks its budget has the certified optimum and LDP beside it, which keep theirs."""
    colours = {curve.name: curve.colour for curve in figure.curves}
    for row in points.broken():
        assert colours[row.curve] not in ("blue", "grey"), row
        beside = {colours[name] for name in points.curves(row.panel)}
        assert {"blue", "grey"} <= beside, row


def check_words(figure: Figure) -> None:
    """Everything says what it is."""
    assert figure.says
    assert figure.title
    assert figure.key.startswith(tuple(LISTED))
    for panel in figure.panels:
        assert panel.x, panel
        assert panel.y, panel
        if "ε" in panel.x or "ε" in panel.y:
            assert "nats" in panel.x + panel.y, panel


def check_pictures(figure: Figure, folder: Path) -> None:
    """The SVG is a document with text that follows the page; the PNG has a size."""
    text = (folder / f"{figure.key}.svg").read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    words = " ".join("".join(node.itertext()) for node in root.iter() if node.tag.endswith("text"))
    for panel in figure.panels:
        for label in (panel.x, panel.y, panel.title):
            assert all(part in words for part in label.replace("$", "").split()[:1]), label
    for curve in figure.curves:
        assert f"var(--{curve.colour})" in text
    assert "prefers-color-scheme:dark" in text
    assert LIGHT["page"] in text
    head = (folder / f"{figure.key}.png").read_bytes()[:24]
    assert head[1:4] == b"PNG"
    width, height = struct.unpack(">II", head[16:24])
    assert width > 400
    assert height > 250
