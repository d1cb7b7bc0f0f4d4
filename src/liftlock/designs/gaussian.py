"""Gaussian noise of one deviation, clamped to the domain and cut into cells."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from liftlock.context import Context
from liftlock.designs.axis import Axis, join_rare
from liftlock.designs.calibration import NUMERIC_NOTIONS, smallest_scale
from liftlock.designs.draft import Draft
from liftlock.designs.formulas.gaussian import (
    CLASSICAL_LIMIT,
    analytic_delta,
    analytic_sigma,
    classical_sigma,
    radius_delta,
    smallest_sigma,
)
from liftlock.designs.registry import Design
from liftlock.errors import InputError, NotDefined
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot
from liftlock.line.law import numbers_of
from liftlock.notions.base import Notion
from liftlock.utility.utility import Utility

NEEDS = "numbers, as labels or coordinates, that are not all the same"
SCALES = ("smallest", "published", "classical", "analytic")
_LEAST = 1e-3
"""Noise below this share of a cell changes nothing that is released."""


def gaussian(
    context: Context,
    notion: Notion,
    *,
    utility: Utility | None = None,  # noqa: ARG001
    scale: str | float | None = None,
    radius: float | None = None,
    domain: Any = None,
    outputs: int | None = None,
    as_published: bool = False,
) -> Draft:
    """Add N(0, sigma^2) to the number, clamp the sum to the domain and release its cell.

        P(y | x) = Phi((e_{y+1} - x) / sigma) - Phi((e_y - x) / sigma),

    the outermost cells taking what lies beyond them. By default sigma is the least one at which the
    finite channel keeps the budget; other scales are formulas, locked as they are or refused.

    Source: 000 Thm 5, eq. (24).

    >>> from liftlock.notions.approximate import ApproximateLIP
    >>> from liftlock.prior import Prior
    >>> ages = Prior.from_counts({20: 3, 40: 5, 60: 2})
    >>> gaussian(ages, ApproximateLIP("1", "0.01")).remarks[0]
    'noise of standard deviation 32.4402, clamped to [20, 60] and cut into 512 outputs'
    """
    axis = Axis.of(context, domain=domain, outputs=outputs)
    normal = Normal.of(axis)
    reach = normal.read_radius(radius)
    if scale is None:
        scale = "published" if as_published else "smallest"
    sigma, chosen = _sigma(axis, normal, notion, scale, reach)
    matrix = noisy(axis, sigma)
    remarks = [
        f"noise of standard deviation {sigma:.6g}, {axis.cut_text()}",
        chosen,
        *_formula_remarks(axis, normal, notion, sigma, reach, radius is not None),
        axis.worth(matrix),
    ]
    return axis.draft(matrix, method=DESIGN.key, remarks=remarks, faithful=scale != "smallest")


def noisy(axis: Axis, sigma: float | Floats) -> Floats:
    """Return the cells of clamped normal noise, of one deviation or of one for each input."""
    from scipy.special import ndtr

    scales = np.reshape(sigma, (-1, 1))
    return axis.clamped(lambda below: ndtr(below / scales))


@dataclass(frozen=True)
class Normal:
    """A prior of numbers read as a normal law: its mean, deviation and largest distance."""

    mean: float
    sd: float
    distances: Floats
    """The distance of each number from the mean."""

    @classmethod
    def of(cls, axis: Axis) -> Normal:
        """Read the mean and the deviation of the numbers of an axis."""
        mean = float(dot(axis.masses, axis.points))
        distances = np.abs(axis.points - mean)
        sd = math.sqrt(float(dot(axis.masses, distances**2)))
        if not sd > 0:
            raise InputError(
                "the numbers have no spread", value=mean, remedy="there is nothing to protect"
            )
        return cls(mean, sd, distances)

    def read_radius(self, radius: object) -> float:
        """Read the radius to protect; by default all numbers."""
        if radius is None:
            return float(self.distances.max())
        found = numbers_of([radius])
        if len(found) != 1 or not found[0] > 0:
            raise InputError(
                "the radius is not a positive number",
                value=radius,
                remedy="give the largest distance from the mean to protect",
            )
        return float(found[0])


def lip_formula(notion: Notion, what: str) -> tuple[float, float, str]:
    """Return epsilon, delta and the form in which a formula for (epsilon, delta)-LIP is read.

    The joint form is implied by ediv, as its deltas are multiplied by masses.
    """
    allowed = notion.delta_limit()
    if allowed is None or allowed.form == "ldp":
        raise NotDefined(
            what, f"the notion {notion.name}", "it is made for lip_ediv, lip_def5, lip_joint"
        )
    form = "ediv" if allowed.form == "joint" else allowed.form
    return float(allowed.epsilon), float(allowed.delta), form


def _sigma(
    axis: Axis, normal: Normal, notion: Notion, scale: object, reach: float
) -> tuple[float, str]:
    """Return the deviation of the noise, and say in one sentence where it is from."""
    if scale == "smallest":
        return least_sigma(axis, notion), f"the least deviation of the finite channel for {notion}"
    if scale == "published":
        epsilon, delta, form = lip_formula(notion, "the published deviation")
        sigma = float(smallest_sigma(reach, normal.sd, epsilon, delta, form))
        return sigma, (
            f"the published deviation for |x - {normal.mean:.6g}| <= {reach:.6g}, the prior read "
            f"as a normal law of deviation {normal.sd:.6g}"
        )
    if scale in ("classical", "analytic"):
        allowed = notion.delta_limit()
        if allowed is None:
            raise NotDefined(
                f"the {scale} deviation", f"the notion {notion.name}", "it needs a delta"
            )
        epsilon, delta = float(allowed.epsilon), float(allowed.delta)
        if scale == "analytic":
            found = analytic_sigma(epsilon, delta, axis.spread)
            return found, "the analytic deviation for (epsilon, delta)-LDP, whatever the prior"
        proved = "" if epsilon <= CLASSICAL_LIMIT else ", proved for epsilon <= 1 alone"
        found = classical_sigma(epsilon, delta, axis.spread)
        return found, f"the classical deviation for (epsilon, delta)-LDP{proved}"
    if isinstance(scale, str):
        known = ", ".join(SCALES)
        raise InputError("unknown scale", value=scale, remedy=f"use {known}, or a number")
    number = numbers_of([scale])
    if len(number) != 1 or not number[0] > 0:
        raise InputError("the deviation is not a positive number", value=scale, remedy="give one")
    return float(number[0]), "the deviation was given"


def least_sigma(
    axis: Axis, notion: Notion, profile: Floats | None = None, *, within: float = 1e-9
) -> float:
    """Return the least s at which the finite channel with deviations s * profile keeps a budget."""
    shape = np.ones(1) if profile is None else profile
    return smallest_scale(
        lambda scale: join_rare(noisy(axis, scale * shape))[0],
        axis.masses,
        notion,
        start=axis.width,
        least=_LEAST * axis.width / len(axis.values),
        within=within,
    )


def _formula_remarks(
    axis: Axis, normal: Normal, notion: Notion, sigma: float, reach: float, asked: bool
) -> list[str]:
    """Say what the formulas without clamping and cutting give at this deviation."""
    allowed = notion.delta_limit()
    if allowed is None:
        return []
    if allowed.form == "ldp":
        delta = analytic_delta(float(allowed.epsilon), sigma, axis.spread)
        return [f"without clamping and cutting the analytic delta is {delta:.4g}"]
    epsilon, _, form = lip_formula(notion, "the published deviation")
    delta = float(radius_delta(reach, normal.sd, sigma, epsilon, form))
    within = f"|x - {normal.mean:.6g}| <= {reach:.6g}"
    uncut = "for a normal law without clamping and cutting the analytic delta of"
    said = [f"{uncut} {within} is {delta:.4g} ({form})"]
    if asked:
        beyond = float(axis.masses[normal.distances > reach].sum())
        said.append(
            "nothing of the prior, as it is cut, lies beyond that radius"
            if beyond == 0.0
            else f"{100 * beyond:.3g} % of the prior lies beyond that radius: "
            "the analytic statement does not protect it, "
            "the certificate covers every input of the finite channel"
        )
    return said


DESIGN = Design(
    key="gaussian",
    make=gaussian,
    says="add normal noise, clamp to the domain and cut; the least deviation that truly suffices",
    promises="the least deviation of its kind; more budget never asks for more noise",
    source="000 Thm 5 on a bounded domain; eq. (24)",
    notions=NUMERIC_NOTIONS,
    contexts=("prior",),
    needs=NEEDS,
    face_value=True,
    options={
        "scale": "smallest, published (with a radius), classical, analytic, or a deviation",
        "radius": "the largest distance from the mean that the published deviation is made for",
        "domain": "the ends to which the sum is clamped",
        "outputs": "how many cells the domain is cut into",
    },
)
