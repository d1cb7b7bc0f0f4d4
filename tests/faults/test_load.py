"""A load that goes on: memory stays flat, everything is answered, and each report counted once."""

from __future__ import annotations

import asyncio
import http.client
import json
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.faults.collect_server import NAME, Server, started
from tests.faults.load import Aim, Result, run_apart
from tests.postgres_cluster import cluster, missing
from tests.soak import sized

MOST = 150 << 20
"""Bytes that a server may take."""
REPORTS = 100
RATE = 300.0
"""Requests a second: 30,000 reports, so that ten minutes fit on a disk."""


@contextmanager
def sampled(server: Server, memory: list[int]) -> Iterator[None]:
    """Look at the memory of a server twice a second."""
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(0.5):
            memory.append(server.memory)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield
    finally:
        ended.set()
        looking.join()
    memory.append(server.memory)


def ask(address: str, path: str) -> bytes:
    connection = http.client.HTTPConnection(address.removeprefix("http://").rstrip("/"), timeout=60)
    with closing(connection):
        connection.request("GET", path)
        answer = connection.getresponse()
        content = answer.read()
    assert answer.status == 200, content
    return content


def load(server: Server, seconds: int, seed: int) -> tuple[Result, Result]:
    """Post in both forms at once, from processes of their own."""

    async def both() -> tuple[Result, Result]:
        one, other = (
            run_apart(aim(server, kind, seconds, seed + at))
            for at, kind in enumerate(("binary", "json"))
        )
        return await asyncio.gather(one, other)

    return asyncio.run(both())


def aim(server: Server, kind: str, seconds: int, seed: int) -> Aim:
    return server.aim(
        kind=kind, reports=REPORTS, connections=16, seconds=seconds, rate=RATE / 2, seed=seed
    )


def run_for(seconds: int, where: str, say: Callable[[str], None]) -> None:
    """Load a server, and check what must hold then."""
    memory: list[int] = []
    with started("service", "--store", where) as server:
        load(server, 1, seed=1)
        warm = int(json.loads(ask(server.public, f"/v1/collections/{NAME}/estimate"))["reports"])
        with sampled(server, memory):
            begun = time.perf_counter()
            results = load(server, seconds, seed=11)
            taken = time.perf_counter() - begun
        told = json.loads(ask(server.public, f"/v1/collections/{NAME}/estimate"))
    sent = sum(result.reports for result in results)
    assert [set(result.statuses) for result in results] == [{"200"}] * 2
    assert sum(result.lost for result in results) == 0
    # Every id was new: what was answered is counted, each once.
    assert told["reports"] - warm == sent
    third = max(len(memory) // 3, 1)
    early, late = (statistics.median(part) for part in (memory[:third], memory[-third:]))
    for result, kind in zip(results, ("binary", "JSON"), strict=True):
        say(
            f"{where.partition(':')[0].rpartition('.')[2]}, {kind}: "
            f"{result.requests:,} POSTs of {REPORTS} in {taken:.0f} s, answered within "
            f"{1000 * result.median:.1f} ms (median), {1000 * result.slow:.1f} ms (99 %), "
            f"{1000 * result.slowest:.0f} ms (all)"
        )
    say(
        f"memory: {early / 2**20:.0f} MiB in the first third, {late / 2**20:.0f} MiB in the last, "
        f"{max(memory) / 2**20:.0f} MiB at most"
    )
    assert max(memory) <= MOST
    assert late <= early + sized(24 << 20, 8 << 20)


@pytest.mark.soak
def test_sqlite_under_load(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        run_for(sized(4, 600), str(tmp_path / "store.sqlite"), _say)


@pytest.mark.soak
def test_postgres_under_load(capsys: pytest.CaptureFixture[str]) -> None:
    if missing():
        pytest.skip(missing())
    with cluster() as own, capsys.disabled():
        run_for(sized(4, 300), own.create("loaded"), _say)


def _say(line: str) -> None:
    if sized(0, 1):
        print(f"\n{line}", flush=True)
