"""`liftlock publish`: one count of a table, published by a curator who may see the answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.console import Group
from rich.text import Text

from liftlock.cli._console import Notes, show_table_progress
from liftlock.cli._options import (
    FILE,
    GuaranteeOptions,
    OutputOptions,
    TableOptions,
    option_group,
    output_options,
)
from liftlock.designs.count import CountMechanism, PublishedCount
from liftlock.errors import FileError
from liftlock.model.columns import spellings_of
from liftlock.report.format import counted, shown
from liftlock.report.text.audit import certificate_lines

_MISSING = ("refuse", "count")


@click.command("publish")
@click.argument("table", type=FILE, metavar="TABLE")
@click.option("--column", required=True, metavar="NAME", help="Column of answers.")
@click.option("--value", required=True, metavar="LABEL", help="Answer to count.")
@click.option(
    "--share",
    required=True,
    metavar="P",
    help="Share of people expected to give this answer: public knowledge, not from this table.",
)
@option_group("guarantee", GuaranteeOptions, without=("delta", "form", "alpha"))
@click.option(
    "--missing",
    type=click.Choice(_MISSING),
    default="refuse",
    show_default=True,
    help="Missing cells: refuse them, or count them as another answer.",
)
@option_group("reading", TableOptions)
@output_options()
def publish_command(
    table: Path,
    column: str,
    value: str,
    share: str,
    guarantee: GuaranteeOptions,
    missing: str,
    reading: TableOptions,
    output: OutputOptions,
) -> int:
    """Publish how many rows of TABLE have a value, so that nobody's answer is learned from it.

    This is the centralised model: a curator whom people trust holds their answers. Whoever sees the
    published count can change their belief about any one person's answer by no more than the
    budget. A likely count is published as it is; counts far from what the share predicts are
    published as "at most" or "at least" some number.

    Every run publishes once more. Publish one count of the same people: the guarantee says nothing
    of several together, and counts of groups that differ by one person tell that person's answer.

    \b
    liftlock publish answers.csv --column answer --value yes \\
        --share 0.1 --epsilon 0.5
    """
    note = Notes()
    notion = guarantee.read()
    source = reading.open(table, note)
    with show_table_progress("counting", source.unit) as progress:
        from liftlock.tables.protect.count import CombinationCounter

        source.type_of(column)  # refuses a column that is not there
        answers = CombinationCounter((column,))
        for piece in source.batches([column], progress):
            answers.add(piece.batch)
    people = answers.counts.total()
    empty = answers.counts[None,] + answers.counts["",]
    chosen = sum(
        number
        for (cell,), number in answers.counts.items()
        if cell is not None and value.strip() in spellings_of(cell)
    )
    if not people:
        raise FileError("no rows", where=str(table), remedy="check that it is the right file")
    if empty and missing == "refuse":
        raise FileError(
            f"{counted(empty, 'cell')} of the column {column!r} missing",
            where=str(table),
            remedy="fill them in, or count them as another answer: --missing count",
        )
    rule = CountMechanism.design(people, share, notion)
    found = rule.publish(chosen)
    if empty:
        note(f"{counted(empty, 'missing cell')}: counted as another answer than {value!r}")
    note(
        "the guarantee is for one count of people who answer independently of each other; it says "
        "nothing of several counts of the same people"
    )
    output.show(
        note,
        lambda: _data(rule, found, column, value),
        lambda: _report(rule, found, column, value),
    )
    return 0


def _data(rule: CountMechanism, found: PublishedCount, column: str, value: str) -> dict[str, Any]:
    return {
        "format": "liftlock.publication",
        "version": 1,
        "column": column,
        "value": value,
        "published": found.text,
        "least": found.least,
        "most": found.most,
        "expected": found.expected,
        **rule.to_data(),
    }


def _report(rule: CountMechanism, found: PublishedCount, column: str, value: str) -> Group:
    if rule.certain is None:
        told = "with this share and budget, no count is always published as it is"
    else:
        low, high = rule.certain
        told = f"counts from {low:,} to {high:,} are published as they are"
    if found.least < found.most:
        told += (
            f"; the published one is some count from {found.least:,} to {found.most:,}, and "
            f"{found.expected:,.1f} on average if the share is right"
        )
    said = f"{shown(column)} is {shown(value)}: {found.text} of {rule.people:,} people"
    return Group(Text(said), Text(), certificate_lines(rule.certificate), Text(told))
