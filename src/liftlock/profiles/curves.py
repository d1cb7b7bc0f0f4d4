"""What profiles release as the budget grows, under several methods: the paper's experiments."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from liftlock.errors import InputError
from liftlock.exact.budget import Budget
from liftlock.exact.integers import Floats
from liftlock.exact.numbers import exact
from liftlock.profile_graph import ProfileGraph
from liftlock.profiles.designing import design_profiles
from liftlock.utility.profile_utility import profile_errors

Watch = Callable[[str, int, int], None]
"""Is told what is being made, how many are done, and how many there will be."""

BASELINE = "randomised-response"
_GAPS = 51


@dataclass(frozen=True, eq=False)
class SweepPoint:
    """One certified mechanism: what each profile releases, and what that costs."""

    epsilon: float
    guarantee: str
    """What was certified of its integers."""
    loss: float
    """The largest exact loss of an edge, in nats."""
    released: Floats
    """P(y | profile), a row for each profile and a column for each value."""
    largest: float
    """The largest chance of any one wrong value."""
    mean_wrong: float
    """The mean chance of a wrong value, every profile counted alike."""
    costs: Floats
    """The largest error of the frequency of each value over the profiles (004 eq. (8))."""


@dataclass(frozen=True, eq=False)
class SweepCurve:
    """The points of one method, in the order of the budgets."""

    method: str
    points: tuple[SweepPoint, ...]

    @property
    def epsilons(self) -> Floats:
        """The budgets, in nats."""
        return np.array([point.epsilon for point in self.points])

    @property
    def released(self) -> Floats:
        """What is released: budgets x profiles x values."""
        return np.array([point.released for point in self.points])

    @property
    def costs(self) -> Floats:
        """The errors of the frequencies: budgets x values."""
        return np.array([point.costs for point in self.points])


@dataclass(frozen=True, eq=False)
class Sweep:
    """One graph under several methods and budgets; the first method is the baseline."""

    graph: ProfileGraph
    curves: tuple[SweepCurve, ...]

    def __getitem__(self, method: str) -> SweepCurve:
        for curve in self.curves:
            if curve.method == method:
                return curve
        raise InputError(
            "a method that was not swept",
            value=method,
            remedy=f"known are {', '.join(curve.method for curve in self.curves)}",
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat row for each point, as a CSV wants them."""
        values = self.graph.inputs.labels
        return [
            {
                "method": curve.method,
                "epsilon": point.epsilon,
                "loss": point.loss,
                "largest": point.largest,
                "mean_wrong": point.mean_wrong,
            }
            | {f"cost of {value}": float(c) for value, c in zip(values, point.costs, strict=True)}
            for curve in self.curves
            for point in curve.points
        ]

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form; costs and laws are in the order of the values."""
        return {
            "format": "liftlock.profile-curve",
            "version": 1,
            "context": self.graph.fingerprint,
            "context_kind": self.graph.describe(),
            "profiles": self.graph.profiles.to_data(),
            "values": self.graph.inputs.to_data(),
            "curves": [
                {
                    "method": curve.method,
                    "points": [
                        {
                            "epsilon": point.epsilon,
                            "guarantee": point.guarantee,
                            "loss": point.loss,
                            "largest": point.largest,
                            "mean_wrong": point.mean_wrong,
                            "costs": point.costs.tolist(),
                            "released": point.released.tolist(),
                        }
                        for point in curve.points
                    ],
                }
                for curve in self.curves
            ],
        }


def usual_methods(graph: ProfileGraph) -> tuple[str, str]:
    """Return the baseline, and the paper's mechanism for so many values."""
    return BASELINE, "smooth-one-bit" if len(graph.inputs) == 2 else "smooth-categorical"


def sweep(
    graph: ProfileGraph,
    epsilons: Iterable[Any],
    *,
    methods: Sequence[str] | None = None,
    watch: Watch | None = None,
) -> Sweep:
    """Design and certify with every method at every budget.

    Without methods: randomised response against Smooth One Bit for two values, and against Smooth
    Categorical for more.

    Source: 004 section 6.

    >>> graph = ProfileGraph.bernoulli(["0.8", "0.9"])
    >>> found = sweep(graph, ["0.5", "1"], methods=["cluster"])
    >>> found["cluster"].released[:, :, 1].round(4).tolist()  # P(1) of both profiles
    [[0.7707, 0.8609], [0.8, 0.9]]
    """
    budgets = sorted({float(Budget.of(given)): given for given in epsilons}.items())
    if not budgets:
        raise InputError("no budgets to sweep", remedy="give at least one epsilon")
    chosen = tuple(dict.fromkeys(usual_methods(graph) if methods is None else methods))
    if not chosen:
        raise InputError("no methods to sweep", remedy="name at least one method")
    total, done = len(chosen) * len(budgets), 0
    curves = []
    for method in chosen:
        points = []
        for epsilon, given in budgets:
            if watch is not None:
                watch(f"{method} at {epsilon:g}", done, total)
            points.append(_point(graph, given, epsilon, method))
            done += 1
        curves.append(SweepCurve(method, tuple(points)))
    return Sweep(graph, tuple(curves))


def _point(graph: ProfileGraph, given: Any, epsilon: float, method: str) -> SweepPoint:
    made = design_profiles(graph, given, method=method)
    found = profile_errors(made.table, graph)
    return SweepPoint(
        epsilon,
        made.certificate.guarantee,
        float(made.certificate.nats["profile"]),
        found.released,
        found.largest,
        found.mean_wrong,
        found.marginal,
    )


@dataclass(frozen=True, eq=False)
class Couplet:
    """How often a bit is flipped for two profiles whose parameters are so far apart."""

    epsilon: float
    method: str
    gaps: Floats
    flips: Floats

    @property
    def warner(self) -> float:
        """The flipping probability of randomised response, 1 / (1 + e^epsilon)."""
        return 1.0 / (1.0 + math.exp(self.epsilon))


def couplet_curve(
    epsilon: Any,
    gaps: Iterable[Any] | None = None,
    *,
    lowest: Any = None,
    method: str = "smooth-one-bit",
    watch: Watch | None = None,
) -> Couplet:
    """Design for two joined profiles of one bit, for every difference of their parameters.

    The parameters lie evenly about 1/2, or start at `lowest`; without gaps they go from 0 to 1, or
    as far as `lowest` lets them. The certified flipping probability is the larger of the two.

    Source: 004 Fig. 2a.

    >>> curve = couplet_curve("1", ["0", "0.5", "1"], method="cluster")
    >>> curve.flips.round(4).tolist(), round(curve.warner, 4)
    ([0.0, 0.0379, 0.2689], 0.2689)
    """
    budget = Budget.of(epsilon)
    start = None if lowest is None else exact(lowest, name="lowest")
    furthest = Fraction(1) if start is None else 1 - start
    given = (
        [furthest * place / (_GAPS - 1) for place in range(_GAPS)]
        if gaps is None
        else [exact(gap, name="gap") for gap in gaps]
    )
    flips = []
    for place, gap in enumerate(given):
        if not 0 <= gap <= furthest:
            raise InputError(
                "a difference that no two parameters have",
                value=str(gap),
                remedy=f"use 0 to {furthest}",
            )
        if watch is not None:
            watch(f"difference {float(gap):g}", place, len(given))
        low = (1 - gap) / 2 if start is None else start
        pair = ProfileGraph.bernoulli({"lower": low, "upper": low + gap})
        made = design_profiles(pair, budget, method=method)
        flips.append(profile_errors(made.table, pair).largest)
    return Couplet(float(budget), method, np.array([float(gap) for gap in given]), np.array(flips))
