"""Expected distortion against the plain programme of all pairs, solved by scipy."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from scipy.optimize import linprog

from liftlock import Alphabet, Ball, Context, Family, Intervals, Joint, Prior
from liftlock._solver.channel_programme import least_distortion
from liftlock._solver.problem import Problem
from liftlock.designs import Draft, lock
from liftlock.exact.integers import Floats
from liftlock.notions import ALIP, LDP, LIP, MaxLift, MinLift, Notion
from liftlock.utility import Distortion, Guess


def plain_optimum(masses: Floats, loss: Floats, cuts: Floats) -> float:
    """Solve the programme whose columns q satisfy cuts @ q <= 0, every output on its own."""
    n, outputs = loss.shape
    sums = np.kron(np.eye(n), np.ones((1, outputs)))
    limits = np.vstack([np.kron(cuts, np.eye(outputs)[z]) for z in range(outputs)])
    found = linprog(
        (masses[:, None] * loss).ravel(),
        A_ub=limits,
        b_ub=np.zeros(len(limits)),
        A_eq=sums,
        b_eq=np.ones(n),
        bounds=(0, None),
    )
    assert found.success
    assert found.fun is not None
    return float(found.fun)


def lift_cuts(given: Floats, priors: list[Floats], lower: float, upper: float) -> Floats:
    """Return the rows of L lambda <= P(y | s) <= U lambda for each prior of X."""
    rows = []
    for prior in priors:
        for secret in given:
            if np.isfinite(upper):
                rows.append(secret - upper * prior)
            if lower > 0:
                rows.append(lower * prior - secret)
    return np.array(rows)


def pair_cuts(given: Floats, ratio: float) -> Floats:
    return np.array([a - ratio * b for a, b in permutations(given, 2)])


def check(context: Context, notion: Notion, utility: Distortion | Guess, cuts: Floats) -> None:
    problem = Problem.of(context, notion)
    found = least_distortion(problem, utility)
    loss = 1 - np.eye(len(problem.masses)) if isinstance(utility, Guess) else utility.loss
    expected = plain_optimum(problem.masses, loss, cuts)
    assert found.cost == pytest.approx(expected, abs=1e-8)
    assert found.bound <= expected + 1e-9
    assert found.bound >= expected - 1e-8
    draft = Draft.of(problem.inputs, found.outputs, found.matrix)
    assert lock(draft, notion, context).certificate.holds


def some_prior(n: int, seed: int) -> Prior:
    counts = np.random.default_rng(seed).integers(1, 100, n)
    return Prior.from_counts({x: int(c) for x, c in enumerate(counts)})


def losses(prior: Prior) -> list[Distortion | Guess]:
    return [
        Guess(),
        Distortion.from_name("absolute", prior.alphabet),
        Distortion.from_name("squared", prior.alphabet),
    ]


@pytest.mark.parametrize("kind", range(3))
@pytest.mark.parametrize(
    "notion",
    [LIP("1"), LIP("3"), ALIP(lower="2", upper="0.5"), MaxLift("1"), MinLift("0.4")],
    ids=repr,
)
def test_lifts_of_a_prior(notion: Notion, kind: int) -> None:
    for n in (2, 5, 7):
        prior = some_prior(n, n)
        problem = Problem.of(prior, notion)
        cuts = lift_cuts(np.eye(n), [prior.floats()], problem.lower, problem.upper)
        check(prior, notion, losses(prior)[kind], cuts)


@pytest.mark.parametrize("kind", range(3))
@pytest.mark.parametrize("epsilon", ["0.5", "2"])
def test_staircase_programme_equals_that_of_all_pairs(epsilon: str, kind: int) -> None:
    for n in (2, 5, 8):
        prior = some_prior(n, n)
        cuts = pair_cuts(np.eye(n), float(np.exp(float(epsilon))))
        check(prior, LDP(epsilon), losses(prior)[kind], cuts)


@pytest.mark.parametrize("notion", [LIP("1"), LDP("1"), MaxLift("0.3")], ids=repr)
def test_a_secret_behind_x(notion: Notion) -> None:
    counts = np.random.default_rng(4).integers(0, 50, (3, 6))
    joint = Joint(
        Alphabet.of("abc"), Alphabet.of(range(6)), tuple(tuple(row) for row in counts.tolist())
    )
    given = counts / counts.sum(axis=1, keepdims=True)
    problem = Problem.of(joint, notion)
    if problem.ratio is None:
        cuts = lift_cuts(given, [problem.masses], problem.lower, problem.upper)
    else:
        cuts = pair_cuts(given, problem.ratio)
    check(joint, notion, Guess(), cuts)


def interval_corners(low: list[float], high: list[float]) -> list[Floats]:
    """Return all priors with every entry but one at an end."""
    n = len(low)
    corners = []
    for free in range(n):
        others = [x for x in range(n) if x != free]
        for ends in product((0, 1), repeat=n - 1):
            prior = np.empty(n)
            prior[others] = np.where(ends, np.array(high)[others], np.array(low)[others])
            prior[free] = 1 - prior[others].sum()
            if low[free] - 1e-12 <= prior[free] <= high[free] + 1e-12:
                corners.append(prior)
    return corners


def ball_corners(centre: Floats, radius: float) -> list[Floats]:
    """Take the mass from the symbols in each order, and give it to one."""
    corners = []
    for order in permutations(range(len(centre))):
        for target in range(len(centre)):
            prior, left = np.array(centre, dtype=float), radius
            for x in order:
                if x != target:
                    step = min(left, prior[x])
                    prior[x] -= step
                    prior[target] += step
                    left -= step
            corners.append(prior)
    return corners


@pytest.mark.parametrize("kind", range(3))
@pytest.mark.parametrize("notion", [LIP("1"), ALIP(lower="0.5", upper="2"), MaxLift("1")], ids=repr)
def test_sets_of_priors(notion: Notion, kind: int) -> None:
    first, second = some_prior(4, 1), some_prior(4, 2)
    low, high = ["0.1", "0.05", "0.2", "0.3"], ["0.2", "0.1", "0.4", "0.5"]
    sets: list[tuple[Context, list[Floats]]] = [
        (Family.of([first, second]), [first.floats(), second.floats()]),
        (
            Intervals.of(dict(enumerate(zip(low, high, strict=True)))),
            interval_corners([float(v) for v in low], [float(v) for v in high]),
        ),
        (Ball.of(first, "0.05"), ball_corners(first.floats(), 0.05)),
        (Ball.of(first, "0.4"), ball_corners(first.floats(), 0.4)),
    ]
    for context, corners in sets:
        problem = Problem.of(context, notion)
        cuts = lift_cuts(np.eye(4), corners, problem.lower, problem.upper)
        check(context, notion, losses(first)[kind], cuts)


def test_known_values() -> None:
    rare = Prior.from_probabilities({1: "0.1", 2: "0.2", 3: "0.7"})
    assert least_distortion(Problem.of(rare, LIP("1")), Guess()).cost == pytest.approx(
        0.2230448981, abs=1e-10
    )
    even = Problem.of(Prior.uniform(range(21)), LIP("1"))
    assert least_distortion(even, Guess()).cost == pytest.approx(0.8705580082, abs=1e-10)


@pytest.mark.parametrize(
    ("lower", "upper", "rows"),
    [
        ("0.00789", "1.1e-9", [[59, 3, 1, 45], [11, 5, 10, 29]]),
        ("0.000227", "1.33e-9", [[1, 14, 72], [2, 1, 1]]),
        (
            "0.00000631",
            "2.45e-8",
            [
                [1169, 23, 815827105, 946, 6],
                [18470060, 151048378520, 409696139, 66464459569, 138791699968255],
            ],
        ),
    ],
)
def test_a_programme_that_the_solver_calls_infeasible_proves_nothing(
    lower: str, upper: str, rows: list[list[int]]
) -> None:
    """A constant answer is always allowed; limits of 1e-9 drown in the solver's tolerance."""
    points = np.array([0, 1000000, 2, 3, 4000000][: len(rows[0])])
    inputs = Alphabet.of(points.tolist())
    joint = Joint.from_rows(Alphabet.of(["s", "t"]), inputs, rows)
    loss = np.abs(points[:, None] - points).astype(float)
    found = least_distortion(
        Problem.of(joint, ALIP(lower=lower, upper=upper)), Distortion.of(loss, inputs)
    )
    assert np.isfinite(found.matrix).all()
    np.testing.assert_allclose(found.matrix.sum(axis=1), 1.0, rtol=1e-12)
    # Near a budget of 0 hardly anything is better than the median, and no claim may say so.
    assert found.bound <= found.cost <= found.reference * (1 + 1e-6)
