"""Accountants that add up: levels of LDP, and the epsilons and deltas of (epsilon, delta)-LDP.

No rule of composition covers (epsilon, delta)-LIP in any of its forms: its deltas are taken under
the prior, and after one release the adversary has another. It is accounted for only by auditing all
releases together.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from liftlock.accounting.accountants.base import (
    Accountant,
    PrivacyLoss,
    concerns_edges,
    sides,
    tighten,
)
from liftlock.accounting.accountants.tight import ComposedLevels, lower_bound, upper_bound
from liftlock.accounting.release import Release, common_inputs, delta_of
from liftlock.errors import NotDefined
from liftlock.exact.enclosure import Enclosure
from liftlock.model import Context, Joint, ProfileGraph
from liftlock.model.structured import to_dense
from liftlock.notions.approximate import ApproximateLDP
from liftlock.notions.base import DeltaLimit
from liftlock.notions.measurement import Measurement


class LdpSumAccountant(Accountant):
    """Add up the levels of LDP, and convert once.

        eps_lower = ln(P_min + E (1 - P_min)),  eps_upper = -ln(P_min + (1 - P_min) / E)

    Source: 000 Thm 1 (converse), section III.B.

    >>> from liftlock.model.channel import Channel
    >>> from liftlock.model import Prior
    >>> bit = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> found = LdpSumAccountant().bound([Release.of(bit)] * 2, Prior.uniform([0, 1]))
    >>> str(found["ldp"].ratio), str(found["eps_lower"].ratio)
    ('9', '5')
    """

    name = "ldp-sum"
    formula = "E = exp(sum of LDP levels), then P_min + E (1 - P_min) and its mirror"
    source = "000 Thm 1 (converse)"

    def bound(self, releases: Sequence[Release], context: Context | None) -> PrivacyLoss:
        """Multiply the ratios of LDP, which bound those of any two profiles too."""
        known = ComposedLevels.of(releases, context)
        ratio, total = known.product("ldp"), known.sum_of("ldp")
        if context is None and ratio is None and concerns_edges(releases, context):
            raise NotDefined(
                "the sum of the levels of LDP",
                "a release whose level of LDP is infinite or was not kept",
                "what was promised holds for the profiles of its graph",
            )
        measurements = {"ldp": tighten(Measurement.of_ratio("ldp", ratio, None), total)}
        if isinstance(context, ProfileGraph):
            edges = Measurement.of_ratio("profile", ratio, None)
            measurements["profile"] = tighten(edges, total)
        elif context is not None:
            p, spread = known.smallest, known.product("spread")
            lower = lower_bound(p, Fraction(1), spread)
            upper = upper_bound(p, Fraction(1), spread)
            measurements |= sides(lower, upper)
        return self.loss(measurements, needs=known.needs)


class DeltaSumAccountant(Accountant):
    """Add up epsilons and deltas of releases that promise (epsilon, delta)-LDP, or LDP.

    Valid for a secret behind the data too, if the deltas are those of the data: they are measured.

    Source: 000 Def 1 (basic composition).

    >>> from liftlock.model import Prior
    >>> from liftlock.notions.approximate import ApproximateLDP
    >>> fair = Prior.uniform([0, 1])
    >>> half = Release.from_delta_guarantee(ApproximateLDP("1/2", "0.01"), fair)
    >>> twice = DeltaSumAccountant().bound([half, half], fair)
    >>> str(twice["epsilon_ldp"].value), str(twice["delta_ldp"].value)
    ('1', '0.02')
    """

    name = "delta-sum"
    formula = "(sum of epsilons, sum of deltas)"
    source = "000 Def 1 (basic composition)"

    def bound(
        self,
        releases: Sequence[Release],
        context: Context | None,  # noqa: ARG002 - the sum holds in every context
    ) -> PrivacyLoss:
        """Add up what every release promises; no probability is above 1."""
        common_inputs(releases)
        if not any(delta_of(release.guarantee) for release in releases):
            raise NotDefined(
                "the sum of epsilons and deltas",
                "releases of which none promises (epsilon, delta)-LDP",
                "the level of LDP says all",
            )
        epsilon, delta = Enclosure.of(0), Fraction(0)
        for place, release in enumerate(releases):
            guarantee = release.guarantee
            limit = delta_of(guarantee)
            if limit is not None:
                budget, part = limit.epsilon.nats(), _delta(release, limit, place)
            elif guarantee is not None and guarantee.ratio_limit is not None:
                budget, part = guarantee.ratio_limit.nats(), Fraction(0)
                if isinstance(release.context, Joint):
                    raise _secret_only(place)
            else:
                raise NotDefined(
                    "the sum of epsilons and deltas",
                    f"release {place + 1}, which promises {guarantee or 'nothing'}",
                    "it is for (epsilon, delta)-LDP and LDP alone",
                )
            epsilon, delta = epsilon + budget, delta + part
        return self.loss(
            {
                "epsilon_ldp": Measurement("epsilon_ldp", epsilon, "nats"),
                "delta_ldp": Measurement("delta_ldp", Enclosure.of(min(delta, Fraction(1))), ""),
            }
        )


def _delta(release: Release, limit: DeltaLimit, place: int) -> Fraction:
    if not isinstance(release.context, Joint):
        return limit.delta
    if release.channel is None:
        raise _secret_only(place)
    # What a joint certifies is about the secret; the releases are independent given the data.
    measured = ApproximateLDP.measure(to_dense(release.channel), None, limit.epsilon)
    assert measured.value.upper is not None
    return measured.value.upper


def _secret_only(place: int) -> NotDefined:
    return NotDefined(
        "the sum of epsilons and deltas",
        f"release {place + 1}, which promises it for a secret behind the data",
        "releases are independent given the data, not given the secret; use the level of LDP",
    )
