"""`liftlock lock`: a mechanism file, or a refusal and no file."""

from __future__ import annotations

from pathlib import Path

import pytest

from liftlock import Mechanism
from tests.unit.cli.conftest import CHANNEL, PRIOR, Run

FILES = {"c.csv": CHANNEL, "p.csv": PRIOR}


def test_a_certified_mechanism(run: Run) -> None:
    outcome = run(
        *["lock", "c.csv", "--prior", "p.csv", "--guarantee", "lip=1", "-o", "m.json"], files=FILES
    )
    assert (outcome.code, set(outcome.made)) == (0, {"m.json"})
    assert outcome.out.startswith("CERTIFIED: lip(epsilon=1) for a prior on 2 symbols\n")
    assert outcome.err.splitlines()[-1] == "note: written to m.json"
    mechanism = Mechanism.load("m.json")
    assert mechanism.channel.bits == 52
    assert run("audit", "m.json", "--check", "lip=1").code == 0


def test_a_refusal_writes_nothing(run: Run) -> None:
    outcome = run(
        *["lock", "c.csv", "--prior", "p.csv", "--guarantee", "lip=0.1", "-o", "m.json"],
        files=FILES,
    )
    assert (outcome.code, outcome.out, outcome.made) == (1, "", frozenset())
    (line,) = outcome.err.splitlines()
    assert line.startswith("liftlock: refused: lip(epsilon=0.1) does not hold")
    assert 'secret "x", output "a"' in line
    smallest = line.rpartition("would pass: ")[2]
    again = run("lock", "c.csv", "--prior", "p.csv", "--guarantee", smallest, "-o", "m.json")
    assert again.code == 0


def test_bits(run: Run) -> None:
    files = FILES | {"c.csv": "input,a,b\nx,0.5,0.5\ny,1/3,2/3\n"}
    arguments = ["lock", "c.csv", "--prior", "p.csv", "--guarantee", "lip=1", "-o", "m.json"]
    assert run(*arguments, "--bits", "20", files=files).code == 0
    assert Mechanism.load("m.json").channel.bits == 20
    outcome = run(*arguments, "--bits", "63")
    assert outcome.code == 2
    assert "63 is not in the range 1<=x<=62" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "nowhere/m.json"], "no such folder at nowhere"),
        (["-o", "."], "a folder, not a file at ."),
        (["-o", "c.csv"], "the output would overwrite MATRIX at c.csv"),
        (["-o", "./p.csv"], "the output would overwrite --prior at p.csv"),
    ],
)
def test_outputs_that_cannot_be(
    run: Run, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("the work was begun")

    monkeypatch.setattr("liftlock.cli.lock.read_channel_or_profiles", never)
    outcome = run(
        "lock", "c.csv", "--prior", "p.csv", "--guarantee", "lip=1", *arguments, files=FILES
    )
    assert (outcome.code, outcome.made) == (2, frozenset())
    (line,) = outcome.err.splitlines()
    assert message in line
    assert Path("c.csv").read_text() == CHANNEL


def test_the_context_of_a_mechanism_is_kept(run: Run) -> None:
    arguments = ["lock", "c.csv", "--prior", "p.csv", "--guarantee", "lip=1", "-o", "m.json"]
    assert run(*arguments, files=FILES).code == 0
    # Locked again under another guarantee, with the context that the file brings.
    again = run("lock", "m.json", "--guarantee", "ldp=2", "-o", "n.json")
    assert again.code == 0
    assert Mechanism.load("n.json").context == Mechanism.load("m.json").context


def test_no_context(run: Run) -> None:
    outcome = run("lock", "c.csv", "--guarantee", "lip=1", "-o", "m.json", files=FILES)
    assert outcome.code == 2
    assert "no prior for the channel at c.csv" in outcome.err
