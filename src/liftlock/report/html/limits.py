"""What the guarantees do not cover, in plain words."""

from __future__ import annotations

from liftlock.local.mechanism import LocalMechanism
from liftlock.protection.result import Protection
from liftlock.report.html.elements import Content, Markup, listed, tag


def limits_section(protection: Protection) -> Markup:
    """Say what must not be expected of this release."""
    learned = [column.name for column in protection.columns if column.learned]
    own = any(isinstance(column.mechanism, LocalMechanism) for column in protection.columns)
    points: list[tuple[str, Content]] = []
    if learned:
        points.append(
            (
                "This report and the mechanism files are confidential.",
                [
                    "They contain counts of the original table, since what is assumed about ",
                    listed(learned),
                    (
                        " was counted there. Treat them like the table itself. Only the released table "
                        "is meant to be passed on."
                    ),
                ],
            )
        )
    else:
        points.append(
            (
                "This report and the mechanism files contain what was assumed.",
                (
                    "If those statistics are public, so may these be; counts of released values in "
                    "this report say no more than the released table does."
                ),
            )
        )
    points += [
        (
            "One release of each person.",
            (
                "Releasing the same people again, from the same or a later table, tells more. The "
                "leakage of repeated releases is not simply the sum: it can be larger. Keep the first "
                "release and use it again."
            ),
        ),
        (
            "Other columns.",
            "Each guarantee is about one released column"
            + (
                ", or about the columns that were accounted for together. "
                if protection.combined
                else ". "
            )
            + "Other columns of the same person, in this table or another, may tell more about the "
            "secret; no noise in one column can undo that.",
        ),
        (
            "What the observer knows already.",
            (
                "Guarantees about probabilities hold for an observer whose expectations are those "
                "that are assumed above. Someone who knows more about a person, or expects something "
                "else, may learn more. "
                "How much more can be computed: see Under another prior in the documentation."
            ),
        ),
        (
            "Small groups.",
            (
                "Where a combination of values is rare, few people decide about its count, and what "
                "is assumed about it may be far from the truth for other people of the same kind."
            ),
        ),
        (
            "A probability is not hidden, only its change is limited.",
            "If something was probable beforehand, it may stay probable.",
        ),
        (
            "Outside of the table.",
            (
                "The time at which something was released, who sent it, the order of rows, and other "
                "traces are not covered. Rows keep their order."
            ),
        ),
    ]
    if own:
        points.append(
            (
                "Priors of single people.",
                (
                    "A prior from a model is itself a statement about a person. It protects against "
                    "observers who have that model, and must not be passed on with the release."
                ),
            )
        )
    items = [tag("li", tag("strong", head), " ", body) for head, body in points]
    return tag(
        "section",
        tag("h2", "What is not promised", id="limits"),
        tag("ul", items, class_="limits"),
    )
