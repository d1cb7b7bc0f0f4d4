"""Chance: which cells of a table of counts two columns that are independent would hardly give.

Given how often each value of either column occurs, the rows of independent columns are matched at
random, and a cell is hypergeometric: with K rows of a secret and m of a value among N,

    P(X >= k) = sum over j >= k of C(K, j) C(N - K, m - j) / C(N, m).

A cell stands out if this exact tail, or the one below, is at most the error rate divided by twice
the number of cells. So in at most that share of tables of independent columns any cell stands out,
whatever the counts are (Bonferroni). Rows must be independent: one for each person.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from liftlock.probe.coins import Coins
from liftlock.transfer.bets import ERROR_RATE

_ROUNDING = 1e-6
"""More than the relative error of a tail in floats, which is about 1e-8 for a million rows."""


@dataclass(frozen=True)
class Crossing:
    """How often the values of two columns occur together: keys are (secret, value).

    >>> seen = Crossing({("ill", "a"): 3, ("ill", "b"): 40, ("well", "a"): 40, ("well", "b"): 3})
    >>> list(seen.stand_out())
    [('ill', 'a', 3, 21.5), ('ill', 'b', 40, 21.5), ('well', 'a', 40, 21.5), ('well', 'b', 3, 21.5)]
    """

    counts: Mapping[tuple[Any, Any], int]
    error: float = ERROR_RATE

    @cached_property
    def secrets(self) -> Counter[Any]:
        """The rows of each secret."""
        return self._margin(0)

    @cached_property
    def values(self) -> Counter[Any]:
        """The rows of each value."""
        return self._margin(1)

    @cached_property
    def rows(self) -> int:
        """The number of rows."""
        return sum(self.counts.values())

    @property
    def level(self) -> float:
        """The tail probability below which a cell stands out on one side."""
        return self.error / (2 * len(self.secrets) * len(self.values)) * (1 - _ROUNDING)

    def stand_out(self) -> Iterator[tuple[Any, Any, int, float]]:
        """Yield secret, value, rows and expected rows of the cells that are more than chance."""
        for (secret, value), both in self.counts.items():
            of_secret, of_value = self.secrets[secret], self.values[value]
            expected = of_secret * of_value / self.rows
            if self._above(both, of_secret, of_value) or self._below(both, of_secret, of_value):
                yield secret, value, both, expected
        # Cells without rows: the fewer rows a value has, the less it matters that none is there.
        common = self.values.most_common()
        for secret, of_secret in self.secrets.items():
            for value, of_value in common:
                if not self._below(0, of_secret, of_value):
                    break
                if not self.counts.get((secret, value)):
                    yield secret, value, 0, of_secret * of_value / self.rows

    @cached_property
    def rare(self) -> tuple[Any, ...]:
        """Values that might give away the secrets of most people without standing out.

        They would not, even if all rows of the value had the secret.

        >>> few, more = ({(s, v): n for s in "st" for v in "abcd"} for n in (3, 50))
        >>> Crossing(few).rare, Crossing(more).rare
        (('a', 'b', 'c', 'd'), ())
        """
        rare: dict[int, bool] = {}
        for size in set(self.values.values()):
            several = (of for of in self.secrets.values() if of > size)
            hidden = sum(of for of in several if not self._above(size, of, size))
            rare[size] = 2 * hidden > self.rows
        return tuple(value for value, size in self.values.items() if rare[size])

    def share_of(self, values: Iterable[Any]) -> float:
        """Return in which share of the rows these values are."""
        return sum(self.values[value] for value in values) / self.rows if self.rows else 0.0

    def _margin(self, place: int) -> Counter[Any]:
        found = Counter[Any]()
        for key, count in self.counts.items():
            found[key[place]] += count
        return found

    def _above(self, both: int, of_secret: int, of_value: int) -> bool:
        if both * self.rows <= of_secret * of_value:
            return False
        return tail_within(self.level, both, of_secret, of_value, self.rows)

    def _below(self, both: int, of_secret: int, of_value: int) -> bool:
        if both * self.rows >= of_secret * of_value:
            return False
        return tail_within(self.level, of_value - both, self.rows - of_secret, of_value, self.rows)


@dataclass(frozen=True)
class RarePools:
    """Rare values, judged together by the secret that they go with.

    A random half of the rows of each value names the secret that is the most frequent there, by how
    frequent it is among all; the other half is counted under that name. Of a column that is
    independent of the secret the names say nothing about the other half, so these few pools are a
    column like any other, with values that are not rare. Values in one row have no other half.

    >>> clinics = {(s, f"{s}{at}"): 2 for s in ("ill", "well") for at in range(20)}
    >>> seen = RarePools.of(Crossing(clinics))
    >>> [(secret, pool, both) for secret, pool, both, _ in seen.stand_out()]
    [('ill', 'ill', 20), ('well', 'well', 20), ('ill', 'well', 0), ('well', 'ill', 0)]
    """

    crossing: Crossing
    """Of the secret, and of the name of a pool; another one is for rows in no pool."""
    judged: float
    """The share of rows in values that are in a pool."""
    skipped: float
    """The share of rows in rare values that could not be judged, not even together."""

    @classmethod
    def of(cls, seen: Crossing, seed: int = 0) -> RarePools:
        """Make the pools of the rare values of a column."""
        rows: dict[Any, Counter[Any]] = {}
        rare = set(seen.rare)
        for (secret, value), count in seen.counts.items():
            if value in rare:
                rows.setdefault(value, Counter())[secret] += count
        secrets = sorted(seen.secrets, key=repr)
        several = sorted((value for value in rows if rows[value].total() > 1), key=repr)
        table = np.array([[rows[value][s] for s in secrets] for value in several], dtype=np.int64)
        coins = Coins(seed)
        coins.see(table)
        toss = coins.toss()
        counts = Counter[tuple[Any, Any]]()
        for of_value in table:
            half = toss.multivariate_hypergeometric(of_value, of_value.sum() // 2)
            named = max(
                range(len(secrets)), key=lambda at: int(half[at]) / seen.secrets[secrets[at]]
            )
            for at in np.flatnonzero(of_value - half).tolist():
                counts[secrets[at], secrets[named]] += int(of_value[at] - half[at])
        pooled = set(several)
        for (secret, value), count in seen.counts.items():
            if value not in pooled:
                counts[secret, _NO_POOL] += count
        crossing = Crossing(counts, seen.error)
        # A pool that is rare itself judges nothing.
        blind = [pool for pool in crossing.rare if pool is not _NO_POOL]
        named_rows = sum(size for pool, size in crossing.values.items() if pool is not _NO_POOL)
        seeing = 1 - sum(crossing.values[pool] for pool in blind) / max(named_rows, 1)
        judged = seen.share_of(several) * seeing
        return cls(crossing, judged, seen.share_of(rare) - judged)

    def stand_out(self) -> Iterator[tuple[Any, Any, int, float]]:
        """Yield secret, pool, rows and expected rows of the cells that are more than chance."""
        return (cell for cell in self.crossing.stand_out() if cell[1] is not _NO_POOL)


_NO_POOL = object()


def tail_within(level: float, both: int, marked: int, drawn: int, rows: int) -> bool:
    """Tell whether at least `both` of `drawn` rows out of `rows` are `marked` with P <= level.

    `both` must be above its mean. Sums only where the first term does not decide.

    >>> tail_within(0.05, 5, 50, 5, 100), tail_within(0.02, 5, 50, 5, 100)  # 0.0281
    (True, False)
    """
    if both > min(marked, drawn):
        return True  # which cannot happen at all
    ways = _log_choose(marked, both) + _log_choose(rows - marked, drawn - both)
    term = math.exp(ways - _log_choose(rows, drawn))
    total = 0.0
    for hits in range(both, min(marked, drawn) + 1):
        total += term
        if total > level:
            return False
        ratio = (marked - hits) * (drawn - hits) / ((hits + 1) * (rows - marked - drawn + hits + 1))
        # The ratios fall: what is left is below a geometric series.
        if total + term * ratio / (1 - ratio) <= level:
            return True
        term *= ratio
    return True


def _log_choose(number: int, chosen: int) -> float:
    return math.lgamma(number + 1) - math.lgamma(chosen + 1) - math.lgamma(number - chosen + 1)
