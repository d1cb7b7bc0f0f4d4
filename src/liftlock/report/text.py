"""Audits, certificates and relations as text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from liftlock.context import Context, Joint
from liftlock.exact.enclosure import Enclosure
from liftlock.notions.audit import Audit
from liftlock.notions.certificate import Certificate
from liftlock.notions.notion import safe_text
from liftlock.notions.reading import Reading
from liftlock.notions.registry import Entry
from liftlock.notions.relations import Implication
from liftlock.report.names import NAMES


def audit_report(result: Audit) -> RenderableType:
    """Return the readable audit: words first, then the table."""
    who = "the secret" if isinstance(result.context, Joint) else "the value itself"
    head = Text(
        f"{len(result.channel.inputs)} inputs, {len(result.channel.outputs)} outputs; "
        f"{result.context.describe()}; protects {who}"
    )
    words = Text(result.worst_case(), style="bold")
    parts: list[RenderableType] = [head, Text(), words, Text(), _table(result)]
    if result.unprotected:
        shown = ", ".join(str(label) for label in result.unprotected[:5])
        parts.append(Text(f"NOT protected (prior probability 0): {shown}", style="bold red"))
    parts.append(
        Text(
            f"channel {result.channel.fingerprint[:16]}, context {result.context.fingerprint[:16]}",
            style="dim",
        )
    )
    return Group(*parts)


def _table(result: Audit) -> Grid:
    grid = Grid(
        box=None, pad_edge=False, header_style="bold", show_edge=False, padding=(0, 2, 0, 0)
    )
    grid.add_column("notion", no_wrap=True)
    grid.add_column("value", justify="right", no_wrap=True)
    grid.add_column("exactly", no_wrap=True)
    grid.add_column("where")
    for key, reading in result.readings.items():
        grid.add_row(
            NAMES.get(key, key),
            value_text(reading),
            exact_text(reading),
            str(reading.witness) if reading.witness is not None else "",
            style="red" if reading.value.is_infinite else None,
        )
    return grid


def value_text(reading: Reading) -> str:
    """Write a value with its unit."""
    if reading.value.is_infinite:
        return "infinite"
    return f"{float(reading.value):.6f}" + (f" {reading.unit}" if reading.unit else "")


def exact_text(reading: Reading) -> str:
    """Write the exact number, when it is short enough to read."""
    if reading.ratio is not None:
        text = str(reading.ratio)
        return f"ln {text}" if len(text) <= 24 else _digits("ln ", reading.ratio)
    if reading.value.is_exact:
        text = str(reading.value.lower)
        return text if len(text) <= 24 else _digits("", reading.value.lower)
    return ""


def _digits(prefix: str, value: Fraction) -> str:
    return f"{prefix}(fraction of {len(str(value.numerator))} digits)"


def certificate_lines(certificate: Certificate) -> Text:
    """Return a certificate, green or red."""
    return Text(str(certificate), style="green" if certificate.holds else "red")


def relations_table(guarantee: str, context: Context | None, rows: Sequence[Implication]) -> Grid:
    """Return what a guarantee implies."""
    about = "every prior" if context is None else context.describe()
    grid = Grid(
        title=f"what {guarantee} implies, for {about}",
        box=None,
        header_style="bold",
        title_justify="left",
        padding=(0, 2, 0, 0),
    )
    grid.add_column("notion", no_wrap=True)
    grid.add_column("at most", justify="right", no_wrap=True)
    grid.add_column("how")
    grid.add_column("source")
    for row in rows:
        grid.add_row(
            NAMES.get(row.target, row.target),
            "no bound" if row.bound is None else bound_text(row.bound, row.unit),
            row.formula,
            row.source,
            style="dim" if row.bound is None else None,
        )
    return grid


def bound_text(bound: Enclosure, unit: str) -> str:
    """Write a bound rounded up."""
    return safe_text(bound) + (f" {unit}" if unit else "")


def notions_table(entries: Mapping[str, Entry]) -> Grid:
    """List the notions and how to write them."""
    grid = Grid(box=None, header_style="bold", padding=(0, 2, 0, 0))
    grid.add_column("write", no_wrap=True)
    grid.add_column("means")
    for name, entry in entries.items():
        values = ",".join(parameter.upper() for parameter in entry.parameters)
        grid.add_row(f"{name}={values}", entry.says)
    return grid
