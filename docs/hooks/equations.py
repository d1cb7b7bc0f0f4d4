"""Generate the page "Equation index" while the site is built.

A docstring in the package may say where its mathematics comes from::

    Source: 002 eq. (26), Def 3; 000 Thm 1.

that is, per paper, the statements it implements; ``math`` stands for a derivation of
our own.  The page lists every statement with the code that implements it and links
to the code, which is shown on generated pages too.  Nothing of this is stored.
A source that cannot be read is a warning, and so fails a strict build.
"""

from __future__ import annotations

import ast
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel

log = logging.getLogger("mkdocs.hooks.equations")

PAGE = "equations.md"
FORMULAS = "papers/liftlock_papers/formulas"
"""Where formulas are that judge the papers, and that no mechanism uses."""
PAPERS = {
    "000": "Context-Aware Local Information Privacy",
    "001": "Context-Aware Data Aggregation with Localized Information Privacy",
    "002": "On the Lift, Related Privacy Measures, and Applications to Privacy–Utility Trade-Offs",
    "003": "Context-Aware Laplacian Mechanism for Local Information Privacy",
    "004": "Profile-Based Privacy for Locally Private Computations",
    "math": "Derivations of our own",
}

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Use:
    """One statement of one paper, and the code that implements it."""

    paper: str
    statement: str
    module: str
    name: str
    line: int


class SourceError(ValueError):
    """A ``Source:`` line that cannot be read."""


def split(text: str) -> list[str]:
    """Split at commas outside parentheses.

    >>> split("Thm 1 (a, b), eq. (3)")
    ['Thm 1 (a, b)', 'eq. (3)']
    """
    return [part.strip() for part in re.split(r",(?![^(]*\))", text) if part.strip()]


def statements(text: str) -> list[tuple[str, str]]:
    """Read what follows ``Source:``: pairs of paper and statement.

    >>> statements("002 eq. (26), (27); 000 Thm 1; math a bound.")
    [('002', 'eq. (26)'), ('002', 'eq. (27)'), ('000', 'Thm 1'), ('math', 'a bound')]
    """
    found = []
    paper = kind = ""
    for part in text.strip().removesuffix(".").split(";"):
        for item in split(part):
            if start := re.match(r"(\d{3}|math)\b[:]?\s*", item):
                paper, item = start[1], item[start.end() :]
            if not paper:
                raise SourceError(f"no paper named in {text.strip()!r}")
            if paper not in PAPERS:
                raise SourceError(f"unknown paper {paper!r}")
            if item.startswith("("):
                item = f"{kind} {item}".strip()
            found.append((paper, item))
            kind = item.split("(")[0].strip()
    if not found:
        raise SourceError("nothing named")
    return found


def sources(docstring: str) -> Iterator[str]:
    """Yield what follows each ``Source:`` at the start of a line, continued lines joined.

    >>> list(sources("Do it.\\n\\nSource: 002 eq. (1);\\n    000 Thm 1.\\nAnd more."))
    ['002 eq. (1); 000 Thm 1.']
    """
    lines = iter([*docstring.splitlines(), ""])
    for line in lines:
        text = line.strip()
        if not text.startswith("Source:"):
            continue
        parts = [text.removeprefix("Source:").strip()]
        while not parts[-1].endswith("."):
            following = next(lines, "").strip()
            if not following or following.startswith(("Source:", ">>>")):
                break
            parts.append(following)
        yield " ".join(parts)


def documented(node: Documented, name: str = "") -> Iterator[tuple[str, int, str]]:
    """Yield name, line and docstring of everything in a module that has a docstring."""
    if docstring := ast.get_docstring(node):
        yield name, getattr(node, "lineno", 1), docstring
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from documented(child, f"{name}.{child.name}".lstrip("."))


def module_name(path: Path, root: Path) -> str:
    """Return the dotted name of a module below `root`."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def uses(path: Path, root: Path) -> Iterator[Use]:
    """Yield what one module says it implements."""
    module = module_name(path, root)
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except SyntaxError as error:
        log.warning("%s: %s", module, error)
        return
    for name, line, docstring in documented(tree):
        for text in sources(docstring):
            try:
                for paper, statement in statements(text):
                    yield Use(paper, statement, module, name, line)
            except SourceError as error:
                log.warning("%s: %s", f"{module}.{name}".rstrip("."), error)


def order(statement: str) -> list[tuple[int, int, str]]:
    """Sort key that compares the numbers in a statement as numbers.

    >>> sorted(["eq. (10)", "eq. (9)", "Def 2"], key=order)
    ['Def 2', 'eq. (9)', 'eq. (10)']
    """
    parts = re.findall(r"\d+|[^\d]+", statement.casefold())
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts]


def cell(text: str) -> str:
    """Escape what Markdown would read in a table cell."""
    return re.sub(r"([\\`*_|<>$\[\]])", r"\\\1", text)


def index(found: list[Use], pages: dict[str, str]) -> str:
    """Return the equation index in Markdown; `pages` says where each module is shown.

    The links are written in HTML because MkDocs does not see the anchors of code lines.
    """
    lines = [
        "# Equation index",
        "",
        "What each paper states, and the code that implements it, read from the docstrings.",
        "",
    ]
    for paper, title in PAPERS.items():
        table: dict[str, list[str]] = {}
        for use in sorted(set(found), key=lambda u: (order(u.statement), u.module, u.line)):
            if use.paper == paper:
                name = f"{use.module}.{use.name}".rstrip(".")
                address = f"{pages[use.module]}#__codelineno-0-{use.line}"
                link = f'<a href="{address}"><code>{name}</code></a>'
                table.setdefault(use.statement, []).append(link)
        if table:
            heading = title if paper == "math" else f"{paper}: {title}"
            lines += [f"## {heading} {{ #{paper} }}", "", "| Statement | Code |", "| --- | --- |"]
            lines += [f"| {cell(s) or 'whole'} | {'<br>'.join(ls)} |" for s, ls in table.items()]
            lines.append("")
    if not found:
        lines += ["No statement is listed yet.", ""]
    return "\n".join(lines)


def listing(module: str, path: Path) -> str:
    """Return the page that shows a module, in Markdown."""
    fence = "~" * 12
    head = (
        f"---\ntitle: {module}\nsearch:\n  exclude: true\nhide:\n  - toc\n---\n\n# `{module}`\n\n"
    )
    code = path.read_text(encoding="utf-8").rstrip("\n")
    return f'{head}{fence} {{ .python linenums="1" }}\n{code}\n{fence}\n'


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """MkDocs event: the files of the site are known."""
    top = Path(config.config_file_path).parent
    page = File.generated(config, PAGE, content="")
    found: list[Use] = []
    pages: dict[str, str] = {}
    places = [
        *((path, top / "src") for path in sorted((top / "src/liftlock").rglob("*.py"))),
        *((path, top / "papers") for path in sorted((top / FORMULAS).rglob("*.py"))),
    ]
    for path, root in places:
        if here := list(uses(path, root)):
            module = module_name(path, root)
            shown = File.generated(
                config,
                f"source/{module}.md",
                content=listing(module, path),
                inclusion=InclusionLevel.NOT_IN_NAV,
            )
            files.append(shown)
            found += here
            pages[module] = shown.url_relative_to(page)
    page.content_string = index(found, pages)
    files.append(page)
    return files
