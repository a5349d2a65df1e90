"""Questions: answers stand at their offsets, are the only ones by the meaning, and have rivals in the context."""

from __future__ import annotations

from collections import Counter

import pytest

from isogloss.corpora.lab.laboratory import Laboratory, _stories
from isogloss.corpora.lab.languages import LANGUAGES
from isogloss.corpora.lab.meaning import Clause, Phrase
from isogloss.corpora.lab.questions import QUESTION_KINDS, Story, answer_of, ask, fits, is_answerable
from isogloss.corpora.lab.realise import realiser
from isogloss.corpora.lab.scripts import transliterate

NAMES = ("who", "whose")


def stories() -> tuple[Story, ...]:
    return _stories(0, "train", 240)


@pytest.mark.parametrize("code", LANGUAGES)
def test_answers_stand_at_their_offsets_as_whole_words(code: str) -> None:
    for story, item in zip(stories(), Laboratory(0).qa(code, "train", 240), strict=True):
        (answer,) = item.answers
        end = answer.start + len(answer.text)
        assert item.context[answer.start : end] == answer.text != ""
        before, after = item.context[: answer.start], item.context[end:]
        assert before == "" or before[-1] == " "
        assert after[0] in " .،,"
        sentence = realiser(code).realise(story.events[story.about]).text
        assert answer.text in sentence
        assert before.count(".") == story.about


@pytest.mark.parametrize("code", LANGUAGES)
def test_answers_are_the_concepts_asked_for_and_nothing_else(code: str) -> None:
    """Word by word: the answer is made of the words at its address, without article and adposition."""
    for story, item in zip(stories(), Laboratory(0).qa(code, "train", 240), strict=True):
        words = realiser(code).realise(story.events[story.about]).words
        parts = [w for w in words if w.key == story.path or w.key.partition(":")[0] == story.path]
        parts = [w for w in parts if w.key.partition(":")[2] not in ("case", "the", "a")]
        assert item.answers[0].text == " ".join(word.form for word in parts)


@pytest.mark.parametrize("code", LANGUAGES)
def test_names_answer_alike_in_every_language(code: str) -> None:
    script = LANGUAGES[code].script
    for story, item in zip(stories(), Laboratory(0).qa(code, "train", 240), strict=True):
        if story.kind in NAMES:
            name = answer_of(story.events[story.about], story.kind)
            assert isinstance(name, Phrase)
            assert transliterate(item.answers[0].text, script, "Latn").lower().startswith(name.head)


def test_every_kind_of_question_is_asked_equally_often() -> None:
    assert set(Counter(story.kind for story in stories()).values()) <= set(range(30, 51))
    assert {story.kind for story in stories()} == set(QUESTION_KINDS)


def test_one_event_fits_and_others_rival_it() -> None:
    for story in stories():
        fitting = [i for i, event in enumerate(story.events) if fits(event, story.question, story.kind)]
        assert fitting == [story.about]
        rivals = {answer_of(event, story.kind) for event in story.events} - {None}
        assert len(rivals) >= 2
        assert any(event.verb == story.question.verb for i, event in enumerate(story.events) if i != story.about)


def test_an_ambiguous_story_is_not_answerable() -> None:
    ann = Phrase("pana", "PER")
    events = tuple(Clause("eat", ann, object=Phrase(noun, determiner="a")) for noun in ("apple", "pear"))
    question, path = ask(events[0], "what")
    assert not is_answerable(Story(events, question, 0, path, "what"))


def test_the_question_does_not_contain_its_answer() -> None:
    for item in Laboratory(0).qa("qla", "train", 240):
        assert not set(item.answers[0].text.split()) & set(item.question.rstrip("?").split())


def test_ids_and_stories_are_shared_across_languages() -> None:
    lab = Laboratory(0)
    ids = {tuple(item.id for item in lab.qa(code, "dev", 6)) for code in LANGUAGES}
    assert ids == {tuple(f"dev-{i}" for i in range(1, 7))}
