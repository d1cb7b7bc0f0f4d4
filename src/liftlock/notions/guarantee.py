"""A guarantee: a certificate, the context that it speaks of, and what it protects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from liftlock.errors import FileError, InputError, NotCertified
from liftlock.model import Context, context_from_data
from liftlock.model.structured import AnyChannel
from liftlock.notions.base import Notion
from liftlock.notions.certificate import MAKE_AGAIN, Certificate, check_certificate_data
from liftlock.notions.lift import Impossible
from liftlock.notions.registry import make_notion


class Wanted(NamedTuple):
    """A notion that is to hold in a context, beside others on the same channel."""

    notion: Notion
    context: Context
    about: str | None = None
    """The name of what is protected: the column of a secret; None if it has none."""


@dataclass(frozen=True)
class Guarantee:
    """A notion that was proved of a channel in a context.

    >>> from liftlock.model import Prior
    >>> from liftlock.model.channel import Channel
    >>> from liftlock.notions.lip import LIP
    >>> bit = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> print(Guarantee.prove(bit, Wanted(LIP("1"), Prior.uniform([0, 1]))).text)
    lip(epsilon=1)
    """

    certificate: Certificate
    context: Context
    about: str | None = None
    """The name of what is protected: the column of a secret; None if it has none."""

    @classmethod
    def prove(
        cls, channel: AnyChannel, wanted: Wanted, *, impossible: Impossible = "refuse"
    ) -> Guarantee:
        """Audit a channel exactly; refuse what does not hold."""
        notion, context, about = wanted
        certificate = notion.certify(channel, context, impossible=impossible)
        if not certificate.holds:
            smallest = notion.say_smallest(channel, context)
            raise NotCertified(certificate, smallest, about or "")
        return cls(certificate, context, about)

    @property
    def notion(self) -> Notion:
        """What was certified."""
        return make_notion(self.certificate.notion, self.certificate.budgets)

    @property
    def wanted(self) -> Wanted:
        """What was asked for."""
        return Wanted(self.notion, self.context, self.about)

    @property
    def treatment(self) -> Impossible:
        """What it does with impossible inputs: it was proved without those, or refuses them."""
        return "ignore" if self.certificate.unprotected else "refuse"

    @property
    def subject(self) -> str:
        """What it protects, in words."""
        if self.about is not None:
            return self.about
        return "the secret" if self.context.kind == "joint" else "the value itself"

    @property
    def text(self) -> str:
        """The guarantee in short, with the name of what it protects."""
        said = self.certificate.guarantee
        return said if self.about is None else f"{said} about {self.about}"

    def check(self, channel: AnyChannel) -> None:
        """Refuse a certificate that does not hold, or is about something else."""
        if not self.certificate.holds:
            raise NotCertified(self.certificate, "none asked for", self.about or "")
        for name, expected, actual in (
            ("channel", self.certificate.channel, channel.fingerprint),
            ("context", self.certificate.context, self.context.fingerprint),
        ):
            if expected != actual:
                raise InputError(
                    f"the certificate speaks of another {name}",
                    value=f"{expected[:16]} instead of {actual[:16]}",
                    remedy="audit again with lock(...)",
                )

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return self.summary_data() | {"context": self.context.to_data()}

    def summary_data(self) -> dict[str, Any]:
        """Return the JSON form without the context."""
        data: dict[str, Any] = {} if self.about is None else {"about": self.about}
        return data | {"certificate": self.certificate.to_data()}

    @classmethod
    def from_data(cls, data: Any, channel: AnyChannel) -> Guarantee:
        """Read the JSON form, and prove it again of the channel."""
        if not isinstance(data, dict):
            raise FileError("a guarantee is not an object", value=data, remedy=MAKE_AGAIN)
        about = data.get("about")
        if about is not None and not isinstance(about, str):
            raise FileError("the name of a secret is not a text", value=about, remedy=MAKE_AGAIN)
        context = context_from_data(data.get("context"))
        notion, impossible = read_certified(data.get("certificate"), channel, context)
        return cls.prove(channel, Wanted(notion, context, about), impossible=impossible)


def read_certified(stored: Any, channel: AnyChannel, context: Context) -> tuple[Notion, Impossible]:
    """Return the notion of a stored certificate, and what it does with impossible inputs.

    A certificate of another channel or context is refused.
    """
    check_certificate_data(stored)
    budgets = stored.get("budgets")
    if not isinstance(budgets, dict):
        raise FileError("the certificate has no budgets", remedy=MAKE_AGAIN)
    notion = make_notion(str(stored.get("notion")), budgets)
    for name, found in (("channel", channel.fingerprint), ("context", context.fingerprint)):
        if stored.get(name) != found:
            raise FileError(
                f"the certificate speaks of another {name}",
                value=stored.get(name),
                remedy=MAKE_AGAIN,
            )
    return notion, "ignore" if stored.get("unprotected") else "refuse"
