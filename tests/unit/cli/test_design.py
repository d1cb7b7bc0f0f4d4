"""`liftlock design`: a certified mechanism, what it is worth, or one clear line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from liftlock import Mechanism, Step
from liftlock._runtime.clock import SearchStep
from liftlock.cli import design as command
from liftlock.cli.main import INTERRUPTED
from liftlock.designs import design
from tests.unit.cli.conftest import Outcome, Run
from tests.unit.cli.test_bad_input import assert_refused

PRIOR = "label,probability\n1,0.1\n2,0.2\n3,0.7\n"
JOINT = "secret,a,b,c\ns,25,23,2\nt,20,20,10\n"
FILES = {"p.csv": PRIOR, "j.csv": JOINT, "f.csv": "label,one,two\na,1,2\nb,3,3\n"}
ASKED = ("design", "--prior", "p.csv", "--epsilon", "1")


@pytest.fixture
def designed(run: Run) -> Run:
    def designed(*arguments: str) -> Outcome:
        return run(*arguments, files=FILES)

    return designed


def test_the_optimum_is_printed_and_written(designed: Run, run: Run) -> None:
    outcome = designed(*ASKED, "--utility", "histogram", "-o", "m.json")
    assert (outcome.code, set(outcome.made) - set(FILES)) == (0, {"m.json"})
    assert outcome.out.startswith("CERTIFIED: lip(epsilon=1) for a prior on 3 symbols\n")
    assert "histogram error (mean squared, per person): 0.328761, proved" in outcome.out
    table = outcome.out.partition("compared with")[2].splitlines()[1:]
    assert [line.split("  ")[0] for line in table if line] == [
        "this mechanism (optimal)",
        "the optimum under LDP, same LIP",
        "the optimum under LDP, same epsilon",
        "the optimum under LDP, same LDP",
        "no release",
        "no noise",
    ]
    assert "0.399328" in table[2]  # the optimum of the LDP staircase, known independently
    assert outcome.err == "note: written to m.json\n"
    made = Mechanism.load("m.json")
    assert made.origin is not None
    assert made.origin.objective == pytest.approx(0.3287611726, abs=1e-9)
    assert run("audit", "m.json", "--check", "lip=1", "-q").code == 0


@pytest.mark.parametrize(
    ("utility", "expected"),
    [
        (["--utility", "mean"], 0.2904695421),
        (["--utility", "histogram"], 0.3287611726),
        ([], 0.1977374041),
        (["--utility", "hamming"], 0.2230448981),
        (["--utility", "distortion", "--loss", "hamming"], 0.2230448981),
        (["--utility", "guess"], 0.2230448981),
        (["--utility", "distortion", "--loss", "loss.csv"], 0.2230448981),
    ],
)
def test_json(run: Run, utility: list[str], expected: float) -> None:
    loss = "x,3,2,1\n3,0,1,1\n1,1,1,0\n2,1,0,1\n"  # Hamming, in another order
    outcome = run(*ASKED, *utility, "--json", files=FILES | {"loss.csv": loss})
    assert (outcome.code, outcome.err) == (0, "")
    data = json.loads(outcome.out)
    assert data["objective"] == pytest.approx(expected, abs=2e-10)
    assert 0 <= data["gap"] <= 1e-6
    assert data["method"] == "optimal"
    assert data["outputs"] <= 3
    assert data["certificate"]["holds"] is True
    assert [row["guarantee"] for row in data["comparison"]][-2:] == ["everything", "nothing"]
    assert data["file"] is None


def test_two_budgets_are_alip(designed: Run) -> None:
    arguments = ["--epsilon-lower", "1.3", "--epsilon-upper", "0.7"]
    outcome = designed("design", "--joint", "j.csv", *arguments)
    assert outcome.code == 0
    assert outcome.out.startswith("CERTIFIED: alip(lower=1.3, upper=0.7) for a joint")


@pytest.mark.parametrize("notion", ["ldp", "eps_upper", "eps-lower"])
def test_other_notions(designed: Run, notion: str) -> None:
    outcome = designed(*ASKED, "--notion", notion)
    assert outcome.code == 0
    assert outcome.out.startswith(f"CERTIFIED: {notion.replace('-', '_')}(budget=1)")


def test_notions_of_an_order(designed: Run) -> None:
    asked = ["design", "--joint", "j.csv", "--notion", "alpha_lift", "--epsilon", "1.2"]
    outcome = designed(*asked, "--alpha", "2", "--method", "watchdog")
    assert outcome.code == 0
    assert outcome.out.startswith("CERTIFIED: alpha_lift(alpha=2, budget=1.2)")
    assert_refused(_without_files(designed(*asked, "--method", "watchdog")), "give --alpha")


def test_a_published_formula_is_refused_and_made_under_its_true_guarantee(
    designed: Run, run: Run
) -> None:
    refused = designed(*ASKED, "--method", "response", "-o", "m.json")
    assert (refused.code, refused.out, "m.json" in refused.made) == (1, "", False)
    (line,) = refused.err.splitlines()
    assert line.startswith("liftlock: refused: lip(epsilon=1) does not hold: max-lift is 6.689")
    assert "upper=1.900477" in line
    assert "--as-published" in line
    made = designed(*ASKED, "--method", "response", "--as-published", "-o", "m.json")
    assert made.code == 0
    # Largest lift ((E - 1 + P)/P)/E for P = 0.1; its logarithm is 1.90047709...
    assert made.out.startswith("CERTIFIED: alip(lower=1.0000000001, upper=1.9004770979)")
    assert "as published: asked for lip(1)" in made.out
    assert run("audit", "m.json", "--check", "lip=1.9", "-q").code == 1


def test_a_budget_of_zero_says_nothing(designed: Run) -> None:
    outcome = designed("design", "--prior", "p.csv", "--epsilon", "0", "--json")
    data = json.loads(outcome.out)
    assert (outcome.code, data["outputs"], data["objective"], data["gap"]) == (0, 1, 0.0, 0.0)
    assert "a budget of 0 allows nothing else" in data["remarks"]
    assert any("constant" in remark for remark in data["remarks"])


def test_a_budget_of_zero_for_a_secret_claims_no_optimum(designed: Run) -> None:
    outcome = designed("design", "--joint", "j.csv", "--epsilon", "0", "--json")
    data = json.loads(outcome.out)
    assert (outcome.code, data["outputs"], data["gap"]) == (0, 1, None)
    more = json.loads(designed("design", "--joint", "j.csv", "--epsilon", "1e-9", "--json").out)
    assert more["objective"] > 0.01


@pytest.mark.parametrize("epsilon", ["40", "1000"])
def test_a_huge_budget_gives_nearly_everything(designed: Run, epsilon: str) -> None:
    outcome = designed("design", "--prior", "p.csv", "--epsilon", epsilon, "--json")
    data = json.loads(outcome.out)
    assert outcome.code == 0
    assert data["objective"] == pytest.approx(data["comparison"][-1]["objective"], abs=1e-9)


def test_inputs_that_never_occur_are_left_out_and_said(run: Run) -> None:
    prior = "label,count\na,3\nb,0\nc,5\n"
    loss = "x,a,b,c\na,0,1,1\nb,9,9,9\nc,1,1,0\n"
    files = {"p.csv": prior, "l.csv": loss}
    for utility in (["histogram"], ["distortion", "--loss", "l.csv"]):
        outcome = run(*ASKED, "--utility", *utility, "--json", files=files)
        assert outcome.code == 0
        data = json.loads(outcome.out)
        assert data["inputs"] == 2
        assert "left out because they never occur: 'b'" in data["remarks"]


def test_options_of_the_method(designed: Run) -> None:
    arc = designed(*ASKED, "--method", "arc", "--option", "parts=2", "--json")
    assert arc.code == 0
    limited = designed(*ASKED, "--gap", "1e-3", "--seconds", "30", "--option", "how=enumeration")
    assert limited.code == 0


def test_bits(designed: Run) -> None:
    assert designed(*ASKED, "--bits", "40", "-o", "m.json").code == 0
    assert Mechanism.load("m.json").channel.bits == 40
    few = designed(*ASKED, "--bits", "12")  # too coarse for a mechanism on its boundary
    assert (few.code, few.out) == (1, "")
    assert "smallest budget that would pass: lip=1.0009" in few.err


STEP = SearchStep(stage="search", cost=0.5, bound=0.4, gap=0.1, columns=1234, seconds=7.2)


def test_progress_goes_to_a_terminal_only(designed: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[Step] = []

    class Shown:
        def __enter__(self) -> Callable[[Step], None]:
            return said.append

        def __exit__(self, *_: object) -> None:
            return None

    monkeypatch.setattr(command, "show_status", lambda _: Shown())
    seen: dict[str, Any] = {}
    real = design

    def watched(*arguments: Any, **options: Any) -> Mechanism:
        seen.update(options)
        options["watch"](STEP)
        return real(*arguments, **options)

    monkeypatch.setattr(command, "design", watched)
    assert designed(*ASKED).code == 0
    assert said[0] is STEP
    assert str(said[0]) == "search, gap 0.1, bound 0.4, 1,234 candidates, 7 s"
    assert "watch" in seen


def test_an_interrupted_search_returns_the_best_so_far(
    designed: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C while the solver reports progress: it stops and hands out what it has."""
    real = design

    def interrupted(*arguments: Any, **options: Any) -> Mechanism:
        def press(_: Step) -> None:
            raise KeyboardInterrupt

        return real(*arguments, **(options | {"watch": press}))

    monkeypatch.setattr(command, "design", interrupted)
    outcome = designed(*ASKED, "--option", "how=generation", "-o", "m.json")
    assert outcome.code in (0, INTERRUPTED)
    if outcome.code == 0:
        assert Mechanism.load("m.json").certificate.holds


# --- bad input ----------------------------------------------------------------------------------


def _without_files(outcome: Outcome) -> Outcome:
    return Outcome(outcome.code, outcome.out, outcome.err, outcome.made - set(FILES))


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--epsilon", "1"], ["give --prior, --joint, --family, --distribution or --profiles"]),
        (["--prior", "p.csv"], ["no budget", "--epsilon"]),
        (["--prior", "p.csv", "--joint", "j.csv", "--epsilon", "1"], ["give only one of"]),
        (["--prior", "p.csv", "--epsilon", "inf"], ["infinite", "promises nothing", "such as 10"]),
        (["--prior", "p.csv", "--epsilon", "-1"], ["epsilon is negative: '-1'"]),
        (["--prior", "p.csv", "--epsilon", "much"], ["epsilon is not a number: 'much'"]),
        (["--prior", "p.csv", "--epsilon-lower", "1"], ["--epsilon-upper is missing"]),
        (["--prior", "p.csv", "--epsilon-upper", "1"], ["--epsilon-lower is missing"]),
        (["--prior", "p.csv", "--notion", "alip", "--epsilon", "1"], ["alip takes"]),
        (
            ["--prior", "p.csv", "--notion", "ldp", "--epsilon-lower", "1"],
            ["go with alip, not with ldp"],
        ),
        (["--prior", "p.csv", "--notion", "peace", "--epsilon", "1"], ["'peace'", "lip"]),
        (["--prior", "p.csv", "--notion", "sibson", "--epsilon", "1"], ["no method is designed"]),
        (["--prior", "p.csv", "--epsilon", "1", "--alpha", "2"], ["--alpha goes with"]),
        (["--prior", "p.csv", "--epsilon", "1", "--utility", "joy"], ["'joy'", "histogram"]),
        (["--prior", "p.csv", "--epsilon", "1", "--utility", "distortion"], ["needs --loss"]),
        (["--prior", "p.csv", "--epsilon", "1", "--loss", "hamming"], ["--loss goes with"]),
        (["--prior", "p.csv", "--epsilon", "1", "--method", "magic"], ["'magic'", "optimal"]),
        (["--prior", "p.csv", "--epsilon", "1", "--gap", "-1"], ["--gap is negative"]),
        (
            ["--prior", "p.csv", "--epsilon", "1", "--gap", "2"],
            ["--gap must be below 1", "0.01 is"],
        ),
        (["--prior", "p.csv", "--epsilon", "1", "--gap", "x"], ["--gap is not a number"]),
        (["--prior", "p.csv", "--epsilon", "1", "--seconds", "0"], ["--seconds is not positive"]),
        (
            ["--prior", "p.csv", "--epsilon", "1", "--method", "arc", "--gap", "0.1"],
            ["the method arc has no such option: 'gap'", "its options are"],
        ),
        (["--prior", "p.csv", "--epsilon", "1", "--option", "how"], ["write it like"]),
        (
            ["--prior", "p.csv", "--epsilon", "1", "--option", "haste=1"],
            ["'haste'", "its options are"],
        ),
        (["--prior", "p.csv", "--epsilon", "1", "--option", "watch=1"], ["shown by itself"]),
        (
            ["--prior", "p.csv", "--epsilon", "1", "--gap", "0.1", "--option", "gap=2"],
            ["option given twice: 'gap'"],
        ),
        (
            ["--prior", "p.csv", "--epsilon", "1", "--as-published"],
            ["the papers do not have it", "response"],
        ),
        (["--prior", "p.csv", "--epsilon", "1", "-o", "no/m.json"], ["no such folder at no"]),
        (["--prior", "p.csv", "--epsilon", "1", "-o", "p.csv"], ["would overwrite --prior"]),
        (["--prior", "p.csv", "--epsilon", "1", "--bits", "63"], ["not in the range"]),
        (["--joint", "j.csv", "--epsilon", "1", "--method", "arc"], ["arc", "give a prior"]),
        (["--joint", "j.csv", "--epsilon", "1", "--utility", "mean"], ["needs numbers", "'a'"]),
        (["--prior", "q.csv", "--epsilon", "1"], ["no such file at q.csv"]),
    ],
)
def test_bad_input_is_one_line(run: Run, arguments: list[str], parts: list[str]) -> None:
    for name, text in FILES.items():
        run("--version", files={name: text})
    assert_refused(run("design", *arguments), *parts)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("x,1,2,3\n1,0,1,1\n2,1,0,1\n", ["no row for an input at l.csv", "'3'"]),
        ("x,1,2\n1,0,1\n2,1,0\n3,1,1\n4,1,1\n", ["rows that are not the inputs", "'4'"]),
        ("x,1\n1,-1\n2,0\n3,0\n", ["loss is negative at l.csv, line 2"]),
        ("x,1\n1,a\n2,0\n3,0\n", ["loss is not a number at l.csv, line 2"]),
        ("x,1\n1,1e300\n2,0\n3,0\n", ["loss above 1e+12 at l.csv, line 2"]),
        ("", ["empty file at l.csv"]),
    ],
)
def test_bad_losses(run: Run, text: str, parts: list[str]) -> None:
    run("--version", files={"p.csv": PRIOR, "l.csv": text})
    asked = [*ASKED, "--utility", "distortion", "--loss", "l.csv"]
    assert_refused(run(*asked), *parts)


def test_nothing_is_read_when_an_option_is_wrong(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("the work was begun")

    monkeypatch.setattr("liftlock.cli._context.read_prior", never)
    for wrong in (["--utility", "joy"], ["--method", "magic"], ["-o", "no/m.json"]):
        assert run(*ASKED, *wrong).code == 2


def _skewed() -> str:
    return "label,count\n" + "".join(f"v{k},{k + 1}\n" for k in range(12))


def test_a_gap_that_stays_open_is_a_warning_and_may_be_refused(run: Run) -> None:
    """Twelve symbols under LDP, stopped at once."""
    asked = ("design", "--prior", "p.csv", "--notion", "ldp", "--epsilon", "1")
    early = (*asked, "--seconds", "0.0001", "-o", "m.json")
    files = {"p.csv": _skewed()}
    outcome = run(*early, "--json", files=files)
    data = json.loads(outcome.out)
    assert outcome.code == 0
    assert data["gap"] > 1e-6
    assert data["warning"].startswith("not proved optimal: the proved gap is ")
    assert f"WARNING: {data['warning']}" in outcome.err.splitlines()
    stored = Mechanism.load("m.json")
    assert stored.origin is not None
    assert f"WARNING: {stored.origin.warning}" in str(stored)
    Path("m.json").unlink()
    refused = run(*early, "--require-gap", "1e-6")
    assert (refused.code, refused.out, refused.made) == (1, "", frozenset())
    (line,) = refused.err.splitlines()
    assert line.startswith("liftlock: refused: the proved gap to the optimum is ")
    other = run(*asked, "--method", "k-rr", "--require-gap", "0.5")
    assert other.code == 1
    assert "the method k-rr proves no gap" in other.err


def test_a_proved_optimum_has_no_warning(run: Run) -> None:
    outcome = run(
        *("design", "--prior", "p.csv", "--epsilon", "1", "--require-gap", "1e-5", "--json"),
        files={"p.csv": PRIOR},
    )
    assert (outcome.code, outcome.err) == (0, "")
    assert json.loads(outcome.out)["warning"] is None


def test_how_it_was_solved_is_explained(run: Run) -> None:
    joint = "secret,a,b,c\ns,1,2,7\nt,2,4,3\n"
    asked = ("design", "--joint", "j.csv", "--epsilon", "0.5", "--explain")
    outcome = run(*asked, "--json", files={"j.csv": joint})
    steps = json.loads(outcome.out)["explanation"]
    assert [step["name"] for step in steps if step["taken"]] == ["merge-types", "enumeration"]
    assert {step["name"] for step in steps} >= {"numbers", "generation", "scale-numbers"}
    assert all(step["says"] for step in steps)
    text = run(*asked).out
    assert "3 symbols are of 2 types" in " ".join(text.split())
    silent = run(*asked[:-1], "--json")
    assert "explanation" not in json.loads(silent.out)
    nothing = run(*asked[:3], "--epsilon", "0", "--explain", "--json")
    assert [step["name"] for step in json.loads(nothing.out)["explanation"]] == ["constant"]


def test_a_formula_has_nothing_to_explain(run: Run) -> None:
    asked = ("design", "--prior", "p.csv", "--epsilon", "1", "--explain", "--method")
    outcome = run(*asked, "safe-response", files={"p.csv": PRIOR})
    assert outcome.code == 2
    assert "--explain works only with methods that search" in outcome.err


def test_a_way_that_does_not_fit_is_refused_with_those_that_do(run: Run) -> None:
    asked = ("design", "--prior", "p.csv", "--epsilon", "1", "--option")
    outcome = run(*asked, "how=random-decomposition", files={"p.csv": PRIOR})
    assert outcome.code == 2
    assert "use auto, enumeration, generation" in outcome.err


def test_nothing_is_compared_if_nothing_is_to_be(run: Run) -> None:
    compared = run(*ASKED, files={"p.csv": PRIOR})
    alone = run(*ASKED, "--no-comparison")
    assert compared.code == alone.code == 0
    assert compared.out.startswith(alone.out)
    assert "no release" in compared.out
    assert "no release" not in alone.out
    assert json.loads(run(*ASKED, "--no-comparison", "--json").out)["comparison"] == []


def test_weights_are_for_profiles(run: Run) -> None:
    outcome = run(*ASKED, "--weights", "w.csv", files={"p.csv": PRIOR})
    assert_refused(outcome, "--weights goes with a graph of profiles")
