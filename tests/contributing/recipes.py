"""The recipes of CONTRIBUTING.md: their files, and the commands that try them.

A block with ``title="path"`` is a file to write; a ``diff`` block adds lines to one, below the
line that stands above them. What comes before ``@@`` and what follows are different places.

    python -m tests.contributing.recipes FOLDER     # copy the sources there, and follow all recipes
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "CONTRIBUTING.md"
COPIED = (
    *("src", "tests", "docs", "pyproject.toml", "mkdocs.yml", "Makefile"),
    *("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE"),
)
_PARTS = re.compile(
    r"^## (?P<heading>[^\n]*)$"
    r"|^(?P<fence>```|~~~~)(?P<language>\w+)(?: title=\"(?P<path>[^\"]+)\")?\n"
    r"(?P<text>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)
"""A heading, or a block, which may hold headings and blocks of its own."""


@dataclass(frozen=True)
class Recipe:
    """What one section says: files to write or to change, and commands to run."""

    name: str
    files: dict[str, tuple[str, str]]
    """By path: the language of the block, and its text."""
    commands: list[str]

    def follow(self, root: Path) -> None:
        """Write and change the files in a copy of the sources."""
        for path, (language, text) in self.files.items():
            place = root / path
            if language == "diff":
                place.write_text(changed(place.read_text(encoding="utf-8"), text), encoding="utf-8")
            else:
                assert not place.exists(), f"{path} is there already"
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(text, encoding="utf-8")


def recipes() -> dict[str, Recipe]:
    """Read the page; a recipe is a section called "Add ..."."""
    found: dict[str, Recipe] = {}
    name = ""
    for part in _PARTS.finditer(PAGE.read_text(encoding="utf-8")):
        if part["fence"] is None:
            adds = re.fullmatch(r"Add an? (.*)", part["heading"])
            name = adds[1] if adds else ""
            if name:
                found[name] = Recipe(name, {}, [])
        elif name and part["path"]:
            found[name].files[part["path"]] = (part["language"], part["text"])
        elif name and part["language"] == "sh":
            found[name].commands.extend(part["text"].splitlines())
    return found


def changed(text: str, diff: str) -> str:
    """Add the lines of a diff below those that stand above them, which occur once.

    >>> changed("a\\nb\\nc\\n", " b\\n+new\\n")
    'a\\nb\\nnew\\nc\\n'
    """
    lines = text.splitlines()
    for hunk in diff.split("@@\n"):
        above, *added = hunk.splitlines()
        assert above.startswith(" ")
        assert added
        assert all(line.startswith("+") for line in added)
        (place,) = [at for at, line in enumerate(lines) if line == above[1:]]
        lines[place + 1 : place + 1] = [line[1:] for line in added]
    return "\n".join(lines) + "\n"


def copy_sources(folder: Path) -> Path:
    """Copy what the tests need; with what is compiled, which is valid there as well."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, symlinks=True)
        else:
            shutil.copy2(source, folder / name)
    return folder


def run(root: Path, command: str, *paths: Path) -> str:
    """Run a command of the page in a copy of the sources, which it imports."""
    words = shlex.split(command)
    if words[0] == "liftlock":
        words = [sys.executable, "-m", "liftlock", *words[1:]]
    elif words[0].endswith("python"):
        words = [sys.executable, *words[1:], "-q", "-p", "no:logging", "-p", "no:cacheprovider"]
    path = os.pathsep.join(map(str, (root / "src", *paths)))
    settings = os.environ | {"PYTHONPATH": path, "COLUMNS": "200"}
    settings.pop("PYTEST_ADDOPTS", None)
    done = subprocess.run(words, cwd=root, env=settings, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-2000:]}"
    return done.stdout


if __name__ == "__main__":
    goal = Path(sys.argv[1])
    goal.mkdir(parents=True, exist_ok=True)
    copy_sources(goal)
    for each in recipes().values():
        each.follow(goal)
