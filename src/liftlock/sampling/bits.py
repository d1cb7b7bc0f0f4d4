"""Where the random words come from: the operating system, or a seed for experiments.

Both are AES-256 in counter mode: a word costs about a nanosecond, and nobody without the key tells
it from a fair coin. What differs is the key. `OperatingSystemBits` draws its own from the operating
system and can be neither copied nor replayed; `SimulationBits` derives it from a seed that anybody
may know, so nothing that protects a person may come from it.
"""

from __future__ import annotations

import hashlib
import operator
import os
import sys
import threading
from typing import TYPE_CHECKING, NoReturn, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from liftlock.errors import InputError

if TYPE_CHECKING:
    from typing import SupportsIndex

Words: TypeAlias = npt.NDArray[np.uint64]

_KEY_BYTES = 32
_NONCE_BYTES = 16
_DOMAIN = b"liftlock simulation bits, version 1\0"
# The keystream is the encryption of zeros; these are enough for one block of `draw`.
_ZEROS = memoryview(bytes(1 << 17))


class RandomBits(Protocol):
    """A source of fair, independent 64-bit words."""

    def fill(self, buffer: Words) -> None:
        """Overwrite a contiguous buffer with fresh words."""


class OperatingSystemBits:
    """Words for real releases: a fresh key and nonce from the operating system per instance.

    No word is ever handed out twice. Threads may share an instance; a forked process that
    inherited one takes a key of its own at first use; copying and pickling are refused.

    >>> bits = OperatingSystemBits()
    >>> words = np.zeros(4, dtype=np.uint64)
    >>> bits.fill(words)
    >>> len(set(words.tolist()))
    4
    """

    __slots__ = ("_state",)

    def __init__(self) -> None:
        self._state = _fresh_stream()

    def fill(self, buffer: Words) -> None:
        """Overwrite a contiguous buffer with fresh words."""
        # Process, key and lock change together, in one assignment: two threads of a new process
        # that both find the old state go on with two different keys, and a lock that was held
        # at the moment of the fork is left behind.
        process, stream = self._state
        if process != _process():
            self._state = process, stream = _fresh_stream()
        stream.fill(buffer)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a source of random bits cannot be copied: its words would be used twice")


class SimulationBits:
    """Words for experiments: the same seed gives the same words on every machine.

    The seed is a whole number or a text; 7 and "7" are the same seed.

    >>> words = np.zeros(2, dtype=np.uint64)
    >>> SimulationBits(7).fill(words)
    >>> [f"{word:016x}" for word in words.tolist()]
    ['b082d851b0d6e1d0', 'b7ddab0f1b9912d3']
    """

    __slots__ = ("_stream",)

    def __init__(self, seed: SupportsIndex | str) -> None:
        if isinstance(seed, bool) or not (isinstance(seed, str) or hasattr(seed, "__index__")):
            raise InputError(
                f"seed of type {type(seed).__name__}",
                value=seed,
                remedy="a seed is a whole number or a text",
            )
        text = seed if isinstance(seed, str) else str(operator.index(seed))
        key = hashlib.sha256(_DOMAIN + text.encode(errors="surrogatepass")).digest()
        self._stream = _Keystream(key, bytes(_NONCE_BYTES))

    def fill(self, buffer: Words) -> None:
        """Overwrite a contiguous buffer with the next words of the stream."""
        self._stream.fill(buffer)


class _Keystream:
    """AES-256-CTR read as little-endian words; each byte is handed out once."""

    __slots__ = ("_encryptor", "_lock")

    def __init__(self, key: bytes, nonce: bytes) -> None:
        self._encryptor = Cipher(algorithms.AES(key), modes.CTR(nonce)).encryptor()
        self._lock = threading.Lock()

    def fill(self, buffer: Words) -> None:
        if buffer.dtype != np.uint64 or not buffer.flags.c_contiguous:
            raise InputError(
                "buffer is not a contiguous array of 64-bit words", value=str(buffer.dtype)
            )
        view = buffer.reshape(-1).view(np.uint8).data
        with self._lock:
            for start in range(0, len(view), len(_ZEROS)):
                piece = view[start : start + len(_ZEROS)]
                self._encryptor.update_into(_ZEROS[: len(piece)], piece)
        if sys.byteorder == "big":  # pragma: no cover - so that a seed means the same everywhere
            buffer.byteswap(inplace=True)


_forks = 0


def _count_fork() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


def _process() -> tuple[int, int]:
    """Identify this process.

    The number of forks tells a grandchild that was given the number of a dead ancestor from that
    ancestor; the process number catches forks made behind Python's back.
    """
    return os.getpid(), _forks


def _fresh_stream() -> tuple[tuple[int, int], _Keystream]:
    return _process(), _Keystream(os.urandom(_KEY_BYTES), os.urandom(_NONCE_BYTES))
