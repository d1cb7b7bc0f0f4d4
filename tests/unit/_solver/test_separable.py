"""Pricing behind a secret: against brute force over all vertices."""

from itertools import combinations

import numpy as np
import pytest

from liftlock import Alphabet, Joint, Prior
from liftlock._runtime.clock import Clock, SetupTimedOut
from liftlock._solver.column_generation import generate_columns
from liftlock._solver.problem import Problem
from liftlock._solver.separable import rows_oracle
from liftlock.exact.integers import Floats
from liftlock.notions import LIP
from liftlock.utility import CustomUtility, Histogram, Mean, MutualInformation, Utility

BUDGETS: dict[str, tuple[float, float, float | None]] = {
    "both sides": (np.exp(-0.5), np.exp(0.5), None),
    "lower only": (0.6, np.inf, None),
    "upper only": (0.0, 1.5, None),
    "unequal": (0.3, 1.2, None),
    "ratio": (0.0, np.inf, 2.0),
}


def problem(
    rng: np.random.Generator,
    secrets: int,
    inputs: int,
    budget: str,
    *,
    zeros: bool = False,
    same: bool = False,
) -> Problem:
    joint = rng.random((secrets, inputs))
    if zeros:
        joint[rng.random(joint.shape) < 0.3] = 0.0
        joint[0] += 0.01
        joint[1:, 0] += 0.01
    if same:
        joint[:, 1] = joint[:, 0]
        joint[-1] = joint[0]
    joint /= joint.sum()
    masses = joint.sum(axis=0)
    lower, upper, ratio = BUDGETS[budget]
    # The oracle reads the numbers alone, not the context and the notion that they came from.
    unread = Prior.uniform(range(inputs))
    return Problem(
        context=unread,
        notion=LIP("1"),
        inputs=unread.alphabet,
        masses=masses,
        secret_masses=joint.sum(axis=1),
        given=joint / masses,
        lower=lower,
        upper=upper,
        ratio=ratio,
    )


def inequalities(given: Problem) -> Floats:
    """The polytope as rows G v <= 0, for v of sum 1."""
    assert given.given is not None
    lifts = given.given / given.secret_masses[:, None]
    rows = [-np.eye(lifts.shape[1])]
    if given.ratio is not None:
        rows += [lifts[s] - given.ratio * lifts for s in range(len(lifts))]
    else:
        rows.append(given.lower - lifts)
        if np.isfinite(given.upper):
            rows.append(lifts - given.upper)
    return np.concatenate(rows)


def all_vertices(given: Problem) -> Floats:
    rows = inequalities(given)
    n = rows.shape[1]
    found = []
    for chosen in combinations(range(len(rows)), n - 1):
        system = np.vstack([rows[list(chosen)], np.ones(n)])
        if np.linalg.matrix_rank(system, tol=1e-9) < n:
            continue
        point = np.linalg.solve(system, np.eye(n)[-1])
        if (rows @ point <= 1e-9).all():
            found.append(point)
    vertices: Floats = np.clip(np.array(found), 0.0, None)
    return vertices


def utilities(inputs: int, rng: np.random.Generator) -> list[Utility]:
    return [
        MutualInformation(),
        Histogram(),
        Mean(tuple(rng.normal(size=inputs) * 10)),
    ]


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("kind", ["plain", "zeros", "same"])
def test_proofs_agree_with_brute_force(budget: str, kind: str) -> None:
    rng = np.random.default_rng(11)
    secrets, inputs = (2, 5) if budget == "ratio" else (3, 6)
    given = problem(rng, secrets, inputs, budget, zeros=kind == "zeros", same=kind == "same")
    vertices = all_vertices(given)
    rows = inequalities(given)
    for utility in utilities(inputs, rng):
        oracle = rows_oracle(given, utility)
        size = float(utility.costs(given.masses[None, :])[0])
        for _ in range(3):
            duals = size * rng.normal(size=inputs)
            values = utility.costs(vertices) - vertices @ duals
            least = float(values.min())
            # A goal out of reach: the bound must be the minimum itself, never above it.
            bound = oracle.prove(duals, least + 0.1 * size, Clock()).bound
            assert bound <= least + 1e-9 * size
            # A goal just within reach must be reached.
            close = oracle.prove(duals, least - 1e-7 * size, Clock()).bound
            assert least - 1.1e-7 * size <= close <= least + 1e-9 * size
            found = oracle.search(duals - duals @ given.masses, vertices[:1], Clock())
            assert ((rows @ found.T) <= 1e-10).all()
        start = oracle.start()
        assert ((rows @ start.T) <= 1e-10).all()
        assert start.max(axis=0) == pytest.approx(vertices.max(axis=0), abs=1e-9)


def test_search_finds_the_best_vertex_of_small_polytopes() -> None:
    rng = np.random.default_rng(12)
    for _ in range(5):
        given = problem(rng, 3, 7, "both sides")
        vertices = all_vertices(given)
        for utility in (MutualInformation(), Histogram(), Mean(tuple(range(7)))):
            oracle = rows_oracle(given, utility)
            duals = rng.normal(size=7)
            values = utility.costs(vertices) - vertices @ duals
            duals = duals + values.min() + 0.1  # the best costs -0.1
            found = oracle.search(duals, given.masses[None, :], Clock())
            reduced = utility.costs(found) - found @ duals
            assert reduced[0] == pytest.approx(-0.1, abs=1e-9)
            assert (np.diff(reduced) >= -1e-9).all()


@pytest.mark.parametrize("budget", ["both sides", "ratio"])
def test_an_own_cost_is_searched_and_bounded(budget: str) -> None:
    rng = np.random.default_rng(13)
    given = problem(rng, 2, 5, budget)
    own = CustomUtility(lambda v: 1 - (v**2).sum(), symbols=5)
    oracle = rows_oracle(given, own)
    duals = rng.normal(size=5)
    vertices = all_vertices(given)
    least = float((own.costs(vertices) - vertices @ duals).min())
    assert -np.inf < oracle.prove(duals, 0.0, Clock()).bound <= least + 1e-9
    found = oracle.search(duals + least + 0.1, vertices[:1], Clock())
    assert len(found)


@pytest.mark.parametrize("utility", [MutualInformation(), Histogram(), Mean(tuple(range(40)))])
def test_whole_solutions_are_proved(utility: Utility) -> None:
    rng = np.random.default_rng(14)
    given = problem(rng, 4, 40, "both sides")
    solution = generate_columns(
        given.masses, utility, rows_oracle(given, utility), Clock(seconds=30)
    )
    assert solution.gap <= 1e-6
    assert not solution.stopped
    assert np.abs(solution.weights @ solution.columns - given.masses).max() < 1e-9
    assert ((inequalities(given) @ solution.columns.T) <= 1e-9).all()


def test_many_inputs_have_a_region_each_and_the_same_bound() -> None:
    # From 64 inputs on each coordinate has a region of its own; a duplicate of a small problem
    # (every input twice, with equal prices) has the same least cost for a linear-fractional view:
    # here simply compare with the tree over the whole polytope.
    rng = np.random.default_rng(15)
    given = problem(rng, 3, 70, "both sides")
    oracle = rows_oracle(given, MutualInformation())
    solution = generate_columns(given.masses, MutualInformation(), oracle, Clock(seconds=30))
    assert solution.gap <= 1e-6


def test_a_clock_that_has_run_out_stops_the_proof_with_a_true_bound() -> None:
    rng = np.random.default_rng(16)
    given = problem(rng, 3, 6, "both sides")
    oracle = rows_oracle(given, MutualInformation())
    assert oracle.prove(np.zeros(6), 0.0, Clock(seconds=0.0)).bound <= 0.0


class Looks(Clock):
    """A clock whose time is up after so many looks at it."""

    looks = 0

    @property
    def left(self) -> float:
        """Count the looks."""
        self.looks -= 1
        if self.looks < 0:
            self.ended = "clock"
            return 0.0
        return 1e9


def test_setting_up_ends_when_the_time_does() -> None:
    rows = [[1 + (3 * x + s) % 7 for x in range(9)] for s in (0, 2)]
    joint = Joint.from_rows(Alphabet.of("st"), Alphabet.of(range(9)), rows)
    given = Problem.of(joint, LIP("0.5"))
    whole = rows_oracle(given, Histogram()).start()
    clock = Looks()
    with pytest.raises(SetupTimedOut):
        rows_oracle(given, Histogram(), clock)
    clock.looks = 4  # one before, and one for each of three coordinates
    early = rows_oracle(given, Histogram(), clock)
    assert len(early.start()) == 3 < len(whole)
    np.testing.assert_allclose(early.start(), whole[:3])
    solution = generate_columns(given.masses, Histogram(), early, clock)
    assert solution.stopped
    true = generate_columns(given.masses, Histogram(), rows_oracle(given, Histogram()), Clock())
    assert solution.bound <= true.cost
