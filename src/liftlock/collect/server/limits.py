"""Limits on what one client can take: requests a minute, connections, headers, and time."""

from __future__ import annotations

import os
import socket
import struct
import time
from array import array
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from typing import Any

from liftlock.collect.problems import Problem

_BUCKETS = 1 << 16
_WINDOW = 60.0


class Rates:
    """How many requests came from an address within this minute, without keeping the address.

    An address is hashed with a salt that is drawn anew each minute, together with all counts, to
    one of 65,536 counters. Two addresses may share a counter: then they share the limit. The first
    64 bits stand for an IPv6 address. This machine itself, which is a proxy or the operator, has
    no limit.

    >>> rates = Rates(2, clock=lambda: 0.0)
    >>> [rates.allows("203.0.113.7") for _ in range(3)]
    [True, True, False]
    """

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.most = most
        self._clock = clock
        self._window = -1
        self._salt = b""
        self._counts = array("I")

    def allows(self, address: str) -> bool:
        """Count a request, and tell whether the address may make it."""
        if not self.most or address.startswith("127.") or address == "::1":
            return True
        window = int(self._clock() // _WINDOW)
        if window != self._window:
            self._window, self._salt = window, os.urandom(16)
            self._counts = array("I", bytes(4 * _BUCKETS))
        at = int.from_bytes(blake2b(_prefix(address), key=self._salt, digest_size=2).digest())
        self._counts[at] += 1
        return self._counts[at] <= self.most


def _prefix(address: str) -> bytes:
    if ":" in address:
        try:
            return socket.inet_pton(socket.AF_INET6, address.partition("%")[0])[:8]
        except OSError:
            pass
    return address.encode("utf-8", "surrogateescape")


def _refusal(problem: Problem, status: bytes) -> bytes:
    """Return a whole answer for connections that no request has been read from."""
    body = problem.body()
    head = [b"HTTP/1.1 " + status]
    head += [f"{name}: {value}".encode() for name, value in problem.headers().items()]
    head += [b"content-length: %d" % len(body), b"connection: close", b"", body]
    return b"\r\n".join(head)


CROWDED = _refusal(Problem("busy", "too many connections"), b"503 Service Unavailable")
LARGE_HEADERS = _refusal(
    Problem("headers-too-large"),
    b"431 Request Header Fields Too Large",
)
NO_HTTP = _refusal(Problem("malformed", "not HTTP/1.1"), b"400 Bad Request")


def guarded(protocol: type[Any], *, connections: int, headers: int) -> type[Any]:
    """Return a protocol of uvicorn that takes no more connections, and no longer headers."""

    class Guarded(protocol):  # type: ignore[misc]
        """The protocol, refusing what is too much."""

        head = 0
        begun = 0
        in_head = False
        oversize = False

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            if len(self.connections) > connections:
                self._refuse(CROWDED)

        def data_received(self, data: bytes) -> None:
            if self.transport.is_closing():
                return
            inside = self.begun if self.in_head else None
            super().data_received(data)
            if self.in_head and self.begun == inside:
                self.head += len(data)
                if self.head > headers:
                    self._refuse(LARGE_HEADERS)

        def on_message_begin(self) -> None:
            super().on_message_begin()
            self.in_head, self.head = True, 0
            self.begun += 1

        def on_headers_complete(self) -> None:
            self.in_head = False
            size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
            if size > headers:
                self.oversize = True
                raise ValueError("headers too long")
            super().on_headers_complete()

        def send_400_response(self, msg: str) -> None:
            """Answer what is no HTTP, or has too long headers."""
            del msg
            self._refuse(LARGE_HEADERS if self.oversize else NO_HTTP)

        def _refuse(self, answer: bytes) -> None:
            self.transport.write(answer)
            self.transport.close()

    return Guarded


class Sweeper:
    """Ends connections that take too long over a header, a body, or reading the answer.

    It looks at all connections once in a while and costs a request nothing.
    """

    def __init__(self, *, headers: float, body: float, response: float, idle: float) -> None:
        self._longest = {
            "headers": headers,
            "body": body,
            "response": response,
            "idle": idle + headers,
            "rest": body,
        }
        self._since: dict[Any, tuple[int, str, float]] = {}

    def sweep(self, connections: set[Any], now: float) -> int:
        """End those that are late, and return how many."""
        ended = 0
        seen: dict[Any, tuple[int, str, float]] = {}
        for connection in list(connections):
            request, phase = _phase(connection)
            before = self._since.get(connection)
            if before is None or before[:2] != (request, phase):
                seen[connection] = (request, phase, now)
                continue
            seen[connection] = before
            if now - before[2] > self._longest[phase] and connection.transport is not None:
                _reset(connection.transport)
                ended += 1
        self._since = seen
        return ended


def _reset(transport: Any) -> None:
    """End a connection at once: what was not read is not kept for the client either."""
    raw = transport.get_extra_info("socket")
    if raw is not None:
        with suppress(OSError):
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


def _phase(connection: Any) -> tuple[int, str]:
    """Tell which request a connection is at, and what it does."""
    cycle = connection.cycle
    if cycle is None:
        return 0, "headers"
    if cycle.response_complete:
        return id(cycle), "rest" if cycle.more_body else "idle"
    return id(cycle), "body" if cycle.more_body else "response"
