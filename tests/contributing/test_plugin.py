"""A package outside of the sources adds one of each kind, and all that is said of these holds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.contributing import plugin_journey
from tests.contributing.recipes import ROOT, recipes, run

PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "liftlock-toys"
version = "0.1"

[project.entry-points."liftlock.notions"]
hellinger_lift = "liftlock_toys.hellinger_lift:HellingerLift"

[project.entry-points."liftlock.designs"]
half_response = "liftlock_toys.half_response:DESIGN"
broken = "liftlock_toys.nowhere:DESIGN"

[project.entry-points."liftlock.utilities"]
gini = "liftlock_toys.gini:ENTRY"

[project.entry-points."liftlock.estimators"]
clipped = "liftlock_toys.clipped:Clipped"

[project.entry-points."liftlock.accountants"]
double = "liftlock_toys.double:DOUBLE"

[project.entry-points."liftlock.formats"]
orc = "liftlock_toys.orc:ORC"
"""

GINI = '''"""The Gini impurity of the posterior."""

from dataclasses import dataclass

import numpy as np

from liftlock.utility import Utility, UtilityKind


@dataclass(frozen=True)
class Gini(Utility):
    """1 - sum of v^2: a utility of four lines."""

    name = "gini"
    title = "Gini impurity"

    def costs(self, posteriors):
        return 1.0 - np.square(posteriors).sum(axis=-1)

    def slopes(self, posteriors):
        return -2.0 * np.asarray(posteriors)


ENTRY = UtilityKind("gini", lambda inputs: Gini(), "how mixed the posterior is")
'''

DOUBLE = '''"""Twice the sum of the levels of LDP: true, and never the least."""

from liftlock.accounting.accountants import LdpSumAccountant
from liftlock.notions.measurement import Measurement


class DoubleLdpSum(LdpSumAccountant):
    """The bound of `LdpSumAccountant`, squared."""

    name = "double-ldp-sum"
    formula = "twice the sum"
    source = "nowhere"

    def bound(self, releases, context):
        found = super().bound(releases, context)
        squares = {name: each.ratio and each.ratio**2 for name, each in found.measurements.items()}
        return self.loss({n: Measurement.of_ratio(n, ratio, None) for n, ratio in squares.items()})


DOUBLE = DoubleLdpSum()
'''


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Build the package, and install it into a folder; return that, and the folder of its tests."""
    folder = tmp_path_factory.mktemp("plugin")
    package, tests, site = folder / "liftlock_toys", folder / "tests", folder / "site"
    package.mkdir()
    tests.mkdir()
    (folder / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    (package / "__init__.py").write_text('"""One of each kind."""\n', encoding="utf-8")
    (package / "gini.py").write_text(GINI, encoding="utf-8")
    (package / "double.py").write_text(DOUBLE, encoding="utf-8")
    for recipe in recipes().values():
        module, *_, test = recipe.files
        (package / Path(module).name).write_text(recipe.files[module][1], encoding="utf-8")
        (tests / Path(test).name).write_text(recipe.files[test][1], encoding="utf-8")
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation"),
            *("--no-index", "--disable-pip-version-check", "--target", site, folder),
        ],
        check=True,
        capture_output=True,
    )
    return site, tests


def test_every_command_and_verb_knows_it(
    installed: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site, _ = installed
    monkeypatch.setenv("PYTHONPATH", f"{ROOT / 'src'}:{ROOT}:{site}")
    journey = [sys.executable, plugin_journey.__file__]
    done = subprocess.run(journey, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert done.stdout.endswith("all of it works\n")


@pytest.mark.slow
def test_it_goes_through_the_contracts(installed: tuple[Path, Path]) -> None:
    few = "hellinger or clipped or orc or gini or double or (half and (prior or file))"
    suites = "notions witnesses designs shapes estimators intervals accountants formats"
    files = " ".join(f"tests/contracts/test_{suite}.py" for suite in suites.split())
    quiet = "-W ignore::liftlock._runtime.registry.PluginWarning"
    printed = run(ROOT, f"python -m pytest {files} -k '{few}' {quiet}", *installed)
    passed = int(printed.rpartition(" passed")[0].split()[-1])
    assert passed > 150, printed
