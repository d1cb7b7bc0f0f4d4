"""The gallery: whole, safe, and honest about what was not run."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

from liftlock_papers import Curve, Figure, Finding, Panel, Paper, Point, Points, Verdict
from liftlock_papers.exhibits import Exhibit, Room
from liftlock_papers.figure import sentence
from liftlock_papers.gallery import gallery, write_gallery
from liftlock_papers.running import Result

RECORD = {"seconds": 1.5, "quick": True, "liftlock": "0.1.0"}
POINTS = Points((Point("a", "as published", 1, 2.0, leakage=1.9, budget=1.0),))
FOUND = (
    Finding("it <b>grows</b> & grows", Verdict.CONFIRMED, "2.0"),
    Finding("it is private", Verdict.REFUTED, "1.90 > 1", "rare values leak more"),
    Finding("it is best", Verdict.CONDITION, "0.5", "only for ε < 1"),
)


def figure(key: str, needs: tuple[str, ...] = ()) -> Figure:
    return Figure(
        key, f"Fig. {key[-1]}", f"Title of {key}", "The error falls.", lambda _: [],
        lambda _: FOUND, (Panel("a", "ε (nats)", "error"),), (Curve("as published", "orange"),),
        needs=needs, notes="Read so.",
    )  # fmt: skip


def page() -> str:
    done, absent = figure("000-fig1"), figure("000-fig2", needs=("adult",))
    paper = Paper("000", "A paper", (done, absent))
    result = Result(done, POINTS, RECORD, kept=False)
    return gallery([Room(paper, (Exhibit(done, result), Exhibit(absent, None)))])


class Reader(HTMLParser):
    """Collects what a page links to, and checks that what is opened is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.loaded: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in {"meta", "img", "br", "hr"}:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                assert value not in self.ids
                self.ids.add(value or "")
            if name == "href":
                self.links.add(value or "")
            if name == "src":
                self.loaded.add(value or "")
            if name == "alt":
                assert value

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    return reader


def test_every_claim_has_its_verdict_and_number() -> None:
    found = read(page())
    for finding in FOUND:
        for text in (finding.claim, finding.verdict.value, finding.ours, finding.why):
            assert any(shown in found.text for shown in (text, sentence(text), sentence(text, ".")))
    assert "1 claim confirmed, 1 confirmed under a condition, 1 refuted" in found.text
    assert "1 figure not run" in found.text
    assert "Fig. 2 (data: Adult)" in found.text
    assert "1 from a quick run" in found.text
    assert "The error falls." in found.text


def test_links_lead_somewhere_and_nothing_is_fetched() -> None:
    found = read(page())
    inside = {link[1:] for link in found.links if link.startswith("#")}
    assert inside <= found.ids
    assert found.loaded == {"figures/000-fig1.svg"}
    files = {link for link in found.links if not link.startswith("#")}
    assert files == {f"figures/000-fig1.{kind}" for kind in ("csv", "json", "svg", "png")}
    assert "<script" not in page()


def test_an_empty_folder_has_a_gallery_that_says_so(tmp_path: Path) -> None:
    found = read(write_gallery(tmp_path).read_text(encoding="utf-8"))
    assert "0 figures" in found.text
    assert "Not run, or by other code:" in found.text


@pytest.mark.parametrize("verdict", Verdict)
def test_colour_is_not_the_only_mark(verdict: Verdict) -> None:
    assert verdict.value in read(page()).text
