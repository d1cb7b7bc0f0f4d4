"""What a designed mechanism is measured against: other methods, no release, no noise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from liftlock._runtime.progress import Progress, Step
from liftlock.designs.api import design
from liftlock.designs.base import Draft
from liftlock.designs.calibration import Level, MechanismLeakage, calibrate, round_up, search
from liftlock.designs.catalogue import DESIGNS, designs_for
from liftlock.designs.comparison import FEW_SYMBOLS, implying_ldp
from liftlock.designs.goal import AnyUtility, Weights, read_goal
from liftlock.designs.request import read_notion
from liftlock.errors import LiftlockError, NotDefined
from liftlock.exact.budget import decimal_text
from liftlock.exact.decimals import round_up_text
from liftlock.exact.enclosure import Enclosure
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot, log
from liftlock.mechanism import Mechanism
from liftlock.model import Context, Joint, ProfileGraph, representative
from liftlock.model.alphabet import Label, label_to_json
from liftlock.model.channel import Channel
from liftlock.model.continuous.grid import GridPrior
from liftlock.notions.audit import audit
from liftlock.notions.base import LiftLimits, Notion, claim_text
from liftlock.notions.certificate import Certificate
from liftlock.notions.ldp import LDP
from liftlock.notions.lift import extreme_lifts
from liftlock.notions.lip import ALIP, LIP
from liftlock.notions.measurement import number_to_json
from liftlock.utility.base import Utility
from liftlock.utility.profile_utility import ProfileUtility, blocks_of, profile_errors

NO_RELEASE, NO_NOISE = "no release", "no noise"

_OPTIMUM, _BEST_FOUND = "the optimum under LDP", "the best found under LDP"

CONTEXT_FREE = "laplace"
"""The design that numbers are compared with, at the scale that needs no prior."""
_ALMOST = 1 - 1e-7
"""How much of a level is aimed at in floats, so that integers keep all of it."""
_DIGITS = 8
_SAME = 9
"""Decimals in which two designs must agree to count as equally good."""


@dataclass(frozen=True)
class Baseline:
    """Something a mechanism is measured against."""

    name: str
    objective: float
    guarantee: str
    """What it guarantees: a notion, ``everything`` or ``nothing``."""
    lip: float | None = None
    ldp: float | None = None
    """What its integers truly leak, in nats rounded up; None where they were not audited."""

    @classmethod
    def of(cls, name: str, made: Mechanism) -> Baseline:
        """Measure a mechanism."""
        assert made.origin is not None
        leakage = MechanismLeakage.of(made)
        return cls(name, made.origin.objective, str(made.notion), leakage.lip, leakage.ldp)

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form; infinity is text."""
        return {name: "inf" if found == math.inf else found for name, found in vars(self).items()}


def measure_baselines(
    mechanism: Mechanism, utility: str | Utility, *, seconds: float = 5.0
) -> tuple[Baseline, ...]:
    """Return what a designed mechanism is to be compared with, itself first.

    The others are the optimum under LDP (k-ary randomised response where that would take long; for
    numbers also the Laplace mechanism that ignores the prior): calibrated to the prior, with the
    largest parameter found that keeps the same notion; at the same epsilon; and at the LDP that the
    mechanism has anyway. Then no release at all, and no noise. What they leak was audited.
    """
    origin, context = mechanism.origin, mechanism.context
    assert origin is not None
    goal = read_goal(context, utility)
    nothing, truth = goal.ends
    found = [Baseline.of(f"this mechanism ({origin.method})", mechanism)]
    if isinstance(context, GridPrior) or mechanism.notion.ratio_limit is None:
        found += _under_ldp(mechanism, goal.utility, seconds)
    found.append(Baseline(NO_RELEASE, nothing, "everything", 0.0, 0.0))
    identity = Channel.identity(context.inputs.labels)
    leaks = round_up(extreme_lifts(identity, context).lip().value)
    ldp = round_up(LDP.measure(identity, context).value)
    found.append(Baseline(NO_NOISE, truth, "nothing", leaks, ldp))
    return tuple(found)


def _under_ldp(mechanism: Mechanism, goal: Utility, seconds: float) -> list[Baseline]:
    """Measure what protects everybody, whatever the prior is."""
    context, notion = mechanism.context, mechanism.notion
    numbers = isinstance(context, GridPrior)
    try:
        asked = implying_ldp(notion.without_delta)
    except NotDefined:
        return []
    if float(asked.bound()) == 0:
        return []  # only the constant mechanism is left
    ways: list[tuple[str, str, dict[str, Any]]]
    search = {"seconds": seconds}
    if numbers:
        ways = [("Laplace noise for any prior", CONTEXT_FREE, {"scale": "context-free"})]
        if goal.numeric and notion.ratio_limit is None:
            ways.insert(0, (_BEST_FOUND, "optimal", search))
    elif len(context.inputs) <= FEW_SYMBOLS:
        ways = [(_OPTIMUM, "optimal", search)]
    else:
        ways = [("k-ary randomised response", "k-rr", {})]
    found: list[Baseline] = []
    for name, key, options in ways:
        found += _LDPMethod(name, key, options, mechanism, goal).measure(asked)
    return found


@dataclass(frozen=True)
class _LDPMethod:
    """A method for LDP that stands beside a mechanism."""

    name: str
    key: str
    options: Mapping[str, Any]
    mechanism: Mechanism
    goal: Utility

    def measure(self, asked: LDP) -> list[Baseline]:
        """Measure it calibrated to the notion, at the same epsilon, and at the same LDP."""
        mechanism = self.mechanism
        of_lifts = mechanism.notion.without_delta.lift_limits() is not None
        calibrated = of_lifts and not self._is_slow
        anyway = LDP.measure(mechanism.channel, mechanism.context).value
        found = []
        try:
            if calibrated and (kept := self._calibrate(asked)) is not None:
                found.append(self._row(kept, _short_name(mechanism.notion)))
            found.append(self._row(self._make(asked), "epsilon"))
            if calibrated and self.key != CONTEXT_FREE and anyway.upper is not None:
                equal = self._make(LDP(round_up_text(anyway.upper, _DIGITS)))
                found.append(self._row(equal, "LDP"))
        except LiftlockError:
            return found
        return found

    def _row(self, made: Mechanism, same: str) -> Baseline:
        """Measure one, and call it the optimum only if it was proved to be that."""
        assert made.origin is not None
        name = self.name.replace(_OPTIMUM, _BEST_FOUND) if made.origin.warning else self.name
        return Baseline.of(f"{name}, same {same}", made)

    @property
    def _is_slow(self) -> bool:
        """Whether it is a search that takes more than a moment."""
        return "seconds" in self.options and len(self.mechanism.context.inputs) > FEW_SYMBOLS

    def _make(self, notion: LDP) -> Mechanism:
        context = self.mechanism.context
        return design(context, notion, utility=self.goal, method=self.key, **self.options)

    def _calibrate(self, asked: LDP) -> Mechanism | None:
        """Find the largest parameter that keeps the notion: on floats first, then on integers."""
        level = Level.of(self.mechanism.notion)
        limits = level.notion.without_delta.lift_limits()
        context, entry = self.mechanism.context, DESIGNS[self.key]
        assert limits is not None

        def trial(parameter: Fraction) -> tuple[float, bool | None]:
            notion = LDP(decimal_text(parameter))
            draft = entry.draft(context, notion, self.goal, **self.options)
            assert isinstance(draft, Draft)
            leak = level.number * _float_share(draft.matrix, context, limits)
            return leak, True if leak <= level.number else None

        start = search(trial, level.number * _ALMOST, float(asked.bound()))
        found = calibrate(
            lambda parameter: self._make(LDP(decimal_text(parameter))),
            level,
            float(asked.bound()) if start is None else start[0],
        )
        return None if found is None else found.mechanism


def _short_name(notion: Notion) -> str:
    return notion.name.upper() if notion.name in (LIP.key, ALIP.key) else notion.name


def _float_share(matrix: Floats, context: Context, limits: LiftLimits) -> float:
    """Return how much of its limits the lifts of a matrix use up, about; of a set, in its middle.

    It only says where to look: what is found there is proved on integers.
    """
    if isinstance(context, Joint):
        counts = np.array(context.counts, dtype=np.float64)
        counts = counts[counts.sum(axis=1) > 0]
        matrix = dot(counts / counts.sum(axis=1, keepdims=True), matrix)
        masses = counts.sum(axis=1) / counts.sum()
    else:
        masses = representative(context).floats()
    mixed = dot(masses, matrix)
    lifts = matrix[:, mixed > 0] / mixed[mixed > 0]
    least, most = float(lifts.min()), float(lifts.max())
    shares = [0.0]
    if limits.upper is not None:
        shares.append(float(log(np.array(most))) / float(limits.upper))
    if limits.lower is not None:
        shares.append(-float(log(np.array(least))) / float(limits.lower) if least else math.inf)
    return max(shares)


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
            "smallest": None if self.loss is None else claim_text("profile", self.loss) or None,
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
