"""What every kind of context can say of itself; notions, designs and verbs dispatch on its kind."""

from __future__ import annotations

from typing import Any, Literal, Protocol, runtime_checkable

from liftlock.model.alphabet import Alphabet

Kind = Literal["prior", "joint", "family", "intervals", "ball", "profiles", "per-user", "given"]
"""Designs say which of these they fit; verbs dispatch on them."""


@runtime_checkable
class Context(Protocol):
    """What every context can say of itself.

    `liftlock.model.context_from_data` reads what `to_data` returns.
    """

    @property
    def kind(self) -> Kind:
        """What kind of knowledge it is."""
        ...

    @property
    def inputs(self) -> Alphabet:
        """The channel inputs it speaks of."""
        ...

    @property
    def secrets(self) -> Alphabet:
        """The secrets to be protected: the inputs themselves, unless something else is."""
        return self.inputs

    @property
    def fingerprint(self) -> str:
        """The sha256 of its canonical form."""
        ...

    def describe(self) -> str:
        """Say in a few words what it is."""
        ...

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        ...
