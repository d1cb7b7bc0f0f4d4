"""Survey files say the same in three languages, and mistakes are told with their place."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from liftlock.collect.survey import Survey, SurveyError
from liftlock.collect.survey.file import read_source
from liftlock.errors import FileError, MissingLibrary

YAML = """\
survey: health
closes: 2026-12-31
questions:
  - name: flu
    ask: "How are you?"
    values: [none, cold, flu]
    prior: {none: 0.7, cold: 0.2, flu: 0.1}
    guarantee: lip=1
  - name: pet
    ask: Do you have a pet?
    values: [no, yes, 010]
    guarantee: ldp=0.5
"""
TOML = """\
survey = "health"
closes = 2026-12-31

[[questions]]
name = "flu"
ask = "How are you?"
values = ["none", "cold", "flu"]
guarantee = "lip=1"

[questions.prior]
none = 0.7
cold = 0.2
flu = 0.1

[[questions]]
name = "pet"
ask = "Do you have a pet?"
values = ["no", "yes", "010"]
guarantee = "ldp=0.5"
"""
JSON = """\
{
  "survey": "health",
  "closes": "2026-12-31",
  "questions": [
    {
      "name": "flu",
      "ask": "How are you?",
      "values": ["none", "cold", "flu"],
      "prior": {"none": 0.7, "cold": 0.2, "flu": 0.1},
      "guarantee": "lip=1"
    },
    {
      "name": "pet",
      "ask": "Do you have a pet?",
      "values": ["no", "yes", "010"],
      "guarantee": "ldp=0.5"
    }
  ]
}
"""
LANGUAGES = [("yaml", YAML), ("toml", TOML), ("json", JSON)]


def write(folder: Path, suffix: str, text: str) -> Path:
    path = folder / f"health.{suffix}"
    path.write_text(text, encoding="utf-8")
    return path


def mistakes_of(folder: Path, suffix: str, text: str) -> list[str]:
    with pytest.raises(SurveyError) as caught:
        Survey.read(write(folder, suffix, text))
    return [str(each) for each in caught.value.mistakes]


def test_three_languages_say_the_same(tmp_path: Path) -> None:
    yaml, toml, json_ = (Survey.read(write(tmp_path, *each)) for each in LANGUAGES)
    assert yaml == toml == json_
    assert yaml["pet"].values.labels == ("no", "yes", "010")
    # Decimals are what is written: no float is seven tenths.
    assert yaml["flu"].populations[0].content() == {"prior": {"none": 7, "cold": 2, "flu": 1}}
    assert str(yaml.closes) == "2026-12-31"


@pytest.mark.parametrize(("suffix", "text"), LANGUAGES)
def test_mistakes_are_told_at_once_with_their_lines(suffix: str, text: str, tmp_path: Path) -> None:
    broken = text.replace("guarantee", "garantee", 1).replace("Do you have a pet?", " ")
    told = mistakes_of(tmp_path, suffix, broken)
    lines = broken.splitlines()
    first = next(n for n, line in enumerate(lines, 1) if "garantee" in line)
    second = max(n for n, line in enumerate(lines, 1) if "ask" in line)
    assert len(told) == 3  # no guarantee, an unknown key, and no text
    assert any(f"line {first}, question 'flu', garantee" in each for each in told)
    assert any("did you mean guarantee?" in each for each in told)
    assert any(f"line {second}, question 'pet'" in each for each in told)


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        ("yaml", "survey: a\nsurvey: b\n"),
        ("toml", 'survey = "a"\nsurvey = "b"\n'),
        ("json", '{"survey": "a", "survey": "b"}'),
    ],
)
def test_a_key_given_twice_is_refused(suffix: str, text: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"given twice|overwrite"):
        read_source(write(tmp_path, suffix, text))


@pytest.mark.parametrize("word", ["no", "yes", "on", "off", "No", "YES", "n", "010", "2026-01-01"])
def test_words_of_yaml_are_text(word: str, tmp_path: Path) -> None:
    text = YAML.replace("[no, yes, 010]", f"[{word}, other]")
    assert Survey.read(write(tmp_path, "yaml", text))["pet"].values.labels == (word, "other")


@pytest.mark.parametrize("word", ["true", "False", "null", "~"])
def test_truth_values_are_not_values(word: str, tmp_path: Path) -> None:
    told = mistakes_of(tmp_path, "yaml", YAML.replace("[no, yes, 010]", f"[{word}, other]"))
    assert len(told) == 1
    assert "put it in quotes" in told[0]
    assert "line 11, question 'pet', values" in told[0]


@pytest.mark.parametrize(
    "text",
    [
        "a: &x 1\nb: *x\n",
        "a: !!python/object/apply:os.system [ls]\n",
        "a: [1, 2\n",
        "a: b: c\n",
        "{" * 2000,
        "- " * 3000 + "a",
    ],
)
def test_yaml_that_is_not_read(text: str, tmp_path: Path) -> None:
    with pytest.raises(FileError) as caught:
        read_source(write(tmp_path, "yaml", text))
    assert "health.yaml" in str(caught.value)


def test_other_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"end it in \.yaml, \.yml, \.toml, \.json"):
        read_source(write(tmp_path, "csv", "a,b"))


def test_lines_are_those_of_the_text(tmp_path: Path) -> None:
    """Each key is found on its line, whatever the language."""
    for suffix, text in LANGUAGES:
        source = read_source(write(tmp_path, suffix, text))
        lines = text.splitlines()
        for place in [("survey",), ("questions", 0, "ask"), ("questions", 1, "guarantee")]:
            assert str(place[-1]) in lines[source.lines[place] - 1], (suffix, place)


def test_only_yaml_needs_a_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(MissingLibrary, match=r"pip install 'liftlock\[collect\]'"):
        Survey.read(write(tmp_path, "yaml", YAML))
    assert Survey.read(write(tmp_path, "toml", TOML)) == Survey.read(write(tmp_path, "json", JSON))


def test_a_survey_is_read_without_a_server_or_a_solver() -> None:
    """Reading needs none of the libraries of the service, nor of designs."""
    script = (
        "import sys\n"
        "from liftlock import Survey\n"
        "Survey.from_data({'survey': 's', 'questions': [{'name': 'a', 'ask': '?', "
        "'values': ['x', 'y'], 'guarantee': 'ldp=1'}]})\n"
        "heavy = {'starlette', 'uvicorn', 'msgspec', 'psycopg', 'yaml', 'scipy', 'highspy'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    assert run.stdout.strip() == "[]"
