"""Distributions of a number X: where its mass lies, as far as discretisation needs to know."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from liftlock.errors import InputError, extra
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot, exp

if TYPE_CHECKING:
    import numpy.typing as npt

_HALVINGS = 200
MOST_SIZE = 1e100
"""Squares of larger numbers, or of smaller differences than its inverse, leave the floats."""


@runtime_checkable
class Distribution(Protocol):
    """The distribution of a number."""

    @property
    def support(self) -> tuple[float, float]:
        """The smallest and the largest possible value; may be infinite."""
        ...

    def below(self, points: npt.ArrayLike) -> Floats:
        """Return P(X < x)."""
        ...

    def above(self, points: npt.ArrayLike) -> Floats:
        """Return P(X >= x), exact also where it is tiny."""
        ...

    def quantile(self, shares: npt.ArrayLike) -> Floats:
        """Return the value below which a share of the mass lies."""
        ...

    @property
    def kinks(self) -> tuple[float, ...]:
        """The finite places where the density is not smooth."""
        ...

    def describe(self) -> str:
        """Say which distribution it is."""
        ...


@runtime_checkable
class Smooth(Distribution, Protocol):
    """A distribution with a density."""

    def density(self, points: npt.ArrayLike) -> Floats:
        """Return the density."""
        ...


@dataclass(frozen=True)
class Parametric:
    """A distribution of `scipy.stats`, by name and parameters, or any object with cdf, sf, ppf.

    >>> bell = normal(50, 10)
    >>> bell.describe(), bell.support, float(bell.below(50))
    ('normal(50, 10)', (-inf, inf), 0.5)
    """

    title: str
    family: str
    arguments: tuple[float, ...] = ()
    loc: float = 0.0
    scale: float = 1.0
    given: Any = None
    """The distribution itself, when it was not named."""

    def __post_init__(self) -> None:
        fine = 1.0 / MOST_SIZE <= self.scale <= MOST_SIZE and abs(self.loc) <= MOST_SIZE
        if not fine:
            raise InputError(
                "the parameters of the distribution are too large, or too close, to square",
                value=self.title,
                remedy="measure them in another unit",
            )

    @cached_property
    def _distribution(self) -> Any:
        if self.given is not None:
            return self.given
        with extra("statistics"):
            import scipy.stats

        return getattr(scipy.stats, self.family)(*self.arguments, loc=self.loc, scale=self.scale)

    @property
    def support(self) -> tuple[float, float]:
        """The ends between which values lie."""
        ends = self._distribution.support()
        return float(ends[0]), float(ends[1])

    def below(self, points: npt.ArrayLike) -> Floats:
        """Return the distribution function."""
        return np.asarray(self._distribution.cdf(np.asarray(points, dtype=np.float64)))

    def above(self, points: npt.ArrayLike) -> Floats:
        """Return the survival function."""
        return np.asarray(self._distribution.sf(np.asarray(points, dtype=np.float64)))

    def quantile(self, shares: npt.ArrayLike) -> Floats:
        """Return the inverse of the distribution function."""
        with warnings.catch_warnings():
            # Some searches give up for tiny shares. Only edges depend on it: masses never do.
            warnings.simplefilter("ignore", RuntimeWarning)
            return np.asarray(self._distribution.ppf(np.asarray(shares, dtype=np.float64)))

    @property
    def kinks(self) -> tuple[float, ...]:
        """The ends of the support, and the tip of a Laplace distribution."""
        tip = (self.loc,) if self.family == "laplace" else ()
        return (*(end for end in self.support if np.isfinite(end)), *tip)

    def density(self, points: npt.ArrayLike) -> Floats:
        """Return the density."""
        return np.asarray(self._distribution.pdf(np.asarray(points, dtype=np.float64)))

    def describe(self) -> str:
        """Say which distribution it is."""
        return self.title


@dataclass(frozen=True)
class Mixture:
    """A mixture of normal distributions.

    Source: 000 Remark 2.

    >>> peaks = Mixture.of([(0.5, -1, 0.1), (0.5, 1, 0.1)])
    >>> float(peaks.below(0)), float(peaks.quantile(0.25).round(6))
    (0.5, -1.0)
    """

    weights: tuple[float, ...]
    means: tuple[float, ...]
    deviations: tuple[float, ...]

    def __post_init__(self) -> None:
        lengths = {len(self.weights), len(self.means), len(self.deviations)}
        if len(lengths) != 1 or not self.weights:
            raise InputError(
                "weights, means and deviations of a mixture differ in number",
                value=[len(self.weights), len(self.means), len(self.deviations)],
                remedy="give one of each for every component",
            )
        for name, numbers in (("weight", self.weights), ("deviation", self.deviations)):
            if not all(number > 0 for number in numbers):
                raise InputError(
                    f"a {name} of a mixture is not positive",
                    value=list(numbers),
                    remedy="leave the component out",
                )
        if not np.isfinite([*self.weights, *self.means, *self.deviations]).all():
            raise InputError("a number of a mixture is not finite", remedy="correct it")
        if abs(sum(self.weights) - 1.0) > 1e-9:
            raise InputError(
                "the weights of a mixture do not sum to 1",
                value=float(sum(self.weights)),
                remedy="divide them by their sum",
            )

    @classmethod
    def of(cls, components: Iterable[Sequence[float]]) -> Mixture:
        """Make a mixture from triples weight, mean, deviation."""
        triples = [tuple(float(part) for part in each) for each in components]
        if not triples:
            raise InputError("a mixture without components", remedy="give at least one")
        if any(len(each) != 3 for each in triples):
            raise InputError(
                "a component is not weight, mean and deviation", value=triples, remedy="give three"
            )
        weights, means, deviations = (tuple(column) for column in zip(*triples, strict=True))
        return cls(weights, means, deviations)

    @property
    def support(self) -> tuple[float, float]:
        """The whole line."""
        return -np.inf, np.inf

    def below(self, points: npt.ArrayLike) -> Floats:
        """Return the distribution function."""
        with extra("statistics"):
            from scipy.special import ndtr

        total: Floats = dot(ndtr(self._standard(points)), np.array(self.weights))
        return total

    def above(self, points: npt.ArrayLike) -> Floats:
        """Return the survival function."""
        with extra("statistics"):
            from scipy.special import ndtr

        total: Floats = dot(ndtr(-self._standard(points)), np.array(self.weights))
        return total

    @property
    def kinks(self) -> tuple[float, ...]:
        """None: it is smooth everywhere."""
        return ()

    def density(self, points: npt.ArrayLike) -> Floats:
        """Return the density."""
        scaled = np.array(self.weights) / (np.array(self.deviations) * np.sqrt(2 * np.pi))
        total: Floats = dot(exp(-0.5 * self._standard(points) ** 2), scaled)
        return total

    def quantile(self, shares: npt.ArrayLike) -> Floats:
        """Return the inverse of the distribution function, by bisection."""
        wanted = np.asarray(shares, dtype=np.float64)
        reach = 40.0 * max(self.deviations)
        low = np.full(wanted.shape, min(self.means) - reach)
        high = np.full(wanted.shape, max(self.means) + reach)
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            under = self.below(middle) < wanted
            low, high = np.where(under, middle, low), np.where(under, high, middle)
            if np.all(high - low <= 2e-16 * (np.abs(low) + np.abs(high))):
                break
        ends = np.where(wanted <= 0, -np.inf, np.inf)
        return np.where((wanted > 0) & (wanted < 1), high, ends)

    def describe(self) -> str:
        """Say which distribution it is."""
        many = len(self.weights)
        return f"a mixture of {many} normal distribution{'' if many == 1 else 's'}"

    def _standard(self, points: npt.ArrayLike) -> Floats:
        centred = np.asarray(points, dtype=np.float64)[..., None] - np.array(self.means)
        standard: Floats = centred / np.array(self.deviations)
        return standard


@dataclass(frozen=True, eq=False)
class Sample:
    """The distribution of a list of numbers: every value as often as it was seen.

    >>> seen = Sample.of([3, 1, 2, 2])
    >>> seen.below([2, 2.5]).tolist(), seen.support
    ([0.25, 0.75], (1.0, 3.0))
    """

    values: Floats
    """In ascending order."""

    @classmethod
    def of(cls, values: Any) -> Sample:
        """Check and sort numbers."""
        return cls(np.sort(read_numbers(values)))

    def __post_init__(self) -> None:
        if self.values[0] == self.values[-1]:
            raise InputError(
                "all values are the same",
                value=float(self.values[0]),
                remedy="their spread is unknown: add people, or give a distribution",
            )
        self.values.setflags(write=False)

    @property
    def support(self) -> tuple[float, float]:
        """The smallest and the largest value seen."""
        return float(self.values[0]), float(self.values[-1])

    def below(self, points: npt.ArrayLike) -> Floats:
        """Return the share of values below a point."""
        return np.asarray(np.searchsorted(self.values, points, side="left") / len(self.values))

    def above(self, points: npt.ArrayLike) -> Floats:
        """Return the share of values from a point on."""
        return 1.0 - self.below(points)

    def quantile(self, shares: npt.ArrayLike) -> Floats:
        """Return the smallest value with at least a share of the values up to it."""
        places = (
            np.ceil(np.asarray(shares, dtype=np.float64) * len(self.values)).astype(np.intp) - 1
        )
        return np.asarray(self.values[np.clip(places, 0, len(self.values) - 1)])

    @property
    def kinks(self) -> tuple[float, ...]:
        """None that matter: its cells are counted, not integrated."""
        return ()

    def describe(self) -> str:
        """Say which distribution it is."""
        return f"{len(self.values)} values"


@dataclass(frozen=True, eq=False)
class Histogram:
    """A distribution of bins: even inside each, so that a published table can serve as a prior.

    >>> wages = Histogram.of([0, 10, 30], [1, 1])
    >>> wages.below([5, 20]).tolist()
    [0.25, 0.75]
    """

    edges: Floats
    shares: Floats

    @classmethod
    def of(cls, edges: Any, counts: Any) -> Histogram:
        """Make the distribution from the edges of the bins and their counts."""
        ends, sizes = read_numbers(edges), read_numbers(counts)
        if len(ends) != len(sizes) + 1:
            raise InputError(
                f"{len(ends)} edges for {len(sizes)} bins",
                remedy="give one edge more than there are bins",
            )
        if not (np.diff(ends) > 0).all():
            raise InputError("the edges of bins do not ascend", remedy="sort them")
        if sizes.min() < 0 or sizes.sum() <= 0:
            raise InputError(
                "counts of bins are not 0 or more, with one above 0", remedy="correct them"
            )
        return cls(ends, sizes / sizes.sum())

    @property
    def support(self) -> tuple[float, float]:
        """The ends of the bins that are not empty."""
        used = np.flatnonzero(self.shares)
        return float(self.edges[used[0]]), float(self.edges[used[-1] + 1])

    def below(self, points: npt.ArrayLike) -> Floats:
        """Return the distribution function."""
        rising = np.concatenate([[0.0], np.cumsum(self.shares)])
        where = np.asarray(points, dtype=np.float64)
        return np.asarray(np.interp(where, self.edges, rising / rising[-1]), dtype=np.float64)

    def above(self, points: npt.ArrayLike) -> Floats:
        """Return the survival function."""
        falling = np.concatenate([np.cumsum(self.shares[::-1])[::-1], [0.0]])
        where = np.asarray(points, dtype=np.float64)
        return np.asarray(np.interp(where, self.edges, falling / falling[0]), dtype=np.float64)

    @property
    def kinks(self) -> tuple[float, ...]:
        """The edges of the bins."""
        return tuple(self.edges.tolist())

    def density(self, points: npt.ArrayLike) -> Floats:
        """Return the density."""
        where = np.asarray(points, dtype=np.float64)
        heights = np.concatenate([[0.0], self.shares / np.diff(self.edges), [0.0]])
        return np.asarray(heights[np.searchsorted(self.edges, where, side="right")])

    def quantile(self, shares: npt.ArrayLike) -> Floats:
        """Return the inverse of the distribution function."""
        wanted = np.asarray(shares, dtype=np.float64)
        ends = np.cumsum(self.shares) / self.shares.sum()
        bins = np.clip(np.searchsorted(ends, wanted, side="left"), 0, len(ends) - 1)
        used = np.flatnonzero(self.shares)
        bins = np.clip(bins, used[0], used[-1])
        start = ends[bins] - self.shares[bins]
        inside = np.clip((wanted - start) / self.shares[bins], 0.0, 1.0)
        return np.asarray(self.edges[bins] + inside * np.diff(self.edges)[bins])

    def describe(self) -> str:
        """Say which distribution it is."""
        return f"a histogram of {len(self.shares)} bins"


def read_numbers(values: Any) -> Floats:
    """Return a column of finite numbers as float64, or say which one is not.

    >>> read_numbers([1, "2.5"]).tolist()
    [1.0, 2.5]
    >>> read_numbers([1, float("nan")])
    Traceback (most recent call last):
    liftlock.errors.InputError: not a finite number at value 2: nan; leave it out
    """
    if isinstance(values, str | bytes):
        raise InputError("one text instead of numbers", value=values, remedy="put them in a list")
    try:
        column = np.asarray(values if hasattr(values, "__len__") else list(values))
    except (TypeError, ValueError):
        raise InputError("values are not a column of numbers", remedy="give a plain list") from None
    if column.dtype.kind not in "iufUSO" or column.ndim != 1:
        raise InputError(
            "values are not a column of numbers", value=column.shape, remedy="give a plain list"
        )
    try:
        numbers = column.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise _not_a_number_error(column) from None
    if not len(numbers):
        raise InputError("no values", remedy="give at least two different numbers")
    bad = np.flatnonzero(~np.isfinite(numbers))
    if len(bad):
        raise InputError(
            "not a finite number",
            where=f"value {int(bad[0]) + 1}",
            value=float(numbers[bad[0]]),
            remedy=f"leave it out ({len(bad)} of {len(numbers)} values are not finite)"
            if len(bad) > 1
            else "leave it out",
        )
    return numbers


def _not_a_number_error(column: npt.NDArray[Any]) -> InputError:
    """Find the first value that is not a number."""
    place, value = 0, column[0]
    for place, value in enumerate(column):  # noqa: B007 - used after the loop
        try:
            float(value)
        except (TypeError, ValueError, OverflowError):
            break
    return InputError(
        "a value is not a number",
        where=f"value {place + 1}",
        value=str(value),
        remedy="leave it out, or correct it",
    )


# --- distributions by name ----------------------------------------------------------------------


def normal(mean: float, sd: float) -> Parametric:
    """Return the normal distribution."""
    _require_finite("normal", mean=mean)
    _require_positive("normal", sd=sd)
    return Parametric(f"normal({mean:g}, {sd:g})", "norm", (), float(mean), float(sd))


def uniform(low: float, high: float) -> Parametric:
    """Return the uniform distribution between two numbers."""
    _require_finite("uniform", low=low, high=high)
    if not high > low:
        raise InputError(
            "uniform: the upper end is not above the lower", value=[low, high], remedy="swap them"
        )
    return Parametric(
        f"uniform({low:g}, {high:g})", "uniform", (), float(low), float(high) - float(low)
    )


def beta(a: float, b: float, low: float = 0.0, high: float = 1.0) -> Parametric:
    """Return the beta distribution, stretched to an interval."""
    _require_finite("beta", low=low, high=high)
    _require_positive("beta", a=a, b=b, width=high - low)
    title = (
        f"beta({a:g}, {b:g})" if (low, high) == (0, 1) else f"beta({a:g}, {b:g}, {low:g}, {high:g})"
    )
    return Parametric(title, "beta", (float(a), float(b)), float(low), float(high) - float(low))


def lognormal(mu: float, sigma: float) -> Parametric:
    """Return the distribution of e^Z for a normal Z of mean mu and deviation sigma."""
    _require_finite("lognormal", mu=mu)
    _require_positive("lognormal", sigma=sigma)
    with np.errstate(over="ignore"):
        scale = float(exp(mu))
    return Parametric(f"lognormal({mu:g}, {sigma:g})", "lognorm", (float(sigma),), 0.0, scale)


def laplace(mean: float, scale: float) -> Parametric:
    """Return the Laplace distribution."""
    _require_finite("laplace", mean=mean)
    _require_positive("laplace", scale=scale)
    return Parametric(f"laplace({mean:g}, {scale:g})", "laplace", (), float(mean), float(scale))


def from_scipy(distribution: Any) -> Parametric:
    """Take any continuous distribution of scipy, such as ``scipy.stats.gamma(2)``."""
    try:
        usable = all(callable(getattr(distribution, name)) for name in ("cdf", "sf", "ppf"))
        distribution.support()
    except (AttributeError, TypeError):
        usable = False
    if not usable:
        raise InputError(
            "not a distribution of scipy.stats with fixed parameters",
            value=type(distribution).__name__,
            remedy="give something like scipy.stats.gamma(2, scale=3)",
        )
    if not callable(getattr(getattr(distribution, "dist", distribution), "pdf", None)):
        raise InputError(
            "the distribution is discrete",
            value=type(distribution).__name__,
            remedy="make a Prior of its numbers instead",
        )
    family = getattr(distribution, "dist", distribution)
    shown = [f"{value:g}" for value in getattr(distribution, "args", ())]
    shown += [f"{key}={value:g}" for key, value in getattr(distribution, "kwds", {}).items()]
    name = getattr(family, "name", None) or type(family).__name__
    return Parametric(f"{name}({', '.join(shown)})", str(name), given=distribution)


DISTRIBUTIONS: Mapping[str, tuple[Callable[..., Parametric], str]] = {
    "normal": (normal, "normal(MEAN, SD)"),
    "uniform": (uniform, "uniform(LOW, HIGH)"),
    "beta": (beta, "beta(A, B[, LOW, HIGH])"),
    "lognormal": (lognormal, "lognormal(MU, SIGMA)"),
    "laplace": (laplace, "laplace(MEAN, SCALE)"),
}
"""Distributions that text can name."""

_CALL = re.compile(r"^\s*([A-Za-z][\w-]*)\s*\(([^()]*)\)\s*$")


def parse_distribution(text: str) -> Parametric:
    """Read a distribution such as ``normal(50, 10)``.

    >>> parse_distribution("uniform(0, 10)").support
    (0.0, 10.0)
    """
    forms = ", ".join(form for _, form in DISTRIBUTIONS.values())
    found = _CALL.match(text)
    if found is None:
        raise InputError("not a distribution", value=text, remedy=f"write one of {forms}")
    name, inside = found.group(1).lower(), found.group(2)
    if name not in DISTRIBUTIONS:
        raise InputError("unknown distribution", value=name, remedy=f"use one of {forms}")
    make, form = DISTRIBUTIONS[name]
    try:
        numbers = [float(part) for part in inside.split(",")]
        if not np.isfinite(numbers).all():
            raise ValueError
        return make(*numbers)
    except InputError:
        raise
    except (TypeError, ValueError):
        raise InputError(
            "wrong parameters of a distribution", value=text, remedy=f"write {form}"
        ) from None


def _require_finite(distribution: str, **numbers: float) -> None:
    for name, value in numbers.items():
        if not np.isfinite(value):
            raise InputError(
                f"{distribution}: {name} is not a finite number", value=value, remedy="correct it"
            )


def _require_positive(distribution: str, **numbers: float) -> None:
    for name, value in numbers.items():
        if not (np.isfinite(value) and value > 0):
            raise InputError(
                f"{distribution}: {name} is not positive", value=value, remedy="give more than 0"
            )
