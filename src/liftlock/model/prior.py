"""A prior: what is known about a person's value before anything is released, as exact counts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, overload

import numpy as np

from liftlock.errors import CountError, InputError, LabelError
from liftlock.exact.fingerprint import fingerprint, integer_to_json
from liftlock.exact.integers import Floats
from liftlock.exact.numbers import exact
from liftlock.model.alphabet import Alphabet, Label, plain_label
from liftlock.model.context import Context

if TYPE_CHECKING:
    from liftlock.model.prior_sets import Intervals


RAREST = -300
"""The power of ten below which a probability that is read is refused: floats end a little lower."""


@dataclass(frozen=True)
class Prior(Context):
    """A probability distribution on an alphabet: integer counts over their total.

    As a context it means that the secret is the value itself (S = X).

    >>> prior = Prior.from_counts({"none": 700, "cold": 200, "flu": 100})
    >>> prior["flu"], prior.total, prior.smallest
    (Fraction(1, 10), 1000, Fraction(1, 10))
    >>> prior == Prior.from_probabilities({"none": "0.7", "cold": 0.2, "flu": "10%"})
    True
    """

    kind: ClassVar[Literal["prior"]] = "prior"
    alphabet: Alphabet
    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.counts) != len(self.alphabet):
            raise CountError(
                f"{len(self.counts)} counts for {len(self.alphabet)} labels",
                remedy="give one count per label",
            )
        for label, count in zip(self.alphabet.labels, self.counts, strict=True):
            if count < 0:
                raise CountError(
                    "negative count",
                    where=f"label {label!r}",
                    value=count,
                    remedy="give counts of 0 or more",
                )
        if self.total == 0:
            raise CountError("all counts are 0", remedy="give at least one positive count")

    # --- making one -----------------------------------------------------------------------------

    @classmethod
    def from_counts(cls, counts: Mapping[Any, Any] | Iterable[tuple[Any, Any]]) -> Prior:
        """Make a prior from a mapping label -> count; any exact numbers of 0 or more."""
        pairs = list(counts.items() if isinstance(counts, Mapping) else counts)
        alphabet = Alphabet.of(label for label, _ in pairs)
        numbers = [exact(value, name=f"count of {label!r}") for label, value in pairs]
        return cls(alphabet, common_integers(numbers)).check_masses()

    @classmethod
    def from_probabilities(
        cls,
        probabilities: Mapping[Any, Any] | Iterable[tuple[Any, Any]],
        *,
        normalise: bool = False,
    ) -> Prior:
        """Make a prior from a mapping label -> probability, which must sum to 1 exactly.

        With ``normalise=True`` any positive sum is accepted and divided out.

        >>> Prior.from_probabilities({"a": "0.5", "b": "0.4"})
        Traceback (most recent call last):
        liftlock.errors.CountError: probabilities do not sum to 1: '0.9'; ...
        """
        pairs = list(probabilities.items() if isinstance(probabilities, Mapping) else probabilities)
        alphabet = Alphabet.of(label for label, _ in pairs)
        numbers = [exact(value, name=f"probability of {label!r}") for label, value in pairs]
        total = sum(numbers, Fraction(0))
        if total != 1 and not normalise:
            raise CountError(
                "probabilities do not sum to 1",
                value=f"{float(total):.15g}",
                remedy="correct them, or give normalise=True",
            )
        return cls(alphabet, common_integers(numbers)).check_masses()

    @overload
    @classmethod
    def from_data(
        cls,
        values: Iterable[Any],
        *,
        smoothing: object = 0,
        labels: Iterable[Any] | None = None,
        confidence: None = None,
    ) -> Prior: ...

    @overload
    @classmethod
    def from_data(
        cls,
        values: Iterable[Any],
        *,
        smoothing: object = 0,
        labels: Iterable[Any] | None = None,
        confidence: object,
    ) -> Intervals: ...

    @classmethod
    def from_data(
        cls,
        values: Iterable[Any],
        *,
        smoothing: object = 0,
        labels: Iterable[Any] | None = None,
        confidence: object = None,
    ) -> Prior | Intervals:
        """Count values; `smoothing` is added to every count (1 is Laplace, 1/2 Jeffreys).

        `labels` declares the whole alphabet, so that symbols not seen can be smoothed too.

        With a `confidence` the result is a set of priors, `Intervals`, that contains the true
        prior with at least that probability, if the values are independent draws from it. It
        needs `labels`: a set that leaves out what exists but was not seen cannot contain the truth.

        >>> Prior.from_data(["a", "b", "a"], smoothing=1, labels=["a", "b", "c"]).counts
        (3, 2, 1)
        >>> near = Prior.from_data(["no"] * 90 + ["yes"] * 10, labels=["no", "yes"], confidence=0.9)
        >>> [f"{float(low):.3f} to {float(high):.3f}" for low, high in zip(near.lower, near.upper)]
        ['0.836 to 0.945', '0.055 to 0.164']
        """
        tally = _tally(values)
        if confidence is not None and labels is None:
            raise LabelError(
                "a confidence needs labels",
                remedy="declare all labels with labels=, including those not observed",
            )
        if labels is None:
            if not tally:
                raise CountError("no values", remedy="give at least one value")
            alphabet = Alphabet.of(sort_labels(tally))
        else:
            alphabet = Alphabet.of(labels)
            for value in tally:
                if value not in alphabet:
                    raise LabelError(
                        "value outside the declared labels",
                        value=value,
                        remedy="add it to labels",
                    )
        extra = exact(smoothing, name="smoothing")
        if extra < 0:
            raise CountError("negative smoothing", value=smoothing, remedy="use 0 or more")
        if confidence is not None:
            from liftlock.model.prior_sets import Intervals  # which is made of priors

            if extra:
                raise CountError(
                    "smoothing with a confidence",
                    value=smoothing,
                    remedy="leave one out: intervals use the raw counts",
                )
            seen = {label: tally[label] for label in alphabet.labels}
            return Intervals.from_counts(seen, confidence=confidence)
        counts = common_integers([tally[label] + extra for label in alphabet.labels])
        return cls(alphabet, counts).check_masses()

    @classmethod
    def from_estimate(cls, estimate: Any, confidence: object = "0.99") -> Intervals:
        """Return the priors that the reports behind an estimate allow, for the next round.

        It is a set, never a point: the shares of the population are in it with this confidence over
        the reports, whatever they are, if those who reported and those who will be asked are
        independent draws from one population, nobody is asked in both rounds, and the numbers of
        reports were fixed beforehand (whoever looks repeatedly loses it). A mechanism for the set
        keeps its budget under the true prior with that confidence; one for the estimate
        itself hardly ever does.

        >>> import liftlock as ll
        >>> coin = ll.design(ll.Prior.uniform(["no", "yes"]), ll.LDP("1"), method="k-rr")
        >>> found = coin.estimate(["yes"] * 400 + ["no"] * 600)
        >>> print(ll.Prior.from_estimate(found).describe())
        every prior within intervals on 2 symbols, which hold the true one with confidence 99 % ...
        """
        if confidence is None:
            raise InputError(
                "an estimate is not a prior: it is off by chance, and a mechanism designed for it "
                "leaks more than its budget under the true prior (in 150 of 150 simulated rounds)",
                remedy="give a confidence, such as 0.99, for the set of priors that the reports "
                "allow",
            )
        if not hasattr(estimate, "likely_priors"):
            raise InputError(
                "not an estimate",
                value=type(estimate).__name__,
                remedy="give what Mechanism.estimate returns",
            )
        found: Intervals = estimate.likely_priors(confidence)
        return found

    @classmethod
    def uniform(cls, labels: Iterable[Any]) -> Prior:
        """Give every label the same probability."""
        alphabet = Alphabet.of(labels)
        return cls(alphabet, (1,) * len(alphabet))

    @classmethod
    def mixture(cls, priors: Sequence[Prior], weights: Sequence[object]) -> Prior:
        """Mix priors over the same labels with weights that sum to 1."""
        if not priors or len(priors) != len(weights):
            raise CountError(
                f"{len(priors)} priors and {len(weights)} weights",
                remedy="give one weight for each prior",
            )
        shares = [exact(weight, name="mixture weight") for weight in weights]
        if min(shares) < 0 or sum(shares) != 1:
            raise CountError(
                "mixture weights are not a distribution",
                value=[str(share) for share in shares],
                remedy="weights are 0 or more and sum to 1",
            )
        alphabet = priors[0].alphabet
        total = [Fraction(0)] * len(alphabet)
        for prior, share in zip(priors, shares, strict=True):
            aligned = prior.reordered(alphabet)
            total = [t + share * p for t, p in zip(total, aligned.fractions, strict=True)]
        return cls(alphabet, common_integers(total)).check_masses()

    def restrict(self, labels: Iterable[Any] | None = None) -> Prior:
        """Condition on a subset of the labels (by default those with positive probability)."""
        keep = (
            [label for label, count in zip(self.labels, self.counts, strict=True) if count]
            if labels is None
            else list(labels)
        )
        indices = [self.alphabet.index(label) for label in keep]
        points = self.alphabet.coordinates
        alphabet = Alphabet.of(
            (self.labels[i] for i in indices),
            None if points is None else [points[i] for i in indices],
        )
        return Prior(alphabet, tuple(self.counts[i] for i in indices))

    def smoothed(self, amount: object) -> Prior:
        """Add the same amount to every count."""
        extra = exact(amount, name="smoothing")
        counts = common_integers([count + extra for count in self.counts])
        return Prior(self.alphabet, counts).check_masses()

    def reordered(self, alphabet: Alphabet) -> Prior:
        """Return the same prior in the order of another alphabet with the same labels."""
        if alphabet.labels == self.alphabet.labels:
            return self
        order = alphabet.positions_in(self.alphabet, whose="the channel", other_name="the prior")
        return Prior(alphabet, tuple(self.counts[i] for i in order))

    # --- looking at it --------------------------------------------------------------------------

    @cached_property
    def total(self) -> int:
        """The sum of the counts."""
        return sum(self.counts)

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels in order."""
        return self.alphabet.labels

    @cached_property
    def fractions(self) -> tuple[Fraction, ...]:
        """The probabilities as exact fractions."""
        return tuple(Fraction(count, self.total) for count in self.counts)

    def __getitem__(self, label: Label) -> Fraction:
        return self.fractions[self.alphabet.index(label)]

    def floats(self) -> Floats:
        """Return the probabilities as float64, for display and drafts."""
        return np.array([float(value) for value in self.fractions])

    @cached_property
    def smallest(self) -> Fraction:
        """The smallest positive probability (P_min of the papers)."""
        return min(value for value in self.fractions if value)

    @property
    def symbol_ranges(self) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
        """The least and the most probability of each symbol, which are the same here."""
        return self.fractions, self.fractions

    @property
    def inputs(self) -> Alphabet:
        """The channel inputs this context speaks of."""
        return self.alphabet

    @property
    def prior(self) -> Prior:
        """The distribution of the data X, as of a joint: itself."""
        return self

    @property
    def secret_prior(self) -> Prior:
        """The distribution of the secret S, as of a joint: itself."""
        return self

    @cached_property
    def reduced(self) -> tuple[int, ...]:
        """The counts divided by their greatest common divisor."""
        divisor = math.gcd(*self.counts)
        return tuple(count // divisor for count in self.counts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Prior):
            return NotImplemented
        return self.alphabet == other.alphabet and self.reduced == other.reduced

    def __hash__(self) -> int:
        return hash((self.alphabet.labels, self.reduced))

    def __str__(self) -> str:
        shown = [
            f"{label} {float(value):.4g}"
            for label, value in zip(self.labels[:6], self.fractions[:6], strict=True)
        ]
        if len(self.labels) > 6:
            shown.append(f"... {len(self.labels)} symbols")
        return "prior: " + ", ".join(shown)

    @property
    def variance_within_bins(self) -> float:
        """The mean variance of X inside its symbol: 0, as a symbol is a value and not a cell."""
        return 0.0

    def describe(self) -> str:
        """Say in a few words what kind of context this is."""
        return f"a prior on {len(self.alphabet)} symbols"

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of the canonical form; equal priors have equal fingerprints."""
        return fingerprint(
            ["prior", self.alphabet.to_data(), [str(count) for count in self.reduced]]
        )

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "kind": "prior",
            "labels": self.alphabet.to_data(),
            "counts": [integer_to_json(count) for count in self.counts],
        }

    @classmethod
    def from_json(cls, data: Any) -> Prior:
        """Read the JSON form."""
        if not isinstance(data, Mapping):
            raise CountError("a prior is not an object", value=data)
        alphabet = Alphabet.from_data(data.get("labels"))
        return cls(alphabet, integers_from_json(data.get("counts"), "counts")).check_masses()

    def check_masses(self) -> Self:
        """Return itself, unless a probability is too small to be worked with."""
        refuse_too_rare(self.counts, lambda x: f"label {self.labels[x]!r}")
        return self


def check_table(
    counts: Sequence[Sequence[int]], rows: Alphabet, columns: Alphabet, names: tuple[str, str]
) -> None:
    """Refuse a table of counts that does not fit its rows and columns, or has a negative cell.

    `names` is what a row and a column are called.
    """
    row_name, column_name = names
    if len(counts) != len(rows):
        raise CountError(f"{len(counts)} rows for {len(rows)} {row_name}s")
    for label, row in zip(rows.labels, counts, strict=True):
        if len(row) != len(columns):
            raise CountError(
                f"{len(row)} counts for {len(columns)} {column_name}s",
                where=f"{row_name} {label!r}",
            )
        if min(row, default=0) < 0:
            place = next(x for x, count in enumerate(row) if count < 0)
            raise CountError(
                "negative count",
                where=f"{row_name} {label!r}, {column_name} {columns.labels[place]!r}",
                value=row[place],
                remedy="give counts of 0 or more",
            )


def refuse_too_rare(counts: Sequence[int], where: Callable[[int], str]) -> None:
    """Refuse counts of which one is lost beside the others; `where` names the place of a count.

    Exact arithmetic could bear them, but designs work in floats, where they would become 0.
    """
    total = sum(counts)
    smallest = min((count for count in counts if count > 0), default=0)
    if not smallest or total <= smallest * 10**-RAREST:
        return
    power = math.floor(math.log10(smallest) - math.log10(total))
    raise CountError(
        f"a probability below 1e{RAREST}",
        where=where(counts.index(smallest)),
        value=f"about 1e{power}",
        remedy="check this count and the largest one, merge the value with others, or leave it out",
    )


def integers_from_json(data: Any, name: str) -> tuple[int, ...]:
    """Read a JSON list of integers (large ones may be text)."""
    if not isinstance(data, list):
        raise CountError(f"{name} is not a list", value=data)
    if set(map(type, data)) <= {int}:  # a large table has millions
        return tuple(data)
    numbers = [exact(value, name=name) for value in data]
    for number in numbers:
        if number.denominator != 1:
            raise CountError(f"{name} holds a number that is not whole", value=str(number))
    return tuple(int(number) for number in numbers)


def _tally(values: Iterable[Any]) -> Counter[Label]:
    """Count values by the labels that they will have (a Fraction becomes text, say)."""
    try:
        given = Counter(values)
    except TypeError as error:
        raise LabelError("a value cannot be a label", value=str(error)) from None
    tally: Counter[Label] = Counter()
    for value, count in given.items():
        tally[plain_label(value)] += count
    return tally


def count_columns(
    rows: Sequence[Any],
    columns: Sequence[Any],
    *,
    smoothing: object = 0,
    labels: Iterable[Any] | None = None,
) -> tuple[Alphabet, Alphabet, list[list[Fraction]]]:
    """Count pairs of two columns of a table: the labels of both, and how often each pair is there.

    `smoothing` is added to every count; `labels` declares the labels of the second column.

    >>> count_columns(["f", "m", "f"], [1, 2, 1])[2] == [[2, 0], [0, 1]]
    True
    """
    if len(rows) != len(columns):
        raise CountError(
            f"columns of {len(rows)} and {len(columns)} rows",
            remedy="give two columns of the same table",
        )
    if not rows:
        raise CountError("no rows", remedy="give at least one row")
    extra = exact(smoothing, name="smoothing")
    if extra < 0:
        raise CountError("negative smoothing", value=smoothing, remedy="use 0 or more")
    names = Alphabet.of(sort_labels({plain_label(name) for name in rows}))
    seen = sort_labels({plain_label(value) for value in columns}) if labels is None else labels
    values = Alphabet.of(seen)
    cells = np.zeros((len(names), len(values)), dtype=np.int64)
    np.add.at(cells, (names.encode(rows), values.encode(columns)), 1)
    return names, values, [[int(cell) + extra for cell in row] for row in cells]


def common_integers(numbers: Sequence[Fraction]) -> tuple[int, ...]:
    """Scale fractions by their common denominator."""
    scale = math.lcm(*(number.denominator for number in numbers))
    if scale == 1:
        return tuple(number.numerator for number in numbers)
    return tuple(int(number * scale) for number in numbers)


def sort_labels(values: Iterable[Any]) -> list[Any]:
    """Sort labels; labels of different types are grouped by type."""
    items = list(values)
    try:
        return sorted(items)
    except TypeError:
        return sorted(items, key=lambda item: (type(item).__name__, str(item)))
