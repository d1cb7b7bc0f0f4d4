"""From a guarantee in one notion, the best provable guarantee in every other.

`implied` applies the rules of `liftlock.notions.rules` until nothing improves. Directions that do
not exist are listed with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from liftlock.context import Context, Joint
from liftlock.errors import InputError, NotDefined
from liftlock.exact.budget import Budget
from liftlock.exact.enclosure import Enclosure
from liftlock.exact.safe_side import log_enclosed, ratio_above, rounded_up, upper_end
from liftlock.notions.base import (
    DeltaLimit,
    Notion,
    Order,
    OrderedUpperBound,
    UpperBound,
    read_order,
    safe_text,
)
from liftlock.notions.reading import number_to_json
from liftlock.notions.rules import NATS, ORDERED, PLAIN, RATIOS, RULES, Facts, Population
from liftlock.prior import Prior

Bounds = Mapping[str, Fraction]


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


def implied(
    guarantee: Notion, context: Context | None = None, *, alpha: object = None
) -> list[Implication]:
    """Return what a guarantee implies in every other notion, best bound first proved.

    Without a context only what holds for every prior is used; `alpha` asks for the measures of
    that order too (by default of the guarantee's own order, if it has one).

    Source: 000 Thm 1, Prop 1, Thm 3, Cor 3; 002 Prop 1, 3-6 (in their corrected forms).

    >>> from liftlock.notions.lip import LIP
    >>> table = {row.target: row for row in implied(LIP("1"), Prior.from_counts({"a": 1, "b": 9}))}
    >>> print(f"{float(table['ldp'].bound):.5f}")
    1.21186
    >>> table = {row.target: row for row in implied(LIP("1"))}
    >>> float(table["ldp"].bound)
    2.0
    """
    population = None if context is None else Population.of(_secret_prior(context))
    limit = guarantee.delta_limit()
    if limit is not None:
        return list(_approximate(guarantee, limit, context, population))
    order = None if alpha is None else _finite(read_order(alpha), "the measures")
    facts, how = _given(guarantee)
    given = dict(facts)
    known = _known_logarithms(guarantee, facts)
    try:
        if isinstance(guarantee, OrderedUpperBound):
            own = _finite(guarantee.alpha, guarantee.name)
            if order is not None and order != own:
                _close(facts, how, population, own)
                _change_order(facts, how, own, order)
            else:
                order = own
        _close(facts, how, population, order)
    except _Impossible:
        raise InputError(
            "no mechanism keeps this guarantee, not even one that releases nothing",
            value=str(guarantee),
            remedy="give a larger budget",
        ) from None
    if population is not None and not population.complete:
        # The rules speak of the symbols that can occur; LDP is about every row of the channel.
        facts.pop("ldp", None)
        if "ldp" in given:
            facts["ldp"], how["ldp"] = given["ldp"], ("given", "given")
    return [_line(target, facts, how, known, given, population) for target in _targets(order)]


class _Impossible(Exception):
    """A leakage would have to be below what it is for a channel that says nothing."""


def _finite(order: Order, what: str) -> Fraction:
    if order is None:
        raise NotDefined(
            f"{what} of order infinity",
            "the table of relations",
            "use eps_upper, eps_lower or maximal_leakage, which stand for that order",
        )
    return order


def _change_order(
    facts: dict[str, Fraction], how: dict[str, tuple[str, str]], own: Fraction, order: Fraction
) -> None:
    """Forget what was said of measures of one order, except what holds for lower orders too."""
    for name in ORDERED:
        if name in facts:
            if order < own and name != "arimoto":
                how[name] = (f"at most its value at order {own}", "power means grow with alpha")
            else:
                del facts[name], how[name]


def _targets(order: Fraction | None) -> Iterator[str]:
    yield "lip"
    for target in (*RATIOS, *NATS, *PLAIN):
        if target not in ORDERED or order is not None:
            yield target


def _secret_prior(context: Context) -> Prior:
    if isinstance(context, Prior):
        return context
    if isinstance(context, Joint):
        return context.secret_prior.restricted()  # a secret that never occurs has no likelihood
    raise NotDefined("the table of relations", context.describe(), "give a prior or a joint")


# --- what a guarantee says directly ---------------------------------------------------------------


def _given(guarantee: Notion) -> tuple[dict[str, Fraction], dict[str, tuple[str, str]]]:
    bounds: dict[str, Fraction]
    limits = guarantee.lift_limits()
    if limits is not None:
        sides = {"eps_upper": limits.upper, "eps_lower": limits.lower}
        bounds = {name: ratio_above(side) for name, side in sides.items() if side is not None}
    elif guarantee.profile_budget is not None:
        raise NotDefined(
            guarantee.name,
            "the table of relations",
            "it depends on a graph of profiles; LDP of the value implies it for every graph",
        )
    elif isinstance(guarantee, UpperBound):
        budget = guarantee.budget
        if guarantee.name in RATIOS and isinstance(budget, Budget):
            bounds = {guarantee.name: ratio_above(budget)}
        elif isinstance(budget, Budget):
            bounds = {guarantee.name: upper_end(budget.nats())}
        else:
            bounds = {guarantee.name: budget}
    else:
        raise NotDefined(guarantee.name, "the table of relations", "use another guarantee")
    return bounds, dict.fromkeys(bounds, ("given", "given"))


def _close(
    bounds: dict[str, Fraction],
    how: dict[str, tuple[str, str]],
    population: Population | None,
    order: Fraction | None,
) -> None:
    """Apply every rule until nothing improves."""
    facts = Facts(bounds, population, order)
    improved = True
    rounds = 0
    while improved and rounds < 8:
        improved = False
        rounds += 1
        for rule in RULES:
            value = rule.apply(facts)
            if value is None:
                continue
            if value < (1 if rule.gives in RATIOS else 0):
                raise _Impossible
            value = rounded_up(value)
            old = bounds.get(rule.gives)
            # A relative gain below 1e-12 is rounding, not a better theorem.
            if old is None or value < old - abs(old) / 10**12:
                bounds[rule.gives] = value
                how[rule.gives] = (rule.formula, rule.source)
                improved = True


def _known_logarithms(guarantee: Notion, bounds: Bounds) -> dict[Fraction, Enclosure]:
    """Remember which ratios are e^budget, so that a budget of 1 is not printed 1.0000000001."""
    limits = guarantee.lift_limits()
    if limits is not None:
        sides = {"eps_lower": limits.lower, "eps_upper": limits.upper}
    elif isinstance(guarantee, UpperBound) and guarantee.name in RATIOS:
        assert isinstance(guarantee.budget, Budget)
        sides = {guarantee.name: guarantee.budget}
    else:
        return {}
    known = {bounds[name]: side.nats() for name, side in sides.items() if side is not None}
    # The keys are rounded as the rules round their results.
    ends = list(known.items())
    (down, lower), (up, upper) = ends[0], ends[-1]
    return known | {rounded_up(down * up): lower + upper}


def _line(
    target: str,
    facts: Bounds,
    how: Mapping[str, tuple[str, str]],
    known: Mapping[Fraction, Enclosure],
    given: Bounds,
    population: Population | None,
) -> Implication:
    if target == "lip":
        if "eps_upper" in facts and "eps_lower" in facts:
            side = max(("eps_upper", "eps_lower"), key=lambda name: facts[name])
            bound = known.get(facts[side]) or log_enclosed(facts[side])
            return Implication("lip", bound, "nats", f"max of both sides, {side}", how[side][1])
        return Implication("lip", None, "nats", _no_bound("lip", facts, given, population), "")
    unit = "" if target in PLAIN else "nats"
    if target not in facts:
        return Implication(target, None, unit, _no_bound(target, facts, given, population), "")
    value = facts[target]
    if target in RATIOS:
        bound = known.get(value) or log_enclosed(value)
    else:
        logarithms = {
            rounded_up(upper_end(log_enclosed(ratio))): nats for ratio, nats in known.items()
        }
        bound = (logarithms.get(value) if target in NATS else None) or Enclosure.of(value)
    return Implication(target, bound, unit, *how[target])


_COUNTEREXAMPLE = (
    "an output of tiny probability may reveal everything: rows (.999, .001) and (1, 0) under a "
    "uniform prior have maximal leakage .001 and infinite LIP"
)


def _no_bound(target: str, facts: Bounds, given: Bounds, population: Population | None) -> str:
    worst = {"l1_lift", "chi2_lift", "alpha_lift"}
    inverse = {"l1_lift_inverse", "chi2_lift_inverse", "alpha_lift_inverse"}
    lifts = {"lip", "eps_upper", "eps_lower", "ldp", "identifiability"}
    averages = {"mutual_information", "maximal_leakage", "total_variation", "chi2", *ORDERED[:2]}
    if target == "ldp" and population is not None and not population.complete:
        return "a symbol of prior probability 0 has no guarantee, and LDP covers every symbol"
    if averages & set(given) and target in lifts | worst | inverse:
        return f"averages do not bound the worst output: {_COUNTEREXAMPLE}"
    if target == "identifiability" and population is None:
        return "it needs the prior: posterior odds contain the prior's own odds"
    if target in {"lip", "ldp"} and "eps_lower" in facts:
        return "it needs the prior: a rare symbol may rise without limit"
    if target in {"lip", "eps_lower", "ldp", "identifiability"} | inverse:
        return "nothing here keeps the min-lift away from 0 (or it needs the prior)"
    return "not known, or it needs the prior"


# --- (epsilon, delta) -----------------------------------------------------------------------------


def _approximate(
    guarantee: Notion, limit: DeltaLimit, context: Context | None, who: Population | None
) -> Iterator[Implication]:
    """Convert between the forms of delta, which all stand at the same epsilon except LDP's."""
    ratio, delta, epsilon = ratio_above(limit.epsilon), limit.delta, str(limit.epsilon)
    missing = "needs the prior"
    bounds: dict[str, tuple[Fraction | None, str, str]] = {}
    same = f"at epsilon {epsilon}"
    if limit.form == "ldp":
        share = Fraction(1) if who is None else 1 - who.smallest
        doubt = Fraction(1, 4) if who is None else who.doubt
        bounds["lip_ediv"] = (share * delta, f"(1-P_min) delta {same}", "000 Cor 3 (tight form)")
        bounds["lip_def5"] = (share * delta, f"(1-P_min) delta {same}", "000 Cor 3 (tight form)")
        bounds["lip_joint"] = (
            doubt * delta,
            f"max P(1-P) delta {same}",
            "003 Prop 1 (tight form)",
        )
    else:
        doubled = f"at epsilon 2 x {epsilon}"
        if limit.form == "def5":
            ediv: Fraction | None = ratio * delta
            bounds["lip_ediv"] = (ediv, f"e^eps delta {same}", "000 Def 5")
            bounds["ldp_delta"] = (
                2 * ratio * delta,
                f"2 e^eps delta {doubled}",
                "000 Cor 3 (corrected)",
            )
        elif limit.form == "ediv":
            ediv = delta
            bounds["lip_def5"] = (delta, f"delta {same}", "000 Cor 9")
            bounds["ldp_delta"] = (
                (ratio + 1) * delta,
                f"(e^eps+1) delta {doubled}",
                "000 Cor 3 (corrected)",
            )
        else:
            ediv = delta / who.smallest if who is not None else None if delta else delta
            bounds["lip_ediv"] = (ediv, f"delta/P_min {same}", "003 Def 4")
            bounds["lip_def5"] = (ediv, f"delta/P_min {same}", "003 Def 4")
            pair = ediv if who is None else delta * (ratio / who.smallest + 1 / who.second)
            bounds["ldp_delta"] = (
                pair,
                f"delta (e^eps/P_(1) + 1/P_(2)) {doubled}",
                "003 Prop 1 (tight form)",
            )
        if limit.form != "joint":
            assert ediv is not None
            joint = ediv if who is None else who.largest * ediv
            bounds["lip_joint"] = (joint, f"P_max ediv {same}", "003 Def 4")
    for target, (value, formula, source) in bounds.items():
        if target == "ldp_delta" and who is not None and not who.complete:
            yield Implication(target, None, "", _no_bound("ldp", {}, {}, who), "")
        elif value is None:
            yield Implication(target, None, "", missing, "")
        else:
            yield Implication(
                target, Enclosure.of(rounded_up(min(value, Fraction(1)))), "", formula, source
            )
    pure_notions = ("lip", "ldp", "identifiability")
    if delta:
        reason = "a delta above 0 lets some outputs reveal everything"
        yield from (Implication(target, None, "nats", reason, "") for target in pure_notions)
    else:
        rows = implied(guarantee.without_delta, context)
        yield from (row for row in rows if row.target in pure_notions)
