"""What is known of people's values before they answer: of all, of groups, of each, or nothing.

A `Population` is what a question is designed for: people of whom the same is known, and who get the
same mechanism. A question has one, or one for each group or each distinct prior of a panel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from liftlock.collect.survey.fields import Fields, read_list, read_text_value
from liftlock.errors import CountError, InputError, LabelError
from liftlock.exact.numbers import exact
from liftlock.files import read_prior, read_priors
from liftlock.model import Ball, Context, Family, Intervals, Prior
from liftlock.model.alphabet import Alphabet
from liftlock.model.confidence import read_confidence

KNOWN = ("prior", "intervals", "ball", "family")
"""The keys that say what is known of the values; at most one of them is given."""

NOTHING = ("none", "unknown")
"""What may be written for a prior that nobody knows."""


@dataclass(frozen=True)
class Population:
    """People of whom the same is known; `context` is None if nothing is."""

    context: Context | None
    group: str | None = None
    weight: Fraction | None = None
    """By how much each of their numbers counts, where the groups are weighted."""

    @property
    def known(self) -> bool:
        """Whether anything is known of their values."""
        return self.context is not None

    def context_for(self, values: Alphabet) -> Context:
        """Return what a guarantee is proved for: every prior, if nothing is known."""
        return free_context(values) if self.context is None else self.context

    def content(self) -> dict[str, Any]:
        """Return what the survey file says of it."""
        data = {} if self.context is None else context_content(self.context)
        return data | ({} if self.weight is None else {"weight": number_content(self.weight)})


def free_context(values: Alphabet) -> Context:
    """Return the set of all priors."""
    ends = (Fraction(0),) * len(values), (Fraction(1),) * len(values)
    return Intervals(values, *ends)


# --- reading --------------------------------------------------------------------------------------


def read_known(
    fields: Fields, values: Alphabet, shape: Callable[[str], Prior] | None = None
) -> Context | None:
    """Read what is known of the values: at most one of the keys that say it."""
    given = [key for key in KNOWN if key in fields]
    if len(given) > 1:
        fields.mistakes.note(
            fields.place, f"{' and '.join(given)} at once", None, "keep one of them"
        )
    folder = fields.mistakes.source.folder
    sure = fields.raw("confidence"), fields.raw("evidence")
    smoothing = fields.raw("smoothing")
    if smoothing is not None and "prior" not in given:
        fields.mistakes.note(fields.at("smoothing"), "smoothing without a prior", smoothing)
    readers = {
        "prior": lambda value: read_prior_value(value, values, folder, smoothing, shape),
        "intervals": lambda value: read_intervals(value, values, folder, *sure),
        "ball": lambda value: read_ball(value, values, folder),
        "family": lambda value: read_family(value, values, folder),
    }
    if sure != (None, None) and "intervals" not in given:
        fields.mistakes.note(
            fields.place,
            "a confidence without intervals",
            None,
            "leave confidence and evidence out",
        )
    found = [fields.take(key, readers[key], None) for key in KNOWN]
    return next((context for context in found if context is not None), None)


def read_prior_value(
    value: Any,
    values: Alphabet,
    folder: Path,
    smoothing: Any = None,
    shape: Callable[[str], Prior] | None = None,
) -> Context | None:
    """Read a prior: numbers by value, the name of a file, or that there is none.

    For numbers it may be a distribution such as ``normal(50, 10)``, which `shape` reads.

    Whole numbers are counts; others are probabilities and sum to 1, unless they are smoothed.
    """
    if isinstance(value, str) and value.strip().lower() in NOTHING:
        return None
    extra = Fraction(0) if smoothing is None else exact(smoothing, name="smoothing")
    if extra < 0:
        raise InputError("negative smoothing", value=smoothing, remedy="write 0 or more")
    if isinstance(value, str) and shape is not None and "(" in value:
        return shape(value)
    if isinstance(value, str):
        return _read_prior_file(folder / value, values, extra)
    numbers = [number + extra for number in read_numbers(value, values)]
    return prior_of(numbers, values, normalise=bool(extra))


def _read_prior_file(path: Path, values: Alphabet, extra: Fraction) -> Context:
    """Read a prior from a file; with smoothing, values that it does not name count 0 there."""
    found = read_prior(path)
    if not extra:
        return align(found, values)
    known = {label_text(label): n for label, n in zip(found.labels, found.counts, strict=True)}
    texts = [label_text(label) for label in values.labels]
    more = [name for name in known if name not in texts]
    if more:
        raise LabelError("the file has another value", value=more[0], where=str(path))
    return prior_of([known.get(text, 0) + extra for text in texts], values, normalise=True)


def prior_of(numbers: list[Fraction], values: Alphabet, *, normalise: bool = False) -> Prior:
    """Make a prior of numbers in the order of the values."""
    pairs = list(zip(values.labels, numbers, strict=True))
    if all(number.denominator == 1 for number in numbers):
        return Prior(values, Prior.from_counts(pairs).counts)
    total = sum(numbers, Fraction(0))
    if total != 1 and not normalise:
        raise CountError(
            "probabilities do not sum to 1",
            value=f"{float(total):.15g}",
            remedy="correct them, or give counts: whole numbers",
        )
    return Prior(values, Prior.from_probabilities(pairs, normalise=normalise).counts)


def read_numbers(value: Any, values: Alphabet) -> list[Fraction]:
    """Read a number for each value, from a mapping or from a list in the order of the values."""
    return [exact(each, name="number") for each in read_each(value, values)]


def read_each(value: Any, values: Alphabet) -> list[Any]:
    """Return what is written for each value, in their order."""
    if isinstance(value, list):
        listed: list[Any] = value
        if value and all(isinstance(each, list) for each in value):  # row after row of a grid
            listed = [each for row in value for each in row]
        if len(listed) != len(values):
            raise InputError(
                f"{len(listed)} numbers for {len(values)} values", remedy="give one for each value"
            )
        return listed
    if not isinstance(value, Mapping):
        raise InputError(
            "neither numbers by value nor a file",
            value=value,
            remedy="write {value: number, ...}, or the name of a file",
        )
    names = {label_text(label): label for label in values.labels}
    given = {str(key): each for key, each in value.items()}
    unknown = [key for key in given if key not in names]
    missing = [name for name in names if name not in given]
    if unknown or missing:
        raise LabelError(
            "not one of the values" if unknown else "a value without a number",
            value=(unknown or missing)[0],
            remedy=f"the values are {', '.join(list(names)[:8])}",
        )
    return [given[name] for name in names]


def read_intervals(
    value: Any, values: Alphabet, folder: Path, confidence: Any = None, evidence: Any = None
) -> Context:
    """Read a lowest and a highest probability for each value, or a file of them."""
    if isinstance(value, str):
        found = align(read_priors(folder / value), values)
        if not isinstance(found, Intervals):
            raise InputError("not intervals", value=value, remedy="name it as family or ball")
        return found
    pairs = [_read_pair(each) for each in read_each(value, values)]
    lower, upper = (tuple(side) for side in zip(*pairs, strict=True))
    if confidence is None and evidence is None:
        return Intervals(values, lower, upper)
    if confidence is None or evidence is None:
        raise InputError(
            "a confidence and its evidence go together",
            remedy="write both: with what confidence, and over what",
        )
    return Intervals(
        values, lower, upper, 1 - read_confidence(confidence), read_text_value(evidence)
    )


def _read_pair(value: Any) -> tuple[Fraction, Fraction]:
    if not isinstance(value, list) or len(value) != 2:
        raise InputError("not a pair", value=value, remedy="write [lowest, highest]")
    low, high = (exact(each, name="probability") for each in value)
    if not 0 <= low <= high <= 1:
        raise InputError(
            "not an interval of probabilities", value=value, remedy="write [lowest, highest]"
        )
    return low, high


def read_ball(value: Any, values: Alphabet, folder: Path) -> Context:
    """Read a prior, and how far the true one may be from it in total variation."""
    if not isinstance(value, Mapping) or set(map(str, value)) != {"centre", "radius"}:
        raise InputError("not a ball", value=value, remedy="write {centre: {...}, radius: 0.02}")
    centre = read_prior_value(value["centre"], values, folder)
    if not isinstance(centre, Prior):
        raise InputError("a ball without a centre", remedy="give the prior in the middle")
    return Ball.of(centre, value["radius"])


def read_family(value: Any, values: Alphabet, folder: Path) -> Context:
    """Read several priors, or a file of them; the guarantee holds for their mixtures too."""
    if isinstance(value, str):
        return align(read_priors(folder / value), values)
    priors = [read_prior_value(each, values, folder) for each in read_list(value)]
    if not all(isinstance(prior, Prior) for prior in priors):
        raise InputError("a family has a prior that is unknown", remedy="give its numbers")
    return Family.of(prior for prior in priors if isinstance(prior, Prior))


def align(context: Context, values: Alphabet) -> Context:
    """Return a context that was read from a file on the values, whose labels may be numbers."""
    theirs = {label_text(label): label for label in context.inputs.labels}
    ours = [label_text(label) for label in values.labels]
    if sorted(theirs) != sorted(ours):
        lost = [name for name in ours if name not in theirs]
        more = [name for name in theirs if name not in ours]
        raise LabelError(
            "the file lacks a value" if lost else "the file has another value",
            value=(lost or more)[0],
            remedy="let the values of the question and of the file be the same",
        )
    places = [context.inputs.index(theirs[name]) for name in ours]
    if isinstance(context, Prior):
        return Prior(values, tuple(context.counts[place] for place in places))
    if isinstance(context, Intervals):
        return context.selected(values, places)
    if isinstance(context, Ball):
        centre = align(context.centre, values)
        assert isinstance(centre, Prior)
        return Ball(centre, context.radius)
    if isinstance(context, Family):
        members = [align(prior, values) for prior in context.priors]
        return Family.of(prior for prior in members if isinstance(prior, Prior))
    raise InputError("not a prior or a set of priors", value=context.describe())


# --- writing --------------------------------------------------------------------------------------


def context_content(context: Context) -> dict[str, Any]:
    """Return what a survey file says of a context."""
    if isinstance(context, Prior):
        return {"prior": _by_value(context.inputs, context.counts)}
    if isinstance(context, Intervals):
        ends = zip(context.lower, context.upper, strict=True)
        pairs = [[number_content(low), number_content(high)] for low, high in ends]
        sure = (
            {}
            if context.confidence is None
            else {"confidence": number_content(context.confidence), "evidence": context.evidence}
        )
        return {"intervals": _by_value(context.inputs, pairs), **sure}
    if isinstance(context, Ball):
        centre = _by_value(context.centre.inputs, context.centre.counts)
        return {"ball": {"centre": centre, "radius": number_content(context.radius)}}
    if isinstance(context, Family):
        return {"family": [_by_value(prior.inputs, prior.counts) for prior in context.priors]}
    raise InputError("a context that a survey file cannot hold", value=context.describe())


def _by_value(values: Alphabet, numbers: Iterable[Any]) -> dict[str, Any]:
    return {label_text(label): number for label, number in zip(values.labels, numbers, strict=True)}


def number_content(value: Fraction) -> int | str:
    """Write an exact number."""
    return int(value) if value.denominator == 1 else str(value)


def label_text(label: object) -> str:
    """Return a value as keys of a file name it: pairs by their parts.

    >>> label_text("flu"), label_text(3), label_text(("a", 2))
    ('flu', '3', 'a, 2')
    """
    return ", ".join(map(str, label)) if isinstance(label, tuple) else str(label)
