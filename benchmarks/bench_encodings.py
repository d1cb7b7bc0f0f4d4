"""How fast encodings are released and counted, against other libraries in the same run.

Optimal unary encoding and optimal local hashing of 1,024 symbols at the same budget. The other
libraries answer one person at a time, so they are timed on fewer reports and compared per report:
their time is linear in the reports. Both call xxhash with a text, which recent versions of it
refuse; where that is so, their module is given one that encodes the text first, which makes a hash
slower by a third at most.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial
from importlib import metadata
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
from rich.table import Table as Grid

from liftlock.exact.budget import Budget
from liftlock.model.structured import HashingChannel, UnaryChannel
from liftlock.sampling import SimulationBits, draw_reports, release_codes

SYMBOLS = 1024
EPSILON = 1.0
REPORTS = 1_000_000
PEER_REPORTS = 2_000
PEER_DECODED = 300
ROUNDS = 3
LIMITS = {"release, unary": 20, "release, hashing": 20, "decode, hashing": 100}

Task = Callable[[], object]


def readable(module: ModuleType) -> None:
    """Give a module an xxhash that takes text, if the installed one does not."""
    import xxhash

    try:
        xxhash.xxh32("1", seed=1)  # type: ignore[arg-type, unused-ignore]
    except TypeError:

        def xxh32(text: str, seed: int) -> Any:
            return xxhash.xxh32(text.encode(), seed=seed & 0xFFFFFFFF)

        module.xxhash = SimpleNamespace(xxh32=xxh32)  # type: ignore[attr-defined]


def pure_ldp() -> dict[str, Task]:
    """Return the work of pure-ldp for `PEER_REPORTS` reports each (decoding: `PEER_DECODED`)."""
    from pure_ldp.frequency_oracles.local_hashing import (
        LHClient,
        LHServer,
        lh_client,
        lh_server,
    )
    from pure_ldp.frequency_oracles.unary_encoding import UEClient

    readable(lh_client)
    readable(lh_server)
    people = np.random.default_rng(1).integers(1, SYMBOLS + 1, PEER_REPORTS).tolist()
    unary = UEClient(EPSILON, SYMBOLS, use_oue=True)
    hashing = LHClient(EPSILON, SYMBOLS, use_olh=True)
    server = LHServer(EPSILON, SYMBOLS, use_olh=True)
    reports = [hashing.privatise(x) for x in people[:PEER_DECODED]]
    return {
        "release, unary": lambda: [unary.privatise(x) for x in people],
        "release, hashing": lambda: [hashing.privatise(x) for x in people],
        "decode, hashing": lambda: [server.aggregate(report) for report in reports],
    }


def multi_freq_ldpy() -> dict[str, Task]:
    """Return the work of multi-freq-ldpy, already compiled."""
    from multi_freq_ldpy.pure_frequency_oracles import LH
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client

    readable(LH)
    people = np.random.default_rng(1).integers(0, SYMBOLS, PEER_REPORTS).tolist()
    UE_Client(people[0], SYMBOLS, EPSILON)
    reports = [LH.LH_Client(x, SYMBOLS, EPSILON) for x in people[:PEER_DECODED]]
    return {
        "release, unary": lambda: [UE_Client(x, SYMBOLS, EPSILON) for x in people],
        "release, hashing": lambda: [LH.LH_Client(x, SYMBOLS, EPSILON) for x in people],
        "decode, hashing": lambda: LH.LH_Aggregator_MI(reports, SYMBOLS, EPSILON),
    }


PEERS = {"pure-ldp": pure_ldp, "multi-freq-ldpy": multi_freq_ldpy}


def seconds(task: Task) -> float:
    """Time one call."""
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def run() -> Grid:
    """Measure, and return the table."""
    grid = Grid(
        title=f"{REPORTS:,} reports on {SYMBOLS:,} symbols, one core, best of {ROUNDS} rounds",
        caption=(
            "Other libraries: their time per report over ours, theirs from "
            f"{PEER_REPORTS:,} reports ({PEER_DECODED} decoded) and scaled linearly."
        ),
    )
    grid.add_column("work")
    grid.add_column("seconds", justify="right")
    grid.add_column("ns/report", justify="right")
    grid.add_column("bytes", justify="right")
    work: dict[str, dict[str, Task]] = {}
    for name, make in PEERS.items():
        try:
            work[name] = make()
        except ImportError:
            work[name] = {}
        version = metadata.version(name) if work[name] else "not installed"
        grid.add_column(f"{name} {version}, x ours", justify="right")
    grid.add_column("limit", justify="right")

    unary = UnaryChannel.optimal(range(SYMBOLS), Budget.of(str(EPSILON)))
    hashing = HashingChannel.optimal(range(SYMBOLS), Budget.of(str(EPSILON)))
    people = np.random.default_rng(1).integers(0, SYMBOLS, REPORTS)
    packed = draw_reports(unary, people, SimulationBits(1))
    hashed = draw_reports(hashing, people, SimulationBits(1))
    unary.count_support(packed[:10])
    hashing.count_support(hashed[:10])
    ours: dict[str, tuple[Task, int]] = {
        "release, unary": (partial(release_codes, unary, people), unary.report_bytes),
        "release, hashing": (partial(release_codes, hashing, people), hashing.report_bytes),
        "decode, unary": (partial(unary.count_support, packed), unary.report_bytes),
        "decode, hashing": (partial(hashing.count_support, hashed), hashing.report_bytes),
    }
    for name, (task, size) in ours.items():
        tasks = {"ours": task} | {peer: w[name] for peer, w in work.items() if name in w}
        best = dict.fromkeys(tasks, math.inf)
        for _ in range(ROUNDS):
            for who, each in tasks.items():
                best[who] = min(best[who], seconds(each))
        per_report = best["ours"] / REPORTS
        theirs = PEER_DECODED if name.startswith("decode") else PEER_REPORTS
        ratios = {peer: best[peer] / theirs / per_report for peer in work if peer in best}
        limit = LIMITS.get(name)
        verdict = ""
        if limit is not None and ratios:
            verdict = f"{limit} " + ("OK" if min(ratios.values()) >= limit else "[red]under[/red]")
        grid.add_row(
            name,
            f"{best['ours']:.3f}",
            f"{per_report * 1e9:.0f}",
            str(size),
            *(f"{ratios[peer]:,.0f}" if peer in ratios else "-" for peer in work),
            verdict,
        )
    return grid
