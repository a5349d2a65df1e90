from __future__ import annotations

import re
from pathlib import Path

import pytest
import tiny_models

import isogloss as ig
from isogloss.cli import main
from isogloss.corpora.kinds.bitext import AlignedPair


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


def test_words_with_white_space_inside_stay_whole(
    capsys: pytest.CaptureFixture[str], model: str, tmp_path: Path
) -> None:
    """Ideographic, no-break and thin spaces: tokenised text splits at plain spaces only."""
    sides = {
        "ja": [("「\u3000」", "東\u3000京", "\u3000", "だ"), ("\u3000", "は", "い\u2009や\u3000")],
        "fr": [("10\u00a0000", "c’est\u202fTokyo", "\u2009", "!"), ("\u0085", "ou\u1680i", "n\u2028on")],
    }
    for lang, sentences in sides.items():
        text = "".join(" ".join(words) + "\n" for words in sentences)
        (tmp_path / f"{lang}.txt").write_text(text, encoding="utf-8", newline="")
    pairs = [f"{' '.join(s)} ||| {' '.join(t)}\n" for s, t in zip(sides["ja"], sides["fr"], strict=True)]
    (tmp_path / "ja-fr.txt").write_text("".join(pairs), encoding="utf-8", newline="")
    inputs = {"two": [f"{lang}={tmp_path / lang}.txt" for lang in sides], "one": [tmp_path / "ja-fr.txt"]}
    for name, texts in inputs.items():
        out = tmp_path / f"{name}.jsonl"
        for method in ("embedding", "eflomal"):
            if method == "eflomal":
                pytest.importorskip("eflomal")
            options = ["--model", model, "--layer", 1] if method == "embedding" else []
            code, _, said = run(capsys, "align", *texts, "--method", method, *options, "--out", out)
            assert code == 0, said
            aligned = ig.read_bitext(out, lang="ja>fr")
            assert [pair.source for pair in aligned] == sides["ja"]
            assert [pair.target for pair in aligned] == sides["fr"]
            assert run(capsys, "align", out, "--method", method, *options, "--out", tmp_path / "links")[0] == 0
            links = tmp_path / "links"
            again = ig.read_bitext(ig.read_parallel(tmp_path / "ja-fr.txt"), links, base=0)
            assert [(pair.source, pair.target) for pair in again] == list(zip(sides["ja"], sides["fr"], strict=True))


def test_repair_reports_what_it_drops_by_reason(
    capsys: pytest.CaptureFixture[str], gold: Path, texts: list[str], tmp_path: Path
) -> None:
    truth = ig.read_bitext(gold)
    lines = [" ".join(f"{s + 1}-{t + 1}" for s, t in pair.alignment.sure) for pair in truth]
    for number in (2, 5, 7):
        lines[number - 1] += " 99-1 98-98"
    lines[8] = "nonsense"
    (tmp_path / "gold").write_text("".join(f"{line}\n" for line in lines))
    command = ["align", *texts, "--method", "pharaoh", "--forward", tmp_path / "gold", "--gold", tmp_path / "gold"]
    code, _, said = run(capsys, *command)
    assert code == 3, said
    assert "gold:9: expected links such as 1-2, words counted from 1" in said
    command[-3:] = [gold_links(truth, tmp_path / "forward"), "--gold", tmp_path / "gold"]
    code, _, said = run(capsys, *command, "--repair")
    assert code == 0, said
    assert f"{tmp_path / 'gold'}: words are counted from 1 (detected" in said
    notes = [line for line in said.splitlines() if "repaired or skipped" in line]
    assert len(notes) == 2, "one for each reason"
    assert "gold:9: expected links such as 1-2, words counted from 1, got 'nonsense'" in notes[0]
    assert re.search(r"gold:2: .*word 99 to word 1 and 1 more, words counted from 1.*; and 2 more of this ", notes[1])
    assert notes[1].endswith("in lines 5, 7")


def gold_links(truth: ig.Corpus[AlignedPair], path: Path) -> Path:
    lines = (" ".join(f"{s}-{t}" for s, t in pair.alignment.sure) for pair in truth)
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


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
