"""The table of relations: every rule sound, every tight rule attained, every gap a real one.

Soundness is searched: measure a world with the oracles, make the guarantee exactly what was
measured, and every bound that follows must be at least the measured value of the other notion.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import pytest
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st

from liftlock import Family, Prior
from liftlock.errors import InputError, NotDefined
from liftlock.exact.budget import Budget
from liftlock.notions import (
    ALIP,
    LDP,
    LIP,
    AlphaLift,
    AlphaLiftInverse,
    ApproximateLDP,
    ApproximateLIP,
    Arimoto,
    Chi2,
    Chi2Lift,
    Chi2LiftInverse,
    Identifiability,
    L1Lift,
    L1LiftInverse,
    MaximalLeakage,
    MaxLift,
    MinLift,
    MutualInformation,
    NoBreach,
    Notion,
    Sibson,
    TotalVariation,
    implications,
    make_notion,
)
from liftlock.notions.relations import Implication, leakages
from liftlock.notions.rules import RULES, Population, Rule
from tests.theorems import worlds
from tests.theorems.worlds import Masses, World

HALF = Fraction(1, 2)
ORDERS = [HALF, Fraction(1), Fraction(3, 2), Fraction(2), Fraction(5)]
orders = st.sampled_from(ORDERS)


# --- measuring with the oracles -------------------------------------------------------------------


def _ordered(
    oracle: Callable[[World, Fraction], Fraction | None],
) -> Callable[..., Fraction | None]:
    return oracle


def _plain(oracle: Callable[[World], Fraction | None]) -> Callable[..., Fraction | None]:
    return lambda world, _order: oracle(world)


def _inverse_of_smallest(world: World) -> Fraction | None:
    low = worlds.smallest_lift(world)
    return 1 / low if low else None


ORACLES: dict[str, Callable[..., Fraction | None]] = {
    "eps_upper": _plain(worlds.largest_lift),
    "eps_lower": _plain(_inverse_of_smallest),
    "ldp": _plain(worlds.ldp_ratio),
    "identifiability": _plain(worlds.odds_ratio),
    "maximal_leakage": _plain(worlds.guessing_ratio),
    "mutual_information": _plain(worlds.mutual_information),
    "sibson": _ordered(worlds.sibson),
    "arimoto": _ordered(worlds.arimoto),
    "total_variation": _plain(worlds.total_variation),
    "chi2": _plain(worlds.chi2),
    "l1_lift": _plain(worlds.l1_lift),
    "chi2_lift": _plain(worlds.chi2_lift),
    "l1_lift_inverse": _plain(worlds.l1_lift_inverse),
    "chi2_lift_inverse": _plain(worlds.chi2_lift_inverse),
    "alpha_lift": _ordered(worlds.alpha_lift),
    "alpha_lift_inverse": _ordered(worlds.alpha_lift_inverse),
}
"""Leakages as the rules keep them (ratios, nats, plain numbers); None is infinite."""

RATIOS = tuple(key for key, each in leakages().items() if each.of_ratio)
ORDERED = tuple(key for key, each in leakages().items() if "alpha" in each.parameters)
ROUNDED = ("mutual_information", *ORDERED)
"""Values the oracles know to 60 digits only."""


class Facts:
    """The leakages of one world, computed when asked for."""

    def __init__(self, world: World, order: Fraction) -> None:
        self.world, self.order = world, order
        self._known: dict[tuple[str, Fraction | None], Fraction | None] = {}

    def __getitem__(self, name: str) -> Fraction | None:
        key = name, self.order if name in ORDERED else None
        if key not in self._known:
            self._known[key] = ORACLES[name](self.world, self.order)
        return self._known[key]

    @cached_property
    def population(self) -> Population:
        return Population.of(self.world.prior)

    def at(self, order: Fraction) -> Facts:
        """Return the facts of the same world at another order; what has no order is shared."""
        found = Facts(self.world, order)
        found._known, found.population = self._known, self.population
        return found

    def safe(self, name: str) -> Fraction | None:
        """Return a rational that is certainly not below the leakage."""
        value = self[name]
        return value + worlds.ROUNDING if value is not None and name in ROUNDED else value

    def nats(self, name: str) -> Fraction | None:
        """Return the number a line of the table speaks of."""
        if name == "lip":
            sides = self["eps_upper"], self["eps_lower"]
            return None if None in sides else worlds.natural_log(max(x for x in sides if x))
        value = self[name]
        return worlds.natural_log(value) if value is not None and name in RATIOS else value


def table(
    guarantee: Notion, context: Prior | None = None, alpha: object = None
) -> dict[str, Implication]:
    return {line.target: line for line in implications(guarantee, context, alpha=alpha)}


def holds(line: Implication, true: Fraction | None) -> bool:
    """Tell whether a line is right about a leakage (None: infinite)."""
    if line.bound is None:
        return True
    assert line.bound.upper is not None
    return true is not None and true <= line.bound.upper + worlds.ROUNDING


# --- the rules one by one -------------------------------------------------------------------------


def rule_name(rule: Rule) -> str:
    return f"{rule.gives} from {' and '.join(rule.needs) or 'nothing'}"


@settings(max_examples=150)
@given(worlds.worlds(zeros=True), orders)
def test_every_rule_is_a_theorem(world: World, order: Fraction) -> None:
    facts = Facts(world, order)
    for rule in RULES:
        needed = {name: facts.safe(name) for name in rule.needs}
        if None in needed.values():
            continue
        exact = {name: value for name, value in needed.items() if value is not None}
        for who in (None, facts.population):
            bound = rule.apply(exact, who, order)
            if bound is None:
                continue
            note(f"{rule_name(rule)}, {'with' if who else 'without'} the prior")
            true = facts[rule.gives]
            assert true is not None
            assert true <= bound + worlds.ROUNDING


def gallery() -> list[World]:
    """Return worlds at the edge of every inequality."""
    rare, tiny = Fraction(1, 10**7), Fraction(1, 10**6)
    uniform = {size: worlds.normalised([1] * size) for size in (2, 3, 8, 40)}
    found = [worlds.identity(masses) for masses in uniform.values()]
    found += [worlds.identity((rare, 1 - rare)), worlds.identity((Fraction(1, 4), Fraction(3, 4)))]
    pairs = [("1/2", "2"), ("1/10", "29/20"), ("9/10", "8/5"), ("1/3", "3")]
    found += [worlds.two_points(Fraction(low), Fraction(high)) for low, high in pairs]
    for counts in ([1, 2, 7], [1, 9], [1, 1], [3, 4, 5, 6], [1, 1, 1000]):
        masses = worlds.normalised(counts)
        size = len(masses)
        found += [worlds.staircase(masses, Fraction(3), [x]) for x in range(size)]
        for low, high in pairs:
            for first in range(size):
                order = [first, *(x for x in range(size) if x != first)]
                for way in (order, order[::-1]):
                    found.append(worlds.extremal(masses, Fraction(low), Fraction(high), way))
                    posterior = worlds.vertex(masses, Fraction(low), Fraction(high), way)
                    found.append(worlds.with_posterior(masses, posterior, tiny))
        # Move the rarest symbol up and down, evenly at the cost of all others.
        for factor in (Fraction(11, 10), Fraction(9, 10), Fraction(1, 100)):
            moved = factor * masses[0]
            rest = (1 - moved) / (1 - masses[0])
            posterior = (moved, *(mass * rest for mass in masses[1:]))
            found.append(worlds.with_posterior(masses, posterior, tiny))
        # Between the two rarest symbols only.
        step = masses[0] / 2
        posterior = (masses[0] + step, masses[1] - step, *masses[2:])
        found.append(worlds.with_posterior(masses, posterior, tiny))
    # A rare symbol takes what nearly all others lose, or all but vanishes.
    for least in (Fraction(1, 3), Fraction(19, 20), Fraction(999, 1000)):
        taken = (1 - least * (1 - rare), least * (1 - rare))
        found.append(worlds.with_posterior((rare, 1 - rare), taken, tiny))
    for least, mass in ((Fraction(1, 10**9), Fraction(1, 10)), (Fraction(1, 10**6), rare)):
        left = mass * least
        found.append(worlds.with_posterior((mass, 1 - mass), (left, 1 - left), tiny))
    for size, pull in ((5, Fraction(1)), (40, Fraction(1)), (3, Fraction(1, 1000))):
        # Each output rules one symbol out (or nearly so), all others gain a little.
        masses = worlds.normalised([1] * size)
        parts = [
            (
                Fraction(1, size),
                tuple(
                    (1 - pull) / size if x == y else (1 - (1 - pull) / size) / (size - 1)
                    for x in range(size)
                ),
            )
            for y in range(size)
        ]
        found.append(worlds.from_posteriors(masses, parts))
    # Posterior odds turn against prior odds that nearly use up the bound themselves.
    few, many = Fraction(1, 5), Fraction(4, 5)
    found.append(worlds.with_posterior((few, many), (many, few), tiny))
    return found


@pytest.fixture(scope="module")
def edges() -> list[Facts]:
    first = [Facts(world, HALF) for world in gallery()]
    higher = (Fraction(1), Fraction(2), Fraction(3))
    return first + [facts.at(order) for order in higher for facts in first]


@pytest.mark.parametrize("rule", RULES, ids=rule_name)
def test_every_rule_is_attained(rule: Rule, edges: list[Facts]) -> None:
    """No smaller bound can be proved from the same facts: some world comes within a percent."""
    closest: dict[bool, Fraction] = {}
    one_order = not {rule.gives, *rule.needs} & set(ORDERED)
    for facts in edges:
        if one_order and facts.order != edges[0].order:
            break
        needed = {name: facts.safe(name) for name in rule.needs}
        true = facts[rule.gives]
        if true is None or None in needed.values():
            continue
        exact = {name: value for name, value in needed.items() if value is not None}
        base = 1 if rule.gives in RATIOS or rule.gives in ORDERED[2:] else 0
        if facts.order <= 1 and rule.gives == "alpha_lift":
            base = 0  # at most 1 there, and 1 is what is claimed
        for who in (None, facts.population):
            bound = rule.apply(exact, who, facts.order)
            if bound is not None and true - base > Fraction(1, 10**5):
                gap = (bound - base) / (true - base)
                closest[who is None] = min(gap, closest.get(who is None, gap))
    assert closest
    loose = Fraction(103, 100) if rule_name(rule) in SLOWLY else Fraction(101, 100)
    assert all(1 - Fraction(1, 10**9) <= gap <= loose for gap in closest.values())


SLOWLY = {"total_variation from maximal_leakage"}
"""Attained as the alphabet grows: m/(m-1) with m symbols."""


# --- the whole table ------------------------------------------------------------------------------


def budget(ratio: Fraction) -> Budget:
    return Budget.from_ratio(max(ratio, Fraction(1)))


SOURCES: dict[str, Callable[[Facts], Notion | None]] = {}


def _source(name: str) -> Callable[[Callable[[Facts], Notion]], None]:
    def register(make: Callable[[Facts], Notion]) -> None:
        needs = {"lip": ("eps_upper", "eps_lower"), "alip": ("eps_upper", "eps_lower")}

        def build(facts: Facts) -> Notion | None:
            needed = needs.get(name, (name,))
            return None if any(facts[each] is None for each in needed) else make(facts)

        SOURCES[name] = build

    return register


def exactly(facts: Facts, name: str) -> Fraction:
    value = facts.safe(name)
    assert value is not None
    return value


_source("lip")(lambda f: LIP(budget(max(exactly(f, "eps_upper"), exactly(f, "eps_lower")))))
_source("alip")(
    lambda f: ALIP(lower=budget(exactly(f, "eps_lower")), upper=budget(exactly(f, "eps_upper")))
)
_source("eps_upper")(lambda f: MaxLift(budget(exactly(f, "eps_upper"))))
_source("eps_lower")(lambda f: MinLift(budget(exactly(f, "eps_lower"))))
_source("ldp")(lambda f: LDP(budget(exactly(f, "ldp"))))
_source("identifiability")(lambda f: Identifiability(budget(exactly(f, "identifiability"))))
_source("maximal_leakage")(lambda f: MaximalLeakage(budget(exactly(f, "maximal_leakage"))))
_source("mutual_information")(lambda f: MutualInformation(exactly(f, "mutual_information")))
_source("sibson")(lambda f: Sibson(f.order, exactly(f, "sibson")))
_source("arimoto")(lambda f: Arimoto(f.order, exactly(f, "arimoto")))
_source("total_variation")(lambda f: TotalVariation(exactly(f, "total_variation")))
_source("chi2")(lambda f: Chi2(exactly(f, "chi2")))
_source("l1_lift")(lambda f: L1Lift(exactly(f, "l1_lift")))
_source("chi2_lift")(lambda f: Chi2Lift(exactly(f, "chi2_lift")))
_source("l1_lift_inverse")(lambda f: L1LiftInverse(exactly(f, "l1_lift_inverse")))
_source("chi2_lift_inverse")(lambda f: Chi2LiftInverse(exactly(f, "chi2_lift_inverse")))
_source("alpha_lift")(lambda f: AlphaLift(f.order, exactly(f, "alpha_lift")))
_source("alpha_lift_inverse")(lambda f: AlphaLiftInverse(f.order, exactly(f, "alpha_lift_inverse")))

TARGETS = ("lip", *leakages())


@pytest.mark.parametrize("source", SOURCES)
@settings(max_examples=12)
@given(world=worlds.worlds(zeros=True), order=orders)
def test_what_a_guarantee_implies_is_true(source: str, world: World, order: Fraction) -> None:
    facts = Facts(world, order)
    guarantee = SOURCES[source](facts)
    assume(guarantee is not None)
    assert guarantee is not None
    for context in (None, world.prior):
        lines = table(guarantee, context, order)
        assert tuple(lines) == TARGETS
        for target, line in lines.items():
            note(f"{guarantee}: {line}")
            assert holds(line, facts.nats(target))
            assert line.bound is not None or line.formula


@settings(max_examples=40)
@given(worlds.extremal_worlds(), orders)
def test_what_lift_budgets_imply_is_true_at_the_edge(world: World, order: Fraction) -> None:
    """Mechanisms made of vertices reach the budgets on both sides, equal or not."""
    facts = Facts(world, order)
    guarantee = SOURCES["alip"](facts)
    assert guarantee is not None
    for context in (None, world.prior):
        for target, line in table(guarantee, context, order).items():
            note(str(line))
            assert holds(line, facts.nats(target))


@settings(max_examples=30)
@given(worlds.worlds(), orders, st.sampled_from(sorted(SOURCES)))
def test_a_prior_never_makes_a_bound_worse(world: World, order: Fraction, source: str) -> None:
    facts = Facts(world, order)
    guarantee = SOURCES[source](facts)
    assert guarantee is not None
    free, informed = table(guarantee, None, order), table(guarantee, world.prior, order)
    for target, line in free.items():
        better = informed[target].bound
        if line.bound is not None:
            assert line.bound.upper is not None
            assert better is not None
            assert better.upper is not None
            slack = 1 + Fraction(1, 10**9)  # the closure ignores gains that are rounding
            assert better.upper <= line.bound.upper * slack


@settings(max_examples=25)
@given(worlds.joints(), st.data())
def test_a_secret_behind_the_data(cells: tuple[tuple[int, ...], ...], data: st.DataObject) -> None:
    """With a joint the table is about the secret, whose likelihoods are averages of the rows."""
    joint = worlds.joint_of(cells)
    rows = data.draw(worlds.rows(len(cells[0])))
    masses = joint.secret_prior.fractions
    likelihoods = tuple(
        tuple(
            sum((Fraction(c, sum(row)) * rows[x][y] for x, c in enumerate(row)), Fraction(0))
            for y in range(len(rows[0]))
        )
        for row in cells
    )
    facts = Facts(World(masses, likelihoods), Fraction(2))
    for source in ("lip", "ldp", "l1_lift", "chi2_lift_inverse"):
        guarantee = SOURCES[source](facts)
        assert guarantee is not None
        for line in implications(guarantee, joint, alpha=2):
            note(f"{guarantee}: {line}")
            assert holds(line, facts.nats(line.target))


# --- symbols of probability 0 ---------------------------------------------------------------------


@settings(max_examples=30)
@given(worlds.worlds(), st.sampled_from(["lip", "identifiability", "l1_lift"]), orders)
def test_an_impossible_symbol_has_no_ldp_bound(world: World, source: str, order: Fraction) -> None:
    """LDP speaks of every row; a guarantee under the prior says nothing of that one."""
    facts = Facts(world, order)
    guarantee = SOURCES[source](facts)
    assert guarantee is not None
    size = len(world.masses)
    widened = Prior.from_counts({**dict(enumerate(world.masses)), size: 0})
    revealing = tuple(Fraction(int(y == 0)) for y in range(len(world.rows[0])))
    channel = worlds.channel_of([*world.rows, revealing])
    assert guarantee.certify(channel, widened, impossible="ignore").holds
    lines = table(guarantee, widened, order)
    assert lines["ldp"].bound is None
    assert "probability 0" in lines["ldp"].formula
    # Everything else is about symbols that occur, and stays as it was.
    same = table(guarantee, world.prior, order)
    for target in TARGETS:
        if target != "ldp":
            assert lines[target] == same[target]


def test_ldp_itself_covers_an_impossible_symbol() -> None:
    prior = Prior.from_counts({"a": 1, "b": 3, "never": 0})
    line = table(LDP("1"), prior)["ldp"]
    assert line.bound is not None
    assert line.formula == "given"
    alone = Prior.from_counts({"a": 1, "never": 0})
    assert float(table(LDP("1"), alone)["ldp"].bound or 0) == 1.0


@pytest.mark.parametrize("form", ["def5", "ediv", "joint"])
def test_approximate_lip_says_nothing_of_an_impossible_symbol(form: str) -> None:
    prior = Prior.from_counts({"a": 1, "b": 3, "never": 0})
    line = table(ApproximateLIP("1", "0.01", form), prior)["ldp_delta"]
    assert line.bound is None
    assert "probability 0" in line.formula


def test_a_secret_that_never_occurs_is_no_obstacle() -> None:
    joint = worlds.joint_of([[1, 2], [3, 1], [0, 0]])
    line = {each.target: each for each in implications(LIP("1"), joint)}["ldp"]
    assert line.bound is not None


# --- orders ---------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(worlds.worlds(), orders, orders, st.sampled_from(list(ORDERED)))
def test_another_order_may_be_asked_for(
    world: World, own: Fraction, asked: Fraction, source: str
) -> None:
    guarantee = SOURCES[source](Facts(world, own))
    assert guarantee is not None
    wanted = Facts(world, asked)
    for context in (None, world.prior):
        for line in implications(guarantee, context, alpha=asked):
            note(f"{guarantee} at {asked}: {line}")
            assert holds(line, wanted.nats(line.target))


def test_measures_of_lower_order_are_bounded_and_of_higher_order_not() -> None:
    lower, higher = (table(AlphaLift(2, "1.5"), None, order) for order in ("3/2", 3))
    bound = lower["alpha_lift"].bound
    assert bound is not None
    assert bound.upper == Fraction(3, 2)
    assert higher["alpha_lift"].bound is None
    assert table(Arimoto(2, "0.5"), None, "3/2")["arimoto"].bound is None


def test_the_order_of_the_guarantee_is_the_default() -> None:
    assert (
        table(Sibson(2, "0.5"))["sibson"].bound == table(Sibson(2, "0.5"), None, 2)["sibson"].bound
    )
    assert "sibson" not in table(LIP("1"))


@pytest.mark.parametrize(
    ("guarantee", "alpha"),
    [(AlphaLift("inf", "2"), None), (AlphaLift("inf", "2"), 2), (LIP("1"), "inf")],
)
def test_order_infinity_has_other_names(guarantee: Notion, alpha: object) -> None:
    with pytest.raises(NotDefined, match="eps_upper"):
        implications(guarantee, alpha=alpha)


def test_a_set_of_priors_or_another_kind_of_guarantee_is_refused() -> None:
    family = Family.of([Prior.uniform("ab")])
    with pytest.raises(NotDefined, match="give a prior or a joint"):
        implications(LIP("1"), family)
    with pytest.raises(NotDefined, match="another guarantee"):
        implications(NoBreach("0.1", "0.5"))


# --- epsilon and delta ----------------------------------------------------------------------------


def approximate_sources(world: World, ratio: Fraction) -> list[Notion]:
    epsilon = budget(ratio)
    return [
        ApproximateLDP(epsilon, worlds.delta_ldp(world, ratio)),
        *(
            ApproximateLIP(epsilon, worlds.delta(world, ratio, form), form)
            for form in ("def5", "ediv", "joint")
        ),
    ]


@settings(max_examples=30)
@given(worlds.worlds(zeros=True), worlds.ratios(one=True))
def test_approximate_guarantees_imply_what_is_true(world: World, ratio: Fraction) -> None:
    true = {f"lip_{form}": worlds.delta(world, ratio, form) for form in ("def5", "ediv", "joint")}
    doubled = worlds.delta_ldp(world, ratio**2)
    for guarantee in approximate_sources(world, ratio):
        for context in (None, world.prior):
            for line in implications(guarantee, context):
                note(f"{guarantee}: {line}")
                if line.target in true:
                    assert holds(line, true[line.target])
                elif line.target == "ldp_delta":
                    assert holds(line, doubled)
                    assert line.bound is None or "2 x" in line.formula
                elif line.bound is not None:
                    # Only a delta of 0 says anything without a delta.
                    exact = Facts(world, Fraction(2)).nats(line.target)
                    assert holds(line, exact)


@settings(max_examples=30)
@given(worlds.ratios(), st.fractions(Fraction(1, 10**6), Fraction(1, 10**3)))
def test_approximate_lip_to_ldp_is_attained(ratio: Fraction, delta: Fraction) -> None:
    """2E delta from def5, (E+1) delta from ediv."""
    for form, first, factor in (
        ("def5", 1 / (2 * ratio), 2 * ratio),
        ("ediv", 1 / (1 + ratio), 1 + ratio),
    ):
        loud = factor * delta
        world = World((first, 1 - first), ((loud, 1 - loud), (Fraction(0), Fraction(1))))
        assert worlds.delta(world, ratio, form) == delta
        line = table(ApproximateLIP(budget(ratio), delta, form))["ldp_delta"]
        assert line.bound is not None
        assert line.bound.lower == loud == worlds.delta_ldp(world, ratio**2)


@settings(max_examples=30)
@given(worlds.masses(), worlds.ratios())
def test_approximate_ldp_to_lip_is_attained(masses: Masses, ratio: Fraction) -> None:
    lines = table(ApproximateLDP(budget(ratio), 1), worlds.prior_of(masses))
    world = worlds.identity(masses)
    for form in ("def5", "ediv", "joint"):
        bound = lines[f"lip_{form}"].bound
        assert bound is not None
        assert abs(bound.lower - worlds.delta(world, ratio, form)) < Fraction(1, 2**150)


def test_joint_to_ldp_needs_the_two_rarest_symbols() -> None:
    prior = Prior.from_counts({"a": 1, "b": 2, "c": 7})
    line = table(ApproximateLIP("ln 2", "0.01", "joint"), prior)["ldp_delta"]
    assert line.bound is not None
    assert line.bound.lower == Fraction(1, 100) * (2 / Fraction(1, 10) + 1 / Fraction(1, 5))


def test_a_delta_of_0_is_the_pure_guarantee() -> None:
    prior = Prior.from_counts({"a": 1, "b": 9})
    for approximate, pure in (
        (ApproximateLIP("1", 0, "def5"), LIP("1")),
        (ApproximateLIP("1", 0, "joint"), LIP("1")),
        (ApproximateLDP("1", 0), LDP("1")),
    ):
        lines, expected = table(approximate, prior), table(pure, prior)
        for target in ("lip", "ldp", "identifiability"):
            assert lines[target] == expected[target]


@pytest.mark.parametrize("context", [None, Prior.uniform("ab")])
def test_a_positive_delta_proves_no_pure_guarantee(context: Prior | None) -> None:
    """However small delta is, an output of that mass may reveal everything."""
    tiny = Fraction(1, 10**9)
    fair = (HALF, HALF)
    world = World(fair, ((1 - tiny, tiny), (Fraction(1), Fraction(0))))
    ratio = Fraction(3)
    for guarantee in approximate_sources(world, ratio):
        lines = table(guarantee, context)
        for target in ("lip", "ldp", "identifiability"):
            assert lines[target].bound is None
            assert "delta above 0" in lines[target].formula
    assert worlds.lip_ratio(world) is None
    assert worlds.delta_ldp(world, ratio) == tiny


def test_the_joint_form_alone_bounds_nothing_without_the_prior() -> None:
    """A rare symbol may be revealed at any joint delta."""
    lines = table(ApproximateLIP("1", "0.01", "joint"))
    for target in ("lip_ediv", "lip_def5", "ldp_delta"):
        assert lines[target].bound is None
        assert "prior" in lines[target].formula
    rare = Fraction(1, 1000)
    world = worlds.identity((rare, 1 - rare))
    assert worlds.delta(world, Fraction(2), "joint") < Fraction(1, 100)
    assert (
        worlds.delta(world, Fraction(2), "ediv")
        == worlds.delta(world, Fraction(2), "def5")
        == 1 - rare
    )


# --- what math offers -----------------------------------------------------------------------------


def bound_of(lines: dict[str, Implication], target: str) -> Fraction:
    bound = lines[target].bound
    assert bound is not None
    assert bound.upper is not None
    return bound.upper


def close(value: Fraction, expected: Fraction) -> bool:
    return abs(value - expected) <= Fraction(1, 10**30) * (1 + abs(expected))


def log(value: Fraction) -> Fraction:
    return worlds.natural_log(value)


@settings(max_examples=40)
@given(worlds.masses(), worlds.ratios())
def test_theorem_1_forward_is_offered_exactly(masses: Masses, ratio: Fraction) -> None:
    p = min(masses)
    if len(masses) == 2 and p < 1 / (ratio + 1):
        expected = max(ratio * (1 - p) / (1 - ratio * p), (ratio - p) / (1 - p))
    else:
        expected = min(ratio**2, (ratio - 1 + p) / p)
    lines = table(LIP(budget(ratio)), worlds.prior_of(masses))
    assert close(bound_of(lines, "ldp"), log(expected))
    assert close(bound_of(table(LIP(budget(ratio))), "ldp"), log(ratio**2))


@settings(max_examples=30)
@given(worlds.masses(), worlds.ratios())
def test_theorem_1_converse_is_offered_with_both_sides(masses: Masses, ratio: Fraction) -> None:
    p = min(masses)
    lines = table(LDP(budget(ratio)), worlds.prior_of(masses))
    assert close(bound_of(lines, "eps_lower"), log(p + ratio * (1 - p)))
    assert close(bound_of(lines, "eps_upper"), -log(p + (1 - p) / ratio))
    assert bound_of(lines, "lip") == max(bound_of(lines, "eps_lower"), bound_of(lines, "eps_upper"))


@settings(max_examples=30)
@given(worlds.masses(), worlds.ratios())
def test_theorem_3_is_offered(masses: Masses, ratio: Fraction) -> None:
    spread = max(masses) / min(masses)
    prior = worlds.prior_of(masses)
    forward = bound_of(table(LIP(budget(ratio)), prior), "identifiability")
    assert forward <= log(ratio**2 * spread) + Fraction(1, 10**30)
    p, odds = min(masses), ratio * spread  # DI is never below the prior's own odds
    back = table(Identifiability(budget(odds)), prior)
    assert bound_of(back, "lip") <= log(p + (1 - p) * odds * spread) + Fraction(1, 10**30)
    free = table(LIP(budget(ratio)))
    assert close(bound_of(free, "mutual_information"), log(ratio) * (ratio - 1) / (ratio + 1))
    assert close(bound_of(free, "maximal_leakage"), log(ratio))


@settings(max_examples=30)
@given(worlds.ratios(), worlds.ratios(), orders)
def test_propositions_1_3_and_5_of_002_are_offered(
    down: Fraction, up: Fraction, order: Fraction
) -> None:
    low = 1 / down
    lines = table(ALIP(lower=budget(down), upper=budget(up)), None, order)
    two = (up - 1) * (1 - low)
    assert close(bound_of(lines, "chi2"), two)
    assert close(bound_of(lines, "chi2_lift"), two)
    assert close(bound_of(lines, "total_variation"), two / (up - low))
    assert close(bound_of(lines, "l1_lift"), 2 * two / (up - low))
    expected = (up * log(up) * (1 - low) - low * log(down) * (up - 1)) / (up - low)
    assert close(bound_of(lines, "mutual_information"), expected)
    assert bound_of(lines, "sibson") <= log(up) + Fraction(1, 10**30)
    assert close(bound_of(lines, "arimoto"), log(up) if order != 1 else expected)
    assert close(bound_of(lines, "ldp"), log(up * down))
    assert bound_of(lines, "alpha_lift_inverse") <= down + Fraction(1, 10**30)
    crude = max(down - 1, 1 - 1 / up)
    assert bound_of(lines, "l1_lift_inverse") <= crude
    assert bound_of(lines, "chi2_lift_inverse") <= crude**2
    powered = worlds.exponential(log(up) * (order - 1) / order) if order > 1 else Fraction(1)
    assert bound_of(lines, "alpha_lift") <= powered + Fraction(1, 10**30)


@settings(max_examples=30)
@given(worlds.masses(), st.fractions(Fraction(1, 100), Fraction(1)), orders)
def test_propositions_4_and_6_of_002_are_offered(
    masses: Masses, size: Fraction, order: Fraction
) -> None:
    p, prior = min(masses), worlds.prior_of(masses)
    slack = 1 + Fraction(1, 10**30)

    def at_most(guarantee: Notion, target: str, ratio: Fraction) -> None:
        assert bound_of(table(guarantee, prior), target) <= log(ratio * slack)

    at_most(L1Lift(size), "eps_upper", 1 + size / (2 * p))
    root = worlds.exponential(log(size * (1 - p) / p) / 2)
    at_most(Chi2Lift(size), "eps_upper", 1 + root)
    if size < 2 * p:
        at_most(L1Lift(size), "eps_lower", 1 / (1 - size / (2 * p)))
    if root < 1:
        at_most(Chi2Lift(size), "eps_lower", 1 / (1 - root))
    at_most(L1LiftInverse(size), "eps_lower", (size + p) / p)
    at_most(Chi2LiftInverse(size), "eps_lower", 1 + worlds.exponential(log(size / p) / 2))
    norm = 1 + size
    tail = worlds.exponential(log(p) / order)
    at_most(AlphaLiftInverse(order, norm), "eps_lower", norm / tail)
    at_most(AlphaLift(order, norm), "eps_upper", norm / tail)


@settings(max_examples=15)
@given(worlds.masses(), st.sampled_from([Fraction(3, 2), Fraction(2), Fraction(5)]), st.data())
def test_lift_based_measures_bound_the_min_lift_until_a_symbol_can_vanish(
    masses: Masses, order: Fraction, data: st.DataObject
) -> None:
    """No bound exactly when a posterior without the rarest symbol is allowed."""
    p, prior = min(masses), worlds.prior_of(masses)
    gone = worlds.exponential(-log(1 - p) * (order - 1) / order)
    thresholds: list[tuple[Callable[[Fraction], Notion], Fraction, Fraction]] = [
        (lambda size: MaxLift(budget(size)), 1 / (1 - p), Fraction(1)),
        (lambda size: L1Lift(size), 2 * p, Fraction(0)),
        (lambda size: Chi2Lift(size), p / (1 - p), Fraction(0)),
        (lambda size: AlphaLift(order, size), gone, Fraction(1)),
    ]
    for make, threshold, zero in thresholds:
        above = zero + (threshold - zero) * (1 + Fraction(1, 10**9))
        below = zero + (threshold - zero) * data.draw(
            st.fractions(Fraction(1, 10), Fraction(99, 100), max_denominator=100)
        )
        missing, offered = table(make(above), prior), table(make(below), prior)
        for target in ("eps_lower", "l1_lift_inverse", "ldp", "identifiability"):
            assert missing[target].bound is None
            assert offered[target].bound is not None


# --- directions that do not exist -----------------------------------------------------------------


RARE = [Fraction(1, 10**power) for power in (4, 12, 40)]


def _revealed_rarely(p: Fraction) -> World:
    """A rare symbol that sometimes says its name."""
    return World((p, 1 - p), ((1 - p, p), (Fraction(1), Fraction(0))))


def _raised(p: Fraction) -> World:
    """A rare symbol raised to posterior .1, all others lowered to lift .9."""
    return worlds.with_posterior((p, 1 - p), (Fraction(1, 10), Fraction(9, 10)), HALF)


def _ruled_out(p: Fraction) -> World:
    """A rare symbol that an output excludes."""
    return World((p, 1 - p), ((Fraction(0), Fraction(1)), (HALF, HALF)))


def _sunk(power: int) -> Callable[[Fraction], World]:
    """A rare symbol sunk to a lift L with P / L^power = 1/100."""

    def make(p: Fraction) -> World:
        low = p * 100 if power == 1 else Fraction(10, 1) * worlds.exponential(log(p) / 2)
        return worlds.with_posterior((p, 1 - p), (p * low, 1 - p * low), Fraction(1, 10**6))

    return make


def _constant(p: Fraction) -> World:
    return World((p, 1 - p), ((Fraction(1),), (Fraction(1),)))


def _kept(share: Callable[[int], Fraction]) -> Callable[[int], World]:
    """Randomised response on many symbols."""
    return lambda size: worlds.randomized_response(worlds.normalised([1] * size), share(size))


def _one_of_many(size: int) -> World:
    """One symbol of mass 1/2 against many: an output says which of the two it is."""
    masses = (HALF, *(HALF / size for _ in range(size)))
    yes, no = (Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))
    return World(masses, (yes, *(no for _ in range(size))))


def _two_among_many(share: Fraction, size: int) -> World:
    """Two symbols told apart; all others, spread thin, say either with the same probability."""
    masses = (share / 2, share / 2, *((1 - share) / size for _ in range(size)))
    rows = ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1)))
    return World(masses, (*rows, *((HALF, HALF) for _ in range(size))))


def _few_revealed(size: int) -> World:
    """One common symbol and many rare ones, of mass 1/size together, released as they are."""
    rare = Fraction(1, size)
    return worlds.identity((1 - rare, *(rare / size for _ in range(size))))


FAMILIES: list[list[World]] = [
    [_revealed_rarely(p) for p in RARE],
    [_raised(p) for p in RARE],
    [_ruled_out(p) for p in RARE],
    [_sunk(1)(p) for p in RARE],
    [_sunk(2)(p) for p in RARE],
    [_constant(p) for p in RARE],
    [worlds.identity((p, 1 - p)) for p in RARE],
    [_kept(lambda _: HALF)(size) for size in (4, 16, 64)],
    [_kept(lambda size: Fraction(1, 10 * math.isqrt(size)))(size) for size in (4, 16, 64)],
    [_one_of_many(size) for size in (10, 60, 300)],
    [_two_among_many(Fraction(1, part), size) for part, size in ((2, 40), (5, 400), (11, 1200))],
    [_few_revealed(size) for size in (8, 24, 72)],
]


def leaks_apart(given_: list[Fraction | None], other: list[Fraction | None]) -> bool:
    """Tell whether no bound on the second can follow from the first, along a family.

    Either the first stays (or falls) while the second grows without slowing down or is infinite, or
    the first tends to 0 while the second does not.
    """
    if None in given_:
        return False
    first = [value for value in given_ if value is not None]
    falls = first[2] <= first[0] * Fraction(3, 2)
    if None in other:
        return falls
    second = [value for value in other if value is not None]
    steps = [after - before for before, after in pairwise(second)]
    grows = steps[0] > Fraction(1, 100) and steps[1] >= steps[0] * Fraction(3, 4)
    vanishes = first[2] <= first[0] / 4 and second[2] >= max(second[0] / 2, Fraction(1, 4))
    return (falls and grows) or vanishes


@pytest.fixture(scope="module")
def families() -> list[list[Facts]]:
    return [[Facts(world, Fraction(2)) for world in family] for family in FAMILIES]


def size_of(facts: Facts, name: str) -> Fraction | None:
    """Return a leakage that is 0 for a channel that leaks nothing."""
    value = facts.nats(name)
    return value - 1 if value is not None and name in ORDERED[2:] else value


@pytest.mark.parametrize("source", [name for name in SOURCES if name != "alip"])
def test_what_is_missing_without_the_prior_does_not_exist(
    source: str, families: list[list[Facts]]
) -> None:
    some = Facts(worlds.randomized_response((HALF, HALF), HALF), Fraction(2))
    guarantee = SOURCES[source](some)
    assert guarantee is not None
    for target, line in table(guarantee, None, 2).items():
        if line.bound is not None:
            continue
        found = any(
            leaks_apart(
                [size_of(facts, source) for facts in family],
                [size_of(facts, target) for facts in family],
            )
            for family in families
        )
        assert found, (source, target)


@pytest.mark.parametrize("source", [name for name in SOURCES if name != "alip"])
def test_what_is_missing_with_the_prior_does_not_exist(source: str) -> None:
    """Under one and the same prior: a symbol is ruled out, and the guarantee holds."""
    masses = worlds.normalised([1, 2, 7])
    posterior = (Fraction(0), Fraction(2, 9), Fraction(7, 9))
    facts = Facts(worlds.with_posterior(masses, posterior, Fraction(1, 10**9)), Fraction(2))
    guarantee = SOURCES[source](facts)
    ruled_out = {"lip", "eps_lower", "ldp", "identifiability"}
    ruled_out |= {"l1_lift_inverse", "chi2_lift_inverse", "alpha_lift_inverse"}
    if guarantee is None:
        assert source in ruled_out
        return
    assert guarantee.certify(facts.world.channel, facts.world.prior).holds
    lines = table(guarantee, facts.world.prior, 2)
    assert {target for target, line in lines.items() if line.bound is None} == ruled_out
    assert all(facts.nats(target) is None for target in ruled_out)


AVERAGES = ["mutual_information", "maximal_leakage", "total_variation", "chi2", "sibson", "arimoto"]


@pytest.mark.parametrize("source", SOURCES)
def test_the_reasons_are_about_the_guarantee_that_was_given(source: str) -> None:
    some = Facts(worlds.randomized_response((HALF, HALF), HALF), Fraction(2))
    guarantee = SOURCES[source](some)
    assert guarantee is not None
    lines = table(guarantee, None, 2)
    reasons = {target: line.formula for target, line in lines.items() if line.bound is None}
    assert any("averages" in reason for reason in reasons.values()) == (source in AVERAGES)
    if source in AVERAGES:
        assert all("averages" in reasons[target] for target in ("lip", "ldp", "eps_lower"))
    if source in {"lip", "alip", "ldp"}:
        assert set(reasons) == {"identifiability"}
        assert "needs the prior" in reasons["identifiability"]
    if source == "eps_lower":
        assert "min-lift" not in " ".join(reasons.values())


def test_a_prior_of_one_symbol_leaks_nothing() -> None:
    sure = Prior.from_counts({"only": 1})
    lines = table(MutualInformation("1"), sure, 2)
    assert all(
        bound_of(lines, target) <= (1 if target in ORDERED[2:] else 0) + Fraction(1, 10**9)
        for target in ("lip", "ldp", "identifiability", "chi2", "l1_lift", "alpha_lift")
    )


def test_text_and_json_of_a_line() -> None:
    lines = table(LIP("ln 3"))
    assert str(lines["ldp"]).startswith("ldp <= 2.197224577")
    assert "no bound" in str(lines["identifiability"])
    data = lines["identifiability"].to_data()
    assert data["bound"] is None
    assert data["target"] == "identifiability"
    assert lines["ldp"].to_data()["unit"] == "nats"
    assert abs(lines["ldp"].to_data()["bound"] - 2.1972245773362196) < 1e-15


@pytest.mark.parametrize("name", ["alpha_lift", "alpha_lift_inverse"])
@pytest.mark.parametrize("budget", ["0", "0.3"])
def test_a_guarantee_that_nothing_keeps_is_refused(name: str, budget: str) -> None:
    """The alpha-norm of lifts is at least 1 from order 1 on; far below, the rules contradict."""
    notion = make_notion(name, {"alpha": "2", "budget": budget})
    with pytest.raises(InputError, match="no mechanism keeps this guarantee"):
        implications(notion, Prior.from_counts({"a": 1, "b": 3}))
