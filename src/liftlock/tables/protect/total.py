"""One total budget for all released columns: shared out, and proved on all columns together.

Budgets of lifts do not add up, so no share is a proof. The proof is the account of the product
channel on the tuples of the table, about each secret; shares are searched until it is kept.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

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
MOST_COMBINATIONS = 4_096
MOST_AUDITS = 150
"""So many combinations of shares are audited before the search goes on with the equal split."""

Make = Callable[[int, Notion], Mechanism]
"""Designs for a column, by its place, under a notion."""
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
    """The search for shares of a total budget: deterministic, and of bounded length."""

    total: Notion
    names: Sequence[str]
    make: Make
    audit: Audit
    watch: Progress
    made: dict[tuple[int, Fraction], Mechanism | None] = field(default_factory=dict)
    audits: dict[tuple[Fraction, ...], bool] = field(default_factory=dict)

    def split(self, weights: Sequence[Fraction] = ()) -> tuple[BudgetShare, ...]:
        """Return the share of each column: by weights, or those that keep the most usefulness."""
        equal = self._scaled((Fraction(1),) * len(self.names))
        chosen = self._scaled(weights) if weights else self._best(equal)
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
                self.notion(part),
                self._kept(at, part),
                None if equal is None else self.notion(equal[at]),
                None if equal is None else self._kept(at, equal[at]),
            )
            for at, (name, part) in enumerate(zip(self.names, chosen, strict=True))
        )

    def notion(self, part: Fraction) -> Notion:
        """Return a share of the total as a guarantee of one column."""
        return self.total.scaled(part)

    def _scaled(self, weights: Sequence[Fraction]) -> tuple[Fraction, ...] | None:
        """Return the largest shares in proportion to weights that are proved to keep the total."""
        most = max(weights)
        low, high = 0, STEPS + 1
        while high - low > 1:
            middle = (low + high) // 2
            if self._passes(self._rounded(weights, Fraction(middle, STEPS * most))):
                low = middle
            else:
                high = middle
        return self._rounded(weights, Fraction(low, STEPS * most)) if low else None

    @staticmethod
    def _rounded(weights: Sequence[Fraction], scale: Fraction) -> tuple[Fraction, ...]:
        parts = (int(weight * scale * 4 * STEPS) for weight in weights)
        return tuple(Fraction(max(part, 1), 4 * STEPS) for part in parts)

    def _best(self, equal: tuple[Fraction, ...] | None) -> tuple[Fraction, ...] | None:
        """Return the shares whose columns keep the most: the best of a grid, then raised."""
        number = len(self.names)
        levels = max(1, min(MOST_LEVELS, int(MOST_COMBINATIONS ** (1 / number) + 1e-9)))
        grid = [Fraction(level, levels) for level in range(1, levels + 1)]
        usable = [
            [part for part in grid if self._mechanism(at, part) is not None] for at in range(number)
        ]
        ranked = sorted(itertools.product(*usable), key=lambda parts: (-self._worth(parts), parts))
        failed: list[tuple[Fraction, ...]] = []
        best = equal
        for parts in ranked:
            if best is not None and self._worth(parts) <= self._worth(best):
                break
            if len(failed) >= MOST_AUDITS:
                break
            # Larger shares of all columns hardly keep what smaller ones do not.
            if any(all(a >= b for a, b in zip(parts, gone, strict=True)) for gone in failed):
                continue
            if self._passes(parts):
                best = parts
                break
            failed.append(parts)
        return None if best is None else self._raised(best, Fraction(1, 2 * levels))

    def _raised(self, parts: tuple[Fraction, ...], step: Fraction) -> tuple[Fraction, ...]:
        """Raise the shares one by one, by smaller and smaller steps, while the total is kept."""
        while step >= Fraction(1, STEPS):
            for at in range(len(parts)):
                more = (*parts[:at], parts[at] + step, *parts[at + 1 :])
                if more[at] <= 1 and self._passes(more) and self._worth(more) > self._worth(parts):
                    parts = more
            step /= 2
        return parts

    def _passes(self, parts: tuple[Fraction, ...]) -> bool:
        """Tell whether the account of all columns proves that the total is kept."""
        if parts not in self.audits:
            made = [self._mechanism(at, part) for at, part in enumerate(parts)]
            found = [each for each in made if each is not None]
            self.watch(Step(f"sharing out the total: {len(self.audits) + 1} splits audited"))
            self.audits[parts] = len(found) == len(parts) and all(
                leak.keeps(self.total) for leak in self.audit(found)
            )
        return self.audits[parts]

    def _mechanism(self, at: int, part: Fraction) -> Mechanism | None:
        if (at, part) not in self.made:
            try:
                self.made[at, part] = self.make(at, self.notion(part))
            except LiftlockError:
                self.made[at, part] = None
        return self.made[at, part]

    def _worth(self, parts: Sequence[Fraction]) -> float:
        return round(sum(self._kept(at, part) for at, part in enumerate(parts)), 9)

    def _kept(self, at: int, part: Fraction) -> float:
        made = self._mechanism(at, part)
        return 0.0 if made is None else kept_share(made)


def kept_share(made: Mechanism) -> float:
    """Return how much a column is still good for: 0 as no release, 1 as the truth.

    >>> from liftlock import LIP, Prior, design
    >>> made = design(Prior.uniform("ab"), LIP("1"))
    >>> round(kept_share(made), 3)
    0.16
    """
    origin = made.origin
    if origin is None or origin.nothing is None or origin.truth is None:
        return 0.0
    whole = origin.truth - origin.nothing
    share = (origin.objective - origin.nothing) / whole if whole else 1.0
    return min(max(share, 0.0), 1.0)
