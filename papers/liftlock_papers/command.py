"""`liftlock papers`: the figures of the five papers, computed again and compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from liftlock._runtime.progress import Step
from liftlock.cli._console import Notes, show, show_json, show_steps
from liftlock.cli._options import FILE, OrderedGroup
from liftlock.errors import InputError
from liftlock.report.format import counted

if TYPE_CHECKING:
    from liftlock_papers import Figure, Result

# What computes and draws is imported where it is used: `list` needs none of it.

_LEFT_OUT = 2
"""The exit code if a data set could not be read, or nothing was run."""
_LONG = 10.0
"""Seconds that are worth mentioning."""
_STYLES = {
    "confirmed": "green",
    "confirmed under a condition": "yellow",
    "refuted": "red",
    "not reproducible": "dim",
}


@click.group(
    "papers",
    cls=OrderedGroup,
    invoke_without_command=True,
)
@click.pass_context
def papers_command(context: click.Context) -> None:
    """Compute the figures and tables of the five papers again, and say what agrees.

    \b
    liftlock papers list
    liftlock papers run 002-fig4
    liftlock papers run all --out papers
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@papers_command.command("list", short_help="List the figures.")
@click.option("--data", type=FILE, metavar="DIR", help="Folder of the real data sets.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def list_command(data: Path | None, as_json: bool) -> int:
    """List every figure with the data set it needs, and whether that is there."""
    from liftlock_papers import PAPERS
    from liftlock_papers.data import DataFolder

    folder = DataFolder(data)
    if as_json:
        show_json(
            [
                {
                    "figure": figure.key,
                    "paper": paper.key,
                    "name": figure.name,
                    "title": figure.title,
                    "says": figure.says,
                    "data": {key: folder.has(key) for key in figure.needs},
                }
                for paper in PAPERS
                for figure in paper.figures
            ]
        )
        return 0
    parts: list[RenderableType] = []
    for paper in PAPERS:
        grid = Table(box=None, pad_edge=False, show_header=False)
        grid.add_column(no_wrap=True, min_width=11)
        grid.add_column()
        for figure in paper.figures:
            title = Text(figure.title)
            for key in figure.needs:
                there = folder.has(key)
                text = f"  needs {key}" + ("" if there else ", which is not there")
                title.append(text, style="dim" if there else "yellow")
            grid.add_row(Text(figure.key), title)
        parts += [Text(f"{paper.key} {paper.title}", style="bold"), Padding(grid, (0, 0, 1, 2))]
    show(Group(*parts))
    show("liftlock papers run FIGURE... | PAPER... | all", wrap=False)
    return 0


@papers_command.command("run", short_help="Compute, draw and compare figures.")
@click.argument("figures", nargs=-1, required=True, metavar="FIGURE...")
@click.option(
    "--out",
    type=FILE,
    metavar="DIR",
    help="Folder for index.html and figures/.  [default: papers, or papers-quick]",
)
@click.option("--data", type=FILE, metavar="DIR", help="Folder of the real data sets.")
@click.option("--quick", is_flag=True, help="Small samples: a minute or two for all.")
@click.option("--again", is_flag=True, help="Recompute figures that exist already.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list of the findings.")
def run_command(
    figures: tuple[str, ...],
    out: Path | None,
    data: Path | None,
    quick: bool,
    again: bool,
    as_json: bool,
) -> int:
    """Compute FIGURE (002-fig4), all of a paper (002), or `all`.

    Each gives a CSV file of its points, an SVG and a PNG picture; the gallery index.html shows
    what the paper says, what was found, and whether they agree. Points that were computed before
    from the same code and data are used again.
    """
    from liftlock_papers import Setting, run
    from liftlock_papers.catalogue import find_figures
    from liftlock_papers.data import Absent, DataFolder
    from liftlock_papers.drawing import check_drawing, draw
    from liftlock_papers.gallery import FIGURES_FOLDER, write_gallery
    from liftlock_papers.running import Lacking, code_of

    # A quick run must not replace what took half an hour.
    out = out or Path("papers-quick" if quick else "papers")
    chosen = find_figures(figures)
    for figure in chosen:
        code_of(figure)  # of the code that is loaded, whatever is edited during a long run
    folder = DataFolder(data)
    if len(chosen) == 1:
        for key in chosen[0].needs:
            folder.files(key)
    place = out / FIGURES_FOLDER
    if quick and not again:
        _check_full_results(chosen, place)
    check_drawing(place)
    note = Notes()
    results: list[Result] = []
    spoilt = False
    with _kept_if_interrupted(results, out):
        for done, figure in enumerate(chosen):
            with show_steps(f"{figure.key} ({done + 1} of {len(chosen)})") as bar:
                try:
                    result = run(figure, place, Setting(quick, folder, bar), again=again)
                except InputError as error:
                    if len(chosen) == 1:
                        raise
                    note(f"{figure.key} was left out: {error}")
                    spoilt = spoilt or not isinstance(error, Absent | Lacking)
                    continue
                bar(Step("drawing", 1, 1))
                draw(result, place)
            results.append(result)
            if not as_json:
                _show_result(result)
    page = write_gallery(out)
    if as_json:
        show_json([_data(result) for result in results])
    else:
        _show_end(results, page)
    note.show()
    return _LEFT_OUT if spoilt or not results else 0


def _check_full_results(figures: Sequence[Figure], folder: Path) -> None:
    """Refuse to replace full results by quick ones."""
    from liftlock_papers.running import read_result

    for figure in figures:
        kept = read_result(figure, folder)
        if kept is not None and not kept.quick:
            raise InputError(
                "a quick run would overwrite the result of a full one",
                where=f"{folder}, {figure.key}",
                remedy="give another --out, or --again to replace it",
            )


@contextmanager
def _kept_if_interrupted(results: Sequence[Result], out: Path) -> Iterator[None]:
    from liftlock_papers.gallery import write_gallery

    try:
        yield
    except KeyboardInterrupt:
        write_gallery(out)
        kept = counted(len(results), "figure")
        click.echo(f"note: {kept} done and kept in {out}; the same command goes on", err=True)
        raise


def _show_result(result: Result) -> None:
    from liftlock_papers.figure import sentence

    head = Text.assemble((result.figure.key, "bold"), f"  {result.figure.title}")
    if result.kept:
        head.append("  (kept from an earlier run)", style="dim")
    elif result.seconds >= _LONG:
        head.append(f"  ({result.seconds:,.0f} s)", style="dim")
    grid = Table(box=None, pad_edge=False, show_header=False)
    grid.add_column(no_wrap=True)
    grid.add_column()
    for finding in result.findings:
        says = Text.assemble(sentence(finding.claim), (f"\nhere: {finding.ours}", "bold"))
        if finding.why:
            says.append(f"\n{sentence(finding.why, '.')}", style="dim")
        grid.add_row(Text(finding.verdict.value, style=_STYLES[finding.verdict.value]), says)
    notes = [Padding(Text(f"note: {note}", style="dim"), (0, 0, 0, 2)) for note in result.notes]
    show(Group(head, Padding(grid, (0, 0, 0, 2)), *notes))


def _show_end(results: Sequence[Result], page: Path) -> None:
    from liftlock_papers.exhibits import counted_verdicts, verdicts

    figures = counted(len(results), "figure")
    found = verdicts(finding for result in results for finding in result.findings)
    show(f"{figures}: {counted_verdicts(found)}")
    show(f"gallery: {page}", wrap=False)


def _data(result: Result) -> dict[str, object]:
    return {
        "figure": result.figure.key,
        "quick": result.quick,
        "kept": result.kept,
        "seconds": result.seconds,
        "notes": result.notes,
        "findings": [
            {
                "claim": finding.claim,
                "verdict": finding.verdict.value,
                "ours": finding.ours,
                "why": finding.why,
            }
            for finding in result.findings
        ],
    }
