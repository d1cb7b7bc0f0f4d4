"""`liftlock demo`: the whole workflow on synthetic data, in a minute."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import click
import numpy as np
from rich.rule import Rule
from rich.text import Text

from liftlock import continuous
from liftlock._runtime.storage import write_atomically
from liftlock.cli._console import make_console, show
from liftlock.cli._options import FILE, csv_text
from liftlock.cli.protect import protect_command
from liftlock.designs.api import design, lock
from liftlock.designs.baselines import measure_baselines
from liftlock.designs.mechanisms.random_response import published_response
from liftlock.errors import FileError, InputError, NotCertified
from liftlock.exact.integers import Floats
from liftlock.files import read_channel, read_prior
from liftlock.mechanism import Mechanism
from liftlock.model import Prior
from liftlock.notions.audit import audit
from liftlock.notions.lip import LIP
from liftlock.report.plots.estimate import draw_estimate
from liftlock.report.plots.figure import check_picture
from liftlock.report.plots.lifts import draw_lifts
from liftlock.report.plots.numbers import draw_numbers
from liftlock.report.text.audit import audit_report
from liftlock.report.text.design import design_report
from liftlock.report.text.estimate import estimate_report
from liftlock.tables.example import PEOPLE as TABLE_PEOPLE
from liftlock.tables.example import people_csv

SURVEY = {"none": 7_000, "cold": 2_000, "flu": 1_000}
EPSILON = "1"
UTILITY = "frequencies"
TRUE_LEAKAGE = "2"
"""A guarantee that the published response does keep, so that it can be sampled at all."""

_MARKER = "about.txt"
_FILES = (
    "prior.csv",
    "published.csv",
    "mechanism.json",
    "reports.csv",
    "estimate.png",
    "pairs.csv",
    "lifts.png",
    "salaries.csv",
    "salaries.json",
    "salaries.png",
    "people.csv",
    "safe.csv",
    "safe.mechanism.json",
    "report.html",
)
PEOPLE, DOMAIN, BINS = 5_000, (0, 200_000), 64
"""The synthetic salaries, and how they are discretised."""


@click.command("demo")
@click.option(
    "--folder",
    type=FILE,
    default="liftlock-demo",
    show_default=True,
    help="Folder for the example files.",
)
def demo_command(folder: Path) -> int:
    """Audit, design, release and estimate a health survey; protect salaries and a table.

    All data is synthetic.
    """
    _prepare(folder)
    prior = Prior.from_counts(SURVEY)
    prior_file, published_file = folder / "prior.csv", folder / "published.csv"
    _write_rows(prior_file, ["label", "count"], SURVEY.items())
    _write_matrix(published_file, prior, published_response(prior, LIP(EPSILON)).matrix)

    _heading("1. A response from the literature, audited")
    show(f"liftlock audit {published_file} --prior {prior_file} --check lip={EPSILON}", wrap=False)
    show("")
    published = read_channel(published_file).channel
    result = audit(published, read_prior(prior_file))
    show(audit_report(result, make_console().width))

    _heading(f"2. It was published as {EPSILON}-LIP; the exact audit refuses it")
    try:
        lock(published, LIP(EPSILON), prior)
    except NotCertified as refusal:
        show(Text(str(refusal), style="red"))

    _heading(f"3. The best mechanism for counting the answers that does keep {EPSILON}-LIP")
    mechanism_file = folder / "mechanism.json"
    show(
        f"liftlock design --prior {prior_file} --epsilon {EPSILON} --utility {UTILITY} "
        f"-o {mechanism_file}",
        wrap=False,
    )
    show("")
    mechanism = design(prior, LIP(EPSILON), utility=UTILITY)
    mechanism.save(mechanism_file)
    show(design_report(mechanism, measure_baselines(mechanism, UTILITY)))
    show("")
    show(mechanism.audit().worst_case())

    truth = [label for label, count in SURVEY.items() for _ in range(count)]
    _heading(f"4. {len(truth):,} people answer, each through the mechanism")
    _release(Mechanism.load(mechanism_file), truth, folder)

    _heading("5. The lifts of the published response as a picture")
    _draw(folder / "lifts.png", lambda picture: draw_lifts(result, picture))

    salaries_file = folder / "salaries.csv"
    _numbers(salaries_file)
    _table(folder)

    pairs_file = folder / "pairs.csv"
    recorded = lock(published, LIP(TRUE_LEAKAGE), prior).simulate(truth, seed=1)
    _write_rows(pairs_file, ["answer", "report"], zip(truth, recorded, strict=True))
    _heading("Now try")
    show(
        f"liftlock compare --prior {prior_file} --utility {UTILITY}\n"
        f"liftlock plan --prior {prior_file} --n 10000 --epsilon {EPSILON} --value flu\n"
        f"liftlock account {folder / 'ledger.json'} --record {mechanism_file} --who everybody "
        "--about health\n"
        f"liftlock audit {mechanism_file} --alpha 2 --at-epsilon 0.5\n"
        f"liftlock probe {pairs_file} --prior {prior_file} --claim lip={EPSILON}\n"
        f"liftlock relations lip={EPSILON} --prior {prior_file}\n"
        f"liftlock compare --prior {salaries_file} --column salary --domain {_domain()} --bins 32",
        wrap=False,
    )
    return 0


def _numbers(salaries_file: Path) -> None:
    """Make salaries, and release them as numbers."""
    generator = np.random.default_rng(1)
    salaries = np.round(generator.lognormal(10.8, 0.5, PEOPLE), -1)
    _write_rows(salaries_file, ["salary"], [[int(salary)] for salary in salaries])
    _heading(f"6. {PEOPLE:,} salaries, each released as a number")
    made_file, picture = salaries_file.with_suffix(".json"), salaries_file.with_suffix(".png")
    show(
        f"liftlock design --prior {salaries_file} --column salary --domain {_domain()} "
        f"--bins {BINS} --epsilon {EPSILON} -o {made_file} --plot {picture}",
        wrap=False,
    )
    show("")
    made = design(continuous.from_data(salaries, domain=DOMAIN), LIP(EPSILON), bins=BINS)
    made.save(made_file)
    show(design_report(made, measure_baselines(made, "mean")))
    released = made.release(salaries)
    show("")
    show(
        f"mean salary: true {salaries.mean():,.0f}, of the released numbers "
        f"{np.mean(released):,.0f}"
    )
    _draw(picture, lambda path: draw_numbers(made, path))


def _table(folder: Path) -> None:
    """Make a table of people, and protect a column of it."""
    people_file = folder / "people.csv"
    write_atomically(people_file, people_csv())
    _heading(
        f"7. A table of {TABLE_PEOPLE:,} people: jobs are released, households must not be inferred"
    )
    options = ["--column", "job", "--secret", "household", "--drop", "schooling", "--drop", "pay"]
    options += ["--epsilon-lower", "0.9", "--epsilon-upper", "0.5", "-o", str(folder / "safe.csv")]
    options += ["--report", str(folder / "report.html"), "--force"]
    show(f"liftlock protect {people_file} {' '.join(options)}", wrap=False)
    show("")
    root = click.get_current_context().find_root()
    protect_command.main([str(people_file), *options], standalone_mode=False, parent=root)


def _domain() -> str:
    return ":".join(str(end) for end in DOMAIN)


def _draw(picture: Path, draw: Callable[[Path], None]) -> None:
    """Draw a picture, or say what is missing for it."""
    try:
        check_picture(picture)
        draw(picture)
        show(Text(f"picture written to {picture}", style="dim"))
    except InputError as problem:
        show(str(problem))


def _prepare(folder: Path) -> None:
    """Make the folder; files that are not the demo's own are never replaced."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        others = [name for name in _FILES if (folder / name).exists()]
        if others and not (folder / _MARKER).exists():
            raise FileError(
                "a file that the demo did not make",
                where=str(folder / others[0]),
                remedy="choose another --folder",
            )
        (folder / _MARKER).write_text("Made by `liftlock demo`; may be deleted.\n")
    except OSError as error:
        raise FileError(
            "cannot write the examples",
            where=str(folder),
            value=error.strerror,
            remedy="choose another --folder",
        ) from None


def _heading(text: str) -> None:
    show("")
    show(Rule(text, align="left"))


def _release(mechanism: Mechanism, truth: Sequence[str], folder: Path) -> None:
    """Release everybody's answer, and estimate the histogram from the reports alone."""
    reports_file = folder / "reports.csv"
    reports = mechanism.release(truth)
    _write_rows(reports_file, ["report"], [[report] for report in reports])
    show(
        f"liftlock estimate {folder / 'mechanism.json'} {reports_file} --column report", wrap=False
    )
    show("")
    found = mechanism.estimate(reports)
    show(estimate_report(found))
    true = ", ".join(f"{label} {count:,}" for label, count in SURVEY.items())
    show(f"true counts: {true}")
    # Bars stand side by side, so their intervals hold at once.
    drawn = mechanism.estimate(reports, together=True)
    _draw(folder / "estimate.png", lambda path: draw_estimate(drawn, path, mechanism.known_prior))


def _write_matrix(path: Path, prior: Prior, matrix: Floats) -> None:
    rows: list[list[object]] = []
    for label, row in zip(prior.labels, matrix, strict=True):
        # Nine decimals that sum to 1 exactly: the last cell takes what is left.
        cells = [round(float(value), 9) for value in row]
        cells[-1] = round(1 - sum(cells[:-1]), 9)
        rows.append([label, *(f"{cell:.9f}" for cell in cells)])
    _write_rows(path, ["input", *(str(label) for label in prior.labels)], rows)


def _write_rows(path: Path, header: list[str], rows: Iterable[Iterable[object]]) -> None:
    try:
        path.write_text(csv_text(header, rows), encoding="utf-8", newline="")
    except OSError as error:
        raise FileError(
            "cannot write", where=str(path), value=error.strerror, remedy="choose another --folder"
        ) from None
