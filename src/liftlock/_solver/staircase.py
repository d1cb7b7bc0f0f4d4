"""Posteriors under local differential privacy of X itself: staircases.

The extreme columns of a channel whose likelihoods differ by a factor of at most E are those with
entries u and E u only. A vertex raises a set K of symbols, with posterior

    v_x = P(x) (E if x in K else 1) / (1 + (E - 1) P(K)) = P(x) (u + (E - 1) z_x),

with the least lift u, and z_x = u if x in K else 0. A linear function is least at a set that its
sorted slopes name, which drives the search; a tree of sets proves how low a cost can be.

On staircases two costs are simple functions of (u, v), whatever the set,

    entropy          H(v) = -ln u - E ln E / (E - 1) (1 - u) - sum_x v_x ln P(x),
    1 - squares      1 - sum v^2 = 1 + E R u^2 - (E + 1) u m,   m = P . v,  R = sum P^2,

convex in u and linear in v but for the product u m, which the envelopes of a product bound on an
interval of u. So with z_x anywhere in [0, u] a bound is the least of one convex function along the
symbols sorted by their slopes, at most one of them in part. That symbol is then raised in one
branch and not in the other; where the product is what is off, the interval of u is cut.

Source: 000 Def 1; 001 section V (k-ary randomised response is not optimal in general).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from liftlock._runtime.clock import PASS, Clock
from liftlock._solver.column_generation import Oracle, PricingResult
from liftlock._solver.enumeration import EnumeratedOracle
from liftlock._solver.limits import LIMITS
from liftlock._solver.pricing import Concave, PolytopeOracle, Variance
from liftlock._solver.problem import Problem
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot, log
from liftlock.exact.rounding import QUOTIENT, rounding
from liftlock.exact.tolerances import TOLERANCES
from liftlock.utility import base
from liftlock.utility.base import TermKind, Utility

Marks: TypeAlias = npt.NDArray[np.int8]
Places: TypeAlias = npt.NDArray[np.intp]


class StaircasePolytope:
    """The posteriors of all staircase columns, as a polytope.

    >>> stairs = StaircasePolytope(np.array([0.5, 0.5]), 3.0)
    >>> stairs.minimise(np.array([[1.0, 0.0]]))[1].tolist()
    [[0.25, 0.75]]
    """

    def __init__(self, masses: Floats, ratio: float) -> None:
        self.masses, self.ratio = np.asarray(masses, dtype=np.float64), ratio
        self._generator = np.random.default_rng(len(self.masses))

    def __len__(self) -> int:
        return len(self.masses)

    @property
    def work(self) -> float:
        """Operations that a linear minimisation is counted as."""
        return PASS * float(len(self))

    @property
    def low(self) -> Floats:
        """What every posterior is at least, a hair less."""
        least = 1.0 / (1.0 + (self.ratio - 1.0) * (1.0 - self.masses.min()))
        lows: Floats = self.masses * least * (1.0 - QUOTIENT)
        return lows

    def posteriors_of(self, sets: Floats) -> Floats:
        """Return the posteriors of sets given as rows of 0 and 1."""
        weights = self.masses * (1.0 + (self.ratio - 1.0) * sets)
        posteriors: Floats = weights / weights.sum(axis=1, keepdims=True)
        return posteriors

    def sets(self, posteriors: Floats) -> Floats:
        """Return the sets of staircases, as rows of 0 and 1."""
        lifts = posteriors / self.masses
        middle = lifts.min(axis=1, keepdims=True) * (1 + self.ratio) / 2
        raised: Floats = (lifts > middle).astype(np.float64)
        return raised

    def all_posteriors(self) -> Floats:
        """Return the posteriors of all sets but the empty and the full one.

        >>> StaircasePolytope(np.array([0.5, 0.5]), 3.0).all_posteriors().tolist()
        [[0.75, 0.25], [0.25, 0.75]]
        """
        numbers = np.arange(1, (1 << len(self)) - 1)
        return self.posteriors_of(
            ((numbers[:, None] >> np.arange(len(self))) & 1).astype(np.float64)
        )

    def random_sets(self, number: int) -> Floats:
        """Return random sets of every size."""
        likely = self._generator.random((number, 1))
        return (self._generator.random((number, len(self))) < likely).astype(np.float64)

    def start(self) -> Floats:
        """Return k-ary randomised response, and random sets of every size."""
        sets = self.random_sets(2 * len(self))
        proper = (sets.sum(axis=1) > 0) & (sets.sum(axis=1) < len(self))
        return self.posteriors_of(np.vstack([np.eye(len(self)), sets[proper]]))

    def minimise(self, slopes: Floats) -> tuple[Floats, Floats]:
        """Return the least slopes . v for each row, to rounding: the symbols of least slope."""
        order = np.argsort(slopes, axis=1, kind="stable")
        masses = self.masses[order]
        gain = self.ratio - 1.0
        zero = np.zeros((len(slopes), 1))
        costs = np.hstack([zero, np.cumsum(np.take_along_axis(slopes, order, 1) * masses, axis=1)])
        sizes = np.hstack([zero, np.cumsum(masses, axis=1)])
        best = np.argmin((costs[:, -1:] + gain * costs) / (1.0 + gain * sizes), axis=1)
        sets = np.zeros(slopes.shape)
        np.put_along_axis(sets, order, (np.arange(slopes.shape[1]) < best[:, None]) * 1.0, axis=1)
        vertices = self.posteriors_of(sets)
        values: Floats = (slopes * vertices).sum(axis=1)
        return values, vertices


def staircase_oracle(problem: Problem, utility: Utility) -> Oracle:
    """Return the oracle of a prior under LDP.

    >>> from liftlock.notions.ldp import LDP
    >>> from liftlock.model import Prior
    >>> from liftlock.utility.symmetric import Histogram
    >>> oracle = staircase_oracle(Problem.of(Prior.uniform(range(30)), LDP("1")), Histogram())
    >>> oracle.prove(np.zeros(30), -1.0, Clock()).bound > 0.9
    True
    """
    assert problem.ratio is not None
    stairs = StaircasePolytope(problem.masses, problem.ratio)
    match utility.shape:
        case base.Separable(kind):
            return PolytopeOracle(stairs, utility, SetTreePricing(stairs, utility, kind))
        case base.Variance(points):
            return PolytopeOracle(stairs, utility, Variance(stairs, points))
        case _ if len(stairs) <= LIMITS.few_symbols:
            return EnumeratedOracle(stairs.all_posteriors(), utility)
        case _:
            pricing = Concave(stairs, utility, stairs.low, max(LIMITS.starts, 4 * len(stairs)))
            return PolytopeOracle(stairs, utility, pricing)


@dataclass(frozen=True)
class Nodes:
    """Parts of the set of staircases, one for each row: symbols decided, and an interval of u."""

    marks: Marks
    """1 raised, -1 not raised, 0 undecided."""
    low: Floats
    high: Floats

    def __len__(self) -> int:
        return len(self.low)


@dataclass(frozen=True)
class NodeMinimum:
    """Where the least of a convex function of u plus a linear one of v is taken, for each node."""

    values: Floats
    """inf where the node is empty."""
    place: Floats
    """u."""
    raised: npt.NDArray[np.bool_]
    """The symbols raised in full."""
    part: Places
    """The symbol raised in part, or that would be raised next."""
    share: Floats
    """How far it is raised, between 0 and 1."""


class SetTreePricing:
    """Prices a separable cost: by flipping symbols of sets, and by a tree of sets.

    >>> from liftlock.utility.symmetric import Histogram
    >>> tree = SetTreePricing(
    ...     StaircasePolytope(np.array([0.5, 0.3, 0.2]), 3.0), Histogram(), TermKind.SQUARE
    ... )
    >>> round(tree.prove(np.zeros(3), 0.404, Clock()).bound, 6)  # the least of 1 - sum v^2
    0.405
    """

    def __init__(self, stairs: StaircasePolytope, utility: Utility, kind: TermKind) -> None:
        self.stairs, self.kind = stairs, kind
        self._concave = Concave(stairs, utility, stairs.low, 0)
        self.masses, self.ratio = stairs.masses, stairs.ratio
        self._squares = float(dot(self.masses, self.masses))
        self._logs = log(self.masses)
        self._weight = float(self.ratio * log(self.ratio) / (self.ratio - 1.0))

    def search(self, duals: Floats, columns: Floats, clock: Clock) -> Floats:
        """Linearise from the columns in use and from random sets, and flip symbols."""
        n = len(self.stairs)
        sets = self.stairs.random_sets(max(LIMITS.starts, 4 * n))
        clock.spend(PASS * len(sets) * float(n) ** 2)
        starts = np.vstack([columns, self.stairs.posteriors_of(sets)])
        found = self._concave.search(duals, starts, clock)
        better = self.improve_sets(np.vstack([self.stairs.sets(found), sets]), duals)
        # Those that were not improved differ more from one another, and help as well.
        return np.vstack([self.stairs.posteriors_of(better), found])

    def reduced_costs(self, sets: Floats, duals: Floats) -> Floats:
        """Return the reduced costs of sets, given as rows of 0 and 1."""
        return self._values(self._sums(sets, duals))

    def _sums(self, sets: Floats, duals: Floats) -> Floats:
        """Return the sums of P, slopes P and P^2 over the levels 1 and E of each set."""
        sums: Floats = dot(1.0 + (self.ratio - 1.0) * sets, self._parts(duals).T)
        return sums

    def _parts(self, duals: Floats) -> Floats:
        slopes = -duals - (self._logs if self.kind is TermKind.ENTROPY else 0.0)
        return np.stack([self.masses, self.masses * slopes, self.masses**2])

    def improve_sets(self, raised: Floats, duals: Floats) -> Floats:
        """Raise or lower one symbol of each set at a time, the best one, while that helps.

        What a set costs depends on three sums over it only, so all flips are tried at once.
        """
        sets = raised.astype(np.float64)
        gain, parts = self.ratio - 1.0, self._parts(duals)
        rows = np.arange(len(sets))
        best = self.reduced_costs(sets, duals)
        for _ in range(2 * sets.shape[1]):
            changes = (gain * (1.0 - 2.0 * sets))[:, :, None] * parts.T
            values = self._values(self._sums(sets, duals)[:, None, :] + changes)
            place = np.argmin(values, axis=1)
            better = values[rows, place] < best - TOLERANCES.zero
            if not better.any():
                break
            chosen = rows[better]
            sets[chosen, place[better]] = 1.0 - sets[chosen, place[better]]
            best[better] = values[chosen, place[better]]
        return np.unique(sets, axis=0)

    def _values(self, sums: Floats) -> Floats:
        """Return the reduced cost from the sums of P, slopes P and P^2 over (1, E) levels."""
        u = 1.0 / sums[..., 0]
        linear = u * sums[..., 1]
        if self.kind is TermKind.ENTROPY:
            bend = -log(u) - self._weight * (1.0 - u)
        else:
            bend = 1.0 + u**2 * (self.ratio * self._squares - (self.ratio + 1.0) * sums[..., 2])
        values: Floats = bend + linear
        return values

    def prove(self, duals: Floats, goal: float, clock: Clock) -> PricingResult:
        """Return a safe lower bound, the goal if it is reached, and staircases below the goal."""
        if len(self.masses) <= LIMITS.few_symbols and goal < 0:
            # With few symbols a much smaller gap costs next to nothing more.
            closer = self._explore(duals, goal * TOLERANCES.close, clock)
            if closer.bound >= goal:
                return closer
        return self._explore(duals, goal, clock)

    def _explore(self, duals: Floats, goal: float, clock: Clock) -> PricingResult:
        """Look at the nodes of least bound first, until none is below the goal."""
        n = len(self.masses)
        # The sizes of all terms, wherever u and v are; those of squares grow with the ratio.
        size = 4.0 * np.abs(duals).max() + 2.0
        if self.kind is TermKind.ENTROPY:
            size += 4.0 * np.abs(self._logs).max() + 2.0 * self._weight
        else:
            size += 7.0 * (self.ratio + 1.0) * self.masses.max()
        slack = rounding(n) * float(size)
        root = Nodes(np.zeros((1, n), dtype=np.int8), np.array([1.0 / self.ratio]), np.array([1.0]))
        found: list[tuple[float, Floats]] = []
        ticket = count()
        heap: list[tuple[float, int, Marks, float, float]] = []
        closed = np.inf
        looked = 0
        fresh, parents = root, np.array([-np.inf])
        while len(fresh):
            looked += len(fresh)
            clock.spend(PASS * float(fresh.marks.size))
            bounds, children = self._bound_nodes(fresh, duals, goal, parents, found)
            open_ = bounds < goal + slack
            closed = min(closed, float(bounds[~open_].min(initial=np.inf)))
            for place in np.flatnonzero(open_):
                for marks, low, high in children[place]:
                    heapq.heappush(heap, (float(bounds[place]), next(ticket), marks, low, high))
                if not children[place]:
                    closed = min(closed, float(bounds[place]))
            if looked >= LIMITS.nodes[-1] or clock.left <= 0 or len(found) >= LIMITS.columns:
                break
            taken = [heapq.heappop(heap) for _ in range(min(LIMITS.columns, len(heap)))]
            fresh = Nodes(
                np.array([node[2] for node in taken], dtype=np.int8).reshape(-1, n),
                np.array([node[3] for node in taken]),
                np.array([node[4] for node in taken]),
            )
            parents = np.array([node[0] for node in taken])
        worst = min(closed, heap[0][0] if heap else np.inf)
        found.sort(key=lambda pair: pair[0])
        columns = np.array([vertex for _, vertex in found[: LIMITS.columns]]).reshape(-1, n)
        return PricingResult(worst - slack, columns)

    def _bound_nodes(
        self,
        nodes: Nodes,
        duals: Floats,
        goal: float,
        parents: Floats,
        found: list[tuple[float, Floats]],
    ) -> tuple[Floats, list[list[tuple[Marks, float, float]]]]:
        """Return bounds, and the parts into which each node below the goal is cut."""
        if self.kind is TermKind.ENTROPY:
            slopes = np.broadcast_to(-self._logs - duals, nodes.marks.shape)
            least = self.minimise(nodes, slopes, "entropy", np.zeros(len(nodes)))
            off = np.zeros(len(nodes))
        else:
            least, off = self._bound_squared(nodes, duals)
        bounds = np.maximum(least.values, parents)
        below = np.flatnonzero(least.values < goal)
        self._gather(least, below, duals, goal, found)
        children: list[list[tuple[Marks, float, float]]] = [[] for _ in range(len(nodes))]
        for place in below:
            marks, low, high = nodes.marks[place], nodes.low[place], nodes.high[place]
            where, symbol = float(least.place[place]), int(least.part[place])
            share = float(least.share[place])
            partly = marks[symbol] == 0 and TOLERANCES.visible < share < 1.0 - TOLERANCES.visible
            inside = low * (1 + TOLERANCES.hair) < where < high * (1 - TOLERANCES.hair)
            if off[place] > 0.3 * (goal - least.values[place]) and inside:
                children[place] = [(marks, low, where), (marks, where, high)]
            elif partly or (marks == 0).any():
                if not partly:
                    symbol = int(np.argmax(np.where(marks == 0, self.masses, -1.0)))
                up, down = marks.copy(), marks.copy()
                up[symbol], down[symbol] = 1, -1
                children[place] = [(up, low, high), (down, low, high)]
        return bounds, children

    def _gather(
        self,
        least: NodeMinimum,
        below: Places,
        duals: Floats,
        goal: float,
        found: list[tuple[float, Floats]],
    ) -> None:
        """Keep staircases near the relaxed ones that are truly below the goal."""
        if not len(below):
            return
        sets = least.raised[below].astype(np.float64)
        more = sets.copy()
        more[np.arange(len(below)), least.part[below]] = 1.0
        near = np.unique(np.vstack([sets, more]), axis=0)
        reduced = self.reduced_costs(near, duals)
        known = {value for value, _ in found}
        for place in np.flatnonzero(reduced < goal):
            if float(reduced[place]) not in known:
                found.append(
                    (float(reduced[place]), self.stairs.posteriors_of(near[place][None])[0])
                )

    def _bound_squared(self, nodes: Nodes, duals: Floats) -> tuple[NodeMinimum, Floats]:
        """Bound 1 - sum v^2 - y . v with the two envelopes of the product u m from above."""
        masses = np.broadcast_to(self.masses, nodes.marks.shape)
        none = np.zeros(len(nodes))
        least_m = self.minimise(nodes, masses, "none", none).values
        most_m = -self.minimise(nodes, -masses, "none", none).values
        empty = ~np.isfinite(least_m)
        least_m, most_m = np.where(empty, 0.0, least_m), np.where(empty, 1.0, most_m)
        factor = self.ratio + 1.0
        best: NodeMinimum | None = None
        for level, ends in ((nodes.high, least_m), (nodes.low, most_m)):
            # u m <= level m + end u - level end
            slopes = -duals - factor * level[:, None] * self.masses
            found = self.minimise(nodes, slopes, "square", -factor * ends)
            values = found.values + 1.0 + factor * level * ends
            found = NodeMinimum(values, found.place, found.raised, found.part, found.share)
            best = found if best is None else _larger(best, found)
        assert best is not None
        off = factor * (nodes.high - best.place) * (best.place - nodes.low)
        off *= (most_m - least_m) / np.maximum(nodes.high - nodes.low, 1e-300)
        return best, np.maximum(off, 0.0)

    def minimise(self, nodes: Nodes, slopes: Floats, curve: str, tilt: Floats) -> NodeMinimum:
        """Minimise curve(u) + tilt u + slopes . v over each node, symbols in part allowed.

        With the first j undecided symbols raised and the next in part, the linear part is

            slope_next + u (S + (E - 1) C_j - slope_next D_j),   D_j = 1 + (E - 1) p_j,

        with S = sum slopes P, and C_j and p_j the sums of slopes P and of P over what is raised.
        """
        gain = self.ratio - 1.0
        rows = np.arange(len(nodes))[:, None]
        order = np.argsort(slopes, axis=1, kind="stable")
        sorted_slopes = np.take_along_axis(slopes, order, axis=1)
        marks = nodes.marks[rows, order]
        masses = self.masses[order]
        free = np.where(marks == 0, masses, 0.0)
        fixed = np.where(marks == 1, masses, 0.0)
        before = fixed.sum(axis=1, keepdims=True) + _sums_before(free)
        paid = (sorted_slopes * fixed).sum(axis=1, keepdims=True)
        paid = paid + _sums_before(sorted_slopes * free)
        whole = (sorted_slopes * masses).sum(axis=1, keepdims=True)
        starts = 1.0 + gain * before
        steep = whole + gain * paid - sorted_slopes * starts + tilt[:, None]
        high = np.minimum(1.0 / starts, nodes.high[:, None])
        low = np.maximum(1.0 / (starts + gain * free), nodes.low[:, None])
        if curve == "entropy":
            steep_all = steep + self._weight
            place = np.where(steep_all > 0, 1.0 / np.where(steep_all > 0, steep_all, 1.0), np.inf)
        elif curve == "square":
            place = -steep / (2.0 * self.ratio * self._squares)
        else:
            place = np.where(steep > 0, -np.inf, np.inf)
        u = np.clip(place, low, np.maximum(high, low))
        if curve == "entropy":
            bend = -log(u) - self._weight * (1.0 - u)
        elif curve == "square":
            bend = self.ratio * self._squares * u**2
        else:
            bend = 0.0
        # A hair wider than exact, so that rounding cannot empty a node.
        values = np.where(
            low <= high * (1 + TOLERANCES.hair), bend + sorted_slopes + u * steep, np.inf
        )
        best = np.argmin(values, axis=1)[:, None]
        chosen = np.take_along_axis(u, best, axis=1)
        ends = np.take_along_axis(starts, best, axis=1)
        widths = gain * np.take_along_axis(free, best, axis=1) * chosen
        share = np.divide(1.0 - chosen * ends, widths, out=np.zeros_like(widths), where=widths > 0)
        raised = np.zeros(marks.shape, dtype=bool)
        full = (marks == 1) | ((marks == 0) & (np.arange(marks.shape[1]) < best))
        np.put_along_axis(raised, order, full, axis=1)
        return NodeMinimum(
            np.take_along_axis(values, best, axis=1)[:, 0],
            chosen[:, 0],
            raised,
            np.take_along_axis(order, best, axis=1)[:, 0],
            share[:, 0],
        )


def _sums_before(values: Floats) -> Floats:
    """Return, for each entry of a row, the sum of those before it.

    Taking the entry off a running sum again would leave rounding where the sum is tiny.
    """
    sums = np.zeros_like(values)
    np.cumsum(values[:, :-1], axis=1, out=sums[:, 1:])
    return sums


def _larger(first: NodeMinimum, second: NodeMinimum) -> NodeMinimum:
    """Take, for each node, the one that bounds more."""
    take = second.values > first.values
    return NodeMinimum(
        np.where(take, second.values, first.values),
        np.where(take, second.place, first.place),
        np.where(take[:, None], second.raised, first.raised),
        np.where(take, second.part, first.part),
        np.where(take, second.share, first.share),
    )
