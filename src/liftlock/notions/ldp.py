"""Local differential privacy: likelihoods of any two secrets within a factor e^epsilon.

Every input counts, also one of prior probability 0; the prior plays no part.
"""

from __future__ import annotations

from fractions import Fraction

from liftlock.exact.budget import Budget
from liftlock.exact.decimals import fold_text
from liftlock.exact.enclosure import BITS
from liftlock.model import Conditional, Context
from liftlock.model.structured import AnyChannel, SupportChannel, to_dense
from liftlock.model.structured.extremes import ratio_extreme
from liftlock.notions.base import LiftLimits, MeasuredBound, Notion, safe_text
from liftlock.notions.given import worst_given
from liftlock.notions.likelihood import likelihoods
from liftlock.notions.measurement import Measurement, Witness


class LDP(MeasuredBound):
    """The guarantee of epsilon-LDP: P(y | s) <= e^epsilon P(y | s') for all s, s', y.

    Source: 000 Def 1 with delta 0; 001 Def 1; 002 Def 2.

    >>> from liftlock.model.channel import Channel
    >>> from liftlock.model import Prior
    >>> bit = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> LDP("ln 3").certify(bit, Prior.uniform([0, 1])).holds
    True
    """

    budget: Budget

    key = "ldp"
    title = "LDP"
    summary = "likelihoods of any two secrets within e^budget"
    audited = "always"
    context_free = True
    of_ratio = True

    @classmethod
    def measure(
        cls, channel: AnyChannel, context: Context | None = None, bits: int = BITS
    ) -> Measurement:
        """Measure L_LDP = max over y, s, s' of ln P(y | s) / P(y | s'), in nats.

        For a joint it speaks of the secret, otherwise of the channel's inputs. Outputs that no
        secret can give are ignored.

        Source: 000 Def 1 with delta 0; 001 Def 1; 002 Def 2, eq. (4).

        >>> from liftlock.model.channel import Channel
        >>> bit = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
        >>> LDP.measure(bit).ratio
        Fraction(3, 1)
        """
        if isinstance(context, Conditional):
            return worst_given(
                channel, context, lambda part, known: cls.measure(part, known, bits), every=True
            )
        if isinstance(channel, SupportChannel):
            corner = ratio_extreme(channel, context)
            report = channel.report_text(corner.places)
            place = Witness(corner.secret, report, corner.other)
            return Measurement.of_ratio("ldp", corner.value, place, bits)
        given = likelihoods(to_dense(channel), context)
        tops, bottoms = given.column_extremes(1), given.column_extremes(-1)
        best: Fraction | None = Fraction(1)
        witness = None
        for y in range(len(given.outputs)):
            s, other = int(tops[y]), int(bottoms[y])
            high, low = given.at(s, y), given.at(other, y)
            if high == 0:
                continue
            ratio = high / low if low else None
            if witness is None or ratio is None or (best is not None and ratio > best):
                best = ratio
                witness = Witness(
                    secret=given.secrets.labels[s],
                    other=given.secrets.labels[other],
                    output=given.outputs.labels[y],
                )
            if ratio is None:
                break
        return Measurement.of_ratio("ldp", best, witness, bits)

    def smallest_guarantee(self, channel: AnyChannel, context: Context) -> Notion | None:
        """Return the smallest guarantee of this kind that a channel keeps; None if it has none."""
        leakage = self.measure(channel, context).value
        return None if leakage.is_infinite else LDP(safe_text(leakage))

    def belief_limits(self) -> LiftLimits:
        """Return what follows for beliefs: e^epsilon times the one before at most, any prior."""
        return LiftLimits(self.budget, self.budget)

    @property
    def ratio_limit(self) -> Budget:
        """The budget of the ratio of any two likelihoods."""
        return self.budget

    @property
    def ldp_budget(self) -> Budget:
        """The budget itself."""
        return self.budget

    @property
    def promise(self) -> str:
        """What it promises, in words."""
        most = fold_text(self.budget.exp().upper).replace("-fold", " times")
        return (
            f"Every value that may be released as {{column}} is at most {most} as likely for "
            "people with one {secret} as for people with any other."
        )
