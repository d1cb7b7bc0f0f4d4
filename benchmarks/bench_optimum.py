"""The true optimum at sizes where enumeration ends, with the gap that is proved.

Random joints of a secret and X (normalised uniforms), budget epsilon / 2 on each side, mutual
information. "every basis" is complete vertex enumeration: for every set of symbols and every set
of limits that can determine a vertex, solve the system and keep what is feasible (batched numpy),
then one linear programme over all vertices. "listed" is this package's own enumeration (the
double-description method) and the same programme. Times include everything but compiling, which
one small run does first; locking (rounding and the exact proof) has a column of its own.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from itertools import combinations, product

import numpy as np
from rich.console import Group
from rich.table import Table as Grid

from liftlock._runtime.clock import Clock
from liftlock._solver.column_generation import generate_columns
from liftlock._solver.enumeration import EnumeratedOracle
from liftlock._solver.problem import Problem
from liftlock.designs.base import Draft
from liftlock.designs.lock import lock
from liftlock.designs.mechanisms.optimal import optimal
from liftlock.designs.mechanisms.subset_response import subset_response
from liftlock.model import Joint
from liftlock.model.alphabet import Alphabet
from liftlock.notions.lip import ALIP
from liftlock.utility import MutualInformation, mean_cost
from liftlock.utility.symmetric import entropy

GAP = 1e-6
FASTER = 20
LONG = 300.0
"""Seconds for the size whose gap is not closed."""


def random_joint(secrets: int, symbols: int, seed: int) -> Joint:
    """Return a joint of normalised uniforms, as exact counts."""
    cells = np.random.default_rng(seed).random((secrets, symbols))
    counts = (cells * 2**40).astype(np.int64) + 1
    return Joint(
        Alphabet.of(range(secrets)),
        Alphabet.of(range(symbols)),
        tuple(tuple(row) for row in counts.tolist()),
    )


def notion(epsilon: float) -> ALIP:
    """Return half of the budget on each side."""
    return ALIP(lower=str(epsilon / 2), upper=str(epsilon / 2))


def every_basis(problem: Problem) -> np.ndarray:
    """Return all vertices by trying every support and every set of limits that may be met."""
    assert problem.given is not None
    lifts = problem.given / problem.secret_masses[:, None]
    secrets, symbols = lifts.shape
    found = []
    for size in range(1, secrets + 2):
        supports = np.array(list(combinations(range(symbols), size)))
        for rows, limits in _limits(secrets, size - 1, problem):
            systems = np.ones((len(supports), size, size))
            systems[:, 1:, :] = lifts[np.array(rows, dtype=int)][:, supports].transpose(1, 0, 2)
            right = np.broadcast_to(np.array([1.0, *limits]), (len(supports), size))
            regular = np.abs(np.linalg.det(systems)) > 1e-14
            parts = np.linalg.solve(systems[regular], right[regular][..., None])[..., 0]
            points = np.zeros((len(parts), symbols))
            np.put_along_axis(points, supports[regular], parts, axis=1)
            reached = points @ lifts.T
            good = (
                (points >= -1e-12).all(axis=1)
                & (reached <= problem.upper + 1e-10).all(axis=1)
                & (reached >= problem.lower - 1e-10).all(axis=1)
            )
            found.append(points[good])
    return np.vstack(found)


def _limits(
    secrets: int, count: int, problem: Problem
) -> Iterator[tuple[tuple[int, ...], tuple[float, ...]]]:
    for rows in combinations(range(secrets), count):
        for limits in product((problem.lower, problem.upper), repeat=count):
            yield rows, limits


def timed(joint: Joint, epsilon: float, **options: object) -> tuple[Draft, float]:
    """Design, and say how long it took."""
    start = time.perf_counter()
    draft = optimal(joint, notion(epsilon), **options)  # type: ignore[arg-type]
    return draft, time.perf_counter() - start


def small() -> Grid:
    """17 x 5: against complete enumeration."""
    grid = Grid(title="17 x 5: seconds to the optimum, against complete vertex enumeration")
    for name in ("epsilon", "gap", "here s", "listed s", "every basis s", "ratio", "limit", ""):
        grid.add_column(name, justify="right")
    utility = MutualInformation()
    for epsilon in (1.0, 2.0):
        joint = random_joint(5, 17, seed=1)
        draft, _ = timed(joint, epsilon, how="generation")
        ours = min(timed(joint, epsilon, how="generation")[1] for _ in range(5))
        listed = min(timed(joint, epsilon, how="enumeration")[1] for _ in range(5))
        problem = Problem.of(joint, notion(epsilon))
        start = time.perf_counter()
        oracle = EnumeratedOracle(every_basis(problem), utility)
        best = generate_columns(problem.masses, utility, oracle, Clock(gap=GAP))
        slow = time.perf_counter() - start
        proof = draft.optimality
        assert proof is not None
        assert math.isclose(best.cost, proof.cost, abs_tol=2 * GAP * proof.reference)
        ratio = slow / ours
        grid.add_row(
            f"{epsilon:g}",
            f"{proof.gap:.1g}",
            f"{ours:.4f}",
            f"{listed:.4f}",
            f"{slow:.2f}",
            f"{ratio:.0f}",
            str(FASTER),
            "ok" if ratio >= FASTER and proof.gap <= GAP else "MISSED",
        )
    return grid


def large() -> Grid:
    """Sizes beyond enumeration; subset random response beside them."""
    grid = Grid(title="larger: seconds, proved gap, and what subset response reaches")
    heads = ("X x S", "epsilon", "seconds", "gap", "outputs", "I/H", "lock s", "SRR I/H", "SRR s")
    for name in (*heads, ""):
        grid.add_column(name, justify="right")
    for symbols, secrets, limit in ((200, 15, None), (1000, 5, None), (5000, 5, LONG)):
        for epsilon in (1.0, 2.0):
            joint = random_joint(secrets, symbols, seed=2)
            draft, seconds = timed(joint, epsilon, seconds=limit)
            proof = draft.optimality
            assert proof is not None
            start = time.perf_counter()
            lock(draft, notion(epsilon), joint)
            locking = time.perf_counter() - start
            masses = joint.prior.floats()
            own = 1 - proof.cost / float(entropy(masses))
            start = time.perf_counter()
            subset = subset_response(joint, notion(epsilon))
            srr_seconds = time.perf_counter() - start
            cost = mean_cost(MutualInformation(), subset.matrix, masses)
            srr = 1 - cost / float(entropy(masses))
            closed = proof.gap <= GAP or limit is not None
            grid.add_row(
                f"{symbols} x {secrets}",
                f"{epsilon:g}",
                f"{seconds:.1f}",
                f"{proof.gap:.1e}",
                str(len(draft.outputs)),
                f"{own:.6f}",
                f"{locking:.1f}",
                f"{srr:.6f}",
                f"{srr_seconds:.2f}",
                "ok" if closed and own >= srr - 1e-9 else "MISSED",
            )
    return grid


def run() -> Group:
    """Compile with one small run, then measure."""
    optimal(random_joint(3, 9, seed=0), notion(1.0), how="generation")
    return Group(small(), large())
