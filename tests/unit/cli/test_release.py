"""A column of a table through a mechanism that is there already."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest

from liftlock import LIP, Mechanism, PerUserPriors, Prior, design
from liftlock.mechanism import lock_users
from liftlock.model.columns import ColumnEncoding, TableEncoding
from liftlock.model.structured import UserChannel
from liftlock.sampling import user_posteriors
from tests.published_rows import law_of_file, row_lifts
from tests.unit.cli.conftest import Run
from tests.unit.cli.profiles.worlds import assert_refused

TABLE = 'id,x,note\r\n1,a,"q, ""r"""\r\n2, b ,\r\n3,c,"two\r\nlines"\r\n4,a,ü\r\n'
COMMAND = ("release", "m.json", "t.csv", "-o", "safe.csv")


def mechanism(**rules: Any) -> Mechanism:
    labels = ["a", "b", "c"] + (["(missing)"] if "missing" in rules else [])
    made = design(Prior.uniform(labels), LIP("1"), method="safe-response")
    return Mechanism(
        made.channel,
        made.certificate,
        made.context,
        made.origin,
        encoding=TableEncoding((ColumnEncoding("x", **rules),)),
    )


@pytest.fixture
def plain(tmp_path: Path) -> Mechanism:
    made = mechanism()
    made.save(tmp_path / "m.json")
    return made


def cells(name: str, column: str) -> list[str]:
    text = Path(name).read_bytes().decode()
    return [row[column] for row in csv.DictReader(io.StringIO(text, newline=""))]


def test_all_but_the_column_stays_character_by_character(run: Run, plain: Mechanism) -> None:
    done = run(*COMMAND, "--json", files={"t.csv": TABLE})
    assert done.code == 0, done
    assert done.made == {"safe.csv"}
    after = Path("safe.csv").read_bytes().decode()
    found = cells("safe.csv", "x")
    first, second, third, fourth = found
    assert after == (
        f'id,x,note\r\n1,{first},"q, ""r"""\r\n2,{second},\r\n'
        f'3,{third},"two\r\nlines"\r\n4,{fourth},ü\r\n'
    )
    data = json.loads(done.out)
    assert data["rows"] == 4
    labels = plain.table.outputs.labels
    assert dict(zip(labels, data["counts"], strict=True)) == {
        y: found.count(str(y)) for y in labels
    }
    assert data["guarantee"] == "lip(epsilon=1)"


def test_in_words(run: Run, plain: Mechanism) -> None:
    done = run(*COMMAND, "--drop", "note", files={"t.csv": TABLE})
    assert done.code == 0, done
    assert '4 rows, "x" privatised' in done.out
    assert f"guarantee for one release: {plain.certificate.guarantee}" in done.out
    assert Path("safe.csv").read_text().splitlines()[0] == "id,x"


def test_a_column_of_another_name(run: Run, plain: Mechanism) -> None:
    table = TABLE.replace("id,x", "id,answer")
    refused = run(*COMMAND, files={"t.csv": table})
    assert_refused(refused, "'x'")
    assert run(*COMMAND, "--column", "answer").code == 0
    assert set(cells("safe.csv", "answer")) <= {"a", "b", "c"}


def test_parquet_in_and_out_and_estimated(run: Run, plain: Mechanism) -> None:
    table = pa.table({"x": pa.array([*"abca"] * 50).dictionary_encode(), "k": range(200)})
    pq.write_table(table, "t.parquet", row_group_size=64)
    done = run("release", "m.json", "t.parquet", "-o", "safe.parquet")
    assert done.code == 0, done
    safe = pq.read_table("safe.parquet")
    assert safe.schema.field("x").type == table.schema.field("x").type
    assert safe.column("k").equals(table.column("k"))
    counted = run("estimate", "m.json", "safe.parquet", "--json")
    assert counted.code == 0, counted
    assert '"reports": 200' in counted.out


def test_missing_cells_by_the_mechanisms_rule(run: Run, tmp_path: Path) -> None:
    table = "x,k\na,1\n,2\nb,3\n"
    mechanism().save(tmp_path / "m.json")
    assert_refused(run(*COMMAND, files={"t.csv": table}), "missing value", "line 3")
    mechanism(missing="(missing)").save(tmp_path / "m.json")
    assert run(*COMMAND).code == 0
    mechanism(keeps_missing=True).save(tmp_path / "m.json")
    done = run(*COMMAND, "--force")
    assert done.code == 0
    assert cells("safe.csv", "x")[1] == ""
    assert (
        "1 missing cells were kept missing: whether a value is missing is not protected" in done.err
    )
    assert "both releases count together" in done.err


def test_unseen_values(run: Run, tmp_path: Path) -> None:
    table = "x\na\nzzz\n"
    mechanism().save(tmp_path / "m.json")
    assert_refused(run(*COMMAND, files={"t.csv": table}), "not an input", "line 3", "'zzz'")
    assert_refused(run(*COMMAND, "--unseen", "map"), "no input for unseen values")
    mechanism(other="c").save(tmp_path / "m.json")
    assert_refused(run(*COMMAND), "--unseen map makes it 'c'")
    assert run(*COMMAND, "--unseen", "map").code == 0
    mechanism(other="c", unseen="map").save(tmp_path / "m.json")
    assert run(*COMMAND, "--force").code == 0
    assert_refused(run(*COMMAND, "--force", "--unseen", "refuse"), "'zzz'")


def test_a_false_promise_is_not_released(run: Run, plain: Mechanism) -> None:
    text = Path("m.json").read_text()
    assert '"epsilon": "1"' in text
    Path("m.json").write_text(text.replace('"epsilon": "1"', '"epsilon": "0.5"'))
    done = run(*COMMAND, files={"t.csv": TABLE})
    assert done.code != 0
    assert done.made <= {"t.csv"}
    assert not Path("safe.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("release", "m.json", "t.csv", "-o", "t.csv"), ("t.csv",)),
        (("release", "m.json", "t.csv", "-o", "t.csv", "--force"), ("t.csv",)),
        (("release", "m.json", "t.csv", "-o", "m.json", "--force"), ("m.json",)),
        (("release", "m.json", "t.csv", "-o", "safe.txt"), ("unknown output format",)),
        (("release", "m.json", "t.csv", "-o", "."), ("folder",)),
        (("release", "m.json", "none.csv", "-o", "safe.csv"), ("no such file",)),
        (("release", "none.json", "t.csv", "-o", "safe.csv"), ("no such file",)),
        ((*COMMAND, "--drop", "zzz"), ("'zzz'",)),
        ((*COMMAND, "--drop", "x"), ("both replaced and dropped",)),
        ((*COMMAND, "--column", "zzz"), ("'zzz'",)),
        ((*COMMAND, "--delimiter", ";"), ("'x'",)),
        (("release", "t.csv", "t.csv", "-o", "safe.csv"), ("t.csv",)),
    ],
)
def test_bad_requests(
    run: Run, plain: Mechanism, arguments: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    Path("t.csv").write_bytes(TABLE.encode())
    before = Path("m.json").read_text()
    assert_refused(run(*arguments), *parts)
    assert Path("t.csv").read_bytes() == TABLE.encode()
    assert Path("m.json").read_text() == before


def test_a_mechanism_without_a_column_needs_a_name(run: Run) -> None:
    design(Prior.uniform([*"abc"]), LIP("1"), method="safe-response").save("m.json")
    assert_refused(run(*COMMAND, files={"t.csv": TABLE}), "name the one to privatise by --column")
    assert run(*COMMAND, "--column", "x").code == 0


def test_an_interrupted_release_leaves_nothing(
    run: Run, plain: Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    Path("t.csv").write_bytes(TABLE.encode())
    monkeypatch.setattr("liftlock.tables.releases.ColumnRelease.arrays", stop)
    done = run(*COMMAND)
    assert done.code not in (0, 2)
    assert done.made == frozenset()
    assert done.out == ""


def test_the_secret_and_copies_do_not_stay_beside_the_release(run: Run) -> None:
    rows = [(job, "f" if at % 3 else "m") for at, job in enumerate(["cook", "nurse"] * 60)]
    table = "job,sex,town,copy\n" + "".join(
        f"{j},{s},t{at % 5},{j[0]}\n" for at, (j, s) in enumerate(rows)
    )
    made = run(
        *("protect", "t.csv", "--column", "job", "--secret", "sex", "--epsilon", "1"),
        *("--drop", "copy", "-o", "first.csv"),
        files={"t.csv": table},
    )
    assert made.code == 0, made
    again = ("release", "first.mechanism.json", "t.csv", "-o", "safe.csv")
    done = run(*again)
    assert done.code == 0, done
    assert "note: 'sex' is left out: it is the secret (--keep would keep it)" in done.err
    assert (
        "note: 'copy': left out, as when the mechanism was made (--keep would keep it)" in done.err
    )
    assert Path("safe.csv").read_text().splitlines()[0] == "job,town"
    kept = run(*again, "--keep", "copy", "--keep", "sex", "--force")
    assert kept.code == 0, kept
    assert Path("safe.csv").read_text().splitlines()[0] == "job,sex,town,copy"
    for column, of in (("job", "protected column 'job'"), ("sex", "secret 'sex'")):
        other = "job,sex,town,copy,also\n" + "".join(
            f"{j},{s},t{at % 5},{j[0]},{(j if column == 'job' else s).upper()}\n"
            for at, (j, s) in enumerate(rows)
        )
        refused = run(*again, "--force", files={"t.csv": other})
        assert_refused(refused, f"'also' determines the {of}")


# --- the secret published -------------------------------------------------------------------------

HOUSEHOLDS = [(f"h{at % 4}", "cook" if at % 3 else "nurse", at % 7) for at in range(240)]
PEOPLE_AT_HOME = "household,job,age\n" + "".join(f"{h},{j},{a}\n" for h, j, a in HOUSEHOLDS)
JOINT = "secret,cook,nurse\nh0,40,20\nh1,40,20\nh2,40,20\nh3,40,20\n"


def joint_mechanism(run: Run) -> tuple[str, ...]:
    """A mechanism that knows the secrets of its joint, and not what column holds them."""
    design_it = ("design", "--joint", "j.csv", "--epsilon", "1", "-o", "j.json")
    made = run(*design_it, files={"j.csv": JOINT, "t.csv": PEOPLE_AT_HOME})
    assert made.code == 0, made
    return ("release", "j.json", "t.csv", "--column", "job", "-o", "safe.csv")


@pytest.mark.parametrize("written", ["household", " HH "])
def test_a_column_of_the_secrets_does_not_stay(run: Run, written: str) -> None:
    ask = joint_mechanism(run)
    table = "\n".join(
        line.replace("h", " H", 1) if written != "household" and at else line
        for at, line in enumerate(PEOPLE_AT_HOME.splitlines())
    )
    refused = run(*ask, files={"t.csv": table})
    assert_refused(
        refused,
        "the kept column 'household' has the values of the secret ('h0', 'h1', 'h2', 'h3') at",
        "(--drop household)",
        "(--keep household)",
    )
    assert not Path("safe.csv").exists()
    assert run(*ask, "--drop", "household").code == 0
    assert Path("safe.csv").read_text().splitlines()[0] == "job,age"
    assert run(*ask, "--keep", "household", "--force").code == 0
    assert Path("safe.csv").read_text().splitlines()[0] == "household,job,age"


def test_nearly_all_cells_are_enough(run: Run) -> None:
    ask = joint_mechanism(run)
    lines = PEOPLE_AT_HOME.splitlines()
    few = [line.replace("h", "new", 1) if 0 < at <= 24 else line for at, line in enumerate(lines)]
    refused = run(*ask, files={"t.csv": "\n".join(few)})
    assert_refused(refused, "'household' (in 216 of 240 cells) has the values of the secret")
    more = [line.replace("h", "new", 1) if 0 < at <= 25 else line for at, line in enumerate(lines)]
    assert run(*ask, files={"t.csv": "\n".join(more)}).code == 0


def test_a_harmless_column_of_the_same_values_is_asked_about(run: Run) -> None:
    """Values 0 and 1 say nothing of what a column is: whoever knows has to say it."""
    rows = [(at % 2, at // 2 % 2, "ab"[at // 4 % 2]) for at in range(400)]
    table = "hiv,smoker,x\n" + "".join(f"{h},{s},{x}\n" for h, s, x in rows)
    joint = "secret,a,b\n0,100,100\n1,100,100\n"
    assert (
        run(
            *("design", "--joint", "j.csv", "--epsilon", "1", "-o", "j.json"),
            files={"j.csv": joint, "t.csv": table},
        ).code
        == 0
    )
    ask = ("release", "j.json", "t.csv", "--column", "x", "-o", "safe.csv")
    assert_refused(run(*ask), "columns 'hiv', 'smoker' have", "--drop hiv --drop smoker")
    assert_refused(run(*ask, "--drop", "hiv"), "column 'smoker' has")
    assert_refused(run(*ask, "--drop", "hiv", "--keep", "hiv"), "both kept and dropped")
    done = run(*ask, "--drop", "hiv", "--keep", "smoker", "--check")
    assert done.code == 0, done
    assert 'in this table about "hiv": eps_lower 0, eps_upper 0' in done.out
    wide = "\n".join(line + f",{line[0]}" * 4 for line in table.splitlines()[1:])
    refused = run(*ask, "--force", files={"t.csv": f"hiv,smoker,x,a,b,c,d\n{wide}\n"})
    assert_refused(refused, "columns 'hiv', 'smoker', 'a', 'b', 'c', 'd' have", "(--drop NAME)")
    Path("t.csv").write_text(table)
    # A secret that is there under its name, with its values, is the one that goes.
    made = run(
        *("protect", "t.csv", "--column", "x", "--secret", "hiv", "--epsilon", "1"),
        *("-o", "first.csv"),
    )
    assert made.code == 0, made
    done = run("release", "first.mechanism.json", "t.csv", "-o", "second.csv")
    assert done.code == 0, done
    assert Path("second.csv").read_text().splitlines()[0] == "smoker,x"


@pytest.mark.parametrize("edit", ["removed", "another"])
def test_a_mechanism_whose_secret_was_edited(run: Run, edit: str) -> None:
    rows = [(f"h{at % 3}", "we"[at % 2], "ab"[at // 4 % 2]) for at in range(240)]
    table = "household,region,x\n" + "".join(f"{h},{r},{x}\n" for h, r, x in rows)
    made = run(
        *("protect", "t.csv", "--column", "x", "--secret", "household", "--epsilon", "1"),
        *("-o", "first.csv"),
        files={"t.csv": table},
    )
    assert made.code == 0, made
    data = json.loads(Path("first.mechanism.json").read_text())
    assert data["column"]["secret"] == "household"
    if edit == "removed":
        del data["column"]["secret"]
    else:
        data["column"]["secret"] = "region"
    Path("edited.json").write_text(json.dumps(data))
    ask = ("release", "edited.json", "t.csv", "-o", "safe.csv")
    assert_refused(run(*ask), "were changed")
    # Files of version 1 are not sealed.
    del data["fingerprint"]
    Path("edited.json").write_text(json.dumps({**data, "version": 1}))
    if edit == "removed":
        assert_refused(run(*ask), "the kept column 'household' has the values of the secret")
        return
    assert_refused(
        run(*ask),
        "the mechanism calls 'region' its secret, but only 0 of its 240 cells are a secret",
        "--drop region or --keep region",
    )
    said = run(*ask, "--drop", "region")
    assert_refused(said, "the kept column 'household' has the values of the secret")


def test_what_was_left_out_stays_out_and_is_sealed(run: Run) -> None:
    rows = [(at, "fm"[at % 2], "ab"[at // 4 % 2], at % 5) for at in range(240)]
    table = "id,sex,x,town\n" + "".join(f"{i},{s},{x},t{t}\n" for i, s, x, t in rows)
    made = run(
        *("protect", "t.csv", "--column", "x", "--secret", "sex", "--epsilon", "1"),
        *("--drop", "id", "-o", "first.csv"),
        files={"t.csv": table},
    )
    assert made.code == 0, made
    text = Path("first.mechanism.json").read_text()
    data = json.loads(text)
    assert data["dropped"] == ["id"]
    done = run("release", "first.mechanism.json", "t.csv", "-o", "second.csv", "--json")
    assert Path("second.csv").read_text().splitlines()[0] == "x,town"
    assert any("'id': left out" in note for note in json.loads(done.out)["notes"])
    kept = run("release", "first.mechanism.json", "t.csv", "-o", "third.csv", "--keep", "id")
    assert kept.code == 0, kept
    assert Path("third.csv").read_text().splitlines()[0] == "id,x,town"
    for changed in ({**data, "dropped": []}, {k: v for k, v in data.items() if k != "dropped"}):
        Path("edited.json").write_text(json.dumps(changed))
        assert_refused(run("release", "edited.json", "t.csv", "-o", "f.csv"), "were changed")
    for wrong in ("id", [1], {"id": 1}):
        Path("edited.json").write_text(json.dumps({**data, "dropped": wrong}))
        assert_refused(run("release", "edited.json", "t.csv", "-o", "f.csv"), "list of names")


# --- rows with priors of their own ----------------------------------------------------------------

PEOPLE = "x,p_no,p_yes,eps,k\n" + "no,0.9,0.1,0.5,1\nyes,0.25,0.75,2,1\nno,0.5,0.5,2,2\n" * 40
OWN = ("release", "u.json", "t.csv", "--local-priors", "p_")


def users(method: str, budgets: tuple[str, ...] = ()) -> Mechanism:
    """Return a mechanism of users, made without any table."""
    return lock_users(["no", "yes"], LIP("2"), method, budgets)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("method", ["arc", "safe-response"])
def test_rows_with_priors_of_their_own(run: Run, method: str, kind: str) -> None:
    users(method, ("0.5", "2")).save("u.json")
    own = (*OWN, "--local-budgets", "eps", "--column", "x", "-o", f"safe.{kind}", "--json")
    if kind == "parquet":
        table = arrow_csv.read_csv(io.BytesIO(PEOPLE.encode()))
        pq.write_table(table, "t.parquet", row_group_size=50)
        own = (*own[:2], "t.parquet", *own[3:])
    done = run(*own, files={"t.csv": PEOPLE})
    assert done.code == 0, done
    read = pq.read_table if kind == "parquet" else arrow_csv.read_csv
    safe = read(f"safe.{kind}")
    assert safe.column_names == ["x", "eps", "k"]
    assert safe.column("k").to_pylist() == [1, 1, 2] * 40
    reports = safe.column("x").to_pylist()
    assert all(isinstance(y, int) if method == "arc" else y in ("no", "yes") for y in reports)
    data = json.loads(done.out)
    assert (data["format"], data["rows"], data["counts"]) == ("liftlock.release", 120, None)
    assert "'p_no', 'p_yes': left out" in data["notes"][0]
    priors = ("--local-priors", "p_", "--local-budgets", "eps", "--priors-from", own[2])
    found = run("estimate", "u.json", f"safe.{kind}", "--column", "x", *priors, "--json")
    assert found.code == 0, found
    assert json.loads(found.out)["reports"] == 120


def test_each_row_is_released_under_its_own_prior(run: Run) -> None:
    """False-alarm rate below 1e-8: 4 exp(-2 n d^2), Hoeffding's bound for n = 20,000 rows each.

    Reports of the safe response are distributed as the prior is, so that the probability of
    reporting one's own value is what a report of it makes one believe, prior by prior.
    """
    made = lock_users(["no", "yes"], LIP("ln 2"), "safe-response")
    made.save("u.json")
    assert isinstance(made.channel, UserChannel)
    table = "x,p_no,p_yes,k\n" + "no,0.25,0.75,1\n" * 20_000 + "no,0.5,0.5,2\n" * 20_000
    assert run(*OWN, "--column", "x", "-o", "safe.csv", files={"t.csv": table}).code == 0
    found, kind = cells("safe.csv", "x"), cells("safe.csv", "k")
    for k, prior in (("1", 0.25), ("2", 0.5)):
        seen = [x for x, of in zip(found, kind, strict=True) if of == k]
        whose = PerUserPriors.of(["no", "yes"], [[prior, 1 - prior]])
        kept = user_posteriors(made.channel, whose, np.array([0]))[0, 0]
        assert abs(seen.count("no") / 20_000 - kept) < 0.0222


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "name their columns, --local-priors"),
        (("--local-priors", "q_"), "no such column at t.csv, line 1: 'q_no'"),
        (("--local-priors", "p_", "--unseen", "map"), "leave out --unseen"),
        (("--local-priors", "p_", "--profile-column", "k"), "knows no profiles"),
        (("--local-priors", "p_", "--local-budgets", "e"), "no such column at t.csv, line 1: 'e'"),
        (("--local-priors", "p_", "--local-budgets", "k"), "budget"),
        (("--local-priors", "p_"), "the users have no budgets"),
    ],
)
def test_bad_requests_of_users(run: Run, options: tuple[str, ...], said: str) -> None:
    users("arc", ("0.5", "2")).save("u.json")
    ask = ("release", "u.json", "t.csv", "--column", "x", "-o", "safe.csv")
    assert_refused(run(*ask, *options, files={"t.csv": PEOPLE}), said)


def test_bad_rows_of_users(run: Run, plain: Mechanism) -> None:
    users("arc").save("u.json")
    ask = (*OWN, "--column", "x", "--drop", "k", "-o", "safe.csv")
    for old, new, said in (
        ("no,0.9,0.1", "yes,1,0", "probability 0 in the user's prior"),
        ("no,0.9,0.1", "no,0.9,0.2", "are not a prior"),
        ("no,0.9,0.1", "maybe,0.9,0.1", "not an input of the mechanism"),
        ("no,0.9,0.1", "no,much,0.1", "not a number"),
    ):
        table = {"t.csv": PEOPLE.replace(old, new)}
        assert_refused(run(*ask, files=table), said, "t.csv, line 2")
    other = run("release", "m.json", "t.csv", "--local-priors", "p_", "-o", "s.csv")
    assert_refused(other, "the mechanism has one prior for all: leave out --local-priors")


def test_a_release_of_users_is_recorded(run: Run) -> None:
    users("arc").save("u.json")
    ask = (*OWN, "--column", "x", "--ledger", "l.json", "--who", "staff", "--limit", "lip=3")
    assert run(*ask, "-o", "safe.csv", files={"t.csv": PEOPLE}).code == 0
    assert_refused(run(*ask, "-o", "more.csv"), "could exceed lip(3)", code=1)


def test_a_column_of_one_value_is_a_copy_too(run: Run, plain: Mechanism) -> None:
    assert_refused(
        run(*COMMAND, files={"t.csv": "x,y\na,A\na,a\n"}), "'y' determines the protected"
    )
    assert run(*COMMAND, "--keep", "y").code == 0


# --- the joint of tonight -------------------------------------------------------------------------


def night(run: Run, positive: str) -> tuple[str, ...]:
    """A mechanism for one table, and another whose positive cases are in another department."""
    first = ["yes,a", "yes,b", "no,a", "no,b", "no,b"] * 200
    moved = [f"yes,{positive}"] * 350 + ["yes,b"] * 50 + ["no,a", "no,b", "no,b"] * 200
    files = {
        "first.csv": "hiv,dept\n" + "\n".join(first),
        "t.csv": "hiv,dept\n" + "\n".join(moved),
    }
    ask = ("protect", "first.csv", "--column", "dept", "--secret", "hiv", "--epsilon", "0.3")
    made = run(*ask, "-o", "p.csv", "--mechanism", "m.json", files=files)
    assert made.code == 0, made
    return ("release", "m.json", "t.csv", "-o", "safe.csv")


def test_a_joint_that_moved_is_said_and_refused_when_asked(run: Run) -> None:
    ask = night(run, "a")
    refused = run(*ask, "--check")
    assert_refused(
        refused,
        "refused: about 'hiv': lip(epsilon=0.3) does not hold",
        "in this table of 1,000 rows, more than chance explains: of the people",
        "nothing was released",
        code=1,
    )
    done = run(*ask, "--json")
    assert done.code == 0
    (leak,) = json.loads(done.out)["in_table"]
    rows = [row.split(",") for row in Path("t.csv").read_text().splitlines()[1:]]
    law = law_of_file(json.loads(Path("m.json").read_text()))
    expected = row_lifts(
        [{"hiv": hiv, "dept": dept} for hiv, dept in rows], "hiv", [], lambda row: law(row["dept"])
    ).released
    assert leak["eps_lower"] == pytest.approx(expected.eps_lower, rel=1e-12)
    assert leak["eps_upper"] == pytest.approx(expected.eps_upper, rel=1e-12)
    assert (leak["secret"], leak["holds"], leak["more_than_chance"]) == ("hiv", False, True)
    assert 0.3 < leak["at_least"]["eps_upper"] < leak["eps_upper"]
    words = run(*ask, "--force")
    said = " ".join(words.out.split())
    assert 'in this table about "hiv": eps_lower' in said
    assert "nats: MORE than promised more than chance explains: of the people" in said
    assert "WARNING: the joint is no longer what lip(epsilon=0.3) about hiv was" in words.err


def test_a_table_like_the_first_passes(run: Run) -> None:
    ask = night(run, "a")
    same = (*ask[:2], "first.csv", *ask[3:])
    done = run(*same, "--check")
    assert done.code == 0, done
    assert "nats, within the promise" in done.out
    assert "WARNING" not in done.err
    kept = run(*same, "--keep", "hiv", "--check", "--force")
    assert kept.code == 0, kept


def test_without_the_secret_nothing_can_be_checked(run: Run) -> None:
    ask = night(run, "a")
    table = "\n".join(row.split(",")[1] for row in Path("t.csv").read_text().splitlines())
    assert_refused(
        run(*ask, "--check", files={"t.csv": table}),
        "cannot be checked: \"the table does not say what the secret 'hiv' of each row is",
        "leave out --check",
    )
    done = run(*ask)
    assert done.code == 0, done
    assert "whether its joint is still that of the promise was not checked" in done.err


def test_the_secret_that_was_named_by_drop_is_counted(run: Run) -> None:
    ask = joint_mechanism(run)
    done = run(*ask, "--drop", "household", "--check")
    assert done.code == 0, done
    assert 'in this table about "household": eps_lower 0, eps_upper 0 nats' in done.out


def test_values_nobody_promised_anything_about(run: Run) -> None:
    ask = night(run, "a")
    table = Path("first.csv").read_text() + "\nperhaps,b\n,a\n"
    done = run(*ask, files={"t.csv": table})
    assert done.code == 0, done
    assert (
        "note: 2 rows with values of 'hiv' that the promise does not know ('perhaps', '(missing)')"
        in done.err
    )
    refused = run(*ask, "--force", files={"t.csv": table + "yes,elsewhere\n"})
    assert_refused(refused, "the value is not an input of the mechanism at t.csv, line 1004")


def test_a_table_without_rows_leaks_nothing(run: Run) -> None:
    ask = night(run, "a")
    done = run(*ask, "--check", files={"t.csv": "hiv,dept\n"})
    assert done.code == 0, done
    assert Path("safe.csv").read_text() == "dept\n"


def test_a_table_that_changes_while_it_is_released_is_not(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = night(run, "a")
    from liftlock.tables.releases import ColumnRelease

    arrays = ColumnRelease.arrays

    def change(self: ColumnRelease, batch: pa.RecordBatch) -> list[pa.Array]:
        with Path("t.csv").open("a") as stream:
            stream.write("\nno,b")
        return arrays(self, batch)

    monkeypatch.setattr(ColumnRelease, "arrays", change)
    refused = run(*ask)
    assert_refused(refused, "the table changed while it was being released at t.csv")
    assert not Path("safe.csv").exists()


def test_people_with_one_report_in_common_are_counted_once(run: Run) -> None:
    """What a person's rows tell together is what one row of the person tells."""
    people = [(f"u{at}", "yn"[at % 3 > 0], "ab"[at // 3 % 2]) for at in range(300)]
    table = "user,hiv,x\n" + "".join(
        f"{user},{hiv},{x}\n" * (1 + at % 4) for at, (user, hiv, x) in enumerate(people)
    )
    made = run(
        *("protect", "t.csv", "--column", "x", "--secret", "hiv", "--epsilon", "0.5"),
        *("--person", "user", "--per-person", "repeat", "-o", "p.csv", "--mechanism", "m.json"),
        files={"t.csv": table},
    )
    assert made.code == 0, made
    moved = "user,hiv,x\n" + "".join(
        f"{user},{hiv},{'a' if hiv == 'y' else x}\n" * (1 + at % 4)
        for at, (user, hiv, x) in enumerate(people)
    )
    done = run("release", "m.json", "t.csv", "-o", "safe.csv", "--json", files={"t.csv": moved})
    assert done.code == 0, done
    (leak,) = json.loads(done.out)["in_table"]
    law = law_of_file(json.loads(Path("m.json").read_text()))
    rows = [{"hiv": hiv, "x": "a" if hiv == "y" else x} for _, hiv, x in people]
    expected = row_lifts(rows, "hiv", [], lambda row: law(row["x"])).released
    assert leak["rows"] == 300
    assert leak["eps_upper"] == pytest.approx(expected.eps_upper, rel=1e-12)


def test_two_releases_of_divided_rows_tell_twice_what_a_person_is_promised(run: Run) -> None:
    people = [(f"u{at}", "yn"[at % 3 > 0], "ab"[at // 3 % 2]) for at in range(200)]
    table = "user,hiv,x\n" + "".join(f"{','.join(each)}\n" * 2 for each in people)
    made = run(
        *("protect", "t.csv", "--column", "x", "--secret", "hiv", "--epsilon", "0.5"),
        *("--person", "user", "--per-person", "divide", "-o", "p.csv", "--mechanism", "m.json"),
        files={"t.csv": table},
    )
    assert made.code == 0, made
    note = " ".join(run("release", "m.json", "t.csv", "-o", "safe.csv").err.split())
    assert "two tell up to 1 nats (ldp) of all rows of one 'user', one 0.5" in note
    assert "--ledger" not in note


def test_a_kept_column_that_tells_more_than_is_promised_is_named(run: Run) -> None:
    """A copy with a few mistakes is no copy, and tells nearly all."""
    rows = [("yn"[at % 3 > 0], "ab"[at // 3 % 2], "pqr"[at // 6 % 3]) for at in range(900)]
    told = [("ny"[hiv == "y"] if at % 50 else "y").upper() for at, (hiv, _, _) in enumerate(rows)]
    table = "hiv,x,other,old\n" + "".join(
        f"{hiv},{x},{other},{old}\n" for (hiv, x, other), old in zip(rows, told, strict=True)
    )
    ask = ("protect", "t.csv", "--column", "x", "--secret", "hiv", "--epsilon", "0.5")
    made = run(*ask, "-o", "p.csv", "--mechanism", "m.json", files={"t.csv": table})
    assert made.code == 0, made
    done = run("release", "m.json", "t.csv", "-o", "safe.csv")
    assert done.code == 0, done
    (line,) = [each for each in done.err.splitlines() if "tells more about" in each]
    assert line.startswith("note: 'old' stays, and alone tells more about 'hiv' than is promised")
    assert line.endswith("(--drop old)")
