"""Centralised information privacy: a trusted curator releases a count, and every bit stays hidden.

The comparison that the local mechanisms are measured against: N people give their bits X_i to a
curator they trust, who publishes a noisy version Y of the sum S. Nobody's bit may be learnt:

    e^-epsilon <= P(X_i = j | Y) / P(X_i = j) <= e^epsilon.

People are exchangeable, so P(X_i = 1 | S = s) = s/N, and all that the promise limits is one number,
the posterior mean E[S | Y].
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb, lgamma

import numpy as np
import numpy.typing as npt

from liftlock._solver.problem import Problem, limits
from liftlock.designs.base import LIFT_NOTIONS, Design, Draft
from liftlock.errors import InputError, NotDefined
from liftlock.exact.integers import Floats
from liftlock.exact.numbers import exact_probability
from liftlock.exact.reproducible import dot, exp, log, log1p
from liftlock.model import Context, Joint, Prior
from liftlock.model.alphabet import Alphabet, Label
from liftlock.model.prior import common_integers
from liftlock.notions.base import Notion
from liftlock.notions.lip import LIP

_TINY = 1e-13
_LEAST = 1e-300
_HAIR = 2.0**-50


# --- the mechanism --------------------------------------------------------------------------------


def centralised(context: Context, notion: Notion, *, as_published: bool = False) -> Draft:
    """Release a count exactly in the middle of its range, and blur its two tails.

    For a secret of two values the notion limits one number of each output y,

        a <= P(S = 1 | y) <= b,

    the mean of r(X) = P(S = 1 | X). Inputs with the lowest r are merged until their mean is a,
    those with the highest until it is b (the last one is split), and those between are released. If
    the tails meet there are two outputs, with means a and b. No mechanism has a larger variance of
    E[r(X) | Y], so this one has the least squared error of r(X); for the count of a survey
    (`survey`) that is the squared error of the count. `as_published` takes a and b from the
    min-lift alone, which may break the budget.

    Source: 001 section IV-D, Def 4, Thm 6; Prop. 5 with the max-lift side it lacks.

    >>> draft = centralised(survey(5, "0.1"), LIP("1"))
    >>> draft.matrix.round(4).tolist()[0], draft.outputs.labels
    ([1.0, 0.0, 0.0], ('low', 1, 'high'))
    """
    if not isinstance(context, Joint) or len(context.secrets) != 2:
        raise NotDefined(
            "the method centralised", context.describe(), "give a joint with a secret of two values"
        )
    problem = Problem.of(context, notion)
    share = float(context.secret_prior.fractions[1])
    low, high = posterior_range(share, notion, as_published=as_published)
    # From the counts: the masses of a long survey's tails are below the range of floats.
    means = np.array(
        [
            float(Fraction(yes, no + yes)) if no + yes else 0.0
            for no, yes in zip(*context.counts, strict=True)
        ]
    )
    bottom, top = _tails(problem.masses, means, low, high)
    matrix = np.column_stack([bottom, np.diag(1.0 - bottom - top), top])
    used = np.flatnonzero(matrix.max(axis=0) > _TINY)
    outputs = _names(problem.inputs, used)
    return Draft.of(
        problem.inputs,
        outputs,
        matrix[:, used],
        remarks=[
            f"the posterior of {context.secrets.labels[1]!r} stays in {low:.6g} to {high:.6g}"
        ],
        faithful=as_published,
    )


def posterior_range(
    share: float, notion: Notion, *, as_published: bool = False
) -> tuple[float, float]:
    """Return the least and the largest posterior of a secret of two values that a notion allows.

    With lifts in [L, U] and p the prior: max(pL, 1 - (1-p)U) and min(pU, 1 - (1-p)L). The published
    range lacks the terms with U.

    >>> tuple(round(end, 6) for end in posterior_range(0.1, LIP("1")))
    (0.036788, 0.271828)
    """
    lower, upper, ratio = limits(notion)
    if ratio is not None:
        return share / (share + (1 - share) * ratio), share * ratio / (share * ratio + 1 - share)
    if as_published:
        return share * lower, 1 - (1 - share) * lower
    return (
        max(share * lower, 1 - (1 - share) * upper, 0.0),
        min(share * upper, 1 - (1 - share) * lower, 1.0),
    )


def _tails(masses: Floats, means: Floats, low: float, high: float) -> tuple[Floats, Floats]:
    """Return how much of each input goes to the low and the high tail; the rest is released.

    Among all garblings of `means` with means in [low, high], the most spread out one has the
    largest convex potential below that of `means` with the right ends: a line from (low, 0) that
    touches it, then itself, then a line that touches it and ends at (high, high - mean).
    """
    order = np.argsort(means, kind="stable")
    bottom = _tail(masses, means, low, order)
    top = _tail(masses, -means, -high, order[::-1])
    if (bottom + top <= 1.0).all():
        return bottom, top
    mean = float(dot(masses, means))
    if not low < mean < high:
        return np.ones_like(masses), np.zeros_like(masses)
    # The tails meet: two outputs, and all that is left to choose is who says what.
    share = (high - mean) / (high - low)
    filled = np.zeros(len(masses))
    room = share - np.concatenate([[0.0], np.cumsum(masses[order])[:-1]])
    filled[order] = np.where(
        masses[order] > 0, np.clip(room / np.maximum(masses[order], _LEAST), 0.0, 1.0), room > 0
    )
    lowest = float(dot(masses * filled, means)) / share
    blend = (mean - low) / (mean - lowest) if mean > lowest else 0.0
    bottom = np.clip(blend * filled + (1.0 - blend) * share, 0.0, 1.0)
    return bottom, 1.0 - bottom


def _tail(masses: Floats, means: Floats, limit: float, order: npt.NDArray[np.intp]) -> Floats:
    """Return how much of each input goes to the low tail, whose mean is `limit`."""
    share = np.zeros(len(masses))
    owed = 0.0
    for x in order:
        if means[x] < limit:
            share[x] = 1.0
            owed += float(masses[x]) * (limit - float(means[x]))
        elif owed > 0.0:
            excess = float(masses[x]) * (float(means[x]) - limit)
            # A hair more, so that rounding a small share to integers does not break the limit.
            share[x] = 1.0 if excess <= owed else min(owed / excess + _HAIR, 1.0)
            owed -= excess
        else:
            break
    return share


def _names(inputs: Alphabet, used: npt.NDArray[np.intp]) -> list[Label]:
    """Name the tails low and high, and the others by their input."""
    taken = set(inputs.labels)
    names: list[Label] = []
    for y in used.tolist():
        if 0 < y <= len(inputs):
            names.append(inputs.labels[y - 1])
            continue
        name = "low" if y == 0 else "high"
        while name in taken:
            name += "'"
        names.append(name)
    return names


# --- the comparison of the paper ------------------------------------------------------------------


def survey(people: int, share: object) -> Joint:
    """Return one person's bit against the count of N people who each say yes with probability p.

    Source: 001 eq. (33), eq. (39).

    >>> survey(2, "1/2").counts
    ((1, 1, 0), (0, 1, 1))
    """
    if people < 1:
        raise InputError("a survey without people", value=people, remedy="give at least one")
    p = exact_probability(share)
    distribution = [comb(people, s) * p**s * (1 - p) ** (people - s) for s in range(people + 1)]
    # Tails may be rarer than what is taken from a reader.
    return survey_of(Prior(Alphabet.of(range(people + 1)), common_integers(distribution)))


def survey_of(distribution: Prior) -> Joint:
    """Return one person's bit against the count 0..N, when the count has any distribution at all.

    People are exchangeable: given the count, everyone is equally likely to be among the yeses.
    """
    people = len(distribution.alphabet) - 1
    if distribution.alphabet.labels != tuple(range(people + 1)) or people < 1:
        raise InputError(
            "a distribution of a count needs the symbols 0, 1, ..., N",
            value=distribution.alphabet.labels[:8],
        )
    no = [mass * (people - s) / people for s, mass in enumerate(distribution.fractions)]
    yes = [mass * s / people for s, mass in enumerate(distribution.fractions)]
    counts = common_integers([*no, *yes])
    inputs = Alphabet.numbers(range(people + 1))
    return Joint(Alphabet.of([0, 1]), inputs, (counts[: people + 1], counts[people + 1 :]))


@dataclass(frozen=True)
class CentralisedError:
    """The least squared error of a count under a trusted curator, and what that truly leaks."""

    lowest: float
    highest: float
    """The range of E[S | Y]."""
    error: float
    """E (S - E[S | Y])^2."""
    leakage: float
    """The true budget, in nats: the largest abs(ln lift) of anybody's bit."""


def centralised_error(
    people: int, share: object, epsilon: object, *, as_published: bool = False
) -> CentralisedError:
    """Return the best squared error of the count of a survey under centralised privacy.

    The posterior mean must satisfy

        max{N p / E, N - E N (1-p)} <= E[S | Y] <= min{E N p, N - N (1-p) / E},   E = e^epsilon;

    the published range (`as_published`) lacks N - E N (1-p) and E N p, the max-lift side, which is
    why its error is too good to be true.

    Source: 001 Prop. 5, eq. (37), corrected.

    >>> found = centralised_error(5, "0.1", 1)
    >>> round(found.error, 4), round(found.leakage, 5)
    (0.1856, 1.0)
    >>> published = centralised_error(5, "0.1", 1, as_published=True)
    >>> round(published.error, 4), round(published.leakage, 5)
    (0.1089, 1.90048)
    """
    p = float(exact_probability(share))
    if not 0 < p < 1:  # nothing to learn, nothing to estimate
        return CentralisedError(people * p, people * p, 0.0, 0.0)
    low, high = posterior_range(p, LIP(epsilon), as_published=as_published)
    masses, means = _binomial(people, p), np.arange(people + 1) / people
    bottom, top = _tails(masses, means, low, high)
    rest = masses * (1.0 - bottom - top)
    explained = dot(rest, (means - p) ** 2)
    ends = list(means[rest > 0])
    for tail in (masses * bottom, masses * top):
        if tail.any():
            ends.append(float(dot(tail, means)) / float(tail.sum()))
            explained += float(tail.sum()) * (ends[-1] - p) ** 2
    error = float(dot(masses, (means - p) ** 2) - explained)
    least, most = min(ends), max(ends)
    lifts = np.array([least / p, most / p, (1 - least) / (1 - p), (1 - most) / (1 - p)])
    leakage = float(np.abs(log(np.maximum(lifts, _LEAST))).max())
    return CentralisedError(people * low, people * high, max(error, 0.0) * people**2, leakage)


def _binomial(people: int, p: float) -> Floats:
    counts = np.arange(people + 1)
    logs = np.array([lgamma(people + 1) - lgamma(s + 1) - lgamma(people - s + 1) for s in counts])
    masses = exp(logs + counts * log(p) + (people - counts) * log1p(-p))
    distribution: Floats = masses / masses.sum()
    return distribution


DESIGN = Design(
    key="centralised",
    make=centralised,
    summary="release the middle of a count exactly and blur its tails, for a trusted curator",
    promises="least squared error of P(S = 1 | X), which is the count of a survey; closed form",
    source="001 section IV-D, Prop. 5 corrected",
    published=("lip",),
    notions=(*LIFT_NOTIONS, "ldp"),
    contexts=("joint",),
    needs="a secret of two values",
)
