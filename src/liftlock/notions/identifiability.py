"""Differential identifiability: posterior odds of any two secrets, on singletons."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from liftlock.errors import NotDefined
from liftlock.exact.enclosure import BITS
from liftlock.model import Context, Family
from liftlock.model.structured import AnyChannel
from liftlock.notions.base import TableBound
from liftlock.notions.lift import LiftTable, lift_table
from liftlock.notions.likelihood import SMALLEST
from liftlock.notions.measurement import Measurement, Witness


class Identifiability(TableBound):
    """The guarantee that posterior odds stay below e^budget.

    Source: 000 Def 3 (on singletons).
    """

    key = "identifiability"
    title = "identifiability"
    summary = "posterior odds below e^budget"
    audited = "a prior, a joint, most families"
    of_sets = True
    of_ratio = True

    @classmethod
    def measure(cls, channel: AnyChannel, context: Context, bits: int = BITS) -> Measurement:
        """Measure DI = max over y, s, s' of ln P(s | y) / P(s' | y), in nats.

        On singletons: with sets of secrets even a constant channel would not be private. A family
        of priors has its worst case at one of its members, as posterior odds are ratios of linear
        functions of the prior.

        Source: 000 Def 3, eq. (10).

        >>> from liftlock.model.channel import Channel
        >>> from liftlock.model import Prior
        >>> constant = Channel.from_rows({"a": {"y": 1}, "b": {"y": 1}})
        >>> Identifiability.measure(constant, Prior.from_counts({"a": 1, "b": 3})).ratio
        Fraction(3, 1)
        """
        if isinstance(context, Family):
            if any(not all(prior.counts) for prior in context.priors):
                raise NotDefined(
                    "identifiability",
                    "a family in which a prior gives some symbol probability 0",
                    "smooth the priors",
                )
            measurements = [cls.measure(channel, prior, bits) for prior in context.priors]
            best = max(measurements, key=lambda r: (r.ratio is None, r.ratio or 0))
            assert best.witness is not None
            prior = context.priors[measurements.index(best)]
            return replace(best, witness=replace(best.witness, prior=prior))
        return cls.of_table(lift_table(channel, context), bits)

    @classmethod
    def of_table(cls, table: LiftTable, bits: int = BITS) -> Measurement:
        """Measure it on a table of lifts."""
        masses = np.array([[float(m)] for m in table.secret_masses])
        with np.errstate(invalid="ignore"):
            posterior = table.floats() * masses
        positive = table.likelihoods.numerators.positive()
        near = np.arange(len(table.outputs))
        if table.faithful and posterior[positive].min() >= SMALLEST:
            highest, lowest = posterior.max(axis=0), posterior.min(axis=0)
            spread = np.divide(highest, lowest, out=np.full_like(highest, np.inf), where=lowest > 0)
            near = np.flatnonzero(spread >= spread.max() * (1 - 16 * table.error))
        best: Fraction | None = None
        witness: Witness | None = None
        for y in near:
            odds = [
                mass * table.likelihoods.at(s, int(y)) for s, mass in enumerate(table.secret_masses)
            ]
            top, bottom = max(odds), min(odds)
            ratio = top / bottom if bottom else None
            if witness is None or ratio is None or (best is not None and ratio > best):
                best = ratio
                witness = Witness(
                    secret=table.secrets.labels[odds.index(top)],
                    other=table.secrets.labels[odds.index(bottom)],
                    output=table.outputs.labels[int(y)],
                )
            if ratio is None:
                break
        return Measurement.of_ratio(cls.key, best, witness, bits)
