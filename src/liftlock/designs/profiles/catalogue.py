"""All designs for graphs of profiles, by name."""

from __future__ import annotations

from collections.abc import Mapping

from liftlock.designs.profiles import cluster
from liftlock.designs.registry import Design

PROFILE_DESIGNS: Mapping[str, Design] = {module.DESIGN.key: module.DESIGN for module in (cluster,)}
"""Every design for profiles, by key; the first that fits is meant when none is named."""
