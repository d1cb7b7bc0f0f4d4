"""What the guarantees do not cover, in plain words."""

from __future__ import annotations

from liftlock.protection.result import Protection
from liftlock.report.html.elements import Content, Markup, listed, tag


def limits_section(protection: Protection) -> Markup:
    """Say what must not be expected of this release."""
    own = any(column.mechanism.per_user for column in protection.columns)
    items = [
        _confidential(protection),
        _item(
            "One release of each person.",
            "Releasing the same people again, from the same or a later table, tells more. The "
            "leakage of repeated releases is not simply the sum: it can be larger. Keep the first "
            "release and use it again.",
        ),
        _item(
            "Other columns.",
            "Each guarantee is about one released column",
            ", or about those that were accounted for together. " if protection.combined else ". ",
            "Other columns of the same person, in this table or another, may tell more about the "
            "secret; no noise in one column can undo that.",
        ),
        _item(
            "What the observer knows already.",
            "Guarantees about probabilities hold for an observer whose expectations are those that "
            "are assumed above. Someone who knows more about a person, or expects something else, "
            "may learn more. How much more under another prior can be computed with ",
            tag("code", "liftlock audit --prior"),
            " or ",
            tag("code", "--joint"),
            ".",
        ),
        _item(
            "Small groups.",
            "Where a combination of values is rare, few people decide about its count, and what "
            "is assumed about it may be far from the truth for other people of the same kind.",
        ),
        _item(
            "Probabilities are not hidden; their change is limited.",
            "What was probable before the release may stay probable after it.",
        ),
        _item(
            "Outside of the table.",
            "The time at which something was released, who sent it, the order of rows, and other "
            "traces are not covered. Rows keep their order.",
        ),
    ]
    if own:
        items.append(
            _item(
                "Priors of single people.",
                "A prior from a model is itself a statement about a person. It protects against "
                "observers who have that model, and must not be passed on with the release.",
            )
        )
    return tag(
        "section",
        tag("h2", "What is not promised", id="limits"),
        tag("ul", items, class_="limits"),
    )


def _confidential(protection: Protection) -> Markup:
    learned = [column.name for column in protection.columns if column.learned]
    if learned:
        return _item(
            "This report and the mechanism files are confidential.",
            "They contain counts of the original table, since what is assumed about ",
            listed(learned),
            " was counted there. Treat them like the table itself. Only the released table is "
            "meant to be passed on.",
        )
    measured = any(column.in_table is not None for column in protection.columns)
    if protection.kept or protection.combined or measured:
        return _item(
            "This report is confidential.",
            "What it says about this table's own counts, about several columns together, or about "
            "columns that were kept, was measured in the original table. The mechanism files "
            "contain only what was assumed.",
        )
    return _item(
        "This report and the mechanism files contain what was assumed.",
        "They may be passed on if those statistics may. The counts of released values in this "
        "report say no more than the released table does.",
    )


def _item(head: str, *body: Content) -> Markup:
    return tag("li", tag("strong", head), " ", *body)
