"""Markup that no text can break: whatever is not markup already is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from liftlock.alphabet import Label
from liftlock.exact.decimals import GLUE
from liftlock.report.labels import cut, printable

_VOID = frozenset({"meta", "br", "hr", "img"})
_LONGEST = 240
_LONG = 24
"""Longer names may be broken anywhere, also within a word."""
_HALF = re.compile("[\ud800-\udfff]")


class Markup(str):
    """A piece of HTML that is safe as it stands."""

    __slots__ = ()


Content = str | int | float | None | Iterable["Content"]


def plain(text: str) -> str:
    r"""Write control characters, and halves of characters, as escapes.

    >>> print(plain("right\u202eleft\x00"))
    right\u202eleft\x00
    """
    whole = _HALF.sub(lambda found: f"\\u{ord(found[0]):x}", text)
    return GLUE.join(printable(part) for part in whole.split(GLUE))


def markup(*contents: Content) -> Markup:
    """Put pieces together; whatever is not markup is escaped, and None is left out.

    >>> markup("a < b", tag("b", "c"), None, [1, "&"])
    'a &lt; b<b>c</b>1&amp;'
    """
    parts: list[str] = []
    for content in contents:
        if isinstance(content, Markup):
            parts.append(content)
        elif isinstance(content, str):
            parts.append(escape(plain(content)))
        elif isinstance(content, int | float):
            parts.append(str(content))
        elif content is not None:
            parts.append(markup(*content))
    return Markup("".join(parts))


def tag(name: str, /, *contents: Content, **attributes: str | float | bool | None) -> Markup:
    """Make an element; ``class_`` is class, ``aria_label`` is aria-label, None is left out.

    >>> tag("p", "1 < 2", class_="note"), tag("rect", x=1, width=2.50, hidden=None)
    ('<p class="note">1 &lt; 2</p>', '<rect x="1" width="2.5"/>')
    """
    written = []
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        word = key.rstrip("_").replace("_", "-")
        if value is True:
            written.append(f" {word}")
        else:
            written.append(f' {word}="{escape(plain(_attribute(value)))}"')
    start = f"<{name}{''.join(written)}"
    if name in _VOID:
        return Markup(f"{start}>")
    inside = markup(*contents)
    if not inside and name in _EMPTY_SHAPES:
        return Markup(f"{start}/>")
    return Markup(f"{start}>{inside}</{name}>")


_EMPTY_SHAPES = frozenset({"rect", "line", "path", "circle", "polyline", "polygon", "stop", "use"})


def _attribute(value: str | float) -> str:
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return str(value)


def written(label: Label) -> str:
    """Write a value without marks of its own; those of several columns one after the other.

    >>> written("a"), written(("care", 3))
    ('a', 'care, 3')
    """
    if isinstance(label, tuple):
        return ", ".join(written(part) for part in label)
    return plain(str(label))


def named(label: Label, cells: int = _LONGEST) -> Markup:
    """Write a value that somebody chose: in quotation marks, with its own direction of writing.

    >>> named("a<b"), named(3)
    ('“<bdi>a&lt;b</bdi>”', '<bdi>3</bdi>')
    """
    words = cut(written(label), cells)
    name = tag("bdi", words, class_="long" if len(words) > _LONG else None)
    return markup("“", name, "”") if isinstance(label, str | tuple) else name


def listed(labels: Iterable[Label], most: int = 6) -> Markup:
    """Write a few values one after the other, and say how many more there are.

    >>> listed(["a", "b", "c"], 2)
    '“<bdi>a</bdi>”, “<bdi>b</bdi>” and 1 more'
    """
    every = list(labels)
    shown = [named(label, 60) for label in every[:most]]
    more = len(every) - most
    if more > 0:
        return markup(Markup(", ".join(shown)), f" and {more:,} more")
    if len(shown) < 2:
        return markup(*shown)
    return markup(Markup(", ".join(shown[:-1])), " and ", shown[-1])


def table(
    caption: Content,
    head: Iterable[Content],
    rows: Iterable[Iterable[Content]],
    *,
    numbers: Iterable[int] = (),
) -> Markup:
    """Make a table in a box of its own, which scrolls if it is too wide; the first column names.

    `numbers` are the places of the columns that hold numbers.
    """
    right = frozenset(numbers)
    titles = list(head)
    heads = [
        tag("th", _breakable(cell), scope="col", class_="number" if place in right else None)
        for place, cell in enumerate(titles)
    ]
    body = []
    for row in rows:
        cells = list(row)
        first = tag("th", cells[0], scope="row")
        rest = [
            tag(
                "td",
                cell,
                class_="number" if place in right else None,
                # Where there is no room for columns, each cell says itself what it is.
                data_of=str(titles[place]),
            )
            for place, cell in enumerate(cells[1:], start=1)
        ]
        body.append(tag("tr", first, rest))
    whole = tag(
        "table", tag("caption", caption), tag("thead", tag("tr", heads)), tag("tbody", body)
    )
    return tag("div", whole, class_="scroll", tabindex="0", role="group", aria_label="table")


def _breakable(cell: Content) -> Content:
    """Let a long name be broken anywhere."""
    long = isinstance(cell, str) and not isinstance(cell, Markup) and len(cell) > _LONG
    return tag("span", cell, class_="long") if long else cell


def figure(content: Content, caption: Content, *, kind: str = "") -> Markup:
    """Put a picture over its caption."""
    return tag("figure", content, tag("figcaption", caption), class_=kind or None)


def warned(*contents: Content) -> Markup:
    """Make a box for what must not be overlooked; the mark says so without colour."""
    mark = tag("strong", "Attention. ")
    return tag("div", tag("p", mark, *contents), class_="warning", role="note")
