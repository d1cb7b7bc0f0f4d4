"""The wheel works where there is nothing but what it says it needs."""

from __future__ import annotations

import ast
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.packaging.distributions import ROOT, build, quiet_environment

Run = Callable[..., "subprocess.CompletedProcess[str]"]

BROUGHT = {"polars"}
"""What a caller's own object brings along: a frame of Polars is never made here."""


def needed(requirements: list[str]) -> Iterator[str]:
    """Yield the names of the packages that requirements lead to, on this machine."""
    for requirement in map(Requirement, requirements):
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            assert not requirement.extras
            yield canonicalize_name(requirement.name)
            yield from needed(metadata.requires(requirement.name) or [])


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel, and with what its metadata lead to: nothing else."""
    folder = tmp_path_factory.mktemp("wheel")
    wheel = build(ROOT, folder / "dist")[".whl"]
    home = folder / "environment"
    venv.create(home, with_pip=False, symlinks=True)
    pip = [sys.executable, "-m", "pip", "--python", str(home / "bin" / "python")]
    install = [*pip, "install", "-q", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(install, env=quiet_environment(), check=True)
    (packages,) = home.glob("lib/python*/site-packages")
    (own,) = metadata.distributions(path=[str(packages)])
    for name in set(needed(own.requires or [])):
        for file in metadata.files(name) or ():
            top = file.parts[0]
            # Scripts lie outside, and what is compiled beside single modules is shared.
            if top not in ("..", "__pycache__") and not (packages / top).exists():
                (packages / top).symlink_to(str(metadata.distribution(name).locate_file(top)))
    return home


@pytest.fixture
def run(environment: Path, tmp_path: Path) -> Run:
    """Run a program of the environment, far from the source."""

    def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(environment / "bin" / program), *arguments],
            cwd=tmp_path,
            env=quiet_environment() | {"HOME": str(tmp_path)},
            text=True,
            capture_output=True,
            check=False,
        )

    return run


def test_there_is_nothing_else(run: Run) -> None:
    code = "from importlib.metadata import *\nprint(*{d.name.lower() for d in distributions()})"
    there = {canonicalize_name(name) for name in run("python", "-c", code).stdout.split()}
    locked = (ROOT / "requirements" / "runtime.txt").read_text(encoding="utf-8").splitlines()
    assert there == {line.split("==")[0] for line in locked if "==" in line} | {"liftlock"}


def test_every_import_is_declared(environment: Path) -> None:
    """Imports in functions count as well; what comes only with another package does not."""
    (packages,) = environment.glob("lib/python*/site-packages")
    (own,) = metadata.distributions(name="liftlock", path=[str(packages)])
    wanted = [Requirement(text) for text in own.requires or []]
    at_run_time = {canonicalize_name(r.name) for r in wanted if r.marker is None}
    with_extra = {
        canonicalize_name(r.name)
        for r in wanted
        if any(r.marker and r.marker.evaluate({"extra": e}) for e in ("plot", "fit", "spark"))
    }
    found: dict[str, str] = {}
    for file in own.files or ():
        if file.suffix == ".py":
            found |= dict.fromkeys(imported(packages / file), str(file))
    assert {"numpy", "pyarrow", "pyspark"} <= found.keys()
    distributions = metadata.packages_distributions()
    for name in found.keys() - sys.stdlib_module_names - {"liftlock", "liftlock_papers"}:
        providers = {canonicalize_name(provider) for provider in distributions[name]}
        assert providers & (at_run_time | with_extra | BROUGHT), f"{found[name]} imports {name}"


def imported(path: Path) -> Iterator[str]:
    """Yield the packages that a module imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def test_the_command_designs_and_audits(run: Run, tmp_path: Path) -> None:
    version = run("liftlock", "--version")
    assert version.stdout.split()[-1] == metadata.version("liftlock")
    (tmp_path / "prior.csv").write_text("label,count\nnone,700\ncold,200\nflu,100\n")
    (tmp_path / "channel.csv").write_text(
        "input,none,cold,flu\nnone,0.8,0.15,0.05\ncold,0.6,0.35,0.05\nflu,0.6,0.25,0.15\n"
    )
    prior = ("--prior", "prior.csv")
    designed = run(
        "liftlock", "design", *prior, "--epsilon", "1", "--utility", "histogram", "-o", "made.json"
    )
    assert designed.returncode == 0, designed.stderr
    assert "CERTIFIED: lip(epsilon=1)" in designed.stdout
    assert (tmp_path / "made.json").is_file()
    for budget, status in (("1", 0), ("0.1", 1)):
        audited = run("liftlock", "audit", "channel.csv", *prior, "--check", f"lip={budget}")
        assert audited.returncode == status, audited.stderr
