"""What is loaded when: heavy libraries come only with the work that needs them."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("numba", "llvmlite", "highspy", "scipy", "matplotlib", "sklearn")
CLOSED_FORM = """
import liftlock as ll
prior = ll.Prior.from_counts({"a": 1, "b": 3})
table = ll.design(prior, ll.LIP("1"), method="safe-response").table
assert ll.LIP("1").certify(table, prior).holds
"""


def loaded(code: str) -> set[str]:
    """Run some code in a new Python, and return the heavy libraries that it has loaded."""
    ask = f"import sys\n{code}\nprint(*[name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", ask], capture_output=True, text=True, check=True, timeout=120
    )
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "code",
    [
        "import liftlock",
        "import liftlock.cli",
        CLOSED_FORM,
    ],
    ids=["package", "command line", "closed form"],
)
def test_light(code: str) -> None:
    assert loaded(code) == set()


def test_heavy_libraries_are_seen() -> None:
    assert loaded("import scipy, highspy") == {"scipy", "highspy"}
