"""What is known of each user before anything is released: a prior of her own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from liftlock.alphabet import Alphabet, Label
from liftlock.errors import CountError, InputError, LabelError
from liftlock.exact.numbers import exact
from liftlock.prior import Prior
from liftlock.sampling.own_priors import SUM_TOLERANCE, checked_table, users_per_block

_MOST_BLOCKS = 64
_CELLS = 1 << 22
"""Models are asked for at most so many blocks of the sampler, and so many numbers, at once."""


@dataclass(frozen=True, eq=False)
class LocalPriors:
    """A row of masses for each user, in a table or from a model that is asked batch by batch.

    >>> priors = LocalPriors.of(["no", "yes"], np.array([[0.9, 0.1], [0.5, 0.5]]))
    >>> print(priors)
    priors of 2 users on 2 symbols
    >>> priors.smoothed("0.1").rows(0, 1).round(4).tolist()
    [[0.8333, 0.1667]]
    """

    alphabet: Alphabet
    users: int
    masses: npt.NDArray[Any] | None = None
    """Rows of probabilities, or of counts if they are whole numbers."""
    model: Any = None
    features: Any = None
    columns: tuple[int, ...] | None = None
    """Where each label stands in the table or among the model's classes; -1: nowhere."""
    amount: float = 0.0
    """What is added to each mass, or to each count."""

    @classmethod
    def of(cls, labels: Iterable[Any] | Alphabet, masses: npt.ArrayLike) -> LocalPriors:
        """Take a table with a row for each user and a column for each label."""
        alphabet = labels if isinstance(labels, Alphabet) else Alphabet.of(labels)
        table = checked_table(np.asarray(masses))
        if table.shape[1] != len(alphabet):
            raise CountError(
                f"{table.shape[1]} columns for {len(alphabet)} labels",
                remedy="give one column for each label",
            )
        return cls(alphabet, len(table), table)

    @classmethod
    def from_model(
        cls, model: Any, features: Any, labels: Iterable[Any] | Alphabet | None = None
    ) -> LocalPriors:
        """Take a fitted classifier and what it knows of each user: a row of features each.

        Anything with `predict_proba` and `classes_` will do, such as the classifiers of
        scikit-learn. It is asked for a batch of users at a time. `labels` may name values that the
        model has never seen; they get mass 0 until the priors are `smoothed`.
        """
        if not callable(getattr(model, "predict_proba", None)) or not hasattr(model, "classes_"):
            raise InputError(
                f"a model of type {type(model).__name__} does not predict probabilities",
                remedy="give a fitted classifier with predict_proba and classes_",
            )
        known = Alphabet.of(np.asarray(model.classes_).tolist())
        if labels is None:
            alphabet = known
        else:
            alphabet = labels if isinstance(labels, Alphabet) else Alphabet.of(labels)
        lost = [label for label in known.labels if label not in alphabet]
        if lost:
            raise LabelError(
                "the model knows a value outside the labels", value=lost[0], remedy="add it"
            )
        shape = getattr(features, "shape", None)
        users = int(shape[0]) if shape else len(features)
        places = tuple(known.index(x) if x in known else -1 for x in alphabet.labels)
        order = None if places == tuple(range(len(known))) else places
        return cls(alphabet, users, model=model, features=features, columns=order)

    @classmethod
    def common(cls, prior: Prior, users: int) -> LocalPriors:
        """Give every user the same prior, without copies of it."""
        row = prior.floats()
        return cls(prior.alphabet, users, np.broadcast_to(row, (users, len(row))))

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels in order."""
        return self.alphabet.labels

    def __len__(self) -> int:
        return self.users

    def __str__(self) -> str:
        source = "" if self.model is None else f", by {type(self.model).__name__}"
        return f"priors of {self.users:,} users on {len(self.alphabet)} symbols{source}"

    def __repr__(self) -> str:
        return f"<LocalPriors: {self}>"

    def smoothed(self, amount: object) -> LocalPriors:
        """Add the same amount to every mass of every user (to every count, for counts).

        A value of mass 0 has no guarantee and its release is refused; models are often too sure.
        """
        extra = exact(amount, name="smoothing")
        if extra < 0:
            raise CountError("negative smoothing", value=amount, remedy="use 0 or more")
        return replace(self, amount=self.amount + float(extra))

    def ordered(self, alphabet: Alphabet) -> LocalPriors:
        """Return the same priors in the order of another alphabet with the same labels."""
        if alphabet.labels == self.alphabet.labels:
            return self
        order = alphabet.order_of(self.alphabet, whose="the mechanism", other_name="the priors")
        now = range(len(self.alphabet)) if self.columns is None else self.columns
        return replace(self, alphabet=alphabet, columns=tuple(now[place] for place in order))

    def blocks(self, size: int | None = None) -> Iterator[tuple[int, npt.NDArray[Any]]]:
        """Give the rows of so many users at a time, each time with the place of the first."""
        symbols = len(self.alphabet)
        block = users_per_block(symbols)
        several = max(1, min(_MOST_BLOCKS, _CELLS // (block * symbols)))
        step = several * block if size is None else size
        if step < 1:
            raise InputError("blocks of no users", value=size, remedy="use 1 or more")
        for start in range(0, self.users, step):
            yield start, self.rows(start, min(start + step, self.users))

    def rows(self, start: int, stop: int) -> npt.NDArray[Any]:
        """Return the rows of some users."""
        found = self._predicted(start, stop) if self.masses is None else self.masses[start:stop]
        if self.columns is not None:
            places = np.array(self.columns)
            found = np.where(places >= 0, found[:, places], 0).astype(found.dtype)
        return _smoothed(found, self.amount, start) if self.amount else found

    def _predicted(self, start: int, stop: int) -> npt.NDArray[Any]:
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


def _smoothed(rows: npt.NDArray[Any], amount: float, first: int) -> npt.NDArray[np.float64]:
    """Add an amount to every mass; what was no distribution before is refused, not repaired."""
    masses = rows.astype(np.float64)
    sums = masses.sum(axis=1)
    wrong = ~(masses >= 0).all(axis=1)
    if rows.dtype.kind == "f":
        wrong |= ~(np.abs(sums - 1) <= SUM_TOLERANCE)
    if wrong.any():
        user = int(np.argmax(wrong))
        raise CountError(
            "masses of a user are no distribution",
            where=f"user {first + user + 1}",
            value=masses[user].tolist(),
            remedy="give probabilities that sum to 1, or whole numbers as counts",
        )
    masses += amount
    masses /= masses.sum(axis=1, keepdims=True)
    return masses
