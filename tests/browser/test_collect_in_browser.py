"""The question page and the dashboard in a browser: what leaves, what stays, how it looks."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from liftlock.collect.survey import Survey
from liftlock.exact.alias import AliasTable, decode
from tests.browser.collecting import Addresses, Watched, browsing, needs_browser, reachable
from tests.unit.collect.server.harness import survey_of
from tests.vectors import make_decode

pytestmark = needs_browser

SECRET = "zwetschgenkuchen"
"""The true answer: whatever leaves the page, and whatever stays in it, is searched for this."""
FALSE_ALARM = 1e-6
DRAWS = 120_000
WIDTHS = (360, 768, 1280)

PLANTED = {
    "name": "cake",
    "ask": "Which cake?",
    "values": ["plain", SECRET, "none"],
    "prior": {"plain": 6, SECRET: 3, "none": 1},
    "guarantee": "lip=1",
}
GROUPED = {
    "name": "enough",
    "ask": "Are you paid enough, all things considered, in the last year?",
    "values": ["no", "yes"],
    "groups": {"north": {"prior": [6, 4]}, "south": {"prior": [3, 7]}},
    "levels": {"strict": "ldp=0.5", "open": "ldp=ln 3"},
}
WIDE = {
    "name": "wide",
    "ask": "Which of these words, of any length and in any direction of writing, is yours?",
    "values": ["کوه بلند", "a" * 70, "<b>bold</b>", *(f"value {n}" for n in range(17))],
    "guarantee": "ldp=2",
    "method": "k-rr",
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsing() as started:
        yield started


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Addresses]:
    with reachable(tmp_path, survey_of(title="Cakes", questions=[PLANTED])) as addresses:
        yield addresses


@pytest.fixture
def watched(browser: Any) -> Iterator[Watched]:
    context = browser.new_context()
    yield Watched(context.new_page())
    context.close()


def open_page(watched: Watched, address: str) -> None:
    watched.page.goto(f"{address}/s/health")
    watched.page.get_by_role("button", name="Answer").first.wait_for()


def answer(watched: Watched, label: str = SECRET) -> None:
    watched.page.get_by_role("radio", name=label).check()
    watched.page.get_by_role("button", name="Answer").click()
    watched.page.get_by_text("Sent, and stored.").wait_for()


# --- what leaves the page, and what stays ---------------------------------------------------------

STORED = """async () => {
  const found = [location.href, document.cookie, JSON.stringify(history.state)];
  for (const area of [localStorage, sessionStorage]) found.push(JSON.stringify({...area}));
  for (const { name } of await indexedDB.databases()) {
    const request = indexedDB.open(name);
    await new Promise((done) => (request.onsuccess = done));
    for (const store of request.result.objectStoreNames) {
      const all = request.result.transaction(store).objectStore(store);
      for (const part of [all.getAll(), all.getAllKeys()]) {
        await new Promise((done) => (part.onsuccess = done));
        found.push(JSON.stringify(part.result));
      }
    }
    request.result.close();
  }
  found.push(JSON.stringify(await caches.keys().catch(() => [])));
  found.push(JSON.stringify([...document.querySelectorAll("input:checked")].map((e) => e.value)));
  return found;
}"""


def test_the_true_answer_never_leaves_the_page_and_is_not_kept(
    served: Addresses, watched: Watched
) -> None:
    open_page(watched, served.people)
    answer(watched)
    spelled = [SECRET, SECRET.encode().hex(), base64.b64encode(SECRET.encode()).decode()[:-4]]
    stored = watched.page.evaluate(STORED)
    told = [*watched.requests, *watched.console, *stored]
    assert len(watched.bodies) == 1
    assert any("health.cake" in each for each in stored)
    assert not [each for each in told for word in spelled if word in each.lower()]
    body = json.loads(watched.bodies[0])
    assert set(body) == {"batch", "mechanism", "reports"}
    [[name, output]] = body["reports"]
    assert re.fullmatch("[0-9a-f]{32}", name)
    mechanism = served.service.served["health.cake"].collection.default
    assert body["mechanism"] == mechanism.digest
    assert 0 <= output < mechanism.outputs
    assert json.loads(watched.page.locator("[data-part=report]").inner_text()) == body
    assert watched.console == []
    assert served.total("health.cake") == 1


def test_equal_requests_for_every_answer(served: Addresses, browser: Any) -> None:
    """What is asked for, and how long it is, does not depend on the answer."""
    seen = set()
    for label in ("plain", SECRET, "none"):
        context = browser.new_context()
        watched = Watched(context.new_page())
        open_page(watched, served.people)
        answer(watched, label)
        shapes = [re.sub(r"[0-9a-f]{32}|(?<=,)\d+(?=\])", "*", each) for each in watched.requests]
        seen.add("\n".join(shapes))
        context.close()
    assert len(seen) == 1


def test_nothing_is_asked_of_another_address(served: Addresses, watched: Watched) -> None:
    open_page(watched, served.people)
    answer(watched)
    addresses = {each.split()[1].split("/")[2] for each in watched.requests}
    assert addresses == {served.people.partition("//")[2]}


def test_the_first_report_is_for_ever(served: Addresses, watched: Watched) -> None:
    open_page(watched, served.people)
    answer(watched)
    watched.page.reload()
    watched.page.get_by_text("This device has answered.").wait_for()
    assert watched.page.locator("fieldset:not(:disabled)").count() == 0
    watched.page.get_by_role("button", name="Send the same report again").click()
    watched.page.get_by_text("Sent, and stored.").wait_for()
    assert len(watched.bodies) == 2
    assert watched.bodies[0] == watched.bodies[1]
    assert served.total("health.cake") == 1


def test_two_pages_of_one_device_send_one_report(served: Addresses, browser: Any) -> None:
    context = browser.new_context()
    pages = [Watched(context.new_page()) for _ in range(2)]
    for each in pages:
        open_page(each, served.people)
    answer(pages[0], "plain")
    pages[1].page.get_by_role("radio", name=SECRET).check()
    pages[1].page.get_by_role("button", name="Answer").click()
    pages[1].page.get_by_text("This device has answered.").wait_for()
    first, second = (each.page.locator("[data-part=report]").inner_text() for each in pages)
    assert first == second
    assert pages[1].bodies == []
    assert served.total("health.cake") == 1
    context.close()


def test_a_lost_answer_is_asked_for_with_the_same_report(
    served: Addresses, watched: Watched
) -> None:
    lost: list[str] = []

    def lose(route: Any) -> None:
        if len(lost) < 3:
            lost.append(route.request.post_data)
            if len(lost) == 1:
                route.abort()
            elif len(lost) == 2:
                route.fetch()
                route.abort()
            else:
                route.fulfill(status=503, headers={"retry-after": "0"}, body="{}")
        else:
            route.continue_()

    watched.page.route("**/reports", lose)
    open_page(watched, served.people)
    answer(watched)
    assert len(set(lost)) == 1
    assert set(watched.bodies) == set(lost)
    assert served.total("health.cake") == 1


def test_a_report_that_did_not_arrive_is_kept_and_sent_later(
    served: Addresses, watched: Watched
) -> None:
    page = watched.page
    page.clock.install()
    page.route("**/reports", lambda route: route.abort())
    open_page(watched, served.people)
    page.get_by_role("radio", name=SECRET).check()
    page.get_by_role("button", name="Answer").click()
    page.get_by_text("is sent again").wait_for()
    for _ in range(6):
        page.clock.run_for(60_000)
    page.get_by_text("The report is kept on this device").wait_for()
    assert served.total("health.cake") == 0
    page.unroute("**/reports")
    page.reload()
    page.get_by_text("Sent, and stored.").wait_for()
    assert len(set(watched.bodies)) == 1
    assert served.total("health.cake") == 1


# --- what is refused ------------------------------------------------------------------------------


def test_a_table_that_is_not_the_announced_one_is_refused(
    served: Addresses, watched: Watched
) -> None:
    def change(route: Any) -> None:
        found = route.fetch()
        route.fulfill(response=found, body=found.text().replace("1", "2", 1))

    watched.page.route("**/v1/mechanisms/*", change)
    watched.page.goto(f"{served.people}/s/health")
    watched.page.get_by_text("not the one that was announced").wait_for()
    assert watched.page.locator("fieldset:not(:disabled)").count() == 0
    assert watched.page.get_by_role("button", name="Answer").count() == 0
    assert watched.bodies == []


def test_without_a_secure_connection_nothing_is_answered(served: Addresses, browser: Any) -> None:
    context = browser.new_context()
    context.add_init_script("Object.defineProperty(window, 'isSecureContext', {value: false})")
    watched = Watched(context.new_page())
    watched.page.goto(f"{served.people}/s/health")
    watched.page.get_by_text("not loaded over a secure connection").wait_for()
    assert watched.page.locator("fieldset:not(:disabled)").count() == 0
    context.close()


def test_where_nothing_can_be_kept_nothing_is_answered(served: Addresses, browser: Any) -> None:
    context = browser.new_context()
    context.add_init_script("IDBFactory.prototype.open = () => { throw new Error('no') }")
    watched = Watched(context.new_page())
    watched.page.goto(f"{served.people}/s/health")
    watched.page.get_by_text("keeps nothing for this page").wait_for()
    assert watched.page.locator("fieldset:not(:disabled)").count() == 0
    context.close()


def test_no_answer_is_asked_for_and_a_closed_question_says_so(
    served: Addresses, watched: Watched
) -> None:
    open_page(watched, served.people)
    watched.page.get_by_role("button", name="Answer").click()
    watched.page.get_by_text("Choose an answer.").wait_for()
    assert watched.page.evaluate("document.activeElement.type") == "radio"
    served.service.close("health.cake")
    watched.page.get_by_role("radio", name=SECRET).check()
    watched.page.get_by_role("button", name="Answer").click()
    watched.page.get_by_text("This question is closed: it takes no more reports.").wait_for()
    watched.page.reload()
    watched.page.get_by_text("This question is closed: no more reports").wait_for()
    assert served.total("health.cake") == 0


def test_without_script_the_page_says_why(served: Addresses, browser: Any) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{served.people}/s/health")
    text = page.locator("main").inner_text()
    assert "cannot be answered here without JavaScript" in text
    assert "Which cake?" in text
    assert page.locator("input:not(:disabled)").count() == 0
    assert page.locator("button:visible").count() == 0
    context.close()


# --- the law --------------------------------------------------------------------------------------

VECTORS = """async (cases) => {
  const { build, decode } = await import("/static/report.js");
  let draws = 0, wrong = 0;
  for (const { bits, weights, threshold, alias, draws: words } of cases)
    weights.forEach((row, x) => {
      const table = build(row.map(BigInt), bits);
      table.threshold.forEach((t, b) => { wrong += t !== BigInt(threshold[x][b]) });
      table.alias.forEach((a, b) => { wrong += a !== alias[x][b] });
      for (const [word, output] of words[x]) {
        wrong += decode(table, BigInt(word)) !== output;
        draws += 1;
      }
    });
  return [draws, wrong];
}"""

DRAW = """async ([digest, outputs, count]) => {
  const { draw, readTable } = await import("/static/report.js");
  const bytes = await (await fetch(`/v1/mechanisms/${digest}`)).arrayBuffer();
  const { rows, bits } = await readTable(bytes, digest, outputs);
  return rows.map((weights) => {
    const counts = weights.map(() => 0);
    for (let k = 0; k < count; k += 1) counts[draw(weights, bits)] += 1;
    return counts;
  });
}"""


def test_the_page_decodes_the_golden_vectors(served: Addresses, watched: Watched) -> None:
    open_page(watched, served.people)
    cases = json.loads(make_decode.FILE.read_text(encoding="utf-8"))["cases"]
    draws, wrong = watched.page.evaluate(VECTORS, cases)
    assert draws == sum(len(row) for case in cases for row in case["draws"])
    assert wrong == 0


def test_the_page_draws_the_exact_law(served: Addresses, watched: Watched) -> None:
    open_page(watched, served.people)
    made = served.service.served["health.cake"].collection.default
    found = watched.page.evaluate(DRAW, [made.digest, made.outputs, DRAWS])
    rows = made.mechanism.table.weights
    for counts, weights in zip(found, rows, strict=True):
        assert sum(counts) == DRAWS
        expected = np.array(weights, dtype=float) / float(sum(weights)) * DRAWS
        assert stats.chisquare(counts, expected).pvalue > FALSE_ALARM / len(rows)


# --- groups, levels, keys -------------------------------------------------------------------------


def test_group_and_level_choose_the_table(tmp_path: Path, watched: Watched) -> None:
    page = watched.page
    with reachable(tmp_path, survey_of(questions=[GROUPED])) as served:
        open_page(watched, served.people)
        press = page.get_by_role("button", name="Answer")
        press.click()
        page.get_by_text("Choose where you belong.").wait_for()
        page.get_by_label("group").select_option("south")
        press.click()
        page.get_by_text("Choose how much the report may tell.").wait_for()
        page.get_by_role("radio", name="strict").check()
        page.get_by_role("radio", name="yes", exact=True).check()
        press.click()
        page.get_by_text("Sent, and stored.").wait_for()
        collection = served.service.served["health.enough"].collection
        chosen = collection.find("south", "strict")
        assert json.loads(watched.bodies[0])["mechanism"] == chosen.digest
        assert sum(served.service.store.counts("health.enough").mechanisms[chosen.digest]) == 1


PAY = {"name": "pay", "ask": "Pay?", "range": [0, 400], "bins": 4, "guarantee": "ldp=1"}
WHERE = {
    "name": "where",
    "ask": "Where?",
    "grid": {"x": [0, 6], "y": [0, 4], "columns": 3, "rows": 2},
    "guarantee": "ldp=2",
}
WORK = {
    "name": "work",
    "ask": "What did it do?",
    "profiles": {
        "clerk": {"idle": 5, "busy": 2, "off": 1},
        "gamer": {"idle": 1, "busy": 2, "off": 5},
    },
    "guarantee": "profile=0.4",
    "method": "smooth-categorical",
}
WORDS = """() => {
  const drawn = crypto.getRandomValues.bind(crypto);
  crypto.getRandomValues = (array) =>
    array instanceof BigUint64Array ? array.fill(WORDn) : drawn(array);
}"""
"""Words that are not random, so that the row is known from the report."""
LEFT = """[...document.querySelectorAll("input")]
  .filter((each) => each.checked || (each.type === "number" && each.value)).length"""
"""How many fields still hold an answer."""


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        (
            PAY,
            {
                ("0",): "0 to 100",
                ("99.99",): "0 to 100",
                ("100",): "100 to 200",
                ("-5",): "0 to 100",
                ("1e9",): "300 to 400",
            },
        ),
        (WHERE, {("x 4 to 6, y 2 to 4",): (2, 1), ("x 0 to 2, y 0 to 2",): (0, 0)}),
        (WORK, {("clerk", "off"): ("clerk", "off"), ("gamer", "idle"): ("gamer", "idle")}),
        (PLANTED, {(SECRET,): SECRET}),
    ],
    ids=["number", "place", "profile", "choice"],
)
def test_an_answer_is_looked_up_in_its_row(
    question: dict[str, Any], answers: dict[tuple[str, ...], Any], tmp_path: Path, browser: Any
) -> None:
    name = f"health.{question['name']}"
    with reachable(tmp_path, survey_of(questions=[question])) as served:
        table = served.service.served[name].collection.default.mechanism.table
        aliases = AliasTable.build(table.weights, table.bits)
        words = [place * ((1 << 64) // 97) for place in range(97)]
        outputs = [[decode(aliases, at, word) for at in range(aliases.rows)] for word in words]
        for given, counts_as in answers.items():
            row = table.inputs.index(counts_as)
            # The word at which this row is most unlike the others tells it from them.
            place = min(range(97), key=lambda at: outputs[at].count(outputs[at][row]))
            context = browser.new_context()
            context.add_init_script(f"({WORDS.replace('WORD', str(words[place]))})()")
            watched = Watched(context.new_page())
            page = watched.page
            open_page(watched, served.people)
            for each in given:
                if question is PAY:
                    page.get_by_role("spinbutton").fill(each)
                else:
                    page.get_by_role("radio", name=each).check()
            page.get_by_role("button", name="Answer").click()
            page.get_by_text("Sent, and stored.").wait_for()
            [[_, output]] = json.loads(watched.bodies[0])["reports"]
            assert output == outputs[place][row], given
            assert page.evaluate(LEFT) == 0
            context.close()


def test_places_are_reached_by_arrows(tmp_path: Path, watched: Watched) -> None:
    page = watched.page
    with reachable(tmp_path, survey_of(questions=[WHERE])) as served:
        open_page(watched, served.people)
        page.get_by_role("radio", name="x 2 to 4, y 2 to 4").focus()
        active = "JSON.parse(document.activeElement.value)"
        for key, place in (
            ("ArrowDown", [1, 0]),
            ("ArrowDown", [1, 0]),
            ("ArrowUp", [1, 1]),
            ("ArrowRight", [2, 1]),
            ("ArrowLeft", [1, 1]),
        ):
            page.keyboard.press(key)
            assert page.evaluate(active) == place
        assert page.locator("input:checked").count() == 1
        page.keyboard.press("Enter")
        page.get_by_text("Sent, and stored.").wait_for()


def test_a_person_of_a_panel_answers_with_the_own_table(tmp_path: Path, watched: Watched) -> None:
    page = watched.page
    priors = f"person,plain,{SECRET},none\nann,6,3,1\nbob,1,3,6\n"
    (tmp_path / "panel.csv").write_text(priors, encoding="utf-8")
    asked = {key: each for key, each in PLANTED.items() if key != "prior"}
    content = {"survey": "health", "questions": [{**asked, "panel": "panel.csv"}]}
    survey = Survey.from_data(content, str(tmp_path / "health.json"))
    with reachable(tmp_path, survey) as served:
        open_page(watched, served.people)
        page.get_by_role("radio", name=SECRET).check()
        page.get_by_role("button", name="Answer").click()
        page.get_by_text("open the link that was given to you").wait_for()
        assert watched.bodies == []
        digest = served.service.served["health.cake"].collection.find(person="bob").digest
        page.goto("about:blank")
        page.goto(f"{served.people}/s/health#health.cake.table={digest}")
        answer(watched)
        assert json.loads(watched.bodies[0])["mechanism"] == digest
        assert sum(served.service.store.counts("health.cake").mechanisms[digest]) == 1


def test_the_keyboard_is_enough(served: Addresses, watched: Watched) -> None:
    page = watched.page
    open_page(watched, served.people)
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.type") == "radio":
            break
    page.keyboard.press("ArrowDown")
    assert page.evaluate("JSON.parse(document.activeElement.value)") == SECRET
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Answer"
    page.keyboard.press("Enter")
    page.get_by_text("Sent, and stored.").wait_for()
    assert page.get_by_role("status").first.inner_text().startswith("Sent")
    assert served.total("health.cake") == 1


def test_a_link_with_a_token_is_needed_where_the_survey_says_so(
    tmp_path: Path, watched: Watched
) -> None:
    page = watched.page
    survey = survey_of(questions=[PLANTED], tokens="signed")
    with reachable(tmp_path, survey) as served:
        open_page(watched, served.people)
        page.get_by_role("radio", name=SECRET).check()
        page.get_by_role("button", name="Answer").click()
        page.get_by_text("Each report needs a token").wait_for()
        assert watched.bodies == []
        [(name, tag)] = served.service.tokens.issue("health.cake", 1)
        page.goto("about:blank")
        page.goto(f"{served.people}/s/health#health.cake.token={name.hex()}.{tag.hex()}")
        answer(watched)
        assert json.loads(watched.bodies[0])["reports"][0][0] == name.hex()
        assert all(tag.hex() not in each.split()[1] for each in watched.requests)
        assert served.total("health.cake") == 1


def test_whoever_answered_an_earlier_round_does_not_answer(tmp_path: Path, browser: Any) -> None:
    context = browser.new_context()
    first = survey_of(questions=[PLANTED])
    later = survey_of(survey="health-2", questions=[PLANTED], earlier=["health"])
    with reachable(tmp_path, first, later) as served:
        watched = Watched(context.new_page())
        open_page(watched, served.people)
        answer(watched)
        watched.page.goto(f"{served.people}/s/health-2")
        watched.page.get_by_text("in earlier rounds").wait_for()
        assert watched.page.locator("fieldset:not(:disabled)").count() == 0
        assert served.total("health-2.cake") == 0
    context.close()


@pytest.mark.parametrize("rule", ["memo=2", "fresh=2"])
def test_a_later_round_repeats_or_draws_anew_as_the_rule_says(
    rule: str, tmp_path: Path, browser: Any
) -> None:
    names = ["health", "health-2", "health-3"]
    surveys = [
        survey_of(
            survey=name, questions=[PLANTED], repeat=rule, **({"earlier": before} if before else {})
        )
        for name, before in ((each, names[:at]) for at, each in enumerate(names))
    ]
    with reachable(tmp_path, *surveys) as served:
        tables = [served.service.served[f"{name}.cake"].collection.default for name in names[:2]]
        assert tables[0].digest == tables[1].digest
        table = tables[0].mechanism.table
        row, aliases = table.inputs.index(SECRET), AliasTable.build(table.weights, table.bits)
        drawn = {decode(aliases, row, at * ((1 << 64) // 97)): at for at in range(97)}
        (one, first), (other, second) = list(drawn.items())[:2]
        context = browser.new_context()
        found = []
        for name, at in ((names[0], first), (names[1], second)):
            watched = Watched(context.new_page())
            word = str(at * ((1 << 64) // 97))
            watched.page.add_init_script(f"({WORDS.replace('WORD', word)})()")
            watched.page.goto(f"{served.people}/s/{name}")
            answer(watched)
            found.append(json.loads(watched.bodies[0])["reports"][0])
            stored = "".join(watched.page.evaluate(STORED))
            assert SECRET not in stored
        assert found[0][0] != found[1][0]
        assert [found[0][1], found[1][1]] == [one, one if rule.startswith("memo") else other]
        watched.page.goto(f"{served.people}/s/health-3")
        watched.page.get_by_text("as often as the survey promises").wait_for()
        assert served.total("health-3.cake") == 0
        context.close()


def test_a_memo_is_of_one_question_though_another_has_the_same_table(
    tmp_path: Path, browser: Any
) -> None:
    """Noise of two questions is not shared: reports would tell whether their answers are equal."""
    names = ["health", "other"]
    surveys = [survey_of(survey=name, questions=[PLANTED], repeat="memo=2") for name in names]
    with reachable(tmp_path, *surveys) as served:
        tables = [served.service.served[f"{name}.cake"].collection.default for name in names]
        assert tables[0].digest == tables[1].digest
        table = tables[0].mechanism.table
        row, aliases = table.inputs.index(SECRET), AliasTable.build(table.weights, table.bits)
        words = [at * ((1 << 64) // 97) for at in range(97)]
        drawn = dict(list({decode(aliases, row, word): word for word in words}.items())[:2])
        context = browser.new_context()
        for name, (output, word) in zip(names, drawn.items(), strict=True):
            watched = Watched(context.new_page())
            watched.page.add_init_script(f"({WORDS.replace('WORD', str(word))})()")
            watched.page.goto(f"{served.people}/s/{name}")
            answer(watched)
            assert json.loads(watched.bodies[0])["reports"][0][1] == output
        context.close()


# --- how it looks ---------------------------------------------------------------------------------

MEASURE = """() => {
  const near = 1.5, root = document.documentElement;
  const bad = [];
  for (const each of document.querySelectorAll("body *")) {
    if (each.closest(".scroll, thead, .skip, details:not([open]) > :not(summary)")) continue;
    const box = each.getBoundingClientRect();
    if (box.width && (box.right > root.clientWidth + near || box.left < -near))
      bad.push(each.outerHTML.slice(0, 120));
  }
  const cut = [];
  for (const text of document.querySelectorAll("svg[viewBox] text")) {
    const box = text.getBoundingClientRect(), all = text.closest("svg").getBoundingClientRect();
    if (all.width && (box.left < all.left - near || box.right > all.right + near ||
        box.top < all.top - near || box.bottom > all.bottom + near)) cut.push(text.textContent);
  }
  const small = [...document.querySelectorAll("button, select, .choice, .map label, summary")]
    .filter((each) => each.getBoundingClientRect().height > 0)
    .filter((each) => each.getBoundingClientRect().height < 32).map((each) => each.textContent);
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = parts(colour).map((v) => v / 255)
      .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (each) => {
    for (let at = each; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      const found = parts(colour);
      if (found.length === 3 || found[3] === 1) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const faint = [];
  for (const each of document.querySelectorAll("p, li, label, legend, summary, th, td, dt, dd, "
      + "h1, h2, h3, button, small, figcaption, a, code, pre")) {
    if (!each.textContent.trim() || each.matches(":disabled, :disabled *")) continue;
    if (!each.checkVisibility()) continue;
    const [a, b] = [light(getComputedStyle(each).color), light(behind(each))];
    if ((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5)
      faint.push(each.textContent.trim().slice(0, 60));
  }
  const unnamed = [...document.querySelectorAll("input, select, button")].filter((each) =>
    !each.labels?.length && !each.ariaLabel && !each.textContent.trim() &&
    !each.getAttribute("aria-labelledby")).map((each) => each.outerHTML);
  return {scroll: root.scrollWidth, client: root.clientWidth, bad, cut, small, faint, unnamed,
          dark: light(getComputedStyle(document.body).backgroundColor) < 0.1};
}"""


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Addresses]:
    folder = tmp_path_factory.mktemp("everything")
    surveys = (
        survey_of(
            title="Of every kind",
            questions=[PLANTED, GROUPED, WIDE, PAY, {**WHERE, "ask": "Whence?"}, WORK],
            least=5,
        ),
        survey_of(survey="closed", closes="2020-01-01"),
    )
    with reachable(folder, *surveys) as served:
        for name in served.service.served:
            if name.startswith("health."):
                served.report(name, 300)
        yield served


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_sticks_out_and_everything_can_be_read(
    width: int, scheme: str, everything: Addresses, browser: Any
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, reduced_motion="reduce"
    )
    watched = Watched(context.new_page())
    page = watched.page
    page.goto(f"{everything.operators}/sign-in")
    page.get_by_label("Token").fill(everything.service.admin_token)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="Of every kind").wait_for()
    for place in (
        f"{everything.people}/",
        f"{everything.people}/s/health",
        f"{everything.people}/s/closed",
        f"{everything.people}/s/health/results",
        f"{everything.people}/s/nobody",
        f"{everything.operators}/",
        f"{everything.operators}/s/health",
    ):
        page.goto(place)
        if place.endswith("people/s/health"):
            page.get_by_role("button", name="Answer").first.wait_for()
        ways = [(True, "ltr"), (True, "rtl")] if width == 360 else [(False, "ltr"), (True, "ltr")]
        for opened, direction in ways:
            page.evaluate(
                "([open, dir]) => { document.documentElement.dir = dir;"
                " for (const each of document.querySelectorAll('details')) each.open = open; }",
                [opened, direction],
            )
            found = page.evaluate(MEASURE)
            where = f"{place} at {width}, {scheme}, {direction}, details {opened}"
            assert found["scroll"] <= found["client"], where
            for part in ("bad", "cut", "small", "faint", "unnamed"):
                assert found[part] == [], (where, part)
            assert found["dark"] == (scheme == "dark"), where
    mistakes = [each for each in watched.console if "404" not in each]
    assert mistakes == []
    context.close()


def test_the_measure_finds_what_is_bad(everything: Addresses, browser: Any) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 800})
    page = context.new_page()
    page.set_content(
        "<body><div style='width:900px'>wide</div><p style='color:#999'>faint</p>"
        "<button style='height:20px'></button>"
        "<svg viewBox='0 0 50 20' width=50 height=20><text x=30 y=15>cut off here</text></svg>"
    )
    found = page.evaluate(MEASURE)
    assert found["scroll"] > found["client"]
    assert found["faint"] == ["faint"]
    assert found["cut"] == ["cut off here"]
    assert found["bad"]
    assert found["small"]
    assert found["unnamed"]
    context.close()


def test_the_dashboard_from_sign_in_to_sign_out(everything: Addresses, watched: Watched) -> None:
    page = watched.page
    page.goto(f"{everything.operators}/s/health")
    assert page.url.endswith("/sign-in")
    page.get_by_label("Token").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_text("This token is not known.").wait_for()
    page.get_by_label("Token").fill(everything.service.admin_token)
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Of every kind").click()
    assert page.get_by_text("300 reports").first.is_visible()
    counts = page.locator("details.counts table").first
    assert not counts.is_visible()
    page.get_by_text("These are not answers").first.click()
    assert counts.is_visible()
    with page.expect_download() as saved:
        page.get_by_role("banner").get_by_role("link", name="CSV").click()
    assert saved.value.suggested_filename == "health-estimates.csv"
    text = Path(saved.value.path()).read_text(encoding="utf-8")
    assert SECRET in text
    token = everything.service.admin_token
    assert all(token not in each.split()[1] for each in watched.requests)
    assert page.evaluate("document.cookie") == ""
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/sign-in")
    page.goto(f"{everything.operators}/s/health")
    assert page.url.endswith("/sign-in")
