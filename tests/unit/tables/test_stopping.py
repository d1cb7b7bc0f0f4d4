"""A run that ends early, however it ends, leaves nothing behind and can be run again."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from liftlock.errors import FileError
from liftlock.tables.formats import open_table
from liftlock.tables.formats.base import RowBatch
from liftlock.tables.stream import TableChange, rewrite_table

ROWS = 100_000
OUTPUTS = ["b.parquet", "b.arrow", "b.csv"]

SLOW = """
    import sys, time
    from pathlib import Path
    import pyarrow as pa
    from liftlock.tables.stream import TableChange, rewrite_table
    from liftlock.tables.formats import open_table

    def apply(piece):
        print("working", flush=True)
        time.sleep(0.2)
        return [piece.batch.column(0)]

    try:
        rewrite_table(
            open_table(Path(sys.argv[1])),
            Path(sys.argv[2]),
            TableChange(("a",), {"a": pa.string()}, apply),
            force=True,
        )
    except KeyboardInterrupt:
        import threading
        print([t.name for t in threading.enumerate() if t.name.startswith("liftlock")])
        sys.exit(130)
"""


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("sources")
    texts = pa.array([f"text {at * 7919 % 1000003}" for at in range(ROWS)])
    table = pa.table({"a": texts, "b": texts})
    pq.write_table(table, folder / "a.parquet", row_group_size=10_000, compression=None)
    (folder / "a.csv").write_text(
        "a,b\n" + "\n".join(f"{text},{text}" for text in texts.to_pylist() * 8)
    )
    return [folder / "a.parquet", folder / "a.csv"]


def kept(piece: RowBatch) -> list[pa.Array]:
    return [piece.batch.column(0)]


@pytest.mark.parametrize(
    ("which", "number", "code"), [(0, signal.SIGKILL, -9), (1, signal.SIGINT, 130)]
)
def test_a_killed_run_leaves_the_old_file_and_nothing_else(
    sources: list[Path], tmp_path: Path, which: int, number: int, code: int
) -> None:
    source = sources[which]
    output = tmp_path / f"out{source.suffix}"
    output.write_text("old")
    command = [sys.executable, "-c", textwrap.dedent(SLOW), str(source), str(output)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        for _ in range(2):
            assert run.stdout.readline() == "working\n"
        time.sleep(0.1)
        run.send_signal(number)
        rest = run.stdout.read()
    assert run.returncode == code
    if number == signal.SIGINT:
        assert rest.splitlines()[-1] == "[]"  # no thread is left
    assert [path.name for path in tmp_path.iterdir()] == [output.name]
    assert output.read_text() == "old"
    change = TableChange(("a",), {"a": pa.string()}, kept)
    assert rewrite_table(open_table(source), output, change, force=True) >= ROWS


@pytest.mark.parametrize("name", OUTPUTS)
@pytest.mark.parametrize("which", [0, 1])
def test_a_change_that_fails(sources: list[Path], tmp_path: Path, which: int, name: str) -> None:
    def failing(piece: RowBatch) -> list[pa.Array]:
        if piece.first_row > 0:
            raise ZeroDivisionError
        return kept(piece)

    with pytest.raises(ZeroDivisionError):
        rewrite_table(
            open_table(sources[which]),
            tmp_path / name,
            TableChange(("a",), {"a": pa.string()}, failing),
        )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", [*OUTPUTS, "b.csv.gz"])
@pytest.mark.parametrize("which", [0, 1])
def test_a_limit_on_the_size_of_files(
    sources: list[Path], tmp_path: Path, which: int, name: str
) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    change = TableChange(("a",), {"a": pa.string()}, kept)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, limits[1]))
    try:
        with pytest.raises(FileError, match=r"^cannot write at .*'File too large'; make room"):
            rewrite_table(open_table(sources[which]), tmp_path / name, change)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Path:
    """Return a folder on a disk of one megabyte, if this user may make one."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a disk")
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here")
    return folder


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_full_disk(sources: list[Path], small_disk: Path, name: str) -> None:
    change = TableChange(("a",), {"a": pa.string()}, kept)
    try:
        (small_disk / name).write_text("old")
        for source in sources:
            with pytest.raises(FileError, match=r"^cannot write at .*'No space left on device'"):
                rewrite_table(open_table(source), small_disk / name, change, force=True)
            assert [path.name for path in small_disk.iterdir()] == [name]
            assert (small_disk / name).read_text() == "old"
    finally:
        subprocess.run(["umount", str(small_disk)], check=True)
