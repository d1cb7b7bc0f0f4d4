"""What all noise has in common: it is scaled, calibrated, discretised into bins, and described.

A kind of noise says how its bins are distributed and which scales were published for it. One
scale serves all numbers, or each has its own, which may follow the prior more or less closely.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from liftlock.designs.base import Design, Draft
from liftlock.designs.noise.axis import Axis, merge_rare_bins
from liftlock.designs.noise.calibration import NUMERIC_NOTIONS, least_cost, smallest_scale
from liftlock.errors import InputError, NotDefined
from liftlock.exact.integers import Floats
from liftlock.model.continuous.distribution import read_numbers
from liftlock.notions.base import Notion

_LEAST = 1e-3
"""Noise below this share of a bin changes nothing that is released."""
_FEW_OUTPUTS = 128
_ROUGHLY = 1e-5
"""So closely a scale is found while the strength is searched for."""


@dataclass(frozen=True)
class Noise(ABC):
    """Noise that is added to the numbers of a prior, then discretised into bins."""

    axis: Axis

    unit: ClassVar[str]
    """What its scale is called."""
    rules: ClassVar[tuple[str, ...]]
    """The rules for its scale, by name; the first is the calibrated one."""
    own_rules: ClassVar[tuple[str, ...]] = ("smallest",)
    """Those of them that no paper prints."""
    one_scale: ClassVar[str]
    several_scales: ClassVar[str]
    many_outputs: ClassVar[float] = math.inf
    """Number of outputs above which the scale is first searched for with fewer."""

    @property
    def how(self) -> str:
        """What is done with noise that leaves the domain."""
        return "clamped to"

    @abstractmethod
    def bin_masses(self, scales: float | Floats) -> Floats:
        """Return the probability of each output bin, for one scale or one for each input."""

    @abstractmethod
    def published_scale(self, rule: str, notion: Notion) -> tuple[float, str]:
        """Return the scale of a published rule, and say in one sentence where it is from."""

    def printed_rule(self, notion: Notion) -> str:  # noqa: ARG002
        """Return the rule that is printed for a notion."""
        return "published"

    @abstractmethod
    def calibration_text(self, scale: float, notion: Notion) -> str:
        """Say what is true of the least scale that keeps a budget."""

    @abstractmethod
    def unclamped_remarks(self, scale: float, notion: Notion) -> list[str]:
        """Say what is known of the noise before it is discretised into bins."""

    def error_text(self, matrix: Floats, scales: float | Floats) -> str:  # noqa: ARG002
        """Say how far a released number is from the true one."""
        return self.axis.error_text(matrix)

    # --- scales -----------------------------------------------------------------------------------

    @property
    def least(self) -> float:
        """A scale that is as good as none."""
        return _LEAST * self.axis.width / len(self.axis.values)

    def with_axis(self, axis: Axis) -> Self:
        """Return the same noise on another axis."""
        return replace(self, axis=axis)

    def smallest(
        self, notion: Notion, profile: float | Floats = 1.0, *, within: float = 1e-9
    ) -> float:
        """Return the least s for which the scales s times a profile truly keep a budget."""
        coarse = None
        if len(self.axis.values) > self.many_outputs:
            few = self.with_axis(self.axis.coarsen(_FEW_OUTPUTS))

            def coarse(scale: float) -> Floats:
                return merge_rare_bins(few.bin_masses(scale * profile))[0]

        return smallest_scale(
            lambda scale: merge_rare_bins(self.bin_masses(scale * profile))[0],
            self.axis.masses,
            notion,
            start=self.axis.width,
            least=self.least / float(np.max(profile)),
            coarse=coarse,
            within=within,
        )

    def scale(self, rule: object, notion: Notion) -> tuple[float, str]:
        """Return the scale that a rule gives, and say in one sentence where it is from."""
        if rule == "smallest":
            found = self.smallest(notion)
            return found, self.calibration_text(found, notion)
        if not isinstance(rule, str):
            return read_positive(rule, self.unit, "give one, or smallest"), (
                f"the {self.unit} was given"
            )
        if rule not in self.rules:
            raise InputError(
                "unknown scale", value=rule, remedy=f"use {', '.join(self.rules)}, or a number"
            )
        return self.published_scale(rule, notion)

    def follow_profile(
        self,
        notion: Notion,
        single: float,
        profile: Callable[[float], Floats],
        cost: Callable[[Noise, Floats], float],
        rough: tuple[Noise, Callable[[float], Floats]],
        strengths: Sequence[float],
        *,
        refinements: int,
        gain: float = 0.0,
    ) -> tuple[float, Floats]:
        """Return how strongly scales should follow a profile, and the least scales that do.

        The strength of least cost is searched for on a rough version of the problem. Strength 0
        is the single scale for all, which is returned unless others are better by a share `gain`.
        """
        small, small_profile = rough

        def rough_cost(strength: float) -> float:
            try:
                return cost(small, small.scales(notion, small_profile(strength), within=_ROUGHLY))
            except (InputError, NotDefined):
                return math.inf

        even = np.full(len(self.axis.points), single)
        strength = least_cost(rough_cost, strengths, refinements=refinements)
        if strength:
            scales = self.scales(notion, profile(strength))
            if cost(self, scales) <= cost(self, even) * (1.0 - gain):
                return strength, scales
        return 0.0, even

    def scales(self, notion: Notion, profile: Floats, *, within: float = 1e-9) -> Floats:
        """Return the least multiple of a profile that keeps a budget."""
        scales: Floats = self.smallest(notion, profile, within=within) * profile
        return scales

    # --- drafts -----------------------------------------------------------------------------------

    def describe(self, scales: float | Floats) -> str:
        """Say what noise it is, and what becomes of the sum."""
        if isinstance(scales, float):
            said = f"{self.one_scale} {scales:.6g}"
        else:
            said = f"{self.several_scales} {scales.min():.6g} to {scales.max():.6g}"
        return f"{said}, {self.axis.bins_text(self.how)}"

    def draft(self, scales: float | Floats, remarks: Sequence[str], *, faithful: bool) -> Draft:
        """Return the draft of noise of these scales."""
        matrix = self.bin_masses(scales)
        said = [self.describe(scales), *remarks, self.error_text(matrix, scales)]
        return self.axis.draft(matrix, remarks=said, faithful=faithful)

    def single_scale_draft(
        self, notion: Notion, scale: str | float | None, *, as_published: bool
    ) -> Draft:
        """Return the draft of noise with one scale for all numbers."""
        if as_published and scale in self.own_rules:
            raise InputError(
                f"no paper prints this {self.unit}",
                value=scale,
                remedy="leave out as_published, or use published or a number",
            )
        usual = self.printed_rule(notion) if as_published else "smallest"
        rule = usual if scale is None else scale
        found, source = self.scale(rule, notion)
        remarks = [source, *self.unclamped_remarks(found, notion)]
        return self.draft(found, remarks, faithful=rule != "smallest")


def refuse_with_print(name: str, given: object) -> None:
    """Refuse an option that the published formula has no place for."""
    if given is not None:
        raise InputError(
            "the published formula has no such option",
            value=f"{name}={given}",
            remedy=f"leave out {name}, or as_published",
        )


def read_number(given: object, allowed: Callable[[float], bool], wrong: str, remedy: str) -> float:
    """Read a number that was given as an option; one that is not allowed is refused as `wrong`."""
    found = read_numbers([given])
    if len(found) != 1 or not allowed(float(found[0])):
        raise InputError(wrong, value=given, remedy=remedy)
    return float(found[0])


def read_positive(number: object, name: str, remedy: str) -> float:
    """Read a positive number that was given as an option."""
    return read_number(number, lambda x: x > 0, f"the {name} is not a positive number", remedy)


def noise_design(key: str, make: Callable[..., Draft], **facts: Any) -> Design:
    """Return the entry of a design that adds noise to the numbers of a prior."""
    return Design(
        key=key,
        make=make,
        notions=NUMERIC_NOTIONS,
        contexts=("prior",),
        needs="numbers, as labels or coordinates, that are not all the same",
        face_value=True,
        **facts,
    )
