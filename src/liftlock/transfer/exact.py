"""Transfer: the leakage of a mechanism under another prior than the one it was designed for.

If the channel is known, its leakage under the other prior, or over a set of priors, is exact. From
the guarantee alone it is bounded: by the distance of the priors, and by the LDP that the guarantee
implies under every prior.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

from liftlock.errors import InputError, LabelError, NotDefined, listed
from liftlock.exact.budget import Budget
from liftlock.exact.enclosure import Enclosure
from liftlock.mechanism import Mechanism
from liftlock.model import Ball, Context, Family, Intervals, Prior, PriorSet
from liftlock.model._checks import require_context, require_notion
from liftlock.model.alphabet import Alphabet, Label, label_to_json
from liftlock.model.channel import Channel
from liftlock.model.structured import AnyChannel, HashingChannel, SupportChannel
from liftlock.notions import LDP
from liftlock.notions.base import Notion
from liftlock.notions.lip import LIP
from liftlock.notions.measurement import Measurement, ends_to_json, number_to_json
from liftlock.transfer.bounds import (
    LiftLevel,
    PriorShift,
    TransferBound,
    bound_from_ratios,
    in_nats,
    infinite_ratio_bound,
    likelihood_bounds,
    ratio_bounds,
    smallest_bound,
    total_variation,
    variation_bound,
    variation_threshold,
)

Subject: TypeAlias = Mechanism | AnyChannel | Notion
"""What is carried over: a mechanism, a channel, or no more than a guarantee."""


@dataclass(frozen=True)
class Transfer:
    """What a mechanism leaks under a prior that it was not made for.

    `designed` is the level under the prior it was made for. `exact` is the leakage under the other
    prior, or the worst case over the other priors; None if the channel is not known, or the truth
    only from samples. `bounds` hold each for itself; those that rest on a set of priors of some
    `confidence` hold with it. `unprotected` are symbols that the first prior calls
    impossible, so that its guarantee says nothing of them.
    """

    before: str
    after: str
    designed: Enclosure
    exact: Measurement | None
    bounds: tuple[TransferBound, ...]
    unprotected: tuple[Label, ...] = ()
    remarks: tuple[str, ...] = ()
    confidence: Fraction | None = None
    eligible: tuple[str, ...] = field(default=("",))
    """What the bounds that `least` chooses from may rest on."""
    tight: bool = True
    """Whether `exact` is attained; of local hashing it is a bound."""

    @property
    def least(self) -> TransferBound:
        """The smallest of the bounds that hold together."""
        return smallest_bound([bound for bound in self.bounds if bound.given in self.eligible])

    @property
    def level(self) -> Enclosure:
        """What may be promised: the exact leakage if it is known, else the least bound."""
        return self.least.value if self.exact is None else self.exact.value

    def bound(self, name: str, given: str | None = None) -> TransferBound:
        """Return the bound of a name (and of what it rests on)."""
        for found in self.bounds:
            if found.name == name and given in (None, found.given):
                return found
        raise InputError(
            "no such bound",
            value=name,
            remedy=f"there are {', '.join(dict.fromkeys(each.name for each in self.bounds))}",
        )

    def __str__(self) -> str:
        lines = [f"under P1, {self.before}: {in_nats(self.designed)}"]
        after = f"under P2, {self.after}:"
        if self.exact is not None:
            word = "exactly" if self.tight else "at most"
            lines.append(f"{after} {word} {in_nats(self.exact.value)}")
            if self.exact.witness is not None:
                lines.append(f"  at {self.exact.witness}")
        elif self.level.is_infinite:
            lines.append(f"{after} no bound")
        else:
            resting = self.confidence is not None and self.least.given
            sure = f", with probability {float(self.confidence or 1):g}" if resting else ""
            lines.append(f"{after} at most {in_nats(self.level)}{sure}")
        lines += [f"  {_with_given(bound)}" for bound in self.bounds]
        if self.unprotected:
            lines.append(f"NOT covered, because P1 calls it impossible: {listed(self.unprotected)}")
        return "\n".join([*lines, *(f"({said})" for said in self.remarks)])

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        level: dict[str, Any] = {"value": number_to_json(self.level)}
        if not self.level.is_infinite:
            level["enclosure"] = ends_to_json(self.level)
        return {
            "format": "liftlock.transfer",
            "version": 1,
            "before": self.before,
            "after": self.after,
            "designed": number_to_json(self.designed),
            "level": level,
            "exact": None if self.exact is None else self.exact.to_data(),
            "least": self.least.name,
            "bounds": [bound.to_data() for bound in self.bounds],
            "unprotected": [label_to_json(label) for label in self.unprotected],
            "remarks": list(self.remarks),
            "confidence": None if self.confidence is None else float(self.confidence),
        }


def _with_given(bound: TransferBound) -> str:
    return f"{bound.given}: {bound}" if bound.given else str(bound)


def transfer(
    subject: Subject, actual: Prior | PriorSet, *, designed: Prior | PriorSet | None = None
) -> Transfer:
    """Return the leakage of a mechanism under another prior, or over a set of priors.

    `designed` is the prior it was made for; a mechanism brings its own. Of a channel the leakage
    is exact (of local hashing, a bound). A guarantee alone is carried over by the bounds.

    Source: 000 Lemma 3, eq. (12), Cor 6, Cor 8, in their corrected forms.

    >>> from liftlock.notions.lip import LIP
    >>> fair = Prior.from_counts({"no": 5, "yes": 5})
    >>> rare = Prior.from_counts({"no": 7, "yes": 3})
    >>> print(transfer(LIP("1"), rare, designed=fair))
    under P1, a prior on 2 symbols: 1 nats
    under P2, a prior on 2 symbols: at most 1.2254195382 nats
      log ratio: 1.5108256238 nats  [eps + max |ln P1(x)/P2(x)|; 000 Lemma 3 (log-ratio form)]
      ...
    >>> rows = {"no": {0: "3/4", 1: "1/4"}, "yes": {0: "1/4", 1: "3/4"}}
    >>> found = transfer(Channel.from_rows(rows), rare, designed=fair)
    >>> str(found.designed), str(found.exact)  # ln 2 and ln(12/5)
    ('0.693147', 'lip 0.875469 nats (secret "yes", output 0)')
    """
    known = TransferSubject.of(subject, designed)
    actual = known.align(actual, "the other prior")
    return known.compare_with(actual)


def transfer_within(
    subject: Subject,
    *,
    total_variation: object = None,
    log_ratio: object = None,
    designed: Prior | None = None,
) -> Transfer:
    """Return the leakage of a mechanism if the true prior is within a distance of its own.

    Either in total variation, or as the largest log ratio eta of probabilities: e^-eta <=
    P2(x) / P1(x) <= e^eta. Of a channel the worst case over all such priors is exact.

    Source: 000 Def 7, Lemma 3.

    >>> from liftlock.notions.lip import LIP
    >>> prior = Prior.from_counts({"none": 70, "cold": 20, "flu": 10})
    >>> near = transfer_within(LIP("1"), total_variation="0.02", designed=prior)
    >>> near.least.name, str(near.level)  # 1 + ln(1 + 0.02 / (0.1 - 0.02))
    ('log ratio', '1.22314')
    """
    known = TransferSubject.of(subject, designed)
    centre = known.designed
    if not isinstance(centre, Prior):
        raise NotDefined("a distance", centre.describe(), "give the prior it was made for")
    if (total_variation is None) == (log_ratio is None):
        raise InputError(
            "one distance is needed", remedy="give total_variation=..., or log_ratio=..."
        )
    if total_variation is not None:
        return known.compare_with(Ball.of(centre, total_variation))
    return known.compare_with(within_ratio(centre, log_ratio))


def within_ratio(centre: Prior, log_ratio: object) -> Intervals:
    """Return all priors whose probabilities are within a factor e^log_ratio of those of a prior.

    >>> within_ratio(Prior.from_counts({"a": 1, "b": 3}), "ln 2").upper
    (Fraction(1, 2), Fraction(1, 1))
    """
    factor = Budget.of(log_ratio, name="log_ratio").exp().upper
    assert factor is not None
    masses = centre.fractions
    return Intervals(
        centre.alphabet,
        tuple(p / factor for p in masses),
        tuple(min(p * factor, Fraction(1)) for p in masses),
    )


@dataclass(frozen=True)
class TransferSubject:
    """The subject of a transfer: a channel or a guarantee, with the prior of its design."""

    channel: AnyChannel | None
    guarantee: Notion | None
    designed: Prior | PriorSet
    level: LiftLevel

    @classmethod
    def of(cls, subject: Subject, designed: Prior | PriorSet | None) -> TransferSubject:
        """Read the subject."""
        context: Context | None = designed
        channel: AnyChannel | None = None
        guarantee: Notion | None = None
        if isinstance(subject, Mechanism):
            channel = subject.channel
            context = subject.context if designed is None else designed
        elif isinstance(subject, Channel | SupportChannel):
            channel = subject
        else:
            guarantee = require_notion(subject)
        if context is None:
            raise InputError(
                "the prior of the design is not known",
                remedy="give the prior of the design: designed=...",
            )
        require_context(context)
        if not isinstance(context, Prior | PriorSet):
            raise NotDefined(
                "transfer",
                context.describe(),
                "audit the channel in the other context instead, which is exact",
            )
        if channel is None:
            assert guarantee is not None
            return cls(None, guarantee, context, LiftLevel.of_guarantee(guarantee, context))
        made_for = reorder_context(context, channel.inputs, "the prior of the design")
        return cls(channel, None, made_for, LiftLevel.of_channel(channel, made_for))

    def align(self, context: Prior | PriorSet, name: str) -> Prior | PriorSet:
        """Return a context in the order of the inputs."""
        inputs = self.designed.inputs if self.channel is None else self.channel.inputs
        return reorder_context(context, inputs, name)

    def compare_with(self, actual: Prior | PriorSet) -> Transfer:
        """Put all bounds together."""
        exact = None if self.channel is None else LIP.measure(self.channel, actual)
        shift = self._shift(actual)
        unprotected = shift.unprotected if shift is not None else self._impossible(actual)
        bounds: list[TransferBound] = []
        if contains(self.designed, actual):
            bounds.append(
                TransferBound(
                    "within the design", self.level.lip, "eps", "the guarantee of the design"
                )
            )
        if shift is not None:
            bounds += ratio_bounds(self.level, shift, actual)
        elif isinstance(self.designed, Family):
            bounds.append(infinite_ratio_bound("no prior of the family has the same symbols"))
        priors, others = _listed(self.designed), _listed(actual)
        if priors and others:
            bounds.append(variation_bound(self.level, priors, others))
        everywhere = self.bounds_under_any_prior(unprotected)
        bounds += everywhere
        ratio = smallest_bound(everywhere)
        if actual.smallest and not ratio.value.is_infinite:
            bounds.append(bound_from_ratios(ratio, actual.smallest))
        return Transfer(
            self.designed.describe(),
            actual.describe(),
            self.level.lip,
            exact,
            tuple(bounds),
            unprotected,
            tuple(self._remarks(actual, unprotected)),
            tight=not isinstance(self.channel, HashingChannel),
        )

    def bounds_under_any_prior(self, unprotected: Sequence[Label]) -> list[TransferBound]:
        """Return the bounds that hold under every prior, those with an unprotected symbol too."""
        ratio = None
        if self.channel is not None:
            ratio = LDP.measure(self.channel).value
        elif self.guarantee is not None and self.guarantee.ratio_limit is not None:
            ratio = self.guarantee.ratio_limit.nats()
        found = likelihood_bounds(
            self.level,
            self.designed,
            guarantee=self.guarantee,
            ldp=ratio,
            unprotected=unprotected,
        )
        return list(found)

    def _shift(self, actual: Prior | PriorSet) -> PriorShift | None:
        """Compare symbol by symbol; of a family the nearest member counts."""
        if isinstance(self.designed, Prior):
            return PriorShift.of(self.designed, actual)
        if isinstance(self.designed, Family):
            shifts = [PriorShift.of(prior, actual) for prior in self.designed.priors]
            finite = [each for each in shifts if each.largest_decrease and each.largest_increase]
            if finite:
                return min(
                    finite,
                    key=lambda each: max(each.largest_decrease or 0, each.largest_increase or 0),
                )
        return None

    def _impossible(self, actual: Prior | PriorSet) -> tuple[Label, ...]:
        before, after = self.designed.symbol_ranges[1], actual.symbol_ranges[1]
        labels = self.designed.inputs.labels
        return tuple(
            label for label, p, q in zip(labels, before, after, strict=True) if q and not p
        )

    def _remarks(self, actual: Prior | PriorSet, unprotected: Sequence[Label]) -> list[str]:
        said = []
        if isinstance(actual, Prior):
            never = [
                label
                for label, count in zip(actual.labels, actual.counts, strict=True)
                if not count
            ]
            if never:
                named = ", ".join(repr(label) for label in never[:3])
                said.append(f"P2 calls {named} impossible: the level says nothing of it")
            if isinstance(self.designed, Prior) and not unprotected and not never:
                said.append(self._corollary_6(actual))
        return said

    def _corollary_6(self, actual: Prior) -> str:
        assert isinstance(self.designed, Prior)
        limit = variation_threshold(self.level, self.designed, actual)
        apart = total_variation(self.designed, actual)
        return (
            f"total variation {float(apart):.6g}; up to {float(limit):.6g} eps + ln(1 + TV/c) is "
            "the least term of eq. (12), by 000 Cor 6 with its logarithm"
        )


def reorder_context(context: Prior | PriorSet, inputs: Alphabet, name: str) -> Prior | PriorSet:
    """Return a context in the order of the inputs of a channel.

    A prior may list symbols that the channel does not take, if it calls them impossible.
    """
    if not isinstance(require_context(context, name), Prior | PriorSet):
        raise NotDefined("transfer", context.describe(), "give a prior or a set of priors")
    if not isinstance(context, Prior):
        return context.reordered(inputs)
    extra = [label for label in context.labels if label not in inputs]
    for label in extra:
        if context[label]:
            raise LabelError(
                f"{name} has a symbol that the mechanism does not accept",
                value=label,
                remedy="give it probability 0, or design a mechanism that accepts it",
            )
    if extra:
        context = context.restrict(label for label in context.labels if label in inputs)
    return context.reordered(inputs)


def contains(designed: Prior | PriorSet, actual: Prior | PriorSet) -> bool:
    """Tell whether every prior of `actual` is certainly one of `designed`."""
    if designed == actual:
        return True
    if isinstance(designed, Intervals):
        low, high = actual.symbol_ranges
        ends = zip(designed.lower, low, high, designed.upper, strict=True)
        return all(a <= b and c <= d for a, b, c, d in ends)
    if isinstance(designed, Ball):
        if isinstance(actual, Ball):
            return (
                total_variation(designed.centre, actual.centre) + actual.radius <= designed.radius
            )
        priors = _listed(actual)
        return bool(priors) and all(
            total_variation(designed.centre, prior) <= designed.radius for prior in priors
        )
    if isinstance(designed, Family):
        priors = _listed(actual)
        return bool(priors) and all(prior in designed.priors for prior in priors)
    return False


def _listed(context: Prior | PriorSet) -> tuple[Prior, ...]:
    """Return the priors of a finite set; nothing for other sets."""
    if isinstance(context, Prior):
        return (context,)
    return context.priors if isinstance(context, Family) else ()
