"""The gallery: one page with every figure, what the paper says of it, and what was found.

The pictures lie beside the page. It has no script, follows light and dark, and prints.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from liftlock._runtime.storage import write_atomically
from liftlock.report.format import counted
from liftlock.report.html.markup import Content, Markup, markup, tag
from liftlock_papers.data.folder import SETS
from liftlock_papers.exhibits import Room, counted_verdicts, rooms, verdicts
from liftlock_papers.figure import Figure, Finding, Verdict, sentence
from liftlock_papers.running import Result

FIGURES_FOLDER = "figures"
PAGE = "index.html"
_POLICY = (
    "default-src 'none'; img-src 'self' file:; style-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'"
)
MARKS = {
    Verdict.CONFIRMED: "✓",
    Verdict.CONDITION: "◐",
    Verdict.REFUTED: "✗",
    Verdict.OPEN: "○",
}
_CLASSES = {
    Verdict.CONFIRMED: "yes",
    Verdict.CONDITION: "if",
    Verdict.REFUTED: "no",
    Verdict.OPEN: "open",
}
CONVENTION = (
    "What a paper states in general (a guarantee, a bound, a theorem) is refuted by one "
    "counterexample within what it allows, and the reason names the condition under which it "
    "holds. What it sees in its curves is judged point by point: confirmed if it holds at all of "
    "them, refuted if at none, else under a condition. What hangs on data that are not at hand, "
    "or on choices that are not stated, is not reproducible, which is no word against it."
)
"""By what convention every claim is judged, here and in the pages."""


def write_gallery(folder: Path) -> Path:
    """Write the page over all results in a folder, and return where it is."""
    place = folder / PAGE
    write_atomically(place, gallery(rooms(folder / FIGURES_FOLDER)))
    return place


def gallery(everything: Sequence[Room]) -> str:
    """Return the page."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", "The papers, reproduced"),
        Markup(f"<style>{_STYLE}</style>"),
    )
    body = tag(
        "body",
        _head(everything),
        tag("main", *(_room(room) for room in everything)),
        tag(
            "footer",
            tag("p", "Made by ", tag("code", "liftlock papers run"), ". ", _run_again()),
        ),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _run_again() -> str:
    return (
        "The same command makes the same points again: seeds are fixed. Times depend on the "
        "machine, and so do digits where a solver or a neural network chooses among equals."
    )


def _head(everything: Sequence[Room]) -> Markup:
    results = [result for room in everything for _, result in room.shown]
    found = verdicts(finding for room in everything for _, finding in room.claims)
    stated = sum(len(room.stated) for room in everything)
    missing = sum(len(room.missing) for room in everything)
    quick = sum(result.quick for result in results)
    return tag(
        "header",
        tag("p", "liftlock", class_="eyebrow"),
        tag("h1", "The papers, reproduced"),
        tag(
            "p",
            "Every figure and table of five papers on context-aware local privacy, computed "
            "again; under each, what the paper says of it, what we get, and why where the two "
            "differ. Privacy is measured exactly, never taken from a formula.",
            class_="lead",
        ),
        tag(
            "p",
            f"{counted(len(results), 'figure')} and {counted(stated, 'statement')} that no figure "
            f"shows; {counted_verdicts(found)}.",
            f" {counted(missing, 'figure')} not run." if missing else None,
            f" {quick} from a quick run, with small samples." if quick else None,
        ),
        _key(),
        tag(
            "nav",
            tag(
                "ol",
                [
                    tag(
                        "li",
                        tag("a", f"{room.paper.key} {room.paper.title}", href=f"#{room.paper.key}"),
                        _bar(room),
                    )
                    for room in everything
                ],
            ),
            aria_label="papers",
        ),
    )


def _key() -> Markup:
    return tag(
        "p",
        [markup(_badge(verdict), " ") for verdict in Verdict],
        tag("span", f"{CONVENTION} ", class_="quiet"),
        tag(
            "span",
            "A red ring in a picture: the mechanism leaks more than it was made for; the number "
            "beside it is what it truly leaks, in the unit of its budget.",
            class_="quiet",
        ),
        class_="key",
    )


def _badge(verdict: Verdict) -> Markup:
    return tag("span", f"{MARKS[verdict]} {verdict.value}", class_=f"badge {_CLASSES[verdict]}")


def _bar(room: Room) -> Markup:
    found = room.verdicts
    total = sum(found.values())
    if not total:
        return tag("span", " not run", class_="quiet")
    parts = [
        tag("i", class_=_CLASSES[verdict], style=f"flex:{found[verdict]}")
        for verdict in Verdict
        if found[verdict]
    ]
    return tag("span", parts, class_="bar", title=counted_verdicts(found), role="img",
               aria_label=counted_verdicts(found))  # fmt: skip


def _room(room: Room) -> Markup:
    key = room.paper.key
    return tag(
        "section",
        tag("h2", f"{key} {room.paper.title}", id=key),
        _summary(room),
        [_exhibit(figure, result, figure.key not in room.undrawn) for figure, result in room.shown],
        _statements(room),
        _missing(room.missing),
    )


def _summary(room: Room) -> Markup | None:
    rows = [
        tag(
            "tr",
            tag("td", tag("a", place.name, href=f"#{place.key}"), class_="where"),
            tag("td", sentence(finding.claim)),
            tag("td", _badge(finding.verdict)),
            tag("td", sentence(finding.ours)),
        )
        for place, finding in room.claims
    ]
    if not rows:
        return None
    heads = ("Where", "The paper says", "Verdict", "Our number")
    return tag(
        "details",
        tag("summary", f"All claims: {counted_verdicts(room.verdicts)}"),
        tag(
            "div",
            tag(
                "table",
                tag("thead", tag("tr", [tag("th", head, scope="col") for head in heads])),
                tag("tbody", rows),
            ),
            class_="scroll",
        ),
        open=True,
    )


def _exhibit(figure: Figure, result: Result, drawn: bool) -> Markup:
    source = f"{FIGURES_FOLDER}/{figure.key}"
    picture = tag(
        "a",
        tag("img", src=f"{source}.svg", alt=_described(figure, result), loading="lazy"),
        href=f"{source}.svg",
        title="the picture alone",
    )
    return tag(
        "article",
        tag(
            "h3",
            f"{figure.name}: {figure.title} ",
            tag("a", "#", href=f"#{figure.key}", class_="anchor", aria_label="link to this figure"),
        ),
        tag("p", tag("b", "The paper. "), figure.says),
        picture if drawn else tag("p", "Its picture is missing: run it again."),
        [_finding(each) for each in result.findings],
        tag("p", tag("b", "How it was read. "), figure.notes) if figure.notes else None,
        [tag("p", sentence(note, ".")) for note in result.notes],
        tag("p", _origin(figure, result), _files(source), class_="quiet"),
        id=figure.key,
    )


def _statements(room: Room) -> Markup | None:
    if not room.stated:
        return None
    return tag(
        "article",
        tag("h3", "Statements that no figure shows"),
        [
            tag("div", tag("h4", statement.name), _finding(finding), id=statement.key)
            for statement, finding in room.stated
        ],
    )


def _described(figure: Figure, result: Result) -> str:
    panels = "; ".join(
        f"{panel.title or panel.key}: {panel.y} against {panel.x}" for panel in figure.panels
    )
    found = "; ".join(f"{each.verdict.value}: {each.claim}" for each in result.findings)
    return f"{figure.title}. {panels}. {found}"


def _finding(found: Finding) -> Markup:
    return tag(
        "div",
        _badge(found.verdict),
        tag("p", tag("b", sentence(found.claim))),
        tag("p", "Here: ", found.ours),
        tag("p", sentence(found.why, ".")) if found.why else None,
        class_=f"finding {_CLASSES[found.verdict]}",
    )


def _origin(figure: Figure, result: Result) -> Content:
    quick = "Quick run with small samples. " if result.quick else None
    made = f"Computed in {result.seconds:,.1f} s with liftlock {result.record['liftlock']}. "
    return quick, data_of(figure, "Data: {}. "), made


def data_of(figure: Figure, text: str) -> str:
    """Name the data sets of a figure, in a text that is empty where it has none."""
    return text.format(", ".join(SETS[key].title for key in figure.needs)) if figure.needs else ""


def _files(source: str) -> Markup:
    kinds = (("csv", "points"), ("svg", "SVG"), ("png", "PNG"), ("json", "record"))
    return markup(
        [
            markup(" · " if place else "", tag("a", name, href=f"{source}.{kind}"))
            for place, (kind, name) in enumerate(kinds)
        ]
    )


def _missing(figures: Sequence[Figure]) -> Markup | None:
    if not figures:
        return None
    return tag(
        "p",
        "Not run, or by other code: ",
        ", ".join(figure.name + data_of(figure, " (data: {})") for figure in figures),
        ".",
        class_="quiet",
    )


_STYLE = """
:root{color-scheme:light dark;--paper:#fff;--ink:#1b1f27;--quiet:#525a68;--line:#d5d9e1;
 --soft:#f5f6f9;--accent:#0a4f9e;--yes:#1d6b33;--if:#7a5b00;--no:#ad1f33;
 --yes-soft:#e9f5ec;--if-soft:#fbf4dd;--no-soft:#fdecee}
@media screen and (prefers-color-scheme:dark){:root{--paper:#14171c;--ink:#e8ebf1;--quiet:#adb5c4;
 --line:#3c4452;--soft:#1e232b;--accent:#8cc4ff;--yes:#8fd6a3;--if:#e6c65c;--no:#ff93a0;
 --yes-soft:#182a1e;--if-soft:#2c2613;--no-soft:#321a1e}}
*{box-sizing:border-box}
html{scroll-padding-top:1rem;-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);overflow-wrap:break-word;
 font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif}
header,main,footer{max-width:72rem;margin:0 auto;padding:0 1.2rem}
header{padding-top:2.4rem}
h1{font-size:2rem;line-height:1.2;margin:.2rem 0 .8rem}
h2{font-size:1.45rem;line-height:1.25;margin:3.4rem 0 .8rem;padding-top:.9rem;
 border-top:2px solid var(--ink)}
h3{font-size:1.12rem;line-height:1.35;margin:0 0 .6rem}
h4{font-size:1rem;line-height:1.35;margin:1rem 0 0}
p{margin:.5rem 0;max-width:52rem}
a{color:var(--accent)}
code{font:.9em ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.lead{font-size:1.12rem}
.eyebrow{color:var(--quiet);font-size:.85rem;letter-spacing:.06em;text-transform:uppercase;
 font-weight:600;margin:0}
.quiet,footer{color:var(--quiet);font-size:.9rem}
footer{margin-top:3rem;padding-bottom:3rem;border-top:1px solid var(--line)}
nav ol{list-style:none;padding:0;margin:1.2rem 0;display:grid;gap:.5rem}
nav li{display:grid;grid-template-columns:minmax(0,1fr) 12rem;gap:1rem;align-items:center}
.bar{display:flex;height:.7rem;border-radius:.35rem;overflow:hidden;gap:2px}
.bar i.yes{background:var(--yes)}.bar i.if{background:var(--if)}.bar i.no{background:var(--no)}
.bar i.open{background:var(--quiet)}
.badge{display:inline-block;font-size:.82rem;font-weight:600;padding:.05rem .5rem;
 border-radius:.7rem;white-space:nowrap;border:1px solid currentColor}
.badge.yes{color:var(--yes);background:var(--yes-soft)}
.badge.if{color:var(--if);background:var(--if-soft)}
.badge.no{color:var(--no);background:var(--no-soft)}
.badge.open{color:var(--quiet);background:var(--soft)}
article{margin:2.2rem 0;padding:1.2rem 1.3rem;border:1px solid var(--line);border-radius:.6rem}
.anchor{color:var(--quiet);text-decoration:none;font-weight:400}
img{display:block;width:100%;max-width:68rem;height:auto;margin:.9rem 0;border-radius:.3rem}
.finding{margin:.6rem 0;padding:.5rem .9rem .5rem 1rem;border-left:4px solid var(--line);
 background:var(--soft)}
.finding p{margin:.2rem 0}
.finding.yes{border-color:var(--yes)}.finding.if{border-color:var(--if)}
.finding.no{border-color:var(--no)}.finding.open{border-color:var(--quiet)}
details{margin:1rem 0}
summary{cursor:pointer;font-weight:600}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.92rem;line-height:1.4;margin:.6rem 0}
th,td{padding:.4rem .9rem .4rem 0;text-align:left;vertical-align:top;
 border-bottom:1px solid var(--line)}
.where{white-space:nowrap}
@media(max-width:38rem){nav li{grid-template-columns:1fr}article{padding:.9rem .8rem}
 thead{display:none}tr{display:block;padding:.5rem 0;border-bottom:1px solid var(--line)}
 td{display:block;border:0;padding:.1rem 0}}
@media print{article,.finding,tr{break-inside:avoid}article{border:0;padding:0}
 h2{break-before:page}a{color:inherit}body{font-size:10pt}}
"""
