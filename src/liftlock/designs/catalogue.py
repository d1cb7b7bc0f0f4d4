"""The table of all designs; a new one is one file and one line here."""

from __future__ import annotations

from collections.abc import Mapping

from liftlock.designs import safe_response
from liftlock.designs.registry import Design

DESIGNS: Mapping[str, Design] = {design.key: design for design in (safe_response.DESIGN,)}
"""Every design, by key."""
