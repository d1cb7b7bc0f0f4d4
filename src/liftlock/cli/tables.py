"""Options for tables in files, and what is checked before they are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from liftlock.cli.asked import refuse_ledger
from liftlock.cli.console import Notes
from liftlock.cli.options import FILE
from liftlock.errors import FileError
from liftlock.storage import check_free, check_writable, destination

if TYPE_CHECKING:
    from liftlock.tables.formats.base import TableFile

F = TypeVar("F", bound=Callable[..., Any])


def table_options(command: F) -> F:
    """Add the options that say how a CSV is to be read."""
    for option in reversed(
        (
            click.option(
                "--delimiter",
                metavar="MARK",
                help="What separates the cells of a CSV.  [default: what its header tells]",
            ),
            click.option(
                "--names",
                metavar="A,B,...",
                help="The columns of a CSV that has no header.",
            ),
        )
    ):
        command = option(command)
    return command


def safe_option(command: F) -> F:
    """Add the option that names the table to write."""
    return click.option(
        "-o",
        "--output",
        type=FILE,
        required=True,
        metavar="SAFE",
        help="The table to write (.csv, .parquet, .arrow ...).",
    )(command)


def force_option(command: F) -> F:
    """Add the option that allows files to be replaced."""
    return click.option("--force", is_flag=True, help="Replace files that are there.")(command)


def opened(path: Path, delimiter: str | None, names: str | None, note: Notes) -> TableFile:
    """Open a table."""
    from liftlock.tables.formats import open_table

    listed = None if names is None else [name.strip() for name in names.split(",")]
    mark = "\t" if delimiter in ("\\t", "tab") else delimiter
    return open_table(path, note=note, delimiter=mark, names=listed)


def check_outputs(
    outputs: Mapping[str, Path | None], inputs: Mapping[str, Path | None], *, force: bool
) -> None:
    """Refuse outputs that are inputs, one another, ledgers, or there already."""
    places: dict[Path, str] = {}
    for name, path in outputs.items():
        if path is None:
            continue
        check_writable(path)
        refuse_ledger(path, name)
        for other, given in inputs.items():
            if given is not None and given.exists() and path.exists() and path.samefile(given):
                raise FileError(
                    f"{name} would replace {other}", where=str(path), remedy="choose another name"
                )
        if not force:
            check_free(path)
        place = destination(path).resolve()
        if place in places:
            raise FileError(
                f"{name} and {places[place]} are the same file",
                where=str(path),
                remedy="choose another name for one of them",
            )
        places[place] = name


def beside(output: Path, ending: str) -> Path:
    """Return the name of a file that belongs to an output.

    >>> str(beside(Path("safe.csv.gz"), ".mechanism.json"))
    'safe.mechanism.json'
    """
    name = output.name
    for suffix in (".gz", *(f".{kind}" for kind in ("csv", "tsv", "parquet", "pq", "arrow"))):
        name = name.removesuffix(suffix)
    return output.with_name(name.removesuffix(".feather") + ending)


def one_for_each(values: Sequence[str], columns: Sequence[str], option: str) -> list[str | None]:
    """Pair values of an option with columns: none, one for all, or one for each.

    >>> one_for_each(["sex"], ["job", "pay"], "--secret")
    ['sex', 'sex']
    """
    if not values:
        return [None] * len(columns)
    if len(values) == 1:
        return [values[0]] * len(columns)
    if len(values) != len(columns):
        raise click.UsageError(
            f"{len(values)} times {option} for {len(columns)} columns: give it once, or once for "
            "each --column, in the same order"
        )
    return list(values)


def by_column(values: Sequence[str], columns: Sequence[str], option: str) -> dict[str, str]:
    """Read values such as ``pay=0:9000``; with one column its name may be left out.

    >>> by_column(["0:9"], ["pay"], "--domain"), by_column(["pay=0:9"], ["job", "pay"], "--domain")
    ({'pay': '0:9'}, {'pay': '0:9'})
    """
    found: dict[str, str] = {}
    for value in values:
        name, equals, rest = value.rpartition("=")
        if not equals:
            if len(columns) > 1:
                raise click.UsageError(f"{option} of which column? write {option} COLUMN={value}")
            name = columns[0]
        if name not in columns:
            raise click.UsageError(f"{option} for {name!r}, which is no --column")
        if name in found:
            raise click.UsageError(f"{option} twice for {name!r}")
        found[name] = rest
    return found
