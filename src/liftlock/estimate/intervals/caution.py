"""What a user should know about an interval: where its level was measured not to be kept."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from liftlock.estimate.estimator import Estimator, Linear
from liftlock.estimate.intervals.normal import possible
from liftlock.estimate.intervals.spread import Spread, Tally
from liftlock.exact.integers import Floats

JUMPS = 12.0
"""A count of reports with a smaller variance jumps too much for the normal law."""
POSTERIOR_JUMPS = 5.0
"""The same for a sum of people's values given the reports, which jumps by smaller steps."""
FEW = 20
FEW_WEIGHTED = 30
"""With fewer people, or weights that say no more than these, no formula keeps its level."""
_NAMED = 3


def two_valued(scores: Floats) -> npt.NDArray[np.bool_]:
    """Whether each column has at most two different values.

    >>> two_valued(np.array([[0.0, 1.0], [1.0, 2.0], [1.0, 4.0]])).tolist()
    [True, False]
    """
    least, most = scores.min(axis=0), scores.max(axis=0)
    apart = np.minimum(scores - least, most - scores)
    found: npt.NDArray[np.bool_] = (apart <= 1e-9 * np.maximum(most - least, 1.0)).all(axis=0)
    return found


def normal_remarks(estimator: Linear, tally: Tally, spread: Spread) -> tuple[str, ...]:
    """Say where the normal law is known to be rough."""
    remarks = []
    assert spread.errors is not None
    question = estimator.question
    jumpy: npt.NDArray[np.bool_]
    if estimator.key == "bayes":
        steps, enough = np.ptp(question.values, axis=0), POSTERIOR_JUMPS
        jumpy = two_valued(question.values)
    else:
        steps, enough = np.ptp(estimator.scores, axis=0), JUMPS
        jumpy = two_valued(estimator.scores)
    # Weights enter squared; their mean square makes the steps comparable.
    scale = float(tally.squares.sum() / tally.reports[0])
    # Without any noise there is nothing to be rough about.
    noisy = spread.errors**2 > 1e-12 * scale * steps**2
    few = jumpy & noisy & (spread.errors**2 < enough * scale * steps**2)
    if few.any():
        kinds = "exact intervals" if question.counts else "credible intervals"
        remedy = "no other kind takes weights" if tally.weighted else f"{kinds} need no normal law"
        remarks.append(
            f"few reports decide about {_names(estimator, few)}, and whole numbers jump: in such "
            "cases normal intervals of 95 % were measured to hold the truth 78 to 100 times in "
            f"100; {remedy}"
        )
    people, least = tally.people[0], FEW_WEIGHTED if tally.weighted else FEW
    if people < least:
        remarks.append(
            f"the normal law is rough for weights that say as much as {people:.3g} equal ones: "
            f"below {least} the level is not kept"
            if tally.weighted
            else f"the normal law is rough for {people:.0f} people: below {least} the level is not "
            "kept; credible intervals need no normal law"
        )
    return tuple(remarks)


def exact_remarks(estimator: Linear, spread: Spread) -> tuple[str, ...]:
    """Say where the numbers are so small that the coverage of an exact interval jumps as well."""
    assert spread.errors is not None
    if estimator.key == "bayes":
        few = _few_people(estimator, spread)
        told = "94 to 100 times in 100, mostly more often than asked for"
    else:
        few = spread.errors**2 < JUMPS * np.ptp(estimator.scores, axis=0) ** 2
        told = "92 to 100 times in 100, depending on what it is, and 95 to 96 times on average"
    if not few.any():
        return ()
    remark = (
        f"few reports decide about {_names(estimator, few)}, and whole numbers jump: exact "
        f"intervals of 95 % hold the truth {told}; more reports would help, another kind of "
        "interval would not"
    )
    return (remark,)


def _few_people(estimator: Linear, spread: Spread) -> npt.NDArray[np.bool_]:
    """Whether so few people are uncertain, given the reports, that their count jumps."""
    values = estimator.question.values
    assert spread.errors is not None
    few: npt.NDArray[np.bool_] = spread.errors**2 < POSTERIOR_JUMPS * np.ptp(values, axis=0) ** 2
    return two_valued(values) & few


def outside_remarks(estimator: Estimator, tally: Tally, spread: Spread) -> tuple[str, ...]:
    """Say that an interval has shrunk to the edge of what is possible."""
    if tally.signed or spread.low is None or spread.high is None:
        return ()
    values = estimator.values(tally.amounts)
    least, most = possible(estimator.question, tally)
    slack = 1e-9 * (1 + np.abs(most - least))
    shrunk = (spread.high - spread.low <= slack) & (
        (values < least - slack) | (values > most + slack)
    )
    if not shrunk.any():
        return ()
    remark = (
        f"the estimate of {_names(estimator, shrunk)} is further outside of what is possible than "
        "its interval reaches, so that only the edge is left: chance does this to 1 interval in 40 "
        "of 95 %, or the reports do not come from this mechanism; credible intervals never shrink "
        "to a point"
    )
    return (remark,)


def bootstrap_remark(estimator: Estimator) -> str:
    """Say what quantiles of simulated estimates were measured to do; no rule tells where."""
    other = "exact or normal" if estimator.question.counts else "normal"
    return (
        "bootstrap intervals of 95 % were measured to hold the truth 70 to 100 times in 100: they "
        "are worst for rare values, few people and estimates near the edge of what is possible; "
        f"{other} intervals are nearer to their level"
    )


def posterior_bootstrap_remarks(estimator: Linear, spread: Spread) -> tuple[str, ...]:
    """Say where so few people are uncertain that simulated quantiles jump."""
    few = _few_people(estimator, spread)
    if not few.any():
        return ()
    remark = (
        f"few reports decide about {_names(estimator, few)}, and whole numbers jump: in such cases "
        "simulated intervals of 95 % were measured to hold the truth 94 to 100 times in 100"
    )
    return (remark,)


def _names(estimator: Estimator, which: npt.NDArray[np.bool_]) -> str:
    names = [repr(name) for name, on in zip(estimator.question.names, which, strict=True) if on]
    shown = ", ".join(names[:_NAMED])
    more = len(names) - _NAMED
    return shown if more <= 0 else f"{shown} and {more} more"
