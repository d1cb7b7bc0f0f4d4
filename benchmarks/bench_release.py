"""How fast reports are released, against the random bits they need and against other libraries.

The physical limit is the keystream: one 64-bit word for each report, made block by block just as
the release makes it. Both sides are timed in turn, and the best of several rounds counts. The other
libraries answer one person at a time in Python, so they are timed on fewer reports and compared per
report. All of them do k-ary randomised response with the same budget.
"""

from __future__ import annotations

import gc
import math
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from importlib import metadata

import numpy as np
from rich.table import Table as Grid

from liftlock.exact.rounding import round_row
from liftlock.model.alphabet import Alphabet
from liftlock.model.channel import Table
from liftlock.sampling import OperatingSystemBits, draw, release_codes
from liftlock.sampling.draw import BLOCK

REPORTS = 10_000_000
PEER_REPORTS = 20_000
ROUNDS = 7
EPSILON = 2.0
RATIO_LIMITS = {16: 12, 128: 12, 1024: 16}
MEMORY_LIMIT = 16 * 2**20

Task = Callable[[], object]


def randomised_response(size: int) -> Table:
    """Return k-ary randomised response with about the budget of the other libraries."""
    alphabet = Alphabet.of(range(size))
    truth = round(math.exp(EPSILON) * 2**20)
    rows = [round_row([truth if x == y else 2**20 for y in range(size)]) for x in range(size)]
    return Table.of(alphabet, alphabet, rows)


def keystream() -> None:
    """Make the random words of all reports, and nothing else."""
    words = np.empty(BLOCK, dtype=np.uint64)
    bits = OperatingSystemBits()
    for start in range(0, REPORTS, BLOCK):
        bits.fill(words[: min(BLOCK, REPORTS - start)])


def pure_ldp(size: int) -> Task | None:
    """Return the work of pure-ldp, or None if it is not installed."""
    try:
        from pure_ldp.frequency_oracles.direct_encoding import DEClient
    except ImportError:
        return None
    client = DEClient(EPSILON, size)
    values = np.random.default_rng(1).integers(1, size + 1, PEER_REPORTS).tolist()
    return lambda: [client.privatise(value) for value in values]


def multi_freq_ldpy(size: int) -> Task | None:
    """Return the work of multi-freq-ldpy, already compiled, or None if it is not installed."""
    try:
        from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
    except ImportError:
        return None
    values = np.random.default_rng(1).integers(0, size, PEER_REPORTS).tolist()
    GRR_Client(values[0], size, EPSILON)
    return lambda: [GRR_Client(value, size, EPSILON) for value in values]


PEERS = {"pure-ldp": pure_ldp, "multi-freq-ldpy": multi_freq_ldpy}


def seconds(task: Task) -> float:
    """Time one call."""
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def extra_memory(channel: Table, codes: np.ndarray[tuple[int], np.dtype[np.uint16]]) -> int:
    """Return the peak of memory beyond codes and reports, building the alias table included."""
    gc.collect()
    tracemalloc.start()
    try:
        table = channel.alias
        _, building = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        reports = draw(table, codes, OperatingSystemBits())
        _, drawing = tracemalloc.get_traced_memory()
        return max(building, drawing - reports.nbytes)
    finally:
        tracemalloc.stop()


def verdict(value: float, limit: float) -> str:
    """Say whether a limit is kept."""
    return "OK" if value <= limit else "[red]over[/red]"


def title(peer: str) -> str:
    """Name a peer with its version."""
    try:
        return f"{peer} {metadata.version(peer)}"
    except metadata.PackageNotFoundError:
        return peer


def run() -> Grid:
    """Measure, and return the table."""
    grid = Grid(
        title=f"Release of {REPORTS:,} reports, one core, best of {ROUNDS} rounds",
        caption=(
            f"x keystream: time over the time of the random words alone. Other libraries: their "
            f"time per report (from {PEER_REPORTS:,} reports) over ours."
        ),
    )
    grid.add_column("alphabet", justify="right")
    grid.add_column("ns/report", justify="right")
    grid.add_column("keystream ns", justify="right")
    grid.add_column("x keystream (limit)", justify="right")
    grid.add_column("extra MiB (limit)", justify="right")
    for peer in PEERS:
        grid.add_column(f"{title(peer)}, x ours", justify="right")

    for size, limit in RATIO_LIMITS.items():
        channel = randomised_response(size)
        codes = np.random.default_rng(1).integers(0, size, REPORTS).astype(np.uint16)
        memory = extra_memory(channel, codes)
        tasks: dict[str, Task] = {
            "keystream": keystream,
            "release": partial(release_codes, channel, codes),
        }
        for peer, make in PEERS.items():
            task = make(size)
            if task is not None:
                tasks[peer] = task
        best = dict.fromkeys(tasks, math.inf)
        for _ in range(ROUNDS):
            for name, task in tasks.items():
                best[name] = min(best[name], seconds(task))

        ours = best["release"] / REPORTS
        ratio = best["release"] / best["keystream"]
        against = [
            f"{best[peer] / PEER_REPORTS / ours:,.0f}" if peer in best else "not installed"
            for peer in PEERS
        ]
        grid.add_row(
            str(size),
            f"{ours * 1e9:.1f}",
            f"{best['keystream'] / REPORTS * 1e9:.2f}",
            f"{ratio:.1f} ({limit}) {verdict(ratio, limit)}",
            f"{memory / 2**20:.1f} ({MEMORY_LIMIT >> 20}) {verdict(memory, MEMORY_LIMIT)}",
            *against,
        )
    return grid
