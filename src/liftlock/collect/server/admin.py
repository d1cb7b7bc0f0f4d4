"""What operators do, on an address of its own: surveys, closing, erasing, tokens, the trail."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.responses import Response

from liftlock.collect.problems import Problem
from liftlock.collect.server.access import OWN, ROLES, Operator, hash_token, new_token
from liftlock.collect.server.openapi import (
    Endpoint,
    Parameter,
    answer,
    document,
    service_of,
)
from liftlock.collect.server.public import BY_MECHANISM, COLLECTION, HEALTH, OBJECT, metrics
from liftlock.collect.server.service import ChangedSurvey, Service
from liftlock.collect.survey.file import Source, parse_source
from liftlock.collect.survey.survey import read_survey
from liftlock.errors import FileError, LiftlockError

if TYPE_CHECKING:
    from starlette.requests import Request

MOST_SURVEY = 4_000_000
"""The most bytes of a survey."""
MOST_TOKENS = 10_000
"""The most write tokens that are made at a time."""


_FILES = frozenset(
    {"prior", "intervals", "ball", "centre", "family", "file", "panel", "priors"}
    | {"profiles", "edges", "mechanism"}
)
"""The keys of a survey whose text is the name of a file."""
_NO_FILE = re.compile(
    r"none|unknown|no|complete|chain|[0-9./eE+-]*[0-9][0-9./eE+-]*|", re.IGNORECASE
)


_OPERATOR = "[A-Za-z0-9][A-Za-z0-9._@-]{0,99}"
_LANGUAGES = {
    "application/json": "JSON",
    "application/yaml": "YAML",
    "application/toml": "TOML",
}


class _Number(msgspec.Struct, forbid_unknown_fields=True):
    number: int = 1


class _Name(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    role: str


async def _do(request: Request, function: Any, *arguments: Any) -> Any:
    """Call what waits for the disk in a thread."""
    return await service_of(request).results.read(function, *arguments)


async def _note(request: Request, what: str, collection: str = "") -> None:
    """Add a line to the trail: who did what."""
    operator: Operator = request.state.operator
    await _do(request, service_of(request).store.note, operator.name, what, collection)


async def _body(request: Request, most: int) -> bytes:
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise Problem("too-large", most=most)
        parts.append(part)
    return b"".join(parts)


async def _read(request: Request, kind: type[Any]) -> Any:
    """Read a small JSON body."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise Problem("unsupported-media-type", "send application/json")
    try:
        return msgspec.json.decode(await _body(request, 65_536), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Problem("malformed", str(error)[:200]) from None


# --- surveys --------------------------------------------------------------------------------------


async def list_surveys(request: Request) -> Response:
    """List all collections and their surveys."""
    service = service_of(request)
    day = service.today()
    return answer(
        {
            "collections": [
                {"name": name, "state": each.state_on(day), "survey": each.survey.content()}
                for name, each in service.served.items()
            ]
        }
    )


async def put_survey(request: Request) -> Response:
    """Design, prove and serve a survey; repeatable."""
    return await _put(request, request.path_params["survey"], None)


async def put_collection(request: Request) -> Response:
    """Design, prove and serve the survey of a collection; repeatable."""
    name = request.path_params["collection"]
    return await _put(request, name.partition(".")[0], name)


async def _put(request: Request, name: str, collection: str | None) -> Response:
    media = request.headers.get("content-type", "").partition(";")[0].strip()
    source = _parse(await _body(request, MOST_SURVEY), media)
    service = service_of(request)
    try:
        survey = read_survey(source)
        if survey.name != name:
            raise Problem("refused-survey", f"the survey is {survey.name!r}, the address {name!r}")
        asked = [f"{name}.{question.name}" for question in survey.questions]
        if collection is not None and collection not in asked:
            raise Problem("refused-survey", f"the survey has no question {collection!r}")
        new = not any(each in service.served for each in asked)
        names = await service.designs(service.put, survey)
    except ChangedSurvey as error:
        raise Problem("other-survey", str(error)) from None
    except LiftlockError as error:
        raise Problem("refused-survey", str(error)) from None
    await _note(request, "put survey", name)
    return answer({"survey": name, "collections": names}, status=201 if new else 200)


def _parse(body: bytes, media: str) -> Source:
    """Read the survey in a body; raises Problem."""
    language = _LANGUAGES.get(media)
    if language is None:
        raise Problem("unsupported-media-type", f"send one of {', '.join(_LANGUAGES)}")
    try:
        text = body.decode()
    except UnicodeDecodeError:
        raise Problem("malformed", "the body is not UTF-8") from None
    try:
        source = parse_source(text, Path("the body"), language)
    except FileError as error:
        raise Problem("malformed", str(error)) from None
    _refuse_files(source.data)
    return source


def _refuse_files(told: Any, key: str = "") -> None:
    """Refuse names of files, which would be files of the server; raises Problem."""
    if isinstance(told, dict):
        for name, value in told.items():
            _refuse_files(value, str(name))
    elif isinstance(told, list):
        for value in told:
            _refuse_files(value, key)
    elif key in _FILES and isinstance(told, str) and not _NO_FILE.fullmatch(told.strip()):
        raise Problem("refused-survey", f"{key}: files are not read here; write the numbers")


async def close(request: Request) -> Response:
    """Take no more reports."""
    service = service_of(request)
    served = service.find(request.path_params["collection"])
    await _do(request, service.close, served.name)
    await _note(request, "close", served.name)
    return answer({"collection": served.name, "state": served.state_on(service.today())})


async def erase(request: Request) -> Response:
    """Erase a collection, its counts and its ids."""
    service = service_of(request)
    served = service.find(request.path_params["collection"])
    await _do(request, service.erase, served.name)
    await _note(request, "erase", served.name)
    return Response(status_code=204)


async def issue_tokens(request: Request) -> Response:
    """Make write tokens, one for each person."""
    service = service_of(request)
    served = service.find(request.path_params["collection"])
    told = await _read(request, _Number)
    if not 1 <= told.number <= MOST_TOKENS:
        raise Problem("malformed", f"number: from 1 to {MOST_TOKENS:,}")
    if not served.signed:
        raise Problem("refused-survey", "the survey takes reports without tokens: tokens: open")
    made = await _do(request, lambda: list(service.tokens.issue(served.name, told.number)))
    await _note(request, f"issue {told.number} write tokens", served.name)
    tokens = [{"id": name.hex(), "tag": tag.hex()} for name, tag in made]
    return answer({"collection": served.name, "tokens": tokens}, status=201)


# --- results --------------------------------------------------------------------------------------


async def export(request: Request) -> Response:
    """Export the counts by day, mechanism and output."""
    service = service_of(request)
    served = service.find(request.path_params["collection"])
    await service.results.counts(served.name)
    days = await _do(request, service.store.history, served.name)
    await _note(request, "export", served.name)
    if request.query_params.get("format") == "csv":
        return Response(_csv(served.name, days), media_type="text/csv")
    counts = await service.results.counts(served.name)
    return answer(
        {
            "collection": served.name,
            "survey": served.survey.content(),
            "days": dict(sorted(days.items())),
            "mechanisms": counts.mechanisms,
            "repeated": counts.repeated,
            "conflicts": counts.conflicts,
            "revision": counts.revision,
        }
    )


def _csv(name: str, days: dict[str, dict[str, tuple[int, ...]]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["collection", "day", "mechanism", "output", "reports"])
    for day, mechanisms in sorted(days.items()):
        for digest, counts in mechanisms.items():
            writer.writerows(
                [name, day, digest, output, number] for output, number in enumerate(counts)
            )
    return text.getvalue()


# --- the store ------------------------------------------------------------------------------------


async def backup(request: Request) -> Response:
    """Write a copy of the store to the folder of backups, and name it."""
    service = service_of(request)
    place = await _do(request, _back_up, service)
    await _note(request, "backup")
    return answer({"backup": place}, status=201)


def _back_up(service: Service) -> str:
    settings = service.settings
    if not settings.backups and settings.shared:
        raise Problem("refused-survey", "no folder for backups is set: backups")
    store = Path(settings.place)
    folder = Path(settings.backups) if settings.backups else store.parent
    folder.mkdir(parents=True, exist_ok=True)
    stem = "store" if settings.shared else store.stem
    for number in range(1, 10_000):
        name = f"{stem}-{service.today().isoformat()}-{number}.backup"
        if not (folder / name).exists():
            service.store.backup(folder / name)
            return name
    raise Problem("disk-full", "10,000 backups of one day")


async def verify(request: Request) -> Response:
    """Check the store, and say what is wrong with it."""
    wrong = await _do(request, service_of(request).store.verify)
    return answer({"sound": not wrong, "wrong": wrong})


async def trail(request: Request) -> Response:
    """Say who did what on which day."""
    return answer({"trail": await _do(request, service_of(request).store.trail)})


# --- operators ------------------------------------------------------------------------------------


async def list_operators(request: Request) -> Response:
    """List the names and roles of operators."""
    return answer({"operators": await _do(request, service_of(request).store.tokens)})


async def add_operator(request: Request) -> Response:
    """Make a token for an operator; it is shown this once."""
    service = service_of(request)
    told = await _read(request, _Name)
    if told.role not in ROLES:
        raise Problem("malformed", f"role: {', '.join(ROLES)}")
    if re.fullmatch(_OPERATOR, told.name) is None:
        raise Problem(
            "malformed",
            "name: 1 to 100 letters of ASCII, digits, and . _ @ -, the first a letter or digit",
        )
    if told.name == OWN or told.name in await _do(request, service.store.tokens):
        raise Problem("name-taken")
    token = new_token()
    await _do(request, service.store.add_token, told.name, told.role, hash_token(token))
    await _note(request, f"add {told.role} {told.name}")
    return answer({"name": told.name, "role": told.role, "token": token}, status=201)


async def remove_operator(request: Request) -> Response:
    """Revoke the token of an operator."""
    service = service_of(request)
    name = request.path_params["name"]
    if name not in await _do(request, service.store.tokens):
        raise Problem("not-found", f"no operator is named {name!r}")
    await _do(request, service.store.revoke_token, name)
    await _note(request, f"revoke {name}")
    return Response(status_code=204)


async def openapi(request: Request) -> Response:
    """Give this document."""
    told = document("liftlock collect, for operators", "Surveys, tokens and the trail.", ADMIN)
    return answer(told, request, cache="no-cache")


_SURVEY_BODY = {"application/json": OBJECT, "application/yaml": OBJECT, "application/toml": OBJECT}
_PUT = ("refused-survey", "other-survey", "too-large", "unsupported-media-type")
_DISK = ("read-only", "disk-full", "busy")
_OWNER = ("owner",)
_JSON_BODY = ("too-large", "unsupported-media-type")
_NAME = Parameter("name", "the name of an operator", {"type": "string", "minLength": 1}, "path")
_SURVEY = Parameter("survey", "the name of a survey", {"type": "string", "minLength": 1}, "path")
_FORMAT = Parameter(
    "format", "json or csv", {"type": "string", "enum": ["json", "csv"], "default": "json"}
)

ADMIN: tuple[Endpoint, ...] = (
    Endpoint(
        "GET",
        "/v1/collections",
        "surveys",
        "All collections and their surveys",
        list_surveys,
        OBJECT,
        roles=("analyst", "auditor"),
    ),
    Endpoint(
        "PUT",
        "/v1/surveys/{survey}",
        "putSurvey",
        "The survey is designed, proved and served",
        put_survey,
        OBJECT,
        parameters=(_SURVEY,),
        bodies=_SURVEY_BODY,
        problems=(*_PUT, *_DISK),
        roles=_OWNER,
    ),
    Endpoint(
        "PUT",
        "/v1/collections/{collection}",
        "putCollection",
        "The survey of the collection is designed, proved and served",
        put_collection,
        OBJECT,
        parameters=(COLLECTION,),
        bodies=_SURVEY_BODY,
        problems=(*_PUT, *_DISK),
        roles=_OWNER,
    ),
    Endpoint(
        "DELETE",
        "/v1/collections/{collection}",
        "erase",
        "Everything of the collection is erased",
        erase,
        status=204,
        parameters=(COLLECTION,),
        problems=("unknown-collection", *_DISK),
        roles=_OWNER,
    ),
    Endpoint(
        "POST",
        "/v1/collections/{collection}/close",
        "close",
        "The collection takes no more reports",
        close,
        OBJECT,
        parameters=(COLLECTION,),
        problems=("unknown-collection", *_DISK),
        roles=_OWNER,
    ),
    Endpoint(
        "POST",
        "/v1/collections/{collection}/tokens",
        "writeTokens",
        "Write tokens, one for each person",
        issue_tokens,
        OBJECT,
        status=201,
        parameters=(COLLECTION,),
        bodies={
            "application/json": {
                "type": "object",
                "additionalProperties": False,
                "properties": {"number": {"type": "integer", "minimum": 1, "maximum": MOST_TOKENS}},
            }
        },
        problems=("unknown-collection", "refused-survey", *_JSON_BODY, *_DISK),
        roles=_OWNER,
    ),
    Endpoint(
        "GET",
        "/v1/collections/{collection}/export",
        "export",
        "Counts by day, mechanism and output",
        export,
        {"type": "object", "properties": {"mechanisms": BY_MECHANISM}},
        parameters=(COLLECTION, _FORMAT),
        problems=("unknown-collection", *_DISK),
        roles=("analyst",),
    ),
    Endpoint(
        "POST",
        "/v1/backup",
        "backup",
        "A copy of the store",
        backup,
        OBJECT,
        status=201,
        problems=("refused-survey", *_DISK),
        roles=_OWNER,
    ),
    Endpoint(
        "GET",
        "/v1/verify",
        "verify",
        "What is wrong with the store",
        verify,
        OBJECT,
        problems=_DISK,
        roles=("auditor",),
    ),
    Endpoint(
        "GET",
        "/v1/trail",
        "trail",
        "Who did what on which day",
        trail,
        OBJECT,
        problems=_DISK,
        roles=("auditor",),
    ),
    Endpoint(
        "GET",
        "/v1/operators",
        "operators",
        "Names and roles of operators",
        list_operators,
        OBJECT,
        problems=_DISK,
        roles=("auditor",),
    ),
    Endpoint(
        "POST",
        "/v1/operators",
        "addOperator",
        "A token of a new operator, shown this once",
        add_operator,
        OBJECT,
        status=201,
        bodies={
            "application/json": {
                "type": "object",
                "additionalProperties": False,
                "required": ["name", "role"],
                "properties": {
                    "name": {"type": "string", "pattern": f"^{_OPERATOR}$"},
                    "role": {"type": "string", "enum": list(ROLES)},
                },
            }
        },
        problems=("name-taken", *_JSON_BODY, *_DISK),
        roles=_OWNER,
    ),
    Endpoint(
        "DELETE",
        "/v1/operators/{name}",
        "removeOperator",
        "The token of the operator is revoked",
        remove_operator,
        status=204,
        parameters=(_NAME,),
        problems=("not-found", *_DISK),
        roles=_OWNER,
    ),
    *HEALTH,
    Endpoint(
        "GET",
        "/metrics",
        "metrics",
        "Metrics for Prometheus",
        metrics,
        {"type": "string"},
        media="text/plain",
    ),
    Endpoint("GET", "/openapi.json", "openapi", "This document", openapi, OBJECT),
)
"""The endpoints of the operator's address."""
