"""Servers to be loaded: the collection service, and an empty handler of the same server.

Each is a process of its own, on loopback, which says on a line where it listens, and ends when it
is told to.

python -m tests.faults.collect_server empty
python -m tests.faults.collect_server service --store store.sqlite
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from liftlock.collect import Settings
from liftlock.collect.server import run as running
from liftlock.collect.server.service import Service
from liftlock.collect.store import Store
from liftlock.collect.survey import Survey
from tests.faults.load import Aim

SURVEY = {
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
NAME = "health.flu"
NEVER = 1e6
"""Seconds between folds, and 10^9 reports: a journal that is not folded while it is measured."""
HEADERS = [
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
]
ANSWER = b'{"stored":100,"rejected":[]}'
SECONDS = 60.0
"""How long a server may take to start or to end."""


# --- the process --------------------------------------------------------------------------------


async def empty(scope: Any, receive: Any, send: Any) -> None:
    """Read the body, and answer as many bytes as the service does."""
    assert scope["type"] == "http"
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    headers = [*HEADERS, (b"content-length", b"%d" % len(ANSWER))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": ANSWER})


def serve_empty() -> None:
    """Serve the empty handler by the same server with the same settings."""
    listening = running.bind("127.0.0.1", 0)
    server = running._server(empty, Service(Settings()))
    factory = None
    if find_spec("uvloop") is not None:
        import uvloop

        factory = uvloop.new_event_loop

    async def serve() -> None:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, setattr, server, "should_exit", True)
        _say(running.address_of(listening), "", "")
        await server.serve([listening])

    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(serve())


def serve_service(where: str, deferred: bool) -> None:
    """Serve the service; `deferred`: the journal is folded at the end only."""
    limits = {"every": NEVER, "at_most": 10**9} if deferred else {}
    survey = Survey.from_data(SURVEY)
    first = survey.collections()[NAME].default
    settings = Settings(store=where, port=0, requests_per_minute=0, drain_seconds=0.0)
    service = Service(settings, surveys=[survey], store=open_limited(where, **limits))

    def announce(_: Service, public: str, admin: str) -> None:
        _say(public, admin, first.digest, first.outputs)

    running.serve(settings, announce, service=service)


def open_limited(where: str, **limits: Any) -> Store:
    """Open a store that folds at other times."""
    if where.startswith("postgresql://"):
        from liftlock.collect.store.postgres import PostgresStore

        return PostgresStore(where, **limits)
    from liftlock.collect.store.sqlite import SqliteStore

    return SqliteStore(where, **limits)


def _say(public: str, admin: str, mechanism: str, outputs: int = 2) -> None:
    told = {"public": public, "admin": admin, "mechanism": mechanism, "outputs": outputs}
    print(json.dumps(told), flush=True)


# --- from outside -------------------------------------------------------------------------------


@dataclass
class Server:
    """A server that runs in a process of its own."""

    process: subprocess.Popen[str]
    public: str
    admin: str
    mechanism: str
    outputs: int

    def aim(self, **more: Any) -> Aim:
        """Return what a load is to be aimed at."""
        host, _, port = self.public.removeprefix("http://").rstrip("/").rpartition(":")
        return Aim(host, int(port), NAME, self.mechanism or "00" * 32, self.outputs, **more)

    @property
    def seconds(self) -> float:
        """The seconds of a core that it has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def memory(self) -> int:
        """The bytes that are resident."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * resource.getpagesize()


@contextmanager
def started(*arguments: str) -> Iterator[Server]:
    """Start a server, and end it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.faults.collect_server", *arguments],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"the server ended with {process.wait(SECONDS)}")
        yield Server(process, **json.loads(line))
    finally:
        process.terminate()
        try:
            process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


def main() -> None:
    """Serve what the command line asks for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["empty", "service"])
    parser.add_argument("--store", default="")
    parser.add_argument("--deferred", action="store_true", help="fold at the end only")
    given = parser.parse_args()
    if given.kind == "empty":
        serve_empty()
    else:
        serve_service(given.store, given.deferred)


if __name__ == "__main__":
    main()
