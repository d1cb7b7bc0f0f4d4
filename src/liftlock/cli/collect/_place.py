"""Where the reports of a survey are: in a store that nobody uses now, or at a running server."""

from __future__ import annotations

import json
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
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
_ADMIN_ADDRESS = "give the admin address, which liftlock collect serve prints"
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
        surveys = [] if survey is None else [survey]
        return read_settings(surveys, self.settings, {"store": self.store})

    @contextmanager
    def open(self, survey: Path | None) -> Iterator[Curator]:
        """Open the store, or reach the server that has it."""
        settings = self.read(survey)
        if self.server is not None:
            yield _reach(self.server, self.token or settings.admin_token)
            return
        refuse_missing(settings)
        from liftlock.collect.store import open_store
        from liftlock.collect.store.place import InUse

        try:
            store = open_store(settings.place)
        except InUse as error:
            raise FileError(
                error.what,
                where=error.where,
                value=error.value,
                remedy="ask the server that has it, by --server with the admin address and --token "
                "with the token that it printed, or stop it",
            ) from None
        try:
            yield OnStore(store, settings)
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


def confirm(question: str) -> None:
    """Ask before what nobody can undo; where nobody can be asked it is refused."""
    try:
        click.confirm(question, abort=True, err=True)
    except click.Abort:
        if sys.stdin.isatty():
            raise
        raise InputError(
            "not confirmed", value=question, remedy="answer y, or give --yes"
        ) from None


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

    def backup(self, path: Path | None) -> str:
        """Write a copy, and return where it is."""

    def verify(self) -> Sequence[str]:
        """Check the store, and return what is wrong."""

    def tokens(self) -> Mapping[str, str]:
        """Return the roles of tokens, by their names."""

    def add_token(self, name: str, role: str) -> str:
        """Make a token; it is shown this once."""

    def revoke_token(self, name: str) -> None:
        """Forget a token."""

    def issue(self, name: str, number: int) -> Sequence[tuple[str, str]]:
        """Make write tokens: an id and its tag for each report."""


class OnStore:
    """The work done on the store itself."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings

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

    def backup(self, path: Path | None) -> str:
        """Write a copy, and return where it is."""
        assert path is not None, "a server chooses the name, a command does not"
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

    def issue(self, name: str, number: int) -> Sequence[tuple[str, str]]:
        """Make write tokens: an id and its tag for each report."""
        from liftlock.collect.server.access import WriteTokens, read_key

        key = read_key(Path(self._settings.key_file or f"{self._settings.place}.key"))
        self._store.note(WHO, f"issue {number} write tokens", name)
        made = WriteTokens(key).issue(name, number)
        return [(one.hex(), tag.hex()) for one, tag in made]


class OnServer:
    """The same work, asked of a running server at its admin address."""

    def __init__(self, address: str, token: str) -> None:
        self._address = address.rstrip("/")
        self._token = token

    def collections(self) -> Mapping[str, Record]:
        """Return what is known of each collection."""
        from liftlock.collect.store import Record

        told = self._ask("GET", "/v1/collections")["collections"]
        if not all("survey" in each for each in told):
            raise InputError(
                "the address is the one that people answer at, not the operator's",
                where=self._address,
                remedy=_ADMIN_ADDRESS,
            )
        return {
            each["name"]: Record(
                each["name"],
                "closed" if each["state"] == "closed" else "open",
                {},
                {"survey": each["survey"]},
            )
            for each in told
        }

    def counts(self, name: str) -> Counts:
        """Return how often each output came."""
        from liftlock.collect.store import Counts

        told = self._ask("GET", f"/v1/collections/{quote(name)}/export")
        counted = {digest: tuple(each) for digest, each in told["mechanisms"].items()}
        return Counts(counted, told["repeated"], told["conflicts"], told["revision"])

    def history(self, name: str) -> Mapping[str, Mapping[str, Sequence[int]]]:
        """Return the counts by day and mechanism."""
        days: dict[str, dict[str, list[int]]] = self._ask(
            "GET", f"/v1/collections/{quote(name)}/export"
        )["days"]
        return days

    def close(self, name: str) -> None:
        """Take no more reports."""
        self._ask("POST", f"/v1/collections/{quote(name)}/close")

    def erase(self, name: str) -> None:
        """Forget a collection."""
        self._ask("DELETE", f"/v1/collections/{quote(name)}")

    def backup(self, path: Path | None) -> str:
        """Let the server write a copy into its own folder, and return its name."""
        del path
        return str(self._ask("POST", "/v1/backup")["backup"])

    def verify(self) -> Sequence[str]:
        """Check the store, and return what is wrong."""
        wrong: list[str] = self._ask("GET", "/v1/verify")["wrong"]
        return wrong

    def tokens(self) -> Mapping[str, str]:
        """Return the roles of tokens, by their names."""
        roles: dict[str, str] = self._ask("GET", "/v1/operators")["operators"]
        return roles

    def add_token(self, name: str, role: str) -> str:
        """Make a token; only its hash is kept."""
        return str(self._ask("POST", "/v1/operators", {"name": name, "role": role})["token"])

    def revoke_token(self, name: str) -> None:
        """Forget a token."""
        self._ask("DELETE", f"/v1/operators/{quote(name, safe='')}")

    def issue(self, name: str, number: int) -> Sequence[tuple[str, str]]:
        """Make write tokens: an id and its tag for each report."""
        told = self._ask("POST", f"/v1/collections/{quote(name)}/tokens", {"number": number})
        return [(each["id"], each["tag"]) for each in told["tokens"]]

    def put(self, survey: Survey) -> None:
        """Serve a survey from now on."""
        self._ask("PUT", f"/v1/surveys/{quote(survey.name)}", survey.content())

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request; a problem becomes an error of one line."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"authorization": f"Bearer {self._token}", "content-type": "application/json"}
        request = urllib.request.Request(
            self._address + path, data=data, headers=headers, method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            raise _refusal(error, self._address) from None
        except (OSError, ValueError) as error:
            raise InputError(
                "no server answers",
                where=self._address,
                value=str(getattr(error, "reason", error)),
                remedy=_ADMIN_ADDRESS,
            ) from None
        return json.loads(text) if text else None


def _reach(address: str, token: str) -> OnServer:
    """Return the server at an address."""
    if not token:
        raise click.UsageError(f"--server needs a token: give --token, or set {PREFIX}ADMIN_TOKEN")
    if not address.startswith(("http://", "https://")):
        raise InputError(
            "not the address of a server",
            value=address,
            remedy="write it like http://127.0.0.1:8124",
        )
    return OnServer(address, token)


def _refusal(error: urllib.error.HTTPError, address: str) -> InputError:
    """Make an error of a problem that a server answered."""
    try:
        told = json.loads(error.read())
        title, detail = str(told["title"]), str(told.get("detail", ""))
        advice = str(told.get("remedy", ""))
    except (ValueError, KeyError, TypeError):
        title, detail, advice = f"the server answered {error.code}", "", ""
    if error.code == HTTPStatus.UNAUTHORIZED:
        title = "the server does not know this token"
    remedies: dict[int, str] = {
        HTTPStatus.UNAUTHORIZED: "give by --token one that it printed, or that liftlock collect "
        "token add made",
        HTTPStatus.FORBIDDEN: "ask for a token of an owner",
    }
    remedy = remedies.get(error.code, detail or advice)
    return InputError(
        title,
        where=address,
        value=detail if detail and remedy != detail else None,
        remedy=remedy or "see its log",
    )
