"""Every setting of the server as an option."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import click

from liftlock.collect.settings import Settings

F = TypeVar("F", bound=Callable[..., Any])

_KINDS = {int: "N", float: "SECONDS", str: "TEXT", tuple: "A,B,..."}
_WORDS = {
    "store": "STORE",
    "host": "ADDRESS",
    "admin_host": "ADDRESS",
    "port": "PORT",
    "admin_port": "PORT",
    "admin_token": "TOKEN",
    "key_file": "FILE",
    "backups": "FOLDER",
}


def setting_options(command: F) -> F:
    """Add an option for each setting; what is not given stays as the file or environment has it."""
    for each in reversed(fields(Settings)):
        if each.name == "surveys":
            continue
        command = click.option(
            f"--{each.name.replace('_', '-')}",
            each.name,
            metavar=_WORDS.get(each.name, _KINDS[type(each.default)]),
            help=_help(each.metadata["says"], each.default),
        )(command)
    return command


def _help(says: str, default: Any) -> str:
    text = f"{says[0].upper()}{says[1:]}."
    return text if default in ("", (), -1) else f"{text}  [default: {_plain(default)}]"


def _plain(value: Any) -> str:
    """Write a default; a port is not split into thousands.

    >>> _plain(60.0), _plain(262144), _plain("127.0.0.1")
    ('60', '262144', '127.0.0.1')
    """
    return str(int(value) if isinstance(value, float) and value == int(value) else value)


def read_settings(
    surveys: Sequence[Path], file: Path | None, options: Mapping[str, Any]
) -> Settings:
    """Read the settings of surveys: of the file, the environment and the options that are given."""
    given = {name: value for name, value in options.items() if value is not None}
    if surveys:
        given["surveys"] = list(surveys)
    return Settings.read(file, **given)
