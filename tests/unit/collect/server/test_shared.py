"""Two servers over one PostgreSQL: they count together, and follow each other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from liftlock.errors import InputError
from tests.postgres_cluster import missing, shared_cluster
from tests.unit.collect.server.harness import FLU, World, new_id, serving, survey_of

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "PostgreSQL is there")
FLU_PATH = "/v1/collections/health.flu"


@pytest.fixture
def both(tmp_path: Path) -> Iterator[tuple[World, World]]:
    url = shared_cluster().create_schema()
    key = str(tmp_path / "tokens.key")
    with ExitStack() as stack:
        yield (
            stack.enter_context(serving(tmp_path, store=url, key_file=key)),
            stack.enter_context(serving(tmp_path, store=url, key_file=key)),
        )


def test_reports_to_either_are_counted_once_by_both(both: tuple[World, World]) -> None:
    names = [new_id() for _ in range(6)]
    for at, name in enumerate(names):
        assert both[at % 2].people.report([(name, 2)]).json() == {"stored": 1, "rejected": []}
        assert both[at // 2 % 2].people.report([(name, 2)]).json()["stored"] == 1
        for world in both:
            assert world.people.counts() == [0, 0, at + 1, 0]
    bodies = [world.people.get(f"{FLU_PATH}/estimate").json()["answers"] for world in both]
    assert bodies[0] == bodies[1]


def test_what_an_operator_does_at_one_holds_at_the_other(both: tuple[World, World]) -> None:
    one, two = both
    told = {**FLU, "survey": "other", "tokens": "signed"}
    assert one.operator("PUT", "/v1/surveys/other", json=told).status_code == 201
    made = one.operator("POST", "/v1/collections/other.flu/tokens", json={"number": 1}).json()
    two.service.refresh()
    (token,) = made["tokens"]
    sent = two.people.report([(token["id"], 1)], collection="other.flu", tokens=[token["tag"]])
    assert sent.json() == {"stored": 1, "rejected": []}
    assert one.people.counts("other.flu") == [0, 1, 0, 0]
    assert one.operator("POST", f"{FLU_PATH}/close").status_code == 200
    found = two.people.report([(new_id(), 0)])
    assert (found.status_code, found.json()["type"]) == (409, "/problems/closed")
    two.service.refresh()
    assert two.people.get(FLU_PATH).json()["state"] == "closed"
    assert one.operator("DELETE", "/v1/collections/other.flu").status_code == 204
    assert two.people.report([(new_id(), 0)], collection="health.flu").status_code == 409
    two.service.refresh()
    assert two.people.get("/v1/collections/other.flu").status_code == 404


def test_tokens_need_a_key_that_all_servers_share(tmp_path: Path) -> None:
    url = shared_cluster().create_schema()
    signed = survey_of(tokens="signed")
    with pytest.raises(InputError, match="one key"), serving(tmp_path, signed, store=url):
        pass
