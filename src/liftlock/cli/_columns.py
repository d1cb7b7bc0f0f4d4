"""The options of `liftlock protect` that say what is wanted of each column."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from liftlock.cli._console import Notes
from liftlock.cli._options import (
    FILE,
    NORMALISE,
    GuaranteeOptions,
    OptionGroup,
    UtilityOptions,
    nested_group,
    option,
)
from liftlock.designs.catalogue import find_design
from liftlock.errors import InputError
from liftlock.exact.numbers import exact
from liftlock.files import read_joint, read_prior
from liftlock.model.columns import MISSING, UNSEEN, Missing, Unseen
from liftlock.model.conditional import FEWEST
from liftlock.model.continuous.grid import check_bins, read_domain
from liftlock.model.person import PER_PERSON, PerPerson
from liftlock.notions.base import Notion
from liftlock.notions.registry import parse_claim

if TYPE_CHECKING:
    from liftlock.tables.formats.base import TableFile
    from liftlock.tables.protect.spec import ColumnSpec

_ITSELF = "-"


@dataclass(frozen=True)
class ColumnOptions(OptionGroup):
    """What is wanted of each column, and what is known of it."""

    columns: tuple[str, ...] = option(
        "--column",
        multiple=True,
        required=True,
        metavar="NAME",
        help="Column to privatise. Repeatable.",
    )
    secrets: tuple[str, ...] = option(
        "--secret",
        multiple=True,
        metavar="NAME",
        help="Sensitive column to protect, dropped from the output; - protects the value itself. "
        "Repeatable: all of them for one --column, one for each of several, or COLUMN=NAME.  "
        "[default: -]",
    )
    together: bool = option(
        "--together",
        is_flag=True,
        help="Privatise all columns jointly, as one value with one guarantee.",
    )
    guarantee: GuaranteeOptions = nested_group(GuaranteeOptions, without=("alpha",))
    budgets: tuple[tuple[str, str], ...] = option(
        "--budget",
        nargs=2,
        multiple=True,
        metavar="NAME CLAIM",
        help="Guarantee of one column, overriding the common one, e.g. pay lip=0.5. Repeatable.",
    )
    total: str | None = option(
        "--total",
        metavar="CLAIM",
        help="One guarantee for all columns together about each secret, e.g. lip=1, split so that "
        "they keep the most.",
    )
    weights: tuple[str, ...] = option(
        "--weight",
        multiple=True,
        metavar="NAME=W",
        help="With --total: split it by these weights (others have 1). Repeatable.",
    )
    secret_budgets: tuple[tuple[str, str], ...] = option(
        "--budget-of",
        nargs=2,
        multiple=True,
        metavar="SECRET CLAIM",
        help="Guarantee of one secret, overriding that of the column, e.g. race lip=0.3. "
        "Repeatable.",
    )
    value_budgets: tuple[str, ...] = option(
        "--value-budget",
        multiple=True,
        metavar="[NAME=]CLAIM",
        help="Besides, how much a column with a secret may tell of its own value, e.g. ldp=2. "
        "Repeatable.",
    )
    person: str | None = option(
        "--person",
        metavar="NAME",
        help="Column that says whose each row is: the guarantee is then for all rows of a person. "
        "It is dropped from the output.",
    )
    per_person: PerPerson | None = option(
        "--per-person",
        type=click.Choice(PER_PERSON),
        help="With --person: divide the budget among the rows of a person, or repeat one report in "
        "all of them.  [default: what keeps more]",
    )
    joints: tuple[Path, ...] = option(
        "--joint",
        type=FILE,
        multiple=True,
        metavar="JOINT",
        help="Public joint distribution, used instead of counting the table: rows secrets, "
        "columns values.",
    )
    priors: tuple[Path, ...] = option(
        "--prior",
        type=FILE,
        multiple=True,
        metavar="PRIOR",
        help="Public prior of a column without a secret.",
    )
    local_priors: str | None = option(
        "--local-priors",
        metavar="PREFIX",
        help="Per-user priors: each row's probabilities, in columns named PREFIX plus a value.",
    )
    local_budgets: str | None = option(
        "--local-budgets",
        metavar="NAME",
        help="Per-user budgets: the column that holds them. It is public.",
    )
    normalise: bool = option("--normalise", **NORMALISE)
    utility: UtilityOptions = nested_group(UtilityOptions)
    method: str = option(
        "--method",
        metavar="METHOD",
        default="auto",
        show_default=True,
        help="auto picks the best method that can be certified within --seconds.",
    )
    missing: Missing = option(
        "--missing",
        type=click.Choice(MISSING),
        default="category",
        show_default=True,
        help="Missing cells: treat as a category, keep missing, or refuse.",
    )
    spelled: tuple[str, ...] = option(
        "--missing-text",
        multiple=True,
        metavar="TEXT",
        help="Text that marks a missing cell, e.g. ?. Repeatable.",
    )
    unseen: Unseen = option(
        "--unseen",
        type=click.Choice(UNSEEN),
        default="refuse",
        show_default=True,
        help="Values missing from the prior: refuse them, or map them to the merged rare value.",
    )
    rare: int = option(
        "--rare",
        type=click.IntRange(min=0),
        default=0,
        metavar="N",
        help="Merge values that occur in fewer than N rows.",
    )
    smooth: str = option("--smooth", default="0", metavar="A", help="Add A to every count.")
    numbers: tuple[str, ...] = option(
        "--numbers", multiple=True, metavar="NAME", help="Treat this column as numeric. Repeatable."
    )
    domains: tuple[str, ...] = option(
        "--domain",
        multiple=True,
        metavar="[NAME=]L:U",
        help="Range to clamp numbers to. Repeatable.",
    )
    bins: tuple[str, ...] = option(
        "--bins", multiple=True, metavar="[NAME=]N", help="Number of bins for numbers. Repeatable."
    )

    decimals: tuple[str, ...] = option(
        "--decimals",
        multiple=True,
        metavar="[NAME=]N",
        help="Decimals of the numbers that are released. Repeatable.  [default: 0 for a column of "
        "whole numbers, else as many as tell them apart]",
    )

    given: tuple[str, ...] = option(
        "--given",
        multiple=True,
        metavar="NAME",
        help="Column that stays in the output and that the mechanism may use: the guarantee then "
        "holds given each of its values, for whoever sees it. Repeatable.",
    )
    given_rows: int | None = option(
        "--given-rows",
        type=click.IntRange(min=1),
        metavar="N",
        help=f"With --given: values in fewer than N rows share one table.  [default: {FEWEST}]",
    )

    def inputs(self) -> dict[str, Path | None]:
        """Return the files that are read, by option."""
        found: dict[str, Path | None] = {}
        found |= {f"--joint {place + 1}": path for place, path in enumerate(self.joints)}
        found |= {f"--prior {place + 1}": path for place, path in enumerate(self.priors)}
        return found

    def read(self, source: TableFile, note: Notes) -> list[ColumnSpec]:
        """Read what is wanted of each column."""
        from liftlock.tables.protect.spec import column_specs

        columns = self.columns
        usual, others = self._notions()
        told = read_secrets(self.secrets, columns, source.columns)
        if self.per_person is not None and self.person is None:
            raise click.UsageError("--per-person goes with --person")
        if self.given_rows is not None and not self.given:
            raise click.UsageError("--given-rows goes with --given")
        self.utility.check()
        method = self.method
        if method != "auto" and self.local_priors is None:
            method = find_design(method).key
        domains = parse_by_column(self.domains, columns, "--domain")
        bins = parse_by_column(self.bins, columns, "--bins")
        decimals = parse_by_column(self.decimals, columns, "--decimals")
        for domain in domains.values():
            read_domain(domain)
        for name in self.numbers:
            if name not in columns:
                raise click.UsageError(f"--numbers names {name}, which is not a --column")
        self._check_used(told)
        self._check_learned(told, {*self.numbers, *domains, *bins})
        joints, priors = list(self.joints), list(self.priors)
        contexts: dict[str, Any] = {}
        for column, (secret, *_) in zip(columns, told, strict=True):
            if secret is not None and joints:
                contexts[column] = read_joint(
                    joints.pop(0) if len(self.joints) > 1 else joints[0], note
                )
            elif secret is None and priors:
                given = priors.pop(0) if len(self.priors) > 1 else priors[0]
                contexts[column] = read_prior(given, note, normalise=self.normalise)
        utility = None
        if self.utility.given_options():
            utility = {column: self._utility(contexts.get(column)) for column in columns}
        return column_specs(
            columns,
            others if usual is None else {column: others.get(column, usual) for column in columns},
            told,
            budget_of=self._secret_budgets(),
            value_budget=self._value_budgets(),
            context=contexts,
            utility=utility,
            method=method,
            missing=self.missing,
            unseen=self.unseen,
            rare=self.rare,
            spelled=self.spelled,
            smooth=self.smooth,
            numbers=self.numbers,
            domain=domains,
            bins={name: check_bins(_read_integer(count, "--bins")) for name, count in bins.items()},
            decimals={
                name: _read_integer(count, "--decimals", 0) for name, count in decimals.items()
            },
            local=_per_user_options(source, columns[0], self.local_priors, self.local_budgets),
            local_budgets=self.local_budgets,
            normalise=self.normalise,
            given=self.given,
            **({} if self.given_rows is None else {"given_rows": self.given_rows}),
        )

    def read_total(self) -> tuple[Notion | None, dict[str, str]]:
        """Read the budget that all columns share, and their weights."""
        if self.total is None:
            return None, {}
        return parse_claim(self.total), parse_by_column(self.weights, self.columns, "--weight")

    def _utility(self, context: Any) -> Any:
        if self.utility.loss is None:
            return self.utility.utility
        if context is None:
            raise click.UsageError("--loss needs the list of values: give --joint or --prior")
        return self.utility.read(context)

    def _notions(self) -> tuple[Notion | None, dict[str, Notion]]:
        """Read the guarantee for all columns, and those of single ones."""
        if self.total is not None:
            given = self.guarantee.given_options()
            if given or self.budgets:
                name = "--budget" if self.budgets else given[0]
                raise click.UsageError(f"{name} does not go with --total, which is split")
            return parse_claim(self.total), {}
        if self.weights:
            raise click.UsageError("--weight goes with --total")
        others: dict[str, Notion] = {}
        for name, claim in self.budgets:
            if name not in self.columns:
                raise click.UsageError(f"--budget names {name!r}, which is not a --column")
            if name in others:
                raise click.UsageError(f"--budget is given twice for {name!r}")
            others[name] = parse_claim(claim)
        if len(others) == len(set(self.columns)) and not self.guarantee.given_options():
            return None, others
        return self.guarantee.read(), others

    def _secret_budgets(self) -> dict[str, Notion]:
        """Read the guarantees of single secrets."""
        found: dict[str, Notion] = {}
        for secret, claim in self.secret_budgets:
            if secret in found:
                raise click.UsageError(f"--budget-of is given twice for {secret!r}")
            found[secret] = parse_claim(claim)
        return found

    def _value_budgets(self) -> Notion | dict[str, Notion] | None:
        """Read what columns may tell of their own values: one for all, or by column."""
        named = [value for value in self.value_budgets if value.split("=")[0] in self.columns]
        if not self.value_budgets or named:
            if len(named) < len(self.value_budgets):
                raise click.UsageError("--value-budget is for all columns, or for each by its name")
            found: dict[str, Notion] = {}
            for value in named:
                name, _, claim = value.partition("=")
                if name in found:
                    raise click.UsageError(f"--value-budget is given twice for {name!r}")
                found[name] = parse_claim(claim)
            return found or None
        if len(self.value_budgets) > 1:
            raise click.UsageError("--value-budget is given twice: write COLUMN=CLAIM")
        return parse_claim(self.value_budgets[0])

    def _check_used(self, secrets: Sequence[Sequence[str | None]]) -> None:
        """Refuse joints and priors that belong to no column."""
        for name, given, wanted in (
            ("--joint", self.joints, sum(secret is not None for secret, *_ in secrets)),
            ("--prior", self.priors, sum(secret is None for secret, *_ in secrets)),
        ):
            if given and not wanted:
                other = "a secret: give --joint" if name == "--prior" else "no secret: give --prior"
                raise click.UsageError(f"{name} does not apply to columns with {other}")
            if given and len(given) not in (1, wanted):
                which = "with" if name == "--joint" else "without"
                raise click.UsageError(
                    f"{name} is given {len(given)} times for {wanted} columns {which} a secret: "
                    "give one value, or one per column"
                )

    def _check_learned(self, secrets: Sequence[Sequence[str | None]], cut: Container[str]) -> None:
        """Refuse rules for counting where nothing is counted; `cut` are columns of numbers."""
        given = [bool(self.priors if secret is None else self.joints) for secret, *_ in secrets]
        local = self.local_priors is not None
        if local and len(self.columns) > 1:
            raise click.UsageError(
                "--local-priors takes one --column: protect the others separately"
            )
        for name, value in (("--rare", self.rare), ("--smooth", exact(self.smooth))):
            if value and (local or all(given)):
                raise click.UsageError(
                    f"{name} applies only to columns counted in the table: leave it out"
                )
        for column, known in zip(self.columns, given, strict=True):
            if column in cut and (known or local):
                raise click.UsageError(
                    f"the numbers of {column!r} are counted in the table: leave out its --joint, "
                    "--prior or --local-priors, or --numbers, --domain and --bins"
                )


def _per_user_options(
    source: TableFile, column: str, prefix: str | None, budgets: str | None
) -> dict[Any, str]:
    if prefix is None:
        return {}
    found = {
        name.removeprefix(prefix): name
        for name in source.columns
        if name.startswith(prefix) and name not in (column, prefix, budgets)
    }
    if len(found) < 2:
        raise InputError(
            "no columns of probabilities have this prefix",
            value=prefix,
            remedy=f"name one column {prefix}VALUE for each value of {column!r}",
        )
    return dict(found)


def _read_integer(text: str, option: str, least: int = 2) -> int:
    if not (text.isascii() and text.isdigit()):
        raise InputError(
            f"{option} is not a whole number", value=text, remedy=f"give {least} or more"
        )
    return int(text)


def read_secrets(
    values: Sequence[str], columns: Sequence[str], known: Sequence[str]
) -> list[tuple[str | None, ...]]:
    """Return the secrets of each column; None is the value itself, and comes last.

    Several are all for the only column, or one for each; ``job=sex`` adds one to a column.

    >>> read_secrets(["sex", "race"], ["job"], ["job", "sex", "race"])
    [('sex', 'race')]
    >>> read_secrets(["sex", "pay=race", "pay=-"], ["job", "pay"], ["job", "pay", "sex", "race"])
    [('sex',), ('sex', 'race', None)]
    """
    plain: list[str] = []
    own: dict[str, list[str]] = {column: [] for column in columns}
    for value in values:
        column, equals, secret = value.partition("=")
        if equals and column in own and value not in known:
            own[column].append(secret)
        else:
            plain.append(value)
    if len(columns) == 1:
        shared = [plain]
    elif len(plain) not in (0, 1, len(columns)):
        raise click.UsageError(
            f"--secret is given {len(plain)} times for {len(columns)} columns: give one value, one "
            "per --column in the same order, or write --secret COLUMN=NAME"
        )
    else:
        pairs = pair_with_columns(plain, columns, "--secret")
        shared = [[] if each is None else [each] for each in pairs]
    found: list[tuple[str | None, ...]] = []
    for column, common in zip(columns, shared, strict=True):
        names = list(dict.fromkeys([*common, *own[column]]))
        itself = _ITSELF in names or not names
        named = (name for name in names if name != _ITSELF)
        found.append((*named, *([None] if itself else [])))
    return found


def pair_with_columns(
    values: Sequence[str], columns: Sequence[str], option: str
) -> list[str | None]:
    """Pair values of an option with columns: none, one for all, or one for each.

    >>> pair_with_columns(["sex"], ["job", "pay"], "--secret")
    ['sex', 'sex']
    """
    if not values:
        return [None] * len(columns)
    if len(values) == 1:
        return [values[0]] * len(columns)
    if len(values) != len(columns):
        raise click.UsageError(
            f"{option} is given {len(values)} times for {len(columns)} columns: give one value, "
            "or one per --column in the same order"
        )
    return list(values)


def parse_by_column(values: Sequence[str], columns: Sequence[str], option: str) -> dict[str, str]:
    """Read values such as ``pay=0:9000``; with one column its name may be left out.

    >>> (
    ...     parse_by_column(["0:9"], ["pay"], "--domain"),
    ...     parse_by_column(["pay=0:9"], ["job", "pay"], "--domain"),
    ... )
    ({'pay': '0:9'}, {'pay': '0:9'})
    """
    found: dict[str, str] = {}
    for value in values:
        name, equals, rest = value.rpartition("=")
        if not equals:
            if len(columns) > 1:
                raise click.UsageError(
                    f"{option} does not name its column: write {option} COLUMN={value}"
                )
            name = columns[0]
        if name not in columns:
            raise click.UsageError(f"{option} names {name!r}, which is not a --column")
        if name in found:
            raise click.UsageError(f"{option} is given twice for {name!r}")
        found[name] = rest
    return found
