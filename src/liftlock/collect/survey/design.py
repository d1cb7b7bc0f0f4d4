"""The mechanism of a question for people of whom the same is known, proved under its last names.

What a question is designed for, unless it names a method or a utility:

- Histograms and surveys of choices, numbers and places: the utility ``frequencies``, the variance
  of the unbiased estimate of all shares. Other utilities are better if the prior is exactly right,
  and may determine nothing if it is not.
  Of more than 64 values it is not searched for: outputs are halves of the values then.
- Sums and means: that, or one bit whose chance is a straight line in the number, whichever has the
  unbiased mean of smaller variance where the prior says people are. A straight line is all that a
  mean needs: no share is determined, and none is paid for.
- Profiles: the method for which the unbiased answer has the smallest error if all profiles are
  equally frequent. The usual utility, that values are seldom wrong, may tell profiles hardly apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from liftlock.collect.survey.context import Population, label_text
from liftlock.collect.survey.question import Level, Question
from liftlock.collect.survey.values import Grid, Range
from liftlock.errors import InputError, LiftlockError, NotDefined
from liftlock.model import Context, Prior, ProfileGraph, representative
from liftlock.model.channel import Table
from liftlock.notions.base import Notion
from liftlock.utility.frequencies import Frequencies

if TYPE_CHECKING:
    from liftlock.designs import Draft
    from liftlock.mechanism import Mechanism

GAPS = ((10, 1e-4), (16, 0.02), (math.inf, 0.1))
"""Up to so many values, a design has to be proved this near to the optimum; the search is quick."""
MOST_SEARCHED = 64
"""With more values the optimum is not searched for, which would take minutes."""
MOST_SHARED = 256
"""With more values no table for all shares is small enough to be sent to everybody."""
MOST_COMPARED = 10
"""With more values no mechanism for shares was seen to give means as precisely as one bit."""
PANEL_GAP = 0.05
"""How near to the optimum each of the many designs of a panel has to be proved."""
_HALVINGS = 16
_MOST_NATS = 4.0


@dataclass(frozen=True)
class Workshop:
    """Where the mechanisms of a question are made; what two groups have in common is made once."""

    question: Question
    folder: Path = Path()
    made: dict[tuple[str, str], Mechanism] = field(default_factory=dict, repr=False)

    @property
    def levels(self) -> tuple[Level, ...]:
        """What is promised: by the question, or else by the file of its mechanism."""
        return self.question.levels or (Level(self.read_file().notion),)

    def make(self, population: Population, level: Level) -> Mechanism:
        """Make a mechanism, name its outputs r1, r2, ..., and prove it.

        What is reported must not be mistaken for what was answered.
        """
        question = self.question
        named = [part for part in (population.group, level.name) if part is not None]
        where = ", ".join([f"question {question.name!r}", *map(repr, named)])
        key = population.context_for(question.values).fingerprint, level.notion.guarantee
        try:
            if key not in self.made:
                found = (
                    self._from_file(level)
                    if question.file
                    else _design(question, population, level.notion)
                )
                check_mechanism(question, found, where)
                if question.panel is not None:  # no two people are alike
                    return name_outputs(question, found, population, level)
                self.made[key] = found
            return name_outputs(question, self.made[key], population, level)
        except LiftlockError as error:
            raise told_where(error, where) from None

    def read_file(self) -> Mechanism:
        """Read the mechanism that the question names, and prove it."""
        from liftlock.mechanism import Mechanism

        return Mechanism.load(self.folder / str(self.question.file))

    def _from_file(self, level: Level) -> Mechanism:
        """Prove what the question promises of the mechanism that it names."""
        from liftlock.mechanism import Mechanism

        read = self.read_file()
        if read.notion == level.notion:
            return read
        again = Mechanism.prove(read.table, level.notion, read.context, read.origin)
        return replace(again, encoding=read.encoding)


def check_mechanism(question: Question, made: Mechanism, where: str) -> None:
    """Refuse a mechanism whose reports are no numbers of outputs, or that lacks a value."""
    if not isinstance(made.channel, Table):
        raise NotDefined(
            "collecting reports",
            f"{where}: {made.channel}",
            "choose a method that makes a table, whose reports are numbers of outputs",
        )
    inputs = {label_text(label) for label in made.input_values} | {
        label_text(label[1])
        for label in made.channel.inputs.labels
        if question.kind == "profile" and isinstance(label, tuple)
    }
    lost = [label for label in question.values.labels if label_text(label) not in inputs]
    if lost:
        raise InputError(
            "the mechanism has no row for a value",
            where=where,
            value=label_text(lost[0]),
            remedy="leave the value out, or give it a small count in the prior: whoever has it "
            "could not answer",
        )
    if isinstance(question.domain, Range):
        _check_bins(question, made, where)


def _check_bins(question: Question, made: Mechanism, where: str) -> None:
    """Refuse rows in another order than the bins, or for other numbers than their middles.

    A number is looked up by the place of its bin, and stands for the middle of it.
    """
    inputs, bins = made.table.inputs, question.values
    if inputs.labels != bins.labels or inputs.coordinates not in (None, bins.coordinates):
        raise InputError(
            "the rows of the mechanism are not the bins of the question",
            where=where,
            value=", ".join(map(label_text, inputs.labels[:4])),
            remedy="let them be in the order of the numbers, each for the middle of its bin: "
            f"{', '.join(map(label_text, bins.labels[:4]))}",
        )


def name_outputs(
    question: Question, made: Mechanism, population: Population, level: Level
) -> Mechanism:
    """Name outputs by numbers, and say whose mechanism it is: each has a file of its own."""
    named = made.with_outputs([f"r{number + 1}" for number in range(len(made.table.outputs))])
    if isinstance(question.domain, Range):
        named = replace(named, encoding=question.domain.encoding(question.name))
    elif isinstance(question.domain, Grid):
        named = replace(named, encoding=question.domain.encoding())
    whose = [f"for the group {population.group}"] if population.group is not None else []
    whose += [f"at the level {level.name}"] if level.name is not None else []
    if not whose or named.origin is None:
        return named
    return replace(named, origin=replace(named.origin, remarks=(*named.origin.remarks, *whose)))


def _design(question: Question, population: Population, notion: Notion) -> Mechanism:
    """Ask for the best of all mechanisms, or for the method that is named."""
    from liftlock.designs.api import design

    context = population.context_for(question.values)
    if question.method is not None or question.utility is not None:
        told = {"method": question.method, "utility": question.utility}
        options: dict[str, Any] = {name: value for name, value in told.items() if value is not None}
        if question.kind != "profile":
            options.setdefault("utility", "frequencies")
        return design(context, notion, **options)
    if isinstance(context, ProfileGraph):
        return _for_profiles(question, context, notion)
    found: list[Mechanism | None] = []
    adds = question.answer.of in ("sum", "mean")
    if not adds or len(question.values) <= MOST_COMPARED:
        found.append(_for_shares(question, context, notion))
    if adds:
        found.append(one_bit(context, notion))
    made = [each for each in found if each is not None]
    if not made:
        raise InputError(
            f"more than {MOST_SHARED} values, of which every share is asked for",
            value=len(question.values),
            remedy="use fewer bins, rectangles or values, name a method, or ask for a mean",
        )
    if len(made) == 1:
        return made[0]
    prior = representative(context)
    return min(made, key=lambda each: unbiased_variance(each, prior, question))


# --- shares ---------------------------------------------------------------------------------------


def _for_shares(question: Question, context: Context, notion: Notion) -> Mechanism | None:
    """Return the mechanism with the most precise unbiased shares; None for too many values."""
    from liftlock.designs.api import design

    size = len(question.values)
    if size > MOST_SEARCHED:
        return halves(context, notion) if size <= MOST_SHARED else None
    gap = PANEL_GAP if question.panel is not None else next(g for most, g in GAPS if size <= most)
    return design(context, notion, utility="frequencies", gap=gap)


def unbiased_variance(made: Mechanism, prior: Prior, question: Question) -> float:
    """Return the variance, per person, of the unbiased answer where the prior is true.

    Reports that do not determine the answer have an infinite one.
    """
    from liftlock.estimate.models import Dense
    from liftlock.estimate.question import ask

    model = Dense.of(made.table, prior)
    asked = ask(made.table.inputs, **question.answer.options)
    try:
        scores = model.unbiased_scores(asked)
    except NotDefined:
        return math.inf
    chances = model.mixture(model.reference)
    means = chances @ scores
    return float((chances @ (scores - means) ** 2).sum())


def halves(context: Context, notion: Notion) -> Mechanism | None:
    """Return outputs that are halves of the values, each likelier for the values in it.

    The halves are those of a Hadamard matrix, so that any two values share a half of theirs, and
    every value is in as many. Its odds are as large as can be proved. For ldp=1 and 64 values the
    variance of the unbiased shares is 1.23 times that of the best table that is known. For a known
    prior the optimum is several times better, but takes minutes for more values. None if no odds
    can be proved.

    It is that of Acharya, Sun and Zhang (2019), with lifts in the place of ratios.
    """
    from liftlock.designs import Draft
    from liftlock.model.provenance import Provenance

    prior = representative(context)
    size = 1 << len(prior.inputs).bit_length()
    places = np.arange(size)
    rows = np.arange(1, len(prior.inputs) + 1)
    common = np.bitwise_and(rows[:, None], places[None, :])
    inside = np.array([[bin(int(x)).count("1") % 2 == 0 for x in row] for row in common])
    limits, ratio = notion.lift_limits(), notion.ratio_limit
    given = [ratio] if limits is None else list(limits)
    most = sum(float(each.nats().lower) for each in given if each is not None) or _MOST_NATS

    def draft(share: float) -> Draft:
        odds = math.exp(share * most)
        chances = np.where(inside, odds, 1.0) * (2.0 / size / (1.0 + odds))
        return Draft.of(prior.inputs, [f"r{place + 1}" for place in range(size)], chances)

    found = _steepest(draft, notion, context)
    if found is None:
        return None
    weights = found.table.floats()
    variance = Frequencies().cost_of(weights, prior.floats())
    return replace(
        found,
        origin=Provenance(
            "halves",
            "frequencies",
            variance,
            remarks=("outputs are halves of the values, and likelier for the values in them",),
            title=Frequencies().title,
        ),
    )


def _steepest(
    draft: Callable[[float], Draft], notion: Notion, context: Context
) -> Mechanism | None:
    """Return the draft of the largest share that can be proved; None if none can."""
    from liftlock.designs.api import lock

    def made(share: float) -> Mechanism | None:
        try:
            return lock(draft(share), notion, context)
        except LiftlockError:
            return None

    found = made(1.0)
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS if found is None else 0):
        share = (low + high) / 2
        better = made(share)
        found = found if better is None else better
        low, high = (share, high) if better is not None else (low, share)
    return found


# --- means ----------------------------------------------------------------------------------------


def one_bit(context: Context, notion: Notion) -> Mechanism | None:
    """Return two outputs, the chance of one of which is a straight line in the number.

    With numbers from -d to u about the prior's mean, and lifts between 1 / E_l and E_u, the line of
    chance l at the mean can have the slope b = min(l A, (1 - l) B), where
    A = min((E_u - 1) / u, (1 - 1 / E_l) / d) and B = min((E_u - 1) / d, (1 - 1 / E_l) / u). The
    variance of the unbiased mean, l (1 - l) / b^2, is smallest for l = B / (A + B). For a guarantee
    that limits the ratio of chances the line runs from 1 / (1 + E) to E / (1 + E). Under sets of
    priors, and for other guarantees, it is made flatter until it can be proved. None if it cannot.

    For ratios it is that of Duchi, Jordan and Wainwright (2013); with lifts it is the same.
    """
    from liftlock.designs import Draft

    prior = representative(context)
    points = np.array([float(point) for point in prior.inputs.coordinates or ()])
    middle = float(prior.floats() @ points)
    up, down = float(points.max()) - middle, middle - float(points.min())
    if not up > 0 or not down > 0:
        return None
    chance, slope = _line(notion, up, down)
    if not slope > 0:
        return None

    def draft(share: float) -> Draft:
        yes = np.clip(chance + share * slope * (points - middle), 0.0, 1.0)
        return Draft.of(prior.inputs, ["r1", "r2"], np.stack([yes, 1.0 - yes], axis=1))

    found = _steepest(draft, notion, context)
    return None if found is None else _with_origin(found, prior, points)


def _line(notion: Notion, up: float, down: float) -> tuple[float, float]:
    """Return the chance at the mean, and the slope, of the steepest line."""
    limits, ratio = notion.lift_limits(), notion.ratio_limit
    if limits is not None and limits.lower is not None and limits.upper is not None:
        rise = float(limits.upper.exp().lower) - 1.0
        fall = 1.0 - 1.0 / float(limits.lower.exp().lower)
        first, second = min(rise / up, fall / down), min(rise / down, fall / up)
        if not first + second > 0:
            return 0.5, 0.0
        chance = second / (first + second)
        return chance, min(chance * first, (1.0 - chance) * second)
    most = float(ratio.exp().lower) if ratio is not None else math.e
    slope = (most - 1.0) / (most + 1.0) / (up + down)
    return 1.0 / (1.0 + most) + slope * down, slope


def _with_origin(made: Mechanism, prior: Prior, points: Any) -> Mechanism:
    from liftlock.model.provenance import Provenance

    rows, masses = made.table.floats()[:, 0], prior.floats()
    slope = float((rows[-1] - rows[0]) / (points[-1] - points[0]))
    chance = float(masses @ rows)
    origin = Provenance(
        "one-bit",
        "mean",
        chance * (1.0 - chance) / slope**2,
        remarks=("the chance of the first output is a straight line in the number",),
        title="variance of the unbiased mean (per person)",
    )
    return replace(made, origin=origin)


# --- profiles -------------------------------------------------------------------------------------

_FOR_PROFILES = (
    "smooth-categorical",
    "shared-categorical",
    "smooth-one-bit",
    "cluster",
    "single-bit",
    "randomised-response",
)


def _for_profiles(question: Question, graph: ProfileGraph, notion: Notion) -> Mechanism:
    """Return the mechanism whose unbiased answer is the most precise, profiles being even."""
    from liftlock.designs.api import design

    found: list[tuple[float, Mechanism]] = []
    refused: list[LiftlockError] = []
    for method in _FOR_PROFILES:
        try:
            made = design(graph, notion, method=method)
            if isinstance(made.channel, Table):
                found.append((_profile_error(question, made, graph), made))
        except LiftlockError as error:
            refused.append(error)
    if not found:
        raise refused[0]
    return min(found, key=lambda pair: pair[0])[1]


def _profile_error(question: Question, made: Mechanism, graph: ProfileGraph) -> float:
    """Return the error expected of the unbiased answer; infinite if there is none."""
    even = Prior.uniform(graph.profiles.labels)
    try:
        told = made.expected_error(10_000, prior=even, method="unbiased", **question.answer.options)
    except LiftlockError:
        return math.inf
    return float(sum(error**2 for error in told.errors))


def told_where(error: LiftlockError, where: str) -> LiftlockError:
    """Say which question was refused."""
    if isinstance(error, InputError) and not error.where.startswith(where):
        place = f"{where}, {error.where}" if error.where else where
        return InputError(error.what, where=place, value=error.value, remedy=error.remedy)
    error.args = (f"{where}: {error}",)
    return error
