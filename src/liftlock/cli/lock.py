"""`liftlock lock`: turn a matrix into a certified mechanism file, or refuse it."""

from __future__ import annotations

from pathlib import Path

import click

from liftlock.cli._console import Notes, show, show_status
from liftlock.cli._context import ContextOptions
from liftlock.cli._options import FILE, bits_option, check_outputs, option_group
from liftlock.cli._profiles import OF_TABLE, GraphOptions, ProfileChannel, read_channel_or_profiles
from liftlock.designs.lock import lock
from liftlock.mechanism import Mechanism
from liftlock.model import Context
from liftlock.notions.lift import Impossible
from liftlock.notions.registry import parse_claim
from liftlock.report.text.audit import certificate_lines


@click.command("lock")
@click.argument("matrix", type=FILE)
@option_group("context", ContextOptions)
@option_group("graph", GraphOptions, without=OF_TABLE)
@click.option(
    "--impossible",
    type=click.Choice(["refuse", "ignore"]),
    default="refuse",
    show_default=True,
    help="Inputs of prior probability 0 that the channel accepts.",
)
@click.option(
    "--guarantee",
    required=True,
    metavar="NOTION=VALUE",
    help="Guarantee to certify, e.g. lip=1 or alip=1.3,0.7.",
)
@click.option(
    "-o",
    "--output",
    type=FILE,
    required=True,
    metavar="MECHANISM",
    help="Mechanism file to write (JSON).",
)
@bits_option
def lock_command(
    matrix: Path,
    context: ContextOptions,
    graph: GraphOptions,
    impossible: Impossible,
    guarantee: str,
    output: Path,
    bits: int,
) -> int:
    """Certify MATRIX as a mechanism, or refuse it (exit 1) with a witness.

    Round the rows to integers, mix in a little of the output distribution if rounding broke the
    guarantee, and certify the result. Nothing is written unless it is certified.

    \b
    liftlock lock matrix.csv --prior prior.csv --guarantee lip=1 -o safe.json
    liftlock lock matrix.csv --profiles profiles.csv --graph complete \\
        --guarantee profile=1 -o safe.json
    """
    note = Notes()
    notion = parse_claim(guarantee)
    inputs = {"MATRIX": matrix} | context.inputs() | graph.inputs()
    check_outputs({"the output": output}, inputs)
    read = read_channel_or_profiles(matrix, graph, context, note)
    known: Context
    if isinstance(read, ProfileChannel):
        known = read.graph
    else:
        known = context.read_for_channel(read, matrix, note, impossible)
        context.refuse_vacuous(known, [notion])
    with show_status("locking"):
        locked = lock(read.channel, notion, known, bits=bits, impossible=impossible)
        Mechanism(locked.channel, locked.certificate, known).save(output)
    show(certificate_lines(locked.certificate))
    note(locked.changes())
    note(f"written to {output}")
    note.show()
    return 0
