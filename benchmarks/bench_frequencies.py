"""How many LDP reports one LIP report is worth for learning a histogram, at the same epsilon.

The cost is n times the total variance of the unbiased histogram. `LDP` is the least of the optimum
under LDP, k-ary randomised response, subset selection and optimal unary encoding; the ratio is how
many such reports say as much as one of the optimum under LIP. The last column is what LIP leaves of
LDP: equal epsilons are not equal protection.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm

from rich.table import Table as Grid

from liftlock import LDP, LIP, Prior, design
from liftlock.errors import LiftlockError
from liftlock.mechanism import Mechanism
from liftlock.notions import Notion

SIZES = (3, 5, 10, 16, 21, 32)
EPSILONS = ("0.5", "1", "2")
SECONDS = 20.0
_BASELINES = ("k-rr", "subset-selection", "oue")


def zipf(size: int) -> Prior:
    """Return the prior P(k) ~ 1 / k."""
    whole = lcm(*range(1, size + 1))
    return Prior.from_counts({k: whole // k for k in range(1, size + 1)})


def optimum(prior: Prior, notion: Notion) -> Mechanism:
    """Return the optimum for unbiased shares."""
    return design(prior, notion, utility="frequencies", seconds=SECONDS)


def cost(made: Mechanism) -> float:
    """Return n times the total variance of the unbiased histogram."""
    assert made.origin is not None
    return made.origin.objective


def row(prior: Prior, epsilon: str) -> list[str]:
    """Return the cells of one prior and one budget."""
    lip, ldp = optimum(prior, LIP(epsilon)), optimum(prior, LDP(epsilon))
    others = []
    for method in _BASELINES:
        try:
            others.append(cost(design(prior, LDP(epsilon), method=method, utility="frequencies")))
        except LiftlockError:
            continue
    best = min([cost(ldp), *others])
    assert lip.origin is not None
    gap = lip.origin.gap
    leaked = lip.audit().measures["ldp"]
    return [
        epsilon,
        f"{cost(lip):.4g}",
        "-" if gap is None else f"{gap:.1g}",
        f"{best:.4g}",
        f"{min(others):.4g}",
        f"{best / cost(lip):.2f}",
        f"{float(Fraction(leaked)):.3f}",
    ]


def run() -> Grid:
    """Measure every prior at every budget."""
    grid = Grid("prior", "epsilon", "LIP", "gap", "LDP", "closed forms", "LDP / LIP", "LIP is LDP")
    for size in SIZES:
        prior = zipf(size)
        for epsilon in EPSILONS:
            grid.add_row(f"zipf {size}", *row(prior, epsilon))
    return grid
