"""Paper 000, Fig. 11: grades that students release with a prior of their own."""

from __future__ import annotations

from itertools import pairwise

from liftlock_papers.figure import Curve, Figure, Finding, Panel
from liftlock_papers.paper_000.comparing import below, judged, times
from liftlock_papers.paper_000.student_release import student_points
from liftlock_papers.points import Points

SIZES = ("2", "5", "10", "21")

_LOCAL, _GLOBAL = "local priors, certified", "global prior, certified"
_BOUNDED, _BEST_LDP = "bounded prior, certified", "LDP optimum, local priors"
_PUBLISHED = ("local priors, as published", "global prior, as published")
_KRR, _KRR_TWICE, _KRR_READ = "k-RR, ε-LDP", "k-RR, 2ε-LDP", "k-RR, read by its median"
_OUE, _OUE_READ = "OUE, one of its bits", "OUE, read by its median"

NOTES = (
    "The paper does not say how large A and B are: here 345 students of the Mathematics file are "
    "known and 50 release, one of each of 50 groups of neighbours in the order of the grades; five "
    "such splits (a quick run: one, 4 students). Classes have equal width, pass mark 10 for |X| = "
    "2, and errors count classes. The network has 16 hidden neurons (scikit-learn, with a penalty "
    "that keeps it from being too sure); its predictions are rounded to thousandths, of which "
    "every grade has at least one, and the global prior counts every grade once more, so that "
    "none is unprotected. A bounded prior is every mixture of three predictions: from all 32 "
    "attributes, from the five that the paper calls relevant, and from five that it calls "
    "unrelated. Certified mechanisms have the least expected absolute error, for every student a "
    "design and an exact certificate of their own. Errors are expectations over the noise, exact; "
    "bands are over the splits. Numbers at rings are the largest leakage of any student. All LIP "
    "here holds for a prior that is somebody's model: whoever knows the student better may learn "
    "more than ε. OUE reports a set of grades: one of the set bits is taken at random (any grade "
    "if none is set), or the median of the posterior under the global prior."
)


def judge_students(points: Points) -> list[Finding]:
    """Judge what the paper says about Fig. 11."""
    return [
        _local_is_best(points),
        _learnt_from_all(points),
        _bounded_for_two(points),
        _global_for_many(points),
        _ldp_is_worst(points),
        _unary(points),
        _many_classes(points),
        _response_keeps(points),
    ]


def _at_one(points: Points, curve: str) -> str:
    """Return the error with 21 grades at ε = 1."""
    return f"{points.at('21', curve, 1.0):.2f}"


def _local_is_best(points: Points) -> Finding:
    same = (_GLOBAL, _BOUNDED, _BEST_LDP, _KRR, _OUE, _OUE_READ)
    wins = below(points, SIZES, _LOCAL, *same, _KRR_TWICE)
    fair = below(points, SIZES, _LOCAL, *same)
    hedged = " At small ε a prediction that is too sure can cost more than one that hedges."
    worse = [
        f"{other} ({times([not win for win in below(points, SIZES, _LOCAL, other)])})"
        for other in (*same, _KRR_TWICE)
        if not all(below(points, SIZES, _LOCAL, other))
    ]
    return judged(
        "With local priors the error is the smallest of all, at every ε.",
        wins,
        f"certified, it is the smallest of all curves {times(wins)} times, without 2ε-LDP "
        f"{times(fair)}; with 21 grades and ε = 1 it is {_at_one(points, _LOCAL)}, with the global "
        f"prior {_at_one(points, _GLOBAL)}, with k-RR {_at_one(points, _KRR)}",
        f"Smaller somewhere: {', '.join(worse)}. 2ε-LDP is a weaker promise than ε-LIP, and "
        f"wins at large ε.{'' if all(fair) else hedged}",
    )


def _learnt_from_all(points: Points) -> Finding:
    wins = [points.at(size, _LOCAL, 0.0) <= points.at(size, _GLOBAL, 0.0) for size in SIZES]
    two, many = ([points.at(s, c, 0.0) for c in (_LOCAL, _GLOBAL)] for s in ("2", "21"))
    return judged(
        "The network predicts grades well from all attributes: its prior is near the truth.",
        wins,
        f"who guesses the median, without a report (ε = 0), errs by {many[0]:.2f} of 21 grades "
        f"with the local prior and by {many[1]:.2f} with the global one; with two classes by "
        f"{two[0]:.2f} and {two[1]:.2f}",
        "The prediction from all attributes is not better for every way to group the grades.",
    )


def _bounded_for_two(points: Points) -> Finding:
    wins = below(points, ("2",), _BOUNDED, _GLOBAL)
    return judged(
        "With |X| = 2 a bounded prior is better than the global one.",
        wins,
        f"{times(wins)} budgets; at ε = 1 {points.at('2', _BOUNDED, 1.0):.3f} against "
        f"{points.at('2', _GLOBAL, 1.0):.3f} (both certified)",
        "It knows more of each student, but must be safe for several priors at once: better at "
        "small ε, where the prior decides, worse at large ε, where the constraints do.",
    )


def _global_for_many(points: Points) -> Finding:
    wins = below(points, SIZES[1:], _GLOBAL, _BOUNDED)
    return judged(
        "With more classes the global prior is better than a bounded one.",
        wins,
        f"{times(wins)} budgets with |X| > 2; at ε = 1 with 21 grades {_at_one(points, _GLOBAL)} "
        f"against {_at_one(points, _BOUNDED)} (both certified)",
        "The number of classes is not what decides: at large ε the extra constraints of a bounded "
        "prior cost more than its knowledge is worth, at small ε they do not, for every |X|. The "
        "global prior as published is lower because it breaks its budget.",
    )


def _ldp_is_worst(points: Points) -> Finding:
    others = (_LOCAL, _GLOBAL, _BOUNDED)
    wins = [win for other in others for win in below(points, SIZES, other, _KRR)]
    own = below(points, SIZES, _BEST_LDP, _GLOBAL)
    claim = "LDP has the largest error, since it uses no prior."
    ours = (
        f"k-RR is worse than LIP {times(wins)} times; the best ε-LDP mechanism for the same local "
        f"priors has {_at_one(points, _BEST_LDP)} at ε = 1 with 21 grades, k-RR "
        f"{_at_one(points, _KRR)}, and beats LIP with the global prior {times(own)} times"
    )
    why = (
        "True of k-RR. But an LDP mechanism, too, may be chosen by the prior for what it releases: "
        "much of the gap is the use of the prior, and not the notion of privacy."
    )
    return judged(claim, [*wins, *(not win for win in own)], ours, why)


def _unary(points: Points) -> Finding:
    many = SIZES[1:]
    plain = below(points, many, _OUE, _KRR)
    read = below(points, many, _OUE_READ, _KRR)
    alike = below(points, many, _OUE_READ, _KRR_READ)
    claim = "With more than two classes OUE has a smaller error than k-RR."
    ours = (
        f"one of the set bits at random: {times(plain)} times; bits read by the median of what "
        f"they say: {times(read)}; both read by their median: {times(alike)}"
    )
    why = (
        "No ε-LDP report gives the true grade away more often than k-RR, so OUE can be nearer only "
        "if its bits are read with the prior. Read alike, it is ahead at small ε alone: "
        "OUE is made for frequencies, not for single answers."
    )
    return judged(claim, [*plain, *read], ours, why)


def _many_classes(points: Points) -> Finding:
    last = float(points.x("2", _KRR).max())
    left = [points.at(size, _KRR, last) / points.at(size, _KRR, 0.0) for size in SIZES]
    shown = ", ".join(f"{100 * share:.2g} %" for share in left)
    return judged(
        "The error of LDP depends strongly on the number of classes.",
        [low < high for low, high in pairwise(left)],
        f"of the error of a blind guess, k-RR at ε = {last:g} keeps {shown} with |X| = "
        f"{', '.join(SIZES)}",
        "It does not grow with every step.",
    )


def _response_keeps(points: Points) -> Finding:
    rows = [row for size in SIZES for name in _PUBLISHED for row in points.of(size, name)]
    broken = [row for row in rows if row.broken]
    kept = [row for row in rows if not row.broken and row.x > 0]
    worst = max(rows, key=lambda row: (row.leakage or 0.0) - (row.budget or 0.0))
    ours = (
        f"{len(broken)} of {len(broken) + len(kept)} points leak more than their ε; at worst "
        f"{worst.leakage:.2f} for ε = {worst.budget:g} ({worst.curve}, |X| = {worst.panel})"
    )
    claim = "The randomised response of eq. (19) keeps ε-LIP."
    why = (
        "It does so if and only if the rarest grade has probability 1/(1 + e^ε) or more. A grade "
        "that a student hardly ever gets is given away as soon as it is reported."
    )
    return judged(claim, [not broken], ours, why)


def _students_panel(size: str) -> Panel:
    unit = "grades" if size == "21" else "classes"
    return Panel(
        size,
        "ε (nats)",
        f"mean absolute error ({unit})",
        f"|X| = {size}",
        y_limits=(0.0, None),
    )


STUDENTS = Figure(
    key="000-fig11",
    name="Fig. 11",
    title="Final grades of students: the error of a report against the budget",
    says=(
        "Students release their final grades, each with the response of eq. (19). A prior for each "
        "student, learnt by a network from the records of others, serves best; then come the "
        "global and the bounded prior, and LDP is last."
    ),
    compute=student_points,
    judge=judge_students,
    panels=tuple(_students_panel(size) for size in SIZES),
    curves=(
        Curve(_PUBLISHED[0], "orange", "solid", "o"),
        Curve(_PUBLISHED[1], "orange", "dashed", "s"),
        Curve(_KRR, "grey", "solid"),
        Curve(_KRR_TWICE, "grey", "dashed"),
        Curve(_BEST_LDP, "grey", "dotted"),
        Curve(_OUE, "teal", "dashdot"),
        Curve(_OUE_READ, "purple", "dashdot"),
        Curve(_BOUNDED, "green", "solid", "^"),
        Curve(_GLOBAL, "blue", "dashed", "s", width=1.9),
        Curve(_LOCAL, "blue", "solid", "o", width=2.2),
        Curve(_KRR_READ, "grey", "dashdot", width=1.0, shade=0.35),
    ),
    needs=("student_performance",),
    notes=NOTES,
    columns=2,
)
