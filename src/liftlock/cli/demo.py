"""`liftlock demo`: the whole path on data it makes, in a minute."""

from __future__ import annotations

import csv
import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np
from rich.rule import Rule

from liftlock.cli.options import FILE, make_console
from liftlock.designs.draft import Draft
from liftlock.errors import NotCertified
from liftlock.files import read_channel, read_prior
from liftlock.mechanism import Mechanism, lock
from liftlock.notions.audit import audit
from liftlock.notions.lip import LIP
from liftlock.prior import Prior
from liftlock.report.heatmap import check_picture, draw_lifts
from liftlock.report.text import audit_report, certificate_lines

if TYPE_CHECKING:
    from rich.console import Console

PEOPLE = 10_000
SURVEY = {"none": 7_000, "cold": 2_000, "flu": 1_000}
EPSILON = "1"


@click.command("demo")
@click.option(
    "--folder",
    type=FILE,
    default="liftlock-demo",
    show_default=True,
    help="Where the example files go.",
)
def demo_command(folder: Path) -> int:
    """Audit, lock, release and check a health survey, on data made here."""
    console = make_console()
    folder.mkdir(parents=True, exist_ok=True)
    prior = Prior.from_counts(SURVEY)
    prior_file, published_file = folder / "prior.csv", folder / "published.csv"
    _write_rows(prior_file, ["label", "count"], [[x, c] for x, c in SURVEY.items()])
    _write_matrix(published_file, prior, _published(prior))

    _heading(console, "1. A response from the literature, audited")
    console.print(f"liftlock audit {published_file} --prior {prior_file} --check lip={EPSILON}\n")
    published = read_channel(published_file).channel
    result = audit(published, read_prior(prior_file))
    console.print(audit_report(result))

    _heading(console, f"2. It was published as {EPSILON}-LIP; the exact audit refuses it")
    try:
        lock(published, LIP(EPSILON), prior)
    except NotCertified as refusal:
        console.print(str(refusal), style="red", markup=False)

    _heading(console, f"3. A response that keeps {EPSILON}-LIP, locked to integers and certified")
    mechanism = lock(_safe(prior), LIP(EPSILON), prior)
    mechanism_file = folder / "mechanism.json"
    mechanism.save(mechanism_file)
    console.print(certificate_lines(mechanism.certificate))
    console.print(mechanism.audit().worst_case(), markup=False)
    console.print(f"written to {mechanism_file}", style="dim", markup=False)

    _heading(console, f"4. {PEOPLE:,} people answer, each through the mechanism")
    _release(console, Mechanism.load(mechanism_file), folder)

    picture = folder / "lifts.png"
    _heading(console, "5. The lifts as a picture")
    try:
        check_picture(picture)
        draw_lifts(result, picture)
        console.print(f"written to {picture}", markup=False)
    except ValueError as problem:
        console.print(str(problem), style="yellow", markup=False)
    return 0


def _heading(console: Console, text: str) -> None:
    console.print()
    console.print(Rule(text, align="left"))


def _published(prior: Prior) -> np.ndarray:
    """The response of 000 eq. (19): keep with 1 - 1/E, else draw from the prior."""
    masses = prior.floats()
    keep = 1 - math.exp(-float(EPSILON))
    matrix: np.ndarray = keep * np.eye(len(masses)) + (1 - keep) * masses
    return matrix


def _safe(prior: Prior) -> Draft:
    """The same response with the largest keep-probability that is truly epsilon-LIP."""
    masses = prior.floats()
    ratio = math.exp(float(EPSILON))
    least = masses.min()
    keep = min((ratio - 1) * least / (1 - least), 1 - 1 / ratio)
    labels = prior.alphabet
    return Draft.of(labels, labels, keep * np.eye(len(masses)) + (1 - keep) * masses)


def _release(console: Console, mechanism: Mechanism, folder: Path) -> None:
    truth = [label for label, count in SURVEY.items() for _ in range(count * PEOPLE // 10_000)]
    reports = mechanism.release(truth)
    _write_rows(folder / "reports.csv", ["report"], [[report] for report in reports])
    sent = Counter(reports)
    # Undo the randomisation on average: solve counts = true counts through the channel.
    matrix = mechanism.channel.floats()
    inputs, outputs = mechanism.channel.inputs.labels, mechanism.channel.outputs.labels
    observed = np.array([sent[label] for label in outputs], dtype=float)
    estimate = np.linalg.solve(matrix.T, observed)
    for label, value in zip(inputs, estimate, strict=True):
        console.print(
            f"{label!s:>6}: true {SURVEY[str(label)]:>6,}   reported {sent[label]:>6,}   "
            f"estimated {value:>9,.0f}",
            markup=False,
        )
    console.print(f"reports written to {folder / 'reports.csv'}", style="dim", markup=False)


def _write_matrix(path: Path, prior: Prior, matrix: np.ndarray) -> None:
    rows = []
    for label, row in zip(prior.labels, matrix, strict=True):
        # Nine decimals that sum to 1 exactly: the last cell takes what is left.
        cells = [round(float(value), 9) for value in row]
        cells[-1] = round(1 - sum(cells[:-1]), 9)
        rows.append([label, *(f"{cell:.9f}" for cell in cells)])
    _write_rows(path, ["input", *(str(label) for label in prior.labels)], rows)


def _write_rows(path: Path, header: list[str], rows: list[list[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(header)
        writer.writerows(rows)
