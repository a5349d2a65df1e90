"""Every kind of corpus is declared once, and every format and task names a declared kind."""

from __future__ import annotations

from pathlib import Path

import pytest

import isogloss as ig
from isogloss.corpora.formats import FORMATS, detect_format, formats_of
from isogloss.corpora.kinds import KINDS
from isogloss.corpora.kinds.kind import LabSelection
from isogloss.corpora.kinds.nli import NliPair
from isogloss.corpora.kinds.qa import Answer, Question
from isogloss.tasks import TASKS

GENERATED = [name for name in KINDS if KINDS[name].laboratory]


@pytest.mark.parametrize("name", list(KINDS))
def test_a_kind_has_its_name_and_a_format(name: str) -> None:
    assert KINDS[name].name == name
    assert formats_of(name)
    hub = KINDS[name].hub
    assert hub is None or FORMATS[hub.format].kind == name


def test_formats_and_tasks_name_known_kinds() -> None:
    assert {format.kind for format in FORMATS.values()} == set(KINDS)
    assert {task.corpus for task in TASKS.values()} <= set(KINDS)


@pytest.mark.parametrize("name", GENERATED)
def test_generated_corpora_are_of_their_kind_and_detected_by_their_suffix(name: str, tmp_path: Path) -> None:
    generate = KINDS[name].laboratory
    assert generate
    corpus = generate(ig.Laboratory(1), LabSelection("qla,qlb" if name == "bitext" else "qla", "train", 3))
    assert corpus.kind is KINDS[name]
    assert len(corpus) == 3
    corpus.write(tmp_path / f"corpus{corpus.format.suffix}")
    assert detect_format(tmp_path / f"corpus{corpus.format.suffix}", name) is corpus.format


def test_texts_of_items() -> None:
    pair = NliPair("A dog barks.", "It sleeps.", "contradiction")
    assert KINDS["nli"].text and KINDS["nli"].text(pair) == "A dog barks. It sleeps."
    assert KINDS["nli"].display(pair) == {"premise": "A dog barks.", "hypothesis": "It sleeps."}
    question = Question("q1", "Who barks?", "The dog barks.", (Answer("dog", 4),))
    assert KINDS["qa"].text and KINDS["qa"].text(question) == "The dog barks. Who barks?"
    assert KINDS["qa"].display(question) == {"question": "Who barks?"}
    tree = ig.Laboratory().treebank("qla", "dev", 1)[0]
    assert KINDS["treebank"].text and KINDS["treebank"].text(tree) == tree.text
    assert KINDS["treebank"].display(tree) == tree.words
