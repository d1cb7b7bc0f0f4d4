"""The options that name more collections of reports, and the prior for the next one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from liftlock._runtime.storage import write_atomically
from liftlock.cli._console import Notes, ProgressBar
from liftlock.cli._options import FILE, OptionGroup, option
from liftlock.cli._reports import ReportOptions
from liftlock.estimate.result import Estimate
from liftlock.files import read_mechanism
from liftlock.mechanism import Mechanism
from liftlock.model import ProfileGraph
from liftlock.model.confidence import read_confidence

_CONFIDENCE = "0.99"


@dataclass(frozen=True)
class CollectionOptions(OptionGroup):
    """Other collections, how they belong together, and the set of priors for the next round."""

    others: tuple[tuple[Path, Path], ...] = option(
        "--with",
        nargs=2,
        type=FILE,
        multiple=True,
        metavar="MECHANISM REPORTS",
        help="Another collection, by its own mechanism. Repeatable.",
    )
    rounds: bool = option(
        "--rounds",
        is_flag=True,
        help="The collections sample one population: pool them.  [default: they are different "
        "people, whose answers add up]",
    )
    next_prior: Path | None = option(
        "--next-prior",
        type=FILE,
        metavar="PRIORS",
        help="Write the set of priors that the reports allow (JSON), to design the next round for.",
    )
    confidence: str | None = option(
        "--confidence",
        metavar="C",
        help=f"With --next-prior: its confidence level.  [default: {_CONFIDENCE}]",
    )

    def check(self, reports: ReportOptions, paths: Sequence[Path], **given: object) -> None:
        """Refuse options that contradict each other; `given` are those of one mechanism alone."""
        if self.rounds and not self.others:
            raise click.UsageError("--rounds needs another collection: name it by --with")
        if self.confidence is not None:
            if self.next_prior is None:
                raise click.UsageError("--confidence goes with --next-prior")
            read_confidence(self.confidence)
        if self.next_prior is not None and self.others and not self.rounds:
            raise click.UsageError(
                "groups of different people have no common prior: leave out --next-prior, or say "
                "--rounds"
            )
        if not self.others:
            return
        places = [path.resolve() for path in (*paths, *(table for _, table in self.others))]
        if len(set(places)) < len(places):
            raise click.UsageError("the same reports are given twice: name each file once")
        for name, value in given.items():
            if value is not None:
                raise click.UsageError(
                    f"--{name.replace('_', '-')} belongs to one mechanism: leave it out, or --with"
                )
        if reports.priors_from is not None:
            raise click.UsageError(
                "--priors-from belongs to one table: write the counts of each collection by -o, "
                "and combine these"
            )

    def inputs(self) -> dict[str, Path | None]:
        """Return the files that are read."""
        return {
            f"--with {number + 1}{part}": path
            for number, pair in enumerate(self.others)
            for part, path in zip(("", " reports"), pair, strict=True)
        }

    def read(
        self, reports: ReportOptions, asked: tuple[str, Any], note: Notes, shown: ProgressBar
    ) -> list[tuple[Mechanism, Any]]:
        """Read the other collections."""
        found: list[tuple[Mechanism, Any]] = []
        for maker, table in self.others:
            made = read_mechanism(maker)
            refuse_profiles(made)
            reports.check(made, [table])
            found.append((made, reports.read(made, [table], asked, note, shown)))
        return found

    def write(self, found: Sequence[Estimate], note: Notes) -> None:
        """Write the set of priors for the next round, if it is asked for."""
        if self.next_prior is None:
            return
        near = found[0].likely_priors(self.confidence or _CONFIDENCE)
        write_atomically(self.next_prior, json.dumps(near.to_data(), ensure_ascii=False, indent=1))
        note(f"{near.describe()}: written to {self.next_prior}")


def refuse_profiles(made: Mechanism) -> None:
    """Refuse a mechanism for profiles, whose collections are not combined."""
    if isinstance(made.context, ProfileGraph):
        raise click.UsageError("mechanisms for profiles are not combined: leave out --with")
