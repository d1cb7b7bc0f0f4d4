"""Numbers as text, data and pictures."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import liftlock as ll
from liftlock.designs import DESIGNS, Draft, measure_baselines
from liftlock.errors import InputError
from liftlock.model.continuous import Fit
from liftlock.report.format import amount
from liftlock.report.plots.figure import plain_number
from liftlock.report.plots.fit import draw_fit
from liftlock.report.plots.numbers import draw_numbers, scale_of
from liftlock.report.text.design import design_report
from liftlock.report.text.fit import fit_report
from liftlock.report.text.numbers import Released, number_data, number_lines

VALUES = np.random.default_rng(4).normal(50, 10, 200).round(1)
PRIOR = ll.continuous.from_data(VALUES, domain=(20, 70))
CUT = PRIOR.discretise(10)


def text_of(thing: object) -> str:
    console = Console(width=120, highlight=False)
    with console.capture() as captured:
        console.print(thing)
    return captured.get()


@pytest.fixture(scope="module")
def made() -> ll.Mechanism:
    return ll.design(CUT, ll.LIP("1"))


def test_errors_are_those_of_everybody(made: ll.Mechanism) -> None:
    """By brute force over the people, not over the cells."""
    found = Released.of(made)
    assert found is not None
    clipped = np.clip(VALUES, 20, 70)
    rows = made.table.floats()[CUT.grid.encode(clipped)]
    numbers = np.array([float(y) for y in made.table.outputs.labels])  # type: ignore[arg-type]
    squared = float((rows * (clipped[:, None] - numbers) ** 2).sum(axis=1).mean())
    absolute = float((rows * np.abs(clipped[:, None] - numbers)).sum(axis=1).mean())
    assert found.squared == pytest.approx(squared, rel=1e-4)
    assert found.absolute == pytest.approx(absolute, rel=0.02)
    assert found.nothing_squared == pytest.approx(clipped.var(), rel=1e-4)
    assert found.nothing_absolute == pytest.approx(
        np.abs(clipped - clipped.mean()).mean(), rel=0.02
    )
    assert (found.reading, found.apart) == ("mean", False)
    assert found.shares == pytest.approx(rows.mean(axis=0)[np.argsort(numbers)])
    assert found.guesses == pytest.approx(found.numbers, abs=1e-2)


def test_lines(made: ll.Mechanism) -> None:
    lines = "\n".join(text_of(line) for line in number_lines(made))
    assert "a released number is off by" in lines
    assert "no release" in lines
    assert "how often" in lines
    assert "mean of X then" not in lines  # a reading stands for itself
    noisy = ll.design(CUT, ll.LIP("1"), method="sampling")
    assert "mean of X then" in "\n".join(text_of(line) for line in number_lines(noisy))
    assert number_lines(ll.design(ll.Prior.uniform("ab"), ll.LIP("1"))) == []
    assert number_data(ll.design(ll.Prior.uniform("ab"), ll.LIP("1"))) is None


def test_no_release_is_read_as_the_mechanism_is() -> None:
    skewed = ll.continuous.from_data([1, 1, 1, 2, 2, 3, 9, 40], domain=(0, 40)).discretise(8)
    masses, points = skewed.floats(), skewed.points
    for utility, reading in (("mean", "mean"), ("absolute", "median")):
        made = ll.design(skewed, ll.LIP("1"), utility=utility)
        found = Released.of(made)
        assert found is not None
        assert found.reading == reading
        best = masses @ points if reading == "mean" else 2.0  # half of the people have at most 2
        assert found.nothing_absolute == pytest.approx(masses @ np.abs(points - best))
        assert found.absolute <= found.nothing_absolute
        lines = "\n".join(text_of(line) for line in number_lines(made))
        assert f"no release, the {reading} for everybody" in lines


def test_added_noise_is_told_from_its_best_reading() -> None:
    """Noise as it is released is far worse than no release; what it is read as is not."""
    made = ll.design(CUT, ll.LIP("1"), method="sampling")
    found = Released.of(made)
    assert found is not None
    assert found.apart
    assert made.origin is not None
    assert found.read_squared == pytest.approx(made.origin.objective + CUT.variance_within_bins)
    assert found.squared == made.accuracy().squared
    assert found.read_squared <= found.nothing_squared < found.squared
    out = " ".join(text_of(design_report(made, ())).split())
    assert f"best reading of the output (mean, per person): {amount(made.origin.objective)}" in out
    assert f"is {amount(found.squared)} (no release: {amount(found.nothing_squared)})" in out
    assert "replaced by its best reading, the mean of X given it" in out


def test_a_report_of_tiny_numbers() -> None:
    made = ll.design(ll.continuous.normal(0, 1e-9, domain=(-1e-8, 1e-8)).discretise(8), ll.LIP("1"))
    out = text_of(design_report(made, measure_baselines(made, "mean")))
    assert "0.0000" not in out.partition("squared error")[2]
    assert "off by 5.5624e-10 on average" in out
    assert re.search(r"-7\.\d\de-10 +26\.9 %", out)
    assert made.origin is not None
    assert out.count(amount(made.origin.objective)) == 2  # above and in the table


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (0.46, "0.46"),
        (519569651.4, "519,570,000"),
        (999999.7, "1,000,000"),
        (-1234.5678, "-1,234.57"),
        (0.00012345678, "0.000123457"),
        (0.000099999999, "0.0001"),
        (1.7224448e-9, "1.72244e-09"),
        (3e15, "3e+15"),
        (math.inf, "infinite"),
    ],
)
def test_amounts(number: float, text: str) -> None:
    assert amount(number) == text


def test_one_released_number() -> None:
    made = ll.design(CUT, ll.LIP("0"))
    assert "100 %" in "\n".join(text_of(line) for line in number_lines(made))


def test_encodings_release_no_numbers() -> None:
    made = ll.design(CUT, ll.LDP("1"), method="oue")
    assert number_lines(made) == []
    assert number_data(made) is None
    assert len(made.release([25, 60.0])) == 2
    assert np.array_equal(made.simulate([25, 60], seed=1), made.simulate([25, 60], seed=1))
    with pytest.raises(InputError, match="mechanisms that release numbers"):
        draw_numbers(made, Path("nowhere.png"))


def test_a_report_of_large_numbers() -> None:
    prior = ll.continuous.normal(60_000, 20_000, domain=(0, 200_000)).discretise(6)
    made = ll.design(prior, ll.LIP("1"))
    out = text_of(design_report(made, ()))
    assert "60,0" in out or "," in out.partition("off by ")[2][:8]


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_pictures_are_written_and_the_same_every_time(
    made: ll.Mechanism, kind: str, tmp_path: Path
) -> None:
    found = ll.continuous.fit(VALUES, distribution="normal", domain=(20, 70))
    for name in ("one", "two"):
        draw_numbers(made, tmp_path / f"made-{name}.{kind}")
        draw_fit(found, tmp_path / f"fit-{name}.{kind}")
    for what in ("made", "fit"):
        first = (tmp_path / f"{what}-one.{kind}").read_bytes()
        assert first == (tmp_path / f"{what}-two.{kind}").read_bytes()
        assert len(first) > 2000


@pytest.mark.parametrize("method", ["sampling", "bounded-laplace", "optimal"])
def test_pictures_of_several_mechanisms(method: str, tmp_path: Path) -> None:
    if method not in DESIGNS:
        pytest.skip(f"{method} is not registered")
    draw_numbers(ll.design(CUT, ll.LIP("1"), method=method), tmp_path / "m.svg")
    text = (tmp_path / "m.svg").read_text(encoding="utf-8")
    assert "<image" in text  # cells are dots, not a million paths


def test_colours_reach_to_the_extremes_or_say_that_they_do_not() -> None:
    even = np.linspace(-1.0, 1.0, 1001)
    assert scale_of(even) == (1.0, "neither")
    assert scale_of(np.append(even, 1.9)) == (1.9, "neither")
    assert scale_of(np.zeros(5)) == (0.1, "neither")
    assert scale_of(np.append(even, 9.0))[1] == "both"  # -1 is beyond the colours as well
    for sign, side in ((1.0, "max"), (-1.0, "min")):
        reach, beyond = scale_of(sign * np.append(np.linspace(-0.5, 1.0, 1001), 9.0))
        assert 0.9 < reach <= 1.0
        assert beyond == side


def test_clipped_colours_are_named_in_the_picture(tmp_path: Path) -> None:
    rare = ll.continuous.from_data([*range(60), *range(60), 900], domain=(0, 900)).discretise(40)
    rows = np.full((len(rare.labels), 10), 0.1)
    rows[-1, :2] = (0.199, 0.001)
    made = ll.lock(Draft.of(rare.inputs, range(10), rows), ll.LIP("7"), rare)
    draw_numbers(made, tmp_path / "m.svg")
    text = (tmp_path / "m.svg").read_text(encoding="utf-8")
    assert "in all from 0.01" in text


def test_pictures_of_odd_mechanisms(tmp_path: Path) -> None:
    draw_numbers(ll.design(CUT, ll.LIP("0")), tmp_path / "constant.png")
    shouting = ll.continuous.from_data([0, 0, 0, 1, 1, 50], domain=(0, 50)).discretise(3)
    draw_numbers(ll.design(shouting, ll.LIP("3")), tmp_path / "few.png")
    plain = ll.design(ll.Prior.uniform("ab"), ll.LIP("1"))
    with pytest.raises(InputError, match="draw the lifts instead"):
        draw_numbers(plain, tmp_path / "no.png")


@pytest.mark.parametrize("distribution", ["sample", "histogram", "beta", "laplace", "uniform"])
def test_pictures_of_fits(distribution: str, tmp_path: Path) -> None:
    found = ll.continuous.fit(VALUES, distribution=distribution, domain=(10, 100))
    draw_fit(found, tmp_path / "fit.png")
    assert (tmp_path / "fit.png").stat().st_size > 2000


def test_a_mixture_is_drawn_with_its_parts(tmp_path: Path) -> None:
    two = np.concatenate([VALUES, VALUES + 100])
    found = ll.continuous.fit(two, domain=(20, 160), components=2)
    draw_fit(found, tmp_path / "fit.svg")
    assert (tmp_path / "fit.svg").read_text(encoding="utf-8").count("stroke-dasharray") >= 2


def test_the_words_of_a_fit() -> None:
    found = ll.continuous.fit(VALUES, distribution="normal", domain=(20, 70))
    out = text_of(fit_report(found, found.discretise(8)))
    assert out.startswith("normal(")
    assert "BIC" in out
    inside = Fit(found.distribution, -1e6, 1e6, found.values, found.scores, "normal")
    assert "nothing lies outside" in text_of(fit_report(inside, inside.discretise(8)))


def test_numbers_on_an_axis() -> None:
    assert plain_number(1e6) == "1,000,000"
    assert plain_number(-2.5) == "−2.5"
    assert math.isclose(float(plain_number(0.125)), 0.125)
