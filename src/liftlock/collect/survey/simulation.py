"""Simulated phones and simulated rounds: the same survey without a server, and without people.

A `Phone` is what a real device is: it holds true answers, fetches a description and the file of a
mechanism, checks that the file is the one that its digest names, proves it by loading it, draws a
report, and keeps that for ever. `simulate` does the same for very many people at once, without ids,
and returns what a server would have counted. Nothing here protects anybody: its noise has a seed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from liftlock.collect.survey.context import label_text
from liftlock.errors import FileError, InputError, LabelError
from liftlock.exact.numbers import exact
from liftlock.mechanism import Mechanism
from liftlock.model import representative
from liftlock.model.alphabet import Label
from liftlock.sampling.bits import OperatingSystemBits, RandomBits, SimulationBits
from liftlock.sampling.release import draw_codes

if TYPE_CHECKING:
    from liftlock.collect.survey.collection import CollectedMechanism, Collection
    from liftlock.collect.survey.context import Population
    from liftlock.collect.survey.estimate import Estimated
    from liftlock.collect.survey.question import Question
    from liftlock.collect.survey.survey import Survey
    from liftlock.sampling.draw import Codes

ID_BYTES = 16
Fetch = Callable[[str], bytes]
"""Returns the file of a mechanism, by its digest."""


# --- phones ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Report:
    """What leaves a device: a random name of 16 bytes, and the index of an output."""

    collection: str
    mechanism: str
    name: bytes
    output: int

    @property
    def wire(self) -> tuple[bytes, int]:
        """The pair that is sent."""
        return self.name, self.output


@dataclass
class Proofs:
    """Mechanisms that were fetched, checked against their digest, and proved: each of them once.

    Many simulated phones share it, so that a thousand of them prove a mechanism once.
    """

    known: dict[str, Mechanism] = field(default_factory=dict)

    def mechanism(self, digest: str, fetch: Fetch) -> Mechanism:
        """Return the mechanism of a digest; a file that is another one is refused."""
        found = self.known.get(digest)
        if found is None:
            found = self.known[digest] = prove(digest, fetch(digest))
        return found


def prove(digest: str, file: bytes) -> Mechanism:
    """Return the mechanism of a file if it has this digest, and keeps what it says."""
    told = hashlib.sha256(file).hexdigest()
    if told != digest:
        raise FileError(
            "the file of a mechanism is another one",
            value=told,
            remedy=f"its digest should be {digest[:16]}...: do not answer",
        )
    return Mechanism.from_data(json.loads(file))


@dataclass
class Phone:
    """A simulated device of one person.

    `answers` are true, by the name of the question; they stay here. A phone that has a report for
    a collection sends the same one again, and under the rule ``first`` it does not answer a later
    round of a survey that it has answered.
    """

    answers: Mapping[str, Any]
    group: str | None = None
    level: str | None = None
    bits: RandomBits = field(default_factory=OperatingSystemBits)
    proofs: Proofs = field(default_factory=Proofs)
    kept: dict[str, Report] = field(default_factory=dict)

    def answer(self, description: Mapping[str, Any], fetch: Fetch) -> Report | None:
        """Return the report for a collection; None if this phone does not answer it."""
        name = str(description["collection"])
        if name in self.kept:
            return self.kept[name]
        question = name.partition(".")[2]
        earlier = description.get("earlier", ())
        if description["repeat"] == "first" and any(
            f"{each}.{question}" in self.kept for each in earlier
        ):
            return None
        digest = choose_mechanism(description, self.group, self.level)
        mechanism = self.proofs.mechanism(digest, fetch)
        code = input_code(description, mechanism, self.answers[question])
        drawn = draw_codes(mechanism.table, np.array([code]), self.bits)
        report = Report(name, digest, random_name(self.bits), int(drawn[0]))
        self.kept[name] = report
        return report


def random_name(bits: RandomBits) -> bytes:
    """Return 16 random bytes."""
    words = np.zeros(ID_BYTES // 8, dtype=np.uint64)
    bits.fill(words)
    return words.tobytes()


def choose_mechanism(
    description: Mapping[str, Any], group: str | None = None, level: str | None = None
) -> str:
    """Return the digest of the mechanism for a group and a level; the default one for others."""
    listed = description.get("mechanisms", ())
    for each in listed:
        if each.get("group") in (None, group) and each.get("level") in (None, level):
            return str(each["digest"])
    if not listed:
        return str(description["mechanism"])
    raise InputError(
        "no mechanism for this person",
        where=str(description.get("collection", "")),
        value=group if level is None else f"{group}, {level}",
        remedy="name one of the groups, and one of the levels, of the description",
    )


def input_code(description: Mapping[str, Any], mechanism: Mechanism, answer: Any) -> int:
    """Return which input of a mechanism an answer is: by its value, or by how that is written."""
    labels = [str(label) for label in description["labels"]]
    inputs = mechanism.channel.inputs
    if isinstance(answer, str) and answer in labels:
        return labels.index(answer)
    return int(inputs.encode([answer])[0])


# --- rounds without a server ----------------------------------------------------------------------


@dataclass(frozen=True)
class Simulated:
    """A round that was simulated: what a server would have counted, and the truth behind it."""

    survey: Survey
    people: int
    counts: Mapping[str, Mapping[str, tuple[int, ...]]]
    """How often each output was reported: by collection, then by the digest of the mechanism."""
    truths: Mapping[str, Mapping[Label, int]]
    """How many people truly have each value, by collection."""

    def estimates(self, **options: Any) -> dict[str, Estimated]:
        """Estimate every question from the counts alone; `options` as of `Collection.estimate`."""
        return {
            name: collection.estimate(self.counts[name], **options)
            for name, collection in self.survey.collections().items()
        }

    def shares(self, name: str) -> dict[Label, float]:
        """Return the true shares of the values of a collection."""
        truth = self.truths[name]
        total = sum(truth.values())
        return {label: number / total for label, number in truth.items()}


def simulate(
    survey: Survey,
    truths: Mapping[str, Any] | None = None,
    people: int | None = None,
    *,
    seed: SupportsIndex | str,
) -> Simulated:
    """Simulate a round: people with true answers, their devices, and the counts of their reports.

    `truths` gives for each question the answers of all people, or the shares they are drawn from
    (by value); where a question has groups, either of these for each group. What is not given is
    drawn from what the survey says is known: its joint, the prior, the middle of a set of priors,
    and all values alike if nothing is. People are shared out evenly over groups, and choose levels
    evenly. Equal seeds give equal rounds.

    >>> from liftlock.collect.survey import Survey
    >>> survey = Survey.from_data(
    ...     {
    ...         "survey": "health",
    ...         "questions": [
    ...             {
    ...                 "name": "flu",
    ...                 "ask": "How are you?",
    ...                 "values": ["none", "cold", "flu"],
    ...                 "prior": {"none": 700, "cold": 200, "flu": 100},
    ...                 "guarantee": "lip=1",
    ...             }
    ...         ],
    ...     }
    ... )
    >>> found = simulate(survey, {"flu": {"none": 0.5, "cold": 0.3, "flu": 0.2}}, 20000, seed=7)
    >>> shares = found.estimates()["health.flu"].estimate
    >>> abs(shares["flu"].value / 20000 - found.shares("health.flu")["flu"]) < 0.02
    True
    """
    number = survey.people if people is None else people
    if number < 1:
        raise InputError("no people", value=number, remedy="give 1 or more")
    given = dict(truths or {})
    names = [question.name for question in survey.questions]
    for name in given:
        if name not in names:
            raise InputError(
                "truths of a question that is not asked",
                value=name,
                remedy=f"the questions are {', '.join(names)}",
            )
    drawn = _draw_joint(survey, given, number, seed)
    counts: dict[str, dict[str, tuple[int, ...]]] = {}
    true: dict[str, dict[Label, int]] = {}
    for key, collection in survey.collections().items():
        name = collection.question.name
        found, numbers = _simulate_one(
            collection, given.get(name), drawn.get(name), number, f"{seed}/{name}"
        )
        counts[key] = found
        labels = collection.question.inputs.labels
        true[key] = dict(zip(labels, numbers.tolist(), strict=True))
    return Simulated(survey, number, counts, true)


def _simulate_one(
    collection: Collection, truth: Any, drawn: Codes | None, people: int, seed: str
) -> tuple[dict[str, tuple[int, ...]], Codes]:
    """Return the counts of each mechanism of a question, and how many people have each value."""
    question = collection.question
    numbers = np.zeros(len(question.inputs), dtype=np.int64)
    counts: dict[str, tuple[int, ...]] = {}
    populations = question.populations
    for place, population in enumerate(populations):
        part = people // len(populations) + (place < people % len(populations))
        own = truth
        if population.group is not None and isinstance(truth, Mapping):
            own = truth.get(population.group)
        where = f"{seed}/{population.group or ''}"
        codes = true_codes(question, population, own, part, where) if drawn is None else drawn
        numbers += np.bincount(codes, minlength=len(numbers))
        offered = [
            each for each in collection.mechanisms.values() if each.group == population.group
        ]
        for turn, each in enumerate(offered):
            # Who chooses which level has nothing to do with the answer.
            chosen = codes[turn :: len(offered)]
            counts[each.digest] = _report(each, question, chosen, f"{where}/{each.level or ''}")
    return counts, numbers


def _report(
    each: CollectedMechanism, question: Question, codes: Codes, seed: str
) -> tuple[int, ...]:
    """Return how often each output was reported."""
    table = each.mechanism.table
    order = np.array([table.inputs.index(label) for label in question.inputs.labels])
    drawn = draw_codes(table, order[codes], SimulationBits(f"{seed}/noise"))
    return tuple(np.bincount(drawn, minlength=each.outputs).tolist())


def true_codes(
    question: Question, population: Population, truth: Any, people: int, seed: str
) -> Codes:
    """Return the true answers of people as positions among the inputs of a question."""
    inputs = question.inputs
    if isinstance(truth, Mapping):
        shares = [Fraction(0)] * len(inputs)
        for value, share in truth.items():
            shares[find_place(question, value)] = exact(share, name="share")
        return draw_shares(shares, people, seed)
    if truth is None:
        context = population.context
        known = None if context is None else representative(context)
        if known is None or set(known.labels) != set(inputs.labels):
            return draw_shares([Fraction(1)] * len(inputs), people, seed)
        return draw_shares([known[label] for label in inputs.labels], people, seed)
    places = [find_place(question, value) for value in truth]
    if len(places) != people:
        raise InputError(
            f"{len(places):,} answers of {people:,} people",
            where=f"question {question.name!r}",
            remedy="give one answer for each person",
        )
    return np.array(places, dtype=np.int64)


def find_place(question: Question, value: Any) -> int:
    """Return the position of a value among the inputs of a question."""
    inputs = question.inputs
    if value in inputs:
        return inputs.index(value)
    for place, label in enumerate(inputs.labels):
        if label_text(label) == str(value):
            return place
    raise LabelError(
        "not one of the values",
        where=f"question {question.name!r}",
        value=value,
        remedy=f"the values are {', '.join(map(label_text, inputs.labels[:8]))}",
    )


def draw_shares(shares: Sequence[Fraction], people: int, seed: str) -> Codes:
    """Draw the values of people from shares, which need not sum to 1."""
    total = sum(shares, Fraction(0))
    if total <= 0 or min(shares) < 0:
        raise InputError("no shares to draw from", remedy="give numbers of 0 or more, not all 0")
    ends = np.cumsum([float(share / total) for share in shares])
    words = np.zeros(people, dtype=np.uint64)
    SimulationBits(f"{seed}/people").fill(words)
    found = np.searchsorted(ends[:-1], (words >> np.uint64(11)) * 2.0**-53, side="right")
    return found.astype(np.int64)


def _draw_joint(
    survey: Survey, given: Mapping[str, Any], people: int, seed: object
) -> dict[str, Codes]:
    """Draw the answers to the questions of the joint together, if none of them is given."""
    joint = survey.joint
    if joint is None or any(name in given or survey[name].grouped for name in joint.questions):
        return {}
    drawn = draw_shares(list(joint.prior.fractions), people, f"{seed}/joint")
    found = {}
    for place, name in enumerate(joint.questions):
        question = survey[name]
        order = [
            question.inputs.index(label[place])
            for label in joint.prior.labels
            if isinstance(label, tuple)
        ]
        found[name] = np.array(order)[drawn]
    return found
