"""Posteriors when the secret is X itself: a box and a simplex, and pricing like a knapsack.

The lift limits are bounds on v, so

    Pi = {v : L P <= v <= U P, sum v = 1}

and a vertex has all coordinates but one at an end. Choosing which symbols are raised is a knapsack:
raising x from its low to its high end costs g_x(high) - g_x(low) and takes high - low of the mass
that is free. The utilities differ in the shape of c:

- separable (entropy, squares): the chords of g bound every vertex from below, and the bound is
  missed by the one symbol between its ends only; a depth-first search closes what is left;
- posterior variance: -m^2 = min over a of (a^2 - 2 a m), so one number a makes it linear;
- a least of linear costs (guessing, distortion): one linear knapsack for each of them;
- any other concave cost: linearised again and again, and bounded by its values at the corners of
  the simplex around Pi.

Source: 000 section IV; 001 Thm 4; 002 eq. (25) with S = X.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from liftlock._solver.oracle import Clock, Priced
from liftlock._solver.problem import Problem
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot, log
from liftlock.exact.rounding import rounding
from liftlock.utility.distortion import Distortion
from liftlock.utility.guess import Guess
from liftlock.utility.histogram import Histogram
from liftlock.utility.mean import Mean
from liftlock.utility.mutual_information import MutualInformation
from liftlock.utility.utility import Utility

Places: TypeAlias = npt.NDArray[np.intp]

_HAIR = 2.0**-46
"""What the sum of up to a thousand probabilities may be off by, with room to spare."""

_STARTS = 128
"""Random starts of a search."""

_PER_START = 20
"""Passes over all pairs of symbols that one start of a search is counted as."""

_FEW = 24
"""Up to so many symbols the depth-first search is asked for (almost) the exact minimum."""

_CELLS = 1 << 22
"""Entries of the arrays worked on at a time."""


class Box:
    """{v : low <= v <= high, sum v = 1}, with the ends drawn in to what some v attains, or nearly.

    >>> box = Box(np.array([0.25, 0.75]), 0.5, 2.0)
    >>> box.low.round(9).tolist(), box.high.round(9).tolist()
    ([0.125, 0.5], [0.5, 0.875])
    """

    def __init__(self, masses: Floats, lower: float, upper: float) -> None:
        masses = np.asarray(masses, dtype=np.float64)
        high = np.minimum(masses * upper, 1.0) if np.isfinite(upper) else np.ones_like(masses)
        self._set(masses * lower, high, masses)

    @classmethod
    def between(cls, low: Floats, high: Floats, masses: Floats) -> Box:
        """Make the box with given ends around a prior."""
        box = cls.__new__(cls)
        box._set(low, high, masses)
        return box

    def _set(self, low: Floats, high: Floats, masses: Floats) -> None:
        hair = max(_HAIR, rounding(len(low)))
        self.low: Floats = np.maximum(low, 1.0 - (high.sum() - high) - hair)
        self.high: Floats = np.minimum(high, 1.0 - (low.sum() - low) + hair)
        self.width: Floats = np.maximum(self.high - self.low, 0.0)
        self.free = 1.0 - float(self.low.sum())
        above = masses - self.low
        self.shares: Floats = np.divide(
            above, self.width, out=np.zeros_like(above), where=self.width > 0
        ).clip(0.0, 1.0)
        """How often each symbol has to be raised, on average, for the prior to come out."""

    def __len__(self) -> int:
        return len(self.low)

    def fill(self, slopes: Floats) -> Floats:
        """Return, for each row of slopes, the vertex at which slopes . v is least."""
        rows = np.atleast_2d(slopes)
        order = np.argsort(rows, axis=1, kind="stable")
        return self.fill_in(order)

    def price(self, slopes: Floats) -> tuple[Floats, Floats]:
        """Return the least slopes . v for each row of slopes, to rounding, and its vertices."""
        return priced(self, slopes)

    def fill_in(self, order: Places) -> Floats:
        """Raise the symbols in the order that each row gives, until the mass is used up."""
        widths = self.width[order]
        before = np.cumsum(widths, axis=1) - widths
        taken = np.clip(self.free - before, 0.0, widths)
        vertices = np.tile(self.low, (len(order), 1))
        np.put_along_axis(vertices, order, self.low[order] + taken, axis=1)
        return self.exact(vertices)

    def exact(self, vertices: Floats) -> Floats:
        """Put the rounding error of each row into an entry that is strictly inside its ends."""
        short = 1.0 - vertices.sum(axis=1)
        room = np.minimum(vertices - self.low, self.high - vertices)
        place = np.argmax(room, axis=1)
        rows = np.arange(len(vertices))
        vertices[rows, place] += np.where(room[rows, place] > np.abs(short), short, 0.0)
        return vertices

    def vertices_among(self, columns: Floats) -> Floats:
        """Return the rows of sum 1 that lie in the box with at most one entry between its ends."""
        slack = 1e-11 * np.maximum(self.width, 1e-3)
        inside = (columns > self.low + slack) & (columns < self.high - slack)
        # Relative to the symbol: its lift must be right however rare it is.
        most = 1e-11 * self.high
        out = (columns < self.low - most) | (columns > self.high + most)
        off = np.abs(columns.sum(axis=1) - 1.0) > 1e-12
        chosen: Floats = columns[(inside.sum(axis=1) <= 1) & ~out.any(axis=1) & ~off]
        return chosen

    def random_orders(self, count: int, generator: np.random.Generator) -> Places:
        """Return random orders, one for each row."""
        return np.argsort(generator.random((count, len(self))), axis=1, kind="stable")


class Polytope(Protocol):
    """A set of posteriors that can be minimised over linearly."""

    def __len__(self) -> int: ...

    def fill(self, slopes: Floats) -> Floats:
        """Return, for each row of slopes, a vertex at which slopes . v is least."""
        ...

    def price(self, slopes: Floats) -> tuple[Floats, Floats]:
        """Return no more than the least slopes . v for each row, to rounding, and the vertices."""
        ...


def priced(polytope: Polytope, slopes: Floats) -> tuple[Floats, Floats]:
    """Return the least slopes . v for each row, and its vertices, where these are exact."""
    vertices = polytope.fill(slopes)
    values: Floats = (slopes * vertices).sum(axis=1)
    return values, vertices


class Shape(Protocol):
    """How one shape of cost is priced over a box."""

    def search(self, duals: Floats, columns: Floats) -> Floats: ...

    def prove(self, duals: Floats, goal: float, clock: Clock) -> Priced: ...


class BoxOracle:
    """Prices posteriors when the secret is X itself and the notion limits the lift.

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.prior import Prior
    >>> rare = Prior.from_probabilities({1: "0.1", 2: "0.2", 3: "0.7"})
    >>> oracle = BoxOracle(Problem.of(rare, LIP("1")), Histogram())
    >>> priced = oracle.prove(np.zeros(3), -1.0, Clock())
    >>> round(priced.bound, 6)  # the least of 1 - sum v^2
    0.201781
    """

    def __init__(self, problem: Problem, utility: Utility) -> None:
        self.masses = problem.masses
        self.utility = utility
        self.box = Box(problem.masses, problem.lower, problem.upper)
        self._generator = np.random.default_rng(len(self.masses))
        self.shape = shape_of(self.box, utility)

    @property
    def known_bound(self) -> float:
        """A lower bound of the optimum that needs no search; -inf if none is known.

        The chord of a separable cost is linear, so its mean over any decomposition of the prior is
        its value at the prior.
        """
        if not isinstance(self.shape, Separable):
            return -np.inf
        shape, box = self.shape, self.box
        none = np.zeros(len(box))
        chord = shape.slopes(none)
        value = (shape.at(box.low) + chord * (self.masses - box.low)).sum() + shape.constant
        return float(value) - shape.slack(none)

    def start(self) -> Floats:
        """Return, for each x, a vertex that is as high as can be there, and vertices at random."""
        n = len(self.box)
        keys = self._generator.random((n, n))
        np.fill_diagonal(keys, -1.0)
        columns = [self.box.fill_in(np.argsort(keys, axis=1, kind="stable"))]
        if isinstance(self.shape, Separable):
            from liftlock._solver.spread import even_columns

            columns.append(even_columns(self.box, self.shape, 4 * n, self._generator))
        return np.vstack(columns)

    def search(self, duals: Floats, columns: Floats, clock: Clock) -> Floats:
        """Return vertices with c(v) - duals . v as low as heuristics find, best first."""
        clock.spend(_PER_START * (len(columns) + _STARTS) * float(len(self.box)) ** 2)
        found = self.shape.search(duals, columns)
        reduced = self.utility.costs(found) - dot(found, duals)
        return found[np.argsort(reduced, kind="stable")]

    def prove(self, duals: Floats, goal: float, clock: Clock) -> Priced:
        """Return a safe lower bound of min (c(v) - duals . v)."""
        return self.shape.prove(duals, goal, clock)


def shape_of(box: Box, utility: Utility) -> Shape:
    """Choose how a utility is priced."""
    if isinstance(utility, MutualInformation):
        return Separable(box, 0)
    if isinstance(utility, Histogram):
        return Separable(box, 1)
    if isinstance(utility, Mean):
        return Variance(box, np.array(utility.points))
    if isinstance(utility, Guess):
        return LeastOfLinear(box, 1.0 - np.eye(len(box)))
    if isinstance(utility, Distortion):
        return LeastOfLinear(box, utility.loss)
    return AnyConcave(box, utility)


class Separable:
    """c(v) = constant + sum_x h(v_x) with h(v) = -v ln v (kind 0) or -v^2 (kind 1)."""

    def __init__(self, box: Box, kind: int) -> None:
        self.box, self.kind = box, kind
        self.constant = 1.0 if kind == 1 else 0.0
        self._generator = np.random.default_rng(len(box))

    def at(self, values: Floats) -> Floats:
        """Return h of each entry."""
        if self.kind == 1:
            return -np.square(values)
        positive = np.clip(values, 0.0, None)
        entropies: Floats = -positive * log(np.where(positive > 0, positive, 1.0))
        return entropies

    def slopes(self, duals: Floats) -> Floats:
        """Return the slopes of the chords of h(v) - y v; 0 where there is no room."""
        box = self.box
        rise = self.at(box.high) - self.at(box.low)
        slopes: Floats = np.divide(rise, box.width, out=np.zeros(len(box)), where=box.width > 0)
        return slopes - duals

    def relaxed(self, duals: Floats) -> tuple[float, Floats]:
        """Return the least value under the chords, safely rounded, and where it is taken."""
        box = self.box
        slopes = self.slopes(duals)
        vertex = box.fill(slopes)[0]
        base = self.at(box.low) - duals * box.low
        added = slopes * (vertex - box.low)
        value = base.sum() + added.sum() + self.constant
        return float(value) - self.slack(duals), vertex

    def slack(self, duals: Floats) -> float:
        """Return what rounding may add to a sum over symbols, each at an end or between the two."""
        box = self.box
        ends = np.abs(self.at(box.low)) + np.abs(self.at(box.high)) + np.abs(duals) * box.high
        # The multiplier of sum v = 1 is the slope of the symbol in between: what the rounding of
        # the sum could move the value by.
        most = np.abs(self.slopes(duals)).max(initial=0.0)
        return 4.0 * rounding(len(box)) * float(ends.sum() + most + self.constant)

    def search(self, duals: Floats, columns: Floats) -> Floats:
        """Improve greedy, used and random vertices by exchanging symbols."""
        from liftlock._solver.knapsack import improve

        box = self.box
        slopes = self.slopes(duals)
        size = max(32, min(_STARTS, _CELLS // max(len(box) ** 2, 1)))
        spread = np.std(slopes) + 1e-12
        scale = spread * self._generator.choice([0.1, 0.5, 2.0], size=(size, 1))
        shaken = slopes + scale * self._generator.standard_normal((size, len(box)))
        # The prior itself is a column in use, and no vertex.
        used = box.vertices_among(columns)[: size // 2]
        starts = np.vstack([box.fill(slopes), box.fill(shaken), used])
        vertices: Floats = improve(starts, box.low, box.width, np.asarray(duals), self.kind)
        return box.vertices_among(box.exact(vertices))

    def prove(self, duals: Floats, goal: float, clock: Clock) -> Priced:
        """Bound by the chords, then close the gap by depth-first search as far as time allows."""
        bound, _ = self.relaxed(duals)
        none = np.zeros((0, len(self.box)))
        if bound >= goal:
            return Priced(bound, none)
        from liftlock._solver.knapsack import explore

        if len(self.box) <= _FEW and goal < 0:
            # With few symbols a much smaller gap costs next to nothing more.
            closer = explore(self.box, self.slopes(duals), duals, self, goal / 1000, bound, clock)
            if closer.bound >= goal:
                return closer
        return explore(self.box, self.slopes(duals), duals, self, goal, bound, clock)


class Variance:
    """c(v) = sum t^2 v - (sum t v)^2, the variance of numbers t.

    Since -m^2 = min over a of (a^2 - 2 a m), the least reduced cost is that of

        F(a) = a^2 + phi(a),   phi(a) = min over v of (t^2 - y - 2 a t) . v,

    with phi concave and a linear knapsack to evaluate: on an interval of a, phi lies above its
    chord, and halving intervals closes the gap.
    """

    def __init__(self, box: Polytope, points: Floats) -> None:
        self.box = box
        # The middle of the range keeps squares small; the variance does not change.
        self.points: Floats = points - (points.max() + points.min()) / 2.0
        ends = box.price(np.stack([self.points, -self.points]))[0]
        self.ends = float(ends[0]), -float(ends[1])

    def _least(self, places: Floats, duals: Floats) -> tuple[Floats, Floats]:
        """Return phi and the vertices that attain it, for each a."""
        return self.box.price(self.points**2 - duals - 2.0 * places[:, None] * self.points)

    def search(self, duals: Floats, columns: Floats) -> Floats:
        """Take the best vertex for many a, and follow each to where a is its mean."""
        count = min(max(2 * len(self.box), 64), max(_CELLS // len(self.box), 64))
        places = np.linspace(*self.ends, count)
        if len(columns):
            places = np.concatenate([places, dot(columns, self.points)])
        found = []
        for _ in range(3):
            _, vertices = self._least(places, duals)
            found.append(vertices)
            places = np.unique(np.round(dot(vertices, self.points), 12))
        return np.unique(np.vstack(found[1:]), axis=0)

    def prove(self, duals: Floats, goal: float, clock: Clock) -> Priced:
        """Halve intervals of a until no chord goes below the goal or the best value."""
        size = float(np.abs(self.points**2 - duals).max() + 2 * np.abs(self.points).max() ** 2)
        slack = 4.0 * rounding(len(self.box)) * size
        places = np.linspace(*self.ends, 65)
        values, vertices = self._least(places, duals)
        left, right = places[:-1], places[1:]
        low, high = values[:-1], values[1:]
        best, columns = float((places**2 + values).min()), [vertices]
        closed = np.inf
        while True:
            bounds = _chord_bounds(left, right, low, high)
            worst = min(closed, float(bounds.min(initial=np.inf)))
            target = max(goal, best - slack)
            alive = bounds < min(target, best - slack)
            if not alive.any() or clock.left <= 0 or (right - left).max(initial=0.0) < 1e-14:
                break
            closed = min(closed, float(bounds[~alive].min(initial=np.inf)))
            left, right, low, high = left[alive], right[alive], low[alive], high[alive]
            middle = (left + right) / 2.0
            clock.spend(_PER_START * middle.size * float(len(self.box)))
            between, vertices = self._least(middle, duals)
            columns.append(vertices[np.argsort(middle**2 + between, kind="stable")[:32]])
            best = min(best, float((middle**2 + between).min()))
            left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
            low, high = np.concatenate([low, between]), np.concatenate([between, high])
        return Priced(min(worst, best) - slack, np.unique(np.vstack(columns), axis=0))


def _chord_bounds(left: Floats, right: Floats, low: Floats, high: Floats) -> Floats:
    """Return the least of a^2 + chord(a) over each interval."""
    span = right - left
    slope = np.divide(high - low, span, out=np.zeros_like(span), where=span > 0)
    place = np.clip(-slope / 2.0, left, right)
    bounds: Floats = place**2 + low + slope * (place - left)
    return bounds


class LeastOfLinear:
    """c(v) = min_z loss_z . v: one linear knapsack for each z, which is exact."""

    def __init__(self, box: Polytope, loss: Floats) -> None:
        self.box, self.loss = box, np.asarray(loss, dtype=np.float64)

    def search(self, duals: Floats, columns: Floats) -> Floats:  # noqa: ARG002
        """Return the best vertex of each z."""
        return self._best(duals)[1]

    def prove(self, duals: Floats, goal: float, clock: Clock) -> Priced:  # noqa: ARG002
        """Return the least of all z."""
        values, vertices = self._best(duals)
        size = float(np.abs(self.loss).max() + np.abs(duals).max())
        return Priced(float(values.min()) - 4.0 * rounding(len(self.box)) * size, vertices)

    def _best(self, duals: Floats) -> tuple[Floats, Floats]:
        step = max(1, _CELLS // len(self.box))
        values, vertices = [], []
        for begin in range(0, self.loss.shape[1], step):
            slopes = self.loss.T[begin : begin + step] - duals
            least, block = self.box.price(slopes)
            values.append(least)
            vertices.append(block)
        return np.concatenate(values), np.vstack(vertices)


def linearised(
    polytope: Polytope, utility: Utility, duals: Floats, vertices: Floats, steps: int = 20
) -> Floats:
    """Linearise the cost at each vertex, go to the best one, and repeat until nothing changes.

    A concave cost lies below its linearisation, so no step makes it worse.
    """
    found = [vertices]
    for _ in range(steps):
        moved = polytope.fill(utility.slopes(vertices) - duals)
        change = np.abs(moved - vertices).max(axis=1) > 1e-12
        if not change.any():
            break
        vertices = np.unique(moved[change], axis=0)
        found.append(vertices)
    return np.unique(np.vstack(found), axis=0)


class AnyConcave:
    """A concave cost of which only values and slopes are known."""

    def __init__(self, box: Box, utility: Utility) -> None:
        self.box, self.utility = box, utility
        self._generator = np.random.default_rng(len(box))
        # Pi lies in the simplex with corners low + free e_x, where a concave cost is at least
        # the linear function that agrees with it at the corners.
        corners = box.low + box.free * np.eye(len(box))
        self._corners = utility.costs(corners)

    def search(self, duals: Floats, columns: Floats) -> Floats:
        """Linearise, take the best vertex, and repeat until nothing changes."""
        random = self.box.fill_in(self.box.random_orders(_STARTS, self._generator))
        return linearised(self.box, self.utility, duals, np.vstack([columns, random]))

    def prove(self, duals: Floats, goal: float, clock: Clock) -> Priced:  # noqa: ARG002
        """Bound by the values at the corners of the simplex around Pi."""
        box = self.box
        if box.free <= 0:
            value = float(self.utility.costs(box.low[None])[0] - dot(box.low, duals))
            size = abs(value) + float(np.abs(duals).max())
            return Priced(value - 4.0 * rounding(len(box)) * size, box.low[None].copy())
        # v = low + free * t with t on the simplex: c(v) >= t . corners.
        slopes = self._corners / box.free - duals
        vertex = box.fill(slopes)[0]
        value = float(dot(self._corners / box.free, vertex - box.low) - dot(duals, vertex))
        # The rounding of the sum of v may be moved by the steepest slope.
        size = float(np.abs(self._corners).sum() + np.abs(slopes).max() + np.abs(duals).max())
        return Priced(value - 4.0 * rounding(len(box)) * size, vertex[None])
