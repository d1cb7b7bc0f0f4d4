"""`liftlock protect`: columns of a table replaced by what may be seen of them, with a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from liftlock.cli.asked import (
    budget_options,
    check_utility,
    delta_options,
    read_notion,
    read_utility,
    utility_options,
)
from liftlock.cli.console import Notes, Passing, passing, show, show_json
from liftlock.cli.options import FILE
from liftlock.cli.tables import (
    beside,
    by_column,
    check_outputs,
    force_option,
    need_arrow,
    one_for_each,
    opened,
    table_options,
)
from liftlock.column_code import MISSING, UNSEEN
from liftlock.designs.catalogue import DESIGNS
from liftlock.designs.registry import find_design
from liftlock.errors import FileError, InputError
from liftlock.exact.numbers import exact
from liftlock.files import read_joint, read_prior
from liftlock.line.grid import check_cells, read_domain
from liftlock.notions.notion import Notion
from liftlock.notions.registry import parse_claim
from liftlock.storage import check_writable, written_atomically

if TYPE_CHECKING:
    from liftlock.frames.table_file import TableFile
    from liftlock.protection.result import Protection
    from liftlock.protection.wish import Wish

_ITSELF = "-"


@click.command("protect", short_help="Replace columns of a table by what may be seen of them.")
@click.argument("table", type=FILE, metavar="TABLE")
@click.option(
    "--column", "columns", multiple=True, required=True, metavar="NAME", help="What goes out."
)
@click.option(
    "--secret",
    "secrets",
    multiple=True,
    metavar="NAME",
    help="What must not be inferred from it, and is left out; - is the value itself.  [default: -]",
)
@click.option(
    "--together", is_flag=True, help="Protect all columns as one value, with one guarantee."
)
@budget_options
@delta_options
@click.option(
    "--budget",
    "budgets",
    nargs=2,
    multiple=True,
    metavar="NAME CLAIM",
    help="Another guarantee for one column, such as pay lip=0.5.",
)
@click.option(
    "--joint",
    "joints",
    type=FILE,
    multiple=True,
    metavar="JOINT",
    help="A public joint, instead of counting the table: rows secrets, columns values.",
)
@click.option(
    "--prior", "priors", type=FILE, multiple=True, metavar="PRIOR", help="The same without secret."
)
@click.option(
    "--local-priors",
    metavar="PREFIX",
    help="Each row has a prior of its own, in columns called PREFIX and a value.",
)
@utility_options
@click.option(
    "--method",
    metavar="METHOD",
    default="auto",
    show_default=True,
    help="auto is the best that can be certified in time.",
)
@click.option(
    "--seconds", metavar="T", default="60", show_default=True, help="How long to search at most."
)
@click.option(
    "--missing",
    type=click.Choice(MISSING),
    default="category",
    show_default=True,
    help="What missing cells become: a value like others, missing again, or an error.",
)
@click.option(
    "--missing-text",
    "spelled",
    multiple=True,
    metavar="TEXT",
    help="A text that means missing, such as ?. Repeatable.",
)
@click.option(
    "--unseen",
    type=click.Choice(UNSEEN),
    default="refuse",
    show_default=True,
    help="What values become that the prior does not know: an error, or the merged rare ones.",
)
@click.option(
    "--rare", type=click.IntRange(min=0), default=0, metavar="N", help="Merge values in fewer rows."
)
@click.option("--smooth", default="0", metavar="A", help="Add A to every count.")
@click.option(
    "--numbers", multiple=True, metavar="NAME", help="Read this column as numbers. Repeatable."
)
@click.option(
    "--domain",
    "domains",
    multiple=True,
    metavar="[NAME=]L:U",
    help="The ends that its numbers are clamped to.",
)
@click.option(
    "--cells", "cells", multiple=True, metavar="[NAME=]N", help="How many cells of numbers."
)
@click.option("--drop", multiple=True, metavar="NAME", help="Leave this column out. Repeatable.")
@click.option(
    "--keep", multiple=True, metavar="NAME", help="Keep this column whatever it tells. Repeatable."
)
@table_options
@click.option(
    "-o",
    "--output",
    type=FILE,
    required=True,
    metavar="SAFE",
    help="The table to write (.csv, .parquet, .arrow ...).",
)
@click.option("--report", type=FILE, metavar="REPORT", help="A report to read (.html).")
@click.option(
    "--mechanism",
    "mechanisms",
    type=FILE,
    multiple=True,
    metavar="FILE",
    help="Where to write the mechanism, once for each column.  [default: beside the output]",
)
@force_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def protect_command(
    table: Path,
    columns: tuple[str, ...],
    secrets: tuple[str, ...],
    delimiter: str | None,
    names: str | None,
    output: Path,
    report: Path | None,
    mechanisms: tuple[Path, ...],
    drop: tuple[str, ...],
    keep: tuple[str, ...],
    seconds: str,
    together: bool,
    force: bool,
    as_json: bool,
    **asked: Any,
) -> int:
    """Replace columns of TABLE by what may be seen of them, and prove how little that tells.

    The joint of column and secret is counted in the table, or given. The best mechanism that can be
    certified replaces each value at random; the secret is left out, everything else stays bit for
    bit, in its order. Written are the table, the mechanism, and a report.

    \b
    liftlock protect people.csv --column job --secret religion --epsilon 0.5 \\
        -o safe.csv --report report.html
    liftlock protect people.parquet --column pay --domain 0:200000 --epsilon 1 \\
        -o safe.parquet
    """
    note = Notes()
    need_arrow()
    time = _seconds(seconds)
    check_writable(output)
    parts = (" + ".join(columns),) if together else columns
    files = _mechanism_files(mechanisms, parts, output)
    inputs: dict[str, Path | None] = {"TABLE": table}
    inputs |= {f"--joint {place + 1}": path for place, path in enumerate(asked["joints"])}
    inputs |= {f"--prior {place + 1}": path for place, path in enumerate(asked["priors"])}
    outputs: dict[str, Path | None] = {"the output": output, "the report": report}
    outputs |= {f"the mechanism of {name!r}": path for name, path in files.items()}
    replaced = output.exists()
    source = opened(table, delimiter, names, note)
    from liftlock.frames.rewriting import check_output, rewrite
    from liftlock.protection.protecting import Watching, prepare
    from liftlock.protection.releasing import Releasing

    check_outputs(outputs, inputs, force=force)
    check_output(source, output, force=force)
    _check_report(report)
    wishes = _wishes(source, columns, secrets, asked, note)
    with passing("reading", source.unit) as shown:
        protection = prepare(
            source,
            wishes,
            name=table.name,
            drop=drop,
            keep=keep,
            seconds=time,
            curve=report is not None,
            together=together,
            watching=Watching(shown.say, shown.steps),
        )
        local = {wish.column: wish.local for wish in wishes if wish.local}
        releasing = Releasing(protection, source, local)
        shown.say("releasing")
        rewrite(source, output, releasing.change(), watch=shown.steps, force=force, note=note)
        try:
            done = _written(releasing.done(), files, output, report, shown)
        except BaseException:
            # A table whose mechanism is not known is of no use, and nobody has seen it yet.
            output.unlink(missing_ok=True)
            raise
    if replaced:
        note(
            f"{output} was replaced: if it has been handed out, both releases count together "
            "(liftlock account)"
        )
    from liftlock.report.protection import protection_data, protection_report

    for column in done.columns:
        for text in column.notes:
            note(text)
    for text in done.notes:
        note(text)
    note(f"written to {output}, {', '.join(str(path) for path in files.values())}")
    if report is not None:
        note(f"report written to {report}")
    if as_json:
        show_json(protection_data(done) | {"notes": note.texts})
    else:
        show(protection_report(done))
    note.show()
    return 0


def _written(
    protection: Protection,
    files: dict[str, Path],
    output: Path,
    report: Path | None,
    shown: Passing,
) -> Protection:
    """Write the mechanisms and the report: they appear once all of them are whole."""
    shown.say("writing")
    columns = tuple(replace(column, file=files[column.name].name) for column in protection.columns)
    done = replace(protection, columns=columns, output=output.name)
    with ExitStack() as whole:
        for column in columns:
            with _fresh(files[column.name], whole) as fresh:
                column.mechanism.save(fresh)
        if report is not None:
            from liftlock.report.html import write_report

            with _fresh(report, whole) as fresh:
                write_report(done, fresh)
    return done


@contextmanager
def _fresh(path: Path, whole: ExitStack) -> Iterator[Path]:
    """Give a name to write to that becomes `path` at the end; errors name the path itself."""
    fresh = whole.enter_context(written_atomically(path))
    try:
        yield fresh
    except FileError as error:
        raise FileError(
            error.what, where=str(path), value=error.value, remedy=error.remedy
        ) from None


def _wishes(
    source: TableFile,
    columns: Sequence[str],
    secrets: Sequence[str],
    asked: dict[str, Any],
    note: Notes,
) -> list[Wish]:
    """Read what is wanted of each column."""
    from liftlock.protection.rules import Policy
    from liftlock.protection.wish import Wish

    usual, others = _notions(columns, asked)
    told = [
        None if secret == _ITSELF else secret
        for secret in one_for_each(secrets, columns, "--secret")
    ]
    check_utility(asked["utility"], asked["loss"])
    method = asked["method"]
    if method != "auto" and asked["local_priors"] is None:
        method = find_design(method, DESIGNS).key
    domains = by_column(asked["domains"], columns, "--domain")
    cells = by_column(asked["cells"], columns, "--cells")
    for domain in domains.values():
        read_domain(domain)
    for name in asked["numbers"]:
        if name not in columns:
            raise click.UsageError(f"--numbers {name}: it is no --column")
    policy = Policy(
        asked["missing"], asked["unseen"], asked["rare"], asked["spelled"], asked["smooth"]
    )
    _check_used(asked, told)
    _check_learned(asked, columns, told)
    joints, priors = list(asked["joints"]), list(asked["priors"])
    wishes = []
    for column, secret in zip(columns, told, strict=True):
        context: Any = None
        if secret is not None and joints:
            context = read_joint(joints.pop(0) if len(asked["joints"]) > 1 else joints[0])
        elif secret is None and priors:
            context = read_prior(priors.pop(0) if len(asked["priors"]) > 1 else priors[0], note)
        count = cells.get(column)
        wish = Wish(
            column,
            others.get(column, usual) if usual is not None else others[column],
            secret,
            context,
            method=method,
            policy=policy,
            numbers=column in asked["numbers"],
            domain=domains.get(column),
            cells=None if count is None else check_cells(_whole(count, "--cells")),
            local=_local(source, column, asked["local_priors"]),
        )
        if asked["utility"] is not None or asked["loss"] is not None:
            wish = replace(wish, utility=_utility(asked, context))
        wishes.append(wish)
    return wishes


def _utility(asked: dict[str, Any], context: Any) -> Any:
    if asked["loss"] is None:
        return asked["utility"]
    if context is None:
        raise click.UsageError("--loss needs to know all values: give --joint or --prior")
    return read_utility(asked["utility"], asked["loss"], context)


def _notions(
    columns: Sequence[str], asked: dict[str, Any]
) -> tuple[Notion | None, dict[str, Notion]]:
    """Read the guarantee for all columns, and those of single ones."""
    others: dict[str, Notion] = {}
    for name, claim in asked["budgets"]:
        if name not in columns:
            raise click.UsageError(f"--budget for {name!r}, which is no --column")
        if name in others:
            raise click.UsageError(f"--budget twice for {name!r}")
        others[name] = parse_claim(claim)
    names = ("notion", "epsilon", "epsilon_lower", "epsilon_upper", "delta", "form")
    if len(others) == len(set(columns)) and all(asked[name] is None for name in names):
        return None, others
    notion = read_notion(
        asked["notion"],
        asked["epsilon"],
        asked["epsilon_lower"],
        asked["epsilon_upper"],
        None,
        asked["delta"],
        asked["form"],
    )
    return notion, others


def _check_used(asked: dict[str, Any], secrets: Sequence[str | None]) -> None:
    """Refuse joints and priors that belong to no column."""
    for option, given, wanted in (
        ("--joint", asked["joints"], sum(secret is not None for secret in secrets)),
        ("--prior", asked["priors"], sum(secret is None for secret in secrets)),
    ):
        if given and (not wanted or len(given) not in (1, wanted)):
            which = "with" if option == "--joint" else "without"
            raise click.UsageError(
                f"{len(given)} times {option} for {wanted} columns {which} a secret: give it once, "
                "or once for each"
            )


def _check_learned(
    asked: dict[str, Any], columns: Sequence[str], secrets: Sequence[str | None]
) -> None:
    """Refuse rules for counting where nothing is counted."""
    given = [bool(asked["priors"] if secret is None else asked["joints"]) for secret in secrets]
    local = asked["local_priors"] is not None
    for option, value in (("--rare", asked["rare"]), ("--smooth", exact(asked["smooth"]))):
        if value and (local or all(given)):
            raise click.UsageError(f"{option} is for what is counted in the table; leave it out")
    asks = {*asked["numbers"], *by_column(asked["domains"], columns, "--domain")}
    asks |= set(by_column(asked["cells"], columns, "--cells"))
    for column, known in zip(columns, given, strict=True):
        if column in asks and (known or local):
            raise click.UsageError(
                f"the numbers of {column!r} are counted in the table: leave out its --joint, "
                "--prior or --local-priors, or --numbers, --domain and --cells"
            )


def _local(source: TableFile, column: str, prefix: str | None) -> dict[Any, str]:
    if prefix is None:
        return {}
    found = {
        name.removeprefix(prefix): name
        for name in source.columns
        if name.startswith(prefix) and name != column and name != prefix
    }
    if len(found) < 2:
        raise InputError(
            "no columns of probabilities",
            value=prefix,
            remedy=f"there should be one for each value of {column!r}, called {prefix}VALUE",
        )
    return dict(found)


def _mechanism_files(
    given: Sequence[Path], columns: Sequence[str], output: Path
) -> dict[str, Path]:
    if given and len(given) != len(columns):
        raise click.UsageError(
            f"{len(given)} times --mechanism for {len(columns)} columns: give it once for each"
        )
    if given:
        return dict(zip(columns, given, strict=True))
    if len(columns) == 1:
        return {columns[0]: beside(output, ".mechanism.json")}
    return {
        column: beside(
            output,
            f".{''.join(c if c.isalnum() or c in '-_' else '_' for c in column)}.mechanism.json",
        )
        for column in columns
    }


def _check_report(report: Path | None) -> None:
    if report is not None and report.suffix.lower() not in (".html", ".htm"):
        raise InputError(
            "a report is a page", value=report.name, remedy="let its name end in .html"
        )


def _seconds(text: str) -> float:
    seconds = float(exact(text, name="--seconds"))
    if seconds <= 0:
        raise InputError("--seconds is not positive", value=text, remedy="give at least 1")
    return seconds


def _whole(text: str, option: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise InputError(f"{option} is not a whole number", value=text, remedy="give 2 or more")
    return int(text)
