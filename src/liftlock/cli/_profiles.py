"""The options that name a graph of profiles, and mechanisms that were made for one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from liftlock.cli._context import ContextOptions, check_smooth
from liftlock.cli._options import FILE, OptionGroup, option
from liftlock.errors import FileError, InputError
from liftlock.exact.integers import Floats
from liftlock.exact.numbers import exact
from liftlock.files import (
    SHAPES,
    GraphFiles,
    LoadedChannel,
    Note,
    join_profiles,
    read_channel,
    read_graph,
    read_loss,
    read_mechanism,
    read_profile_channel,
    read_sheet,
)
from liftlock.mechanism import Mechanism
from liftlock.model import ProfileGraph
from liftlock.model.alphabet import Alphabet, Label
from liftlock.model.structured import AnyChannel

OF_TABLE = ("table", "profile_column", "column", "group_column", "smooth")
"""The fields of a graph that is counted in a table of observations."""


@dataclass(frozen=True)
class GraphOptions(OptionGroup):
    """Profiles, given or counted in a table of observations, and what joins them."""

    profiles: Path | None = option(
        "--profiles",
        type=FILE,
        metavar="PROFILES",
        help="CSV: first column profiles, header values, cells counts or probabilities; or JSON.",
    )
    edges: Path | None = option(
        "--edges",
        type=FILE,
        metavar="EDGES",
        help="CSV of two columns: pairs of profiles to protect from each other.",
    )
    groups: Path | None = option(
        "--groups",
        type=FILE,
        metavar="GROUPS",
        help="CSV profile,group: join every two profiles of a group.",
    )
    graph: Any = option(
        "--graph",
        type=click.Choice(SHAPES),
        help="Join every two profiles, or each to the next.",
    )
    table: Path | None = option(
        "--table",
        type=FILE,
        metavar="TABLE",
        help="Instead of --profiles: a CSV with one row for each observation, its value in "
        "--column; --smooth adds to every count.",
    )
    profile_column: str | None = option(
        "--profile-column", metavar="NAME", help="With --table: the column of profiles."
    )
    column: str | None = option(
        "--column", metavar="NAME", help="With --table: the column of values."
    )
    group_column: str | None = option(
        "--group-column",
        metavar="NAME",
        help="With --table: join every two profiles of the same group.",
    )
    smooth: str | None = option("--smooth", metavar="A", help="With --table: add A to every count.")
    normalise: bool = False
    """Whether probabilities are divided by their sum: an option of the context."""

    @property
    def is_given(self) -> bool:
        """Whether a graph is named, by its profiles or by what joins them."""
        return bool(self.given_options())

    def inputs(self) -> dict[str, Path | None]:
        """Return the files that are read, by option."""
        return {
            "--profiles": self.profiles,
            "--edges": self.edges,
            "--groups": self.groups,
            "--table": self.table,
        }

    def files(self) -> GraphFiles:
        """Say where the graph comes from; refuse options that contradict one another."""
        given = self.given_options()
        ways = ("--edges", "--groups", "--graph", "--group-column")
        joining = [name for name in ways if name in given]
        if len(joining) > 1:
            raise click.UsageError(f"give only one of {' and '.join(joining)}")
        if self.profiles is not None and self.table is not None:
            raise click.UsageError("give only one of --profiles and --table")
        for name in ("--profile-column", "--column", "--group-column", "--smooth"):
            if name in given and self.table is None:
                raise click.UsageError(f"{name} goes with --table")
        for name in ("--profile-column", "--column"):
            if self.table is not None and name not in given:
                raise click.UsageError(f"--table needs {name}")
        if self.smooth is not None:
            check_smooth(self.smooth)
        return GraphFiles(
            self.profiles,
            self.edges,
            self.groups,
            self.graph,
            self.table,
            self.profile_column,
            self.column,
            self.group_column,
            self.smooth,
            self.normalise,
        )

    def alone(self, context: ContextOptions, others: Sequence[str]) -> GraphOptions:
        """Return the graph, with nothing beside it that names another context.

        The context has the options --column and --smooth of a table of observations. `others` are
        options that were given and say nothing about a graph.
        """
        graph = replace(
            self, column=context.column, smooth=context.smooth, normalise=context.normalise
        )
        graph.check()
        beside = [name for name in context.named_options() if name not in ("--column", "--smooth")]
        refuse_beside_profiles([*beside, *others])
        return graph

    def check(self) -> None:
        """Refuse options that contradict one another, and a command without profiles."""
        self.files()
        if self.profiles is None and self.table is None:
            raise click.UsageError("no profiles: give --profiles or --table")

    def read(self, note: Note) -> ProfileGraph:
        """Read a graph; two columns of names in place of profiles are told from other mistakes."""
        try:
            return read_graph(self.files(), note)
        except InputError:
            if self.profiles is None or not _holds_pairs(self.profiles):
                raise
            swapped = " (are the two files swapped?)" if self.edges or self.groups else ""
            raise FileError(
                "two columns of names instead of profiles",
                where=str(self.profiles),
                remedy="give --profiles a table with numbers, and pairs of profiles to --edges"
                + swapped,
            ) from None


def _holds_pairs(path: Path) -> bool:
    """Tell whether a CSV has two columns, the second without a number in it."""
    try:
        rows = read_sheet(path).rows
    except InputError:
        return False
    return bool(rows) and all(len(row) == 2 and not _is_number(row[1]) for _, row in rows)


def _is_number(text: str) -> bool:
    try:
        exact(text)
    except InputError:
        return False
    return True


class ProfileChannel(NamedTuple):
    """A channel, and the graph of profiles that it is for.

    `unprotected` are the pairs that a mechanism's certificate for this graph lists.
    """

    channel: AnyChannel
    graph: ProfileGraph
    unprotected: tuple[Label, ...] = ()


def read_channel_or_profiles(
    channel: Path, graph: GraphOptions, context: ContextOptions, note: Note
) -> LoadedChannel | ProfileChannel:
    """Read a channel, with its graph of profiles if one is given, or brought and nothing else is.

    `context` names another kind of context.
    """
    files = graph.files()
    if graph.is_given:
        refuse_beside_profiles(context.named_options())
    normalise = context.normalise
    if graph.profiles is not None:
        known = replace(graph, normalise=normalise).read(note)
        return ProfileChannel(*read_profile_channel(channel, known, note, normalise=normalise))
    read = read_channel(channel, note, normalise=normalise)
    if isinstance(read.context, ProfileGraph) and not context.named_options():
        own = read.context
        joined = join_profiles(own, files) if files.edge_sources() else own
        return ProfileChannel(read.channel, joined, read.unprotected if joined == own else ())
    if graph.is_given:
        raise FileError(
            "no profiles", where=str(channel), remedy="give --profiles, and --edges or --graph"
        )
    return read


def refuse_beside_profiles(given: Sequence[str]) -> None:
    """Refuse options that say nothing about a graph of profiles."""
    if given:
        raise click.UsageError(f"{given[0]} does not go with a graph of profiles")


def profile_mechanism(path: Path) -> tuple[Mechanism, ProfileGraph]:
    """Read a mechanism that was made for a graph of profiles."""
    mechanism = read_mechanism(path)
    if not isinstance(mechanism.context, ProfileGraph):
        raise FileError(
            "not a mechanism for profiles",
            where=str(path),
            value=mechanism.certificate.guarantee,
            remedy="make one with liftlock design --profiles",
        )
    return mechanism, mechanism.context


def read_square_loss(path: Path, values: Alphabet) -> Floats:
    """Read a loss of values and outputs, which are values too."""
    found = read_loss(path, values)
    if set(found.reproductions.labels) != set(values.labels):
        raise FileError(
            "the loss's columns do not match the values",
            where=str(path),
            value=list(found.reproductions.labels)[:5],
            remedy="give one column per value, in a square table",
        )
    places = [found.reproductions.index(label) for label in values.labels]
    return np.array(found.loss[:, places])
