"""`liftlock designs`: the methods of design, their requirements and guarantees."""

from __future__ import annotations

from typing import Any

import click

from liftlock.cli._console import show, show_json
from liftlock.designs.base import LIFT_NOTIONS, Design, option_meanings
from liftlock.designs.catalogue import DESIGNS, designs_for, find_design
from liftlock.report.text.design import design_page, designs_table


@click.command("designs")
@click.argument("method", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: a list, or one object.")
def designs_command(method: str | None, as_json: bool) -> int:
    """List the methods of `liftlock design`, or describe one METHOD.

    \b
    liftlock designs
    liftlock designs optimal
    """
    if method is not None:
        entry = find_design(method)
        if as_json:
            show_json(entry_data(entry))
        else:
            show(design_page(entry, option_meanings(entry)))
        return 0
    if as_json:
        show_json([entry_data(entry) for entry in DESIGNS.values()])
        return 0
    profiles = designs_for("profiles")
    show(designs_table({key: DESIGNS[key] for key in DESIGNS if key not in profiles}))
    show("")
    show("for graphs of profiles (liftlock design --profiles):")
    show(designs_table(profiles))
    show("")
    *names, last = LIFT_NOTIONS
    show(f"lifts are {', '.join(names)} and {last}; `liftlock designs METHOD` says more")
    if not all(entry.keeps for entry in DESIGNS.values()):
        show("* published formula that may exceed its budget: needs --as-published")
    return 0


def entry_data(entry: Design) -> dict[str, Any]:
    """Return the JSON form of a design."""
    return {
        "method": entry.key,
        "says": entry.summary,
        "promises": entry.promises,
        "keeps": entry.keeps,
        "needs": entry.needs,
        "uses_utility": entry.uses_utility,
        "notions": list(entry.notions),
        "contexts": list(entry.contexts),
        "options": option_meanings(entry),
        "source": entry.source,
        "published": list(entry.published),
    }
