"""The coins of a randomised test: a hash of its seed and of all that was counted before the toss.

The tests of a probe toss coins: for the source of each draw, for the half that each record belongs
to. Their error rates count on coins that are fair and independent of the outputs. Coins that a seed
alone fixes are constants, and with constants a test keeps its level on average over seeds, not with
the one seed that is used: of true claims, one seed had 40 % contradicted at a confidence of 95 %.

So the counts are hashed with the seed. Other outputs give other counts, and these other coins, so
that the level holds for each seed; the same seed and the same counts give the same result. It rests
on SHA-256 being as good as random. With p(c) the probability of the counts c, the false alarms of a
seed are a sum over c of p(c) times a coin of its own, which exceeds its mean, the level, by t with
probability at most exp(-2 t^2 / sum p(c)^2) over all hash functions (Hoeffding).
"""

from __future__ import annotations

import hashlib
import operator
import secrets

import numpy as np
import numpy.typing as npt


def fresh_seed() -> int:
    """Return a seed from the operating system."""
    return secrets.randbits(128)


class Coins:
    """Coins for a test, from its seed and the counts seen so far.

    >>> ours, same, other = Coins(7), Coins(7), Coins(7)
    >>> for coins, hits in ((ours, 12), (same, 12), (other, 13)):
    ...     coins.see(np.array([hits, 40]))
    >>> first = ours.toss().random()
    >>> first == same.toss().random(), first == other.toss().random(), first == ours.toss().random()
    (True, False, False)
    """

    def __init__(self, seed: int) -> None:
        self._seen = hashlib.sha256(f"liftlock probe {operator.index(seed)}".encode())

    def see(self, counts: npt.NDArray[np.int64]) -> None:
        """Let all later coins depend on these counts."""
        self._seen.update(f" {counts.shape} ".encode())
        self._seen.update(np.ascontiguousarray(counts, dtype="<i8").tobytes())

    def toss(self) -> np.random.Generator:
        """Return fresh coins."""
        self._seen.update(b" toss ")
        return np.random.default_rng(int.from_bytes(self._seen.digest()))
