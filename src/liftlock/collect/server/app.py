"""The applications: what people reach, and what operators reach on another address."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import Response

from liftlock.collect.problems import Problem
from liftlock.collect.server import pages
from liftlock.collect.server.admin import ADMIN
from liftlock.collect.server.openapi import Endpoint, routes
from liftlock.collect.server.public import PUBLIC
from liftlock.collect.server.reports import PREFIX, SUFFIX, Responder, problem_of
from liftlock.collect.server.service import Service
from liftlock.collect.settings import Settings
from liftlock.collect.store import StoreError, UnknownCollection
from liftlock.errors import LiftlockError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.routing import BaseRoute

log = logging.getLogger("liftlock.collect")

Headers = list[tuple[bytes, bytes]]
_ALLOW_ORIGIN = b"access-control-allow-origin"


def app(settings: Settings | None = None, *, service: Service | None = None) -> Application:
    """Return the public application, for any ASGI server; settings are read from the environment.

    Whoever gives a service opens it and shuts it down; otherwise the server does both.
    """
    return Application(service, settings, PUBLIC, pages.routes)


def admin_app(settings: Settings | None = None, *, service: Service | None = None) -> Application:
    """Return the application for operators, which belongs on another address."""
    return Application(service, settings, ADMIN, pages.admin_routes)


class Application:
    """An ASGI application over a service: uploads by the shortest way, all else by Starlette."""

    def __init__(
        self,
        service: Service | None,
        settings: Settings | None,
        endpoints: tuple[Endpoint, ...],
        pages: Callable[[Service], Sequence[BaseRoute]],
    ) -> None:
        self._owned = service is None
        self.service = service or Service(Settings.read() if settings is None else settings)
        self._upload = Responder(self.service) if endpoints is PUBLIC else None
        self._origins = {origin.encode() for origin in self.service.settings.origins}
        if self._upload is None:
            self._origins = set()
        self._inner = Starlette(
            routes=[*routes(endpoints), *pages(self.service)],
            exception_handlers={
                Problem: _refuse,
                HTTPException: _refuse_http,
                StoreError: _refuse_store,
                UnknownCollection: _refuse_store,
                Exception: _refuse_store,
            },
        )
        self._inner.router.redirect_slashes = False
        self._inner.state.service = self.service

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Answer a request, or start and stop with the server."""
        if scope["type"] == "http":
            await self._answer(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._live(receive, send)
        else:
            await send({"type": "websocket.close", "code": 1000})

    async def _answer(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        started = False

        async def sending(message: Any) -> None:
            nonlocal started
            started = True
            try:
                await send(message)
            except Exception as error:
                raise _Gone from error

        extra = self._allow_origin(scope["headers"]) if self._origins else []
        path: str = scope["path"]
        try:
            if (
                self._upload is not None
                and scope["method"] == "POST"
                and path.endswith(SUFFIX)
                and path.startswith(PREFIX)
            ):
                await self._upload(scope, receive, send, extra)
            elif scope["method"] == "OPTIONS" and _ALLOW_ORIGIN in dict(extra):
                await _preflight(sending, extra)
            else:
                await self._other(scope, receive, sending, extra)
        except _Gone:
            self.service.metrics.requests["left", 499] += 1
        except Exception as error:
            log.error("failed: %s", where_of(error))
            self.service.metrics.requests["failed", 500] += 1
            if not started:
                with suppress(Exception):
                    await _send_problem(send, Problem("internal"))

    async def _other(self, scope: Any, receive: Any, send: Any, extra: Headers) -> None:
        """Let Starlette answer, and add headers to what it says."""
        requests = self.service.metrics.requests

        async def adding(message: Any) -> None:
            if message["type"] == "http.response.start":
                requests[scope.get("endpoint_name", "other"), message["status"]] += 1
                message["headers"] = [
                    *message["headers"],
                    (b"x-content-type-options", b"nosniff"),
                    *extra,
                ]
            await send(message)

        await self._inner(scope, receive, adding)

    def _allow_origin(self, headers: Headers) -> Headers:
        """Return the headers that let pages of other sites read the answer; caches are told so."""
        if b"*" in self._origins:
            return [(_ALLOW_ORIGIN, b"*")]
        allowed: Headers = [(b"vary", b"origin")]
        for name, value in headers:
            if name == b"origin" and value in self._origins:
                allowed.append((_ALLOW_ORIGIN, value))
        return allowed

    async def _live(self, receive: Any, send: Any) -> None:
        await receive()
        watching = None
        if self._owned:
            silence_access_logs()
            try:
                await asyncio.to_thread(self.service.open)
            except LiftlockError as error:
                await send({"type": "lifespan.startup.failed", "message": str(error)})
                return
            if self.service.settings.shared:
                watching = asyncio.create_task(self.service.watch())
        await send({"type": "lifespan.startup.complete"})
        await receive()
        if self._owned:
            self.service.draining = True
            if watching is not None:
                watching.cancel()
            await asyncio.to_thread(self.service.shutdown)
        await send({"type": "lifespan.shutdown.complete"})


def silence_access_logs() -> None:
    """Keep servers from writing down who asked for what, and when."""
    for name in ("uvicorn.access", "gunicorn.access", "granian.access", "hypercorn.access"):
        logger = logging.getLogger(name)
        logger.handlers = []
        logger.propagate = False
        logger.disabled = True


class _Gone(Exception):
    """The client did not wait for its answer."""


async def _preflight(send: Any, extra: Headers) -> None:
    headers = [
        *extra,
        (b"access-control-allow-methods", b"GET, HEAD, POST"),
        (b"access-control-allow-headers", b"content-type, authorization, if-none-match"),
        (b"access-control-max-age", b"86400"),
        (b"allow", b"GET, HEAD, OPTIONS, POST"),
    ]
    await send({"type": "http.response.start", "status": 204, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


async def _send_problem(send: Any, problem: Problem) -> None:
    body = problem.body()
    headers = [(key.encode(), value.encode()) for key, value in problem.headers().items()]
    headers.append((b"content-length", b"%d" % len(body)))
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _refuse(_: Request, problem: Any) -> Response:
    return Response(problem.body(), problem.status, problem.headers())


async def _refuse_http(request: Request, error: Any) -> Response:
    kind = "method-not-allowed" if error.status_code == 405 else "not-found"
    return await _refuse(request, Problem(kind, headers=error.headers))


async def _refuse_store(request: Request, error: Any) -> Response:
    return await _refuse(request, problem_of(error))


def where_of(error: BaseException) -> str:
    """Say of which class an error is and where it came from, and nothing that it says."""
    places = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        places.append(f"{code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}")
        trace = trace.tb_next
    return f"{type(error).__name__} at {' > '.join(places[-4:])}"
