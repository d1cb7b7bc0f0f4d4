"""Statistical audit of a black box: a lower confidence bound on its leakage.

A probe can contradict a privacy claim; it never proves one. For a channel that can be read, use the
exact audit instead.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from liftlock.probe.result import Finding, ProbeResult

if TYPE_CHECKING:
    from liftlock.probe.blackbox import probe
    from liftlock.probe.pairs import probe_pairs

__all__ = ["Finding", "ProbeResult", "probe", "probe_pairs"]

_HOMES = {"probe": "liftlock.probe.blackbox", "probe_pairs": "liftlock.probe.pairs"}


def __getattr__(name: str) -> Any:
    # The statistics need scipy, which is slow to load: only when they are used.
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'liftlock.probe' has no attribute {name!r}")
