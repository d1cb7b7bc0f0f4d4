"""`liftlock collect token`: who may do what at the admin address."""

from __future__ import annotations

from pathlib import Path

import click

from liftlock._runtime.storage import write_atomically
from liftlock.cli._console import show, show_json
from liftlock.cli._options import FILE, JSON_HELP, OrderedGroup, csv_text, option_group
from liftlock.cli.collect._files import check_new
from liftlock.cli.collect._place import QUESTION, PlaceOptions, chosen
from liftlock.collect.survey import Survey
from liftlock.errors import InputError
from liftlock.report.format import grid_of

ROLES = ("owner", "analyst", "auditor")


@click.group("token", cls=OrderedGroup, short_help="Add, list and revoke access tokens.")
def token_command() -> None:
    """Tokens for the admin address and the dashboard: who may do what.

    An owner may do everything, an analyst read results, an auditor read the trail and check the
    store. Only hashes of tokens are stored.

    \b
    liftlock collect token add ann health.yaml --role analyst
    liftlock collect token list health.yaml
    liftlock collect token revoke ann health.yaml
    """


@token_command.command("add", short_help="Make a token.")
@click.argument("name", metavar="NAME")
@click.argument("survey", type=FILE, metavar="SURVEY")
@click.option(
    "--role",
    type=click.Choice(ROLES),
    default="analyst",
    show_default=True,
    help="What its bearer may do.",
)
@option_group("place", PlaceOptions)
@click.option("--json", "as_json", is_flag=True, help=JSON_HELP)
def add_command(name: str, survey: Path, role: str, place: PlaceOptions, as_json: bool) -> int:
    """Make a token called NAME, and print it, once: only its hash is stored."""
    with place.open(survey) as curator:
        token = curator.add_token(name, role)
    if as_json:
        show_json({"name": name, "role": role, "token": token})
    else:
        show(token, wrap=False)
    return 0


@token_command.command("list", short_help="List the names of tokens.")
@click.argument("survey", type=FILE, metavar="SURVEY")
@option_group("place", PlaceOptions)
@click.option("--json", "as_json", is_flag=True, help=JSON_HELP)
def list_command(survey: Path, place: PlaceOptions, as_json: bool) -> int:
    """List the names of the tokens and their roles."""
    with place.open(survey) as curator:
        found = dict(curator.tokens())
    if as_json:
        show_json(found)
        return 0
    if not found:
        show("no tokens but the one that the server was started with")
        return 0
    grid = grid_of()
    for title in ("name", "role"):
        grid.add_column(title)
    for name, role in found.items():
        grid.add_row(name, role)
    show(grid)
    return 0


@token_command.command("revoke", short_help="Forget a token.")
@click.argument("name", metavar="NAME")
@click.argument("survey", type=FILE, metavar="SURVEY")
@option_group("place", PlaceOptions)
def revoke_command(name: str, survey: Path, place: PlaceOptions) -> int:
    """Forget the token called NAME: it opens nothing any more."""
    with place.open(survey) as curator:
        curator.revoke_token(name)
    show(f"the token {name} is revoked")
    return 0


@token_command.command("issue", short_help="Make one-time tokens for people who report.")
@click.argument("survey", type=FILE, metavar="SURVEY")
@click.option(
    "--number", type=click.IntRange(1, 10_000), required=True, metavar="N", help="How many."
)
@click.option("-o", "--output", type=FILE, required=True, metavar="FILE", help="CSV to write.")
@QUESTION
@option_group("place", PlaceOptions)
def issue_command(
    survey: Path, number: int, output: Path, questions: tuple[str, ...], place: PlaceOptions
) -> int:
    """Make N write tokens for each question of SURVEY, which must say `tokens: signed`.

    Give each person one: it is good for one report. FILE has the columns question, id and tag, and
    nothing tells later who got which.
    """
    read = Survey.read(survey)
    names = chosen(read, questions)
    if read.tokens != "signed":
        raise InputError(
            "the survey takes reports without tokens",
            where=read.where,
            remedy="write tokens: signed into it",
        )
    check_new(output)
    with place.open(survey) as curator:
        rows = [(name, *each) for name in names for each in curator.issue(name, number)]
    write_atomically(output, csv_text(["question", "id", "tag"], rows))
    show(f"{len(rows):,} tokens written to {output}", wrap=False)
    return 0
