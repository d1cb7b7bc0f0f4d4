"""Mechanisms as they are served, and what their counts say: against other computations."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import liftlock as ll
from liftlock import Alphabet
from liftlock.collect.survey import Collection, Survey, SurveyError
from liftlock.collect.survey.design import halves, one_bit, unbiased_variance
from liftlock.errors import FileError, InputError, NotCertified, NotDefined
from liftlock.estimate import Aggregate
from liftlock.model import Prior

E = Fraction("2.718281828459045235360288")
"""A little more than e."""

QUESTIONS: list[dict[str, Any]] = [
    {
        "name": "flu",
        "values": ["none", "cold", "flu"],
        "prior": {"none": 700, "cold": 200, "flu": 100},
        "guarantee": "lip=1",
    },
    {"name": "free", "values": ["a", "b", "c", "d"], "guarantee": "lip=1"},
    {"name": "pet", "values": ["no", "yes"], "levels": {"careful": "ldp=0.5", "open": "ldp=1"}},
    {
        "name": "box",
        "values": ["a", "b", "c"],
        "intervals": {"a": ["0.5", "0.7"], "b": ["0.1", "0.4"], "c": ["0.1", "0.2"]},
        "guarantee": "lip=1",
    },
    {
        "name": "ball",
        "values": ["a", "b", "c"],
        "ball": {"centre": {"a": 6, "b": 3, "c": 1}, "radius": "0.05"},
        "guarantee": "lip=1",
    },
    {
        "name": "family",
        "values": ["a", "b"],
        "family": [{"a": 3, "b": 1}, {"a": 1, "b": 1}],
        "guarantee": "lip=1",
    },
    {
        "name": "smoke",
        "values": ["no", "yes"],
        "guarantee": "lip=1",
        "answer": {"survey": "yes"},
        "groups": {"north": {"prior": [8, 2]}, "south": {"prior": [5, 5]}, "east": None},
    },
    {
        "name": "rooms",
        "values": [1, 2, 3, 6],
        "guarantee": "lip=1",
        "answer": "sum",
        "groups": {
            "town": {"prior": [4, 3, 2, 1], "weight": 2},
            "land": {"prior": [1, 1, 2, 2], "weight": "0.5"},
        },
    },
    {"name": "sleep", "range": [0, 12], "bins": 6, "prior": "normal(7, 2)", "guarantee": "lip=1"},
    {
        "name": "home",
        "grid": {"x": [0, 2], "y": [0, 2], "columns": 2, "rows": 2},
        "prior": [[4, 3], [2, 1]],
        "guarantee": "lip=1",
    },
    {
        "name": "meal",
        "profiles": {"vegan": {"salad": 8, "meat": 1}, "other": {"salad": 3, "meat": 6}},
        "guarantee": "profile=1",
    },
]


@pytest.fixture(scope="module")
def survey() -> Survey:
    questions = [{"ask": "What?"} | each for each in QUESTIONS]
    return Survey.from_data({"survey": "all", "questions": questions})


def each_of(survey: Survey) -> Iterator[tuple[Collection, Any]]:
    for collection in survey.collections().values():
        for each in collection.mechanisms.values():
            yield collection, each


def even_counts(collection: Collection, number: int = 300) -> dict[str, tuple[int, ...]]:
    """Return counts that differ from output to output."""
    return {
        digest: tuple(number + 7 * place for place in range(each.outputs))
        for digest, each in collection.mechanisms.items()
    }


def test_reading_what_is_written_gives_the_same_survey(survey: Survey) -> None:
    told = json.loads(json.dumps(survey.content()))
    assert Survey.from_data(told) == survey


def test_the_digest_is_that_of_the_served_bytes(survey: Survey, tmp_path: Path) -> None:
    seen = set()
    for collection, each in each_of(survey):
        assert hashlib.sha256(each.file).hexdigest() == each.digest
        path = tmp_path / f"{each.digest}.json"
        path.write_bytes(each.file)
        loaded = ll.Mechanism.load(path)
        assert loaded == each.mechanism
        loaded.save(tmp_path / "again.json")
        assert (tmp_path / "again.json").read_bytes() == each.file
        assert each.outputs == len(loaded.table.outputs)
        assert loaded.table.outputs.labels == tuple(f"r{n + 1}" for n in range(each.outputs))
        assert not set(loaded.table.outputs.labels) & set(collection.question.values.labels)
        seen.add((collection.name, each.digest))
    assert len(seen) == sum(1 for _ in each_of(survey))


def test_the_same_survey_has_the_same_digests(survey: Survey) -> None:
    again = Survey.from_data(survey.content())
    for name, collection in again.collections().items():
        assert list(collection.mechanisms) == list(survey.collections()[name].mechanisms)


def corner_priors(each: Mapping[str, Any], size: int) -> list[list[Fraction]]:
    """Return priors between which all that the question allows lie, found by brute force."""
    steps = 20
    every = [
        [Fraction(n, steps) for n in counts]
        for counts in itertools.product(range(steps + 1), repeat=size)
        if sum(counts) == steps
    ]
    if "intervals" in each:
        ends = [[Fraction(end) for end in pair] for pair in each["intervals"].values()]
        return [p for p in every if all(a <= x <= b for x, (a, b) in zip(p, ends, strict=True))]
    if "ball" in each:
        centre = [Fraction(n, 10) for n in each["ball"]["centre"].values()]
        radius = Fraction(each["ball"]["radius"])
        return [p for p in every if sum(abs(a - b) for a, b in zip(p, centre, strict=True))
                <= 2 * radius]  # fmt: skip
    if "family" in each:
        return [[Fraction(n, sum(row.values())) for n in row.values()] for row in each["family"]]
    if "prior" in each and not isinstance(each["prior"], str):
        told = each["prior"]
        numbers = list(told.values()) if isinstance(told, dict) else list(np.ravel(told).tolist())
        return [[Fraction(n, sum(numbers)) for n in numbers]]
    return [p for p in every if min(p) > 0]


@pytest.mark.parametrize("name", ["flu", "free", "box", "ball", "family", "home"])
def test_lifts_keep_the_promise_under_every_prior(name: str, survey: Survey) -> None:
    told = next(each for each in QUESTIONS if each["name"] == name)
    (each,) = survey.collections()[f"all.{name}"].mechanisms.values()
    table = each.mechanism.table
    rows = [[Fraction(int(w), 1 << table.bits) for w in row] for row in table.weights]
    priors = corner_priors(told, len(rows))
    assert priors
    for prior in priors:
        assert sum(prior) == 1
        for y in range(each.outputs):
            chance = sum(p * row[y] for p, row in zip(prior, rows, strict=True))
            for p, row in zip(prior, rows, strict=True):
                assert chance <= E * row[y]
                assert row[y] <= E * chance or not p


def test_ratios_keep_ldp_at_every_level(survey: Survey) -> None:
    collection = survey.collections()["all.pet"]
    for each in collection.mechanisms.values():
        weights = each.mechanism.table.weights
        ratio = max(Fraction(int(max(c)), int(min(c))) for c in weights.T)
        budget = {"careful": 0.5, "open": 1.0}[str(each.level)]
        assert budget - 1e-9 < math.log(ratio) <= budget
    assert collection.find(level="open") is list(collection.mechanisms.values())[1]
    with pytest.raises(InputError, match="name one of careful, open"):
        collection.find(level="none")


def test_groups_with_the_same_prior_have_files_of_their_own() -> None:
    one = {"name": "q", "ask": "?", "values": ["a", "b"], "guarantee": "lip=1"}
    groups = {"n": {"prior": [1, 2]}, "s": {"prior": [1, 2]}}
    made = Survey.from_data({"survey": "s", "questions": [one | {"groups": groups}]})
    collection = made.collections()["s.q"]
    assert len(collection.mechanisms) == 2
    tables = [each.mechanism.table for each in collection.mechanisms.values()]
    assert tables[0] == tables[1]
    assert collection.find(group="s").group == "s"


def test_what_everybody_may_know(survey: Survey) -> None:
    for collection in survey.collections().values():
        told = json.loads(json.dumps(collection.description()))
        first = collection.default
        assert (told["mechanism"], told["outputs"]) == (first.digest, first.outputs)
        assert len(told["labels"]) == len(first.mechanism.table.inputs)
        assert {each["digest"] for each in told["mechanisms"]} == set(collection.mechanisms)
    assert survey.collections()["all.sleep"].description()["edges"] == [0, 2, 4, 6, 8, 10, 12]
    assert survey.collections()["all.free"].description()["knowledge"].startswith("nothing")


# --- estimates ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["flu", "free", "box", "sleep", "home", "meal"])
def test_an_estimate_is_that_of_the_mechanism_bit_for_bit(name: str, survey: Survey) -> None:
    collection = survey.collections()[f"all.{name}"]
    counts = even_counts(collection)
    (each,) = collection.mechanisms.values()
    numbers = counts[each.digest]
    told = Aggregate(each.mechanism.table.fingerprint, numbers, sum(numbers))
    for options in ({}, {"level": "0.9"}, {"together": True}):
        expected = each.mechanism.estimate(told, **collection.question.answer.options, **options)
        found = collection.estimate(counts, **options)
        assert found.estimate == expected
        assert found.content() | expected.to_data() == found.content()


def unbiased_shares(table: ll.Table, counts: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Solve counts = shares P by least squares: unique where there are two outputs."""
    rows = np.array([[int(w) for w in row] for row in table.weights]) / 2.0**table.bits
    found: np.ndarray[Any, Any] = np.linalg.lstsq(
        rows.T, np.array(counts, dtype=float), rcond=None
    )[0]
    return found


def test_groups_add_up(survey: Survey) -> None:
    collection = survey.collections()["all.smoke"]
    counts = {d: (400 + 10 * n, 600) for n, d in enumerate(collection.mechanisms)}
    parts = [
        unbiased_shares(collection.mechanisms[digest].mechanism.table, numbers)
        for digest, numbers in counts.items()
    ]
    found = collection.estimate(counts)
    assert found.estimate.answer.raw == pytest.approx(sum(part[1] for part in parts))
    assert found.reports == 3030
    for (group, part), own in zip(found.groups.items(), parts, strict=True):
        assert part.answer.raw == pytest.approx(own[1]), group
    assert found.content()["groups"]["north"]["reports"] == 1000


def test_small_groups_are_not_shown(survey: Survey) -> None:
    told = survey.content() | {"least": 500}
    collection = Survey.from_data(told).collections()["all.smoke"]
    counts = {d: (100 * n, 200) for n, d in enumerate(collection.mechanisms, start=1)}
    assert list(collection.estimate(counts).groups) == ["east"]


def test_weights_of_groups_weigh_sums(survey: Survey) -> None:
    collection = survey.collections()["all.rooms"]
    counts = even_counts(collection)
    expected = 0.0
    for digest, each in collection.mechanisms.items():
        own = each.mechanism.estimate(
            Aggregate(each.mechanism.table.fingerprint, counts[digest], sum(counts[digest])), "sum"
        )
        assert own.answer.raw is not None
        expected += {"town": 2.0, "land": 0.5}[str(each.group)] * own.answer.raw
    found = collection.estimate(counts).estimate
    assert found.answer.raw == pytest.approx(expected)
    mean = collection.estimate(counts, of="mean").estimate
    people = [sum(numbers) for numbers in counts.values()]
    assert mean.answer.raw == pytest.approx(expected / (2.0 * people[0] + 0.5 * people[1]))


def test_numbers_say_what_rounding_may_have_moved(survey: Survey) -> None:
    collection = survey.collections()["all.sleep"]
    found = collection.estimate(even_counts(collection))
    (answer,), told = found.estimate.answers, found.content()["rounding"]
    assert answer.low is not None
    assert answer.high is not None
    assert told["answers"] == [{"name": "mean", "low": answer.low - 1, "high": answer.high + 1}]


def test_counts_that_are_not_usable(survey: Survey) -> None:
    collection = survey.collections()["all.flu"]
    (digest,) = collection.mechanisms
    for counts, told in (
        ({digest: (1, 2)}, "counts of 0 or more"),
        ({digest: (1, 2, -3, 4)}, "counts of 0 or more"),
        ({digest: (0, 0, 0, 0)}, "no reports"),
        ({"00": (1, 2, 3, 4)}, "counts of another mechanism"),
    ):
        with pytest.raises(InputError, match=told):
            collection.estimate(counts)


# --- designs --------------------------------------------------------------------------------------


@pytest.mark.parametrize("counts", [[1, 1, 1], [5, 3, 2], [1, 2, 7], [8, 1, 1]])
@pytest.mark.parametrize("claim", ["lip=1", "lip=0.3", "ldp=1", "alip=0.5,1"])
def test_no_straight_line_is_better(counts: list[int], claim: str) -> None:
    """All lines a + b x on a fine grid: none that keeps the promise has a smaller variance."""
    values = ll.Alphabet.of(["low", "middle", "high"], [0, 1, 4])
    prior = ll.Prior(values, tuple(counts))
    notion = ll.notions.parse_claim(claim)
    made = one_bit(prior, notion)
    assert made is not None
    x, p = np.array([0.0, 1.0, 4.0]), prior.floats()
    rows = made.table.floats()[:, 0]
    slope = (rows[2] - rows[0]) / 4
    assert rows[1] == pytest.approx(rows[0] + slope, abs=1e-12)
    own = (p @ rows) * (1 - p @ rows) / slope**2
    limits = notion.lift_limits()
    ends = np.linspace(0, 1, 401)
    start, end = (each.ravel() for each in np.meshgrid(ends[1:-1], ends[1:-1]))
    start, end = start[start != end], end[start != end]
    lines = start[:, None] + (end - start)[:, None] * x / 4
    chances = lines @ p
    if limits is None:
        both = np.concatenate([lines, 1 - lines], axis=1).reshape(-1, 2, 3)
        kept = (both.max(axis=2) <= math.e * both.min(axis=2)).all(axis=1)
    else:
        assert limits.least is not None
        assert limits.most is not None
        lifts = np.concatenate(
            [lines / chances[:, None], (1 - lines) / (1 - chances[:, None])], axis=1
        )
        least, most = float(limits.least), float(limits.most)
        kept = (lifts >= least).all(axis=1) & (lifts <= most).all(axis=1)
    best = (chances * (1 - chances) / ((end - start) / 4) ** 2)[kept].min()
    assert own <= best * (1 + 1e-9)
    assert best < 1.1 * own


def test_a_line_under_sets_of_priors_is_as_steep_as_can_be_proved() -> None:
    values = ll.Alphabet.of(["low", "high"], [0, 1])
    box = ll.Intervals(
        values, (Fraction(3, 10), Fraction(4, 10)), (Fraction(6, 10), Fraction(7, 10))
    )
    made = one_bit(box, ll.LIP("1"))
    assert made is not None
    assert made.certificate.holds
    steeper = made.table.floats()
    steeper = 0.5 + 1.001 * (steeper - 0.5)
    draft = ll.Draft.of(values, ["r1", "r2"], steeper)
    with pytest.raises(NotCertified):
        ll.lock(draft, ll.LIP("1"), box)


def test_means_are_designed_for_the_mean(survey: Survey) -> None:
    question = survey["sleep"]
    (each,) = survey.collections()["all.sleep"].mechanisms.values()
    prior = question.populations[0].context
    assert isinstance(prior, ll.Prior)
    shares = ll.design(prior, ll.LIP("1"), utility="frequencies", gap=1e-3)
    own = unbiased_variance(each.mechanism, prior, question)
    assert own <= unbiased_variance(shares, prior, question)
    assert each.mechanism.encoding is not None
    assert each.mechanism.encoding.names == ("sleep",)


@pytest.mark.parametrize("size", [2, 3, 7, 8, 33])
@pytest.mark.parametrize("claim", ["ldp=1", "lip=1"])
def test_halves_keep_the_promise_and_determine_all_shares(size: int, claim: str) -> None:
    prior = ll.Prior.from_counts({f"v{place}": 100 // (place + 1) for place in range(size)})
    context = prior if claim == "lip=1" else ll.Intervals.all_priors(prior.labels)
    made = halves(context, ll.notions.parse_claim(claim))
    assert made is not None
    weights = made.table.weights.astype(object)
    ratio = max(Fraction(max(column), min(column)) for column in weights.T)
    rows = weights / float(1 << made.table.bits)
    assert np.linalg.matrix_rank(rows.astype(float)) == size
    if claim == "ldp=1":
        assert 1 - 1e-6 < math.log(ratio) <= 1
        # Any two values share a quarter of the outputs, so the inverse is known in closed form.
        odds = math.exp(1)
        outputs = rows.shape[1]
        inside = rows > 1.0 / outputs
        scores = np.where(inside, 1.0, -1.0) * (odds + 1) / (odds - 1)
        assert np.abs(rows.astype(float) @ scores.T - np.eye(size)).max() < 1e-6
        return
    for y in range(len(made.table.outputs)):
        column = [Fraction(int(w), 1 << made.table.bits) for w in weights[:, y]]
        chance = sum(p * w for p, w in zip(prior.fractions, column, strict=True))
        assert max(column) <= E * chance
        assert chance <= E * min(column)


def test_many_values_are_designed_quickly_and_the_same_again() -> None:
    values = [f"v{place}" for place in range(80)]
    first, again = (single(values=values, guarantee="ldp=1").default for _ in range(2))
    assert first.digest == again.digest
    assert first.outputs == 128
    assert first.mechanism.origin is not None
    assert first.mechanism.origin.method == "halves"
    with pytest.raises(InputError, match="more than 256 values"):
        single(values=[f"v{place}" for place in range(257)], guarantee="ldp=1")


def single(**keys: Any) -> Collection:
    one = {"name": "q", "ask": "?", "values": ["a", "b", "c"], "guarantee": "lip=1"} | keys
    return Survey.from_data({"survey": "s", "questions": [one]}).collections()["s.q"]


def test_a_method_may_be_named() -> None:
    made = single(prior=[1, 1, 1], method="k-rr", guarantee="ldp=1").default.mechanism
    assert made.origin is not None
    assert made.origin.method == "k-rr"
    with pytest.raises(NotDefined, match="makes a table"):
        single(method="oue", guarantee="ldp=1")


def test_a_value_that_cannot_occur_is_refused() -> None:
    with pytest.raises(InputError, match="question 'q': 'c'; leave the value out"):
        single(prior=[1, 1, 0])


def test_a_mechanism_of_a_file_is_proved_again(tmp_path: Path) -> None:
    prior = ll.Prior.from_counts({"a": 5, "b": 3, "c": 2})
    made = ll.design(prior, ll.LIP("1"), method="safe-response")
    made.save(tmp_path / "own.json")
    one = {"name": "q", "ask": "?", "values": ["a", "b", "c"], "mechanism": "own.json"}
    where = str(tmp_path / "s.yaml")

    def collection(**keys: Any) -> Collection:
        data = {"survey": "s", "questions": [one | keys]}
        return Survey.from_data(data, where).collections()["s.q"]

    own = collection().default.mechanism
    assert np.array_equal(own.table.weights, made.table.weights)
    assert own.table.outputs.labels == ("r1", "r2", "r3")
    assert str(collection(guarantee="lip=2").default.mechanism.notion) == "lip(2)"
    with pytest.raises(NotCertified, match="question 'q'"):
        collection(guarantee="lip=0.5")
    with pytest.raises(InputError, match="no row for a value"):
        collection(values=["a", "b", "c", "d"])
    with pytest.raises(SurveyError, match="beside a mechanism of a file"):
        collection(prior=[1, 1, 1])


# --- mechanisms that are kept ---------------------------------------------------------------------


@pytest.fixture
def kept(tmp_path: Path) -> tuple[Path, Survey]:
    path = tmp_path / "health.json"
    told = [{"ask": "?"} | each for each in QUESTIONS if each["name"] in ("flu", "pet")]
    path.write_text(json.dumps({"survey": "health", "questions": told}), encoding="utf-8")
    survey = Survey.read(path)
    assert survey.keep_mechanisms() == tmp_path / "health.mechanisms"
    return path, survey


def test_kept_mechanisms_are_found_again(
    kept: tuple[Path, Survey], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, survey = kept
    monkeypatch.setattr("liftlock.designs.api.design", lambda *_, **__: pytest.fail("designed"))
    again = Survey.read(path).collections()
    for name, collection in survey.collections().items():
        for digest, each in collection.mechanisms.items():
            assert again[name].mechanisms[digest].file == each.file
            assert again[name].mechanisms[digest].mechanism == each.mechanism


def test_nothing_that_is_kept_is_believed(kept: tuple[Path, Survey]) -> None:
    path, survey = kept
    folder = path.with_suffix(".mechanisms")
    careful, open_ = survey.collections()["health.pet"].mechanisms
    index = json.loads((folder / "index.json").read_text())
    swapped = {
        key: {careful: open_, open_: careful}.get(digest, digest)
        for key, digest in index["mechanisms"].items()
    }
    (folder / "index.json").write_text(json.dumps(index | {"mechanisms": swapped}))
    with pytest.raises(FileError, match="promises something else"):
        Survey.read(path).collections()
    (folder / "index.json").write_text(json.dumps(index))
    file = folder / f"{careful}.json"
    raw = file.read_bytes()
    file.write_bytes(raw.replace(b'"r1"', b'"rX"'))
    with pytest.raises(FileError, match="a kept mechanism was changed"):
        Survey.read(path).collections()
    # A file whose name is that of its bytes, and whose certificate is a lie, is no better.
    lie = raw.replace(b'"budget": "0.5"', b'"budget": "0.1"').replace(b"ldp(0.5)", b"ldp(0.1)")
    assert lie != raw
    digest = hashlib.sha256(lie).hexdigest()
    (folder / f"{digest}.json").write_bytes(lie)
    changed = {key: digest if d == careful else d for key, d in index["mechanisms"].items()}
    (folder / "index.json").write_text(json.dumps(index | {"mechanisms": changed}))
    with pytest.raises(NotCertified):
        Survey.read(path).collections()
    file.unlink()
    (folder / "index.json").write_text(json.dumps(index))
    assert list(Survey.read(path).collections()["health.pet"].mechanisms) == [careful, open_]


def test_every_kind_is_kept(survey: Survey, tmp_path: Path) -> None:
    path = tmp_path / "all.json"
    path.write_text(json.dumps(survey.content()), encoding="utf-8")
    Survey.read(path).keep_mechanisms()
    again = Survey.read(path).collections()
    for name, collection in survey.collections().items():
        assert list(again[name].mechanisms) == list(collection.mechanisms)
        for digest, each in collection.mechanisms.items():
            assert again[name].mechanisms[digest].content() == each.content()


def test_a_mechanism_of_a_file_is_not_kept_instead_of_it(tmp_path: Path) -> None:
    prior, path = ll.Prior.from_counts({"a": 5, "b": 3}), tmp_path / "s.json"
    one = {"name": "q", "ask": "?", "values": ["a", "b"], "mechanism": "own.json"}
    path.write_text(json.dumps({"survey": "s", "questions": [one]}), encoding="utf-8")
    ll.design(prior, ll.LIP("1"), method="safe-response").save(tmp_path / "own.json")
    before = Survey.read(path)
    before.keep_mechanisms()
    assert list(Survey.read(path).collections()["s.q"].mechanisms) == list(
        before.collections()["s.q"].mechanisms
    )
    ll.design(prior, ll.LIP("2"), method="safe-response").save(tmp_path / "own.json")
    (after,) = Survey.read(path).collections()["s.q"].mechanisms.values()
    assert after.mechanism.certificate.guarantee == "lip(epsilon=2)"


def test_another_question_is_designed_anew(kept: tuple[Path, Survey]) -> None:
    path, survey = kept
    told = json.loads(path.read_text())
    told["questions"][0]["prior"]["flu"] = 150
    path.write_text(json.dumps(told), encoding="utf-8")
    again = Survey.read(path).collections()
    assert list(again["health.pet"].mechanisms) == list(
        survey.collections()["health.pet"].mechanisms
    )
    assert list(again["health.flu"].mechanisms) != list(
        survey.collections()["health.flu"].mechanisms
    )


@pytest.mark.parametrize(
    ("labels", "points"),
    [(["5 to 10", "0 to 5"], ["7.5", "2.5"]), (["0 to 5", "5 to 10"], ["1", "9"])],
)
def test_rows_of_a_file_are_the_bins_in_their_order(
    labels: list[str], points: list[str], tmp_path: Path
) -> None:
    values = Alphabet.of(labels, list(map(Fraction, points)))
    draft = ll.Draft.of(values, ["a", "b"], [[0.75, 0.25], [0.25, 0.75]])
    ll.lock(draft, ll.LDP("2"), Prior(values, (1, 1))).save(tmp_path / "made.json")
    question = {"name": "q", "ask": "?", "range": [0, 10], "bins": 2, "mechanism": "made.json"}
    told = {"survey": "s", "questions": [question]}
    with pytest.raises(InputError, match="not the bins of the question"):
        Survey.from_data(told, str(tmp_path / "s.yaml")).collections()


def test_groups_say_what_rounding_may_have_moved() -> None:
    groups = {"a": {"weight": 10}, "b": {"weight": 10}}
    question = {"name": "q", "ask": "?", "range": [0, 10], "bins": 2, "groups": groups}
    asked = {**question, "guarantee": "ldp=2"}
    told = {"survey": "s", "people": 1000}
    survey = Survey.from_data({**told, "questions": [asked]})
    (collection,) = survey.collections().values()
    content = collection.estimate(even_counts(collection)).content()
    for found in content["groups"].values():
        (answer,), (moved,) = found["answers"], found["rounding"]["answers"]
        assert moved["low"] == answer["low"] - 2.5
        assert moved["high"] == answer["high"] + 2.5
    sums = {**told, "questions": [{**asked, "answer": "sum"}]}
    (margin,) = Survey.from_data(sums).check().margins
    assert margin.rounding == 2.5 * 10 * 1000


def test_weights_are_not_negative() -> None:
    groups = {"a": {"weight": 1}, "b": {"weight": -1}}
    question = {"name": "q", "ask": "?", "range": [0, 10], "bins": 2, "groups": groups}
    told = {**question, "guarantee": "ldp=2", "answer": "sum"}
    with pytest.raises(SurveyError, match="negative weight"):
        Survey.from_data({"survey": "s", "questions": [told]})
