"""What everybody may ask: descriptions, mechanisms, and results where the survey shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from liftlock.collect import wire
from liftlock.collect.problems import KINDS, Problem
from liftlock.collect.server.metrics import MEDIA as METRICS
from liftlock.collect.server.openapi import (
    Endpoint,
    Parameter,
    answer,
    document,
    operator_of,
    service_of,
    tagged,
)
from liftlock.collect.server.reports import problem_of
from liftlock.collect.server.service import Served, require_least
from liftlock.collect.survey.least import shown_days, shown_mechanisms

if TYPE_CHECKING:
    from starlette.requests import Request

OBJECT: dict[str, Any] = {"type": "object"}
NOTE = "these are counts of outputs of the mechanism, not of answers: see the estimate"
_YEAR = "public, max-age=31536000, immutable"

COLLECTION = Parameter("collection", "SURVEY.QUESTION", {"type": "string", "minLength": 1}, "path")
LEVEL = Parameter(
    "level",
    "the confidence of the intervals, from 0.01 to 0.999999",
    {"type": "number", "minimum": 0.01, "maximum": 0.999999},
)


async def list_collections(request: Request) -> Response:
    """List the collections."""
    service = service_of(request)
    day = service.today()
    return answer(
        {
            "collections": [
                {"name": name, "state": each.state_on(day)} for name, each in service.served.items()
            ]
        },
        request,
        cache="no-cache",
    )


async def describe(request: Request) -> Response:
    """Describe a collection."""
    service = service_of(request)
    served = service.find(request.path_params["collection"])
    return answer(served.description(service.today()), request, cache="no-cache")


async def send_mechanism(request: Request) -> Response:
    """Send the very bytes that were hashed, whatever range is asked for."""
    digest = request.path_params["sha256"]
    found = service_of(request).mechanisms.get(digest)
    if found is None:
        raise Problem("unknown-mechanism")
    return tagged(found, "application/json", request, cache=_YEAR, etag=f'"{digest}"')


async def _shown(request: Request) -> tuple[Served, bool]:
    """Return a collection whose results the sender of the request may see; raises Problem.

    And whether its mechanisms may be named: those of a panel hold what is known of each person.
    """
    service = service_of(request)
    served = service.find(request.path_params["collection"])
    if request.client is not None and not service.questions.allows(request.client.host):
        raise Problem("too-many-requests")
    told = "authorization" in request.headers
    if served.survey.results != "public" or (served.panel and told):
        await operator_of(request, ("analyst",))
        return served, True
    return served, not served.panel


async def estimate(request: Request) -> Response:
    """Estimate what people answered."""
    served, _ = await _shown(request)
    options = dict(request.query_params)
    return answer(await service_of(request).results.estimate(served, options), request)


async def aggregate(request: Request) -> Response:
    """Give the counts up to the last report that was answered."""
    served, named = await _shown(request)
    counts = await service_of(request).results.counts(served.name)
    number = require_least(served, counts)
    kept = shown_mechanisms(served.collection, counts.mechanisms) if named else frozenset()
    mechanisms = {digest: each for digest, each in counts.mechanisms.items() if digest in kept}
    return answer(
        {
            "collection": served.name,
            "mechanism": served.default,
            "counts": mechanisms.get(served.default or ""),
            "reports": number,
            "revision": counts.revision,
            "mechanisms": mechanisms,
            "note": NOTE,
        },
        request,
    )


async def history(request: Request) -> Response:
    """Give the counts of each day; what has too few reports to show is left out."""
    served, named = await _shown(request)
    service = service_of(request)
    require_least(served, await service.results.counts(served.name))
    found = await service.results.history(served.name)
    kept = await service.results.read(shown_days, served.collection, found)
    days = {
        day: {digest: found[day][digest] for digest in found[day] if named and digest in digests}
        for day, digests in kept.items()
    }
    content = {
        "collection": served.name,
        "by": "day",
        "days": days,
        "reports": {day: sum(map(sum, found[day].values())) for day in days},
        "left_out": len(found) - len(days),
        "note": NOTE,
    }
    return answer(content, request)


async def explain(request: Request) -> Response:
    """Explain a type of problem."""
    kind = KINDS.get(request.path_params["problem"])
    if kind is None:
        raise Problem("not-found")
    told = {"type": kind.type, "title": kind.title, "status": kind.status, "remedy": kind.remedy}
    return answer(told, request, cache="public, max-age=86400")


async def healthz(_: Request) -> Response:
    """Say that the process answers."""
    return answer({"alive": True})


async def readyz(request: Request) -> Response:
    """Say whether reports can be taken."""
    service = service_of(request)
    told = service.store.ready()
    if service.draining:
        raise Problem("busy", "the server is about to stop")
    if not told.get("writable", True):
        raise Problem("read-only")
    if told.get("unfolded", 0) > service.settings.fold_lag:
        raise Problem("busy", "too many reports wait to be counted")
    return answer(
        {"ready": True, "queue": told.get("queue", 0), "lag": round(told.get("lag", 0), 1)}
    )


async def metrics(request: Request) -> Response:
    """Give the metrics."""
    service = service_of(request)
    return Response(await service.results.read(service.metrics.text), media_type=METRICS)


async def openapi(request: Request) -> Response:
    """Give this document."""
    told = document("liftlock collect", "Reports, descriptions and results.", PUBLIC)
    return answer(told, request, cache="no-cache")


_RESULTS = ("unknown-collection", "too-few-reports", "too-many-requests", "busy")
COUNTS = {"type": "array", "items": {"type": "integer", "minimum": 0}}
BY_MECHANISM = {"type": "object", "additionalProperties": COUNTS}

HEALTH = (
    Endpoint("GET", "/healthz", "health", "The process answers", healthz, OBJECT),
    Endpoint(
        "GET",
        "/readyz",
        "readiness",
        "Reports can be taken",
        readyz,
        OBJECT,
        problems=("busy", "read-only"),
    ),
)
PUBLIC: tuple[Endpoint, ...] = (
    Endpoint(
        "GET",
        "/v1/collections",
        "collections",
        "All collections",
        list_collections,
        {
            "type": "object",
            "required": ["collections"],
            "properties": {"collections": {"type": "array", "items": OBJECT}},
        },
    ),
    Endpoint(
        "GET",
        "/v1/collections/{collection}",
        "description",
        "What everybody may know of a collection, with an entity tag",
        describe,
        {
            "type": "object",
            "required": ["name", "mechanism", "outputs", "state"],
            "properties": {
                "mechanism": {"type": ["string", "null"], "pattern": "^[0-9a-f]{64}$"},
                "outputs": {"type": ["integer", "null"], "minimum": 1},
                "state": {"enum": ["open", "closed", "not-open-yet"]},
            },
        },
        parameters=(COLLECTION,),
        problems=("unknown-collection",),
    ),
    Endpoint(
        "POST",
        "/v1/collections/{collection}/reports",
        "reports",
        "Reports are on disk, and will be counted once",
        None,
        {
            "type": "object",
            "required": ["stored", "rejected"],
            "additionalProperties": False,
            "properties": {
                "stored": {"type": "integer", "minimum": 0, "maximum": wire.MOST},
                "rejected": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["id", "type"],
                        "properties": {"id": {"type": "string"}, "type": {"type": "string"}},
                    },
                },
            },
        },
        parameters=(COLLECTION,),
        bodies={
            wire.JSON: wire.upload_schema(),
            wire.BINARY: {"type": "string", "format": "binary"},
        },
        problems=(
            *("unknown-collection", "other-mechanism", "closed", "not-open-yet", "too-many"),
            *("too-large", "too-slow", "unsupported-media-type", "too-many-requests", "busy"),
            *("read-only", "disk-full", "token-not-valid"),
        ),
    ),
    Endpoint(
        "GET",
        "/v1/collections/{collection}/estimate",
        "estimate",
        "What people answered, with intervals",
        estimate,
        {"type": "object", "required": ["revision"]},
        parameters=(COLLECTION, LEVEL),
        problems=(*_RESULTS, "no-estimate"),
        token=True,
    ),
    Endpoint(
        "GET",
        "/v1/collections/{collection}/aggregate",
        "aggregate",
        "Counts of outputs up to the last report that was answered",
        aggregate,
        {
            "type": "object",
            "required": ["counts", "mechanism", "reports", "revision", "mechanisms"],
            "properties": {
                "counts": {**COUNTS, "type": ["array", "null"]},
                "mechanisms": BY_MECHANISM,
            },
        },
        parameters=(COLLECTION,),
        problems=_RESULTS,
        token=True,
    ),
    Endpoint(
        "GET",
        "/v1/collections/{collection}/history",
        "history",
        "Counts of outputs by day",
        history,
        {
            "type": "object",
            "required": ["days"],
            "properties": {"days": {"type": "object", "additionalProperties": BY_MECHANISM}},
        },
        parameters=(
            COLLECTION,
            Parameter("by", "day", {"type": "string", "enum": ["day"], "default": "day"}),
        ),
        problems=_RESULTS,
        token=True,
    ),
    Endpoint(
        "GET",
        "/v1/mechanisms/{sha256}",
        "mechanism",
        "The whole file of a mechanism, which never changes",
        send_mechanism,
        OBJECT,
        parameters=(
            Parameter(
                "sha256", "64 hexadecimal digits", {"type": "string", "minLength": 1}, "path"
            ),
        ),
        problems=("unknown-mechanism",),
    ),
    Endpoint(
        "GET",
        "/problems/{problem}",
        "problem",
        "What a type of problem means",
        explain,
        OBJECT,
        parameters=(
            Parameter("problem", "its name", {"type": "string", "enum": list(KINDS)}, "path"),
        ),
        problems=("not-found",),
    ),
    *HEALTH,
    Endpoint("GET", "/openapi.json", "openapi", "This document", openapi, OBJECT),
)
"""The endpoints of the public address."""

__all__ = ["HEALTH", "PUBLIC", "metrics", "problem_of"]
