"""A plan as text: how precise answers will be, and how many people they take."""

from __future__ import annotations

import math

from rich.console import Group, RenderableType
from rich.text import Text

from liftlock.designs.plan import Plan, PlanOption
from liftlock.estimate.expected import ExpectedError
from liftlock.report.format import amount, grid_of, printable, shown


def plan_report(found: Plan) -> RenderableType:
    """Return the table of a plan, and what its columns mean."""
    grid = grid_of()
    grid.add_column("way of asking", overflow="fold")
    grid.add_column("without the prior", justify="right", no_wrap=True)
    if found.margin is not None:
        wanted = f"people for {precision_text(found, float(found.margin))}"
        grid.add_column(wanted, justify="right", no_wrap=True)
    grid.add_column("if the prior is\nexactly right", justify="right", no_wrap=True)
    grid.add_column("held if one share\nis one point off", justify="right", no_wrap=True)
    for option in found.options:
        cells = [_margin(found, option.free)]
        if found.margin is not None:
            cells.append(_people(option.free, option.people_needed(found.margin)[1]))
        cells += [_margin(found, option.leaning), _held(option)]
        grid.add_row(Text(printable(option.name)), *cells)
    who = "1 person" if found.people == 1 else f"{found.people:,} people"
    head = f"{asked_text(found)} from {who}, {100 * found.level:g} % intervals"
    words = [
        Text(
            "without the prior: unbiased estimates of the population that the people are drawn "
            "from, whatever the prior was; plan by these"
        ),
        Text(
            "if the prior is exactly right: Bayes estimates for the people who report, and in how "
            "many runs the worst interval holds the truth if one share is one point off"
        ),
    ]
    words += [Text(printable(remark), style="dim") for remark in found.remarks]
    words += [
        Text(f"{printable(option.name)}: {printable(option.why)}", style="dim")
        for option in found.options
        if option.why
    ]
    hints = _hints(found)
    if hints:
        words += [Text(), Text("To make them, with the --prior and the budget of this plan:")]
        words += [Text(hint) for hint in hints]
    return Group(Text(head, style="bold"), Text(), grid, Text(), *words)


def _held(option: PlanOption) -> str:
    if option.drifted is None:
        return "-"
    # Rounded down: it is a promise.
    return f"{math.floor(100 * option.drifted + 1e-9)} %"


def _hints(found: Plan) -> list[str]:
    """Return how to design the mechanisms that are not made by default."""
    if found.of == "survey":
        return []
    hints = []
    for option in found.options:
        if option.mechanism is None:
            continue
        own = "".join(f" --option {name}={value}" for name, value in option.options.items())
        notion = "" if option.mechanism.notion.ratio_limit is None else " --notion ldp"
        goal = f" --utility {option.utility}" if option.method == "optimal" else ""
        hints.append(f"  liftlock design{notion}{goal} --method {option.method}{own}")
    return list(dict.fromkeys(hints))


def asked_text(found: Plan) -> str:
    """Say what is estimated."""
    number = len(found.names)
    every = "both" if number == 2 else f"all {number:,}"
    return {
        "histogram": f"the shares of {every} values at once (margins of the worst)",
        "survey": f"the share of {shown(found.names[0])}",
        "mean": "the mean number",
    }[found.of]


def precision_text(found: Plan, margin: float) -> str:
    """Write a margin with its unit."""
    if is_share(found):
        return f"±{amount(100 * margin)} %"
    return f"±{amount(margin)}"


def _margin(found: Plan, error: ExpectedError | None) -> str:
    if error is None:
        return "-"
    if error.margin == 0:
        return "exact"
    if math.isinf(error.margin):
        return "infinite"
    # No share is off by more than all of it.
    margin = min(error.margin, 1.0) if is_share(found) else error.margin
    return precision_text(found, float(f"{margin:.3g}"))


def _people(error: ExpectedError | None, needed: int | None) -> str:
    if error is None:
        return "-"
    return "hopeless" if needed is None else f"{needed:,}"


def is_share(found: Plan) -> bool:
    """Tell whether what is estimated is a share of people."""
    return found.of in ("histogram", "survey")
