"""What is sent: bodies of reports in JSON or in bytes, and the batch that is stored of them."""

from __future__ import annotations

from binascii import Error as NotHex
from binascii import unhexlify
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from liftlock.collect.problems import Problem
from liftlock.errors import extra

with extra("collect"):
    import msgspec

JSON = "application/json"
BINARY = "application/vnd.liftlock.reports"
ID = 16
"""How many bytes an id of a batch or of a report has."""
TAG = 16
"""How many bytes the tag of a write token has."""
DIGEST = 32
MOST = 1000
"""How many reports there are in a body at most."""

Hex128 = Annotated[str, msgspec.Meta(min_length=2 * ID, max_length=2 * ID)]
Hex256 = Annotated[str, msgspec.Meta(min_length=2 * DIGEST, max_length=2 * DIGEST)]


@dataclass(frozen=True, slots=True)
class Batch:
    """Reports of one mechanism to one collection, as they are kept until they are counted.

    `reports` is id after output after id; an output has `width` bytes, the least one first.
    """

    collection: str
    mechanism: str
    width: int
    reports: bytes

    def __len__(self) -> int:
        return len(self.reports) // (ID + self.width)


class Upload(msgspec.Struct, forbid_unknown_fields=True):
    """The JSON body: anything else in it, such as a true answer, is refused."""

    batch: Hex128
    mechanism: Hex256
    reports: list[tuple[Hex128, int]]
    tokens: list[Hex128] | None = None


_decode = msgspec.json.Decoder(Upload).decode


def width_of(outputs: int) -> int:
    """Return how many bytes the index of one of so many outputs takes.

    >>> [width_of(outputs) for outputs in (3, 256, 257, 65_536, 65_537)]
    [1, 1, 2, 2, 4]
    """
    return 1 if outputs <= 1 << 8 else 2 if outputs <= 1 << 16 else 4


@dataclass(frozen=True)
class Received:
    """What a body holds: the reports that can be counted, and those that cannot."""

    mechanism: str
    width: int
    reports: bytes
    rejected: tuple[tuple[str, int], ...] = ()
    """Ids of reports without such an output, and their places in the body."""
    tags: bytes = b""
    """The tags of the write tokens, in the order of the reports that can be counted."""


@dataclass(frozen=True)
class Layout:
    """How reports of one mechanism are written.

    >>> Layout("00" * 32, 3).pack([("ab" * 16, 2)]).hex()[-4:]
    'ab02'
    """

    mechanism: str
    outputs: int

    @cached_property
    def width(self) -> int:
        """How many bytes an output takes."""
        return width_of(self.outputs)

    @cached_property
    def _hex(self) -> dict[int, str]:
        """The outputs as they stand in a batch, in hexadecimal."""
        return {at: at.to_bytes(self.width, "little").hex() for at in range(self.outputs)}

    def pack(self, reports: Sequence[tuple[str, int]]) -> bytes:
        """Write reports that all have an output: raises KeyError otherwise."""
        known = self._hex
        return unhexlify("".join([name + known[output] for name, output in reports]))

    def outside(self, reports: bytes) -> npt.NDArray[np.intp] | None:
        """Return the places of packed reports without such an output, None if all have one."""
        step = ID + self.width
        if self.width == 1:
            if self.outputs == 1 << 8 or max(reports[ID::step]) < self.outputs:
                return None
            outputs = np.frombuffer(reports[ID::step], np.uint8)
        else:
            rows = np.frombuffer(reports, np.uint8).reshape(-1, step)[:, ID:]
            outputs = np.ascontiguousarray(rows).view(f"<u{self.width}")[:, 0]
        found = np.flatnonzero(outputs >= self.outputs)
        return found if len(found) else None


Layouts = Mapping[str, Layout]


def read_json(
    body: bytes, layouts: Layouts, default: str | None, *, signed: bool = False
) -> Received:
    """Read a JSON body; raises Problem."""
    try:
        upload = _decode(body)
    except msgspec.ValidationError as error:
        raise Problem("malformed", str(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Problem("malformed", "the body is not JSON in UTF-8") from None
    reports = upload.reports
    _check_number(len(reports))
    try:
        unhexlify(upload.batch)
        digest = unhexlify(upload.mechanism).hex()
    except (NotHex, ValueError):
        raise Problem("malformed", "'batch' or 'mechanism' is not hexadecimal") from None
    layout = find(layouts, digest, default)
    tokens = upload.tokens or []
    if signed and len(tokens) != len(reports):
        raise Problem(
            "token-not-valid", f"{len(reports)} reports need as many 'tokens', not {len(tokens)}"
        )
    if tokens and not signed:
        raise Problem("malformed", "the collection takes no write tokens: leave 'tokens' out")
    rejected: tuple[tuple[str, int], ...] = ()
    try:
        try:
            packed = layout.pack(reports)
        except KeyError:
            fits = [0 <= output < layout.outputs for _, output in reports]
            rejected = tuple((reports[at][0], at) for at, fit in enumerate(fits) if not fit)
            unhexlify("".join(name for name, _ in rejected))
            packed = layout.pack([each for each, fit in zip(reports, fits, strict=True) if fit])
            tokens = [each for each, fit in zip(tokens, fits, strict=False) if fit]
    except (NotHex, ValueError):
        raise Problem("malformed", "an id in 'reports' is not hexadecimal") from None
    try:
        tags = unhexlify("".join(tokens))
    except (NotHex, ValueError):
        raise Problem("malformed", "one of 'tokens' is not hexadecimal") from None
    return Received(digest, layout.width, packed, rejected, tags)


def read_binary(
    body: bytes, layouts: Layouts, default: str | None, *, signed: bool = False
) -> Received:
    """Read a binary body; raises Problem."""
    head = ID + DIGEST
    if len(body) < head:
        raise Problem("malformed", f"a body begins with {head} bytes: batch and mechanism")
    digest = body[ID:head].hex()
    layout = find(layouts, digest, default)
    step = ID + layout.width + TAG * signed
    number, rest = divmod(len(body) - head, step)
    if rest:
        raise Problem("malformed", f"{len(body) - head} bytes are no whole reports of {step} bytes")
    _check_number(number)
    packed, tags = body[head:], b""
    if signed:
        rows = np.frombuffer(packed, np.uint8).reshape(number, step)
        packed, tags = rows[:, :-TAG].tobytes(), rows[:, -TAG:].tobytes()
    outside = layout.outside(packed)
    if outside is None:
        return Received(digest, layout.width, packed, (), tags)
    rows = np.frombuffer(packed, np.uint8).reshape(number, -1)
    rejected = tuple((rows[at, :ID].tobytes().hex(), int(at)) for at in outside)
    packed = np.delete(rows, outside, axis=0).tobytes()
    if signed:
        tags = np.delete(np.frombuffer(tags, np.uint8).reshape(-1, TAG), outside, axis=0).tobytes()
    return Received(digest, layout.width, packed, rejected, tags)


def write_json(batch: str, mechanism: str, reports: Sequence[tuple[str, int]]) -> bytes:
    """Write the JSON body of reports."""
    return msgspec.json.encode({"batch": batch, "mechanism": mechanism, "reports": list(reports)})


def write_binary(batch: str, layout: Layout, reports: Sequence[tuple[str, int]]) -> bytes:
    """Write the binary body of reports.

    >>> len(write_binary("00" * 16, Layout("00" * 32, 3), [("ab" * 16, 2)]))
    65
    """
    return unhexlify(batch) + unhexlify(layout.mechanism) + layout.pack(reports)


def find(layouts: Layouts, digest: str, default: str | None) -> Layout:
    """Return the layout of a mechanism of the collection; raises Problem for any other.

    Without a default each is somebody's, and none is named.
    """
    layout = layouts.get(digest)
    if layout is None:
        named: dict[str, Any] = {}
        if default is not None:
            named = {"mechanism": default, "mechanisms": list(layouts)[:MOST]}
        raise Problem("other-mechanism", "the collection does not use it", **named)
    return layout


def _check_number(number: int) -> None:
    if number > MOST:
        raise Problem("too-many", f"{number:,} reports", most=MOST)
    if number == 0:
        raise Problem("malformed", "no reports; send at least one")


def upload_schema() -> dict[str, Any]:
    """Return the JSON schema of the body."""
    hexadecimal = "^[0-9a-fA-F]+$"
    identity = {"type": "string", "minLength": 32, "maxLength": 32, "pattern": hexadecimal}
    return {
        "type": "object",
        "required": ["batch", "mechanism", "reports"],
        "additionalProperties": False,
        "properties": {
            "batch": identity,
            "mechanism": {**identity, "minLength": 64, "maxLength": 64},
            "reports": {
                "type": "array",
                "minItems": 1,
                "maxItems": MOST,
                "items": {
                    "type": "array",
                    "prefixItems": [identity, {"type": "integer", "minimum": 0}],
                    "minItems": 2,
                    "maxItems": 2,
                },
            },
            "tokens": {"type": "array", "items": identity},
        },
    }
