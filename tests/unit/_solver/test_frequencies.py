"""The optimum for unbiased shares, against brute force: all vertices, and a solver of others."""

from __future__ import annotations

import time
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

import liftlock as ll
from liftlock._runtime.clock import Clock
from liftlock._solver.frequencies import bound_by_moments, bound_by_ratio, mix
from liftlock._solver.problem import Problem, Solution, Task
from liftlock._solver.strategies import solve
from liftlock.errors import InputError
from liftlock.exact.integers import Floats
from liftlock.model import Context
from liftlock.notions import Notion
from liftlock.utility import Frequencies
from tests.brute_force import brute_vertices, ldp_cuts, lift_cuts

PRIORS = {
    2: ll.Prior.from_counts({"a": 2, "b": 5}),
    3: ll.Prior.from_counts({"a": 7, "b": 2, "c": 1}),
    4: ll.Prior.from_counts({"a": 3, "b": 5, "c": 1, "d": 7}),
}
JOINT = ll.Joint.from_rows(
    ll.Alphabet.of("st"), ll.Alphabet.of([1, 2, 3, 4]), [[3, 8, 1, 6], [5, 2, 7, 12]]
)
NOTIONS: tuple[Notion, ...] = (ll.LIP("0.6"), ll.ALIP(lower="1.1", upper="0.5"), ll.LDP("0.8"))
CASES = {
    f"{name}-{notion}": (context, notion)
    for (name, context), notion in product([*PRIORS.items(), ("joint", JOINT)], NOTIONS)
}


def variances(lifts: Floats, weights: Floats, masses: Floats) -> Floats:
    """(J^-1)_xx - P(x)^2 by LAPACK."""
    found: Floats = np.diag(np.linalg.inv((lifts.T * weights) @ lifts)) - masses**2
    return found


def slsqp(cost: Any, start: Floats, **limits: Any) -> Any:
    """Minimise by a solver that shares nothing with ours."""
    any_minimize: Any = minimize
    return any_minimize(
        cost, start, method="SLSQP", options={"ftol": 1e-12, "maxiter": 500}, **limits
    )


def brute_least(vertices: Floats, masses: Floats, *, worst: bool) -> float:
    """Minimise over the weights of all vertices: SLSQP from several feasible starts."""
    lifts = vertices / masses
    count = len(lifts)
    starts = []
    for seed in range(6):
        costs = np.random.default_rng(seed).random(count)
        corner = linprog(costs, A_eq=lifts.T, b_eq=np.ones(len(masses)), bounds=(0, None)).x
        starts.append(np.asarray(corner))
    centre = np.mean(starts, axis=0)

    def cost(weights: Floats) -> float:
        each = variances(lifts, np.maximum(weights, 0) + 1e-14, masses)
        return float(each.max() if worst else each.sum())

    found = np.inf
    for start in (centre, 0.9 * centre + 0.1 * starts[0]):
        if worst:  # with the level as a variable, so that it is smooth
            result = slsqp(
                lambda x: x[-1],
                np.append(start, cost(start)),
                bounds=[(0, 1)] * count + [(0, None)],
                constraints=[
                    {"type": "eq", "fun": lambda x: lifts.T @ x[:-1] - 1},
                    {
                        "type": "ineq",
                        "fun": lambda x: x[-1] - variances(lifts, x[:-1] + 1e-14, masses),
                    },
                ],
            )
            value = cost(result.x[:-1])
        else:
            result = slsqp(
                cost,
                start,
                bounds=[(0, 1)] * count,
                constraints=[{"type": "eq", "fun": lambda x: lifts.T @ x - 1}],
            )
            value = cost(result.x)
        found = min(found, value)
    return found


def vertices_of(problem: Problem) -> Floats:
    """All extreme posteriors, by trying every set of active limits."""
    masses = problem.masses
    given = np.eye(len(masses)) if problem.given is None else problem.given
    if problem.ratio is not None:
        cuts = ldp_cuts(given, problem.secret_masses, problem.ratio)
    else:
        cuts = lift_cuts(given, problem.secret_masses, problem.lower, problem.upper)
    return brute_vertices(cuts, len(masses))


def solved(context: Context, notion: Notion, *, worst: bool = False, how: str = "auto") -> Solution:
    return solve(Task(Problem.of(context, notion), Frequencies(worst), Clock(), how))


@pytest.mark.parametrize("worst", [False, True], ids=["sum", "worst"])
@pytest.mark.parametrize("name", CASES)
def test_it_is_the_optimum_of_all_vertices(name: str, worst: bool) -> None:
    context, notion = CASES[name]
    problem = Problem.of(context, notion)
    least = brute_least(vertices_of(problem), problem.masses, worst=worst)
    found = solved(context, notion, worst=worst)
    assert found.proof.cost == pytest.approx(least, rel=2e-6)
    assert found.proof.bound <= least * (1 + 1e-9)
    assert found.gap <= 1e-6
    own = variances(
        (found.matrix / (problem.masses @ found.matrix)).T,
        problem.masses @ found.matrix,
        problem.masses,
    )
    assert found.proof.cost == pytest.approx(own.max() if worst else own.sum(), rel=1e-7)


def corners(context: Context) -> list[list[float]]:
    """The extreme priors of intervals of three values: two at an end, the third what is left."""
    assert isinstance(context, ll.Intervals)
    ends = [(float(a), float(b)) for a, b in zip(context.lower, context.upper, strict=True)]
    found = []
    for first, second, last in permutations(range(3)):
        for one, two in product(ends[first], ends[second]):
            rest = 1 - one - two
            if ends[last][0] - 1e-12 <= rest <= ends[last][1] + 1e-12:
                prior = [0.0] * 3
                prior[first], prior[second], prior[last] = one, two, rest
                found.append(prior)
    return found


@pytest.mark.parametrize("worst", [False, True], ids=["sum", "worst"])
def test_sets_of_priors_limit_the_lifts_under_each(worst: bool) -> None:
    intervals = ll.Intervals.of({"a": ("3/5", "3/4"), "b": ("3/20", "1/4"), "c": ("2/25", "3/20")})
    family = ll.Family.of([PRIORS[3], ll.Prior.from_counts({"a": 6, "b": 2, "c": 2})])
    lower, upper = np.exp(-1.0), np.e
    for context, priors in (
        (intervals, corners(intervals)),
        (family, [prior.floats().tolist() for prior in family.priors]),
    ):
        problem = Problem.of(context, ll.LIP("1"))
        masses, rows = problem.masses, []
        for prior in priors:
            for x in range(3):
                lift = np.eye(3)[x] / masses
                rows += [lift - upper * np.array(prior) / masses]
                rows += [lower * np.array(prior) / masses - lift]
        least = brute_least(brute_vertices(np.array(rows), 3), masses, worst=worst)
        for how in ("auto", "generation"):
            found = solved(context, ll.LIP("1"), worst=worst, how=how)
            assert found.proof.bound <= least * (1 + 1e-9)
            assert found.proof.cost >= least * (1 - 1e-6)
            assert found.proof.cost == pytest.approx(least, rel=2e-6 if how == "auto" else 0.02)
        made = ll.design(context, ll.LIP("1"), utility=Frequencies(worst))
        assert made.certificate.holds


@pytest.mark.parametrize("notion", [ll.LIP("1"), ll.LDP("1")], ids=str)
@pytest.mark.parametrize("size", [4, 7, 9])
def test_the_bound_by_moments_is_below_the_optimum(size: int, notion: Notion) -> None:
    """Where posteriors are searched, not listed, nothing may be claimed that is not so."""
    prior = ll.Prior.from_counts({k: 5040 // k for k in range(1, size + 1)})
    for worst in (False, True):
        exact = solved(prior, notion, worst=worst)
        searched = solved(prior, notion, worst=worst, how="generation")
        assert exact.gap <= 1e-6
        assert searched.proof.bound <= exact.proof.cost * (1 + 1e-9)
        assert searched.proof.cost >= exact.proof.bound * (1 - 1e-9)
        assert searched.proof.cost <= 1.02 * exact.proof.cost


def test_no_mechanism_is_below_a_bound() -> None:
    """Random mechanisms that keep the budget, of every kind that a search might not think of."""
    size, generator = 6, np.random.default_rng(5)
    prior = ll.Prior.from_counts({k: 60 // k for k in range(1, size + 1)})
    masses = prior.floats()
    bounds = {
        str(notion): (notion, solved(prior, notion).proof.bound)
        for notion in (ll.LIP("1"), ll.LDP("1"))
    }
    for _ in range(200):
        table = generator.dirichlet(np.full(12, 0.2), size=size) + 1e-9
        table /= table.sum(axis=1, keepdims=True)
        for notion, bound in bounds.values():
            # Mixed with its own output law until it just keeps the budget.
            law = masses @ table
            low, high = 0.0, 1.0
            for _ in range(60):
                share = (low + high) / 2
                mixed = share * table + (1 - share) * law
                lifts = mixed / law
                if notion.ratio_limit is None:
                    keeps = lifts.max() <= np.e and lifts.min() >= 1 / np.e
                else:
                    keeps = (mixed.max(axis=0) <= np.e * mixed.min(axis=0)).all()
                low, high = (share, high) if keeps else (low, share)
            mixed = low * table + (1 - low) * law
            assert Frequencies().cost_of(mixed, masses) >= bound


def test_second_moments_of_uniform_values_have_a_closed_form() -> None:
    """All values alike: J = a I + b 11' with J_xx = k and row sums m, so tr J^-1 is known."""
    for size, moment in ((3, 1.2), (7, 1.5), (20, 2.5)):
        step = (moment - 1) * size / (size - 1)
        expected = (size - 1) / step + 1 / size
        found = bound_by_moments(np.full(size, 1 / size), np.ones(size), np.full(size, moment))
        assert found <= expected
        assert found == pytest.approx(expected, rel=1e-6)
        ratio = 1 + moment
        least = 4 * ratio / (ratio - 1) ** 2 * (size - 1) ** 2 / size + 1 / size
        found = bound_by_ratio(np.full(size, 1 / size), np.ones(size), ratio)
        assert found <= least
        assert found == pytest.approx(least, rel=1e-6)


def test_subset_selection_attains_the_bound_of_ratios() -> None:
    """With E = 3 and 8 values, sets of two: the known optimum, which nothing can beat."""
    prior = ll.Prior.uniform(range(8))
    found = solved(prior, ll.LDP("ln 3"), how="generation")
    made = ll.design(prior, ll.LDP("ln 3"), method="subset-selection", utility="frequencies")
    assert made.origin is not None
    assert made.origin.objective == pytest.approx(found.proof.bound, rel=1e-4)
    assert found.proof.bound <= made.origin.objective


@pytest.mark.parametrize(
    ("size", "gain"), [(3, 2.55), (5, 2.92), (10, 3.06)], ids=["three", "five", "ten"]
)
def test_a_report_under_lip_is_worth_several_under_ldp(size: int, gain: float) -> None:
    whole = 2520
    prior = ll.Prior.from_counts({k: whole // k for k in range(1, size + 1)})
    lip, ldp = solved(prior, ll.LIP("1")), solved(prior, ll.LDP("1"))
    assert ldp.proof.cost / lip.proof.cost >= gain - 0.01
    for method in ("k-rr", "subset-selection", "oue"):
        made = ll.design(prior, ll.LDP("1"), method=method, utility="frequencies")
        assert made.origin is not None
        assert made.origin.objective >= ldp.proof.bound


def test_many_values_are_searched_and_bounded() -> None:
    prior = ll.Prior.from_counts({k: 10**6 // k for k in range(1, 25)})
    problem = Problem.of(prior, ll.LIP("1"))

    def limited() -> Clock:
        """A limit of work that the clock on the wall of a busy machine does not cut short."""
        return Clock(seconds=2.0, started=time.monotonic() + 100)

    found, again = (solve(Task(problem, Frequencies(), limited())) for _ in range(2))
    assert found.gap <= 0.05
    assert found.matrix.tobytes() == again.matrix.tobytes()
    many = ll.Prior.uniform(range(300))
    with pytest.raises(InputError, match="more than 256 values"):
        ll.design(many, ll.LIP("1"), utility="frequencies")


def test_tiny_budgets_and_none() -> None:
    prior = PRIORS[3]
    small = ll.design(prior, ll.LIP("1e-3"), utility="frequencies")
    assert small.origin is not None
    # Variances grow as 1 / epsilon^2.
    tenth = ll.design(prior, ll.LIP("1e-2"), utility="frequencies")
    assert tenth.origin is not None
    assert small.origin.objective / tenth.origin.objective == pytest.approx(100, rel=0.05)
    assert small.origin.gap is not None
    assert small.origin.gap <= 1e-5
    none = ll.design(prior, ll.LIP("0"), utility="frequencies")
    assert none.origin is not None
    assert none.origin.objective == np.inf


def test_weights_are_those_of_another_solver() -> None:
    generator = np.random.default_rng(2)
    masses = np.array([0.5, 0.3, 0.2])
    rows = 1 + 0.5 * generator.uniform(-1, 1, (8, 3))
    rows = np.vstack([rows, 2 - rows])
    rows = rows / (rows @ masses)[:, None]
    # The mean of rows has to be 1: with this prior, only some mixtures have it.
    for worst in (False, True):
        found = mix(rows, masses, Clock(), worst=worst)
        least = brute_least(rows * masses, masses, worst=worst)
        if found is None:
            continue
        each = np.diag(found.inverse) - masses**2
        assert float(each.max() if worst else each.sum()) == pytest.approx(least, rel=1e-6)


def test_prices_are_right_before_the_search_ends() -> None:
    """The least over the six staircases, by SLSQP from several starts, is 0.1685094072."""
    prior = ll.Prior.from_counts({"a": 100, "b": 2, "c": 3})
    origin = ll.design(prior, ll.LDP("4"), utility="frequencies").origin
    assert origin is not None
    assert origin.objective == pytest.approx(0.16850940725, rel=1e-6)
    assert origin.gap is not None
    assert origin.gap <= 1e-6


def test_the_worst_value_has_a_mechanism_where_its_own_search_fails() -> None:
    """Releasing nothing was said to be all that was found."""
    joint = ll.Joint.from_counts({0: {0: 8, 1: 21, 2: 5, 3: 17}, 1: {0: 12, 1: 0, 2: 2, 3: 5}})
    origin = ll.design(joint, ll.LIP("0.2"), utility="frequencies-worst").origin
    assert origin is not None
    assert origin.bound is not None
    assert origin.bound <= origin.objective < 3.1
