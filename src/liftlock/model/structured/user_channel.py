"""Channels for per-user priors: one distribution, and as many tables as there are priors.

The table of a user follows from the distribution and the integers of the user's own prior. What is
proved of the distribution therefore holds for every user, and no prior is part of the channel. If
users have different budgets, the channel has a distribution for each of them.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from liftlock.errors import FileError, InputError, NotDefined
from liftlock.exact.fingerprint import integer_to_json
from liftlock.exact.integers import Floats
from liftlock.model import PerUserPriors
from liftlock.model.alphabet import Alphabet
from liftlock.model.channel import Channel
from liftlock.model.per_user import MOST_SYMBOLS, POINTS, Limits, read_alphabet, read_limits
from liftlock.model.structured.structured_channel import StructuredChannel
from liftlock.model.structured.support_channel import whole_number
from liftlock.model.structured.user_blocks import UserBlock, user_blocks
from liftlock.model.structured.user_distributions import (
    ArcDistribution,
    SafeDistribution,
    UserDistribution,
)

POSTERIOR_BITS = 64
"""Posteriors are integers over 2^64, exactly."""
FINE_BITS = 42
"""Squares and variances are rounded to multiples of 2^-42, user by user."""

Sums: TypeAlias = tuple[list[int], list[int], list[int], list[int], list[int]]
"""For each symbol: posteriors over 2^64, their squares over 2^42, the masses of the priors over
2^32, and the variances of the posteriors over 2^42; and how far a posterior can be from its prior,
over 2^32."""


@dataclass(frozen=True, eq=False)
class UserChannel(StructuredChannel):
    """The distribution that all users share, or one for each budget, with these budgets.

    Whether it keeps them is for the certificate to say: `largest` and `smallest` limit the lift of
    every user under every prior.

    Source: 001 section III.A, Prop. 2.
    """

    inputs: Alphabet
    limits: tuple[Limits, ...]
    distributions: tuple[Any, ...]

    distribution: ClassVar[type[UserDistribution]]
    takes_sets: ClassVar[bool]
    """Whether users may have sets of priors."""
    bits: ClassVar[int]
    """Probabilities are integers over 2^bits."""
    rows: ClassVar[int]
    """How many integers for each symbol are gathered from reports."""
    integers: ClassVar[tuple[str, ...]]
    """The names of the integers of a distribution."""
    outputs_name: ClassVar[str]
    most_scored: ClassVar[int]
    """With more symbols the scores of a user take too long."""
    report_type: ClassVar[type[np.integer[Any]]]
    """What reports are called, and the type of number they are counted as."""

    @classmethod
    def of(cls, labels: Iterable[Any] | Alphabet, limits: Iterable[Limits]) -> Self:
        """Return the channel with the widest distribution that each pair of budgets allows."""
        pairs = tuple(dict.fromkeys(limits))
        if not pairs:
            raise InputError("no budgets", remedy="give at least one")
        return cls(
            read_alphabet(labels), pairs, tuple(cls.distribution.of(*pair) for pair in pairs)
        )

    @property
    @abstractmethod
    def output_number(self) -> int:
        """How many reports there are."""

    @property
    def largest(self) -> Fraction:
        """A limit of the lift of every user under every prior."""
        return Fraction(max(distribution.largest for distribution in self.distributions))

    @property
    def smallest(self) -> Fraction:
        """The other limit of the lift of every user under every prior."""
        return Fraction(min(distribution.smallest for distribution in self.distributions))

    def to_dense(self) -> Channel:
        """Refuse: there are as many tables as users."""
        raise NotDefined(
            "one table",
            f"{self}, each user of which has a prior and so a table of their own",
            "give the priors of the users, with PerUserPriors",
        )

    # --- users ----------------------------------------------------------------------------------

    def blocks(self, priors: PerUserPriors) -> Iterator[UserBlock]:
        """Give all users block by block, those of one distribution together."""
        if priors.are_sets and not self.takes_sets:
            raise NotDefined(
                f"the method {self.form}",
                priors.describe(),
                "use safe-response, or one prior for each user",
            )
        own = priors.reordered(self.inputs)
        return user_blocks(own, self._levels(own))

    def _levels(self, priors: PerUserPriors) -> npt.NDArray[np.int64] | None:
        """Return which distribution each user has; None if there is one for all."""
        if priors.levels is None:
            if len(self.limits) == 1:
                return None
            raise InputError(
                f"the users have no budgets, but the mechanism has {len(self.limits)} of them",
                remedy="assign them: priors.with_budgets([...]), or --local-budgets",
            )
        for place, limits in enumerate(priors.budgets):
            if limits not in self.limits:
                user = int(np.argmax(priors.levels == place))
                raise InputError(
                    "the mechanism was not designed for this budget",
                    where=f"user {user + 1}",
                    value=budget_text(limits),
                    remedy=f"it has {', '.join(map(budget_text, self.limits[:8]))}",
                )
        if len(self.limits) == 1:
            return None
        places = np.array([self.limits.index(limits) for limits in priors.budgets])
        return np.asarray(places[priors.levels], dtype=np.int64)

    def check_reports(self, reports: npt.NDArray[Any], users: int) -> npt.NDArray[Any]:
        """Return a checked copy of reports, one for each user: whole numbers from 0 on."""
        if reports.ndim != 1 or reports.dtype.kind not in "iu":
            raise InputError(
                f"reports of {self.form} are not a column of whole numbers",
                value=f"{reports.ndim} dimensions of {reports.dtype}",
                remedy="give the reports from release, with coded=True for labels",
            )
        if len(reports) != users:
            raise InputError(
                f"{len(reports)} reports for {users} priors", remedy="give one prior per report"
            )
        wrong = (reports < 0) | (reports >= self.output_number)
        if wrong.any():
            place = int(np.argmax(wrong))
            raise InputError(
                f"report outside {self.outputs_name}",
                where=f"report {place + 1}",
                value=int(reports[place]),
                remedy=f"reports are 0 to {self.output_number - 1}; nothing was counted",
            )
        return reports.astype(self.report_type)

    @abstractmethod
    def add(
        self,
        block: UserBlock,
        reports: npt.NDArray[Any],
        posteriors: Floats,
        totals: npt.NDArray[np.int64],
    ) -> None:
        """Fill in P(x | report) for a block of users, and add up what their reports say."""

    @abstractmethod
    def sums(self, level: int, totals: npt.NDArray[np.int64]) -> Sums:
        """Turn what was added up for users of one distribution into sums of posteriors."""

    @abstractmethod
    def scores(
        self,
        block: UserBlock,
        reports: npt.NDArray[Any],
        posteriors: Floats,
        columns: Floats | None,
    ) -> tuple[Floats, Floats, Floats]:
        """Return scores that are right on average whatever a user has, by each one's own table.

        With them E[(f . score)^2] under the user's prior for each column f (None stands for all
        symbols), and the largest score of any symbol at any report: infinite where the table does
        not tell the symbols apart.
        """

    @abstractmethod
    def explained_variance(self, block: UserBlock, columns: Floats | None) -> Floats:
        """Return Var E[f(X) | report] for users and columns; None stands for all symbols."""

    # --- words and files ------------------------------------------------------------------------

    def __str__(self) -> str:
        distributions = (
            "" if len(self.distributions) == 1 else f", {len(self.distributions)} budgets"
        )
        return f"{self.form} on {len(self.inputs)} symbols, a prior for each user{distributions}"

    def integers_of(self, level: int) -> dict[str, int]:
        """Return the integers of a distribution by name."""
        return {name: getattr(self.distributions[level], name) for name in self.integers}

    def distribution_data(self) -> dict[str, Any]:
        """Return budgets and integers as JSON."""
        return {
            "levels": [
                {
                    "lower": str(lower),
                    "upper": str(upper),
                    **{
                        name: integer_to_json(value)
                        for name, value in self.integers_of(level).items()
                    },
                }
                for level, (lower, upper) in enumerate(self.limits)
            ]
        }

    @classmethod
    def from_data(cls, data: Any) -> Self:
        """Read the JSON form; whether the integers keep the budgets is not believed here."""
        levels = data["levels"]
        if not isinstance(levels, list) or not levels:
            raise FileError("a channel of users without a distribution", value=levels)
        limits = tuple(read_limits((level["lower"], level["upper"])) for level in levels)
        if len(set(limits)) != len(limits):
            raise FileError("two distributions for one budget", value=len(limits))
        distributions = [[whole_number(level, name) for name in cls.integers] for level in levels]
        return cls(
            Alphabet.from_data(data["inputs"]),
            limits,
            tuple(cls.distribution(*distribution) for distribution in distributions),
        )


@dataclass(frozen=True, eq=False)
class ArcChannel(UserChannel):
    """The start of a window on a circle on which each symbol has an arc; see `ArcDistribution`.

    >>> channel = ArcChannel.of(["no", "yes"], [read_limits("ln 2")])
    >>> print(channel)
    arc on 2 symbols, a prior for each user
    >>> round(float(channel.largest), 6), float(channel.smallest)
    (2.0, 0.5)
    """

    distributions: tuple[ArcDistribution, ...]
    form = "arc"
    distribution = ArcDistribution
    takes_sets = False
    bits = 62
    rows = 6
    integers = ("low", "high", "width", "extra")
    outputs_name = "the circle of 2^32 points"
    most_scored = 64
    report_type = np.uint32

    @property
    def output_number(self) -> int:
        """How many reports there are: the points of the circle."""
        return POINTS

    def add(
        self,
        block: UserBlock,
        reports: npt.NDArray[Any],
        posteriors: Floats,
        totals: npt.NDArray[np.int64],
    ) -> None:
        """P(x | u) is the prior times L + (U - L) (share of the arc in the window)."""
        from liftlock.model.structured.per_user_kernels import arc_sums

        distribution = self.distributions[block.level]
        arc_sums(
            block.counts, reports, float(distribution.low), float(distribution.high),
            float(distribution.width), float(distribution.extra), posteriors, totals,
        )  # fmt: skip

    def sums(self, level: int, totals: npt.NDArray[np.int64]) -> Sums:
        """Turn points into sums of posteriors.

        A posterior is at most max(U - 1, 1 - L) min(P(x), 1 - P(x)) from its prior.
        """
        distribution = self.distributions[level]
        lengths, covered, raised, squares, spread, parts = totals.tolist()
        rise = distribution.high - distribution.low
        scale = 1 << (POSTERIOR_BITS - distribution.weight_bits)
        posterior = [
            scale * (distribution.low * length + rise * inside + more)
            for length, inside, more in zip(lengths, covered, raised, strict=True)
        ]
        reach = max(distribution.largest - 1, 1 - distribution.smallest)
        reaches = [min(math.ceil(reach * part), POINTS) for part in parts]
        return posterior, squares, lengths, spread, reaches

    def scores(
        self,
        block: UserBlock,
        reports: npt.NDArray[Any],  # noqa: ARG002 - the posteriors say where the window is
        posteriors: Floats,
        columns: Floats | None,
    ) -> tuple[Floats, Floats, Floats]:
        """Return G^-1 times the lifts, the inverse of least variance under the user's prior."""
        from liftlock.model.structured.per_user_kernels import arc_scores

        distribution = self.distributions[block.level]
        asked = np.empty((0, len(self.inputs))) if columns is None else columns
        found, reaches = np.empty(block.counts.shape), np.empty(len(block))
        squares = np.empty((len(block), len(asked) or len(self.inputs)))
        low = distribution.low / distribution.unit
        rise = distribution.high / distribution.unit - low
        arc_scores(
            block.counts, posteriors, low, rise, float(distribution.width), asked,
            found, squares, reaches,
        )  # fmt: skip
        return found, squares, reaches

    def explained_variance(self, block: UserBlock, columns: Floats | None) -> Floats:
        """Return Var E[f(X) | u]: (U - L)^2 times the variance of the integral over the window."""
        from liftlock.model.structured.per_user_kernels import window_variances

        distribution, counts = self.distributions[block.level], block.counts
        rise = ((distribution.high - distribution.low) / distribution.unit) ** 2
        if columns is None:
            share = (
                min(distribution.width, distribution.points - distribution.width)
                / distribution.points
            )
            part = counts / distribution.points
            part = np.minimum(part, 1.0 - part)
            less, more = np.minimum(part, share), np.maximum(part, share)
            symbols: Floats = rise * less**2 * (more - more**2 - less / 3.0)
            return symbols
        found = np.empty((len(columns), len(counts)))
        for column, row in zip(columns, found, strict=True):
            window_variances(counts, distribution.width, column, row)
        return rise * found.T


@dataclass(frozen=True, eq=False)
class SafeChannel(UserChannel):
    """The value with the largest safe probability, else one of the prior: `SafeDistribution`."""

    distributions: tuple[SafeDistribution, ...]
    form = "safe-response"
    distribution = SafeDistribution
    takes_sets = True
    reports_labels = True
    bits = 64
    rows = 8
    integers = ("floor", "ceiling")
    outputs_name = "the output alphabet"
    most_scored = MOST_SYMBOLS
    report_type = np.int64

    @property
    def output_number(self) -> int:
        """How many reports there are: one for each symbol."""
        return len(self.inputs)

    def keeps(self, block: UserBlock) -> npt.NDArray[np.int64]:
        """Return T of each user of a block; see `SafeDistribution.keep`."""
        from liftlock.model.structured.per_user_kernels import (
            keep_limits_of_priors,
            keep_limits_of_sets,
        )

        distribution = self.distributions[block.level]
        found = np.empty(len(block), dtype=np.int64)
        # The gain may take all 64 bits.
        if block.ends is None:
            keep_limits_of_priors(
                block.counts,
                distribution.most,
                np.uint64(distribution.gain),
                distribution.enough,
                found,
            )
        else:
            keep_limits_of_sets(
                block.counts, *block.ends, distribution.most, np.uint64(distribution.gain), found
            )
        return found

    def add(
        self,
        block: UserBlock,
        reports: npt.NDArray[Any],
        posteriors: Floats,
        totals: npt.NDArray[np.int64],
    ) -> None:
        """P(x | y) is (1 - t) P(x), and t more for the symbol that was reported."""
        from liftlock.model.structured.per_user_kernels import safe_sums

        wrong = safe_sums(block.counts, reports, self.keeps(block), posteriors, totals)
        if wrong >= 0:
            raise _refuse_report(block, wrong, reports)

    def sums(self, level: int, totals: npt.NDArray[np.int64]) -> Sums:
        """Put the parts of products together; a posterior is at most t from its prior."""
        del level
        lengths, first, second, third, kept, squares, spread, keeps = totals.tolist()
        posterior = [
            a + (b << 11) + (c << 22) + (own << 32)
            for a, b, c, own in zip(first, second, third, kept, strict=True)
        ]
        return posterior, squares, lengths, spread, keeps

    def scores(
        self,
        block: UserBlock,
        reports: npt.NDArray[Any],
        posteriors: Floats,  # noqa: ARG002 - the report alone tells
        columns: Floats | None,
    ) -> tuple[Floats, Floats, Floats]:
        """Return ([x = y] - (1 - t) P(x)) / t; under the prior f . score has Var f(X) / t^2."""
        from liftlock.model.structured.per_user_kernels import moments, safe_scores

        found, reaches = np.empty(block.counts.shape), np.empty(len(block))
        safe_scores(block.counts, reports, self.keeps(block), found, reaches)
        means: Floats = block.counts / POINTS
        variances = means * (1.0 - means)
        if columns is not None:
            masses = means
            means, variances = (np.empty((len(block), len(columns))) for _ in range(2))
            moments(masses, columns, means, variances)
        known = np.where(np.isfinite(reaches), reaches, 0.0)[:, None]
        return found, means**2 + known**2 * variances, reaches

    def explained_variance(self, block: UserBlock, columns: Floats | None) -> Floats:
        """Return Var E[f(X) | y] = t^2 Var f(X)."""
        part = block.counts / POINTS
        kept = (self.keeps(block) / POINTS)[:, None] ** 2
        if columns is None:
            symbols: Floats = kept * part * (1.0 - part)
            return symbols
        return kept * prior_variances(part, columns)


USER_CHANNELS: dict[str, type[ArcChannel] | type[SafeChannel]] = {
    "arc": ArcChannel,
    "safe-response": SafeChannel,
}
"""The methods that make a channel for users with a prior each."""


def budget_text(limits: Limits) -> str:
    """Write budgets in short: one number if both are the same.

    >>> budget_text(read_limits("1")), budget_text(read_limits(("1", "0.5")))
    ('1', '1 and 0.5')
    """
    lower, upper = limits
    return str(lower) if lower == upper else f"{lower} and {upper}"


def prior_variances(masses: Floats, columns: Floats) -> Floats:
    """Return Var f(X) for each user and column."""
    means = masses @ columns.T
    found: Floats = np.einsum(
        "ix,ixt->it", masses, (columns.T[None, :, :] - means[:, None, :]) ** 2
    )
    return found


def _refuse_report(block: UserBlock, row: int, reports: npt.NDArray[Any]) -> InputError:
    """Return the refusal of a report that the user's own prior makes impossible."""
    return InputError(
        "the report has probability 0 under the user's prior",
        where=f"report {block.user(row) + 1}",
        value=int(reports[row]),
        remedy="give the priors of the release, in its order; nothing was counted",
    )
