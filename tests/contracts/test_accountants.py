"""The contract of every accountant: what it supports it bounds, never below the truth.

The truth is brute force over all outputs of all releases, in fractions. What an accountant does not
support it refuses, and names the part at fault.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liftlock as ll
from liftlock import Alphabet, Context, ProfileGraph
from liftlock.accounting import ACCOUNTANTS, Accountant, Release, account
from liftlock.accounting.account import limited_quantities
from liftlock.errors import NotComposable, NotDefined
from liftlock.exact.budget import Budget
from liftlock.model import AnyUserPrior
from liftlock.model.structured import UnaryChannel
from tests import strategies
from tests.unit.accounting import brute_force

Ratio = Fraction | None
ONE = Fraction(1)
KINDS = ("none", "prior", "joint", "set", "profiles")

every = pytest.mark.parametrize("accountant", ACCOUNTANTS.values(), ids=ACCOUNTANTS)


@dataclass(frozen=True)
class Situation:
    """Releases in a context, and what they leak together, by quantity; None is infinite."""

    releases: list[Release]
    context: Context | None
    truth: dict[str, Ratio] = field(default_factory=dict)


def loss_of_edges(channels: list[strategies.Rows], graph: ProfileGraph) -> Ratio:
    """Return the largest ratio of the outputs of two joined profiles that share an observation."""
    distributions = []
    for counts, total in zip(graph.counts, graph.totals, strict=True):
        masses = [Fraction(count, total) for count in counts]
        columns = brute_force.likelihoods(channels)
        distributions.append(
            [sum(p * q for p, q in zip(masses, each, strict=True)) for each in columns]
        )
    worst: Ratio = ONE
    for i, j in [pair for a, b in graph.edges for pair in ((a, b), (b, a))]:
        for one, other in zip(distributions[i], distributions[j], strict=True):
            if one and not other:
                return None
            if one and worst is not None:
                worst = max(worst, one / other)
    return worst


@st.composite
def situations(draw: st.DrawFn, kinds: tuple[str, ...] = KINDS) -> Situation:
    """Return small releases in any kind of context, with the truth by brute force."""
    size = draw(st.integers(2, 3))
    zeros = draw(st.booleans())
    tables = [draw(strategies.rows(size, draw(st.integers(1, 3)), zeros=zeros)) for _ in range(2)]
    channels = draw(st.lists(st.sampled_from(tables), min_size=1, max_size=3))
    releases = [Release.of(strategies.make_channel(each)) for each in channels]
    ldp = brute_force.ratio(brute_force.likelihoods(channels))
    kind = draw(st.sampled_from(kinds))
    if kind == "none":
        return Situation(releases, None, {"ldp": ldp})
    if kind == "profiles":
        distributions = {
            name: dict(zip(strategies.inputs_of(size), draw(strategies.counts(size)), strict=True))
            for name in "abc"
        }
        graph = ProfileGraph.chain(distributions)
        truth = {"profile": loss_of_edges(channels, graph), "ldp": ldp}
        return Situation(releases, graph, truth)
    if kind == "joint":
        cells = draw(strategies.counts(size * 2))
        table = [cells[:size], cells[size:]]
        joint = [[Fraction(cell) for cell in row] for row in table]
        secret = [Fraction(sum(row), sum(cells)) for row in table if any(row)]
        columns = list(brute_force.secret_likelihoods(channels, joint))
        lower, upper = brute_force.extreme_lifts(iter(columns), [secret])
        context: Context = strategies.joint_case(table, channels[0]).context
        ldp = brute_force.ratio(iter(columns))
    elif kind == "set":
        vertices, context = draw(strategies.prior_sets(size))
        lower, upper = brute_force.extreme_lifts(brute_force.likelihoods(channels), vertices)
    else:
        masses, context = draw(strategies.priors(size, zeros=True))
        lower, upper = brute_force.extreme_lifts(brute_force.likelihoods(channels), [masses])
    lip = None if lower is None or upper is None else max(lower, upper)
    truth = {"lip": lip, "eps_lower": lower, "eps_upper": upper, "ldp": ldp}
    return Situation(releases, context, truth)


def at_least(bound: Ratio, truth: Ratio) -> bool:
    return bound is None or (truth is not None and bound >= truth)


def level(accountant: Accountant, made: Situation, name: str) -> Ratio:
    return accountant.bound(made.releases, made.context)[name].ratio


# --- what it bounds -------------------------------------------------------------------------------


@every
@settings(max_examples=60, deadline=None)
@given(made=situations())
def test_no_bound_is_below_the_truth(accountant: Accountant, made: Situation) -> None:
    if not accountant.supports(made.releases, made.context):
        return
    found = accountant.bound(made.releases, made.context)
    assert found.accountant == accountant.name
    assert (found.formula, found.source) == (accountant.formula, accountant.source)
    assert found.valid == accountant.valid
    assert found.measurements
    for name, measurement in found.measurements.items():
        truth = made.truth[name]
        assert at_least(measurement.ratio, truth), name
        # What is shown in nats is an enclosure of what was proved, or of less.
        if truth is not None and measurement.value.upper is not None:
            assert Budget.of(measurement.value.upper).allows(truth)
        if found.exact:
            assert measurement.ratio == truth, name


@every
@settings(max_examples=40, deadline=None)
@given(made=situations())
def test_what_is_supported_is_bounded_and_nothing_else(
    accountant: Accountant, made: Situation
) -> None:
    objection = accountant.objection(made.releases, made.context)
    assert accountant.supports(made.releases, made.context) == (objection is None)
    if objection is None:
        accountant.bound(made.releases, made.context)
        return
    assert objection.context
    assert objection.remedy
    with pytest.raises(NotDefined) as refused:
        accountant.bound(made.releases, made.context)
    assert str(refused.value) == str(objection)


@every
@settings(max_examples=40, deadline=None)
@given(made=situations(), data=st.data())
def test_the_order_of_releases_does_not_matter(
    accountant: Accountant, made: Situation, data: st.DataObject
) -> None:
    moved = Situation(data.draw(st.permutations(made.releases)), made.context)
    assert accountant.supports(*(made.releases, made.context)) == accountant.supports(
        *(moved.releases, moved.context)
    )
    if not accountant.supports(made.releases, made.context):
        return
    for name in accountant.bound(made.releases, made.context).measurements:
        assert level(accountant, made, name) == level(accountant, moved, name), name


@every
@settings(max_examples=40, deadline=None)
@given(made=situations(), data=st.data())
def test_one_more_release_never_costs_less(
    accountant: Accountant, made: Situation, data: st.DataObject
) -> None:
    more = Situation([*made.releases, data.draw(st.sampled_from(made.releases))], made.context)
    if not accountant.supports(more.releases, more.context):
        return
    assert accountant.supports(made.releases, made.context)
    for name in accountant.bound(made.releases, made.context).measurements:
        assert at_least(level(accountant, more, name), level(accountant, made, name)), name


# --- promises without a channel -------------------------------------------------------------------

PROMISES = ("1/3", "2/3", "3/2", "2", "5")


@st.composite
def promised(draw: st.DrawFn) -> tuple[Situation, Situation]:
    """Return the same releases by what was promised of them, and by their channels."""
    made = draw(situations(kinds=("prior", "set", "profiles")))
    promises = []
    for release in made.releases:
        alone = account([release], made.context, impossible="ignore")
        name = "profile" if isinstance(made.context, ProfileGraph) else "lip"
        ratio = alone[name].ratio
        if ratio is None:
            return made, made
        notion = (ll.ProfilePrivacy if name == "profile" else ll.LIP)(f"ln {ratio}")
        assert made.context is not None
        promises.append(Release.from_guarantee(notion, made.context))
    return Situation(promises, made.context), made


@every
@settings(max_examples=40, deadline=None)
@given(both=promised())
def test_a_promise_is_never_worth_more_than_its_channel(
    accountant: Accountant, both: tuple[Situation, Situation]
) -> None:
    """Whatever keeps the promise is bounded, so the true leakage of one that does is."""
    told, made = both
    if not accountant.supports(told.releases, told.context):
        return
    for name, measurement in accountant.bound(told.releases, told.context).measurements.items():
        assert at_least(measurement.ratio, made.truth[name]), name


PRIOR = ll.Prior.from_counts({"x0": 1, "x1": 3})
GRAPH = ProfileGraph.chain({"a": {"x0": 1, "x1": 3}, "b": {"x0": 2, "x1": 1}})
FLIP = Release.of(
    ll.Channel.from_rows({"x0": {"y0": "3/4", "y1": "1/4"}, "x1": {"y0": "1/4", "y1": "3/4"}})
)
NEEDS_CHANNELS = {"exact", "pairs", "pairwise"}


@every
def test_the_part_at_fault_is_named(accountant: Accountant) -> None:
    only_promised = Release.from_guarantee(ll.LIP("1"), PRIOR)
    objection = accountant.objection([FLIP, only_promised, FLIP], PRIOR)
    if accountant.name in NEEDS_CHANNELS:
        assert objection is not None
        assert "release 2 (lip(1)), of which only the levels are known" in str(objection)
    plain = accountant.objection([FLIP, FLIP], None)
    if plain is not None and accountant.name != "delta-sum":
        assert "different contexts, or in none" in str(plain)
    graph = accountant.objection([FLIP, FLIP], GRAPH)
    if graph is not None and accountant.name != "delta-sum":
        assert GRAPH.describe() in str(graph)
    assert accountant.supports([FLIP, FLIP], PRIOR) == (accountant.name != "delta-sum")


def test_what_each_accountant_supports() -> None:
    """By kind of context: whoever adds an accountant says here what it is for."""
    contexts: dict[str, Context | None] = {
        "none": None,
        "prior": PRIOR,
        "joint": ll.Joint.from_counts({"s": {"x0": 1, "x1": 2}, "t": {"x0": 3, "x1": 1}}),
        "set": ll.Family.of([PRIOR, ll.Prior.uniform(["x0", "x1"])]),
        "profiles": GRAPH,
    }
    found = {
        name: [kind for kind in KINDS if accountant.supports([FLIP, FLIP], contexts[kind])]
        for name, accountant in ACCOUNTANTS.items()
    }
    assert found == {
        "exact": ["prior", "joint", "set", "profiles"],
        "pairs": [*KINDS],
        "tight": ["prior", "joint", "set", "profiles"],
        "pairwise": ["prior", "joint", "set"],
        "ldp-sum": [*KINDS],
        "delta-sum": [],
        "published": ["prior"],
    }


def test_encodings_too_large_for_a_table() -> None:
    bits = Release.of(UnaryChannel.of(range(40), own=2**51, other=2**50, bits=52))
    prior = ll.Prior.uniform(range(40))
    assert {name for name, each in ACCOUNTANTS.items() if each.supports([bits, bits], prior)} == {
        *("pairs", "tight", "pairwise", "ldp-sum", "published")
    }


# --- users with a prior each ----------------------------------------------------------------------


@every
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_users_with_a_prior_each(accountant: Accountant, data: st.DataObject) -> None:
    """A user has a table for each release, made for the prior of then: any of them is bounded."""
    size = data.draw(st.integers(2, 3))
    users = AnyUserPrior(Alphabet.of(strategies.inputs_of(size)))
    tables, priors, releases = [], [], []
    for _ in range(data.draw(st.integers(1, 3))):
        table = data.draw(strategies.rows(size, data.draw(st.integers(1, 3)), zeros=False))
        masses = strategies.fractions(data.draw(strategies.counts(size, zeros=False)))
        lower, upper = brute_force.extreme_lifts(brute_force.likelihoods([table]), [masses])
        assert lower is not None
        assert upper is not None
        notion = ll.ALIP(lower=f"ln {lower}", upper=f"ln {upper}")
        tables.append(table)
        priors.append(masses)
        releases.append(Release.from_guarantee(notion, users))
    if not accountant.supports(releases, users):
        assert accountant.name not in ("tight", "ldp-sum")
        return
    lower, upper = brute_force.extreme_lifts(brute_force.likelihoods(tables), priors)
    found = accountant.bound(releases, users)
    assert at_least(found["eps_lower"].ratio, lower)
    assert at_least(found["eps_upper"].ratio, upper)
    if len(releases) == 1 and accountant.name == "tight":
        assert (found["eps_lower"].ratio, found["eps_upper"].ratio) == (lower, upper)


def test_a_mechanism_for_users_is_worth_what_it_promises() -> None:
    masses = np.array([[0.6, 0.4], [0.3, 0.7]])
    priors = ll.PerUserPriors.of(["no", "yes"], masses)
    made = ll.design(priors, ll.LIP("1"))
    twice = account([made, made])
    assert twice.allows(ll.LIP("3"))
    assert not twice.allows(ll.LIP("2.9999"))
    assert account([made, made], priors).allows(ll.LIP("3"))
    with pytest.raises(NotDefined):
        twice.certify(ll.notions.MutualInformation("1"))
    flip = ll.design(ll.Prior.uniform(["no", "yes"]), ll.LDP("1/2"), method="k-rr")
    both = account([made, flip], priors)
    assert both.allows(ll.LIP("2.5"))  # 1/2 by its LDP, and twice 1 for the other's ratios
    assert not both.allows(ll.LIP("2.49"))
    book = ll.Ledger.new().record(made, who="a", about="b")
    assert ll.Ledger.from_data(book.to_data()) == book
    with pytest.raises(NotComposable, match=r"could exceed lip\(2\): after 2 releases"):
        book.record(made, who="a", about="b", limit=ll.LIP("2"))


# --- epsilon and delta ----------------------------------------------------------------------------


def delta_at(columns: list[strategies.Row], ratio: Fraction) -> Fraction:
    """Return the largest P(Y in A | x) - ratio P(Y in A | x') over pairs and sets of outputs."""
    pairs = itertools.permutations(range(len(columns[0])), 2)
    gains = ([max(c[x] - ratio * c[o], Fraction(0)) for c in columns] for x, o in pairs)
    return max(sum(each, Fraction(0)) for each in gains)


@st.composite
def with_deltas(draw: st.DrawFn) -> tuple[list[Release], Fraction, Fraction]:
    """Return promises of (epsilon, delta)-LDP, e^(the sum of epsilons), and the delta of all."""
    size = draw(st.integers(2, 3))
    number = draw(st.integers(1, 3))
    tables = [draw(strategies.rows(size, draw(st.integers(1, 3)))) for _ in range(number)]
    prior = ll.Prior.uniform(strategies.inputs_of(size))
    ratios = [Fraction(draw(st.sampled_from(PROMISES[2:]))) for _ in tables]
    releases = []
    for table, ratio in zip(tables, ratios, strict=True):
        delta = delta_at(list(brute_force.likelihoods([table])), ratio)
        notion = ll.ApproximateLDP(f"ln {ratio}", delta)
        releases.append(Release.from_delta_guarantee(notion, prior))
    total = math.prod(ratios, start=ONE)
    return releases, total, delta_at(list(brute_force.likelihoods(tables)), total)


def sums(releases: list[Release]) -> tuple[Fraction, Fraction]:
    found = ACCOUNTANTS["delta-sum"].bound(releases, releases[0].context)
    epsilon, delta = found["epsilon_ldp"].value.upper, found["delta_ldp"].value.upper
    assert epsilon is not None
    assert delta is not None
    return epsilon, delta


@settings(max_examples=60, deadline=None)
@given(made=with_deltas())
def test_epsilons_and_deltas_add_up(made: tuple[list[Release], Fraction, Fraction]) -> None:
    releases, ratio, truth = made
    epsilon, delta = sums(releases)
    assert truth <= delta
    assert Budget.of(epsilon).allows(ratio)
    assert float(epsilon) == pytest.approx(math.log(ratio))


@settings(max_examples=40, deadline=None)
@given(made=with_deltas(), data=st.data())
def test_sums_of_deltas_have_no_order_and_only_grow(
    made: tuple[list[Release], Fraction, Fraction], data: st.DataObject
) -> None:
    releases, _, _ = made
    before = sums(releases)
    assert sums(data.draw(st.permutations(releases))) == before
    after = sums([*releases, data.draw(st.sampled_from(releases))])
    assert after[0] >= before[0]
    assert after[1] >= before[1]
    silent = Release(releases[0].inputs, None)
    fault = ACCOUNTANTS["delta-sum"].objection([*releases, silent], releases[0].context)
    assert f"release {len(releases) + 1}, which promises nothing" in str(fault)


# --- all of them together -------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(made=situations())
def test_the_account_takes_the_least_valid_bound(made: Situation) -> None:
    found = account(made.releases, made.context, impossible="ignore")
    bounds: dict[str, list[Ratio]] = {}
    for each in ACCOUNTANTS.values():
        supported = each.supports(made.releases, made.context)
        assert supported == (each.name not in found.refused)
        if not supported or not each.valid:
            continue
        for name, measurement in each.bound(made.releases, made.context).measurements.items():
            bounds.setdefault(name, []).append(measurement.ratio)
    assert set(found.best) == set(bounds)
    for name, ratios in bounds.items():
        finite = [ratio for ratio in ratios if ratio is not None]
        assert found[name].ratio == (min(finite) if finite else None)
        assert at_least(found[name].ratio, made.truth[name])


@settings(max_examples=40, deadline=None)
@given(made=situations(kinds=("prior", "joint", "set", "profiles")))
def test_limits_are_kept_exactly_as_far_as_is_true(made: Situation) -> None:
    """Small releases are known exactly: a limit at the truth is kept, and one below it is not."""
    found = account(made.releases, made.context, impossible="ignore")
    name = "profile" if isinstance(made.context, ProfileGraph) else "lip"
    truth = made.truth[name]
    make = ll.ProfilePrivacy if name == "profile" else ll.LIP
    if truth is None:
        assert not found.allows(make("1000"))
        return
    assert found.allows(make(f"ln {truth}"))
    assert name in limited_quantities(make("1")) or {"eps_lower", "eps_upper"} == set(
        limited_quantities(make("1"))
    )
    if truth > 1:
        assert not found.allows(make(f"ln {1 + (truth - 1) * Fraction(999, 1000)}"))
