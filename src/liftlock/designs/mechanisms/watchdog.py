"""The watchdog: release symbols of low risk as they are, and hide the others in one crowd."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from liftlock.context import Context
from liftlock.designs.base import Design, Draft
from liftlock.designs.merging import (
    MERGING_NOTIONS,
    Pool,
    further,
    listed,
    merged_draft,
    repair,
)
from liftlock.errors import InputError
from liftlock.notions.base import Notion
from liftlock.utility.utility import Utility

High = Literal["merge", "randomise"]


def watchdog(
    context: Context,
    notion: Notion,
    *,
    utility: Utility | None = None,  # noqa: ARG001
    high: High = "merge",
    also: Notion | Sequence[Notion] = (),
    as_published: bool = False,
) -> Draft:
    """Release low-risk symbols, and give all high-risk ones the same answer.

    A symbol x is of low risk when the output x alone would keep the notion:
    e^-lower <= P(x | s) / P(x) <= e^upper for every s (the ratio of two P(x | s) for LDP). All
    others are merged into one output, or draw one of their labels at random (`high="randomise"`),
    which says just as little.

    The published mechanism never tests that output, and it can leak more than the budget. Here it
    is tested, and absorbs low-risk symbols until it passes. `as_published` leaves it as it is.

    Source: 002 eq. (6)-(10), eq. (37), Thm 1; the repair is our own.

    >>> from liftlock.context import Joint
    >>> from liftlock.notions.lip import LIP
    >>> table = {"s": {"a": 25, "b": 23, "c": 2}, "t": {"a": 20, "b": 20, "c": 10}}
    >>> joint = Joint.from_counts(table)
    >>> watchdog(joint, LIP("0.4"), as_published=True).outputs.labels  # c leaks ln 3
    ('a', 'b', 'c')
    >>> watchdog(joint, LIP("0.4")).outputs.labels
    ('a', 'b | c')
    """
    if high not in ("merge", "randomise"):
        raise InputError("unknown choice for high", value=high, remedy="use merge or randomise")
    pool = Pool.of(context, notion, *further(also))
    low, risky = pool.split()
    groups = [[x] for x in low]
    crowd = risky
    if risky and not as_published:
        *groups, crowd = repair(pool, risky, groups)
    remarks = _remarks(pool, risky, crowd, as_published)
    if high == "merge" or len(crowd) < 2:
        return merged_draft(pool, [*groups, crowd], DESIGN.key, remarks)
    matrix = np.zeros((len(pool.masses), len(pool.masses)))
    for x in (group[0] for group in groups):
        matrix[x, x] = 1.0
    matrix[np.ix_(crowd, crowd)] = 1.0 / len(crowd)
    return Draft.of(pool.inputs, pool.inputs, matrix, method=DESIGN.key, remarks=remarks)


def _remarks(pool: Pool, risky: list[int], crowd: list[int], as_published: bool) -> list[str]:
    """Say what was hidden, and whether that is enough."""
    if not risky:
        return ["every symbol is of low risk: X is released as it is"]
    remarks = [f"of high risk: {len(risky)} of {len(pool.masses)} symbols"]
    if as_published and not pool.is_safe(risky):
        remarks.append("as published, and the merged symbol does not keep the budget")
    absorbed = sorted(set(crowd) - set(risky))
    if absorbed:
        remarks.append(
            f"merged alone they would break the budget: hidden with them "
            f"{listed(pool.inputs, absorbed)}"
        )
    if len(crowd) == len(pool.masses) > 1:
        remarks.append("every symbol is hidden: nothing is released")
    return remarks


DESIGN = Design(
    key="watchdog",
    make=watchdog,
    says="release symbols of low risk as they are, merge the others and repair the crowd",
    promises="one pass, no solver; the crowd is tested, not optimal",
    source="002 eq. (6)-(10), Thm 1, corrected",
    notions=MERGING_NOTIONS,
    contexts=("prior", "joint"),
    options={
        "high": "merge (one output for all high-risk symbols) or randomise (draw one of them)",
        "also": "further notions that every output must keep",
        "as_published": "do not test the merged symbol (it may break the budget)",
    },
)
