"""`liftlock collect serve`: the server of a survey."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from liftlock.cli._console import Notes, show, show_status
from liftlock.cli._options import FILE
from liftlock.cli.collect._settings import read_settings, setting_options
from liftlock.collect.survey import Survey
from liftlock.errors import FileError, InputError

if TYPE_CHECKING:
    from liftlock.collect.server.service import Service
    from liftlock.collect.settings import Settings


@click.command("serve", short_help="Serve a survey: question page, dashboard, API.")
@click.argument("surveys", nargs=-1, type=FILE, metavar="SURVEY...")
@click.option("--postgres", metavar="URL", help="PostgreSQL database as the store.")
@click.option("--settings", type=FILE, metavar="FILE", help="Settings (TOML, YAML, JSON).")
@setting_options
def serve_command(
    surveys: tuple[Path, ...], postgres: str | None, settings: Path | None, **options: Any
) -> int:
    """Serve SURVEYs: one process, and an SQLite file beside the first of them.

    Every mechanism is designed and proved again before anybody is asked. A report is answered once
    it is on disk. Ctrl-C or SIGTERM ends it: what was accepted is answered and counted first.

    Every setting can also stand in the file of settings, or in the environment as
    LIFTLOCK_COLLECT_NAME.

    \b
    liftlock collect serve health.yaml
    liftlock collect serve health.yaml --store health.sqlite --port 8123
    liftlock collect serve health.yaml --postgres postgresql://collect@db/collect
    """
    if postgres is not None:
        if options["store"] is not None:
            raise click.UsageError("--store and --postgres: give one of them")
        if not postgres.startswith(("postgresql://", "postgres://")):
            raise InputError(
                "not the address of a PostgreSQL database",
                remedy="write it like postgresql://USER@HOST/DATABASE",
            )
        options["store"] = postgres
    found = read_settings(surveys, settings, options)
    from liftlock.collect.server.run import serve
    from liftlock.collect.server.service import Service

    note = Notes()
    read = [Survey.read(path) for path in found.surveys]
    with show_status("designing") as progress:
        for survey in read:
            survey.check(progress=progress).require()
            keep(survey, note)
        service = Service(found.changed(surveys=(), store=found.place), surveys=read)
    note.show()
    serve(service=service, announce=announce)
    return 0


def keep(survey: Survey, note: Notes) -> None:
    """Keep the mechanisms beside the survey, so that a newer liftlock serves the same ones."""
    try:
        survey.keep_mechanisms()
    except (OSError, FileError) as error:
        text = error.strerror if isinstance(error, OSError) else str(error)
        note(f"the mechanisms of {survey.where} are not kept beside it: {text}")


def announce(service: Service, public: str, admin: str) -> None:
    """Print where everything is, and how it ends."""
    settings = service.settings
    surveys = dict.fromkeys(each.survey.name for each in service.served.values())
    lines = [f"people       {public}"]
    lines += [f"questions    {public}s/{name}" for name in surveys]
    lines += [f"results      {public}s/{name}/results" for name in surveys]
    lines += [f"admin        {admin}"]
    if not settings.admin_token:
        lines += [f"owner token  {service.admin_token}  (only shown now)"]
    lines += [f"store        {_store_of(settings)}"]
    lines += ["Stop it with Ctrl-C."]
    show("\n".join(lines), wrap=False)


def _store_of(settings: Settings) -> str:
    """Say where the store is, without a password."""
    if not settings.shared:
        return settings.place
    from liftlock.collect.store.connection import place_of

    return place_of(settings.place)
