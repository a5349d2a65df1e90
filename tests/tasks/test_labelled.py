"""Labels are checked before a model is loaded: per task, for every corpus at once, with file and line."""

from __future__ import annotations

import json
import lzma
import warnings
from pathlib import Path

import pytest
from shared_data import shared

import isogloss as ig
from isogloss.core.errors import InputError, SeveralErrors
from isogloss.corpora.item_lines import line_of
from isogloss.corpora.readers import read_kind
from isogloss.tasks import TASKS
from isogloss.tasks.labelled import label_facts, labelled_corpora

WORD = "{}\t{}\t_\t{}\t_\t_\t{}\t{}\t_\t_\n"


def sentence(*tags: str, head: str = "0", relation: str = "root") -> str:
    lines = [WORD.format(1, "one", tags[0], head, relation)]
    lines += [WORD.format(i, f"w{i}", tag, "_" if head == "_" else "1", relation) for i, tag in enumerate(tags[1:], 2)]
    return "# text = x\n" + "".join(lines) + "\n"


def squad(answers: list[list[dict[str, object]]]) -> str:
    qas = [{"id": f"q{i}", "question": "Who?", "answers": given} for i, given in enumerate(answers)]
    return json.dumps({"data": [{"title": "t", "paragraphs": [{"context": "Ada did.", "qas": qas}]}]})


ADA: list[dict[str, object]] = [{"text": "Ada", "answer_start": 0}]
# task → file name, content, labelled items, items, line of the first item without labels, what it lacks
PARTLY = {
    "pos": ("fr.conllu", sentence("NOUN", "VERB") + sentence("_", "_"), 1, 2, 5, "UPOS tags"),
    "pos, one word": ("fr.conllu", sentence("NOUN") + sentence("NOUN", "_"), 1, 2, 4, "UPOS tag for 1 of 2 words"),
    "parse": ("fr.conllu", sentence("NOUN") * 2 + sentence("NOUN", "X", head="_"), 2, 3, 7, "heads"),
    "parse, relations": ("fr.conllu", sentence("NOUN") + sentence("X", relation="_"), 1, 2, 4, "relations"),
    "nli": ("fr.tsv", "A dog.\tOld.\tneutral\nA cat.\tOld.\t-\nA cat.\tNew.\thidden\n", 1, 3, 2, "label"),
    "nli, JSON": (
        "fr.jsonl",
        "".join(
            json.dumps({"gold_label": x, "sentence1": "A dog barks.", "sentence2": f"{x}."}) + "\n"
            for x in ("neutral", "entailment", "-")
        ),
        2, 3, 3, "label",
    ),
    "qa": ("fr.json", squad([ADA, [], ADA]), 2, 3, None, "answer"),
}  # fmt: skip


@pytest.mark.parametrize("case", PARTLY)
def test_items_without_labels_are_counted_with_the_line_of_the_first(tmp_path: Path, case: str) -> None:
    name, content, labelled, items, line, missing = PARTLY[case]
    task = TASKS[case.partition(",")[0]]
    (tmp_path / name).write_text(content, encoding="utf-8")
    corpus = read_kind(tmp_path / name, task.corpus)
    facts = label_facts(task, corpus)
    assert (facts.labelled, facts.items, facts.line, facts.missing) == (labelled, items, line, missing)
    with pytest.warns(UserWarning, match=f"{items - labelled} of {items} items are left out; the first has no"):
        kept = labelled_corpora(task, {"train": corpus})["train"]
    assert len(kept) == labelled


def test_one_error_names_every_corpus_without_labels(tmp_path: Path) -> None:
    task = TASKS["nli"]
    for name, label in {"train-en": "\tneutral", "test-fr": "", "test-de": "\t-", "test-es": "\tneutral"}.items():
        (tmp_path / f"{name}.tsv").write_text(f"A dog barks loudly.\tAn animal makes a sound.{label}\n" * 3)
    corpora = {path.stem: ig.read_nli(path) for path in sorted(tmp_path.glob("*.tsv"))}
    with pytest.raises(SeveralErrors) as caught:
        labelled_corpora(task, corpora, train="train-en")
    assert len(caught.value.errors) == 2
    for name in ("test-fr", "test-de"):
        assert f"{tmp_path / name}.tsv:1: expected labelled items, got no label in any of its 3 items" in str(
            caught.value
        )


def test_labels_that_training_does_not_have(tmp_path: Path) -> None:
    files = {"train": "B-PER", "fr": "B-DATE", "de": "B-PERSON", "ru": "O"}
    for name, tag in files.items():
        (tmp_path / f"{name}.tsv").write_text(f"Marie\t{tag}\nsings\tO\n\n")
    corpora = {name: ig.read_ner(tmp_path / f"{name}.tsv", lang="en") for name in files}
    with pytest.raises(SeveralErrors) as caught:
        labelled_corpora(TASKS["ner"], corpora)
    assert "de.tsv: expected tags of the training corpus (B-PER, O), got only B-PERSON, O (de)" in str(caught.value)
    assert len(caught.value.errors) == 2
    both = corpora["fr"].with_items([*corpora["fr"], *corpora["train"]])
    with pytest.warns(UserWarning, match="cannot be predicted") as noted:
        labelled_corpora(TASKS["ner"], {"train": corpora["train"], "fr": both, "ru": corpora["ru"]})
    messages = [str(note.message) for note in noted]
    assert "tags that do not occur in the training corpus cannot be predicted: B-DATE" in messages
    assert any("ru.tsv: every tag is O" in message for message in messages)


def test_complete_corpora_pass_unchanged() -> None:
    lab = ig.Laboratory(seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        corpora = {"train": lab.treebank("qla", "train", 20), "qlb": lab.treebank("qlb", "test", 5)}
        checked = labelled_corpora(TASKS["pos"], corpora)
    assert all(checked[name] is corpus for name, corpus in corpora.items())


def test_the_vocabulary_of_the_baseline_is_no_label() -> None:
    from isogloss.tasks.bilstm import bilstm_task

    lab = ig.Laboratory(seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labelled_corpora(
            bilstm_task(TASKS["pos"]), {"train": lab.treebank("qla", "train", 20), "x": lab.treebank("qlk", "test", 5)}
        )


@pytest.mark.parametrize(
    ("task", "name", "missing"),
    [
        ("ner", "panx/test-hi.tsv.xz", "entity tags"),
        ("nli", "xnli/test-sw.tsv.xz", "label"),
        ("qa", "tydiqa/dev/tydiqa.goldp.bn.dev.json.xz", "answer"),
    ],
)
def test_public_files_without_labels(task: str, name: str, missing: str) -> None:
    path = shared(f"data/{name}")
    with pytest.raises(InputError, match=f"no {missing} in any of its"):
        labelled_corpora(TASKS[task], {"train": read_kind(path, TASKS[task].corpus)})


@pytest.mark.parametrize(
    ("kind", "name"),
    [("treebank", "ud/UD_Swiss_German-UZH/gsw_uzh-ud-test.conllu.xz"), ("ner", "masakhaner/bam/dev.txt.xz"),
     ("nli", "xnli/dev-zh.tsv.xz"), ("ner", "panx/dev-hi.tsv.xz")],
)  # fmt: skip
def test_lines_of_items_in_published_files(kind: str, name: str) -> None:
    """Against a plain reading of the file: the item's lines begin at the line that is reported."""
    path = shared(f"data/{name}")
    lines = lzma.decompress(path.read_bytes()).decode().split("\n")
    corpus = read_kind(path, kind)
    for item in (corpus[0], corpus[37], corpus[len(corpus) - 1]):
        line = line_of(corpus, item)
        assert line is not None
        first_word = item.premise if kind == "nli" else item.words[0]
        content = next(text for text in lines[line - 1 :] if text and not text.startswith("#"))
        assert first_word in content
        assert line == 1 or kind == "nli" or lines[line - 2] == ""


def test_line_with_a_header_and_other_languages(tmp_path: Path) -> None:
    path = tmp_path / "xnli.test.tsv"
    header = "language\tgold_label\tsentence1\tsentence2\n"
    path.write_text(header + "ar\tneutral\tA.\tB.\nfr\tneutral\tC.\tD.\nfr\t-\tE.\tF.\n")
    corpus = ig.read_nli(path, lang="fr")
    assert [line_of(corpus, pair) for pair in corpus] == [3, 4]
    assert label_facts(TASKS["nli"], corpus).line == 4
