"""What can be chosen about an estimate, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast, get_args

from liftlock.errors import InputError
from liftlock.estimate.intervals import KINDS, Kind
from liftlock.estimate.level import read_level
from liftlock.estimate.result import ABOUT, About

Method = Literal["auto", "bayes", "unbiased", "likelihood", "consistent"]
METHODS: tuple[Method, ...] = get_args(Method)


@dataclass(frozen=True)
class Options:
    """The method, the kind and the level of the interval, whom it is about, and the seed."""

    method: Method
    interval: Kind
    level: float
    about: About
    seed: int | None = None

    @classmethod
    def of(
        cls,
        method: str = "auto",
        interval: str = "auto",
        level: object = "0.95",
        about: str = "people",
        seed: int | None = None,
    ) -> Options:
        """Refuse what is unknown; a level is a number between 0 and 1, or its text.

        >>> Options.of(level="95 %").level
        0.95
        """
        for given, known, what in (
            (method, METHODS, "method"),
            (interval, KINDS, "kind of interval"),
            (about, ABOUT, "group the answer is about"),
        ):
            if given not in known:
                raise InputError(f"unknown {what}", value=given, remedy=f"say {', '.join(known)}")
        chance = read_level(level)
        if seed is not None and seed < 0:
            raise InputError("the seed is not a whole number of 0 or more", value=seed)
        return cls(
            cast("Method", method),
            cast("Kind", interval),
            chance,
            cast("About", about),
            seed,
        )
