"""How fast reports are stored for good, counted and estimated: ratios of one run.

A server, its load and its disk share one machine, and a sync of the disk takes a fifth of a
millisecond now and ten a minute later. So whatever is compared is measured in turn, and what is
shown is the median of the ratios of several rounds. Beside the rates stand the seconds of a core
that the server itself used, which the load does not blur.

"durable" answers when its group is on disk. "journal" folds later: that is what a burst sees.
"folding" goes on as the service does, so that no report waits long to be counted: that is what a
load sees that never ends.

python -m benchmarks collect                      SQLite, and PostgreSQL where it is installed
python -m benchmarks.bench_collect --seconds 5    each measurement takes longer
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import os
import sqlite3
import statistics
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console, Group
from rich.table import Table as Grid
from rich.text import Text

from benchmarks.bench_store import FOLD, KNOWN, Plain, bodies, fold
from tests.faults.collect_server import NAME, Server, started
from tests.faults.load import Result, run_apart
from tests.postgres_cluster import Cluster, cluster, missing

SECONDS = 3.0
ROUNDS = 3
CONNECTIONS = 64
GROUP = 32
"""Batches that SQLite itself commits together, about as many as the service does."""
SINGLE = 256
"""Connections that send one report at a time."""
REPORTS = 100
MANY = 10**8
TUNED = {"shared_buffers": "512MB", "max_wal_size": "4GB", "wal_compression": "on"}
"""Settings of PostgreSQL that its page advises."""


@dataclass
class Rate:
    """What one kind of work did in each round."""

    rates: list[float] = field(default_factory=list)
    cost: list[float] = field(default_factory=list)
    """Milliseconds of a core of the server for each request."""
    slow: list[float] = field(default_factory=list)
    lag: list[float] = field(default_factory=list)
    memory: int = 0

    def over(self, other: Rate) -> float:
        """Return the median of the ratios of the rounds."""
        pairs = zip(self.rates, other.rates, strict=True)
        return statistics.median(one / two for one, two in pairs)


# --- the disk -----------------------------------------------------------------------------------


def time_sync(folder: Path, times: int = 60) -> float:
    """Return the median seconds of a sync after a write of 64 kB."""
    found = []
    with (folder / "synced").open("wb", buffering=0) as file:
        for _ in range(times):
            file.write(bytes(1 << 16))
            start = time.perf_counter()
            os.fdatasync(file.fileno())
            found.append(time.perf_counter() - start)
    (folder / "synced").unlink()
    return statistics.median(found)


def append_for(plain: Plain, content: list[bytes], group: int, seconds: float) -> float:
    """Commit blobs to SQLite itself in groups; return how many a second."""
    done = 0
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        plain.append(content, group)
        done += len(content)
    return done / (time.perf_counter() - start)


# --- servers under load -------------------------------------------------------------------------


def measure(server: Server, rate: Rate, seconds: float, **aim: Any) -> Result:
    """Load a server, and add what it did."""
    given = {"connections": CONNECTIONS, "reports": REPORTS, "seconds": seconds, **aim}
    lags: list[float] = []
    ended = threading.Event()
    watching = threading.Thread(target=_watch, args=(server, lags, ended))
    if server.admin:
        watching.start()
    before = server.seconds
    seed = len(rate.rates) + 10 * hash(tuple(sorted(aim.items()))) % 1_000_000
    result = asyncio.run(run_apart(server.aim(**{"seed": seed, **given})))
    rate.cost.append(1000 * (server.seconds - before) / max(result.requests, 1))
    ended.set()
    if server.admin:
        watching.join()
    if set(result.statuses) != {"200"} or result.lost:
        raise RuntimeError(f"not everything was answered: {result}")
    rate.rates.append(result.rate)
    rate.slow.append(result.slow)
    rate.lag.append(max(lags, default=0.0))
    rate.memory = max(rate.memory, server.memory)
    return result


def _watch(server: Server, lags: list[float], ended: threading.Event) -> None:
    """Ask now and then how long the oldest report has waited to be counted."""
    while not ended.wait(0.25):
        for line in ask(server.admin, "/metrics").decode().splitlines():
            if line.startswith("liftlock_lag "):
                lags.append(float(line.split()[1]))


def ask(address: str, path: str) -> bytes:
    """Get a page of a server."""
    connection = http.client.HTTPConnection(address.removeprefix("http://").rstrip("/"), timeout=60)
    with closing(connection):
        connection.request("GET", path)
        answer = connection.getresponse()
        content = answer.read()
    if answer.status != 200:
        raise RuntimeError(f"{path} was answered by {answer.status}: {content[:200]!r}")
    return content


# --- estimating ---------------------------------------------------------------------------------


def time_estimates(folder: Path) -> dict[int, float]:
    """Return the median seconds of an estimate over HTTP, by the number of reports."""
    found: dict[int, float] = {}
    for number in (10**4, MANY):
        path = folder / f"estimate-{number}.sqlite"
        with started("service", "--store", str(path)):
            pass
        with closing(sqlite3.connect(path)) as connection, connection:
            # So many reports as counts alone: an estimate never looks at anything else.
            shares = np.array([0.4, 0.3, 0.2, 0.1])
            connection.executemany(
                "INSERT INTO counts SELECT id, '2026-11-19', ?, ? FROM mechanism",
                enumerate((shares * number).astype(int).tolist()),
            )
        times = []
        with started("service", "--store", str(path)) as server:
            for at in range(40):
                # Another level each time: equal questions would be answered from memory.
                start = time.perf_counter()
                ask(server.public, f"/v1/collections/{NAME}/estimate?level=0.9{at:02}")
                times.append(time.perf_counter() - start)
        found[number] = statistics.median(times[5:])
    return found


# --- everything ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """A line of the table: what was measured, its goal, and what came out."""

    what: str
    goal: str
    found: str
    told: str = ""


def run(seconds: float = SECONDS) -> Group:
    """Measure everything, and return the tables."""
    with tempfile.TemporaryDirectory(prefix="liftlock-bench-") as name:
        folder = Path(name)
        rows, sync = _sqlite(folder, seconds)
        for known in KNOWN:
            ratio, lag, _ = fold(folder, known)
            rows.append(
                Row(
                    f"fold of {FOLD:,} into {known:,} over a sorted insert",
                    ">= 0.8",
                    f"{ratio:.2f}",
                    f"{lag:.2f} s at most",
                )
            )
        times = time_estimates(folder)
        few, many = times.values()
        rows.append(
            Row(
                f"estimate of {MANY:,} reports",
                "<= 10 ms",
                f"{1000 * many:.1f} ms",
                f"{many / few:.2f} times that of 10,000",
            )
        )
        tables: list[Grid | Text] = [_grid(f"SQLite; a sync takes {1000 * sync:.2f} ms", rows)]
        reason = missing()
        if reason:
            tables.append(Text(f"PostgreSQL: {reason}"))
        else:
            with cluster(TUNED) as own:
                tables.append(_grid("PostgreSQL, on the same machine", _postgres(own, seconds)))
    return Group(*tables)


def _sqlite(folder: Path, seconds: float) -> tuple[list[Row], float]:
    kinds = ("empty binary", "empty json", "journal binary", "journal json")
    rates = {kind: Rate() for kind in (*kinds, "raw", "single", "commits", "folding")}
    syncs = []
    with ExitStack() as stack:
        enter = stack.enter_context
        empty = enter(started("empty"))
        deferred = enter(started("service", "--deferred", "--store", str(folder / "one.sqlite")))
        raw = Plain(folder / "raw.sqlite")
        stack.callback(raw.connection.close)
        hundreds, ones = bodies(10 * GROUP, REPORTS, 1), bodies(10, 1, 2)
        for _ in range(ROUNDS):
            syncs.append(time_sync(folder))
            for kind in ("binary", "json"):
                measure(empty, rates[f"empty {kind}"], seconds, kind=kind)
                measure(deferred, rates[f"journal {kind}"], seconds, kind=kind)
            rates["raw"].rates.append(append_for(raw, hundreds, GROUP, seconds))
            measure(deferred, rates["single"], seconds, connections=SINGLE, reports=1)
            rates["commits"].rates.append(append_for(raw, ones, 1, seconds))
    with started("service", "--store", str(folder / "two.sqlite")) as folding:
        for _ in range(ROUNDS):
            measure(folding, rates["folding"], 2 * seconds)
    binary, json = rates["journal binary"], rates["journal json"]
    sync = statistics.median(syncs)
    short = "" if sync >= 1e-3 else " (a sync takes less than 1 ms here: no goal)"
    always = rates["folding"]
    rows = [
        Row(
            "durable binary POST of 100 over the empty handler",
            ">= 0.40",
            f"{binary.over(rates['empty binary']):.2f}",
            f"{_told(binary)}; empty {_told(rates['empty binary'])}",
        ),
        Row(
            "durable JSON POST of 100 over the empty handler",
            ">= 0.30",
            f"{json.over(rates['empty json']):.2f}",
            f"{_told(json)}; empty {_told(rates['empty json'])}",
        ),
        Row(
            "durable binary over a raw insert into a journal",
            ">= 0.5",
            f"{binary.over(rates['raw']):.2f}",
            f"raw {_many(rates['raw'].rates)} batches/s in groups of {GROUP}{short}",
        ),
        Row(
            f"one report a POST, {SINGLE} connections, over commits",
            ">= 20",
            f"{rates['single'].over(rates['commits']):.0f}",
            f"{_told(rates['single'])}; {_many(rates['commits'].rates)} commits/s",
        ),
        Row(
            "the same load without an end: folding meanwhile",
            "lag <= 2 s",
            f"{max(always.lag):.1f} s",
            f"{_told(always)}, {REPORTS * statistics.median(always.rates):,.0f} reports/s; "
            f"memory {always.memory / 2**20:.0f} MiB",
        ),
    ]
    return rows, sync


def _postgres(own: Cluster, seconds: float) -> list[Row]:
    rows = []
    alone = 0.0
    for number in (1, 2):
        for deferred in (True, False):
            url = own.create(f"bench{number}{deferred}".lower())
            total, lags, slow, memory = _several(url, number, deferred, seconds)
            rate = statistics.median(total)
            alone = alone or rate
            rows.append(
                Row(
                    f"{number} server process{'es' * (number > 1)}, "
                    + ("journal" if deferred else "folding meanwhile"),
                    "" if deferred else "lag <= 2 s",
                    f"{rate / alone:.2f}" if deferred else f"{rate / alone:.2f}, {lags:.1f} s",
                    f"{rate:,.0f} POST/s, {REPORTS * rate:,.0f} reports/s; 99 % within "
                    f"{1000 * slow:.0f} ms; {memory / 2**20:.0f} MiB each",
                )
            )
    return rows


def _several(
    url: str, number: int, deferred: bool, seconds: float
) -> tuple[list[float], float, float, int]:
    """Load several processes on one database, each by its share of the connections."""
    rates = [Rate() for _ in range(number)]
    with ExitStack() as stack:
        arguments = ["service", "--store", url, *(["--deferred"] if deferred else [])]
        servers = [stack.enter_context(started(*arguments)) for _ in range(number)]
        for _ in range(ROUNDS):
            loads = [
                threading.Thread(
                    target=measure,
                    args=(server, rate, seconds),
                    kwargs={"connections": CONNECTIONS // number, "seed": 7 * at + len(rate.rates)},
                )
                for at, (server, rate) in enumerate(zip(servers, rates, strict=True))
            ]
            for load in loads:
                load.start()
            for load in loads:
                load.join()
    totals = [sum(found) for found in zip(*(rate.rates for rate in rates), strict=True)]
    return (
        totals,
        max(max(rate.lag) for rate in rates),
        max(max(rate.slow) for rate in rates),
        max(rate.memory for rate in rates),
    )


def _told(rate: Rate) -> str:
    return (
        f"{_many(rate.rates)}/s, {statistics.median(rate.cost):.3f} ms of a core, "
        f"99 % within {1000 * statistics.median(rate.slow):.0f} ms"
    )


def _many(rates: Sequence[float]) -> str:
    return f"{statistics.median(rates):,.0f}"


def _grid(title: str, rows: Sequence[Row]) -> Grid:
    grid = Grid(title=title)
    for column in ("work", "goal", "found"):
        grid.add_column(column, justify="left" if column == "work" else "right")
    grid.add_column("measured")
    for row in rows:
        grid.add_row(row.what, row.goal, row.found, row.told)
    return grid


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=SECONDS)
    Console(width=160).print(run(parser.parse_args().seconds))
