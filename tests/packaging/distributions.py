"""The wheel and the source archive, built as `make dist` builds them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def quiet_environment() -> dict[str, str]:
    """Return the environment without what would lead Python elsewhere, or change a build."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "PIP_")) and name != "SOURCE_DATE_EPOCH"
    }


def build(source: Path, out: Path, *, umask: int = 0o022, seed: int = 0) -> dict[str, Path]:
    """Build the wheel and the source archive: suffix -> file."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(out)],
        cwd=source,
        env=quiet_environment() | {"PYTHONHASHSEED": str(seed)},
        umask=umask,
        check=True,
        capture_output=True,
    )
    built = {path.suffix: path for path in out.iterdir()}
    assert sorted(built) == [".gz", ".whl"]
    return built
