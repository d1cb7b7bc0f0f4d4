"""All utilities by name, so that text (a command line, a file) can say them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from liftlock.alphabet import Alphabet
from liftlock.errors import InputError
from liftlock.registry import Registry, name_of
from liftlock.utility.distortion import Distortion
from liftlock.utility.mean import Mean
from liftlock.utility.own import Own
from liftlock.utility.symmetric import Guess, Histogram, MutualInformation
from liftlock.utility.utility import Utility


@dataclass(frozen=True)
class Entry:
    """One kind of utility: its key, how to make it for an alphabet, and what it says."""

    key: str
    make: Callable[[Alphabet], Utility]
    says: str


REGISTRY: Registry[Entry] = Registry(
    "kind of utility",
    "liftlock.utilities",
    (
        Entry(
            "mutual-information",
            lambda _: MutualInformation(),
            "mutual information of output and X, in nats",
        ),
        Entry("histogram", lambda _: Histogram(), "squared error of a histogram, per person"),
        Entry("mean", Mean.of, "squared error of a numeric X, per person"),
        Entry("guess", lambda _: Guess(), "how often the best guess of X is wrong"),
        Entry(
            "hamming",
            lambda inputs: Distortion.named("hamming", inputs),
            "how often the output is not X",
        ),
        Entry(
            "absolute",
            lambda inputs: Distortion.named("absolute", inputs),
            "mean distance of the output from X",
        ),
        Entry(
            "squared",
            lambda inputs: Distortion.named("squared", inputs),
            "mean squared distance of the output from X",
        ),
    ),
    names=lambda entry: [entry.key],
    fault=lambda entry: "" if isinstance(entry, Entry) else "give a liftlock.utility.Entry",
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
        return Own(utility, len(inputs), name_of(utility))
    raise InputError(
        "not a utility",
        value=name_of(utility) if isinstance(utility, type) else utility,
        remedy=f"name one ({', '.join(REGISTRY)}), make one of liftlock.utility, or give a concave "
        "function of a posterior",
    )


def _entry(name: str) -> Entry:
    try:
        return REGISTRY[name.strip().lower().replace("_", "-")]
    except KeyError:
        raise InputError(
            "unknown utility", value=name, remedy=f"use one of {', '.join(REGISTRY)}"
        ) from None
