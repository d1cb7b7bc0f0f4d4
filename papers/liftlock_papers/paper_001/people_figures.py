"""Fig. 8 and Fig. 9 of paper 001: users with priors of their own, and real data."""

from __future__ import annotations

import math

import numpy as np

from liftlock_papers.figure import Curve, Figure, Finding, Panel, Verdict
from liftlock_papers.paper_001 import check_ins, clicks, expected, local_priors
from liftlock_papers.paper_001.judging import (
    RARE,
    below,
    half_against_ldp,
    keeps_its_promise,
    percent,
    places,
    sandwiched,
    share,
)
from liftlock_papers.paper_001.local_priors import SIMULATED, SIZES, simulated
from liftlock_papers.paper_001.looks import BUDGET, ERROR, LOOKS, PROTECTION, looks
from liftlock_papers.paper_001.names import (
    MERGED,
    NOTHING,
    OPTIMUM,
    OPTIMUM_HALF,
    PUBLISHED,
    PUBLISHED_HALF,
    RESPONSE,
    UNARY,
)
from liftlock_papers.paper_001.trusted_curator import CURATOR, CURATOR_PUBLISHED
from liftlock_papers.points import Points

# --- Fig. 8 ---------------------------------------------------------------------------------------

_PANELS = tuple(str(people) for people in SIZES)
_NOT_LARGE = 0.5
"""The share of an error from which on a gap is called large."""


def _judge_local(points: Points) -> list[Finding]:
    few, many, most = _PANELS
    better = np.concatenate([below(points, panel, OPTIMUM, RESPONSE) for panel in _PANELS])
    curator = np.concatenate([below(points, panel, CURATOR, OPTIMUM) for panel in _PANELS])
    gaps = {panel: share(points, panel, CURATOR, OPTIMUM) for panel in _PANELS}
    small = np.concatenate([gap < _NOT_LARGE for gap in gaps.values()])
    leaks = float(points.leakage(most, CURATOR)[0])
    apart = {
        panel: max(
            float(np.abs(points.y(panel, curve) / points.y(most, curve) - 1).max())
            for curve in local_priors.CURVES
        )
        for panel in (few, many)
    }
    settles = apart[many] < 0.05
    inside = _inside(points)
    return [
        half_against_ldp(
            points,
            few,
            "With 5 users LIP at ε/2 is better than LDP at ε when ε is small, because some priors "
            "are far from 1/2",
        ),
        Finding(
            "LIP at ε is better than LDP at ε, whatever ε is",
            Verdict.of(better),
            f"certified optimum: {int(better.sum())} of {len(better)} places",
            "" if better.all() else "not everywhere",
        ),
        sandwiched(
            points,
            _PANELS,
            RESPONSE,
            "The error of LDP at ε lies (almost) between LIP at ε and LIP at ε/2",
        ),
        Finding(
            "A trusted curator always has a smaller error than users who protect themselves",
            Verdict.of(curator),
            f"{int(curator.sum())} of {len(curator)} places; at the smallest ε with {few} users "
            f"{points.y(few, CURATOR)[0]:.3f} against {points.y(few, OPTIMUM)[0]:.3f}",
            "" if curator.all() else "not everywhere",
        ),
        Finding(
            "The gap between the curator and the users is not large (section I)",
            Verdict.of(small),
            f"the curator saves {percent(float(gaps[few].min()))} to "
            f"{percent(float(gaps[few].max()))} of the error of {few} users, and all but "
            f"{percent(1 - float(gaps[most].min()))} of that of {int(most):,}",
            ""
            if small.all()
            else f"less than half is saved in {int(small.sum())} of {len(small)} places, with "
            f"{few} users: a curator may release the count of {int(most):,} as it is, up to rare "
            f"extremes, which tells {leaks:.2f} nats about anybody's bit",
        ),
        Finding(
            "The averages settle as N grows",
            Verdict.of(settles),
            f"curves of {few} users differ by up to {percent(apart[few])} from those of "
            f"{int(most):,}, curves of {many} by up to {percent(apart[many])}",
            "" if settles else "the priors that happen to be drawn matter",
        ),
        Finding(
            "Simulation agrees with the closed formulas",
            Verdict.of(inside > 0.85),
            f"{percent(inside)} of the simulated means have the exact error inside their 95 % "
            "interval",
            "" if inside > 0.85 else "too few",
        ),
        keeps_its_promise(
            points,
            (few,),
            (CURATOR_PUBLISHED,),
            "it bounds how far beliefs may fall, not how far they may rise",
            "The range of Prop. 5 keeps the promise of centralised information privacy",
        ),
        keeps_its_promise(
            points,
            _PANELS,
            (PUBLISHED, PUBLISHED_HALF),
            f"{RARE}, for the user with the most certain prior",
        ),
    ]


def _inside(points: Points) -> float:
    """Return the share of simulated means whose interval holds the exact error."""
    hits = [
        abs(row.y - points.at(panel, curve, row.x)) <= (row.error or 0.0)
        for panel in _PANELS
        for curve in SIMULATED
        for row in points.of(panel, simulated(curve))
    ]
    return sum(hits) / len(hits)


FIGURE_8 = Figure(
    key="001-fig8",
    name="Fig. 8",
    title="A survey of users who each have a prior of their own",
    says="With few users LIP at ε/2 and LDP at ε cross; with many LIP at ε is always better than "
    "LDP at ε, which lies almost between LIP at ε and at ε/2; a trusted curator is better still.",
    compute=local_priors.trade_offs,
    judge=_judge_local,
    panels=tuple(
        Panel(panel, BUDGET, ERROR, f"N = {people:,}", y_limits=(0, None))
        for panel, people in zip(_PANELS, SIZES, strict=True)
    ),
    curves=(
        *looks(RESPONSE, PUBLISHED, PUBLISHED_HALF, OPTIMUM, OPTIMUM_HALF),
        Curve(CURATOR, "green", marker="^", label="trusted curator (CIP)"),
        Curve(CURATOR_PUBLISHED, "gold", "dotted"),
        *(
            Curve(simulated(curve), LOOKS[curve].colour, "none", "x", label="simulated means")
            for curve in SIMULATED
        ),
    ),
    notes="Priors are drawn once for each N, uniformly from the middles of 256 cells of [0, 1] (16 "
    "in a quick run), so that every mechanism in use is a certified one. In each of 10,000 runs "
    "(300 in a quick run) data and reports are drawn anew; the lines are exact expectations. The "
    "paper's curator is optimised by unnamed tools: here it is the certified optimum for 5 users "
    "(beside the one-sided range of Prop. 5), and the clipped count for more, whose error is zero "
    "to the eye; what is audited there is the law of that count, computed in floating point. "
    f"Leakages are those of the worst user. {PROTECTION}",
)


# --- Fig. 9a --------------------------------------------------------------------------------------


def _not_rare(share: float) -> float:
    """Return the budget from which on a value of this share is not rare: 1/(e^ε + 1) = share."""
    return math.log(1 / share - 1)


def _judge_clicks(points: Points) -> list[Finding]:
    better = below(points, "a", OPTIMUM, RESPONSE)
    saved, x = share(points, "a", OPTIMUM, RESPONSE), points.x("a", OPTIMUM)
    # For an even prior: eq. (21), which holds there, and eq. (24).
    even = 1 - np.sqrt((2 - np.exp(-x)) * np.exp(-x) / (4 * np.exp(x) / (np.exp(x) + 1) ** 2))
    more = saved > even
    one = int(np.flatnonzero(np.isclose(x, 1))[0])
    helps = points.y("b", OPTIMUM) < points.y("b", NOTHING)
    popular = points.at("c", clicks.PAGES, clicks.POPULAR + 1)
    # With no release the error is that of the prior, P1 (1 − P1), squared.
    rare = (1 - math.sqrt(1 - 4 * points.y("a", NOTHING)[0] ** 2)) / 2
    return [
        Finding(
            "LDP has a larger error than LIP at the same ε",
            Verdict.of(better),
            f"certified optimum: {int(better.sum())} of {len(better)} places; at ε = 1 it saves "
            f"{percent(float(saved[one]))} of the error",
            "" if better.all() else "not everywhere",
        ),
        half_against_ldp(points, "a", "For some small ε even LIP at ε/2 is better than LDP at ε"),
        Finding(
            "The more specific the prior, the more LIP gains over LDP",
            Verdict.of(more),
            f"with this prior LIP saves {percent(float(saved[one]))} of the error of LDP at ε = 1, "
            f"with an even one {percent(float(even[one]))}; at ε = {x[-1]:g} "
            f"{percent(float(saved[-1]))} and {percent(float(even[-1]))}",
            "belief in a rare value may hardly rise, so that a small budget allows next to "
            f"nothing; only budgets near ln(1/P1) = {-math.log(rare):.1f} help",
        ),
        Finding(
            "Implied: the reports help to estimate how many pages are popular",
            Verdict.of(helps),
            f"{popular:.0f} pages are, and the prior alone says so (panel b: error 0); reports add "
            f"an error of up to {points.y('b', OPTIMUM).max():.4f} under LIP, "
            f"{points.y('b', RESPONSE).max():.4f} under LDP",
            "the global prior was taken from the very pages that are asked; the errors of panel a "
            "are those for pages drawn afresh from it",
        ),
        keeps_its_promise(
            points,
            ("a",),
            (PUBLISHED, PUBLISHED_HALF),
            f"{RARE}: here from ε = {_not_rare(rare):.2f} on",
        ),
    ]


FIGURE_9A = Figure(
    key="001-fig9a",
    name="Fig. 9a",
    title="Which pages of a news portal are popular (Kosarak)",
    says="LDP has a larger error than LIP; for small ε even LIP at ε/2 is better than LDP at ε, "
    "since popular pages are rare: the more specific the prior, the larger the gain.",
    compute=clicks.trade_offs,
    judge=_judge_clicks,
    panels=(
        Panel("a", BUDGET, ERROR, "(a) expected, pages drawn from the prior", y_scale="log"),
        Panel("b", BUDGET, ERROR, "(b) on the pages themselves (ours)"),
        Panel(
            "c",
            "clicks",
            "pages with so many or more",
            "(c) the pages; popular beyond 15,000",
            x_scale="log",
            y_scale="log",
            mark=clicks.POPULAR,
        ),
    ),
    curves=(
        *looks(RESPONSE, PUBLISHED, PUBLISHED_HALF, OPTIMUM, OPTIMUM_HALF, NOTHING),
        Curve(clicks.PAGES, "green", "none", marker="+"),
    ),
    needs=("kosarak",),
    stated=expected.CLICKS,
    notes="A page is a user; its bit says whether it has more than 15,000 clicks. The range of ε "
    "is ours, so that it shows where the published response begins to keep its promise. "
    f"{PROTECTION}",
)


# --- Fig. 9b --------------------------------------------------------------------------------------


def _judge_check_ins(points: Points) -> list[Finding]:
    better = np.concatenate([below(points, panel, OPTIMUM, MERGED) for panel in "ab"])
    here, there, even = (
        points.y("c", curve) for curve in (check_ins.HERE, check_ins.TWENTY, check_ins.EVEN)
    )
    clearer, wider, x = here > there, even > there, points.x("c", check_ins.HERE)
    two = int(np.flatnonzero(np.isclose(x, 2))[0])
    districts = len(points.of("d", check_ins.PAST))
    drift = points.y("b", NOTHING)[0] / points.y("a", NOTHING)[0]
    unaware = below(points, "b", UNARY, OPTIMUM)
    rarest = float(points.y("d", check_ins.PAST).min())
    return [
        Finding(
            "83 districts occur",
            Verdict.CONFIRMED if districts == expected.DISTRICTS else Verdict.OPEN,
            f"{districts}, of the whole world cut into 36 × 36",
            ""
            if districts == expected.DISTRICTS
            else "neither the map nor the choice of users is stated, and these are other users",
        ),
        Finding(
            f"There are {expected.USERS:,} users in this data set",
            # Whose last check-in has a prior from earlier ones has two check-ins at least.
            Verdict.of(2 * expected.USERS <= expected.CHECK_INS),
            f"SNAP's file has {expected.CHECK_INS:,} check-ins in all, so at most half as many "
            "users can have a last and an earlier one",
            "it is the number of the check-ins, not of the users",
        ),
        Finding(
            "LIP has a smaller error than LDP at the same ε",
            Verdict.of(better),
            f"certified optimum against response on merged districts: {int(better.sum())} of "
            f"{len(better)} places; at ε = 2 {points.at('a', OPTIMUM, 2):.2f} against "
            f"{points.at('a', MERGED, 2):.2f} (k-ary response {points.at('a', RESPONSE, 2):.2f})",
            "" if better.all() else "not everywhere",
        ),
        sandwiched(
            points,
            ("a",),
            MERGED,
            "As in Fig. 7, the error of LDP lies between LIP at ε and LIP at ε/2",
        ),
        Finding(
            "The advantage of LIP is clearer here than for the 20 values of Fig. 7",
            Verdict.of(clearer),
            f"at ε = 2 LIP saves {percent(float(here[two]))} of the error of k-ary response, in "
            f"Fig. 7 {percent(float(there[two]))}; at ε = {x[-1]:g} {percent(float(here[-1]))} "
            f"and {percent(float(there[-1]))}",
            ""
            if clearer.all()
            else f"with ε {places(points, 'c', check_ins.HERE, clearer)}; with more, no value of "
            "Fig. 7 is rare for the budget, while districts still are",
        ),
        Finding(
            "The advantage of LIP is larger because the domain is (83 districts, not 20 values)",
            Verdict.of(wider),
            f"with even priors LIP saves {percent(float(even[two]))} with {districts} values, "
            f"{percent(float(there[two]))} with 20, at ε = 2; {percent(float(even[-1]))} and "
            f"{percent(float(there[-1]))} at ε = {x[-1]:g}",
            ""
            if wider.all()
            else f"with ε {places(points, 'c', check_ins.HERE, wider)}, where no value is rare for "
            "the budget; below, more values leave LIP less room, and what helps is that a few "
            "districts hold most check-ins",
        ),
        Finding(
            "Implied: past check-ins are a prior of the last one",
            Verdict.of(drift < 1.5),
            f"with no release the prior expects an error of {points.y('a', NOTHING)[0]:.2f}; on "
            f"the last check-ins it is {points.y('b', NOTHING)[0]:.2f}; where unary encoding, "
            "which needs no prior, is better there than certified LIP: "
            f"{places(points, 'b', OPTIMUM, unaware)}",
            ""
            if drift < 1.5
            else "users move: the prior is biased, and the bias of an estimated histogram does not "
            "average out",
        ),
        keeps_its_promise(
            points,
            ("a",),
            (PUBLISHED, PUBLISHED_HALF),
            f"{RARE}: here a district has a share of {rarest:.1g}, so from ε = "
            f"{_not_rare(rarest):.1f} on",
        ),
    ]


FIGURE_9B = Figure(
    key="001-fig9b",
    name="Fig. 9b",
    title="Where users checked in last (Gowalla, 36 × 36 districts)",
    says="The same trends as in Fig. 7, and a clearer advantage of LIP, because 83 districts are "
    "more than 20 values.",
    compute=check_ins.trade_offs,
    judge=_judge_check_ins,
    panels=(
        Panel("a", BUDGET, ERROR, "(a) expected, check-ins drawn from the prior", y_scale="log"),
        Panel("b", BUDGET, ERROR, "(b) on the last check-ins (ours)", y_scale="log"),
        Panel("c", BUDGET, "share of the LDP error that LIP saves", "(c) what LIP saves"),
        Panel(
            "d",
            "district, the most likely first",
            "share of check-ins",
            "(d) the districts",
            y_scale="log",
        ),
    ),
    columns=2,
    curves=(
        *looks(UNARY, RESPONSE, MERGED, PUBLISHED, PUBLISHED_HALF, OPTIMUM, OPTIMUM_HALF, NOTHING),
        Curve(check_ins.HERE, "green", marker="o"),
        Curve(check_ins.TWENTY, "green", "dashed"),
        Curve(check_ins.EVEN, "green", "dotted"),
        Curve(check_ins.PAST, "purple"),
        Curve(check_ins.LAST, "red", "none", marker="x"),
    ),
    needs=("gowalla",),
    notes="The paper's map is not stated; the whole world is taken. The complete "
    "file (6,442,892 check-ins, which the paper calls users) is read if it is there, else a slice "
    "of it. LDP is given the "
    "districts that occur, as the paper does. The search for the best under LDP takes too long "
    "for so many; response on merged districts stands for it, which the best may be below. "
    f"{PROTECTION}",
)
