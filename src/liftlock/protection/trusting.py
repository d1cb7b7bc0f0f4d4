"""How far to trust what was learned: leakage under tables drawn anew from the same rows."""

from __future__ import annotations

import numpy as np

from liftlock.contexts import Joint, Prior
from liftlock.exact.integers import Floats
from liftlock.mechanism import Mechanism
from liftlock.protection.result import Resampled

TABLES = 200
_SEED = 0
_MOST_CELLS = 400_000


def resampled(made: Mechanism, rows: int, tables: int = TABLES) -> Resampled | None:
    """Measure the mechanism under so many tables of `rows` rows, drawn from what was learned.

    They are the bootstrap's answer to "what if other people had been in the table?", drawn with a
    fixed seed. None for contexts and notions without lifts, and for huge tables.
    """
    context, table = made.context, made.table
    if not isinstance(context, Prior | Joint) or table.weights.size > _MOST_CELLS:
        return None
    limits = made.notion.lift_limits()
    if limits is None:
        return None
    random = np.random.default_rng(_SEED)
    matrix = table.floats()
    lows, highs = np.empty(tables), np.empty(tables)
    for at in range(tables):
        lows[at], highs[at] = _leak(_drawn(context, rows, random, made), matrix)
    tiny = 1e-9
    holds = np.ones(tables, dtype=bool)
    if limits.lower is not None:
        holds &= lows <= float(limits.lower) + tiny
    if limits.upper is not None:
        holds &= highs <= float(limits.upper) + tiny
    return Resampled(tables, _spread(lows), _spread(highs), float(holds.mean()))


def _drawn(
    context: Prior | Joint, rows: int, random: np.random.Generator, made: Mechanism
) -> Floats:
    """Return the probabilities of one table: secrets in rows, inputs in columns."""
    if isinstance(context, Joint):
        counts = np.array(context.reordered(made.table.inputs).counts, dtype=np.float64)
        shape = counts.shape
        drawn = random.multinomial(rows, counts.reshape(-1) / counts.sum()).reshape(shape)
        return drawn / rows
    masses = context.reordered(made.table.inputs).floats()
    return np.diag(random.multinomial(rows, masses / masses.sum()) / rows)


def _leak(joint: Floats, matrix: Floats) -> tuple[float, float]:
    """Return the largest fall and the largest rise of a belief, in nats."""
    joint = joint[joint.sum(axis=1) > 0]
    given = (joint @ matrix) / joint.sum(axis=1, keepdims=True)
    outputs = joint.sum(axis=0) @ matrix
    seen = outputs > 0
    lifts = given[:, seen] / outputs[seen]
    with np.errstate(divide="ignore"):
        logs = np.log(lifts)
    return float(-logs.min()), float(logs.max())


def _spread(values: Floats) -> tuple[float, float, float]:
    return (
        float(np.median(values)),
        float(np.quantile(values, 0.95, method="higher")),
        float(values.max()),
    )
