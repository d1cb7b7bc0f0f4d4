"""Threads that read ahead and write behind: in order, and gone when anything fails."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from liftlock.frames.pipeline import read_ahead, written_behind


def threads() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name.startswith("liftlock-")]


def test_items_arrive_in_order_and_few_wait() -> None:
    made: list[int] = []

    def numbers() -> Iterator[int]:
        for number in range(50):
            made.append(number)
            yield number

    found: list[int] = []
    with written_behind(found.append) as hand, read_ahead(numbers()) as items:
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
    with (
        pytest.raises(OSError, match="lost"),
        written_behind(found.append) as hand,
        read_ahead(broken()) as items,
    ):
        for item in items:
            hand(item)
    assert closed == [True]
    assert threads() == []


@pytest.mark.parametrize("count", [1, 50])
def test_an_error_of_the_writer(count: int) -> None:
    """It is raised whether the last item or an early one cannot be written."""

    def full(_: int) -> None:
        raise OSError("full")

    with (
        pytest.raises(OSError, match="full"),
        written_behind(full) as hand,
        read_ahead(iter(range(count))) as items,
    ):
        for item in items:
            hand(item)
    assert threads() == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_error_between_them(error: type[BaseException]) -> None:
    """What waits is not written any more, and the reader's file is closed."""
    closed = []

    def numbers() -> Iterator[int]:
        try:
            while True:
                yield 1
        finally:
            closed.append(True)

    with (
        pytest.raises(error),
        written_behind(lambda _: time.sleep(0.01)) as hand,
        read_ahead(numbers()) as items,
    ):
        for number, item in enumerate(items):
            hand(item)
            if number == 5:
                raise error
    assert closed == [True]
    assert threads() == []
