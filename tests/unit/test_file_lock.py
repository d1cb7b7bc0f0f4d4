"""The lock of a ledger: held while its process lives, taken over when it is certainly gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from liftlock import file_lock
from liftlock.errors import FileError
from liftlock.file_lock import locked

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/ns/pid").exists(), reason="processes are not known there"
)

HOLD = """
import sys
from pathlib import Path
from liftlock.file_lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def held_by_another(path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def assert_in_use(path: Path) -> None:
    lock = path.with_name(".ledger.json.lock")
    before = lock.read_bytes()
    with pytest.raises(FileError, match="in use by another release") as caught, locked(path):
        pass
    assert f"if none is running, delete {lock}" in str(caught.value)
    assert lock.read_bytes() == before


def test_a_killed_release_locks_nobody_out(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    with held_by_another(path) as process:
        assert_in_use(path)
        process.send_signal(signal.SIGKILL)
    assert (tmp_path / ".ledger.json.lock").exists()
    with locked(path):
        assert_in_use(path)
    assert list(tmp_path.iterdir()) == []


def test_a_release_that_ends_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    with held_by_another(path) as process:
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait() == 0
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def gone() -> int:
    """Return the number of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def test_only_what_is_certain(tmp_path: Path, gone: int) -> None:
    path, lock = tmp_path / "ledger.json", tmp_path / ".ledger.json.lock"
    here = file_lock._machine()
    for content in (
        "",
        f"{here}\n{gone}",  # not written to its end
        f"{here}\n{os.getpid()}\n",
        f"{here}\n1\n",
        f"{here}\n0\n",
        f"{here}\n-1\n",
        f"{here}\n{10**30}\n",
        f"{here}\nx\n",
        f"other {here}\n{gone}\n",
        f"{here} later\n{gone}\n",
        f"{here}\n{gone}\n\n",
        f"\n{gone}\n",
    ):
        lock.write_text(content)
        assert_in_use(path)
    lock.write_text(f"{here}\n{gone}\n")
    with locked(path):
        assert lock.read_text() == f"{here}\n{os.getpid()}\n"
    assert not lock.exists()


def test_a_machine_that_cannot_tell(
    tmp_path: Path, gone: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_lock, "_machine", lambda: "")
    path, lock = tmp_path / "ledger.json", tmp_path / ".ledger.json.lock"
    lock.write_text(f"\n{gone}\n")
    assert_in_use(path)


def test_of_two_that_take_over_one_does(
    tmp_path: Path, gone: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second comes when the first has found the process gone, and not yet said so."""
    path, lock = tmp_path / "ledger.json", tmp_path / ".ledger.json.lock"
    lock.write_text(f"{file_lock._machine()}\n{gone}\n")
    is_gone = file_lock._is_gone
    second: list[bool] = []

    def interrupted(name: bytes) -> bool:
        if not second:
            second.append(True)
            second[0] = file_lock._taken_over(lock)
        return is_gone(name)

    monkeypatch.setattr(file_lock, "_is_gone", interrupted)
    with locked(path):
        assert second == [False]


def test_a_lock_that_was_just_given_back(
    tmp_path: Path, gone: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever still has the old file open must not take it for the lock."""
    lock = tmp_path / ".ledger.json.lock"
    lock.write_text(f"{file_lock._machine()}\n{gone}\n")
    opened = os.open

    def replaced(path: Path, flags: int) -> int:
        handle = opened(path, flags)
        lock.unlink()
        lock.write_text("of another")
        return handle

    monkeypatch.setattr(os, "open", replaced)
    assert not file_lock._taken_over(lock)
    monkeypatch.undo()
    assert lock.read_text() == "of another"


def test_a_link_in_its_place(tmp_path: Path, gone: int) -> None:
    (tmp_path / "elsewhere").write_text(f"{file_lock._machine()}\n{gone}\n")
    (tmp_path / ".ledger.json.lock").symlink_to("elsewhere")
    assert_in_use(tmp_path / "ledger.json")


def test_a_full_disk_leaves_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with (
        pytest.raises(FileError, match=r"cannot write at .*lock: 'No space left"),
        locked(tmp_path / "ledger.json"),
    ):
        pass
    assert list(tmp_path.iterdir()) == []
