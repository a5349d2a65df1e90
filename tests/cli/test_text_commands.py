"""`isogloss transliterate` and `isogloss clean` from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from isogloss.cli.main import run

ENGLISH = "The old house by the river was sold again last week.\n"
RUSSIAN = "Старый дом у реки был снова продан на прошлой неделе.\n"


def call(*words: object) -> int:
    with pytest.raises(SystemExit) as ended:
        run([str(word) for word in words])
    return int(ended.value.code or 0)


def test_transliterate_and_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, latin, back = tmp_path / "ug.txt", tmp_path / "latin.txt", tmp_path / "back.txt"
    source.write_text("ياخشىمۇسىز دۇنيا\n\nئۆي\n", encoding="utf-8")
    assert call("transliterate", source, "--out", latin) == 0
    assert latin.read_text(encoding="utf-8") == "yaxşimusiz dunya\n\nöy\n"
    assert "uyghur" in capsys.readouterr().out
    assert call("transliterate", latin, "--lang", "ug", "--inverse", "--out", back) == 0
    assert back.read_bytes() == source.read_bytes()


def test_parallel_text(tmp_path: Path) -> None:
    source = tmp_path / "pairs.tsv"
    source.write_text("en\tru\nYes\tДа\n", encoding="utf-8")
    assert call("transliterate", source, "--lang", "ru", "--out", tmp_path / "out.tsv") == 0
    assert (tmp_path / "out.tsv").read_text(encoding="utf-8") == "en\tru\nYes\tDa\n"


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--out", "same"], 2, "--out: expected another file than the input"),
        (["--out", "x", "--lang", "ckb", "--inverse"], 2, "the scheme 'sorani' is not reversible"),
        (["--out", "x", "--scheme", "cyrilic"], 2, "did you mean 'cyrillic'"),
        (["--out", "x"], 2, "expected a language (--lang) or a scheme (--scheme)"),
    ],
)
def test_errors_are_one_line(
    options: list[str], code: int, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "corpus-of-mine.txt"
    source.write_text(RUSSIAN, encoding="utf-8")
    places = {"same": source, "x": tmp_path / "x.txt"}
    assert call("transliterate", source, *[places.get(word, word) for word in options]) == code
    told = capsys.readouterr().err
    assert message in told and told.count("\n") == 1
    assert not (tmp_path / "x.txt").exists()


def test_text_that_is_latin_already_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "arq.txt"
    source.write_text("wa7ed ma 3labalou b had l7aja\n", encoding="utf-8")
    assert call("transliterate", source, "--lang", "arq", "--out", tmp_path / "out.txt") == 0
    assert (tmp_path / "out.txt").read_bytes() == source.read_bytes()
    assert "nothing changed" in capsys.readouterr().err


def test_clean(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("py3langid")
    source, kept, dropped = tmp_path / "raw.txt", tmp_path / "kept.txt", tmp_path / "dropped.tsv"
    source.write_text(ENGLISH + RUSSIAN + "x\n" + ENGLISH, encoding="utf-8")
    assert call("clean", source, "--lang", "en", "--out", kept, "--dropped", dropped) == 0
    assert kept.read_text(encoding="utf-8") == ENGLISH
    assert dropped.read_text(encoding="utf-8") == f"other script\t{RUSSIAN}too short\tx\nseen before\t{ENGLISH}"
    shown = capsys.readouterr().out
    assert "1 of 4 lines kept" in shown and "language identified by the library" in shown and "25.0%" in shown


def test_clean_against_neighbours(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from isogloss import Laboratory

    lab, files = Laboratory(seed=0), {}
    for lang in ("qla", "qld"):
        files[lang] = tmp_path / f"{lang}.txt"
        lab.text(lang, 300).write(files[lang])
    lines = [path.read_text(encoding="utf-8").splitlines(keepends=True) for path in files.values()]
    (tmp_path / "raw.txt").write_text("".join(lines[0][:40] + lines[1][:40]), encoding="utf-8")
    code = call(
        *("clean", tmp_path / "raw.txt", "--lang", "wo", "--script", "Latn", "--out", tmp_path / "kept.txt"),
        *("--sample", files["qla"], "--against", f"qld={files['qld']}", "--shortest", "1", "--keep-repeats"),
    )
    assert code == 0
    kept = (tmp_path / "kept.txt").read_text(encoding="utf-8").splitlines(keepends=True)
    assert sum(line in lines[0] for line in kept) >= 38 and sum(line in lines[1] for line in kept) <= 2
    assert "language identified with the sample" in capsys.readouterr().out


def test_a_crawl_without_a_line_to_keep_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("py3langid")
    (tmp_path / "raw.txt").write_text(RUSSIAN, encoding="utf-8")
    assert call("clean", tmp_path / "raw.txt", "--lang", "en", "--out", tmp_path / "kept.txt") == 3
    assert "none of 1: 1 other script" in capsys.readouterr().err
    assert not (tmp_path / "kept.txt").exists()


def test_shelves(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("ls", "schemes", "buck") == 0
    assert "buckwalter" in capsys.readouterr().out
    assert call("ls", "text changes") == 0
    assert "code_switch" in capsys.readouterr().out
