"""The table of all designs; a new one is one file and one line here."""

from __future__ import annotations

from collections.abc import Mapping

from liftlock.context import Kind
from liftlock.designs.base import Design
from liftlock.designs.mechanisms.arc import DESIGN as ARC
from liftlock.designs.mechanisms.binary import DESIGN as BINARY
from liftlock.designs.mechanisms.centralised import DESIGN as CENTRALISED
from liftlock.designs.mechanisms.cluster import DESIGN as CLUSTER
from liftlock.designs.mechanisms.hashing import DESIGN as HASHING
from liftlock.designs.mechanisms.k_rr import DESIGN as K_RR
from liftlock.designs.mechanisms.optimal import DESIGN as OPTIMAL
from liftlock.designs.mechanisms.optimal_response import DESIGN as OPTIMAL_RESPONSE
from liftlock.designs.mechanisms.outage import DESIGN as OUTAGE
from liftlock.designs.mechanisms.published_response import DESIGN as PUBLISHED_RESPONSE
from liftlock.designs.mechanisms.quantile_blocks import DESIGN as QUANTILE_BLOCKS
from liftlock.designs.mechanisms.random_sampling import DESIGN as SAMPLING
from liftlock.designs.mechanisms.randomised_response import DESIGN as RANDOMISED_RESPONSE
from liftlock.designs.mechanisms.safe_response import DESIGN as SAFE_RESPONSE
from liftlock.designs.mechanisms.shared_categorical import DESIGN as SHARED_CATEGORICAL
from liftlock.designs.mechanisms.single_bit import DESIGN as SINGLE_BIT
from liftlock.designs.mechanisms.smooth_categorical import DESIGN as SMOOTH_CATEGORICAL
from liftlock.designs.mechanisms.smooth_one_bit import DESIGN as SMOOTH_ONE_BIT
from liftlock.designs.mechanisms.staircase import DESIGN as STAIRCASE
from liftlock.designs.mechanisms.subset_merging import DESIGN as SUBSET_MERGING
from liftlock.designs.mechanisms.subset_response import DESIGN as SUBSET_RESPONSE
from liftlock.designs.mechanisms.subset_selection import DESIGN as SUBSET_SELECTION
from liftlock.designs.mechanisms.unary_encoding import OUE, SUE
from liftlock.designs.mechanisms.watchdog import DESIGN as WATCHDOG
from liftlock.designs.noise.gaussian import GAUSSIAN, INSTANCE_GAUSSIAN
from liftlock.designs.noise.laplace import BOUNDED_LAPLACE, INSTANCE_LAPLACE, LAPLACE
from liftlock.errors import InputError

DESIGNS: Mapping[str, Design] = {
    design.key: design
    for design in (
        OPTIMAL,
        BINARY,
        STAIRCASE,
        OPTIMAL_RESPONSE,
        PUBLISHED_RESPONSE,
        SAFE_RESPONSE,
        WATCHDOG,
        SUBSET_MERGING,
        SUBSET_RESPONSE,
        CENTRALISED,
        ARC,
        QUANTILE_BLOCKS,
        OUTAGE,
        BOUNDED_LAPLACE,
        LAPLACE,
        INSTANCE_LAPLACE,
        K_RR,
        SUBSET_SELECTION,
        OUE,
        SUE,
        HASHING,
        SAMPLING,
        GAUSSIAN,
        INSTANCE_GAUSSIAN,
        SMOOTH_CATEGORICAL,
        SMOOTH_ONE_BIT,
        SHARED_CATEGORICAL,
        CLUSTER,
        SINGLE_BIT,
        RANDOMISED_RESPONSE,
    )
}
"""Every design, by key."""


def designs_for(kind: Kind) -> Mapping[str, Design]:
    """Return the designs for a kind of context, by key; the first is the best that is known.

    >>> next(iter(designs_for("joint"))), next(iter(designs_for("profiles")))
    ('optimal', 'smooth-categorical')
    """
    return {key: entry for key, entry in DESIGNS.items() if kind in entry.contexts}


def find_design(key: str, designs: Mapping[str, Design] = DESIGNS) -> Design:
    """Find a design by its key."""
    try:
        return designs[key.strip().lower().replace("_", "-")]
    except KeyError:
        raise InputError(
            "unknown method", value=key, remedy=f"known are {', '.join(designs)}"
        ) from None
