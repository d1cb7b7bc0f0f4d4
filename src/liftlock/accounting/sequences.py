"""Different data released one after the other: X_1, ..., X_n with a joint prior over tuples.

Each datum has its channel. If the data are correlated, every output tells something about X_k, not
only its own. The sequence is one datum, a tuple of which each channel reads one part, so every
accountant applies to it; a single X_k is a secret behind the tuple.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from liftlock.accounting.account import Account, account
from liftlock.accounting.accountants.base import PrivacyLoss
from liftlock.accounting.accountants.exact import MOST_CELLS
from liftlock.accounting.readings import combine_values
from liftlock.accounting.release import LeakageLevels, Release, measure_levels, multiply_ratios
from liftlock.errors import InputError, LabelError, NotDefined
from liftlock.model import Joint, Prior
from liftlock.model._checks import require_channel, require_list, require_prior
from liftlock.model.alphabet import Alphabet, Label
from liftlock.model.channel import Channel
from liftlock.model.prior import common_integers
from liftlock.model.structured import AnyChannel, to_dense
from liftlock.notions.lift import Impossible, refuse_impossible
from liftlock.notions.measurement import Measurement

MOST_TUPLES = 100_000
"""Joint priors of more tuples are not written out."""


def markov_chain(first: Prior, steps: Sequence[Channel]) -> Prior:
    """Return the joint prior of a Markov chain: P(x_1) T_1(x_2 | x_1) ... over tuples.

    Tuples of probability 0 are left out.

    >>> sticky = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> two = markov_chain(Prior.uniform([0, 1]), [sticky])
    >>> two.labels, str(two[(0, 0)])
    (((0, 0), (0, 1), (1, 0), (1, 1)), '3/8')
    """
    require_prior(first)
    found: dict[tuple[Label, ...], Fraction] = {
        (label,): mass for label, mass in zip(first.labels, first.fractions, strict=True) if mass
    }
    for place, each in enumerate(require_list(steps, "channels")):
        step = to_dense(require_channel(each, f"step {place + 1}"))
        grown: dict[tuple[Label, ...], Fraction] = {}
        for past, mass in found.items():
            if past[-1] not in step.inputs:
                raise LabelError(
                    "no row for a value of the step before",
                    where=f"step {place + 1}",
                    value=past[-1],
                    remedy=f"give step {place + 1} an input for every value of step {place}",
                )
            for label in step.outputs.labels:
                chance = step.probability(past[-1], label)
                if chance:
                    grown[(*past, label)] = mass * chance
        found = grown
        _check_tuples(len(found))
    return Prior(Alphabet.of(found), common_integers(list(found.values())))


def product_prior(priors: Sequence[Prior]) -> Prior:
    """Return the joint prior of independent data over tuples.

    >>> both = product_prior([Prior.uniform("ab"), Prior.from_counts({"c": 1, "d": 2})])
    >>> str(both[("a", "d")])
    '1/3'
    """
    given = [require_prior(prior) for prior in require_list(priors, "priors")]
    if not given:
        raise InputError("no priors", remedy="give one for each datum")
    parts = [prior.restrict() for prior in given]
    _check_tuples(math.prod(len(part.labels) for part in parts))
    labels = itertools.product(*(part.labels for part in parts))
    counts = [math.prod(c) for c in itertools.product(*(part.counts for part in parts))]
    return Prior(Alphabet.of(labels), tuple(counts))


def _check_tuples(number: int) -> None:
    if number > MOST_TUPLES:
        raise NotDefined(
            "a joint prior over tuples",
            f"{number:,} tuples or more",
            f"it is for at most {MOST_TUPLES:,}; use account_independent for data that are",
        )


@dataclass(frozen=True)
class SequenceAccount:
    """What was learnt of the whole sequence, and of each datum from all outputs together.

    `own` is the leakage about each datum from its own release, `total` from all releases;
    correlation makes `total` larger. `impossible` counts tuples of possible values that the joint
    prior excludes: they have no guarantee.
    """

    whole: Account
    own: tuple[LeakageLevels, ...]
    total: tuple[Account, ...]
    impossible: int = 0


def account_sequence(
    prior: Prior, channels: Sequence[AnyChannel], *, impossible: Impossible = "refuse"
) -> SequenceAccount:
    """Account for one release of each datum of a sequence, under a joint prior over tuples.

    Exact when the table of all tuples and outputs is small enough; otherwise by the bounds, of
    which the tight one is 000 eq. (11) as a minimum over j.

    Source: 000 Cor 5, Lemma 1.5 (linkage).

    >>> flip = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> copy = markov_chain(Prior.uniform([0, 1]), [Channel.identity([0, 1])])
    >>> found = account_sequence(copy, [flip, flip])
    >>> str(found.total[0]["lip"].ratio), str(found.own[0].lower)
    ('5', '2')
    """
    channels = [require_channel(channel) for channel in require_list(channels, "channels")]
    possible = require_prior(prior).restrict()
    tuples = [_tuple(label, len(channels)) for label in possible.labels]
    joints, own, lifted = [], [], []
    for k, channel in enumerate(channels):
        joints.append(_joint(possible, tuples, k))
        known = _own_prior(joints[-1].secret_prior, channel, k)
        refuse_impossible(channel, known, impossible)
        own.append(measure_levels(channel, known))
        lifted.append(_release_on_tuples(channel, own[-1], possible, k))
    whole = _about_all_tuples(account(lifted, possible), own, channels)
    total = tuple(account(lifted, joint) for joint in joints)
    values = math.prod(len(joint.secrets) for joint in joints)
    return SequenceAccount(whole, tuple(own), total, values - len(tuples))


def _about_all_tuples(
    whole: Account, own: Sequence[LeakageLevels], channels: Sequence[AnyChannel]
) -> Account:
    """Let LDP compare all tuples, also those that the joint prior excludes: its ratios multiply."""
    ratio = multiply_ratios((levels.ldp, 1) for levels in own)
    attained = all(isinstance(channel, Channel) or channel.every_set for channel in channels)
    every = PrivacyLoss(
        "pairs",
        {"ldp": Measurement.of_ratio("ldp", ratio, None)},
        attained,
        "product of the largest ratios of each datum",
        "000 Def 1, section III.B",
        f"the levels of {len(own):,} releases",
    )
    others = [
        replace(spent, measurements={k: v for k, v in spent.measurements.items() if k != "ldp"})
        for spent in whole.spent
        if set(spent.measurements) != {"ldp"}
    ]
    return replace(whole, spent=(*others, every))


def account_independent(released: Sequence[tuple[AnyChannel, Prior]]) -> PrivacyLoss:
    """Account for one release of each of several independent data, exactly and for any number.

    Their lifts multiply, so both sides add up, and each datum keeps its own leakage.

    >>> flip = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> found = account_independent([(flip, Prior.uniform([0, 1]))] * 3)
    >>> str(found["eps_lower"].ratio), str(found["eps_upper"].ratio), str(found["ldp"].ratio)
    ('8', '27/8', '27')
    """
    given = require_list(released, "pairs (channel, prior)")
    if not given:
        raise InputError("no releases", remedy="give at least one")
    each = []
    for place, pair in enumerate(given):
        where = f"release {place + 1}"
        parts = require_list(pair, "a channel and a prior")
        if len(parts) != 2:
            raise InputError("not a pair (channel, prior)", where=where, value=len(parts))
        channel, prior = require_channel(parts[0], where), require_prior(parts[1], where)
        refuse_impossible(channel, prior, "refuse")
        each.append(measure_levels(channel, prior))
    forms_attain = all(isinstance(c, Channel) or c.every_set for c, _ in given)
    return combine_values(each, "independent", exact=forms_attain)


def _tuple(label: Label, length: int) -> tuple[Label, ...]:
    if not isinstance(label, tuple) or len(label) != length:
        raise InputError(
            f"the joint prior is not over tuples of {length}",
            value=label,
            remedy="give one channel for each datum, and a prior over tuples of their values",
        )
    return label


def _own_prior(marginal: Prior, channel: AnyChannel, k: int) -> Prior:
    """Return the prior of one datum over all inputs of its channel."""
    counts = dict(zip(marginal.labels, marginal.counts, strict=True))
    for label in counts:
        if label not in channel.inputs:
            raise LabelError(
                "a value that its channel does not accept",
                where=f"datum {k + 1}",
                value=label,
                remedy="channels and parts of tuples are in the same order",
            )
    return Prior(channel.inputs, tuple(counts.get(label, 0) for label in channel.inputs.labels))


def _release_on_tuples(channel: AnyChannel, levels: LeakageLevels, prior: Prior, k: int) -> Release:
    """Return the release from tuples to the output of one datum; if large, only its levels."""
    try:
        table = to_dense(channel)
    except NotDefined:
        table = None
    if table is None or len(prior.labels) * len(table.outputs) > MOST_CELLS:
        return Release(prior.alphabet, None, prior, None, levels)
    return Release.of(table.precompose(prior.alphabet, lambda label: label[k]), prior)


def _joint(prior: Prior, tuples: list[tuple[Label, ...]], k: int) -> Joint:
    own = Alphabet.of(dict.fromkeys(label[k] for label in tuples))
    rows = [
        tuple(
            count if label[k] == value else 0
            for label, count in zip(tuples, prior.counts, strict=True)
        )
        for value in own.labels
    ]
    return Joint(own, prior.alphabet, tuple(rows))
