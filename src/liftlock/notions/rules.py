"""The theorems that relate privacy notions, in their corrected forms, each written once.

A `Rule` is one theorem: an upper bound on one leakage from upper bounds on others. Its function
names what it needs: a leakage by its key, which is a ratio e^nats where the logarithm is what is
measured, `upper` (U, which no lift exceeds) and `lower` (L, which no lift is below) for the two
sides of the lifts, `p_min` or `prior` where the prior must be known, `alpha` where an order must
be. All arithmetic is on safe-side rationals, so every bound is proved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from inspect import Parameter, signature
from typing import Any, TypeVar

from liftlock.exact import enclosure
from liftlock.exact.enclosure import Enclosure, power
from liftlock.exact.rounding import root_above, upper_end
from liftlock.model import Prior


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


_SIDES = {"upper": "eps_upper", "lower": "eps_lower"}
_PRIOR = {"prior", "p_min"}


@dataclass(frozen=True)
class Rule:
    """One theorem: an upper bound on `gives` from all that `bound` names.

    >>> rule = Rule("chi2", "U-1", "a source", lambda upper: upper - 1)
    >>> rule.needs, rule.apply({"eps_upper": Fraction(3)})
    (('eps_upper',), Fraction(2, 1))
    """

    gives: str
    formula: str
    source: str
    bound: Callable[..., Fraction | None]
    """What it does not need, but can use, has a default; None: it says nothing here."""

    @cached_property
    def _parameters(self) -> Mapping[str, Parameter]:
        return signature(self.bound).parameters

    @cached_property
    def needs(self) -> tuple[str, ...]:
        """The leakages that must be bounded."""
        names = (_SIDES.get(name, name) for name in self._parameters)
        return tuple(name for name in names if name not in {*_PRIOR, "alpha"})

    @property
    def needs_prior(self) -> bool:
        """Whether it says nothing without a prior."""
        return any(
            self._parameters[n].default is Parameter.empty for n in _PRIOR & {*self._parameters}
        )

    def apply(
        self,
        bounds: Mapping[str, Fraction],
        prior: Population | None = None,
        order: Fraction | None = None,
    ) -> Fraction | None:
        """Return the bound, or None if the rule says nothing here (no prior: any prior)."""
        known: dict[str, Any] = dict(bounds)
        if prior is not None:
            known |= {"prior": prior, "p_min": prior.smallest}
        if order is not None:
            known["alpha"] = order
        if "eps_upper" in bounds:
            known["upper"] = bounds["eps_upper"]
        if "eps_lower" in bounds:
            known["lower"] = 1 / bounds["eps_lower"]
        needed = {n for n, each in self._parameters.items() if each.default is Parameter.empty}
        if not needed <= known.keys():
            return None
        return self.bound(**{name: known[name] for name in self._parameters if name in known})


RULES: list[Rule] = []
"""The theorems, in the corrected forms; of equal bounds the first counts as the reason."""
DELTA_RULES: list[Rule] = []
"""Those between the forms of delta at one epsilon (at twice that for LDP); E is `ratio`."""

Bound = TypeVar("Bound", bound=Callable[..., Fraction | None])


def rule(
    gives: str, formula: str, source: str, into: list[Rule] = RULES
) -> Callable[[Bound], Bound]:
    """Register a function as an upper bound on `gives`."""

    def register(bound: Bound) -> Bound:
        into.append(Rule(gives, formula, source, bound))
        return bound

    return register


delta_rule = partial(rule, into=DELTA_RULES)


# --- parts of several -----------------------------------------------------------------------------


def _lift_caps(upper: Fraction, lower: Fraction, mass: Fraction) -> tuple[Fraction, Fraction]:
    """Return the most and the least lift of a symbol of some mass within L..U and mean 1."""
    most = min(upper, (1 - (1 - mass) * lower) / mass)
    least = max(lower, (1 - (1 - mass) * upper) / mass)
    return most, least


def _log(ratio: Fraction) -> Fraction:
    return upper_end(enclosure.log(ratio))


def _inverse(least: Fraction) -> Fraction | None:
    """Return one over the smallest lift, if it is known to be above 0."""
    return 1 / least if least > 0 else None


def _two_point(
    lower: Fraction,
    upper: Fraction | None,
    f: Callable[[Fraction], Fraction],
    slope: Callable[[Fraction], Fraction],
) -> Fraction:
    """Bound sup over t in (1, U] of ((t-1) f(L) + (1-L) f(t)) / (t-L), attained by two points.

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


def _share_of_rarest(lip_joint: Fraction, p_min: Fraction | None = None) -> Fraction | None:
    if p_min is None:
        return None if lip_joint else lip_joint
    return lip_joint / p_min


def _shares_of_two_rarest(
    lip_joint: Fraction, ratio: Fraction, prior: Population | None = None
) -> Fraction | None:
    if prior is None:
        return None if lip_joint else lip_joint
    return lip_joint * (ratio / prior.smallest + 1 / prior.second)


# --- lifts, ratios and odds -----------------------------------------------------------------------

rule("eps_upper", "-ln P_min", "Bayes' rule")(lambda p_min: 1 / p_min)
rule("eps_upper", "ln((1-(1-P_min)L)/P_min)", "mean lift 1")(
    lambda lower, p_min: (1 - (1 - p_min) * lower) / p_min
)
rule("eps_lower", "-ln((1-(1-P_min)U)/P_min)", "mean lift 1")(
    lambda upper, p_min: _inverse((1 - (1 - p_min) * upper) / p_min)
)
rule("eps_upper", "-ln(P_min+(1-P_min)/E)", "000 Thm 1 converse")(
    lambda ldp, p_min=0: 1 / (p_min + (1 - p_min) / ldp)
)
rule("eps_lower", "ln(P_min+(1-P_min)E)", "000 Thm 1 converse")(
    lambda ldp, p_min=0: p_min + (1 - p_min) * ldp
)


@rule("ldp", "max l(x')/l(x) within the budgets", "000 Thm 1 (exact form); 002 Prop 1.4")
def ldp_from_lifts(upper: Fraction, lower: Fraction, prior: Population | None = None) -> Fraction:
    """Bound the ratio of any two likelihoods by both sides of the lifts."""
    if prior is None:
        return upper / lower
    if prior.alone:
        return Fraction(1)
    rarest, second, commonest = prior.smallest, prior.second, prior.largest
    pairs = [(rarest, second), (second, rarest), (rarest, commonest), (commonest, rarest)]
    caps = {mass: _lift_caps(upper, lower, mass) for mass in (rarest, second, commonest)}
    return max(caps[up][0] / caps[down][1] for up, down in pairs)


@rule("identifiability", "max posterior odds within the budgets", "000 Thm 3.1, eq. (10)")
def _odds_from_lifts(upper: Fraction, lower: Fraction, prior: Population) -> Fraction:
    if prior.alone:
        return Fraction(1)
    up, down = prior.largest, prior.smallest
    return _lift_caps(upper, lower, up)[0] * up / (_lift_caps(upper, lower, down)[1] * down)


rule("identifiability", "eps + D_inf(P)", "000 Thm 3.1")(
    lambda ldp, prior: ldp * prior.largest / prior.smallest
)


@rule("ldp", "eps + D_inf(P), which is at most eps itself", "000 Thm 3.1")
def _ldp_from_odds(identifiability: Fraction, prior: Population | None = None) -> Fraction:
    # The prior is the mean of the posteriors, so its own odds are within the same bound.
    odds = identifiability if prior is None else prior.largest / prior.smallest
    return identifiability * odds


rule("maximal_leakage", "eps_upper", "000 Thm 3.3")(lambda upper: upper)

# --- information ----------------------------------------------------------------------------------


@rule("mutual_information", "(U eu (1-L) - L el (U-1))/(U-L)", "002 Prop 1.1 (tight form)")
def _information(upper: Fraction, lower: Fraction) -> Fraction:
    if upper == 1 or lower == 1:
        return Fraction(0)
    log_upper, log_lower = upper_end(enclosure.log(upper)), enclosure.log(1 / lower).lower
    return (upper * log_upper * (1 - lower) - lower * log_lower * (upper - 1)) / (upper - lower)


rule("mutual_information", "maximal leakage", "000 section II.C")(
    lambda maximal_leakage: _log(maximal_leakage)
)
rule("mutual_information", "ln(1+chi2)", "concavity of ln")(lambda chi2: _log(1 + chi2))
rule("mutual_information", "I_alpha grows with alpha", "002 section 6")(
    lambda sibson, alpha: sibson if alpha >= 1 else None
)
rule("sibson", "I_alpha grows with alpha", "002 section 6")(
    lambda mutual_information, alpha: mutual_information if alpha <= 1 else None
)
rule("arimoto", "order 1 is Shannon's", "002 Prop 1")(
    lambda mutual_information, alpha: mutual_information if alpha == 1 else None
)
rule("sibson", "maximal leakage", "002 Prop 1.3 (corrected)")(
    lambda maximal_leakage, alpha: _log(maximal_leakage)  # noqa: ARG005 - of any order
)
rule("arimoto", "maximal leakage", "002 Prop 1.3 (corrected)")(
    lambda maximal_leakage, alpha: _log(maximal_leakage)  # noqa: ARG005 - of any order
)
rule("sibson", "ln(1+chi2), alpha <= 2", "Jensen's inequality at order 2")(
    lambda chi2, alpha: _log(1 + chi2) if alpha <= 2 else None
)
rule("sibson", "alpha/(alpha-1) ln(alpha-lift)", "002 section 6")(
    lambda alpha_lift, alpha: (
        alpha / (alpha - 1) * _log(max(alpha_lift, Fraction(1))) if alpha > 1 else None
    )
)

# --- means of lifts -------------------------------------------------------------------------------

rule("l1_lift", "2(U-1)(1-L)/(U-L)", "002 Prop 3.1 (corrected)")(
    lambda upper, lower: (
        Fraction(0) if upper == lower else 2 * (upper - 1) * (1 - lower) / (upper - lower)
    )
)
rule("l1_lift", "2(1-1/U)", "002 Prop 3.1 (corrected, L = 0)")(lambda upper: 2 * (1 - 1 / upper))
rule("l1_lift", "2(1-L)", "002 Prop 3.1 (corrected, any U)")(lambda lower: 2 * (1 - lower))
rule("l1_lift", "2 l1-inverse", "1-l <= 1/l-1")(lambda l1_lift_inverse: 2 * l1_lift_inverse)
rule("total_variation", "l1-lift / 2", "002 section 6")(lambda l1_lift: l1_lift / 2)
rule("total_variation", "sqrt(I/2)", "Pinsker's inequality")(
    lambda mutual_information: root_above(mutual_information / 2)
)
rule("total_variation", "sqrt(chi2)/2", "Jensen's inequality")(lambda chi2: root_above(chi2) / 2)
rule("total_variation", "e^leakage - 1", "P(y|s) <= max over s")(
    lambda maximal_leakage: maximal_leakage - 1
)
rule("chi2", "e^leakage - 1", "P(y|s) <= max over s")(lambda maximal_leakage: maximal_leakage - 1)
rule("chi2_lift", "(U-1)(1-L)", "002 Prop 3.2 (corrected)")(
    lambda upper, lower: (upper - 1) * (1 - lower)
)
rule("chi2_lift", "U-1", "002 Prop 3.2 (corrected, L = 0)")(lambda upper: upper - 1)
rule("chi2_lift", "l1^2/(2 P_min)", "P(s)|l-1| <= l1/2")(
    lambda l1_lift, p_min: l1_lift**2 / (2 * p_min)
)
rule("chi2_lift", "alpha-lift^2 - 1, alpha >= 2", "power means grow with alpha")(
    lambda alpha_lift, alpha: max(alpha_lift**2 - 1, Fraction(0)) if alpha >= 2 else None
)
rule("chi2", "chi2-lift", "002 section 6")(lambda chi2_lift: chi2_lift)
rule("l1_lift", "sqrt(chi2-lift)", "Jensen's inequality")(lambda chi2_lift: root_above(chi2_lift))
rule("alpha_lift", "1, alpha <= 1", "power means grow with alpha")(
    lambda alpha: Fraction(1) if alpha <= 1 else None
)
rule("alpha_lift", "U^((alpha-1)/alpha)", "002 Prop 3.3 (tight form)")(
    lambda upper, alpha: (
        upper_end(power(Enclosure.of(upper), (alpha - 1) / alpha)) if alpha > 1 else Fraction(1)
    )
)
rule("alpha_lift", "sqrt(1+chi2-lift), alpha <= 2", "power means grow with alpha")(
    lambda chi2_lift, alpha: root_above(1 + chi2_lift) if alpha <= 2 else None
)

# --- lifts from means of lifts --------------------------------------------------------------------

rule("eps_upper", "ln(1+l1/(2 P_min))", "002 Prop 4.1 (tight form)")(
    lambda l1_lift, p_min: 1 + l1_lift / (2 * p_min)
)
rule("eps_lower", "-ln(1-l1/(2 P_min))", "002 section 6 (corrected)")(
    lambda l1_lift, p_min: _inverse(1 - l1_lift / (2 * p_min))
)
rule("eps_upper", "ln(1+sqrt(chi2 (1-P_min)/P_min))", "002 Prop 4.2 (tight form)")(
    lambda chi2_lift, p_min: 1 + root_above(chi2_lift * (1 - p_min) / p_min)
)
rule("eps_lower", "-ln(1-sqrt(chi2 (1-P_min)/P_min))", "002 section 6 (corrected)")(
    lambda chi2_lift, p_min: _inverse(1 - root_above(chi2_lift * (1 - p_min) / p_min))
)
rule("eps_upper", "ln(alpha-lift / P_min^(1/alpha))", "002 Prop 4.3")(
    lambda alpha_lift, p_min, alpha: alpha_lift / power(Enclosure.of(p_min), 1 / alpha).lower
)


@rule(
    "eps_lower",
    "P_min l^alpha + (1-P_min)((1-P_min l)/(1-P_min))^alpha = alpha-lift^alpha",
    "002 section 6 (corrected)",
)
def _fall_from_norm(alpha_lift: Fraction, p_min: Fraction, alpha: Fraction) -> Fraction | None:
    """Solve the equation for the smallest l."""
    if alpha <= 1 or p_min == 1:
        return None
    limit = upper_end(power(Enclosure.of(alpha_lift), alpha))

    def least(lift: Fraction) -> Fraction:
        """Bound the mean of the powers from below: all other symbols have the same lift."""
        rest = (1 - p_min * lift) / (1 - p_min)
        own, others = (power(Enclosure.of(value), alpha).lower for value in (lift, rest))
        return p_min * own + (1 - p_min) * others

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
    return _inverse(low)


# --- inverse lifts --------------------------------------------------------------------------------

rule("l1_lift_inverse", "two-point supremum", "002 Prop 5.1 (corrected)")(
    lambda upper, lower: _l1_inverse(lower, upper)
)
rule("chi2_lift_inverse", "two-point supremum", "002 Prop 5.2 (corrected)")(
    lambda upper, lower: _chi2_inverse(lower, upper)
)
rule("l1_lift_inverse", "two-point supremum", "002 Prop 5.1 (corrected, any U)")(
    lambda lower: _l1_inverse(lower, None)
)
rule("chi2_lift_inverse", "two-point supremum", "002 Prop 5.2 (corrected, any U)")(
    lambda lower: _chi2_inverse(lower, None)
)
rule("alpha_lift_inverse", "1/L", "002 Prop 5.3")(lambda lower, alpha: 1 / lower)  # noqa: ARG005
rule("l1_lift_inverse", "sqrt(chi2-inverse)", "Jensen's inequality")(
    lambda chi2_lift_inverse: root_above(chi2_lift_inverse)
)
rule("alpha_lift_inverse", "1+sqrt(chi2-inverse), alpha <= 2", "Minkowski's inequality")(
    lambda chi2_lift_inverse, alpha: 1 + root_above(chi2_lift_inverse) if alpha <= 2 else None
)
rule("alpha_lift_inverse", "1+l1-inverse, alpha <= 1", "power means grow with alpha")(
    lambda l1_lift_inverse, alpha: 1 + l1_lift_inverse if alpha <= 1 else None
)
rule("chi2_lift_inverse", "alpha-inverse^2 - 1, alpha >= 2", "power means grow with alpha")(
    lambda alpha_lift_inverse, alpha: (
        max(alpha_lift_inverse**2 - 1, Fraction(0)) if alpha >= 2 else None
    )
)
rule("eps_lower", "ln(1+l1inv/P_min)", "002 Prop 6.1")(
    lambda l1_lift_inverse, p_min: (l1_lift_inverse + p_min) / p_min
)
rule("eps_lower", "ln(1+sqrt(chi2inv/P_min))", "002 Prop 6.2")(
    lambda chi2_lift_inverse, p_min: 1 + root_above(chi2_lift_inverse / p_min)
)
rule("eps_lower", "ln(alphainv / P_min^(1/alpha))", "002 Prop 6.3")(
    lambda alpha_lift_inverse, p_min, alpha: (
        alpha_lift_inverse / power(Enclosure.of(p_min), 1 / alpha).lower
    )
)

# --- forms of delta -------------------------------------------------------------------------------

delta_rule("lip_ediv", "(1-P_min) delta", "000 Cor 3 (tight form)")(
    lambda ldp_delta, p_min=0: (1 - p_min) * ldp_delta
)
delta_rule("lip_def5", "(1-P_min) delta", "000 Cor 3 (tight form)")(
    lambda ldp_delta, p_min=0: (1 - p_min) * ldp_delta
)
delta_rule("lip_joint", "max P(1-P) delta", "003 Prop 1 (tight form)")(
    lambda ldp_delta, prior=None: (prior.doubt if prior else Fraction(1, 4)) * ldp_delta
)
delta_rule("lip_ediv", "e^eps delta", "000 Def 5")(lambda lip_def5, ratio: ratio * lip_def5)
delta_rule("ldp_delta", "2 e^eps delta", "000 Cor 3 (corrected)")(
    lambda lip_def5, ratio: 2 * ratio * lip_def5
)
delta_rule("lip_joint", "P_max ediv", "003 Def 4")(
    lambda lip_def5, ratio, prior=None: (prior.largest if prior else 1) * ratio * lip_def5
)
delta_rule("lip_def5", "delta", "000 Cor 9")(lambda lip_ediv: lip_ediv)
delta_rule("ldp_delta", "(e^eps+1) delta", "000 Cor 3 (corrected)")(
    lambda lip_ediv, ratio: (ratio + 1) * lip_ediv
)
delta_rule("lip_joint", "P_max ediv", "003 Def 4")(
    lambda lip_ediv, prior=None: (prior.largest if prior else 1) * lip_ediv
)
delta_rule("lip_ediv", "delta/P_min", "003 Def 4")(_share_of_rarest)
delta_rule("lip_def5", "delta/P_min", "003 Def 4")(_share_of_rarest)
delta_rule("ldp_delta", "delta (e^eps/P_(1) + 1/P_(2))", "003 Prop 1 (tight form)")(
    _shares_of_two_rarest
)
