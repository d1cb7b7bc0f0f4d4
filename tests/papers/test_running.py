"""What was computed is kept, and only what was made from the same things is used again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from liftlock import InputError, Step
from liftlock_papers import Curve, Figure, Finding, Panel, Point, Points, Setting, Verdict, run
from liftlock_papers.catalogue import find_figure, find_figures
from liftlock_papers.data import Absent, DataFolder, open_text
from liftlock_papers.figure import Stated
from liftlock_papers.points import from_csv, to_csv
from liftlock_papers.running import code_of, read_result

CALLS: list[bool] = []


def squares(setting: Setting) -> Iterator[Point]:
    CALLS.append(setting.quick)
    for number in setting.each(range(setting.choose(full=5, quick=3)), "squaring"):
        yield Point("a", "squares", number, number**2)


def judged(points: Points) -> list[Finding]:
    return [Finding("they grow", Verdict.CONFIRMED, f"up to {max(points.y('a', 'squares')):g}")]


FIGURE = Figure(
    "000-fig0", "Fig. 0", "Squares", "Squares grow.", squares, judged,
    (Panel("a", "number", "square"),), (Curve("squares", "blue"),),
)  # fmt: skip


@pytest.fixture(autouse=True)
def _no_calls() -> None:
    CALLS.clear()


def test_a_result_is_used_again(tmp_path: Path) -> None:
    first = run(FIGURE, tmp_path, Setting())
    second = run(FIGURE, tmp_path, Setting())
    assert (first.kept, second.kept, CALLS) == (False, True, [False])
    assert first.points == second.points
    assert first.findings == second.findings == tuple(judged(first.points))


def test_another_size_version_or_wish_computes_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(FIGURE, tmp_path, Setting())
    assert len(run(FIGURE, tmp_path, Setting(quick=True)).points) == 3
    assert not run(FIGURE, tmp_path, Setting(quick=True), again=True).kept
    monkeypatch.setattr("liftlock.__version__", "0.0.0")
    assert not run(FIGURE, tmp_path, Setting(quick=True)).kept
    assert CALLS == [False, True, True, True]


@pytest.mark.parametrize("spoil", ["csv", "json"])
def test_a_spoilt_result_is_computed_again(tmp_path: Path, spoil: str) -> None:
    run(FIGURE, tmp_path, Setting())
    (tmp_path / f"000-fig0.{spoil}").write_text("panel,curve\n1", encoding="utf-8")
    assert read_result(FIGURE, tmp_path) is None
    assert not run(FIGURE, tmp_path, Setting()).kept


def test_points_that_were_changed_by_hand_are_not_used(tmp_path: Path) -> None:
    run(FIGURE, tmp_path, Setting())
    place = tmp_path / "000-fig0.csv"
    place.write_text(place.read_text(encoding="utf-8").replace("16", "17"), encoding="utf-8")
    assert not run(FIGURE, tmp_path, Setting()).kept


def test_an_interruption_leaves_the_earlier_result(tmp_path: Path) -> None:
    run(FIGURE, tmp_path, Setting())

    def stop(step: Step) -> None:
        if step.done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(FIGURE, tmp_path, Setting(report=stop), again=True)
    assert run(FIGURE, tmp_path, Setting()).kept


def test_a_change_of_the_library_computes_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(FIGURE, tmp_path, Setting())
    assert run(FIGURE, tmp_path, Setting()).kept
    monkeypatch.setattr("liftlock_papers.running._library", lambda: "another")
    assert not run(FIGURE, tmp_path, Setting()).kept


@pytest.mark.parametrize("name", ["code", "quick", "seconds", "points", "figure"])
def test_a_record_without_what_it_needs_is_none(tmp_path: Path, name: str) -> None:
    run(FIGURE, tmp_path, Setting())
    place = tmp_path / "000-fig0.json"
    record = json.loads(place.read_text(encoding="utf-8"))
    del record[name]
    place.write_text(json.dumps(record), encoding="utf-8")
    assert read_result(FIGURE, tmp_path) is None


def test_a_result_under_another_name_is_none(tmp_path: Path) -> None:
    run(FIGURE, tmp_path, Setting())
    for kind in ("csv", "json"):
        (tmp_path / f"000-fig0.{kind}").rename(tmp_path / f"000-fig1.{kind}")
    assert read_result(replace(FIGURE, key="000-fig1"), tmp_path) is None


def test_the_fingerprint_of_code_covers_what_is_imported_and_no_comment() -> None:
    one, other = find_figure("002-fig2"), find_figure("003-fig3")
    assert code_of(one) == code_of(one) != code_of(other)
    assert code_of(replace(one, says="something else")) == code_of(one)


def test_the_record_says_what_the_points_were_made_from(tmp_path: Path) -> None:
    run(FIGURE, tmp_path, Setting(quick=True))
    record = json.loads((tmp_path / "000-fig0.json").read_text(encoding="utf-8"))
    assert record["figure"] == "000-fig0"
    assert record["quick"] is True
    assert record["data"] == {}
    assert record["seconds"] >= 0


def test_points_survive_being_written() -> None:
    rows = (
        Point("a, b", 'the "best"', 0.1, 1 / 3, None, float("inf"), 2.0),
        Point("ε", "|X| = 5", -1e-300, 1e300, 0.25),
    )
    back = from_csv(to_csv(rows)).rows
    assert back[0].leakage == float("inf")
    assert back[0].y == pytest.approx(1 / 3, rel=1e-11)
    assert [row[:2] for row in back] == [row[:2] for row in rows]
    assert back[1].error == 0.25


def test_a_stated_number_is_compared() -> None:
    points = Points((Point("a", "squares", 2, 4.02),))
    near = Stated("a", "squares", 2, 4, 0.05, "page 1", "the square of two")
    assert near.finding(points).verdict is Verdict.CONFIRMED
    assert replace(near, tolerance=0.01).finding(points).verdict is Verdict.REFUTED


def test_names_of_figures() -> None:
    assert find_figure("000-fig5c") is find_figure("000-fig5")
    assert [figure.key for figure in find_figures(["003", "003-fig3"])] == ["003-fig3"]
    with pytest.raises(InputError, match="no such figure: '002-fig44'; did you mean 002-fig4"):
        find_figures(["002-fig44"])


def test_a_missing_data_set_is_named_with_its_source(tmp_path: Path) -> None:
    with pytest.raises(Absent, match=r"Adult is not there .* put adult\.data into DIR/adult"):
        DataFolder(tmp_path).files("adult")
    with pytest.raises(InputError, match="does not exist"):
        DataFolder(tmp_path / "nowhere")


def test_a_data_set_is_found_in_its_folder_or_beside_the_others(tmp_path: Path) -> None:
    (tmp_path / "adult.data.gz").write_bytes(b"packed")
    assert DataFolder(tmp_path).files("adult") == [tmp_path / "adult.data.gz"]
    (tmp_path / "adult").mkdir()
    (tmp_path / "adult" / "adult.data").write_text("plain", encoding="utf-8")
    folder = DataFolder(tmp_path)
    assert folder.files("adult") == [tmp_path / "adult" / "adult.data"]
    assert set(folder.sums("adult")) == {"adult.data"}
    with open_text(folder.files("adult")[0]) as file:
        assert file.read() == "plain"


def test_code_that_was_changed_since_it_was_loaded_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from liftlock_papers import running

    figure = find_figure("004-table1")
    running._parsed.cache_clear()
    running._tree.cache_clear()
    running._imported.cache_clear()
    monkeypatch.setattr(running, "_LOADED", dict.fromkeys(running._LOADED, 1))
    with pytest.raises(InputError, match="was changed since it was loaded"):
        code_of(figure)
    monkeypatch.undo()
    assert code_of(figure)


def test_a_figure_of_ones_own_is_run_from_a_folder_named_by_a_string(tmp_path: Path) -> None:
    assert run(FIGURE, str(tmp_path), Setting(quick=True)).points.y("a", "squares")[-1] == 4
    assert read_result(FIGURE, str(tmp_path)) is not None


def test_a_claim_about_no_points_is_not_confirmed() -> None:
    with pytest.raises(ValueError, match="nothing to judge by"):
        Verdict.of([])
