"""How large the error of an estimate will be, in closed form, before anybody is asked.

People are independent, so what each adds to the squared error adds up (001 Prop. 2):

    E (S - S_hat)^2 = n c,

with c the error that one person adds, on average over the prior. Intervals of shares and means
shrink as z sqrt(c / n), so how many people a given precision takes is n = c (z / margin)^2. The
intervals of several answers hold at once if z is that of the level 1 - (1 - level) / answers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal, get_args

import numpy as np

from liftlock.errors import InputError, NotDefined
from liftlock.estimate.intervals.base import quantile, read_level
from liftlock.estimate.models import Dense, Model, model_of, read_profiles
from liftlock.estimate.question import ABOUT, About, Of, Question
from liftlock.exact.numbers import exact
from liftlock.model import PerUserPriors, Prior, ProfileGraph
from liftlock.model.alphabet import Label, label_to_json
from liftlock.model.channel import Channel
from liftlock.model.per_user import POINTS
from liftlock.model.structured import AnyChannel, SupportChannel, UserChannel, to_dense
from liftlock.model.structured.user_channel import prior_variances

Way = Literal["bayes", "unbiased", "truth", "prior"]
WAYS: tuple[Way, ...] = get_args(Way)
"""Two estimators; for comparison everybody's true value, and the prior without any report."""

LARGEST = 10**18
"""More people than this are not worth a number."""


@dataclass(frozen=True)
class ExpectedError:
    """The error that an estimate from so many people will have, on average over the prior.

    `per_person` is what one person adds to the squared error of each sum.

    >>> from liftlock.model.channel import Channel
    >>> coin = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> half = Prior.uniform([0, 1])
    >>> found = expected_error(coin, half, 10_000, Question.survey(half.alphabet, [1]), "unbiased")
    >>> found.per_person, round(found.errors[0], 2), round(found.margin, 5)
    ((0.75,), 86.6, 0.01697)
    >>> found.people_for("0.01")
    28811
    """

    of: Of
    method: str
    about: About
    level: float
    people: int
    names: tuple[Label, ...]
    per_person: tuple[float, ...]
    together: bool = False
    """Whether the intervals hold for all answers at once, not each by itself."""

    @property
    def statements(self) -> int:
        """How many intervals have to hold at once; those of two values are one statement."""
        if not self.together or (self.of == "histogram" and len(self.names) == 2):
            return 1
        return len(self.names)

    @property
    def quantile(self) -> float:
        """How many standard errors the interval reaches to each side."""
        return quantile(1.0 - (1.0 - self.level) / self.statements)

    @property
    def errors(self) -> tuple[float, ...]:
        """The root mean squared error of each answer: of the sums, or of the mean."""
        scale = 1.0 / self.people if self.of == "mean" else float(self.people)
        return tuple(math.sqrt(value * scale) for value in self.per_person)

    @property
    def total_squared(self) -> float:
        """The sum of the squared errors of all answers: of a histogram, its error of 001 (12)."""
        return math.fsum(value**2 for value in self.errors)

    @property
    def margins(self) -> tuple[float, ...]:
        """Half the width of the intervals, per person: of shares for counts, of means else."""
        return tuple(self.quantile * math.sqrt(value / self.people) for value in self.per_person)

    @property
    def margin(self) -> float:
        """The largest of the margins: of a histogram, that of its worst symbol."""
        return max(self.margins)

    def people_for(self, margin: object) -> int | None:
        """Return the fewest people with whom no margin is larger; None if that is hopeless."""
        wanted = exact(margin, name="margin")
        if wanted <= 0:
            raise InputError("margin is not positive", value=margin, remedy="give more than 0")
        needed = max(self.per_person) * (self.quantile / float(wanted)) ** 2
        if not needed < LARGEST:
            return None
        return max(1, math.ceil(needed * (1.0 - 1e-12)))

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "of": self.of,
            "method": self.method,
            "about": self.about,
            "level": self.level,
            "together": self.together,
            "people": self.people,
            "answers": [
                {"name": label_to_json(name), "per_person": value, "error": error, "margin": margin}
                for name, value, error, margin in zip(
                    self.names, self.per_person, self.errors, self.margins, strict=True
                )
            ],
            "margin": self.margin,
        }


def expected_error(
    channel: AnyChannel | None,
    prior: Prior,
    people: int,
    question: Question,
    method: str = "bayes",
    *,
    about: About = "people",
    level: object = "0.95",
    together: bool = False,
) -> ExpectedError:
    """Return the expected error of an estimate from so many people, on average over the prior.

    - ``bayes``: E Var(f(X) | Y) = Var f(X) - Var E[f(X) | Y], for the people who report;
    - ``unbiased``: E Var(g(Y) | X) with the scores g of the unbiased estimator, and for the
      population that the people are drawn from Var g(Y), which is more by Var f(X);
    - ``truth``: no privacy, 0 for the people and Var f(X) for the population;
    - ``prior``: no report at all, Var f(X).

    The channel is not needed for the last two. Intervals hold each by itself, or `together`.

    Source: 001 Prop. 2, eq. (14), eq. (42).
    """
    if channel is None and method in ("bayes", "unbiased"):
        raise InputError(f"the error of {method} depends on the channel", remedy="give one")
    if channel is None or method in ("truth", "prior"):
        channel = Channel.identity(prior.labels)
    if method == "bayes":
        channel = _table(channel)
    model = model_of(channel, prior)
    return model_error(
        model,
        question.reordered(model.inputs),
        people,
        method,
        about=about,
        level=level,
        together=together,
    )


def _table(channel: AnyChannel) -> AnyChannel:
    """Return an encoding as a table, or refuse."""
    if not isinstance(channel, SupportChannel):
        return channel
    try:
        return channel.to_dense()
    except NotDefined:
        raise NotDefined(
            "the expected error of bayes",
            f"an encoding with {channel.outputs_text}, too many to add up",
            "ask for unbiased, or simulate it",
        ) from None


def drifted_coverage(
    channel: AnyChannel | None,
    prior: Prior,
    question: Question,
    error: ExpectedError,
    drift: object = "0.01",
) -> float:
    """Return how often intervals of Bayes estimates hold where one share is not that of the prior.

    The share of one value is by `drift` more or less than the prior says, at the expense of the
    others in proportion; the least coverage of any answer, over all values and both signs. With
    D = g(Y) - f(X) of one person under the drifted prior, the error of n people is about normal
    with mean n E D and variance n Var D. Without a channel the prior itself is the estimate.

    >>> coin = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> prior, asked = Prior.from_counts({0: 9, 1: 1}), Question.histogram(coin.inputs)
    >>> error = expected_error(coin, prior, 10_000, asked)
    >>> round(drifted_coverage(coin, prior, asked, error, "0"), 4)
    0.95
    >>> round(drifted_coverage(coin, prior, asked, error), 4)
    0.1074
    """
    table = Channel.identity(prior.labels) if channel is None else to_dense(_table(channel))
    model = Dense.of(table, prior)
    asked = question.reordered(model.inputs)
    masses, values = prior.reordered(model.inputs).floats(), asked.values
    if channel is None:
        scores = np.tile(masses @ values, (len(masses), 1))
    else:
        scores = model.posterior_scores(asked)
    moved = float(exact(drift, name="drift"))
    # Towards each value, and away from it, as far as there are people who have it.
    towards = (np.eye(len(masses)) - masses) / np.where(masses < 1, 1.0 - masses, 1.0)[:, None]
    away = -towards[(masses >= moved) & (masses < 1)]
    drifted = masses + moved * np.vstack([towards[masses <= 1.0 - moved], away])
    means = model.rows @ scores - values
    squares = model.rows @ scores**2 - 2.0 * values * (model.rows @ scores) + values**2
    bias = drifted @ means
    spread = np.sqrt(np.maximum(drifted @ squares - bias**2, 0.0) / error.people)
    half = np.array(error.margins)
    normal = NormalDist()
    held = [
        normal.cdf((h - b) / s) - normal.cdf((-h - b) / s) if s > 0 else float(abs(b) <= h)
        for row, widths in zip(bias, spread, strict=True)
        for b, s, h in zip(row.tolist(), widths.tolist(), half.tolist(), strict=True)
    ]
    return min(held, default=1.0)


_REPORTS = 10_000
"""How many reports the margins of a mechanism are told for."""


def margins_text(model: Model, question: Question) -> str:
    """Say in one line how precise 95 % intervals will be, without the prior and with a right one.

    Of several values they hold at once.

    >>> coin = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> model = Dense.of(coin, Prior.from_counts({0: 9, 1: 1}))
    >>> print(margins_text(model, Question.histogram(coin.inputs)))
    10,000 reports give every share within ±1.8 % without the prior, ±0.556 % if it is exactly right
    """

    def margin(method: str, about: About) -> str | None:
        try:
            found = model_error(model, question, _REPORTS, method, about=about, together=True)
        except NotDefined:
            return None
        # No share is off by more than all of it.
        size, unit = found.margin, ""
        if question.counts:
            size, unit = min(100.0, 100 * size), " %"
        return f"±{size:,.3g}{unit}" if size < 1000 else f"±{size:,.0f}{unit}"

    free = margin("unbiased", "population")
    leaning = margin("bayes", "people") if "bayes" in model.estimators else None
    what = "every share" if question.counts else f"the {question.of}"
    if free is None:
        said = f"without the prior the reports do not determine {what}"
        if leaning is None:
            return said
        return (
            f"{said}; {_REPORTS:,} of them give it within {leaning} if the prior is exactly right"
        )
    said = f"{_REPORTS:,} reports give {what} within {free} without the prior"
    return said if leaning is None else f"{said}, {leaning} if it is exactly right"


def expected_profile_error(
    channel: AnyChannel,
    graph: ProfileGraph,
    shares: Prior,
    people: int,
    of: str,
    value: Any = None,
    method: str = "bayes",
    *,
    about: About = "people",
    level: object = "0.95",
) -> ExpectedError:
    """Return the expected error of an estimate from reports of people who have profiles.

    `shares` are those of the profiles, whose distributions are believed; see `expected_error`.
    """
    model, question, _ = read_profiles(channel, graph, of, value, shares, trust=True)
    return model_error(model, question, people, method, about=about, level=level)


def expected_per_user_error(
    channel: UserChannel,
    priors: PerUserPriors,
    question: Question,
    level: object = "0.95",
    method: str = "bayes",
) -> ExpectedError:
    """Return the mean error per user: Var f(X_i) less the part that the report explains.

    Of the unbiased sum it is the variance of the scores, all of them read; where somebody's table
    does not tell the values apart it is infinite.

    Source: 001 Prop. 2.
    """
    if not priors.users:
        raise InputError("no users", remedy="give at least one prior")
    single = question.is_single
    columns = None if single else np.ascontiguousarray(question.values.T)
    sums = []
    for block in channel.blocks(priors):
        masses = block.counts / POINTS
        own = masses * (1.0 - masses) if columns is None else prior_variances(masses, columns)
        if method == "unbiased":
            nothing = np.zeros(len(block), dtype=channel.report_type)
            _, squares, reaches = channel.scores(block, nothing, masses, columns)
            second = own + (masses if columns is None else masses @ columns.T) ** 2
            known = np.isfinite(reaches)[:, None]
            sums.append(np.where(known, squares - second, np.inf).sum(axis=0))
            continue
        sums.append(np.maximum(own - channel.explained_variance(block, columns), 0.0).sum(axis=0))
    each = np.sum(sums, axis=0) / priors.users
    if single:
        each = each[question.values.argmax(axis=0)]
    return ExpectedError(
        question.of,
        method,
        "people",
        read_level(level),
        priors.users,
        question.names,
        tuple(each.tolist()),
    )


def model_error(
    model: Model,
    question: Question,
    people: int,
    method: str,
    *,
    about: About,
    level: object = "0.95",
    together: bool = False,
) -> ExpectedError:
    """Return the expected error of a model of the reports; see `expected_error`."""
    if people < 1:
        raise InputError("no people", value=people, remedy="give 1 or more")
    if method not in WAYS:
        raise InputError("unknown method", value=method, remedy=f"use {', '.join(WAYS)}")
    if about not in ABOUT:
        raise InputError("unknown population", value=about, remedy=f"use {' or '.join(ABOUT)}")
    if (method, about) == ("bayes", "population"):
        raise NotDefined(
            "the error of bayes about a population",
            "a prior that is taken for the population",
            "ask about the people who report, or for unbiased",
        )
    each = model.expected_errors(question, method, about)
    return ExpectedError(
        question.of,
        method,
        about,
        read_level(level),
        people,
        question.names,
        tuple(each.tolist()),
        together,
    )
