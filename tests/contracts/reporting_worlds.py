"""Models of reports with their distributions, for the contracts of estimators and intervals."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from liftlock import Channel, Prior, ProfileGraph
from liftlock.estimate import ESTIMATORS, Aggregate, Question
from liftlock.estimate.estimators import Estimator
from liftlock.estimate.models import Dense, Mixture, Model, model_of, read_profiles
from liftlock.estimate.question import ask
from liftlock.model.structured import SupportChannel, UnaryChannel
from liftlock.notions.profile import OutputDistributions

LEVELS = ("0.5", "0.8", "0.95", "0.99")
PRIOR = Prior.from_counts({1: 5, 2: 3, 4: 2})
SQUARE = Channel.from_rows(
    {
        1: {"a": "8/10", "b": "1/10", "c": "1/10"},
        2: {"a": "2/10", "b": "7/10", "c": "1/10"},
        4: {"a": "2/10", "b": "1/10", "c": "7/10"},
    }
)
WIDE = Channel.from_rows(
    {
        1: {"a": "4/10", "b": "3/10", "c": "2/10", "d": "1/10"},
        2: {"a": "1/10", "b": "3/10", "c": "2/10", "d": "4/10"},
        4: {"a": "2/10", "b": "1/10", "c": "6/10", "d": "1/10"},
    }
)
GRAPH = ProfileGraph.chain(
    {"day": {1: 4, 2: 2, 4: 2}, "night": {1: 1, 2: 5, 4: 2}, "idle": {1: 1, 2: 1, 4: 6}}
)
SHARES = Prior.from_counts({"day": 5, "night": 3, "idle": 2})
UNARY = UnaryChannel.of([1, 2, 4], own=8, other=3, bits=4)


@dataclass(frozen=True)
class World:
    """A model, the distribution of one report given an input, and how reports are counted."""

    name: str
    model: Model
    channel: Any
    distribution: Callable[[Any], dict[Any, Fraction]]
    count: Callable[[list[Any]], Aggregate]
    questions: tuple[Question, ...]
    options: Any = None

    @property
    def counted(self) -> Aggregate:
        """Some reports, more of one kind than of another."""
        labels = list(self.distribution(self.model.inputs.labels[0]))
        return self.count([label for k, label in enumerate(labels) for _ in range(40 + 9 * k)])

    def vectors(self, people: tuple[Any, ...]) -> Iterator[tuple[Aggregate, Fraction]]:
        """Give every list of reports that these people can make, with its probability."""
        distributions = [self.distribution(person) for person in people]
        for reports in itertools.product(
            *(list(distribution.items()) for distribution in distributions)
        ):
            chance = math.prod((chance for _, chance in reports), start=Fraction(1))
            if chance:
                yield self.count([report for report, _ in reports]), chance


def dense_world(name: str, channel: Channel) -> World:
    inputs = channel.inputs
    return World(
        name,
        Dense.of(channel, PRIOR),
        channel,
        lambda x: {y: channel.probability(x, y) for y in channel.outputs.labels},
        lambda reports: Aggregate.of(channel, reports),
        tuple(ask(inputs, of, value) for of, value in QUESTIONS),
    )


def encoding_world(name: str, channel: SupportChannel, reports: npt.NDArray[np.uint8]) -> World:
    """All reports of an encoding: their likelihoods are in the proportion of the two levels."""
    sets = channel.support_matrix(reports)
    inside, outside = channel.levels

    def distribution(x: Any) -> dict[Any, Fraction]:
        own = sets[:, channel.inputs.index(x)]
        weights = {
            tuple(row): chance_of(channel, supported, bool(mine), (inside, outside))
            for row, supported, mine in zip(reports.tolist(), sets, own, strict=True)
        }
        total = sum(weights.values(), Fraction(0))
        return {row: weight / total for row, weight in weights.items()}

    return World(
        name,
        model_of(channel, PRIOR),
        channel,
        distribution,
        lambda rows: Aggregate.of(channel, np.array(rows, dtype=np.uint8)),
        tuple(ask(channel.inputs, of, value) for of, value in QUESTIONS),
    )


def chance_of(
    channel: SupportChannel, supported: Any, mine: bool, levels: tuple[int, int]
) -> Fraction:
    """Return a number proportional to P(report | x)."""
    if isinstance(channel, UnaryChannel):
        p, q = channel.hit, channel.miss
        others = int(supported.sum()) - mine
        rest = len(supported) - 1 - others
        return (p if mine else 1 - p) * q**others * (1 - q) ** rest
    return Fraction(levels[0] if mine else levels[1])


def profile_world(of: str) -> World:
    model, question, _ = read_profiles(WIDE, GRAPH, of, None, SHARES, trust=True)
    assert isinstance(model, Mixture)
    distributions = OutputDistributions.of(WIDE, GRAPH)
    return World(
        f"profiles, {of}",
        model,
        WIDE,
        lambda name: {
            y: distributions.distributions[GRAPH.profiles.index(name)].at(k)
            for k, y in enumerate(WIDE.outputs.labels)
        },
        lambda reports: Aggregate.of(WIDE, reports),
        (question,),
    )


QUESTIONS: tuple[tuple[str, Any], ...] = (
    ("histogram", None),
    ("survey", 2),
    ("survey", [1, 4]),
    ("sum", None),
    ("mean", None),
)
WORLDS = (
    dense_world("as many outputs", SQUARE),
    dense_world("more outputs", WIDE),
    encoding_world(
        "unary",
        UNARY,
        np.packbits(
            np.array(list(itertools.product((0, 1), repeat=3)), dtype=np.uint8),
            axis=1,
            bitorder="little",
        ),
    ),
    profile_world("profiles"),
    profile_world("histogram"),
    profile_world("sum"),
)
CASES = [
    pytest.param(world, key, question, id=f"{world.name}-{key}-{question.of}-{place}")
    for world in WORLDS
    for key in ESTIMATORS
    if ESTIMATORS[key].suits(world.model)
    for place, question in enumerate(world.questions)
]


def made(world: World, key: str, question: Question) -> Estimator[Model]:
    return ESTIMATORS[key](world.model, question)
