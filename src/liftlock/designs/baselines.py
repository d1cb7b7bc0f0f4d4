"""What a designed mechanism is measured against: other methods, no release, no noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from liftlock._runtime.progress import Progress, Step
from liftlock.designs.api import design
from liftlock.designs.base import Draft, check_fits, check_size
from liftlock.designs.catalogue import DESIGNS, designs_for
from liftlock.designs.comparison import FEW_SYMBOLS, implying_ldp
from liftlock.designs.goal import AnyUtility, Weights, read_goal
from liftlock.designs.request import read_notion
from liftlock.errors import LiftlockError, NotDefined
from liftlock.exact.enclosure import Enclosure
from liftlock.exact.reproducible import dot
from liftlock.mechanism import Mechanism
from liftlock.model import Context, ProfileGraph, representative
from liftlock.model.alphabet import Label, label_to_json
from liftlock.model.channel import Channel
from liftlock.model.continuous.grid import GridPrior
from liftlock.model.provenance import value_to_json
from liftlock.notions.audit import audit
from liftlock.notions.base import Notion, safe_text
from liftlock.notions.certificate import Certificate
from liftlock.notions.measurement import number_to_json
from liftlock.utility.base import Utility, value
from liftlock.utility.profile_utility import ProfileUtility, blocks_of, profile_errors

NO_RELEASE, NO_NOISE = "no release", "no noise"

CONTEXT_FREE = "laplace"
"""The design that numbers are compared with, at the scale that needs no prior."""
_SAME = 9
"""Decimals in which two designs must agree to count as equally good."""


@dataclass(frozen=True)
class Baseline:
    """Something a mechanism is measured against."""

    name: str
    objective: float
    guarantee: str
    """What it guarantees: a notion, ``everything`` or ``nothing``."""

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return vars(self) | {"objective": value_to_json(self.objective)}


def measure_baselines(
    mechanism: Mechanism, utility: str | Utility, *, seconds: float = 5.0
) -> tuple[Baseline, ...]:
    """Return what a designed mechanism is to be compared with, itself first.

    The others are the optimum under LDP at the same budget (k-ary randomised response where that
    would take long; for numbers also the Laplace mechanism that ignores the prior), no release at
    all, and no noise. They are drafts: nothing is certified.
    """
    origin, context = mechanism.origin, mechanism.context
    assert origin is not None
    goal = read_goal(context, utility)
    nothing, truth = goal.ends
    found = [Baseline(f"this mechanism ({origin.method})", origin.objective, str(mechanism.notion))]
    if isinstance(context, GridPrior) or mechanism.notion.ratio_limit is None:
        found += _under_ldp(context, mechanism.notion, goal.utility, seconds)
    found.append(Baseline(NO_RELEASE, nothing, "everything"))
    found.append(Baseline(NO_NOISE, truth, "nothing"))
    return tuple(found)


def _under_ldp(context: Context, notion: Notion, goal: Utility, seconds: float) -> list[Baseline]:
    """Measure what protects everybody, whatever the prior is, at the same budget."""
    numbers = isinstance(context, GridPrior)
    try:
        asked = implying_ldp(notion.without_delta if numbers else notion)
    except NotDefined:
        return []
    if float(asked.bound()) == 0:
        return []  # only the constant mechanism is left
    ways: list[tuple[str, str, dict[str, Any]]]
    search = {"seconds": seconds}
    if numbers:
        ways = [("Laplace noise for any prior", CONTEXT_FREE, {"scale": "context-free"})]
        if goal.numeric and notion.ratio_limit is None:
            ways.insert(0, ("the best found under LDP", "optimal", search))
    else:
        ways = [("k-ary randomised response", "k-rr", {})]
        if len(context.inputs) <= FEW_SYMBOLS:
            ways.insert(0, ("the optimum under LDP", "optimal", search))
    found: list[Baseline] = []
    for name, key, options in ways:
        if found and not numbers:
            break  # k-ary randomised response stands in for the optimum
        entry = DESIGNS[key]
        try:
            check_fits(entry, context, asked)
            check_size(entry, context, asked, goal)
            draft = entry.draft(context, asked, goal, **options)
        except LiftlockError:
            continue
        assert isinstance(draft, Draft)
        worth = value(goal, draft.matrix, representative(context).floats())
        found.append(Baseline(name, worth, str(asked)))
    return found


# --- profiles -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ProfileBaseline:
    """One way to release, and what it is worth; numbers are None where nothing could be made."""

    name: str
    """The key of the design, or ``no release``, or ``no noise``."""
    certified: bool
    """Whether the exact audit found every edge within the budget."""
    objective: float | None = None
    """The value of the aim."""
    largest: float | None = None
    """The largest chance of any one wrong value."""
    mean_wrong: float | None = None
    loss: Enclosure | None = None
    """The largest loss of an edge, in nats, exact."""
    uses_profile: bool | None = None
    unprotected: tuple[Label, ...] = ()
    """Pairs (profile, value) of probability 0 that the certificate does not cover."""
    reason: str = ""
    """Why nothing was made."""
    mechanism: Mechanism | None = None

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "name": self.name,
            "certified": self.certified,
            "objective": self.objective,
            "largest": self.largest,
            "mean_wrong": self.mean_wrong,
            "loss": None if self.loss is None else number_to_json(self.loss),
            "smallest": None if self.loss is None else f"profile={safe_text(self.loss)}",
            "uses_profile": self.uses_profile,
            "unprotected": [label_to_json(pair) for pair in self.unprotected],
            "reason": self.reason,
        }


def measure_profile_baselines(
    graph: ProfileGraph,
    notion: Notion | object,
    utility: AnyUtility | None = None,
    *,
    loss: Any = None,
    weights: Weights = None,
    seconds: float | None = None,
    progress: Progress | None = None,
) -> tuple[ProfileBaseline, ...]:
    """Make every design that fits, audit it, and measure it; the best comes first.

    Certified ones are ordered by the aim, then by the mean chance of a wrong value; those that
    break the budget and those that could not be made come last, with the reason. ``no release`` is
    the best answer that does not look at the value, ``no noise`` the value itself with the loss it
    has. `seconds` limits each search.

    >>> graph = ProfileGraph.bernoulli(["0.8", "0.9"])
    >>> rows = measure_profile_baselines(graph, "0.5")
    >>> [row.name for row in rows][-3:]
    ['randomised-response', 'no release', 'no noise']
    """
    asked = read_notion(notion, graph.kind)
    goal = ProfileUtility.of(graph, utility, loss=loss, weights=weights)
    rows = []
    for key, entry in designs_for("profiles").items():
        if not entry.fits(graph):
            continue
        if progress is not None:
            progress(Step(key))
        limit: dict[str, Any] = {}
        if seconds is not None and entry.accepts("seconds"):
            limit["seconds"] = seconds
        try:
            made = design(graph, asked, utility=goal, method=key, **limit)
        except LiftlockError as error:
            rows.append(ProfileBaseline(key, certified=False, reason=str(error)))
            continue
        rows.append(_row(key, made.table, graph, made.certificate, goal, made))
    for name, channel in (
        (NO_RELEASE, _nothing(graph, goal)),
        (NO_NOISE, Channel.identity(graph.inputs.labels)),
    ):
        certificate = asked.certify(channel, graph, impossible="ignore")
        rows.append(_row(name, channel, graph, certificate, goal))
    sign = -1.0 if goal.larger_is_better else 1.0

    def rank(row: ProfileBaseline) -> tuple[bool, bool, float, float]:
        if row.objective is None or row.mean_wrong is None:
            return True, True, math.inf, math.inf
        return (
            False,
            not row.certified,
            sign * round(row.objective, _SAME),
            round(row.mean_wrong, _SAME),
        )

    return tuple(sorted(rows, key=rank))


def _row(
    name: str,
    channel: Channel,
    graph: ProfileGraph,
    certificate: Certificate,
    utility: ProfileUtility,
    made: Mechanism | None = None,
) -> ProfileBaseline:
    found = profile_errors(channel, graph, utility.weights)
    return ProfileBaseline(
        name,
        certificate.holds,
        utility.value(graph.distributions, blocks_of(channel, graph)),
        found.largest,
        found.mean_wrong,
        audit(channel, graph).loss,
        graph.uses_profile(channel.inputs),
        certificate.unprotected,
        "",
        made,
    )


def _nothing(graph: ProfileGraph, utility: ProfileUtility) -> Channel:
    """Return the best answers that do not look at the value: even odds, or always the same."""
    values = graph.inputs.labels
    if utility.name in ("minimax", "mutual-information"):
        row = {value: Fraction(1, len(values)) for value in values}
    else:
        costs = dot(dot(utility.weights, graph.distributions), utility.losses(len(values)))
        best = values[int(np.argmin(costs))]
        row = {value: Fraction(int(value == best)) for value in values}
    return Channel.from_rows(dict.fromkeys(values, row))
