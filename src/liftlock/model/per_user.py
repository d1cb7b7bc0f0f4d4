"""Per-user priors: what is known of each user before anything is released, and their budgets.

Each user has a prior, or a set of priors any of which may be the right one, and perhaps a budget.
Two contexts are made of this. `PerUserPriors` names the priors, of these users; `AnyUserPrior` is
that of a mechanism whose distribution holds for every user whatever the prior, which needs none of
them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from liftlock.errors import CountError, InputError, LabelError, NotDefined
from liftlock.exact.budget import Budget
from liftlock.exact.fingerprint import canonical_bytes, fingerprint
from liftlock.exact.numbers import exact, exact_probability
from liftlock.model.alphabet import Alphabet, Label
from liftlock.model.context import Context
from liftlock.model.prior import Prior

POINTS = 1 << 32
"""A prior is rounded to this number of points, which its symbols share."""

SUM_TOLERANCE = 1e-6
"""Masses of a user may be off 1 by what float64 or float32 leaves."""

MOST_SYMBOLS = 1 << 15
"""With more symbols, those that are rounded up could take more than the likeliest has."""

MOST_USERS = 1 << 10
"""Users per block at most: few enough for their integers to stay in a core's own cache."""
_BLOCK_CELLS = 1 << 20

_MOST_BLOCKS = 64
_CELLS = 1 << 22
"""A batch for a model: at most this many blocks of the sampler, and this many numbers."""

SCOPE = (
    f"for priors in multiples of 2^-{POINTS.bit_length() - 1}, to which each user's is rounded "
    "before it is used"
)
"""Of which priors everything that is proved of users is true."""
_OUTWARDS = f"whose ends are rounded outwards to multiples of 2^-{POINTS.bit_length() - 1}"

MOST_BUDGETS = 1000
"""Each budget needs its own distribution."""

Table: TypeAlias = npt.NDArray[Any]
Limits: TypeAlias = tuple[Budget, Budget]
"""How far beliefs may fall and rise: the lower and the upper budget."""


@dataclass(frozen=True)
class AnyUserPrior:
    """The context of a distribution that holds for every user, whatever the prior of each.

    >>> AnyUserPrior(Alphabet.of(["no", "yes"])).describe()
    'every user under every prior on 2 symbols'
    """

    kind: ClassVar[Literal["per-user"]] = "per-user"
    scope: ClassVar[str] = SCOPE

    inputs: Alphabet

    @property
    def secrets(self) -> Alphabet:
        """The secrets: the inputs themselves."""
        return self.inputs

    def describe(self) -> str:
        """Say in a few words what kind of context this is."""
        return f"every user under every prior on {len(self.inputs)} symbols"

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of the canonical form."""
        return fingerprint(["per-user", self.inputs.to_data()])

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form, which has nobody's prior."""
        return {"kind": "per-user", "labels": self.inputs.to_data()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> AnyUserPrior:
        """Read the JSON form."""
        return cls(Alphabet.from_data(data.get("labels")))


@dataclass(frozen=True, eq=False)
class PerUserPriors(Context):
    """A row of masses for each user, in a table or from a model that is asked batch by batch.

    >>> priors = PerUserPriors.of(["no", "yes"], np.array([[0.9, 0.1], [0.5, 0.5]]))
    >>> print(priors)
    priors of 2 users on 2 symbols
    >>> priors.smoothed("0.1").rows(0, 1).round(4).tolist()
    [[0.8333, 0.1667]]
    """

    kind: ClassVar[Literal["per-user"]] = "per-user"

    alphabet: Alphabet
    users: int
    masses: Table | None = None
    """Rows of probabilities, or of counts if they are whole numbers."""
    model: Any = None
    features: Any = None
    columns: tuple[int, ...] | None = None
    """Where each label stands in the table or among the model's classes; -1: nowhere."""
    amount: float = 0.0
    """What is added to each mass, or to each count."""
    ends: tuple[Table, Table] | None = None
    """For intervals: the lowest and the highest probability of each symbol, user by user."""
    members: Table | None = None
    """For families: the priors of each user, of shape (users, priors, symbols)."""
    radius: int | None = None
    """For balls: how far in total variation a prior may be from the user's row, in points."""
    budgets: tuple[Limits, ...] = ()
    """The different budgets of users; none if all have that of the mechanism."""
    levels: npt.NDArray[np.int64] | None = None
    """Which of these each user has."""

    # --- one prior each -------------------------------------------------------------------------

    @classmethod
    def of(
        cls,
        labels: Iterable[Any] | Alphabet,
        masses: npt.ArrayLike,
        *,
        normalise: bool = False,
    ) -> PerUserPriors:
        """Take a table with a row for each user and a column for each label.

        With ``normalise=True`` rows of any positive sum are accepted and divided by it.

        >>> thirds = PerUserPriors.of("abc", [[0.3333, 0.3333, 0.3333]], normalise=True)
        >>> float(thirds.rows(0, 1).sum().round(9))
        1.0
        """
        alphabet = read_alphabet(labels)
        table = check_mass_table(np.asarray(masses))
        _check_width(table.shape[1], alphabet)
        table = divide_by_sums(table) if normalise else table
        return cls(alphabet, len(table), table)

    @classmethod
    def from_model(
        cls, model: Any, features: Any, labels: Iterable[Any] | Alphabet | None = None
    ) -> PerUserPriors:
        """Take a fitted classifier and what it knows of each user: a row of features each.

        Anything with `predict_proba` and `classes_` will do, such as the classifiers of
        scikit-learn. It is asked for a batch of users at a time. `labels` may name values that the
        model has never seen; they get mass 0 until the priors are `smoothed`.
        """
        if not callable(getattr(model, "predict_proba", None)) or not hasattr(model, "classes_"):
            raise InputError(
                f"{type(model).__name__} does not predict probabilities",
                remedy="give a fitted classifier with predict_proba and classes_",
            )
        known = Alphabet.of(np.asarray(model.classes_).tolist())
        alphabet = known if labels is None else read_alphabet(labels)
        lost = [label for label in known.labels if label not in alphabet]
        if lost:
            raise LabelError(
                "the model has a class outside the labels", value=lost[0], remedy="add it"
            )
        shape = getattr(features, "shape", None)
        users = int(shape[0]) if shape else len(features)
        places = tuple(known.index(x) if x in known else -1 for x in alphabet.labels)
        order = None if places == tuple(range(len(known))) else places
        return cls(alphabet, users, model=model, features=features, columns=order)

    @classmethod
    def common(cls, prior: Prior, users: int) -> PerUserPriors:
        """Give every user the same prior, without copies of it."""
        row = prior.floats()
        return cls(prior.alphabet, users, np.broadcast_to(row, (users, len(row))))

    # --- a set of priors each -------------------------------------------------------------------

    @classmethod
    def intervals(
        cls, labels: Iterable[Any] | Alphabet, lowest: npt.ArrayLike, highest: npt.ArrayLike
    ) -> PerUserPriors:
        """Take the lowest and the highest probability of each symbol, a row of both for each user.

        Reports are made for, and read by, the prior in the middle; they protect under every prior
        within the intervals.

        Source: 000 Def 6.

        >>> PerUserPriors.intervals("ab", [[0.1, 0.6]], [[0.3, 0.9]]).rows(0, 1).round(6).tolist()
        [[0.22, 0.78]]
        """
        alphabet = read_alphabet(labels)
        ends = tuple(
            check_mass_table(np.asarray(table, dtype=np.float64)) for table in (lowest, highest)
        )
        low, high = ends
        _check_width(low.shape[1], alphabet)
        if low.shape != high.shape:
            raise CountError(
                "the tables of lowest and highest probabilities have different shapes",
                value=f"{low.shape} and {high.shape}",
            )
        least, most = low.sum(axis=1), high.sum(axis=1)
        wrong = ~((low >= 0) & (low <= high) & (high <= 1)).all(axis=1)
        wrong |= ~((least <= 1) & (most >= 1))
        if wrong.any():
            user = int(np.argmax(wrong))
            raise CountError(
                "no prior lies within the intervals of a user",
                where=f"user {user + 1}",
                value=[[float(a), float(b)] for a, b in zip(low[user], high[user], strict=True)][
                    :8
                ],
                remedy="give probabilities, the lowest first, that sum to at most 1 and at least 1",
            )
        room = most - least
        share = np.divide(1.0 - least, room, out=np.zeros_like(room), where=room > 0)
        middle = low + (high - low) * share[:, None]
        return cls(alphabet, len(low), middle, ends=(low, high))

    @classmethod
    def families(
        cls,
        labels: Iterable[Any] | Alphabet,
        members: Table | Sequence[npt.ArrayLike],
        *,
        normalise: bool = False,
    ) -> PerUserPriors:
        """Take several priors for each user: a table with a row for each of them.

        Reports protect under each of these priors, and under every mixture of them; they are made
        for, and read by, the even mixture.

        Source: 000 Def 6, Lemma 2.

        >>> PerUserPriors.families("ab", [[[0.2, 0.8], [0.4, 0.6]]]).rows(0, 1).round(6).tolist()
        [[0.3, 0.7]]
        """
        alphabet = read_alphabet(labels)
        given = [_as_masses(check_mass_table(np.asarray(table))) for table in members]
        given = [divide_by_sums(table) for table in given] if normalise else given
        for user, table in enumerate(given):
            _check_width(table.shape[1], alphabet)
            if not len(table):
                raise CountError(
                    "a user has no prior", where=f"user {user + 1}", remedy="give at least one"
                )
            _check_distributions(table, user, all_of_one=True)
        most = max((len(table) for table in given), default=1)
        # A prior that is there twice changes nothing: all users then have the same number.
        filled = [
            np.concatenate([table, np.repeat(table[:1], most - len(table), axis=0)])
            for table in given
        ]
        whole = np.array(filled, dtype=np.float64).reshape(len(given), most, len(alphabet))
        mixed = np.array([table.mean(axis=0) for table in given]).reshape(-1, len(alphabet))
        return cls(alphabet, len(given), mixed, members=whole)

    def within(self, distance: object) -> PerUserPriors:
        """Return the same priors, each with all others within a distance in total variation.

        The ball around a row is rounded outwards; within 0 there is the prior itself.

        Source: 000 Def 6, Def 7.
        """
        self._refuse_sets("a distance from a set of priors")
        radius = exact_probability(distance, name="distance")
        if not radius:
            return self
        points = -(-radius.numerator * POINTS // radius.denominator)
        return replace(self, radius=points)

    @property
    def are_sets(self) -> bool:
        """Whether users have sets of priors instead of one prior each."""
        return self.ends is not None or self.members is not None or self.radius is not None

    def _refuse_sets(self, what: str) -> None:
        if self.are_sets:
            raise NotDefined(what, self.describe(), "start from one prior per user")

    # --- budgets --------------------------------------------------------------------------------

    def with_budgets(self, budgets: Iterable[Any]) -> PerUserPriors:
        """Give each user a budget: a number, or a pair of how far beliefs may fall and rise.

        Budgets are public, like priors: whoever sees a report knows which distribution it was made
        by.

        Source: 001 section III.

        >>> some = PerUserPriors.of("ab", [[0.5, 0.5], [0.2, 0.8]]).with_budgets(["1", "0.5"])
        >>> print(some)
        priors of 2 users on 2 symbols, with 2 different budgets
        """
        places: dict[Any, int] = {}
        found: list[int] = []
        limits: list[Limits] = []
        given = budgets.tolist() if isinstance(budgets, np.ndarray) else budgets
        for user, budget in enumerate(given):
            key = tuple(budget) if isinstance(budget, list) else budget
            if key not in places:
                pair = read_limits(key, where=f"user {user + 1}")
                places[key] = limits.index(pair) if pair in limits else len(limits)
                if places[key] == len(limits):
                    limits.append(pair)
            found.append(places[key])
            if len(limits) > MOST_BUDGETS:
                raise InputError(
                    f"more than {MOST_BUDGETS:,} distinct budgets",
                    where=f"user {user + 1}",
                    remedy="round them down to fewer",
                )
        if len(found) != self.users:
            raise InputError(
                f"{len(found)} budgets for {self.users} users", remedy="give one per user"
            )
        return replace(self, budgets=tuple(limits), levels=np.array(found, dtype=np.int64))

    # --- a context ------------------------------------------------------------------------------

    @property
    def inputs(self) -> Alphabet:
        """The channel inputs."""
        return self.alphabet

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels in order."""
        return self.alphabet.labels

    def describe(self) -> str:
        """Say in a few words what kind of context this is."""
        return str(self)

    @property
    def scope(self) -> str:
        """Of which priors what is proved of these users is true: not of those that were rounded."""
        outwards = self.ends is not None or self.radius is not None
        return f"for sets of priors {_OUTWARDS}" if outwards else SCOPE

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of labels, rows and budgets, to tell the priors of other users apart."""
        found = hashlib.sha256(canonical_bytes(["per-user priors", self.alphabet.to_data()]))
        for _, rows in self.blocks():
            found.update(np.ascontiguousarray(rows, dtype="<f8").tobytes())
        tables = [self.members, *(self.ends or ()), self.levels]
        for table in tables:
            found.update(b"" if table is None else np.ascontiguousarray(table).tobytes())
        rest = [str(self.radius), [[str(low), str(high)] for low, high in self.budgets]]
        found.update(canonical_bytes(rest))
        return found.hexdigest()

    def to_data(self) -> dict[str, Any]:
        """Refuse to be stored: no file of this library holds users' priors."""
        raise NotDefined(
            "a file", self.describe(), "leave it out: the mechanism does not store priors"
        )

    def __len__(self) -> int:
        return self.users

    def __str__(self) -> str:
        kind = "sets of priors" if self.are_sets else "priors"
        source = "" if self.model is None else f", by {type(self.model).__name__}"
        budgets = f", with {len(self.budgets)} different budgets" if self.budgets else ""
        return f"{kind} of {self.users:,} users on {len(self.alphabet)} symbols{source}{budgets}"

    def __repr__(self) -> str:
        return f"<PerUserPriors: {self}>"

    def smoothed(self, amount: object) -> PerUserPriors:
        """Add the same amount to every mass of every user (to every count, for counts).

        A value of mass 0 has no guarantee and its release is refused; models are often too sure.
        """
        self._refuse_sets("smoothing")
        extra = exact(amount, name="smoothing")
        if extra < 0:
            raise CountError("negative smoothing", value=amount, remedy="use 0 or more")
        return replace(self, amount=self.amount + float(extra))

    def reordered(self, alphabet: Alphabet) -> PerUserPriors:
        """Return the same priors in the order of another alphabet with the same labels."""
        if alphabet.labels == self.alphabet.labels:
            return self
        order = alphabet.positions_in(self.alphabet, whose="the mechanism", other_name="the priors")
        now = range(len(self.alphabet)) if self.columns is None else self.columns
        ends, members = self.ends, self.members
        return replace(
            self,
            alphabet=alphabet,
            columns=tuple(now[place] for place in order),
            ends=None if ends is None else (ends[0][:, order], ends[1][:, order]),
            members=None if members is None else members[:, :, order],
        )

    # --- rows -----------------------------------------------------------------------------------

    def blocks(self, size: int | None = None) -> Iterator[tuple[int, Table]]:
        """Yield the rows of `size` users at a time, with the index of the first."""
        symbols = len(self.alphabet)
        block = users_per_block(symbols)
        several = max(1, min(_MOST_BLOCKS, _CELLS // (block * symbols)))
        step = several * block if size is None else size
        if step < 1:
            raise InputError("a block must have users", value=size, remedy="use 1 or more")
        for start in range(0, self.users, step):
            yield start, self.rows(start, min(start + step, self.users))

    def rows(self, start: int, stop: int) -> Table:
        """Return the rows of some users; of a set of priors, the one that reports are made for."""
        found = self._predict(start, stop) if self.masses is None else self.masses[start:stop]
        if self.columns is not None:
            places = np.array(self.columns)
            found = np.where(places >= 0, found[:, places], 0).astype(found.dtype)
        return _smooth_rows(found, self.amount, start) if self.amount else found

    def part(self, start: int, stop: int) -> PerUserPriors:
        """Return what is known of some users, one after another."""
        some = slice(start, stop)
        ends, members, levels = self.ends, self.members, self.levels
        features = getattr(self.features, "iloc", self.features)  # tables of pandas by position
        return replace(
            self,
            users=len(range(self.users)[some]),
            masses=None if self.masses is None else self.masses[some],
            features=None if features is None else features[some],
            ends=None if ends is None else (ends[0][some], ends[1][some]),
            members=None if members is None else members[some],
            levels=None if levels is None else levels[some],
        )

    def _predict(self, start: int, stop: int) -> Table:
        features = getattr(self.features, "iloc", self.features)  # tables of pandas by position
        found = np.asarray(self.model.predict_proba(features[start:stop]))
        expected = (stop - start, len(self.model.classes_))
        if found.shape != expected or found.dtype.kind != "f":
            raise InputError(
                "the model does not predict one probability for each class",
                where=f"users {start + 1} to {stop}",
                value=f"shape {found.shape} of {found.dtype}",
                remedy=f"shape {expected} is needed",
            )
        return found


def read_alphabet(labels: Iterable[Any] | Alphabet) -> Alphabet:
    """Return labels as an alphabet."""
    return labels if isinstance(labels, Alphabet) else Alphabet.of(labels)


def read_limits(budget: Any, *, where: str = "") -> Limits:
    """Read a budget, or a pair of the lower and the upper one.

    >>> [str(budget) for budget in read_limits(("1", "0.5"))]
    ['1', '0.5']
    """
    pair = budget if isinstance(budget, tuple) else (budget, budget)
    if len(pair) != 2:
        raise InputError(
            "a budget must be one number, or a lower and an upper one", where=where, value=budget
        )
    try:
        lower, upper = (Budget.of(each) for each in pair)
    except InputError as error:
        raise InputError(
            error.what, where=where or error.where, value=error.value, remedy=error.remedy
        ) from None
    return lower, upper


def users_per_block(symbols: int) -> int:
    """Return how many users a block has at most: a power of two, fewer if they take much memory.

    >>> users_per_block(21), users_per_block(1 << 15)
    (1024, 32)
    """
    return min(MOST_USERS, 1 << (_BLOCK_CELLS // symbols).bit_length() - 1)


def check_mass_table(masses: Table) -> Table:
    """Refuse anything but a table of numbers, before reading any row."""
    rows = np.asarray(masses)
    if rows.ndim != 2 or rows.shape[1] == 0 or rows.dtype.kind not in "iuf":
        raise CountError(
            "priors are not a table of numbers",
            value=f"shape {rows.shape} of {rows.dtype}",
            remedy="give one row per user and one column per symbol",
        )
    if rows.shape[1] > MOST_SYMBOLS:
        raise CountError(
            f"{rows.shape[1]:,} symbols", remedy=f"merge them into at most {MOST_SYMBOLS:,}"
        )
    return rows


def _as_masses(table: Table) -> Table:
    """Return rows of counts as masses; masses as they are."""
    if table.dtype.kind == "f":
        return table
    totals = table.sum(axis=1, keepdims=True)
    return np.asarray(table / np.maximum(totals, 1))


def divide_by_sums(table: Table) -> Table:
    """Return rows divided by their sums; a row that has none, or negative numbers, as it is."""
    if table.dtype.kind != "f":
        return table
    sums = table.sum(axis=1, keepdims=True, dtype=np.float64)
    usable = (table >= 0).all(axis=1, keepdims=True) & (sums > 0) & np.isfinite(sums)
    return np.asarray(np.divide(table, np.where(usable, sums, 1.0)))


def _check_width(width: int, alphabet: Alphabet) -> None:
    if width != len(alphabet):
        raise CountError(
            f"{width} columns for {len(alphabet)} labels", remedy="give one column for each label"
        )


def _check_distributions(rows: Table, user: int, *, all_of_one: bool = False) -> None:
    """Refuse a row that is not a distribution; rows belong to users from `user` on, or to one."""
    masses = rows.astype(np.float64)
    wrong = ~(masses >= 0).all(axis=1)
    if rows.dtype.kind == "f":
        wrong |= ~(np.abs(masses.sum(axis=1) - 1) <= SUM_TOLERANCE)
    if wrong.any():
        place = int(np.argmax(wrong))
        raise CountError(
            "the masses of a user are not a distribution",
            where=f"user {user + 1 + (0 if all_of_one else place)}",
            value=masses[place].tolist(),
            remedy="give probabilities that sum to 1, whole numbers as counts, or normalise=True",
        )


def _smooth_rows(rows: Table, amount: float, first: int) -> npt.NDArray[np.float64]:
    """Add an amount to every mass; what was no distribution before is refused, not repaired."""
    _check_distributions(rows, first)
    masses = rows.astype(np.float64)
    masses += amount
    masses /= masses.sum(axis=1, keepdims=True)
    return masses
