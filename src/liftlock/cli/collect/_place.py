"""Where the reports of a survey are: in a store that nobody uses now, or at a running server."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

import click

from liftlock.cli._options import FILE, OptionGroup, option
from liftlock.cli.collect._settings import read_settings
from liftlock.collect.settings import PREFIX, Settings
from liftlock.collect.survey import Survey
from liftlock.errors import FileError, InputError

if TYPE_CHECKING:
    from liftlock.collect.store import Counts, Record, Store

WHO = "command"
"""Who the trail says it was, when somebody works on the store itself."""
_PATIENCE = 600.0
"""How many seconds a server may take: a backup or a check of a large store takes a while."""


@dataclass(frozen=True)
class PlaceOptions(OptionGroup):
    """Where the reports of a survey are."""

    store: str | None = option(
        "--store",
        metavar="STORE",
        help="SQLite file or postgresql://...  [default: SURVEY with the ending .sqlite]",
    )
    settings: Path | None = option(
        "--settings", type=FILE, metavar="FILE", help="Settings of the server (TOML, YAML, JSON)."
    )
    server: str | None = option(
        "--server",
        metavar="URL",
        help="Admin address of the server that has the store.",
    )
    token: str | None = option(
        "--token",
        metavar="TOKEN",
        help=f"Token for --server.  [default: {PREFIX}ADMIN_TOKEN]",
    )

    def read(self, survey: Path | None) -> Settings:
        """Return the settings of the store."""
        given = {"store": self.store, "admin_token": self.token}
        return read_settings(survey, self.settings, given)

    @contextmanager
    def open(self, survey: Path | None) -> Iterator[Curator]:
        """Open the store, or reach the server that has it."""
        settings = self.read(survey)
        if self.server is not None:
            yield _reach(self.server, settings)
            return
        refuse_missing(settings)
        from liftlock.collect.store import open_store
        from liftlock.collect.store.place import InUse

        try:
            store = open_store(settings.place)
        except InUse as error:
            address = f"http://{settings.admin_host}:{settings.admin_port}"
            raise FileError(
                error.what,
                where=error.where,
                value=error.value,
                remedy=f"ask the server that has it: --server {address} --token TOKEN, or stop it",
            ) from None
        try:
            yield OnStore(store)
        finally:
            store.shutdown()


def refuse_missing(settings: Settings) -> None:
    """Refuse a file that is not there: a command about reports makes no empty store."""
    if not settings.shared and not Path(settings.place).exists():
        raise FileError(
            "no store",
            where=settings.place,
            remedy="name the file of the reports by --store, or collect some by "
            "liftlock collect serve",
        )


def chosen(survey: Survey, questions: Sequence[str]) -> list[str]:
    """Return the names of the collections of a survey, or of those of its questions."""
    known = [question.name for question in survey.questions]
    for name in questions:
        if name not in known:
            raise InputError(
                "no such question",
                where=survey.where,
                value=name,
                remedy=f"the questions are {', '.join(known)}",
            )
    return [f"{survey.name}.{name}" for name in questions or known]


QUESTION = click.option(
    "--question",
    "questions",
    multiple=True,
    metavar="NAME",
    help="Only this question. Repeatable.  [default: all]",
)
"""The option --question of a command."""


class Curator(Protocol):
    """What can be done with the reports of a survey, wherever they are."""

    def collections(self) -> Mapping[str, Record]:
        """Return what is known of each collection."""

    def counts(self, name: str) -> Counts:
        """Return how often each output came."""

    def history(self, name: str) -> Mapping[str, Mapping[str, Sequence[int]]]:
        """Return the counts by day and mechanism."""

    def close(self, name: str) -> None:
        """Take no more reports."""

    def erase(self, name: str) -> None:
        """Forget a collection."""

    def backup(self, path: Path) -> str:
        """Write a copy, and return where it is."""

    def verify(self) -> Sequence[str]:
        """Check the store, and return what is wrong."""

    def tokens(self) -> Mapping[str, str]:
        """Return the roles of tokens, by their names."""

    def add_token(self, name: str, role: str) -> str:
        """Make a token; it is shown this once."""

    def revoke_token(self, name: str) -> None:
        """Forget a token."""


class OnStore:
    """The work done on the store itself."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def collections(self) -> Mapping[str, Record]:
        """Return what is known of each collection."""
        return self._store.collections()

    def counts(self, name: str) -> Counts:
        """Return how often each output came."""
        return self._store.counts(name)

    def history(self, name: str) -> Mapping[str, Mapping[str, Sequence[int]]]:
        """Return the counts by day and mechanism."""
        return self._store.history(name)

    def close(self, name: str) -> None:
        """Take no more reports."""
        self._store.close(name)
        self._store.note(WHO, "close", name)

    def erase(self, name: str) -> None:
        """Forget a collection."""
        self._store.erase(name)
        self._store.note(WHO, "erase", name)

    def backup(self, path: Path) -> str:
        """Write a copy, and return where it is."""
        self._store.backup(path)
        self._store.note(WHO, "backup")
        return str(path)

    def verify(self) -> Sequence[str]:
        """Check the store, and return what is wrong."""
        return self._store.verify()

    def tokens(self) -> Mapping[str, str]:
        """Return the roles of tokens, by their names."""
        return self._store.tokens()

    def add_token(self, name: str, role: str) -> str:
        """Make a token; only its hash is kept."""
        from liftlock.collect.server.access import hash_token, new_token

        token = new_token()
        self._store.add_token(name, role, hash_token(token))
        self._store.note(WHO, f"add token {name}")
        return token

    def revoke_token(self, name: str) -> None:
        """Forget a token."""
        self._store.revoke_token(name)
        self._store.note(WHO, f"revoke token {name}")
