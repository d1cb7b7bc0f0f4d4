"""The wheel and the source archive, built as `make dist` builds them."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PAPERS = ROOT / "papers"


def quiet_environment() -> dict[str, str]:
    """Return the environment without what would lead Python elsewhere, or change a build."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "PIP_")) and name != "SOURCE_DATE_EPOCH"
    }


def build(
    source: Path, out: Path, *, umask: int = 0o022, seed: int = 0, only: str = "sdist,wheel"
) -> dict[str, Path]:
    """Build the wheel and the source archive: suffix -> file."""
    targets = [part for target in only.split(",") for part in ("-t", target)]
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", *targets, "-d", str(out)],
        cwd=source,
        env=quiet_environment() | {"PYTHONHASHSEED": str(seed)},
        umask=umask,
        check=True,
        capture_output=True,
    )
    built = {path.suffix: path for path in out.iterdir()}
    assert len(built) == len(only.split(","))
    return built


def needed(requirements: Iterable[str]) -> Iterator[str]:
    """Yield the names of the packages that requirements lead to, on this machine."""
    for requirement in map(Requirement, requirements):
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            assert not requirement.extras
            yield canonicalize_name(requirement.name)
            yield from needed(metadata.requires(requirement.name) or [])


def make_environment(home: Path, wheels: Iterable[Path], packages: Iterable[str]) -> Path:
    """Make an environment with these wheels and with these packages of ours: nothing else."""
    venv.create(home, with_pip=False, symlinks=True)
    pip = [sys.executable, "-m", "pip", "--python", str(home / "bin" / "python")]
    install = [*pip, "install", "-q", "--no-deps", "--no-index", *map(str, wheels)]
    subprocess.run(install, env=quiet_environment(), check=True)
    (place,) = home.glob("lib/python*/site-packages")
    for name in set(packages):
        for file in metadata.files(name) or ():
            top = file.parts[0]
            # Scripts lie outside, and what is compiled beside single modules is shared.
            if top not in ("..", "__pycache__") and not (place / top).exists():
                (place / top).symlink_to(str(metadata.distribution(name).locate_file(top)))
    return home


def run_in(
    home: Path, folder: Path, program: str, *arguments: str
) -> subprocess.CompletedProcess[str]:
    """Run a program of an environment, far from the source."""
    return subprocess.run(
        [str(home / "bin" / program), *arguments],
        cwd=folder,
        env=quiet_environment() | {"HOME": str(folder)},
        text=True,
        capture_output=True,
        check=False,
    )
