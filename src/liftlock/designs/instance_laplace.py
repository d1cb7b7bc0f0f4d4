"""Bounded Laplace noise with a scale for each input: less noise where the prior is dense."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from liftlock.context import Context
from liftlock.designs.axis import Axis
from liftlock.designs.calibration import NUMERIC_NOTIONS, least_cost
from liftlock.designs.draft import Draft
from liftlock.designs.formulas import laplace as formulas
from liftlock.designs.laplace_noise import NEEDS, OPTIONS, LaplaceNoise, epsilon_of
from liftlock.designs.registry import Design
from liftlock.errors import InputError, NotDefined
from liftlock.exact.integers import Floats
from liftlock.line.grid import GridPrior
from liftlock.line.law import numbers_of
from liftlock.notions.base import Notion
from liftlock.utility.utility import Utility

_MOST_WEIGHT = 0.98
_WEIGHTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, _MOST_WEIGHT)
_REFINEMENTS = 3
_GROUPS = 128
_FEW_ATOMS = 48
_ROUGHLY = 1e-5
_WORTHWHILE = 1e-6
"""A profile must be better than one scale for all by this share to be used."""


def instance_laplace(
    context: Context,
    notion: Notion,
    *,
    utility: Utility | None = None,  # noqa: ARG001
    weight: float | None = None,
    sensitivity: str = "domain",
    domain: Any = None,
    outputs: int | None = None,
    as_published: bool = False,
) -> Draft:
    """Draw Y from [l, u] with density proportional to exp(-|y - x| / b(x)), and release its cell.

        1 / b(x) = 1 / b_0 + alpha p(x),   p = P, on a grid the density of the prior

    For each weight alpha p_max / (1 / b_0 + alpha p_max) the least scales that truly keep the
    budget are found, and the weight with the least squared error is used; weight 0 is one scale
    for all. As published it is b(x) = Delta / (epsilon + alpha P(x)) with an alpha that does not
    keep the budget in general.

    Source: 000 Thm 6 eq. (26), with alpha calibrated.

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.prior import Prior
    >>> grades = Prior.from_counts({0: 1, 1: 18, 2: 1})
    >>> for remark in instance_laplace(grades, LIP("3"), outputs=64).remarks[:3]:
    ...     print(remark)
    Laplace noise of scales 0.163776 to 0.332633, renormalised on [0, 2] and cut into 64 outputs
    53.8 % of the largest inverse scale follows the prior: 1/b = 2.82398 + 3.28193 p(x) / p_max
    one scale for all would be 0.357964, with mean squared error 0.153611
    """
    noise = LaplaceNoise.of(context, bounded=True, domain=domain, outputs=outputs)
    if as_published:
        return _published(noise, notion, sensitivity)
    density = _density(context, noise.axis)
    chosen = _best_weight(noise, notion, density) if weight is None else read_weight(weight)
    profile = _profile(density, chosen)
    base = noise.smallest(notion, profile)
    scales = base * profile
    single = base if chosen == 0 else noise.smallest(notion)
    if weight is None and chosen:
        # The search was made on coarser cells: one scale for all may be as good after all.
        errors = [noise.axis.face_value_error(noise.cells(each)) for each in (scales, single)]
        if errors[0] >= errors[1] * (1.0 - _WORTHWHILE):
            chosen, scales = 0.0, np.full(len(scales), single)
    said = [_described(noise, scales)]
    if chosen:
        alone = noise.axis.face_value_error(noise.cells(single)) + noise.axis.inner_variance
        inverse = f"{(1 - chosen) / base:.6g} + {chosen / base:.6g} p(x) / p_max"
        said += [
            f"{100 * chosen:.3g} % of the largest inverse scale follows the prior: 1/b = {inverse}",
            f"one scale for all would be {single:.6g}, with mean squared error {alone:.6g}",
        ]
    else:
        said.append("one scale for all: letting it follow the prior gains nothing here")
    return noise.draft(noise.cells(scales), scales, method=DESIGN.key, said=said, faithful=False)


def _published(noise: LaplaceNoise, notion: Notion, sensitivity: str) -> Draft:
    """Return the scales as published, with their true leakage."""
    axis, epsilon = noise.axis, epsilon_of(notion)
    alpha = formulas.published_alpha(epsilon, float(axis.masses.min()))
    scales = formulas.instance_scales(axis.masses, epsilon, alpha, noise.width(sensitivity))
    said = [_described(noise, scales), f"the scales as published, with alpha = {alpha:.6g}"]
    if len(scales) <= _FEW_ATOMS:
        sides = formulas.instance_leakage(axis.points, axis.masses, scales, axis.lower, axis.upper)
        said.append(
            f"uncut, this noise leaks eps_lower {sides[0]:.4g} and eps_upper {sides[1]:.4g}"
        )
    return noise.draft(noise.cells(scales), scales, method=DESIGN.key, said=said, faithful=True)


def _described(noise: LaplaceNoise, scales: Floats) -> str:
    cut = noise.axis.cut_text(noise.how)
    return f"Laplace noise of scales {scales.min():.6g} to {scales.max():.6g}, {cut}"


def read_weight(weight: object) -> float:
    """Read how much of the inverse scale follows the prior."""
    found = numbers_of([weight])
    if len(found) != 1 or not 0 <= found[0] < 1:
        raise InputError(
            "the weight is not a number from 0 to below 1",
            value=weight,
            remedy="give one, or leave it out to have it chosen",
        )
    return float(found[0])


def _density(context: Context, axis: Axis) -> Floats:
    """Return how dense the prior is at each input, at most 1.

    Cells of a grid may all have the same mass, and then it is their widths that tell.
    """
    density = axis.masses
    if isinstance(context, GridPrior):
        density = density / context.grid.widths
    relative: Floats = density / density.max()
    return relative


def _profile(density: Floats, weight: float) -> Floats:
    """Return the scales up to a factor; the smallest is 1."""
    profile: Floats = 1.0 / (1.0 - weight + weight * density)
    return profile


def _best_weight(noise: LaplaceNoise, notion: Notion, density: Floats) -> float:
    """Find the weight with the least squared error: first on a few, then between neighbours."""
    small, levels = _grouped(noise, density)

    def error(weight: float) -> float:
        profile = _profile(levels, weight)
        try:
            scales = small.smallest(notion, profile, within=_ROUGHLY) * profile
        except (InputError, NotDefined):
            return np.inf
        return small.axis.face_value_error(small.cells(scales))

    return least_cost(error, _WEIGHTS, refinements=_REFINEMENTS)


def _grouped(noise: LaplaceNoise, density: Floats) -> tuple[LaplaceNoise, Floats]:
    """Return a coarser problem to search on: neighbouring inputs in one, and fewer outputs."""
    axis = noise.axis
    if len(axis.values) > _GROUPS:
        axis = axis.coarse(_GROUPS)
    if len(axis.points) > _GROUPS:
        order = np.argsort(axis.points, kind="stable")
        # The outermost inputs leak most, so towards the ends there are few in a group.
        bend = 0.5 - 0.5 * np.cos(np.pi * np.arange(_GROUPS) / _GROUPS)
        starts = np.unique((bend * len(order)).astype(np.intp))
        masses = np.add.reduceat(axis.masses[order], starts)
        points = np.add.reduceat((axis.masses * axis.points)[order], starts) / masses
        density = np.add.reduceat((axis.masses * density)[order], starts) / masses
        axis = replace(
            axis, points=np.clip(points, axis.lower, axis.upper), masses=masses / masses.sum()
        )
    return replace(noise, axis=axis), density


DESIGN = Design(
    key="laplace-by-instance",
    make=instance_laplace,
    says="bounded Laplace noise, less of it where the prior is dense; scales that truly suffice",
    promises="no larger squared error, as released, than one scale for all",
    source="000 eq. (26), calibrated",
    notions=NUMERIC_NOTIONS,
    contexts=("prior",),
    needs=NEEDS,
    face_value=True,
    options={
        "weight": "how much of the inverse scale follows the prior, 0 to below 1",
        **{key: OPTIONS[key] for key in ("sensitivity", "domain", "outputs")},
    },
)
