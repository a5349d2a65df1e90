from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from isogloss.core.errors import UsageError
from isogloss.models.bilstm.baseline import SPECIAL_WORDS, bilstm
from isogloss.models.bilstm.networks import BilstmParser, BilstmTagger, HighwayBilstm, Sentences, variational_dropout
from isogloss.training.engine.identity import model_identity

SMALL = {"units": 6, "layers": 2, "word_units": 5, "character_units": 4}
CHARACTERS, WORDS, VECTORS = 9, 7, 4


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    (tmp_path / "v.vec").write_text("2 3\nda 1 2 3\n<pad> 7 7 7\nde 4 5 6\n")
    return tmp_path / "v.vec"


def sentences(lengths: list[int], seed: int = 0) -> list[Sentences]:
    """Random sentences of so many words, each as a batch of its own."""
    source = torch.Generator().manual_seed(seed)
    made = []
    for words in lengths:
        spelled = torch.randint(1, 6, (1, words), generator=source)
        characters = torch.randint(1, CHARACTERS, (1, int(spelled.sum())), generator=source)
        numbers = [torch.randint(top, (1, words), generator=source) for top in (WORDS, VECTORS)]
        word_mask = torch.ones(1, words, dtype=torch.bool)
        made.append(Sentences(characters, spelled.cumsum(1) - spelled, spelled, *numbers, word_mask))
    return made


def together(parts: list[Sentences]) -> Sentences:
    """Sentences side by side; what pads them is whatever cannot be left unseen."""
    width, longest = max(p.characters.shape[1] for p in parts), max(p.words.shape[1] for p in parts)

    def joined(name: str, size: int, filler: int) -> torch.Tensor:
        rows = [nn.functional.pad(getattr(p, name), (0, size - getattr(p, name).shape[1]), value=filler) for p in parts]
        return torch.cat(rows)

    word_mask = joined("word_mask", longest, False)
    places = (joined("places", longest, 0) + width * torch.arange(len(parts))[:, None]).where(word_mask, 0)
    rest = [joined(name, longest, -100) for name in ("lengths", "words", "vectors")]
    return Sentences(joined("characters", width, 3), places, *rest, word_mask)


def randomised(network: nn.Module) -> nn.Module:
    torch.manual_seed(1)
    for parameter in network.parameters():
        nn.init.normal_(parameter, std=0.3)
    return network.eval()


@pytest.mark.parametrize("with_vectors", [False, True])
def test_a_sentence_is_read_the_same_alone_and_padded(vectors: Path, with_vectors: bool) -> None:
    model = bilstm(vectors if with_vectors else None, device="cpu", **SMALL)
    tagger = randomised(BilstmTagger(model.body, WORDS, CHARACTERS, 3))  # type: ignore[arg-type]
    parser = randomised(BilstmParser(model.body, WORDS, CHARACTERS, 3))  # type: ignore[arg-type]
    parts = sentences([3, 1, 7])
    if not with_vectors:
        parts = [Sentences(p.characters, p.places, p.lengths, p.words, p.words % 2, p.word_mask) for p in parts]
    whole = together(parts)
    tags, (trees, _) = tagger(whole), parser(whole)
    for i, part in enumerate(parts):
        n = part.words.shape[1]
        torch.testing.assert_close(tags[i, :n], tagger(part)[0])
        torch.testing.assert_close(trees.arcs[i, :n, : n + 1], parser(part)[0].arcs[0])


def test_every_part_of_a_word_counts(vectors: Path) -> None:
    """The word, its vector, each of its characters, and their order."""
    tagger = randomised(BilstmTagger(bilstm(vectors, device="cpu", **SMALL).body, WORDS, CHARACTERS, 3))  # type: ignore[arg-type]
    one = Sentences(*(torch.tensor([x]) for x in ([1, 4, 5, 1, 6], [0, 3], [3, 2], [2, 3], [2, 3], [True, True])))
    before = tagger(one)
    for name, values in {"characters": [1, 5, 4, 1, 6], "words": [2, 4], "vectors": [2, 1]}.items():
        after = tagger(Sentences(**{**vars(one), name: torch.tensor([values])}))
        assert ((before - after).abs().amax(-1) > 1e-6).all(), f"{name}: seen by both words"


def test_unknown_words_have_no_vector_and_marks_are_not_overwritten(vectors: Path) -> None:
    model = bilstm(vectors, device="cpu")
    assert model.tokenizer.get_vocab() == {"<pad>": 0, "<unk>": 1, "da": 2, "de": 3}
    assert model.body(torch.tensor([0, 1, 2, 3, -100])).tolist() == [[0] * 3, [0] * 3, [1, 2, 3], [4, 5, 6], [0] * 3]
    assert len(SPECIAL_WORDS) == 2 and not any(p.requires_grad for p in model.body.parameters())


def test_sizes_and_vectors_are_part_of_the_identity(vectors: Path) -> None:
    made = [bilstm(device="cpu"), bilstm(device="cpu", units=300), bilstm(vectors, device="cpu")]
    assert len({model_identity(model) for model in made}) == 3
    assert model_identity(made[0]) == model_identity(bilstm(device="cpu"))
    with pytest.raises(UsageError, match="unknown device"):
        bilstm(device="cqu")


def test_the_way_around_is_a_gated_addition() -> None:
    torch.manual_seed(0)
    layer, states = HighwayBilstm(3, 2), torch.randn(1, 4, 3)
    around = torch.sigmoid(states @ layer.gate.weight.T + layer.gate.bias) * torch.tanh(states @ layer.around.weight.T)
    torch.testing.assert_close(layer(states, torch.tensor([4])), layer.lstm(states)[0] + around)


def test_dropout_is_by_sentence_and_unit() -> None:
    torch.manual_seed(0)
    dropped = variational_dropout(torch.ones(400, 5, 30), 0.25, True)
    assert torch.equal(dropped, dropped[:, :1].expand_as(dropped))
    assert dropped.mean().item() == pytest.approx(1, abs=0.02)
    assert (dropped == 0).float().mean().item() == pytest.approx(0.25, abs=0.02)
    assert torch.equal(variational_dropout(dropped, 0.25, False), dropped)


def test_words_are_forgotten_in_training_only() -> None:
    body = bilstm(device="cpu", dropout=0.0, forget=0.5, **SMALL).body
    tagger = BilstmTagger(body, WORDS, CHARACTERS, 3)  # type: ignore[arg-type]
    words = torch.full((100, 100), 3)
    torch.manual_seed(0)
    forgotten = tagger.train().encoder._forget(words) == 0
    assert forgotten.float().mean().item() == pytest.approx(0.5, abs=0.02)
    assert torch.equal(tagger.eval().encoder._forget(words), words)
