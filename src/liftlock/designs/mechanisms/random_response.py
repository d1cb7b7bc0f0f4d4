"""Keep the value, or draw afresh from the prior: safely, with a delta, or as published."""

from __future__ import annotations

from typing import Any

import numpy as np

from liftlock._solver.problem import Problem, limits, refuse_zero_mass
from liftlock.designs.base import LIFT_NOTIONS, Design, Draft
from liftlock.designs.formulas import sampling_rate as formulas
from liftlock.designs.noise.base import read_number
from liftlock.designs.noise.calibration import NUMERIC_NOTIONS
from liftlock.errors import InputError, NotDefined
from liftlock.exact.enclosure import Enclosure, log_of
from liftlock.exact.integers import Floats
from liftlock.model import Context, Prior, representative
from liftlock.model.alphabet import Alphabet
from liftlock.model.continuous.grid import GridPrior, number_labels
from liftlock.notions.base import Notion, safe_text
from liftlock.notions.lip import ALIP, LIP
from liftlock.utility.mean import points_of


def safe_response(context: Context, notion: Notion) -> Draft:
    """Keep X with probability t, else draw afresh from the prior, with the largest safe t.

    The lifts are 1 - t off the diagonal and 1 - t + t / P(x) on it, so

        t = min(1 - L, (U - 1) P_min / (1 - P_min))

    for lifts in [L, U]. With a single symbol there is nothing to protect, and t = 1.

    Source: 000 eq. (19) with the limit it lacks; 000 Prop. 2 at delta = 0.

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.model import Prior
    >>> rare = Prior.from_probabilities({"a": "0.1", "b": "0.2", "c": "0.7"})
    >>> safe_response(rare, LIP("1")).matrix.round(4)[0].tolist()
    [0.2718, 0.1618, 0.5664]
    """
    problem = Problem.of(context, notion)
    masses = problem.masses
    least = masses.min()
    keep = 1.0
    if least < 1:
        keep = min(1.0 - problem.lower, (problem.upper - 1.0) * least / (1.0 - least), 1.0)
    matrix = keep * np.eye(len(masses)) + (1.0 - keep) * masses
    return Draft.of(
        problem.inputs,
        problem.inputs,
        matrix,
        remarks=[f"the value is kept with probability {keep:.6g}, else drawn from the prior"],
    )


SAFE_RESPONSE = Design(
    key="safe-response",
    make=safe_response,
    summary="keep the value, else draw from the prior; the largest keep-probability that is safe",
    promises="closed form; optimal for every utility exactly when P_min >= 1/(1 + e^epsilon)",
    source="000 eq. (19) corrected; 000 Prop. 2 at delta 0",
    notions=LIFT_NOTIONS,
    contexts=("prior",),
)


def published_response(
    context: Context,
    notion: Notion,
) -> Draft:
    """Keep X with probability 1 - e^-epsilon, else draw afresh from the prior.

        q(y | x) = P(y) / e^epsilon  for y != x,   q(x | x) = 1 - (1 - P(x)) / e^epsilon

    The papers call it optimal under epsilon-LIP. It is, when P_min >= 1/(e^epsilon + 1). Otherwise
    it is not even private at that level: the lift of the rarest symbol at its own output is above
    e^epsilon. `true_guarantee` says what it does give; `safe_response` is the honest form.

    Source: 000 eq. (19); 001 Thm 2, Thm 3, Thm 5.

    >>> from liftlock.model import Prior
    >>> rare = Prior.from_probabilities({"a": "0.1", "b": "0.2", "c": "0.7"})
    >>> draft = published_response(rare, LIP("1"))
    >>> draft.matrix.round(4)[0].tolist()
    [0.6689, 0.0736, 0.2575]
    >>> draft.remarks[-1]
    'it truly gives alip(lower=1, upper=1.9004770979), not lip(1)'
    """
    problem = Problem.of(context, notion)
    keep = 1.0 - problem.lower
    matrix = keep * np.eye(len(problem.masses)) + problem.lower * problem.masses
    remarks = [f"the value is kept with probability {keep:.6g}, else drawn from the prior"]
    true = true_guarantee(context, notion)
    if true != notion:
        remarks.append(f"it truly gives {true}, not {notion}")
    return Draft.of(problem.inputs, problem.inputs, matrix, remarks=remarks)


def true_guarantee(context: Context, notion: Notion) -> Notion:
    """Return what the published response truly guarantees for an epsilon-LIP budget.

    That is epsilon-LIP if P_min >= 1/(e^epsilon + 1), and otherwise (lower, upper)-ALIP with

        lower = epsilon,   upper = ln((e^epsilon - 1 + P_min) / P_min) - epsilon,

    rounded up at the tenth decimal. Both are tight.

    >>> from liftlock.model import Prior
    >>> print(true_guarantee(Prior.uniform("abcd"), LIP("1")))
    alip(lower=1, upper=1.0634553551)
    >>> print(true_guarantee(Prior.uniform("abcd"), LIP("ln 3")))
    lip(ln 3)
    """
    limits = notion.lift_limits()
    if notion.name != LIP.key or limits is None or limits.upper is None:
        raise NotDefined(
            "the published response", f"the notion {notion.name}", "it is made for lip"
        )
    least = min(p for p in representative(context).fractions if p)
    # The largest lift is e^-epsilon (1 + (e^epsilon - 1) / P_min): exact ends, since it rises
    # with e^epsilon.
    epsilon = limits.upper
    exponential = epsilon.exp()
    assert exponential.upper is not None
    low, high = ((1 + (end - 1) / least) / end for end in (exponential.lower, exponential.upper))
    if epsilon.allows(high):
        return notion
    return ALIP(lower=epsilon, upper=safe_text(log_of(Enclosure(low, high))))


PUBLISHED_RESPONSE = Design(
    key="response",
    make=published_response,
    summary="the papers' randomised response for a fixed prior, exactly as published",
    promises="epsilon-LIP (and then optimal) only when P_min >= 1/(1 + e^epsilon)",
    source="000 eq. (19); 001 Thm 2, Thm 3, Thm 5",
    published=("lip",),
    notions=("lip",),
    contexts=("prior",),
    needs="for comparison; lock refuses it where it breaks the budget",
    keeps=False,
)


RATES = ("exact", "continuous")
_INSIDE = 1e-9
"""The exact rate is lowered by this share of it, which rounding to integers needs."""


def random_sampling(
    context: Context,
    notion: Notion,
    *,
    rate: str | float | None = None,
    as_published: bool = False,
) -> Draft:
    """Release X with probability t (the rate), else a fresh draw from the prior.

    By default t is the largest that the masses of the finite alphabet allow, in closed form. The
    rate for a continuous X is smaller, and depends on no mass. As published it is that of Def 5,
    whichever form of delta is asked for.

    Source: 000 eq. (20), Prop 2.

    >>> from liftlock.notions.approximate import ApproximateLIP
    >>> coins = Prior.from_counts({1: 5, 2: 3, 5: 2})
    >>> for rate in ("exact", "continuous"):
    ...     print(random_sampling(coins, ApproximateLIP("1", "0.01"), rate=rate).remarks[0])
    the value is kept with probability 0.44207, else drawn from the prior
    the value is kept with probability 0.01, else drawn from the prior
    """
    if not isinstance(context, Prior):
        raise NotDefined("sampling", context.describe(), "it needs a prior")
    refuse_zero_mass(context)
    masses = context.floats()
    if rate is None:
        rate = "published" if as_published else "exact"
    elif as_published and isinstance(rate, str):
        raise InputError(
            "not the published rate", value=rate, remedy="leave out rate, or as_published"
        )
    kept, said = _rate(masses, notion, rate)
    matrix = kept * np.eye(len(masses)) + (1.0 - kept) * masses
    remarks = [f"the value is kept with probability {kept:.6g}, else drawn from the prior"]
    remarks += [said] if said else []
    remarks += _errors(context, masses, kept)
    return Draft.of(
        context.inputs,
        _outputs(context),
        matrix,
        remarks=remarks,
        faithful=rate != "exact",
    )


def _outputs(prior: Prior) -> Alphabet:
    """Return what is released: the symbols themselves, for cells the numbers they stand for."""
    if not isinstance(prior, GridPrior):
        return prior.inputs
    step = (prior.grid.upper - prior.grid.lower) / len(prior.grid)
    return Alphabet.of(*number_labels(prior.points.tolist(), step))


def _rate(masses: Floats, notion: Notion, rate: Any) -> tuple[float, str]:
    """Return the probability of keeping the value, and what is to be said of it."""
    if rate == "exact":
        found = exact_rate(masses, notion)
        return found * (1.0 - _INSIDE) if found < 1 else found, ""
    if rate == "continuous":
        return _continuous(notion), "the rate for a continuous X, which needs no masses"
    if rate == "published":
        return _continuous(notion, "def5"), "the published rate"
    if isinstance(rate, str):
        raise InputError(
            "unknown rate", value=rate, remedy=f"use {', '.join(RATES)}, or a probability"
        )
    wrong = "the rate is not a probability"
    given = read_number(rate, lambda share: 0 <= share <= 1, wrong, "give one from 0 to 1")
    return given, "the rate was given"


def exact_rate(masses: Floats, notion: Notion) -> float:
    """Return the largest rate that a notion allows for the masses of a finite alphabet.

    >>> from liftlock.notions.lip import LIP
    >>> round(exact_rate(np.array([0.1, 0.2, 0.7]), LIP("1")), 6)
    0.19092
    """
    allowed = notion.delta_limit()
    if allowed is not None:
        ratio, delta = float(allowed.epsilon.exp()), float(allowed.delta)
        if allowed.form == "ldp":
            return formulas.ldp_rate(masses, ratio, delta)
        return formulas.approximate_rate(masses, ratio, delta, allowed.form)
    lower, upper, most = limits(notion)
    if most is not None:
        return formulas.ldp_rate(masses, most)
    return formulas.lift_rate(masses, lower, upper)


def _continuous(notion: Notion, form: str | None = None) -> float:
    allowed = notion.delta_limit()
    if allowed is None:
        raise NotDefined(
            "the rate for a continuous X", f"the notion {notion.name}", "without delta it is 0"
        )
    if allowed.form == "ldp":
        return formulas.continuous_rate(1.0, float(allowed.delta), "ediv")
    ratio = float(allowed.epsilon.exp())
    return formulas.continuous_rate(ratio, float(allowed.delta), form or allowed.form)


def _errors(prior: Prior, masses: Floats, kept: float) -> list[str]:
    """Say how far a released number is from the true one, if symbols are numbers."""
    if len(masses) == 1:
        return []
    try:
        points = points_of(prior.inputs, "sampling")
    except InputError:
        return []
    squared, absolute = (formulas.expected_error(points, masses, kept, p) for p in (2, 1))
    squared += prior.variance_within_bins
    errors = f"mean squared error {squared:.6g} and mean absolute error {absolute:.6g}"
    return [f"taken as it is, a released number has {errors}"]


SAMPLING = Design(
    key="sampling",
    make=random_sampling,
    summary="release the value, or one drawn from the prior; the largest "
    "keep-probability, with delta",
    promises="closed form, also with a delta; tight",
    source="000 eq. (20), Prop 2 for a finite alphabet",
    published=("lip_def5", "lip_ediv", "lip_joint"),
    notions=NUMERIC_NOTIONS,
    contexts=("prior",),
    face_value=True,
    options={"rate": "exact (for the masses), continuous (for none), or a probability"},
)
