"""The protocol of accountants: bound the leakage of several releases, or refuse with the reason.

An accountant that does not cover a kind of release or context names the part at fault; it never
guesses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from typing import Any, ClassVar

from liftlock.accounting.release import Release
from liftlock.errors import NotDefined
from liftlock.exact.budget import decimal_text
from liftlock.exact.enclosure import Enclosure
from liftlock.model import Context, Joint, Prior, PriorSet, ProfileGraph
from liftlock.model.alphabet import Label
from liftlock.notions.measurement import Measurement, Witness

DIFFERENT = "the releases were certified in different contexts"
UNDER = "name one to account under: --prior, --joint or --family, in Python context= or under="

QUANTITIES = ("lip", "eps_lower", "eps_upper", "ldp")
"""What every accountant of pure notions may bound."""


@dataclass(frozen=True)
class PrivacyLoss:
    """An upper bound of each leakage that an accountant knows, or its exact value.

    `exact` says that every value is attained, by its witness. `valid` is False for what is shown
    for comparison only. `needs` says how large the computation was.
    """

    accountant: str
    measurements: Mapping[str, Measurement]
    exact: bool
    formula: str
    source: str
    needs: str = ""
    valid: bool = True

    def __getitem__(self, quantity: str) -> Measurement:
        return self.measurements[quantity]

    def __str__(self) -> str:
        kind = "=" if self.exact else "<="
        parts = [
            f"{name} {kind} {self.text(name)}{' ' * bool(measurement.unit)}{measurement.unit}"
            for name, measurement in self.measurements.items()
        ]
        return f"{self.accountant}: {', '.join(parts)}  [{self.formula}; {self.source}]"

    def text(self, quantity: str) -> str:
        """Write a number for people: the nearest if it is exact, else one that is not too small."""
        value = self.measurements[quantity].value
        return str(value) if self.exact else rounded_up_text(value)

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "accountant": self.accountant,
            "exact": self.exact,
            "valid": self.valid,
            "formula": self.formula,
            "source": self.source,
            "needs": self.needs,
            "readings": {
                name: measurement.to_data() for name, measurement in self.measurements.items()
            },
        }


class Accountant(ABC):
    """One rule that bounds the joint leakage of several releases of the same data.

    The releases are independent given the data.
    """

    name: ClassVar[str]
    formula: ClassVar[str]
    source: ClassVar[str]
    valid: ClassVar[bool] = True
    """False for a bound that is shown for comparison only, and never taken."""

    @abstractmethod
    def bound(self, releases: Sequence[Release], context: Context | None) -> PrivacyLoss:
        """Bound the joint leakage of the releases, or raise `NotDefined` with the part at fault."""

    def objection(self, releases: Sequence[Release], context: Context | None) -> NotDefined | None:
        """Return why the releases cannot be bounded, with the part at fault; None if they can."""
        try:
            self.bound(releases, context)
        except NotDefined as error:
            return error
        return None

    def supports(self, releases: Sequence[Release], context: Context | None) -> bool:
        """Tell whether the releases can be bounded in a context."""
        return self.objection(releases, context) is None

    def loss(
        self, measurements: Mapping[str, Measurement], *, exact: bool = False, needs: str = ""
    ) -> PrivacyLoss:
        """Return measurements as the answer of this accountant."""
        return PrivacyLoss(
            self.name, measurements, exact, self.formula, self.source, needs, self.valid
        )


LiftContext = Prior | Joint | PriorSet
"""The contexts in which beliefs have lifts."""


def concerns_edges(releases: Sequence[Release], context: Context | None) -> bool:
    """Tell whether the loss is one of edges: in a graph of profiles, which may not be kept."""
    unkept = context is None and all(release.has_unkept_graph for release in releases)
    return unkept or isinstance(context, ProfileGraph)


def require_lifts(releases: Sequence[Release], context: Context | None) -> LiftContext:
    """Return a context of lifts; refuse none, and other kinds of context."""
    if context is None and concerns_edges(releases, context):
        raise NotDefined(
            "an account of several releases",
            "a graph of profiles that was not kept",
            "what was promised holds for one release; release each observation once",
        )
    if context is None:
        raise NotDefined(
            "an account of lifts", f"{DIFFERENT}, or in none", f"LDP alone is said; {UNDER}"
        )
    if isinstance(context, Prior | Joint | PriorSet):
        return context
    raise NotDefined(
        "an account of lifts", context.describe(), "give a prior, a joint or a set of priors"
    )


def first_without_channel(releases: Sequence[Release]) -> str:
    """Name the first release of which only the levels are known; empty if there is none."""
    for place, release in enumerate(releases):
        if release.channel is None:
            promise = "" if release.guarantee is None else f" ({release.guarantee})"
            return f"release {place + 1}{promise}, of which only the levels are known"
    return ""


def joint_label(outputs: Sequence[Label]) -> Label:
    """Return the outputs of several releases as one label.

    >>> joint_label(["yes"]), joint_label(["yes", "no"])
    ('yes', ('yes', 'no'))
    """
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


# --- arithmetic of levels -------------------------------------------------------------------------


def sum_levels(values: Iterable[Enclosure]) -> Enclosure:
    """Add up levels in nats."""
    return sum(values, start=Enclosure.of(0))


def largest_level(values: Iterable[Enclosure]) -> Enclosure:
    """Enclose the largest of levels in nats."""
    return reduce(Enclosure.maximum, values)


def sides(
    lower: Fraction | None,
    upper: Fraction | None,
    lower_witness: Witness | None = None,
    upper_witness: Witness | None = None,
    *,
    nats: Mapping[str, Enclosure] | None = None,
) -> dict[str, Measurement]:
    """Turn the ratios of both sides (None: infinite) into eps_lower, eps_upper and lip.

    `nats` are the same levels as sums of budgets, where they are: the less of both counts.

    >>> found = sides(Fraction(2), Fraction(3))
    >>> found["lip"].ratio, round(float(found["eps_lower"]), 6)
    (Fraction(3, 1), 0.693147)
    """
    told = nats or {}
    down = tighten(Measurement.of_ratio("eps_lower", lower, lower_witness), told.get("eps_lower"))
    up = tighten(Measurement.of_ratio("eps_upper", upper, upper_witness), told.get("eps_upper"))
    larger = down if lower is None or (upper is not None and lower >= upper) else up
    both = Measurement("lip", down.value.maximum(up.value), "nats", larger.ratio, larger.witness)
    return {"lip": both, "eps_lower": down, "eps_upper": up}


def tighten(measurement: Measurement, told: Enclosure | None) -> Measurement:
    """Take what budgets add up to, if the ratio is above it by the hair that e^budget needs."""
    ours = measurement.value.upper
    if told is None or told.upper is None or (ours is not None and ours < told.upper):
        return measurement
    return replace(measurement, value=told)


def rounded_up_text(value: Enclosure) -> str:
    """Write a bound with six significant digits, rounded up.

    >>> rounded_up_text(Enclosure.of(Fraction(2, 3))), rounded_up_text(Enclosure.of(12345678))
    ('0.666667', '12345700')
    """
    if value.upper is None:
        return "inf"
    if value.upper == 0:
        return "0"
    step = Fraction(1)
    while value.upper / step >= 10**6:
        step *= 10
    while value.upper / step < 10**5:
        step /= 10
    return decimal_text(-(-value.upper // step) * step)
