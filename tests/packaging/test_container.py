"""The Containerfile: what it copies is there, and what it starts runs without rights."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from liftlock.collect import Settings
from tests.packaging.distributions import ROOT, quiet_environment

INSTRUCTIONS = {
    *("CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "RUN"),
    *("STOPSIGNAL", "USER", "VOLUME", "WORKDIR"),
}
USER = 10_001
SURVEY = """\
survey: health
questions:
  - {name: flu, ask: "Have you the flu?", values: ["no", "yes"], prior: none, guarantee: ldp=1}
"""


def read_instructions() -> list[tuple[str, str]]:
    """Return the instructions and their arguments, each on one line."""
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    joined = re.sub(r" *\\\n +", " ", "\n".join(lines))
    found = [tuple(line.split(" ", 1)) for line in joined.splitlines()]
    assert all(len(each) == 2 for each in found)
    return [(name, rest) for name, rest in found]


LINES = read_instructions()
LAST = LINES[max(place for place, (name, _) in enumerate(LINES) if name == "FROM") :]
"""What the image is; the instructions before only build."""


def of(name: str) -> list[str]:
    return [rest for each, rest in LAST if each == name]


def test_every_instruction_is_one() -> None:
    assert {name for name, _ in LINES} <= INSTRUCTIONS
    for name in ("ENTRYPOINT", "CMD"):
        (form,) = of(name)
        assert re.fullmatch(r'\[("[^"]+"(, )?)+\]', form), "started without a shell"


def test_no_address_but_its_own() -> None:
    """No registry, no index: those that are configured are used."""
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    assert set(re.findall(r"https?://[^/:'\"\s]+", text)) == {"http://127.0.0.1"}
    assert not re.search(r"--(extra-)?index-url|--trusted-host|curl |wget ", text)
    images = {rest.split()[0] for name, rest in LINES if name == "FROM"}
    assert len(images) == 1
    assert "/" not in images.pop()


def test_only_known_hashes_are_installed() -> None:
    (run,) = [rest for name, rest in LINES if name == "RUN" and "pip install" in rest]
    for command in re.findall(r"pip install [^&]+", run):
        assert "--no-deps" in command
        assert "--require-hashes" in command or "--no-index" in command


def test_what_is_copied_is_there_and_nothing_else_is_sent() -> None:
    copied = [rest.split()[:-1] for name, rest in LINES if name == "COPY" and "--from" not in rest]
    sources = {source for each in copied for source in each}
    assert sources == {"requirements/collect.txt", "dist/liftlock-*.whl"}
    assert (ROOT / "requirements" / "collect.txt").is_file()
    ignored = (ROOT / ".containerignore").read_text(encoding="utf-8").split()
    assert ignored == ["*", "!dist/*.whl", "!requirements/collect.txt"]


def test_it_runs_without_rights_and_keeps_the_store_in_a_volume() -> None:
    assert of("USER") == [str(USER)]
    (volume,) = of("VOLUME")
    assert of("WORKDIR") == [volume]
    assert environment()["LIFTLOCK_COLLECT_STORE"].startswith(f"{volume}/")
    assert of("STOPSIGNAL") == ["SIGTERM"]


def environment() -> dict[str, str]:
    (text,) = of("ENV")
    return dict(word.split("=", 1) for word in shlex.split(text))


def test_its_settings_are_settings_and_its_port_is_shown() -> None:
    told = environment()
    names = {name.removeprefix("LIFTLOCK_COLLECT_").lower() for name in told if "COLLECT" in name}
    assert names <= {each.name for each in fields(Settings)}
    assert of("EXPOSE") == [told["LIFTLOCK_COLLECT_PORT"]]
    assert of("HEALTHCHECK")[0].count(f":{told['LIFTLOCK_COLLECT_PORT']}/") == 1


def test_what_it_starts_is_healthy_and_stops(tmp_path: Path) -> None:
    """The same command with the same settings, on another port and in a folder of its own."""
    data = tmp_path / "data"
    data.mkdir()
    (tmp_path / "survey.yaml").write_text(SURVEY, encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])

    def here(text: str) -> str:
        text = text.replace(environment()["LIFTLOCK_COLLECT_PORT"], port)
        return text.replace("/data/", f"{data}/").replace("/survey/", f"{tmp_path}/")

    own = {name: here(value) for name, value in environment().items() if name != "PATH"}
    program, *arguments = [
        here(word) for word in [*_words(of("ENTRYPOINT")[0]), *_words(of("CMD")[0])]
    ]
    assert program == "liftlock"
    command = [sys.executable, "-m", program, *arguments, "--admin-port", "0"]
    quiet = quiet_environment() | own | {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    server = subprocess.Popen(
        command, cwd=data, env=quiet, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        assert server.stdout is not None
        said = ""
        for line in server.stdout:
            said += line
            if "Ctrl-C" in line:
                break
        else:
            pytest.fail(said)
        check = _words(of("HEALTHCHECK")[0].partition("CMD ")[2])
        assert check[0] == "python"
        done = subprocess.run([sys.executable, *map(here, check[1:])], check=False, timeout=60)
        assert done.returncode == 0
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=60)
    assert server.returncode == 0
    assert (data / "survey.sqlite").is_file()
    assert {path.name for path in tmp_path.iterdir()} == {
        "data",
        "survey.yaml",
        "survey.mechanisms",
    }
    bad = subprocess.run(
        [sys.executable, *map(here, check[1:])], check=False, timeout=60, stderr=subprocess.DEVNULL
    )
    assert bad.returncode != 0


def _words(form: str) -> list[str]:
    """Return the words of an instruction in its JSON form."""
    found: list[str] = json.loads(form)
    return found
