"""What protecting a table came to: each column with its mechanism, and what all of them tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from liftlock.accounting.account import Account
from liftlock.errors import LiftlockError
from liftlock.exact.budget import Budget
from liftlock.mechanism import Mechanism
from liftlock.model.person import PerPerson
from liftlock.notions.base import LiftLimits, Notion
from liftlock.notions.lift import LeakRange
from liftlock.report.format import CERTAIN, most_nats

if TYPE_CHECKING:
    from liftlock.tables.protect.verdict import Verdict


@dataclass(frozen=True)
class CurvePoint:
    """The best mechanism found at another budget, and what it is worth."""

    scale: float
    """What the chosen budget was multiplied by."""
    guarantee: str
    """In short, e.g. ``alip(lower=1.3, upper=0.7)``."""
    utility: float


@dataclass(frozen=True)
class Curve:
    """What stricter and looser budgets would cost, the chosen one among them."""

    title: str
    """The utility in words, with its unit."""
    larger_is_better: bool
    points: tuple[CurvePoint, ...]
    nothing: float
    """The utility of releasing nothing."""
    truth: float
    """The utility of releasing the values as they are."""


@dataclass(frozen=True)
class EmpiricalLeakage:
    """What a mechanism for another prior or joint leaks under the table's own, exactly."""

    eps_lower: float
    eps_upper: float
    holds: bool
    """Whether the budget is kept there as well."""
    mapped: int = 0
    """How many rows have a value that is not known, and became another."""
    at_least: LeakRange | None = None
    """Where it is not kept: lower confidence bounds, what chance does not explain."""


@dataclass(frozen=True)
class ProtectedColumn:
    """One column that was replaced, the mechanism that did it, and how good it is."""

    name: str
    secret: str | None
    """The column that must not be inferred; None if it is the value itself."""
    mechanism: Mechanism
    learned: bool
    """Whether the prior or joint was counted in the table itself, not given."""
    notes: tuple[str, ...] = ()
    """What was done with missing, rare and unseen values, and other things worth knowing."""
    curve: Curve | None = None
    file: str | None = None
    """Where the mechanism was written."""
    counts: Mapping[Any, int] = field(default_factory=dict)
    """How often each output was released; empty before that."""
    in_table: EmpiricalLeakage | None = None
    """For a prior or joint that was given, or smoothed: how the table itself agrees with it."""

    @property
    def facets(self) -> tuple[ProtectedColumn, ...]:
        """The column once for each of its guarantees, as if there were no other."""
        made = self.mechanism
        if not made.also:
            return (self,)
        return tuple(
            replace(
                self,
                secret=about,
                mechanism=replace(
                    made, certificate=each.certificate, context=each.context, also=()
                ),
            )
            for (about, _), each in zip(self.promises, made.guarantees, strict=True)
        )

    @property
    def promises(self) -> tuple[tuple[str | None, Notion], ...]:
        """What it promises about which secrets; None is its own value."""
        also = self.mechanism.also
        first = self.mechanism.promised
        return ((self.secret, first), *((each.about, each.notion) for each in also))

    def limits_for(self, secret: str) -> tuple[Notion, ...]:
        """Return what it promises about a secret, which may be its own value."""
        return tuple(
            notion
            for about, notion in self.promises
            if secret == (self.name if about is None else about)
        )

    def guards(self, secret: str) -> bool:
        """Tell whether it is protected so that this is not inferred; it may be its own value."""
        return bool(self.limits_for(secret))


@dataclass(frozen=True)
class CombinedLeak:
    """What all released columns tell together about one secret."""

    secret: str
    columns: tuple[str, ...]
    account: Account
    """Under the joint of the secret and all these columns; says itself what is exact."""

    def keeps(self, notion: Notion) -> bool:
        """Tell whether the columns together certainly keep a guarantee; the unknown does not."""
        try:
            return self.account.allows(notion)
        except LiftlockError:
            return False


class RowWitness(NamedTuple):
    """The row behind the largest number: a value of the secret, the kept cells, the outputs."""

    secret: Any
    kept: tuple[Any, ...]
    released: tuple[Any, ...]


@dataclass(frozen=True)
class RowLeak:
    """What released cells y and kept cells k tell together of a secret s.

    `population` is P(s|k,y) / P(s), `alone` is P(s|k) / P(s), and `beyond` is P(s|k,y) / P(s|k):
    all three exact in the table, rounded up. The others are about the people whom the rows are
    draws of; `liftlock.transfer.bets` has their error rate.
    """

    secret: str
    released: tuple[str, ...]
    kept: tuple[str, ...]
    population: LeakRange
    beyond: LeakRange
    alone: LeakRange
    at_least: LeakRange
    """Lower confidence bounds of `beyond`: what chance does not explain."""
    at_most: LeakRange
    """Upper confidence bounds of `beyond`; infinity where rows are too few for one."""
    population_at_least: LeakRange
    """Lower confidence bounds of `population`."""
    values: int
    """How many different kept cells there are, numbers in bands."""
    unbounded_share: float
    """The share of rows whose kept cells are in too few rows for an upper bound."""
    banded: tuple[str, ...] = ()
    """Kept columns of numbers that were measured in bands."""
    witness: RowWitness | None = None
    """The row behind the larger side of `beyond`."""


@dataclass(frozen=True)
class BudgetShare:
    """What one column got of a total budget, and what it keeps of its usefulness with that."""

    column: str
    notion: Notion
    kept: float
    """From 0, as good as no release, to 1, as good as the truth."""
    equal: Notion | None = None
    """What an equal split would give it; None if no equal split was proved to keep the total."""
    equal_kept: float | None = None
    noise: Fraction = Fraction(0)
    """The share of rows that are noise, where columns say more together than each by itself."""
    equal_noise: Fraction = Fraction(0)

    @property
    def text(self) -> str:
        """The share in words."""
        return _share_text(self.notion, self.noise)

    @property
    def equal_text(self) -> str:
        """The equal share in words; empty if none was proved."""
        return "" if self.equal is None else _share_text(self.equal, self.equal_noise)


def _share_text(notion: Notion, noise: Fraction) -> str:
    return f"{notion}, {100 * float(noise):.3g} % noise" if noise else str(notion)


@dataclass(frozen=True)
class TotalBudget:
    """One budget for all released columns together, about each secret, and how it was split."""

    notion: Notion
    shares: tuple[BudgetShare, ...]
    leaks: tuple[CombinedLeak, ...]
    """The account of the product of all columns about each secret, which proves that it is kept."""
    weighted: bool = False
    """Whether the shares are by weights that were given, not searched."""

    def __post_init__(self) -> None:
        for leak in self.leaks:
            leak.account.refuse_beyond(self.notion, f"all columns together about {leak.secret!r}")


@dataclass(frozen=True)
class PersonCost:
    """What one way to protect several rows of a person leaves of the columns."""

    mode: PerPerson
    kept: float | None
    """I(X; Y) / H(X) of a row's value and what stands in it, a mean of columns; None: refused."""
    reason: str = ""
    """Why it is refused."""
    notions: tuple[str, ...] = ()
    """What each row keeps for it, or the one report of a person, column by column."""
    same: float = 1.0
    """The least share of rows that hold the value of a column that was taken for their person."""


@dataclass(frozen=True)
class PersonPromise:
    """That the promise is for all rows of a person, how it is kept, and what each way costs."""

    column: str
    mode: PerPerson
    people: int
    most_rows: int
    costs: tuple[PersonCost, ...] = ()
    beside: tuple[str, ...] = ()
    """Kept columns that several rows of a person may tell more with than each row does."""


@dataclass(frozen=True)
class RepeatingColumn:
    """A column that repeats like the id of people who have several rows, and what they lose."""

    name: str
    values: int
    most_rows: int
    """The most rows of one value."""
    reason: str
    """Why it looks like people."""
    loss: float
    """What all columns tell together in so many rows, at most, whatever these have in common."""
    same: float | None = None
    """The same if these rows share nothing but the secret, or the value; None: not known."""
    secret: str | None = None
    """The secret that they share."""

    @property
    def sentence(self) -> str:
        """What people with several rows lose."""
        loss = "everything" if self.loss > CERTAIN else f"up to {most_nats(self.loss)} nats"
        shared = "all hold the same value"
        if self.secret is not None:
            shared = f"they have nothing but {self.secret!r} in common"
        alike = "" if self.same is None else f" (up to {most_nats(self.same)} nats if {shared})"
        return (
            f"{self.name!r} may identify people ({self.values:,} values, up to "
            f"{self.most_rows:,} rows each; {self.reason}): the promise is for one row, and "
            f"{self.most_rows:,} rows of one person tell {loss} at worst{alike}"
        )


@dataclass(frozen=True)
class KeptColumn:
    """A column that stays as it is, and what it tells about a secret by itself."""

    name: str
    secret: str
    values: int
    eps_lower: float
    eps_upper: float
    """Leakages in the table of values that tell more about the secret than chance would; infinity
    where one is ruled out. `liftlock.tables.protect.chance` has the error rate."""
    pooled: float = 0.0
    """The share of rows whose values are too rare to be judged one by one, and tell more together;
    0 if the leakages are those of single values."""

    def exceeds(self, notion: Notion) -> bool:
        """Tell whether it tells more than a notion allows a released column to tell."""
        limits = notion.belief_limits()
        if limits == (None, None):
            # Of other notions lifts say nothing: whatever is told may be too much.
            limits = LiftLimits(Budget.of(0), Budget.of(0))
        return any(
            limit is not None and told > float(limit)
            for told, limit in zip((self.eps_lower, self.eps_upper), limits, strict=True)
        )


@dataclass(frozen=True)
class ReportHead:
    """What the head of a report says beside what was measured; empty where nobody told."""

    purpose: str = ""
    """What the data is released for."""
    responsible: str = ""
    """Who answers for the release."""
    data_date: str = ""
    """The date or period of the data."""
    edition: str = ""
    """The version of the report."""


@dataclass(frozen=True)
class Protection:
    """A table whose columns were protected."""

    source: str
    rows: int
    columns: tuple[ProtectedColumn, ...]
    combined: tuple[CombinedLeak, ...] = ()
    kept: tuple[KeptColumn, ...] = ()
    """Columns that tell more about a secret than the budget allows the released ones to tell."""
    dropped: tuple[str, ...] = ()
    """Columns that were left out, secrets among them."""
    output: str | None = None
    notes: tuple[str, ...] = ()
    sha256: str | None = None
    """The hash of the table that was written, to tell it from others of the same name."""
    day: str | None = None
    """When it was released, as 2026-11-16."""
    total: TotalBudget | None = None
    """The budget that all released columns keep together, if one was given."""
    person: PersonPromise | None = None
    """For whose rows the promise is, if it is for people with several."""
    repeating: tuple[RepeatingColumn, ...] = ()
    """Columns that look like people with several rows, of whom single rows are protected only."""
    rows_out: tuple[RowLeak, ...] = ()
    """What a row of the output tells: released columns with one, two and all kept ones."""
    not_measured: tuple[str, ...] = ()
    """What was not looked at in the output, a sentence each."""
    stays: tuple[str, ...] = ()
    """The columns that are kept as they are."""
    insisted: tuple[str, ...] = ()
    """Those of them that were to be kept whatever they tell."""
    ordered: tuple[str, ...] = ()
    """Secrets and replaced columns by which the rows are sorted or grouped."""
    identities: tuple[str, ...] = ()
    """Kept columns in which nearly every row has a value of its own."""
    head: ReportHead = ReportHead()
    command: tuple[str, ...] = ()
    """The words of the command that asked for it, after ``liftlock``; empty if none did."""

    @cached_property
    def verdict(self) -> Verdict:
        """Whether the rows that go out keep what was promised."""
        from liftlock.tables.protect.judgement import judge

        return judge(self)

    def limits_of(self, leak: CombinedLeak) -> dict[str, tuple[Notion, ...]]:
        """Return what the columns that hide a secret promise: each by itself, or one for all."""
        return {
            column.name: column.limits_for(leak.secret)
            if self.total is None
            else (self.total.notion,)
            for column in self.columns
            if column.name in leak.columns and column.guards(leak.secret)
        }

    def exceeded_secrets(self) -> tuple[str, ...]:
        """Return the secrets about which columns together tell more than one of them may."""
        return tuple(
            leak.secret
            for leak in self.combined
            if any(
                not leak.keeps(notion)
                for notions in self.limits_of(leak).values()
                for notion in notions
            )
        )
