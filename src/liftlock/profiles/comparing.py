"""Every design that fits a graph of profiles, at one budget, side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from liftlock.alphabet import Label, label_to_json
from liftlock.channel import Channel
from liftlock.designs.catalogue import designs_for
from liftlock.designs.registry import Design
from liftlock.errors import LiftlockError
from liftlock.exact.enclosure import Enclosure
from liftlock.mechanism import Mechanism
from liftlock.notions.audit import audit
from liftlock.notions.base import Notion, safe_text
from liftlock.notions.profile import ProfilePrivacy
from liftlock.notions.reading import number_to_json
from liftlock.prior import Prior
from liftlock.profile_graph import ProfileGraph
from liftlock.profiles.curves import Watch
from liftlock.profiles.designing import design_profiles
from liftlock.utility.profile_utility import ProfileUtility, blocks_of, profile_errors
from liftlock.utility.utility import Utility

NO_RELEASE, NO_NOISE = "no release", "no noise"

_SAME = 9
"""Decimals in which two designs must agree to count as equally good."""


@dataclass(frozen=True, eq=False)
class ProfileRow:
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


def fitting_designs(graph: ProfileGraph) -> tuple[Design, ...]:
    """Return the designs that can be made for a graph.

    >>> graph = ProfileGraph.complete({"a": {0: 1, 1: 1, 2: 2}, "b": {0: 2, 1: 1, 2: 1}})
    >>> "single-bit" in [entry.key for entry in fitting_designs(graph)]
    False
    """
    return tuple(entry for entry in designs_for("profiles").values() if entry.fits(graph))


def compare_profiles(
    graph: ProfileGraph,
    notion: Notion | object,
    *,
    utility: str | Utility | None = None,
    loss: Any = None,
    weights: Prior | Mapping[Any, Any] | None = None,
    seconds: float | None = None,
    watch: Watch | None = None,
) -> tuple[ProfileRow, ...]:
    """Make every design that fits, audit it, and measure it; the best comes first.

    Certified ones are ordered by the aim, then by the mean chance of a wrong value; those that
    break the budget and those that could not be made come last, with the reason. ``no release`` is
    the best answer that does not look at the value, ``no noise`` the value itself with the loss it
    has. `seconds` limits each search.

    >>> rows = compare_profiles(ProfileGraph.bernoulli(["0.8", "0.9"]), "0.5")
    >>> [row.name for row in rows][-3:]
    ['randomised-response', 'no release', 'no noise']
    """
    asked: Any = notion if hasattr(notion, "certify") else ProfilePrivacy(notion)
    goal = ProfileUtility.of(graph, utility, loss=loss, weights=weights)
    entries = fitting_designs(graph)
    rows = []
    for place, entry in enumerate(entries):
        if watch is not None:
            watch(entry.key, place, len(entries))
        limit: dict[str, Any] = {}
        if seconds is not None and entry.accepts("seconds"):
            limit["seconds"] = seconds
        try:
            made = design_profiles(
                graph, asked, utility=utility, loss=loss, weights=weights, method=entry.key, **limit
            )
        except LiftlockError as error:
            rows.append(ProfileRow(entry.key, certified=False, reason=str(error)))
            continue
        rows.append(_row(entry.key, made.table, graph, asked, goal, weights, made))
    for name, channel in (
        (NO_RELEASE, _nothing(graph, goal)),
        (NO_NOISE, Channel.identity(graph.inputs.labels)),
    ):
        rows.append(_row(name, channel, graph, asked, goal, weights))
    sign = -1.0 if goal.larger_is_better else 1.0

    def rank(row: ProfileRow) -> tuple[bool, bool, float, float]:
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
    notion: Notion,
    goal: ProfileUtility,
    weights: Prior | Mapping[Any, Any] | None,
    made: Mechanism | None = None,
) -> ProfileRow:
    prior = Prior.from_counts(weights) if isinstance(weights, Mapping) else weights
    found = profile_errors(channel, graph, prior)
    certificate = (
        notion.certify(channel, graph, impossible="ignore") if made is None else made.certificate
    )
    return ProfileRow(
        name,
        certificate.holds,
        goal.value(graph.laws, blocks_of(channel, graph)),
        found.largest,
        found.mean_wrong,
        audit(channel, graph).loss,
        graph.uses_profile(channel.inputs),
        certificate.unprotected,
        "",
        made,
    )


def _nothing(graph: ProfileGraph, goal: ProfileUtility) -> Channel:
    """Return the best answers that do not look at the value: even odds, or always the same."""
    values = graph.inputs.labels
    if goal.name in ("minimax", "mutual-information"):
        row = {value: Fraction(1, len(values)) for value in values}
    else:
        costs = goal.weights @ graph.laws @ goal.losses(len(values))
        best = values[int(np.argmin(costs))]
        row = {value: Fraction(int(value == best)) for value in values}
    return Channel.from_rows(dict.fromkeys(values, row))
