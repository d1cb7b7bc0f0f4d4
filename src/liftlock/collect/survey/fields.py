"""The keys of a survey file, taken one by one; every mistake is noted, and all are told at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, TypeVar

from liftlock.collect.survey.file import Place, Source
from liftlock.errors import FileError, InputError, LiftlockError

T = TypeVar("T")

_TOLD = 12


class SurveyError(FileError):
    """A survey that cannot be carried out as it is written; `mistakes` has all that was found."""

    def __init__(self, mistakes: Sequence[LiftlockError], where: str = "") -> None:
        self.mistakes = tuple(mistakes)
        if len(mistakes) == 1 and isinstance(mistakes[0], InputError):
            only = mistakes[0]
            super().__init__(only.what, where=only.where, value=only.value, remedy=only.remedy)
            return
        told = [f"({number}) {each}" for number, each in enumerate(mistakes[:_TOLD], start=1)]
        more = len(mistakes) - _TOLD
        told += [f"and {more} more"] if more > 0 else []
        super().__init__(
            f"{len(mistakes)} mistakes{f' in {where}' if where else ''}: {' '.join(told)}"
        )


@dataclass
class Mistakes:
    """What is wrong with a survey, in the order in which it was found."""

    source: Source
    found: list[LiftlockError] = field(default_factory=list)

    def where(self, place: Place) -> str:
        """Name a place: the line if it is known, the question, and the keys in it."""
        parts = [self.source.where] if self.source.where else []
        line = next(
            (
                self.source.lines[place[:size]]
                for size in range(len(place), 0, -1)
                if place[:size] in self.source.lines
            ),
            None,
        )
        parts += [f"line {line}"] if line is not None else []
        if len(place) > 1 and place[0] == "questions":
            parts.append(self._question(place[1]))
            place = place[2:]
        if place:
            parts.append(".".join(map(str, place)))
        return ", ".join(parts)

    def _question(self, number: str | int) -> str:
        every = self.source.data.get("questions") if isinstance(self.source.data, dict) else None
        named = None
        if isinstance(every, list) and isinstance(number, int) and isinstance(every[number], dict):
            named = every[number].get("name")
        if isinstance(named, str):
            return f"question {named!r}"
        return f"question {number + 1}" if isinstance(number, int) else f"question {number!r}"

    def note(self, place: Place, what: str, value: object = None, remedy: str = "") -> None:
        """Note a mistake."""
        self.found.append(FileError(what, where=self.where(place), value=value, remedy=remedy))

    def note_error(self, place: Place, error: LiftlockError) -> None:
        """Note what was refused while a value was being understood."""
        if isinstance(error, SurveyError):
            self.found.extend(error.mistakes)
        elif isinstance(error, InputError):
            where = self.where(place)
            if error.where and not error.where.startswith(where):
                where = f"{where}, {error.where}"
            self.found.append(
                FileError(error.what, where=where, value=error.value, remedy=error.remedy)
            )
        else:
            self.found.append(FileError(str(error), where=self.where(place)))

    def refuse(self) -> None:
        """Raise what was found, if anything was."""
        if self.found:
            raise SurveyError(self.found, self.source.where)


class Fields:
    """The keys of one mapping."""

    def __init__(self, data: Any, place: Place, mistakes: Mistakes) -> None:
        self.place, self.mistakes = place, mistakes
        self.taken: dict[str, None] = {}
        self.data: Mapping[str, Any] = {}
        if isinstance(data, Mapping):
            self.data = {str(key): value for key, value in data.items()}
        else:
            mistakes.note(place, "not a mapping of keys to values", data, "write key: value")

    def __contains__(self, key: str) -> bool:
        return self.data.get(key) is not None

    def at(self, key: str) -> Place:
        """Return the place of a key."""
        return (*self.place, key)

    def raw(self, key: str) -> Any:
        """Take a key as it is; None if it is missing or empty."""
        self.taken[key] = None
        return self.data.get(key)

    def take(self, key: str, read: Callable[[Any], T], otherwise: T) -> T:
        """Take a key and read its value; what is refused is noted."""
        value = self.raw(key)
        if value is None:
            return otherwise
        try:
            return read(value)
        except LiftlockError as error:
            self.mistakes.note_error(self.at(key), error)
            return otherwise

    def require(self, key: str, read: Callable[[Any], T], otherwise: T, remedy: str) -> T:
        """Take a key that must be there."""
        if key not in self and self.data:
            place = self.at(key) if key in self.data else self.place
            self.mistakes.note(place, f"no {key}", None, remedy)
        return self.take(key, read, otherwise)

    def fields(self, key: str) -> Fields | None:
        """Take a key whose value has keys of its own."""
        value = self.raw(key)
        return None if value is None else Fields(value, self.at(key), self.mistakes)

    def finish(self, also: Sequence[str] = ()) -> None:
        """Note the keys that nobody knows, with the one that was probably meant.

        `also` are keys that are known elsewhere, and mean nothing here.
        """
        for key in self.data:
            if key in self.taken:
                continue
            near = get_close_matches(key.lower(), list(self.taken), 1, 0.6)
            known = ", ".join(sorted(self.taken))
            meant = f"did you mean {near[0]}?" if near else f"known keys are {known}"
            what = "a key that does not apply here" if key in also else "unknown key"
            self.mistakes.note(self.at(key), what, key, meant)


# --- single values --------------------------------------------------------------------------------


def read_text_value(value: Any) -> str:
    """Read text; a number is not one, and neither is a truth value."""
    if isinstance(value, str) and value.strip():
        return str(value)
    raise InputError("not text", value=value, remedy="put it in quotes")


def read_whole(value: Any) -> int:
    """Read a whole number of 0 or more."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise InputError("not a whole number of 0 or more", value=value, remedy="write digits only")


def read_positive(value: Any) -> int:
    """Read a whole number of 1 or more."""
    if read_whole(value):
        return int(value)
    raise InputError("not a whole number of 1 or more", value=value, remedy="write digits only")


def read_choice(*known: str) -> Callable[[Any], Any]:
    """Return what reads one of some words."""

    def read(value: Any) -> str:
        if isinstance(value, str) and value in known:
            return str(value)
        near = get_close_matches(str(value).lower(), known, 1, 0.6)
        meant = f"did you mean {near[0]}?" if near else f"use {', '.join(known)}"
        raise InputError("unknown word", value=value, remedy=meant)

    return read


def read_list(value: Any) -> list[Any]:
    """Read a list that is not empty."""
    if isinstance(value, list) and value:
        return value
    raise InputError("not a list", value=value, remedy="write [one, another]")
