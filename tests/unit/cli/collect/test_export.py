"""`liftlock collect export`, and what adds its files up again."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.unit.cli.collect.conftest import Health
from tests.unit.cli.collect.worlds import answered, fill
from tests.unit.cli.conftest import Run

COLUMNS = ["day", "collection", "mechanism", "output", "reports_not_answers"]


@pytest.mark.parametrize("suffix", ["csv", "json", "parquet"])
def test_every_form_has_every_report(run: Run, health: Health, suffix: str) -> None:
    done = run("collect", "export", "health.yaml", "-o", f"counts.{suffix}")
    assert (done.code, done.out, done.made) == (0, "", frozenset({f"counts.{suffix}"}))
    path = Path(f"counts.{suffix}")
    if suffix == "parquet":
        rows = pq.read_table(path).to_pylist()
    elif suffix == "json":
        rows = json.loads(path.read_text())["lines"]
    else:
        header, *lines = [line.split(",") for line in path.read_text().splitlines()]
        rows = [dict(zip(header, line, strict=True)) for line in lines]
    assert list(rows[0]) == COLUMNS
    for name, counts in health.counts.items():
        ((digest, numbers),) = counts.items()
        own = [row for row in rows if row["collection"] == name]
        assert {row["mechanism"] for row in own} == {digest}
        assert {row["output"]: int(row["reports_not_answers"]) for row in own} == {
            f"r{place}": number for place, number in enumerate(numbers, 1) if number
        }


def test_several_servers_add_up(run: Run, health: Health, tmp_path: Path) -> None:
    """South counted other people; both together are what one server would have counted."""
    south = answered(health.survey, 2000, seed=2)
    fill(tmp_path / "south.sqlite", health.survey, south)
    run("collect", "export", "health.yaml", "-o", "north.json")
    run("collect", "export", "health.yaml", "-o", "south.json", "--store", "south.sqlite")
    done = run("collect", "estimate", "health.yaml", "north.json", "south.json", "--json")
    assert (done.code, done.err) == (0, "")
    told = json.loads(done.out)
    for name, collection in health.survey.collections().items():
        together = {
            digest: [a + b for a, b in zip(numbers, south[name][digest], strict=True)]
            for digest, numbers in health.counts[name].items()
        }
        expected = collection.estimate(together).content()
        assert told[name]["answers"] == json.loads(json.dumps(expected["answers"]))
    planned = run("collect", "next", "health.yaml", "north.json", "south.json", "-o", "next.yaml")
    assert planned.code == 0
    assert "5,000 reports" in " ".join(planned.out.split())


def test_aggregates_are_for_the_general_command(run: Run, health: Health) -> None:
    done = run("collect", "export", "health.yaml", "--aggregates", "counts", "--question", "flu")
    assert done.code == 0
    (mechanism,) = Path("counts").glob("*.mechanism.json")
    (aggregate,) = Path("counts").glob("*.aggregate.json")
    general = json.loads(run("estimate", str(mechanism), str(aggregate), "--json").out)
    own = json.loads(run("collect", "estimate", "health.yaml", "--json").out)
    assert general["answers"] == own["health.flu"]["answers"]


def test_refusals(run: Run, health: Health) -> None:
    run("collect", "export", "health.yaml", "-o", "counts.json")
    other = Path("health.yaml").read_text().replace("lip=1", "lip=2")
    for arguments, said in (
        (("export", "health.yaml"), "give -o, or --aggregates"),
        (("export", "health.yaml", "-o", "counts.json"), "exists already"),
        (("export", "health.yaml", "-o", "counts.xlsx"), ".csv, .json, .parquet"),
        (("estimate", "health.yaml", "health.yaml"), "not an export in JSON"),
        (("estimate", "other.yaml", "counts.json"), "counts of another mechanism"),
        (("estimate", "health.yaml", "counts.json", "counts.json"), "counts is given twice"),
    ):
        done = run("collect", *arguments, files={"other.yaml": other})
        assert (done.code, done.out) == (2, "")
        assert said in done.err
