"""A collection: a question with its mechanisms, as it is served, and what its counts say."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

from liftlock._runtime.progress import Progress, Step
from liftlock.collect.survey.context import label_text
from liftlock.collect.survey.design import Workshop
from liftlock.collect.survey.estimate import Estimated, estimate_counts
from liftlock.collect.survey.kept import KeptMechanisms, purpose
from liftlock.collect.survey.question import Question
from liftlock.collect.survey.repeat import RepeatRule
from liftlock.collect.survey.values import Grid, Profiles, Range
from liftlock.errors import InputError
from liftlock.model import Prior
from liftlock.model.alphabet import label_to_json

if TYPE_CHECKING:
    from liftlock.collect.survey.survey import Survey
    from liftlock.estimate.panel import PanelTable
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

    purpose: str = ""
    """The sha256 of what it was made for."""

    @classmethod
    def of(
        cls,
        mechanism: Mechanism,
        group: str | None = None,
        level: str | None = None,
        purpose: str = "",
        file: bytes | None = None,
    ) -> CollectedMechanism:
        """Write a mechanism as `Mechanism.save` does, and name it by its bytes."""
        file = (mechanism.to_json() + "\n").encode("utf-8") if file is None else file
        digest = hashlib.sha256(file).hexdigest()
        return cls(digest, file, mechanism, len(mechanism.table.outputs), group, level, purpose)

    @cached_property
    def panel_table(self) -> PanelTable:
        """The table of people with a prior of their own, and what a report of theirs says."""
        from liftlock.estimate.panel import PanelTable

        prior = self.mechanism.context
        assert isinstance(prior, Prior)
        return PanelTable.of(self.mechanism.table, prior)

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
    least: int = 0
    """Results of fewer reports are not shown, of groups neither."""
    panel: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The digest of each person of a panel, by code: the curator's own knowledge."""
    earlier: tuple[str, ...] = ()
    """The surveys of the rounds before."""

    @property
    def default(self) -> CollectedMechanism:
        """The mechanism of whoever says nothing of group or level: the first."""
        return next(iter(self.mechanisms.values()))

    def description(self) -> dict[str, Any]:
        """Return what everybody may know: the question, what may be answered, what is promised.

        Of a panel it names no mechanism: each holds somebody's prior, and a person is told of the
        own one only, by `find`.
        """
        question, first = self.question, self.default.mechanism
        inputs = first.table.inputs.labels
        data: dict[str, Any] = {
            "collection": self.name,
            "mechanism": None if self.panel else self.default.digest,
            "outputs": None if self.panel else self.default.outputs,
            "ask": question.ask,
            "kind": question.kind,
            "values": [label_to_json(label) for label in inputs],
            "labels": [label_text(label) for label in inputs],
            "guarantee": first.guarantee,
            "promise": first.notion.summary,
            "knowledge": self._knowledge(),
            "repeat": self.repeat,
            "repeat_rule": RepeatRule.read(self.repeat).describe(),
            "earlier": list(self.earlier),
            "answer": question.answer.content(),
            "mechanisms": []
            if self.panel
            else [each.content() for each in self.mechanisms.values()],
        }
        if isinstance(question.domain, Range):
            data["edges"] = [float(end) for end in question.domain.ends]
        elif isinstance(question.domain, Grid):
            data |= question.domain.content()
        elif isinstance(question.domain, Profiles):
            data["profiles"] = list(question.domain.graph.profiles.labels)
        if self.panel:
            data["panel"] = {"people": len(self.panel)}
        groups = dict.fromkeys(each.group for each in self.mechanisms.values())
        levels = dict.fromkeys(each.level for each in self.mechanisms.values())
        data |= {"groups": list(groups)} if None not in groups else {}
        return data | ({"levels": list(levels)} if None not in levels else {})

    def _knowledge(self) -> str:
        """Say what the guarantee takes for known."""
        if self.panel:
            return f"a prior for each of {len(self.panel):,} people"
        if self.question.file is None and not any(p.known for p in self.question.populations):
            return "nothing: whatever the prior"
        told = dict.fromkeys(e.mechanism.context.describe() for e in self.mechanisms.values())
        return "; ".join(told)

    def find(
        self, group: str | None = None, level: str | None = None, person: str | None = None
    ) -> CollectedMechanism:
        """Return the mechanism of a group, a level, or a person of the panel."""
        if person is not None or self.panel:
            return self._find_person(person)
        for each in self.mechanisms.values():
            if (each.group, each.level) == (group, level):
                return each
        named = (filter(None, (each.group, each.level)) for each in self.mechanisms.values())
        known = [" at ".join(parts) for parts in named]
        raise InputError(
            "no mechanism for this group and level",
            where=self.name,
            value=[group, level],
            remedy=f"name one of {', '.join(known)}" if any(known) else "name none",
        )

    def _find_person(self, person: str | None) -> CollectedMechanism:
        if person is not None and person in self.panel:
            return self.mechanisms[self.panel[person]]
        raise InputError(
            "nobody of this code in the panel" if self.panel else "the question has no panel",
            where=self.name,
            remedy="check the code that you were given" if self.panel else "leave the code out",
        )

    def estimate(self, counts: Mapping[str, Sequence[int]], **options: Any) -> Estimated:
        """Estimate from how often each output of each mechanism was reported.

        `options` are those of `Mechanism.estimate`; unless told, what the question says is
        estimated.
        """
        return estimate_counts(self, counts, options)


def make_collection(
    survey: Survey,
    question: Question,
    *,
    progress: Progress | None = None,
    kept: KeptMechanisms | None = None,
) -> Collection:
    """Design and prove every mechanism of a question, or take those that were kept."""
    name = f"{survey.name}.{question.name}"
    places = [*([] if kept is None else [kept]), KeptMechanisms.beside(survey.where)]
    workshop = Workshop(question, survey.folder)
    found: dict[str, CollectedMechanism] = {}
    digests: list[str] = []
    wanted = list(product(question.populations, workshop.levels))
    for number, (population, level) in enumerate(wanted, start=1):
        if progress is not None:
            progress(Step(f"designing {name}, {number:,} of {len(wanted):,}"))
        key = purpose(question, population, level)
        told = (place.find(question, population, level) for place in places)
        file, made = next(filter(None, told), (None, None))
        if made is None:
            made = workshop.make(population, level)
        each = CollectedMechanism.of(made, population.group, level.name, key, file)
        found[each.digest] = each
        digests.append(each.digest)
    panel = {} if question.panel is None else question.panel.people
    people = {code: digests[place] for code, place in panel.items()}
    return Collection(
        name,
        question,
        found,
        survey.repeat,
        survey.people,
        survey.least,
        people,
        survey.earlier,
    )
