"""`liftlock probe`: a statistical audit of recorded pairs of inputs and outputs."""

from __future__ import annotations

from pathlib import Path

import click

from liftlock._runtime.storage import errors_at
from liftlock.cli._console import Notes, show_status
from liftlock.cli._options import FILE, NORMALISE, OutputOptions, output_options
from liftlock.errors import InputError
from liftlock.files import read_pairs, read_prior, record_location
from liftlock.probe.result import Claims, read_confidence
from liftlock.report.format import several, shown
from liftlock.report.text.audit import probe_report

_CLAIMS = {
    "lip": ("lip",),
    "alip": ("eps_lower", "eps_upper"),
    "eps_upper": ("eps_upper",),
    "eps_lower": ("eps_lower",),
    "ldp": ("ldp",),
}


@click.command("probe")
@click.argument("pairs", type=FILE)
@click.option(
    "--prior",
    type=FILE,
    metavar="PRIOR",
    help="CSV label,count or label,probability, or JSON. Required unless the claim is ldp.",
)
@click.option(
    "--claim",
    "claims",
    multiple=True,
    metavar="NOTION=VALUE",
    help="lip=E, alip=L,U, eps_lower=L, eps_upper=U or ldp=E. Repeatable.",
)
@click.option(
    "--confidence",
    default="0.999",
    show_default=True,
    metavar="C",
    help="Confidence level: probability that a true claim is not rejected.",
)
@click.option(
    "--columns",
    metavar="INPUT,OUTPUT",
    help="Names of the two columns. Required if PAIRS has more than two, unless their headers are "
    "input and output.",
)
@click.option(
    "--sampled-from-prior",
    is_flag=True,
    help="The recorded inputs are draws from the prior (sharper bounds).",
)
@click.option("--normalise", **NORMALISE)
@output_options()
def probe_command(
    pairs: Path,
    prior: Path | None,
    claims: tuple[str, ...],
    confidence: str,
    columns: str | None,
    sampled_from_prior: bool,
    normalise: bool,
    output: OutputOptions,
) -> int:
    """Look for a contradiction of a claim in PAIRS, a CSV of recorded inputs and outputs.

    The mechanism itself is not needed. A contradiction (exit 1) rejects the claim at the given
    confidence; finding none does not prove the claim. Records too few to contradict it are refused
    (exit 2). Without a claim, lower bounds on the leakage are printed.

    \b
    liftlock probe pairs.csv --prior prior.csv --claim lip=1
    liftlock probe log.csv --columns answer,report --claim ldp=1
    """
    # Statistics load slowly; no other command should wait for them.
    from liftlock.probe.pairs import probe_pairs

    limits = read_claims(claims)
    read_confidence(confidence)
    names = None if columns is None else read_columns(columns)
    if prior is None and (set(limits) - {"ldp"} or sampled_from_prior):
        raise click.UsageError("claims about lifts need --prior; only ldp works without")
    note = Notes()
    known = None if prior is None else read_prior(prior, note, normalise=normalise)
    with show_status("reading"):
        inputs, outputs = read_pairs(pairs, names, note)
    if known is not None:
        for position, value in enumerate(inputs):
            if value not in known.alphabet:
                raise InputError(
                    "the input is not in the prior",
                    where=record_location(pairs, position, names),
                    value=value,
                    remedy=f"add it to {prior} (with 0 if it should not occur), or correct it",
                )
    with show_status("probing"), errors_at(pairs):
        result = probe_pairs(
            inputs,
            outputs,
            known,
            lip=limits.get("lip"),
            eps_lower=limits.get("eps_lower"),
            eps_upper=limits.get("eps_upper"),
            ldp=limits.get("ldp"),
            confidence=confidence,
            sampled_from_prior=sampled_from_prior,
        )
    output.show(note, result.to_data, lambda: probe_report(result))
    if result.contradicted:
        found = result.witness
        against = "" if found.against is None else f" against {shown(found.against)}"
        click.echo(
            f"liftlock: the claim {found.side}={found.claim:g} is contradicted: it is at least "
            f"{found.bound:.6g} (confidence {100 * result.confidence:.6g} %); witness: input "
            f"{shown(found.input)}{against}, output {several(found.event)}",
            err=True,
        )
        return 1
    return 0


def read_claims(texts: tuple[str, ...]) -> dict[str, str]:
    """Turn claims such as alip=1.3,0.7 into the limits that `probe_pairs` takes."""
    limits: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        keys = _CLAIMS.get(name.strip().lower().replace("-", "_"))
        if keys is None:
            raise InputError("unknown claim", value=text, remedy=f"use one of {', '.join(_CLAIMS)}")
        parts = [part.strip() for part in value.split(",")]
        if not equals or len(parts) != len(keys) or not all(parts):
            shape = "EPSILON" if len(keys) == 1 else "LOWER,UPPER"
            raise InputError(
                f"{name.strip()} takes {len(keys)} value{'s' * (len(keys) > 1)}",
                value=text,
                remedy=f"write {name.strip()}={shape}",
            )
        for key, part in zip(keys, parts, strict=True):
            if key in limits:
                raise InputError(
                    f"{key} claimed twice", value=text, remedy="give one limit per side"
                )
            limits[key] = part
    Claims.of(**limits)
    return limits


def read_columns(text: str) -> tuple[str, str]:
    """Read the names of two columns."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 2 or not all(parts):
        raise InputError(
            "--columns takes two names", value=text, remedy="write it like --columns answer,report"
        )
    return parts[0], parts[1]
