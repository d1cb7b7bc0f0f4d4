"""A command line in a folder of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from liftlock.cli import main

CHANNEL = "input,a,b\nx,0.5,0.5\ny,0.25,0.75\n"
PRIOR = "label,count\nx,1\ny,3\n"


@dataclass(frozen=True)
class Outcome:
    """What a command did."""

    code: int
    out: str
    err: str
    made: frozenset[str]
    """The files that were not there before."""


Run = Callable[..., Outcome]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run liftlock on files given by name and content (text, or bytes)."""
    monkeypatch.chdir(tmp_path)
    # Rich asks these; the tests should not depend on who runs them.
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str, files: Mapping[str, str | bytes] | None = None) -> Outcome:
        for name, content in (files or {}).items():
            raw = content.encode() if isinstance(content, str) else content
            Path(name).write_bytes(raw)
        before = set(_names(tmp_path))
        capsys.readouterr()
        code = main(list(arguments))
        captured = capsys.readouterr()
        made = frozenset(set(_names(tmp_path)) - before)
        return Outcome(code, captured.out, captured.err, made)

    return run


def _names(folder: Path) -> list[str]:
    return [str(path.relative_to(folder)) for path in folder.rglob("*")]


@pytest.fixture
def audited(run: Run) -> Run:
    """Audit a channel under a prior; both may be replaced, and arguments added."""

    def audited(
        *arguments: str,
        channel: str | bytes = CHANNEL,
        context: str | bytes = PRIOR,
        option: str = "--prior",
        channel_name: str = "channel.csv",
        context_name: str = "context.csv",
    ) -> Outcome:
        files = {channel_name: channel, context_name: context}
        return run("audit", channel_name, option, context_name, *arguments, files=files)

    return audited
