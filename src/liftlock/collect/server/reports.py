"""The upload of reports: a bare ASGI callable, answered when the reports are on disk."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from liftlock.collect import wire
from liftlock.collect.problems import KINDS, Problem
from liftlock.collect.store import (
    Busy,
    Closed,
    NotWritable,
    OtherMechanism,
    Stopped,
    UnknownCollection,
)
from liftlock.collect.wire import ID, Batch, Received

if TYPE_CHECKING:
    from liftlock.collect.server.service import Served, Service

Scope = dict[str, Any]
PREFIX = "/v1/collections/"
SUFFIX = "/reports"
_OUT_OF_RANGE = KINDS["output-out-of-range"].type
_NO_TOKEN = KINDS["token-not-valid"].type
_HEADERS = (
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
)


class Uploads:
    """Takes the POST of reports of every collection."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._answers = [b'{"stored":%d,"rejected":[]}' % n for n in range(wire.MOST + 1)]

    async def answer(self, scope: Scope, receive: Any, name: str) -> bytes:
        """Store the reports of a request, and return the body of the answer; raises Problem."""
        service = self._service
        served = service.find(name)
        client = scope.get("client")
        if client is not None and not service.rates.allows(client[0]):
            raise Problem("too-many-requests")
        binary = _check_headers(scope["headers"], service.settings.most_bytes)
        served.require_open(service.today())
        body = await self._body(receive)
        began = time.perf_counter()
        read = wire.read_binary if binary else wire.read_json
        received = read(body, served.layouts, served.default, signed=served.signed)
        rejected = [{"id": each, "type": _OUT_OF_RANGE} for each, _ in received.rejected]
        if served.signed:
            received, forged = self._check_tokens(served, received)
            rejected += forged
        stored = len(received.reports) // (ID + received.width)
        if stored:
            await self._store(Batch(name, received.mechanism, received.width, received.reports))
        metrics = service.metrics
        metrics.stored[name] += stored
        metrics.answered(time.perf_counter() - began)
        if not rejected:
            return self._answers[stored]
        metrics.rejected[name] += len(rejected)
        return msgspec.json.encode({"stored": stored, "rejected": rejected})

    async def _body(self, receive: Any) -> bytes:
        """Read the body; refuse one that is too large or too slow."""
        most = self._service.settings.most_bytes
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self._service.settings.body_seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Problem("malformed", "the request ended early")
                    part: bytes = message.get("body", b"")
                    if not parts and not message.get("more_body", False):
                        if len(part) > most:
                            raise Problem("too-large", most=most)
                        return part
                    parts.append(part)
                    size += len(part)
                    if size > most:
                        raise Problem("too-large", most=most)
                    if not message.get("more_body", False):
                        return b"".join(parts)
        except TimeoutError:
            raise Problem("too-slow") from None

    async def _store(self, batch: Batch) -> None:
        """Wait until the batch is on disk; raises Problem."""
        service = self._service
        if service.draining or service.waiting >= service.settings.most_waiting:
            raise Problem("busy")
        service.waiting += 1
        try:
            await service.store.submit(batch)
        except Exception as error:
            raise problem_of(error) from error
        finally:
            service.waiting -= 1

    def _check_tokens(
        self, served: Served, received: Received
    ) -> tuple[Received, list[dict[str, str]]]:
        """Keep the reports whose tags are right."""
        step = ID + received.width
        rows = [received.reports[at : at + step] for at in range(0, len(received.reports), step)]
        ids = [row[:ID] for row in rows]
        valid = self._service.tokens.valid(served.name, ids, received.tags)
        pairs = list(zip(rows, valid, strict=True))
        forged = [{"id": row[:ID].hex(), "type": _NO_TOKEN} for row, right in pairs if not right]
        kept = b"".join(row for row, right in pairs if right)
        return Received(received.mechanism, received.width, kept, received.rejected), forged


def _check_headers(headers: Any, most: int) -> bool:
    """Return whether the body is binary; refuse other media, and what is said to be too large."""
    media = b""
    for name, value in headers:
        if name == b"content-type":
            media = value.partition(b";")[0].strip().lower()
        elif name == b"content-length":
            if not value.isdigit():
                raise Problem("malformed", "content-length is no number")
            if len(value) > 18 or int(value) > most:
                raise Problem("too-large", most=most)
        elif name == b"content-encoding" and value.lower() != b"identity":
            raise Problem("unsupported-media-type", "the body is compressed")
    if media == b"application/json":
        return False
    if media == b"application/vnd.liftlock.reports":
        return True
    raise Problem("unsupported-media-type", f"send {wire.JSON} or {wire.BINARY}")


def problem_of(error: Exception) -> Problem:
    """Return the problem that a refusal of the store is."""
    match error:
        case UnknownCollection():
            return Problem("unknown-collection")
        case Closed():
            return Problem("closed")
        case OtherMechanism():
            return Problem("other-mechanism")
        case Busy():
            return Problem("busy", headers={"retry-after": str(error.seconds)})
        case Stopped():
            return Problem("busy")
        case NotWritable():
            return Problem("disk-full" if " is full;" in str(error) else "read-only")
    return Problem("internal")


class Responder:
    """Answers an upload, and puts every refusal in words."""

    def __init__(self, service: Service) -> None:
        self._uploads = Uploads(service)
        self._requests: Counter[tuple[str, int]] = service.metrics.requests

    async def __call__(
        self, scope: Scope, receive: Any, send: Any, extra: list[tuple[bytes, bytes]]
    ) -> None:
        """Answer with further headers, such as those for other origins."""
        name = scope["path"][len(PREFIX) : -len(SUFFIX)]
        try:
            body = await self._uploads.answer(scope, receive, name)
            status = 200
            headers = [*_HEADERS, (b"content-length", b"%d" % len(body)), *extra]
        except Problem as problem:
            status, body = problem.status, problem.body()
            headers = [(key.encode(), value.encode()) for key, value in problem.headers().items()]
            headers += [(b"content-length", b"%d" % len(body)), *extra]
        self._requests["reports", status] += 1
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})
