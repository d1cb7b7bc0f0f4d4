"""Fig. 2 of paper 004: flipping probabilities and costs, and what the paper says about them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from liftlock_papers.figure import Colour, Curve, Figure, Finding, Line, Marker, Panel, Verdict
from liftlock_papers.formulas import profiles as formulas
from liftlock_papers.paper_004 import flips_and_costs
from liftlock_papers.paper_004.categories import (
    CLUSTER,
    LEAST,
    RESPONSE,
    SMOOTH,
    category,
    graph,
    informative,
)
from liftlock_papers.paper_004.couplets import (
    BUDGETS,
    LDP,
    ONE,
    OURS,
    PLACES,
    PRINTED,
    PRINTED_BUDGETS,
    of,
)
from liftlock_papers.points import Floats, Points

_EPSILON = "ε (nats)"
_GAP = "difference of the two parameters"
_FLIP = "flipping probability α"
_COST = "cost, eq. (8): largest error of a frequency"
_NUMBERS = (1, 2, 3, 4)
_HAIR = 1e-9

_OURS: tuple[tuple[Colour, Line], ...] = (
    ("blue", "solid"),
    ("blue", "dashed"),
    ("blue", "dashdot"),
)
_MARKERS: tuple[Marker, ...] = ("x", "o")
_CATEGORIES: tuple[tuple[Colour, Line, float], ...] = (
    ("teal", "solid", 3.8),
    ("gold", "dashed", 2.7),
    ("red", "dashdot", 2.0),
    ("green", "dotted", 1.7),
)


# --- what the points say -------------------------------------------------------------------------


def _judge(points: Points) -> list[Finding]:
    return [
        _grows(points),
        _below(points),
        _printed_bound(points),
        _printed_value(points),
        _structure(points),
        _no_structure(points),
        _baseline_is_worse(points),
        _private(points),
    ]


def _grows(points: Points) -> Finding:
    steps = np.concatenate(
        [np.diff(points.y(panel, of(OURS, epsilon))) for panel in PLACES for epsilon in BUDGETS]
    )
    ends = [points.y("a-middle", of(OURS, epsilon))[[0, -1]] for epsilon in BUDGETS]
    holds = steps >= -1e-7
    said = ", ".join(
        f"{first:.2f} to {last:.3f} at ε = {epsilon}"
        for (first, last), epsilon in zip(ends, BUDGETS, strict=True)
    )
    return Finding(
        "The flipping probability grows with the difference of the parameters (2a)",
        Verdict.of(holds),
        f"it rises from {said}",
        "" if holds.all() else f"It falls by up to {-steps.min():.2g}.",
    )


def _below(points: Points) -> Finding:
    gaps, share = (np.concatenate(parts) for parts in zip(*_shares(points), strict=True))
    below = share < 1 - 1e-6
    most = float(share[gaps < 1].max())
    return Finding(
        "It always stays below the flipping probability of local differential privacy (2a)",
        Verdict.of(below),
        f"at most {most:.1%} of it where the difference is below 1",
        ""
        if below.all()
        else "With parameters 0 and 1 the two are equal, as the paper says beside eq. (4): then "
        "the bit is the profile."
        if (below == (gaps < 1)).all() and share.max() <= 1 + 1e-6
        else f"At {int((~below).sum())} of {len(below)} places it does not.",
    )


def _shares(points: Points) -> Iterator[tuple[Floats, Floats]]:
    """Yield differences of parameters, and the flipping probability as a share of that of LDP."""
    for panel in PLACES:
        for epsilon in BUDGETS:
            ours, theirs = of(OURS, epsilon), of(LDP, epsilon)
            yield points.x(panel, ours), points.y(panel, ours) / points.y(panel, theirs)


def _printed_bound(points: Points) -> Finding:
    short, void, total = 0.0, 0, 0
    for panel in PLACES:
        for epsilon in PRINTED_BUDGETS:
            true = {round(row.x, 9): row.y for row in points.of(panel, of(ONE, epsilon))}
            for row in points.of(panel, of(PRINTED, epsilon)):
                total += 1
                void += row.y > 0.5
                short = max(short, true.get(round(row.x, 9), 0.0) - row.y)
    holds = short <= 1e-6
    return Finding(
        "The flipping probability that solves eq. (4) is at most the value of eq. (7) (Obs. 10)",
        Verdict.of(holds),
        f"at all of {total} pairs of profiles; at {void} of them eq. (7) is above 1/2, which says "
        "nothing: a numerator and its denominator are both negative there"
        if holds
        else f"it is larger by up to {short:.3f}",
        "" if holds else "The value of eq. (7) is too small.",
    )


def _printed_value(points: Points) -> Finding:
    rows = [
        row
        for panel in PLACES
        for epsilon in PRINTED_BUDGETS
        for row in points.of(panel, of(PRINTED, epsilon))
    ]
    impossible = sum(row.y > 1 + _HAIR for row in rows)
    said = points.at("a-high", of(PRINTED, "0.5"), 0.1)
    true = formulas.flip_probability(0.8, 0.9, 0.5)
    return Finding(
        "Flipping with the probability of eq. (7) meets the constraints (proof of Obs. 10)",
        Verdict.REFUTED if impossible else Verdict.CONFIRMED,
        f"for p = 0.8 and 0.9 and ε = 0.5 it says {said:.3f}; it is above 1 for {impossible} of "
        f"{len(rows)} pairs of profiles",
        f"A probability cannot be above 1; what is needed there is {true:.3f}."
        if impossible
        else "",
    )


def _structure(points: Points) -> Finding:
    nats = dict(zip(_NUMBERS, informative(graph()), strict=True))
    order = sorted(_NUMBERS, key=lambda number: nats[number])
    costs = np.array([points.y("c", category(number)) for number in order])
    holds = (np.diff(costs, axis=0) >= -1e-7).all(axis=0)
    holds &= (costs[-1] > costs[0] + 1e-7) | (costs[-1] <= 1e-6)
    at = points.x("c", category(1)).tolist().index(0.3)
    said = ", ".join(
        f"{cost:.3f} ({nats[number]:.2f} nats)"
        for number, cost in zip(order, costs[:, at], strict=True)
    )
    silent = float(points.y("best", category(order[0])).max())
    return Finding(
        "Categories that say less about the profile have lower costs (2c)",
        Verdict.of(holds),
        f"at ε = 0.3 the costs of {', '.join(map(str, order))}, in the order of what they say, "
        f"are {said}; the optimum for these costs keeps {order[0]} "
        + ("as it is" if silent < _HAIR else f"to within {silent:.1g}"),
        ""
        if holds.all()
        else f"The costs are in another order at {int((~holds).sum())} of {len(holds)} ε.",
    )


def _no_structure(points: Points) -> Finding:
    costs = np.array([points.y("b", category(number)) for number in _NUMBERS])
    apart = float(np.ptp(costs, axis=0).max())
    return Finding(
        "The baseline makes no use of what the categories say (2b)",
        Verdict.of(apart < 1e-6),
        f"its four costs differ by at most {apart:.1g}",
        "" if apart < 1e-6 else "Its costs differ.",
    )


def _baseline_is_worse(points: Points) -> Finding:
    budgets = points.x("b", category(1))
    ours = np.array([points.y("c", category(number)) for number in _NUMBERS])
    theirs = np.array([points.y("b", category(number)) for number in _NUMBERS])
    dearer = ours > theirs + 1e-7
    worse = dearer.any(axis=0)
    which = sorted({int(number) for number in np.argwhere(dearer)[:, 0] + 1})
    least = points.y("largest", LEAST)
    always = bool((least < points.y("largest", RESPONSE)).all())
    return Finding(
        "The baseline has the higher costs (2b, 2c)",
        Verdict.of(~dearer.ravel()),
        f"at ε = 0.3 the largest cost is {points.at('largest', SMOOTH, 0.3):.3f} against "
        f"{points.at('largest', RESPONSE, 0.3):.3f}; the least possible is "
        f"{points.at('largest', LEAST, 0.3):.3f}",
        ""
        if not worse.any()
        else f"Not of category {', '.join(map(str, which))} for ε up to "
        f"{budgets[worse].max():g}: eq. (6) makes the largest chance of a wrong value small, not "
        "this cost." + (" A mechanism made for this cost is better at every ε." if always else ""),
    )


def _private(points: Points) -> Finding:
    drawn = [
        row
        for panel in (*PLACES, "b", "c", "largest")
        for curve in points.curves(panel)
        if not curve.startswith(PRINTED)
        for row in points.of(panel, curve)
        if row.leakage is not None and row.budget
    ]
    most = max((row.leakage or 0.0) / (row.budget or 1.0) for row in drawn)
    response = points.leakage("largest", RESPONSE) / points.x("largest", RESPONSE)
    return Finding(
        "The smooth mechanisms keep ε (Theorems 7 and 8), and so does the baseline (Theorem 9)",
        Verdict.of(most <= 1 + _HAIR),
        f"the exact audit finds no loss above ε; the baseline loses only {response.min():.0%} to "
        f"{response.max():.0%} of it",
        "" if most <= 1 + _HAIR else f"Some lose {most:.2f} times their budget.",
    )


# --- how it looks --------------------------------------------------------------------------------


def _couplet(key: str, title: str, top: float, right: float = 1.0) -> Panel:
    return Panel(
        key, _GAP, _FLIP, title, x_limits=(-0.02 * right, 1.02 * right), y_limits=(-0.02 * top, top)
    )


COSTS = Figure(
    key="004-fig2",
    name="Fig. 2",
    title="How often a bit is flipped, and how far off frequencies are",
    says="The further apart two profiles are, the more often their bit is flipped, but always less "
    "often than under local differential privacy. With four categories, those that say little "
    "about the profile are kept more faithfully; the baseline keeps none of them better, and is "
    "worse.",
    compute=flips_and_costs.compute,
    judge=_judge,
    panels=(
        _couplet("a-middle", "(a) couplet, evenly about ½", 0.5),
        _couplet("a-high", "(a) couplet, lower parameter 0.8", 0.5, 0.2),
        Panel(
            "largest", _EPSILON, "largest cost of the four", "every method", y_limits=(-0.004, 0.17)
        ),
        Panel("b", _EPSILON, _COST, "(b) categorical chain, baseline", y_limits=(-0.004, 0.17)),
        Panel("c", _EPSILON, _COST, "(c) smooth categorical", y_limits=(-0.004, 0.17)),
        Panel("best", _EPSILON, _COST, "optimum for these costs", y_limits=(-0.004, 0.17)),
    ),
    curves=(
        *(
            Curve(of(LDP, epsilon), "grey", line, width=1.3)
            for epsilon, (_, line) in zip(BUDGETS, _OURS, strict=True)
        ),
        *(
            Curve(of(ONE, epsilon), "gold", line, width=3.4, shade=0.45)
            for epsilon, (_, line) in zip(PRINTED_BUDGETS, _OURS, strict=False)
        ),
        *(
            Curve(of(OURS, epsilon), colour, line)
            for epsilon, (colour, line) in zip(BUDGETS, _OURS, strict=True)
        ),
        *(
            Curve(of(PRINTED, epsilon), "orange", "none", marker)
            for epsilon, marker in zip(PRINTED_BUDGETS, _MARKERS, strict=True)
        ),
        *(
            Curve(category(number), colour, line, width=width)
            for number, (colour, line, width) in zip(_NUMBERS, _CATEGORIES, strict=True)
        ),
        Curve(RESPONSE, "grey"),
        Curve(CLUSTER, "gold", "dotted"),
        Curve(SMOOTH, "teal", "dashed", width=2.0),
        Curve(LEAST, "blue"),
    ),
    notes="The paper gives neither the ε of (a) nor where the two parameters lie: three budgets "
    "and two placements are shown. Smooth One Bit may flip the two profiles differently, which "
    "helps unless they lie evenly about 1/2; eq. (7) speaks of one flip for both. With the lower "
    "parameter 0.8 it is above 1 nearly everywhere, beyond the panel. In (b) the four curves are "
    "one: in each category some profile is 0.15 away from 1/4. The optimum of eq. (6) is not "
    "unique; of all optima the one that moves the least is taken, and its costs need not be smooth "
    "in ε. All mechanisms are certified; Smooth One Bit is the optimum of eq. (5), and the optimum "
    "for eq. (8) is ours.",
)
