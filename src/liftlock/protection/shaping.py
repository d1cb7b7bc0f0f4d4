"""Fitting a mechanism to its column: cells that stay missing, and outputs that are numbers."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from liftlock.alphabet import Alphabet, Label
from liftlock.channel import Table
from liftlock.column_code import ColumnCode
from liftlock.contexts import Joint
from liftlock.errors import InputError, NotDefined
from liftlock.exact import enclosure
from liftlock.exact.budget import Budget, decimal_text
from liftlock.exact.integers import Floats
from liftlock.line.grid import number_labels
from liftlock.mechanism import Mechanism
from liftlock.notions.base import LiftLimits, Notion
from liftlock.notions.lip import lift_notion

_FINE = Fraction(1, 10**9)
"""Budgets that are made smaller are rounded down to multiples of this."""


def without_missing(joint: Joint, missing: Label, notion: Notion) -> tuple[Joint, Notion]:
    """Return the joint of those who have a value, and the budget that is left for it.

    With M the event that the value is missing, every lift of an output y other than "missing" is

        P(y | s) / P(y) = [P(y | s, not M) / P(y | not M)] * [P(not M | s) / P(not M)],

    so the mechanism for those who have a value gets what the second factor leaves. The output
    "missing" has the lift P(M | s) / P(M), which must keep the budget by itself.
    """
    falls, rises = _limits(notion)
    place = joint.inputs.index(missing)
    rows = [row for row in joint.counts if sum(row)]
    gone = Fraction(sum(row[place] for row in rows), joint.total)
    chances = [Fraction(row[place], sum(row)) for row in rows]
    lower = upper = None
    if falls is not None:
        if not min(chances) or max(chances) == 1:
            raise _none_left(missing)
        _left(falls, gone / min(chances), missing)
        lower = _left(falls, (1 - gone) / (1 - max(chances)), missing)
    if rises is not None:
        _left(rises, max(chances) / gone, missing)
        upper = _left(rises, (1 - min(chances)) / (1 - gone), missing)
    left = lift_notion(lower=lower, upper=upper)
    rest = joint.restricted(label for label in joint.inputs.labels if label != missing)
    return rest, left


def with_missing(made: Mechanism, joint: Joint, missing: Label, notion: Notion) -> Mechanism:
    """Add the missing cells that stay as they are, and prove the whole."""
    table = made.table
    bits = table.bits
    rows, columns = table.weights.shape
    weights = np.zeros((rows + 1, columns + 1), dtype=table.weights.dtype)
    weights[:rows, :columns] = table.weights
    weights[rows, columns] = 1 << bits
    inputs = Alphabet.of([*table.inputs.labels, missing])
    outputs = Alphabet.of([*table.outputs.labels, missing])
    whole = Table.of(inputs, outputs, weights.tolist(), bits=bits)
    context = joint.restricted(inputs.labels)
    origin = made.origin
    if origin is not None:
        said = "designed for those who have a value; missing cells come out missing"
        # The bound was for a smaller budget, and says nothing about other ways to keep this one.
        origin = replace(origin, bound=None, gap=None, remarks=(*origin.remarks, said))
    return Mechanism.proved(whole, notion, context, origin)


def with_numbers(made: Mechanism, code: ColumnCode, points: Floats) -> Mechanism:
    """Name each output of a mechanism on cells by the mean of the numbers that give it.

    `points` are the means of the cells. An output that mostly means "missing" stays missing.
    """
    context = made.context
    assert isinstance(context, Joint)
    table = made.table
    masses = context.prior.reordered(table.inputs).floats()
    joint = table.floats() * masses[:, None]
    numeric = np.array([label in set(code.cells) for label in table.inputs.labels])
    of_cells = dict(zip(code.cells, points.tolist(), strict=True))
    values = np.array([of_cells[label] for label in table.inputs.labels if label in of_cells])
    there = joint[numeric].sum(axis=0)
    empty = joint[~numeric].sum(axis=0) > there
    means = (joint[numeric] * values[:, None]).sum(axis=0) / np.where(there > 0, there, 1.0)
    order = np.argsort(np.where(empty, np.inf, means), kind="stable")
    step = 1e-3 * float(np.ptp(values)) if len(values) > 1 else 1.0
    numbers = means[order][~empty[order]].tolist()
    labels, coordinates = number_labels(numbers, step) if numbers else ([], [])
    names: list[Label] = []
    for label in labels:
        names.append(label if label not in names else f"{label!r} ({len(names)})")
    weights = table.weights[:, order]
    number = len(names)
    if empty.any():
        # All outputs that mean "missing" are one: what is joined tells less, never more.
        assert code.missing is not None
        joined = weights[:, number:].sum(axis=1, keepdims=True)
        weights = np.concatenate([weights[:, :number], joined], axis=1)
        names.append(code.missing)
    outputs = Alphabet.of(names, None if empty.any() else coordinates)
    whole = Table.of(table.inputs, outputs, weights.tolist(), bits=table.bits)
    return Mechanism.proved(whole, made.notion, context, made.origin)


def _limits(notion: Notion) -> LiftLimits:
    limits = notion.lift_limits()
    if limits is None:
        raise NotDefined(
            "keeping cells missing",
            f"the notion {notion.name}",
            "make missing values a category of their own (--missing category)",
        )
    return limits


def _left(budget: Budget | None, taken: Fraction, missing: Label) -> str:
    """Return what is left of a budget, rounded down."""
    assert budget is not None
    spent = enclosure.log(taken).upper
    assert spent is not None
    rest = math.floor((budget.nats().lower - spent) / _FINE) - 1
    if rest <= 0:
        raise _none_left(missing)
    return decimal_text(rest * _FINE)


def _none_left(missing: Label) -> InputError:
    return InputError(
        f"who has no value, {missing}, tells more about the secret than the budget allows",
        remedy="make missing values a category of their own (--missing category), or allow more",
    )
