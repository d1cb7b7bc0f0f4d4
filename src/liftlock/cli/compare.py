"""`liftlock compare`: privacy against utility, method by method and budget by budget."""

from __future__ import annotations

import csv
import io
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from liftlock.cli.asked import (
    check_output,
    check_utility,
    delta_options,
    given_context,
    read_notion,
    read_seconds,
    read_utility,
    refuse_infinite,
    utility_options,
)
from liftlock.cli.console import Notes, interruptible, show, show_json, stepping
from liftlock.cli.options import FILE, context_options
from liftlock.cli.profiles.design import square_loss
from liftlock.cli.profiles.options import (
    given_graph,
    graph_files,
    graph_options,
    inputs_of,
    is_given,
    need_profiles,
    refuse_beside_profiles,
)
from liftlock.contexts import Context
from liftlock.designs.comparison import Comparison, MakeNotion, asymmetric, compare
from liftlock.designs.goal import AnyUtility
from liftlock.errors import InputError
from liftlock.exact.budget import Budget, decimal_text
from liftlock.exact.numbers import exact
from liftlock.notions.profile import ProfilePrivacy
from liftlock.report.design import comparison_table
from liftlock.report.pictures import check_picture
from liftlock.report.tradeoff import draw_tradeoff
from liftlock.storage import write_atomically

MOST_BUDGETS = 1000
INTERRUPTED = 130


@click.command("compare", short_help="Draw privacy against utility for several methods.")
@context_options
@graph_options
@click.option(
    "--notion", metavar="NOTION", help="lip, ldp, eps_lower or eps_upper.  [default: lip]"
)
@delta_options
@click.option(
    "--epsilons",
    default="0.5:4:8",
    show_default=True,
    metavar="RANGE",
    help="FIRST:LAST:COUNT, or a list such as 0.5,1,2.",
)
@click.option(
    "--split",
    metavar="LAMBDA",
    help="Compare alip with lower LAMBDA*E and upper (1-LAMBDA)*E; E is the whole budget.",
)
@click.option(
    "--methods",
    metavar="LIST",
    help="Methods, separated by commas; METHOD:ldp asks it for LDP, METHOD:published for its "
    "published form.  [default: those that fit]",
)
@utility_options
@click.option("--seconds", metavar="T", help="Stop each search after T seconds.")
@click.option("--csv", "csv_file", type=FILE, metavar="FILE", help="Write every point as CSV.")
@click.option("--plot", type=FILE, metavar="PICTURE", help="Draw the curves (.png, .svg or .pdf).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def compare_command(
    notion: str | None,
    delta: str | None,
    form: str | None,
    epsilons: str,
    split: str | None,
    methods: str | None,
    utility: str | None,
    loss: str | None,
    seconds: str | None,
    csv_file: Path | None,
    plot: Path | None,
    as_json: bool,
    profiles: Path | None,
    edges: Path | None,
    groups: Path | None,
    graph: Any,
    **context_paths: Any,
) -> int:
    """Design with several methods at several budgets, and show utility against privacy.

    Every point is a certified mechanism. A method that is only made for LDP gets the LDP budget
    that implies the budget asked for. Published formulas that break their budget are shown at the
    budget that they truly need. Ctrl-C stops with the points that are complete (exit code 130).

    \b
    liftlock compare --prior prior.csv --utility histogram --plot tradeoff.png
    liftlock compare --joint joint.csv --split 0.65 --epsilons 1,2,4 --csv out.csv
    liftlock compare --profiles profiles.csv --edges edges.csv
    """
    note = Notes()
    budgets = read_epsilons(epsilons)
    files = graph_files(profiles, edges, groups, graph)
    of_profiles = is_given(files)
    if of_profiles:
        refuse_beside_profiles(
            {f"--{name.replace('_', '-')}": given for name, given in context_paths.items()}
            | {"--notion": notion, "--split": split, "--delta": delta, "--form": form}
        )
        need_profiles(files)
    make = ProfilePrivacy if of_profiles else _maker(notion, split, delta, form)
    if not of_profiles:
        check_utility(utility, loss)
    limit = read_seconds(seconds)
    names = None if methods is None else read_methods(methods)
    if plot is not None:
        check_picture(plot)
    for option, path in (("--csv", csv_file), ("--plot", plot)):
        if path is not None:
            check_output(path, context_paths | inputs_of(files), option)
    context: Context
    goal: AnyUtility | None
    losses = None
    if of_profiles:
        context, goal = given_graph(files, note), utility
        losses = None if loss is None else square_loss(Path(loss), context.inputs)
    else:
        context = given_context(context_paths, note)
        goal = read_utility(utility, loss, context)
    with interruptible() as stopped, stepping("comparing") as progress:
        found = compare(
            context,
            make,
            names,
            budgets,
            goal,
            loss=losses,
            seconds=limit,
            progress=progress,
            stopped=stopped,
        )
    if not found.curves:
        raise KeyboardInterrupt
    if found.left_out:
        note(f"interrupted: {found.left_out} of {found.asked} points are missing")
    if csv_file is not None:
        write_atomically(csv_file, comparison_csv(found))
        note(f"points written to {csv_file}")
    if plot is not None:
        draw_tradeoff(found, plot)
        note(f"picture written to {plot}")
    if as_json:
        show_json(found.to_data() | {"notes": note.texts})
    else:
        show(comparison_table(found))
    note.show()
    return INTERRUPTED if found.left_out else 0


def _maker(
    notion: str | None, split: str | None, delta: str | None = None, form: str | None = None
) -> MakeNotion:
    if split is None:
        name = "lip" if notion is None else notion
        if name.strip().lower() == "alip":
            raise click.UsageError("alip takes two budgets: give --split instead of --notion alip")
        read_notion(name, "1", None, None, None, delta, form)
        return lambda epsilon: read_notion(name, str(epsilon), None, None, None, delta, form)
    if delta is not None:
        raise click.UsageError("--split is for two budgets without a delta: leave out --delta")
    if notion is not None and notion.strip().lower() != "alip":
        raise click.UsageError("--split is for alip: leave out --notion")
    share = exact(split, name="--split")
    if not 0 < share < 1:
        raise InputError("--split outside 0 to 1", value=split, remedy="0.5 is symmetric")
    return asymmetric(share)


def read_epsilons(text: str) -> list[str]:
    """Read budgets: a list, or FIRST:LAST:COUNT with equal steps.

    >>> read_epsilons("0.5, 1,ln 3"), read_epsilons("1:2:3")
    (['0.5', '1', 'ln 3'], ['1', '1.5', '2'])
    """
    if ":" in text:
        return _range(text)
    given = [part.strip() for part in text.split(",")]
    for part in given:
        if not part:
            raise InputError(
                "an empty budget in the list", value=text, remedy="write it like 0.5,1,2"
            )
        refuse_infinite("--epsilons", part)
        Budget.of(part, name="--epsilons")
    if len(given) > MOST_BUDGETS:
        raise _too_many(len(given))
    return list(dict.fromkeys(given))


def _range(text: str) -> list[str]:
    parts = text.split(":")
    if len(parts) != 3:
        raise InputError("a range is FIRST:LAST:COUNT", value=text, remedy="write it like 0.25:4:8")
    first, last, count = (exact(part, name="--epsilons") for part in parts)
    if first < 0 or last <= first:
        raise InputError(
            "a range that does not rise from 0 or more", value=text, remedy="write it like 0.25:4:8"
        )
    if count.denominator != 1 or count < 2:
        raise InputError("a range of fewer than 2 budgets", value=text, remedy="COUNT is 2 or more")
    if count > MOST_BUDGETS:
        raise _too_many(int(count))
    steps = int(count) - 1
    return [decimal_text(first + (last - first) * Fraction(k, steps)) for k in range(steps + 1)]


def _too_many(count: int) -> InputError:
    return InputError(
        f"more than {MOST_BUDGETS} budgets", value=count, remedy="a curve needs about ten"
    )


def read_methods(text: str) -> list[str]:
    """Read a list of methods."""
    names = [part.strip() for part in text.split(",")]
    if not all(names):
        raise InputError(
            "an empty name in the list of methods", value=text, remedy="write a,b,c without gaps"
        )
    return names


def comparison_csv(found: Comparison) -> str:
    """Return one line for each point, and one for each end of the scale."""
    rows = found.rows()
    stream = io.StringIO()
    writer = csv.DictWriter(stream, ["utility", *rows[0]], lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({"utility": found.utility} | row)
    return stream.getvalue()
