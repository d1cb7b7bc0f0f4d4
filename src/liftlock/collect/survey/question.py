"""A question of a survey: what is asked, known, promised and estimated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from liftlock.collect.survey.context import (
    KNOWN,
    Population,
    label_text,
    read_known,
)
from liftlock.collect.survey.fields import (
    Fields,
    read_choice,
    read_list,
    read_text_value,
)
from liftlock.collect.survey.file import DecimalText
from liftlock.errors import InputError, LabelError
from liftlock.exact.numbers import exact
from liftlock.model.alphabet import Alphabet, Label
from liftlock.notions.base import Notion
from liftlock.notions.registry import parse_claim

Kind = Literal["choice", "number", "place", "profile"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""What is asked for: one of some values, a number, a place on a grid, a value under profiles."""

MOST_VALUES = 4096
"""With more values a mechanism would be too large to be sent to everybody."""

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,38}[a-z0-9])?\Z")


def read_name(value: Any) -> str:
    """Read the name of a survey, a question, a group or a level: it is part of addresses.

    >>> read_name("flu-2026")
    'flu-2026'
    """
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if isinstance(text, str) and _NAME.match(text):
        return str(text)
    raise InputError(
        "not a name",
        value=value,
        remedy="use 1 to 40 small letters, digits, - and _, the last two not at an end",
    )


@dataclass(frozen=True)
class Level:
    """A guarantee, and the name under which it is offered if people may choose."""

    notion: Notion
    name: str | None = None


@dataclass(frozen=True)
class Answer:
    """What is estimated, unless something else is asked for: see `liftlock.estimate`."""

    of: str = "histogram"
    value: Label | tuple[Label, ...] | None = None

    @property
    def options(self) -> dict[str, Any]:
        """The same as `Mechanism.estimate` takes it."""
        value = list(self.value) if isinstance(self.value, tuple) else self.value
        return {"of": self.of} | ({} if value is None else {"value": value})

    def content(self) -> Any:
        """Return what the survey file says of it."""
        if self.value is None:
            return self.of
        told = self.value if isinstance(self.value, tuple) else (self.value,)
        return {self.of: [label_text(label) for label in told]}


@dataclass(frozen=True)
class Question:
    """A question, and everything that its mechanisms are made from.

    >>> flu = Question.from_data(
    ...     {
    ...         "name": "flu",
    ...         "ask": "How are you today?",
    ...         "values": ["none", "cold", "flu"],
    ...         "prior": {"none": 700, "cold": 200, "flu": 100},
    ...         "guarantee": "lip=1",
    ...     }
    ... )
    >>> flu.kind, str(flu.guarantee), flu.populations[0].context.describe()
    ('choice', 'lip(1)', 'a prior on 3 symbols')
    """

    name: str
    ask: str
    kind: Kind
    values: Alphabet
    """What people may answer: the inputs of the mechanisms, before profiles are added."""
    populations: tuple[Population, ...]
    levels: tuple[Level, ...]
    answer: Answer = Answer()
    method: str | None = None
    utility: str | None = None
    file: str | None = None
    """The file of the mechanism, where it is not designed."""

    @property
    def inputs(self) -> Alphabet:
        """The inputs of its mechanisms."""
        return self.values

    @property
    def guarantee(self) -> Notion:
        """What is promised; where people may choose, the first level."""
        return self.levels[0].notion

    @property
    def grouped(self) -> bool:
        """Whether groups of people have a prior, and a mechanism, each."""
        return self.populations[0].group is not None

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Question:
        """Read a question that stands alone, as a survey file has it."""
        from liftlock.collect.survey.survey import Survey

        return Survey.from_data({"survey": "alone", "questions": [data]}).questions[0]

    def content(self) -> dict[str, Any]:
        """Return what the survey file says of it; reading that gives the same question."""
        data: dict[str, Any] = {"name": self.name, "ask": self.ask}
        data["values"] = _values_content(self.values)
        if self.grouped:
            data["groups"] = {str(each.group): each.content() for each in self.populations}
        else:
            data |= self.populations[0].content()
        if self.levels[0].name is None:
            data["guarantee"] = claim_text(self.guarantee)
        else:
            data["levels"] = {str(each.name): claim_text(each.notion) for each in self.levels}
        data["answer"] = self.answer.content()
        told = {"method": self.method, "utility": self.utility, "mechanism": self.file}
        return data | {key: value for key, value in told.items() if value is not None}


def claim_text(notion: Notion) -> str:
    """Write a guarantee as survey files have it.

    >>> claim_text(parse_claim("alip=1.3,0.7"))
    'alip=1.3,0.7'
    """
    return f"{notion.name}={','.join(notion.budgets.values())}"


# --- reading --------------------------------------------------------------------------------------

OF_KIND: dict[str, tuple[str, ...]] = {
    "choice": ("values",),
}
"""The keys that belong to one kind of question; the first of them shows which kind is meant."""


def read_question(fields: Fields) -> Question | None:
    """Read a question; None if something is wrong with it, which is noted."""
    before = len(fields.mistakes.found)
    name = fields.require("name", read_name, "", "give each question a short name")
    asked = fields.require("ask", read_text_value, "", "write what people are asked")
    kind = fields.take("kind", read_choice(*OF_KIND), _kind_of(fields))
    values = _read_choice_values(fields)
    levels = _read_levels(fields)
    populations: tuple[Population, ...] = ()
    answer = Answer()
    if values is not None:
        populations = _read_populations(fields, values)
        answer = fields.take("answer", lambda value: read_answer(value, values), answer)
    method = fields.take("method", read_text_value, None)
    utility = fields.take("utility", read_text_value, None)
    file = fields.take("mechanism", read_text_value, None)
    fields.finish()
    if len(fields.mistakes.found) > before or values is None:
        return None
    return Question(name, asked, kind, values, populations, levels, answer, method, utility, file)


def _kind_of(fields: Fields) -> Any:
    """Return the kind whose own key is given."""
    return next((kind for kind, keys in OF_KIND.items() if keys[0] in fields), "choice")


def _read_choice_values(fields: Fields) -> Alphabet | None:
    return fields.require("values", read_values, None, "list what people may answer: values: [...]")


def read_values(value: Any) -> Alphabet:
    """Read the values that people may answer: text, or numbers, which can be added up.

    >>> read_values(["no", "yes"]).labels, read_values([0, 1, 5]).coordinates is None
    (('no', 'yes'), False)
    """
    listed = read_list(value)
    for each in listed:
        if isinstance(each, bool) or each is None:
            raise LabelError(
                "a truth value, or nothing, among the values",
                value=each,
                remedy='put it in quotes if it is what people answer: "true"',
            )
        if not isinstance(each, str | int):
            raise LabelError("a value is neither text nor a number", value=each)
    if not 2 <= len(listed) <= MOST_VALUES:
        raise LabelError(
            f"{len(listed):,} value{'s' * (len(listed) != 1)}",
            remedy=f"give 2 to {MOST_VALUES:,}",
        )
    labels = [each if isinstance(each, int) else str(each) for each in listed]
    texts = [label_text(label) for label in labels]
    for text in texts:
        if texts.count(text) > 1:
            raise LabelError("a value is listed twice", value=text, remedy="list each once")
    numbers = all(isinstance(each, int | DecimalText) for each in listed)
    points = [exact(each, name="value") for each in listed] if numbers else None
    return Alphabet.of(labels, points)


def _values_content(values: Alphabet) -> list[Any]:
    return list(values.labels)


def _read_levels(fields: Fields) -> tuple[Level, ...]:
    """Read the guarantee, or the levels that people may choose from."""
    if "guarantee" in fields and "levels" in fields:
        fields.mistakes.note(
            fields.place, "a guarantee and levels at once", None, "keep one of them"
        )
    if "levels" in fields:
        nothing: tuple[Level, ...] = ()
        found = fields.take("levels", _read_named_levels, nothing)
        fields.raw("guarantee")
        return found
    fields.raw("levels")
    claim = fields.require(
        "guarantee", read_claim, None, "say what is promised: guarantee: lip=1, or ldp=1"
    )
    return () if claim is None else (Level(claim),)


def _read_named_levels(value: Any) -> tuple[Level, ...]:
    if not isinstance(value, Mapping) or len(value) < 2:
        raise InputError(
            "not two or more levels", value=value, remedy="write {low: ldp=0.5, high: ldp=2}"
        )
    return tuple(Level(read_claim(claim), read_name(name)) for name, claim in value.items())


def read_claim(value: Any) -> Notion:
    """Read a guarantee such as ``lip=1``."""
    return parse_claim(read_text_value(value))


def _read_populations(fields: Fields, values: Alphabet) -> tuple[Population, ...]:
    """Read what is known of all people, or of each group."""
    if "groups" not in fields:
        fields.raw("groups")
        return (Population(read_known(fields, values)),)
    given = [key for key in KNOWN if key in fields]
    if given:
        fields.mistakes.note(
            fields.at(given[0]),
            f"{given[0]} of all beside groups",
            None,
            "give each group what is known of it",
        )
    for key in (*KNOWN, "confidence", "evidence"):
        fields.raw(key)
    groups = fields.fields("groups")
    assert groups is not None
    found = []
    for name in groups.data:
        inner = groups.fields(name)
        if inner is None:
            found.append(Population(None, name))
            continue
        try:
            read_name(name)
        except InputError as error:
            groups.mistakes.note_error(groups.at(name), error)
        context = read_known(inner, values)
        inner.finish()
        found.append(Population(context, name))
    return tuple(found)


def read_answer(value: Any, values: Alphabet) -> Answer:
    """Read what is to be estimated: a word, or ``survey`` with the values to count."""
    words = ("histogram", "survey", "sum", "mean")
    if isinstance(value, str):
        word = read_choice(*words)(value)
        if word == "survey":
            raise InputError(
                "a survey of no value", value=value, remedy="write {survey: [value, ...]}"
            )
        return _numbers_only(Answer(word), values)
    if not isinstance(value, Mapping) or set(value) != {"survey"}:
        raise InputError(
            "not an answer", value=value, remedy=f"write {', '.join(words)} or {{survey: [value]}}"
        )
    told = value["survey"]
    chosen = tuple(
        find_label(each, values) for each in (told if isinstance(told, list) else [told])
    )
    if not chosen:
        raise InputError("a survey of no value", value=value, remedy="name the values to count")
    return Answer("survey", chosen[0] if len(chosen) == 1 else chosen)


def _numbers_only(answer: Answer, values: Alphabet) -> Answer:
    if answer.of in ("sum", "mean") and values.coordinates is None:
        raise InputError(
            f"the {answer.of} of values that are not numbers",
            value=values.labels[0],
            remedy="ask for histogram, or {survey: [value]}",
        )
    return answer


def find_label(value: Any, values: Alphabet) -> Label:
    """Find the value that is meant by its text."""
    for label in values.labels:
        if label_text(label) == str(value):
            return label
    raise LabelError(
        "not one of the values",
        value=value,
        remedy=f"the values are {', '.join(map(label_text, values.labels[:8]))}",
    )
