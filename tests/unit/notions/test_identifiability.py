"""Differential identifiability: posterior odds of any two secrets."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock import Alphabet, Channel, Family, Intervals, Prior
from liftlock.errors import NotDefined
from liftlock.notions import Identifiability
from tests import oracles, replay
from tests.checks import check_ratio_budgets, check_smallest, is_ratio
from tests.strategies import Case, cases, channels, families, near_ties

ANY = st.one_of(cases(), near_ties())


@given(ANY)
def test_it_is_the_largest_posterior_ratio(case: Case) -> None:
    found = Identifiability.measure(case.channel, case.context)
    expected = oracles.identifiability(case.model)
    assert is_ratio(found, expected)
    witness, model = found.witness, case.model
    assert witness is not None
    y = case.outputs.index(str(witness.output))
    high, low = (
        model.prior[s] * model.given[s][y]
        for s in (case.secrets.index(str(witness.secret)), case.secrets.index(str(witness.other)))
    )
    assert low == 0 if expected is None else high / low == expected


@given(ANY)
def test_decisions_at_the_boundary(case: Case) -> None:
    check_ratio_budgets(Identifiability, case, oracles.identifiability(case.model))
    check_smallest(Identifiability, case)


@given(st.integers(1, 4).flatmap(lambda n: st.tuples(channels(inputs=n), families(n, zeros=False))))
def test_a_family_has_its_worst_case_at_a_member(
    case: tuple[tuple[list[list[Fraction]], Channel], tuple[list[list[Fraction]], Family]],
) -> None:
    (rows, channel), (members, family) = case
    values = [oracles.identifiability(oracles.of_prior(member, rows)) for member in members]
    expected = None if None in values else max(value for value in values if value is not None)
    found = Identifiability.measure(channel, family)
    assert is_ratio(found, expected)
    assert found.witness is not None
    assert found.witness.prior is not None
    assert Identifiability.measure(channel, found.witness.prior).ratio == expected
    middle = [sum((m[x] for m in members), Fraction(0)) / len(members) for x in range(len(rows))]
    mixture = oracles.identifiability(oracles.of_prior(middle, rows))
    assert expected is None or (mixture is not None and mixture <= expected)


@pytest.mark.parametrize("name", ["large", "large_joint", "ties"])
def test_large_tables(name: str, request: pytest.FixtureRequest) -> None:
    case: Case = request.getfixturevalue(name)
    model = case.model
    posteriors = [
        [p * row[y] for p, row in zip(model.prior, model.given, strict=True)]
        for y in range(len(model.outputs))
    ]
    expected = max(max(column) / min(column) for column in posteriors)
    assert is_ratio(Identifiability.measure(case.channel, case.context), expected)


def test_posteriors_beyond_floats_are_compared_exactly() -> None:
    # In floats the odds at u look endless (0 in the denominator); in truth those at v are larger.
    tiny = Fraction(1, 10**200)
    channel = Channel.from_fractions(
        Alphabet.of("ab"),
        Alphabet.of("uvw"),
        [
            [10 * tiny * tiny, Fraction(1, 2), Fraction(1, 2) - 10 * tiny * tiny],
            [tiny * tiny, tiny, 1 - tiny - tiny * tiny],
        ],
    )
    found = Identifiability.measure(channel, Prior.uniform("ab"))
    assert found.ratio == Fraction(10**200, 2)
    assert found.witness is not None
    assert found.witness.output == "v"


def test_a_rare_secret_beyond_floats() -> None:
    prior = Prior(Alphabet.of("ab"), (1, 10**400))
    channel = Channel.from_rows({"a": {0: "1/4", 1: "3/4"}, "b": {0: "3/4", 1: "1/4"}})
    assert Identifiability.measure(channel, prior).ratio == 3 * 10**400


def test_where_it_is_not_defined() -> None:
    channel = Channel.identity("ab")
    partial = Family.of([Prior.uniform("ab"), Prior.from_counts({"a": 1, "b": 0})])
    with pytest.raises(NotDefined, match="smooth the priors"):
        Identifiability.measure(channel, partial)
    with pytest.raises(NotDefined):
        Identifiability.measure(channel, Intervals.all_priors("ab"))


# --- for the contracts ----------------------------------------------------------------------------


def odds_attained(at: replay.Replay) -> Any:
    w: Any = at.witness
    return replay.log_ratio(
        *(at.masses[s] * at.likelihood(s, w.output) for s in (w.secret, w.other))
    )


TRUTHS: replay.Truths = {
    "identifiability": lambda case, _: {
        "identifiability": replay.log(oracles.identifiability(case.model))
    }
}
ATTAINED: replay.Attained = {"identifiability": {"identifiability": odds_attained}}
