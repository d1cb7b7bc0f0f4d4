"""The page as a whole: sound HTML, nothing from outside, and no text that breaks out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pyarrow as pa
import pytest

import liftlock as ll
from liftlock.errors import FileError
from liftlock.report.html import html_report, write_report
from liftlock.tables.protect import EmpiricalLeakage, ProtectedColumn, Protection
from tests.published_rows import sites
from tests.unit.report.html import examples

VOID = {"meta", "br", "hr", "img", "input", "link"}
ALL: list[Callable[[], Protection]] = [
    examples.everyday,
    examples.odd,
    examples.numbers,
    examples.many,
]


class Outline(HTMLParser):
    """Reads a page strictly: every element closes the one that was opened last."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.headings: list[int] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), (tag, names)
        for name, value in attrs:
            self.attributes.append((tag, name, value or ""))
            if name == "id":
                self.ids.append(value or "")
            if name == "href":
                self.links.append(value or "")
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] != "style":
            self.text.append(data)

    @classmethod
    def of(cls, page: str) -> Outline:
        found = cls()
        found.feed(page)
        found.close()
        assert found.open == []
        return found

    @property
    def words(self) -> str:
        return " ".join("".join(self.text).replace("\xa0", " ").split())


@pytest.mark.parametrize("example", ALL)
def test_the_page_is_sound_and_stands_alone(example: Callable[[], Protection]) -> None:
    page = html_report(example())
    found = Outline.of(page)
    assert page.startswith("<!DOCTYPE html>\n<html lang=")
    assert len(page.encode()) < 1_000_000
    assert not found.tags.keys() & {"script", "img", "link", "iframe", "object", "base", "form"}
    assert not [name for _, name, _ in found.attributes if name.startswith("on") or name == "src"]
    style = page[page.index("<style>") : page.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    assert "@font-face" not in style
    assert all(link.startswith("#") and link[1:] in found.ids for link in found.links)
    assert len(set(found.ids)) == len(found.ids)
    assert found.headings[0] == 1
    assert found.headings.count(1) == 1
    steps = zip(found.headings, found.headings[1:], strict=False)
    assert all(after - before <= 1 for before, after in steps)
    assert found.tags["figure"] == found.tags["figcaption"] > 0
    assert found.tags["table"] == found.tags["caption"] > 0
    pictures = [value for tag, name, value in found.attributes if (tag, name) == ("svg", "role")]
    assert found.tags["desc"] == len(pictures) > 0


def test_what_people_wrote_stays_text() -> None:
    found = Outline.of(html_report(examples.odd()))
    for text in ("<script>alert(1)</script>", "<b>table</b> & more.csv", "<i>a note</i>", "<u>"):
        assert text in found.words
    # Control characters, and marks that turn the direction of writing, are spelled out.
    assert r"two\nlines \x1b[31m \u202e" in found.words
    assert not set("\x1b\u202e\x00") & set("".join(found.text))
    assert "liftlock audit 'a b'\"'\"'; rm -rf.json'" in found.words
    assert not found.tags.keys() & {"b", "i", "u", "img", "s", "q", "time"}


def test_equal_tables_give_equal_pages() -> None:
    page = html_report(examples.everyday())
    assert page == html_report(examples.everyday())
    assert ll.__version__ in page
    assert not re.search(r"\b20[0-9]{2}-[0-9]{2}-[0-9]{2}\b", page)


def test_everything_that_is_known_is_said() -> None:
    words = Outline.of(html_report(examples.everyday())).words
    made = examples.careful()
    for text in (
        "Privacy report · confidential",
        "it is as confidential as that table itself.",
        "Not kept",
        "“people.csv”, 220 rows",
        "October 2026",
        "Statistics of the city",
        "Ada Example, registry",
        f"liftlock {ll.__version__}",
        "Certainly more than promised.",
        "Not excluded.",
        "--report report.html --force --drop rooms",
        "nothing beyond chance",
        "unbounded for 31 % of the rows",
        "Approval",
        "can raise the probability of any “home” at most 2.02-fold",
        "lower it to no less than 54.8 % of what it was",
        "Decided with exact arithmetic on the integers that were sampled",
        "What the columns tell together",
        '"job" and "former job" together',
        "more about a secret than the budget of the protected columns allows: “rooms” and “street”",
        "To leave them out: liftlock protect people.csv",
        "to 0: rules it out",
        "Left out of the released table: “home”.",
        "Missing values are a category.",
        "A note.",
        "liftlock audit job.json",
        made.channel.fingerprint,
        made.context.fingerprint,
        "For other people, whom the table may be a sample of, the counts are estimates",
        "This report and the mechanism files are confidential.",
        "It does not hide “job” itself",
        "Each guarantee is about one released column, or about those",
    ):
        assert text in words, text


def test_a_given_joint_is_not_called_counted() -> None:
    column = ProtectedColumn("job", "home", examples.careful(), False)
    words = Outline.of(html_report(Protection("people.csv", 9, (column,)))).words
    assert "in the statistics that were given" in words
    assert "This was given, not counted in the table." in words
    assert "confidential" not in words
    assert "in this table." not in words


def test_statistics_that_do_not_fit_are_said_at_once_and_are_confidential() -> None:
    broken = EmpiricalLeakage(1.42, 0.572, False)
    column = ProtectedColumn("job", "home", examples.careful(), False, in_table=broken)
    page = html_report(Protection("people.csv", 9, (column,)))
    words = Outline.of(page).words
    warning = (
        '"job" by the table\'s own counts (its statistics were given): beliefs about "home" fall '
        "by up to 1.42 nats"
    )
    assert words.index(warning) < words.index("What is promised")
    assert "This report is confidential." in words
    assert "may be passed on" not in words


def test_smoothed_counts_are_not_called_true() -> None:
    made = examples.careful()
    counts = dict.fromkeys(made.table.outputs.labels, 3)
    near = EmpiricalLeakage(0.1, 0.1, True)
    column = ProtectedColumn("job", "home", made, True, counts=counts, in_table=near)
    words = Outline.of(html_report(Protection("people.csv", 9, (column,)))).words
    assert "counted in the table itself and then smoothed" in words
    assert "according to what is assumed (expected)" in words
    assert "it is right" not in words


def test_a_prior_for_each_user() -> None:
    made = ll.design(["no", "yes"], ll.ALIP(lower="1", upper="0.5"), method="arc")
    column = ProtectedColumn("answer", None, made, False, file="answer.json")
    words = Outline.of(html_report(Protection("answers.csv", 9, (column,)))).words
    assert "at most 1.65-fold, and lower it to no less than 36.7 % of what it was" in words
    assert "This holds for every user, under the prior of that user" in words
    assert made.users_fingerprint in words
    assert "Priors of single people." in words


@pytest.mark.parametrize(
    ("context", "said"),
    [
        (
            ll.Ball.of(ll.Prior.from_counts({"no": 9, "yes": 1}), "0.01"),
            "every prior within total variation 0.01",
        ),
        (ll.Family.of([ll.Prior.uniform(["no", "yes"])]), "every mixture of 1 priors"),
    ],
)
def test_a_set_of_priors_has_words_but_no_picture_of_lifts(context: ll.Context, said: str) -> None:
    draft = ll.Draft.of(["no", "yes"], ["no", "yes"], [[0.6, 0.4], [0.4, 0.6]])
    made = ll.lock(draft, ll.LIP("1"), context)
    column = ProtectedColumn("answer", None, made, False)
    words = Outline.of(html_report(Protection("answers.csv", 9, (column,)))).words
    assert said in words
    assert "they depend on which of the priors is true" in words
    assert "How beliefs change" not in words


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    place = tmp_path / "report.html"
    write_report(examples.everyday(), place)
    assert place.read_text(encoding="utf-8") == html_report(examples.everyday())
    with pytest.raises(FileError, match="no such folder"):
        write_report(examples.everyday(), tmp_path / "none" / "report.html")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_a_promise_for_whoever_does_not_see_what_is_given_is_said() -> None:
    """Each guarantee has its own words: what is proved is not said to be unproved."""
    frame = pa.Table.from_pylist(sites(2000))
    done = ll.protect(frame, "code", ll.LIP("0.5"), secret="hiv", given=["site"], seconds=2)
    (column,) = done.protection.columns
    assert len(column.mechanism.guarantees) == 2
    words = Outline.of(html_report(done.protection)).words
    assert "it is not proved" not in words
    assert "This is what the released value adds to “site”, for whoever sees both" in words
    assert "This is for whoever does not see “site”." in words
    assert "“hiv” given “site”" in words
    made = column.mechanism
    alone = replace(done.protection, columns=(replace(column, mechanism=replace(made, also=())),))
    words = Outline.of(html_report(alone)).words
    assert "For whoever does not see “site” it is not proved." in words
