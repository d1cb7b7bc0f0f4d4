"""A service of real surveys, clients that ask it in process, and a server as a process."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import httpx

from liftlock.collect import Settings, admin_app, app, wire
from liftlock.collect.server.service import Service
from liftlock.collect.survey import Survey

TODAY = date(2026, 5, 4)
FLU: dict[str, Any] = {
    "survey": "health",
    "questions": [
        {
            "name": "flu",
            "ask": "How are you today?",
            "values": ["none", "cold", "flu"],
            "prior": {"none": 700, "cold": 200, "flu": 100},
            "guarantee": "lip=1",
        }
    ],
}
REPORTS = "/v1/collections/health.flu/reports"


def new_id() -> str:
    """Draw an id."""
    return secrets.token_hex(16)


def survey_of(**fields: Any) -> Survey:
    """Return the survey with other fields."""
    return Survey.from_data({**FLU, **fields})


class Client:
    """Asks an application in process, on a loop of its own."""

    def __init__(
        self,
        application: Any,
        headers: Mapping[str, str] | None = None,
        client: str = "127.0.0.1",
    ) -> None:
        self.loop = asyncio.new_event_loop()
        transport = httpx.ASGITransport(app=application, client=(client, 1))
        self.http = httpx.AsyncClient(
            transport=transport, base_url="http://collect.test", headers=headers
        )

    def __call__(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Ask one thing."""
        return self.loop.run_until_complete(self.http.request(method, path, **options))

    def get(self, path: str, **options: Any) -> httpx.Response:
        """GET a path."""
        return self("GET", path, **options)

    def report(self, reports: Iterable[tuple[str, int]], **fields: Any) -> httpx.Response:
        """POST reports as JSON to the question about the flu."""
        collection = fields.pop("collection", "health.flu")
        if "mechanism" not in fields:
            fields["mechanism"] = self.get(f"/v1/collections/{collection}").json()["mechanism"]
        body = {"batch": new_id(), "reports": list(reports), **fields}
        return self("POST", f"/v1/collections/{collection}/reports", json=body)

    def counts(self, collection: str = "health.flu") -> list[int]:
        """Return the counts."""
        found: list[int] = self.get(f"/v1/collections/{collection}/aggregate").json()["counts"]
        return found

    def close(self) -> None:
        """End the loop."""
        self.loop.run_until_complete(self.http.aclose())
        self.loop.close()


@contextmanager
def serving(
    folder: Path, *surveys: Survey, today: date = TODAY, **settings: Any
) -> Iterator[World]:
    """Serve surveys in process."""
    told = Settings.from_data({"store": str(folder / "store.sqlite"), **settings})
    service = Service(told, surveys=surveys or [survey_of()], today=lambda: today).open()
    world = World(service)
    try:
        yield world
    finally:
        world.close()


class World:
    """A service and those who ask it."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.public = app(service=service)
        self.people = Client(self.public)
        self.admin = admin_app(service=service)
        token = service.admin_token
        self.operator = Client(self.admin, {"authorization": f"Bearer {token}"})
        self.nobody = Client(self.admin)

    @property
    def layout(self) -> wire.Layout:
        """How reports about the flu are written."""
        served = self.service.served["health.flu"]
        return served.layouts[served.collection.default.digest]

    def close(self) -> None:
        """End everything."""
        for client in (self.people, self.operator, self.nobody):
            client.close()
        self.service.shutdown()


class Process:
    """A server in a process of its own, with its addresses."""

    def __init__(self, folder: Path, *surveys: Path, **settings: Any) -> None:
        environment = {
            **{key: value for key, value in os.environ.items() if "LIFTLOCK" not in key},
            "LIFTLOCK_COLLECT_SURVEYS": ",".join(map(str, surveys)),
            "LIFTLOCK_COLLECT_STORE": str(folder / "store.sqlite"),
            "LIFTLOCK_COLLECT_PORT": "0",
            "LIFTLOCK_COLLECT_ADMIN_TOKEN": TOKEN,
            "LIFTLOCK_COLLECT_DRAIN_SECONDS": "0",
            **{f"LIFTLOCK_COLLECT_{name.upper()}": str(each) for name, each in settings.items()},
        }
        self.errors = folder / "errors.log"
        with self.errors.open("a") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-c", _SERVE],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        self.lines: list[str] = []
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            if line.startswith("store"):
                break
        found = dict(line.split()[:2] for line in self.lines if len(line.split()) > 1)
        self.public, self.admin = found.get("people", ""), found.get("operators", "")

    @property
    def address(self) -> tuple[str, int]:
        """The host and the port of the public address."""
        url = httpx.URL(self.public)
        assert url.port is not None
        return url.host, url.port

    def stop(self, number: int = signal.SIGTERM) -> int:
        """End it, and return its status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            status = self.process.wait(60)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            assert self.process.stdout is not None
            self.process.stdout.close()
        return status


_SERVE = "from liftlock.collect.server.run import serve; serve()"
TOKEN = "an operator's token of these tests"


@contextmanager
def running(folder: Path, *surveys: Path, **settings: Any) -> Iterator[Process]:
    """Run a server in a process of its own."""
    process = Process(folder, *surveys, **settings)
    try:
        yield process
    finally:
        process.stop()
