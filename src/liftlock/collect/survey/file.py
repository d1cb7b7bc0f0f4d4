"""Survey files: YAML, TOML and JSON, read as the same plain data, with the line of each key.

Scalars mean in YAML what they mean in JSON: ``no``, ``yes``, ``on`` and ``off`` are text, and so
are dates and numbers with leading zeros. Decimals stay as they are written, so that 0.7 is seven
tenths. A key that is given twice is refused.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from liftlock._runtime.storage import MOST_DIGITS, parse_json, read_text
from liftlock.errors import FileError, extra

SUFFIXES = {".yaml": "YAML", ".yml": "YAML", ".toml": "TOML", ".json": "JSON"}
"""What a survey file is written in, by the end of its name."""

MOST_CHARACTERS = 4_000_000
"""Longer files are refused: what is long in a survey (priors of a panel) has a file of its own."""

_DEEPEST = 40

Place = tuple[str | int, ...]
"""Where something stands: keys and positions in lists, from the outside inwards."""


@dataclass(frozen=True)
class Source:
    """What a file says, and on which line each part begins."""

    data: Any
    where: str = ""
    lines: Mapping[Place, int] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Where files that it names are looked for."""
        return Path(self.where).parent if self.where else Path()


def read_source(path: str | Path) -> Source:
    """Read a survey file, in the language that its name says."""
    place = Path(path)
    language = SUFFIXES.get(place.suffix.lower())
    if language is None:
        raise FileError(
            "not the name of a survey file",
            where=str(place),
            value=place.suffix or place.name,
            remedy=f"end it in {', '.join(SUFFIXES)}",
        )
    return parse_source(read_text(place), place, language)


def parse_source(text: str, place: Path, language: str) -> Source:
    """Read the text of a survey; the place is for what is wrong with it."""
    if len(text) > MOST_CHARACTERS:
        raise FileError(
            f"survey file of more than {MOST_CHARACTERS:,} characters",
            where=str(place),
            value=len(text),
            remedy="keep priors in files of their own, and name these",
        )
    read = {"YAML": _read_yaml, "TOML": _read_toml, "JSON": _read_json}[language]
    return read(text, place)


class DecimalText(str):
    """A decimal number as it was written."""

    __slots__ = ()


# --- YAML ---------------------------------------------------------------------------------------

_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z")
_DECIMAL = re.compile(r"[-+]?(?:0|[1-9][0-9]*)?(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?\Z")
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}


def _read_yaml(text: str, place: Path) -> Source:
    with extra("collect"):
        import yaml

    lines: dict[Place, int] = {}

    def refuse(what: str, mark: Any, value: object, remedy: str) -> FileError:
        return FileError(what, where=f"{place}, line {mark.line + 1}", value=value, remedy=remedy)

    def build(node: Any, at: Place) -> Any:
        lines.setdefault(at, node.start_mark.line + 1)
        if len(at) > _DEEPEST:
            raise refuse("YAML nested too deeply", node.start_mark, None, "check the file")
        if isinstance(node, yaml.ScalarNode):
            return _scalar(node, refuse)
        if isinstance(node, yaml.SequenceNode):
            return [build(each, (*at, number)) for number, each in enumerate(node.value)]
        found: dict[str | int, Any] = {}
        for key_node, value_node in node.value:
            key = _key(key_node, refuse)
            if str(key) in map(str, found):
                raise refuse("key given twice", key_node.start_mark, key, "keep one of them")
            lines[*at, key] = key_node.start_mark.line + 1
            found[key] = build(value_node, (*at, key))
        return found

    try:
        for token in yaml.scan(text, Loader=yaml.SafeLoader):
            if isinstance(token, yaml.AnchorToken | yaml.AliasToken | yaml.TagToken):
                raise refuse(
                    "anchors, aliases and tags are not read",
                    token.start_mark,
                    str(token.value),
                    "write it out, or put quotes around text that begins with &, * or !",
                )
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        spot = "" if mark is None else f", line {mark.line + 1}, column {mark.column + 1}"
        raise FileError(
            "not valid YAML",
            where=f"{place}{spot}",
            value=getattr(error, "problem", None) or str(error),
            remedy="check the indentation, and put quotes around text with : or #",
        ) from None
    except RecursionError:
        raise FileError("YAML nested too deeply", where=str(place)) from None
    return Source(None if root is None else build(root, ()), str(place), lines)


def _scalar(node: Any, refuse: Any) -> Any:
    """Return what a scalar says: as in JSON, and everything else is text."""
    text = str(node.value)
    if node.style is not None:  # in quotes, or a block
        return text
    if text.lower() in _WORDS and text in (text.lower(), text.capitalize(), text.upper()):
        return _WORDS[text.lower()]
    if _INTEGER.match(text):
        if len(text) > MOST_DIGITS:
            raise refuse("number too long", node.start_mark, text, "check the value")
        return int(text)
    return DecimalText(text) if re.search("[0-9]", text) and _DECIMAL.match(text) else text


def _key(node: Any, refuse: Any) -> str | int:
    """Return a key as text; numbers stay as they are written, and a key is never a truth value."""
    if not isinstance(node.value, str):
        raise refuse("a key is not text", node.start_mark, None, "write text before the colon")
    return str(node.value)


# --- TOML ---------------------------------------------------------------------------------------


def _read_toml(text: str, place: Path) -> Source:
    try:
        data = tomllib.loads(text, parse_float=DecimalText)
    except tomllib.TOMLDecodeError as error:
        raise FileError(
            "not valid TOML", where=str(place), value=str(error), remedy="correct the line"
        ) from None
    except RecursionError:
        raise FileError("TOML nested too deeply", where=str(place)) from None
    return Source(_plain(data), str(place), _toml_lines(text))


def _plain(data: Any) -> Any:
    """Return dates as the text that the other languages have."""
    if isinstance(data, dict):
        return {key: _plain(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_plain(value) for value in data]
    return data.isoformat() if isinstance(data, date | datetime | time) else data


_TABLE = re.compile(r"\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?\Z")
_ASSIGNED = re.compile(r"\s*([A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*')\s*=")


def _toml_lines(text: str) -> dict[Place, int]:
    """Return on which line tables and plainly written keys of a TOML file begin."""
    lines: dict[Place, int] = {}
    numbers: dict[Place, int] = {}
    current: Place = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if table := _TABLE.match(line):
            current = ()
            *outer, last = (part.strip().strip("\"'") for part in table[2].split("."))
            for part in outer:
                current = (*current, part)
                if current in numbers:
                    current = (*current, numbers[current])
            current = (*current, last)
            if table[1] == "[[":
                lines.setdefault(current, number)
                numbers[current] = numbers.get(current, -1) + 1
                current = (*current, numbers[current])
            lines.setdefault(current, number)
        elif assigned := _ASSIGNED.match(line):
            lines.setdefault((*current, assigned[1].strip("\"'")), number)
    return lines


# --- JSON ---------------------------------------------------------------------------------------

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')


def _read_json(text: str, place: Path) -> Source:
    return Source(_decimals(parse_json(text, place)), str(place), _json_lines(text))


def _decimals(data: Any) -> Any:
    """Return decimals of every kind as text: those that were restored for labels too."""
    if isinstance(data, dict):
        return {key: _decimals(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_decimals(value) for value in data]
    if isinstance(data, float):
        return DecimalText(repr(data))
    return data if type(data) in (str, int, bool, type(None)) else DecimalText(data)


def _json_lines(text: str) -> dict[Place, int]:
    """Return on which line each key and each item of valid JSON begins."""
    lines: dict[Place, int] = {}
    path: list[str | int] = []
    expects_key = False
    number, seen = 1, 0
    for token in _TOKEN.finditer(text):
        number += text.count("\n", seen, token.start())
        seen, word = token.start(), token[0]
        if word in "]}":
            path.pop()
        elif word == ",":
            last = path[-1]
            if isinstance(last, int):
                path[-1] = last + 1
            expects_key = not isinstance(last, int)
        elif expects_key and word not in ":":
            path[-1] = str(json.loads(word))
            lines[tuple(path)] = number
            expects_key = False
        elif word in "{[":
            lines.setdefault(tuple(path), number)
            path.append("" if word == "{" else 0)
            expects_key = word == "{"
        elif word != ":":
            lines.setdefault(tuple(path), number)
    return lines
