"""Subset merging: hide high-risk symbols in many small crowds instead of one large one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from liftlock.context import Context
from liftlock.designs.base import Design, Draft
from liftlock.designs.merging import (
    MERGING_NOTIONS,
    Pool,
    equivocation,
    further,
    listed,
    merged_draft,
    repair,
)
from liftlock.exact.integers import Floats
from liftlock.notions.base import Notion
from liftlock.utility.utility import Utility


def subset_merging(
    context: Context,
    notion: Notion,
    *,
    utility: Utility | None = None,  # noqa: ARG001
    also: Notion | Sequence[Notion] = (),
    as_published: bool = False,
) -> Draft:
    """Release low-risk symbols, and merge the high-risk ones in subsets that are each safe.

    Each subset starts from the symbol of highest risk that is left and takes in, one by one, the
    symbol that leaves the least risk

        max-lift + 1/min-lift   (LDP: their ratio; other measures: their value)

    until it is safe. A last subset that stays unsafe absorbs other subsets or low-risk symbols.

    `as_published` follows the printed text: the risk max-lift + min-lift (LIP: the larger of the
    two logarithms), no subsets at all when the high-risk symbols are safe together, and no low-risk
    symbols in the repair, which may then end above the budget.

    Source: 002 Algorithm 1, eq. (13), eq. (14), section 6.2.

    >>> from liftlock.context import Joint
    >>> from liftlock.notions.lip import LIP
    >>> table = {"s": {"a": 30, "b": 5, "c": 20, "d": 45}, "t": {"a": 5, "b": 30, "c": 45, "d": 20}}
    >>> subset_merging(Joint.from_counts(table), LIP("0.3")).outputs.labels
    ('a | b', 'c | d')
    """
    pool = Pool.of(context, notion, *further(also))
    low, high = pool.split()
    if as_published:
        groups = _printed_subsets(pool, low, high, _printed_risk(pool, notion))
    else:
        groups = safe_subsets(pool, low, high)
    return merged_draft(pool, groups, DESIGN.key, _remarks(pool, low, groups))


def safe_subsets(pool: Pool, low: list[int], high: list[int]) -> list[list[int]]:
    """Return a partition of the symbols into sets that are each safe.

    The greedy subsets, or one crowd for all high-risk symbols if that should say more after repair.

    Source: 002 Algorithm 1, with the loop until nothing is left, and the last set repaired.
    """
    singles = [[x] for x in low]
    if not high:
        return singles
    *before, last = _grow(pool, high)
    found = (repair(pool, last, [*before, *singles]), repair(pool, high, singles))
    return min(found, key=lambda groups: equivocation(pool, groups))


def _grow(pool: Pool, high: list[int]) -> list[list[int]]:
    """Grow sets from the symbol of highest risk until each is safe; the last may not be."""
    waiting = np.array(high, dtype=np.intp)
    # Highest risk first; a stable order makes ties repeatable.
    waiting = waiting[np.argsort(-pool.risks(pool.amounts[:, waiting]), kind="stable")]
    amounts = np.ascontiguousarray(pool.amounts[:, waiting])
    groups: list[list[int]] = []
    while len(waiting):
        group, total = [int(waiting[0])], amounts[:, :1]
        waiting, amounts = waiting[1:], amounts[:, 1:]
        while len(waiting) and not pool.safe(total)[0]:
            best = int(np.argmin(pool.risks(total + amounts)))
            group.append(int(waiting[best]))
            total = total + amounts[:, best : best + 1]
            waiting, amounts = np.delete(waiting, best), np.delete(amounts, best, axis=1)
        groups.append(group)
    return groups


def _printed_risk(pool: Pool, notion: Notion) -> Callable[[Floats], Floats]:
    """Return the risk that 002 section 4.1 prints for a notion, or section 6.2 for a measure."""
    allowed = notion.lift_limits()
    if allowed is None or None in allowed:
        return pool.risks
    symmetric = allowed.lower == allowed.upper

    def risk(amounts: Floats) -> Floats:
        lifts, _ = pool.lifts(amounts)
        most, least = lifts.max(axis=0), lifts.min(axis=0)
        if not symmetric:
            return np.asarray(most + least)
        with np.errstate(divide="ignore"):
            return np.asarray(np.maximum(most, 1 / least))

    return risk


def _printed_subsets(
    pool: Pool, low: list[int], high: list[int], risk: Callable[[Floats], Floats]
) -> list[list[int]]:
    """Follow Algorithm 1 as it is printed."""
    waiting = list(high)
    groups: list[list[int]] = []
    while waiting and not pool.is_safe(waiting):
        group = [waiting.pop(int(np.argmax(risk(pool.amounts[:, waiting]))))]
        while waiting and not pool.is_safe(group):
            candidates = pool.gather(group) + pool.amounts[:, waiting]
            group.append(waiting.pop(int(np.argmin(risk(candidates)))))
        groups.append(group)
    if waiting:
        groups.append(waiting)
    while len(groups) > 1 and not pool.is_safe(groups[-1]):
        last = groups.pop()
        candidates = np.hstack([pool.gather(last + group) for group in groups])
        groups.append(last + groups.pop(int(np.argmin(risk(candidates)))))
    return [*groups, *([x] for x in low)]


def _remarks(pool: Pool, low: list[int], groups: list[list[int]]) -> list[str]:
    """Say how finely the symbols were merged, and whether that is enough."""
    if len(low) == len(pool.masses):
        return ["every symbol is of low risk: X is released as it is"]
    crowds = [group for group in groups if len(group) > 1]
    high = len(pool.masses) - len(low)
    sets = f"{len(crowds)} set{'s' * (len(crowds) != 1)}"
    remarks = [f"of high risk: {high} of {len(pool.masses)} symbols, merged in {sets}"]
    kept = set(low)
    absorbed = [x for group in crowds for x in group if x in kept]
    if absorbed:
        remarks.append(f"hidden with them to keep the budget: {listed(pool.inputs, absorbed)}")
    if not all(pool.is_safe(group) for group in groups):
        remarks.append("as published, and a merged symbol does not keep the budget")
    if len(groups) == 1 and len(pool.masses) > 1:
        remarks.append("every symbol is hidden: nothing is released")
    return remarks


DESIGN = Design(
    key="subset-merging",
    make=subset_merging,
    says="release symbols of low risk as they are, merge the others in subsets that are each safe",
    promises="greedy, no solver, fast for thousands of symbols; never worse than the watchdog",
    source="002 Algorithm 1, corrected",
    notions=MERGING_NOTIONS,
    contexts=("prior", "joint"),
    options={
        "also": "further notions that every output must keep",
        "as_published": "follow the printed algorithm (it may break the budget)",
    },
)
