"""Figure 7 of paper 000: the sampling mechanism, and what the paper says about it."""

from __future__ import annotations

import math

import numpy as np

from liftlock_papers.figure import Curve, Figure, Finding, Panel, Verdict
from liftlock_papers.paper_000 import sampling_tradeoff
from liftlock_papers.points import Points


def _judge_7(points: Points) -> list[Finding]:
    return [
        _same_trend(points),
        _falls(points),
        _fast_then_slow(points),
        _kept(points),
        _equivalent(points),
    ]


def _same_trend(points: Points) -> Finding:
    apart, within = 0.0, 0.0
    for panel in "ab":
        expected = [
            points.y(panel, f"{name}, expected") for name in sampling_tradeoff.DISTRIBUTIONS
        ]
        shapes = np.array([row / row[0] for row in expected])
        apart = max(apart, float(np.ptp(shapes, axis=0).max()))
        for name, row in zip(sampling_tradeoff.DISTRIBUTIONS, expected, strict=True):
            within = max(within, float(np.abs(points.y(panel, name) - row).max() / row[0]))
    return Finding(
        "The distribution of X does not change the trend of the curves",
        Verdict.of(apart < 1e-9),
        "divided by E|X − X'| the expected curves are the same; the simulated ones are within "
        f"{within:.1%} of it",
        "" if apart < 1e-9 else "It does.",
    )


def _falls(points: Points) -> Finding:
    rise = max(
        float(np.diff(points.y(panel, name)).max())
        for panel in "ab"
        for name in sampling_tradeoff.DISTRIBUTIONS
    )
    ends = [points.y(panel, "Uniform(0, 1)")[[0, -1]] for panel in "ab"]
    return Finding(
        "Utility rises with ε and with δ: the error falls",
        Verdict.of(rise <= 1e-12),
        f"uniform X: from {ends[0][0]:.3f} to {ends[0][1]:.4f} as ε grows to 5, from "
        f"{ends[1][0]:.3f} to {ends[1][1]:.4f} as δ grows to 1",
        "" if rise <= 1e-12 else "Not everywhere.",
    )


def _fast_then_slow(points: Points) -> Finding:
    rates = []
    for name in sampling_tradeoff.DISTRIBUTIONS:
        deltas, errors = points.x("b", name), points.y("b", f"{name}, expected")
        slopes = np.diff(errors) / np.diff(deltas) / errors[0]
        rates.append((-float(slopes[0]), -float(slopes[-1])))
    first, last = min(rates)[0], max(rates)[1]
    return Finding(
        "The error falls fast with δ while δ is small, and slowly as δ approaches 1",
        Verdict.of(first > 2 * last),
        f"by {first:.2f} of it per unit of δ at first, by {last:.3f} at last: e^ε and e^−ε, with a "
        "bend where the two terms of Proposition 2 are equal",
        "" if first > 2 * last else "It does not.",
    )


def _kept(points: Points) -> Finding:
    """Definition 5 needs max{λ / e^ε, 1 − e^ε (1 − λ)}, and Corollary 9 needs λ."""
    rows = points.of("c", "sampling, Prop 2")
    needs = [_by_definition(row.leakage or 0.0, math.exp(row.x)) for row in rows]
    kept = max(needs) <= sampling_tradeoff.DELTA * (1 + 1e-6)
    optimum = points.y("c", "ε-LIP optimum, δ = 0")
    sampled = points.y("c", "sampling, Prop 2")
    budgets = points.x("c", "sampling, Prop 2")
    worse = sampled > points.y("c", "nothing released")
    better = optimum < sampled
    upto = float(budgets[worse].max()) if worse.any() else 0.0
    return Finding(
        "The λ of Proposition 2 gives (ε, δ)-LIP",
        Verdict.of(kept),
        f"by Definition 5 its δ is at most {max(needs):.3g}. Up to ε = {upto:g} its error is above "
        "that of releasing nothing; the certified optimum with δ = 0 is better at "
        f"{int(better.sum())} of {len(better)} budgets",
        "" if kept else "Its δ is larger than what was asked for.",
    )


def _by_definition(rate: float, ratio: float) -> float:
    return max(rate / ratio, 1.0 - ratio * (1.0 - rate))


def _equivalent(points: Points) -> Finding:
    rows = points.of("c", "sampling, Prop 2")
    broken = [row for row in rows if row.broken]
    most = max(row.leakage or 0.0 for row in rows)
    return Finding(
        "(ε, δ)-LIP and E-divergences of at most δ are equivalent (Corollary 9)",
        Verdict.of(not broken),
        f"the sampling of Proposition 2 has (ε, 0.01)-LIP by Definition 5, and an E-divergence of "
        f"λ, which is above 0.01 at {len(broken)} of {len(rows)} budgets, up to {most:.2f}",
        "E-divergences of at most δ do imply Definition 5, but not the reverse: its first line "
        "allows e^ε δ. With probability λ the value itself is released, nearly always at ε = 5."
        if broken
        else "",
    )


FIG7 = Figure(
    key="000-fig7",
    leaks="δ of Cor. 9",
    name="Fig. 7",
    title="The sampling mechanism: error against ε and δ",
    says="The mean absolute error of the sampling mechanism for 50,000 users with beta, Gaussian "
    "and uniform data, against ε at δ = 0.01 and against δ at ε = 2.",
    compute=sampling_tradeoff.sampling_tradeoff,
    judge=_judge_7,
    panels=(
        Panel("a", "ε (nats)", "mean absolute error |X − Y|", "(a) δ = 0.01", y_limits=(0, None)),
        Panel("b", "δ", "mean absolute error |X − Y|", "(b) ε = 2", y_limits=(0, None)),
        Panel(
            "c",
            "ε (nats)",
            "mean absolute error |X − Y|",
            "(c) ours: uniform X, δ = 0.01",
            y_limits=(0, 0.37),
        ),
    ),
    curves=(
        Curve("Gaussian N(0, 1), expected", "purple", width=1.0, label=""),
        Curve("Beta(2, 5), expected", "teal", width=1.0, label=""),
        Curve("Uniform(0, 1), expected", "gold", width=1.0, label="expected errors (lines)"),
        Curve("Gaussian N(0, 1)", "purple", "none", "o"),
        Curve("Beta(2, 5)", "teal", "none", "s"),
        Curve("Uniform(0, 1)", "gold", "none", "^"),
        Curve("sampling, Prop 2", "orange", label="sampling as published; δ of Cor. 9"),
        Curve("sampling, delta of Cor 9", "red", "dashdot", label="sampling, δ of Cor. 9 kept"),
        Curve(
            "ε-LIP optimum, δ = 0", "blue", "solid", "", 2.2, label="certified ε-LIP optimum, δ = 0"
        ),
        Curve(
            "ε-LDP, best found", "grey", "dashed", label="certified ε-LDP, best of 8 to 24 cells"
        ),
        Curve("nothing released", "green", "dotted", label="nothing released"),
    ),
    notes="The parameters of the three laws are not stated; here they are Beta(2, 5), N(0, 1) and "
    "Uniform(0, 1), each with 50,000 users (5,000 in a quick run) and the same coins at every "
    "budget, so all points of a curve are off to the same side. Lines are expected errors, "
    "symbols the simulation. Panel (c) is not in the paper: certified mechanisms on cells of "
    "equal mass, whose certificate holds for X itself, with every report read as its median: the "
    "ε-LIP optimum of 128 cells (quick: 16), and the best of the ε-LDP optima of 8 to 24 cells "
    "(quick: 8, 16 and 24), each proved for its cells; their leakage and budget are an ε. The "
    "numbers at the rings are the δ that sampling truly has in the sense of Corollary 9.",
)
