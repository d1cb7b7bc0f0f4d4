"""Optimal local hashing as a design."""

from __future__ import annotations

import pytest

from liftlock import Family, Joint, Prior, design
from liftlock.designs import hashing
from liftlock.errors import RowError
from liftlock.model.structured import HashingChannel
from liftlock.notions import ALIP, LDP, LIP

PRIOR = Prior.from_counts({"a": 1, "b": 2, "c": 7})


def test_buckets() -> None:
    assert hashing(PRIOR, LDP("ln 3")).channel.parameters()["buckets"] == 4
    assert hashing(PRIOR, LDP("ln 3"), buckets=2).channel.parameters()["buckets"] == 2
    with pytest.raises(RowError, match="number of buckets"):
        hashing(PRIOR, LDP("1"), buckets=1)


@pytest.mark.parametrize(
    "context",
    [
        PRIOR,
        Joint.from_counts({"s": {"a": 3, "b": 0, "c": 5}, "t": {"a": 1, "b": 4, "c": 2}}),
        Family.of([PRIOR, Prior.uniform("abc")]),
    ],
    ids=lambda c: type(c).__name__,
)
@pytest.mark.parametrize("notion", [LDP("1"), LIP("1"), ALIP(lower="1.3", upper="0.7")], ids=str)
def test_kept_in_every_context(context: Prior | Joint | Family, notion: LDP | LIP | ALIP) -> None:
    mechanism = design(context, notion, method="hashing", utility="histogram")
    assert mechanism.certificate.holds
    assert isinstance(mechanism.channel, HashingChannel)
    # LIP in any context is bounded by LDP of the inputs (data processing).
    everything = float(LDP.measure(mechanism.channel))
    assert float(LIP.measure(mechanism.channel, context)) <= everything + 1e-12
