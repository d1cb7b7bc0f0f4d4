"""The figures of paper 000 on real data, and what the paper says about them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from liftlock_papers.figure import Curve, Figure, Finding, Panel, Verdict
from liftlock_papers.paper_000.salary_release import salary_points
from liftlock_papers.paper_000.student_release import student_points
from liftlock_papers.points import Points

SIZES = ("2", "5", "10", "21")
DELTAS = ("b", "c", "d")

_LOCAL, _GLOBAL = "local priors, certified", "global prior, certified"
_BOUNDED, _BEST_LDP = "bounded prior, certified", "LDP optimum, local priors"
_PUBLISHED = ("local priors, as published", "global prior, as published")
_KRR, _KRR_TWICE, _KRR_READ = "k-RR, ε-LDP", "k-RR, 2ε-LDP", "k-RR, read by its median"
_OUE, _OUE_READ = "OUE, one of its bits", "OUE, read by its median"

_NOISE, _NOISE_EACH = "Gaussian, as published", "Gaussian by instance, as published"
_NOISE_LDP, _SAMPLING, _SAMPLING_NORMAL = (
    "Gaussian, LDP", "sampling, mixture fit", "sampling, normal fit",
)  # fmt: skip
_SAFE, _SAFE_EACH = "Gaussian, certified", "Gaussian by instance, certified"
_SAFE_LDP = "Gaussian, LDP, certified"
_PURE, _NOTHING = "optimum, δ = 0", "no release"


def _wins(points: Points, panels: Iterable[str], curve: str, others: Sequence[str]) -> list[bool]:
    """Say, for every panel and every ε > 0, whether a curve is below all others."""
    found: list[bool] = []
    for panel in panels:
        some = points.x(panel, curve) > 0
        least = np.min([points.y(panel, other)[some] for other in others], axis=0)
        found += (points.y(panel, curve)[some] <= least * (1 + 1e-9)).tolist()
    return found


def _verdict(wins: Sequence[bool]) -> Verdict:
    if all(wins):
        return Verdict.CONFIRMED
    return Verdict.CONDITION if any(wins) else Verdict.REFUTED


def _times(wins: Sequence[bool]) -> str:
    return f"{sum(wins)} of {len(wins)}"


def judge_students(points: Points) -> list[Finding]:
    return []


def judge_salaries(points: Points) -> list[Finding]:
    return []


def _students_panel(size: str) -> Panel:
    unit = "grades" if size == "21" else "classes"
    return Panel(
        size,
        "ε (nats)",
        f"mean absolute error ({unit})",
        f"|X| = {size}",
        y_limits=(0.0, None),
    )


STUDENTS = Figure(
    key="000-fig11",
    name="Fig. 11",
    title="final grades of students: the error of a report against the budget",
    says="to come",
    compute=student_points,
    judge=judge_students,
    panels=tuple(_students_panel(size) for size in SIZES),
    curves=(
        Curve(_PUBLISHED[0], "orange", "solid", "o"),
        Curve(_PUBLISHED[1], "orange", "dashed", "s"),
        Curve(_KRR, "grey", "solid"),
        Curve(_KRR_TWICE, "grey", "dashed"),
        Curve(_BEST_LDP, "grey", "dotted"),
        Curve(_OUE, "teal", "dashdot"),
        Curve(_OUE_READ, "purple", "dashdot"),
        Curve(_BOUNDED, "green", "solid", "^"),
        Curve(_GLOBAL, "blue", "dashed", "s", width=1.9),
        Curve(_LOCAL, "blue", "solid", "o", width=2.2),
        # Kept for the findings: drawn as well it would hide what the paper compares.
        Curve(_KRR_READ, "grey", "none", label=""),
    ),
    needs=("student_performance",),
    columns=2,
)

SALARIES = Figure(
    key="000-fig12",
    name="Fig. 12",
    title="gross pay of a city's employees: the fits, and the error of a release",
    says="to come",
    compute=salary_points,
    judge=judge_salaries,
    panels=(
        Panel(
            "a", "gross pay (thousand dollars)", "density (per thousand dollars)", "(a) the fits"
        ),
        *(
            Panel(
                panel,
                "ε (nats)",
                "mean absolute error (dollars)",
                f"({panel}) δ = {delta}",
                y_scale="log",
            )
            for panel, delta in zip(DELTAS, ("10⁻⁴", "10⁻³", "10⁻²"), strict=True)
        ),
    ),
    curves=(
        Curve("gross pay", "grey", kind="steps"),
        Curve("mixture fit", "green", "solid"),
        Curve("normal fit", "purple", "dashed"),
        Curve(_NOISE_LDP, "grey", "solid", "v"),
        Curve(_NOISE, "orange", "solid", "o"),
        Curve(_NOISE_EACH, "orange", "dashed", "s"),
        Curve(_SAMPLING, "teal", "solid"),
        Curve(_SAMPLING_NORMAL, "purple", "dashed"),
        Curve(_NOTHING, "gold", "dotted", width=1.3),
        Curve(_SAFE_LDP, "grey", "dashed"),
        Curve(_SAFE, "green", "solid"),
        Curve(_SAFE_EACH, "red", "dashdot"),
        Curve(_PURE, "blue", "solid", "o", width=2.2),
    ),
    needs=("baltimore_salaries",),
    columns=2,
)

DATA_FIGURES: tuple[Figure, ...] = (STUDENTS, SALARIES)
