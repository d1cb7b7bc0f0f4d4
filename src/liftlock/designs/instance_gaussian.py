"""Gaussian noise whose deviation depends on the value, calibrated on the true output law."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from liftlock._solver.problem import limits
from liftlock.context import Context
from liftlock.designs.axis import Axis
from liftlock.designs.calibration import NUMERIC_NOTIONS, least_cost, lip_deltas
from liftlock.designs.draft import Draft
from liftlock.designs.formulas.gaussian import instance_sigma, output_deltas
from liftlock.designs.gaussian import (
    NEEDS,
    Normal,
    least_sigma,
    lip_formula,
    noisy,
)
from liftlock.designs.registry import Design
from liftlock.errors import InputError
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot, exp, log
from liftlock.exact.reproducible import power as to_power
from liftlock.line.law import numbers_of
from liftlock.notions.base import Notion
from liftlock.notions.e_divergence import positive_parts
from liftlock.utility.utility import Utility, mean_cost

_SHARES = exp(np.linspace(0.0, log(0.05), 33))
"""Shares of the common deviation at which each value is looked at alone."""
_POWERS = (0.0, 0.125, 0.25, 0.5, 0.75, 1.0)
_FEW_OUTPUTS = 64
"""So many outputs do to tell which profile and power are good."""
_FEW_ROWS = 64
_ROUGH = 1e-5
_TINY = 1e-300


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
    """Add N(0, sigma(x)^2) to the number x, clamp the sum to the domain and release its cell.

        sigma(x) = s profile(x)^t

    The profile is the least deviation that x alone would need if all had it, as the published rule
    has it. That rule takes it for enough, and breaks its budget. Here s is the least one at which
    the finite channel, with the output law that these deviations truly give, keeps the budget, and
    t in [0, 1] the power with the least cost. The power 0 is the one deviation of `gaussian`, so
    the result is never worse.

    Source: 000 Cor 10.

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.prior import Prior
    >>> ages = Prior.from_counts({20: 1, 30: 4, 40: 6, 50: 4, 60: 1})
    >>> for said in instance_gaussian(ages, LIP("2"), outputs=64).remarks[:2]:
    ...     print(said)
    noise of deviation 8.83609 to 17.917, clamped to [20, 60] and cut into 64 outputs
    the least deviations of the form s profile^t for lip(2), with t = 0.7812
    """
    axis = Axis.of(context, domain=domain, outputs=outputs)
    if as_published:
        sigmas, said = _published(axis, notion)
    else:
        sigmas, said = _calibrated(axis, notion, utility, power)
    matrix = noisy(axis, sigmas)
    remarks = [
        f"noise of deviation {sigmas.min():.6g} to {sigmas.max():.6g}, {axis.cut_text()}",
        *said,
        axis.worth(matrix),
    ]
    return axis.draft(matrix, method=DESIGN.key, remarks=remarks, faithful=as_published)


def _published(axis: Axis, notion: Notion) -> tuple[Floats, list[str]]:
    """Return the published deviations, and say what delta they truly have."""
    epsilon, delta, form = lip_formula(notion, "the published deviation by instance")
    normal = Normal.of(axis)
    sigmas = instance_sigma(axis.points, normal.mean, normal.sd, epsilon, delta, form)
    places = [
        int((normal.distances / normal.sd).round(9).argmin()),
        int(axis.points.argmin()),
        int(axis.points.argmax()),
    ]
    true = output_deltas(
        axis.points[places], sigmas[places], axis.masses, axis.points, sigmas, epsilon, form
    )
    law = f"mean {normal.mean:.6g} and deviation {normal.sd:.6g}"
    found = f"{true[0]:.4g}, at the ends {true[1]:.4g} and {true[2]:.4g} ({form})"
    middle = f"{axis.points[places[0]]:.6g}"
    return sigmas, [
        f"the published deviations, the prior read as a normal law of {law}",
        f"without clamping and cutting their true delta at {middle} is {found}",
    ]


def _calibrated(
    axis: Axis, notion: Notion, utility: Utility | None, power: float | None
) -> tuple[Floats, list[str]]:
    """Return the deviations of the best power that was found, and of 0 if none is better."""
    common = least_sigma(axis, notion)
    shape = profile(axis, notion, common)
    even = np.full(len(axis.points), common)

    def cost(place: Axis, sigmas: Floats) -> float:
        matrix = noisy(place, sigmas)
        if utility is None:
            return place.face_value_error(matrix)
        return mean_cost(utility, matrix, place.masses)

    if power is None:
        few = axis.coarse(min(_FEW_OUTPUTS, len(axis.values)))

        def cost_of(t: float) -> float:
            return cost(few, _deviations(few, notion, shape, t, within=_ROUGH))

        power = least_cost(cost_of, _POWERS)
        sigmas = _deviations(axis, notion, shape, power) if power else even
        if power and cost(axis, sigmas) > cost(axis, even):
            power, sigmas = 0.0, even
    else:
        power = _read_power(power)
        sigmas = _deviations(axis, notion, shape, power)
    said = f"the least deviations of the form s profile^t for {notion}, with t = {power:.4g}"
    return sigmas, [said, f"one deviation for all would have to be {common:.6g}"]


def _read_power(power: object) -> float:
    found = numbers_of([power])
    if len(found) != 1 or not 0 <= found[0] <= 1:
        raise InputError(
            "the power of a profile is not between 0 and 1", value=power, remedy="leave it out"
        )
    return float(found[0])


def _deviations(
    axis: Axis, notion: Notion, shape: Floats, power: float, *, within: float = 1e-9
) -> Floats:
    bent = to_power(shape, power)
    deviations: Floats = least_sigma(axis, notion, bent, within=within) * bent
    return deviations


def profile(axis: Axis, notion: Notion, common: float) -> Floats:
    """Return the deviation that each value alone would need, as a share of the common one.

    It is what Cor 10 asks for, with the masses as they are, and clamped and cut.

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.prior import Prior
    >>> axis = Axis.of(Prior.from_counts({0: 1, 1: 8, 2: 1}), outputs=32)
    >>> profile(axis, LIP("1"), least_sigma(axis, LIP("1"))).round(2).tolist()
    [1.0, 0.32, 1.0]
    """
    few = axis.coarse(min(_FEW_OUTPUTS, len(axis.values)))
    needs = row_needs(notion)
    found = np.stack([needs(noisy(few, share * common), axis.masses) for share in _SHARES])
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


def row_needs(notion: Notion) -> Callable[[Floats, Floats], Floats]:
    """Return the measure of how far each row of a matrix is beyond a budget; at most 0: it is not.

    For (epsilon, delta)-LDP each row is compared with a few others.
    """
    allowed = notion.delta_limit()
    if allowed is not None and allowed.delta:
        ratio, delta, form = float(allowed.epsilon.exp()), float(allowed.delta), allowed.form
        if form == "ldp":
            return lambda matrix, masses: _ldp_deltas(matrix, ratio) - delta  # noqa: ARG005
        return lambda matrix, masses: lip_deltas(matrix, masses, ratio, form) - delta
    lower, upper, most = limits(notion.without_delta)
    if most is not None:
        top = log(most)
        return lambda matrix, masses: _ldp_logs(matrix) - top  # noqa: ARG005
    return lambda matrix, masses: _lift_logs(matrix, masses, lower, upper)


def _lift_logs(matrix: Floats, masses: Floats, lower: float, upper: float) -> Floats:
    lifts = matrix / np.maximum(dot(masses, matrix), _TINY)
    beyond = np.full(len(matrix), -np.inf)
    if np.isfinite(upper):
        beyond = np.maximum(beyond, log(lifts.max(axis=1) / upper))
    if lower > 0:
        beyond = np.maximum(beyond, log(lower / np.maximum(lifts.min(axis=1), _TINY)))
    return beyond


def _ldp_logs(matrix: Floats) -> Floats:
    safe = np.maximum(matrix, _TINY)
    above, below = safe.max(axis=0) / safe, safe / safe.min(axis=0)
    logs: Floats = log(np.maximum(above.max(axis=1), below.max(axis=1)))
    return logs


def _ldp_deltas(matrix: Floats, ratio: float) -> Floats:
    some = np.unique(np.linspace(0, len(matrix) - 1, _FEW_ROWS).round().astype(np.intp))
    worst = np.zeros(len(matrix))
    for other in matrix[some]:
        worst = np.maximum(worst, positive_parts(matrix, other, ratio))
        worst = np.maximum(worst, positive_parts(other, matrix, ratio))
    return worst


DESIGN = Design(
    key="gaussian-by-instance",
    make=instance_gaussian,
    says="normal noise, less of it where the prior is dense; clamped, cut, calibrated exactly",
    promises="never worse than gaussian for the utility that was asked for",
    source="000 Cor 10, calibrated on the true output law",
    notions=NUMERIC_NOTIONS,
    contexts=("prior",),
    needs=NEEDS,
    uses_utility=True,
    face_value=True,
    options={
        "power": "how strongly deviations follow the profile, 0 to 1; by default the best",
        "domain": "the ends to which the sum is clamped",
        "outputs": "how many cells the domain is cut into",
    },
)
