"""What is wanted of each column of a table, read from the options of `liftlock protect`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from liftlock.cli.asked import check_utility, read_notion, read_utility
from liftlock.cli.console import Notes
from liftlock.cli.tables import by_column, one_for_each
from liftlock.designs.catalogue import find_design
from liftlock.errors import InputError
from liftlock.exact.numbers import exact
from liftlock.files import read_joint, read_prior
from liftlock.line.grid import check_cells, read_domain
from liftlock.notions.base import Notion
from liftlock.notions.registry import parse_claim

if TYPE_CHECKING:
    from liftlock.tables.formats.base import TableFile
    from liftlock.tables.protect.spec import ColumnSpec

_ITSELF = "-"


def read_specs(
    source: TableFile,
    columns: Sequence[str],
    secrets: Sequence[str],
    asked: dict[str, Any],
    note: Notes,
) -> list[ColumnSpec]:
    """Read what is wanted of each column."""
    from liftlock.tables.protect.spec import column_specs

    usual, others = _notions(columns, asked)
    told = [
        None if secret == _ITSELF else secret
        for secret in one_for_each(secrets, columns, "--secret")
    ]
    check_utility(asked["utility"], asked["loss"])
    method = asked["method"]
    if method != "auto" and asked["local_priors"] is None:
        method = find_design(method).key
    domains = by_column(asked["domains"], columns, "--domain")
    cells = by_column(asked["cells"], columns, "--cells")
    for domain in domains.values():
        read_domain(domain)
    for name in asked["numbers"]:
        if name not in columns:
            raise click.UsageError(f"--numbers {name}: it is no --column")
    _check_used(asked, told)
    _check_learned(asked, columns, told)
    joints, priors = list(asked["joints"]), list(asked["priors"])
    contexts: dict[str, Any] = {}
    for column, secret in zip(columns, told, strict=True):
        if secret is not None and joints:
            contexts[column] = read_joint(joints.pop(0) if len(asked["joints"]) > 1 else joints[0])
        elif secret is None and priors:
            given = priors.pop(0) if len(asked["priors"]) > 1 else priors[0]
            contexts[column] = read_prior(given, note)
    utility = None
    if asked["utility"] is not None or asked["loss"] is not None:
        utility = {column: _utility(asked, contexts.get(column)) for column in columns}
    return column_specs(
        columns,
        others if usual is None else {column: others.get(column, usual) for column in columns},
        told,
        context=contexts,
        utility=utility,
        method=method,
        missing=asked["missing"],
        unseen=asked["unseen"],
        rare=asked["rare"],
        spelled=asked["spelled"],
        smooth=asked["smooth"],
        numbers=asked["numbers"],
        domain=domains,
        cells={column: check_cells(_whole(count, "--cells")) for column, count in cells.items()},
        local=_local(source, columns[0], asked["local_priors"], asked["local_budgets"]),
        local_budgets=asked["local_budgets"],
    )


def _utility(asked: dict[str, Any], context: Any) -> Any:
    if asked["loss"] is None:
        return asked["utility"]
    if context is None:
        raise click.UsageError("--loss needs to know all values: give --joint or --prior")
    return read_utility(asked["utility"], asked["loss"], context)


def _notions(
    columns: Sequence[str], asked: dict[str, Any]
) -> tuple[Notion | None, dict[str, Notion]]:
    """Read the guarantee for all columns, and those of single ones."""
    others: dict[str, Notion] = {}
    for name, claim in asked["budgets"]:
        if name not in columns:
            raise click.UsageError(f"--budget for {name!r}, which is no --column")
        if name in others:
            raise click.UsageError(f"--budget twice for {name!r}")
        others[name] = parse_claim(claim)
    names = ("notion", "epsilon", "epsilon_lower", "epsilon_upper", "delta", "form")
    if len(others) == len(set(columns)) and all(asked[name] is None for name in names):
        return None, others
    notion = read_notion(
        asked["notion"],
        asked["epsilon"],
        asked["epsilon_lower"],
        asked["epsilon_upper"],
        None,
        asked["delta"],
        asked["form"],
    )
    return notion, others


def _check_used(asked: dict[str, Any], secrets: Sequence[str | None]) -> None:
    """Refuse joints and priors that belong to no column."""
    for option, given, wanted in (
        ("--joint", asked["joints"], sum(secret is not None for secret in secrets)),
        ("--prior", asked["priors"], sum(secret is None for secret in secrets)),
    ):
        if given and not wanted:
            other = "a secret: give --joint" if option == "--prior" else "no secret: give --prior"
            raise click.UsageError(f"{option} says nothing about columns that have {other}")
        if given and len(given) not in (1, wanted):
            which = "with" if option == "--joint" else "without"
            raise click.UsageError(
                f"{len(given)} times {option} for {wanted} columns {which} a secret: give it once, "
                "or once for each"
            )


def _check_learned(
    asked: dict[str, Any], columns: Sequence[str], secrets: Sequence[str | None]
) -> None:
    """Refuse rules for counting where nothing is counted."""
    given = [bool(asked["priors"] if secret is None else asked["joints"]) for secret in secrets]
    local = asked["local_priors"] is not None
    if local and len(columns) > 1:
        raise click.UsageError("--local-priors is for one --column: protect others on their own")
    for option, value in (("--rare", asked["rare"]), ("--smooth", exact(asked["smooth"]))):
        if value and (local or all(given)):
            raise click.UsageError(f"{option} is for what is counted in the table; leave it out")
    asks = {*asked["numbers"], *by_column(asked["domains"], columns, "--domain")}
    asks |= set(by_column(asked["cells"], columns, "--cells"))
    for column, known in zip(columns, given, strict=True):
        if column in asks and (known or local):
            raise click.UsageError(
                f"the numbers of {column!r} are counted in the table: leave out its --joint, "
                "--prior or --local-priors, or --numbers, --domain and --cells"
            )


def _local(
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
            "no columns of probabilities",
            value=prefix,
            remedy=f"there should be one for each value of {column!r}, called {prefix}VALUE",
        )
    return dict(found)


def _whole(text: str, option: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise InputError(f"{option} is not a whole number", value=text, remedy="give 2 or more")
    return int(text)
