"""Endpoints: each is declared once; its route and its part of OpenAPI are made from that."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from liftlock import __version__
from liftlock.collect.problems import KINDS, MEDIA, SCHEMA, Problem
from liftlock.collect.server.service import etag_of

if TYPE_CHECKING:
    from liftlock.collect.server.service import Service

Handler = Callable[[Request], Awaitable[Response]]
JSON = "application/json"


@dataclass(frozen=True)
class Parameter:
    """A parameter of the path or of the query."""

    name: str
    says: str
    schema: Mapping[str, Any]
    place: str = "query"
    required: bool = False

    def check(self, value: str) -> None:
        """Refuse a value that the schema refuses; raises Problem."""
        schema = self.schema
        right = value in schema["enum"] if "enum" in schema else True
        if right and "pattern" in schema:
            right = re.search(schema["pattern"], value) is not None
        if right and schema.get("type") == "integer":
            right = re.fullmatch("[0-9]{1,9}", value) is not None and (
                schema.get("minimum", 0) <= int(value) <= schema.get("maximum", 10**9)
            )
        if right and schema.get("type") == "number":
            right = re.fullmatch(r"[0-9]*\.?[0-9]+([eE][-+]?[0-9]{1,3})?", value) is not None and (
                schema["minimum"] <= float(value) <= schema["maximum"]
            )
        if not right:
            raise Problem("malformed", f"{self.name}: {self.says}", parameter=self.name)

    def content(self) -> dict[str, Any]:
        """Return its part of OpenAPI."""
        return {
            "name": self.name,
            "in": self.place,
            "required": self.required or self.place == "path",
            "description": self.says,
            "schema": dict(self.schema),
        }


@dataclass(frozen=True)
class Endpoint:
    """What one method of one address does."""

    method: str
    path: str
    name: str
    summary: str
    handler: Handler | None
    answer: Mapping[str, Any] | None = None
    """The JSON schema of the answer; None: it has no body."""
    status: int = 200
    media: str = JSON
    parameters: Sequence[Parameter] = ()
    bodies: Mapping[str, Mapping[str, Any]] | None = None
    """The schema of each type of body that it takes."""
    problems: Sequence[str] = ()
    roles: Sequence[str] = ()
    """Who may besides an owner; everybody where there is none."""
    token: bool = False
    """Whether a token may be needed, as the survey says."""

    @property
    def route(self) -> str:
        """The path as Starlette writes it."""
        return self.path

    def operation(self) -> dict[str, Any]:
        """Return its part of OpenAPI."""
        data: dict[str, Any] = {
            "operationId": self.name,
            "summary": self.summary,
            "parameters": [each.content() for each in self.parameters],
            "responses": self._responses(),
        }
        if self.bodies is not None:
            data["requestBody"] = {
                "required": True,
                "content": {media: {"schema": dict(each)} for media, each in self.bodies.items()},
            }
        if self.roles:
            data["security"] = [{"token": []}]
        elif self.token:
            data["security"] = [{}, {"token": []}]
        return data

    def _responses(self) -> dict[str, Any]:
        good: dict[str, Any] = {"description": self.summary}
        if self.answer is not None:
            good["content"] = {self.media: {"schema": dict(self.answer)}}
        responses: dict[str, Any] = {str(self.status): good}
        keys = [*self.problems]
        if self.parameters or self.bodies:
            keys.append("malformed")
        if self.roles or self.token:
            keys += ["unauthorised", "forbidden"]
        causes: dict[str, list[str]] = {}
        for key in dict.fromkeys([*keys, "internal"]):
            causes.setdefault(str(int(KINDS[key].status)), []).append(key)
        for status, those in sorted(causes.items()):
            responses[status] = {
                "description": "; ".join(f"{KINDS[key].title} ({key})" for key in those),
                "content": {MEDIA: {"schema": {"$ref": "#/components/schemas/Problem"}}},
            }
        return responses


def document(title: str, says: str, endpoints: Iterable[Endpoint]) -> dict[str, Any]:
    """Return the OpenAPI document of endpoints."""
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        path = re.sub(r":[a-z]+}", "}", endpoint.path)
        paths.setdefault(path, {})[endpoint.method.lower()] = endpoint.operation()
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "description": says, "version": __version__},
        "paths": paths,
        "components": {
            "schemas": {"Problem": SCHEMA},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def routes(endpoints: Iterable[Endpoint]) -> list[Route]:
    """Return the routes of endpoints; one route answers all methods of a path."""
    paths: dict[str, dict[str, Endpoint]] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method] = endpoint
    return [Route(path, _dispatch(methods)) for path, methods in paths.items()]


def _dispatch(methods: Mapping[str, Endpoint]) -> type:
    """Return an ASGI application, which Starlette hands every method to."""
    allowed = sorted({*methods, "OPTIONS", *(["HEAD"] if "GET" in methods else [])})
    allow = {"allow": ", ".join(allowed)}

    class Dispatch:
        """Hands a request to the endpoint of its method."""

        def __init__(self, scope: Any, receive: Any, send: Any) -> None:
            self._call = scope, receive, send

        def __await__(self) -> Any:
            return self._answer().__await__()

        async def _answer(self) -> None:
            scope, receive, send = self._call
            request = Request(scope, receive)
            method = scope["method"]
            endpoint = methods.get("GET" if method == "HEAD" else method)
            if method == "OPTIONS":
                response = Response(status_code=204, headers=allow)
            elif endpoint is None or endpoint.handler is None:
                raise Problem("method-not-allowed", headers=allow)
            else:
                scope["endpoint_name"] = endpoint.name
                check_query(request, endpoint)
                if endpoint.roles:
                    request.state.operator = await operator_of(request, tuple(endpoint.roles))
                response = await endpoint.handler(request)
            if method == "HEAD":
                response.body = b""  # the headers are those of GET
            await response(scope, receive, send)

    return Dispatch


def check_query(request: Request, endpoint: Endpoint) -> None:
    """Refuse parameters of the query that are unknown, given twice, or wrong; raises Problem."""
    known = {each.name: each for each in endpoint.parameters if each.place == "query"}
    seen: set[str] = set()
    for name, value in request.query_params.multi_items():
        if name not in known or name in seen:
            told = ", ".join(known) or "none"
            raise Problem("malformed", f"unknown or repeated parameter of the query; known: {told}")
        seen.add(name)
        known[name].check(value)


def service_of(request: Request) -> Service:
    """Return the service that a request is to."""
    service: Service = request.app.state.service
    return service


async def operator_of(request: Request, roles: tuple[str, ...]) -> Any:
    """Return who sent the token of a request; raises Problem."""
    service = service_of(request)
    told = request.headers.get("authorization")
    return await service.results.read(service.access.require, told, roles)


def answer(
    data: Any, request: Request | None = None, *, status: int = 200, cache: str = "no-store"
) -> Response:
    """Answer with JSON; with a request, under an entity tag that it may have already."""
    body = data if isinstance(data, bytes) else msgspec.json.encode(data)
    return tagged(body, JSON, request, status=status, cache=cache)


def tagged(
    body: bytes,
    media: str,
    request: Request | None,
    *,
    status: int = 200,
    cache: str,
    etag: str | None = None,
) -> Response:
    """Answer with a body, or say that the client has it."""
    headers = {"cache-control": cache}
    if request is not None:
        headers["etag"] = etag or etag_of(body)
        if has_tag(request.headers.get("if-none-match", ""), headers["etag"]):
            return Response(status_code=304, headers=headers)
    return Response(body, status, headers, media)


def has_tag(told: str, etag: str) -> bool:
    """Tell whether If-None-Match names the tag.

    >>> has_tag('W/"a", "b"', '"b"'), has_tag("*", '"b"'), has_tag('"c"', '"b"')
    (True, True, False)
    """
    tags = [each.strip().removeprefix("W/") for each in told.split(",")]
    return "*" in tags or etag in tags
