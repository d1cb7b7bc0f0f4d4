"""The lift: by what factor an output changes the belief in a secret, exactly.

    l(s, y) = P(s | y) / P(s) = P(y | s) / P(y)

Secrets and outputs of probability 0 are dropped; a zero likelihood with positive marginals is a
lift of 0, an infinite log-lift.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, reduce
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from liftlock.errors import InputError, NotDefined, UnprotectedInput
from liftlock.exact import enclosure
from liftlock.exact.enclosure import BITS, Enclosure, nearest_float
from liftlock.exact.integers import Floats, Integers
from liftlock.model import (
    AnyUserPrior,
    Conditional,
    Context,
    Intervals,
    Joint,
    PerUserPriors,
    Prior,
    PriorSet,
)
from liftlock.model.alphabet import Alphabet, Label
from liftlock.model.channel import Channel
from liftlock.model.structured import AnyChannel, SupportChannel, UserChannel, to_dense
from liftlock.model.structured.extremes import ExtremePoint, lift_extremes
from liftlock.notions.given import parts_of
from liftlock.notions.likelihood import SMALLEST, Likelihoods, likelihoods
from liftlock.notions.measurement import Measurement, Witness, screening_error

Impossible = Literal["refuse", "ignore"]
"""What to do with inputs of prior probability 0 that the channel accepts."""


def check_impossible(treatment: object) -> None:
    """Refuse what is not a treatment of impossible inputs; a typo must not switch a check off.

    >>> check_impossible("Refuse")
    Traceback (most recent call last):
    liftlock.errors.InputError: unknown treatment of impossible values: 'Refuse'; use refuse or ...
    """
    if treatment not in get_args(Impossible):
        raise InputError(
            "unknown treatment of impossible values",
            value=treatment,
            remedy=f"use {' or '.join(get_args(Impossible))}",
        )


@dataclass(frozen=True)
class ExtremeLift:
    """A lift (None: infinite) and where it is attained."""

    lift: Fraction | None
    witness: Witness


@dataclass(frozen=True)
class LiftTable:
    """All lifts of a channel in a context, as ratios of integers.

    The output mass is P(y) = masses[y] / mass_total, the secret's P(s) = counts[s] / count_total;
    the likelihoods are exact too, so lift = P(y | s) / P(y) is a rational number.

    Source: 002 eq. (1), eq. (2).

    >>> from liftlock.model.channel import Channel
    >>> table = lift_table(Channel.identity("ab"), Prior.from_counts({"a": 1, "b": 3}))
    >>> table.lift("a", "a"), table.lift("b", "a")
    (Fraction(4, 1), Fraction(0, 1))
    >>> table.largest().lift, table.smallest().lift
    (Fraction(4, 1), Fraction(0, 1))
    """

    likelihoods: Likelihoods
    counts: tuple[int, ...]
    count_total: int
    masses: tuple[int, ...]
    mass_total: int

    @property
    def secrets(self) -> Alphabet:
        """The secrets of positive probability."""
        return self.likelihoods.secrets

    @property
    def outputs(self) -> Alphabet:
        """The outputs of positive probability."""
        return self.likelihoods.outputs

    def lift(self, secret: Label, output: Label) -> Fraction:
        """Return one lift."""
        return self.lift_at(self.secrets.index(secret), self.outputs.index(output))

    def lift_at(self, s: int, y: int) -> Fraction:
        """Return one lift by indices."""
        given = self.likelihoods
        return Fraction(
            given.numerators.item(s, y) * self.mass_total, given.denominators[s] * self.masses[y]
        )

    def log_lift(self, secret: Label, output: Label) -> Enclosure | None:
        """Enclose one log-lift in nats; None is minus infinity."""
        value = self.lift(secret, output)
        return enclosure.log(value) if value else None

    def lifts(self) -> list[list[Fraction]]:
        """Return the whole table (a row for each secret)."""
        return [
            [self.lift_at(s, y) for y in range(len(self.outputs))] for s in range(len(self.secrets))
        ]

    def column(self, y: int) -> list[Fraction]:
        """Return the lifts of every secret at one output."""
        return [self.lift_at(s, y) for s in range(len(self.secrets))]

    def floats(self) -> Floats:
        """Return the whole table in float64, within a relative `error` if `faithful`.

        Otherwise a lift that no float comes close to is 0 or infinite.
        """
        return self._approximate

    @cached_property
    def _approximate(self) -> Floats:
        # Dividing Python integers rounds correctly, whatever their size.
        output = np.array([mass / self.mass_total for mass in self.masses])
        # An output of hardly any mass has ordinary lifts, but not as a ratio of vanishing floats.
        sound = self.likelihoods.faithful & (output >= SMALLEST)
        lifts: Floats = self.likelihoods.approximate / np.where(sound, output, 1.0)
        for y in np.flatnonzero(~sound):
            lifts[:, y] = [nearest_float(value) for value in self.column(int(y))]
        return lifts

    @cached_property
    def faithful(self) -> bool:
        """Whether `error` holds for all `floats`: no positive lift is too small or too large."""
        inside = (self.floats() >= SMALLEST) & (self.floats() <= 1 / SMALLEST)
        return bool((inside | ~self.likelihoods.numerators.positive()).all())

    @property
    def error(self) -> float:
        """The relative error of `floats`."""
        return self.likelihoods.error + 4 * screening_error(0)

    @cached_property
    def secret_masses(self) -> tuple[Fraction, ...]:
        """P(s) for each secret of the table."""
        return tuple(Fraction(count, self.count_total) for count in self.counts)

    @cached_property
    def output_masses(self) -> tuple[Fraction, ...]:
        """P(y) for each output of the table."""
        return tuple(Fraction(mass, self.mass_total) for mass in self.masses)

    # --- extremes -------------------------------------------------------------------------------

    @cached_property
    def top_secrets(self) -> npt.NDArray[np.intp]:
        """For each output, the secret with the largest lift (the first of equals)."""
        return self.likelihoods.column_extremes(1)

    @cached_property
    def bottom_secrets(self) -> npt.NDArray[np.intp]:
        """For each output, the secret with the smallest lift (the first of equals)."""
        return self.likelihoods.column_extremes(-1)

    def max_lift(self, output: Label) -> Fraction:
        """Return the largest lift at an output (Lambda of 002)."""
        y = self.outputs.index(output)
        return self.lift_at(int(self.top_secrets[y]), y)

    def min_lift(self, output: Label) -> Fraction:
        """Return the smallest lift at an output (Psi of 002)."""
        y = self.outputs.index(output)
        return self.lift_at(int(self.bottom_secrets[y]), y)

    def largest(self) -> ExtremeLift:
        """Return the largest lift of all, with its witness."""
        return self._extreme(self.top_secrets, 1)

    def smallest(self) -> ExtremeLift:
        """Return the smallest lift of all, with its witness."""
        return self._extreme(self.bottom_secrets, -1)

    def _extreme(self, rows: npt.NDArray[np.intp], sign: int) -> ExtremeLift:
        columns = np.arange(len(rows))
        values = sign * self.floats()[rows, columns]
        top = float(values.max())
        slack = 4 * self.error * abs(top) if math.isfinite(top) else 0.0
        candidates = np.flatnonzero(values >= top - slack)
        best = max(candidates, key=lambda y: (sign * self.lift_at(int(rows[y]), int(y)), -y))
        s = int(rows[best])
        witness = Witness(secret=self.secrets.labels[s], output=self.outputs.labels[int(best)])
        return ExtremeLift(self.lift_at(s, int(best)), witness)


def lift_table(channel: AnyChannel, context: Context) -> LiftTable:
    """Compute all lifts of a channel under a prior or a joint."""
    channel = to_dense(channel)
    given = likelihoods(channel, context)
    if not isinstance(context, Prior | Joint):
        raise NotDefined(
            "the lift table", context.describe(), "give one prior or one joint, or ask for lip"
        )
    prior = context.prior.reordered(channel.inputs)
    secret = context.secret_prior.restrict(given.secrets.labels)
    masses = channel.output_counts(prior)
    rows = np.array([s for s, count in enumerate(secret.counts) if count], dtype=np.intp)
    columns = np.array([y for y, mass in enumerate(masses) if mass], dtype=np.intp)
    return LiftTable(
        given.select(rows, columns),
        tuple(secret.counts[int(s)] for s in rows),
        secret.total,
        tuple(masses[int(y)] for y in columns),
        prior.total * channel.common_total,
    )


# --- extremes in any context ----------------------------------------------------------------------


class LeakRange(NamedTuple):
    """How far beliefs about a secret fall and rise, in nats; infinity where one is ruled out."""

    eps_lower: float
    eps_upper: float


@dataclass(frozen=True)
class LiftRange:
    """The largest and the smallest lift, each with its witness."""

    largest: ExtremeLift
    smallest: ExtremeLift

    def eps_upper(self, bits: int = BITS) -> Measurement:
        """Return ln(largest lift)."""
        top = self.largest
        return Measurement.of_ratio("eps_upper", top.lift, top.witness, bits)

    def eps_lower(self, bits: int = BITS) -> Measurement:
        """Return -ln(smallest lift)."""
        ratio = 1 / self.smallest.lift if self.smallest.lift else None
        return Measurement.of_ratio("eps_lower", ratio, self.smallest.witness, bits)

    def lip(self, bits: int = BITS) -> Measurement:
        """Return the larger of the two."""
        sides = self.eps_lower(bits), self.eps_upper(bits)
        ratios = [side.ratio for side in sides]
        down = ratios[0] is None or (ratios[1] is not None and ratios[0] > ratios[1])
        return replace(sides[0] if down else sides[1], notion="lip")

    def measurements(self) -> dict[str, Measurement]:
        """Return what lifts show, in nats."""
        return {"lip": self.lip(), "eps_lower": self.eps_lower(), "eps_upper": self.eps_upper()}


def extreme_lifts(channel: AnyChannel, context: Context) -> LiftRange:
    """Return the exact extreme lifts in any context (for a set of priors: over the whole set).

    For a form whose reports do not support every set of symbols they are bounds on the safe side.
    """
    if isinstance(context, PerUserPriors):
        from liftlock.notions.user_lifts import UserLifts, user_lifts

        return reduce(UserLifts.merge, user_lifts(channel, context)).range
    if isinstance(context, Conditional):
        return _extremes_given(channel, context)
    if isinstance(channel, UserChannel) and isinstance(context, AnyUserPrior):
        return exact_lift_range(channel.largest, channel.smallest)
    if isinstance(channel, SupportChannel):
        found = lift_extremes(channel, context)
        return LiftRange(_extreme(channel, found.largest), _extreme(channel, found.smallest))
    if isinstance(context, PriorSet):
        return lift_range(to_dense(channel), context)
    table = lift_table(channel, context)
    return LiftRange(table.largest(), table.smallest())


def _extremes_given(channel: AnyChannel, context: Conditional) -> LiftRange:
    """Return the extreme lifts of all k: the rest under every prior, which is every joint."""
    largest: ExtremeLift | None = None
    smallest: ExtremeLift | None = None
    for part in parts_of(channel, context):
        found = worst_case(part.channel) if part.open else extreme_lifts(part.channel, part.context)
        top, bottom = (
            replace(each, witness=replace(each.witness, given=part.label))
            for each in (found.largest, found.smallest)
        )
        if largest is None or (
            largest.lift is not None and (top.lift is None or top.lift > largest.lift)
        ):
            largest = top
        assert bottom.lift is not None
        if smallest is None or (smallest.lift is not None and bottom.lift < smallest.lift):
            smallest = bottom
    if largest is None or smallest is None:  # a rest alone, whose rows say nothing
        return exact_lift_range(Fraction(1), Fraction(1))
    return LiftRange(largest, smallest)


def exact_lift_range(largest: Fraction, smallest: Fraction) -> LiftRange:
    """Return the limits of a per-user distribution, which nobody need attain: no witness."""
    return LiftRange(ExtremeLift(largest, Witness()), ExtremeLift(smallest, Witness()))


def _extreme(channel: SupportChannel, corner: ExtremePoint) -> ExtremeLift:
    report = channel.report_text(corner.places)
    return ExtremeLift(corner.value, Witness(corner.secret, report, prior=corner.prior))


def lift_range(channel: Channel, priors: PriorSet) -> LiftRange:
    """Return the exact extreme lifts over every prior of a set.

        sup over P of q(y | x) / P(y)   and   inf over P of q(y | x) / P(y)

    P(y) is linear in the prior, so both ends are attained at extreme points of the set; x runs over
    all symbols that are possible under some prior of the set.

    Source: 000 Def 6.

    >>> from liftlock.model.channel import Channel
    >>> from liftlock.model import Intervals
    >>> bit = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> everything = lift_range(bit, Intervals.all_priors([0, 1]))
    >>> everything.largest.lift, everything.smallest.lift
    (Fraction(3, 1), Fraction(1, 3))
    """
    factors = np.array(channel.row_factors, dtype=object)
    columns = (channel.weights[:, y].astype(object) * factors for y in range(len(channel.outputs)))
    aligned = priors.reordered(channel.inputs)
    return column_range(columns, aligned, lambda y: channel.outputs.labels[y])


def column_range(
    columns: Iterable[Integers], priors: PriorSet, label: Callable[[int], Label]
) -> LiftRange:
    """Return the same of outputs that are given one by one: q(y | x) for every x, in proportion.

    `label` names an output by its position.
    """
    rows = np.flatnonzero(priors.possible)
    top: tuple[Fraction | None, int, int, Integers] | None = None
    bottom: tuple[Fraction, int, int, Integers] | None = None
    for y, column in enumerate(columns):
        least, most = priors.mass_range(column)
        if most == 0:
            continue
        values = column[rows]
        high, low = int(rows[values.argmax()]), int(rows[values.argmin()])
        lift = Fraction(int(column[high])) / least if least else None
        if top is None or (top[0] is not None and (lift is None or lift > top[0])):
            top = (lift, high, y, column)
        down = Fraction(int(column[low])) / most
        if bottom is None or down < bottom[0]:
            bottom = (down, low, y, column)
    assert top is not None
    assert bottom is not None
    labels = priors.inputs.labels
    up, down_to = (
        Witness(labels[x], label(y), prior=priors.extreme(column, least=least))
        for (_, x, y, column), least in ((top, True), (bottom, False))
    )
    return LiftRange(ExtremeLift(top[0], up), ExtremeLift(bottom[0], down_to))


def worst_case(channel: Channel) -> LiftRange:
    """Return the extreme lifts over all priors on the inputs: worst-case LIP, which equals LDP.

    Source: 000 Cor 2.
    """
    return lift_range(channel, Intervals.all_priors(channel.inputs.labels))


# --- inputs that never occur ----------------------------------------------------------------------


def impossible_inputs(channel: AnyChannel, context: Context) -> tuple[Label, ...]:
    """Return the inputs the channel accepts although the context says they never occur."""
    if isinstance(context, Prior | Joint):
        counts = context.prior.reordered(channel.inputs).counts
    elif isinstance(context, PriorSet):
        counts = tuple(int(p) for p in context.reordered(channel.inputs).possible)
    elif isinstance(context, AnyUserPrior):
        return ()
    elif isinstance(context, Conditional):
        return context.unprotected(to_dense(channel))
    elif isinstance(context, PerUserPriors):
        # The channels of users refuse what is impossible; a table for all of them does not.
        if isinstance(channel, UserChannel):
            return ()
        rows = context.reordered(channel.inputs).blocks()
        counts = tuple(np.logical_and.reduce([(part > 0).all(axis=0) for _, part in rows]).tolist())
    else:
        raise NotDefined("a lift", context.describe(), "give a prior, a joint or a set of priors")
    return tuple(x for x, count in zip(channel.inputs.labels, counts, strict=True) if not count)


def refuse_impossible(
    channel: AnyChannel, context: Context, impossible: Impossible
) -> tuple[Label, ...]:
    """Return the unprotected inputs, or refuse them.

    An input of prior probability 0 has no guarantee of any kind that depends on the prior.
    """
    labels = impossible_inputs(channel, context)
    if labels and impossible == "refuse":
        raise UnprotectedInput(labels)
    return labels
