"""The parser against brute force: its probabilities, its loss and its trees."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from isogloss.core.errors import UsageError
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.formats import FORMATS
from isogloss.corpora.formats.conllu import first_on_cycle
from isogloss.corpora.kinds.treebank import Row, Tree
from isogloss.corpora.lab.laboratory import Laboratory
from isogloss.models.heads.biaffine import BiaffineParser
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.encoding import padding_id
from isogloss.tasks import parse
from isogloss.tasks.examples import Batch, collate

Tiny = Callable[[str], LoadedModel]
SENTENCES = [["Yes"], ["The", "cat"], ["Le", "chat", "dort"], ["我们", "住在", "海边", "。"], ["a", "b", "c", "d", "e"]]
RELATIONS = {"relations": ("case", "det", "nsubj", "root")}


def tree(words: list[str]) -> Tree:
    """A chain: every word hangs on the one before."""
    relations = ["root", "det", "nsubj", "case", "det"]
    rows = [
        Row(str(i), word, "_", "_", "_", "_", str(i - 1), relations[i - 1], "_", "_") for i, word in enumerate(words, 1)
    ]
    return Tree((), tuple(rows))


def made(model: LoadedModel) -> tuple[Any, Corpus[Tree], Batch]:
    """A parser with random weights and a batch of the sentences."""
    corpus = Corpus(tuple(map(tree, SENTENCES)), "xx", FORMATS["conllu"])
    torch.manual_seed(5)
    network: Any = parse.network(model, RELATIONS).eval()
    for parameter in (network.arc_weight, network.relation_weight):
        nn.init.normal_(parameter, std=0.2)
    return network, corpus, collate(parse.encode(model, corpus, RELATIONS), padding_id(model))


def scores_by_hand(network: Any, model: LoadedModel, words: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Arc log-probabilities `[dependent, head]` and relation scores `[dependent, head, relation]`, one by one."""
    corpus = Corpus((tree(words),), "xx", FORMATS["conllu"])
    (example,) = parse.encode(model, corpus, RELATIONS)
    states = network.body(torch.tensor(example.windows[0].tolist())[None]).last_hidden_state[0]
    vectors = [network.root, *(states[position] for position in example.arrays["position"])]
    n = len(words)
    arcs, relations = np.full((n, n + 1), -np.inf), np.zeros((n, n + 1, 4))
    one = torch.ones(1)
    for d in range(n):
        for h in range(n + 1):
            dependent, head = torch.cat([network.arc_dependent(vectors[d + 1]), one]), network.arc_head(vectors[h])
            if h != d + 1:
                arcs[d, h] = (dependent @ network.arc_weight @ head).item()
            a = torch.cat([network.relation_dependent(vectors[d + 1]), one])
            b = torch.cat([network.relation_head(vectors[h]), one])
            relations[d, h] = [(a @ network.relation_weight[r] @ b).item() for r in range(4)]
    return arcs - np.log(np.exp(arcs).sum(1, keepdims=True)), relations


def single_root_trees(n: int) -> list[tuple[int, ...]]:
    heads = product(range(n + 1), repeat=n)
    return [h for h in heads if h.count(0) == 1 and first_on_cycle(h) is None]


@pytest.mark.parametrize("family", ["bert", "xlm-roberta", "llama", "mt5"])
def test_trees_are_the_best_of_all_trees(tiny: Tiny, family: str) -> None:
    model = tiny(family)
    network, corpus, batch = made(model)
    with torch.no_grad():
        predicted = parse.predict(network, batch, RELATIONS)
        repaired = 0
        for item, arcs in zip(corpus, predicted, strict=True):
            logs, relations = scores_by_hand(network, model, item.words)
            total = {heads: sum(logs[d, h] for d, h in enumerate(heads)) for heads in single_root_trees(len(arcs))}
            heads = tuple(head for head, _ in arcs)
            assert total[heads] == pytest.approx(max(total.values()), abs=1e-4)
            repaired += heads != tuple(logs.argmax(1))
            for d, (head, relation) in enumerate(arcs):
                choice = [3] if head == 0 else [0, 1, 2]
                best = max(choice, key=lambda r: relations[d, head, r])
                assert relation == RELATIONS["relations"][best]
    assert [head for arcs in predicted for head, relation in arcs if relation == "root"] == [0] * len(corpus)
    assert repaired, "at least one sentence whose best heads are no tree"


@pytest.mark.parametrize("family", ["bert", "xglm"])
def test_the_loss_is_the_sum_of_two_means_over_words(tiny: Tiny, family: str) -> None:
    model = tiny(family)
    network, corpus, batch = made(model)
    heads, relations = [], []
    with torch.no_grad():
        for item in corpus:
            logs, scores = scores_by_hand(network, model, item.words)
            for d, (head, relation) in enumerate(parse.gold(item)):
                heads.append(-logs[d, head])
                own = scores[d, head]
                relations.append(np.log(np.exp(own).sum()) - own[RELATIONS["relations"].index(relation)])
        loss = parse.loss(network, batch).item()
    assert loss == pytest.approx(np.mean(heads) + np.mean(relations), rel=1e-4)


def test_no_probability_for_padding_nor_for_oneself(tiny: Tiny) -> None:
    network, corpus, batch = made(tiny("bert"))
    scores = network(**batch.inputs, places=batch.token_index, word_mask=batch.word_mask).arcs.softmax(-1)
    for row, item in zip(scores, corpus, strict=True):
        n = len(item.words)
        assert torch.allclose(row[:n, : n + 1].sum(-1), torch.ones(n))
        assert not row[:n, n + 1 :].any()
        assert not torch.diagonal(row[:n, 1 : n + 1]).any()


def test_gradients_stay_finite(tiny: Tiny) -> None:
    network, _, batch = made(tiny("bert"))
    parse.loss(network, batch).backward()  # type: ignore[no-untyped-call]
    assert all(torch.isfinite(p.grad).all() for p in network.parameters() if p.grad is not None)
    assert network.root.grad.abs().sum() > 0
    assert network.arc_weight.grad.abs().sum() > 0


def test_sizes_are_the_published_ones(tiny: Tiny) -> None:
    network = BiaffineParser(tiny("bert"), ("root", "det"))
    assert [layer[0].out_features for layer in (network.arc_dependent, network.arc_head)] == [500, 500]  # type: ignore
    assert [layer[0].out_features for layer in (network.relation_dependent, network.relation_head)] == [200, 200]  # type: ignore
    assert network.arc_head[1].negative_slope == 0.1  # type: ignore[index]


def test_it_learns_the_laboratory_by_heart(tiny: Tiny) -> None:
    model = tiny("bert")
    corpus = Laboratory(seed=0).treebank("qla", "train", 2)
    labels = parse.labels(corpus)
    torch.manual_seed(0)
    network = parse.network(model, labels).eval()
    batch = collate(parse.encode(model, corpus, labels), padding_id(model))
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    for _ in range(100):
        optimizer.zero_grad()
        parse.loss(network, batch).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    assert parse.predict(network, batch, labels) == [parse.gold(item) for item in corpus]


def test_half_annotated_trees_are_refused_with_their_name() -> None:
    item = tree(["The", "cat"]).with_nodes(head=["_", "_"])
    with pytest.raises(UsageError, match="sentence 'The cat': no heads"):
        parse.gold(item)


def test_relations_without_a_root_label(tiny: Tiny) -> None:
    scores = torch.tensor([[[0.0, 1.0]]])
    assert parse.best_relations(scores, torch.tensor([[0]]), {"relations": ("a", "b")}).tolist() == [[1]]
