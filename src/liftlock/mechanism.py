"""A mechanism: a table that can be released, the certificate that proves it, and its context."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, SupportsIndex, TypeAlias, overload

import numpy as np

from liftlock._runtime.storage import StoredObject, check_format, malformed_data_errors
from liftlock.errors import FileError, InputError, NotDefined
from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.api import estimate
from liftlock.estimate.expected import (
    ExpectedError,
    expected_error,
    expected_per_user_error,
    expected_profile_error,
    model_error,
)
from liftlock.estimate.models.given import lift_question, model_given, reported_channel
from liftlock.estimate.per_user_aggregate import PerUserAggregate, per_user_fingerprint
from liftlock.estimate.question import About, ask
from liftlock.estimate.result import Estimate
from liftlock.exact.fingerprint import fingerprint
from liftlock.exact.numbers import exact
from liftlock.exact.rounding import LARGE
from liftlock.model import (
    AnyUserPrior,
    Conditional,
    Context,
    Intervals,
    Joint,
    PerUserPriors,
    Prior,
    ProfileGraph,
    context_from_data,
    representative,
)
from liftlock.model._checks import wrong_kind
from liftlock.model.alphabet import Alphabet, Label
from liftlock.model.channel import Channel, Table
from liftlock.model.columns import TableEncoding
from liftlock.model.continuous.grid import GridPrior
from liftlock.model.per_user import read_alphabet, read_limits
from liftlock.model.person import PersonRule
from liftlock.model.provenance import Provenance
from liftlock.model.structured import (
    USER_CHANNELS,
    StructuredChannel,
    SupportChannel,
    UserChannel,
    any_channel_from_data,
)
from liftlock.notions.audit import Audit, UserAudit, audit
from liftlock.notions.base import Notion, safe_text
from liftlock.notions.certificate import MAKE_AGAIN, Certificate
from liftlock.notions.crowd_mass import CrowdMass
from liftlock.notions.guarantee import Guarantee, Wanted, read_certified
from liftlock.notions.ldp import LDP
from liftlock.notions.lift import Impossible, check_impossible
from liftlock.notions.registry import make_notion
from liftlock.sampling.bits import OperatingSystemBits, RandomBits, SimulationBits
from liftlock.sampling.per_user import draw_users
from liftlock.sampling.release import draw_codes, given_rows, given_values, profile_rows
from liftlock.utility.mean import codes_of_numbers, points_of, posterior_means, posterior_medians

if TYPE_CHECKING:
    import numpy.typing as npt

    Values: TypeAlias = Sequence[Any] | npt.NDArray[Any]

_USERS_FORMAT = "liftlock.local-mechanism"
_USERS_VERSION = 1
"""The former file of mechanisms for users with a prior each, which can still be read."""

MOST_CROWD_ENTRIES = 250_000
"""Larger tables are printed without the crowd mass, which would take a while."""


@dataclass(frozen=True)
class Accuracy:
    """The error of released numbers taken at face value: mean absolute, and mean squared.

    On a grid it is the error for X clamped to the domain. The absolute error is that of the numbers
    that cells stand for; the grid adds at most the mean deviation inside a cell.
    """

    absolute: float
    squared: float


@dataclass(frozen=True)
class Mechanism(StoredObject):
    """What a user holds: the exact table, the proof, and what the proof assumes.

    It can only be made through the exact audit: `lock` and `load` both run it.

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock import Draft, lock
    >>> from liftlock.model import Prior
    >>> draft = Draft.of(["no", "yes"], ["no", "yes"], [[0.7, 0.3], [0.3, 0.7]])
    >>> mechanism = lock(draft, LIP("1"), Prior.uniform(["no", "yes"]))
    >>> len(mechanism.release(["yes", "no", "no"]))
    3
    """

    FORMAT: ClassVar[str] = "liftlock.mechanism"
    VERSION: ClassVar[int] = 2
    FORMER: ClassVar[tuple[int, ...]] = (1,)

    channel: Table | SupportChannel | UserChannel
    certificate: Certificate
    context: Context
    origin: Provenance | None = None
    encoding: TableEncoding | None = None
    """The rules by which cells become inputs, if it was made for a column, or several as one."""
    sealed: bool = field(default=True, compare=False)
    """Whether its file notes when rules or origin are changed; those of version 1 do not."""
    also: tuple[Guarantee, ...] = ()
    """What was proved of the same channel besides: of other secrets, or of the value itself."""

    def __post_init__(self) -> None:
        for each in self.guarantees:
            each.check(self.channel)
        self._check_person()

    def _check_person(self) -> None:
        """Refuse a promise for all rows of a person that the channel does not keep."""
        rule = self.person
        if rule is None:
            return
        promised = self.promised
        if rule.mode == "repeat":
            if str(promised) != str(self.notion):
                raise InputError(
                    "one report for all rows of a person keeps what is certified, not another",
                    value=str(promised),
                    remedy=f"it keeps {self.notion}",
                )
            return
        limits = promised.lift_limits()
        budgets = [promised.ratio_limit] if limits is None else list(limits)
        given = [budget for budget in budgets if budget is not None]
        # Of the channel's own inputs: rows may have anything in common, also the secret.
        level = LDP.measure(self.channel).ratio
        if not given or not all(budget.allows_power(level, rule.rows) for budget in given):
            raise InputError(
                f"{rule.rows:,} rows of a person may tell more than {promised}",
                value=f"{self._level_text} nats of LDP each",
                remedy="make it again with --person",
            )

    @property
    def _level_text(self) -> str:
        return safe_text(LDP.measure(self.channel).value)

    @property
    def person(self) -> PersonRule | None:
        """Whose rows are protected together, if it was made for several rows of a person."""
        return None if self.encoding is None else self.encoding.person

    @property
    def promised(self) -> Notion:
        """What it promises first: of a person, if it was made for all rows of one."""
        rule = self.person
        return self.notion if rule is None else make_notion(rule.notion, rule.budgets)

    def describe_person(self) -> str:
        """Say what is promised of all rows of a person; empty if it is made for single rows."""
        rule = self.person
        if rule is None:
            return ""
        promised = self.promised.guarantee
        if rule.mode == "repeat":
            return (
                f"PER PERSON: {promised} for all rows of one {rule.column!r}, which have one "
                "report in common"
            )
        return (
            f"PER PERSON: {promised} for all rows of one {rule.column!r}, at most {rule.rows:,}, "
            f"whatever they have in common: {rule.rows:,} x {self._level_text} nats of LDP"
        )

    @classmethod
    def prove(
        cls,
        channel: Table | SupportChannel | UserChannel,
        notion: Notion,
        context: Context,
        origin: Provenance | None = None,
        *,
        also: Iterable[Wanted | tuple[Notion, Context] | tuple[Notion, Context, str | None]] = (),
        impossible: Impossible = "refuse",
    ) -> Mechanism:
        """Audit a channel exactly, and make a mechanism of it if every guarantee holds."""
        first = Guarantee.prove(channel, Wanted(notion, context), impossible=impossible)
        more = [Guarantee.prove(channel, Wanted(*each), impossible=impossible) for each in also]
        return cls(channel, first.certificate, context, origin, also=tuple(more))

    def with_outputs(self, names: Iterable[Any]) -> Mechanism:
        """Return the same mechanism with other names of its outputs, proved again under these.

        What is reported is then no value: where people see reports, `r1` cannot be mistaken for an
        answer.

        >>> from liftlock.notions.lip import LIP
        >>> from liftlock import Draft, lock
        >>> from liftlock.model import Prior
        >>> draft = Draft.of(["no", "yes"], ["no", "yes"], [[0.7, 0.3], [0.3, 0.7]])
        >>> coin = lock(draft, LIP("1"), Prior.uniform(["no", "yes"])).with_outputs(["r1", "r2"])
        >>> set(coin.release(["yes", "no"])) <= {"r1", "r2"}, coin.certificate.holds
        (True, True)
        """
        table = self.table
        outputs = Alphabet.of(names)
        if len(outputs) != len(table.outputs):
            raise InputError(
                f"{len(outputs)} names for {len(table.outputs)} outputs",
                remedy="give each output a name of its own",
            )
        renamed = Table(table.inputs, outputs, table.weights, table.totals)
        more = tuple(
            Guarantee.prove(renamed, Wanted(each.notion, each.context, each.about))
            for each in self.also
        )
        impossible: Impossible = "ignore" if self.certificate.unprotected else "refuse"
        made = Mechanism.prove(
            renamed, self.notion, self.context, self.origin, impossible=impossible
        )
        return replace(made, encoding=self.encoding, also=more)

    @property
    def notion(self) -> Notion:
        """The certified guarantee; the first, if there are several."""
        return make_notion(self.certificate.notion, self.certificate.budgets)

    @property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """All that was proved of the channel, each with its own context."""
        secret = None if self.encoding is None else self.encoding.secret
        return (Guarantee(self.certificate, self.context, secret), *self.also)

    @property
    def guarantee(self) -> str:
        """What it guarantees in short, e.g. ``lip(epsilon=1)``; several are joined by "and"."""
        every = self.guarantees
        texts = [each.text for each in every] if self.also else [self.certificate.guarantee]
        if isinstance(self.context, Conditional):
            rules = None if self.encoding is None else self.encoding.given
            known = "what is given" if rules is None else " and ".join(map(repr, rules.names))
            texts = [
                f"{text} given {known}"
                if isinstance(each.context, Conditional)
                else f"{text} for whoever does not see {known}"
                for text, each in zip(texts, every, strict=True)
            ]
        return " and ".join(texts)

    @property
    def secrets(self) -> tuple[str, ...]:
        """The columns that must not be inferred: they do not belong beside what is released."""
        named = (each.about for each in self.guarantees)
        return tuple(dict.fromkeys(name for name in named if name is not None))

    @property
    def table(self) -> Table:
        """The channel as the table it is; encodings and the distributions of users have none."""
        if isinstance(self.channel, StructuredChannel):
            raise InputError(
                f"{self.channel} has no table", remedy="use its channel, or another method"
            )
        return self.channel

    def release(
        self,
        values: Values,
        whose: Any = None,
        *,
        impossible: Impossible = "refuse",
        coded: bool = False,
    ) -> list[Any] | npt.NDArray[Any]:
        """Randomise values with the operating system's entropy. Ask each person once.

        Encodings give rows of packed bytes. A mechanism on a grid takes numbers and gives numbers;
        those outside the domain count as its nearer end. A mechanism that uses profiles takes the
        profile of each value, or one for all of them; values that their profile calls impossible
        and that nothing protects are refused, or with ``impossible="ignore"`` released without a
        guarantee. One that uses a given value takes that of each value, or one for all. A mechanism
        for users with a prior each takes `PerUserPriors`: reports of ``arc``
        are then an array of numbers of 32 bits, those of ``safe-response`` are values, and with
        `coded` values and reports are positions among the labels.
        """
        return self._draw(values, whose, OperatingSystemBits(), impossible, coded)

    def simulate(
        self,
        values: Values,
        whose: Any = None,
        *,
        seed: SupportsIndex | str,
        coded: bool = False,
    ) -> list[Any] | npt.NDArray[Any]:
        """Randomise values reproducibly, for experiments only: never for real people's data."""
        return self._draw(values, whose, SimulationBits(seed), "refuse", coded)

    def _draw(
        self, values: Values, whose: Any, bits: RandomBits, impossible: Impossible, coded: bool
    ) -> list[Any] | npt.NDArray[Any]:
        """Find the row of each value, draw an output of it, and return that by its name."""
        if isinstance(values, str | bytes):
            raise InputError(
                "one text instead of a column of values", value=values, remedy="put it in a list"
            )
        if isinstance(self.channel, UserChannel):
            codes = np.asarray(values) if coded else self.channel.inputs.encode(values)
            drawn = draw_users(self.channel, self._user_priors(whose), codes, bits)
            return drawn if coded else self._name_outputs(drawn, values)
        if coded:
            raise InputError(
                "coded=True needs a mechanism for per-user priors",
                remedy="give labels, or use liftlock.sampling.release_codes",
            )
        rows = self._rows(values, whose, impossible)
        return self._name_outputs(draw_codes(self.channel, rows, bits), values)

    def _rows(
        self, values: Values, profiles: Any, impossible: Impossible
    ) -> npt.NDArray[np.integer[Any]]:
        """Return which input of the channel each value is: under its profile, or by its cell."""
        check_impossible(impossible)
        context = self.context
        if isinstance(profiles, PerUserPriors):
            raise self._one_table_error()
        if isinstance(context, ProfileGraph):
            bare = self.certificate.unprotected if impossible == "refuse" else ()
            rows = profile_rows(self.channel, context, values, profiles, bare)
            if rows is not None:
                return rows
        elif isinstance(context, Conditional):
            rows = given_rows(self.channel, context, values, profiles)
            if rows is not None:
                return rows
        elif profiles is not None:
            raise InputError(
                "profiles are given, but the mechanism has none",
                value=self.certificate.guarantee,
                remedy="leave them out",
            )
        if isinstance(context, GridPrior):
            inputs = self.channel.inputs
            order = context.inputs.positions_in(inputs, whose="the prior", other_name="the channel")
            return order[context.grid.encode(values)]
        return self.channel.inputs.encode(values)

    def _name_outputs(
        self, drawn: npt.NDArray[Any], values: Values
    ) -> list[Any] | npt.NDArray[Any]:
        """Return outputs as they are read: numbers on a grid, else labels; a list for a list.

        Packed reports of encodings, and the points of the arc mechanism, are what they are.
        """
        if isinstance(self.channel, StructuredChannel) and not self.channel.reports_labels:
            return drawn
        if isinstance(self.context, GridPrior):
            named: npt.NDArray[Any] = points_of(self.table.outputs, "release")[drawn]
            return named if hasattr(values, "dtype") else named.tolist()
        outputs = self.channel.outputs if isinstance(self.channel, Table) else self.channel.inputs
        named = outputs.decode(drawn)
        return named if isinstance(values, np.ndarray) else named.tolist()

    def readings(self, best: Literal["mean", "median"] = "mean") -> npt.NDArray[np.float64]:
        """Return the best guess of X for each output: the posterior mean, or the median.

        The mean has the least squared error of all, the median the least absolute error. Outputs of
        added noise are released at face value; these are the numbers to replace them with.

        >>> from liftlock.notions.lip import LIP
        >>> from liftlock import Draft, lock
        >>> from liftlock.model import Prior
        >>> draft = Draft.of([0, 1], [0, 1], [[0.7, 0.3], [0.3, 0.7]])
        >>> lock(draft, LIP("1"), Prior.uniform([0, 1])).readings().round(6).tolist()
        [0.3, 0.7]
        """
        if best not in ("mean", "median"):
            raise InputError("unknown reading", value=best, remedy="use mean or median")
        read = posterior_means if best == "mean" else posterior_medians
        return read(self.table.floats(), *self.masses_and_points())

    def masses_and_points(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return the masses of the table's inputs, and the numbers they stand for."""
        prior = representative(self.context)
        points = points_of(prior.inputs, "readings")
        if isinstance(self.context, Conditional) and self.uses_given:
            places = [prior.inputs.index(x) for x in self.input_values]
            masses = self.context.whole.prior.reordered(self.table.inputs).floats()
            return masses, points[places]
        if prior.inputs.labels == self.table.inputs.labels:
            return prior.floats(), points
        order = self.table.inputs.positions_in(
            prior.inputs, whose="the channel", other_name="the prior"
        )
        return prior.floats()[order], points[order]

    def accuracy(self, numbers: npt.ArrayLike | None = None) -> Accuracy:
        """Return how far released numbers are from the truth, on average over the prior.

        With `numbers`, one for each output or one for all, how far those would be: such as
        `readings()`, or the mean for everybody.
        """
        masses, points = self.masses_and_points()
        if numbers is None:
            numbers = points_of(self.table.outputs, "accuracy")
        joint = self.table.floats() * masses[:, None]
        apart = np.abs(points[:, None] - np.asarray(numbers, dtype=np.float64))
        squared = (
            float((joint * apart**2).sum()) + representative(self.context).variance_within_bins
        )
        return Accuracy(float((joint * apart).sum()), squared)

    # --- users with a prior each ----------------------------------------------------------------

    @property
    def per_user(self) -> bool:
        """Whether it is for users with a prior each."""
        return isinstance(self.channel, UserChannel)

    @property
    def _users(self) -> UserChannel:
        """The channel of users with a prior each; others are refused."""
        if not isinstance(self.channel, UserChannel):
            raise self._one_table_error()
        return self.channel

    @property
    def users_fingerprint(self) -> str:
        """The sha256 by which sums over users know the mechanism that their reports come from."""
        return per_user_fingerprint(self._users, self.certificate.guarantee)

    def _user_priors(self, priors: Any) -> PerUserPriors:
        if not isinstance(priors, PerUserPriors):
            raise InputError(
                "the values or reports have no per-user priors",
                value="none" if priors is None else f"of type {type(priors).__name__}",
                remedy="give PerUserPriors",
            )
        return priors

    def _one_table_error(self) -> InputError:
        """Return the refusal of priors of users."""
        return InputError(
            "per-user priors are given, but the mechanism has one table for all users",
            value=self.certificate.guarantee,
            remedy="leave them out, or design for per-user priors: design(priors, ...)",
        )

    # --- from reports to answers ----------------------------------------------------------------

    @cached_property
    def reported(self) -> Table | SupportChannel | UserChannel | Channel:
        """The channel of reports as they are counted: with their group, if it uses a given value.

        Aggregates carry its fingerprint.
        """
        if isinstance(self.context, Conditional):
            return reported_channel(self.channel, self.context)
        return self.channel

    @property
    def uses_given(self) -> bool:
        """Whether it has a table for each given value."""
        context = self.context
        return isinstance(context, Conditional) and context.uses_given(self.channel.inputs)

    @property
    def input_values(self) -> tuple[Label, ...]:
        """The value that each input stands for, beside a given one or not."""
        inputs = self.channel.inputs.labels
        if not isinstance(self.context, Conditional) or not self.uses_given:
            return inputs
        values = dict(zip(self.context.pairs.labels, self.context.pair_list, strict=True))
        return tuple(values[label][1] for label in inputs)

    @property
    def holds_without_given(self) -> bool:
        """Whether all it guarantees was proved for those who do not see the given value as well."""
        return all(
            any(
                other.context == each.context.whole and other.text == each.text
                for other in self.also
            )
            for each in self.guarantees
            if isinstance(each.context, Conditional)
        )

    @overload
    def aggregate(
        self,
        reports: Iterable[Any] | npt.NDArray[Any],
        priors: None = None,
        *,
        weights: npt.ArrayLike | None = None,
        offsets: npt.ArrayLike | None = None,
        given: Any = None,
    ) -> Aggregate: ...
    @overload
    def aggregate(
        self,
        reports: Iterable[Any] | npt.NDArray[Any],
        priors: PerUserPriors,
        of: str = "histogram",
        *,
        value: Any = None,
        weights: npt.ArrayLike | None = None,
        offsets: npt.ArrayLike | None = None,
        coded: bool = False,
    ) -> PerUserAggregate: ...
    def aggregate(
        self,
        reports: Iterable[Any] | npt.NDArray[Any],
        priors: PerUserPriors | None = None,
        of: str = "histogram",
        *,
        value: Any = None,
        weights: npt.ArrayLike | None = None,
        offsets: npt.ArrayLike | None = None,
        coded: bool = False,
        given: Any = None,
    ) -> Aggregate | PerUserAggregate:
        """Count reports: a small object that can be merged with ``+``, saved, and estimated from.

        Reports of users with a prior each are added up, user by user, for the question that `of`
        and `value` name; priors, weights and offsets are in the order of the reports. What others
        report is counted for any question. Where the mechanism uses a given value, `given` has that
        of each report, or is one for all of them.

        >>> from liftlock.notions.lip import LIP
        >>> from liftlock import Draft, lock
        >>> from liftlock.model import Prior
        >>> draft = Draft.of(["no", "yes"], ["no", "yes"], [[0.7, 0.3], [0.3, 0.7]])
        >>> coin = lock(draft, LIP("1"), Prior.uniform(["no", "yes"]))
        >>> (coin.aggregate(["yes", "no"]) + coin.aggregate(["yes"])).counts
        (1, 2)
        """
        if priors is not None or isinstance(self.channel, UserChannel):
            return PerUserAggregate.of(
                self._users,
                self.users_fingerprint,
                ask(self.channel.inputs, of, value),
                reports,
                self._user_priors(priors),
                weights=weights,
                offsets=offsets,
                coded=coded,
            )
        if isinstance(self.context, Conditional):
            if self.uses_given:
                reports = self._with_groups(reports, given)
            return Aggregate.of(self.reported, reports, weights=weights, offsets=offsets)
        if given is not None:
            raise InputError(
                "given values, but the mechanism uses none",
                value=self.certificate.guarantee,
                remedy="leave them out",
            )
        if isinstance(self.context, GridPrior) and isinstance(self.channel, Table):
            codes = codes_of_numbers(self.table.outputs, reports)
            return Aggregate.of_codes(self.table, codes, weights, offsets)
        return Aggregate.of(self.channel, reports, weights=weights, offsets=offsets)

    def _with_groups(self, reports: Any, given: Any) -> list[Any]:
        """Pair reports with their group; pairs are taken as they are."""
        assert isinstance(self.context, Conditional)
        known = self.reported
        assert isinstance(known, Channel)
        listed = list(reports)
        if given is None and all(report in known.outputs for report in listed):
            return listed
        groups = map(self.context.group_of, given_values(given, len(listed)))
        return list(zip(groups, listed, strict=True))

    def aggregate_batches(self, batches: Iterable[Any]) -> Aggregate:
        """Count batch after batch of reports, so that all of them are never in memory at once."""
        if isinstance(self.channel, UserChannel):
            raise NotDefined(
                "counting batches",
                self.context.describe(),
                "add up aggregate(reports, priors) of each batch",
            )
        total = Aggregate.empty(self.reported)
        for batch in batches:
            total += self.aggregate(batch)
        return total

    def estimate(
        self,
        reports: Aggregate | PerUserAggregate | Iterable[Any] | npt.NDArray[Any],
        of: str = "histogram",
        *,
        value: Any = None,
        prior: Prior | None = None,
        priors: PerUserPriors | None = None,
        weights: npt.ArrayLike | None = None,
        offsets: npt.ArrayLike | None = None,
        coded: bool = False,
        given: Any = None,
        **options: Any,
    ) -> Estimate:
        """Estimate a histogram, a survey, a sum or a mean from reports, or from their aggregate.

        The prior is that of the mechanism unless another is given. `options` are those of
        `liftlock.estimate.estimate`: method, interval, level, about, seed. A mechanism for profiles
        also answers ``profiles``: how many people have each; a prior then has their shares.
        Reports of users with a prior each need their `priors`, in the order of the reports: the sum
        of posterior means has the least squared error, and the squared errors of users add up.
        Reports of a mechanism that uses a given value need these too, in `given`.

        >>> from liftlock.notions.lip import LIP
        >>> from liftlock import Draft, lock
        >>> from liftlock.model import Prior
        >>> draft = Draft.of(["no", "yes"], ["no", "yes"], [[0.75, 0.25], [0.25, 0.75]])
        >>> coin = lock(draft, LIP("1"), Prior.uniform(["no", "yes"]))
        >>> ys = ["yes"] * 400 + ["no"] * 600
        >>> coin.estimate(ys, "survey", value="yes", method="unbiased").value
        300.0
        """
        told: Any = reports
        counted = isinstance(told, Aggregate | PerUserAggregate)
        if counted and any(each is not None for each in (priors, weights, offsets, given)):
            raise InputError(
                "priors, weights or given values beside an aggregate, which contains them",
                remedy="give them to aggregate(...), with the reports",
            )
        if isinstance(told, PerUserAggregate) or isinstance(self.channel, UserChannel):
            if prior is not None:
                raise InputError(
                    "one prior is given, but the mechanism uses per-user priors",
                    remedy="give their priors (priors=, --local-priors)",
                )
            if not isinstance(told, PerUserAggregate):
                numbers = {"value": value, "weights": weights, "offsets": offsets, "coded": coded}
                told = self.aggregate(told, self._user_priors(priors), of, **numbers)
            told.require_channel(self.users_fingerprint)
            return estimate(self.channel, told, of, value=value, **options)
        if priors is not None or coded:
            raise self._one_table_error()
        if isinstance(self.context, ProfileGraph):
            options["graph"] = self.context
        if isinstance(self.channel, SupportChannel) and not counted:
            # The reports themselves know more than their counts: which symbols go together.
            options |= {"weights": weights, "offsets": offsets}
        elif not counted:
            told = self.aggregate(told, weights=weights, offsets=offsets, given=given)
        if self.uses_given:
            if prior is not None:
                raise NotDefined(
                    "another prior",
                    self.context.describe(),
                    "leave it out: the mechanism knows a prior for each given value",
                )
            options["given"] = self.context
        known = self.known_prior if prior is None else prior
        return estimate(self.channel, told, of, value=value, prior=known, **options)

    def expected_error(
        self,
        people: int | PerUserPriors,
        of: str = "histogram",
        *,
        value: Any = None,
        prior: Prior | None = None,
        method: str = "bayes",
        about: About = "people",
        level: object = "0.95",
    ) -> ExpectedError:
        """Return the error that an estimate from so many people will have, before any is asked.

        It is a mean over the prior of the mechanism, unless another is given; for a mechanism for
        profiles the prior has their shares.
        For users with a prior each the people are their priors, and the error is in closed form.

        >>> from liftlock.notions.lip import LIP
        >>> from liftlock import Draft, lock
        >>> from liftlock.model import Prior
        >>> draft = Draft.of(["no", "yes"], ["no", "yes"], [[0.75, 0.25], [0.25, 0.75]])
        >>> coin = lock(draft, LIP("1"), Prior.uniform(["no", "yes"]))
        >>> found = coin.expected_error(1000, "survey", value="yes", method="unbiased")
        >>> round(found.errors[0], 2), found.people_for("2%")
        (27.39, 7203)
        """
        if isinstance(self.channel, UserChannel):
            question = ask(self.channel.inputs, of, value)
            if method not in ("bayes", "unbiased") or about != "people":
                raise NotDefined(
                    f"the expected error of {method} about the {about}",
                    self.context.describe(),
                    "ask for bayes or unbiased, about the people who report",
                )
            own = self._user_priors(people)
            return expected_per_user_error(self.channel, own, question, level, method)
        if isinstance(people, PerUserPriors):
            raise self._one_table_error()
        if isinstance(self.context, Conditional) and self.uses_given:
            if isinstance(people, PerUserPriors) or prior is not None:
                raise NotDefined(
                    "an expected error under another prior",
                    self.context.describe(),
                    "give the number of people, and leave the prior out",
                )
            model = model_given(self.channel, self.context)
            asked = lift_question(ask(self.context.values, of, value), self.context)
            return model_error(model, asked, people, method, about=about, level=level)
        known = self.known_prior if prior is None else prior
        graph = self.context if isinstance(self.context, ProfileGraph) else None
        if known is None:
            what = "one prior" if graph is None else "shares of the profiles"
            raise NotDefined(
                "an expected error",
                self.context.describe(),
                f"give prior=: it is a mean over {what}",
            )
        if graph is not None:
            return expected_profile_error(
                self.channel, graph, known, people, of, value, method, about=about, level=level
            )
        question = ask(self.channel.inputs, of, value)
        return expected_error(
            self.channel, known, people, question, method, about=about, level=level
        )

    @property
    def known_prior(self) -> Prior | None:
        """The prior of X that the mechanism was made for; None for a set of priors."""
        if isinstance(self.context, Joint | Conditional):
            return self.context.prior
        return self.context if isinstance(self.context, Prior) else None

    # --- audits, words and files ----------------------------------------------------------------

    @overload
    def audit(self, priors: None = None, **options: Any) -> Audit: ...
    @overload
    def audit(self, priors: PerUserPriors) -> UserAudit: ...
    def audit(self, priors: PerUserPriors | None = None, **options: Any) -> Audit | UserAudit:
        """Measure every notion in the mechanism's own context; for profiles, every edge.

        With the priors of users: the exact largest and smallest lift of all of them, and who has
        them.
        """
        if priors is not None:
            return UserAudit.of(self.channel, self._user_priors(priors), self.notion)
        return audit(self.channel, self.context, **options)

    def __repr__(self) -> str:
        return f"<Mechanism {self.guarantee}: {self.channel}>"

    def __str__(self) -> str:
        parts = [str(self.channel), str(self.certificate)]
        parts += [f"and about {each.subject}:\n{each.certificate}" for each in self.also]
        parts += [said] if (said := self.describe_confidence()) else []
        parts += [said] if (said := self.describe_person()) else []
        if self.origin is not None:
            parts.append(str(self.origin))
            crowd = self.describe_crowd()
            parts += [crowd] if crowd else []
        parts += [f"({self.caution})"] if self.caution else []
        return "\n".join(parts)

    @property
    def caution(self) -> str:
        """What its file leaves open: whether anybody changed the rules or the origin; or empty."""
        parts = {"its origin": self.origin, "the rules of its columns": self.encoding}
        unchecked = [name for name, part in parts.items() if part is not None]
        if self.sealed or not unchecked:
            return ""
        return (
            f"a mechanism file of version 1 has no fingerprint: that {' and '.join(unchecked)} "
            "are as they were written cannot be checked"
        )

    def describe_confidence(self) -> str:
        """Say what holds for certain where the guarantee holds with a confidence; else nothing."""
        near = self.context
        if not isinstance(near, Intervals) or near.confidence is None:
            return ""
        return (
            f"at worst {LDP('1').smallest_text(self.channel, near)}, whatever the prior; with "
            f"confidence {100 * float(near.confidence):.6g} % over {near.evidence}, "
            f"{self.certificate.guarantee}"
        )

    def describe_crowd(self) -> str:
        """Say how small a crowd an output can point at; nothing for sets of priors, huge tables."""
        if isinstance(self.channel, StructuredChannel):
            return ""
        cells = len(self.channel.inputs) * len(self.channel.outputs)
        if not isinstance(self.context, Prior | Joint) or cells > MOST_CROWD_ENTRIES:
            return ""
        found = CrowdMass.measure(self.channel, self.context)
        if found.witness is None:
            return "no output points at anybody: no belief ever rises"
        return (
            f"no output points at a crowd smaller than {100 * float(found.value):.4g} % "
            "of the population"
        )

    def content(self) -> dict[str, Any]:
        """Return the JSON form without format and version."""
        data = {
            "channel": self.channel.to_data(),
            "context": self.context.to_data(),
            **self._claims(),
        }
        return data | {"fingerprint": self.fingerprint} if self.sealed else data

    def _claims(self) -> dict[str, Any]:
        """Return what a file says beside the channel and its context."""
        data: dict[str, Any] = {"certificate": self.certificate.to_data()}
        if self.also:
            data["also"] = [each.to_data() for each in self.also]
        if self.origin is not None:
            data["origin"] = self.origin.to_data()
        if self.encoding is not None:
            data |= self.encoding.to_data()
        return data

    @property
    def fingerprint(self) -> str:
        """The sha256 of all that its file says: of the rules of columns and of the origin too.

        These cannot be computed again, as the certificate is; so a change of them is noticed.
        """
        return fingerprint([self.certificate.channel, self.context.to_data(), self._claims()])

    @property
    def version(self) -> int:
        """The version it is written in: one that was read without a fingerprint stays so."""
        return self.VERSION if self.sealed else 1

    def to_json(self) -> str:
        """Return the JSON text."""
        # Indented for people, as far as people can read it; on one line it is written much faster.
        large = isinstance(self.channel, Table) and self.channel.weights.size > LARGE
        return json.dumps(self.to_data(), ensure_ascii=False, indent=None if large else 1)

    @classmethod
    def from_data(cls, data: Any) -> Mechanism:
        """Read the JSON form, and prove its guarantee; the former one of users' mechanisms too."""
        if isinstance(data, dict) and data.get("format") == _USERS_FORMAT:
            check_format(data, _USERS_FORMAT, _USERS_VERSION)
            with malformed_data_errors():
                return _read_former_users(data)
        return super().from_data(data)

    @classmethod
    def from_content(cls, data: dict[str, Any]) -> Mechanism:
        """Read the content, and run the exact audit on it.

        A file that was changed after it was certified is refused, even if what it says now could
        be certified too: nobody has vouched for it.
        """
        channel = any_channel_from_data(data.get("channel"))
        context = context_from_data(data.get("context"))
        told = data.get("origin")
        origin = None if told is None else Provenance.from_data(told)
        encoding = TableEncoding.from_data(data)
        if not isinstance(channel, Table | SupportChannel | UserChannel):
            raise FileError(
                "the channel of a mechanism has no bits", remedy="only tables can be released"
            )
        notion, impossible = read_certified(data.get("certificate"), channel, context)
        made = cls.prove(channel, notion, context, origin, impossible=impossible)
        more = data.get("also", [])
        if not isinstance(more, list):
            raise FileError("the further guarantees are not a list", value=more, remedy=MAKE_AGAIN)
        also = tuple(Guarantee.from_data(each, channel) for each in more)
        made = replace(made, encoding=encoding, sealed=data.get("version") != 1, also=also)
        told = data.get("fingerprint")
        if made.sealed and told is not None and told != made.fingerprint:
            raise FileError(
                "the rules of its columns, its origin or its further guarantees were changed",
                where="fingerprint",
                value=told,
                remedy=f"computed: {made.fingerprint[:16]}...; restore the file, or make it again",
            )
        return made


def lock_users(
    labels: Iterable[Any] | Alphabet,
    notion: Notion,
    method: str = "arc",
    budgets: Iterable[Any] = (),
) -> Mechanism:
    """Make a mechanism for per-user priors: a distribution for all, or one for each budget.

    The notion is what everybody is promised; a user with one of the `budgets` is promised no less
    than that. Both are proved on the integers of the distributions, for every user under every
    prior.

    Source: 001 section III.A, Prop. 2.

    >>> from liftlock.notions.lip import LIP
    >>> print(lock_users(["no", "yes"], LIP("1"), "safe-response"))
    safe-response on 2 symbols, a prior for each user
    CERTIFIED: lip(epsilon=1) for every user under every prior on 2 symbols
      holds: max-lift 2.718281828... <= 2.718281828...
      holds: min-lift 0.3678794412... >= 0.3678794411...
      leakage in nats: eps_lower 1, eps_upper 1
      for priors in multiples of 2^-32, to which each user's is rounded before it is used
      channel ..., context ...
    """
    limits = notion.lift_limits()
    if limits is None or limits.lower is None or limits.upper is None:
        raise InputError(
            "per-user priors go with lip and alip",
            value=str(notion),
            remedy="give one of these",
        )
    if method not in USER_CHANNELS:
        raise InputError(
            "unknown method for per-user priors",
            value=method,
            remedy=f"use {' or '.join(USER_CHANNELS)}",
        )
    pairs = [read_limits(budget) for budget in budgets] or [(limits.lower, limits.upper)]
    context = AnyUserPrior(read_alphabet(labels))
    return Mechanism.prove(USER_CHANNELS[method].of(context.inputs, pairs), notion, context)


def _read_former_users(data: dict[str, Any]) -> Mechanism:
    """Read the former file of users' mechanisms: its distribution is derived again and compared."""
    alphabet = Alphabet.from_data(data.get("labels"))
    notion = make_notion(str(data["notion"]), data["budgets"])
    stored = {str(name): int(exact(value)) for name, value in data["law"].items()}
    made = lock_users(alphabet, notion, str(data["method"]))
    assert isinstance(made.channel, UserChannel)
    same = stored == made.channel.integers_of(0)
    if not same or data.get("fingerprint") != made.users_fingerprint:
        raise FileError(
            "the sampling distribution is not that of the notion",
            value=stored,
            remedy="the file was changed after it was written; make it again",
        )
    return made


def require_mechanism(value: object, where: str = "") -> Mechanism:
    """Return a mechanism."""
    if isinstance(value, Mechanism):
        return value
    raise wrong_kind("a mechanism", value, "make one by design(...) or Mechanism.load(path)", where)
