"""The collection service: surveys, a durable store of reports, and the server that people answer.

Needs the extra ``liftlock[collect]``, all but surveys in JSON or TOML.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from liftlock.collect.server.app import admin_app, app
    from liftlock.collect.settings import Settings
    from liftlock.collect.survey import Question, Survey

_NAMES: dict[str, list[str]] = {
    "liftlock.collect.server.app": ["admin_app", "app"],
    "liftlock.collect.settings": ["Settings"],
    "liftlock.collect.survey": ["Question", "Survey"],
}
"""Where each name is defined: it is imported from there when it is first used."""

_HOMES = {name: module for module, names in _NAMES.items() for name in names}

__all__: list[str] = ["Question", "Settings", "Survey", "admin_app", "app"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'liftlock.collect' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
