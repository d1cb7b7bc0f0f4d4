"""The subset response: the best mechanism inside each subset of high-risk symbols (SRR)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from liftlock._runtime.clock import Clock, Ending, SetupTimedOut
from liftlock._solver.column_generation import Oracle, generate_columns
from liftlock._solver.enumeration import EnumeratedOracle, enumerate_vertices, half_spaces
from liftlock._solver.outputs import merge_rare_outputs, name_outputs
from liftlock._solver.problem import Problem
from liftlock.designs.base import LIFT_NOTIONS, Design, Draft
from liftlock.designs.mechanisms.optimal import optimal
from liftlock.designs.mechanisms.watchdog import (
    READING,
    Pool,
    Reading,
    merged_draft,
    printed_subsets,
    refuse_reading,
    safe_subsets,
    sort_groups,
)
from liftlock.errors import InputError, extra
from liftlock.exact.integers import Floats
from liftlock.exact.linear_programme import Highs
from liftlock.exact.reproducible import dot
from liftlock.model import Context, Joint
from liftlock.model.alphabet import Alphabet, Label
from liftlock.notions.base import Notion
from liftlock.utility.base import Linear, Utility, restrict
from liftlock.utility.symmetric import MutualInformation

_ENUMERATE = 7
"""Largest subset whose extreme posteriors are all listed, which is quickest there."""
_CUTS = 1000
"""Unless there are more limits than this, as for LDP with many secrets."""


def subset_response(
    context: Context,
    notion: Notion,
    *,
    utility: Utility | None = None,
    gap: float = 1e-6,
    seconds: float | None = None,
    as_published: bool = False,
    reading: Reading | None = None,
) -> Draft:
    """Release low-risk symbols, and respond at random inside each subset of the others.

    The subsets are those of subset merging. Inside a subset X_i the response is the optimum over
    the posteriors on X_i that the notion allows,

        minimise sum_k beta_k c(v_k)   subject to   sum_k beta_k v_k = P_X on X_i,

    which is at least as good as merging X_i. It can be solved exactly when merging X_i is allowed:
    that is tested, and repaired, before. (The printed test, that some posterior on X_i is allowed,
    is not enough.) For thousands of symbols it is far quicker than the optimum, and a little worse.

    `as_published` takes the subsets of Algorithm 1 as published (see `subset_merging` for its
    readings) and the entropy for c. Where the print asks for a response that does not exist it is
    refused.

    Source: 002 Algorithm 2, eq. (24)-(30).

    >>> from liftlock.model import Joint
    >>> from liftlock.notions.lip import LIP
    >>> table = {"s": {"a": 30, "b": 5, "c": 20, "d": 45}, "t": {"a": 5, "b": 30, "c": 45, "d": 20}}
    >>> draft = subset_response(Joint.from_counts(table), LIP("0.3"))
    >>> draft.matrix.shape, draft.matrix.round(3)[0].tolist()
    ((4, 4), [0.681, 0.319, 0.0, 0.0])
    """
    goal: Utility = utility if utility is not None else MutualInformation()
    pool = Pool.of(context, notion)
    low, high = pool.split()
    if as_published:
        goal = MutualInformation()
        groups = sort_groups([*printed_subsets(pool, high, notion, reading), *([x] for x in low)])
        if not all(pool.is_safe(group) for group in groups):
            return _merge_where_printed(pool, Problem.of(context, notion), groups)
    else:
        refuse_reading(reading)
        groups = sort_groups(safe_subsets(pool, low, high))
    if len(groups) == 1 and not isinstance(context, Joint):
        whole = optimal(context, notion, utility=goal, gap=gap, seconds=seconds)
        remark = "no symbol can be told apart from the others: the optimum over all of them"
        return replace(whole, remarks=(remark, *whole.remarks), optimality=None)
    problem = Problem.of(context, notion)
    clock = Clock(gap=gap, seconds=seconds)
    parts = [_solve_subset(problem, goal, group, clock) for group in groups]
    outputs = [label for part in parts for label in part.outputs]
    matrix = np.zeros((len(pool.masses), len(outputs)))
    begin = 0
    for part in parts:
        end = begin + len(part.outputs)
        matrix[part.symbols, begin:end] = part.rows
        begin = end
    return Draft.of(pool.inputs, outputs, matrix, remarks=_remarks(parts, len(pool.masses)))


def _merge_where_printed(pool: Pool, problem: Problem, groups: list[list[int]]) -> Draft:
    """Return what Algorithm 2 makes of a crowd that is not safe: it merges it, or has no answer.

    Algorithm 1 leaves an unsafe crowd only where it is the only one. If no posterior on it is
    allowed, lines 17 and 18 merge it all the same. If one is, line 21 asks for a mixture of allowed
    posteriors whose mean is that of the crowd, and there is none: the mean would be allowed too.
    """
    (crowd,) = (group for group in groups if not pool.is_safe(group))
    if _some_posterior(_within(problem, crowd)):
        raise InputError(
            "Algorithm 2 as published has no answer: programme (26) has no solution on a subset "
            "that breaks the budget when it is merged",
            value=pool.text_of(crowd),
            remedy="leave out as_published: the subset is then repaired first",
        )
    said = "as published, and the merged symbol does not keep the budget"
    return merged_draft(pool, groups, [said])


def _some_posterior(problem: Problem) -> bool:
    """Tell whether any posterior on a subset is allowed.

    Source: 002 eq. (25), Algorithm 2 line 7.
    """
    with extra("solver"):
        from scipy.sparse import csc_matrix

    cuts, symbols = half_spaces(problem).astype(np.float64), len(problem.masses)
    rows = np.vstack([np.ones((1, symbols)), cuts])
    most = np.concatenate([[1.0], np.zeros(len(cuts))])
    least = np.concatenate([[1.0], np.full(len(cuts), -np.inf)])
    highs = Highs()
    highs.pass_columns(csc_matrix(rows), np.zeros(symbols), np.ones(symbols), least, most)
    return highs.solve().status != "infeasible"


@dataclass(frozen=True)
class _Part:
    """The response inside one subset: rows symbols, columns the outputs of that subset."""

    symbols: list[int]
    outputs: tuple[Label, ...]
    rows: Floats
    stopped: Ending = ""


def _solve_subset(problem: Problem, goal: Utility, group: list[int], clock: Clock) -> _Part:
    """Find the best response inside one subset."""
    labels = problem.inputs.subset(group)
    if len(group) == 1:
        return _Part(group, labels.labels, np.ones((1, 1)))
    inside = _within(problem, group)
    happen = problem.masses[group] > 0
    narrow = restrict(goal, np.array(group)[happen].tolist(), len(problem.masses))
    outputs, channel, stopped = _solve(inside, narrow, clock)
    # A symbol that never occurs (LDP only) answers like the subset as a whole.
    rows = np.tile(dot(inside.masses, channel), (len(group), 1))
    rows[happen] = channel
    return _Part(group, _unique(outputs.labels, labels.labels), rows, stopped)


def _within(problem: Problem, group: list[int]) -> Problem:
    """Return the problem of a response inside one subset, of its symbols that occur."""
    places = [x for x in group if problem.masses[x] > 0]
    masses = problem.masses[places]
    # When the secret is X itself, only the secrets of the subset can be limited (from above).
    given = np.eye(len(places)) if problem.given is None else problem.given[:, places]
    secrets = problem.secret_masses[places] if problem.given is None else problem.secret_masses
    return replace(
        problem,
        inputs=problem.inputs.subset(places),
        masses=masses / float(masses.sum()),
        given=given[secrets > 0],
        secret_masses=secrets[secrets > 0],
    )


def _solve(problem: Problem, goal: Utility, clock: Clock) -> tuple[Alphabet, Floats, Ending]:
    """Return the outputs and the channel of the best response, and what stopped the search."""
    symbols = len(problem.masses)
    if problem.lower >= 1.0 or problem.upper <= 1.0 or problem.ratio == 1.0:
        # A budget of 0 leaves no room for rounding, and only merging needs none.
        return problem.inputs.subset([0]), np.ones((symbols, 1)), ""
    oracle = _enumerate_posteriors(problem, goal)
    if oracle is None and isinstance(goal.shape, Linear):
        from liftlock._solver.channel_programme import least_distortion

        least = least_distortion(problem, goal, clock=clock)
        kept = merge_rare_outputs(problem, goal, least.matrix)
        return least.outputs.subset(kept.kept), kept.matrix, least.stopped
    if oracle is None:
        with clock.pause():  # while it is compiled
            from liftlock._solver.separable import rows_oracle

        try:
            oracle = rows_oracle(problem, goal, clock)
        except SetupTimedOut:
            return problem.inputs.subset([0]), np.ones((symbols, 1)), clock.ended
    found = generate_columns(problem.masses, goal, oracle, clock)
    channel = merge_rare_outputs(problem, goal, found.channel(problem.masses)).matrix
    outputs, order = name_outputs(problem.inputs, channel, problem.masses)
    return outputs, channel[:, order], found.stopped


def _enumerate_posteriors(problem: Problem, goal: Utility) -> Oracle | None:
    """List every extreme posterior, if they are few enough and far enough apart."""
    symbols = len(problem.masses)
    cuts = half_spaces(problem) if symbols <= _ENUMERATE else np.zeros((0, symbols))
    if symbols > 2 and not 0 < len(cuts) <= _CUTS:
        return None
    try:
        return EnumeratedOracle(enumerate_vertices(cuts, symbols), goal)
    except InputError:
        return None


def _unique(names: tuple[Label, ...], labels: tuple[Label, ...]) -> tuple[Label, ...]:
    """Keep names that are labels of the subset; number others after its first label."""
    known = set(labels)
    if all(name in known for name in names):
        return names
    return tuple(f"{labels[0]} ({k + 1})" for k in range(len(names)))


def _remarks(parts: list[_Part], symbols: int) -> list[str]:
    """Say how the symbols were divided."""
    sizes = [len(part.symbols) for part in parts]
    alone = sizes.count(1)
    if alone == symbols:
        return ["every symbol is of low risk: X is released as it is"]
    count = len(sizes) - alone
    subsets = f"{count} subset{'s' * (count != 1)} of up to {max(sizes)}"
    remarks = [
        f"released as they are: {alone} of {symbols} symbols",
        f"the others answer at random inside {subsets}",
    ]
    if any(part.stopped for part in parts):
        remarks.append("stopped early: some responses inside a subset may not be the best")
    return remarks


DESIGN = Design(
    key="subset-response",
    make=subset_response,
    summary="release symbols of low risk, respond optimally inside small subsets of "
    "the others (SRR)",
    promises="optimal inside each subset, not overall; never worse than subset merging",
    source="002 Algorithm 2, corrected",
    published=("lip", "alip"),
    notions=(*LIFT_NOTIONS, "ldp"),
    contexts=("prior", "joint"),
    uses_utility=True,
    options={
        "gap": "the relative gap to prove inside each subset (1e-6)",
        "seconds": "time limit in seconds; the best responses so far are used",
        "reading": READING,
    },
)
