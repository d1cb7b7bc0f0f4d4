"""One thread that alone writes: whatever waited during the last sync is committed together.

Nobody waits for a group to fill. While one group is synced the next one gathers, so that a sync is
shared by as many batches as there are, and by few if there are few.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from liftlock.collect.store.protocol import Busy, Stopped, StoreError

if TYPE_CHECKING:
    from liftlock.collect.wire import Batch

Result = TypeVar("Result")

EVERY = 1.0
"""Seconds after which what was stored is folded."""
AT_MOST = 100_000
"""Reports after which it is folded sooner."""
QUEUE = 4_096
"""Batches that may wait."""
QUEUE_BYTES = 32 << 20
GROUP_BYTES = 1 << 20
LONGEST = 0.5
"""Seconds that a fold should take: where it is slower, fewer reports are folded at once."""
LEAST = 5_000
"""Reports that are folded at once, however slow that is."""


class Journal(Protocol):
    """What the thread does; all of it is called there and nowhere else."""

    def commit(self, batches: Sequence[Batch]) -> Sequence[Exception | None]:
        """Put batches on disk, in this order; return what refuses each."""

    def fold(self) -> None:
        """Count everything that was committed."""

    def unfolded(self) -> int:
        """Return how many reports were committed and not counted yet."""

    def probe(self) -> None:
        """Write something, to see whether that is possible again."""

    def release(self) -> None:
        """Let go of the database."""


@dataclass(slots=True)
class _Sent:
    """A batch, and who waits for it: a future of a loop, or of a thread."""

    batch: Batch
    future: asyncio.Future[None] | Future[None]
    loop: asyncio.AbstractEventLoop | None


@dataclass(slots=True)
class _Asked:
    """Something else to do; what was sent before is committed first."""

    work: Callable[[], Any]
    future: Future[Any]
    last: bool = False


@dataclass
class Writer:
    """Starts the thread, hands over batches, and asks for other work."""

    open_journal: Callable[[], Journal]
    every: float = EVERY
    at_most: int = AT_MOST
    queue: int = QUEUE
    queue_bytes: int = QUEUE_BYTES
    _jobs: SimpleQueue[_Sent | _Asked] = field(default_factory=SimpleQueue)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _waiting: int = 0
    _waiting_bytes: int = 0
    _stopped: bool = False
    _failure: str = ""
    _since: float | None = None
    """When the oldest report that is not folded yet was committed."""
    _full: int = 0
    """Reports after which it is folded now: `at_most`, or fewer on a slow disk."""
    _next: float | None = None
    """When to fold, or to try again what failed; None if there is nothing to do."""

    def __post_init__(self) -> None:
        self._full = self.at_most
        opened: Future[Journal] = Future()
        self._thread = threading.Thread(target=self._run, args=(opened,), name="store", daemon=True)
        self._thread.start()
        self.journal = opened.result()

    # --- for everybody ----------------------------------------------------------------------------

    def submit(self, batch: Batch) -> asyncio.Future[None]:
        """Hand over a batch from an event loop."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        self._put(_Sent(batch, future, loop))
        return future

    def store(self, batch: Batch) -> None:
        """Hand over a batch and wait for it."""
        future: Future[None] = Future()
        self._put(_Sent(batch, future, None))
        future.result()

    def ask(self, work: Callable[[], Result]) -> Result:
        """Let the thread do something between two groups, and return what it returns."""
        future: Future[Result] = Future()
        with self._lock:
            if self._stopped:
                raise Stopped
            self._jobs.put(_Asked(work, future))
        return future.result()

    def stop(self) -> None:
        """Finish what was handed over, and end; nothing more is taken. Repeatable."""
        future: Future[None] = Future()
        with self._lock:
            first, self._stopped = not self._stopped, True
            if first:
                self._jobs.put(_Asked(self._finish, future, last=True))
        if first:
            try:
                future.result()
            finally:
                self._thread.join()
        else:
            self._thread.join()

    def ready(self) -> dict[str, Any]:
        """Say how it goes."""
        since = self._since
        return {
            "writable": not self._failure and not self._stopped,
            "failure": self._failure,
            "lag": 0.0 if since is None else max(time.monotonic() - since, 0.0),
            "queue": self._waiting,
            "unfolded": self.journal.unfolded(),
        }

    def _put(self, job: _Sent) -> None:
        with self._lock:
            if self._stopped:
                raise Stopped
            if self._waiting >= self.queue or self._waiting_bytes >= self.queue_bytes:
                raise Busy
            self._waiting += 1
            self._waiting_bytes += len(job.batch.reports)
            self._jobs.put(job)

    # --- the thread -------------------------------------------------------------------------------

    def _run(self, opened: Future[Journal]) -> None:
        try:
            journal = self.open_journal()
        except BaseException as error:
            opened.set_exception(error)
            return
        self.journal = journal
        self._plan()
        # What a kill left is folded before anybody asks; on a full disk, when there is space.
        self._mend()
        opened.set_result(journal)
        running = True
        while running:
            running = self._turn()

    def _turn(self) -> bool:
        """Do what waits, and fold if it is time; return False at the end."""
        group, asked = self._gather()
        if group:
            self._commit(group)
        if asked is not None:
            self._do(asked)
            if asked.last:
                return False
        if self._is_due():
            self._mend()
        return True

    def _gather(self) -> tuple[list[_Sent], _Asked | None]:
        """Take what waits, up to the first other work; wait only if there is nothing."""
        group: list[_Sent] = []
        size = 0
        wait: float | None = self._pause()
        while size < GROUP_BYTES:
            try:
                job = self._jobs.get(timeout=wait) if wait != 0 else self._jobs.get_nowait()
            except Empty:
                break
            if isinstance(job, _Asked):
                return group, job
            group.append(job)
            size += len(job.batch.reports)
            wait = 0
        return group, None

    def _pause(self) -> float | None:
        """Return how long there is nothing to do but wait."""
        return None if self._next is None else max(self._next - time.monotonic(), 0)

    def _is_due(self) -> bool:
        if self._next is None:
            return False
        full = self.journal.unfolded() >= self._full and not self._failure
        return full or time.monotonic() >= self._next

    def _commit(self, group: list[_Sent]) -> None:
        errors: Sequence[Exception | None]
        try:
            errors = self.journal.commit([sent.batch for sent in group])
            if None in errors:
                self._failure = ""
        except Exception as error:  # whatever it is, those who wait must hear of it
            self._fail(error)
            errors = [error] * len(group)
        self._plan()
        with self._lock:
            self._waiting -= len(group)
            self._waiting_bytes -= sum(len(sent.batch.reports) for sent in group)
        _answer(group, errors)

    def _plan(self) -> None:
        """Fold in time what was committed."""
        if self._since is None and self.journal.unfolded():
            self._since = time.monotonic()
            self._next = self._next or self._since + self.every

    def _fail(self, error: Exception) -> None:
        """Remember what failed, and try again in a while."""
        self._failure = str(error)
        self._next = time.monotonic() + self.every

    def fold(self) -> None:
        """Fold now; only in the thread."""
        number, begun = self.journal.unfolded(), time.monotonic()
        self.journal.fold()
        self._since = None
        if number:
            self._failure = ""
            self._adapt(number, time.monotonic() - begun)
        if not self._failure:
            self._next = None

    def _adapt(self, number: int, seconds: float) -> None:
        """Fold fewer reports at once where so many take too long, since everybody waits."""
        if number < min(LEAST, self.at_most):
            return  # of few, most of the time is for the disk to sync
        fit = max(int(number * LONGEST / max(seconds, 1e-9)), LEAST)
        self._full = min(self.at_most, fit)

    def _mend(self) -> None:
        """Fold what waits; after a failure see whether it is over."""
        try:
            if self._failure:
                self.journal.probe()
            self._failure = ""
            self.fold()
        except Exception as error:  # the thread goes on: there may be space again
            self._fail(error)

    def _do(self, asked: _Asked) -> None:
        try:
            result = asked.work()
        except BaseException as error:
            asked.future.set_exception(error)
        else:
            asked.future.set_result(result)

    def _finish(self) -> None:
        """Fold and let go; what cannot be folded now stays in the journal."""
        try:
            with suppress(StoreError):
                self.fold()
        finally:
            self.journal.release()


def _answer(group: list[_Sent], errors: Sequence[Exception | None]) -> None:
    """Tell those who wait, each loop once."""
    loops: dict[asyncio.AbstractEventLoop, list[tuple[Any, Exception | None]]] = {}
    for sent, error in zip(group, errors, strict=True):
        if sent.loop is not None:
            loops.setdefault(sent.loop, []).append((sent.future, error))
        else:
            _settle([(sent.future, error)])
    for loop, settled in loops.items():
        # A loop that was closed has nobody left who waits.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_settle, settled)


def _settle(settled: list[tuple[Any, Exception | None]]) -> None:
    for future, error in settled:
        if future.done():
            continue  # whoever waited has gone: the batch is stored all the same
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)
