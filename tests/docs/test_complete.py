"""Everything there is has its place in the documentation, and every place exists."""

from __future__ import annotations

import importlib
import json
import re
import runpy
from itertools import chain
from pathlib import Path
from typing import Any

import click
import pytest

import liftlock
import liftlock.notions
from docs.hooks import designs as designs_hook
from docs.hooks import measures as measures_hook
from docs.hooks import notions as notions_hook
from docs.hooks import relations as relations_hook
from docs.hooks import vectors as vectors_hook
from liftlock import continuous, errors
from liftlock._solver.reductions import REDUCTIONS
from liftlock._solver.strategies import STRATEGIES
from liftlock.cli.main import group
from liftlock.designs import DESIGNS, designs_for
from liftlock.notions import REGISTRY, audit
from liftlock.notions.rules import RULES
from liftlock.utility import REGISTRY as UTILITIES
from tests.docs.pages import DOCS, EXAMPLES, ROOT, blocks, pages

# By name: for a type checker docs.pictures is the folder of that name.
pictures: Any = importlib.import_module("docs.pictures")

NOTIONS = DOCS / "notions"
PAGES = sorted(
    {kind.page for kind in REGISTRY.values()} | {"bounded_prior", "e_divergence", "lift"}
)
"""The pages of notions, and of what they are made from."""
WRITTEN = {page: page.read_text(encoding="utf-8") for page in pages()}
OVERVIEW = WRITTEN[NOTIONS / "overview.md"].replace(notions_hook.MARK, notions_hook.table())


def navigation() -> list[str]:
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    nav = settings[settings.index("\nnav:\n") :].split("\n\n")[0]
    written = re.findall(r"^ +- .*: (\S+\.md)$", nav, re.MULTILINE)
    made = [*notions_hook.navigation(), *chain(*designs_hook.navigation(settings).values())]
    return [*written, *(page for item in made for page in item.values())]


# --- notions ------------------------------------------------------------------------------------


def test_there_are_notions() -> None:
    assert {"lip", "alip", "ldp", "breach", "crowd_mass"} <= set(PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_notion_has_a_page(name: str) -> None:
    text = WRITTEN[NOTIONS / f"{name}.md"]
    for heading in ("## Formula", "## Example", "## What it does not say"):
        assert heading in text, heading
    assert re.search(r"^## What it (protects against|measures)$", text, re.MULTILINE)
    assert "| Sources |" in text
    assert f"({name}.md)" in OVERVIEW


@pytest.mark.parametrize("name", [*PAGES, "relations"])
def test_notion_has_a_unit_test(name: str) -> None:
    assert (ROOT / "tests" / "unit" / "notions" / f"test_{name}.py").is_file()


def test_every_page_of_a_notion_is_one() -> None:
    found = {path.stem for path in NOTIONS.glob("*.md")}
    assert found == {*PAGES, "overview", "relations"}


@pytest.mark.parametrize("key", REGISTRY)
def test_guarantee_is_documented(key: str) -> None:
    written = f"`{key}={','.join(name.upper() for name in REGISTRY[key].parameters)}`"
    places = [page for page in NOTIONS.glob("*.md") if written in WRITTEN[page]]
    assert places, written
    (row,) = [row for row in notions_hook.rows(REGISTRY[key].page) if key in row["written"]]
    assert f"| [{row['name']}]({REGISTRY[key].page}.md) |" in OVERVIEW
    assert f"`{key}`" in OVERVIEW


def test_names_in_the_short_tables_exist() -> None:
    """`liftlock.notions.LIP.measure(...)` in a table is something that can be called."""
    for page in NOTIONS.glob("*.md"):
        for name in re.findall(r"`(liftlock\.[a-zA-Z0-9_.]+)", WRITTEN[page]):
            parts = name.split(".")
            depth = next(
                d for d in range(len(parts), 0, -1) if _module(".".join(parts[:d])) is not None
            )
            found = _module(".".join(parts[:depth]))
            for part in parts[depth:]:
                found = getattr(found, part)


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


# --- relations ----------------------------------------------------------------------------------


def test_every_rule_is_in_the_table() -> None:
    table = relations_hook.table()
    assert table.count("\n") == len(RULES) + 1
    assert relations_hook.MARK in WRITTEN[NOTIONS / "relations.md"]
    for rule in RULES:
        assert (NOTIONS / f"{REGISTRY[rule.gives].page}.md").is_file()
        assert relations_hook.link(rule.gives) in table


def test_the_diagram_is_drawn_from_the_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "FOLDER", tmp_path)
    for theme in (pictures.LIGHT, pictures.DARK):
        pictures.draw_relations(theme)
        name = f"relations-{theme.name}.svg"
        stored = DOCS / "pictures" / name
        assert (tmp_path / name).read_text(encoding="utf-8") == stored.read_text(
            encoding="utf-8"
        ), "run python docs/pictures.py"


# --- designs and utilities ------------------------------------------------------------------------

PROFILE_DESIGNS = designs_for("profiles")


@pytest.mark.parametrize("key", DESIGNS)
def test_design_has_a_page(key: str) -> None:
    name = designs_hook.page_of(DESIGNS[key])
    text = WRITTEN[DOCS / "designs" / name]
    assert f"`{key}`" in text or f"--method {key}" in text or f'"{key}"' in text
    assert f"designs/{name}" in navigation()
    table = designs_hook.profile_designs if key in PROFILE_DESIGNS else designs_hook.designs
    assert f"[`{key}`]({name})" in table()


def test_every_page_of_a_design_is_one() -> None:
    found = {path.name for path in (DOCS / "designs").glob("*.md")}
    assert found == {"overview.md", *map(designs_hook.page_of, DESIGNS.values())}


def test_tables_of_designs_and_utilities_are_made() -> None:
    assert "<!-- designs -->" in WRITTEN[DOCS / "designs" / "overview.md"]
    assert "<!-- profile designs -->" in WRITTEN[DOCS / "designs" / "overview.md"]
    assert "<!-- utilities -->" in WRITTEN[DOCS / "utility.md"]
    assert designs_hook.designs().count("\n") == len(DESIGNS) - len(PROFILE_DESIGNS) + 1
    assert designs_hook.profile_designs().count("\n") == len(PROFILE_DESIGNS) + 1
    assert designs_hook.utilities().count("\n") == len(UTILITIES) + 1


def test_tables_of_the_solver_are_made() -> None:
    page = WRITTEN[DOCS / "solver.md"]
    reductions, strategies = designs_hook.reductions(), designs_hook.strategies()
    assert "<!-- reductions -->" in page
    assert "<!-- strategies -->" in page
    assert reductions.count("\n") == len(REDUCTIONS) + 1
    assert strategies.count("\n") == len(STRATEGIES) + 1
    assert all(f"`{each.name}`" in reductions for each in REDUCTIONS)
    assert all(f"`{each.name}`" in strategies for each in STRATEGIES)


@pytest.mark.parametrize("name", UTILITIES)
def test_utility_is_documented(name: str) -> None:
    page = WRITTEN[DOCS / "utility.md"]
    assert f"`{name}`" in page


def test_every_key_of_a_design_output_is_documented() -> None:
    page = WRITTEN[DOCS / "howto" / "design-a-mechanism.md"]
    schema = json.loads((DOCS / "schemas" / "design.schema.json").read_text(encoding="utf-8"))
    for key in set(schema["properties"]) - {"format", "version"}:
        assert f"`{key}`" in page, key


# --- the command line, errors, keys ---------------------------------------------------------------


def commands() -> list[tuple[str, click.Command]]:
    """Return every command by what is typed after `liftlock`."""

    def inside(name: str, command: click.Command) -> list[tuple[str, click.Command]]:
        found = [(name, command)]
        if isinstance(command, click.Group):
            for part, each in command.commands.items():
                found += inside(f"{name} {part}".strip(), each)
        return found

    return inside("", group)


@pytest.mark.parametrize(("name", "command"), commands())
def test_every_option_is_documented(name: str, command: click.Command) -> None:
    page = DOCS / "cli.md"
    shown = [text for block in blocks(page) for text in block.text.splitlines()]
    assert f"$ liftlock {name} --help".replace("  ", " ") in shown
    prose = re.sub(r"^```.*?^```$", "", WRITTEN[page], flags=re.DOTALL | re.MULTILINE)
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            for option in parameter.opts:
                assert f"`{option}`" in prose or option in {"-h", "--help"}, option
    if name:
        assert re.search(rf"^##+ (liftlock )?{name}$", prose, re.MULTILINE)


def test_every_error_is_documented() -> None:
    page = WRITTEN[DOCS / "errors.md"]
    tree = next(block for block in blocks(DOCS / "errors.md") if "├" in block.text).text
    for name, thing in vars(errors).items():
        if isinstance(thing, type) and issubclass(thing, errors.LiftlockError):
            assert re.search(rf"\b{name}\b", tree), name
            assert len(re.findall(rf"\b{name}\b", page)) >= 2, name


def test_every_key_of_an_audit_is_documented() -> None:
    channel = liftlock.read_channel(EXAMPLES / "survey.csv").channel
    prior = liftlock.read_prior(EXAMPLES / "prior.csv")
    data = audit(channel, prior, alpha=2, at_epsilon=1).to_data()
    page = WRITTEN[DOCS / "howto" / "check-in-ci.md"]
    assert measures_hook.MARK in page
    page = page.replace(measures_hook.MARK, measures_hook.table())
    for key in (*data, "checks", "notes", *data["measures"]):
        assert f"`{key}`" in page, key


def test_contexts_and_public_names_are_mentioned() -> None:
    everything = "\n".join(WRITTEN.values())
    for name in liftlock.__all__:
        if not name.startswith("_"):
            assert re.search(rf"\b{name}\b", everything), name


# --- pages and links ----------------------------------------------------------------------------


def test_every_page_is_in_the_navigation_once() -> None:
    listed = navigation()
    assert len(listed) == len(set(listed))
    made = {"equations.md", *(name for name in vectors_hook.ELSEWHERE if name.endswith(".md"))}
    assert set(listed) == made | {str(page.relative_to(DOCS)) for page in WRITTEN}


def test_every_picture_exists() -> None:
    for page, text in WRITTEN.items():
        for target in re.findall(r"!\[[^\]]*\]\(([^)#]+)", text):
            assert (page.parent / target).is_file(), f"{page}: {target}"


def test_every_picture_says_what_it_shows() -> None:
    for text in WRITTEN.values():
        for words in re.findall(r"!\[([^\]]*)\]\(", text):
            assert len(words) > 20, words


def test_no_outside_addresses() -> None:
    """The pages need no network: addresses are names of languages, this machine, or nobody's."""
    nobodys = re.compile(
        r"https?://(127\.0\.0\.1|localhost|([a-z.-]+\.)?example(\.org)?)(:\d+)?(/|$)"
    )
    allowed = {"https://json-schema.org/draft/2020-12/schema", "http://www.w3.org/2000/svg"}
    sources = [*DOCS.rglob("*.md"), *DOCS.rglob("*.css"), *DOCS.rglob("*.json")]
    for path in [*sources, ROOT / "mkdocs.yml", DOCS / "pictures.py"]:
        for address in re.findall(r"https?://[^\s\"')>]+", path.read_text(encoding="utf-8")):
            known = address in allowed or nobodys.match(address.rstrip("`.,;"))
            assert known, f"{path}: {address}"


def test_no_places_of_one_machine() -> None:
    for path in [*WRITTEN, *DOCS.rglob("*.svg"), DOCS / "pictures.py"]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"/(home|root|work|tmp|Users)/", text), path


@pytest.mark.parametrize(
    ("page", "words", "name"),
    [
        ("known-limits", "more than {:,} cells are", "notions.information.FLOAT_CELLS"),
        ("known-limits", "still open at {:,} bits", "notions.base.MOST_BITS"),
        ("known-limits", "After {:,} steps", "notions.breach.MOST_NODES"),
        ("known-limits", "more than {:,} cells, or 512 MiB", "files.sheet.MOST_CELLS"),
        ("howto/lock-a-mechanism", "with more than {:g} are dropped", "designs.lock.NOISE"),
        ("howto/lock-a-mechanism", "sum to 2^{}.", "exact.rounding.DEFAULT_BITS"),
    ],
)
def test_limits_are_those_of_the_code(page: str, words: str, name: str) -> None:
    module, _, constant = f"liftlock.{name}".rpartition(".")
    value = getattr(importlib.import_module(module), constant)
    text = " ".join(WRITTEN[DOCS / f"{page}.md"].split())
    assert words.format(value) in text


@pytest.mark.parametrize("name", ["salaries", "town"])
def test_the_tables_of_examples_are_made(name: str) -> None:
    """Nobody's real salary or whereabouts are in the documentation."""
    maker = runpy.run_path(str(EXAMPLES / f"{name}.py"))
    stored = (EXAMPLES / f"{name}.csv").read_text(encoding="utf-8")
    assert maker["table"]() == stored, f"run python docs/examples/{name}.py"


def test_every_law_and_fit_is_documented() -> None:
    page = WRITTEN[DOCS / "continuous.md"]
    for _, form in continuous.DISTRIBUTIONS.values():
        assert f"`{form}`" in page, form
    for name in continuous.FITS:
        assert f"`{name}`" in page, name
    for name in continuous.__all__:
        if (
            name.islower()
            and callable(getattr(continuous, name))
            and not name.startswith(("parse", "read"))
        ):
            assert f"ll.continuous.{name}(" in page, name
    schema = json.loads((DOCS / "schemas" / "grid.schema.json").read_text(encoding="utf-8"))
    for key in schema["properties"]["grid"]["properties"]:
        assert f"`grid.{key}`" in page, key
