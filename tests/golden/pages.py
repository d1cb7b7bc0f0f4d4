"""Reports as they were read before: element by element, word by word.

``python -m tests.golden.pages --record`` writes the pages down again, after a change on purpose.
What a browser does not show (spaces between blocks, how a mark is escaped) is not compared.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import liftlock as ll
from liftlock.accounting import account
from liftlock.report.html import html_report
from liftlock.tables.protect import CombinedLeak, EmpiricalLeakage, ProtectedColumn, Protection
from tests.unit.report.html import examples

FOLDER = Path(__file__).parent / "pages"
_INLINE = frozenset({"a", "bdi", "br", "code", "small", "span", "strong", "text", "title"})


class _Lines(HTMLParser):
    """Writes a page with one element or run of text in each line."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = []
        self.text = ""
        self.after_block = True
        self.style = False

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._flush(tag)
        written = "".join(f' {name}="{value}"' for name, value in sorted(attrs))
        self._add(f"<{tag}{written}>")
        self.style = tag == "style"

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        self._flush(tag)
        self._add(f"</{tag}>")
        self.style = False

    def _add(self, line: str) -> None:
        self.lines.append(re.sub(r"[ \n]+", " ", line))

    def _flush(self, tag: str) -> None:
        text = "" if self.style else re.sub(r"[ \n]+", " ", self.text)
        if self.after_block:
            text = text.lstrip(" \n")
        if tag not in _INLINE:
            text = text.rstrip(" \n")
        if text:
            self.lines.append(text.replace(ll.__version__, "VERSION"))
        self.text = ""
        self.after_block = tag not in _INLINE


def style_of(page: str) -> str:
    """Write the style sheet of a page, a rule in each line."""
    sheet = page[page.index("<style>") + 7 : page.index("</style>")]
    bare = re.sub(r"\s*([{}:;,>])\s*", r"\1", re.sub(r"\s+", " ", sheet)).strip()
    return bare.replace(";}", "}").replace("}", "}\n")


def lines_of(page: str) -> str:
    """Write a page as lines that differ only where a reader would see it."""
    found = _Lines()
    found.feed(page)
    found.close()
    return "\n".join(found.lines) + "\n"


def _one(column: ProtectedColumn, **more: object) -> Protection:
    return replace(Protection("people.csv", 9, (column,)), **more)  # type: ignore[arg-type]


def _answers(context: ll.Context, notion: ll.notions.Notion) -> Protection:
    draft = ll.Draft.of(["no", "yes"], ["no", "yes"], [[0.6, 0.4], [0.4, 0.6]])
    return _one(ProtectedColumn("answer", None, ll.lock(draft, notion, context), False))


def _own_priors() -> Protection:
    made = ll.design(["no", "yes"], ll.ALIP(lower="1", upper="0.5"), method="arc")
    return _one(ProtectedColumn("answer", None, made, False, file="answer.json"))


def _beyond() -> Protection:
    made = examples.careful()
    column = ProtectedColumn(
        "job", "home", made, False, in_table=EmpiricalLeakage(1.42, 0.572, False)
    )
    return _one(column, day="2026-11-16", sha256="ab" * 32)


def _smoothed() -> Protection:
    made = examples.careful()
    counts = dict.fromkeys(made.table.outputs.labels, 3)
    near = EmpiricalLeakage(0.1, 0.1, True)
    return _one(ProtectedColumn("job", "home", made, True, counts=counts, in_table=near))


def _own_secret() -> Protection:
    made, prior = examples.careful(), examples.joint().prior
    own = ll.lock(made.table, ll.LIP("1.6"), prior)
    columns = (
        ProtectedColumn("job", None, own, True),
        ProtectedColumn("former job", "home", made, True),
    )
    leak = CombinedLeak("job", ("job", "former job"), account([own.table, made.table], prior))
    return Protection("people.csv", 220, columns, (leak,))


def _designed() -> Protection:
    made = ll.design(examples.joint(), ll.LIP("0.5"))
    counts = dict.fromkeys(made.table.outputs.labels, 20)
    return _one(ProtectedColumn("job", "home", made, True, counts=counts))


def _uniform(notion: ll.notions.Notion) -> Protection:
    return _answers(ll.Prior.from_counts({"no": 9, "yes": 1}), notion)


PAGES: Mapping[str, Callable[[], Protection]] = {
    "everyday": examples.everyday,
    "odd": examples.odd,
    "numbers": examples.numbers,
    "own-priors": _own_priors,
    "beyond": _beyond,
    "smoothed": _smoothed,
    "own-secret": _own_secret,
    "designed": _designed,
    "ball": lambda: _answers(
        ll.Ball.of(ll.Prior.from_counts({"no": 9, "yes": 1}), "0.01"), ll.LIP("1")
    ),
    "ldp": lambda: _uniform(ll.LDP("1")),
    "max-lift": lambda: _uniform(ll.notions.MaxLift("2")),
}


def main() -> None:
    """Write every page down."""
    if sys.argv[1:] != ["--record"]:
        raise SystemExit(__doc__)
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "style.txt").write_text(style_of(html_report(examples.odd())), encoding="utf-8")
    for name, made in PAGES.items():
        (FOLDER / f"{name}.txt").write_text(lines_of(html_report(made())), encoding="utf-8")


if __name__ == "__main__":
    main()
