"""Profile-based privacy: outputs of any two joined profiles within a factor e^epsilon.

The secret is the distribution that the data comes from. With X_i ~ P_i,

    P(A(X_i, P_i) = y) <= e^epsilon P(A(X_j, P_j) = y)   for every edge (i, j) and every y.

A channel may use the profile, then its inputs are pairs (profile, value), or ignore it, then its
inputs are the values alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

import numpy as np

from liftlock.errors import NotDefined, UnprotectedInput
from liftlock.exact import enclosure
from liftlock.exact.budget import Budget
from liftlock.exact.enclosure import BITS, Enclosure, nearest_float
from liftlock.exact.fingerprint import fraction_text
from liftlock.exact.integers import Floats, Integers
from liftlock.model import Context, ProfileGraph
from liftlock.model.alphabet import Alphabet, Label, label_to_json
from liftlock.model.structured import AnyChannel, to_dense
from liftlock.notions.base import MeasuredBound
from liftlock.notions.certificate import Certificate, Claim, make_certificate
from liftlock.notions.lift import Impossible, check_impossible
from liftlock.notions.likelihood import SMALLEST
from liftlock.notions.measurement import Measurement, Witness, number_to_json, screening_error


@dataclass(frozen=True, eq=False)
class OutputDistribution:
    """One distribution of the outputs: numerators over a total, and the nearest floats."""

    numerators: Integers
    total: int

    @cached_property
    def floats(self) -> Floats:
        """The nearest floats, for screening and display."""
        values = [nearest_float(Fraction(int(n), self.total)) for n in self.numerators]
        return np.array(values, dtype=np.float64)

    def at(self, y: int) -> Fraction:
        """Return one probability."""
        return Fraction(int(self.numerators[y]), self.total)


def largest_ratio(
    one: OutputDistribution, other: OutputDistribution
) -> tuple[Fraction | None, int | None]:
    """Return the largest ratio of two distributions, either way (None: infinite), and where it is.

    Distributions that are equal have ratio 1, at no output.
    """
    worst, place = Fraction(1), None
    for y in _candidates(one.floats, other.floats):
        first, second = one.at(y), other.at(y)
        if first == second:
            continue
        if not first or not second:
            return None, y
        ratio = first / second if first > second else second / first
        if ratio > worst:
            worst, place = ratio, y
    return worst, place


def _candidates(left: Floats, right: Floats) -> list[int]:
    """Return the outputs that could have the largest ratio: floats screen, integers decide."""
    if min(left.min(), right.min()) < SMALLEST:
        return list(range(len(left)))
    ratios = np.maximum(left / right, right / left)
    near = ratios >= ratios.max() * (1 - 4 * screening_error(1))
    return [int(y) for y in np.flatnonzero(near)]


@dataclass(frozen=True)
class OutputDistributions:
    """What each profile releases: P(y | profile i) = numerators[i, y] / denominators[i].

    `rows` are the rows of the channel by profile and value (numerators of `row_total`).
    """

    graph: ProfileGraph
    outputs: Alphabet
    numerators: Integers
    denominators: tuple[int, ...]
    rows: Integers
    row_total: int

    @classmethod
    def of(cls, channel: AnyChannel, graph: ProfileGraph) -> OutputDistributions:
        """Compute them exactly.

        >>> from liftlock.model.channel import Channel
        >>> graph = ProfileGraph.bernoulli(["0.2", "0.9"])
        >>> OutputDistributions.of(Channel.identity([0, 1]), graph).at(0, 1)
        Fraction(1, 5)
        """
        table = to_dense(channel)
        pairs = graph.uses_profile(table.inputs)
        size, width, outputs = len(graph), len(graph.inputs), len(table.outputs)
        wanted = graph.pairs if pairs else graph.inputs
        order = wanted.positions_in(table.inputs, whose="the graph", other_name="the channel")
        factors = np.array(table.row_factors, dtype=object)[:, None]
        scaled = (table.weights.astype(object) * factors)[order]
        rows = scaled.reshape(size if pairs else 1, width, outputs)
        return cls.of_rows(graph, table.outputs, rows, table.common_total)

    @classmethod
    def of_rows(
        cls, graph: ProfileGraph, outputs: Alphabet, rows: Integers, total: int
    ) -> OutputDistributions:
        """Mix the rows of values, by profile or alike, by the distributions of the profiles."""
        counts = np.empty((len(graph), len(graph.inputs), 1), dtype=object)
        counts[:, :, 0] = graph.counts
        denominators = tuple(sums * total for sums in graph.totals)
        return cls(graph, outputs, (counts * rows).sum(axis=1), denominators, rows, total)

    @cached_property
    def distributions(self) -> tuple[OutputDistribution, ...]:
        """What each profile releases."""
        pairs = zip(self.numerators, self.denominators, strict=True)
        return tuple(OutputDistribution(numerators, total) for numerators, total in pairs)

    def at(self, i: int, y: int) -> Fraction:
        """Return P(y | profile i) by positions."""
        return self.distributions[i].at(y)

    def row(self, i: int, x: int) -> OutputDistribution:
        """Return the row of value x under profile i, by positions."""
        return OutputDistribution(self.rows[i if len(self.rows) > 1 else 0, x], self.row_total)

    @cached_property
    def floats(self) -> Floats:
        """The nearest floats, for display."""
        return np.array([distribution.floats for distribution in self.distributions]).reshape(
            self.numerators.shape
        )


@dataclass(frozen=True)
class EdgeLoss:
    """The loss of one edge: the largest ratio (None: infinite), at an output, and which way.

    `more` is the profile that gives `output` more often than `less` does; an edge whose profiles
    release alike has no output to point at.
    """

    more: Label
    less: Label
    output: Label | None
    ratio: Fraction | None

    @cached_property
    def nats(self) -> Enclosure:
        """The loss in nats, enclosed."""
        return Enclosure.infinity() if self.ratio is None else enclosure.log(self.ratio, BITS)

    @property
    def witness(self) -> Witness | None:
        """Where the loss is attained."""
        if self.output is None:
            return None
        return Witness(secret=self.more, other=self.less, output=self.output)

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "more": label_to_json(self.more),
            "less": label_to_json(self.less),
            "output": None if self.output is None else label_to_json(self.output),
            "loss": number_to_json(self.nats),
            "ratio": "inf" if self.ratio is None else fraction_text(self.ratio),
        }


def edge_losses(distributions: OutputDistributions) -> tuple[EdgeLoss, ...]:
    """Return the exact loss of every edge, in the order of the graph.

    Source: 004 eq. (2).

    >>> from liftlock.model.channel import Channel
    >>> graph = ProfileGraph.bernoulli(["0.2", "0.9"])
    >>> edge_losses(OutputDistributions.of(Channel.identity([0, 1]), graph))[0].ratio
    Fraction(8, 1)
    """
    return tuple(
        _edge_loss(distributions, first, second) for first, second in distributions.graph.edges
    )


def _edge_loss(distributions: OutputDistributions, first: int, second: int) -> EdgeLoss:
    names = distributions.graph.profiles.labels
    one, other = distributions.distributions[first], distributions.distributions[second]
    ratio, y = largest_ratio(one, other)
    if y is None:
        return EdgeLoss(names[first], names[second], None, ratio)
    more, less = (first, second) if one.at(y) > other.at(y) else (second, first)
    return EdgeLoss(names[more], names[less], distributions.outputs.labels[y], ratio)


def worst_edge(losses: tuple[EdgeLoss, ...]) -> EdgeLoss | None:
    """Return the edge of the largest loss (the first of equals); None without edges."""
    best: EdgeLoss | None = None
    for loss in losses:
        if loss.ratio is None:
            return loss
        if best is None or (best.ratio is not None and loss.ratio > best.ratio):
            best = loss
    return best


def edge_measurement(losses: tuple[EdgeLoss, ...], bits: int = BITS) -> Measurement:
    """Return the largest loss of any edge as what was measured; no edges lose nothing."""
    worst = worst_edge(losses)
    if worst is None:
        return Measurement.of_ratio(ProfilePrivacy.key, Fraction(1), None, bits)
    return Measurement.of_ratio(ProfilePrivacy.key, worst.ratio, worst.witness, bits)


def _graph(context: Context) -> ProfileGraph:
    if not isinstance(context, ProfileGraph):
        raise NotDefined("profile", context.describe(), "give a ProfileGraph (--profiles)")
    return context


def outside_losses(distributions: OutputDistributions) -> dict[tuple[int, int], Fraction | None]:
    """Return by how much values that a profile calls impossible would give it away.

    For each (profile, value) of probability 0 whose profile has an edge: the largest ratio, either
    way (None: infinite), between the value's row and what a neighbour releases, by its own
    distribution or by a value that is impossible there. Where all of these keep a budget, so does
    every mixture of what the two profiles call possible and impossible.

    >>> from liftlock.model.channel import Channel
    >>> graph = ProfileGraph.bernoulli(["0", "1"])
    >>> outside_losses(OutputDistributions.of(Channel.identity([0, 1]), graph))
    {(0, 1): None, (1, 0): None}
    """
    # Many values, and many profiles, share their rows: each is looked at once.
    kinds: dict[tuple[int, ...], int] = {}
    rows: list[OutputDistribution] = []
    never: dict[int, dict[int, list[int]]] = {}
    for i, x in distributions.graph.impossible():
        row = distributions.row(i, x)
        kind = kinds.setdefault(tuple(row.numerators.tolist()), len(rows))
        if kind == len(rows):
            rows.append(row)
        never.setdefault(i, {}).setdefault(kind, []).append(x)

    @cache
    def ratio_to_profile(kind: int, profile: int) -> Fraction | None:
        return largest_ratio(rows[kind], distributions.distributions[profile])[0]

    @cache
    def from_row(kind: int, other: int) -> Fraction | None:
        return largest_ratio(rows[kind], rows[other])[0]

    found: dict[tuple[int, int], Fraction | None] = {}

    def met(i: int, values: list[int], ratio: Fraction | None) -> None:
        for x in values:
            worst = found.get((i, x), Fraction(1))
            found[i, x] = None if ratio is None or worst is None else max(worst, ratio)

    for first, second in distributions.graph.edges:
        for one, other in ((first, second), (second, first)):
            for kind, values in never.get(one, {}).items():
                met(one, values, ratio_to_profile(kind, other))
        for kind, values in never.get(first, {}).items():
            for their, others in never.get(second, {}).items():
                ratio = from_row(kind, their)
                met(first, values, ratio)
                met(second, others, ratio)
    return found


class ProfilePrivacy(MeasuredBound):
    """The guarantee of (G, epsilon)-profile-based privacy.

    It holds for data that comes from the profiles. A value that a profile calls impossible is
    covered too if its row stays within the budget of whatever the neighbours may release; if it
    does not, it is refused, or listed as not protected with ``impossible="ignore"``.

    Source: 004 Def 2.

    >>> from liftlock.model.channel import Channel
    >>> graph = ProfileGraph.bernoulli(["0.2", "0.9"])
    >>> ProfilePrivacy("ln 8").certify(Channel.identity([0, 1]), graph).holds
    True
    """

    budget: Budget

    key = "profile"
    title = "profile-based privacy"
    summary = "outputs of joined profiles within e^budget"

    @classmethod
    def measure(cls, channel: AnyChannel, context: Context, bits: int = BITS) -> Measurement:
        """Measure the largest loss of any edge, in nats; a graph without edges promises nothing.

        Source: 004 Def 2.

        >>> from liftlock.model.channel import Channel
        >>> graph = ProfileGraph.bernoulli(["0.2", "0.9"])
        >>> ProfilePrivacy.measure(Channel.identity([0, 1]), graph).ratio
        Fraction(8, 1)
        """
        return edge_measurement(edge_losses(OutputDistributions.of(channel, _graph(context))), bits)

    @property
    def profile_budget(self) -> Budget:
        """The budget of the edges."""
        return self.budget

    def certify(
        self, channel: AnyChannel, context: Context, *, impossible: Impossible = "refuse"
    ) -> Certificate:
        """Audit exactly whether every edge stays within the budget."""
        check_impossible(impossible)
        graph = _graph(context)
        if not graph.edges:
            raise NotDefined(
                "profile",
                "a graph without edges, which promises nothing",
                "join the profiles that must not be told apart",
            )
        distributions = OutputDistributions.of(channel, graph)
        measurement = edge_measurement(edge_losses(distributions))
        unprotected = tuple(
            (graph.profiles.labels[i], graph.inputs.labels[x])
            for (i, x), lost in outside_losses(distributions).items()
            if not self.budget.allows(lost)
        )
        holds = self.budget.allows(measurement.ratio)
        if holds and unprotected and impossible == "refuse":
            raise UnprotectedInput(unprotected, whose="the profile")
        claim = Claim(self.key, measurement.value, "<=", self.bound(), holds, measurement.witness)
        return make_certificate(
            self.name,
            self.budgets,
            channel,
            graph,
            [claim],
            {self.key: measurement.value},
            unprotected,
        )
