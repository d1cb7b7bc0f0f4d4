"""The check of a survey: its mechanisms proved, its margins, what a person spends, the consent.

`liftlock collect check` prints it, and a server asks for it when it starts: a survey with a refusal
is not served.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from liftlock.collect.survey.budget import PersonBudget, person_budget
from liftlock.collect.survey.consent import Asked, Consent, is_almost_certain, together_texts
from liftlock.collect.survey.repeat import RepeatRule
from liftlock.collect.survey.values import Range
from liftlock.errors import InputError, LiftlockError, NotDefined
from liftlock.estimate.expected import ExpectedError, expected_profile_error, model_error
from liftlock.estimate.models import model_of
from liftlock.estimate.question import About, ask
from liftlock.model import Prior, PriorSet, ProfileGraph, representative
from liftlock.report.format import amount

if TYPE_CHECKING:
    from liftlock._runtime.progress import Progress
    from liftlock.collect.survey.collection import CollectedMechanism, Collection
    from liftlock.collect.survey.question import Question
    from liftlock.collect.survey.survey import Survey
    from liftlock.mechanism import Mechanism

Weight = Literal["refusal", "warning", "note"]
LARGE_PART = 0.5
"""A margin for shares above this says hardly anything."""


class SurveyRefused(InputError):
    """A survey that must not be carried out; carries its check."""

    def __init__(self, check: Check) -> None:
        self.check = check
        told = [finding.text for finding in check.refusals]
        super().__init__(f"the survey {check.survey} is refused: {'; '.join(told)}")


@dataclass(frozen=True)
class Finding:
    """Something that was found: a refusal, a warning, or a note."""

    weight: Weight
    text: str
    question: str = ""

    def __str__(self) -> str:
        about = f"{self.question}: " if self.question else ""
        return f"{self.weight}: {about}{self.text}"

    def content(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"weight": self.weight, "question": self.question, "text": self.text}


@dataclass(frozen=True)
class Margin:
    """Half the width of the 95 % interval that so many people will give, without the prior.

    Of several values the intervals hold all at once.
    """

    question: str
    of: str
    people: int
    size: float | None
    """None: without the prior the reports do not determine the answer."""
    level: str | None = None
    """Whom it is for, where people may choose a level: as if all chose it."""
    groups: int = 1
    rounding: float = 0.0
    """By how much numbers may be moved besides, as each is rounded to the middle of its bin."""

    @property
    def counts(self) -> bool:
        """Whether it is a margin of shares."""
        return self.of in ("histogram", "survey", "profiles")

    @property
    def text(self) -> str:
        """The margin with its unit, rounded up."""
        if self.size is None:
            return "not determined without the prior"
        if self.counts:
            return f"±{amount(_up(100 * min(self.size, 1.0)), 3)} %"
        return f"±{amount(_up(self.size), 3)}"

    def __str__(self) -> str:
        what = {"histogram": "every share", "survey": "the share"}.get(self.of, f"the {self.of}")
        chosen = f", if all choose {self.level}" if self.level else ""
        if self.rounding:
            chosen += f", and {amount(_up(self.rounding), 3)} more at most for the bins"
        return f"{self.question}: {self.people:,} people give {what} within {self.text}{chosen}"

    def content(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "question": self.question,
            "of": self.of,
            "people": self.people,
            "level": self.level,
            "groups": self.groups,
            "margin": self.size,
            "rounding": self.rounding,
            "text": self.text,
        }


@dataclass(frozen=True)
class Check:
    """What was found out about a survey before anybody is asked.

    >>> from liftlock.collect.survey import Survey
    >>> survey = Survey.from_data(
    ...     {
    ...         "survey": "health",
    ...         "people": 10000,
    ...         "total": "lip=1",
    ...         "questions": [
    ...             {
    ...                 "name": "flu",
    ...                 "ask": "How are you today?",
    ...                 "values": ["none", "cold", "flu"],
    ...                 "guarantee": "lip=1",
    ...                 "prior": {"none": 700, "cold": 200, "flu": 100},
    ...             }
    ...         ],
    ...     }
    ... )
    >>> found = check(survey)
    >>> found.passed, [str(margin) for margin in found.margins]
    (True, ['flu: 10,000 people give every share within ±2.25 %'])
    """

    survey: str
    findings: tuple[Finding, ...]
    margins: tuple[Margin, ...] = ()
    budget: PersonBudget | None = None
    choices: Mapping[str, PersonBudget] = field(default_factory=dict)
    """What all answers tell if a person always chooses the level of a name."""
    consent: Consent | None = None
    mechanisms: tuple[tuple[str, str, int, str], ...] = ()
    """Of each mechanism: its collection, whom it is for, its outputs, and its digest."""

    @property
    def refusals(self) -> tuple[Finding, ...]:
        """Why the survey must not be carried out; nothing if it may."""
        return tuple(each for each in self.findings if each.weight == "refusal")

    @property
    def passed(self) -> bool:
        """Whether the survey may be carried out."""
        return not self.refusals

    def require(self) -> Check:
        """Return the check if the survey may be carried out, or refuse it with all reasons."""
        if not self.passed:
            raise SurveyRefused(self)
        return self

    def __str__(self) -> str:
        lines = [f"survey {self.survey}: {'may be carried out' if self.passed else 'REFUSED'}"]
        if self.mechanisms:
            lines += ["", "Mechanisms, designed and proved"]
            lines += [
                f"  {name}{f' for {who}' if who else ''}: {outputs:,} reports, {digest[:16]}..."
                for name, who, outputs, digest in self.mechanisms[:_LISTED]
            ]
            more = len(self.mechanisms) - _LISTED
            lines += [f"  and {more:,} more"] if more > 0 else []
        if self.margins:
            lines += ["", "Precision (95 % intervals, without the prior)"]
            lines += [f"  {margin}" for margin in self.margins]
        if self.budget is not None:
            lines += ["", "What a person spends"]
            lines += [f"  {line}" for line in str(self.budget).splitlines()]
            for level, chosen in self.choices.items():
                lines.append(f"  who chooses {level}: {str(chosen).splitlines()[0]}")
        if self.findings:
            lines += ["", "Findings", *(f"  {finding}" for finding in self.findings)]
        if self.consent is not None:
            lines += ["", "Consent text", ""]
            lines += [f"  {line}".rstrip() for line in str(self.consent).splitlines()]
        return "\n".join(lines)

    def content(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "survey": self.survey,
            "passed": self.passed,
            "findings": [finding.content() for finding in self.findings],
            "mechanisms": [
                {"collection": name, "who": who, "outputs": outputs, "mechanism": digest}
                for name, who, outputs, digest in self.mechanisms
            ],
            "margins": [margin.content() for margin in self.margins],
            "budget": None if self.budget is None else self.budget.content(),
            "choices": {level: each.content() for level, each in self.choices.items()},
            "consent": None if self.consent is None else self.consent.content(),
        }


_LISTED = 24


def check(survey: Survey, *, progress: Progress | None = None) -> Check:
    """Design and prove everything, and say what it gives, what it costs, and what is refused."""
    return _Checking(survey, progress).run()


class _Checking:
    """One run of a check, with what it has found so far."""

    def __init__(self, survey: Survey, progress: Progress | None) -> None:
        self.survey, self.progress = survey, progress
        self.findings: list[Finding] = []

    def refuse(self, text: object, question: str = "") -> None:
        self.findings.append(Finding("refusal", str(text), question))

    def warn(self, text: str, question: str = "") -> None:
        self.findings.append(Finding("warning", text, question))

    def run(self) -> Check:
        survey = self.survey
        try:
            rule = RepeatRule.read(survey.repeat)
            collections = dict(survey.collections(progress=self.progress))
        except LiftlockError as error:
            self.refuse(error)
            return Check(survey.name, tuple(self.findings))
        margins = tuple(margin for each in collections.values() for margin in self._margins(each))
        budget, choices = self._budget(collections, rule)
        self._look_at_rule(rule)
        self._look_at_people()
        consent = None if budget is None else make_consent(survey, budget)
        listed = tuple(
            (name, who_text(each), each.outputs, each.digest)
            for name, collection in collections.items()
            for each in collection.mechanisms.values()
        )
        return Check(survey.name, tuple(self.findings), margins, budget, choices, consent, listed)

    def _margins(self, collection: Collection) -> list[Margin]:
        question = collection.question
        found = margins_of(collection, self.survey.people)
        for margin in found:
            if margin.size is None:
                self.warn(
                    "without the prior the reports do not determine the answer; a larger budget, "
                    "or another method, would",
                    question.name,
                )
            elif margin.counts and margin.size > LARGE_PART:
                self.warn(
                    f"{margin.people:,} people give shares within {margin.text} only; ask more "
                    "people, fewer values, or with a larger budget",
                    question.name,
                )
        return found

    def _budget(
        self, collections: Mapping[str, Collection], rule: RepeatRule
    ) -> tuple[PersonBudget | None, dict[str, PersonBudget]]:
        survey = self.survey
        try:
            found = budget_of(survey, collections, rule)
            levels = dict.fromkeys(
                str(level.name)
                for question in survey.questions
                for level in question.levels
                if level.name is not None
            )
            choices = {level: budget_of(survey, collections, rule, level=level) for level in levels}
            if survey.total is not None:
                objection = found.objection(survey.total)
                if objection:
                    self.refuse(objection)
        except LiftlockError as error:
            self.refuse(error)
            return None, {}
        if any(value.is_infinite for value in found.nats.values()):
            self.warn("a report may reveal an answer for certain")
        else:
            self._look_at_answers(found)
        return found, choices

    def _look_at_answers(self, budget: PersonBudget) -> None:
        """Warn of a question whose report is nearly the answer, as where profiles are protected."""
        for each in budget.questions:
            ratio = each.levels.ldp
            if ratio is not None and is_almost_certain(ratio):
                self.warn(
                    "a report may reveal the answer almost for certain, whatever else the "
                    "guarantee protects; ask for ldp if the answer itself is to be protected",
                    each.question,
                )

    def _look_at_rule(self, rule: RepeatRule) -> None:
        if rule.repeats and self.survey.total is None:
            self.warn(
                f"the rule {rule} lets one person report {rule.rounds:,} times, and no total "
                "limits what that tells: give one, total: ldp=..."
            )
        if rule.shows_change:
            self.warn("people must be told that the collector can notice a changed answer")

    def _look_at_people(self) -> None:
        survey = self.survey
        if survey.least > survey.people:
            self.warn(
                f"results are shown from {survey.least:,} reports, and {survey.people:,} people "
                "are expected"
            )
        if survey.tokens == "open":
            self.findings.append(
                Finding(
                    "note",
                    "anyone can send any number of reports (tokens: open), and so forge the "
                    "results; with tokens: signed each report needs a token",
                )
            )


# --- margins --------------------------------------------------------------------------------------


def margins_of(collection: Collection, people: int) -> list[Margin]:
    """Return the margin of what a question estimates, for each level that people may choose.

    Groups are taken to be equally large, with a panel everybody answers. With weights w of groups
    that each add the variance c per person, the variance per person is G sum w^2 c / (sum w)^2.
    """
    question = collection.question
    if collection.panel:
        people = len(collection.panel)
    sharing = Counter(collection.panel.values())
    levels: dict[str | None, list[tuple[Mechanism, float]]] = {}
    for each in collection.mechanisms.values():
        weight = float(question.weights.get(each.group, 1))
        if collection.panel:
            weight = math.sqrt(sharing[each.digest])
        levels.setdefault(each.level, []).append((each.mechanism, weight))
    found = []
    for level, own in levels.items():
        errors = [expected_of(mechanism, question, people) for mechanism, _ in own]
        known = [error for error in errors if error is not None]
        size = None
        if len(known) == len(errors):
            squares = [weight**2 for _, weight in own]
            total = math.fsum(weight for _, weight in own)
            scale = 1.0 / people if collection.panel else len(own) / total**2
            per_person = [
                scale * math.fsum(w * value for w, value in zip(squares, values, strict=True))
                for values in zip(*(error.per_person for error in known), strict=True)
            ]
            size = known[0].quantile * math.sqrt(max(per_person) / people)
            if question.answer.of == "sum":
                size *= people if collection.panel else people * total / len(own)
        groups = 1 if collection.panel else len(own)
        moved = _rounding_of(question, people)
        if question.answer.of == "sum" and not collection.panel:
            moved *= math.fsum(weight for _, weight in own) / len(own)
        found.append(Margin(question.name, question.answer.of, people, size, level, groups, moved))
    return found


def _rounding_of(question: Question, people: int) -> float:
    """Return by how much a mean, or a sum, moves at most as numbers are rounded to their bins."""
    if not isinstance(question.domain, Range) or question.answer.of not in ("sum", "mean"):
        return 0.0
    each = float(question.domain.width / 2)
    return each * people if question.answer.of == "sum" else each


def expected_of(mechanism: Mechanism, question: Question, people: int) -> ExpectedError | None:
    """Return the expected error without the prior; None if the reports do not determine it."""
    of, value = question.answer.of, question.answer.options.get("value")
    context = mechanism.context
    try:
        if isinstance(context, ProfileGraph):
            even = Prior.uniform(context.profiles.labels)
            asked_of = (mechanism.channel, context, even, people, of, value, "unbiased")
            return expected_profile_error(*asked_of, about="population")
        known = mechanism.known_prior
        if known is None and isinstance(context, PriorSet):
            known = representative(context)
        prior = known or Prior.uniform(mechanism.channel.inputs.labels)
        model = model_of(mechanism.channel, prior)
        asked = ask(prior.inputs, of, value).reordered(model.inputs)
        # A sum is that of the people who answer; shares and means are those of a population.
        about: About = "people" if of == "sum" else "population"
        return model_error(model, asked, people, "unbiased", about=about, together=True)
    except NotDefined:
        return None


def _up(value: float) -> float:
    """Round up to three digits."""
    if value == 0 or not math.isfinite(value):
        return value
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    return math.ceil(value / unit * (1 - 1e-12)) * unit


# --- the budget and the consent of a survey -------------------------------------------------------


def budget_of(
    survey: Survey,
    collections: Mapping[str, Collection] | None = None,
    rule: RepeatRule | None = None,
    *,
    level: str | None = None,
) -> PersonBudget:
    """Account for all answers of one person to a survey; of those who choose a level, if named."""
    rule = rule or RepeatRule.read(survey.repeat)
    collections = collections if collections is not None else survey.collections()
    offered: dict[str, list[Mechanism]] = {}
    groups: dict[str, list[str]] = {}
    for collection in collections.values():
        name = collection.question.name
        every = list(collection.mechanisms.values())
        chosen = [each for each in every if each.level == level] or every
        offered[name] = [each.mechanism for each in chosen]
        groups[name] = [each.group for each in every if each.group is not None]
        if collection.question.panel is not None:
            groups[name] = [f"everybody in {collection.question.panel.file}"]
    joint = survey.joint
    if joint is None:
        return person_budget(offered, rule=rule, groups=groups)
    return person_budget(
        offered, joint=joint.prior, joint_of=joint.questions, rule=rule, groups=groups
    )


def who_text(each: CollectedMechanism) -> str:
    """Say whom a mechanism is for: a group, a level; empty if it is for all.

    A mechanism of a panel is for everybody of whom the same is known.
    """
    parts = [f'the group "{each.group}"'] if each.group is not None else []
    parts += [f'the level "{each.level}"'] if each.level is not None else []
    return " and ".join(parts)


def make_consent(survey: Survey, budget: PersonBudget | None = None) -> Consent:
    """Write the text that people agree to before they answer."""
    collections = survey.collections()
    budget = budget or budget_of(survey, collections)
    rule = budget.rule
    asked = tuple(
        Asked.of(
            collection.question.name,
            collection.question.ask,
            [(each.mechanism, who_text(each)) for each in collection.mechanisms.values()],
            rule,
            collection.question.panel is not None,
        )
        for collection in collections.values()
    )
    return Consent(
        survey.title or survey.name,
        asked,
        together_texts(budget, survey.total),
        tuple(_not_protected(survey)),
        rule.describe(),
        _until(survey),
        _results(survey),
    )


def _not_protected(survey: Survey) -> list[str]:
    texts = [
        (
            "That you answered, and on which day: no noise hides that. No address, no device and "
            "no time finer than a day is stored with a report, but the network that carries it to "
            "the server sees your network address and the time."
        )
    ]
    if any(question.grouped for question in survey.questions):
        texts.append("The group that you belong to: it is sent with the report.")
    if any(len(question.levels) > 1 for question in survey.questions):
        texts.append(
            "The level of protection that you choose: it is seen with the report. Choose it before "
            "you think of your answer, and not because of it."
        )
    if any(question.panel is not None for question in survey.questions):
        texts.append(
            "Which table is yours: it is sent with the report, and was made for what the panel "
            "says of you. If nobody else shares it, it names you: reports are counted for each "
            "table, so the collector keeps which report is yours, and learns from it what is said "
            "above."
        )
    texts.append(
        "What others already know about you, and what you tell them. The promises are about your "
        "reports, not about what the results say of all people."
    )
    if survey.tokens == "open":
        texts.append("Nobody checks who reports: others may send false reports.")
    else:
        texts.append(
            "Your report bears the number of the token that you were given: whoever gave it to you "
            "can find out, together with the collector, which report is yours, and learns from it "
            "what is said above."
        )
    return texts


def _until(survey: Survey) -> str:
    parts = []
    if survey.opens is not None:
        parts.append(f"opens on {survey.opens.isoformat()}")
    if survey.closes is not None:
        parts.append(f"closes on {survey.closes.isoformat()}")
    return f"The survey {' and '.join(parts)}." if parts else ""


def _results(survey: Survey) -> str:
    who = "Anybody sees" if survey.results == "public" else "The analysts of this survey see"
    least = f", once there are {survey.least:,} reports" if survey.least else ""
    groups = " and for each group" if any(each.grouped for each in survey.questions) else ""
    tables = " and table" if any(each.panel is not None for each in survey.questions) else ""
    return (
        f"{who} the estimates for all people together{groups}, and how many reports of each kind "
        f"came on each day{least}. The collector keeps the numbers of reports by day{tables}; once "
        "a report is counted, it is no longer stored beside the random number that names it."
    )


__all__ = [
    "Check",
    "Finding",
    "Margin",
    "SurveyRefused",
    "budget_of",
    "check",
    "make_consent",
    "margins_of",
]
