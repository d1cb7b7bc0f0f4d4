"""Options of tables, and outputs that would destroy something."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest

from liftlock.cli._columns import pair_with_columns, parse_by_column
from liftlock.cli._options import check_outputs
from liftlock.cli.protect import sibling_path
from liftlock.errors import FileError


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("safe.csv", "safe.m.json"),
        ("a/safe.v2.parquet", "a/safe.v2.m.json"),
        ("safe.tsv.gz", "safe.m.json"),
        ("safe.feather", "safe.m.json"),
        ("SAFE.pq", "SAFE.m.json"),
    ],
)
def test_files_beside_an_output(output: str, expected: str) -> None:
    assert sibling_path(Path(output), ".m.json") == Path(expected)


def test_one_for_all_or_one_for_each() -> None:
    assert pair_with_columns([], ["a", "b"], "--secret") == [None, None]
    assert pair_with_columns(["s"], ["a", "b"], "--secret") == ["s", "s"]
    assert pair_with_columns(["s", "t"], ["a", "b"], "--secret") == ["s", "t"]
    with pytest.raises(click.UsageError, match="--secret is given 2 times for 3 columns"):
        pair_with_columns(["s", "t"], ["a", "b", "c"], "--secret")


def test_values_for_a_column() -> None:
    assert parse_by_column(["a=b=0:9"], ["a=b"], "--domain") == {"a=b": "0:9"}
    for values, columns, what in (
        (["0:9"], ["a", "b"], "does not name its column"),
        (["c=0:9"], ["a", "b"], "not a --column"),
        (["a=1", "a=2"], ["a"], "twice"),
    ):
        with pytest.raises(click.UsageError, match=what):
            parse_by_column(values, columns, "--domain")


def test_outputs_are_checked_before_anything_is_read(tmp_path: Path) -> None:
    there, new = tmp_path / "there.csv", tmp_path / "new.csv"
    there.write_text("x\n")
    link, dangling = tmp_path / "link.csv", tmp_path / "dangling.csv"
    link.symlink_to(there)
    dangling.symlink_to(new)
    check_outputs({"the output": new, "the report": None}, {"TABLE": there}, force=False)
    cases: list[tuple[dict[str, Any], dict[str, Any], bool, str]] = [
        ({"the output": there}, {"TABLE": there}, True, "would overwrite TABLE"),
        ({"the output": link}, {"TABLE": there}, True, "would overwrite TABLE"),
        ({"the output": there}, {}, False, "already"),
        ({"the output": dangling}, {}, False, "already"),
        ({"a": new, "b": tmp_path / "." / "new.csv"}, {}, True, "would overwrite a"),
        ({"a": new, "b": dangling}, {}, True, "would overwrite a"),
        ({"a": tmp_path / "none" / "x.csv"}, {}, True, "no such folder"),
        ({"a": tmp_path}, {}, True, "a folder"),
    ]
    for outputs, inputs, force, what in cases:
        with pytest.raises(FileError, match=what):
            check_outputs(outputs, inputs, force=force)
    check_outputs({"the output": there}, {}, force=True)
