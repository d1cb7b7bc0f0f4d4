"""Column generation: add good posteriors to the master problem until none is left, and prove it.

Each round solves the master problem, asks the oracle for posteriors that its prices call
profitable, and adds them. When the search finds none, the oracle is asked to *prove* how low a
reduced cost can be: that bounds the optimum from below, whatever the search may have missed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from liftlock._solver.limits import LIMITS, TOLERANCES
from liftlock._solver.master import Master, Mixture, refined
from liftlock._solver.optimality import Ending, relative_gap
from liftlock._solver.oracle import Clock, Oracle, SearchStep
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot
from liftlock.exact.rounding import rounding
from liftlock.utility.utility import Utility, cost_of_nothing, cost_of_truth, doubt

_SEARCHING = 0.6
"""Of a limited time so much is for the search, the rest for the proof."""

_WIDTH = 0.3
"""Where prices start wild: how far from 0 they may go at first, as a share of the reference."""

_LONG = 30
_LITTLE = 0.1
"""After so many rounds, a best reduced cost below this share of the gap is tried for a proof."""

_WIDEST = 1e6
"""Prices that still press against a box so many times wider than the first are set free."""


@dataclass(frozen=True)
class Decomposition:
    """A decomposition of the prior, and a proof of how good it is."""

    columns: Floats
    """Posteriors, one for each row."""
    weights: Floats
    """The probability of each."""
    cost: float
    bound: float
    """No decomposition costs less."""
    reference: float
    """The cost of releasing nothing."""
    seen: int
    rounds: int
    seconds: float
    stopped: Ending
    """What ended the search before the gap that was asked for."""

    @property
    def gap(self) -> float:
        """The proved relative gap."""
        return relative_gap(self.cost, self.bound, self.reference)

    def channel(self, masses: Floats) -> Floats:
        """Return P(y | x) = beta_y v_y(x) / P(x), rows inputs."""
        matrix = (self.columns * self.weights[:, None] / masses).T
        # A symbol too rare for any posterior to show it answers like everybody.
        matrix[matrix.sum(axis=1) == 0.0] = self.weights
        rows: Floats = matrix / matrix.sum(axis=1, keepdims=True)
        return rows


def generate(
    masses: Floats,
    utility: Utility,
    oracle: Oracle,
    clock: Clock,
    *,
    floor: float = 0.0,
    first: Floats | None = None,
) -> Decomposition:
    """Find the cheapest decomposition of a prior into posteriors of the oracle's polytope.

    It never fails: the prior itself is a column, so releasing nothing is always an answer. An
    interrupt (Ctrl-C) or the clock ends the search with the best decomposition so far. `first` are
    posteriors of some mechanism that is known to be allowed, to be better than nothing from the
    start.
    """
    search = _Search(masses, utility, oracle, clock, floor)
    if first is not None:
        search.accept(first, None)
        search.solve()
    try:
        search.run()
    except KeyboardInterrupt:
        search.stopped = "interrupt"
    if search.filled:
        search.master.box(None)
        search.solve()
    return search.solution()


class _Search:
    def __init__(
        self, masses: Floats, utility: Utility, oracle: Oracle, clock: Clock, floor: float
    ) -> None:
        self.masses, self.utility, self.oracle, self.clock = masses, utility, oracle, clock
        self.reference = cost_of_nothing(utility, masses)
        # Nothing tells more than X itself.
        self.bound = cost_of_truth(utility, masses)
        self.bound -= float(doubt(utility, self.bound, len(masses), len(masses)))
        # Some oracles know more without any search.
        self.bound = max(self.bound, float(getattr(oracle, "known_bound", -np.inf)))
        # The master's tolerances are absolute, so it is given costs of about 1; a power of two
        # rounds nothing.
        self.unit = 2.0 ** np.frexp(self.reference)[1] if self.reference > 0 else 1.0
        self.master = Master(masses, floor)
        self.master.add(masses[None, :], np.array([self.reference]) / self.unit)
        self.seen = 1
        self.rounds = 0
        self.stopped: Ending = ""
        self.filled = False
        self.little = _LITTLE
        self.incumbent = (masses[None, :].copy(), np.ones(1), self.reference)

    @property
    def gap(self) -> float:
        return relative_gap(self.incumbent[2], self.bound, self.reference)

    def run(self) -> None:
        if self.reference <= 0 or self.gap <= self.clock.gap:
            return
        self.accept(self.oracle.start(), None)
        # The first columns say little about most inputs, and prices would be anything there.
        width = _WIDTH * self.reference if getattr(self.oracle, "wild_prices", False) else 0.0
        if width:
            self.master.box(np.zeros(len(self.masses)), width / self.unit)
        while True:
            mixture = self.solve()
            if self.gap <= self.clock.gap:
                self.stopped = ""
                return
            if mixture is None:
                self.stopped = self.clock.ended or "stuck"
                return
            if self.clock.left < (1.0 - _SEARCHING) * (self.clock.seconds or 0.0):
                # What is left of the work is for a proof, which any prices allow.
                self.stopped = self.clock.ended or "work"
                self.tell("proving")
                columns = self.prove(mixture)
                if self.clock.left <= 0 or not self.accept(columns, mixture.duals):
                    return
                continue
            self.tell("searching")
            active = self.master.columns(mixture.weights > 0)
            found = self.oracle.search(mixture.duals, active, self.clock)
            if self.late(found, mixture):
                self.prove(mixture)
                if self.gap <= self.clock.gap:
                    return
            if self.accept(found, mixture.duals):
                continue
            if mixture.slack > TOLERANCES.visible:
                width *= 4
                within = width <= _WIDEST * _WIDTH * self.reference
                centre = np.zeros(len(self.masses)) if within else None
                self.master.box(centre, width / self.unit)
                continue
            self.tell("proving")
            columns = self.prove(mixture)
            if self.gap <= self.clock.gap:
                return
            if not self.accept(columns, mixture.duals):
                self.stopped = self.clock.ended if self.clock.left <= 0 else "stuck"
                return

    def late(self, found: Floats, mixture: Mixture) -> bool:
        """Whether a long search gains so little that a proof may end it.

        Each further try has to wait until a tenth of that is left to be gained.
        """
        if self.rounds < _LONG or mixture.slack > TOLERANCES.visible or not len(found):
            return False
        least = float((self.utility.costs(found) - dot(found, mixture.duals)).min())
        if least < -self.little * self.clock.gap * self.reference:
            return False
        self.little /= 10.0
        return True

    def prove(self, mixture: Mixture) -> Floats:
        """Raise the bound by a proof at the prices of a mixture; return columns met on the way."""
        # Half of the allowed gap is left to the master's own rounding.
        goal = -0.5 * self.clock.gap * self.reference
        priced = self.oracle.prove(mixture.duals, goal, self.clock)
        worth = self.masses * mixture.duals
        safe = worth.sum() - rounding(len(worth)) * np.abs(worth).sum()
        proved = float(safe) + min(priced.bound, 0.0)
        self.bound = max(self.bound, proved)
        return priced.columns

    def solve(self) -> Mixture | None:
        self.rounds += 1
        found = self.master.solve(self.clock)
        if found is None:
            return None
        mixture = replace(found, cost=self.unit * found.cost, duals=self.unit * found.duals)
        self.filled = mixture.slack > TOLERANCES.visible
        if self.filled:  # not yet a decomposition of the prior
            return mixture
        if mixture.cost < self.incumbent[2]:
            used = mixture.weights > 0
            self.incumbent = (self.master.columns(used), mixture.weights[used], mixture.cost)
        return mixture

    def accept(self, columns: Floats, duals: Floats | None) -> int:
        """Add the columns that the prices call profitable; return how many were new."""
        if not len(columns):
            return 0
        costs = self.utility.costs(columns)
        self.seen += len(columns)
        if duals is not None:
            reduced = costs - dot(columns, duals)
            most = max(LIMITS.new_columns, 2 * len(self.masses))
            order = np.argsort(reduced, kind="stable")[:most]
            order = order[reduced[order] < -TOLERANCES.solver * self.reference]
            columns, costs = columns[order], costs[order]
        return self.master.add(columns, costs / self.unit)

    def tell(self, stage: str) -> None:
        if self.clock.watch is not None:
            self.clock.watch(
                SearchStep(
                    stage=stage,
                    cost=self.incumbent[2],
                    bound=self.bound,
                    gap=self.gap,
                    columns=self.seen,
                    seconds=self.clock.elapsed,
                )
            )

    def solution(self) -> Decomposition:
        columns, weights = refined(self.incumbent[0], self.incumbent[1], self.masses)
        weights = weights / weights.sum()
        cost = float(dot(weights, self.utility.costs(columns)))
        return Decomposition(
            columns,
            weights,
            cost,
            min(self.bound, cost),
            self.reference,
            self.seen,
            self.rounds,
            self.clock.elapsed,
            self.stopped,
        )
