"""Figure 10 of paper 000: Laplace noise, and what the paper says about it."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from liftlock.designs.formulas import laplace
from liftlock_papers.figure import Curve, Figure, Finding, Panel, Verdict
from liftlock_papers.paper_000 import laplace_noise
from liftlock_papers.points import Floats, Points

Bools = npt.NDArray[np.bool_]

_SAME = 1e-9


def _judge_10(points: Points) -> list[Finding]:
    return [_smaller_scale(points), _by_value(points), *_keep(points)]


def _ratio(points: Points, panel: str, curve: str, other: str = "b_LDP") -> Floats:
    return points.y(panel, curve) / points.y(panel, other)


def _first_branch(points: Points) -> tuple[float, Bools]:
    limit = -math.log(laplace_noise.OWN.rarest)
    return limit, points.x("a", "b_LDP") < limit


def _smaller_scale(points: Points) -> Finding:
    ratios = _ratio(points, "a", "b_LIP, eq. (25)")
    limit, first = _first_branch(points)
    least = _ratio(points, "a", "least b, certified")
    best = _ratio(points, "b", "optimum, no noise form")
    return Finding(
        "The context-aware Laplace mechanism outperforms the context-free one",
        Verdict.of(ratios < 1 - _SAME),
        f"its scale is {ratios[first].min():.2f} to {ratios[first].max():.2f} of b_LDP below ε = "
        f"{limit:.2f}, the same from there on; the true leakage allows {least.min():.2f} to "
        f"{least.max():.2f} of it everywhere, and the certified optimum has {best.min():.0%} to "
        f"{best.max():.0%} of its error",
        "Only for ε < ln(1/P_min): from there on eq. (25) jumps up to b_LDP, though its first "
        "branch is valid for every ε.",
    )


def _by_value(points: Points) -> Finding:
    ratios = np.array(
        [
            _ratio(points, "a", f"b_LIP({value:g}), eq. (26)", "b_LIP, eq. (25)")
            for value in laplace_noise.OWN.values
        ]
    )
    error = _ratio(points, "b", "b_LIP(x), eq. (26)", "b_LIP, eq. (25)")
    # The rarest value has the scale of eq. (25), by the reading of alpha.
    smaller = (ratios[:-1] < 1 - _SAME) & (ratios[-1] <= 1 + _SAME)
    return Finding(
        "Implied: scales that depend on the value are better still",
        Verdict.of(smaller.ravel()),
        f"down to {ratios.min():.2f} of eq. (25) for the likeliest value; the error falls by at "
        f"most {1 - error.min():.1%}",
        "α in eq. (26) is not defined. It is read so that the rarest value has the scale of eq. "
        "(25); then the scales are smaller only for ε < ln(1/P_min).",
    )


def _keep(points: Points) -> list[Finding]:
    whys = {
        "(25)": "It holds where ΔX is the width of the range of the output, as in 003, and not "
        "with the ΔX = x_max − x_min that the text defines.",
        "(26)": "Eq. (26) does not say how skewed the prior may be. It holds for the paper's own "
        "prior, fails for skewed ones, and on an unbounded range it leaks infinitely.",
    }
    return [
        _keeps(points, curve, why)
        for curve, why in zip(("b_LIP, eq. (25)", "b_LIP(x), eq. (26)"), whys.items(), strict=True)
    ]


def _keeps(points: Points, curve: str, why: tuple[str, str]) -> Finding:
    number, reason = why
    here = float(points.y("c", curve).max())
    skewed = points.leakage("d", curve) / points.x("d", curve)
    at = float(points.x("d", curve)[skewed.argmax()])
    kept = max(here, float(skewed.max())) <= 1 + _SAME
    said = (
        f"on a range as wide as ΔX: for the paper's prior it leaks at most {here:.0%} of the "
        f"budget, for (0.9, 0.05, 0.05) up to {skewed.max():.0%}, at ε = {at:.2f}"
    )
    if number == "(25)":
        wide = leak_on_a_wide_range()
        kept &= wide <= WIDE_BUDGET
        said += f"; X = {{0, 1}} even, released on [0, 2]: {wide:.4f} at ε = {WIDE_BUDGET:g}"
    return Finding(
        f"The Laplace mechanism of eq. {number} keeps ε-LIP (Theorem 6)",
        Verdict.of(kept),
        said,
        "" if kept else reason,
    )


WIDE_BUDGET = 0.5


def leak_on_a_wide_range() -> float:
    """Return what eq. (25) with ΔX = x_max − x_min leaks on a range of twice that width."""
    points, masses = np.array([0.0, 1.0]), np.array([0.5, 0.5])
    scale = laplace.published_scale(WIDE_BUDGET, 0.5, 1.0)
    return max(laplace.leakage(points, masses, scale, 0.0, 2.0))


FIG10 = Figure(
    key="000-fig10",
    name="Fig. 10",
    title="Laplace noise for three values: scales, errors and true leakages",
    says="The scales b_LDP, b_LIP and b_LIP(X) against ε, for the prior (1/3 + s/2, 1/3, "
    "1/3 − s/2) with s = 0.2.",
    compute=laplace_noise.scales,
    judge=_judge_10,
    panels=(
        Panel("a", "ε (nats)", "scale b (units of x)", "(a) scales", y_scale="log"),
        Panel(
            "b", "ε (nats)", "mean absolute error |X − Y|", "(b) ours: errors", y_limits=(0, None)
        ),
        Panel("c", "ε (nats)", "true leakage / ε", "(c) ours: used budget", y_limits=(0.5, 1.05)),
        Panel(
            "d",
            "ε (nats)",
            "mean absolute error |X − Y|",
            "(d) ours: errors, prior (0.9, 0.05, 0.05)",
            y_limits=(0, None),
        ),
    ),
    columns=2,
    curves=(
        Curve("b_LDP", "grey", width=2.6, label="b_LDP = ΔX/ε"),
        Curve("b_LIP, eq. (25)", "orange", width=1.8, label="b_LIP, eq. (25)"),
        Curve("b_LIP, first branch", "red", "dotted", width=1.8, label="eq. (25), first branch"),
        Curve("b_LIP(0), eq. (26)", "gold", "dashed", label="b_LIP(x), eq. (26); in (a) x = 0"),
        Curve("b_LIP(1), eq. (26)", "purple", "dashdot", label="eq. (26), in (a) x = 1"),
        Curve("b_LIP(2), eq. (26)", "teal", "dotted", width=2.0, label="eq. (26), in (a) x = 2"),
        Curve("b_LIP(x), eq. (26)", "gold", "dashed", label=""),
        Curve("least b, certified", "green", width=2.2, label="least b, certified"),
        Curve("optimum, no noise form", "blue", "dashdot", label="certified ε-LIP optimum"),
    ),
    notes="The three values are not stated: here 0, 1 and 2, released on [0, 2], so ΔX = 2. α of "
    "eq. (26) is not defined; it is taken so that the rarest value has the scale of eq. (25). "
    "Errors are in closed form; the optimum is certified for the same budget, every report read as "
    "the value that suits it best. Panel (d) has the values 0, 1.5 and 3.",
)
