"""Pages of both addresses: what they show, what they keep to themselves, and their script."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from hashlib import sha256
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy import stats

import liftlock as ll
from liftlock.collect import Settings
from liftlock.collect.server.pages import COOKIE, static_files
from liftlock.collect.server.pictures import Span, beliefs_of, days_chart
from liftlock.collect.server.service import Service
from liftlock.collect.store.sqlite import SqliteStore
from liftlock.collect.survey import Survey
from liftlock.collect.survey.check import make_consent
from liftlock.collect.wire import MOST
from tests.unit.collect.server.harness import World, new_id, serving, survey_of
from tests.vectors import make_decode

HERE = Path(__file__).parent
NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="there is no node on this machine")
SCRIPTS = ("question.js", "report.js", "memory.js")
MOST_BYTES = 6_000
"""The scripts of the question page together, compressed one by one as servers do."""

PUBLIC = ("/", "/s/health", "/s/health/results", "/s/nobody", "/s/health/results/estimates.xml")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with serving(tmp_path) as made:
        yield made


class Reader(HTMLParser):
    """Collects elements with their attributes, and the text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def read(answer: httpx.Response, status: int = 200) -> Reader:
    assert answer.status_code == status
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    return Reader(answer.text)


def send(world: World, number: int, collection: str = "health.flu") -> None:
    """Report so many times, each output in turn."""
    made = world.service.served[collection].collection.default
    reports = [(new_id(), place % made.outputs) for place in range(number)]
    for start in range(0, number, MOST):
        part = reports[start : start + MOST]
        answer = world.people.report(part, collection=collection, mechanism=made.digest)
        assert answer.status_code == 200


@contextmanager
def serving_on(folder: Path, days: list[date], **fields: Any) -> Iterator[World]:
    """Serve the survey on the first of some days, which may be changed meanwhile."""
    settings = Settings.from_data({"store": str(folder / "store.sqlite")})
    store = SqliteStore(folder / "store.sqlite", today=lambda: days[0])
    service = Service(settings, surveys=[survey_of(**fields)], store=store, today=lambda: days[0])
    made = World(service.open())
    try:
        yield made
    finally:
        made.close()


# --- what no page has -----------------------------------------------------------------------------


@pytest.mark.parametrize("path", PUBLIC)
def test_pages_hold_nothing_that_the_policy_forbids(path: str, world: World) -> None:
    send(world, 30)
    answer = world.people.get(path, follow_redirects=True)
    policy = answer.headers["content-security-policy"]
    for part in ("default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"):
        assert part in policy
    assert "unsafe" not in policy
    assert "form-action 'none'" in policy
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["x-content-type-options"] == "nosniff"
    page = Reader(answer.text)
    for name, attributes in page.elements:
        assert name not in ("style", "iframe", "object", "embed", "base", "form"), path
        assert not [key for key in attributes if key == "style" or key.startswith("on")], path
        for key in ("src", "href"):
            place = attributes.get(key) or ""
            assert not re.match(r"(?i)[a-z]+:|//", place), place
    assert all("src" in attributes for attributes in page.all("script"))


def test_the_question_page_asks_for_trusted_types_and_its_own_scripts(world: World) -> None:
    answer = world.people.get("/s/health")
    policy = answer.headers["content-security-policy"]
    for part in ("script-src 'self'", "connect-src 'self'", "require-trusted-types-for 'script'"):
        assert part in policy
    page = read(answer)
    assert [each["src"] for each in page.all("script")] == ["/static/question.js"]
    assert page.all("script")[0]["type"] == "module"


def test_names_that_look_like_markup_stay_text(tmp_path: Path) -> None:
    nasty = "<script>alert(1)</script>\u202e&\"'"
    question = {
        "name": "flu",
        "ask": f"Ask {nasty}?",
        "values": [nasty, "no"],
        "guarantee": "ldp=1",
    }
    with serving(tmp_path, survey_of(title=nasty, questions=[question])) as world:
        send(world, 20)
        for path in ("/s/health", "/s/health/results"):
            answer = world.people.get(path)
            page = read(answer)
            assert "alert(1)" in page.text, path
            assert len(page.all("script")) == (path == "/s/health")
            assert "\u202e" not in answer.text
        inputs = read(world.people.get("/s/health")).all("input")
        assert json.loads(inputs[0]["value"] or "") == nasty


def test_values_reach_the_script_as_they_are_in_the_table(tmp_path: Path) -> None:
    values = ["\x7f", "flag \U0001f3f4\U000e0067", "\U0001f468\u200d\U0001f469", "back\\slash"]
    question = {"name": "flu", "ask": "Which?", "values": values, "guarantee": "ldp=1"}
    with serving(tmp_path, survey_of(questions=[question])) as world:
        inputs = read(world.people.get("/s/health")).all("input")
        assert [json.loads(each["value"] or "") for each in inputs] == values


# --- the question page ----------------------------------------------------------------------------


def test_nothing_on_the_question_page_can_be_submitted(world: World) -> None:
    page = read(world.people.get("/s/health"))
    assert not page.all("form")
    assert [each["type"] for each in page.all("button")] == ["button"]
    inputs = page.all("input")
    assert [json.loads(each["value"] or "") for each in inputs] == ["none", "cold", "flu"]
    assert {each["autocomplete"] for each in inputs} == {"off"}
    assert len(page.all("fieldset")) == len(page.all("legend")) == 1


def test_without_script_fields_are_disabled_and_the_page_says_why(world: World) -> None:
    page = read(world.people.get("/s/health"))
    assert all("disabled" in each for each in page.all("fieldset"))
    assert "hidden" in page.all("button")[0]
    words = " ".join(page.text.split())
    assert "How are you today?" in words
    assert "cannot be answered here without JavaScript" in words
    words = words.replace("\xa0", " ")
    (asked,) = make_consent(world.service.served["health.flu"].survey).questions
    assert f"Your device sends {asked.sent};" in words
    assert "believe “flu” with probability 27.2 % after the report, up from 10 %." in words
    assert '"flu": 3.67 % to 27.2 % (before: 10 %)' in words
    assert "All answers together" in words


def test_a_closed_question_and_one_that_is_not_open_yet_have_no_fields(tmp_path: Path) -> None:
    for fields, words in (
        ({"closes": "2026-05-03"}, "This question is closed"),
        ({"opens": "2026-05-05"}, "This question opens on 2026-05-05."),
    ):
        folder = tmp_path / next(iter(fields))
        folder.mkdir()
        with serving(folder, survey_of(**fields)) as world:
            page = read(world.people.get("/s/health"))
            assert words in page.text
            assert not page.all("fieldset")
            assert not page.all("input")


def test_groups_and_levels_are_chosen_and_each_says_what_it_reveals(tmp_path: Path) -> None:
    asked = {"name": "pay", "ask": "Enough?", "values": ["no", "yes"]}
    groups = {"north": {"prior": [6, 4]}, "south": {"prior": [3, 7]}}
    levels = {"strict": "ldp=0.5", "open": "ldp=ln 3"}
    survey = survey_of(questions=[{**asked, "groups": groups, "levels": levels}])
    with serving(tmp_path, survey) as world:
        page = read(world.people.get("/s/health"))
        assert [each["value"] for each in page.all("option")] == ["", "north", "south"]
        radios = [each["value"] for each in page.all("input")]
        assert radios == ["strict", "open", '"no"', '"yes"']
        words = page.text.replace("\xa0", " ")
        assert "change at most 1.65-fold" in words
        assert "change at most 3-fold" in words
        assert "The group that you belong to: it is sent with the report." in words
        assert "This is sent with the report" in words
        for digest in world.service.mechanisms:
            assert digest in words


def test_open_mode_is_labelled(tmp_path: Path) -> None:
    for tokens, shown in (("open", True), ("signed", False)):
        folder = tmp_path / tokens
        folder.mkdir()
        with serving(folder, survey_of(tokens=tokens)) as world:
            text = read(world.people.get("/s/health")).text
            assert ("Anyone can send reports" in text) == shown
            results = read(world.people.get("/s/health/results")).text
            assert ("cannot be told from others" in results) == shown


def test_the_start_lists_surveys_or_goes_to_the_only_one(tmp_path: Path, world: World) -> None:
    answer = world.people.get("/")
    assert (answer.status_code, answer.headers["location"]) == (303, "/s/health")
    (tmp_path / "two").mkdir()
    with serving(tmp_path / "two", survey_of(), survey_of(survey="work", title="Work")) as two:
        page = read(two.people.get("/"))
        assert [each["href"] for each in page.all("a")][1:] == ["/s/health", "/s/work"]


KINDS: list[dict[str, Any]] = [
    {"name": "pay", "ask": "Pay?", "range": [0, 400], "bins": 4, "guarantee": "ldp=1"},
    {
        "name": "where",
        "ask": "Where?",
        "grid": {"x": [0, 4], "y": [-1, 1], "columns": 2, "rows": 2},
        "guarantee": "ldp=1",
    },
    {
        "name": "work",
        "ask": "What did it do?",
        "profiles": {"clerk": {"idle": 3, "busy": 1}, "gamer": {"idle": 1, "busy": 3}},
        "guarantee": "profile=0.5",
        "method": "smooth-categorical",
    },
]


def test_every_kind_has_its_fields_and_its_results(tmp_path: Path) -> None:
    with serving(tmp_path, survey_of(questions=KINDS)) as world:
        page = read(world.people.get("/s/health"))
        inputs = page.all("input")
        assert [each["type"] for each in inputs] == ["number"] + ["radio"] * 8
        labels = [each["aria-label"] for each in inputs[1:5]]
        assert labels[0] == "x 0 to 2, y 0 to 1"
        values = [json.loads(each["value"] or "") for each in inputs[1:]]
        assert values[:4] == [[0, 1], [1, 1], [0, 0], [1, 0]]
        assert values[4:] == ["clerk", "gamer", "idle", "busy"]
        assert "A number from 0 to 400; what lies outside counts as the nearer end" in page.text
        for question in KINDS:
            send(world, 200, f"health.{question['name']}")
        shown = read(world.people.get("/s/health/results"))
        text = shown.text.replace("\xa0", " ")
        assert "before that the mean lies between" in text
        assert "“gamer”" in text
        assert "column 1, row 0:" in text
        assert not [each for _, each in shown.elements if "style" in each]


def test_the_description_names_bins_in_the_order_of_their_edges(tmp_path: Path) -> None:
    with serving(tmp_path, survey_of(questions=KINDS)) as world:
        told = world.people.get("/v1/collections/health.pay").json()
        question = world.service.served["health.pay"].collection.question
        assert told["values"] == list(question.values.labels)
        assert told["edges"] == [0, 100, 200, 300, 400]


def test_long_lists_are_chosen_from_a_menu(tmp_path: Path) -> None:
    values = [f"value {place}" for place in range(41)]
    asked = {"name": "long", "ask": "Which?", "values": values, "guarantee": "ldp=1"}
    with serving(tmp_path, survey_of(questions=[{**asked, "method": "k-rr"}])) as world:
        page = read(world.people.get("/s/health"))
        assert not page.all("input")
        assert [json.loads(each["value"] or '""') for each in page.all("option")] == ["", *values]


PANEL = "person,none,cold,flu\nq7ann,8,1,1\nq7bob,1,8,1\nq7cem,8,1,1\n"


def test_nobody_sees_the_tables_of_a_panel_but_the_curator(tmp_path: Path) -> None:
    (tmp_path / "panel.csv").write_text(PANEL)
    asked = {"name": "flu", "ask": "How are you?", "values": ["none", "cold", "flu"]}
    content = {"survey": "health", "questions": [{**asked, "panel": "panel.csv"}]}
    content["questions"][0]["guarantee"] = "lip=1"  # type: ignore[index]
    survey = Survey.from_data(content, str(tmp_path / "health.json"))
    with serving(tmp_path, survey) as world:
        collection = world.service.served["health.flu"].collection
        assert len(collection.mechanisms) == 2
        send(world, 60)
        for path in ("", "/results", "/results/estimates.json", "/results/counts.json"):
            text = world.people.get(f"/s/health{path}").text
            assert not [digest for digest in collection.mechanisms if digest in text], path
            assert "q7" not in text
        assert "open the link that was given to you" in world.people.get("/s/health").text
        sign_in(world, world.service.admin_token)
        text = world.nobody.get("/s/health").text
        assert all(digest in text for digest in collection.mechanisms)
        rows = list(csv.DictReader(io.StringIO(world.nobody.get("/s/health/links.csv").text)))
        assert {row["person"]: row["link"] for row in rows} == {
            code: f"/s/health#health.flu.table={collection.find(person=code).digest}"
            for code in ("q7ann", "q7bob", "q7cem")
        }
        (line,) = world.operator.get("/v1/trail").json()["trail"]
        assert (line["who"], line["what"]) == ("operator", "links of the panel")
        made = world.operator("POST", "/v1/operators", json={"name": "bob", "role": "analyst"})
        sign_in(world, made.json()["token"])
        assert world.nobody.get("/s/health/links.csv").status_code == 403


# --- files that pages load ------------------------------------------------------------------------


def test_scripts_are_small() -> None:
    sizes = {name: len(gzip.compress(static_files()[name][0], 9)) for name in SCRIPTS}
    print("compressed:", sizes, sum(sizes.values()))
    assert 0 < sum(sizes.values()) <= MOST_BYTES


def test_files_have_marks_and_are_asked_for_again(world: World) -> None:
    for name, (body, kind, mark) in static_files().items():
        answer = world.people.get(f"/static/{name}")
        assert answer.content == body
        assert answer.headers["content-type"] == kind
        assert answer.headers["cache-control"] == "no-cache"
        again = world.people.get(f"/static/{name}", headers={"if-none-match": mark})
        assert (again.status_code, again.content) == (304, b"")
    for name in ("collect.css", "..%2fpages.py", "survey.html"):
        assert world.people.get(f"/static/{name}").status_code == 404


def test_scripts_name_nothing_that_runs_text_or_leaves_the_address() -> None:
    for name in SCRIPTS:
        text = static_files()[name][0].decode()
        for word in ("innerHTML", "eval(", "Function(", "document.write", "http:", "https:/"):
            assert word not in text, (name, word)
        for word in ("console.", "localStorage", "sessionStorage", "document.cookie", "sendBeacon"):
            assert word not in text, (name, word)


# --- results --------------------------------------------------------------------------------------


def test_results_show_estimates_days_and_proofs(tmp_path: Path) -> None:
    days = [date(2026, 5, 4)]
    with serving_on(tmp_path, days) as world:
        send(world, 40)
        days[0] = date(2026, 5, 6)
        send(world, 20)
        text = read(world.people.get("/s/health/results")).text.replace("\xa0", " ")
        content = world.people.get("/v1/collections/health.flu/estimate").json()
        file = world.people.get(f"/mechanisms/{world.layout.mechanism}.json")
        assert world.people.get(f"/mechanisms/{'0' * 64}.json").status_code == 404
        assert world.layout.mechanism in text
        assert sha256(file.content).hexdigest() == world.layout.mechanism
    assert "60 reports, open" in text
    for each in content["answers"]:
        assert f"“{each['name']}”" in text
    shares = [f"{100 * each['value'] / 60:.3g} %" for each in content["answers"]]
    assert all(share in text for share in shares)
    assert "60 reports from 2026-05-04 to 2026-05-06" in text
    assert "2026-05-04: 40 reports" in text
    assert "2026-05-06: 20 reports" in text
    assert "CERTIFIED: lip(epsilon=1)" in text


def test_counts_are_shown_only_behind_these_are_not_answers(world: World) -> None:
    send(world, 4 * 1009)
    page = world.people.get("/s/health/results").text
    assert page.count("1,009") >= world.layout.outputs
    before, _, after = page.partition("These are not answers</summary>")
    assert after
    assert before.rpartition("<details")[2] == ' class="counts"><summary>'
    assert ">r1<" not in before
    assert ">1,009<" not in before
    inside = after.partition("</details>")[0]
    assert inside.count(">1,009<") == world.layout.outputs


def test_before_the_first_report_there_is_no_estimate(world: World) -> None:
    text = read(world.people.get("/s/health/results")).text
    assert "There is no report yet." in text
    assert "What one answer reveals" in text


def test_fewer_reports_than_the_least_are_not_told(tmp_path: Path) -> None:
    days = [date(2026, 5, 4)]
    with serving_on(tmp_path, days, least=50) as world:
        send(world, 37)
        text = read(world.people.get("/s/health/results")).text
        assert "fewer than 50 reports" in text
        assert "37" not in re.sub(r"[0-9a-f]{64}|\d+/\d+|\d\.\d+", "", text)
        assert "Counts of reports" not in text
        for sheet in ("estimates", "counts"):
            rows = world.people.get(f"/s/health/results/{sheet}.csv").text.splitlines()
            assert len(rows) == 1
        days[0] = date(2026, 5, 5)
        send(world, 60)
        text = read(world.people.get("/s/health/results")).text
        assert "97 reports, open" in text
        assert "2026-05-05:" not in text  # 97 - 60 would be the reports of the other day
        days[0] = date(2026, 5, 6)
        send(world, 70)
        text = read(world.people.get("/s/health/results")).text
        assert "2026-05-06: 70 reports" in text
        assert "2026-05-05:" not in text
        assert "2026-05-04:" not in text
        assert "2 days left out, so that nothing is told of fewer than 50 reports" in text


def test_small_groups_are_neither_shown_nor_left_over(tmp_path: Path) -> None:
    groups = {
        name: {"prior": prior} for name, prior in (("a", [6, 4]), ("b", [3, 7]), ("c", [1, 1]))
    }
    asked = {"name": "flu", "ask": "Ill?", "values": ["no", "yes"], "groups": groups}
    question = {**asked, "guarantee": "lip=1"}
    with serving(tmp_path, survey_of(questions=[question], least=50)) as world:
        made = world.service.served["health.flu"].collection.mechanisms
        largest = list(made)[2]
        for digest, number in zip(made, (3, 60, 70), strict=True):
            reports = [(new_id(), place % 2) for place in range(number)]
            world.people.report(reports, mechanism=digest)
        told = {
            part: world.people.get(f"/v1/collections/health.flu/{part}").json()
            for part in ("aggregate", "estimate", "history")
        }
        assert told["aggregate"]["reports"] == 133
        assert list(told["aggregate"]["mechanisms"]) == [largest]
        assert list(told["estimate"]["groups"]) == ["c"]
        assert "in collection" not in json.dumps(told["estimate"])
        (day,) = told["history"]["days"].values()
        assert list(day) == [largest]
        page = read(world.people.get("/s/health/results")).text
        tables = page.partition("These are not answers")[2]
        assert "For c" in tables
        assert "For a" not in tables
        assert "For b" not in tables
        rows = list(
            csv.DictReader(io.StringIO(world.people.get("/s/health/results/counts.csv").text))
        )
        assert {row["mechanism"] for row in rows} == {largest}


def test_downloads_agree_with_the_estimate(world: World) -> None:
    send(world, 500)
    content = world.people.get("/v1/collections/health.flu/estimate").json()
    answers = [(each["name"], each["value"], each["low"]) for each in content["answers"]]
    place = "/s/health/results/estimates."
    answer = world.people.get(f"{place}csv")
    assert "attachment" in answer.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [(r["answer"], float(r["estimate"]), float(r["low"])) for r in rows] == answers
    table = pq.read_table(io.BytesIO(world.people.get(f"{place}parquet").content))
    columns = [table[name].to_pylist() for name in ("answer", "estimate", "low")]
    assert list(zip(*columns, strict=True)) == answers
    assert set(table["reports"].to_pylist()) == {500}
    assert world.people.get(f"{place}json").json() == {"health.flu": content}
    assert world.people.get(f"{place}xlsx").status_code == 404


def test_downloads_of_groups_and_of_counts(tmp_path: Path) -> None:
    groups = {"north": {"prior": [6, 4]}, "south": {"prior": [3, 7]}}
    asked = {"name": "flu", "ask": "Ill?", "values": ["no", "yes"], "groups": groups}
    with serving(tmp_path, survey_of(questions=[{**asked, "guarantee": "lip=1"}])) as world:
        collection = world.service.served["health.flu"].collection
        for at, digest in enumerate(collection.mechanisms):
            reports = [(new_id(), place % 2) for place in range(100 + at)]
            world.people.report(reports, mechanism=digest)
        text = world.people.get("/s/health/results/estimates.csv").text
        rows = list(csv.DictReader(io.StringIO(text)))
        assert [(row["group"], row["reports"]) for row in rows] == [
            *[("", "201")] * 2,
            *[("north", "100")] * 2,
            *[("south", "101")] * 2,
        ]
        counts = world.people.get("/v1/collections/health.flu/aggregate").json()["mechanisms"]
        text = world.people.get("/s/health/results/counts.csv").text
        rows = list(csv.DictReader(io.StringIO(text)))
        found: dict[str, list[int]] = {}
        for row in rows:
            found.setdefault(row["mechanism"], []).append(int(row["reports_not_answers"]))
        assert found == counts
        told = world.people.get("/s/health/results/counts.json").json()
        assert told == {"reports_not_answers": {"health.flu": counts}}
        table = pq.read_table(
            io.BytesIO(world.people.get("/s/health/results/counts.parquet").content)
        )
        assert sum(table["reports_not_answers"].to_pylist()) == 201
        assert world.people.get("/s/health/results/other.csv").status_code == 404


def test_results_of_analysts_are_not_on_the_public_address(tmp_path: Path) -> None:
    with serving(tmp_path, survey_of(results="analysts")) as world:
        send(world, 40)
        for path in ("results", "results/estimates.csv", "results/estimates.json"):
            page = read(world.people.get(f"/s/health/{path}"), 403)
            assert "flu" not in page.text
        assert "/results" not in world.people.get("/s/health").text


def test_pages_that_are_kept_follow_reports_states_and_surveys(tmp_path: Path) -> None:
    days = [date(2026, 5, 4)]
    with serving_on(tmp_path, days, closes="2026-05-04") as world:
        texts = []
        for number in (10, 20):
            send(world, number)
            texts.append(read(world.people.get("/s/health/results")).text)
        assert "10 reports, open" in texts[0]
        assert "30 reports, open" in texts[1]
        assert (
            world.people.get("/s/health/results").text == world.people.get("/s/health/results").text
        )
        assert read(world.people.get("/s/health")).all("fieldset")
        world.service.put(survey_of(title="Renamed", closes="2026-05-04"))
        assert "Renamed" in read(world.people.get("/s/health")).text
        assert "Renamed" in read(world.people.get("/s/health/results")).text
        days[0] = date(2026, 5, 5)
        assert not read(world.people.get("/s/health")).all("fieldset")
        assert "30 reports, closed" in read(world.people.get("/s/health/results")).text


# --- signing in -----------------------------------------------------------------------------------

OWN = {"origin": "http://collect.test"}


def sign_in(world: World, token: str, **headers: str) -> httpx.Response:
    return world.nobody("POST", "/sign-in", data={"token": token}, headers={**OWN, **headers})


def test_the_dashboard_is_for_analysts_who_sign_in(world: World) -> None:
    send(world, 40)
    for path in ("/", "/s/health", "/s/health/estimates.csv"):
        answer = world.nobody.get(path)
        assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in"), path
    page = read(world.nobody.get("/sign-in"))
    assert [each["type"] for each in page.all("input")] == ["text", "password"]
    assert world.nobody.get("/sign-in").headers["referrer-policy"] == "same-origin"
    answer = sign_in(world, world.service.admin_token)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"{COOKIE}=")
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= {part.strip() for part in cookie.split(";")}
    assert "expires" not in cookie.lower()
    assert "max-age" not in cookie.lower()
    assert "40 reports" in read(world.nobody.get("/s/health")).text
    assert world.nobody.get("/s/health").headers["cache-control"] == "no-store"
    rows = world.nobody.get("/s/health/estimates.csv").text.splitlines()
    assert len(rows) == 4
    answer = world.nobody("POST", "/sign-out", headers=OWN)
    assert answer.headers["location"] == "/sign-in"
    assert world.nobody.get("/s/health").status_code == 303


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://elsewhere.test"},
        {"origin": "null"},
    ],
    ids=str,
)
def test_forms_of_other_pages_do_nothing(headers: dict[str, str], world: World) -> None:
    answer = sign_in(world, world.service.admin_token, **headers)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers
    sign_in(world, world.service.admin_token)
    assert world.nobody("POST", "/sign-out", headers={**OWN, **headers}).status_code == 403
    assert world.nobody.get("/s/health").status_code == 200


def test_a_browser_is_believed_where_a_form_comes_from_also_behind_a_proxy(world: World) -> None:
    headers = {"sec-fetch-site": "same-origin", "origin": "https://public.example"}
    assert sign_in(world, world.service.admin_token, **headers).status_code == 303


def test_a_form_without_a_sender_does_nothing(world: World) -> None:
    answer = world.nobody("POST", "/sign-in", data={"token": world.service.admin_token})
    assert answer.status_code == 403


def test_wrong_tokens_and_wrong_roles_are_told_apart(world: World) -> None:
    for token in ("", "wrong", "x" * 10_000, "\x00é"):
        answer = sign_in(world, token)
        assert "This token is not known." in read(answer, 403).text
        assert "set-cookie" not in answer.headers
    made = world.operator("POST", "/v1/operators", json={"name": "ann", "role": "auditor"}).json()
    assert "may not see results" in read(sign_in(world, made["token"]), 403).text
    made = world.operator("POST", "/v1/operators", json={"name": "bob", "role": "analyst"}).json()
    assert sign_in(world, made["token"]).status_code == 303
    assert "bob" in read(world.nobody.get("/")).text
    world.operator("DELETE", "/v1/operators/bob")
    assert world.nobody.get("/s/health").status_code == 303


# --- pictures -------------------------------------------------------------------------------------


def test_bars_of_days_are_as_high_as_their_reports() -> None:
    days = [Span(date(2026, 5, day), date(2026, 5, day), n) for day, n in ((1, 10), (3, 40))]
    drawing = days_chart(days, "x")
    heights = [float(found) for found in re.findall(r'<rect [^>]*height="([\d.]+)"', drawing)]
    assert heights[1] == pytest.approx(4 * heights[0], rel=0.01)
    assert "style=" not in drawing


def test_beliefs_without_a_prior_are_those_of_bayes() -> None:
    made = ll.design(ll.Intervals.of({"a": (0, 1), "b": (0, 1)}), ll.LDP("ln 3"))
    found = beliefs_of(made)
    assert found is not None
    weights = made.table.floats()
    for before, high, low in zip(found.before, found.highest, found.lowest, strict=True):
        after = [before * a / (before * a + (1 - before) * b) for a, b in weights.T]
        assert max(after) == pytest.approx(high)
        assert min(after) == pytest.approx(low)


def test_beliefs_under_a_prior_are_those_of_bayes() -> None:
    prior = np.array([0.7, 0.2, 0.1])
    made = ll.design(ll.Prior.from_counts({"none": 7, "cold": 2, "flu": 1}), ll.LIP("1"))
    found = beliefs_of(made)
    assert found is not None
    joint = prior[:, None] * made.table.floats()
    after = joint / joint.sum(axis=0)
    assert found.before == pytest.approx(prior)
    assert found.highest == pytest.approx(after.max(axis=1))
    assert found.lowest == pytest.approx(after.min(axis=1))


# --- the script -----------------------------------------------------------------------------------

FALSE_ALARM = 1e-6
DRAWS = 100_000


def run_script(asked: dict[str, Any]) -> dict[str, Any]:
    assert NODE is not None
    script = str(resources.files("liftlock.collect.server") / "static" / "report.js")
    ended = subprocess.run(
        [NODE, HERE / "vectors.mjs", script, make_decode.FILE, json.dumps(asked)],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def chi_square(counts: list[int], weights: list[int]) -> float:
    """Return the p-value of counts against the exact law; what cannot occur must not."""
    expected = np.array(weights, dtype=float) / sum(weights) * sum(counts)
    possible = expected > 0
    assert not np.array(counts)[~possible].any()
    return float(stats.chisquare(np.array(counts)[possible], expected[possible]).pvalue)


@needs_node
def test_the_script_decodes_the_golden_vectors_and_draws_the_exact_law(world: World) -> None:
    served = world.service.served["health.flu"]
    table = served.collection.mechanisms[served.collection.default.digest]
    rows = [[int(weight) for weight in row] for row in table.mechanism.table.weights]
    file = table.file.decode()
    damaged = file.replace(str(rows[0][0]), str(rows[0][0] + 1), 1)
    outputs, digest = table.outputs, table.digest
    wide = '{"a": 4611686018427387904, "b": "12345678901234567890\\" 1", "c": -1.25e3}'
    found = run_script(
        {
            "rows": [[str(weight) for weight in row] for row in rows],
            "bits": table.mechanism.table.bits,
            "count": DRAWS,
            "texts": [wide],
            "files": [
                [file, digest, outputs],
                [damaged, digest, outputs],
                [damaged, sha256(damaged.encode()).hexdigest(), outputs],
                [file, digest, outputs + 1],
            ],
            "edges": [0, 10, 20.5, 30],
            "numbers": [-5, 0, 9.99, 10, 20.4, 20.5, 30, 99],
        }
    )
    cases = json.loads(make_decode.FILE.read_text())["cases"]
    assert found["wrong"] == []
    assert found["draws"] == sum(len(row) for case in cases for row in case["draws"])
    assert {case["bits"] for case in cases} >= {1, 52, 62}
    for counts, weights in zip(found["counts"], rows, strict=True):
        assert sum(counts) == DRAWS
        assert chi_square(counts, weights) > FALSE_ALARM / len(rows)
    assert found["read"] == [
        {"a": "4611686018427387904", "b": '12345678901234567890" 1', "c": -1250}
    ]
    good, *bad = found["refusals"]
    assert good == [[str(weight) for weight in row] for row in rows]
    assert bad[0] == "The table that came is not the one that was announced."
    assert bad[1] == bad[2] == "The table that came is damaged."
    bins = np.searchsorted([10, 20.5], [-5, 0, 9.99, 10, 20.4, 20.5, 30, 99], side="right")
    assert found["bins"] == bins.tolist()
    assert found["place"] == 1
