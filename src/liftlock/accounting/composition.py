"""Composition for profiles: the loss of samples of one profile, of several, of one observation.

The losses of independent samples of one profile add up, edge by edge and in each direction. Of
independently selected profiles, each keeps the guarantee of its own release. No rule covers several
releases of the *same observation*: their noise is independent only given the value they share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

from liftlock.accounting.account import INSIST, MOST_NATS, useless_text
from liftlock.accounting.accountants.base import largest_level, sum_levels
from liftlock.accounting.accountants.exact import observation_distributions
from liftlock.accounting.release import multiply_ratios
from liftlock.errors import InputError, NotComposable, NotDefined
from liftlock.exact.enclosure import Enclosure
from liftlock.mechanism import Mechanism
from liftlock.model import ProfileGraph
from liftlock.model.alphabet import Label
from liftlock.notions.base import claim_text
from liftlock.notions.measurement import Measurement, number_to_json
from liftlock.notions.profile import (
    EdgeLoss,
    OutputDistributions,
    edge_losses,
    worst_edge,
)

Way = Literal["samples", "profiles", "observation"]
WAYS: tuple[Way, ...] = get_args(Way)

NO_RULE = "no rule of composition covers a second release of the same observation"
ONCE = "release each observation once"


@dataclass(frozen=True)
class Composition:
    """The exact loss of every edge when several releases are seen together.

    `edges` are in the order of the graph; their outputs are tuples, one output of each mechanism
    (for ``profiles`` one output, of the mechanism that loses the most). `promised` is what the
    budgets alone allow: their sum, or for ``profiles`` the largest. `at_once` is for ``profiles``
    the loss when every one of them changes to a neighbour at once, which is the sum.
    """

    of: Way
    graph: ProfileGraph
    channels: tuple[str, ...]
    """The fingerprints of what was released."""
    promised: Enclosure
    edges: tuple[EdgeLoss, ...]
    at_once: Enclosure | None = None

    @property
    def worst(self) -> EdgeLoss | None:
        """The edge of the largest loss."""
        return worst_edge(self.edges)

    @property
    def loss(self) -> Enclosure:
        """The largest loss of any edge, in nats, enclosed."""
        return Enclosure.of(0) if self.worst is None else self.worst.nats

    def describe(self) -> str:
        """Say in a sentence what is lost together, and where."""
        number = len(self.channels)
        releases = f"{number} release{'s' * (number != 1)}"
        about = {
            "samples": f"{releases} of independent samples of one profile lose",
            "profiles": f"{releases} of independently selected profiles lose",
            "observation": f"{releases} of the same observation lose",
        }[self.of]
        worst = self.worst
        if worst is None or worst.output is None:
            return f"{about} nothing"
        lost = "without bound" if worst.ratio is None else f"{_nats(worst.nats)} nats"
        place = f"between {worst.more!r} and {worst.less!r}, at {worst.output!r}"
        text = f"{about} {lost} {place}"
        if self.at_once is not None and number > 1:
            text += f"; if all of them change at once, {_nats(self.at_once)}"
        return text

    def refuse_useless(self) -> None:
        """Refuse several releases that protect nothing together, if each by itself protects."""
        number = len(self.channels)
        most = self.loss.upper
        if number > 1 and most is not None and most > MOST_NATS:
            why = useless_text(f"{number:,} samples of one profile lose", self.loss)
            raise NotComposable(f"{why}; release less, or insist ({INSIST})", self)

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "format": "liftlock.composition",
            "version": 1,
            "of": self.of,
            "context": self.graph.fingerprint,
            "channels": list(self.channels),
            "loss": number_to_json(self.loss),
            "smallest": claim_text("profile", self.loss) or None,
            "promised": number_to_json(self.promised),
            "at_once": None if self.at_once is None else number_to_json(self.at_once),
            "edges": [edge.to_data() for edge in self.edges],
        }


def compose(
    mechanisms: Sequence[Mechanism], of: Way = "samples", *, insist: bool = False
) -> Composition:
    """Return the exact loss of every edge when several mechanisms are used together.

    - ``samples``: each releases an independent sample of the same profile. The loss of an edge is
      the sum of the losses the same way, never more than the sum of the budgets.
    - ``profiles``: each releases a sample of another, independently selected profile. The loss of
      an edge is the largest of theirs; if all profiles change at once, it is the sum.
    - ``observation``: each releases the same observation. Refused: no rule covers it.

    A later mechanism may be chosen by what earlier ones released, if every choice keeps its budget.
    Several releases that lose more than 10 nats protect nothing: refused, unless you `insist`.

    Source: 004 Obs 4, Obs 5, Obs 13.

    >>> from liftlock.designs.api import design
    >>> graph = ProfileGraph.bernoulli(["0.9", "1"])
    >>> flip = design(graph, "1", method="cluster")
    >>> round(float(compose([flip, flip]).loss), 6)
    2.0
    >>> compose([flip, flip], "observation")
    Traceback (most recent call last):
    liftlock.errors.NotComposable: ... 3.5252 nats ...
    """
    if of not in WAYS:
        raise InputError("unknown kind of composition", value=of, remedy=f"use {', '.join(WAYS)}")
    graph = _common_graph(mechanisms)
    if of == "observation":
        raise second_release_error(mechanisms)
    distributions = [OutputDistributions.of(mechanism.channel, graph) for mechanism in mechanisms]
    channels = tuple(mechanism.channel.fingerprint for mechanism in mechanisms)
    budgets = [edge_budget(mechanism) for mechanism in mechanisms]
    if of == "samples":
        found = Composition(of, graph, channels, sum_levels(budgets), _sample_edges(distributions))
        if not insist:
            found.refuse_useless()
        return found
    each = [edge_losses(distribution) for distribution in distributions]
    largest = tuple(edge for edges in zip(*each, strict=True) if (edge := worst_edge(edges)))
    promised = largest_level(budgets)
    worst = [Fraction(1) if (edge := worst_edge(edges)) is None else edge.ratio for edges in each]
    together = multiply_ratios((ratio, 1) for ratio in worst)
    at_once = Measurement.of_ratio("profile", together, None).value
    return Composition(of, graph, channels, promised, largest, at_once)


def same_observation(mechanisms: Sequence[Mechanism]) -> Composition:
    """Return the exact loss of several releases of the same observation.

    Source: 004 Obs 13.
    """
    graph = _common_graph(mechanisms)
    distributions = observation_distributions(
        [mechanism.channel for mechanism in mechanisms], graph
    )
    return Composition(
        "observation",
        graph,
        tuple(mechanism.channel.fingerprint for mechanism in mechanisms),
        sum_levels(edge_budget(mechanism) for mechanism in mechanisms),
        edge_losses(distributions),
    )


def second_release_error(mechanisms: Sequence[Mechanism]) -> NotComposable:
    """Return the refusal of a second release of the same observation, with the loss of both."""
    try:
        together = same_observation(mechanisms)
    except NotDefined:
        return NotComposable(f"{NO_RULE}; {ONCE}")
    loss, promised = together.loss, together.promised
    sums = f"the budgets add up to {_nats(promised)}"
    if loss.upper is None or (promised.upper is not None and loss.lower > promised.upper):
        sums = f"more than the {_nats(promised)} that the budgets add up to"
    elif loss.upper is not None:
        sums += ", which is no bound for it"
    return NotComposable(f"{NO_RULE}: {together.describe()}, {sums}; {ONCE}", together)


def _common_graph(mechanisms: Sequence[Mechanism]) -> ProfileGraph:
    if not mechanisms:
        raise InputError("no mechanisms", remedy="give at least one")
    first = mechanisms[0].context
    for place, mechanism in enumerate(mechanisms):
        if not isinstance(mechanism.context, ProfileGraph):
            raise InputError(
                "not a mechanism for profiles",
                where=f"mechanism {place + 1}",
                value=mechanism.certificate.guarantee,
                remedy="compose mechanisms that were designed for a graph of profiles",
            )
        if mechanism.context.fingerprint != first.fingerprint:
            raise InputError(
                "mechanisms for different graphs",
                where=f"mechanism {place + 1}",
                value=mechanism.context.describe(),
                remedy="compose mechanisms for the same profiles and edges",
            )
    assert isinstance(first, ProfileGraph)
    return first


def edge_budget(mechanism: Mechanism) -> Enclosure:
    """Return the budget of the edges: the certified one, or what LDP leaves of it."""
    budget = mechanism.notion.profile_budget
    if budget is not None:
        return budget.nats()
    return mechanism.audit()["profile"].value


def _sample_edges(distributions: Sequence[OutputDistributions]) -> tuple[EdgeLoss, ...]:
    """Multiply the largest ratios the same way: outputs of independent samples are independent."""
    graph = distributions[0].graph
    names = graph.profiles.labels
    # The same mechanism is often given many times.
    alike = {id(distribution): distribution for distribution in distributions}
    found = []
    for first, second in graph.edges:
        best = EdgeLoss(names[first], names[second], None, Fraction(1))
        for more, less in ((first, second), (second, first)):
            each = {
                key: _largest_ratio(distribution, more, less) for key, distribution in alike.items()
            }
            ratio = multiply_ratios(
                (each[id(distribution)][0], 1) for distribution in distributions
            )
            if best.ratio is not None and (ratio is None or ratio > best.ratio):
                outputs = tuple(each[id(distribution)][1] for distribution in distributions)
                best = EdgeLoss(names[more], names[less], outputs, ratio)
        found.append(best)
    return tuple(found)


def _largest_ratio(
    distributions: OutputDistributions, more: int, less: int
) -> tuple[Fraction | None, Label]:
    """Return max_y P(y | more) / P(y | less), None if infinite, and the output."""
    best, where = Fraction(0), 0
    for y in range(len(distributions.outputs)):
        one, other = distributions.at(more, y), distributions.at(less, y)
        if one and not other:
            return None, distributions.outputs.labels[y]
        if one and one / other > best:
            best, where = one / other, y
    return best, distributions.outputs.labels[where]


def _nats(value: Enclosure) -> str:
    return "infinitely much" if value.is_infinite else f"{float(value):.5g}"
