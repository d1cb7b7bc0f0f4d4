"""The service: surveys that were proved, their store, and what all addresses share."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from liftlock.collect.problems import Problem
from liftlock.collect.server.access import Access, WriteTokens, new_token, read_key
from liftlock.collect.server.limits import Rates
from liftlock.collect.server.metrics import Metrics
from liftlock.collect.settings import Settings
from liftlock.collect.store import open_store
from liftlock.collect.survey import Survey
from liftlock.collect.survey.kept import KeptMechanisms
from liftlock.collect.wire import MOST, Layout
from liftlock.errors import InputError, LiftlockError

if TYPE_CHECKING:
    from liftlock.collect.store import Counts, Record, Store
    from liftlock.collect.survey import Collection

log = logging.getLogger("liftlock.collect")

History = dict[str, dict[str, tuple[int, ...]]]
"""Counts by day and mechanism."""

FREE = frozenset({"title", "people", "closes"})
"""What of a survey may change while there are reports: nothing that people agreed to."""


@dataclass(frozen=True)
class StoredMechanisms(KeptMechanisms):
    """The mechanisms that a store has: a new start proves them again, and designs nothing."""

    store: Store | None = None

    def place(self, digest: str) -> str:
        """Say where a mechanism is kept."""
        return f"mechanism {digest[:16]} of the store"

    def read(self, digest: str) -> bytes | None:
        """Return the bytes of a mechanism."""
        return None if self.store is None else self.store.mechanism(digest)


def told_of(record: Record) -> Mapping[str, Any]:
    """Return the survey that a collection is of, as it was registered."""
    found: Mapping[str, Any] = record.settings.get("survey", {})
    return found


def files_of(content: Mapping[str, Any]) -> str:
    """Name the files that a survey needs each time it is read.

    >>> files_of({"questions": [{"name": "a", "panel": "people.csv"}, {"name": "b"}]})
    'people.csv'
    """
    named = (question.get(key) for question in content["questions"] for key in _FILES)
    return ", ".join(filter(None, named))


_FILES = ("panel", "mechanism")


@dataclass(eq=False)
class Served:
    """A collection that is served."""

    name: str
    survey: Survey
    collection: Collection
    state: str = "open"
    layouts: dict[str, Layout] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.layouts = {
            digest: Layout(digest, each.outputs)
            for digest, each in self.collection.mechanisms.items()
        }

    @cached_property
    def told(self) -> dict[str, Any]:
        """What the survey says of it."""
        return self.collection.description()

    @property
    def default(self) -> str | None:
        """The digest of the mechanism where nothing else is said; a panel has none."""
        found: str | None = self.told["mechanism"]
        return found

    @property
    def panel(self) -> bool:
        """Whether each mechanism is somebody's, and holds what is known of that person."""
        return bool(self.collection.panel)

    @property
    def signed(self) -> bool:
        """Whether each report needs a write token."""
        return self.survey.tokens == "signed"

    def state_on(self, day: date) -> str:
        """Return whether it is open, closed, or not open yet."""
        survey = self.survey
        if self.state == "closed" or (survey.closes is not None and day > survey.closes):
            return "closed"
        if survey.opens is not None and day < survey.opens:
            return "not-open-yet"
        return "open"

    def require_open(self, day: date) -> None:
        """Refuse reports where it is not open; raises Problem."""
        state = self.state_on(day)
        if state != "open":
            when = self.survey.opens if state == "not-open-yet" else self.survey.closes
            dates: dict[str, Any] = {}
            if when is not None:
                dates["opens" if state == "not-open-yet" else "closes"] = when.isoformat()
            raise Problem(state, **dates)

    def description(self, day: date) -> dict[str, Any]:
        """Return what everybody may know of it."""
        survey = self.survey
        return {
            **self.told,
            "name": self.name,
            "state": self.state_on(day),
            "opens": survey.opens and str(survey.opens),
            "closes": survey.closes and str(survey.closes),
            "least": survey.least,
            "results": survey.results,
            "tokens": survey.tokens,
            "stuffing": _STUFFING[survey.tokens],
            "most": MOST,
        }


_STUFFING = {
    "open": "anybody can send any number of reports: the estimates can be forged",
    "signed": "each report needs a token of the operator, who gives one to each person",
}


class ChangedSurvey(InputError):
    """A survey was changed while there are reports to it as it was."""


class Service:
    """Surveys and their store, as both addresses serve them.

    `open` designs, proves and registers; nothing is served before. `shutdown` ends the store.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        surveys: Iterable[Survey] = (),
        store: Store | None = None,
        today: Callable[[], date] | None = None,
    ) -> None:
        self.settings = settings
        self.served: dict[str, Served] = {}
        self.mechanisms: dict[str, bytes] = {}
        self.metrics = Metrics()
        self.rates = Rates(settings.requests_per_minute)
        self.questions = Rates(settings.requests_per_minute)
        """Requests for results: each lets the store count."""
        self.admin_token = settings.admin_token or new_token()
        self.draining = False
        self.waiting = 0
        self.today = today or _today
        self._given = tuple(surveys)
        self._store = store
        self._tokens: WriteTokens | None = None
        self._opened = False
        self.readers = ThreadPoolExecutor(2, "liftlock-read")
        self.estimators = ThreadPoolExecutor(1, "liftlock-estimate")
        self._designer = ThreadPoolExecutor(1, "liftlock-design")
        self._putting = threading.Lock()
        self.results = Results(self)

    # --- from start to end ----------------------------------------------------------------------

    @property
    def store(self) -> Store:
        """The store, which is there once the service is open."""
        assert self._store is not None, "the service is not open"
        return self._store

    @property
    def is_open(self) -> bool:
        """Whether it was opened."""
        return self._opened

    def open(self) -> Service:
        """Open the store; design, check, prove and register every survey."""
        if self._opened:
            return self
        surveys = [*self._given, *(Survey.read(path) for path in self.settings.surveys)]
        names = [survey.name for survey in surveys]
        for name in names:
            if names.count(name) > 1:
                raise InputError(
                    "two surveys of one name", value=name, remedy="give one of them another name"
                )
        if self._store is None:
            self._store = open_store(self.settings.place)
        try:
            self.access = Access(self._store, self.admin_token)
            for survey in surveys:
                self.put(survey)
            self.refresh()
        except BaseException:
            self._store.shutdown()
            self._store = None
            raise
        self.metrics.gauges = self._gauges
        self._opened = True
        return self

    def shutdown(self) -> None:
        """End the store; what was answered is on disk."""
        if self._opened:
            self._opened = False
            self.readers.shutdown()
            self.estimators.shutdown()
            self._designer.shutdown()
            self.store.shutdown()

    def _gauges(self) -> Mapping[str, Any]:
        return {**self.store.ready(), "waiting": self.waiting, "draining": int(self.draining)}

    # --- surveys --------------------------------------------------------------------------------

    def put(self, survey: Survey) -> list[str]:
        """Serve a survey from now on, and return the names of its collections.

        What `check` refuses is refused, and so is a survey that was changed while there are reports
        to it. Nothing is registered unless everything can be.
        """
        with self._putting:
            if survey.tokens == "signed":
                _ = self.tokens  # without their key it cannot be served
            content = survey.content()
            known = self.store.collections()
            names = [f"{survey.name}.{question.name}" for question in survey.questions]
            own = [name for name in known if told_of(known[name]).get("survey") == survey.name]
            for name in dict.fromkeys([*own, *names]):
                if name in known:
                    self._refuse_changes(name, told_of(known[name]), content)
            collections = survey.collections(kept=self._kept(known, names))
            if any(name not in known or told_of(known[name]) != content for name in names):
                survey.check().require()
            for name in own:
                if name not in names:
                    self._withdraw(name, told_of(known[name]), content)
            for name, collection in collections.items():
                purposes = {each.purpose: each.digest for each in collection.mechanisms.values()}
                settings = {"survey": content, "purposes": purposes}
                self.store.register(name, _files(collection), settings)
                state = known[name].state if name in known else "open"
                self._add(Served(name, survey, collection, state))
            return names

    def _add(self, served: Served) -> None:
        self.served[served.name] = served
        for digest, each in served.collection.mechanisms.items():
            self.mechanisms[digest] = each.file

    def refresh(self) -> None:
        """Serve what operators have put into the store, here or through another server."""
        stored = self.store.collections()
        for name in [name for name in self.served if name not in stored]:
            self._forget(name)
        for name, record in stored.items():
            if name in self.served:
                self.served[name].state = record.state
            elif "survey" in record.settings:
                self._restore(record.settings["survey"], stored)

    def _restore(self, content: Mapping[str, Any], stored: Mapping[str, Record]) -> None:
        """Serve again what was served before, by the same mechanisms.

        The store does not have the files of a panel, or of a mechanism: a survey that names some
        is served by whoever gives it, and does not keep others from being served.
        """
        files = files_of(content)
        if files:
            log.warning(
                "survey %s is not served: give its file, which reads %s", content["survey"], files
            )
            return
        survey = Survey.from_data(content)
        for name, collection in survey.collections(kept=self._kept(stored, stored)).items():
            if name not in stored or name in self.served:
                continue
            if set(collection.mechanisms) != set(stored[name].mechanisms):
                raise InputError(
                    "this version designs other mechanisms than those the store has reports of",
                    where=f"collection {name!r}",
                    remedy="use the version that made them, or export and erase the collection",
                )
            self._add(Served(name, survey, collection, stored[name].state))

    def _kept(self, known: Mapping[str, Record], names: Iterable[str]) -> StoredMechanisms:
        """Return the mechanisms that the store has for collections, by what they are for."""
        digests: dict[str, str] = {}
        for name in names:
            if name in known:
                digests |= known[name].settings.get("purposes", {})
        return StoredMechanisms(None, digests, self.store)

    async def watch(self) -> None:
        """Look every other second at what other servers of the store have changed."""
        while True:
            await asyncio.sleep(2)
            try:
                await self.designs(self.refresh)
            except LiftlockError as error:
                log.error("cannot follow the store: %s", type(error).__name__)

    async def designs(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call what designs mechanisms in the one thread for that."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._designer, function, *arguments)

    def _refuse_changes(
        self, name: str, before: Mapping[str, Any], after: Mapping[str, Any]
    ) -> None:
        changes = [each for each in differences(before, after) if each not in FREE]
        if changes and any(map(any, self.store.counts(name).mechanisms.values())):
            raise ChangedSurvey(
                "the survey was changed, and there are reports to it as it was",
                where=f"collection {name!r}",
                value=", ".join(changes[:5]),
                remedy="restore it, give the changed survey a new name, or erase the collection",
            )

    def _withdraw(self, name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        """Forget a question that is asked no more: the budget of a person is without it."""
        self.store.close(name)  # so that no report comes between
        self._refuse_changes(name, before, after)
        self.erase(name)

    # --- what requests ask for ------------------------------------------------------------------

    def find(self, name: str) -> Served:
        """Return a collection; raises Problem."""
        served = self.served.get(name)
        if served is None:
            raise Problem("unknown-collection", collection=name[:200])
        return served

    @property
    def tokens(self) -> WriteTokens:
        """The write tokens; their key is made when it is first needed."""
        if self._tokens is None:
            place = self.settings.key_file
            if not place and self.settings.shared:
                raise InputError(
                    "servers that share a store need one key of write tokens",
                    remedy="give them the same file: --key-file FILE",
                )
            self._tokens = WriteTokens(read_key(Path(place or f"{self.settings.place}.key")))
        return self._tokens

    def close(self, name: str) -> None:
        """Take no more reports."""
        self.store.close(name)
        self.find(name).state = "closed"

    def erase(self, name: str) -> None:
        """Forget a collection and all that was reported to it."""
        self.store.erase(name)
        self._forget(name)

    def _forget(self, name: str) -> None:
        self.served.pop(name, None)
        kept = {digest for each in self.served.values() for digest in each.layouts}
        self.mechanisms = {d: file for d, file in self.mechanisms.items() if d in kept}
        self.results.forget(name)


def _files(collection: Collection) -> dict[str, tuple[int, bytes]]:
    return {digest: (each.outputs, each.file) for digest, each in collection.mechanisms.items()}


class Results:
    """Counts and estimates, computed beside the loop that takes reports, each once.

    Of one collection one fold runs at a time. Those who ask meanwhile share the next one: it begins
    after they asked, so it holds whatever was answered before.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._running: dict[str, asyncio.Task[Counts]] = {}
        self._next: dict[str, asyncio.Task[Counts]] = {}
        self._estimates: dict[tuple[str, tuple[tuple[str, str], ...]], tuple[int, bytes]] = {}
        self._estimating: dict[Any, asyncio.Task[bytes]] = {}
        self._histories: dict[str, tuple[int, History]] = {}

    async def counts(self, name: str) -> Counts:
        """Return the counts with every report that was answered before."""
        task = self._next.get(name)
        if task is None:
            task = self._next[name] = asyncio.create_task(self._count(name))
        return await asyncio.shield(task)

    async def _count(self, name: str) -> Counts:
        before = self._running.get(name)
        if before is not None:
            await asyncio.wait([before])
        task = self._next.pop(name)
        self._running[name] = task
        try:
            counts: Counts = await self.read(self._service.store.counts, name)
            return counts
        finally:
            if self._running.get(name) is task:
                del self._running[name]

    async def history(self, name: str) -> History:
        """Return the counts by day; they are read again only after others were counted."""
        revision = (await self.counts(name)).revision
        found = self._histories.get(name)
        if found is None or found[0] != revision:
            found = revision, await self.read(self._service.store.history, name)
            self._histories[name] = found
        return found[1]

    async def read(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call what takes its time in one of two threads."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._service.readers, function, *arguments)

    async def estimate(self, served: Served, options: Mapping[str, str]) -> bytes:
        """Return the estimate as JSON; equal questions of equal counts are computed once."""
        counts = await self.counts(served.name)
        require_least(served, counts, at_least=1)
        key = (served.name, tuple(sorted(options.items())))
        found = self._estimates.get(key)
        if found is not None and found[0] == counts.revision:
            return found[1]
        working = (*key, counts.revision)
        task = self._estimating.get(working)
        if task is None:
            if len(self._estimating) >= 8:
                raise Problem("busy", "other estimates are being computed")
            task = asyncio.create_task(self._estimate(served, counts, options, key, working))
            self._estimating[working] = task
        return await asyncio.shield(task)

    async def _estimate(
        self, served: Served, counts: Counts, options: Mapping[str, str], key: Any, working: Any
    ) -> bytes:
        try:
            loop = asyncio.get_running_loop()
            body = await loop.run_in_executor(
                self._service.estimators, _estimate, served, counts, dict(options)
            )
        finally:
            del self._estimating[working]
        if len(self._estimates) >= 256:
            self._estimates.clear()
        self._estimates[key] = (counts.revision, body)
        return body

    def forget(self, name: str) -> None:
        """Drop what is kept of a collection."""
        self._estimates = {key: each for key, each in self._estimates.items() if key[0] != name}
        self._histories.pop(name, None)


def _estimate(served: Served, counts: Counts, options: dict[str, str]) -> bytes:
    try:
        estimated = served.collection.estimate(counts.mechanisms, **options)
    except LiftlockError as error:
        raise Problem("no-estimate", str(error)) from None
    content = {**estimated.content(), "revision": counts.revision}
    return msgspec.json.encode(content)


def require_least(served: Served, counts: Counts, at_least: int = 0) -> int:
    """Return how many reports there are; refuse to show too few, raises Problem."""
    least = max(served.survey.least, at_least)
    if counts.total < least:
        raise Problem("too-few-reports", least=least)
    return counts.total


def differences(before: Any, after: Any, where: str = "") -> list[str]:
    """Name the fields in which two forms of a survey differ.

    >>> differences({"a": 1, "q": [{"ask": "x"}]}, {"a": 2, "q": [{"ask": "y"}]})
    ['a', 'q[0].ask']
    """
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        inner = f"{where}." if where else ""
        return [
            each
            for key in dict.fromkeys([*before, *after])
            for each in differences(before.get(key), after.get(key), f"{inner}{key}")
        ]
    if isinstance(before, list | tuple) and isinstance(after, list | tuple):
        if len(before) != len(after):
            return [where]
        pairs = enumerate(zip(before, after, strict=True))
        return [each for at, (a, b) in pairs for each in differences(a, b, f"{where}[{at}]")]
    return [] if before == after else [where]


def etag_of(body: bytes) -> str:
    """Return the entity tag of a body."""
    return f'"{sha256(body).hexdigest()[:32]}"'


def _today() -> date:
    return datetime.now(UTC).date()
