"""The wheel works where there is nothing but what it says it needs."""

from __future__ import annotations

import ast
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.packaging.distributions import (
    PAPERS,
    ROOT,
    build,
    make_environment,
    needed,
    run_in,
)

Run = Callable[..., "subprocess.CompletedProcess[str]"]

BROUGHT = {"polars"}
"""What a caller's own object brings along: a frame of Polars is never made here."""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel, and with what its metadata lead to: nothing else."""
    folder = tmp_path_factory.mktemp("wheel")
    wheel = build(ROOT, folder / "dist", only="wheel")[".whl"]
    (own,) = metadata.distributions(path=[str(wheel)])
    return make_environment(folder / "environment", [wheel], needed(own.requires or []))


@pytest.fixture
def run(environment: Path, tmp_path: Path) -> Run:
    return partial(run_in, environment, tmp_path)


def test_there_is_nothing_else(run: Run) -> None:
    code = "from importlib.metadata import *\nprint(*{d.name.lower() for d in distributions()})"
    there = {canonicalize_name(name) for name in run("python", "-c", code).stdout.split()}
    locked = (ROOT / "requirements" / "runtime.txt").read_text(encoding="utf-8").splitlines()
    assert there == {line.split("==")[0] for line in locked if "==" in line} | {"liftlock"}


@pytest.mark.parametrize("source", [ROOT, PAPERS], ids=["liftlock", "papers"])
def test_every_import_is_declared(source: Path, tmp_path: Path) -> None:
    """Imports in functions count as well; what comes only with another package does not."""
    wheel = build(source, tmp_path / "dist", only="wheel")[".whl"]
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "unpacked")
    (own,) = metadata.distributions(path=[str(tmp_path / "unpacked")])
    wanted = [Requirement(text) for text in own.requires or []]
    declared = {
        canonicalize_name(r.name)
        for r in wanted
        if r.marker is None
        or any(r.marker.evaluate({"extra": extra}) for extra in ("plot", "fit", "spark", "collect"))
    }
    found: dict[str, str] = {}
    for path in (tmp_path / "unpacked").rglob("*.py"):
        found |= dict.fromkeys(imported(path), path.name)
    assert {"numpy", "scipy"} <= found.keys()
    assert ("liftlock_papers" in found) == (source == PAPERS)
    distributions = metadata.packages_distributions()
    for name in found.keys() - sys.stdlib_module_names - {own.name.replace("-", "_")}:
        providers = {canonicalize_name(provider) for provider in distributions.get(name, [name])}
        assert providers & (declared | BROUGHT), f"{found[name]} imports {name}"


def imported(path: Path) -> Iterator[str]:
    """Yield the packages that a module imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def test_pages_and_tables_of_the_service_come_along(tmp_path: Path) -> None:
    """Templates, scripts and migrations are no modules, and are needed all the same."""
    wheel = build(ROOT, tmp_path / "dist", only="wheel")[".whl"]
    room = ROOT / "src" / "liftlock" / "collect"
    with zipfile.ZipFile(wheel) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    for pattern in ("server/templates/*.html", "server/static/*.*", "store/migrations/*/*.sql"):
        found = sorted(room.glob(pattern))
        assert found, pattern
        for path in found:
            assert content[path.relative_to(ROOT / "src").as_posix()] == path.read_bytes()


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


def test_the_papers_are_a_distribution_of_their_own(
    environment: Path, run: Run, tmp_path: Path
) -> None:
    alone = run("liftlock", "papers", "list")
    assert (alone.returncode, alone.stdout) == (2, "")
    own = "liftlock: liftlock papers is a distribution of its own; pip install liftlock-papers\n"
    assert alone.stderr == own
    assert "papers" not in run("liftlock", "--help").stdout.partition("Commands:")[2]

    wheel = build(PAPERS, tmp_path / "dist", only="wheel")[".whl"]
    with zipfile.ZipFile(wheel) as archive:
        (licence,) = [name for name in archive.namelist() if name.endswith("/LICENSE")]
        assert archive.read(licence) == (ROOT / "LICENSE").read_bytes()
        archive.extractall(tmp_path / "papers")
    (first,) = environment.glob("lib/python*/site-packages")
    code = f"import sys; sys.path.append({str(tmp_path / 'papers')!r})\n"
    code += "from liftlock.cli import main\nsys.exit(main(sys.argv[1:]))"
    there = run("python", "-c", code, "papers", "list")
    assert there.returncode == 0, there.stderr
    assert "002-fig4" in there.stdout
    assert not list(first.glob("liftlock_papers*"))
