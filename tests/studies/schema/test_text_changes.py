"""Text changes as a study names them: arguments, and what they do to a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from isogloss import Laboratory
from isogloss.corpora.corpus import AnyCorpus
from isogloss.studies.schema.text_changes import TEXT_CHANGES, TextChange

LAB = Laboratory(seed=0)
BANK = LAB.treebank("qlj", "train", 20)


def applied(told: Any, corpus: AnyCorpus, folder: Path | None = None) -> AnyCorpus:
    """As a study does it: read, sent as JSON, read again."""
    change = TextChange.model_validate(told, context={"folder": folder or Path()})
    return type(change.arguments).model_validate(change.arguments.model_dump(mode="json")).apply(corpus)


def test_transliteration_of_some_languages() -> None:
    assert applied("transliterate", BANK)[0].words[0].isascii() or applied("transliterate", BANK) != BANK
    assert applied({"transliterate": {"langs": ["qla"]}}, BANK) == BANK
    assert applied({"transliterate": {"scheme": "permutation", "seed": 2}}, BANK) != BANK


def test_short_forms() -> None:
    corpus = LAB.treebank("qla", "train", 20)
    assert applied({"noise": 0.5}, corpus) != corpus
    assert applied({"reorder": "OSV"}, corpus) != corpus
    change = TextChange.model_validate({"noise": 0.5})
    assert change.arguments.on == ("train",)  # noise is for the source; dev and test stay
    assert TextChange.model_validate("transliterate").arguments.on == ("train", "dev", "test")


def test_a_lexicon_is_a_file_of_the_study(tmp_path: Path) -> None:
    corpus = LAB.treebank("qla", "train", 20)
    LAB.lexicon("qla", "qld").write(tmp_path / "lexicon.tsv")
    told = {"code_switch": {"lexicon": "lexicon.tsv", "ratio": 1.0}}
    assert applied(told, corpus, tmp_path) != corpus
    (lexicon,) = TextChange.model_validate(told, context={"folder": tmp_path}).arguments.lexicon  # type: ignore[attr-defined]
    assert lexicon == str((tmp_path / "lexicon.tsv").resolve())  # so that its content is part of the identity


@pytest.mark.parametrize("told", [{"noise": 2.0}, {"reorder": "SOW"}, {"code_switch": {}}, {"transliterat": {}}])
def test_wrong_arguments_are_errors(told: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        TextChange.model_validate(told)


def test_every_change_has_a_seed_and_roles() -> None:
    for kind in TEXT_CHANGES.values():
        assert {"on", "seed"} <= set(kind.model_fields)
