"""The contract of contexts: every kind goes through the same verbs, or is refused with a reason."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest

import liftlock as ll
from liftlock import Context
from liftlock.accounting import account
from liftlock.designs import designs_for
from liftlock.errors import LiftlockError, NotComposable, NotDefined
from liftlock.model import Kind, context_from_data
from tests.contracts import worlds

EVERY: tuple[Kind, ...] = get_args(Kind)
FINITE: tuple[Kind, ...] = tuple(kind for kind in EVERY if kind != "per-user")
"""Users with a prior each have tests of their own below: their priors are in no file."""
KINDS = [
    pytest.param(kind, flavour, id=f"{kind}-{flavour}")
    for kind in FINITE
    for flavour in worlds.FLAVOURS
]


def some_context(kind: Kind) -> Context:
    """Return a small context of any kind, on the numbers 1, 2, 3."""
    if kind == "per-user":
        return ll.PerUserPriors.of([1, 2, 3], np.random.default_rng(1).dirichlet(np.ones(3), 6))
    return worlds.context(kind, 3, "random", 1)


def guarantee(kind: Kind, budget: str = "1") -> Any:
    return ll.ProfilePrivacy(budget) if kind == "profiles" else ll.LIP(budget)


def released(made: ll.Mechanism, release: Callable[..., Any], **options: Any) -> Any:
    """Release some values, with the profile of each where the mechanism asks for it."""
    graph = made.context
    if isinstance(graph, ll.ProfileGraph):
        values = [
            label
            for label, count in zip(graph.inputs.labels, graph.counts[0], strict=True)
            if count
        ]
        return release(values, [graph.profiles.labels[0]] * len(values), **options)
    if isinstance(graph, ll.Conditional):
        pairs = graph.pair_list
        return release([x for _, x in pairs], [group for group, _ in pairs], **options)
    return release(list(made.channel.inputs.labels), **options)


@pytest.mark.parametrize(("kind", "flavour"), KINDS)
def test_a_context_says_what_it_is(kind: Kind, flavour: str) -> None:
    context = worlds.context(kind, 4, flavour, 1)
    assert isinstance(context, Context)
    assert context.kind == kind
    assert context.describe()
    assert "\n" not in context.describe()
    assert len(context.inputs) >= 4
    assert len(context.secrets) >= 2


@pytest.mark.parametrize(("kind", "flavour"), KINDS)
def test_a_context_survives_its_file(kind: Kind, flavour: str) -> None:
    context = worlds.context(kind, 4, flavour, 1)
    data = json.loads(json.dumps(context.to_data()))
    again = context_from_data(data)
    assert type(again) is type(context)
    assert again.fingerprint == context.fingerprint
    assert again.inputs == context.inputs
    assert again.secrets == context.secrets
    other = worlds.context(kind, 4, flavour, 2)
    assert flavour == "skewed" or other.fingerprint != context.fingerprint


@pytest.mark.parametrize("kind", FINITE)
def test_some_design_is_made_for_it(kind: Kind) -> None:
    assert designs_for(kind)
    assert all(kind in entry.contexts for entry in designs_for(kind).values())


@pytest.mark.parametrize(("kind", "flavour"), KINDS)
def test_the_verbs(kind: Kind, flavour: str) -> None:
    """Design, audit, release, save and compare: one way for every kind."""
    context = worlds.context(kind, 4, flavour, 1)
    notion = guarantee(kind)
    made = ll.design(context, notion)
    assert made.certificate.holds
    assert made.notion.name == notion.name
    assert notion.certify(made.channel, made.context).holds

    audit = made.audit()
    assert isinstance(audit, ll.Audit)
    assert type(audit) is type(ll.audit(made.channel, made.context))
    assert set(audit.measures) == set(audit.measurements)
    assert notion.name in audit.measurements
    assert float(audit[notion.name].value) <= 1 + 1e-12
    assert audit.worst_case()
    json.dumps(audit.to_data())

    outputs = set(made.table.outputs.labels)
    assert set(released(made, made.release)) <= outputs
    same = [released(made, made.simulate, seed=3) for _ in range(2)]
    assert list(same[0]) == list(same[1])

    again = ll.Mechanism.from_data(json.loads(json.dumps(made.to_data())))
    assert again.channel == made.channel
    assert again.certificate == made.certificate
    assert again.context.fingerprint == made.context.fingerprint

    best = ll.best(context, notion)
    assert best.origin is not None
    assert made.origin is not None
    assert best.origin.objective == pytest.approx(made.origin.objective, rel=1e-5, abs=1e-9)

    first = next(iter(designs_for(kind)))
    found = ll.compare(context, methods=[first], epsilons=["0.5", "1"])
    points = found[first].points
    assert [point.epsilon for point in points] == [0.5, 1.0]
    assert all(point.needed <= point.epsilon * (1 + 1e-12) for point in points)
    assert points[1].objective == pytest.approx(made.origin.objective, rel=1e-5, abs=1e-9)
    assert (found.nothing, found.truth) == (made.origin.nothing, made.origin.truth)
    assert len(found.rows()) == 2
    json.dumps(found.to_data())


@pytest.mark.parametrize("kind", FINITE)
def test_reports_are_counted_and_estimated(kind: Kind) -> None:
    context = worlds.context(kind, 3, "random", 1)
    made = ll.design(context, guarantee(kind, "3"))
    told = made.reported
    assert isinstance(told, ll.Channel)
    many = np.random.default_rng(1).integers(0, len(told.outputs), 400)
    counted = made.aggregate([told.outputs.labels[code] for code in many])
    assert counted.total == 400
    if kind in ("family", "intervals", "ball"):  # whose reports may not tell values apart
        found = made.estimate(counted, prior=ll.Prior.uniform(context.inputs.labels))
    else:
        found = made.estimate(counted)
    assert found.reports == 400
    assert [answer.name for answer in found.answers] == list(context.inputs.labels)
    assert sum(answer.value for answer in found.answers) == pytest.approx(400)
    json.dumps(found.to_data())


@pytest.mark.parametrize("kind", FINITE)
def test_what_does_not_fit_is_refused_with_a_reason(kind: Kind) -> None:
    context = worlds.context(kind, 3, "random", 0)
    other = ll.LIP("1") if kind == "profiles" else ll.ProfilePrivacy("1")
    unfit: list[Callable[[], object]] = [
        lambda: ll.design(context, other),
        lambda: ll.design(context, guarantee(kind), method="no such method"),
        lambda: ll.design(context, guarantee(kind), utility="joy"),
        lambda: ll.design(context, guarantee(kind), bins=4),
        lambda: ll.design(context, guarantee(kind), magic=1),
        lambda: ll.best(context, other),
        lambda: ll.compare(context, methods=["no such method"]),
    ]
    if kind == "profiles":
        unfit += [
            lambda: ll.design(context, "-1"),
            lambda: ll.design_as_published(context, guarantee(kind), method="cluster"),
            lambda: ll.audit(ll.Channel.identity([1, 2, 3]), context, alpha=2),
        ]
    else:
        unfit += [
            lambda: ll.design(context, "1"),
            lambda: ll.design(context, guarantee(kind), weights={"a": 1}),
            lambda: ll.design(context, guarantee(kind)).release([1], ["p0", "p1"]),
        ]
    if kind != "prior":
        unfit.append(lambda: ll.plan(context, guarantee(kind), 100))
    for attempt in unfit:
        with pytest.raises(LiftlockError) as caught:
            attempt()
        assert "\n" not in str(caught.value)
        assert ";" in str(caught.value), "a remedy"


@pytest.mark.parametrize("method", ["arc", "safe-response"])
def test_users_with_a_prior_each(method: str) -> None:
    """The same verbs, with the priors beside the values; the file has nobody's prior."""
    labels = ["a", "b", "c"]
    priors = ll.PerUserPriors.of(labels, np.random.default_rng(1).dirichlet(np.ones(3), 50))
    assert isinstance(priors, Context)
    assert priors.kind == "per-user"
    assert "50 users" in priors.describe()
    made = ll.design(priors, ll.LIP("1"), method=method)
    assert isinstance(made, ll.Mechanism)
    assert isinstance(made.context, Context)
    assert made.context.kind == "per-user"
    assert made.certificate.holds
    data = json.loads(json.dumps(made.to_data()))
    assert data["context"] == {"kind": "per-user", "labels": labels}
    assert context_from_data(data["context"]) == made.context
    again = ll.Mechanism.from_data(data)
    assert (again.channel, again.certificate) == (made.channel, made.certificate)
    audit = ll.audit(made, priors)
    assert isinstance(audit, ll.Audit)
    assert audit.holds
    assert audit.to_data() == made.audit(priors).to_data()
    assert float(audit["lip"].value) <= 1
    assert audit.worst_case()
    same = [made.simulate(["a"] * 50, priors, seed=3) for _ in range(2)]
    assert list(same[0]) == list(same[1])
    found = made.estimate(same[0], priors=priors)
    assert found.reports == len(made.release(["b"] * 50, priors)) == 50
    assert found == made.estimate(made.aggregate(same[0], priors))
    assert len(made.expected_error(priors).errors) == 3
    best = ll.best(priors, ll.LIP("1"))
    least = best.expected_error(priors).total_squared
    assert least <= made.expected_error(priors).total_squared
    assert ll.LIP("1").certify(made.channel, priors).holds
    with pytest.raises(LiftlockError, match="expected_error"):
        ll.compare(priors, ll.LIP)


# --- verbs of tables and of accounts, for every kind ----------------------------------------------


@pytest.mark.parametrize("kind", EVERY)
def test_releases_are_accounted_for(kind: Kind) -> None:
    context = some_context(kind)
    made = ll.design(context, guarantee(kind))
    quantity = made.notion.name
    for under in (None, context):
        once, twice = (account([made] * releases, under) for releases in (1, 2))
        assert once.headline == twice.headline == quantity
        levels = [float(found[quantity]) for found in (once, twice)]
        assert 0 < levels[0] <= 1 + 1e-12
        assert levels[0] <= levels[1] < math.inf
        json.dumps(twice.to_data())


@pytest.mark.parametrize("kind", EVERY)
def test_releases_are_recorded(kind: Kind) -> None:
    made = ll.design(some_context(kind), guarantee(kind))
    ledger = ll.Ledger.new().record(made, people=["ann", "bob"], about="answer")
    if kind != "profiles":
        ledger = ledger.record(made, who="staff", about="answer")
    again = ll.Ledger.from_data(json.loads(json.dumps(ledger.to_data())))
    assert again.to_data() == ledger.to_data()
    spent = again.account("answer", person="ann")
    assert 0 < float(spent[made.notion.name]) <= 1 + 1e-12
    json.dumps(spent.to_data())
    with pytest.raises(NotComposable, match="exceed"):
        ledger.record(made, people=["ann"], about="answer", limit=guarantee(kind, "0.01"))


@pytest.mark.parametrize("kind", EVERY)
def test_columns_are_protected_or_refused_with_a_reason(kind: Kind) -> None:
    """A table knows priors, joints and a prior in each row; for other kinds design first."""
    table = pd.DataFrame({"x": [1, 2, 3, 1, 2, 3], "s": ["s0", "s1"] * 3})
    context = some_context(kind)
    notion = guarantee(kind)
    if kind == "prior":
        done = ll.protect(table, "x", notion, context=context, drop=["s"])  # type: ignore[arg-type]
    elif kind == "joint":
        done = ll.protect(table, "x", notion, secret="s", context=context)  # type: ignore[arg-type]
    else:
        with pytest.raises(NotDefined) as caught:
            ll.protect(table, "x", notion, context=context)  # type: ignore[arg-type]
        assert context.describe() in str(caught.value)
        assert "design" in caught.value.remedy
        if kind != "per-user":
            return
        rows = table[["x"]].assign(**{f"p{x}": 1 / 3 for x in (1, 2, 3)})
        done = ll.protect(rows, "x", notion, local={x: f"p{x}" for x in (1, 2, 3)})
    assert len(done.frame) == len(table)
    (made,) = done.mechanisms.values()
    assert made.context.kind == kind
    assert made.certificate.holds
