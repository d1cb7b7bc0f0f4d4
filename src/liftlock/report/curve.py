"""The curve delta(epsilon) of (epsilon, delta)-LIP as a picture, in its three forms."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from liftlock.context import Context, Family, Joint
from liftlock.errors import InputError
from liftlock.notions.approximate_lip import FORMS, DeltaCurve
from liftlock.notions.audit import Audit
from liftlock.prior import Prior
from liftlock.report.pictures import check_picture, new_figure, save_figure

_POINTS = 161
_FURTHEST = 12.0
_LEAST = 1e-12
_STYLES = {
    "def5": ("#1b4f8a", "-", "def5 (000 Def 5)"),
    "ediv": ("#b3500a", "--", "ediv (000 Cor 9)"),
    "joint": ("#3d7a35", "-.", "joint (003 Def 4)"),
}


def check_curve(context: Context) -> None:
    """Refuse a context for which (epsilon, delta)-LIP is not defined."""
    if not isinstance(context, Prior | Joint | Family):
        raise InputError(
            "a curve of delta needs a prior, a joint or a finite family",
            value=context.describe(),
            remedy="leave out --plot-curve, or give another context",
        )


def draw_curve(result: Audit, path: Path, progress: Callable[[str], None] | None = None) -> None:
    """Draw the smallest delta for every epsilon, from 0 to where delta vanishes."""
    check_picture(path)
    check_curve(result.context)
    lip = result["lip"].value
    end = _FURTHEST if lip.is_infinite else min(max(float(lip), 0.05), 2 * _FURTHEST)
    epsilons = np.linspace(0.0, end, _POINTS)
    figure = new_figure(6.4, 4.8)
    axes = figure.add_subplot()
    lowest = 1.0
    for form in FORMS:
        if form == "joint" and isinstance(result.context, Family):
            continue  # mixtures of priors do not keep the joint form
        if progress is not None:
            progress(f"curve of delta_{form}")
        deltas = DeltaCurve.of(result.channel, result.context, form).points(epsilons)
        deltas = np.where(deltas > _LEAST, deltas, np.nan)
        colour, line, name = _STYLES[form]
        axes.plot(epsilons, deltas, color=colour, linestyle=line, linewidth=1.8, label=name)
        inside = deltas[: int(0.97 * _POINTS)]
        if np.isfinite(inside).any():
            lowest = min(lowest, float(np.nanmin(inside)))
    if not lip.is_infinite and float(lip) <= end:
        text = f"LIP {float(lip):.4g}: delta 0"
        axes.axvline(float(lip), color="#555555", linestyle=":", linewidth=1.2, label=text)
    axes.set_yscale("log")
    axes.set_ylim(10.0 ** math.floor(math.log10(lowest) - 0.01), 1.0)
    axes.set_xlim(0.0, end * 1.03)
    axes.grid(visible=True, which="major", color="#dddddd", linewidth=0.7)
    axes.set_xlabel("epsilon (nats)")
    axes.set_ylabel("smallest delta")
    axes.set_title("Smallest delta of (epsilon, delta)-LIP, form by form", fontsize=11)
    figure.legend(loc="outside lower center", ncols=2, fontsize=9, frameon=False)
    save_figure(figure, path)
