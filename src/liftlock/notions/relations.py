"""From a guarantee in one notion, the best provable guarantee in every other.

`implications` applies the rules of `liftlock.notions.rules` until nothing improves. Directions
that do not exist are listed with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from liftlock.errors import InputError, NotDefined
from liftlock.exact.budget import Budget
from liftlock.exact.enclosure import Enclosure
from liftlock.exact.rounding import enclose_log, ratio_above, round_up, upper_end
from liftlock.model import Context, Joint, Prior
from liftlock.notions.base import (
    DeltaLimit,
    Notion,
    Order,
    OrderedBound,
    UpperBound,
    read_order,
    safe_text,
)
from liftlock.notions.measurement import number_to_json
from liftlock.notions.registry import NOTIONS
from liftlock.notions.rules import DELTA_RULES, RULES, Population


def leakages() -> dict[str, type[UpperBound]]:
    """Return what the rules speak of: logarithms of ratios first, then other nats, then numbers.

    >>> list(leakages())[:3]
    ['eps_upper', 'eps_lower', 'ldp']
    """
    related = {key for rule in RULES for key in (rule.gives, *rule.needs)}
    found = [
        each for each in NOTIONS.values() if issubclass(each, UpperBound) and each.key in related
    ]
    found.sort(key=lambda each: (not each.of_ratio, each.unit != "nats"))
    return {each.key: each for each in found}


@dataclass(frozen=True)
class Implication:
    """One line of the table: a bound (None: there is none), its formula and its source."""

    target: str
    bound: Enclosure | None
    unit: str
    formula: str
    source: str

    def __str__(self) -> str:
        if self.bound is None:
            return f"{self.target}: no bound ({self.formula})"
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.target} <= {safe_text(self.bound)}{unit}  [{self.formula}; {self.source}]"

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "target": self.target,
            "bound": None if self.bound is None else number_to_json(self.bound),
            "unit": self.unit,
            "formula": self.formula,
            "source": self.source,
        }


def implications(
    guarantee: Notion, context: Context | None = None, *, alpha: object = None
) -> list[Implication]:
    """Return what a guarantee implies in every other notion, best bound first proved.

    Without a context only what holds for every prior is used; `alpha` asks for the measures of
    that order too (by default of the guarantee's own order, if it has one).

    Source: 000 Thm 1, Prop 1, Thm 3, Cor 3; 002 Prop 1, 3-6 (in their corrected forms).

    >>> from liftlock.notions.lip import LIP
    >>> table = {
    ...     row.target: row for row in implications(LIP("1"), Prior.from_counts({"a": 1, "b": 9}))
    ... }
    >>> print(f"{float(table['ldp'].bound):.5f}")
    1.21186
    >>> table = {row.target: row for row in implications(LIP("1"))}
    >>> float(table["ldp"].bound)
    2.0
    """
    prior = None if context is None else Population.of(_secret_prior(context))
    limit = guarantee.delta_limit()
    if limit is not None:
        return [*_deltas(guarantee, limit, prior), *_without_delta(guarantee, limit, context)]
    order = None if alpha is None else _finite(read_order(alpha), "the measures")
    table = _Table.of(guarantee, prior)
    given = dict(table.bounds)
    try:
        if isinstance(guarantee, OrderedBound):
            own = _finite(guarantee.alpha, guarantee.name)
            if order is not None and order != own:
                table.close(own)
                table.change_order(own, order)
            else:
                order = own
        table.close(order)
    except _Impossible:
        raise InputError(
            "no mechanism keeps this guarantee, not even one that releases nothing",
            value=str(guarantee),
            remedy="give a larger budget",
        ) from None
    if prior is not None and not prior.complete:
        # The rules speak of the symbols that can occur; LDP is about every row of the channel.
        table.bounds.pop("ldp", None)
        if "ldp" in given:
            table.bounds["ldp"], table.how["ldp"] = given["ldp"], _GIVEN
    targets = (key for key, each in leakages().items() if order is not None or not _has_order(each))
    return [table.line(target, given) for target in ("lip", *targets)]


def _has_order(notion: type[Notion]) -> bool:
    return issubclass(notion, OrderedBound)


def _finite(order: Order, what: str) -> Fraction:
    if order is None:
        raise NotDefined(
            f"{what} of order infinity",
            "the table of relations",
            "use eps_upper, eps_lower or maximal_leakage, which stand for that order",
        )
    return order


def _secret_prior(context: Context) -> Prior:
    if isinstance(context, Prior):
        return context
    if isinstance(context, Joint):
        return context.secret_prior.restrict()  # a secret that never occurs has no likelihood
    raise NotDefined("the table of relations", context.describe(), "give a prior or a joint")


# --- bounds that are proved one after the other ---------------------------------------------------

_GIVEN = ("given", "given")


class _Impossible(Exception):
    """A leakage would have to be below what it is for a channel that says nothing."""


@dataclass
class _Table:
    """Upper bounds proved so far (of ratios, nats or numbers), each with its formula and source."""

    prior: Population | None
    bounds: dict[str, Fraction]
    how: dict[str, tuple[str, str]]
    logarithms: dict[Fraction, Enclosure] = field(default_factory=dict)
    """Ratios that are e^budget, so that a budget of 1 is not printed 1.0000000001."""

    @classmethod
    def of(cls, guarantee: Notion, prior: Population | None) -> _Table:
        """Write down what a guarantee says directly."""
        limits = guarantee.lift_limits()
        if limits is not None:
            sides = {"eps_upper": limits.upper, "eps_lower": limits.lower}
        elif isinstance(guarantee, UpperBound) and guarantee.key in leakages():
            budget = guarantee.budget
            if not guarantee.of_ratio:
                value = upper_end(budget.nats()) if isinstance(budget, Budget) else budget
                return cls(prior, {guarantee.key: value}, {guarantee.key: _GIVEN})
            assert isinstance(budget, Budget)
            sides = {guarantee.key: budget}
        else:
            graph = "it depends on a graph of profiles; LDP of the value implies it for every graph"
            remedy = "use another guarantee" if guarantee.profile_budget is None else graph
            raise NotDefined(guarantee.name, "the table of relations", remedy)
        budgets = {name: side for name, side in sides.items() if side is not None}
        bounds = {name: ratio_above(side) for name, side in budgets.items()}
        known = {bounds[name]: side.nats() for name, side in budgets.items()}
        # The keys are rounded as the rules round their results.
        (up, upper), *_, (down, lower) = known.items() if len(known) > 1 else 2 * [*known.items()]
        known[round_up(down * up)] = lower + upper
        return cls(prior, bounds, dict.fromkeys(bounds, _GIVEN), known)

    def close(self, order: Fraction | None) -> None:
        """Apply every rule until nothing improves."""
        ratios = {key for key, each in leakages().items() if each.of_ratio}
        improved = True
        rounds = 0
        while improved and rounds < 8:
            improved = False
            rounds += 1
            for rule in RULES:
                value = rule.apply(self.bounds, self.prior, order)
                if value is None:
                    continue
                if value < (1 if rule.gives in ratios else 0):
                    raise _Impossible
                value = round_up(value)
                old = self.bounds.get(rule.gives)
                # A relative gain below 1e-12 is rounding, not a better theorem.
                if old is None or value < old - abs(old) / 10**12:
                    self.bounds[rule.gives] = value
                    self.how[rule.gives] = (rule.formula, rule.source)
                    improved = True

    def change_order(self, own: Fraction, order: Fraction) -> None:
        """Forget what was said of measures of one order, except what holds for lower orders too."""
        for name, each in leakages().items():
            if name in self.bounds and _has_order(each):
                if order < own and name != "arimoto":
                    at_most = f"at most its value at order {own}"
                    self.how[name] = (at_most, "power means grow with alpha")
                else:
                    del self.bounds[name], self.how[name]

    def line(self, target: str, given: Mapping[str, Fraction]) -> Implication:
        """Return the line of the table for one leakage."""
        if target == "lip":
            if "eps_upper" in self.bounds and "eps_lower" in self.bounds:
                side = max(("eps_upper", "eps_lower"), key=lambda name: self.bounds[name])
                formula = f"max of both sides, {side}"
                return Implication("lip", self._nats(side), "nats", formula, self.how[side][1])
            return Implication("lip", None, "nats", self._no_bound("lip", given), "")
        notion = leakages()[target]
        if target not in self.bounds:
            return Implication(target, None, notion.unit, self._no_bound(target, given), "")
        if notion.of_ratio:
            bound = self._nats(target)
        else:
            value = self.bounds[target]
            nats = {
                round_up(upper_end(enclose_log(ratio))): known
                for ratio, known in self.logarithms.items()
            }
            bound = (nats.get(value) if notion.unit else None) or Enclosure.of(value)
        return Implication(target, bound, notion.unit, *self.how[target])

    def _nats(self, name: str) -> Enclosure:
        return self.logarithms.get(self.bounds[name]) or enclose_log(self.bounds[name])

    def _no_bound(self, target: str, given: Mapping[str, Fraction]) -> str:
        """Say why there is no bound."""
        known = leakages()
        averages = {key for key, each in known.items() if each.averages}
        if target == "ldp" and self.prior is not None and not self.prior.complete:
            return _NOT_EVERY_SYMBOL
        if averages & set(given) and target not in averages:
            return f"averages do not bound the worst output: {_COUNTEREXAMPLE}"
        if target == "identifiability" and self.prior is None:
            return "it needs the prior: posterior odds contain the prior's own odds"
        if target in {"lip", "ldp"} and "eps_lower" in self.bounds:
            return "it needs the prior: a rare symbol may rise without limit"
        falls = {"lip", "eps_lower", "ldp", "identifiability"}
        if target in falls or known[target].inverse:
            return "nothing here keeps the min-lift away from 0 (or it needs the prior)"
        return "not known, or it needs the prior"


_COUNTEREXAMPLE = (
    "an output of tiny probability may reveal everything: rows (.999, .001) and (1, 0) under a "
    "uniform prior have maximal leakage .001 and infinite LIP"
)
_NOT_EVERY_SYMBOL = "a symbol of prior probability 0 has no guarantee, and LDP covers every symbol"


# --- (epsilon, delta) -----------------------------------------------------------------------------


def _deltas(
    guarantee: Notion, limit: DeltaLimit, prior: Population | None
) -> Iterator[Implication]:
    """Convert between the forms of delta, which all stand at the same epsilon except LDP's."""
    given = {guarantee.name: limit.delta, "ratio": ratio_above(limit.epsilon)}
    for rule in (each for each in DELTA_RULES if guarantee.name in each.needs):
        doubled = "2 x " * (rule.gives == "ldp_delta")
        value = rule.apply(given, prior)
        if doubled and prior is not None and not prior.complete:
            yield Implication(rule.gives, None, "", _NOT_EVERY_SYMBOL, "")
        elif value is None:
            yield Implication(rule.gives, None, "", "needs the prior", "")
        else:
            bound = Enclosure.of(round_up(min(value, Fraction(1))))
            where = f"{rule.formula} at epsilon {doubled}{limit.epsilon}"
            yield Implication(rule.gives, bound, "", where, rule.source)


def _without_delta(
    guarantee: Notion, limit: DeltaLimit, context: Context | None
) -> Iterator[Implication]:
    """Say what follows for notions without a delta."""
    targets = ("lip", "ldp", "identifiability")
    if limit.delta:
        reason = "a delta above 0 lets some outputs reveal everything"
        yield from (Implication(target, None, "nats", reason, "") for target in targets)
    else:
        rows = implications(guarantee.without_delta, context)
        yield from (row for row in rows if row.target in targets)
