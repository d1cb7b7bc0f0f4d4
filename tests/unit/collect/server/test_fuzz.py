"""Bodies and requests that nobody sends on purpose: the right problem, and nothing is counted."""

from __future__ import annotations

import http.client
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liftlock.collect import wire
from tests.soak import sized
from tests.unit.collect.server.harness import REPORTS, Process, World, running, serving

OUTPUTS = 4


# --- mutated binary bodies ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with serving(tmp_path_factory.mktemp("fuzz")) as found:
        yield found


MUTATIONS = st.lists(
    st.tuples(
        st.sampled_from(["flip", "cut", "insert", "delete", "double"]),
        st.integers(0, 400),
        st.binary(min_size=1, max_size=40),
    ),
    max_size=3,
)


def mutate(body: bytes, kind: str, at: int, some: bytes) -> bytes:
    at %= len(body) + 1
    if kind == "flip":
        return body[:at] + bytes(byte ^ some[0] for byte in body[at : at + 1]) + body[at + 1 :]
    if kind == "cut":
        return body[:at]
    if kind == "insert":
        return body[:at] + some + body[at:]
    if kind == "delete":
        return body[:at] + body[at + len(some) :]
    return body + body[48:]


def meaning_of(body: bytes, digest: bytes) -> tuple[str, list[tuple[bytes, int]]]:
    """Read a body one report after the other, as the page of the wire says."""
    if len(body) < 48:
        return "malformed", []
    if body[16:48] != digest:
        return "other-mechanism", []
    rest, reports = body[48:], []
    while rest:
        if len(rest) < 17:
            return "malformed", []
        reports.append((rest[:16], rest[16]))
        rest = rest[17:]
    return ("reports" if reports else "malformed"), reports


@pytest.mark.soak
@settings(max_examples=sized(150, 5000))
@given(
    reports=st.lists(st.tuples(st.binary(min_size=16, max_size=16), st.integers(0, 5)), max_size=6),
    mutations=MUTATIONS,
)
def test_mutated_bodies_mean_what_the_page_says(
    shared: World, reports: list[tuple[bytes, int]], mutations: list[tuple[str, int, bytes]]
) -> None:
    digest = bytes.fromhex(shared.layout.mechanism)
    body = bytes(16) + digest + b"".join(name + bytes([output]) for name, output in reports)
    for each in mutations:
        body = mutate(body, *each)
    expected, told = meaning_of(body, digest)
    seen: dict[bytes, int] = shared.__dict__.setdefault("seen", {})
    before = Counter(seen.values())
    assert shared.people.counts() == [before[output] for output in range(OUTPUTS)]
    found = shared.people("POST", REPORTS, content=body, headers={"content-type": wire.BINARY})
    if expected == "reports":
        bad = [name.hex() for name, output in told if output >= OUTPUTS]
        assert found.status_code == 200
        assert found.json()["stored"] == len(told) - len(bad)
        assert [each["id"] for each in found.json()["rejected"]] == bad
        for name, output in told:
            if output < OUTPUTS:
                seen.setdefault(name, output)
    else:
        assert found.json()["type"] == f"/problems/{expected}"
    after = Counter(seen.values())
    assert shared.people.counts() == [after[output] for output in range(OUTPUTS)]


# --- many bad requests ----------------------------------------------------------------------------

Request = tuple[str, str, bytes, dict[str, str], str]
JSON = {"content-type": wire.JSON}


class Requests:
    """Draws requests that are all bad, with the problem that each is."""

    def __init__(self, digest: str, seed: int) -> None:
        self.digest = digest
        self.random = random.Random(seed)
        kinds: list[Callable[[], Request]] = [
            self.noise,
            self.cut,
            self.cut_bytes,
            self.wrong_field,
            self.wrong_id,
            self.wrong_type,
            self.other_mechanism,
            self.too_many,
            self.too_large,
            self.other_media,
            self.compressed,
            self.nowhere,
            self.unknown,
            self.other_method,
            self.other_query,
            self.out_of_range,
        ]
        self.kinds = kinds

    def draw(self) -> Request:
        return self.random.choice(self.kinds)()

    def _id(self) -> str:
        return self.random.randbytes(16).hex()

    def _body(self, number: int = 3, **fields: Any) -> dict[str, Any]:
        reports = [[self._id(), self.random.randrange(OUTPUTS)] for _ in range(number)]
        return {"batch": self._id(), "mechanism": self.digest, "reports": reports, **fields}

    def _post(self, body: Any, key: str, **headers: str) -> Request:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return "POST", REPORTS, content, {**JSON, **headers}, key

    def noise(self) -> Request:
        return self._post(b"\x00" + self.random.randbytes(self.random.randrange(300)), "malformed")

    def cut(self) -> Request:
        body = json.dumps(self._body()).encode()
        return self._post(body[: self.random.randrange(len(body))], "malformed")

    def cut_bytes(self) -> Request:
        body = bytes(16) + bytes.fromhex(self.digest) + self.random.randbytes(17 * 3)
        body = body[: self.random.choice([*range(48), *range(49, 64), 66, 98])]
        return "POST", REPORTS, body, {"content-type": wire.BINARY}, "malformed"

    def wrong_field(self) -> Request:
        body = {**self._body(), self.random.choice(["answer", "value", "name"]): "flu"}
        if self.random.random() < 0.5:
            body = self._body()
            del body[self.random.choice(list(body))]
        return self._post(body, "malformed")

    def wrong_id(self) -> Request:
        wrong = self.random.choice(["", "ab", "g" * 32, " " * 32, "é" * 16, "0" * 31, "0" * 33])
        return self._post(self._body(reports=[[self._id(), 0], [wrong, 1]]), "malformed")

    def wrong_type(self) -> Request:
        wrong: object = self.random.choice([None, True, 1.5, "1", [], {}])
        return self._post(self._body(reports=[[self._id(), wrong]]), "malformed")

    def other_mechanism(self) -> Request:
        return self._post(self._body(mechanism=self._id() + self._id()), "other-mechanism")

    def too_many(self) -> Request:
        return self._post(self._body(1001), "too-many")

    def too_large(self) -> Request:
        return self._post(b" " * 262_145, "too-large")

    def other_media(self) -> Request:
        media = self.random.choice(["text/plain", "application/x-www-form-urlencoded", "", "*/*"])
        return self._post(self._body(), "unsupported-media-type", **{"content-type": media})

    def compressed(self) -> Request:
        return self._post(self._body(), "unsupported-media-type", **{"content-encoding": "br"})

    def nowhere(self) -> Request:
        return "GET", f"/{self._id()}/%ff%00{self._id()}", b"", {}, "not-found"

    def unknown(self) -> Request:
        method, part = self.random.choice([("POST", "/reports"), ("GET", ""), ("GET", "/estimate")])
        path = f"/v1/collections/{self._id()}{part}"
        return method, path, b"{}" if part == "/reports" else b"", JSON, "unknown-collection"

    def other_method(self) -> Request:
        method = self.random.choice(["PUT", "DELETE", "PATCH", "GET"])
        return method, REPORTS, b"", {}, "method-not-allowed"

    def other_query(self) -> Request:
        path = f"/v1/collections/health.flu/history?{self._id()}={self._id()}"
        return "GET", path, b"", {}, "malformed"

    def out_of_range(self) -> Request:
        outputs = self.random.choice([OUTPUTS, -1, 255, 2**40, 10**400])
        return self._post(self._body(reports=[[self._id(), outputs]]), "output-out-of-range")


def resident(process: Process) -> int:
    """Return how many bytes of memory a server has."""
    status = Path(f"/proc/{process.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) * 1024


@pytest.mark.soak
def test_bad_requests_are_told_so_and_count_nothing(tmp_path: Path, survey_file: Path) -> None:
    with (
        running(tmp_path, survey_file) as process,
        closing(http.client.HTTPConnection(*process.address, timeout=60)) as connection,
    ):

        def ask(method: str, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, Any]:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())

        _, described = ask("GET", "/v1/collections/health.flu", b"", {})
        requests = Requests(described["mechanism"], seed=22)
        number = sized(3_000, 100_000)
        keys: Counter[str] = Counter()
        warm = 0
        for at in range(number):
            if at == number // 3:
                warm = resident(process)
            method, path, body, headers, key = requests.draw()
            status, told = ask(method, path, body, headers)
            keys[key] += 1
            if key == "output-out-of-range":
                assert (status, told["stored"]) == (200, 0)
                told = told["rejected"][0]
            else:
                assert told["status"] == status
            assert told["type"] == f"/problems/{key}", (method, path, body[:200], headers, told)
        grown = resident(process) - warm
        _, counted = ask("GET", "/v1/collections/health.flu/aggregate", b"", {})
        assert counted["counts"] == [0] * OUTPUTS
        assert len(keys) == 9
        assert grown < 16 << 20, f"{grown:,} bytes more after {number:,} bad requests"
        print(f"{number:,} bad requests, {grown:,} bytes more, {dict(keys)}")
