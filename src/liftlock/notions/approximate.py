"""Notions with a delta: LIP in three inequivalent forms, and LDP, each with its whole curve.

With E = e^epsilon, q_s = P(y | s), lambda = P(y) and E-divergences over *sets* of outputs:

- ``def5`` (000 Def 5):   max over s of  E_E(q_s || lambda) / E  and  E_E(lambda || q_s);
- ``ediv`` (000 Cor 9):   max over s of  E_E(q_s || lambda)      and  E_E(lambda || q_s);
- ``joint`` (003 Def 4):  the same as ``ediv``, each multiplied by P(s);
- ``ldp`` (000 Def 1):    max over s, s' of  E_E(q_s || q_s').

They are ordered: def5 <= ediv <= E def5, and joint <= P_max ediv <= (P_max / P_min) joint.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import ClassVar, Literal, get_args

import numpy as np

from liftlock.errors import NotDefined, NumberError
from liftlock.exact.budget import Budget
from liftlock.exact.decimals import round_up_text
from liftlock.exact.enclosure import BITS, Enclosure
from liftlock.exact.integers import EXACT_FLOAT_BITS, Floats
from liftlock.exact.numbers import exact_probability
from liftlock.model import Context, Family, Joint, Prior
from liftlock.model.alphabet import Label
from liftlock.model.channel import Channel
from liftlock.model.structured import AnyChannel, to_dense
from liftlock.notions.base import (
    Decided,
    DeltaLimit,
    Notion,
    NotionKind,
    claim_text,
    safe_text,
)
from liftlock.notions.certificate import Claim
from liftlock.notions.e_divergence import Excess, excess, largest_excess, positive_parts
from liftlock.notions.ldp import LDP
from liftlock.notions.likelihood import Indices, Likelihoods, likelihoods
from liftlock.notions.lip import LIP
from liftlock.notions.measurement import Measurement, Witness, exact_maximum, screening_error

Form = Literal["def5", "ediv", "joint", "ldp"]
CURVES: tuple[Form, ...] = get_args(Form)
_SOURCES: dict[Form, str] = {"def5": "000 Def 5", "ediv": "000 Cor 9", "joint": "003 Def 4"}
FORMS = tuple(_SOURCES)
"""The forms of LIP with a delta."""

_MANY = 256
"""With more pairs than this near the largest, those that are alike are looked at once."""
_UNSURE = 1e-9
_TOGETHER = 512


# --- pairs of distributions -----------------------------------------------------------------------


@dataclass(frozen=True)
class _Pairs(ABC):
    """Pairs (p, q) of distributions of the outputs: p may exceed E q by delta."""

    given: Likelihoods
    """The likelihoods of the secrets."""

    @abstractmethod
    def estimates(self, ratio: float) -> Floats:
        """Estimate the excess of every pair."""

    def key(self, index: int) -> Hashable:
        """Return a key that pairs of equal excess share."""
        return index

    @abstractmethod
    def excess(self, index: int, budget: Budget) -> Excess:
        """Return the exact excess of one pair."""

    @abstractmethod
    def witness(self, index: int, outputs: tuple[Label, ...]) -> Witness:
        """Name one pair, and a set of outputs."""

    @property
    def error(self) -> float:
        """How far estimates may be off."""
        return self.given.error + screening_error(len(self.given.outputs))

    def worst(self, budget: Budget) -> tuple[Excess, Witness, list[Excess]]:
        """Return the largest excess of any pair, and all that came close."""
        ratio = budget.exp()
        found: dict[int, Excess] = {}
        first: dict[Hashable, int] = {}

        def evaluate(index: int) -> Enclosure:
            index = first.setdefault(self.key(index), index)
            if index not in found:
                found[index] = self.excess(index, budget)
            return found[index].value(ratio)

        _, index = exact_maximum(self.estimates(float(ratio)), self.error, evaluate)
        index = first[self.key(index)]
        outputs = tuple(self.given.outputs.labels[y] for y in found[index].outputs)
        return found[index], self.witness(index, outputs), list(found.values())


@dataclass(frozen=True)
class _AgainstAll(_Pairs):
    """The likelihoods of each secret against the output masses under each prior, both ways."""

    form: Form
    masses: tuple[tuple[list[int], int], ...]
    """For each prior the output masses, and their total."""
    weights: tuple[Fraction, ...]
    """P(s) for the joint form, else 1."""
    priors: tuple[Prior | None, ...]
    """The members of a family."""

    @classmethod
    def of(cls, channel: Channel, context: Context, form: Form) -> _AgainstAll:
        """Take the secrets that can occur."""
        every = likelihoods(channel, context)
        members: tuple[Prior | None, ...] = (None,)
        if isinstance(context, Family) and form != "joint":
            family = context.reordered(channel.inputs)
            rows, priors = np.flatnonzero(family.possible), family.priors
            members, secret = priors, priors[0]
        elif isinstance(context, Family):
            raise NotDefined(
                "the joint form of (epsilon, delta)-LIP",
                context.describe(),
                "mixtures do not keep it; use def5 or ediv",
            )
        elif isinstance(context, Prior | Joint):
            secret, priors = context.secret_prior.restrict(every.secrets.labels), (context.prior,)
            rows = np.flatnonzero(np.array(secret.counts, dtype=object))
        else:
            raise NotDefined(
                "(epsilon, delta)-LIP",
                context.describe(),
                "use a prior, a joint, or a finite family of priors",
            )
        given = every.select(rows, np.arange(len(channel.outputs)))
        common = channel.common_total
        masses = tuple((channel.output_counts(p), p.total * common) for p in priors)
        weights = tuple(secret.fractions[int(s)] if form == "joint" else Fraction(1) for s in rows)
        return cls(given, form, masses, weights, members)

    def estimates(self, ratio: float) -> Floats:
        rows, found = self.given.approximate, []
        weights = np.array([float(weight) for weight in self.weights])
        for masses, total in self.masses:
            output = np.array([float(Fraction(mass, total)) for mass in masses])
            up = positive_parts(rows, output, ratio)
            down = positive_parts(np.broadcast_to(output, rows.shape), rows, ratio)
            found += [(up / ratio if self.form == "def5" else up) * weights, down * weights]
        return np.concatenate(found)

    def _place(self, index: int) -> tuple[int, bool, int]:
        """Return which prior, whether the output masses exceed, and which secret."""
        side, s = divmod(index, len(self.given.secrets))
        return side // 2, side % 2 == 1, s

    def excess(self, index: int, budget: Budget) -> Excess:
        which, down, s = self._place(index)
        row, all_of_them = (self.given.row(s), self.given.denominators[s]), self.masses[which]
        found = excess(*all_of_them, *row, budget) if down else excess(*row, *all_of_them, budget)
        inverse = self.form == "def5" and not down
        return Excess(found.mass, found.reference, found.outputs, self.weights[s], inverse)

    def witness(self, index: int, outputs: tuple[Label, ...]) -> Witness:
        which, _, s = self._place(index)
        return Witness(self.given.secrets.labels[s], outputs=outputs, prior=self.priors[which])


class _AgainstEachOther(_Pairs):
    """The likelihoods of each secret against those of each other."""

    def estimates(self, ratio: float) -> Floats:
        rows = self.given.approximate
        found = np.concatenate([positive_parts(row, rows, ratio) for row in rows])
        close = np.flatnonzero(found >= found.max() - 4 * self.error)
        if len(close) > _MANY:
            self._drop_repeated(found, close, ratio)
        return found

    def _drop_repeated(self, estimates: Floats, close: Indices, ratio: float) -> None:
        """Leave one of all near pairs that have the same excess, in integers; the rest are -inf.

        The mass and the reference of a pair are sums of whole numbers below 2^52, so exact. A pair
        for which floats cannot tell which outputs exceed is left as it is.
        """
        single, count = self.given.numerators.single, len(self.given.secrets)
        totals = set(self.given.denominators)
        if single is None or len(totals) > 1 or max(totals) > 1 << EXACT_FLOAT_BITS:
            return
        if not np.isfinite(ratio):
            return
        weights = single.astype(np.int64)
        floats = weights.astype(np.float64)
        seen: set[tuple[int, int]] = set()
        starts = np.flatnonzero(np.diff(close // count, prepend=-1))
        for indices in np.split(close, np.union1d(starts, np.arange(0, len(close), _TOGETHER))[1:]):
            s, others = int(indices[0]) // count, indices % count
            beyond = floats[s] - ratio * floats[others]
            unsure = (np.abs(beyond) <= _UNSURE * floats[s]) & (weights[s] > 0)
            chosen = beyond > 0
            masses = (weights[s] * chosen).sum(axis=1)
            references = (weights[others] * chosen).sum(axis=1)
            for place in np.flatnonzero(~unsure.any(axis=1)):
                pair = int(masses[place]), int(references[place])
                if pair in seen:
                    estimates[indices[place]] = -np.inf
                seen.add(pair)

    def key(self, index: int) -> Hashable:
        """Mechanisms with symmetries repeat the same pair of values many times: look once."""
        s, other = divmod(index, len(self.given.secrets))
        parts = [part[[s, other]] for _, part in self.given.numerators.parts]
        stacked = np.concatenate(parts, axis=0)
        values = stacked[:, np.lexsort(stacked)].tobytes()
        return values, self.given.denominators[s], self.given.denominators[other]

    def excess(self, index: int, budget: Budget) -> Excess:
        s, other = divmod(index, len(self.given.secrets))
        row, totals = self.given.row, self.given.denominators
        return excess(row(s), totals[s], row(other), totals[other], budget)

    def witness(self, index: int, outputs: tuple[Label, ...]) -> Witness:
        first, second = (
            self.given.secrets.labels[s] for s in divmod(index, len(self.given.secrets))
        )
        return Witness(first, other=second, outputs=outputs)


@dataclass(frozen=True)
class DeltaCurve:
    """The curve delta(epsilon) of a channel in a context, in one form; exact at every point.

    >>> from liftlock.model import Prior
    >>> curve = DeltaCurve.of(Channel.identity("ab"), Prior.uniform("ab"), "ediv")
    >>> curve.delta(0).value.lower, float(curve.epsilon("0.25"))
    (Fraction(1, 2), inf)
    """

    form: Form
    _pairs: _Pairs

    @classmethod
    def of(cls, channel: AnyChannel, context: Context | None, form: str = "ediv") -> DeltaCurve:
        """Prepare the curve of a channel; that of LDP needs no context."""
        kind, table = _check_form(form, CURVES), to_dense(channel)
        if kind == "ldp":
            return cls(kind, _AgainstEachOther(likelihoods(table, context)))
        assert context is not None
        return cls(kind, _AgainstAll.of(table, context, kind))

    def delta(self, epsilon: object, bits: int = BITS) -> Measurement:
        """Return the smallest delta for an epsilon."""
        budget = Budget.of(epsilon)
        _, witness, close = self._pairs.worst(budget)
        value = largest_excess(close, budget.exp(bits))
        return Measurement(f"delta_{self.form}", value, "", None, witness)

    def claim(self, epsilon: Budget, delta: Fraction) -> Claim:
        """Decide exactly whether a delta is enough at an epsilon."""
        _, witness, close = self._pairs.worst(epsilon)
        # delta(E) <= delta iff E >= the ratio this worst set requires: a comparison we can decide.
        holds = all(epsilon.allows(each.required_ratio(delta)) for each in close)
        value, bound = largest_excess(close, epsilon.exp()), Enclosure.of(delta)
        return Claim(f"delta_{self.form}", value, "<=", bound, holds, witness)

    def epsilon(self, delta: object) -> Measurement:
        """Return the smallest epsilon for a delta, as the logarithm of an exact ratio.

        Newton's method on a convex, piecewise linear function of E = e^epsilon in exact fractions:
        it stops after finitely many steps at the exact root.
        """
        target = exact_probability(delta, name="delta")
        ratio: Fraction | None = Fraction(1)
        while True:
            assert ratio is not None
            found, witness, _ = self._pairs.worst(Budget.from_ratio(ratio))
            if found.value(Enclosure.of(ratio)).lower > target:
                ratio = found.required_ratio(target)
                if ratio is not None:
                    continue
            return Measurement.of_ratio(f"epsilon_{self.form}", ratio, witness)

    def points(self, epsilons: Floats) -> Floats:
        """Estimate delta at many epsilons in float64, for drawing."""
        return np.array([float(self._pairs.estimates(float(np.exp(e))).max()) for e in epsilons])


def _check_form(form: str, forms: Iterable[Form]) -> Form:
    for known in forms:
        if form == known:
            return known
    raise NumberError("unknown form of delta", value=form, remedy=f"use one of {', '.join(forms)}")


# --- guarantees -----------------------------------------------------------------------------------


@dataclass(frozen=True, init=False)
class Approximate(Notion):
    """A notion with a delta: what may go beyond epsilon, as a probability."""

    epsilon: Budget
    delta: Fraction

    unit = ""
    parameters = ("epsilon", "delta")
    audited = "with `--at-epsilon`"
    pure: ClassVar[type[LIP | LDP]]

    def __init__(self, epsilon: object, delta: object) -> None:
        object.__setattr__(self, "epsilon", Budget.of(epsilon))
        object.__setattr__(self, "delta", exact_probability(delta, name="delta"))

    def delta_limit(self) -> DeltaLimit:
        """Return epsilon, delta and the form."""
        return DeltaLimit(self.epsilon, self.delta, "ldp")

    @property
    def without_delta(self) -> Notion:
        """The guarantee without a delta that implies it."""
        return self.pure(self.epsilon)

    def _curve(self, channel: AnyChannel, context: Context) -> DeltaCurve:
        return DeltaCurve.of(channel, context, self.delta_limit().form)

    def decide(self, channel: AnyChannel, context: Context) -> Decided:
        """Decide exactly whether delta is enough at this epsilon."""
        return [self._curve(channel, context).claim(self.epsilon, self.delta)], {}

    def epsilon_at_delta(self, channel: AnyChannel, context: Context) -> Measurement:
        """Return the smallest epsilon that a channel keeps at this delta."""
        return self._curve(channel, context).epsilon(self.delta)

    def _delta_text(self, channel: AnyChannel, context: Context) -> str:
        return safe_text(self._curve(channel, context).delta(self.epsilon).value)

    def smallest_text(self, channel: AnyChannel, context: Context) -> str:
        """Say the smallest delta at this epsilon, and the smallest epsilon at this delta."""
        delta = self._delta_text(channel, context)
        epsilon = claim_text("epsilon", self.epsilon_at_delta(channel, context).value)
        other = f", or {epsilon} at this delta" if epsilon else ""
        return f"delta={delta} at this epsilon{other}"

    def smallest_guarantee(self, channel: AnyChannel, context: Context) -> Notion:
        """Return the guarantee with the smallest delta that a channel keeps at this epsilon."""
        delta = self._delta_text(channel, context)
        return self._like({"epsilon": self.epsilon, "delta": delta})

    def _texts(self) -> tuple[str, str]:
        """Return the factor e^epsilon and delta as text on the safe side."""
        top = self.epsilon.exp().upper
        assert top is not None
        return round_up_text(top), round_up_text(self.delta)


_BEYOND = "Single values may go beyond the factor, and nothing is said of how far."


@dataclass(frozen=True, init=False)
class ApproximateLIP(Approximate):
    """The guarantee (epsilon, delta)-LIP in a named form.

    Source: 000 Def 5, Cor 9; 003 Def 4.
    """

    form: Form

    key = "lip_ediv"
    title = "(epsilon, delta)-LIP"
    summary = "(epsilon, delta)-LIP"
    pure = LIP

    @classmethod
    def kinds(cls) -> tuple[NotionKind, ...]:
        """Return a kind for each form."""
        return tuple(
            NotionKind(
                f"lip_{form}",
                f"delta ({form})",
                cls.parameters,
                partial(cls, form=form),
                f"{cls.summary}, {source}",
                "approximate_lip",
                f"delta_{form}",
            )
            for form, source in _SOURCES.items()
        )

    def __init__(self, epsilon: object, delta: object, form: str = "ediv") -> None:
        super().__init__(epsilon, delta)
        object.__setattr__(self, "form", _check_form(form, FORMS))

    @property
    def name(self) -> str:
        """The key of the notion."""
        return f"lip_{self.form}"

    @staticmethod
    def measure(
        channel: AnyChannel, context: Context, epsilon: object, form: str = "ediv", bits: int = BITS
    ) -> Measurement:
        """Measure the smallest delta of (epsilon, delta)-LIP.

        Source: 000 Def 5 (form def5), 000 Cor 9 (form ediv), 003 Def 4 (form joint).

        >>> from liftlock.model import Prior
        >>> float(ApproximateLIP.measure(Channel.identity("ab"), Prior.uniform("ab"), 0, "joint"))
        0.25
        """
        return DeltaCurve.of(channel, context, _check_form(form, FORMS)).delta(epsilon, bits)

    def delta_limit(self) -> DeltaLimit:
        """Return epsilon, delta and the form."""
        return DeltaLimit(self.epsilon, self.delta, self.form)

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


@dataclass(frozen=True, init=False)
class ApproximateLDP(Approximate):
    """The guarantee (epsilon, delta)-LDP.

    Source: 000 Def 1.
    """

    key = "ldp_delta"
    title = "delta (LDP)"
    summary = "(epsilon, delta)-LDP"
    page = "approximate_ldp"
    quantity = "delta_ldp"
    context_free = True
    pure = LDP

    @staticmethod
    def measure(
        channel: AnyChannel, context: Context | None, epsilon: object, bits: int = BITS
    ) -> Measurement:
        """Measure the smallest delta of (epsilon, delta)-LDP.

            delta = max over s, s' of sum over y of max(0, P(y | s) - e^epsilon P(y | s'))

        Source: 000 Def 1.

        >>> float(ApproximateLDP.measure(Channel.identity("ab"), None, 1))
        1.0
        """
        return DeltaCurve.of(channel, context, "ldp").delta(epsilon, bits)

    @property
    def promise(self) -> str:
        """What it promises, in words."""
        factor, delta = self._texts()
        return (
            f"Take any set of values that may be released as {{column}}: it is at most {factor} "
            f"times as likely, plus {delta}, for people with one {{secret}} as for people with any "
            f"other. {_BEYOND}"
        )
