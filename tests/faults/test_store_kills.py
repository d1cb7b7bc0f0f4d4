"""Processes with a store are killed, told to end, and started twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from liftlock.collect.store import open_store
from tests.faults.store_kills import OUTPUTS, Clients, Found, count, end, kill, start
from tests.soak import sized

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sockets and signals of POSIX")


@pytest.mark.soak
def test_what_was_answered_is_counted_once_after_kills(tmp_path: Path) -> None:
    found = kill(sized(5, 200), 0, str(tmp_path / "store.sqlite"), tmp_path)
    assert found.is_right, found
    assert found.answered > 100
    assert found.tries > found.rounds


def test_a_second_process_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    where, address = str(tmp_path / "store.sqlite"), str(tmp_path / "socket")
    process = start(where, address)
    try:
        second = subprocess.run(
            [sys.executable, "-m", "tests.faults.store_server", where, address + "2", "9"],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert second.returncode == 1
        assert "in use by another process" in second.stderr
        assert str(process.pid) in second.stderr
        assert "Traceback" not in second.stderr
        clients = Clients(address)
        talk = clients.connect()
        assert talk is not None
        assert clients.send(talk, clients.mechanism.batch([(1, OUTPUTS - 1)]).reports)
        talk.close()
    finally:
        code = end(process, signal.SIGTERM)
    assert code == 0
    store = open_store(where)
    assert store.collections()
    store.shutdown()


def test_a_kill_leaves_no_lock_behind(tmp_path: Path) -> None:
    where, address = tmp_path / "store.sqlite", str(tmp_path / "socket")
    assert end(start(str(where), address), signal.SIGKILL) == -signal.SIGKILL
    assert where.with_name("store.sqlite.lock").exists()
    store = open_store(where)
    assert store.verify() == []
    store.shutdown()
    assert not where.with_name("store.sqlite.lock").exists()


def test_told_to_end_it_answers_what_it_has_accepted(tmp_path: Path) -> None:
    where, address = str(tmp_path / "store.sqlite"), str(tmp_path / "socket")
    process = start(where, address)
    clients = Clients(address)
    talks = [clients.connect() for _ in range(20)]
    for at, talk in enumerate(talks):
        assert talk is not None
        body = clients.mechanism.batch([(at, at)]).reports
        talk.sendall(len(body).to_bytes(4, "big") + body)
    # The first answer tells that requests are being read; others may still be on their way.
    assert talks[0] is not None
    answers = [talks[0].recv(1)]
    assert end(process, signal.SIGTERM) == 0
    for at, talk in enumerate(talks):
        assert talk is not None
        if at:
            try:
                answers.append(talk.recv(1))
            except OSError:
                answers.append(b"")
        talk.close()
    clients.made = len(talks)
    clients.answered = [range(at, at + 1) for at, answer in enumerate(answers) if answer == b"+"]
    assert clients.answered
    found = Found()
    count(found, clients, where)
    assert found.is_right, found
