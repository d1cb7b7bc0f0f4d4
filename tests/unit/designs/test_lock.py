"""Locking: optimal drafts become certified tables at no visible cost, wrong ones are refused."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.sparse as sparse
from scipy.optimize import linprog

from liftlock.alphabet import Alphabet
from liftlock.channel import Channel, Table
from liftlock.context import Ball, Family, Intervals, Joint
from liftlock.designs import Draft, lock
from liftlock.errors import NotCertified, RowError, UnprotectedInput
from liftlock.notions import ALIP, LDP, LIP, ApproximateLIP
from liftlock.prior import Prior

CHUNKS = 13
CHANNELS_PER_CHUNK = 40  # 520 optimal channels in all


def optimal(
    conditional: np.ndarray, prior: np.ndarray, lower: float, upper: float, cost: np.ndarray
) -> tuple[np.ndarray, float]:
    """Solve the LP over channels: least expected cost with every lift between the two ends.

    Variables are q[x, y] and m[y] = sum_x prior[x] q[x, y], the mass of y; then
    P(y|s) = sum_x conditional[s, x] q[x, y] lies between lower m[y] and upper m[y].
    """
    inputs, outputs = cost.shape
    eye = sparse.identity(outputs)
    given = sparse.kron(sparse.csr_matrix(conditional), eye)
    mass = sparse.kron(np.ones((len(conditional), 1)), eye)
    limits: Any = sparse.bmat([[given, -upper * mass], [-given, lower * mass]]).tocsr()
    sums: Any = sparse.kron(sparse.identity(inputs), np.ones((1, outputs)))
    means: Any = sparse.kron(sparse.csr_matrix(prior), eye)
    rows: Any = sparse.bmat([[sums, None], [means, -eye]]).tocsr()
    solution: Any = linprog(
        np.concatenate([(prior[:, None] * cost).ravel(), np.zeros(outputs)]),
        A_ub=limits,
        b_ub=np.zeros(limits.shape[0]),
        A_eq=rows,
        b_eq=np.concatenate([np.ones(inputs), np.zeros(outputs)]),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert solution.status == 0
    return solution.x[: cost.size].reshape(inputs, outputs), float(solution.fun)


def extreme_lifts(table: Table, joint: list[list[int]]) -> tuple[Fraction, Fraction]:
    """Recompute the extreme lifts in plain fractions, from the stored integers alone."""
    total = sum(sum(row) for row in joint)
    counts = [sum(column) for column in zip(*joint, strict=True)]
    # Over one denominator, P(y|s) are whole numbers, and only the extremes become fractions.
    scale = math.lcm(*(sum(row) for row in joint))
    shares = [[(x, c * (scale // sum(row))) for x, c in enumerate(row) if c] for row in joint]
    largest, smallest = Fraction(0), Fraction(10**9)
    for column in zip(*table.weights.tolist(), strict=True):
        mass = sum(c * weight for c, weight in zip(counts, column, strict=True))
        if not mass:
            continue
        given = [sum(share * column[x] for x, share in row) for row in shares]
        largest = max(largest, Fraction(max(given) * total, scale * mass))
        smallest = min(smallest, Fraction(min(given) * total, scale * mass))
    return largest, smallest


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_optimal_channels_are_certified_at_no_cost(chunk: int) -> None:
    """520 random LP optima of sizes 2 to 40: each certified, each within 1e-9 of its optimum."""
    rng = np.random.default_rng(20_000 + chunk)
    for number in range(CHANNELS_PER_CHUNK):
        # Over the chunks every size from 2 to 40 comes up; small ones more often, for time.
        size = 2 + (number + chunk) % 39
        if number % 2 and size > 16:
            size = int(rng.integers(2, 16))
        lower = Fraction(int(rng.integers(50, 3000)), 1000)
        upper = lower if number % 3 else Fraction(int(rng.integers(50, 3000)), 1000)
        cost = rng.random((size, size)) if number % 2 else 1.0 - np.eye(size)
        labels = [f"x{i}" for i in range(size)]
        if number % 4 == 3:
            joint = rng.integers(0, 200, (5, size))
            joint[0, joint.sum(axis=0) == 0] = 1
            joint[joint.sum(axis=1) == 0, 0] = 1
            table = joint.tolist()
            context: Prior | Joint = Joint.from_rows(
                Alphabet.of(range(5)), Alphabet.of(labels), table
            )
        else:
            counts = rng.integers(1, 1000, size)
            joint = np.diag(counts)
            table = joint.tolist()
            context = Prior.from_counts(
                (label, int(count)) for label, count in zip(labels, counts, strict=True)
            )
        prior = joint.sum(axis=0) / joint.sum()
        conditional = joint / joint.sum(axis=1, keepdims=True)
        matrix, best = optimal(
            conditional, prior, float(np.exp(-float(lower))), float(np.exp(float(upper))), cost
        )
        notion = ALIP(lower=lower, upper=upper) if lower != upper else LIP(lower)
        locked = lock(Draft.of(labels, range(size), matrix), notion, context)

        assert locked.certificate.holds
        kept = np.array(locked.channel.outputs.labels, dtype=np.intp)
        reached = float((prior[:, None] * cost[:, kept] * locked.channel.floats()).sum())
        assert abs(reached - best) <= 1e-9
        # The promise, checked without the code that made it.
        largest, smallest = extreme_lifts(locked.channel, table)
        with mpmath.workdps(60):
            assert mpmath.mpf(largest.numerator) / largest.denominator <= mpmath.exp(
                mpmath.mpf(upper.numerator) / upper.denominator
            )
            assert mpmath.mpf(smallest.numerator) / smallest.denominator >= mpmath.exp(
                -mpmath.mpf(lower.numerator) / lower.denominator
            )


def boundary_coin(epsilon: float) -> Draft:
    """Return the binary response whose max-lift is exactly e^epsilon under a uniform prior."""
    high = float(np.exp(epsilon)) / 2
    return Draft.of(["a", "b"], ["a", "b"], [[high, 1 - high], [1 - high, high]])


def test_naive_rounding_of_a_boundary_channel_fails_and_lock_repairs_it() -> None:
    prior = Prior.uniform(["a", "b"])
    notion = ALIP(lower="5", upper="0.3")
    repaired = 0
    for step in range(40):
        draft = boundary_coin(0.3 + step * 2e-16)
        locked = lock(draft, notion, prior)
        repaired += locked.blend > 0
        assert locked.moved < 1e-14
    assert repaired > 0


def test_noise_outputs_are_dropped_before_they_leak() -> None:
    """A residue of 1e-16 on one input alone would have infinite leakage."""
    draft = Draft.of(["a", "b"], ["a", "b", "noise"], [[0.6, 0.4, 1e-16], [0.4, 0.6, 0.0]])
    locked = lock(draft, LIP("1"), Prior.uniform(["a", "b"]))
    assert locked.dropped == ("noise",)
    assert locked.channel.outputs.labels == ("a", "b")


def test_a_wrong_design_is_refused_with_witness_and_smallest_budget() -> None:
    prior = Prior.from_probabilities({"a": "0.1", "b": "0.2", "c": "0.7"})
    keep = 1 - np.exp(-1.0)
    published = keep * np.eye(3) + (1 - keep) * prior.floats()
    with pytest.raises(NotCertified) as refused:
        lock(Draft.of(prior.alphabet, prior.alphabet, published), LIP("1"), prior)
    assert "1.900477" in refused.value.smallest
    assert refused.value.certificate.claims[0].witness is not None
    assert refused.value.certificate.claims[0].witness.secret == "a"
    assert not refused.value.certificate.holds


def test_the_smallest_budget_named_in_a_refusal_really_passes() -> None:
    prior = Prior.from_probabilities({"a": "0.1", "b": "0.2", "c": "0.7"})
    draft = Draft.of(prior.alphabet, prior.alphabet, 0.5 * np.eye(3) + 0.5 * prior.floats())
    with pytest.raises(NotCertified) as refused:
        lock(draft, LIP("0.1"), prior)
    budget = refused.value.smallest.removeprefix("lip=")
    assert lock(draft, LIP(budget), prior).blend == 0


@pytest.mark.parametrize(
    "context",
    [
        Family.of([Prior.from_counts({"a": 1, "b": 1}), Prior.from_counts({"a": 1, "b": 2})]),
        Intervals.of({"a": ("0.3", "0.6"), "b": ("0.4", "0.7")}),
        Ball.of(Prior.uniform(["a", "b"]), "0.1"),
    ],
    ids=["family", "intervals", "ball"],
)
def test_sets_of_priors_lock_on_their_boundary(context: Family | Intervals | Ball) -> None:
    draft = Draft.of(["a", "b"], ["a", "b"], [[0.7, 0.3], [0.3, 0.7]])
    with pytest.raises(NotCertified) as refused:
        lock(draft, LIP("0.01"), context)
    budget = refused.value.smallest.removeprefix("lip=")
    locked = lock(draft, LIP(budget), context)
    assert locked.certificate.holds
    assert float(locked.blend) < 1e-6


def test_other_notions_lock_on_their_boundary() -> None:
    prior = Prior.uniform(["a", "b"])
    keep = float(np.exp(0.7) / (1 + np.exp(0.7)))
    draft = Draft.of(["a", "b"], ["a", "b"], [[keep, 1 - keep], [1 - keep, keep]])
    assert lock(draft, LDP("0.7"), prior).certificate.holds
    assert lock(draft, ApproximateLIP("0", "0.2", "ediv"), prior).certificate.holds


def test_an_exact_channel_can_be_locked_too() -> None:
    channel = Channel.from_rows({"a": {"y": "1/3", "z": "2/3"}, "b": {"y": "2/3", "z": "1/3"}})
    locked = lock(channel, LIP("1"), Prior.uniform(["a", "b"]), bits=20)
    assert locked.channel.bits == 20
    assert locked.moved < 2**-19


def test_impossible_inputs_are_refused_or_declared() -> None:
    prior = Prior.from_counts({"a": 1, "b": 1, "c": 0})
    draft = Draft.of("abc", "yz", [[0.6, 0.4], [0.4, 0.6], [1.0, 0.0]])
    with pytest.raises(UnprotectedInput) as refused:
        lock(draft, LIP("1"), prior)
    assert refused.value.labels == ("c",)
    assert lock(draft, LIP("1"), prior, impossible="ignore").certificate.unprotected == ("c",)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0.5, 0.4], [0.5, 0.5]], "row does not sum to 1"),
        ([[float("nan"), 1.0], [0.5, 0.5]], "not a number of 0 or more"),
        ([[-0.1, 1.1], [0.5, 0.5]], "not a number of 0 or more"),
        ([[float("inf"), 0.0], [0.5, 0.5]], "not a number of 0 or more"),
    ],
)
def test_drafts_that_are_no_channels_are_refused(matrix: list[list[float]], message: str) -> None:
    with pytest.raises(RowError, match=message):
        Draft.of("ab", "yz", matrix)
