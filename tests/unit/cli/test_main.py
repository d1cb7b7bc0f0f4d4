"""What all commands share: help, exit codes, pipes, interruptions, encodings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import pytest

from liftlock import __version__
from liftlock.__main__ import main as script
from liftlock.cli import main
from tests.unit.cli.conftest import CHANNEL, PRIOR, Run

COMMANDS = (
    *("demo", "protect", "design", "designs", "fit", "compare", "plan", "release"),
    *(
        "publish",
        "estimate",
        "collect",
        "account",
        "audit",
        "lock",
        "profiles",
        "probe",
        "relations",
        "notions",
    ),
    "papers",
)
OF_PAPERS = ("list", "run")
OF_PROFILES = ("example", "compose")
OF_COLLECT = (
    *("new", "check", "serve", "demo", "estimate", "export", "close", "next", "erase", "backup"),
    *("verify", "token", "token add", "token list", "token revoke", "token issue"),
)


def test_without_arguments_the_newcomer_is_told_where_to_start(run: Run) -> None:
    outcome = run()
    assert (outcome.code, outcome.err) == (0, "")
    assert "Start with `liftlock demo`" in outcome.out
    commands = outcome.out.partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in commands] == list(COMMANDS)
    assert not any("..." in line for line in commands)
    assert run("--help").out == run("-h").out == outcome.out


@pytest.mark.parametrize(
    "command",
    [
        *COMMANDS,
        *(f"profiles {name}" for name in OF_PROFILES),
        *(f"collect {name}" for name in OF_COLLECT),
        *(f"papers {name}" for name in OF_PAPERS),
    ],
)
def test_every_command_has_help_that_fits_80_columns(run: Run, command: str) -> None:
    outcome = run(*command.split(), "--help")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith(f"Usage: liftlock {command}")
    assert all(len(line) <= 80 for line in outcome.out.splitlines())


def test_version(run: Run) -> None:
    assert run("--version").out == f"liftlock, version {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["audits"], "No such command 'audits'"),
        (["audit"], "Missing argument 'CHANNEL'; see liftlock audit --help"),
        (["lock", "m.csv"], "Missing option '--guarantee'"),
        (["--loud"], "No such option '--loud'"),
    ],
)
def test_wrong_usage_is_one_line(run: Run, arguments: list[str], message: str) -> None:
    outcome = run(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    (line,) = outcome.err.splitlines()
    assert line.startswith("liftlock: ")
    assert message in line
    assert line.endswith("--help")


def test_an_interruption_is_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("liftlock.cli.audit.audit", interrupt)
    files = {"c.csv": CHANNEL, "p.csv": PRIOR}
    outcome = run("audit", "c.csv", "--prior", "p.csv", "--plot", "p.png", files=files)
    assert outcome.code == 130
    assert (outcome.out, outcome.made) == ("", frozenset())
    assert outcome.err == "liftlock: interrupted; nothing more is written\n"


def test_an_interruption_while_importing_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Slow(ModuleType):
        def __getattr__(self, name: str) -> object:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "liftlock.cli", Slow("liftlock.cli"))
    assert script() == 130
    assert capsys.readouterr().err == "liftlock: interrupted; nothing more is written\n"


# --- in a process of its own ---------------------------------------------------------------------


def shell(
    folder: Path, command: str, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a line of bash in which `liftlock` is this Python's."""
    start = f"set -o pipefail; liftlock() {{ '{sys.executable}' -m liftlock \"$@\"; }}; "
    return subprocess.run(
        ["bash", "-c", start + command],
        cwd=folder,
        env={**os.environ, "COLUMNS": "80", **(environment or {})},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "c.csv").write_text(CHANNEL)
    (tmp_path / "p.csv").write_text(PRIOR)
    return tmp_path


def test_a_reader_that_goes_away(folder: Path) -> None:
    # 'true' reads nothing at all, so the very first line cannot be delivered.
    done = shell(folder, "liftlock audit c.csv --prior p.csv --json | true; echo ${PIPESTATUS[0]}")
    assert (done.stdout, done.stderr) == ("0\n", "")
    # The verdict is still the exit code.
    failing = "liftlock audit c.csv --prior p.csv --check lip=0.01 | true; echo ${PIPESTATUS[0]}"
    done = shell(folder, failing)
    assert done.stdout == "1\n"
    (line,) = done.stderr.splitlines()
    assert "does not hold" in line


def test_files_may_be_pipes(folder: Path) -> None:
    done = shell(folder, "liftlock audit <(cat c.csv) --prior <(cat p.csv) --json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["inputs"] == 2


def test_a_terminal_without_unicode(folder: Path) -> None:
    (folder / "c.csv").write_text("input,да,漢\nx,0.5,0.5\ny,0.25,0.75\n", encoding="utf-8")
    plain = {"PYTHONIOENCODING": "ascii"}
    words = shell(folder, "liftlock audit c.csv --prior p.csv --check lip=0.01", plain)
    assert words.returncode == 1
    assert "Traceback" not in words.stderr
    as_json = shell(folder, "liftlock audit c.csv --prior p.csv --json", plain)
    data = json.loads(as_json.stdout)
    assert data["readings"]["lip"]["witness"]["output"] in {"да", "漢"}


def test_errors_leave_standard_output_empty(folder: Path) -> None:
    done = shell(folder, "liftlock audit c.csv --prior missing.csv --json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "liftlock: no such file at missing.csv; check the path\n"


def test_main_exits_when_it_is_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["liftlock", "--version"])
    with pytest.raises(SystemExit) as leaving:
        main()
    assert leaving.value.code == 0


# --- what nobody thought of ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", [RecursionError, OverflowError, ZeroDivisionError, ValueError])
def test_an_unforeseen_error_is_one_line_and_nothing_is_written(
    run: Run, monkeypatch: pytest.MonkeyPatch, kind: type[Exception]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise kind("something\nin two lines " + 300 * "x")

    # After the mechanism is made, so that there would be something to write.
    monkeypatch.setattr("liftlock.cli.design.measure_baselines", fail)
    outcome = run(
        "design", "--prior", "p.csv", "--epsilon", "1", "-o", "m.json", files={"p.csv": PRIOR}
    )
    assert (outcome.code, outcome.out, outcome.made) == (2, "", frozenset())
    (line,) = outcome.err.splitlines()
    assert line.startswith(f"liftlock: internal error, {kind.__name__}: something in")
    assert "report it with the command" in line
    assert len(line) < 500


def test_running_out_of_memory_is_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MemoryError("Unable to allocate 43.7 TiB")

    monkeypatch.setattr("liftlock.cli.audit.audit", fail)
    files = {"c.csv": CHANNEL, "p.csv": PRIOR}
    outcome = run("audit", "c.csv", "--prior", "p.csv", files=files)
    assert (outcome.code, outcome.out) == (2, "")
    (line,) = outcome.err.splitlines()
    assert "out of memory (MemoryError): Unable to allocate 43.7 TiB" in line
    assert "merge rare values" in line


def test_the_traceback_is_there_for_who_asks(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ArithmeticError("odd")

    monkeypatch.setattr("liftlock.cli.audit.audit", fail)
    monkeypatch.setenv("LIFTLOCK_TRACEBACK", "1")
    files = {"c.csv": CHANNEL, "p.csv": PRIOR}
    outcome = run("audit", "c.csv", "--prior", "p.csv", files=files)
    assert outcome.code == 2
    assert outcome.err.startswith("Traceback (most recent call last)")
    assert "liftlock: internal error, ArithmeticError: odd" in outcome.err
