"""What the released column is still good for: what it keeps, and what it confuses."""

from __future__ import annotations

import math

import numpy as np

from liftlock.errors import LiftlockError
from liftlock.mechanism import Mechanism
from liftlock.protection.result import ProtectedColumn
from liftlock.report.amounts import amount, counted
from liftlock.report.html.curves import band
from liftlock.report.html.elements import (
    Content,
    Markup,
    figure,
    markup,
    named,
    table,
    tag,
    written,
)
from liftlock.report.html.figures import percent
from liftlock.report.html.heat import WIDE, Cell, Legend, heat_map
from liftlock.report.html.keeping import Kept
from liftlock.report.html.leak import numbers_of
from liftlock.report.html.tones import STEPS, share_tone
from liftlock.report.released import Released, for_everybody

_MOST_CONFUSED = 20
_DOT = 0.005
"""Less than this is a dot in the picture."""
MOST_ESTIMATED = 128
"""Histograms of more values than this are neither estimated nor drawn here."""


def utility_section(column: ProtectedColumn, made: Mechanism, key: str) -> Markup:
    """Say what is kept of a column."""
    kept = Kept.of(made)
    parts: list[Content] = [tag("h3", "What the released column is still good for")]
    if kept is None:
        parts.append(
            tag(
                "p",
                "Reports are encodings, not values. They are read with ",
                tag("code", "liftlock estimate"),
                ".",
            )
        )
        return markup(*parts)
    parts.append(_facts(kept, made, column))
    parts.append(_picture(kept, column, key))
    return markup(*parts)


def _facts(kept: Kept, made: Mechanism, column: ProtectedColumn) -> Markup:
    part, whole = kept.information()
    share = part / whole if whole else 1.0
    right, blind = kept.guessed()
    rows: list[list[Content]] = [
        [
            "Information kept about the true value",
            percent(share),
            f"mutual information {amount(part, 5)} of {amount(whole, 5)} nats",
        ]
    ]
    true = kept.true_share()
    if true is not None:
        rows.append(["The released value is the true one", percent(true), "on average over people"])
    rows.append(
        [
            "The true value can be guessed from the released one",
            percent(right),
            f"without seeing it: {percent(blind)}",
        ]
    )
    rows += _errors(kept, made, column)
    caption = "How much is kept"
    if made.known_prior is None:
        caption += ", under one of the priors that are possible"
    return table(caption, ["What", "Value", "Compared with"], rows, numbers=(1,))


def _errors(kept: Kept, made: Mechanism, column: ProtectedColumn) -> list[list[Content]]:
    rows: list[list[Content]] = []
    for words, error, nothing in _off_by(kept, made):
        rows.append([words, amount(error, 5), f"one number for everybody: {amount(nothing, 5)}"])
    people = sum(column.counts.values())
    if people and made.known_prior is not None and len(made.channel.inputs) <= MOST_ESTIMATED:
        try:
            found = made.expected_error(people, method="unbiased")
        except LiftlockError:
            return rows
        rows.append(
            [
                "Typical error of a count estimated from the released values",
                f"{amount(math.sqrt(found.total_squared / len(found.names)), 3)} people",
                f"of {people:,}; root mean square over all values",
            ]
        )
    return rows


def _off_by(kept: Kept, made: Mechanism) -> list[tuple[str, float, float]]:
    """Return how far released numbers are from the truth, and how far one number for all is."""
    points, numbers = numbers_of(kept.channel.inputs), numbers_of(kept.channel.outputs)
    if points is None or numbers is None:
        return []
    found = Released.of(made)
    if found is not None:
        absolute = (found.absolute, found.nothing_absolute)
        squared = (found.squared, found.nothing_squared)
    else:
        apart = np.abs(points[:, None] - numbers)
        joint = kept.masses[:, None] * kept.matrix
        middle = for_everybody(kept.masses, points, "median")
        mean = for_everybody(kept.masses, points, "mean")
        absolute = (float((joint * apart).sum()), float(kept.masses @ np.abs(points - middle)))
        squared = (float((joint * apart**2).sum()), float(kept.masses @ (points - mean) ** 2))
    return [
        ("A released number is off by, on average", *absolute),
        ("Its root mean squared error", math.sqrt(squared[0]), math.sqrt(squared[1])),
    ]


# --- what is released for what --------------------------------------------------------------------


def _picture(kept: Kept, column: ProtectedColumn, key: str) -> Markup:
    points = numbers_of(kept.channel.inputs)
    numbers = numbers_of(kept.channel.outputs)
    if points is not None and numbers is not None and len(points) > _MOST_CONFUSED:
        drawing = band(points, kept.masses, kept.matrix, numbers, name=column.name, key=key)
        caption = markup(
            "For each true ",
            named(column.name),
            " (across), what is released (upwards): the line is the middle, the dark band holds "
            "half of the releases and the light band nine in ten. The dashed line would be the "
            "truth. Noise pulls rare values towards the common ones. The lowest and the highest "
            "per cent of people are left out of the picture.",
        )
        return figure(drawing, caption)
    return _confusion(kept, column, key)


def _confusion(kept: Kept, column: ProtectedColumn, key: str) -> Markup:
    shares = kept.masses @ kept.matrix
    rows = np.sort(np.argsort(-kept.masses, kind="stable")[:_MOST_CONFUSED])
    columns = np.sort(np.argsort(-shares, kind="stable")[:_MOST_CONFUSED])
    cells = []
    for x in rows:
        drawn = []
        for y in columns:
            share = float(kept.matrix[x, y])
            names = f"{written(kept.inputs[x])} released as {written(kept.outputs[y])}"
            hint = f"{names}: {percent(share)}"
            text = "" if share == 0 else "·" if share < _DOT else f"{100 * share:.0f}"
            drawn.append(
                Cell(
                    "m" if share < _DOT else share_tone(share),
                    text,
                    hint,
                    kept.inputs[x] == kept.outputs[y],
                )
            )
        cells.append(drawn)
    tones = ("m", *(f"s{step}" for step in range(1, STEPS + 1)))
    marks = tuple(
        ((step + 0.5) / len(tones), f"{100 * (step / STEPS) ** 2:.0f} %")
        for step in (0, 2, 4, 6, 8)
    )
    true = kept.true_share()
    picture = heat_map(
        [kept.inputs[x] for x in rows],
        [kept.outputs[y] for y in columns],
        cells,
        row_title="true value",
        column_title="released value",
        title=f"What is released for each true {column.name}",
        description="Rows are true values, columns released values, cells the probability in per "
        "cent. "
        + ("" if true is None else f"On average the true value is released with {percent(true)}."),
        legend=Legend("probability, in per cent", tones, marks),
        key=key,
    )
    caption: list[Content] = [
        "Of people with the true ",
        named(column.name),
        (
            " of a row, so many in a hundred are released as each column. A dot is less than half "
            "a per cent, an empty cell never happens. Frames mark where the released value is the "
            "true one."
        ),
    ]
    if len(rows) < len(kept.inputs) or len(columns) < len(kept.outputs):
        caption.append(
            f" Shown are the {len(rows)} most common of {counted(len(kept.inputs), 'true value')} "
            f"and the {len(columns)} most common of "
            f"{counted(len(kept.outputs), 'released value')}."
        )
    return figure(picture, caption, kind="wide" if len(columns) > WIDE else "")
