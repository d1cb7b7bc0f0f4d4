"""What is asked of the people who reported: how many, how much on average, how they spread.

Every question here adds up a number f(x) of each person's value: the four applications of 001.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from liftlock.errors import InputError
from liftlock.exact.integers import Floats
from liftlock.model.alphabet import Alphabet, Label
from liftlock.utility.mean import points_of

Of = Literal["histogram", "survey", "sum", "mean", "profiles"]
QUESTIONS: tuple[Of, ...] = get_args(Of)
COUNTS: tuple[Of, ...] = ("histogram", "survey", "profiles")
"""The questions whose answers count people."""

About = Literal["people", "population"]
ABOUT: tuple[About, ...] = get_args(About)
"""The people who reported, or the population that they are a random sample of."""

_NAMED = 3


@dataclass(frozen=True, eq=False)
class Question:
    """One or several sums over people: sum_i f(X_i), with a column of `values` for each.

    `names` has one name for each column; `of` says which application it is. The answer to ``mean``
    is the sum divided by the number of people, or by the sum of their weights.

    Source: 001 section III.A.

    >>> flu = Question.survey(Alphabet.of(["none", "cold", "flu"]), ["cold", "flu"])
    >>> flu.values.T.tolist(), flu.names
    ([[0.0, 1.0, 1.0]], ('cold, flu',))
    """

    of: Of
    inputs: Alphabet
    names: tuple[Label, ...]
    values: Floats
    behind: Question | None = None
    """For profiles: the question about values, whose mean under each profile is `values`.

    About the people it still means their own values, which are random given the profile; about a
    population it means what its profiles have on average.
    """

    @classmethod
    def histogram(cls, inputs: Alphabet) -> Question:
        """Ask how many people have each value.

        >>> Question.histogram(Alphabet.of("ab")).values.tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        """
        return cls("histogram", inputs, inputs.labels, np.eye(len(inputs)))

    @classmethod
    def survey(cls, inputs: Alphabet, values: Iterable[Any]) -> Question:
        """Ask how many people have one of some values."""
        chosen = list(values)
        if not chosen:
            raise InputError("no value to count", remedy="name the value to count")
        column = np.zeros((len(inputs), 1))
        places = [inputs.index(value) for value in chosen]
        if len(set(places)) != len(places):
            raise InputError("a value is named twice", value=chosen, remedy="name each once")
        column[places] = 1.0
        name = (
            inputs.labels[places[0]]
            if len(places) == 1
            else ", ".join(str(inputs.labels[place]) for place in places)
        )
        return cls("survey", inputs, (name,), column)

    @classmethod
    def total(cls, inputs: Alphabet) -> Question:
        """Ask for the sum of all people's numbers."""
        return cls("sum", inputs, ("sum",), _points(inputs, "sum"))

    @classmethod
    def mean(cls, inputs: Alphabet) -> Question:
        """Ask for the mean of all people's numbers.

        >>> Question.mean(Alphabet.of([1, 2, 5])).values.ravel().tolist()
        [1.0, 2.0, 5.0]
        """
        return cls("mean", inputs, ("mean",), _points(inputs, "mean"))

    def reordered(self, inputs: Alphabet) -> Question:
        """Return the same question with the inputs in another order, that of a channel."""
        if self.inputs.labels == inputs.labels:
            return self
        order = inputs.positions_in(self.inputs, whose="the channel", other_name="the question")
        return Question(self.of, inputs, self.names, self.values[order])

    @property
    def is_histogram(self) -> bool:
        """Whether there is an answer for each input: `values` is the identity."""
        of_all = self.of in ("histogram", "profiles") and self.names == self.inputs.labels
        return self.behind is None and of_all

    @property
    def counts(self) -> bool:
        """Whether the answer counts inputs, so that it is at least 0 and at most all of them."""
        return self.behind is None and self.of in COUNTS

    @property
    def adds_several(self) -> bool:
        """Whether an answer adds up more than one input."""
        return bool((np.count_nonzero(self.values, axis=0) > 1).any())

    @property
    def is_single(self) -> bool:
        """Whether each answer counts the people of one input."""
        return self.counts and not self.adds_several

    @property
    def least(self) -> Floats:
        """The smallest number that one person can have, for each answer."""
        found: Floats = (self.behind or self).values.min(axis=0)
        return found

    @property
    def most(self) -> Floats:
        """The largest number that one person can have, for each answer."""
        found: Floats = (self.behind or self).values.max(axis=0)
        return found

    def list_names(self, which: npt.NDArray[np.bool_]) -> str:
        """Write the names of some answers."""
        names = [repr(name) for name, on in zip(self.names, which, strict=True) if on]
        shown = ", ".join(names[:_NAMED])
        more = len(names) - _NAMED
        return shown if more <= 0 else f"{shown} and {more} more"


def _points(inputs: Alphabet, of: str) -> Floats:
    """Return a column of the numbers that the labels are."""
    try:
        return points_of(inputs, of)[:, None]
    except InputError as error:
        raise InputError(
            f"the {of} needs numbers, but a label is not a number",
            value=error.value,
            remedy="ask for histogram or survey, or give the labels coordinates",
        ) from None


def ask(inputs: Alphabet, of: str, value: Any = None) -> Question:
    """Make the question that is meant: `value` is the value, or the list of values, to count.

    >>> ask(Alphabet.of(["no", "yes"]), "survey", "yes").values.ravel().tolist()
    [0.0, 1.0]
    """
    if of not in QUESTIONS:
        raise InputError("unknown question", value=of, remedy=f"ask for {', '.join(QUESTIONS)}")
    if of == "profiles":
        raise InputError(
            "the mechanism has no profiles",
            remedy="ask for histogram, survey, sum or mean",
        )
    if of != "survey":
        if value is not None:
            raise InputError(
                f"a value to count, but the question is {of}",
                value=value,
                remedy="ask for survey, or leave the value out",
            )
        return {
            "histogram": Question.histogram,
            "sum": Question.total,
            "mean": Question.mean,
        }[of](inputs)
    if value is None:
        raise InputError("no value to count", remedy="name the value to count: value=, or --value")
    several = isinstance(value, list | set | frozenset)
    return Question.survey(inputs, value if several else [value])
