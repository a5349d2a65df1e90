"""Realised sentences: valid trees, projective where declared, aligned word by word, entities that correspond."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import islice
from pathlib import Path

import pytest

from isogloss.core.seeds import Chance
from isogloss.corpora.kinds.treebank import Tree
from isogloss.corpora.lab import annotate
from isogloss.corpora.lab.laboratory import Laboratory
from isogloss.corpora.lab.languages import LANGUAGES
from isogloss.corpora.lab.meaning import Adjunct, Clause, Phrase, concepts
from isogloss.corpora.lab.realise import realiser
from isogloss.corpora.lab.sampling import MAX_CONCEPTS, Sampler
from isogloss.corpora.lab.scripts import transliterate
from isogloss.corpora.lab.words import Sentence
from isogloss.corpora.readers import read_treebank

UPOS = {
    *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "NOUN"),
    *("NUM", "PART", "PRON", "PROPN", "PUNCT", "SCONJ", "VERB"),
}
DEPRELS = {
    *("acl:relcl", "advcl", "advmod", "amod", "aux", "case", "cc", "ccomp", "compound", "conj", "cop"),
    *("det", "flat", "iobj", "mark", "nmod", "nsubj", "nummod", "obj", "obl", "punct", "root"),
}
CONTENT = {"NOUN", "PROPN", "VERB", "ADJ", "NUM", "ADV", "PRON"}


@cache
def meanings() -> list[Clause]:
    sampler = Sampler(Chance(11, "realise"), name_percent=45)
    return [sampler.sentence() for _ in range(300)]


@cache
def said(code: str) -> list[Sentence]:
    return [realiser(code).realise(meaning) for meaning in meanings()]


def is_projective(heads: list[int]) -> bool:
    """No two arcs cross (the root's arc from 0 included)."""
    arcs = [(min(head, word), max(head, word)) for word, head in enumerate(heads, 1)]
    return not any(a < c < b < d for a, b in arcs for c, d in arcs)


def test_the_projectivity_check_itself() -> None:
    assert is_projective([2, 0, 2])
    assert not is_projective([3, 4, 0, 3])


@pytest.mark.parametrize("code", LANGUAGES)
def test_treebanks_are_valid_and_come_back_as_written(code: str, tmp_path: Path) -> None:
    bank = Laboratory(3).treebank(code, "train", 150)
    path = tmp_path / f"{code}_lab-ud-train.conllu"
    bank.write(path)
    again = read_treebank(path)
    assert again.items == bank.items
    assert again.lang == code
    for tree in again:
        assert set(tree.upos) <= UPOS
        assert set(tree.deprels) <= DEPRELS
        assert tree.deprels.count("root") == 1
        assert tree.heads[tree.deprels.index("root")] == 0
        assert tree.text == Tree((), tree.rows).text  # what SpaceAfter and multiword tokens spell
        for row in tree.nodes:
            assert row.feats == "_" or row.feats.split("|") == sorted(row.feats.split("|"))
            assert (row.upos == "PUNCT") == (row.deprel == "punct")


@pytest.mark.parametrize("code", LANGUAGES)
def test_trees_are_projective_where_declared(code: str) -> None:
    crossing = 0
    for sentence in said(code):
        crossing += not is_projective(annotate.tree(sentence, "x").heads)
    assert (crossing == 0) == LANGUAGES[code].projective


@pytest.mark.parametrize("code", LANGUAGES)
def test_basic_word_order_is_the_declared_one(code: str) -> None:
    meaning = Clause("see", Phrase("dog", determiner="the"), object=Phrase("cat", determiner="a"))
    roles = {"nsubj": "S", "obj": "O", "root": "V"}
    order = "".join(roles.get(word.deprel, "") for word in realiser(code).realise(meaning).words)
    assert order == LANGUAGES[code].grammar.order


@pytest.mark.parametrize("code", LANGUAGES)
def test_sentence_lengths(code: str) -> None:
    lengths = [len(sentence.words) for sentence in islice(Laboratory(1).sentences(code, "treebank"), 500)]
    assert min(lengths) >= 4
    assert max(lengths) <= 27
    assert 7.5 < sum(lengths) / len(lengths) < 13
    assert len(set(lengths)) > 10


@pytest.mark.parametrize("code", LANGUAGES)
def test_lines_of_running_text_are_shorter(code: str) -> None:
    lengths = [len(sentence.words) for sentence in islice(Laboratory(1).sentences(code), 300)]
    assert min(lengths) >= 2
    assert 6 < sum(lengths) / len(lengths) < 11


def test_the_source_language_has_about_eleven_words_a_sentence() -> None:
    lengths = [len(sentence.words) for sentence in islice(Laboratory(1).sentences("qla", "treebank"), 1500)]
    assert 10 <= sum(lengths) / len(lengths) <= 12


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_word_has_its_own_key_and_head(code: str) -> None:
    for sentence in said(code):
        keys = [word.key for word in sentence.words]
        assert len(set(keys)) == len(keys)
        assert sum(word.head is None for word in sentence.words) == 1


@pytest.mark.parametrize("code", [code for code in LANGUAGES if code != "qla"])
def test_alignments_are_one_to_one_and_join_the_same_concepts(code: str) -> None:
    for source, target in zip(said("qla"), said(code), strict=True):
        links = annotate.links(source, target).sure
        ours, theirs = source.tokens, target.tokens
        assert len({s for s, _ in links}) == len({t for _, t in links}) == len(links)
        assert all(ours[s].key == theirs[t].key for s, t in links)
        assert all(same_kind(ours[s].upos, theirs[t].upos) for s, t in links)
        unaligned = set(range(len(ours))) - {s for s, _ in links}
        assert not [ours[i].form for i in unaligned if is_content(ours[i].key, ours[i].upos)]
        unaligned = set(range(len(theirs))) - {t for _, t in links}
        assert not [theirs[j].form for j in unaligned if is_content(theirs[j].key, theirs[j].upos)]


def same_kind(one: str, other: str) -> bool:
    return one == other or {one, other} == {"PRON", "SCONJ"}  # relative pronoun and relative particle


def is_content(key: str, upos: str) -> bool:
    return upos in CONTENT and not key.endswith(":which")


@pytest.mark.parametrize("code", LANGUAGES)
def test_names_are_aligned_to_themselves(code: str) -> None:
    script = LANGUAGES[code].script
    for source, target in zip(said("qla"), said(code), strict=True):
        lemmas = {word.key: word.lemma for word in target.words}
        for word in source.words:
            if word.upos == "PROPN" and word.key.endswith(":head"):
                assert transliterate(lemmas[word.key], script, "Latn").lower() == word.lemma.lower()


def spans(tags: list[str] | None) -> list[str]:
    assert tags is not None
    return [tag[2:] for tag in tags if tag.startswith("B-")]


@pytest.mark.parametrize("code", LANGUAGES)
def test_entities_correspond_across_languages(code: str) -> None:
    for source, target in zip(said("qla"), said(code), strict=True):
        ours, theirs = entities_by_address(source), entities_by_address(target)
        assert ours == theirs
        assert Counter(spans(annotate.entities(target).tags)) == Counter(kind for kind, _ in theirs.values())


def entities_by_address(sentence: Sentence) -> dict[str, tuple[str, frozenset[str]]]:
    """Address → type and the names in it (in Latin letters, without endings)."""
    script = LANGUAGES[sentence.code].script
    found: dict[str, tuple[str, frozenset[str]]] = {}
    for word in sentence.words:
        if word.entity:
            kind, _, address = word.entity.partition(" ")
            is_noun = kind == "ORG" and word.key.endswith(":second")  # Tarol Bank: every language has its bank
            name = "" if is_noun else transliterate(word.lemma, script, "Latn").lower()
            found[address] = kind, found.get(address, (kind, frozenset()))[1] | {name}
    return found


def test_all_entity_types_and_long_names_occur() -> None:
    tags = [tag for sentence in said("qlb") for tag in annotate.entities(sentence).tags or []]
    assert {"B-PER", "I-PER", "B-LOC", "B-ORG", "I-ORG", "O"} == set(tags)


def test_rich_constructions_occur() -> None:
    deprels = {word.deprel for code in ("qla", "qlb", "qld") for sentence in said(code) for word in sentence.words}
    assert deprels == DEPRELS
    assert any(word.fused for sentence in said("qlb") for word in sentence.words)
    assert any(meaning.asks for meaning in meanings())
    assert max(len(concepts(meaning)) for meaning in meanings()) <= MAX_CONCEPTS


def test_a_fused_token_stands_for_two_words() -> None:
    place = Adjunct("near", Phrase("house", determiner="the"))
    sentence = realiser("qlb").realise(Clause("sleep", Phrase("pana", "PER"), place=place))
    rows = annotate.tree(sentence, "1").rows
    fused = [row for row in rows if "-" in row.id]
    assert len(fused) == 1
    assert fused[0].form in sentence.text.split()
    assert len(sentence.tokens) == len(sentence.words) - 1
    assert [row.upos for row in rows[rows.index(fused[0]) + 1 :][:2]] == ["ADP", "DET"]


def test_agreement() -> None:
    """Gender on articles and adjectives, number on verbs, case on nouns: each changes the form."""
    big = ("big",)
    feminine = next(
        n for n in ("house", "tower", "ship", "river", "cup") if realiser("qlb").lexicon.feminine(Phrase(n))
    )
    masculine = next(
        n for n in ("horse", "town", "bed", "lake", "oak") if not realiser("qlb").lexicon.feminine(Phrase(n))
    )
    forms = []
    for noun in (feminine, masculine):
        words = (
            realiser("qlb").realise(Clause("be", Phrase(noun, determiner="the", adjectives=big), predicate="old")).words
        )
        forms.append([word.form.lower() for word in words if word.upos in ("DET", "ADJ")])
    assert all(a != b for a, b in zip(*forms, strict=True))
    one, many = (Clause("sleep", Phrase("dog", determiner="the", plural=plural)) for plural in (False, True))
    for code in ("qla", "qlb", "qlc", "qld", "qlf", "qlg"):
        verbs = [next(w.form for w in realiser(code).realise(m).words if w.upos == "VERB") for m in (one, many)]
        assert verbs[0] != verbs[1], code
    seen = Clause("see", Phrase("dog"), object=Phrase("dog"))
    for code in ("qlc", "qld"):
        nouns = [word.form.lower() for word in realiser(code).realise(seen).words if word.upos == "NOUN"]
        assert nouns[0] != nouns[1], code
