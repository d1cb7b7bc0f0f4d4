"""Write the page of the papers' figures from the results that are kept in `papers/figures`.

A page has a line ``<!-- papers -->``; what replaces it is made from the points of the last full
run while the site is built, so text and pictures cannot disagree.
"""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from liftlock_papers.exhibits import Room, counted_verdicts, rooms
from liftlock_papers.figure import Figure, Finding, Verdict, sentence
from liftlock_papers.gallery import MARKS, data_of
from liftlock_papers.running import Result

MARK = "<!-- papers -->"
KEPT = Path(__file__).parents[2] / "papers" / "figures"
SHOWN = "papers/figures"
"""Where the pictures are in the site."""


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """MkDocs event: the files of the site have been listed."""
    for path in sorted(KEPT.glob("*.svg")):
        files.append(File.generated(config, f"{SHOWN}/{path.name}", abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """MkDocs event: the text of a page has been read."""
    return markdown.replace(MARK, written(rooms(KEPT))) if MARK in markdown else markdown


def written(everything: list[Room]) -> str:
    """Return all papers as Markdown."""
    lines = ["| | Paper | " + " | ".join(_head(verdict) for verdict in Verdict) + " |"]
    lines.append("| --- | --- |" + " --: |" * len(Verdict))
    for room in everything:
        found = room.verdicts
        cells = [f"[{room.paper.key}](#{_anchor(room)})", room.paper.title]
        cells += [str(found[verdict]) for verdict in Verdict]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, *(_room(room) for room in everything)])


def _head(verdict: Verdict) -> str:
    return f"{MARKS[verdict]} {verdict.value}"


def _anchor(room: Room) -> str:
    return f"paper-{room.paper.key}"


def _room(room: Room) -> str:
    paper = room.paper
    lines = [f"\n## {paper.key} {paper.title} {{ #{_anchor(room)} }}", ""]
    lines += [f"{counted_verdicts(room.verdicts).capitalize()}.", ""]
    lines += ["| Where | The paper says | Verdict | Our number |", "| --- | --- | --- | --- |"]
    for place, finding in room.claims:
        name = f"[{place.name}](#{place.key})"
        texts = sentence(finding.claim), _head(finding.verdict), sentence(finding.ours)
        lines.append("| " + " | ".join([name, *map(_plain, texts)]) + " |")
    lines += [_figure(figure, result) for figure, result in room.shown]
    if room.stated:
        lines += ["", f"### {room.paper.key}: statements that no figure shows", ""]
        for statement, finding in room.stated:
            lines += [f"#### {statement.name} {{ #{statement.key} }}", "", _told(finding), ""]
    return "\n".join(lines)


def _told(finding: Finding) -> str:
    texts = [sentence(text, ".") for text in (finding.claim, finding.ours, finding.why) if text]
    return f"**{_head(finding.verdict)}**: {_plain(' '.join(texts))}"


_MEANT = {"|": "&#124;", "{": "&#123;", "}": "&#125;", "<": "&lt;", "\n": " "}
"""Characters that Markdown, its tables or its attributes would take for theirs."""


def _plain(text: str) -> str:
    """Write a text so that it is shown as it is.

    >>> _plain("|X| = 4 < 5")
    '&#124;X&#124; = 4 &lt; 5'
    """
    return "".join(_MEANT.get(character, character) for character in text)


def _figure(figure: Figure, result: Result) -> str:
    title = _plain(figure.title)
    lines = [f"\n### {figure.name}: {title} {{ #{figure.key} }}", "", _plain(figure.says), ""]
    lines += [f"![{title}]({SHOWN}/{figure.key}.svg)", ""]
    for finding in result.findings:
        if finding.why:
            claim, why = sentence(finding.claim, "."), sentence(finding.why, ".")
            lines += [f"- **{_head(finding.verdict)}**: {_plain(f'{claim} {why}')}"]
    lines.append("")
    if figure.notes:
        lines += [_plain(figure.notes), ""]
    for note in result.notes:
        lines += [_plain(sentence(note, ".")), ""]
    run = f"`liftlock papers run {figure.key}`, {result.seconds:,.1f} s."
    lines.append(data_of(figure, "Data: {}. ") + run)
    return "\n".join(lines)
