"""Running it: two addresses in one process, an end that loses nothing, and logs of nobody."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from liftlock.collect.server.app import admin_app, app, silence_access_logs, where_of
from liftlock.collect.server.limits import Sweeper, guarded
from liftlock.collect.server.metrics import Metrics
from liftlock.collect.server.service import Service
from liftlock.collect.settings import Settings
from liftlock.errors import InputError

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Lines(logging.Formatter):
    """Log lines with a day and no finer time; of an error its class and place, not its words."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s", "%Y-%m-%d")

    def formatException(self, ei: Any) -> str:
        """Say where it happened."""
        return where_of(ei[1])

    def formatStack(self, stack_info: str) -> str:
        """Say nothing."""
        del stack_info
        return ""

    def format(self, record: logging.LogRecord) -> str:
        """Format a line; what asyncio tells of a connection is left out."""
        record.exc_text = None
        if record.name == "asyncio":
            record = logging.makeLogRecord({**record.__dict__, "args": (), "msg": "asyncio failed"})
        return super().format(record)


class OnceADay(logging.Filter):
    """Lets each line pass once a day: whoever sends what is no HTTP fills no disk with it."""

    def __init__(self) -> None:
        super().__init__()
        self._day = 0
        self._seen: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether the line is new today."""
        day = int(record.created // 86_400)
        if day != self._day or len(self._seen) > 10_000:
            self._day, self._seen = day, set()
        line = record.getMessage()
        if line in self._seen:
            return False
        self._seen.add(line)
        return True


def configure_logs() -> None:
    """Log to standard error, without anything of a request."""
    handler = logging.StreamHandler()
    handler.setFormatter(Lines())
    handler.addFilter(OnceADay())
    for name, level in (
        ("liftlock.collect", logging.INFO),
        ("uvicorn", logging.WARNING),
        ("uvicorn.error", logging.WARNING),
        ("asyncio", logging.WARNING),
    ):
        logger = logging.getLogger(name)
        logger.handlers = [] if name == "uvicorn.error" else [handler]
        logger.setLevel(level)
        logger.propagate = name == "uvicorn.error"
    silence_access_logs()


class _Server(uvicorn.Server):
    """A server that leaves signals to us, and looks after its slow connections."""

    def __init__(self, config: uvicorn.Config, sweeper: Sweeper, metrics: Metrics) -> None:
        super().__init__(config)
        self._sweeper = sweeper
        self._metrics = metrics

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Take no signals: both servers end together."""
        yield

    async def on_tick(self, counter: int) -> bool:
        """Look at the connections once a second."""
        if counter % 10 == 0:
            now = asyncio.get_running_loop().time()
            ended = self._sweeper.sweep(self.server_state.connections, now)
            self._metrics.ended += ended
        return await super().on_tick(counter)


def _server(application: Any, service: Service) -> _Server:
    settings = service.settings
    config = uvicorn.Config(
        application,
        http=guarded(
            HttpToolsProtocol,
            connections=settings.most_connections,
            headers=settings.most_headers,
        ),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=list(settings.proxies) or None,
        timeout_keep_alive=settings.keep_alive_seconds,
        timeout_graceful_shutdown=settings.stop_seconds,
    )
    sweeper = Sweeper(
        headers=settings.header_seconds,
        body=settings.body_seconds,
        response=settings.response_seconds,
        idle=settings.keep_alive_seconds,
    )
    return _Server(config, sweeper, service.metrics)


def bind(host: str, port: int, admin: bool = False) -> socket.socket:
    """Listen on an address, that of the operator or the other; port 0 is any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        found = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        options = "--admin-port, or --admin-host" if admin else "--port, or --host"
        raise InputError(
            "cannot listen",
            where=f"{host}:{port}",
            value=os.strerror(error.errno) if error.errno else str(error),
            remedy=f"choose another {options}",
        ) from None
    found.setblocking(False)
    return found


def address_of(listening: socket.socket) -> str:
    """Return the URL of an address that is listened on."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


Announce = Callable[[Service, str, str], None]


def serve(
    settings: Settings | None = None,
    announce: Announce | None = None,
    *,
    service: Service | None = None,
) -> None:
    """Serve until SIGTERM or Ctrl-C; `announce` is told the service and both addresses.

    At the end 503 is answered for a moment, so that others take over; what was accepted is
    answered; then the store is ended.
    """
    own = service or Service(Settings.read() if settings is None else settings)
    configure_logs()
    own.open()
    try:
        listening = _listen(own.settings)
        try:
            loop = None
            if find_spec("uvloop") is not None:
                import uvloop

                loop = uvloop.new_event_loop
            with asyncio.Runner(loop_factory=loop) as runner:
                runner.run(_serve(own, listening, announce or announce_addresses))
        finally:
            for each in listening:
                each.close()
    finally:
        own.shutdown()


def _listen(settings: Settings) -> tuple[socket.socket, socket.socket]:
    public = bind(settings.host, settings.port)
    try:
        return public, bind(settings.admin_host, settings.admin_port, admin=True)
    except BaseException:
        public.close()
        raise


def announce_addresses(service: Service, public: str, admin: str) -> None:
    """Print where the service is."""
    print(f"people    {public}")
    print(f"operators {admin}")
    if not service.settings.admin_token:
        print(f"token     {service.admin_token}  (of an owner, for this run)")
    print(f"store     {service.settings.place.rpartition('@')[2]}", flush=True)


async def _serve(
    service: Service, listening: tuple[socket.socket, socket.socket], announce: Announce
) -> None:
    applications = app(service=service), admin_app(service=service)
    servers = [_server(each, service) for each in applications]
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, stop.set)
    running = [
        asyncio.create_task(server.serve([each]))
        for server, each in zip(servers, listening, strict=True)
    ]
    public, admin = map(address_of, listening)
    while not all(server.started for server in servers):
        await asyncio.sleep(0.01)
    announce(service, public, admin)
    stopping = asyncio.create_task(stop.wait())
    watching = asyncio.create_task(service.watch()) if service.settings.shared else None
    await asyncio.wait([stopping, *running], return_when=asyncio.FIRST_COMPLETED)
    service.draining = True
    await asyncio.sleep(service.settings.drain_seconds)
    for server in servers:
        server.should_exit = True
    await asyncio.gather(*running)
    stopping.cancel()
    if watching is not None:
        watching.cancel()
