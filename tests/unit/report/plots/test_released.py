"""What profiles release, drawn in every format, with what it shows in words, nothing cut off."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from liftlock import Prior, ProfileGraph
from liftlock.designs import Comparison, compare
from liftlock.errors import FileError, InputError
from liftlock.model.profile_examples import bernoulli_chain, example
from liftlock.report.plots import figure as pictures
from liftlock.report.plots import released
from liftlock.report.plots.released import draw_chains, draw_released, usual_methods
from tests.unit.report.figures import kept_figures

BUDGETS = ["0.05", "0.2", "1"]
BOTH = ["randomised-response", "cluster"]


def sweep(graph: ProfileGraph, epsilons: list[str], methods: list[str] | None = None) -> Comparison:
    return compare(graph, None, methods or usual_methods(graph), epsilons)


@pytest.fixture(autouse=True)
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw few dots, for speed."""
    monkeypatch.setattr(pictures, "DOTS_PER_INCH", 40)


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    return kept_figures(monkeypatch, released)


@pytest.fixture(scope="module")
def chain() -> Comparison:
    return sweep(bernoulli_chain(6), BUDGETS)


@pytest.fixture(scope="module")
def categories() -> Comparison:
    return sweep(example("categorical-chain"), BUDGETS, methods=BOTH)


def released_of(curve: Any) -> Any:
    return np.array([point.errors.released for point in curve.points])


def costs_of(curve: Any) -> Any:
    return np.array([point.errors.marginal for point in curve.points])


def within(figure: Any) -> None:
    """Check that no text leaves the sheet."""
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    for axes in figure.axes:
        for text in (*axes.texts, axes.title, axes.xaxis.label, axes.yaxis.label):
            box = text.get_window_extent(renderer)
            if not text.get_text():
                continue
            assert box.x0 >= -1, text
            assert box.x1 <= figure.bbox.width + 1, text
            assert box.y0 >= -1, text
            assert box.y1 <= figure.bbox.height + 1, text


def test_one_line_for_each_profile(tmp_path: Path, figures: list[Any], chain: Comparison) -> None:
    draw_released(chain, tmp_path / "chain.svg")
    (figure,) = figures
    top, bottom = figure.axes
    for axes, curve in ((top, chain.curves[0]), (bottom, chain.curves[1])):
        lines = [line for line in axes.lines if len(line.get_xdata()) == len(BUDGETS)]
        assert [list(line.get_ydata()) for line in lines] == released_of(curve)[:, :, 1].T.tolist()
        low, high = axes.get_ylim()
        assert low < 0 < 1 < high
    within(figure)
    content = (tmp_path / "chain.svg").read_text()
    for text in (
        "6 profiles and 5 edges on 2 values",
        f"randomised response; spread at 0.2: {math.tanh(0.1):.3f}",
        "smooth one bit; spread at 0.2: 0.396",
        "P(output is 1)",
        "budget epsilon (nats)",
        "further apart is less noise",
    ):
        assert text in content, text


def test_chains_side_by_side(tmp_path: Path, figures: list[Any], chain: Comparison) -> None:
    longer = sweep(bernoulli_chain(21), BUDGETS)
    draw_chains([chain, longer], tmp_path / "chains.svg")
    assert len(figures[0].axes) == 4
    within(figures[0])
    content = (tmp_path / "chains.svg").read_text()
    assert "21 profiles and 20 edges on 2 values" in content
    # Of many profiles five are named.
    named = [text.get_text() for text in figures[0].axes[1].texts]
    assert [name for name in named if name in bernoulli_chain(21).profiles] == [
        "0", "0.25", "0.5", "0.75", "1",
    ]  # fmt: skip


def test_budgets_that_leave_the_mark_out(tmp_path: Path) -> None:
    found = sweep(example("couplet"), ["0.5", "1"], methods=["cluster"])
    draw_released(found, tmp_path / "few.svg")
    assert "spread" not in (tmp_path / "few.svg").read_text()
    # Nor is anything said of a budget between two that were computed.
    between = sweep(example("couplet"), ["0.1", "0.3"], methods=["cluster"])
    draw_released(between, tmp_path / "between.svg")
    assert "spread" not in (tmp_path / "between.svg").read_text()


@pytest.mark.parametrize("budget", ["1", "0.2", "0"])
@pytest.mark.parametrize("name", ["couplet", "categorical-chain"])
def test_a_single_budget_has_room(
    tmp_path: Path, figures: list[Any], name: str, budget: str
) -> None:
    draw_released(sweep(example(name), [budget], methods=BOTH), tmp_path / "one.svg")
    for axes in figures[0].axes:
        left, right = axes.get_xlim()
        assert (left + right) / 2 == pytest.approx(float(budget))
        assert axes.get_xticks().tolist() == [float(budget)]
    within(figures[0])
    assert ("spread at 0.2" in (tmp_path / "one.svg").read_text()) == (
        (name, budget) == ("couplet", "0.2")
    )


def test_one_line_for_each_value(
    tmp_path: Path, figures: list[Any], categories: Comparison
) -> None:
    draw_released(categories, tmp_path / "values.svg")
    (figure,) = figures
    for axes, curve in zip(figure.axes, categories.curves, strict=True):
        assert [list(line.get_ydata()) for line in axes.lines] == costs_of(curve).T.tolist()
        assert axes.get_ylim()[1] >= costs_of(curve).max()
    within(figure)
    content = (tmp_path / "values.svg").read_text()
    for text in (
        "3 profiles and 2 edges on 4 values",
        "(lower is better)",
        # Every value is 0.15 away from 1/4 in some profile, so that all cost the same.
        "randomised response: all values alike",
        "largest error of a value's frequency",
        "value",
    ):
        assert text in content, text


def test_the_legend_covers_no_curve(
    tmp_path: Path, figures: list[Any], categories: Comparison
) -> None:
    draw_released(categories, tmp_path / "values.png")
    for figure in figures:
        figure.canvas.draw()
        (legend,) = figure.legends
        box = legend.get_window_extent(figure.canvas.get_renderer())
        for axes in figure.axes:
            assert not box.overlaps(axes.get_window_extent())


def test_budgets_are_drawn_in_their_order(tmp_path: Path) -> None:
    graph = example("categorical-chain")
    draw_released(sweep(graph, ["1", "0.2"], BOTH), tmp_path / "one.svg")
    draw_released(sweep(graph, ["0.2", "1"], BOTH), tmp_path / "two.svg")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


@pytest.mark.parametrize("kind", pictures.KINDS)
def test_every_kind_of_file_is_the_same_each_time(
    tmp_path: Path, kind: str, categories: Comparison
) -> None:
    first, second = tmp_path / f"one{kind}", tmp_path / f"two{kind}"
    for path in (first, second):
        draw_released(categories, path)
    assert first.read_bytes() == second.read_bytes()


def test_strange_labels(tmp_path: Path) -> None:
    values = {"$a$": 1, "two\nlines": 2, "漢字": 3}
    graph = ProfileGraph.chain({"$p$": values, "q": dict.fromkeys(values, 1)})
    draw_released(sweep(graph, BUDGETS, methods=BOTH), tmp_path / "strange.svg")
    assert "$a$" in (tmp_path / "strange.svg").read_text()
    bits = ProfileGraph.chain({"$p$": {"no": 1, "$yes$": 1}, "q": {"no": 1, "$yes$": 3}})
    draw_released(sweep(bits, BUDGETS, methods=BOTH), tmp_path / "bits.svg")
    assert "P(output is $yes$)" in (tmp_path / "bits.svg").read_text()


def test_many_profiles_and_values(tmp_path: Path) -> None:
    draw_released(sweep(bernoulli_chain(80), BUDGETS, methods=BOTH), tmp_path / "many.png")
    counts = np.random.default_rng(1).integers(1, 9, (3, 12))
    graph = ProfileGraph.chain(
        {f"p{i}": {f"v{k}": int(c) for k, c in enumerate(row)} for i, row in enumerate(counts)}
    )
    draw_released(sweep(graph, BUDGETS, methods=BOTH), tmp_path / "values.png")


def test_what_cannot_be_drawn(tmp_path: Path, chain: Comparison, categories: Comparison) -> None:
    with pytest.raises(InputError, match="this picture is for profiles of two values"):
        draw_chains([chain, categories], tmp_path / "no.png")
    other = sweep(bernoulli_chain(6), BUDGETS, methods=BOTH)
    with pytest.raises(InputError, match="comparisons of different methods"):
        draw_chains([chain, other], tmp_path / "no.png")
    with pytest.raises(InputError, match="nothing to draw"):
        draw_chains([], tmp_path / "no.png")
    prior = compare(Prior.uniform("ab"), None, ["k-rr"], ["1"])
    with pytest.raises(InputError, match="this picture is for graphs of profiles"):
        draw_released(prior, tmp_path / "no.png")
    with pytest.raises(FileError, match="unknown picture format"):
        draw_released(chain, tmp_path / "no.txt")
    assert list(tmp_path.iterdir()) == []
