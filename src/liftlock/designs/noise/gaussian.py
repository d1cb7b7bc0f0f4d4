"""Gaussian noise, clamped: one deviation for all, or less of it where the prior is dense."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from liftlock.designs.base import Draft
from liftlock.designs.formulas import gaussian as formulas
from liftlock.designs.noise.axis import Axis
from liftlock.designs.noise.base import (
    Noise,
    noise_design,
    read_number,
    read_positive,
    refuse_with_print,
)
from liftlock.designs.noise.calibration import row_needs
from liftlock.errors import InputError, NotDefined, extra
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot, exp, log
from liftlock.exact.reproducible import power as to_power
from liftlock.model import Context
from liftlock.notions.base import Notion
from liftlock.utility.base import Utility, mean_cost

_SHARES = exp(np.linspace(0.0, log(0.05), 33))
"""Shares of the common deviation at which each value is looked at alone."""
_POWERS = (0.0, 0.125, 0.25, 0.5, 0.75, 1.0)
_REFINEMENTS = 4
_FEW_OUTPUTS = 64
"""So many outputs do to tell which profile and power are good."""


@dataclass(frozen=True)
class Gaussian(Noise):
    """Noise N(0, sigma^2), clamped to the domain.

    Published deviations read the prior as a normal distribution, and protect what lies within a
    radius of its mean.
    """

    radius: float | None = None

    unit = "deviation"
    rules = ("smallest", "published", "classical", "analytic")
    one_scale = "Gaussian noise, standard deviation"
    several_scales = "Gaussian noise, standard deviation"

    @cached_property
    def mean(self) -> float:
        """The mean of the prior."""
        return float(dot(self.axis.masses, self.axis.points))

    @cached_property
    def distances(self) -> Floats:
        """The distance of each number from the mean."""
        apart: Floats = np.abs(self.axis.points - self.mean)
        return apart

    @cached_property
    def sd(self) -> float:
        """The deviation of the prior."""
        found = math.sqrt(float(dot(self.axis.masses, self.distances**2)))
        if not found > 0:
            raise InputError(
                "the numbers have no spread", value=self.mean, remedy="there is nothing to protect"
            )
        return found

    @cached_property
    def reach(self) -> float:
        """The radius to protect; by default all numbers."""
        if self.radius is None:
            return float(self.distances.max())
        remedy = "give the largest distance from the mean to protect"
        return read_positive(self.radius, "radius", remedy)

    def bin_masses(self, scales: float | Floats) -> Floats:
        """Return the bins of clamped normal noise, of one deviation or of one for each input."""
        with extra("statistics"):
            from scipy.special import ndtr

        sigmas = np.reshape(scales, (-1, 1))
        return self.axis.clamp(lambda below: ndtr(below / sigmas))

    def scale(self, rule: object, notion: Notion) -> tuple[float, str]:
        """Return the deviation that a rule gives; a wrong radius is refused with every rule."""
        _ = self.sd, self.reach
        return super().scale(rule, notion)

    def published_scale(self, rule: str, notion: Notion) -> tuple[float, str]:
        """Return the deviation of a published rule, and say where it is from."""
        if rule == "published":
            epsilon, delta, _ = _lip_formula(notion, "the published deviation")
            sigma = float(formulas.smallest_sigma(self.reach, self.sd, epsilon, delta))
            return sigma, (
                f"the published deviation for |x - {self.mean:.6g}| <= {self.reach:.6g}, the "
                f"prior approximated by a normal distribution of standard deviation {self.sd:.6g}"
            )
        allowed = notion.delta_limit()
        if allowed is None:
            raise NotDefined(
                f"the {rule} deviation", f"the notion {notion.name}", "it needs a delta"
            )
        epsilon, delta = float(allowed.epsilon), float(allowed.delta)
        if rule == "analytic":
            found = formulas.analytic_sigma(epsilon, delta, self.axis.input_range)
            return found, "the analytic deviation for (epsilon, delta)-LDP, whatever the prior"
        proved = "" if epsilon <= formulas.CLASSICAL_LIMIT else ", proved for epsilon <= 1 alone"
        found = formulas.classical_sigma(epsilon, delta, self.axis.input_range)
        return found, f"the classical deviation for (epsilon, delta)-LDP{proved}"

    def calibration_text(self, scale: float, notion: Notion) -> str:  # noqa: ARG002
        """Say what is true of the least deviation that keeps a budget."""
        return f"the least deviation of the finite channel for {notion}"

    def unclamped_remarks(self, scale: float, notion: Notion) -> list[str]:
        """Say what the formulas without clamping and binning give at this deviation."""
        allowed = notion.delta_limit()
        if allowed is None:
            return []
        if allowed.form == "ldp":
            delta = formulas.analytic_delta(float(allowed.epsilon), scale, self.axis.input_range)
            return [f"without clamping and binning the analytic delta is {delta:.4g}"]
        epsilon, _, form = _lip_formula(notion, "the published deviation")
        delta = float(formulas.radius_delta(self.reach, self.sd, scale, epsilon, form))
        within = f"|x - {self.mean:.6g}| <= {self.reach:.6g}"
        unclamped_remarks = (
            "for a normal distribution without clamping and binning the analytic delta of"
        )
        said = [f"{unclamped_remarks} {within} is {delta:.4g} ({form})"]
        if self.radius is not None:
            beyond = float(self.axis.masses[self.distances > self.reach].sum())
            said.append(
                "nothing of the discretised prior lies beyond that radius"
                if beyond == 0.0
                else f"{100 * beyond:.3g} % of the prior lies beyond that radius: "
                "the analytic statement does not protect it, "
                "the certificate covers every input of the finite channel"
            )
        return said


def _lip_formula(notion: Notion, what: str) -> tuple[float, float, str]:
    """Return epsilon, delta and the form in which a delta for (epsilon, delta)-LIP is measured.

    The joint form is implied by ediv, as its deltas are multiplied by masses. The published
    deviations bound both E-divergences by delta, which is ediv, whatever form is asked for.
    """
    allowed = notion.delta_limit()
    if allowed is None or allowed.form == "ldp":
        raise NotDefined(
            what, f"the notion {notion.name}", "it is made for lip_ediv, lip_def5, lip_joint"
        )
    form = "ediv" if allowed.form == "joint" else allowed.form
    return float(allowed.epsilon), float(allowed.delta), form


def gaussian(
    context: Context,
    notion: Notion,
    *,
    scale: str | float | None = None,
    radius: float | None = None,
    domain: Any = None,
    outputs: int | None = None,
    as_published: bool = False,
) -> Draft:
    """Add N(0, sigma^2) to the number, clamp the sum to the domain and release its bin.

        P(y | x) = Phi((e_{y+1} - x) / sigma) - Phi((e_y - x) / sigma),

    the outermost bins taking what lies beyond them. By default sigma is the least one at which the
    finite channel keeps the budget; other scales are formulas, locked as they are or refused.

    Source: 000 Thm 5, eq. (24).

    >>> from liftlock.notions.approximate import ApproximateLIP
    >>> from liftlock.model import Prior
    >>> ages = Prior.from_counts({20: 3, 40: 5, 60: 2})
    >>> gaussian(ages, ApproximateLIP("1", "0.01")).remarks[0]
    'Gaussian noise, standard deviation 32.4402, clamped to [20, 60], 512 bins'
    """
    noise = Gaussian(Axis.of(context, domain=domain, outputs=outputs), radius)
    return noise.single_scale_draft(notion, scale, as_published=as_published)


def instance_gaussian(
    context: Context,
    notion: Notion,
    *,
    utility: Utility | None = None,
    power: float | None = None,
    domain: Any = None,
    outputs: int | None = None,
    as_published: bool = False,
) -> Draft:
    """Add N(0, sigma(x)^2) to the number x, clamp the sum to the domain and release its bin.

        sigma(x) = s profile(x)^t

    The profile is the least deviation that x alone would need if all had it, as the published rule
    has it. That rule takes it for enough, and breaks its budget. Here s is the least one at which
    the finite channel, with the output distribution that these deviations truly give, keeps the
    budget, and t in [0, 1] the power with the least cost. The power 0 is the one deviation of
    `gaussian`, so the result is never worse.

    Source: 000 Cor 10.

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.model import Prior
    >>> ages = Prior.from_counts({20: 1, 30: 4, 40: 6, 50: 4, 60: 1})
    >>> for said in instance_gaussian(ages, LIP("2"), outputs=64).remarks[:2]:
    ...     print(said)
    Gaussian noise, standard deviation 8.83609 to 17.917, clamped to [20, 60], 64 bins
    the least deviations of the form s profile^t for lip(2), with t = 0.7812
    """
    noise = Gaussian(Axis.of(context, domain=domain, outputs=outputs))
    if as_published:
        refuse_with_print("power", power)
        sigmas, said = _published_scales(noise, notion)
    else:
        sigmas, said = _calibrated_scales(noise, notion, utility, power)
    return noise.draft(sigmas, said, faithful=as_published)


def _published_scales(noise: Gaussian, notion: Notion) -> tuple[Floats, list[str]]:
    """Return the published deviations, and say what delta they truly have."""
    epsilon, delta, form = _lip_formula(notion, "the published deviation by instance")
    points = noise.axis.points
    sigmas = formulas.instance_sigma(points, noise.mean, noise.sd, epsilon, delta)
    places = [
        int((noise.distances / noise.sd).round(9).argmin()),
        int(points.argmin()),
        int(points.argmax()),
    ]
    true = formulas.output_deltas(
        points[places], sigmas[places], noise.axis.masses, points, sigmas, epsilon, form
    )
    distribution = f"mean {noise.mean:.6g} and deviation {noise.sd:.6g}"
    found = f"{true[0]:.4g}, at the ends {true[1]:.4g} and {true[2]:.4g} ({form})"
    middle = f"{points[places[0]]:.6g}"
    return sigmas, [
        (
            "the published deviations, the prior approximated by a normal distribution of "
            f"{distribution}"
        ),
        f"without clamping and binning their true delta at {middle} is {found}",
    ]


def _calibrated_scales(
    noise: Gaussian, notion: Notion, utility: Utility | None, power: float | None
) -> tuple[Floats, list[str]]:
    """Return the deviations of the best power, or of the one that is given."""
    common = noise.smallest(notion)
    needed = needed_shares(noise, notion, common)

    def profile(strength: float) -> Floats:
        bent: Floats = to_power(needed, strength)
        return bent

    def cost(place: Noise, sigmas: Floats) -> float:
        matrix = place.bin_masses(sigmas)
        if utility is None:
            return place.axis.face_value_error(matrix)
        return mean_cost(utility, matrix, place.axis.masses)

    if power is None:
        strength, sigmas = noise.follow_profile(
            notion, common, profile, cost, (_few(noise), profile), _POWERS, refinements=_REFINEMENTS
        )
    else:
        wrong = "the power of a profile is not between 0 and 1"
        strength = read_number(power, lambda share: 0 <= share <= 1, wrong, "leave it out")
        sigmas = noise.scales(notion, profile(strength))
    said = f"the least deviations of the form s profile^t for {notion}, with t = {strength:.4g}"
    return sigmas, [said, f"a single standard deviation would have to be {common:.6g}"]


def _few(noise: Gaussian) -> Gaussian:
    return noise.with_axis(noise.axis.coarsen(min(_FEW_OUTPUTS, len(noise.axis.values))))


def needed_shares(noise: Gaussian, notion: Notion, common: float) -> Floats:
    """Return the deviation that each value alone would need, as a share of the common one.

    It is what Cor 10 asks for, with the masses as they are, and clamped and cut.

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.model import Prior
    >>> noise = Gaussian(Axis.of(Prior.from_counts({0: 1, 1: 8, 2: 1}), outputs=32))
    >>> needed_shares(noise, LIP("1"), noise.smallest(LIP("1"))).round(2).tolist()
    [1.0, 0.32, 1.0]
    """
    few, needs = _few(noise), row_needs(notion)
    found = np.stack([needs(few.bin_masses(share * common), few.axis.masses) for share in _SHARES])
    broken = found > 0
    first = np.where(broken.any(axis=0), broken.argmax(axis=0), len(_SHARES) - 1)
    last = np.maximum(first - 1, 0)
    rows = np.arange(found.shape[1])
    over, under = np.maximum(found[first, rows], 0.0), np.minimum(found[last, rows], 0.0)
    # Where a need changes its sign between two shares, as if it were straight.
    part = np.divide(-under, over - under, out=np.ones(len(rows)), where=over > under)
    logs = log(_SHARES)
    shares: Floats = exp(logs[last] + part * (logs[first] - logs[last]))
    return shares


_OPTIONS = {
    "domain": "the ends to which the sum is clamped",
    "outputs": "number of bins of the domain",
}

GAUSSIAN = noise_design(
    "gaussian",
    gaussian,
    summary="add normal noise, clamp to the domain and discretise; the least "
    "deviation that suffices",
    promises="the least deviation of its kind; more budget never asks for more noise",
    source="000 Thm 5 on a bounded domain; eq. (24)",
    published=("lip_ediv", "lip_def5", "ldp_delta"),
    options={
        "scale": "smallest, published (with a radius), classical, analytic, or a deviation",
        "radius": "the largest distance from the mean that the published deviation is made for",
        **_OPTIONS,
    },
)
INSTANCE_GAUSSIAN = noise_design(
    "gaussian-by-instance",
    instance_gaussian,
    summary="normal noise, less where the prior is dense; clamped, discretised, calibrated exactly",
    promises="never worse than gaussian for the utility that was asked for",
    source="000 Cor 10, calibrated on the true output distribution",
    published=("lip_ediv", "lip_def5"),
    uses_utility=True,
    options={
        "power": "how strongly deviations follow the profile, 0 to 1; by default the best",
        **_OPTIONS,
    },
)
