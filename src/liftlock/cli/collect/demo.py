"""`liftlock collect demo`: a server, thousands of simulated phones, two rounds, the dashboard."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import click
from rich.rule import Rule

from liftlock.cli._console import show, show_status, show_steps
from liftlock.cli.collect._http import Connection
from liftlock.cli.collect._place import OnServer
from liftlock.cli.collect._text import show_indented
from liftlock.collect.settings import PREFIX
from liftlock.collect.survey import Survey
from liftlock.collect.survey.example import DEMO, DEMO_TRUTHS
from liftlock.errors import LiftlockError
from liftlock.report.format import grid_of

PEOPLE = 5_000
_CONNECTIONS = 16
_STARTED = 120.0
_ENDED = 30.0


@click.command("demo", short_help="A server, simulated phones, two rounds, the dashboard.")
@click.option(
    "--people",
    type=click.IntRange(200, 1_000_000),
    default=PEOPLE,
    show_default=True,
    metavar="N",
    help="Number of phones, half of them in each round.",
)
@click.option("--open", "browse", is_flag=True, help="Open the dashboard in a browser.")
@click.option(
    "--seconds",
    type=click.IntRange(0),
    metavar="N",
    help="Keep serving for so long.  [default: 0; with --open until Ctrl-C]",
)
def demo_command(people: int, browse: bool, seconds: int | None) -> int:
    """Run a survey of three questions in two rounds, on this machine, with simulated phones.

    A server is started as liftlock collect serve starts it. Each phone asks it what is asked,
    checks the mechanism, draws its reports and sends them over HTTP. The truth never leaves a
    phone. Needs no network; nothing is left behind.

    \b
    liftlock collect demo
    liftlock collect demo --open
    """
    with tempfile.TemporaryDirectory(prefix="liftlock-demo-") as folder:
        path = Path(folder) / "town.yaml"
        path.write_text(DEMO, encoding="utf-8")
        survey = Survey.read(path)
        _heading("1. Three questions, proved and served")
        with show_status("designing"), running(path) as server:
            _tell(survey)
            _run_rounds(server, survey, people)
            _keep(server, browse, seconds)
    return 0


def _run_rounds(server: Running, survey: Survey, people: int) -> None:
    from liftlock.collect.survey.rounds import plan_next_round

    for number, size in enumerate((people // 2, people - people // 2), 1):
        if number == 2:
            _heading("3. What the reports allow becomes what the second round assumes")
            counts = {name: server.admin.counts(name).mechanisms for name in _names(survey)}
            for name in counts:
                server.admin.close(name)
            planned = plan_next_round(survey, counts)
            for learnt in planned.learnt:
                show_indented(str(learnt))
            survey = planned.survey
            with show_status("designing"):
                server.admin.put(survey)
        _heading(f"{2 * number}. {size:,} phones answer round {number}, over HTTP")
        answers = draw_answers(survey, size, f"round {number}")
        begun = time.monotonic()
        sent = answer_all(server.public, survey, answers)
        took = time.monotonic() - begun
        show(f"{sent:,} reports, each acknowledged once it was on disk: {sent / took:,.0f}/s")
        show("")
        _compare(server, survey, answers)


def _names(survey: Survey) -> list[str]:
    return [f"{survey.name}.{question.name}" for question in survey.questions]


# --- the server -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Running:
    """A server that runs, and how to reach it."""

    public: str
    admin_address: str
    token: str

    @property
    def admin(self) -> OnServer:
        """The server, for operators."""
        return OnServer(self.admin_address, self.token)

    def estimate(self, name: str) -> dict[str, Any]:
        """Return what anybody may ask for: the estimate of a collection."""
        with urlopen(f"{self.public}v1/collections/{name}/estimate") as answer:
            found: dict[str, Any] = json.load(answer)
        return found


@contextmanager
def running(survey: Path) -> Iterator[Running]:
    """Start `liftlock collect serve` on free ports, and stop it at the end."""
    command = [sys.executable, "-m", "liftlock", "collect", "serve", str(survey)]
    environment = {k: v for k, v in os.environ.items() if not k.startswith(PREFIX)}
    process = subprocess.Popen(
        [*command, "--port", "0", "--admin-port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment | {"PYTHONUNBUFFERED": "1"},
    )
    try:
        yield _addresses(process)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            process.communicate(timeout=_ENDED)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def _addresses(process: subprocess.Popen[str]) -> Running:
    """Read what the server prints when it is there."""
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        said += line
        if "Ctrl-C" in line:
            found = {
                name: re.search(rf"^{name} +(\S+)", said, re.MULTILINE)
                for name in ("people", "admin", "owner token")
            }
            return Running(*(each[1] for each in found.values() if each is not None))
    raise LiftlockError(f"the server did not start: {said.strip().splitlines()[-1:]}")


# --- phones ---------------------------------------------------------------------------------------


def draw_answers(survey: Survey, people: int, seed: str) -> list[dict[str, Any]]:
    """Draw what people would truly answer, by question."""
    from liftlock.collect.survey.simulation import true_codes

    drawn = {}
    for question in survey.questions:
        truth = DEMO_TRUTHS[question.name]
        codes = true_codes(
            question, question.populations[0], truth, people, f"{seed}/{question.name}"
        )
        labels = question.values.labels
        drawn[question.name] = [labels[code] for code in codes.tolist()]
    return [dict(zip(drawn, each, strict=True)) for each in zip(*drawn.values(), strict=True)]


def answer_all(address: str, survey: Survey, answers: Sequence[Mapping[str, Any]]) -> int:
    """Let a phone for each person answer all questions; return how many reports were sent."""
    with show_steps("phones") as progress:
        return asyncio.run(_answer_all(address, _names(survey), answers, progress))


@dataclass
class _Crowd:
    """Phones that take turns on a few connections."""

    names: Sequence[str]
    waiting: Iterator[Mapping[str, Any]]
    files: dict[str, bytes] = field(default_factory=dict)
    sent: int = 0


async def _answer_all(
    address: str,
    names: Sequence[str],
    answers: Sequence[Mapping[str, Any]],
    progress: Callable[[Any], None],
) -> int:
    from liftlock._runtime.progress import Step
    from liftlock.collect.survey.simulation import Phone, Proofs

    proofs, crowd = Proofs(), _Crowd(names, iter(answers))

    async def serve_one() -> None:
        async with Connection(address) as connection:
            for answer in crowd.waiting:
                phone = Phone(answer, proofs=proofs)
                for name in crowd.names:
                    description = json.loads(await connection.get(f"/v1/collections/{name}"))
                    for each in description["mechanisms"]:
                        digest = each["digest"]
                        if digest not in crowd.files:
                            crowd.files[digest] = await connection.get(f"/v1/mechanisms/{digest}")
                    report = phone.answer(description, crowd.files.__getitem__)
                    assert report is not None, "a new phone answers"
                    told = await connection.post(
                        f"/v1/collections/{name}/reports",
                        {
                            "batch": os.urandom(16).hex(),
                            "mechanism": report.mechanism,
                            "reports": [[report.name.hex(), report.output]],
                        },
                    )
                    crowd.sent += int(told["stored"])
                if crowd.sent % 300 < len(crowd.names):
                    progress(Step("reports", crowd.sent, len(answers) * len(names)))

    await asyncio.gather(*(serve_one() for _ in range(_CONNECTIONS)))
    return crowd.sent


# --- what is shown --------------------------------------------------------------------------------


def _heading(text: str) -> None:
    show("")
    show(Rule(text, align="left"))


def _tell(survey: Survey) -> None:
    """Say what is asked, and what a report can reveal at most."""
    show_indented(str(survey.check().budget))


def _compare(server: Running, survey: Survey, answers: Sequence[Mapping[str, Any]]) -> None:
    """Put the server's estimates beside the truth, which only this demo knows."""
    grid = grid_of()
    for title in ("question", "answer", "true", "estimate", "95 % interval"):
        grid.add_column(title, justify="left" if title in ("question", "answer") else "right")
    for question in survey.questions:
        found = server.estimate(f"{survey.name}.{question.name}")
        true = _true_values([answer[question.name] for answer in answers], found["of"])
        # Counts are shown as shares of the people.
        scale = 1.0 if found["of"] == "mean" else 100 / len(answers)
        unit, digits = ("", 2) if found["of"] == "mean" else (" %", 1)
        for one in found["answers"]:
            name = str(one["name"])
            low, high = (f"{scale * one[end]:.{digits}f}" for end in ("low", "high"))
            grid.add_row(
                question.name,
                name,
                f"{scale * true[name]:.{digits}f}{unit}",
                f"{scale * one['value']:.{digits}f}{unit}",
                f"{low} to {high}{unit}",
            )
    show(grid)


def _true_values(answers: Sequence[Any], of: str) -> dict[str, float]:
    """Return what an estimate should be, by the name of the answer."""
    if of == "mean":
        return {"mean": sum(map(float, answers)) / len(answers)}
    return {str(value): float(number) for value, number in Counter(answers).items()}


def _keep(server: Running, browse: bool, seconds: int | None) -> None:
    """Leave the server running for whoever wants to look at it."""
    if not browse and not seconds:
        show("")
        show("To look at the dashboard: liftlock collect demo --open")
        return
    _heading("The dashboard")
    results = f"{server.public}s/town/results"
    show(f"results    {results}", wrap=False)
    show(f"people     {server.public}", wrap=False)
    show(f"operators  {server.admin_address}  with the token {server.token}", wrap=False)
    if browse:
        import webbrowser

        webbrowser.open(results)
    kept = "" if seconds is None else f" It ends by itself after {seconds:,} seconds."
    show(f"Stop it with Ctrl-C.{kept}")
    with suppress(KeyboardInterrupt):
        threading.Event().wait(seconds)
