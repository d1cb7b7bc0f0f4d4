"""`liftlock lock`: turn a matrix into a certified mechanism file, or refuse it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from liftlock.cli.options import FILE, context_options, make_console, noting, read_context
from liftlock.errors import FileError
from liftlock.files import read_channel
from liftlock.mechanism import lock
from liftlock.notions.registry import parse_claim
from liftlock.report.text import certificate_lines


@click.command("lock")
@click.argument("matrix", type=FILE)
@context_options
@click.option(
    "--guarantee",
    required=True,
    metavar="NOTION=VALUE",
    help="What must hold, e.g. lip=1 or alip=1.3,0.7.",
)
@click.option(
    "-o", "--output", type=FILE, required=True, help="The mechanism file to write (JSON)."
)
@click.option(
    "--bits",
    type=click.IntRange(1, 62),
    default=52,
    show_default=True,
    help="Rows become integers that sum to 2^BITS.",
)
@click.option(
    "--impossible",
    type=click.Choice(["refuse", "ignore"]),
    default="refuse",
    show_default=True,
    help="Inputs of prior probability 0 that the channel accepts.",
)
def lock_command(
    matrix: Path, guarantee: str, output: Path, bits: int, impossible: Any, **context_paths: Any
) -> int:
    """Turn MATRIX into a certified mechanism, or refuse it (exit 1) with the witness.

    The rows are rounded to integers, blended by a hair if rounding broke the guarantee, and
    audited exactly; nothing is written unless the audit passes.

    \b
    liftlock lock channel.csv --prior prior.csv --guarantee lip=1 -o mechanism.json
    """
    note = noting(make_console(error=True))
    notion = parse_claim(guarantee)
    read = read_channel(matrix, note)
    context = read_context(**context_paths, note=note) or read.context
    if context is None:
        raise FileError(
            "no context",
            remedy="say what is known of the inputs: --prior, --joint or --family",
        )
    mechanism = lock(read.channel, notion, context, bits=bits, impossible=impossible)
    mechanism.save(output)
    make_console().print(certificate_lines(mechanism.certificate))
    note(f"written to {output}")
    return 0
