"""Draw the pictures of the documentation: ``python docs/pictures.py``.

The heat map and the curves come from the package; the diagram of the notions is drawn from the
rules in `liftlock.notions.rules`, that of the rooms from the layers in `pyproject.toml`. The
pictures are stored, as the build has no matplotlib.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

import numpy as np

from liftlock.files import read_channel, read_prior
from liftlock.notions.approximate import FORMS, DeltaCurve
from liftlock.notions.audit import audit
from liftlock.notions.relations import leakages
from liftlock.notions.rules import RULES, Rule

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HERE = Path(__file__).parent
FOLDER = HERE / "pictures"
EXAMPLES = HERE / "examples"


@dataclass(frozen=True)
class Colours:
    """The colours of a theme; backgrounds are transparent."""

    name: str
    ink: str
    faint: str
    card: str
    edge: str
    always: str
    prior: str
    series: tuple[str, ...]


LIGHT = Colours(
    "light", "#20232a", "#6b7280", "#ffffff", "#9aa3b5", "#2166ac", "#b35806",
    ("#2166ac", "#b35806", "#1b7837"),
)  # fmt: skip
DARK = Colours(
    "dark", "#e6e9f0", "#9aa3b5", "#2b3040", "#5b657a", "#7db7ea", "#f2a65a",
    ("#7db7ea", "#f2a65a", "#7fd39a"),
)  # fmt: skip


# --- from the package -----------------------------------------------------------------------------


def draw_lifts() -> None:
    """Draw the heat map of the running example."""
    from liftlock.report.plots.lifts import draw_lifts as draw

    channel = read_channel(EXAMPLES / "survey.csv").channel
    draw(audit(channel, read_prior(EXAMPLES / "prior.csv")), FOLDER / "survey-lifts.png")


def draw_tradeoff() -> None:
    """Draw the utility of several methods on the example prior, at equal LIP and at equal LDP."""
    from liftlock.designs.comparison import compare
    from liftlock.notions.lip import LIP
    from liftlock.report.plots.tradeoff import draw_tradeoff as draw

    epsilons = [f"{step / 4:g}" for step in range(1, 15)]
    prior = read_prior(EXAMPLES / "prior.csv")
    for at, name in (("lip", "tradeoff.png"), ("ldp", "tradeoff-ldp.png")):
        draw(compare(prior, LIP, None, epsilons, "histogram", at=at), FOLDER / name)


def draw_answers() -> None:
    """Draw what is estimated from simulated reports, and how precise it was going to be."""
    from liftlock.designs.api import design
    from liftlock.designs.plan import plan
    from liftlock.notions.lip import LIP
    from liftlock.report.plots.estimate import draw_estimate
    from liftlock.report.plots.plan import draw_plan

    prior = read_prior(EXAMPLES / "prior.csv")
    mechanism = design(prior, LIP("1"), utility="frequencies")
    answers = random.Random(1).choices(["none", "cold", "flu"], [7, 2, 1], k=10_000)
    found = mechanism.estimate(mechanism.simulate(answers, seed=7), together=True)
    draw_estimate(found, FOLDER / "estimate.png", prior)
    draw_plan(plan(prior, LIP("1"), 10_000, margin="2%"), FOLDER / "plan.png")


def draw_salaries() -> None:
    """Draw the fit of the made-up salaries, and the mechanism designed for them."""
    from liftlock.designs.api import design
    from liftlock.files import read_column
    from liftlock.model.continuous import fit, from_data
    from liftlock.notions.lip import LIP
    from liftlock.report.plots.fit import draw_fit
    from liftlock.report.plots.numbers import draw_numbers

    salaries = read_column(EXAMPLES / "salaries.csv", "salary")
    draw_fit(fit(salaries, domain=(0, 150_000)), FOLDER / "salaries-fit.png")
    made = design(from_data(salaries, domain=(0, 150_000)), LIP("1"), bins=32)
    draw_numbers(made, FOLDER / "salaries-mechanism.png")


def draw_profiles() -> None:
    """Draw the workstation of the tutorial, and the settings of 004 Fig. 2 and Fig. 3."""
    from liftlock import audit
    from liftlock.designs.api import design
    from liftlock.designs.comparison import Comparison, compare
    from liftlock.model.profile_examples import example
    from liftlock.report.plots.graph import draw_graph
    from liftlock.report.plots.released import draw_chains, draw_released, usual_methods

    def sweep(name: str, epsilons: list[str]) -> Comparison:
        return compare(example(name), None, usual_methods(example(name)), epsilons)

    graph = example("workstation")
    made = design(graph, "0.3")
    draw_graph(audit(made.channel, graph), FOLDER / "workstation.png", budget=0.3)
    steps = [f"{step / 20:g}" for step in range(1, 41)]
    draw_chains([sweep(name, steps) for name in ("chain-6", "chain-21")], FOLDER / "chains.png")
    draw_released(sweep("categorical-chain", steps[:30]), FOLDER / "categorical-chain.png")
    draw_couplet()


def draw_couplet() -> None:
    """Draw how often a bit is flipped by how far apart two profiles are, and Warner's line."""
    from liftlock.report.plots.figure import picture, plain_number
    from liftlock_papers.paper_004.couplet_curve import couplet_curve

    curves = [couplet_curve(epsilon) for epsilon in ("0.25", "0.5", "1", "2")]
    styles = zip(("#1b4f8a", "#b3500a", "#3d7a35", "#8a2f6b"), ("o", "s", "^", "D"), strict=True)
    with picture(FOLDER / "couplet.png", 6.4, 4.2) as figure:
        axes = figure.add_subplot()
        for curve, (colour, marker) in zip(curves, styles, strict=True):
            axes.axhline(curve.warner, color=colour, linestyle="--", linewidth=1.2)
            axes.plot(
                curve.gaps,
                curve.flips,
                color=colour,
                linewidth=1.8,
                marker=marker,
                markersize=4,
                markevery=len(curve.gaps) // 10,
                label=f"smooth one bit, epsilon {curve.epsilon:g}",
                clip_on=False,
            )
        label = "randomised response, same epsilon"
        axes.plot([], [], color="black", linestyle="--", linewidth=1.2, label=label)
        highest = max(curve.warner for curve in curves)
        axes.set_ylim(-0.015 * highest, 1.08 * highest)
        axes.set_xlim(0.0, 1.0)
        axes.grid(visible=True, color="#e3e3e3", linewidth=0.7)
        axes.set_axisbelow(True)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        axes.xaxis.set_major_formatter(plain_number)
        axes.yaxis.set_major_formatter(plain_number)
        axes.set_xlabel("difference of the two parameters")
        axes.set_ylabel("probability that the bit is flipped")
        axes.set_title("Two joined profiles of one bit\n(lower is better)", fontsize=11)
        figure.legend(loc="outside lower center", ncols=2, fontsize=8.5, frameon=False)


@contextmanager
def svg_axes(name: str, colours: Colours) -> Iterator[Axes]:
    """Give axes in the colours of a theme, and store the picture."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    settings: Any = {
        "svg.hashsalt": "liftlock", "font.size": 11,
        "text.color": colours.ink, "axes.labelcolor": colours.ink, "axes.edgecolor": colours.faint,
        "xtick.color": colours.faint, "ytick.color": colours.faint,
        "xtick.labelcolor": colours.ink, "ytick.labelcolor": colours.ink,
    }  # fmt: skip
    with rc_context(settings):
        figure = Figure(figsize=(6.8, 3.6), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.add_subplot()
        yield axes
        axes.grid(color=colours.faint, alpha=0.25)
        axes.set_axisbelow(True)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        figure.patch.set_alpha(0)
        axes.patch.set_alpha(0)
        path = FOLDER / f"{name}-{colours.name}.svg"
        figure.savefig(path, metadata={"Date": None, "Creator": None})


def draw_curves(colours: Colours) -> None:
    """Draw delta against epsilon in the three forms."""
    channel = read_channel(EXAMPLES / "survey.csv").channel
    prior = read_prior(EXAMPLES / "prior.csv")
    epsilons = np.linspace(0, 2, 201)
    with svg_axes("delta-curves", colours) as axes:
        for form, colour in zip(FORMS, colours.series, strict=True):
            points = DeltaCurve.of(channel, prior, form).points(epsilons)
            axes.plot(epsilons, points, color=colour, linewidth=2.2)
            place = {"def5": 0.30, "ediv": 0.42, "joint": 0.22}[form]
            height = float(np.interp(place, epsilons, points))
            axes.annotate(
                form,
                (place, height),
                xytext=(6, 5),
                textcoords="offset points",
                color=colour,
                fontweight="bold",
            )
        axes.set_xlabel("ε (nats)")
        axes.set_ylabel("smallest δ")
        axes.set_xlim(0, 2)
        axes.set_ylim(0, None)


def coverages(people: int = 5_000, prior: int = 8) -> tuple[list[float], dict[str, list[float]]]:
    """Return how often intervals of 95 % hold the truth, by the true share, as exact sums."""
    from liftlock.designs.api import design
    from liftlock.estimate import Aggregate
    from liftlock.estimate.intervals.exact import sum_distribution
    from liftlock.model import Prior
    from liftlock.notions.lip import LIP

    made = design(Prior.from_counts({"no": 100 - prior, "yes": prior}), LIP("1"))
    place = made.table.outputs.index("yes")
    no, yes = made.table.floats()[:, place]
    ways: dict[str, dict[str, Any]] = {
        "whatever the truth": {},
        "if the prior is true": {"method": "bayes"},
        "a prior as good as 500 people": {"method": "bayes", "strength": 500},
    }
    shares = [float(share) for share in np.arange(6.0, 10.01, 0.25)]
    truths = [round(people * share / 100) for share in shares]
    laws = [sum_distribution(np.array([s, people - s]), np.array([yes, no])) for s in truths]
    found = {name: [0.0] * len(shares) for name in ways}
    for seen in range(laws[0][0], laws[-1][0] + len(laws[-1][1])):
        chances = [
            float(terms[seen - begin]) if 0 <= seen - begin < len(terms) else 0.0
            for begin, terms in laws
        ]
        if max(chances) < 1e-6:
            continue
        counts = [people - seen, people - seen]
        counts[place] = seen
        reports = Aggregate(made.channel.fingerprint, tuple(counts), people)
        for name, options in ways.items():
            answer = made.estimate(reports, "survey", value="yes", **options).answer
            for k, (truth, chance) in enumerate(zip(truths, chances, strict=True)):
                found[name][k] += chance * (answer.low <= truth <= answer.high)  # type: ignore[operator]
    return shares, found


def draw_coverage(colours: Colours, shares: list[float], found: dict[str, list[float]]) -> None:
    """Draw how often intervals of 95 % hold the truth, if the prior says 8 %."""
    with svg_axes("coverage", colours) as axes:
        for (name, held), colour in zip(found.items(), colours.series, strict=True):
            axes.plot(
                shares, [100 * share for share in held], color=colour, linewidth=2.2, label=name
            )
        axes.axvline(8, color=colours.faint, linewidth=1, linestyle=":")
        axes.annotate(
            "the prior", (8, 2), xytext=(5, 0), textcoords="offset points", color=colours.faint
        )
        axes.set_xlabel("people who truly have the value (%)")
        axes.set_ylabel("intervals of 95 % that hold it (%)")
        axes.set_xlim(6, 10)
        axes.set_ylim(0, 101)
        axes.legend(
            loc="upper center",
            bbox_to_anchor=(0.5, -0.16),
            ncols=3,
            frameon=False,
            fontsize=9,
            labelcolor=colours.ink,
        )


def row_leaks() -> dict[str, tuple[float, float]]:
    """Return how far beliefs fall and rise, for the tests of the page about given columns."""
    import pyarrow as pa

    import liftlock as ll

    draw = random.Random(7)
    columns: dict[str, list[str]] = {"clinic": [], "illness": [], "result": []}
    for _ in range(4000):
        ill, clinic = draw.random() < 0.3, draw.choice("NS")
        seen = ill if draw.random() < 0.9 else not ill
        row = (clinic, "yes" if ill else "no", "+-"[seen == (clinic == "S")])
        for cells, cell in zip(columns.values(), row, strict=True):
            cells.append(cell)
    found = {}
    for name, given in (
        ("promised for the column", ()),
        ("promised given the clinic", ("clinic",)),
    ):
        made = ll.protect(pa.table(columns), "result", "lip=0.5", secret="illness", given=given)
        mechanism = made.mechanisms["result"]
        if not given:
            nats = mechanism.certificate.nats
            found["the column alone"] = (float(nats["eps_lower"]), float(nats["eps_upper"]))
        (row_leak,) = made.protection.rows_out
        found[f"the row, {name}"] = tuple(row_leak.beyond)
    return found


def draw_rows(colours: Colours, leaks: dict[str, tuple[float, float]]) -> None:
    """Draw what a column tells, what its row tells, and what --given makes of it."""
    with svg_axes("published-row", colours) as axes:
        for place, sides in enumerate(leaks.values()):
            for side, colour, shift in zip(sides, colours.series, (-0.18, 0.18), strict=False):
                axes.barh(place + shift, side, height=0.32, color=colour)
                axes.annotate(
                    f"{side:.2g}", (side, place + shift), xytext=(4, 0),
                    textcoords="offset points", va="center", color=colours.ink, fontsize=10,
                )  # fmt: skip
        axes.axvline(0.5, color=colours.faint, linewidth=1.4, linestyle="--")
        axes.annotate(
            "promised", (0.5, -0.48), xytext=(5, 0), textcoords="offset points", color=colours.faint
        )
        axes.set_yticks(range(len(leaks)), list(leaks))
        axes.invert_yaxis()
        axes.set_xlim(0, 1.1 * max(max(sides) for sides in leaks.values()))
        axes.set_xlabel("beliefs fall (blue), rise (orange), nats")


# --- the house ------------------------------------------------------------------------------------

ROOM_WIDTH, ROOM_HEIGHT, FLOOR = 150, 40, 56
"""The size of a room, and the distance of two floors."""


def floors() -> list[list[str]]:
    """Return the rooms of each layer of imports, from the top, as `pyproject.toml` has them."""
    settings = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["id"] == "layers")
    return [[room.strip() for room in re.split(r"[|:]", layer)] for layer in layers]


def house(colours: Colours) -> str:
    """Return the picture of the layers: a room imports from the floors below it, never upwards."""
    rows = floors()
    width = 60 + max(map(len, rows)) * (ROOM_WIDTH + 14)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {len(rows) * FLOOR + 16}" '
        f'font-family="system-ui, sans-serif" font-size="15" fill="{colours.ink}">',
        f'<defs><marker id="down" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" '
        f'markerHeight="7" orient="auto"><path d="M0 0L10 5L0 10z" fill="{colours.always}"/>'
        "</marker></defs>",
        f'<path d="M26 14V{len(rows) * FLOOR}" fill="none" stroke="{colours.always}" '
        'stroke-width="1.8" marker-end="url(#down)"/>',
    ]
    for floor, rooms in enumerate(rows):
        top = 8 + floor * FLOOR
        parts.append(
            f'<rect x="48" y="{top}" width="{width - 56}" height="{FLOOR - 6}" rx="8" '
            f'fill="{colours.edge}" fill-opacity="0.10"/>'
        )
        for place, room in enumerate(rooms):
            left = 56 + place * (ROOM_WIDTH + 14)
            parts.append(
                f'<rect x="{left}" y="{top + 5}" width="{ROOM_WIDTH}" height="{ROOM_HEIGHT}" '
                f'rx="6" fill="{colours.card}" stroke="{colours.edge}"/>'
                f'<text x="{left + ROOM_WIDTH / 2:g}" y="{top + 30}" text-anchor="middle">'
                f"{escape(room)}</text>"
            )
    return "\n".join([*parts, "</svg>", ""])


# --- the diagram of the notions -------------------------------------------------------------------

WIDTH, HEIGHT = 1110, 640
COLUMNS = (330, 500, 670, 840, 1010)
BOX_WIDTH, BOX_HEIGHT = 148, 42
APART = 12
"""How far a pair of opposite arrows stands from the middle."""

BANDS = (
    (20, 190, "every secret,", "every output"),
    (226, 104, "average over", "secrets, every output"),
    (362, 200, "average over", "outputs"),
)


@dataclass(frozen=True)
class Box:
    """A notion in the diagram: its lines of text, the middle of its top edge, its size."""

    lines: tuple[str, ...]
    x: float
    y: float
    width: float = BOX_WIDTH
    height: float = BOX_HEIGHT

    @property
    def left(self) -> float:
        return self.x - self.width / 2

    @property
    def right(self) -> float:
        return self.x + self.width / 2

    @property
    def bottom(self) -> float:
        return self.y + self.height

    @property
    def middle(self) -> float:
        return self.y + self.height / 2


C1, C2, C3, C4, C5 = COLUMNS
BOXES = {
    "lifts": Box((), (C1 + C5) / 2, 36, C5 - C1 + BOX_WIDTH + 24, 118),
    "ldp": Box(("LDP",), 104, 60),
    "identifiability": Box(("identifiability",), 104, 150),
    "eps_upper": Box(("max-lift",), (C3 + C4) / 2, 90, C4 - C3 + BOX_WIDTH),
    "eps_lower": Box(("min-lift",), C5, 90),
    "l1_lift": Box(("l1-lift",), C1, 256),
    "chi2_lift": Box(("chi2-lift",), C2, 256),
    "alpha_lift": Box(("alpha-lift",), C3, 256),
    "inverses": Box(("l1-, chi2-, alpha-", "lift-inverse"), C5, 256, BOX_WIDTH, 50),
    "total_variation": Box(("total variation",), C1, 392),
    "chi2": Box(("chi2-divergence",), C2, 392),
    "sibson": Box(("Sibson, order α",), C3, 392),
    "maximal_leakage": Box(("maximal leakage",), C4, 392),
    "arimoto": Box(("Arimoto, order α",), C5, 392),
    "mutual_information": Box(("mutual information",), (C2 + C3) / 2, 494, BOX_WIDTH + 20),
}
INVERSES = ("l1_lift_inverse", "chi2_lift_inverse", "alpha_lift_inverse")
VERTICAL = (
    ("lifts", "l1_lift", C1),
    ("lifts", "chi2_lift", C2),
    ("eps_upper", "alpha_lift", C3),
    ("eps_upper", "maximal_leakage", C4),
    ("eps_lower", "inverses", C5),
    ("l1_lift", "total_variation", C1),
    ("chi2_lift", "chi2", C2),
    ("alpha_lift", "sibson", C3),
    ("chi2", "mutual_information", C2 + 34),
    ("sibson", "mutual_information", C3 - 34),
    ("ldp", "identifiability", 104),
)
HORIZONTAL = (
    ("maximal_leakage", "sibson"),
    ("maximal_leakage", "arimoto"),
    ("chi2", "total_variation"),
    ("ldp", "lifts"),
)


def strengths() -> dict[tuple[str, str], bool]:
    """Return all arrows (from, to) that the rules have, and whether they hold for every prior.

    Two lifts together are "lifts"; what they bound or what bounds both of them counts for that.
    """
    found: dict[tuple[str, str], bool] = {}
    for rule in RULES:
        gives = "inverses" if rule.gives in INVERSES else rule.gives
        needs = tuple("inverses" if need in INVERSES else need for need in rule.needs)
        source = "lifts" if len(needs) > 1 else next(iter(needs), "")
        arrow = source, gives
        found[arrow] = found.get(arrow, False) or holds_without_prior(rule)
    for key in BOXES:
        both = [found.get((key, side)) for side in ("eps_upper", "eps_lower")]
        if key not in {"eps_upper", "eps_lower"} and None not in both:
            found[key, "lifts"] = all(both)
    return found


def holds_without_prior(rule: Rule) -> bool:
    """Tell whether a rule gives a bound for every prior, at order 2."""
    bounds = dict.fromkeys(leakages(), Fraction(3, 2))
    return rule.apply(bounds, order=Fraction(2)) is not None


def arrow(colours: Colours, path: str, always: bool) -> str:
    """Draw one arrow: full for every prior, dashed with the prior."""
    colour = colours.always if always else colours.prior
    dash = "" if always else ' stroke-dasharray="6 4"'
    head = "always" if always else "prior"
    return (
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.8"{dash} '
        f'marker-end="url(#{head})"/>'
    )


def draw_relations(colours: Colours) -> None:
    """Draw the diagram; every arrow is looked up in the rules."""
    known = strengths()
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="system-ui, sans-serif" font-size="15" fill="{colours.ink}">'
    )
    parts = [head, "<defs>"]
    for name, colour in (("always", colours.always), ("prior", colours.prior)):
        parts.append(
            f'<marker id="{name}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" '
            f'markerHeight="7" orient="auto"><path d="M0 0L10 5L0 10z" fill="{colour}"/></marker>'
        )
    parts.append("</defs>")
    for top, height, *words in BANDS:
        parts.append(
            f'<rect x="8" y="{top}" width="{WIDTH - 16}" height="{height}" rx="8" '
            f'fill="{colours.edge}" fill-opacity="0.10"/>'
        )
        if top > 20:
            for line, word in enumerate(words):
                parts.append(
                    f'<text x="28" y="{top + 44 + 20 * line}" fill="{colours.faint}" '
                    f'font-style="italic">{word}</text>'
                )
    first = " ".join(BANDS[0][2:])
    parts.append(f'<text x="28" y="44" fill="{colours.faint}" font-style="italic">{first}</text>')
    for box in BOXES.values():
        parts.append(
            f'<rect x="{box.left}" y="{box.y}" width="{box.width}" height="{box.height}" rx="6" '
            f'fill="{colours.card}" stroke="{colours.edge}"/>'
        )
        start = box.middle + 5 - 9 * (len(box.lines) - 1)
        for line, word in enumerate(box.lines):
            parts.append(
                f'<text x="{box.x}" y="{start + 18 * line}" text-anchor="middle">'
                f"{escape(word)}</text>"
            )
    lifts = BOXES["lifts"]
    parts.append(
        f'<text x="{lifts.left + 20}" y="{lifts.y + 30}" font-weight="bold">'
        "the lifts: LIP, ALIP, bounded-prior LIP</text>"
    )
    parts += [arrow(colours, *line) for line in _lines(known)]
    for line, (always, meaning) in enumerate(
        ((True, "bounds it for every prior"), (False, "bounds it once the prior is known"))
    ):
        y = 592 + 26 * line
        parts.append(arrow(colours, f"M28 {y}H86", always))
        parts.append(f'<text x="98" y="{y + 5}">{meaning}</text>')
    parts.append("</svg>")
    path = FOLDER / f"relations-{colours.name}.svg"
    path.write_text("\n".join(parts) + "\n", encoding="utf-8")


def _lines(known: dict[tuple[str, str], bool]) -> list[tuple[str, bool]]:
    """Return the path and the strength of every arrow of the diagram."""
    found = []
    for upper, lower, x in VERTICAL:
        top, bottom = BOXES[upper].bottom, BOXES[lower].y
        back = (lower, upper) in known
        shift = APART if back else 0
        found.append((f"M{x - shift} {top}V{bottom}", known[upper, lower]))
        if back:
            found.append((f"M{x + shift} {bottom}V{top}", known[lower, upper]))
    for source, target in HORIZONTAL:
        a, b = BOXES[source], BOXES[target]
        start, end = (a.left, b.right) if b.x < a.x else (a.right, b.left)
        back = (target, source) in known
        shift = APART if back else 0
        found.append((f"M{start} {a.middle - shift}H{end}", known[source, target]))
        if back:
            found.append((f"M{end} {a.middle + shift}H{start}", known[target, source]))
    information, variation = BOXES["mutual_information"], BOXES["total_variation"]
    found.append(
        (
            f"M{information.left} {information.middle}H{variation.x}V{variation.bottom}",
            known["mutual_information", "total_variation"],
        )
    )
    return found


def draw_places() -> None:
    """Draw the mechanism for the places of the made-up town."""
    from liftlock.designs.api import design
    from liftlock.notions.lip import LIP
    from liftlock.report.plots.map import draw_map

    prior = read_prior(EXAMPLES / "town.csv")
    draw_map(design(prior, LIP("1"), utility="distance"), FOLDER / "town.png")


def draw_repeated() -> None:
    """Draw what repeated releases leak, beside the sum that is no bound."""
    from liftlock.accounting.release import Release
    from liftlock.designs.api import design
    from liftlock.model import Prior
    from liftlock.notions.lip import LIP
    from liftlock.report.plots.account import Repetition, draw_spent

    prior = Prior.from_probabilities({"no": "0.7310585786", "yes": "0.2689414214"})
    flip = design(prior, LIP("1"), method="binary")
    draw_spent(Repetition(Release.of(flip), prior), FOLDER / "spent.png")


def draw_report() -> None:
    """Photograph the report of a protected table, as a browser shows it."""
    import shutil
    import subprocess
    import tempfile

    from PIL import Image

    from liftlock.cli.main import main
    from liftlock.tables.example import people_csv

    browser = shutil.which("chromium")
    if browser is None:
        print("no chromium: the picture of the report stays as it is")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table, report, shot = folder / "people.csv", folder / "report.html", folder / "shot.png"
        table.write_text(people_csv(), encoding="utf-8")
        asked = ["--column", "job", "--secret", "household", "--drop", "schooling", "--drop", "pay"]
        asked += ["--epsilon-lower", "0.9", "--epsilon-upper", "0.5"]
        written = ["-o", str(folder / "safe.csv"), "--report", str(report)]
        assert main(["protect", str(table), *asked, *written]) == 0
        text = report.read_text(encoding="utf-8")
        report.write_text(text.replace(f"{folder}/", ""), encoding="utf-8")
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        options += ["--disable-background-networking", "--force-device-scale-factor=1.5"]
        options += ["--window-size=820,2130", f"--user-data-dir={folder / 'profile'}"]
        subprocess.run([browser, *options, f"--screenshot={shot}", report.as_uri()], check=True)
        # Few colours are enough for a page, and the file is a third of the size.
        Image.open(shot).convert("RGB").quantize(96).save(FOLDER / "report.png", optimize=True)


def draw_collect() -> None:
    """Photograph the question page on a phone, answered, and the dashboard after ten days."""
    import shutil
    import tempfile

    from PIL import Image
    from playwright.sync_api import sync_playwright

    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        print("no chromium: the pictures of the collection service stay as they are")
        return
    with (
        tempfile.TemporaryDirectory() as name,
        collecting(Path(name)) as address,
        sync_playwright() as playwright,
    ):
        started = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for place, width, height in (("s/health", 430, 1560), ("s/health/results", 820, 1330)):
            page = started.new_page(
                viewport={"width": width, "height": height}, device_scale_factor=1.5
            )
            page.goto(f"{address}/{place}")
            if place == "s/health":
                page.get_by_role("radio", name="cold").check()
                page.get_by_role("button", name="Answer").click()
                page.get_by_text("Sent, and stored.").wait_for()
                page.get_by_text("What is sent, and what it can tell").click()
            shot = Path(name) / "shot.png"
            page.screenshot(path=shot)
            target = FOLDER / f"collect-{'question' if width == 430 else 'results'}.png"
            Image.open(shot).convert("RGB").quantize(96).save(target, optimize=True)
        started.close()


@contextmanager
def collecting(folder: Path) -> Iterator[str]:
    """Serve a survey that has been answered on ten days."""
    import asyncio
    import socket
    import threading
    from datetime import date, timedelta

    import uvicorn

    from liftlock.collect.server.app import app
    from liftlock.collect.server.service import Service
    from liftlock.collect.settings import Settings
    from liftlock.collect.store.sqlite import SqliteStore
    from liftlock.collect.survey import Survey
    from liftlock.collect.wire import Batch, Layout

    question = {
        "name": "flu",
        "ask": "How are you today?",
        "values": ["none", "cold", "flu"],
        "prior": {"none": 700, "cold": 200, "flu": 100},
        "guarantee": "lip=1",
    }
    survey = Survey.from_data(
        {"survey": "health", "title": "Health this week", "questions": [question]}
    )
    here = "http://127.0.0.1"
    days = [date(2026, 11, 2)]
    place = folder / "health.sqlite"
    store = SqliteStore(place, today=lambda: days[0])
    settings = Settings.from_data({"store": str(place)})
    service = Service(settings, surveys=[survey], store=store, today=lambda: days[0]).open()
    made = service.served["health.flu"].collection.default
    layout, draw = Layout(made.digest, made.outputs), random.Random(4)
    for number in (310, 820, 760, 540, 420, 180, 150, 390, 260, 170):
        answers = draw.choices(["none", "cold", "flu"], [7, 2, 1], k=number)
        outputs = made.mechanism.simulate(answers, seed=number)
        names = [made.mechanism.table.outputs.index(output) for output in outputs]
        reports = [(draw.randbytes(16).hex(), output) for output in names]
        store.store(Batch("health.flu", made.digest, layout.width, layout.pack(reports)))
        days[0] += timedelta(days=1)
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(
        uvicorn.Config(app(service=service), lifespan="off", log_level="warning")
    )
    running = threading.Thread(target=asyncio.run, args=(server.serve(sockets=[listening]),))
    running.start()
    try:
        yield f"{here}:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        running.join()
        service.shutdown()


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    draw_report()
    draw_collect()
    draw_lifts()
    draw_tradeoff()
    draw_answers()
    draw_salaries()
    draw_places()
    draw_profiles()
    draw_repeated()
    measured = coverages()
    leaks = row_leaks()
    for theme in (LIGHT, DARK):
        draw_curves(theme)
        draw_coverage(theme, *measured)
        draw_rows(theme, leaks)
        draw_relations(theme)
        (FOLDER / f"house-{theme.name}.svg").write_text(house(theme), encoding="utf-8")
