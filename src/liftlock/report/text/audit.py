"""Audits, certificates, relations and probes as text for a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from liftlock.exact.enclosure import Enclosure
from liftlock.exact.fingerprint import fraction_text
from liftlock.mechanism import Mechanism
from liftlock.model import Conditional, Context, Joint
from liftlock.notions.audit import Audit
from liftlock.notions.base import NotionKind, safe_text
from liftlock.notions.certificate import Certificate
from liftlock.notions.guarantee import Guarantee
from liftlock.notions.measurement import Measurement, Witness
from liftlock.notions.registry import TITLES
from liftlock.notions.relations import Implication
from liftlock.probe.result import ProbeResult
from liftlock.report.format import counted, grid_of, printable, several, shown

if TYPE_CHECKING:
    from rich.table import Table as Grid

WIDE = 100
"""From this many columns on there is room for the exact numbers beside their witnesses."""

_EXACT_LENGTH = 24
_SEVERAL = 3


def audit_report(result: Audit, width: int = WIDE) -> RenderableType:
    """Return the readable audit: words first, then the table."""
    known = result.context
    secret = isinstance(known, Joint) or (isinstance(known, Conditional) and bool(known.hidden))
    who = "the secret" if secret else "the value itself"
    head = Text(
        f"{counted(len(result.channel.inputs), 'input')}, "
        f"{result.channel.outputs_text}; "
        f"{result.context.describe()}; protects {who}"
    )
    words = Text(worst_case(result), style="bold")
    parts: list[RenderableType] = [head, Text(), words, Text(), _table(result, width)]
    if result.unprotected:
        parts.append(
            Text(
                f"NOT protected (prior probability 0): {several(result.unprotected, 5)}",
                style="bold red",
            )
        )
    parts.append(
        Text(
            f"channel {result.channel.fingerprint[:16]}, context {result.context.fingerprint[:16]}",
            style="dim",
        )
    )
    return Group(*parts)


def worst_case(result: Audit) -> str:
    """Say what an adversary learns at worst, with labels that cannot disturb the terminal."""
    lifts = result.lifts
    return _harmless(result.worst_case(), lifts.largest.witness, lifts.smallest.witness)


def _harmless(text: str, *witnesses: Witness | None) -> str:
    """Escape control characters in the labels of a text, but not its own line ends."""
    for witness in witnesses:
        if witness is None:
            continue
        single = (witness.given, witness.secret, witness.other, witness.output)
        for label in (*single, *(witness.secrets or ()), *(witness.outputs or ())):
            if isinstance(label, str) and not label.isprintable():
                text = text.replace(label, printable(label))
    return text


def _table(result: Audit, width: int) -> Grid:
    wide = width >= WIDE
    grid = grid_of()
    grid.add_column("notion", no_wrap=True)
    grid.add_column("value", justify="right", no_wrap=True)
    if wide:
        grid.add_column("exactly", no_wrap=True)
    grid.add_column('where: "secret" at "output"', overflow="fold")
    for key, measurement in result.measurements.items():
        exactly = [exact_text(measurement)] if wide else []
        where = "" if measurement.witness is None else where_text(measurement.witness)
        grid.add_row(
            TITLES.get(key, key),
            value_text(measurement),
            *exactly,
            Text(where),
            style="red" if measurement.value.is_infinite else None,
        )
    return grid


def where_text(witness: Witness) -> str:
    """Say where a value is attained.

    >>> where_text(Witness(secret="flu", other="none", output="yes"))
    '"flu" against "none" at "yes"'
    >>> where_text(Witness(secret="flu", outputs=("no", "yes")))
    '"flu" at "no", "yes"'
    """
    parts = []
    if witness.given is not None:
        parts.append(f"given {shown(witness.given)}:")
    if witness.secret is not None:
        parts.append(shown(witness.secret))
    if witness.secrets is not None:
        parts.append(several(witness.secrets))
    if witness.other is not None:
        parts.append(f"against {shown(witness.other)}")
    if witness.output is not None:
        parts.append(f"at {shown(witness.output)}")
    if witness.outputs is not None:
        parts.append(f"at {several(witness.outputs)}")
    if witness.prior is not None:
        masses = [
            f"{shown(label, 12)} {float(mass):.3g}"
            for label, mass in zip(witness.prior.labels, witness.prior.fractions, strict=True)
        ]
        more = f", … {len(masses)} symbols" if len(masses) > _SEVERAL else ""
        parts.append(f"for the prior {', '.join(masses[:_SEVERAL])}{more}")
    return " ".join(parts)


def value_text(measurement: Measurement) -> str:
    """Write a value with its unit."""
    if measurement.value.is_infinite:
        return "infinite"
    number = float(measurement.value)
    if math.isinf(number):
        return "above 1e308"
    text = f"{number:.6f}" if 1e-4 <= abs(number) < 1e6 or number == 0 else f"{number:.5e}"
    return text + (f" {measurement.unit}" if measurement.unit else "")


def exact_text(measurement: Measurement) -> str:
    """Write the exact number, when it is short enough to read."""
    if measurement.ratio is not None:
        return _fraction("ln ", measurement.ratio)
    return _fraction("", measurement.value.lower) if measurement.value.is_exact else ""


def _fraction(prefix: str, value: Fraction) -> str:
    digits = int(0.30103 * max(value.numerator.bit_length(), value.denominator.bit_length())) + 1
    text = fraction_text(value) if digits <= _EXACT_LENGTH else ""
    if 0 < len(text) <= _EXACT_LENGTH:
        return prefix + text
    return f"{prefix}(fraction of {digits:,} digits)"


def certificate_lines(certificate: Certificate) -> RenderableType:
    """Return a certificate, green or red."""
    style = "green" if certificate.holds else "red"
    parts: list[RenderableType] = []
    written = _harmless(str(certificate), *(claim.witness for claim in certificate.claims))
    for line in written.splitlines():
        text = Text(printable(line.strip()), style=style)
        parts.append(Padding(text, (0, 0, 0, 2)) if line.startswith(" ") else text)
    return Group(*parts)


def guarantee_lines(made: Mechanism) -> list[RenderableType]:
    """Return the certificate of a mechanism, and those of its further guarantees."""
    return [certificate_lines(made.certificate), *further_lines(made.also)]


def further_lines(also: Iterable[Guarantee]) -> list[RenderableType]:
    """Return the certificates of further guarantees, each under what it is about."""
    parts: list[RenderableType] = []
    for each in also:
        parts += [
            Text(f"and about {printable(each.subject)}:"),
            certificate_lines(each.certificate),
        ]
    return parts


def relations_table(guarantee: str, context: Context | None, rows: Sequence[Implication]) -> Grid:
    """Return what a guarantee implies."""
    about = "every prior" if context is None else context.describe()
    grid = grid_of(f"what {guarantee} implies, for {about}")
    grid.add_column("notion", no_wrap=True)
    grid.add_column("at most", justify="right", no_wrap=True)
    grid.add_column("how", overflow="fold")
    grid.add_column("source", overflow="fold")
    for row in rows:
        grid.add_row(
            TITLES.get(row.target, row.target),
            "no bound" if row.bound is None else bound_text(row.bound, row.unit),
            Text(row.formula),
            Text(row.source),
            style="dim" if row.bound is None else None,
        )
    return grid


def bound_text(bound: Enclosure, unit: str) -> str:
    """Write a bound rounded up."""
    return safe_text(bound) + (f" {unit}" if unit else "")


def notions_table(entries: Mapping[str, NotionKind]) -> Grid:
    """List the notions and how to write them."""
    grid = grid_of()
    grid.add_column("write", no_wrap=True)
    grid.add_column("means")
    for name, entry in entries.items():
        values = ",".join(parameter.upper() for parameter in entry.parameters)
        grid.add_row(f"{name}={values}", entry.summary)
    return grid


def probe_report(result: ProbeResult) -> RenderableType:
    """Return what a statistical audit found: the verdict, then the evidence."""
    level = f"confidence {100 * result.confidence:.6g} %, {result.samples:,} samples"
    if result.contradicted:
        head = Text(f"CONTRADICTED: the records refute the claim ({level}).", style="bold red")
    elif result.claims.sides:
        head = Text(
            f"No contradiction found ({level}). This does not show that the claim is true: rarer "
            "events, or more samples, may still break it.",
            style="bold",
        )
    else:
        head = Text(f"Lower bounds of the leakage ({level}).", style="bold")
    parts: list[RenderableType] = [head]
    parts += [
        Padding(
            Text(printable(str(finding)), style="red" if finding.contradicted else ""), (1, 0, 0, 2)
        )
        for finding in result.findings
    ]
    if result.unseen:
        parts += [
            Text(),
            Text(f"Never tried, so nothing is known of: {several(result.unseen, 5)}."),
        ]
    if result.impossible:
        parts += [
            Text(),
            Text(
                "The prior gives probability 0, and so no guarantee on lifts, to: "
                f"{several(result.impossible, 5)}."
            ),
        ]
    return Group(*parts)
