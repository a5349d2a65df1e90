from __future__ import annotations

import re
from pathlib import Path

import pytest
import tiny_models

import isogloss as ig
from isogloss.cli import main


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny_models.build("bert", tmp_path_factory.mktemp("models") / "tiny"))


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    ig.Laboratory().bitext("qla", "qlb", 12).write(tmp_path / "qla-qlb.jsonl")
    return tmp_path / "qla-qlb.jsonl"


@pytest.fixture
def texts(tmp_path: Path, gold: Path) -> list[str]:
    pairs = ig.read_bitext(gold, lang="qla>qlb")
    (tmp_path / "a.txt").write_text("".join(" ".join(pair.source) + "\n" for pair in pairs), encoding="utf-8")
    (tmp_path / "b.txt").write_text("".join(" ".join(pair.target) + "\n" for pair in pairs), encoding="utf-8")
    return [f"qla={tmp_path / 'a.txt'}", f"qlb={tmp_path / 'b.txt'}"]


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as leave:
        main.run([str(word) for word in arguments])
    streams = capsys.readouterr()
    return int(leave.value.code or 0), streams.out, streams.err


def test_links_are_written_both_ways(
    capsys: pytest.CaptureFixture[str], model: str, gold: Path, texts: list[str], tmp_path: Path
) -> None:
    lines, pharaoh = tmp_path / "found.jsonl", tmp_path / "found.align"
    code, said, _ = run(capsys, "align", *texts, "--model", model, "--layer", 1, "--out", lines)
    assert code == 0
    assert "sentence pairs  12" in said
    assert run(capsys, "align", gold, "--model", model, "--layer", "1", "--out", pharaoh)[0] == 0
    expected = ig.align(ig.read_bitext(gold), model=model, layer=1)
    assert ig.read_bitext(lines).items == expected.items
    assert ig.read_alignment(pharaoh).items == tuple(pair.alignment for pair in expected)


def test_scores_against_gold_and_the_best_layer(
    capsys: pytest.CaptureFixture[str], model: str, gold: Path, tmp_path: Path
) -> None:
    code, said, _ = run(capsys, "align", gold, "--model", model, "--layer", "best", "--gold", gold, "--centre")
    assert code == 0
    rows = re.findall(
        r"^(?:layer )?(\d)(?:, intersection)? +(\d+) +([\d.]+) +([\d.]+) +([\d.]+) *$", said, re.MULTILINE
    )
    assert [int(row[0]) for row in rows[:-1]] == [0, 1, 2, 3]
    assert min(rows[:-1], key=lambda row: float(row[-1])) == rows[-1]
    truth = ig.read_bitext(gold)
    found = ig.align(truth, model=model, layer=int(rows[-1][0]), centre=True)
    assert rows[-1][-1] == f"{100 * ig.score_alignment(found, truth).aer:.1f}"


def test_gold_in_pharaoh_counted_from_one(
    capsys: pytest.CaptureFixture[str], gold: Path, texts: list[str], tmp_path: Path
) -> None:
    truth = ig.read_bitext(gold)
    for base in (0, 1):
        lines = (" ".join(f"{s + base}-{t + base}" for s, t in pair.alignment.sure) for pair in truth)
        (tmp_path / f"from-{base}").write_text("".join(f"{line}\n" for line in lines))
    files = ["--forward", tmp_path / "from-0", "--gold", tmp_path / "from-1"]
    code, said, _ = run(capsys, "align", *texts, "--method", "pharaoh", *files, "--max-words", 8)
    assert code == 0
    assert re.search(r"pharaoh, intersection +\d+ +100.0 +100.0 +0.0", said)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "expected --out FILE, --gold FILE or both, got neither"),
        (["--layer", "best", "--out", "x"], "give --gold FILE"),
        (["--max-words", "9", "--out", "x.align"], "use --out FILE.jsonl"),
        (["--out", "x"], "needs --model"),
        (["--method", "eflomal", "--model", "x", "--out", "x"], "needs both --unit 'piece' and --model"),
        (["--unit", "piece", "--model", "x", "--gold", "x"], "leave out --gold"),
    ],
)
def test_wrong_usage_is_one_line(capsys: pytest.CaptureFixture[str], gold: Path, options: list[str], said: str) -> None:
    code, _, err = run(capsys, "align", gold, *options)
    assert code == 2
    assert said in err
    assert len(err.splitlines()) == 1
