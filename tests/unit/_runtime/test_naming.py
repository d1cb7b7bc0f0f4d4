"""Files that appear together: all of them or none, and nothing of them stays behind."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import stat
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from liftlock._runtime import naming
from liftlock._runtime.naming import NewFile, surviving_kills
from liftlock._runtime.storage import open_atomically, write_atomically, write_together
from liftlock.errors import FileError

NAMES = ("table.csv", "report.html", "mechanism.json")


@pytest.fixture(params=["nameless", "hidden", "without links"])
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Files need no name; they do; and they can have only one (as on FAT)."""
    if request.param != "nameless":
        monkeypatch.delattr(os, "O_TMPFILE")
    if request.param == "without links":

        def fail(*_: Any, **__: Any) -> None:
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))

        monkeypatch.setattr(os, "link", fail)
    return str(request.param)


@pytest.fixture(params=[True, False], ids=["command", "library"])
def helped(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def write_all(folder: Path, text: str, *, helped: bool = True) -> None:
    if helped:
        with surviving_kills():
            write_all(folder, text, helped=False)
        return
    with write_together():
        for name in NAMES:
            write_atomically(folder / name, text)


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_all_appear(tmp_path: Path, system: str, helped: bool) -> None:
    for text in ("old", "new"):
        write_all(tmp_path, text, helped=helped)
        assert contents(tmp_path) == dict.fromkeys(NAMES, text)
        assert system


def test_none_appears_before_the_end(tmp_path: Path, system: str) -> None:
    digest = hashlib.sha256(b"new").hexdigest()
    with write_together() as files:
        for name in NAMES:
            write_atomically(tmp_path / name, "new")
        assert files.digest(tmp_path / "table.csv") == digest
        seen = list(tmp_path.iterdir())
        assert len(seen) == (0 if system == "nameless" else len(NAMES))
        # They may hold what nobody else may read.
        assert all(path.name.startswith(".") for path in seen)
        assert all(stat.S_IMODE(path.stat().st_mode) & 0o077 in (0, 0o044) for path in seen)
    assert contents(tmp_path) == dict.fromkeys(NAMES, "new")


def test_names_are_given_in_the_opposite_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    give_name = NewFile.give_name

    def told(self: NewFile) -> None:
        order.append(self.place.name)
        give_name(self)

    monkeypatch.setattr(NewFile, "give_name", told)
    write_all(tmp_path, "new", helped=False)
    assert order == [*reversed(NAMES)]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ZeroDivisionError()])
def test_an_error_leaves_the_old_files(tmp_path: Path, system: str, error: BaseException) -> None:
    write_all(tmp_path, "old")

    def write() -> None:
        with write_together():
            write_atomically(tmp_path / "table.csv", "new")
            write_atomically(tmp_path / "other.csv", "new")
            raise error

    with pytest.raises(type(error)):
        write()
    assert contents(tmp_path) == dict.fromkeys(NAMES, "old")
    assert system


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("at", NAMES)
def test_a_name_that_cannot_be_given_takes_the_others_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, helped: bool, at: str, first: bool
) -> None:
    """As in a folder where one may replace no files of others."""
    if not first:
        write_all(tmp_path, "old")
    give_name = NewFile.give_name

    def refused(self: NewFile) -> None:
        if self.place.name == at:
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))
        give_name(self)

    monkeypatch.setattr(NewFile, "give_name", refused)
    with pytest.raises(FileError, match=f"cannot write at .*{at}: 'Operation not permitted'"):
        write_all(tmp_path, "new", helped=helped)
    assert contents(tmp_path) == ({} if first else dict.fromkeys(NAMES, "old"))


def test_a_set_that_may_replace_nothing(tmp_path: Path, helped: bool) -> None:
    """A file that appears meanwhile stays, and no other appears."""

    def write() -> None:
        with surviving_kills() if helped else nullcontext(), write_together():
            with open_atomically(tmp_path / "table.csv", replace=False) as stream:
                stream.write(b"new")
            write_atomically(tmp_path / "mechanism.json", "new")
            (tmp_path / "table.csv").write_text("of another")

    with pytest.raises(FileError, match="the file exists already"):
        write()
    assert contents(tmp_path) == {"table.csv": "of another"}


def test_long_names(tmp_path: Path, system: str) -> None:
    for text in ("old", "new"):
        with write_together():
            for letter in "ab":
                write_atomically(tmp_path / (letter + "\N{CJK UNIFIED IDEOGRAPH-5B57}" * 84), text)
        assert [*contents(tmp_path).values()] == [text, text]
        assert system


def test_new_files_are_as_private_as_asked(tmp_path: Path) -> None:
    like = tmp_path / "people.csv"
    like.touch()
    like.chmod(0o640)
    before = os.umask(0o022)
    try:
        with write_together():
            write_atomically(tmp_path / "a", "", private_like=like)
            write_atomically(tmp_path / "b", "")
    finally:
        os.umask(before)
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in "ab"]
    assert modes == [0o640, 0o644]


def test_leftovers_are_removed_but_no_work_of_others(tmp_path: Path) -> None:
    """After a power failure; where files need names, after a kill too."""
    left = [tmp_path / f".table.csv.0123456{at}.{kind}" for at in "78" for kind in ("new", "old")]
    kept = [tmp_path / name for name in (".table.csv", ".table.csv.new", ".other.csv.01234567.new")]
    busy = tmp_path / ".table.csv.89abcdef.new"
    for path in (*left, *kept, busy):
        path.touch()
    with busy.open() as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        write_atomically(tmp_path / "table.csv", "new")
    assert {*tmp_path.iterdir()} == {*kept, busy, tmp_path / "table.csv"}
    write_atomically(tmp_path / "table.csv", "newer")
    assert not busy.exists()


def test_a_killed_command_where_files_need_names_is_tidied_up_by_the_next(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from pathlib import Path; del os.O_TMPFILE\n"
        "from liftlock._runtime.storage import open_atomically\n"
        "with open_atomically(Path('table.csv')) as stream:\n"
        "    stream.write(b'half'); stream.flush(); os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False)
    (left,) = tmp_path.iterdir()
    assert stat.S_IMODE(left.stat().st_mode) == 0o600
    write_atomically(tmp_path / "table.csv", "new")
    assert contents(tmp_path) == {"table.csv": "new"}


def test_runs_at_the_same_time_do_not_mix(tmp_path: Path) -> None:
    """Each set is of one run, whichever came last."""
    code = (
        "import sys; from pathlib import Path\n"
        "from tests.unit._runtime.test_naming import write_all\n"
        "for _ in range(20): write_all(Path(sys.argv[1]), sys.argv[2])\n"
    )
    runs = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path), text]) for text in ("a", "b")
    ]
    assert [run.wait() for run in runs] == [0, 0]
    assert len(set(contents(tmp_path).values())) == 1
    assert sorted(contents(tmp_path)) == sorted(NAMES)


def test_nobody_can_lock_us_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(naming, "_PATIENCE", 0.05)
    handle = os.open(tmp_path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        begun = time.monotonic()
        write_all(tmp_path, "new")
        assert time.monotonic() - begun >= 0.05
    finally:
        os.close(handle)
    assert contents(tmp_path) == dict.fromkeys(NAMES, "new")


def test_where_no_process_can_be_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> int:
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr(os, "fork", fail)
    write_all(tmp_path, "new")
    assert contents(tmp_path) == dict.fromkeys(NAMES, "new")
