"""One total budget for all released columns: shared out, and proved on all columns together.

Budgets of lifts do not add up, so no share is a proof. The proof is the account of the product
channel on the tuples of the table, about each secret; shares are searched until it is kept.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from liftlock._runtime.progress import Progress, Step
from liftlock.accounting.account import limited_quantities
from liftlock.errors import InputError, LiftlockError, NotDefined
from liftlock.exact.numbers import exact
from liftlock.mechanism import Mechanism
from liftlock.notions.base import Notion
from liftlock.tables.protect.result import BudgetShare, CombinedLeak
from liftlock.tables.protect.spec import ColumnSpec

STEPS = 64
"""Shares are multiples of one part in so many of the total."""
MOST_LEVELS = 8
"""The search begins with so many shares of each column, fewer if there are many columns."""
NOISY = tuple(Fraction(part) for part in ("1/16", "1/8", "1/4"))
"""And with these shares, of which a part of the rows is noise."""
CLEAR = tuple(Fraction(rows) for rows in ("1/8", "1/4", "3/8", "1/2", "5/8", "3/4", "7/8"))
"""So many of these rows are none."""
MOST_COMBINATIONS = 4_096
MOST_AUDITS = 150
"""So many combinations of shares are audited before the search goes on with the equal split."""


class Level(NamedTuple):
    """How much a column tells."""

    part: Fraction
    """Of its secret, by itself, in parts of the total."""
    clear: Fraction = Fraction(1)
    """The share of rows that are not noise: beside other columns a value tells what it does not
    tell alone, and noise hides that too."""

    def scaled(self, factor: Fraction) -> Level:
        """Tell more or less: with less noise, if there is any, else of the secret."""
        if self.clear == 1:
            return Level(self.part * factor)
        return Level(self.part, min(self.clear * factor, Fraction(1)))


Make = Callable[[int, Notion, Fraction], Mechanism]
"""Designs for a column, by its place, under a notion and with a share of noise."""
Audit = Callable[[Sequence[Mechanism]], "Sequence[CombinedLeak]"]
"""Accounts for all columns together, about each secret; fails where that cannot be done."""


def check_total(total: Notion, specs: Sequence[ColumnSpec], *, together: bool) -> None:
    """Refuse a total budget that nothing could be proved about."""
    if not limited_quantities(total):
        raise NotDefined(
            f"a total of {total}",
            "columns that are released together",
            "ask for lip, alip or ldp",
        )
    if together:
        raise InputError(
            "a total budget for columns protected together",
            value=str(total),
            remedy="leave out --total: their guarantee is one already (--epsilon)",
        )
    if len(specs) < 2:
        raise InputError(
            "a total budget for one column",
            value=str(total),
            remedy="give it as its guarantee (--epsilon)",
        )
    for spec in specs:
        if spec.also:
            raise NotDefined(
                "a total budget",
                f"{spec.column!r}, which has several guarantees",
                "give that column one secret, or each secret its own budget instead of the total",
            )
        if spec.local:
            raise NotDefined(
                "a total budget",
                f"{spec.column!r}, whose priors are per user",
                "protect that column by itself: nothing is known of its product with others",
            )


def read_weights(
    weights: Mapping[str, object] | None, specs: Sequence[ColumnSpec]
) -> tuple[Fraction, ...]:
    """Return the weight of each column; nothing if none are given.

    >>> from liftlock.notions.lip import LIP
    >>> columns = [ColumnSpec("job", LIP("1")), ColumnSpec("pay", LIP("1"))]
    >>> [str(weight) for weight in read_weights({"job": "2"}, columns)]
    ['2', '1']
    """
    if not weights:
        return ()
    names = [spec.column for spec in specs]
    for name in weights:
        if name not in names:
            raise InputError(
                "a weight of a column that is not protected",
                value=name,
                remedy=f"name one of {', '.join(names)}",
            )
    found = tuple(exact(weights.get(name, 1), name="weight") for name in names)
    if min(found) <= 0:
        raise InputError("a weight is not positive", value=str(min(found)), remedy="give 1 or more")
    return found


@dataclass
class TotalSplit:
    """The search for shares of a total budget: deterministic, and of bounded length.

    A share limits what a column tells of its secret by itself. Two columns may say together what
    neither says alone, so that no share of each is enough: then some rows are noise, drawn without
    looking at the value, and of those nothing can be put together. The best split is the one of the
    largest product of what the columns keep.
    """

    total: Notion
    names: Sequence[str]
    make: Make
    audit: Audit
    watch: Progress
    made: dict[tuple[int, Level], Mechanism | None] = field(default_factory=dict)
    audits: dict[tuple[Level, ...], bool] = field(default_factory=dict)

    def split(self, weights: Sequence[Fraction] = ()) -> tuple[BudgetShare, ...]:
        """Return the share of each column: by weights, or those that keep the most usefulness."""
        equal = self._proportional((Fraction(1),) * len(self.names))
        chosen = self._proportional(weights) if weights else self._best(equal)
        if chosen is None:
            raise NotDefined(
                f"a total of {self.total}",
                f"{', '.join(map(repr, self.names))} together",
                "they tell more about a secret even at a small share each: name every secret for "
                "every column (--secret), ask for more, or protect them as one value (--together)",
            )
        return tuple(
            BudgetShare(
                name,
                self.notion(level),
                self._kept(at, level),
                None if equal is None else self.notion(equal[at]),
                None if equal is None else self._kept(at, equal[at]),
                1 - level.clear,
                Fraction(0) if equal is None else 1 - equal[at].clear,
            )
            for at, (name, level) in enumerate(zip(self.names, chosen, strict=True))
        )

    def notion(self, level: Level) -> Notion:
        """Return a share of the total as a guarantee of one column."""
        return self.total.scaled(Fraction(max(1, math.floor(level.part * _FINE)), _FINE))

    def _proportional(self, weights: Sequence[Fraction]) -> tuple[Level, ...] | None:
        """Return the largest shares in proportion to weights that keep the total."""
        parts = [weight / max(weights) for weight in weights]
        tried = [self._scaled([Level(part) for part in parts])]
        for least in NOISY:
            # As much as possible is clear where the weight is large.
            tried.append(self._scaled([Level(least * p, Fraction(127, 128) * p) for p in parts]))
        found = [levels for levels in tried if levels is not None]
        return max(found, key=self._worth, default=None)

    def _scaled(self, levels: Sequence[Level]) -> tuple[Level, ...] | None:
        """Return the largest levels in this proportion that are proved to keep the total."""
        low, high = 0, STEPS + 1
        while high - low > 1:
            middle = (low + high) // 2
            if self._passes(tuple(each.scaled(Fraction(middle, STEPS)) for each in levels)):
                low = middle
            else:
                high = middle
        return tuple(each.scaled(Fraction(low, STEPS)) for each in levels) if low else None

    def _best(self, equal: tuple[Level, ...] | None) -> tuple[Level, ...] | None:
        """Return the shares whose columns keep the most: the best of a grid, then raised."""
        number = len(self.names)
        most = max(1, int(MOST_COMBINATIONS ** (1 / number) + 1e-9))
        usable = [self._levels(at, most) for at in range(number)]
        ranked = sorted(
            itertools.product(*usable), key=lambda levels: (-self._worth(levels), levels)
        )
        failed: list[tuple[Level, ...]] = []
        best = equal
        for levels in ranked:
            if best is not None and self._worth(levels) <= self._worth(best):
                break
            if len(failed) >= MOST_AUDITS:
                break
            # Larger shares of all columns hardly keep what smaller ones do not.
            if any(_is_more(levels, gone) for gone in failed):
                continue
            if self._passes(levels):
                best = levels
                break
            failed.append(levels)
        return None if best is None else self._raised(best)

    def _levels(self, at: int, most: int) -> list[Level]:
        """Return the levels of a column that the search begins with, where there is a design."""
        number = max(1, min(MOST_LEVELS, most // 3))
        found = [Level(Fraction(level, number)) for level in range(1, number + 1)]
        noisy = [Level(part, clear) for part in NOISY for clear in CLEAR]
        found += noisy[:: max(1, -(-len(noisy) // max(most - number, 1)))]
        return [level for level in found if self._mechanism(at, level) is not None]

    def _raised(self, levels: tuple[Level, ...]) -> tuple[Level, ...]:
        """Raise the shares one by one, by smaller and smaller steps, while the total is kept."""
        for step in _STEPS:
            for at, level in enumerate(levels):
                more = (*levels[:at], level.scaled(1 + step), *levels[at + 1 :])
                if more[at].part <= 1 and self._passes(more):
                    levels = more if self._worth(more) > self._worth(levels) else levels
        return levels

    def _passes(self, levels: tuple[Level, ...]) -> bool:
        """Tell whether the account of all columns proves that the total is kept."""
        if levels not in self.audits:
            made = [self._mechanism(at, level) for at, level in enumerate(levels)]
            found = [each for each in made if each is not None]
            self.watch(Step(f"sharing out the total: {len(self.audits) + 1} splits audited"))
            self.audits[levels] = len(found) == len(levels) and all(
                leak.keeps(self.total) for leak in self.audit(found)
            )
        return self.audits[levels]

    def _mechanism(self, at: int, level: Level) -> Mechanism | None:
        if (at, level) not in self.made:
            try:
                self.made[at, level] = self.make(at, self.notion(level), 1 - level.clear)
            except LiftlockError:
                self.made[at, level] = None
        return self.made[at, level]

    def _worth(self, levels: Sequence[Level]) -> float:
        kept = [self._kept(at, level) for at, level in enumerate(levels)]
        return round(sum(math.log(max(each, _LEAST)) for each in kept), 9)

    def _kept(self, at: int, level: Level) -> float:
        made = self._mechanism(at, level)
        return 0.0 if made is None else kept_share(made)


_FINE = 1000
"""Shares are rounded down to so many parts."""
_LEAST = 1e-9
"""A column that keeps less is worth nothing."""
_STEPS = tuple(Fraction(step) for step in ("1/4", "1/8", "1/16", "1/32"))


def _is_more(levels: Sequence[Level], than: Sequence[Level]) -> bool:
    """Tell whether every column may tell at least as much."""
    pairs = zip(levels, than, strict=True)
    return all(one.part >= other.part and one.clear >= other.clear for one, other in pairs)


def kept_share(made: Mechanism) -> float:
    """Return how much a column is still good for: 0 as no release, 1 as the truth.

    >>> from liftlock import LIP, Prior, design
    >>> made = design(Prior.uniform("ab"), LIP("1"))
    >>> round(kept_share(made), 3)
    0.311
    """
    origin = made.origin
    if origin is None or origin.nothing is None or origin.truth is None:
        return 0.0
    whole = origin.truth - origin.nothing
    share = (origin.objective - origin.nothing) / whole if whole else 1.0
    return min(max(share, 0.0), 1.0)
