"""Channels without a table: too many outputs, but a distribution of a few integers."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

from liftlock.exact.fingerprint import canonical_bytes
from liftlock.model.alphabet import Alphabet
from liftlock.model.channel import FORMAT, VERSION, Channel


class StructuredChannel(ABC):
    """A channel of a form of its own: labels, and the integers of a distribution."""

    form: ClassVar[str]
    """The name of the form in files."""
    every_set: ClassVar[bool] = False
    """Whether each set of symbols is supported by some report, so that bounds are attained."""
    reports_labels: ClassVar[bool] = False
    """Whether a report is one of the labels, and not a number or a row of bytes."""
    inputs: Alphabet

    @property
    @abstractmethod
    def output_number(self) -> int | str:
        """How many reports there are; a power such as ``2^1024`` where digits would say nothing."""

    @property
    def outputs_text(self) -> str:
        """How many reports there are, in words."""
        number = self.output_number
        return f"{number:,} outputs" if isinstance(number, int) else f"{number} outputs"

    @abstractmethod
    def to_dense(self) -> Channel:
        """Return all reports as the outputs of one exact channel, or refuse if there is none."""

    @abstractmethod
    def distribution_data(self) -> dict[str, Any]:
        """Return the integers of the distribution as JSON."""

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of the canonical JSON of the form, its labels and its integers."""
        parts = ["form", self.form, self.inputs.to_data(), self.distribution_data()]
        return hashlib.sha256(canonical_bytes(parts)).hexdigest()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StructuredChannel):
            return NotImplemented
        return self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "form": self.form,
            "inputs": self.inputs.to_data(),
            **self.distribution_data(),
        }


AnyChannel: TypeAlias = Channel | StructuredChannel
"""Whatever can be audited: one table, or a form that needs none."""


def to_dense(channel: AnyChannel) -> Channel:
    """Return the channel as one table, or refuse a form that has none."""
    return channel if isinstance(channel, Channel) else channel.to_dense()
