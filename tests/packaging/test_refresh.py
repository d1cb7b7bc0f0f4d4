"""Where `requirements/refresh` takes hashes from: the whole release, as the index lists it."""

from __future__ import annotations

import base64
import json
import runpy
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.packaging.distributions import ROOT

FILES = {
    "some_thing-1.2-cp311-cp311-manylinux_2_28_x86_64.whl": "a" * 64,
    "some_thing-1.2-cp313-cp313-macosx_11_0_arm64.whl": "b" * 64,
    "some_thing-1.2.tar.gz": "c" * 64,
    "some_thing-1.2.1-py3-none-any.whl": "d" * 64,
    "some_thing-1.2.1.zip": "e" * 64,
    "some-thing-0.9.tar.bz2": "f" * 64,
}


class Index(BaseHTTPRequestHandler):
    """An index for one who says the password, in JSON or, at /old, in HTML."""

    def do_GET(self) -> None:
        kind, body = "application/vnd.pypi.simple.v1+json", json.dumps({
            "files": [{"filename": file, "hashes": {"sha256": h}} for file, h in FILES.items()]
        })  # fmt: skip
        if self.path == "/old/some-thing/":
            links = (f'<a href="../f/{file}#sha256={h}">{file}</a>' for file, h in FILES.items())
            kind, body = "text/html", "\n".join(links)
        elif self.path == "/no-sums/some-thing/":
            body = json.dumps({"files": [{"filename": file, "hashes": {}} for file in FILES]})
        known = self.headers["Authorization"] == "Basic " + base64.b64encode(b"me:p@ss").decode()
        self.send_response(200 if known else 401)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def index() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Index) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://me:p%40ss@127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def refresh() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "requirements" / "refresh"))


@pytest.mark.parametrize("kind", ["new", "old"])
@pytest.mark.parametrize(("version", "letters"), [("1.2", "abc"), ("1.2.1", "de"), ("0.9", "f")])
def test_every_file_of_the_release_and_no_other(
    refresh: dict[str, Any], index: str, kind: str, version: str, letters: str
) -> None:
    found = refresh["published"]("some-thing", version, {"index-url": f"{index}/{kind}/"})
    assert found == [letter * 64 for letter in letters]


@pytest.mark.parametrize(("kind", "version"), [("new", "3.0"), ("old", "3.0"), ("no-sums", "1.2")])
def test_a_release_without_sums_is_refused(
    refresh: dict[str, Any], index: str, kind: str, version: str
) -> None:
    with pytest.raises(SystemExit, match=f"no SHA-256 for all files of some-thing {version}"):
        refresh["published"]("some-thing", version, {"index-url": f"{index}/{kind}"})


def test_what_is_written_is_read_again(refresh: dict[str, Any], tmp_path: Any) -> None:
    path = tmp_path / "lock.txt"
    refresh["write"](path, {"b": "2", "a": "1.0"}, {"a": ["0" * 64, "1" * 64], "b": ["2" * 64]})
    assert refresh["read"](path) == {"a": ("1.0", ["0" * 64, "1" * 64]), "b": ("2", ["2" * 64])}
    first = path.read_text().splitlines()[1]
    assert first == f"a==1.0 --hash=sha256:{'0' * 64} --hash=sha256:{'1' * 64}"


def test_the_environment_wins_over_files_and_only_the_way_is_taken(refresh: dict[str, Any]) -> None:
    listed = ":env:.index-url='http://mine'\\n:env:.find-links='/x'\\nglobal.index-url='http://all'"
    pip = ["sh", "-c", f"printf \"{listed}\\nglobal.extra-index-url='y'\\nglobal.cert='/c'\\n\""]
    assert refresh["connection"](pip) == {"index-url": "http://mine", "cert": "/c"}
    assert refresh["connection"](["true"]).keys() == {"index-url"}
