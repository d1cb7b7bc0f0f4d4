"""Kill commands many times, at random: `python -m tests.faults 500`.

Four of five commands run in a copy of this process and are killed at a file event; the others in a
new process, at a file event or, with its whole process group, at any time.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from tests.faults.sets import CASES, World, warm_up
from tests.faults.victim import run_forked


def start(world: World, at: int) -> subprocess.Popen[bytes]:
    """Run the command of a world in a new process."""
    said = json.dumps([at, "kill", str(world.folder), list(world.case.command)])
    return subprocess.Popen(
        [sys.executable, "-m", "tests.faults.victim", said],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def main(kills: int, seed: int) -> int:
    """Kill, and count what is found afterwards; return how often that was wrong."""
    chance = random.Random(seed)
    seen: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        worlds, events, seconds = [], [], []
        for number, case in enumerate(CASES):
            world = World.of(case, Path(folder) / str(number))
            warm_up(world)
            worlds.append(world)
            events.append(run_forked(world.folder, case.command)[1])
            world.restore()
            begun = time.monotonic()
            start(world, 0).wait()
            seconds.append(time.monotonic() - begun)
        for number in range(kills):
            which = number % len(worlds)
            world = worlds[which]
            how = "copy" if number % 5 else ("new", "any time", "any time")[number // 5 % 3]
            world.restore()
            at = chance.randint(1, events[which])
            if how == "copy":
                code = run_forked(world.folder, world.case.command, at)[0]
            elif how == "new":
                # Loading opens files, too, so that there are more events.
                code = start(world, at + chance.randint(0, 20)).wait()
            else:
                process = start(world, 0)
                time.sleep(chance.uniform(0.3, 1) * seconds[which])
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                code = process.wait()
                # The machine may have been busier when it was measured.
                seconds[which] *= 0.8 if code == 0 else 1.05
            try:
                state = world.check(code)
            except AssertionError as error:
                state = "WRONG"
                print(f"{world.case.name}, {how}, event {at}: {error}", flush=True)
            killed = "killed" if code == -signal.SIGKILL else "finished"
            seen[f"{how}: {killed}, {state}"] += 1
    for line in sorted(seen):
        print(f"{seen[line]:6,} {line}")
    return sum(count for line, count in seen.items() if line.endswith("WRONG"))


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    sys.exit(main(wanted, int(sys.argv[2]) if len(sys.argv) > 2 else 0) > 0)
