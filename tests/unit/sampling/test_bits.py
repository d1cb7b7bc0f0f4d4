"""Random bits: no word twice, whatever forks, threads or copies; seeds mean the same everywhere."""

from __future__ import annotations

import copy
import hashlib
import os
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from liftlock.errors import InputError
from liftlock.sampling import OperatingSystemBits, RandomBits, SimulationBits

can_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
# Python 3.12 warns that a child of a process with threads may deadlock, which is what is tested.
forks = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")


def take(source: RandomBits, count: int) -> list[int]:
    buffer = np.zeros(count, dtype=np.uint64)
    source.fill(buffer)
    return [int(word) for word in buffer]


def in_child(source: OperatingSystemBits, count: int, deeper: int = 0) -> list[int]:
    """Return the words a forked child draws, and those of its own child, and so on."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(read)
            words = take(source, count)
            if deeper:
                words += in_child(source, count, deeper - 1)
            with os.fdopen(write, "wb") as pipe:
                pipe.write(np.array(words, dtype=np.uint64).tobytes())
            status = 0
        finally:
            os._exit(status)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        words = np.frombuffer(pipe.read(), dtype=np.uint64).tolist()
    assert os.waitpid(child, 0)[1] == 0
    return [int(word) for word in words]


def test_streams_of_two_instances_differ() -> None:
    words = take(OperatingSystemBits(), 1000) + take(OperatingSystemBits(), 1000)
    assert len(set(words)) == 2000


def test_a_stream_goes_on_between_calls() -> None:
    source = OperatingSystemBits()
    assert len(set(take(source, 1000) + take(source, 1000))) == 2000


@can_fork
@forks
def test_children_and_grandchildren_never_repeat_the_parent() -> None:
    source = OperatingSystemBits()
    words = take(source, 100)
    for _ in range(4):
        words += in_child(source, 100, deeper=2)
    words += take(source, 100)
    assert len(words) == 100 + 4 * 300 + 100
    assert len(set(words)) == len(words)


@can_fork
@forks
def test_a_child_with_the_process_number_of_its_ancestor_takes_a_new_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = OperatingSystemBits()
    number = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: number)
    child = in_child(source, 100)
    assert not set(child) & set(take(source, 100))


def test_a_changed_process_number_takes_a_new_key(monkeypatch: pytest.MonkeyPatch) -> None:
    source = OperatingSystemBits()
    before = source._state[1]
    monkeypatch.setattr(os, "getpid", lambda: -1)
    take(source, 1)
    assert source._state[1] is not before


@can_fork
@forks
def test_a_lock_held_during_the_fork_does_not_block_the_child() -> None:
    source = OperatingSystemBits()
    with source._state[1]._lock:
        assert len(in_child(source, 10)) == 10


def test_threads_sharing_an_instance_never_get_the_same_word() -> None:
    source = OperatingSystemBits()
    threads = 16
    start = threading.Barrier(threads)

    def work(_: int) -> list[int]:
        start.wait()
        return [word for _ in range(50) for word in take(source, 101)]

    with ThreadPoolExecutor(threads) as pool:
        words = [word for found in pool.map(work, range(threads)) for word in found]
    assert len(words) == threads * 50 * 101
    assert len(set(words)) == len(words)


def test_copies_are_refused() -> None:
    source = OperatingSystemBits()
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be copied"):
            attempt(source)


def test_every_bit_is_fair() -> None:
    # False alarm: 64 positions, each beyond 6.1 standard deviations, in all below 1e-7.
    count = 100_000
    words = np.empty(count, dtype=np.uint64)
    OperatingSystemBits().fill(words)
    ones = np.unpackbits(words.view(np.uint8).reshape(count, 8), axis=1).sum(axis=0)
    assert np.abs(ones.astype(np.int64) - count // 2).max() < 6.1 * np.sqrt(count / 4)


def test_simulation_is_aes_in_counter_mode_keyed_by_the_hash_of_the_seed() -> None:
    key = hashlib.sha256(b"liftlock simulation bits, version 1\0" + b"flu").digest()
    encryptor = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
    stream = encryptor.update(bytes(80))
    expected = [int.from_bytes(stream[i : i + 8], "little") for i in range(0, 80, 8)]
    assert take(SimulationBits("flu"), 10) == expected


def test_simulation_does_not_depend_on_how_it_is_read() -> None:
    count = 50_000
    whole = take(SimulationBits(3), count)
    pieces = SimulationBits(3)
    sizes = [1, 2, 0, 3, 16_384, 16_385, 17_000]
    parts = [word for size in [*sizes, count - sum(sizes)] for word in take(pieces, size)]
    assert parts == whole


def test_seeds() -> None:
    assert take(SimulationBits(7), 3) == take(SimulationBits("7"), 3)
    assert take(SimulationBits(7), 3) == take(SimulationBits(np.int64(7)), 3)
    streams = {
        tuple(take(SimulationBits(seed), 3)) for seed in (0, 7, -7, 1 << 200, "", "flu", "\udc80")
    }
    assert len(streams) == 7


@pytest.mark.parametrize("seed", [None, 1.5, True, b"7"])
def test_refuses_other_seeds(seed: object) -> None:
    with pytest.raises(InputError, match="a seed is a whole number or a text"):
        SimulationBits(seed)  # type: ignore[arg-type]


def test_refuses_buffers_it_cannot_fill() -> None:
    with pytest.raises(InputError, match="contiguous"):
        SimulationBits(1).fill(np.zeros(8, dtype=np.uint64)[::2])
    with pytest.raises(InputError, match="64-bit words"):
        SimulationBits(1).fill(np.zeros(8, dtype=np.int32))
