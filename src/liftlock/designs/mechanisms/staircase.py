"""The staircase: the best mechanism under local differential privacy for a given utility."""

from __future__ import annotations

from dataclasses import replace

from liftlock.context import Context
from liftlock.designs.base import Design, Draft
from liftlock.designs.mechanisms.optimal import optimal
from liftlock.notions.base import Notion
from liftlock.utility.utility import Utility


def staircase(
    context: Context,
    notion: Notion,
    *,
    utility: Utility | None = None,
    gap: float = 1e-6,
    seconds: float | None = None,
) -> Draft:
    """Find the channel of the least cost among those whose likelihoods differ by at most e^epsilon.

    Each output has likelihoods m and e^epsilon m only, hence the name. Expected distortions are a
    linear programme with one extra variable for each output; other utilities are a linear programme
    over staircases, all of them listed up to 16 symbols. With a joint, what is protected is the
    secret, and the likelihoods are P(y | s).

    An input of probability 0 answers like the most likely input, which keeps every ratio.

    Source: 000 Def 1, section V; 001 section V, where k-ary randomised response is called optimal.

    >>> from liftlock.notions.ldp import LDP
    >>> from liftlock.prior import Prior
    >>> from liftlock.utility.histogram import Histogram
    >>> draft = staircase(Prior.uniform(range(5)), LDP("1"), utility=Histogram())
    >>> round(draft.optimality.cost, 4), len(draft.outputs)
    (0.7477, 5)
    """
    draft = optimal(context, notion, utility=utility, gap=gap, seconds=seconds)
    return replace(draft, method=DESIGN.key)


DESIGN = Design(
    key="staircase",
    make=staircase,
    says="the best mechanism under local differential privacy for the utility that is asked for",
    promises="optimal within the certified gap that is printed with it",
    source="000 Def 1; 001 section V, where k-RR is called optimal and is not",
    notions=("ldp",),
    contexts=("prior", "joint"),
    uses_utility=True,
    options={
        "gap": "the relative gap to prove before stopping (1e-6)",
        "seconds": "stop after so many seconds with the best mechanism so far",
    },
)
