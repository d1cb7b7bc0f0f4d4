"""The curve delta(epsilon) of (epsilon, delta)-LIP as a picture, in its three forms."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from liftlock._runtime.progress import Progress, Step
from liftlock.errors import InputError
from liftlock.model import Context, Family, Joint, Prior
from liftlock.model.structured import to_dense
from liftlock.notions.approximate import FORMS, DeltaCurve
from liftlock.notions.audit import Audit
from liftlock.report.plots.figure import check_picture, picture

_POINTS = 161
_FURTHEST = 24.0
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


def draw_curve(result: Audit, path: Path, progress: Progress | None = None) -> None:
    """Draw the smallest delta for every epsilon, from 0 to where delta vanishes."""
    check_picture(path)
    check_curve(result.context)
    lip = result["lip"].value
    end = max(_last_change(result), 0.05)
    # Denser towards the end, where delta falls to 0 and its logarithm plunges.
    epsilons = end * (1 - (1 - np.linspace(0.0, 1.0, _POINTS)) ** 3)
    with picture(path, 6.4, 4.8) as figure:
        axes = figure.add_subplot()
        lowest = 1.0
        for form in FORMS:
            if form == "joint" and isinstance(result.context, Family):
                continue  # mixtures of priors do not keep the joint form
            if progress is not None:
                progress(Step(f"curve of delta_{form}"))
            deltas = DeltaCurve.of(to_dense(result.channel), result.context, form).points(epsilons)
            deltas = np.where(deltas > _LEAST, deltas, np.nan)
            colour, line, name = _STYLES[form]
            axes.plot(epsilons, deltas, color=colour, linestyle=line, linewidth=1.8, label=name)
            inside = deltas[epsilons <= 0.97 * end]
            if np.isfinite(inside).any():
                lowest = min(lowest, float(np.nanmin(inside)))
        if not lip.is_infinite:
            text = f"LIP {float(lip):.4g}: delta 0"
            axes.axvline(float(lip), color="#555555", linestyle=":", linewidth=1.2, label=text)
        if float(lip) == 0:
            axes.text(
                0.5, 0.5, "delta is 0 at every epsilon", transform=axes.transAxes, ha="center"
            )
        axes.set_yscale("log")
        axes.set_ylim(10.0 ** min(math.floor(math.log10(lowest) - 0.01), -2), 1.0)
        axes.set_xlim(0.0, end * 1.03)
        axes.grid(visible=True, which="major", color="#dddddd", linewidth=0.7)
        axes.set_xlabel("epsilon (nats)")
        axes.set_ylabel("smallest delta")
        axes.set_title("Smallest delta of (epsilon, delta)-LIP, form by form", fontsize=11)
        figure.legend(loc="outside lower center", ncols=2, fontsize=9, frameon=False)


def _last_change(result: Audit) -> float:
    """Return the epsilon beyond which no delta changes any more."""
    lip = result["lip"].value
    if not lip.is_infinite:
        return min(float(lip), _FURTHEST)
    if isinstance(result.context, Family):
        return _FURTHEST / 2
    with np.errstate(divide="ignore"):
        logs = np.abs(np.log(result.table.floats()))
    return min(1.05 * float(logs[np.isfinite(logs)].max()), _FURTHEST)
