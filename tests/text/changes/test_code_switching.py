"""Code-switching by a dictionary: words change language, labels stay."""

from __future__ import annotations

from pathlib import Path

import pytest
from shared_data import shared

from isogloss import Laboratory, code_switch, read_lexicon, read_ner, read_treebank
from isogloss.core.errors import UsageError
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.formats import lexicon, squad
from isogloss.corpora.kinds.qa import Answer, Question

ENTRIES = [("dog", "perro"), ("bark", "ladrar"), ("the", "el"), ("do", "hacer"), ("hot dog", "perrito caliente"),
           ("cat", "gato montés")]  # fmt: skip
LEXICON = Corpus(tuple(lexicon.Entry(*entry) for entry in ENTRIES), "en>es", lexicon.FORMAT)
TREE = """# text = The DOG don't bark, cat.
1	The	the	DET	_	_	2	det	_	_
2	DOG	dog	NOUN	_	Number=Sing	5	nsubj	_	_
3-4	don't	_	_	_	_	_	_	_	_
3	do	do	AUX	_	_	5	aux	_	_
4	n't	not	PART	_	_	5	advmod	_	_
5	barks	bark	VERB	_	_	0	root	_	SpaceAfter=No
6	,	,	PUNCT	_	_	5	punct	_	_
7	cat	cat	NOUN	_	_	5	vocative	_	SpaceAfter=No
8	.	.	PUNCT	_	_	5	punct	_	_

"""


def test_word_by_word_translation_of_a_tree(tmp_path: Path) -> None:
    path = tmp_path / "en_x-ud-train.conllu"
    path.write_text(TREE, encoding="utf-8")
    bank = read_treebank(path)
    (tree,) = code_switch(bank, LEXICON, 1.0)
    assert tree.words == ["El", "PERRO", "hacer", "n't", "ladrar", ",", "cat", "."]
    assert tree.text == "El PERRO hacer n't ladrar, cat."  # the multiword token is dissolved
    assert [row[3:9] for row in tree.nodes] == [row[3:9] for row in bank[0].nodes]
    assert [row.lemma for row in tree.nodes] == ["_", "_", "_", "not", "_", ",", "cat", "."]
    bank.with_items([tree]).write(tmp_path / "new.conllu")
    read_treebank(tmp_path / "new.conllu", lang="en")
    assert code_switch(bank, LEXICON, 0.0) == bank


def test_a_dissolved_token_keeps_the_space_after_it(tmp_path: Path) -> None:
    path = tmp_path / "en_x-ud-train.conllu"
    path.write_text(
        TREE.replace("3-4\tdon't\t_\t_\t_\t_\t_\t_\t_\t_", "3-4\tdon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No")
    )
    (tree,) = code_switch(read_treebank(path), LEXICON, 1.0)
    assert tree.text == "El PERRO hacer n'tladrar, cat."


def test_tags_of_words_stay(tmp_path: Path) -> None:
    path = tmp_path / "en.tsv"
    path.write_text("The\tO\nDog\tB-ORG\ncat\tO\n\n", encoding="utf-8")
    (sentence,) = code_switch(read_ner(path, format="ner-tsv"), LEXICON, 1.0)
    assert sentence.words == ["El", "Perro", "cat"]
    assert sentence.tags == ["O", "B-ORG", "O"]


def test_answers_are_found_again() -> None:
    context = "The dog, the dog's bone"
    question = Question("1", "Whose dog?", context, (Answer("dog", 4), Answer("the dog's", 9), Answer("og", 5)))
    (new,) = code_switch(Corpus((question,), "en", squad.FORMAT), LEXICON, 1.0)
    assert new.context == "El perro, el dog's bone"
    assert new.question == "Whose perro?"
    assert [answer.text for answer in new.answers] == ["perro", "el dog's", "perro"]
    assert all(new.context[a.start : a.start + len(a.text)] == a.text for a in new.answers)


def test_the_ratio_and_the_seed() -> None:
    lab = Laboratory(seed=0)
    bank, entries = lab.treebank("qla", "train", 300), lab.lexicon("qla", "qld")
    known = {e.source.lower() for e in entries if e.source.lower() != e.target.lower()}  # loans look the same
    half = code_switch(bank, entries, 0.5, seed=3)
    pairs = [(a, b) for old, new in zip(bank, half, strict=True) for a, b in zip(old.words, new.words, strict=True)]
    could = [(a, b) for a, b in pairs if a.lower() in known]
    assert len(could) > 500
    assert abs(sum(a != b for a, b in could) / len(could) - 0.5) < 0.08
    assert half == code_switch(bank, entries, 0.5, seed=3) != code_switch(bank, entries, 0.5, seed=4)


def test_a_real_dictionary(tmp_path: Path) -> None:
    bank = read_treebank(shared("data/ud/UD_English-PUD/en_pud-ud-test.conllu.xz"))
    entries = read_lexicon(shared("data/lexicons/eng-tur.tsv.xz"))
    new = code_switch(bank, entries, 1.0)
    new.write(tmp_path / "new.conllu")
    again = read_treebank(tmp_path / "new.conllu", lang="en")
    assert again.counts["words"] == bank.counts["words"]
    assert [tree.upos for tree in again] == [tree.upos for tree in bank]
    changed = sum(
        a != b for old, new in zip(bank, again, strict=True) for a, b in zip(old.words, new.words, strict=True)
    )
    assert changed > 0.4 * bank.counts["words"]


def test_a_ratio_beyond_one_is_told() -> None:
    with pytest.raises(UsageError, match="a ratio between 0 and 1, got 2"):
        code_switch(Laboratory(seed=0).treebank("qla", "train", 2), LEXICON, 2)
