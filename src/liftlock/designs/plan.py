"""How many people it takes: the precision of an answer before anybody is asked.

A mechanism is designed for the budget, and its expected errors are compared with those of local
differential privacy at the same budget, of no privacy, and of not asking at all. What counts is the
margin without the prior, which holds whatever the truth is: it chooses the mechanism, and says how
many people are enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from liftlock._runtime.progress import Progress, Step
from liftlock.designs.api import design
from liftlock.designs.base import labels_text
from liftlock.designs.catalogue import DESIGNS
from liftlock.designs.comparison import implying_ldp
from liftlock.errors import InputError, LiftlockError, NotDefined
from liftlock.estimate.expected import ExpectedError, drifted_coverage, expected_error
from liftlock.estimate.intervals.base import read_level
from liftlock.estimate.question import About, Of, Question, ask
from liftlock.exact.numbers import exact
from liftlock.mechanism import Mechanism
from liftlock.model import Context, Prior
from liftlock.model.alphabet import Alphabet, Label
from liftlock.notions.base import Notion

FORMAT = "liftlock.plan"
VERSION = 2

DRIFT = Fraction(1, 100)
"""How far a share is off, where it is shown what a wrong prior does."""

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

    `free` is the error of the unbiased estimate for the population that the people are drawn from,
    whatever the prior was; `leaning` that of the Bayes estimate for the people who report, if the
    prior is exactly right, and `drifted` how often its intervals hold if one share is one point
    off. Each is None where it does not exist, and `why` then says why.
    """

    name: str
    guarantee: str
    leaning: ExpectedError | None
    free: ExpectedError | None
    drifted: float | None = None
    why: str = ""
    mechanism: Mechanism | None = None
    method: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    """How the mechanism was made: the arguments of `design`."""

    @property
    def utility(self) -> str | None:
        """What the mechanism was designed for; None without one."""
        origin = None if self.mechanism is None else self.mechanism.origin
        return None if origin is None else origin.utility

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
    names: tuple[Label, ...]
    """What is estimated: values, or one answer."""
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

        def leaning(option: PlanOption) -> dict[str, Any] | None:
            data = to_json(option.leaning)
            if data is None:
                return None
            return data | {"drift": float(DRIFT), "drifted_coverage": option.drifted}

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
                    "utility": option.utility,
                    "free": to_json(option.free),
                    "leaning": leaning(option),
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
    leaks less for the same precision than counting the answers of a histogram. Of several values
    the margin is that of the worst, and the intervals of all hold at once. What is expected is a
    mean over one prior: other contexts are refused.
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
    notions = [notion] if notion.ratio_limit is not None else [notion, implying_ldp(notion)]
    found = [_best_option(prior, each, asked, people, level, seconds, watch) for each in notions]
    found.append(_baseline_option("no privacy", "nothing", "truth", prior, asked, people, level))
    found.append(
        _baseline_option("nobody is asked", "everything", "prior", prior, asked, people, level)
    )
    return Plan(
        asked.of, asked.names, people, read_level(level), wanted, tuple(found), tuple(remarks)
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
        return expected_error(
            None, prior, people, asked, way, about=about, level=level, together=True
        )

    leaning = error("people")
    if way == "truth":
        return PlanOption(name, guarantee, leaning, error("population"), 1.0)
    why = "the prior is all there is, and whether it is right cannot be seen"
    drifted = drifted_coverage(None, prior, asked, leaning, DRIFT)
    return PlanOption(name, guarantee, leaning, None, drifted, why)


def _best_option(
    prior: Prior,
    notion: Notion,
    asked: Question,
    people: int,
    level: object,
    seconds: float,
    watch: Progress | None,
) -> PlanOption:
    """Return the best mechanism without the prior; with it, if no reports determine the answer."""
    made: list[PlanOption] = []
    refused: LiftlockError | None = None
    for candidate in _candidates(prior, notion, asked, seconds):
        key, options = candidate.method, candidate.options
        if watch is not None:
            watch(Step(f"{notion} by {key}"))
        try:
            mechanism = design(prior, notion, utility=candidate.utility, method=key, **options)
        except LiftlockError as error:
            refused = refused or error
            continue
        told = {name: value for name, value in options.items() if name != "seconds"}
        made.append(_measure_option(mechanism, key, told, prior, asked, people, level))
    if not made:
        if refused is not None:
            raise refused
        raise NotDefined("a plan", f"the notion {notion.name}", "plan for lip, alip or ldp")
    return min(made, key=lambda option: (_margin(option.free), _margin(option.leaning)))


def _margin(found: ExpectedError | None) -> float:
    return float("inf") if found is None else found.margin


@dataclass(frozen=True)
class _Candidate:
    """A mechanism to try: the arguments of `design`."""

    method: str
    utility: str
    options: Mapping[str, Any]


def _candidates(
    prior: Prior, notion: Notion, asked: Question, seconds: float
) -> Iterator[_Candidate]:
    """Return the optima for unbiased answers, and closed forms."""
    symbols = len(prior.alphabet)
    goals = {"histogram": ("frequencies-worst", "frequencies"), "mean": ("frequencies", "mean")}
    if symbols <= _FEW_SYMBOLS and notion.name in DESIGNS["optimal"].notions:
        for goal in goals.get(asked.of, ("frequencies",)):
            yield _Candidate("optimal", goal, {"seconds": seconds})
    for key, options in _CLOSED:
        large = key == "arc" and 2 * symbols**2 * options.get("orders", 1) > _MOST_CELLS
        if notion.name in DESIGNS[key].notions and not large:
            yield _Candidate(key, "histogram" if asked.counts else "mean", options)


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
                mechanism.channel,
                prior,
                people,
                asked,
                way,
                about=about,
                level=level,
                together=True,
            )
        except NotDefined as refusal:
            reasons.append(f"no {way} estimate for {refusal.context}")
            return None

    leaning, free = error("bayes", "people"), error("unbiased", "population")
    drifted = None
    if leaning is not None:
        drifted = drifted_coverage(mechanism.channel, prior, asked, leaning, DRIFT)
    way = ", ".join([method, *(f"{value} {name}" for name, value in options.items())])
    name, why = f"{mechanism.notion} by {way}", "; ".join(reasons)
    guarantee = mechanism.certificate.guarantee
    return PlanOption(name, guarantee, leaning, free, drifted, why, mechanism, method, options)
