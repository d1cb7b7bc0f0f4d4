"""How many people it takes: the precision of an answer before anybody is asked.

A mechanism is designed for the budget, and its expected errors are compared with those of local
differential privacy at the same budget, of no privacy, and of not asking at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from liftlock._runtime.progress import Progress, Step
from liftlock.designs.api import design
from liftlock.designs.base import labels_text
from liftlock.designs.catalogue import DESIGNS
from liftlock.designs.comparison import implying_ldp
from liftlock.errors import InputError, LiftlockError, NotDefined
from liftlock.estimate.expected import ExpectedError, expected_error
from liftlock.estimate.question import About, Of, Question, ask
from liftlock.exact.numbers import exact
from liftlock.mechanism import Mechanism
from liftlock.model import Context, Prior
from liftlock.model.alphabet import Alphabet, Label
from liftlock.notions.base import Notion

FORMAT = "liftlock.plan"
VERSION = 1

SECONDS = 2.0
"""How long the search for each optimum may take, unless told."""

_FEW_SYMBOLS = 64
"""Largest alphabet for which the optimum is searched; beyond, the closed forms are compared."""

_CLOSED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("safe-response", {}),
    ("arc", {}),
    ("arc", {"orders": 16}),
    ("k-rr", {}),
    ("oue", {}),
    ("subset-selection", {}),
)
_MOST_CELLS = 600_000
"""Closed forms that need larger tables are left out: rounding and auditing them takes a while."""


@dataclass(frozen=True)
class PlanOption:
    """One way to collect, and how precise its answers will be.

    `leaning` is the error of the Bayes estimate for the people who report, which leans on the
    prior; `free` that of the unbiased estimate for the population they are drawn from, which does
    not. Either is None where it does not exist, and `why` then says why.
    """

    name: str
    guarantee: str
    leaning: ExpectedError | None
    free: ExpectedError | None
    why: str = ""
    mechanism: Mechanism | None = None
    method: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    """How the mechanism was made: the arguments of `design`."""

    def people_needed(self, margin: object) -> tuple[int | None, int | None]:
        """Return how many people it takes until the margins are so small, leaning and free."""
        return (
            None if self.leaning is None else self.leaning.people_for(margin),
            None if self.free is None else self.free.people_for(margin),
        )


@dataclass(frozen=True)
class Plan:
    """What to expect of every option, for a number of people, and how many are enough.

    >>> from liftlock.notions.lip import LIP
    >>> prior = Prior.from_counts({"no": 80, "yes": 20})
    >>> found = plan(prior, LIP("1"), 10_000, of="survey", value="yes", margin="2%")
    >>> [option.name for option in found.options]
    ['lip(1) by optimal', 'ldp(1) by optimal', 'no privacy', 'nobody is asked']
    >>> [option.people_needed("2%")[1] for option in found.options]
    [5659, 10379, 1537, None]
    """

    of: Of
    what: Label
    people: int
    level: float
    margin: Fraction | None
    options: tuple[PlanOption, ...]
    remarks: tuple[str, ...] = ()

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""

        def to_json(found: ExpectedError | None) -> dict[str, Any] | None:
            if found is None:
                return None
            needed = None if self.margin is None else found.people_for(self.margin)
            return found.to_data() | {"people_needed": needed}

        return {
            "format": FORMAT,
            "version": VERSION,
            "of": self.of,
            "people": self.people,
            "level": self.level,
            "margin": None if self.margin is None else float(self.margin),
            "options": [
                {
                    "name": option.name,
                    "guarantee": option.guarantee,
                    "leaning": to_json(option.leaning),
                    "free": to_json(option.free),
                    "why": option.why,
                }
                for option in self.options
            ],
            "remarks": list(self.remarks),
        }


def plan(
    prior: Prior | Context,
    notion: Notion,
    people: int,
    *,
    of: str = "histogram",
    value: Any = None,
    margin: object = None,
    level: object = "0.95",
    seconds: float = SECONDS,
    watch: Progress | None = None,
) -> Plan:
    """Design for a budget, and say how precise answers from a number of people will be.

    A survey asks each person a single question, so the value is reduced to yes or no first: that
    leaks less for the same precision than counting the answers of a histogram. What is expected is
    a mean over one prior: other contexts are refused.
    """
    if not isinstance(prior, Prior):
        if not hasattr(prior, "kind"):
            raise InputError(
                "not a prior", value=type(prior).__name__, remedy="give one: Prior.from_counts(...)"
            )
        raise NotDefined(
            "a plan",
            prior.describe(),
            "it needs one prior of X: give that, or design first and ask expected_error(...)",
        )
    if of == "sum":
        raise InputError(
            "a plan of a sum", value=of, remedy="ask for mean: a margin is for each person"
        )
    asked = ask(prior.alphabet, of, value)
    wanted = None if margin is None else exact(margin, name="margin")
    if wanted is not None and wanted <= 0:
        raise InputError("margin is not positive", value=margin, remedy="give more than 0")
    if wanted is not None and asked.counts and wanted >= 1:
        raise InputError(
            "margin of 100 % or more", value=margin, remedy="2% or 0.02 is two per cent"
        )
    remarks = []
    if asked.of != "survey" and not all(prior.counts):
        left = [label for label, count in zip(prior.labels, prior.counts, strict=True) if not count]
        prior = prior.restrict()
        asked = ask(prior.alphabet, of)
        remarks.append(f"left out, because the prior calls them impossible: {labels_text(left)}")
    if asked.of == "survey":
        prior, asked = _reduce_to_bit(prior, asked)
        remarks.append(f"everybody is asked only whether it is {asked.names[0]!r}")
    found = _best_options(prior, notion, asked, people, level, seconds, watch)
    if notion.ratio_limit is None:
        found += _best_options(prior, implying_ldp(notion), asked, people, level, seconds, watch)
    found.append(_baseline_option("no privacy", "nothing", "truth", prior, asked, people, level))
    found.append(
        _baseline_option("nobody is asked", "everything", "prior", prior, asked, people, level)
    )
    lowest = next(option for option in found if option.leaning is not None)
    assert lowest.leaning is not None
    return Plan(
        asked.of, asked.names[0], people, lowest.leaning.level, wanted, tuple(found), tuple(remarks)
    )


def _reduce_to_bit(prior: Prior, asked: Question) -> tuple[Prior, Question]:
    """Reduce the prior to the one bit that a survey asks for."""
    name = asked.names[0]
    chosen = sum(
        count
        for count, inside in zip(prior.counts, asked.values[:, 0].tolist(), strict=True)
        if inside
    )
    rest = prior.total - chosen
    if chosen == 0 or rest == 0:
        raise InputError(
            "the prior already determines the answer",
            value=name,
            remedy="ask for a value whose probability is neither 0 nor 1",
        )
    bit = Alphabet.of([f"not {name}", name])
    return Prior(bit, (rest, chosen)), Question.survey(bit, [name])


def _baseline_option(
    name: str, guarantee: str, way: str, prior: Prior, asked: Question, people: int, level: object
) -> PlanOption:
    """Return the option of asking without privacy, or of asking nobody."""

    def error(about: About) -> ExpectedError:
        return expected_error(None, prior, people, asked, way, about=about, level=level)

    if way == "truth":
        return PlanOption(name, guarantee, error("people"), error("population"))
    why = "the prior is all there is, and whether it is right cannot be seen"
    return PlanOption(name, guarantee, error("people"), None, why)


def _best_options(
    prior: Prior,
    notion: Notion,
    asked: Question,
    people: int,
    level: object,
    seconds: float,
    watch: Progress | None,
) -> list[PlanOption]:
    """Return the best mechanism for estimates that lean on the prior, and the best for others."""
    utility = "histogram" if asked.counts else "mean"
    made: list[PlanOption] = []
    refused: LiftlockError | None = None
    for key, options in _candidates(prior, notion, seconds):
        if watch is not None:
            watch(Step(f"{notion} by {key}"))
        try:
            mechanism = design(prior, notion, utility=utility, method=key, **options)
        except LiftlockError as error:
            refused = refused or error
            continue
        told = {name: value for name, value in options.items() if name != "seconds"}
        found = _measure_option(mechanism, key, told, prior, asked, people, level)
        made.append(found)
    if not made:
        if refused is not None:
            raise refused
        raise NotDefined("a plan", f"the notion {notion.name}", "plan for lip, alip or ldp")
    by_prior = [option for option in made if option.leaning is not None]
    by_reports = [option for option in made if option.free is not None]
    chosen: list[PlanOption] = []
    if by_prior:
        chosen.append(min(by_prior, key=lambda option: _margin(option.leaning)))
    if by_reports:
        best = min(by_reports, key=lambda option: _margin(option.free))
        # A second line only for a difference that anybody would notice.
        clearly = not chosen or _margin(best.free) < 0.99 * _margin(chosen[0].free)
        chosen += [best] if clearly else []
    return chosen or made[:1]


def _margin(found: ExpectedError | None) -> float:
    return float("inf") if found is None else found.margin


def _candidates(prior: Prior, notion: Notion, seconds: float) -> list[tuple[str, dict[str, Any]]]:
    symbols = len(prior.alphabet)
    found: list[tuple[str, dict[str, Any]]] = []
    if symbols <= _FEW_SYMBOLS:
        found.append(("optimal", {"seconds": seconds}))
    for key, options in _CLOSED:
        if key == "arc" and 2 * symbols**2 * options.get("orders", 1) > _MOST_CELLS:
            continue
        found.append((key, options))
    return [(key, options) for key, options in found if notion.name in DESIGNS[key].notions]


def _measure_option(
    mechanism: Mechanism,
    method: str,
    options: Mapping[str, Any],
    prior: Prior,
    asked: Question,
    people: int,
    level: object,
) -> PlanOption:
    """Return how precise the answers of a mechanism will be, as far as they exist."""
    reasons = []

    def error(way: str, about: About) -> ExpectedError | None:
        try:
            return expected_error(
                mechanism.channel, prior, people, asked, way, about=about, level=level
            )
        except NotDefined as refusal:
            reasons.append(f"no {way} estimate for {refusal.context}")
            return None

    leaning, free = error("bayes", "people"), error("unbiased", "population")
    way = ", ".join([method, *(f"{value} {name}" for name, value in options.items())])
    name, why = f"{mechanism.notion} by {way}", "; ".join(reasons)
    guarantee = mechanism.certificate.guarantee
    return PlanOption(name, guarantee, leaning, free, why, mechanism, method, options)
