"""The collection service on addresses of this machine, and a browser that is watched."""

from __future__ import annotations

import asyncio
import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from liftlock.collect import Settings, admin_app, app
from liftlock.collect.server.service import Service
from liftlock.collect.survey import Survey
from liftlock.collect.wire import Batch, Layout
from tests.browser.chromium import CHROMIUM, OPTIONS

try:
    from playwright.sync_api import Browser, Page, sync_playwright
except ImportError:  # pragma: no cover
    sync_playwright = None  # type: ignore[assignment]

needs_browser = pytest.mark.skipif(
    CHROMIUM is None or sync_playwright is None,
    reason="there is no chromium on this machine, or no playwright",
)
HERE = ("~NOTFOUND", "~NOTFOUND, EXCLUDE 127.0.0.1")
"""What changes the option by which the browser finds nothing: it finds this machine."""
WAIT = 15_000
"""Milliseconds after which something will never happen."""


@dataclass(frozen=True)
class Addresses:
    """Where a service is reached, and what it holds."""

    people: str
    operators: str
    service: Service

    def total(self, name: str) -> int:
        """Return how many reports were counted in a collection."""
        return self.service.store.counts(name).total

    def report(self, name: str, times: int) -> None:
        """Report so many times of each mechanism, each output in turn."""
        for made in self.service.served[name].collection.mechanisms.values():
            layout = Layout(made.digest, made.outputs)
            reports = [(secrets.token_hex(16), place % made.outputs) for place in range(times)]
            self.service.store.store(Batch(name, made.digest, layout.width, layout.pack(reports)))


@contextmanager
def reachable(folder: Path, *surveys: Survey) -> Iterator[Addresses]:
    """Serve surveys on two ports of this machine."""
    settings = Settings.from_data({"store": str(folder / "store.sqlite")})
    service = Service(settings, surveys=surveys).open()
    try:
        sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
        people, operators = (f"http://127.0.0.1:{each.getsockname()[1]}" for each in sockets)
        servers = [
            uvicorn.Server(uvicorn.Config(each, lifespan="off", log_level="warning"))
            for each in (app(service=service), admin_app(service=service))
        ]

        async def run() -> None:
            pairs = zip(servers, sockets, strict=True)
            await asyncio.gather(*(server.serve(sockets=[each]) for server, each in pairs))

        thread = threading.Thread(target=asyncio.run, args=(run(),), daemon=True)
        thread.start()
        try:
            yield Addresses(people, operators, service)
        finally:
            for server in servers:
                server.should_exit = True
            thread.join(30)
    finally:
        service.shutdown()


@contextmanager
def browsing() -> Iterator[Browser]:
    """Start the browser, which finds nothing but this machine."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=[each.replace(*HERE) for each in OPTIONS if "logging" not in each],
        )
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Watched:
    """Everything that a page asked the network for, and everything that it said."""

    page: Page
    requests: list[str] = field(default_factory=list)
    """Method, address, headers and body of each request."""
    bodies: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(WAIT)
        self.page.on("request", self._note)
        self.page.on("console", lambda told: self.console.append(told.text))
        self.page.on("pageerror", lambda error: self.console.append(str(error)))

    def _note(self, request: Any) -> None:
        body = request.post_data or ""
        self.requests.append(f"{request.method} {request.url} {request.headers} {body}")
        if request.method == "POST":
            self.bodies.append(body)
