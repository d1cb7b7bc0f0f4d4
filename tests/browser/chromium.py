"""A page in a real browser: what its script measured, and what the browser logged."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DARK = "--blink-settings=preferredColorScheme=0"
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--enable-logging=stderr",
    # Whatever is asked for by name is not found.
    "--host-resolver-rules=MAP * ~NOTFOUND",
)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on this machine")


@dataclass(frozen=True)
class Seen:
    """What was measured, and what the browser logged."""

    found: dict[str, Any]
    log: str


def looked_at(folder: Path, body: str, script: str, *options: str) -> Seen:
    """Show a page; the script leaves what it measures, as JSON, in the element `found`."""
    page = folder / "around.html"
    page.write_text(
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"></head><body>'
        f'<pre id="found"></pre>{body}<script>{script}</script></body></html>',
        encoding="utf-8",
    )
    assert CHROMIUM is not None
    ended = subprocess.run(
        [
            CHROMIUM,
            *OPTIONS,
            *options,
            f"--user-data-dir={folder / 'profile'}",
            "--dump-dom",
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    found = re.search('<pre id="found">(.*?)</pre>', ended.stdout, re.DOTALL)
    assert found is not None
    return Seen(json.loads(html.unescape(found[1])), ended.stderr)


def brightness(colour: str) -> float:
    """Return how bright a colour of a style is, from 0 to 1."""
    parts = [float(part) for part in re.findall(r"[\d.]+", colour)[:3]]
    return sum(parts) / 3 / 255
