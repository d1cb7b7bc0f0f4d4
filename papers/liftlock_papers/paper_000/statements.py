"""Statements of paper 000 that no figure shows."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np

import liftlock as ll
from liftlock.notions import ApproximateLDP, ApproximateLIP
from liftlock_papers.figure import Finding, Statement, Verdict

TAGS = 100
UNCERTAIN = (Fraction(1, 10), Fraction(1, 5))
"""An interval of P(X = 1) on which the published response breaks its budget of 1."""


def _definition_by_output() -> Finding:
    """X is a fair bit, and Y says it together with one of many tags: no output is likely."""
    rows = {
        x: {(b, t): Fraction(b == x, TAGS) for b in (0, 1) for t in range(TAGS)} for x in (0, 1)
    }
    channel, fair, epsilon = ll.Channel.from_rows(rows), ll.Prior.uniform([0, 1]), 0.5
    own, other, output = 1 / TAGS, 0.0, 1 / (2 * TAGS)
    single = max(
        side
        for q in (own, other)
        for side in (math.exp(-epsilon) * q - output, output - math.exp(epsilon) * q)
    )
    sets = float(ApproximateLIP.measure(channel, fair, "0.5", "def5"))
    return Finding(
        "For discrete data the definition on sets of outputs, eq. (3), is equivalent to eq. (4), "
        "which looks at each output alone",
        Verdict.of(math.isclose(single, sets)),
        f"Y = (X, one of {TAGS} tags) gives a fair bit away; at ε = {epsilon:g} eq. (4) holds with "
        f"δ = {single:.3f}, eq. (3) needs δ = {sets:.1f}",
        "Equivalent for δ = 0 only; else the excesses of all outputs add up",
    )


def _approximate_ldp() -> Finding:
    """The counterexample sits at e^ε = e as a float, and is a fraction from there on."""
    growth, delta = Fraction(math.e), Fraction(1, 100)
    rare = 1 / (2 * growth)
    prior = ll.Prior.from_probabilities({"a": rare, "b": 1 - rare})
    leak = 2 * growth * delta
    channel = ll.Channel.from_rows({"a": {0: leak, 1: 1 - leak}, "b": {0: 0, 1: 1}})
    kept = float(ApproximateLIP.measure(channel, prior, "1", "def5"))
    needed = float(ApproximateLDP.measure(channel, prior, "2"))
    said = (math.e + 1) * kept
    return Finding(
        "(ε, δ)-LIP implies (2ε, (e^ε + 1)δ)-LDP",
        Verdict.of(needed <= said),
        f"P = (1/(2e), 1 − 1/(2e)), W = [[0.02e, 1 − 0.02e], [0, 1]]: (1, {kept:.2f})-LIP by Def "
        f"5, and 2-LDP needs δ = {needed:.4f}, above the {said:.4f} that is said",
        "Def 5 gives 2 e^ε δ, which is tight; (e^ε + 1)δ holds if both E-divergences are at most "
        "δ, as in Cor 9",
    )


def _linear_composability() -> Finding:
    """Release the binary optimum once, twice, and three times."""
    rare = 1 / (1 + math.e)
    prior = ll.Prior.from_probabilities({0: 1 - Fraction(rare), 1: Fraction(rare)})
    rows = ll.design(prior, ll.LIP("1"), method="binary").table.floats()
    leaks, joined = [], np.ones((2, 1))
    for _ in range(3):
        joined = (joined[:, :, None] * rows[:, None, :]).reshape(2, -1)
        leaks.append(float(np.abs(np.log(joined / (prior.floats() @ joined))).max()))
    steps = np.diff([0.0, *leaks])
    return Finding(
        'For any given prior the leakage increases linearly with the number of outputs, "linear '
        'composability" (Section I; Section III-B says that it is not additive)',
        Verdict.of(float(np.ptp(steps)) < 1e-6),
        f"P1 = 1/(1 + e), the optimum at ε = 1: {leaks[0]:.4f}, {leaks[1]:.4f} and {leaks[2]:.4f} "
        "for one, two and three releases",
        "LIP does not compose linearly: a release meets the posterior of those before it, which is "
        "not the prior that it was made for, and in the long run costs up to 2ε",
    )


def _uncertain_prior() -> Finding:
    """Compare with the corner of all constraints, the least noise that any channel may have."""
    shares, budgets = [Fraction(k, 10) for k in range(11)], ("1/2", "1", "3/2", "2", "3")
    places = kept = predicted = best = 0
    for low, high in product(shares, shares):
        if low > high or high == 0 or low == 1:
            continue
        context = ll.Intervals.of({0: (1 - high, 1 - low), 1: (low, high)})
        for budget in budgets:
            growth = math.exp(Fraction(budget))
            fits = low * growth + high >= 1 and (1 - high) * growth + 1 - low >= 1
            made = ll.design_as_published(context, ll.LIP(budget), method="binary")
            holds = leakage_of(made) <= float(Fraction(budget)) + 1e-9
            places, kept, predicted = places + 1, kept + holds, predicted + (holds == fits)
            if holds:
                least = ll.design(context, ll.LIP(budget), method="binary").table.floats()
                best += bool(abs(least - made.table.floats()).max() < 1e-9)
    low, high = UNCERTAIN
    context = ll.Intervals.of({0: (1 - high, 1 - low), 1: (low, high)})
    worst = leakage_of(ll.design_as_published(context, ll.LIP("1"), method="binary"))
    exactly = "exactly where" if predicted == places else "not just where"
    return Finding(
        "For P(X = 1) in [a, b] the optimum is q01 = b/(b − a + e^ε), q10 = (1 − a)/(b − a + e^ε)",
        Verdict.of(kept == places),
        f"for [{float(low):g}, {float(high):g}] and ε = 1 it leaks {worst:.4f}; it keeps ε-LIP at "
        f"{kept} of {places} intervals and budgets, and is the optimum at {best} of these",
        f"It keeps ε-LIP {exactly} a e^ε + b ≥ 1 and (1 − b) e^ε + 1 − a ≥ 1, and then every other "
        "channel that does is this one with more noise",
    )


def leakage_of(made: ll.Mechanism) -> float:
    """Return what the certificate measured: the largest abs(ln lift) over the set of priors."""
    return max(float(value.upper or math.inf) for value in made.certificate.nats.values())


STATEMENTS = (
    Statement("000-eq4", "Eq. (4)", _definition_by_output),
    Statement("000-cor3", "Cor 3, converse", _approximate_ldp),
    Statement("000-linear", "Section I, linear composability", _linear_composability),
    Statement("000-uncertain", "Section IV-B2, uncertain prior", _uncertain_prior),
)
