"""The lock of a ledger: held while its process lives, and free when it is gone."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import filelock
import pytest

from liftlock._runtime import storage
from liftlock._runtime.storage import exclusive_access, write_durably
from liftlock.errors import FileError

Locking = Callable[[Path], AbstractContextManager[Any]]

HOLD = """
import sys
from pathlib import Path
from liftlock._runtime import storage
with getattr(storage, sys.argv[1])(Path(sys.argv[2])):
    print("held", flush=True)
    sys.stdin.read()
"""


def held_by_another(path: Path, how: str = "exclusive_access") -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, how, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def assert_in_use(path: Path, access: Locking = exclusive_access) -> None:
    with pytest.raises(FileError, match="in use by another release") as caught, access(path):
        pass
    assert f"{path}; wait until it is done" in str(caught.value)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_killed_release_locks_nobody_out_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    path.write_text("old")
    with held_by_another(path) as process:
        assert_in_use(path)
        process.send_signal(signal.SIGKILL)
    assert names(tmp_path) == ["ledger.json"]
    with exclusive_access(path):
        assert_in_use(path)
    assert names(tmp_path) == ["ledger.json"]


def test_a_release_that_ends_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    with held_by_another(path) as process:
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait() == 0
    assert names(tmp_path) == []


def test_a_saved_ledger_stays_locked(tmp_path: Path) -> None:
    """Saving puts another file in its place, which must be locked before it is there."""
    path, link = tmp_path / "ledger.json", tmp_path / "link.json"
    link.symlink_to("ledger.json")
    path.write_text("old")
    with exclusive_access(link):
        for text in ("one", "two"):
            write_durably(link, text)
            assert path.read_text() == text
            found = subprocess.run(
                [sys.executable, "-c", HOLD, "exclusive_access", str(path)],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
            assert "in use by another release" in found.stderr
    with exclusive_access(path):
        pass


def test_two_in_one_process(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    with exclusive_access(path):
        assert_in_use(path)
        write_durably(path, "new")
        assert_in_use(path)


def test_an_error_lets_others_in(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    path.write_text("old")
    with pytest.raises(RuntimeError), exclusive_access(path):
        raise RuntimeError
    with exclusive_access(path):
        pass
    assert names(tmp_path) == ["ledger.json"]


def test_of_two_that_begin_a_ledger_the_second_is_refused(tmp_path: Path) -> None:
    """There is nothing yet that could be locked, and nothing is replaced."""
    path = tmp_path / "ledger.json"
    with exclusive_access(path):
        path.write_text("of another process")
        with pytest.raises(FileError, match="another release began the ledger meanwhile"):
            write_durably(path, "ours")
        assert path.read_text() == "of another process"
    assert names(tmp_path) == ["ledger.json"]


def test_a_lock_of_an_older_version_is_no_obstacle(tmp_path: Path) -> None:
    path, lock = tmp_path / "ledger.json", tmp_path / ".ledger.json.lock"
    lock.write_text("machine 1\n1\n")
    with exclusive_access(path):
        assert_in_use(path)


def test_where_nothing_can_be_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No weaker lock is used instead, which a kill would leave behind for good."""
    path = tmp_path / "ledger.json"
    path.write_text("old")

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", fail)
    with (
        pytest.raises(FileError, match=r"cannot lock at .*ledger.json: 'Function not implemented'"),
        exclusive_access(path),
    ):
        pass
    assert names(tmp_path) == ["ledger.json"]


def test_a_ledger_that_is_replaced_while_we_open_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever still has the old file open must not take it for the ledger."""
    path = tmp_path / "ledger.json"
    path.write_text("old")
    opened, done = os.open, list[int]()

    def replaced(name: Any, flags: int, *more: Any) -> int:
        handle = opened(name, flags, *more)
        if str(name) == str(path) and len(done) < 2:
            done.append(handle)
            (tmp_path / "new").write_text("new")
            (tmp_path / "new").replace(path)
        return handle

    monkeypatch.setattr(os, "open", replaced)
    with exclusive_access(path):
        assert len(done) == 2
        assert_in_use(path)


def test_systems_on_which_an_open_file_cannot_be_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There the lock is a file of its own, which is held by the system as well."""
    monkeypatch.setattr(storage, "POSIX", False)
    path = tmp_path / "ledger.json"
    with held_by_another(path, "_lock_beside") as process:
        assert_in_use(path)
        process.send_signal(signal.SIGKILL)
    with exclusive_access(path):
        assert_in_use(path)
    assert names(tmp_path) == []

    def fail(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(filelock.FileLock, "acquire", fail)
    with (
        pytest.raises(FileError, match=r"cannot lock at .*lock: 'Permission denied'"),
        exclusive_access(path),
    ):
        pass
