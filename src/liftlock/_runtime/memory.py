"""How much memory there is: what needs more is refused beforehand, in one line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from liftlock.errors import InputError

SETTING = "LIFTLOCK_MEMORY"
"""The environment variable that says how much may be used, such as 8GiB."""

TABLE = 64
"""Bytes for each cell of a table: the draft, its rounding, the integers, and their audit."""

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_GROUP = Path("/sys/fs/cgroup")


def require_memory(needed: float, what: str, *, remedy: str) -> None:
    """Refuse what needs more memory than there is, with both numbers."""
    there = available_memory()
    if needed > there:
        raise InputError(
            f"{what} needs about {size_text(needed)} of memory, but only {size_text(there)} is "
            "available",
            remedy=f"{remedy}, or set {SETTING} if this is wrong",
        )


def available_memory() -> float:
    """Return the bytes that this process may still take: the least of all limits that are known.

    What the environment says replaces them all.
    """
    given = os.environ.get(SETTING, "").strip()
    if given:
        return _read(given)
    return min(_limits(), default=float("inf"))


def _read(text: str) -> float:
    """Read a size such as 8GiB, 500 MB or 4e9."""
    lowered = text.lower().replace(" ", "").removesuffix("b").removesuffix("i")
    unit = lowered[-1:] if lowered[-1:] in _UNITS else ""
    try:
        size = float(lowered.removesuffix(unit)) * _UNITS[unit]
    except ValueError:
        size = -1.0
    if not size >= 0:
        raise InputError(f"{SETTING} is not a size", value=text, remedy="write it like 8GiB")
    return size


def _limits() -> Iterator[float]:
    for line in _lines(Path("/proc/meminfo")):
        if line.startswith("MemAvailable:"):
            yield float(line.split()[1]) * 1024
    for most, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        limit, now = _lines(_GROUP / most), _lines(_GROUP / used)
        if limit and now and limit[0].isdigit():
            yield max(float(limit[0]) - float(now[0]), 0.0)
    yield from _address_space()


def _address_space() -> Iterator[float]:
    try:
        import resource
    except ImportError:  # pragma: no cover - Windows has no such limits
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY:
        pages = _lines(Path("/proc/self/statm"))
        used = int(pages[0].split()[0]) * resource.getpagesize() if pages else 0
        yield max(float(limit - used), 0.0)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return []


def size_text(size: float) -> str:
    """Write a number of bytes for people.

    >>> size_text(64e12), size_text(3 << 30), size_text(5e5)
    ('58 TiB', '3 GiB', '0.48 MiB')
    """
    for unit, one in (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20)):
        if size >= one or unit == "MiB":
            return f"{size / one:.2g} {unit}" if size < 100 * one else f"{size / one:,.0f} {unit}"
    raise AssertionError("every size has a unit")
