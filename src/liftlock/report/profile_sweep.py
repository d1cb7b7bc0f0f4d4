"""What profiles release as the budget grows, under several methods: a comparison as curves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from liftlock.contexts import ProfileGraph
from liftlock.designs.comparison import Point, compare
from liftlock.errors import InputError
from liftlock.exact.budget import Budget
from liftlock.exact.integers import Floats
from liftlock.progress import Progress

BASELINE = "randomised-response"


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

    @classmethod
    def of(cls, point: Point) -> SweepPoint:
        """Read a point of a comparison."""
        errors = point.errors
        assert errors is not None
        return cls(
            point.epsilon,
            point.guarantee,
            point.needed,
            errors.released,
            errors.largest,
            errors.mean_wrong,
            errors.marginal,
        )


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
    watch: Progress | None = None,
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
    found = compare(graph, None, chosen, [given for _, given in budgets], progress=watch)
    return Sweep(
        graph,
        tuple(
            SweepCurve(curve.method, tuple(SweepPoint.of(point) for point in curve.points))
            for curve in found.curves
        ),
    )
