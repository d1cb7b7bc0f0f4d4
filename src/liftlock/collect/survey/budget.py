"""What all answers of one person tell together: by a joint prior, or whatever they have in common.

A person answers K questions with reports that are independent given the answers x = (x_1 .. x_K).
Budgets of lifts do not add up. With a joint prior over the answers the leakage about x is computed
under it, exactly where the table of all answers and reports is small enough. Without one

    eps <= min over j of (eps_j + sum over k != j of omega_k)

whatever the answers have in common: in P(y | x) / P(y) all factors but the j-th are bounded by the
LDP ratio e^omega_k, and what is left is a lift of the j-th report. It holds for the tuple, and so
for every single answer and every property of several. Where several mechanisms are offered (groups,
levels, a prior each) the worst one of each question counts.

Source: 000 Cor 5 (tight form, P_min = 0); for LDP the levels add up.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from liftlock.accounting import LeakageLevels, account
from liftlock.accounting.account import limited_quantities
from liftlock.accounting.readings import combine_values
from liftlock.accounting.release import largest_ratio, measure_levels
from liftlock.accounting.sequences import account_sequence
from liftlock.collect.survey.repeat import FIRST, RepeatRule
from liftlock.errors import InputError, NotDefined
from liftlock.exact import enclosure
from liftlock.exact.budget import Budget, decimal_text
from liftlock.exact.decimals import round_down_text, round_up_text
from liftlock.exact.enclosure import Enclosure
from liftlock.model import AnyUserPrior, Conditional, Intervals, Prior, PriorSet
from liftlock.model.channel import Channel
from liftlock.notions import LDP
from liftlock.notions.measurement import number_to_json

if TYPE_CHECKING:
    from liftlock.mechanism import Mechanism
    from liftlock.notions.base import Notion

QUANTITIES = ("lip", "eps_lower", "eps_upper", "ldp")
_TITLES = {"lip": "LIP", "eps_lower": "LIP, downward", "eps_upper": "LIP, upward", "ldp": "LDP"}
_MOST_CHOICES = 64
"""Joints are computed for at most so many combinations of offered mechanisms."""
_MOST_REPEATED = 12
_SCALE_DIGITS = 3
_MOST_NAMED = 12
"""A refusal names what at most so many questions spend: those that spend most."""


@dataclass(frozen=True)
class Spending:
    """What the answer to one question spends: the worst mechanism that is offered for it."""

    question: str
    levels: LeakageLevels
    notions: tuple[Notion, ...]
    mechanisms: int
    doubt: Fraction = Fraction(0)
    """With which probability a set of priors that was made from reports does not hold the truth."""
    any_prior: bool = False
    """Whether nothing is known of the answers, so that the guarantee holds for every prior."""
    ldp_alone: bool = False
    """Whether LDP alone bounds beliefs, though the guarantee is about lifts."""

    @property
    def nats(self) -> dict[str, Enclosure]:
        """The levels in nats, each certainly enclosed."""
        return _nats_of(self.levels)

    @property
    def by_ldp(self) -> bool:
        """Whether beliefs are bounded by LDP, whatever anybody believed before."""
        return self.levels.lower == self.levels.upper == self.levels.ldp

    def __str__(self) -> str:
        told = self.nats
        if self.by_ldp:
            return f"{self.question}: LDP {_text(told['ldp'])}"
        return f"{self.question}: LIP {_text(told['lip'])}, LDP {_text(told['ldp'])}"

    def content(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "question": self.question,
            "guarantees": [str(notion) for notion in self.notions],
            "mechanisms": self.mechanisms,
            "nats": {name: number_to_json(value) for name, value in self.nats.items()},
            "confidence": str(1 - self.doubt),
        }


@dataclass(frozen=True)
class PersonBudget:
    """What all answers of one person tell together, at most, and over all rounds that are allowed.

    >>> from liftlock import LDP, LIP, Draft, lock
    >>> draft = Draft.of(["no", "yes"], ["r1", "r2"], [[0.73, 0.27], [0.27, 0.73]])
    >>> coin = lock(draft, LDP("1"), Prior.uniform(["no", "yes"]))
    >>> both = person_budget({"smokes": [coin], "drinks": [coin]})
    >>> print(both)
    all 2 answers of one person together: LIP at most 1.99 nats, LDP at most 1.99 nats
      smokes: LDP 0.995
      drinks: LDP 0.995
      by the bound that holds whatever the answers have in common
    >>> both.allows(LDP("2")), both.allows(LDP("1"))
    (True, False)
    """

    questions: tuple[Spending, ...]
    nats: Mapping[str, Enclosure]
    """Of one round: lip, eps_lower, eps_upper, ldp."""
    ratios: Mapping[str, Fraction | None]
    """The same as exact ratios."""
    how: str
    rule: RepeatRule = FIRST
    exact: bool = False
    notes: tuple[str, ...] = ()
    never_changes: Mapping[str, Enclosure] = field(default_factory=dict)
    """What the reports of all rounds tell about an answer that never changes, by question."""

    @property
    def doubt(self) -> Fraction:
        """With which probability some set of priors, made from reports, does not hold the truth."""
        return min(sum((each.doubt for each in self.questions), Fraction(0)), Fraction(1))

    @property
    def confidence_text(self) -> str:
        """The confidence of all sets of priors at once, rounded down."""
        return f"{round_down_text(100 * (1 - self.doubt), 4)} %"

    @property
    def over_rounds(self) -> Mapping[str, Enclosure]:
        """What all reports of one person over all rounds tell together, at most.

        Later rounds have other mechanisms: each keeps the guarantee of its question, and what this
        says of the ratio of any two answers counts for it.
        """
        if not self.rule.repeats:
            return self.nats
        if self.rule.shows_change:
            return dict.fromkeys(QUANTITIES, Enclosure.infinity())
        later = Enclosure.of(0)
        for each in self.questions:
            later = later + _promised_ldp(each)
        more = later.scaled(self.rule.rounds - 1)
        return {name: value + more for name, value in self.nats.items()}

    def allows(self, limit: Notion) -> bool:
        """Tell whether everything that one person ever reports certainly keeps a limit."""
        asked = _limited(limit)
        if self.rule.shows_change:
            return False
        told = self.over_rounds
        return all(
            (not self.rule.repeats and budget.allows(self.ratios[name]))
            or _is_within(told[name], budget)
            for name, budget in asked.items()
        )

    def allows_for_certain(self, limit: Notion) -> bool:
        """Tell whether a limit is kept whatever is true: without a set that reports were used for.

        LDP bounds what beliefs change by under every prior.
        """
        if not self.doubt:
            return self.allows(limit)
        ldp = self.over_rounds["ldp"]
        return all(_is_within(ldp, budget) for budget in _limited(limit).values())

    def objection(self, limit: Notion) -> str:
        """Say why a limit is exceeded, by what, and what would keep it; empty if it is kept."""
        if self.allows(limit):
            return ""
        if self.rule.shows_change:
            return (
                f"the rule {self.rule} cannot keep a total of {limit}: two different reports prove "
                "that an answer changed, which no finite budget covers; use repeat: first"
            )
        told = self.over_rounds
        names = _quantities(limit)
        spent = " and ".join(f"{_TITLES[name]} {_text(told[name])} nats" for name in names)
        rounds = f" in {self.rule.rounds:,} rounds" if self.rule.repeats else ""
        most = sorted(self.questions, key=_ldp_of, reverse=True)[:_MOST_NAMED]
        each = "; ".join(str(spent) for spent in self.questions if spent in most)
        left = len(self.questions) - len(most)
        each += f"; {left:,} more spend less" if left else ""
        return (
            f"all answers of one person{rounds} may tell {spent}, more than the total {limit} "
            f"allows ({each}; {self.how}); {self.remedy(limit)}"
        )

    def remedy(self, limit: Notion) -> str:
        """Say what would keep a limit: smaller budgets, fewer questions, or a larger limit."""
        ways = []
        scale = self.scale_within(limit)
        if scale is not None and scale > 0:
            smaller = dict.fromkeys(
                f"{each.question}: {notion.scaled(scale)}"
                for each in self.questions
                for notion in each.notions
            )
            listed = ", ".join(itertools.islice(smaller, _MOST_NAMED))
            listed += ", ..." if len(smaller) > _MOST_NAMED else ""
            ways.append(
                f"multiply every budget by {decimal_text(scale)}, which keeps it whatever the "
                f"designs ({listed})"
            )
        if self.rule.repeats:
            ways.append("allow fewer rounds, or repeat: first")
        if len(self.questions) > 1:
            ways.append("ask fewer questions")
            if "joint" not in self.how:
                ways.append("give a joint prior of the answers if you know one")
        larger = self.smallest_limit(limit)
        if larger:
            ways.append(f"allow {larger} as the total")
        if not ways:
            return "no budget keeps it: an answer may be revealed"
        return ", or ".join(filter(None, (", ".join(ways[:-1]), ways[-1])))

    def scale_within(self, limit: Notion) -> Fraction | None:
        """Return by what all budgets may be multiplied so that any designs keep a limit.

        A guarantee of lifts from e^-l to e^u bounds ratios by e^(l + u), so the bound without a
        joint is linear in the budgets; None if some guarantee bounds no ratio.
        """
        promised = [_promised_now(each) for each in self.questions]
        later = Fraction(0)
        for each in self.questions:
            omega = _promised_ldp(each).upper
            if omega is None:
                return None
            later += omega * (self.rule.rounds - 1)
        known = [levels for levels in promised if levels is not None]
        if len(known) < len(promised):
            return None
        most = {}
        for name, side in (("eps_lower", 0), ("eps_upper", 1), ("ldp", 2)):
            sums = [
                levels[side] + sum((w for k, (*_, w) in enumerate(known) if k != j), Fraction(0))
                for j, levels in enumerate(known)
            ]
            most[name] = min(sums) + later
        most["lip"] = max(most["eps_lower"], most["eps_upper"])
        scales = [
            budget.nats().lower / most[name]
            for name, budget in _limited(limit).items()
            if most[name]
        ]
        if not scales:
            return None
        unit = Fraction(1, 10**_SCALE_DIGITS)
        return min(min(scales) // unit * unit, Fraction(1))

    def smallest_limit(self, limit: Notion) -> str:
        """Return the smallest limit of the same kind that is kept, rounded up; empty if none is."""
        told = self.over_rounds
        needed = [told[name].upper for name in _limited(limit)]
        known = [value for value in needed if value is not None]
        if len(known) < len(needed) or len(limit.budgets) != 1:
            return ""
        return f"{limit.name}={round_up_text(max(known))}"

    def __str__(self) -> str:
        told = self.over_rounds
        number = len(self.questions)
        what = f"all {number:,} answers of one person together"
        if number == 1:
            what = "the answer of one person"
        rounds = f", in {self.rule.rounds:,} rounds" if self.rule.repeats else ""
        sign = "" if self.exact and not self.rule.repeats else "at most "
        head = f"{what}{rounds}: LIP {sign}{_unit(told['lip'])}, LDP {sign}{_unit(told['ldp'])}"
        lines = [head, *(f"  {each}" for each in self.questions)]
        if number > 1:
            lines.append(f"  {self.how}")
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])

    def content(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "questions": [each.content() for each in self.questions],
            "nats": {name: number_to_json(value) for name, value in self.nats.items()},
            "over_rounds": {
                name: number_to_json(value) for name, value in self.over_rounds.items()
            },
            "never_changes": {
                name: number_to_json(value) for name, value in self.never_changes.items()
            },
            "repeat": str(self.rule),
            "how": self.how,
            "exact": self.exact,
            "confidence": str(1 - self.doubt),
            "notes": list(self.notes),
        }


# --- making one -----------------------------------------------------------------------------------


def person_budget(
    questions: Mapping[str, Sequence[Mechanism]],
    *,
    joint: Prior | None = None,
    joint_of: Sequence[str] = (),
    rule: RepeatRule = FIRST,
    groups: Mapping[str, Collection[str]] | None = None,
) -> PersonBudget:
    """Account for all answers of one person: of every question the worst mechanism on offer.

    `joint` is a prior over tuples of the answers to the questions `joint_of`, in this order; all of
    them if none is named. What it says of each answer must be what its mechanism was made for.
    `groups` names the groups of people that a question has a prior each for. If questions group
    people differently, nobody has said what is known of somebody who is in a group of each: then
    LDP alone bounds what all answers tell.
    """
    if not questions:
        raise InputError("no questions", remedy="give at least one")
    spendings = tuple(_spending(name, each, rule) for name, each in questions.items())
    parts = {each.question: each.levels for each in spendings}
    notes: list[str] = []
    lifted = [each.question for each in spendings if not each.by_ldp]
    apart = len({frozenset((groups or {}).get(name, ())) for name in lifted}) > 1
    if apart:
        parts = {name: ldp_alone(levels.ldp) for name, levels in parts.items()}
        spendings = tuple(replace(each, ldp_alone=True) for each in spendings)
        notes.append(
            "the questions group people differently, and no prior says what is known of somebody "
            "in a group of each: together LDP alone is promised"
        )
    how = "by the bound that holds whatever the answers have in common"
    exact = len(spendings) == 1 and all(
        isinstance(each.channel, Channel)
        for mechanisms in questions.values()
        for each in mechanisms
    )
    if joint is not None:
        names = tuple(joint_of) or tuple(questions)
        levels, attained, said = _joint_levels(questions, joint, names, rule)
        notes += said
        levels = ldp_alone(levels.ldp) if apart else levels
        exact_joint = attained and not apart
        others = {name: part for name, part in parts.items() if name not in names}
        parts = {" and ".join(names): levels, **others}
        exact = exact_joint and not others
        how = "by the joint prior of the answers" + (
            f" to {', '.join(names)}, and whatever the others have in common with them"
            if others
            else ""
        )
    loss = combine_values(list(parts.values()), "different")
    ratios = {name: loss[name].ratio for name in QUANTITIES}
    if exact and any(ratio is None for ratio in ratios.values()):
        exact = False
    found = PersonBudget(
        spendings,
        {name: loss[name].value for name in QUANTITIES},
        ratios,
        how if len(spendings) > 1 else "the one question",
        rule,
        exact,
        tuple(notes),
    )
    if rule.kind == "fresh" and rule.rounds > 1:
        found = replace(found, never_changes=_if_it_never_changes(questions, rule))
    if found.doubt and not apart:
        note = (
            f"LIP holds with confidence {found.confidence_text} over the evidence for the sets of "
            "priors, LDP whatever is true"
        )
        found = replace(found, notes=(*found.notes, note))
    return found


def _spending(name: str, mechanisms: Sequence[Mechanism], rule: RepeatRule) -> Spending:
    if not mechanisms:
        raise InputError("a question without a mechanism", where=name, remedy="design one")
    levels = [worst_levels(mechanism, rule) for mechanism in mechanisms]
    return Spending(
        name,
        LeakageLevels(
            largest_ratio(each.lower for each in levels),
            largest_ratio(each.upper for each in levels),
            largest_ratio(each.ldp for each in levels),
            largest_ratio(each.spread for each in levels),
        ),
        tuple(dict.fromkeys(mechanism.promised for mechanism in mechanisms)),
        len(mechanisms),
        max(map(_doubt, mechanisms)),
        all(map(_holds_for_all, mechanisms)),
        not all(map(_speaks_of_lifts, mechanisms, itertools.repeat(rule))),
    )


def ldp_alone(ratio: Fraction | None) -> LeakageLevels:
    """Return the levels of which only LDP is known: it bounds lifts under every prior."""
    return LeakageLevels(ratio, ratio, ratio, ratio)


def worst_levels(mechanism: Mechanism, rule: RepeatRule = FIRST) -> LeakageLevels:
    """Return the exact levels of one report, as ratios: how far beliefs in the value may move.

    Where nothing is promised of beliefs under one prior (LDP, profiles, a secret behind the value),
    or the set of priors was made from reports that may be this person's own, the ratio of LDP
    bounds them, whatever anybody believed before.
    """
    channel, context = mechanism.channel, mechanism.context
    if mechanism.per_user or _speaks_of_lifts(mechanism, rule):
        return measure_levels(channel, context)
    return ldp_alone(LDP.measure(channel).ratio)


def _speaks_of_lifts(mechanism: Mechanism, rule: RepeatRule) -> bool:
    """Tell whether something is promised of beliefs under what the context says is known."""
    knows = isinstance(mechanism.context, Prior | PriorSet | Conditional | AnyUserPrior)
    own = rule.repeats and bool(_doubt(mechanism))
    bare = bool(mechanism.certificate.unprotected)
    return knows and not (mechanism.notion.context_free or bare or own)


def _holds_for_all(mechanism: Mechanism) -> bool:
    """Tell whether the guarantee holds for every prior: its context is the set of all."""
    context = mechanism.context
    if not isinstance(context, Intervals):
        return False
    lower, upper = context.symbol_ranges
    return not any(lower) and all(end == 1 for end in upper)


def _doubt(mechanism: Mechanism) -> Fraction:
    """Return how likely a set of priors misses the truth; a person is in one group, so has one."""
    context = mechanism.context
    if mechanism.notion.context_free or not isinstance(context, Intervals):
        return Fraction(0)
    return Fraction(0) if context.confidence is None else 1 - context.confidence


# --- a joint prior --------------------------------------------------------------------------------


def _joint_levels(
    questions: Mapping[str, Sequence[Mechanism]],
    joint: Prior,
    names: Sequence[str],
    rule: RepeatRule,
) -> tuple[LeakageLevels, bool, list[str]]:
    """Return the levels of the tuple of some answers, whether they are attained, and remarks."""
    for name in names:
        if name not in questions:
            raise InputError(
                "the joint is about a question that is not asked",
                value=name,
                remedy=f"the questions are {', '.join(questions)}",
            )
        contexts = {each.context.fingerprint for each in questions[name]}
        if len(contexts) > 1:
            raise InputError(
                "a joint beside groups that have a prior each",
                where=name,
                remedy="leave the joint out (the bound holds whatever the answers have in common), "
                "or give all people one prior",
            )
        if any(_doubt(each) for each in questions[name]) and rule.repeats:
            raise InputError(
                "a joint beside reports that may be the person's own",
                where=name,
                remedy="leave the joint out, or use repeat: first",
            )
    for place, name in enumerate(names):
        _check_marginal(joint, place, len(names), name, questions[name][0])
    offered = [questions[name] for name in names]
    number = math.prod(len(each) for each in offered)
    if number > _MOST_CHOICES:
        raise InputError(
            f"a joint over {number:,} combinations of offered levels",
            remedy=f"offer fewer levels (at most {_MOST_CHOICES} combinations), or leave it out",
        )
    found: list[LeakageLevels] = []
    attained, impossible = True, 0
    for chosen in itertools.product(*offered):
        whole = account_sequence(joint, [each.channel for each in chosen])
        impossible = whole.impossible
        spent = whole.whole
        attained = attained and all(spent.is_exact(name) for name in QUANTITIES)
        found.append(
            LeakageLevels(
                spent["eps_lower"].ratio, spent["eps_upper"].ratio, spent["ldp"].ratio, None
            )
        )
    notes = []
    if impossible:
        notes.append(
            f"the joint calls {impossible:,} combinations of answers impossible: of somebody who "
            "has one, only LDP is promised"
        )
    worst = LeakageLevels(
        largest_ratio(each.lower for each in found),
        largest_ratio(each.upper for each in found),
        largest_ratio(each.ldp for each in found),
        None,
    )
    return worst, attained, notes


def _check_marginal(joint: Prior, place: int, size: int, name: str, mechanism: Mechanism) -> None:
    """Refuse a joint that says something else of an answer than what its mechanism was made for."""
    masses: dict[Any, Fraction] = {}
    for label, mass in zip(joint.labels, joint.fractions, strict=True):
        if not isinstance(label, tuple) or len(label) != size:
            raise InputError(
                "the joint is not over tuples of the answers",
                value=label,
                remedy=f"give one part for each of {size} questions",
            )
        masses[label[place]] = masses.get(label[place], Fraction(0)) + mass
    inputs, context = mechanism.channel.inputs, mechanism.context
    for value in masses:
        if value not in inputs:
            raise InputError(
                "the joint has a value that the question does not",
                where=name,
                value=value,
                remedy="write the values as in the question",
            )
    if mechanism.notion.context_free:
        return
    own = [masses.get(label, Fraction(0)) for label in inputs.labels]
    if isinstance(context, Prior):
        agrees = list(context.reordered(inputs).fractions) == own
    elif isinstance(context, Intervals):
        lower, upper = context.symbol_ranges
        order = [context.inputs.index(label) for label in inputs.labels]
        agrees = all(lower[i] <= p <= upper[i] for i, p in zip(order, own, strict=True))
    else:
        raise NotDefined(
            "a joint of the answers",
            f"question {name!r} with {context.describe()}",
            "leave the joint out: the bound holds whatever the answers have in common",
        )
    if not agrees:
        raise InputError(
            "the joint and the prior of a question disagree",
            where=name,
            value=[str(p) for p in own],
            remedy=f"the question was designed for {context.describe()}; give the prior that "
            "follows from the joint",
        )


# --- rounds ---------------------------------------------------------------------------------------


def _promised_levels(each: Spending) -> tuple[Fraction, Fraction, Fraction] | None:
    """Return what the guarantees of a question promise in nats: down, up, and any ratio."""
    worst: list[tuple[Fraction, Fraction, Fraction]] = []
    for notion in each.notions:
        limits, ratio = notion.lift_limits(), notion.ratio_limit
        if ratio is not None:
            top = ratio.nats().upper
            if top is None:
                return None
            worst.append((top, top, top))
        elif limits is not None and limits.lower is not None and limits.upper is not None:
            down, up = limits.lower.nats().upper, limits.upper.nats().upper
            if down is None or up is None:
                return None
            worst.append((down, up, down + up))
        else:
            return None
    return (
        max(levels[0] for levels in worst),
        max(levels[1] for levels in worst),
        max(levels[2] for levels in worst),
    )


def _promised_now(each: Spending) -> tuple[Fraction, Fraction, Fraction] | None:
    """Return what counts of the guarantees in this round.

    Lifts under every prior are ratios: those of a prior that is nearly all at one answer. Where LDP
    alone counts, it is what the guarantees imply.
    """
    promised = _promised_levels(each)
    if promised is None:
        return None
    down, up, ratio = promised
    if each.any_prior:
        ratio = min(down, up, ratio)
    if each.any_prior or each.ldp_alone:
        return ratio, ratio, ratio
    return promised


def _promised_ldp(each: Spending) -> Enclosure:
    """Return what the LDP of a later round of a question is at most, by its guarantee alone."""
    promised = _promised_levels(each)
    if promised is None:
        return Enclosure.infinity()
    own = each.nats["ldp"]
    return own.maximum(Enclosure.of(promised[2]))


def _if_it_never_changes(
    questions: Mapping[str, Sequence[Mechanism]], rule: RepeatRule
) -> dict[str, Enclosure]:
    """Account exactly for reports of the same mechanism about an answer that never changes."""
    found: dict[str, Enclosure] = {}
    if rule.rounds > _MOST_REPEATED:
        return found
    for name, mechanisms in questions.items():
        if len(mechanisms) > 1 or mechanisms[0].per_user:
            continue
        spent = account([mechanisms[0]] * rule.rounds, reading="same")
        quantity = "ldp" if mechanisms[0].notion.context_free else "lip"
        if spent.is_exact(quantity):
            found[name] = spent[quantity].value
    return found


# --- numbers --------------------------------------------------------------------------------------


def _nats_of(levels: LeakageLevels) -> dict[str, Enclosure]:
    found = {
        name: Enclosure.infinity() if ratio is None else enclosure.log(ratio)
        for name, ratio in (
            ("eps_lower", levels.lower),
            ("eps_upper", levels.upper),
            ("ldp", levels.ldp),
        )
    }
    return {"lip": found["eps_lower"].maximum(found["eps_upper"]), **found}


def _ldp_of(each: Spending) -> tuple[bool, Fraction]:
    ratio = each.levels.ldp
    return ratio is None, ratio or Fraction(0)


def _limited(limit: Notion) -> dict[str, Budget]:
    asked = limited_quantities(limit)
    if not asked or "profile" in asked:
        raise NotDefined(
            f"a total of {limit}",
            "all answers of one person",
            "no rule of composition covers it; give the total as lip, alip or ldp",
        )
    return asked


def _quantities(limit: Notion) -> list[str]:
    """Return what a limit is about: LIP, if beliefs may rise as far as they may fall.

    >>> from liftlock.notions import ALIP, LIP
    >>> _quantities(LIP("1")), _quantities(ALIP(lower="1", upper="2")), _quantities(LDP("1"))
    (['lip'], ['eps_lower', 'eps_upper'], ['ldp'])
    """
    asked = _limited(limit)
    alike = asked.keys() == {"eps_lower", "eps_upper"} and len(limit.budgets) == 1
    return ["lip"] if alike else list(asked)


def _is_within(value: Enclosure, budget: Budget) -> bool:
    return value.upper is not None and value.upper <= budget.nats().lower


def _text(value: Enclosure) -> str:
    """Write a number of nats with three digits, rounded up."""
    return "without limit" if value.upper is None else round_up_text(value.upper)


def _unit(value: Enclosure) -> str:
    if value.upper is None:
        return "without limit"
    text = _text(value)
    return f"{text} nat{'s' * (text != '1')}"
