"""The theorems that relate privacy notions, in their corrected forms, as data.

Each `Rule` is one theorem: an upper bound on one leakage from upper bounds on others. Lift budgets
enter as ratios: U = e^eps_upper bounds the max-lift, D = e^eps_lower bounds 1/min-lift, L = 1/D.
All arithmetic is on safe-side rationals, so every bound is proved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from liftlock.exact import enclosure
from liftlock.exact.enclosure import Enclosure, power
from liftlock.exact.safe_side import root_above, upper_end
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
    log_upper, log_lower = upper_end(enclosure.log(upper)), enclosure.log(1 / lower).lower
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
    return upper_end(power(Enclosure.of(facts["eps_upper"]), (order - 1) / order))


def _alpha_below_one(_: Facts, __: Any, order: Fraction | None) -> Fraction | None:
    return Fraction(1) if order is not None and order <= 1 else None


def _alpha_from_chi2(facts: Facts, _: Any, order: Fraction | None) -> Fraction | None:
    return root_above(1 + facts["chi2_lift"]) if order is not None and order <= 2 else None


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
    return root_above(facts["chi2_lift"] * (1 - who.smallest) / who.smallest)


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
    limit = upper_end(power(Enclosure.of(facts["alpha_lift"]), exponent))

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
    return root_above(facts["chi2_lift_inverse"])


def _alpha_inverse_from_chi2_inverse(
    facts: Facts, _: Any, order: Fraction | None
) -> Fraction | None:
    if order is None or order > 2:
        return None
    return 1 + root_above(facts["chi2_lift_inverse"])


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
    return None if who is None else 1 + root_above(facts["chi2_lift_inverse"] / who.smallest)


def _lower_from_alpha_inverse(
    facts: Facts, who: Population | None, order: Fraction | None
) -> Fraction | None:
    if who is None or order is None:
        return None
    return facts["alpha_lift_inverse"] / power(Enclosure.of(who.smallest), 1 / order).lower


def _sibson_from_alpha(facts: Facts, _: Any, order: Fraction | None) -> Fraction | None:
    if order is None or order <= 1:
        return None
    return order / (order - 1) * upper_end(enclosure.log(max(facts["alpha_lift"], Fraction(1))))


def _log_fact(name: str) -> Formula:
    def bound(facts: Facts, _: Any, order: Fraction | None) -> Fraction | None:
        return None if order is None else upper_end(enclosure.log(facts[name]))

    return bound


def _copy(name: str, factor: Fraction = Fraction(1)) -> Formula:
    return lambda facts, _who, _order: facts[name] * factor


def _sibson_from_chi2(facts: Facts, _: Any, order: Fraction | None) -> Fraction | None:
    return upper_end(enclosure.log(1 + facts["chi2"])) if order is not None and order <= 2 else None


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
        lambda facts, _who, _order: upper_end(enclosure.log(facts["maximal_leakage"])),
    ),
    Rule(
        "mutual_information",
        ("chi2",),
        "ln(1+chi2)",
        "concavity of ln",
        lambda facts, _who, _order: upper_end(enclosure.log(1 + facts["chi2"])),
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
        lambda facts, _who, _order: root_above(facts["mutual_information"] / 2),
    ),
    Rule(
        "total_variation",
        ("chi2",),
        "sqrt(chi2)/2",
        "Jensen's inequality",
        lambda facts, _who, _order: root_above(facts["chi2"]) / 2,
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
        lambda facts, _who, _order: root_above(facts["chi2_lift"]),
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
