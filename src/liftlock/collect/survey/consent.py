"""What people are told before they answer: what leaves the device, and the worst it can do.

Every number is one that the exact audit proved of the mechanisms on offer, or of all of them
together, rounded to its safe side: a belief after the report never less than it may become.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from liftlock.collect.survey.budget import PersonBudget, worst_levels
from liftlock.collect.survey.context import label_text
from liftlock.collect.survey.repeat import FIRST, RepeatRule, change_shown
from liftlock.errors import NotDefined
from liftlock.exact import enclosure
from liftlock.exact.decimals import GLUE, fold_text, moves_text, round_down_text, round_up_text
from liftlock.exact.fingerprint import fraction_text
from liftlock.model import Intervals, Prior, ProfileGraph
from liftlock.model.alphabet import Label, label_to_json
from liftlock.model.channel import Channel
from liftlock.notions.lift import lift_table
from liftlock.report.format import percent, printable

if TYPE_CHECKING:
    from liftlock.mechanism import Mechanism
    from liftlock.notions.base import Notion

_MOST_VALUES = 12
"""Of more values only the extreme ones are told."""
_MOST_CELLS = 65_536
_MOST_OUTPUTS_NAMED = 6


# --- one report -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Move:
    """How far the belief that somebody has one value may move: from the prior, to at most, least.

    >>> print(Move("flu", Fraction(1, 10), Fraction(1, 5), Fraction(1, 28)).replace_glue())
    "flu": 3.57 % to 20 % (before: 10 %)
    """

    value: Label
    before: Fraction
    most: Fraction
    least: Fraction

    def __str__(self) -> str:
        return (
            f"{_named(self.value)}: {percent_down(self.least)} to {percent_up(self.most)} "
            f"(before: {percent(float(self.before))})"
        )

    def replace_glue(self) -> str:
        """Return the text with ordinary spaces."""
        return str(self).replace(GLUE, " ")

    def content(self) -> dict[str, Any]:
        """Return the JSON form: exact fractions, and what to print."""
        return {
            "value": label_to_json(self.value),
            "before": fraction_text(self.before),
            "most": fraction_text(self.most),
            "least": fraction_text(self.least),
            "text": str(self),
        }


@dataclass(frozen=True)
class Reveal:
    """The worst that one report of one mechanism can do to what anybody believes.

    `up` and `down` are the largest lift and the smallest, `ratio` the largest ratio of the chances
    of a report under two answers; None is without limit.
    """

    who: str
    """Whom the mechanism is for: a group, a level; empty if it is for all."""
    outputs: int
    up: Fraction | None
    down: Fraction
    ratio: Fraction | None
    moves: tuple[Move, ...]
    premise: str
    """What is believed beforehand by those whom the promise is about; empty: anything."""
    confidence: Fraction | None = None
    evidence: str = ""
    profiles: Fraction | None = None
    panel: bool = False
    """Whether the prior is what is known of one person, and not of all."""

    @classmethod
    def of(cls, mechanism: Mechanism, who: str = "", panel: bool = False) -> Reveal:
        """Measure a mechanism exactly.

        >>> from liftlock import LIP, Draft, lock
        >>> draft = Draft.of(["no", "yes"], ["r1", "r2"], [[0.75, 0.25], [0.25, 0.75]])
        >>> reveal = Reveal.of(lock(draft, LIP("1"), Prior.from_counts({"no": 1, "yes": 1})))
        >>> [move.replace_glue() for move in reveal.moves][0]
        '"no": 25 % to 75 % (before: 50 %)'
        """
        levels, context = worst_levels(mechanism), mechanism.context
        up, down = levels.upper, _inverse(levels.lower)
        outputs = 0 if mechanism.per_user else len(getattr(mechanism.channel, "outputs", ()))
        anybody = levels.lower == levels.upper == levels.ldp
        moves: tuple[Move, ...] = ()
        premise, confidence, evidence = "", None, ""
        if not anybody and isinstance(context, Prior):
            # What is known of one person is nobody else's business: no prior of a panel is shown.
            moves = () if panel else tuple(_moves(mechanism.channel, context))
            premise = "prior"
        elif not anybody and isinstance(context, Intervals):
            premise, confidence, evidence = "intervals", context.confidence, context.evidence
        elif not anybody:
            premise = context.describe().replace("symbols", "answers")
        profiles = levels.profile
        if isinstance(context, ProfileGraph):
            profiles = _profile_ratio(mechanism)
        return cls(
            who,
            outputs,
            up,
            down,
            levels.ldp,
            moves,
            premise,
            confidence,
            evidence,
            profiles,
            panel,
        )

    @property
    def every_belief(self) -> bool:
        """Whether the promise holds whatever anyone believed before."""
        return not self.premise

    def sentences(self) -> Iterator[str]:
        """Say the worst case in plain words."""
        whom = f"For {self.who}: " if self.who else ""
        anything = f"whatever anyone believed before: {odds_text(self.ratio)}"
        worst = f"{whom}{anything}" if whom else _capitalized(anything)
        if self.every_belief:
            yield worst
            if self.profiles is not None and self.profiles != self.ratio:
                yield (
                    "Which of two joined profiles you have becomes more likely, compared with the "
                    f"other, at most {fold_text(self.profiles)}."
                )
            return
        if self.confidence is not None:
            yield worst
            yield (
                f"If you have not answered before, with confidence {percent_down(self.confidence)} "
                f"over {self.evidence}, for someone who knows only how common each answer is: "
                f"{factor_text(self.up, self.down)}"
            )
            return
        known = {
            "prior": "what the panel says about you" if self.panel else "how common each answer is",
            "intervals": "that the share of each answer lies within its interval",
        }.get(self.premise)
        if self.moves:
            told = "; ".join(map(str, self.moves))
            said = f"after the report, someone who knows only {known} believes: {told}."
        else:
            whose = f"for someone who knows only {known}" if known else f"under {self.premise}"
            said = f"{whose}: {factor_text(self.up, self.down)}"
        yield f"{whom}{said}" if whom else _capitalized(said)
        yield _capitalized(anything)

    def content(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "who": self.who,
            "outputs": self.outputs,
            "believes": self.premise or "anything",
            "up": None if self.up is None else fraction_text(self.up),
            "down": fraction_text(self.down),
            "ratio": None if self.ratio is None else fraction_text(self.ratio),
            "confidence": None if self.confidence is None else fraction_text(self.confidence),
            "moves": [move.content() for move in self.moves],
            "text": list(self.sentences()),
        }


def _moves(channel: Any, prior: Prior) -> list[Move]:
    """Return how far the belief in each value may move; of many, those with the extreme lifts."""
    if not isinstance(channel, Channel) or channel.weights.size > _MOST_CELLS:
        return []
    table = lift_table(channel, prior)
    places = list(range(len(table.secrets)))
    if len(places) > _MOST_VALUES:
        extremes = [table.largest().witness.secret, table.smallest().witness.secret]
        rarest = min(places, key=lambda s: table.counts[s])
        known = [table.secrets.index(label) for label in extremes if label is not None]
        places = list(dict.fromkeys([*known, rarest]))
    found = []
    for s in places:
        row = [table.lift_at(s, y) for y in range(len(table.outputs))]
        mass = table.secret_masses[s]
        found.append(
            Move(
                table.secrets.labels[s],
                mass,
                min(mass * max(row), Fraction(1)),
                mass * min(row),
            )
        )
    return found


def _profile_ratio(mechanism: Mechanism) -> Fraction | None:
    from liftlock.accounting.release import measure_levels

    try:
        return measure_levels(mechanism.channel, mechanism.context).profile
    except NotDefined:
        return None


def odds_text(ratio: Fraction | None) -> str:
    """Say what a ratio of likelihoods does to odds, with an even chance as the example.

    >>> print(odds_text(Fraction("2.7182")).replace(GLUE, " "))
    the odds of one answer against another change at most 2.72-fold; even odds (50 %) become at
    most 73.2 %, and no less than 26.8 %.
    >>> odds_text(Fraction(10**9))
    'an answer may be revealed almost for certain.'
    """
    if ratio is None:
        return "an answer may be revealed for certain."
    if is_almost_certain(ratio):
        return "an answer may be revealed almost for certain."
    even = ratio / (1 + ratio)
    return (
        f"the odds of one answer against another change at most {fold_text(ratio)}; even odds "
        f"(50{GLUE}%) become at most {percent_up(even)}, and no less than {percent_down(1 - even)}."
    )


def is_almost_certain(ratio: Fraction) -> bool:
    """Tell whether even odds may become 100 %, as it is written.

    >>> is_almost_certain(Fraction(100)), is_almost_certain(Fraction(10**9))
    (False, True)
    """
    return round_up_text(100 * ratio / (1 + ratio)) == "100"


def factor_text(up: Fraction | None, down: Fraction) -> str:
    """Say how far a belief moves, as a factor.

    >>> print(factor_text(Fraction(2), Fraction(1, 4)).replace(GLUE, " "))
    a belief in any answer rises at most 2-fold, and falls to no less than 25 % of what it was.
    """
    text = moves_text(up, down).replace("lower it to", "falls to")
    return f"a belief in any answer rises {text}."


def percent_up(share: Fraction) -> str:
    """Write a share as a percentage, never less than it is."""
    return f"{round_up_text(100 * share)}{GLUE}%"


def percent_down(share: Fraction) -> str:
    """Write a share as a percentage, never more than it is.

    >>> percent_down(Fraction(99, 100)).replace(GLUE, " "), percent_down(Fraction("0.99999"))[:4]
    ('99 %', '99.9')
    """
    return f"{round_down_text(100 * share)}{GLUE}%"


def _inverse(ratio: Fraction | None) -> Fraction:
    return Fraction(0) if ratio is None else 1 / ratio


def _named(value: Label) -> str:
    return f'"{printable(value)}"' if isinstance(value, str) else printable(label_text(value))


# --- a question -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Asked:
    """What a question sends, and the worst that each mechanism on offer can do."""

    name: str
    ask: str
    reveals: tuple[Reveal, ...]
    changes: tuple[Fraction, Fraction] | None = None
    """The least and the largest chance that a changed answer shows, where the rule allows it."""

    @classmethod
    def of(
        cls,
        name: str,
        ask: str,
        mechanisms: Sequence[tuple[Mechanism, str]],
        rule: RepeatRule = FIRST,
        panel: bool = False,
    ) -> Asked:
        """Measure the mechanisms that are offered, each with a word about whom it is for.

        Of many, such as those of a `panel` of people with a prior each, only the worst are told.
        """
        reveals = [Reveal.of(mechanism, who, panel) for mechanism, who in mechanisms]
        if len(reveals) > _MOST_VALUES:
            reveals = _worst_of(reveals)
        changes = None
        if rule.shows_change:
            shown = [change_shown(mechanism) for mechanism, _ in mechanisms]
            known = [each for each in shown if each is not None]
            if known:
                changes = (min(low for low, _ in known), max(high for _, high in known))
        return cls(name, ask, tuple(reveals), changes)

    @property
    def sent(self) -> str:
        """What leaves the device."""
        sizes = sorted({each.outputs for each in self.reveals} - {0})
        if not sizes:
            return "one report, and a random number that names it"
        texts = " or ".join(f"one of {size:,} reports ({_report_names(size)})" for size in sizes)
        return f"{texts}, and a random number that names it"

    def paragraphs(self) -> Iterator[str]:
        """Say what is asked, what is sent, and the worst case."""
        yield f"{printable(self.ask)} Your device sends {self.sent}; never your answer."
        if any(reveal.panel for reveal in self.reveals):
            yield "What is known of each person differs; these are the worst cases of all."
        for reveal in self.reveals:
            yield " ".join(reveal.sentences())
        if self.changes is not None:
            low, high = self.changes
            yield (
                "If your answer changes, the two reports differ, and so prove the change, with a "
                f"chance between {percent_down(low)} and {percent_up(high)}."
            )

    def content(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "name": self.name,
            "ask": self.ask,
            "sent": self.sent,
            "worst": [reveal.content() for reveal in self.reveals],
            "text": list(self.paragraphs()),
        }


def _report_names(size: int) -> str:
    if size <= _MOST_OUTPUTS_NAMED:
        return ", ".join(f"r{place + 1}" for place in range(size))
    return f"r1 to r{size}"


def _worst_of(reveals: Sequence[Reveal]) -> list[Reveal]:
    """Return those in which a belief rises most, falls most, and odds change most."""

    def largest(value: Fraction | None) -> tuple[bool, Fraction]:
        return (value is None, value or Fraction(0))

    found = [
        max(reveals, key=lambda each: largest(each.up)),
        min(reveals, key=lambda each: each.down),
        max(reveals, key=lambda each: largest(each.ratio)),
    ]
    return list(dict.fromkeys(found))


# --- the whole text -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Consent:
    """The text that people agree to before they answer."""

    title: str
    questions: tuple[Asked, ...]
    together: tuple[str, ...]
    not_protected: tuple[str, ...]
    again: str
    until: str
    results: str

    def sections(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Return the parts of the text, each with its heading."""
        for asked in self.questions:
            yield f"Question {asked.name}", tuple(asked.paragraphs())
        yield "All answers together", self.together
        yield "If you are asked again", (self.again,)
        yield "Not protected", self.not_protected
        yield "Who sees the results", (self.results, *((self.until,) if self.until else ()))

    def __str__(self) -> str:
        lines = [self.title] if self.title else []
        for heading, texts in self.sections():
            lines += ["", heading, *(f"  {text}" for text in texts)]
        return "\n".join(lines).strip()

    def content(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "title": self.title,
            "questions": [asked.content() for asked in self.questions],
            "sections": [
                {"heading": heading, "text": list(texts)} for heading, texts in self.sections()
            ],
        }


def together_texts(budget: PersonBudget, total: Notion | None = None) -> tuple[str, ...]:
    """Say what all answers tell, in the words of the worst case, and that a total is kept."""
    told = budget.over_rounds
    texts = []
    number = len(budget.questions)
    rounds = f" in {budget.rule.rounds:,} rounds" if budget.rule.repeats else ""
    what = f"All {number:,} reports{rounds}" if number > 1 else f"The one report{rounds}"
    what += " together" if number > 1 or rounds else ""
    ratio, falls, rises = (_ratio_above(told[name]) for name in ("ldp", "eps_lower", "eps_upper"))
    if budget.rule.shows_change:
        texts.append(
            "All rounds together have no limit: reports that differ prove that an answer changed. "
            "The promises are about each report by itself."
        )
    elif ratio is None:
        texts.append(f"{what} may reveal your answers for certain.")
    else:
        texts.append(f"{what}, whatever anyone believed before: {_all_answers(odds_text(ratio))}")
        if rises is not None and falls is not None and (rises, falls) != (ratio, ratio):
            texts.append(
                "For someone who believes beforehand what the questions were designed for: "
                + _all_answers(factor_text(rises, 1 / falls))
            )
        if number > 1:
            texts.append(f"This is proved {budget.how}.")
    texts += [_sentence(note) for note in budget.notes]
    anybody = {each.question for each in budget.questions if each.by_ldp}
    for name, value in budget.never_changes.items():
        most = _ratio_above(value)
        if most is not None and budget.rule.repeats:
            texts.append(
                f"If your answer to {name} never changes, {budget.rule.rounds:,} reports of this "
                f"mechanism move a belief at most {fold_text(most)}"
                + ("." if name in anybody else ", for whoever believes what it was designed for.")
            )
    if total is not None and budget.allows(total):
        kept = "it is kept"
        if not budget.allows_for_certain(total):
            sure = budget.confidence_text
            kept += f" with confidence {sure} over the evidence for the sets of priors"
        texts.append(f"The limit of this survey for one person is {total}; {kept}.")
    return tuple(texts)


def _all_answers(text: str) -> str:
    for one, every in (
        ("one answer against another", "any answers against any others"),
        ("any answer rises", "any combination of answers rises"),
        ("an answer may be", "the answers may be"),
    ):
        text = text.replace(one, every)
    return text


def _sentence(text: str) -> str:
    return f"{_capitalized(text)}."


def _capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]


def _ratio_above(value: enclosure.Enclosure) -> Fraction | None:
    """Return a ratio that is certainly not below e^value."""
    if value.upper is None:
        return None
    return enclosure.exp(value.upper).upper


__all__ = ["Asked", "Consent", "Move", "Reveal", "together_texts"]
