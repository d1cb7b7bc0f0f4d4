"""`liftlock papers`: run the figures of the five papers, and compare them with what they say."""

from __future__ import annotations

from pathlib import Path

import click

from liftlock.cli.console import make_console, show, stepping
from liftlock_papers.catalogue import FIGURES, find_figure
from liftlock_papers.data.folder import Absent, DataFolder
from liftlock_papers.running import Result, run
from liftlock_papers.setting import Setting


@click.group("papers")
def papers_group() -> None:
    """Reproduce the figures of the papers."""


@papers_group.command("run")
@click.argument("names", nargs=-1, required=True, metavar="FIGURE...|all")
@click.option("--out", type=click.Path(path_type=Path), default=Path("papers"))
@click.option("--data", type=click.Path(path_type=Path))
@click.option("--quick", is_flag=True)
@click.option("--again", is_flag=True)
def run_command(
    names: tuple[str, ...], out: Path, data: Path | None, quick: bool, again: bool
) -> None:
    """Compute figures."""
    from liftlock_papers.drawing import draw

    figures = list(FIGURES.values()) if "all" in names else [find_figure(name) for name in names]
    folder = DataFolder(data)
    for figure in figures:
        with stepping(figure.key) as bar:
            try:
                result: Result = run(
                    figure, out / "figures", Setting(quick, folder, bar), again=again
                )
            except Absent as absent:
                make_console(error=True).print(f"{figure.key}: {absent}")
                continue
        draw(figure, result.points, out / "figures", quick=quick)
        show(f"{figure.key}: {result.seconds} s{' (kept)' if result.kept else ''}")
        for finding in result.findings:
            show(f"  {finding.verdict.value}: {finding.claim}: {finding.ours} {finding.why}")


if __name__ == "__main__":
    papers_group()
