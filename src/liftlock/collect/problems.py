"""What can be wrong with a request: problems of RFC 9457, one type for each cause."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

MEDIA = "application/problem+json"


@dataclass(frozen=True)
class Kind:
    """A cause, the status that it is answered with, and what it means in words."""

    key: str
    status: HTTPStatus
    title: str
    remedy: str
    retry: int | None = None
    """After how many seconds the same request may succeed, where it may."""

    @property
    def type(self) -> str:
        """What the answer calls it; the server explains it under this path."""
        return f"/problems/{self.key}"


KINDS: dict[str, Kind] = {
    kind.key: kind
    for kind in (
        Kind(
            "unknown-collection",
            HTTPStatus.NOT_FOUND,
            "There is no such collection",
            "GET /v1/collections lists those that there are",
        ),
        Kind(
            "unknown-mechanism",
            HTTPStatus.NOT_FOUND,
            "There is no such mechanism",
            "the description of a collection names its mechanisms by their SHA-256",
        ),
        Kind(
            "other-mechanism",
            HTTPStatus.CONFLICT,
            "The reports are from another mechanism than the collection's",
            "fetch the mechanism named in 'mechanism' and draw the answer anew",
        ),
        Kind(
            "closed",
            HTTPStatus.CONFLICT,
            "The collection is closed",
            "delete the report: nobody will ask for it again",
        ),
        Kind(
            "not-open-yet",
            HTTPStatus.CONFLICT,
            "The collection is not open yet",
            "send the report on the day named in 'opens' or later",
        ),
        Kind(
            "output-out-of-range",
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "The mechanism has no such output",
            "outputs are counted from 0; this report was not counted, the others were",
        ),
        Kind(
            "token-not-valid",
            HTTPStatus.FORBIDDEN,
            "The report has no valid write token",
            "use the id of the token as the id of the report, and send the tag with it",
        ),
        Kind(
            "malformed",
            HTTPStatus.BAD_REQUEST,
            "The request is not of the form that the wire page describes",
            "see 'detail'; nothing was counted",
        ),
        Kind(
            "too-many",
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            "Too many reports in one request",
            "send at most as many as 'most' says; nothing was counted",
        ),
        Kind(
            "too-large",
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            "The body is too large",
            "send fewer reports; nothing was counted",
        ),
        Kind(
            "headers-too-large",
            HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
            "The request line and its headers are too long",
            "send fewer headers",
        ),
        Kind(
            "too-slow",
            HTTPStatus.REQUEST_TIMEOUT,
            "The body did not arrive in time",
            "send it again; nothing was counted",
        ),
        Kind(
            "unsupported-media-type",
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            "The body is of a type that is not read here",
            "see 'detail'; bodies are not compressed",
        ),
        Kind(
            "too-few-reports",
            HTTPStatus.CONFLICT,
            "There are fewer reports than are shown",
            "ask again when at least as many as 'least' have come",
        ),
        Kind(
            "no-estimate",
            HTTPStatus.CONFLICT,
            "The counts do not allow this estimate",
            "see 'detail'",
        ),
        Kind(
            "unauthorised",
            HTTPStatus.UNAUTHORIZED,
            "This needs a token",
            "send 'Authorization: Bearer TOKEN'",
        ),
        Kind(
            "forbidden",
            HTTPStatus.FORBIDDEN,
            "The token's role does not allow this",
            "ask somebody who has one of the roles in 'roles'",
        ),
        Kind(
            "not-found",
            HTTPStatus.NOT_FOUND,
            "There is nothing at this address",
            "GET /openapi.json lists what there is",
        ),
        Kind(
            "method-not-allowed",
            HTTPStatus.METHOD_NOT_ALLOWED,
            "The address does not take this method",
            "the header Allow lists those that it takes",
        ),
        Kind(
            "name-taken",
            HTTPStatus.CONFLICT,
            "There is an operator of this name",
            "choose another name, or revoke the token of that operator first",
        ),
        Kind(
            "refused-survey",
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "The survey cannot be had",
            "see 'detail'; nothing was changed",
        ),
        Kind(
            "other-survey",
            HTTPStatus.CONFLICT,
            "There are reports to another survey of this name",
            "see 'detail'; give the changed survey a new name, or erase the collection",
        ),
        Kind(
            "too-many-requests",
            HTTPStatus.TOO_MANY_REQUESTS,
            "Too many requests from this address",
            "wait as long as Retry-After says",
            retry=60,
        ),
        Kind(
            "busy",
            HTTPStatus.SERVICE_UNAVAILABLE,
            "The server has too much to do, or is about to stop",
            "send the same again after as long as Retry-After says",
            retry=1,
        ),
        Kind(
            "read-only",
            HTTPStatus.SERVICE_UNAVAILABLE,
            "The store cannot be written to",
            "the operator has to mend it; what was answered 200 is kept",
            retry=60,
        ),
        Kind(
            "disk-full",
            HTTPStatus.INSUFFICIENT_STORAGE,
            "The disk of the store is full",
            "the operator has to make room; what was answered 200 is kept",
            retry=60,
        ),
        Kind(
            "internal",
            HTTPStatus.INTERNAL_SERVER_ERROR,
            "The server failed",
            "tell the operator; sending the same report again is safe",
        ),
    )
}
"""Every problem, by its key."""


class Problem(Exception):
    """A request that is not done, and why.

    >>> problem = Problem("too-many", "1,001 reports", most=1000)
    >>> problem.status, problem.content()["type"], problem.content()["most"]
    (413, '/problems/too-many', 1000)
    """

    def __init__(
        self,
        key: str,
        detail: str = "",
        *,
        headers: Mapping[str, str] | None = None,
        **members: Any,
    ) -> None:
        self.kind = KINDS[key]
        self.detail = detail
        self.members = members
        self._headers = dict(headers or {})
        super().__init__(detail or self.kind.title)

    @property
    def status(self) -> int:
        """The status of the answer."""
        return int(self.kind.status)

    def content(self) -> dict[str, Any]:
        """Return the JSON form of RFC 9457, section 3."""
        kind = self.kind
        data: dict[str, Any] = {"type": kind.type, "title": kind.title, "status": self.status}
        if self.detail:
            data["detail"] = self.detail
        return {**data, "remedy": kind.remedy, **self.members}

    def body(self) -> bytes:
        """Return the body of the answer."""
        return json.dumps(self.content(), ensure_ascii=False).encode("utf-8", "replace")

    def headers(self) -> dict[str, str]:
        """Return the headers of the answer."""
        found = {"content-type": MEDIA, "cache-control": "no-store", **self._headers}
        if self.kind.retry is not None:
            found.setdefault("retry-after", str(self.kind.retry))
        return found


SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["type", "title", "status"],
    "properties": {
        "type": {"type": "string", "enum": [kind.type for kind in KINDS.values()]},
        "title": {"type": "string"},
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "detail": {"type": "string"},
        "remedy": {"type": "string"},
    },
}
"""The JSON schema of a problem."""
