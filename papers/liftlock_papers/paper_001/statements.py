"""Statements of paper 001 that no figure shows: its optima, and the steps of their proofs."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np

import liftlock as ll
from liftlock_papers.figure import Finding, Statement, Verdict
from liftlock_papers.paper_001.judging import percent
from liftlock_papers.paper_001.releases import (
    Aim,
    bit,
    error_of,
    leakage_of,
    optimum,
    published,
    response,
)
from liftlock_papers.points import Floats

ONE = Fraction(1)
RARE = bit(Fraction(1, 10))
THREE = ll.Prior.from_probabilities({1: "0.1", 2: "0.2", 3: "0.7"})
EVEN = ll.Prior.uniform([1, 2, 3])
TWO_OUTPUTS = ll.Prior.from_probabilities({1: "0.23", 2: "0.03", 3: "0.74"})
SKEWS = tuple(Fraction(k, 20) for k in range(1, 11))
BUDGETS = tuple(map(Fraction, ("1/2", "1", "3/2", "2", "3")))
KEEPS = "It is, exactly where no value is rarer than 1/(e^ε + 1); elsewhere it breaks the budget"
"""When the published response is the optimum."""


# --- optima ---------------------------------------------------------------------------------------


def _binary_optimum() -> Finding:
    places = kept = best = 0
    for share, epsilon in product(SKEWS, BUDGETS):
        made = published(bit(share), epsilon)
        holds = leakage_of(made) <= float(epsilon) + 1e-9
        if holds != (share * (math.exp(epsilon) + 1) >= 1):
            raise AssertionError("the condition is another one")
        places, kept = places + 1, kept + holds
        least = error_of(optimum(bit(share), epsilon, "mean"), "mean")
        best += holds and math.isclose(error_of(made, "mean"), least, rel_tol=1e-8)
    made = published(RARE, ONE)
    return Finding(
        "q0 = P1/e^ε, q1 = (1 − P1)/e^ε has the least squared error under ε-LIP, P1(1 − P1)(2e^-ε "
        "− e^-2ε), for any ε",
        Verdict.of(kept == places),
        f"P1 = 0.1, ε = 1: its error {error_of(made, 'mean'):.4f} comes with a leakage of "
        f"{leakage_of(made):.2f}; the least under 1-LIP is "
        f"{error_of(optimum(RARE, ONE, 'mean'), 'mean'):.4f}. It keeps ε at {kept} of {places} "
        f"places, and is the optimum at {best} of them",
        f"{KEEPS}, and the least error is p(1 − p) − p² (e^ε − 1)²/e^ε for p = min(P1, 1 − P1)",
    )


def _optimum_of_three(goal: Aim) -> Finding:
    """Thm 3 for the sum of numbers, Thm 5 for the histogram."""
    asked: dict[Aim, tuple[str, str]] = {
        "mean": ("squared error of X in {1, 2, 3}", "the sum of numbers (29)"),
        "histogram": ("squared error of the histogram", "the histogram (32)"),
    }
    what, problem = asked[goal]
    made, best = published(THREE, ONE), optimum(THREE, ONE, goal)
    even, least = published(EVEN, ONE), optimum(EVEN, ONE, goal)
    same = math.isclose(error_of(even, goal), error_of(least, goal), rel_tol=1e-6)
    return Finding(
        f"q_mm = 1 − (1 − P_m)/e^ε, q_mk = P_k/e^ε is the optimum of {problem} under ε-LIP",
        Verdict.of(leakage_of(made) <= 1),
        f"P = (0.1, 0.2, 0.7), ε = 1: {what} {error_of(made, goal):.4f} with a leakage of "
        f"{leakage_of(made):.2f}; the least under 1-LIP is {error_of(best, goal):.4f}. For three "
        f"even values it keeps 1-LIP and is {'the' if same else 'no'} optimum, "
        f"{error_of(least, goal):.4f}",
        f"{KEEPS}. For d values that needs ε ≥ ln(d − 1)",
    )


def _output_range() -> Finding:
    """Fewer outputs than inputs can be as good as any number of them."""
    epsilon = Fraction(1, 10)
    made = ll.design(TWO_OUTPUTS, ll.LIP(epsilon), utility="mean")
    outputs = len(made.table.outputs)
    assert made.origin is not None
    gap = f"{made.origin.gap:.0e}" if made.origin.gap else "0"
    return Finding(
        "The optimal output range f* is the size d of the input; a smaller one has a larger error",
        Verdict.of(outputs == len(TWO_OUTPUTS.labels)),
        f"P = (0.23, 0.03, 0.74), ε = 0.1: {outputs} outputs have the least squared error under "
        f"ε-LIP, {made.origin.objective:.6f}, with a proved gap of at most {gap}",
        "d outputs always suffice, and fewer may do",
    )


def _both_errors() -> Finding:
    made = optimum(RARE, ONE, "mean").table.floats()
    wrong = float(0.9 * made[0, 1] + 0.1 * made[1, 0])
    return Finding(
        "The response of Thm 2 has the least squared and the least absolute error at once",
        Verdict.of(wrong <= 0.1),
        f"P1 = 0.1, ε = 1: the channel of the least squared error is wrong with probability "
        f"{wrong:.4f}, always saying 0 with probability 0.1",
        "Only if 1/2 lies within the posteriors that the budget allows, for p = min(P1, 1 − P1) "
        "that is p ≥ e^-ε/2; else the least absolute error is that of a constant answer",
    )


def _skewness() -> Finding:
    """Compare the best under LIP with the best under LDP, which for two values is response."""
    gains = {}
    for share in (Fraction(1, 2), Fraction(3, 10), Fraction(1, 10), Fraction(1, 20)):
        prior = bit(share)
        ldp = error_of(response(prior, ONE, "mean"), "mean")
        gains[share] = 1 - error_of(optimum(prior, ONE, "mean"), "mean") / ldp
    own = [_printed_gap(float(share)) for share in (Fraction(1, 2), Fraction(1, 10))]
    told = ", ".join(f"{percent(gain)} at {float(share):g}" for share, gain in gains.items())
    grows = all(gains[a] < gains[b] for a, b in zip(gains, list(gains)[1:], strict=False))
    return Finding(
        "As |P1 − 1/2| grows, so does the advantage of LIP over LDP in squared error",
        Verdict.of(grows),
        f"ε = 1: LIP saves {told}; by the paper's own formulas (21) and (24) the difference falls "
        f"from {own[0]:.4f} at P1 = 0.5 to {own[1]:.4f} at 0.1",
        "For two values and a given budget the advantage vanishes with skewness: belief in a rare "
        "value may hardly rise",
    )


def _printed_gap(share: float) -> float:
    """Eq. (24) minus eq. (21), at a budget of 1."""
    spread, e = share * (1 - share), math.e
    ldp = spread - (spread * (1 - e)) ** 2 / ((1 - share + share * e) * (e - share * e + share))
    return ldp - spread * (2 / e - 1 / e**2)


# --- the steps of the proofs ----------------------------------------------------------------------


def _monotone() -> Finding:
    """App. A steps 1 and 2, in fractions on a grid of flips."""
    steps = [Fraction(k, 20) for k in range(1, 20)]
    step = steps[0]
    falls = symmetric = places = 0
    for p, q0, q1 in product((Fraction(1, 10), Fraction(1, 2), Fraction(4, 5)), steps, steps):
        if q0 + q1 + step < 1:
            here = _explained(p, q0, q1)
            places += 1
            falls += max(_explained(p, q0 + step, q1), _explained(p, q0, q1 + step)) < here
            symmetric += _explained(p, 1 - q0, 1 - q1) == here
    return Finding(
        "Var(X̂) falls in q0 and in q1 while q0 + q1 < 1, and is symmetric about (1/2, 1/2)",
        Verdict.of(falls == places == symmetric),
        f"in fractions at {places} places: it falls at {falls}, and is the same on the other side "
        f"at {symmetric}",
    )


def _explained(p: Fraction, q0: Fraction, q1: Fraction) -> Fraction:
    """Return the variance of the posterior mean, eq. (18)."""
    zero = (1 - p) * (1 - q0) + p * q1
    return (p * (zero - q1)) ** 2 / (zero * (1 - zero))


def _boundary() -> Finding:
    p, e = 0.1, math.e
    q0, q1 = p / e, (1 - p) / e
    one = (1 - p) * q0 + p * (1 - q1)
    f2 = one / (1 - q1)
    return Finding(
        "The least flips that are allowed lie where F1 = e^ε or F4 = e^ε",
        Verdict.of(f2 >= 1 / e),
        f"P1 = 0.1, ε = 1: where both hold F2 = {f2:.4f}, below e^-1 = {1 / e:.4f}, which (46) "
        "itself demands",
        "The step drops F2 ≥ e^-ε and F3 ≥ e^-ε, the max-lift side. They follow only if no value "
        "is rarer than 1/(e^ε + 1); this is the root of the error of Thm 2",
    )


def _independent_is_least() -> Finding:
    """App. B Lemma 1: no information at one end, all of it at the other."""
    masses, points = np.array([0.1, 0.2, 0.7]), np.array([1.0, 2.0, 3.0])
    spread = float(masses @ points**2 - (masses @ points) ** 2)
    none = _variance(masses, points, np.tile([0.3, 0.3, 0.4], (3, 1)))
    every = _variance(masses, points, np.eye(3)[[2, 0, 1]])
    return Finding(
        "Var(X̂) is least for rows that are all alike, and largest for a permutation of the values",
        Verdict.of(math.isclose(none, 0, abs_tol=1e-12) and math.isclose(every, spread)),
        f"P = (0.1, 0.2, 0.7): {abs(none):.4f} and {every:.4f} = Var(X)",
    )


def _slope() -> Finding:
    """App. B Lemma 2: eq. (28) at P = (1/2, 1/2), a = (0, 1), q22 = 0.3, lambda2 = 0.4."""
    masses, points = np.array([0.5, 0.5]), np.array([0.0, 1.0])
    rows = np.array([[0.5, 0.5], [0.7, 0.3]])
    more = rows.copy()
    more[1, 1] += 1e-6
    slope = (_variance(masses, points, more) - _variance(masses, points, rows)) / 1e-6
    mean = float(points @ (masses * rows[:, 1])) / 0.4
    exact = 0.5 * (mean * (2 - mean) - 0.5)
    return Finding(
        "Var(X̂) falls in q_lk where q_lk < λ_k and rises where q_lk > λ_k, by eq. (48)",
        Verdict.of(slope <= 0),
        f"P = (1/2, 1/2), values 0 and 1, q_22 = 0.3 < λ_2 = 0.4: the slope of eq. (28) is "
        f"{slope:+.4f}",
        "The derivative of (28) is P_l (t_k (2 a_l − t_k) − a_l E[X]) with t_k = E[X | Y = a_k]: "
        f"{exact:+.4f} here",
    )


def _variance(masses: Floats, points: Floats, rows: Floats) -> float:
    """Return eq. (28), last line; the rows need not sum to 1."""
    outputs = masses @ rows
    means = (masses * points) @ rows
    return float((means**2 / outputs).sum() - (masses @ points) * means.sum())


def _first_at_the_boundary() -> Finding:
    p, e = 0.1, math.e
    kept = 1 - (1 - p) / e
    true = p / kept - 1 / e
    printed = (1 - 1 / e + p * (e - 1 / e)) / (e + p - 1)
    return Finding(
        "When the off-diagonal entries reach their lower bound, the diagonal is still allowed: eq. "
        "(51) is not negative",
        Verdict.of(true >= 0),
        f"P_k = 0.1, ε = 1: λ_k/q_kk − e^-ε is {true:.4f}, where (51) prints {printed:.4f}",
        "A sign: the numerator is P_k (e^ε − e^-ε) − (1 − e^-ε), which is not negative if and only "
        "if P_k ≥ 1/(e^ε + 1)",
    )


def _output_keeps_the_prior() -> Finding:
    """App. B (50) and (52), in fractions for E = 3."""
    growth = Fraction(3)
    good = []
    for masses in ((Fraction(1, 10), Fraction(1, 5), Fraction(7, 10)), (Fraction(1, 3),) * 3):
        for k, mass in enumerate(masses):
            others = sum((m for j, m in enumerate(masses) if j != k), Fraction(0))
            own = 1 - (1 - mass) / growth
            good += [others * mass / growth + mass * own == mass, growth - mass / own >= 0]
    return Finding(
        "Under the response of Thm 3 the output has the distribution of the input, and λ_k/q_kk ≤ "
        "e^ε: eq. (50) and (52)",
        Verdict.of(good),
        f"in fractions at e^ε = 3: {sum(good)} of {len(good)} equalities and inequalities",
    )


def _special_case() -> Finding:
    """App. D (57): eq. (56) with all a_j = 1 has cross terms, and is the variance of a constant."""
    masses = np.array([0.1, 0.2, 0.7])
    rows = np.full((3, 3), 0.1) + 0.7 * np.eye(3)
    outputs = masses @ rows
    histogram = float(((masses[:, None] * rows) ** 2 / outputs).sum() - (masses**2).sum())
    ones = _variance(masses, np.ones(3), rows)
    return Finding(
        "The histogram's objective (55) is (56) with a_j = 1, so that the optimum of Thm 3 is its "
        "optimum too (57)",
        Verdict.of(math.isclose(histogram, ones)),
        f"P = (0.1, 0.2, 0.7), a response that tells the truth with 0.8: (55) is {histogram:.4f}, "
        f"(56) with a_j = 1 is {abs(ones):.4f}",
        "Setting m = n = k drops the cross terms. Where the response keeps its budget it is the "
        "optimum of both, but for another reason: every other mechanism is a garbling of it",
    )


STATEMENTS = (
    Statement("001-thm2", "Thm 2", _binary_optimum),
    Statement("001-prop3", "Prop 3", _both_errors),
    Statement("001-prop4", "Prop 4, abstract", _skewness),
    Statement("001-thm3", "Thm 3", lambda: _optimum_of_three("mean")),
    Statement("001-thm4", "Thm 4, Appendix C", _output_range),
    Statement("001-thm5", "Thm 5", lambda: _optimum_of_three("histogram")),
    Statement("001-app-a12", "Appendix A, steps 1 and 2", _monotone),
    Statement("001-app-a3", "Appendix A, step 3", _boundary),
    Statement("001-app-b1", "Appendix B, Lemma 1", _independent_is_least),
    Statement("001-app-b2", "Appendix B, Lemma 2, eq. (48)", _slope),
    Statement("001-app-b3", "Appendix B, Lemma 3, eq. (51)", _first_at_the_boundary),
    Statement("001-app-b50", "Appendix B, eq. (50), (52)", _output_keeps_the_prior),
    Statement("001-app-d", "Appendix D, eq. (57)", _special_case),
)
