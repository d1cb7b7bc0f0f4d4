"""Options for numbers: a column of a table, or a law, cut into cells on a domain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from liftlock.cli.console import working
from liftlock.contexts import Prior
from liftlock.errors import FileError, InputError
from liftlock.files import MISSING, read_column
from liftlock.line.fitting import FITS, Fit, fit
from liftlock.line.grid import (
    DEFAULT_CELLS,
    SPACINGS,
    GridPrior,
    LinePrior,
    check_cells,
    read_domain,
)
from liftlock.line.law import LAWS, parse_law
from liftlock.storage import located

F = TypeVar("F", bound=Callable[..., Any])

_CUT = ("--domain", "--grid", "--spacing")


def number_options(command: F) -> F:
    """Add the options that make a context of numbers."""
    for option in reversed(
        (
            click.option(
                "--column",
                metavar="NAME",
                help="With --prior: a CSV with one row for each person; take the numbers of this "
                "column.",
            ),
            click.option(
                "--law",
                metavar="LAW",
                help=f"A law instead of a file: {', '.join(form for _, form in LAWS.values())}.",
            ),
            click.option(
                "--fit",
                type=click.Choice(FITS),
                help="With --column: the law to fit.  [default: sample, the numbers as they are]",
            ),
            domain_option,
            grid_option,
            click.option(
                "--spacing",
                type=click.Choice(SPACINGS),
                help="Cells of equal mass or of equal width.  [default: mass]",
            ),
            missing_option,
        )
    ):
        command = option(command)
    return command


def domain_option(command: F) -> F:
    """Add the option that declares the domain."""
    return click.option(
        "--domain",
        metavar="L:U",
        help="The ends that numbers are clamped to, such as 0:300000.",
    )(command)


def grid_option(command: F) -> F:
    """Add the option that says how finely to cut."""
    return click.option(
        "--grid",
        type=int,
        metavar="N",
        help=f"The number of cells.  [default: {DEFAULT_CELLS}]",
    )(command)


def missing_option(command: F) -> F:
    """Add the option that says what to do with empty cells."""
    return click.option(
        "--missing",
        type=click.Choice(MISSING),
        help="With --column: empty cells of the table.  [default: refuse]",
    )(command)


@dataclass(frozen=True)
class Numbers:
    """What was said about numbers on the command line."""

    column: str | None
    law: str | None
    fit: str | None
    domain: str | None
    grid: int | None
    spacing: str | None
    missing: str | None

    @property
    def asked(self) -> bool:
        """Whether the context is one of numbers."""
        return self.column is not None or self.law is not None

    def check(self, prior: Path | None, others: dict[str, Any]) -> None:
        """Refuse what does not go together, before any file is read."""
        if self.column is not None and self.law is not None:
            raise click.UsageError("give --column or --law, not both")
        if self.column is not None and prior is None:
            given = [name for name, value in others.items() if value is not None]
            if given:
                raise click.UsageError(f"--column goes with --prior, not with {given[0]}")
            raise click.UsageError("--column needs --prior: the table that it is a column of")
        if self.law is not None:
            given = [name for name, value in others.items() if value is not None]
            given = ["--prior", *given] if prior is not None else given
            if given:
                raise click.UsageError(f"--law is instead of {given[0]}: leave one out")
        said = {
            "--fit": self.fit,
            "--missing": self.missing,
            "--domain": self.domain,
            "--grid": self.grid,
            "--spacing": self.spacing,
        }
        for name, value in said.items():
            if value is None:
                continue
            if (
                not self.asked
                and name in _CUT
                and prior is not None
                and prior.suffix.lower() == ".json"
            ):
                raise click.UsageError(
                    f"{name} cannot change a stored prior: one of numbers is already cut into "
                    f"cells, so give {name} to liftlock fit when you make it"
                )
            if not self.asked:
                raise click.UsageError(f"{name} goes with numbers: give --column or --law")
            if self.law is not None and name not in _CUT:
                raise click.UsageError(f"{name} goes with --column, not with --law")
        if self.domain is not None:
            read_domain(self.domain)
        if self.grid is not None:
            check_cells(self.grid)
        if self.law is not None:
            parse_law(self.law)

    def prior(self, path: Path | None, note: Callable[[str], None]) -> LinePrior:
        """Read the law, or the column, as a prior on the line."""
        if self.law is not None:
            return LinePrior.of(parse_law(self.law), self.domain)
        assert path is not None
        assert self.column is not None
        found = fitted(
            path, self.column, self.fit or "sample", self.domain, self.missing or "refuse", note
        )
        if found.far:
            note(found.doubt)
        return found

    def cut(self, path: Path | None, note: Callable[[str], None]) -> GridPrior:
        """Make the context."""
        found = self.prior(path, note)
        with located(path) if path is not None else located("--law"):
            return found.grid(
                DEFAULT_CELLS if self.grid is None else self.grid,
                "mass" if self.spacing is None else self.spacing,
            )

    def on(self, cells: GridPrior, path: Path | None, note: Callable[[str], None]) -> Prior:
        """Return the masses of these numbers in the cells that a mechanism brings."""
        for name, value in (("--domain", self.domain), ("--grid", self.grid)):
            if value is not None:
                raise InputError(
                    f"the mechanism brings its own cells: {name} cannot change them",
                    value=value,
                    remedy=f"leave out {name}",
                )
        given = Numbers(
            self.column,
            self.law,
            self.fit,
            f"{cells.grid.lower!r}:{cells.grid.upper!r}",
            None,
            None,
            self.missing,
        )
        return given.prior(path, note).on(cells)


def fitted(
    path: Path,
    column: str,
    law: str,
    domain: str | None,
    missing: str,
    note: Callable[[str], None],
    components: int | None = None,
) -> Fit:
    """Read a column and fit a law to it; say what the fit and the domain do to the numbers."""
    with working("reading" if law == "sample" else "fitting") as progress:
        numbers = read_column(path, column, missing=missing, note=note)
        with located(path):
            found = fit(numbers, domain=domain, law=law, components=components, watch=progress)
    if domain is None:
        note(
            f"no --domain: [{found.lower:g}, {found.upper:g}] was taken from the data, and shows "
            "their ends to everybody"
        )
    if found.clamped:
        note(
            f"{found.clamped:,} of {len(numbers):,} values lie outside the domain and count as "
            "its nearer end"
        )
    if found.used < len(numbers):
        note(
            f"the mixture was fitted to {found.used:,} of {len(numbers):,} values, evenly spaced "
            "in their order"
        )
    return found


def refuse_whole_grid(prior: Prior, path: Path, options: dict[str, Any]) -> None:
    """Refuse options for priors of labels when a stored grid was read."""
    for name, value in options.items():
        if value is not None and isinstance(prior, GridPrior):
            raise FileError(
                f"{name} is for priors of labels, not of numbers",
                where=str(path),
                value=value,
                remedy=f"leave out {name}",
            )
