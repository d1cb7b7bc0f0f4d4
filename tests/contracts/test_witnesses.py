"""Whoever a certificate names attains what it says: every witness replayed in plain fractions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liftlock.errors import NotDefined
from liftlock.notions import REGISTRY, Claim, Notion, make_notion
from tests import strategies
from tests.replay import Attained, Replay, encloses, gathered
from tests.strategies import Case

BUDGETS = {
    "epsilon": "0.2",
    "delta": "0.01",
    "budget": "0.5",
    "alpha": "2",
    "lower": "1",
    "upper": "1",
    "at_least": "0.1",
    "rho1": "0.3",
    "rho2": "0.9",
}
ATTAINED: Attained = gathered("ATTAINED")
NOTIONS = sorted(ATTAINED)
NAMES_NOBODY = sorted(set(REGISTRY) - set(ATTAINED) - {"profile"})
"""Means over all outputs."""


def some(name: str) -> Notion:
    """Make a guarantee of a kind."""
    return make_notion(name, {key: BUDGETS[key] for key in REGISTRY[name].parameters})


def replay(notion: Notion, claim: Claim, case: Case) -> None:
    if claim.witness is None:
        assert claim.quantity == "crowd_mass"
        return
    truth = ATTAINED[notion.name][claim.quantity](Replay.of(notion, case, claim.witness))
    assert encloses(claim.measured, truth), (claim, truth)


@pytest.mark.parametrize("name", NOTIONS)
@settings(max_examples=25)
@given(case=strategies.cases())
def test_a_prior_or_a_secret_behind_the_data(name: str, case: Case) -> None:
    notion = some(name)
    found = notion.certify(case.channel, case.context, impossible="ignore")
    assert found.claims
    for claim in found.claims:
        replay(notion, claim, case)


@pytest.mark.parametrize("name", NOTIONS)
@pytest.mark.parametrize("secrets", [None, 3])
def test_tables_without_ties(name: str, secrets: int | None) -> None:
    notion = some(name)
    for seed in range(8):
        case = strategies.random_case(4, 5, seed=seed, secrets=secrets, zeros=seed % 4 == 3)
        for claim in notion.certify(case.channel, case.context).claims:
            replay(notion, claim, case)


@pytest.mark.parametrize("name", NOTIONS)
@settings(max_examples=15)
@given(data=st.data())
def test_the_worst_prior_of_a_set(name: str, data: st.DataObject) -> None:
    """The prior that is named is one of the extreme ones, and with it the value is attained."""
    rows = data.draw(strategies.rows(3, 3))
    vertices, priors = data.draw(strategies.prior_sets(3))
    notion = some(name)
    channel = strategies.make_channel(rows)
    try:
        found = notion.certify(channel, priors, impossible="ignore")
    except NotDefined:
        return
    for claim in found.claims:
        assert claim.witness is not None
        if claim.witness.prior is None:
            assert name in ("ldp", "ldp_delta")
            numbers = [1, 1, 1]
        else:
            worst = claim.witness.prior.reordered(channel.inputs)
            masses = [worst[label] for label in channel.inputs.labels]
            assert masses in vertices
            numbers = list(worst.counts)
        replay(notion, claim, strategies.prior_case(numbers, rows))


def test_every_notion_with_witnesses_is_replayed() -> None:
    case = strategies.prior_case([2, 3, 1], [strategies.fractions(row) for row in ([3, 2, 1],) * 3])
    for name in NAMES_NOBODY:
        notion = some(name)
        assert [claim.witness for claim in notion.certify(case.channel, case.context).claims] == [
            None
        ]
