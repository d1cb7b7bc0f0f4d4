"""The next round of a survey: what the closed round found becomes what the next one assumes.

The reports allow a *set* of priors, which holds the shares of the population with a confidence,
whatever these are; the next mechanism is proved for every prior of the set. So whoever answers for
the first time is protected as the guarantee says with this confidence over the earlier reports, and
by the LDP level of the table whatever is true. An estimate is never taken for the prior itself: a
mechanism for it leaks more than its budget under the true prior nearly always.

Source: 001 section V ("aggregated results in the recent past"); math sets of priors from reports.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from liftlock.collect.survey.context import label_text
from liftlock.errors import InputError, LiftlockError
from liftlock.estimate import Aggregate
from liftlock.exact import enclosure
from liftlock.exact.budget import Budget
from liftlock.exact.decimals import GLUE, round_down_text, round_up_text
from liftlock.model import Intervals, Prior, PriorSet
from liftlock.model.confidence import proportion_interval, read_confidence
from liftlock.notions import LDP

if TYPE_CHECKING:
    from liftlock.collect.survey.collection import CollectedMechanism, Collection
    from liftlock.collect.survey.context import Population
    from liftlock.collect.survey.question import Question
    from liftlock.collect.survey.survey import Survey
    from liftlock.estimate.likely_priors import Round
    from liftlock.mechanism import Mechanism

Counts = Mapping[str, Mapping[str, Sequence[int]]]
"""How often each output was reported: by collection, then by the digest of the mechanism."""

SOUND = (
    "the sets hold if those who answered and those who will be asked are independent draws from "
    "one population, and the round was not ended because of what it had shown"
)
_NUMBERED = re.compile(r"^(.+?)-(\d+)$")
_MOST_LETTERS = 40
_MOST_SHOWN = 6
_STEPS = 10**6
"""Widened ends are whole numbers of millionths."""


@dataclass(frozen=True)
class Learnt:
    """What became of what is known of the people of one question, or of one group of them."""

    question: str
    group: str | None
    reports: int
    priors: Intervals | None
    """The new set; None if what was known is kept."""
    why: str = ""
    wrong: str = ""
    """What was wrong with the prior that the round was designed for; empty if nothing shows."""

    def __str__(self) -> str:
        whom = f" ({self.group})" if self.group is not None else ""
        if self.priors is None:
            return f"{self.question}{whom}: kept as it was: {self.why}"
        near = self.priors
        assert near.confidence is not None
        shown = [
            f"{label_text(label)} {_interval_text(low, high)}"
            for label, low, high in zip(
                near.inputs.labels[:_MOST_SHOWN], near.lower, near.upper, strict=False
            )
        ]
        more = len(near.inputs) - _MOST_SHOWN
        shown += [f"and {more} more"] if more > 0 else []
        sure = f"{round_down_text(100 * near.confidence, 4)}{GLUE}%"
        return (
            f"{self.question}{whom}: {', '.join(shown)}, which hold the shares of the population "
            f"with confidence {sure} over {near.evidence}; LDP holds whatever is true"
            + (f"; {self.wrong}" if self.wrong else "")
        )

    def content(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "question": self.question,
            "group": self.group,
            "reports": self.reports,
            "priors": None if self.priors is None else self.priors.to_data(),
            "kept": self.why,
            "wrong": self.wrong,
            "text": str(self),
        }


@dataclass(frozen=True)
class NextRound:
    """The survey of the next round, and what was learnt for it."""

    survey: Survey
    learnt: tuple[Learnt, ...]
    remarks: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"survey {self.survey.name}", *(f"  {each}" for each in self.learnt)]
        return "\n".join([*lines, *(f"  {remark}" for remark in self.remarks)])

    def content(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "survey": self.survey.content(),
            "learnt": [each.content() for each in self.learnt],
            "remarks": list(self.remarks),
        }


def next_round(survey: Survey, counts: Counts, confidence: object = "0.99") -> Survey:
    """Return the survey of the next round, whose priors are sets that the reports allow."""
    return plan_next_round(survey, counts, confidence).survey


def plan_next_round(
    survey: Survey,
    counts: Counts,
    confidence: object = "0.99",
    *,
    drift: object = 0,
    name: str | None = None,
    opens: date | None = None,
    closes: date | None = None,
) -> NextRound:
    """Return the survey of the next round, with what was learnt of each question and what was not.

    `counts` are those of the closed round; collections and mechanisms without reports may be left
    out. Each group has a set of its own, each with the whole confidence: a person is in one group.
    A `drift` of 0.1 widens the sets, so that they hold too if every share changes until then by a
    factor of e^0.1 at most.
    """
    beta = read_confidence(confidence)
    moved = Budget.of(drift, name="drift")
    collections = survey.collections()
    _check_counts(collections, counts)
    learnt: list[Learnt] = []
    questions = []
    for key, collection in collections.items():
        # All people of a panel are one case: nothing is learnt of a single prior.
        whole = collection.question.panel is not None
        populations = collection.question.populations
        found = [
            _widened(_learn(collection, population, counts.get(key, {}), beta), moved)
            for population in populations[: 1 if whole else None]
        ]
        learnt += found
        questions.append(collection.question if whole else _with_sets(collection.question, found))
    remarks = _remarks(survey, learnt)
    starts, ends = _dates(survey, opens, closes)
    changed: dict[str, Any] = {
        "name": name or next_name(survey.name),
        "questions": tuple(questions),
        "opens": starts,
        "closes": ends,
        "earlier": (*survey.earlier, survey.name),
    }
    if survey.joint is not None and any(each.priors for each in learnt):
        changed["joint"] = None
        remarks.append(
            "the joint of the answers is left out: it said what the old priors say; together the "
            "answers are bounded whatever they have in common"
        )
    return NextRound(replace(survey, **changed), tuple(learnt), tuple(remarks))


def next_name(name: str) -> str:
    """Return the name of the next round.

    >>> next_name("health"), next_name("health-2"), next_name("covid-19-9")
    ('health-2', 'health-3', 'covid-19-10')
    """
    found = _NUMBERED.match(name)
    base, number = (found[1], int(found[2]) + 1) if found else (name, 2)
    ending = f"-{number}"
    return base[: _MOST_LETTERS - len(ending)].rstrip("-_") + ending


def _dates(
    survey: Survey, opens: date | None, closes: date | None
) -> tuple[date | None, date | None]:
    """Let the next round follow the last one, for as long as it was."""
    if survey.closes is not None:
        opens = opens or survey.closes + timedelta(days=1)
        if closes is None and survey.opens is not None:
            closes = opens + (survey.closes - survey.opens)
    return opens, closes


def _check_counts(collections: Mapping[str, Collection], counts: Counts) -> None:
    for key, by_mechanism in counts.items():
        if key not in collections:
            raise InputError(
                "counts of a collection that the survey has not",
                value=key,
                remedy=f"its collections are {', '.join(collections)}",
            )
        for digest, numbers in by_mechanism.items():
            known = collections[key].mechanisms.get(digest)
            if known is None:
                raise InputError(
                    "counts of another mechanism",
                    where=key,
                    value=digest,
                    remedy="the survey was changed after the round: use the survey file of then",
                )
            if len(numbers) != known.outputs or any(int(number) < 0 for number in numbers):
                raise InputError(
                    f"{len(numbers)} counts of {known.outputs} outputs", where=key, value=digest
                )


def _learn(
    collection: Collection,
    population: Population,
    counts: Mapping[str, Sequence[int]],
    beta: Fraction,
) -> Learnt:
    """Return the set of priors that the reports of a population allow, or why it is not used."""
    question = collection.question
    own = [
        (each, tuple(map(int, counts.get(digest, ()))))
        for digest, each in collection.mechanisms.items()
        if each.group == population.group
    ]
    reports = sum(sum(numbers) for _, numbers in own)

    def kept(why: str) -> Learnt:
        return Learnt(question.name, population.group, reports, None, why)

    why = _why_not(question, own)
    if why:
        return kept(why)
    if not all(sum(numbers) for _, numbers in own):
        unused = next(each for each, numbers in own if not sum(numbers))
        level = f" with the level {unused.level}" if unused.level else ""
        return kept(f"there are no reports{level}")
    try:
        near = _hull([_priors_of(each, numbers, beta / len(own)) for each, numbers in own], beta)
    except LiftlockError as error:
        return kept(str(error))
    if all(low == 0 for low in near.lower) and all(high == 1 for high in near.upper):
        return kept("the reports are too few to say anything of any share")
    wrong = _what_was_wrong(near, own, beta)
    return Learnt(question.name, population.group, reports, near, "", wrong)


def _widened(found: Learnt, drift: Budget) -> Learnt:
    """Widen a set by a drift of all shares, outward."""
    most = drift.exp().upper
    if found.priors is None or most is None or most <= 1:
        return found
    near = found.priors
    unit = Fraction(1, _STEPS)
    return replace(
        found,
        priors=Intervals(
            near.inputs,
            tuple(low / most // unit * unit for low in near.lower),
            tuple(min(-(-high * most // unit) * unit, Fraction(1)) for high in near.upper),
            near.confidence,
            f"{near.evidence} and a drift of at most {drift}",
        ),
    )


def _what_was_wrong(
    near: Intervals,
    own: Sequence[tuple[CollectedMechanism, tuple[int, ...]]],
    beta: Fraction,
) -> str:
    """Say that the prior of the round is not in the set, and what its reports told all the same."""
    prior = own[0][0].mechanism.context
    if not isinstance(prior, Prior):
        return ""
    masses = prior.reordered(near.inputs).fractions
    if all(low <= p <= high for low, p, high in zip(near.lower, masses, near.upper, strict=True)):
        return ""
    told = [
        (each.mechanism.notion, *leakage_range(each.mechanism, numbers, beta / len(own)))
        for each, numbers in own
    ]
    leaked = " and ".join(
        f"{notion} was promised, and LIP is between {_nats_down(low)} and {_nats_up(high)}"
        for notion, low, high in told
    )
    return (
        "with this confidence the prior of the round was wrong: it is not among them. Of those who "
        f"answered, {leaked}"
    )


def leakage_range(
    mechanism: Mechanism, counts: Sequence[int], beta: Fraction
) -> tuple[Fraction, Fraction | None]:
    """Return between which ratios the true leakage e^LIP of a round was, but for beta.

    The lifts of a table depend on the prior through the chances P(y) of its outputs alone, and
    these are what reports show, whatever the prior:

        lift(x, y) = W(y | x) / P(y)

    Each of the 2 K ends of the chances of K outputs is wrong with probability beta / (2 K). The
    upper end is at most the ratio of LDP; None is without limit.

    Source: math lifts need the chances of outputs alone; Clopper-Pearson intervals.

    >>> from liftlock import LIP, Draft, lock
    >>> draft = Draft.of(["no", "yes"], ["r1", "r2"], [[0.75, 0.25], [0.25, 0.75]])
    >>> coin = lock(draft, LIP("1"), Prior.from_counts({"no": 1, "yes": 1}))
    >>> [round(float(ratio), 3) for ratio in leakage_range(coin, [7000, 3000], Fraction(1, 100))]
    [2.748, 2.851]
    """
    table = mechanism.table
    reports = sum(counts)
    if not reports:
        return Fraction(1), LDP.measure(table).ratio
    alpha = beta / (2 * len(table.outputs))
    least, most = Fraction(1), Fraction(1)
    certain = True
    for y, count in enumerate(counts):
        low, high = proportion_interval(int(count), reports, alpha)
        column = [
            Fraction(int(row[y]), total)
            for row, total in zip(table.weights, table.totals, strict=True)
        ]
        rare, common = min(column), max(column)
        if common and high:
            least = max(least, common / high)
        if rare:
            least = max(least, low / rare)
            most = max(most, high / rare)
        certain = certain and bool(rare) and bool(low)
        if low:
            most = max(most, common / low)
    ratio = LDP.measure(table).ratio
    known = [each for each in (most if certain else None, ratio) if each is not None]
    return least, min(known, default=None)


def _interval_text(low: Fraction, high: Fraction) -> str:
    return f"{round_down_text(100 * low)} to {round_up_text(100 * high)}{GLUE}%"


def _nats_up(ratio: Fraction | None) -> str:
    upper = None if ratio is None else enclosure.log(ratio).upper
    return "infinity" if upper is None else round_up_text(upper)


def _nats_down(ratio: Fraction) -> str:
    return round_down_text(enclosure.log(ratio).lower)


def _why_not(question: Question, own: Sequence[tuple[CollectedMechanism, tuple[int, ...]]]) -> str:
    """Say why reports cannot become a set of priors; empty if they can."""
    if question.file is not None:
        return "its mechanism is a file, which only a new design replaces"
    if question.panel is not None:
        return "each person of the panel has a prior of their own"
    if all(level.notion.context_free for level in question.levels):
        return "LDP holds whatever the prior is, and needs none"
    if question.kind == "profile":
        return "its profiles are what is known of the values, and are not estimated"
    if not own:
        return "it has no mechanism of its own"
    context = own[0][0].mechanism.context
    if not isinstance(context, Prior | PriorSet):
        return f"{context.describe()} is not a prior of the values"
    if not all(_round_of(each, numbers).identifies for each, numbers in own):
        return f"its reports determine the {question.answer.of}, and not the share of each value"
    return ""


def _priors_of(each: CollectedMechanism, numbers: tuple[int, ...], beta: Fraction) -> Intervals:
    """Return the set of priors that the reports of one mechanism allow."""
    from liftlock.estimate.likely_priors import likely_priors

    return likely_priors([_round_of(each, numbers)], 1 - beta)


def _round_of(each: CollectedMechanism, numbers: tuple[int, ...]) -> Round:
    from liftlock.estimate.likely_priors import Round

    mechanism = each.mechanism
    counted = Aggregate(mechanism.channel.fingerprint, numbers, sum(numbers))
    return Round(mechanism.table, counted, mechanism.known_prior)


def _hull(sets: Sequence[Intervals], beta: Fraction) -> Intervals:
    """Return the intervals that hold all of several sets at once.

    Those who chose one level may be other people than those who chose another: the next mechanism
    of each must be good for all.
    """
    if len(sets) == 1:
        return sets[0]
    lower = tuple(min(ends) for ends in zip(*(each.lower for each in sets), strict=True))
    upper = tuple(max(ends) for ends in zip(*(each.upper for each in sets), strict=True))
    told = " and ".join(each.evidence for each in sets)
    return Intervals(sets[0].inputs, lower, upper, 1 - beta, told)


def _with_sets(question: Question, learnt: Sequence[Learnt]) -> Question:
    """Return the question with what was learnt of each of its populations."""
    populations = tuple(
        population
        if found.priors is None
        else replace(population, context=_in_order(found.priors, question))
        for population, found in zip(question.populations, learnt, strict=True)
    )
    return replace(question, populations=populations)


def _in_order(near: Intervals, question: Question) -> Intervals:
    places = [near.inputs.index(label) for label in question.values.labels]
    return Intervals(
        question.values,
        tuple(near.lower[place] for place in places),
        tuple(near.upper[place] for place in places),
        near.confidence,
        near.evidence,
    )


def _remarks(survey: Survey, learnt: Sequence[Learnt]) -> list[str]:
    if not any(each.priors is not None for each in learnt):
        return ["nothing was learnt: the next round is as the last one was"]
    remarks = [SOUND]
    if survey.repeat == "first":
        remarks.append(
            "ask people who have not answered before: whoever has shaped the set by an earlier "
            "report is protected by LDP alone, and their devices do not answer again"
        )
    most = max((each.reports for each in learnt), default=0)
    least = min((each.reports for each in learnt if each.priors is not None), default=0)
    if least < most / 10:
        remarks.append(f"some sets rest on few reports ({least:,}): they are wide")
    return remarks


__all__ = [
    "Counts",
    "Learnt",
    "NextRound",
    "leakage_range",
    "next_name",
    "next_round",
    "plan_next_round",
]
