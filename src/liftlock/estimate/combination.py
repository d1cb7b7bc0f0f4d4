"""One estimate from several collections: groups whose answers add up, or rounds that are pooled.

Collections may differ in everything but the values: mechanism, prior, budget, version. Two
questions are told apart, since their answers are different numbers.

*Groups* are different people. Each group's sum is estimated by its own table, the sums add up, and
so do their variances: for people of whom nothing is assumed there is no other unbiased estimate,
but for a choice inside a group. It is the estimate from one table whose inputs are the pairs of a
group and a value, with the table of each group as a block.

*Rounds* sample one population. If round r has n_r of n reports, a report is y of round r with
chance (n_r / n) P_r(y | x), and that is one table, on the values themselves. Its unbiased scores of
least variance under the priors have the covariance (sum_r n_r J_r)^-1 less that of the values, with
J_r = Q_r diag(1 / P_r(y)) Q_r^T: every round weighs as much as its design tells, and rounds that
determine nothing by themselves can do so together. Nothing of this depends on the reports. As n_r
is fixed, the variance is no more than that of the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from liftlock.errors import InputError, NotDefined
from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.api import EstimateOptions, answer, estimate
from liftlock.estimate.likely_priors import Round
from liftlock.estimate.models import Dense
from liftlock.estimate.models.support import Encoding
from liftlock.estimate.per_user_aggregate import PerUserAggregate
from liftlock.estimate.question import Question, ask
from liftlock.estimate.result import Estimate
from liftlock.estimate.weights import Weights
from liftlock.exact.integers import Floats
from liftlock.model import Prior
from liftlock.model.alphabet import Alphabet
from liftlock.model.channel import Channel
from liftlock.model.structured import SupportChannel, UserChannel, to_dense

_MOST_SYMBOLS = 64
"""With more symbols, an estimate of each one by itself would take too long."""


class Source(Protocol):
    """What made the reports of a collection: a mechanism."""

    @property
    def channel(self) -> Any:
        """Its channel."""
        ...

    @property
    def known_prior(self) -> Prior | None:
        """The prior that it was made for, if it is one."""
        ...

    def aggregate(self, reports: Any) -> Any:
        """Count reports."""
        ...


def combine(
    parts: Iterable[tuple[Source, Any]],
    of: str = "histogram",
    *,
    value: Any = None,
    rounds: bool = False,
    **options: Any,
) -> Estimate:
    """Estimate from several collections: pairs of a mechanism and its reports, or their aggregate.

    The collections are groups of different people, and the answer is about all of them together.
    With `rounds` they are samples of one population, and the answer is about that population, as if
    it had as many people as there are reports. `options` are those of
    `liftlock.estimate.estimate`: method, interval, level, about, seed.

    >>> import liftlock as ll
    >>> first = ll.design(ll.Prior.uniform("ab"), ll.LDP("1"), method="k-rr")
    >>> second = ll.design(ll.Prior.uniform("ab"), ll.LDP("2"), method="k-rr")
    >>> pairs = [(first, ["a"] * 60 + ["b"] * 40), (second, ["a"] * 70 + ["b"] * 30)]
    >>> print(combine(pairs, "survey", value="a").remarks[0])
    2 groups of different people, whose answers add up
    """
    pairs = list(parts)
    if not pairs:
        raise InputError("no collections", remedy="give pairs of a mechanism and its reports")
    if len({id(reports) for _, reports in pairs}) < len(pairs):
        raise InputError("the same reports are given twice", remedy="name each collection once")
    given = [(source, _count(source, reports)) for source, reports in pairs]
    if isinstance(given[0][1], PerUserAggregate):
        return _combine_users(given, of, value, options, rounds=rounds)
    inputs = given[0][0].channel.inputs
    pieces = [_Collection.of(source, counted, inputs) for source, counted in given]
    told = (
        f"{len(pieces)} rounds of one population, pooled with weights that follow from the designs"
        if rounds
        else f"{len(pieces)} groups of different people, whose answers add up"
    )
    if rounds:
        if options.setdefault("about", "population") != "population":
            raise InputError(
                "rounds are samples of one population",
                value=options["about"],
                remedy="leave about out; ask about groups for the people who reported",
            )
        if any(piece.counted.weights is not None for piece in pieces):
            raise NotDefined("pooling rounds", "weighted reports", "count them without weights")
    question, chosen = ask(inputs, of, value), EstimateOptions.of(**options)
    found = _estimate(pieces, question, chosen, rounds=rounds)
    kept = tuple(Round(p.channel, p.counted, p.prior) for p in pieces) if rounds else ()
    return replace(found, remarks=(told, *found.remarks), rounds=kept)


def _count(source: Source, reports: Any) -> Any:
    """Return the aggregate of a collection, which must be that of its mechanism."""
    if not hasattr(source, "channel") or not hasattr(source, "known_prior"):
        raise InputError(
            "not a mechanism",
            value=type(source).__name__,
            remedy="give pairs of a mechanism and its reports",
        )
    if isinstance(source.channel, UserChannel):
        if not isinstance(reports, PerUserAggregate):
            raise InputError(
                "reports of users with a prior each are not counted",
                remedy="give mechanism.aggregate(reports, priors)",
            )
        return reports
    counted = reports if isinstance(reports, Aggregate) else source.aggregate(reports)
    if not isinstance(counted, Aggregate):
        raise InputError(
            "sums over users with a prior each beside counts",
            remedy="combine collections of one of the two kinds",
        )
    return counted.check_channel(source.channel)


@dataclass(frozen=True, eq=False)
class _Collection:
    """The reports of one mechanism, with the values in the order that all collections share."""

    channel: Channel | SupportChannel
    counted: Aggregate
    prior: Prior | None
    order: list[int]

    @classmethod
    def of(cls, source: Source, counted: Aggregate, inputs: Alphabet) -> _Collection:
        """Check that a collection is about the same values."""
        channel = source.channel
        if not isinstance(channel, SupportChannel):
            channel = to_dense(channel)
        if set(channel.inputs.labels) != set(inputs.labels):
            raise InputError(
                "collections of different values",
                value=sorted(map(str, set(channel.inputs.labels) ^ set(inputs.labels)))[:5],
                remedy="combine mechanisms for the same values",
            )
        order = [channel.inputs.index(label) for label in inputs.labels]
        return cls(channel, counted, source.known_prior, order)

    @property
    def masses(self) -> Floats | None:
        """The prior in the shared order."""
        if self.prior is None:
            return None
        return self.prior.reordered(self.channel.inputs).floats()[self.order]

    def table(self, place: int | None) -> tuple[Floats, Aggregate]:
        """Return P(y | x) and the counts of y; of an encoding, whether a symbol is supported."""
        if not isinstance(self.channel, SupportChannel):
            return self.channel.floats()[self.order], self.counted
        assert place is not None
        own = self.order[place]
        _, _, two = Encoding.of(self.channel).binary_survey(self.counted, own)
        hit = np.full(len(self.order), float(self.channel.miss))
        hit[place] = float(self.channel.hit)
        return np.stack([1.0 - hit, hit], axis=1), two


def _estimate(
    pieces: Sequence[_Collection], question: Question, options: EstimateOptions, *, rounds: bool
) -> Estimate:
    """Answer the question from one table, or, with encodings, symbol by symbol."""
    if not any(isinstance(piece.channel, SupportChannel) for piece in pieces):
        return _answer(pieces, None, question, options, rounds=rounds)
    if not question.is_single or len(question.names) > _MOST_SYMBOLS:
        raise NotDefined(
            "an estimate from several collections",
            f"encodings, for a {question.of} over several values or more than {_MOST_SYMBOLS}",
            "ask for a survey of one value",
        )
    # Answers of their own: all of them hold at once if each has its part (Bonferroni).
    parts = len(question.names) if options.together else 1
    one = replace(options, level=1.0 - (1.0 - options.level) / parts)
    found = [
        _answer(
            pieces,
            int(np.argmax(column)),
            Question(question.of, question.inputs, (name,), column[:, None]),
            one,
            rounds=rounds,
        )
        for name, column in zip(question.names, question.values.T, strict=True)
    ]
    remarks = tuple(dict.fromkeys(text for each in found for text in each.remarks))
    return replace(
        found[0],
        answers=tuple(each.answers[0] for each in found),
        level=options.level,
        beside=None,
        remarks=remarks,
    )


def _answer(
    pieces: Sequence[_Collection],
    place: int | None,
    question: Question,
    options: EstimateOptions,
    *,
    rounds: bool,
) -> Estimate:
    """Put the tables of all collections together, and estimate from one."""
    tables, counted = zip(*(piece.table(place) for piece in pieces), strict=True)
    total = sum(piece.counted.reports for piece in pieces)
    shares = [piece.counted.reports / total for piece in pieces]
    masses = [piece.masses for piece in pieces]
    known = [mass for mass in masses if mass is not None]
    outputs = Alphabet.of(
        (part + 1, y) for part, table in enumerate(tables) for y in range(table.shape[1])
    )
    if rounds:
        rows = np.concatenate([w * t for w, t in zip(shares, tables, strict=True)], axis=1)
        mixed = None
        if len(known) == len(pieces):
            mixed = np.sum([w * mass for w, mass in zip(shares, known, strict=True)], axis=0)
        model = Dense(question.inputs, outputs, rows, mixed)
    else:
        size = len(question.inputs)
        rows = np.zeros((size * len(tables), len(outputs)))
        start = 0
        for part, table in enumerate(tables):
            stop = start + table.shape[1]
            rows[part * size : (part + 1) * size, start:stop] = table
            start = stop
        inputs = Alphabet.of(
            f"{label} in collection {part + 1}"
            for part in range(len(tables))
            for label in question.inputs.labels
        )
        stacked = None
        if len(known) == len(pieces):
            stacked = np.concatenate([w * mass for w, mass in zip(shares, known, strict=True)])
        model = Dense(inputs, outputs, rows, stacked, groups=np.repeat(shares, size))
        values = np.tile(question.values, (len(tables), 1))
        question = Question(question.of, inputs, question.names, values)
    return answer(model, _join(counted), question, options)


def _join(counted: Sequence[Aggregate]) -> Aggregate:
    """Return the counts one after another; weights too, if any has some."""
    counts = tuple(count for each in counted for count in each.counts)
    reports = sum(each.reports for each in counted)
    weights = None
    if any(each.weights is not None for each in counted):
        own = [each.weights or _unit_weights(each) for each in counted]
        weights = Weights(
            tuple(value for each in own for value in each.sums),
            tuple(value for each in own for value in each.squares),
            sum((each.total for each in own), Fraction(0)),
            sum((each.total_squares for each in own), Fraction(0)),
            sum((each.offset for each in own), Fraction(0)),
            min(each.least for each in own),
        )
    return Aggregate("", counts, reports, weights)


def _unit_weights(counted: Aggregate) -> Weights:
    """Return the weights of reports that were given none: 1 each."""
    ones, all_of = tuple(map(Fraction, counted.counts)), Fraction(counted.reports)
    return Weights(ones, ones, all_of, all_of, Fraction(0), Fraction(1))


def _combine_users(
    given: Sequence[tuple[Source, Any]], of: str, value: Any, options: Any, *, rounds: bool
) -> Estimate:
    """Add up sums over users, whatever made their reports."""
    first = given[0][0].channel
    for source, counted in given:
        if not isinstance(counted, PerUserAggregate):
            raise InputError(
                "sums over users with a prior each beside counts",
                remedy="combine collections of one of the two kinds",
            )
        counted.require_channel(source.users_fingerprint)  # type: ignore[attr-defined]
        if source.channel.inputs.labels != first.inputs.labels:
            raise InputError(
                "collections of different values", remedy="combine mechanisms for the same values"
            )
    if rounds:
        raise NotDefined(
            "pooling rounds", "users with a prior each, who are not one population", "leave it out"
        )
    total = given[0][1]
    for _, counted in given[1:]:
        total += replace(counted, channel=total.channel)
    found = estimate(first, total, of, value=value, **options)
    told = f"{len(given)} groups of different people, whose answers add up"
    return replace(found, remarks=(told, *found.remarks))
