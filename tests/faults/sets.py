"""Commands that write several files, and what must be true of their files at any time."""

from __future__ import annotations

import fcntl
import hashlib
import io
import os
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

from liftlock import Ledger, Mechanism
from liftlock.cli import main
from tests.faults.victim import run_forked

PEOPLE = "who,job,sex\n" + "".join(
    f"p{at},{job},{sex}\n"
    for at, (job, sex) in enumerate([("cook", "f"), ("nurse", "f"), ("cook", "m")] * 20)
)
PRIOR = "label,count\ncook,2\nnurse,1\n"
LEDGER = ("--ledger", "ledger.json", "--who", "staff")
PROTECT = (
    *("protect", "people.csv", "--column", "job", "--secret", "sex", "--keep", "who"),
    *("-o", "safe.csv", "--report", "report.html", "--seconds", "1", "--epsilon"),
)
DESIGN = ("design", "--prior", "prior.csv", "--method", "safe-response", "--epsilon")
RELEASE = ("release", "m.json", "people.csv", "--column", "job", "--keep", "who", "-o", "out.csv")
ESTIMATE = ("estimate", "m.json", "reports.csv", "--column", "job", "-o", "counts.json")


@dataclass(frozen=True)
class Case:
    """A command over what commands before it have left."""

    name: str
    command: Sequence[str]
    together: Sequence[str]
    """The files that belong together; those of the command before are replaced."""
    before: Sequence[Sequence[str]] = ()
    ledger: bool = False


NEW = ("safe.mechanism.json", "report.html", "safe.csv")
CASES = (
    Case("protect anew", (*PROTECT, "0.5", *LEDGER), NEW, ledger=True),
    Case(
        "protect again",
        (*PROTECT, "0.9", "--force", *LEDGER),
        NEW,
        [(*PROTECT, "0.5", *LEDGER)],
        ledger=True,
    ),
    Case("release anew", (*RELEASE, *LEDGER), ["out.csv"], ledger=True),
    Case("release again", (*RELEASE, "--force", *LEDGER), ["out.csv"], [RELEASE], ledger=True),
    Case(
        "design again",
        (*DESIGN, "0.5", "-o", "made.json"),
        ["made.json"],
        [(*DESIGN, "1", "-o", "made.json")],
    ),
    Case(
        "estimate again",
        (*ESTIMATE, "--plot", "counts.svg"),
        ["counts.json", "counts.svg"],
        [(*ESTIMATE, "--plot", "counts.svg")],
    ),
    Case(
        "record again",
        ("account", "ledger.json", "--record", "m.json", "--who", "staff", "--about", "job"),
        [],
        [("account", "ledger.json", "--record", "m.json", "--who", "staff", "--about", "job")],
        ledger=True,
    ),
)


@dataclass
class World:
    """A folder in which a case begins, as often as needed."""

    case: Case
    folder: Path
    old: dict[str, bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, case: Case, folder: Path) -> World:
        """Run what comes before the command."""
        folder.mkdir()
        (folder / "people.csv").write_text(PEOPLE)
        (folder / "prior.csv").write_text(PRIOR)
        run_forked(folder, (*DESIGN, "1", "-o", "m.json"))
        (folder / "reports.csv").write_text("job\n" + "cook\nnurse\n" * 20)
        for command in case.before:
            code, _, said = run_forked(folder, command)
            assert code == 0, said
        # So that the next counts are others.
        (folder / "reports.csv").write_text("job\n" + "cook\ncook\nnurse\n" * 20)
        return cls(case, folder, read_all(folder))

    def restore(self) -> None:
        """Begin again."""
        for path in self.folder.iterdir():
            path.unlink()
        for name, content in self.old.items():
            (self.folder / name).write_bytes(content)

    def check(self, code: int) -> str:
        """Return "old" or "new": what the files are; anything else is an error."""
        wait_for_helper(self.folder)
        found = read_all(self.folder)
        allowed = {*self.old, *self.case.together, *(["ledger.json"] if self.case.ledger else [])}
        assert set(found) <= allowed, f"left over: {set(found) - allowed}"
        assert set(self.old) <= set(found), f"lost: {set(self.old) - set(found)}"
        state = "old"
        fresh = {name for name in self.case.together if found.get(name) != self.old.get(name)}
        if fresh:
            assert fresh == set(self.case.together), f"only {fresh} is new"
            state = "new"
        if self.case.ledger:
            count = self._entries(found) - self._entries(self.old)
            assert count in ((1,) if state == "new" else (0, 1)), f"{count} entries for {state}"
            if not self.case.together:
                state = "new" if count else "old"
        if state == "new":
            self._check_new(found)
        assert code != 0 or state == "new"
        return state

    def _entries(self, files: dict[str, bytes]) -> int:
        if "ledger.json" not in files:
            return 0
        # As the next release would: nobody holds it any more.
        (self.folder / "read").write_bytes(files["ledger.json"])
        try:
            return len(Ledger.load(self.folder / "read"))
        finally:
            (self.folder / "read").unlink()

    def _check_new(self, found: dict[str, bytes]) -> None:
        for name in found:
            if name.endswith((".mechanism.json", "made.json")):
                Mechanism.load(self.folder / name)
        if "report.html" in found:
            assert hashlib.sha256(found["safe.csv"]).hexdigest().encode() in found["report.html"]
        if self.case.ledger:
            with Ledger.open(self.folder / "ledger.json"):
                pass


def read_all(folder: Path) -> dict[str, bytes]:
    """Return all files of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def wait_for_helper(folder: Path) -> None:
    """Wait until nobody names files in a folder any more."""
    handle = os.open(folder, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    os.close(handle)


def warm_up(world: World) -> None:
    """Run a command in this process, so that copies of it need not load anything."""
    here = Path.cwd()
    os.chdir(world.folder)
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            assert main(list(world.case.command)) == 0
    finally:
        os.chdir(here)
        world.restore()
