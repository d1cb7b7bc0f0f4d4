"""Notions with a delta: LIP in three inequivalent forms, with the whole curve, and LDP.

With E = e^epsilon, q_s = P(y | s), lambda = P(y) and E-divergences over *sets* of outputs:

- ``def5`` (000 Def 5):   max over s of  E_E(q_s || lambda) / E  and  E_E(lambda || q_s);
- ``ediv`` (000 Cor 9):   max over s of  E_E(q_s || lambda)      and  E_E(lambda || q_s);
- ``joint`` (003 Def 4):  the same as ``ediv``, each multiplied by P(s).

They are ordered: def5 <= ediv <= E def5, and joint <= P_max ediv <= (P_max / P_min) joint.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Literal, get_args

import numpy as np

from liftlock.channel import Channel
from liftlock.context import Context, Family, Joint
from liftlock.errors import NotDefined, NumberError
from liftlock.exact.budget import Budget
from liftlock.exact.decimals import rounded_up
from liftlock.exact.enclosure import BITS, Enclosure
from liftlock.exact.integers import EXACT_FLOAT_BITS, Floats
from liftlock.exact.numbers import exact_probability
from liftlock.forms import AnyChannel, dense
from liftlock.notions.base import DeltaLimit, Kind, Notion, safe_text
from liftlock.notions.certificate import Certificate, Claim, make_certificate
from liftlock.notions.e_divergence import Excess, excess, largest, positive_parts
from liftlock.notions.ldp import LDP
from liftlock.notions.lift import Impossible, refuse_impossible
from liftlock.notions.likelihood import Likelihoods, likelihoods
from liftlock.notions.lip import LIP
from liftlock.notions.reading import Reading, Witness, exact_maximum, screening_error
from liftlock.prior import Prior

Form = Literal["def5", "ediv", "joint"]
FORMS: tuple[Form, ...] = get_args(Form)
_SOURCES: dict[Form, str] = {"def5": "000 Def 5", "ediv": "000 Cor 9", "joint": "003 Def 4"}


_MANY = 256
"""With more pairs than this near the largest, those that are alike are looked at once."""
_UNSURE = 1e-9
_TOGETHER = 512


@dataclass(frozen=True, init=False)
class Approximate(Notion):
    """A notion with a delta: what may go beyond epsilon, as a probability."""

    epsilon: Budget
    delta: Fraction

    unit = ""
    parameters = ("epsilon", "delta")
    audited = "with `--at-epsilon`"

    def __init__(self, epsilon: object, delta: object) -> None:
        object.__setattr__(self, "epsilon", Budget.of(epsilon))
        object.__setattr__(self, "delta", exact_probability(delta, name="delta"))

    @abstractmethod
    def delta_limit(self) -> DeltaLimit:
        """Return epsilon, delta and the form."""

    @abstractmethod
    def delta_at_epsilon(self, channel: AnyChannel, context: Context) -> Reading:
        """Return the smallest delta that a channel keeps at this epsilon."""

    def smallest(self, channel: AnyChannel, context: Context) -> str:
        """Say the smallest delta at this epsilon, and the smallest epsilon at this delta."""
        delta = safe_text(self.delta_at_epsilon(channel, context).value)
        epsilon = safe_text(self.epsilon_at_delta(channel, context).value)
        return f"delta={delta} at this epsilon, or epsilon={epsilon} at this delta"

    def attained(self, channel: AnyChannel, context: Context) -> Notion:
        """Return the guarantee with the smallest delta that a channel keeps at this epsilon."""
        delta = safe_text(self.delta_at_epsilon(channel, context).value)
        return self._like({"epsilon": self.epsilon, "delta": delta})

    def _texts(self) -> tuple[str, str]:
        """Return the factor e^epsilon and delta as text on the safe side."""
        top = self.epsilon.exp().upper
        assert top is not None
        return rounded_up(top), rounded_up(self.delta)


_BEYOND = "Single values may go beyond the factor, and nothing is said of how far."


# --- LIP with a delta -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Side:
    """One prior's output masses against the likelihoods of the protected secrets."""

    given: Likelihoods
    masses: list[int]
    mass_total: int
    secret_masses: tuple[Fraction, ...]
    prior: Prior | None
    """The member of a family this speaks of."""

    def estimates(self, ratio: float, form: Form) -> Floats:
        rows = self.given.approximate
        output = np.array([float(Fraction(m, self.mass_total)) for m in self.masses])
        up = positive_parts(rows, output, ratio)
        down = positive_parts(np.broadcast_to(output, rows.shape), rows, ratio)
        if form == "def5":
            up = up / ratio
        if form == "joint":
            weights = np.array([float(p) for p in self.secret_masses])
            up, down = up * weights, down * weights
        return np.concatenate([up, down])

    def excess(self, index: int, budget: Budget, form: Form) -> Excess:
        count = len(self.given.secrets)
        s, down = index % count, index >= count
        row, total = self.given.row(s), self.given.denominators[s]
        found = (
            excess(self.masses, self.mass_total, row, total, budget)
            if down
            else excess(row, total, self.masses, self.mass_total, budget)
        )
        weight = self.secret_masses[s] if form == "joint" else Fraction(1)
        inverse = form == "def5" and not down
        return Excess(found.mass, found.reference, found.outputs, weight, inverse)

    def witness(self, index: int, found: Excess) -> Witness:
        s = index % len(self.given.secrets)
        return Witness(
            secret=self.given.secrets.labels[s],
            outputs=tuple(self.given.outputs.labels[y] for y in found.outputs),
            prior=self.prior,
        )


def _sides(channel: Channel, context: Context, form: Form) -> list[_Side]:
    if isinstance(context, Family):
        if form == "joint":
            raise NotDefined(
                "the joint form of (epsilon, delta)-LIP",
                context.describe(),
                "mixtures do not keep it; use def5 or ediv",
            )
        family = context.reordered(channel.inputs)
        rows = np.flatnonzero(family.possible)
        given = likelihoods(channel).kept(rows, np.arange(len(channel.outputs)))
        return [_side(channel, given, p, p, rows, p) for p in family.priors]
    if isinstance(context, Prior):
        prior = context.reordered(channel.inputs)
        rows = np.array([x for x, c in enumerate(prior.counts) if c], dtype=np.intp)
        given = likelihoods(channel).kept(rows, np.arange(len(channel.outputs)))
        return [_side(channel, given, prior, prior, rows, None)]
    if isinstance(context, Joint):
        given = likelihoods(channel, context)
        secret = context.secret_prior.restricted()
        rows = np.arange(len(secret.counts))
        return [_side(channel, given, context.prior, secret, rows, None)]
    raise NotDefined(
        "(epsilon, delta)-LIP",
        context.describe(),
        "use a prior, a joint, or a finite family of priors",
    )


def _side(
    channel: Channel,
    given: Likelihoods,
    prior: Prior,
    secret: Prior,
    rows: np.typing.NDArray[np.intp],
    member: Prior | None,
) -> _Side:
    return _Side(
        given,
        channel.output_counts(prior),
        prior.total * channel.common_total,
        tuple(secret.fractions[int(s)] for s in rows),
        member,
    )


def _worst(sides: list[_Side], budget: Budget, form: Form) -> tuple[Excess, Witness, list[Excess]]:
    """Return the largest excess over secrets, directions and priors, and all that came close."""
    ratio = budget.exp()
    estimates = [side.estimates(float(ratio), form) for side in sides]
    sizes = np.cumsum([0] + [len(part) for part in estimates])
    error = sides[0].given.error + screening_error(len(sides[0].masses))
    cache: dict[int, Excess] = {}

    def evaluate(index: int) -> Enclosure:
        which = int(np.searchsorted(sizes, index, side="right")) - 1
        cache[index] = sides[which].excess(index - int(sizes[which]), budget, form)
        return cache[index].value(ratio)

    _, index = exact_maximum(np.concatenate(estimates), error, evaluate)
    which = int(np.searchsorted(sizes, index, side="right")) - 1
    witness = sides[which].witness(index - int(sizes[which]), cache[index])
    return cache[index], witness, list(cache.values())


def _check_form(form: str) -> Form:
    for known in FORMS:
        if form == known:
            return known
    raise NumberError("unknown form of delta", value=form, remedy=f"use one of {', '.join(FORMS)}")


@dataclass(frozen=True)
class DeltaCurve:
    """The curve delta(epsilon) of a channel in a context, in one form; exact at every point.

    >>> from liftlock.prior import Prior
    >>> curve = DeltaCurve.of(Channel.identity("ab"), Prior.uniform("ab"), "ediv")
    >>> curve.delta(0).value.lower, float(curve.epsilon("0.25"))
    (Fraction(1, 2), inf)
    """

    form: Form
    _sides: list[_Side]

    @classmethod
    def of(cls, channel: Channel, context: Context, form: str = "ediv") -> DeltaCurve:
        """Prepare the curve of a channel."""
        kind = _check_form(form)
        return cls(kind, _sides(channel, context, kind))

    def delta(self, epsilon: object, bits: int = BITS) -> Reading:
        """Return the smallest delta for an epsilon."""
        budget = Budget.of(epsilon)
        _, witness, close = _worst(self._sides, budget, self.form)
        return Reading(f"delta_{self.form}", largest(close, budget.exp(bits)), "", None, witness)

    def epsilon(self, delta: object) -> Reading:
        """Return the smallest epsilon for a delta, as the logarithm of an exact ratio.

        Newton's method on a convex, piecewise linear function of E = e^epsilon in exact fractions:
        it stops after finitely many steps at the exact root.
        """
        target = exact_probability(delta, name="delta")
        ratio = Fraction(1)
        while True:
            budget = Budget.from_ratio(ratio)
            found, witness, _ = _worst(self._sides, budget, self.form)
            value = found.value(Enclosure.of(ratio))
            if value.lower <= target:
                return Reading.of_ratio(f"epsilon_{self.form}", ratio, witness)
            needed = found.required(target)
            if needed is None:
                return Reading.of_ratio(f"epsilon_{self.form}", None, witness)
            ratio = needed

    def points(self, epsilons: Floats) -> Floats:
        """Estimate delta at many epsilons in float64, for drawing."""
        rows = [
            max(float(side.estimates(float(np.exp(e)), self.form).max()) for side in self._sides)
            for e in epsilons
        ]
        return np.array(rows)


@dataclass(frozen=True, init=False)
class ApproximateLIP(Approximate):
    """The guarantee (epsilon, delta)-LIP in a named form.

    Source: 000 Def 5, Cor 9; 003 Def 4.
    """

    form: Form

    key = "lip_ediv"
    title = "(epsilon, delta)-LIP"
    says = "(epsilon, delta)-LIP"

    @classmethod
    def kinds(cls) -> tuple[Kind, ...]:
        """Return a kind for each form."""
        return tuple(
            Kind(
                f"lip_{form}",
                f"delta ({form})",
                cls.parameters,
                partial(cls, form=form),
                f"{cls.says}, {source}",
                "approximate_lip",
            )
            for form, source in _SOURCES.items()
        )

    def __init__(self, epsilon: object, delta: object, form: str = "ediv") -> None:
        super().__init__(epsilon, delta)
        object.__setattr__(self, "form", _check_form(form))

    @property
    def name(self) -> str:
        """The key of the notion."""
        return f"lip_{self.form}"

    @staticmethod
    def measure(
        channel: Channel, context: Context, epsilon: object, form: str = "ediv", bits: int = BITS
    ) -> Reading:
        """Measure the smallest delta of (epsilon, delta)-LIP.

        Source: 000 Def 5 (form def5), 000 Cor 9 (form ediv), 003 Def 4 (form joint).

        >>> from liftlock.prior import Prior
        >>> float(ApproximateLIP.measure(Channel.identity("ab"), Prior.uniform("ab"), 0, "joint"))
        0.25
        """
        return DeltaCurve.of(channel, context, form).delta(epsilon, bits)

    def certify(
        self, channel: AnyChannel, context: Context, *, impossible: Impossible = "refuse"
    ) -> Certificate:
        """Audit exactly whether delta is enough at this epsilon."""
        unprotected = refuse_impossible(channel, context, impossible)
        sides = _sides(dense(channel), context, self.form)
        _, witness, close = _worst(sides, self.epsilon, self.form)
        # delta(E) <= delta iff E >= the ratio this worst set requires: a comparison we can decide.
        holds = all(self.epsilon.allows(each.required(self.delta)) for each in close)
        claim = Claim(
            f"delta_{self.form}",
            largest(close, self.epsilon.exp()),
            "<=",
            Enclosure.of(self.delta),
            holds,
            witness,
        )
        return make_certificate(self.name, self.budgets, channel, context, [claim], {}, unprotected)

    def delta_at_epsilon(self, channel: AnyChannel, context: Context) -> Reading:
        """Return the smallest delta that a channel keeps at this epsilon."""
        return DeltaCurve.of(dense(channel), context, self.form).delta(self.epsilon)

    def epsilon_at_delta(self, channel: AnyChannel, context: Context) -> Reading:
        """Return the smallest epsilon that a channel keeps at this delta."""
        return DeltaCurve.of(dense(channel), context, self.form).epsilon(self.delta)

    def delta_limit(self) -> DeltaLimit:
        """Return epsilon, delta and the form."""
        return DeltaLimit(self.epsilon, self.delta, self.form)

    @property
    def without_delta(self) -> Notion:
        """The guarantee without a delta that implies it."""
        return LIP(self.epsilon)

    @property
    def promise(self) -> str:
        """What it promises, in words."""
        factor, delta = self._texts()
        if self.form == "ediv":
            return (
                "Take any set of values that may be released as {column}. Among people with any "
                f"one {{secret}} it is at most {factor} times as likely as among everybody, plus "
                f"{delta}; and among everybody at most {factor} times as likely as among them, "
                f"plus {delta}. {_BEYOND}"
            )
        if self.form == "def5":
            return (
                "Take any set of values that may be released as {column}, and its probability "
                f"among everybody. Among people with any one {{secret}} it is at most {factor} "
                f"times that probability with {delta} added to it; and among everybody it is at "
                f"most {factor} times what it is among them, plus {delta}. {_BEYOND}"
            )
        return (
            "Take any set of values that may be released as {column} and any one {secret}: the "
            f"probability that both occur is, up to {delta}, at most {factor} times what it would "
            "be if they had nothing to do with each other, and the other way round. For a rare "
            "{secret} this promises little."
        )


# --- LDP with a delta -----------------------------------------------------------------------------


def _worst_pair(given: Likelihoods, budget: Budget) -> tuple[Excess, Witness, list[Excess]]:
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


@dataclass(frozen=True, init=False)
class ApproximateLDP(Approximate):
    """The guarantee (epsilon, delta)-LDP.

    Source: 000 Def 1.
    """

    key = "ldp_delta"
    title = "delta (LDP)"
    says = "(epsilon, delta)-LDP"
    page = "approximate_ldp"
    context_free = True

    @staticmethod
    def measure(
        channel: Channel, context: Context | None, epsilon: object, bits: int = BITS
    ) -> Reading:
        """Measure the smallest delta of (epsilon, delta)-LDP.

            delta = max over s, s' of sum over y of max(0, P(y | s) - e^epsilon P(y | s'))

        Source: 000 Def 1.

        >>> float(ApproximateLDP.measure(Channel.identity("ab"), None, 1))
        1.0
        """
        budget = Budget.of(epsilon)
        _, witness, close = _worst_pair(likelihoods(channel, context), budget)
        return Reading("delta_ldp", largest(close, budget.exp(bits)), "", None, witness)

    @staticmethod
    def epsilon_for(channel: Channel, context: Context | None, delta: object) -> Reading:
        """Return the smallest epsilon for a delta, as the logarithm of an exact ratio."""
        target = exact_probability(delta, name="delta")
        given = likelihoods(channel, context)
        ratio = Fraction(1)
        while True:
            found, witness, _ = _worst_pair(given, Budget.from_ratio(ratio))
            if found.value(Enclosure.of(ratio)).lower <= target:
                return Reading.of_ratio("epsilon_ldp", ratio, witness)
            needed = found.required(target)
            if needed is None:
                return Reading.of_ratio("epsilon_ldp", None, witness)
            ratio = needed

    def certify(
        self,
        channel: AnyChannel,
        context: Context,
        *,
        impossible: Impossible = "refuse",  # noqa: ARG002 - every input counts for LDP
    ) -> Certificate:
        """Audit exactly whether delta is enough at this epsilon."""
        _, witness, close = _worst_pair(likelihoods(dense(channel), context), self.epsilon)
        holds = all(self.epsilon.allows(each.required(self.delta)) for each in close)
        value = largest(close, self.epsilon.exp())
        claim = Claim("delta_ldp", value, "<=", Enclosure.of(self.delta), holds, witness)
        return make_certificate(self.name, self.budgets, channel, context, [claim], {})

    def delta_at_epsilon(self, channel: AnyChannel, context: Context) -> Reading:
        """Return the smallest delta that a channel keeps at this epsilon."""
        return self.measure(dense(channel), context, self.epsilon)

    def epsilon_at_delta(self, channel: AnyChannel, context: Context) -> Reading:
        """Return the smallest epsilon that a channel keeps at this delta."""
        return self.epsilon_for(dense(channel), context, self.delta)

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
        factor, delta = self._texts()
        return (
            f"Take any set of values that may be released as {{column}}: it is at most {factor} "
            f"times as likely, plus {delta}, for people with one {{secret}} as for people with any "
            f"other. {_BEYOND}"
        )
