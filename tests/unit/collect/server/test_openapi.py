"""The documents of OpenAPI: they are right, and whatever fits them is answered as they say."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

from liftlock.collect.server.admin import ADMIN
from liftlock.collect.server.openapi import Endpoint
from liftlock.collect.server.public import PUBLIC
from tests.soak import sized
from tests.unit.collect.server.harness import Client, World, new_id, serving

EXAMPLES = settings(
    max_examples=sized(20, 300),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A service whose reports are those that are sent on purpose."""
    with serving(tmp_path_factory.mktemp("openapi")) as found:
        found.people.report([(new_id(), output) for output in (0, 1, 2, 3)])
        yield found


def schema_of(client: Client, application: Any) -> Any:
    """Return the document without who may do what, which test_admin has."""
    told = client.get("/openapi.json").json()
    del told["components"]["securitySchemes"]
    for each in told["paths"].values():
        for operation in each.values():
            operation.pop("security", None)
    schema = schemathesis.openapi.from_dict(told)
    schema.app = application
    return schema


@pytest.fixture(scope="module")
def public_schema(shared: World) -> Any:
    return schema_of(shared.people, shared.public)


@pytest.fixture(scope="module")
def admin_schema(shared: World) -> Any:
    return schema_of(shared.nobody, shared.admin)


def check(schema: Any, endpoint: Endpoint, headers: dict[str, str]) -> None:
    """Send whatever fits the document, and whatever does not."""
    operation = schema[endpoint.path][endpoint.method]
    excluded = []
    if "refused-survey" in endpoint.problems:
        excluded.append(positive_data_acceptance)  # no schema says what can be proved
    for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
        strategy = operation.as_strategy(generation_mode=mode)

        @EXAMPLES
        @given(case=strategy)
        def send(case: Any) -> None:
            case.headers.update(headers)
            case.call_and_validate(excluded_checks=excluded)

        with suppress(Unsatisfiable):  # nothing can be wrong where nothing is asked for
            send()


@pytest.mark.soak
@pytest.mark.parametrize("endpoint", PUBLIC, ids=lambda each: each.name)
def test_the_public_address_is_as_its_document_says(public_schema: Any, endpoint: Endpoint) -> None:
    check(public_schema, endpoint, {})


@pytest.mark.soak
@pytest.mark.parametrize("endpoint", ADMIN, ids=lambda each: each.name)
def test_the_address_of_operators_is_as_its_document_says(
    shared: World, admin_schema: Any, endpoint: Endpoint
) -> None:
    check(admin_schema, endpoint, {"authorization": f"Bearer {shared.service.admin_token}"})


@pytest.mark.parametrize("application", ["public", "admin"])
def test_the_documents_and_the_routes_are_one(shared: World, application: str) -> None:
    client = shared.people if application == "public" else shared.nobody
    told = client.get("/openapi.json").json()
    endpoints = PUBLIC if application == "public" else ADMIN
    assert {(method.upper(), path) for path, each in told["paths"].items() for method in each} == {
        (endpoint.method, endpoint.path) for endpoint in endpoints
    }
    names = [endpoint.name for endpoint in endpoints]
    assert len(names) == len(set(names))
