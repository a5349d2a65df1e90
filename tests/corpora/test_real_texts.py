"""Real parallel text, alignments, lexicons and raw text: counts as their README states them, bytes that come back."""

from __future__ import annotations

import lzma
import re
from itertools import islice
from pathlib import Path

import pytest
from shared_data import ROOT, rest_slow, shared

import isogloss as ig
from isogloss.core.errors import InputError
from isogloss.corpora.corpus import read_corpus
from isogloss.corpora.formats import FORMATS, detect_format
from isogloss.corpora.formats.text import stream_files

PUD = sorted(path.parent.name for path in ROOT.glob("data/ud/*-PUD/*-ud-test.conllu.xz")) or ["UD_English-PUD"]
LEXICONS = sorted(path.name for path in ROOT.glob("data/lexicons/*.tsv.xz")) or ["eng-rus.tsv.xz"]
PUD_LINKS = [("ar", 994), ("fr", 999), ("ru", 995), ("zh", 999)]
RAW = sorted(path.name.partition(".")[0] for path in ROOT.glob("data/raw/*.txt.xz")) or ["en"]


def original(path: Path) -> bytes:
    return lzma.open(path).read()


def stated(pattern: str) -> dict[str, int]:
    """Counts that the data's README states, by the first group of the pattern."""
    text = shared("data/README.md").read_text("utf-8")
    found = {key: int(count.replace(",", "")) for key, count in re.findall(pattern, text)}
    assert found
    return found


def test_pud_joined_in_all_its_languages() -> None:
    paths = [next(shared(f"data/ud/{name}").glob("*-ud-test.conllu.xz")) for name in PUD]
    pud = ig.read_parallel(paths)
    assert (len(pud), len(pud.languages), len(set(pud.ids))) == (1000, len(PUD), 1000)
    assert len(pud.languages) >= 17
    english = dict(zip(pud.ids, pud.sentences("en"), strict=True))
    assert english["n01001011"].startswith("“While much of the digital transition")
    for lang in pud.languages:
        assert all(map(len, pud.words(lang))), lang


def test_tatoeba() -> None:
    folder = shared("data/tatoeba")
    prefixes = sorted({path.name.rsplit(".", 2)[0] for path in folder.iterdir()})
    assert len(prefixes) == stated(r"(`tatoeba/`) \((\d+) languages")["`tatoeba/`"]
    most = stated(r"`(tatoeba)/` .*? up to (\d+) pairs")["tatoeba"]
    for prefix in prefixes:
        pairs = ig.read_parallel(folder / prefix)
        assert 0 < len(pairs) <= most, prefix
        assert "en" in pairs.languages, prefix
        assert len(pairs) == original(next(folder.glob(f"{prefix}.eng.xz"))).count(b"\n")


@pytest.mark.slow
def test_ebible_gaps() -> None:
    folder = shared("data/ebible")
    ids = original(folder / "vref.txt.xz").decode().split("\n")[:-1]
    lines = stated(r"`(ebible)/` verse-aligned, ([\d,]+) lines")["ebible"]
    files = [path for path in folder.iterdir() if path.name != "vref.txt.xz"]
    assert len(files) == 13
    for path in files:
        verses = original(path).decode().split("\n")[:-1]
        assert len(verses) == lines
        bible = ig.read_parallel({"x": path})
        assert bible.sentences("x") == tuple(verse for verse in verses if verse not in ("", "<range>")), path.name
        present = [id for id, verse in zip(ids, verses, strict=True) if verse]
        assert "+".join(bible.ids).split("+") == present, path.name


def test_ebible_in_three_languages() -> None:
    names = {"en": "eng-engBBE", "tr": "tur-turytc", "wo": "wol-wolKYG"}
    bibles = {lang: shared(f"data/ebible/{name}.txt.xz") for lang, name in names.items()}
    pairs = ig.read_parallel(bibles)
    verses = original(shared("data/ebible/vref.txt.xz")).decode().split("\n")[:-1]
    for lang, path in bibles.items():
        lines = dict(zip(verses, original(path).decode().split("\n")[:-1], strict=True))
        for id, text in zip(pairs.ids, pairs.sentences(lang), strict=True):
            assert text == " ".join(lines[verse] for verse in id.split("+") if lines[verse] != "<range>")
            assert all(lines[verse] for verse in id.split("+"))
    assert (len(pairs), sum("+" in id for id in pairs.ids)) == (22903, 78)


@pytest.mark.parametrize(("name", "links"), [("enfr", 17438), ("zhen", 11416)])
def test_gold_alignments_count_from_one(tmp_path: Path, name: str, links: int) -> None:
    gold, pairs = shared(f"data/alignment/awesome/{name}.gold.xz"), shared(f"data/alignment/awesome/{name}.src-tgt.xz")
    bitext = ig.read_bitext(pairs, gold)
    assert detect_format(gold).summary.endswith("counted from 1")
    assert ig.read_alignment(gold).items == ig.read_alignment(gold, base=1).items
    assert len(bitext) == stated(r"(en-fr|zh-en) (\d+)")[f"{name[:2]}-{name[2:]}"]
    assert bitext.counts["links"] == links == len(re.findall(rb"\d+[-p]\d+", original(gold)))
    assert bitext[0].alignment.links == ig.read_alignment(gold, base=1)[0].links
    with pytest.raises(InputError, match="links within"):
        ig.read_bitext(pairs, gold, base=0)
    ig.read_alignment(gold, base=1).write(tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == original(gold)
    read_corpus(pairs, FORMATS["fast-align"]).write(tmp_path / "pairs")
    assert (tmp_path / "pairs").read_bytes() == original(pairs)


def test_json_alignments(tmp_path: Path) -> None:
    files = sorted(shared("data/alignment/multi").rglob("*.jsonl.xz"))
    assert len(files) == 6
    for path in files:
        faulty = "train" in path.parts and "en-hi" in path.parts  # one link points behind the sentence's end
        bitext = ig.read_bitext(path, repair=faulty)
        assert len(bitext) == original(path).count(b"\n")
        assert len(bitext.repairs) == faulty
        bitext.write(tmp_path / "back")
        assert ((tmp_path / "back").read_bytes() == original(path)) is not faulty


@pytest.mark.parametrize(("lang", "count"), rest_slow(PUD_LINKS, fast=[("ar", 994), ("zh", 999)]))
def test_pud_alignments(lang: str, count: int) -> None:
    folder = shared(f"data/alignment/pud/en-{lang}")
    bitext = ig.read_bitext(folder, repair=True)  # the treebanks lack their last empty line
    assert (len(bitext), bitext.lang, len(bitext.repairs)) == (count, f"en>{lang}", 2)
    ids = re.findall(rb'"(\d+|X)"(:?)', original(folder / "alignment.json.xz"))
    assert 10_000 < bitext.counts["links"] < len(ids)


@pytest.mark.parametrize("name", rest_slow(LEXICONS, fast=["eng-hin.tsv.xz", "eng-rus.tsv.xz"]))
def test_lexicons(name: str, tmp_path: Path) -> None:
    path = shared("data/lexicons") / name
    assert len(LEXICONS) == 10
    lexicon = ig.read_lexicon(path)
    assert lexicon.lang.startswith("en>")
    assert len(lexicon) == original(path).count(b"\n") <= 60_000
    lexicon.write(tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == original(path)


def test_raw_text_streams_to_the_stated_end() -> None:
    counts = stated(r"\n\| ([a-z]{2,3}) \| (\d+) \| [\d.]+ \|")
    for lang in ("ug", "fo", "hi"):
        text = ig.read_text(shared(f"data/raw/{lang}.txt.xz"))
        assert (text.lang, text.counts["lines"]) == (lang, counts[lang])
    assert len(list(islice(stream_files([shared("data/raw/en.txt.xz")]), 1000))) == 1000


@pytest.mark.slow
@pytest.mark.parametrize("lang", RAW)
def test_all_raw_text(tmp_path: Path, lang: str) -> None:
    path = shared(f"data/raw/{lang}.txt.xz")
    text = ig.read_text(path)
    assert text.counts["lines"] == stated(r"\n\| ([a-z]{2,3}) \| (\d+) \| [\d.]+ \|")[lang]
    text.write(tmp_path / "back.txt")
    assert (tmp_path / "back.txt").read_bytes() == original(path)


@pytest.mark.parametrize(("split", "premises"), [("dev", 830), ("test", 1670)])
def test_xnli_premises_are_parallel(split: str, premises: int) -> None:
    pairs = ig.read_parallel(sorted(shared("data/xnli").glob(f"{split}-*.tsv.xz")))
    assert (len(pairs), len(pairs.languages)) == (premises, 12)
