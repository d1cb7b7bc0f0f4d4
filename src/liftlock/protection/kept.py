"""Columns that stay as they are: what they tell about a secret, and copies of what is replaced."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from liftlock.errors import InputError
from liftlock.protection.learning import Source, Tally
from liftlock.protection.result import KeptColumn

LOOKED_AT = 1_000_000
"""Kept columns are looked at in so many rows, the first ones."""

_MOST_VALUES = 5_000
_ENOUGH = 30
"""Values in fewer rows say little about how often a secret goes with them."""


@dataclass(frozen=True)
class KeptLook:
    """What was seen of the columns that stay: leaks of secrets, and columns of identities."""

    leaks: tuple[KeptColumn, ...]
    identities: tuple[str, ...]
    """Columns in which nearly every row has a value of its own."""


def look_at_kept(
    source: Source,
    kept: Sequence[str],
    secrets: Sequence[str],
    replaced: Sequence[str],
    *,
    allowed: Sequence[str] = (),
) -> KeptLook:
    """Refuse copies of replaced columns and of secrets; measure what the others tell.

    `allowed` are columns that may stay whatever they tell.
    """
    others = [name for name in kept if name not in replaced]
    targets = list(dict.fromkeys((*secrets, *replaced)))
    tallies = {(name, target): Tally((target, name)) for name in others for target in targets}
    dropped: set[str] = set()
    rows = 0
    wanted = {*others, *targets}
    for piece in source.batches([name for name in source.columns if name in wanted]):
        for (name, _), tally in tallies.items():
            if name in dropped:
                continue
            try:
                tally.add(piece.batch)
            except InputError:  # lists and structures are not looked into
                dropped.add(name)
                continue
            if len(tally.counts) > _MOST_VALUES * 4:
                dropped.add(name)
        rows += piece.batch.num_rows
        if rows >= LOOKED_AT:
            break
    leaks: list[KeptColumn] = []
    identities = []
    for name in others:
        if name in dropped:
            identities.append(name)
            continue
        for target in targets:
            counts = tallies[name, target].counts
            if name not in allowed:
                _refuse_copy(name, target, counts, is_secret=target in secrets)
        values = {value for _, value in tallies[name, targets[0]].counts} if targets else set()
        if 2 * len(values) > rows:
            identities.append(name)
            continue
        for secret in secrets:
            lower, upper, number = leak_of(tallies[name, secret].counts)
            leaks.append(KeptColumn(name, secret, number, lower, upper))
    return KeptLook(tuple(leaks), tuple(identities))


def leak_of(counts: Mapping[tuple[Any, Any], int]) -> tuple[float, float, int]:
    """Return how far values of a column lower and raise the probability of a secret, in nats.

    Values in few rows are left out: their frequencies are chance.

    >>> leak_of({("ill", "a"): 40, ("well", "a"): 40, ("well", "b"): 80})
    (inf, 0.6931471805599453, 2)
    """
    told, values = Counter[Any](), Counter[Any]()
    for (secret, value), count in counts.items():
        told[secret] += count
        values[value] += count
    total = sum(told.values())
    lower = upper = 0.0
    for value, of_value in values.items():
        if of_value < _ENOUGH:
            continue
        for secret, of_secret in told.items():
            both = counts.get((secret, value), 0)
            expected = of_secret * of_value / total
            if both:
                lift = math.log(both / expected)
                lower, upper = max(lower, -lift), max(upper, lift)
            elif expected >= 1:
                lower = math.inf
    return lower, upper, len(values)


def _refuse_copy(
    name: str, target: str, counts: Mapping[tuple[Any, Any], int], *, is_secret: bool
) -> None:
    """Refuse a kept column that is another under other names."""
    forward: dict[Any, Any] = {}
    backward: dict[Any, Any] = {}
    for theirs, ours in counts:
        if forward.setdefault(ours, theirs) != theirs or backward.setdefault(theirs, ours) != ours:
            return
    if len(forward) < 2:
        return
    what = "the secret" if is_secret else "the protected column"
    raise InputError(
        f"the kept column {name!r} tells {what} {target!r} value by value",
        remedy=f"leave it out of the output (--drop {_quoted(name)}), or insist on keeping it "
        f"(--keep {_quoted(name)})",
    )


def _quoted(name: str) -> str:
    return name if name.replace("-", "").replace("_", "").isalnum() else f'"{name}"'
