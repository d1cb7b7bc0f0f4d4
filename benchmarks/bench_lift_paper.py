"""Paper 002's figures beside ours: how much a mechanism says, and how often it breaks its budget.

The measure is I(X; Y) / H(X). Random joints are normalised uniform numbers, 17 x 5, averaged; the
Adult data is relationship against occupation, in the paper's five secrets (which are those without
the rarest, Other-relative) and in all six. A budget epsilon is split into lambda epsilon below and
(1 - lambda) epsilon above. The last table is 200 x 15, which the paper gives to its heuristics.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from rich.console import Group
from rich.table import Table as Grid

from liftlock.alphabet import Alphabet
from liftlock.context import Joint
from liftlock.designs import (
    Draft,
    lock,
    optimal_response,
    subset_merging,
    subset_response,
    watchdog,
)
from liftlock.errors import NotCertified
from liftlock.files import read_joint
from liftlock.notions import ALIP
from liftlock.notions.notion import Notion
from liftlock.utility import MutualInformation, mean_cost

MANY = 1000
"""Draws for mechanisms without a solver, as in the paper."""
FEW = 100
"""Draws for those with one, as in the paper."""
ADULT = Path(__file__).parents[2] / "shared/data/adult/relationship_by_occupation_counts.csv"

Make = Callable[[Joint, Notion], Draft]


def listed(joint: Joint, notion: Notion) -> Draft:
    """Return the optimum by listing every vertex, as the paper does."""
    return optimal_response(joint, notion, how="enumeration")


def published_watchdog(joint: Joint, notion: Notion) -> Draft:
    return watchdog(joint, notion, as_published=True)


def published_merging(joint: Joint, notion: Notion) -> Draft:
    return subset_merging(joint, notion, as_published=True)


MECHANISMS: dict[str, tuple[Make, int]] = {
    "watchdog, as published": (published_watchdog, MANY),
    "watchdog": (watchdog, MANY),
    "subset merging, as printed": (published_merging, MANY),
    "subset merging": (subset_merging, MANY),
    "subset response": (subset_response, FEW),
    "optimal response": (listed, FEW),
}
PRINTED = {
    ("random", "watchdog, as published", 1): 0.17,
    ("random", "watchdog, as published", 2): 0.52,
    ("random", "subset merging", 1): 0.73,
    ("random", "optimal response", 2): 0.94,
    ("Adult, 5", "watchdog, as published", 1): 0.28,
    ("Adult, 5", "watchdog, as published", 2): 0.73,
    ("Adult, 5", "subset merging", 1): 0.73,
    ("Adult, 5", "optimal response", 2): 0.96,
}
"""What the paper says in its text, at lambda = 0.5."""


def split(epsilon: float, share: float) -> ALIP:
    """Divide a budget between the two sides."""
    return ALIP(lower=f"{share * epsilon:.4f}", upper=f"{(1 - share) * epsilon:.4f}")


def random_joint(rng: np.random.Generator, inputs: int, secrets: int) -> Joint:
    cells = rng.integers(1, 2**32, (secrets, inputs)).tolist()
    return Joint.from_rows(Alphabet.of(range(secrets)), Alphabet.of(range(inputs)), cells)


def information(draft: Draft, joint: Joint) -> float:
    """Return I(X; Y) / H(X)."""
    masses = joint.prior.floats()
    left = mean_cost(MutualInformation(), draft.matrix, masses)
    return 1 + left / float(masses @ np.log(masses))


def measure(make: Make, joints: Iterable[Joint], notion: Notion) -> tuple[float, float, float]:
    """Return the mean information, the share of broken budgets, and the seconds for one design."""
    said, broken, spent = [], [], 0.0
    for joint in joints:
        start = time.perf_counter()
        draft = make(joint, notion)
        spent += time.perf_counter() - start
        said.append(information(draft, joint))
        try:
            lock(draft, notion, joint)
            broken.append(False)
        except NotCertified:
            broken.append(True)
    return float(np.mean(said)), float(np.mean(broken)), spent / len(said)


def adult() -> dict[str, Joint]:
    if not ADULT.is_file():
        return {}
    joint = read_joint(ADULT)
    five = [s for s, label in enumerate(joint.secrets.labels) if label != "Other-relative"]
    smaller = Joint(
        Alphabet.of(joint.secrets.labels[s] for s in five),
        joint.inputs,
        tuple(joint.counts[s] for s in five),
    )
    return {"Adult, 5": smaller, "Adult, 6": joint}


def figures(joints: list[Joint]) -> Grid:
    """Compare with the figures in the paper's text, lambda = 0.5."""
    worlds = {"random": joints, **{name: [joint] for name, joint in adult().items()}}
    grid = Grid(title="I(X; Y) / H(X) at lambda = 0.5: paper 002, and measured")
    for column in ("data", "mechanism", "epsilon", "paper", "measured", "breaks its budget", "ms"):
        grid.add_column(column, justify="left" if column in ("data", "mechanism") else "right")
    for world, tables in worlds.items():
        for name, (make, draws) in MECHANISMS.items():
            for epsilon in (1, 2):
                said, broken, seconds = measure(make, tables[:draws], split(epsilon, 0.5))
                printed = PRINTED.get((world, name, epsilon))
                grid.add_row(
                    world,
                    name,
                    str(epsilon),
                    "" if printed is None else f"{printed:.2f}",
                    f"{said:.3f}",
                    f"{broken:.0%}",
                    f"{seconds * 1e3:.1f}",
                )
    return grid


def violations(joints: list[Joint]) -> Grid:
    """Count how often a crowd that is never tested breaks the budget it was made for."""
    grid = Grid(title="random joints at lambda = 0.65: budgets broken, and information")
    for column in ("epsilon", "watchdog, as published", "", "watchdog", ""):
        grid.add_column(column, justify="right")
    for epsilon in (2, 3, 4, 5, 6):
        notion = split(epsilon, 0.65)
        cells = [measure(make, joints[:300], notion) for make in (published_watchdog, watchdog)]
        shown = [text for said, broken, _ in cells for text in (f"{broken:.0%}", f"{said:.3f}")]
        grid.add_row(str(epsilon), *shown)
    return grid


def large() -> Grid:
    """Compare the heuristics where the paper needs them."""
    joint = random_joint(np.random.default_rng(3), 200, 15)
    grid = Grid(title="200 x 15: I(X; Y) / H(X), lambda = 0.5")
    for column in ("mechanism", "epsilon", "measured", "breaks its budget", "seconds"):
        grid.add_column(column, justify="right")
    for name, make in (("subset merging", subset_merging), ("subset response", subset_response)):
        for epsilon in (1, 2):
            said, broken, seconds = measure(make, [joint], split(epsilon, 0.5))
            grid.add_row(name, str(epsilon), f"{said:.4f}", f"{broken:.0%}", f"{seconds:.3f}")
    return grid


def run() -> Group:
    """Measure everything."""
    rng = np.random.default_rng(2)
    joints = [random_joint(rng, 17, 5) for _ in range(MANY)]
    return Group(figures(joints), violations(joints), large())
