"""Figures 8 and 9 of paper 000: Gaussian noise, and what the paper says about it."""

from __future__ import annotations

import numpy as np

from liftlock_papers.figure import Curve, Figure, Finding, Panel, Verdict
from liftlock_papers.paper_000 import gaussian_noise
from liftlock_papers.points import Floats, Points

# --- figure 8 ------------------------------------------------------------------------------------


def _judge_8(points: Points) -> list[Finding]:
    return [
        _outperforms(points),
        _fair(points),
        _theorem_5(points),
        _not_empty(points),
        _classical(points),
    ]


def _outperforms(points: Points) -> Finding:
    budgets = points.x("a", "LIP, x = 10")
    edge = points.y("a", "LIP, x = 10")
    ldp = np.minimum(points.y("a", "2ε-LDP, classical bound"), points.y("a", "2ε-LDP, eq. (24)"))
    smaller = [points.y("a", f"LIP, x = {x}") < ldp for x in (0, 5, 10)]
    cut = points.y("a", "LIP on [−10, 10], certified")
    cut_ldp = points.y("a", "2ε-LDP on [−10, 10], certified")
    worse = edge >= ldp
    worse_cut = (cut >= cut_ldp) & (cut > 0)
    at = int(np.abs(budgets - 1).argmin())
    first, first_cut = (
        f"{budgets[where].min():.2f}" if where.any() else "no ε" for where in (worse, worse_cut)
    )
    return Finding(
        "With the same noise LIP has a smaller δ than both Gaussian mechanisms for 2ε-LDP",
        Verdict.of([*np.concatenate(smaller), *~worse_cut]),
        f"at ε = 1 δ is {points.y('a', 'LIP, x = 0')[at]:.5f} for x = 0, "
        f"{points.y('a', 'LIP, x = 5')[at]:.3f} for x = 5, {edge[at]:.3f} for x = 10, and "
        f"{ldp[at]:.3f} for 2ε-LDP. At "
        f"x = 10 LDP has the smaller δ from ε = {first} on, with clamping from {first_cut} on",
        "It depends on x and on ε: values at the edge of [−10, 10], which LDP protects as well, "
        "need more δ than 2ε-LDP once ε is large.",
    )


def _fair(points: Points) -> Finding:
    implied = points.y("a", "LIP, x = 10, as 2ε-LDP")
    analytic = points.y("a", "2ε-LDP, eq. (24)")
    better = implied < analytic
    budgets = points.x("a", "2ε-LDP, eq. (24)")
    at = int(np.abs(budgets - 1).argmin())
    return Finding(
        "The comparison with 2ε-LDP is fair (caption). Implied: what LIP gains remains when its δ, "
        "too, is carried over to LDP",
        Verdict.of(better),
        f"carried over by Corollary 3 the δ of LIP is {implied[at]:.3f} at ε = 1, that of LDP "
        f"{analytic[at]:.3f}; it is smaller at {int(better.sum())} of {len(better)} budgets",
        "Corollary 3 also multiplies δ, by e^ε + 1, which the comparison leaves out. With it LIP "
        "shows no advantage here: it is the same noise.",
    )


def _theorem_5(points: Points) -> Finding:
    everywhere = points.y("a", "LIP, every x: Thm 5")
    certified = points.y("a", "LIP on [−10, 10], certified")
    edge = points.y("a", "LIP, x = 10")
    budgets = points.x("a", "LIP, x = 10")
    at = int(np.abs(budgets - 1).argmin())
    holds = bool(np.all(certified <= everywhere * (1 + 1e-9)))
    return Finding(
        "Gaussian noise gives (ε, δ)-LIP with the δ of Theorem 5, the supremum over all x",
        Verdict.of(holds),
        f"on [−10, 10] the certified δ is {certified[at]:.3f} at ε = 1, the formula gives "
        f"{edge[at]:.3f} at the edge and {everywhere[at]:.3f} as its supremum",
        "" if holds else "The certified δ is larger.",
    )


def _not_empty(points: Points) -> Finding:
    everywhere = points.y("a", "LIP, every x: Thm 5")
    below = everywhere < 0.99
    return Finding(
        "Implied: the δ of Theorem 5 is below 1, so that it promises something",
        Verdict.of(below),
        f"the supremum is {everywhere.min():.3f} to {everywhere.max():.3f}, whatever ε is",
        ""
        if below.all()
        else "A Gaussian prior has no end, so the supremum over all x is 1: the theorem is true "
        "and empty. A δ below 1 needs a declared range, and what lies beyond is not protected.",
    )


def _classical(points: Points) -> Finding:
    classical = points.y("a", "2ε-LDP, classical bound")
    analytic = points.y("a", "2ε-LDP, eq. (24)")
    budgets = points.x("a", "2ε-LDP, eq. (24)")
    wrong = classical < analytic
    holds = not wrong.any()
    return Finding(
        "The classical bound 1.25 exp(−ε² σ² / (2 ΔX²)) bounds the δ of LDP",
        Verdict.of(holds),
        "never below eq. (24) in this range"
        if holds
        else f"below eq. (24) from ε = {budgets[wrong].min():.2f} on",
        ""
        if holds
        else "It is proved for an ε of LDP of at most 1, here up to ε = 0.5 of LIP, and holds "
        "there.",
    )


FIG8 = Figure(
    key="000-fig8",
    name="Fig. 8",
    title="δ against ε of Gaussian noise: LIP and 2ε-LDP",
    says="The outage δ of Gaussian noise of deviation 10 for data N(0, 25) within ΔX = 20, under "
    "ε-LIP at several values x and under 2ε-LDP.",
    compute=gaussian_noise.outage,
    judge=_judge_8,
    panels=(Panel("a", "ε (nats)", "δ", "", y_scale="log", y_limits=(1e-7, 2)),),
    curves=(
        Curve("LIP, every x: Thm 5", "red", "dashed", label="LIP, every x (Thm. 5)"),
        Curve(
            "LIP on [−10, 10], certified", "green", width=3.4, label="LIP on [−10, 10], certified"
        ),
        Curve(
            "2ε-LDP on [−10, 10], certified",
            "grey",
            "dashdot",
            width=3.0,
            label="2ε-LDP on [−10, 10], certified",
            shade=0.4,
        ),
        Curve("2ε-LDP, eq. (24)", "grey", width=1.4, label="2ε-LDP, eq. (24)"),
        Curve(
            "2ε-LDP, classical bound", "grey", "dotted", width=2.0, label="2ε-LDP, classical bound"
        ),
        Curve(
            "LIP, x = 10, as 2ε-LDP", "purple", "dashdot", label="LIP, x = 10, as 2ε-LDP by Cor. 3"
        ),
        Curve("LIP, x = 10", "orange", label="LIP as published, x = 10"),
        Curve("LIP, x = 5", "orange", "dashed", label="LIP as published, x = 5"),
        Curve("LIP, x = 0", "orange", "dotted", width=2.0, label="LIP as published, x = 0"),
    ),
    notes="Which values x were drawn is not said; here 0, 5 and 10, the edge of ΔX = 20. δ is that "
    "of Corollary 9. The certified curves are the exact audit of the finite channel that clamps "
    "the sum to [−10, 10], with values beyond taken for the nearer end; they end where δ is 0.",
)


# --- figure 9 ------------------------------------------------------------------------------------


def _judge_9(points: Points) -> list[Finding]:
    return [_rarer_needs_more(points), _corollary_10(points), _benefit(points)]


def _rises(row: Floats) -> bool:
    """Say whether numbers never fall by more than the last digits of what they are read from."""
    return bool(np.all(np.diff(row) >= -1e-4 * row[1:]))


def _rarer_needs_more(points: Points) -> Finding:
    curves = ("published, by value", "certified, by value")
    rises = {curve: all(_rises(points.y(panel, curve)) for panel in "ab") for curve in curves}
    published, certified = (points.y("a", curve)[[0, -1]] for curve in curves)
    holds = all(rises.values())
    return Finding(
        "Values of high density need less noise, values of low density more",
        Verdict.of(holds),
        f"ε = 1: published σ(0) = {published[0]:.1f} and σ(10) = {published[1]:.1f}; in the "
        f"certified mechanism {certified[0]:.1f} and {certified[1]:.1f}",
        "" if holds else "The deviation does not rise with the distance from the mean.",
    )


def _corollary_10(points: Points) -> Finding:
    found = {
        panel: max(row.leakage or 0.0 for row in points.of(panel, "published, by value"))
        for panel in "ab"
    }
    holds = max(found.values()) <= gaussian_noise.DELTA
    worst = found["a"] / gaussian_noise.DELTA
    return Finding(
        "The deviations of Corollary 10, one for each x, keep (ε, δ)-LIP with δ = 10⁻⁴",
        Verdict.of(holds),
        f"the true δ is up to {found['a']:.3f} at ε = 1, {worst:,.0f} times as much, and "
        f"{found['b']:.3f} at ε = 2",
        ""
        if holds
        else "The rule takes the output for N(μ, σ_X² + σ_N²), as if all values had the same "
        "noise. They have not, and the output law is another.",
    )


def _benefit(points: Points) -> Finding:
    one = {panel: points.y(panel, "certified, one for all")[0] for panel in "ab"}
    many = {panel: points.y(panel, "certified, by value") for panel in "ab"}
    less = np.concatenate([many[panel] < one[panel] for panel in "ab"])
    ldp = points.y("a", "ε-LDP, certified")[0]
    return Finding(
        "Implied: noise that depends on the value gives better utility",
        Verdict.of(less),
        f"calibrated on the true output law σ(x) is {many['a'].min():.1f} to {many['a'].max():.1f} "
        f"at ε = 1, one deviation for all {one['a']:.1f}, for ε-LDP {ldp:.1f}",
        "" if less.all() else "Not at every value.",
    )


FIG9 = Figure(
    key="000-fig9",
    leaks="true δ",
    name="Fig. 9",
    title="The deviation of Gaussian noise against the value, δ = 10⁻⁴",
    says="The deviation of the noise that each value x gets, for data N(0, 25) and δ = 10⁻⁴: less "
    "where the prior is dense.",
    compute=gaussian_noise.deviations,
    judge=_judge_9,
    panels=tuple(
        Panel(
            panel,
            "value x (distance from the mean)",
            "noise deviation σ_N (units of x)",
            f"({panel}) ε = {budget}",
            y_limits=(0, None),
        )
        for panel, budget in gaussian_noise.BUDGETS.items()
    ),
    curves=(
        Curve("published, by value", "orange", label="as published (Cor. 10); its true δ"),
        Curve("certified, by value", "blue", width=2.2, label="certified, by value"),
        Curve("certified, one for all", "teal", "dashed", label="certified, one for all"),
        Curve("ε-LDP, certified", "grey", label="ε-LDP, certified"),
        Curve("ε-LDP, eq. (24)", "grey", "dotted", width=2.0, label="ε-LDP, eq. (24), ΔX = 20"),
    ),
    notes="The budgets ε = 1 and 2 are ours; x runs to 10, half of the ΔX of Fig. 8. The numbers "
    "at the rings are the δ that the value truly has when every value has its own published "
    "deviation, by quadrature. The certified mechanisms clamp the sum to [−10, 10], which lets "
    "them do with less noise; their deviations are read off the certified tables. The paper does "
    "not clamp: if it did, its deviations would keep both budgets, with noise to spare. Blue is "
    "what comes in the place of the published deviations; the optimum has no deviation. The text "
    "refers to this figure where it means Fig. 8.",
)
