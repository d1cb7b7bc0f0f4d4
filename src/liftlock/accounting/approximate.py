"""(epsilon, delta)-LDP of several releases: epsilons and deltas add up. (epsilon, delta)-LIP: not.

No rule of composition covers (epsilon, delta)-LIP in any of its forms: its deltas are taken under
the prior, and after one release the adversary has another. It is accounted for only by auditing all
releases together.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from liftlock.accounting.release import Release, common_inputs
from liftlock.accounting.spent import Spent
from liftlock.context import Joint
from liftlock.errors import NotDefined
from liftlock.exact.enclosure import Enclosure
from liftlock.forms import dense
from liftlock.notions.approximate import ApproximateLDP
from liftlock.notions.ldp import LDP
from liftlock.notions.reading import Reading


def approximate_sum(releases: Sequence[Release]) -> Spent:
    """Add up epsilons and deltas of releases that promise (epsilon, delta)-LDP, or LDP.

    Valid for a secret behind the data too, if the deltas are those of the data: they are measured.

    Source: 000 Def 1 (basic composition).

    >>> from liftlock.prior import Prior
    >>> fair = Prior.uniform([0, 1])
    >>> half = Release.promised_delta(ApproximateLDP("1/2", "0.01"), fair)
    >>> twice = approximate_sum([half, half])
    >>> str(twice["epsilon_ldp"].value), str(twice["delta_ldp"].value)
    ('1', '0.02')
    """
    common_inputs(releases)
    if not any(isinstance(release.guarantee, ApproximateLDP) for release in releases):
        raise NotDefined(
            "the sum of epsilons and deltas",
            "releases of which none promises (epsilon, delta)-LDP",
            "the level of LDP says all",
        )
    epsilon, delta = Enclosure.of(0), Fraction(0)
    for place, release in enumerate(releases):
        guarantee = release.guarantee
        if isinstance(guarantee, LDP):
            budget, part = guarantee.bound(), Fraction(0)
            if isinstance(release.context, Joint):
                raise _secret_only(place)
        elif isinstance(guarantee, ApproximateLDP):
            budget = guarantee.epsilon.nats()
            part = _delta(release, guarantee, place)
        else:
            raise NotDefined(
                "the sum of epsilons and deltas",
                f"release {place + 1}, which promises {guarantee or 'nothing'}",
                "it is for (epsilon, delta)-LDP and LDP alone",
            )
        epsilon, delta = epsilon + budget, delta + part
    return Spent(
        "delta-sum",
        {
            "epsilon_ldp": Reading("epsilon_ldp", epsilon, "nats"),
            "delta_ldp": Reading("delta_ldp", Enclosure.of(min(delta, Fraction(1))), ""),
        },
        False,
        "(sum of epsilons, sum of deltas)",
        "000 Def 1 (basic composition)",
    )


def _delta(release: Release, guarantee: ApproximateLDP, place: int) -> Fraction:
    if not isinstance(release.context, Joint):
        return guarantee.delta
    if release.channel is None:
        raise _secret_only(place)
    # What a joint certifies is about the secret; the releases are independent given the data.
    measured = ApproximateLDP.measure(dense(release.channel), None, guarantee.epsilon)
    assert measured.value.upper is not None
    return measured.value.upper


def _secret_only(place: int) -> NotDefined:
    return NotDefined(
        "the sum of epsilons and deltas",
        f"release {place + 1}, which promises it for a secret behind the data",
        "releases are independent given the data, not given the secret; use the level of LDP",
    )
