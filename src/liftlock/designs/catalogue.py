"""The table of all designs; a new one is one file and one line here."""

from __future__ import annotations

from collections.abc import Mapping

from liftlock.designs.optimal import DESIGN as OPTIMAL
from liftlock.designs.registry import Design
from liftlock.designs.safe_response import DESIGN as SAFE_RESPONSE

DESIGNS: Mapping[str, Design] = {
    design.key: design
    for design in (
        OPTIMAL,
        SAFE_RESPONSE,
    )
}
"""Every design, by key."""
