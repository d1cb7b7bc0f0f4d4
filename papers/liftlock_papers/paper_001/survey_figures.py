"""Fig. 2 and Fig. 5 of paper 001: surveys of one bit, and what the paper says about them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

import liftlock as ll
from liftlock_papers.figure import Curve, Figure, Finding, Panel, Verdict
from liftlock_papers.paper_001 import skewness, survey_example
from liftlock_papers.paper_001.judging import (
    RARE,
    below,
    half_against_ldp,
    keeps_its_promise,
    percent,
    places,
    share,
)
from liftlock_papers.paper_001.looks import BUDGET, ERROR, PROTECTION, looks
from liftlock_papers.paper_001.names import (
    NOTHING,
    OPTIMUM,
    OPTIMUM_HALF,
    PUBLISHED,
    PUBLISHED_HALF,
    RESPONSE,
    UNARY,
    UNAWARE,
)
from liftlock_papers.paper_001.releases import bit, error_of, optimum, response
from liftlock_papers.points import Points

SQUARED = "mean squared error (people²)"


# --- Fig. 2 ---------------------------------------------------------------------------------------


def _judge_example(points: Points) -> list[Finding]:
    def at(curve: str) -> float:
        return points.at("b", curve, 1)

    (leaks,) = (row.leakage or 0.0 for row in points.of("b", PUBLISHED) if row.x == 1)

    encoding = below(points, "b", UNARY, UNAWARE)
    saved = share(points, "b", OPTIMUM, RESPONSE)
    wins = below(points, "b", OPTIMUM, UNAWARE)
    one = int(np.flatnonzero(np.isclose(points.x("b", OPTIMUM), 1))[0])
    kept = (
        f"the published mechanism has {at(PUBLISHED):.1f} and leaks {leaks:.2f}; the least that "
        f"keeps 1-LIP is {at(OPTIMUM):.2f}"
    )
    printed = (
        (
            survey_example.LDP_PRINTED,
            f"the truth is {at(UNAWARE):.1f}",
            UNAWARE,
            "LDP is 100 e^ε/(e^ε + 1)²",
            "the plus is a minus",
        ),
        (
            survey_example.UNARY_PRINTED,
            f"the truth is {at(UNARY):.1f}",
            UNARY,
            "Opt-LDP is 25/(0.5 − e^ε/2)²",
            "its q* = 1 − e^ε/2 is negative beyond ε = ln 2, and below breaks an LDP constraint",
        ),
        (
            survey_example.LIP_PRINTED,
            kept,
            PUBLISHED,
            "LIP is (10 e^ε − 1)/0.64",
            "it grows with ε; eq. (21) has 9 (2 e^-ε − e^-2ε) for the published mechanism",
        ),
    )
    return [
        *(
            _printed(points.at("a", formula, 1), at(curve), truth, claim, why)
            for formula, truth, curve, claim, why in printed
        ),
        Finding(
            "Opt-LDP, which treats the two answers differently, has a smaller error than LDP",
            Verdict.of(encoding),
            f"at ε = 1: {at(UNARY):.0f} against {at(UNAWARE):.0f} people²",
            "unary encoding is made for many symbols; on a single bit it wastes most of its budget",
        ),
        Finding(
            "LIP has a much smaller error than LDP with its unbiased estimate",
            Verdict.CONDITION if wins.all() and at(NOTHING) < at(UNAWARE) else Verdict.of(wins),
            f"at ε = 1: {at(OPTIMUM):.2f} against {at(UNAWARE):.1f} people²; the same LDP answers "
            f"with the posterior mean {at(RESPONSE):.2f}, no answers at all {at(NOTHING):.2f}",
            "the gain is that of an estimator that knows the prior: at small ε the prior alone "
            "does better than the unbiased estimate",
        ),
        Finding(
            "Considering the prior in the perturbation reduces the error significantly",
            Verdict.of(saved > 0.1),
            f"of the error of LDP answers read by the posterior mean, LIP saves "
            f"{percent(float(saved[one]))} at ε = 1 and {percent(float(saved.max()))} at most",
            f"more than a tenth only with ε {places(points, 'b', OPTIMUM, saved > 0.1)}",
        ),
        keeps_its_promise(points, ("b",), (PUBLISHED,), f"{RARE}: here from ε = ln 9 = 2.2 on"),
    ]


def _printed(formula: float, error: float, truth: str, claim: str, why: str) -> Finding:
    """Judge a formula by its value at a budget of 1."""
    right = math.isclose(formula, error, rel_tol=1e-3)
    return Finding(
        f"The squared error of {claim}",
        Verdict.of(right),
        f"at ε = 1 the formula says {formula:.1f} people², {truth}",
        "" if right else why,
    )


FIGURE_2 = Figure(
    key="001-fig2",
    name="Fig. 2",
    title="A survey of 100 people about what one in ten has (Example 1)",
    says="A prior in the perturbation reduces the error of a survey far below that of LDP, with "
    "its ordinary and with its optimised answers.",
    compute=survey_example.errors,
    judge=_judge_example,
    panels=(
        Panel("a", BUDGET, SQUARED, "(a) the formulas as printed", y_scale="log"),
        Panel("b", BUDGET, SQUARED, "(b) the true errors (ours)", y_scale="log"),
    ),
    curves=(
        Curve(survey_example.LDP_PRINTED, "red", "dotted"),
        Curve(survey_example.UNARY_PRINTED, "red", "dashdot"),
        Curve(survey_example.LIP_PRINTED, "red"),
        *looks(UNAWARE, UNARY, RESPONSE, PUBLISHED, OPTIMUM, NOTHING),
    ),
    notes="The paper does not print the range of ε; 0.5 to 5 is ours, and so is the logarithmic "
    "axis. Its three error formulas are misprinted, so the true errors of the same mechanisms "
    "stand beside them. Opt-LDP is read as optimal unary encoding, of which the "
    f"survey uses one bit. {PROTECTION}",
)


# --- Fig. 5 ---------------------------------------------------------------------------------------


def _judge_skewness(points: Points) -> list[Finding]:
    panels = tuple(skewness.SHARES)
    aware = np.concatenate([below(points, panel, RESPONSE, UNAWARE) for panel in panels])
    ratios = {panel: 1 / (1 - share(points, panel, RESPONSE, UNAWARE)) for panel in panels}
    ordered = (ratios["even"] < ratios["nine in ten"]) & (ratios["nine in ten"] < ratios["skewed"])
    relaxed = np.concatenate([below(points, panel, OPTIMUM, RESPONSE) for panel in panels])
    even, skewed = (share(points, panel, OPTIMUM, RESPONSE) for panel in ("even", "skewed"))
    published = share(points, "skewed", PUBLISHED, RESPONSE)
    wider = skewed > even
    where = places(points, "skewed", OPTIMUM, wider)
    return [
        Finding(
            "With the same LDP answers, the estimator that knows the prior is always better than "
            "the one that does not",
            Verdict.of(aware),
            f"{int(aware.sum())} of {len(aware)} places",
            "" if aware.all() else "not everywhere",
        ),
        Finding(
            "That advantage is small for an even prior and larger the more skewed the prior is",
            Verdict.of(ordered),
            f"at ε = 1 the error is {ratios['even'][0]:.1f}, {ratios['nine in ten'][0]:.1f} and "
            f"{ratios['skewed'][0]:.1f} times smaller for P1 = 0.5, 0.9 and 0.99",
            "" if ordered.all() else "not at every ε",
        ),
        Finding(
            "The error of LIP is always smaller than that of LDP at the same ε",
            Verdict.of(relaxed),
            f"certified optimum: {int(relaxed.sum())} of {len(relaxed)} places",
            "" if relaxed.all() else "not everywhere",
        ),
        Finding(
            "The gap between LIP and LDP increases when P1 = 0.99",
            Verdict.of(wider),
            f"LIP saves {percent(float(even[0]))} of the error of LDP for P1 = 0.5, "
            f"{percent(float(skewed[0]))} for 0.99, at ε = 1 (as published, "
            f"{percent(float(published[0]))} with a broken promise)",
            f"it is larger at 0.99 with ε {where} only, where even the rarer value is not rare for "
            "the budget; that the advantage grows with skewness in general is judged as Prop 4",
        ),
        _equal_protection(),
        half_against_ldp(
            points,
            "skewed",
            "With a skewed prior even LIP at ε/2 is better than LDP at ε, for small ε (section VI)",
        ),
        keeps_its_promise(
            points, panels, (PUBLISHED, PUBLISHED_HALF), f"{RARE}: for P1 = 0.99 from ε = 4.6 on"
        ),
    ]


def _equal_protection() -> Finding:
    """Compare the LIP optimum at a budget of 1 with LDP of the same leakage, as LIP and as LDP."""
    said, alike = [], []
    for mass in (Fraction(1, 2), Fraction(1, 10), Fraction(1, 100)):
        prior, rare = bit(mass), float(mass)
        best, ldp = optimum(prior, Fraction(1), "mean"), response(prior, Fraction(1), "mean")
        level = float(ll.LDP.measure(best.table).value)
        reach = float(ll.LIP.measure(ldp.table, prior).value)
        # eps-LDP leaks ln(P_min + (1 - P_min) e^eps) in LIP (000 Thm 1).
        calibrated = math.log((math.e - rare) / (1 - rare))
        others = [response(prior, ll.exact(f"{x:.9f}"), "mean") for x in (calibrated, level)]
        errors = [math.sqrt(error_of(made, "mean")) for made in (best, ldp, *others)]
        alike += [abs(level - 1) < 0.01 and abs(reach - 1) < 0.01]
        said.append(
            f"P1 = {rare:g}: LIP at 1 is {level:.2f}-LDP and has the error {errors[0]:.4f}; LDP at "
            f"1 leaks {reach:.2f} in LIP, {errors[1]:.4f}; LDP that leaks 1 in LIP "
            f"{errors[2]:.4f}; {level:.2f}-LDP {errors[3]:.4f}"
        )
    return Finding(
        "Implied: LIP and LDP at the same ε protect alike, so that their errors can be compared",
        Verdict.of(alike),
        ". ".join(said),
        "ε-LIP is LDP of up to 2ε, and ε-LDP leaks less than ε in LIP. For an even prior and two "
        "values LDP of the same leakage, in either notion, is the same mechanism: the gain is one "
        "of names. For skewed priors LIP gains little over LDP that leaks as much in LIP, and "
        "nothing over LDP of the level that it has anyway",
    )


FIGURE_5 = Figure(
    key="001-fig5",
    name="Fig. 5",
    title="A survey, with and without knowledge of the prior",
    says="An estimator that knows the prior is better, most of all when it is skewed; relaxing "
    "LDP to LIP is better again, and the gap is larger for P1 = 0.99.",
    compute=skewness.trade_offs,
    judge=_judge_skewness,
    panels=(
        Panel("even", BUDGET, ERROR, "P1 = 0.5", y_scale="log"),
        Panel("nine in ten", BUDGET, ERROR, "P1 = 0.9 (ours)", y_scale="log"),
        Panel("skewed", BUDGET, ERROR, "P1 = 0.99", y_scale="log"),
    ),
    curves=looks(UNAWARE, RESPONSE, PUBLISHED, PUBLISHED_HALF, OPTIMUM, OPTIMUM_HALF, NOTHING),
    notes="Users share one prior, so that errors do not depend on N. The printed p = e^ε/(e^ε + 1) "
    f"of eq. (41) estimates N − S; the probability of a flip, 1/(e^ε + 1), is used. {PROTECTION}",
)
