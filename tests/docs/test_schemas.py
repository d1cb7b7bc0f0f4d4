"""The JSON Schemas describe what is really written, and refuse what is not."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from referencing import Registry, Resource

import liftlock as ll
from docs.hooks import measures as measures_hook
from liftlock.cli import main
from liftlock.errors import FileError
from liftlock.notions import REGISTRY
from tests.docs.pages import DOCS, EXAMPLES, blocks

SCHEMAS = {
    path.name: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((DOCS / "schemas").glob("*.schema.json"))
} | {measures_hook.SCHEMA.name: json.loads(measures_hook.schema())}
STORE: Registry[Any] = Registry().with_resources(
    (name, Resource.from_contents(schema)) for name, schema in SCHEMAS.items()
)
CHANNEL, PRIOR = EXAMPLES / "survey.csv", EXAMPLES / "prior.csv"
COMPATIBLE = Path(__file__).parents[1] / "compatibility" / "files"


def check(data: Any, name: str) -> None:
    schema = SCHEMAS[f"{name}.schema.json"]
    jsonschema.Draft202012Validator(schema, registry=STORE).validate(data)


def refused(data: Any, name: str) -> bool:
    try:
        check(data, name)
    except jsonschema.ValidationError:
        return True
    return False


@pytest.fixture
def mechanism(tmp_path: Path) -> Path:
    path = tmp_path / "mechanism.json"
    arguments = ["lock", str(CHANNEL), "--prior", str(PRIOR), "--guarantee", "lip=1.71"]
    assert main([*arguments, "-o", str(path)]) == 0
    return path


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", SCHEMAS)
def test_schema_is_one(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name])
    assert SCHEMAS[name]["$id"] == name


def test_every_schema_is_shown_and_linked() -> None:
    page = (DOCS / "formats.md").read_text(encoding="utf-8")
    for name in SCHEMAS:
        assert f"(schemas/{name})" in page
        assert f'--8<-- "docs/schemas/{name}"' in page


def test_a_published_count(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--column", "household", "--value", "alone", "--share", "0.3", "--epsilon", "1"]
    assert main(["publish", str(EXAMPLES / "people.csv"), *asked, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    check(data, "publication")
    assert refused(data | {"published": 3}, "publication")
    assert refused(data | {"count": 3}, "publication")


def test_mechanism_and_its_parts(mechanism: Path) -> None:
    data = read(mechanism)
    check(data, "mechanism")
    check(data["channel"], "channel")
    check(data["context"], "context")
    check(data["context"], "prior")
    check(data["certificate"], "certificate")


@pytest.mark.parametrize(
    ("schema", "part"),
    [("mechanism", None), ("channel", "channel"), ("certificate", "certificate")],
)
def test_wrong_version_is_refused(schema: str, part: str | None, mechanism: Path) -> None:
    data = read(mechanism)
    target = data if part is None else data[part]
    for version in (0, 3, "1", None):
        target["version"] = version
        assert refused(target, schema)
    target["version"] = 3
    mechanism.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(FileError):
        ll.Mechanism.load(mechanism)


def test_wrong_files_are_refused(mechanism: Path) -> None:
    good = read(mechanism)
    changes: list[Callable[[Any], Any]] = [
        lambda data: data.pop("certificate"),
        lambda data: data["channel"].pop("bits"),
        lambda data: data["channel"]["weights"][0].__setitem__(0, -1),
        lambda data: data["channel"]["weights"][0].__setitem__(0, 0.5),
        lambda data: data["certificate"].__setitem__("holds", False),
        lambda data: data["context"].__setitem__("kind", "rumour"),
        lambda data: data.__setitem__("format", "liftlock.channel"),
        lambda data: data.__setitem__("surprise", 1),
    ]
    for change in changes:
        data = copy.deepcopy(good)
        change(data)
        assert refused(data, "mechanism")


@pytest.mark.parametrize("options", [[], ["--alpha", "2", "--at-epsilon", "1/2"]])
def test_audit_output(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    checks = ["--check", "lip=1", "--check", "ldp=3", "--check", "crowd_mass=1/20"]
    code = main(["audit", str(CHANNEL), "--prior", str(PRIOR), "--json", *checks, *options])
    data = json.loads(capsys.readouterr().out)
    assert code == 1
    check(data, "audit")
    assert [each["holds"] for each in data["checks"]] == [False, True, True]
    known = SCHEMAS["audit.schema.json"]["$defs"]["name"]["enum"]
    assert set(data["measures"]) <= set(known)
    if options:
        assert set(data["measures"]) == set(known)
    data["version"] = 2
    assert refused(data, "audit")


def test_an_audit_measures_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    """The names in the published schema are those of the registry, and no others are valid."""
    stored = json.loads(measures_hook.SCHEMA.read_text(encoding="utf-8"))
    name = re.compile(stored["$defs"].pop("name")["pattern"])
    published = copy.deepcopy(SCHEMAS["audit.schema.json"])
    assert all(map(name.search, published["$defs"].pop("name")["enum"]))
    assert published == stored
    assert main(["audit", str(CHANNEL), "--prior", str(PRIOR), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    data["measures"]["surprise"] = 1
    assert refused(data, "audit")


def test_audit_of_a_channel_that_reveals_everything(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "identity.csv"
    path.write_text("x,none,cold,flu\nnone,1,0,0\ncold,0,1,0\nflu,0,0,1\n", encoding="utf-8")
    assert main(["audit", str(path), "--prior", str(PRIOR), "--json", "--alpha", "inf"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["measures"]["lip"] == "inf"
    check(data, "audit")


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--epsilon", "0"],
        ["--method", "safe-response", "--utility", "guess"],
        ["--method", "response", "--as-published"],
        ["--method", "oue"],
        ["--method", "hashing", "--notion", "ldp"],
    ],
)
def test_design_output(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "designed.json"
    asked = [] if "--epsilon" in options else ["--epsilon", "1"]
    assert main(["design", "--prior", str(PRIOR), *asked, *options, "--json", "-o", str(path)]) == 0
    data = json.loads(capsys.readouterr().out)
    check(data, "design")
    data["gap"] = -1
    assert refused(data, "design")
    stored = read(path)
    check(stored, "mechanism")
    assert set(stored["origin"]) | {"warning"} == set(
        SCHEMAS["mechanism.schema.json"]["properties"]["origin"]["properties"]
    )
    stored["origin"]["surprise"] = 1
    assert refused(stored, "mechanism")


def test_output_for_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made, prior = tmp_path / "designed.json", tmp_path / "prior.json"
    table = str(EXAMPLES / "salaries.csv")
    asked = ["--column", "salary", "--domain", "0:150000", "--bins", "8", "--json"]
    assert main(["fit", table, *asked, "--distribution", "normal", "-o", str(prior)]) == 0
    data = json.loads(capsys.readouterr().out)
    check(data, "fit")
    data["distance"] = 2
    assert refused(data, "fit")
    check(read(prior), "grid")
    check(read(prior), "context")
    asked += ["--epsilon", "1", "--method", "sampling"]
    assert main(["design", "--prior", table, *asked, "-o", str(made)]) == 0
    data = json.loads(capsys.readouterr().out)
    check(data, "design")
    assert data["numbers"]["cells"] == 8
    data["numbers"].pop("cells")
    assert refused(data, "design")
    stored = read(made)
    check(stored, "mechanism")
    stored["context"]["grid"]["spacing"] = "even"
    assert refused(stored, "mechanism")


def test_comparison_output(capsys: pytest.CaptureFixture[str]) -> None:
    methods = "safe-response,response,k-rr:ldp,oue"
    asked = ["compare", "--prior", str(PRIOR), "--epsilons", "1,2", "--methods", methods]
    assert main([*asked, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    check(data, "comparison")
    data["curves"][0]["points"][0]["needed"] = "much"
    assert refused(data, "comparison")


def test_estimates_plans_and_counts(
    tmp_path: Path, mechanism: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reports, counts = tmp_path / "reports.csv", tmp_path / "counts.json"
    reports.write_text("y,w,b\n" + "none,1,0\nflu,0.5,1\ncold,2,0\n" * 40, encoding="utf-8")
    weighed = ["--column", "y", "--weights", "w", "-o", str(counts), "--method", "unbiased"]
    asked = {
        "estimate": ["estimate", str(mechanism), str(reports), *weighed],
        "plan": ["plan", "--prior", str(PRIOR), "--n", "100", "--epsilon", "1"],
    }
    for name, arguments in asked.items():
        capsys.readouterr()
        assert main([*arguments, "--json"]) == 0, name
        data = json.loads(capsys.readouterr().out)
        check(data, name)
        data["surprise"] = 1
        assert refused(data, name)
    check(read(counts), "aggregate")
    graph = ll.ProfileGraph.bernoulli({"a": "0.2", "b": "0.7"})
    ll.design(graph, "1").save(tmp_path / "profiles.json")
    reports.write_text("y\n" + "0\n1\n1\n" * 40, encoding="utf-8")
    both = ["estimate", str(tmp_path / "profiles.json"), str(reports), "--column", "y", "--json"]
    capsys.readouterr()
    assert main(both) == 0
    data = json.loads(capsys.readouterr().out)
    check(data, "estimate")
    check(data["profiles"] | {"notes": []}, "estimate")
    plain = ll.Mechanism.load(mechanism).aggregate(["flu"])
    check(json.loads(plain.to_json()), "aggregate")
    broken = json.loads(plain.to_json())
    broken["counts"][0] = -1
    assert refused(broken, "aggregate")


@pytest.mark.parametrize(
    "context",
    [
        ll.Prior.from_counts({"a": 1, "b": 2**80}),
        ll.Prior(ll.Alphabet.numbers([0, "1/3"]), (1, 2)),
        ll.Joint.from_counts({"s": {"a": 3, "b": 1}, "t": {"a": 2, "b": 4}}),
        ll.Family.of([ll.Prior.uniform("ab"), ll.Prior.from_counts({"a": 1, "b": 3})]),
        ll.Intervals.of({"a": ("0.1", "0.4"), "b": ("1/3", 1)}),
        ll.Ball.of(ll.Prior.uniform("ab"), "1/7"),
        ll.continuous.from_data([1, 2, 2.5, 9], domain=(0, 5)).discretise(3),
        ll.continuous.normal(-5, 2).discretise(8, "width"),
        ll.ProfileGraph.of({"p": {"a": 1}, "q": {"a": 2, "b": 2**80}}, [("q", "p")]),
    ],
    ids=lambda context: type(context).__name__,
)
def test_contexts(context: ll.Context) -> None:
    check(json.loads(json.dumps(context.to_data())), "context")


def test_outputs_for_profiles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, made, ledger = tmp_path / "example", tmp_path / "made.json", tmp_path / "ledger.json"
    assert main(["profiles", "example", "workstation", "-o", str(folder)]) == 0
    files = ["--profiles", str(folder / "profiles.csv"), "--edges", str(folder / "edges.csv")]
    quick = ["--method", "cluster", "--epsilon", "0.3", "-o", str(made)]
    table = [str(folder / "table.csv"), "--column", "usage", "--profile-column", "user"]
    kept = ["--id", "observation", "--ledger", str(ledger), "-o", str(tmp_path / "safe.csv")]
    kept.append("--insist")  # 200 rows of each profile
    asked = {
        "profile-design": ["design", *files, *quick],
        "profile-audit": ["audit", str(made), "--check", "profile=0.3"],
        "profile-release": ["release", str(made), *table, *kept],
        "composition": ["profiles", "compose", str(made), str(made), "--of", "profiles"],
        "comparison": ["compare", *files, "--epsilons", "1", "--methods", "cluster"],
    }
    for name, arguments in asked.items():
        capsys.readouterr()
        assert main([*arguments, "--json"]) == 0, name
        data = json.loads(capsys.readouterr().out)
        check(data, name)
        data["surprise"] = 1
        assert refused(data, name)
    check(read(ledger), "ledger")
    check(read(COMPATIBLE / "profile-ledger.json"), "profile-ledger")
    check(read(made), "mechanism")


def test_ledgers_and_accounts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made, ledger = tmp_path / "made.json", tmp_path / "ledger.json"
    lock = ["lock", str(CHANNEL), "--prior", str(PRIOR), "--guarantee", "lip=1.71"]
    assert main([*lock, "-o", str(made)]) == 0
    people = tmp_path / "people.csv"
    people.write_text("id\nann\nbob\n", encoding="utf-8")
    record = ["account", str(ledger), "--record", str(made)]
    assert main([*record, "--who", "staff", "--about", "health"]) == 0
    for about in ("health", "mood"):
        asked = ["--people", str(people), "--column", "id", "--about", about]
        assert main([*record, *asked, "--note", "again"]) == 0
    check(read(ledger), "ledger")
    changes: list[dict[str, Any]] = [{"head": "0"}, {"surprise": 1}, {"entries": [{}]}]
    for change in changes:
        assert refused(read(ledger) | change, "ledger")
    capsys.readouterr()
    assert main(["account", str(ledger), "--json", "--limit", "lip=5"]) == 0
    data = json.loads(capsys.readouterr().out)
    check(data, "account")
    data["groups"][0]["items"][0]["spent"]["lip"]["value"] = "much"
    assert refused(data, "account")


def test_channels() -> None:
    pairs = ll.Channel.identity([1, 2]).product(ll.Channel.identity([1, 2]))
    wide = ll.Channel.from_rows({"a": {"x": "1e-30", "y": f"0.{'9' * 30}"}, "b": {"x": 1, "y": 0}})
    for channel in (pairs, wide, ll.Channel.identity("ab").table()):
        check(json.loads(json.dumps(channel.to_data())), "channel")


@pytest.mark.parametrize("key", REGISTRY)
def test_certificates_of_every_notion(key: str) -> None:
    channel, prior = ll.read_channel(CHANNEL).channel, ll.read_prior(PRIOR)
    values = {"alpha": 2, "rho1": "0.1", "rho2": "0.5"}
    arguments = [values.get(name, "1/2") for name in REGISTRY[key].parameters]
    context: ll.Context = prior
    if key == "profile":
        context = ll.ProfileGraph.complete({"p": prior, "q": ll.Prior.uniform(prior.labels)})
    certificate = REGISTRY[key].make(*arguments).certify(channel, context)
    check(json.loads(json.dumps(certificate.to_data())), "certificate")


def test_examples_on_the_page_are_valid() -> None:
    found = {
        block.title: json.loads(block.code())
        for block in blocks(DOCS / "formats.md")
        if block.language == "json" and block.title
    }
    check(found["coin.json"], "channel")
    for name in ("stored.json", "joint.json", "ball.json"):
        check(found[name], "context")
