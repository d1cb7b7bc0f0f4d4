"""Reductions: make a task smaller, and map what is found back, with the bound proved again.

*Neighbours.* The search for an LDP optimum grows quickly with the number of symbols. Numbers near
each other can share a row without losing much, and rows that are there twice keep every ratio of
likelihoods.

*Types.* Symbols that say the same of the secret are one symbol to the solver.

The type of x is its row P(. | x). Whether a lift notion, or LDP of the secret, allows an output
depends on the beliefs P(s | y) alone: they are linear in the posterior v = P(. | y), with the same
coefficients for all symbols of a type. Let the cost c be concave, symmetric in the symbols, and
blind to those of probability 0 (entropy, 1 - sum v^2, 1 - max v). Then the least cost over
mechanisms on X is the least cost over mechanisms on the types.

It is no less: adding up v within each type keeps P(s | y), and the sums, padded by zeros, majorise
v, so that the Schur-concave c does not grow. It is no more: cut an output on types into pieces that
take one symbol only from each type, in the proportions of the output. Every piece has the posterior
of the output but for names, hence the same beliefs and the same cost.

Lay the symbols of each type end to end on its interval, and its outputs too; every end of a symbol
cuts the output that it lies in. There are then no more outputs than symbols and outputs on types
together.

Source: math symbols of one type under a symmetric cost.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from liftlock._runtime.clock import SEARCHING, SearchStep
from liftlock._solver.limits import LIMITS
from liftlock._solver.outputs import (
    constant_solution,
    is_worthless,
    merge_rare_outputs,
    name_outputs,
    proved_bound,
)
from liftlock._solver.problem import (
    Optimality,
    Problem,
    ProfileTask,
    Solution,
    Task,
    restrict_to_support,
    shared_rows,
)
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot
from liftlock.exact.rounding import MOST_BITS
from liftlock.exact.tolerances import TOLERANCES
from liftlock.model import Joint, Prior, representative
from liftlock.model.alphabet import Alphabet
from liftlock.notions.guarantee import Wanted
from liftlock.notions.lip import LIP
from liftlock.utility.base import (
    Linear,
    Utility,
    Variance,
    cost_error,
    cost_of_no_release,
    mean_cost,
    restrict,
)
from liftlock.utility.mean import Mean, points_of
from liftlock.utility.registry import make_utility


@dataclass(frozen=True)
class Reduced:
    """A smaller task, and how its solution becomes one of the task that it was made from."""

    task: Task
    expand: Callable[[Solution, Solve], Solution]
    """Takes what was found, and the solver itself, which may be needed for a bound."""
    summary: str
    """What became smaller, in numbers."""


@dataclass(frozen=True)
class Reduction:
    """One way to make a task smaller."""

    name: str
    summary: str
    """What it does, in one line."""
    when: str
    """Where it applies."""
    loses: str
    """How the bound is proved again, and what it may lose."""
    apply: Callable[[Task], Reduced | None]
    """Returns None where it does not apply."""


# --- neighbours -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class NeighbourGroups:
    """A prior of numbers with neighbours joined to groups, and the group of each."""

    task: Task
    """That of all the numbers."""
    prior: Prior
    group: npt.NDArray[np.intp]

    @classmethod
    def of(cls, task: Task) -> NeighbourGroups:
        """Join neighbours to groups of about the same mass."""
        problem = task.problem
        assert isinstance(problem.context, Prior)
        points = points_of(problem.inputs, task.utility.name)
        return cls(task, *_group_neighbours(problem.context, problem.masses, points))

    def reduce(self) -> Task:
        """Return the task of the groups, for a part of the time."""
        task = self.task
        return Task(
            Problem.of(self.prior, task.problem.notion),
            make_utility(task.utility.name, self.prior.inputs),
            task.clock.part(SEARCHING),
            explain=task.explain,
        )

    def expand(self, found: Solution, smaller: Task, solve: Callable[[Task], Solution]) -> Solution:
        """Let each number answer like its group, and prove how far all could be better.

        Two bounds of the optimum are compared. Every mechanism of epsilon-LDP is epsilon-LIP, and
        the optimum of that is known. And X = M + R, the mean of its group and the rest: a mechanism
        for X is one for the groups, of which it cannot say more than their optimum G, while of R it
        says

            |E[R | Y]| <= (E - 1)/2 E|R|,

        as its lifts differ by at most E - 1. So at most (sqrt(G) + (E - 1)/2 E|R|)^2 of the
        variance is explained, and the mean distance is at most E|R| below that of the groups.

        Source: math groups of neighbours under LDP; 000 Thm 1 converse, Cor 2.
        """
        task, problem, utility = self.task, self.task.problem, self.task.utility
        budget = problem.notion.ratio_limit
        assert budget is not None
        task.clock.spend(smaller.clock.work)
        matrix = found.matrix[self.group].copy()
        cost = mean_cost(utility, matrix, problem.masses)
        wider = Task(Problem.of(problem.context, LIP(budget)), utility, task.clock.part(1.0))
        looser = solve(wider).proof.bound
        least = _bound(problem, utility, self.prior, self.group, found.proof.bound)
        proof = Optimality(
            utility.name,
            cost,
            min(max(0.0, least, looser), cost),
            cost_of_no_release(utility, problem.masses),
            seconds=task.clock.elapsed,
            stopped=found.proof.stopped,
        )
        said = f"neighbours are joined to {len(self.prior.inputs)} groups, "
        said += "the optimum of which is used"
        outputs = Alphabet.of(range(matrix.shape[1]))
        return Solution(matrix, outputs, proof, (*found.remarks, said))


def _bound(
    problem: Problem, goal: Utility, joined: Prior, group: npt.NDArray[np.intp], least: float
) -> float:
    """Return the least that any LDP mechanism costs, from the optimum of the groups."""
    points = points_of(problem.inputs, goal.name)
    means = points_of(joined.inputs, goal.name)
    if goal.name == "squared":
        # As a distortion it reads groups as their means alone, where inputs have more numbers to
        # be read as: the optimum of the groups then bounds nothing.
        return 0.0
    rest = float(dot(problem.masses, np.abs(points - means[group])))
    least = least * (1.0 - TOLERANCES.visible)
    if goal.name == "absolute":
        return least - rest * (1.0 + TOLERANCES.visible)
    assert problem.ratio is not None
    weights = joined.floats()
    spread = float(dot(weights, (means - dot(weights, means)) ** 2))
    whole = float(dot(problem.masses, (points - dot(problem.masses, points)) ** 2))
    unseen = math.sqrt(max(whole - spread, 0.0))
    said = math.sqrt(max(spread - least, 0.0)) + min((problem.ratio - 1.0) / 2.0 * rest, unseen)
    return whole * (1.0 - TOLERANCES.visible) - said**2 * (1.0 + TOLERANCES.visible)


def _group_neighbours(
    prior: Prior, masses: Floats, points: Floats
) -> tuple[Prior, npt.NDArray[np.intp]]:
    """Join neighbours to groups of about the same mass; return their prior, and who is where."""
    order = np.argsort(points, kind="stable")
    middle = (np.cumsum(masses[order]) - masses[order] / 2.0) * LIMITS.few_symbols
    group = np.empty(len(masses), dtype=np.intp)
    group[order] = np.unique(middle.astype(np.intp), return_inverse=True)[1]
    size = int(group.max()) + 1
    counts = [0] * size
    for place, count in zip(group.tolist(), prior.counts, strict=True):
        counts[place] += count
    means = np.bincount(group, masses * points) / np.bincount(group, masses)
    alphabet = Alphabet.of(range(size), [Fraction(float(mean)) for mean in means])
    return Prior(alphabet, tuple(counts)), group


# --- types ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Types:
    """The types of a joint, and the symbols of each in the order of the alphabet.

    >>> table = {"s": {"a": 1, "b": 2, "c": 3}, "t": {"a": 2, "b": 4, "c": 3}}
    >>> Types.of(Joint.from_counts(table)).members
    ((0, 1), (2,))
    """

    joint: Joint
    members: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, joint: Joint) -> Types:
        """Compare P(. | x) exactly: columns of counts, divided by what divides all of them."""
        found: dict[tuple[int, ...], list[int]] = {}
        for x, column in enumerate(zip(*joint.counts, strict=True)):
            divisor = math.gcd(*column) or 1
            found.setdefault(tuple(count // divisor for count in column), []).append(x)
        return cls(joint, tuple(tuple(places) for places in found.values()))

    def __len__(self) -> int:
        return len(self.members)

    def reduce(self) -> Joint:
        """Return the joint of the secret and the type, named by its first symbol."""
        return self.merge(self.joint)

    def merge(self, joint: Joint) -> Joint:
        """Return the joint of a secret and the type."""
        counts = tuple(
            tuple(sum(row[x] for x in places) for places in self.members) for row in joint.counts
        )
        return Joint(joint.secrets, joint.inputs.subset(each[0] for each in self.members), counts)

    def expand(self, matrix: Floats) -> Floats:
        """Cut the outputs of a channel on types so that each piece speaks of one symbol of a type.

        In whole numbers, as what a piece says of the secret has to be what the output says. Pieces
        too rare to be worth an output stay with their neighbour, which keeps every limit. Returns
        P(y | x), rows symbols.

        >>> table = {"s": {"a": 1, "b": 2, "c": 3}, "t": {"a": 1, "b": 2, "c": 3}}
        >>> joint = Joint.from_counts(table)  # independent of the secret: released as it is
        >>> Types.of(joint).expand(np.ones((1, 1))).tolist()
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        """
        counts = [sum(column) for column in zip(*self.joint.counts, strict=True)]
        queues = [
            _Queue(places, [counts[x] for x in places], row.tolist())
            for places, row in zip(self.members, matrix, strict=True)
        ]
        columns: list[dict[int, float]] = []
        for y in range(matrix.shape[1]):
            parts = [part for queue in queues if (part := queue.take(y)) is not None]
            mass = sum((part.mass for part in parts), Fraction(0)) / self.joint.total
            columns += _pieces(parts, float(mass)) if mass else []
        channel = np.zeros((len(counts), len(columns)))
        for y, column in enumerate(columns):
            channel[list(column), y] = list(column.values())
        rows: Floats = channel / channel.sum(axis=1, keepdims=True)
        return rows


def _stacked(joints: Sequence[Joint]) -> Joint:
    """Return one joint with all secrets of several: its types are those that no secret tells apart.

    >>> one, other = {"s": {"a": 1, "b": 1}}, {"s": {"a": 1, "b": 0}, "t": {"a": 0, "b": 1}}
    >>> len(Types.of(_stacked([Joint.from_counts(one), Joint.from_counts(other)])))
    2
    """
    if len(joints) == 1:
        return joints[0]
    secrets = [(place, s) for place, joint in enumerate(joints) for s in joint.secrets.labels]
    counts = tuple(row for joint in joints for row in joint.counts)
    return Joint(Alphabet.of(secrets), joints[0].inputs, counts)


@dataclass(frozen=True)
class _Part:
    """What an output takes of a type: symbols, and where each stops, of a length of 1."""

    symbols: list[int]
    stops: list[Fraction]
    likelihoods: list[float]
    """What a symbol gives to a piece of length 1."""
    mass: Fraction


class _Queue:
    """The symbols of a type, end to end, and its outputs, end to end: both fill an interval."""

    def __init__(self, places: Sequence[int], counts: list[int], row: list[float]) -> None:
        self.places, self.counts = places, counts
        self.total = sum(counts)
        self.shares = [round(math.ldexp(share, MOST_BITS)) for share in row]
        self.whole = sum(self.shares)
        self.used = 0
        """Of the outputs, in units of the shares."""
        self.place = 0
        """Of the symbol that the next output begins in."""
        self.behind = 0
        """The counts of the symbols before it."""

    def take(self, y: int) -> _Part | None:
        """Return what the next output takes; None if nothing."""
        share = self.shares[y]
        if not share:
            return None
        begin, end = self.used * self.total, (self.used + share) * self.total
        width = end - begin
        symbols, stops, likelihoods = [], [], []
        while True:
            count = self.counts[self.place]
            stop = (self.behind + count) * self.whole
            symbols.append(self.places[self.place])
            likelihoods.append(float(Fraction(width, self.whole * count)))
            if stop >= end:
                stops.append(Fraction(1))
                break
            stops.append(Fraction(stop - begin, width))
            self.behind += count
            self.place += 1
        if stop == end and self.place + 1 < len(self.counts):
            self.behind += count
            self.place += 1
        self.used += share
        return _Part(symbols, stops, likelihoods, Fraction(width, self.whole))


def _pieces(parts: list[_Part], mass: float) -> list[dict[int, float]]:
    """Cut an output at the end of every symbol; return P(piece | x) of each piece."""
    least = LIMITS.rarest_piece / mass
    ends, last = [], Fraction(0)
    for cut in sorted({stop for part in parts for stop in part.stops[:-1]}):
        if float(cut - last) >= least and float(1 - cut) >= least:
            ends.append(cut)
            last = cut
    ends.append(Fraction(1))
    pieces: list[dict[int, float]] = [{} for _ in ends]
    for part in parts:
        place, start = 0, Fraction(0)
        for piece, end in zip(pieces, ends, strict=True):
            while True:
                stop = min(end, part.stops[place])
                if stop > start:
                    symbol = part.symbols[place]
                    piece[symbol] = float(stop - start) * part.likelihoods[place]
                start = stop
                if stop == end:
                    break
                place += 1
    return pieces


Solve = Callable[[Task], Solution]


# --- the table ------------------------------------------------------------------------------------


def drop_impossible_inputs(task: Task) -> Reduced | None:
    """Solve for the inputs that occur; under LDP the others answer like the most likely one."""
    problem = task.problem
    if isinstance(task, ProfileTask) or task.by_lifts or (problem.masses > 0).all():
        return None
    kept, dropped = restrict_to_support(problem.context)
    rows = shared_rows(problem.inputs, representative(kept))
    places = [problem.inputs.index(label) for label in kept.inputs.labels]
    narrow = restrict(task.utility, places, task.symbols)
    smaller = replace(task, problem=Problem.of(kept, problem.notion), utility=narrow)

    def expand(found: Solution, solve: Solve) -> Solution:  # noqa: ARG001
        said = "inputs of probability 0 answer like the most likely input"
        return replace(found, matrix=found.matrix[rows], remarks=(*found.remarks, said))

    return Reduced(smaller, expand, f"{len(dropped):,} inputs never occur")


def group_neighbours(task: Task) -> Reduced | None:
    """Join neighbours on the line to groups: LDP optima of many symbols are out of reach."""
    problem = task.problem
    if (
        task.how != "auto"
        or task.by_lifts
        or problem.allows_nothing
        or not problem.only_itself
        or not isinstance(problem.context, Prior)
        or task.symbols <= LIMITS.grouped_numbers
        or not task.utility.numeric
    ):
        return None
    groups = NeighbourGroups.of(task)
    smaller = groups.reduce()

    def expand(found: Solution, solve: Solve) -> Solution:
        return groups.expand(found, smaller, solve)

    summary = f"{task.symbols:,} numbers are {smaller.symbols:,} groups of neighbours"
    return Reduced(smaller, expand, summary)


def merge_types(task: Task) -> Reduced | None:
    """Take symbols with the same P(. | x) for one, as the secret does."""
    problem, utility, clock = task.problem, task.utility, task.clock
    joints = [each.context for each in problem.limits if isinstance(each.context, Joint)]
    if len(joints) < len(problem.limits) or not task.shape.symmetric or problem.allows_nothing:
        return None
    types = Types.of(_stacked(joints))
    if len(types) == task.symbols:
        return None
    first, *more = (types.merge(joint) for joint in joints)
    also = [Wanted(each.notion, joint) for each, joint in zip(problem.more, more, strict=True)]
    inner = Problem.of_several(first, problem.notion, also)
    reference = cost_of_no_release(utility, problem.masses)
    share = cost_of_no_release(utility, inner.masses) / reference if reference > 0 else 1.0
    # The gap is relative to the cost of no release, which is larger before types are merged.
    relaxed = replace(clock, gap=clock.gap / share) if share > 0 else replace(clock)
    smaller = replace(task, problem=inner, clock=relaxed)

    def expand(found: Solution, solve: Solve) -> Solution:  # noqa: ARG001
        clock.work, clock.ended = relaxed.work, relaxed.ended
        matrix = types.expand(found.matrix)
        proof = found.proof
        # The optima are equal; in floats each may be off.
        off = float(cost_error(utility, proof.bound, task.symbols, matrix.shape[1]))
        bound = proved_bound(task, proof.bound - off)
        remarks = found.remarks if found.matrix.shape[1] > 1 else ()
        if isinstance(task.shape, Linear):
            # Each output is a guess; joining those with the same one costs nothing.
            read = np.argmax(matrix * problem.masses[:, None], axis=0)
            used = np.unique(read)
            matrix = np.stack([matrix[:, read == x].sum(axis=1) for x in used], axis=1)
        kept = merge_rare_outputs(problem, utility, matrix)
        cost = mean_cost(utility, kept.matrix, problem.masses)
        if is_worthless(cost, reference):
            return constant_solution(task, bound)
        if isinstance(task.shape, Linear):
            outputs = problem.inputs.subset(int(x) for x in used[list(kept.kept)])
            order = np.arange(len(outputs))
        else:
            outputs, order = name_outputs(problem.inputs, kept.matrix, problem.masses)
        return Solution(
            kept.matrix[:, order],
            outputs,
            replace(proof, cost=cost, bound=min(bound, cost), reference=reference),
            (*remarks, *kept.remarks()),
        )

    return Reduced(smaller, expand, f"{task.symbols:,} symbols are of {len(types):,} types")


def scale_numbers(task: Task) -> Reduced | None:
    """Bring numbers to a range of about 1, or linear programmes lose their digits.

    By a power of two, so that nothing is rounded.
    """
    shape = task.shape
    if not isinstance(shape, Variance):
        return None
    size = float(np.ptp(shape.points))
    unit = 2.0 ** round(np.log2(size)) if size > 0 else 1.0
    if unit == 1.0:
        return None
    clock, square = task.clock, unit**2
    if clock.watch is not None:
        tell = clock.watch
        clock.watch = lambda step: tell(
            step.scaled(square) if isinstance(step, SearchStep) else step
        )
    smaller = replace(task, utility=Mean(tuple((shape.points / unit).tolist())))

    def expand(found: Solution, solve: Solve) -> Solution:  # noqa: ARG001
        proof = found.proof
        scaled = replace(
            proof,
            cost=square * proof.cost,
            bound=square * proof.bound,
            reference=square * proof.reference,
        )
        return replace(found, proof=scaled)

    return Reduced(smaller, expand, f"numbers are divided by {unit:g}")


REDUCTIONS = (
    Reduction(
        "drop-impossible-inputs",
        "solve for the inputs that occur; the others answer like the most likely one",
        "LDP, where an input has probability 0",
        "exact: equal rows keep every ratio of likelihoods",
        drop_impossible_inputs,
    ),
    Reduction(
        "group-neighbours",
        f"merge neighbouring numbers into {LIMITS.few_symbols} groups",
        f"a prior of more than {LIMITS.grouped_numbers} numbers under LDP, for an error of numbers",
        "bounded by the optimum of LIP, and by what the rest within a group can say",
        group_neighbours,
    ),
    Reduction(
        "merge-types",
        "take symbols that say the same of the secret for one symbol",
        "a secret behind X; mutual information, histogram or guess",
        "exact: the optimum of the types is that of the symbols",
        merge_types,
    ),
    Reduction(
        "scale-numbers",
        "divide numbers by a power of two, so that their range is about 1",
        "the squared error of numbers",
        "exact: nothing is rounded",
        scale_numbers,
    ),
)
"""In the order in which they are tried."""
