"""Numbers go in, numbers come out: the sampler of numeric mechanisms against their certificates.

Whole numbers of cells are not enough here: values are drawn *inside* their cells, go through
`Mechanism.release` with the operating system's entropy, and come back as released numbers. The
tests state their error rates, as the entropy cannot be seeded.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from liftlock import Mechanism, continuous
from liftlock.designs import design
from liftlock.model.continuous import GridPrior
from liftlock.notions import LIP, ApproximateLIP
from liftlock.probe import probe

SAMPLES = 4_000_000
PURE: list[tuple[str, dict[str, Any]]] = [
    ("optimal", {"seconds": 5.0}),
    ("quantile-blocks", {}),
    ("bounded-laplace", {"outputs": 12}),
    ("gaussian", {"outputs": 12}),
]
WITH_DELTA = [
    "sampling",
    "laplace",
    "gaussian",
    "gaussian-by-instance",
    "laplace-by-instance",
    "outage",
]


@pytest.fixture(scope="module")
def wages() -> GridPrior:
    return continuous.lognormal(0, 0.8, domain=(0.05, 12)).discretise(10)


def inside(prior: GridPrior, bins: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return numbers somewhere inside the cells; at the ends also beyond the domain."""
    edges = np.array(prior.grid.edges)
    share = np.random.default_rng(1).random(len(bins))
    numbers: npt.NDArray[np.float64] = edges[bins] + share * np.diff(edges)[bins] * 0.999999
    numbers[(bins == 0) & (share < 0.2)] = -5.0
    numbers[(bins == len(prior.grid) - 1) & (share < 0.2)] = 1e9
    return numbers


def released(made: Mechanism, prior: GridPrior, bins: npt.NDArray[Any]) -> npt.NDArray[Any]:
    found = made.release(inside(prior, bins))
    assert isinstance(found, np.ndarray)
    return found


@pytest.mark.parametrize(("method", "options"), PURE, ids=[name for name, _ in PURE])
def test_the_sampler_does_not_contradict_its_certificate(
    wages: GridPrior, method: str, options: dict[str, Any]
) -> None:
    """False alarm: at most 1e-6. Five per cent below the truth it is contradicted."""
    made = design(wages, LIP("1"), method=method, **options)
    exact = LIP.measure(made.channel, wages)
    box = lambda codes: released(made, wages, codes)  # noqa: E731
    found = probe(
        box,
        wages.labels,
        wages,
        lip=exact.value.upper,
        samples=SAMPLES,
        confidence="0.999999",
    )
    assert not found.contradicted
    assert found.lip is not None
    assert found.lip > float(exact) - 0.06
    too_good = round(float(exact) - math.log(1.08), 6)
    assert probe(box, wages.labels, wages, lip=too_good, samples=SAMPLES).contradicted


@pytest.mark.parametrize("method", WITH_DELTA)
def test_the_witness_of_delta_occurs_as_often_as_the_audit_says(
    wages: GridPrior, method: str
) -> None:
    """P(set | x) - E P(set), or the reverse, within 5.2 standard errors: false alarm below 1e-6."""
    made = design(wages, ApproximateLIP("1", "0.05"), method=method)
    measurement = ApproximateLIP.measure(made.table, wages, "1")
    assert measurement.witness is not None
    chosen = (
        {made.table.outputs.labels[0]}
        if not measurement.witness.outputs
        else set(measurement.witness.outputs)
    )
    numbers = np.array(
        [
            float(point)
            for label, point in zip(
                made.table.outputs.labels, made.table.outputs.coordinates or (), strict=True
            )
            if label in chosen
        ]
    )
    bin_index = wages.labels.index(measurement.witness.secret)
    everybody = np.random.default_rng(2).choice(len(wages.labels), size=SAMPLES, p=wages.floats())
    mine = np.isin(released(made, wages, np.full(SAMPLES, bin_index)), numbers).mean()
    all_of_them = np.isin(released(made, wages, everybody), numbers).mean()
    error = math.sqrt((mine * (1 - mine) + math.e**2 * all_of_them * (1 - all_of_them)) / SAMPLES)
    reverse = math.sqrt((math.e**2 * mine * (1 - mine) + all_of_them * (1 - all_of_them)) / SAMPLES)
    up, down = mine - math.e * all_of_them, all_of_them - math.e * mine
    found, margin = (up, error) if up > down else (down, reverse)
    assert abs(found - float(measurement)) < 5.2 * margin + 1e-12
    assert found > 0.8 * float(measurement)
