"""`--ledger` of commands that release tables: recorded before the table gets its name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from liftlock.accounting.ledger import Ledger
from liftlock.accounting.ledger_entry import read_name
from liftlock.cli.asked import check_different, check_replaces_nothing
from liftlock.cli.console import Notes
from liftlock.cli.options import FILE
from liftlock.errors import FileError
from liftlock.mechanism import Mechanism
from liftlock.notions.base import Notion
from liftlock.notions.registry import parse_claim

if TYPE_CHECKING:
    from liftlock.tables.formats.base import TableFile

F = TypeVar("F", bound=Callable[..., Any])


def ledger_options(command: F) -> F:
    """Add the options that record a release in a ledger."""
    for option in reversed(
        (
            click.option(
                "--ledger",
                type=FILE,
                metavar="LEDGER",
                help="Record the release (JSON) before the output appears.",
            ),
            click.option("--who", metavar="COHORT", help="With --ledger: whose data it is."),
            click.option(
                "--id",
                "id_column",
                metavar="NAME",
                help="The same, if this column holds the ids of people.",
            ),
            click.option(
                "--about",
                metavar="ITEM",
                help="With --ledger: what was released.  [default: the name of the column]",
            ),
            click.option(
                "--limit",
                metavar="NOTION=VALUE",
                help="With --ledger: release nothing if this is not certainly kept, e.g. lip=2.",
            ),
        )
    ):
        command = option(command)
    return command


@dataclass(frozen=True)
class LedgerOptions:
    """Where a release is recorded, whose it is, and how much all releases may tell."""

    path: Path | None
    who: str | None = None
    id_column: str | None = None
    about: str | None = None
    limit: Notion | None = None

    @classmethod
    def read(
        cls,
        path: Path | None,
        who: str | None,
        id_column: str | None,
        about: str | None,
        limit: str | None,
    ) -> LedgerOptions:
        """Refuse options that do not go together."""
        given = {"--who": who, "--id": id_column, "--about": about, "--limit": limit}
        if path is None:
            for name, value in given.items():
                if value is not None:
                    raise click.UsageError(f"{name} goes with --ledger")
            return cls(None)
        if (who is None) == (id_column is None):
            raise click.UsageError("--ledger needs one of --who and --id: whose data it is")
        item = None if about is None else read_name(about, "about")
        return cls(path, who, id_column, item, None if limit is None else parse_claim(limit))

    def check(
        self,
        source: TableFile,
        inputs: Mapping[str, Path | None],
        outputs: Mapping[str, Path | None],
    ) -> None:
        """Refuse a ledger that is needed as something else, and ids that are not there."""
        if self.path is None:
            return
        named = {name.removeprefix("--"): path for name, path in inputs.items()}
        check_replaces_nothing(self.path, named, "the ledger")
        for name, output in outputs.items():
            check_different(self.path, output, "--ledger", name)
        if self.id_column is not None:
            source.type_of(self.id_column)

    @contextmanager
    def recording(
        self, source: TableFile, released: Mapping[str, Mechanism], note: Notes
    ) -> Iterator[Callable[[], None]]:
        """Give what records the release of items; one beyond the limit is refused before.

        It is called last of all before the output appears: a release that is in the ledger may be
        missing outside, never the other way. Others cannot use the ledger meanwhile.
        """
        if self.path is None:
            yield lambda: None
            return
        if self.about is not None:
            if len(released) > 1:
                raise click.UsageError("--about is for one column: each has its own name there")
            released = dict(zip([self.about], released.values(), strict=True))
        with Ledger.opened(self.path) as book:
            fresh = book
            for about, made in released.items():
                fresh = fresh.record(
                    made,
                    who=self.who,
                    people=None if self.id_column is None else self._ids(source),
                    about=about,
                    limit=self.limit,
                    place=lambda row: source.where(row, self.id_column or ""),
                )
            saved: list[Path] = []

            def record() -> None:
                assert self.path is not None
                fresh.save(self.path)
                saved.append(self.path)

            try:
                yield record
            except FileError as error:
                if not saved:
                    raise
                raise FileError(
                    f"{error.what}, after the release was recorded in {self.path}",
                    where=error.where,
                    value=error.value,
                    remedy="nothing was released; remove the last entry of the ledger to try again",
                ) from None
        numbers = ", ".join(str(number + 1) for number in range(len(book), len(fresh)))
        note(f"release {numbers} recorded in {self.path}: it counts now, whatever becomes of it")
        if self.limit is not None:
            note(f"the limit {self.limit} is kept")

    def _ids(self, source: TableFile) -> Iterator[str]:
        assert self.id_column is not None
        for piece in source.batches([self.id_column]):
            for cell in piece.batch.column(0).to_pylist():
                yield "" if cell is None else str(cell).strip()
