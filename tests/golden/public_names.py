"""The names that each public package promises: what may be imported, and nothing else.

python -m tests.golden.public_names --record    # after a change that is meant: store them

"""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
from pathlib import Path

import liftlock
import liftlock_papers

STORED = Path(__file__).with_name("public_names.json")


def packages() -> list[str]:
    """Return the names of all packages that have an `__all__`."""
    found = []
    for root in (liftlock, liftlock_papers):
        found.append(root.__name__)
        for each in pkgutil.walk_packages(root.__path__, f"{root.__name__}."):
            if each.ispkg and hasattr(importlib.import_module(each.name), "__all__"):
                found.append(each.name)
    return sorted(found)


def names() -> dict[str, list[str]]:
    """Return the public names of each public package, sorted."""
    return {name: sorted(importlib.import_module(name).__all__) for name in packages()}


if __name__ == "__main__":
    text = json.dumps(names(), indent=1) + "\n"
    if "--record" in sys.argv:
        STORED.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
