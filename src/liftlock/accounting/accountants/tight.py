"""Upper bounds on the leakage of several releases of the same data, from that of each alone.

Write l_j for the lift of one release j, R for the product of the largest likelihood ratios of all
others, and let y be all outputs together. Given the data the releases are independent, so

    1 / lift(x, y) = (1 / l_j(x, y_j)) E[ratio of the others, x' against x | y_j],

where x' = x contributes P(x) exactly, and every other x' at most its share times R and at least
its share divided by R:

    P(x) + (1/l_j - P(x)) / R  <=  1 / lift(x, y)  <=  P(x) + (1/l_j - P(x)) R.

Both ends are worst at P(x) = P_min, and any release may play the part of j. For a secret S behind
X the same two lines hold with P(s) and the lift of S, as long as R compares the data X, since the
releases are independent given X and not given S. For sequences of different data they hold with
the joint prior, whose P_min may be 0.

A level that is infinite or not known (None) makes a bound infinite, never smaller.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from liftlock.accounting.accountants.base import (
    Accountant,
    LiftContext,
    PrivacyLoss,
    concerns_edges,
    require_lifts,
    sides,
    tighten,
)
from liftlock.accounting.release import (
    LeakageLevels,
    Ratio,
    Release,
    largest_ratio,
    multiply_ratios,
    smallest_ratio,
)
from liftlock.errors import NotDefined
from liftlock.exact.enclosure import Enclosure
from liftlock.model import AnyUserPrior, Context, Prior, ProfileGraph
from liftlock.notions.measurement import Measurement


@dataclass(frozen=True)
class ComposedLevels:
    """Levels of several releases, equal ones once with how often they were made."""

    smallest: Fraction
    """P_min of the context: 0 if it has none, which is always on the safe side."""
    each: tuple[tuple[LeakageLevels, int], ...]

    @classmethod
    def of(cls, releases: Sequence[Release], context: Context | None) -> ComposedLevels:
        """Measure every release by itself."""
        times = Counter(release.fingerprint for release in releases)
        first = {release.fingerprint: release for release in releases}
        each = tuple((first[name].levels(context), number) for name, number in times.items())
        rarest = context.smallest if isinstance(context, LiftContext) else Fraction(0)
        return cls(rarest, each)

    def product(self, name: str, without: int | None = None) -> Ratio:
        """Multiply the ratios of a level over all releases, or all but one of a kind."""
        return multiply_ratios(
            (getattr(levels, name), times - (k == without))
            for k, (levels, times) in enumerate(self.each)
        )

    @property
    def needs(self) -> str:
        """How large the computation is."""
        return f"the levels of {sum(times for _, times in self.each):,} releases"

    def sum_of(self, name: str, place: int | None = None, side: str = "") -> Enclosure:
        """Add up levels in nats, where one release of a kind counts by another level."""
        found = Enclosure.of(0)
        for k, (levels, times) in enumerate(self.each):
            if k == place:
                found, times = found + levels.log(side), times - 1
            if times:
                found = found + levels.log(name).scaled(Fraction(times))
        return found

    def least_sum(self, name: str, side: str) -> Enclosure | None:
        """Return min_j side_j + the sum of the others' levels; None if all are infinite."""
        sums = [self.sum_of(name, j, side) for j in range(len(self.each))]
        finite = [each for each in sums if each.upper is not None]
        return min(finite, key=lambda each: each.upper or 0) if finite else None

    def edges(self) -> Measurement:
        """Bound the loss of every edge by that of one release and the ratios of all others.

        P_i(y) / P_k(y) is the ratio of the one release's outputs, times that of two means of the
        others' likelihoods, each over the data given that output.
        """
        ratio = smallest_ratio(
            multiply_ratios([(levels.profile, 1), (self.product("ldp", without=j), 1)])
            for j, (levels, _) in enumerate(self.each)
        )
        found = Measurement.of_ratio("profile", ratio, None)
        return tighten(found, self.least_sum("ldp", "profile"))

    def sums_of_sides(self) -> dict[str, Enclosure]:
        """Return min_j eps_j + sum of the other omegas: the tight bound, if only a sum is left."""
        if self.smallest and sum(times for _, times in self.each) > 1:
            return {}
        sums = {side: self.least_sum("spread", side) for side in ("lower", "upper")}
        return {f"eps_{side}": found for side, found in sums.items() if found is not None}


def lower_bound(smallest: Fraction, lower: Ratio, others: Ratio) -> Ratio:
    """Bound 1/lift by P_min + (1/min-lift - P_min) R."""
    if lower is None or (others is None and lower > smallest):
        return None
    return smallest + (lower - smallest) * (others or 0)


def upper_bound(smallest: Fraction, upper: Ratio, others: Ratio) -> Ratio:
    """Bound the lift by 1 / (P_min + (1/max-lift - P_min) / R)."""
    inverse = Fraction(0) if upper is None else 1 / upper
    left = max(inverse - smallest, Fraction(0))
    least = smallest + (left / others if others is not None else 0)
    return 1 / least if least else None


class TightAccountant(Accountant):
    """Bound by one release's lifts and the ratios of all others, the best choice of the one.

        eps_lower = min_j  ln(P_min + (e^eps_lower_j - P_min) exp(sum_{k != j} omega_k))
        eps_upper = min_j -ln(P_min + (e^-eps_upper_j - P_min) exp(-sum_{k != j} omega_k))

    omega_k is the level of LDP of release k if its channel is known, else what its lifts imply. One
    release alone costs what it costs. In a graph of profiles the loss of an edge is bounded by
    min_j loss_j + sum_{k != j} omega_k. Of users with a prior each P_min may be 0, and as their
    priors may change between releases, though not what is possible, the worst j counts.

    Source: 000 Thm 4, Cor 4, Cor 5 (tight form); 004 Obs 13; math composition.

    >>> from liftlock.model.channel import Channel
    >>> bit = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> found = TightAccountant().bound([Release.of(bit)] * 2, Prior.uniform([0, 1]))
    >>> str(found["eps_lower"].ratio), str(found["eps_upper"].ratio)
    ('5', '9/5')
    """

    name = "tight"
    formula = "min over j: P_min + (e^eps_j - P_min) exp(sum of the other omegas)"
    source = "000 Thm 4 (tight form)"

    def bound(self, releases: Sequence[Release], context: Context | None) -> PrivacyLoss:
        """Let every release play the part of the one, and take the least."""
        promised = len(releases) == 1 and concerns_edges(releases, context)
        if not promised and not isinstance(context, ProfileGraph | AnyUserPrior):
            require_lifts(releases, context)
        known = ComposedLevels.of(releases, context)
        if context is None or isinstance(context, ProfileGraph):
            return self.loss({"profile": known.edges()}, needs=known.needs)
        p, users = known.smallest, isinstance(context, AnyUserPrior)
        # Users may have another prior at each release, and then each j is about its own.
        choose = largest_ratio if users else smallest_ratio
        pairs = [(levels, known.product("spread", j)) for j, (levels, _) in enumerate(known.each)]
        lower = choose(lower_bound(p, levels.lower, others) for levels, others in pairs)
        upper = choose(upper_bound(p, levels.upper, others) for levels, others in pairs)
        alike = not users or len(known.each) == 1
        measurements = sides(lower, upper, nats=known.sums_of_sides() if alike else None)
        return self.loss(measurements, needs=known.needs)


class PublishedAccountant(Accountant):
    """The bound as it was published, to compare: valid, but never below the others.

        ln(P_min + exp(sum_k min{2 eps_k, ln((e^eps_k - 1 + P_min) / P_min)}) (1 - P_min))

    Source: 000 Thm 4, Cor 5, eq. (11).

    >>> fair = Prior.uniform([0, 1])
    >>> from liftlock.notions.lip import LIP
    >>> once = PublishedAccountant().bound([Release.from_guarantee(LIP("ln 2"), fair)], fair)
    >>> str(once["lip"].ratio)
    '2'
    """

    name = "published"
    formula = "P_min + exp(sum of omegas) (1 - P_min)"
    source = "000 Thm 4"
    valid = False

    def bound(self, releases: Sequence[Release], context: Context | None) -> PrivacyLoss:
        """Add up the omegas; the theorem is for one prior."""
        given = require_lifts(releases, context)
        if not isinstance(given, Prior):
            raise NotDefined("000 Thm 4", given.describe(), "it is for one prior")
        known = ComposedLevels.of(releases, given)
        p = known.smallest
        omegas = []
        for levels, times in known.each:
            larger = largest_ratio([levels.lower, levels.upper])
            omega = None if larger is None else min(larger**2, (larger - 1 + p) / p)
            omegas.append((omega, times))
        bound = lower_bound(p, Fraction(1), multiply_ratios(omegas))
        return self.loss({"lip": Measurement.of_ratio("lip", bound, None)})
