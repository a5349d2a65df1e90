"""Language codes that a person writes: accepted, or refused with a suggestion, everywhere they are taken."""

from __future__ import annotations

from pathlib import Path

import pytest

import isogloss as ig
from isogloss.cli import main
from isogloss.cli.ls import matching_rows
from isogloss.core.errors import IsoglossError, UnknownName
from isogloss.corpora.lab.languages import LANGUAGES
from isogloss.languages.checks import check_language


@pytest.mark.parametrize("code", [*LANGUAGES, "qaa", "qtz", "x-mine", "fr-x-old", "zh-Hant", "sr-Latn", "und", "mul"])
def test_private_and_complete_codes_are_accepted(code: str) -> None:
    assert check_language(code) == code


def test_every_language_of_cldr_is_accepted() -> None:
    babel = pytest.importorskip("babel")
    codes = [code.replace("_", "-") for code in babel.Locale("en").languages]
    assert len(codes) > 500
    refused = []
    for code in codes:
        try:
            check_language(code)
        except UnknownName:
            refused.append(code)
    assert refused == []


@pytest.mark.parametrize(
    ("code", "suggestion"),
    [
        ("kurmanji", "kmr"), ("Sorani", "ckb"), ("Farsi", "fa"), ("Faroese", "fo"), ("Wolof", "wo"), ("Ukranian", "uk"),
        ("jp", "ja"), ("cz", "cs"), ("ua", "uk"), ("dk", "da"), ("gr", "el"), ("cn", "zh"),
    ],
)  # fmt: skip
def test_unknown_codes_get_a_suggestion(code: str, suggestion: str) -> None:
    with pytest.raises(UnknownName, match=rf"unknown language code '{code}'; did you mean '{suggestion}' \("):
        check_language(code)


@pytest.mark.parametrize("code", ["xx", "zz", "aab1", "e", "", "not a language", "en>xx", "zqzqzq"])
def test_unknown_codes_without_a_suggestion(code: str) -> None:
    with pytest.raises(UnknownName, match="expected an ISO 639 or BCP-47 code"):
        check_language(code)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("Ez\tdiçim malê.\n" * 3)
    return path


def test_readers_refuse_unknown_codes(text: Path) -> None:
    for read in (
        lambda code: ig.read_text(text, lang=code),
        lambda code: ig.read_text([text], lang=code),
        lambda code: ig.read_parallel({"en": text, code: text}),
        lambda code: ig.transliterate("мир", lang=code),
        lambda code: ig.read_lexicon(text, lang=f"en>{code}"),
    ):
        with pytest.raises(UnknownName, match="did you mean 'kmr'"):
            read("kurmanji")
    assert ig.read_text(text, lang="kmr").lang == "kmr"


@pytest.mark.parametrize(
    "arguments",
    [
        ["validate", "{text}", "--lang", "kurmanji"],
        ["clean", "{text}", "--lang", "kurmanji", "--out", "{text}.clean"],
        ["transliterate", "{text}", "--lang", "kurmanji", "--out", "{text}.latin"],
        ["diagnose", "laboratory", "--lang", "kurmanji", "--text", "{text}", "--out", "{text}.d"],
        ["adapt", "laboratory", "--text", "{text}", "--mix", "kurmanji={text}", "--out", "{text}.model"],
        ["similarity", "laboratory", "--parallel", "en={text}", "kurmanji={text}"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_commands_refuse_unknown_codes(arguments: list[str], text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit:
        main.run([argument.format(text=text) for argument in arguments])
    assert exit.value.code == 2
    assert list(text.parent.iterdir()) == [text]  # nothing was created
    assert "unknown language code 'kurmanji'; did you mean 'kmr'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "lines",
    [
        "  m: {base: laboratory, changes: [{adapt: {text: text.txt, lang: kurmanji}}]}",
        "  m: {pretrain: {texts: {kurmanji: text.txt}}}",
        "  m: {base: laboratory, text: [{transliterate: {langs: [kurmanji]}}]}",
    ],
)
def test_study_files_refuse_unknown_codes(lines: str, tmp_path: Path, text: Path) -> None:
    from isogloss.studies.schema.study_file import read_study

    study = tmp_path / "study.yaml"
    study.write_text(
        f"name: s\nmodels:\n{lines}\ntasks: [pos]\nsources: {{qla: {{train: 'lab:qla/train/9', dev: 'lab:qla/dev/9'}}}}"
        "\ntargets: {qla: 'lab:qla/test/9'}\n"
    )
    with pytest.raises(IsoglossError, match="got 'kurmanji'; did you mean 'kmr'"):
        read_study(study)


def test_a_listing_shows_the_exact_code_first() -> None:
    rows = [("att", "Pamplona Atta"), ("xtt", "Tacahua"), ("tt", "Tatar"), ("crh", "Crimean Tatar"), ("ku", "Kurdish")]
    assert matching_rows(rows, "tt") == [("tt", "Tatar")]
    assert matching_rows(rows, "Tatar") == [("tt", "Tatar"), ("crh", "Crimean Tatar")]
    assert matching_rows(rows, "kurd") == [("ku", "Kurdish")]
    assert matching_rows(rows, "") == rows


@pytest.mark.parametrize(("text", "code"), [("tt", "tt"), ("tat", "tt"), ("kurmanji", "kmr"), ("kur", "ku")])
def test_ls_languages(text: str, code: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main.run(["ls", "languages", text])
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split()[0] == code
    assert len(lines) < 8
