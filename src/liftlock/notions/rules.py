"""The theorems that relate privacy notions, in their corrected forms, each written once.

A `Rule` is one theorem: an upper bound on one leakage from upper bounds on others. Lift budgets
enter as ratios: U = e^eps_upper bounds the max-lift, D = e^eps_lower bounds 1/min-lift, L = 1/D;
E is that of LDP. All arithmetic is on safe-side rationals, so every bound is proved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

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


@dataclass(frozen=True)
class Facts:
    """Upper bounds proved so far, and what is known of the prior and of the order.

    >>> Facts({"eps_upper": Fraction(3), "eps_lower": Fraction(2)}).lower
    Fraction(1, 2)
    """

    bounds: Mapping[str, Fraction]
    population: Population | None = None
    """None: any prior."""
    order: Fraction | None = None
    """None: no measure of an order is asked for."""

    def __getitem__(self, leakage: str) -> Fraction:
        return self.bounds[leakage]

    @property
    def upper(self) -> Fraction:
        """U, which no lift exceeds."""
        return self["eps_upper"]

    @property
    def lower(self) -> Fraction:
        """L, which no lift is below."""
        return 1 / self["eps_lower"]

    @property
    def who(self) -> Population:
        """The population, where a rule is for known priors."""
        assert self.population is not None
        return self.population

    @property
    def p_min(self) -> Fraction:
        """The smallest probability, where a rule is for known priors."""
        return self.who.smallest

    @property
    def alpha(self) -> Fraction:
        """The order, where a rule is about one."""
        assert self.order is not None
        return self.order


Bound = Callable[[Facts], Fraction | None]
Condition = Callable[[Facts], bool]


def always(_: Facts) -> bool:
    """Whatever the prior and the order."""
    return True


def prior_known(facts: Facts) -> bool:
    """The prior is given."""
    return facts.population is not None


def order_known(facts: Facts) -> bool:
    """An order is given."""
    return facts.order is not None


def both_known(facts: Facts) -> bool:
    """The prior and an order are given."""
    return prior_known(facts) and order_known(facts)


def order_within(least: int = 0, most: int | None = None) -> Condition:
    """Return the condition that an order is given, and lies in a range with its ends."""
    return lambda facts: (
        facts.order is not None and least <= facts.order and (most is None or facts.order <= most)
    )


def order_above_1(facts: Facts) -> bool:
    """An order above 1 is given."""
    return facts.order is not None and facts.order > 1


@dataclass(frozen=True)
class Rule:
    """One theorem: an upper bound on `gives` from upper bounds on all of `needs`."""

    gives: str
    needs: tuple[str, ...]
    formula: str
    source: str
    when: Condition
    bound: Bound

    def apply(self, facts: Facts) -> Fraction | None:
        """Return the bound, or None if the rule says nothing here."""
        if any(need not in facts.bounds for need in self.needs) or not self.when(facts):
            return None
        return self.bound(facts)


RULES: list[Rule] = []
"""The theorems, in the corrected forms; of equal bounds the first counts as the reason."""


def rule(
    gives: str, needs: tuple[str, ...], formula: str, source: str, when: Condition = always
) -> Callable[[Bound], Bound]:
    """Register the decorated function as an upper bound on `gives`, if `needs` are bounded."""

    def register(bound: Bound) -> Bound:
        RULES.append(Rule(gives, needs, formula, source, when, bound))
        return bound

    return register


# --- lifts, ratios and odds -----------------------------------------------------------------------


@rule("eps_upper", (), "-ln P_min", "Bayes' rule", prior_known)
def _(facts: Facts) -> Fraction:
    return 1 / facts.p_min


@rule("eps_upper", ("eps_lower",), "ln((1-(1-P_min)L)/P_min)", "mean lift 1", prior_known)
def _(facts: Facts) -> Fraction:
    return (1 - (1 - facts.p_min) * facts.lower) / facts.p_min


@rule("eps_lower", ("eps_upper",), "-ln((1-(1-P_min)U)/P_min)", "mean lift 1", prior_known)
def _(facts: Facts) -> Fraction | None:
    least = (1 - (1 - facts.p_min) * facts.upper) / facts.p_min
    return 1 / least if least > 0 else None


@rule("eps_upper", ("ldp",), "-ln(P_min+(1-P_min)/E)", "000 Thm 1 converse")
def _(facts: Facts) -> Fraction:
    if facts.population is None:
        return facts["ldp"]
    return 1 / (facts.p_min + (1 - facts.p_min) / facts["ldp"])


@rule("eps_lower", ("ldp",), "ln(P_min+(1-P_min)E)", "000 Thm 1 converse")
def _(facts: Facts) -> Fraction:
    if facts.population is None:
        return facts["ldp"]
    return facts.p_min + (1 - facts.p_min) * facts["ldp"]


def _lift_caps(facts: Facts, mass: Fraction) -> tuple[Fraction, Fraction]:
    """Return the most and the least lift of a symbol of some mass within L..U and mean 1."""
    most = min(facts.upper, (1 - (1 - mass) * facts.lower) / mass)
    least = max(facts.lower, (1 - (1 - mass) * facts.upper) / mass)
    return most, least


@rule(
    "ldp",
    ("eps_upper", "eps_lower"),
    "max l(x')/l(x) within the budgets",
    "000 Thm 1 (exact form); 002 Prop 1.4",
)
def ldp_from_lifts(facts: Facts) -> Fraction:
    """Bound the ratio of any two likelihoods by both sides of the lifts."""
    if facts.population is None:
        return facts["eps_upper"] * facts["eps_lower"]
    if facts.who.alone:
        return Fraction(1)
    rarest, second, commonest = facts.who.smallest, facts.who.second, facts.who.largest
    pairs = [(rarest, second), (second, rarest), (rarest, commonest), (commonest, rarest)]
    return max(_lift_caps(facts, up)[0] / _lift_caps(facts, down)[1] for up, down in pairs)


@rule(
    "identifiability",
    ("eps_upper", "eps_lower"),
    "max posterior odds within the budgets",
    "000 Thm 3.1, eq. (10)",
    prior_known,
)
def _(facts: Facts) -> Fraction:
    if facts.who.alone:
        return Fraction(1)
    up, down = facts.who.largest, facts.who.smallest
    return _lift_caps(facts, up)[0] * up / (_lift_caps(facts, down)[1] * down)


@rule("identifiability", ("ldp",), "eps + D_inf(P)", "000 Thm 3.1", prior_known)
def _(facts: Facts) -> Fraction:
    return facts["ldp"] * facts.who.largest / facts.who.smallest


@rule("ldp", ("identifiability",), "eps + D_inf(P), which is at most eps itself", "000 Thm 3.1")
def _(facts: Facts) -> Fraction:
    odds, who = facts["identifiability"], facts.population
    # The prior is the mean of the posteriors, so its own odds are within the same bound.
    return odds * (odds if who is None else who.largest / who.smallest)


@rule("maximal_leakage", ("eps_upper",), "eps_upper", "000 Thm 3.3")
def _(facts: Facts) -> Fraction:
    return facts.upper


# --- information ----------------------------------------------------------------------------------


@rule(
    "mutual_information",
    ("eps_upper", "eps_lower"),
    "(U eu (1-L) - L el (U-1))/(U-L)",
    "002 Prop 1.1 (tight form)",
)
def _(facts: Facts) -> Fraction:
    upper, lower = facts.upper, facts.lower
    if upper == 1 or lower == 1:
        return Fraction(0)
    log_upper, log_lower = upper_end(enclosure.log(upper)), enclosure.log(1 / lower).lower
    return (upper * log_upper * (1 - lower) - lower * log_lower * (upper - 1)) / (upper - lower)


@rule("mutual_information", ("maximal_leakage",), "maximal leakage", "000 section II.C")
def _(facts: Facts) -> Fraction:
    return upper_end(enclosure.log(facts["maximal_leakage"]))


@rule("mutual_information", ("chi2",), "ln(1+chi2)", "concavity of ln")
def _(facts: Facts) -> Fraction:
    return upper_end(enclosure.log(1 + facts["chi2"]))


@rule(
    "mutual_information", ("sibson",), "I_alpha grows with alpha", "002 section 6", order_within(1)
)
def _(facts: Facts) -> Fraction:
    return facts["sibson"]


@rule(
    "sibson",
    ("mutual_information",),
    "I_alpha grows with alpha",
    "002 section 6",
    order_within(most=1),
)
def _(facts: Facts) -> Fraction:
    return facts["mutual_information"]


@rule("arimoto", ("mutual_information",), "order 1 is Shannon's", "002 Prop 1", order_within(1, 1))
def _(facts: Facts) -> Fraction:
    return facts["mutual_information"]


@rule("arimoto", ("maximal_leakage",), "maximal leakage", "002 Prop 1.3 (corrected)", order_known)
@rule("sibson", ("maximal_leakage",), "maximal leakage", "002 Prop 1.3 (corrected)", order_known)
def _(facts: Facts) -> Fraction:
    return upper_end(enclosure.log(facts["maximal_leakage"]))


@rule(
    "sibson",
    ("chi2",),
    "ln(1+chi2), alpha <= 2",
    "Jensen's inequality at order 2",
    order_within(most=2),
)
def _(facts: Facts) -> Fraction:
    return upper_end(enclosure.log(1 + facts["chi2"]))


@rule("sibson", ("alpha_lift",), "alpha/(alpha-1) ln(alpha-lift)", "002 section 6", order_above_1)
def _(facts: Facts) -> Fraction:
    log = upper_end(enclosure.log(max(facts["alpha_lift"], Fraction(1))))
    return facts.alpha / (facts.alpha - 1) * log


# --- means of lifts -------------------------------------------------------------------------------


@rule("l1_lift", ("eps_upper", "eps_lower"), "2(U-1)(1-L)/(U-L)", "002 Prop 3.1 (corrected)")
def _(facts: Facts) -> Fraction:
    upper, lower = facts.upper, facts.lower
    return Fraction(0) if upper == lower else 2 * (upper - 1) * (1 - lower) / (upper - lower)


@rule("l1_lift", ("eps_upper",), "2(1-1/U)", "002 Prop 3.1 (corrected, L = 0)")
def _(facts: Facts) -> Fraction:
    return 2 * (1 - 1 / facts.upper)


@rule("l1_lift", ("eps_lower",), "2(1-L)", "002 Prop 3.1 (corrected, any U)")
def _(facts: Facts) -> Fraction:
    return 2 * (1 - facts.lower)


@rule("l1_lift", ("l1_lift_inverse",), "2 l1-inverse", "1-l <= 1/l-1")
def _(facts: Facts) -> Fraction:
    return 2 * facts["l1_lift_inverse"]


@rule("total_variation", ("l1_lift",), "l1-lift / 2", "002 section 6")
def _(facts: Facts) -> Fraction:
    return facts["l1_lift"] / 2


@rule("total_variation", ("mutual_information",), "sqrt(I/2)", "Pinsker's inequality")
def _(facts: Facts) -> Fraction:
    return root_above(facts["mutual_information"] / 2)


@rule("total_variation", ("chi2",), "sqrt(chi2)/2", "Jensen's inequality")
def _(facts: Facts) -> Fraction:
    return root_above(facts["chi2"]) / 2


@rule("chi2", ("maximal_leakage",), "e^leakage - 1", "P(y|s) <= max over s")
@rule("total_variation", ("maximal_leakage",), "e^leakage - 1", "P(y|s) <= max over s")
def _(facts: Facts) -> Fraction:
    return facts["maximal_leakage"] - 1


@rule("chi2_lift", ("eps_upper", "eps_lower"), "(U-1)(1-L)", "002 Prop 3.2 (corrected)")
def _(facts: Facts) -> Fraction:
    return (facts.upper - 1) * (1 - facts.lower)


@rule("chi2_lift", ("eps_upper",), "U-1", "002 Prop 3.2 (corrected, L = 0)")
def _(facts: Facts) -> Fraction:
    return facts.upper - 1


@rule("chi2_lift", ("l1_lift",), "l1^2/(2 P_min)", "P(s)|l-1| <= l1/2", prior_known)
def _(facts: Facts) -> Fraction:
    return facts["l1_lift"] ** 2 / (2 * facts.p_min)


@rule(
    "chi2_lift",
    ("alpha_lift",),
    "alpha-lift^2 - 1, alpha >= 2",
    "power means grow with alpha",
    order_within(2),
)
def _(facts: Facts) -> Fraction:
    return max(facts["alpha_lift"] ** 2 - 1, Fraction(0))


@rule("chi2", ("chi2_lift",), "chi2-lift", "002 section 6")
def _(facts: Facts) -> Fraction:
    return facts["chi2_lift"]


@rule("l1_lift", ("chi2_lift",), "sqrt(chi2-lift)", "Jensen's inequality")
def _(facts: Facts) -> Fraction:
    return root_above(facts["chi2_lift"])


@rule("alpha_lift", (), "1, alpha <= 1", "power means grow with alpha", order_within(most=1))
def _(_: Facts) -> Fraction:
    return Fraction(1)


@rule("alpha_lift", ("eps_upper",), "U^((alpha-1)/alpha)", "002 Prop 3.3 (tight form)", order_known)
def _(facts: Facts) -> Fraction:
    if facts.alpha <= 1:
        return Fraction(1)
    return upper_end(power(Enclosure.of(facts.upper), (facts.alpha - 1) / facts.alpha))


@rule(
    "alpha_lift",
    ("chi2_lift",),
    "sqrt(1+chi2-lift), alpha <= 2",
    "power means grow with alpha",
    order_within(most=2),
)
def _(facts: Facts) -> Fraction:
    return root_above(1 + facts["chi2_lift"])


# --- lifts from means of lifts --------------------------------------------------------------------


@rule("eps_upper", ("l1_lift",), "ln(1+l1/(2 P_min))", "002 Prop 4.1 (tight form)", prior_known)
def _(facts: Facts) -> Fraction:
    return 1 + facts["l1_lift"] / (2 * facts.p_min)


@rule("eps_lower", ("l1_lift",), "-ln(1-l1/(2 P_min))", "002 section 6 (corrected)", prior_known)
def _(facts: Facts) -> Fraction | None:
    least = 1 - facts["l1_lift"] / (2 * facts.p_min)
    return 1 / least if least > 0 else None


@rule(
    "eps_upper",
    ("chi2_lift",),
    "ln(1+sqrt(chi2 (1-P_min)/P_min))",
    "002 Prop 4.2 (tight form)",
    prior_known,
)
def _(facts: Facts) -> Fraction:
    return 1 + root_above(facts["chi2_lift"] * (1 - facts.p_min) / facts.p_min)


@rule(
    "eps_lower",
    ("chi2_lift",),
    "-ln(1-sqrt(chi2 (1-P_min)/P_min))",
    "002 section 6 (corrected)",
    prior_known,
)
def _(facts: Facts) -> Fraction | None:
    least = 1 - root_above(facts["chi2_lift"] * (1 - facts.p_min) / facts.p_min)
    return 1 / least if least > 0 else None


@rule("eps_upper", ("alpha_lift",), "ln(alpha-lift / P_min^(1/alpha))", "002 Prop 4.3", both_known)
def _(facts: Facts) -> Fraction:
    return facts["alpha_lift"] / power(Enclosure.of(facts.p_min), 1 / facts.alpha).lower


@rule(
    "eps_lower",
    ("alpha_lift",),
    "P_min l^alpha + (1-P_min)((1-P_min l)/(1-P_min))^alpha = alpha-lift^alpha",
    "002 section 6 (corrected)",
    lambda facts: prior_known(facts) and not facts.who.alone and order_above_1(facts),
)
def _(facts: Facts) -> Fraction | None:
    """Solve the equation for the smallest l."""
    mass, exponent = facts.p_min, facts.alpha
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


# --- inverse lifts --------------------------------------------------------------------------------


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


@rule(
    "l1_lift_inverse", ("eps_upper", "eps_lower"), "two-point supremum", "002 Prop 5.1 (corrected)"
)
def _(facts: Facts) -> Fraction:
    return _l1_inverse(facts.lower, facts.upper)


@rule(
    "chi2_lift_inverse",
    ("eps_upper", "eps_lower"),
    "two-point supremum",
    "002 Prop 5.2 (corrected)",
)
def _(facts: Facts) -> Fraction:
    return _chi2_inverse(facts.lower, facts.upper)


@rule("l1_lift_inverse", ("eps_lower",), "two-point supremum", "002 Prop 5.1 (corrected, any U)")
def _(facts: Facts) -> Fraction:
    return _l1_inverse(facts.lower, None)


@rule("chi2_lift_inverse", ("eps_lower",), "two-point supremum", "002 Prop 5.2 (corrected, any U)")
def _(facts: Facts) -> Fraction:
    return _chi2_inverse(facts.lower, None)


@rule("alpha_lift_inverse", ("eps_lower",), "1/L", "002 Prop 5.3", order_known)
def _(facts: Facts) -> Fraction:
    return facts["eps_lower"]


@rule("l1_lift_inverse", ("chi2_lift_inverse",), "sqrt(chi2-inverse)", "Jensen's inequality")
def _(facts: Facts) -> Fraction:
    return root_above(facts["chi2_lift_inverse"])


@rule(
    "alpha_lift_inverse",
    ("chi2_lift_inverse",),
    "1+sqrt(chi2-inverse), alpha <= 2",
    "Minkowski's inequality",
    order_within(most=2),
)
def _(facts: Facts) -> Fraction:
    return 1 + root_above(facts["chi2_lift_inverse"])


@rule(
    "alpha_lift_inverse",
    ("l1_lift_inverse",),
    "1+l1-inverse, alpha <= 1",
    "power means grow with alpha",
    order_within(most=1),
)
def _(facts: Facts) -> Fraction:
    return 1 + facts["l1_lift_inverse"]


@rule(
    "chi2_lift_inverse",
    ("alpha_lift_inverse",),
    "alpha-inverse^2 - 1, alpha >= 2",
    "power means grow with alpha",
    order_within(2),
)
def _(facts: Facts) -> Fraction:
    return max(facts["alpha_lift_inverse"] ** 2 - 1, Fraction(0))


@rule("eps_lower", ("l1_lift_inverse",), "ln(1+l1inv/P_min)", "002 Prop 6.1", prior_known)
def _(facts: Facts) -> Fraction:
    return (facts["l1_lift_inverse"] + facts.p_min) / facts.p_min


@rule("eps_lower", ("chi2_lift_inverse",), "ln(1+sqrt(chi2inv/P_min))", "002 Prop 6.2", prior_known)
def _(facts: Facts) -> Fraction:
    return 1 + root_above(facts["chi2_lift_inverse"] / facts.p_min)


@rule(
    "eps_lower",
    ("alpha_lift_inverse",),
    "ln(alphainv / P_min^(1/alpha))",
    "002 Prop 6.3",
    both_known,
)
def _(facts: Facts) -> Fraction:
    return facts["alpha_lift_inverse"] / power(Enclosure.of(facts.p_min), 1 / facts.alpha).lower
