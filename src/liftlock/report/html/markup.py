"""Pieces of HTML and SVG that no text can break: whatever is not markup already is escaped."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup as Markup
from markupsafe import escape

from liftlock.model.alphabet import Label
from liftlock.report.format import cut, plain

_VOID = frozenset({"meta", "br", "hr", "img"})
_SHAPES = frozenset({"rect", "line", "path", "circle", "polyline", "polygon", "stop", "use"})
_LONGEST = 240
_LONG = 24
"""Longer names may be broken anywhere, also within a word."""

Content = str | int | float | None | Iterable["Content"]


def markup(*contents: Content) -> Markup:
    """Put pieces together; whatever is not markup is escaped, and None is left out.

    >>> markup("a < b", tag("b", "c"), None, [1, "&"])
    Markup('a &lt; b<b>c</b>1&amp;')
    """
    parts: list[str] = []
    for content in contents:
        if isinstance(content, str):
            parts.append(finished(content))
        elif isinstance(content, int | float):
            parts.append(str(content))
        elif content is not None:
            parts.append(markup(*content))
    return Markup("".join(parts))


def finished(text: str) -> Markup:
    """Escape a text that is not markup, and spell out its control characters."""
    return text if isinstance(text, Markup) else escape(plain(text))


def tag(name: str, /, *contents: Content, **attributes: str | float | bool | None) -> Markup:
    """Make an element; ``class_`` is class, ``aria_label`` is aria-label, None is left out.

    >>> tag("p", "1 < 2", class_="note"), tag("rect", x=1, width=2.50, hidden=None)
    (Markup('<p class="note">1 &lt; 2</p>'), Markup('<rect x="1" width="2.5"/>'))
    """
    written = []
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        word = key.rstrip("_").replace("_", "-")
        written.append(f" {word}" if value is True else f' {word}="{_attribute(value)}"')
    start = f"<{name}{''.join(written)}"
    if name in _VOID:
        return Markup(f"{start}>")
    inside = markup(*contents)
    if not inside and name in _SHAPES:
        return Markup(f"{start}/>")
    return Markup(f"{start}>{inside}</{name}>")


def _attribute(value: str | float) -> Markup:
    if isinstance(value, float):
        return Markup(f"{value:.2f}".rstrip("0").rstrip("."))
    return finished(str(value))


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
    (Markup('“<bdi>a&lt;b</bdi>”'), Markup('<bdi>3</bdi>'))
    """
    words = cut(written(label), cells)
    name = tag("bdi", words, class_="long" if len(words) > _LONG else None)
    return markup("“", name, "”") if isinstance(label, str | tuple) else name


def listed(labels: Iterable[Label], most: int = 6) -> Markup:
    """Write a few values one after the other, and say how many more there are.

    >>> listed(["a", "b", "c"], 2)
    Markup('“<bdi>a</bdi>”, “<bdi>b</bdi>” and 1 more')
    """
    every = list(labels)
    shown = [named(label, 60) for label in every[:most]]
    more = len(every) - most
    if more > 0:
        return markup(Markup(", ").join(shown), f" and {more:,} more")
    if len(shown) < 2:
        return markup(*shown)
    return markup(Markup(", ").join(shown[:-1]), " and ", shown[-1])


def breakable(cell: Content) -> Content:
    """Let a long name be broken anywhere."""
    long = isinstance(cell, str) and not isinstance(cell, Markup) and len(cell) > _LONG
    return tag("span", cell, class_="long") if long else cell
