"""Run every benchmark, or the named ones, and print their tables.

python -m benchmarks            all of them
python -m benchmarks release    benchmarks/bench_release.py

A benchmark is a module bench_<name>.py with a function ``run()`` that returns something rich can
print. It shows ratios measured in one run, against a peer or a physical limit.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from rich.console import Console


def main(wanted: list[str]) -> None:
    """Run the benchmarks of these names; all for an empty list."""
    console = Console(width=max(Console().width, 110))
    folder = Path(__file__).parent
    names = sorted(path.stem.removeprefix("bench_") for path in folder.glob("bench_*.py"))
    unknown = sorted(set(wanted) - set(names))
    if unknown:
        sys.exit(f"no benchmark {unknown[0]!r}; there are {', '.join(names)}")
    for name in wanted or names:
        result = importlib.import_module(f"benchmarks.bench_{name}").run()
        if result is not None:
            console.print(result)


if __name__ == "__main__":
    main(sys.argv[1:])
