"""The least loss of a number when the secret is X itself: few outputs, found by their places.

The cost of a posterior is its least mean loss over places a on the line,

    c(v) = min over a of sum_x v_x d(x, a),

the variance for squared and the mean distance from the median for absolute loss. For given places
the best channel is one problem of `InteriorPointMethod`. Its prices give a curve over all places
that proves how much is left to gain, and the dips of the curve are the places to add. With very
many symbols neighbours are joined first: what is found there starts the search on all of them.
"""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt

from liftlock._runtime.clock import MOMENT, SEARCHING, Clock, Ending, SearchStep
from liftlock._solver.box import Box
from liftlock._solver.column_generation import Decomposition
from liftlock._solver.interior_point import Band, InteriorPointMethod
from liftlock._solver.limits import LIMITS
from liftlock._solver.numeric_losses import AbsoluteLoss, LineLoss, SquaredLoss, window_posteriors
from liftlock._solver.pricing import Curve
from liftlock._solver.problem import Problem
from liftlock.errors import extra
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot
from liftlock.exact.rounding import rounding
from liftlock.exact.tolerances import TOLERANCES
from liftlock.utility.base import Utility, Variance, cost_error
from liftlock.utility.mean import points_of

_EACH = 3.0
"""Places to begin with, for each least output mass that fits into the population."""

_COARSE = 384
"""Of many symbols neighbours are joined, to so many groups, before the search."""

_BANDWIDTH = 4.0
"""Initial support of an output, in multiples of the least output mass; doubled if it stalls."""

_STUCK = 3
"""Rounds without a gain after which outputs may speak of more inputs, or the search ends."""

_ROUGH = 0.003
"""How exactly given places are solved, as a share of the gap at hand."""

_PATIENCE = 120.0
"""Seconds after which a search without a time limit ends with the gap that it has proved."""

_UNUSED = 1e-3
"""Outputs with a smaller share of a crowd than this are not worth a place of their own."""

_SPARE = 0.7
"""What merging outputs may cost, as a share of what is left of the gap asked for."""


def least_loss(problem: Problem, utility: Utility, clock: Clock) -> Decomposition:
    """Find the decomposition of the prior with the least mean cost, squared or absolute."""
    with extra("solver"):
        from threadpoolctl import threadpool_limits

    shape = utility.shape
    squared = isinstance(shape, Variance)
    points = (
        shape.points if isinstance(shape, Variance) else points_of(problem.inputs, utility.name)
    )
    order = np.argsort(points, kind="stable")
    low, high = float(points.min()), float(points.max())
    # Numbers of any size are brought to a range of 1, or linear equations lose their digits.
    scaled = (points[order] - (low + high) / 2.0) / (high - low if high > low else 1.0)
    search = PlacementSearch(
        problem.masses[order],
        scaled,
        (problem.lower, problem.upper),
        clock,
        squared=squared,
        unit=(high - low) ** (2 if squared else 1),
    )
    try:
        # The matrices are small: threads would wait for each other more than they work.
        with threadpool_limits(limits=1, user_api="blas"):
            search.solve()
    except KeyboardInterrupt:
        search.keep_best_on_interrupt()
    columns, weights, cost = search.merge_outputs()
    back = np.empty_like(columns)
    back[:, order] = columns
    bound = min(search.bound, cost) * search.unit * (1.0 - rounding(0))
    if search.simplex:
        # Of the numbers themselves, as those that were scaled differ from them by rounding.
        best = np.empty_like(search.best[0])
        best[:, order] = search.best[0]
        least = float(dot(search.best[1], utility.costs(best)))
        bound = least - float(cost_error(utility, least, len(order), len(order)))
    return Decomposition(
        back,
        weights,
        cost * search.unit,
        bound,
        search.reference * search.unit,
        search.seen,
        search.rounds,
        clock.elapsed,
        search.stopped,
    )


class PlacementSearch:
    """The search on one line of numbers, which ascend and have a range of about 1."""

    def __init__(
        self,
        masses: Floats,
        points: Floats,
        limits: tuple[float, float],
        clock: Clock,
        *,
        squared: bool,
        unit: float = 1.0,
    ) -> None:
        self.masses, self.clock, self.unit, self.squared = masses, clock, unit, squared
        self.limits = limits
        self.lower = limits[0]
        box = Box(masses, *limits)
        self.loss: LineLoss = SquaredLoss(box, points) if squared else AbsoluteLoss(box, points)
        # A posterior of 1 is the most there is.
        upper = min(limits[1], 1.0 / float(masses.min()))
        self.crowd = (1.0 - self.lower) / (upper - self.lower)
        self.reference = max(float(self.loss.best_places(masses[None, :])[1][0]), 0.0)
        self.bound, self.rounds, self.seen = 0.0, 0, 1
        self.reach = _BANDWIDTH
        self.fine, self.gain = clock.gap, 1.0
        self.stopped: Ending = ""
        self.prices: Floats | None = None
        self.best = (masses[None, :].copy(), np.ones(1), self.reference)
        self._cover: InteriorPointMethod | None = None
        self._coarse: tuple[PlacementSearch, npt.NDArray[np.intp]] | None = None
        self.simplex = False
        """Whether the posteriors are a simplex, so that the decomposition is known to be best."""
        self._told = -np.inf

    @property
    def gap(self) -> float:
        """The proved relative gap."""
        return (self.best[2] - self.bound) / self.reference if self.reference > 0 else 0.0

    def solve(self) -> None:
        """Search until the gap is small enough or the time is over."""
        if self.reference <= 0:
            return
        if self.crowd <= float(self.masses.min()) * (1.0 + TOLERANCES.hair):
            self._offer_truth()
            return
        count = int(min(max(LIMITS.places, _EACH / self.crowd), len(self.masses) + LIMITS.places))
        crowds = window_posteriors(self.loss.box, count)
        places, costs = self.loss.best_places(crowds)
        # A small budget gains little: what counts as near must be little of that.
        gain = max(self.reference - float(costs.mean()), float(places.var()), 0.0)
        self.gain = gain / self.reference
        self.fine = min(self.clock.gap, TOLERANCES.share * self.gain)
        if len(self.masses) > LIMITS.many_numbers:
            places = np.concatenate([places, self._solve_coarse()])
        self._run(self._drop_near_duplicates(places))

    def _offer_truth(self) -> None:
        """Tell the truth as often as the lower limit allows, where one symbol is a crowd.

        The posteriors are a simplex then, so there is one decomposition into extreme ones, and it
        is the best for every cost.
        """
        columns = np.tile(self.lower * self.masses, (len(self.masses), 1))
        columns[np.diag_indices(len(self.masses))] += 1.0 - self.lower
        cost = float(dot(self.masses, self.loss.best_places(columns)[1]))
        self.best = (columns, self.masses.copy(), cost)
        self.bound, self.simplex = cost, True

    def _solve_coarse(self) -> Floats:
        """Solve with neighbours joined; return the places found."""
        middle = np.cumsum(self.masses) - self.masses / 2.0
        _, group = np.unique((middle * _COARSE).astype(np.intp), return_inverse=True)
        masses = np.bincount(group, self.masses).astype(np.float64)
        means = np.bincount(group, self.masses * self.loss.points) / masses
        clock = self.clock.part(1.0 - SEARCHING, gap=max(self.clock.gap, 1e-5))
        clock.watch = None if self.clock.watch is None else lambda _: self._report_progress()
        coarse = PlacementSearch(
            masses, means, self.limits, clock, squared=self.squared, unit=self.unit
        )
        self._coarse = coarse, group
        coarse.solve()
        self.clock.spend(clock.work)
        self._adopt_coarse()
        if coarse.prices is not None:
            self._prove(np.interp(self.loss.points, means, coarse.prices))
        self._report_progress(now=True)
        columns, weights, _ = coarse.best
        places = coarse.loss.best_places(columns)[0]
        return self.loss.snap(places[weights > _UNUSED * self.crowd])

    def _adopt_coarse(self) -> None:
        """Let all of a group answer alike: its lifts are those of the group, and keep limits."""
        if self._coarse is None:
            return
        coarse, group = self._coarse
        columns, weights, _ = coarse.best
        spread = (columns / coarse.masses)[:, group] * self.masses
        self._offer((spread * weights[:, None]).T)

    def _run(self, places: Floats) -> None:
        """Solve for places, prove, and add the dips of the curve, round by round."""
        base, found, stuck = places, places[:0], 0
        while self.gap > self.clock.gap and not self.stopped:
            before = self.gap
            self.rounds += 1
            prices, outputs = self._solve(places)
            curve = self._prove(prices)
            self._report_progress(now=True)
            late = not self._searching
            stuck = stuck + 1 if self.gap > 0.9 * before else 0
            if stuck >= _STUCK and self.reach * self.crowd < 1.0:
                self.reach, stuck = 2.0 * self.reach, 0
            if self.gap > self.clock.gap and (late or stuck >= _STUCK):
                self.stopped = self.clock.ended or ("work" if late else "stuck")
            below = -TOLERANCES.share * self.fine * self.reference
            # Dips are never dropped: without the old ones the prices would go in circles.
            found = np.concatenate([found, self.loss.find_dips(curve, prices, places, below)])
            places = self._drop_near_duplicates(np.concatenate([base, outputs, found]))

    @property
    def _searching(self) -> bool:
        """Whether there is work left for another step."""
        clock = self.clock
        return clock.searching and (clock.seconds is not None or clock.spent < _PATIENCE)

    def _solve(self, places: Floats) -> tuple[Floats, Floats]:
        """Return the prices for some places, and where the outputs in use would rather be."""
        losses = self.loss.table(places)
        costs = (1.0 - self.lower) * losses + self.lower * dot(losses, self.masses)[:, None]
        cover = self._cover = self._start(places, costs)
        goal = self.reference * max(
            TOLERANCES.share * self.fine, _ROUGH * min(self.gap, 0.03 * self.gain)
        )
        while cover.slack > goal and self._searching:
            if not cover.step():
                break
            self.clock.spend(cover.operations)
            self._report_progress()
        self.seen += len(places)
        self._cover = None
        joint = self._channel(cover).T * self.masses[:, None]
        self._offer(joint)
        outputs = self._gather_places(joint)
        worth = cover.prices
        return (worth - self.lower * dot(worth, self.masses)) / (1.0 - self.lower), outputs

    def _start(self, places: Floats, costs: Floats) -> InteriorPointMethod:
        """Let outputs speak of their neighbourhood, as wide as it has to be."""
        # A symbol that is heavier than a crowd is as far across as a crowd.
        widths = np.minimum(self.masses, self.crowd)
        ends = np.cumsum(widths)
        whole = float(ends[-1])
        where = np.interp(places, self.loss.points, ends - widths / 2.0)
        borders = np.concatenate([[0.0], (where[1:] + where[:-1]) / 2.0, [whole]])
        sizes = np.maximum(np.diff(borders), 0.05 * whole / len(places))
        reach = self.reach * self.crowd
        while reach < whole:
            begin = np.clip(where - reach / 2.0, 0.0, whole - reach)
            first = np.searchsorted(ends, begin, side="right")
            last = np.searchsorted(ends, begin + reach * (1.0 - TOLERANCES.hair), side="left") + 1
            last = np.minimum(last, len(ends))
            band = Band(self.masses, np.minimum(first, len(ends) - 1), last)
            cover = InteriorPointMethod(self.masses, costs, self.crowd, band=band, sizes=sizes)
            if cover.feasible:
                return cover
            reach *= 2.0
        return InteriorPointMethod(self.masses, costs, self.crowd)

    def _channel(self, cover: InteriorPointMethod) -> Floats:
        shares = cover.shares
        constant = self.lower * dot(shares, self.masses)
        channel: Floats = constant[:, None] + (1.0 - self.lower) * shares
        return channel

    def _gather_places(self, joint: Floats) -> Floats:
        """Return the places of outputs in use, those that are nearly the same taken together."""
        weights = joint.sum(axis=0)
        joint = joint[:, weights > _UNUSED * self.crowd]
        if not joint.size:
            return self.loss.points[:0]
        places = self.loss.best_places((joint / joint.sum(axis=0)).T)[0]
        order = np.argsort(places, kind="stable")
        near = 8.0 * self._near if self.squared else 0.0
        starts = np.flatnonzero(np.concatenate([[True], np.diff(places[order]) > near]))
        together = np.add.reduceat(joint[:, order], starts, axis=1)
        return self.loss.best_places((together / together.sum(axis=0)).T)[0]

    @property
    def _near(self) -> float:
        """How near squared losses cannot tell places apart, at the gap that is asked for."""
        return 0.5 * float(np.sqrt(0.4 * self.fine * self.reference))

    def _drop_near_duplicates(self, places: Floats) -> Floats:
        """Drop places that are (nearly) the same."""
        ordered = np.unique(places)
        if not self.squared:
            return ordered
        chosen = [float(ordered[0])]
        for place in ordered.tolist():
            if place > chosen[-1] + self._near:
                chosen.append(place)
        return np.array(chosen)

    def _offer(self, joint: Floats) -> None:
        """Take a mechanism if it is the best so far; rows of P(x, y) are made to sum to P(x)."""
        joint = joint * (self.masses / joint.sum(axis=1))[:, None]
        weights = joint.sum(axis=0)
        joint, weights = joint[:, weights > 0], weights[weights > 0]
        columns = (joint / weights).T
        cost = float(dot(weights, self.loss.best_places(columns)[1]))
        if cost < self.best[2]:
            self.best = (columns, weights, cost)

    def _prove(self, prices: Floats) -> Curve:
        """Bound the optimum with some prices."""
        goal = -0.1 * self.fine * self.reference
        curve = self.loss.curve(prices, goal, self.clock)
        worth = float(dot(prices, self.masses))
        worth -= rounding(len(prices)) * float(dot(np.abs(prices), self.masses))
        if worth + curve.bound > self.bound or self.prices is None:
            self.bound, self.prices = max(self.bound, worth + curve.bound), prices
        return curve

    def keep_best_on_interrupt(self) -> None:
        """Keep what there is when somebody stops the search."""
        self.stopped = "interrupt"
        if self._coarse is not None:
            coarse = self._coarse[0]
            if coarse._cover is not None:
                coarse._offer(coarse._channel(coarse._cover).T * coarse.masses[:, None])
            self._adopt_coarse()
        if self._cover is not None:
            self._offer(self._channel(self._cover).T * self.masses[:, None])

    def merge_outputs(self) -> tuple[Floats, Floats, float]:
        """Merge rare and near-duplicate outputs; merging preserves every lift limit."""
        columns, weights, _ = self.best
        places = self.loss.best_places(columns)[0]
        order = np.argsort(places, kind="stable")
        joint = columns[order] * weights[order, None]
        spare = _SPARE * (self.clock.gap - self.gap)
        allowed = max(TOLERANCES.share * self.clock.gap, spare) * self.reference
        # A small budget gains little, and must not lose that.
        allowed = min(allowed, TOLERANCES.share * (self.reference - self.best[2]))
        while len(joint) > 1:
            each = self._total(joint)
            rise = np.maximum(self._total(joint[1:] + joint[:-1]) - each[1:] - each[:-1], 0.0)
            chosen = _choose_disjoint_pairs(rise, allowed)
            if not len(chosen):
                break
            allowed -= float(rise[chosen].sum())
            joint[chosen] += joint[chosen + 1]
            joint = np.delete(joint, chosen + 1, axis=0)
        weights = joint.sum(axis=1)
        columns = joint / weights[:, None]
        return columns, weights, float(dot(weights, self.loss.best_places(columns)[1]))

    def _total(self, joint: Floats) -> Floats:
        weights = joint.sum(axis=1)
        total: Floats = weights * self.loss.best_places(joint / weights[:, None])[1]
        return total

    def _report_progress(self, *, now: bool = False) -> None:
        """Report now and then, so that whoever waits sees the gap fall."""
        if self.clock.watch is None or (not now and time.monotonic() < self._told + MOMENT):
            return
        self._told = time.monotonic()
        cost, bound = self.best[2] * self.unit, self.bound * self.unit
        stage = "places" if self._coarse is None or self.rounds else "neighbours joined"
        self.clock.watch(
            SearchStep(
                stage=stage,
                cost=cost,
                bound=bound,
                gap=self.gap,
                columns=self.seen,
                seconds=self.clock.elapsed,
            )
        )


def _choose_disjoint_pairs(rise: Floats, allowed: float) -> npt.NDArray[np.intp]:
    """Return the cheapest pairs of neighbours, no two sharing one, that cost less than allowed."""
    chosen: list[int] = []
    taken = np.zeros(len(rise) + 1, dtype=bool)
    spent = 0.0
    for pair in np.argsort(rise, kind="stable"):
        if spent + rise[pair] > allowed:
            break
        if not (taken[pair] or taken[pair + 1]):
            taken[pair] = taken[pair + 1] = True
            chosen.append(int(pair))
            spent += float(rise[pair])
    return np.array(sorted(chosen), dtype=np.intp)
