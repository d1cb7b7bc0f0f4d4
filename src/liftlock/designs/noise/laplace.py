"""Laplace noise: clamped to the domain, renormalised on it, or less where the prior is dense."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from liftlock._solver.problem import ldp_budget
from liftlock.designs.base import Draft
from liftlock.designs.formulas import laplace as formulas
from liftlock.designs.noise.axis import Axis
from liftlock.designs.noise.base import Noise, noise_design, read_number, refuse_with_print
from liftlock.errors import InputError
from liftlock.exact.integers import Floats
from liftlock.model import Context
from liftlock.model.continuous.grid import GridPrior
from liftlock.notions.base import Notion

SENSITIVITIES = ("domain", "data")

_SAID = {
    "smallest": "the least scale at which the finite channel keeps {notion}",
    "every-epsilon": "the first branch of the published scale, used for every epsilon",
    "published": "the scale as published",
    "context-free": "the scale of epsilon-LDP, whatever the prior",
}
_NO_NOISE = "{notion} asks for no noise here: it protects single values, not what is near them"
_WEIGHTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.98)
_REFINEMENTS = 3
_GROUPS = 128
_FEW_ATOMS = 48
_WORTHWHILE = 1e-6
"""Scales by instance must be better than one scale for all by this share to be used."""


@dataclass(frozen=True)
class Laplace(Noise):
    """Noise of density exp(-|n| / b) / (2 b), clamped to the domain or renormalised on it."""

    bounded: bool
    """Whether it is renormalised."""
    sensitivity: str
    """The Delta of published scales: the width of the domain, or the spread of the data."""

    unit = "scale"
    rules = tuple(_SAID)
    own_rules = ("smallest", "every-epsilon")
    one_scale = "Laplace noise of scale"
    several_scales = "Laplace noise of scales"
    many_outputs: ClassVar[float] = 512

    @property
    def how(self) -> str:
        """What is done with noise that leaves the domain."""
        return "renormalised on" if self.bounded else "clamped to"

    @property
    def width(self) -> float:
        """The Delta of the published scales."""
        if self.sensitivity not in SENSITIVITIES:
            raise InputError(
                "unknown sensitivity",
                value=self.sensitivity,
                remedy=f"use {' or '.join(SENSITIVITIES)}",
            )
        return self.axis.width if self.sensitivity == "domain" else self.axis.input_range

    def bin_masses(self, scales: float | Floats) -> Floats:
        """Return the probability of each output bin, for one scale or one for each input."""
        make = formulas.bounded_bin_masses if self.bounded else formulas.clamped_bin_masses
        return make(self.axis.points, self.axis.edges, scales)

    def scale(self, rule: object, notion: Notion) -> tuple[float, str]:
        """Return the scale that a rule gives; a wrong sensitivity is refused with every rule."""
        _ = self.width
        return super().scale(rule, notion)

    def published_scale(self, rule: str, notion: Notion) -> tuple[float, str]:
        """Return the scale of a published rule, and say where it is from."""
        epsilon, rarest = epsilon_of(notion), float(self.axis.masses.min())
        said = f"{_SAID[rule]}, with Delta = {self.width:.6g}"
        if rule == "context-free":
            return formulas.context_free_scale(epsilon, self.width), said
        make = formulas.published_scale if rule == "published" else formulas.scale_for_every_epsilon
        return make(epsilon, rarest, self.width), said

    def printed_rule(self, notion: Notion) -> str:
        """Return the rule that is printed for a notion: for LDP the context-free scale."""
        return "published" if notion.ratio_limit is None else "context-free"

    def calibration_text(self, scale: float, notion: Notion) -> str:
        """Say what is true of the least scale that keeps a budget."""
        said = _NO_NOISE if scale <= 1.001 * self.least else _SAID["smallest"]
        return said.format(notion=notion)

    def unclamped_remarks(self, scale: float, notion: Notion) -> list[str]:  # noqa: ARG002
        """Say what the noise would leak uncut."""
        axis = self.axis
        if self.bounded:
            sides = formulas.leakage(axis.points, axis.masses, scale, axis.lower, axis.upper)
        else:
            sides = formulas.clamped_leakage(axis.points, axis.masses, scale)
        return [_leaks(sides)]

    def error_text(self, matrix: Floats, scales: float | Floats) -> str:
        """Say how far a released number is from the true one, as it is and uncut."""
        axis = self.axis
        unclamped_remarks = formulas.mean_error(
            axis.points, axis.masses, scales, axis.lower, axis.upper, bounded=self.bounded
        )
        return (
            f"{axis.error_text(matrix)}; in closed form the squared error of the noise, uncut, is "
            f"{unclamped_remarks:.6g}"
        )


def _leaks(sides: tuple[float, float]) -> str:
    return f"uncut, this noise leaks eps_lower {sides[0]:.4g} and eps_upper {sides[1]:.4g}"


def laplace(
    context: Context,
    notion: Notion,
    *,
    scale: str | float | None = None,
    sensitivity: str = "data",
    domain: Any = None,
    outputs: int | None = None,
    as_published: bool = False,
) -> Draft:
    """Add noise of density exp(-|n| / b) / (2 b), clamp the sum to the domain, release its bin.

    Clamping comes after the noise, so Delta = x_max - x_min is enough for the published scales
    here. The scale Delta / epsilon is the classical epsilon-LDP mechanism. By default b is the
    least at which the finite channel keeps the budget.

    Source: 003 eq. (9)-(11), Thm 1 eq. (17); 000 Thm 6 eq. (25).

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.model import Prior
    >>> grades = Prior.from_counts({0: 1, 1: 18, 2: 1})
    >>> for scale in ("smallest", "context-free"):
    ...     print(laplace(grades, LIP("2"), scale=scale).remarks[0])
    Laplace noise of scale 0.553387, clamped to [0, 2], 512 bins
    Laplace noise of scale 1, clamped to [0, 2], 512 bins
    """
    axis = Axis.of(context, domain=domain, outputs=outputs)
    noise = Laplace(axis, bounded=False, sensitivity=sensitivity)
    return noise.single_scale_draft(notion, scale, as_published=as_published)


def bounded_laplace(
    context: Context,
    notion: Notion,
    *,
    scale: str | float | None = None,
    sensitivity: str = "domain",
    domain: Any = None,
    outputs: int | None = None,
    as_published: bool = False,
) -> Draft:
    """Draw Y from [l, u] with density proportional to exp(-|y - x| / b), and release its bin.

        f(y | x) = exp(-|y - x| / b) / (2 b C_x),   C_x = 1 - (e^-(x - l)/b + e^-(u - x)/b) / 2

    By default b is the least at which the finite channel keeps the budget. Published scales are
    locked as they are, or refused.

    Source: 003 Def 6, Thm 1 eq. (17), eq. (19); 000 Thm 6 eq. (25).

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.model import Prior
    >>> grades = Prior.from_counts({0: 1, 1: 18, 2: 1})
    >>> for scale in ("smallest", "published"):
    ...     print(bounded_laplace(grades, LIP("2"), scale=scale).remarks[0])
    Laplace noise of scale 0.545454, renormalised on [0, 2], 512 bins
    Laplace noise of scale 0.978233, renormalised on [0, 2], 512 bins
    """
    axis = Axis.of(context, domain=domain, outputs=outputs)
    noise = Laplace(axis, bounded=True, sensitivity=sensitivity)
    return noise.single_scale_draft(notion, scale, as_published=as_published)


def instance_laplace(
    context: Context,
    notion: Notion,
    *,
    weight: float | None = None,
    sensitivity: str = "domain",
    domain: Any = None,
    outputs: int | None = None,
    as_published: bool = False,
) -> Draft:
    """Draw Y from [l, u] with density proportional to exp(-|y - x| / b(x)), and release its bin.

        1 / b(x) = 1 / b_0 + alpha p(x),   p = P, on a grid the density of the prior

    For each weight alpha p_max / (1 / b_0 + alpha p_max) the least scales that truly keep the
    budget are found, and the weight with the least squared error is used; weight 0 is one scale
    for all. As published it is b(x) = Delta / (epsilon + alpha P(x)) with an alpha that does not
    keep the budget in general.

    Source: 000 Thm 6 eq. (26), with alpha calibrated.

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.model import Prior
    >>> grades = Prior.from_counts({0: 1, 1: 18, 2: 1})
    >>> for remark in instance_laplace(grades, LIP("3"), outputs=64).remarks[:3]:
    ...     print(remark)
    Laplace noise of scales 0.163776 to 0.332633, renormalised on [0, 2], 64 bins
    53.8 % of the largest inverse scale follows the prior: 1/b = 2.82398 + 3.28193 p(x) / p_max
    one scale for all would be 0.357964, with mean squared error 0.153611
    """
    axis = Axis.of(context, domain=domain, outputs=outputs)
    noise = Laplace(axis, bounded=True, sensitivity=sensitivity)
    if as_published:
        refuse_with_print("weight", weight)
        scales, said = _published_scales(noise, notion)
    else:
        scales, said = _calibrated_scales(noise, notion, _density(context, axis), weight)
    return noise.draft(scales, said, faithful=as_published)


def _published_scales(noise: Laplace, notion: Notion) -> tuple[Floats, list[str]]:
    """Return the scales as published, with their true leakage."""
    axis, epsilon = noise.axis, epsilon_of(notion)
    alpha = formulas.published_alpha(epsilon, float(axis.masses.min()))
    scales = formulas.instance_scales(axis.masses, epsilon, alpha, noise.width)
    said = [f"the scales as published, with alpha = {alpha:.6g}"]
    if len(scales) <= _FEW_ATOMS:
        sides = formulas.instance_leakage(axis.points, axis.masses, scales, axis.lower, axis.upper)
        said.append(_leaks(sides))
    return scales, said


def _calibrated_scales(
    noise: Laplace, notion: Notion, density: Floats, weight: float | None
) -> tuple[Floats, list[str]]:
    """Return the scales of the best weight, or of the one that is given."""
    single = noise.smallest(notion)
    if weight is not None:
        strength = read_number(
            weight,
            lambda share: 0 <= share < 1,
            "the weight is not a number from 0 to below 1",
            "give one, or leave it out to have it chosen",
        )
        scales = noise.scales(notion, _profile(density, strength))
    else:
        small, levels = _coarsen_problem(noise, density)
        strength, scales = noise.follow_profile(
            notion,
            single,
            lambda strength: _profile(density, strength),
            lambda place, scales: place.axis.face_value_error(place.bin_masses(scales)),
            (small, lambda strength: _profile(levels, strength)),
            _WEIGHTS,
            refinements=_REFINEMENTS,
            gain=_WORTHWHILE,
        )
    if not strength:
        return scales, ["one scale for all: letting it follow the prior gains nothing here"]
    base = float(scales.min())
    alone = noise.axis.face_value_error(noise.bin_masses(single)) + noise.axis.variance_within_bins
    inverse = f"{(1 - strength) / base:.6g} + {strength / base:.6g} p(x) / p_max"
    return scales, [
        f"{100 * strength:.3g} % of the largest inverse scale follows the prior: 1/b = {inverse}",
        f"one scale for all would be {single:.6g}, with mean squared error {alone:.6g}",
    ]


def _density(context: Context, axis: Axis) -> Floats:
    """Return how dense the prior is at each input, at most 1.

    Bins of a grid may all have the same mass, and then it is their widths that tell.
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


def _coarsen_problem(noise: Laplace, density: Floats) -> tuple[Laplace, Floats]:
    """Return a coarser problem to search on: neighbouring inputs in one, and fewer outputs."""
    axis = noise.axis
    if len(axis.values) > _GROUPS:
        axis = axis.coarsen(_GROUPS)
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
    return noise.with_axis(axis), density


def epsilon_of(notion: Notion) -> float:
    """Return the epsilon that a published scale is asked for: the smaller of two budgets.

    >>> from liftlock.notions.approximate import ApproximateLIP
    >>> from liftlock.notions.lip import ALIP
    >>> epsilon_of(ALIP(lower="2", upper="1")), epsilon_of(ApproximateLIP("0.5", "0.01"))
    (1.0, 0.5)
    """
    epsilon = float(ldp_budget(notion.without_delta))
    if not epsilon > 0:
        raise InputError(
            "a published scale needs an epsilon above 0",
            value=str(notion),
            remedy="use the scale smallest",
        )
    return epsilon


_OPTIONS = {
    "scale": "smallest, every-epsilon, published, context-free, or a number",
    "sensitivity": "the Delta of published scales: domain (u - l) or data (x_max - x_min)",
    "domain": "the ends of the numbers that are released",
    "outputs": "number of bins of the domain",
}
_LEAST_OF_ITS_KIND = "the least scale of its kind; more budget never asks for more noise"

LAPLACE = noise_design(
    "laplace",
    laplace,
    summary="Laplace noise clamped to the domain, discretised; the least scale that suffices",
    promises=_LEAST_OF_ITS_KIND,
    source="003 eq. (11), (17); 000 eq. (25)",
    published=("lip", "ldp"),
    options=_OPTIONS,
)
BOUNDED_LAPLACE = noise_design(
    "bounded-laplace",
    bounded_laplace,
    summary="Laplace noise renormalised on the domain, discretised; the least scale that suffices",
    promises=_LEAST_OF_ITS_KIND,
    source="003 Def 6, eq. (17); 000 eq. (25)",
    published=("lip", "ldp"),
    options=_OPTIONS,
)
INSTANCE_LAPLACE = noise_design(
    "laplace-by-instance",
    instance_laplace,
    summary="bounded Laplace noise, less where the prior is dense; the scales that suffice",
    promises="no larger squared error, as released, than one scale for all",
    source="000 eq. (26), calibrated",
    published=("lip",),
    options={
        "weight": "how much of the inverse scale follows the prior, 0 to below 1",
        **{key: _OPTIONS[key] for key in ("sensitivity", "domain", "outputs")},
    },
)
