"""The same source gives the same wheel and the same source archive, byte for byte."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import tarfile
from pathlib import Path

import pytest

from tests.packaging.distributions import ROOT, build

LEFT_BEHIND = (
    ".venv/pyvenv.cfg",
    ".cache/site/index.html",
    ".mypy_cache/cache.json",
    "dist/liftlock-0.0.1-py3-none-any.whl",
    "papers/figures/drawn.png",
    "papers/liftlock_papers/__pycache__/here.cpython-311.pyc",
    "src/liftlock/__pycache__/here.cpython-311.pyc",
    "src/liftlock.egg-info/PKG-INFO",
    "tests/__pycache__/kernel.py311.1.nbc",
)
"""What work leaves behind in a checkout."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return build(ROOT, tmp_path_factory.mktemp("built"))


def test_twice_the_same_bytes(built: dict[str, Path], tmp_path: Path) -> None:
    """Built again from the archive: elsewhere, later, with other rights, after some work."""
    subprocess.run(["tar", "-xzf", str(built[".gz"])], cwd=tmp_path, check=True)
    (source,) = tmp_path.iterdir()
    for number, path in enumerate(sorted(source.rglob("*"))):
        if path.is_file():
            path.chmod(0o700 if os.access(path, os.X_OK) else 0o600)
            os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
    for name in LEFT_BEHIND:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text("of this machine")
    again = build(source, tmp_path / "again", umask=0o077, seed=1)
    for suffix, path in built.items():
        assert path.name == again[suffix].name
        assert digest(path) == digest(again[suffix]), suffix
    (papers,) = build(ROOT / "papers", tmp_path / "papers", only="wheel").values()
    (too,) = build(
        source / "papers", tmp_path / "papers too", umask=0o077, seed=1, only="wheel"
    ).values()
    assert (papers.name, digest(papers)) == (too.name, digest(too))


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_archive_is_complete_and_of_no_machine(built: dict[str, Path]) -> None:
    with tarfile.open(built[".gz"]) as archive:
        members = {member.name.partition("/")[2]: archive.extractfile(member) for member in archive}
        content = {name: file.read() for name, file in members.items() if file}
        owners = {(member.uid, member.gid, member.uname, member.gname) for member in archive}
    assert owners == {(0, 0, "", "")}
    for name in (
        "LICENSE",
        "SECURITY.md",
        "CONTRIBUTING.md",
        "Containerfile",
        ".containerignore",
        "Makefile",
        "papers/LICENSE",
        "papers/pyproject.toml",
        "requirements/runtime.txt",
        "src/liftlock/py.typed",
    ):
        assert content[name] == (ROOT / name).read_bytes()
    assert not [name for name in content if re.search(r"__pycache__|\.py[co]$|\.nb[ci]$", name)]
