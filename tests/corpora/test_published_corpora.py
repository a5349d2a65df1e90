"""The published NER, NLI and QA files: counted independently by lines, read, and written back as they were."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest
from shared_data import rest_slow, shared

import isogloss as ig
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.formats import detect_format

PANX = {
    f"test-{lang}": 10000
    for lang in ["ar", "bg", "de", "en", "es", "et", "fi", "fr", "id", "it", "ja", "pl", "pt", "ru", "tr", "vi", "zh"]
}
PANX |= {f"train-{lang}": 20000 for lang in ["ar", "de", "en", "es", "fr", "id", "ru", "tr", "vi"]}
PANX |= {"test-hi": 1000, "train-hi": 5000, "dev-ja": 10000, "dev-zh": 10000, "dev-hi": 1000}
MASAKHANER = {"bam": (4462, 638, 1274), "pcm": (2124, 306, 600), "wol": (1871, 267, 539)}
XNLI = ["ar", "bg", "de", "en", "es", "fr", "hi", "ru", "sw", "tr", "vi", "zh"]
XQUAD = ["ar", "de", "en", "es", "hi", "ru", "tr", "vi", "zh"]
TYDI = {
    "dev": {"ar": 921, "bn": 113, "en": 440, "fi": 782, "id": 565, "ko": 276, "ru": 812, "sw": 499, "te": 669},
    "train": {"en": 3696, "ko": 1625, "sw": 2755},
}
TYDI_FILES = [(split, lang) for split, counts in TYDI.items() for lang in counts]
MLQA = {
    "ar-ar": 517, "ar-en": 517, "de-de": 512, "de-en": 512, "en-ar": 517, "en-de": 512, "en-en": 1148, "en-es": 500,
    "en-hi": 507, "en-vi": 511, "es-en": 500, "es-es": 500, "hi-en": 507, "hi-hi": 507, "vi-en": 511, "vi-vi": 511,
}  # fmt: skip


def check(path: Path, corpus: Corpus, count: int, lang: str, tmp_path: Path) -> None:
    assert (len(corpus), corpus.lang, corpus.repairs) == (count, lang, ())
    copy = tmp_path / path.stem
    corpus.write(copy)
    with lzma.open(path) as file:
        was = file.read()
    assert copy.read_bytes() == was or (copy.suffix == ".json" and json.loads(copy.read_bytes()) == json.loads(was))


@pytest.mark.parametrize("name", rest_slow(PANX, fast=["test-hi", "train-hi", "dev-hi", "dev-zh"]))
def test_panx(tmp_path: Path, name: str) -> None:
    path = shared(f"data/panx/{name}.tsv.xz")
    corpus = ig.read_ner(path)
    check(path, corpus, PANX[name], name[-2:], tmp_path)
    assert corpus.counts.get("sentences without tags", 0) == (len(corpus) if name.startswith("test") else 0)


@pytest.mark.parametrize(("folder", "lang"), [("bam", "bm"), ("pcm", "pcm"), ("wol", "wo")])
def test_masakhaner(tmp_path: Path, folder: str, lang: str) -> None:
    for split, count in zip(("train", "dev", "test"), MASAKHANER[folder], strict=True):
        path = shared(f"data/masakhaner/{folder}/{split}.txt.xz")
        check(path, ig.read_ner(path), count, lang, tmp_path)


@pytest.mark.parametrize("lang", rest_slow(XNLI, fast=["ar", "en", "zh"]))
def test_xnli(tmp_path: Path, lang: str) -> None:
    for split, count in (("dev", 2490), ("test", 5010)):
        path = shared(f"data/xnli/{split}-{lang}.tsv.xz")
        corpus = ig.read_nli(path)
        check(path, corpus, count, lang, tmp_path)
        # the test files here carry no labels, as XTREME hands them out
        assert corpus.counts.get("pairs without label", 0) == (count if split == "test" else 0)


@pytest.mark.parametrize(
    ("name", "count", "lang"),
    [
        ("mnli_subset/train-en.tsv", 9888, "en"),
        ("mnli_subset/validation-en.tsv", 6238, "en"),
        ("snli_subset/train.csv", 18000, "und"),
        ("snli_subset/test.csv", 2000, "und"),
    ],
)
def test_mnli_and_snli(tmp_path: Path, name: str, count: int, lang: str) -> None:
    path = shared(f"data/{name}.xz")
    check(path, ig.read_nli(path), count, lang, tmp_path)


@pytest.mark.parametrize("lang", rest_slow(XQUAD, fast=["ar", "zh"]))
def test_xquad(tmp_path: Path, lang: str) -> None:
    path = shared(f"data/xquad/xquad.{lang}.json.xz")
    check(path, ig.read_qa(path), 1190, lang, tmp_path)


@pytest.mark.parametrize(("split", "lang"), rest_slow(TYDI_FILES, fast=[("dev", "bn"), ("dev", "te"), ("train", "ko")]))
def test_tydi(tmp_path: Path, split: str, lang: str) -> None:
    count = TYDI[split][lang]
    path = shared(f"data/tydiqa/{split}/tydiqa.goldp.{lang}.{split}.json.xz")
    corpus = ig.read_qa(path)
    check(path, corpus, count, lang, tmp_path)
    # the dev files here carry no answers, as XTREME hands them out
    assert corpus.counts.get("questions without answer", 0) == (count if split == "dev" else 0)


@pytest.mark.parametrize("pair", rest_slow(MLQA, fast=["ar-en", "en-hi", "vi-vi"]))
def test_mlqa(tmp_path: Path, pair: str) -> None:
    context, question = pair.split("-")
    path = shared(f"data/mlqa/dev/dev-context-{context}-question-{question}.json.xz")
    corpus = ig.read_qa(path)
    check(path, corpus, MLQA[pair], context, tmp_path)
    assert {q.question_lang for q in corpus} == {question}


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("panx/train-en.tsv", "ner-tsv"),
        ("panx/test-ja.tsv", "ner-tsv"),
        ("masakhaner/bam/dev.txt", "ner-space"),
        ("xnli/dev-zh.tsv", "nli-tsv"),
        ("snli_subset/test.csv", "snli-numbered"),
        ("xquad/xquad.zh.json", "squad"),
        ("mlqa/dev/dev-context-hi-question-hi.json", "squad"),
        ("lexicons/eng-rus.tsv", "lexicon"),
        ("ud/UD_English-PUD/en_pud-ud-test.conllu", "conllu"),
        ("raw/wo.txt", "text"),
    ],
)
def test_formats_are_told_apart(name: str, format: str) -> None:
    assert detect_format(shared(f"data/{name}.xz")).name == format
