"""A collection: a question with its mechanisms, as it is served, and what its counts say."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from liftlock._runtime.progress import Progress, Step
from liftlock.collect.survey.context import label_text
from liftlock.collect.survey.design import make_mechanism
from liftlock.collect.survey.estimate import Estimated, estimate_counts
from liftlock.collect.survey.question import Question
from liftlock.collect.survey.repeat import RepeatRule
from liftlock.errors import InputError
from liftlock.model.alphabet import label_to_json

if TYPE_CHECKING:
    from liftlock.collect.survey.survey import Survey
    from liftlock.mechanism import Mechanism


@dataclass(frozen=True)
class CollectedMechanism:
    """A mechanism as it is served: the very bytes, and the sha256 that names them."""

    digest: str
    file: bytes = field(repr=False)
    mechanism: Mechanism = field(repr=False)
    outputs: int
    group: str | None = None
    level: str | None = None

    @classmethod
    def of(
        cls, mechanism: Mechanism, group: str | None = None, level: str | None = None
    ) -> CollectedMechanism:
        """Write a mechanism as `Mechanism.save` does, and name it by its bytes."""
        file = (mechanism.to_json() + "\n").encode("utf-8")
        digest = hashlib.sha256(file).hexdigest()
        return cls(digest, file, mechanism, len(mechanism.table.outputs), group, level)

    def content(self) -> dict[str, Any]:
        """Return what is said of it in public: the promise, and of whom."""
        data: dict[str, Any] = {"digest": self.digest, "outputs": self.outputs}
        data |= {"guarantee": self.mechanism.guarantee, "bytes": len(self.file)}
        told = {"group": self.group, "level": self.level}
        return data | {key: value for key, value in told.items() if value is not None}


@dataclass(frozen=True)
class Collection:
    """A question that is being answered: its mechanisms by digest, and what they are for."""

    name: str
    question: Question
    mechanisms: Mapping[str, CollectedMechanism]
    repeat: str = "first"
    people: int = 0
    earlier: tuple[str, ...] = ()
    """The surveys of the rounds before."""

    @property
    def default(self) -> CollectedMechanism:
        """The mechanism of whoever says nothing of group or level: the first."""
        return next(iter(self.mechanisms.values()))

    def description(self) -> dict[str, Any]:
        """Return what everybody may know: the question, what may be answered, what is promised."""
        question, first = self.question, self.default
        data: dict[str, Any] = {
            "collection": self.name,
            "mechanism": first.digest,
            "outputs": first.outputs,
            "ask": question.ask,
            "kind": question.kind,
            "values": [label_to_json(label) for label in first.mechanism.table.inputs.labels],
            "labels": [label_text(label) for label in first.mechanism.table.inputs.labels],
            "guarantee": first.mechanism.guarantee,
            "promise": first.mechanism.notion.summary,
            "knowledge": first.mechanism.context.describe(),
            "repeat": self.repeat,
            "repeat_rule": RepeatRule.read(self.repeat).describe(),
            "earlier": list(self.earlier),
            "answer": question.answer.content(),
            "mechanisms": [each.content() for each in self.mechanisms.values()],
        }
        groups = dict.fromkeys(each.group for each in self.mechanisms.values())
        levels = dict.fromkeys(each.level for each in self.mechanisms.values())
        data |= {"groups": list(groups)} if None not in groups else {}
        return data | ({"levels": list(levels)} if None not in levels else {})

    def find(
        self, group: str | None = None, level: str | None = None, person: str | None = None
    ) -> CollectedMechanism:
        """Return the mechanism of a group, a level, or a person of the panel."""
        if person is not None:
            raise InputError(
                "no panel", where=self.name, value=person, remedy="leave the person out"
            )
        found = [
            each for each in self.mechanisms.values() if (each.group, each.level) == (group, level)
        ]
        if not found:
            known = [
                " and ".join(filter(None, (each.group, each.level)))
                for each in self.mechanisms.values()
            ]
            raise InputError(
                "no mechanism for this group and level",
                where=self.name,
                value=[group, level],
                remedy=f"name one of {', '.join(known)}" if any(known) else "name none",
            )
        return found[0]

    def estimate(self, counts: Mapping[str, Sequence[int]], **options: Any) -> Estimated:
        """Estimate from how often each output of each mechanism was reported.

        `options` are those of `Mechanism.estimate`; unless told, what the question says is
        estimated.
        """
        return estimate_counts(self, counts, options)


def make_collection(
    survey: Survey, question: Question, *, progress: Progress | None = None
) -> Collection:
    """Design and prove every mechanism of a question."""
    name = f"{survey.name}.{question.name}"
    found: dict[str, CollectedMechanism] = {}
    for population in question.populations:
        for level in question.levels:
            named = [part for part in (population.group, level.name) if part is not None]
            where = ", ".join([f"question {question.name!r}", *map(repr, named)])
            if progress is not None:
                progress(Step(f"designing {name}{''.join(f', {part}' for part in named)}"))
            made = make_mechanism(question, population, level, where)
            each = CollectedMechanism.of(made, population.group, level.name)
            found[each.digest] = each
    return Collection(name, question, found, survey.repeat, survey.people, survey.earlier)
