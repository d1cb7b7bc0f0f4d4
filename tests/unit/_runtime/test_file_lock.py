"""The lock of a ledger: held while its process lives, and free when it is gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import filelock
import pytest

from liftlock._runtime.storage import exclusive_access, lock_file
from liftlock.errors import FileError

HOLD = """
import sys
from pathlib import Path
from liftlock._runtime.storage import lock_file
with lock_file(Path(sys.argv[1])):
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
    lock = path.with_name(f".{path.name}.lock")
    before = lock.read_bytes()
    with pytest.raises(FileError, match="in use by another release") as caught, lock_file(path):
        pass
    assert f"{path}; wait until it is done" in str(caught.value)
    assert lock.read_bytes() == before


def test_a_killed_release_locks_nobody_out(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    with held_by_another(path) as process:
        assert_in_use(path)
        process.send_signal(signal.SIGKILL)
    assert (tmp_path / ".ledger.json.lock").exists()
    with lock_file(path):
        assert_in_use(path)
    assert list(tmp_path.iterdir()) == []


def test_a_release_that_ends_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    with held_by_another(path) as process:
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait() == 0
    assert list(tmp_path.iterdir()) == []


def test_two_in_one_process(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    with lock_file(path):
        assert_in_use(path)
        assert_in_use(path)


def test_an_error_lets_others_in(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    with pytest.raises(RuntimeError), lock_file(path):
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_a_lock_of_an_older_version_is_no_obstacle(tmp_path: Path) -> None:
    """It named a process; now the system knows whether anybody holds it, and nothing is lost."""
    path, lock = tmp_path / "ledger.json", tmp_path / ".ledger.json.lock"
    lock.write_text("machine 1\n1\n")
    with lock_file(path):
        assert_in_use(path)
    assert list(tmp_path.iterdir()) == []


def test_a_link_in_place_of_the_lock_is_not_followed(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("kept")
    (tmp_path / ".ledger.json.lock").symlink_to(other)
    with pytest.raises(FileError, match="cannot write"), lock_file(tmp_path / "ledger.json"):
        pass
    assert other.read_text() == "kept"


def test_where_nothing_can_be_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(filelock.FileLock, "acquire", fail)
    with (
        pytest.raises(FileError, match=r"cannot write at .*lock: 'Permission denied'"),
        exclusive_access(tmp_path / "ledger.json"),
    ):
        pass


def test_a_lock_that_was_just_given_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever still has the old file open must not take it for the lock."""
    path, lock = tmp_path / "ledger.json", tmp_path / ".ledger.json.lock"
    lock.touch()
    opened = os.open
    done: list[bool] = []

    def replaced(name: Any, flags: int, *more: Any) -> int:
        handle = opened(name, flags, *more)
        if str(name) == str(lock) and not flags & os.O_EXCL and not done:
            done.append(True)
            lock.unlink()  # the holder is done
        return handle

    monkeypatch.setattr(os, "open", replaced)
    with pytest.raises(FileError, match="in use by another release"), lock_file(path):
        pass
    assert done
    with lock_file(path):
        assert_in_use(path)
