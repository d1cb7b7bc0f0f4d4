"""What the answers to several questions have in common, where it is known: a joint prior of them.

    joint:
      questions: [smokes, drinks]
      counts: [[yes, yes, 30], [yes, no, 10], [no, yes, 20], [no, no, 40]]

or ``file: joint.csv``, with a column for each of its questions and one called ``count`` or
``probability``. Combinations that are not listed never occur.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from liftlock.collect.survey.context import label_text
from liftlock.errors import FileError, InputError, LabelError
from liftlock.exact.numbers import exact
from liftlock.files import read_sheet
from liftlock.model import Prior
from liftlock.model.alphabet import Alphabet, Label

if TYPE_CHECKING:
    from liftlock.collect.survey.question import Question

NUMBERS = ("count", "probability")
MOST_LISTED = 100_000
_FEWEST = 2


@dataclass(frozen=True)
class AnswersJoint:
    """A joint prior over tuples of the answers to some questions, in their order."""

    questions: tuple[str, ...]
    prior: Prior

    def content(self) -> dict[str, Any]:
        """Return what a survey file says of it."""
        rows = [
            [*(label_text(part) for part in _parts(label)), count]
            for label, count in zip(self.prior.labels, self.prior.counts, strict=True)
        ]
        return {"questions": list(self.questions), "counts": rows}


def read_joint(value: Any, questions: Sequence[Question], folder: Path) -> AnswersJoint:
    """Read the joint of a survey; its questions must be among those that are asked."""
    if not isinstance(value, Mapping) or not {"counts", "file"} & set(value):
        raise InputError(
            "not a joint of answers",
            value=value,
            remedy="write {questions: [a, b], counts: [[yes, no, 10], ...]}, or {file: joint.csv}",
        )
    unknown = set(map(str, value)) - {"questions", "counts", "file"}
    if unknown or len({"counts", "file"} & set(value)) > 1:
        raise InputError(
            "unknown key of a joint" if unknown else "counts and a file at once",
            value=min(unknown, default=None),
            remedy="known keys are questions, and counts or file",
        )
    if "file" in value:
        names, rows = _read_file(folder / str(value["file"]))
        names = [str(name) for name in value.get("questions") or names]
    else:
        names = [str(name) for name in value.get("questions") or [q.name for q in questions]]
        rows = [list(row) if isinstance(row, list) else [row] for row in value["counts"] or []]
    by_name = {question.name: question for question in questions}
    for name in names:
        if name not in by_name or names.count(name) > 1:
            raise InputError(
                "a joint of a question that is not asked" if name not in by_name else "named twice",
                value=name,
                remedy=f"the questions are {', '.join(by_name)}",
            )
    if len(names) < _FEWEST:
        raise InputError("a joint of one question", remedy="that is its prior: name two or more")
    return AnswersJoint(tuple(names), _prior([by_name[name].values for name in names], rows))


def _prior(values: Sequence[Alphabet], rows: Sequence[Sequence[Any]]) -> Prior:
    """Return the prior over tuples; each row has one value of every question, and a number."""
    if not rows or len(rows) > MOST_LISTED:
        raise InputError(
            f"{len(rows):,} combinations of answers", remedy=f"list 1 to {MOST_LISTED:,}"
        )
    named = [{label_text(label): label for label in each.labels} for each in values]
    found: dict[tuple[Label, ...], Fraction] = {}
    for place, row in enumerate(rows, start=1):
        if len(row) != len(values) + 1:
            raise InputError(
                f"a combination of {len(row) - 1} answers to {len(values)} questions",
                where=f"row {place}",
                value=list(row),
                remedy="write one value of each question, then the number",
            )
        label = []
        for known, value in zip(named, row, strict=False):
            if str(value) not in known:
                raise LabelError(
                    "not one of the values",
                    where=f"row {place}",
                    value=value,
                    remedy=f"the values are {', '.join(list(known)[:8])}",
                )
            label.append(known[str(value)])
        key = tuple(label)
        if key in found:
            raise InputError("a combination is listed twice", where=f"row {place}", value=list(row))
        found[key] = exact(row[-1], name="number")
    return Prior.from_counts({key: number for key, number in found.items() if number})


def _read_file(path: Path) -> tuple[list[str], list[list[Any]]]:
    """Read a CSV with a column for each question, and one for the number."""
    sheet = read_sheet(path)
    numbers = [name for name in sheet.header if name in NUMBERS]
    if len(numbers) != 1:
        raise FileError(
            "no column of numbers",
            where=sheet.where(sheet.header_line),
            value=sheet.header,
            remedy="call one column count, or probability, and each other one like its question",
        )
    place = sheet.column(numbers[0])
    order = [column for column in range(len(sheet.header)) if column != place]
    rows: list[list[Any]] = [
        [*(cells[column] for column in order), sheet.number(line, place, cells[place])]
        for line, cells in sheet.rows
    ]
    return [sheet.header[column] for column in order], rows


def _parts(label: Label) -> tuple[Label, ...]:
    assert isinstance(label, tuple)
    return label
