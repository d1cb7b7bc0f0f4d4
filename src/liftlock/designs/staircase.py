"""The staircase: the best mechanism under local differential privacy for a given utility."""

from __future__ import annotations

import numpy as np

from liftlock.context import Context
from liftlock.designs.draft import Draft
from liftlock.designs.optimal import optimal
from liftlock.designs.problem import never, supported
from liftlock.designs.registry import Design
from liftlock.exact.integers import Floats
from liftlock.notions.notion import Notion
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
    zero = never(context)
    kept = supported(context)[0] if zero else context
    draft = optimal(kept, notion, utility=utility, gap=gap, seconds=seconds)
    remarks = list(draft.remarks)
    matrix = draft.matrix
    if zero:
        matrix = _with_impossible(context, kept, matrix)
        remarks.append("inputs of probability 0 answer like the most likely input")
    return Draft.of(
        context.inputs,
        draft.outputs,
        matrix,
        method=DESIGN.key,
        optimality=draft.optimality,
        remarks=remarks,
    )


def _with_impossible(context: Context, kept: Context, matrix: Floats) -> Floats:
    """Give every input a row: its own, or that of the most likely input."""
    from liftlock.designs.lock import representative

    model = int(np.argmax(representative(kept).floats()))
    known = {label: place for place, label in enumerate(kept.inputs.labels)}
    return matrix[[known.get(label, model) for label in context.inputs.labels]]


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
