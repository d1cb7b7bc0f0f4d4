"""What pages say, as finished words, choices and pictures; templates only put them in place."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from liftlock.collect.server.pictures import (
    Beliefs,
    Span,
    beliefs_of,
    days_chart,
    days_of,
    places_map,
    weeks_of,
)
from liftlock.collect.survey.consent import Reveal, percent_up
from liftlock.collect.survey.least import shown_mechanisms
from liftlock.collect.survey.values import Grid, Profiles, Range
from liftlock.model.alphabet import Label, label_to_json
from liftlock.report.format import amount, counted, percent
from liftlock.report.html.beliefs import axis_end
from liftlock.report.html.charts import Bar, Group
from liftlock.report.html.markup import Content, Markup, markup, named, written

if TYPE_CHECKING:
    from liftlock.collect.server.service import Served
    from liftlock.collect.store import Counts
    from liftlock.collect.survey import CollectedMechanism, Survey

Rows = list[list[Content]]

MOST_MECHANISMS = 12
"""Of more mechanisms, as of a panel, the first are shown."""
_MOST_BARS = 40
_MOST_ROWS = 100

_STUFFING = {
    "open": "open to everybody: made-up and repeated reports cannot be told from others",
    "signed": "each report needs a token, which the operator gives to one person",
}


# --- mechanisms -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class MechanismView:
    """A table that reports are drawn from: whom it is for, what it promises, and the proof."""

    made: CollectedMechanism

    @property
    def digest(self) -> str:
        """The SHA-256 of its file."""
        return self.made.digest

    @property
    def link(self) -> str:
        """Where its file is, on either address."""
        return f"mechanisms/{self.digest}.json"

    @property
    def title(self) -> str:
        """Name it by whom it is for."""
        parts = [part for part in (self.made.group, self.made.level) if part]
        return f"For {', '.join(parts)}" if parts else "For everybody"

    @property
    def certificate(self) -> list[str]:
        """The lines of its certificate."""
        return str(self.made.mechanism.certificate).splitlines()

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """The worst that one of its reports can do, in full."""
        return tuple(self._reveal.sentences())

    @property
    def promise(self) -> str:
        """The worst that one of its reports can do, in one sentence."""
        moves = self._reveal.moves
        if not moves:
            return " ".join(self.sentences) if self._reveal.profiles else self.sentences[0]
        worst = max(moves, key=lambda move: move.most / move.before)
        return (
            "At worst, someone who knows only how common each answer is will believe "
            f"“{written(worst.value)}” with probability {percent_up(worst.most)} after the report, "
            f"up from {percent(float(worst.before))}."
        )

    @property
    def summary(self) -> tuple[str, ...]:
        """The same beside a picture and a table that have the numbers of each answer."""
        told = self._reveal.moves and self.worst
        return (self.promise, *self.sentences[1:]) if told else self.sentences

    @cached_property
    def _reveal(self) -> Reveal:
        return Reveal.of(self.made.mechanism)

    @cached_property
    def worst(self) -> Beliefs | None:
        """How far one of its reports can move a belief."""
        return beliefs_of(self.made.mechanism)

    def counts_of(self, counts: Counts) -> tuple[int, ...]:
        """Return how often each of its reports came."""
        return counts.mechanisms.get(self.digest, (0,) * self.made.outputs)

    def rows_of(self, counts: Counts) -> Rows:
        """Return the same as rows of a table."""
        numbers = self.counts_of(counts)
        return [[f"r{place}", f"{number:,}"] for place, number in enumerate(numbers, start=1)]


# --- what people answer ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Choice:
    """One of several things to choose: what scripts read, what people read, and what it means."""

    value: str
    text: str
    note: str = ""

    @classmethod
    def of(cls, label: Label) -> Choice:
        """Offer a value; scripts read JSON of ASCII alone, which no page has to spell out."""
        return cls(json.dumps(label_to_json(label)), written(label))


@dataclass(frozen=True)
class NumberField:
    """A field for a number between two ends."""

    low: str
    high: str

    @classmethod
    def of(cls, domain: Range) -> NumberField:
        """Take the ends of a range."""
        return cls(amount(float(domain.low), 12), amount(float(domain.high), 12))

    @property
    def words(self) -> str:
        """What may be entered, and what becomes of it."""
        return (
            f"A number from {self.low} to {self.high}; what lies outside counts as the nearer end. "
            "Only the bin that it lies in is looked up in the table."
        )


@dataclass(frozen=True)
class Step:
    """A column or a row of places: where it begins, and where it ends."""

    low: str
    high: str

    def __str__(self) -> str:
        return f"{self.low} to {self.high}"

    @classmethod
    def cut(cls, ends: tuple[Fraction, Fraction], number: int) -> tuple[Step, ...]:
        """Cut an interval into equal steps.

        >>> [str(step) for step in Step.cut((Fraction(0), Fraction(3)), 2)]
        ['0 to 1.5', '1.5 to 3']
        """
        low, high = ends
        at = [amount(float(low + (high - low) * place / number)) for place in range(number + 1)]
        return tuple(cls(*pair) for pair in pairwise(at))


@dataclass(frozen=True)
class Map:
    """Places on a grid, as a table of choices: the largest ordinate on top."""

    columns: tuple[Step, ...]
    rows: tuple[tuple[Step, tuple[Choice, ...]], ...]

    words = (
        "Choose a place; the arrow keys move from one to the next. Columns and rows are named by "
        "where they begin."
    )

    @classmethod
    def of(cls, grid: Grid) -> Map:
        """Lay out the rectangles of a grid."""
        across, upwards = Step.cut(grid.x, grid.columns), Step.cut(grid.y, grid.rows)
        rows = [
            (
                row,
                tuple(
                    Choice(Choice.of((x, y)).value, f"x {column}, y {row}")
                    for x, column in enumerate(across)
                ),
            )
            for y, row in enumerate(upwards)
        ]
        return cls(across, tuple(rows[::-1]))


@dataclass(frozen=True)
class QuestionView:
    """One question as people answer it."""

    served: Served
    key: str
    state: str
    mechanisms: tuple[MechanismView, ...]
    """The tables that reports are drawn from; of many, the first."""
    sent: str
    """What leaves the device."""

    @property
    def collection(self) -> str:
        """The name of its collection."""
        return self.served.name

    @property
    def name(self) -> str:
        """Its name within the survey."""
        return self.served.collection.question.name

    @property
    def ask(self) -> str:
        """What people are asked."""
        return self.served.collection.question.ask

    @property
    def closed(self) -> str:
        """Why it cannot be answered now."""
        survey = self.served.survey
        if self.state == "not-open-yet":
            return f"This question opens on {survey.opens}."
        return "This question is closed: no more reports are taken."

    @property
    def whose(self) -> str:
        """What is said if the table of a person is not known."""
        return (
            "This question has a table of its own for each person: open the link that was given "
            "to you."
        )

    @property
    def spent(self) -> str:
        """What is said on a device that has reported as often as it may."""
        return (
            "This device has answered this question in earlier rounds, as often as the survey "
            "promises at most: it sends no further report."
        )

    @property
    def token(self) -> str:
        """What is said if a token is needed, and there is none."""
        return "Each report needs a token: open the link that was given to you."

    @property
    def groups(self) -> list[Choice]:
        """The groups that a person may belong to."""
        names = self._each(each.group for each in self.served.collection.mechanisms.values())
        return [Choice(name, name) for name in names]

    @property
    def levels(self) -> list[Choice]:
        """The guarantees that a person may choose from; groups may differ in what these reveal."""
        every = self.served.collection.mechanisms.values()
        told = {each.made.level: each.promise for each in self.mechanisms}
        return [
            Choice(name, name, "" if self.groups else told.get(name, ""))
            for name in self._each(each.level for each in every)
        ]

    @staticmethod
    def _each(names: Iterable[str | None]) -> list[str]:
        return [name for name in dict.fromkeys(names) if name is not None]

    @property
    def values(self) -> list[Choice]:
        """The answers to choose from."""
        return [Choice.of(label) for label in self.served.collection.question.values.labels]

    @property
    def profiles(self) -> list[Choice]:
        """The profiles, where the table depends on them."""
        question = self.served.collection.question
        table = self.served.collection.default.mechanism.table
        if not isinstance(question.domain, Profiles) or table.inputs == question.values:
            return []
        return [Choice.of(label) for label in question.domain.graph.profiles.labels]

    @property
    def number(self) -> NumberField | None:
        """The field for a number; None if something else is asked."""
        domain = self.served.collection.question.domain
        return NumberField.of(domain) if isinstance(domain, Range) else None

    @property
    def map(self) -> Map | None:
        """The places to choose from; None if something else is asked."""
        domain = self.served.collection.question.domain
        return Map.of(domain) if isinstance(domain, Grid) else None

    @property
    def promise(self) -> str:
        """What a report can tell at worst, where there is one table, or nobody may see them."""
        if len(self.mechanisms) == 1:
            return self.mechanisms[0].promise
        notion = self.served.collection.question.guarantee
        if self.mechanisms or notion is None:
            return ""
        words = notion.promise.replace("the released {column}", "the {column}")
        return words.format(column="report", secret="answer")

    @property
    def more_mechanisms(self) -> int:
        """How many tables there are besides those that are shown; of a panel none is."""
        if self.served.collection.panel:
            return 0
        return len(self.served.collection.mechanisms) - len(self.mechanisms)


@dataclass(frozen=True)
class SurveyView:
    """A survey as its page begins."""

    survey: Survey

    @property
    def key(self) -> str:
        """Its name, which is part of addresses."""
        return self.survey.name

    @property
    def title(self) -> str:
        """What it is called."""
        return self.survey.title or self.survey.name

    @property
    def about(self) -> str:
        """When it is open, and how many questions it has."""
        parts = [counted(len(self.survey.questions), "question")]
        if self.survey.opens:
            parts.append(f"from {self.survey.opens}")
        if self.survey.closes:
            parts.append(f"until {self.survey.closes}")
        return ", ".join(parts)

    @property
    def open_to_all(self) -> bool:
        """Whether nobody checks who reports."""
        return self.survey.tokens == "open"

    @property
    def results(self) -> bool:
        """Whether everybody may see the results."""
        return self.survey.results == "public"

    @property
    def facts(self) -> Rows:
        """What analysts want to know of it."""
        survey = self.survey
        rows: Rows = [
            ["Questions", f"{len(survey.questions)}"],
            ["Open", f"from {survey.opens or 'the start'} until {survey.closes or 'it is closed'}"],
            ["Reports", _STUFFING[survey.tokens]],
        ]
        if survey.least:
            rows.append(["Shown", f"from {counted(survey.least, 'report')} on"])
        return rows


# --- what was collected ---------------------------------------------------------------------------


@dataclass(frozen=True)
class EstimateView:
    """What the reports to a question say about its answers."""

    content: Mapping[str, Any]
    key: str
    grid: Grid | None = None
    """Where the answers are places: they are drawn as a map."""

    @property
    def answers(self) -> list[Mapping[str, Any]]:
        """The numbers, each with its interval."""
        return list(self.content["answers"])

    @property
    def of_people(self) -> bool:
        """Whether the numbers are of people with an answer each, or a profile."""
        return self.content["of"] in ("histogram", "survey", "profiles")

    @property
    def shares(self) -> bool:
        """Whether the numbers can be told as shares."""
        return self.of_people and bool(self.content["total"])

    @property
    def unit(self) -> float:
        """What numbers are divided by before they are shown."""
        return float(self.content["total"]) if self.shares else 1.0

    def written(self, number: float | None) -> str:
        """Write a number as a share or as it is."""
        if number is None:
            return "–"
        return percent(number / self.unit) if self.shares else amount(number, 5)

    def name_of(self, answer: Mapping[str, Any]) -> Markup:
        """Name what a number is about."""
        name = answer["name"]
        if not self.of_people:
            return markup(name)
        return named(tuple(name) if isinstance(name, list) else name, 60)

    @property
    def picture(self) -> Markup | None:
        """A map of places; None for other answers, and for too many places."""
        if self.grid is None or not self.shares:
            return None
        shares = {tuple(each["name"]): each["value"] / self.unit for each in self.answers}
        return places_map(self.grid, shares, self.key)

    @property
    def full(self) -> float | None:
        """What a full bar stands for; None if there are no bars, as numbers are below 0."""
        ends = [
            float(end) / self.unit
            for answer in self.answers
            for end in (answer["low"], answer["value"], answer["high"])
            if end is not None
        ]
        if not ends or min(ends) < 0 or max(ends) == 0:
            return None
        return axis_end(max(ends)) if self.shares else max(ends)

    @property
    def groups(self) -> list[Group]:
        """A bar with its interval for each number."""
        full = self.full
        if full is None or self.picture is not None:
            return []
        scale = full * self.unit
        return [
            Group(
                self.name_of(answer),
                (
                    Bar(
                        "estimate",
                        answer["value"] / scale,
                        self.written(answer["value"]),
                        "highest",
                        None
                        if answer["low"] is None
                        else (answer["low"] / scale, answer["high"] / scale),
                    ),
                ),
            )
            for answer in self.answers[:_MOST_BARS]
        ]

    @property
    def caption(self) -> str:
        """What the picture shows."""
        content = self.content
        level = percent(float(content["level"]))
        each = "all intervals hold together" if content.get("together") else "each interval holds"
        what = "The share of people with each answer" if self.shares else f"The {content['of']}"
        text = (
            f"{what}, estimated from {counted(int(content['reports']), 'report')}, with its "
            f"interval: {each} with a probability of {level} {content.get('holds', '')}."
        )
        full = self.full
        if full is None or not self.groups:
            return text
        end = percent(full) if self.shares else amount(full, 5)
        text += f" A full bar is {end}."
        more = len(self.answers) - _MOST_BARS
        return f"{text} {_MOST_BARS} of {len(self.answers):,} are drawn." if more > 0 else text

    @property
    def title(self) -> str:
        """What stands over the table."""
        more = len(self.answers) - _MOST_ROWS
        return "The same in numbers" + (
            f": the {_MOST_ROWS} largest of {len(self.answers):,}; downloads have all" * (more > 0)
        )

    @property
    def head(self) -> list[str]:
        """The columns of the table."""
        first = "Share" if self.shares else "Estimate"
        return ["Answer", first, "At least", "At most"] + (["People"] if self.shares else [])

    @property
    def rows(self) -> Rows:
        """The same in numbers."""
        found: Rows = []
        answers = self.answers
        if len(answers) > _MOST_ROWS:
            answers = sorted(answers, key=lambda each: -each["value"])[:_MOST_ROWS]
        for answer in answers:
            row: list[Content] = [
                self.name_of(answer),
                self.written(answer["value"]),
                self.written(answer["low"]),
                self.written(answer["high"]),
            ]
            if self.shares:
                row.append(amount(float(answer["value"]), 4))
            found.append(row)
        return found

    @property
    def notes(self) -> list[str]:
        """What to beware of."""
        content = self.content
        notes = [*content.get("warnings", ()), *content.get("remarks", ())]
        if content.get("assumes"):
            notes.append(f"Taken for true: {content['assumes']}.")
        for each in content.get("rounding", {}).get("answers", ()):
            notes.append(
                "Numbers count as the middle of their bin: before that the "
                f"{each['name']} lies between {amount(each['low'], 5)} and "
                f"{amount(each['high'], 5)}."
            )
        return notes

    @property
    def parts(self) -> list[tuple[str, EstimateView]]:
        """The estimate of each group by itself."""
        groups = self.content.get("groups", {})
        return [
            (f"Only {name}", EstimateView(content, f"{self.key}-{place}", self.grid))
            for place, (name, content) in enumerate(groups.items())
        ]


@dataclass(frozen=True)
class DaysView:
    """When reports came."""

    key: str
    spans: tuple[Span, ...]
    left_out: int
    least: int

    @classmethod
    def of(
        cls, history: Mapping[str, Mapping[str, Sequence[int]]], least: int, key: str
    ) -> DaysView | None:
        """Count the reports of each day; None if there is no day that is shown."""
        days = {day: sum(map(sum, each.values())) for day, each in history.items()}
        spans, left_out = days_of(days, least)
        return cls(key, tuple(spans), left_out, least) if spans else None

    @property
    def drawing(self) -> Markup:
        """The picture."""
        return days_chart(weeks_of(self.spans), self.key)

    @property
    def caption(self) -> str:
        """What the picture shows."""
        weekly = weeks_of(self.spans) != list(self.spans)
        text = f"How many reports were counted in each {'week' if weekly else 'day'}."
        if self.left_out:
            days = counted(self.left_out, "day")
            few = counted(self.least, "report")
            text += f" {days} left out, so that nothing is told of fewer than {few}."
        return f"{text} Times finer than a day are not kept."

    @property
    def rows(self) -> Rows:
        """The same in numbers."""
        return [[str(span), f"{span.reports:,}"] for span in self.spans]


@dataclass(frozen=True)
class CountsTable:
    """How often each output of one mechanism was reported."""

    title: str
    rows: Rows


@dataclass(frozen=True)
class ResultView:
    """One question as analysts see it."""

    served: Served
    key: str
    state: str
    mechanisms: tuple[MechanismView, ...]
    total: int
    counted: Counts | None
    """None where there are fewer reports than are shown."""
    content: Mapping[str, Any] | None
    history: Mapping[str, Mapping[str, Sequence[int]]]
    why: str = ""
    """Why there is no estimate, though there are reports."""

    @property
    def revision(self) -> tuple[str, str, int, str]:
        """What changes whenever something in the view does."""
        folds = -1 if self.counted is None else self.counted.revision
        return self.served.name, self.state, folds, self.why

    @property
    def ask(self) -> str:
        """What people were asked."""
        return self.served.collection.question.ask

    @property
    def least(self) -> int:
        """How many reports must have come before anything is shown."""
        return self.served.survey.least

    @property
    def reports(self) -> str:
        """How many reports there are."""
        if self.counted is None and self.least:
            return f"fewer than {counted(self.least, 'report')}"
        return counted(self.total, "report")

    @property
    def summary(self) -> str:
        """How many reports there are, and whether more can come."""
        state = {"open": "open", "closed": "closed", "not-open-yet": "not open yet"}[self.state]
        return f"Collection {self.served.name}: {self.reports}, {state}."

    @property
    def withheld(self) -> str:
        """Why there is no estimate; empty if there is one."""
        if self.counted is None:
            return f"Results are shown from {counted(self.least, 'report')} on."
        if self.content is None:
            return f"There is no estimate: {self.why}." if self.total else "There is no report yet."
        return ""

    @property
    def estimate(self) -> EstimateView | None:
        """What the reports say."""
        if self.content is None:
            return None
        domain = self.served.collection.question.domain
        grid = domain if isinstance(domain, Grid) else None
        return EstimateView(self.content, f"{self.key}-estimate", grid)

    @cached_property
    def counts(self) -> tuple[MechanismView, ...]:
        """The mechanisms whose counts are shown."""
        if self.counted is None:
            return ()
        kept = shown_mechanisms(self.served.collection, self.counted.mechanisms)
        return tuple(made for made in self.mechanisms if made.digest in kept)

    @property
    def days(self) -> DaysView | None:
        """When they came."""
        if self.counted is None:
            return None
        return DaysView.of(self.history, self.least, f"{self.key}-days")

    @property
    def more_mechanisms(self) -> int:
        """How many mechanisms are not shown."""
        return len(self.served.collection.mechanisms) - len(self.mechanisms)
