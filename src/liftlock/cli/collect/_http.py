"""A small client of HTTP/1.1 for very many requests to one server on this machine."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from liftlock.errors import InputError


class Connection:
    """One connection that is kept; requests go one after the other."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._host, self._port = parts.hostname or "", parts.port or 80

    async def __aenter__(self) -> Connection:
        self._reader, self._writer = await asyncio.open_connection(self._host, self._port)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._writer.close()
        await self._writer.wait_closed()

    async def get(self, path: str) -> bytes:
        """Return what is at a path."""
        return await self._ask("GET", path, b"", "")

    async def post(self, path: str, content: Mapping[str, Any]) -> dict[str, Any]:
        """Send JSON, and return the JSON that is answered."""
        found: dict[str, Any] = json.loads(
            await self._ask("POST", path, json.dumps(content).encode(), "application/json")
        )
        return found

    async def _ask(self, method: str, path: str, body: bytes, kind: str) -> bytes:
        head = f"{method} {path} HTTP/1.1\r\nhost: {self._host}:{self._port}\r\n"
        if kind:
            head += f"content-type: {kind}\r\ncontent-length: {len(body)}\r\n"
        self._writer.write(f"{head}\r\n".encode() + body)
        lines = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines[1:])
        }
        answer = await self._reader.readexactly(int(headers.get("content-length", 0)))
        status = lines[0].split()[1]
        if not status.startswith("2"):
            raise InputError(
                f"the server answered {status}", where=path, value=answer.decode()[:200]
            )
        return answer
