"""A light installation: `core` loads, proves, samples and counts; the rest says what it needs."""

from __future__ import annotations

import shutil
from functools import partial
from importlib import metadata
from pathlib import Path

import pytest

from liftlock.errors import EXTRAS
from tests.packaging.distributions import ROOT, build, make_environment, needed, run_in
from tests.packaging.test_wheel import Run

STORED = ROOT / "tests" / "compatibility" / "files"
WITHOUT = {library for _, *libraries in EXTRAS.values() for library in libraries}

JOURNEY = """
from pathlib import Path
import liftlock as ll
for path in sorted(Path("stored").glob("*mechanism-*.json")):
    assert ll.Mechanism.load(path).certificate.holds   # proved again, from the file alone
mechanism = ll.Mechanism.load("mechanism.json")
people = ["none"] * 400 + ["cold"] * 100
reports = mechanism.release(people)
assert mechanism.simulate(people, seed=1) == mechanism.simulate(people, seed=1)
counts = ll.Aggregate.of(mechanism.channel, reports[:200])
counts += ll.Aggregate.of(mechanism.channel, reports[200:])
assert counts.reports == 500
found = mechanism.estimate(counts, method="unbiased", interval="normal")
print(found.method, mechanism.audit().worst_case() is not None)
"""

SURVEY = """survey = "health"
[[questions]]
name = "flu"
ask = "How are you?"
values = ["none", "cold", "flu"]
guarantee = "ldp=1"
"""
FRAMES = "import liftlock as ll; print(ll.protect)"
PACKED = "import liftlock as ll; m = ll.Mechanism.load('unary.json'); m.release(['none'])"
REFUSED = [
    ("solver", "import liftlock as ll; ll.design(ll.Prior.uniform('abcd'), ll.LIP('1'))"),
    ("tables", FRAMES),
    ("tables", "import liftlock.tables"),
    ("report", "import liftlock.report.html"),
    ("fit", "import liftlock.sklearn"),
    ("spark", "import liftlock.spark"),
    ("statistics", "import liftlock as ll; ll.probe.probe"),
    ("compiled", PACKED),
    ("collect", "import liftlock.collect as c; c.app"),
    ("collect", "import liftlock.collect.wire"),
    ("collect", "import liftlock.collect.store.postgres"),
    ("collect", "import liftlock as ll; ll.Survey.read('health.yaml')"),
]
COMMANDS = [
    ("solver", "design --prior prior.csv --epsilon 1 --utility histogram -o made.json"),
    ("tables", "protect people.csv --column job --epsilon 1 -o safe.csv"),
    ("tables", "release mechanism.json people.csv --column job -o safe.csv"),
    ("plot", "audit channel.csv --prior prior.csv --plot lifts.png"),
    ("fit", "fit people.csv --column pay --distribution mixture"),
    ("statistics", "probe pairs.csv --prior prior.csv --claim lip=1"),
    ("collect", "collect check health.yaml"),
    ("collect", "collect serve health.toml"),
    ("collect", "collect demo"),
]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel, and with what the extra `core` names."""
    folder = tmp_path_factory.mktemp("light")
    wheel = build(ROOT, folder / "dist", only="wheel")[".whl"]
    (own,) = metadata.distributions(path=[str(wheel)])
    core = [text.partition(";")[0] for text in own.requires or () if text.endswith("== 'core'")]
    assert len(core) == 5
    packages = set(needed(core))
    assert not packages & WITHOUT
    return make_environment(folder / "environment", [wheel], packages)


@pytest.fixture
def run(environment: Path, tmp_path: Path) -> Run:
    (tmp_path / "prior.csv").write_text("label,count\nnone,700\ncold,200\nflu,100\n")
    (tmp_path / "people.csv").write_text("job,pay\nnone,100\ncold,210.5\nflu,120\nnone,130\n")
    (tmp_path / "pairs.csv").write_text("input,output\nnone,none\ncold,none\n")
    (tmp_path / "health.yaml").write_text("survey: health\n")
    (tmp_path / "health.toml").write_text(SURVEY)
    (tmp_path / "channel.csv").write_text(
        "input,none,cold,flu\nnone,0.8,0.15,0.05\ncold,0.6,0.35,0.05\nflu,0.6,0.25,0.15\n"
    )
    shutil.copy(STORED / "mechanism-prior-lip.json", tmp_path / "mechanism.json")
    shutil.copy(STORED / "mechanism-unary-oue.json", tmp_path / "unary.json")
    (tmp_path / "stored").symlink_to(STORED)
    return partial(run_in, environment, tmp_path)


def test_a_mechanism_is_loaded_proved_sampled_and_counted(run: Run) -> None:
    done = run("python", "-c", JOURNEY)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "unbiased True\n"


def test_the_command_audits_and_accounts(run: Run) -> None:
    for budget, status in (("2", 0), ("0.1", 1)):
        checked = ("audit", "channel.csv", "--prior", "prior.csv", "--check", f"lip={budget}")
        assert run("liftlock", *checked).returncode == status
    record = "--record mechanism.json --who all --about health"
    recorded = run("liftlock", "account", "book.json", *record.split())
    assert recorded.returncode == 0, recorded.stderr
    by_module = run("python", "-m", "liftlock", "notions")
    assert (by_module.returncode, by_module.stderr) == (0, "")


@pytest.mark.parametrize(("extra", "code"), REFUSED)
def test_the_extra_is_named_in_one_line(run: Run, extra: str, code: str) -> None:
    caught = f"import liftlock.errors as e\ntry:\n  {code}\nexcept e.MissingLibrary as x: print(x)"
    done = run("python", "-c", caught)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1
    assert done.stdout.endswith(f"; pip install 'liftlock[{extra}]'\n")


@pytest.mark.parametrize(("extra", "command"), COMMANDS)
def test_a_command_names_the_extra_in_one_line(
    run: Run, tmp_path: Path, extra: str, command: str
) -> None:
    before = set(tmp_path.iterdir())
    done = run("liftlock", *command.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("liftlock: ")
    assert done.stderr.endswith(f"; pip install 'liftlock[{extra}]'\n")
    assert set(tmp_path.iterdir()) == before
