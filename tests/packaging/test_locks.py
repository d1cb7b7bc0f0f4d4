"""What is installed is what was published: lock files, licences and the bill of materials."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib import metadata
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from license_expression import get_spdx_licensing
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.packaging.distributions import ROOT, quiet_environment

LOCKS = sorted((ROOT / "requirements").glob("*.txt"))
LINE = re.compile(r"([a-z0-9-]+)==([\w.]+)((?: --hash=sha256:[0-9a-f]{64})+)")


def lines(name: str) -> list[str]:
    text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    head, *rest = text.splitlines()
    assert head == "# Written by requirements/refresh."
    return rest


def sbom(*options: str, seed: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, str(ROOT / "requirements" / "sbom"), *options],
        env=quiet_environment() | {"PYTHONHASHSEED": str(seed)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.fixture(scope="module")
def bill() -> Any:
    return json.loads(sbom())


# --- lock files ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [path.stem for path in LOCKS])
def test_every_line_is_a_version_with_hashes(name: str) -> None:
    """Nothing else is there: no address of an index, no package without hashes."""
    for line in lines(name):
        match = LINE.fullmatch(line)
        assert match, line.split()[0]
        hashes = match[3].split()
        assert hashes == sorted(set(hashes))


def test_a_package_is_the_same_in_every_file() -> None:
    first: dict[str, str] = {}
    for path in LOCKS:
        for line in lines(path.stem):
            assert first.setdefault(line.split("==")[0], line) == line, path.name


def test_hashes_are_not_those_of_one_machine() -> None:
    """Compiled packages have wheels for many systems: a lock of one machine has one hash each."""
    counted = {line.split("==")[0]: line.count("--hash=") for line in lines("runtime")}
    for name in (
        "cffi",
        "cryptography",
        "highspy",
        "llvmlite",
        "numba",
        "numpy",
        "pyarrow",
        "scipy",
    ):
        assert counted[name] >= 12, name  # 3 Pythons on 2 processors, Linux and macOS


def test_the_makefile_installs_nothing_without_hashes() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    locked = re.findall(r"\$\(LOCKED\) (.*)", makefile)
    assert len(locked) == 4
    assert "LOCKED := $(INSTALL) --require-hashes" in makefile
    # The project and the papers are folders, which have no hash.
    assert re.findall(r"\$\(INSTALL\) (.*)", makefile) == ["--require-hashes", "-e . -e papers"]
    assert len(re.findall(r"\bpip\b.* install|\$\(PIP\) install", makefile)) == 1


# --- bill of materials --------------------------------------------------------------------------


def test_the_bill_follows_the_schema_of_cyclonedx(bill: Any) -> None:
    validator = JsonStrictValidator(SchemaVersion.V1_6)
    assert validator.validate_str(json.dumps(bill)) is None
    assert validator.validate_str(json.dumps(bill | {"version": "one"})) is not None


def test_the_bill_is_the_same_each_time(bill: Any) -> None:
    assert sbom(seed=1) == sbom(seed=2) == json.dumps(bill, indent=2) + "\n"
    assert "timestamp" not in bill["metadata"]


def test_the_bill_lists_what_is_locked(bill: Any) -> None:
    locked = [line.split()[0] for line in lines("runtime")]
    assert [f"{part['name']}=={part['version']}" for part in bill["components"]] == locked


def test_the_graph_of_the_bill_reaches_everything(bill: Any) -> None:
    graph = {entry["ref"]: entry["dependsOn"] for entry in bill["dependencies"]}
    root = bill["metadata"]["component"]["bom-ref"]
    declared = {
        canonicalize_name(requirement.name)
        for requirement in map(Requirement, metadata.requires("liftlock") or [])
        if requirement.marker is None
    }
    assert {re.split("[/@]", ref)[1] for ref in graph[root]} == declared
    reached, ahead = set(), [root]
    while ahead:
        reached.add(ref := ahead.pop())
        ahead += graph[ref]
    assert reached == {part["bom-ref"] for part in bill["components"]} | {root}


# --- licences -----------------------------------------------------------------------------------


def test_every_licence_is_an_expression_of_spdx(bill: Any) -> None:
    spdx = get_spdx_licensing()
    for part in bill["components"]:
        (licence,) = part["licenses"]
        assert not spdx.validate(licence["expression"]).errors, part["name"]
    assert spdx.validate("BSD License").errors


@pytest.mark.parametrize(("name", "clauses"), [("numba", 2), ("scipy", 3)])
def test_a_licence_that_metadata_do_not_name_is_that_of_the_text(
    bill: Any, name: str, clauses: int
) -> None:
    (file,) = [
        file
        for file in metadata.files(name) or ()
        if re.search(r"dist-info/(licenses/)?LICENSE(\.txt)?$", str(file))
    ]
    own = " ".join(file.read_text().split("\n----\n")[0].split())
    assert "Redistributions in binary form must reproduce the above copyright notice" in own
    assert ("Neither the name" in own) == (clauses == 3)
    (part,) = [part for part in bill["components"] if part["name"] == name]
    assert part["licenses"][0]["expression"] == f"BSD-{clauses}-Clause"


def test_the_page_lists_the_licences() -> None:
    page = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
    assert sbom("--licences") in page
