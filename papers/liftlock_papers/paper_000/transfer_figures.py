"""Figure 6 of paper 000: mechanisms made from a sample, and what the paper says about them."""

from __future__ import annotations

import math

import numpy as np

from liftlock_papers.figure import Curve, Figure, Finding, Panel, Verdict
from liftlock_papers.paper_000 import transferring
from liftlock_papers.points import Points


def _judge(points: Points) -> list[Finding]:
    return [
        _decreases(points),
        _covered(points),
        _rate(points),
        _smallest(points),
        _usable(points),
        _kept(points),
    ]


def _decreases(points: Points) -> Finding:
    curve = "response (19), 99 % of samples"
    sizes, gaps = points.x("c", curve), points.y("c", curve)
    typical = points.y("c", "response (19), median sample")
    slope = float(np.polyfit(np.log(sizes), np.log(gaps), 1)[0])
    holds = gaps[-1] < 0.1 * gaps[0] and typical[-1] < 0.1 * typical[0] and slope < -0.3
    return Finding(
        "The leakage discrepancy of the response (19) falls with the sample size n, towards 0",
        Verdict.of(bool(holds)),
        f"from {gaps[0]:.3f} at n = {sizes[0]:.0f} to {gaps[-1]:.4f} nats at n = {sizes[-1]:,.0f} "
        f"(99 % of samples), like n to the power {slope:.2f}",
        "" if holds else "It does not.",
    )


def _covered(points: Points) -> Finding:
    """The central 99 % of the samples have probability 1 - beta at least."""
    bound, gaps = points.y("c", "η, Cor 7"), points.y("c", "response (19), 99 % of samples")
    least = float((bound / gaps).min())
    return Finding(
        "With probability 1 − β the discrepancy is at most η (Corollary 7)",
        Verdict.of(least >= 1),
        f"η is {least:.1f} to {float((bound / gaps).max()):.1f} times the largest discrepancy of "
        "99 % of the samples",
        "" if least >= 1 else "It is exceeded more often.",
    )


def _rate(points: Points) -> Finding:
    sizes, bound = points.x("c", "η, Cor 7"), points.y("c", "η, Cor 7")
    slope = float(np.polyfit(np.log(sizes[-4:]), np.log(bound[-4:]), 1)[0])
    holds = abs(slope + 0.5) < 0.05
    return Finding(
        "η behaves as ln(1 + √(1/n))",
        Verdict.of(holds),
        f"for large n it falls like n to the power {slope:.2f}",
        "" if holds else "Its slope is another.",
    )


def _smallest(points: Points) -> Finding:
    """Corollary 6 as printed, with Phi = (E - 1 + P) / P - epsilon, and with its logarithm."""
    wrong, total, where = {"printed": 0, "corrected": 0}, 0, ""
    for panel, budget in transferring.BUDGETS.items():
        epsilon = float(budget)
        for row in points.of(panel, "ε + η, Cor 7"):
            size = int(row.x)
            share = transferring.typical(size) / size
            rarest = points.at(panel, "rarest symbol", row.x)
            smallest = row.y <= min(points.at(panel, "2ε", row.x), rarest)
            total += 1
            for kind, phi in (
                ("printed", math.exp(rarest) - epsilon),
                ("corrected", rarest - epsilon),
            ):
                limit = min(share, float(transferring.FIRST)) * math.expm1(min(epsilon, phi))
                if transferring.distance(size) <= limit and not smallest:
                    wrong[kind] += 1
                    where = f"n = {size} in ({panel})" if kind == "printed" else where
    holds = not wrong["printed"]
    said = "" if holds else f", the last of them n = {where[4:]}"
    said = f", {where}" if wrong["printed"] == 1 else said
    return Finding(
        "ε + η is the least term of eq. (12) if the total variation is at most "
        "P_min (e^min(ε, Φ) − 1) (Corollary 6)",
        Verdict.of(holds),
        f"wrong at {wrong['printed']} of the {total} points drawn{said}; with a logarithm in Φ at "
        f"{wrong['corrected']}",
        ""
        if holds
        else "Φ lacks a logarithm. It does no harm while 2ε is the smaller of the other two terms.",
    )


def _usable(points: Points) -> Finding:
    curve, other = "ε + η without the true P", "ε + η, Cor 7"
    size = transferring.LEAST
    more = points.at("a", curve, size) - points.at("a", other, size)
    void = [row.x for row in points.of("a", curve) if math.isinf(row.y)]
    exact = points.y("a", "exact worst case, 99 % intervals") - points.y("a", "true leakage")
    printed = points.y("a", other) - points.y("a", "true leakage")
    share = float((exact / printed).max())
    finite = [math.isfinite(row.y) for row in points.of("a", curve)]
    none = f"; up to n = {max(void):.0f} there is no bound at all" if void else ""
    return Finding(
        "Implied: a data owner who has nothing but the sample can bound the discrepancy by "
        "Corollary 7",
        Verdict.of(finite),
        f"without the true P_min the bound is {more:.2f} nats larger at n = {size}{none}; the "
        f"exact worst case over 99 % intervals has at most {share:.0%} of the printed excess",
        "c contains the unknown true P_min. It has to be replaced by the observed share less the "
        "distance; with the channel at hand the worst case is exact, and far less.",
    )


def _kept(points: Points) -> Finding:
    curve = "response (19) for the sample"
    most = points.y("d", curve)
    safe = points.y("d", "optimum for 99 % intervals")
    holds = bool(most[-1] < 1.02 and np.all(np.diff(most) < 1e-3))
    return Finding(
        "The privacy of a mechanism made for the frequencies converges to that of the true prior",
        Verdict.of(holds),
        f"ε = 1: it leaks up to {most[0]:.2f} at n = {transferring.LEAST} and {most[-1]:.3f} at "
        f"n = {transferring.MOST:,}; made for 99 % intervals it is at most {safe.max():.3f}",
        "" if holds else "It does not come near ε.",
    )


FIG6 = Figure(
    key="000-fig6",
    name="Fig. 6",
    title="A mechanism made from n samples: bounds, discrepancy and true leakage",
    says="The terms of eq. (12) against the sample size for two budgets, and the discrepancy of "
    "the randomised response made for an empirical prior of two symbols, P(0) = 0.3, β = 0.01.",
    compute=transferring.transferring,
    judge=_judge,
    panels=(
        Panel("a", "samples n", "LIP leakage (nats)", "(a) ε = 0.5", "log", y_limits=(None, 2.5)),
        Panel("b", "samples n", "LIP leakage (nats)", "(b) ε = 1", "log", y_limits=(None, 3)),
        Panel("c", "samples n", "discrepancy (nats)", "(c) ε = 1", "log", "log"),
        Panel(
            "d",
            "samples n",
            "LIP leakage under P (nats)",
            "(d) ours: true leakage, ε = 1",
            "log",
            y_limits=(0.75, 1.65),
        ),
    ),
    columns=2,
    curves=(
        Curve("ε + η, Cor 7", "orange", "dashed", label="ε + η, or η, Cor. 7"),
        Curve("η, Cor 7", "orange", "dashed", label=""),
        Curve("2ε", "grey", "dashdot", width=1.2),
        Curve("rarest symbol", "gold", "dotted", width=1.6, label="ln((e^ε − 1 + P)/P)"),
        Curve("least of eq. (12)", "red", width=3.0, shade=0.55, label="least term of eq. (12)"),
        Curve(
            "ε + η without the true P", "purple", "dashdot", label="ε + η, without the true P_min"
        ),
        Curve(
            "exact worst case, 99 % intervals", "green", label="exact worst case, 99 % intervals"
        ),
        Curve("true leakage", "green", "dotted", width=1.8, label="true leakage, typical sample"),
        Curve(
            "response (19), 99 % of samples",
            "purple",
            "none",
            "o",
            label="response (19): 99 % of samples",
        ),
        Curve(
            "response (19), median sample", "purple", "dotted", label="response (19): median sample"
        ),
        Curve("optimum, 99 % of samples", "teal", width=1.2, label="optimum: 99 % of samples"),
        Curve(
            "response (19) for the sample",
            "orange",
            "none",
            "s",
            label="response (19), made for the sample",
        ),
        Curve("optimum for the sample", "teal", "dashed", label="optimum for the sample"),
        Curve("optimum for 99 % intervals", "blue", width=2.0, label="optimum for 99 % intervals"),
        Curve("ε-LDP", "grey", label="ε-LDP"),
    ),
    notes="The budgets are ours: at ε = 0.5 the term 2ε is the smaller of the last two of eq. "
    "(12), at ε = 1 the other one. With two symbols a sample is one binomial number, so medians "
    "and 99 % ranges are computed, not simulated. (a) and (b) are for the sample that is most like "
    "the prior; where a bound is infinite it is not drawn. (d) is not in the paper: the true "
    "leakage of mechanisms made from the sample, the worst over 99 % of the samples.",
)
