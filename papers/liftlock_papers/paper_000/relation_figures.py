"""Figures 2 and 4 of paper 000: LIP beside other notions, and what the paper says about it."""

from __future__ import annotations

import math

import numpy as np

from liftlock_papers.figure import Curve, Figure, Finding, Panel, Verdict
from liftlock_papers.paper_000 import leakages, relations
from liftlock_papers.paper_000.comparing import apart
from liftlock_papers.points import Floats, Points

_NEAR = 1e-9


# --- figure 2 ------------------------------------------------------------------------------------


def _judge_2(points: Points) -> list[Finding]:
    return [
        _sandwiched(points),
        _overlaps(points),
        _looser(points),
        _more_skewed(points),
        _wider_gap(points),
    ]


def _sandwiched(points: Points) -> Finding:
    budgets = points.x("a", "ε")
    rows = [points.y("a", f"{name}, maximum") for name in relations.FOUR]
    holds = all(
        bool(np.all(row >= budgets - _NEAR) and np.all(row <= 2 * budgets + _NEAR)) for row in rows
    )
    ratios = [float((row[1:] / budgets[1:]).min()) for row in rows]
    return Finding(
        "The LDP leakage of an ε-LIP mechanism is between ε and 2ε at most, whatever the prior",
        Verdict.of(holds),
        f"it is at least {min(ratios):.2f} ε and never above 2ε",
        "" if holds else "It leaves this band.",
    )


def _gap(points: Points, panel: str, name: str, bound: str) -> float:
    return float((points.y(panel, f"{name}, {bound}") - points.y(panel, f"{name}, maximum")).max())


def _overlaps(points: Points) -> Finding:
    gap = _gap(points, "a", "P2", "Prop 1")
    return Finding(
        "For the uniform prior P2 the bound of Proposition 1 and the maximum are the same",
        Verdict.of(gap <= 1e-6),
        f"they are {apart(gap)}",
        "" if gap <= 1e-6 else "They differ.",
    )


def _looser(points: Points) -> Finding:
    skewed = _gap(points, "a", "P1", "Prop 1")
    two = {name: _gap(points, "c", name, "Prop 1") for name in relations.TWO}
    return Finding(
        "Proposition 1 is looser than the maximum of Theorem 1",
        Verdict.of(gap > 1e-6 for gap in (skewed, *two.values())),
        f"for P1 they are {apart(skewed)}; for two symbols, one of 1 %, they differ by up to "
        f"{two['1 %']:.2f} nats",
        "With three symbols or more the closed form is exact, so the two curves of P1 are one as "
        "well. It is loose only for two symbols, if the rarer one is below 1/(e^ε + 1).",
    )


def _more_skewed(points: Points) -> Finding:
    four = points.y("a", "P1, maximum") - points.y("a", "P2, maximum")
    two = points.y("c", "1 %, maximum") - points.y("c", "50 %, maximum")
    budgets = points.x("c", "1 %, maximum")
    at = int(two.argmin())
    return Finding(
        "The more skewed the prior, the larger the LDP leakage of ε-LIP",
        Verdict.of([*(four >= -_NEAR), *(two >= -1e-6)]),
        f"four symbols: up to {four.max():.2f} nats more for P1 than for P2; two symbols, ε = "
        f"{budgets[at]:.3g}: {points.y('c', '1 %, maximum')[at]:.2f} nats with one of 1 %, "
        f"{points.y('c', '50 %, maximum')[at]:.2f} with a fair coin",
        "It needs three symbols. With two, the rare one cannot rise without the other falling: "
        "as P_min falls to 0 the leakage falls to ε.",
    )


def _wider_gap(points: Points) -> Finding:
    ldp = max(_gap(points, "a", name, "Prop 1") for name in relations.FOUR)
    other = {name: _gap(points, "b", name, "Thm 3") for name in relations.FOUR}
    holds = min(other.values()) > ldp
    return Finding(
        "The gap between bound and maximum is wider for identifiability than for LDP",
        Verdict.of(holds),
        f"up to {other['P1']:.2f} (P1) and {other['P2']:.2f} nats (P2); for LDP bound and "
        f"maximum are {apart(ldp)}",
        "" if holds else "It is not.",
    )


FIG2 = Figure(
    key="000-fig2",
    name="Fig. 2",
    title="What ε-LIP implies for LDP and identifiability: bounds and maxima",
    says="The published bounds on LDP and identifiability of an ε-LIP mechanism, beside the exact "
    "maxima, under a skewed and a uniform prior of four symbols.",
    compute=relations.relations,
    judge=_judge_2,
    panels=(
        Panel("a", "ε of LIP (nats)", "ε of LDP (nats)", "(a) LDP"),
        Panel("b", "ε of LIP (nats)", "posterior ratio, DI (nats)", "(b) identifiability"),
        Panel("c", "ε of LIP (nats)", "ε of LDP (nats)", "(c) ours: LDP, two symbols"),
    ),
    curves=(
        Curve("P1, Prop 1", "orange", "dashed", width=3.4, label="P1: published bound", shade=0.35),
        Curve("P1, Thm 3", "orange", "dashed", width=3.4, label="", shade=0.35),
        Curve("P2, Prop 1", "gold", "dashed", width=3.4, label="P2: published bound", shade=0.35),
        Curve("P2, Thm 3", "gold", "dashed", width=3.4, label="", shade=0.35),
        Curve("P1, maximum", "purple", width=1.2, label="P1: maximum, eq. (9), (10)"),
        Curve("P2, maximum", "teal", width=1.2, label="P2: maximum, eq. (9), (10)"),
        Curve("P1, liftlock", "green", "none", "o", label="P1: liftlock's closed form"),
        Curve("P2, liftlock", "green", "none", "s", label="P2: liftlock's closed form"),
        Curve("ε", "grey", "dotted", width=1.0, label="ε and 2ε"),
        Curve("2ε", "grey", "dotted", width=1.0, label=""),
        Curve(
            "1 %, Prop 1", "orange", "dashed", width=2.4, label="rarer symbol 1 %: bound", shade=0.2
        ),
        Curve("1 %, maximum", "purple", width=1.6, label="1 %: maximum"),
        Curve("10 %, Prop 1", "red", "dashdot", width=2.4, label="10 %: bound", shade=0.2),
        Curve("10 %, maximum", "green", width=1.4, label="10 %: maximum"),
        Curve("50 %, Prop 1", "gold", "dotted", width=3.0, label="50 %: bound", shade=0.2),
        Curve("50 %, maximum", "teal", width=1.2, label="50 %: maximum"),
    ),
    notes="P1 = (0.01, 0.33, 0.33, 0.33), P2 uniform. Eq. (9) is read with a logarithm and with "
    "its constraints for each output by itself; the maximum is taken over the vertices of the "
    "posteriors that ε-LIP allows, which is exact. The range of ε is ours. Panel (c) is not in the "
    "paper: it shows where its statements need three symbols.",
)


# --- figure 4 ------------------------------------------------------------------------------------


def _judge_4(points: Points) -> list[Finding]:
    return [_larger(points), _infinite(points), _weaker(points), _as_printed(points)]


def _larger(points: Points) -> Finding:
    least, larger = math.inf, []
    for panel in leakages.PRIORS:
        strong = np.minimum(points.y(panel, "LIP"), points.y(panel, "LDP"))
        weak = np.maximum(points.y(panel, "MIP"), points.y(panel, "MIL"))
        noisy = points.x(panel, "LIP") != 0.5
        gaps = (strong - weak)[noisy]
        larger += (gaps > 0).tolist()
        least = min(least, float(gaps.min()))
    return Finding(
        "For every q the leakages of LIP and LDP are larger than those of MIP and MIL",
        Verdict.of(larger),
        f"by at least {least:.3g} nats for q other than 1/2, where all four are 0",
        "" if all(larger) else "Not everywhere.",
    )


def _infinite(points: Points) -> Finding:
    found = [points.at(panel, "LIP", 0.0) for panel in leakages.PRIORS]
    average = max(points.at(panel, "MIL", 0.0) for panel in leakages.PRIORS)
    holds = all(math.isinf(value) for value in found)
    return Finding(
        "For q = 0 the LIP leakage is infinite",
        Verdict.of(holds),
        f"infinite under both priors, while MIL is {average:.3f}",
        "" if holds else "It is finite.",
    )


def _weaker(points: Points) -> Finding:
    """There is an epsilon between the two leakages of one channel."""
    budget, at = 0.0, 0.0
    for panel in leakages.PRIORS:
        lip, mil = points.y(panel, "LIP"), points.y(panel, "MIL")
        finite = np.where(np.isfinite(lip), lip - mil, -1.0)
        place = int(finite.argmax())
        if finite[place] > budget:
            budget, at = float(finite[place]), float(points.x(panel, "LIP")[place])
    return Finding(
        "Some mechanism keeps ε-MIP or ε-MIL for an ε at which it does not keep ε-LIP",
        Verdict.of(budget > 0),
        f"at q = {at:g} LIP is {budget:.2f} nats above MIL; at q = 0 LIP is infinite",
        "" if budget > 0 else "There is none.",
    )


def _as_printed(points: Points) -> Finding:
    """Compare the formula of Example 1, with a logarithm, with the audit."""
    worst, raw = 0.0, 0.0
    for panel, percent in leakages.PRIORS.items():
        q = points.x(panel, "LIP")
        inside = (q > 0) & (q < 1)
        printed = _printed(q[inside], percent / 100)
        audited = points.y(panel, "LIP")[inside]
        raw = max(raw, float(np.abs(printed - audited).max()))
        worst = max(worst, float(np.abs(np.log(printed) - audited).max()))
    return Finding(
        "L_LIP is the largest of P_Y(1)/q, P_Y(1)/(1 − q), P_Y(0)/q and P_Y(0)/(1 − q)",
        Verdict.of([raw < 1e-9, worst < 1e-9]),
        f"its logarithm and the audit are {apart(worst)}; as printed it is up to "
        f"{raw:,.0f} too much",
        "The printed formula lacks the logarithm, and the inverse ratios, which never decide for "
        "this channel.",
    )


def _printed(q: Floats, p: float) -> Floats:
    one = p * (1 - q) + (1 - p) * q
    ratios: Floats = np.max([one / q, one / (1 - q), (1 - one) / q, (1 - one) / (1 - q)], axis=0)
    return ratios


FIG4 = Figure(
    key="000-fig4",
    name="Fig. 4",
    title="Four notions of one symmetric binary channel",
    says="Leakages of LDP, LIP, maximal leakage and mutual information of a channel that flips a "
    "bit with probability q.",
    compute=leakages.leakages,
    judge=_judge_4,
    panels=tuple(
        Panel(
            panel,
            "flip probability q",
            "leakage (nats)",
            f"({panel}) P(X = 1) = {percent / 100:g}",
            y_limits=(-0.1, 5),
        )
        for panel, percent in leakages.PRIORS.items()
    ),
    curves=(
        Curve("LDP", "grey", width=2.6),
        Curve("LIP", "teal", "dashed", width=1.8),
        Curve("MIL", "green", "dashdot", label="MIL (maximal leakage)"),
        Curve("MIP", "purple", "dotted", width=2.0, label="MIP (mutual information)"),
    ),
    notes="Every point is the exact audit of the channel. LDP and LIP are infinite at q = 0 and 1.",
)

RELATION_FIGURES: tuple[Figure, ...] = (FIG2, FIG4)
