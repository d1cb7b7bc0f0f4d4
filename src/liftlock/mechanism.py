"""A mechanism: a table that can be released, the certificate that proves it, and its context."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, SupportsIndex

from liftlock.channel import Channel, Table, channel_from_data, check_format
from liftlock.context import Context, context_from_data
from liftlock.designs.draft import Draft
from liftlock.designs.lock import lock as lock_channel
from liftlock.errors import FileError, InputError, NotCertified
from liftlock.exact.weights import DEFAULT_BITS
from liftlock.notions.audit import Audit, audit
from liftlock.notions.certificate import Certificate, check_certificate_data
from liftlock.notions.lift import Impossible
from liftlock.notions.notion import Notion
from liftlock.notions.registry import make_notion
from liftlock.sampling.release import release, simulate

FORMAT = "liftlock.mechanism"
VERSION = 1


@dataclass(frozen=True)
class Mechanism:
    """What a user holds: the exact table, the proof, and what the proof assumes.

    It can only be made through the exact audit: `lock` and `load` both run it.

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.prior import Prior
    >>> draft = Draft.of(["no", "yes"], ["no", "yes"], [[0.7, 0.3], [0.3, 0.7]])
    >>> mechanism = lock(draft, LIP("1"), Prior.uniform(["no", "yes"]))
    >>> len(mechanism.release(["yes", "no", "no"]))
    3
    """

    channel: Table
    certificate: Certificate
    context: Context

    def __post_init__(self) -> None:
        if not self.certificate.holds:
            raise NotCertified(self.certificate, "none asked for")
        for name, expected, actual in (
            ("channel", self.certificate.channel, self.channel.fingerprint),
            ("context", self.certificate.context, self.context.fingerprint),
        ):
            if expected != actual:
                raise InputError(
                    f"the certificate speaks of another {name}",
                    value=f"{expected[:16]} instead of {actual[:16]}",
                    remedy="audit again with lock(...)",
                )

    @property
    def notion(self) -> Notion:
        """The certified guarantee."""
        return make_notion(self.certificate.notion, self.certificate.budgets)

    def release(self, values: Sequence[Any]) -> list[Any]:
        """Randomise values with the operating system's entropy. Ask each person once."""
        return release(self.channel, values)

    def simulate(self, values: Sequence[Any], *, seed: SupportsIndex | str) -> list[Any]:
        """Randomise values reproducibly, for experiments only: never for real people's data."""
        return simulate(self.channel, values, seed=seed)

    def audit(self, **options: Any) -> Audit:
        """Measure every notion in the mechanism's own context."""
        return audit(self.channel, self.context, **options)

    def __str__(self) -> str:
        return f"{self.channel}\n{self.certificate}"

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "channel": self.channel.to_data(),
            "context": self.context.to_data(),
            "certificate": self.certificate.to_data(),
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the mechanism as JSON; an interrupted write leaves the old file whole."""
        text = json.dumps(self.to_data(), ensure_ascii=False, indent=1)
        write_atomically(Path(path), text + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Mechanism:
        """Read a mechanism file and prove its guarantee again; a stored verdict is not believed."""
        return cls.from_data(read_json(Path(path)))

    @classmethod
    def from_data(cls, data: Any) -> Mechanism:
        """Read the JSON form, and run the exact audit on it."""
        check_format(data, FORMAT, VERSION)
        channel = channel_from_data(data.get("channel"))
        if not isinstance(channel, Table):
            raise FileError(
                "the channel of a mechanism has no bits", remedy="only tables can be released"
            )
        context = context_from_data(data.get("context"))
        stored = data.get("certificate")
        check_certificate_data(stored)
        budgets = stored.get("budgets")
        if not isinstance(budgets, dict):
            raise FileError("the certificate has no budgets")
        notion = make_notion(str(stored.get("notion")), budgets)
        impossible: Impossible = "ignore" if stored.get("unprotected") else "refuse"
        certificate = notion.certify(channel, context, impossible=impossible)
        if not certificate.holds:
            raise NotCertified(certificate, notion.smallest(channel, context))
        if stored.get("channel") != channel.fingerprint:
            raise FileError(
                "the file's certificate speaks of another channel",
                value=stored.get("channel"),
                remedy="the file was changed; make it again with lock(...)",
            )
        return cls(channel, certificate, context)


def lock(
    draft: Draft | Channel,
    notion: Notion,
    context: Context,
    *,
    bits: int = DEFAULT_BITS,
    impossible: Impossible = "refuse",
) -> Mechanism:
    """Turn a draft into a certified mechanism, or refuse it with the witness and a remedy."""
    locked = lock_channel(draft, notion, context, bits=bits, impossible=impossible)
    return Mechanism(locked.channel, locked.certificate, context)


def write_atomically(path: Path, text: str) -> None:
    """Write a text file completely or not at all."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise FileError("cannot write", where=str(path), value=error.strerror) from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


MOST_BYTES = 512 * 1024 * 1024
"""Larger text files are refused rather than read into memory."""


def read_text(path: Path) -> str:
    """Read a text file, with a clear error for everything that can be wrong with it."""
    try:
        size = path.stat().st_size
        if path.is_dir():
            raise FileError("a folder, not a file", where=str(path))
        if size > MOST_BYTES:
            raise FileError(
                f"file of {size / 2**20:.0f} MiB is too large",
                where=str(path),
                remedy=f"channels and priors are at most {MOST_BYTES // 2**20} MiB",
            )
        raw = path.read_bytes()
    except FileNotFoundError:
        raise FileError("no such file", where=str(path), remedy="check the path") from None
    except OSError as error:
        raise FileError("cannot read", where=str(path), value=error.strerror) from None
    if not raw.strip():
        raise FileError("empty file", where=str(path), remedy="it has no content at all")
    if b"\0" in raw[:4096]:
        raise FileError("not a text file", where=str(path), remedy="give CSV or JSON in UTF-8")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(
            "not UTF-8", where=f"{path}, byte {error.start}", remedy="save the file as UTF-8"
        ) from None


def read_json(path: Path) -> Any:
    """Read JSON; decimals are kept as text, so that 0.7 stays seven tenths."""
    try:
        return json.loads(read_text(path), parse_float=str)
    except json.JSONDecodeError as error:
        raise FileError(
            "not valid JSON",
            where=f"{path}, line {error.lineno}, column {error.colno}",
            value=error.msg,
        ) from None
