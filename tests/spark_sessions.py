"""Spark for tests: a session, and a standalone cluster of processes, on loopback addresses only.

The cluster is a master and two workers, of one core each, from the PySpark package. A process of
its own starts them and ends them, whatever becomes of the tests: when its input ends, so do they.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pyspark
from pyspark import SparkContext
from pyspark.sql import SparkSession

from tests.docs.pages import ROOT

HAS_JAVA = shutil.which("java") is not None or "JAVA_HOME" in os.environ

# A short life: compile once and plainly, and trust the classes that Spark is made of.
SHORT = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions "
    "-XX:-BytecodeVerificationRemote"
)
PYTHONPATH = os.pathsep.join([str(ROOT / "src"), str(ROOT)])


@contextmanager
def session(folder: Path, settings: Mapping[str, str] = {}) -> Iterator[SparkSession]:
    """Start Spark with two cores, and leave neither processes nor files behind."""
    own = {
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": PYTHONPATH,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    every = {
        # The second number is how often a task may fail: by default never in a local session.
        "spark.master": "local[2,3]",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": SHORT,
        "spark.local.dir": str(folder / "local"),
        "spark.log.level": "OFF",
        "spark.python.daemon.module": "tests.unit.spark_daemon",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "20",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    } | dict(settings)
    with mock.patch.dict(os.environ, own):
        builder = SparkSession.builder.appName("liftlock")
        for name, value in every.items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
        gateway: Any = SparkContext._gateway
        try:
            yield spark
        finally:
            spark.stop()
            gateway.shutdown()
            gateway.proc.stdin.close()
            gateway.proc.wait()
            SparkContext._gateway = None
            SparkContext._jvm = None


def wait_for(condition: Callable[[], Any], seconds: float = 300) -> None:
    """Wait until something is so, however slow the machine is."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, f"not so after {seconds} s"
        time.sleep(0.05)


# --- processes ----------------------------------------------------------------------------------


def processes_of(leader: int) -> list[int]:
    """Return the processes of a session (in the sense of setsid), but not its leader."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            # After the name, in parentheses: state, parent, group, session.
            state, _, _, session = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
            if int(session) == leader != int(entry.name) and state != "Z":
                found.append(int(entry.name))
    return found


def end_all(leader: int) -> None:
    """Kill all processes of a session but its leader."""
    while left := processes_of(leader):
        for each in left:
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        time.sleep(0.05)


# --- the cluster --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cluster:
    """A cluster that runs."""

    leader: int
    master: str
    workers: tuple[int, int]
    own: str
    """A folder that is another for the second worker, empty if that was not permitted."""

    @property
    def settings(self) -> dict[str, str]:
        """What a session needs to use it."""
        return {
            "spark.master": self.master,
            "spark.driver.memory": "640m",
            "spark.executor.cores": "1",
            "spark.executor.memory": "512m",
            "spark.executor.extraJavaOptions": SHORT,
            "spark.executorEnv.PYTHONPATH": PYTHONPATH,
            # A busy machine is no lost one, and two executors are to be there.
            "spark.network.timeout": "600s",
            "spark.scheduler.minRegisteredResourcesRatio": "1.0",
            "spark.scheduler.maxRegisteredResourcesWaitingTime": "300s",
            "spark.cores.max": "2",
        }

    def seen_by_second(self, folder: Path) -> Path:
        """Return a folder as the second worker sees it."""
        return Path(f"/proc/{self.workers[1]}/root{folder}")

    def executors(self) -> int:
        """Return how many executors run."""
        found = 0
        for each in processes_of(self.leader):
            with suppress(OSError):
                command = Path(f"/proc/{each}/cmdline").read_bytes().split(b"\0")
                found += b"org.apache.spark.executor.CoarseGrainedExecutorBackend" in command
        return found


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """Start a cluster, with all its files in a folder, and end it."""
    folder.mkdir(parents=True)
    with subprocess.Popen(
        [sys.executable, "-m", __name__, str(folder)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": PYTHONPATH},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as started:
        assert started.stdin is not None
        assert started.stdout is not None
        try:
            told = json.loads(started.stdout.readline())
            assert "failed" not in told, told["failed"]
            yield Cluster(started.pid, told["master"], tuple(told["workers"]), told["own"])
        finally:
            started.stdin.close()
            started.wait()
            end_all(started.pid)


def _run(folder: Path) -> dict[str, Any]:
    """Start a master and two workers, and tell how they are reached."""
    master = _start(folder, "master", "127.0.0.1", "master.Master")
    url = _find(master, r"Starting Spark master at (spark://127\.0\.0\.1:\d+)")
    own = folder / "own"
    own.mkdir()
    wrapped = _own_mount(own)
    each = ("worker.Worker", "--cores", "1", "--memory", "1g", "--work-dir")
    workers = [
        _start(folder, "first", "127.0.0.1", *each, str(folder / "work-first"), url),
        _start(
            folder, "second", "127.0.0.2", *each, str(folder / "work-second"), url, before=wrapped
        ),
    ]
    for worker in workers:
        _find(worker, "Successfully registered with master")
    return {
        "master": url,
        "workers": [worker.process.pid for worker in workers],
        "own": str(own) if wrapped else "",
    }


@dataclass(frozen=True)
class _Started:
    process: subprocess.Popen[bytes]
    log: Path


def _start(
    folder: Path, name: str, host: str, kind: str, *options: str, before: tuple[str, ...] = ()
) -> _Started:
    home = Path(pyspark.__file__).parent
    settings = folder / "conf"
    settings.mkdir(exist_ok=True)
    environment = os.environ | {
        "SPARK_CONF_DIR": str(settings),
        # Its other interface has a port of its own, always the same.
        "SPARK_DAEMON_JAVA_OPTS": f"{SHORT} -Dspark.master.rest.enabled=false",
        "SPARK_DAEMON_MEMORY": "192m",
        "SPARK_HOME": str(home),
        # Pages are served there too.
        "SPARK_LOCAL_IP": host,
        "SPARK_LOCAL_DIRS": str(folder / f"local-{name}"),
    }
    log = folder / f"{name}.log"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [
                *(*before, str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}"),
                *("--host", host, "--port", "0", "--webui-port", "0", *options),
            ],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
        )
    return _Started(process, log)


def _find(started: _Started, pattern: str) -> str:
    """Wait until a process has logged something, and return it."""

    def found() -> re.Match[str] | None:
        text = started.log.read_text(errors="replace")
        assert started.process.poll() is None, f"it ended:\n{text[-2000:]}"
        return re.search(pattern, text)

    wait_for(found)
    match = found()
    assert match is not None
    return match[match.re.groups]


def _own_mount(folder: Path) -> tuple[str, ...]:
    """Return what gives a process a folder of its own, nothing if that is not permitted."""
    mount = 'mount -t tmpfs -o size=64m none "$0" && exec "$@"'
    for unshare in (["unshare", "--mount"], ["unshare", "--map-root-user", "--mount"]):
        command = (*unshare, "sh", "-c", mount, str(folder))
        with suppress(OSError):
            if not subprocess.run([*command, "true"], check=False, capture_output=True).returncode:
                return command
    return ()


def main() -> None:
    """Run a cluster until the input ends."""
    try:
        try:
            told = _run(Path(sys.argv[1]))
        except AssertionError as error:
            told = {"failed": str(error)}
        print(json.dumps(told), flush=True)
        sys.stdin.read()
    finally:
        end_all(os.getpid())


if __name__ == "__main__":
    main()
