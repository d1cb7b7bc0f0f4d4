"""The statistical audit, run on our own sampler with the operating system's entropy.

The entropy cannot be seeded, so these tests state their error rates: a false alarm on the true
leakage has probability at most 1e-6 by the probe's own level.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from liftlock import Mechanism, Prior, lock
from liftlock.designs import Draft
from liftlock.notions import LIP
from liftlock.probe import probe
from liftlock.sampling import release_codes

SAMPLES = 10_000_000


@pytest.fixture(scope="module")
def mechanism() -> Mechanism:
    """A five-symbol response on a skewed prior, locked at 1-LIP."""
    prior = Prior.from_counts({"a": 40, "b": 30, "c": 15, "d": 10, "e": 5})
    keep = (math.e - 1) * 0.05 / 0.95
    matrix = keep * np.eye(5) + (1 - keep) * prior.floats()
    return lock(Draft.of(prior.alphabet, prior.alphabet, matrix), LIP("1"), prior)


def test_the_sampler_does_not_contradict_its_certificate(mechanism: Mechanism) -> None:
    """False alarm: at most 1e-6. The claim is the exact leakage, so there is no slack in it."""
    exact = LIP.measure(mechanism.channel, mechanism.context)
    result = probe(
        lambda codes: release_codes(mechanism.table, codes),
        mechanism.channel.inputs.labels,
        mechanism.context,
        lip=exact.value.upper,
        samples=SAMPLES,
        confidence="0.999999",
    )
    assert not result.contradicted
    # It looked in the right place: the bound it found is close to the truth.
    assert result.lip is not None
    assert result.lip > float(exact) - 0.05


def test_a_claim_five_percent_too_good_is_contradicted(mechanism: Mechanism) -> None:
    """Missing it would take a deviation far beyond the 1e-6 of the other test."""
    exact = float(LIP.measure(mechanism.channel, mechanism.context))
    result = probe(
        lambda codes: release_codes(mechanism.table, codes),
        mechanism.channel.inputs.labels,
        mechanism.context,
        lip=round(exact - math.log(1.05), 6),
        samples=SAMPLES,
        confidence="0.999",
    )
    assert result.contradicted
