"""`liftlock collect new`: a survey file to begin with."""

from __future__ import annotations

import re
from pathlib import Path

import click

from liftlock._runtime.storage import write_atomically
from liftlock.cli._console import show
from liftlock.cli._options import FILE
from liftlock.cli.collect._files import check_new, survey_text
from liftlock.collect.survey import Survey
from liftlock.collect.survey.example import new_survey
from liftlock.collect.survey.file import parse_source


@click.command("new", short_help="Write a survey file to begin with.")
@click.argument("survey", type=FILE, metavar="SURVEY")
@click.option("--name", metavar="NAME", help="Name of the survey.  [default: that of the file]")
def new_command(survey: Path, name: str | None) -> int:
    """Write SURVEY: three questions to be changed, and comments on all that a survey can say.

    The name says the language: .yaml has the comments, .toml and .json cannot be commented so well
    and have none. A file that is there is never replaced.

    \b
    liftlock collect new health.yaml
    """
    check_new(survey)
    survey_text({}, survey)
    text = new_survey(_name_of(survey) if name is None else name)
    if survey.suffix.lower() not in (".yaml", ".yml"):
        source = parse_source(text, survey, "YAML")
        text = survey_text(Survey.from_data(source.data).content(), survey)
    write_atomically(survey, text)
    show(f"written to {survey}; then: liftlock collect check {survey}", wrap=False)
    return 0


def _name_of(path: Path) -> str:
    """Make a name of a survey of that of its file.

    >>> _name_of(Path("My survey 2.yaml")), _name_of(Path("?.yaml"))
    ('my-survey-2', 'survey')
    """
    text = re.sub(r"[^a-z0-9_]+", "-", path.stem.lower()).strip("-_")[:40].strip("-_")
    return text or "survey"
