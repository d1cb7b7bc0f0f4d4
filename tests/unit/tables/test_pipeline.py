"""Threads that read ahead and write behind: in order, and gone when anything fails."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from liftlock.tables.pipeline import read_ahead, write_behind


def threads() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name.startswith("liftlock-")]


def send(
    items: Iterator[int], consume: Callable[[int], None], between: Callable[[int], object] = int
) -> None:
    with write_behind(consume) as hand, read_ahead(items) as given:
        for item in given:
            between(item)
            hand(item)


def test_items_arrive_in_order_and_few_wait() -> None:
    made: list[int] = []

    def numbers() -> Iterator[int]:
        for number in range(50):
            made.append(number)
            yield number

    found: list[int] = []
    with write_behind(found.append) as hand, read_ahead(numbers()) as items:
        time.sleep(0.05)
        assert len(made) <= 3
        for item in items:
            hand(item)
    assert found == list(range(50))
    assert threads() == []


def test_an_error_of_the_reader() -> None:
    closed = []

    def broken() -> Iterator[int]:
        try:
            yield 1
            raise OSError("lost")
        finally:
            closed.append(True)

    found: list[int] = []
    with pytest.raises(OSError, match="lost"):
        send(broken(), found.append)
    assert closed == [True]
    assert threads() == []


@pytest.mark.parametrize("count", [1, 50])
def test_an_error_of_the_writer(count: int) -> None:
    """It is raised whether the last item or an early one cannot be written."""

    def full(_: int) -> None:
        raise OSError("full")

    with pytest.raises(OSError, match="full"):
        send(iter(range(count)), full)
    assert threads() == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_error_between_them(error: type[BaseException]) -> None:
    """What waits is not written any more, and the reader's file is closed."""
    closed = []

    def numbers() -> Iterator[int]:
        try:
            yield from itertools.count()
        finally:
            closed.append(True)

    def between(number: int) -> None:
        if number == 5:
            raise error

    with pytest.raises(error):
        send(numbers(), lambda _: time.sleep(0.01), between)
    assert closed == [True]
    assert threads() == []
