"""Run a mechanism of paper 002 over budgets and joints, and audit every outcome exactly.

What is presented as private is locked: `certified` mechanisms raise unless the exact audit agrees.
The published watchdog and the printed merging are only measured, because they may break the budget.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from liftlock import Channel, Draft, Joint, exact
from liftlock.designs import lock, optimal_response, subset_merging, subset_response, watchdog
from liftlock.notions import Notion
from liftlock.utility import MutualInformation, value, value_of_no_noise
from liftlock_papers.data.folder import DataFolder
from liftlock_papers.paper_002.joints import World, epsilons, joints_of
from liftlock_papers.paper_002.promises import Leak, Promise
from liftlock_papers.points import Floats
from liftlock_papers.setting import Setting

Mechanism = Literal[
    "watchdog as published",
    "watchdog",
    "merging as printed",
    "merging",
    "subset response",
    "optimum",
    "vertices",
]
"""Complete and subset merging, each as the paper has it and repaired; SRR; AORR by generating
columns and, as in the paper, by listing every vertex."""

HAIR = Fraction(1, 10**9)
"""Optima lie on their limits. Made for a budget that is smaller by this part, they are certified
for the whole one as soon as they are rounded."""
_PUBLISHED = ("watchdog as published", "merging as printed")
_MERGING = (*_PUBLISHED, "watchdog", "merging")


@dataclass(frozen=True)
class Plan:
    """A mechanism and the guarantee it is made for."""

    mechanism: Mechanism
    promise: Promise


@dataclass(frozen=True)
class Outcome:
    """A channel, what it says of the data, and what it says of the secret."""

    channel: Channel
    information: float
    leak: Leak

    @classmethod
    def of(cls, channel: Channel, joint: Joint) -> Outcome:
        """Measure a channel."""
        return cls(channel, normalised_information(channel, joint), Leak.of(channel, joint))


@dataclass(frozen=True)
class Sweep:
    """What came out: a row for each budget, a column for each joint."""

    epsilons: tuple[str, ...]
    information: Floats
    """I(X; Y) / H(X)."""
    lower: Floats
    """The min-lift leakage in nats."""
    upper: Floats
    """The max-lift leakage in nats."""
    needed: Floats
    """The smallest epsilon that is kept."""
    broken: Floats
    """1 where the guarantee does not hold, by exact comparison."""


def joints_for(setting: Setting, mechanism: Mechanism) -> int:
    """Return how many random joints a curve is the mean of.

    The paper has 1000 for what needs no solver and 100 for the rest. Subset merging, with an exact
    audit of every outcome at 32 budgets for twelve guarantees, gets 100 too.
    """
    if "watchdog" in mechanism:
        return setting.choose(full=1000, quick=60)
    if "merging" in mechanism:
        return setting.choose(full=100, quick=8)
    return setting.choose(full=100, quick=3)


def make(plan: Plan, joint: Joint, epsilon: str) -> Draft:
    """Return the draft of a mechanism."""
    budget = exact(epsilon) if plan.mechanism in _MERGING else exact(epsilon) * (1 - HAIR)
    first, *rest = plan.promise.notions(budget)
    return propose(plan.mechanism, joint, first, rest)


def propose(mechanism: Mechanism, joint: Joint, notion: Notion, also: list[Notion]) -> Draft:
    """Return the draft of a mechanism for some notions."""
    if mechanism in ("watchdog", "watchdog as published"):
        return watchdog(joint, notion, also=also, as_published=mechanism in _PUBLISHED)
    if mechanism in ("merging", "merging as printed"):
        return subset_merging(joint, notion, also=also, as_published=mechanism in _PUBLISHED)
    if mechanism == "subset response":
        return subset_response(joint, notion)
    how: Literal["generation", "enumeration"] = (
        "enumeration" if mechanism == "vertices" else "generation"
    )
    return optimal_response(joint, notion, how=how)


def normalised_information(channel: Channel, joint: Joint) -> float:
    """Return I(X; Y) / H(X)."""
    goal, masses = MutualInformation(), joint.prior.floats()
    return value(goal, channel.floats(), masses) / value_of_no_noise(goal, masses)


_KEPT: dict[tuple[bool, DataFolder, World, Plan], Sweep] = {}
_AUDITS: dict[tuple[str, bytes], Outcome] = {}


def sweep(setting: Setting, world: World, plan: Plan) -> Sweep:
    """Run a mechanism over all budgets and joints; several figures share what comes out."""
    key = (setting.quick, setting.data, world, plan)
    if key not in _KEPT:
        _KEPT[key] = _sweep(setting, world, plan)
    return _KEPT[key]


def _sweep(setting: Setting, world: World, plan: Plan) -> Sweep:
    joints = joints_of(setting, world, joints_for(setting, plan.mechanism))
    budgets = epsilons(setting, world)
    found = np.zeros((5, len(budgets), len(joints)))
    promise = plan.promise
    what = f"{plan.mechanism}, {promise.kind}"
    for place, epsilon in enumerate(setting.each(budgets, what)):
        for column, joint in enumerate(joints):
            draft = make(plan, joint, epsilon)
            outcome, broken = audited(plan, draft, joint, epsilon)
            leak = outcome.leak
            found[:, place, column] = (
                outcome.information,
                leak.lower,
                leak.upper,
                promise.needed(leak),
                broken,
            )
    return Sweep(budgets, *found)


def audited(plan: Plan, draft: Draft, joint: Joint, epsilon: str) -> tuple[Outcome, bool]:
    """Measure a draft, and say whether it breaks its guarantee; a private one never does."""
    promise = plan.promise
    if plan.mechanism not in _MERGING:
        (notion,) = promise.notions(epsilon)
        return Outcome.of(lock(draft, notion, joint).channel, joint), False
    outcome = _merged(draft, joint)
    if promise.kind in ("alip", "ldp"):
        broken = not promise.kept(outcome.leak, epsilon)
    else:
        notions = promise.notions(epsilon)
        broken = not all(notion.certify(outcome.channel, joint).holds for notion in notions)
    if broken and plan.mechanism not in _PUBLISHED:
        raise AssertionError(f"{plan} breaks {epsilon} on {joint.fingerprint}")
    return outcome, broken


def _merged(draft: Draft, joint: Joint) -> Outcome:
    """Audit a channel that only merges: its zeros and ones are exact as they are."""
    key = (joint.fingerprint, draft.matrix.tobytes())
    if key not in _AUDITS:
        weights = draft.matrix.astype(np.int64)
        assert np.array_equal(weights, draft.matrix)
        channel = Channel(draft.inputs, draft.outputs, weights, (1,) * len(weights))
        _AUDITS[key] = Outcome.of(channel, joint)
    return _AUDITS[key]


def seconds_of(plan: Plan, joint: Joint, epsilon: str) -> float:
    """Return the processor time of one design."""
    start = time.process_time()
    make(plan, joint, epsilon)
    return time.process_time() - start
