"""What is loaded when: heavy libraries come only with the work that needs them."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import liftlock as ll
from liftlock.errors import EXTRAS, importable
from tests.house.rooms import ROOT, modules

HEAVY = (
    *(
        "numba",
        "llvmlite",
        "highspy",
        "scipy",
        "matplotlib",
        "networkx",
        "sklearn",
        "pyarrow",
        "narwhals",
    ),
    *("jinja2", "pandas", "polars", "pyspark", "threadpoolctl"),
    *("msgspec", "prometheus_client", "psycopg", "starlette", "uvicorn", "yaml"),
)
STORED = ROOT / "tests" / "compatibility" / "files"
CLOSED_FORM = """
import liftlock as ll
prior = ll.Prior.from_counts({"a": 1, "b": 3})
table = ll.design(prior, ll.LIP("1"), method="safe-response").table
assert ll.LIP("1").certify(table, prior).holds
"""
LOADED_PROVED_SAMPLED_COUNTED = f"""
import liftlock as ll
from pathlib import Path
for path in sorted(Path({str(STORED)!r}).glob("*mechanism-*.json")):
    ll.Mechanism.load(path)  # which proves its certificate again
mechanism = ll.Mechanism.load({str(STORED / "mechanism-prior-lip.json")!r})
assert mechanism.audit().worst_case() is not None
reports = mechanism.release(mechanism.channel.inputs.labels * 100)
for seed in range(20):
    reports = mechanism.simulate(mechanism.channel.inputs.labels * 100, seed=seed)
    counts = ll.Aggregate.of(mechanism.channel, reports)
    found = mechanism.estimate(counts, method="unbiased", interval="normal")
    assert found.method == "unbiased"
"""


def loaded(code: str) -> set[str]:
    """Run some code in a new Python, and return the libraries that it has loaded."""
    ask = f"{code}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", ask], capture_output=True, text=True, check=True, timeout=120
    )
    return set(done.stdout.splitlines()[-1].split()) - set(sys.stdlib_module_names) - {"__main__"}


def of_command(*arguments: str) -> str:
    return f"from liftlock.cli import main\nmain({list(arguments)!r})"


@pytest.mark.parametrize(
    ("code", "more"),
    [
        ("import liftlock", set()),
        ("import liftlock as ll\nll.InputError, dir(ll)", set()),
        (of_command("--help"), {"click"}),
        (of_command("--version"), {"click"}),
    ],
    ids=["package", "errors", "help", "version"],
)
def test_nothing_is_loaded_but_what_is_used(code: str, more: set[str]) -> None:
    before = loaded("")
    assert loaded(code) - before == {"liftlock"} | more


@pytest.mark.parametrize(
    "code",
    [
        *(of_command(name, "--help") for name in ("audit", "design", "protect", "papers")),
        CLOSED_FORM,
        LOADED_PROVED_SAMPLED_COUNTED,
    ],
    ids=["audit", "design", "protect", "papers", "closed form", "loaded to counted"],
)
def test_light(code: str) -> None:
    assert loaded(code) & set(HEAVY) == set()


def test_heavy_libraries_are_seen() -> None:
    assert loaded("import scipy, highspy") >= {"scipy", "highspy"}


# --- names that are imported when they are used -------------------------------------------------


def test_a_type_checker_sees_the_names_of_the_table() -> None:
    """Under TYPE_CHECKING stand the same imports as in the table of names."""
    source = Path(ll.__file__).read_text(encoding="utf-8")
    guard = next(node for node in ast.parse(source).body if isinstance(node, ast.If))
    seen = {
        alias.name: node.module
        for node in guard.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert set(seen) | {"__version__"} == set(ll.__all__)
    rooms = {name for name, module in seen.items() if module == "liftlock"} | {"continuous"}
    assert rooms == {"continuous", "designs", "notions", "probe", "utility"}
    table = vars(ll)["_HOMES"]
    assert {name: seen[name] for name in set(seen) - rooms} == table


def test_a_function_is_not_replaced_by_the_package_of_its_name() -> None:
    code = """
import liftlock.transfer, liftlock.exact.integers, liftlock as ll
from liftlock import *
assert ll.transfer is transfer is not None and callable(transfer), transfer
assert str(ll.exact("0.7")) == "7/10"
assert ll.files.read_prior is ll.read_prior
assert set(ll.__all__) <= set(dir(ll))
assert not hasattr(ll, "nothing")
"""
    assert "liftlock" in loaded(code)


def test_a_prior_on_a_grid_is_read_by_whoever_reads_first() -> None:
    """Kinds of contexts that a room of its own adds are known though nobody imported the room."""
    code = f"import liftlock as ll\nll.read_prior({str(STORED / 'grid.json')!r})"
    assert "liftlock" in loaded(code)


# --- extras ---------------------------------------------------------------------------------------


def declared() -> tuple[set[str], dict[str, set[str]]]:
    """Return the requirements of the project, and those of each of its extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {name: set(listed) for name, listed in project["optional-dependencies"].items()}
    return set(project["dependencies"]), extras


def names(requirements: set[str]) -> set[str]:
    """Return the libraries that are for every system; what others lack is done without."""
    requirements = {each for each in requirements if ";" not in each}
    return {re.split(r"[^\w.-]", requirement)[0] for requirement in requirements}


def test_the_message_names_what_the_extra_brings() -> None:
    _, extras = declared()
    assert set(EXTRAS) | {"core", "test", "lint", "docs", "bench"} == set(extras)
    for name, (_, *libraries) in EXTRAS.items():
        assert set(libraries) == names(extras[name]), name


def test_the_page_lists_the_extras() -> None:
    page = (ROOT / "docs" / "howto" / "light-installation.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", page, re.MULTILINE))
    _, extras = declared()
    assert {name: set(listed.split(", ")) for name, listed in rows.items()} == {
        name: names(extras[name]) for name in ("core", *EXTRAS)
    }


def test_what_is_installed_anyway_is_the_layers_of_the_main_job() -> None:
    needed, extras = declared()
    main = ("core", "compiled", "solver", "statistics", "tables", "report")
    assert needed == set().union(*(extras[name] for name in main))
    for requirement in set().union(*(extras[name] for name in EXTRAS)) - needed:
        assert not names({requirement}) & names(needed), f"{requirement} has another bound"


DOORS = {
    "collect/server": "httptools jinja2 markupsafe msgspec prometheus_client starlette uvicorn",
    "tables": "pyarrow",
    "spark": "pyarrow pyspark",
    "_solver/kernels": "numba",
}
"""Packages whose door answers for a library, wherever in them it is imported."""
BROUGHT = {"pandas", "polars"}
"""What a caller's own frame brings along."""


def unanswered(name: str, source: str) -> list[str]:
    """Return the imports of libraries of an extra that nobody answers for if they are missing."""
    libraries = {importable(library) for _, *listed in EXTRAS.values() for library in listed}
    libraries -= BROUGHT | {
        library
        for room, answered in DOORS.items()
        if name.startswith(f"{room}/")
        for library in answered.split()
    }
    if name.startswith("report/"):
        # Whoever draws has a `picture`, and pages are made behind the door of `report/html`.
        libraries -= {"matplotlib"} if name != "report/pictures" else set()
        libraries -= {"jinja2", "markupsafe"} if name.startswith("report/html/") else set()
    found = []

    def visit(node: ast.AST, answered: frozenset[str]) -> None:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            return
        if isinstance(node, ast.With):
            for item in node.items:
                if re.fullmatch(r"extra\('\w+'\)", text := ast.unparse(item.context_expr)):
                    answered |= set(map(importable, EXTRAS[text[7:-2]][1:]))
        taken = set()
        if isinstance(node, ast.Import):
            taken = {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            taken = {str(node.module).partition(".")[0]}
        for library in sorted(taken & libraries - answered):
            found.append(f"{name}, line {node.lineno}: {library}")  # type: ignore[attr-defined]
        for child in ast.iter_child_nodes(node):
            visit(child, answered)

    visit(ast.parse(source), frozenset())
    return found


def test_every_import_of_a_library_of_an_extra_is_answered_for() -> None:
    found = [
        line
        for name, path in modules().items()
        for line in unanswered(name, path.read_text(encoding="utf-8"))
    ]
    assert found == []
    for room, answered in DOORS.items():
        door = modules()[f"{room}/__init__"].read_text(encoding="utf-8")
        for library in answered.split():
            assert re.search(rf"^with extra\(.*\n(    .*\n)*    import {library}\b", door, re.M)
    toy = 'import scipy\nwith extra("plot"):\n    import numba\n    import matplotlib\n'
    assert unanswered("toy", toy) == ["toy, line 1: scipy", "toy, line 3: numba"]
