"""The mechanisms that paper 001 compares, and the squared error that each leaves per person.

An error is that of the posterior mean unless it says otherwise: the mean over people and reports of
(X - E[X | Y])^2, summed over the symbols for a histogram. Users are independent, so the errors of N
of them add up (001 Prop. 2), and the figures show sqrt(error of the sum / N).
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import Literal

import numpy as np

import liftlock as ll
from liftlock_papers.points import Floats, Point

Aim = Literal["mean", "histogram"]

ASKED: dict[Aim, str] = {"mean": "sum", "histogram": "histogram"}


def bit(share: Fraction) -> ll.Prior:
    """Return the prior of a bit that is 1 with this probability.

    >>> bit(Fraction(1, 10)).floats().tolist()
    [0.9, 0.1]
    """
    return ll.Prior.from_probabilities({0: 1 - share, 1: share})


def published(prior: ll.Prior, epsilon: Fraction) -> ll.Mechanism:
    """Return the response of 001 Thm 2, Thm 3 and Thm 5, whatever it truly leaks."""
    return ll.design_as_published(prior, ll.LIP(epsilon), method="response")


def optimum(prior: ll.Prior, epsilon: Fraction, aim: Aim, gap: float = 1e-6) -> ll.Mechanism:
    """Return the best mechanism that keeps epsilon-LIP, certified, within a gap that is proved."""
    if len(prior.labels) == 2:
        return ll.design(prior, ll.LIP(epsilon), utility=aim, method="binary")
    return ll.design(prior, ll.LIP(epsilon), utility=aim, gap=gap)


def response(prior: ll.Prior, epsilon: Fraction, aim: Aim) -> ll.Mechanism:
    """Return k-ary randomised response, which the paper takes for the best under epsilon-LDP."""
    return ll.design(prior, ll.LDP(epsilon), utility=aim, method="k-rr")


def staircase(prior: ll.Prior, epsilon: Fraction, aim: Aim, gap: float = 1e-6) -> ll.Mechanism:
    """Return the best mechanism under epsilon-LDP, certified, within a gap that is proved."""
    return ll.design(prior, ll.LDP(epsilon), utility=aim, gap=gap)


def merged_response(prior: ll.Prior, epsilon: Fraction) -> ll.Mechanism:
    """Return k-ary response on merged symbols, certified: likely ones alone, the others as one.

    Merging first keeps epsilon-LDP, and with a skewed prior few symbols are worth telling apart;
    how many is chosen for the histogram.
    """
    masses = prior.floats()
    ranks = np.argsort(np.argsort(-masses, kind="stable"), kind="stable")
    grown = math.exp(epsilon)

    def rows(parts: int) -> Floats:
        part = np.minimum(ranks, parts - 1)[:, None]
        found: Floats = np.where(part == np.arange(parts), grown, 1.0) / (grown + parts - 1)
        return found

    def error(parts: int) -> float:
        joint = masses[:, None] * rows(parts)
        return 1.0 - float((joint**2 / joint.sum(axis=0)).sum())

    parts = min(range(2, len(masses) + 1), key=error)
    draft = ll.Draft.of(prior.labels, [f"part {k}" for k in range(parts)], rows(parts))
    return ll.lock(draft, ll.LDP(epsilon), prior)


def unary(prior: ll.Prior, epsilon: Fraction) -> ll.Mechanism:
    """Return optimal unary encoding, a noisy bit for each symbol."""
    return ll.design(prior, ll.LDP(epsilon), method="oue")


def error_of(made: ll.Mechanism, aim: Aim, method: str = "bayes") -> float:
    """Return the expected squared error per person.

    >>> round(error_of(optimum(bit(Fraction(1, 10)), Fraction(1), "mean"), "mean"), 5)
    0.07914
    """
    return float(made.expected_error(1, ASKED[aim], method=method).total_squared)


def leakage_of(made: ll.Mechanism) -> float:
    """Return what the exact audit measured: the largest abs(ln lift), for LDP the largest ratio.

    >>> round(leakage_of(published(bit(Fraction(1, 10)), Fraction(1))), 5)
    1.90048
    """
    return max(float(value.upper or math.inf) for value in made.certificate.nats.values())


def point(
    panel: str, curve: str, x: float, made: ll.Mechanism, aim: Aim, budget: Fraction
) -> Point:
    """Return the root of the error per person, with what the mechanism promised and leaks."""
    error = math.sqrt(error_of(made, aim))
    return Point(panel, curve, x, error, leakage=leakage_of(made), budget=float(budget))


def error_on(made: ll.Mechanism, prior: ll.Prior, counts: Floats, symbols: list[int]) -> float:
    """Return the expected squared error per person on given data, over the reports alone.

    People with value x say y with probability q(y | x), and the estimate of how many have value k
    adds up P(k | y); with prior and data apart it is biased, so

        sum_k (N_k - mean_k)^2 + sum_k sum_x N_x Var(P(k | Y) given x).
    """
    table = made.table
    order = [table.inputs.index(label) for label in prior.labels]
    rows = table.floats()[order]
    joint = prior.floats()[:, None] * rows
    beliefs = (joint / joint.sum(axis=0))[symbols].T
    means = rows @ beliefs
    spread = rows @ beliefs**2 - means**2
    bias = counts[symbols] - counts @ means
    return float(((bias**2).sum() + (counts @ spread).sum()) / counts.sum())


@functools.cache
def grid(start: str, stop: str, step: str) -> tuple[Fraction, ...]:
    """Return budgets, exactly.

    >>> [str(epsilon) for epsilon in grid("1/2", "2", "1/2")]
    ['1/2', '1', '3/2', '2']
    """
    first, last, width = Fraction(start), Fraction(stop), Fraction(step)
    return tuple(first + k * width for k in range(int((last - first) / width) + 1))
