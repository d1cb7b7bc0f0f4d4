"""One count, published by a curator whom people trust with their answers.

N people hold a bit each; the curator sees all of them and publishes the count S of the ones.
Nobody else may learn anybody's bit: given an output y, P(X_i = 1 | y) is E[S | y] / N, and the
notion limits how far that is from the share p that was known before. So a count is published as it
is, unless it lies in a tail: the lowest counts become one output, "at most k", just large enough to
bring its mean into the limits, and so do the highest. At its end a tail is split by a coin.

The proof is exact, for any number of people. Lifts are monotone in P(X_i = 1 | y), so a small joint
is audited whose beliefs are the extreme ones: those of the least and the largest count that is
published, and bounds on the means of the tails. With w_s the probability of the count s,

    k - E[S | tail] = sum_j j R_j / (c + sum_j R_j),    R_j = w_(k-j) / w_k,

where c is the chance that k itself is in the tail. The ratios R_j are rational, fall faster than a
geometric series, and are summed in integers, rounded to the safe side.

Source: 001 section IV-D, Def 4, Prop. 5 with the max-lift side it lacks.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np

from liftlock.designs.api import design
from liftlock.designs.mechanisms.centralised import survey
from liftlock.errors import InputError, NotCertified, NotDefined
from liftlock.exact.budget import Budget
from liftlock.exact.fingerprint import fingerprint
from liftlock.exact.numbers import exact_probability
from liftlock.mechanism import Mechanism
from liftlock.model import Joint
from liftlock.model.alphabet import Alphabet
from liftlock.model.channel import Channel
from liftlock.model.prior import common_integers
from liftlock.notions.base import Notion
from liftlock.notions.certificate import Certificate

COIN = 52
"""Bits of the coin at the end of a tail."""
MOST_PEOPLE = 10_000_000
_BITS = 256
"""Ratios of probabilities are integers over two to this power."""
_NEGLIGIBLE = 1 << 64
"""Terms below this, over 2^256, are not added one by one."""
_FEW_PEOPLE = 400
"""So many people's counts are few enough for a table, if the two tails meet."""
_INSIDE = Fraction(1, 10**12)
"""Tails keep so far inside of the limits: the digits that show it are few."""
_WORDS = ("no", "yes")


@dataclass(frozen=True)
class PublishedCount:
    """What is published, and what it says."""

    text: str
    least: int
    most: int
    """The counts that are published as this."""
    expected: float
    """The mean of the count given this, if the share was right."""


@dataclass(frozen=True)
class Tail:
    """The counts that are published as one: all below `end`, and `end` itself by a coin.

    Counts are those of the ones for the low tail, and of the zeros for the high one.
    """

    end: int
    chance: int
    """Out of 2^52: how often `end` itself is in the tail."""
    mean: Fraction
    """A lower bound on the mean count in the tail."""

    def has(self, count: int, coin: int) -> bool:
        """Tell whether a count is in the tail, for a coin below 2^52."""
        return count < self.end or (count == self.end and coin < self.chance)


@dataclass(frozen=True, eq=False)
class CountMechanism:
    """A rule for publishing the count of N people's bits, with its certificate.

    `share` is the prior: what is publicly known of everybody's bit, before and without these
    answers. The guarantee takes the bits of different people for independent.

    >>> from liftlock.notions.lip import LIP
    >>> rule = CountMechanism.design(1000, "0.1", LIP("0.5"))
    >>> rule.publish(97).text, rule.publish(3).text, rule.publish(400).text
    ('97', 'at most 62', 'at least 163')
    """

    people: int
    share: Fraction
    notion: Notion
    low: Tail
    high: Tail
    certificate: Certificate
    table: Mechanism | None = None
    """The whole mechanism, where the two tails meet."""

    @classmethod
    def design(cls, people: int, share: object, notion: Notion) -> CountMechanism:
        """Find the smallest tails, and prove the guarantee."""
        if not 1 <= people <= MOST_PEOPLE:
            raise InputError(
                "number of people out of range",
                value=people,
                remedy=f"give 1 to {MOST_PEOPLE:,}",
            )
        p = exact_probability(share)
        if not 0 < p < 1:
            raise InputError(
                "a share of 0 or 1 leaves nothing to hide", value=share, remedy="give another share"
            )
        low = _find_tail(people, p, _least_belief(p, notion))
        high = _find_tail(people, 1 - p, _least_belief(1 - p, notion))
        if low is None or high is None or _meet(people, low, high):
            return cls._by_table(people, p, notion)
        extreme = _extreme_beliefs(people, p, low, high)
        certificate = notion.certify(*extreme)
        if not certificate.holds:
            raise NotCertified(certificate, notion.smallest_text(*extreme))
        rule = fingerprint(["count", people, low.end, low.chance, high.end, high.chance])
        proved = replace(_renamed(certificate, people, p), channel=rule)
        return cls(people, p, notion, low, high, proved)

    @classmethod
    def _by_table(cls, people: int, p: Fraction, notion: Notion) -> CountMechanism:
        if people > _FEW_PEOPLE:
            raise InputError(
                f"the budget is too small to publish any count of {people:,} people",
                value=notion.guarantee,
                remedy="give a larger budget, or fewer people",
            )
        made = design(survey(people, p), notion, utility="mean", method="centralised")
        certificate = _renamed(made.certificate, people, p)
        return cls(people, p, notion, _NO_TAIL, _NO_TAIL, certificate, made)

    # --- use --------------------------------------------------------------------------------------

    def publish(self, count: int) -> PublishedCount:
        """Publish a count, with the entropy of the operating system."""
        if not 0 <= count <= self.people:
            raise InputError(
                "not a count of these people", value=count, remedy=f"give 0 to {self.people:,}"
            )
        if self.table is not None:
            return self._read_table(self.table.release([count])[0])
        coin = secrets.randbits(COIN)
        if self.low.has(count, coin):
            return self.lowest
        # From the other end of the coin: a count at the end of both tails goes to one of them.
        if self.high.has(self.people - count, (1 << COIN) - 1 - coin):
            return self.highest
        return PublishedCount(str(count), count, count, float(count))

    @property
    def lowest(self) -> PublishedCount:
        """What the low tail is published as."""
        end = self.low.end - (self.low.chance == 0)
        return PublishedCount(f"at most {end}", 0, end, float(self.low.mean))

    @property
    def highest(self) -> PublishedCount:
        """What the high tail is published as."""
        end = self.people - self.high.end + (self.high.chance == 0)
        return PublishedCount(
            f"at least {end}", end, self.people, float(self.people - self.high.mean)
        )

    @property
    def certain(self) -> tuple[int, int] | None:
        """The least and the largest count that is always published as it is; None without any."""
        if self.table is not None:
            rows = self.table.table
            known = set(rows.outputs.labels)
            counts = [n for n in range(self.people + 1) if n in known]
            sure = [n for n in counts if rows.probability(n, n) == 1]
            return (min(sure), max(sure)) if sure else None
        low = self.low.end + (self.low.chance > 0)
        high = self.people - self.high.end - (self.high.chance > 0)
        return (low, high) if low <= high else None

    def _read_table(self, label: Any) -> PublishedCount:
        assert self.table is not None
        rows = self.table.table
        column = rows.floats()[:, rows.outputs.index(label)]
        counts = np.flatnonzero(column)
        context = self.table.context
        assert isinstance(context, Joint)
        weights = context.prior.floats() * column
        expected = float((weights * np.arange(self.people + 1)).sum() / weights.sum())
        least, most = int(counts[0]), int(counts[-1])
        return PublishedCount(str(label), least, most, expected)

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form of the rule."""
        certain = self.certain
        return {
            "people": self.people,
            "share": str(self.share),
            "certain": None if certain is None else list(certain),
            "certificate": self.certificate.to_data(),
        }


_NO_TAIL = Tail(0, 0, Fraction(0))
"""What a notion that does not limit a side needs there."""


def _renamed(certificate: Certificate, people: int, p: Fraction) -> Certificate:
    """Say whom a certificate speaks of: the joint that was audited is a part of the proof."""
    kind = f"the answer of any one of {people:,} people, each yes with probability {p}"
    return replace(certificate, context_kind=kind)


# --- tails ----------------------------------------------------------------------------------------


def _sums(people: int, p: Fraction, end: int) -> tuple[int, int]:
    """Return a lower bound on sum_j R_j and an upper bound on sum_j j R_j, over 2^256.

    R_j / R_(j-1) = s (1 - p) / ((N - s + 1) p) with s = end - j + 1. It falls with j, so what
    follows a term t is at most a geometric series: with ratio r,

        sum_(i>0) (j + i) t r^i = t r (j / (1 - r) + 1 / (1 - r)^2).
    """
    plain = weighted = 0
    below = above = 1 << _BITS
    for j, s in enumerate(range(end, 0, -1), start=1):
        over = s * (p.denominator - p.numerator)
        under = (people - s + 1) * p.numerator
        below, above = below * over // under, -(-above * over // under)
        plain += below
        weighted += j * above
        if above < _NEGLIGIBLE and over < under:
            rest = above * over * (j * (under - over) + under)
            return plain, weighted - (-rest // (under - over) ** 2)
    return plain, weighted


def _least_belief(p: Fraction, notion: Notion) -> Fraction:
    """Return what a belief that was p must not fall below: a rational, on the safe side.

    With lifts in [L, U] it is max(pL, 1 - (1-p)U), with ratios up to E it is p / (p + (1-p)E).

    >>> from liftlock.notions.lip import LIP
    >>> print(_least_belief(Fraction(1, 10), LIP("ln 2")))
    1/20
    """
    if (ratio := notion.ratio_limit) is not None:
        return p / (p + (1 - p) * _ratio_below(ratio))
    sides = notion.lift_limits()
    if sides is None:
        raise NotDefined(
            "publishing a count", f"the notion {notion.name}", "ask for lip, alip or ldp"
        )
    found = Fraction(0)
    if sides.lower is not None:
        found = p / _ratio_below(sides.lower)
    if sides.upper is not None:
        found = max(found, 1 - (1 - p) * _ratio_below(sides.upper))
    return found


def _ratio_below(budget: Budget) -> Fraction:
    """Return a rational just below e^epsilon (or equal to it)."""
    return max(budget.exp().lower, Fraction(1))


def _find_tail(people: int, p: Fraction, least: Fraction) -> Tail | None:
    """Return the smallest low tail whose mean is at least N `least`; None if there is none.

    A tail that ends more than eight standard deviations above the mean count is not looked for.
    """
    if not least:
        return _NO_TAIL
    wanted = people * least * (1 + _INSIDE)
    one = 1 << _BITS

    def chance_at(end: int) -> Fraction:
        """Return a chance of `end` that is enough: mean >= wanted; above 1 if none is."""
        plain, weighted = _sums(people, p, end)
        # end - weighted / (c + plain) >= wanted
        return Fraction(weighted, one) / (end - wanted) - Fraction(plain, one)

    mean = people * p
    first = int(wanted) + 1
    last = min(int(mean) + 8 * isqrt(int(mean * (1 - p)) + 1) + 1, people)
    if first > last or chance_at(last) > 1:
        return None
    while first < last:
        middle = (first + last) // 2
        if chance_at(middle) <= 1:
            last = middle
        else:
            first = middle + 1
    chance = min(-(-max(chance_at(first), Fraction(0)) * (1 << COIN) // 1), 1 << COIN)
    plain, weighted = _sums(people, p, first)
    held = Fraction(plain, one) + Fraction(int(chance), 1 << COIN)
    mean = first - Fraction(weighted, one) / held
    # Few digits of it are enough, and quicker to audit, as long as they are still above the least.
    bits = 2 * COIN + max(mean.denominator.bit_length() - mean.numerator.bit_length(), 0)
    return Tail(first, int(chance), max(Fraction(int(mean * (1 << bits)), 1 << bits), wanted))


def _meet(people: int, low: Tail, high: Tail) -> bool:
    """Tell whether a count belongs to both tails."""
    top = people - high.end
    return low.end > top or (low.end == top and low.chance + high.chance > 1 << COIN)


def _extreme_beliefs(people: int, p: Fraction, low: Tail, high: Tail) -> tuple[Channel, Joint]:
    """Return a joint whose inputs are the extreme beliefs, each released as it is.

    Every output of the rule has a belief P(X_i = 1 | y) between two of these, and lifts are
    monotone in it, so a guarantee that holds here holds there.
    """
    # Ascending: the mean of a tail is on its side of the tail's end.
    beliefs = {
        "the low tail": low.mean / people,
        "the least count": Fraction(low.end, people),
        "the largest count": Fraction(people - high.end, people),
        "the high tail": 1 - high.mean / people,
    }
    values = list(beliefs.values())
    # Any masses that bring the mean belief to p: nearly all on the two extremes.
    width = values[-1] - values[0]
    masses = [min(p - values[0], values[-1] - p) / (8 * width)] * len(values)
    rest = 1 - sum(masses)
    mean = (p - masses[0] * sum(values)) / rest
    masses[0] += rest * (values[-1] - mean) / width
    masses[-1] += rest * (mean - values[0]) / width
    no = [mass * (1 - belief) for mass, belief in zip(masses, values, strict=True)]
    yes = [mass * belief for mass, belief in zip(masses, values, strict=True)]
    counts = common_integers([*no, *yes])
    inputs = Alphabet.of(beliefs)
    rows = counts[: len(inputs)], counts[len(inputs) :]
    return Channel.identity(inputs.labels), Joint(Alphabet.of(_WORDS), inputs, rows)
