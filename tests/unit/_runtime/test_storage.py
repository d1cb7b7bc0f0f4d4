"""Files are written whole or not at all, and nothing but files is ever replaced."""

from __future__ import annotations

import errno
import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import liftlock as ll
from liftlock._runtime import storage
from liftlock._runtime.naming import NewFile
from liftlock._runtime.storage import (
    check_writable,
    destination,
    open_atomically,
    write_atomically,
    write_durably,
)
from liftlock.errors import FileError


def test_a_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "m.json", tmp_path / "link.json"
    target.write_text("old")
    link.symlink_to(Path("real") / "m.json")
    (tmp_path / "second.json").symlink_to("link.json")
    for name in ("link.json", "second.json"):
        write_atomically(tmp_path / name, name)
        assert (tmp_path / name).is_symlink()
        assert not target.is_symlink()
        assert target.read_text() == name
    assert list(target.parent.iterdir()) == [target]
    assert destination(tmp_path / "second.json") == target.resolve()
    assert destination(target) == target


def test_the_new_file_is_made_beside_the_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file can only be moved in one step within its file system."""
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    (tmp_path / "real").mkdir()
    (tmp_path / "link.json").symlink_to(Path("real") / "m.json")
    with open_atomically(tmp_path / "link.json"):
        (hidden,) = (tmp_path / "real").iterdir()
        assert hidden.name.startswith(".m.json.")
        assert stat.S_IMODE(hidden.stat().st_mode) == 0o600
    assert [path.name for path in (tmp_path / "real").iterdir()] == ["m.json"]


def test_a_link_to_nothing_yet(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to("new.json")
    write_atomically(tmp_path / "link.json", "new")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "new.json").read_text() == "new"
    (tmp_path / "lost.json").symlink_to(Path("nowhere") / "new.json")
    with pytest.raises(FileError, match=r"no such folder at .*nowhere"):
        check_writable(tmp_path / "lost.json")


def test_a_circle_of_links(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(FileError, match=r"cannot write at .*Too many levels of symbolic links"):
        write_atomically(tmp_path / "a", "")
    assert (tmp_path / "a").is_symlink()


def test_a_folder_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    with pytest.raises(FileError, match="a folder, not a file"):
        check_writable(tmp_path / "link")
    write_atomically(tmp_path / "link" / "m.json", "new")
    assert (tmp_path / "folder" / "m.json").read_text() == "new"


def test_pipes_sockets_and_devices_are_never_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket must be short
    os.mkfifo("pipe")
    Path("link").symlink_to("pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
    kinds = {"pipe": "a pipe", "link": "a pipe", "socket": "a socket", os.devnull: "a device"}
    for name, kind in kinds.items():
        before = Path(name).stat()
        for write in (check_writable, lambda path: write_atomically(path, "")):
            with pytest.raises(FileError, match=f"{kind}, not a regular file at .*; choose a"):
                write(Path(name))
        assert os.path.samestat(before, Path(name).stat())
    assert stat.S_ISFIFO(Path("pipe").lstat().st_mode)
    assert Path("link").is_symlink()


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="no such device")
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/stderr"])
def test_results_cannot_be_printed(tmp_path: Path, name: str) -> None:
    """Also if what is printed goes to a file, which would be replaced under the shell's feet."""
    code = (
        "import sys; from pathlib import Path\n"
        "from liftlock._runtime.storage import check_writable\n"
        "from liftlock.errors import FileError\n"
        "try: check_writable(Path(sys.argv[1]))\n"
        "except FileError as error: Path('said').write_text(str(error))\n"
    )
    for target in (subprocess.PIPE, (tmp_path / "printed").open("w")):
        subprocess.run(
            [sys.executable, "-c", code, name],
            cwd=tmp_path,
            stdout=target,
            stderr=target,
            check=True,
        )
        if not isinstance(target, int):
            target.close()
        said = (tmp_path / "said").read_text()
        assert said.count("\n") == 0
        assert f"not a regular file at {name}" in said
        assert "results can only go to a file" in said
        (tmp_path / "said").unlink()


def test_a_mechanism_is_saved_through_a_link(tmp_path: Path) -> None:
    made = ll.design(ll.Prior.uniform(["a", "b"]), ll.LIP("1"))
    (tmp_path / "link.json").symlink_to("m.json")
    made.save(tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert ll.Mechanism.load(tmp_path / "m.json").channel == made.channel


def test_what_must_last_is_on_the_disk_with_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The content is there before the name is given to it, and the name before we return."""
    steps: list[str] = []
    fsync, give_name = os.fsync, NewFile.give_name

    def synced(handle: int) -> None:
        steps.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        fsync(handle)

    def named(self: NewFile) -> None:
        steps.append("named")
        give_name(self)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(NewFile, "give_name", named)
    write_durably(tmp_path / "ledger.json", "new")
    assert steps == ["file", "named", "folder"]
    assert (tmp_path / "ledger.json").read_text() == "new"


@pytest.mark.parametrize(("number", "fails"), [(5, True), (22, False)])
def test_folders_that_cannot_be_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, fails: bool
) -> None:
    fsync = os.fsync

    def failing(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(number, os.strerror(number))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", failing)
    if fails:
        with pytest.raises(FileError, match=r"cannot write at .*Input/output error"):
            write_durably(tmp_path / "ledger.json", "new")
    else:
        write_durably(tmp_path / "ledger.json", "new")
    assert (tmp_path / "ledger.json").read_text() == "new"


@pytest.mark.skipif(os.name == "nt", reason="permissions are of another kind there")
def test_a_file_keeps_who_may_read_it(tmp_path: Path) -> None:
    """A ledger that its owner has closed to others must not be opened by adding to it."""
    path = tmp_path / "ledger.json"
    write_atomically(path, "one")
    for mode in (0o600, 0o640, 0o664):
        path.chmod(mode)
        write_durably(path, "two")
        assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.parametrize("nameless", [True, False])
def test_a_stream_becomes_a_file_when_all_went_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nameless: bool
) -> None:
    """With files that have no name and without: the same file, mode and link."""
    if not nameless:
        monkeypatch.delattr(os, "O_TMPFILE")
    path, link = tmp_path / "new.bin", tmp_path / "link.bin"
    link.symlink_to("new.bin")
    for name, text in ((path, b"one"), (path, b"two"), (link, b"three")):
        with open_atomically(name) as stream:
            stream.write(text)
            if nameless:
                assert len(list(tmp_path.iterdir())) == (1 if text == b"one" else 2)
        assert path.read_bytes() == text
        assert sorted(found.name for found in tmp_path.iterdir()) == ["link.bin", "new.bin"]
        path.chmod(0o604)
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


@pytest.mark.parametrize("nameless", [True, False])
def test_a_stream_that_fails_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nameless: bool
) -> None:
    if not nameless:
        monkeypatch.delattr(os, "O_TMPFILE")
    path = tmp_path / "new.bin"

    def write(error: BaseException | None = None, appears: bool = False) -> None:
        with open_atomically(path, replace=False) as stream:
            stream.write(b"half")
            if appears:
                path.write_text("another")
            if error is not None:
                raise error

    for error in (KeyboardInterrupt(), ZeroDivisionError()):
        with pytest.raises(type(error)):
            write(error)
        assert list(tmp_path.iterdir()) == []
    with pytest.raises(
        FileError, match=r"cannot write at .*: 'No space left on device'; make room"
    ):
        write(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileError, match=r"the file exists already at .*--force"):
        write(appears=True)
    assert path.read_text() == "another"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (1023, "1023 bytes"),
        (1 << 10, "1 KiB"),
        (3 << 19, "1.5 MiB"),
        ((1 << 30) - (1 << 20), "1023 MiB"),
        (1 << 30, "1 GiB"),
        (5 << 29, "2.5 GiB"),
    ],
)
def test_sizes_are_told_in_the_largest_unit_they_fill(count: int, said: str) -> None:
    assert storage._size(count) == said


def test_new_files_follow_the_mask_which_stays_as_it_was(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "new.json", "x")
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new.json").stat().st_mode) == 0o640
