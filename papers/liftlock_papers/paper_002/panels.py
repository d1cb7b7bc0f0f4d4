"""What the figures of paper 002 have in common: axes, plans, colours and line styles.

A colour is a kind of mechanism; dots, dashes and a solid line are lambda = 0.35, 0.5 and 0.65.
"""

from __future__ import annotations

from collections.abc import Mapping

from liftlock_papers.figure import Line, Panel
from liftlock_papers.paper_002.promises import Promise
from liftlock_papers.paper_002.sweeps import Mechanism, Plan
from liftlock_papers.paper_002.tradeoff import BROKEN, GAIN, LOWER, TIME, UPPER, UTILITY

SHARES = ("0.35", "0.5", "0.65")
LINES: Mapping[str, Line] = {"0.35": "dotted", "0.5": "dashed", "0.65": "solid"}

BUDGET = "LDP budget ε (nats)"


def utility_panel(mean: bool = True) -> Panel:
    """Return the axes of normalised mutual information."""
    what = "mean of I(X;Y)/H(X)" if mean else "I(X;Y)/H(X)"
    return Panel(UTILITY, BUDGET, what, "(a) utility", y_limits=(0.0, 1.1))


def leakage_panels(mean: bool = True, top: float | None = None) -> tuple[Panel, Panel]:
    """Return the axes of both leakages; `top` ends that of the max-lift."""
    what = "mean leakage (nats)" if mean else "leakage (nats)"
    return (
        Panel(LOWER, BUDGET, f"{what}, −log min-lift", "(b) min-lift leakage", y_limits=(0, None)),
        Panel(UPPER, BUDGET, f"{what}, log max-lift", "(c) max-lift leakage", y_limits=(0, top)),
    )


BROKEN_PANEL = Panel(
    BROKEN, BUDGET, "share of joints", "(d) budgets that are broken (ours)", y_limits=(-0.02, None)
)
TIME_PANEL = Panel(
    TIME, BUDGET, "processor time of one design (s)", "(d) processing time", y_scale="log"
)


def gain_panel(mean: bool = True) -> Panel:
    """Return the axes of what subsets gain."""
    return Panel(
        GAIN,
        BUDGET,
        "multiple of complete merging's I(X;Y)",
        "(d) gain over complete merging (ours)",
        y_scale="log" if mean else "linear",
    )


def alip(mechanism: Mechanism, share: str) -> Plan:
    """Return a mechanism for ALIP."""
    return Plan(mechanism, Promise("alip", share))


def ldp(mechanism: Mechanism) -> Plan:
    """Return a mechanism for LDP."""
    return Plan(mechanism, Promise("ldp"))
