"""Survey files that a command writes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from liftlock._runtime.naming import status
from liftlock._runtime.storage import check_writable
from liftlock.errors import FileError, extra


def check_new(path: Path) -> None:
    """Refuse a file that is there already, or cannot be written."""
    check_writable(path)
    if status(path) is not None or path.is_symlink():
        raise FileError(
            "the file exists already", where=str(path), remedy="choose another name, or move it"
        )


def survey_text(content: Mapping[str, Any], path: Path) -> str:
    """Return the content of a survey as YAML, TOML or JSON, by the name of the file.

    >>> content = {"survey": "health", "questions": [{"name": "flu", "values": ["no", "yes"]}]}
    >>> print(survey_text(content, Path("health.toml")), end="")
    survey = "health"
    <BLANKLINE>
    [[questions]]
    name = "flu"
    values = ["no", "yes"]
    """
    suffix = path.suffix.lower()
    if suffix == ".json":
        return json.dumps(content, ensure_ascii=False, indent=2) + "\n"
    if suffix == ".toml":
        return _toml(content)
    if suffix in (".yaml", ".yml"):
        with extra("collect"):
            import yaml

        text: str = yaml.safe_dump(
            dict(content), allow_unicode=True, sort_keys=False, width=100, default_flow_style=None
        )
        return text
    raise FileError(
        "not the name of a survey file",
        where=str(path),
        remedy="end it in .yaml, .toml or .json",
    )


def _toml(content: Mapping[str, Any]) -> str:
    """Write tables of tables in one line each, but for the questions, which have a header each."""
    questions = content.get("questions", [])
    lines = [
        f"{_key(name)} = {_toml_value(value)}"
        for name, value in content.items()
        if name != "questions"
    ]
    for question in questions:
        lines += ["", "[[questions]]"]
        lines += [f"{_key(name)} = {_toml_value(value)}" for name, value in question.items()]
    return "\n".join([*lines, ""])


def _toml_value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(k)} = {_toml_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if name.isascii() and name.replace("_", "").isalnum() else json.dumps(name)
