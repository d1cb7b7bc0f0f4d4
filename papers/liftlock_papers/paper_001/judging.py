"""Judge the claims that several figures of paper 001 make: from the points alone."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from liftlock_papers.figure import Finding, Verdict
from liftlock_papers.paper_001.names import (
    OPTIMUM,
    OPTIMUM_HALF,
    PUBLISHED,
    PUBLISHED_HALF,
    RESPONSE,
)
from liftlock_papers.points import Floats, Points

Truths = npt.NDArray[np.bool_]

SAME = 1e-7
"""Two errors that differ by less are the same: solvers prove a gap of 1e-6 in the square."""

BEST = {PUBLISHED: OPTIMUM, PUBLISHED_HALF: OPTIMUM_HALF}
"""The certified curve that belongs to a published one."""

RARE = "it holds only if no value is rarer than 1/(e^ε + 1)"

HALF_IMPOSSIBLE = (
    "whatever keeps ε/2-LIP keeps ε-LDP too (001 Thm 1), so it cannot have a smaller error than "
    "the best under ε-LDP"
)


def share(points: Points, panel: str, ours: str, theirs: str) -> Floats:
    """Return the share of an error that one curve saves of another's, place by place."""
    found: Floats = 1 - points.y(panel, ours) / points.y(panel, theirs)
    return found


def below(points: Points, panel: str, lower: str, upper: str) -> Truths:
    """Say where one curve is truly below another."""
    found: Truths = share(points, panel, lower, upper) > SAME
    return found


def not_above(points: Points, panel: str, lower: str, upper: str) -> Truths:
    """Say where one curve is not above another."""
    found: Truths = share(points, panel, lower, upper) >= -SAME
    return found


def places(points: Points, panel: str, curve: str, truths: Truths) -> str:
    """Name the places where something holds: all, none, or which."""
    x = points.x(panel, curve)
    if truths.all():
        return "everywhere"
    if not truths.any():
        return "nowhere"
    found = np.flatnonzero(truths)
    runs = np.split(found, np.flatnonzero(np.diff(found) > 1) + 1)
    return " and ".join(
        f"from {x[run[0]]:g} to {x[run[-1]]:g}" if len(run) > 1 else f"at {x[run[0]]:g}"
        for run in runs
    )


def percent(value: float) -> str:
    """Write a share so that small ones can be told from none.

    >>> percent(0.126), percent(0.00031), percent(2e-6)
    ('12.6 %', '0.03 %', '0.0002 %')
    """
    if value == 0 or abs(value) >= 0.01:
        return f"{100 * value:.1f} %"
    digits = max(0, -math.floor(math.log10(abs(100 * value))))
    return f"{100 * value:.{digits}f} %"


def keeps_its_promise(
    points: Points,
    panels: tuple[str, ...],
    curves: tuple[str, ...],
    condition: str,
    claim: str = "The published optimal response satisfies the LIP budget that it is made for",
) -> Finding:
    """Judge whether what was published keeps its budget: one that is broken refutes it.

    `condition` says when it does.
    """
    rows = [row for panel in panels for curve in curves for row in points.of(panel, curve)]
    kept = np.array([not row.broken for row in rows])
    worst = max(rows, key=lambda row: (row.leakage or 0.0) - (row.budget or 0.0))
    said = (
        f"{int((~kept).sum())} of {len(kept)} drawn mechanisms leak more than their budget; "
        f"at worst {worst.leakage:.2f} instead of {worst.budget:g}"
    )
    apart = [
        abs(row.y / points.at(row.panel, BEST[row.curve], row.x) - 1)
        for row in rows
        if row.curve in BEST and not row.broken
    ]
    if apart and max(apart) < 1e-6:
        said += "; where it keeps its budget it is the optimum"
    return Finding(claim, Verdict.of(bool(kept.all())), said, "" if kept.all() else condition)


def half_against_ldp(points: Points, panel: str, claim: str, best: str | None = None) -> Finding:
    """Judge whether LIP at half the budget has a smaller error than LDP.

    `best` is the curve of the best mechanism under LDP, where there is one besides randomised
    response; for one bit they are the same.
    """
    published = below(points, panel, PUBLISHED_HALF, RESPONSE)
    truly = below(points, panel, OPTIMUM_HALF, RESPONSE)
    said = (
        f"below randomised response: as published {places(points, panel, RESPONSE, published)}, "
        f"certified {places(points, panel, RESPONSE, truly)}"
    )
    if best is not None:
        beaten = below(points, panel, OPTIMUM_HALF, best)
        said += f"; below the best under LDP: {places(points, panel, RESPONSE, beaten)}"
        if beaten.any():
            return Finding(claim, Verdict.of(beaten), said, "a theorem says otherwise")
    if truly.any():
        weak = "against k-ary response only, which is not the best under LDP: "
        return Finding(claim, Verdict.CONDITION, said, weak + HALF_IMPOSSIBLE)
    weak = "only as published, with a broken promise: " if published.any() else ""
    return Finding(claim, Verdict.REFUTED, said, weak + HALF_IMPOSSIBLE)


def sandwiched(points: Points, panels: tuple[str, ...], best: str, claim: str) -> Finding:
    """Judge whether the errors of LDP lie between those of LIP at the same and at half the budget.

    The verdict is about the best mechanisms; what was published is told beside it.
    """

    def between(low: str, middle: str, high: str) -> Truths:
        return np.concatenate(
            [
                not_above(points, panel, low, middle) & not_above(points, panel, middle, high)
                for panel in panels
            ]
        )

    truly = between(OPTIMUM, best, OPTIMUM_HALF)
    published = between(PUBLISHED, RESPONSE, PUBLISHED_HALF)
    found = Verdict.of(truly)
    if found is Verdict.CONFIRMED and not published.all():
        found = Verdict.CONDITION
    return Finding(
        claim,
        found,
        f"certified: {int(truly.sum())} of {len(truly)} places; as published, with "
        f"randomised response for LDP: {int(published.sum())} of {len(published)}",
        ""
        if found is Verdict.CONFIRMED
        else "it is a theorem about the best mechanisms (ε-LDP implies ε-LIP, ε/2-LIP implies "
        "ε-LDP), and need not hold for mechanisms that break their budget",
    )
