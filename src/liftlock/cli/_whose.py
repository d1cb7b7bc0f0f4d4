"""The options that say whose each row is: the profile it comes from, or the prior of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from liftlock._runtime.storage import errors_at
from liftlock.accounting.composition import edge_budget
from liftlock.cli._options import NORMALISE, OptionGroup, option
from liftlock.mechanism import Mechanism
from liftlock.model import ProfileGraph
from liftlock.notions.lift import Impossible
from liftlock.report.format import shown

if TYPE_CHECKING:
    from liftlock.tables.formats.base import TableFile
    from liftlock.tables.per_user import PerUserRandomiser
    from liftlock.tables.profiles import ProfileColumn
    from liftlock.tables.randomiser import ColumnRandomiser

_LISTED = 3
_OF_PROFILES = ("--profile-column", "--keep-profile", "--impossible")
_OF_USERS = ("--local-priors", "--local-budgets", "--normalise")

_ADD_UP = (
    "the guarantee is for one observation, and the rows of a profile add up if they are "
    "independent observations"
)
_MORE = "rows that depend on one another can lose more, and no rule bounds it"


@dataclass(frozen=True)
class WhoseOptions(OptionGroup):
    """Whose each row is, for mechanisms that are not the same for everybody."""

    profile_column: str | None = option(
        "--profile-column",
        metavar="NAME",
        help="Column of profiles, dropped from the output. Needed if the mechanism uses it.",
    )
    keep_profile: bool = option(
        "--keep-profile",
        is_flag=True,
        help="Keep columns of profiles, although they reveal the profile.",
    )
    impossible: Impossible | None = option(
        "--impossible",
        type=click.Choice(["refuse", "ignore"]),
        help="Values of probability 0, which would reveal their profile.  [default: refuse]",
    )
    local_priors: str | None = option(
        "--local-priors",
        metavar="PREFIX",
        help="Per-user priors: each row's probabilities, in columns named PREFIX plus a value.",
    )
    local_budgets: str | None = option(
        "--local-budgets", metavar="NAME", help="Per-user budgets: the column that holds them."
    )
    normalise: bool = option("--normalise", **NORMALISE)

    def worker(
        self, made: Mechanism, column: str | None, unseen: str | None, source: TableFile
    ) -> ColumnRandomiser | PerUserRandomiser:
        """Return what releases the column; refuse options that the mechanism has no use for."""
        of_profiles = isinstance(made.context, ProfileGraph)
        self._refuse(_OF_PROFILES, "the mechanism knows no profiles", refused=not of_profiles)
        self._refuse(_OF_USERS, "the mechanism has one prior for all", refused=not made.per_user)
        if made.per_user:
            return self._of_users(made, str(column), unseen)
        if of_profiles and self.profile_column is None:
            assert isinstance(made.context, ProfileGraph)
            if made.context.uses_profile(made.channel.inputs):
                raise click.UsageError(
                    "the mechanism uses the profile of each value: give --profile-column"
                )
        if of_profiles and self.profile_column == column:
            raise click.UsageError("--column and --profile-column are the same column")
        from liftlock.tables.people import person_column
        from liftlock.tables.profiles import column_worker

        with errors_at(source.path):
            return person_column(
                column_worker(
                    made, column, unseen, self.profile_column, self.impossible or "refuse"
                )
            )

    def _refuse(self, names: Collection[str], why: str, *, refused: bool) -> None:
        for name in self.given_options():
            if refused and name in names:
                raise click.UsageError(f"{why}: leave out {name}")

    def _of_users(self, made: Mechanism, column: str, unseen: str | None) -> PerUserRandomiser:
        from liftlock.tables.per_user import PerUserRandomiser

        if self.local_priors is None:
            raise click.UsageError(
                "the mechanism is for users with a prior each: name their columns, --local-priors"
            )
        if unseen is not None:
            raise click.UsageError("a row has probabilities of known values: leave out --unseen")
        columns = {label: f"{self.local_priors}{label}" for label in made.channel.inputs.labels}
        return PerUserRandomiser(made, column, columns, self.local_budgets, self.normalise)

    def kept(self, keep: tuple[str, ...]) -> tuple[str, ...]:
        """Return the columns that are kept whatever they tell."""
        if self.keep_profile and self.profile_column is not None:
            return (*keep, self.profile_column)
        return keep


def notes_of_profiles(worker: ProfileColumn, rows: int, *, told: bool) -> Iterator[str]:
    """Say what the guarantee does not cover; `told` is whether columns of profiles were kept."""
    alone = set(worker.graph.isolated)
    budget = edge_budget(worker.mechanism)
    of = worker.rows_of()
    counts = [(name, number) for name, number in of.items() if name not in alone]
    uncovered = worker.unprotected_rows()
    if uncovered:
        yield (
            f"NO guarantee for {uncovered:,} of {rows:,} rows, whose value their profile calls "
            "impossible"
        )
    elif worker.profiles is None and worker.mechanism.certificate.unprotected:
        yield (
            "NO guarantee for rows whose value their profile calls impossible: they were not "
            "counted"
        )
    if counts:
        most = counts[0][1]
        listed = ", ".join(f"{shown(name)} has {number:,}" for name, number in counts[:_LISTED])
        more = len(counts) - _LISTED
        listed += f", {more:,} other{'s have' if more > 1 else ' has'} no more" * (more > 0)
        yield (
            f"{_ADD_UP}: {listed}; together they then lose up to "
            f"{most:,} x {budget} = {budget.scaled(most)} nats; {_MORE}"
        )
    elif worker.profiles is None:
        yield f"{_ADD_UP}: n rows of the same profile then lose up to n x {budget} nats; {_MORE}"
    bare = [(name, number) for name, number in of.items() if name in alone]
    if bare:
        listed = ", ".join(f"{shown(name)} ({number:,})" for name, number in bare[:_LISTED])
        listed += f" and {len(bare) - _LISTED:,} more" * (len(bare) > _LISTED)
        yield f"no edge, so no promise, for the rows of {listed}"
    if told:
        yield "columns of profiles were kept: they say whose each value is, and nothing is hidden"
    elif worker.profiles is not None:
        yield (
            f"the column {worker.profiles!r} was left out: it is what is to be hidden "
            "(--keep-profile)"
        )
    yield (
        "the other columns and the order of the rows were kept: check that they do not reveal the "
        "profile"
    )


def profile_release_data(
    worker: ProfileColumn, rows: int, file: str, notes: list[str]
) -> dict[str, Any]:
    """Return the JSON form of a release by profiles."""
    return {
        "format": "liftlock.profile-release",
        "version": 1,
        "rows": rows,
        "certificate": worker.mechanism.certificate.to_data(),
        "profiles": [
            {"profile": name, "rows": number} for name, number in worker.rows_of().items()
        ],
        "file": file,
        "notes": notes,
    }
