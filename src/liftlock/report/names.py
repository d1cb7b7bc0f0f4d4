"""What each measure is called when people read it."""

from __future__ import annotations

from liftlock.notions.registry import REGISTRY, SHORTHANDS

NAMES = {key: kind.title for key, kind in REGISTRY.items()} | {
    quantity: REGISTRY[key].title for quantity, key in SHORTHANDS.items()
}
