"""Draw random changes of the trust core, one at a time, and say which of them the tests notice.

    python -m tests.mutants --seed 7 --count 40

Each change is made in a copy of `src`, and only the tests that belong to the module run on it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue

from tests.mutants.changes import Change, changes_of
from tests.mutants.lists import SOURCE, Survivor, roundings, survivors

ROOT = Path(__file__).parents[2]

CORE = (
    "exact/*.py",
    "notions/*.py",
    "designs/lock.py",
    "designs/base.py",
    "designs/request.py",
    "sampling/*.py",
    "accounting/**/*.py",
    "transfer/*.py",
    "_runtime/storage.py",
    "estimate/**/*.py",
    "tables/protect/context.py",
    "tables/protect/leakage.py",
)
"""What a guarantee or an estimate hangs on."""

BESIDE = {
    "exact": ("unit/notions/test_base.py", "unit/model/test_channel.py", "theorems", "contracts"),
    "notions": ("theorems",),
    "designs": ("unit/designs/test_api.py", "contracts"),
    "sampling": ("unit/test_mechanism.py",),
    "accounting": ("theorems/test_000_composition.py", "contracts/test_accountants.py"),
    "transfer": ("theorems/test_000_transfer.py",),
    "_runtime/storage.py": ("unit/test_files.py", "unit/cli/test_bad_input.py"),
    "estimate": ("theorems/test_001_estimation.py", "theorems/test_001_data_aggregation.py"),
    "tables": ("unit/cli/test_protect.py",),
}
"""What else is there to notice a change of a part of the core."""

WANTED = 0.95
MEMORY = 8 << 20
"""KiB of address space: a change may ask for any number of them."""
PATIENCE = 1200
"""Seconds for all tests of a module; a single one has a minute. Longer counts as caught."""
NO_TEST = "no test by name"
PYTEST = [
    *("-m", "pytest", "-x", "-q", "--no-header", "--tb=no", "-p", "no:logging"),
    *("-p", "no:cacheprovider", "-c", "pyproject.toml", "--rootdir", str(ROOT)),
    *("-o", "faulthandler_timeout=60", "-o", "faulthandler_exit_on_timeout=true"),
]


@dataclass(frozen=True)
class Outcome:
    """A change and what came of it."""

    change: Change
    verdict: str
    """caught, survived or listed."""
    seconds: float = 0.0
    by: str = ""
    """The first test that failed, or the reason why none does."""


def core(only: Sequence[str] = ()) -> list[Change]:
    """Return every change of the trust core, or of the modules or folders named."""
    files = sorted({path for pattern in CORE for path in SOURCE.glob(pattern)})
    found = []
    for path in files:
        module = path.relative_to(SOURCE).as_posix()
        if not only or any(module == each or module.startswith(each + "/") for each in only):
            found += changes_of(module, path.read_text(encoding="utf-8"))
    return found


def checks_of(module: str) -> list[str]:
    """Return the tests that belong to a module, its own first.

    >>> checks_of("sampling/draw.py")
    ['tests/unit/sampling/test_draw.py', 'tests/unit/sampling', 'tests/unit/test_mechanism.py']
    """
    path = Path(module)
    part = path.parts[0]
    own = [path.with_name(f"test_{path.stem}.py"), path.with_suffix("")]
    near = [each for each in own if (ROOT / "tests" / "unit" / each).exists()]
    # Designs are many, and hardly any of their tests are about how one is locked.
    folder = [path.parents[-2]] if len(path.parts) > 1 and part != "designs" else []
    return [
        f"tests/{each}"
        for each in (*(f"unit/{at}" for at in (*near, *folder)), *BESIDE.get(part, ()))
    ]


class Copy:
    """A copy of the sources in which one change at a time is made and tested."""

    def __init__(self, folder: Path) -> None:
        self.source = folder / "src"
        self.caches = folder / "caches"
        shutil.copytree(ROOT / "src", self.source, ignore=shutil.ignore_patterns("__pycache__"))
        self.clock = time.time()
        self.sound: set[str] = set()
        """Tests that were seen to pass on unchanged code."""
        self.running: subprocess.Popen[str] | None = None
        self.stopped = False

    @contextmanager
    def changed(self, change: Change) -> Iterator[None]:
        """Make a change, and undo it."""
        path = self.source / "liftlock" / change.module
        text = path.read_text(encoding="utf-8")
        self._write(path, change.applied(text))
        try:
            yield
        finally:
            self._write(path, text)

    def _write(self, path: Path, text: str) -> None:
        path.write_text(text, encoding="utf-8")
        # What was compiled before is known by its second: each text has one of its own.
        self.clock += 2
        os.utime(path, (self.clock, self.clock))

    def failure(self, tests: Sequence[str], module: str = "") -> str | None:
        """Run tests, and the examples of a module, until one fails: None, or which it was."""
        if self.stopped:
            return NO_TEST
        path = self.source / "liftlock" / module
        # Other kernels that call a changed one were compiled with the old one inside.
        kernels = module and "njit" in path.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as fresh:
            environment = os.environ | {
                "PYTHONPATH": f"{self.source}{os.pathsep}{ROOT / 'papers'}",
                "HYPOTHESIS_PROFILE": "unshrunk",
                "NUMBA_CACHE_DIR": fresh if kernels else str(self.caches),
            }
            limits = f'ulimit -v {MEMORY}; exec "$0" "$@"'
            self.running = subprocess.Popen(
                [
                    "sh",
                    "-c",
                    limits,
                    sys.executable,
                    *PYTEST,
                    *tests,
                    *([str(path)] * bool(module)),
                ],
                cwd=ROOT,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )
            try:
                said, _ = self.running.communicate(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                self._end()
                return f"{NO_TEST}: all of them took too long"
        if self.running.returncode == 0:
            return None
        failed = re.findall(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", said, re.MULTILINE)
        if not failed:
            return f"{NO_TEST}: {said[-400:]}"
        # An example in the module itself has no path below the tests.
        return f"{path}{failed[0]}" if failed[0].startswith("::") else failed[0]

    def stop(self) -> None:
        """Run no more tests."""
        self.stopped = True
        self._end()

    def _end(self) -> None:
        """End the tests that run, and whatever they started."""
        if self.running is not None and self.running.poll() is None:
            os.killpg(self.running.pid, signal.SIGKILL)
            self.running.wait()


def tried(copy: Copy, change: Change) -> Outcome:
    """Make one change and run the tests on it."""
    start = time.monotonic()
    tests = checks_of(change.module)
    with copy.changed(change):
        failed = copy.failure(tests, change.module)
    if failed and not failed.startswith(NO_TEST) and failed not in copy.sound:
        if copy.failure([failed]):
            raise SystemExit(f"a test must pass on unchanged code: {failed}")
        copy.sound.add(failed)
    verdict = "caught" if failed else "survived"
    return Outcome(change, verdict, round(time.monotonic() - start, 1), failed or "")


def outcomes(drawn: Sequence[Change], workers: int) -> Iterator[Outcome]:
    """Try changes, several at a time."""
    free: SimpleQueue[Copy] = SimpleQueue()

    def on_a_free_copy(change: Change) -> Outcome:
        copy = free.get()
        try:
            return tried(copy, change)
        finally:
            free.put(copy)

    with (
        tempfile.TemporaryDirectory(prefix="mutants-") as folder,
        ThreadPoolExecutor(workers) as pool,
    ):
        copies = [Copy(Path(folder, str(number))) for number in range(workers)]
        for copy in copies:
            free.put(copy)
        try:
            for done in as_completed([pool.submit(on_a_free_copy, each) for each in drawn]):
                yield done.result()
        finally:
            # Also on Ctrl-C: nothing that was started runs on.
            pool.shutdown(wait=False, cancel_futures=True)
            for copy in copies:
                copy.stop()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 0 if the tests notice enough of the changes."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--seed", type=int, default=int(time.time()), help="what is drawn")
    parser.add_argument("--count", type=int, default=40, help="how many changes are drawn")
    parser.add_argument("--only", action="append", default=[], help="a module or folder: exact")
    parser.add_argument("--safe-side", action="store_true", help="the list of roundings instead")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", type=Path, help="where to write the outcomes")
    asked = parser.parse_args(arguments)
    everything = roundings() if asked.safe_side else core(asked.only)
    if not everything:
        parser.error(f"nothing in the trust core is called {' or '.join(asked.only)}")
    count = len(everything) if asked.safe_side else min(asked.count, len(everything))
    drawn = random.Random(asked.seed).sample(everything, count)
    print(f"{len(drawn)} of {len(everything)} changes, --seed {asked.seed}", flush=True)
    known = survivors()
    found = [
        Outcome(each, "listed", by=reason) for each in drawn if (reason := _reason(known, each))
    ]
    listed = {outcome.change for outcome in found}
    for end in (signal.SIGINT, signal.SIGTERM):  # also where a shell had it ignored
        signal.signal(end, signal.default_int_handler)
    try:
        for outcome in outcomes([each for each in drawn if each not in listed], asked.workers):
            found.append(outcome)
            change = outcome.change
            place = f"{change.module}:{change.number}"
            print(
                f"  {len(found):3}/{len(drawn)} {outcome.verdict:8} {outcome.seconds:6.1f} s  ",
                end="",
            )
            print(f"{place}  {change.shown[:100]}", flush=True)
    except KeyboardInterrupt:
        print("stopped: the rest was not tried")
    if asked.json:
        asked.json.write_text(json.dumps([asdict(each) for each in found], indent=1) + "\n")
    return _summary(found)


def _reason(known: Sequence[Survivor], change: Change) -> str:
    return next((each.reason for each in known if each.matches(change)), "")


def _summary(found: Sequence[Outcome]) -> int:
    """Say what survived, and which share was caught of what is not listed."""
    survived = [outcome.change for outcome in found if outcome.verdict == "survived"]
    for change in survived:
        print(f"\n{change.module}:{change.number}\n    {change.line}\n    {change.shown}")
    listed = sum(outcome.verdict == "listed" for outcome in found)
    tried = len(found) - listed
    caught = tried - len(survived)
    share = caught / tried if tried else 1.0
    print(f"\n{caught} of {tried} caught ({share:.1%}); {listed} more are listed in survivors.toml")
    return int(share < WANTED)


if __name__ == "__main__":
    sys.exit(main())
