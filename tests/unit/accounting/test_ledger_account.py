"""All items of a person at once, whatever their data have in common."""

from __future__ import annotations

import itertools
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from liftlock.accounting import account
from liftlock.accounting.ledger_account import together_of
from liftlock.prior import Prior
from tests import strategies
from tests.unit.accounting import brute_force
from tests.unit.accounting.test_sequences import channel_of


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_every_joint_with_these_marginals_leaks_less(data: st.DataObject) -> None:
    sizes = [data.draw(st.integers(1, 3)) for _ in range(2)]
    tuples = list(itertools.product(*(range(size) for size in sizes)))
    counts = data.draw(strategies.counts(len(tuples)))
    total = sum(counts)
    channels = [data.draw(strategies.rows(size, 2)) for size in sizes]
    times = [data.draw(st.integers(1, 2)) for _ in sizes]
    accounts = []
    for k, size in enumerate(sizes):
        own = [
            sum(c for t, c in zip(tuples, counts, strict=True) if t[k] == x) for x in range(size)
        ]
        marginal = Prior.from_counts(dict(enumerate(own)))
        released = [channel_of(channels[k])] * times[k]
        accounts.append(account(released, marginal, impossible="ignore"))
    bound = together_of(accounts)
    lifted = [[channels[k][t[k]] for t in tuples] for k in range(2) for _ in range(times[k])]
    masses = [Fraction(count, total) for count in counts]
    truth = brute_force.extreme_lifts(brute_force.likelihoods(lifted), [masses])
    for side, exact in zip(("eps_lower", "eps_upper"), truth, strict=True):
        ratio = bound[side].ratio
        assert ratio is None or (exact is not None and ratio >= exact)
