"""What every notion must do, whichever it is, in every context that it supports.

A notion that is registered is tested here as it is. All it needs is its brute force, `TRUTHS`, in
the test of its page (`tests.replay` says how).
"""

from __future__ import annotations

import re
from fractions import Fraction
from string import Formatter
from typing import Any

import mpmath as mp
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from liftlock import Alphabet, Ball, Channel, Context, Family, Intervals, Joint, Prior, ProfileGraph
from liftlock.errors import NotDefined, UnprotectedInput
from liftlock.notions import (
    LDP,
    REGISTRY,
    Certificate,
    Notion,
    audit,
    make_notion,
    parse_claim,
)
from liftlock.notions.lift import extreme_lifts
from liftlock.notions.registry import AUDITED, SHORTHANDS
from tests import oracles, strategies
from tests.oracles import real
from tests.replay import Truths, encloses, gathered, log
from tests.strategies import Case

KEYS = sorted(REGISTRY)
OF_LIFTS = sorted(set(REGISTRY) - {"profile"})
"""Notions that a prior or a joint is a context for."""
TRUTHS: Truths = gathered("TRUTHS")
"""By brute force, what a certificate must say was measured."""
NOT_MONOTONE: dict[str, Case] = gathered("NOT_MONOTONE")
"""Of these more may be learned from what is made of an output."""

TIGHT = {"alpha": "2", "delta": "0.05", "at_least": "0.3", "rho1": "0.3", "rho2": "0.6"}
LOOSE = {"alpha": "2", "delta": "0.2", "at_least": "0.1", "rho1": "0.3", "rho2": "0.9"}


def some(key: str, budget: str = "0.4", others: dict[str, str] = TIGHT) -> Notion:
    """Make a guarantee of a kind."""
    kind = REGISTRY[key]
    return make_notion(key, {name: others.get(name, budget) for name in kind.parameters})


def holds(notion: Notion, channel: Channel, context: Context) -> bool:
    return notion.certify(channel, context, impossible="ignore").holds


# --- what is measured -----------------------------------------------------------------------------


def test_every_notion_has_its_brute_force() -> None:
    assert set(TRUTHS) == set(OF_LIFTS)


@pytest.mark.parametrize("key", OF_LIFTS)
@settings(max_examples=25)
@given(case=strategies.cases())
def test_certificates_say_what_brute_force_finds(key: str, case: Case) -> None:
    notion = some(key)
    certificate = notion.certify(case.channel, case.context, impossible="ignore")
    truths = TRUTHS[key](case, notion)
    assert [claim.quantity for claim in certificate.claims] == list(truths)
    for claim in certificate.claims:
        truth = truths[claim.quantity]
        assert encloses(claim.measured, truth), (claim, truth)
        bound = claim.bound
        assert bound.upper is not None
        if isinstance(truth, Fraction) and bound.is_exact:
            exact = truth <= bound.lower if claim.relation == "<=" else truth >= bound.lower
            assert claim.holds == exact
        elif truth == mp.inf or abs(real(bound.lower) - truth_of(truth)) > mp.mpf(10) ** -25:
            above = truth == mp.inf or truth_of(truth) > real(bound.lower)
            assert claim.holds == (above == (claim.relation == ">="))


def truth_of(truth: Any) -> Any:
    return real(truth) if isinstance(truth, Fraction) else truth


@settings(max_examples=25)
@given(case=strategies.cases())
def test_an_audit_measures_what_certificates_do(case: Case) -> None:
    """Every measurement of an audit is the value that the guarantee of its name is decided by."""
    found = audit(case.channel, case.context, alpha=2, at_epsilon="0.4", impossible="ignore")
    for key, measurement in found.measurements.items():
        notion = some(SHORTHANDS.get(key, key))
        certificate = notion.certify(case.channel, case.context, impossible="ignore")
        if key == "lip":
            larger = max(
                certificate.nats.values(), key=lambda value: (value.is_infinite, value.lower)
            )
            assert measurement.value == larger
            continue
        (claim,) = certificate.claims
        assert claim.measured == measurement.value
        assert measurement.unit == notion.unit


def test_an_audit_has_every_notion_of_a_table_in_the_order_of_the_registry() -> None:
    channel, prior = Channel.identity("ab"), Prior.uniform("ab")
    found = list(audit(channel, prior, alpha=2, at_epsilon=1).measurements)
    first = ["lip", "eps_lower", "eps_upper", "ldp"]
    assert found[: len(first)] == first
    ordered = [key for key in REGISTRY if "alpha" in REGISTRY[key].parameters]
    last = [*ordered, *SHORTHANDS]
    assert found[-len(last) :] == last
    rest = [key for key in REGISTRY if key in found and key not in {*first, *last}]
    assert found[len(first) : -len(last)] == rest
    assert set(found) == set(AUDITED)


# --- budgets --------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("budget", ["0", "0.4", "2.75", "1/3"])
def test_budgets_make_a_round_trip(key: str, budget: str) -> None:
    notion = some(key, budget)
    assert notion.name == key
    assert list(notion.budgets) == list(REGISTRY[key].parameters)
    again = make_notion(key, notion.budgets)
    assert again == notion
    assert hash(again) == hash(notion)
    assert parse_claim(f"{key}={','.join(notion.budgets.values())}") == notion
    assert str(notion).startswith(f"{key}(")
    assert REGISTRY[key].make(*notion.budgets.values()) == notion
    assert some(key, "17") != notion or "epsilon" not in notion.budgets


@pytest.mark.parametrize("key", OF_LIFTS)
@settings(max_examples=20)
@given(case=strategies.cases())
def test_what_holds_holds_for_larger_budgets(key: str, case: Case) -> None:
    verdicts = [
        holds(some(key, budget, others), case.channel, case.context)
        for budget, others in (("0", TIGHT), ("0.4", TIGHT), ("0.4", LOOSE), ("1.5", LOOSE))
    ]
    assert verdicts == sorted(verdicts)


@pytest.mark.parametrize("key", OF_LIFTS)
@settings(max_examples=20)
@given(case=strategies.cases())
def test_the_smallest_budget_that_is_named_suffices(key: str, case: Case) -> None:
    notion = some(key)
    text = notion.smallest_text(case.channel, case.context)
    assert "\n" not in text
    found = re.findall(r"(\w+)=([^\s,]+)", text)
    assert "inf" not in [value for _, value in found]
    if not text:
        assert not holds(some(key, "1000"), case.channel, case.context)
        return
    budgets: dict[str, object] = dict(notion.budgets)
    free = [name for name in REGISTRY[key].parameters if name != "alpha"]
    for (name, value), other in zip(found, free, strict=False):
        budgets[name if name in budgets else other] = value
        if " or " in text:
            break
    if key == "breach" and not found:
        assert text.startswith("no rho2")
        return
    assert holds(make_notion(key, budgets), case.channel, case.context)


@pytest.mark.parametrize("key", KEYS)
def test_scaling_multiplies_budgets_and_nothing_else(key: str) -> None:
    notion = some(key, "0.4")
    half = notion.scaled(Fraction(1, 2))
    assert half.name == key
    for name, value in notion.budgets.items():
        scales = name in ("epsilon", "lower", "upper", "budget")
        assert Fraction(half.budgets[name]) == Fraction(value) / (2 if scales else 1)


# --- contexts -------------------------------------------------------------------------------------


AB = Alphabet.of("ab")
CONTEXTS: dict[str, Context] = {
    "prior": Prior.from_counts({"a": 1, "b": 3}),
    "joint": Joint.from_counts({"s": {"a": 1, "b": 2}, "t": {"a": 3, "b": 1}}),
    "family": Family.of([Prior.from_counts({"a": 1, "b": 3}), Prior.from_counts({"a": 2, "b": 1})]),
    "intervals": Intervals.all_priors("ab"),
    "ball": Ball(Prior.from_counts({"a": 1, "b": 1}), Fraction(1, 10)),
    "profiles": ProfileGraph.bernoulli(["0.2", "0.6"]),
}
BIT = {0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}}


def certified(
    notion: Notion, channel: Channel, context: Context
) -> tuple[Certificate | None, NotDefined | None]:
    """Return the certificate, or the refusal."""
    try:
        return notion.certify(channel, context), None
    except NotDefined as refusal:
        return None, refusal


@pytest.mark.parametrize("kind", CONTEXTS)
@pytest.mark.parametrize("key", KEYS)
def test_a_context_is_certified_or_refused_with_the_reason(key: str, kind: str) -> None:
    context = CONTEXTS[kind]
    labels = [0, 1] if kind == "profiles" else ["a", "b"]
    channel = Channel.from_rows(
        {label: BIT[row] for label, row in zip(labels, (0, 1), strict=True)}
    )
    notion = some(key, "5", LOOSE)
    fits = (kind == "profiles") == (key == "profile")
    certificate, refusal = certified(notion, channel, context)
    if certificate is None:
        assert refusal is not None
        assert refusal.remedy
        assert not fits or kind not in ("prior", "joint", "profiles")
        return
    assert certificate.notion == key
    assert certificate.budgets == notion.budgets
    assert certificate.context == context.fingerprint
    assert certificate.channel == channel.fingerprint
    assert certificate.holds == all(claim.holds for claim in certificate.claims)
    assert fits or notion.context_free


@pytest.mark.parametrize("key", OF_LIFTS)
@settings(max_examples=25)
@given(data=st.data())
def test_what_holds_for_a_set_of_priors_holds_for_each(key: str, data: st.DataObject) -> None:
    """At every vertex of the set, and at a prior between them."""
    vertices, priors = data.draw(strategies.prior_sets(3))
    channel = strategies.make_channel(data.draw(strategies.rows(3, 3, zeros=False)))
    notion = some(key, data.draw(st.sampled_from(["0.4", "1.5", "4"])), LOOSE)
    try:
        found = notion.certify(channel, priors, impossible="ignore").holds
    except NotDefined:
        return
    assume(found)
    weights = data.draw(st.lists(st.integers(1, 9), min_size=len(vertices), max_size=len(vertices)))
    between = [
        sum((w * p[x] for w, p in zip(weights, vertices, strict=True)), Fraction(0)) / sum(weights)
        for x in range(3)
    ]
    for masses in (*vertices, between):
        names = strategies.inputs_of(3)
        prior = Prior.from_probabilities(dict(zip(names, masses, strict=True)))
        assert holds(notion, channel, prior)


@pytest.mark.parametrize("key", OF_LIFTS)
def test_impossible_inputs_are_refused_unless_every_input_counts(key: str) -> None:
    channel = Channel.from_rows({"a": {"y": 1}, "b": {"y": 1}})
    prior = Prior.from_counts({"a": 1, "b": 0})
    notion = some(key, "1", LOOSE)
    if notion.context_free:
        assert notion.certify(channel, prior).unprotected == ()
        return
    with pytest.raises(UnprotectedInput):
        notion.certify(channel, prior)
    assert notion.certify(channel, prior, impossible="ignore").unprotected == ("b",)


# --- post-processing ------------------------------------------------------------------------------


def processed(case: Case, rows: strategies.Rows) -> Channel:
    """Return the channel with another one behind it."""
    outputs = case.channel.outputs.labels
    behind = {y: dict(enumerate(row)) for y, row in zip(outputs, rows, strict=True)}
    return case.channel.then(Channel.from_rows(behind))


def joined(case: Case) -> Channel:
    """Join the first two outputs."""
    number = len(case.channel.outputs.labels)
    rows = [
        [Fraction(place == max(y, 1)) for place in range(1, max(number, 2))] for y in range(number)
    ]
    return processed(case, rows)


@pytest.mark.parametrize("key", sorted(set(OF_LIFTS) - set(NOT_MONOTONE)))
@settings(max_examples=20)
@given(case=strategies.cases(), data=st.data())
def test_nobody_learns_more_from_what_is_made_of_an_output(
    key: str, case: Case, data: st.DataObject
) -> None:
    notion = some(key)
    before = notion.certify(case.channel, case.context, impossible="ignore")
    rows = data.draw(strategies.rows(len(case.channel.outputs), 3))
    for coarse in (joined(case), processed(case, rows)):
        after = notion.certify(coarse, case.context, impossible="ignore")
        for fine, rough in zip(before.claims, after.claims, strict=True):
            more, less = (fine, rough) if fine.relation == "<=" else (rough, fine)
            assert more.measured.upper is None or less.measured.lower <= more.measured.upper


@pytest.mark.parametrize("key", sorted(NOT_MONOTONE))
def test_the_others_do_not_promise_that(key: str) -> None:
    case = NOT_MONOTONE[key]
    (fine,) = some(key).certify(case.channel, case.context).claims
    (rough,) = some(key).certify(joined(case), case.context).claims
    more, less = (rough, fine) if fine.relation == "<=" else (fine, rough)
    assert less.measured.upper is not None
    assert more.measured.lower > less.measured.upper


# --- facts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", KEYS)
def test_a_notion_says_what_it_is(key: str) -> None:
    notion, kind = some(key), REGISTRY[key]
    assert kind.title
    assert kind.summary
    assert notion.unit in ("nats", "")
    fields = {name for _, name, _, _ in Formatter().parse(notion.promise) if name}
    assert fields == {"column", "secret"}
    said = notion.promise.format(column="job", secret="home")
    assert said.endswith(".")
    assert "{" not in said


@pytest.mark.parametrize("key", OF_LIFTS)
@settings(max_examples=30)
@given(case=strategies.cases(zeros=False))
def test_beliefs_stay_within_what_a_notion_says_of_them(key: str, case: Case) -> None:
    notion = some(key, "1", LOOSE)
    limits = notion.belief_limits()
    direct = notion.lift_limits()
    assert direct is None or direct == limits
    assume(holds(notion, case.channel, case.context))
    found = extreme_lifts(case.channel, case.context)
    assert limits.upper is None or limits.upper.allows(found.largest.lift)
    smallest = found.smallest.lift
    assert limits.lower is None or limits.lower.allows(1 / smallest if smallest else None)


@pytest.mark.parametrize("key", OF_LIFTS)
@settings(max_examples=30)
@given(case=strategies.cases(zeros=False))
def test_the_budget_of_ldp_implies_the_notion(key: str, case: Case) -> None:
    notion = some(key, "1.2")
    if notion.ldp_budget is None:
        assert notion.lift_limits() is None
        assert notion.ratio_limit is None
        return
    if holds(LDP(notion.ldp_budget), case.channel, case.context):
        assert holds(notion, case.channel, case.context)


@pytest.mark.parametrize("key", OF_LIFTS)
@settings(max_examples=20)
@given(case=strategies.cases())
def test_notions_with_a_delta(key: str, case: Case) -> None:
    notion = some(key)
    limit, pure = notion.delta_limit(), notion.without_delta
    if limit is None:
        assert pure == notion
        with pytest.raises(NotDefined):
            notion.epsilon_at_delta(case.channel, case.context)
        return
    assert str(limit.epsilon) == notion.budgets["epsilon"]
    assert limit.delta == Fraction(notion.budgets["delta"])
    if holds(pure, case.channel, case.context):
        assert holds(notion, case.channel, case.context)
    needed = notion.epsilon_at_delta(case.channel, case.context)
    if needed.ratio is not None:
        budgets = {"epsilon": f"ln {max(needed.ratio, Fraction(1))}", "delta": limit.delta}
        assert holds(make_notion(key, budgets), case.channel, case.context)


@pytest.mark.parametrize("key", OF_LIFTS)
@settings(max_examples=20)
@given(case=strategies.cases())
def test_what_is_attained_holds(key: str, case: Case) -> None:
    found = some(key).smallest_guarantee(case.channel, case.context)
    if found is not None:
        assert found.name == key
        assert holds(found, case.channel, case.context)


def test_limits_exclude_each_other() -> None:
    for key in KEYS:
        notion = some(key)
        limits = [
            notion.lift_limits(),
            notion.ratio_limit,
            notion.delta_limit(),
            notion.output_limit(),
            notion.profile_budget,
        ]
        assert sum(limit is not None for limit in limits) <= 1


# --- profiles -------------------------------------------------------------------------------------


@settings(max_examples=30)
@given(
    chances=st.lists(st.integers(1, 19), min_size=2, max_size=4, unique=True),
    rows=strategies.rows(2, 3),
)
def test_profiles_by_brute_force(chances: list[int], rows: strategies.Rows) -> None:
    graph = ProfileGraph.bernoulli([Fraction(chance, 20) for chance in chances])
    channel = Channel.from_rows({x: dict(enumerate(row)) for x, row in enumerate(rows)})
    distributions = [
        [(1 - p) * rows[0][y] + p * rows[1][y] for y in range(3)]
        for p in (Fraction(chance, 20) for chance in chances)
    ]
    worst: Fraction | None = Fraction(1)
    for one, other in graph.edges:
        ratio = oracles.ldp([distributions[one], distributions[other]])
        worst = None if ratio is None or worst is None else max(worst, ratio)
    notion = some("profile")
    (claim,) = notion.certify(channel, graph, impossible="ignore").claims
    assert encloses(claim.measured, log(worst))
    if worst is not None:
        assert make_notion("profile", {"budget": f"ln {worst}"}).certify(channel, graph).holds
        assert f"ln {worst}" != "ln 1" or claim.holds
