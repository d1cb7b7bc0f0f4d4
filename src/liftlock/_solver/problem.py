"""What a mechanism must respect, in floats: masses, the distribution of the secret, and the limits.

Designs work with these floats and are not trusted; `lock` proves the result with exact numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from liftlock._runtime.clock import Clock, Ending
from liftlock.errors import InputError, NotDefined
from liftlock.exact.budget import Budget
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot, exp
from liftlock.exact.rounding import MOST_BITS, QUOTIENT, UNIT
from liftlock.exact.tolerances import TOLERANCES
from liftlock.model import (
    Ball,
    Context,
    Family,
    Intervals,
    Joint,
    Prior,
    PriorSet,
    ProfileGraph,
    representative,
)
from liftlock.model.alphabet import Alphabet, Label
from liftlock.model.provenance import gap_text
from liftlock.notions.base import Notion
from liftlock.notions.guarantee import Wanted
from liftlock.utility.base import Shape, Utility
from liftlock.utility.distortion import Distortion
from liftlock.utility.profile_utility import ProfileUtility
from liftlock.utility.symmetric import MutualInformation

MOST_RATIO = float(1 << MOST_BITS)
"""Beyond this ratio (43 nats) nothing is gained: no table has a larger one."""

_BLENDED = 2.0**30


@dataclass(frozen=True)
class Limit:
    """What one guarantee allows an output to tell of one secret, in floats."""

    context: Context
    notion: Notion
    secret_masses: Floats
    """P_S, or P_X when the secret is X itself."""
    given: Floats | None
    """P(S | X), rows secrets, columns inputs; None when the secret is X itself."""
    lower: float
    """The smallest lift allowed, 0 if any is; for LDP see `ratio`."""
    upper: float
    """The largest lift allowed, inf if any is."""
    ratio: float | None
    """For LDP: the largest ratio of two likelihoods; None for lift notions."""

    @classmethod
    def of(cls, context: Context, notion: Notion) -> Limit:
        """Read a context and a lift notion or LDP."""
        given, secret_masses = None, representative(context).floats()
        if isinstance(context, Joint):
            masses = secret_masses
            counts = np.array(
                [[float(Fraction(c, context.total)) for c in row] for row in context.counts]
            )
            given = np.divide(counts, masses, out=np.zeros_like(counts), where=masses > 0)
            # A secret that never occurs constrains nothing.
            distributions = np.array(
                [float(Fraction(sum(row), context.total)) for row in context.counts]
            )
            given, secret_masses = given[distributions > 0], distributions[distributions > 0]
        return cls(context, notion, secret_masses, given, *limits(notion))

    @property
    def lifts(self) -> Floats:
        """What turns a posterior of X into lifts: P(S | X) / P_S, or 1 / P_X on the diagonal."""
        given = np.eye(len(self.secret_masses)) if self.given is None else self.given
        keep = self.secret_masses > 0
        lifts: Floats = given[keep] / self.secret_masses[keep, None]
        return lifts

    @property
    def is_box(self) -> bool:
        """Whether it limits each entry of a posterior by itself."""
        return self.given is None and self.ratio is None

    @property
    def is_left_to_locking(self) -> bool:
        """Whether it is LDP of X itself with a ratio so large that a blend of 1e-9 keeps it.

        Blended with a weight t, lifts of X lie between t and 1 / min P.
        """
        if self.given is not None or self.ratio is None:
            return False
        return self.ratio * float(self.secret_masses.min()) >= _BLENDED

    @property
    def capped(self) -> bool:
        """Whether the budget is larger than solvers can bear, so that they work with a smaller."""
        return MOST_RATIO in (self.upper, self.ratio) or self.lower == 1 / MOST_RATIO

    @property
    def allows_nothing(self) -> bool:
        """Whether floats cannot tell the budget from 0."""
        return self.lower >= 1.0 or self.upper <= 1.0 or self.ratio == 1.0

    def widen(self) -> Limit:
        """Return the same a hair wider than what rounding could make of it."""
        more, less = 1.0 + QUOTIENT, 1.0 - QUOTIENT
        ratio = None if self.ratio is None else self.ratio * more
        return replace(self, lower=self.lower * less, upper=self.upper * more, ratio=ratio)


@dataclass(frozen=True)
class Problem:
    """A context and a notion as numbers that a solver can read; or several, for one channel.

    >>> from liftlock.notions.lip import LIP
    >>> problem = Problem.of(Prior.from_counts({"a": 1, "b": 3}), LIP("ln 2"))
    >>> problem.masses.tolist(), problem.lower, problem.upper, problem.given is None
    ([0.25, 0.75], 0.5, 2.0, True)
    """

    context: Context
    notion: Notion
    inputs: Alphabet
    masses: Floats
    """P_X; for a set of priors that of one prior inside it."""
    secret_masses: Floats
    """P_S; equal to `masses` when the secret is X itself."""
    given: Floats | None
    """P(S | X), rows secrets, columns inputs; None when the secret is X itself."""
    lower: float
    """The smallest lift allowed, 0 if any is; for LDP see `ratio`."""
    upper: float
    """The largest lift allowed, inf if any is."""
    ratio: float | None
    """For LDP: the largest ratio of two likelihoods; None for lift notions."""
    more: tuple[Limit, ...] = field(default=(), kw_only=True)
    """What else every output must keep: limits of other secrets of the same X, or of X itself."""

    @classmethod
    def of(cls, context: Context, notion: Notion) -> Problem:
        """Read a context whose symbols all have positive probability, and a lift notion or LDP."""
        return Problem.of_several(context, notion, ())

    @staticmethod
    def of_several(context: Context, notion: Notion, also: Sequence[Wanted]) -> Problem:
        """Read several guarantees, whose contexts give the same symbols the same probabilities.

        The order of the symbols is the same in all. A secret behind X comes first.
        """
        every = [(context, notion), *((each.context, each.notion) for each in also)]
        for known, asked in every:
            if asked.ratio_limit is None or also:
                refuse_zero_mass(known)
        prior = representative(context)
        every.sort(key=lambda pair: not isinstance(pair[0], Joint))
        read = [Limit.of(known, asked) for known, asked in every]
        first, *more = [limit for limit in read if not limit.is_left_to_locking] or read[:1]
        return Problem(
            first.context,
            first.notion,
            prior.alphabet,
            prior.floats(),
            first.secret_masses,
            first.given,
            first.lower,
            first.upper,
            first.ratio,
            more=tuple(more),
        )

    @property
    def limits(self) -> tuple[Limit, ...]:
        """What every output must keep, all of it."""
        first = Limit(
            self.context,
            self.notion,
            self.secret_masses,
            self.given,
            self.lower,
            self.upper,
            self.ratio,
        )
        return (first, *self.more)

    @property
    def only_itself(self) -> bool:
        """Whether nothing is limited but what an output tells of X itself, by one guarantee."""
        return self.given is None and not self.more

    def widen(self) -> Problem:
        """Return the same with limits a hair wider than what rounding could make of them.

        Every mechanism that the exact numbers allow keeps these limits in floats as well, so what
        is proved of all that keep these holds for it; locking takes the hair back.
        """
        more, less = 1.0 + QUOTIENT, 1.0 - QUOTIENT
        ratio = None if self.ratio is None else self.ratio * more
        rest = tuple(limit.widen() for limit in self.more)
        return replace(
            self, lower=self.lower * less, upper=self.upper * more, ratio=ratio, more=rest
        )

    @property
    def capped(self) -> bool:
        """Whether a budget is larger than solvers can bear, so that they work with a smaller."""
        return any(limit.capped for limit in self.limits)

    @property
    def allows_nothing(self) -> bool:
        """Whether floats cannot tell a budget from 0."""
        return any(limit.allows_nothing for limit in self.limits)

    @property
    def uncertain(self) -> bool:
        """Whether the context is a set of priors."""
        return isinstance(self.context, PriorSet)


@dataclass(frozen=True)
class ProfileProblem(Problem):
    """A graph of profiles: the secret is the profile, and edges say which ones are compared.

    A channel is `blocks` of shape (profiles, values, outputs), or (1, values, outputs) when it
    ignores the profile.

    >>> from liftlock.notions.profile import ProfilePrivacy
    >>> problem = ProfileProblem.of(ProfileGraph.bernoulli(["0.2", "0.9"]), ProfilePrivacy("ln 2"))
    >>> problem.distributions.tolist(), problem.edges.tolist(), round(problem.ratio, 6)
    ([[0.8, 0.2], [0.1, 0.9]], [[0, 1]], 2.0)
    """

    context: ProfileGraph
    ratio: float
    """e^epsilon, by a hair too small."""
    distributions: Floats
    """P(x | profile), rows profiles."""
    edges: npt.NDArray[np.intp]

    @classmethod
    def of(cls, context: Context, notion: Notion, weights: Floats | None = None) -> ProfileProblem:
        """Read a graph and a guarantee for its edges; profiles count alike without weights."""
        assert isinstance(context, ProfileGraph)
        budget = notion.profile_budget
        if budget is None:
            raise NotDefined(
                "designing for profiles", f"the notion {notion.name}", 'use ProfilePrivacy("1")'
            )
        # What profiles release sits on the boundary: a smaller budget leaves room for rounding.
        ratio = min(float(exp(float(budget) * (1.0 - TOLERANCES.visible))), MOST_RATIO)
        distributions = context.distributions
        counts = (
            np.full(len(distributions), 1.0 / len(distributions)) if weights is None else weights
        )
        masses = dot(counts, distributions)
        given = np.divide(
            counts[:, None] * distributions,
            masses,
            out=np.zeros_like(distributions),
            where=masses > 0,
        )
        return cls(
            context,
            notion,
            context.inputs,
            masses,
            counts,
            given,
            0.0,
            np.inf,
            ratio,
            distributions,
            context.edge_array,
        )

    def widen(self) -> ProfileProblem:
        """Return the same with a budget by a hair too large: what bounds have to be proved for."""
        power = 1.0 + 2.0 * TOLERANCES.visible
        return replace(self, ratio=float(self.ratio**power * (1.0 + QUOTIENT)))

    @property
    def values(self) -> int:
        """How many values a profile speaks of."""
        return len(self.inputs)

    @property
    def directed_edges(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """The profiles that are compared, each edge in both directions."""
        first, second = self.edges.T
        return np.append(first, second), np.append(second, first)

    def released(self, blocks: Floats) -> Floats:
        """Return what each profile releases, P_i A^i."""
        if len(blocks) == 1:
            shared: Floats = dot(self.distributions, blocks[0])
            return shared
        each: Floats = (self.distributions[:, :, None] * blocks).sum(axis=1)
        return each

    def fill_impossible_rows(self, blocks: Floats) -> Floats:
        """Let values that a profile calls impossible follow what the profile releases.

        Then the guarantee covers them too, at no cost: they never occur.
        """
        covered = blocks.copy()
        released = self.released(blocks)
        profile, value = np.nonzero(self.distributions == 0)
        covered[profile, value] = released[profile]
        return covered


def limits(notion: Notion) -> tuple[float, float, float | None]:
    """Return the smallest and largest lift that a notion allows, or (0, inf, ratio) for LDP.

    >>> from liftlock.notions.lip import ALIP
    >>> from liftlock.notions.ldp import LDP
    >>> limits(ALIP(lower="ln 4", upper="ln 2"))
    (0.25, 2.0, None)
    >>> limits(LDP("ln 3"))
    (0.0, inf, 3.0)
    """
    lifts = notion.lift_limits()
    if lifts is not None:
        lower = 0.0 if lifts.lower is None else 1 / _ratio(lifts.lower)
        return lower, np.inf if lifts.upper is None else _ratio(lifts.upper), None
    if notion.ratio_limit is not None:
        return 0.0, np.inf, _ratio(notion.ratio_limit)
    raise _undefined_notion(notion)


def allows_nothing(notion: Notion) -> bool:
    """Tell whether a budget is 0 exactly, not only too small for floats to tell.

    >>> from liftlock.notions.ldp import LDP
    >>> from liftlock.notions.lip import LIP
    >>> allows_nothing(LIP("0")), allows_nothing(LIP("1e-30")), allows_nothing(LDP("ln 1"))
    (True, False, True)
    """
    budgets = [*(notion.lift_limits() or ()), notion.ratio_limit]
    return any(budget is not None and not budget.nats().upper for budget in budgets)


def _ratio(budget: Budget) -> float:
    """Return e^epsilon, but no more than solvers can bear: a smaller budget is a safe one."""
    return min(float(budget.exp()), MOST_RATIO)


def ldp_budget(notion: Notion) -> Budget:
    """Return the LDP budget that implies a notion under every prior: the smaller of its budgets.

    Source: 000 Thm 1 converse, Cor 2.

    >>> from liftlock.notions.lip import ALIP
    >>> str(ldp_budget(ALIP(lower="1.3", upper="0.7")))
    '0.7'
    """
    if notion.ldp_budget is None:
        raise _undefined_notion(notion)
    return notion.ldp_budget


def _undefined_notion(notion: Notion) -> NotDefined:
    return NotDefined(
        "designing", f"the notion {notion.name}", "design for lip, alip, eps_upper, eps_lower, ldp"
    )


def zero_mass_inputs(context: Context) -> tuple[Label, ...]:
    """Return the inputs that have probability 0 (under every prior of a set)."""
    if isinstance(context, PriorSet):
        possible = context.possible.tolist()
    else:
        prior = representative(context)
        possible = [count > 0 for count in prior.counts]
    return tuple(
        label for label, can in zip(context.inputs.labels, possible, strict=True) if not can
    )


def refuse_zero_mass(context: Context) -> None:
    """Refuse a context with an input that cannot occur."""
    zero = zero_mass_inputs(context)
    if zero:
        raise InputError(
            "the prior gives an input probability 0",
            value=zero[0],
            remedy="drop it with restrict_to_support(context), or smooth the prior",
        )


def restrict_to_support(context: Context) -> tuple[Context, tuple[Label, ...]]:
    """Drop the inputs that cannot occur; return what is left, and what was dropped.

    >>> kept, dropped = restrict_to_support(Prior.from_counts({"a": 1, "b": 0, "c": 1}))
    >>> kept.inputs.labels, dropped
    (('a', 'c'), ('b',))
    """
    dropped = zero_mass_inputs(context)
    if not dropped:
        return context, ()
    gone = set(dropped)
    kept: Sequence[Label] = [label for label in context.inputs.labels if label not in gone]
    if isinstance(context, Prior | Joint):
        return context.restrict(kept), dropped
    if isinstance(context, Family):
        return Family.of(prior.restrict(kept) for prior in context.priors), dropped
    if isinstance(context, Ball):
        return Ball(context.centre.restrict(kept), context.radius), dropped
    assert isinstance(context, Intervals)
    place = [context.inputs.index(label) for label in kept]
    return context.selected(context.inputs.subset(place), place), dropped


def shared_rows(whole: Alphabet, kept: Prior) -> npt.NDArray[np.intp]:
    """Return the row that each input shares: its own, or that of the likeliest if it never occurs.

    LDP protects inputs of probability 0 as well, and a row that is there twice keeps every ratio.

    >>> shared_rows(Alphabet.of("abc"), Prior.from_counts({"a": 1, "c": 3})).tolist()
    [0, 1, 1]
    """
    model = int(np.argmax(kept.floats()))
    known = {label: x for x, label in enumerate(kept.alphabet.labels)}
    return np.array([known.get(label, model) for label in whole.labels], dtype=np.intp)


# --- what is to be solved, and what was found -----------------------------------------------------


@dataclass(frozen=True)
class Step:
    """What became of one reduction or strategy when a task was solved, for whoever asks how."""

    part: Literal["reduction", "strategy"]
    name: str
    summary: str
    """What it did, or why it was not taken, in one line."""
    taken: bool = True


@dataclass(frozen=True)
class Task:
    """A problem, what its mechanism is to be good for, and when to stop."""

    problem: Problem
    utility: Utility
    clock: Clock = field(default_factory=Clock)
    how: str = "auto"
    """The name of the strategy to take, or ``auto``."""
    begin: Callable[[Problem], Floats] | None = None
    """Posteriors of a mechanism that is found in no time, to begin with where there is a secret."""
    first: Floats | None = None
    """Posteriors of a mechanism that is known to be allowed."""
    explain: Callable[[Step], None] | None = None

    @property
    def symbols(self) -> int:
        """How many inputs there are."""
        return len(self.problem.masses)

    @property
    def shape(self) -> Shape:
        """What is known of the cost."""
        return self.utility.shape

    @property
    def cells(self) -> int:
        """The size of the table of secrets and inputs."""
        given = [limit.given for limit in self.problem.limits]
        return sum(self.symbols if each is None else each.size for each in given)

    @property
    def all_behind(self) -> bool:
        """Whether all that is limited is what an output tells of secrets behind X."""
        return all(limit.given is not None for limit in self.problem.limits)

    @property
    def own_secret(self) -> bool:
        """Whether the secret is X itself, under one prior."""
        return self.problem.only_itself and not self.problem.uncertain

    @property
    def allows_nothing_of_itself(self) -> bool:
        """Whether a budget is 0, or nearly so, that limits what an output tells of X itself."""
        return any(each.allows_nothing for each in self.problem.limits if each.given is None)

    @property
    def by_lifts(self) -> bool:
        """Whether lifts are limited, and no ratios of likelihoods."""
        return all(limit.ratio is None for limit in self.problem.limits)

    @property
    def one_prior(self) -> bool:
        """Whether posteriors are limited by one prior: LDP is the same under every prior."""
        return not (self.problem.uncertain and self.by_lifts)

    @property
    def two_values(self) -> bool:
        """Whether X itself is the secret and has two values."""
        return (
            self.problem.only_itself and self.symbols == 2 and bool((self.problem.masses > 0).all())
        )

    def explain_step(self, step: Step) -> None:
        """Tell whoever asks what is done."""
        if self.explain is not None:
            self.explain(step)


@dataclass(frozen=True, kw_only=True)
class ProfileTask(Task):
    """A graph of profiles, what its mechanism is to be good for, and when to stop."""

    problem: ProfileProblem
    goal: ProfileUtility
    shared: bool = False
    """Whether one matrix is for all profiles, not one for each."""

    @classmethod
    def of(
        cls, graph: ProfileGraph, notion: Notion, goal: ProfileUtility, **rest: Any
    ) -> ProfileTask:
        """Make the task; its utility is that of an output for who does not know the profile."""
        utility: Utility = MutualInformation()
        if not goal.larger_is_better:
            utility = Distortion.of(goal.losses(len(graph.inputs)), graph.inputs)
        problem = ProfileProblem.of(graph, notion, goal.weights)
        return cls(problem=problem, utility=utility, goal=goal, **rest)

    @property
    def blocks(self) -> int:
        """How many matrices a channel has."""
        return 1 if self.shared else len(self.problem.distributions)


_ENDINGS: dict[str, str] = {
    "work": "stopped early at its limit of work",
    "clock": "stopped early by the clock, where a faster machine would have gone on",
    "interrupt": "stopped early by an interruption",
    "stuck": "stopped early, as rounding let it go no further",
    "search": "ended when its search found nothing better",
}


def relative_gap(cost: float, bound: float, reference: float) -> float:
    """Return how far a cost may be above the optimum, relative to that of releasing nothing.

    It is infinite where nothing can be said; where costs are 0 or more it is never above 1, since
    every optimum lies between 0 and the cost of releasing nothing. Where that is infinite, the gap
    is relative to the cost itself.

    >>> round(relative_gap(0.5, 0.25, 1.0), 12), relative_gap(0.5, -2.0, 0.0)
    (0.25, inf)
    >>> round(relative_gap(4.0, 3.0, math.inf), 12)
    0.25
    """
    if cost <= bound:
        return 0.0
    if math.isinf(reference):
        reference = cost
    if not 0 < reference < math.inf:
        return math.inf
    gap = (cost - bound) / reference * (1.0 + 4 * UNIT)
    return min(gap, 1.0) if bound >= 0 else gap


@dataclass(frozen=True)
class Optimality:
    """What a solver proved of a draft: no mechanism of its kind costs less than `bound`.

    Costs are mean costs of the utility (for mutual information H(X | Y)); the gap is relative to
    the cost of releasing nothing, so that it means the same near zero.
    """

    utility: str
    cost: float
    bound: float
    reference: float
    columns: int = 0
    """How many candidate outputs were looked at."""
    rounds: int = 0
    seconds: float = 0.0
    stopped: Ending = ""
    """What ended the search before the gap that was asked for."""

    @property
    def gap(self) -> float:
        """The certified relative gap: (cost - bound) / reference, at least 0."""
        return relative_gap(self.cost, self.bound, self.reference)

    def early_stop_remarks(self, gap: float | None = None) -> tuple[str, ...]:
        """Say what stopped the search before its end, and what is proved; nothing if it ended.

        The gap is that of the draft, unless that of its integers is known.

        >>> Optimality("hamming", 0.5, 0.251, 1.0, stopped="work").early_stop_remarks()
        ('stopped early at its limit of work, with a proved gap of 0.25',)
        """
        if not self.stopped:
            return ()
        shown = self.gap if gap is None else gap
        return (f"{_ENDINGS[self.stopped]}, with a proved gap of {gap_text(shown)}",)


@dataclass(frozen=True)
class Solution:
    """A mechanism with named outputs, what it costs, and a bound of what any mechanism costs."""

    matrix: Floats
    """P(y | x), rows inputs."""
    outputs: Alphabet
    proof: Optimality
    remarks: tuple[str, ...] = ()
    """What a user should know of it, one sentence each."""

    @property
    def gap(self) -> float:
        """The proved relative gap."""
        return self.proof.gap
