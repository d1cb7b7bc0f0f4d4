"""Simulated phones and simulated rounds: the same survey without a server, and without people.

A `Phone` is what a real device is: it holds true answers, fetches a description and the file of a
mechanism, checks that the file is the one that its digest names, proves it by loading it, draws a
report, and keeps that for ever. `simulate` does the same for very many people at once, without ids,
and returns what a server would have counted. Nothing here protects anybody: its noise has a seed.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from liftlock.collect.survey.context import label_text
from liftlock.collect.survey.repeat import RepeatRule
from liftlock.collect.survey.values import read_number
from liftlock.errors import FileError, InputError, LabelError
from liftlock.exact.numbers import exact
from liftlock.mechanism import Mechanism
from liftlock.model import ProfileGraph, representative
from liftlock.model.alphabet import Alphabet, Label
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
    a collection sends the same one again. It answers in as many rounds as the repeat rule allows:
    under ``first`` in one. Under ``memo`` it repeats what it drew for the same value by the same
    mechanism.
    """

    answers: Mapping[str, Any]
    group: str | None = None
    level: str | None = None
    bits: RandomBits = field(default_factory=OperatingSystemBits)
    proofs: Proofs = field(default_factory=Proofs)
    kept: dict[str, Report] = field(default_factory=dict)
    words: dict[tuple[str, str, int], int] = field(default_factory=dict)
    """What was drawn: by question, mechanism, and input."""

    def answer(self, description: Mapping[str, Any], fetch: Fetch) -> Report | None:
        """Return the report for a collection; None if this phone does not answer it."""
        name = str(description["collection"])
        if name in self.kept:
            return self.kept[name]
        question = name.partition(".")[2]
        rule = RepeatRule.read(description["repeat"])
        earlier = [f"{each}.{question}" for each in description["earlier"]]
        if sum(each in self.kept for each in earlier) >= rule.rounds:
            return None
        digest = choose_mechanism(description, self.group, self.level)
        mechanism = self.proofs.mechanism(digest, fetch)
        code = input_code(description, mechanism, self.answers[question])
        output = self.words.get((question, digest, code)) if rule.kind == "memo" else None
        if output is None:
            output = int(draw_codes(mechanism.table, np.array([code]), self.bits)[0])
        self.words[question, digest, code] = output
        report = Report(name, digest, random_name(self.bits), output)
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
    """Return the digest of the mechanism for a group and a level; the default one for others.

    Somebody of a panel has a description that names the own mechanism.
    """
    listed = description["mechanisms"]
    for each in listed:
        if each.get("group") in (None, group) and each.get("level") in (None, level):
            return str(each["digest"])
    if not listed and description["mechanism"] is not None:
        return str(description["mechanism"])
    raise InputError(
        "no mechanism for this person",
        where=str(description.get("collection", "")),
        value=group if level is None else f"{group}, {level}",
        remedy="name one of the groups, and one of the levels, of the description",
    )


def input_code(description: Mapping[str, Any], mechanism: Mechanism, answer: Any) -> int:
    """Return which input of a mechanism an answer is, by what the description says of it.

    A number counts as its bin, a place as its rectangle; under profiles the answer is a pair of the
    profile and the value, of which the mechanism may use the value alone.
    """
    inputs = mechanism.channel.inputs
    if "profiles" in description:
        profile, value = answer
        pairs = [label for label in inputs.labels if label in ((profile, value), value)]
        if not pairs:
            raise _not_one_of(description, answer)
        return inputs.index(pairs[0])
    if "edges" in description and not isinstance(answer, str):
        inner = [float(end) for end in description["edges"][1:-1]]
        return int(np.searchsorted(inner, float(answer), side="right"))
    if "grid" in description and not isinstance(answer, str):
        grid = description["grid"]
        return inputs.index(
            (
                _cell(answer[0], grid["x"], grid["columns"]),
                _cell(answer[1], grid["y"], grid["rows"]),
            )
        )
    labels = [str(label) for label in description["labels"]]
    if str(answer) not in labels:
        raise _not_one_of(description, answer)
    return labels.index(str(answer))


def _cell(at: Any, ends: Sequence[Any], number: int) -> int:
    low, high = (exact(end, name="end") for end in ends)
    place = math.floor((read_number(at) - low) * number / (high - low))
    return min(max(place, 0), number - 1)


def _not_one_of(description: Mapping[str, Any], answer: Any) -> LabelError:
    return LabelError(
        "not one of the values",
        where=str(description["collection"]),
        value=answer,
        remedy=f"the values are {', '.join(map(str, description['labels'][:8]))}",
    )


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
    evenly; of a panel everybody answers, and truths may be given by code. Truths of profiles are
    shares of the profiles, or the profile of each person. Equal seeds give equal rounds.

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
        counts[key], true[key] = _simulate_one(
            collection, given.get(name), drawn.get(name), number, f"{seed}/{name}"
        )
    return Simulated(survey, number, counts, true)


@dataclass(frozen=True)
class _Part:
    """People of whom the same is known: which mechanisms they have, and what is true of them."""

    population: Population
    offered: tuple[CollectedMechanism, ...]
    people: int
    truth: Any
    seed: str


def _simulate_one(
    collection: Collection, truth: Any, drawn: Codes | None, people: int, seed: str
) -> tuple[dict[str, tuple[int, ...]], dict[Label, int]]:
    """Return the counts of each mechanism of a question, and how many people have each answer."""
    question = collection.question
    counts = {digest: np.zeros(m.outputs, int) for digest, m in collection.mechanisms.items()}
    true: dict[Label, int] = dict.fromkeys(_answers_of(question).labels, 0)
    for part in _parts(collection, truth, people, seed):
        profiles: Codes | None = None
        if question.kind == "profile":
            profiles, codes = _profile_codes(question, part)
        elif drawn is not None:
            codes = drawn
        else:
            codes = true_codes(question, part.population, part.truth, part.people, part.seed)
        counted = profiles if profiles is not None and _counts_profiles(question) else codes
        for label, number in zip(true, np.bincount(counted, minlength=len(true)), strict=True):
            true[label] += int(number)
        for turn, each in enumerate(part.offered):
            # Who chooses which level has nothing to do with the answer.
            chosen = slice(turn, None, len(part.offered))
            own = None if profiles is None else profiles[chosen]
            rows = _rows(question, each, codes[chosen], own)
            bits = SimulationBits(f"{part.seed}/{each.level or ''}/noise")
            reports = draw_codes(each.mechanism.table, rows, bits)
            counts[each.digest] += np.bincount(reports, minlength=each.outputs)
    return {digest: tuple(numbers.tolist()) for digest, numbers in counts.items()}, true


def _parts(collection: Collection, truth: Any, people: int, seed: str) -> Iterator[_Part]:
    """Share people out over groups, evenly; of a panel everybody answers."""
    question = collection.question
    populations = question.populations
    if question.panel is not None:
        yield from _panel_parts(collection, truth, seed)
        return
    for place, population in enumerate(populations):
        own = truth
        if population.group is not None and isinstance(truth, Mapping):
            own = truth.get(population.group)
        every = collection.mechanisms.values()
        yield _Part(
            population,
            tuple(each for each in every if each.group == population.group),
            people // len(populations) + (place < people % len(populations)),
            own,
            f"{seed}/{population.group or ''}",
        )


def _panel_parts(collection: Collection, truth: Any, seed: str) -> Iterator[_Part]:
    """Return the people of a panel by their priors; the truth is that of all, or by their codes."""
    question, panel = collection.question, collection.question.panel
    assert panel is not None
    for place, population in enumerate(question.populations):
        codes = [code for code, own in panel.people.items() if own == place]
        given = truth
        if isinstance(truth, Mapping) and set(truth) <= set(panel.people):
            given = [truth[code] for code in codes]
        made = collection.find(person=codes[0])
        yield _Part(population, (made,), len(codes), given, f"{seed}/{place}")


def _answers_of(question: Question) -> Alphabet:
    """Return what is counted of people: their values, or their profiles if these are asked for."""
    if _counts_profiles(question):
        return _graph(question).profiles
    return question.values


def _counts_profiles(question: Question) -> bool:
    return question.kind == "profile" and question.answer.of == "profiles"


def _graph(question: Question) -> ProfileGraph:
    graph = question.populations[0].context
    assert isinstance(graph, ProfileGraph)
    return graph


def _profile_codes(question: Question, part: _Part) -> tuple[Codes, Codes]:
    """Draw the profiles of people, from shares or as they are given, and a value of each."""
    graph = _graph(question)
    names = graph.profiles
    if isinstance(part.truth, Mapping) or part.truth is None:
        given = part.truth or dict.fromkeys(names.labels, 1)
        shares = [exact(given.get(name, 0), name="share") for name in names.labels]
        profiles = draw_shares(shares, part.people, part.seed)
    else:
        profiles = np.asarray(names.encode(list(part.truth)))
    values = np.zeros(len(profiles), dtype=np.int64)
    for place in range(len(names)):
        own = profiles == place
        masses = [Fraction(count) for count in graph.counts[place]]
        values[own] = draw_shares(masses, int(own.sum()), f"{part.seed}/{place}")
    return profiles, values


def _rows(
    question: Question, each: CollectedMechanism, codes: Codes, profiles: Codes | None
) -> Codes:
    """Return which input of a mechanism each answer is."""
    inputs = each.mechanism.table.inputs
    labels = question.values.labels
    if profiles is not None and _graph(question).uses_profile(inputs):
        names = _graph(question).profiles.labels
        table = [[inputs.index((name, label)) for label in labels] for name in names]
        return np.array(table)[profiles, codes]
    return np.array([inputs.index(label) for label in labels])[codes]


def true_codes(
    question: Question, population: Population, truth: Any, people: int, seed: str
) -> Codes:
    """Return the true answers of people as positions among the values of a question."""
    values = question.values
    if isinstance(truth, Mapping):
        shares = [Fraction(0)] * len(values)
        for value, share in truth.items():
            shares[find_place(question, value)] += exact(share, name="share")
        return draw_shares(shares, people, seed)
    if truth is None:
        context = population.context
        known = None if context is None else representative(context)
        if known is None or set(known.labels) != set(values.labels):
            return draw_shares([Fraction(1)] * len(values), people, seed)
        return draw_shares([known[label] for label in values.labels], people, seed)
    places = [find_place(question, value) for value in truth]
    if len(places) != people:
        raise InputError(
            f"{len(places):,} answers of {people:,} people",
            where=f"question {question.name!r}",
            remedy="give one answer for each person",
        )
    return np.array(places, dtype=np.int64)


def find_place(question: Question, value: Any) -> int:
    """Return the position of an answer among the values: of a number that of its bin."""
    for place, label in enumerate(question.values.labels):
        if label == value or label_text(label) == str(value):
            return place
    try:
        return question.values.index(question.encode(value))
    except InputError as error:
        raise LabelError(
            error.what,
            where=f"question {question.name!r}",
            value=value,
            remedy=error.remedy,
        ) from None


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
    if joint is None or any(
        name in given or len(survey[name].populations) > 1 or survey[name].kind == "profile"
        for name in joint.questions
    ):
        return {}
    drawn = draw_shares(list(joint.prior.fractions), people, f"{seed}/joint")
    found = {}
    for place, name in enumerate(joint.questions):
        question = survey[name]
        order = [
            question.values.index(label[place])
            for label in joint.prior.labels
            if isinstance(label, tuple)
        ]
        found[name] = np.array(order)[drawn]
    return found
