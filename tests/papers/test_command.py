"""`liftlock papers`: what it prints, what it writes, and how it refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from liftlock_papers import FIGURES, Figure, Point, Result, Setting
from tests.unit.cli.conftest import Run, run

__all__ = ["run"]

QUICK = ("papers", "run", "004-table1", "--quick")


def test_the_list_names_every_figure_and_its_data(run: Run, tmp_path: Path) -> None:
    outcome = run("papers", "list", "--data", str(tmp_path))
    assert (outcome.code, outcome.err) == (0, "")
    for key, figure in FIGURES.items():
        line = next(line for line in outcome.out.splitlines() if line.strip().startswith(f"{key} "))
        assert bool(figure.needs) == ("needs" in line) or len(figure.title) > 60
    listed = json.loads(run("papers", "list", "--json", "--data", str(tmp_path)).out)
    assert [entry["figure"] for entry in listed] == list(FIGURES)
    assert {value for entry in listed for value in entry["data"].values()} == {False}


def test_a_figure_is_computed_drawn_and_shown(run: Run) -> None:
    outcome = run(*QUICK, "--out", "made")
    assert (outcome.code, outcome.err) == (0, "")
    figures = {f"made/figures/004-table1.{kind}" for kind in ("csv", "json", "svg", "png")}
    assert outcome.made == {"made", "made/figures", "made/index.html", *figures}
    assert "1 figure: " in outcome.out
    assert "gallery: made/index.html" in outcome.out
    assert any(verdict in outcome.out for verdict in ("confirmed", "refuted"))
    before = {path: path.stat().st_mtime_ns for path in Path("made/figures").iterdir()}
    again = run(*QUICK, "--out", "made")
    assert "(kept from an earlier run)" in again.out
    assert {path: path.stat().st_mtime_ns for path in Path("made/figures").iterdir()} == before


def test_a_quick_run_makes_the_same_points_and_leaves_the_full_one_alone(run: Run) -> None:
    outcome = run(*QUICK)
    assert "gallery: papers-quick/index.html" in outcome.out
    assert not Path("papers").exists()
    outcome = run(*QUICK, "--json", "--out", "made")
    (entry,) = json.loads(outcome.out)
    assert (entry["figure"], entry["quick"]) == ("004-table1", True)
    assert all(set(found) == {"claim", "verdict", "ours", "why"} for found in entry["findings"])
    one, two = (Path(name, "figures/004-table1.csv") for name in ("papers-quick", "made"))
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("002-fig44",), "no such figure: '002-fig44'; did you mean 002-fig4?"),
        (("005",), "no such figure: '005'; `liftlock papers list` names them all"),
        (("004-table1", "--data", "nowhere"), "this folder of data sets does not exist at nowhere"),
        (("002-fig3", "--data", "."), "the data set Adult is not there at .; get it (UCI"),
        (("004-table1", "--out", "taken"), "taken"),
        ((), "Missing argument 'FIGURE...'"),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_line(
    run: Run, arguments: tuple[str, ...], message: str
) -> None:
    outcome = run("papers", "run", *arguments, files={"taken": "a file"})
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err
    assert outcome.err.count("\n") == 1
    assert outcome.made <= {"taken"}


def test_a_spoilt_data_set_does_not_stop_the_others(run: Run) -> None:
    chosen = ("002-fig3", "004-table1", "--quick", "--data", ".", "--out", "made")
    outcome = run("papers", "run", *chosen, files={"adult.data": "39, x\n"})
    assert outcome.code == 2
    assert "002-fig3 was left out: a row of Adult has 15 fields at adult.data, line" in outcome.err
    assert "1 figure: " in outcome.out


def test_a_run_of_nothing_is_no_success(run: Run) -> None:
    outcome = run("papers", "run", "002-fig3", "002-fig5", "--quick", "--data", ".")
    assert outcome.code == 2
    assert outcome.err.count("was left out") == 2


def test_figures_without_their_data_are_left_out_of_many(run: Run, tmp_path: Path) -> None:
    outcome = run(
        "papers", "run", "004-table1", "002-fig3", "--quick", "--data", ".", "--out", "made"
    )
    assert outcome.code == 0
    assert "002-fig3 was left out: the data set Adult is not there" in outcome.err
    assert "1 figure: " in outcome.out
    page = Path("made/index.html").read_text(encoding="utf-8")
    assert "Fig. 3 (data: Adult)" in page


def test_ctrl_c_keeps_what_is_done(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    import liftlock_papers

    really = liftlock_papers.run

    def interrupted(figure: Figure, *rest: Any, **options: Any) -> Result:
        if figure.key != "000-fig2":
            raise KeyboardInterrupt
        return really(figure, *rest, **options)

    monkeypatch.setattr("liftlock_papers.run", interrupted)
    outcome = run("papers", "run", "000-fig2", "004-table1", "--quick", "--out", "made")
    assert outcome.code == 130
    assert "note: 1 figure done and kept in made; the same command goes on" in outcome.err
    monkeypatch.setattr("liftlock_papers.run", really)
    again = run("papers", "run", "000-fig2", "--quick", "--out", "made")
    assert "(kept from an earlier run)" in again.out


def test_a_package_that_is_not_installed_is_named(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def needy(setting: Setting) -> list[Point]:
        raise ImportError("No module named 'sklearn'", name="sklearn")

    monkeypatch.setitem(FIGURES, "003-fig3", replace(FIGURES["003-fig3"], compute=needy))
    alone = run("papers", "run", "003-fig3", "--quick", "--out", "made")
    assert alone.code == 2
    assert "003-fig3 needs sklearn; pip install 'liftlock[plot,fit]'" in alone.err
    many = run("papers", "run", "003-fig3", "004-table1", "--quick", "--out", "made")
    assert many.code == 0
    assert "note: 003-fig3 was left out: 003-fig3 needs sklearn" in many.err


def test_a_quick_run_does_not_replace_a_full_one(run: Run) -> None:
    full = ("papers", "run", "004-table1", "--out", "made")
    run(*full)
    before = Path("made/figures/004-table1.json").read_bytes()
    outcome = run(*full, "--quick")
    assert outcome.code == 2
    assert "a quick run would overwrite the result of a full one" in outcome.err
    assert Path("made/figures/004-table1.json").read_bytes() == before
    assert run(*full, "--quick", "--again").code == 0
