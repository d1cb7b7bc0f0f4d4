"""Bad input of every kind: one line on standard error with place, value and remedy; exit code 2.

Each case names what the line must contain. Nothing is printed, and no file is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import liftlock._runtime.storage
import liftlock.files.sheet
from tests.unit.cli.conftest import Outcome, Run


def assert_refused(outcome: Outcome, *parts: str) -> None:
    assert outcome.code == 2, outcome
    assert outcome.out == ""
    assert outcome.made == frozenset()
    assert outcome.err.endswith("\n")
    (line,) = outcome.err.splitlines()
    assert line.startswith("liftlock: ")
    for part in parts:
        assert part in line, line
    message, _, remedy = line.rpartition("; ")
    assert message, line
    assert len(remedy) > 5, line


def case(name: str, content: str | bytes, *parts: str, **more: Any) -> Any:
    return pytest.param(content, parts, more, id=name)


def rows(cell: str) -> str:
    return f'input,a,b\nx,"{cell}",0.5\ny,0.25,0.75\n'


PLACE = "channel.csv, line 2, column 2 ('a')"
LIKE = "write it like 0.7, 7/10, 1e-3 or 70%"

CHANNELS = [
    case("empty", "", "empty file at channel.csv", "right file"),
    case("blank", "\n \n\t\n", "empty file at channel.csv"),
    case("only_a_bom", b"\xef\xbb\xbf", "empty file at channel.csv"),
    case("empty_cells", ",,\n,,\n", "only empty cells at channel.csv", "right file"),
    case(
        "header_only", "input,a,b\n", "no rows below the header at channel.csv, line 1", "input,a"
    ),
    case("header_only_late", "\n\ninput,a,b\n\n", "no rows", "channel.csv, line 3"),
    case("no_header", "x,0.4,0.6\ny,0.25,0.75\n", "'x' only in context.csv", "must be a header"),
    case(
        "no_header_equal",
        "x,0.5,0.5\ny,0.25,0.75\n",
        "column name given twice at channel.csv, line 1, columns 2 and 3: '0.5'",
        "the first line is a header",
    ),
    case("one_column", "input\nx\n", "only one column at channel.csv, line 1: 'input'", "commas"),
    case(
        "semicolons",
        "input;a;b\nx;0.5;0.5\n",
        "cells separated by semicolons at channel.csv, line 1: 'input;a;b'",
        "separate them by commas",
    ),
    case("semicolons_and_decimal_commas", "input;a;b\nx;0,5;0,5\n", "semicolons", "line 1"),
    case("tabs", "input\ta\tb\nx\t0.5\t0.5\n", "separated by tabs at channel.csv, line 1"),
    case("bars", "input|a|b\nx|0.5|0.5\n", "separated by bars at channel.csv, line 1"),
    case("spaces", "input a b\nx 0.5 0.5\n", "only one column", "'input a b'", "commas"),
    case(
        "late_tabs",
        "input,a\nx\t1\n",
        "1 cell, but the header has 2 at channel.csv, line 2: 'x\\t1'",
        "separate cells by commas: it has tabs",
    ),
    case(
        "decimal_commas",
        "input,a,b\nx,0,5,0,5\n",
        "5 cells, but the header has 3 at channel.csv, line 2: 'x,0,5,0,5'",
        "a point before decimals",
    ),
    case("ragged_short", "input,a,b\nx,0.5,0.5\ny,1\n", "2 cells", "channel.csv, line 3: 'y,1'"),
    case("ragged_long", "input,a,b\nx,0.5,0.5,0\n", "4 cells", "channel.csv, line 2"),
    case("ragged_after_newline_in_label", 'input,a\n"x\ny",1\nz\n', "channel.csv, line 4: 'z'"),
    case(
        "open_quote", 'input,a,b\n"x,0.5,0.5\n', "not valid CSV at channel.csv, line 2", "quotation"
    ),
    case("text_after_quote", 'input,a\n"x"y,1\n', "not valid CSV at channel.csv, line 2"),
    case("huge_cell", f"input,a\n{'x' * 200_000},1\n", "not valid CSV", "line 2", "field larger"),
    case("column_without_name", "input,a,\nx,1,0\n", "column without a name", "line 1, column 3"),
    case("row_without_label", "input,a\n,1\n", "row without a label at channel.csv, line 2: ',1'"),
    case(
        "label_twice",
        "input,a,b\nx,0.5,0.5\ny,1,0\nx,0.25,0.75\n",
        "label given twice at channel.csv, lines 2 and 4: 'x'",
        "different from one another",
    ),
    case("label_twice_after_strip", "input,a\nx,1\n x ,1\n", "twice", "lines 2 and 3: 'x'"),
    case("output_twice", "input,a,b,a\nx,1,0,0\n", "columns 2 and 4: 'a'", "channel.csv, line 1"),
    case("png", b"\x89PNG\r\n\x1a\n\0\0\0", "not a text file at channel.csv, byte 9", "UTF-8"),
    case("null_byte_late", b"input,a\nx,1\n" * 900 + b"\0", "not a text file", "byte 10801"),
    case("utf16", "input,a\nx,1\n".encode("utf-16"), "UTF-16 text at channel.csv", "as UTF-8"),
    case(
        "latin1",
        "input,a\né,1\n".encode("latin-1"),
        "not UTF-8 at channel.csv, line 2, byte 9: b'\\xe9'",
        "save the file as UTF-8",
    ),
    case("nan", rows("NaN"), "probability is not finite", PLACE, "'NaN'", "finite number"),
    case("inf", rows("inf"), "not finite", PLACE, "'inf'"),
    case("minus_infinity", rows("-Infinity"), "not finite", PLACE, "'-Infinity'"),
    case("nan_percent", rows("nan%"), "not finite", PLACE),
    case("negative", rows("-0.1"), "negative", PLACE, "'-0.1'", "0 or more"),
    case("negative_percent", rows("-10%"), "negative", PLACE, "'-10%'"),
    case("1e999", rows("1e999"), "exponent beyond 400", PLACE, "'1e999'"),
    case("1e-999", rows("1e-999"), "exponent beyond 400", PLACE, "'1e-999'"),
    case("endless_exponent", rows("1e" + "9" * 90), "exponent beyond 400", PLACE),
    case("1e400", rows("1e400"), "does not sum to 1", "line 2, input 'x'", "more than 1e308"),
    case("1e-400", rows("1e-400"), "does not sum to 1", "line 2, input 'x': 0.5"),
    case("text", rows("half"), "probability is not a number", PLACE, "'half'", LIKE),
    case("decimal_comma", rows("0,5"), "not a number", PLACE, "'0,5'", "not a comma"),
    case("missing", rows(""), "probability is missing", PLACE, "write 0"),
    case("hexadecimal", rows("0x1"), "not a number", PLACE, "'0x1'", LIKE),
    case("two_points", rows("0.5.0"), "not a number", PLACE, LIKE),
    case("two_signs", rows("--1"), "not a number", PLACE, LIKE),
    case("half_character", rows("½"), "not a number", PLACE, "'½'", LIKE),
    case("division_by_zero", rows("1/0"), "not a number", PLACE, "'1/0'", LIKE),
    case("decimal_fraction", rows("0.1/3"), "not a number", PLACE, LIKE),
    case("only_percent", rows("%"), "not a number", PLACE, LIKE),
    case("only_point", rows("."), "not a number", PLACE, LIKE),
    case("5000_digits", rows("1" * 5000), "5,000 characters", PLACE, "shorten"),
    case("long_fraction", rows("1/" + "3" * 9000), "9,002 characters", PLACE, "shorten"),
    case(
        "sum_above_1",
        "input,a,b\nx,0.5,0.6\ny,0.25,0.75\n",
        "row does not sum to 1 at channel.csv, line 2, input 'x': 1.1",
        "within 1e-9 they are normalised",
    ),
    case("sum_above_1e-9", "input,a,b\nx,0.5,0.500000002\n", "line 2, input 'x': 1.000000002"),
    case("sum_below_1e-9", "input,a,b\nx,0.5,0.499999998\n", "line 2, input 'x': 0.999999998"),
    case("sum_of_second_row", "input,a,b\nx,0.5,0.5\ny,0,0\n", "line 3, input 'y': 0.0"),
    case("percentages", "input,a,b\nx,50,50\ny,25,75\n", "line 2, input 'x': 100.0", "like 70%"),
    case("counts", "input,a,b\nx,5,3\ny,2,2\n", "input 'x': 8.0", "(--normalise"),
    case(
        "transposed",
        "output,x,y\na,0.5,0.25\nb,0.5,0.75\n",
        "channel.csv, line 2, input 'a': 0.75",
        "transpose the table",
    ),
]


@pytest.mark.parametrize(("content", "parts", "more"), CHANNELS)
def test_channel(
    audited: Run, content: str | bytes, parts: tuple[str, ...], more: dict[str, Any]
) -> None:
    assert_refused(audited(channel=content, **more), *parts)


ALL_PRIORS = [
    case("empty", "", "empty file at context.csv"),
    case("header_only", "label,count\n", "no rows below the header at context.csv, line 1"),
    case("no_header", "x,1\ny,3\n", "header is not label,count", "context.csv, line 1: 'x,1'"),
    case("wrong_header", "label,n\nx,1\ny,3\n", "line 1: 'label,n'", "first line"),
    case("turned_header", "count,label\n1,x\n3,y\n", "line 1: 'count,label'"),
    case("three_columns", "label,count,probability\nx,1,1\n", "'label,count,probability'"),
    case("semicolons", "label;count\nx;1\n", "semicolons at context.csv, line 1"),
    case("label_twice", "label,count\nx,1\ny,2\nx,3\n", "context.csv, lines 2 and 4: 'x'"),
    case("no_label", "label,count\n,1\n", "row without a label at context.csv, line 2"),
    case("negative", "label,count\nx,-1\ny,3\n", "count is negative", "line 2", "'-1'"),
    case("nan", "label,count\nx,nan\ny,3\n", "count is not finite", "line 2, column 2", "'nan'"),
    case("text", "label,count\nx,one\ny,3\n", "count is not a number", "line 2", "'one'"),
    case("thousands", 'label,count\nx,"1,000"\ny,3\n', "not a number", "line 2", "not a comma"),
    case("missing", "label,count\nx,\ny,3\n", "count is missing", "line 2"),
    case("all_zero", "label,count\nx,0\ny,0\n", "all counts are 0 at context.csv"),
    case(
        "sum", "label,probability\nx,0.2\ny,0.7\n", "do not sum to 1 at context.csv: 0.9", "counts"
    ),
    case("sum_percent", "label,probability\nx,25\ny,75\n", "context.csv: 100.0", "like 70%"),
    case("huge_sum", "label,probability\nx,1e400\ny,1\n", "more than 1e308"),
    case(
        "zero",
        "label,count\nx,4\ny,0\n",
        "probability 0 to an input that the channel accepts",
        "context.csv, line 3: 'y'",
        "--smooth 1",
        "--impossible ignore",
    ),
    case("zero_probability", "label,probability\nx,1\ny,0\n", "context.csv, line 3: 'y'"),
    case("missing_label", "label,count\nx,1\n", "'y' only in channel.csv", "same inputs"),
    case("extra_label", "label,count\nx,1\ny,1\nz,1\n", "'z' only in context.csv", "same inputs"),
    case(
        "other_labels",
        "label,count\nx,1\nz,1\nw,1\n",
        "inputs of channel.csv and context.csv do not match",
        "'y' only in channel.csv, 'z', 'w' only in context.csv",
    ),
    case(
        "many_labels",
        "label,count\nx,1\ny,1\n" + "".join(f"z{i},1\n" for i in range(9)),
        "'z0', 'z1', 'z2', 'z3', 'z4' and 4 more only in context.csv",
    ),
    case("outputs", "label,count\na,1\nb,1\n", "transpose channel.csv"),
    case("case_matters", "label,count\nX,1\ny,1\n", "'x' only in channel.csv, 'X' only in"),
]


@pytest.mark.parametrize(("content", "parts", "more"), ALL_PRIORS)
def test_prior(
    audited: Run, content: str | bytes, parts: tuple[str, ...], more: dict[str, Any]
) -> None:
    assert_refused(audited(context=content, **more), *parts)


JSON_PRIORS = [
    case("list", "[1, 2]", "JSON does not hold a prior at c.json", '{"counts": {"label": 7}}'),
    case("other_keys", '{"x": [1]}', "JSON does not hold a prior at c.json"),
    case("no_keys", "{}", "JSON does not hold a prior at c.json"),
    case("bare_label", '{"x": 1}', "'y' only in channel.csv"),
    case("bare_text", '{"x": 1, "y": "many"}', "number of 'y' is not a number at c.json: 'many'"),
    case("bare_sum", '{"x": 0.5, "y": 0.4}', "do not sum to 1 at c.json: 0.9"),
    case("lists", '{"labels": ["x", "y"], "counts": [1]}', "JSON does not hold a prior at c.json"),
    case(
        "truncated",
        '{"counts": {"x": 1,',
        "not valid JSON at c.json, line 1, column 20",
        "complete",
    ),
    case("truncated_line", '{"counts":\n {"x": 1, "y"', "c.json, line 2, column 14"),
    case("no_json", "label,count\nx,1\n", "not valid JSON at c.json, line 1, column 1"),
    case("two_values", "{} {}", "not valid JSON at c.json, line 1, column 4", "Extra data"),
    case("label_twice", '{"counts": {"x": 1, "x": 5}}', "key given twice at c.json: 'x'"),
    case("negative", '{"counts": {"x": -1, "y": 3}}', "c.json, label 'x': -1", "0 or more"),
    case("null", '{"counts": {"x": null, "y": 3}}', "count of 'x' is of type NoneType at c.json"),
    case("list_count", '{"counts": {"x": [1], "y": 3}}', "count of 'x' is of type list at c.json"),
    case("truth", '{"counts": {"x": true, "y": 3}}', "count of 'x' is a boolean at c.json"),
    case("text", '{"counts": {"x": "one", "y": 3}}', "count of 'x' is not a number", "'one'"),
    case("nan", '{"counts": {"x": NaN, "y": 3}}', "not finite at c.json: 'NaN'"),
    case("infinity", '{"counts": {"x": -Infinity, "y": 3}}', "not finite at c.json: '-Infinity'"),
    case("huge", '{"counts": {"x": 1e999, "y": 3}}', "exponent beyond 400 at c.json"),
    case("long", f'{{"counts": {{"x": {"7" * 900}, "y": 3}}}}', "number of 900 digits at c.json"),
    case("deep", "[" * 200_000, "nested too deeply at c.json", "right file"),
    case("half_character", r'{"counts": {"\ud83d": 1}}', "half of a character at c.json", "ud83d"),
    case("no_labels", '{"counts": {}}', "the alphabet has no symbols at c.json"),
    case("sum", '{"probabilities": {"x": 0.5, "y": 0.4}}', "do not sum to 1 at c.json: 0.9"),
    case("sum_text", '{"probabilities": {"x": "50%", "y": "x"}}', "probability of 'y'", "c.json"),
    case(
        "kind",
        '{"kind": "guess"}',
        "unknown kind of context at c.json: 'guess'",
        "prior, joint, family",
    ),
    case("kind_list", '{"kind": ["prior"]}', "unknown kind of context at c.json"),
    case(
        "kind_joint",
        '{"kind": "joint", "secrets": ["s"], "inputs": ["x", "y"], "counts": [[1, 2]]}',
        "not a prior at c.json: 'joint'",
        "--joint",
    ),
    case(
        "short", '{"kind": "prior", "labels": ["x", "y"], "counts": [1]}', "1 counts for 2 labels"
    ),
    case("no_list", '{"kind": "prior", "labels": "xy", "counts": [1, 1]}', "labels", "c.json"),
    case(
        "fraction", '{"kind": "prior", "labels": ["x", "y"], "counts": [0.5, 1]}', "c.json: '1/2'"
    ),
    case(
        "other_labels",
        '{"counts": {"x": 1, "z": 1}}',
        "'y' only in channel.csv, 'z' only in c.json",
    ),
    case("zero", '{"counts": {"x": 1, "y": 0}}', "probability 0", "c.json: 'y'"),
]


@pytest.mark.parametrize(("content", "parts", "more"), JSON_PRIORS)
def test_prior_in_json(
    audited: Run, content: str | bytes, parts: tuple[str, ...], more: dict[str, Any]
) -> None:
    assert_refused(audited(context=content, context_name="c.json", **more), *parts)


JOINTS = [
    case(
        "negative", "s,x,y\nu,1,-2\nv,3,4\n", "count is negative", "line 2, column 3 ('y')", "'-2'"
    ),
    case("all_zero", "s,x,y\nu,0,0\nv,0,0\n", "all counts are 0 at context.csv"),
    case(
        "zero_column",
        "s,x,y\nu,0,2\nv,0,4\n",
        "probability 0 to an input",
        "context.csv, line 1, column 2 ('x'): 'x'",
        "--impossible ignore",
    ),
    case(
        "transposed",
        "input,u,v\nx,1,2\ny,3,4\n",
        "'x', 'y' only in channel.csv, 'u', 'v' only in context.csv",
        "transpose context.csv: rows must be secrets",
    ),
    case("other_inputs", "s,x,z\nu,1,2\n", "'y' only in channel.csv, 'z' only in context.csv"),
    case("secret_twice", "s,x,y\nu,1,2\nu,1,2\n", "context.csv, lines 2 and 3: 'u'"),
    case("input_twice", "s,x,x\nu,1,2\n", "context.csv, line 1, columns 2 and 3: 'x'"),
    case("prior", "label,count\nx,1\ny,2\n", "a joint with only one input", "--prior"),
    case(
        "json_prior", '{"kind": "prior", "labels": ["x"], "counts": [1]}', "not a joint", "--prior"
    ),
    case(
        "json_rows", '{"kind": "joint", "secrets": ["u"], "inputs": ["x"], "counts": 3}', "counts"
    ),
    case(
        "json_row", '{"kind": "joint", "secrets": ["u"], "inputs": ["x"], "counts": [3]}', "counts"
    ),
]


@pytest.mark.parametrize(("content", "parts", "more"), JOINTS)
def test_joint(
    audited: Run, content: str | bytes, parts: tuple[str, ...], more: dict[str, Any]
) -> None:
    assert_refused(audited(context=content, option="--joint", **more), *parts)


FAMILIES = [
    case("interval", "label,lower,upper\nx,0.3,0.2\ny,0,1\n", "empty interval", "label 'x'"),
    case("no_prior_fits", "label,lower,upper\nx,0,0.2\ny,0,0.3\n", "no prior fits", "context.csv"),
    case(
        "interval_above_1", "label,lower,upper\nx,0,1.2\ny,0,1\n", "outside 0 to 1", "context.csv"
    ),
    case("sum", "label,p,q\nx,0.5,1\ny,0.4,1\n", "probabilities of 'p' do not sum to 1", ": 0.9"),
    case("zero_member", "label,p,q\nx,1,0\ny,1,0\n", "all counts are 0", "column 'q'"),
    case("zero_for_all", "label,p,q\nx,1,2\ny,0,0\n", "probability 0", "context.csv, line 3: 'y'"),
    case("other_labels", "label,p,q\nx,1,1\nz,1,1\n", "'y' only in channel.csv"),
    case(
        "json_joint",
        '{"kind": "joint", "secrets": ["u"], "inputs": ["x", "y"], "counts": [[1, 2]]}',
        "not a set of priors at context.csv",
        "--joint",
    ),
    case("json_ball", '{"kind": "ball", "centre": 3, "radius": "0.1"}', "context.csv"),
    case("json_family", '{"kind": "family", "priors": [3]}', "context.csv"),
    case("json_intervals", '{"kind": "intervals", "labels": ["x", "y"], "lower": [0]}', "lower"),
    case(
        "json_empty", '{"kind": "family", "priors": []}', "a family without priors at context.csv"
    ),
]


@pytest.mark.parametrize(("content", "parts", "more"), FAMILIES)
def test_family(
    audited: Run, content: str | bytes, parts: tuple[str, ...], more: dict[str, Any]
) -> None:
    assert_refused(audited(context=content, option="--family", **more), *parts)


CHANNEL_FILES = [
    case("list", "[]", "not a liftlock file at channel.csv"),
    case("no_format", "{}", "not a liftlock file at channel.csv", "expected an object of format"),
    case("other_format", '{"format": "other"}', "another file format at channel.csv: 'other'"),
    case("no_version", '{"format": "liftlock.channel"}', "unknown version", "channel.csv"),
    case("new_version", '{"format": "liftlock.channel", "version": 2}', "unknown version", ": 2"),
    case("no_labels", '{"format": "liftlock.channel", "version": 1}', "labels", "channel.csv"),
    case("mechanism", '{"format": "liftlock.mechanism", "version": 9}', "unknown version", ": 9"),
    case("empty_mechanism", '{"format": "liftlock.mechanism", "version": 1}', "channel.csv"),
    case(
        "weights",
        '{"format": "liftlock.channel", "version": 1, "inputs": ["x", "y"], "outputs": ["a"], '
        '"bits": 2, "weights": [[4], [3]]}',
        "weights do not sum to the total of the row at channel.csv, input 'y'",
    ),
    case(
        "ragged",
        '{"format": "liftlock.channel", "version": 1, "inputs": ["x", "y"], "outputs": ["a"], '
        '"bits": 2, "weights": [[4], [2, 2]]}',
        "2 weights for 1 outputs at channel.csv, input 'y'",
    ),
    case(
        "negative",
        '{"format": "liftlock.channel", "version": 1, "inputs": ["x"], "outputs": ["a", "b"], '
        '"bits": 2, "weights": [[5, -1]]}',
        "negative weight at channel.csv, input 'x', output 'b': -1",
    ),
]


@pytest.mark.parametrize(("content", "parts", "more"), CHANNEL_FILES)
def test_channel_in_json(
    audited: Run, content: str | bytes, parts: tuple[str, ...], more: dict[str, Any]
) -> None:
    assert_refused(audited(channel=content, **more), *parts)


ARGUMENTS = [
    (["--alpha", "0"], ["alpha is not positive: '0'"]),
    (["--alpha", "-1"], ["alpha is not positive: '-1'"]),
    (["--alpha", "nan"], ["alpha is not finite: 'nan'"]),
    (["--alpha", "two"], ["alpha is not a number: 'two'", LIKE]),
    (["--at-epsilon", "-1"], ["--at-epsilon is negative: '-1'", "0 or more"]),
    (["--at-epsilon", "nan"], ["--at-epsilon is not finite: 'nan'"]),
    (["--at-epsilon", "inf"], ["--at-epsilon is not finite: 'inf'"]),
    (["--at-epsilon", "ln 0.5"], ["logarithm of a number below 1: '1/2'"]),
    (["--check", "lip"], ["the claim has no value: 'lip'", "lip=1"]),
    (["--check", "lip="], ["the claim has no value: 'lip='"]),
    (["--check", ""], ["the claim has no value: ''"]),
    (["--check", "privacy=1"], ["unknown notion: 'privacy'", "use one of lip, alip"]),
    (["--check", "lip=1,2"], ["lip takes 1 value: 'lip=1,2'", "lip=EPSILON"]),
    (["--check", "alip=1"], ["alip takes 2 values: 'alip=1'", "alip=LOWER,UPPER"]),
    (["--check", "lip=-1"], ["negative: '-1'"]),
    (["--check", "lip=nan"], ["not finite: 'nan'"]),
    (["--check", "sibson=0.5"], ["sibson takes 2 values", "sibson=ALPHA,BUDGET"]),
    (["--check", "delta_ediv=0.1"], ["a delta without an epsilon", "--at-epsilon"]),
    (["--check", "ldp=1", "--check", "nothing=1"], ["unknown notion: 'nothing'"]),
    (
        ["--plot", "lifts.gif"],
        ["unknown picture format at lifts.gif: '.gif'", ".png, .svg or .pdf"],
    ),
    (["--plot", "lifts"], ["unknown picture format at lifts"]),
    (["--plot", "nowhere/lifts.png"], ["no such folder at nowhere", "make it first"]),
    (["--plot-curve", "curve.txt"], ["unknown picture format at curve.txt: '.txt'"]),
    (["--plot-curve", "nowhere/curve.svg"], ["no such folder at nowhere"]),
    (["--joint", "context.csv"], ["give only one of --prior and --joint", "liftlock audit --help"]),
    (["--family", "f.csv"], ["give only one of --prior and --family"]),
    (["--radius", "2"], ["--radius outside 0 to 1: '2'"]),
    (["--radius", "wide"], ["--radius is not a number: 'wide'"]),
    (["--smooth", "-5"], ["--smooth is negative: '-5'"]),
    (["--smooth", "inf"], ["--smooth is not finite: 'inf'"]),
    (["--radius", "0.1", "--plot", "a.png"], ["a heat map needs one prior", "without --radius"]),
    (["--radius", "0.1", "--plot-curve", "a.png"], ["a curve of delta needs a prior"]),
    (["--impossible", "maybe"], ["'maybe' is not one of 'refuse', 'ignore'", "--help"]),
    (["--jsn"], ["No such option '--jsn'", "liftlock audit --help"]),
    (["surplus"], ["unexpected extra argument (surplus)", "liftlock audit --help"]),
    (["--plot"], ["Option '--plot' requires an argument", "--help"]),
]


@pytest.mark.parametrize(("arguments", "parts"), ARGUMENTS, ids=lambda value: " ".join(value)[:40])
def test_arguments(audited: Run, arguments: list[str], parts: list[str]) -> None:
    assert_refused(audited(*arguments), *parts)


def test_arguments_are_checked_before_the_work(
    audited: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("the audit was run")

    monkeypatch.setattr("liftlock.cli.audit.audit", never)
    for arguments in (["--plot", "nowhere/a.png"], ["--alpha", "0"], ["--check", "lip=x"]):
        assert_refused(audited(*arguments))
    table = "label,p,q\nx,1,2\ny,3,4\n"
    outcome = audited("--plot", "a.png", context=table, option="--family")
    assert_refused(outcome, "a heat map needs one prior", "every mixture of 2 priors")


def test_a_picture_cannot_be_a_folder(audited: Run, run: Run) -> None:
    run("notions")
    Path("lifts.png").mkdir()
    assert_refused(audited("--plot", "lifts.png"), "a folder, not a file at lifts.png")


def test_no_context(run: Run) -> None:
    outcome = run("audit", "channel.csv", files={"channel.csv": "input,a\nx,1\n"})
    assert_refused(
        outcome, "no prior for the channel at channel.csv", "--prior, --joint or --family"
    )


def test_radius_and_smooth_need_a_prior(run: Run) -> None:
    files = {"channel.csv": "input,a\nx,1\n", "j.csv": "s,x\nu,1\n"}
    for option in ("--radius", "--smooth"):
        outcome = run("audit", "channel.csv", "--joint", "j.csv", option, "0.1", files=files)
        assert_refused(outcome, f"{option} goes with --prior")


def test_files_that_are_not_there(run: Run) -> None:
    files = {"channel.csv": "input,a\nx,1\n"}
    outcome = run("audit", "nothing.csv", "--prior", "p.csv")
    assert_refused(outcome, "no such file at nothing.csv", "check the path")
    outcome = run("audit", "channel.csv", "--prior", "p.csv", files=files)
    assert_refused(outcome, "no such file at p.csv", "check the path")
    outcome = run("audit", "channel.csv/x", "--prior", "p.csv")
    assert_refused(outcome, "channel.csv/x", "Not a directory")
    outcome = run("audit", ".", "--prior", "p.csv")
    assert_refused(outcome, "a folder, not a file at .", "name the file inside it")
    outcome = run("audit", "x" * 300, "--prior", "p.csv")
    assert_refused(outcome, "cannot read at xxx", "File name too long")


def test_a_file_that_may_not_be_read(audited: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    # Tests may run as root, who may read everything: refuse as the system would.
    true_open = Path.open

    def refusing(self: Path, mode: str = "r", *rest: Any, **more: Any) -> Any:
        if self.name == "context.csv" and mode == "rb":
            raise PermissionError(13, "Permission denied")
        return true_open(self, mode, *rest, **more)

    monkeypatch.setattr(Path, "open", refusing)
    assert_refused(audited(), "cannot read at context.csv: 'Permission denied'", "permissions")


@dataclass(frozen=True)
class Limit:
    module: Any
    name: str
    value: int


@pytest.mark.parametrize(
    ("limit", "parts"),
    [
        (
            Limit(liftlock._runtime.storage, "MOST_BYTES", 30),
            ["file larger than 30 bytes at channel.csv", "merge rare symbols"],
        ),
        (
            Limit(liftlock.files.sheet, "MOST_CELLS", 3),
            ["more than 3 cells at channel.csv, line 3", "merge rare symbols"],
        ),
    ],
    ids=["bytes", "cells"],
)
def test_huge_files(
    audited: Run, monkeypatch: pytest.MonkeyPatch, limit: Limit, parts: list[str]
) -> None:
    monkeypatch.setattr(limit.module, limit.name, limit.value)
    assert_refused(audited(), *parts)


def test_an_endless_file_is_not_read_to_its_end(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(liftlock._runtime.storage, "MOST_BYTES", 10_000)
    outcome = run("audit", "/dev/zero", "--prior", "p.csv")
    assert_refused(outcome, "file larger than 9.766 KiB at /dev/zero")


def test_notes_do_not_stand_beside_an_error(audited: Run) -> None:
    # The first row is normalised, which would be said; but the audit fails, so only that is said.
    channel = "input,a,b\nx,0.3333333333,0.6666666666\ny,0.25,0.75\n"
    outcome = audited(channel=channel, context="label,count\nx,1\nz,1\n")
    assert_refused(outcome, "'y' only in channel.csv")


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("--prior", "label,count\na,1e360\nb,1\n"),
        ("--prior", "label,probability\na,1\nb,1e-400\n"),
        ("--joint", "s,a,b\nx,1,1e360\ny,2,3\n"),
        ("--family", "label,p,q\na,1e360,1\nb,1,1\n"),
    ],
)
def test_numbers_beyond_the_floats_name_their_place(run: Run, option: str, text: str) -> None:
    outcome = run(
        "design", option, "c.csv", "--epsilon", "1", "-o", "m.json", files={"c.csv": text}
    )
    assert (outcome.code, outcome.out, outcome.made) == (2, "", frozenset())
    (line,) = outcome.err.splitlines()
    assert line.startswith("liftlock: a probability below 1e-300 at c.csv, ")
    assert "merge the value with others" in line
