"""Fig. 6 and Fig. 7 of paper 001: more values than two, and what the paper says about them."""

from __future__ import annotations

import numpy as np

from liftlock_papers.figure import Curve, Figure, Finding, Panel, Verdict
from liftlock_papers.paper_001 import histograms, sums
from liftlock_papers.paper_001.judging import (
    RARE,
    below,
    half_against_ldp,
    keeps_its_promise,
    not_above,
    percent,
    places,
    sandwiched,
    share,
)
from liftlock_papers.paper_001.looks import BUDGET, ERROR, PROTECTION, looks
from liftlock_papers.paper_001.names import (
    MERGED,
    NOTHING,
    OPTIMUM,
    OPTIMUM_HALF,
    PUBLISHED,
    PUBLISHED_HALF,
    RESPONSE,
    STAIRCASE,
    UNARY,
)
from liftlock_papers.points import Points

# --- Fig. 6 ---------------------------------------------------------------------------------------


def _judge_sums(points: Points) -> list[Finding]:
    better = np.concatenate([below(points, panel, OPTIMUM, STAIRCASE) for panel in "ab"])
    growth = {
        curve: points.y("b", curve) / points.y("b", NOTHING)
        for curve in (PUBLISHED, OPTIMUM, RESPONSE, STAIRCASE)
    }
    sizes = points.x("b", OPTIMUM)
    worse = np.array([(np.diff(points.y("b", curve)) > 0).all() for curve in growth])
    large = sizes >= 5
    drift = {curve: float(np.ptp(values[large])) for curve, values in growth.items()}
    straight = drift[OPTIMUM] < 0.02 and drift[PUBLISHED] < 0.02
    faster = drift[RESPONSE] > 0.02, drift[STAIRCASE] > 0.02
    gains = share(points, "b", OPTIMUM, STAIRCASE)
    gains_response = share(points, "b", OPTIMUM, RESPONSE)
    widens = gains_response[-1] > gains_response[0], gains[-1] > gains[large][0] + 0.01
    return [
        Finding(
            "LIP has a smaller error than LDP at the same ε (panels a and b)",
            Verdict.of(better),
            f"certified optimum against the best under LDP: {int(better.sum())} of {len(better)} "
            "places",
            "" if better.all() else "not everywhere",
        ),
        half_against_ldp(
            points,
            "a",
            "With five values LIP does better than with two: at ε/2 it is better even than LDP at "
            "ε (panel a)",
            STAIRCASE,
        ),
        half_against_ldp(
            points,
            "b",
            "LDP at ε = 1 is better than LIP at ε/2 for few values, but worse as |D| grows (b)",
            STAIRCASE,
        ),
        Finding(
            "The advantage of LIP over LDP grows with the number of values (panel b)",
            Verdict.of(widens),
            f"LIP saves {percent(float(gains_response[0]))} of the error of k-ary response with "
            f"{sizes[0]:g} values, {percent(float(gains_response[-1]))} with {sizes[-1]:g}; of the "
            f"best under LDP {percent(float(gains[0]))} and {percent(float(gains[-1]))}, but "
            f"{percent(float(gains[large][0]))} with {sizes[large][0]:g} already",
            ""
            if all(widens)
            else "against k-ary response, which degrades with |D|; against the best under LDP the "
            "advantage stays where it is from a few values on",
        ),
        Finding(
            "Both LIP and LDP have a larger error the more values there are (panel b)",
            Verdict.of(worse),
            f"error at {sizes[-1]:g} values: LIP {points.y('b', OPTIMUM)[-1]:.2f}, LDP "
            f"{points.y('b', STAIRCASE)[-1]:.2f}",
            "" if worse.all() else "not everywhere",
        ),
        Finding(
            "The error of LIP grows linearly with |D|, that of LDP faster (panel b)",
            Verdict.of(straight and each for each in faster),
            "relative to the standard deviation of X, from 5 values on: LIP "
            f"{growth[OPTIMUM][large].min():.3f} to {growth[OPTIMUM][large].max():.3f}, k-ary "
            f"response {growth[RESPONSE][large].min():.3f} to {growth[RESPONSE][large].max():.3f}, "
            f"best under LDP {growth[STAIRCASE][large].min():.3f} to "
            f"{growth[STAIRCASE][large].max():.3f}",
            ""
            if straight and all(faster)
            else "faster is k-ary response, which tends to saying nothing; the best under LDP "
            "grows linearly too",
        ),
        keeps_its_promise(
            points,
            ("a", "b"),
            (PUBLISHED, PUBLISHED_HALF),
            f"{RARE}: with even priors and ε = 1 for up to 3 values",
        ),
    ]


FIGURE_6 = Figure(
    key="001-fig6",
    name="Fig. 6",
    title="The sum of numbers with several values",
    says="The more values there are, the larger the advantage of LIP: even at ε/2 it is better "
    "than LDP at ε.",
    compute=sums.both,
    judge=_judge_sums,
    panels=(
        Panel("a", BUDGET, ERROR, "(a) 500 users, values 0..4, random priors"),
        Panel(
            "b",
            "number of values |D|",
            ERROR,
            "(b) even prior, ε = 1",
            ticks={size: str(size) for size in (2, 5, 10, 15, 20)},
        ),
    ),
    curves=looks(RESPONSE, STAIRCASE, PUBLISHED, PUBLISHED_HALF, OPTIMUM, OPTIMUM_HALF, NOTHING),
    notes="The paper's priors are random and not given: here each of the 500 users (4 in a quick "
    "run) has five uniform numbers divided by their sum. Leakages in panel a are those of the "
    "worst user. The paper takes k-ary response for the best under LDP; it is not. "
    f"{PROTECTION}",
)


# --- Fig. 7 ---------------------------------------------------------------------------------------


def _judge_histogram(points: Points) -> list[Finding]:
    x = points.x("a", UNARY)
    printed = histograms.UNARY_PRINTED
    unary, nothing = points.y("a", UNARY), points.y("a", NOTHING)
    large = x >= 3
    wins = below(points, "a", UNARY, RESPONSE)[large]
    inside = (not_above(points, "a", OPTIMUM, UNARY) & not_above(points, "a", UNARY, OPTIMUM_HALF))[
        large
    ]
    printed_wins = below(points, "a", printed, RESPONSE)
    strong = unary[0] > 2 * points.y("a", RESPONSE)[0]
    formula = (
        "the printed 4 e^ε/(e^ε − 1)² is the error of one symbol that nobody has; the histogram "
        f"has |D| = {histograms.VALUES} of them, and half of all people's own bits are lost"
    )
    return [
        sandwiched(
            points,
            ("a",),
            STAIRCASE,
            "The error of LDP that knows the prior lies between LIP at ε and LIP at ε/2",
        ),
        Finding(
            "Unary encoding has a very large error at small ε: knowing the prior matters most "
            "under strong privacy",
            Verdict.of(strong),
            f"at ε = {x[0]:g}: {unary[0]:.2f}, k-ary response with the prior "
            f"{points.y('a', RESPONSE)[0]:.2f}, no release {nothing[0]:.2f}",
            "" if strong else "it is not larger",
        ),
        Finding(
            "As ε grows unary encoding becomes better than LDP that knows the prior",
            Verdict.of(wins),
            f"by the printed formula {places(points, 'a', UNARY, printed_wins)}; truly "
            f"{places(points, 'a', UNARY, below(points, 'a', UNARY, RESPONSE))}, and its error is "
            f"never below {unary.min():.3f} (no release: {nothing[0]:.3f})",
            formula,
        ),
        Finding(
            "Then it still lies between LIP at ε and LIP at ε/2",
            Verdict.of(inside),
            f"truly in {int(inside.sum())} of {len(inside)} places from ε = 3 on",
            formula,
        ),
        _gain_by_skewness(points),
        keeps_its_promise(
            points,
            ("a", "b"),
            (PUBLISHED, PUBLISHED_HALF),
            f"{RARE}: with {histograms.VALUES} even values from ε = ln 19 = 2.9 on",
        ),
    ]


def _gain_by_skewness(points: Points) -> Finding:
    even, skewed = share(points, "a", OPTIMUM, STAIRCASE), share(points, "b", OPTIMUM, MERGED)
    more = skewed > even
    two = int(np.flatnonzero(np.isclose(points.x("a", OPTIMUM), 2))[0])
    return Finding(
        "Implied by the abstract: with a skewed prior the advantage of LIP is larger here",
        Verdict.of(more),
        f"at ε = 2 LIP saves {percent(float(even[two]))} of the error of the best under LDP with "
        f"the even prior, {percent(float(skewed[two]))} of that of LDP on merged values with the "
        "skewed one",
        ""
        if more.all()
        else f"with ε {places(points, 'a', OPTIMUM, more)}: a skewed prior has both likely values, "
        "which small budgets tell apart, and rare ones, which need large budgets; that it grows "
        "with skewness in general is judged as Prop 4",
    )


FIGURE_7 = Figure(
    key="001-fig7",
    name="Fig. 7",
    title="A histogram of 20 values",
    says="LDP that knows the prior lies between LIP at ε and at ε/2; unary encoding, which does "
    "not, is bad at small ε and lies between them at large ε.",
    compute=histograms.trade_offs,
    judge=_judge_histogram,
    panels=(
        Panel("a", BUDGET, ERROR, "(a) even prior", y_scale="log"),
        Panel("b", BUDGET, ERROR, "(b) prior by Zipf's law (ours)", y_scale="log"),
    ),
    curves=(
        Curve(histograms.UNARY_PRINTED, "red", "dotted"),
        *looks(
            UNARY,
            RESPONSE,
            STAIRCASE,
            MERGED,
            PUBLISHED,
            PUBLISHED_HALF,
            OPTIMUM,
            OPTIMUM_HALF,
            NOTHING,
        ),
    ),
    notes="The prior of Fig. 7 is not stated; it is taken to be even, as in Fig. 6b, and panel b "
    "has a skewed one. The best under LDP is not known there; response on merged values is near. "
    f"ε = 0 would release nothing. The logarithmic axis is ours. {PROTECTION}",
)
