"""`liftlock audit`: every notion of a channel, exact, with witnesses."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from liftlock.cli.options import FILE, context_options, make_console, noting, read_context
from liftlock.errors import FileError
from liftlock.files import read_channel
from liftlock.notions.audit import audit
from liftlock.notions.registry import parse_claim
from liftlock.report.heatmap import check_picture, draw_lifts
from liftlock.report.text import audit_report, certificate_lines


@click.command("audit")
@click.argument("channel", type=FILE)
@context_options
@click.option("--alpha", metavar="A", help="Also the measures of order A (a number, or inf).")
@click.option("--at-epsilon", metavar="E", help="Also the deltas of (E, delta)-LIP and -LDP.")
@click.option(
    "--check",
    "claims",
    multiple=True,
    metavar="NOTION=VALUE",
    help="Exit 1 when a guarantee does not hold, e.g. lip=1 or alip=1.3,0.7. Repeatable.",
)
@click.option(
    "--impossible",
    type=click.Choice(["refuse", "ignore"]),
    default="refuse",
    show_default=True,
    help="Inputs of prior probability 0 that the channel accepts.",
)
@click.option(
    "--plot",
    type=FILE,
    metavar="PICTURE",
    help="Draw the lifts as a heat map (.png, .svg or .pdf).",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def audit_command(
    channel: Path,
    alpha: str | None,
    at_epsilon: str | None,
    claims: tuple[str, ...],
    impossible: Any,
    plot: Path | None,
    as_json: bool,
    **context_paths: Any,
) -> int:
    """Measure every privacy notion of CHANNEL, exactly, with witnesses.

    CHANNEL is a mechanism file (JSON) or a CSV matrix of probabilities: first column inputs,
    header outputs. The context is a prior (the secret is the value itself), a joint of a secret
    and the value, or a set of priors; a mechanism file brings its own.

    \b
    liftlock audit channel.csv --prior prior.csv
    liftlock audit channel.csv --joint joint.csv --check alip=1.3,0.7
    liftlock audit channel.csv --prior prior.csv --json --alpha 2 --at-epsilon 0.5
    """
    console, aside = make_console(), make_console(error=True)
    note = noting(aside)
    if plot is not None:
        check_picture(plot)
    guarantees = [parse_claim(text, alpha=alpha, at_epsilon=at_epsilon) for text in claims]
    read = read_channel(channel, note)
    context = read_context(**context_paths, note=note) or read.context
    if context is None:
        raise FileError(
            "no context",
            remedy="say what is known of the inputs: --prior, --joint or --family",
        )
    working = aside.status("reading") if aside.is_terminal else nullcontext()
    with working as status:
        result = audit(
            read.channel,
            context,
            alpha=alpha,
            at_epsilon=at_epsilon,
            impossible=impossible,
            progress=None if status is None else lambda step: status.update(f"auditing: {step}"),
        )
        verdicts = [
            (g, g.certify(read.channel, context, impossible=impossible)) for g in guarantees
        ]
    if plot is not None:
        draw_lifts(result, plot)
        note(f"heat map written to {plot}")
    if as_json:
        data = result.to_data()
        data["checks"] = [certificate.to_data() for _, certificate in verdicts]
        click.echo(json.dumps(data, ensure_ascii=False, indent=1))
    else:
        console.print(audit_report(result))
    failed = False
    for guarantee, certificate in verdicts:
        failed = failed or not certificate.holds
        if not as_json:
            console.print(certificate_lines(certificate))
        if not certificate.holds:
            smallest = guarantee.smallest(read.channel, context)
            click.echo(
                f"liftlock: {certificate.refusal()}; this channel satisfies {smallest}", err=True
            )
    return 1 if failed else 0
