"""A survey: its questions, and what holds for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

from liftlock.collect.survey.fields import (
    Fields,
    Mistakes,
    read_choice,
    read_list,
    read_text_value,
    read_whole,
)
from liftlock.collect.survey.file import Source, read_source
from liftlock.collect.survey.joint import AnswersJoint, read_joint
from liftlock.collect.survey.question import (
    Question,
    claim_text,
    read_claim,
    read_name,
    read_question,
)
from liftlock.collect.survey.repeat import RepeatRule
from liftlock.errors import InputError
from liftlock.notions.base import Notion

if TYPE_CHECKING:
    from liftlock._runtime.progress import Progress
    from liftlock.collect.survey.check import Check
    from liftlock.collect.survey.collection import Collection
    from liftlock.collect.survey.kept import KeptMechanisms
    from liftlock.collect.survey.simulation import Simulated

MOST_QUESTIONS = 200

Results = Literal["public", "analysts"]
Tokens = Literal["open", "signed"]

PEOPLE = 10_000
"""How many people margins are told for, unless the survey says how many are expected."""


@dataclass(frozen=True)
class Survey:
    """A survey as its file says it; the mechanisms are designed when they are first asked for.

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
    >>> list(survey.collections())
    ['health.flu']
    >>> Survey.from_data(survey.content()) == survey
    True
    """

    name: str
    questions: tuple[Question, ...]
    title: str = ""
    people: int = PEOPLE
    opens: date | None = None
    closes: date | None = None
    repeat: str = "first"
    least: int = 0
    """Results of fewer reports are not shown."""
    total: Notion | None = None
    """What all answers of one person may tell together."""
    results: Results = "public"
    tokens: Tokens = "open"
    earlier: tuple[str, ...] = ()
    """The rounds before: whoever has answered one of them does not answer, unless `repeat` says."""
    joint: AnswersJoint | None = None
    """What the answers to several questions have in common, where it is known."""
    where: str = field(default="", compare=False)
    """The file that it was read from."""

    @classmethod
    def read(cls, path: str | Path) -> Survey:
        """Read a survey file: YAML, TOML or JSON."""
        return read_survey(read_source(path))

    @classmethod
    def from_data(cls, data: Any, where: str = "") -> Survey:
        """Read a survey from plain data; files that it names are looked for beside `where`."""
        return read_survey(Source(data, where))

    def content(self) -> dict[str, Any]:
        """Return it as JSON; reading that gives the same survey."""
        data: dict[str, Any] = {"survey": self.name}
        if self.title:
            data["title"] = self.title
        data["people"] = self.people
        data |= {
            name: day.isoformat()
            for name, day in (("opens", self.opens), ("closes", self.closes))
            if day is not None
        }
        data |= {"repeat": self.repeat, "least": self.least}
        if self.total is not None:
            data["total"] = claim_text(self.total)
        data |= {"results": self.results, "tokens": self.tokens}
        data |= {"earlier": list(self.earlier)} if self.earlier else {}
        data |= {"questions": [question.content() for question in self.questions]}
        return data if self.joint is None else data | {"joint": self.joint.content()}

    def __getitem__(self, name: str) -> Question:
        for question in self.questions:
            if question.name == name:
                return question
        raise KeyError(name)

    def collections(
        self, *, progress: Progress | None = None, kept: KeptMechanisms | None = None
    ) -> Mapping[str, Collection]:
        """Design and prove the mechanisms of every question, once; by ``SURVEY.QUESTION``.

        Those that were kept are proved again, and not designed again.
        """
        from liftlock.collect.survey.collection import make_collection

        found = self._collections
        for question in self.questions:
            name = f"{self.name}.{question.name}"
            if name not in found:
                found[name] = make_collection(self, question, progress=progress, kept=kept)
        return {f"{self.name}.{q.name}": found[f"{self.name}.{q.name}"] for q in self.questions}

    def keep_mechanisms(self) -> Path:
        """Write all mechanisms beside the survey file, so that they need not be designed again."""
        from liftlock.collect.survey.kept import keep_mechanisms

        if not self.where:
            raise InputError(
                "a survey that was not read from a file has nothing beside it",
                value=self.name,
                remedy="write it to a file, and read it from there",
            )
        folder = Path(self.where).with_suffix(".mechanisms")
        every = [
            each for found in self.collections().values() for each in found.mechanisms.values()
        ]
        keep_mechanisms(folder, ((each.purpose, each.digest, each.file) for each in every))
        return folder

    def check(self, *, progress: Progress | None = None) -> Check:
        """Design and prove everything, and say what it gives, what it costs, what is refused."""
        from liftlock.collect.survey.check import check

        return check(self, progress=progress)

    def simulate(
        self,
        truths: Mapping[str, Any] | None = None,
        people: int | None = None,
        *,
        seed: SupportsIndex | str,
    ) -> Simulated:
        """Simulate a round without a server: see `liftlock.collect.survey.simulation.simulate`."""
        from liftlock.collect.survey.simulation import simulate

        return simulate(self, truths, people, seed=seed)

    def next_round(
        self, counts: Mapping[str, Mapping[str, Sequence[int]]], confidence: object = "0.99"
    ) -> Survey:
        """Return the survey of the next round, whose priors are sets that the reports allow."""
        from liftlock.collect.survey.rounds import next_round

        return next_round(self, counts, confidence)

    @cached_property
    def _collections(self) -> dict[str, Collection]:
        return {}

    @property
    def folder(self) -> Path:
        """Where files that it names are looked for."""
        return Path(self.where).parent if self.where else Path()


def read_survey(source: Source) -> Survey:
    """Read a survey; all mistakes are told at once."""
    mistakes = Mistakes(source)
    fields = Fields(source.data, (), mistakes)
    name = fields.require("survey", read_name, "", "give the survey a short name: survey: health")
    title = fields.take("title", read_text_value, "")
    people = fields.take("people", _read_people, PEOPLE)
    opens = fields.take("opens", read_date, None)
    closes = fields.take("closes", read_date, None)
    if opens is not None and closes is not None and closes < opens:
        mistakes.note(("closes",), "closes before it opens", closes.isoformat(), "correct a date")
    repeat = fields.take("repeat", read_repeat, "first")
    least = fields.take("least", read_whole, 0)
    total = fields.take("total", read_claim, None)
    results: Results = fields.take("results", read_choice("public", "analysts"), "public")
    tokens: Tokens = fields.take("tokens", read_choice("open", "signed"), "open")
    unnumbered: tuple[str, ...] = ()
    earlier = fields.take("earlier", _read_earlier, unnumbered)
    told = fields.raw("joint")
    nothing: list[Any] = []
    listed = fields.require("questions", read_list, nothing, "give at least one question")
    if len(listed) > MOST_QUESTIONS:
        mistakes.note(("questions",), f"more than {MOST_QUESTIONS} questions", len(listed))
        listed = []
    fields.finish()
    found = [
        read_question(Fields(each, ("questions", number), mistakes))
        for number, each in enumerate(listed)
    ]
    questions = tuple(question for question in found if question is not None)
    names = [question.name for question in questions]
    for number, question in enumerate(found):
        if question is not None and question.name in names[: names.index(question.name)]:
            mistakes.note(("questions", number), "name given twice", question.name)
    joint = None
    if told is not None and len(questions) == len(found):
        joint = fields.take(
            "joint", lambda value: read_joint(value, questions, source.folder), None
        )
    mistakes.refuse()
    return Survey(
        name,
        questions,
        title,
        people,
        opens,
        closes,
        repeat,
        least,
        total,
        results,
        tokens,
        earlier,
        joint,
        source.where,
    )


def _read_people(value: Any) -> int:
    found = read_whole(value)
    if not found:
        raise InputError("no people", value=value, remedy="say how many are expected")
    return found


def read_date(value: Any) -> date:
    """Read a day."""
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        raise InputError("not a day", value=value, remedy="write it like 2026-12-31") from None


def read_repeat(value: Any) -> str:
    """Read what a device does when it is asked again: see `RepeatRule`."""
    return str(RepeatRule.read(value))


def _read_earlier(value: Any) -> tuple[str, ...]:
    return tuple(map(read_name, read_list(value)))
