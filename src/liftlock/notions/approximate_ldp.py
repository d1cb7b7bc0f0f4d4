"""(epsilon, delta)-LDP: the largest excess of one row over e^epsilon times another."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from liftlock.channel import Channel
from liftlock.context import Context
from liftlock.exact.budget import Budget
from liftlock.exact.enclosure import BITS, Enclosure
from liftlock.exact.integers import EXACT_FLOAT_BITS, Floats
from liftlock.exact.numbers import exact_probability
from liftlock.forms import AnyChannel, dense
from liftlock.notions.certificate import Certificate, Claim, make_certificate
from liftlock.notions.e_divergence import Excess, excess, largest, positive_parts
from liftlock.notions.ldp import LDP
from liftlock.notions.lift import Impossible
from liftlock.notions.likelihood import Likelihoods, likelihoods
from liftlock.notions.notion import BEYOND, DeltaLimit, Notion, delta_texts, safe_text
from liftlock.notions.reading import Reading, Witness, exact_maximum, screening_error

_MANY = 256
"""With more pairs than this near the largest, those that are alike are looked at once."""
_UNSURE = 1e-9
_TOGETHER = 512


def _worst(given: Likelihoods, budget: Budget) -> tuple[Excess, Witness, list[Excess]]:
    """Return the largest excess over all pairs of secrets, and all that came close."""
    ratio = budget.exp()
    rows = given.approximate
    count = len(given.secrets)
    estimates = np.concatenate([positive_parts(row, rows, float(ratio)) for row in rows])
    cache: dict[int, Excess] = {}
    seen: dict[tuple[bytes, bytes], int] = {}

    def evaluate(index: int) -> Enclosure:
        s, other = divmod(index, count)
        # Mechanisms with symmetries repeat the same pair of values many times: look once.
        key = _pair_key(given, s, other)
        if key in seen:
            cache[index] = cache[seen[key]]
        else:
            seen[key] = index
            cache[index] = excess(
                given.row(s),
                given.denominators[s],
                given.row(other),
                given.denominators[other],
                budget,
            )
        return cache[index].value(ratio)

    error = given.error + screening_error(len(given.outputs))
    if (estimates >= estimates.max() - 4 * error).sum() > _MANY:
        _drop_repeated(estimates, given, float(ratio), 4 * error)
    _, index = exact_maximum(estimates, error, evaluate)
    s, other = divmod(index, count)
    found = cache[index]
    s, other = divmod(seen[_pair_key(given, s, other)], count)
    witness = Witness(
        secret=given.secrets.labels[s],
        other=given.secrets.labels[other],
        outputs=tuple(given.outputs.labels[y] for y in found.outputs),
    )
    return found, witness, list(cache.values())


def _drop_repeated(estimates: Floats, given: Likelihoods, ratio: float, near: float) -> None:
    """Leave one of all near pairs that have the same excess, in integers; the rest become -inf.

    The mass and the reference of a pair are sums of whole numbers below 2^52, so exact. A pair for
    which floats cannot tell which outputs exceed is left as it is.
    """
    single, count = given.numerators.single, len(given.secrets)
    total = given.denominators[0]
    if single is None or set(given.denominators) != {total} or total > 1 << EXACT_FLOAT_BITS:
        return
    if not np.isfinite(ratio):
        return
    weights = single.astype(np.int64)
    floats = weights.astype(np.float64)
    seen: set[tuple[int, int]] = set()
    order = np.flatnonzero(estimates >= estimates.max() - near)
    firsts = order // count
    starts = np.flatnonzero(np.diff(firsts, prepend=-1))
    for indices in np.split(order, np.union1d(starts, np.arange(0, len(order), _TOGETHER))[1:]):
        s, others = int(indices[0]) // count, indices % count
        beyond = floats[s] - ratio * floats[others]
        unsure = (np.abs(beyond) <= _UNSURE * floats[s]) & (weights[s] > 0)
        chosen = beyond > 0
        masses = (weights[s] * chosen).sum(axis=1)
        references = (weights[others] * chosen).sum(axis=1)
        decided = ~unsure.any(axis=1)
        for place in np.flatnonzero(decided):
            pair = int(masses[place]), int(references[place])
            if pair in seen:
                estimates[indices[place]] = -np.inf
            seen.add(pair)


def _pair_key(given: Likelihoods, s: int, other: int) -> tuple[bytes, bytes]:
    parts = [part[[s, other]] for _, part in given.numerators.parts]
    stacked = np.concatenate(parts, axis=0)
    order = np.lexsort(stacked)
    return stacked[
        :, order
    ].tobytes(), f"{given.denominators[s]}/{given.denominators[other]}".encode()


def measure(
    channel: Channel, context: Context | None, epsilon: object, bits: int = BITS
) -> Reading:
    """Measure the smallest delta of (epsilon, delta)-LDP.

        delta = max over s, s' of sum over y of max(0, P(y | s) - e^epsilon P(y | s'))

    Source: 000 Def 1.

    >>> float(measure(Channel.identity("ab"), None, 1))
    1.0
    """
    budget = Budget.of(epsilon)
    _, witness, close = _worst(likelihoods(channel, context), budget)
    return Reading("delta_ldp", largest(close, budget.exp(bits)), "", None, witness)


def epsilon_for(channel: Channel, context: Context | None, delta: object) -> Reading:
    """Return the smallest epsilon for a delta, as the logarithm of an exact ratio."""
    target = exact_probability(delta, name="delta")
    given = likelihoods(channel, context)
    ratio = Fraction(1)
    while True:
        found, witness, _ = _worst(given, Budget.from_ratio(ratio))
        if found.value(Enclosure.of(ratio)).lower <= target:
            return Reading.of_ratio("epsilon_ldp", ratio, witness)
        needed = found.required(target)
        if needed is None:
            return Reading.of_ratio("epsilon_ldp", None, witness)
        ratio = needed


@dataclass(frozen=True, init=False)
class ApproximateLDP(Notion):
    """The guarantee (epsilon, delta)-LDP.

    Source: 000 Def 1.
    """

    epsilon: Budget
    delta: Fraction

    key = "ldp_delta"
    title = "delta (LDP)"
    unit = ""
    parameters = ("epsilon", "delta")
    says = "(epsilon, delta)-LDP"
    context_free = True

    def __init__(self, epsilon: object, delta: object) -> None:
        object.__setattr__(self, "epsilon", Budget.of(epsilon))
        object.__setattr__(self, "delta", exact_probability(delta, name="delta"))

    def certify(
        self,
        channel: AnyChannel,
        context: Context,
        *,
        impossible: Impossible = "refuse",  # noqa: ARG002 - every input counts for LDP
    ) -> Certificate:
        """Audit exactly whether delta is enough at this epsilon."""
        _, witness, close = _worst(likelihoods(dense(channel), context), self.epsilon)
        holds = all(self.epsilon.allows(each.required(self.delta)) for each in close)
        value = largest(close, self.epsilon.exp())
        claim = Claim("delta_ldp", value, "<=", Enclosure.of(self.delta), holds, witness)
        return make_certificate(self.name, self.budgets, channel, context, [claim], {})

    def smallest(self, channel: AnyChannel, context: Context) -> str:
        """Say the smallest delta at this epsilon, and the smallest epsilon at this delta."""
        table = dense(channel)
        delta = safe_text(measure(table, context, self.epsilon).value)
        epsilon = safe_text(epsilon_for(table, context, self.delta).value)
        return f"delta={delta} at this epsilon, or epsilon={epsilon} at this delta"

    def attained(self, channel: AnyChannel, context: Context) -> Notion:
        """Return the guarantee with the smallest delta that a channel keeps at this epsilon."""
        needed = measure(dense(channel), context, self.epsilon)
        return ApproximateLDP(self.epsilon, safe_text(needed.value))

    def epsilon_at_delta(self, channel: AnyChannel, context: Context) -> Reading:
        """Return the smallest epsilon that a channel keeps at this delta."""
        return epsilon_for(dense(channel), context, self.delta)

    def delta_limit(self) -> DeltaLimit:
        """Return epsilon, delta and the form."""
        return DeltaLimit(self.epsilon, self.delta, "ldp")

    @property
    def without_delta(self) -> Notion:
        """The guarantee without a delta that implies it."""
        return LDP(self.epsilon)

    @property
    def promise(self) -> str:
        """What it promises, in words."""
        factor, delta = delta_texts(self.delta_limit())
        return (
            f"Take any set of values that may be released as {{column}}: it is at most {factor} "
            f"times as likely, plus {delta}, for people with one {{secret}} as for people with any "
            f"other. {BEYOND}"
        )
