"""The figures of paper 003, and what the paper says about them."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from liftlock_papers.figure import Colour, Curve, Figure, Finding, Line, Panel, Verdict
from liftlock_papers.paper_003 import laplace_noise
from liftlock_papers.paper_003.expected import FIG3
from liftlock_papers.paper_003.laplace_noise import (
    BUDGET,
    CLAMPED,
    FREE,
    HIGH,
    LDP_OPTIMUM,
    LOW,
    NOTHING,
    OPTIMUM,
    PEAKED,
    PEAKED_COUNTS,
    PRIORS,
    PUBLISHED,
    SMALLEST,
    of,
)
from liftlock_papers.points import Floats, Points

_LINES: dict[str, Line] = {"P1": "solid", "P2": "dashed", "P3": "dotted", PEAKED: "dashdot"}
_EPSILON = "ε (nats)"
_ERROR = "mean squared error E(Y − X)², eq. (18)"
Truths = npt.NDArray[np.bool_]
_RAREST = {name: min(counts) / 15 for name, counts in PRIORS.items()}


def _fifteenths(counts: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, counts))})/15"


# --- what the points say -------------------------------------------------------------------------


def _judge(points: Points) -> list[Finding]:
    return [
        _private(points),
        _outperforms(points),
        _less_noise_than_free(points),
        _less_noise_as_the_rarest_grows(points),
        _inverse_variance(points),
        _uniform_is_best(points),
        _trade_off(points),
    ]


def _private(points: Points) -> Finding:
    used = [
        (points.leakage("error", of(PUBLISHED, name)) / points.x("error", FREE)).tolist()
        for name in PRIORS
    ]
    most, least = max(map(max, used)), min(map(min, used))
    kept = most <= 1
    return Finding(
        "The bounded Laplace mechanism with the scale of eq. (17) keeps ε-LIP",
        Verdict.of(kept),
        f"it leaks {least:.0%} to {most:.0%} of its budget, so a smaller scale would do",
        "" if kept else "It leaks more than it was made for.",
    )


def _outperforms(points: Points) -> Finding:
    budgets = points.x("error", FREE)
    free = points.y("error", FREE)
    saved = np.array([1 - points.y("error", of(PUBLISHED, name)) / free for name in PRIORS])
    better = saved > 1e-9
    early = np.array([budgets < -math.log(rarest) for rarest in _RAREST.values()])
    worse = int((saved < -1e-9).sum())
    return Finding(
        "The context-aware mechanism has a smaller error than the context-free one",
        Verdict.of(better.ravel()),
        f"at most {saved.max():.1%} smaller, and "
        + (f"larger at {worse} of {saved.size} places" if worse else "never larger"),
        ""
        if better.all()
        else "Only for ε < ln(1/P_min): from there on eq. (17) is the context-free scale, and the "
        "two curves are one."
        if (better == early).all()
        else f"At {int((~better).sum())} of {better.size} places it has not.",
    )


def _less_noise_than_free(points: Points) -> Finding:
    budgets = points.x("scale", FREE)
    ratios: list[float] = []
    for name, rarest in _RAREST.items():
        first = budgets < -math.log(rarest)
        ratios.extend(points.y("scale", of(PUBLISHED, name))[first].tolist())
    holds = max(ratios) < 1
    return Finding(
        "For ε < ln(1/P_min) eq. (17) asks for less noise than the context-free scale",
        Verdict.of(holds),
        f"{min(ratios):.2f} to {max(ratios):.2f} of its scale",
        "" if holds else "It is not smaller everywhere.",
    )


def _ordered(points: Points, rule: str) -> Truths:
    """Say at which budgets a prior with a smaller P_min has no smaller scale."""
    rows = np.array([points.y("scale", of(rule, name)) for name in PRIORS])
    found: Truths = np.all(np.diff(rows, axis=0) >= -1e-9 * rows[:-1], axis=0)
    return found


def _less_noise_as_the_rarest_grows(points: Points) -> Finding:
    by_rule, three = _ordered(points, PUBLISHED), _ordered(points, SMALLEST)
    budgets = points.x("scale", FREE)
    free = (HIGH - LOW) / budgets
    peaked = points.y("scale", of(SMALLEST, PEAKED)) * free
    uniform = points.y("scale", of(SMALLEST, "P1")) * free
    at = int(np.argmin(peaked / uniform))
    holds = by_rule & three & (peaked >= uniform)
    said = (
        "the smallest scales of the paper's three priors "
        f"{'' if three.all() else 'do not '}follow P_min"
    )
    first = float(budgets[~holds][0]) if not holds.all() else math.nan
    return Finding(
        "The larger P_min is, the less noise is needed",
        Verdict.of(holds),
        f"at ε = {budgets[at]:.3g}, P_min = 1/15 truly needs b = {peaked[at]:.3f} and the uniform "
        f"prior {uniform[at]:.3f}; {said}",
        ""
        if holds.all()
        else f"Not from ε = {first:.3g} on, where eq. (17) jumps back to the context-free scale "
        f"for the uniform prior first ({int((~by_rule).sum())} of {len(by_rule)} budgets). What "
        "truly matters is how the rare numbers lie, not only how rare they are.",
    )


def _inverse_variance(points: Points) -> Finding:
    scale = {name: points.y("scale", of(PUBLISHED, name)) for name in ("P1", "P3")}
    budgets = points.x("scale", FREE)
    first = budgets < -math.log(_RAREST["P1"])
    growth: Floats = (scale["P3"] / scale["P1"])[first] ** 2
    rarer = _RAREST["P1"] / _RAREST["P3"]
    holds = bool(np.allclose(growth, rarer, rtol=0.05))
    return Finding(
        "The variance of the noise is inversely proportional to P_min",
        Verdict.of(holds),
        f"P_min is {rarer:g} times smaller for P3 than for P1, the variance 2b² "
        f"{growth.min():.2f} to {growth.max():.2f} times larger",
        "" if holds else "Eq. (17) grows with 1/P_min, but far more slowly, and stays bounded.",
    )


def _uniform_is_best(points: Points) -> Finding:
    budgets = points.x("error", FREE)
    rows = {name: points.y("error", of(PUBLISHED, name)) for name in PRIORS}
    others = np.minimum(rows["P2"], rows["P3"])
    wrong = rows["P1"] > others * (1 + 1e-9)
    optimum = {name: points.y(name, OPTIMUM) for name in PRIORS}
    worst = (optimum["P1"] > np.maximum(optimum["P2"], optimum["P3"])).all()
    span = budgets[wrong]
    where = f"{span.min():.3g} to {span.max():.3g}" if len(span) else "none"
    return Finding(
        "The error is smallest for the uniform prior",
        Verdict.of(~wrong),
        f"by eq. (17) it is not the smallest for ε from {where}; for the optimum it is "
        + ("always the largest" if worst else "not always the smallest"),
        ""
        if not wrong.any()
        else "The uniform prior is the first to lose the context-aware branch. And it has the "
        "largest variance: what can be known beforehand helps the others.",
    )


def _trade_off(points: Points) -> Finding:
    parts, gain = [], []
    for name in PRIORS:
        budgets = points.x(name, NOTHING)
        published, nothing = points.y(name, of(PUBLISHED, name)), points.y(name, NOTHING)
        worse = published > nothing
        parts.append(f"{budgets[worse].max():.3g}" if worse.any() else "none")
        gain.append(float((published / points.y(name, OPTIMUM)).max()))
    best = np.concatenate(
        [points.y(name, OPTIMUM) < points.y(name, LDP_OPTIMUM) for name in PRIORS]
    )
    free = points.y("error", FREE)
    noise = np.concatenate([points.y("error", of(PUBLISHED, name)) < free for name in PRIORS])
    return Finding(
        "Knowing the prior gives a better trade-off of utility and privacy than not knowing it",
        Verdict.of([*best, *noise]),
        f"the best with the prior has less error than the best under LDP at {int(best.sum())} of "
        f"{len(best)} places, and up to {max(gain):.1f} times less than eq. (17)",
        ""
        if best.all() and noise.all()
        else "True of mechanisms that are made for the prior, hardly of this one: always saying "
        f"the mean, which leaks nothing, has less error up to ε = {', '.join(parts)} for P1, P2, "
        "P3.",
    )


# --- how it looks --------------------------------------------------------------------------------


def _of_prior(rule: str, colour: Colour, name: str) -> Curve:
    label = f"{of(rule, name)} = {_fifteenths(PEAKED_COUNTS)}" if name == PEAKED else None
    return Curve(of(rule, name), colour, _LINES[name], label=label)


FIGURES: tuple[Figure, ...] = (
    Figure(
        key="003-fig3",
        name="Fig. 3",
        title="Laplace noise on X = {0, 1.5, 3}: error, scale and leakage against ε",
        says="The error of the context-aware Laplace mechanism is below that of the context-free "
        "one for every prior; the larger the smallest probability, the less noise is needed, and a "
        "uniform prior has the best utility.",
        compute=laplace_noise.compute,
        judge=_judge,
        panels=(
            Panel("error", _EPSILON, _ERROR, "as in the paper"),
            Panel("scale", _EPSILON, "scale b as a share of Δ/ε, eq. (11)", "the scale"),
            Panel("leakage", _EPSILON, "true leakage, ε-LIP (nats)", "what truly leaks"),
            *(
                Panel(
                    name, _EPSILON, _ERROR, f"{name} = {_fifteenths(counts)}", y_limits=(0.0, 2.4)
                )
                for name, counts in PRIORS.items()
            ),
        ),
        curves=(
            Curve(NOTHING, "gold", "dotted", width=1.4),
            Curve(FREE, "grey", "solid", width=2.6),
            *(_of_prior(PUBLISHED, "orange", name) for name in (*PRIORS, PEAKED)),
            *(_of_prior(SMALLEST, "teal", name) for name in (*PRIORS, PEAKED)),
            Curve(BUDGET, "red", "dashdot", width=1.1),
            Curve(CLAMPED, "purple", "dashdot"),
            Curve(LDP_OPTIMUM, "grey", "dashed"),
            Curve(OPTIMUM, "blue", "solid", width=2.0),
        ),
        notes="The paper does not say for which ε it draws: 0.1 to 3 here, so that every prior "
        "passes ln(1/P_min), where eq. (17) changes its branch. The context-free error is the same "
        "for the three priors, as 1.5 has probability 1/3 in each and 0 and 3 are alike. Errors "
        "and leakages of noise are those of the uncut noise, in closed form; the smallest scales "
        "are certified by the exact audit once cut into 512 outputs. The certified optimum says "
        "the posterior mean, a number in [0, 3], so its error is eq. (18) too. P4 = "
        f"{_fifteenths(PEAKED_COUNTS)} is ours.",
        stated=FIG3,
    ),
)
