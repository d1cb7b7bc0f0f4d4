"""The least variance of an unbiased histogram: extreme posteriors, mixed by an interior point.

A mechanism that splits the prior P into posteriors v_k of weights beta_k has lifts l_k = v_k / P,
and the variances of its unbiased histogram are the diagonal of J^-1, less P^2, with

    J = sum_k beta_k l_k l_k',   sum_k beta_k l_k = 1.

tr J^-1 is convex in the weights, so extreme posteriors suffice. For given ones the weights are
found by Newton steps. For every matrix M, tr J^-1 >= 2 tr M - tr(M M' J), with equality at
M = J^-1, so that any M and any prices y bound every mechanism from below,

    tr J^-1 >= 2 tr M - y . 1 - max over v of (l' M M' l - y . l),

and the posteriors at which the maximum is large are those to add: each round prices a *concave*
quadratic cost, as every other utility does.

*The proof.* Where every extreme posterior can be listed, the maximum is taken over all of them.
Where not, any lift of a range [a, b] and mean 1 has E l^2 <= a + b - a b, and J P = 1. So if
M M' <= diag(d) + c P' + P c' as matrices, with d >= 0,

    tr(M M' J) <= sum_x d_x (a_x + b_x - a_x b_x) + 2 sum_x c_x,

which needs no search at all; the best d and c are a smooth concave problem. It misses little where
there are many values: 8 % for three, 1 % for ten, less for more. Under LDP lifts lie between w and
E w, with a w of each output, so E l^2 <= (E + 1) E[w l] - E E[w^2], and the same holds with
M M' <= diag(d) + c P' + P c' - (E + 1)^2 / (4 E) d d' / sum(d), and 2 sum_x c_x alone.

*The worst value.* max_x (J^-1)_xx - P(x)^2 is at least its mean for any shares u, and the Newton
steps find the shares too. With lifts divided by sqrt(u) a mean is a trace again.

Lifts are stretched about 1 first, as they are all near it if the budget is small.

Source: math collection in rounds A6.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from liftlock._runtime.clock import PASS, Clock, Ending, SearchStep, SetupTimedOut
from liftlock._solver.box import Box
from liftlock._solver.column_generation import Decomposition
from liftlock._solver.enumeration import (
    Rationals,
    enumerate_vertices,
    half_spaces,
    set_half_spaces,
)
from liftlock._solver.limits import LIMITS
from liftlock._solver.pricing import Concave, Polytope
from liftlock._solver.problem import Problem, Task, relative_gap
from liftlock._solver.staircase import StaircasePolytope
from liftlock.errors import InputError
from liftlock.exact.elimination import LUFactors
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot
from liftlock.exact.rounding import UNIT, rounding
from liftlock.exact.tolerances import TOLERANCES
from liftlock.utility.base import Utility
from liftlock.utility.frequencies import Frequencies

_LISTED_OF_SEVERAL = 10
"""Up to so many symbols all extreme posteriors are listed where X itself is limited besides."""
_ROUNDS = 400
"""Rounds of pricing, at most."""
_IDLE = 4
"""The search ends after so many rounds that gain next to nothing."""
_LITTLE = 1e-3
"""Next to nothing: this share of the gap, or where there is none yet, of the cost."""
_UNUSED = 1e-7
"""A column of less weight is not used: without it, the cost is as good as the same."""
_PROOF = 60.0
"""Operations of a proof by moments, for each four values."""
_FASTER = 16.0
"""Products of matrices are so many times as quick as other work is counted."""


def least_variance(task: Task) -> Decomposition:
    """Return the mixture of extreme posteriors with the least variance of unbiased shares."""
    problem, utility = task.problem.widen(), task.utility
    assert isinstance(utility, Frequencies)
    if task.symbols > LIMITS.frequency_symbols:
        raise InputError(
            f"the optimum for {utility.name} of more than {LIMITS.frequency_symbols} values",
            value=f"{task.symbols:,} values",
            remedy="use the method arc with 16 orders, subset-selection or oue",
        )
    search = _Search(problem, utility, task.clock, _source(task, problem))
    try:
        search.run()
    except KeyboardInterrupt:
        search.stopped = "interrupt"
    return search.solution()


# --- where posteriors come from -------------------------------------------------------------------


class _Source(Protocol):
    """The posteriors that a notion allows."""

    low: Floats
    high: Floats
    """What each entry is at least, and at most, on the safe side."""

    def start(self) -> Floats:
        """Return some that have the prior inside, and tell all values apart."""
        ...

    def search(self, cost: Utility, prices: Floats, columns: Floats, clock: Clock) -> Floats:
        """Return posteriors of low cost less prices."""
        ...


class _List:
    """All extreme posteriors."""

    def __init__(self, vertices: Floats) -> None:
        self.vertices = vertices
        self.low, self.high = vertices.min(axis=0), vertices.max(axis=0)

    def start(self) -> Floats:
        """Return those that are largest, and smallest, at each symbol, and some of the others."""
        ends = [np.argmax(self.vertices, axis=0), np.argmin(self.vertices, axis=0)]
        step = max(1, len(self.vertices) // (4 * self.vertices.shape[1]))
        places = np.unique(np.concatenate([*ends, np.arange(0, len(self.vertices), step)]))
        chosen: Floats = self.vertices[places]
        return chosen

    def search(self, cost: Utility, prices: Floats, columns: Floats, clock: Clock) -> Floats:  # noqa: ARG002
        """Return all of them."""
        clock.spend(self.vertices.size * self.vertices.shape[1] / _FASTER)
        return self.vertices


class _Searched:
    """A polytope of posteriors too many to list, over which linear functions are minimised."""

    def __init__(self, polytope: Polytope, low: Floats, high: Floats) -> None:
        self.polytope, self.low, self.high = polytope, low, high
        self._generator = np.random.default_rng(len(polytope))

    def start(self) -> Floats:
        """Return the start of the polytope, and random vertices."""
        symbols = len(self.polytope)
        number = 4 * symbols if self.polytope.work else LIMITS.climbs
        slopes = self._generator.standard_normal((number, symbols)) / np.sqrt(self.high)
        return np.vstack([self.polytope.start(), self.polytope.minimise(slopes)[1]])

    def search(self, cost: Utility, prices: Floats, columns: Floats, clock: Clock) -> Floats:
        """Linearise again and again, from the columns in use and from random ones."""
        polytope = self.polytope
        starts = 8 * len(polytope) if polytope.work else LIMITS.climbs
        if isinstance(polytope, StaircasePolytope):
            columns = np.vstack([columns, polytope.posteriors_of(polytope.random_sets(starts))])
        return Concave(self.polytope, cost, self.low, starts).search(prices, columns, clock)


def _source(task: Task, problem: Problem) -> _Source:
    """Return all extreme posteriors if they are few, else what finds good ones."""
    listed = task.how != "generation"
    symbols, few = task.symbols, task.symbols <= LIMITS.few_symbols
    masses = problem.masses
    if problem.only_itself and problem.ratio is not None:
        stairs = StaircasePolytope(masses, problem.ratio)
        if listed and few:
            return _List(stairs.all_posteriors())
        more = problem.ratio - 1.0
        high = masses * problem.ratio / (1.0 + more * masses) * (1.0 + rounding(symbols))
        least = 1.0 / (1.0 + more * (1.0 - masses))
        return _Searched(stairs, masses * least * (1.0 - rounding(symbols)), high)
    if task.own_secret:
        box = Box(masses, problem.lower, problem.upper)
        return _List(box.vertices()) if listed and few else _Searched(box, box.low, box.high)
    if listed:
        cuts = _few_cuts(task, problem)
        if cuts is not None:
            asked = task.how == "enumeration"
            most = LIMITS.asked_vertices if asked else LIMITS.listed_vertices
            try:
                return _List(enumerate_vertices(cuts, symbols, most, task.clock))
            except (InputError, SetupTimedOut):
                if asked:
                    raise
    return _searched(problem, task.clock)


def _few_cuts(task: Task, problem: Problem) -> Rationals | None:
    """Return the half-spaces of a secret behind X, or of a set of priors, if they are few."""
    if problem.uncertain and problem.ratio is None:
        few = task.symbols <= LIMITS.set_symbols or task.how == "enumeration"
        return set_half_spaces(problem) if few else None
    few = task.symbols <= (LIMITS.listed_symbols if task.all_behind else _LISTED_OF_SEVERAL)
    few = few or (task.all_behind and task.cells <= LIMITS.listed_cells)
    return half_spaces(problem) if few or task.how == "enumeration" else None


def _searched(problem: Problem, clock: Clock) -> _Source:
    if problem.uncertain and problem.ratio is None:
        from liftlock._solver.prior_set import PriorSetPolytope

        columns = PriorSetPolytope(problem, clock)
        return _Searched(columns, columns.low, columns.high)
    clock.report_stage("compiling (the first time takes half a minute)")
    with clock.pause():
        from liftlock._solver.separable import RowPolytope

    rows = RowPolytope(problem, None, clock)
    size = len(problem.masses)
    return _Searched(rows, rows.programme.lower[:size], np.minimum(rows.reach[:size], 1.0))


# --- the search -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Rows:
    """Lifts, stretched about 1: r = 1 + (l - 1) / s, whose mean is 1 too, and r . P = 1."""

    masses: Floats
    stretch: float

    def of(self, columns: Floats) -> Floats:
        """Return the rows of posteriors."""
        rows: Floats = 1.0 + (columns / self.masses - 1.0) / self.stretch
        return rows

    def sizes(self, columns: Floats) -> Floats:
        """Return how large the terms of a row are: it is a difference."""
        sizes: Floats = 1.0 + (columns / self.masses + 1.0) / self.stretch
        return sizes


@dataclass(frozen=True)
class _RoundCost(Utility):
    """-(r' G r), with r the row of a posterior: what one round of pricing makes small."""

    rows: _Rows
    weight: Floats
    name = "frequencies"
    title = "frequencies"

    def costs(self, posteriors: Floats) -> Floats:
        """Return the cost of each row."""
        rows = self.rows.of(posteriors)
        found: Floats = -(dot(rows, self.weight) * rows).sum(axis=1)
        return found

    def slopes(self, posteriors: Floats) -> Floats:
        """Return the gradient, which is a supergradient as the cost is concave."""
        slopes: Floats = -2.0 * dot(self.rows.of(posteriors), self.weight)
        return slopes / (self.rows.masses * self.rows.stretch)


class _Search:
    def __init__(
        self, problem: Problem, utility: Frequencies, clock: Clock, source: _Source
    ) -> None:
        self.masses, self.utility, self.clock, self.source = problem.masses, utility, clock, source
        self.ratio = problem.ratio if problem.only_itself else None
        reach = max(
            float((source.high / self.masses).max()) - 1.0,
            1.0 - float((source.low / self.masses).min()),
        )
        self.rows = _Rows(self.masses, min(max(reach, TOLERANCES.zero), 1.0))
        self.columns = _distinct(np.vstack([self.masses[None], source.start()]), self.masses)
        symbols = len(self.masses)
        self.most = min(LIMITS.mixed_columns * symbols, max(LIMITS.new_columns, 2 * symbols))
        self.seen, self.rounds, self.idle = len(self.columns), 0, 0
        self.stopped: Ending = ""
        self.bound = utility.cost_of_truth(self.masses)
        self.bound *= 1.0 - rounding(len(self.masses))
        self.mixture: Mixture | None = None
        """The best one."""
        self.incumbent: tuple[Floats, Floats, float] = (self.masses[None], np.ones(1), math.inf)

    @property
    def gap(self) -> float:
        return relative_gap(self.incumbent[2], self.bound, math.inf)

    def run(self) -> None:
        """Mix, price and add, until the gap is proved or nothing is gained any more."""
        self.improve()
        if self.mixture is not None and not isinstance(self.source, _List):
            self.prove_by_moments(self.mixture)
            self.report_stage()

    def improve(self) -> None:
        """Mix, price and add."""
        listed = isinstance(self.source, _List)
        while True:
            self.rounds += 1
            before = self.gap if listed else self.incumbent[2]
            rows = self.rows.of(self.columns)
            # No closer than what is left to prove is worth.
            close = TOLERANCES.share * min(self.gap, 1.0) ** 1.5 if listed else TOLERANCES.close
            mixture = mix(rows, self.masses, self.clock, worst=self.utility.worst, close=close)
            if mixture is None and self.utility.worst and math.isinf(self.incumbent[2]):
                mixture = self.mix_evenly(rows, close)
            if mixture is None:
                self.stopped = self.clock.ended or "stuck"
                return
            self.keep(mixture)
            if listed:
                self.prove_by_list(mixture)
            self.report_stage()
            if self.gap <= self.clock.gap:
                return
            now = self.gap if listed else self.incumbent[2]
            self.idle = 0 if now < (1.0 - _LITTLE) * before else self.idle + 1
            if self.idle >= _IDLE:
                self.stopped = "search"
                return
            if not self.clock.searching or self.rounds >= _ROUNDS:
                self.stopped = self.clock.ended or "work"
                return
            self.extend(mixture)

    def mix_evenly(self, rows: Floats, close: float) -> Mixture | None:
        """Make the sum small, where the worst value got nowhere: that is no less than the mean."""
        found = mix(rows, self.masses, self.clock, close=close)
        if found is None:
            return None
        share = 1.0 / len(self.masses)
        return replace(found, prices=share * found.prices, shares=share * found.shares)

    def keep(self, mixture: Mixture) -> None:
        """Keep the best mixture."""
        variances = (np.diagonal(mixture.inverse) - self.masses**2) / self.rows.stretch**2
        cost = self.utility.of_variances(variances)
        if cost < self.incumbent[2]:
            self.mixture = mixture
            used = mixture.weights > TOLERANCES.zero
            self.incumbent = (self.columns[used], mixture.weights[used], cost)

    def prove_by_list(self, mixture: Mixture) -> None:
        """Bound every mechanism by the largest of all extreme posteriors."""
        source = self.source
        assert isinstance(source, _List)
        rows = self.rows.of(source.vertices)
        root = mixture.root
        values = (dot(rows, dot(root, root.T)) * rows).sum(axis=1) - dot(rows, mixture.prices)
        own = mixture.shares * np.diagonal(mixture.inverse)
        value = 2.0 * float(own.sum()) - float(mixture.prices.sum()) - float(values.max())
        # What sums may be off, the weight being a product itself, and rows, which are differences.
        most = np.maximum(np.abs(self.rows.of(source.low)), np.abs(self.rows.of(source.high)))
        pushed = dot(most, np.abs(root))
        spread = dot(self.rows.sizes(source.high), np.abs(root))
        paid = np.abs(mixture.prices)
        sums = float(dot(pushed, pushed)) + 2.0 * float(dot(most, paid) + np.abs(own).sum())
        value -= 4.0 * rounding(2 * len(self.masses)) * sums
        value -= 16.0 * UNIT * float(dot(pushed, spread) + dot(self.rows.sizes(source.high), paid))
        self.raise_bound(value, mixture.shares, self.rows.stretch)

    def prove_by_moments(self, mixture: Mixture) -> None:
        """Bound every mechanism by the second moments that such lifts can have."""
        shares = np.maximum(mixture.shares, TOLERANCES.close * float(mixture.shares.max()))
        if self.utility.worst:
            shares = shares / shares.sum()
        roots = np.sqrt(shares)
        self.clock.spend(_PROOF * float(len(shares)) ** 4 / _FASTER)
        along, target = self.masses * roots, 1.0 / roots
        if self.ratio is not None:
            value = bound_by_ratio(along, target, self.ratio)
            self.raise_bound(value, shares, 1.0)
            return
        low, high = self.rows.of(self.source.low), self.rows.of(self.source.high)
        terms = (1.0 + np.abs(low)) * (1.0 + np.abs(high))
        moments = low + high - low * high
        moments += rounding(8) * terms * (1.0 + self.rows.sizes(self.source.high))
        value = bound_by_moments(along, target, moments * target**2)
        self.raise_bound(value, shares, self.rows.stretch)

    def raise_bound(self, trace: float, shares: Floats, stretch: float) -> None:
        """Turn a bound of sum_x u_x (K^-1)_xx into one of the cost, if it is better."""
        squares = float(dot(shares, self.masses**2))
        doubt = rounding(len(self.masses)) * (abs(trace) + squares)
        value = (trace - squares - doubt) / stretch**2
        if self.utility.worst:  # a mean of variances, but for what the shares miss of 1
            value /= float(shares.sum()) * (1.0 + rounding(len(shares)))
        self.bound = max(self.bound, value)

    def extend(self, mixture: Mixture) -> None:
        """Leave columns out that are not used, and add profitable ones."""
        weight = dot(mixture.root, mixture.root.T)
        cost = _RoundCost(self.rows, weight)
        slopes = mixture.prices / (self.masses * self.rows.stretch)
        used = mixture.weights > TOLERANCES.visible
        kept = self.columns[used]
        if len(kept) > self.most:
            kept = kept[np.argsort(-mixture.weights[used], kind="stable")[: self.most]]
        found = self.source.search(cost, -slopes, kept, self.clock)
        gains = -cost.costs(found) - dot(self.rows.of(found), mixture.prices)
        room = max(4 * len(self.masses), self.most - len(kept))
        if isinstance(self.source, _List):
            order = _spread_best(gains, room, self.rounds)
        else:  # those that are nearly good help as well
            order = np.argsort(-gains, kind="stable")[:room]
        self.seen += len(order)
        self.columns = _distinct(np.vstack([self.masses[None], kept, found[order]]), self.masses)

    def report_stage(self) -> None:
        if self.clock.watch is not None:
            self.clock.watch(
                SearchStep(
                    stage="searching",
                    cost=self.incumbent[2],
                    bound=self.bound,
                    gap=self.gap,
                    columns=self.seen,
                    seconds=self.clock.elapsed,
                )
            )

    def solution(self) -> Decomposition:
        columns, weights, cost = self.incumbent
        # An interior point leaves a little of every column.
        used = weights > _UNUSED
        rows = self.rows.of(columns[used])
        if int(used.sum()) >= len(self.masses):
            fewer = _settle(rows, weights[used])
            if fewer is not None:
                columns, weights = columns[used], fewer
        return Decomposition(
            columns,
            weights / weights.sum(),
            cost,
            min(self.bound, cost),
            math.inf,
            self.seen,
            self.rounds,
            self.clock.elapsed,
            self.stopped,
        )


def _spread_best(gains: Floats, number: int, seed: int) -> npt.NDArray[np.intp]:
    """Return places of gains: the largest of all, and the largest of groups drawn at random.

    The best ones are much alike, and those that differ from them help as well.
    """
    good = np.flatnonzero(gains > 0)
    best: npt.NDArray[np.intp] = good[np.argsort(-gains[good], kind="stable")]
    if len(best) <= number:
        return best
    groups = np.random.default_rng(seed).permutation(len(best)) % number
    _, places = np.unique(groups, return_index=True)  # the first of each group is its best
    return best[np.union1d(places, np.arange(number // 4))]


def _distinct(columns: Floats, masses: Floats) -> Floats:
    """Return the columns without those that are there already, to rounding, in their order."""
    _, places = np.unique(np.round(columns / masses, 10), axis=0, return_index=True)
    chosen: Floats = columns[np.sort(places)]
    return chosen


# --- the weights of given posteriors --------------------------------------------------------------


@dataclass(frozen=True)
class Mixture:
    """Weights of rows, the inverse M of their matrix, prices of their mean, shares of values."""

    weights: Floats
    inverse: Floats
    prices: Floats
    shares: Floats
    """How much each variance counts: 1 for their sum; of the worst they sum to 1."""

    @property
    def root(self) -> Floats:
        """M sqrt(u), whose square is the gradient of the cost by the matrix, but for its sign."""
        found: Floats = self.inverse * np.sqrt(self.shares)
        return found


_STEPS = 60
_INSIDE = 0.995


def mix(
    rows: Floats, masses: Floats, clock: Clock, *, worst: bool = False, close: float = 0.0
) -> Mixture | None:
    """Minimise the variances of weights w >= 0 of rows r_k, with sum_k w_k r_k = 1.

    A primal-dual interior point that predicts and corrects (Mehrotra 1992). With M the inverse of
    sum_k w_k r_k r_k' and shares u, the cost u . diag(M) falls by (r_k' M)^2 . u with w_k, and its
    second derivative is 2 (r_k' M r_j)(r_k' M diag(u) M r_j). The worst value is the least t with
    M_xx - P(x)^2 <= t for all x, whose prices are the shares. It ends within the share `close` of
    the optimum; None if it did not get anywhere.

    >>> ends = np.array([[1.5, 0.5], [0.5, 1.5], [1.0, 1.0]])
    >>> mix(ends, np.array([0.5, 0.5]), Clock()).weights.round(6).tolist()
    [0.5, 0.5, 0.0]
    """
    state = _State.start(rows, masses, worst=worst)
    found: Mixture | None = None
    count, size = rows.shape
    for _ in range(_STEPS):
        clock.spend((count**3 / 3 + 3 * count**2 * size) / _FASTER + PASS * count)
        if state is None:
            break
        if float(np.abs(state.short).max()) <= TOLERANCES.visible and state.shares_sum_up:
            found = Mixture(state.point, state.inverse, -state.duals, state.shares)
            # Prices that are wrong prove nothing, however little is left.
            doubt = state.left + float(np.abs(state.wrong).max())
            if doubt <= max(close, TOLERANCES.solver) * state.cost or clock.left <= 0:
                break
        state = state.step()
    return None if found is None else _polish(rows, found)


@dataclass(frozen=True)
class _State:
    """Where the interior point stands."""

    rows: Floats
    masses: Floats
    worst: bool
    point: Floats
    duals: Floats
    slack: Floats
    shares: Floats
    room: Floats
    """t - variances, kept positive; of no meaning for their sum."""
    level: float
    """t."""
    inverse: Floats
    pushed: Floats
    """r_k' M."""

    @classmethod
    def start(cls, rows: Floats, masses: Floats, *, worst: bool) -> _State | None:
        """Begin with equal weights."""
        count, size = rows.shape
        point = np.full(count, 1.0 / count)
        nothing = np.zeros(0)
        none = np.zeros(size)
        shares = np.full(size, 1.0 / size if worst else 1.0)
        begun = cls(rows, masses, worst, point, none, nothing, shares, none, 0.0, none, none).at(
            point
        )
        if begun is None:
            return None
        slack = np.full(count, float(dot(begun.pushed**2, shares).mean()))
        variances = begun.variances
        level = 1.5 * float(variances.max())
        return replace(begun, slack=slack, level=level, room=level - variances)

    def at(self, point: Floats, **changes: Any) -> _State | None:
        """Move to other weights; None if their matrix cannot be inverted."""
        inverse = _inverse(self.rows, point)
        if not np.isfinite(inverse).all():
            return None
        return replace(
            self, point=point, inverse=inverse, pushed=dot(self.rows, inverse), **changes
        )

    @property
    def variances(self) -> Floats:
        """The variance of each share."""
        found: Floats = np.diagonal(self.inverse) - self.masses**2
        return found

    @property
    def short(self) -> Floats:
        """How far the mean of the rows is from 1."""
        found: Floats = 1.0 - dot(self.point, self.rows)
        return found

    @property
    def shares_sum_up(self) -> bool:
        """Whether the shares of the values, and the level, are what they claim to be."""
        if not self.worst:
            return True
        off = np.abs(self.level - self.variances - self.room).max()
        return abs(float(self.shares.sum()) - 1.0) <= TOLERANCES.visible and bool(
            off <= TOLERANCES.close * self.level
        )

    @property
    def cost(self) -> float:
        """What is made small."""
        return float(self.variances.max() if self.worst else self.variances.sum())

    @property
    def wrong(self) -> Floats:
        """How far the prices of the rows and of their mean are from the gradient."""
        found: Floats = -dot(self.pushed**2, self.shares) - dot(self.rows, self.duals) - self.slack
        return found

    @property
    def left(self) -> float:
        """The sum of the products of all limits with their prices, 0 at the optimum."""
        left = float(dot(self.point, self.slack))
        return left + (float(dot(self.shares, self.room)) if self.worst else 0.0)

    def step(self) -> _State | None:
        """Predict, correct, and go there; None if rounding allows no more."""
        system = _System(self)
        limits = len(self.point) + (len(self.shares) if self.worst else 0)
        mean = self.left / limits
        first = system.solve(-self.point * self.slack, -self.shares * self.room)
        primal, dual = system.lengths(first)
        reached = float(dot(self.point + primal * first.point, self.slack + dual * first.slack))
        if self.worst:
            reached += float(
                dot(self.shares + dual * first.shares, self.room + primal * first.room)
            )
        target = (max(reached, 0.0) / (limits * mean)) ** 3 * mean
        moved = system.solve(
            target - self.point * self.slack - first.point * first.slack,
            target - self.shares * self.room - first.shares * first.room,
        )
        primal, dual = system.lengths(moved)
        length = _INSIDE * min(primal, dual)
        if not length > TOLERANCES.close or not np.isfinite(moved.point).all():
            return None
        changes: dict[str, Any] = {
            "duals": self.duals + length * moved.duals,
            "slack": self.slack + length * moved.slack,
        }
        if self.worst:
            changes["shares"] = self.shares + length * moved.shares
            changes["level"] = self.level + length * moved.level
            changes["room"] = self.room + length * moved.room
        return self.at(self.point + length * moved.point, **changes)


@dataclass(frozen=True)
class _Change:
    """A change of everything."""

    point: Floats
    duals: Floats
    slack: Floats
    shares: Floats
    room: Floats
    level: float


class _System:
    """The equations of one Newton step."""

    def __init__(self, at: _State) -> None:
        self.at = at
        count = len(at.point)
        weighted = at.pushed * at.shares
        bend = 2.0 * dot(at.pushed, at.rows.T) * dot(weighted, at.pushed.T)
        self.falls: Floats = at.pushed**2
        self.sides = at.rows
        if at.worst:
            self.weights = at.shares / at.room
            bend += dot(self.falls * self.weights, self.falls.T)
            self.sides = np.hstack([at.rows, -dot(self.falls, self.weights)[:, None]])
        bend[np.arange(count), np.arange(count)] += at.slack / at.point
        self.factors = LUFactors.of(bend)
        self.across = self.factors.solve(self.sides)
        inner = dot(self.sides.T, self.across)
        if at.worst:
            inner[-1, -1] -= float(self.weights.sum())
        self.inner = LUFactors.of(inner)

    def solve(self, products: Floats, others: Floats) -> _Change:
        """Return the change that brings the products of limits and prices where they should be."""
        at = self.at
        right = -at.wrong + products / at.point
        goal = at.short
        if at.worst:
            # The room of the change also makes up for what t - variances differs from it.
            pressed = others / at.room
            missed = self.weights * (at.level - at.variances - at.room)
            right = right + dot(self.falls, pressed - missed)
            goal = np.append(goal, 1.0 - at.shares.sum() - pressed.sum() + missed.sum())
        own = self.factors.solve(right)
        turn = self.inner.solve(goal - dot(own, self.sides))
        step = own + dot(self.across, turn)
        slack = (products - at.slack * step) / at.point
        nothing = np.zeros_like(at.shares)
        if not at.worst:
            return _Change(step, turn, slack, nothing, nothing, 0.0)
        level = float(turn[-1])
        room = (at.level - at.variances - at.room) + level + dot(step, self.falls)
        shares = (others - at.shares * room) / at.room
        return _Change(step, turn[:-1], slack, shares, room, level)

    def lengths(self, change: _Change) -> tuple[float, float]:
        """Return how far weights, and how far prices, can go before one of them is 0."""
        at = self.at
        primal, dual = _length(at.point, change.point), _length(at.slack, change.slack)
        if at.worst:
            primal = min(primal, _length(at.room, change.room))
            dual = min(dual, _length(at.shares, change.shares))
        return primal, dual


def _inverse(rows: Floats, weights: Floats) -> Floats:
    """Return the inverse of sum_k w_k r_k r_k', symmetric."""
    inverse = LUFactors.of(dot((rows * weights[:, None]).T, rows)).solve(np.eye(rows.shape[1]))
    symmetric: Floats = (inverse + inverse.T) / 2.0
    return symmetric


def _length(values: Floats, change: Floats) -> float:
    """Return how far one can go, up to 1, before a value is 0."""
    least = float((change / values).min(initial=0.0))
    return 1.0 if least > -1.0 else -1.0 / least


def _polish(rows: Floats, found: Mixture) -> Mixture:
    """Bring the mean of the rows to 1, to rounding."""
    weights = _settle(rows, np.where(found.weights > TOLERANCES.hair, found.weights, 0.0))
    if weights is None:
        return found
    return replace(found, weights=weights, inverse=_inverse(rows, weights))


def _settle(rows: Floats, weights: Floats) -> Floats | None:
    """Bring the mean of the rows to 1 by a small change of every weight; None if it is large.

    >>> _settle(np.array([[1.5, 0.5], [0.5, 1.5]]), np.array([0.50001, 0.5])).round(9).tolist()
    [0.5, 0.5]
    """
    for _ in range(3):
        share = dot(_inverse(rows, weights), 1.0 - dot(weights, rows))
        factors = 1.0 + dot(rows, share)
        if not np.isfinite(factors).all() or np.abs(factors - 1.0).max() > 0.1:
            return None
        weights = weights * factors
    return weights


# --- a bound without a search ---------------------------------------------------------------------

_DIGITS = 16
"""Bits of the numbers of a proof: coarse enough to be the same on every machine."""


def bound_by_moments(along: Floats, target: Floats, moments: Floats) -> float:
    """Return a lower bound of tr J^-1 over all J with J along = target and J_xx <= moments_x.

    For every S = diag(d) + c along' + along c' with d >= 0, and every M with M M' <= S,

        tr J^-1 >= 2 tr M - tr(S J) >= 2 tr M - d . moments - 2 c . target.

    The best S is searched by Newton steps; of what they find a few digits are taken, and the bound
    of these is computed afresh, with all that rounding may be off.

    >>> round(bound_by_moments(np.full(4, 0.25), np.ones(4), np.full(4, 1.5)), 6)
    4.75
    """
    found = _best_moments(along, target, moments, 0.0)
    if found is None:
        return -math.inf
    scale, shift = found
    matrix = np.diag(scale) + shift[:, None] * along + along[:, None] * shift
    most = np.diag(scale) + np.abs(shift)[:, None] * along + along[:, None] * np.abs(shift)
    bounded = _root_below(matrix, most)
    if bounded is None:
        return -math.inf
    trace, off = bounded
    terms = (scale + off) * moments
    value = trace - float(terms.sum()) - 2.0 * float(dot(shift, target))
    total = abs(trace) + float(np.abs(terms).sum()) + 2.0 * float(dot(np.abs(shift), target))
    return value - rounding(4 * len(along)) * total


def bound_by_ratio(along: Floats, target: Floats, ratio: float) -> float:
    """Return a lower bound of tr J^-1 over all that keep LDP: lifts of an output differ by E.

    With f = d target, D = sum d target^2 and k = (E + 1)^2 / (4 E), for M M' <= S + off I,

        S = diag(d) + c along' + along c' - k f f' / D,   tr J^-1 >= 2 tr M - 2 c . target
                                                                     - off sum_x E^2 target_x^2.

    >>> size, e = 12, 3.0
    >>> bound = bound_by_ratio(np.full(size, 1 / size), np.ones(size), e)
    >>> round(bound - 1 / size, 6), round(4 * e / (e - 1) ** 2 * (size - 1) ** 2 / size, 6)
    (30.25, 30.25)
    """
    bend = (ratio + 1.0) ** 2 / (4.0 * ratio) * (1.0 + 16.0 * UNIT)
    found = _best_moments(along, target, np.zeros(len(along)), bend)
    if found is None:
        return -math.inf
    scale, shift = found
    force, whole = scale * target, float((scale * target**2).sum())
    matrix = np.diag(scale) + shift[:, None] * along + along[:, None] * shift
    most = np.diag(scale) + np.abs(shift)[:, None] * along + along[:, None] * np.abs(shift)
    pull = bend * force[:, None] * force / whole
    bounded = _root_below(matrix - pull, most + pull)
    if bounded is None:
        return -math.inf
    trace, off = bounded
    value = trace - 2.0 * float(dot(shift, target)) - off * float(((ratio * target) ** 2).sum())
    total = abs(trace) + 2.0 * float(dot(np.abs(shift), target))
    return value - rounding(4 * len(along)) * total


def _root_below(matrix: Floats, sizes: Floats) -> tuple[float, float] | None:
    """Return 2 tr M and a number `off` with M M' <= matrix + off I, for some M near its root.

    `sizes` are those of the terms that the matrix was added up from.
    """
    if not np.isfinite(matrix).all():
        return None
    root = _square_root(matrix)
    if root is None:
        return None
    doubt = rounding(len(matrix)) * (dot(np.abs(root), np.abs(root)) + sizes)
    off = float(np.sqrt(((np.abs(dot(root, root) - matrix) + doubt) ** 2).sum()))
    return 2.0 * float(np.trace(root)), off


def _best_moments(
    along: Floats, target: Floats, moments: Floats, bend: float
) -> tuple[Floats, Floats] | None:
    """Maximise 2 tr S^(1/2) - d . moments - 2 c . target, which is concave, over d > 0 and c.

    S = diag(d) + c along' + along c' - bend f f' / D as above. By Newton steps, with logarithms
    that keep d and S positive. It proposes only: its last digits may be others on another machine,
    and are cut off.
    """
    size = len(along)
    root = _Root(along, target, moments, bend)
    # S = diag(d), whatever the bend, in the best of all units.
    shape = along / target
    unit = (float(np.sqrt(shape).sum()) / (bend + float(shape @ moments))) ** 2
    point = unit * np.concatenate([shape, bend * along / 2.0])
    barrier = 1.0
    while barrier > 1e-11:
        for _ in range(20):
            here = root.at(point, barrier)
            if here is None:
                return None
            gradient, second = here.slope()
            try:
                step = np.linalg.solve(second, gradient)
            except np.linalg.LinAlgError:
                break
            rise = float(gradient @ step)
            if not rise > 1e-12 * abs(here.value):
                break
            length = 1.0
            while length > 1e-9:
                there = root.at(point + length * step, barrier)
                if there is not None and there.value > here.value + 1e-4 * length * rise:
                    break
                length /= 2.0
            else:
                break
            point = point + length * step
        barrier /= 10.0
    digits, powers = np.frexp(point)
    coarse = np.ldexp(np.round(np.ldexp(digits, _DIGITS)), powers - _DIGITS)
    return coarse[:size], coarse[size:]


@dataclass(frozen=True)
class _Root:
    """The function that is made large, and its derivatives."""

    along: Floats
    target: Floats
    moments: Floats
    bend: float

    def at(self, point: Floats, barrier: float) -> _RootAt | None:
        """Return it at a point; None where it is not defined."""
        size = len(self.along)
        scale, shift = point[:size], point[size:]
        if not np.isfinite(point).all() or scale.min() <= 0:
            return None
        force, whole = scale * self.target, float(scale @ self.target**2)
        matrix = np.diag(scale) + np.outer(shift, self.along) + np.outer(self.along, shift)
        matrix -= self.bend * np.outer(force, force) / whole
        values, vectors = np.linalg.eigh(matrix)
        if values.min() <= 0:
            return None
        roots = np.sqrt(values)
        value = 2.0 * roots.sum() - scale @ self.moments - 2.0 * shift @ self.target
        value += barrier * (np.log(scale).sum() + np.log(values).sum())
        return _RootAt(self, scale, barrier, roots, vectors, float(value))


@dataclass(frozen=True)
class _RootAt:
    """The function at one point."""

    of: _Root
    scale: Floats
    barrier: float
    roots: Floats
    vectors: Floats
    value: float

    def slope(self) -> tuple[Floats, Floats]:
        """Return the gradient, and the second derivative with its sign turned, or nearly."""
        of, roots, vectors, scale = self.of, self.roots, self.vectors, self.scale
        size = len(roots)
        inverse = (vectors * (1.0 / roots + self.barrier / roots**2)) @ vectors.T
        force, whole = scale * of.target, float(scale @ of.target**2)
        lead = inverse @ force
        pull = of.bend / whole
        first = np.diagonal(inverse) - of.moments + self.barrier / scale
        first = first - 2.0 * pull * of.target * lead
        first = first + pull * of.target**2 * float(force @ lead) / whole
        gradient = np.concatenate([first, 2.0 * (inverse @ of.along - of.target)])
        # In the basis of S: the derivatives of S by each number, and those of its root.
        turned, forced = of.along @ vectors, force @ vectors
        each = vectors[:, :, None] * vectors[:, None, :]
        both = vectors[:, :, None] * forced + forced[:, None] * vectors[:, None, :]
        each = each - pull * of.target[:, None, None] * both
        each = each + pull / whole * (of.target**2)[:, None, None] * np.outer(forced, forced)
        tilted = vectors[:, :, None] * turned + turned[:, None] * vectors[:, None, :]
        parts = np.concatenate([each, tilted]).reshape(2 * size, -1)
        products = np.outer(roots, roots)
        kernel = 1.0 / (products * (roots[:, None] + roots)) + self.barrier / products**2
        second = (parts * kernel.ravel()) @ parts.T
        places = np.arange(size)
        second[places, places] += self.barrier / scale**2
        # What S itself is curved by: f f' / D is convex.
        second[:size, :size] += 2.0 * pull * self._curvature(inverse, lead, force, whole)
        second[np.arange(2 * size), np.arange(2 * size)] *= 1.0 + 1e-10
        return gradient, second

    def _curvature(self, inverse: Floats, lead: Floats, force: Floats, whole: float) -> Floats:
        target = self.of.target
        cross = np.outer(target * lead, target**2) / whole
        own = np.outer(target, target) * inverse
        end = np.outer(target**2, target**2) * float(force @ lead) / whole**2
        found: Floats = own - cross - cross.T + end
        return found


def _square_root(matrix: Floats) -> Floats | None:
    """Return the symmetric root of a positive matrix, to rounding, by products and inverses alone.

    Denman and Beavers (1976).
    """
    root, other, whole = matrix, np.eye(len(matrix)), np.eye(len(matrix))
    for _ in range(60):
        first, second = LUFactors.of(root).solve(whole), LUFactors.of(other).solve(whole)
        moved, other = (root + second) / 2.0, (other + first) / 2.0
        if not np.isfinite(moved).all():
            return None
        change = float(np.abs(moved - root).max())
        root = (moved + moved.T) / 2.0
        if change <= TOLERANCES.zero * float(np.abs(root).max()):
            break
    return root
