"""Laplace noise on an axis: how its scale is chosen, what it leaks uncut, and what it is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from liftlock._solver.problem import ldp_budget
from liftlock.context import Context
from liftlock.designs.axis import Axis, join_rare
from liftlock.designs.calibration import smallest_scale
from liftlock.designs.draft import Draft
from liftlock.designs.formulas import laplace as formulas
from liftlock.errors import InputError
from liftlock.exact.integers import Floats
from liftlock.line.law import numbers_of
from liftlock.notions.base import Notion

Rule = Literal["smallest", "every-epsilon", "published", "context-free"]
RULES: tuple[Rule, ...] = get_args(Rule)
Sensitivity = Literal["domain", "data"]
SENSITIVITIES: tuple[Sensitivity, ...] = get_args(Sensitivity)

OPTIONS = {
    "scale": "smallest, every-epsilon, published, context-free, or a number",
    "sensitivity": "the Delta of published scales: domain (u - l) or data (x_max - x_min)",
    "domain": "the ends of the numbers that are released",
    "outputs": "how many cells the domain is cut into",
}
NEEDS = "numbers, as labels or coordinates, that are not all the same"

_LEAST = 1e-3
"""Noise below this share of a cell changes nothing that is released."""
_MANY_OUTPUTS = 512
_FEW_OUTPUTS = 128
_SAID = {
    "smallest": "the least scale at which the finite channel keeps {notion}",
    "every-epsilon": "the first branch of the published scale, used for every epsilon",
    "published": "the scale as published",
    "context-free": "the scale of epsilon-LDP, whatever the prior",
}

_NO_NOISE = "{notion} asks for no noise here: it protects single values, not what is near them"


@dataclass(frozen=True)
class LaplaceNoise:
    """Laplace noise that is added to the numbers of a prior, then cut into cells."""

    axis: Axis
    bounded: bool
    """Whether it is renormalised on the domain; otherwise it is clamped to it."""

    @classmethod
    def of(
        cls, context: Context, *, bounded: bool, domain: Any = None, outputs: int | None = None
    ) -> LaplaceNoise:
        """Read the numbers of a prior, all of which can occur."""
        return cls(Axis.of(context, domain=domain, outputs=outputs), bounded)

    @property
    def how(self) -> str:
        """What is done with noise that leaves the domain."""
        return "renormalised on" if self.bounded else "clamped to"

    @property
    def least(self) -> float:
        """A scale that is as good as none."""
        return _LEAST * self.axis.width / len(self.axis.values)

    def cells(self, scales: float | Floats, axis: Axis | None = None) -> Floats:
        """Return the probability of each output cell, for one scale or one for each input."""
        place = self.axis if axis is None else axis
        make = formulas.bounded_cells if self.bounded else formulas.clamped_cells
        return make(place.points, place.edges, scales)

    def smallest(
        self, notion: Notion, profile: float | Floats = 1.0, *, within: float = 1e-9
    ) -> float:
        """Return the least b for which the scales b times a profile truly keep a budget."""
        coarse = None
        if len(self.axis.values) > _MANY_OUTPUTS:
            few = self.axis.coarse(_FEW_OUTPUTS)

            def coarse(b: float) -> Floats:
                return join_rare(self.cells(b * profile, few))[0]

        return smallest_scale(
            lambda b: join_rare(self.cells(b * profile))[0],
            self.axis.masses,
            notion,
            start=self.axis.width,
            least=self.least / float(np.max(profile)),
            coarse=coarse,
            within=within,
        )

    def width(self, sensitivity: str) -> float:
        """Return the Delta of the published scales."""
        if sensitivity not in SENSITIVITIES:
            raise InputError(
                "unknown sensitivity", value=sensitivity, remedy=f"use {' or '.join(SENSITIVITIES)}"
            )
        return self.axis.width if sensitivity == "domain" else self.axis.spread

    def scale(self, rule: str | float, notion: Notion, sensitivity: str) -> tuple[float, str]:
        """Return the scale that a rule gives, and say in one sentence where it is from."""
        width = self.width(sensitivity)
        if not isinstance(rule, str):
            return read_scale(rule), "the scale was given"
        if rule not in RULES:
            raise InputError(
                "unknown scale", value=rule, remedy=f"use {', '.join(RULES)}, or a number"
            )
        if rule == "smallest":
            found = self.smallest(notion)
            said = _NO_NOISE if found <= 1.001 * self.least else _SAID[rule]
            return found, said.format(notion=notion)
        epsilon, rarest = epsilon_of(notion), float(self.axis.masses.min())
        said = f"{_SAID[rule]}, with Delta = {width:.6g}"
        if rule == "context-free":
            return formulas.context_free_scale(epsilon, width), said
        make = formulas.published_scale if rule == "published" else formulas.scale_for_every_epsilon
        return make(epsilon, rarest, width), said

    def draft(
        self,
        matrix: Floats,
        scales: float | Floats,
        *,
        method: str,
        said: list[str],
        faithful: bool,
    ) -> Draft:
        """Return the draft of a matrix, with what there is to say about its errors."""
        axis = self.axis
        ends = axis.lower, axis.upper
        uncut = formulas.mean_squared_error(
            axis.points, axis.masses, scales, *ends, bounded=self.bounded
        )
        worth = (
            f"{axis.worth(matrix)}; in closed form the squared error of the noise, uncut, is "
            f"{uncut:.6g}"
        )
        return axis.draft(matrix, method=method, remarks=[*said, worth], faithful=faithful)

    def described(self, scale: float) -> list[str]:
        """Say what noise it is, and what it would leak uncut."""
        axis = self.axis
        if self.bounded:
            sides = formulas.leakage(axis.points, axis.masses, scale, axis.lower, axis.upper)
        else:
            sides = formulas.clamped_leakage(axis.points, axis.masses, scale)
        return [
            f"Laplace noise of scale {scale:.6g}, {axis.cut_text(self.how)}",
            f"uncut, this noise leaks eps_lower {sides[0]:.4g} and eps_upper {sides[1]:.4g}",
        ]


def single_scale(
    context: Context,
    notion: Notion,
    *,
    bounded: bool,
    method: str,
    scale: str | float | None,
    sensitivity: str,
    domain: Any,
    outputs: int | None,
    as_published: bool,
) -> Draft:
    """Return the draft of Laplace noise with one scale for all inputs."""
    noise = LaplaceNoise.of(context, bounded=bounded, domain=domain, outputs=outputs)
    if scale is None:
        scale = "published" if as_published else "smallest"
    found, source = noise.scale(scale, notion, sensitivity)
    first, *rest = noise.described(found)
    return noise.draft(
        noise.cells(found),
        found,
        method=method,
        said=[first, source, *rest],
        faithful=scale != "smallest",
    )


def read_scale(scale: object) -> float:
    """Read a scale that was given as a number."""
    found = numbers_of([scale])
    if len(found) != 1 or not found[0] > 0:
        raise InputError(
            "the scale is not a positive number", value=scale, remedy="give one, or smallest"
        )
    return float(found[0])


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
