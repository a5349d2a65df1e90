"""`hub:` names, with datasets that lie in folders: the same types as from files, and no network."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import isogloss as ig
from isogloss.core.errors import InputError, MissingExtra, UsageError
from isogloss.corpora.kinds.ner import NerSentence
from isogloss.corpora.kinds.nli import NliPair
from isogloss.corpora.kinds.qa import Answer
from isogloss.corpora.parallel import ParallelSet

datasets = pytest.importorskip("datasets")


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path_factory.mktemp("cache"))


def dataset(folder: Path, rows: list[dict[str, Any]], split: str = "train", **features: Any) -> str:
    """A folder of one Parquet file, which keeps the features."""
    folder.mkdir(parents=True, exist_ok=True)
    typed = datasets.Features(features) if features else None
    datasets.Dataset.from_list(rows, features=typed).to_parquet(folder / f"{split}.parquet")
    return f"hub:{folder}"


def labels(*names: str) -> Any:
    return datasets.ClassLabel(names=list(names))


def value() -> Any:
    return datasets.Value("string")


def test_treebank(tmp_path: Path) -> None:
    rows = [
        {"idx": "s1", "text": "Xale yi", "tokens": ["Xale", "yi"], "upos": [0, 1], "head": ["0", "1"],
         "deprel": ["root", "det"], "feats": ["None", "Definite=Def"]},
    ]  # fmt: skip
    many = datasets.Sequence
    name = dataset(
        tmp_path / "wo", rows, idx=value(), text=value(), tokens=many(value()), upos=many(labels("NOUN", "DET")),
        head=many(value()), deprel=many(value()), feats=many(value()),
    )  # fmt: skip
    bank = ig.read_treebank(f"{name}:train")
    tree = bank[0]
    assert (bank.lang, bank.origin, tree.sent_id, tree.text) == ("wo", f"{name}:train", "s1", "Xale yi")
    assert (tree.words, tree.upos, tree.heads, tree.deprels) == (
        ["Xale", "yi"],
        ["NOUN", "DET"],
        [0, 1],
        ["root", "det"],
    )
    assert [row.feats for row in tree.nodes] == ["_", "Definite=Def"]
    bank.write(tmp_path / "back.conllu")
    assert ig.read_treebank(tmp_path / "back.conllu").items == bank.items


def test_a_treebank_is_checked_like_a_file(tmp_path: Path) -> None:
    name = dataset(tmp_path / "x", [{"tokens": ["a", "b"], "head": ["2", "1"]}])
    with pytest.raises(InputError, match=r"^hub:.*one root"):
        ig.read_treebank(name)
    name = dataset(tmp_path / "y", [{"tokens": ["a", "b"], "head": ["0"]}])
    with pytest.raises(InputError, match=r"^hub:.*kind 'treebank'"):
        ig.read_treebank(name)


def test_ner(tmp_path: Path) -> None:
    rows = [{"tokens": ["Awa", "dem", "na"], "ner_tags": [1, 0, 0]}]
    features = {"tokens": datasets.Sequence(value()), "ner_tags": datasets.Sequence(labels("O", "B-PER"))}
    ner = ig.read_ner(dataset(tmp_path / "wol", rows, **features))
    assert isinstance(ner[0], NerSentence)
    assert (ner.lang, ner[0].words, ner[0].tags) == ("wo", ["Awa", "dem", "na"], ["B-PER", "O", "O"])
    with pytest.raises(InputError, match="tag"):  # class numbers whose names are nowhere
        ig.read_ner(dataset(tmp_path / "bam", rows))


def test_nli(tmp_path: Path) -> None:
    rows = [{"premise": "p\tq", "hypothesis": "h", "label": 2}, {"premise": "p", "hypothesis": "h", "label": -1}]
    names = labels("entailment", "neutral", "contradiction")
    nli = ig.read_nli(dataset(tmp_path / "fr", rows, premise=value(), hypothesis=value(), label=names), lang="sw")
    assert isinstance(nli[0], NliPair)
    assert [(pair.premise, pair.label) for pair in nli] == [("p\tq", "contradiction"), ("p", None)]
    assert nli.lang == "sw"


def test_questions(tmp_path: Path) -> None:
    answers = {"text": ["dog"], "answer_start": [4]}
    row = {"id": "q1", "title": "t", "context": "The dog barks.", "question": "Who?", "answers": answers}
    qa = ig.read_qa(dataset(tmp_path / "en", [row]))
    assert (qa[0].answers, qa[0].context_lang) == ((Answer("dog", 4),), "en")
    wrong = row | {"answers": {"text": ["dog"], "answer_start": [5]}}
    with pytest.raises(InputError, match=r"^hub:"):
        ig.read_qa(dataset(tmp_path / "fr", [wrong]))


def test_parallel_text(tmp_path: Path) -> None:
    rows = [{"translation": {"en": "Go !", "wo": "Demal !"}}]
    pairs = ig.read_parallel(dataset(tmp_path / "a", rows), words=True)
    assert isinstance(pairs, ParallelSet)
    assert (pairs.languages, pairs.words("wo")) == (("en", "wo"), (("Demal", "!"),))
    flat = dataset(tmp_path / "b", [{"id": "7", "eng": "Go", "fra": "Va"}])
    assert ig.read_parallel(flat, languages=["eng", "fra"]).texts == {"en": ("Go",), "fr": ("Va",)}
    with pytest.raises(UsageError, match="Indonesian"):
        ig.read_parallel(flat)
    with pytest.raises(InputError, match=r"each of two or more languages, got .* without \['wo'\]"):
        ig.read_parallel(dataset(tmp_path / "c", [{"translation": {"en": "Go", "wo": ""}}]))


def test_text_of_several_lines(tmp_path: Path) -> None:
    text = ig.read_text(dataset(tmp_path / "wo", [{"text": "one\n\ntwo\u2028still"}, {"text": "three\r\n"}]))
    assert (list(text), text.lang) == (["one", "two\u2028still", "three"], "wo")


def test_json_lines_and_splits(tmp_path: Path) -> None:
    for split in ("train", "test"):
        (tmp_path / f"{split}.jsonl").write_text(json.dumps({"text": split}) + "\n")
    assert list(ig.read_text(f"hub:{tmp_path}:test")) == ["test"]
    with pytest.raises(UsageError, match=r"expected one of the splits .*:train.*:test"):
        ig.read_text(f"hub:{tmp_path}")
    with pytest.raises(InputError, match="a dataset that `datasets` can load"):
        ig.read_text(f"hub:{tmp_path}:validation")


def test_missing_columns_names_and_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = dataset(tmp_path / "x", [{"text": "a"}])
    for read in (ig.read_treebank, ig.read_ner, ig.read_nli, ig.read_qa, ig.read_parallel):
        with pytest.raises(InputError, match=r"^hub:.*expected a"):
            read(name)
    with pytest.raises(UsageError, match="expected hub:OWNER/NAME"):
        ig.read_text("hub:a:b:c")
    with pytest.raises(InputError, match="a dataset that `datasets` can load"):
        ig.read_text("hub:nobody/nothing/en:train@main")
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtra, match=r"isogloss\[hub\]"):
        ig.read_text(name)
