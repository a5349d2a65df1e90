"""A small world for these tests: made-up sentences whose tags follow from their words, and a network of one layer."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from tiny_models import build
from torch import Tensor, nn

from isogloss.corpora.corpus import Corpus
from isogloss.corpora.formats.conllu import FORMAT
from isogloss.corpora.kinds.treebank import Row, Tree
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.batching import IntArray
from isogloss.training.engine.objective import Objective

TAGS = {"cat": "NOUN", "mat": "NOUN", "chat": "NOUN", "sat": "VERB", "dort": "VERB", "sold": "VERB"}
TAGS |= {"The": "DET", "the": "DET", "Le": "DET", "on": "ADP", "by": "ADP", "in": "ADP"}


def treebank(sentences: int, lang: str = "en", seed: int = 0, longest: int = 9) -> Corpus[Tree]:
    """Sentences of random words, each with its tag."""
    chance = random.Random(f"{lang} {seed}")
    trees = [_tree([chance.choice(list(TAGS)) for _ in range(chance.randint(1, longest))]) for _ in range(sentences)]
    return Corpus(tuple(trees), lang, FORMAT)


def _tree(words: list[str]) -> Tree:
    relation = ["root", *["dep"] * (len(words) - 1)]
    rows = [
        Row(str(i + 1), word, "_", TAGS[word], "_", "_", "0" if i == 0 else "1", relation[i], "_", "_")
        for i, word in enumerate(words)
    ]
    return Tree((), tuple(rows))


def tiny_bert(folder: Path) -> LoadedModel:
    return load_model(folder if (folder / "config.json").exists() else build("bert", folder), device="cpu")


def without_dropout(network: nn.Module) -> nn.Module:
    for module in network.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    return network


def regression(
    items: int = 23, dropout: float = 0.2, watch: Callable[[int], None] = lambda call: None
) -> tuple[nn.Module, Objective]:
    """A network with dropout that learns a line, each item with 1 to 4 terms; `watch` is told each loss's number."""
    numbers = np.random.default_rng(0)
    terms = numbers.integers(1, 5, items)
    inputs, calls = torch.tensor(numbers.normal(size=(items, 4, 3)), dtype=torch.float32), [0]
    torch.manual_seed(1)
    network = nn.Sequential(nn.Linear(3, 8), nn.LayerNorm(8), nn.Dropout(dropout), nn.Linear(8, 1))

    def loss(network: nn.Module, chosen: IntArray) -> Tensor:
        watch(calls[0])
        calls[0] += 1
        present = (torch.arange(4) < torch.as_tensor(terms[chosen])[:, None]).float()
        x = inputs[torch.as_tensor(chosen)]
        wrong = (network(x)[..., 0] - x.sum(-1)).square()
        return (wrong * present).sum() / present.sum()

    def score(network: nn.Module) -> float:
        return -float((network(inputs)[..., 0] - inputs.sum(-1)).square().mean().detach())

    return network, Objective(terms * 2, terms, loss, score)


def fingerprint(network: nn.Module) -> str:
    """All the bits of all the weights."""
    return "".join(value.numpy().tobytes().hex() for value in network.state_dict().values())
