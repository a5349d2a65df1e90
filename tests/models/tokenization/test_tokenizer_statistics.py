"""Tokenizer statistics by counting piece for piece, on tokenizers of every kind."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import SENTENCES, build

from isogloss.core.errors import UsageError
from isogloss.languages.scripts import letter_script
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization import statistics as module
from isogloss.models.tokenization.statistics import script_pieces, tokenizer_statistics

FAMILIES = ["bert", "xlm-roberta", "qwen2"]  # WordPiece, unigram, bytes
TEXT = ["The cat sat.", "Мы живём в городе, ツ", "القطة qqq ❄❄ dort"]


@pytest.fixture(scope="module", params=FAMILIES)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return load_model(build(request.param, Path(tmp_path_factory.mktemp(request.param))), device="cpu")


def test_by_counting(model: LoadedModel) -> None:
    found = tokenizer_statistics(model, TEXT)
    unknown = model.tokenizer.unk_token_id
    words = [word for line in TEXT for word in line.split()]
    pieces, lost, whole = 0, 0, 0
    for line in TEXT:
        encoding = model.tokenizer(line, add_special_tokens=False, return_offsets_mapping=True)
        starts = [line.index(word, sum(map(len, line.split()[:i])) + i) for i, word in enumerate(line.split())]
        owners = []
        for low, high in encoding["offset_mapping"]:
            real = next((at for at in range(low, high) if line[at] != " "), low)
            owners.append(max(i for i, start in enumerate(starts) if start <= real))
        cut = [
            [id for id, own in zip(encoding["input_ids"], owners, strict=True) if own == i] for i in range(len(starts))
        ]
        pieces += len(encoding["input_ids"])
        lost += sum(unknown in one for one in cut if unknown is not None)
        whole += sum(len(one) == 1 and one[0] != unknown for one in cut)
    assert found.words == len(words)
    assert found.subwords_per_word == pytest.approx(pieces / len(words))
    assert found.unknown_words == pytest.approx(lost / len(words))
    assert found.whole_words == pytest.approx(whole / len(words))
    letters = [letter_script(char) for word in words for char in word if letter_script(char)]
    assert {name: one.letters for name, one in found.scripts.items()} == {
        name: pytest.approx(letters.count(name) / len(letters)) for name in set(letters)
    }
    assert found.script == "Cyrl" if letters.count("Cyrl") > letters.count("Latn") else found.script == "Latn"


def test_characters_that_the_vocabulary_cannot_write(model: LoadedModel) -> None:
    found = tokenizer_statistics(model, ["cat ❄❄"])
    assert found.known_characters == (1.0 if "qwen2" in model.name else pytest.approx(3 / 5))  # bytes write anything


def test_a_script_is_known_by_its_pieces(model: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = script_pieces(model.tokenizer)
    assert pieces["Latn"] > pieces["Thai"] == 0
    monkeypatch.setattr(module, "MIN_SCRIPT_PIECES", pieces["Latn"])
    found = tokenizer_statistics(model, ["cat sat ไทย 12"])
    assert found.words_in_known_scripts == pytest.approx(2 / 3)  # a number is in no script
    assert found.scripts["Latn"].known and not found.scripts["Thai"].known


@given(st.lists(st.sampled_from([word for line in SENTENCES for word in line.split()]), min_size=1, max_size=30))
def test_order_of_lines_does_not_matter(model: LoadedModel, words: list[str]) -> None:
    found = tokenizer_statistics(model, words)
    assert found == tokenizer_statistics(model, words[::-1])
    assert 0 <= found.whole_words + found.unknown_words <= 1
    assert found.subwords_per_word >= 1


def test_no_words_is_an_error(model: LoadedModel) -> None:
    with pytest.raises(UsageError, match="expected text with words"):
        tokenizer_statistics(model, ["", "  "])
