"""Set the formulas of a page as MathML while the site is built.

Browsers show MathML by themselves, so the pages need no script, font or network.
`pymdownx.arithmatex` finds the formulas (``$...$`` and ``$$...$$`` outside code) and
leaves them in elements of class ``arithmatex``; this hook replaces those.  A formula
that cannot be set is a warning, and so fails a strict build.

Inside a Markdown table a ``|`` ends the cell even in a formula: write ``\\mid`` or
``\\lvert`` there.
"""

from __future__ import annotations

import html as entities
import logging
import re
from collections.abc import Callable
from functools import lru_cache

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from mkdocs.structure.toc import AnchorLink

log = logging.getLogger("mkdocs.hooks.maths")

# `$$...$$` in the middle of a line: the outer dollars are left over.
DOUBLED = re.compile(r'\$<span class="arithmatex">\\\((.*?)\\\)</span>\$', re.DOTALL)
INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
DISPLAY = re.compile(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', re.DOTALL)
ENVIRONMENT = re.compile(
    r'<div class="arithmatex">\s*(\\begin\{(.*?)\}.*?\\end\{\2\})\s*</div>', re.DOTALL
)
TITLE = re.compile(r"\\\((.*?)\\\)", re.DOTALL)

# What the converter does not know, in terms of what it does.
REWRITES = (
    (re.compile(r"\\coloneqq(?![a-zA-Z])"), r"\\mathrel{:=}"),
    (re.compile(r"\\(argmax|argmin)(?![a-zA-Z])"), r"\\operatorname*{\1}"),
    (re.compile(r"\\mathrel(?![a-zA-Z])"), ""),
    (re.compile(r"\\(begin|end)\{(?:aligned|align|split)\}"), r"\\\1{align*}"),
    (re.compile(r"\\(begin|end)\{(?:gathered|gather\*?)\}"), r"\\\1{matrix}"),
)
UNKNOWN = re.compile(r">[^<]*?(\\[a-zA-Z]+|&(?!#?\w+;))[^<]*<")
CODE = re.compile(r"<(pre|code|script|style)\b.*?</\1>", re.DOTALL)


class FormulaError(ValueError):
    """A formula that cannot be set."""


@lru_cache(maxsize=4096)
def mathml(latex: str, display: str) -> str:
    """Return the MathML of a LaTeX formula; `display` is ``inline`` or ``block``.

    >>> mathml("x^2", "inline")
    '<math xmlns="http://www.w3.org/1998/Math/MathML" display="inline"><mrow>...</mrow></math>'
    >>> mathml(r"\\nosuch x", "inline")
    Traceback (most recent call last):
    ...
    docs.hooks.maths.FormulaError: \\nosuch is not understood
    """
    source = latex.strip()
    if not source:
        raise FormulaError("empty formula")
    depth = 0
    for brace in re.findall(r"(?<!\\)(?:\\\\)*([{}])", source):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            break
    if depth:
        raise FormulaError("unbalanced braces")
    for pattern, replacement in REWRITES:
        source = pattern.sub(replacement, source)
    try:
        result: str = convert(source, display=display)
    except Exception as error:  # the converter fails in many ways, StopIteration among them
        raise FormulaError(str(error) or type(error).__name__) from None
    if unknown := UNKNOWN.search(result):
        raise FormulaError(f"{unknown[1]} is not understood")
    return result


def render(page: str, text: str) -> str:
    """Replace the formulas in a page's HTML."""

    def set_as(display: str) -> Callable[[re.Match[str]], str]:
        def replace(match: re.Match[str]) -> str:
            latex = entities.unescape(match[1])
            try:
                return mathml(latex, display)
            except FormulaError as error:
                log.warning("%s: %s in the formula %s", page, error, " ".join(latex.split()))
                return match[0]

        return replace

    text = DISPLAY.sub(set_as("block"), text)
    text = ENVIRONMENT.sub(set_as("block"), text)
    text = DOUBLED.sub(set_as("block"), text)
    text = INLINE.sub(set_as("inline"), text)
    if "$$" in CODE.sub("", text):
        log.warning("%s: $$ without blank lines around the formula", page)
    return text


def retitle(page: str, items: list[AnchorLink]) -> None:
    """Replace the formulas in the entries of a table of contents."""
    for item in items:
        item.title = render(
            page, TITLE.sub(r'<span class="arithmatex">\\(\1\\)</span>', item.title)
        )
        retitle(page, item.children)


def on_page_content(html: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """MkDocs event: a page has been turned into HTML."""
    name = page.file.src_uri
    retitle(name, page.toc.items)
    return render(name, html)
