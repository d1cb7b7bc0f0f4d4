"""What every command that writes refuses to replace."""

from __future__ import annotations

from pathlib import Path

import pytest

from liftlock.accounting import Ledger
from tests.unit.cli.conftest import Run
from tests.unit.cli.profiles.worlds import DESIGN, FILES, GRAPH, assert_refused

UNIFORM = "value,y\nlow,1\nmid,1\nhigh,1\n"
PRIOR = ("--prior", "prior.csv")
MORE = {"m.csv": UNIFORM, "prior.csv": "value,count\nlow,2\nmid,3\nhigh,5\n"}
CURVE = ("compare", "--released", *GRAPH, "--epsilons", "1", "--methods", "cluster")
COMPARE = ("compare", *PRIOR, "--epsilons", "1")
FIT = ("fit", "table.csv", "--column", "id")


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ([*DESIGN, "-o", "kept"], "the output"),
        ([*DESIGN, "--plot", "kept.png"], "--plot"),
        ([*CURVE, "--csv", "kept"], "--csv"),
        ([*CURVE, "--plot", "kept.svg"], "--plot"),
        (["audit", "m.csv", *GRAPH, "--plot", "kept.png"], "--plot"),
        (["audit", "m.csv", *PRIOR, "--plot", "kept.png"], "--plot"),
        (["audit", "m.csv", *PRIOR, "--plot-curve", "kept.svg"], "--plot-curve"),
        (["lock", "m.csv", *GRAPH, "--guarantee", "profile=1", "-o", "kept"], "the output"),
        (["design", *PRIOR, "--epsilon", "1", "-o", "kept"], "the output"),
        ([*COMPARE, "--csv", "kept"], "--csv"),
        ([*FIT, "-o", "kept"], "the output"),
        ([*FIT, "--plot", "kept.png"], "--plot"),
    ],
)
def test_a_ledger_is_never_replaced(run: Run, arguments: list[str], name: str) -> None:
    Ledger.new().save("kept")
    content = Path("kept").read_text()
    where = next(part for part in arguments if part.startswith("kept"))
    outcome = run(*arguments, files=FILES | MORE | {where: content})
    assert_refused(outcome, f"{name} would overwrite a ledger of releases at {where}")
    assert Path(where).read_text() == content


def test_examples_replace_no_ledger_either(run: Run) -> None:
    Path("edges.csv").write_text('{"format": "liftlock.profile-ledger", "version": 1}')
    outcome = run("profiles", "example", "couplet", "-o", ".", "--force")
    assert_refused(outcome, "would overwrite a ledger of observations at edges.csv")


def test_other_files_are_replaced(run: Run) -> None:
    about = b'{"note": "not a \xff ledger"}'
    outcome = run(*DESIGN, "-o", "safe.json", files=FILES | {"safe.json": about})
    assert outcome.code == 0


def test_two_results_in_one_file(run: Run) -> None:
    both = ("--plot", "a.png", "--plot-curve", "a.png")
    outcome = run("audit", "m.csv", *PRIOR, *both, files=FILES | MORE)
    assert_refused(outcome, "--plot-curve would overwrite --plot at a.png")
    both = ("--csv", "a.png", "--plot", "a.png")
    assert_refused(run(*CURVE, *both), "--plot would overwrite --csv at a.png")


def test_a_picture_does_not_replace_its_channel(run: Run) -> None:
    files = FILES | {"m.png": UNIFORM}
    outcome = run("audit", "m.png", *GRAPH, "--plot", "m.png", files=files)
    assert_refused(outcome, "--plot would overwrite CHANNEL at m.png")
