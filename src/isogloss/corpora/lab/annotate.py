"""Realised sentences as items of corpora: trees, sentences with BIO tags, questions, word alignments."""

from __future__ import annotations

from collections.abc import Sequence

from isogloss.corpora.kinds.alignment import Alignment, Link
from isogloss.corpora.kinds.ner import NerSentence
from isogloss.corpora.kinds.qa import Answer, Question
from isogloss.corpora.kinds.treebank import Row, Tree
from isogloss.corpora.lab.questions import Story
from isogloss.corpora.lab.realise import realiser
from isogloss.corpora.lab.words import Sentence, Word

ARTICLES = ("the", "a")


def tree(sentence: Sentence, sent_id: str) -> Tree:
    """The sentence as a CoNLL-U tree; fused words become a multiword token."""
    words = sentence.words
    number = {id(word): i for i, word in enumerate(words, 1)}
    rows: list[Row] = []
    for i, word in enumerate(words, 1):
        after = "SpaceAfter=No" if i < len(words) and words[i].glued else "_"
        if word.fused:
            rows.append(Row(f"{i}-{i + 1}", word.fused, "_", "_", "_", "_", "_", "_", "_", "_"))
        head = str(number[id(word.head)]) if word.head else "0"
        columns = (word.form, word.lemma, word.upos, "_", word.features, head, word.deprel, "_", after)
        rows.append(Row(str(i), *columns))
    return Tree((f"# sent_id = {sent_id}", f"# text = {sentence.text}"), tuple(rows))


def entities(sentence: Sentence) -> NerSentence:
    """Surface tokens with BIO tags.

    >>> from isogloss.corpora.lab.meaning import Clause, Phrase
    >>> meaning = Clause("sleep", Phrase("pana", "PER", second="dape"))
    >>> entities(realiser("qla").realise(meaning)).tags
    ['B-PER', 'I-PER', 'O', 'O']
    """
    rows, previous = [], ""
    for word in sentence.tokens:
        inside = "I" if word.entity == previous else "B"
        tag = f"{inside}-{word.entity.partition(' ')[0]}" if word.entity else "O"
        rows.append((word.fused or word.form, tag))
        previous = word.entity
    return NerSentence(tuple(rows))


def links(source: Sentence, target: Sentence) -> Alignment:
    """One-to-one links between surface tokens that express the same part of the meaning."""
    places = {word.key: j for j, word in enumerate(target.tokens)}
    token_links = (Link(i, places[word.key]) for i, word in enumerate(source.tokens) if word.key in places)
    return Alignment(tuple(token_links))


def question(story: Story, code: str, id: str) -> Question:
    """The story as a paragraph with one question and its answer."""
    sentences = [realiser(code).realise(event) for event in story.events]
    texts = [sentence.text for sentence in sentences]
    tokens = sentences[story.about].tokens
    spans = [span for word, span in zip(tokens, offsets(tokens)) if _answers(word.key, story.path)]
    start, end = spans[0][0], spans[-1][1]
    offset = sum(len(text) + 1 for text in texts[: story.about])
    context = " ".join(texts)
    answer = Answer(context[offset + start : offset + end], offset + start)
    question_text = realiser(code).realise(story.question).text
    return Question(id, question_text, context, (answer,), title=id, question_lang=code, context_lang=code)


def _answers(key: str, path: str) -> bool:
    """Whether a word belongs to the phrase at `path` and is neither its article nor its adposition."""
    if ":" in path:
        return key == path
    address, _, part = key.partition(":")
    return address == path and part != "case" and part not in ARTICLES


def offsets(tokens: Sequence[Word]) -> list[tuple[int, int]]:
    """The start and end of each surface token in the text of the sentence."""
    spans: list[tuple[int, int]] = []
    position = 0
    for word in tokens:
        start = position if word.glued or not spans else position + 1
        position = start + len(word.fused or word.form)
        spans.append((start, position))
    return spans
