"""Statistical audit of a mechanism that can only be called, or of which only records exist."""

from liftlock.probe.blackbox import probe
from liftlock.probe.pairs import probe_pairs
from liftlock.probe.result import Finding, ProbeResult

__all__ = ["Finding", "ProbeResult", "probe", "probe_pairs"]
