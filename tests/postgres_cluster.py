"""A PostgreSQL server for tests: a cluster of its own in a temporary folder, on a socket there.

The server refuses to run as root: then it runs as an account without rights. It ends with the
process that started it, whatever becomes of that process.
"""

from __future__ import annotations

import atexit
import os
import pwd
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

NEWEST = 30
OLDEST = 15
SECONDS = 60.0
"""How long a server may take to start or to end."""


def find_programs() -> Path | None:
    """Return the folder of the programs of the newest PostgreSQL that the store accepts."""
    for version in range(NEWEST, OLDEST - 1, -1):
        folder = Path(f"/usr/lib/postgresql/{version}/bin")
        if (folder / "initdb").exists():
            return folder
    found = shutil.which("initdb")
    if found is None:
        return None
    said = subprocess.run([found, "--version"], capture_output=True, text=True).stdout
    version_of = re.search(r"(\d+)", said)
    recent = version_of is not None and int(version_of[1]) >= OLDEST
    return Path(found).resolve().parent if recent else None


def find_account() -> str | None:
    """Return the account that a server runs as: another one than root."""
    for name in ("postgres", "nobody"):
        with suppress(KeyError):
            return pwd.getpwnam(name).pw_name
    return None


def missing() -> str:
    """Say why there is no server here; nothing if there can be one."""
    if find_programs() is None:
        return f"PostgreSQL {OLDEST} or newer is not installed (requirements/system, as root)"
    if shutil.which("setpriv") is None:
        return "setpriv, which starts PostgreSQL here, is not installed (util-linux)"
    if os.getuid() == 0 and find_account() is None:
        return "PostgreSQL does not run as root, and there is no account to run it as"
    return ""


@dataclass
class Cluster:
    """One server, its folder, and what it is told beside that."""

    folder: Path
    settings: Mapping[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None
    schemas: int = 0

    @property
    def data(self) -> Path:
        """Where its files are."""
        return self.folder / "data"

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        """Return the address of a database."""
        return f"postgresql://{user}@/{database}?host={self.folder}"

    def create(self, database: str) -> str:
        """Make an empty database, and return its address."""
        self.tell(f'create database "{database}"')
        return self.url(database)

    def tell(self, statement: str, database: str = "postgres") -> str:
        """Run a statement as the superuser, and return what it prints."""
        done = subprocess.run(
            [*self._as_account(), "psql", "-qAtX", "-v", "ON_ERROR_STOP=1", self.url(database)],
            input=statement,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            env=self._environment(),
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def create_schema(self) -> str:
        """Make an empty schema, which is sooner there than a database; return its address."""
        self.schemas += 1
        self.tell(f"create schema s{self.schemas}")
        return f"{self.url()}&options=-csearch_path%3Ds{self.schemas}"

    def initialise(self) -> None:
        """Make the files of a cluster that trusts whoever may reach its folder."""
        arguments = ["initdb", "-D", str(self.data), "-A", "trust", "-U", "postgres", "-N"]
        arguments += ["--locale=C", "--encoding=UTF8", "--no-instructions"]
        done = subprocess.run(
            [*self._as_account(), *arguments],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            env=self._environment(),
        )
        assert done.returncode == 0, done.stderr

    def start(self) -> None:
        """Start the server and wait until it answers.

        It ends with the thread that calls this: let that be one that lives as long as the test.
        """
        told = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.folder),
            # After a kill it syncs the disk once, not file by file.
            "recovery_init_sync_method": "syncfs",
        }
        options = [f"-c{name}={value}" for name, value in {**told, **self.settings}.items()]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [*self._as_account(), "postgres", "-D", str(self.data), *options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self._environment(),
            )
        end = time.monotonic() + SECONDS
        while not self.answers():
            assert self.process.poll() is None, (self.folder / "log").read_text()
            assert time.monotonic() < end, (self.folder / "log").read_text()
            time.sleep(0.02)

    def answers(self) -> bool:
        """Tell whether the server lets somebody in."""
        ask = [*self._as_account(), "pg_isready", "-q", "-h", str(self.folder)]
        return subprocess.run(ask, env=self._environment(), timeout=SECONDS).returncode == 0

    def stop(self) -> None:
        """End the server at once; what was committed is there when it starts again."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(SECONDS)

    def kill(self) -> None:
        """Kill the server and all its processes, as if the machine had run out of memory."""
        assert self.process is not None
        children = _children(self.process.pid)
        for process in (self.process.pid, *children):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self.process.wait(SECONDS)
        end = time.monotonic() + SECONDS
        while any(map(_runs, children)):
            assert time.monotonic() < end
            time.sleep(0.01)

    def _as_account(self) -> list[str]:
        account = find_account() if os.getuid() == 0 else None
        identity = (
            [f"--reuid={account}", f"--regid={pwd.getpwnam(account).pw_gid}", "--clear-groups"]
            if account
            else []
        )
        return ["setpriv", *identity, "--pdeathsig=QUIT", "--"]

    def _environment(self) -> dict[str, str]:
        programs = find_programs()
        assert programs is not None
        return {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "LC_ALL": "C", "TZ": "UTC"}


def _runs(process: int) -> bool:
    """Tell whether a process is there, and not only waits to be noticed as ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _children(parent: int) -> list[int]:
    """Return the processes that a process has started, from their status files."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(status.read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(status.parent.name))
    return found


@contextmanager
def cluster(settings: Mapping[str, str] | None = None) -> Iterator[Cluster]:
    """Start a server, and leave neither processes nor files behind."""
    # The path of a socket has 107 characters at most: not in the folder of a test.
    folder = Path(tempfile.mkdtemp(prefix="liftlock-pg-"))
    made = Cluster(folder, settings or {})
    try:
        if os.getuid() == 0:
            account = find_account()
            assert account is not None
            shutil.chown(folder, account)
        made.initialise()
        made.start()
        yield made
    finally:
        made.stop()
        shutil.rmtree(folder, ignore_errors=True)


@cache
def shared_cluster() -> Cluster:
    """Return the server that all tests of this process share, or skip the test."""
    reason = missing()
    if reason:
        pytest.skip(reason)
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(cluster())
