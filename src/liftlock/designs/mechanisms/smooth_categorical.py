"""Smooth Categorical: every profile its own matrix, the least largest entry off the diagonals.

The matrices A^i minimise max_{i, x != y} A^i(x, y) subject to (P_i A^i)(y) <= E (P_j A^j)(y) for
every edge and value; of all such, those that are wrong least often on average. First the output
distributions D_i = P_i A^i and the least t are found (see `output_laws`), then matrices that take
P_i to D_i (see `transport`). Connected parts of the graph are solved one by one, all below the
largest t that one of them needs. Other aims have linear programmes, or an ascent, of their own.
"""

from __future__ import annotations

import numpy as np

from liftlock._solver.optimality import Ending, Optimality
from liftlock._solver.oracle import Clock
from liftlock._solver.output_distributions import Master, OutOfTime, Part
from liftlock._solver.profile_problem import ProfileProblem, edge_noise, response
from liftlock._solver.profile_programme import (
    NO_ROOM,
    differing,
    least_distortion,
    without_budget,
)
from liftlock._solver.transport import Transport, in_proportion, least_moved
from liftlock.designs.base import Design, Draft, draft_of_blocks
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot
from liftlock.notions.base import Notion
from liftlock.profile_graph import ProfileGraph
from liftlock.progress import Progress
from liftlock.utility.profile_utility import ProfileUtility

_HAIRS = (1e-10, 1e-9, 1e-8)
"""The least t is found to the solver's tolerance: matrices are sought a hair above it."""

_ROUNDING = 2.0**-51
"""What rounding a row may move a probability by, and as much again."""

_RESIDUE = 1e-10
"""A value that no profile of a part has, and none releases more often, is a solver's residue."""


def smooth_categorical(
    graph: ProfileGraph,
    notion: Notion,
    *,
    utility: ProfileUtility | None = None,
    seconds: float | None = None,
    watch: Progress | None = None,
) -> Draft:
    """Find the matrices that corrupt values least, one for each profile.

    A search that is stopped, by `seconds` or Ctrl-C, returns the best matrices so far with the gap
    that it could prove.

    Source: 004 eq. (6), Alg 4, Thm 8.

    >>> from liftlock.notions.profile import ProfilePrivacy
    >>> draft = smooth_categorical(ProfileGraph.bernoulli(["0.8", "0.9"]), ProfilePrivacy("0.5"))
    >>> draft.matrix.round(4).tolist()
    [[0.9791, 0.0209], [0.0, 1.0], [1.0, 0.0], [0.0209, 0.9791]]
    """
    problem = ProfileProblem.of(graph, notion)
    goal = ProfileUtility.of(graph) if utility is None else utility
    if problem.ratio <= 1.0:
        said = (NO_ROOM,) if differing(problem) else ()
        return draft_of_blocks(problem, without_budget(problem, goal), DESIGN.key, remarks=said)
    if goal.name == "mutual-information":
        from liftlock._solver.ascent import most_information

        blocks, proof, remarks = most_information(problem, goal, seconds=seconds, watch=watch)
        return draft_of_blocks(problem, blocks, DESIGN.key, optimality=proof, remarks=remarks)
    if goal.name in ("minimax", "hamming"):
        blocks, proof = _Search(problem, goal, Clock(seconds=seconds, watch=watch)).run()
    else:
        blocks, proof = least_distortion(problem, goal, seconds=seconds, watch=watch)
    return draft_of_blocks(
        problem, blocks, DESIGN.key, optimality=proof, remarks=proof.stopped_early()
    )


class _Search:
    """Finds the matrices of all parts."""

    def __init__(self, problem: ProfileProblem, goal: ProfileUtility, clock: Clock) -> None:
        self.problem, self.goal, self.clock = problem, goal, clock
        self.capped = goal.name == "minimax"
        self.blocks = np.tile(np.eye(problem.values), (len(problem.laws), 1, 1))
        self.masters: dict[tuple[int, ...], Master] = {}
        for places in problem.graph.components:
            part = part_of(problem, goal, places)
            if not part.holds():
                self.masters[places] = Master(part, capped=self.capped)

    def run(self) -> tuple[Floats, Optimality]:
        """Return the matrices and what was proved of them."""
        stopped: Ending = ""
        try:
            self._search()
        except (OutOfTime, KeyboardInterrupt) as why:
            stopped = (self.clock.ended or "work") if isinstance(why, OutOfTime) else "interrupt"
            for places, master in self.masters.items():
                self.blocks[list(places)] = _stopped(master, self.goal)
        laws, masters = self.problem.laws, self.masters.values()
        bounds = [master.bound for master in masters]
        bound = max(bounds, default=0.0) if self.capped else sum(bounds)
        cost = self.goal.value(laws, self.blocks)
        return self.blocks, Optimality(
            self.goal.name,
            cost,
            min(bound, cost),
            self.goal.of_nothing(laws),
            rounds=sum(master.solves for master in masters),
            seconds=self.clock.elapsed,
            stopped=stopped,
        )

    def _search(self) -> None:
        if self.capped:
            for master in self.masters.values():
                master.least_cap(self.clock)
            self._below(max((master.least for master in self.masters.values()), default=0.0))
            return
        for places, master in self.masters.items():
            master.least_moved(self.clock)
            blocks = in_proportion(master.part.laws, master.released)
            self.blocks[list(places)] = settled(master.part, blocks)

    def _below(self, cap: float) -> None:
        """Move as little as possible below a cap, which is raised when a part needs more."""
        waiting = dict(self.masters)
        while waiting:
            places, master = next(iter(waiting.items()))
            found = self._matrices(master, cap)
            if found is not None:
                self.blocks[list(places)] = settled(master.part, found)
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
        for hair in _HAIRS if master.stalled else _HAIRS[:1]:
            found = least_moved(part, master.released, cap + hair, master.edges_in, self.clock)
            if found is not None:
                return found
        return _one_by_one(part, master.released, cap) if master.complete else None


def part_of(problem: ProfileProblem, goal: ProfileUtility, places: tuple[int, ...]) -> Part:
    """Return one connected part of a graph."""
    chosen = np.array(places, dtype=np.intp)
    position = np.full(len(problem.laws), -1, dtype=np.intp)
    position[chosen] = np.arange(len(chosen))
    edges = position[problem.edges]
    inside = edges[(edges >= 0).all(axis=1)]
    weights = goal.weights[chosen]
    return Part(problem.laws[chosen], inside, problem.ratio, weights, problem.wide_ratio)


def settled(part: Part, blocks: Floats) -> Floats:
    """Answer at random so rarely that it only outweighs what solving and rounding leave.

    With s of even answers on m values an edge has (1 - s) x - s (E - 1)/m left of an excess x.
    """
    released = (part.laws[:, :, None] * blocks).sum(axis=1)
    used = (part.laws.max(axis=0) > 0) | (released.max(axis=0) > _RESIDUE)
    count = int(used.sum())
    if (released[:, ~used] > 0).any():
        # Values that no profile of the part has are covered when the draft is made.
        impossible = (part.laws == 0)[:, :, None] & ~used[None, :, None]
        blocks = np.where(impossible, used / count, np.where(used, blocks, 0.0))
        blocks /= blocks.sum(axis=2, keepdims=True)
        released = (part.laws[:, :, None] * blocks).sum(axis=1)
    excess = float(part.excess(released)[:, used].max())
    wanted = excess + (1.0 + part.ratio) * _ROUNDING
    if wanted <= 0:
        return blocks
    noise = min(1.0, wanted / (max(excess, 0.0) + (part.ratio - 1.0) / count))
    even = np.where(used, noise / count, 0.0)
    mixed: Floats = (1.0 - noise) * blocks + even
    return mixed


def _one_by_one(part: Part, released: Floats, cap: float) -> Floats:
    transport = Transport(part.laws.shape[1])
    return np.array(
        [transport.matrix(law, aim, cap) for law, aim in zip(part.laws, released, strict=True)]
    )


def _stopped(master: Master, goal: ProfileUtility) -> Floats:
    """Return matrices that keep every edge of a part although the search is not over.

    Where the relaxation stands, or the profiles themselves, with even noise for the worst edge.
    """
    part = master.part
    own = ProfileUtility(goal.name, part.shares)
    total = master.released.sum(axis=1, keepdims=True)
    tried = []
    for released in (part.laws, master.released / total):
        noise = edge_noise(released[part.edges[:, 0]], released[part.edges[:, 1]], part.ratio).max()
        blocks = _one_by_one(part, released, master.cap)
        mixed = dot(blocks, response(blocks.shape[1], np.array([noise]))[0])
        tried.append(settled(part, mixed))
    return min(tried, key=lambda blocks: own.value(part.laws, blocks))


DESIGN = Design(
    key="smooth-categorical",
    make=smooth_categorical,
    says="a matrix for each profile, the best for the aim that every edge allows",
    promises="optimal within the certified gap that is printed with it",
    source="004 eq. (6), Alg 4, Thm 8",
    notions=("profile",),
    contexts=("profiles",),
    by_profile=True,
    uses_utility=True,
    options={"seconds": "stop after so many seconds with the best mechanism so far"},
)
