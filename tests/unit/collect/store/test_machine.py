"""Any operations and faults in any order: what was answered is counted once, and nothing else.

Each report has an output of its own in a wide mechanism, so that a count of 2 is a replay, and one
of 0 for an answered report a loss.
"""

from __future__ import annotations

import asyncio
import random
import shutil
import tempfile
from contextlib import suppress
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from liftlock.collect.store import StoreError
from liftlock.collect.store.place import InUse
from liftlock.collect.store.sqlite import SqliteStore
from liftlock.collect.wire import Batch
from tests.soak import sized
from tests.unit.collect.store.disk import Disk
from tests.unit.collect.store.homes import DAY, NAME, NEVER, Mechanism, served, spread

WIDE = Mechanism(2_000)
Reports = tuple[int, ...]


class Service(RuleBasedStateMachine):
    """A server, its clients, and everything that goes wrong between them."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.disk = Disk()
        self.day = DAY
        self.made = 0
        self.answered: set[int] = set()
        self.sent: set[int] = set()
        self.waiting: list[Reports] = []
        self.done: list[Reports] = []
        self.open()

    def open(self) -> None:
        self.store = SqliteStore(
            self.folder / "store.sqlite",
            connect=self.disk.connect,
            today=lambda: self.day,
            fresh=4,
            every=NEVER,
        )

    @initialize()
    def begin(self) -> None:
        self.store.register(NAME, served(WIDE), {})

    # --- clients ----------------------------------------------------------------------------------

    def make(self, number: int) -> Reports:
        reports = tuple(range(self.made, min(self.made + number, WIDE.outputs)))
        self.made += len(reports)
        return reports

    def deliver(self, *batches: Reports) -> None:
        """Send batches at once, and remember which were answered."""

        async def send() -> list[object]:
            sent = [self.store.submit(batch(reports)) for reports in batches if reports]
            return list(await asyncio.gather(*sent, return_exceptions=True))

        batches = tuple(reports for reports in batches if reports)
        self.sent.update(*batches)
        for reports, answer in zip(batches, asyncio.run(send()), strict=True):
            if answer is None:
                self.answered |= set(reports)
                self.done.append(reports)
            else:
                assert isinstance(answer, StoreError), answer
                self.waiting.append(reports)

    @rule(sizes=st.lists(st.integers(1, 9), min_size=1, max_size=4))
    def send(self, sizes: list[int]) -> None:
        self.deliver(*map(self.make, sizes))

    @rule(size=st.integers(1, 9))
    def lose_the_request(self, size: int) -> None:
        self.waiting.append(self.make(size))

    @rule(size=st.integers(1, 9))
    def lose_the_response(self, size: int) -> None:
        self.deliver(self.make(size))
        if self.done:
            self.waiting.append(self.done[-1])

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def try_again(self, data: st.DataObject) -> None:
        self.deliver(self.waiting.pop(data.draw(st.integers(0, len(self.waiting) - 1))))

    @precondition(lambda self: self.done)
    @rule(data=st.data())
    def repeat_parts_in_another_batch(self, data: st.DataObject) -> None:
        chosen = data.draw(st.lists(st.sampled_from(self.done), min_size=1, max_size=3))
        self.deliver(tuple(at for reports in chosen for at in reports[::-1]))

    # --- faults -----------------------------------------------------------------------------------

    def end(self) -> None:
        """Let the old process be over: of its handles none works any more."""
        with suppress(StoreError):
            self.store.shutdown()

    @rule()
    def kill(self) -> None:
        self.disk.kill()
        self.end()
        self.open()

    @rule(seed=st.integers(0, 999))
    def cut_the_power(self, seed: int) -> None:
        self.disk.cut(random.Random(seed))
        self.end()
        self.open()

    @rule(seed=st.integers(0, 999), later=st.integers(1, 40), fold=st.booleans(), die=st.booleans())
    def cut_it_meanwhile(self, seed: int, later: int, fold: bool, die: bool) -> None:
        self.disk.cut_at = self.disk.events + later
        self.deliver(self.make(3), self.make(2))
        if fold:
            with suppress(StoreError):
                self.store.counts(NAME)
        if die:
            self.disk.kill()
        else:
            self.disk.cut(random.Random(seed))
        self.end()
        self.open()

    @rule()
    def stop_and_start(self) -> None:
        self.end()
        self.open()

    @rule(days=st.integers(-400, 400))
    def set_the_clock(self, days: int) -> None:
        self.day = date(2026, 11, 19) + timedelta(days=days)

    @rule(room=st.integers(0, 20_000))
    def fill_the_disk(self, room: int) -> None:
        used = sum(len(file.now) for file in self.disk.files.values())
        self.disk.room = used + room
        self.deliver(self.make(9), self.make(9))
        self.check()
        self.deliver(self.make(9))
        self.disk.room = None

    @rule()
    def make_the_disk_read_only(self) -> None:
        self.disk.read_only = True
        self.deliver(self.make(4))
        self.check()
        self.disk.read_only = False

    @rule()
    def start_a_second_server(self) -> None:
        with pytest.raises(InUse, match="in use by another process"):
            SqliteStore(self.folder / "store.sqlite", connect=self.disk.connect)

    # --- what must hold ---------------------------------------------------------------------------

    @rule()
    def check(self) -> None:
        try:
            counts = self.store.counts(NAME).mechanisms[WIDE.digest]
        except StoreError:
            assert self.disk.read_only or self.disk.room is not None
            return
        assert max(counts) <= 1, "counted twice"
        found = {output for output, n in enumerate(counts) if n}
        assert self.answered <= found, "lost"
        assert found <= self.sent, "never sent"
        days = self.store.history(NAME)
        assert sum(sum(numbers[WIDE.digest]) for numbers in days.values()) == len(found)

    def teardown(self) -> None:
        try:
            while self.waiting:
                self.deliver(self.waiting.pop())
            self.check()
            assert self.answered == self.sent
            assert self.store.verify() == []
        finally:
            self.store.shutdown()
            shutil.rmtree(self.folder)


def batch(reports: Reports) -> Batch:
    return WIDE.batch((spread(at), at) for at in reports)


TestService = pytest.mark.soak(Service.TestCase)
TestService.settings = settings(max_examples=sized(40, 3_000), stateful_step_count=40)
