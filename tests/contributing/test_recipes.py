"""Each recipe of CONTRIBUTING.md is four files, and works when it is followed letter by letter."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contributing.recipes import Recipe, copy_sources, recipes, run

RECIPES = recipes()
SHOWN = {
    "notion": "hellinger_lift=BUDGET",
    "mechanism": "in which half of the symbols the value lies",
    "estimator": "consistent|clipped]",
}
"""What the commands of a recipe print of it."""


def test_there_are_four_recipes_of_four_files() -> None:
    assert list(RECIPES) == ["notion", "mechanism", "estimator", "table format"]
    for recipe in RECIPES.values():
        module, registry, page, test = recipe.files
        assert module.startswith("src/liftlock/")
        assert registry.startswith("src/liftlock/")
        assert recipe.files[registry][0] == "diff"
        assert page.startswith("docs/")
        assert test.startswith("tests/unit/")


@pytest.mark.slow
@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_works(name: str, tmp_path: Path) -> None:
    recipe, root = RECIPES[name], copy_sources(tmp_path)
    recipe.follow(root)
    printed = "\n".join(run(root, command) for command in recipe.commands)
    assert SHOWN.get(name, "passed") in printed
    assert " passed" in printed
    check_style(recipe, root)


def check_style(recipe: Recipe, root: Path) -> None:
    """Check that the code of the page has the style of the house, where the tool is at hand."""
    ruff = Path(sys.executable).with_name("ruff")
    found = str(ruff) if ruff.exists() else shutil.which("ruff")
    files = [path for path in recipe.files if path.endswith(".py")]
    if found is not None:
        for command in (["check", "-q"], ["format", "-q", "--check"]):
            done = subprocess.run(
                [found, *command, *files], cwd=root, capture_output=True, text=True
            )
            assert done.returncode == 0, done.stdout + done.stderr
