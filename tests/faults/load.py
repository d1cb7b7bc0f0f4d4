"""A bounded load for the collection service: keep-alive connections that post reports in turn.

Bare sockets under asyncio, so that the load costs little beside the server on the same machine.
Every report has an id of its own, from a seed; every connection has one request under way. What
was answered is counted, and how long each answer took.

python -m tests.faults.load --host 127.0.0.1 --port 8123 --collection health.flu \
    --mechanism SHA256 --outputs 3 --seconds 5 --connections 64 --reports 100
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import sys
import time
from binascii import hexlify
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field

import numpy as np

ID = 16
JSON = "application/json"
BINARY = "application/vnd.liftlock.reports"
PATIENCE = 30.0
"""How many seconds an answer may take before the connection is given up."""


@dataclass(frozen=True)
class Aim:
    """What is posted, where, and by how many at a time."""

    host: str
    port: int
    collection: str
    mechanism: str
    outputs: int
    kind: str = "binary"
    reports: int = 100
    connections: int = 64
    seconds: float = 5.0
    seed: int = 1
    rate: float = math.inf
    """Requests a second at most, over all connections."""
    path: str = ""
    """Another path than that of the collection's reports."""

    @property
    def target(self) -> str:
        """The path that is posted to."""
        return self.path or f"/v1/collections/{self.collection}/reports"


@dataclass
class Result:
    """What was answered in the time."""

    requests: int = 0
    reports: int = 0
    seconds: float = 0.0
    statuses: dict[str, int] = field(default_factory=dict)
    lost: int = 0
    """Requests without an answer: the connection ended first."""
    median: float = 0.0
    slow: float = 0.0
    """The 99th percentile of the seconds an answer took."""
    slowest: float = 0.0

    @property
    def rate(self) -> float:
        """Answered requests a second."""
        return self.requests / self.seconds if self.seconds else 0.0


# --- bodies -------------------------------------------------------------------------------------


def make_bodies(aim: Aim) -> Callable[[], bytes]:
    """Return what makes the next body: the same outputs, and ids that were never used."""
    random = np.random.default_rng(aim.seed)
    outputs = random.integers(0, aim.outputs, aim.reports)
    made = _binary if aim.kind == "binary" else _json
    return made(aim, random, outputs)


def _binary(
    aim: Aim, random: np.random.Generator, outputs: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> Callable[[], bytes]:
    width = next(size for size in (1, 2, 4) if aim.outputs <= 1 << 8 * size)
    records = np.zeros((aim.reports, ID + width), dtype=np.uint8)
    records[:, ID:] = outputs.astype("<u4").view(np.uint8).reshape(-1, 4)[:, :width]
    mechanism = bytes.fromhex(aim.mechanism)

    def body() -> bytes:
        fresh = random.bytes(ID * (aim.reports + 1))
        records[:, :ID] = np.frombuffer(fresh, np.uint8, offset=ID).reshape(-1, ID)
        return fresh[:ID] + mechanism + records.tobytes()

    return body


def _json(
    aim: Aim, random: np.random.Generator, outputs: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> Callable[[], bytes]:
    digits = len(str(aim.outputs - 1))
    texts = [f'["{"0" * 2 * ID}",{output:>{digits}}],'.encode() for output in outputs.tolist()]
    records = np.frombuffer(b"".join(texts), np.uint8).reshape(aim.reports, -1).copy()
    head = '{"batch":"%s","mechanism":"' + aim.mechanism + '","reports":['
    before, after = head.encode().split(b"%s")

    def body() -> bytes:
        fresh = hexlify(random.bytes(ID * (aim.reports + 1)))
        ids = np.frombuffer(fresh, np.uint8, offset=2 * ID).reshape(-1, 2 * ID)
        records[:, 2 : 2 + 2 * ID] = ids
        return b"".join((before, fresh[: 2 * ID], after, records.tobytes()[:-1], b"]}"))

    return body


# --- connections --------------------------------------------------------------------------------


class Connection(asyncio.Protocol):
    """One connection: posts, waits for the answer, and posts again until time is up."""

    def __init__(self, load: Load) -> None:
        self.load = load
        self.buffer = b""
        self.begun = 0.0
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Post the first body."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.post()

    def post(self) -> None:
        """Post the next body, unless the time is up."""
        assert self.transport is not None
        wait = self.load.pause()
        if wait is None or self.transport.is_closing():
            self.transport.close()
        elif wait > 0:
            asyncio.get_running_loop().call_later(wait, self.post)
        else:
            self.begun = time.perf_counter()
            self.transport.write(self.load.request())

    def data_received(self, data: bytes) -> None:
        """Take an answer when it is whole."""
        self.buffer += data
        head, found, rest = self.buffer.partition(b"\r\n\r\n")
        if not found:
            return
        lower = head.lower()
        at = lower.find(b"content-length:")
        length = int(lower[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
        if len(rest) < length:
            return
        self.buffer = rest[length:]
        begun, self.begun = self.begun, 0.0
        self.load.take(head[9:12].decode(), time.perf_counter() - begun)
        self.post()

    def connection_lost(self, _: Exception | None) -> None:
        """Count a request that was not answered, and connect again while there is time."""
        self.load.end(self.begun > 0)


class Load:
    """All connections of one process, and what they were answered."""

    def __init__(self, aim: Aim) -> None:
        self.aim = aim
        self.body = make_bodies(aim)
        kind = BINARY if aim.kind == "binary" else JSON
        length = len(self.body())
        self.head = (
            f"POST {aim.target} HTTP/1.1\r\nHost: {aim.host}:{aim.port}\r\n"
            f"Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n"
        ).encode()
        self.statuses: Counter[str] = Counter()
        self.times: list[float] = []
        self.lost = 0
        self.begun = self.until = 0.0
        self.sent = 0
        self.open = 0
        self.done = asyncio.Event()

    def request(self) -> bytes:
        """Return the next request."""
        self.sent += 1
        return self.head + self.body()

    def pause(self) -> float | None:
        """Return how long to wait before the next request, or None when the time is up."""
        now = time.perf_counter()
        if now >= self.until:
            return None
        return max(0.0, self.sent / self.aim.rate - (now - self.begun))

    def take(self, status: str, seconds: float) -> None:
        """Count an answer."""
        self.statuses[status] += 1
        self.times.append(seconds)

    def end(self, unanswered: bool) -> None:
        """Count a connection that ended; another one takes its place after a moment."""
        self.lost += unanswered
        self.open -= 1
        if time.perf_counter() < self.until:
            asyncio.get_running_loop().call_later(0.1, self._again)
        elif not self.open:
            self.done.set()

    def _again(self) -> None:
        self.open += 1
        task = asyncio.get_running_loop().create_task(self._connect())
        task.add_done_callback(lambda _: None)

    async def _connect(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            await loop.create_connection(lambda: Connection(self), self.aim.host, self.aim.port)
        except OSError:
            self.end(False)

    async def run(self) -> Result:
        """Post until the time is up and every answer is there."""
        self.begun = time.perf_counter()
        self.until = self.begun + self.aim.seconds
        self.open = self.aim.connections
        await asyncio.gather(*(self._connect() for _ in range(self.aim.connections)))
        await asyncio.wait_for(self.done.wait(), self.aim.seconds + PATIENCE)
        taken = time.perf_counter() - self.begun
        times = np.array(self.times or [0.0])
        median, slow = np.quantile(times, [0.5, 0.99]).tolist()
        good = self.statuses["200"]
        return Result(
            good,
            good * self.aim.reports,
            taken,
            dict(self.statuses),
            self.lost,
            median,
            slow,
            float(times.max()),
        )


def run(aim: Aim) -> Result:
    """Post in this process."""
    return asyncio.run(_run(aim))


async def _run(aim: Aim) -> Result:
    return await Load(aim).run()


async def run_apart(aim: Aim) -> Result:
    """Post from a process of its own."""
    arguments = [f"--{name}={value}" for name, value in asdict(aim).items() if value != ""]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.faults.load", *arguments), stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate()
    if process.returncode:
        raise RuntimeError(f"the load ended with {process.returncode}")
    return Result(**json.loads(said))


def main() -> None:
    """Read the aim from the command line, and print what was answered as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    for name, kind in Aim.__dataclass_fields__.items():
        convert = {"str": str, "int": int, "float": float}[str(kind.type)]
        required = name in ("host", "port", "collection", "mechanism", "outputs")
        parser.add_argument(
            f"--{name}", type=convert, required=required, default=None if required else kind.default
        )
    print(json.dumps(asdict(run(Aim(**vars(parser.parse_args()))))))


if __name__ == "__main__":
    main()
