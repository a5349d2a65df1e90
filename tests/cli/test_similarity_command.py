from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
import tiny_models
from polars.testing import assert_frame_equal

from isogloss.cli import main
from isogloss.cli.arguments import files_by_language, spread_lists
from isogloss.core.errors import InputError, UsageError
from isogloss.corpora.readers import read_parallel


@pytest.fixture(scope="module", autouse=True)
def control_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Controls in a temporary folder, shared by these tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.build("bert", tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def texts(tmp_path: Path) -> list[str]:
    lines = [f"{one} {two}\n" for one in tiny_models.SENTENCES for two in tiny_models.SENTENCES[:3]]
    for lang, change in (("en", str.lower), ("fr", str.upper), ("de", str.title)):
        (tmp_path / f"{lang}.txt").write_text("".join(map(change, lines)), encoding="utf-8")
    return [f"{lang}={tmp_path / lang}.txt" for lang in ("en", "fr", "de")]


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as leave:
        main.run(arguments)
    return int(leave.value.code or 0)


def test_tables_rows_and_charts(
    folder: Path, texts: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, chart = tmp_path / "rows.parquet", tmp_path / "chart.svg"
    written = ["--out", str(rows), "--out", str(chart)]
    assert run("similarity", str(folder), "--parallel", *texts, "--source", "en", "--neurons", "2", *written) == 0
    said = capsys.readouterr().out
    assert "en–fr" in said
    assert "peak" in said
    assert "verdict" in said
    assert "of replicates" not in said
    assert "matching, source → target" in said
    frame = pl.read_parquet(rows)
    assert set(frame["index"]) == {"cka", "anc", "matching"}
    assert set(frame["target"]) == {"fr", "de"}
    value = frame.filter((pl.col("index") == "cka") & (pl.col("layer") == 1) & (pl.col("target") == "fr"))["value"][0]
    assert f"{value:.3f}" in said
    assert chart.read_text().startswith("<svg")


def test_repeated_sentences_are_counted_on_the_screen(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = []
    for lang, words in (("en", ("cat", "dog", "house")), ("fr", ("chat", "chien", "maison"))):
        path = tmp_path / f"{lang}.txt"
        path.write_text("".join(f"the {word} number {n}\n" * 3 for word in words for n in range(4)), encoding="utf-8")
        texts.append(f"{lang}={path}")
    rows = tmp_path / "rows.csv"
    arguments = ["similarity", str(folder), "--parallel", *texts, "--index", "matching(both)", "-o", str(rows)]
    assert run(*arguments) == 0
    shown = capsys.readouterr()
    assert "24 of 36 sentences repeat another and are left out; 12 are measured" in " ".join(shown.err.split())
    assert "matching(both), mean of both directions" in shown.out
    assert set(pl.read_csv(rows)["n"]) == {12}
    assert run(*arguments, "--keep-repeats") == 0
    assert "repeat another" not in capsys.readouterr().err
    assert set(pl.read_csv(rows)["n"]) == {36}


def test_the_control_is_an_option(folder: Path, texts: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["similarity", str(folder), "--parallel", *texts[:2], "--index", "cka"]
    assert run(*arguments, "--no-control") == 0
    without = verdict_lines(capsys.readouterr().out)
    assert run(*arguments, "--control", "--control-draws", "3") == 0
    with_control = verdict_lines(capsys.readouterr().out)
    assert without[-1].split()[7] == "–"
    assert float(with_control[-1].split()[7]) >= 0
    assert run(*arguments, "--control-draws", "1") == 2


def verdict_lines(output: str) -> list[str]:
    lines = output[output.index("first align, then predict?") :].splitlines()
    return [line for line in lines if "en–fr" in line]


def test_two_models_in_one_go(
    folder: Path, texts: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tiny_models.build("xlm-roberta", tmp_path / "other")
    rows = tmp_path / "rows.csv"
    assert run("similarity", str(folder), str(other), "--parallel", *texts[:2], "--index", "cka", "-o", str(rows)) == 0
    assert set(pl.read_csv(rows)["model"]) == {"tiny", "other"}
    assert "tiny en–fr" in capsys.readouterr().out


def test_mean_and_spread_over_pairs(
    folder: Path, texts: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, all_of_them = tmp_path / "pairs.csv", tmp_path / "means.csv"
    given = ["similarity", str(folder), "--parallel", *texts, "--source", "en", "--index", "cka"]
    assert run(*given, "-o", str(one)) == 0
    assert run(*given, "--mean", "-o", str(all_of_them)) == 0
    mean = pl.read_csv(one).filter(layer=2)["value"].mean()
    assert pl.read_csv(all_of_them).filter(layer=2)["mean"].to_list() == pytest.approx([mean])
    assert f"{mean:.3f}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--index", "ckaa"], 2, "did you mean 'cka'"),
        (["--neurons", "3", "--index", "cka"], 2, "--neurons needs the index 'anc'"),
        (["--out", "rows.xlsx"], 2, "expected one of .csv"),
        (["--source", "xx"], 2, "unknown language"),
        (["--parallel", "ru=absent.txt"], 3, "absent.txt: expected an existing file"),
    ],
)
def test_wrong_arguments(
    folder: Path, texts: list[str], capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, message: str
) -> None:
    assert run("similarity", str(folder), "--parallel", *texts, *arguments) == code
    said = capsys.readouterr().err
    assert message in said
    assert len(said.splitlines()) == 1


def test_an_option_takes_a_list_of_pairs() -> None:
    given = ["similarity", "m", "--parallel", "en=a", "fr=b", "--source", "en", "x=y"]
    expected = ["similarity", "m", "--parallel", "en=a", "--parallel", "fr=b", "--source", "en", "x=y"]
    assert spread_lists(given, ["--parallel"]) == expected
    assert spread_lists(expected, ["--parallel"]) == expected


def test_a_pair_must_be_a_pair() -> None:
    for wrong in (["a.txt"], ["=a.txt"], ["en="], ["en=a", "en=b"]):
        with pytest.raises(UsageError, match="--test"):
            files_by_language(wrong, "--test")


def test_a_model_that_memory_has_no_room_for(folder: Path, texts: list[str], tmp_path: Path) -> None:
    pytest.importorskip("accelerate")
    one, other = tmp_path / "whole.csv", tmp_path / "spread.csv"
    given = ["similarity", str(folder), "--parallel", *texts[:2], "--index", "cka"]
    assert run(*given, "--device", "cpu", "-o", str(one)) == 0
    assert run(*given, "--device-map", "auto", "--max-memory", "cpu=20KB", "-o", str(other)) == 0
    assert_frame_equal(pl.read_csv(one), pl.read_csv(other), rel_tol=1e-4, abs_tol=1e-5)  # batches of another size


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (["--max-memory", "20GB"], "expected DEVICE=SIZE such as cpu=60GB, got '20GB'"),
        (["--device-map", "auto", "--max-memory", "cpu=much"], "expected a size such as 20GB"),
        (
            ["--device", "cpu", "--max-memory", "cpu=20GB"],
            "--max-memory and --offload-folder need a --device-map; pass --device-map 'auto', too",
        ),
    ],
)
def test_limits_that_make_no_sense(
    folder: Path, texts: list[str], capsys: pytest.CaptureFixture[str], limits: list[str], message: str
) -> None:
    assert run("similarity", str(folder), "--parallel", *texts[:2], *limits) == 2
    assert message in capsys.readouterr().err


def test_more_sentences_than_there_are_and_formats(
    folder: Path, texts: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    size = len(Path(texts[0].partition("=")[2]).read_text().splitlines())
    arguments = ["similarity", "no-such-model", "--parallel", *texts]
    assert run(*arguments, "--sentences", str(size + 1)) == 2
    assert f"--sentences: expected at most {size}" in capsys.readouterr().err
    assert run(*arguments, "--format", "conllu") == 3
    assert "en.txt:1: expected 10 columns" in capsys.readouterr().err
    assert run(*arguments, "--format", "fast-align") == 2
    assert "format of one file per language" in capsys.readouterr().err
    pairs = tmp_path / "en-fr.data"
    pairs.write_text("a dog ||| un chien\n", encoding="utf-8")
    assert len(read_parallel(pairs, format="fast-align")) == 1
    with pytest.raises(InputError, match="a header of language codes"):
        read_parallel(pairs, format="parallel-tsv")
