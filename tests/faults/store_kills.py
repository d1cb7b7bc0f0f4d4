"""Kill a store under load many times: `python -m tests.faults.store_kills 200`.

Clients send batches to a process and try again until each is answered. The process is killed at any
time, or told to end, and started again on the same file. Each report has an output of its own: in
the end every one must be counted once. A URL as the last argument takes another store.
"""

from __future__ import annotations

import hashlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from liftlock.collect.store import open_store
from tests.unit.collect.store.homes import NAME, Mechanism

CLIENTS = 8
OUTPUTS = 1 << 22
LARGEST = 40
"""Reports in a batch."""
STORED = b"+"


@dataclass
class Found:
    """What the kills led to."""

    rounds: int = 0
    ended: int = 0
    """How often the process was told to end."""
    answered: int = 0
    tries: int = 0
    lost: int = 0
    replayed: int = 0
    unasked: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def is_right(self) -> bool:
        """Whether every answered report was counted once, and nothing else."""
        return not (self.lost or self.replayed or self.unasked or self.wrong)


class Clients:
    """Threads that send reports without end, and each batch until it is answered."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.mechanism = Mechanism(OUTPUTS)
        self.lock = threading.Lock()
        self.made = self.tries = 0
        self.answered: list[range] = []
        self.stopping = threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(at,)) for at in range(CLIENTS)]

    def run(self, seed: int) -> None:
        chance = random.Random(seed)
        talk: socket.socket | None = None
        while not self.stopping.is_set():
            with self.lock:
                reports = range(self.made, min(self.made + chance.randint(1, LARGEST), OUTPUTS))
                self.made = reports.stop
            if not reports:
                break
            body = self.mechanism.batch((report_id(at), at) for at in reports).reports
            # The last server ends when all clients have: until then one will answer.
            while talk is None or not self.send(talk, body):
                time.sleep(0.005)
                talk = self.connect()
            self.answered.append(reports)
        if talk is not None:
            talk.close()

    def connect(self) -> socket.socket | None:
        talk = socket.socket(socket.AF_UNIX)
        talk.settimeout(30)
        try:
            talk.connect(self.address)
        except OSError:
            talk.close()
            return None
        return talk

    def send(self, talk: socket.socket, body: bytes) -> bool:
        """Send a batch; return whether it was answered, and close the connection if not."""
        self.tries += 1
        try:
            talk.sendall(len(body).to_bytes(4, "big") + body)
            answer = talk.recv(1)
        except OSError:
            answer = b""
        if answer != STORED:
            talk.close()
        return answer == STORED


def report_id(at: int) -> int:
    """Return an id that tells nothing of its report, and is the same when it is sent again."""
    return int.from_bytes(hashlib.blake2b(at.to_bytes(8, "big"), digest_size=16).digest(), "big")


def start(where: str, address: str) -> subprocess.Popen[str]:
    """Start the process, and wait until it answers."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.faults.store_server", where, address, str(OUTPUTS)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def end(process: subprocess.Popen[str], how: signal.Signals) -> int:
    """Send a signal, and wait for the end."""
    process.send_signal(how)
    code = process.wait(60)
    assert process.stdout is not None
    process.stdout.close()
    return code


def kill(rounds: int, seed: int, where: str, folder: Path) -> Found:
    """Start and kill it so many times under load; then count."""
    chance = random.Random(seed)
    found = Found(rounds)
    address = str(folder / "socket")
    clients = Clients(address)
    process = start(where, address)
    for thread in clients.threads:
        thread.start()
    try:
        for at in range(rounds):
            time.sleep(chance.uniform(0.0, 0.4))
            gently = at % 5 == 4
            found.ended += gently
            code = end(process, signal.SIGTERM if gently else signal.SIGKILL)
            if code != (0 if gently else -signal.SIGKILL):
                found.wrong.append(f"round {at}: ended with {code}")
            process = start(where, address)
    finally:
        clients.stopping.set()
        for thread in clients.threads:
            thread.join()
        end(process, signal.SIGTERM)
    count(found, clients, where)
    return found


def count(found: Found, clients: Clients, where: str) -> None:
    """Compare what was answered with what was counted."""
    store = open_store(where)
    try:
        found.wrong += store.verify()
        counts = store.counts(NAME).mechanisms[clients.mechanism.digest]
    finally:
        store.shutdown()
    answered = {at for reports in clients.answered for at in reports}
    counted = {at for at, n in enumerate(counts) if n}
    found.answered, found.tries = len(answered), clients.tries
    found.lost = len(answered - counted)
    found.replayed = sum(n > 1 for n in counts)
    found.unasked = len(counted - set(range(clients.made)))


def main(rounds: int, seed: int, where: str = "") -> int:
    """Kill, and say what was found; return 1 if anything was lost or counted twice."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = kill(rounds, seed, where or str(folder / "store.sqlite"), folder)
    print(
        f"{found.rounds:,} rounds ({found.rounds - found.ended:,} killed, {found.ended:,} told to "
        f"end): {found.answered:,} reports answered, {found.tries:,} tries, {found.lost:,} lost, "
        f"{found.replayed:,} counted twice, {found.unasked:,} never sent"
    )
    for line in found.wrong:
        print(line)
    return int(not found.is_right)


if __name__ == "__main__":
    sys.exit(
        main(
            int(sys.argv[1]) if len(sys.argv) > 1 else 200,
            int(sys.argv[2]) if len(sys.argv) > 2 else 0,
            *sys.argv[3:4],
        )
    )
