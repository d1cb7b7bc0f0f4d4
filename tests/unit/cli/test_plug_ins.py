"""Commands that other distributions add: found by their entry points, loaded when they run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from liftlock.cli.main import plug_ins
from tests.unit.cli.conftest import Run

ENTRIES = """[liftlock.commands]
hello = hello_plug_in:hello
broken = hello_plug_in:nowhere
absent = no_such_module:command
number = hello_plug_in:number
audit = hello_plug_in:hello
"""
MODULE = """
import click
number = 7
@click.command("hello")
def hello(): click.echo("hello")
"""


@pytest.fixture
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a distribution on the path that adds commands, three of which do not work."""
    about = tmp_path / "hello_plug_in-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: hello\nSummary: Say hello.\n")
    (about / "entry_points.txt").write_text(ENTRIES)
    (tmp_path / "hello_plug_in.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "hello_plug_in", raising=False)


@pytest.mark.usefixtures("added")
def test_a_plug_in_is_listed_without_being_loaded_and_runs(run: Run) -> None:
    listed = run("--help").out
    assert "  hello      Say hello." in listed
    assert "hello_plug_in" not in sys.modules
    assert run("hello").out == "hello\n"
    assert sorted(plug_ins()) == ["absent", "broken", "hello", "number", "papers"]


@pytest.mark.usefixtures("added")
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("broken", "AttributeError: module 'hello_plug_in' has no attribute 'nowhere'"),
        ("absent", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("number", "TypeError: hello_plug_in:number is no command of click"),
    ],
)
def test_a_broken_plug_in_is_one_line_and_breaks_nothing_else(
    run: Run, name: str, why: str
) -> None:
    outcome = run(name)
    assert (outcome.code, outcome.out) == (2, "")
    (line,) = outcome.err.splitlines()
    assert line.startswith(f"liftlock: the command '{name}' of hello cannot be loaded: ")
    assert why in line
    assert line.endswith("upgrade it, or uninstall it")
    assert run("notions").code == run("hello").code == run("--help").code == 0


@pytest.mark.usefixtures("added")
def test_a_command_of_liftlock_is_not_replaced(run: Run) -> None:
    assert "Usage: liftlock audit" in run("audit", "--help").out
