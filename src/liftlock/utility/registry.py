"""All utilities by name, so that text (a command line, a file) can say them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from liftlock._runtime.registry import Registry, name_of
from liftlock.errors import InputError
from liftlock.model.alphabet import Alphabet
from liftlock.utility.base import Utility
from liftlock.utility.custom import CustomUtility
from liftlock.utility.distortion import Distortion
from liftlock.utility.frequencies import Frequencies
from liftlock.utility.mean import Mean
from liftlock.utility.symmetric import Guess, Histogram, MutualInformation


@dataclass(frozen=True)
class UtilityKind:
    """One kind of utility: its key, how to make it for an alphabet, and what it says."""

    key: str
    make: Callable[[Alphabet], Utility]
    summary: str


REGISTRY: Registry[UtilityKind] = Registry(
    "kind of utility",
    "liftlock.utilities",
    (
        UtilityKind(
            "mutual-information",
            lambda _: MutualInformation(),
            "mutual information of output and X, in nats",
        ),
        UtilityKind(
            "frequencies",
            lambda _: Frequencies(),
            "variance of unbiased shares, summed over values, per person",
        ),
        UtilityKind(
            "frequencies-worst",
            lambda _: Frequencies(worst=True),
            "variance of the unbiased share of the worst value, per person",
        ),
        UtilityKind(
            "histogram",
            lambda _: Histogram(),
            "squared error of a histogram that leans on the prior, per person",
        ),
        UtilityKind("mean", Mean.of, "squared error of a numeric X, per person"),
        UtilityKind("guess", lambda _: Guess(), "how often the best guess of X is wrong"),
        UtilityKind(
            "hamming",
            lambda inputs: Distortion.from_name("hamming", inputs),
            "how often the output is not X",
        ),
        UtilityKind(
            "absolute",
            lambda inputs: Distortion.from_name("absolute", inputs),
            "mean distance of the output from X",
        ),
        UtilityKind(
            "squared",
            lambda inputs: Distortion.from_name("squared", inputs),
            "mean squared distance of the output from X",
        ),
        UtilityKind(
            "distance",
            lambda inputs: Distortion.from_name("distance", inputs),
            "mean distance of the output from X, a point such as (3, 5)",
        ),
    ),
    names=lambda entry: [entry.key],
    fault=lambda entry: (
        "" if isinstance(entry, UtilityKind) else "give a liftlock.utility.UtilityKind"
    ),
)
"""Every utility that needs nothing but the alphabet, by name."""


def make_utility(utility: object, inputs: Alphabet) -> Utility:
    """Make a utility for the symbols of X, from its name or from a concave function of a posterior.

    One that is made already passes through.

    >>> make_utility("mean", Alphabet.of([1, 2, 3])).title
    'squared error of X (mean, per person)'
    >>> make_utility(lambda v: 1 - (v**2).sum(), Alphabet.of([1, 2])).name
    'liftlock.utility.registry.<lambda>'
    """
    if isinstance(utility, str):
        return _entry(utility).make(inputs)
    if all(hasattr(utility, name) for name in ("name", "title", "costs", "slopes")):
        return cast("Utility", utility)
    if callable(utility) and not isinstance(utility, type):
        return CustomUtility(utility, len(inputs), name_of(utility))
    raise InputError(
        "not a utility",
        value=name_of(utility) if isinstance(utility, type) else utility,
        remedy=f"name one ({', '.join(REGISTRY)}), make one of liftlock.utility, or give a concave "
        "function of a posterior",
    )


def _entry(name: str) -> UtilityKind:
    try:
        return REGISTRY[name.strip().lower().replace("_", "-")]
    except KeyError:
        raise InputError(
            "unknown utility", value=name, remedy=f"use one of {', '.join(REGISTRY)}"
        ) from None
