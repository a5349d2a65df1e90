from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import SENTENCES, build

from isogloss.core.errors import UsageError
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.training.language_modeling.packing import Text, pack, separator

LINES = st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=30)


def ids_of(model: LoadedModel, line: str) -> list[int]:
    ids: list[int] = model.tokenizer(line, add_special_tokens=False)["input_ids"]
    return ids


@given(LINES, st.integers(4, 40))
def test_packed_sequences_hold_the_stream_of_lines(bert: LoadedModel, lines: list[str], length: int) -> None:
    packed = pack(bert, {"en": lines}, length)
    stream = [token for line in lines for token in [*ids_of(bert, line), *separator(bert)]]
    room = length - 2
    inside = packed.ids[:, 1:-1].reshape(-1).tolist()
    assert inside[: len(stream)] == stream
    assert len(inside) - len(stream) < room
    assert inside[len(stream) :] == (stream * room)[: len(inside) - len(stream)]  # filled up from the beginning
    assert (packed.ids[:, 0] == bert.tokenizer.cls_token_id).all()
    assert (packed.ids[:, -1] == bert.tokenizer.sep_token_id).all()
    assert packed.lengths is None


@given(LINES, st.integers(5, 60))
def test_by_line_every_line_is_framed_and_cut(bert: LoadedModel, lines: list[str], length: int) -> None:
    packed = pack(bert, {"en": lines}, length, by_line=True)
    lengths = np.full(len(packed.ids), length) if packed.lengths is None else packed.lengths
    found = [row[1 : n - 1].tolist() for row, n in zip(packed.ids, lengths, strict=True)]
    whole = [[*ids_of(bert, line), *separator(bert)] for line in lines]
    assert found == [ids[i : i + length - 2] for ids in whole for i in range(0, len(ids), length - 2)]
    for row, n in zip(packed.ids, lengths, strict=True):
        assert (row[n:] == bert.tokenizer.pad_token_id).all()


def test_languages_lie_one_after_the_other(bert: LoadedModel) -> None:
    texts = {"en": SENTENCES[:1] * 9, "fr": SENTENCES[1:2] * 5}
    packed = pack(bert, texts, 16)
    alone = {lang: pack(bert, {lang: lines}, 16) for lang, lines in texts.items()}
    assert packed.languages == {lang: len(one.ids) for lang, one in alone.items()}
    assert np.array_equal(packed.ids, np.concatenate([one.ids for one in alone.values()]))


def test_words_begin_at_spaces_and_where_the_tokenizer_says(bert: LoadedModel) -> None:
    packed = pack(bert, {"en": ["The old house, sold."]}, 40, words=True)
    assert packed.starts is not None
    pieces = bert.tokenizer.convert_ids_to_tokens(packed.ids[0].tolist())
    for piece, begins in zip(pieces, packed.starts[0].tolist(), strict=True):
        assert begins == (not piece.startswith("##")), pieces


@pytest.mark.parametrize("family", ["llama", "xlm-roberta"])
def test_words_of_tokenizers_that_mark_spaces(tmp_path: Path, family: str) -> None:
    model = load_model(build(family, tmp_path), device="cpu")
    packed = pack(model, {"en": ["The old house was sold"]}, 60, words=True)
    assert packed.starts is not None
    ids = packed.ids[0].tolist()
    end = ids.index(separator(model)[0], 1)
    pieces = model.tokenizer.convert_ids_to_tokens(ids)
    for place in range(len(model.prefix), end):
        assert packed.starts[0, place] == pieces[place].startswith("▁"), pieces


def test_a_line_with_its_translation_is_one_sequence(bert: LoadedModel) -> None:
    packed = pack(bert, {"en-fr": [("The cat.", "Le chat.")]}, 40, by_line=True)
    end = bert.tokenizer.sep_token_id
    assert packed.lengths is not None
    found = packed.ids[0, : packed.lengths[0]].tolist()
    assert found[1:-1] == [*ids_of(bert, "The cat."), end, *ids_of(bert, "Le chat."), end]


def test_wrong_lengths_and_empty_text_are_refused(bert: LoadedModel) -> None:
    for length in (2, 161):
        with pytest.raises(UsageError, match="expected 3 to 160 tokens"):
            pack(bert, {"en": SENTENCES}, length)
    with pytest.raises(UsageError, match="'fr': there is no text"):
        pack(bert, {"en": SENTENCES, "fr": []}, 16)


def test_word_pieces_tell_by_themselves_where_words_begin(bert: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """As offsets and the tokenizer's words do."""
    lines = [*SENTENCES, "don't  stop -- it's 12.5% «ok»?!", "##x a##b 日本語"]
    fast = pack(bert, {"en": lines}, 24, words=True)
    monkeypatch.setattr("isogloss.training.language_modeling.packing._word_start_table", lambda tokenizer: None)
    slow = pack(bert, {"en": lines}, 24, words=True)
    assert np.array_equal(fast.starts, slow.starts)  # type: ignore[arg-type]


ODD = ["", " ", "The cat sat on the old house, sold.", "Yes", "\u200b"]


@given(st.lists(st.one_of(st.sampled_from(ODD), st.tuples(*[st.sampled_from(ODD)] * 2)), max_size=12), st.booleans())
def test_odd_lines_in_chunks_are_cut_as_one_by_one(bert: LoadedModel, lines: list[Text], by_line: bool) -> None:
    lines, end, room = ["A line.", *lines], separator(bert), 5
    each = [(line,) if isinstance(line, str) else line for line in lines]
    whole = [[t for part in parts if (ids := ids_of(bert, part)) for t in [*ids, *end]] for parts in each]
    stream = [token for ids in whole for token in ids]
    joined = (stream + stream[:room] * room)[: -(-len(stream) // room) * room]  # filled up from the beginning
    pieces = [ids[i : i + room] for ids in (whole if by_line else [joined]) for i in range(0, len(ids), room)]
    with patch("isogloss.training.language_modeling.packing.CHUNK_LINES", 3):
        packed = pack(bert, {"en": lines}, room + 2, by_line=by_line, words=True)
    marks = bert.tokenizer
    framed = [[marks.cls_token_id, *ids, marks.sep_token_id] for ids in pieces]
    assert packed.ids.tolist() == [ids + [marks.pad_token_id] * (room + 2 - len(ids)) for ids in framed]
    assert packed.starts is not None
    inside = [[not str(piece).startswith("##") for piece in marks.convert_ids_to_tokens(ids)] for ids in framed]
    assert packed.starts.tolist() == [begins + [True] * (room + 2 - len(begins)) for begins in inside]
