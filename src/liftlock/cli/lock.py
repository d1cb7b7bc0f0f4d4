"""`liftlock lock`: turn a matrix into a certified mechanism file, or refuse it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from liftlock.cli.asked import check_output
from liftlock.cli.console import Notes, show, working
from liftlock.cli.options import (
    FILE,
    agreed_context,
    bits_option,
    context_options,
    impossible_option,
)
from liftlock.cli.profiles.options import (
    ProfileChannel,
    graph_files,
    graph_options,
    inputs_of,
    read_either,
)
from liftlock.contexts import Context
from liftlock.designs.lock import lock
from liftlock.mechanism import Mechanism
from liftlock.notions.registry import parse_claim
from liftlock.report.text import certificate_lines


@click.command("lock", short_help="Turn a matrix into a certified mechanism file.")
@click.argument("matrix", type=FILE)
@context_options
@graph_options
@impossible_option
@click.option(
    "--guarantee",
    required=True,
    metavar="NOTION=VALUE",
    help="What must hold, e.g. lip=1 or alip=1.3,0.7.",
)
@click.option(
    "-o",
    "--output",
    type=FILE,
    required=True,
    metavar="MECHANISM",
    help="The mechanism file to write (JSON).",
)
@bits_option
def lock_command(
    matrix: Path,
    guarantee: str,
    output: Path,
    bits: int,
    impossible: Any,
    profiles: Path | None,
    edges: Path | None,
    groups: Path | None,
    graph: Any,
    **context_paths: Any,
) -> int:
    """Turn MATRIX into a certified mechanism, or refuse it (exit 1) with the witness.

    The rows are rounded to integers, blended by a hair if rounding broke the guarantee, and
    audited exactly; nothing is written unless the audit passes.

    \b
    liftlock lock matrix.csv --prior prior.csv --guarantee lip=1 -o safe.json
    liftlock lock matrix.csv --profiles profiles.csv --graph complete \\
        --guarantee profile=1 -o safe.json
    """
    note = Notes()
    notion = parse_claim(guarantee)
    files = graph_files(profiles, edges, groups, graph)
    check_output(output, {"MATRIX": matrix, **context_paths, **inputs_of(files)})
    read = read_either(matrix, files, context_paths, note)
    context: Context
    if isinstance(read, ProfileChannel):
        context = read.graph
    else:
        context = agreed_context(read, matrix, context_paths, note, impossible)
    with working("locking"):
        locked = lock(read.channel, notion, context, bits=bits, impossible=impossible)
        Mechanism(locked.channel, locked.certificate, context).save(output)
    show(certificate_lines(locked.certificate))
    note(locked.changes())
    note(f"written to {output}")
    note.show()
    return 0
