"""What both audits do with the guarantees that are to be checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from liftlock.cli.console import Notes, show, show_json
from liftlock.contexts import Context
from liftlock.forms import AnyChannel
from liftlock.notions.base import Notion
from liftlock.notions.certificate import Certificate
from liftlock.notions.lift import Impossible
from liftlock.report.format import printable
from liftlock.report.text import certificate_lines

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True)
class Verdicts:
    """Guarantees and what the exact audit says of each, for one channel in one context."""

    channel: AnyChannel
    context: Context
    pairs: tuple[tuple[Notion, Certificate], ...]

    @classmethod
    def of(
        cls,
        channel: AnyChannel,
        context: Context,
        guarantees: Sequence[Notion],
        impossible: Impossible,
    ) -> Verdicts:
        """Certify every guarantee."""
        pairs = tuple(
            (guarantee, guarantee.certify(channel, context, impossible=impossible))
            for guarantee in guarantees
        )
        return cls(channel, context, pairs)

    @property
    def certificates(self) -> list[Certificate]:
        """The certificates in the order they were asked for."""
        return [certificate for _, certificate in self.pairs]

    def show(
        self,
        data: dict[str, Any],
        report: RenderableType,
        note: Notes,
        *,
        as_json: bool,
        quiet: bool,
    ) -> int:
        """Print an audit with its checks, say what fails, and return the exit code."""
        if as_json:
            checks = [certificate.to_data() for certificate in self.certificates]
            show_json(data | {"checks": checks, "notes": list(note.texts)})
        elif not quiet:
            show(report)
            for certificate in self.certificates:
                show(certificate_lines(certificate))
        if not quiet:
            note.show()
        for guarantee, certificate in self.pairs:
            if not certificate.holds:
                smallest = guarantee.smallest(self.channel, self.context)
                text = f"{certificate.refusal()}; this channel satisfies {smallest}"
                click.echo(f"liftlock: {printable(text)}", err=True)
        return 0 if all(certificate.holds for certificate in self.certificates) else 1
