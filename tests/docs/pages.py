"""Read the code blocks of a documentation page, run them, and compare what they show.

A page is one story, run from top to bottom in a folder of its own:

- a block with ``title="name"`` is written to that file;
- a ``python`` block is run, in one namespace for the whole page; what it prints is shown in a
  block with ``title="Output"`` right after it, and nothing is printed without one;
- in a ``console`` block each line that starts with ``$`` is run and what follows is what it
  prints; a command fails only if ``$ echo $?`` comes next and shows the exit code;
- ``--8<-- "path"`` stands for a file of the repository, as in the built page;
- a line ``...`` in what is shown stands for any lines, and ``...`` within a line for any text;
- a line ``<!-- printed -->`` stands for all that a command prints; it is put there when the site is
  built (``docs/hooks/printed.py``).

A command may go on after a line that ends with a backslash. One that ends with ``&`` is a server:
it runs until the page ends, and shows what it prints up to the line that says how to stop it.
``curl`` asks it. The ports 8123 to 8126 stand for ports that are free when the page is run. The
files of ``docs/examples`` and the golden vectors lie in the folder from the start, and the data
sets that a page names in a comment ``<!-- data: adult -->``; where these are not at hand, the page
is not run. Other blocks (``sh``, ``json``, ``text`` without a title) are shown only.

``python -m tests.docs.pages [page ...]`` writes what the pages should show into them.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from liftlock.cli import main

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
EXAMPLES = DOCS / "examples"
VECTORS = ROOT / "tests" / "vectors" / "decode.json"
OUTPUT = "Output"
PRINTED = "<!-- printed -->"
HELP_WIDTH = "80"
PORTS = ("8123", "8124", "8125", "8126")
"""What pages write for ports that are free."""
READY = "Ctrl-C"
"""What the last line says that a server prints before it waits."""
_PATIENCE = 60

_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,}) *(?P<info>.*?) *$")
_TITLE = re.compile(r'title="([^"]*)"')
_DATA = re.compile(r"^<!-- data: (.+) -->$", re.MULTILINE)
DATA = ROOT.parent / "shared" / "data"
_SNIPPET = re.compile(r'^--8<-- "([^"]+)"$')


@dataclass
class Block:
    """One fenced block of a page."""

    page: Path
    line: int
    language: str
    title: str
    text: str
    indent: str
    end: int = field(repr=False)
    """The line of the closing fence, counted from 0."""

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(DOCS)}:{self.line}"

    def code(self) -> str:
        """Return the text with the files it includes."""
        lines = []
        for line in self.text.splitlines():
            snippet = _SNIPPET.match(line)
            text = (ROOT / snippet[1]).read_text(encoding="utf-8").rstrip() if snippet else line
            lines.append(text)
        return "\n".join(lines) + "\n"


def pages() -> list[Path]:
    """Return every page that is written by hand."""
    return sorted(path for path in DOCS.rglob("*.md") if "hooks" not in path.parts)


def blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page in order."""
    found: list[Block] = []
    lines = page.read_text(encoding="utf-8").splitlines()
    start = 0
    while start < len(lines):
        opening = _FENCE.match(lines[start])
        if opening is None:
            start += 1
            continue
        indent, fence, info = opening["indent"], opening["fence"], opening["info"]
        end = start + 1
        while end < len(lines) and lines[end].strip() != fence:
            end += 1
        assert end < len(lines), f"{page}:{start + 1}: a block without an end"
        title = _TITLE.search(info)
        body = "\n".join(line.removeprefix(indent) for line in lines[start + 1 : end])
        language = info.split()[0] if info and not info.startswith("{") else ""
        found.append(Block(page, start + 1, language, title[1] if title else "", body, indent, end))
        start = end + 1
    return found


@dataclass(frozen=True)
class Shown:
    """What a page shows of one run, and what the run printed."""

    block: Block
    what: str
    expected: str
    printed: str

    hidden_failure: int = 0
    """The exit code of a command that failed although the page does not show it."""

    @property
    def agrees(self) -> bool:
        return not self.hidden_failure and matches(self.expected, self.printed)


def matches(expected: str, printed: str) -> bool:
    """Compare line by line; ``...`` stands for any text or, alone, for any lines.

    >>> matches("a\\n...\\nd", "a\\nb\\nc\\nd"), matches("a ... c", "a b c"), matches("a", "b")
    (True, True, False)
    """
    parts = []
    for line in _lines(expected):
        if line.strip() in ("...", PRINTED):
            parts.append("(?:.*\n)*?")
        else:
            parts.append(".*?".join(re.escape(part) for part in line.split("...")) + "\n")
    text = "".join(f"{line}\n" for line in _lines(printed))
    return re.fullmatch("".join(parts), text) is not None


def _lines(text: str) -> list[str]:
    lines = [line.rstrip() for line in text.splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return lines


def has_marks(text: str) -> bool:
    """Tell whether a page leaves what some command prints to the site."""
    return PRINTED in text.splitlines()


def data_of(page: Path) -> list[Path]:
    """Return the data sets that a page needs."""
    named = _DATA.search(page.read_text(encoding="utf-8"))
    return [DATA / name for name in named[1].split()] if named else []


def run(page: Path, folder: Path) -> Iterator[Shown]:
    """Run a page in an empty folder, and yield everything it shows."""
    for data in data_of(page):
        (folder / data.name).symlink_to(data)
    for example in [*EXAMPLES.iterdir(), VECTORS]:
        if example.is_file():
            shutil.copy(example, folder)
    namespace: dict[str, Any] = {"__name__": "__page__"}
    found = blocks(page)
    ports = _Ports()
    with _inside(folder), contextlib.ExitStack() as servers:
        for place, block in enumerate(found):
            following = found[place + 1] if place + 1 < len(found) else None
            if block.title == OUTPUT:
                continue
            if block.title:
                Path(block.title).parent.mkdir(parents=True, exist_ok=True)
                Path(block.title).write_text(block.code(), encoding="utf-8")
            elif block.language == "python":
                printed = ports.written(_run_python(block, namespace, ports))
                shown = following if following and following.title == OUTPUT else None
                yield Shown(shown or block, "python", shown.text if shown else "", printed)
            elif block.language == "console":
                yield from _run_console(block, ports, servers)


class _Ports:
    """Free ports for those that a page names, found when the first one is used."""

    def __init__(self) -> None:
        self._free: dict[str, str] = {}

    def used(self, text: str) -> str:
        """Return what is run for what a page says."""
        if not self._free and any(port in text for port in PORTS):
            self._free = dict(zip(PORTS, _free_ports(len(PORTS)), strict=True))
        for port, free in self._free.items():
            text = text.replace(port, free)
        return text

    def written(self, text: str) -> str:
        """Return what a page says for what was printed."""
        for port, free in self._free.items():
            text = text.replace(free, port)
        return text


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        with mock.patch.dict(os.environ, {"COLUMNS": HELP_WIDTH, "NO_COLOR": "1"}):
            yield
    finally:
        os.chdir(before)


def _free_ports(number: int) -> list[str]:
    """Return ports that are free, one after the other."""
    for _ in range(100):
        with contextlib.ExitStack() as held, contextlib.suppress(OSError, OverflowError):
            first = 0
            for place in range(number):
                each = held.enter_context(socket.socket())
                each.bind(("127.0.0.1", first and first + place))
                first = first or each.getsockname()[1]
            return [str(first + place) for place in range(number)]
    raise AssertionError("no free ports")


def _run_python(block: Block, namespace: dict[str, Any], ports: _Ports) -> str:
    printed = io.StringIO()
    # Tracebacks then name the page and the line.
    code = "\n" * block.line + ports.used(block.code())
    with contextlib.redirect_stdout(printed):
        exec(compile(code, str(block.page), "exec"), namespace)
    return printed.getvalue()


def commands(block: Block) -> list[tuple[str, str]]:
    """Return the commands of a console block, each with what is shown below it."""
    found: list[tuple[str, list[str]]] = []
    open_ended = False
    for line in block.text.splitlines():
        if open_ended:
            found[-1] = (f"{found[-1][0]}\n{line}", [])
        elif line.startswith("$ "):
            found.append((line[2:], []))
        else:
            assert found, f"{block.place}: a console block starts with $"
            found[-1][1].append(line)
            continue
        open_ended = line.endswith("\\")
    return [(command, "\n".join(lines)) for command, lines in found]


def _run_console(block: Block, ports: _Ports, servers: contextlib.ExitStack) -> Iterator[Shown]:
    code = 0
    given = commands(block)
    for place, (command, expected) in enumerate(given):
        if command == "echo $?":
            yield Shown(block, command, expected, f"{code}\n")
            continue
        words = shlex.split(ports.used(command.replace("\\\n", " ")))
        code, printed = _start(words[:-1], servers) if words[-1] == "&" else _run_command(words)
        printed = ports.written(printed)
        following = given[place + 1][0] if place + 1 < len(given) else ""
        hidden = code if following != "echo $?" else 0
        if hidden:
            printed += f"exit code {code}, which the page does not show\n"
        yield Shown(block, command, expected, printed, hidden)


def _start(words: list[str], servers: contextlib.ExitStack) -> tuple[int, str]:
    """Start a server; return what it prints until it waits."""
    command = [sys.executable, "-m", *words]
    server = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8"
    )
    servers.callback(_stop, server)
    printed = ""
    assert server.stdout is not None
    for line in server.stdout:
        printed += line
        if READY in line:
            return 0, printed
    return server.wait(_PATIENCE), printed


def _stop(server: subprocess.Popen[str]) -> None:
    """Stop a server, as Ctrl-C would."""
    if server.poll() is None:
        server.send_signal(signal.SIGTERM)
    try:
        server.communicate(timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        server.kill()
        server.communicate()
        raise


def _curl(words: list[str]) -> str:
    """Ask a server, as curl does with -s and these options: -X, -H, -d."""
    address, method, headers, body = "", None, {}, None
    given = iter(words)
    for word in given:
        if word == "-X":
            method = next(given)
        elif word == "-H":
            name, _, value = next(given).partition(":")
            headers[name] = value.strip()
        elif word == "-d":
            body = next(given).encode()
        elif word != "-s":
            address = word
    request = urllib.request.Request(address, data=body, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:
            text: bytes = answer.read()
    except urllib.error.HTTPError as error:
        text = error.read()
    return text.decode()


def _run_command(words: list[str]) -> tuple[int, str]:
    printed = io.StringIO()
    code = 0
    target = None
    if len(words) > 2 and words[-2] == ">":
        words, target = words[:-2], Path(words[-1])
    with contextlib.redirect_stdout(printed):
        if words[0] == "liftlock":
            errors = io.StringIO() if target else printed
            with contextlib.redirect_stderr(errors):
                code = main(words[1:])
        elif words[0] == "curl":
            print(_curl(words[1:]))
        elif words[0] == "cat":
            print("".join(Path(name).read_text(encoding="utf-8") for name in words[1:]), end="")
        elif words[0] == "head":
            lines = Path(words[2]).read_text(encoding="utf-8").splitlines()
            print("\n".join(lines[: int(words[1].lstrip("-"))]))
        elif words[0] == "python":
            with mock.patch.object(sys, "argv", words[1:]):
                runpy.run_path(words[1], run_name="__main__")
        else:
            raise AssertionError(f"cannot run {words}")
    if target:
        target.write_text(printed.getvalue(), encoding="utf-8")
        return code, errors.getvalue()
    return code, printed.getvalue()


# --- writing what the pages should show -----------------------------------------------------------

_TAIL = re.compile(r"^\.\.\.(\d+)$")
_FINGERPRINT = re.compile(r"\b(?:[0-9a-f]{64}|(?<=channel |context )[0-9a-f]{16})\b")


def without_fingerprints(text: str) -> str:
    """Return what was printed as a page shows it."""
    return "\n".join(_FINGERPRINT.sub("...", line) for line in _lines(text))


def _fitted(shown: Shown) -> str:
    """Return the output to store.

    Where only the end is shown, as many lines of the end are shown again; ``...7`` asks for seven.
    Where more than one part is left out, a person must choose anew.
    """
    if shown.agrees:
        return shown.expected
    lines = without_fingerprints(shown.printed).splitlines()
    old = _lines(shown.expected)
    tail = _TAIL.match(old[0]) if old else None
    left_out = [line for line in old if line.strip() == "..."]
    if tail:
        lines = ["...", *lines[-int(tail[1]) :]]
    elif left_out and (len(left_out) > 1 or old[0] != "..." or len(old) == 1):
        print(f"{shown.block.place}: look at {shown.what!r} yourself", file=sys.stderr)
        return shown.expected
    elif left_out:
        lines = ["...", *lines[-len(old) + 1 :]]
    return "\n".join(lines)


def refresh(page: Path) -> bool:
    """Run a page and write what it should show into it; return whether it changed."""
    with tempfile.TemporaryDirectory() as folder:
        results = list(run(page, Path(folder)))
    lines = page.read_text(encoding="utf-8").splitlines()
    by_block: dict[int, list[Shown]] = {}
    for shown in results:
        by_block.setdefault(shown.block.line, []).append(shown)
    for start in sorted(by_block, reverse=True):
        group = by_block[start]
        block = group[0].block
        if all(shown.agrees for shown in group):
            continue
        if group[0].what != "python":
            texts = [f"$ {s.what}\n{_fitted(s)}".rstrip() for s in group]
            body = "\n".join(texts)
        elif block.title == OUTPUT:
            body = _fitted(group[0])
        else:
            new = ["", f'```text title="{OUTPUT}"', *_fitted(group[0]).splitlines(), "```"]
            lines[block.end + 1 : block.end + 1] = [f"{block.indent}{n}".rstrip() for n in new]
            continue
        new = [f"{block.indent}{line}".rstrip() for line in body.splitlines()]
        lines[start : block.end] = new
    text = "\n".join(lines) + "\n"
    changed = text != page.read_text(encoding="utf-8")
    if changed:
        page.write_text(text, encoding="utf-8")
    return changed


if __name__ == "__main__":
    for chosen in [Path(name).resolve() for name in sys.argv[1:]] or pages():
        if refresh(chosen):
            print(chosen.relative_to(ROOT))
