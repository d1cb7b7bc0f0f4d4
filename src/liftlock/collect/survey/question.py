"""A question of a survey: what is asked, known, promised and estimated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

from liftlock.collect.survey.context import KNOWN, Population, label_text, read_known
from liftlock.collect.survey.fields import Fields, read_choice, read_text_value
from liftlock.collect.survey.values import (
    Domain,
    Grid,
    Panel,
    Profiles,
    Range,
    find_label,
    read_grid,
    read_panel,
    read_profiles,
    read_range,
    read_values,
)
from liftlock.errors import InputError
from liftlock.exact.numbers import exact
from liftlock.model.alphabet import Alphabet, Label
from liftlock.notions.base import Notion
from liftlock.notions.registry import parse_claim

Kind = Literal["choice", "number", "place", "profile"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""What is asked for: one of some values, a number, a place on a grid, a value under profiles."""

OF_KIND: Mapping[Kind, tuple[str, ...]] = {
    "number": ("range", "bins"),
    "place": ("grid",),
    "profile": ("profiles", "edges"),
    "choice": ("values",),
}
"""The keys that belong to one kind of question; the first of them shows which kind is meant."""

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
    """What is promised; empty if the file of the mechanism says it."""
    answer: Answer = Answer()
    domain: Domain | None = None
    """How numbers, places and profiles become values; None for a choice."""
    panel: Panel | None = None
    method: str | None = None
    utility: str | None = None
    file: str | None = None
    """The file of the mechanism, where it is not designed."""

    @property
    def inputs(self) -> Alphabet:
        """What people may answer."""
        return self.values

    @property
    def guarantee(self) -> Notion | None:
        """What is promised: at the first level, where people may choose."""
        return self.levels[0].notion if self.levels else None

    @property
    def grouped(self) -> bool:
        """Whether groups of people have a prior, and a mechanism, each."""
        return self.populations[0].group is not None

    @property
    def weights(self) -> dict[str | None, Fraction]:
        """The public weights of groups; empty if all count alike."""
        return {each.group: each.weight for each in self.populations if each.weight is not None}

    def encode(self, answer: Any) -> Label:
        """Return the value that an answer counts as: its bin, its rectangle, or itself."""
        return (
            find_label(answer, self.values) if self.domain is None else self.domain.encode(answer)
        )

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Question:
        """Read a question that stands alone, as a survey file has it."""
        from liftlock.collect.survey.survey import Survey

        return Survey.from_data({"survey": "alone", "questions": [data]}).questions[0]

    def content(self) -> dict[str, Any]:
        """Return what the survey file says of it; reading that gives the same question."""
        data: dict[str, Any] = {"name": self.name, "ask": self.ask}
        data |= (
            {"values": list(self.values.labels)} if self.domain is None else self.domain.content()
        )
        if self.panel is not None:
            data["panel"] = self.panel.file
        elif self.grouped:
            data["groups"] = {str(each.group): each.content() for each in self.populations}
        elif self.kind != "profile":
            data |= self.populations[0].content()
        if len(self.levels) > 1:
            data["levels"] = {str(each.name): claim_text(each.notion) for each in self.levels}
        elif self.guarantee is not None:
            data["guarantee"] = claim_text(self.guarantee)
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


def read_question(fields: Fields) -> Question | None:
    """Read a question; None if something is wrong with it, which is noted."""
    before = len(fields.mistakes.found)
    name = fields.require("name", read_name, "", "give each question a short name")
    asked = fields.require("ask", read_text_value, "", "write what people are asked")
    kind: Kind = fields.take("kind", read_choice(*KINDS), _kind_of(fields))
    domain, values = _read_values(fields, kind)
    file = fields.take("mechanism", read_text_value, None)
    levels = _read_levels(fields, kind, needed=file is None)
    method = fields.take("method", read_text_value, None)
    utility = fields.take("utility", read_text_value, None)
    if file is not None and (method is not None or utility is not None):
        _at_once(fields, "mechanism", "method" if method is not None else "utility")
    populations: tuple[Population, ...] = ()
    panel, answer = None, Answer(_USUAL[kind])
    if values is not None:
        panel, populations = _read_people(fields, values, domain, file)
        answer = fields.take("answer", lambda value: read_answer(value, values, domain), answer)
        _check_together(fields, populations, levels, panel, answer)
    else:  # they are read by the values, which have to be corrected first
        for key in (*KNOWN, "groups", "panel", "confidence", "evidence", "smoothing", "answer"):
            fields.raw(key)
    fields.finish(also=[key for keys in OF_KIND.values() for key in keys])
    if values is None and len(fields.mistakes.found) == before:
        fields.mistakes.note(fields.place, "nothing that could be answered")
    if len(fields.mistakes.found) > before or values is None:
        return None
    return Question(
        name,
        asked,
        kind,
        values,
        populations,
        levels,
        answer,
        domain,
        panel,
        method,
        utility,
        file,
    )


_USUAL: Mapping[Kind, str] = {
    "choice": "histogram",
    "number": "mean",
    "place": "histogram",
    "profile": "profiles",
}
"""What is estimated unless the question says something else."""


def _kind_of(fields: Fields) -> Kind:
    """Return the kind whose own key is given."""
    return next((kind for kind, keys in OF_KIND.items() if keys[0] in fields), "choice")


def _read_values(fields: Fields, kind: Kind) -> tuple[Domain | None, Alphabet | None]:
    """Read what people may answer."""
    if kind == "choice":
        remedy = "list what people may answer: values: [...]"
        return None, fields.require("values", read_values, None, remedy)
    read = {"number": read_range, "place": read_grid, "profile": read_profiles}[kind]
    domain: Range | Grid | Profiles | None = read(fields)
    return domain, None if domain is None else domain.values


def _read_levels(fields: Fields, kind: Kind, *, needed: bool) -> tuple[Level, ...]:
    """Read the guarantee, or the levels that people may choose from."""
    if "guarantee" in fields and "levels" in fields:
        _at_once(fields, "guarantee", "levels")
    nothing: tuple[Level, ...] = ()
    found = fields.take("levels", _read_named_levels, nothing)
    claim = fields.take("guarantee", read_claim, None)
    if claim is None and not found:
        if needed and "guarantee" not in fields and "levels" not in fields and fields.data:
            fields.mistakes.note(
                fields.place, "no guarantee", None, "say what is promised: lip=1, or ldp=1"
            )
        return ()
    levels = found or ((Level(claim),) if claim is not None else ())
    from liftlock.accounting.account import limited_quantities

    for level in levels:
        if ("profile" in limited_quantities(level.notion)) != (kind == "profile"):
            wanted = "write profile=0.5" if kind == "profile" else "write lip=1, or ldp=1"
            fields.mistakes.note(
                fields.place, f"a guarantee of another kind than {kind}", str(level.notion), wanted
            )
    return levels


def _read_named_levels(value: Any) -> tuple[Level, ...]:
    if not isinstance(value, Mapping) or len(value) < 2:
        raise InputError(
            "not two or more levels", value=value, remedy="write {low: ldp=0.5, high: ldp=2}"
        )
    return tuple(Level(read_claim(claim), read_name(name)) for name, claim in value.items())


def read_claim(value: Any) -> Notion:
    """Read a guarantee such as ``lip=1``."""
    return parse_claim(read_text_value(value))


def _at_once(fields: Fields, one: str, other: str) -> None:
    fields.mistakes.note(fields.at(other), f"{one} and {other} at once", None, "keep one of them")


def _read_people(
    fields: Fields, values: Alphabet, domain: Domain | None, file: str | None
) -> tuple[Panel | None, tuple[Population, ...]]:
    """Read what is known of all people, of each group, or of each person."""
    shape = domain.shape if isinstance(domain, Range) else None
    known = [key for key in (*KNOWN, "groups", "panel") if key in fields]
    if len(known) > 1:
        _at_once(fields, known[0], known[1])
    if isinstance(domain, Profiles) or file is not None:
        for key in known:
            why = "of a file" if file is not None else "under profiles, which are all that is known"
            fields.mistakes.note(
                fields.at(key), f"{key} beside a mechanism {why}", None, "remove it"
            )
    context = read_known(fields, values, shape)
    groups = fields.fields("groups")
    name = fields.take("panel", read_text_value, None)
    if isinstance(domain, Profiles):
        return None, (Population(domain.graph),)
    if groups is not None:
        return None, _read_groups(groups, values, shape)
    if name is not None:
        folder = fields.mistakes.source.folder
        panel = fields.take("panel", lambda value: read_panel(value, values, folder), None)
        people = () if panel is None else tuple(Population(prior) for prior in panel.priors)
        return panel, people
    return None, (Population(context),)


def _read_groups(groups: Fields, values: Alphabet, shape: Any) -> tuple[Population, ...]:
    """Read what is known of each group, and its weight."""
    found = []
    for name in groups.data:
        try:
            read_name(name)
        except InputError as error:
            groups.mistakes.note_error(groups.at(name), error)
        inner = groups.fields(name)
        if inner is None:  # nothing is known of the group
            found.append(Population(None, name))
            continue
        context = read_known(inner, values, shape)
        weight = inner.take("weight", _read_weight, None)
        inner.finish()
        found.append(Population(context, name, weight))
    weights = [each.weight for each in found if each.weight is not None]
    if weights and len(weights) < len(found):
        groups.mistakes.note(
            groups.place, "a group without a weight", None, "give each group one, or none"
        )
    if found and weights and not any(weights):
        groups.mistakes.note(groups.place, "all weights are 0", None, "give one that counts")
    if groups.data and len(found) < 2:
        groups.mistakes.note(groups.place, "a single group", None, "say what is known of all")
    return tuple(found)


def _read_weight(value: Any) -> Fraction:
    """Read the weight of a group: a negative one would cancel what others may be wrong by."""
    weight = exact(value, name="weight")
    if weight < 0:
        raise InputError("a negative weight", value=value, remedy="give 0 or more")
    return weight


MOST_MECHANISMS = 1_000
"""Groups times levels: more would take hours to design."""


def _check_together(
    fields: Fields,
    populations: tuple[Population, ...],
    levels: tuple[Level, ...],
    panel: Panel | None,
    answer: Answer,
) -> None:
    """Note what cannot be had together, with the reason."""
    note = fields.mistakes.note
    if panel is not None and len(levels) > 1:
        note(
            fields.at("levels"),
            "levels for a panel",
            None,
            "a mechanism for each person and level would be thousands more: ask in groups, or "
            "promise everybody the same",
        )
    if fields.data.get("profiles") is not None and len(levels) > 1:
        note(
            fields.at("levels"),
            "levels under profiles",
            None,
            "reports of several mechanisms for profiles cannot be added up: promise one level",
        )
    if panel is not None and levels and levels[0].notion.lift_limits() is None:
        note(
            fields.at("guarantee"),
            "a panel with a guarantee that is not about lifts",
            str(levels[0].notion),
            "priors of single people serve lip and alip only: for ldp leave the panel out",
        )
    if panel is None and len(populations) * len(levels) > MOST_MECHANISMS:
        note(
            fields.place,
            "too many groups and levels",
            len(populations) * len(levels),
            f"each pair needs a mechanism: keep them below {MOST_MECHANISMS:,}",
        )
    if any(each.weight is not None for each in populations) and answer.of not in ("sum", "mean"):
        note(
            fields.at("groups"),
            f"weights, but the answer is a {answer.of}",
            None,
            "weights are for sums and means: answer: sum",
        )


def read_answer(value: Any, values: Alphabet, domain: Domain | None = None) -> Answer:
    """Read what is to be estimated: a word, or ``survey`` with the values to count."""
    words: tuple[str, ...] = ("histogram", "survey", "sum", "mean")
    if isinstance(domain, Profiles):
        words = (*words, "profiles")
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
    listed = told if isinstance(told, list) else [told]
    chosen = tuple(find_label(each, values) for each in listed)
    if not chosen:
        raise InputError("a survey of no value", value=value, remedy="name the values to count")
    return Answer("survey", chosen[0] if len(chosen) == 1 else chosen)


def _numbers_only(answer: Answer, values: Alphabet) -> Answer:
    if answer.of in ("sum", "mean") and values.coordinates is None:
        raise InputError(
            f"the {answer.of} of values that are not numbers",
            value=label_text(values.labels[0]),
            remedy="ask for histogram, or {survey: [value]}",
        )
    return answer
