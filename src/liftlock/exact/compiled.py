"""Compiled loops: numba, with a cache wherever there is room for one, and the same digits as ever.

What is compiled is kept beside the module, or in the user's cache folder. Where neither can be
written to (a read-only installation, no home folder) it is kept in a folder of the user's own among
the temporary files, and where that is somebody else's it is compiled anew by each process.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable
from functools import partial
from math import frexp
from pathlib import Path
from typing import Any

from liftlock.errors import extra
from liftlock.exact.reproducible import ARTANH, HALF_ROOT, LN2_HIGH, LN2_LOW

with extra("compiled"):
    import numba


def compiled(signature: Any = None, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function: when its module is imported if it has a signature, else when called.

    The loops run without the interpreter's lock, and divide as numpy does.
    """
    given: dict[str, Any] = {"nogil": True, "error_model": "numpy"} | options
    njit: Any = numba.njit if signature is None else partial(numba.njit, signature)

    def compile_it(function: Callable[..., Any]) -> Any:
        try:
            return njit(cache=True, **given)(function)
        except RuntimeError as error:
            if "cannot cache" not in str(error):
                raise
            folder = private_folder()
            numba.config.CACHE_DIR = folder  # type: ignore[attr-defined]
            return njit(cache=bool(folder), **given)(function)

    return compile_it


def private_folder() -> str:
    """Make a folder for temporary files that nobody else can write to; empty if there is none.

    Compiled code is loaded from there, so it must not be another user's.
    """
    folder = Path(tempfile.gettempdir()) / f"liftlock-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return ""
    own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return str(folder) if own and not found.st_mode & 0o077 else ""


@compiled("f8(f8)")
def log(x):  # type: ignore[no-untyped-def]
    """Return what `reproducible.log` does of a positive number, to the last digit."""
    part, power = frexp(x)
    if part < HALF_ROOT:
        part *= 2.0
        power -= 1
    f = part - 1.0
    s = f / (2.0 + f)
    z = s * s
    rest = ARTANH[10]
    for k in range(9, -1, -1):
        rest = rest * z + ARTANH[k]
    return power * LN2_HIGH - ((s * (f - z * rest) - power * LN2_LOW) - f)
