"""What one client can take: slow, large and many ones, against a server as a process."""

from __future__ import annotations

import select
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest

from liftlock.collect import wire
from liftlock.collect.server.limits import Rates, Sweeper
from tests.unit.collect.server.harness import REPORTS, Process, new_id, running

MOST = 40


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory, survey_file: Path) -> Iterator[Process]:
    """A server that waits for nobody."""
    settings = {
        "header_seconds": 1,
        "body_seconds": 1,
        "response_seconds": 1,
        "keep_alive_seconds": 1,
        "most_headers": 4096,
    }
    with running(tmp_path_factory.mktemp("strict"), survey_file, **settings) as process:
        yield process


def connect(process: Process) -> socket.socket:
    found = socket.create_connection(process.address, timeout=60)
    found.settimeout(60)
    return found


def rest(connection: socket.socket) -> bytes:
    """Read until the server ends the connection."""
    parts = []
    with suppress(ConnectionResetError):
        while part := connection.recv(65_536):
            parts.append(part)
    return b"".join(parts)


def still_serves(process: Process) -> None:
    digest = httpx.get(f"{process.public}v1/collections/health.flu").json()["mechanism"]
    body = wire.write_json(new_id(), digest, [(new_id(), 1)])
    headers = {"content-type": wire.JSON}
    found = httpx.post(process.public.rstrip("/") + REPORTS, content=body, headers=headers)
    assert found.json() == {"stored": 1, "rejected": []}


HEAD = f"POST {REPORTS} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n".encode()


@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"GET / HTT",
        b"GET / HTTP/1.1\r\nhost: x\r\n",
        b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\nGET /",
    ],
    ids=["nothing", "half a line", "no end of headers", "half of a second request"],
)
def test_slow_headers_are_given_up(strict: Process, begun: bytes) -> None:
    with connect(strict) as connection:
        connection.sendall(begun)
        answer = rest(connection)
    assert answer.count(b"HTTP/1.1 200") == begun.count(b"healthz")
    still_serves(strict)


def test_a_slow_body_is_told_so(strict: Process) -> None:
    with connect(strict) as connection:
        connection.sendall(HEAD + b"content-length: 100\r\n\r\n{")
        answer = rest(connection)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"/problems/too-slow" in answer
    still_serves(strict)


def test_a_client_that_does_not_read_is_given_up(strict: Process) -> None:
    digest = httpx.get(f"{strict.public}v1/collections/health.flu").json()["mechanism"]
    asked = f"GET /v1/mechanisms/{digest} HTTP/1.1\r\nhost: x\r\n\r\n".encode()
    before = ended_by(strict)
    with connect(strict) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        with suppress(ConnectionResetError, BrokenPipeError):
            connection.sendall(asked * 5_000)
        for _ in range(600):
            if ended_by(strict) > before:
                break
            time.sleep(0.1)
        else:
            raise AssertionError("the connection was not ended")
    still_serves(strict)


def ended_by(process: Process) -> float:
    told = httpx.get(f"{process.admin}metrics").text
    return float(told.partition("\nliftlock_connections_ended_total ")[2].split()[0])


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\nx: " + b"a" * 100_000,
        b"GET / HTTP/1.1\r\nx: " + b"a" * 5_000 + b"\r\n\r\n",
        b"GET /" + b"a" * 100_000,
        b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 20_000,
    ],
    ids=["one without end", "one too long", "the line", "many"],
)
def test_long_headers_are_refused(strict: Process, sent: bytes) -> None:
    with connect(strict) as connection:
        with suppress(ConnectionResetError, BrokenPipeError):
            connection.sendall(sent)
        answer = rest(connection)
    assert answer[:13] in (b"HTTP/1.1 431 ", b"")
    assert b"HTTP/1.1 200" not in answer
    still_serves(strict)


def test_requests_may_follow_each_other_at_once(strict: Process) -> None:
    asked = b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n"
    number = 5_000
    with connect(strict) as connection:
        sender = threading.Thread(target=connection.sendall, args=(asked * number,))
        sender.start()
        answers = b""
        while answers.count(b'{"alive":true}') < number:
            part = connection.recv(1 << 20)
            assert part, answers[-500:]
            answers += part
        sender.join()
    assert answers.count(b"HTTP/1.1 200 ") == number


@pytest.mark.parametrize(
    "sent", [b"HELO\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00" * 20, b"GET / HTTP/9.9\r\n\r\n"]
)
def test_what_is_no_http_is_told_so(strict: Process, sent: bytes) -> None:
    with connect(strict) as connection:
        connection.sendall(sent)
        answer = rest(connection)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"application/problem+json" in answer
    still_serves(strict)


def test_a_large_body_is_refused_before_it_is_read(strict: Process) -> None:
    with connect(strict) as connection:
        connection.sendall(HEAD + b"content-length: 1000000000\r\n\r\n")
        answer = connection.recv(65_536)
        assert answer.startswith(b"HTTP/1.1 413 ")
        assert b"/problems/too-large" in answer + connection.recv(65_536)
    still_serves(strict)


def test_more_connections_than_allowed_are_told_to_come_again(
    tmp_path: Path, survey_file: Path
) -> None:
    settings = {"most_connections": MOST, "header_seconds": 60}
    with running(tmp_path, survey_file, **settings) as process, ExitStack() as stack:
        opened = [stack.enter_context(connect(process)) for _ in range(3 * MOST)]
        refused: set[socket.socket] = set()
        while len(refused) < 2 * MOST:
            ready, _, _ = select.select(set(opened) - refused, (), (), 60)
            assert ready, f"{len(refused)} of {len(opened)} connections were refused"
            refused.update(ready)
        for connection in opened:
            if connection in refused:
                answer = rest(connection)
                assert answer.startswith(b"HTTP/1.1 503 ")
                assert b"retry-after" in answer
            else:
                connection.sendall(b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
                assert rest(connection).startswith(b"HTTP/1.1 200 ")
        still_serves(process)


def test_addresses_are_forgotten_with_the_minute() -> None:
    now = 0.0
    rates = Rates(1, clock=lambda: now)
    assert [rates.allows("203.0.113.1") for _ in range(2)] == [True, False]
    kept = repr(vars(rates))
    assert "203.0.113" not in kept
    now = 61.0
    assert rates.allows("203.0.113.1")


def test_few_addresses_share_a_counter() -> None:
    rates = Rates(1, clock=lambda: 0.0)
    allowed = [rates.allows(f"203.0.{at // 256}.{at % 256}") for at in range(2000)]
    assert allowed.count(False) <= 100


def test_any_text_can_be_an_address() -> None:
    rates = Rates(1, clock=lambda: 0.0)
    for address in ("", "unix:", "fe80::1%eth0", "\udcff", "x" * 10_000, "::::"):
        assert [rates.allows(address) for _ in range(2)] == [True, False]


def test_a_sweeper_keeps_nothing_of_connections_that_are_gone() -> None:
    sweeper = Sweeper(headers=1, body=1, response=1, idle=1)
    assert sweeper.sweep({_Connection(), _Connection()}, 0) == 0
    assert sweeper.sweep(set(), 5) == 0
    stuck = _Connection()
    assert [sweeper.sweep({stuck}, now) for now in (6.0, 6.9, 7.1)] == [0, 0, 1]
    assert stuck.ended == 1


class _Connection:
    """A connection that waits for headers."""

    cycle = None

    def __init__(self) -> None:
        self.ended = 0

    @property
    def transport(self) -> _Connection:
        return self

    def get_extra_info(self, name: str) -> None:
        return None

    def abort(self) -> None:
        self.ended += 1
