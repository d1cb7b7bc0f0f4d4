"""Simulated phones and simulated rounds: the same survey without a server, and without people.

A `Phone` is what a real device is: it holds true answers, fetches a description and the file of a
mechanism, checks that the file is the one that its digest names, proves it by loading it, draws a
report, and keeps that for ever. `simulate` does the same for very many people at once, without ids,
and returns what a server would have counted. Nothing here protects anybody: its noise has a seed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from liftlock.errors import FileError, InputError, LabelError
from liftlock.mechanism import Mechanism
from liftlock.sampling.bits import OperatingSystemBits, RandomBits, SimulationBits
from liftlock.sampling.release import draw_codes

if TYPE_CHECKING:
    from liftlock.collect.survey.collection import CollectedMechanism, Collection
    from liftlock.collect.survey.question import Question
    from liftlock.collect.survey.survey import Survey

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
        survey, _, question = name.partition(".")
        earlier = description.get("earlier", ())
        if description.get("repeat", "first") == "first" and any(
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
            return str(each["mechanism"])
    if not listed:
        return str(description["mechanism"])
    raise InputError(
        "no mechanism for this person",
        where=str(description.get("collection", "")),
        value=group if level is None else f"{group}, {level}",
        remedy="name one of the groups, and one of the levels, of the description",
    )


def input_code(description: Mapping[str, Any], mechanism: Mechanism, answer: Any) -> int:
    """Return which input of a mechanism an answer is."""
    return int(mechanism.channel.inputs.encode([answer])[0])
