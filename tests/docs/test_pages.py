"""What the pages show is what happens."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from docs.hooks import printed as printed_hook
from liftlock.notions import REGISTRY
from tests.docs import pages

PAGES = pages.pages()
RUN = ("python", "console")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(pages.DOCS)))
def test_page_shows_what_happens(page: Path, tmp_path: Path) -> None:
    for place in pages.data_of(page):
        if not place.is_dir():
            pytest.skip(f"the data set {place.name} is not here")
    wrong = [
        f"{shown.block.place} ({shown.what}) shows\n{shown.expected}\n"
        f"but this was printed:\n{shown.printed}"
        for shown in pages.run(page, tmp_path)
        if not shown.agrees
    ]
    hint = "\n`python -m tests.docs.pages` writes what should be shown; read the difference."
    assert not wrong, "\n\n".join(wrong) + hint


def test_most_pages_have_something_to_run() -> None:
    without = [
        str(page.relative_to(pages.DOCS))
        for page in PAGES
        if not any(block.language in RUN for block in pages.blocks(page))
    ]
    assert without == ["collect/threat-model.md", "licences.md", "notation.md", "supply-chain.md"]


def test_shell_blocks_run_no_liftlock_unseen() -> None:
    """A command with a prompt is a promise of what it prints, so it is in a block that is run."""
    for page in PAGES:
        for block in pages.blocks(page):
            if block.language != "console":
                assert "\n$ liftlock" not in f"\n{block.text}", block.place


def test_every_output_block_follows_code() -> None:
    for page in PAGES:
        found = pages.blocks(page)
        for before, block in zip([None, *found], found, strict=False):
            if block.title == pages.OUTPUT:
                assert before is not None, block.place
                assert before.language == "python", block.place
                assert not before.title, block.place


@pytest.mark.parametrize(
    ("expected", "printed", "agrees"),
    [
        ("a\nb", "a\nb\n", True),
        ("a\nb", "a  \nb\n\n", True),
        ("a", "a\nb", False),
        ("...", "", True),
        ("...\nlast", "first\nsecond\nlast", True),
        ("...\nlast", "first\nlast\nmore", False),
        ("channel ..., context ...", "channel 12ab, context 34cd", True),
        ("a.b", "axb", False),
        ("", "something", False),
    ],
)
def test_matching(expected: str, printed: str, agrees: bool) -> None:
    assert pages.matches(expected, printed) is agrees


FILLED = [page for page in PAGES if pages.has_marks(page.read_text(encoding="utf-8"))]
STORED = (Path(__file__).parent / "printed.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", FILLED, ids=lambda page: str(page.relative_to(pages.DOCS)))
def test_the_site_prints_what_is_stored(page: Path) -> None:
    """What commands say of every notion is as it was; a notion that is new adds a line."""
    text = page.read_text(encoding="utf-8")
    assert not pages.has_marks(printed_hook.filled(text, page))
    for command, printed in printed_hook.printed(page):
        before = STORED.partition(command)[2].partition("\n$ ")[0].splitlines()
        added = [kind for kind in REGISTRY.values() if f"\n{kind.key}=" not in STORED]
        new = tuple(start for kind in added for start in (kind.title, f"{kind.key}="))
        after = [line for line in printed.splitlines() if not line.startswith(new)]
        if new:  # a longer name makes a column wider
            assert [line.split() for line in after] == [line.split() for line in before]
        else:
            assert after == before, command


def test_a_wrong_output_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        '```python\nprint(1 + 1)\n```\n\n```text title="Output"\n3\n```\n\n'
        "```python\nprint('nothing is shown of this')\n```\n\n"
        "```console\n$ liftlock lock\n...\n```\n",
        encoding="utf-8",
    )
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.setattr(pages, "DOCS", tmp_path)
    shown = list(pages.run(page, folder))
    assert [each.agrees for each in shown] == [False, False, False]
    assert "exit code 2" in shown[2].printed


SERVER = """
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body + self.headers["X-Extra"].encode())
    def log_message(self, *arguments):
        pass
port = int(sys.argv[1])
server = http.server.HTTPServer(("127.0.0.1", port), Handler)
print(f"listening at 127.0.0.1:{port}; stop it with Ctrl-C", flush=True)
server.serve_forever()
"""


def test_a_page_may_start_a_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has a port of its own, is asked, and is gone at the end of the page."""
    page, folder = tmp_path / "page.md", tmp_path / "folder"
    page.write_text(
        f'```python title="server.py"{SERVER}```\n\n```console\n$ server 8123 &\n'
        "listening at 127.0.0.1:8123; stop it with Ctrl-C\n"
        "$ curl -s -X POST -H 'X-Extra: too' -d 'this ' http://127.0.0.1:8123/\nthis too\n```\n\n"
        "```python\nfrom pathlib import Path\nPath('port').write_text('8123')\nprint(8123)\n```\n\n"
        '```text title="Output"\n8123\n```\n',
        encoding="utf-8",
    )
    folder.mkdir()
    monkeypatch.setattr(pages, "DOCS", tmp_path)
    found = list(pages.run(page, folder))
    assert [each.printed for each in found if not each.agrees] == []
    assert len(found) == 3
    port = int((folder / "port").read_text())
    assert port != 8123
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), 5)


def test_a_page_is_refreshed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```python\nprint(1 + 1)\n```\n\n```console\n$ liftlock --version\n$ echo $?\n9\n```\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(pages, "DOCS", tmp_path)
    assert pages.refresh(page)
    assert not pages.refresh(page)
    text = page.read_text(encoding="utf-8")
    assert '```text title="Output"\n2\n```' in text
    assert "$ liftlock --version\nliftlock, version" in text
    assert "$ echo $?\n0\n" in text
