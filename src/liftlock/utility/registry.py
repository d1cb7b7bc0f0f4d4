"""All utilities by name, so that text (a command line, a file) can say them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from liftlock.alphabet import Alphabet
from liftlock.errors import InputError
from liftlock.utility.distortion import Distortion
from liftlock.utility.mean import Mean
from liftlock.utility.symmetric import Guess, Histogram, MutualInformation
from liftlock.utility.utility import Utility


@dataclass(frozen=True)
class Entry:
    """One kind of utility: how to make it for an alphabet, and what it says."""

    make: Callable[[Alphabet], Utility]
    says: str


REGISTRY: Mapping[str, Entry] = {
    "mutual-information": Entry(
        lambda _: MutualInformation(), "mutual information of output and X, in nats"
    ),
    "histogram": Entry(lambda _: Histogram(), "squared error of a histogram, per person"),
    "mean": Entry(Mean.of, "squared error of a numeric X, per person"),
    "guess": Entry(lambda _: Guess(), "how often the best guess of X is wrong"),
    "hamming": Entry(
        lambda inputs: Distortion.named("hamming", inputs), "how often the output is not X"
    ),
    "absolute": Entry(
        lambda inputs: Distortion.named("absolute", inputs), "mean distance of the output from X"
    ),
    "squared": Entry(
        lambda inputs: Distortion.named("squared", inputs),
        "mean squared distance of the output from X",
    ),
}
"""Every utility that needs nothing but the alphabet, by name."""


def make_utility(utility: str | Utility, inputs: Alphabet) -> Utility:
    """Make a utility from its name for the symbols of X; one that is made already passes through.

    >>> make_utility("mean", Alphabet.of([1, 2, 3])).title
    'squared error of X (mean, per person)'
    """
    if not isinstance(utility, str):
        return utility
    try:
        entry = REGISTRY[utility.strip().lower().replace("_", "-")]
    except KeyError:
        raise InputError(
            "unknown utility", value=utility, remedy=f"use one of {', '.join(REGISTRY)}"
        ) from None
    return entry.make(inputs)
