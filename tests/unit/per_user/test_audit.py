"""The extreme lifts of all users, against every symbol and every report that could attain them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from liftlock import PerUserPriors, design
from liftlock.errors import InputError
from liftlock.model.structured.user_distributions import ArcDistribution, SafeDistribution
from liftlock.notions import ALIP, LIP
from liftlock.sampling import prior_counts
from tests.unit.per_user.distributions import safe_weights
from tests.unit.per_user.worlds import LABELS, METHODS, POINTS, distribution_of, some_masses


def all_lifts(
    distribution: ArcDistribution | SafeDistribution, counts: list[int]
) -> list[Fraction]:
    """Every lift of a user that can be extreme.

    The lift of an arc is linear in the start between places where an edge of the arc meets the
    start, the end or the raised part of the window, so its extremes are among these.
    """
    found = []
    start = 0
    for symbol, count in enumerate(counts):
        if not count:
            continue
        if isinstance(distribution, ArcDistribution):
            edges = (start, start + count)
            meets = [
                e - shift for e in edges for shift in (0, distribution.width, distribution.extra)
            ]
            found += [distribution.lift(start, count, u + k) for u in meets for k in (-1, 0, 1)]
        else:
            weights = safe_weights(distribution, counts, symbol)
            found += [
                Fraction(weights[y], POINTS) / counts[y] for y in range(len(counts)) if counts[y]
            ]
        start += count
    return found


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "notion", [LIP("1"), ALIP(lower="3", upper="0.2"), ALIP(lower="0.2", upper="2")], ids=str
)
def test_extremes_are_exact(method: Any, notion: LIP | ALIP) -> None:
    masses = some_masses(30)
    mechanism = design(LABELS, notion, method=method)
    audit = mechanism.audit(PerUserPriors.of(LABELS, masses))
    distribution = distribution_of(mechanism)
    each = [all_lifts(distribution, counts) for counts in prior_counts(masses).tolist()]
    assert audit.holds
    assert audit.largest == max(max(lifts) for lifts in each)
    assert audit.smallest == min(min(lifts) for lifts in each)
    assert max(each[audit.largest_user - 1]) == audit.largest
    assert min(each[audit.smallest_user - 1]) == audit.smallest
    assert distribution.smallest <= audit.smallest <= audit.largest <= distribution.largest
    assert audit.excluding == 15
    assert "CERTIFIED" in str(audit)
    assert "15 users" in str(audit)
    for claim, user in zip(audit.claims, (audit.largest_user, audit.smallest_user), strict=True):
        assert claim.witness is not None
        assert masses[user - 1, LABELS.index(str(claim.witness.secret))] > 0
    assert audit.to_data()["claims"][0]["user"] == audit.largest_user


@pytest.mark.parametrize("method", METHODS)
def test_users_who_are_certain_have_nothing_to_protect(method: Any) -> None:
    mechanism = design(LABELS, LIP("1"), method=method)
    audit = mechanism.audit(PerUserPriors.of(LABELS, np.eye(5)))
    assert audit.largest == audit.smallest == 1
    assert mechanism.release(LABELS, PerUserPriors.of(LABELS, np.eye(5))) is not None
    with pytest.raises(InputError, match="no users"):
        mechanism.audit(PerUserPriors.of(LABELS, np.empty((0, 5))))
