"""Matrices that take each P_i to its D_i, move little, and keep entries off the diagonal below t.

    minimise sum_i w_i sum_{x != y} f_i(x, y)   subject to   0 <= f_i(x, y) <= t P_i(x)

with the flows f_i(x, y) = P_i(x) A^i(x, y) and D_i(y) = P_i(y) + sum_x f_i(x, y) - f_i(y, x). If t
does not bind, values that lose send to values that gain, in proportion. If it does, a value may
have to pass on what it receives.

Source: 004 eq. (6).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from liftlock._runtime.clock import Clock, Ending
from liftlock._solver.blocks import edge_noise, response, solution_of
from liftlock._solver.limits import LIMITS
from liftlock._solver.output_distributions import (
    Flags,
    GraphPart,
    Master,
    SearchTimedOut,
    least_cap,
    needs_fresh_start,
)
from liftlock._solver.problem import Optimality, ProfileProblem, ProfileTask, Solution
from liftlock.errors import extra
from liftlock.exact.integers import Floats
from liftlock.exact.linear_programme import Highs
from liftlock.exact.reproducible import dot
from liftlock.exact.rounding import GRAIN
from liftlock.exact.tolerances import TOLERANCES
from liftlock.utility.profile_utility import ProfileUtility

_ABOVE = (TOLERANCES.solver, TOLERANCES.visible, TOLERANCES.close)
"""The least t is found to the solver's tolerance: matrices are sought slightly above it."""


def proportional_matrices(distributions: Floats, released: Floats) -> Floats:
    """Return the matrices in which values that lose send to those that gain, in proportion.

    Nothing else moves less mass.

    >>> proportional_matrices(np.array([[0.5, 0.5]]), np.array([[0.75, 0.25]])).tolist()
    [[[1.0, 0.0], [0.5, 0.5]]]
    """
    surplus, deficit = (
        np.maximum(distributions - released, 0.0),
        np.maximum(released - distributions, 0.0),
    )
    total = deficit.sum(axis=1, keepdims=True)
    share = np.divide(
        surplus, distributions, out=np.zeros_like(distributions), where=distributions > 0
    )
    target = np.divide(deficit, total, out=np.zeros_like(distributions), where=total > 0)
    return complete_diagonal(share[:, :, None] * target[:, None, :], 1.0)


def complete_diagonal(blocks: Floats, cap: float) -> Floats:
    """Keep entries off the diagonal below the cap, and fill the diagonal."""
    off = ~np.eye(blocks.shape[1], dtype=np.bool_)
    kept = np.where(off, np.clip(blocks, 0.0, cap), 0.0)
    total = kept.sum(axis=2, keepdims=True)
    kept /= np.maximum(total, 1.0)
    places = np.arange(blocks.shape[1])
    kept[:, places, places] = np.maximum(0.0, 1.0 - kept.sum(axis=2))
    return kept


class Transport:
    """Maps distributions below a cap; one solver for all, as only right-hand sides change."""

    def __init__(self, values: int) -> None:
        self.values = values
        self._highs: Highs | None = None

    def matrix(self, distribution: Floats, released: Floats, cap: float = 1.0) -> Floats:
        """Return the matrix that moves the least; the cap is raised if it must be.

        >>> Transport(3).matrix(np.array([1.0, 0.0, 0.0]), np.full(3, 1 / 3), 0.4)[0].round(6)
        array([0.333333, 0.333333, 0.333333])
        """
        simple = proportional_matrices(distribution[None, :], released[None, :])[0]
        off = ~np.eye(self.values, dtype=np.bool_)
        if float(simple[off].max(initial=0.0)) <= cap * (1.0 + TOLERANCES.hair):
            return np.asarray(simple)
        least = least_cap(distribution, released, cap)
        for hair in (TOLERANCES.hair, *_ABOVE):
            flows = self._flows(distribution, released, least + hair)
            if flows is not None:
                return np.asarray(
                    complete_diagonal(_per_value(flows, distribution)[None], least + hair)[0]
                )
        constant: Floats = np.tile(released / released.sum(), (self.values, 1))
        return constant

    def _flows(self, distribution: Floats, released: Floats, cap: float) -> Floats | None:
        values = self.values
        most = np.minimum(cap, 1.0) * np.repeat(distribution[:, None], values, axis=1)
        np.fill_diagonal(most, distribution)
        if self._highs is None:
            self._highs = _build_flows(values)
        model = self._highs.model
        cells = np.arange(values * values, dtype=np.int32)
        model.changeColsBounds(len(cells), cells, np.zeros(len(cells)), most.ravel())
        # One row is implied by the others: leaving it open, rounding cannot contradict it.
        open_row = values + int(np.argmax(released))
        for row, end in enumerate(np.concatenate([distribution, released]).tolist()):
            ends = (-np.inf, np.inf) if row == open_row else (end, end)
            model.changeRowBounds(row, *ends)
        answer = self._highs.solve()
        return answer.values.reshape(values, values) if answer.status == "optimal" else None


def _per_value(flows: Floats, distributions: Floats) -> Floats:
    """Turn flows into conditional probabilities."""
    mass = distributions[..., None]
    return np.divide(flows, mass, out=np.zeros_like(flows), where=mass > 0)


def _build_flows(values: int) -> Highs:
    """Build the flows of one profile, staying included; limits and ends are set later."""
    with extra("solver"):
        from scipy.sparse import csr_matrix

    cells = values * values
    highs = Highs(presolve=False)
    table = np.arange(cells).reshape(values, values)
    starts = np.arange(2 * values + 1) * values
    places = np.concatenate([table.ravel(), table.T.ravel()])
    rows = csr_matrix((np.ones(2 * cells), places, starts), (2 * values, cells))
    costs = (1.0 - np.eye(values)).ravel()
    ends = np.ones(2 * values)
    highs.pass_columns(rows.tocsc(), costs, np.ones(cells), 0.0 * ends, ends)
    return highs


def least_moved(
    part: GraphPart, released: Floats, cap: float, edges_in: Flags, clock: Clock
) -> Floats | None:
    """Return the matrices below a cap that move the least mass and keep every edge, if any do.

    `released` is near to what they will release, and `edges_in` says where edges may be tight.
    """
    return Flows(part, released, cap, edges_in).solve(clock)


class Flows:
    """The programme over all flows of a part; edges, and if there are many also flows, as needed.

    Variables are first the changes D - P of every cell, then flows.
    """

    def __init__(self, part: GraphPart, released: Floats, cap: float, edges_in: Flags) -> None:
        self.part, self.cap = part, cap
        profiles, values = part.distributions.shape
        self._cells = profiles * values
        profile, source, target = np.nonzero(
            (part.distributions > 0)[:, :, None] & ~np.eye(values, dtype=np.bool_)
        )
        self._at = (profile, source, target)
        self._from, self._to = profile * values + source, profile * values + target
        self._most = cap * part.distributions[profile, source]
        self._cost = part.shares[profile]
        self._in = np.ones(len(profile), dtype=np.bool_)
        if len(profile) > LIMITS.moved_together:
            one_by_one = Transport(values)
            blocks = [
                one_by_one.matrix(distribution, aim, cap)
                for distribution, aim in zip(part.distributions, released, strict=True)
            ]
            self._in = np.array(blocks)[self._at] > 0
        self._order = np.flatnonzero(self._in)
        """Which flow each variable is, in the order in which they were added."""
        self._edges_in = np.zeros_like(edges_in)
        self._highs = Highs()
        cells = np.arange(self._cells, dtype=np.int32)
        none = np.zeros(self._cells)
        self._highs.model.addVars(self._cells, -part.distributions.ravel(), np.ones(self._cells))
        self._highs.model.addRows(
            self._cells, none, none, self._cells, cells, cells, np.ones(self._cells)
        )
        # No value can send more than there is of it; a small cap sees to that.
        self._limited = (values - 1) * cap > 1.0
        if self._limited:
            free = np.full(self._cells, -np.inf)
            empty = np.zeros(0, dtype=np.int32)
            self._highs.model.addRows(
                self._cells,
                free,
                part.distributions.ravel(),
                0,
                np.zeros_like(cells),
                empty,
                np.zeros(0),
            )
        self._add_flows(self._order)
        self._add_edges(edges_in)

    def solve(self, clock: Clock) -> Floats | None:
        """Add edges and flows until none is missing."""
        values = self.part.distributions.shape[1]
        many = needs_fresh_start(self._cells + len(self._order), values)
        while True:
            self._highs.way = "ipm" if many else "simplex"
            answer = self._highs.solve(clock)
            if answer.status == "limit" or clock.left <= 0:
                raise SearchTimedOut("no time is left")
            if answer.status != "optimal":
                if self._in.all():
                    return None
                self._include(~self._in)
                many = True
                continue
            found, prices = answer.values, answer.prices
            released = self.part.distributions + found[: self._cells].reshape(
                self.part.distributions.shape
            )
            rows = self._add_edges(self.part.excess(released) > TOLERANCES.hair)
            flows = self._add_helpful(prices)
            if not rows and not flows:
                break
            many = needs_fresh_start(rows + flows, values)
            # New flows leave the solution feasible, new edges leave the prices feasible.
            self._highs.model.setOptionValue("simplex_strategy", 4 if flows and not rows else 1)
        table = np.zeros((len(self.part.distributions), values, values))
        profile, source, target = (place[self._order] for place in self._at)
        table[profile, source, target] = found[self._cells :]
        return complete_diagonal(_per_value(table, self.part.distributions), self.cap)

    def _add_flows(self, chosen: Any) -> None:
        width = 3 if self._limited else 2
        places = [self._from[chosen], self._to[chosen]]
        if self._limited:
            places.append(self._cells + self._from[chosen])
        self._highs.model.addCols(
            len(chosen),
            self._cost[chosen],
            np.zeros(len(chosen)),
            self._most[chosen],
            width * len(chosen),
            (width * np.arange(len(chosen))).astype(np.int32),
            np.stack(places, axis=1).ravel().astype(np.int32),
            np.tile([1.0, -1.0, 1.0][:width], len(chosen)),
        )

    def _add_helpful(self, prices: Floats) -> int:
        """Add the flows that lower the cost at these prices; return how many."""
        if self._in.all():
            return 0
        left = self._cost - prices[self._from] + prices[self._to]
        if self._limited:
            left -= prices[self._cells + self._from]
        return self._include((left < -TOLERANCES.solver) & ~self._in)

    def _include(self, wanted: Flags) -> int:
        """Add the flows that are wanted; return how many."""
        chosen = np.flatnonzero(wanted)
        if len(chosen):
            self._in |= wanted
            self._order = np.concatenate([self._order, chosen])
            self._add_flows(chosen)
        return len(chosen)

    def _add_edges(self, wanted: Flags) -> int:
        """Add the rows of edges that are wanted and not there; return how many."""
        wanted = wanted & ~self._edges_in
        way, value = np.nonzero(wanted)
        if len(way):
            self._edges_in |= wanted
            first, second = self.part.both_ways[way].T
            values, ratio = self.part.distributions.shape[1], self.part.ratio
            one, other = first * values + value, second * values + value
            distributions = self.part.distributions.ravel()
            self._highs.model.addRows(
                len(way),
                np.full(len(way), -np.inf),
                ratio * distributions[other] - distributions[one],
                2 * len(way),
                (2 * np.arange(len(way))).astype(np.int32),
                np.stack([one, other], axis=1).ravel().astype(np.int32),
                np.tile([1.0, -ratio], len(way)),
            )
        return len(way)


# --- all parts of a graph -------------------------------------------------------------------------


def solve(task: ProfileTask) -> Solution:
    """Find the matrices that corrupt values least, one for each profile.

    First the output distributions D_i and the least t are found, then matrices that take P_i to
    D_i. Connected parts of the graph are solved one by one, all below the largest t that one of
    them needs.

    Source: 004 eq. (6), Alg 4, Thm 8.
    """
    return _Search(task).run()


class _Search:
    """Finds the matrices of all parts."""

    def __init__(self, task: ProfileTask) -> None:
        problem, goal = task.problem, task.goal
        self.task, self.problem, self.goal, self.clock = task, problem, goal, task.clock
        self.capped = goal.name == "minimax"
        self.blocks = np.tile(np.eye(problem.values), (len(problem.distributions), 1, 1))
        self.masters: dict[tuple[int, ...], Master] = {}
        for places in problem.context.components:
            part = part_of(problem, goal, places)
            if not part.holds():
                self.masters[places] = Master(part, capped=self.capped)

    def run(self) -> Solution:
        """Return the matrices and what was proved of them."""
        stopped: Ending = ""
        try:
            self._search()
        except (SearchTimedOut, KeyboardInterrupt) as why:
            stopped = (
                (self.clock.ended or "work") if isinstance(why, SearchTimedOut) else "interrupt"
            )
            for places, master in self.masters.items():
                self.blocks[list(places)] = _matrices_when_stopped(master, self.goal)
        distributions, masters = self.problem.distributions, self.masters.values()
        bounds = [master.bound for master in masters]
        bound = max(bounds, default=0.0) if self.capped else sum(bounds)
        cost = self.goal.value(distributions, self.blocks)
        proof = Optimality(
            self.goal.name,
            cost,
            min(bound, cost),
            self.goal.value_of_no_release(distributions),
            rounds=sum(master.solves for master in masters),
            seconds=self.clock.elapsed,
            stopped=stopped,
        )
        return solution_of(self.task, self.blocks, proof, proof.early_stop_remarks())

    def _search(self) -> None:
        if self.capped:
            for master in self.masters.values():
                master.least_cap(self.clock)
            self._below(max((master.least for master in self.masters.values()), default=0.0))
            return
        for places, master in self.masters.items():
            master.least_moved(self.clock)
            blocks = proportional_matrices(master.part.distributions, master.released)
            self.blocks[list(places)] = enforce_budget(master.part, blocks)

    def _below(self, cap: float) -> None:
        """Move as little as possible below a cap, which is raised when a part needs more."""
        waiting = dict(self.masters)
        while waiting:
            places, master = next(iter(waiting.items()))
            found = self._matrices(master, cap)
            if found is not None:
                self.blocks[list(places)] = enforce_budget(master.part, found)
                del waiting[places]
                continue
            master.least_cap(self.clock)
            if master.least > cap:
                # What other parts found would still do, but more is allowed now.
                waiting = dict(self.masters)
                cap = master.least

    def _matrices(self, master: Master, cap: float) -> Floats | None:
        """Return the matrices of a part; None if more has to be known of the least cap."""
        part = master.part
        for hair in _ABOVE if master.stalled else _ABOVE[:1]:
            found = least_moved(part, master.released, cap + hair, master.edges_in, self.clock)
            if found is not None:
                return found
        return _solve_profiles_apart(part, master.released, cap) if master.complete else None


def part_of(problem: ProfileProblem, goal: ProfileUtility, places: tuple[int, ...]) -> GraphPart:
    """Return one connected part of a graph."""
    chosen = np.array(places, dtype=np.intp)
    position = np.full(len(problem.distributions), -1, dtype=np.intp)
    position[chosen] = np.arange(len(chosen))
    edges = position[problem.edges]
    inside = edges[(edges >= 0).all(axis=1)]
    weights = goal.weights[chosen]
    return GraphPart(
        problem.distributions[chosen], inside, problem.ratio, weights, problem.widen().ratio
    )


def enforce_budget(part: GraphPart, blocks: Floats) -> Floats:
    """Answer at random so rarely that it only outweighs what solving and rounding leave.

    With s of even answers on m values an edge has (1 - s) x - s (E - 1)/m left of an excess x.
    """
    released = (part.distributions[:, :, None] * blocks).sum(axis=1)
    used = (part.distributions.max(axis=0) > 0) | (released.max(axis=0) > TOLERANCES.solver)
    count = int(used.sum())
    if (released[:, ~used] > 0).any():
        # Values that no profile of the part has are covered when the draft is made.
        impossible = (part.distributions == 0)[:, :, None] & ~used[None, :, None]
        blocks = np.where(impossible, used / count, np.where(used, blocks, 0.0))
        blocks /= blocks.sum(axis=2, keepdims=True)
        released = (part.distributions[:, :, None] * blocks).sum(axis=1)
    excess = float(part.excess(released)[:, used].max())
    wanted = excess + (1.0 + part.ratio) * 2.0 * GRAIN
    if wanted <= 0:
        return blocks
    noise = min(1.0, wanted / (max(excess, 0.0) + (part.ratio - 1.0) / count))
    even = np.where(used, noise / count, 0.0)
    mixed: Floats = (1.0 - noise) * blocks + even
    return mixed


def _solve_profiles_apart(part: GraphPart, released: Floats, cap: float) -> Floats:
    transport = Transport(part.distributions.shape[1])
    return np.array(
        [
            transport.matrix(distribution, aim, cap)
            for distribution, aim in zip(part.distributions, released, strict=True)
        ]
    )


def _matrices_when_stopped(master: Master, goal: ProfileUtility) -> Floats:
    """Return matrices that keep every edge of a part although the search is not over.

    Where the relaxation stands, or the profiles themselves, with even noise for the worst edge.
    """
    part = master.part
    own = ProfileUtility(goal.name, part.shares)
    total = master.released.sum(axis=1, keepdims=True)
    tried = []
    for released in (part.distributions, master.released / total):
        noise = edge_noise(released[part.edges[:, 0]], released[part.edges[:, 1]], part.ratio).max()
        blocks = _solve_profiles_apart(part, released, master.cap)
        mixed = dot(blocks, response(blocks.shape[1], np.array([noise]))[0])
        tried.append(enforce_budget(part, mixed))
    return min(tried, key=lambda blocks: own.value(part.distributions, blocks))
