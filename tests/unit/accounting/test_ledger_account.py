"""All items of a person at once, whatever their data have in common."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liftlock as ll
from liftlock import Prior
from liftlock.accounting import Ledger, LedgerAccount, account
from liftlock.accounting.account import combine_accounts
from liftlock.errors import InputError
from tests import strategies
from tests.unit.accounting import brute_force
from tests.unit.accounting.test_sequences import channel_of


def test_only_those_who_were_asked_for() -> None:
    fair = Prior.uniform(["no", "yes"])
    flip = ll.design(fair, ll.LIP("ln 3/2"), method="binary")
    ledger = Ledger.new().record(flip, who="staff", about="x")
    for number in range(3):
        # Person k took part in the releases number = k, k + 1, ...
        ledger = ledger.record(flip, people=range(number + 1), about="x")
    found = LedgerAccount(ledger, people=[0, 2])
    taken = {tuple(e.number for e in g.items[0].entries): g.history.people for g in found.groups}
    assert taken == {(2, 3, 4): 1, (4,): 1}
    assert len(LedgerAccount(ledger, people=[0, 1, 2]).groups) == 3
    (staff,) = LedgerAccount(ledger, who=" staff ").groups
    assert staff.history.people is None
    for wrong, message in (
        ({"who": "x"}, "no such cohort in the ledger: 'x'; it has the cohort 'staff' and 3 people"),
        ({"people": [3]}, "a person who is not in the ledger: 3"),
        ({"people": "0"}, "not a list of ids of people"),
        ({"people": []}, "no people"),
        ({"people": [0], "who": "staff"}, "both a cohort and people"),
        ({"about": "y"}, "nothing was released about it: 'y'; the ledger has releases about 'x'"),
    ):
        with pytest.raises(InputError, match=message):
            LedgerAccount(ledger, **wrong)


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
    bound = combine_accounts(accounts, "different")
    lifted = [[channels[k][t[k]] for t in tuples] for k in range(2) for _ in range(times[k])]
    masses = [Fraction(count, total) for count in counts]
    truth = brute_force.extreme_lifts(brute_force.likelihoods(lifted), [masses])
    for side, exact in zip(("eps_lower", "eps_upper"), truth, strict=True):
        ratio = bound[side].ratio
        assert ratio is None or (exact is not None and ratio >= exact)
