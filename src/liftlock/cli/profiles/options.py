"""Options that name a graph of profiles, and mechanisms that were made for one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

from liftlock.alphabet import Label
from liftlock.cli.options import FILE, impossible_choice
from liftlock.contexts import ProfileGraph
from liftlock.errors import FileError, InputError
from liftlock.exact.numbers import exact
from liftlock.files import (
    SHAPES,
    GraphFiles,
    Note,
    ReadChannel,
    join_profiles,
    read_channel,
    read_graph,
    read_mechanism,
    read_profile_channel,
    read_sheet,
)
from liftlock.forms import AnyChannel
from liftlock.mechanism import Mechanism

F = TypeVar("F", bound=Callable[..., Any])


def graph_options(command: F) -> F:
    """Add the options that name profiles and what joins them."""
    for option in reversed(
        (
            click.option(
                "--profiles",
                type=FILE,
                metavar="PROFILES",
                help="CSV: first column profiles, header values, cells counts or probabilities; "
                "or JSON.",
            ),
            click.option(
                "--edges",
                type=FILE,
                metavar="EDGES",
                help="CSV of two columns: pairs of profiles that must not be told apart.",
            ),
            click.option(
                "--groups",
                type=FILE,
                metavar="GROUPS",
                help="CSV profile,group: join every two profiles of a group.",
            ),
            click.option(
                "--graph",
                type=click.Choice(SHAPES),
                help="Join every two profiles, or each to the next.",
            ),
        )
    ):
        command = option(command)
    return command


def table_options(command: F) -> F:
    """Add the options that count profiles in a table of observations."""
    for option in reversed(
        (
            click.option(
                "--table",
                type=FILE,
                metavar="TABLE",
                help="Instead of --profiles: a CSV with one row for each observation.",
            ),
            click.option(
                "--profile-column", metavar="NAME", help="With --table: whose observation it is."
            ),
            click.option("--column", metavar="NAME", help="With --table: the value."),
            click.option(
                "--group-column",
                metavar="NAME",
                help="With --table: join every two profiles of the same group.",
            ),
            click.option("--smooth", metavar="A", help="With --table: add A to every count."),
        )
    ):
        command = option(command)
    return command


_GIVEN_AWAY = "Values of probability 0 that would give their profile away."


def impossible_option(command: F) -> F:
    """Add the option that says what to do with values that a profile calls impossible."""
    return impossible_choice(_GIVEN_AWAY)(command)


def audit_impossible_option(command: F) -> F:
    """Add that option to an audit, where a mechanism file says what was listed when it was made."""
    usual = "[default: refuse, but those that a mechanism file lists are listed]"
    return impossible_choice(f"{_GIVEN_AWAY}  {usual}", default=None)(command)


def graph_files(
    profiles: Path | None = None,
    edges: Path | None = None,
    groups: Path | None = None,
    graph: Any = None,
    table: Path | None = None,
    profile_column: str | None = None,
    column: str | None = None,
    group_column: str | None = None,
    smooth: str | None = None,
) -> GraphFiles:
    """Collect where a graph comes from; refuse options that contradict one another."""
    ways = {
        "--edges": edges,
        "--groups": groups,
        "--graph": graph,
        "--group-column": group_column,
    }
    joining = [name for name, given in ways.items() if given is not None]
    if len(joining) > 1:
        raise click.UsageError(f"give only one of {' and '.join(joining)}")
    if profiles is not None and table is not None:
        raise click.UsageError("give only one of --profiles and --table")
    of_table = {
        "--profile-column": profile_column,
        "--column": column,
        "--group-column": group_column,
        "--smooth": smooth,
    }
    for name, given in of_table.items():
        if given is not None and table is None:
            raise click.UsageError(f"{name} goes with --table")
    for name in ("--profile-column", "--column"):
        if table is not None and of_table[name] is None:
            raise click.UsageError(f"which column of the table? give {name}")
    if smooth is not None and exact(smooth, name="--smooth") < 0:
        raise InputError("--smooth is negative", value=smooth, remedy="give 0 or more")
    return GraphFiles(
        profiles, edges, groups, graph, table, profile_column, column, group_column, smooth
    )


def inputs_of(files: GraphFiles) -> dict[str, Path | None]:
    """Return the files that a graph is read from, by option."""
    return {
        "profiles": files.profiles,
        "edges": files.edges,
        "groups": files.groups,
        "table": files.table,
    }


def is_given(files: GraphFiles) -> bool:
    """Tell whether a graph of profiles is named, by its profiles or by what joins them."""
    return files.profiles is not None or files.table is not None or bool(files.joined_by())


def refuse_beside_profiles(options: Mapping[str, Any]) -> None:
    """Refuse options that say nothing about a graph of profiles."""
    for name, given in options.items():
        if given is not None and given is not False:
            raise click.UsageError(f"{name} does not go with a graph of profiles")


def need_profiles(files: GraphFiles) -> None:
    """Refuse a command without profiles."""
    if files.profiles is None and files.table is None:
        raise click.UsageError("which profiles are there? give --profiles or --table")


def given_graph(files: GraphFiles, note: Note) -> ProfileGraph:
    """Read a graph; two columns of names in place of profiles are told from other mistakes."""
    try:
        return read_graph(files, note)
    except InputError:
        if files.profiles is None or not _holds_pairs(files.profiles):
            raise
        swapped = " (are the two files swapped?)" if files.edges or files.groups else ""
        raise FileError(
            "two columns of names, not profiles",
            where=str(files.profiles),
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


def channel_of_profiles(
    channel: Path, files: GraphFiles, note: Note, read: ReadChannel | None = None
) -> ProfileChannel:
    """Read a channel and its graph; a mechanism file (which may be read already) may bring it."""
    if files.profiles is not None:
        return ProfileChannel(*read_profile_channel(channel, given_graph(files, note), note))
    read = read_channel(channel, note) if read is None else read
    if not isinstance(read.context, ProfileGraph):
        raise FileError(
            "no profiles", where=str(channel), remedy="give --profiles, and --edges or --graph"
        )
    graph = join_profiles(read.context, files) if files.joined_by() else read.context
    return ProfileChannel(read.channel, graph, read.unprotected if graph == read.context else ())


def read_either(
    channel: Path, files: GraphFiles, context_paths: Mapping[str, Any], note: Note
) -> ReadChannel | ProfileChannel:
    """Read a channel, with its graph of profiles if one is given, or brought and nothing else is.

    `context_paths` are the options that name another kind of context.
    """
    contexts = [name for name, given in context_paths.items() if given is not None]
    if is_given(files):
        if contexts:
            raise click.UsageError(f"--{contexts[0]} does not go with a graph of profiles")
        return channel_of_profiles(channel, files, note)
    read = read_channel(channel, note)
    if isinstance(read.context, ProfileGraph) and not contexts:
        return channel_of_profiles(channel, files, note, read)
    return read


def profile_mechanism(path: Path) -> tuple[Mechanism, ProfileGraph]:
    """Read a mechanism that was made for a graph of profiles."""
    mechanism = read_mechanism(path)
    if not isinstance(mechanism.context, ProfileGraph):
        raise FileError(
            "not a mechanism for profiles",
            where=str(path),
            value=mechanism.certificate.guarantee,
            remedy="make one with liftlock profiles design",
        )
    return mechanism, mechanism.context
