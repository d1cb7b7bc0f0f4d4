"""From a guarantee in one notion, the best provable guarantee in every other.

Each `Rule` is one theorem: an upper bound on one leakage from upper bounds on others. `implied`
applies them until nothing improves. All arithmetic is on safe-side rationals, so every printed
bound is proved. Directions that do not exist are listed with the reason.

Lift budgets enter as ratios: U = e^eps_upper bounds the max-lift, D = e^eps_lower bounds
1/min-lift, L = 1/D.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from liftlock.context import Context, Joint
from liftlock.errors import NotDefined
from liftlock.exact import enclosure
from liftlock.exact.budget import Budget
from liftlock.exact.enclosure import Enclosure, power
from liftlock.notions.alip import ALIP
from liftlock.notions.approximate_ldp import ApproximateLDP
from liftlock.notions.approximate_lip import ApproximateLIP
from liftlock.notions.ldp import LDP
from liftlock.notions.lip import LIP
from liftlock.notions.notion import Notion, OrderedUpperBound, UpperBound, safe_text
from liftlock.notions.order import Order, read_order
from liftlock.notions.reading import number_to_json
from liftlock.prior import Prior

RATIOS = ("eps_upper", "eps_lower", "ldp", "identifiability", "maximal_leakage")
"""Leakages kept as ratios (their logarithm is the number of nats)."""
NATS = ("mutual_information", "sibson", "arimoto")
PLAIN = (
    "total_variation",
    "chi2",
    "l1_lift",
    "chi2_lift",
    "l1_lift_inverse",
    "chi2_lift_inverse",
    "alpha_lift",
    "alpha_lift_inverse",
)
ORDERED = ("sibson", "arimoto", "alpha_lift", "alpha_lift_inverse")
"""Leakages that have an order alpha."""
_SHORT = 160


@dataclass(frozen=True)
class Population:
    """What the rules may use of a prior: its extreme probabilities.

    `doubt` is the largest P(s) (1 - P(s)). `complete` says that no symbol has probability 0.
    """

    smallest: Fraction
    second: Fraction
    largest: Fraction
    doubt: Fraction
    complete: bool = True

    @classmethod
    def of(cls, prior: Prior) -> Population:
        """Read it off a prior (symbols of probability 0 do not count)."""
        masses = sorted(p for p in prior.fractions if p)
        return cls(
            masses[0],
            masses[min(1, len(masses) - 1)],
            masses[-1],
            max(p * (1 - p) for p in masses),
            len(masses) == len(prior.fractions),
        )

    @property
    def alone(self) -> bool:
        """Whether there is only one symbol, so that nothing can leak."""
        return self.smallest == 1


Facts = Mapping[str, Fraction]
Formula = Callable[[Facts, Population | None, Fraction | None], Fraction | None]


@dataclass(frozen=True)
class Rule:
    """One theorem: an upper bound on `gives` from upper bounds on all of `needs`."""

    gives: str
    needs: tuple[str, ...]
    formula: str
    source: str
    bound: Formula


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
    if isinstance(guarantee, ApproximateLIP | ApproximateLDP):
        return list(_approximate(guarantee, context, population))
    order = None if alpha is None else _finite(read_order(alpha), "the measures")
    facts, how = _given(guarantee)
    given = dict(facts)
    known = _known_logarithms(guarantee, facts)
    if isinstance(guarantee, OrderedUpperBound):
        own = _finite(guarantee.order, guarantee.name)
        if order is not None and order != own:
            _close(facts, how, population, own)
            _change_order(facts, how, own, order)
        else:
            order = own
    _close(facts, how, population, order)
    if population is not None and not population.complete:
        # The rules speak of the symbols that can occur; LDP is about every row of the channel.
        facts.pop("ldp", None)
        if "ldp" in given:
            facts["ldp"], how["ldp"] = given["ldp"], ("given", "given")
    return [_line(target, facts, how, known, given, population) for target in _targets(order)]


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
    facts: dict[str, Fraction] = {}
    if isinstance(guarantee, LIP):
        facts = {"eps_upper": _up(guarantee.epsilon), "eps_lower": _up(guarantee.epsilon)}
    elif isinstance(guarantee, ALIP):
        facts = {"eps_upper": _up(guarantee.upper), "eps_lower": _up(guarantee.lower)}
    elif isinstance(guarantee, UpperBound):
        budget = guarantee.budget
        if guarantee.name in RATIOS and isinstance(budget, Budget):
            facts = {guarantee.name: _up(budget)}
        elif isinstance(budget, Budget):
            facts = {guarantee.name: _end(budget.nats())}
        else:
            facts = {guarantee.name: budget}
    else:
        raise NotDefined(guarantee.name, "the table of relations", "use another guarantee")
    return facts, dict.fromkeys(facts, ("given", "given"))


def _close(
    facts: dict[str, Fraction],
    how: dict[str, tuple[str, str]],
    population: Population | None,
    order: Fraction | None,
) -> None:
    """Apply every rule until nothing improves."""
    improved = True
    rounds = 0
    while improved and rounds < 8:
        improved = False
        rounds += 1
        for rule in RULES:
            if any(need not in facts for need in rule.needs):
                continue
            value = rule.bound(facts, population, order)
            if value is None:
                continue
            value = _short(value)
            old = facts.get(rule.gives)
            # A relative gain below 1e-12 is rounding, not a better theorem.
            if old is None or value < old - abs(old) / 10**12:
                facts[rule.gives] = value
                how[rule.gives] = (rule.formula, rule.source)
                improved = True


def _known_logarithms(guarantee: Notion, facts: Facts) -> dict[Fraction, Enclosure]:
    """Remember which ratios are e^budget, so that a budget of 1 is not printed 1.0000000001."""
    if isinstance(guarantee, LIP):
        lower = upper = guarantee.epsilon.nats()
        down = up = facts["eps_upper"]
    elif isinstance(guarantee, ALIP):
        lower, upper = guarantee.lower.nats(), guarantee.upper.nats()
        down, up = facts["eps_lower"], facts["eps_upper"]
    elif (
        isinstance(guarantee, UpperBound)
        and isinstance(guarantee.budget, Budget)
        and guarantee.name in RATIOS
    ):
        lower = upper = guarantee.budget.nats()
        down = up = facts[guarantee.name]
    else:
        return {}
    # The keys are rounded as the rules round their results.
    return {down: lower, up: upper, _short(down * up): lower + upper}


def _line(
    target: str,
    facts: Facts,
    how: Mapping[str, tuple[str, str]],
    known: Mapping[Fraction, Enclosure],
    given: Facts,
    population: Population | None,
) -> Implication:
    if target == "lip":
        if "eps_upper" in facts and "eps_lower" in facts:
            side = max(("eps_upper", "eps_lower"), key=lambda name: facts[name])
            bound = known.get(facts[side]) or _log(facts[side])
            return Implication("lip", bound, "nats", f"max of both sides, {side}", how[side][1])
        return Implication("lip", None, "nats", _no_bound("lip", facts, given, population), "")
    unit = "" if target in PLAIN else "nats"
    if target not in facts:
        return Implication(target, None, unit, _no_bound(target, facts, given, population), "")
    value = facts[target]
    if target in RATIOS:
        bound = known.get(value) or _log(value)
    else:
        logarithms = {_short(_end(_log(ratio))): nats for ratio, nats in known.items()}
        bound = (logarithms.get(value) if target in NATS else None) or Enclosure.of(value)
    return Implication(target, bound, unit, *how[target])


_COUNTEREXAMPLE = (
    "an output of tiny probability may reveal everything: rows (.999, .001) and (1, 0) under a "
    "uniform prior have maximal leakage .001 and infinite LIP"
)


def _no_bound(target: str, facts: Facts, given: Facts, population: Population | None) -> str:
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


# --- rules ----------------------------------------------------------------------------------------


def _lift_caps(facts: Facts, who: Fraction) -> tuple[Fraction, Fraction]:
    """Return the most and the least lift of a symbol of mass `who` within L..U and mean 1."""
    upper, lower = facts["eps_upper"], 1 / facts["eps_lower"]
    most = min(upper, (1 - (1 - who) * lower) / who)
    least = max(lower, (1 - (1 - who) * upper) / who)
    return most, least


def _upper_from_lower(facts: Facts, who: Population | None, _: Any) -> Fraction | None:
    if who is None:
        return None
    lower = 1 / facts["eps_lower"]
    return (1 - (1 - who.smallest) * lower) / who.smallest


def _upper_from_prior(_: Facts, who: Population | None, __: Any) -> Fraction | None:
    return None if who is None else 1 / who.smallest


def _lower_from_upper(facts: Facts, who: Population | None, _: Any) -> Fraction | None:
    if who is None:
        return None
    least = (1 - (1 - who.smallest) * facts["eps_upper"]) / who.smallest
    return 1 / least if least > 0 else None


def _ldp_from_lifts(facts: Facts, who: Population | None, _: Any) -> Fraction | None:
    if who is None:
        return facts["eps_upper"] * facts["eps_lower"]
    if who.alone:
        return Fraction(1)
    pairs = [
        (who.smallest, who.second),
        (who.second, who.smallest),
        (who.smallest, who.largest),
        (who.largest, who.smallest),
    ]
    return max(_lift_caps(facts, up)[0] / _lift_caps(facts, down)[1] for up, down in pairs)


def _identifiability_from_lifts(facts: Facts, who: Population | None, _: Any) -> Fraction | None:
    if who is None:
        return None
    if who.alone:
        return Fraction(1)
    up, down = who.largest, who.smallest
    return _lift_caps(facts, up)[0] * up / (_lift_caps(facts, down)[1] * down)


def _upper_from_ldp(facts: Facts, who: Population | None, _: Any) -> Fraction | None:
    ratio = facts["ldp"]
    if who is None:
        return ratio
    return 1 / (who.smallest + (1 - who.smallest) / ratio)


def _lower_from_ldp(facts: Facts, who: Population | None, _: Any) -> Fraction | None:
    ratio = facts["ldp"]
    if who is None:
        return ratio
    return who.smallest + (1 - who.smallest) * ratio


def _ldp_from_identifiability(facts: Facts, who: Population | None, _: Any) -> Fraction | None:
    odds = facts["identifiability"]
    # The prior is the mean of the posteriors, so its own odds are within the same bound.
    return odds * (odds if who is None else who.largest / who.smallest)


def _identifiability_from_ldp(facts: Facts, who: Population | None, _: Any) -> Fraction | None:
    return None if who is None else facts["ldp"] * who.largest / who.smallest


def _information_from_lifts(facts: Facts, _: Any, __: Any) -> Fraction | None:
    upper, lower = facts["eps_upper"], 1 / facts["eps_lower"]
    if upper == 1 or lower == 1:
        return Fraction(0)
    log_upper, log_lower = _end(enclosure.log(upper)), enclosure.log(1 / lower).lower
    return (upper * log_upper * (1 - lower) - lower * log_lower * (upper - 1)) / (upper - lower)


def _variation_from_lifts(facts: Facts, _: Any, __: Any) -> Fraction | None:
    upper, lower = facts["eps_upper"], 1 / facts["eps_lower"]
    if upper == lower:
        return Fraction(0)
    return (upper - 1) * (1 - lower) / (upper - lower)


def _l1_from_lifts(facts: Facts, who: Population | None, order: Fraction | None) -> Fraction | None:
    half = _variation_from_lifts(facts, who, order)
    return None if half is None else 2 * half


def _chi2_from_lifts(facts: Facts, _: Any, __: Any) -> Fraction | None:
    return (facts["eps_upper"] - 1) * (1 - 1 / facts["eps_lower"])


def _chi2_from_upper(facts: Facts, _: Any, __: Any) -> Fraction | None:
    return facts["eps_upper"] - 1


def _l1_from_upper(facts: Facts, _: Any, __: Any) -> Fraction | None:
    return 2 * (1 - 1 / facts["eps_upper"])


def _l1_from_lower(facts: Facts, _: Any, __: Any) -> Fraction | None:
    return 2 * (1 - 1 / facts["eps_lower"])


def _alpha_from_upper(facts: Facts, _: Any, order: Fraction | None) -> Fraction | None:
    if order is None:
        return None
    if order <= 1:
        return Fraction(1)
    return _end(power(Enclosure.of(facts["eps_upper"]), (order - 1) / order))


def _alpha_below_one(_: Facts, __: Any, order: Fraction | None) -> Fraction | None:
    return Fraction(1) if order is not None and order <= 1 else None


def _alpha_from_chi2(facts: Facts, _: Any, order: Fraction | None) -> Fraction | None:
    return _sqrt_up(1 + facts["chi2_lift"]) if order is not None and order <= 2 else None


def _chi2_from_alpha(facts: Facts, _: Any, order: Fraction | None) -> Fraction | None:
    if order is None or order < 2:
        return None
    return max(facts["alpha_lift"] ** 2 - 1, Fraction(0))


def _alpha_inverse_from_lower(facts: Facts, _: Any, order: Fraction | None) -> Fraction | None:
    return None if order is None else facts["eps_lower"]


def _two_point(
    lower: Fraction,
    upper: Fraction | None,
    f: Callable[[Fraction], Fraction],
    slope: Callable[[Fraction], Fraction],
) -> Fraction:
    """Bound sup over t in (1, U] of ((t-1) f(L) + (1-L) f(t)) / (t-L), the two-point extremal law.

    It rises while `slope` is positive and falls afterwards; U = None is no limit. The ends of the
    last interval bound what lies between them, since f grows.
    """
    if lower == 1 or upper == 1:
        return Fraction(0)
    if upper is None:
        if 2 * lower <= 1:
            return f(lower)  # it rises for ever, towards the value of L alone
        upper = Fraction(2)
        while slope(upper) > 0:
            upper *= 2
    low, high = Fraction(1), upper
    if slope(upper) >= 0:
        low = upper
    else:
        for _ in range(80):
            middle = (low + high) / 2
            if slope(middle) > 0:
                low = middle
            else:
                high = middle
    return (high - 1) / (high - lower) * f(lower) + (1 - lower) / (low - lower) * f(high)


def _l1_inverse(lower: Fraction, upper: Fraction | None) -> Fraction:
    return _two_point(
        lower,
        upper,
        lambda t: abs(1 / t - 1),
        lambda t: (1 - 2 * lower) * t**2 + 2 * lower * t - lower**2,
    )


def _chi2_inverse(lower: Fraction, upper: Fraction | None) -> Fraction:
    lead = (1 / lower - 1) ** 2 - 1
    return _two_point(
        lower,
        upper,
        lambda t: (1 / t - 1) ** 2,
        lambda t: lead * t**3 + 4 * t**2 - (3 + 2 * lower) * t + 2 * lower,
    )


def _l1_inverse_from_lifts(facts: Facts, _: Any, __: Any) -> Fraction | None:
    return _l1_inverse(1 / facts["eps_lower"], facts["eps_upper"])


def _chi2_inverse_from_lifts(facts: Facts, _: Any, __: Any) -> Fraction | None:
    return _chi2_inverse(1 / facts["eps_lower"], facts["eps_upper"])


def _l1_inverse_from_lower(facts: Facts, _: Any, __: Any) -> Fraction | None:
    return _l1_inverse(1 / facts["eps_lower"], None)


def _chi2_inverse_from_lower(facts: Facts, _: Any, __: Any) -> Fraction | None:
    return _chi2_inverse(1 / facts["eps_lower"], None)


def _upper_from_l1(facts: Facts, who: Population | None, _: Any) -> Fraction | None:
    return None if who is None else 1 + facts["l1_lift"] / (2 * who.smallest)


def _lower_from_l1(facts: Facts, who: Population | None, _: Any) -> Fraction | None:
    if who is None:
        return None
    least = 1 - facts["l1_lift"] / (2 * who.smallest)
    return 1 / least if least > 0 else None


def _chi2_lift_from_l1(facts: Facts, who: Population | None, _: Any) -> Fraction | None:
    return None if who is None else facts["l1_lift"] ** 2 / (2 * who.smallest)


def _root_of_chi2(facts: Facts, who: Population) -> Fraction:
    return _sqrt_up(facts["chi2_lift"] * (1 - who.smallest) / who.smallest)


def _upper_from_chi2(facts: Facts, who: Population | None, _: Any) -> Fraction | None:
    return None if who is None else 1 + _root_of_chi2(facts, who)


def _lower_from_chi2(facts: Facts, who: Population | None, _: Any) -> Fraction | None:
    if who is None:
        return None
    least = 1 - _root_of_chi2(facts, who)
    return 1 / least if least > 0 else None


def _upper_from_alpha(
    facts: Facts, who: Population | None, order: Fraction | None
) -> Fraction | None:
    if who is None or order is None:
        return None
    return facts["alpha_lift"] / power(Enclosure.of(who.smallest), 1 / order).lower


def _lower_from_alpha(
    facts: Facts, who: Population | None, order: Fraction | None
) -> Fraction | None:
    """Solve P l^alpha + (1-P) ((1-P l)/(1-P))^alpha = norm^alpha for the smallest l."""
    if who is None or who.alone or order is None or order <= 1:
        return None
    mass, exponent = who.smallest, order
    limit = _end(power(Enclosure.of(facts["alpha_lift"]), exponent))

    def least(lift: Fraction) -> Fraction:
        """Bound the mean of the powers from below: all other symbols have the same lift."""
        rest = (1 - mass * lift) / (1 - mass)
        powers = (power(Enclosure.of(value), exponent).lower for value in (lift, rest))
        return mass * next(powers) + (1 - mass) * next(powers)

    low, high = Fraction(0), Fraction(1)
    if least(low) <= limit:
        return None
    for _ in range(64):
        middle = (low + high) / 2
        # The mean falls as the lift grows to 1, so `low` stays certainly below the solution.
        if least(middle) > limit:
            low = middle
        else:
            high = middle
    return 1 / low if low else None


def _l1_inverse_from_chi2_inverse(facts: Facts, _: Any, __: Any) -> Fraction | None:
    return _sqrt_up(facts["chi2_lift_inverse"])


def _alpha_inverse_from_chi2_inverse(
    facts: Facts, _: Any, order: Fraction | None
) -> Fraction | None:
    if order is None or order > 2:
        return None
    return 1 + _sqrt_up(facts["chi2_lift_inverse"])


def _alpha_inverse_from_l1_inverse(facts: Facts, _: Any, order: Fraction | None) -> Fraction | None:
    return 1 + facts["l1_lift_inverse"] if order is not None and order <= 1 else None


def _chi2_inverse_from_alpha_inverse(
    facts: Facts, _: Any, order: Fraction | None
) -> Fraction | None:
    if order is None or order < 2:
        return None
    return max(facts["alpha_lift_inverse"] ** 2 - 1, Fraction(0))


def _lower_from_l1_inverse(facts: Facts, who: Population | None, _: Any) -> Fraction | None:
    return None if who is None else (facts["l1_lift_inverse"] + who.smallest) / who.smallest


def _lower_from_chi2_inverse(facts: Facts, who: Population | None, _: Any) -> Fraction | None:
    return None if who is None else 1 + _sqrt_up(facts["chi2_lift_inverse"] / who.smallest)


def _lower_from_alpha_inverse(
    facts: Facts, who: Population | None, order: Fraction | None
) -> Fraction | None:
    if who is None or order is None:
        return None
    return facts["alpha_lift_inverse"] / power(Enclosure.of(who.smallest), 1 / order).lower


def _sibson_from_alpha(facts: Facts, _: Any, order: Fraction | None) -> Fraction | None:
    if order is None or order <= 1:
        return None
    return order / (order - 1) * _end(enclosure.log(max(facts["alpha_lift"], Fraction(1))))


def _log_fact(name: str) -> Formula:
    def bound(facts: Facts, _: Any, order: Fraction | None) -> Fraction | None:
        return None if order is None else _end(enclosure.log(facts[name]))

    return bound


def _copy(name: str, factor: Fraction = Fraction(1)) -> Formula:
    return lambda facts, _who, _order: facts[name] * factor


def _sibson_from_chi2(facts: Facts, _: Any, order: Fraction | None) -> Fraction | None:
    return _end(enclosure.log(1 + facts["chi2"])) if order is not None and order <= 2 else None


def _shannon_below_sibson(facts: Facts, _: Any, order: Fraction | None) -> Fraction | None:
    return facts["sibson"] if order is not None and order >= 1 else None


def _sibson_below_shannon(facts: Facts, _: Any, order: Fraction | None) -> Fraction | None:
    return facts["mutual_information"] if order is not None and order <= 1 else None


def _arimoto_is_shannon(facts: Facts, _: Any, order: Fraction | None) -> Fraction | None:
    return facts["mutual_information"] if order == 1 else None


RULES: tuple[Rule, ...] = (
    Rule("eps_upper", (), "-ln P_min", "Bayes' rule", _upper_from_prior),
    Rule("eps_upper", ("eps_lower",), "ln((1-(1-P_min)L)/P_min)", "mean lift 1", _upper_from_lower),
    Rule(
        "eps_lower", ("eps_upper",), "-ln((1-(1-P_min)U)/P_min)", "mean lift 1", _lower_from_upper
    ),
    Rule("eps_upper", ("ldp",), "-ln(P_min+(1-P_min)/E)", "000 Thm 1 converse", _upper_from_ldp),
    Rule("eps_lower", ("ldp",), "ln(P_min+(1-P_min)E)", "000 Thm 1 converse", _lower_from_ldp),
    Rule(
        "ldp",
        ("eps_upper", "eps_lower"),
        "max l(x')/l(x) within the budgets",
        "000 Thm 1 (exact form); 002 Prop 1.4",
        _ldp_from_lifts,
    ),
    Rule(
        "identifiability",
        ("eps_upper", "eps_lower"),
        "max posterior odds within the budgets",
        "000 Thm 3.1, eq. (10)",
        _identifiability_from_lifts,
    ),
    Rule("identifiability", ("ldp",), "eps + D_inf(P)", "000 Thm 3.1", _identifiability_from_ldp),
    Rule(
        "ldp",
        ("identifiability",),
        "eps + D_inf(P), which is at most eps itself",
        "000 Thm 3.1",
        _ldp_from_identifiability,
    ),
    Rule("maximal_leakage", ("eps_upper",), "eps_upper", "000 Thm 3.3", _copy("eps_upper")),
    Rule(
        "mutual_information",
        ("eps_upper", "eps_lower"),
        "(U eu (1-L) - L el (U-1))/(U-L)",
        "002 Prop 1.1 (tight form)",
        _information_from_lifts,
    ),
    Rule(
        "mutual_information",
        ("maximal_leakage",),
        "maximal leakage",
        "000 section II.C",
        lambda facts, _who, _order: _end(enclosure.log(facts["maximal_leakage"])),
    ),
    Rule(
        "mutual_information",
        ("chi2",),
        "ln(1+chi2)",
        "concavity of ln",
        lambda facts, _who, _order: _end(enclosure.log(1 + facts["chi2"])),
    ),
    Rule(
        "mutual_information",
        ("sibson",),
        "I_alpha grows with alpha",
        "002 section 6",
        _shannon_below_sibson,
    ),
    Rule(
        "sibson",
        ("mutual_information",),
        "I_alpha grows with alpha",
        "002 section 6",
        _sibson_below_shannon,
    ),
    Rule(
        "arimoto",
        ("mutual_information",),
        "order 1 is Shannon's",
        "002 Prop 1",
        _arimoto_is_shannon,
    ),
    Rule(
        "sibson",
        ("maximal_leakage",),
        "maximal leakage",
        "002 Prop 1.3 (corrected)",
        _log_fact("maximal_leakage"),
    ),
    Rule(
        "arimoto",
        ("maximal_leakage",),
        "maximal leakage",
        "002 Prop 1.3 (corrected)",
        _log_fact("maximal_leakage"),
    ),
    Rule(
        "sibson",
        ("chi2",),
        "ln(1+chi2), alpha <= 2",
        "Jensen's inequality at order 2",
        _sibson_from_chi2,
    ),
    Rule(
        "sibson",
        ("alpha_lift",),
        "alpha/(alpha-1) ln(alpha-lift)",
        "002 section 6",
        _sibson_from_alpha,
    ),
    Rule(
        "l1_lift",
        ("eps_upper", "eps_lower"),
        "2(U-1)(1-L)/(U-L)",
        "002 Prop 3.1 (corrected)",
        _l1_from_lifts,
    ),
    Rule("l1_lift", ("eps_upper",), "2(1-1/U)", "002 Prop 3.1 (corrected, L = 0)", _l1_from_upper),
    Rule("l1_lift", ("eps_lower",), "2(1-L)", "002 Prop 3.1 (corrected, any U)", _l1_from_lower),
    Rule(
        "l1_lift",
        ("l1_lift_inverse",),
        "2 l1-inverse",
        "1-l <= 1/l-1",
        _copy("l1_lift_inverse", Fraction(2)),
    ),
    Rule(
        "total_variation",
        ("l1_lift",),
        "l1-lift / 2",
        "002 section 6",
        _copy("l1_lift", Fraction(1, 2)),
    ),
    Rule(
        "total_variation",
        ("mutual_information",),
        "sqrt(I/2)",
        "Pinsker's inequality",
        lambda facts, _who, _order: _sqrt_up(facts["mutual_information"] / 2),
    ),
    Rule(
        "total_variation",
        ("chi2",),
        "sqrt(chi2)/2",
        "Jensen's inequality",
        lambda facts, _who, _order: _sqrt_up(facts["chi2"]) / 2,
    ),
    Rule(
        "total_variation",
        ("maximal_leakage",),
        "e^leakage - 1",
        "P(y|s) <= max over s",
        lambda facts, _who, _order: facts["maximal_leakage"] - 1,
    ),
    Rule(
        "chi2",
        ("maximal_leakage",),
        "e^leakage - 1",
        "P(y|s) <= max over s",
        lambda facts, _who, _order: facts["maximal_leakage"] - 1,
    ),
    Rule(
        "chi2_lift",
        ("eps_upper", "eps_lower"),
        "(U-1)(1-L)",
        "002 Prop 3.2 (corrected)",
        _chi2_from_lifts,
    ),
    Rule("chi2_lift", ("eps_upper",), "U-1", "002 Prop 3.2 (corrected, L = 0)", _chi2_from_upper),
    Rule("chi2_lift", ("l1_lift",), "l1^2/(2 P_min)", "P(s)|l-1| <= l1/2", _chi2_lift_from_l1),
    Rule(
        "chi2_lift",
        ("alpha_lift",),
        "alpha-lift^2 - 1, alpha >= 2",
        "power means grow with alpha",
        _chi2_from_alpha,
    ),
    Rule("chi2", ("chi2_lift",), "chi2-lift", "002 section 6", _copy("chi2_lift")),
    Rule(
        "l1_lift",
        ("chi2_lift",),
        "sqrt(chi2-lift)",
        "Jensen's inequality",
        lambda facts, _who, _order: _sqrt_up(facts["chi2_lift"]),
    ),
    Rule("alpha_lift", (), "1, alpha <= 1", "power means grow with alpha", _alpha_below_one),
    Rule(
        "alpha_lift",
        ("eps_upper",),
        "U^((alpha-1)/alpha)",
        "002 Prop 3.3 (tight form)",
        _alpha_from_upper,
    ),
    Rule(
        "alpha_lift",
        ("chi2_lift",),
        "sqrt(1+chi2-lift), alpha <= 2",
        "power means grow with alpha",
        _alpha_from_chi2,
    ),
    Rule(
        "eps_upper", ("l1_lift",), "ln(1+l1/(2 P_min))", "002 Prop 4.1 (tight form)", _upper_from_l1
    ),
    Rule(
        "eps_lower",
        ("l1_lift",),
        "-ln(1-l1/(2 P_min))",
        "002 section 6 (corrected)",
        _lower_from_l1,
    ),
    Rule(
        "eps_upper",
        ("chi2_lift",),
        "ln(1+sqrt(chi2 (1-P_min)/P_min))",
        "002 Prop 4.2 (tight form)",
        _upper_from_chi2,
    ),
    Rule(
        "eps_lower",
        ("chi2_lift",),
        "-ln(1-sqrt(chi2 (1-P_min)/P_min))",
        "002 section 6 (corrected)",
        _lower_from_chi2,
    ),
    Rule(
        "eps_upper",
        ("alpha_lift",),
        "ln(alpha-lift / P_min^(1/alpha))",
        "002 Prop 4.3",
        _upper_from_alpha,
    ),
    Rule(
        "eps_lower",
        ("alpha_lift",),
        "P_min l^alpha + (1-P_min)((1-P_min l)/(1-P_min))^alpha = alpha-lift^alpha",
        "002 section 6 (corrected)",
        _lower_from_alpha,
    ),
    Rule(
        "l1_lift_inverse",
        ("eps_upper", "eps_lower"),
        "two-point supremum",
        "002 Prop 5.1 (corrected)",
        _l1_inverse_from_lifts,
    ),
    Rule(
        "chi2_lift_inverse",
        ("eps_upper", "eps_lower"),
        "two-point supremum",
        "002 Prop 5.2 (corrected)",
        _chi2_inverse_from_lifts,
    ),
    Rule(
        "l1_lift_inverse",
        ("eps_lower",),
        "two-point supremum",
        "002 Prop 5.1 (corrected, any U)",
        _l1_inverse_from_lower,
    ),
    Rule(
        "chi2_lift_inverse",
        ("eps_lower",),
        "two-point supremum",
        "002 Prop 5.2 (corrected, any U)",
        _chi2_inverse_from_lower,
    ),
    Rule("alpha_lift_inverse", ("eps_lower",), "1/L", "002 Prop 5.3", _alpha_inverse_from_lower),
    Rule(
        "l1_lift_inverse",
        ("chi2_lift_inverse",),
        "sqrt(chi2-inverse)",
        "Jensen's inequality",
        _l1_inverse_from_chi2_inverse,
    ),
    Rule(
        "alpha_lift_inverse",
        ("chi2_lift_inverse",),
        "1+sqrt(chi2-inverse), alpha <= 2",
        "Minkowski's inequality",
        _alpha_inverse_from_chi2_inverse,
    ),
    Rule(
        "alpha_lift_inverse",
        ("l1_lift_inverse",),
        "1+l1-inverse, alpha <= 1",
        "power means grow with alpha",
        _alpha_inverse_from_l1_inverse,
    ),
    Rule(
        "chi2_lift_inverse",
        ("alpha_lift_inverse",),
        "alpha-inverse^2 - 1, alpha >= 2",
        "power means grow with alpha",
        _chi2_inverse_from_alpha_inverse,
    ),
    Rule(
        "eps_lower",
        ("l1_lift_inverse",),
        "ln(1+l1inv/P_min)",
        "002 Prop 6.1",
        _lower_from_l1_inverse,
    ),
    Rule(
        "eps_lower",
        ("chi2_lift_inverse",),
        "ln(1+sqrt(chi2inv/P_min))",
        "002 Prop 6.2",
        _lower_from_chi2_inverse,
    ),
    Rule(
        "eps_lower",
        ("alpha_lift_inverse",),
        "ln(alphainv / P_min^(1/alpha))",
        "002 Prop 6.3",
        _lower_from_alpha_inverse,
    ),
)
"""The theorems, in the corrected forms; order does not matter."""


# --- (epsilon, delta) -----------------------------------------------------------------------------


def _approximate(
    guarantee: ApproximateLIP | ApproximateLDP, context: Context | None, who: Population | None
) -> Iterator[Implication]:
    """Convert between the forms of delta, which all stand at the same epsilon except LDP's."""
    ratio, delta = _up(guarantee.epsilon), guarantee.delta
    epsilon = str(guarantee.epsilon)
    missing = "needs the prior"
    bounds: dict[str, tuple[Fraction | None, str, str]] = {}
    same = f"at epsilon {epsilon}"
    if isinstance(guarantee, ApproximateLDP):
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
        if guarantee.form == "def5":
            ediv: Fraction | None = ratio * delta
            bounds["lip_ediv"] = (ediv, f"e^eps delta {same}", "000 Def 5")
            bounds["ldp_delta"] = (
                2 * ratio * delta,
                f"2 e^eps delta {doubled}",
                "000 Cor 3 (corrected)",
            )
        elif guarantee.form == "ediv":
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
        if guarantee.form != "joint":
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
                target, Enclosure.of(_short(min(value, Fraction(1)))), "", formula, source
            )
    pure_notions = ("lip", "ldp", "identifiability")
    if delta:
        reason = "a delta above 0 lets some outputs reveal everything"
        yield from (Implication(target, None, "nats", reason, "") for target in pure_notions)
    else:
        kind = LDP if isinstance(guarantee, ApproximateLDP) else LIP
        rows = implied(kind(guarantee.epsilon), context)
        yield from (row for row in rows if row.target in pure_notions)


# --- safe-side arithmetic -------------------------------------------------------------------------


def _up(budget: Budget) -> Fraction:
    return _end(budget.exp())


def _end(value: Enclosure) -> Fraction:
    assert value.upper is not None
    return value.upper


def _log(ratio: Fraction) -> Enclosure:
    return enclosure.log(max(ratio, Fraction(1)))


def _short(value: Fraction) -> Fraction:
    """Round up to a short denominator."""
    if value.denominator.bit_length() <= _SHORT:
        return value
    return Fraction(math.ceil(value * (1 << _SHORT)), 1 << _SHORT)


def _sqrt_up(value: Fraction) -> Fraction:
    """Return a rational just above the square root."""
    scaled = math.ceil(value * (1 << (2 * _SHORT)))
    root = math.isqrt(scaled)
    return Fraction(root if root * root == scaled else root + 1, 1 << _SHORT)
