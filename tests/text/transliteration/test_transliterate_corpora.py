"""Whole corpora in other letters: trees, tags and answers are those of the same words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss import ParallelSet, read_ner, read_nli, read_qa, read_treebank, transliterate
from isogloss.core.errors import UsageError
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.formats import lexicon, squad
from isogloss.corpora.formats import text as raw
from isogloss.corpora.kinds.qa import Answer, Question

TREE = """# sent_id = 1
# text = Он ел щи, да.
# text_en = He ate soup, yes.
1	Он	он	PRON	PR	Case=Nom	2	nsubj	2:nsubj	Translit=On|Gloss=he
2-3	ел щи	_	_	_	_	_	_	_	SpaceAfter=No
2	ел	есть	VERB	V	_	0	root	0:root	_
3	щи	щи	NOUN	S	Case=Acc	2	obj	2:obj	SpaceAfter=No
3.1	ел	есть	VERB	_	_	_	_	2:conj	_
4	,	,	PUNCT	,	_	5	punct	5:punct	_
5	да	_	PART	Q	_	2	discourse	2:discourse	SpaceAfter=No
6	.	.	PUNCT	.	_	2	punct	2:punct	SpacesAfter=\\n

"""


def test_a_tree_keeps_everything_but_its_letters(tmp_path: Path) -> None:
    path = tmp_path / "ru_x-ud-test.conllu"
    path.write_text(TREE, encoding="utf-8")
    bank = read_treebank(path)
    transliterate(bank).write(tmp_path / "latin.conllu")
    latin = (tmp_path / "latin.conllu").read_text(encoding="utf-8")
    expected = TREE.replace("# text = Он ел щи, да.", "# text = On el šči, da.")
    expected = expected.replace("\tОн\tон\t", "\tOn\ton\t").replace("\tел щи\t", "\tel šči\t")
    expected = expected.replace("\tел\tесть\t", "\tel\test'\t").replace("\tщи\tщи\t", "\tšči\tšči\t")
    assert latin == expected.replace("\tда\t", "\tda\t")
    read_treebank(tmp_path / "latin.conllu", lang="ru")  # valid
    assert bank[0].words[0] == "Он"  # nothing changes in place


def test_a_tree_without_a_text_comment_gets_none(tmp_path: Path) -> None:
    path = tmp_path / "ru_x-ud-test.conllu"
    path.write_text("1\tДа\t_\tX\t_\t_\t0\troot\t_\t_\n\n", encoding="utf-8")
    (tree,) = transliterate(read_treebank(path))
    assert tree.comments == () and tree.rows[0][:3] == ("1", "Da", "_")


def test_ner_columns(tmp_path: Path) -> None:
    path = tmp_path / "ru.tsv"
    path.write_text("ru:Юрий\tB-PER\nru:Гагарин\tI-PER\nru:жив\tO\n", encoding="utf-8")
    corpus = read_ner(path, format="panx")
    latin = transliterate(corpus)
    assert latin[0].words == ["Jurij", "Gagarin", "živ"]
    assert latin[0].tags == corpus[0].tags
    latin.write(tmp_path / "latin.tsv")
    assert (tmp_path / "latin.tsv").read_text(encoding="utf-8") == "ru:Jurij\tB-PER\nru:Gagarin\tI-PER\nru:živ\tO\n"


def test_inference_pairs(tmp_path: Path) -> None:
    path = tmp_path / "ru.tsv"
    path.write_text("Идёт дождь\tМокро\tentailment\n", encoding="utf-8")
    latin = transliterate(read_nli(path, lang="ru", format="nli-tsv"))
    assert (latin[0].premise, latin[0].hypothesis, latin[0].label) == ("Idët dožd'", "Mokro", "entailment")
    latin.write(tmp_path / "latin.tsv")
    assert (tmp_path / "latin.tsv").read_text(encoding="utf-8") == "Idët dožd'\tMokro\tentailment\n"


def questions(*items: Question, lang: str = "ru") -> Corpus[Question]:
    return Corpus(tuple(replace(one, question_lang=lang, context_lang=lang) for one in items), lang, squad.FORMAT)


def test_answers_are_found_again(tmp_path: Path) -> None:
    context = "Щука живёт в реке Яуза."
    corpus = questions(
        Question("1", "Где щука?", context, (Answer("реке Яуза", 13), Answer("уз", 19), Answer("Щ", 0))),
        Question("2", "Кто?", context, (Answer("Щука", 0),)),
    )
    latin = transliterate(corpus)
    assert latin[0].context == "Ščuka živët v reke Jauza."
    assert [answer.text for answer in latin[0].answers] == ["reke Jauza", "uz", "Šč"]
    for question in latin:
        assert question.context is latin[0].context or question.context == latin[0].context
        for answer in question.answers:
            assert question.context[answer.start : answer.start + len(answer.text)] == answer.text
    latin.write(tmp_path / "ru.json")
    assert read_qa(tmp_path / "ru.json").counts["paragraphs"] == 1


@given(st.text("щюя аbс.,ёи\u0306", min_size=1, max_size=30), st.data())
def test_any_span_is_recomputed_exactly(context: str, data: st.DataObject) -> None:
    """The answer's letters, wherever it begins and ends: nothing of its neighbours but what cannot be parted."""
    start = data.draw(st.integers(0, len(context) - 1))
    stop = data.draw(st.integers(start + 1, len(context)))
    (latin,) = transliterate(questions(Question("1", "q", context, (Answer(context[start:stop], start),))))
    assert latin.context == transliterate(context, lang="ru")
    for answer in latin.answers:
        assert latin.context[answer.start : answer.start + len(answer.text)] == answer.text
        if "\u0306" not in context:  # a mark and its letter cannot be parted
            assert answer.text == transliterate(context[start:stop], lang="ru")


def test_a_question_in_another_language_stays() -> None:
    (latin,) = transliterate(
        questions(Question("1", "Кто? who", "Щука", (Answer("Щука", 0),)))
        .with_items([Question("1", "Кто?", "Щука", (Answer("Щука", 0),), question_lang="bg", context_lang="ru")])
    )  # fmt: skip
    assert (latin.question, latin.context) == ("Кто?", "Ščuka")


def test_raw_text_keeps_its_empty_lines(tmp_path: Path) -> None:
    path = tmp_path / "ru.txt"
    path.write_text("Раз\n\nДва\n", encoding="utf-8")
    from isogloss import read_text

    transliterate(read_text(path)).write(tmp_path / "latin.txt")
    assert (tmp_path / "latin.txt").read_text(encoding="utf-8") == "Raz\n\nDva\n"


def test_one_language_of_parallel_text() -> None:
    texts = {"en": ("A pike .", "Yes"), "ru": ("Щука .", "Да")}
    pairs = ParallelSet(texts, ("1", "2"), tokens={"ru": (("Щука", "."), ("Да",))})
    latin = transliterate(pairs, lang="rus")
    assert latin.texts == {"en": texts["en"], "ru": ("Ščuka .", "Da")}
    assert latin.words("ru") == (("Ščuka", "."), ("Da",))
    plain = transliterate(ParallelSet(texts, ("1", "2")), lang="ru")
    assert plain.texts == latin.texts
    with pytest.raises(UsageError, match="expected one of the languages en, ru"):
        transliterate(pairs, scheme="iso9")


def test_a_corpus_that_has_no_text_is_told() -> None:
    entries = Corpus((lexicon.Entry("a", "b"),), "en>ru", lexicon.FORMAT)
    with pytest.raises(UsageError, match="a lexicon corpus has no text of one language"):
        transliterate(entries, lang="ru")


def test_a_line_that_would_vanish_stays() -> None:
    assert transliterate(Corpus(("\u200f",), "ug", raw.FORMAT)).items == ("\u200f",)
