"""Budgets that differ by user: each has their own distribution, in reports, proofs and sums."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liftlock as ll
from liftlock import Mechanism, PerUserPriors
from liftlock.errors import InputError, NotCertified, NotDefined
from liftlock.exact.budget import Budget
from liftlock.model.structured import UserChannel
from liftlock.notions import ALIP, LIP
from liftlock.sampling import user_posteriors
from tests.unit.per_user.worlds import LABELS, METHODS, exact_posteriors, some_masses, some_people

BUDGETS = ["0.25", "1", "2"]


def mixed(users: int) -> tuple[PerUserPriors, list[str]]:
    own = [BUDGETS[place] for place in np.random.default_rng(8).integers(0, 3, users)]
    return PerUserPriors.of(LABELS, some_masses(users)).with_budgets(own), own


def channel_of(made: Mechanism) -> UserChannel:
    assert isinstance(made.channel, UserChannel)
    return made.channel


@pytest.mark.parametrize("method", METHODS)
def test_each_user_has_the_law_of_their_own_budget(method: Any) -> None:
    priors, own = mixed(60)
    made = ll.design(priors, LIP("2"), method=method)
    alone = {budget: ll.design(LABELS, LIP(budget), method=method) for budget in BUDGETS}
    for limits, distribution in zip(
        channel_of(made).limits, channel_of(made).distributions, strict=True
    ):
        assert distribution == channel_of(alone[str(limits[0])]).distributions[0]
    people = some_people(some_masses(60))
    reports = np.asarray(made.simulate(people, priors, seed=1, coded=True))
    beliefs = user_posteriors(channel_of(made), priors, reports)
    sums = made.aggregate(reports, priors, coded=True)
    total = [Fraction(0)] * len(LABELS)
    squares = [Fraction(0)] * len(LABELS)
    for user, budget in enumerate(own):
        masses = some_masses(60)[user : user + 1]
        (row,) = exact_posteriors(alone[budget], masses, reports[user : user + 1])
        assert beliefs[user] == pytest.approx([float(value) for value in row], rel=1e-12)
        total = [a + b for a, b in zip(total, row, strict=True)]
        squares = [a + b * b for a, b in zip(squares, row, strict=True)]
    assert [Fraction(value, 2**64) for value in sums.posteriors] == total
    found = made.estimate(reports, priors=priors, coded=True, method="bayes")
    for answer, mean, square in zip(found.answers, total, squares, strict=True):
        assert answer.value == pytest.approx(float(mean), rel=1e-12)
        assert answer.error == pytest.approx(float(mean - square) ** 0.5, rel=1e-7, abs=1e-9)
    survey = made.estimate(
        reports,
        "survey",
        value=["a", "c"],
        priors=priors,
        coded=True,
        weights=np.ones(60),
        method="bayes",
    )
    assert survey.value == pytest.approx(float(total[0] + total[2]), rel=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_many_users_in_blocks_and_parts(method: Any) -> None:
    """A user's report says the same whoever else reports, and parts may be merged."""
    priors, own = mixed(3000)
    made = ll.design(priors, LIP("2"), method=method)
    people = some_people(some_masses(3000))
    reports = np.asarray(made.simulate(people, priors, seed=2, coded=True))
    whole = made.aggregate(reports, priors, coded=True)
    parts = None
    for budget in BUDGETS:
        some = np.flatnonzero(np.array(own) == budget)
        group = PerUserPriors.of(LABELS, some_masses(3000)[some]).with_budgets([budget] * len(some))
        part = made.aggregate(reports[some], group, coded=True)
        parts = part if parts is None else parts + part
        alone = ll.design(LABELS, LIP(budget), method=method)
        single = alone.aggregate(reports[some], group, coded=True)
        assert (single.posteriors, single.squares) == (part.posteriors, part.squares)
        expected = alone.expected_error(group).per_person
        assert made.expected_error(group).per_person == pytest.approx(expected, rel=1e-12)
    assert parts == whole


@pytest.mark.parametrize("method", METHODS)
def test_the_proof_is_for_each_budget(method: Any) -> None:
    priors, own = mixed(200)
    made = ll.design(priors, LIP("2"), method=method)
    assert len(made.certificate.claims) == 2 + 2 * 3
    assert "max-lift of users with 0.25" in str(made)
    audit = made.audit(priors)
    assert audit.holds
    assert len(audit.claims) == 2 + 2 * 3
    for each in audit.user_claims[2:]:
        budget = next(b for b in BUDGETS if each.claim.quantity.endswith(f" budget {b})"))
        assert own[each.user - 1] == budget
        assert f"({own.count(budget)} users with" in each.claim.quantity
        lift = each.claim.measured.lower
        assert Budget.of(budget).allows(max(lift, 1 / lift))
    assert ll.audit(made, priors).to_data() == audit.to_data()
    strict = PerUserPriors.of(LABELS, some_masses(200)).with_budgets(["0.25"] * 200)
    assert made.audit(strict).holds
    again = Mechanism.from_data(json.loads(made.to_json()))
    assert again == made
    data = made.to_data()
    first = data["channel"]["levels"][0] | {"lower": "0.001", "upper": "0.001"}
    data["channel"]["levels"][0] = first
    with pytest.raises((NotCertified, InputError)):
        Mechanism.from_data(data)


@pytest.mark.parametrize("method", METHODS)
def test_every_user_is_audited_at_once(method: Any) -> None:
    """Without users the limits of the distributions are audited, which hold for any prior."""
    made = ll.design(mixed(10)[0], LIP("2"), method=method)
    found = made.audit()
    assert isinstance(made.channel, UserChannel)
    largest, smallest = made.channel.largest, made.channel.smallest
    assert list(found.measurements) == ["lip", "eps_lower", "eps_upper"]
    assert found["eps_upper"].ratio == largest
    assert found["eps_lower"].ratio == 1 / smallest
    assert found["lip"].ratio == max(largest, 1 / smallest)
    assert "at most 7.39-fold" in found.worst_case()
    assert "None" not in found.worst_case()
    assert found.to_data()["measures"] == found.measures
    people = made.audit(mixed(200)[0])
    assert people.largest <= largest
    assert people.smallest >= smallest
    options: list[dict[str, Any]] = [{"alpha": 2}, {"at_epsilon": 1}]
    for option in options:
        with pytest.raises(NotDefined, match="only the lifts of users"):
            made.audit(**option)


def test_one_user_is_not_many() -> None:
    one = PerUserPriors.of("ab", [[0.5, 0.5]]).with_budgets([("1", "0.5")])
    made = ll.design(
        one, ALIP(lower="1", upper="1"), method="safe-response", budgets=["1", ("1", "0.5")]
    )
    text = str(made.audit(one))
    assert "for 1 user under a prior of their own" in text
    assert "max-lift (1 user with budgets 1 and 0.5) " in text


def test_a_budget_beyond_the_guarantee_is_refused() -> None:
    priors, _ = mixed(10)
    with pytest.raises(NotCertified, match="max-lift"):
        ll.design(priors, LIP("1"), method="arc")
    pairs = PerUserPriors.of("ab", [[0.5, 0.5]] * 3).with_budgets(["1", ("1", "0.5"), ["1", "0.5"]])
    assert len(pairs.budgets) == 2
    made = ll.design(pairs, ALIP(lower="1", upper="1"), method="safe-response")
    assert made.audit(pairs).holds
    assert ll.design(["a", "b"], LIP("2"), method="arc", budgets=["1", "2"]).channel == (
        ll.design("ab", LIP("2"), method="arc", budgets=["1", "2"]).channel
    )


def test_refusals() -> None:
    priors, _ = mixed(10)
    made = ll.design(priors, LIP("2"), method="arc")
    plain = PerUserPriors.of(LABELS, some_masses(10))
    with pytest.raises(InputError, match="have no budgets"):
        made.audit(plain)
    with pytest.raises(InputError, match="not designed for this budget at user 3"):
        made.audit(plain.with_budgets(["1", "1", "0.5", *["1"] * 7]))
    with pytest.raises(InputError, match="9 budgets for 10 users"):
        plain.with_budgets(["1"] * 9)
    with pytest.raises(InputError, match="negative at user 2"):
        plain.with_budgets(["1", "-1", *["1"] * 8])
    with pytest.raises(InputError, match="one number, or a lower and an upper one at user 1"):
        plain.with_budgets([("1", "2", "3"), *["1"] * 9])
    many = PerUserPriors.of("ab", np.full((1002, 2), 0.5))
    with pytest.raises(InputError, match="distinct budgets"):
        many.with_budgets([f"{place}/7" for place in range(1, 1003)])
    whole = plain.with_budgets(np.full(10, 2))
    assert made.audit(whole).holds
    with pytest.raises(InputError, match="no such option"):
        ll.design(priors, LIP("2"), method="arc", utility="mean")
    with pytest.raises(InputError, match="is discretised"):
        ll.design(priors, LIP("2"), method="arc", bins=3)


def test_sets_with_budgets() -> None:
    members = np.random.default_rng(3).dirichlet(np.full(3, 3.0), (30, 2))
    own = [BUDGETS[k % 3] for k in range(30)]
    priors = PerUserPriors.families("abc", members).with_budgets(own)
    made = ll.design(priors, LIP("2"))
    assert channel_of(made).form == "safe-response"
    audit = made.audit(priors)
    assert audit.holds
    for each in audit.user_claims[2:]:
        assert each.claim.witness is not None
        assert each.claim.witness.prior is not None
    reports = made.simulate(["a"] * 30, priors, seed=1)
    assert made.estimate(reports, priors=priors).reports == 30
