"""`liftlock audit`: every notion of a channel, exact, with witnesses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from liftlock._runtime.progress import Step
from liftlock._runtime.storage import write_together
from liftlock.cli._console import Notes, make_console, show, show_json, show_status
from liftlock.cli._context import ContextOptions
from liftlock.cli._options import FILE, OutputOptions, option_group, output_options, read_claims
from liftlock.cli._profiles import (
    OF_TABLE,
    GraphOptions,
    ProfileChannel,
    read_channel_or_profiles,
    refuse_beside_profiles,
)
from liftlock.errors import NO_BUDGET, InputError
from liftlock.exact.budget import Budget
from liftlock.model import Context
from liftlock.notions.audit import ProfileAudit, audit
from liftlock.notions.base import Notion, read_order
from liftlock.notions.lift import Impossible
from liftlock.report.format import printable
from liftlock.report.plots.delta_curve import check_curve, draw_curve
from liftlock.report.plots.graph import draw_graph
from liftlock.report.plots.lifts import check_drawable, draw_lifts
from liftlock.report.text.audit import audit_report, certificate_lines, further_lines
from liftlock.report.text.profiles import profile_audit_report, unprotected_text


@click.command("audit")
@click.argument("channel", type=FILE)
@option_group("context", ContextOptions)
@option_group("graph", GraphOptions, without=OF_TABLE)
@click.option(
    "--impossible",
    type=click.Choice(["refuse", "ignore"]),
    help="Inputs of prior probability 0 that the channel accepts.  [default: refuse; for "
    "profiles, as the mechanism file says]",
)
@click.option(
    "--alpha", metavar="A", help="Also measure the notions of order A (a number, or inf)."
)
@click.option(
    "--at-epsilon", metavar="E", help="Also measure delta of (E, delta)-LIP and -LDP at this E."
)
@click.option(
    "--check",
    "claims",
    multiple=True,
    metavar="NOTION=VALUE",
    help="Exit 1 unless this guarantee holds, e.g. lip=1 or alip=1.3,0.7. Repeatable.",
)
@click.option(
    "--plot-curve",
    type=FILE,
    metavar="PICTURE",
    help="Draw delta against epsilon (.png, .svg or .pdf).",
)
@output_options(plot="Draw a heat map of the lifts, or the graph of profiles")
@click.option("-q", "--quiet", is_flag=True, help="Print only failed checks.")
def audit_command(
    channel: Path,
    context: ContextOptions,
    graph: GraphOptions,
    impossible: Impossible | None,
    alpha: str | None,
    at_epsilon: str | None,
    claims: tuple[str, ...],
    plot_curve: Path | None,
    output: OutputOptions,
    quiet: bool,
) -> int:
    """Measure CHANNEL exactly under every privacy notion, with witnesses.

    CHANNEL is a mechanism file (JSON) or a CSV matrix of probabilities: first column inputs,
    header outputs. Give a prior (the secret is the value itself), a joint distribution of secret
    and value, or a set of priors; a mechanism file contains its own. For a graph of profiles
    (--profiles) the privacy loss of every edge is measured; the first two columns of a matrix may
    be profile and value.

    \b
    liftlock audit channel.csv --prior prior.csv
    liftlock audit channel.csv --joint joint.csv --check alip=1.3,0.7
    liftlock audit channel.csv --prior prior.csv --json --alpha 2
    liftlock audit channel.csv --profiles profiles.csv --edges edges.csv

    `liftlock notions` lists the guarantees for --check. Exit code 1: a check failed; 2: bad input.
    """
    if alpha is not None:
        read_order(alpha)
    if at_epsilon is not None:
        Budget.of(at_epsilon, name="--at-epsilon")
    guarantees = read_claims(claims, alpha=alpha, at_epsilon=at_epsilon)
    inputs = {"CHANNEL": channel} | context.inputs() | graph.inputs()
    output.check(inputs, plot_curve=plot_curve)
    note = Notes()
    read = read_channel_or_profiles(channel, graph, context, note)
    known: Context
    if isinstance(read, ProfileChannel):
        others = {"--alpha": alpha, "--at-epsilon": at_epsilon, "--plot-curve": plot_curve}
        _check_for_profiles(guarantees, others)
        known, impossible = read.graph, impossible or _impossible_inputs(read, guarantees, note)
    else:
        impossible = impossible or "refuse"
        known = context.read_for_channel(read, channel, note, impossible)
        context.refuse_vacuous(known, guarantees)
        if output.plot is not None:
            check_drawable(known)
        if plot_curve is not None:
            check_curve(known)
    with show_status("auditing") as progress, write_together():
        certificates = [
            guarantee.certify(read.channel, known, impossible=impossible)
            for guarantee in guarantees
        ]
        result = audit(
            read.channel,
            known,
            alpha=alpha,
            at_epsilon=at_epsilon,
            impossible=impossible,
            progress=progress,
        )
        if output.plot is not None:
            progress(Step("drawing"))
            if isinstance(result, ProfileAudit):
                draw_graph(result, output.plot, budget=_smallest_budget(guarantees))
                note(f"picture written to {output.plot}")
            else:
                draw_lifts(result, output.plot)
                note(f"heat map written to {output.plot}")
        if plot_curve is not None:
            draw_curve(result, plot_curve, progress)
            note(f"curve written to {plot_curve}")
    # Proved again when the file was read.
    also = () if isinstance(read, ProfileChannel) else read.also
    if output.as_json:
        data = {"also": [each.summary_data() for each in also]} if also else {}
        checks = [certificate.to_data() for certificate in certificates]
        show_json(result.to_data() | data | {"checks": checks, "notes": list(note.texts)})
    elif not quiet:
        width = make_console().width
        if isinstance(result, ProfileAudit):
            show(profile_audit_report(result, width))
        else:
            show(audit_report(result, width))
        for lines in further_lines(also):
            show(lines)
        for certificate in certificates:
            show(certificate_lines(certificate))
    if not quiet:
        note.show()
    for guarantee, certificate in zip(guarantees, certificates, strict=True):
        if not certificate.holds:
            smallest = guarantee.say_smallest(read.channel, known)
            passes = f"this channel satisfies {smallest}" if smallest else NO_BUDGET
            text = f"{certificate.refusal()}; {passes}"
            click.echo(f"liftlock: {printable(text)}", err=True)
    return 0 if all(certificate.holds for certificate in certificates) else 1


def _check_for_profiles(guarantees: Sequence[Notion], others: Mapping[str, object]) -> None:
    """Refuse what is not defined for a graph of profiles."""
    refuse_beside_profiles([name for name, given in others.items() if given is not None])
    for guarantee in guarantees:
        if guarantee.profile_budget is None:
            raise InputError(
                f"--check {guarantee.name} is not defined for a graph of profiles",
                value=str(guarantee),
                remedy="use --check profile=BUDGET",
            )


def _impossible_inputs(
    read: ProfileChannel, guarantees: Sequence[Notion], note: Notes
) -> Impossible:
    """Say what to do with values that a profile calls impossible: list what was listed before."""
    if not read.unprotected:
        return "refuse"
    if guarantees:
        said = f"{unprotected_text(read.unprotected)}, as the certificate of the mechanism says"
        note(f"{said}; --impossible refuse refuses them")
    return "ignore"


def _smallest_budget(guarantees: Sequence[Notion]) -> float | None:
    """Return the smallest budget that is checked, which colours the picture."""
    budgets = [
        float(guarantee.profile_budget)
        for guarantee in guarantees
        if guarantee.profile_budget is not None
    ]
    return min(budgets, default=None)
