"""How fast tables in files are released, against copying the same file, and in how much memory.

A Parquet file with one categorical column goes through a mechanism on fifteen symbols; the peer is
pyarrow, which reads and writes the same file with the same codec, row group by row group (and, if
that is faster, whole). A CSV of five columns goes the same way; its peers are a copy through
pyarrow's CSV reader and writer, and a plain copy of the bytes. Every work runs in a process of its
own, all in turn, and the best of several rounds counts; the time is that of the work, imports and
compilation apart, the memory the most that the whole process ever held.

python -m benchmarks tables                         50,000,000 rows
python -m benchmarks.bench_tables --rows 1000000    another number
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table as Grid

import liftlock as ll
from liftlock.tables.formats import open_table
from liftlock.tables.randomiser import ColumnRandomiser
from liftlock.tables.stream import TableChange, rewrite_table

ROWS = 50_000_000
SYMBOLS = 15
GROUP = 1 << 20
ROUNDS = 3
MOST_RATIO = 3.0
MOST_MEMORY = 1 << 30
CSV_PART = 10
"""The CSV has so many times fewer rows."""

LABELS = [f"occupation-{symbol:02}" for symbol in range(SYMBOLS)]


def column() -> ColumnRandomiser:
    """Return a mechanism at work on the labels."""
    prior = ll.Prior.from_counts({label: at + 1 for at, label in enumerate(LABELS)})
    return ColumnRandomiser(ll.design(prior, ll.LIP("1"), method="safe-response"))


# --- the files ----------------------------------------------------------------------------------


def make_parquet(path: Path, rows: int, kind: str) -> None:
    """Write random labels: as text, as a dictionary, or as text beside three other columns."""
    random = np.random.default_rng(1)
    labels = pa.array(LABELS)
    writer = None
    for start in range(0, rows, GROUP):
        count = min(GROUP, rows - start)
        codes = pa.array(random.integers(0, SYMBOLS, count, dtype=np.int32))
        cells: pa.Array = pa.DictionaryArray.from_arrays(codes, labels)
        columns = {"occupation": cells if kind == "dictionary" else cells.cast(pa.string())}
        if kind == "wide":
            columns = {
                "id": pa.array(np.arange(start, start + count)),
                "age": pa.array(random.integers(17, 90, count, dtype=np.int16)),
                **columns,
                "income": pa.array(random.random(count).round(4)),
            }
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()


def make_csv(path: Path, rows: int) -> None:
    """Write a CSV of five columns."""
    random = np.random.default_rng(1)
    labels = np.array(LABELS)
    with path.open("w") as stream:
        stream.write("id,age,occupation,income,town\n")
        for start in range(0, rows, 100_000):
            count = min(100_000, rows - start)
            ages = random.integers(17, 90, count).tolist()
            jobs = labels[random.integers(0, SYMBOLS, count)].tolist()
            money = random.integers(0, 10**6, count).tolist()
            stream.write(
                "".join(
                    f'{start + at},{ages[at]},{jobs[at]},{money[at] / 100:.2f},"Upper Town, {at}"\n'
                    for at in range(count)
                )
            )


# --- the work -----------------------------------------------------------------------------------


def release(source: Path, output: Path) -> Callable[[], object]:
    """Return the release of one column, already compiled."""
    table = open_table(source)
    work = column()
    (kind,) = work.released_types([table.type_of("occupation")])
    change = TableChange(
        ("occupation",), {"occupation": kind}, lambda p: work.release(p.batch.columns)
    )
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / f"small{source.suffix}"
        if source.suffix == ".csv":
            with source.open() as stream:
                small.write_text("".join(next(stream) for _ in range(3)))
        else:
            first = next(pq.ParquetFile(source).iter_batches(10))
            pq.write_table(pa.Table.from_batches([first]), small)
        rewrite_table(open_table(small), Path(folder) / f"out{source.suffix}", change)
    return lambda: rewrite_table(table, output, change)


def copy_groups(source: Path, output: Path) -> Callable[[], object]:
    """Return a copy through pyarrow, a row group at a time."""

    def work() -> None:
        with pq.ParquetFile(source) as file, pq.ParquetWriter(output, file.schema_arrow) as writer:
            for group in range(file.num_row_groups):
                writer.write_table(file.read_row_group(group))

    return work


def copy_whole(source: Path, output: Path) -> Callable[[], object]:
    """Return a copy through pyarrow, all at once."""
    return lambda: pq.write_table(pq.read_table(source), output)


def copy_csv(source: Path, output: Path) -> Callable[[], object]:
    """Return a copy through pyarrow's CSV reader and writer, as text."""
    names = ["id", "age", "occupation", "income", "town"]
    options = arrow_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()))

    def work() -> None:
        reader = arrow_csv.open_csv(source, convert_options=options)
        with arrow_csv.CSVWriter(output, reader.schema) as writer:
            for batch in reader:
                writer.write_batch(batch)

    return work


def copy_bytes(source: Path, output: Path) -> Callable[[], object]:
    """Return a copy of the bytes, as `cp` makes it."""

    def work() -> None:
        with source.open("rb") as old, output.open("wb") as new:
            shutil.copyfileobj(old, new, 1 << 20)

    return work


WORKS = {
    "release": release,
    "copy_groups": copy_groups,
    "copy_whole": copy_whole,
    "copy_csv": copy_csv,
    "copy_bytes": copy_bytes,
}


def child(name: str, source: Path, output: Path) -> None:
    """Do one work in this process, and print its seconds and the most memory ever held."""
    work = WORKS[name](source, output)
    start, used = time.perf_counter(), time.process_time()
    work()
    seconds, used = time.perf_counter() - start, time.process_time() - used
    # Not ru_maxrss, which a process inherits from the one that started it.
    status = Path("/proc/self/status").read_text()
    memory = int(status.partition("VmHWM:")[2].split()[0]) * 1024
    print(json.dumps([seconds, used, memory]))


def measured(name: str, source: Path) -> tuple[float, float, int]:
    """Do one work in a process of its own; return seconds, those of all cores, and memory."""
    output = source.with_name(f"out{source.suffix}")
    command = [sys.executable, "-m", "benchmarks.bench_tables", "--work", name, str(source)]
    done = subprocess.run([*command, str(output)], check=True, capture_output=True, text=True)
    output.unlink()
    seconds, used, memory = json.loads(done.stdout)
    return seconds, used, memory


def best(names: list[str], source: Path) -> dict[str, tuple[float, float, int]]:
    """Return the best times and the largest memory of each work, done in turn."""
    found = dict.fromkeys(names, (math.inf, math.inf, 0))
    for _ in range(ROUNDS):
        for name in names:
            seconds, used, memory = measured(name, source)
            before = found[name]
            found[name] = (min(before[0], seconds), min(before[1], used), max(before[2], memory))
    return found


# --- the table ----------------------------------------------------------------------------------


def verdict(value: float, limit: float) -> str:
    """Say whether a limit is kept."""
    return "OK" if value <= limit else "[red]over[/red]"


def run(rows: int = ROWS) -> Grid:
    """Measure, and return the table."""
    grid = Grid(
        title=f"Releasing one column of {rows:,} rows (CSV: {rows // CSV_PART:,}), two cores",
        caption=f"Best of {ROUNDS} rounds. x copy: time over that of pyarrow's quickest copy.",
    )
    for name in (
        "file",
        "MB",
        "work",
        "seconds",
        "core s",
        "Mrows/s",
        "MB/s",
        "x copy (limit)",
        "peak MiB",
    ):
        grid.add_column(name, justify="left" if name in ("file", "work") else "right")
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("text", "dictionary", "wide", "csv"):
            source = Path(folder) / f"{kind}.{'csv' if kind == 'csv' else 'parquet'}"
            count = rows // CSV_PART if kind == "csv" else rows
            if kind == "csv":
                make_csv(source, count)
                found = best(["copy_bytes", "copy_csv", "release"], source)
                peer = found["copy_csv"][0]
            else:
                make_parquet(source, count, kind)
                found = best(["copy_groups", "copy_whole", "release"], source)
                peer = min(found["copy_groups"][0], found["copy_whole"][0])
            size = source.stat().st_size / 1e6
            for name, (seconds, used, memory) in found.items():
                ours = name == "release"
                ratio = seconds / peer
                limits = f" ({MOST_RATIO:g}) {verdict(ratio, MOST_RATIO)}" if ours else ""
                room = f" (1024) {verdict(memory, MOST_MEMORY)}" if ours else ""
                grid.add_row(
                    kind,
                    f"{size:,.0f}",
                    name.replace("_", " "),
                    f"{seconds:.2f}",
                    f"{used:.2f}",
                    f"{count / seconds / 1e6:.1f}",
                    f"{size / seconds:,.0f}",
                    f"{ratio:.2f}{limits}",
                    f"{memory / 2**20:,.0f}{room}",
                )
            source.unlink()
            grid.add_section()
    return grid


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--work", nargs=3)
    asked = parser.parse_args()
    if asked.work:
        child(asked.work[0], Path(asked.work[1]), Path(asked.work[2]))
    else:
        Console(width=120).print(run(asked.rows))
