"""Compiled loops work where nothing can be cached, and load nothing that is another user's."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import numba
import pytest
from numba.core import caching

from liftlock.exact.compiled import compiled, private_folder


def double(x: float) -> float:
    return 2.0 * x


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Let numba find no place beside the module nor in a home folder, as where both are missing."""
    only = [caching.UserProvidedCacheLocator]
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", only)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_numba_alone_refuses(nowhere: Path) -> None:
    with pytest.raises(RuntimeError, match="cannot cache"):
        numba.njit(cache=True)(double)


def test_without_a_place_for_a_cache_there_is_a_private_one(nowhere: Path) -> None:
    assert compiled("f8(f8)")(double)(1.5) == 3.0
    folder = nowhere / f"liftlock-{os.getuid()}"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert list(folder.rglob("*.nbi"))


@pytest.mark.parametrize("spoil", ["open to others", "a link", "a file"])
def test_a_folder_that_others_could_write_to_is_not_used(nowhere: Path, spoil: str) -> None:
    folder = nowhere / f"liftlock-{os.getuid()}"
    if spoil == "open to others":
        folder.mkdir()
        folder.chmod(0o777)
    elif spoil == "a link":
        (nowhere / "elsewhere").mkdir(mode=0o700)
        folder.symlink_to(nowhere / "elsewhere")
    else:
        folder.write_text("", encoding="ascii")
    assert private_folder() == ""
    assert compiled("f8(f8)")(double)(1.5) == 3.0
    assert not list(nowhere.rglob("*.nbi"))
