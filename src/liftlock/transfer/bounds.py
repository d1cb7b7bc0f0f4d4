"""The theorems that carry a guarantee from one prior to another, in their corrected forms.

A channel has lifts between 1/D and U under the prior P1 that it was made for, D = e^eps_lower and
U = e^eps_upper. Under P2 the output masses change by a factor between the least and the largest
ratio of the priors, and the lifts with them. Whatever P2 is, no lift leaves the likelihood ratios.
All of it is enclosed, so that an upper end is a bound that holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from liftlock.errors import NotDefined
from liftlock.exact import enclosure
from liftlock.exact.enclosure import Enclosure
from liftlock.model import Ball, Family, Prior, PriorSet
from liftlock.model.alphabet import Label
from liftlock.model.structured import AnyChannel
from liftlock.notions.base import Notion, safe_text
from liftlock.notions.lift import extreme_lifts
from liftlock.notions.measurement import number_to_json
from liftlock.notions.relations import implications


@dataclass(frozen=True)
class TransferBound:
    """One upper bound on the leakage in nats: its formula, where it comes from, what it rests on.

    `given` says what it rests on beyond the guarantee: nothing, or a set of priors that contains
    the truth with some confidence. `note` says in words why there is none, if it is infinite.
    """

    name: str
    value: Enclosure
    formula: str
    source: str
    given: str = ""
    note: str = ""

    def __str__(self) -> str:
        why = f" ({self.note})" if self.note else ""
        return f"{self.name}: {in_nats(self.value)}{why}  [{self.formula}; {self.source}]"

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "name": self.name,
            "value": number_to_json(self.value),
            "formula": self.formula,
            "source": self.source,
            "given": self.given,
            "note": self.note,
        }


def in_nats(value: Enclosure) -> str:
    """Write the value that may be promised.

    >>> in_nats(Enclosure.of(2)), in_nats(Enclosure.infinity())
    ('2 nats', 'no bound')
    """
    return "no bound" if value.is_infinite else f"{safe_text(value)} nats"


def smallest_bound(bounds: Sequence[TransferBound]) -> TransferBound:
    """Return the smallest bound, by what may be promised (the first of equals)."""
    finite = [bound for bound in bounds if bound.value.upper is not None]
    return min(finite, key=lambda bound: bound.value.upper or 0) if finite else bounds[0]


@dataclass(frozen=True)
class LiftLevel:
    """How far lifts move under the prior of the design: both sides, as ratios and in nats."""

    rise: Enclosure
    fall: Enclosure
    up: Enclosure
    down: Enclosure

    @classmethod
    def of_channel(cls, channel: AnyChannel, context: Prior | PriorSet) -> LiftLevel:
        """Measure it."""
        found = extreme_lifts(channel, context)
        upper, lower = found.eps_upper(), found.eps_lower()
        ratios = [
            Enclosure.infinity() if side.ratio is None else Enclosure.of(side.ratio)
            for side in (upper, lower)
        ]
        return cls(ratios[0], ratios[1], upper.value, lower.value)

    @classmethod
    def of_guarantee(cls, guarantee: Notion, context: Prior | PriorSet) -> LiftLevel:
        """Take it from a guarantee."""
        limits = guarantee.lift_limits()
        if limits is not None and limits.lower is not None and limits.upper is not None:
            lower, upper = limits.lower, limits.upper
        elif guarantee.ratio_limit is not None and isinstance(context, Prior):
            rows = {row.target: row.bound for row in implications(guarantee, context)}
            up, down = rows["eps_upper"], rows["eps_lower"]
            assert up is not None
            assert down is not None
            return cls(enclosure.exp_of(up), enclosure.exp_of(down), up, down)
        else:
            raise NotDefined(
                f"the transfer of {guarantee.name}",
                context.describe(),
                "give a guarantee of lip or alip, of ldp for one prior, or the channel itself",
            )
        return cls(upper.exp(), lower.exp(), upper.nats(), lower.nats())

    @property
    def lip(self) -> Enclosure:
        """Epsilon: the larger side, in nats."""
        return self.up.maximum(self.down)


@dataclass(frozen=True)
class PriorShift:
    """What is known symbol by symbol: the prior of the design, and the range under the others.

    `before`, `least` and `most` are P1(x) and the ends of P2(x) over all priors that may be true.
    """

    labels: tuple[Label, ...]
    before: tuple[Fraction, ...]
    least: tuple[Fraction, ...]
    most: tuple[Fraction, ...]

    @classmethod
    def of(cls, designed: Prior, actual: Prior | PriorSet) -> PriorShift:
        """Compare priors whose labels are in the same order."""
        low, high = actual.symbol_ranges
        return cls(designed.labels, designed.fractions, low, high)

    @property
    def unprotected(self) -> tuple[Label, ...]:
        """Symbols that the prior of the design calls impossible, and that may occur."""
        return tuple(
            label
            for label, p, high in zip(self.labels, self.before, self.most, strict=True)
            if high and not p
        )

    @property
    def vanishing(self) -> tuple[Label, ...]:
        """Symbols that the prior of the design calls possible, and that may never occur."""
        return tuple(
            label
            for label, p, low in zip(self.labels, self.before, self.least, strict=True)
            if p and not low
        )

    @property
    def largest_decrease(self) -> Fraction | None:
        """The largest P1(x) / P2(x): by how much an output may become rarer. None: no bound."""
        if self.vanishing:
            return None
        return max(p / low for p, low in zip(self.before, self.least, strict=True) if p)

    @property
    def largest_increase(self) -> Fraction | None:
        """The largest P2(x) / P1(x): by how much an output may become more frequent."""
        if self.unprotected:
            return None
        return max(high / p for p, high in zip(self.before, self.most, strict=True) if p)


def total_variation(first: Prior, second: Prior) -> Fraction:
    """Return the total variation between two priors on the same labels.

    Source: 000 Def 7.

    >>> total_variation(Prior.from_counts({"a": 1, "b": 1}), Prior.from_counts({"a": 3, "b": 7}))
    Fraction(1, 5)
    """
    other = second.reordered(first.alphabet).fractions
    apart = (abs(p - q) for p, q in zip(first.fractions, other, strict=True))
    return sum(apart, Fraction(0)) / 2


# --- the bounds -----------------------------------------------------------------------------------


def ratio_bounds(
    level: LiftLevel, shift: PriorShift, actual: Prior | PriorSet
) -> Iterator[TransferBound]:
    """Yield eps + eta, and the same with both sides apart where that is less.

    Source: 000 Lemma 3, eq. (12), Cor 7, Cor 8.
    """
    largest_decrease, largest_increase = shift.largest_decrease, shift.largest_increase
    whole = infinite_ratio_bound(_why_none(shift))
    if isinstance(actual, Ball) and actual.centre.fractions == shift.before:
        formula, source = "eps + ln(1 + d/(P_min - d))", "000 Lemma 3, Cor 7 (corrected)"
        whole = replace(whole, formula=formula, source=source)
    if largest_decrease is None or largest_increase is None:
        yield whole
        return
    whole = replace(
        whole, value=level.lip + enclosure.log(max(largest_decrease, largest_increase)), note=""
    )
    yield whole
    apart = TransferBound(
        "both sides apart",
        (level.up + enclosure.log(largest_decrease)).maximum(
            level.down + enclosure.log(largest_increase)
        ),
        "max of eps_upper + max ln P1(x)/P2(x), eps_lower + max ln P2(x)/P1(x)",
        "math Lemma 3 for each side of the lift",
    )
    if smallest_bound([whole, apart]) is apart:
        yield apart


def infinite_ratio_bound(note: str) -> TransferBound:
    """Return the bound by ratios where there is none."""
    return TransferBound(
        "log ratio",
        Enclosure.infinity(),
        "eps + max |ln P1(x)/P2(x)|",
        "000 Lemma 3 (log-ratio form)",
        note=note,
    )


def variation_bound(
    level: LiftLevel, designed: Sequence[Prior], actual: Sequence[Prior]
) -> TransferBound:
    """Return eps + ln(1 + TV / c), as published: TV the largest distance, c the rarest symbol.

    Source: 000 Lemma 3, eq. (12), eq. (15).
    """
    one = len(designed) == len(actual) == 1
    apart = max(total_variation(first, second) for first in designed for second in actual)
    rarest = min(min(prior.fractions) for prior in (*designed, *actual))
    formula = "eps + ln(1 + TV/c), c the smallest probability of both priors"
    source = "000 Lemma 3, eq. (12)" if one else "000 Cor 8, eq. (15)"
    if not rarest:
        note = "a symbol has probability 0 under one of them"
        return TransferBound("total variation", Enclosure.infinity(), formula, source, note=note)
    value = level.lip + enclosure.log(1 + apart / rarest)
    return TransferBound("total variation", value, formula, source)


def likelihood_bounds(
    level: LiftLevel,
    designed: Prior | PriorSet,
    *,
    guarantee: Notion | None,
    ldp: Enclosure | None,
    unprotected: Sequence[Label],
) -> Iterator[TransferBound]:
    """Yield the bounds on the likelihood ratios, which hold under every prior.

    Those that come from lifts speak of the symbols that the prior of the design calls possible.

    Source: 000 Thm 1, Prop 1, eq. (12), Cor 2.
    """
    named = ", ".join(repr(label) for label in unprotected[:3])
    note = f"it says nothing of {named}, which P1 calls impossible"
    product = level.up + level.down
    rarest = _rarest(designed)
    lines = [("twice", product, "eps_lower + eps_upper, at most 2 eps", "000 Prop 1, eq. (12)")]
    if rarest is not None:
        formula = "ln((D-1+P_min)/P_min), D = e^eps_lower"
        lines.append(("rarest symbol", _omega(level.fall, rarest), formula, "000 Prop 1, eq. (12)"))
    if guarantee is not None and isinstance(designed, Prior):
        exact = next(
            row for row in implications(guarantee, designed.restrict()) if row.target == "ldp"
        )
        if exact.bound is not None:
            lines.append(("LDP that follows", exact.bound, exact.formula, "000 Thm 1"))
    for name, value, formula, source in lines:
        if unprotected:
            yield TransferBound(name, Enclosure.infinity(), formula, source, note=note)
        else:
            yield TransferBound(name, value, formula, source)
    if ldp is not None:
        yield TransferBound("LDP", ldp, "max ln q(y|x)/q(y|x')", "000 Cor 2")


def bound_from_ratios(found: TransferBound, rarest: Fraction) -> TransferBound:
    """Bound the leakage by a likelihood ratio if no symbol is rarer than `rarest`.

    Source: 000 Thm 1 converse.
    """
    ratio = enclosure.exp_of(found.value)
    assert ratio.upper is not None
    ends = (rarest + (1 - rarest) * end for end in (ratio.lower, ratio.upper))
    value = enclosure.log_of(Enclosure(*ends))
    formula = f"ln(P_min + (1-P_min) e^v), v the value of {found.name!r}, P_min of the other prior"
    return TransferBound("back from ratios", value, formula, "000 Thm 1 converse")


def variation_threshold(level: LiftLevel, designed: Prior, actual: Prior) -> Enclosure:
    """Enclose the largest distance at which eps + ln(1 + TV/c) is the least term of eq. (12).

    It is c (e^min(eps, Phi) - 1) with Phi = ln((E-1+P_min)/P_min) - eps and E = e^eps; as
    published, Phi lacks its logarithm.

    Source: 000 Cor 6 (corrected).
    """
    rarest = min(*designed.fractions, *actual.fractions)
    epsilon = level.rise.maximum(level.fall)
    if epsilon.upper is None or not rarest:
        return Enclosure.of(0)
    p = designed.smallest
    # (E-1+P)/(P E) = 1/P - (1-P)/(P E) grows with E, as E itself does.
    ends = [rarest * (min(e, (e - 1 + p) / (p * e)) - 1) for e in (epsilon.lower, epsilon.upper)]
    return Enclosure(ends[0], ends[1])


def _omega(fall: Enclosure, rarest: Fraction) -> Enclosure:
    if fall.upper is None:
        return fall
    ends = ((end - 1 + rarest) / rarest for end in (fall.lower, fall.upper))
    return enclosure.log_of(Enclosure(*ends))


def _rarest(designed: Prior | PriorSet) -> Fraction | None:
    """Return a P_min that the lifts of the design are bound by, or None."""
    if isinstance(designed, Prior):
        return designed.smallest
    if isinstance(designed, Family):
        # The lifts hold under each of them, so the one without rare symbols says the most.
        kept = [
            [p for p, possible in zip(prior.fractions, designed.possible, strict=True) if possible]
            for prior in designed.priors
        ]
        return max(min(masses) for masses in kept) or None
    return None


def _why_none(shift: PriorShift) -> str:
    parts = []
    if shift.unprotected:
        named = ", ".join(repr(label) for label in shift.unprotected[:3])
        parts.append(f"P1 calls {named} impossible")
    if shift.vanishing:
        named = ", ".join(repr(label) for label in shift.vanishing[:3])
        parts.append(f"{named} may have probability 0 under P2")
    return "; ".join(parts)
