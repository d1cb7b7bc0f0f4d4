"""Transfer from samples: the prior was counted, the true one is near it with some confidence.

Two sets contain the true prior with probability 1 - beta, each for itself: an interval for every
symbol, and a ball of total variation around the frequencies. The smaller of two results that were
looked at may be wrong with twice that probability, so which set counts is said beforehand, or the
error is divided.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal, get_args

from liftlock.errors import InputError
from liftlock.model import Ball, Intervals, Prior, PriorSet
from liftlock.model._checks import require_counts
from liftlock.model.confidence import RadiusForm, read_confidence, variation_radius
from liftlock.notions.lip import LIP
from liftlock.transfer.bounds import (
    PriorShift,
    TransferBound,
    bound_from_ratios,
    ratio_bounds,
    smallest_bound,
)
from liftlock.transfer.exact import Subject, Transfer, TransferSubject

By = Literal["intervals", "ball", "both"]
_WAYS: tuple[By, ...] = get_args(By)
_LISTED = 3


def transfer_from_samples(
    subject: Subject,
    counts: Mapping[Any, Any] | Iterable[tuple[Any, Any]],
    *,
    confidence: object,
    by: By = "intervals",
) -> Transfer:
    """Return the leakage of a mechanism under the true prior, of which only counts are known.

    `counts` are those of independent draws, over every label that exists. The result holds with
    probability `confidence` over the draws. A guarantee without its channel must be one under the
    frequencies. `by` says which set the result rests on; ``both`` divides the error between them,
    so that the smaller result counts. Bounds that rest on another set are listed, not chosen.

    Source: 000 Cor 7 (corrected), Def 6; math Clopper-Pearson intervals.

    >>> from liftlock.notions.lip import LIP
    >>> seen = {"none": 700, "cold": 200, "flu": 100}
    >>> found = transfer_from_samples(LIP("1"), seen, confidence="0.99")
    >>> found.least.name, str(found.level), str(found.bound("log ratio", "ball, 000").value)
    ('log ratio', '1.29921', '1.95881')
    """
    if by not in _WAYS:
        raise InputError("unknown set", value=by, remedy=f"use {', '.join(_WAYS)}")
    pairs = require_counts(counts)
    beta = read_confidence(confidence)
    share = beta / 2 if by == "both" else beta
    intervals = Intervals.from_counts(pairs, confidence=1 - share)
    known = TransferSubject.of(subject, Prior.from_counts(pairs))
    frequencies = known.designed
    assert isinstance(frequencies, Prior)
    size, trials = len(pairs), sum(int(value) for _, value in pairs)
    sets: dict[str, PriorSet] = {"intervals": intervals}
    forms: tuple[tuple[str, RadiusForm], ...] = (("ball", "sets"), ("ball, 000", "000"))
    for given, form in forms:
        sets[given] = Ball(frequencies, variation_radius(trials, size, share, form=form))
    unprotected = PriorShift.of(frequencies, intervals.reordered(frequencies.inputs)).unprotected
    bounds = [bound for given, near in sets.items() for bound in _bounds_over(known, given, near)]
    everywhere = known.bounds_under_any_prior(unprotected)
    rests = {
        "intervals": ("", "intervals"),
        "ball": ("", "ball", "ball, 000"),
        "both": ("", *sets),
    }[by]
    found = Transfer(
        f"the frequencies of {trials} observations",
        "the true prior",
        known.level.lip,
        None,
        (*bounds, *everywhere, *_back(everywhere, sets["intervals"])),
        unprotected if known.channel is None else (),
        tuple(_remarks(pairs, trials, sets["ball, 000"])),
        1 - beta,
        rests,
    )
    return found if by == "both" else _add_warning(found, sets)


def _bounds_over(known: TransferSubject, given: str, near: PriorSet) -> Iterator[TransferBound]:
    """Yield the bounds over one set: exact if the channel is known, and by ratios."""
    near = near.reordered(known.designed.inputs)
    names = {
        "intervals": "Clopper-Pearson intervals for all symbols at once",
        "ball": "total variation by the number of sets of symbols",
        "ball, 000": "000 Cor 7 (corrected)",
    }
    if known.channel is not None:
        value = LIP.measure(known.channel, near).value
        formula = "the largest |ln lift| over the set, exactly"
        yield TransferBound("worst case", value, formula, f"000 Def 6; {names[given]}", given)
    assert isinstance(known.designed, Prior)
    for bound in ratio_bounds(known.level, PriorShift.of(known.designed, near), near):
        yield replace(bound, given=given, source=f"000 Lemma 3; {names[given]}")


def _back(everywhere: list[TransferBound], intervals: PriorSet) -> Iterator[TransferBound]:
    ratio = smallest_bound(everywhere)
    if intervals.smallest and not ratio.value.is_infinite:
        yield replace(bound_from_ratios(ratio, intervals.smallest), given="intervals")


def _remarks(pairs: list[tuple[Any, Any]], trials: int, ball: PriorSet) -> Iterator[str]:
    assert isinstance(ball, Ball)
    rare = [(label, int(n)) for label, n in pairs if Fraction(int(n), trials) <= ball.radius]
    for label, count in rare[:_LISTED]:
        seen = {0: "never seen", 1: "seen once"}.get(count, f"seen {count} times")
        yield (
            f"{label!r} was {seen} in {trials} observations: with a total variation of up to "
            f"{float(ball.radius):.4g} its probability may be 0, so 000 Cor 7 gives no bound"
        )
    if len(rare) > _LISTED:
        yield f"likewise for {len(rare) - _LISTED} more"


def _add_warning(found: Transfer, sets: Mapping[str, PriorSet]) -> Transfer:
    """Say when another set would have given less, which must not be chosen afterwards."""
    remarks = list(found.remarks)
    if not found.least.given:
        remarks.append("the samples say too little: what is left holds under every prior")
    other = replace(found, eligible=("", *sets)).least
    if other is not found.least and other.value != found.least.value:
        remarks.append(
            f"{other.given!r} would give less, but not chosen after looking: say "
            f"by={other.given.split(',')[0]!r} beforehand, or by='both' to divide the error"
        )
    return replace(found, remarks=tuple(remarks))
