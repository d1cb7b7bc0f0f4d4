"""The picture of a graph: every edge has its loss, rounded up, and nothing lies over another."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock import Channel, ProfileGraph
from liftlock.designs import design
from liftlock.errors import FileError, InputError
from liftlock.exact.enclosure import Enclosure
from liftlock.model.profile_examples import example
from liftlock.notions import ProfileAudit, audit
from liftlock.report.format import loss_text, over_budget
from liftlock.report.plots import figure as pictures
from liftlock.report.plots import graph as graph_module
from liftlock.report.plots.figure import HIGHEST, WIDEST
from liftlock.report.plots.graph import OVER, draw_graph
from tests.golden.machines import kinds
from tests.profile_oracles import edges_of
from tests.unit.report.figures import kept_figures

STARTS = {".png": b"\x89PNG\r\n", ".svg": b"<?xml", ".pdf": b"%PDF-"}


@pytest.fixture(autouse=True)
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw few dots, for speed."""
    monkeypatch.setattr(pictures, "DOTS_PER_INCH", 40)


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    return kept_figures(monkeypatch, graph_module)


def rows(size: int, values: int, seed: int = 0) -> dict[str, dict[str, int]]:
    counts = np.random.default_rng(seed).integers(1, 40, (size, values))
    return {f"u{i}": {f"v{k}": int(c) for k, c in enumerate(row)} for i, row in enumerate(counts)}


def entangled(size: int, edges: int, values: int = 4, seed: int = 3) -> ProfileGraph:
    draw = np.random.default_rng(seed)
    pairs = {(int(draw.integers(0, k)), k) for k in range(1, size)}
    while len(pairs) < edges:
        first, second = sorted(int(k) for k in draw.integers(0, size, 2))
        if first != second:
            pairs.add((first, second))
    return ProfileGraph.of(rows(size, values), [(f"u{a}", f"u{b}") for a, b in sorted(pairs)])


def plainly(graph: ProfileGraph) -> ProfileAudit:
    return audit(Channel.identity(graph.inputs.labels), graph)


def star(leaves: int) -> ProfileGraph:
    return ProfileGraph.of(rows(leaves + 1, 4), [("u0", f"u{k + 1}") for k in range(leaves)])


def scattered() -> ProfileGraph:
    profiles = rows(12, 3)
    names = list(profiles)
    return ProfileGraph.of(
        profiles,
        [(names[a], names[b]) for a, b in ((0, 1), (1, 2), (3, 4), (5, 6), (6, 7), (5, 7))],
    )


ORDINARY: dict[str, Any] = {
    "couplet": lambda: example("couplet"),
    "chain-6": lambda: example("chain-6"),
    "chain-21": lambda: example("chain-21"),
    "categorical-chain": lambda: example("categorical-chain"),
    "workstation": lambda: example("workstation"),
    "star": lambda: star(10),
    "complete": lambda: ProfileGraph.complete(rows(8, 5)),
    "scattered": scattered,
    "entangled 12": lambda: entangled(12, 20, 16),
    "entangled 30": lambda: entangled(30, 60),
    "many values": lambda: ProfileGraph.complete(rows(4, 64)),
    "no edges": lambda: ProfileGraph.of(rows(4, 3), []),
    "one profile": lambda: ProfileGraph.of(rows(1, 3), []),
    "many alone": lambda: ProfileGraph.of(rows(40, 3), [("u0", "u1")]),
}


def boxes_of(figure: Any) -> dict[str, Any]:
    """Return where each text of the drawing is, in dots."""
    renderer = figure.canvas.get_renderer()
    axes = figure.axes[0]
    return {
        f"{place}: {text.get_text()}": text.get_window_extent(renderer)
        for place, text in enumerate(axes.texts)
        if text.get_text()
    }


@pytest.mark.parametrize("make", ORDINARY.values(), ids=ORDINARY)
def test_everything_is_named_and_nothing_overlaps_or_leaves_the_sheet(
    tmp_path: Path, figures: list[Any], make: Any
) -> None:
    audit = plainly(make())
    draw_graph(audit, tmp_path / "graph.png", budget=1.0)
    (figure,) = figures
    width, height = figure.get_size_inches()
    assert width <= WIDEST + 1e-9
    assert height <= HIGHEST + 1e-9
    boxes = boxes_of(figure)
    for name, box in boxes.items():
        assert box.x0 >= -1, name
        assert box.y0 >= -1, name
        assert box.x1 <= figure.bbox.width + 1, name
        assert box.y1 <= figure.bbox.height + 1, name
    for (one, a), (other, b) in itertools.combinations(boxes.items(), 2):
        wide = min(a.x1, b.x1) - max(a.x0, b.x0)
        high = min(a.y1, b.y1) - max(a.y0, b.y0)
        assert min(wide, high) <= 1.5, (one, other)
    written = [text.get_text() for text in figure.axes[0].texts]
    names = [str(name) for name in audit.graph.profiles.labels]
    losses = [loss_text(edge.nats, 1.0) for edge in audit.edges]
    for text in (*names, *losses):
        assert written.count(text) == (*names, *losses).count(text), text
    assert ("no edge, no promise:" in written) == bool(audit.graph.isolated)


@pytest.mark.parametrize("kind", pictures.KINDS)
def test_every_kind_of_file_is_the_same_each_time(tmp_path: Path, kind: str) -> None:
    audit = plainly(entangled(10, 14))
    first, second = tmp_path / f"one{kind}", tmp_path / f"two{kind.upper()}"
    draw_graph(audit, first)
    draw_graph(audit, second)
    assert first.read_bytes().startswith(STARTS[kind])
    assert first.read_bytes() == second.read_bytes()
    assert sorted(tmp_path.iterdir()) == sorted([first, second])


@given(st.fractions(0, 5), st.integers(1, 9))
def test_what_is_printed_is_not_too_small(loss: Fraction, digits: int) -> None:
    text = loss_text(Enclosure.of(loss), digits=digits)
    assert loss <= Fraction(text) <= loss + max(Fraction(1, 10**digits), loss / 10)


@given(st.fractions(0, 3), st.fractions(Fraction(1, 100), 3))
def test_a_loss_within_the_budget_does_not_look_above_it(loss: Fraction, budget: Fraction) -> None:
    shown = Fraction(loss_text(Enclosure.of(loss), float(budget)))
    if loss <= Fraction(float(budget)) - Fraction(1, 10**8):
        assert shown <= Fraction(float(budget))


def test_losses_in_words() -> None:
    assert loss_text(Enclosure.infinity()) == "∞"
    assert loss_text(Enclosure.of(Fraction(1, 10**7))) == "1e-07"
    assert loss_text(Enclosure.of(Fraction(11, 10**8) + Fraction(1, 10**12))) == "1.2e-07"
    assert loss_text(Enclosure.of(Fraction("0.4999999996")), 0.5) == "0.500"


def test_over_the_budget() -> None:
    half = Enclosure.of(Fraction(1, 2))
    assert not over_budget(half, None)
    assert not over_budget(half, 0.5)
    assert over_budget(half, 0.499)
    assert over_budget(Enclosure.infinity(), None)
    # ln 3 is no float: a budget of ln 3 must not be broken by its own rounding.
    audit = plainly(ProfileGraph.bernoulli(["1/4", "3/4"]))
    assert not over_budget(audit.loss, float(np.log(3)))


def test_a_budget_of_nothing(tmp_path: Path) -> None:
    made = design(example("couplet"), "0", method="cluster")
    draw_graph(edges_of(made), tmp_path / "zero.svg", budget=0.0)
    content = (tmp_path / "zero.svg").read_text()
    assert "largest loss 0 nats; budget 0" in content
    assert "dashed" not in content
    assert "up to the budget" not in content


def test_edges_above_the_budget_are_dashed_and_said(tmp_path: Path) -> None:
    audit = plainly(ProfileGraph.bernoulli(["0", "0.5", "0.6"]))
    draw_graph(audit, tmp_path / "over.svg", budget=1.0)
    content = (tmp_path / "over.svg").read_text()
    ElementTree.fromstring(content)
    assert "dashed, orange: the loss is above the budget" in content
    assert OVER in content
    assert "∞" in content
    assert "0.224" in content  # ln 5/4
    draw_graph(audit, tmp_path / "free.svg")
    assert "dashed, orange: the loss is infinite" in (tmp_path / "free.svg").read_text()
    made = edges_of(design(audit.graph, "1", method="cluster"))
    draw_graph(made, tmp_path / "within.svg", budget=1.0)
    assert "dashed" not in (tmp_path / "within.svg").read_text()


def test_the_picture_says_what_it_shows(tmp_path: Path) -> None:
    made = design(example("workstation"), "0.5", method="cluster")
    draw_graph(edges_of(made), tmp_path / "graph.svg", budget=0.5)
    content = (tmp_path / "graph.svg").read_text()
    for text in (
        "Loss of each edge in nats, exact and rounded up",
        "12 profiles and 12 edges on 5 values",
        "largest loss 0.500 nats",
        "budget 0.5",
        "outlined: the profile; filled: what it releases",
        "values from the left: idle, light, steady, heavy, burst",
        "loss in nats, up to the budget",
    ):
        assert text in content, text


def test_charts_show_truth_and_release(tmp_path: Path, figures: list[Any]) -> None:
    """The heights of the bars are in proportion to the probabilities."""
    graph = example("categorical-chain")
    audit = edges_of(design(graph, "0.2", method="cluster"))
    draw_graph(audit, tmp_path / "graph.png")
    heights = []
    for patches in figures[0].axes[0].collections:
        paths = patches.get_paths()
        if len(paths) == 12:
            heights.append([float(np.ptp(path.vertices[:, 1])) for path in paths])
    assert len(heights) == 2
    for shown, distributions in zip(
        heights, (audit.distributions.floats, graph.distributions), strict=True
    ):
        ratios = np.array(shown) / distributions.ravel()
        assert ratios == pytest.approx(np.full(12, ratios[0]), rel=1e-9)


def test_outputs_that_are_not_values(tmp_path: Path) -> None:
    graph = example("couplet")
    channel = Channel.from_rows({0: {"no": "3/4", "yes": "1/4"}, 1: {"no": "1/4", "yes": "3/4"}})
    draw_graph(audit(channel, graph), tmp_path / "graph.svg")
    content = (tmp_path / "graph.svg").read_text()
    assert "outputs from the left: no, yes" in content
    assert "outlined" not in content


def test_strange_names(tmp_path: Path) -> None:
    names = ["$x$^2 and $", "漢字漢字漢字漢字漢字", "two\nlines", "a" * 90, "a" * 89 + "b"]
    graph = ProfileGraph.chain({name: {0: 1 + k, 1: 2} for k, name in enumerate(names)})
    draw_graph(plainly(graph), tmp_path / "graph.svg")
    content = (tmp_path / "graph.svg").read_text()
    assert "$x$^2 and $" in content
    assert r"two\nlines" in content


def test_many_edges_are_only_coloured(tmp_path: Path, figures: list[Any]) -> None:
    audit = plainly(entangled(40, 90))
    draw_graph(audit, tmp_path / "graph.png")
    written = [text.get_text() for text in figures[0].axes[0].texts]
    assert {f"u{k}" for k in range(40)} <= set(written)
    assert not [text for text in written if re.fullmatch(r"\d\.\d{3}", text)]


def test_thousands_of_profiles_are_drawn(tmp_path: Path) -> None:
    graph = ProfileGraph.bernoulli({str(k): f"{k + 1}/2002" for k in range(2000)})
    for case in (graph, entangled(2000, 4000, 2)):
        audit = plainly(case)
        draw_graph(audit, tmp_path / "graph.png", budget=1.0)


def test_of_many_the_two_with_the_largest_loss_are_named(
    tmp_path: Path, figures: list[Any]
) -> None:
    audit = plainly(entangled(80, 120))
    assert audit.worst is not None
    draw_graph(audit, tmp_path / "graph.png")
    written = {text.get_text() for text in figures[0].axes[0].texts}
    named = written & set(audit.graph.profiles.labels)
    assert named == {audit.worst.more, audit.worst.less}
    assert "each dot is one of 80 profiles; named: the two with the largest loss" in written


@pytest.mark.slow
def test_the_picture_is_the_same_on_every_kind_of_cpu(tmp_path: Path) -> None:
    """Kamada and Kawai's method is solved with OpenBLAS, whose last digits depend on the CPU."""
    script = "from tests.unit.report.plots.test_graph import draw_several; draw_several({!r})"
    drawn = {}
    for name, settings in {"this": {}, **kinds()}.items():
        folder = tmp_path / name
        folder.mkdir()
        command = [sys.executable, "-c", script.format(str(folder))]
        subprocess.run(command, env=os.environ | settings, check=True)
        drawn[name] = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert len(drawn) > 2
    for name, files in drawn.items():
        assert len(files) == 2
        assert files == drawn["this"], name


def draw_several(folder: str) -> None:
    for name in ("entangled 12", "entangled 30"):
        draw_graph(plainly(ORDINARY[name]()), Path(folder, f"{name}.svg"), budget=1.0)


def test_without_networkx_one_line_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(InputError, match=r"^pictures need networkx; pip install"):
        draw_graph(plainly(example("couplet")), tmp_path / "graph.png")
    assert list(tmp_path.iterdir()) == []


def test_too_many_are_refused_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_module, "MOST_PROFILES", 5)
    with pytest.raises(InputError, match=r"^too many profiles for a picture: '6'; draw a part"):
        draw_graph(plainly(example("chain-6")), tmp_path / "graph.png")
    monkeypatch.setattr(graph_module, "MOST_PROFILES", 50)
    monkeypatch.setattr(graph_module, "MOST_EDGES", 4)
    with pytest.raises(InputError, match="too many edges for a picture"):
        draw_graph(plainly(example("chain-6")), tmp_path / "graph.png")
    with pytest.raises(FileError, match="unknown picture format"):
        draw_graph(plainly(example("couplet")), tmp_path / "graph.gif")
    assert list(tmp_path.iterdir()) == []
