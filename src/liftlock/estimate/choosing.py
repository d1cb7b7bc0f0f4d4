"""Which estimator to take when nobody said, and why."""

from __future__ import annotations

import math

import numpy as np

from liftlock.errors import NotDefined
from liftlock.estimate.bayes import bayes
from liftlock.estimate.estimator import Linear
from liftlock.estimate.fit import Fit
from liftlock.estimate.model import Model
from liftlock.estimate.question import Question
from liftlock.estimate.result import About
from liftlock.estimate.unbiased import unbiased

DOUBTFUL = 0.05
"""Below this p-value of the test of the prior, no estimate leans on it unasked."""
WRONG = 0.01
"""Below this one, a warning says that the prior does not fit."""


def choose(
    model: Model, question: Question, fit: Fit | None, about: About = "people"
) -> tuple[str, str]:
    """Return the key of an estimator, and one sentence that says why it was taken.

    The Bayes estimate has the smallest error if the prior is true; the unbiased one needs none. A
    population is what the prior describes: an estimate of it that starts from the prior is no news.
    """
    if model.masses is None:
        # Where the reports do not determine the answer either, this one is refused and says so.
        return "unbiased", "no prior is known, and this estimate needs none"
    assert fit is not None
    try:
        other = unbiased(model, question)
    except NotDefined:
        return "bayes", "the reports alone do not determine the answer; the prior fills the gap"
    if about == "population":
        return "unbiased", "a Bayes estimate would take the population from the prior"
    if fit.p_value < DOUBTFUL:
        return (
            "unbiased",
            f"the prior is in doubt (p = {p_text(fit.p_value)}), and this estimate leans on none",
        )
    ratio = _ratio(model, question, other)
    why = (
        f"the prior fits the reports (p = {p_text(fit.p_value)}); if it is true, the error is "
        f"{ratio:.2g} times that of the unbiased estimate"
    )
    return "bayes", why


def misfit(fit: Fit, key: str, *, free: bool = True, numbers: bool = False) -> str | None:
    """Return the warning about a prior that does not fit, with the direction, or None if it may.

    `free` says whether the reports can be read without a prior, `numbers` whether a sum or a mean
    is asked for: then higher or lower is what matters.
    """
    if fit.p_value >= WRONG:
        return None
    shown = ", ".join(str(drift) for drift in fit.drifts[:2] if abs(drift.score) > 2)
    if numbers and fit.shift is not None and abs(fit.shift) > 2:
        shown = f"{'higher' if fit.shift > 0 else 'lower'} numbers than it says"
    seen = f": they show {shown}" if shown else ""
    if not math.isfinite(fit.statistic):
        seen = f": {fit.note}"
    leaning = "this estimate does not lean on it, but what is promised under that prior does"
    if key == "bayes":
        other = "unbiased does not" if free else "and these reports cannot be read without one"
        leaning = f"the Bayes estimate leans on that prior, {other}"
    return f"the prior does not fit the reports (p = {p_text(fit.p_value)}){seen}; {leaning}"


def p_text(p_value: float) -> str:
    """Write a p-value.

    >>> p_text(0.031234), p_text(1e-9), p_text(0.0)
    ('0.031', '1e-09', '0')
    """
    return f"{p_value:.2g}"


def up_text(value: float) -> str:
    """Write a bound with one digit, never smaller than it is.

    >>> up_text(1.4e-7), up_text(2e-7), up_text(0.0)
    ('2e-07', '2e-07', '0')
    """
    text = f"{value:.1g}"
    if float(text) >= value:
        return text
    return f"{value + 10.0 ** math.floor(math.log10(value)):.1g}"


def _ratio(model: Model, question: Question, other: Linear) -> float:
    """Return the ratio of root mean squared errors under the prior, of all answers together.

    Source: 001 eq. (14).
    """
    assert model.masses is not None
    reports = model.mixture(model.masses)
    centre = model.masses @ question.values
    # With means that are right, Var = E[g^2] - E[f^2] for one and E[f^2] - E[g^2] for the other.
    around = model.masses @ (question.values - centre) ** 2
    best = around - reports @ (bayes(model, question).scores - centre) ** 2
    worse = reports @ (other.scores - centre) ** 2 - around
    return float(np.sqrt(max(best.sum(), 0.0) / worse.sum())) if worse.sum() > 0 else 1.0
