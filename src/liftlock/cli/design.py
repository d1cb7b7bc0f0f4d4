"""`liftlock design`: the best mechanism for a context, certified, with what it is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from liftlock._solver.problem import Step as SolverStep
from liftlock._solver.strategies import explained
from liftlock.cli.asked import (
    budget_options,
    check_different,
    check_explained,
    check_output,
    check_utility,
    chosen_options,
    delta_options,
    given_context,
    own_options,
    read_gap,
    read_notion,
    read_utility,
    utility_options,
)
from liftlock.cli.console import Notes, show, show_json, warn, working
from liftlock.cli.options import (
    FILE,
    bits_option,
    context_options,
    mechanism_option,
    method_option,
    require_gap_option,
)
from liftlock.cli.profiles.design import design_graph
from liftlock.cli.profiles.options import (
    graph_files,
    graph_options,
    is_given,
    refuse_beside_profiles,
)
from liftlock.contexts import Context
from liftlock.designs.api import design, design_as_published, usual_method
from liftlock.designs.base import Design, check_fits
from liftlock.designs.best_design import best
from liftlock.designs.catalogue import find_design
from liftlock.designs.comparison import fitting
from liftlock.designs.yardstick import Yardstick, yardsticks
from liftlock.errors import InputError, LiftlockError, NotDefined
from liftlock.forms import SupportChannel
from liftlock.line.grid import GridPrior
from liftlock.mechanism import Mechanism
from liftlock.notions.base import Notion
from liftlock.progress import Step
from liftlock.report.design import design_report, explanation
from liftlock.report.numeric import draw_numbers
from liftlock.report.pictures import check_picture
from liftlock.report.released import number_data
from liftlock.utility.utility import Utility, restricted


@click.command("design", short_help="Design a certified mechanism for what you know.")
@context_options
@graph_options
@budget_options
@delta_options
@click.option("--alpha", metavar="A", help="The order, for notions of one such as alpha_lift.")
@utility_options
@click.option(
    "--method",
    metavar="METHOD",
    help="How to make it; `liftlock designs` lists all.  [default: optimal, or the best of all "
    "that fit]",
)
@click.option("--gap", metavar="G", help="Stop at this proved relative gap (method optimal).")
@click.option("--seconds", metavar="T", help="Stop after T seconds with the best found so far.")
@require_gap_option
@method_option
@click.option(
    "--as-published",
    is_flag=True,
    help="Make a published formula as it is, certified for what it truly guarantees.",
)
@mechanism_option
@bits_option
@click.option(
    "--plot",
    type=FILE,
    metavar="PICTURE",
    help="Draw what is released for what, for numbers, or the graph of profiles (.png, .svg or "
    ".pdf).",
)
@click.option(
    "--explain",
    is_flag=True,
    help="Say how it was solved: what made the problem smaller, which strategy was taken, and why.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def design_command(
    notion: str | None,
    epsilon: str | None,
    epsilon_lower: str | None,
    epsilon_upper: str | None,
    delta: str | None,
    form: str | None,
    alpha: str | None,
    utility: str | None,
    loss: str | None,
    method: str | None,
    gap: str | None,
    seconds: str | None,
    required: str | None,
    of_the_method: tuple[str, ...],
    as_published: bool,
    output: Path | None,
    bits: int,
    plot: Path | None,
    explain: bool,
    as_json: bool,
    profiles: Path | None,
    edges: Path | None,
    groups: Path | None,
    graph: Any,
    **context_paths: Any,
) -> int:
    """Design a mechanism for a context and a budget, prove it, and say what it is worth.

    The context is a prior (the secret is the value itself), a joint of a secret and the value, a
    set of priors, or a graph of profiles (--profiles). What the method proposes is rounded to
    integers and audited exactly; a mechanism that is written keeps its guarantee. Ctrl-C stops a
    long search with the best found so far.

    \b
    liftlock design --prior prior.csv --epsilon 1 --utility histogram -o safe.json
    liftlock design --joint joint.csv --epsilon-lower 1.3 --epsilon-upper 0.7
    liftlock design --prior prior.csv --epsilon 1 --method safe-response
    liftlock design --prior staff.csv --column pay --domain 0:300000 --epsilon 1
    liftlock design --joint joint.csv --epsilon 1 --explain
    liftlock design --profiles profiles.csv --edges edges.csv --epsilon 1

    Exit code 1: the method breaks the budget (see --as-published), or --require-gap; 2: bad input.
    """
    files = graph_files(profiles, edges, groups, graph)
    if is_given(files):
        if notion is not None and notion.strip().lower() != "profile":
            raise click.UsageError("a graph of profiles has the notion profile: leave out --notion")
        refuse_beside_profiles(
            {f"--{name.replace('_', '-')}": given for name, given in context_paths.items()}
            | {
                "--epsilon-lower": epsilon_lower,
                "--epsilon-upper": epsilon_upper,
                "--delta": delta,
                "--form": form,
                "--alpha": alpha,
                "--gap": gap,
                "--require-gap": required,
                "--as-published": as_published,
            }
        )
        return design_graph(
            files,
            epsilon=epsilon,
            method=method,
            utility=utility,
            loss=None if loss is None else Path(loss),
            weights=None,
            seconds=seconds,
            of_the_method=of_the_method,
            output=output,
            bits=bits,
            plot=plot,
            compared=True,
            explain=explain,
            as_json=as_json,
        )
    note = Notes()
    guarantee = read_notion(notion, epsilon, epsilon_lower, epsilon_upper, alpha, delta, form)
    key = usual_method(guarantee) if method is None else method
    entry = None if key is None else find_design(key)
    check_utility(utility, loss)
    options = chosen_options(entry, gap, seconds, of_the_method)
    most = None if required is None else read_gap(required, "--require-gap")
    if as_published:
        check_published(entry)
    steps: list[SolverStep] = []
    if explain:
        check_explained(entry)
        options["explain"] = steps.append
    if output is not None:
        check_output(output, context_paths)
    if plot is not None:
        check_picture(plot)
        check_output(plot, context_paths, "--plot")
        check_different(output, plot)
    context = given_context(context_paths, note)
    if plot is not None and not isinstance(context, GridPrior):
        raise click.UsageError("--plot is for numbers; a table is drawn by liftlock audit --plot")
    if entry is not None:
        check_method(entry, context, guarantee, named=method is not None)
    goal = read_utility(utility, loss, context)
    with working("designing") as progress:
        if entry is not None and entry.accepts("watch"):
            options["watch"] = progress
        try:
            if entry is None:
                made = best(context, guarantee, utility=goal, bits=bits, watch=progress, **options)
            else:
                make = design_as_published if as_published else design
                made = make(
                    context, guarantee, utility=goal, method=entry.key, bits=bits, **options
                )
        except (TypeError, ValueError, AttributeError) as error:
            if isinstance(error, LiftlockError) or not of_the_method:
                raise
            raise _unusable(entry, of_the_method, error) from None
        assert made.origin is not None
        if most is not None:
            made.origin.require(most)
        if plot is not None and isinstance(made.channel, SupportChannel):
            raise InputError(
                "--plot is for mechanisms that release numbers, and this method releases sets",
                value=made.origin.method,
                remedy="leave out --plot: liftlock audit --plot draws its lifts",
            )
        progress(Step("comparing"))
        places = [context.inputs.index(label) for label in made.context.inputs.labels]
        others = yardsticks(made, restricted(goal, places, len(context.inputs)))
        report = design_report(made, others)
        # Last, when nothing can fail any more but the writing itself.
        if output is not None:
            made.save(output)
            note(f"written to {output}")
        if plot is not None:
            progress(Step("drawing"))
            draw_numbers(made, plot)
            note(f"picture written to {plot}")
    if as_json:
        data = design_data(made, goal, others, output, note.texts)
        if explain:
            data["explanation"] = [asdict(step) for step in explained(steps)]
        show_json(data)
    else:
        show(report)
        if explain:
            show(explanation(explained(steps)))
    note.show()
    if made.origin.warning:
        warn(made.origin.warning)
    return 0


def _unusable(entry: Design | None, given: Sequence[str], error: Exception) -> InputError:
    if entry is None:
        return InputError(
            f"a method cannot use this option: {error}",
            value=list(given),
            remedy="name the --method that it is for",
        )
    return InputError(
        f"the method {entry.key} cannot use this option: {error}",
        value=list(given),
        remedy=f"it takes {', '.join(own_options(entry)) or 'none'}; "
        f"see liftlock designs {entry.key}",
    )


def check_method(entry: Design, context: Context, guarantee: Notion, *, named: bool) -> None:
    """Refuse a method that does not fit, and say whether another would."""
    try:
        check_fits(entry, context, guarantee)
    except NotDefined as error:
        if not named or not fitting(context, guarantee):
            raise
        remedy = f"{error.remedy}; leave out --method to have one that fits chosen"
        raise NotDefined(error.notion, error.context, remedy) from None


def check_published(entry: Design | None) -> None:
    """Refuse --as-published for a method that keeps what it is given."""
    if entry is None:
        raise click.UsageError("--as-published makes one formula as it is: give --method")
    if entry.keeps and not entry.accepts("as_published"):
        raise InputError(
            "--as-published is for published formulas that may break their budget",
            value=entry.key,
            remedy=f"leave it out: {entry.key} keeps the budget it is given",
        )


def design_data(
    made: Mechanism,
    goal: Utility,
    others: Sequence[Yardstick],
    output: Path | None,
    notes: Sequence[str],
) -> dict[str, Any]:
    """Return the JSON form of what was designed, without the table itself."""
    origin = made.origin
    assert origin is not None
    return {
        "format": "liftlock.design",
        "version": 1,
        "method": origin.method,
        "utility": {
            "name": origin.utility,
            "title": origin.title,
            "larger_is_better": goal.larger_is_better,
        },
        "objective": origin.objective,
        "bound": origin.bound,
        "gap": origin.gap,
        "warning": origin.warning or None,
        "inputs": len(made.channel.inputs),
        "outputs": made.channel.output_number,
        "certificate": made.certificate.to_data(),
        "comparison": [other.to_data() for other in others],
        "remarks": list(origin.remarks),
        "numbers": number_data(made),
        "file": None if output is None else str(output),
        "notes": list(notes),
    }
