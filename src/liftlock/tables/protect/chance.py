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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

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

    def blind_share(self) -> float:
        """Return the share of rows in which a value that gave the secret away would not stand out.

        It would if all rows of the value had the secret, or all of the secret's had the value.

        >>> few, more = ({(s, v): n for s in "st" for v in "abcd"} for n in (3, 50))
        >>> Crossing(few).blind_share(), Crossing(more).blind_share()
        (1.0, 0.0)
        """
        sizes = Counter(self.values.values())
        blind = 0
        for of_secret, secrets in Counter(self.secrets.values()).items():
            for of_value, values in sizes.items():
                if not self._above(min(of_secret, of_value), of_secret, of_value):
                    blind += of_secret * secrets * of_value * values
        return blind / self.rows**2 if self.rows else 0.0

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
