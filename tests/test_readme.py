"""The README cannot lie: its examples are run as they stand."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from liftlock.cli import main

README = Path(__file__).parent.parent / "README.md"


def blocks(kind: str) -> list[tuple[str, str]]:
    """Return (title, text) of every fenced block of a kind."""
    pattern = rf"```{kind}(?: title=\"([^\"]+)\")?\n(.*?)```"
    return re.findall(pattern, README.read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.fixture
def example_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for title, text in blocks("csv"):
        (tmp_path / title).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_python_examples_run_and_are_short(example_folder: Path) -> None:
    (_, first), (_, answers), (_, numbers), (_, profiles) = blocks("python")
    assert len([line for line in first.splitlines() if line.strip()]) <= 10
    done = subprocess.run(
        [sys.executable, "-c", first + answers + numbers + profiles],
        cwd=example_folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("CERTIFIED: lip(epsilon=1)")
    assert 'the belief in "flu" can rise from 10 %' in done.stdout
    assert "histogram of 1,000 reports, by " in done.stdout
    assert re.fullmatch(r"\['(idle|busy)', '(idle|busy)'\]", done.stdout.splitlines()[-1])
    released = json.loads(done.stdout.splitlines()[-2])
    assert len(released) == 2
    assert all(0 < number < 300_000 for number in released)
    assert (example_folder / "mechanism.json").is_file()


@pytest.mark.usefixtures("example_folder")
def test_every_command_of_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    commands = [
        line.removeprefix("$ liftlock ").split()
        for _, text in blocks("console")
        for line in text.splitlines()
    ]
    assert len(commands) == 9
    for command in commands:
        assert main(command) == 0
    assert 'Seeing "flu", the belief in "flu" can rise from 10 % to 25 %' in capsys.readouterr().out


def test_the_two_commands_of_the_set_up_exist() -> None:
    ((_, text),) = [block for block in blocks("sh") if "make demo" in block[1]]
    targets = re.findall(r"^make (\w+)", text, flags=re.MULTILINE)
    makefile = (README.parent / "Makefile").read_text(encoding="utf-8")
    assert targets == ["demo", "test"]
    for target in targets:
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE)


def test_what_is_installed_with_apt_is_said_before_the_command() -> None:
    text = README.read_text(encoding="utf-8")
    before = " ".join(text[text.index("## Set up") : text.index("make demo")].split())
    system = (README.parent / "requirements" / "system").read_text(encoding="utf-8")
    packages = re.findall(r"printf '(\S+) '", system)
    assert packages == ["chromium", "default-jre-headless", "postgresql"]
    assert "as root on Debian: it installs chromium, Java and PostgreSQL with apt" in before
    assert "these tests are skipped" in before
