"""All designs for graphs of profiles, by name."""

from __future__ import annotations

from collections.abc import Mapping

from liftlock.designs.profiles import (
    cluster,
    randomised_response,
    shared_categorical,
    single_bit,
    smooth_categorical,
    smooth_one_bit,
)
from liftlock.designs.registry import Design

_IN_ORDER = (
    smooth_categorical,
    smooth_one_bit,
    shared_categorical,
    cluster,
    single_bit,
    randomised_response,
)

PROFILE_DESIGNS: Mapping[str, Design] = {module.DESIGN.key: module.DESIGN for module in _IN_ORDER}
"""Every design for profiles, by key; the first is meant when none is named."""
