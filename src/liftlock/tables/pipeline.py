"""Reading ahead and writing behind: other threads work while this one does."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

T = TypeVar("T")


DEPTH = 1
"""How many items wait between two threads; each may be tens of megabytes."""


_PATIENCE = 0.05
"""Seconds after which a waiting thread looks whether it should stop."""


class _Stopped(Exception):
    """The other side has gone."""


class _BoundedQueue:
    """A queue of bounded length that either side may close."""

    def __init__(self, depth: int) -> None:
        self.items: queue.Queue[Any] = queue.Queue(depth)
        self.stopped = threading.Event()

    def put(self, item: Any) -> None:
        while not self.stopped.is_set():
            try:
                self.items.put(item, timeout=_PATIENCE)
                return
            except queue.Full:
                continue
        raise _Stopped

    def get(self) -> Any:
        while not self.stopped.is_set():
            try:
                return self.items.get(timeout=_PATIENCE)
            except queue.Empty:
                continue
        raise _Stopped


_END = object()


@contextmanager
def read_ahead(items: Iterator[T], depth: int = DEPTH) -> Iterator[Iterator[T]]:
    """Give the items, which another thread fetches meanwhile; its errors are raised here.

    >>> with read_ahead(iter([1, 2, 3])) as numbers:
    ...     list(numbers)
    [1, 2, 3]
    """
    buffer = _BoundedQueue(depth)
    failures: list[BaseException] = []

    def fetch() -> None:
        try:
            for item in items:
                buffer.put(item)
            buffer.put(_END)
        except _Stopped:
            return
        except BaseException as error:
            failures.append(error)
            try:
                buffer.put(_END)
            except _Stopped:
                return

    def given() -> Iterator[T]:
        while (item := buffer.get()) is not _END:
            yield item
        if failures:
            raise failures[0]

    thread = threading.Thread(target=fetch, name="liftlock-reader", daemon=True)
    thread.start()
    try:
        yield given()
    finally:
        buffer.stopped.set()
        thread.join()
        close = getattr(items, "close", None)
        if close is not None:
            close()


@contextmanager
def write_behind(consume: Callable[[T], None], depth: int = DEPTH) -> Iterator[Callable[[T], None]]:
    """Give a function that hands an item to `consume` in another thread, in order.

    All items have been consumed when the block ends without an error. An error of `consume` is
    raised by the next call, or at the end.

    >>> found = []
    >>> with write_behind(found.append) as hand:
    ...     hand(1)
    ...     hand(2)
    >>> found
    [1, 2]
    """
    buffer = _BoundedQueue(depth)
    failures: list[BaseException] = []

    def work() -> None:
        try:
            while (item := buffer.get()) is not _END:
                consume(item)
                del item
        except _Stopped:
            return
        except BaseException as error:
            failures.append(error)
            buffer.stopped.set()

    def hand(item: T) -> None:
        try:
            buffer.put(item)
        except _Stopped:
            raise failures[0] from None

    thread = threading.Thread(target=work, name="liftlock-writer", daemon=True)
    thread.start()
    try:
        yield hand
        # A stopped buffer has a failure, which is raised below.
        with suppress(_Stopped):
            buffer.put(_END)
        while thread.is_alive():
            thread.join(_PATIENCE)
    finally:
        buffer.stopped.set()
        thread.join()
    if failures:
        raise failures[0]
