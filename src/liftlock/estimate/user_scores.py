"""Sums over users that lean on no prior: each report counts with the scores of its user's table.

A score h of a user is right on average whatever the user has: E[h_f(Y) | x] = f(x). With weights
a_i the sum of a_i h_f(y_i) is an unbiased estimate of sum_i a_i f(x_i). Its variance is

    sum_i a_i^2 (E[h_f(Y)^2 | x_i] - f(x_i)^2),    for which    sum_i a_i^2 (h_f(y_i)^2 - h_g(y_i)),

g = f^2, is unbiased too: both hold for every truth. How fast the variance grows with the sum is the
regression of these summands on a_i h_f, for which their products are added up; where all users have
one table and f counts, it is exact.

The score of a user whose reports say little is large, and one such user would drown all others.
Users are therefore added up in classes, by how large their scores can be (which their priors decide
and no report): class k has scores of at most 2^k. An estimate weighs classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from liftlock.errors import FileError, InputError
from liftlock.estimate.question import Question
from liftlock.exact.accumulation import add_exact, column_sums, exact_sum
from liftlock.exact.fingerprint import fraction_text, integer_to_json
from liftlock.exact.integers import Floats
from liftlock.exact.numbers import exact
from liftlock.model.per_user import POINTS
from liftlock.model.prior import integers_from_json
from liftlock.model.structured import UserChannel
from liftlock.model.structured.user_blocks import UserBlock

MOST = 10
"""Users with larger scores than 2^10 are not read: no crowd is large enough to gain by it."""
UNREAD = MOST + 1
"""The class of users whose reports are not read, of whom nothing but their number is known."""

_POWERS = {"sums": 1, "variances": 2, "products": 3, "squares": 2, "expected": 2}
"""What is added up, and the power of the largest score that it grows with."""
_ROUNDS = 60
_GONE = 1e-6
"""Weights are found in so many rounds; those that fall to this part are falling to 0."""
_UNSEEN = 3.5
"""What is expected so often stays away in 1 of 33 collections."""
_LIFTED = 8.0
"""How much more than expected the rare reports of a class are taken to add; measured."""
_EVEN = 0.1
"""No user has more than this part of the squares of all weights where weights are even enough."""
_BITS = 30
"""Counts are rounded to 2^-30 of that power, user by user, so that their sums are exact."""


@dataclass(frozen=True)
class ScoreClass:
    """The users whose scores are at most 2^reach: sums for each answer, all of them exact.

    `weight` adds up the a_i and `size` their absolute values, of which `largest` is the largest.
    `sums` has a_i h_f, `variances` the
    unbiased summands of the variance, `products` the products of both, `squares` the squares of
    a_i h_f, and `expected` the variance that the priors expect. Numbers f that count nothing are
    taken from the middle of their range: see `centre_of`.
    """

    reach: int
    users: int
    weight: Fraction
    size: Fraction
    largest: Fraction
    sums: tuple[Fraction, ...]
    variances: tuple[Fraction, ...]
    products: tuple[Fraction, ...]
    squares: tuple[Fraction, ...]
    expected: tuple[Fraction, ...]

    def __add__(self, other: ScoreClass) -> ScoreClass:
        rows = {name: add_exact(getattr(self, name), getattr(other, name)) for name in _POWERS}
        return ScoreClass(
            self.reach,
            self.users + other.users,
            self.weight + other.weight,
            self.size + other.size,
            max(self.largest, other.largest),
            **rows,
        )

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "reach": self.reach,
            "users": integer_to_json(self.users),
            "weight": fraction_text(self.weight),
            "size": fraction_text(self.size),
            "largest": fraction_text(self.largest),
            **{name: [fraction_text(x) for x in getattr(self, name)] for name in _POWERS},
        }

    @classmethod
    def from_data(cls, data: Any, answers: int) -> ScoreClass:
        """Read the JSON form."""
        reach, users = integers_from_json([data["reach"], data["users"]], "users")
        weight, size, largest = (
            exact(data[name], name=name) for name in ("weight", "size", "largest")
        )
        rows = {name: tuple(exact(x, name=name) for x in data[name]) for name in _POWERS}
        if (
            not 0 <= reach <= UNREAD
            or users < 1
            or abs(weight) > size
            or not largest <= size <= users * largest
            or any(len(row) != answers for row in rows.values())
            or min(rows["squares"], default=0) < 0
        ):
            raise FileError("impossible sums of scores", remedy="aggregate the reports again")
        return cls(reach, users, weight, size, largest, **rows)


def merge_classes(classes: Iterable[ScoreClass]) -> tuple[ScoreClass, ...]:
    """Add up classes of the same reach, and sort them."""
    found: dict[int, ScoreClass] = {}
    for each in classes:
        found[each.reach] = found[each.reach] + each if each.reach in found else each
    return tuple(found[reach] for reach in sorted(found))


def centre_of(question: Question) -> Floats:
    """Return the middle of what each answer adds up; 0 for counts.

    The scores of a user sum to 1, so that a constant is known without noise; without it sums of
    large numbers keep their digits.
    """
    if question.counts:
        return np.zeros(question.values.shape[1])
    middle: Floats = (question.least + question.most) / 2
    return middle


@dataclass(eq=False)
class ScoreTally:
    """Users whose scores are being added up: `columns` is None for the count of each symbol."""

    channel: UserChannel
    columns: Floats | None = None
    counted: dict[int, list[npt.NDArray[np.int64]]] = field(default_factory=dict)
    users: dict[int, int] = field(default_factory=dict)
    rows: list[tuple[Any, ...]] = field(default_factory=list)

    @classmethod
    def of(cls, channel: UserChannel, question: Question | None) -> ScoreTally:
        """Begin with nobody; without a question every symbol is counted."""
        if question is None or question.of == "histogram":
            return cls(channel)
        return cls(channel, np.ascontiguousarray((question.values - centre_of(question)).T))

    def add(
        self,
        block: UserBlock,
        reports: npt.NDArray[Any],
        posteriors: Floats,
        weights: Floats | None,
        *,
        rounded: bool,
    ) -> None:
        """Add users; `rounded` to the units of their class, or each as the float that it is."""
        tables, classes = self._scores(block, reports, posteriors)
        if not rounded:
            self.rows.append((np.ones(len(block)) if weights is None else weights, classes, tables))
            return
        for reach in np.unique(classes).tolist():
            some = classes == reach
            self.users[reach] = self.users.get(reach, 0) + int(some.sum())
            sums = [
                np.rint(np.ldexp(table[some], _BITS - power * reach)).astype(np.int64).sum(axis=0)
                for table, power in zip(tables, _POWERS.values(), strict=True)
            ]
            known = self.counted.get(reach)
            self.counted[reach] = (
                sums if known is None else [a + b for a, b in zip(known, sums, strict=True)]
            )

    def _scores(
        self, block: UserBlock, reports: npt.NDArray[Any], posteriors: Floats
    ) -> tuple[list[Floats], npt.NDArray[np.int64]]:
        """Return what each user adds to the sums of `_POWERS`, and the class of each."""
        from liftlock.model.structured.per_user_kernels import moments

        columns = self.columns
        found, squares, reaches = self.channel.scores(block, reports, posteriors, columns)
        masses = block.counts / POINTS
        if columns is None:
            values, variances, own = found, found**2 - found, masses
        else:
            shape = (len(block), len(columns))
            values, less, means, spreads = (np.empty(shape) for _ in range(4))
            # Scores of a user sum to 1, so their "variance" is h_g - h_f^2 for g = f^2.
            moments(found, columns, values, less)
            moments(masses, columns, means, spreads)
            variances, own = -less, means**2 + spreads
        tables = [values, variances, values * variances, values**2, np.maximum(squares - own, 0.0)]
        _, powers = np.frexp(np.where(np.isfinite(reaches), reaches, 2.0**UNREAD))
        classes = np.clip(powers, 0, UNREAD).astype(np.int64)
        unread = classes == UNREAD
        for table in tables:
            table[unread] = 0.0
        return tables, classes

    def to_classes(self) -> tuple[ScoreClass, ...]:
        """Return the sums by class."""
        found = [
            ScoreClass(
                reach,
                self.users[reach],
                Fraction(self.users[reach]),
                Fraction(self.users[reach]),
                Fraction(1),
                **{
                    name: tuple(Fraction(x) * Fraction(2) ** (power * reach - _BITS) for x in row)
                    for (name, power), row in zip(
                        _POWERS.items(), (row.tolist() for row in rows), strict=True
                    )
                },
            )
            for reach, rows in self.counted.items()
        ]
        return merge_classes([*found, *self._exact_classes()])

    def _exact_classes(self) -> Iterable[ScoreClass]:
        if not self.rows:
            return
        weights = np.concatenate([row[0] for row in self.rows])
        classes = np.concatenate([row[1] for row in self.rows])
        tables = [
            np.concatenate(parts) for parts in zip(*(row[2] for row in self.rows), strict=True)
        ]
        for reach in np.unique(classes).tolist():
            some = classes == reach
            own = weights[some]
            with np.errstate(over="ignore", invalid="ignore"):
                rows = {
                    name: _column_sums(table[some] * (own**power)[:, None])
                    for (name, power), table in zip(_POWERS.items(), tables, strict=True)
                }
            sizes = np.abs(own)
            largest = Fraction(float(sizes.max()))
            yield ScoreClass(
                reach, int(some.sum()), exact_sum(own), exact_sum(sizes), largest, **rows
            )


def _column_sums(table: Floats) -> tuple[Fraction, ...]:
    """Return the exact sum of each column."""
    if not np.isfinite(table).all():
        raise InputError(
            "numbers too large to be weighted and cubed",
            remedy="measure in another unit; nothing was counted",
        )
    return column_sums(table)


def read_classes(data: Any, answers: int) -> tuple[ScoreClass, ...] | None:
    """Read the classes of a file; None where an earlier version kept none."""
    if data is None:
        return None
    if not isinstance(data, Sequence):
        raise FileError("impossible sums of scores", remedy="aggregate the reports again")
    return merge_classes(ScoreClass.from_data(each, answers) for each in data)


# --- what classes say together --------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ClassEstimate:
    """The estimate of each answer from all classes, and how far it may be off.

    The sum of all users lies between `values` - `below` and `values` + `above` but for noise of
    this variance, which grows by `slope` for each unit that the sum is larger. `drawn` is the
    variance about a population. `doubt` is a bound of the standard error of the variance, and
    `heard` is the part of all weights that is read.
    """

    values: Floats
    below: Floats
    above: Floats
    variance: Floats
    slope: Floats
    drawn: Floats
    doubt: Floats
    heard: Floats


def weigh_classes(
    classes: Sequence[ScoreClass], places: npt.NDArray[np.intp] | None, question: Question
) -> ClassEstimate:
    """Give every class a weight w between 0 and 1, and put their estimates together.

    What a user is not heard with can be anything from the least to the largest f, so that with
    B_k = sum |a_i| (max f - min f) and V_k the variance that the priors expect, the interval is
    about as long as

        2 z sqrt(sum_k w_k^2 V_k) + sum_k (1 - w_k) B_k.

    It is shortest for w_k = min(1, S B_k / (2 z V_k)), S^2 = sum_k w_k^2 V_k. The weights depend on
    tables, priors and a_i alone, and so the estimate of what is heard stays unbiased for every
    truth: wrong priors cost precision and nothing else. Of users who are not heard the estimate
    takes them to be as the others are, on average; its bounds allow them everything.

    Source: math affine estimates of a bounded mean (Donoho 1994).
    """
    answers = np.arange(question.values.shape[1]) if places is None else places

    def rows(name: str) -> Floats:
        found: Floats = np.array(
            [[float(getattr(each, name)[place]) for place in answers] for each in classes]
        )
        return found

    read = np.array([each.reach <= MOST for each in classes])[:, None]
    users = np.array([float(each.users) for each in classes])[:, None]
    weight = np.array([float(each.weight) for each in classes])[:, None]
    size = np.array([float(each.size) for each in classes])[:, None]
    reaches = np.array([2.0 ** min(each.reach, MOST) for each in classes])[:, None]
    centre = centre_of(question)
    least, most = question.least - centre, question.most - centre
    expected, sums = rows("expected"), rows("sums")
    heard = np.where(read, class_weights(expected, size * (most - least), read), 0.0)
    # What is not heard of a class: its weights times something between least and most.
    plus, minus = (size + weight) / 2, (size - weight) / 2
    lowest = ((1.0 - heard) * (plus * least - minus * most)).sum(axis=0)
    highest = ((1.0 - heard) * (plus * most - minus * least)).sum(axis=0)
    said, by = (heard * sums).sum(axis=0), (heard * weight).sum(axis=0)
    rest = ((1.0 - heard) * weight).sum(axis=0)
    mean = np.clip(np.divide(said, by, out=(least + most) / 2, where=by > 0), least, most)
    missing = np.clip(rest * mean, lowest, highest)
    # Within a class, sums of products about the means.
    variances, squares = rows("variances"), rows("squares")
    along = np.maximum(squares - sums**2 / users, 0.0)
    across = rows("products") - sums * variances / users
    spread = (heard**2 * along).sum(axis=0)
    slope = np.divide(
        (heard**3 * across).sum(axis=0), spread, out=np.zeros_like(spread), where=spread > 0
    )
    largest = np.array([float(each.largest) for each in classes])[:, None]
    one = heard * reaches * (most - least)
    # Sums of a^2 are at least size^2 / users; a user who may be much of them counts for all.
    uneven = largest**2 > _EVEN * size**2 / users
    farthest = one * np.where(uneven, largest, size / users)
    # No summand of the variance is above the square of the largest score.
    doubt = np.sqrt((farthest**2 * heard**2 * squares).sum(axis=0))
    variance = (heard**2 * variances).sum(axis=0)
    # Reports with the largest score may not have come yet, and then nothing tells of them. Where
    # they may be all of the variance, as with a handful of users, they are counted as if they had.
    # No value makes an output more than some times as likely as the table expects of it.
    likely = _LIFTED * heard**2 * expected
    rare = np.minimum(farthest**2 * np.minimum(users, _UNSEEN), likely)
    unseen = (farthest**2 * rare).sum(axis=0)
    more = np.sqrt(doubt**2 + unseen)
    known = variance > more
    # Sums of a^2 are at most the largest weight times all of them.
    ceiling = (one**2 * largest * size).sum(axis=0)
    # As many users as have been seen to differ; a class of one has not.
    drawn = (heard**2 * np.where(users > 1, along * users / np.maximum(users - 1, 1), squares)).sum(
        axis=0
    )
    values = said + missing + centre * float(sum(each.weight for each in classes))
    return ClassEstimate(
        values,
        missing - lowest,
        highest - missing,
        np.where(known, variance, np.minimum(ceiling, np.maximum(variance, 0.0) + 2 * more)),
        np.where(known, slope, 0.0),
        np.where(known, drawn, np.maximum(drawn, np.minimum(ceiling, drawn + 2 * more))),
        np.where(known, doubt, 0.0),
        (heard * size).sum(axis=0) / size.sum(),
    )


def class_weights(
    expected: Floats, unknown: Floats, read: npt.NDArray[np.bool_], z: float = 1.96
) -> Floats:
    """Return w_k = min(1, S B_k / (2 z V_k)) with the largest S that is S^2 = sum_k w_k^2 V_k.

    Where there is none, the reports say less than nothing at any weight: all that can be read is.

    >>> worth = np.array([[100.0], [1e6]]), np.array([[1e3], [1e2]]), np.array([[True]] * 2)
    >>> class_weights(*worth).round(6).tolist()
    [[1.0], [0.000255]]
    """
    known = np.where(read, expected, 0.0)
    total = np.sqrt(known.sum(axis=0))
    weights = np.ones_like(known)
    for _ in range(_ROUNDS):
        limit = np.divide(
            total * unknown, 2 * z * known, out=np.full_like(known, np.inf), where=known > 0
        )
        weights = np.minimum(1.0, limit)
        total = np.sqrt((weights**2 * known).sum(axis=0))
    return np.where(total > _GONE * np.sqrt(known.sum(axis=0)), weights, 1.0)
