from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tiny_models import LISTED, SENTENCES

from isogloss.analysis import embedding_alignment as word_alignment
from isogloss.analysis.embedding_alignment import default_layer, embedding_links
from isogloss.core.errors import UnknownName, UsageError
from isogloss.corpora.kinds.alignment import Alignment
from isogloss.corpora.kinds.bitext import AlignedPair
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.states.hidden_states import word_states
from isogloss.models.tokenization.encoding import SPECIAL_TOKEN, encode_words
from isogloss.text.alignment.symmetrise import symmetrise

Tiny = Callable[[str], LoadedModel]
PAIRS = [
    AlignedPair(tuple(one.split()), tuple(other.split()), Alignment())
    for one in SENTENCES[:7]
    for other in (*SENTENCES[2:4], SENTENCES[6])
]


def cosine_table(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    one, other = (side.astype(np.float64) / np.linalg.norm(side, axis=1, keepdims=True) for side in (source, target))
    table: np.ndarray = one @ other.T
    return table


def slow_links(table: np.ndarray, method: str) -> list[tuple[int, int]]:
    forward = [(i, best(row)) for i, row in enumerate(table)]
    reverse = [(best(column), j) for j, column in enumerate(table.T)]
    return symmetrise(forward, reverse, method)


def best(values: np.ndarray) -> int:
    return next(place for place, value in enumerate(values) if value >= values.max() - 1e-7)


@pytest.mark.parametrize("family", LISTED)
@pytest.mark.parametrize("method", ["intersection", "grow-diag-final-and"])
def test_every_family_as_one_pair_at_a_time(tiny: Tiny, family: str, method: str) -> None:
    model = tiny(family)
    found = embedding_links(model, PAIRS, layers=[1, 3], symmetrisation=method)
    source, target = (
        word_states(model, [getattr(pair, side) for pair in PAIRS], layers=[1, 3]).collect()
        for side in ("source", "target")
    )
    for place, layer in enumerate((1, 3)):
        expected = [slow_links(cosine_table(s[place], t[place]), method) for s, t in zip(source, target, strict=True)]
        assert found[layer] == expected


def test_neither_chunks_nor_batches_decide(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny("bert")
    options = {"layers": [0, 2], "symmetrisation": "itermax"}
    whole = embedding_links(model, PAIRS * 4, **options)
    monkeypatch.setattr(word_alignment, "MAX_BATCH_UNITS", 8)
    monkeypatch.setattr(word_alignment, "PAIRS_PER_CHUNK", 1)  # 64 pairs, the least
    done: list[tuple[int, int]] = []
    assert embedding_links(model, PAIRS * 4, **options, progress=lambda *step: done.append(step)) == whole
    assert done == [(64, 84), (84, 84)]
    assert whole[2] == whole[2][:21] * 4


def test_sub_words_link_the_words_they_are_of(tiny: Tiny) -> None:
    model = tiny("bert")
    found = embedding_links(model, PAIRS, layers=[2], unit="subword")[2]
    several = 0
    for pair, links in zip(PAIRS, found, strict=True):
        vectors, words = zip(*(token_vectors(model, side, 2) for side in (pair.source, pair.target)), strict=True)
        pieces = slow_links(cosine_table(*vectors), "intersection")
        assert links == sorted({(int(words[0][s]), int(words[1][t])) for s, t in pieces})
        several += len(links) < len(pieces)
    assert several, "no two sub-word links fell on the same words: the test shows nothing"


def test_pieces_are_linked_themselves(tiny: Tiny) -> None:
    model = tiny("bert")
    for pair, links in zip(PAIRS, embedding_links(model, PAIRS, layers=[2], unit="piece")[2], strict=True):
        vectors = [token_vectors(model, side, 2)[0] for side in (pair.source, pair.target)]
        assert links == sorted(slow_links(cosine_table(*vectors), "intersection"))


def token_vectors(model: LoadedModel, words: tuple[str, ...], layer: int) -> tuple[np.ndarray, np.ndarray]:
    """States and words of the tokens, from the library's own hidden states."""
    import torch

    text = encode_words(model, [words])[0]
    kept = text.word != SPECIAL_TOKEN
    with torch.inference_mode():
        ids = torch.from_numpy(text.ids.astype(np.int64))[None]
        states = model.body(input_ids=ids, output_hidden_states=True).hidden_states[layer]
    return states[0].numpy()[kept], text.word[kept]


def test_a_sentence_is_linked_to_itself_word_by_word(tiny: Tiny) -> None:
    pairs = [AlignedPair(words, words, Alignment()) for words in (tuple(text.split()) for text in SENTENCES)]
    for links, pair in zip(embedding_links(tiny("bert"), pairs)[2], pairs, strict=True):
        assert links == [(i, i) for i in range(len(pair.source))]


def test_centring_takes_away_what_a_language_adds(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    """A constant added to every vector of one side misleads the cosine; without the sentence's mean it is gone."""
    model = tiny("bert")
    pairs = [AlignedPair(words, words, Alignment()) for words in (tuple(text.split()) for text in SENTENCES)]
    perfect = [[(i, i) for i in range(len(pair.source))] for pair in pairs]
    collect, calls = word_alignment.WordStates.collect, []

    def shifted(states: word_alignment.WordStates) -> list[np.ndarray]:
        calls.append(states)
        offset = np.where(np.arange(16) % 2, 30, -30).astype(np.float32) * (len(calls) % 2)
        return [array + offset for array in collect(states)]

    monkeypatch.setattr(word_alignment.WordStates, "collect", shifted)
    assert embedding_links(model, pairs)[2] != perfect
    assert embedding_links(model, pairs, centre=True)[2] == perfect


def test_words_without_a_vector_have_no_link(tiny: Tiny) -> None:
    """Words beyond the longest input, and an empty sentence."""
    model = tiny("bert")
    long = tuple(["cat"] * (model.max_length + 20))
    pairs = [AlignedPair(("The", "cat"), long, Alignment()), AlignedPair(("The",), (), Alignment())]
    with pytest.warns(UserWarning, match="truncated"):
        found = embedding_links(model, pairs, symmetrisation="union")[2]
    assert 0 < max(t for _, t in found[0]) < model.max_length - 2
    assert found[1] == []


def test_the_default_layer_is_two_thirds_up(tiny: Tiny) -> None:
    model = tiny("bert")
    assert default_layer(model) == 2
    assert list(embedding_links(model, PAIRS[:1])) == [2]


def test_wrong_names_are_told(tiny: Tiny) -> None:
    model = tiny("bert")
    with pytest.raises(UnknownName, match="did you mean 'itermax'"):
        embedding_links(model, PAIRS, symmetrisation="intermax")
    with pytest.raises(UnknownName, match="did you mean 'subword'"):
        embedding_links(model, PAIRS, unit="subwords")
    with pytest.raises(UsageError, match="has the layers 0 … 3, not 9"):
        embedding_links(model, PAIRS, layers=[9])
    with pytest.raises(UsageError, match="at least one"):
        embedding_links(model, PAIRS, layers=[])
