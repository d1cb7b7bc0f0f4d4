"""`liftlock compare`: privacy against utility, method by method and budget by budget."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import click

from liftlock._runtime.storage import write_together
from liftlock.cli._console import Notes, interruptible, show_steps
from liftlock.cli._context import ContextOptions
from liftlock.cli._options import (
    GuaranteeOptions,
    OutputOptions,
    UtilityOptions,
    option_group,
    output_options,
    read_seconds,
    refuse_infinite,
    write_records,
)
from liftlock.cli._profiles import GraphOptions, read_square_loss
from liftlock.designs.calibration import MakeNotion
from liftlock.designs.comparison import asymmetric, compare
from liftlock.designs.goal import AnyUtility
from liftlock.errors import InputError
from liftlock.exact.budget import Budget, decimal_text
from liftlock.exact.numbers import exact
from liftlock.model import Context
from liftlock.notions.profile import ProfilePrivacy
from liftlock.report.plots.released import draw_released, usual_methods
from liftlock.report.plots.tradeoff import draw_tradeoff
from liftlock.report.text.design import comparison_table
from liftlock.report.text.profiles import released_table

MOST_BUDGETS = 1000
INTERRUPTED = 130


@click.command("compare")
@option_group("context", ContextOptions)
@option_group("graph", GraphOptions, without=("column", "smooth"))
@click.option(
    "--notion", metavar="NOTION", help="lip, ldp, eps_lower or eps_upper.  [default: lip]"
)
@option_group(
    "guarantee",
    GuaranteeOptions,
    without=("notion", "epsilon", "epsilon_lower", "epsilon_upper", "alpha"),
)
@click.option(
    "--epsilons",
    default="0.5:4:8",
    show_default=True,
    metavar="RANGE",
    help="FIRST:LAST:COUNT, or a list such as 0.5,1,2.",
)
@click.option(
    "--at",
    metavar="LEAKAGE",
    help="What the budgets of --epsilons limit: true leakage as lip, ldp, max-lift or another "
    "notion of one number; or epsilon, to give every method the same budget.  [default: the "
    "notion, for profiles epsilon]",
)
@click.option(
    "--split",
    metavar="LAMBDA",
    help="Compare alip with lower LAMBDA*E and upper (1-LAMBDA)*E; E is the whole budget.",
)
@click.option(
    "--methods",
    metavar="LIST",
    help="Methods, separated by commas; METHOD:ldp designs for LDP, METHOD:published takes the "
    "published form.  [default: all that apply]",
)
@click.option(
    "--released",
    is_flag=True,
    help="With --profiles: show and draw what each profile releases, by randomised response and "
    "the smooth mechanism unless --methods names others.",
)
@option_group("utility", UtilityOptions)
@click.option("--seconds", metavar="T", help="Time limit of each search.")
@output_options(csv="Write every point as CSV.", plot="Draw the curves")
def compare_command(
    context: ContextOptions,
    graph: GraphOptions,
    notion: str | None,
    guarantee: GuaranteeOptions,
    epsilons: str,
    at: str | None,
    split: str | None,
    methods: str | None,
    released: bool,
    utility: UtilityOptions,
    seconds: str | None,
    output: OutputOptions,
) -> int:
    """Design with several methods and compare utility against privacy, at equal true leakage.

    Every point is a certified mechanism. Each method gets the budget whose mechanism truly leaks
    what --at says, and no more: an epsilon of LIP and one of LDP do not protect alike. With --at
    epsilon every method gets the same budget, one for LDP only the LDP budget that implies it, and
    published formulas may exceed it. Ctrl-C stops and keeps the finished points (exit code 130).

    \b
    liftlock compare --prior prior.csv --utility histogram --plot tradeoff.png
    liftlock compare --prior prior.csv --utility histogram --at ldp
    liftlock compare --joint joint.csv --split 0.65 --epsilons 1,2,4 --csv out.csv
    liftlock compare --profiles profiles.csv --edges edges.csv
    liftlock compare --profiles profiles.csv --edges edges.csv \\
        --released --epsilons 0.1:2:8 --plot released.png
    """
    note = Notes()
    budgets = read_epsilons(epsilons)
    make: MakeNotion
    if graph.is_given:
        others = {"--notion": notion, "--split": split, "--at": at}
        given = [name for name, value in others.items() if value is not None]
        graph = graph.alone(context, [*given, *guarantee.given_options()])
        make = ProfilePrivacy
    elif released:
        raise click.UsageError("--released goes with --profiles: what does each profile release?")
    else:
        make = _notion_maker(replace(guarantee, notion=notion), split)
        utility.check()
    limit = None if seconds is None else read_seconds(seconds)
    names = None if methods is None else read_methods(methods)
    output.check(context.inputs() | graph.inputs())
    known: Context
    goal: AnyUtility | None
    losses = None
    if graph.is_given:
        known, goal = graph.read(note), utility.utility
        if utility.loss is not None:
            losses = read_square_loss(Path(utility.loss), known.inputs)
        if released and names is None:
            names = list(usual_methods(known))
    else:
        known = context.require(note)
        goal = utility.read(known)
    with interruptible() as stopped, show_steps("comparing") as progress:
        found = compare(
            known,
            make,
            names,
            budgets,
            goal,
            at=at,
            loss=losses,
            seconds=limit,
            progress=progress,
            stopped=stopped,
        )
    if not found.curves:
        raise KeyboardInterrupt
    if found.left_out:
        note(f"interrupted: {found.left_out} of {found.asked} points are missing")
    with write_together():
        if output.csv is not None:
            write_records(output.csv, [{"utility": found.utility} | row for row in found.rows()])
            note(f"points written to {output.csv}")
        if output.plot is not None:
            (draw_released if released else draw_tradeoff)(found, output.plot)
            note(f"picture written to {output.plot}")
    table = released_table if released else comparison_table
    output.show(note, found.to_data, lambda: table(found))
    return INTERRUPTED if found.left_out else 0


def _notion_maker(guarantee: GuaranteeOptions, split: str | None) -> MakeNotion:
    notion = "lip" if guarantee.notion is None else guarantee.notion
    if split is None:
        if notion.strip().lower() == "alip":
            raise click.UsageError("alip takes two budgets: give --split instead of --notion alip")
        asked = replace(guarantee, notion=notion)
        replace(asked, epsilon="1").read()
        return lambda epsilon: replace(asked, epsilon=str(epsilon)).read()
    if guarantee.delta is not None:
        raise click.UsageError("--split sets two budgets, which have no delta: leave out --delta")
    if guarantee.notion is not None and notion.strip().lower() != "alip":
        raise click.UsageError("--split always compares alip: leave out --notion")
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
        return _read_range(text)
    given = [part.strip() for part in text.split(",")]
    for part in given:
        if not part:
            raise InputError(
                "an empty budget in the list", value=text, remedy="write it like 0.5,1,2"
            )
        refuse_infinite("--epsilons", part)
        Budget.of(part, name="--epsilons")
    if len(given) > MOST_BUDGETS:
        raise _too_many_error(len(given))
    return list(dict.fromkeys(given))


def _read_range(text: str) -> list[str]:
    parts = text.split(":")
    if len(parts) != 3:
        raise InputError("a range is FIRST:LAST:COUNT", value=text, remedy="write it like 0.25:4:8")
    first, last, count = (exact(part, name="--epsilons") for part in parts)
    if first < 0 or last <= first:
        raise InputError(
            "the range does not rise from 0 or more", value=text, remedy="write it like 0.25:4:8"
        )
    if count.denominator != 1 or count < 2:
        raise InputError("a range of fewer than 2 budgets", value=text, remedy="COUNT is 2 or more")
    if count > MOST_BUDGETS:
        raise _too_many_error(int(count))
    steps = int(count) - 1
    return [decimal_text(first + (last - first) * Fraction(k, steps)) for k in range(steps + 1)]


def _too_many_error(count: int) -> InputError:
    return InputError(
        f"more than {MOST_BUDGETS} budgets",
        value=count,
        remedy="give fewer: a curve needs about ten",
    )


def read_methods(text: str) -> list[str]:
    """Read a list of methods."""
    names = [part.strip() for part in text.split(",")]
    if not all(names):
        raise InputError(
            "an empty name in the list of methods", value=text, remedy="write a,b,c without gaps"
        )
    return names
